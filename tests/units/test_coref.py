"""Names in place of mentions, "name is mention"; pronouns linked over given trees."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from written import tree

from litepyramid.units.coreference import PRONOUNS, replaced, resolve
from litepyramid.units.parsers.embedded.frames import Word
from litepyramid.units.parsers.embedded.pronouns import pronoun_clusters
from litepyramid.units.parses import Identity, ParsedReference, ParsedSentence


def reference(*sentences: str, clusters=()):
    parsed = tuple(ParsedSentence(tuple(text.split())) for text in sentences)
    return ParsedReference("a", 0, parsed, tuple(clusters))


def texts(parse: ParsedReference) -> list[str]:
    return [sentence.text for sentence in parse.sentences]


def test_the_first_mention_that_is_no_pronoun_is_the_name():
    parse = reference("She left .", "Ann Lee ran .", clusters=[((0, 1), (3, 5))])
    assert texts(replaced(parse)) == ["Ann Lee left .", "Ann Lee ran ."]
    assert replaced(parse).identities == ()


def test_each_pronoun_is_replaced_and_gives_no_unit():
    for pronoun in (*PRONOUNS, "She", "I"):
        parse = reference("Ann left .", f"{pronoun} ran .", clusters=[((0, 1), (3, 4))])
        assert texts(replaced(parse)) == ["Ann left .", "Ann ran ."]
        assert resolve(parse).identities == ()


def test_identities_come_in_the_order_of_mentions_with_their_sentences():
    parse = reference(
        "Ann met Bob .",
        "The mayor liked the old baker .",
        clusters=[((2, 3), (7, 10)), ((0, 1), (4, 6))],
    )
    found = replaced(parse)
    assert found.identities == (
        Identity("Ann is The mayor", 1),
        Identity("Bob is the old baker", 1),
    )
    assert texts(found) == ["Ann met Bob .", "Ann liked Bob ."]
    assert found.clusters is None


@pytest.mark.parametrize(
    ("mention", "unit"),
    [
        ("the mayor", True),
        ("mayor Lee", False),  # half of its words are the name's
        ("the mayor Lee", True),  # a third
        ("mayor Ann Lee", False),  # contains the name
        ("Ann", False),
        ("Lee of the north", True),
        ("McAnn Lees", False),  # contains it letter by letter
        ("the Lee Lee Lee", False),  # distinct words count: one of two
    ],
)
def test_which_mentions_say_something_new(mention, unit):
    size = len(mention.split())
    parse = reference(
        "Ann Lee left .", f"{mention} ran .", clusters=[((0, 2), (4, 4 + size))]
    )
    assert [i.text for i in resolve(parse).identities] == [
        f"Ann Lee is {mention}"
    ] * unit


def test_of_overlapping_mentions_the_leftmost_longest_is_replaced():
    clusters = [((0, 1), (5, 6)), ((2, 3), (7, 8)), ((0, 3), (7, 9))]
    parse = reference("Ann and Bob met .", "She saw his dog .", clusters=clusters)
    assert texts(replaced(parse)) == ["Ann and Bob met .", "Ann saw Ann and Bob ."]
    clusters = [((0, 1), (3, 4)), ((0, 5), (6, 7))]  # a mention inside a name
    (text,) = texts(
        replaced(
            reference("Ann and kin she loves left their home .", clusters=clusters)
        )
    )
    assert text == "Ann and kin Ann loves left Ann and kin she loves home ."


spans = st.tuples(st.integers(0, 7), st.integers(1, 4)).map(
    lambda p: (p[0], min(8, p[0] + p[1]))
)


@settings(max_examples=40)
@given(st.lists(st.lists(spans, min_size=1, max_size=4), max_size=4))
def test_any_clusters(clusters):
    parse = reference("Ann saw his dog .", "She ran .", clusters=map(tuple, clusters))
    found = resolve(parse)
    ends = sorted(found.names)
    assert all(a[1] <= b[0] for a, b in pairwise(ends))
    assert len(replaced(parse).sentences) == 2
    assert all(s.tokens for s in replaced(parse).sentences)


def linked(*texts: str) -> list[list[str]]:
    sentences = [tree(text) for text in texts]
    tokens = [word.text for words in sentences for word in words]
    clusters = pronoun_clusters(sentences)
    return [[" ".join(tokens[a:b]) for a, b in cluster] for cluster in clusters]


ANN = "Ann/PROPN/nsubj/3 Lee/PROPN/flat/1 left/VERB/root/0 Rome/PROPN/obj/3"
SHE = "She/PRON/nsubj/2 ran/VERB/root/0"


HE = SHE.replace("She", "He")
THEY = SHE.replace("She", "They")
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
                st.sampled_from(
                    ["Ann", "Lee", "she", "his", "They", "its", "man", "dogs", "of"]
                ),
                st.sampled_from(["PROPN", "NOUN", "PRON", "VERB"]),
                st.integers(-1, 6),
                st.sampled_from(
                    ["nsubj", "obj", "nmod", "nmod:poss", "conj", "flat", "case"]
                ),
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
