"""Pronouns and short names linked over given trees."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from litepyramid.units.parsers.embedded.pronouns import pronoun_clusters
from litepyramid.units.parsers.embedded.tree import Word


def sentence(text: str) -> list[Word]:
    """'word/UPOS/relation/head …' with heads from 1; plural nouns end in s and get NNS."""
    words = []
    for number, part in enumerate(text.split()):
        form, upos, relation, head = part.rsplit("/", 3)
        xpos = "NNS" if upos == "NOUN" and form.endswith("s") else "NN"
        words.append(Word(form, upos, int(head) - 1 if head != "0" else number, relation, xpos))
    return words


def linked(*texts: str) -> list[list[str]]:
    sentences = [sentence(text) for text in texts]
    tokens = [word.text for words in sentences for word in words]
    clusters = pronoun_clusters(sentences)
    return [[" ".join(tokens[a:b]) for a, b in cluster] for cluster in clusters]


ANN = "Ann/PROPN/nsubj/3 Lee/PROPN/flat/1 left/VERB/root/0 Rome/PROPN/obj/3"
SHE = "She/PRON/nsubj/2 ran/VERB/root/0"


def test_she_is_the_subject_before():
    assert linked(ANN, SHE) == [["Ann Lee", "She"]]


def test_a_part_of_a_name_is_the_name():
    assert linked(ANN, "Lee/PROPN/nsubj/2 ran/VERB/root/0") == [["Ann Lee", "Lee"]]
    assert linked(ANN, "Lee/NOUN/nsubj/2 ran/VERB/root/0") == [["Ann Lee", "Lee"]]
    assert linked(ANN, "Bruce/PROPN/nsubj/3 Lee/PROPN/flat/1 ran/VERB/root/0") == []


def test_a_possessive_may_point_to_the_subject_of_its_own_verb_an_object_may_not():
    own = "Ann/PROPN/nsubj/2 sold/VERB/root/0 her/PRON/nmod:poss/4 car/NOUN/obj/2"
    assert linked(own) == [["Ann", "her"]]
    assert linked("Ann/PROPN/nsubj/2 saw/VERB/root/0 her/PRON/obj/2") == []


def test_one_name_does_not_stand_for_both_sexes():
    bob = "Bob/PROPN/nsubj/2 met/VERB/root/0 Ann/PROPN/obj/2"
    he = "He/PRON/nsubj/2 ran/VERB/root/0"
    assert linked(bob, he, "She/PRON/nsubj/2 hid/VERB/root/0") == [["Bob", "He"], ["Ann", "She"]]


def test_nouns_have_a_sex_too():
    man = "The/DET/det/2 man/NOUN/nsubj/3 hid/VERB/root/0"
    assert linked(man, SHE) == []
    assert linked(man, "He/PRON/nsubj/2 ran/VERB/root/0") == [["The man", "He"]]


def test_they_are_plural():
    group = "Ann/PROPN/nsubj/4 and/CCONJ/cc/3 Bob/PROPN/conj/1 met/VERB/root/0"
    they = "They/PRON/nsubj/2 ran/VERB/root/0"
    assert linked(group, they) == [["Ann and Bob", "They"]]
    assert linked("The/DET/det/2 dogs/NOUN/nsubj/3 ate/VERB/root/0", they) == [["The dogs", "They"]]
    assert linked("Police/NOUN/nsubj/2 came/VERB/root/0", they) == [["Police", "They"]]
    assert linked(ANN, they) == []


def test_its_is_a_thing_and_it_is_left_alone():
    firm = "The/DET/det/2 firm/NOUN/nsubj/3 sold/VERB/root/0 its/PRON/nmod:poss/5 cars/NOUN/obj/3"
    assert linked(firm) == [["The firm", "its"]]
    assert linked(firm.replace("its", "it")) == []


@given(
    st.lists(
        st.lists(
            st.tuples(
                st.sampled_from(["Ann", "Lee", "she", "his", "They", "its", "man", "dogs", "of"]),
                st.sampled_from(["PROPN", "NOUN", "PRON", "VERB"]),
                st.integers(-1, 6),
                st.sampled_from(["nsubj", "obj", "nmod", "nmod:poss", "conj", "flat", "case"]),
                st.sampled_from(["NN", "NNS", ""]),
            ),
            min_size=1,
            max_size=6,
        ),
        max_size=4,
    )
)
def test_any_trees_give_mentions_inside_the_text(rows):
    sentences = [[Word(*row) for row in words] for words in rows]
    total = sum(map(len, sentences))
    for cluster in pronoun_clusters(sentences):
        assert len(cluster) > 1
        assert all(0 <= start < end <= total for start, end in cluster)
