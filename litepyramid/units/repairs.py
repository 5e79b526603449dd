"""Mistakes of parsers that the tree itself shows, put right before facts are made."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from litepyramid.units.relations import (
    COMMAS,
    FINITE,
    NOT_FINITE,
    SAYING,
    SUBJECTS,
)
from litepyramid.units.trees import Tree, Word

Change = tuple[int, int, str]
"""A word, its new head and its new relation."""


def mended(words: Sequence[Word]) -> list[Word]:
    """The words with the heads and relations that they must have.

    Example:
        >>> words = [Word("Ann", "PROPN", 3, "nsubj"), Word("and", "CCONJ", 2, "cc"),
        ...     Word("Bob", "PROPN", 3, "nsubj"), Word("won", "VERB", 3, "root")]
        >>> [word.deprel for word in mended(words)]
        ['nsubj', 'cc', 'conj', 'root']
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


def _complements(tree: Tree) -> Iterator[Change]:
    """What is not said or known is a sentence of its own behind a comma: "One man
    killed, 22 rescued"."""
    for i in range(len(tree.words)):
        for clause in tree.of(i, "ccomp") if tree.lower(i) not in SAYING else ():
            start = tree.under(clause)[0]
            parted = {tree.tokens[start - 1], tree.tokens[start]} & COMMAS
            own = tree.of(clause, *SUBJECTS) and not tree.of(clause, "mark")
            if own and parted:
                yield clause, i, "parataxis"


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


def _sayers_behind(tree: Tree) -> Iterator[Change]:
    """Who says it governs what is said: "The shop closed, Ann has said"."""
    for i, word in enumerate(tree.words):
        said = tree.governor(i)
        if said is None or tree.relation(said) == "parataxis":
            continue
        alone = not tree.of(i, "obj", "ccomp", "xcomp", "obl")
        beside = word.deprel == "parataxis" and tree.of(i, "nsubj")
        if beside and alone and tree.lower(i) in SAYING:
            above = tree.words[said]
            yield i, i if above.head == said else above.head, above.deprel
            yield said, i, "ccomp"


_REPAIRS: tuple[Callable[[Tree], Iterator[Change]], ...] = (
    _conjuncts_of_infinitives,
    _complements,
    _several_subjects,
    _sayers_behind,
)
