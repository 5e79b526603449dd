import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litepyramid.easiness.sentence_features import (
    CONSTITUENCY_NAMES,
    DEPENDENCY_NAMES,
    LABELS,
    SUBJECT_NAMES,
    constituency_features,
    context_features,
    dependency_features,
    stu_features,
    subject_features,
)
from litepyramid.units.parsers.embedded.frames import Tree, Word

# Counted by hand: (tree, tokens, characters of the one-line tree, depth, counts of
# labels).
RAIN = "(S (NP (NN Rain)) (VP (VBZ falls)))"
CAT = "(S (NP (DT The) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (DT the) (NN mat)))) (. .))"
CAT_LABELS = {
    "S": 1,
    "NP": 2,
    "DT": 2,
    "NN": 2,
    "VP": 1,
    "VBD": 1,
    "PP": 1,
    "IN": 1,
    ".": 1,
}
QUOTED = "(S (`` ``) (NP (PRP$ Its) ($ $) (CD 5)) (: --) (, ,) ('' ''))"
HAND = [
    (RAIN, 2, 35, 3, dict.fromkeys(["S", "NP", "NN", "VP", "VBZ"], 1)),
    (CAT, 7, 83, 5, CAT_LABELS),
    (
        QUOTED,
        7,
        61,
        3,
        dict.fromkeys(["S", "``", "NP", "PRP$", "$", "CD", ":", ",", "''"], 1),
    ),
]


@pytest.mark.parametrize(("text", "tokens", "characters", "depth", "counts"), HAND)
def test_hand_counted_vectors(text, tokens, characters, depth, counts):
    expected = [
        tokens,
        characters,
        depth,
        tokens / depth,
        *(counts.get(k, 0) for k in LABELS),
    ]
    assert constituency_features([text]).tolist() == [expected]
    assert len(CONSTITUENCY_NAMES) == len(expected) == 69


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("(ROOT\n  (S (NP-SBJ=2 (NN Rain))\n (VP (VBZ falls))))", HAND[0][0]),
        ("( (S (NP (NN Rain)) (VP (VBZ falls))) )", HAND[0][0]),
        ("(TOP (S (NP|X (NN Rain)) (VP (VBZ falls) (NP (-NONE- *T*-1)))))", HAND[0][0]),
        (
            "(NP (-LRB- -LRB-) (NN x) (-RRB- -RRB-))",
            "(NP (-LRB- -LRB-) (NN x) (-RRB- -RRB-))",
        ),
    ],
)
def test_what_the_features_do_not_know_is_taken_off(written, read):
    both = constituency_features([written, read])
    assert both[0].tolist() == both[1].tolist()


def test_a_very_deep_tree_is_no_crash():
    deep = "(NP " * 5000 + "(NN x)" + ")" * 5000
    assert constituency_features([deep])[0, 2] == 5001


LEAF = st.builds(
    "({} {})".format, st.sampled_from(["NN", "VBZ"]), st.sampled_from("abc")
)
TREES = st.recursive(
    LEAF,
    lambda t: st.builds(
        lambda label, children: f"({label} {' '.join(children)})",
        st.sampled_from(["NP", "VP", "S", "PP", "SBAR"]),
        st.lists(t, min_size=1, max_size=4),
    ),
)


@settings(max_examples=40)
@given(TREES)
def test_a_tree_is_measured_as_its_text(tree):
    row = constituency_features([tree])[0]
    assert row[0] == len(re.findall("[abc]", tree))
    assert row[1] == len(tree)
    opened = np.cumsum([(char == "(") - (char == ")") for char in tree])
    assert row[2] == opened.max()
    assert row[4:].sum() == tree.count("(")


def of(names, values, row=0):
    return dict(zip(names, values[row].tolist(), strict=True))


def tree_of(tokens, tags, heads, relations):
    """A tree from a line of each, a word a token."""
    numbers = [int(head) for head in heads.split()]
    columns = (tokens.split(), tags.split(), numbers, relations.split())
    return Tree([Word(*word) for word in zip(*columns, strict=True)])


def test_dependency_counts_by_hand():
    tree = tree_of(
        "The cat 's owner slept",
        "DET NOUN PART NOUN VERB",
        "1 3 1 4 4",
        "det nmod:poss case nsubj root",
    )
    counted = {
        name: value
        for name, value in of(DEPENDENCY_NAMES, dependency_features([tree])).items()
        if value
    }
    shape = {
        "length": 5,
        "characters": 22,
        "tree_depth": 4,
        "length_per_depth": 1.25,
    }
    relations = {f"relation:{name}": 1 for name in ("det", "nmod", "case", "nsubj")}
    tags = {
        "tag:DET": 1,
        "tag:NOUN": 2,
        "tag:PART": 1,
        "tag:VERB": 1,
    }
    assert counted == shape | relations | tags


def test_stu_features_by_hand():
    sentence = tree_of(
        "The cat sat , and the dog ran off .",
        "DET NOUN VERB PUNCT CCONJ DET NOUN VERB ADV PUNCT",
        "1 2 2 7 7 6 7 2 7 2",
        "det nsubj root punct cc det nsubj conj advmod punct",
    )
    empty = tree_of("…", "PUNCT", "0", "root")
    stus = [["The cat sat", "the dog ran off"], [], ["x"]]
    table = stu_features([sentence, sentence, empty], stus)
    # 8 words of 7 types (the, cat, sat, and, dog, ran, off); all but "and" are covered.
    expected = [
        *(2, 3.5, 4, 3, 0.5, 3.5 / 8, 4 / 8, 3 / 8),  # count, lengths, shares
        *(6 / 7, 1, (2 + 1 + 1 + 0 + 1 + 1 + 1) / 7, 0, 0),  # coverage … pronouns
        *((6 / 11 + 8 / 12) / 2, 8 / 12),  # F1 of sentence and STUs
        (1 + 6 / 7 + 6 / 7 + 0 + 1 + 1 + 1 + 1) / 8,  # expected F1
        *((5 * 8 / 10 + 2 * 6 / 9) / 8, (5 * 8 / 12 + 2 * 6 / 11) / 8),
        *((6 / 8 + 6 / 8 + 6 / 9 + 8 / 9) / 4, (6 / 10 + 8 / 11) / 2),  # of windows
        *(1, 1, 0, 0.5, 1),  # openings, short and long ones
    ]
    assert table[0] == pytest.approx(expected)
    assert not table[1:].any()


def test_context_features_by_hand():
    def tree(text, tags):
        size = len(text.split())
        return tree_of(text, tags, "0 " * size, "dep " * size)

    trees = [
        tree("The cat sat", "DET NOUN VERB"),
        tree("The cat ran off", "DET NOUN VERB ADV"),
        tree("A dog sat", "DET NOUN VERB"),
        tree("The cat sat", "DET NOUN VERB"),
    ]
    table = context_features(trees, ["a", "a", "a", "b"])
    assert table.tolist() == [[2 / 3, 1], [2 / 4, 1 / 2], [1 / 3, 1 / 2], [0, 0]]


# The Norfolk bowler , 23 , has hurt Al Innes
BOWLER = tree_of(
    "The Norfolk bowler , 23 , has hurt Al Innes",
    "DET PROPN NOUN PUNCT NUM PUNCT AUX VERB PROPN PROPN",
    "2 2 7 4 2 4 7 7 7 8",
    "det compound nsubj punct appos punct aux root obj flat",
)
WAS = tree_of("Was miles away", "AUX NOUN ADV", "2 2 2", "cop obl root")


def test_subjects_by_hand():
    made = [["The bowler has hurt Al Innes", "Al Innes hurt"], ["miles away"]]
    table = subject_features([BOWLER, WAS], made, ["a", "a"])
    first, second = (of(SUBJECT_NAMES, table, row) for row in (0, 1))
    # "The Norfolk bowler", without ", 23": one word of a name.
    named = {
        "root_name": 1,
        "root_length": 3,
        "stu_person": 0.5,
        "stu_full_name": 0.5,
    }
    named |= {
        "root_place": 0.7,
        "opens_with_determiner": 1,
        "root_is_verb": 1,
        "person_nouns": 1,
    }
    assert {k.removeprefix("subject:"): v for k, v in first.items() if v} == named
    # "Was miles away" has a copula.
    named = ("root_none", "stu_thing", "root_place", "root_is_verb", "opens_with_verb")
    assert {k.removeprefix("subject:") for k, v in second.items() if v} == {*named}


def test_a_word_that_the_sentence_lacks_has_the_part_of_speech_of_its_reference():
    stus = [["innes was hurt"], ["innes was away"]]
    alone = of(SUBJECT_NAMES, subject_features([WAS], stus[1:], ["b"]))
    beside = of(SUBJECT_NAMES, subject_features([BOWLER, WAS], stus, ["a", "a"]), 1)
    assert alone["subject:stu_thing"] == 1
    assert beside["subject:stu_name"] == 1
