"""Summaries that are longer than a model reads: judged in parts, of which the best one counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from litepyramid.judges.evidence import Spans, sentence_spans


def parts(
    summary: str, units: Sequence[str], room: Callable[[str], int], length: Callable[[str], int]
) -> Spans:
    """Runs of whole sentences that fit, as many in each as do; a longer sentence stands alone.

    Args:
        summary: The text.
        units: All of them must have room next to a part.
        room: How many tokens of a summary fit next to a unit.
        length: How many tokens each text has.

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
