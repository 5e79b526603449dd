"""Combining people and judge: scores on all inputs from labels on a few (prediction-powered)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from litepyramid.errors import InputError
from litepyramid.scoring.groups import group_letters, letter_groups
from litepyramid.scoring.powered import Design, Method, Powered, Target, prediction_powered
from litepyramid.scoring.pyramid import metric_title
from litepyramid.stats import adjust_p_values, check_share, t_p_values
from litepyramid.tables import Column, Result, Table, row
from litepyramid.text import counted
from litepyramid.types import FloatArray, ScoreMatrix, Signature, fingerprint


@dataclass(frozen=True, slots=True)
class CombinedScore:
    """One system.

    Attributes:
        system: Its name.
        score: Its human score, estimated from labels and judge.
        low: Lower end of the interval.
        high: Upper end.
        alone: Its human score from the labels alone.
        alone_low: Lower end of that interval.
        alone_high: Upper end.
        judge: The judge's own score, over all inputs.
        weight: λ, how much the judge counts; 0: the labels alone.
        labels: How many of its inputs are labelled.
        saved: How many more labelled inputs the labels alone would need for as short an interval.
        groups: Its rank groups (best is 1).
    """

    system: str
    score: float
    low: float
    high: float
    alone: float
    alone_low: float
    alone_high: float
    judge: float
    weight: float
    labels: int
    saved: float
    groups: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CombinedPair:
    """The difference of two systems, estimated as a difference, with a λ of its own.

    Attributes:
        first: The better one.
        second: The other one.
        difference: Human score of the first less that of the second.
        low: Lower end of the interval.
        high: Upper end.
        alone: The difference from the labels alone.
        alone_low: Lower end of that interval.
        alone_high: Upper end.
        weight: λ of the difference.
        labels: How many inputs have labels of both.
        saved: As for a system.
        p: Two-sided p of no difference (t-test).
        p_holm: The same after Holm's correction over all pairs.
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    alone: float
    alone_low: float
    alone_high: float
    weight: float
    labels: int
    saved: float
    p: float
    p_holm: float


@dataclass(frozen=True, slots=True)
class CombinedScores(Result):
    """Human scores of systems and their differences, from labels on some inputs and a judge.

    Attributes:
        metric: The judge's metric.
        systems: One entry per system, best first.
        pairs: One entry per pair, the largest difference first.
        inputs: How many inputs there are.
        labels: How many have labels for some system.
        target: Whether intervals are for these inputs or for the population they come from.
        confidence: Confidence level of the intervals.
        alpha: Significance level.
        signature: Everything needed to reproduce the numbers.
    """

    metric: str
    systems: tuple[CombinedScore, ...]
    pairs: tuple[CombinedPair, ...]
    inputs: int
    labels: int
    target: Target
    confidence: float
    alpha: float
    signature: Signature

    @property
    def scores(self) -> dict[str, float]:
        """The estimated human score of each system, best first."""
        return {entry.system: entry.score for entry in self.systems}

    def to_tables(self) -> Sequence[Table]:
        """One row per system; then the differences."""
        percent = f"{100 * self.confidence:g} %"
        unused = sum(not entry.weight for entry in self.systems)
        saved = float(np.median([entry.saved for entry in self.systems]))
        of = "labels on all inputs would give" if self.target == "inputs" else "new inputs have"
        notes = [
            f"score: labels and judge combined; alone: labels only. {percent} intervals for "
            f"the scores that {of}. The labelled inputs are assumed to be a random sample"
            + (" of their strata." if "design" in dict(self.signature.fields) else "."),
            f"The judge is worth {saved:.0f} more labelled inputs (median).",
        ]
        if unused:
            notes.append(
                f"For {counted(unused, 'system')} the judge does not help: only the labels are "
                "taken."
            )
        if any(entry.weight < 0 for entry in self.systems):
            notes.append("λ < 0: the judge disagrees with the labels; check it.")
        if self.pairs:
            notes.append(
                "Systems that share a group do not differ significantly "
                f"(α = {self.alpha:g}, t-test of the combined differences, Holm's correction)."
            )
        columns = (
            *("group", "system", "score", "low", "high", "alone"),
            *(Column("alone_low", "low"), Column("alone_high", "high"), "judge"),
            *(Column("weight", "λ", digits=2), Column("saved", digits=0)),
        )
        rows = [row(entry, group=group_letters(entry.groups)) for entry in self.systems]
        title = (
            f"Human scores of {counted(len(self.systems), 'system')} on "
            f"{counted(self.inputs, 'input')}, from labels on {self.labels} and "
            f"{metric_title(self.metric)}"
        )
        table = Table.of(title, columns, rows, (*notes, str(self.signature)))
        return [replace(table, repeated=2), *self._differences()]

    def _differences(self, limit: int = 10) -> list[Table]:
        columns = (
            "first", "second", Column("difference", "diff.", signed=True),
            Column("low", signed=True), Column("high", signed=True),
            Column("alone_low", "alone low", signed=True),
            Column("alone_high", "high", signed=True),
            Column("p_holm", "p Holm", digits=4, above_zero=True),
        )  # fmt: skip
        found = sum(pair.p_holm < self.alpha for pair in self.pairs)
        note = f"{found} of {counted(len(self.pairs), 'pair')} differ significantly."
        more = f"The {limit} largest differences" if len(self.pairs) > limit else "Differences"
        return [Table.of(more, columns, self.pairs[:limit], (note,))] if self.pairs else []


def combine(
    judge: ScoreMatrix,
    human: ScoreMatrix,
    *,
    design: Design | None = None,
    assume_random: bool = False,
    target: Target = "inputs",
    method: Method = "cross-fit",
    confidence: float = 0.95,
    alpha: float = 0.05,
    signature: Signature | None = None,
) -> CombinedScores:
    """Estimates human scores from labels on some inputs and a judge's scores on all.

    Systems and differences of two systems are estimated by `prediction_powered`; inputs are the
    units that are drawn, as all systems are labelled on the same ones.

    Args:
        judge: (N, M) scores of a metric, complete.
        human: (N, M) human scores, NaN where an input is not labelled.
        design: How the labelled inputs were chosen; None: at random.
        assume_random: Take the labelled inputs for a random sample even if they look chosen.
        target: ``inputs`` or ``population``; see `prediction_powered`.
        method: ``cross-fit``, or as other packages do (`prediction_powered`).
        confidence: Confidence level of the intervals.
        alpha: Significance level.
        signature: What is known of how the judge's scores were made.

    Raises:
        InputError: The matrices do not match, the judge's scores have gaps, too few labels, or
            the labelled inputs are the first (or last) ones of the file, which is not a sample.

    Example:
        >>> rng = np.random.default_rng(1)
        >>> truth = rng.random((2, 40))
        >>> names = ("a", "b"), tuple(map(str, range(40)))
        >>> judged = ScoreMatrix("judge", *names, 0.5 * truth + 0.1 * rng.random((2, 40)))
        >>> shown = np.where(rng.permutation(40) < 12, truth, np.nan)
        >>> result = combine(judged, ScoreMatrix("human", *names, shown))
        >>> [entry.saved > 10 for entry in result.systems]
        [True, True]
    """
    check_share("confidence", confidence)
    check_share("alpha", alpha)
    if (judge.systems, judge.inputs) != (human.systems, human.inputs):
        raise InputError(
            "the judge's scores and the human scores are for different systems or inputs",
            expected="the same ones, in the same order",
        )
    if design is not None and design.inputs != judge.inputs:
        raise InputError("the plan is for other inputs than the scores", expected="the same inputs")
    there = ~np.isnan(human.values)
    gap = np.argwhere(np.isnan(judge.values))
    if len(gap):
        raise InputError(
            f"no score of '{judge.systems[gap[0][0]]}' on input '{judge.inputs[gap[0][1]]}'",
            expected="the judge's score for every summary",
        )
    if design is None and not assume_random:
        _check_sample(np.asarray(there.any(axis=0)))
    pairs = np.array(list(combinations(range(len(there)), 2)), dtype=np.int64).reshape(-1, 2)
    settings = {"confidence": confidence, "target": target, "method": method, "design": design}
    own = _powered(human.values, judge.values, **settings)
    differences = _powered(
        human.values[pairs[:, 0]] - human.values[pairs[:, 1]],
        judge.values[pairs[:, 0]] - judge.values[pairs[:, 1]],
        **settings,
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(differences["value"]) / differences["error"]
    p = t_p_values(np.nan_to_num(t, nan=0.0, posinf=np.inf), differences["freedom"])
    holm = adjust_p_values(p, "holm")
    order = np.argsort(-own["value"], kind="stable")
    differs = np.zeros((len(order), len(order)), dtype=bool)
    differs[tuple(pairs.T)] = holm < alpha
    groups = letter_groups(order.tolist(), differs | differs.T)
    judged = judge.values.mean(axis=1)
    keys = ("low", "high", "alone", "alone_low", "alone_high", "weight", "labels", "saved")
    systems = tuple(
        CombinedScore(
            system=judge.systems[i],
            score=float(own["value"][i]),
            judge=float(judged[i]),
            groups=groups[i],
            **{key: own[key][i].item() for key in keys},
        )
        for i in order
    )
    found = []
    for at, (i, j) in enumerate(pairs):
        sign = -1 if differences["value"][at] < 0 else 1
        first, second = (i, j) if sign > 0 else (j, i)
        values = {key: differences[key][at].item() for key in keys}
        for low, high in (("low", "high"), ("alone_low", "alone_high")):
            if sign < 0:
                values[low], values[high] = -values[high], -values[low]
        found.append(
            CombinedPair(
                first=judge.systems[first],
                second=judge.systems[second],
                difference=abs(float(differences["value"][at])),
                p=float(p[at]),
                p_holm=float(holm[at]),
                **{**values, "alone": sign * values["alone"]},
            )
        )
    found.sort(key=lambda pair: (-pair.difference, pair.first, pair.second))
    fields = dict(signature.fields if signature else (("metric", judge.metric),))
    fields |= Signature.of(
        combine=method, target=target, confidence=confidence,
        human_sha=fingerprint(np.nan_to_num(human.values, nan=-1).tolist()),
        design=None if design is None else fingerprint(
            [design.inclusion.tolist(), [] if design.strata is None else design.strata.tolist()]
        ),
    ).fields  # fmt: skip
    return CombinedScores(
        metric=judge.metric,
        systems=systems,
        pairs=tuple(found),
        inputs=len(judge.inputs),
        labels=int(there.any(axis=0).sum()),
        target=target if method == "cross-fit" else "population",
        confidence=confidence,
        alpha=alpha,
        signature=Signature(tuple(fields.items())),
    )


def _powered(human: FloatArray, judge: FloatArray, **settings: object) -> dict[str, FloatArray]:
    """`prediction_powered` of rows that may have other gaps, by the attributes' names."""
    rows = {name: np.full(len(human), np.nan) for name in Powered.__slots__}
    rows["labels"] = np.zeros(len(human), dtype=np.int64)
    patterns: dict[bytes, list[int]] = {}
    for index, there in enumerate(~np.isnan(human)):
        patterns.setdefault(there.tobytes(), []).append(index)
    for same in patterns.values():
        labelled = np.flatnonzero(~np.isnan(human[same[0]]))
        found = prediction_powered(human[same][:, labelled], judge[same], labelled, **settings)  # type: ignore[arg-type]
        for name in Powered.__slots__:
            rows[name][same] = getattr(found, name)
        rows["labels"][same] = len(labelled)
    return rows


def _check_sample(labelled: NDArray[np.bool_]) -> None:
    """Raises InputError if the labelled inputs are the first or the last ones of many."""
    n, total = int(labelled.sum()), len(labelled)
    ends = labelled[:n].all() or labelled[total - n :].all()
    if ends and comb(total, n) > 1000:
        raise InputError(
            f"the labelled inputs are the {'first' if labelled[:n].all() else 'last'} {n} of "
            f"{total}: not a random sample",
            expected="a random sample of the inputs, or a plan with the probabilities",
            hint="Draw them with `litepyramid budget plan --for presence`; if the order is random "
            "anyway, use --assume-random.",
        )
