"""English as the lexical judges see it: tokens, stems, function words, negations, sentences."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from litepyramid.errors import InputError

IdArray = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class English:
    """Word lists written for this project: facts of English, no data.

    `irregular` and `numbers` lead from forms to their base (took, take) and digits (two, 2).
    """

    function: frozenset[str]
    negation: frozenset[str]
    abbreviation: frozenset[str]
    irregular: Mapping[str, str]
    numbers: Mapping[str, str]

    @property
    def bare(self) -> frozenset[str]:
        """Words without content."""
        return self.function | self.negation


@cache
def english() -> English:
    """The lists of ``english.txt``: a table's lines are words, or ``base form form;``."""
    text = files("litepyramid.judges.lexical").joinpath("english.txt").read_text(encoding="utf-8")
    parts = dict(part.split("]\n") for part in text.split("[")[1:])
    words = [frozenset(parts[name].split()) for name in ("function", "negation", "abbreviation")]
    tables = ([g.split() for g in parts[name].split(";")] for name in ("irregular", "numbers"))
    irregular, numbers = ({form: base for base, *more in t for form in more} for t in tables)
    return English(words[0], words[1], words[2], irregular, numbers)


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
_COUNTRIES = {"us": "usa", "uk": "british"}

CONTENT, NEGATION, NUMBER, STOP, CAPITAL = 1, 2, 4, 8, 16
SCOPE = 2
"""How many words a negation reaches forward."""
MOST_ALIKE = 100_000_000


def _plain(text: str) -> str:
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
    alike: list[tuple[int, ...]] = [(i,) for i in range(len(stems))]
    by_letter: dict[str, list[int]] = {}
    bare = english().bare
    for i, stem in enumerate(stems):
        if len(stem) >= 4 and stem.isalpha() and stem not in bare:
            by_letter.setdefault(stem[0], []).append(i)
    for letter, block in by_letter.items():
        marked = [f"^{stems[i]}$" for i in block]
        grams = [{text[k : k + 3] for k in range(len(text) - 2)} for text in marked]
        rows_of: dict[str, list[int]] = {}
        for row, some in enumerate(grams):
            for gram in some:
                rows_of.setdefault(gram, []).append(row)
        if sum(len(rows) ** 2 for rows in rows_of.values()) > MOST_ALIKE:
            problem = f"{len(block)} different words in '{letter}', too many of them spelt alike"
            raise InputError(problem, hint="If this is really text, use the judge recall.")
        numbers, sizes = np.array(block), np.array([len(some) for some in grams])
        sharing = {gram: np.array(rows) for gram, rows in rows_of.items()}
        for row, some in enumerate(grams):
            common = np.bincount(np.concatenate([sharing[gram] for gram in some]))
            enough = 2 * common >= least * (sizes[row] + sizes[: len(common)])
            alike[block[row]] = tuple(numbers[: len(common)][enough].tolist())
    return alike


@dataclass(frozen=True, slots=True)
class EncodedText:
    """One text as arrays over its n words, without punctuation.

    Attributes:
        ids: The word's stem as a number of the vocabulary.
        flags: A sum of CONTENT, NEGATION, NUMBER and CAPITAL.
        starts: (sentences,) where each sentence begins; empty with no words.
        negated: A negation stands at most `SCOPE` words before, in the same sentence.
    """

    ids: IdArray
    flags: IdArray
    starts: IdArray
    negated: NDArray[np.bool_]


class Vocabulary:
    """Numbers for stems, filled while texts are encoded. Every distinct word is stemmed once.

    Two words share a number if they have one stem (Snowball English) after numbers are written
    as digits and irregular forms as their base. `stems` are in the order of their numbers.

    Example:
        >>> words = Vocabulary()
        >>> text = words.encode("The U.S. children took twenty-one trips, didn't they?")
        >>> [words.stems[i] for i in text.ids]
        ['the', 'usa', 'child', 'take', '20', 'one', 'trip', 'did', "n't", 'they']
    """

    def __init__(self) -> None:
        import Stemmer  # type: ignore[import-not-found, unused-ignore]

        self.stems: list[str] = []
        self._english = english()
        self._stem = Stemmer.Stemmer("english").stemWord
        self._ids: dict[str, int] = {}
        self._words: dict[str, tuple[int, int]] = {}
        self._texts: dict[str, EncodedText] = {}

    def encode(self, text: str) -> EncodedText:
        """`text` as arrays; the same text is encoded once."""
        if text not in self._texts:
            self._texts[text] = self._encode(text)
        return self._texts[text]

    def number(self, token: str) -> int:
        """The number of the stem of one token, of its digits if it has any; -1 for punctuation."""
        pieces = sorted(_TOKEN.findall(_plain(token)), key=lambda piece: not piece[0].isdigit())
        return self._look_up(pieces[0])[0] if pieces else -1

    def _encode(self, text: str) -> EncodedText:
        ids: list[int] = []
        flags: list[int] = []
        starts: list[int] = []
        fresh, before = True, ""
        for raw in _TOKEN.findall(_plain(text)):
            number, flag = self._look_up(raw)
            if flag & STOP:
                ends = not (
                    raw == "."
                    and (len(before) == 1 or before.lower() in self._english.abbreviation)
                )
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
            for index in range(first, end):
                if flags[index] & NEGATION:
                    negated[index + 1 : min(index + 1 + SCOPE, end)] = True
        numbers, kinds, firsts = (np.array(v, dtype=np.int32) for v in (ids, flags, starts))
        return EncodedText(numbers, kinds, firsts, negated)

    def _look_up(self, raw: str) -> tuple[int, int]:
        """Number and flags of a token, found out once."""
        if raw not in self._words:
            stem, flag = self._read(raw)
            self._words[raw] = self._number(stem) if stem else -1, flag
        return self._words[raw]

    def _read(self, raw: str) -> tuple[str, int]:
        """Stem and flags of a token."""
        if raw[0] in ".!?\n":
            return "", STOP
        if raw[0] == "<":
            return "", 0
        word = "".join(raw.lower().split())
        if "." in word and not word[0].isdigit():
            joined = word.replace(".", "")
            word = _COUNTRIES.get(joined, joined)
        elif raw in ("US", "UK"):
            word = _COUNTRIES[word]
        word = self._english.numbers.get(word, word)
        if word[0].isdigit():
            return word.replace(",", "").rstrip("."), CONTENT | NUMBER
        if word in self._english.negation:
            return word, NEGATION
        if word in self._english.function:
            return word, 0
        flag = CONTENT | CAPITAL if raw[0].isupper() else CONTENT
        return self._stem(self._english.irregular.get(word, word)), flag

    def _number(self, stem: str) -> int:
        if stem not in self._ids:
            self._ids[stem] = len(self._ids)
            self.stems.append(stem)
        return self._ids[stem]
