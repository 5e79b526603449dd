"""What a comparison of metrics over scoring ranges gives (P19)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from litepyramid.meta.ranges.curves import (
    DisagreementCurve,
    RangePoint,
    Rule,
)
from litepyramid.tables import Column, Result, Table, row
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
        better_metrics: The metrics used for F/N.
        agreement: τ of every pair of metrics on every range that the table has.
        disagreement: The curve of every pair of metrics; opposite orders against average score.
        better: F/N (eq. 1) against the normalised average score.
        unbeaten: Summaries sampled for eq. 1 that no other beats on any metric (0/0).
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
    unbeaten: int
    topics: int
    dropped: tuple[str, ...]
    above: float
    rule: Rule
    signature: Signature

    def to_tables(self) -> list[Table]:
        """Agreement by range, then the two curves."""
        first = self.to_csv_table()
        notes = [
            f"{counted(self.topics, 'topic')}, with the number of summaries in the last column; "
            f"{100 * self.above:.0f} % of the whole range is top."
        ]
        if self.dropped:
            notes.append(f"Left out, too few summaries: {', '.join(self.dropped)}.")
        undefined = any(a.undefined for a in self.agreement)
        columns = [c for c in first.columns if c.name != "undefined" or undefined]
        beaten = "is beaten" if self.unbeaten == 1 else "are beaten"
        text = self.rule == "text"
        return [
            Table.of(first.title, columns, self._agreement(), notes),
            Table.of(
                "Share of summaries better on one metric that are better on all (eq. 1), by score",
                ("score", Column("value", "F/N"), Column("deviation", "sd"), "number"),
                [row(p, score=_step(p)) for p in self.better],
                (
                    f"Metrics: {', '.join(self.better_metrics)}.",
                    f"{self.unbeaten} of the sampled summaries {beaten} by no other on any metric: "
                    "no F/N.",
                ),
            ),
            Table.of(
                "Pairs of summaries that two metrics order differently, by score",
                (
                    *(Column("one", "metric"), Column("other", "and"), "score"),
                    *(Column("value", "opposite"), Column("number", "pairs")),
                ),
                [
                    row(p, one=c.one, other=c.other, score=_step(p))
                    for c in self.disagreement
                    for p in c.points
                ],
                (
                    "Scores: averages over the metrics, each from 0 to 1 within its topic."
                    if text
                    else "Scores: averages over the pair by the first metric, without rescaling.",
                    f"Signature: {self.signature}",
                ),
            ),
        ]

    def to_csv_table(self) -> Table:
        """Agreement by range, one row per pair of metrics and range."""
        columns = (
            *(Column("one", "metric"), Column("other", "and"), "range"),
            *(Column("tau", "τ-b", signed=True), "topics", Column("undefined", "no τ")),
            Column("summaries", "each", digits=0),
        )
        return Table.of("Agreement between metrics", columns, self._agreement())

    def _agreement(self) -> list[RangeAgreement]:
        return sorted(self.agreement, key=lambda a: (a.one, a.other))


def _step(point: RangePoint) -> str:
    return f"{point.low:z.2f} to {point.high:z.2f}"
