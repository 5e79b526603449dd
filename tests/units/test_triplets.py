"""Frames to STUs, a row for each rule and every oddity; trees to frames, one a phenomenon."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litepyramid.errors import InputError
from litepyramid.units.parsers.embedded.frames import Word, dependency_frames
from litepyramid.units.parses import Frame, ParsedReference, ParsedSentence, check_parse
from litepyramid.units.triplets import sentence_stus

FOLDER = Path(__file__).parents[1] / "data" / "ud"


def rows(name: str) -> list:
    """Blocks of a file: a comment, a line of tokens, a line for each STU."""
    blocks = (FOLDER / name).read_text(encoding="utf-8").strip().split("\n\n")
    return [pytest.param(*b.split("\n", 2)[1:], id=b.split("\n")[0][2:]) for b in blocks]


def sentence(frame: str) -> ParsedSentence:
    """A frame written as 'word/TAG word …', O for untagged words."""
    pairs = [part.partition("/")[::2] for part in frame.split()]
    words, tags = zip(*pairs, strict=True)
    return ParsedSentence(words, (Frame(0, tuple(tag or "O" for tag in tags)),))


@pytest.mark.parametrize(("frame", "expected"), rows("frames.txt"))
def test_rules(frame, expected):
    assert sentence_stus(sentence(frame)) == expected.split("\n")


@pytest.mark.parametrize(("text", "expected"), rows("english_frames.txt"))
def test_mapping(text, expected):
    words = []
    for number, part in enumerate(text.split()):  # 'word/UPOS/relation/head', 0 for the root
        form, upos, relation, head = part.rsplit("/", 3)
        words.append(Word(form, upos, int(head) - 1 if head != "0" else number, relation))
    parsed = ParsedSentence(tuple(w.text for w in words), dependency_frames(words))
    assert sentence_stus(parsed) == expected.split("\n")


def test_the_papers_footnote_keeps_being():
    frame = "Ann/B-ARG1 being/O jailed/B-V here/B-ARGM-LOC"
    assert sentence_stus(sentence(frame), footnote=True) == ["Ann being jailed here"]


@pytest.mark.parametrize("tag", ["ARG0", "B-", "X-ARG0", "b-ARG0", "-V", "", "B", "B-ARG 0"])
def test_a_tag_that_is_none_names_the_sentence(tag):
    bad = ParsedSentence(("It", "rained"), (Frame(1, (tag, "B-V")),))
    with pytest.raises(InputError, match=r"'It rained'\): frame 0: tag 1"):
        check_parse(ParsedReference("a", 0, (bad,)))


TAGS = ["O", "B-V", "I-V", "B-ARG0", "I-ARG0", "B-ARG1", "I-ARG1", "B-ARGM-NEG", "B-C-ARG1"]
WORDS = ["to", "was", "been", "can", "'", "Ann", "left", "home", "not"]


@settings(max_examples=50)
@given(st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(TAGS)), min_size=1, max_size=9))
def test_any_row_gives_units_made_of_the_sentence(pairs):
    words = tuple(word for word, _ in pairs)
    stus = sentence_stus(ParsedSentence(words, (Frame(0, tuple(tag for _, tag in pairs)),)))
    assert stus
    assert len(set(stus)) == len(stus)
    for stu in stus:
        assert set(stu.split()) <= set(words)
        assert len(stu.split()) <= len(words)


RELATIONS = (
    "nsubj nsubj:pass obj obl xcomp ccomp advcl acl acl:relcl conj cop aux aux:pass mark case cc "
    "parataxis advmod punct expl root nmod"
)
TOKENS = st.tuples(
    st.sampled_from(["Ann", "was", "to", "not", "which", "wanted", "from", ",", "there", "."]),
    st.sampled_from(["VERB", "NOUN", "PROPN", "AUX", "ADV", "PUNCT"]),
    st.integers(-1, 11),
    st.sampled_from(RELATIONS.split()),
)


@settings(max_examples=50)
@given(st.lists(TOKENS, min_size=1, max_size=12))
def test_any_tree_even_one_with_circles_gives_valid_frames(tokens):
    words = [Word(*token) for token in tokens]
    frames = dependency_frames(words)
    parsed = ParsedSentence(tuple(w.text for w in words), frames)
    check_parse(ParsedReference("a", 0, (parsed,)))
    assert all(frame.tags[frame.verb] == "B-V" for frame in frames)
    assert sentence_stus(parsed)
