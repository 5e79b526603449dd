"""The baseline judge: the share of a unit's stemmed content words found in the summary."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from litepyramid.judges.base import Evidence, Items, JudgedBatch
from litepyramid.judges.lexical.evidence import word_evidence
from litepyramid.judges.lexical.words import FUNCTION_WORDS
from litepyramid.types import FloatArray

_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class _Stems:
    content: frozenset[str]
    every: frozenset[str]


def _reader() -> Callable[[str], _Stems]:
    """A function from a text to its distinct stems; each distinct text is read once."""
    import Stemmer  # type: ignore[import-not-found, unused-ignore]

    stem_words = Stemmer.Stemmer("english").stemWords
    known: dict[str, _Stems] = {}

    def read(text: str) -> _Stems:
        found = known.get(text)
        if found is None:
            words = _WORD.findall(text.lower())
            content = [word for word in words if word not in FUNCTION_WORDS]
            found = _Stems(frozenset(stem_words(content)), frozenset(stem_words(words)))
            known[text] = found
        return found

    return read


@dataclass(frozen=True, slots=True)
class RecallJudge:
    """presence(u, s) = |stems(u) & stems(s)| / |stems(u)| over distinct content words.

    Stems are Snowball English; function words are left out, unless the unit has nothing else. A
    unit without any word is 0. It measures overlap, not entailment; every other judge here is
    measured against it.

    Example:
        >>> batch = RecallJudge().judge([("The dog chased a cat.", ["A dog slept.", "Cats!"])])
        >>> batch.presence[0].tolist()
        [0.5, 1.0]
    """

    def judge(self, items: Items) -> JudgedBatch:
        """Judges every unit of every item against the item's summary; see `Judge`."""
        read = _reader()
        presence: list[FloatArray] = []
        for summary, units in items:
            there = read(summary)
            presence.append(
                np.array([_recall(read(unit), there) for unit in units], dtype=np.float64)
            )
        return JudgedBatch(
            presence=tuple(presence),
            signature={"judge": "recall"},
            counts={"pairs": sum(len(values) for values in presence)},
        )

    def explain(self, items: Items) -> tuple[tuple[Evidence, ...], ...]:
        """The sentence that holds most of a unit's words; see `Explainer`."""
        return word_evidence(items, self.judge(items).presence, conflicts=False)


def _recall(unit: _Stems, summary: _Stems) -> float:
    if unit.content:
        return len(unit.content & summary.content) / len(unit.content)
    return len(unit.every & summary.every) / len(unit.every) if unit.every else 0.0
