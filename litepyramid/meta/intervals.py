"""The uncertainty of a correlation: bootstrap percentile intervals and Fisher's transformation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from litepyramid.errors import InputError, choose
from litepyramid.meta.alignment import (
    LeftOut,
    align,
    check_correlatable,
    check_draws,
    metric_names,
    score_table,
    signature_of,
)
from litepyramid.meta.core.bootstrap import bootstrap_samples
from litepyramid.meta.core.coefficients import Coefficient, best_first
from litepyramid.meta.core.draws import SAMPLINGS, Sampling
from litepyramid.meta.core.levels import Level, kinds, level_correlation, several
from litepyramid.meta.correlations import SYMBOLS, counts_table, left_out_notes
from litepyramid.progress import track
from litepyramid.stats import check_samples, percentile_interval
from litepyramid.tables import Column, Result, Table, hidden, row
from litepyramid.types import FloatArray, ScoresLike, Signature

IntervalMethod = Literal["boot-systems", "boot-inputs", "boot-both", "fisher"]
INTERVAL_METHODS: tuple[IntervalMethod, ...] = get_args(IntervalMethod)
BOOT: dict[str, Sampling] = {f"boot-{sampling}": sampling for sampling in SAMPLINGS}


@dataclass(frozen=True, slots=True)
class Interval:
    """A correlation between the ends of its confidence interval.

    Attributes:
        metric: The metric.
        human: Name of the human score.
        level: ``"system"``, ``"summary"`` or ``"global"``.
        coefficient: The coefficient.
        value: The correlation on all the data; NaN where it is not defined.
        low: Lower end; NaN where there is none (no sample has a correlation, or n is too small).
        high: Upper end.
        failed: Samples that had no correlation and were left out.
        systems: Systems that both sides scored.
        inputs: Inputs that both sides scored.
        constant: Vectors constant on one side, in all the data.
        left_out: Systems, inputs and cells that one side lacks.
        drawn: (samples,) the correlation on each sample; empty for Fisher's interval.
    """

    metric: str
    human: str
    level: Level
    coefficient: Coefficient
    value: float
    low: float
    high: float
    failed: int
    systems: int
    inputs: int
    constant: int
    left_out: LeftOut
    drawn: FloatArray = hidden(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class IntervalResult(Result):
    """Confidence intervals, one for each metric, level and coefficient.

    Attributes:
        intervals: The intervals.
        method: How they were computed.
        confidence: The share of the samples that they contain, for example 0.95.
        samples: Number of samples; 0 for Fisher's.
        seed: Seed of the draws; None for Fisher's.
        signature: Everything that another person needs to get the same numbers.
    """

    intervals: tuple[Interval, ...]
    method: IntervalMethod
    confidence: float
    samples: int
    seed: int | None
    signature: Signature

    def to_tables(self) -> Sequence[Table]:
        """One row per metric, level and coefficient."""
        columns = (
            *("metric", "level", Column("coefficient", "coef"), Column("value", "corr")),
            *("low", "high", "failed", Column("systems", "N"), Column("inputs", "M")),
        )
        notes = left_out_notes({i.metric: i.left_out for i in self.intervals})
        failing = any(i.failed for i in self.intervals)
        if failing:
            notes.append(f"Failed: samples of {self.samples} without a correlation, left out.")
        percent = f"{100 * self.confidence:g} % interval by {method_name(self.method)}"
        title = f"Correlation with {self.intervals[0].human}, {percent}"
        rows = [row(i, coefficient=SYMBOLS[i.coefficient]) for i in self.intervals]
        table = Table.of(title, columns, rows, (*notes, str(self.signature)))
        return [table if failing else table.without("failed")]

    def to_csv_table(self) -> Table:
        """One row per interval, with all counts."""
        same = {name: getattr(self, name) for name in ("method", "confidence", "samples", "seed")}
        return counts_table(self.intervals, **same)

    def to_figure(self) -> Any:
        """One line per metric, best first; a colour per level, a panel per coefficient.

        Behind each line the samples that it was made from.
        """
        from litepyramid.figures.meta_plots import IntervalMark, interval_plot

        levels = list(dict.fromkeys(i.level for i in self.intervals))
        coefficients = list(dict.fromkeys(i.coefficient for i in self.intervals))
        first = [
            i
            for i in self.intervals
            if (i.coefficient, i.level) == (coefficients[0], self.intervals[0].level)
        ]
        metrics = [first[n].metric for n in best_first([i.value for i in first])]
        panels = {
            f"{coefficient} ({SYMBOLS[coefficient]})": [
                IntervalMark(i.metric, f"{i.level} level", i.value, i.low, i.high, i.drawn)
                for i in self.intervals
                if i.coefficient == coefficient
            ]
            for coefficient in coefficients
        }
        percent = f"{100 * self.confidence:g} % {self.method.upper()}"
        heading = f"Correlation with {self.intervals[0].human}, {percent}"
        return interval_plot(panels, metrics, [f"{level} level" for level in levels], heading)


def interval(
    scores: ScoresLike,
    human: str | Sequence[str] = "human",
    *,
    metrics: str | Sequence[str] | None = None,
    level: Level | Sequence[Level] = ("system", "summary"),
    coefficient: Coefficient | Sequence[Coefficient] = "kendall",
    method: IntervalMethod = "boot-both",
    samples: int = 1000,
    seed: int = 12345,
    confidence: float = 0.95,
    **sources: Any,
) -> IntervalResult:
    """Confidence intervals of metrics' correlations with human scores.

    The bootstrap methods take percentiles of the correlation on samples with replacement of the
    systems, the inputs, or both; boot-both generalises best to new systems and inputs (Deutsch,
    Dror & Roth 2021, sections 3 and 5). All metrics scored on the same cells share the samples. A
    sample in which a vector is constant has no correlation and is counted.

    Args:
        scores: Tables of scores; not changed.
        human: The human score; several names, or a pattern, mean the mean of several raters.
        metrics: Names or patterns; all others if none is named.
        level: One or several levels.
        coefficient: One or several coefficients, as for correlate.
        method: What is resampled; or fisher, a formula for pearson, spearman and kendall.
        samples: Number of samples; at least 2 / (1 - confidence).
        seed: Seed of the draws.
        confidence: The share of the samples between the ends.
        **sources: ``columns`` of `read_scores`.

    Returns:
        One `Interval` for each metric, level and coefficient.

    Raises:
        InputError: An unknown name, Fisher's interval for a coefficient that has none, too
            little data for any correlation, or too few samples.

    Example:
        >>> rows = [{"system": s, "input": i, "metric": m, "score": (s * 7 + i * n) % 10}
        ...         for s in range(8) for i in range(9) for n, m in enumerate(("rouge", "human"))]
        >>> result = interval(rows, level="system", samples=100)
        >>> result.intervals[0].low <= result.intervals[0].value <= result.intervals[0].high
        True

    Command line:
        $ litepyramid meta interval scores.json
        $ litepyramid meta interval table.csv --level system --samples 1000 -o intervals.pdf
    """
    choose("method", method, INTERVAL_METHODS)
    check_draws(samples if method != "fisher" else 1, seed, confidence)
    if method != "fisher":
        check_samples(samples, confidence=confidence)
    pairs = kinds(level, coefficient)
    table = score_table(scores, **sources)
    sides = [align(table, name, human) for name in metric_names(table, metrics, human)]
    check_correlatable(sides, several(level))
    intervals = []
    for side in track(sides, "resampling", "metrics"):
        X, Z = side.values[0], side.Z
        if method == "boot-inputs" and len(side.inputs) < 2:
            raise InputError(
                f"only 1 input has scores of '{side.metrics[0]}' and '{side.human}'",
                expected="at least two to resample; or resample systems (boot-systems)",
            )
        for at, by in pairs:
            value = level_correlation(X, Z, at, by)
            drawn = np.empty(0)
            if method == "fisher":
                low, high = fisher_interval(value.value, observations(X, Z, at), by, confidence)
            else:
                drawn = bootstrap_samples(X, Z, at, by, BOOT[method], samples=samples, seed=seed)
                low, high = percentile_interval(drawn, confidence)
            intervals.append(
                Interval(
                    **side.entry(),
                    level=at,
                    coefficient=by,
                    value=value.value,
                    low=low,
                    high=high,
                    failed=int(np.isnan(drawn).sum()),
                    constant=value.constant,
                    drawn=drawn,
                )
            )
    settings = {} if method == "fisher" else {"samples": samples, "seed": seed}
    return IntervalResult(
        intervals=tuple(intervals),
        method=method,
        confidence=confidence,
        samples=settings.get("samples", 0),
        seed=settings.get("seed"),
        signature=signature_of(
            table, sides, pairs, interval=method, confidence=confidence, **settings
        ),
    )


def method_name(method: str) -> str:
    """A method as tables and figures write it.

    Example:
        >>> method_name("boot-both"), method_name("fisher")
        ('BOOT-BOTH', 'Fisher')
    """
    return method.capitalize() if method in ("fisher", "williams") else method.upper()


def observations(X: FloatArray, Z: FloatArray, level: Level) -> int:
    """n of Fisher's interval and of Williams' test (DDR21 §3.1; the same as nlpstats).

    Systems at system level; the most systems that one input has at summary level; else cells.
    """
    scored = ~(np.isnan(X) | np.isnan(Z))
    by_level = {"system": scored.any(axis=1).sum(), "summary": scored.sum(axis=0).max(initial=0)}
    return int(by_level.get(level, scored.sum()))


def fisher_interval(
    r: float, n: int, coefficient: Coefficient = "pearson", confidence: float = 0.95
) -> tuple[float, float]:
    """tanh(arctanh r ± z_{α/2} · c / √(n - b)) (DDR21 §3.1; Bonett & Wright 2000).

    b = 3, 3, 4 and c = 1, √(1 + r²/2), √.437 for Pearson, Spearman and Kendall. It assumes normal
    scores, and at summary level that a mean of correlations is one.

    Returns:
        (low, high); (NaN, NaN) when n ≤ b or r is NaN; (r, r) when r is 1 or -1.

    Example:
        >>> low, high = fisher_interval(0.5, 28)
        >>> round(low, 3), round(high, 3)
        (0.156, 0.736)
    """
    from scipy.stats import norm

    if coefficient not in ("pearson", "spearman", "kendall"):
        raise InputError(
            f"no Fisher interval for '{coefficient}'", expected="pearson, spearman or kendall"
        )
    b = 4 if coefficient == "kendall" else 3
    if n <= b or math.isnan(r):
        return math.nan, math.nan
    if abs(r) >= 1:
        return r, r
    c = {"pearson": 1.0, "spearman": math.sqrt(1 + r * r / 2), "kendall": math.sqrt(0.437)}
    half = float(norm.ppf((1 + confidence) / 2)) * c[coefficient] / math.sqrt(n - b)
    middle = math.atanh(r)
    return math.tanh(middle - half), math.tanh(middle + half)
