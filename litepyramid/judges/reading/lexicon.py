"""What the reading judge knows of words: synonyms, opposites, what denies or hedges."""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from litepyramid.judges.lexical.text import Vocabulary, alike_stems
from litepyramid.judges.lexical.words import FUNCTION_WORDS
from litepyramid.types import IntArray

OPPOSITE, ALIKE, EXACT = 1, 2, 3
CONTRADICTED = {
    "all": {"some", "most", "half", "fewer"},
    "most": {"half", "fewer", "some"},
    "half": {"all", "none", "some", "most", "only", "more", "fewer"},
    "more": {"fewer"},
    "fewer": {"more", "none"},
    "some": {"none"},
}
"""Amount that the unit states: amounts that contradict it when the summary states them."""


@dataclass(frozen=True)
class Lexicon:
    """Lists of stems (see ``lexicon.txt``) and synonyms.

    Attributes:
        lists: Stems by the name of their list.
        amounts: Stem: what it says of how many (``all``, ``none`` …).
        rivals: Stem: number of the class of words that rule each other out.
        calendar: The numbers of the classes of months, days and the like.
        opposites: Pairs of stems, both ways round.
        converses: Those that say the same with their arguments exchanged.
        synonyms: Stem: its groups of synonyms (WordNet 3.0, the first two senses of each word).
    """

    lists: Mapping[str, frozenset[str]]
    amounts: Mapping[str, str]
    rivals: Mapping[str, int]
    calendar: frozenset[int]
    opposites: frozenset[tuple[str, str]]
    converses: frozenset[tuple[str, str]]
    synonyms: Mapping[str, Sequence[int]]

    def alike(self, stems: Sequence[str]) -> list[tuple[int, ...]]:
        """As `alike_stems`, synonyms among the stems too."""
        from scipy.sparse import csr_array

        places = [
            (i, group)
            for i, stem in enumerate(stems)
            if stem not in FUNCTION_WORDS
            for group in self.synonyms.get(stem, ())
        ]
        shape = (len(stems), 1 + max((group for _, group in places), default=0))
        rows, columns = np.array(places, dtype=np.int64).reshape(-1, 2).T
        member = csr_array((np.ones(len(places), dtype=np.float32), (rows, columns)), shape=shape)
        both = (member @ member.T).tocoo()
        found = [set(alike) for alike in alike_stems(stems)]
        for i, j in zip(both.row.tolist(), both.col.tolist(), strict=True):
            found[i].add(j)
        return [tuple(sorted(alike)) for alike in found]


@cache
def load_lexicon() -> Lexicon:
    """Reads the lexicon that ships."""
    folder = files("litepyramid.judges.reading")
    words = Vocabulary()
    lists: dict[str, set[str]] = {}
    amounts: dict[str, str] = {}
    rivals: dict[str, int] = {}
    calendar: set[int] = set()
    opposites: set[tuple[str, str]] = set()
    converses: set[tuple[str, str]] = set()
    text = (folder / "lexicon.txt").read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines()):
        name, colon, rest = line.partition(":")
        if line.startswith("#"):
            continue
        if name in ("rivals", "calendar"):
            rivals = dict.fromkeys(words.stems(rest), number) | rivals
            calendar |= {number} if name == "calendar" else set()
        elif name.startswith("amount "):
            amounts |= dict.fromkeys(words.stems(rest), name.split()[1])
        elif colon:
            lists.setdefault(name, set()).update(words.stems(rest))
        else:
            both = converses if "~" in line else set[tuple[str, str]]()
            one, other = (words.stems(side) for side in line.replace("~", "|").split("|"))
            both |= {(a, b) for a in one for b in other if a != b}
            both |= {(b, a) for a, b in both}
            opposites |= both
    synonyms: dict[str, list[int]] = {}
    groups = gzip.decompress((folder / "synonyms.txt.gz").read_bytes()).decode().splitlines()
    for number, group in enumerate(groups):
        for stem in group.split():
            synonyms.setdefault(stem, []).append(number)
    return Lexicon(
        {name: frozenset(stems) for name, stems in lists.items()},
        amounts,
        rivals,
        frozenset(calendar),
        frozenset(opposites),
        frozenset(converses),
        synonyms,
    )


@dataclass(frozen=True)
class Relations:
    """How the stems of a vocabulary of `size` are related: ``key = first * size + second``.

    Attributes:
        keys: Sorted keys of related pairs.
        codes: OPPOSITE, ALIKE or EXACT for each of them.
        converses: Sorted keys of the converses.
    """

    size: int
    keys: IntArray
    codes: IntArray
    converses: IntArray

    @classmethod
    def of(
        cls, stems: Sequence[str], alike: Sequence[Sequence[int]], lexicon: Lexicon
    ) -> Relations:
        """The relations among `stems`; `alike` as `Lexicon.alike` gives it."""
        size, places = len(stems), {stem: i for i, stem in enumerate(stems)}
        codes = {i * size + j: ALIKE for i, others in enumerate(alike) for j in others}

        def keys(pairs: frozenset[tuple[str, str]]) -> list[int]:
            known = [(places.get(a, -1), places.get(b, -1)) for a, b in pairs]
            return sorted(i * size + j for i, j in known if i >= 0 and j >= 0)

        codes |= dict.fromkeys(keys(lexicon.opposites), OPPOSITE)
        codes |= dict.fromkeys((i * size + i for i in range(size)), EXACT)
        order = sorted(codes)
        return cls(
            size,
            np.array(order, dtype=np.int64),
            np.array([codes[key] for key in order], dtype=np.int64),
            np.array(keys(lexicon.converses), dtype=np.int64),
        )

    def between(self, first: IntArray, second: IntArray) -> IntArray:
        """The relation of each pair of stems, 0 for none; a negative stem has none."""
        if not self.size:
            return np.zeros(len(first), dtype=np.int64)
        wanted = first * self.size + second
        at = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        known = (self.keys[at] == wanted) & (first >= 0) & (second >= 0)
        return np.where(known, self.codes[at], 0)

    def converse(self, first: IntArray, second: IntArray) -> NDArray[np.bool_]:
        """Whether each pair are converses."""
        return np.isin(first * self.size + second, self.converses) & (first >= 0) & (second >= 0)
