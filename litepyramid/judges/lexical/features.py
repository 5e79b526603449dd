"""English as the lexical judge sees it, and its features of a unit and a summary.

Features are of overlap, and nothing about the corpus. A unit's *words* are its distinct
content words (function words and negations are left out; all of its words where nothing
else is left). A word is *matched* if the summary holds its stem or one like it (Nepal,
Nepalese); its weight is its idf.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import Self

import numpy as np
from numpy.typing import NDArray

from litepyramid.errors import InputError
from litepyramid.types import FloatArray

IdArray = NDArray[np.int32]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class English:
    """Word lists written for this project: facts of English, no data.

    `irregular` and `numbers` lead from forms to their base (took, take) and digits
    (two, 2).
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
    """The lists of ``english.txt``: a table's lines are words, or ``base form
    form;``."""
    text = (files("litepyramid.judges.lexical") / "english.txt").read_text("utf-8")
    parts = dict(part.split("]\n") for part in text.split("[")[1:])

    def bases(name: str) -> dict[str, str]:
        base_of: dict[str, str] = {}
        for group in parts[name].split(";"):
            base, *forms = group.split()
            base_of |= dict.fromkeys(forms, base)
        return base_of

    return English(
        frozenset(parts["function"].split()),
        frozenset(parts["negation"].split()),
        frozenset(parts["abbreviation"].split()),
        bases("irregular"),
        bases("numbers"),
    )


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
_QUOTES = str.maketrans("\u2019\u2018\u02bc", "'''")
_SCALES = {"m": "million", "k": "1000"}
_COUNTRIES = {"us": "usa", "uk": "british"}

CONTENT = 1
NEGATION = 2
NUMBER = 4
STOP = 8
CAPITAL = 16
SCOPE = 2
"""How many words a negation reaches forward."""
# Comparisons of one letter's stems: text has far fewer, random letters fill an hour.
MOST_ALIKE = 100_000_000


def _plain(text: str) -> str:
    """`text` with straight apostrophes and without accents."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text.translate(_QUOTES))
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def alike_stems(stems: Sequence[str]) -> list[tuple[int, ...]]:
    """Per stem the numbers of the stems spelt alike, its own among them.

    Alike are stems of at least 4 letters, no function words or negations, with the same
    first letter and a Dice coefficient of letter trigrams (ends marked) of at least
    .45.

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
            raise InputError(
                f"{len(block)} different words in '{letter}', too many of them spelt "
                "alike",
                hint="If this is really text, use the judge recall.",
            )

        numbers = np.array(block)
        sizes = np.array([len(some) for some in grams])
        sharing = {gram: np.array(rows) for gram, rows in rows_of.items()}

        for row, some in enumerate(grams):
            common = np.bincount(np.concatenate([sharing[gram] for gram in some]))
            # Dice, 2 |a & b| / (|a| + |b|), without the division.
            enough = 2 * common >= 0.45 * (sizes[row] + sizes[: len(common)])
            alike[block[row]] = tuple(numbers[: len(common)][enough].tolist())

    return alike


@dataclass(frozen=True, slots=True)
class EncodedText:
    """One text as arrays over its n words: their stems as numbers of the vocabulary,
    their flags.

    `starts` is where each sentence begins; `negated` is true up to `SCOPE` words after
    a negation.
    """

    ids: IdArray
    flags: IdArray
    starts: IdArray
    negated: NDArray[np.bool_]


class Vocabulary:
    """Numbers for stems, filled while texts are encoded. Every distinct word is stemmed
    once.

    Two words share a number if they have one stem (Snowball English) after numbers are
    written as digits and irregular forms as their base. `stems` are in the order of
    their numbers.

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
        """The number of the stem of one token, of its digits if it has any; -1 for
        punctuation."""
        pieces = _TOKEN.findall(_plain(token))
        # Of "$5m" it is the 5 that counts; the sort keeps the order of all others.
        pieces.sort(key=lambda piece: not piece[0].isdigit())
        return self._look_up(pieces[0])[0] if pieces else -1

    def _encode(self, text: str) -> EncodedText:
        ids: list[int] = []
        flags: list[int] = []
        starts = []
        fresh = True
        before = ""

        for raw in _TOKEN.findall(_plain(text)):
            number, flag = self._look_up(raw)
            if flag & STOP:
                # "J. Smith", "Mr. Smith": this point ends no sentence.
                short = len(before) == 1 or before.lower() in self._english.abbreviation
                fresh = fresh or not (raw == "." and short)
                continue

            if number < 0:
                continue
            # "5m" is read as 5 million, "5k" as 5 1000; m alone is a word.
            if raw in _SCALES and flags and flags[-1] & NUMBER:
                number = self._number(self._stem(_SCALES[raw]))
                flag = CONTENT

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

        numbers, kinds, firsts = (
            np.array(v, dtype=np.int32) for v in (ids, flags, starts)
        )
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


FEATURES: dict[str, tuple[int, str]] = {
    "late_weight": (
        +1,
        "share of the words matched, by idf times position in the unit",
    ),
    "last_word": (+1, "the unit's last word is matched"),
    "missing_weight": (-1, "1 - exp(-summed idf of the words not matched)"),
    "tokens": (
        +1,
        "share of all the unit's words matched, with function words; same stems only",
    ),
    "sentence_late": (+1, "share matched by position, in the best single sentence"),
    "sentence_all": (+1, "one sentence holds every word"),
    "window_weight": (
        +1,
        "share matched by idf, within 1.5 x the unit's words + 2 content words",
    ),
    "lcs": (+1, "longest common subsequence with one sentence / length, all words"),
    "numbers_missing": (
        -1,
        "share of the unit's numbers not matched; 0 without numbers",
    ),
    "number_conflict": (
        -1,
        "that, if the best sentence has numbers, times its share by idf",
    ),
    "names_missing": (
        -1,
        "share of the unit's capitalised words not matched; 0 without any",
    ),
    "negation_mismatch": (
        -1,
        "a matched word is negated on one side only; times the share by idf",
    ),
}
"""Name: (sign that its weight may have, what it is). In the order of the columns."""


@dataclass(frozen=True)
class WordRows:
    """Stems of many units, one after the other; -1 for a unit without any; the unit of
    each row."""

    ids: IdArray
    starts: IdArray
    lengths: IdArray
    owner: IdArray

    @classmethod
    def of(cls, stems: Sequence[Sequence[int]]) -> Self:
        """The rows of units with these stems."""
        lengths = np.array([*map(len, stems)], dtype=np.int32)
        return cls(
            ids=np.array([*chain.from_iterable(stems)], dtype=np.int32),
            starts=(np.cumsum(lengths) - lengths).astype(np.int32),
            lengths=lengths,
            owner=np.repeat(np.arange(len(lengths), dtype=np.int32), lengths),
        )

    def total(self, values: NDArray[np.generic]) -> FloatArray:
        """Sums over the rows of each unit (and what other axes there are)."""
        sums = np.add.reduceat(
            values,
            self.starts,
            axis=0,
            dtype=np.float64,
        )
        return sums

    def normal(self, weights: FloatArray) -> FloatArray:
        """`weights` divided by their sum over the unit."""
        return weights / self.total(weights)[self.owner]

    def share(self, hits: BoolArray, rows: IdArray) -> FloatArray:
        """Per unit the share of `rows` that are hit; 0 for a unit with none of them."""
        owner = self.owner[rows]
        units = len(self.lengths)
        many = np.bincount(owner, minlength=units)
        return np.bincount(owner, weights=hits, minlength=units) / np.maximum(many, 1)


@dataclass(frozen=True)
class UnitSet:
    """Units made ready to be held against many summaries: all their `tokens`, and by
    word the rest.

    `masks` are per stem the bits at which it stands among all tokens, one free bit
    after each unit, `fields` per unit its first bit and its bits, moved down to 0.
    `alike` are the stems like each word's, lists that begin at `alike_starts`;
    `weights`, `place` and `late` sum to 1 over a unit (idf, place, place times idf);
    `numbers` and `names` are rows of words.
    """

    tokens: WordRows
    masks: dict[int, int]
    fields: tuple[tuple[int, int], ...]
    words: WordRows
    alike: IdArray
    alike_starts: IdArray
    idf: FloatArray
    weights: FloatArray
    place: FloatArray
    late: FloatArray
    numbers: IdArray
    names: IdArray
    negated: BoolArray

    @classmethod
    def of(
        cls,
        units: Sequence[EncodedText],
        idf: FloatArray,
        alike: Sequence[Sequence[int]],
    ) -> Self:
        """`units` made ready, by the weight of each stem and those like it; last: "no
        word"."""
        tokens = []
        content = []
        fields = []
        bit = 0
        flags = []
        negated: list[bool] = []
        masks: dict[int, int] = {}

        for unit in units:
            stems = unit.ids.tolist() or [-1]
            marks = unit.flags.tolist() or [0]
            rows = [k for k, mark in enumerate(marks) if mark & CONTENT]
            rows = rows or [*range(len(stems))]
            # The first place of each word: from behind, so that the first one stays.
            first = sorted({stems[k]: k for k in reversed(rows)}.values())
            tokens.append(stems)
            content.append([stems[k] for k in first])
            # A capital at the head of the unit marks a name only if another one
            # follows.
            opening = CAPITAL if len(marks) > 1 and marks[1] & CAPITAL else 0
            flags += [marks[k] if k else marks[k] & (~CAPITAL | opening) for k in first]
            negated += unit.negated[first].tolist() if len(unit.ids) else [False]
            for k, stem in enumerate(stems, bit):
                masks[stem] = masks.get(stem, 0) | 1 << k
            fields.append((bit, (1 << len(stems)) - 1))
            bit += len(stems) + 1

        words = WordRows.of(content)
        like = WordRows.of([alike[stem] for stem in words.ids.tolist()])
        weight = idf[words.ids]
        place = np.arange(1.0, len(words.ids) + 1.0) - words.starts[words.owner]
        return cls(
            tokens=WordRows.of(tokens),
            masks=masks,
            fields=tuple(fields),
            words=words,
            alike=like.ids,
            alike_starts=like.starts,
            idf=weight,
            weights=words.normal(weight),
            place=words.normal(place),
            late=words.normal(place * weight),
            numbers=np.flatnonzero(np.array(flags) & NUMBER).astype(np.int32),
            names=np.flatnonzero(np.array(flags) & CAPITAL).astype(np.int32),
            negated=np.array(negated),
        )

    def common_subsequences(self, sentences: Sequence[Sequence[int]]) -> FloatArray:
        """Lengths of the longest common subsequences, (units, sentences).

        All units go at once through the bit-parallel recurrence of Hyyrö (2004),
        V' = (V + (V & M)) | (V & ~M), on one long integer; the free bit after each unit
        takes the carry and is cleared. LCS length = cleared bits of the unit.
        """
        full = sum(bits << shift for shift, bits in self.fields)
        lengths = []
        for sentence in sentences:
            state = full
            for stem in sentence:
                mask = self.masks.get(stem, 0)
                if match := state & mask:
                    state = ((state + match) | (state & ~mask)) & full
            cleared = full & ~state
            lengths.append(
                [(cleared >> shift & bits).bit_count() for shift, bits in self.fields]
            )

        return np.array(lengths, dtype=np.float64).T


def overlap(units: UnitSet, summary: EncodedText) -> FloatArray:
    """The features of `units` against one summary of at least one word."""
    words = units.words
    tokens = units.tokens
    starts = summary.starts
    # Words of all units against all words of the summary, at once.
    same = tokens.ids[:, None] == summary.ids[None, :]
    alike = _any(units.alike[:, None] == summary.ids[None, :], units.alike_starts)
    matched = np.logical_or.reduce(alike, axis=1)
    in_sentence = _any(alike, starts, axis=1)
    plain = alike[:, ~summary.negated].any(axis=1)
    denied = alike[:, summary.negated].any(axis=1)
    turned = np.where(units.negated, plain & ~denied, denied & ~plain)
    sentence_weight = words.total(in_sentence * units.weights[:, None])
    best = sentence_weight.argmax(axis=1)
    with_numbers = np.logical_or.reduceat(summary.flags & NUMBER > 0, starts)[best]
    numbers_missing = words.share(~matched[units.numbers], units.numbers)
    sentences = [stems.tolist() for stems in np.split(summary.ids, starts[1:])]
    columns = {
        "late_weight": words.total(matched * units.late),
        "last_word": matched[words.starts + words.lengths - 1],
        "missing_weight": 1.0 - np.exp(-words.total(~matched * units.idf)),
        "tokens": tokens.total(same.any(axis=1)) / tokens.lengths,
        "sentence_late": words.total(in_sentence * units.place[:, None]).max(axis=1),
        "sentence_all": (~_any(~in_sentence, words.starts)).any(axis=1),
        "window_weight": _window_weight(units, alike[:, summary.flags & CONTENT > 0]),
        "lcs": units.common_subsequences(sentences).max(axis=1) / tokens.lengths,
        "numbers_missing": numbers_missing,
        "number_conflict": numbers_missing * with_numbers * sentence_weight.max(axis=1),
        "names_missing": words.share(~matched[units.names], units.names),
        "negation_mismatch": _any(turned, words.starts)
        * words.total(matched * units.weights),
    }

    return np.stack([columns[name] for name in FEATURES], axis=1).astype(np.float64)


def _window_weight(units: UnitSet, alike: BoolArray) -> FloatArray:
    """The largest share by idf that is matched within 1.5 n + 2 content words of the
    summary."""
    size = alike.shape[1]
    if not size:
        return np.zeros(len(units.words.lengths))
    width = (1.5 * units.words.lengths).astype(np.int64)[units.words.owner] + 2
    # A word is within a window if its running count grows from one end to the other.
    sums = np.cumsum(np.pad(alike, ((0, 0), (1, 0))), axis=1, dtype=np.int32)
    end = np.minimum(np.arange(size) + width[:, None], size)
    inside = np.take_along_axis(sums, end, axis=1) > sums[:, :-1]
    return np.asarray(units.words.total(inside * units.weights[:, None]).max(axis=1))


def _any(hits: BoolArray, starts: IdArray, axis: int = 0) -> BoolArray:
    """Whether any of the rows (columns) from each start up to the next is hit."""
    return np.asarray(np.logical_or.reduceat(hits, starts, axis=axis), dtype=np.bool_)
