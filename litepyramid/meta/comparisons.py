"""Which metrics are better than which: all pairs tested, corrected for many tests, and shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, permutations
from typing import Any, Literal, get_args

import numpy as np

from litepyramid.errors import InputError, choose
from litepyramid.io.scores import read_scores
from litepyramid.meta.alignment import LeftOut, align, check_correlatable, signature_of
from litepyramid.meta.core.coefficients import Coefficient, best_first
from litepyramid.meta.core.levels import ConstantPolicy, Level, kinds, several
from litepyramid.meta.correlations import SYMBOLS
from litepyramid.meta.significance import ComparisonMethod, PairTests, TwoSided, compare_pairs
from litepyramid.stats import (
    Correction,
    PValueRule,
    adjust_p_values,
    check_samples,
    check_share,
)
from litepyramid.tables import HIDDEN, Cell, Column, Result, Table, record, row
from litepyramid.text import counted
from litepyramid.types import FloatArray, Signature

Grouping = Literal["metric", "level"]
GROUPINGS: tuple[Grouping, ...] = get_args(Grouping)
CORRECTIONS: tuple[Correction, ...] = get_args(Correction)


@dataclass(frozen=True, slots=True)
class LevelComparison(PairTests):
    """All pairs of K metrics at one level with one coefficient.

    Attributes:
        level: ``"system"``, ``"summary"`` or ``"global"``.
        coefficient: The coefficient.
        corrected: (K, K) the p-values, corrected for many tests.
    """

    level: Level
    coefficient: Coefficient
    corrected: FloatArray


@dataclass(frozen=True, slots=True)
class ComparisonResult(Result):
    """Which metrics correlate better with the human score than which others.

    Attributes:
        metrics: K names, in the order of all matrices.
        human: Name of the human score.
        comparisons: One for each level and coefficient.
        method: The test.
        alternative: ``"greater"``: row better than column; or ``"two-sided"``.
        alpha: Significance level.
        correction: Correction for many tests.
        grouping: ``"metric"``: over the tests of one row metric (DDR21 Fig. 5); ``"level"``: over
            all tests of one level and coefficient (DDR21 Fig. 6).
        systems: Number of systems.
        inputs: Number of inputs.
        left_out: What some metric or the human score has not scored.
        signature: Everything that another person needs to get the same numbers.
    """

    metrics: tuple[str, ...]
    human: str
    comparisons: tuple[LevelComparison, ...] = field(metadata=HIDDEN)
    method: ComparisonMethod
    alternative: TwoSided
    alpha: float
    correction: Correction
    grouping: Grouping
    systems: int
    inputs: int
    left_out: LeftOut
    signature: Signature

    def to_tables(self) -> Sequence[Table]:
        """One row per test; more than four metrics: one row per metric, a mark per other one."""
        few = len(self.metrics) <= 4
        tables = [self._tests(c) if few else self._summary(c) for c in self.comparisons]
        notes = [*([] if few else [self._legend()]), *self.remarks()]
        if self.left_out:
            notes.append(f"Left out, not scored by all: {self.left_out}.")
        failed = sum(int(np.triu(c.failed).sum()) for c in self.comparisons)
        if failed:
            had = "had no value and is" if failed == 1 else "had no value and are"
            notes.append(f"{counted(failed, 'sample')} of all tests together {had} left out.")
        constants = {c.level: max(c.constant) for c in self.comparisons if any(c.constant)}
        if constants:
            many = ", ".join(f"{level} up to {n}" for level, n in constants.items())
            notes.append(f"Constant vectors of one metric: {many}.")
        tables[-1] = replace(tables[-1], notes=(*notes, str(self.signature)))
        return tables

    def remarks(self) -> list[str]:
        """How small p could become, and what the rule ``"paper"`` finds by ties alone."""
        if self.method == "williams":
            return []
        if self.signature.to_json()["p_value"] != "paper":
            tests = family_size(len(self.metrics), self.grouping, self.alternative, self.correction)
            levels = {c.level: f"{c.smallest_p:.2g} at {c.level} level" for c in self.comparisons}
            return [
                f"p can be as small as {', '.join(levels.values())}; the strictest of "
                f"{counted(tests, 'test')} requires {self.alpha / tests:.2g}."
            ]
        remarks = [
            "p = c/k counts only samples larger than the observed difference: two equal "
            "metrics get p = 0, and the test does not keep its level. plus_one does."
        ]
        found = [
            f"{self.metrics[i]} > {self.metrics[j]}"
            for c in self.comparisons
            for i, j in self.pairs()
            if c.p_values[i, j] <= self.alpha < c.counting_ties[i, j]
        ]
        if found:
            remarks.append(
                f"Warning: p ≤ {self.alpha:g} only because of ties in "
                f"{counted(len(found), 'test')}: {', '.join(found[:3])}"
                f"{' …' if len(found) > 3 else ''}."
            )
        return remarks

    def to_csv_table(self) -> Table:
        """One row per test."""
        rows = self._rows()
        return Table.of("", rows[0], rows)

    def to_json(self) -> dict[str, Any]:
        """The tests row by row, and what they have in common."""
        smallest: dict[str, float] = {}
        for c in self.comparisons:
            smallest[c.level] = min(c.smallest_p, smallest.get(c.level, 1.0))
        names = ("level", "coefficient", "metric", "value", "constant")
        correlations = [
            dict(zip(names, (c.level, c.coefficient, *found), strict=True))
            for c in self.comparisons
            for found in zip(self.metrics, c.correlations, c.constant, strict=True)
        ]
        common = {"smallest_p": smallest, "remarks": self.remarks(), "correlations": correlations}
        return {**record(self), **common, "tests": self._rows()}

    def _rows(self) -> list[dict[str, Any]]:
        return [test for c in self.comparisons for test in self._of(c)]

    def _of(self, c: LevelComparison) -> list[dict[str, Any]]:
        """The tests of one level and coefficient."""
        return [
            {
                "level": c.level,
                "coefficient": c.coefficient,
                "metric": self.metrics[i],
                "other": self.metrics[j],
                "correlation": float(c.correlations[i]),
                "other_correlation": float(c.correlations[j]),
                "difference": float(c.correlations[i] - c.correlations[j]),
                "p_value": float(c.p_values[i, j]),
                "corrected": float(c.corrected[i, j]),
                "significant": int(c.corrected[i, j] <= self.alpha),
                "failed": int(c.failed[i, j]),
            }
            for i, j in self.pairs()
        ]

    def pairs(self) -> list[tuple[int, int]]:
        """The pairs (row, column) that were tested; two-sided each once."""
        all_pairs = permutations if self.alternative == "greater" else combinations
        return list(all_pairs(range(len(self.metrics)), 2))

    def _title(self, c: LevelComparison) -> str:
        sign = ">" if self.alternative == "greater" else "≠"
        return (
            f"{c.level} level {SYMBOLS[c.coefficient]} with {self.human}: is a {sign} b? "
            f"{self.method.upper()}, N={self.systems}, M={self.inputs}"
        )

    def _tests(self, c: LevelComparison) -> Table:
        columns = (
            *(Column("metric", "a"), Column("other", "b"), Column("correlation", "corr a")),
            *(Column("other_correlation", "corr b"), Column("difference", "a - b", signed=True)),
            Column("p_value", "p", digits=4, above_zero=True),
            Column("corrected", "corrected p", digits=4, above_zero=True),
        )
        worst_last = -np.nan_to_num(c.correlations, nan=-2.0)
        first, second = np.transpose(self.pairs())
        tests = self._of(c)
        order = np.lexsort((worst_last[second], worst_last[first]))
        table = Table.of(self._title(c), columns, [tests[n] for n in order])
        return table if self.correction != "none" else table.without("corrected")

    def _summary(self, c: LevelComparison) -> Table:
        """DDR21's Figure 5 in characters: a mark for every other metric, in the rows' order."""
        order = best_first(c.correlations)
        columns = (
            *(Column("number", "#"), Column("metric")),
            Column("correlation", SYMBOLS[c.coefficient]),
            Column("better", "better than" if self.alternative == "greater" else "differs from"),
            Column("marks", "which"),
        )
        marks = np.where(c.p_values <= self.alpha, "○", "·")
        marks[c.corrected <= self.alpha] = "●"
        np.fill_diagonal(marks, "\\")
        rows: list[tuple[Cell, ...]] = []
        for number, i in enumerate(order.tolist(), start=1):
            which = "".join(marks[i, order])
            value = float(c.correlations[i])
            rows.append((number, self.metrics[i], value, which.count("●"), which))
        return Table(self._title(c), columns, tuple(rows))

    def _legend(self) -> str:
        if self.correction == "none":
            return f"Marks are in the order of the rows: ● p ≤ {self.alpha:g}, · not."
        within = "the tests of its row" if self.grouping == "metric" else "all tests of the table"
        return (
            f"Marks are in the order of the rows: ● p ≤ {self.alpha:g} also with the "
            f"{self.correction.replace('-', ' and ').title().replace('And', 'and')} correction "
            f"over {within}, ○ without it only, · not."
        )


def compare(
    scores: Any,
    human: str | Sequence[str] = "human",
    *,
    metrics: str | Sequence[str] | None = None,
    level: Level | Sequence[Level] = ("system", "summary"),
    coefficient: Coefficient | Sequence[Coefficient] = "kendall",
    method: ComparisonMethod = "perm-both",
    alternative: TwoSided = "greater",
    p_value: PValueRule = "plus_one",
    samples: int | None = None,
    seed: int = 12345,
    alpha: float = 0.05,
    correction: Correction = "bonferroni",
    grouping: Grouping = "metric",
    constant: ConstantPolicy = "skip",
) -> ComparisonResult:
    """Tests every pair of metrics: does one correlate better with `human` (DDR21 §4, §6.2).

    All metrics use the same cells: those scored by every one of them and `human`.
    All tests of a level share their samples.

    Args:
        scores: A `ScoreTable`, a path, several paths, or a long pandas frame; not changed.
        human: The human score; several names mean the mean of several raters.
        metrics: Names or patterns; None for all others. At least two.
        level: One or several of system, summary, global.
        coefficient: One or several of pearson, spearman, kendall (τ-b), kendall_c, pairwise;
            spa (system level), acc-eq (summary level).
        method: perm-both (recommended), perm-systems, perm-inputs, perm-both-xor, boot-both,
            boot-systems, boot-inputs or williams: see `compare_pairs`.
        alternative: ``"greater"``: a better than b; or ``"two-sided"``.
        p_value: ``"plus_one"`` or ``"paper"``, see `resampled_p_value`.
        samples: Number of samples. By default enough for the number of tests corrected together
            (`compare_pairs`); a number with which no test could pass is an error.
        seed: Seed of the draws.
        alpha: Significance level.
        correction: none, bonferroni, holm or benjamini-hochberg.
        grouping: What is corrected together: the tests of one ``"metric"``, or all of one
            ``"level"`` and coefficient.
        constant: How constant vectors are treated: ``"skip"``, ``"zero"`` or ``"zb21"``.

    Raises:
        InputError: An unknown name, fewer than two metrics, nothing scored by all, too little
            data for any correlation (`check_correlatable`), or too few samples.
    """
    choose("correction", correction, CORRECTIONS)
    choose("grouping", grouping, GROUPINGS)
    check_share("alpha", alpha)
    table = read_scores(scores)
    aligned = align(table, metrics, human)
    if len(aligned.metrics) < 2:
        raise InputError(
            f"only the metric {aligned.metrics[0]} to compare", expected="two metrics or more"
        )
    tests = family_size(len(aligned.metrics), grouping, alternative, correction)
    resampled = method != "williams"
    if samples is not None and resampled:
        # Under Benjamini-Hochberg many can pass together; by c/k, p may be 0.
        strict = correction in ("bonferroni", "holm") and p_value == "plus_one"
        check_samples(samples, alpha=alpha, tests=tests if strict else 1)
    levels, coefficients = several(level), several(coefficient)
    check_correlatable([aligned], levels)
    comparisons = []
    for at, by in kinds(levels, coefficients):
        found = compare_pairs(
            aligned.values, aligned.Z, at, by, method, alternative=alternative, p_value=p_value,
            samples=samples, target=alpha / tests, seed=seed, constant=constant,
        )  # fmt: skip
        corrected = corrected_p_values(found, correction, grouping, alternative)
        comparisons.append(
            LevelComparison(**row(found), level=at, coefficient=by, corrected=corrected)
        )
    draws = {"p_value": p_value, "samples": samples or "auto", "seed": seed} if resampled else {}
    signature = signature_of(
        table,
        [aligned],
        levels,
        coefficients,
        test=method,
        alternative=alternative,
        **draws,
        alpha=alpha,
        correction=correction,
        grouping=grouping if correction != "none" else None,
        constant=constant,
    )
    return ComparisonResult(
        metrics=aligned.metrics,
        human=aligned.human,
        comparisons=tuple(comparisons),
        method=method,
        alternative=alternative,
        alpha=alpha,
        correction=correction,
        grouping=grouping,
        systems=len(aligned.systems),
        inputs=len(aligned.inputs),
        left_out=aligned.left_out,
        signature=signature,
    )


def family_size(
    metrics: int, grouping: Grouping, alternative: TwoSided, correction: Correction
) -> int:
    """How many tests are corrected together; 1 without a correction.

    Example:
        >>> [family_size(26, group, "greater", "holm") for group in GROUPINGS]
        [25, 650]
    """
    if correction == "none":
        return 1
    if grouping == "metric":
        return metrics - 1
    return metrics * (metrics - 1) // (1 if alternative == "greater" else 2)


def corrected_p_values(
    tests: PairTests, correction: Correction, grouping: Grouping, alternative: TwoSided
) -> FloatArray:
    """The (K, K) p-values corrected, within each row or within all; two-sided pairs count once."""
    p = tests.p_values
    if grouping == "metric":
        return np.stack([adjust_p_values(row, correction) for row in p])
    counted = p if alternative == "greater" else np.where(np.tri(len(p), k=-1) > 0, np.nan, p)
    corrected = adjust_p_values(counted.ravel(), correction).reshape(p.shape)
    return np.asarray(np.where(np.isnan(corrected), corrected.T, corrected))
