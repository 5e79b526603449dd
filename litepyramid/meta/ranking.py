"""Metrics ranked into clusters that do not differ significantly, over one data set or several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from litepyramid.errors import InputError
from litepyramid.io.scores import read_scores
from litepyramid.meta.alignment import select_metrics
from litepyramid.meta.comparisons import compare
from litepyramid.meta.core.coefficients import PAIRED, Coefficient, best_first
from litepyramid.meta.core.levels import Level, several
from litepyramid.meta.correlations import SYMBOLS
from litepyramid.meta.intervals import interval
from litepyramid.stats import Correction
from litepyramid.tables import Column, Result, Table
from litepyramid.text import counted
from litepyramid.types import ScoreTable, Signature


@dataclass(frozen=True, slots=True)
class RankedMetric:
    """One metric on one data set.

    Attributes:
        dataset: The data set.
        metric: The metric.
        rank: Of its cluster, the best is 1.
        value: Its correlation with the human score.
        low: Lower end of the interval.
        high: Upper end.
    """

    dataset: str
    metric: str
    rank: int
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class OverallRank:
    """One metric over the data sets that have it.

    Attributes:
        metric: The metric.
        datasets: How many have it.
        average_rank: The mean of its clusters' ranks.
        macro_average: The mean of its correlations.
    """

    metric: str
    datasets: int
    average_rank: float
    macro_average: float


@dataclass(frozen=True, slots=True)
class RankResult(Result):
    """Metrics by rank.

    Attributes:
        level: ``"system"``, ``"summary"`` or ``"global"``.
        coefficient: The coefficient.
        confidence: Confidence level of the intervals.
        alpha: Significance level.
        ranks: Data set by data set, the best metric first.
        overall: The best average rank first.
        signature: Everything that another person needs to get the same numbers.
    """

    level: Level
    coefficient: Coefficient
    confidence: float
    alpha: float
    ranks: tuple[RankedMetric, ...]
    overall: tuple[OverallRank, ...]
    signature: Signature

    def to_tables(self) -> Sequence[Table]:
        """One table per data set; if there are several, one over all."""
        symbol, percent = SYMBOLS[self.coefficient], f"{100 * self.confidence:g} %"
        columns = (
            "rank",
            "metric",
            Column("value", symbol),
            Column("low", f"{percent} low"),
            "high",
        )
        tables = []
        for name in dict.fromkeys(one.dataset for one in self.ranks):
            own = [one for one in self.ranks if one.dataset == name]
            tables.append(Table.of(f"{name}: {self.level} level {symbol}", columns, own))
        if len(tables) > 1:
            heads = [Column(name, name.replace("_", " ")) for name in OverallRank.__slots__]
            heads[1] = Column("datasets", "data sets")
            tables.append(Table.of(f"Over {counted(len(tables), 'data set')}", heads, self.overall))
        note = (
            "A metric starts a new rank if the best of the rank above is significantly better "
            f"(α = {self.alpha:g})."
        )
        tables[-1] = replace(tables[-1], notes=(note, str(self.signature)))
        return tables

    def to_csv_table(self) -> Table:
        """One row per data set and metric."""
        return Table.of("", RankedMetric.__slots__, self.ranks)


def clusters(p_values: Any, values: Any, alpha: float) -> list[int]:
    """The rank of each metric's cluster, as WMT's metrics tasks give them.

    From the best metric down, a metric opens a new cluster if the first of the current one is
    significantly better; its rank is one more.

    Args:
        p_values: (K, K) of H0: the row's metric is not better than the column's.
        values: (K,) correlations; NaN comes last.
        alpha: Significance level.

    Example:
        >>> p = [[1, 0.2, 0.01], [0.8, 1, 0.3], [0.99, 0.7, 1]]
        >>> clusters(p, [0.9, 0.8, 0.7], 0.05)
        [1, 1, 2]
    """
    p, order = np.asarray(p_values), best_first(values).tolist()
    first, ranks = order[0], [1] * len(order)
    for before, one in pairwise(order):
        opens = p[first, one] <= alpha
        ranks[one] = ranks[before] + int(opens)
        first = one if opens else first
    return ranks


def rank(
    scores: Any,
    human: str | Sequence[str] = "human",
    *,
    metrics: str | Sequence[str] | None = None,
    level: Level | None = None,
    coefficient: Coefficient = "kendall",
    samples: int = 1000,
    seed: int = 12345,
    confidence: float = 0.95,
    alpha: float = 0.05,
    correction: Correction = "none",
) -> RankResult:
    """Ranks metrics by their correlation with human scores, in clusters that do not differ (WMT).

    On each data set the metrics are compared by ``perm-both`` and given ``boot-both`` intervals.
    Over several, a metric's average rank and the macro average of its correlations are those over
    the data sets that have it.

    Args:
        scores: A table (or a source of one), or a mapping from data sets' names to tables.
        human: The human score: names or patterns of raters; each data set has some of them.
        metrics: Names or patterns; None for all others.
        level: ``"system"``, ``"summary"`` or ``"global"``; None for the coefficient's own, else
            ``"system"``.
        coefficient: The coefficient, ``"spa"`` and ``"acc-eq"`` too.
        samples: Bootstrap samples of intervals; tests take what they need.
        seed: Seed of all draws.
        confidence: Confidence level of the intervals.
        alpha: Significance level.
        correction: For the tests of one metric; WMT uses none.

    Raises:
        InputError: As for `compare` and `interval`; or a data set has none of the human scores.
    """
    level = level or ("summary" if PAIRED.get(coefficient) == "summary" else "system")
    sets = scores if isinstance(scores, Mapping) else {"scores": scores}
    wanted = several(human)
    found: list[RankedMetric] = []
    said: dict[str, Any] = {"level": level, "coefficient": coefficient}
    for name, given in sets.items():
        table = read_scores(given)
        raters = _known(wanted, table)
        if not raters:
            raise InputError(f"no human score in {name}", expected=" or ".join(wanted))
        common: dict[str, Any] = {
            **said, "seed": seed, "metrics": _known(several(metrics or ()), table) or None,
        }  # fmt: skip
        tests = compare(table, raters, alpha=alpha, correction=correction, **common)
        made = interval(table, raters, samples=samples, confidence=confidence, **common)
        ends = {one.metric: one for one in made.intervals}
        only = tests.comparisons[0]
        ranks = clusters(only.corrected, only.correlations, alpha)
        rows = [
            RankedMetric(name, metric, place, float(value), ends[metric].low, ends[metric].high)
            for metric, place, value in zip(tests.metrics, ranks, only.correlations, strict=True)
        ]
        found += sorted(rows, key=lambda one: (one.rank, -one.value))
    overall = []
    for metric in dict.fromkeys(one.metric for one in found):
        places, values = zip(*((o.rank, o.value) for o in found if o.metric == metric), strict=True)
        means = float(np.mean(places)), float(np.mean(values))
        overall.append(OverallRank(metric, len(places), *means))
    overall.sort(key=lambda one: (one.average_rank, -one.macro_average))
    signature = Signature.of(
        datasets="+".join(sets), human="+".join(wanted), **said, test="perm-both",
        interval="boot-both", confidence=confidence, samples=samples, seed=seed, alpha=alpha,
        correction=correction,
    )  # fmt: skip
    return RankResult(
        level, coefficient, confidence, alpha, tuple(found), tuple(overall), signature
    )


def _known(patterns: Sequence[str], table: ScoreTable) -> list[str]:
    """The names and patterns that mean some metric of the table."""
    known = []
    for pattern in patterns:
        with suppress(InputError):
            select_metrics(table, pattern)
            known.append(pattern)
    return known
