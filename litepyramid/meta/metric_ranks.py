"""Metrics in clusters that do not differ significantly, as WMT ranks them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from litepyramid.data.score_tables import read_scores
from litepyramid.errors import InputError
from litepyramid.meta.alignment import LeftOut, align
from litepyramid.meta.comparisons import compare
from litepyramid.meta.core.bootstrap import bootstrap_samples
from litepyramid.meta.core.levels import (
    SYMBOLS,
    Coefficient,
    Level,
    best_first,
    kinds,
)
from litepyramid.meta.intervals import in_words
from litepyramid.progress import track
from litepyramid.stats import check_samples, percentile_interval
from litepyramid.tables import Column, Result, Table
from litepyramid.types import HumanLike, ScoresLike, ScoreSources, Signature


@dataclass(frozen=True)
class RankedMetric:
    """The rank of a metric's cluster (the best is 1; None without a correlation), and
    its correlation with an interval."""

    rank: int | None
    metric: str
    value: float
    low: float
    high: float


@dataclass(frozen=True)
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
            "rank",
            "metric",
            Column("value", symbol),
            Column("low", f"{100 * self.confidence:g} % low"),
            "high",
        )
        notes = [
            "A metric starts a new rank if the best of the rank above is "
            f"significantly better (α = {1 - self.confidence:g})."
        ]
        if self.left_out:
            notes.append(f"Left out, not scored by all: {self.left_out}.")
        title = f"Ranks by {self.level} level {symbol} with {self.human}"

        return [Table.of(title, columns, self.ranks, (*notes, str(self.signature)))]

    def to_figure(self) -> Any:
        """A line per metric, best first, with its interval, rank by rank."""
        from litepyramid.figures.meta_plots import IntervalMark, rank_plot

        marks = []
        for m in self.ranks:
            marks.append(IntervalMark(m.metric, "", m.value, m.low, m.high))
        heading = f"{100 * self.confidence:g} % intervals, ranks by significance"
        xlabel = f"{in_words(self.level, self.coefficient)} with {self.human}"
        return rank_plot(marks, [m.rank for m in self.ranks], xlabel, heading)


def clusters(p_values: Any, values: Any, alpha: float) -> list[int | None]:
    """The rank of each metric's cluster, as WMT's metrics tasks give them.

    From the best metric down, a metric opens a new cluster if the first of the current
    one is significantly better: by (K, K) p-values, row over column, and (K,)
    correlations. None for one without a correlation.
    """
    p = np.asarray(p_values)
    order = best_first(values).tolist()
    ranks: list[int | None] = [None] * len(order)
    rank = 1
    first = order[0]  # the best metric of the current rank
    for metric in order:
        # Against the best of the rank, not the neighbour: a chain of small steps from
        # good to bad is no tie.
        if p[first, metric] <= alpha:
            rank += 1
            first = metric
        if not np.isnan(values[metric]):
            ranks[metric] = rank
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
        >>> rows = [{"system": s, "input": i, "rouge": s * 7 % 10,
        ...          "bleu": (s * 7 + i) % 10, "human": (s * 7 + 2 * i) % 10}
        ...         for s in range(8) for i in range(9)]
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

    check_samples(samples, seed=seed, confidence=confidence)
    table = read_scores(scores, human, **sources)
    # WMT's clusters take each test as it is, without a correction for their number.
    tests = compare(
        table,
        level=level,
        coefficient=coefficient,
        seed=seed,
        confidence=confidence,
        correction="none",
    )
    (tested,) = tests.comparisons
    numbers = clusters(tested.p_values, tested.correlations, tests.alpha)
    # Intervals are of the cells that all metrics share, as correlations and tests are.
    shared = align(table)

    ranks = []
    order = best_first(tested.correlations).tolist()
    for i in track(order, "resampling", "metrics"):
        drawn = bootstrap_samples(
            shared.values[i],
            shared.Z,
            level,
            coefficient,
            samples=samples,
            seed=seed,
        )
        value = float(tested.correlations[i])
        ends = percentile_interval(drawn, confidence)
        ranks.append(RankedMetric(numbers[i], shared.metrics[i], value, *ends))

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
