"""Scores from presence and weights: Lite2, Lite2.x, Lite3, LitePyramid, Pyramid,
rubrics.

Presence is an array (..., U) in [0, 1] over the units of a `Units`, a leading axis the
systems. Scores are (..., M), NaN where
the presence of a unit of the input is NaN. One call scores all summaries of all
systems.
"""

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike

from litepyramid.data.records import Fact, Units
from litepyramid.errors import InputError
from litepyramid.stats import system_means
from litepyramid.text import counted, cut
from litepyramid.types import BoolArray, Ends, FloatArray

Rule = Literal[
    "lite", "vital", "sample", "original", "modified", "points", "normalized"
]
SIGNED = ("points", "normalized")
"""Rules by which weights are points of a rubric, with a sign."""

NUGGET_SCORES = ("strict_vital_score", "strict_all_score", "vital_score", "all_score")


def lite_pyramid_scores(presence: ArrayLike, units: Units) -> FloatArray:
    r"""The weighted mean presence of each input's units: Lite2, Lite2.x, Lite3, human
    score.

    .. math:: \text{score}_i = \sum_j w_{ij} f(u_{ij}, s_i) \big/ \sum_j w_{ij}

    (ZB21 eq. 2 with SCUs, §3.2 with STUs, which all weigh 1; with human labels for f it
    is the exhaustive human score.)
    """
    weighted = _presence(presence, units) * units.weights
    return np.asarray(units.sums(weighted) / units.sums(units.weights), dtype=float)


def rubric_scores(
    presence: ArrayLike,
    units: Units,
    *,
    normalized: bool = False,
    chosen: BoolArray | None = None,
) -> FloatArray:
    r"""The points of each input's criteria that are met, of those that can be had.

    .. math:: \sum_j w_j p_j \Big/ \sum_{w_j > 0} w_j \qquad\text{or, normalized,}\qquad
              \frac{\sum_j w_j p_j - \sum_{w_j < 0} w_j}{\sum_j |w_j|}

    with the presence p of criterion j and its points w, which are below zero for a
    penalty. The first is HealthBench's score of an example (Arora et al. 2025): at most
    1, and below 0 where penalties outweigh the rest. The second is PRBench's, from 0 to
    1. Without penalties both are
    `lite_pyramid_scores`. Of (U,) `chosen` criteria only those count. NaN where the
    presence of one that counts is NaN (no judgement is not "not met"), and where none
    with positive points counts.
    """
    presence = _presence(presence, units)
    weights = units.weights if chosen is None else np.where(chosen, units.weights, 0.0)
    # 0 · NaN would be NaN: a criterion that does not count may lack a judgement.
    total = units.sums(np.where(weights == 0, 0.0, presence * weights))
    # Penalties are no points to be had: what can be had are the positive ones.
    most = units.sums(np.maximum(weights, 0))
    least = units.sums(np.minimum(weights, 0)) if normalized else 0.0
    return ratio(total - least, np.where(most > 0, most - least, 0.0), np.nan)


def nugget_scores(presence: ArrayLike, units: Units) -> dict[str, FloatArray]:
    """The four scores of TREC RAG's nuggets (AutoNuggetizer; Pradeep et al. 2024).

    ``vital_score`` and ``all_score`` are the mean presence of an answer's vital
    nuggets, or of all; ``strict_…`` count only nuggets that are there whole: labels of
    1, and of a judge presence from .75 up, which is nearer to 1 than to .5. The labels
    are 1 for support, .5 for partial support, else 0. Weights play no part. An input
    without a vital nugget has a vital score of 0.
    """
    graded = _presence(presence, units)
    strict = np.where(np.isnan(graded), np.nan, graded >= 0.75)
    every = np.ones(units.weights.size)
    scores = {}
    for name in NUGGET_SCORES:
        counted_presence = strict if "strict" in name else graded
        weights = every * _vital(units) if "vital" in name else every
        scores[name] = _mean_of(counted_presence, weights, units)
    return scores


def litepyramid_sample_scores(
    presence: ArrayLike, units: Units, size: int, rng: np.random.Generator
) -> tuple[FloatArray, int]:
    """LitePyramid (Shapira et al. 2019): mean presence of `size` units sampled for each
    input.

    The pool of an input holds each unit as often as it weighs (the union over
    references with duplicates); the draw is without replacement, the same for all
    systems, inputs in the order of their ids, units in that of their texts. Also given
    is how many inputs had a pool smaller than `size`, all of which was used.
    """
    weights = units.weights
    if (weights != np.round(weights)).any():
        raise InputError(
            "a unit's weight is not a whole number",
            expected="weights that count references: LitePyramid repeats a unit by "
            "its weight",
        )

    drawn = np.zeros_like(weights)
    small = 0

    # By id: one generator draws for all inputs, so their order is part of the draw.
    for start, end in pairwise(units.offsets.tolist()):
        places = np.arange(start, end)
        pool = np.repeat(places, weights[places].astype(int))
        small += pool.size < size
        np.add.at(drawn, rng.choice(pool, min(size, pool.size), replace=False), 1.0)

    values = units.sums(_presence(presence, units) * drawn) / units.sums(drawn)
    return values, int(small)


def pyramid_scores(labels: ArrayLike, units: Units) -> FloatArray:
    """The original Pyramid score (Nenkova & Passonneau 2004; ZB21 eq. 1).

    Σ weights of the present SCUs / the best sum reachable with as many SCUs; 0 for a
    summary with no SCU present. Labels are 0 or 1: the score counts SCUs, so it needs a
    decision. NaN where a label is missing (NaN).
    """
    present = _presence(labels, units)
    unlabelled = np.isnan(present)
    if not (np.isin(present, (0.0, 1.0)) | unlabelled).all():
        raise InputError(
            "presence is not 0 or 1", expected="labels: the score counts SCUs"
        )

    # An input with a unit that nobody labelled has no score.
    incomplete = units.sums(unlabelled.astype(float)) > 0
    present = np.where(unlabelled, 0.0, present)

    # As many SCUs as the summary has, the heaviest of the input.
    sizes = units.sums(present).astype(int)
    best = np.empty(sizes.shape)
    for i, heaviest in enumerate(_heaviest(units)):
        best[..., i] = heaviest[sizes[..., i]]
    gained = units.sums(present * units.weights)
    scores = ratio(gained, best)

    return np.where(incomplete, np.nan, scores)


def modified_pyramid_scores(
    presence: ArrayLike, units: Units, references: ArrayLike
) -> FloatArray:
    """The modified Pyramid score (Passonneau 2010).

    Σ weights of the present SCUs / the sum of an ideal summary, filled from the
    heaviest down with as many SCUs as a reference has on average: floor(total
    contributors / references + .5). A weight is the SCU's number of contributors;
    `references` are those of all inputs, or (M,) of each. A summary that holds more
    SCUs than the ideal one can score above 1; NaN where the ideal summary holds no SCU.
    """
    counts = np.asarray(references)
    if (counts < 1).any():
        raise InputError(
            "no references", expected="at least one reference for each input"
        )
    sizes = np.floor(units.sums(units.weights) / counts + 0.5).astype(int)
    # References may repeat SCUs: the ideal summary cannot hold more than there are.
    sums = zip(_heaviest(units), sizes.tolist(), strict=True)
    best = np.array([heaviest[min(size, heaviest.size - 1)] for heaviest, size in sums])
    gained = units.sums(_presence(presence, units) * units.weights)
    return ratio(gained, best, np.nan)


@dataclass(frozen=True)
class ScoringRule:
    """How presence becomes a summary's score.

    Attributes:
        name: ``lite`` weighted mean over all units; ``vital`` over vital nuggets only;
            ``sample`` LitePyramid over `size` units drawn for each input; ``original``
            and ``modified`` the Pyramid scores; ``points`` and ``normalized`` the
            `rubric_scores`.
        size: K of ``sample``.
        references: Number of references per input, for ``modified``.
    """

    name: Rule = "lite"
    size: int = 16
    references: int = 1

    @classmethod
    def of(cls, rule: str) -> Self:
        """The rule of a name, perhaps with its number: ``sample-16``,
        ``modified-4``."""
        name, dash, number = str(rule).partition("-")
        fields = {"sample": "size", "modified": "references"}
        known = name in get_args(Rule) and (not dash or name in fields)

        if not known or (dash and not re.fullmatch(r"[1-9][0-9]{0,5}", number)):
            raise InputError(
                f"unknown scoring rule '{cut(rule)}'",
                expected="lite, vital, original, points, normalized, sample-K (K "
                "units an input) or modified-R (R references)",
            )

        options = {fields[name]: int(number)} if number else {}
        return cls(name, **options)  # type: ignore[arg-type]

    def check(self, units: Units) -> None:
        """Raises InputError if the rule cannot score these units, whatever their
        presence."""
        if not units:
            raise InputError("no inputs", expected="the units of at least one input")
        for entry in units:
            weights = [unit.weight for unit in entry.units]
            if not weights:
                raise InputError(
                    f"input '{entry.input}' has no units",
                    expected="at least one",
                    hint="Units are extracted from words: a reference needs some.",
                )
            if not max(weights) > 0 or not np.isfinite(weights).all():
                raise InputError(
                    f"the weights of input '{entry.input}' are {cut(weights)}",
                    expected="at least one unit with a weight above zero, and no NaN",
                )

        for fact, unit in zip(units.facts, units.every, strict=True):
            self._check_weight(fact, unit.weight)
        if self.name == "vital":
            _vital(units)

    def _check_weight(self, fact: Fact, weight: float) -> None:
        """Points of a rubric have a sign, other weights have none."""
        signed = self.name in SIGNED
        if weight != 0 if signed else weight >= 0:
            return
        expected = "points above or below zero" if signed else "no weight below zero"
        hint = None if signed else "Score a rubric with penalties by the rule points."
        raise InputError(
            f"'{cut(fact.text, 60)}' of input '{fact.input}' has the weight {weight:g}",
            expected=expected,
            hint=hint,
        )

    def apply(
        self, presence: FloatArray, units: Units, seed: int
    ) -> tuple[FloatArray, dict[str, int]]:
        """(N, M) scores of (N, U) presence, and counts to report."""
        if self.name == "lite":
            return lite_pyramid_scores(presence, units), {}
        if self.name in SIGNED:
            return rubric_scores(
                presence, units, normalized=self.name == "normalized"
            ), {}

        if self.name == "vital":
            return _mean_of(presence, units.weights * _vital(units), units), {}
        if self.name == "sample":
            rng = np.random.default_rng(seed)
            values, small = litepyramid_sample_scores(presence, units, self.size, rng)
            return values, {"inputs_with_fewer_units_than_sample": small}

        if self.name == "original":
            return pyramid_scores(presence, units), {}
        return modified_pyramid_scores(presence, units, self.references), {}

    def system_scores(
        self, opinions: FloatArray, units: Units, seed: int
    ) -> FloatArray:
        """(J, N) mean scores of the systems by each of (J, N, U) presences."""
        each = [self.apply(presence, units, seed)[0] for presence in opinions]
        return np.array([system_means(scores) for scores in each])

    @property
    def is_sum(self) -> bool:
        """Whether the score is a sum over facts, so that each has a share in it."""
        return self.name in ("lite", "vital", "points", "normalized")

    def shares(self, units: Units) -> FloatArray:
        """(U,) what the presence of each unit adds to its input's score, for rules that
        are sums over units."""
        if not self.is_sum:
            raise InputError(
                f"labels of single facts by the rule {self.name}",
                expected="one whose score is a sum over facts (lite, vital, points)",
                hint="Label whole inputs for this rule (--spread inputs).",
            )

        weights = units.weights
        if self.name == "vital":
            weights = weights * _vital(units)
        # As in `rubric_scores`: points divide by what can be had, normalized by all.
        size = np.maximum(weights, 0) if self.name == "points" else np.abs(weights)
        # An input whose weights are all zero has no shares, and is no division by zero.
        whole = units.sums(size)[units.input_of]
        return ratio(weights, whole)

    def limits(self, units: Units) -> Ends:
        """The lowest and the highest mean score that any labels give."""
        # Penalties alone may take points below zero, as far as an input's allow.
        if self.name == "points":
            shares = self.shares(units)
            return float(units.sums(np.minimum(shares, 0)).mean()), 1.0
        return 0.0, np.inf if self.name == "modified" else 1.0

    def metric(self, kinds: str) -> str:
        """The name of the score that this rule computes on units of these kinds:
        ``scu``, ``stu`` or ``scu+stu``."""
        if self.name == "lite":
            return {"scu": "lite2pyramid", "stu": "lite3pyramid"}.get(
                kinds, "lite2.xpyramid"
            )
        return {
            "vital": "vital_score",
            "sample": "litepyramid",
            "original": "pyramid",
            "modified": "modified_pyramid",
            "points": "rubric",
            "normalized": "rubric_normalized",
        }[self.name]

    def signature(self) -> str | None:
        """The rule as a signature field; None for the plain weighted mean."""
        if self.name == "lite":
            return None

        return f"{self}refs" if self.name == "modified" else str(self)

    def __str__(self) -> str:
        """The rule as `of` takes it."""
        number = {"sample": f"-{self.size}", "modified": f"-{self.references}"}
        return self.name + number.get(self.name, "")


_TITLES = {
    "lite2pyramid": "Lite²Pyramid",
    "lite2.xpyramid": "Lite²·ˣPyramid",
    "lite3pyramid": "Lite³Pyramid",
    "litepyramid": "LitePyramid",
    "pyramid": "Pyramid (original)",
    "modified_pyramid": "Pyramid (modified)",
    "rubric": "Rubric score",
    "rubric_normalized": "Rubric score (normalized)",
}


def metric_title(metric: str) -> str:
    """How people write the name of a score; other metrics' names are left as they
    are."""
    return _TITLES.get(metric, metric)


def _vital(units: Units) -> BoolArray:
    if units.vital is None:
        raise InputError(
            "no unit says whether it is vital",
            expected='nuggets, or units with "importance": vital or okay',
        )
    return units.vital


def _mean_of(presence: FloatArray, weights: FloatArray, units: Units) -> FloatArray:
    """The weighted mean presence of the units of each input with a weight; 0 where none
    has."""
    gained = np.where(weights > 0, presence * weights, 0.0)
    return ratio(units.sums(gained), units.sums(weights))


def ratio(gained: FloatArray, whole: FloatArray, other: float = 0.0) -> FloatArray:
    """gained / whole where that is above zero, elsewhere another value."""
    out = np.full(gained.shape, other)
    return np.asarray(np.divide(gained, whole, out=out, where=whole > 0))


def _heaviest(units: Units) -> list[FloatArray]:
    """Per input, entry n is the sum of its n heaviest weights, from n = 0."""
    sums = []
    for start, end in pairwise(units.offsets.tolist()):
        heaviest_first = np.sort(units.weights[start:end])[::-1]
        sums.append(np.concatenate(([0.0], np.cumsum(heaviest_first))))
    return sums


def _presence(values: ArrayLike, units: Units) -> FloatArray:
    array = np.asarray(values, dtype=float)
    if array.ndim == 0 or array.shape[-1] != units.weights.size:
        raise InputError(
            f"presence of the shape {array.shape}",
            expected=f"{counted(units.weights.size, 'unit')} on the last axis",
        )
    return array
