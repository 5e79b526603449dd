"""One row for each of the seven rules and for every oddity."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litepyramid.errors import InputError
from litepyramid.units.parses import Frame, ParsedReference, ParsedSentence, check_parse
from litepyramid.units.triplets import sentence_stus


def sentence(*frames: str) -> ParsedSentence:
    """Frames written as 'word/TAG word …', untagged words without a slash; same words in each."""
    rows = [[part.partition("/")[::2] for part in frame.split()] for frame in frames]
    return ParsedSentence(
        tuple(word for word, _ in rows[0]),
        tuple(Frame(0, tuple(tag or "O" for _, tag in row)) for row in rows),
    )


ROWS = {
    "1 before, verb, one argument each": (
        "Ann/B-ARG0 gave/B-V Bob/B-ARG2 a/B-ARG1 book/I-ARG1 ./O",
        ["Ann gave Bob", "Ann gave a book"],
    ),
    "1 one role across untagged tokens": (
        "Ann/B-ARG0 ate/B-V bread/B-ARG1 ,/O cheese/I-ARG1",
        ["Ann ate bread cheese"],
    ),
    "1 one role across a new B- tag": (
        "Ann/B-ARG0 left/B-V on/B-ARGM-TMP Monday/I-ARGM-TMP at/B-ARGM-TMP noon/I-ARGM-TMP",
        ["Ann left on Monday at noon"],
    ),
    "1 a repeated role after another one is another argument": (
        "Ann/B-ARG0 left/B-V Monday/B-ARGM-TMP home/B-ARG1 early/B-ARGM-TMP",
        ["Ann left Monday", "Ann left home", "Ann left early"],
    ),
    "1 V tokens apart: the argument between them stays one of its own": (
        "Ann/B-ARG0 picked/B-V it/B-ARG1 up/B-V today/B-ARGM-TMP",
        ["Ann picked up it", "Ann picked up today"],
    ),
    "1 C- and R- roles are roles of their own": (
        "those/B-ARG1 who/B-R-ARG1 said/B-V no/B-ARG2 today/B-ARGM-TMP again/B-C-ARG2",
        ["those who said no", "those who said today", "those who said again"],
    ),
    "2 nothing before the verb": ("Sat/B-V down/B-ARG1", ["Sat down"]),
    "2 no verb": ("Ann/B-ARG0 ./O", ["Ann ."]),
    "2 nothing after the verb": ("Ann/B-ARG0 left/B-V ./O", ["Ann left ."]),
    "3 to": ("Ann/B-ARG0 wants/O to/O leave/B-V now/B-ARGM-TMP", ["Ann wants to leave now"]),
    "3 to before the last of several V tokens": (
        "Ann/B-ARG0 has/B-V to/O leave/I-V now/B-ARGM-TMP",
        ["Ann has to leave now"],
    ),
    "3 passive: was is put before the verb": (
        "Ann/B-ARG1 was/O seen/B-V here/B-ARGM-LOC",
        ["Ann was seen here"],
    ),
    "3 been alone, the other auxiliary is not kept": (
        "Ann/B-ARG1 has/O been/O seen/B-V here/B-ARGM-LOC",
        ["Ann been seen here"],
    ),
    "3 being is not kept by the authors' code": (
        "Ann/B-ARG1 being/O jailed/B-V here/B-ARGM-LOC",
        ["Ann jailed here"],
    ),
    "3 a form of be that is tagged is not written twice": (
        "Ann/B-ARG1 is/B-V is/I-V here/B-ARGM-LOC",
        ["Ann is is here"],
    ),
    "4 a modal verb": ("Ann/B-ARG0 can/B-V leave/B-ARG1", ["Ann can leave"]),
    "4 a modal verb after a form of be, in capitals": (
        "Ann/B-ARG0 Was/O Could/B-V leave/B-ARG1",
        ["Ann Was Could leave"],
    ),
    "4 the apostrophe": ("Ann/B-ARG0 '/B-V leave/B-ARG1 ./O", ["Ann ' leave ."]),
    "5 negation after the verb joins it": (
        "Ann/B-ARG1 is/B-V not/B-ARGM-NEG here/B-ARGM-LOC now/B-ARGM-TMP",
        ["Ann is not here", "Ann is not now"],
    ),
    "5 a negation that is not the first argument is one": (
        "Ann/B-ARG1 is/B-V here/B-ARGM-LOC no/B-ARGM-NEG more/I-ARGM-NEG",
        ["Ann is here", "Ann is no more"],
    ),
}


@pytest.mark.parametrize(("frame", "expected"), ROWS.values(), ids=ROWS.keys())
def test_rules(frame, expected):
    assert sentence_stus(sentence(frame)) == expected


def test_the_papers_example_from_frames():
    has = (
        "Netherlands/O midfielder/O Wesley/O Sneijder/O has/B-V joined/O French/O Ligue/O 1/O "
        "side/O Nice/O on/O a/O free/O transfer/O"
    )
    joined = (
        "Netherlands/B-ARG0 midfielder/I-ARG0 Wesley/I-ARG0 Sneijder/I-ARG0 has/O joined/B-V "
        "French/B-ARG1 Ligue/I-ARG1 1/I-ARG1 side/I-ARG1 Nice/I-ARG1 on/B-ARGM-MNR a/I-ARGM-MNR "
        "free/I-ARGM-MNR transfer/I-ARGM-MNR"
    )
    assert sentence_stus(sentence(has, joined)) == [
        "Netherlands midfielder Wesley Sneijder joined French Ligue 1 side Nice",
        "Netherlands midfielder Wesley Sneijder joined on a free transfer",
    ]


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


@given(st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(TAGS)), min_size=1, max_size=9))
def test_any_row_gives_units_made_of_the_sentence(pairs):
    words = tuple(word for word, _ in pairs)
    stus = sentence_stus(ParsedSentence(words, (Frame(0, tuple(tag for _, tag in pairs)),)))
    assert stus
    assert len(set(stus)) == len(stus)
    for stu in stus:
        assert set(stu.split()) <= set(words)
        assert len(stu.split()) <= len(words)
