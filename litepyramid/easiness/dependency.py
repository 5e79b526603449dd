"""Features of a sentence from its dependency tree: what needs no constituency parser."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np

from litepyramid.easiness.features import DEPENDENCY, FeatureTable
from litepyramid.units.align import sharing, word_types
from litepyramid.units.parsers.embedded.tree import Tree

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


def dependency_features(trees: Sequence[Tree]) -> FeatureTable:
    """Length in tokens and in characters, depth, length / depth, and counts of what is in it.

    The counts are of the 35 `RELATIONS` and of the 17 `TAGS`.

    Args:
        trees: One per sentence.

    Returns:
        (sentences, 56).

    Example:
        >>> from litepyramid.units.parsers.embedded.tree import Word
        >>> tree = Tree([Word("Rain", "NOUN", 1, "nsubj"), Word("falls", "VERB", 1, "root")])
        >>> dependency_features([tree]).values[0, :4].tolist()
        [2.0, 10.0, 2.0, 1.0]
    """
    rows = []
    for tree in trees:
        length, depth = len(tree.words), tree.depth
        relations, tags = Counter(map(tree.base, range(length))), Counter(tree.tags)
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


def members(groups: Sequence[Hashable]) -> list[list[int]]:
    """The indices of the sentences of each group.

    Example:
        >>> members(["a", "b", "a"])
        [[0, 2], [1]]
    """
    found: dict[Hashable, list[int]] = {}
    for index, group in enumerate(groups):
        found.setdefault(group, []).append(index)
    return list(found.values())


CONTEXT_NAMES = ("context:shared_with_nearest", "context:shared_content")
CONTENT = frozenset({"ADJ", "NOUN", "NUM", "PROPN", "VERB"})


def context_features(trees: Sequence[Tree], groups: Sequence[Hashable]) -> FeatureTable:
    """How much of each sentence the other sentences of its reference say too.

    The greatest share of the sentence's word types that any one other sentence has; and the share
    of its content words (`CONTENT`) that are in at least one other sentence.

    Args:
        trees: The sentences, parsed.
        groups: Which reference each sentence belongs to.

    Returns:
        (sentences, 2); zeros for a sentence alone in its reference.

    Example:
        >>> from litepyramid.units.parsers.embedded.tree import Word
        >>> one = Tree([Word("Rain", "NOUN", 1, "nsubj"), Word("falls", "VERB", 1, "root")])
        >>> other = Tree([Word("Rain", "NOUN", 0, "root"), Word("!", "PUNCT", 0, "punct")])
        >>> context_features([one, other], ["a", "a"]).values.tolist()
        [[0.5, 0.5], [1.0, 1.0]]
    """
    words = [word_types(" ".join(tree.tokens)) for tree in trees]
    content = [{w.text.lower() for w in tree.words if w.upos in CONTENT} for tree in trees]
    rows = [[0.0, 0.0]] * len(trees)
    for own in members(groups):
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
