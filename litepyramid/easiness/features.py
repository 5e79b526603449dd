"""What the regressor sees of a sentence: counts from its constituency or dependency tree."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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

    def beside(self, other: FeatureTable, feature_set: str) -> FeatureTable:
        """The columns of both, as a new set.

        Raises:
            InputError: The two hold different numbers of sentences.
        """
        if len(self.values) != len(other.values):
            raise InputError(
                f"features of {len(self.values)} and of {len(other.values)} sentences",
                expected="the same sentences",
            )
        values = np.hstack([self.values, other.values])
        return FeatureTable(feature_set, self.names + other.names, values)

    def rows(self, keep: NDArray[np.int64] | NDArray[np.bool_]) -> FeatureTable:
        """The rows with these indices (or where this mask is true)."""
        return FeatureTable(self.feature_set, self.names, self.values[keep])


@dataclass(frozen=True, slots=True)
class Tree:
    """A node of a constituency tree: a label over further nodes, or over one word.

    Attributes:
        label: For example ``"NP"``; ``"NN"`` above a word.
        children: The nodes below; empty above a word.
        word: The word below a preterminal; else None.
    """

    label: str
    children: tuple[Tree, ...] = ()
    word: str | None = None

    def nodes(self) -> Iterator[Tree]:
        """This node and all below it, in the order of their opening brackets."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def words(self) -> tuple[str, ...]:
        """The words under this node, left to right."""
        return tuple(node.word for node in self.nodes() if node.word is not None)

    @property
    def depth(self) -> int:
        """The deepest nesting of brackets; a preterminal is 1."""
        deepest, level = 0, [self]
        while level:
            deepest += 1
            level = [child for node in level for child in node.children]
        return deepest

    def __str__(self) -> str:
        parts: list[str] = []
        stack: list[Tree | str] = [self]
        while stack:
            node = stack.pop()
            if isinstance(node, str):
                parts.append(node)
            elif node.word is not None:
                parts.append(f"({node.label} {node.word})")
            else:
                parts.append(f"({node.label}")
                stack.append(")")
                for child in reversed(node.children):
                    stack += [child, " "]
        return "".join(parts)


def parse_tree(text: str) -> Tree:
    """Reads one bracketed tree and takes off what the features do not know.

    That is: a node above the sentence with no label or the label ROOT or TOP, function tags and
    indices (``NP-SBJ`` is NP, ``NP=2`` is NP), and empty elements (``-NONE-``) with what is then
    empty above them. ``-LRB-`` and ``-RRB-`` stay.

    Raises:
        InputError: The brackets are not balanced, or there is no tree or more than one.

    Example:
        >>> str(parse_tree("(ROOT (S (NP-SBJ (NN Rain)) (VP (VBZ falls))))"))
        '(S (NP (NN Rain)) (VP (VBZ falls)))'
    """
    found = parse_trees(text)
    if len(found) != 1:
        raise InputError(f"{len(found)} trees in '{_short(text)}'", expected="one tree")
    return found[0]


def parse_trees(text: str) -> list[Tree]:
    """Reads all bracketed trees of a text, as `parse_tree` does one.

    Raises:
        InputError: The brackets are not balanced, or a tree holds no word.
    """
    trees: list[Tree] = []
    stack: list[tuple[str, list[Tree]]] = []
    pieces = re.findall(r"\(\s*[^\s()]*|\)|[^\s()]+", text)
    word: str | None = None
    for piece in pieces:
        if piece.startswith("("):
            stack.append((piece[1:].strip(), []))
        elif piece == ")":
            if not stack:
                raise InputError(f"a closing bracket too many in '{_short(text)}'")
            label, children = stack.pop()
            node = _node(label, tuple(children), word)
            word = None
            if stack and node is not None:
                stack[-1][1].append(node)
            elif not stack:
                if node is None:
                    raise InputError(f"a tree without a word in '{_short(text)}'")
                trees.append(node)
        else:
            if not stack or stack[-1][1] or word is not None:
                raise InputError(
                    f"the word '{piece}' has no label of its own in '{_short(text)}'",
                    expected="(LABEL word) around each word",
                )
            word = piece
    if stack:
        raise InputError(f"a closing bracket is missing in '{_short(text)}'")
    return trees


def _node(label: str, children: tuple[Tree, ...], word: str | None) -> Tree | None:
    if label == "-NONE-" or (word is None and not children):
        return None
    if label in ("", "ROOT", "TOP") and len(children) == 1:
        return children[0]
    if not label.startswith("-"):
        label = re.split(r"[-=|]", label)[0] or label
    return Tree(label or "X", children, word)


def _short(text: str) -> str:
    return cut(" ".join(text.split()), 60)


def constituency_features(trees: Sequence[Tree]) -> FeatureTable:
    """ZB21's 69 features (appendix A.3), in the order of the authors' regressors.

    Sentence length in tokens; length of the linearised tree in characters; depth of the tree (the
    deepest nesting of brackets, preterminals included); length / depth; then the counts of the 65
    `LABELS`, preterminals among them. (The paper's appendix says depth / length; the released
    regressors were trained on length / depth.)

    Args:
        trees: One tree per sentence, as `parse_tree` makes it.

    Returns:
        (sentences, 69).

    Example:
        >>> table = constituency_features([parse_tree("(S (NP (NN Rain)) (VP (VBZ falls)))")])
        >>> table.values[0, :4].tolist(), int(table.values[0, 4:].sum())
        ([2.0, 35.0, 3.0, 0.6666666666666666], 5)
    """
    rows = []
    for tree in trees:
        counts = Counter(node.label for node in tree.nodes())
        length, depth = len(tree.words()), tree.depth
        rows.append([length, len(str(tree)), depth, length / depth, *(counts[k] for k in LABELS)])
    names = (*SHAPE, *(f"count:{label}" for label in LABELS))
    return FeatureTable(CONSTITUENCY, names, np.array(rows, dtype=np.float64))


def rouge_words(text: str) -> list[str]:
    """The words of a text as rouge-score counts them: lower-cased runs of letters and digits.

    Example:
        >>> rouge_words("The 3-year-old's cat")
        ['the', '3', 'year', 'old', 's', 'cat']
    """
    return re.findall(r"[a-z0-9]+", text.lower())
