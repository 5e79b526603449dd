"""How well metrics order systems that are close (DDR22 §4)."""

from dataclasses import dataclass
from math import inf, isinf
from typing import Any, Unpack

from litepyramid.data.score_tables import read_scores
from litepyramid.meta.alignment import (
    Judged,
    align_each,
    aligned_notes,
    check_number,
    signature_of,
)
from litepyramid.meta.system_pairs import (
    SHARES,
    PairCounts,
    ShareRule,
    SystemPairs,
    decimals,
)
from litepyramid.tables import Column, Result, Table, row
from litepyramid.types import FullSources, HumanLike, ScoresLike, Signature


@dataclass(frozen=True)
class MetricDelta:
    """r_SYSΔ of one metric: of the pairs within the bounds, and of the closest 10, 20 …
    100 %."""

    metric: str
    sides: Judged
    bounds: PairCounts | None
    curve: tuple[PairCounts, ...]


@dataclass(frozen=True)
class DeltaResult(Result):
    """r_SYSΔ of several metrics against one human score."""

    metrics: tuple[MetricDelta, ...]
    human: str
    signature: Signature

    def to_tables(self) -> list[Table]:
        """The given bounds and the curve of every metric: one row per range of
        differences."""
        digits = decimals(min(entry.curve[-1].upper for entry in self.metrics))
        columns = (
            "metric",
            Column("which", "pairs"),
            Column("lower", "from", digits=digits),
            Column("upper", "up to", digits=digits),
            Column("pairs", "number"),
            "agreed",
            Column("disagreed", "not"),
            "tied",
            Column("tau", "τ-b", signed=True),
        )

        rows = []
        for entry in self.metrics:
            ranges = [("given", entry.bounds)] if entry.bounds else []
            for i, counts in enumerate(entry.curve, start=1):
                ranges.append((f"{100 * i // SHARES} %", counts))

            for which, counts in ranges:
                shown = row(
                    counts,
                    metric=entry.metric,
                    which=which,
                    tied=counts.tied_metric + counts.tied_human + counts.tied_both,
                )
                if isinf(counts.upper):
                    shown["upper"] = "any"
                rows.append(shown)

        title = "r_SYSΔ: Kendall's τ over pairs that are this close in the metric"
        sides = [entry.sides for entry in self.metrics]
        return [Table.of(title, columns, rows, aligned_notes(sides, self.signature))]

    def to_figure(self) -> Any:
        """τ-b over the closest tenths of the pairs, a line per metric (DDR22 Fig.
        6)."""
        from litepyramid.figures.meta_plots import Line, line_plot

        shares = [100 * i // SHARES for i in range(1, SHARES + 1)]
        lines = []
        for entry in self.metrics:
            taus = [counts.tau for counts in entry.curve]
            lines.append(Line(entry.metric, shares, taus))
        return line_plot(
            lines, "closest pairs of systems, %", f"Kendall's τ-b with {self.human}"
        )


def delta(
    scores: ScoresLike,
    human: HumanLike | None = None,
    *,
    lower: float = 0.0,
    upper: float | None = None,
    rule: ShareRule = "paper",
    **sources: Unpack[FullSources],
) -> DeltaResult:
    """Correlate metrics with human scores over pairs of systems with close scores.

    r_SYSΔ(ℓ, u) is Kendall's τ-b over the pairs of systems whose average scores differ
    by ℓ to u by the metric (Deutsch, Dror & Roth 2022, section 4): for given bounds,
    and for the closest 10, 20 … 100 % of the pairs. The interval is closed; 0/0 is NaN.

    Args:
        scores: Tables of scores, with people's; not changed.
        human: The human score; "human" if neither this nor the table says which.
        lower: The smallest difference of a pair, in the metric's units.
        upper: The largest; without it and `lower` only shares of the pairs are shown.
        rule: paper: tenths of all pairs, rounded up; authors: as in the authors' code.
        **sources: What belongs to the scores, as of `read_scores`: metrics, columns;
            full, from which the metrics' averages are then taken.

    Raises:
        InputError: An unknown name, bounds that are no interval, or nothing scored by
            both sides.

    Example:
        >>> entry = delta([1, 4, 2], [1, 2, 3], upper=1).metrics[0]
        >>> entry.bounds.tau, round(entry.curve[-1].tau, 3)
        (1.0, 0.333)

    Command line:
        $ litepyramid meta delta table.csv --upper 0.05
        $ litepyramid meta delta table.csv --metric rouge -o delta.pdf
    """
    check_number("lower", lower)
    if upper is not None:
        check_number("upper", upper)
    bounded = upper is not None or lower > 0
    table = read_scores(scores, human, **sources)
    every = align_each(table)

    entries = []
    for sides in every:
        pairs = SystemPairs.of(sides.scores, sides.Z)
        bounds = None
        if bounded:
            bounds = pairs.count(lower, inf if upper is None else upper)

        curve = []
        for end in pairs.ends(rule):
            curve.append(pairs.count(0.0, float(pairs.gaps[end - 1])))
        entries.append(MetricDelta(sides.metrics[0], sides, bounds, tuple(curve)))

    signature = signature_of(
        table,
        every,
        [("system", "kendall")],
        rule=rule,
        lower=f"{lower:g}",
        upper=None if upper is None else f"{upper:g}",
    )
    return DeltaResult(tuple(entries), every[0].human, signature)
