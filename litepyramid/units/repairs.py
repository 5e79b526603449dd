"""Mistakes of parsers that the tree itself shows, put right before facts are made."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from litepyramid.units.relations import (
    COMMAS,
    FINITE,
    NOT_FINITE,
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
    for repair in (_conjuncts_of_infinitives, _several_subjects):
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


def _several_subjects(tree: Tree) -> Iterator[Change]:
    """Subjects side by side are one: "Ann Lee, her son and I left"; but "To date" is
    none."""
    for i in range(len(tree.words)):
        first, *others = tree.of(i, "nsubj", "nsubj:pass") or [i]
        for other in others:
            joined = tree.of(other, "conj")
            between = range(tree.under(first)[-1] + 1, tree.under(other)[0])
            ands = [t for t in between if tree.relation(t) == "cc"]
            ands += tree.of(other, "cc")
            if tree.of(first, "case"):
                yield first, i, "obl"
            elif other < i and all(
                t in ands or tree.tokens[t] in COMMAS for t in between
            ):
                yield other, first, "conj" if joined or ands else "appos"
                yield from ((conjunct, first, "conj") for conjunct in joined)
                yield from ((word, other, "cc") for word in ands)
