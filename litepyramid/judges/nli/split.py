"""Summaries that are longer than a model reads: judged in parts, of which the best one counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from litepyramid.judges.base import Items, JudgedBatch
from litepyramid.judges.evidence import sentence_spans

Spans = list[tuple[int, int]]


def parts(
    summary: str, units: Sequence[str], room: Callable[[str], int], length: Callable[[str], int]
) -> Spans:
    """Runs of whole sentences that fit, as many in each as do; a longer sentence stands alone.

    Args:
        summary: The text.
        units: All of them must have room beside a part.
        room: How many tokens of a summary fit beside a unit.
        length: How many tokens a text has.

    Returns:
        First character and the one after the last, of each part.

    Example:
        >>> words = lambda text: len(text.split())
        >>> parts("It rained. Two died. He left early.", ["x"], lambda unit: 4, words)
        [(0, 20), (21, 35)]
    """
    most = min(map(room, units), default=0)
    if not units or length(summary) <= most:
        return [(0, len(summary))]
    found: Spans = []
    for start, end in sentence_spans(summary):
        if found and length(summary[found[-1][0] : end]) <= most:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found or [(0, len(summary))]


def split_items(items: Items, spans: Sequence[Spans]) -> Items:
    """Every part of every summary as an item of its own."""
    return [
        (text[start:end], units)
        for (text, units), own in zip(items, spans, strict=True)
        for start, end in own
    ]


def best_parts(judged: JudgedBatch, items: Items, spans: Sequence[Spans]) -> JudgedBatch:
    """What was said of parts as said of the whole: each unit's highest presence, and its part.

    Counts: ``pairs`` are those of the whole, ``split`` those of them with a summary in parts.
    """
    presence, logits, where, at = [], [], [], 0
    for (_, units), own in zip(items, spans, strict=True):
        stack = np.stack(judged.presence[at : at + len(own)])
        best = stack.argmax(axis=0)
        presence.append(stack.max(axis=0))
        where.append(np.array(own, dtype=np.int64)[best])
        if judged.logits is not None:
            rows = np.stack(judged.logits[at : at + len(own)])
            logits.append(rows[best, np.arange(len(units))])
        at += len(own)
    pairs = sum(len(units) for _, units in items)
    split = sum(len(units) for (_, units), own in zip(items, spans, strict=True) if len(own) > 1)
    return replace(
        judged,
        presence=tuple(presence),
        logits=tuple(logits) if judged.logits is not None else None,
        spans=tuple(where),
        counts={**judged.counts, "pairs": pairs, "split": split},
    )
