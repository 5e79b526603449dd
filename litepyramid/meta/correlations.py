"""How far metrics agree with people, how certain that is, and whether scores are
normal."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal, Unpack, get_args

import numpy as np

from litepyramid.errors import InputError, choose
from litepyramid.meta.alignment import (
    LeftOut,
    align_each,
    observations,
    score_table,
    scores_sha,
    signature_of,
    span,
    unaligned,
)
from litepyramid.meta.core.bootstrap import bootstrap_samples
from litepyramid.meta.core.draws import SAMPLINGS, Sampling
from litepyramid.meta.core.levels import (
    Coefficient,
    ConstantPolicy,
    Level,
    best_first,
    kinds,
    level_correlation,
    mean_tolerance,
)
from litepyramid.progress import track
from litepyramid.stats import (
    check_samples,
    check_seed,
    check_share,
    percentile_interval,
    system_means,
)
from litepyramid.tables import Column, Result, Table, hidden, row
from litepyramid.text import counted, cut
from litepyramid.types import (
    FloatArray,
    HumanLike,
    ScoresLike,
    ScoreSources,
    Signature,
    fingerprint,
    several,
)

SHORT = {"system": "sys", "summary": "sum", "global": "glob"}
SYMBOLS = {
    "pearson": "r", "spearman": "ρ", "kendall": "τ", "spa": "SPA",
    "acc-eq": "acc_eq",
}  # fmt: skip
_FATE = {"skip": "were left out", "zb21": "had their first value raised slightly"}
_METHODS = {
    "boot-systems": "resampling systems",
    "boot-inputs": "resampling inputs",
    "boot-both": "resampling systems and inputs",
    "fisher": "Fisher's transformation",
}
"""The methods in the words of figures."""
IntervalMethod = Literal["boot-systems", "boot-inputs", "boot-both", "fisher"]
BOOT: dict[str, Sampling] = {f"boot-{sampling}": sampling for sampling in SAMPLINGS}


@dataclass(frozen=True, slots=True)
class Correlation:
    """One metric's correlation with the human score, and what it was computed from.

    The human score is the mean of `raters`; `value` (or NaN) the mean of `used`
    coefficients, of
    `systems` and `inputs` that both sides scored. `constant` vectors had no difference on one
    side; `too_few` inputs have fewer than two systems; ``acc-eq`` ties scores up to
    `epsilon`.
    """

    metric: str
    human: str
    raters: tuple[str, ...]
    level: Level
    coefficient: Coefficient
    value: float
    systems: int
    inputs: int
    used: int
    constant: int
    too_few: int
    left_out: LeftOut
    epsilon: float = math.nan


@dataclass(frozen=True, slots=True)
class Interval:
    """A correlation between the ends of its confidence interval; NaN where they are not
    defined.

    `drawn` are the correlations on each sample, of which `failed` had none and were left out.
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
class CorrelationResult(Result):
    """Correlations of several metrics; one row per metric (in a frame, per
    correlation)."""

    correlations: tuple[Correlation, ...]
    policy: ConstantPolicy
    signature: Signature

    def to_tables(self) -> Sequence[Table]:
        """One row per metric, a column for each level and coefficient."""
        rows: dict[str, dict[str, Any]] = {}
        columns = {"metric": Column("metric")}
        for c in self.correlations:
            name = f"{c.level}_{c.coefficient}"
            columns[name] = Column(name, f"{SHORT[c.level]} {SYMBOLS[c.coefficient]}")
            rows.setdefault(c.metric, row(c))[name] = c.value
        shown = (*columns.values(), Column("systems", "N"), Column("inputs", "M"))
        title = f"Correlation with {self.correlations[0].human}"
        return [
            Table.of(title, shown, rows.values(), (*self._notes(), str(self.signature)))
        ]

    def to_csv_table(self) -> Table:
        """One row for each metric, level and coefficient, with all counts."""
        return counts_table(self.correlations, policy=self.policy)

    def _notes(self) -> list[str]:
        every, notes = self.correlations, left_out_notes(self.correlations)
        constant = {e.metric: e.constant for e in every if e.constant}
        few = {e.metric: e.too_few for e in every if e.too_few}
        epsilon = {e.metric: f"{e.epsilon:.3g}" for e in every if e.epsilon >= 0}
        for text, numbers in (
            (f"Constant vectors {_FATE[self.policy]}:", constant),
            ("acc_eq ties scores that differ by at most", epsilon),
            ("Inputs with fewer than two systems:", few),
        ):
            if numbers:
                some = ", ".join(
                    f"{metric} {number}" for metric, number in numbers.items()
                )
                notes.append(f"{text} {cut(some, 600)}.")
        return notes


@dataclass(frozen=True, slots=True)
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
            *(
                "metric",
                "level",
                Column("coefficient", "coef"),
                Column("value", "corr"),
            ),
            *("low", "high", "failed", Column("systems", "N"), Column("inputs", "M")),
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
        same = {
            name: getattr(self, name)
            for name in ("method", "confidence", "samples", "seed")
        }
        return counts_table(self.intervals, **same)

    def to_figure(self) -> Any:
        """A line per metric, best first, before its samples; a colour per level, a
        panel per coefficient.
        """
        from litepyramid.figures.meta_plots import IntervalMark, interval_plot

        kind = self.intervals[0].coefficient, self.intervals[0].level
        first = [i for i in self.intervals if (i.coefficient, i.level) == kind]
        metrics = [first[n].metric for n in best_first([i.value for i in first])]
        panels: dict[str, list[IntervalMark]] = {}
        for i in self.intervals:
            level = f"{i.level} level"
            mark = IntervalMark(i.metric, level, i.value, i.low, i.high, i.drawn)
            panels.setdefault(in_words("", i.coefficient), []).append(mark)

        levels = list(dict.fromkeys(f"{i.level} level" for i in self.intervals))
        heading = (
            f"Correlation with {self.intervals[0].human}: {100 * self.confidence:g} % "
            f"intervals, {_METHODS[self.method]}"
        )
        return interval_plot(panels, metrics, levels, heading)


def in_words(level: str, coefficient: str) -> str:
    """A coefficient as axes of figures name it.

    Example:
        >>> in_words("system", "kendall"), in_words("", "spa")
        ("system-level Kendall's τ", 'SPA')
    """
    symbol = SYMBOLS[coefficient]
    possessive = "'" if coefficient.endswith("s") else "'s"
    named = len(symbol) == 1  # SPA and acc_eq are names already
    name = f"{coefficient.title()}{possessive} {symbol}" if named else symbol
    return f"{level}-level {name}" if level else name


def left_out_notes(entries: Sequence[Any]) -> list[str]:
    """One sentence on what was left out, by metric, or nothing where nothing was."""
    left_out = {e.metric: e.left_out for e in entries}
    some = [f"{metric} {left}" for metric, left in left_out.items() if left]
    alike = len({*left_out.values()}) == 1
    text = str(entries[0].left_out) if alike else cut("; ".join(some), 600)
    return [f"Left out, not scored by both sides: {text}."] if some else []


def counts_table(entries: Sequence[Any], **same: Any) -> Table:
    """A row an entry: its fields, numbers of what was left out, what is the `same` in
    all."""
    rows = []
    for e in entries:
        left = len(e.left_out.systems), len(e.left_out.inputs), e.left_out.cells
        names = (f"left_out_{what}" for what in ("systems", "inputs", "cells"))
        rows.append(row(e, **dict(zip(names, left, strict=True)), **same))
    return Table.of(
        "", [c for c in rows[0] if c not in ("left_out", "raters", "drawn")], rows
    )


def correlate(
    scores: ScoresLike,
    human: HumanLike | None = None,
    *,
    level: Level | Sequence[Level] = ("system", "summary"),
    coefficient: Coefficient | Sequence[Coefficient] = (
        "pearson",
        "spearman",
        "kendall",
    ),
    constant: ConstantPolicy = "skip",
    **sources: Unpack[ScoreSources],
) -> CorrelationResult:
    """Correlate metrics with human scores, at system, summary and global level.

    System level correlates the systems' averages, summary level averages the
    correlations of all inputs, global level takes all scores together (Deutsch, Dror &
    Roth 2021, section 2). Each metric uses the systems and inputs scored by both it and
    people; the rest is counted. NaN where no correlation is defined.

    Args:
        scores: Tables of scores; not changed.
        human: The human score; "human" if neither this nor the table says which.
        level: One or several levels.
        coefficient: One or several coefficients: kendall is τ-b; spa (system level) and
            acc-eq (summary level) are those of WMT.
        constant: What becomes of a vector without any difference: skip (left out), or
            zb21 (the value of the first system of the file raised slightly, as Zhang
            and Bansal's code does: here the order of systems changes the number).
        **sources: What belongs to the scores, as of `read_scores`: metrics, columns.

    Raises:
        InputError: An unknown name, or too little scored by both sides for any
            correlation.

    Example:
        >>> correlate([0.2, 0.4, 0.9], [1, 3, 5], level="system").correlations[0].value
        0.9707...
        >>> rows = [{"system": s, "input": i, "metric": m, "score": v}
        ...         for m, values in {"rouge": [1, 2, 4, 3], "human": [1, 3, 4, 4]}.items()
        ...         for (s, i), v in zip([("a", 1), ("a", 2), ("b", 1), ("b", 2)], values)]
        >>> result = correlate(rows, level="global", coefficient="kendall")
        >>> round(result.correlations[0].value, 3)
        0.913

    Command line:
        $ litepyramid meta correlate scores.json
        $ litepyramid meta correlate table.csv --level summary --coefficient kendall
    """
    pairs = kinds(level, coefficient)

    # Which value is the first, and raised, is part of the authors' definition.
    as_listed = constant == "zb21"
    table = score_table(scores, human, as_listed=as_listed, **sources)
    sides = align_each(table, several(level))
    correlations = []
    for side, (at, by) in product(sides, pairs):
        value = level_correlation(side.values[0], side.Z, at, by, constant)
        more = side.entry() | {"level": at, "coefficient": by, "raters": side.raters}
        correlations.append(Correlation(**row(value), **more))
    order_sha = fingerprint(table.systems) if as_listed else None
    signature = signature_of(sides, pairs, constant=constant, order_sha=order_sha)
    return CorrelationResult(tuple(correlations), constant, signature)


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
        >>> rows = [{"system": s, "input": i, "metric": m, "score": (s * 7 + i * n) % 10}
        ...         for s in range(8) for i in range(9) for n, m in enumerate(("rouge", "human"))]
        >>> result = interval(rows, level="system", samples=100)
        >>> result.intervals[0].low <= result.intervals[0].value <= result.intervals[0].high
        True

    Command line:
        $ litepyramid meta interval scores.json
        $ litepyramid meta interval table.csv --level system --samples 1000 -o intervals.pdf
    """
    choose("method", method, get_args(IntervalMethod))
    check_seed(seed)
    check_share("confidence", confidence)
    if method != "fisher":
        check_samples(samples, confidence=confidence)
    pairs = kinds(level, coefficient)
    table = score_table(scores, human, **sources)
    sides = align_each(table, several(level))
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
                low, high = fisher_interval(
                    value.value, observations(X, Z, at), by, confidence
                )
            else:
                drawn = bootstrap_samples(
                    X, Z, at, by, BOOT[method], samples=samples, seed=seed
                )
                low, high = percentile_interval(drawn, confidence)
            intervals.append(
                Interval(
                    **side.entry(), level=at, coefficient=by, value=value.value, low=low, high=high,
                    failed=int(np.isnan(drawn).sum()), constant=value.constant, drawn=drawn,
                )
            )  # fmt: skip
    draws = {} if method == "fisher" else {"samples": samples, "seed": seed}
    signature = signature_of(
        sides, pairs, interval=method, confidence=confidence, **draws
    )
    return IntervalResult(
        tuple(intervals),
        method,
        confidence,
        draws.get("samples", 0),
        draws.get("seed"),
        signature,
    )


def fisher_interval(
    r: float, n: int, coefficient: Coefficient = "pearson", confidence: float = 0.95
) -> tuple[float, float]:
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
    b = 4 if coefficient == "kendall" else 3
    if n <= b or math.isnan(r):
        return math.nan, math.nan
    if abs(r) >= 1:
        return r, r
    c = {
        "pearson": 1.0,
        "spearman": math.sqrt(1 + r * r / 2),
        "kendall": math.sqrt(0.437),
    }
    half = float(norm.ppf((1 + confidence) / 2)) * c[coefficient] / math.sqrt(n - b)
    middle = math.atanh(r)
    return math.tanh(middle - half), math.tanh(middle + half)


# Normality, the assumption of Fisher's interval and of Williams' test (DDR21 App. A)
# ----------


@dataclass(frozen=True, slots=True)
class MetricNormality:
    """Shapiro-Wilk tests of one metric's scores: over the systems' means, and input by
    input.

    `share` is that of inputs `rejected` among those `tested`; the others have `constant` scores, or
    `too_few` (fewer than three).
    """

    metric: str
    system_p: float
    rejected: int
    tested: int
    constant: int
    too_few: int
    systems: int
    inputs: int
    share: float


@dataclass(frozen=True, slots=True)
class NormalityResult(Result):
    """Shapiro-Wilk tests, one row per metric."""

    metrics: tuple[MetricNormality, ...]
    alpha: float
    signature: Signature

    def to_tables(self) -> Sequence[Table]:
        """One row per metric: the share of inputs at summary level, the p-value at
        system level."""
        notes = [
            f"Summary: inputs whose scores are not normal (p ≤ {self.alpha:g}), in % of those "
            "tested. System: the test over the systems' means."
        ]
        if few := sum(m.too_few for m in self.metrics):
            inputs = f"{counted(few, 'input')} of all metrics together"
            notes.append(f"Not tested, fewer than three scores: {inputs}.")
        columns = (
            *("metric", Column("share", "summary %", digits=1), "tested", "constant"),
            *(
                Column("system_p", "system p"),
                Column("systems", "N"),
                Column("inputs", "M"),
            ),
        )
        rows = [row(m, share=100 * m.share) for m in self.metrics]
        notes.append(str(self.signature))
        return [Table.of("Shapiro-Wilk test of normality", columns, rows, notes)]

    def to_csv_table(self) -> Table:
        """One row per metric, with all counts."""
        rows = [row(m, alpha=self.alpha) for m in self.metrics]
        return Table.of("", rows[0], rows)


def normality(
    scores: ScoresLike,
    human: HumanLike | None = None,
    *,
    confidence: float = 0.95,
    **sources: Unpack[ScoreSources],
) -> NormalityResult:
    """Test whether scores are normal, which Fisher's interval and Williams' test
    assume.

    Shapiro and Wilk's test of each metric's scores: at system level one test over the
    systems' means; at summary level one for each input, over the systems' scores on it.
    A small p-value is evidence against a normal distribution (Deutsch, Dror & Roth
    2021, appendix A).

    Args:
        scores: Tables of scores; not changed.
        human: The human score, tested first. Where neither this nor the table says
            which, human scores are treated like other metrics.
        confidence: An input counts as not normal if p ≤ 1 - confidence.
        **sources: What belongs to the scores, as of `read_scores`: metrics, columns.

    Raises:
        InputError: An unknown name, or a confidence outside (0, 1).

    Example:
        >>> rows = [{"system": s, "input": 1, "metric": "m", "score": s ** 4} for s in range(9)]
        >>> normality(rows).metrics[0].rejected
        1

    Command line:
        $ litepyramid meta normality table.csv
        $ litepyramid meta normality table.csv --human human --metric rouge
    """
    check_share("confidence", confidence)
    alpha = round(1 - confidence, 12)
    table = score_table(scores, human, **sources)
    people, machines, raters = unaligned(table)
    if not people and not machines:
        raise InputError("no metric to test", expected="at least one in the scores")
    every = [*people.items(), *machines.items()]
    tests = tuple(_shapiro(name, values, alpha) for name, values in every)
    signature = Signature.of(
        test="shapiro-wilk", human="+".join(raters) if people else None, alpha=alpha,
        scores_sha=scores_sha(table, [*machines], raters),
        N=span([m.systems for m in tests]), M=span([m.inputs for m in tests]),
    )  # fmt: skip
    return NormalityResult(tests, alpha, signature)


def _shapiro(name: str, X: FloatArray, alpha: float) -> MetricNormality:
    from scipy.stats import shapiro

    scored = ~np.isnan(X)
    columns = [column[~np.isnan(column)] for column in X.T]
    usable = [c for c in columns if len(c) >= 3 and np.ptp(c) > 0]
    averages = system_means(X)[scored.any(axis=1)]
    flat = len(averages) < 3 or np.ptp(averages) <= mean_tolerance(X)
    rejected = int(sum(shapiro(c).pvalue <= alpha for c in usable))
    constant = sum(len(c) >= 3 for c in columns) - len(usable)
    return MetricNormality(
        name, math.nan if flat else float(shapiro(averages).pvalue), rejected, len(usable),
        constant, sum(0 < len(c) < 3 for c in columns), int(scored.any(axis=1).sum()),
        int(scored.any(axis=0).sum()), rejected / len(usable) if usable else math.nan,
    )  # fmt: skip
