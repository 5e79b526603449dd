"""Features of a sentence from its dependency tree: what needs no constituency parser."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from litepyramid.easiness.features import DEPENDENCY, FeatureTable
from litepyramid.errors import InputError
from litepyramid.units.align import sharing, word_types

_RELATIONS = (
    "acl advcl advmod amod appos aux case cc ccomp compound conj cop csubj dep det discourse "
    "dislocated expl fixed flat goeswith iobj list mark nmod nsubj nummod obj obl orphan "
    "parataxis punct reparandum vocative xcomp"
)
RELATIONS = tuple(_RELATIONS.split())
"""Universal relations but ``root`` and ``clf``; a subtype (``nmod:poss``) counts as its own."""

_TAGS = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X"
TAGS = tuple(_TAGS.split())
"""Universal parts of speech."""


@dataclass(frozen=True, slots=True)
class DependencyTree:
    """One sentence as a dependency parser sees it.

    Attributes:
        tokens: n words.
        tags: n universal parts of speech.
        heads: n indices of the heads; a root is its own head.
        relations: n relations to the heads.
    """

    tokens: tuple[str, ...]
    tags: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]

    @property
    def root(self) -> int:
        """The first word that is its own head; 0 if none is."""
        return next((i for i, head in enumerate(self.heads) if head == i), 0)

    @property
    def subject(self) -> int | None:
        """The first subject of the root, a nominal or a clause; None if it has none."""
        root = self.root
        for i, (head, relation) in enumerate(zip(self.heads, self.relations, strict=True)):
            if head == root != i and relation.split(":")[0] in {"nsubj", "csubj"}:
                return i
        return None

    @property
    def depth(self) -> int:
        """Words on the longest way from a root down to a word.

        Raises:
            InputError: The heads run in a circle or out of the sentence.
        """
        n = len(self.tokens)
        known: dict[int, int] = {}
        for start in range(n):
            way: list[int] = []
            node = start
            while node not in known:
                if not 0 <= node < n or node in way:
                    raise InputError(
                        f"the heads of '{' '.join(self.tokens)[:60]}' do not form a tree",
                        expected="every word to lead to a root, which is its own head",
                    )
                way.append(node)
                if self.heads[node] == node:
                    break
                node = self.heads[node]
            below = known.get(node, 0)
            for index, passed in enumerate(reversed(way), start=1):
                known[passed] = below + index
        return max(known.values(), default=0)


def subtree(tree: DependencyTree, top: int, without: Collection[str] = ()) -> list[int]:
    """A word and all words below it, in order, but for those below these relations.

    Args:
        tree: One sentence.
        top: The word's index.
        without: Relations (their subtypes, too) that are not gone into.

    Example:
        >>> tree = DependencyTree(("Ann", ",", "ill", ",", "left"),
        ...                       ("PROPN", "PUNCT", "ADJ", "PUNCT", "VERB"),
        ...                       (4, 2, 0, 2, 4), ("nsubj", "punct", "acl", "punct", "root"))
        >>> subtree(tree, 0), subtree(tree, 0, {"acl"})
        ([0, 1, 2, 3], [0])
    """
    found, stack = {top}, [top]
    while stack:
        head = stack.pop()
        for i, above in enumerate(tree.heads):
            if above == head and i not in found and tree.relations[i].split(":")[0] not in without:
                found.add(i)
                stack.append(i)
    return sorted(found)


def dependency_features(trees: Sequence[DependencyTree]) -> FeatureTable:
    """Length in tokens and in characters, depth, length / depth, and counts of what is in it.

    The counts are of the 35 `RELATIONS` and of the 17 `TAGS`.

    Args:
        trees: One per sentence.

    Returns:
        (sentences, 56).

    Example:
        >>> tree = DependencyTree(("Rain", "falls"), ("NOUN", "VERB"), (1, 1), ("nsubj", "root"))
        >>> dependency_features([tree]).values[0, :4].tolist()
        [2.0, 10.0, 2.0, 1.0]
    """
    rows = []
    for tree in trees:
        relations = Counter(relation.split(":")[0] for relation in tree.relations)
        tags = Counter(tree.tags)
        length, depth = len(tree.tokens), tree.depth
        rows.append(
            [
                length,
                len(" ".join(tree.tokens)),
                depth,
                length / max(1, depth),
                *(relations[name] for name in RELATIONS),
                *(tags[name] for name in TAGS),
            ]
        )
    names = (
        "length",
        "characters",
        "tree_depth",
        "length_per_depth",
        *(f"relation:{name}" for name in RELATIONS),
        *(f"tag:{name}" for name in TAGS),
    )
    return FeatureTable(DEPENDENCY, names, np.array(rows, dtype=np.float64))


CONTEXT_NAMES = ("context:shared_with_nearest", "context:shared_content")
CONTENT = frozenset({"ADJ", "NOUN", "NUM", "PROPN", "VERB"})


def context_features(trees: Sequence[DependencyTree], groups: Sequence[Hashable]) -> FeatureTable:
    """How much of each sentence the other sentences of its reference say too.

    The greatest share of the sentence's word types that any one other sentence has; and the share
    of its content words (`CONTENT`) that are in at least one other sentence.

    Args:
        trees: The sentences, parsed.
        groups: Which reference each sentence belongs to.

    Returns:
        (sentences, 2); zeros for a sentence alone in its reference.

    Example:
        >>> one = DependencyTree(("Rain", "falls"), ("NOUN", "VERB"), (1, 1), ("nsubj", "root"))
        >>> other = DependencyTree(("Rain", "!"), ("NOUN", "PUNCT"), (0, 0), ("root", "punct"))
        >>> context_features([one, other], ["a", "a"]).values.tolist()
        [[0.5, 0.5], [1.0, 1.0]]
    """
    words = [word_types(" ".join(tree.tokens)) for tree in trees]
    content = [
        {t.lower() for t, tag in zip(tree.tokens, tree.tags, strict=True) if tag in CONTENT}
        for tree in trees
    ]
    members: dict[Hashable, list[int]] = {}
    for index, group in enumerate(groups):
        members.setdefault(group, []).append(index)
    rows = [[0.0, 0.0]] * len(trees)
    for own in members.values():
        shared_with = sharing([words[index] for index in own])
        held = Counter(word for index in own for word in content[index] | words[index])
        for place, index in enumerate(own):
            shared = shared_with(words[index])
            shared[place] = 0
            elsewhere = sum(held[word] > 1 for word in content[index])
            rows[index] = [
                int(shared.max()) / max(1, len(words[index])),
                elsewhere / max(1, len(content[index])),
            ]
    return FeatureTable("context", CONTEXT_NAMES, np.array(rows, dtype=np.float64))
