"""Which sentence of the references does a unit come from? (ZB21 §3.3)"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from litepyramid.errors import InputError
from litepyramid.text import place
from litepyramid.types import InputReferences, InputUnits, IntArray, Unit, check_unique

Place = tuple[str, int, int]
WordTypes = Callable[[str], frozenset[str]]
_MOST_PAIRS = 100_000_000


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of one reference.

    Attributes:
        input: The input's id.
        reference: Index of the reference within the input, from 0.
        sentence: Index of the sentence within the reference, from 0.
        text: The sentence.
    """

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

    An SCU with several contributors is several entries (`Unit.entries`).

    Attributes:
        units: The input's units in their order, `reference` and `sentence` filled in.
        of: For each of them, which unit of the input it is an entry of.
        own: How many said themselves where they come from.
        matched: How many were placed by the words they share with a sentence.
        tied: How many of those share as many words with a later sentence; the first one won.
        unmatched: How many share no word with any sentence; the first sentence got them.
    """

    units: InputUnits
    of: tuple[int, ...]
    own: int
    matched: int
    tied: int
    unmatched: int


def word_types(text: str) -> frozenset[str]:
    """The distinct words of a text, lower-cased; punctuation is none.

    Example:
        >>> sorted(word_types("The cat, the CAT's mat."))
        ['cat', 'mat', 's', 'the']
    """
    return frozenset(re.findall(r"\w+", text.lower()))


def sharing(types: Sequence[frozenset[str]]) -> Callable[[frozenset[str]], IntArray]:
    """A function that says how many words of a set each of n sets holds, (n,).

    Example:
        >>> sharing([frozenset("ab"), frozenset("bc")])(frozenset("bcd")).tolist()
        [1, 2]
    """
    lists: dict[str, list[int]] = {}
    for i, own in enumerate(types):
        for word in own:
            lists.setdefault(word, []).append(i)
    holding = {word: np.array(found) for word, found in lists.items()}

    def shared(words: frozenset[str]) -> IntArray:
        counts = np.zeros(len(types), dtype=np.int64)
        for word in words & holding.keys():
            counts[holding[word]] += 1
        return counts

    return shared


def sentences_of(
    references: Sequence[InputReferences], split: Callable[[str], Sequence[str]] | None = None
) -> tuple[Sentence, ...]:
    """All sentences of all references, in their order and with the numbers that extraction gives.

    Args:
        references: The references of every input.
        split: Splits a reference whose sentences are not marked; spaCy's rules, as when units are
            extracted, if it is not given.

    Raises:
        InputError: An input comes twice.

    Example:
        >>> marked = InputReferences("a", (("One .", "Two ."),), (True,))
        >>> [(s.reference, s.sentence, s.text) for s in sentences_of([marked])]
        [(0, 0, 'One .'), (0, 1, 'Two .')]
    """
    check_unique([item.input for item in references], "input")
    sentences = []
    for item in references:
        for number, (texts, marked) in enumerate(zip(item.references, item.marked, strict=True)):
            if not marked:
                if split is None:
                    from litepyramid.units.sentences import make_splitter

                    split = make_splitter("rules")
                texts = tuple(part for text in texts for part in split(text))
            kept = (" ".join(text.split()) for text in texts if text.strip())
            sentences += [
                Sentence(item.input, number, index, text) for index, text in enumerate(kept)
            ]
    return tuple(sentences)


def align_units(
    units: InputUnits, sentences: Sequence[Sentence], words: WordTypes = word_types
) -> Alignment:
    """Finds each unit's sentence: the one it shares most word types with, the first of several.

    A unit that names its own sentence keeps it, as an extracted unit does, one made from
    coreference among them: its sentence is that of its mention, whatever its words are. One that
    names only its reference is looked for there. A unit that shares no word goes to the first
    sentence. (ZB21's appendix and the authors' code.)

    Args:
        units: The units of one input.
        sentences: The sentences of the same input, in order.
        words: What the word types of a text are.

    Raises:
        InputError: There are no sentences; a unit names a sentence that is not there; or units to
            place and sentences make more than 10⁸ pairs.

    Example:
        >>> s = [Sentence("a", 0, 0, "A cat sat ."), Sentence("a", 0, 1, "A dog ran home .")]
        >>> aligned = align_units(InputUnits("a", (Unit("The dog ran."), Unit("Hm!"))), s)
        >>> [unit.sentence for unit in aligned.units.units], aligned.matched, aligned.unmatched
        ([1, 0], 1, 1)
    """
    if not sentences:
        raise InputError(
            f"input '{units.input}' has units but no reference sentences",
            hint="Give the references that the units were written from.",
        )
    entries = [(i, entry) for i, unit in enumerate(units.units) for entry in unit.entries()]
    sought = sum(unit.reference is None or unit.sentence is None for _, unit in entries)
    if sought * len(sentences) > _MOST_PAIRS:
        raise InputError(
            f"{sought} units of input '{units.input}' do not say which of {len(sentences)} "
            "sentences they come from",
            expected=f"at most {_MOST_PAIRS} pairs of both",
            hint="If these are several documents, make each its own input.",
        )
    shared_with = sharing([words(sentence.text) for sentence in sentences])
    references = np.array([sentence.reference for sentence in sentences])
    places = {(s.reference, s.sentence) for s in sentences}
    placed: list[Unit] = []
    matched = tied = unmatched = 0
    for _, unit in entries:
        if unit.reference is not None and unit.sentence is not None:
            if (unit.reference, unit.sentence) not in places:
                raise InputError(
                    f"unit '{unit.text}' names "
                    f"{place(units.input, unit.reference, unit.sentence)}, which does not exist",
                    expected=f"at most {len(sentences)} sentences",
                    hint="Were these units made from these references?",
                )
            placed.append(unit)
            continue
        overlaps = shared_with(words(unit.text))
        elsewhere = references != unit.reference
        if unit.reference is not None and not elsewhere.all():
            overlaps[elsewhere] = -1
        best = int(overlaps.max())
        sentence = sentences[int(overlaps.argmax())]
        matched += best > 0
        unmatched += best == 0
        tied += best > 0 and bool((overlaps == best).sum() > 1)
        placed.append(replace(unit, reference=sentence.reference, sentence=sentence.sentence))
    of, made = tuple(i for i, _ in entries), InputUnits(units.input, tuple(placed))
    return Alignment(made, of, len(entries) - sought, matched, tied, unmatched)


def align_all(
    units: Sequence[InputUnits], sentences: Sequence[Sentence], words: WordTypes = word_types
) -> tuple[Alignment, ...]:
    """`align_units` for every input.

    Raises:
        InputError: As `align_units`.
    """
    of_input: dict[str, list[Sentence]] = {}
    for sentence in sentences:
        of_input.setdefault(sentence.input, []).append(sentence)
    return tuple(align_units(item, of_input.get(item.input, []), words) for item in units)


def align_both(
    scus: Sequence[InputUnits],
    stus: Sequence[InputUnits],
    sentences: Sequence[Sentence],
    words: WordTypes = word_types,
) -> tuple[tuple[Alignment, ...], tuple[Alignment, ...]]:
    """Places STUs, then SCUs by the words of each sentence *and of the STUs made from it*.

    ZB21 places SCUs among sentences in which coreference has put names in the place of pronouns
    and other mentions (their data with coreference, §5.1). STUs hold these names, so a sentence's
    word types are its own and those of its STUs: "Ann was born in May." belongs to "She was born
    in May." if an STU says "Ann was born in May". Without coreference an STU has no word that its
    sentence lacks, and each SCU stays where `align_units` alone puts it. So it does if STUs do
    not say which sentence they come from: where they belong is then only guessed from words.

    Args:
        scus: The SCUs of every input.
        stus: The STUs of the same inputs.
        sentences: The sentences of these inputs.
        words: What the word types of a text are.

    Returns:
        The SCUs and the STUs, each unit with its reference and sentence.

    Raises:
        InputError: As `align_units`.

    Example:
        >>> s = [Sentence("a", 0, 0, "Ann left ."), Sentence("a", 0, 1, "She was born in May .")]
        >>> scus = [InputUnits("a", (Unit("Ann left."), Unit("Ann's birth was in May.")))]
        >>> stus = [InputUnits("a", (Unit("Ann was born in May", reference=0, sentence=1),))]
        >>> [unit.sentence for unit in align_both(scus, stus, s)[0][0].units.units]
        [0, 1]
    """
    placed = align_all(stus, sentences, words)
    said: dict[tuple[str, int | None, int | None], list[str]] = {}
    for entry in stus:
        for unit in entry.units:
            said.setdefault((entry.input, unit.reference, unit.sentence), []).append(unit.text)
    resolved = [replace(s, text=" ".join([s.text, *said.get(s.key, [])])) for s in sentences]
    return align_all(scus, resolved, words), placed
