"""The regressor's features of a sentence: of its tree, its reference and its STUs.

ZB21's 69 come from a constituency tree, those of the embedded regressor from its
dependency tree, the other sentences of the reference, and the STUs, which are known
before anyone writes an SCU: a word in no STU can match no SCU, and a long STU holds
much that no single SCU says.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate, chain
from pathlib import Path

import numpy as np

from litepyramid.files import read_lines
from litepyramid.text import word_set
from litepyramid.types import FloatArray, Names, Signature
from litepyramid.units.align import Sentence, sharing, word_types
from litepyramid.units.parses import tree_pieces
from litepyramid.units.trees import Tree

CONSTITUENCY = "constituency"
WITH_STUS = "dependency+stus"

_LABELS = (
    "WRB RBR ADVP VBG $ '' WHADVP -RRB- JJR NAC PRP NNS WP VBZ MD WDT NP ADJP PDT EX "
    "UH NN NFP SYM PRP$ RBS FRAG NX CONJP RP WHPP CC VBD LS . SBAR TO JJ IN VP -LRB- "
    "S QP SQ CD `` X POS XX PP PRT JJS HYPH , RB VBN : VBP DT VB SINV UCP WHNP NNPS "
    "NNP"
)
LABELS = tuple(_LABELS.split())
"""The 65 labels of ZB21, in the order in which the authors' regressors were trained."""

SHAPE = ("length", "tree_length", "tree_depth", "length_per_depth")
CONSTITUENCY_NAMES = (*SHAPE, *(f"count:{label}" for label in LABELS))


@dataclass(frozen=True)
class FeatureTable:
    """The features of sentences: `values` is (sentences, names)."""

    feature_set: str
    names: Names
    values: FloatArray
    sentences: tuple[Sentence, ...] = ()
    signature: Signature = field(default_factory=lambda: Signature(()))

    def key(self, row: int) -> tuple[float, str, int, int]:
        """What puts the sentence of a row in order: its input (2 before 10), reference,
        number."""
        if not self.sentences:
            return row, "", 0, 0

        sentence = self.sentences[row]
        short = sentence.input.isdecimal() and len(sentence.input) < 16
        number = float(sentence.input) if short else math.inf
        return number, sentence.input, sentence.reference, sentence.sentence


def constituency_features(trees: Sequence[str]) -> FloatArray:
    """ZB21's 69 features (appendix A.3), in the order of the authors' regressors:
    (sentences, 69).

    Tokens; characters of the tree on one line; its depth (the deepest nesting of
    brackets); length / depth (the paper's appendix says depth / length, the released
    regressors were trained on this); then the counts of the 65 `LABELS`, preterminals
    among them.

    What they do not know is taken off first (`tree_pieces`).
    """
    rows = []
    for tree in trees:
        pieces = tree_pieces(tree)
        opening = [piece for piece in pieces if piece.startswith(" (")]
        labels = Counter(piece[2:] for piece in opening)
        words = len(pieces) - len(opening) - pieces.count(")")

        nesting = accumulate(piece.count("(") - piece.count(")") for piece in pieces)
        depth = max(nesting)
        characters = len("".join(pieces)) - 1
        counts = map(labels.__getitem__, LABELS)
        rows.append([words, characters, depth, words / depth, *counts])

    return np.array(rows, dtype=float)


def rouge_words(text: str) -> list[str]:
    """The words of a text as rouge-score counts them: lower-cased runs of letters and
    digits."""
    return re.findall(r"[a-z0-9]+", text.lower())


_RELATIONS = (  # without root and clf; a subtype (nmod:poss) counts as its relation
    "acl advcl advmod amod appos aux case cc ccomp compound conj cop csubj dep det "
    "discourse dislocated expl fixed flat goeswith iobj list mark nmod nsubj nummod "
    "obj obl orphan parataxis punct reparandum vocative xcomp"
)
_TAGS = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X"
RELATIONS = tuple(_RELATIONS.split())
TAGS = tuple(_TAGS.split())

DEPENDENCY_NAMES = (
    *("length", "characters", "tree_depth", "length_per_depth"),
    *(f"relation:{name}" for name in RELATIONS),
    *(f"tag:{name}" for name in TAGS),
)


def dependency_features(trees: Sequence[Tree]) -> FloatArray:
    """Tokens, characters, depth, length / depth, counts of the 35 `RELATIONS` and 17
    `TAGS`."""
    rows = []
    for tree in trees:
        length = len(tree.words)
        relations = Counter(map(tree.base, range(length)))
        tags = Counter(tree.tags)
        rows.append(
            [
                length,
                len(" ".join(tree.tokens)),
                tree.depth,
                length / max(1, tree.depth),
                *map(relations.__getitem__, RELATIONS),
                *map(tags.__getitem__, TAGS),
            ]
        )

    return np.array(rows, dtype=float)


CONTEXT_NAMES = ("context:shared_with_nearest", "context:shared_content")
CONTENT = frozenset({"ADJ", "NOUN", "NUM", "PROPN", "VERB"})


def context_features(trees: Sequence[Tree], groups: Sequence[Hashable]) -> FloatArray:
    """How much of each sentence the other sentences of its reference say too."""
    words = [word_types(" ".join(tree.tokens)) for tree in trees]
    content = [_content_words(tree) for tree in trees]

    members = defaultdict(list)
    for index, group in enumerate(groups):
        members[group].append(index)

    rows = np.zeros((len(trees), 2))
    for indices in members.values():
        shared_with = sharing([words[index] for index in indices])
        sentences_with: Counter[str] = Counter()
        for index in indices:
            sentences_with.update(content[index] | words[index])

        for place, index in enumerate(indices):
            shared = shared_with(words[index])
            shared[place] = 0  # a sentence is not its own neighbour
            nearest = int(shared.max()) / max(1, len(words[index]))
            elsewhere = sum(sentences_with[word] > 1 for word in content[index])
            rows[index] = nearest, elsewhere / max(1, len(content[index]))

    return rows


def _content_words(tree: Tree) -> set[str]:
    return {word.text.lower() for word in tree.words if word.upos in CONTENT}


_OF_STUS = """
    count mean_length longest shortest length_sd mean_share longest_share shortest_share
    coverage content_coverage repetition new_words pronouns sentence_f1_mean
    sentence_f1_best expected_f1_4 expected_f1_6 expected_f1_8 window_f1_5 window_f1_7
    distinct_openings to_6_words from_12_words 4_to_9_words count_4_to_9_words
"""
STU_NAMES = tuple(f"stu:{name}" for name in _OF_STUS.split())

_PRONOUNS = word_set(
    "he her hers him his i it its my our she their them they us we you your"
)


def stu_features(trees: Sequence[Tree], stus: Sequence[Sequence[str]]) -> FloatArray:
    """How much of each sentence its STUs keep (sentences, 25); zeros without STUs or
    words.

    ``count``; lengths in words, and over the sentence's own (``_share``). ``coverage``:
    share of the sentence's word types in at least one STU; ``content_coverage``: of its
    nouns, names, verbs, adjectives and numbers; ``repetition``: STUs that hold a word
    type, on average; ``new_words``: share of the STUs' types that the sentence lacks;
    ``pronouns`` per STU. ``sentence_f1``: ROUGE-1 F1 of sentence and STUs.
    ``expected_f1_m``: each word is worth the best ``2 min(m, n) / (m + n)`` of an STU
    of n words that holds it (an imagined SCU of m words), the mean over words.
    ``window_f1_m``: the mean best F1 of every run of m words.
    """
    return np.array(list(map(_stu_row, trees, stus)), dtype=float)


def _stu_row(tree: Tree, units: Sequence[str]) -> list[float]:
    words = rouge_words(" ".join(tree.tokens))
    made = [*filter(None, map(rouge_words, units))]
    if not made or not words:
        return [0.0] * len(STU_NAMES)

    in_units = list(chain.from_iterable(made))
    covered = set(in_units)
    types = set(words)
    content = rouge_words(" ".join(w.text for w in tree.words if w.upos in CONTENT))

    lengths = np.array([len(unit) for unit in made], dtype=float)
    sizes = [float(lengths.mean()), float(lengths.max()), float(lengths.min())]
    shares = [size / len(words) for size in sizes]
    medium = (lengths >= 4) & (lengths <= 9)

    unit_types = Counter(chain.from_iterable(map(set, made)))
    whole = [_f1(words, unit) for unit in made]
    openings = {tuple(unit[:2]) for unit in made}
    return [
        len(made),
        *sizes,
        float(lengths.std()),
        *shares,
        len(types & covered) / len(types),
        _mean([word in covered for word in content]),
        # Sorted: the order of a set would change the last bit of the sum.
        _mean([unit_types[word] for word in sorted(types)]),
        len(covered - types) / len(covered),
        sum(word in _PRONOUNS for word in in_units) / len(made),
        _mean(whole),
        max(whole),
        *(_expected(words, made, length) for length in (4, 6, 8)),
        *(_windowed(words, made, length) for length in (5, 7)),
        len(openings) / len(made),
        _mean((lengths <= 6).tolist()),
        _mean((lengths >= 12).tolist()),
        _mean(medium.tolist()),
        int(medium.sum()),
    ]


def _expected(words: Sequence[str], made: Sequence[Sequence[str]], m: int) -> float:
    """The mean over words of the best F1 that a unit with the word has with an imagined
    SCU of m words."""
    best: dict[str, float] = {}
    for unit in made:
        f1 = 2 * min(m, len(unit)) / (m + len(unit))
        for word in unit:
            best[word] = max(f1, best.get(word, 0.0))
    return _mean([best.get(word, 0.0) for word in words])


def _windowed(words: Sequence[str], made: Sequence[Sequence[str]], m: int) -> float:
    """The mean over every run of m words of the best F1 with a unit."""
    scores = []
    for start in range(max(1, len(words) - m + 1)):
        run = words[start : start + m]
        scores.append(max(_f1(run, unit) for unit in made))
    return _mean(scores)


def _f1(one: Sequence[str], other: Sequence[str]) -> float:
    """ROUGE-1 F1 of two lists of words."""
    shared = (Counter(one) & Counter(other)).total()
    return 2 * shared / (len(one) + len(other))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


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

_OF_SUBJECTS = (
    *(f"root_{kind}" for kind in (*KINDS, "none")),
    *(f"stu_{kind}" for kind in KINDS),
    *("root_length", "root_place", "root_is_verb"),
    *(f"opens_with_{name}" for name in _OPENINGS),
    *("titled_names", "person_nouns", "upper_case"),
)
SUBJECT_NAMES = tuple(f"subject:{name}" for name in _OF_SUBJECTS)

_NOT_IN_SUBJECT = frozenset({"acl", "appos", "advcl", "parataxis", "punct"})
_LONGEST_SUBJECT = 4
"""Words of an STU that are taken for its subject if it has no verb that the reference
knows."""


@cache
def person_nouns() -> frozenset[str]:
    """Nouns that stand for a person (or a pet): "striker", "widow", "pup"."""
    path = Path(__file__).resolve().parents[1] / "embedded" / "person_nouns.txt"
    return frozenset(read_lines(path)) | {"old"}  # "the 58 - year - old"


def subject_features(
    trees: Sequence[Tree], stus: Sequence[Sequence[str]], groups: Sequence[Hashable]
) -> FloatArray:
    """Whom the sentence and its STUs are about (sentences, 23).

    People write names into SCUs: "The Norfolk bowler has regained form" becomes "Al
    Innes has regained form", which an STU about "The Norfolk bowler" meets in few
    words. ``root_`` and a kind: 1 for the kind of the subject of the sentence's root;
    ``stu_`` and a kind: share of the STUs whose words before the verb are of that kind.
    Length of that subject without clauses and appositions, place of the root, what the
    sentence opens with, nouns for persons (just before a name: ``titled_names``), share
    of words in capitals. A word of an STU that its own sentence lacks has the part of
    speech that it has elsewhere in the reference (`groups`).
    """
    known_tags: defaultdict[Hashable, dict[str, str]] = defaultdict(dict)
    for tree, group in zip(trees, groups, strict=True):
        for word in tree.words:
            known_tags[group].setdefault(word.text.lower(), word.upos)

    rows = []
    for tree, units, group in zip(trees, stus, groups, strict=True):
        n = len(tree.words)
        tags = tree.tags
        subject = _root_subject(tree)
        tokens = [tree.tokens[i] for i in subject]
        kind = _subject_kind(tokens, [tags[i] for i in subject])
        of_stus = Counter(_stu_kind(unit, known_tags[group]) for unit in units)
        shares = [of_stus[one] / max(1, len(units)) for one in KINDS]

        copula = any(tree.base(i) == "cop" for i in tree.children[tree.root])
        verbal = copula or tags[tree.root] in _OPENINGS["verb"]
        opening = [tags[0] in kinds for kinds in _OPENINGS.values()]

        people = []
        for word in tree.words:
            noun = word.upos != "PROPN" and word.text.lower() in person_nouns()
            people.append(noun)
        titled = sum(people[i] and tags[i + 1] == "PROPN" for i in range(n - 1))
        capitals = sum(token.isupper() and len(token) > 1 for token in tree.tokens)
        rows.append(
            [
                *(kind == one for one in (*KINDS, "none")),
                *shares,
                len(subject),
                tree.root / n,
                verbal,
                *opening,
                titled,
                sum(people),
                capitals / n,
            ]
        )

    return np.array(rows, dtype=float)


def _root_subject(tree: Tree) -> list[int]:
    """The places of the words of the root's subject, without clauses and
    appositions."""
    outside = []
    for i in range(len(tree.words)):
        if tree.base(i) in _NOT_IN_SUBJECT:
            outside.append(i)
    for i in tree.children[tree.root]:
        if tree.base(i) in {"nsubj", "csubj"}:
            return [*tree.under(i, outside)]
    return []


def _stu_kind(unit: str, tags: Mapping[str, str]) -> str:
    """The kind of what stands before the verb of an STU."""
    tokens = unit.split()
    parts = []
    for token in tokens:
        # A word that the reference never uses: a capital is all there is to go by.
        guess = "PROPN" if token[:1].isupper() else "NOUN"
        parts.append(tags.get(token.lower(), guess))

    end = _LONGEST_SUBJECT
    for i, tag in enumerate(parts):
        if i and tag in {"VERB", "AUX"}:
            end = i
            break

    return _subject_kind(tokens[:end], parts[:end])


def _subject_kind(tokens: Sequence[str], tags: Sequence[str]) -> str:
    """What a subject of these words is, one of `KINDS`; "none" without words."""
    if not tokens:
        return "none"
    if tags[0] == "PRON" or set(tags) <= {"PRON", "DET"}:
        return "pronoun"

    names = tags.count("PROPN")
    if names:
        return "full_name" if names > 1 else "name"
    if person_nouns().isdisjoint(token.lower() for token in tokens):
        return "thing"
    return "person"
