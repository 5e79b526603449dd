"""How far metrics agree with people, and how certain that is."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Unpack

from litepyramid.data.score_tables import read_scores
from litepyramid.errors import no_effect
from litepyramid.identity import fingerprint
from litepyramid.meta.alignment import LeftOut, align_each, pairs_of, signature_of
from litepyramid.meta.core.levels import (
    COEFFICIENTS,
    SYMBOLS,
    Coefficient,
    ConstantPolicy,
    Level,
    kinds,
    level_correlation,
)
from litepyramid.tables import Column, Result, Table, row
from litepyramid.text import cut
from litepyramid.types import (
    Fields,
    HumanLike,
    Names,
    ScoresLike,
    ScoreSources,
    Signature,
    several,
)

SHORT = {
    "system": "sys",
    "summary": "sum",
    "global": "glob",
}
_FATE = {"skip": "were left out", "zb21": "had their first value raised slightly"}


@dataclass(frozen=True)
class Correlation:
    """One metric's correlation with the human score, and what it was computed from.

    The human score is the mean of `raters`; `value` (or NaN) the mean of `used`
    coefficients, of `systems` and `inputs` that both sides scored. `constant` vectors
    had no difference on one side; `too_few` inputs have fewer than two systems;
    ``acc-eq`` ties scores up to `epsilon`.
    """

    metric: str
    human: str
    raters: Names
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


@dataclass(frozen=True)
class CorrelationResult(Result):
    """Correlations of several metrics; one row per metric (in a frame, per
    correlation)."""

    correlations: tuple[Correlation, ...]
    policy: ConstantPolicy
    signature: Signature

    def to_tables(self) -> Sequence[Table]:
        """One row per metric, a column for each level and coefficient."""
        rows: dict[str, Fields] = {}
        columns = {"metric": Column("metric")}
        for c in self.correlations:
            name = f"{c.level}_{c.coefficient}"
            columns[name] = Column(name, f"{SHORT[c.level]} {SYMBOLS[c.coefficient]}")
            rows.setdefault(c.metric, row(c))[name] = c.value

        shown = (*columns.values(), Column("systems", "N"), Column("inputs", "M"))
        title = f"Correlation with {self.correlations[0].human}"
        notes = (*self._notes(), str(self.signature))
        return [Table.of(title, shown, rows.values(), notes)]

    def to_csv_table(self) -> Table:
        """One row for each metric, level and coefficient, with all counts."""
        return counts_table(self.correlations, policy=self.policy)

    def _notes(self) -> list[str]:
        constant = {}
        epsilon = {}
        few = {}

        for c in self.correlations:
            if c.constant:
                constant[c.metric] = str(c.constant)
            if c.epsilon >= 0:
                epsilon[c.metric] = f"{c.epsilon:.3g}"
            if c.too_few:
                few[c.metric] = str(c.too_few)

        texts = {
            f"Constant vectors {_FATE[self.policy]}:": constant,
            "acc_eq ties scores that differ by at most": epsilon,
            "Inputs with fewer than two systems:": few,
        }
        notes = left_out_notes(self.correlations)
        if self.policy != "skip" and not constant:
            notes.append(f"No vector is constant: {self.policy} changes nothing.")
        for text, numbers in texts.items():
            some = ", ".join(f"{metric} {number}" for metric, number in numbers.items())
            if some:
                notes.append(f"{text} {cut(some, 600)}.")

        return notes


def left_out_notes(entries: Sequence[Any]) -> list[str]:
    """What was left out, by metric, and which columns were not read."""
    left_out = {entry.metric: entry.left_out for entry in entries}
    some = [f"{metric} {left}" for metric, left in left_out.items() if left]
    notes: list[str] = entries[0].left_out.notes
    if not some:
        return notes
    alike = len({*left_out.values()}) == 1
    text = str(entries[0].left_out) if alike else cut("; ".join(some), 600)
    return [f"Left out, not scored by both sides: {text}.", *notes]


def counts_table(entries: Sequence[Any], **same: Any) -> Table:
    """A row an entry: its fields, numbers of what was left out, what is the `same` in
    all."""
    rows = []
    for entry in entries:
        left_out = {
            "left_out_systems": len(entry.left_out.systems),
            "left_out_inputs": len(entry.left_out.inputs),
            "left_out_cells": entry.left_out.cells,
        }
        rows.append(row(entry, **left_out, **same))
    hidden_columns = ("left_out", "raters", "drawn")
    return Table.of("", [name for name in rows[0] if name not in hidden_columns], rows)


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
        >>> rows = [{"system": "a", "input": 1, "rouge": 1, "human": 1},
        ...         {"system": "a", "input": 2, "rouge": 2, "human": 3},
        ...         {"system": "b", "input": 1, "rouge": 4, "human": 4},
        ...         {"system": "b", "input": 2, "rouge": 3, "human": 4}]
        >>> result = correlate(rows, level="global", coefficient="kendall")
        >>> round(result.correlations[0].value, 3)
        0.913

    Command line:
        $ litepyramid meta correlate scores.json
        $ litepyramid meta correlate table.csv --level summary --coefficient kendall
    """
    pairs = kinds(level, coefficient)
    own = [by for _, by in pairs if COEFFICIENTS[by].rows is None]
    why = f"on {' and '.join(own)}"
    no_effect(correlate, len(own) == len(pairs), why, constant=constant)
    table = read_scores(scores, human, **sources)
    pairs = pairs_of(table, pairs)
    in_order = table
    order_sha = None
    # Which value is the first, and raised, is part of the authors' definition.
    if constant == "zb21":
        in_order = table.take(table.listed, table.inputs)
        order_sha = fingerprint(table.listed)
    sides = align_each(in_order, several(level))

    correlations = []
    for side, (at, by) in product(sides, pairs):
        value = level_correlation(side.values[0], side.Z, at, by, constant)
        correlations.append(
            Correlation(
                **side.entry(),
                **row(value),
                level=at,
                coefficient=by,
                raters=side.raters,
            )
        )

    signature = signature_of(
        table,
        sides,
        pairs,
        constant=constant,
        order_sha=order_sha,
    )
    return CorrelationResult(tuple(correlations), constant, signature)
