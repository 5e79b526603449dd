"""Whether metrics agree with each other where summaries are good (P19)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import combinations
from typing import Any

import numpy as np

from litepyramid.errors import InputError
from litepyramid.io.scores import read_scores
from litepyramid.meta.alignment import select_metrics
from litepyramid.meta.core.coefficients import correlate_rows
from litepyramid.meta.core.journal import piece_rng
from litepyramid.meta.ranges.curves import (
    DisagreementCurve,
    Rule,
    better,
    opposite_orders,
)
from litepyramid.meta.ranges.result import RangeAgreement, RangeName, ScoringRangeResult, Top
from litepyramid.text import counted
from litepyramid.types import FloatArray, IntArray, ScoreTable, Signature

_CODE_SMALLEST = 20


@dataclass(frozen=True)
class _Topic:
    """One input's summaries: (metrics, summaries) scores by range."""

    name: str
    judged: FloatArray
    whole: FloatArray
    baseline: FloatArray | None
    human: FloatArray


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
    agreement: list[RangeAgreement] = []
    parts: dict[RangeName, list[FloatArray]] = {"judged": [], "whole": []}
    for topic in topics:
        parts["judged"].append(topic.judged)
        parts["whole"].append(topic.whole)
    above = [_top(topic, top, best, share) for topic in topics]
    for one, other in combinations(range(len(names)), 2):
        for which, summaries in parts.items():
            if any(part.shape[1] for part in summaries):
                agreement.append(_agreement(which, names, one, other, summaries))
        chosen = above
        if top == "best" and rule == "code":
            chosen = [_best_of_both(topic.whole, one, other, best) for topic in topics]
        agreement.append(_agreement("top", names, one, other, chosen))
    whole = [topic.whole if topic.whole.shape[1] else topic.judged for topic in topics]
    on = _better_metrics(names, better_metrics, rule)
    rows = [names.index(name) for name in on]
    points, unbeaten = better([p[rows] for p in whole], drawn, rule, piece_rng(seed, "better"))
    size = sum(part.shape[1] for part in whole)
    curves = tuple(
        DisagreementCurve(
            names[one],
            names[other],
            opposite_orders(whole, one, other, pairs, rule, piece_rng(seed, "pairs")),
        )
        for one, other in combinations(range(len(names)), 2)
    )
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
        curves,
        points,
        unbeaten,
        len(topics),
        dropped,
        sum(part.shape[1] for part in above) / size,
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
    patterns = [asked] if isinstance(asked, str) else asked
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise InputError(f"no metric '{pattern}' for eq. 1", expected=", ".join(names))
    return tuple(n for n in names if any(fnmatchcase(n, p) for p in patterns))


def _check(top: str, rule: str, best: int, share: float, pairs: int, drawn: int) -> None:
    if top not in ("baseline", "best", "human"):
        raise InputError(f"unknown top range '{top}'", expected="baseline, best or human")
    if rule not in ("text", "code"):
        raise InputError(f"unknown rule '{rule}'", expected="text or code")
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
    patterns = [judged] if isinstance(judged, str) else judged
    for pattern in patterns:
        if not any(fnmatchcase(system, pattern) for system in table.systems):
            raise InputError(f"no row '{pattern}' in the scores", hint="Check --judged.")
    values = np.stack([table.matrix(name).values for name in names])
    people = table.matrix(human).values if human else np.full(values.shape[1:], np.nan)
    named = np.array([any(fnmatchcase(s, p) for p in patterns) for s in table.systems], dtype=bool)
    is_base = np.array([system == baseline for system in table.systems], dtype=bool)
    if top == "baseline" and not is_base.any():
        raise InputError(
            "no row of a baseline" if baseline is None else f"no row '{baseline}' in the scores",
            expected=f"one of the rows '{table.systems[0]}' …",
            hint="Name the baseline's row, or choose the top range another way.",
        )
    if top == "human" and human is None:
        raise InputError("a top range by human score needs one", hint="Name the human score.")
    topics, dropped = [], []
    for column, name in enumerate(table.inputs):
        part = values[:, :, column]
        scored = ~np.isnan(part).any(axis=0)
        by_people = scored & ~is_base & (named | ~np.isnan(people[:, column]))
        rest = scored & ~is_base & ~by_people
        base = part[:, is_base & scored]
        fewest = _CODE_SMALLEST if rule == "code" else 2
        # Without other rows the judged ones are all there is.
        size = int(rest.sum()) or int(by_people.sum())
        if size < fewest or (top == "baseline" and not base.shape[1]):
            dropped.append(name)
            continue
        topics.append(
            _Topic(
                name,
                part[:, by_people],
                part[:, rest],
                base[:, 0] if base.shape[1] else None,
                people[by_people, column],
            )
        )
    if not topics:
        raise InputError(
            "no topic has enough summaries that all the metrics score",
            expected=f"at least {_CODE_SMALLEST if rule == 'code' else 2}",
        )
    return topics, tuple(dropped)


def _top(topic: _Topic, top: Top, best: int, share: float) -> FloatArray:
    whole = topic.whole if topic.whole.shape[1] else topic.judged
    if top == "human":
        human = np.where(np.isnan(topic.human), -np.inf, topic.human)
        number = max(1, round(share * len(human)))
        chosen = np.argsort(-human, kind="stable")[:number]
        return np.asarray(topic.judged[:, chosen])
    if top == "baseline" and topic.baseline is not None:
        return np.asarray(whole[:, (whole > topic.baseline[:, None]).any(axis=0)])
    among = np.zeros(whole.shape[1], dtype=bool)
    for row in whole:
        among[_best(row, best)] = True
    return np.asarray(whole[:, among])


def _best(scores: FloatArray, number: int) -> IntArray:
    return np.argsort(-scores, kind="stable")[:number].astype(np.int64)


def _best_of_both(whole: FloatArray, one: int, other: int, number: int) -> FloatArray:
    twice = np.concatenate([_best(whole[one], number), _best(whole[other], number)])
    return np.asarray(whole[:, twice])


def _agreement(
    which: RangeName, names: Sequence[str], one: int, other: int, parts: Sequence[FloatArray]
) -> RangeAgreement:
    taus = np.array(
        [
            correlate_rows(part[one][None], part[other][None], "kendall")[0]
            if part.shape[1] > 1
            else np.nan
            for part in parts
        ]
    )
    kept = taus[~np.isnan(taus)]
    return RangeAgreement(
        which,
        names[one],
        names[other],
        float(kept.mean()) if kept.size else float("nan"),
        int(kept.size),
        int(taus.size - kept.size),
        float(np.mean([part.shape[1] for part in parts])),
    )
