"""The baseline judge, recall of stems; and the evidence of judges that compare words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, ClassVar

import numpy as np

from litepyramid.judges.base import Evidence, Items, JudgedBatch
from litepyramid.judges.lexical.vocabulary import Vocabulary, english
from litepyramid.language import SPACELESS, function_words, signed
from litepyramid.language import words as unicode_words
from litepyramid.sentences import sentence_spans
from litepyramid.types import FloatArray, IntArray

_LETTERS = re.compile(r"[^\W_]+")
_WORD = re.compile(r"\w+(?:[.,'’]\w+)*")


@dataclass(frozen=True, slots=True)
class RecallJudge:
    """presence(u, s) = |stems(u) & stems(s)| / |stems(u)| over distinct content words.

    Stems are Snowball English; function words are left out, unless the unit has nothing else. A
    unit without any word is 0. It measures overlap, not entailment; every other judge here is
    measured against it. Of other languages than English (`language`) it counts Unicode words,
    stemmed where Snowball has the language, or pairs of characters where there are no spaces.

    Example:
        >>> batch = RecallJudge().judge([("The dog chased a cat.", ["A dog slept.", "Cats!"])])
        >>> batch.presence[0].tolist()
        [0.5, 1.0]
    """

    language: str = "en"

    start_cost: ClassVar[int] = 400_000

    def in_language(self, language: str) -> RecallJudge:
        """The judge of texts in this language."""
        return replace(self, language=language)

    def judge(self, items: Items) -> JudgedBatch:
        """Judges every unit of every item against the item's summary; see `Judge`."""
        split, stem, empty = self._tools()

        @cache
        def stems(text: str) -> tuple[frozenset[str], frozenset[str]]:
            """Those of content words, and of all words."""
            words = split(text.lower())
            content = [word for word in words if word not in empty]
            return frozenset(stem(content)), frozenset(stem(words))

        def recall(unit: str, summary: str) -> float:
            content, every = stems(unit)
            stems_of_unit = content or every
            common = stems_of_unit & stems(summary)[0 if content else 1]
            return len(common) / len(stems_of_unit) if stems_of_unit else 0.0

        presence = tuple(
            np.array([recall(unit, summary) for unit in units], dtype=np.float64)
            for summary, units in items
        )
        signature = {"judge": "recall", **signed(self.language)}
        return JudgedBatch(presence, signature, {"pairs": sum(map(len, presence))})

    def explain(self, items: Items) -> tuple[tuple[Evidence, ...], ...]:
        """The sentence that holds most of a unit's words; see `Explainer`."""
        split, stem, empty = self._tools()

        def content(text: str) -> dict[str, str]:
            words = split(text)
            bearing = [word for word in words if word not in empty] or words
            return dict(zip(stem(bearing), bearing, strict=True))

        own = None if self.language == "en" else content
        return word_evidence(items, self.judge(items).presence, conflicts=False, content=own)

    def _tools(self) -> tuple[Callable[[str], list[str]], Callable[[Any], Any], frozenset[str]]:
        """What splits a text into words, what stems them, and words without content."""
        import Stemmer  # type: ignore[import-not-found, unused-ignore]

        if self.language == "en":
            return _LETTERS.findall, Stemmer.Stemmer("english").stemWords, english().function
        split = partial(unicode_words, bigrams=self.language in SPACELESS)
        name = {"nb": "norwegian"}.get(self.language, self.language)
        try:
            return split, Stemmer.Stemmer(name).stemWords, function_words(self.language)
        except KeyError:  # Snowball does not have the language
            return split, list, function_words(self.language)


def word_evidence(
    items: Items,
    presence: Sequence[FloatArray],
    *,
    conflicts: bool = True,
    content: Callable[[str], Mapping[Any, str]] | None = None,
    best: Sequence[IntArray] | None = None,
) -> tuple[tuple[Evidence, ...], ...]:
    """The evidence of a judge that counts words: the sentence that holds most of a unit's stems.

    `content` gives the words of a text by their stems, those of English by default; `best` the
    sentence of each unit where a judge has chosen one, else -1.
    """
    words = Vocabulary()
    content = content or partial(_content, words=words)
    evidence = []
    for number, ((summary, units), values) in enumerate(zip(items, presence, strict=True)):
        spans = sentence_spans(summary)
        contents = [content(summary[start:end]) for start, end in spans]
        rows = []
        for index, (unit, value) in enumerate(zip(units, values.tolist(), strict=True)):
            stems = content(unit)
            common = [len(stems.keys() & sentence.keys()) for sentence in contents]
            at = -1 if best is None or not spans else int(best[number][index])
            if at < 0 and any(common):
                at = int(np.argmax(common))
            partners = contents[at] if at >= 0 else {}
            pairs = tuple((w, partners[stem]) for stem, w in stems.items() if stem in partners)
            missing = tuple(word for stem, word in stems.items() if stem not in partners)
            start, end = span = spans[at] if at >= 0 else (0, 0)
            conflict = conflict_of(unit, summary[start:end], words) if conflicts and end else ""
            rows.append(Evidence(value, at, span, pairs, missing, conflict))
        evidence.append(tuple(rows))
    return tuple(evidence)


def _content(text: str, words: Vocabulary) -> dict[int, str]:
    """The first word of each content stem; of every stem where there is no content."""
    first: dict[int, str] = {}
    for word in _WORD.findall(text):
        first.setdefault(words.number(word), word)
    bare = english().bare
    return {n: word for n, word in first.items() if word.lower() not in bare} or first


def conflict_of(unit: str, sentence: str, words: Vocabulary) -> str:
    """A word negated on one side only, or a number that is another one in the sentence."""
    contents = [_content(text, words) for text in (unit, sentence)]
    sides = [words.encode(text) for text in (unit, sentence)]
    negated = [set(side.ids[side.negated].tolist()) for side in sides]
    plain = [set(side.ids[~side.negated].tolist()) for side in sides]
    turned = (negated[0] & plain[1] - negated[1]) | (negated[1] & plain[0] - negated[0])
    denied = [word for stem, word in contents[0].items() if stem in turned]
    if denied:
        return f"denied ({denied[0]})"
    ours, theirs = (
        [word for stem, word in side.items() if word[0].isdigit() and stem not in other]
        for side, other in (contents, contents[::-1])
    )
    return f"number {ours[0]} ≠ {theirs[0]}" if ours and theirs else ""
