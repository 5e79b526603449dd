"""The evidence of judges that compare words: the sentence that holds most of a unit's stems."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from litepyramid.judges.base import Evidence, Items
from litepyramid.judges.evidence import sentence_spans
from litepyramid.judges.lexical.text import Vocabulary
from litepyramid.judges.lexical.words import FUNCTION_WORDS, NEGATIONS
from litepyramid.types import FloatArray

_WORD = re.compile(r"\w+(?:[.,'’]\w+)*")


def word_evidence(
    items: Items,
    presence: Sequence[FloatArray],
    *,
    conflicts: bool = True,
) -> tuple[tuple[Evidence, ...], ...]:
    """The evidence of a judge that counts words: the sentence that holds most of a unit's stems."""
    words = Vocabulary()
    found = []
    for (summary, units), values in zip(items, presence, strict=True):
        spans = sentence_spans(summary)
        texts = [summary[start:end] for start, end in spans]
        there = [_content(text, words) for text in texts]
        rows = []
        for unit, value in zip(units, values.tolist(), strict=True):
            own = _content(unit, words)
            held = [len(own.keys() & sentence.keys()) for sentence in there]
            if not any(held):
                rows.append(Evidence(value, missing=tuple(own.values())))
                continue
            best = int(np.argmax(held))
            partner = there[best]
            paired = tuple((word, partner[stem]) for stem, word in own.items() if stem in partner)
            missing = tuple(word for stem, word in own.items() if stem not in partner)
            conflict = _conflict(unit, texts[best], own, partner, words) if conflicts else ""
            rows.append(Evidence(value, best, spans[best], paired, missing, conflict))
        found.append(tuple(rows))
    return tuple(found)


def _content(text: str, words: Vocabulary) -> dict[int, str]:
    """The first word of each content stem; of every stem where there is no content."""
    every = {words.number(word): word for word in reversed(_WORD.findall(text))}
    every = dict(reversed(every.items()))
    content = {n: w for n, w in every.items() if w.lower() not in FUNCTION_WORDS | NEGATIONS}
    return content or every


def _conflict(
    unit: str, sentence: str, own: dict[int, str], there: dict[int, str], words: Vocabulary
) -> str:
    """A word negated on one side only, or a number that is another one in the sentence."""
    sides = [words.encode(text) for text in (unit, sentence)]
    negated = [set(side.ids[side.negated].tolist()) for side in sides]
    plain = [set(side.ids[~side.negated].tolist()) for side in sides]
    turned = (negated[0] & plain[1] - negated[1]) | (negated[1] & plain[0] - negated[0])
    denied = [word for stem, word in own.items() if stem in turned]
    if denied:
        return f"denied ({denied[0]})"
    mine, theirs = (
        [word for stem, word in side.items() if word[0].isdigit() and stem not in other]
        for side, other in ((own, there), (there, own))
    )
    return f"number {mine[0]} ≠ {theirs[0]}" if mine and theirs else ""
