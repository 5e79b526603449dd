"""Metrics averaged over the whole test set, people over what they judged (DDR22 §3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from litepyramid.meta.core import draws
from litepyramid.meta.core.bootstrap import bootstrap_samples
from litepyramid.meta.core.coefficients import Coefficient
from litepyramid.meta.core.draws import SAMPLINGS, Sampling
from litepyramid.meta.core.levels import level_correlation, several
from litepyramid.meta.system_level.paired_scores import Sides, sides_of
from litepyramid.stats import (
    check_samples,
    percentile_interval,
    percentile_intervals,
    resampled_means,
)
from litepyramid.tables import Column, Result, Table, record, row
from litepyramid.text import counted
from litepyramid.types import Signature


@dataclass(frozen=True, slots=True)
class SideInterval:
    """r_SYS with the metric on one set of inputs.

    Attributes:
        value: The correlation.
        low: Lower end of its bootstrap interval.
        high: Upper end.
        failed: Samples without a correlation; they are left out of the interval.
    """

    value: float
    low: float
    high: float
    failed: int

    @property
    def width(self) -> float:
        """From the lower to the upper end."""
        return self.high - self.low


@dataclass(frozen=True, slots=True)
class FullSetInterval:
    """One metric, one way of sampling: judged inputs against all.

    Attributes:
        metric: Its name.
        sampling: What is resampled with replacement: systems, inputs or both.
        judged: The metric averaged over the judged inputs, the draw shared with people.
        full: The metric averaged over the whole test set, each side over inputs of its own.
    """

    metric: str
    sampling: Sampling
    judged: SideInterval
    full: SideInterval

    @property
    def narrower(self) -> float:
        """By which share of the judged interval's width the other one is narrower."""
        return 1 - self.full.width / self.judged.width if self.judged.width else float("nan")

    def to_json(self) -> dict[str, Any]:
        """The fields, and `narrower`."""
        return {**record(self), "narrower": self.narrower}


@dataclass(frozen=True, slots=True)
class ScoreVariance:
    """Uncertainty of the systems' average scores (DDR22 §3.1).

    Attributes:
        metric: Its name.
        judged: Mean over systems of the bootstrap variance of the average over judged inputs.
        full: The same over the whole test set.
        intervals: Per system (name, judged low, high, full low, high): Fig. 2.
    """

    metric: str
    judged: float
    full: float
    intervals: tuple[tuple[str, float, float, float, float], ...]

    @property
    def reduced(self) -> float:
        """By which share the variance is smaller on the whole test set (DDR22: about 99 %)."""
        return 1 - self.full / self.judged if self.judged else float("nan")

    def to_json(self) -> dict[str, Any]:
        """The fields, and `reduced`."""
        return {**record(self), "reduced": self.reduced}


@dataclass(frozen=True)
class FullSetResult(Result):
    """r_SYS with metrics on judged inputs and on the whole test set.

    Attributes:
        intervals: One per metric and way of sampling.
        variances: One per metric.
        sides: One per metric: which systems and inputs were used.
        coefficient: The coefficient.
        confidence: Confidence level of the intervals.
        samples: Bootstrap samples.
        seed: Seed of the draws.
        signature: Names everything that the numbers depend on.
    """

    intervals: tuple[FullSetInterval, ...]
    variances: tuple[ScoreVariance, ...]
    sides: tuple[Sides, ...]
    coefficient: Coefficient
    confidence: float
    samples: int
    seed: int
    signature: Signature

    def to_tables(self) -> list[Table]:
        """The intervals, and the variances of the systems' scores."""
        columns: list[Column | str] = ["metric", Column("sampling", "BOOT-")]
        rows = [row(i, narrower=100 * i.narrower) for i in self.intervals]
        for side, header in (("judged", "M_jud"), ("full", "M_test")):
            for end, name in (("value", side), ("low", f"{side}_low"), ("high", f"{side}_high")):
                columns.append(Column(name, header if end == "value" else end, digits=2))
                for cells, found in zip(rows, self.intervals, strict=True):
                    cells[name] = getattr(getattr(found, side), end)
        columns.append(Column("narrower", "less %", digits=0))
        notes = []
        for sampling in dict.fromkeys(i.sampling for i in self.intervals):
            shares = [i.narrower for i in self.intervals if i.sampling == sampling]
            less = float(np.nanmean(shares))
            notes.append(
                f"BOOT-{sampling.upper()}: on the whole test set the intervals are "
                f"{100 * abs(less):.0f} % {'narrower' if less >= 0 else 'wider'} on average."
            )
        failed = sum(i.judged.failed + i.full.failed for i in self.intervals)
        if failed:
            were = "was" if failed == 1 else "were"
            notes.append(f"{counted(failed, 'sample')} had no correlation and {were} left out.")
        notes += dict.fromkeys(s.describe() for s in self.sides)
        title = f"r_SYS ({self.coefficient}) with metrics on judged inputs and on all"
        variances = [
            row(v, judged=v.judged**0.5, full=v.full**0.5, reduced=100 * v.reduced)
            for v in self.variances
        ]
        variance_columns = (
            *("metric", Column("judged", "sd, judged", 4), Column("full", "sd, all", 4)),
            Column("reduced", "variance less %", digits=1),
        )
        spread = "Standard deviation of a system's average score"
        said = f"Signature: {self.signature}"
        return [
            Table.of(title, columns, rows, notes),
            Table.of(spread, variance_columns, variances, [said]),
        ]


def full_test_set(
    scores: Any,
    full: Any,
    human: str | Sequence[str] = "human",
    *,
    metrics: str | Sequence[str] | None = None,
    coefficient: Coefficient = "kendall",
    sampling: Sampling | Sequence[Sampling] = SAMPLINGS,
    confidence: float = 0.95,
    samples: int = 1000,
    seed: int = 12345,
) -> FullSetResult:
    """r_SYS and its intervals with metrics on the judged inputs, and on the whole test set.

    People judge few inputs, but a metric can score all (DDR22 §3): r_SYS = CORR over systems of
    (mean over M_test inputs of X, mean over M_jud inputs of Z). The bootstrap then resamples each
    side over its own inputs; on judged inputs alone both sides share the draw. Systems are
    resampled for both sides together.

    Args:
        scores: The judged table, with human scores; see `deltas.delta`.
        full: The metrics' scores on the whole test set. Its inputs need not contain the judged
            ones under the same names; its systems are matched by name.
        human: The human score; several names mean the mean of several raters.
        metrics: Names or patterns; None: all that both tables have.
        coefficient: DDR22 uses ``"kendall"``.
        sampling: One or several of ``"systems"``, ``"inputs"`` and ``"both"``.
        confidence: Confidence level of the intervals.
        samples: Bootstrap samples.
        seed: Seed of the draws; the same for every metric.

    Raises:
        InputError: The tables share no metric or no system; fewer than two systems.

    Example:
        >>> from litepyramid.types import ScoreTable
        >>> scores = np.arange(12.0).reshape(4, 3)
        >>> systems = ("a", "b", "c", "d")
        >>> judged = ScoreTable(("m", "human"), systems, ("1", "2", "3"),
        ...                     np.stack([scores, 2 * scores]))
        >>> full = ScoreTable(("m",), systems, ("1", "2", "3", "4"),
        ...                   np.arange(16.0).reshape(1, 4, 4))
        >>> full_test_set(judged, full, sampling="inputs", samples=40).intervals[0].full.value
        1.0
    """
    check_samples(samples, confidence=confidence)
    found, hashes = sides_of(scores, human, metrics=metrics, full=full)
    intervals = []
    for sides in found:
        for what in several(sampling):
            ends = []
            for X, paired in ((sides.X, True), (sides.scores_used, False)):
                drawn = bootstrap_samples(
                    X, sides.Z, "system", coefficient, what,
                    samples=samples, seed=seed, paired_inputs=paired,
                )  # fmt: skip
                value = level_correlation(X, sides.Z, "system", coefficient).value
                low, high = percentile_interval(drawn, confidence)
                ends.append(SideInterval(value, low, high, int(np.isnan(drawn).sum())))
            intervals.append(FullSetInterval(sides.metric, what, *ends))
    signature = Signature.of(
        human=found[0].human,
        coefficient=coefficient,
        confidence=f"{confidence:g}",
        samples=samples,
        seed=seed,
        **hashes,
    )
    variances = tuple(_variance(sides, confidence, samples, seed) for sides in found)
    return FullSetResult(
        tuple(intervals),
        variances,
        tuple(found),
        coefficient,
        confidence,
        samples,
        seed,
        signature,
    )


def _variance(sides: Sides, confidence: float, samples: int, seed: int) -> ScoreVariance:
    """Bootstrap over inputs of every system's average, on either set."""
    ends, variances = [], []
    for X in (sides.X, sides.scores_used):
        parts = [
            resampled_means(X, draws.counts(seed, draws.INPUTS, X.shape[1], start, stop))
            for start, stop in draws.chunks(samples, X.shape[1])
        ]
        means = np.concatenate(parts)
        variances.append(float(np.nanmean(np.nanvar(means, axis=0, ddof=1))))
        ends.append(percentile_intervals(means, confidence))
    rows = tuple(
        (system, *judged, *whole)
        for system, judged, whole in zip(sides.systems, *ends, strict=True)
    )
    return ScoreVariance(sides.metric, variances[0], variances[1], rows)
