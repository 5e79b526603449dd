"""The uncertainty of a correlation: bootstrap percentile intervals and Fisher's transformation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from litepyramid.errors import InputError, choose
from litepyramid.io.scores import read_scores
from litepyramid.meta.alignment import (
    LeftOut,
    align,
    check_correlatable,
    metric_names,
    signature_of,
)
from litepyramid.meta.core.bootstrap import bootstrap_samples
from litepyramid.meta.core.coefficients import Coefficient
from litepyramid.meta.core.draws import SAMPLINGS, Sampling
from litepyramid.meta.core.levels import (
    ConstantPolicy,
    Level,
    kinds,
    level_correlation,
    several,
)
from litepyramid.meta.correlations import SYMBOLS, counts_table, left_out_notes
from litepyramid.progress import track
from litepyramid.stats import check_samples, check_share, percentile_interval
from litepyramid.tables import Column, Result, Table, hidden, row
from litepyramid.types import FloatArray, Signature

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
        policy: Policy for constant vectors.
        signature: Everything that another person needs to get the same numbers.
    """

    intervals: tuple[Interval, ...]
    method: IntervalMethod
    confidence: float
    samples: int
    seed: int | None
    policy: ConstantPolicy
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
        return counts_table(self.intervals, **same, policy=self.policy)


def interval(
    scores: Any,
    human: str | Sequence[str] = "human",
    *,
    metrics: str | Sequence[str] | None = None,
    level: Level | Sequence[Level] = ("system", "summary"),
    coefficient: Coefficient | Sequence[Coefficient] = "kendall",
    method: IntervalMethod = "boot-both",
    samples: int = 1000,
    seed: int = 12345,
    confidence: float = 0.95,
    constant: ConstantPolicy = "skip",
) -> IntervalResult:
    """A confidence interval for each metric's correlation with `human` (DDR21 §3).

    ``boot-systems``, ``boot-inputs`` and ``boot-both`` take percentiles, by linear interpolation,
    of the correlation on samples with replacement of the systems, the inputs, or both; the last
    generalises best to new data (DDR21 §5.1). All metrics scored on the same cells share the
    samples. ``fisher`` is `fisher_interval`.

    Args:
        scores: A `ScoreTable`, a path, several paths, or a long pandas frame; not changed.
        human: The human score; several names mean the mean of several raters.
        metrics: Names or patterns; None for all others.
        level: One or several of system, summary, global.
        coefficient: One or several of pearson, spearman, kendall (τ-b), kendall_c, pairwise;
            spa (system level), acc-eq (summary level).
        method: One of the four names.
        samples: Number of samples; at least 2 / (1 - confidence).
        seed: Seed of the draws.
        confidence: The share of the samples between the ends.
        constant: How constant vectors are treated: ``"skip"``, ``"zero"`` or ``"zb21"``.

    Raises:
        InputError: An unknown name, Fisher's interval for a coefficient that has none, too
            little for any correlation (`check_correlatable`), or too few samples.
    """
    choose("method", method, INTERVAL_METHODS)
    if method == "fisher":
        check_share("confidence", confidence)
    else:
        check_samples(samples, confidence=confidence)
    table = read_scores(scores)
    levels, coefficients = several(level), several(coefficient)
    sides = [align(table, name, human) for name in metric_names(table, metrics, human)]
    check_correlatable(sides, levels)
    found = []
    for aligned in track(sides, "resampling", "metrics"):
        X, Z = aligned.values[0], aligned.Z
        if method == "boot-inputs" and len(aligned.inputs) < 2:
            raise InputError(
                f"only 1 input has scores of '{aligned.metrics[0]}' and '{aligned.human}'",
                expected="at least two to resample; or resample systems (boot-systems)",
            )
        for at, by in kinds(levels, coefficients):
            value = level_correlation(X, Z, at, by, constant)
            low, high, drawn = interval_ends(
                X, Z, at, by, method, confidence, samples, seed, constant
            )
            found.append(
                Interval(
                    **aligned.entry(),
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
    draws = {} if method == "fisher" else {"samples": samples, "seed": seed}
    return IntervalResult(
        intervals=tuple(found),
        method=method,
        confidence=confidence,
        samples=draws.get("samples", 0),
        seed=draws.get("seed"),
        policy=constant,
        signature=signature_of(
            table,
            sides,
            levels,
            coefficients,
            interval=method,
            confidence=confidence,
            **draws,
            constant=constant,
        ),
    )


def interval_ends(
    X: FloatArray,
    Z: FloatArray,
    level: Level,
    coefficient: Coefficient,
    method: IntervalMethod,
    confidence: float,
    samples: int,
    seed: int,
    constant: ConstantPolicy = "skip",
) -> tuple[float, float, FloatArray]:
    """The ends of one interval, made as `interval` says, and the correlations drawn for it."""
    if method == "fisher":
        r = level_correlation(X, Z, level, coefficient, constant).value
        ends = fisher_interval(r, observations(X, Z, level), coefficient, confidence)
        return (*ends, np.empty(0))
    drawn = bootstrap_samples(
        X, Z, level, coefficient, BOOT[method], samples=samples, seed=seed, constant=constant
    )
    return (*percentile_interval(drawn, confidence), drawn)


def method_name(method: str) -> str:
    """A method as tables and figures write it.

    Example:
        >>> method_name("boot-both"), method_name("fisher")
        ('BOOT-BOTH', 'Fisher')
    """
    return method.capitalize() if method in ("fisher", "williams") else method.upper()


def observations(X: FloatArray, Z: FloatArray, level: Level) -> int:
    """n of Fisher's interval and of Williams' test.

    Systems at system level; the most systems that one input has at summary level; cells at global
    level (DDR21 §3.1; the same as the nlpstats package).
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

    Args:
        r: The correlation.
        n: Number of observations.
        coefficient: pearson, spearman or kendall.
        confidence: 1 - α.

    Returns:
        (low, high); (NaN, NaN) when n ≤ b or r is NaN; (r, r) when r is 1 or -1.

    Raises:
        InputError: Another coefficient.

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
