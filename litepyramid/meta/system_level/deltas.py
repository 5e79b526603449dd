"""r_SYSΔ(ℓ, u): how far a metric is right about systems that it puts close together (DDR22 §4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from math import inf, isinf
from typing import Any, Literal

from litepyramid.meta.system_level.paired_scores import PairCounts, Sides, decimals, sides_of
from litepyramid.tables import Column, Result, Table, hidden, record, row
from litepyramid.text import counted
from litepyramid.types import Signature

ShareRule = Literal["paper", "authors"]


@dataclass(frozen=True)
class MetricDelta:
    """r_SYSΔ of one metric.

    Attributes:
        metric: Its name.
        sides: Which systems and inputs were used, and what was left out.
        overall: All pairs: r_SYS.
        bounds: The pairs between the bounds asked for; None if none were.
        curve: The closest 10, 20 … 100 % of the pairs (ℓ = 0).
        heat: Row i, column j: from the i-th to the j-th tenth; None below the diagonal, and where
            the range is empty.
    """

    metric: str
    sides: Sides
    overall: PairCounts
    bounds: PairCounts | None
    curve: tuple[PairCounts, ...]
    heat: tuple[tuple[PairCounts | None, ...], ...]


@dataclass(frozen=True)
class DeltaResult(Result):
    """r_SYSΔ of several metrics against one human score.

    Attributes:
        metrics: One entry per metric.
        human: The human score.
        min_pairs: Heat map cells with fewer pairs are masked.
        signature: Names everything that the numbers depend on.
        heat_tables: Whether tables show the heat maps too.
    """

    metrics: tuple[MetricDelta, ...]
    human: str
    min_pairs: int
    signature: Signature
    heat_tables: bool = hidden(default=False)

    def masked(self, cell: PairCounts | None) -> bool:
        """Whether a heat map's cell is not shown: too few pairs, or none."""
        return cell is None or cell.pairs < self.min_pairs

    def to_tables(self) -> list[Table]:
        """The given bounds and the curve of every metric; the heat maps if wanted."""
        table = self.to_csv_table()
        if all(row[2] == 0 for row in table.rows):
            table = table.without("lower")
        return [table] + [self._heat_table(e) for e in self.metrics if self.heat_tables]

    def to_csv_table(self) -> Table:
        """One row per range of differences, its lower end included where it is always 0."""
        digits = min(4, decimals(min(entry.curve[-1].upper for entry in self.metrics)))
        columns = (
            *("metric", Column("which", "pairs"), Column("lower", "from", digits=digits)),
            *(Column("upper", "up to", digits=digits), Column("pairs", "number"), "agreed"),
            *(Column("disagreed", "not"), "tied", Column("tau", "τ-b", signed=True)),
        )
        rows = []
        for entry in self.metrics:
            named = {"given": entry.bounds} if entry.bounds else {}
            for i, c in enumerate(entry.curve, 1):
                named[f"{100 * i // len(entry.curve)} %"] = c
            for which, c in named.items():
                tied = c.tied_metric + c.tied_human + c.tied_both
                upper = "any" if isinf(c.upper) else c.upper
                rows.append(
                    row(c, metric=entry.metric, which=which, upper=upper, tied=tied, tau=c.tau)
                )
        title = "r_SYSΔ: Kendall's τ over pairs that are this close in the metric"
        return Table.of(title, columns, rows, self._notes())

    def _heat_table(self, entry: MetricDelta) -> Table:
        shares = [f"{100 * (i + 1) // len(entry.heat)} %" for i in range(len(entry.heat))]
        columns = (Column("from"), *(Column(s, digits=2) for s in shares))
        rows = [
            (start, *(None if c is None or self.masked(c) else c.tau for c in cells))
            for start, cells in zip(["0 %", *shares[:-1]], entry.heat, strict=True)
        ]
        note = f"Cells with fewer than {counted(self.min_pairs, 'pair')} are left empty."
        title = f"{entry.metric}: τ-b from one share of the pairs (row) to another (column)"
        return Table(title, columns, tuple(rows), (note,))

    def _notes(self) -> tuple[str, ...]:
        used = {entry.metric: entry.sides.describe() for entry in self.metrics}
        alike = len(set(used.values())) == 1
        notes = [text if alike else f"{metric}: {text}" for metric, text in used.items()]
        return (*dict.fromkeys(notes), f"Signature: {self.signature}")

    def to_json(self) -> dict[str, Any]:
        """Every number with its pairs; the heat map's cells say whether they are masked."""
        found = record(self)
        for entry in found["metrics"]:
            for cell in chain(*entry["heat"]):
                if cell:
                    cell["masked"] = cell["pairs"] < self.min_pairs
        return found


def delta(
    scores: Any,
    human: str | Sequence[str] = "human",
    *,
    metrics: str | Sequence[str] | None = None,
    bounds: tuple[float, float] | None = None,
    full: Any = None,
    buckets: int = 10,
    rule: ShareRule = "paper",
    min_pairs: int = 5,
    scale: float = 1.0,
    heat_tables: bool = False,
) -> DeltaResult:
    """r_SYSΔ(ℓ, u): τ-b over the pairs of systems whose scores differ by ℓ to u (DDR22 §4.2).

    Computed for the bounds given, for the closest 10, 20 … 100 % of the pairs (Fig. 6) and for
    every range of tenths (Fig. 10, 11). The interval is closed; 0/0 is NaN.

    Args:
        scores: A `ScoreTable`, a path, several paths, or a long pandas frame, with people's scores.
        human: The human score; several names mean the mean of several raters.
        metrics: Names or patterns; None for all others.
        bounds: (ℓ, u), in the metric's own units times `scale`.
        full: A table with the metric's scores on the whole test set (DDR22 §3): the metric's
            averages are taken from it, human ones from `scores`.
        buckets: How many shares the curve and the heat map have.
        rule: How pairs are divided; see `SystemPairs.ends`. With ``"authors"`` a row of the
            heat map also begins with the last pair of the previous share, as in their code; their 0
            if no pair is ordered by both sides is NaN here.
        min_pairs: Heat map cells with fewer pairs are masked (the authors': 5).
        scale: The metric's scores are multiplied by this: 100 turns a table of 0-1 into points.
        heat_tables: Whether `to_tables` has the heat maps.

    Raises:
        InputError: An unknown name, bounds that are not an interval, or nothing scored by both
            sides.

    Example:
        >>> from litepyramid.io.scores import read_scores
        >>> rows = [{"system": s, "input": 1, "metric": m, "score": v}
        ...         for m, values in {"rouge": [1, 4, 2], "human": [1, 2, 3]}.items()
        ...         for s, v in zip("abc", values)]
        >>> result = delta(read_scores(rows), bounds=(0, 1))
        >>> result.metrics[0].bounds.tau, round(result.metrics[0].overall.tau, 3)
        (1.0, 0.333)
    """
    found = []
    every, hashes = sides_of(scores, human, metrics=metrics, full=full, scale=scale)
    for sides in every:
        pairs = sides.pairs()
        ends = pairs.ends(buckets, rule)
        # The authors' row begins with the pair before its bucket; an empty bucket begins nowhere.
        strict = rule == "authors"
        begins = [a - strict for a in ends[:-1]]
        lows = [0.0, *(float(pairs.gaps[a]) if a < len(pairs) else inf for a in begins)]
        highs = [float(pairs.gaps[b - 1]) for b in ends]
        found.append(
            MetricDelta(
                metric=sides.metric,
                sides=sides,
                overall=pairs.count(),
                bounds=None if bounds is None else pairs.count(float(bounds[0]), float(bounds[1])),
                curve=tuple(pairs.count(0.0, high) for high in highs),
                heat=tuple(
                    tuple(
                        pairs.count(low, high)
                        if j >= i and (i == 0 or low < high or (low == high and not strict))
                        else None
                        for j, high in enumerate(highs)
                    )
                    for i, low in enumerate(lows)
                ),
            )
        )
    signature = Signature.of(
        human=every[0].human,
        coefficient="kendall",
        rule=rule,
        buckets=buckets,
        bounds=None if bounds is None else f"{bounds[0]:g}-{bounds[1]:g}",
        scale=None if scale == 1 else f"{scale:g}",
        **hashes,
    )
    return DeltaResult(tuple(found), every[0].human, min_pairs, signature, heat_tables)
