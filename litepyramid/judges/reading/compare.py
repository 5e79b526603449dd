"""Units held against a sentence: which words answer each other, and what contradicts.

All pairs go at once, word by word. A unit's *row* is one of its words in one pair; its *partner*
is the word of the sentence that answers it. A conflict counts only as far as the rest of the unit
is there (its *share*), for else the unit is absent anyway.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from litepyramid.judges.reading.lexicon import ALIKE, CONTRADICTED, EXACT, OPPOSITE, Relations
from litepyramid.judges.reading.trees import (
    ADVERB,
    AGENT,
    CLAUSE,
    IS,
    PATIENT,
    PREPOSITION,
    BoolArray,
    Trees,
)
from litepyramid.types import FloatArray, IntArray

CONFLICTS: dict[str, str] = {
    "denied": "denied on one side only",
    "opposite": "opposite words",
    "exchanged": "agent and patient swapped",
    "open": "hedged, planned or conditional in the summary",
    "number": "a different number",
    "rival": "a different month, unit, colour …",
    "amount": "a different quantifier",
    "other": "another name",
    "elsewhere": "said of something else",
}
"""Name: what it is. In the order of the columns."""
_STRENGTH = np.array([0.0, 0.0, 0.8, 1.0])
PRONOUN = 0.8
"""Weight of a word that a pronoun of the sentence may stand for."""
NUMBER = 0.4
"""Weight of a number against that of a word: numbers are rare words."""


class Keys:
    """Numbers by integer key, a key as often as it comes."""

    def __init__(self, keys: IntArray, values: IntArray) -> None:
        order = np.argsort(keys, kind="stable")
        self.keys, self.values = keys[order], values[order]

    def has(self, wanted: IntArray) -> BoolArray:
        """Whether each key is there."""
        if not len(self.keys):
            return np.zeros(len(wanted), dtype=np.bool_)
        at = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return np.asarray(self.keys[at] == wanted)

    def get(self, wanted: IntArray) -> tuple[IntArray, IntArray]:
        """All values of the keys wanted, and the place of its key for each."""
        low = np.searchsorted(self.keys, wanted, "left")
        return_count = np.searchsorted(self.keys, wanted, "right") - low
        place, at = spread(low, return_count)
        return place, self.values[at]


def spread(starts: IntArray, counts: IntArray) -> tuple[IntArray, IntArray]:
    """Runs start, start + 1 … one after the other, and the number of its run for each."""
    run = np.repeat(np.arange(len(counts)), counts)
    first = np.cumsum(counts) - counts
    return run, np.arange(len(run)) - first[run] + starts[run]


@dataclass(frozen=True)
class Comparison:
    """Pairs of a unit and a sentence.

    Attributes:
        pair: (rows,) the pair of each row, in order.
        word: (rows,) its token in the units' trees.
        partner: (rows,) the answering token in the sentences' trees, -1 for none.
        rows: The rows that want a partner: content words, of a name the last.
        share: (pairs,) how much of the unit's weight is answered, in [0, 1].
        found: Per conflict the rows, the tokens of the sentence, and strengths in (0, 1].
    """

    pair: IntArray
    word: IntArray
    partner: IntArray
    rows: IntArray
    share: FloatArray
    found: Mapping[str, tuple[IntArray, IntArray, FloatArray]]

    @property
    def features(self) -> FloatArray:
        """The strongest of each conflict, (pairs, conflicts)."""
        columns = np.zeros((len(self.share), len(CONFLICTS)))
        for column, name in enumerate(CONFLICTS):
            rows, _, strength = self.found[name]
            np.maximum.at(columns[:, column], self.pair[rows], strength)
        return columns


class Pairs:
    """Units held against sentences.

    Args:
        units, sentences: The parsed texts, over one vocabulary.
        numbers: (3, pairs) of the unit, of the sentence, and of the context: the words up to
            the sentence in its summary.
        relations: How the stems of the vocabulary are related.
        idf: (stems,) weights.
        earlier: Holds context * stems + stem for all stems of each context.
    """

    def __init__(
        self,
        units: Trees,
        sentences: Trees,
        numbers: IntArray,
        relations: Relations,
        idf: FloatArray,
        earlier: Keys,
    ) -> None:
        unit, sentence, context = numbers
        self.units, self.sentences, self.relations = units, sentences, relations
        self.sentence, self.pairs, self.tokens = sentence, len(unit), len(sentences.texts) + 1
        starts = units.starts[unit]
        counts = units.starts[unit + 1] - starts
        self.pair, self.word = spread(starts, counts)
        self.shift = np.cumsum(counts) - counts - starts
        above = units.governor[self.word]
        self.above = np.where(above >= 0, above + self.shift[self.pair], -1)
        self.content = units.content[self.word]
        self.inner = units.whole[self.word] != self.word
        links, linked = spread(
            np.searchsorted(units.links[0], starts),
            np.searchsorted(units.links[0], units.starts[unit + 1])
            - np.searchsorted(units.links[0], starts),
        )
        upper, self.slot, lower = units.links[:, linked]
        self.upper, self.lower = upper + self.shift[links], lower + self.shift[links]
        kept = self.content[self.upper] & self.content[self.lower]
        kept &= ~self.inner[self.upper] & ~self.inner[self.lower]
        self.upper, self.slot, self.lower = (a[kept] for a in (self.upper, self.slot, self.lower))
        self.slots = PREPOSITION + relations.size
        governor, slot, dependent = sentences.links
        self.fillers = Keys(governor * self.slots + slot, dependent)
        self.children, self.parents = Keys(governor, dependent), Keys(dependent, governor)
        self.link_slots = Keys(governor * self.tokens + dependent, slot)
        self.align(context, earlier)
        weight = np.where(self.content & ~self.inner, idf[units.stem[self.word]], 0.0)
        weight *= np.where(units.number[self.word], NUMBER, 1.0)
        total = np.bincount(self.pair, weight, self.pairs)
        answered = np.bincount(self.pair, weight * self.strength, self.pairs)
        self.share = answered / np.maximum(total, 1e-9)
        self.found: dict[str, tuple[IntArray, IntArray, FloatArray]] = {}

    def align(self, context: IntArray, earlier: Keys) -> None:
        """Finds each row's partner, twice: then with those of its neighbours in sight."""
        units, sentences = self.units, self.sentences
        rows = np.flatnonzero(self.content)
        starts = sentences.starts[self.sentence[self.pair[rows]]]
        ends = sentences.starts[self.sentence[self.pair[rows]] + 1]
        run, there = spread(starts, ends - starts)
        row = rows[run]
        here = self.word[row]
        relation = self.relations.between(units.stem[here], sentences.stem[there])
        pronoun = sentences.pronoun[there] & (units.kind[here] == 1) & ~self.inner[row]
        pronoun &= relation < ALIKE
        said = earlier.has(context[self.pair] * self.relations.size + units.stem[self.word])
        pronoun &= said[row]
        kept = ((relation > 0) & (sentences.content[there] | (relation == EXACT))) | pronoun
        row, here, there = row[kept], here[kept], sentences.whole[there[kept]]
        relation, pronoun = relation[kept], pronoun[kept]
        score = np.where(pronoun, PRONOUN, _STRENGTH[relation])
        score += 0.1 * (units.slot[here] == sentences.slot[there])
        score += 0.05 * (units.kind[here] == sentences.kind[there])

        def best(among: BoolArray, value: FloatArray) -> IntArray:
            at = np.flatnonzero(among)
            at = at[np.argsort(value[at], kind="stable")]
            found = np.full(len(self.word), -1)
            found[row[at]] = at
            return found

        alike = (relation >= ALIKE) & ~pronoun
        chosen = best(alike, score)
        near = np.zeros(len(row))
        for _ in range(2):
            partner = np.where(chosen >= 0, there[chosen], -1) if len(row) else chosen
            near = np.zeros(len(row))
            for near_end, far, links, pull in (
                (self.lower, self.upper, self.children, 0.35),
                (self.upper, self.lower, self.parents, 0.25),
            ):
                place, token = links.get(partner[far])
                reached = Keys(near_end[place] * self.tokens + token, token)
                near += pull * reached.has(row * self.tokens + there)
            chosen = best(alike, score + near)
        stands = best(pronoun & (chosen[row] < 0), score + near)
        chosen = np.where(chosen >= 0, chosen, stands)
        known = chosen >= 0
        safe = np.where(known, chosen, 0)
        self.partner = np.where(known, there[safe], -1) if len(row) else chosen
        self.same = known & alike[safe] if len(row) else known
        power = np.where(pronoun, PRONOUN, _STRENGTH[relation])
        self.strength = np.where(known, power[safe], 0.0) if len(row) else np.zeros(len(known))
        # "The lost Aldous glacier", for which "it" stands.
        led = (stands >= 0)[self.above] & (self.above >= 0) & ~known & said
        self.strength[led] = PRONOUN
        self.taken = Keys(self.pair[known] * self.tokens + self.partner[known], self.partner[known])
        # Opposites: of words that nothing else answers, near partners of their neighbours.
        against = (relation == OPPOSITE) & (near > 0) & ~known[row]
        against &= units.kind[here] == sentences.kind[there]
        against &= ~self.taken.has(self.pair[row] * self.tokens + there)
        found = best(against, score + near)
        self.opposite = np.where(found >= 0, there[found], -1) if len(row) else found
        self.counterpart = np.where(known, self.partner, self.opposite)

    def linked(self, first: IntArray, second: IntArray) -> BoolArray:
        """Whether a link goes from each first token to the second."""
        return self.link_slots.has(first * self.tokens + second) & (first >= 0) & (second >= 0)

    def free(self, pair: IntArray, token: IntArray) -> BoolArray:
        """Which tokens of the sentence answer no word of the unit."""
        return ~self.taken.has(pair * self.tokens + self.sentences.whole[token])

    def add(self, name: str, rows: IntArray, tokens: IntArray, strength: FloatArray) -> None:
        """Keeps a conflict where its strength is above 0."""
        kept = strength > 0
        self.found[name] = rows[kept], tokens[kept], strength[kept]

    def compared(self) -> Comparison:
        """Which words answer each other, and what contradicts."""
        exchanged = self.roles()
        self.polarity(exchanged)
        self.openness()
        self.values()
        self.amounts()
        rows = np.flatnonzero(self.content & ~self.inner)
        return Comparison(self.pair, self.word, self.partner, rows, self.share, self.found)

    def roles(self) -> IntArray:
        """Conflicts of who does it; per pair 1 if one argument changed places, 2 if two did."""
        sentences, partner = self.sentences, self.partner
        above, below = self.counterpart[self.upper], partner[self.lower]
        close = self.same[self.upper] | (self.opposite[self.upper] >= 0)
        at = np.flatnonzero(
            (above >= 0) & (above != below) & close
            & (self.slot != CLAUSE) & (self.slot != ADVERB)
        )  # fmt: skip
        above, below, slot = above[at], below[at], self.slot[at]
        pair = self.pair[self.upper[at]]
        place, filler = self.fillers.get(above * self.slots + slot)
        whole = sentences.whole[filler]

        def some(mask: BoolArray) -> BoolArray:
            found = np.zeros(len(at), dtype=np.bool_)
            found[place[mask]] = True
            return found

        right = some(whole == below[place])
        taken = ~self.free(pair[place], filler)
        other = taken & (sentences.content[filler] | sentences.pronoun[filler])
        moved = ~right & some(other) & self.linked(above, below)
        times = np.bincount(self.upper[at][moved], minlength=len(self.word))
        level = np.zeros(self.pairs, dtype=np.int64)
        np.maximum.at(level, self.pair, np.minimum(times, 2))
        rows = np.flatnonzero(times >= 2)
        opposite = np.where(self.opposite >= 0, sentences.stem[self.opposite], -1)
        converse = self.relations.converse(self.units.stem[self.word], opposite)
        turned = np.bincount(self.pair, converse, self.pairs) > 0
        self.add(
            "exchanged", rows, self.counterpart[rows], np.where(turned[self.pair[rows]], 0.0, 1.0)
        )
        self.undone = turned & (level > 0)
        lower = self.lower[at][place]
        here = self.word[lower]
        stranger = ~taken & ~right[place] & ~some(other)[place]
        stranger &= (self.opposite[lower] < 0) & ~self.units.number[here]
        stranger &= ~self.linked(whole, below[place]) & ~self.linked(below[place], whole)
        names = self.units.name[here] & sentences.name[filler]
        common = (self.units.kind[here] == sentences.kind[filler]) & sentences.content[filler]
        common &= ~names & (self.strength[lower] == 1.0)
        common &= np.isin(slot[place], (AGENT, PATIENT, IS))
        share = self.share[pair[place]]
        self.add("other", lower, filler, share * (stranger & names))
        self.add("elsewhere", lower, filler, share * (stranger & common))
        return level

    def polarity(self, exchanged: IntArray) -> None:
        """Denials and opposites; two of them undo each other, and so do converses exchanged."""
        units, sentences, word = self.units, self.sentences, self.word
        there = np.maximum(self.counterpart, 0)
        opposed = self.opposite >= 0
        answered = (self.counterpart >= 0) & (self.same | opposed) & ~self.inner
        at = np.flatnonzero(self.counterpart >= 0)
        used = Keys(self.pair[at] * self.tokens + self.counterpart[at], at)
        told = used.has(self.pair * self.tokens + sentences.head[there])
        above = np.maximum(self.above, 0)
        own = units.denied[word] ^ (
            units.failed[word] & ~((self.above >= 0) & (self.counterpart[above] >= 0))
        )
        denied = answered & (own != (sentences.denied[there] ^ (sentences.failed[there] & ~told)))
        # Prepositions: "for the plan" against "against the plan".
        at = np.flatnonzero((self.partner[self.upper] >= 0) & (self.partner[self.lower] >= 0))
        at = at[self.slot[at] >= PREPOSITION]
        first, second = self.partner[self.upper[at]], self.partner[self.lower[at]]
        place, slot = self.link_slots.get(first * self.tokens + second)
        slot = np.where(slot >= PREPOSITION, slot - PREPOSITION, -1)
        relation = self.relations.between(self.slot[at][place] - PREPOSITION, slot)
        crossed = np.unique(at[place[relation == OPPOSITE]])
        flips = np.bincount(self.pair, denied.astype(float) + opposed, self.pairs)
        flips += np.bincount(self.pair[self.upper[crossed]], minlength=self.pairs) > 0
        odd = (flips % 2 == 1) & ~self.undone
        linked = self.linked(self.counterpart[self.upper], self.partner[self.lower])
        linked |= self.linked(self.partner[self.lower], self.counterpart[self.upper])
        size = len(word)
        links = np.bincount(self.upper, minlength=size)
        core = np.bincount(self.upper[np.isin(self.slot, (AGENT, PATIENT, IS))], minlength=size)
        kept = np.minimum(1.0, 2 * np.bincount(self.upper, linked, size) / np.maximum(links, 1))
        self.kept = np.where((core > 0) & units.verbal[word], kept, self.share[self.pair])
        rows = np.flatnonzero(denied)
        self.add("denied", rows, there[rows], self.kept[rows] * odd[self.pair[rows]])
        rows = np.concatenate([np.flatnonzero(opposed), self.lower[crossed]])
        strength = self.share[self.pair[rows]] * odd[self.pair[rows]]
        self.add("opposite", rows, self.counterpart[rows], strength)

    def openness(self) -> None:
        """What the unit states and the summary only hopes, fears, plans or supposes."""
        there = np.maximum(self.partner, 0)
        rows = np.flatnonzero(
            self.same & (self.above < 0) & self.content & ~self.units.open[self.word]
            & self.sentences.open[there]
        )  # fmt: skip
        self.add("open", rows, there[rows], self.kept[rows])

    def values(self) -> None:
        """Another number or rival word in a word's place."""
        units, sentences, word = self.units, self.sentences, self.word
        lost = (self.counterpart < 0) & self.content
        number, rival = units.number[word], units.rival[word]
        found: list[tuple[IntArray, IntArray, float]] = []
        above = self.counterpart[self.upper]
        at = np.flatnonzero((above >= 0) & lost[self.lower])
        place, token = self.children.get(above[at])
        found.append((self.lower[at][place], token, 1.0))
        # A number of the unit that stands elsewhere, and another one in its place here.
        at = np.flatnonzero((above >= 0) & number[self.lower] & (self.partner[self.lower] >= 0))
        place, token = self.fillers.get(above[at] * self.slots + self.slot[at])
        apart = ~self.linked(above[at], self.partner[self.lower[at]])[place]
        found.append((self.lower[at][place[apart]], token[apart], 1.0))
        # Beside a word that is there: "400 jars" against "4,000 jars", "6 weeks" against "6 days".
        rows = np.flatnonzero(lost & (number | (rival >= 0)))
        sentence = self.sentence[self.pair[rows]]
        for beside in (-1, 1, 2, 3):
            other = np.clip(rows + beside, 0, len(word) - 1)
            good = (self.pair[other] == self.pair[rows]) & self.same[other]
            for back in (-1,) if beside < 0 else range(1, 5):
                token = self.partner[other] - back
                inside = good & (token >= sentences.starts[sentence])
                inside &= token < sentences.starts[sentence + 1]
                near = 1.0 if back == beside else 0.5
                found.append((rows[inside], token[inside], near))
        # Months, days, seasons: a sentence rarely names two.
        rows = np.flatnonzero(lost & units.calendar[word])
        sentence = self.sentence[self.pair[rows]]
        starts = sentences.starts[sentence]
        place, token = spread(starts, sentences.starts[sentence + 1] - starts)
        found.append((rows[place], token, 1.0))
        rows = np.concatenate([first for first, _, _ in found])
        token = np.concatenate([second for _, second, _ in found])
        strength = np.concatenate([np.full(len(first), power) for first, _, power in found])
        strength *= self.share[self.pair[rows]] * self.free(self.pair[rows], token)
        self.add("number", rows, token, strength * (number[rows] & sentences.number[token]))
        same = (rival[rows] == sentences.rival[token]) & (rival[rows] >= 0)
        same &= lost[rows] & ~number[rows] & (strength > 0)
        full = (strength >= self.share[self.pair[rows]]) & same
        self.add("rival", rows, token, strength * full)

    def amounts(self) -> None:
        """All of them, some, none: what the sentence says rules out what the unit says."""
        rows = np.flatnonzero((self.partner >= 0) & (self.units.amount[self.word] != ""))
        said = self.sentences.amount[self.partner[rows]].tolist()
        stated = self.units.amount[self.word[rows]].tolist()
        against = [b in CONTRADICTED.get(a, ()) for a, b in zip(stated, said, strict=True)]
        strength = self.share[self.pair[rows]] * np.array(against, dtype=np.float64)
        self.add("amount", rows, self.partner[rows], strength)
