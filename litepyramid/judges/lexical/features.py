"""The lexical judge's features of a unit and a summary: overlap, nothing about the corpus.

Notation: a unit's *words* are its distinct content words (function words and negations are left
out; all of its words where nothing else is left). A word is *matched* if the summary holds its
stem or one like it (Nepal, Nepalese). Its weight is its idf.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from litepyramid.judges.lexical.vocabulary import CAPITAL, CONTENT, NUMBER, EncodedText, IdArray
from litepyramid.types import FloatArray

BoolArray = NDArray[np.bool_]

FEATURES: dict[str, tuple[int, str]] = {
    "late_weight": (+1, "share of the words matched, by idf times position in the unit"),
    "last_word": (+1, "the unit's last word is matched"),
    "missing_weight": (-1, "1 - exp(-summed idf of the words not matched)"),
    "tokens": (+1, "share of all the unit's words matched, with function words; same stems only"),
    "sentence_late": (+1, "share matched by position, in the best single sentence"),
    "sentence_all": (+1, "one sentence holds every word"),
    "window_weight": (
        +1,
        "share matched by idf, within 1.5 n + 2 content words, n the unit's words",
    ),
    "lcs": (+1, "longest common subsequence with one sentence / length, all words"),
    "numbers_missing": (-1, "share of the unit's numbers not matched; 0 without numbers"),
    "number_conflict": (-1, "that, if the best sentence has numbers, times its share by idf"),
    "names_missing": (-1, "share of the unit's capitalised words not matched; 0 without any"),
    "negation_mismatch": (-1, "a matched word is negated on one side only; times the share by idf"),
}
"""Name: (sign that its weight may have, what it is). In the order of the columns."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Stems of many units, one after the other; -1 for a unit without any.

    Each unit's first row and its number of rows, (units,); the unit of each row, (rows,).
    """

    ids: IdArray
    starts: IdArray
    lengths: IdArray
    owner: IdArray

    @classmethod
    def of(cls, stems: Sequence[Sequence[int]]) -> Rows:
        """The rows of units with these stems."""
        lengths = np.array([len(row) for row in stems], dtype=np.int32)
        return cls(
            ids=np.array([stem for row in stems for stem in row], dtype=np.int32),
            starts=(np.cumsum(lengths) - lengths).astype(np.int32),
            lengths=lengths,
            owner=np.repeat(np.arange(len(lengths), dtype=np.int32), lengths),
        )

    def total(self, values: NDArray[np.generic]) -> FloatArray:
        """Sums over the rows of each unit (and what other axes there are)."""
        sums: FloatArray = np.add.reduceat(values, self.starts, axis=0, dtype=np.float64)
        return sums

    def normal(self, weights: FloatArray) -> FloatArray:
        """`weights` divided by their sum over the unit."""
        return weights / self.total(weights)[self.owner]

    def share(self, hits: BoolArray, rows: IdArray) -> FloatArray:
        """Per unit the share of `rows` that are hit; 0 for a unit with none of them."""
        owner, units = self.owner[rows], len(self.lengths)
        many = np.bincount(owner, minlength=units)
        return np.bincount(owner, weights=hits, minlength=units) / np.maximum(many, 1)


@dataclass(frozen=True, slots=True)
class UnitSet:
    """Units made ready to be held against many summaries.

    Attributes:
        tokens: All words.
        masks: Per stem the bits at which it stands among all words, one free bit after each unit.
        fields: Per unit its first bit and its bits, moved down to 0.
        words: The distinct content words; what follows is by word.
        alike: Stems alike, one list after the other, which begin at `alike_starts`.
        weights, place, late: Summing to 1 over each unit: idf, place, place times idf.
        numbers, names: Rows of the words that are numbers, that are capitalised.
        negated: Whether a negation stands within `SCOPE` words before.
    """

    tokens: Rows
    masks: dict[int, int]
    fields: tuple[tuple[int, int], ...]
    words: Rows
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
        cls, units: Sequence[EncodedText], idf: FloatArray, alike: Sequence[Sequence[int]]
    ) -> UnitSet:
        """`units` made ready, by the weight of each stem and those like it; last: "no word"."""
        tokens: list[list[int]] = []
        content: list[list[int]] = []
        flags: list[int] = []
        negated: list[bool] = []
        masks: dict[int, int] = {}
        fields = []
        bit = 0
        for unit in units:
            stems, marks = unit.ids.tolist() or [-1], unit.flags.tolist() or [0]
            rows = [k for k, mark in enumerate(marks) if mark & CONTENT] or range(len(stems))
            first = sorted({stems[k]: k for k in reversed(rows)}.values())
            tokens.append(stems)
            content.append([stems[k] for k in first])
            # A capital at the head of the unit marks a name only if another one follows.
            opening = CAPITAL if len(marks) > 1 and marks[1] & CAPITAL else 0
            flags += [marks[k] if k else marks[k] & (~CAPITAL | opening) for k in first]
            negated += unit.negated[first].tolist() if len(unit.ids) else [False]
            for k, stem in enumerate(stems, bit):
                masks[stem] = masks.get(stem, 0) | 1 << k
            fields.append((bit, (1 << len(stems)) - 1))
            bit += len(stems) + 1
        words = Rows.of(content)
        like = Rows.of([alike[stem] for stem in words.ids.tolist()])
        weight = idf[words.ids]
        place = np.arange(1.0, len(words.ids) + 1.0) - words.starts[words.owner]
        return cls(
            tokens=Rows.of(tokens),
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
        V' = (V + (V & M)) | (V & ~M), on one long integer; the free bit after each unit takes the
        carry and is cleared. LCS length = cleared bits of the unit.
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
            lengths.append([(cleared >> shift & bits).bit_count() for shift, bits in self.fields])
        return np.array(lengths, dtype=np.float64).T


def overlap(units: UnitSet, summary: EncodedText) -> FloatArray:
    """The features of `units` against one summary of at least one word."""
    words, tokens = units.words, units.tokens
    starts = summary.starts
    same = tokens.ids[:, None] == summary.ids[None, :]
    alike = _any(units.alike[:, None] == summary.ids[None, :], units.alike_starts)
    matched = np.logical_or.reduce(alike, axis=1)
    in_sentence = _any(alike, starts, axis=1)
    plain, denied = alike[:, ~summary.negated].any(axis=1), alike[:, summary.negated].any(axis=1)
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
        "negation_mismatch": _any(turned, words.starts) * words.total(matched * units.weights),
    }
    return np.stack([columns[name] for name in FEATURES], axis=1).astype(np.float64)


def _window_weight(units: UnitSet, alike: BoolArray) -> FloatArray:
    """The largest share by idf that is matched within 1.5 n + 2 content words of the summary."""
    size = alike.shape[1]
    if not size:
        return np.zeros(len(units.words.lengths))
    width = (1.5 * units.words.lengths).astype(np.int64)[units.words.owner] + 2
    sums = np.cumsum(np.pad(alike, ((0, 0), (1, 0))), axis=1, dtype=np.int32)
    end = np.minimum(np.arange(size) + width[:, None], size)
    inside = np.take_along_axis(sums, end, axis=1) > sums[:, :-1]
    return np.asarray(units.words.total(inside * units.weights[:, None]).max(axis=1))


def _any(hits: BoolArray, starts: IdArray, axis: int = 0) -> BoolArray:
    """Whether any of the rows (columns) from each start up to the next is hit."""
    return np.asarray(np.logical_or.reduceat(hits, starts, axis=axis), dtype=np.bool_)
