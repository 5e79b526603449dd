"""Whether metrics agree with each other where summaries are good (P19)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import combinations, compress
from typing import Any, Literal, get_args

import numpy as np

from litepyramid.errors import InputError, choose
from litepyramid.io.scores import read_scores
from litepyramid.meta.alignment import select_metrics
from litepyramid.meta.core.coefficients import best_first, correlate_rows
from litepyramid.meta.core.journal import piece_rng
from litepyramid.meta.core.levels import several
from litepyramid.meta.ranges.curves import (
    DisagreementCurve,
    RangePoint,
    Rule,
    better,
    opposite_orders,
)
from litepyramid.stats import described
from litepyramid.tables import Column, Result, Table, row
from litepyramid.text import counted, cut
from litepyramid.types import FloatArray, ScoreTable, Signature

Top = Literal["baseline", "best", "human"]
RangeName = Literal["judged", "whole", "top"]
_CODE_SMALLEST = 20


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
        notes = [
            f"{counted(self.topics, 'topic')}, with the number of summaries in the last column; "
            f"{100 * self.above:.0f} % of the whole range is top."
        ]
        if self.dropped:
            notes.append(f"Left out, too few summaries: {', '.join(self.dropped)}.")
        agreement = replace(self.to_csv_table(), notes=tuple(notes))
        if not any(a.undefined for a in self.agreement):
            agreement = agreement.without("undefined")
        beaten = "is beaten" if self.unbeaten == 1 else "are beaten"
        better = Table.of(
            "Share of summaries better on one metric that are better on all (eq. 1), by score",
            ("score", Column("value", "F/N"), Column("deviation", "sd"), "number"),
            [row(p, score=_step(p)) for p in self.better],
            (
                f"Metrics: {', '.join(self.better_metrics)}.",
                f"{self.unbeaten} of the sampled summaries {beaten} by no other on any metric: "
                "no F/N.",
            ),
        )
        curves = [(c, p) for c in self.disagreement for p in c.points]
        scores = "averages over the pair by the first metric, without rescaling"
        if self.rule == "text":
            scores = "averages over the metrics, each from 0 to 1 within its topic"
        opposite = Table.of(
            "Pairs of summaries that two metrics order differently, by score",
            (
                *(Column("one", "metric"), Column("other", "and"), "score"),
                *(Column("value", "opposite"), Column("number", "pairs")),
            ),
            [row(p, one=c.one, other=c.other, score=_step(p)) for c, p in curves],
            (f"Scores: {scores}.", f"Signature: {self.signature}"),
        )
        return [agreement, better, opposite]

    def to_csv_table(self) -> Table:
        """Agreement by range, one row per pair of metrics and range."""
        columns = (
            *(Column("one", "metric"), Column("other", "and"), "range"),
            *(Column("tau", "τ-b", signed=True), "topics", Column("undefined", "no τ")),
            Column("summaries", "each", digits=0),
        )
        entries = sorted(self.agreement, key=lambda a: (a.one, a.other))
        return Table.of("Agreement between metrics", columns, entries)


def _step(point: RangePoint) -> str:
    return f"{point.low:z.2f} to {point.high:z.2f}"


@dataclass(frozen=True)
class _Topic:
    """One input's summaries: (metrics, summaries) scores by range, and those of the baseline."""

    judged: FloatArray
    whole: FloatArray
    baseline: FloatArray
    human: FloatArray

    @property
    def all(self) -> FloatArray:
        """The whole range; without other rows the judged ones are all there is."""
        return self.whole if self.whole.shape[1] else self.judged


def scoring_range(
    scores: Any,
    metrics: str | Sequence[str] | None = None,
    *,
    human: str | None = None,
    judged: str | Sequence[str] = (),
    baseline: str | None = "lexrank",
    top: Top = "baseline",
    best: int = 45,
    share: float = 0.25,
    rule: Rule = "text",
    pairs: int = 100_000,
    drawn: int = 5000,
    seed: int = 12345,
    better_metrics: str | Sequence[str] | None = None,
) -> ScoringRangeResult:
    """Metric-to-metric agreement on average, all, and top-scoring summaries (P19 §4).

    A topic is an input of the table, a summary a row. The rows that people judged are those
    named by `judged` or those with a `human` score: the range *judged* (P19's A). All other rows
    but the baseline are the *whole* range (W). The *top* range (T) is chosen from the whole range:

    - ``"baseline"``: above the baseline's score for at least one metric (P19 §3);
    - ``"best"``: among the `best` summaries of at least one metric;
    - ``"human"``: from the judged rows, the best `share` by human score.

    ``rule="code"`` does what the paper's code does where it differs from the text: "best" joins
    the best of the two metrics compared and keeps a summary that is in both twice; topics with
    fewer than 20 summaries are dropped; F is divided by the size of the topic, not by N, and F and
    N are over all metrics but JS-2; disagreement is that of all pairs above a score, by the first
    metric's own score, in 15 steps from 0 (from the lowest where scores are negative), and pairs
    that a metric ties are not opposite.

    Args:
        scores: A table of summaries (systems) x topics (inputs), as `read_scores` takes it;
            `litepyramid.meta.ranges.generation.generate` makes one. All metrics: higher is better.
        metrics: Names or patterns, at least two; None for all but `human`.
        human: The metric that holds human scores.
        judged: Names or patterns of the rows that people judged.
        baseline: The baseline row; None if there is none.
        top: How the top range is chosen.
        best: How many of each metric's best, with ``top="best"`` (the paper's code: 45).
        share: With ``top="human"``.
        rule: ``"text"`` or ``"code"``.
        pairs: Pairs of summaries drawn for the curve of disagreement.
        drawn: Summaries drawn for eq. 1 (P19: 5,000).
        seed: Seed of the draws.
        better_metrics: Names or patterns of the metrics of eq. 1; None for all except those named
            ``js…`` by ``rule="code"``.

    Raises:
        InputError: Fewer than two metrics; no baseline row; no topic with enough summaries.

    Example:
        >>> from litepyramid.io.scores import read_scores
        >>> rows = [{"system": f"s{i}", "input": 1, "metric": m, "score": v}
        ...         for m, values in {"a": [1, 2, 3, 4], "b": [1, 2, 4, 3]}.items()
        ...         for i, v in enumerate(values)]
        >>> result = scoring_range(read_scores(rows), baseline=None, top="best", best=2)
        >>> [(a.range, round(a.tau, 3)) for a in result.agreement]
        [('whole', 0.667), ('top', -1.0)]
    """
    _check(top, rule, best, share, pairs, drawn)
    table = read_scores(scores)
    chosen_names = select_metrics(table, metrics) if metrics else table.metrics
    names = tuple(name for name in chosen_names if name != human)
    if len(names) < 2:
        raise InputError(f"{counted(len(names), 'metric')}", expected="at least two to compare")
    topics, dropped = _topics(table, names, human, judged, baseline, top, rule)
    ranges: dict[RangeName, list[FloatArray]] = {
        "judged": [topic.judged for topic in topics],
        "whole": [topic.whole for topic in topics],
        "top": [_top(topic, top, best, share) for topic in topics],
    }
    above = sum(part.shape[1] for part in ranges["top"])
    whole = [topic.all for topic in topics]
    agreement, curves = [], []
    for one, other in combinations(range(len(names)), 2):
        if top == "best" and rule == "code":
            ranges["top"] = [
                topic.whole[:, [i for m in (one, other) for i in best_first(topic.whole[m])[:best]]]
                for topic in topics
            ]
        pair = names[one], names[other]
        for which, parts in ranges.items():
            if which == "top" or any(part.shape[1] for part in parts):
                agreement.append(_agreement(which, pair, [part[[one, other]] for part in parts]))
        rng = piece_rng(seed, "pairs")
        points = opposite_orders(whole, one, other, pairs, rule, rng)
        curves.append(DisagreementCurve(*pair, points))
    on = _better_metrics(names, better_metrics, rule)
    rows = [names.index(name) for name in on]
    steps, unbeaten = better([p[rows] for p in whole], drawn, rule, piece_rng(seed, "better"))
    signature = Signature.of(
        metrics=",".join(names),
        top=top,
        baseline=baseline if top == "baseline" else None,
        best=best if top == "best" else None,
        share=f"{share:g}" if top == "human" else None,
        rule=rule,
        pairs=pairs,
        drawn=drawn,
        better=None if on == names else ",".join(on),
        seed=seed,
        scores_sha=table.sha,
    )
    return ScoringRangeResult(
        names,
        on,
        tuple(agreement),
        tuple(curves),
        steps,
        unbeaten,
        len(topics),
        dropped,
        above / sum(part.shape[1] for part in whole),
        rule,
        signature,
    )


def _better_metrics(
    names: tuple[str, ...], asked: str | Sequence[str] | None, rule: Rule
) -> tuple[str, ...]:
    """The metrics of eq. 1, in the order of all."""
    if asked is None:
        kept = tuple(n for n in names if rule == "text" or not n.lower().startswith("js"))
        return kept or names
    chosen = _fitting(names, asked, "metric '{}' for eq. 1")
    return tuple(compress(names, chosen))


def _fitting(names: Sequence[str], patterns: str | Sequence[str], what: str) -> list[bool]:
    """Which of the names fit one of the patterns; each pattern has to fit some."""
    for pattern in several(patterns):
        if not any(fnmatchcase(name, pattern) for name in names):
            raise InputError(f"no {what.format(pattern)}", expected=cut(", ".join(names)))
    return [any(fnmatchcase(name, pattern) for pattern in several(patterns)) for name in names]


def _check(top: str, rule: str, best: int, share: float, pairs: int, drawn: int) -> None:
    choose("top range", top, get_args(Top))
    choose("rule", rule, get_args(Rule))
    if best < 2 or pairs < 1 or drawn < 1:
        raise InputError(
            f"the best {best}, {counted(pairs, 'pair')}, "
            f"{counted(drawn, 'summary', 'summaries')} drawn",
            expected="at least 2, 1 and 1",
        )
    if not 0 < share <= 1:
        raise InputError(f"a share of {share}", expected="a number above 0, at most 1")


def _topics(
    table: ScoreTable,
    names: Sequence[str],
    human: str | None,
    judged: str | Sequence[str],
    baseline: str | None,
    top: Top,
    rule: Rule,
) -> tuple[list[_Topic], tuple[str, ...]]:
    named = np.array(_fitting(table.systems, judged, "row '{}' in the scores"), dtype=bool)
    values = np.stack([table.matrix(name).values for name in names])
    people = table.matrix(human).values if human else np.full(values.shape[1:], np.nan)
    is_base = np.array([system == baseline for system in table.systems], dtype=bool)
    if top == "baseline" and not is_base.any():
        raise InputError(
            "no row of a baseline" if baseline is None else f"no row '{baseline}' in the scores",
            expected=f"one of the rows '{table.systems[0]}' …",
            hint="Name the baseline's row, or choose the top range another way.",
        )
    if top == "human" and human is None:
        raise InputError("a top range by human score needs one", hint="Name the human score.")
    fewest = _CODE_SMALLEST if rule == "code" else 2
    topics, dropped = [], []
    for column, name in enumerate(table.inputs):
        part, by = values[:, :, column], people[:, column]
        scored = ~np.isnan(part).any(axis=0)
        base, others = part[:, is_base & scored], scored & ~is_base
        judges = others & (named | ~np.isnan(by))
        topic = _Topic(part[:, judges], part[:, others & ~judges], base, by[judges])
        if topic.all.shape[1] < fewest or (top == "baseline" and not base.size):
            dropped.append(name)
        else:
            topics.append(topic)
    if not topics:
        raise InputError(
            "no topic has enough summaries that all the metrics score",
            expected=f"at least {fewest}",
        )
    return topics, tuple(dropped)


def _top(topic: _Topic, top: Top, best: int, share: float) -> FloatArray:
    if top == "human":
        number = max(1, round(share * len(topic.human)))
        return topic.judged[:, best_first(topic.human)[:number]]
    if top == "baseline":
        return topic.all[:, (topic.all > topic.baseline).any(axis=0)]
    among = np.unique([best_first(scores)[:best] for scores in topic.all])
    return topic.all[:, among]


def _agreement(
    which: RangeName, pair: tuple[str, str], parts: Sequence[FloatArray]
) -> RangeAgreement:
    taus = [correlate_rows(part[:1], part[1:], "kendall")[0] for part in parts]
    tau, _, number = described(np.array(taus))
    size = float(np.mean([part.shape[1] for part in parts]))
    return RangeAgreement(which, *pair, tau, number, len(taus) - number, size)
