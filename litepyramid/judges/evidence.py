"""Where a judge finds the units of a summary: its own evidence, or its best sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from litepyramid.judges.base import Evidence, Explainer, Items, Judge, JudgedBatch
from litepyramid.judges.parallel import judge_pairs, single
from litepyramid.sentences import split_sentences
from litepyramid.types import IntArray

Spans = list[tuple[int, int]]


def gather(judge: Judge, items: Items) -> tuple[tuple[Evidence, ...], ...]:
    """Where a judge finds every unit: as it reports, or the sentence with the highest presence.

    A judge that gives no reasons (an NLI model, an LLM) judges each sentence of a summary alone,
    through its cache; the first sentence with the highest presence is the evidence if that is at
    least .5, else none is shown. `Evidence.presence` is then that of the sentence.
    """
    explainer = single(judge)
    if isinstance(explainer, Explainer):
        return explainer.explain(items)
    spans = [sentence_spans(summary) or [(0, 0)] for summary, _ in items]
    batch, best = best_parts(lambda parts: judge_pairs(judge, parts), items, spans)
    return tuple(
        tuple(
            Evidence(value, n, parts[n]) if value >= 0.5 else Evidence(0.0)
            for value, n in zip(presence.tolist(), numbers.tolist(), strict=True)
        )
        for presence, numbers, parts in zip(batch.presence, best, spans, strict=True)
    )


def best_parts(
    judge: Callable[[Items], JudgedBatch], items: Items, spans: Sequence[Spans]
) -> tuple[JudgedBatch, list[IntArray]]:
    """What a judge says of summaries by their parts: each unit's highest presence.

    Counts: ``pairs`` are those of the whole, ``split`` those of them with a summary in parts.
    """
    batch = judge(
        [
            (text[start:end], units)
            for (text, units), parts in zip(items, spans, strict=True)
            for start, end in parts
        ]
    )
    presence, logits, chosen_spans, best, at = [], [], [], [], 0
    for (_, units), parts in zip(items, spans, strict=True):
        rows, at = slice(at, at + len(parts)), at + len(parts)
        stack = np.stack(batch.presence[rows])
        best.append(np.nan_to_num(stack, nan=-1.0).argmax(axis=0))
        chosen = best[-1], np.arange(len(units))
        presence.append(stack[chosen])
        chosen_spans.append(np.array(parts, dtype=np.int64)[best[-1]])
        if batch.logits is not None:
            logits.append(np.stack(batch.logits[rows])[chosen])
    pairs = sum(len(units) for _, units in items)
    split = sum(len(units) for (_, units), p in zip(items, spans, strict=True) if len(p) > 1)
    whole = replace(
        batch,
        presence=tuple(presence),
        logits=tuple(logits) if batch.logits is not None else None,
        spans=tuple(chosen_spans),
        counts={**batch.counts, "pairs": pairs, "split": split},
    )
    return whole, best


def sentence_spans(summary: str) -> Spans:
    """Where the sentences of `split_sentences` stand: first character, and the one after the last.

    Example:
        >>> sentence_spans("Two  died. It was dark.")
        [(0, 10), (11, 23)]
    """
    spans, end = [], 0
    for sentence in split_sentences(summary):
        pattern = r"\s*".join(map(re.escape, sentence.split()))
        match = re.compile(pattern).search(summary, end)
        spans.append(match.span() if match else (end, end))
        end = spans[-1][1]
    return spans
