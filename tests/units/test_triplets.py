"""Frames to STUs, a row for each rule and every oddity; trees to frames, one a
phenomenon."""

import json
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from written import FOLDER, blocks, framed, tree

from litepyramid.units.parsers.embedded.frames import (
    Word,
    dependency_frames,
    free_frames,
)
from litepyramid.units.parsers.stanza import StanzaBackend
from litepyramid.units.parses import Frame, ParsedReference, ParsedSentence, check_parse
from litepyramid.units.triplets import sentence_stus


@pytest.mark.parametrize(("frame", "expected"), blocks("frames.txt"))
def test_rules(frame, expected):
    assert sentence_stus(framed(frame)) == expected


@pytest.mark.parametrize(("text", "expected"), blocks("english_frames.txt"))
def test_mapping(text, expected):
    words = tree(text)
    parsed = ParsedSentence(tuple(w.text for w in words), dependency_frames(words))
    assert sentence_stus(parsed) == expected


def test_the_papers_footnote_keeps_being():
    frame = "Ann/B-ARG1 being/O jailed/B-V here/B-ARGM-LOC"
    assert sentence_stus(framed(frame), footnote=True) == ["Ann being jailed here"]


TAGS = [
    "O",
    "B-V",
    "I-V",
    "B-ARG0",
    "I-ARG0",
    "B-ARG1",
    "I-ARG1",
    "B-ARGM-NEG",
    "B-C-ARG1",
]
WORDS = ["to", "was", "been", "can", "'", "Ann", "left", "home", "not"]


@settings(max_examples=50)
@given(
    st.lists(
        st.tuples(st.sampled_from(WORDS), st.sampled_from(TAGS)), min_size=1, max_size=9
    )
)
def test_any_row_gives_units_made_of_the_sentence(pairs):
    words = tuple(word for word, _ in pairs)
    stus = sentence_stus(
        ParsedSentence(words, (Frame(0, tuple(tag for _, tag in pairs)),))
    )
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
    st.sampled_from(
        ["Ann", "was", "to", "not", "which", "wanted", "from", ",", "there", "."]
    ),
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


UNITS: dict[str, list[str]] = json.loads((FOLDER / "units.json").read_text())


def read_trees(code: str) -> dict[str, list[list[str]]]:
    """By sentence id, its rows of ten columns, words only."""
    trees = {}
    for block in (FOLDER / f"{code}.conllu").read_text().strip().split("\n\n"):
        lines = block.split("\n")
        about = dict(
            line[2:].split(" = ", 1) for line in lines if line.startswith("# ")
        )
        rows = [line.split("\t") for line in lines if not line.startswith("#")]
        trees[about["sent_id"]] = [row for row in rows if row[0].isdigit()]
    return trees


@pytest.mark.parametrize("code", ["de", "es", "fr", "zh"])
def test_frames_of_written_trees(code):
    for name, rows in read_trees(code).items():
        heads = [int(r[6]) - 1 if r[6] != "0" else i for i, r in enumerate(rows)]
        tree = [
            Word(
                r[1],
                r[3],
                h,
                r[7],
                r[4],
                r[5],
            )
            for r, h in zip(rows, heads, strict=True)
        ]
        sentence = ParsedSentence(tuple(word.text for word in tree), free_frames(tree))
        joint = "" if code == "zh" else " "

        def write(indices, joint=joint, sentence=sentence):
            return joint.join(sentence.tokens[i] for i in indices)

        assert sentence_stus(sentence, render=write) == UNITS[name]


def test_stanza_in_german_gives_its_own_words():
    rows = read_trees("de")["de-1"]
    sentence = SimpleNamespace(
        words=[
            SimpleNamespace(
                text=r[1],
                upos=r[3],
                head=int(r[6]),
                deprel=r[7],
                xpos="",
                feats=r[5],
            )
            for r in rows
        ]
    )
    backend = StanzaBackend(pipeline=lambda text: SimpleNamespace(sentences=[sentence]))
    asked = ParsedReference("1", 0, (ParsedSentence(("Der", "Text.")),))
    (parsed,) = backend.in_language("de").parse([asked]).references
    assert parsed.sentences[0].tokens == tuple(row[1] for row in rows)
    assert sentence_stus(parsed.sentences[0]) == UNITS["de-1"]
