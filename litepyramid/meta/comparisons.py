"""Which metrics are better than which: all pairs tested and corrected for many
tests."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import Any, Unpack

import numpy as np

from litepyramid.data.score_tables import read_scores
from litepyramid.errors import InputError, choose, no_effect
from litepyramid.meta.alignment import (
    LeftOut,
    align,
    check_correlatable,
    pairs_of,
    signature_of,
)
from litepyramid.meta.core.levels import (
    SYMBOLS,
    Coefficient,
    Level,
    best_first,
    kinds,
)
from litepyramid.meta.intervals import METHOD_WORDS
from litepyramid.meta.pair_tests import (
    ComparisonMethod,
    ComparisonTest,
    Corrections,
    Grouping,
    PairTests,
    compare_pairs,
    corrected_p_values,
    family_size,
)
from litepyramid.stats import (
    Correction,
    PValueRule,
    check_samples,
    check_share,
    check_whole,
)
from litepyramid.tables import HIDDEN, Column, Result, Table, record
from litepyramid.text import counted
from litepyramid.types import (
    Fields,
    HumanLike,
    Names,
    ScoresLike,
    ScoreSources,
    Signature,
    several,
)

_METHODS = METHOD_WORDS | {
    "perm-systems": "permuting systems",
    "perm-inputs": "permuting inputs",
    "perm-both": "permuting scores of systems and inputs",
    "williams": "Williams' test",
}
"""The methods in the words of figures."""


@dataclass(frozen=True)
class ComparisonResult(Result):
    """Which metrics correlate better with the human score than which others.

    `grouping` says what is corrected together: ``"metric"``, the tests of one row
    metric (DDR21 Fig. 5), or ``"level"``, all tests of one level and coefficient (DDR21
    Fig. 6).
    """

    metrics: Names
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
        # K metrics are K (K - 1) tests: from five on a row for each is more than a
        # screen.
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
                f"Left out, no value: {counted(failed, 'sample')} of all tests "
                "together."
            )

        constants = {}
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
                "p = c/k counts only samples larger than the observed difference: "
                "two equal metrics get p = 0, and the test does not keep its level. "
                "plus_one does."
            ]

        tests = family_size(len(self.metrics), self.grouping, self.correction)
        levels = {}
        for tested in self.comparisons:
            levels[tested.level] = f"{tested.smallest_p:.2g} at {tested.level} level"

        return [
            f"p can be as small as {', '.join(levels.values())}; the strictest of "
            f"{counted(tests, 'test')} requires {self.alpha / tests:.2g}."
        ]

    def to_csv_table(self) -> Table:
        """One row per test."""
        rows = self._rows()
        return Table.of("", rows[0], rows)

    def json_entries(self) -> Fields:
        """The tests row by row, and what they have in common."""
        return record(self) | {"remarks": self.remarks(), "tests": self._rows()}

    def _rows(self) -> list[Fields]:
        """All tests of all levels and coefficients."""
        rows = []
        for tested in self.comparisons:
            rows += self._of(tested)
        return rows

    def _of(self, tested: PairTests) -> list[Fields]:
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
            Column(
                "p_value",
                "p",
                digits=4,
                above_zero=True,
            ),
            Column(
                "corrected",
                "corrected p",
                digits=4,
                above_zero=True,
            ),
        )
        # The best metric's tests first, and among them those against the best others.
        worst_last = -np.nan_to_num(c.correlations, nan=-2.0)
        first, second = np.transpose(self.pairs())
        order = np.lexsort((worst_last[second], worst_last[first]))

        tests = self._of(c)
        table = Table.of(self._title(c), columns, [tests[n] for n in order])
        return table.without("corrected") if self.correction == "none" else table

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

        rows = []
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
            # Blue without a correction, framed with one: as in DDR21's Figures 5 and 6.
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
        >>> rows = [{"system": s, "input": i, "rouge": s * 7 % 10,
        ...          "bleu": (s * 7 + i) % 10, "human": (s * 7 + 2 * i) % 10}
        ...         for s in range(8) for i in range(9)]
        >>> result = compare(rows, level="system")
        >>> result.metrics, bool((result.comparisons[0].p_values > 0.05).any())
        (('bleu', 'rouge'), True)

    Command line:
        $ litepyramid meta compare table.csv --level system
        $ litepyramid meta compare table.csv --method williams -o better.pdf
    """
    choose("method", method, ComparisonTest)
    choose("correction", correction, Corrections)
    why = "on the method williams, a formula that draws nothing"
    no_effect(compare, method == "williams", why, samples=samples, seed=seed)
    check_whole("seed", seed, 0)
    check_share("confidence", confidence)

    rule: PValueRule = "paper" if method.startswith("paper") else "plus_one"
    test: Any = method.replace("paper", "perm")
    corrected_by: Any = correction.removesuffix("-level")
    grouping: Grouping = "metric" if corrected_by == correction else "level"
    # 1 - .95 is a little above .05 in floating point; a signature should say .05.
    alpha = round(1 - confidence, 12)

    table = read_scores(scores, human, **sources)
    pairs = pairs_of(table, kinds(level, coefficient))
    aligned = align(table)
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

    draws: Fields = {}
    if test != "williams":
        draws = {"p_value": rule, "samples": samples or "auto", "seed": seed}

    signature = signature_of(
        table,
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
