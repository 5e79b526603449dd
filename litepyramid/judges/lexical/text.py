"""Words as the lexical judges see them: tokens, stems, function words, negations, sentences."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from litepyramid.errors import InputError
from litepyramid.judges.lexical.words import (
    ABBREVIATIONS,
    FUNCTION_WORDS,
    NEGATIONS,
    irregular_forms,
    number_words,
)

IdArray = NDArray[np.int32]

_TOKEN = re.compile(
    r"</?[a-z]{1,5}>"  # marks such as <t> or <unk> are not words
    r"|n't\b"
    r"|\d+(?:st|nd|rd|th)\b|\d[\d,.]*\d|\d"
    r"|per\s?cent\b|%"
    r"|(?:[^\W\d_]\.){2,}"  # U.S.
    r"|[^\W\d_]+?(?=n't\b)|[^\W\d_]+"
    r"|[.!?\n]+",
    re.IGNORECASE,
)
_QUOTES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'"})
_SCALES = {"m": "million", "k": "1000"}

CONTENT, NEGATION, NUMBER, STOP = 1, 2, 4, 8
MOST_ALIKE = 100_000_000
_SLAB = 5_000_000
SCOPE = 2
"""How many words a negation reaches forward."""


def plain(text: str) -> str:
    """`text` with straight apostrophes and without accents."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text.translate(_QUOTES))
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def alike_stems(stems: Sequence[str], least: float = 0.45) -> list[tuple[int, ...]]:
    """Per stem the numbers of the stems spelt alike, its own among them.

    Alike are stems of at least 4 letters, no function words or negations, with the same first
    letter and a Dice coefficient of letter trigrams (ends marked) of at least `least`.

    Example:
        >>> alike_stems(["nepal", "nepales", "nation", "naval"])
        [(0, 1), (0, 1), (2,), (3,)]
    """
    from scipy.sparse import csr_array

    alike: list[tuple[int, ...]] = [(i,) for i in range(len(stems))]
    by_letter: dict[str, list[int]] = {}
    bare = FUNCTION_WORDS | NEGATIONS
    for i, stem in enumerate(stems):
        if len(stem) >= 4 and stem.isalpha() and stem not in bare:
            by_letter.setdefault(stem[0], []).append(i)
    for block in by_letter.values():
        if len(block) == 1:
            continue
        columns: dict[str, int] = {}
        rows, cols, sizes = [], [], []
        for row, i in enumerate(block):
            marked = f"^{stems[i]}$"
            grams = {marked[k : k + 3] for k in range(len(marked) - 2)}
            rows += [row] * len(grams)
            cols += [columns.setdefault(gram, len(columns)) for gram in grams]
            sizes.append(len(grams))
        shape = (len(block), len(columns))
        holds = csr_array((np.ones(len(rows), dtype=np.float32), (rows, cols)), shape=shape)
        work = sum(count * count for count in Counter(cols).values())
        if work > MOST_ALIKE:
            raise InputError(
                f"{len(block)} different words in '{stems[block[0]][0]}', too many of them spelt "
                "alike for the lexical judge",
                hint="If this is really text, use the judge recall or an NLI model.",
            )
        size = np.array(sizes)
        step = max(1, len(block) * _SLAB // work)
        for first in range(0, len(block), step):
            common = (holds[first : first + step] @ holds.T).tocoo()
            left, right = common.row + first, common.col
            enough = 2 * common.data >= least * (size[left] + size[right])
            others: dict[int, list[int]] = {}
            for one, other in zip(left[enough].tolist(), right[enough].tolist(), strict=True):
                others.setdefault(one, []).append(block[other])
            for one, found in others.items():
                alike[block[one]] = tuple(sorted(found))
    return alike


@dataclass(frozen=True, slots=True)
class EncodedText:
    """One text as arrays over its n words; punctuation is left out.

    Attributes:
        ids: (n,) int32, the word's stem as a number of the vocabulary.
        flags: (n,) int32, a sum of CONTENT, NEGATION and NUMBER.
        starts: (sentences,) int32, where each sentence begins; empty with no words.
        negated: (n,) bool, a negation stands at most `SCOPE` words before, in the same sentence.
    """

    ids: IdArray
    flags: IdArray
    starts: IdArray
    negated: NDArray[np.bool_]


class Vocabulary:
    """Numbers for stems, filled while texts are encoded. Every distinct word is stemmed once.

    Two words share a number if they have one stem (Snowball English) after numbers are written
    as digits and irregular forms as their base.

    Example:
        >>> words = Vocabulary()
        >>> words.stems("The U.S. children took twenty-one trips, didn't they?")
        ['the', 'usa', 'child', 'take', '20', 'one', 'trip', 'did', "n't", 'they']
    """

    def __init__(self) -> None:
        import Stemmer  # type: ignore[import-not-found, unused-ignore]

        self._stem = Stemmer.Stemmer("english").stemWord
        self._forms = irregular_forms()
        self._numbers = number_words()
        self._words: dict[str, tuple[int, int]] = {}
        self._ids: dict[str, int] = {}
        self._texts: dict[str, EncodedText] = {}
        self._tokens: dict[str, int] = {}
        self._stems: list[str] = []

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def names(self) -> list[str]:
        """The stems in the order of their numbers."""
        return list(self._stems)

    def stems(self, text: str) -> list[str]:
        """The stems of `text` in order."""
        encoded = self.encode(text)
        names = self.names
        return [names[i] for i in encoded.ids]

    def encode(self, text: str) -> EncodedText:
        """`text` as arrays; the same text is encoded once."""
        found = self._texts.get(text)
        if found is None:
            found = self._texts[text] = self._encode(text)
        return found

    def number(self, token: str) -> int:
        """The number of the stem of one token, of its digits if it has any; -1 for punctuation.

        Example:
            >>> words = Vocabulary()
            >>> words.number("£23million") == words.number("23"), words.number("--")
            (True, -1)
        """
        found = self._tokens.get(token)
        if found is None:
            pieces = sorted(_TOKEN.findall(plain(token)), key=lambda piece: not piece[0].isdigit())
            found = self._tokens[token] = self._look_up(pieces[0])[0] if pieces else -1
        return found

    def stem(self, token: str) -> str:
        """The stem of one token, "" for punctuation."""
        return self._stems[self.number(token)] if self.number(token) >= 0 else ""

    def _encode(self, text: str) -> EncodedText:
        ids: list[int] = []
        flags: list[int] = []
        starts: list[int] = []
        fresh = True
        before = ""
        words = self._words
        for raw in _TOKEN.findall(plain(text)):
            known = words.get(raw)
            if known is None:
                known = words[raw] = self._look_up(raw)
            number, flag = known
            if flag & STOP:
                ends = not (raw == "." and (len(before) == 1 or before.lower() in ABBREVIATIONS))
                fresh = fresh or ends
                continue
            if number < 0:
                continue
            if raw in _SCALES and flags and flags[-1] & NUMBER:
                number, flag = self._number(self._stem(_SCALES[raw])), CONTENT
            if fresh:
                starts.append(len(ids))
                fresh = False
            ids.append(number)
            flags.append(flag)
            before = raw
        negated = np.zeros(len(ids), dtype=np.bool_)
        for first, end in zip(starts, [*starts[1:], len(ids)], strict=False):
            for place in range(first, end):
                if flags[place] & NEGATION:
                    negated[place + 1 : min(place + 1 + SCOPE, end)] = True
        return EncodedText(
            np.array(ids, dtype=np.int32),
            np.array(flags, dtype=np.int32),
            np.array(starts, dtype=np.int32),
            negated,
        )

    def _look_up(self, raw: str) -> tuple[int, int]:
        if raw[0] in ".!?\n":
            return -1, STOP
        if raw[0] == "<":
            return -1, 0
        word = "".join(raw.lower().split())
        if "." in word and not word[0].isdigit():
            joined = word.replace(".", "")
            word = {"us": "usa", "uk": "british"}.get(joined, joined)
        elif raw in ("US", "UK"):
            word = {"US": "usa", "UK": "british"}[raw]
        word = self._numbers.get(word, word)
        if word[0].isdigit():
            digits = word.replace(",", "").rstrip(".")
            return self._number(digits), CONTENT | NUMBER
        if word in NEGATIONS:
            return self._number(word), NEGATION
        if word in FUNCTION_WORDS:
            return self._number(word), 0
        stem = self._stem(self._forms.get(word, word))
        return self._number(stem), CONTENT

    def _number(self, stem: str) -> int:
        if stem not in self._ids:
            self._ids[stem] = len(self._ids)
            self._stems.append(stem)
        return self._ids[stem]
