"""Scores from presence and weights: Lite2, Lite2.x, Lite3, LitePyramid, Pyramid,
rubrics.

Presence is an array (..., U) in [0, 1], a leading axis the systems, in which the units
of one input stand together; a `UnitLayout` says where. Scores are (..., M), NaN where
the presence of a unit of the input is NaN. One call scores all summaries of all
systems.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike

from litepyramid.errors import InputError
from litepyramid.text import counted, cut
from litepyramid.types import (
    BoolArray,
    Ends,
    FloatArray,
    InputUnits,
    IntArray,
    Names,
    unit_order,
)

Rule = Literal[
    "lite", "vital", "sample", "original", "modified", "points", "normalized"
]
SIGNED = ("points", "normalized")
"""Rules by which weights are points of a rubric, with a sign."""

NUGGET_SCORES = ("strict_vital_score", "strict_all_score", "vital_score", "all_score")


@dataclass(frozen=True)
class UnitLayout:
    """Where each input's units stand in flat arrays.

    Attributes:
        inputs: M ids.
        offsets: (M + 1,) int64; the units of input i are ``offsets[i]:offsets[i + 1]``.
        weights: (U,) float64, one weight a unit; below zero for a penalty of a rubric.
        vital: (U,) whether a unit is a vital nugget; None if none says how important it
            is.
        order: (U,) each input's units by what they say: in this order they are summed
            and drawn, whatever that of the file.
    """

    inputs: Names
    offsets: IntArray
    weights: FloatArray
    vital: BoolArray | None
    order: IntArray

    @classmethod
    def of(cls, units: Sequence[InputUnits]) -> Self:
        """The layout of inputs with their units; InputError where none has a weight
        above zero."""
        if not units:
            raise InputError("no inputs", expected="the units of at least one input")
        weights: list[float] = []
        importance = []
        offsets = [0]
        order = []

        for entry in units:
            row = [unit.weight for unit in entry.units]
            if not row:
                raise InputError(
                    f"input '{entry.input}' has no units",
                    expected="at least one",
                    hint="Units are extracted from words: a reference needs some.",
                )
            if not max(row) > 0 or not np.isfinite(row).all():
                raise InputError(
                    f"the weights of input '{entry.input}' are {cut(row)}",
                    expected="at least one unit with a weight above zero, and no NaN",
                )
            # Sums of floats depend on their order: by text it is always the same.
            order += [len(weights) + place for place in unit_order(entry)]
            weights += row
            offsets.append(len(weights))
            importance += [unit.importance for unit in entry.units]

        vital = np.array(importance) == "vital" if any(importance) else None
        return cls(
            tuple(entry.input for entry in units),
            np.array(offsets),
            np.array(weights, dtype=float),
            vital,
            np.array(order),
        )

    @property
    def bounds(self) -> list[tuple[int, int]]:
        """M pairs: where each input's units begin and end."""
        return list(pairwise(self.offsets.tolist()))

    def sums(self, values: FloatArray) -> FloatArray:
        """Sums over each input's units: (..., U) to (..., M)."""
        return np.add.reduceat(values[..., self.order], self.offsets[:-1], axis=-1)


def lite_pyramid_scores(presence: ArrayLike, layout: UnitLayout) -> FloatArray:
    r"""The weighted mean presence of each input's units: Lite2, Lite2.x, Lite3, human
    score.

    .. math:: \text{score}_i = \sum_j w_{ij} f(u_{ij}, s_i) \big/ \sum_j w_{ij}

    (ZB21 eq. 2 with SCUs, §3.2 with STUs, which all weigh 1; with human labels for f it
    is the exhaustive human score.)
    """
    weighted = _presence(presence, layout) * layout.weights
    return np.asarray(layout.sums(weighted) / layout.sums(layout.weights), dtype=float)


def rubric_scores(
    presence: ArrayLike,
    layout: UnitLayout,
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
    presence = _presence(presence, layout)
    weights = (
        layout.weights if chosen is None else np.where(chosen, layout.weights, 0.0)
    )
    # 0 · NaN would be NaN: a criterion that does not count may lack a judgement.
    total = layout.sums(np.where(weights == 0, 0.0, presence * weights))
    # Penalties are no points to be had: what can be had are the positive ones.
    most = layout.sums(np.maximum(weights, 0))
    least = layout.sums(np.minimum(weights, 0)) if normalized else 0.0
    return ratio(total - least, np.where(most > 0, most - least, 0.0), np.nan)


def nugget_scores(presence: ArrayLike, layout: UnitLayout) -> dict[str, FloatArray]:
    """The four scores of TREC RAG's nuggets (AutoNuggetizer; Pradeep et al. 2024).

    ``vital_score`` and ``all_score`` are the mean presence of an answer's vital
    nuggets, or of all; ``strict_…`` count only nuggets that are there whole: labels of
    1, and of a judge presence from .75 up, which is nearer to 1 than to .5. The labels
    are 1 for support, .5 for partial support, else 0. Weights play no part. An input
    without a vital nugget has a vital score of 0.
    """
    graded = _presence(presence, layout)
    strict = np.where(np.isnan(graded), np.nan, graded >= 0.75)
    every = np.ones(layout.weights.size)
    scores = {}
    for name in NUGGET_SCORES:
        counted_presence = strict if "strict" in name else graded
        weights = every * _vital(layout) if "vital" in name else every
        scores[name] = _mean_of(counted_presence, weights, layout)
    return scores


def litepyramid_sample_scores(
    presence: ArrayLike, layout: UnitLayout, size: int, rng: np.random.Generator
) -> tuple[FloatArray, int]:
    """LitePyramid (Shapira et al. 2019): mean presence of `size` units sampled for each
    input.

    The pool of an input holds each unit as often as it weighs (the union over
    references with duplicates); the draw is without replacement, the same for all
    systems, inputs in the order of their ids, units in that of their texts. Also given
    is how many inputs had a pool smaller than `size`, all of which was used.
    """
    weights = layout.weights
    if (weights != np.round(weights)).any():
        raise InputError(
            "a unit's weight is not a whole number",
            expected="weights that count references: LitePyramid repeats a unit by "
            "its weight",
        )

    drawn = np.zeros_like(weights)
    small = 0

    # By id: one generator draws for all inputs, so their order is part of the draw.
    for _, (start, end) in sorted(zip(layout.inputs, layout.bounds, strict=True)):
        units = layout.order[start:end]
        pool = np.repeat(units, weights[units].astype(int))
        small += pool.size < size
        np.add.at(drawn, rng.choice(pool, min(size, pool.size), replace=False), 1.0)

    values = layout.sums(_presence(presence, layout) * drawn) / layout.sums(drawn)
    return values, int(small)


def pyramid_scores(labels: ArrayLike, layout: UnitLayout) -> FloatArray:
    """The original Pyramid score (Nenkova & Passonneau 2004; ZB21 eq. 1).

    Σ weights of the present SCUs / the best sum reachable with as many SCUs; 0 for a
    summary with no SCU present. Labels are 0 or 1: the score counts SCUs, so it needs a
    decision. NaN where a label is missing (NaN).
    """
    present = _presence(labels, layout)
    unlabelled = np.isnan(present)
    if not (np.isin(present, (0.0, 1.0)) | unlabelled).all():
        raise InputError(
            "presence is not 0 or 1", expected="labels: the score counts SCUs"
        )

    # An input with a unit that nobody labelled has no score.
    incomplete = layout.sums(unlabelled.astype(float)) > 0
    present = np.where(unlabelled, 0.0, present)

    # As many SCUs as the summary has, the heaviest of the input.
    sizes = layout.sums(present).astype(int)
    best = np.empty(sizes.shape)
    for i, heaviest in enumerate(_heaviest(layout)):
        best[..., i] = heaviest[sizes[..., i]]
    gained = layout.sums(present * layout.weights)
    scores = ratio(gained, best)

    return np.where(incomplete, np.nan, scores)


def modified_pyramid_scores(
    presence: ArrayLike, layout: UnitLayout, references: ArrayLike
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
    sizes = np.floor(layout.sums(layout.weights) / counts + 0.5).astype(int)
    # References may repeat SCUs: the ideal summary cannot hold more than there are.
    sums = zip(_heaviest(layout), sizes.tolist(), strict=True)
    best = np.array([heaviest[min(size, heaviest.size - 1)] for heaviest, size in sums])
    gained = layout.sums(_presence(presence, layout) * layout.weights)
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

    def layout(self, units: Sequence[InputUnits]) -> UnitLayout:
        """The units' layout; InputError if the rule cannot score them, whatever their
        presence."""
        layout = UnitLayout.of(units)
        signed = self.name in SIGNED
        wrong = np.flatnonzero(layout.weights == 0 if signed else layout.weights < 0)

        if len(wrong):
            # The input whose units hold the place of the first wrong one.
            place = int(np.searchsorted(layout.offsets, wrong[0], side="right")) - 1
            name = units[place].input
            unit = units[place].units[wrong[0] - layout.offsets[place]]
            raise InputError(
                f"'{cut(unit.text, 60)}' of input '{name}' has the weight "
                f"{unit.weight:g}",
                expected="points above or below zero"
                if signed
                else "no weight below zero",
                hint=None
                if signed
                else "Score a rubric with penalties by the rule points.",
            )

        if self.name == "vital":
            _vital(layout)
        return layout

    def apply(
        self, presence: FloatArray, layout: UnitLayout, seed: int
    ) -> tuple[FloatArray, dict[str, int]]:
        """(N, M) scores of (N, U) presence, and counts to report."""
        if self.name == "lite":
            return lite_pyramid_scores(presence, layout), {}
        if self.name in SIGNED:
            return rubric_scores(
                presence, layout, normalized=self.name == "normalized"
            ), {}

        if self.name == "vital":
            return _mean_of(presence, layout.weights * _vital(layout), layout), {}
        if self.name == "sample":
            rng = np.random.default_rng(seed)
            values, small = litepyramid_sample_scores(presence, layout, self.size, rng)
            return values, {"inputs_with_fewer_units_than_sample": small}

        if self.name == "original":
            return pyramid_scores(presence, layout), {}
        return modified_pyramid_scores(presence, layout, self.references), {}

    @property
    def is_sum(self) -> bool:
        """Whether the score is a sum over facts, so that each has a share in it."""
        return self.name in ("lite", "vital", "points", "normalized")

    def shares(self, layout: UnitLayout) -> FloatArray:
        """(U,) what the presence of each unit adds to its input's score, for rules that
        are sums over units."""
        if not self.is_sum:
            raise InputError(
                f"labels of single facts by the rule {self.name}",
                expected="one whose score is a sum over facts (lite, vital, points)",
                hint="Label whole inputs for this rule (--spread inputs).",
            )

        weights = layout.weights
        if self.name == "vital":
            weights = weights * _vital(layout)
        # As in `rubric_scores`: points divide by what can be had, normalized by all.
        size = np.maximum(weights, 0) if self.name == "points" else np.abs(weights)
        # An input whose weights are all zero has no shares, and is no division by zero.
        whole = np.repeat(layout.sums(size), np.diff(layout.offsets))
        return ratio(weights, whole)

    def limits(self, layout: UnitLayout) -> Ends:
        """The lowest and the highest mean score that any labels give."""
        # Penalties alone may take points below zero, as far as an input's allow.
        if self.name == "points":
            shares = self.shares(layout)
            return float(layout.sums(np.minimum(shares, 0)).mean()), 1.0
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


def _vital(layout: UnitLayout) -> BoolArray:
    if layout.vital is None:
        raise InputError(
            "no unit says whether it is vital",
            expected='nuggets, or units with "importance": vital or okay',
        )
    return layout.vital


def _mean_of(
    presence: FloatArray, weights: FloatArray, layout: UnitLayout
) -> FloatArray:
    """The weighted mean presence of the units of each input with a weight; 0 where none
    has."""
    gained = np.where(weights > 0, presence * weights, 0.0)
    return ratio(layout.sums(gained), layout.sums(weights))


def ratio(gained: FloatArray, whole: FloatArray, other: float = 0.0) -> FloatArray:
    """gained / whole where that is above zero, elsewhere another value."""
    out = np.full(gained.shape, other)
    return np.asarray(np.divide(gained, whole, out=out, where=whole > 0))


def _heaviest(layout: UnitLayout) -> list[FloatArray]:
    """Per input, entry n is the sum of its n heaviest weights, from n = 0."""
    sums = []
    for start, end in layout.bounds:
        heaviest_first = np.sort(layout.weights[start:end])[::-1]
        sums.append(np.concatenate(([0.0], np.cumsum(heaviest_first))))
    return sums


def _presence(values: ArrayLike, layout: UnitLayout) -> FloatArray:
    array = np.asarray(values, dtype=float)
    if array.ndim == 0 or array.shape[-1] != layout.weights.size:
        raise InputError(
            f"presence of the shape {array.shape}",
            expected=f"{counted(layout.weights.size, 'unit')} on the last axis",
        )
    return array
