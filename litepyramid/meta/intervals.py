"""Confidence intervals of how far metrics agree with people."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Unpack

import numpy as np

from litepyramid.data.score_tables import read_scores
from litepyramid.errors import InputError, choose, no_effect
from litepyramid.meta.alignment import (
    LeftOut,
    align_each,
    observations,
    pairs_of,
    signature_of,
)
from litepyramid.meta.core.bootstrap import bootstrap_samples
from litepyramid.meta.core.draws import SAMPLINGS, Sampling
from litepyramid.meta.core.levels import (
    SYMBOLS,
    Coefficient,
    Level,
    best_first,
    kinds,
    level_correlation,
)
from litepyramid.meta.correlations import counts_table, left_out_notes
from litepyramid.progress import track
from litepyramid.stats import check_samples, check_share, percentile_interval
from litepyramid.tables import Column, Result, Table, hidden, row
from litepyramid.types import (
    Ends,
    Fields,
    FloatArray,
    HumanLike,
    ScoresLike,
    ScoreSources,
    Signature,
    several,
)

METHOD_WORDS = {
    "boot-systems": "resampling systems",
    "boot-inputs": "resampling inputs",
    "boot-both": "resampling systems and inputs",
    "fisher": "Fisher's transformation",
}
"""The methods in the words of figures."""
IntervalMethod = Literal["boot-systems", "boot-inputs", "boot-both", "fisher"]
BOOT: dict[str, Sampling] = {f"boot-{sampling}": sampling for sampling in SAMPLINGS}


@dataclass(frozen=True)
class Interval:
    """A correlation between the ends of its confidence interval; NaN where they are not
    defined.

    `drawn` are the correlations on each sample, of which `failed` had none and were
    left out.
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


@dataclass(frozen=True)
class IntervalResult(Result):
    """Confidence intervals by metric, level and coefficient; Fisher's have 0 samples,
    no seed."""

    intervals: tuple[Interval, ...]
    method: IntervalMethod
    confidence: float
    samples: int
    seed: int | None
    signature: Signature

    def to_tables(self) -> Sequence[Table]:
        """One row per metric, level and coefficient."""
        columns = (
            "metric",
            "level",
            Column("coefficient", "coef"),
            Column("value", "corr"),
            "low",
            "high",
            "failed",
            Column("systems", "N"),
            Column("inputs", "M"),
        )
        notes = left_out_notes(self.intervals)
        failing = any(i.failed for i in self.intervals)
        if failing:
            notes.append(
                f"Failed: samples of {self.samples} without a correlation, left out."
            )

        method = "Fisher" if self.method == "fisher" else self.method.upper()
        percent = f"{100 * self.confidence:g} % interval by {method}"
        title = f"Correlation with {self.intervals[0].human}, {percent}"
        rows = [row(i, coefficient=SYMBOLS[i.coefficient]) for i in self.intervals]
        table = Table.of(title, columns, rows, (*notes, str(self.signature)))

        return [table if failing else table.without("failed")]

    def to_csv_table(self) -> Table:
        """One row per interval, with all counts."""
        return counts_table(
            self.intervals,
            method=self.method,
            confidence=self.confidence,
            samples=self.samples,
            seed=self.seed,
        )

    def to_figure(self) -> Any:
        """A line per metric, best first, before its samples; a colour per level, a
        panel per coefficient.
        """
        from litepyramid.figures.meta_plots import IntervalMark, interval_plot

        # The metrics stand in every panel as the first one orders them.
        kind = self.intervals[0].coefficient, self.intervals[0].level
        first = [i for i in self.intervals if (i.coefficient, i.level) == kind]
        order = best_first([i.value for i in first])
        metrics = [first[n].metric for n in order]

        panels: dict[str, list[IntervalMark]] = {}
        for i in self.intervals:
            mark = IntervalMark(
                i.metric,
                f"{i.level} level",
                i.value,
                i.low,
                i.high,
                i.drawn,
            )
            panels.setdefault(in_words("", i.coefficient), []).append(mark)

        levels = list(dict.fromkeys(f"{i.level} level" for i in self.intervals))
        heading = (
            f"Correlation with {self.intervals[0].human}: {100 * self.confidence:g} % "
            f"intervals, {METHOD_WORDS[self.method]}"
        )
        return interval_plot(panels, metrics, levels, heading)


def in_words(level: str, coefficient: str) -> str:
    """A coefficient as axes of figures name it.

    Example:
        >>> in_words("system", "kendall"), in_words("", "spa")
        ("system-level Kendall's τ", 'SPA')
    """
    symbol = SYMBOLS[coefficient]
    # SPA and acc_eq are names already; no other name ends in s.
    name = f"{coefficient.title()}'s {symbol}" if len(symbol) == 1 else symbol
    return f"{level}-level {name}" if level else name


def interval(
    scores: ScoresLike,
    human: HumanLike | None = None,
    *,
    level: Level | Sequence[Level] = ("system", "summary"),
    coefficient: Coefficient | Sequence[Coefficient] = "kendall",
    method: IntervalMethod = "boot-both",
    samples: int = 1000,
    seed: int = 12345,
    confidence: float = 0.95,
    **sources: Unpack[ScoreSources],
) -> IntervalResult:
    """Confidence intervals of metrics' correlations with human scores.

    The bootstrap methods take percentiles of the correlation on samples with
    replacement of the systems, the inputs, or both; boot-both generalises best to new
    systems and inputs (Deutsch, Dror & Roth 2021, sections 3 and 5). All metrics scored
    on the same cells share the samples. A sample in which a vector is constant has no
    correlation and is counted.

    Args:
        scores: Tables of scores; not changed.
        human: The human score; "human" if neither this nor the table says which.
        level: One or several levels.
        coefficient: One or several coefficients, as for correlate.
        method: What is resampled; or fisher, a formula for pearson, spearman and
            kendall.
        samples: Number of samples; at least 2 / (1 - confidence).
        seed: Seed of the draws.
        confidence: The share of the samples between the ends.
        **sources: What belongs to the scores, as of `read_scores`: metrics, columns.

    Raises:
        InputError: As for `correlate`; too few samples; no Fisher interval for a
            coefficient.

    Example:
        >>> rows = [{"system": s, "input": i, "rouge": s * 7 % 10,
        ...          "human": (s * 7 + i) % 10} for s in range(8) for i in range(9)]
        >>> (rouge,) = interval(rows, level="system", samples=100).intervals
        >>> rouge.low <= rouge.value <= rouge.high
        True

    Command line:
        $ litepyramid meta interval scores.json
        $ litepyramid meta interval table.csv --level system -o intervals.pdf
    """
    choose("method", method, IntervalMethod)
    draws: Fields = {"samples": samples, "seed": seed}
    why = "on the method fisher, a formula that draws nothing"
    no_effect(interval, method == "fisher", why, **draws)
    if method == "fisher":
        check_share("confidence", confidence)
        draws = {}
    else:
        check_samples(samples, seed=seed, confidence=confidence)

    table = read_scores(scores, human, **sources)
    pairs = pairs_of(table, kinds(level, coefficient))
    sides = align_each(table, several(level))

    intervals = []
    for side in track(sides, "resampling", "metrics"):
        # With one input every draw is the same, and the interval would be a point.
        if method == "boot-inputs" and len(side.inputs) < 2:
            raise InputError(
                f"only 1 input has scores of '{side.metrics[0]}' and '{side.human}'",
                expected="at least two to resample; or resample systems (boot-systems)",
            )

        X = side.values[0]
        Z = side.Z
        for at, by in pairs:
            point = level_correlation(X, Z, at, by)
            if method == "fisher":
                # At summary level that of one input: as if the mean of correlations
                # were one of them.
                n = observations(X, Z, at)
                low, high = fisher_interval(point.value, n, by, confidence)
                drawn = np.empty(0)
            else:
                drawn = bootstrap_samples(X, Z, at, by, BOOT[method], **draws)
                low, high = percentile_interval(drawn, confidence)

            intervals.append(
                Interval(
                    **side.entry(),
                    level=at,
                    coefficient=by,
                    value=point.value,
                    low=low,
                    high=high,
                    failed=int(np.isnan(drawn).sum()),
                    constant=point.constant,
                    drawn=drawn,
                )
            )

    signature = signature_of(
        table,
        sides,
        pairs,
        interval=method,
        confidence=confidence,
        **draws,
    )
    return IntervalResult(
        intervals=tuple(intervals),
        method=method,
        confidence=confidence,
        samples=draws.get("samples", 0),
        seed=draws.get("seed"),
        signature=signature,
    )


def fisher_interval(
    r: float, n: int, coefficient: Coefficient = "pearson", confidence: float = 0.95
) -> Ends:
    """tanh(arctanh r ± z_{α/2} · c / √(n - b)) (DDR21 §3.1; Bonett & Wright 2000).

    b = 3, 3, 4 and c = 1, √(1 + r²/2), √.437 for Pearson, Spearman and Kendall. It
    assumes normal scores, and at summary level that a mean of correlations is one.
    (NaN, NaN) when n ≤ b or r is NaN; (r, r) when r is 1 or -1.
    """
    from scipy.stats import norm

    if coefficient not in ("pearson", "spearman", "kendall"):
        raise InputError(
            f"no Fisher interval for '{coefficient}'",
            expected="pearson, spearman or kendall",
        )

    # Bonett & Wright's variances: Kendall's has one observation less to go by.
    b = 4 if coefficient == "kendall" else 3
    if n <= b or math.isnan(r):
        return math.nan, math.nan
    # arctanh of ±1 is infinite: the interval is that point.
    if abs(r) >= 1:
        return r, r

    factors = {
        "pearson": 1.0,
        "spearman": math.sqrt(1 + r * r / 2),
        "kendall": math.sqrt(0.437),
    }
    z = float(norm.ppf((1 + confidence) / 2))
    half = z * factors[coefficient] / math.sqrt(n - b)
    middle = math.atanh(r)
    return math.tanh(middle - half), math.tanh(middle + half)
