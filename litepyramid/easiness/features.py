"""The regressor's features of a sentence: counts from its constituency or dependency tree."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from litepyramid.errors import InputError
from litepyramid.text import cut
from litepyramid.types import FloatArray

CONSTITUENCY = "constituency"
DEPENDENCY = "dependency"

_LABELS = (
    "WRB RBR ADVP VBG $ '' WHADVP -RRB- JJR NAC PRP NNS WP VBZ MD WDT NP ADJP PDT EX UH NN "
    "NFP SYM PRP$ RBS FRAG NX CONJP RP WHPP CC VBD LS . SBAR TO JJ IN VP -LRB- S QP SQ CD `` "
    "X POS XX PP PRT JJS HYPH , RB VBN : VBP DT VB SINV UCP WHNP NNPS NNP"
)
LABELS = tuple(_LABELS.split())
"""The 65 labels of ZB21, in the order in which the authors' regressors were trained."""

SHAPE = ("length", "tree_length", "tree_depth", "length_per_depth")
CONSTITUENCY_NAMES = (*SHAPE, *(f"count:{label}" for label in LABELS))


@dataclass(frozen=True)
class FeatureTable:
    """The features of several sentences.

    Attributes:
        feature_set: Name of the set, for example ``"constituency"``.
        names: d names, one per column.
        values: (sentences, d) float64. Read-only copy.
    """

    feature_set: str
    names: tuple[str, ...]
    values: FloatArray

    def __post_init__(self) -> None:
        values = np.array(self.values, dtype=np.float64, copy=True).reshape(-1, len(self.names))
        values.setflags(write=False)
        object.__setattr__(self, "values", values)

    @classmethod
    def joined(cls, feature_set: str, *tables: FeatureTable) -> FeatureTable:
        """The columns of several tables of the same sentences, as a new set."""
        names = tuple(name for table in tables for name in table.names)
        return cls(feature_set, names, np.hstack([table.values for table in tables]))

    def rows(self, keep: NDArray[np.int64] | NDArray[np.bool_]) -> FeatureTable:
        """The rows with these indices (or where this mask is true)."""
        return FeatureTable(self.feature_set, self.names, self.values[keep])


def constituency_features(trees: Sequence[str]) -> FeatureTable:
    """ZB21's 69 features (appendix A.3), in the order of the authors' regressors.

    Sentence length in tokens; length of the linearised tree in characters; depth of the tree (the
    deepest nesting of brackets, preterminals included); length / depth; then the counts of the 65
    `LABELS`, preterminals among them. (The paper's appendix says depth / length; the released
    regressors were trained on length / depth.)

    What the features do not know is taken off first: a node above the sentence with no label or
    the label ROOT or TOP, function tags and indices (``NP-SBJ`` is NP, ``NP=2`` is NP), and empty
    elements (``-NONE-``) with what is then empty above them. ``-LRB-`` and ``-RRB-`` stay.

    Args:
        trees: One bracketed tree per sentence.

    Returns:
        (sentences, 69).

    Raises:
        InputError: A text is not one such tree.

    Example:
        >>> table = constituency_features(["(ROOT (S (NP-SBJ (NN Rain)) (VP (VBZ falls))))"])
        >>> table.values[0, :4].tolist(), int(table.values[0, 4:].sum())
        ([2.0, 35.0, 3.0, 0.6666666666666666], 5)
    """
    rows = []
    for tree in trees:
        counts: Counter[str] = Counter()
        node = _measured(tree, counts)
        shape = (node.words, node.characters, node.depth, node.words / node.depth)
        rows.append([*shape, *(counts[label] for label in LABELS)])
    return FeatureTable(CONSTITUENCY, CONSTITUENCY_NAMES, np.array(rows, dtype=np.float64))


class _Node(NamedTuple):
    """What is to be known of a node: words under it, characters of it on one line, its depth."""

    words: int
    characters: int
    depth: int


def _measured(text: str, counts: Counter[str]) -> _Node:
    """The top of a tree; labels are counted, of no node that is taken off."""
    stack: list[tuple[str, list[_Node]]] = [("", [])]
    word = ""
    for piece in re.findall(r"\(\s*[^\s()]*|\)|[^\s()]+", text):
        if piece.startswith("("):
            stack.append((piece[1:].strip(), []))
        elif piece != ")":
            if word or stack[-1][1] or len(stack) < 2:
                raise _no_tree(text, f"the word '{piece}' has no label of its own")
            word = piece
        elif len(stack) < 2:
            raise _no_tree(text, "a closing bracket too many")
        else:
            label, children = stack.pop()
            if label in ("", "ROOT", "TOP") and len(children) == 1:
                stack[-1][1].append(children[0])
            elif label != "-NONE-" and (word or children):
                if not label.startswith("-"):
                    label = re.split(r"[-=|]", label)[0] or label or "X"
                counts[label] += 1
                own = [_Node(1, len(word), 0)] if word else children
                inner = sum(child.characters + 1 for child in own)
                depth = 1 + max(child.depth for child in own)
                size = _Node(sum(child.words for child in own), len(label) + 2 + inner, depth)
                stack[-1][1].append(size)
            word = ""
    if len(stack) > 1:
        raise _no_tree(text, "a closing bracket is missing")
    if len(tops := stack[0][1]) != 1:
        raise _no_tree(text, f"{len(tops)} trees with words")
    return tops[0]


def _no_tree(text: str, what: str) -> InputError:
    shown = cut(" ".join(text.split()), 60)
    return InputError(f"{what} in '{shown}'", expected="one tree, (LABEL word) around each word")


def rouge_words(text: str) -> list[str]:
    """The words of a text as rouge-score counts them: lower-cased runs of letters and digits.

    Example:
        >>> rouge_words("The 3-year-old's cat")
        ['the', '3', 'year', 'old', 's', 'cat']
    """
    return re.findall(r"[a-z0-9]+", text.lower())
