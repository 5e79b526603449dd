"""The baseline judge: the share of a unit's stemmed content words found in the summary."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np

from litepyramid.judges.base import Evidence, Items, JudgedBatch
from litepyramid.judges.lexical.evidence import word_evidence
from litepyramid.judges.lexical.words import FUNCTION_WORDS

_WORD = re.compile(r"[^\W_]+")


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

    start_cost: ClassVar[int] = 400_000

    def judge(self, items: Items) -> JudgedBatch:
        """Judges every unit of every item against the item's summary; see `Judge`."""
        import Stemmer  # type: ignore[import-not-found, unused-ignore]

        stem = Stemmer.Stemmer("english").stemWords

        @cache
        def stems(text: str) -> tuple[frozenset[str], frozenset[str]]:
            words = _WORD.findall(text.lower())
            content = [word for word in words if word not in FUNCTION_WORDS]
            return frozenset(stem(content)), frozenset(stem(words))

        presence = [
            np.array([_recall(stems(unit), stems(summary)) for unit in units], dtype=np.float64)
            for summary, units in items
        ]
        return JudgedBatch(
            presence=tuple(presence),
            signature={"judge": "recall"},
            counts={"pairs": sum(len(values) for values in presence)},
        )

    def explain(self, items: Items) -> tuple[tuple[Evidence, ...], ...]:
        """The sentence that holds most of a unit's words; see `Explainer`."""
        return word_evidence(items, self.judge(items).presence, conflicts=False)


def _recall(unit: Sequence[frozenset[str]], summary: Sequence[frozenset[str]]) -> float:
    """The share of the content stems found; of all stems where there is no content."""
    own, there = (unit[0], summary[0]) if unit[0] else (unit[1], summary[1])
    return len(own & there) / len(own) if own else 0.0
