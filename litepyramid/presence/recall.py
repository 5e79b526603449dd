"""The baseline judge: the share of a unit's stemmed content words found in the summary."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from litepyramid.presence.judge import JudgedBatch
from litepyramid.presence.lexical_words import FUNCTION_WORDS
from litepyramid.types import FloatArray

_WORD = re.compile(r"[^\W_]+")


def content_stems() -> Callable[[str], frozenset[str]]:
    """A function from a text to its distinct stems (Snowball English), function words left out.

    A text of function words alone keeps them. Each distinct text is read once.

    Example:
        >>> sorted(content_stems()("The dogs were chasing a cat."))
        ['cat', 'chase', 'dog']
    """
    import Stemmer  # type: ignore[import-not-found, unused-ignore]

    stem_words = Stemmer.Stemmer("english").stemWords
    known: dict[str, frozenset[str]] = {}

    def stems(text: str) -> frozenset[str]:
        found = known.get(text)
        if found is None:
            words = _WORD.findall(text.lower())
            content = [word for word in words if word not in FUNCTION_WORDS]
            found = known[text] = frozenset(stem_words(content or words))
        return found

    return stems


@dataclass(frozen=True, slots=True)
class RecallJudge:
    """presence(u, s) = |stems(u) & stems(s)| / |stems(u)|, 0 for a unit without any word.

    It measures overlap, not entailment; every other judge here is measured against it.

    Example:
        >>> batch = RecallJudge().judge([("The dog chased a cat.", ["A dog slept.", "Cats!"])])
        >>> batch.presence[0].tolist()
        [0.5, 1.0]
    """

    def judge(self, items: Sequence[tuple[str, Sequence[str]]]) -> JudgedBatch:
        """Judges every unit of every item against the item's summary; see `Judge`."""
        stems = content_stems()
        presence: list[FloatArray] = []
        for summary, units in items:
            there = stems(summary)
            own = [stems(unit) for unit in units]
            presence.append(
                np.array([len(u & there) / len(u) if u else 0.0 for u in own], dtype=np.float64)
            )
        return JudgedBatch(
            presence=tuple(presence),
            signature={"judge": "recall"},
            counts={"pairs": sum(len(values) for values in presence)},
        )
