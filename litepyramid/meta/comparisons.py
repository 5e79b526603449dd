"""Which metrics are better than which: all pairs tested, corrected for many tests, and
ranked."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, permutations
from typing import Any, Literal, Unpack, cast, get_args

import numpy as np

from litepyramid.blas import single_threaded
from litepyramid.errors import InputError, choose
from litepyramid.meta.alignment import (
    LeftOut,
    align,
    check_correlatable,
    observations,
    score_table,
    signature_of,
)
from litepyramid.meta.core.bootstrap import bootstrap_samples
from litepyramid.meta.core.draws import SAMPLINGS, Sampling
from litepyramid.meta.core.levels import (
    Coefficient,
    Level,
    best_first,
    kinds,
    level_correlation,
)
from litepyramid.meta.core.permutation import MARGIN, permuted_p_values
from litepyramid.meta.correlations import (
    BOOT,
    METHOD_WORDS,
    SYMBOLS,
    in_words,
    interval,
)
from litepyramid.stats import (
    Correction,
    PValueRule,
    adjust_p_values,
    check_samples,
    check_share,
    check_whole,
    resampled_p_value,
)
from litepyramid.tables import HIDDEN, Cell, Column, Result, Table, record
from litepyramid.text import counted
from litepyramid.types import (
    FloatArray,
    HumanLike,
    IntArray,
    ScoresLike,
    ScoreSources,
    Signature,
    several,
)

ComparisonMethod = Literal[
    "perm-systems", "perm-inputs", "perm-both", "boot-systems", "boot-inputs", "boot-both",
    "williams",
]  # fmt: skip
ComparisonTest = Literal[
    ComparisonMethod, "paper-systems", "paper-inputs", "paper-both"
]
PERM: dict[str, Sampling] = {f"perm-{swaps}": swaps for swaps in SAMPLINGS}
Grouping = Literal["metric", "level"]
Corrections = Literal[
    Correction, "bonferroni-level", "holm-level", "benjamini-hochberg-level"
]
CORRECTIONS: dict[Corrections, tuple[Correction, Grouping]] = {
    "none": ("none", "metric"),
    "bonferroni": ("bonferroni", "metric"),
    "holm": ("holm", "metric"),
    "benjamini-hochberg": ("benjamini-hochberg", "metric"),
    "bonferroni-level": ("bonferroni", "level"),
    "holm-level": ("holm", "level"),
    "benjamini-hochberg-level": ("benjamini-hochberg", "level"),
}
"""By name the correction, and what is corrected together."""
PAPER: dict[ComparisonTest, ComparisonMethod] = {
    "paper-systems": "perm-systems",
    "paper-inputs": "perm-inputs",
    "paper-both": "perm-both",
}
"""The permutation tests whose p-values are counted as in the paper."""


_METHODS = METHOD_WORDS | {
    "perm-systems": "permuting systems",
    "perm-inputs": "permuting inputs",
    "perm-both": "permuting scores of systems and inputs",
    "williams": "Williams' test",
}
"""The methods in the words of figures."""


@dataclass(frozen=True, slots=True)
class PairTests:
    """All pairs of K metrics, tested at one level with one coefficient.

    `correlations` are (K,), with `constant` vectors each; the rest (K, K): `p_values`
    of H0: the row metric's correlation is not larger than the column's, NaN on the
    diagonal and where there is no test; `failed` samples, that had no value and were
    left out; `corrected` p-values. A test has at most `samples` (0 for a formula), and p `smallest_p`.
    """

    level: Level
    coefficient: Coefficient
    correlations: FloatArray
    constant: tuple[int, ...]
    p_values: FloatArray
    failed: IntArray
    samples: int
    smallest_p: float
    corrected: FloatArray = field(default_factory=lambda: np.empty(0))


@dataclass(frozen=True, slots=True)
class ComparisonResult(Result):
    """Which metrics correlate better with the human score than which others.

    `grouping` says what is corrected together: ``"metric"``, the tests of one row metric (DDR21
    Fig. 5), or ``"level"``, all tests of one level and coefficient (DDR21 Fig. 6).
    """

    metrics: tuple[str, ...]
    human: str
    comparisons: tuple[PairTests, ...] = field(metadata=HIDDEN)
    method: ComparisonMethod
    alpha: float
    correction: Correction
    grouping: Grouping
    systems: int
    inputs: int
    left_out: LeftOut
    signature: Signature

    def to_tables(self) -> Sequence[Table]:
        """One row per test; more than four metrics: one row per metric."""
        if len(self.metrics) <= 4:
            tables = [self._tests(tested) for tested in self.comparisons]
            notes = self.remarks()
        else:
            tables = [self._summary(tested) for tested in self.comparisons]
            notes = [self._legend(), *self.remarks()]

        if self.left_out:
            notes.append(f"Left out, not scored by all: {self.left_out}.")
        # A sample without a value is missing in both directions of a pair.
        failed = sum(int(np.triu(tested.failed).sum()) for tested in self.comparisons)
        if failed:
            notes.append(
                f"Left out, no value: {counted(failed, 'sample')} of all tests together."
            )

        constants: dict[str, int] = {}
        for tested in self.comparisons:
            if any(tested.constant):
                constants[tested.level] = max(tested.constant)

        if constants:
            many = ", ".join(f"{level} up to {n}" for level, n in constants.items())
            notes.append(f"Constant vectors of one metric: {many}.")

        tables[-1] = replace(tables[-1], notes=(*notes, str(self.signature)))
        return tables

    def _legend(self) -> str:
        """What a mark of a summary means."""
        text = f"Marks, in the order of the rows: ● p ≤ {self.alpha:g}"
        if self.correction != "none":
            within = "of its row" if self.grouping == "metric" else "of the table"
            text += f" ({self.correction} over the tests {within})"
        return text + "."

    def remarks(self) -> list[str]:
        """How small p could become, or what is wrong with the rule ``"paper"``."""
        if self.method == "williams":
            return []
        if self.signature.to_json()["p_value"] == "paper":
            return [
                "p = c/k counts only samples larger than the observed difference: two equal "
                "metrics get p = 0, and the test does not keep its level. plus_one does."
            ]

        tests = family_size(len(self.metrics), self.grouping, self.correction)
        levels: dict[str, str] = {}
        for tested in self.comparisons:
            smallest = f"{tested.smallest_p:.2g} at {tested.level} level"
            levels[tested.level] = smallest

        return [
            f"p can be as small as {', '.join(levels.values())}; the strictest of "
            f"{counted(tests, 'test')} requires {self.alpha / tests:.2g}."
        ]

    def to_csv_table(self) -> Table:
        """One row per test."""
        rows = self._rows()
        return Table.of("", rows[0], rows)

    def to_json(self) -> dict[str, Any]:
        """The tests row by row, and what they have in common."""
        return record(self) | {"remarks": self.remarks(), "tests": self._rows()}

    def _rows(self) -> list[dict[str, Any]]:
        """All tests of all levels and coefficients."""
        rows = []
        for tested in self.comparisons:
            rows += self._of(tested)
        return rows

    def _of(self, tested: PairTests) -> list[dict[str, Any]]:
        """The tests of one level and coefficient."""
        rows = []
        for i, j in self.pairs():
            correlation = float(tested.correlations[i])
            other = float(tested.correlations[j])
            corrected = float(tested.corrected[i, j])
            rows.append(
                {
                    "level": tested.level,
                    "coefficient": tested.coefficient,
                    "metric": self.metrics[i],
                    "other": self.metrics[j],
                    "correlation": correlation,
                    "other_correlation": other,
                    "difference": correlation - other,
                    "p_value": float(tested.p_values[i, j]),
                    "corrected": corrected,
                    "significant": int(corrected <= self.alpha),
                    "failed": int(tested.failed[i, j]),
                }
            )

        return rows

    def pairs(self) -> list[tuple[int, int]]:
        """The pairs (row, column) that were tested."""
        return list(permutations(range(len(self.metrics)), 2))

    def _title(self, c: PairTests) -> str:
        return (
            f"{c.level} level {SYMBOLS[c.coefficient]} with {self.human}: is a > b? "
            f"{self.method.upper()}, N={self.systems}, M={self.inputs}"
        )

    def _tests(self, c: PairTests) -> Table:
        columns = (
            Column("metric", "a"),
            Column("other", "b"),
            Column("correlation", "corr a"),
            Column("other_correlation", "corr b"),
            Column("difference", "a - b", signed=True),
            Column("p_value", "p", digits=4, above_zero=True),
            Column("corrected", "corrected p", digits=4, above_zero=True),
        )
        # The best metric's tests first, and among them those against the best others.
        worst_last = -np.nan_to_num(c.correlations, nan=-2.0)
        first, second = np.transpose(self.pairs())
        order = np.lexsort((worst_last[second], worst_last[first]))

        tests = self._of(c)
        table = Table.of(self._title(c), columns, [tests[n] for n in order])
        return table if self.correction != "none" else table.without("corrected")

    def _summary(self, c: PairTests) -> Table:
        """DDR21's Figure 5 in characters: a mark for every other metric, in the rows'
        order."""
        order = best_first(c.correlations)
        heads = (
            Column("number", "#"),
            Column("metric"),
            Column("r", SYMBOLS[c.coefficient]),
            Column("better", "better than"),
            Column("marks", "which"),
        )
        marks = np.where(c.corrected <= self.alpha, "●", "·")
        np.fill_diagonal(marks, "\\")

        rows: list[tuple[Cell, ...]] = []
        for number, i in enumerate(order.tolist(), start=1):
            which = "".join(marks[i, order])
            r = float(c.correlations[i])
            rows.append((number, self.metrics[i], r, which.count("●"), which))

        return Table(self._title(c), heads, tuple(rows))

    def to_figure(self) -> Any:
        """A square is blue where the row's metric is better than the column's; a panel
        per level and coefficient, the metrics ordered by their correlation in the
        first.
        """
        from litepyramid.figures.meta_plots import significance_plot

        order = best_first(self.comparisons[0].correlations)
        at = np.ix_(order, order)
        corrected = self.correction != "none"
        panels = {}

        for tested in self.comparisons:
            blue = (tested.p_values <= self.alpha)[at]
            framed = (tested.corrected <= self.alpha)[at] if corrected else None
            panels[f"{tested.level} level, {tested.coefficient}"] = (blue, framed)

        legend = ""
        if corrected:
            within = "row" if self.grouping == "metric" else "panel"
            legend = f"also with {self.correction.title()}'s correction over a {within}"

        levels = dict.fromkeys(c.level for c in self.comparisons)
        return significance_plot(
            panels,
            [self.metrics[i] for i in order],
            len(levels),
            f"Correlation with {self.human}, {_METHODS[self.method]}",
            f"row better than column, p ≤ {self.alpha:g}",
            legend,
        )


def compare(
    scores: ScoresLike,
    human: HumanLike | None = None,
    *,
    level: Level | Sequence[Level] = ("system", "summary"),
    coefficient: Coefficient | Sequence[Coefficient] = "kendall",
    method: ComparisonTest = "perm-both",
    samples: int | None = None,
    seed: int = 12345,
    confidence: float = 0.95,
    correction: Corrections = "bonferroni",
    **sources: Unpack[ScoreSources],
) -> ComparisonResult:
    """Test every pair of metrics: does one correlate better with human scores than the
    other?

    All metrics use the same cells: those scored by every one of them and by people. All
    tests of a level share their samples. perm-both swaps the two metrics' standardised
    scores, each cell by its own coin, and is recommended; perm-systems and perm-inputs
    swap whole rows or columns; boot-… is a paired bootstrap; williams a formula
    (Deutsch, Dror & Roth 2021, section 4).

    Args:
        scores: Tables of scores; not changed.
        human: The human score; "human" if neither this nor the table says which.
        level: One or several levels.
        coefficient: One or several coefficients, as for correlate.
        method: The test; all are one-sided (is a better than b?) and count p as
            (c + 1) / (k + 1) with ties. paper-… are perm-… with c / k without ties
            (Algorithm 2), by which equal metrics beat each other.
        samples: Number of samples. By default as many as the strictest test needs; a
            number with which no test could pass is an error.
        seed: Seed of the draws.
        confidence: Tests are at the level 1 - confidence.
        correction: Correction for many tests, over those of one metric; …-level over
            all of one level and coefficient.
        **sources: What belongs to the scores, as of `read_scores`: metrics, columns.

    Raises:
        InputError: As for `correlate`; fewer than two metrics, or too few samples.

    Example:
        >>> rows = [{"system": s, "input": i, "rouge": s * 7 % 10, "bleu": (s * 7 + i) % 10,
        ...          "human": (s * 7 + 2 * i) % 10} for s in range(8) for i in range(9)]
        >>> result = compare(rows, level="system")
        >>> result.metrics, bool((result.comparisons[0].p_values > 0.05).any())
        (('bleu', 'rouge'), True)

    Command line:
        $ litepyramid meta compare table.csv --level system
        $ litepyramid meta compare table.csv --method williams -o better.pdf
    """
    choose("method", method, (*get_args(ComparisonMethod), *PAPER))
    choose("correction", correction, tuple(CORRECTIONS))
    check_whole("seed", seed, 0)
    check_share("confidence", confidence)

    rule: PValueRule = "paper" if method in PAPER else "plus_one"
    test = PAPER[method] if method in PAPER else cast(ComparisonMethod, method)
    corrected_by, grouping = CORRECTIONS[correction]
    alpha = round(1 - confidence, 12)

    pairs = kinds(level, coefficient)
    aligned = align(score_table(scores, human, **sources))
    if len(aligned.metrics) < 2:
        raise InputError(
            f"only the metric {aligned.metrics[0]} to compare",
            expected="two metrics or more",
        )

    tests = family_size(len(aligned.metrics), grouping, corrected_by)
    if samples is not None and test != "williams":
        # Under Benjamini-Hochberg many can pass together; by c/k, p may be 0.
        strict = corrected_by in ("bonferroni", "holm") and rule == "plus_one"
        check_samples(samples, alpha=alpha, tests=tests if strict else 1)

    check_correlatable([aligned], several(level))

    comparisons = []
    for at, by in pairs:
        tested = compare_pairs(
            aligned.values,
            aligned.Z,
            at,
            by,
            test,
            p_value=rule,
            samples=samples,
            target=alpha / tests,
            seed=seed,
        )
        corrected = corrected_p_values(tested.p_values, corrected_by, grouping)
        comparisons.append(replace(tested, corrected=corrected))

    draws: dict[str, Any] = {}
    if test != "williams":
        draws = {
            "p_value": rule,
            "samples": samples or "auto",
            "seed": seed,
        }

    signature = signature_of(
        [aligned],
        pairs,
        test=test,
        alternative="greater",
        **draws,
        alpha=alpha,
        correction=corrected_by,
        grouping=None if corrected_by == "none" else grouping,
    )
    return ComparisonResult(
        metrics=aligned.metrics,
        human=aligned.human,
        comparisons=tuple(comparisons),
        method=test,
        alpha=alpha,
        correction=corrected_by,
        grouping=grouping,
        systems=len(aligned.systems),
        inputs=len(aligned.inputs),
        left_out=aligned.left_out,
        signature=signature,
    )


@single_threaded
def compare_pairs(
    values: FloatArray,
    Z: FloatArray,
    level: Level,
    coefficient: Coefficient,
    method: ComparisonMethod = "perm-both",
    *,
    p_value: PValueRule = "plus_one",
    samples: int | None = 1000,
    target: float = 0.05,
    seed: int = 12345,
) -> PairTests:
    """Tests every pair of metrics for a difference of their correlations with the human
    score.

    `values` are (K, N, M), Z is (N, M); NaN in one metric must be NaN in all and in Z. Under
    ``perm-…`` X and Y are standardised and swapped at random; all pairs share the coins. ``boot-…``
    is a paired bootstrap: the differences on samples with replacement, less the
    observed one, stand for the null hypothesis (Efron & Tibshirani 1993, section 16.4).
    With `samples` None there are enough for p to fall to a quarter of `target`, the p
    at which the strictest test passes; permutations are then drawn as
    `permuted_p_values` says.
    """
    points = [level_correlation(X, Z, level, coefficient) for X in values]
    r = np.array([point.value for point in points])
    constant = tuple(point.constant for point in points)
    # p = c/k can be 0, and so small a p needs no margin.
    margin = MARGIN if p_value == "plus_one" else 1
    enough = max(1000, math.ceil(margin / target))

    if method in PERM:
        if samples is None and p_value == "paper":
            samples = enough
        permuted = permuted_p_values(
            values,
            Z,
            level,
            coefficient,
            PERM[method],
            rule=p_value,
            samples=samples,
            target=target,
            seed=seed,
        )
        return PairTests(
            level,
            coefficient,
            r,
            constant,
            *permuted,
        )

    pairs = list(permutations(range(len(values)), 2))
    p = np.full((len(values), len(values)), np.nan)
    failed = np.zeros(p.shape, dtype=np.int64)

    if method == "williams":
        for i, j in pairs:
            r_xy = level_correlation(values[i], values[j], level, coefficient).value
            n = observations(values[i], Z, level)
            p[i, j] = williams_p_value(r[i], r[j], r_xy, n)

        return PairTests(
            level,
            coefficient,
            r,
            constant,
            p,
            failed,
            0,
            0.0,
        )

    how = BOOT[method]
    k = samples or enough
    drawn = []

    for X in values:
        drawn.append(
            bootstrap_samples(
                X,
                Z,
                level,
                coefficient,
                how,
                samples=k,
                seed=seed,
            )
        )

    for i, j in pairs:
        observed = float(r[i] - r[j])
        null = drawn[i] - drawn[j] - observed
        failed[i, j] = np.isnan(null).sum()
        p[i, j] = resampled_p_value(observed, null, "greater", p_value)

    smallest = 1 / (k + 1) if p_value == "plus_one" else 0.0
    return PairTests(
        level,
        coefficient,
        r,
        constant,
        p,
        failed,
        k,
        smallest,
    )


def williams_p_value(r_xz: float, r_yz: float, r_xy: float, n: int) -> float:
    """Williams' test of two dependent correlations that share Z (Williams 1959; Steiger
    1980).

    t = (r_xz - r_yz) · √((n - 1)(1 + r_xy) / (2 D (n - 1)/(n - 3) + r̄² (1 - r_xy)³)),
    with D = 1 - r_xz² - r_yz² - r_xy² + 2 r_xz r_yz r_xy, r̄ the mean of r_xz and r_yz,
    and n - 3 degrees of freedom, for H0: ρ(X, Z) ≤ ρ(Y, Z); NaN when n ≤ 3. The signs
    of the correlations are kept: a strongly negative metric is not better (other code
    takes |r|, and there it is).
    """
    from scipy.stats import t as student

    if n <= 3 or math.isnan(r_xz + r_yz + r_xy):
        return math.nan

    difference = r_xz - r_yz
    determinant = max(0.0, 1 - r_xz**2 - r_yz**2 - r_xy**2 + 2 * r_xz * r_yz * r_xy)
    mean = (r_xz + r_yz) / 2
    below = 2 * (n - 1) / (n - 3) * determinant + mean**2 * (1 - r_xy) ** 3
    above = (n - 1) * (1 + r_xy)

    if abs(difference) < 1e-12:  # rounding, where two metrics agree equally well
        statistic = 0.0
    elif below > 0:
        statistic = difference * math.sqrt(max(0.0, above) / below)
    else:
        statistic = math.copysign(math.inf, difference)

    return float(student.sf(statistic, n - 3))


def family_size(metrics: int, grouping: Grouping, correction: Correction) -> int:
    """How many tests are corrected together; 1 without a correction."""
    if correction == "none":
        return 1
    if grouping == "metric":
        return metrics - 1
    return metrics * (metrics - 1)


def corrected_p_values(
    p: FloatArray, correction: Correction, grouping: Grouping
) -> FloatArray:
    """The (K, K) p-values corrected, within each row or within all."""
    if grouping == "metric":
        return np.stack([adjust_p_values(row, correction) for row in p])
    return adjust_p_values(p.ravel(), correction).reshape(p.shape)


# Ranks
# ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RankedMetric:
    """The rank of a metric's cluster (the best is 1), and its correlation with an
    interval."""

    rank: int
    metric: str
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class RankResult(Result):
    """Metrics by rank, the best first."""

    human: str
    level: Level
    coefficient: Coefficient
    confidence: float
    ranks: tuple[RankedMetric, ...]
    left_out: LeftOut
    signature: Signature

    def to_tables(self) -> Sequence[Table]:
        """One row per metric."""
        symbol = SYMBOLS[self.coefficient]
        columns = (
            Column("rank"),
            Column("metric"),
            Column("value", symbol),
            Column("low", f"{100 * self.confidence:g} % low"),
            Column("high"),
        )
        notes = [
            "A metric starts a new rank if the best of the rank above is significantly better "
            f"(α = {1 - self.confidence:g})."
        ]
        if self.left_out:
            notes.append(f"Left out, not scored by all: {self.left_out}.")
        title = f"Ranks by {self.level} level {symbol} with {self.human}"

        return [Table.of(title, columns, self.ranks, (*notes, str(self.signature)))]

    def to_figure(self) -> Any:
        """A line per metric, best first, with its interval; a colour per rank."""
        from litepyramid.figures.meta_plots import IntervalMark, interval_plot

        marks = []
        for m in self.ranks:
            rank = f"rank {m.rank}"
            marks.append(
                IntervalMark(
                    m.metric,
                    rank,
                    m.value,
                    m.low,
                    m.high,
                )
            )

        heading = f"{100 * self.confidence:g} % intervals, ranks by significance"
        xlabel = f"{in_words(self.level, self.coefficient)} with {self.human}"
        metrics = [m.metric for m in self.ranks]
        groups = list(dict.fromkeys(mark.group for mark in marks))
        return interval_plot({xlabel: marks}, metrics, groups, heading)


def clusters(p_values: Any, values: Any, alpha: float) -> list[int]:
    """The rank of each metric's cluster, as WMT's metrics tasks give them.

    From the best metric down, a metric opens a new cluster if the first of the current
    one is significantly better: by (K, K) p-values, row over column, and (K,)
    correlations.
    """
    p = np.asarray(p_values)
    order = best_first(values).tolist()
    ranks = [1] * len(order)
    first = order[0]  # the best metric of the current rank
    for before, metric in pairwise(order):
        opens = p[first, metric] <= alpha
        ranks[metric] = ranks[before] + int(opens)
        if opens:
            first = metric
    return ranks


def rank(
    scores: ScoresLike,
    human: HumanLike | None = None,
    *,
    level: Level | None = None,
    coefficient: Coefficient = "kendall",
    samples: int = 1000,
    seed: int = 12345,
    confidence: float = 0.95,
    **sources: Unpack[ScoreSources],
) -> RankResult:
    """Rank metrics by their correlation with human scores, in clusters that do not
    differ.

    As in WMT's metrics tasks: from the best metric down, a new rank begins where the
    best metric of the rank above is significantly better. Metrics are compared by
    perm-both, without a correction, and get boot-both intervals.

    Args:
        scores: Tables of scores; not changed.
        human: The human score; "human" if neither this nor the table says which.
        level: The coefficient's own level if it has one, else system, unless another is
            named.
        coefficient: The coefficient, spa and acc-eq too.
        samples: Bootstrap samples of intervals; tests take what they need.
        seed: Seed of all draws.
        confidence: Confidence level of intervals; tests are at the level 1 -
            confidence.
        **sources: What belongs to the scores, as of `read_scores`: metrics, columns.

    Raises:
        InputError: As for `compare` and `interval`.

    Example:
        >>> rows = [{"system": s, "input": i, "rouge": s * 7 % 10, "bleu": (s * 7 + i) % 10,
        ...          "human": (s * 7 + 2 * i) % 10} for s in range(8) for i in range(9)]
        >>> [(one.rank, one.metric) for one in rank(rows, samples=100).ranks]
        [(1, 'bleu'), (1, 'rouge')]

    Command line:
        $ litepyramid meta rank table.csv --coefficient spa --samples 1000
        $ litepyramid meta rank table.csv --level summary
    """
    if level is None:
        level = "summary" if coefficient == "acc-eq" else "system"
    if len(kinds(level, coefficient)) > 1:
        raise InputError(
            "several levels or coefficients to rank by", expected="one of each"
        )

    table = score_table(scores, human, **sources)
    common: dict[str, Any] = {
        "level": level,
        "coefficient": coefficient,
        "seed": seed,
        "confidence": confidence,
    }
    intervals = interval(table, samples=samples, **common).intervals
    tests = compare(table, correction="none", **common)
    (tested,) = tests.comparisons
    numbers = clusters(tested.p_values, tested.correlations, tests.alpha)

    ranks = []
    for i, entry in enumerate(intervals):
        # The correlation on the cells that all metrics share, as it was tested.
        value = float(tested.correlations[i])
        ranks.append(
            RankedMetric(
                numbers[i],
                entry.metric,
                value,
                entry.low,
                entry.high,
            )
        )

    ranks.sort(key=lambda entry: (entry.rank, -entry.value))

    more = {"samples": samples, "interval": "boot-both"}
    signature = Signature.of(**dict(tests.signature.fields) | more)
    return RankResult(
        human=tests.human,
        level=level,
        coefficient=coefficient,
        confidence=confidence,
        ranks=tuple(ranks),
        left_out=tests.left_out,
        signature=signature,
    )
