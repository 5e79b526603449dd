"""Whether metrics agree with each other where summaries are good (P19)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import isnan
from typing import Any, Literal, Unpack

import numpy as np

from litepyramid.data.score_tables import read_scores
from litepyramid.data.scores import Scores
from litepyramid.errors import InputError, choose, no_effect
from litepyramid.meta.alignment import (
    PEOPLE,
    human_score,
    scores_sha,
)
from litepyramid.meta.core.draws import piece_generator
from litepyramid.meta.core.levels import best_first, correlate_rows
from litepyramid.meta.core.range_curves import (
    RangePoint,
    Rule,
    better,
    opposite_orders,
)
from litepyramid.stats import check_samples, check_whole, described
from litepyramid.tables import Column, Result, Table, row
from litepyramid.text import counted
from litepyramid.types import (
    FloatArray,
    HumanLike,
    Names,
    ScoresLike,
    ScoreSources,
    Signature,
)

RangeName = Literal["judged", "whole", "top"]
_CODE_SMALLEST = 20
_PAIRS = 20  # pairs of summaries drawn for each summary drawn: 100,000 and 5,000 in P19


@dataclass(frozen=True)
class DisagreementCurve:
    """Share of pairs of summaries that two metrics put in opposite orders (P19 Fig.
    2)."""

    one: str
    other: str
    points: tuple[RangePoint, ...]


@dataclass(frozen=True)
class RangeAgreement:
    """Kendall's τ-b between two metrics on the summaries of one range, averaged over
    topics.

    `undefined` topics have fewer than two such summaries, or all tied for one metric;
    `summaries` is their mean number a topic.
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

    `agreement` is τ of every pair of metrics on every range that the table has,
    `disagreement` their opposite orders, `better` F/N (eq. 1) of `better_metrics`,
    against the average score. `unbeaten` sampled summaries are beaten by no other on
    any metric (0/0); `dropped` topics have too few summaries; `above` is the share of
    the whole range's summaries in the top range.
    """

    metrics: Names
    better_metrics: Names
    agreement: tuple[RangeAgreement, ...]
    disagreement: tuple[DisagreementCurve, ...]
    better: tuple[RangePoint, ...]
    unbeaten: int
    topics: int
    dropped: Names
    above: float
    rule: Rule
    signature: Signature

    def to_tables(self) -> list[Table]:
        """Agreement by range, then the two curves."""
        notes = [
            f"{counted(self.topics, 'topic')}, with the number of summaries in the "
            f"last column; {100 * self.above:.0f} % of the whole range is top."
        ]
        if self.dropped:
            notes.append(f"Left out, too few summaries: {', '.join(self.dropped)}.")
        agreement = replace(self.to_csv_table(), notes=tuple(notes))
        if not any(a.undefined for a in self.agreement):
            agreement = agreement.without("undefined")

        better = Table.of(
            "Share of summaries better on one metric that are better on all (eq. 1), "
            "by score",
            ("score", Column("value", "F/N"), Column("deviation", "sd"), "number"),
            [row(point, score=_step(point)) for point in self.better],
            (
                f"Metrics: {', '.join(self.better_metrics)}.",
                f"No F/N: {self.unbeaten} sampled summaries that no other beats on "
                "any metric.",
            ),
        )

        scores = "averages over the pair by the first metric, without rescaling"
        if self.rule == "text":
            scores = "averages over the metrics, each from 0 to 1 within its topic"
        rows = []
        for curve in self.disagreement:
            for point in curve.points:
                rows.append(row(point, **row(curve), score=_step(point)))

        opposite = Table.of(
            "Pairs of summaries that two metrics order differently, by score",
            (
                Column("one", "metric"),
                Column("other", "and"),
                "score",
                Column("value", "opposite"),
                Column("number", "pairs"),
            ),
            rows,
            (f"Scores: {scores}.", f"Signature: {self.signature}"),
        )
        return [agreement, better, opposite]

    def to_csv_table(self) -> Table:
        """Agreement by range, one row per pair of metrics and range."""
        columns = (
            Column("one", "metric"),
            Column("other", "and"),
            "range",
            Column("tau", "τ-b", signed=True),
            "topics",
            Column("undefined", "no τ"),
            Column("summaries", "each", digits=0),
        )
        entries = sorted(self.agreement, key=lambda a: (a.one, a.other))
        return Table.of("Agreement between metrics", columns, entries)

    def to_figure(self) -> Any:
        """Opposite orders against the average score, and F/N (P19's Figures 2 and
        3)."""
        from litepyramid.figures.meta_plots import Line, line_panels

        opposite = []
        for curve in self.disagreement:
            # The mean of a few pairs would be a spike; P19's code draws where steps
            # begin.
            points = _drawn(curve.points, fewest=30)
            x = [p.low if self.rule == "code" else _middle(p) for p in points]
            y = [p.value for p in points]
            opposite.append(Line(f"{curve.one} / {curve.other}", x, y))

        points = _drawn(self.better, fewest=5)
        x = [*map(_middle, points)]
        y = [p.value for p in points]
        shares = Line("F/N", x, y, [p.deviation for p in points])
        above = " above" if self.rule == "code" else ""
        pairs = (
            opposite,
            f"average score of the pair{above}",
            "share in opposite orders",
        )
        among = "all" if self.rule == "code" else "those better on one"
        told = f"F/N: better on all metrics,\nof {among} (± 1 standard deviation)"
        better_on_all = [shares], "average score of a summary", told
        return line_panels([pairs, better_on_all], "pairs of metrics")


def _drawn(points: Sequence[RangePoint], fewest: int) -> list[RangePoint]:
    """The points that a figure shows: those of enough values."""
    enough = [point for point in points if point.number >= fewest]
    return [point for point in enough if not isnan(point.value)]


def _middle(point: RangePoint) -> float:
    return (point.low + point.high) / 2


def _step(point: RangePoint) -> str:
    return f"{point.low:z.2f} to {point.high:z.2f}"


def range_(
    scores: ScoresLike,
    human: HumanLike | None = None,
    *,
    baseline: str | None = None,
    best: int = 45,
    rule: Rule = "text",
    samples: int = 5000,
    seed: int = 12345,
    **sources: Unpack[ScoreSources],
) -> ScoringRangeResult:
    """Measure how far metrics agree with each other on average, all, and the best
    summaries.

    A topic is an input of the table, a summary a row. The range judged are the rows
    with a `human` score; all others but the baseline are the whole range, of which the
    top is chosen (Peyrard 2019, section 4). All metrics: higher is better.

    Args:
        scores: Tables of summaries (systems) by topics (inputs); not changed.
        human: The human score, of the summaries that people judged.
        metrics: Names or patterns, at least two; all others if none is named.
        baseline: The row of a baseline such as LexRank: the top are then the summaries
            above it by at least one metric, in place of the best.
        best: How many of each metric's best summaries are the top.
        rule: text: as the paper says; code: as its code does, where "best" joins those
            of the two metrics compared, topics with fewer than 20 summaries are
            dropped, and F is divided by the size of the topic, over all metrics but JS.
        samples: Summaries drawn for the share better on all metrics; 20 times as many
            pairs are drawn for the curve of disagreement.
        seed: Seed of the draws.
        **sources: What belongs to the scores, as of `read_scores`: metrics, columns.

    Raises:
        InputError: Fewer than two metrics; no baseline row; no topic with enough
            summaries.

    Example:
        >>> rows = [{"system": f"s{i}", "input": 1, "metric": m, "score": v}
        ...         for m, values in {"a": [1, 2, 3, 4], "b": [1, 2, 4, 3]}.items()
        ...         for i, v in enumerate(values)]
        >>> result = range_(rows, best=2)
        >>> [(a.range, round(a.tau, 3)) for a in result.agreement]
        [('whole', 0.667), ('top', -1.0)]

    Command line:
        $ litepyramid meta range made.csv --best 5
        $ litepyramid meta range made.csv --baseline lexrank -o range.pdf
    """
    check_samples(samples, seed=seed)
    no_effect(range_, baseline is not None, "beside a baseline", best=best)
    check_whole("best", best, 2)
    choose("rule", rule, Rule)
    table = read_scores(scores, human, **sources)
    raters: Names = ()
    people = None
    if table.human or {*PEOPLE} <= {*table.metrics}:
        _, raters, judged = human_score(table)
        people = judged.values[0]
    chosen = table.chosen or table.metrics
    names = tuple([name for name in chosen if name not in raters])
    if len(names) < 2:
        raise InputError(
            counted(len(names), "metric"), expected="at least two to compare"
        )

    topics, dropped = _topics(table, names, people, baseline, rule)
    whole = [topic.all for topic in topics]
    ranges: dict[RangeName, list[FloatArray]] = {
        "judged": [topic.judged for topic in topics],
        "whole": [topic.whole for topic in topics],
        "top": [_top(topic, best) for topic in topics],
    }
    # Before the loop, in which the code's top is another one for every pair of metrics.
    above = sum(matrix.shape[1] for matrix in ranges["top"])

    agreement = []
    curves = []
    for pair in combinations(range(len(names)), 2):
        rows = [*pair]
        if baseline is None and rule == "code":
            # In the code the top are the best by either of the two metrics compared.
            ranges["top"] = [t.whole[:, _best(t.whole[rows], best)] for t in topics]

        one = names[pair[0]]
        other = names[pair[1]]
        for which, matrices in ranges.items():
            sizes = [matrix.shape[1] for matrix in matrices]
            if which == "top" or any(sizes):
                taus = []
                for matrix in matrices:
                    x, y = matrix[rows]
                    taus += correlate_rows(x, y, "kendall").tolist()
                tau, _, defined = described(np.array(taus))
                undefined = len(taus) - defined
                size = float(np.mean(sizes))
                agreement.append(
                    RangeAgreement(which, one, other, tau, defined, undefined, size)
                )

        # The same draws for every pair of metrics, whichever others are compared.
        rng = piece_generator(seed, "pairs")
        points = opposite_orders(whole, *pair, _PAIRS * samples, rule, rng)
        curves.append(DisagreementCurve(one, other, points))

    # The code leaves out Jensen-Shannon divergence, by which lower is better.
    on = names
    if rule == "code":
        on = tuple(n for n in names if not n.lower().startswith("js")) or names
    rows = [names.index(name) for name in on]
    rng = piece_generator(seed, "better")
    steps, unbeaten = better([matrix[rows] for matrix in whole], samples, rule, rng)

    signature = Signature.of(
        metrics="+".join(names),
        human="+".join(raters) or None,
        baseline=baseline,
        best=best if baseline is None else None,
        rule=rule,
        samples=samples,
        seed=seed,
        scores_sha=scores_sha(table, names, raters),
    )
    return ScoringRangeResult(
        metrics=names,
        better_metrics=on,
        agreement=tuple(agreement),
        disagreement=tuple(curves),
        better=steps,
        unbeaten=unbeaten,
        topics=len(topics),
        dropped=dropped,
        above=above / sum(matrix.shape[1] for matrix in whole),
        rule=rule,
        signature=signature,
    )


@dataclass(frozen=True)
class _Topic:
    """One input's summaries: (metrics, summaries) scores by range, and those of the
    baseline."""

    judged: FloatArray
    whole: FloatArray
    baseline: FloatArray

    @property
    def all(self) -> FloatArray:
        """The whole range; without other rows the judged ones are all there is."""
        return self.whole if self.whole.shape[1] else self.judged


def _topics(
    table: Scores,
    names: Sequence[str],
    people: FloatArray | None,
    baseline: str | None,
    rule: Rule,
) -> tuple[list[_Topic], Names]:
    """The topics with enough summaries, and the names of the others."""
    if baseline is not None and baseline not in table.systems:
        raise InputError(
            f"no row '{baseline}' in the scores",
            expected=f"one of the rows '{table.systems[0]}' …",
        )

    values = table.of_metrics(names).values
    by_people = np.full(values.shape[1:], np.nan) if people is None else people
    is_base = np.array([system == baseline for system in table.systems], dtype=bool)
    fewest = _CODE_SMALLEST if rule == "code" else 2

    topics = []
    dropped = []
    for column, name in enumerate(table.inputs):
        matrix = values[:, :, column]
        scored = ~np.isnan(matrix).any(axis=0)
        # The baseline is what others are measured against, no summary of the range.
        others = scored & ~is_base
        judged = others & ~np.isnan(by_people[:, column])

        # Where a baseline is named, a topic without it has no top.
        base = matrix[:, is_base & scored]
        topic = _Topic(matrix[:, judged], matrix[:, others & ~judged], base)
        if topic.all.shape[1] < fewest or (is_base.any() and not base.size):
            dropped.append(name)
        else:
            topics.append(topic)

    if not topics:
        raise InputError(
            "no topic has enough summaries that all the metrics score",
            expected=f"at least {fewest}",
        )

    return topics, tuple(dropped)


def _best(matrix: FloatArray, best: int) -> list[int]:
    """The best summaries of each metric, one metric after the other."""
    chosen = []
    for scores in matrix:
        chosen += best_first(scores)[:best].tolist()
    return chosen


def _top(topic: _Topic, best: int) -> FloatArray:
    """The summaries above the baseline, or the best ones, by at least one metric."""
    if topic.baseline.size:
        return topic.all[:, (topic.all > topic.baseline).any(axis=0)]
    return topic.all[:, np.unique(_best(topic.all, best))]
