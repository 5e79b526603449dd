"""Pronouns and short names linked over given trees."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litepyramid.units.parsers.embedded.frames import Word
from litepyramid.units.parsers.embedded.pronouns import pronoun_clusters


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


HE, THEY = SHE.replace("She", "He"), SHE.replace("She", "They")
BOB = "Bob/PROPN/nsubj/2 met/VERB/root/0 Ann/PROPN/obj/2"
MAN = "The/DET/det/2 man/NOUN/nsubj/3 hid/VERB/root/0"
GROUP = "Ann/PROPN/nsubj/4 and/CCONJ/cc/3 Bob/PROPN/conj/1 met/VERB/root/0"
SOLD = "Ann/PROPN/nsubj/2 sold/VERB/root/0 her/PRON/nmod:poss/4 car/NOUN/obj/2"
FIRM = "The/DET/det/2 firm/NOUN/nsubj/3 sold/VERB/root/0 its/PRON/nmod:poss/5 cars/NOUN/obj/3"
ROWS = [
    ((ANN, SHE), [["Ann Lee", "She"]]),
    ((ANN, "Lee/PROPN/nsubj/2 ran/VERB/root/0"), [["Ann Lee", "Lee"]]),
    ((ANN, "Lee/NOUN/nsubj/2 ran/VERB/root/0"), [["Ann Lee", "Lee"]]),
    ((ANN, "Bruce/PROPN/nsubj/3 Lee/PROPN/flat/1 ran/VERB/root/0"), []),
    # a possessive may point to the subject of its own verb, an object may not
    ((SOLD,), [["Ann", "her"]]),
    (("Ann/PROPN/nsubj/2 saw/VERB/root/0 her/PRON/obj/2",), []),
    ((BOB, HE, SHE), [["Bob", "He"], ["Ann", "She"]]),
    ((MAN, SHE), []),
    ((MAN, HE), [["The man", "He"]]),
    ((GROUP, THEY), [["Ann and Bob", "They"]]),
    (("The/DET/det/2 dogs/NOUN/nsubj/3 ate/VERB/root/0", THEY), [["The dogs", "They"]]),
    (("Police/NOUN/nsubj/2 came/VERB/root/0", THEY), [["Police", "They"]]),
    ((ANN, THEY), []),
    ((FIRM,), [["The firm", "its"]]),
    ((FIRM.replace("its", "it"),), []),
]


@pytest.mark.parametrize(("texts", "clusters"), ROWS)
def test_what_is_linked(texts, clusters):
    assert linked(*texts) == clusters


@settings(max_examples=40)
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
