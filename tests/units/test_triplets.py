"""Frames to STUs, a row for each rule and every oddity."""

import pytest
from hypothesis import given, settings
from written import any_frames, any_trees, blocks, framed

from litepyramid.units.parsers.free_frames import free_frames
from litepyramid.units.parses import ParsedReference, ParsedSentence, check_parse
from litepyramid.units.triplets import sentence_stus


@pytest.mark.parametrize(("frame", "expected"), blocks("frames.txt"))
def test_rules(frame, expected):
    assert sentence_stus(framed(frame)) == expected


def test_the_papers_footnote_keeps_being():
    frame = "Ann/B-ARG1 being/O jailed/B-V here/B-ARGM-LOC"
    assert sentence_stus(framed(frame), footnote=True) == ["Ann being jailed here"]


@settings(max_examples=50)
@given(any_frames())
def test_any_frames_give_units_made_of_the_sentence(parsed):
    stus = sentence_stus(parsed)
    assert stus
    assert len(set(stus)) == len(stus)
    for stu in stus:
        words = stu.split()
        assert set(words) <= set(parsed.tokens)
        assert len(words) <= len(parsed.tokens)


@settings(max_examples=50)
@given(any_trees())
def test_any_tree_even_one_with_circles_gives_valid_frames(words):
    frames = free_frames(words)
    parsed = ParsedSentence(tuple(word.text for word in words), frames)
    check_parse(ParsedReference("a", 0, (parsed,)))
    assert sentence_stus(parsed)
