"""Names in place of mentions, "name is mention"; pronouns linked over given trees."""

from itertools import combinations, pairwise

import pytest
from cases import cases
from hypothesis import given, settings
from hypothesis import strategies as st
from written import any_trees, blocks, tree

from litepyramid.units.coreference import replaced, resolve
from litepyramid.units.parsers.embedded.pronouns import pronoun_clusters
from litepyramid.units.parses import Identity, ParsedReference, ParsedSentence


def reference(*sentences: str, clusters=()):
    parsed = tuple(ParsedSentence(tuple(text.split())) for text in sentences)
    return ParsedReference("a", 0, parsed, tuple(clusters))


def texts(parse: ParsedReference) -> list[str]:
    return [sentence.text for sentence in parse.sentences]


def test_the_first_mention_that_is_no_pronoun_is_the_name():
    of_a_pronoun = ((0, 1),)
    clusters = [((0, 1), (3, 5)), of_a_pronoun]
    parse = reference("She left .", "Ann Lee ran .", clusters=clusters)
    assert texts(replaced(parse)) == ["Ann Lee left .", "Ann Lee ran ."]
    assert replaced(parse).identities == ()


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


MENTIONS = """
the mayor        | new
mayor Lee        | half of its words are the name's
the mayor Lee    | new
mayor Ann Lee    | contains the name
Ann              | is of the name
Lee of the north | new
McAnn Lees       | contains it letter by letter
the Lee Lee Lee  | of distinct words half are the name's
"""


@pytest.mark.parametrize(("mention", "why"), cases(MENTIONS))
def test_which_mentions_say_something_new(mention, why):
    end = 4 + len(mention.split())
    clusters = [((0, 2), (4, end))]
    parse = reference("Ann Lee left .", f"{mention} ran .", clusters=clusters)
    found = [identity.text for identity in resolve(parse).identities]
    assert found == ([f"Ann Lee is {mention}"] if why == "new" else [])


def test_of_overlapping_mentions_the_leftmost_longest_is_replaced():
    clusters = [((0, 1), (5, 6)), ((2, 3), (7, 8)), ((0, 3), (7, 9))]
    parse = reference("Ann and Bob met .", "She saw his dog .", clusters=clusters)
    assert texts(replaced(parse)) == ["Ann and Bob met .", "Ann saw Ann and Bob ."]

    clusters = [((0, 1), (3, 4)), ((0, 5), (6, 7))]  # a mention inside a name
    parse = reference("Ann and kin she loves left their home .", clusters=clusters)
    expected = "Ann and kin Ann loves left Ann and kin she loves home ."
    assert texts(replaced(parse)) == [expected]


spans = st.sampled_from([*combinations(range(9), 2)])


@settings(max_examples=40)
@given(st.lists(st.lists(spans, min_size=1, max_size=4), max_size=4))
def test_any_clusters(clusters):
    parse = reference("Ann saw his dog .", "She ran .", clusters=map(tuple, clusters))
    names = sorted(resolve(parse).names)
    assert all(one[1] <= other[0] for one, other in pairwise(names))
    sentences = replaced(parse).sentences
    assert len(sentences) == 2
    assert all(sentence.tokens for sentence in sentences)


@pytest.mark.parametrize(("text", "expected"), blocks("pronouns.txt"))
def test_what_is_linked(text, expected):
    sentences = [tree(sentence) for sentence in text.split(" | ")]
    words = [word.text for sentence in sentences for word in sentence]
    found = []
    for cluster in pronoun_clusters(sentences):
        mentions = [" ".join(words[start:end]) for start, end in cluster]
        found.append(" = ".join(mentions))
    assert found == expected


@settings(max_examples=40)
@given(st.lists(any_trees(), max_size=4))
def test_any_trees_give_mentions_inside_the_text(sentences):
    total = sum(map(len, sentences))
    for cluster in pronoun_clusters(sentences):
        assert len(cluster) > 1
        assert all(0 <= start < end <= total for start, end in cluster)
