"""Mistakes of parsers that the tree itself shows, put right before facts are made."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from litepyramid.units.relations import (
    ASKING,
    COMMAS,
    FINITE,
    NOT_FINITE,
    SAYING,
    SUBJECTS,
    TIMES,
)
from litepyramid.units.trees import Tree, Word

Change = tuple[int, int, str]
"""A word, its new head and its new relation."""


def mended(words: Sequence[Word]) -> list[Word]:
    """The words with the heads and relations that they must have.

    Example:
        >>> words = [Word("He", "PRON", 1, "nsubj"), Word("ran", "VERB", 1, "root"),
        ...     Word("when", "SCONJ", 3, "case"), Word("she", "PRON", 4, "nsubj"),
        ...     Word("fell", "VERB", 1, "conj")]
        >>> [word.deprel for word in mended(words)]
        ['nsubj', 'root', 'mark', 'nsubj', 'advcl']
    """
    changed = [*words]
    for repair in _REPAIRS:
        for i, head, relation in [*repair(Tree(changed))]:
            changed[i] = replace(changed[i], head=head, deprel=relation)
    return changed


def _conjuncts_of_infinitives(tree: Tree) -> Iterator[Change]:
    """A finite verb that was joined to an infinitive or to a verb of another number
    belongs to the clause above: "asked players to rest and praised the fans"."""
    words = tree.words
    for i, word in enumerate(words):
        head = tree.governor(i)
        if word.xpos not in FINITE or tree.of(i, *SUBJECTS):
            continue
        while head is not None and word.deprel == "conj":
            plural = any(words[s].xpos == "NNS" for s in tree.of(head, *SUBJECTS))
            bare = tree.base(head) in NOT_FINITE and words[head].xpos in ("VB", "VBG")
            above = tree.governor(head)
            if above is None or not (bare or (plural and word.xpos == "VBZ")):
                break
            head = above
            yield i, head, word.deprel


def _conjuncts_of_verbs(tree: Tree) -> Iterator[Change]:
    """A noun or a question that was joined to a verb goes with the noun behind that,
    an infinitive with the infinitive: "beat the butter and sugar", "know the price and
    how it rose", "were told to eat and drink"."""
    for i, word in enumerate(tree.words):
        head = tree.governor(i)
        if word.deprel != "conj" or head is None or tree.words[head].upos != "VERB":
            continue
        own = tree.of(i, *SUBJECTS, "cop", "aux", "obj", "case", "mark")
        alike: tuple[str, ...] = ()
        if _asks(tree, i) or (word.upos in ("NOUN", "PROPN") and not own):
            alike = ("obj", "obl")
        elif word.xpos == "VB" and tree.words[head].xpos != "VB":
            alike = ("xcomp",) if not tree.of(i, *SUBJECTS, "aux") else ()
        before = [c for c in tree.of(head, *alike) if head < c < i]
        if before:
            yield i, before[-1], "conj"


def _asks(tree: Tree, i: int) -> bool:
    """Whether a conjunct is a question: "and how it rose"."""
    first = tree.under(i)[1:2] if tree.of(i, "cc") else []
    return any(tree.lower(word) in ASKING for word in first)


def _participles(tree: Tree) -> Iterator[Change]:
    """A participle beside a finite verb is no second predicate: "it rained, causing
    floods"."""
    for i, word in enumerate(tree.words):
        head = tree.governor(i)
        if word.deprel == "conj" and word.xpos == "VBG" and head is not None:
            finite = tree.words[head].upos == "VERB" and not tree.of(head, "aux")
            if (
                finite
                and tree.words[head].xpos != "VBG"
                and not tree.of(i, "aux", "cc")
            ):
                yield i, head, "advcl"


def _complements(tree: Tree) -> Iterator[Change]:
    """What is said follows its verb, or stands before it without a conjunction: "Ann
    said he knew | she won", "She won, Ann said"."""
    for i, word in enumerate(tree.words):
        first, *others = tree.of(i, "ccomp") or [i]
        for other in others:
            if i < first < other and tree.under(other)[0] == first + 1:
                yield other, first, "ccomp"
        for clause in tree.of(i, "advcl") if word.text.lower() in SAYING else ():
            own = tree.of(clause, *SUBJECTS) and not tree.of(clause, "mark")
            if clause < i and own and tree.lower(tree.under(clause)[0]) not in TIMES:
                yield clause, i, "ccomp"


def _several_subjects(tree: Tree) -> Iterator[Change]:
    """Subjects side by side are one: "Ann Lee, her son and I left"; but "To date" is
    none."""
    for i in range(len(tree.words)):
        first, *others = tree.of(i, "nsubj", "nsubj:pass") or [i]
        for other in others:
            joined = tree.of(other, "conj")
            between = range(tree.under(first)[-1] + 1, tree.under(other)[0])
            ands = [t for t in between if tree.relation(t) == "cc"]
            if tree.of(first, "case"):
                yield first, i, "obl"
            elif other < i and all(
                t in ands or tree.tokens[t] in COMMAS for t in between
            ):
                yield other, first, "conj" if joined or ands else "appos"
                yield from ((conjunct, first, "conj") for conjunct in joined)
                yield from ((word, other, "cc") for word in ands)


def _lone_conjuncts(tree: Tree) -> Iterator[Change]:
    """Without a conjunction nothing is joined: a verb has the noun before it as its
    subject, "left when on Monday the bridge | fell", a noun says who one is, "Tom Lee,
    45, a plumber"."""
    for i, word in enumerate(tree.words):
        head = tree.governor(i)
        if word.deprel != "conj" or head is None or tree.of(i, "cc", *SUBJECTS):
            continue
        nouns = tree.of(head, "obj", "obl")[1:]
        before = [n for n in nouns if tree.under(n)[-1] == tree.under(i)[0] - 1]
        if word.upos == "VERB" and before and not tree.of(before[0], "case"):
            yield before[0], i, "nsubj"
            yield i, head, "parataxis"
        named = tree.words[head].upos == "PROPN" and tree.of(head, "conj") == [i]
        if named and word.upos == "NOUN" and tree.of(i, "det"):
            yield i, head, "appos"


def _prepositions_of_subjects(tree: Tree) -> Iterator[Change]:
    """What stands before a subject opens its clause: "after the shop closed"."""
    for i, word in enumerate(tree.words):
        for subject in tree.of(i, "nsubj", "nsubj:pass"):
            opening = [c for c in tree.of(subject, "case") if c < subject]
            if opening and word.deprel == "conj" and not tree.of(i, "cc"):
                yield opening[0], i, "mark"
                yield i, word.head, "advcl"


def _told_to_somebody(tree: Tree) -> Iterator[Change]:
    """A clause behind whoever says or is told it is what is said: "told reporters that
    he left"."""
    for i in range(len(tree.words)):
        noun = tree.governor(i)
        verb = None if noun is None else tree.governor(noun)
        if noun is None or verb is None or tree.base(i) != "acl":
            continue
        beside = tree.base(noun) in ("obl", "obj", "iobj") and verb < noun < i
        saying = tree.lower(verb) in SAYING and not tree.of(verb, "ccomp")
        if beside and saying and tree.has(i, "mark", "that") and tree.of(i, *SUBJECTS):
            yield i, verb, "ccomp"


def _sayers_behind(tree: Tree) -> Iterator[Change]:
    """Who says it governs what is said: "The shop closed, Ann has said"."""
    for i, word in enumerate(tree.words):
        said = tree.governor(i)
        if said is None or word.deprel != "parataxis" or i < said:
            continue
        if tree.relation(said) == "parataxis":
            continue
        alone = not tree.of(i, "obj", "ccomp", "xcomp", "obl")
        if alone and tree.lower(i) in SAYING and tree.of(i, "nsubj"):
            above = tree.words[said]
            yield i, i if above.head == said else above.head, above.deprel
            yield said, i, "ccomp"


_REPAIRS: tuple[Callable[[Tree], Iterator[Change]], ...] = (
    _conjuncts_of_infinitives,
    _conjuncts_of_verbs,
    _participles,
    _complements,
    _several_subjects,
    _lone_conjuncts,
    _prepositions_of_subjects,
    _told_to_somebody,
    _sayers_behind,
)
