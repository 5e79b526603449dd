"""Metric quality against annotation: correlation by the share of STUs (ZB21 Fig. 2, 4)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from litepyramid.easiness.mix import By, carriers, ranking, stu_count
from litepyramid.easiness.scores import Easiness
from litepyramid.easiness.sums import SentenceSums, fold_of
from litepyramid.errors import InputError
from litepyramid.meta.core.bootstrap import bootstrap_samples
from litepyramid.meta.core.coefficients import Coefficient
from litepyramid.meta.core.levels import ConstantPolicy, Level, level_correlation
from litepyramid.progress import track
from litepyramid.stats import check_samples, mean_of_scored, percentile_interval
from litepyramid.tables import Column, Result, Table, row
from litepyramid.text import counted
from litepyramid.types import FloatArray, IntArray, Signature

SHARES = tuple(k / 10 for k in range(11))
_NO_INTERVAL = (math.nan, math.nan)


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One correlation on the curve.

    Attributes:
        level: ``"system"`` or ``"summary"`` (or ``"global"``).
        coefficient: For example ``"pearson"``.
        share: Share of the sentences that carry STUs.
        stu_sentences: Their number.
        by: How they were chosen.
        value: The correlation with the human score; the mean over seeds for ``"random"``.
        sd: Standard deviation over seeds (n - 1); NaN but for ``"random"``.
        low: Lowest of the seeds; NaN but for ``"random"``.
        high: Highest of the seeds; NaN but for ``"random"``.
        interval: Ends of the sampling interval, with other systems and inputs (BOOT-BOTH, DDR21
            §3.2); NaN for ``"random"``.
        width: How wide intervals of human scores from few labels and these scores are, as a share
            of those from the labels alone: mean over systems of √(1 − r²), r the correlation with
            the human score over inputs (`scoring.powered`, many labels); mean over seeds.
    """

    level: Level
    coefficient: Coefficient
    share: float
    stu_sentences: int
    by: By
    value: float
    sd: float = math.nan
    low: float = math.nan
    high: float = math.nan
    interval: tuple[float, float] = _NO_INTERVAL
    width: float = math.nan


@dataclass(frozen=True)
class CurveResult(Result):
    """Correlation with the human score against the share of STUs.

    Attributes:
        points: All correlations.
        sentences: Number of sentences.
        seeds: Number of random orders.
        confidence: Confidence level of the sampling intervals.
        notes: What a user must know.
        signature: How to reproduce it.
        systems: Number of systems.
        inputs: Number of inputs.
    """

    points: tuple[CurvePoint, ...]
    sentences: int
    seeds: int
    confidence: float
    notes: tuple[str, ...]
    signature: Signature
    systems: int
    inputs: int

    @property
    def ways(self) -> tuple[By, ...]:
        """How sentences were chosen, in the order of the columns."""
        return tuple(dict.fromkeys(point.by for point in self.points))

    def line(self, by: By, level: Level, coefficient: Coefficient) -> tuple[CurvePoint, ...]:
        """The points of one line, by share."""
        return tuple(
            p for p in self.points if (p.by, p.level, p.coefficient) == (by, level, coefficient)
        )

    @property
    def panels(self) -> tuple[tuple[Level, Coefficient], ...]:
        """Level and coefficient of each panel."""
        return tuple(dict.fromkeys((p.level, p.coefficient) for p in self.points))

    def to_tables(self) -> Sequence[Table]:
        """A row for each level, coefficient and share; a column for each way of choosing."""
        columns: list[str | Column] = [
            *("level", Column("coefficient", "K"), Column("share", digits=2)),
            Column("stu_sentences", "STU sent."),
        ]
        for by in self.ways:
            columns += [by, Column("random_sd", "± sd")] if by == "random" else [by]
        short = {"pearson": "r", "spearman": "ρ", "kendall": "τ"}
        rows = []
        for level, coefficient in self.panels:
            for points in zip(*(self.line(b, level, coefficient) for b in self.ways), strict=True):
                values = {p.by: p.value for p in points} | {f"{p.by}_sd": p.sd for p in points}
                sign = short.get(coefficient, coefficient)
                rows.append(row(points[0], coefficient=sign) | values)
        notes = (
            f"{self.systems} systems, {self.inputs} inputs, {self.sentences} sentences; share 0 "
            "is Lite2 (SCUs alone), share 1 is Lite3 (STUs alone).",
            *self.notes,
            f"Signature: {self.signature}",
        )
        title = "Correlation with the human score by the share of sentences that carry STUs"
        return [Table.of(title, columns, rows, notes), self._widths()]

    def _widths(self) -> Table:
        """Width of combined intervals by share, a column for each way of choosing."""
        level, coefficient = self.panels[0]
        lines = [self.line(by, level, coefficient) for by in self.ways]
        rows = tuple(
            (points[0].share, *(point.width for point in points))
            for points in zip(*lines, strict=True)
        )
        note = "1: no narrower than with labels alone; .8: as narrow as with 1.56 times the labels."
        title = "Width of intervals from few labels and these scores, relative to the labels alone"
        columns = (Column("share", digits=2), *(Column(by, digits=3) for by in self.ways))
        return Table(title, columns, rows, (note,))


def budget_curve(
    sums: SentenceSums,
    human: FloatArray,
    *,
    easiness: Easiness | None = None,
    gold: Easiness | None = None,
    shares: Sequence[float] = SHARES,
    seeds: int = 100,
    seed: int = 12345,
    levels: Sequence[Level] = ("system", "summary"),
    coefficients: Sequence[Coefficient] = ("pearson",),
    constant: ConstantPolicy = "skip",
    folds: Mapping[str, int] | None = None,
    samples: int = 1000,
    confidence: float = 0.95,
) -> CurveResult:
    """Correlation of Lite2.x with the human score at each share of STUs (ZB21 Fig. 2, 4).

    At a share x the first floor(x n) sentences of a ranking of all n sentences carry STUs. The
    random line is the mean over `seeds` random rankings, each of which grows from share to share.

    Args:
        sums: What `judge_sentences` gives.
        human: (N, M) human scores of the same systems and inputs.
        easiness: Predicted easiness: gives the lines ``easiness`` and ``reversed``.
        gold: Gold easiness: gives the line ``gold``.
        shares: Shares from 0 to 1.
        seeds: Number of random rankings; 0 for none.
        seed: Seed of the generator that draws them.
        levels: Levels of correlation.
        coefficients: Coefficients of correlation.
        constant: What becomes of a constant vector (see `level_correlation`).
        folds: The fold of each input: then a correlation is the mean over folds of that of the
            fold's inputs, as ZB21 reports it; without, it is over all inputs at once. Sentences
            are ranked over the whole data set either way.
        samples: Bootstrap samples of the sampling intervals: systems and inputs are drawn again,
            the ranking stays.
        confidence: Confidence level of those intervals.

    Raises:
        InputError: An input has no fold, shapes differ, a share is out of range, or there is
            nothing to draw.
    """
    check_samples(samples, confidence=confidence)
    n = len(sums.sentences)
    if human.shape != (len(sums.systems), len(sums.inputs)):
        raise InputError(
            f"the human scores have the shape {human.shape}",
            expected=f"({len(sums.systems)}, {len(sums.inputs)}): systems, inputs",
        )
    if seeds < 0:
        raise InputError(f"{seeds} random rankings", expected="0 or more")
    parts = _parts(sums.inputs, folds)
    shares = sorted({float(share) for share in shares})
    counts = [stu_count(share, n) for share in shares]
    rng = np.random.default_rng(seed)
    sources: dict[By, Easiness | None] = {
        "easiness": easiness, "random": None, "reversed": easiness, "gold": gold
    }  # fmt: skip
    orders: dict[By, list[IntArray]] = {}
    for by, source in sources.items():
        values = None if source is None else source.of(sums.sentences)
        times = seeds if by == "random" else int(source is not None)
        if times:
            orders[by] = [ranking(by, values, n, rng) for _ in range(times)]
    if not orders or not shares:
        raise InputError("nothing to draw", expected="an easiness or random rankings, and shares")
    points = []
    constants = 0
    for by, tried in orders.items():
        todo = list(zip(shares, counts, strict=True))
        for share, count in track(todo, f"{by} rankings", "shares"):
            scored = [sums.scores(carriers(order, count)) for order in tried]
            width = float(np.mean([_relative_width(scores, human) for scores in scored]))
            for level, coefficient in product(levels, coefficients):
                found = [
                    [
                        level_correlation(s[:, part], human[:, part], level, coefficient, constant)
                        for part in parts
                    ]
                    for s in scored
                ]
                constants = max(constants, *(sum(v.constant for v in values) for values in found))
                drawn = np.array([np.mean([v.value for v in values]) for values in found])
                point = CurvePoint(
                    level, coefficient, share, count, by, mean_of_scored(drawn), width=width
                )
                if by == "random":
                    points.append(_spread(point, drawn[~np.isnan(drawn)]))
                    continue
                again = [
                    bootstrap_samples(
                        scored[0][:, part], human[:, part], level, coefficient,
                        samples=samples, seed=seed, constant=constant,
                    )
                    for part in parts
                ]  # fmt: skip
                ends = percentile_interval(np.mean(again, axis=0), confidence)
                points.append(replace(point, interval=ends))
    points.sort(key=lambda p: (levels.index(p.level), coefficients.index(p.coefficient)))
    notes = []
    if "random" in orders:
        notes.append(f"random: mean ± standard deviation over {seeds} random rankings.")
    if easiness is not None:
        notes.append("reversed: the hardest sentences carry STUs first.")
    if folds is not None:
        notes.append(f"Each correlation is the mean over {len(parts)} folds of inputs.")
    if constants:
        many = counted(constants, "constant vector")
        notes.append(f"At most {many} in one correlation (policy: {constant}).")
    first = [p for p in points if p.by != "random" and p.share == shares[0]]
    first = [p for p in first if p.by == first[0].by]
    if first:
        said = (
            f"{p.level} {p.coefficient} {p.interval[0]:.3f} to {p.interval[1]:.3f}" for p in first
        )
        notes.append(
            f"{100 * confidence:g} % sampling interval (BOOT-BOTH, {samples} samples) at share "
            f"{shares[0]:g}: {'; '.join(said)}. Much smaller differences may be chance."
        )
    made = {} if easiness is None else dict(easiness.signature.fields)
    signature = Signature.of(
        curve="lite2.x",
        easiness=made.get("easiness"),
        features=made.get("features"),
        **sums.signature,
        constant=constant,
        folds=None if folds is None else len(parts),
        seeds=seeds or None,
        samples=samples,
        confidence=f"{confidence:g}",
        seed=seed,
    )
    return CurveResult(tuple(points), n, seeds, confidence, tuple(notes), signature, *human.shape)


def _parts(inputs: Sequence[str], folds: Mapping[str, int] | None) -> list[IntArray]:
    """The columns of each fold; all columns at once without folds."""
    if folds is None:
        return [np.arange(len(inputs))]
    place = np.array([fold_of(folds, name) for name in inputs])
    return [np.flatnonzero(place == fold) for fold in sorted(set(place.tolist()))]


def _relative_width(scores: FloatArray, human: FloatArray) -> float:
    """Mean over systems of √(1 − r²); a constant row counts as r = 0."""
    x, y = (rows - rows.mean(axis=1, keepdims=True) for rows in (scores, human))
    both = np.sqrt((x * x).sum(axis=1) * (y * y).sum(axis=1))
    r = (x * y).sum(axis=1) / np.where(both > 0, both, 1.0)
    return float(np.sqrt(np.maximum(0.0, 1.0 - r * r)).mean())


def _spread(point: CurvePoint, drawn: FloatArray) -> CurvePoint:
    """The point with the standard deviation and the ends over seeds."""
    if not drawn.size:
        return point
    sd = float(drawn.std(ddof=1)) if drawn.size > 1 else math.nan
    return replace(point, sd=sd, low=float(drawn.min()), high=float(drawn.max()))
