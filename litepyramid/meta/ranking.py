"""Metrics ranked into clusters that do not differ significantly, over one data set or several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.errors import InputError
from litepyramid.meta.alignment import check_draws, score_table, select_metrics
from litepyramid.meta.comparisons import compare
from litepyramid.meta.core.coefficients import Coefficient, best_first
from litepyramid.meta.core.levels import Level, kinds, several
from litepyramid.meta.correlations import SYMBOLS
from litepyramid.meta.intervals import interval
from litepyramid.stats import Correction
from litepyramid.tables import Column, Result, Table
from litepyramid.text import counted
from litepyramid.types import ScoresLike, ScoreTable, Signature


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
            rows = [one for one in self.ranks if one.dataset == name]
            tables.append(Table.of(f"{name}: {self.level} level {symbol}", columns, rows))
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
    scores: ScoresLike,
    human: str | Sequence[str] = "human",
    *,
    metrics: str | Sequence[str] | None = None,
    level: Level | None = None,
    coefficient: Coefficient = "kendall",
    samples: int = 1000,
    seed: int = 12345,
    confidence: float = 0.95,
    correction: Correction = "none",
    **sources: Any,
) -> RankResult:
    """Rank metrics by their correlation with human scores, in clusters that do not differ.

    As in WMT's metrics tasks: from the best metric down, a new rank begins where the best metric
    of the rank above is significantly better. Metrics are compared by perm-both and get boot-both
    intervals. Over several data sets, a metric's average rank and the macro average of its
    correlations are those over the data sets that have it.

    Args:
        scores: Tables of scores; several data sets as NAME=FILE, or as a dict of tables by name.
        human: The human score: names or patterns of raters; each data set has some of them.
        metrics: Names or patterns; all others if none is named.
        level: The coefficient's own level if it has one, else system, unless another is named.
        coefficient: The coefficient, spa and acc-eq too.
        samples: Bootstrap samples of intervals; tests take what they need.
        seed: Seed of all draws.
        confidence: Confidence level of intervals; tests are at the level 1 - confidence.
        correction: For the tests of one metric; WMT uses none.
        **sources: ``columns`` of `read_scores`.

    Returns:
        Ranks data set by data set, and over all.

    Raises:
        InputError: As for `compare` and `interval`; or a data set has none of the human scores.

    Example:
        >>> rows = [{"system": s, "input": i, "metric": m, "score": (s * 7 + i * n) % 10}
        ...         for s in range(8) for i in range(9)
        ...         for n, m in enumerate(("rouge", "bleu", "human"))]
        >>> [(one.rank, one.metric) for one in rank(rows, samples=100).ranks]
        [(1, 'bleu'), (1, 'rouge')]

    Command line:
        $ litepyramid meta rank table.csv --coefficient spa --samples 1000
        $ litepyramid meta rank news=news.csv chat=chat.csv --level summary
    """
    if level is None:
        level = "summary" if coefficient == "acc-eq" else "system"
    kinds(level, coefficient)
    check_draws(samples, seed, confidence)
    raters = several(human, "the human score")
    patterns = None if metrics is None else several(metrics, "the metric")
    common: dict[str, Any] = {
        "level": level, "coefficient": coefficient, "seed": seed, "confidence": confidence,
    }  # fmt: skip
    ranks: list[RankedMetric] = []
    hashes = []
    for name, source in sorted(_data_sets(scores).items()):
        table = score_table(source, **sources)
        people = _matching(raters, table)
        if not people:
            raise InputError(f"no human score in {name}", expected=" or ".join(raters))
        common["metrics"] = None if patterns is None else _matching(patterns, table)
        if common["metrics"] == []:
            raise InputError(
                f"no metric '{', '.join(patterns or ())}' in {name}",
                expected=f"one of {', '.join(table.metrics)}",
            )
        tests = compare(table, people, correction=correction, **common)
        intervals = interval(table, people, samples=samples, **common)
        ends = {one.metric: one for one in intervals.intervals}
        level_tests = tests.comparisons[0]
        numbers = clusters(level_tests.corrected, level_tests.correlations, tests.alpha)
        rows = [
            RankedMetric(name, metric, number, float(value), ends[metric].low, ends[metric].high)
            for metric, number, value in zip(
                tests.metrics, numbers, level_tests.correlations, strict=True
            )
        ]
        ranks += sorted(rows, key=lambda one: (one.rank, -one.value))
        hashes.append(tests.signature.to_json()["scores_sha"])
    overall = []
    for metric in dict.fromkeys(one.metric for one in ranks):
        mine = [one for one in ranks if one.metric == metric]
        means = np.mean([one.rank for one in mine]), np.mean([one.value for one in mine])
        overall.append(OverallRank(metric, len(mine), *map(float, means)))
    overall.sort(key=lambda one: (one.average_rank, -one.macro_average))
    signature = Signature.of(
        datasets="+".join(dict.fromkeys(one.dataset for one in ranks)), human="+".join(raters),
        level=level, coefficient=coefficient, test="perm-both", interval="boot-both",
        confidence=confidence, samples=samples, seed=seed, correction=correction,
        scores_sha="+".join(hashes),
    )  # fmt: skip
    return RankResult(
        level, coefficient, confidence, tests.alpha, tuple(ranks), tuple(overall), signature
    )


def _data_sets(scores: Any) -> Mapping[str, Any]:
    """Tables by the name of their data set: a mapping, or texts of the form NAME=FILE."""
    if isinstance(scores, Mapping):
        if not scores:
            raise InputError("no data set", expected="at least one")
        return {str(name): source for name, source in scores.items()}
    files = [scores] if isinstance(scores, str) else scores
    if isinstance(files, list | tuple) and files:
        pairs = [str(f).partition("=") for f in files if isinstance(f, str | Path)]
        if len(pairs) == len(files) and all(name and path for name, _, path in pairs):
            return {name: path for name, _, path in pairs}
    return {"scores": scores}


def _matching(patterns: Sequence[str], table: ScoreTable) -> list[str]:
    """The names and patterns that mean some metric of the table."""
    matching = []
    for pattern in patterns:
        with suppress(InputError):
            select_metrics(table, pattern)
            matching.append(pattern)
    return matching
