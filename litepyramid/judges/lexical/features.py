"""What the lexical judge measures of a unit against a summary: overlap, nothing of the corpus.

Notation: a unit's *words* are its distinct content words (function words and negations are left
out; all of its words where nothing else is left). ``exact`` = same stem, ``alike`` = same stem or
a common beginning of at least 4 letters and `ALIKE` of the longer stem (Nepal, Nepalese). A word's
weight is its idf. The *best sentence* holds most of the unit's weight, the first of equals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from litepyramid.judges.lexical.text import (
    CAPITAL,
    CONTENT,
    NUMBER,
    EncodedText,
    IdArray,
    alike_stems,
)
from litepyramid.judges.lexical.words import PRONOUNS
from litepyramid.types import FloatArray

BoolArray = NDArray[np.bool_]

FEATURES: dict[str, tuple[int, str]] = {
    "exact_recall": (+1, "share of the words found"),
    "exact_weight": (+1, "the same, words weighted by idf"),
    "alike_recall": (+1, "share of the words found, alike ones too"),
    "alike_weight": (+1, "the same, words weighted by idf"),
    "late_weight": (+1, "the same, weight times place in the unit: news comes last"),
    "last_word": (+1, "the unit's last word is found"),
    "all_words": (+1, "every word is found"),
    "missing_weight": (-1, "1 - exp(-summed idf of the words not found)"),
    "tokens": (+1, "share of all the unit's words found, function words too"),
    "sentence_tokens": (+1, "the same within one sentence, the best of them"),
    "sentence_weight": (+1, "alike_weight within one sentence, the best of them"),
    "sentence_late": (+1, "alike recall by place within one sentence, the best of them"),
    "sentence_all": (+1, "one sentence holds every word"),
    "pair_weight": (+1, "alike_weight within two neighbouring sentences, the best of them"),
    "resolved_weight": (+1, "as sentence_weight, a pronoun standing for names written before"),
    "window_weight": (+1, "alike_weight within 1.5 n + 2 content words, n the unit's words"),
    "bigrams": (+1, "share of the unit's bigrams found, all words"),
    "trigrams": (+1, "share of the unit's trigrams found, all words"),
    "lcs": (+1, "longest common subsequence with one sentence / length, all words"),
    "lcs_content": (+1, "the same, content words"),
    "density": (+1, "words found in the best sentence, times how closely they stand there"),
    "numbers_missing": (-1, "share of the unit's numbers not found; 0 without numbers"),
    "number_conflict": (-1, "that, if the best sentence has other numbers, times its weight"),
    "names_missing": (-1, "share of the unit's capitalised words not found; 0 without any"),
    "negation_mismatch": (-1, "a found word is negated on one side only; times alike_weight"),
}
"""Name: (sign that its weight may have, what it is). In the order of the columns."""


@dataclass(frozen=True, slots=True)
class StemTable:
    """What is known of each stem of a vocabulary; the last entry stands for "no word".

    Attributes:
        idf: (stems + 1,) weight in (0, 1].
        alike: Per stem its own number and those of the stems spelt alike.
        pronouns: (stems + 1,) bool.
    """

    idf: FloatArray
    alike: tuple[tuple[int, ...], ...]
    pronouns: BoolArray

    @classmethod
    def of(cls, stems: Sequence[str], idf: FloatArray) -> StemTable:
        """The table of `stems`, whose weights are `idf`."""
        return cls(
            idf=np.append(idf, 1.0),
            alike=(*alike_stems(stems), (-1,)),
            pronouns=np.array([*(stem in PRONOUNS for stem in stems), False]),
        )


@dataclass(frozen=True, slots=True)
class Rows:
    """Words of many units, one after the other; no unit is without a row.

    Attributes:
        ids: (rows,) stems; -1 where a unit has no word at all.
        starts: (units,) first row of each unit.
        lengths: (units,) rows of each unit.
        owner: (rows,) unit of each row.
        masks: Per stem the bits at which it stands, one free bit after each unit.
        fields: Per unit its first bit and its bits, moved down to 0.
    """

    ids: IdArray
    starts: IdArray
    lengths: IdArray
    owner: IdArray
    masks: dict[int, int]
    fields: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, ids: Sequence[int], lengths: Sequence[int]) -> Rows:
        """Rows of units of these lengths."""
        sizes = np.array(lengths, dtype=np.int32)
        masks: dict[int, int] = {}
        fields = []
        row = bit = 0
        for length in lengths:
            for k in range(length):
                stem = ids[row + k]
                masks[stem] = masks.get(stem, 0) | 1 << (bit + k)
            fields.append((bit, (1 << length) - 1))
            row += length
            bit += length + 1
        return cls(
            ids=np.array(ids, dtype=np.int32),
            starts=(np.cumsum(sizes) - sizes).astype(np.int32),
            lengths=sizes,
            owner=np.repeat(np.arange(len(sizes), dtype=np.int32), sizes),
            masks=masks,
            fields=tuple(fields),
        )

    def runs(self, n: int) -> IdArray:
        """Rows at which `n` rows of one unit begin."""
        owner = self.owner
        return np.flatnonzero(owner[: len(owner) - n + 1] == owner[n - 1 :]).astype(np.int32)

    def total(self, values: NDArray[np.generic]) -> FloatArray:
        """Sums over the rows of each unit (and what other axes there are)."""
        sums: FloatArray = np.add.reduceat(values, self.starts, axis=0, dtype=np.float64)
        return sums

    def normal(self, weights: FloatArray) -> FloatArray:
        """`weights` divided by their sum over the unit."""
        return weights / self.total(weights)[self.owner]

    def share(self, hits: BoolArray, rows: IdArray, default: FloatArray | float) -> FloatArray:
        """Per unit the share of `rows` that are hit; `default` for a unit with none of them."""
        owner = self.owner[rows]
        units = len(self.lengths)
        many = np.bincount(owner, minlength=units)
        hit = np.bincount(owner, weights=hits, minlength=units)
        return np.where(many > 0, hit / np.maximum(many, 1), default)


@dataclass(frozen=True, slots=True)
class UnitSet:
    """Units made ready to be held against many summaries.

    Attributes:
        tokens: All words.
        words: The distinct content words.
        rows: Where the words stand among the tokens.
        alike, alike_starts: Stems alike to each word, one list after the other, and where each
            word's begin.
        weights: (words,) idf, summing to 1 over each unit.
        equal, place, late: (words,) the same for 1, for place, for place times idf.
        numbers, names: Rows of the words that are numbers, that are capitalised.
        subject: (words,) names and first words: what a pronoun may stand for.
        negated: (words,) whether a negation stands within `SCOPE` words before the word.
        bigrams, trigrams: Rows at which such a run begins.
    """

    tokens: Rows
    words: Rows
    rows: IdArray
    alike: IdArray
    alike_starts: IdArray
    idf: FloatArray
    equal: FloatArray
    weights: FloatArray
    place: FloatArray
    late: FloatArray
    numbers: IdArray
    names: IdArray
    subject: BoolArray
    negated: BoolArray
    bigrams: IdArray
    trigrams: IdArray

    @classmethod
    def of(cls, units: Sequence[EncodedText], table: StemTable) -> UnitSet:
        """`units` (at least one) made ready."""
        ids: list[int] = []
        rows: list[int] = []
        flags: list[int] = []
        negated: list[bool] = []
        lengths, sizes = [], []
        for unit in units:
            own = unit.ids.tolist() or [-1]
            marks = unit.flags.tolist() or [0]
            kept = [k for k, mark in enumerate(marks) if mark & CONTENT] or range(len(own))
            first_at = {own[k]: k for k in reversed(kept)}
            kept = sorted(first_at.values())
            opening = len(marks) > 1 and marks[1] & CAPITAL
            rows += [len(ids) + k for k in kept]
            # A capital at the head of the sentence marks a name only if another one follows.
            flags += [marks[k] if k or opening else marks[k] & ~CAPITAL for k in kept]
            ids += own
            lengths.append(len(own))
            sizes.append(len(kept))
            negated += unit.negated[kept].tolist() if len(unit.ids) else [False]
        tokens = Rows.of(ids, lengths)
        words = Rows.of([ids[row] for row in rows], sizes)
        mark = np.array(flags, dtype=np.int32)
        idf = table.idf[words.ids]
        place = np.arange(1.0, len(rows) + 1.0) - words.starts[words.owner]
        alike = [table.alike[stem] for stem in words.ids.tolist()]
        many = np.array([len(others) for others in alike], dtype=np.int32)
        subject = (mark & CAPITAL) > 0
        subject[words.starts] = True
        return cls(
            tokens=tokens,
            words=words,
            rows=np.array(rows, dtype=np.int32),
            alike=np.array([other for others in alike for other in others], dtype=np.int32),
            alike_starts=(np.cumsum(many) - many).astype(np.int32),
            idf=idf,
            equal=words.normal(np.ones(len(rows))),
            weights=words.normal(idf),
            place=words.normal(place),
            late=words.normal(place * idf),
            numbers=np.flatnonzero(mark & NUMBER).astype(np.int32),
            names=np.flatnonzero(mark & CAPITAL).astype(np.int32),
            subject=subject,
            negated=np.array(negated),
            bigrams=tokens.runs(2),
            trigrams=tokens.runs(3),
        )


def common_subsequences(rows: Rows, sentences: Sequence[Sequence[int]]) -> FloatArray:
    """Lengths of the longest common subsequences, (units, sentences).

    All units go at once through the bit-parallel recurrence of Hyyrö (2004),
    V' = (V + (V & M)) | (V & ~M), on one long integer; the free bit after each unit takes the
    carry and is cleared. LCS length = cleared bits of the unit.
    """
    full = 0
    for shift, bits in rows.fields:
        full |= bits << shift
    lengths = []
    for sentence in sentences:
        state = full
        for stem in sentence:
            mask = rows.masks.get(stem)
            if mask is not None and (match := state & mask):
                state = ((state + match) | (state & ~mask)) & full
        cleared = full & ~state
        lengths.append([(cleared >> shift & bits).bit_count() for shift, bits in rows.fields])
    return np.array(lengths, dtype=np.float64).T


def overlap(units: UnitSet, summary: EncodedText, table: StemTable) -> FloatArray:
    """The features of `units` against one summary of at least one word.

    Returns:
        (units, features) float64 in the order of `FEATURES`, all in [0, 1].
    """
    words, tokens = units.words, units.tokens
    starts, n = summary.starts, len(summary.ids)
    ends = np.append(starts[1:], n)
    by_sentence = partial(_any, starts=starts, axis=1)

    same = tokens.ids[:, None] == summary.ids[None, :]
    exact = same[units.rows]
    alike = _any(units.alike[:, None] == summary.ids[None, :], units.alike_starts)
    found = _hit(alike)
    content = np.flatnonzero(summary.flags & CONTENT)
    in_sentence = by_sentence(alike)
    weight_in = words.total(in_sentence * units.weights[:, None])
    best = weight_in.argmax(axis=1)
    sentence_weight = weight_in.max(axis=1)

    def weigh(hits: BoolArray, weights: FloatArray) -> FloatArray:
        return words.total(hits * weights)

    def best_of(hits: BoolArray, weights: FloatArray) -> FloatArray:
        return np.asarray(words.total(hits * weights[:, None]).max(axis=1))

    # Two sentences; one sentence whose pronouns stand for the unit's names in earlier ones.
    two = in_sentence[:, :-1] | in_sentence[:, 1:] if len(starts) > 1 else in_sentence
    earlier = np.zeros_like(in_sentence)
    earlier[:, 1:] = np.logical_or.accumulate(in_sentence, axis=1)[:, :-1]
    pronoun = _any(table.pronouns[summary.ids], starts)
    resolved = in_sentence | (earlier & pronoun[None, :] & units.subject[:, None])

    # Where the matches stand in the best sentence.
    sentence_of = np.repeat(np.arange(len(starts)), ends - starts)
    near = alike & (sentence_of[None, :] == best[words.owner][:, None])
    at = _any(near, words.starts)
    low = at.argmax(axis=1)
    high = n - at[:, ::-1].argmax(axis=1)
    matched = weigh(_hit(near), units.equal)
    span = _between(summary.flags & CONTENT, low, high)
    close = np.minimum(1.0, matched * words.lengths / np.maximum(span, 1))
    plain, denied = _hit(alike[:, ~summary.negated]), _hit(alike[:, summary.negated])
    turned = np.where(units.negated, plain & ~denied, denied & ~plain)
    numbers = _between(summary.flags & NUMBER, starts[best], ends[best])
    numbers_missing = words.share(~found[units.numbers], units.numbers, 0.0)

    stems = summary.ids.tolist()
    sentences = [stems[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
    exact_recall = weigh(_hit(exact), units.equal)
    alike_weight = weigh(found, units.weights)
    hit2 = same[units.bigrams, :-1] & same[units.bigrams + 1, 1:]
    hit3 = same[units.trigrams, :-2] & same[units.trigrams + 1, 1:-1] & same[units.trigrams + 2, 2:]
    bigrams = tokens.share(_hit(hit2), units.bigrams, exact_recall)
    columns = {
        "exact_recall": exact_recall,
        "exact_weight": weigh(_hit(exact), units.weights),
        "alike_recall": weigh(found, units.equal),
        "alike_weight": alike_weight,
        "late_weight": weigh(found, units.late),
        "last_word": found[words.starts + words.lengths - 1],
        "all_words": ~_any(~found, words.starts),
        "missing_weight": 1.0 - np.exp(-weigh(~found, units.idf)),
        "tokens": tokens.total(_hit(same)) / tokens.lengths,
        "sentence_tokens": tokens.total(by_sentence(same)).max(axis=1) / tokens.lengths,
        "sentence_weight": sentence_weight,
        "sentence_late": best_of(in_sentence, units.place),
        "sentence_all": (~_any(~in_sentence, words.starts)).any(axis=1),
        "pair_weight": best_of(two, units.weights),
        "resolved_weight": best_of(resolved, units.weights),
        "window_weight": _window(units, alike[:, content]),
        "bigrams": bigrams,
        "trigrams": tokens.share(_hit(hit3), units.trigrams, bigrams),
        "lcs": common_subsequences(tokens, sentences).max(axis=1) / tokens.lengths,
        "lcs_content": common_subsequences(words, sentences).max(axis=1) / words.lengths,
        "density": matched * close,
        "numbers_missing": numbers_missing,
        "number_conflict": numbers_missing * (numbers > 0) * sentence_weight,
        "names_missing": words.share(~found[units.names], units.names, 0.0),
        "negation_mismatch": _any(turned, words.starts) * alike_weight,
    }
    return np.stack([columns[name] for name in FEATURES], axis=1).astype(np.float64)


def _any(hits: BoolArray, starts: IdArray, axis: int = 0) -> BoolArray:
    """Whether any of the rows (columns) from each start up to the next is hit."""
    return np.asarray(np.logical_or.reduceat(hits, starts, axis=axis), dtype=np.bool_)


def _hit(hits: BoolArray) -> BoolArray:
    """Whether a row has any hit."""
    return np.asarray(hits.any(axis=1), dtype=np.bool_)


def _between(flags: IdArray, low: IdArray, high: IdArray) -> IdArray:
    """How many words with a flag stand at low <= place < high."""
    sums = np.zeros(len(flags) + 1, dtype=np.int32)
    np.cumsum(flags > 0, out=sums[1:])
    return np.asarray(sums[high] - sums[low])


def _window(units: UnitSet, alike: BoolArray) -> FloatArray:
    """The largest weight found within 1.5 n + 2 content words of the summary."""
    size = alike.shape[1]
    if size == 0:
        return np.zeros(len(units.words.lengths))
    sums = np.zeros((len(alike), size + 1), dtype=np.int32)
    np.cumsum(alike, axis=1, out=sums[:, 1:])
    width = (1.5 * units.words.lengths).astype(np.int64)[units.words.owner] + 2
    end = np.minimum(np.arange(size)[None, :] + width[:, None], size)
    inside = np.take_along_axis(sums, end, axis=1) > sums[:, :-1]
    return np.asarray(units.words.total(inside * units.weights[:, None]).max(axis=1))
