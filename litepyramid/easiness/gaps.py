"""Features of what no STU of a sentence covers: an SCU about it cannot be matched."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from litepyramid.easiness.features import FeatureTable, rouge_words
from litepyramid.units.parsers.embedded.tree import Tree

_TAGS = ("PROPN", "NOUN", "VERB", "ADJ", "NUM", "ADP", "PRON", "ADV", "AUX")
_RELATIONS = ("nsubj", "appos", "obl", "obj", "conj", "nmod", "amod", "compound", "flat")

NAMES = (
    *(f"gap:tag:{tag}" for tag in _TAGS),
    *(f"gap:relation:{relation}" for relation in _RELATIONS),
    "gap:first_word",
    "gap:first_3_words",
    "gap:share",
    "gap:subject_said",
    "gap:root_said",
    "gap:root_share",
    "gap:root_longest",
    "gap:root_shortest",
)


def gap_features(trees: Sequence[Tree], stus: Sequence[Sequence[str]]) -> FeatureTable:
    """What the STUs of each sentence leave out, and how they express its main verb.

    A word is said if an STU holds it; words as ROUGE counts them (lower-cased runs of letters and
    digits), words without any left out.

    - ``tag:`` and ``relation:``: unsaid words of this part of speech, or in this relation to
      their heads; ``first_word``: whether it is unsaid; ``first_3_words``: how many are;
      ``share``: unsaid words over the words of the sentence.
    - ``subject_said``: whether the root has a subject and an STU holds its head; ``root_said``;
      ``root_share``: share of the STUs that hold the root; ``root_longest`` and
      ``root_shortest``: words of the longest and the shortest of those, 0 if there are none.

    Args:
        trees: The sentences, parsed.
        stus: The STUs of each sentence.

    Returns:
        (sentences, 26).

    Example:
        >>> from litepyramid.units.parsers.embedded.tree import Word
        >>> tree = Tree([Word("Rain", "NOUN", 1, "nsubj"), Word("falls", "VERB", 1, "root"),
        ...              Word("hard", "ADV", 1, "advmod")])
        >>> table = gap_features([tree], [["Rain falls"]])
        >>> found = dict(zip(table.names, table.values[0].tolist()))
        >>> found["gap:tag:ADV"], found["gap:tag:NOUN"], found["gap:root_shortest"]
        (1.0, 0.0, 2.0)
    """
    rows = [_row(tree, units) for tree, units in zip(trees, stus, strict=True)]
    return FeatureTable("gaps", NAMES, np.array(rows, dtype=np.float64))


def _row(tree: Tree, units: Sequence[str]) -> list[float]:
    made = [rouge_words(unit) for unit in units]
    said = {word for unit in made for word in unit}
    words = [set(rouge_words(token)) for token in tree.tokens]
    unsaid = [i for i, own in enumerate(words) if own and not own & said]
    relations = [tree.base(i) for i in range(len(words))]
    tags = tree.tags
    with_root = [len(unit) for unit in made if words[tree.root] & set(unit)]
    return [
        *(float(sum(tags[i] == tag for i in unsaid)) for tag in _TAGS),
        *(float(sum(relations[i] == relation for i in unsaid)) for relation in _RELATIONS),
        float(unsaid[:1] == [0]),
        float(sum(i < 3 for i in unsaid)),
        len(unsaid) / max(1, sum(len(rouge_words(token)) for token in tree.tokens)),
        float(tree.subject is not None and bool(words[tree.subject] & said)),
        float(bool(words[tree.root] & said)),
        len(with_root) / max(1, len(made)),
        float(max(with_root, default=0)),
        float(min(with_root, default=0)),
    ]
