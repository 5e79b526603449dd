import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from litepyramid.easiness.sentence_features import KINDS, TAGS, person_nouns, subject_features
from litepyramid.units.parsers.embedded.tree import Tree, Word


def tree_of(tokens, tags, heads, relations):
    return Tree(list(map(Word, tokens, tags, heads, relations)))


# The Norfolk bowler , 23 , has hurt Al Innes
BOWLER = tree_of(
    ("The", "Norfolk", "bowler", ",", "23", ",", "has", "hurt", "Al", "Innes"),
    ("DET", "PROPN", "NOUN", "PUNCT", "NUM", "PUNCT", "AUX", "VERB", "PROPN", "PROPN"),
    (2, 2, 7, 4, 2, 4, 7, 7, 7, 8),
    ("det", "compound", "nsubj", "punct", "appos", "punct", "aux", "root", "obj", "flat"),
)
WAS = tree_of(("Was", "miles", "away"), ("AUX", "NOUN", "ADV"), (2, 2, 2), ("cop", "obl", "root"))


def of(table, row=0):
    return dict(zip(table.names, table.values[row].tolist(), strict=True))


def test_subjects_by_hand():
    made = [["The bowler has hurt Al Innes", "Al Innes hurt"], ["miles away"]]
    table = subject_features([BOWLER, WAS], made, ["a", "a"])
    first, second = of(table), of(table, 1)
    # "The Norfolk bowler", without ", 23": one word of a name.
    assert first["subject:root_name"] == 1
    assert first["subject:root_length"] == 3
    assert first["subject:stu_person"] == first["subject:stu_full_name"] == 0.5
    assert first["subject:root_place"] == 0.7
    assert first["subject:opens_with_determiner"] == first["subject:root_is_verb"] == 1
    assert first["subject:person_nouns"] == 1
    assert first["subject:titled_names"] == 0
    assert second["subject:root_none"] == second["subject:opens_with_verb"] == 1
    assert second["subject:root_is_verb"] == 1  # it has a copula
    assert second["subject:stu_thing"] == 1
    assert "bowler" in person_nouns()


def test_a_word_that_the_sentence_lacks_has_the_part_of_speech_of_its_reference():
    stus = [["innes was hurt"], ["innes was away"]]
    alone = of(subject_features([WAS], stus[1:], ["b"]))
    beside = of(subject_features([BOWLER, WAS], stus, ["a", "a"]), 1)
    assert alone["subject:stu_thing"] == 1
    assert beside["subject:stu_name"] == 1


@given(st.data())
def test_shares_are_shares_and_kinds_are_exclusive(data):
    n = data.draw(st.integers(1, 8))
    words = st.sampled_from(["Ann", "striker", "ran", "it", "7", ".", "Bo", "UK"])
    tokens = tuple(data.draw(words) for _ in range(n))
    tags = tuple(data.draw(st.sampled_from(TAGS)) for _ in range(n))
    heads = tuple(data.draw(st.integers(0, n - 1)) for _ in range(n))
    relations = tuple(data.draw(st.sampled_from(["nsubj", "root", "obj"])) for _ in range(n))
    stus = data.draw(st.lists(st.lists(words, min_size=1, max_size=5).map(" ".join), max_size=3))
    tree = tree_of(tokens, tags, heads, relations)
    row = of(subject_features([tree], [stus], ["a"]))
    assert sum(row[f"subject:root_{kind}"] for kind in (*KINDS, "none")) == 1
    assert sum(row[f"subject:stu_{kind}"] for kind in KINDS) == pytest.approx(1 if stus else 0)
    shares = ("subject:upper_case", "subject:root_place")
    assert all(0 <= row[name] <= 1 for name in shares)
    assert np.isfinite(list(row.values())).all()
