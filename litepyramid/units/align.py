"""Which sentence of the references does a unit come from? (ZB21 §3.3)"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from litepyramid.data.records import InputReferences, InputUnits
from litepyramid.errors import InputError
from litepyramid.identity import fingerprint
from litepyramid.sentences import split_sentences
from litepyramid.text import place
from litepyramid.types import IntArray, check_unique

Place = tuple[str, int, int]
_MOST_PAIRS = 100_000_000


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of one reference."""

    input: str
    reference: int
    sentence: int
    text: str

    @property
    def key(self) -> Place:
        """What names it: input, reference, number."""
        return self.input, self.reference, self.sentence


@dataclass(frozen=True, slots=True)
class Alignment:
    """Units of one input, each with the reference and the sentence it belongs to.

    Attributes:
        units: The entries of the input's units in their order (an SCU with several
            contributors is several, `Unit.entries`), `reference` and `sentence` filled
            in.
        of: For each of them, which unit of the input it is an entry of.
        counts: How many name their sentence (``stated``), were ``matched`` by the words
            they share with one, ``tied`` of them with several, are ``unmatched``: the
            first sentence got them.
    """

    units: InputUnits
    of: tuple[int, ...]
    counts: Counter[str]


def word_types(text: str) -> frozenset[str]:
    """The distinct words of a text, lower-cased; punctuation is none."""
    return frozenset(re.findall(r"\w+", text.lower()))


def sharing(types: Sequence[frozenset[str]]) -> Callable[[frozenset[str]], IntArray]:
    """A function that says how many words of a set each of n sets holds, (n,)."""
    lists = defaultdict(list)
    for i, words in enumerate(types):
        for word in words:
            lists[word].append(i)

    holding = {word: np.array(indices) for word, indices in lists.items()}

    def shared(words: frozenset[str]) -> IntArray:
        counts = np.zeros(len(types), dtype=np.int64)
        for word in words & holding.keys():
            counts[holding[word]] += 1
        return counts

    return shared


def sentence_texts(references: InputReferences) -> list[list[str]]:
    """The sentences of each reference of an input: as marked, else split."""
    result = []
    for texts, marked in zip(references.references, references.marked, strict=True):
        sentences = []
        for text in texts:
            # A marked text is a sentence already, whatever full stops it holds.
            for sentence in [text] if marked else split_sentences(text):
                if sentence.strip():
                    sentences.append(" ".join(sentence.split()))
        result.append(sentences)
    return result


def references_sha(references: Sequence[InputReferences]) -> str:
    """What names references in a signature: a hash of their sentences."""
    rows = []
    for entry in references:
        rows.append([entry.input, sorted(sentence_texts(entry))])
    return fingerprint(sorted(rows))


def sentences_of(references: Sequence[InputReferences]) -> tuple[Sentence, ...]:
    """All sentences of all references in their order, numbered as extraction numbers
    them."""
    check_unique([entry.input for entry in references], "input")
    sentences = []
    for entry in references:
        for reference, texts in enumerate(sentence_texts(entry)):
            for number, text in enumerate(texts):
                sentences.append(Sentence(entry.input, reference, number, text))
    return tuple(sentences)


def align_units(units: InputUnits, sentences: Sequence[Sentence]) -> Alignment:
    """Finds each unit's sentence: the one it shares most word types with, the first of
    several.

    A unit that names its own sentence keeps it, whatever its words are. One that names
    only its reference is looked for there. A unit that shares no word goes to the first
    sentence. (ZB21's appendix and the authors' code.)
    """
    if not sentences:
        raise InputError(
            f"input '{units.input}' has units but no reference sentences",
            hint="Give the references that the units were written from.",
        )

    entries = []
    for i, unit in enumerate(units.units):
        entries += [(i, entry) for entry in unit.entries()]
    unplaced = sum(
        unit.reference is None or unit.sentence is None for _, unit in entries
    )
    if unplaced * len(sentences) > _MOST_PAIRS:
        raise InputError(
            f"{unplaced} units of input '{units.input}' name none of {len(sentences)} "
            "sentences",
            expected=f"at most {_MOST_PAIRS} pairs of both",
        )

    shared_with = sharing([word_types(sentence.text) for sentence in sentences])
    references = np.array([sentence.reference for sentence in sentences])
    places = {(s.reference, s.sentence) for s in sentences}
    placed = []
    counts = Counter(stated=len(entries) - unplaced)

    for _, unit in entries:
        if unit.reference is not None and unit.sentence is not None:
            if (unit.reference, unit.sentence) not in places:
                where = place(units.input, unit.reference, unit.sentence)
                raise InputError(
                    f"unit '{unit.text}' names {where}, which does not exist",
                    hint="Were these units made from these references?",
                )
            placed.append(unit)
            continue

        overlaps = shared_with(word_types(unit.text))
        inside = references == unit.reference
        # Below 0, so that the first sentence of the reference wins where no word is
        # shared.
        if inside.any():
            overlaps[~inside] = -1
        best = overlaps.max()
        sentence = sentences[int(overlaps.argmax())]
        counts["matched" if best > 0 else "unmatched"] += 1
        counts["tied"] += bool(best > 0 and (overlaps == best).sum() > 1)
        placed.append(
            replace(unit, reference=sentence.reference, sentence=sentence.sentence)
        )

    return Alignment(
        replace(units, units=tuple(placed)), tuple(i for i, _ in entries), counts
    )


def align_all(
    units: Iterable[InputUnits], sentences: Sequence[Sentence]
) -> tuple[Alignment, ...]:
    """`align_units` for every input."""
    of_input = defaultdict(list)
    for sentence in sentences:
        of_input[sentence.input].append(sentence)
    return tuple(align_units(entry, of_input[entry.input]) for entry in units)


def align_both(
    scus: Iterable[InputUnits],
    stus: Iterable[InputUnits],
    sentences: Sequence[Sentence],
) -> tuple[tuple[Alignment, ...], tuple[Alignment, ...]]:
    """Places STUs, then SCUs by the words of each sentence *and of the STUs made from
    it*.

    ZB21 places SCUs among sentences in which coreference has put names in the place of
    pronouns (§5.1). STUs hold these names: "Ann was born in May." belongs to "She was
    born in May." if an STU of that sentence says "Ann was born in May". STUs that do
    not name their sentence move none.
    """
    texts = defaultdict(list)
    for entry in stus:
        for unit in entry.units:
            texts[entry.input, unit.reference, unit.sentence].append(unit.text)
    resolved = [replace(s, text=" ".join([s.text, *texts[s.key]])) for s in sentences]
    return align_all(scus, resolved), align_all(stus, sentences)
