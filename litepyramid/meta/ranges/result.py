"""What a comparison of metrics over scoring ranges gives (P19)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from litepyramid.meta.ranges.curves import (
    DisagreementCurve,
    RangePoint,
    Rule,
)
from litepyramid.tables import Cell, Column, Result, Table
from litepyramid.text import counted
from litepyramid.types import Signature

Top = Literal["baseline", "best", "human"]
RangeName = Literal["judged", "whole", "top"]


@dataclass(frozen=True, slots=True)
class RangeAgreement:
    """Kendall's τ-b between two metrics on the summaries of one range, averaged over topics.

    Attributes:
        range: ``judged`` (P19's A), ``whole`` (W) or ``top`` (T).
        one: A metric.
        other: Another one.
        tau: Mean over the topics that have a τ; NaN if none has.
        topics: How many have.
        undefined: Topics with fewer than two such summaries, or all tied for one metric.
        summaries: Mean number of summaries a topic.
    """

    range: RangeName
    one: str
    other: str
    tau: float
    topics: int
    undefined: int
    summaries: float


@dataclass(frozen=True)
class ScoringRangeResult(Result):
    """Agreement between metrics by scoring range.

    Attributes:
        metrics: The metrics compared.
        better_metrics: Those that F/N is over.
        agreement: τ of every pair of metrics on every range that the table has.
        disagreement: The curve of every pair of metrics; opposite orders against average score.
        better: F/N (eq. 1) against the normalised average score.
        best: Summaries that were drawn for eq. 1 and that none beats on any metric (0/0).
        topics: How many topics were used.
        dropped: Topics with too few summaries.
        above: Share of the whole range's summaries that are in the top range.
        rule: ``"text"`` or ``"code"``.
        signature: Names everything that the numbers depend on.
    """

    metrics: tuple[str, ...]
    better_metrics: tuple[str, ...]
    agreement: tuple[RangeAgreement, ...]
    disagreement: tuple[DisagreementCurve, ...]
    better: tuple[RangePoint, ...]
    best: int
    topics: int
    dropped: tuple[str, ...]
    above: float
    rule: Rule
    signature: Signature

    def to_tables(self) -> list[Table]:
        """Agreement by range, then the two curves."""
        first_table = self.to_csv_table()
        notes = [
            f"{counted(self.topics, 'topic')}, with so many summaries each; "
            f"{100 * self.above:.0f} % of the whole range is top."
        ]
        if self.dropped:
            notes.append(f"Left out, too few summaries: {', '.join(self.dropped)}.")
        undefined = any(a.undefined for a in self.agreement)
        kept = [i for i, c in enumerate(first_table.columns) if c.name != "undefined" or undefined]
        first = Table(
            first_table.title,
            tuple(first_table.columns[i] for i in kept),
            tuple(tuple(row[i] for i in kept) for row in first_table.rows),
            tuple(notes),
        )
        curve: list[tuple[Cell, ...]] = [
            (_step(p), p.value, p.deviation, p.number) for p in self.better
        ]
        columns: tuple[Column, ...] = (
            Column("score"),
            Column("fn", "F/N"),
            Column("deviation", "sd"),
            Column("number"),
        )
        beaten = "is beaten" if self.best == 1 else "are beaten"
        note = f"{self.best} of the summaries drawn {beaten} by none on any metric: no F/N."
        second = Table(
            "Of the summaries better on one metric, the share better on all (eq. 1), by score",
            columns,
            tuple(curve),
            (f"Metrics: {', '.join(self.better_metrics)}.", note),
        )
        opposite: list[tuple[Cell, ...]] = [
            (c.one, c.other, _step(p), p.value, p.number)
            for c in self.disagreement
            for p in c.points
        ]
        columns = (
            Column("one", "metric"),
            Column("other", "and"),
            Column("score"),
            Column("opposite"),
            Column("pairs"),
        )
        third = Table(
            "Pairs of summaries that two metrics put in opposite orders, by their score",
            columns,
            tuple(opposite),
            (
                "Scores: averages over the metrics, each from 0 to 1 within its topic."
                if self.rule == "text"
                else "Scores: averages over the pair by the first metric, as they are.",
                f"Signature: {self.signature}",
            ),
        )
        return [first, second, third]

    def to_csv_table(self) -> Table:
        """Agreement by range, one row a pair of metrics and range."""
        rows: list[tuple[Cell, ...]] = [
            (a.one, a.other, a.range, a.tau, a.topics, a.undefined, a.summaries)
            for a in sorted(self.agreement, key=lambda a: (a.one, a.other))
        ]
        columns = (
            Column("one", "metric"),
            Column("other", "and"),
            Column("range"),
            Column("tau", "τ-b", signed=True),
            Column("topics"),
            Column("undefined", "no τ"),
            Column("summaries", "each", digits=0),
        )
        return Table("Agreement between metrics", columns, tuple(rows))

    def to_json(self) -> dict[str, Any]:
        """Every number."""
        return {
            "metrics": list(self.metrics),
            "better_metrics": list(self.better_metrics),
            "agreement": [asdict(a) for a in self.agreement],
            "disagreement": [asdict(c) for c in self.disagreement],
            "better": [asdict(p) for p in self.better],
            "unbeaten": self.best,
            "topics": self.topics,
            "dropped": list(self.dropped),
            "above": self.above,
            "signature": self.signature.to_json(),
        }


def _step(point: RangePoint) -> str:
    return f"{point.low:z.2f} to {point.high:z.2f}"
