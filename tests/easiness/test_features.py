import re

import numpy as np
import pytest
from cases import cases
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
from litepyramid.units.trees import Tree, Word

# A tree, and by hand: its tokens, the characters of its line, its depth, its labels.
HAND = """
(S (NP (NN Rain)) (VP (VBZ falls))) | 2 | 35 | 3 | S NP NN VP VBZ
(S (NP (DT The) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (DT the) (NN mat)))) (. .)) | 7 | 83 | 5 | S NP NP DT DT NN NN VP VBD PP IN .
(S (`` ``) (NP (PRP$ Its) ($ $) (CD 5)) (: --) (, ,) ('' '')) | 7 | 61 | 3 | S `` NP PRP$ $ CD : , ''
"""


@pytest.mark.parametrize(
    ("text", "tokens", "characters", "depth", "labels"), cases(HAND)
)
def test_hand_counted_vectors(text, tokens, characters, depth, labels):
    [row] = constituency_features([text])
    assert len(CONSTITUENCY_NAMES) == len(row) == 69
    assert row[:3].tolist() == [int(tokens), int(characters), int(depth)]
    assert row[3] == int(tokens) / int(depth)
    assert row[4:].tolist() == [labels.split().count(label) for label in LABELS]


@pytest.mark.parametrize(
    "written",
    [
        "(ROOT\n  (S (NP-SBJ=2 (NN Rain))\n (VP (VBZ falls))))",
        "( (S (NP (NN Rain)) (VP (VBZ falls))) )",
        "(TOP (S (NP|X (NN Rain)) (VP (VBZ falls) (NP (-NONE- *T*-1)))))",
    ],
)
def test_what_the_features_do_not_know_is_taken_off(written):
    both = constituency_features([written, "(S (NP (NN Rain)) (VP (VBZ falls)))"])
    assert both[0].tolist() == both[1].tolist()


def test_a_very_deep_tree_is_no_crash():
    deep = "(NP " * 5000 + "(NN x)" + ")" * 5000
    assert constituency_features([deep])[0, 2] == 5001


def branches(trees):
    """Trees of which these are the children."""
    labels = st.sampled_from(["NP", "VP", "S", "PP", "SBAR"])
    children = st.lists(trees, min_size=1, max_size=4).map(" ".join)
    return st.builds("({} {})".format, labels, children)


LEAF = st.builds(
    "({} {})".format, st.sampled_from(["NN", "VBZ"]), st.sampled_from("abc")
)
TREES = st.recursive(LEAF, branches)


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
    """The values of a row by name that are not 0."""
    named = {}
    for name, value in zip(names, values[row].tolist(), strict=True):
        if value:
            named[name] = value
    return named


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
    counted = of(DEPENDENCY_NAMES, dependency_features([tree]))
    ones = "relation:det relation:nmod relation:case relation:nsubj"
    assert counted == {
        "length": 5,
        "characters": 22,
        "tree_depth": 4,
        "length_per_depth": 1.25,
        "tag:NOUN": 2,
        **dict.fromkeys(f"{ones} tag:DET tag:PART tag:VERB".split(), 1),
    }


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
    # "The Norfolk bowler", without ", 23": one word of a name.
    assert of(SUBJECT_NAMES, table) == {
        "subject:root_name": 1,
        "subject:root_length": 3,
        "subject:stu_person": 0.5,
        "subject:stu_full_name": 0.5,
        "subject:root_place": 0.7,
        "subject:opens_with_determiner": 1,
        "subject:root_is_verb": 1,
        "subject:person_nouns": 1,
    }
    # "Was miles away" has a copula.
    names = "root_none stu_thing root_place root_is_verb opens_with_verb"
    second = " ".join(sorted(of(SUBJECT_NAMES, table, 1)))
    assert second.replace("subject:", "").split() == sorted(names.split())


def test_a_word_that_the_sentence_lacks_has_the_part_of_speech_of_its_reference():
    stus = [["innes was hurt"], ["innes was away"]]
    alone = of(SUBJECT_NAMES, subject_features([WAS], stus[1:], ["b"]))
    beside = of(SUBJECT_NAMES, subject_features([BOWLER, WAS], stus, ["a", "a"]), 1)
    assert alone["subject:stu_thing"] == 1
    assert beside["subject:stu_name"] == 1
