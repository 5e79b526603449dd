"""Features of the subjects of a sentence and of its STUs.

People write names into SCUs: "The Norfolk bowler has regained form" becomes "Al Innes has regained
form". An STU says "The Norfolk bowler", and meets such an SCU in few words.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from litepyramid.easiness.dependency import members
from litepyramid.easiness.features import FeatureTable
from litepyramid.files import read_lines
from litepyramid.units.parsers.embedded.tree import Tree, Word

KINDS = ("full_name", "name", "person", "pronoun", "thing")
"""What a subject can be: a name of several words, of one; a noun for a person; …"""

_OPENINGS = {
    "verb": {"VERB", "AUX"},
    "adverbial": {"ADP", "ADV", "SCONJ"},
    "noun": {"NOUN", "ADJ"},
    "determiner": {"DET"},
    "pronoun": {"PRON"},
    "name": {"PROPN"},
}

NAMES = (
    *(f"subject:root_{kind}" for kind in (*KINDS, "none")),
    *(f"subject:stu_{kind}" for kind in KINDS),
    "subject:root_length",
    "subject:root_place",
    "subject:root_is_verb",
    *(f"subject:opens_with_{name}" for name in _OPENINGS),
    "subject:titled_names",
    "subject:person_nouns",
    "subject:upper_case",
)

_NOT_IN_SUBJECT = frozenset({"acl", "appos", "advcl", "parataxis", "punct"})
_LONGEST_SUBJECT = 4
"""Words of an STU that are taken for its subject if it has no verb that the reference knows."""


@cache
def person_nouns() -> frozenset[str]:
    """Nouns that stand for a person (or a pet): "striker", "widow", "pup"."""
    path = Path(__file__).resolve().parents[1] / "embedded" / "person_nouns.txt"
    return frozenset(read_lines(path)) | {"old"}  # "the 58 - year - old"


def subject_features(
    trees: Sequence[Tree], stus: Sequence[Sequence[str]], groups: Sequence[Hashable]
) -> FeatureTable:
    """Features of the subjects of the sentence and its STUs.

    - ``root_`` and a kind: 1 for the kind of the subject of the sentence's root, ``none`` if it
      has no subject ("Was five miles from the coast"). Kinds: ``full_name``, two words of a name
      or more; ``name``, one; ``person``, a noun for a person without a name ("the 58 - year -
      old"); ``pronoun``; ``thing``, all else.
    - ``stu_`` and a kind: share of the STUs whose words before the verb are of that kind.
    - ``root_length``: words of that subject, without clauses and appositions; ``root_place``: how
      far into the sentence the root stands, from 0 to 1; ``root_is_verb``, or has a copula;
      ``opens_with_`` a part of speech; ``titled_names``: nouns for persons just before a name;
      ``person_nouns``; ``upper_case``: share of the words in capitals.

    Args:
        trees: The sentences, parsed.
        stus: The STUs of each sentence.
        groups: Which reference each sentence belongs to: a word of an STU that its own sentence
            lacks is of the part of speech that it has elsewhere in the reference.

    Returns:
        (sentences, 23).

    Example:
        >>> from litepyramid.units.parsers.embedded.tree import Word
        >>> tree = Tree([Word("Singer", "NOUN", 1, "nsubj"), Word("fell", "VERB", 1, "root")])
        >>> row = subject_features([tree], [["Singer fell"]], ["a"])
        >>> [name for name, value in zip(row.names, row.values[0]) if value == 1][:2]
        ['subject:root_person', 'subject:stu_person']
    """
    rows: list[list[float]] = [[] for _ in trees]
    for own in members(groups):
        tags: dict[str, str] = {}
        for word in (word for index in own for word in trees[index].words):
            tags.setdefault(word.text.lower(), word.upos)
        for index in own:
            tree = trees[index]
            subject = [] if tree.subject is None else _phrase(tree, tree.subject)
            kind = _kind([w.text for w in subject], [w.upos for w in subject])
            rows[index] = [
                *(float(kind == one) for one in (*KINDS, "none")),
                *_units(stus[index], tags),
                float(len(subject)),
                *_shape(tree),
            ]
    return FeatureTable("subjects", NAMES, np.array(rows, dtype=np.float64))


def _units(units: Sequence[str], tags: Mapping[str, str]) -> list[float]:
    counts = dict.fromkeys(KINDS, 0)
    for unit in units:
        tokens = unit.split()
        known = [tags.get(t.lower(), "PROPN" if t[:1].isupper() else "NOUN") for t in tokens]
        verbs = (i for i, tag in enumerate(known) if i and tag in {"VERB", "AUX"})
        end = next(verbs, _LONGEST_SUBJECT)
        counts[_kind(tokens[:end], known[:end])] += 1
    return [counts[kind] / max(1, len(units)) for kind in KINDS]


def _phrase(tree: Tree, top: int) -> list[Word]:
    """The words of a subject, without clauses and appositions."""
    outside = [i for i in range(len(tree.words)) if tree.base(i) in _NOT_IN_SUBJECT]
    return [tree.words[i] for i in tree.under(top, outside)]


def _shape(tree: Tree) -> list[float]:
    n, root, tags = len(tree.words), tree.root, tree.tags
    copula = any(tree.base(i) == "cop" for i in tree.children[root])
    people = [w.upos != "PROPN" and w.text.lower() in person_nouns() for w in tree.words]
    return [
        root / n,
        float(copula or tags[root] in _OPENINGS["verb"]),
        *(float(tags[0] in kinds) for kinds in _OPENINGS.values()),
        float(sum(people[i] and tags[i + 1] == "PROPN" for i in range(n - 1))),
        float(sum(people)),
        sum(token.isupper() and len(token) > 1 for token in tree.tokens) / n,
    ]


def _kind(tokens: Sequence[str], tags: Sequence[str]) -> str:
    names = sum(tag == "PROPN" for tag in tags)
    if not tokens:
        return "none"
    if tags[0] == "PRON" or set(tags) <= {"PRON", "DET"}:
        return "pronoun"
    if names:
        return "full_name" if names > 1 else "name"
    return "person" if any(token.lower() in person_nouns() for token in tokens) else "thing"
