"""How far metrics agree with people: correlations at three levels, with all counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from litepyramid.io.scores import read_scores
from litepyramid.meta.alignment import (
    LeftOut,
    align,
    check_correlatable,
    metric_names,
    signature_of,
)
from litepyramid.meta.core.coefficients import Coefficient
from litepyramid.meta.core.levels import ConstantPolicy, Level, kinds, level_correlation, several
from litepyramid.tables import Column, Result, Table, row
from litepyramid.types import Signature

_NO_CELLS = ("left_out", "raters", "drawn")
SHORT = {"system": "sys", "summary": "sum", "global": "glob"}
SYMBOLS = {
    "pearson": "r",
    "spearman": "ρ",
    "kendall": "τ",
    "kendall_c": "τ-c",
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
        what = {
            "skip": "were left out",
            "zero": "count as 0",
            "zb21": "had their first value raised slightly",
        }[self.policy]
        constants = {c.metric: c for c in self.correlations if c.constant}
        if any(c.level != "summary" for c in constants.values()):
            notes.append(f"Constant vectors {what}: {listed(list(constants))}.")
        elif constants:
            some = [f"{m} {c.constant} of {c.inputs}" for m, c in constants.items()]
            notes.append(f"Inputs with a constant column {what}: {listed(some)}.")
        notes += left_out_notes({c.metric: c.left_out for c in self.correlations})
        tied = [f"{c.metric} {c.epsilon:.3g}" for c in self.correlations if c.epsilon >= 0]
        if tied:
            notes.append(f"acc_eq ties scores that differ by at most {listed(tied)}.")
        few = {c.metric: c.too_few for c in self.correlations if c.too_few}
        if few:
            some = [f"{m} {n}" for m, n in few.items()]
            notes.append(f"Inputs with fewer than two systems: {listed(some)}.")
        return notes


def left_out_notes(left_out: dict[str, LeftOut]) -> list[str]:
    """One sentence on what was left out, by metric, or nothing where nothing was."""
    lost = [f"{metric} {left}" for metric, left in left_out.items() if left]
    alike = len(set(map(str, left_out.values()))) == 1
    said = str(next(iter(left_out.values()))) if alike else listed(lost, "; ")
    return [f"Left out, not scored by both sides: {said}."] if lost else []


def counts_table(entries: Sequence[Any], **same: Any) -> Table:
    """A row an entry: its fields, what was left out in numbers, and what is the `same` in all."""
    rows = [row(e, **e.left_out.counts(), **same) for e in entries]
    return Table.of("", [c for c in rows[0] if c not in _NO_CELLS], rows)


def listed(items: list[str], between: str = ", ", most: int = 6) -> str:
    """The first few items, and how many more there are."""
    more = f"{between}and {len(items) - most} more" if len(items) > most else ""
    return between.join(items[:most]) + more


def correlate(
    scores: Any,
    human: str | Sequence[str] = "human",
    *,
    metrics: str | Sequence[str] | None = None,
    level: Level | Sequence[Level] = ("system", "summary"),
    coefficient: Coefficient | Sequence[Coefficient] = ("pearson", "spearman", "kendall"),
    constant: ConstantPolicy = "skip",
) -> CorrelationResult:
    """The correlation of each metric with `human` (DDR21 §2, ZB21 §4).

    Each metric uses the systems and inputs scored by both it and `human`; the rest is left out
    and counted.

    Args:
        scores: A `ScoreTable`, a path, several paths, or a long pandas frame; not changed.
        human: The human score; several names mean the mean of several raters.
        metrics: Names or patterns; None for all others.
        level: One or several of system, summary, global.
        coefficient: One or several of pearson, spearman, kendall (τ-b), kendall_c, pairwise;
            spa (system level), acc-eq (summary level).
        constant: How constant vectors are treated: ``"skip"``, ``"zero"`` or ``"zb21"``.

    Raises:
        InputError: An unknown name, nothing scored by both sides, or too little data for
            any correlation (`check_correlatable`).

    Example:
        >>> rows = [{"system": s, "input": i, "metric": m, "score": v}
        ...         for m, values in {"rouge": [1, 2, 4, 3], "human": [1, 3, 4, 4]}.items()
        ...         for (s, i), v in zip([("a", 1), ("a", 2), ("b", 1), ("b", 2)], values)]
        >>> from litepyramid.io.scores import read_scores
        >>> result = correlate(read_scores(rows), level="global", coefficient="kendall")
        >>> round(result.correlations[0].value, 3)
        0.913
    """
    table = read_scores(scores)
    levels, coefficients = several(level), several(coefficient)
    sides = [align(table, name, human) for name in metric_names(table, metrics, human)]
    check_correlatable(sides, levels)
    found = []
    for side, (at, by) in product(sides, kinds(levels, coefficients)):
        value = row(level_correlation(side.values[0], side.Z, at, by, constant))
        value |= {"level": at, "coefficient": by, "raters": side.raters}
        found.append(Correlation(**value, **side.entry()))
    signature = signature_of(table, sides, levels, coefficients, constant=constant)
    return CorrelationResult(tuple(found), constant, signature)
