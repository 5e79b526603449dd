"""How far metrics agree with people: correlations at three levels, with all counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from litepyramid.errors import choose
from litepyramid.meta.alignment import (
    LeftOut,
    align,
    check_correlatable,
    metric_names,
    score_table,
    signature_of,
)
from litepyramid.meta.core.coefficients import Coefficient
from litepyramid.meta.core.levels import (
    CONSTANT_POLICIES,
    ConstantPolicy,
    Level,
    kinds,
    level_correlation,
    several,
)
from litepyramid.tables import Column, Result, Table, row
from litepyramid.types import ScoresLike, Signature

SHORT = {"system": "sys", "summary": "sum", "global": "glob"}
SYMBOLS = {
    "pearson": "r",
    "spearman": "ρ",
    "kendall": "τ",
    "pairwise": "acc",
    "spa": "SPA",
    "acc-eq": "acc_eq",
}


@dataclass(frozen=True, slots=True)
class Correlation:
    """One metric's correlation at one level, and what it was computed from.

    Attributes:
        metric: The metric.
        human: Name of the human score.
        raters: The metrics that this is the mean of.
        level: ``"system"``, ``"summary"`` or ``"global"``.
        coefficient: The coefficient.
        value: The correlation; NaN where it is not defined.
        systems: Systems that both sides scored.
        inputs: Inputs that both sides scored.
        used: How many coefficients the value is the mean of (summary level).
        constant: Vectors that were constant on one side; the policy says what became of them.
        too_few: Inputs with fewer than two systems scored on both sides.
        left_out: Systems, inputs and cells that one side lacks.
        epsilon: Of ``acc-eq``: up to which difference the metric's scores tie; else NaN.
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
class CorrelationResult(Result):
    """Correlations of several metrics; one row per metric (in a frame, per correlation)."""

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
        return [
            Table.of(
                f"Correlation with {self.correlations[0].human}",
                (*columns.values(), Column("systems", "N"), Column("inputs", "M")),
                rows.values(),
                (*self._notes(), str(self.signature)),
            )
        ]

    def to_csv_table(self) -> Table:
        """One row for each metric, level and coefficient, with all counts."""
        return counts_table(self.correlations, policy=self.policy)

    def _notes(self) -> list[str]:
        notes = []
        fate = {
            "skip": "were left out",
            "zero": "count as 0",
            "zb21": "had their first value raised slightly",
        }[self.policy]
        constants = {c.metric: c for c in self.correlations if c.constant}
        if any(c.level != "summary" for c in constants.values()):
            notes.append(f"Constant vectors {fate}: {listed(list(constants))}.")
        elif constants:
            numbers = [f"{m} {c.constant} of {c.inputs}" for m, c in constants.items()]
            notes.append(f"Inputs with a constant column {fate}: {listed(numbers)}.")
        notes += left_out_notes({c.metric: c.left_out for c in self.correlations})
        tied = [f"{c.metric} {c.epsilon:.3g}" for c in self.correlations if c.epsilon >= 0]
        if tied:
            notes.append(f"acc_eq ties scores that differ by at most {listed(tied)}.")
        few = {c.metric: c.too_few for c in self.correlations if c.too_few}
        if few:
            numbers = [f"{m} {n}" for m, n in few.items()]
            notes.append(f"Inputs with fewer than two systems: {listed(numbers)}.")
        return notes


def left_out_notes(left_out: dict[str, LeftOut]) -> list[str]:
    """One sentence on what was left out, by metric, or nothing where nothing was."""
    by_metric = [f"{metric} {left}" for metric, left in left_out.items() if left]
    alike = len(set(map(str, left_out.values()))) == 1
    text = str(next(iter(left_out.values()))) if alike else listed(by_metric, "; ")
    return [f"Left out, not scored by both sides: {text}."] if by_metric else []


def counts_table(entries: Sequence[Any], **same: Any) -> Table:
    """A row an entry: its fields, what was left out in numbers, and what is the `same` in all."""
    rows = [row(e, **e.left_out.counts(), **same) for e in entries]
    return Table.of("", [c for c in rows[0] if c not in ("left_out", "raters", "drawn")], rows)


def listed(items: list[str], between: str = ", ", most: int = 6) -> str:
    """The first few items, and how many more there are."""
    more = f"{between}and {len(items) - most} more" if len(items) > most else ""
    return between.join(items[:most]) + more


def correlate(
    scores: ScoresLike,
    human: str | Sequence[str] = "human",
    *,
    metrics: str | Sequence[str] | None = None,
    level: Level | Sequence[Level] = ("system", "summary"),
    coefficient: Coefficient | Sequence[Coefficient] = ("pearson", "spearman", "kendall"),
    constant: ConstantPolicy = "skip",
    **sources: Any,
) -> CorrelationResult:
    """Correlate metrics with human scores, at system, summary and global level.

    System level correlates the systems' averages, summary level averages the correlations of all
    inputs, global level takes all scores together (Deutsch, Dror & Roth 2021, section 2). Each
    metric uses the systems and inputs scored by both it and people; the rest is counted.

    Args:
        scores: Tables of scores; not changed.
        human: The human score; several names, or a pattern, mean the mean of several raters.
        metrics: Names or patterns; all others if none is named.
        level: One or several levels.
        coefficient: One or several coefficients: kendall is τ-b; pairwise the share of pairs
            ordered as people do; spa (system level) and acc-eq (summary level) are those of WMT.
        constant: What a vector without any difference counts: skip (left out), zero, or zb21 (its
            first value raised slightly, as Zhang and Bansal's code does).
        **sources: ``columns`` of `read_scores`.

    Returns:
        One `Correlation` for each metric, level and coefficient; NaN where none is defined.

    Raises:
        InputError: An unknown name, nothing scored by both sides, or too little data for
            any correlation.

    Example:
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
    choose("policy for constants", constant, CONSTANT_POLICIES)
    pairs = kinds(level, coefficient)
    table = score_table(scores, **sources)
    sides = [align(table, name, human) for name in metric_names(table, metrics, human)]
    check_correlatable(sides, several(level))
    correlations = []
    for side, (at, by) in product(sides, pairs):
        value = row(level_correlation(side.values[0], side.Z, at, by, constant))
        value |= {"level": at, "coefficient": by, "raters": side.raters}
        correlations.append(Correlation(**value, **side.entry()))
    signature = signature_of(table, sides, pairs, constant=constant)
    return CorrelationResult(tuple(correlations), constant, signature)
