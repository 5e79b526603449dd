"""The interchange file: read, written, checked."""

import json
from dataclasses import replace

import pytest
from cases import refused
from hypothesis import given, settings
from hypothesis import strategies as st

from litepyramid.checked import as_type
from litepyramid.tables import plain, record
from litepyramid.units.extract import open_backend
from litepyramid.units.parses import (
    FileBackend,
    Frame,
    Identity,
    ParsedReference,
    ParsedSentence,
    check_parse,
    read_parses,
    write_parses,
)

SENTENCE = ParsedSentence(
    ("Ann", "left", "(", "early", ")", "."),
    (Frame(1, ("B-ARG0", "B-V", "O", "B-ARGM-TMP", "O", "O")),),
    "(S (NP (NNP Ann)) (VP (VBD left) (PRN (-LRB- -LRB-) (ADVP (RB early)) (-RRB- -RRB-))) (. .))",
)
PARSE = ParsedReference(
    "a",
    1,
    (SENTENCE, ParsedSentence(("She", "slept"), ())),
    (((0, 1), (6, 7)),),
    (Identity("Ann is the mayor", 1),),
)


def row(**changes):
    return {**plain(record(PARSE)), **changes}


def test_round_trip(tmp_path):
    path = tmp_path / "parses.jsonl"
    bare = ParsedReference("b", 0, (ParsedSentence(("It", "rained")),))
    write_parses(path, [PARSE, bare])
    assert read_parses(path) == [PARSE, bare]
    assert json.loads(path.read_text().splitlines()[1]) == {
        "input": "b",
        "reference": 0,
        "sentences": [{"tokens": ["It", "rained"]}],
    }


words = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=6)


@settings(max_examples=30)
@given(st.lists(words, min_size=1, max_size=8), st.data())
def test_round_trip_of_anything_valid(tokens, data):
    tags = data.draw(
        st.tuples(*[st.sampled_from(["O", "B-V", "B-ARG0", "I-ARG1"])] * len(tokens))
    )
    sentence = ParsedSentence(tuple(tokens), (Frame(len(tokens) - 1, tags),))
    parse = ParsedReference("x", 0, (sentence,), (((0, len(tokens)),),))
    assert as_type(ParsedReference, json.loads(json.dumps(record(parse)))) == parse
    check_parse(parse)


def change_sentence(**changes):
    return row(sentences=[{**row()["sentences"][0], **changes}], identities=[])


BAD = [
    (row(sentences=[]), "reference 2 of input 'a': no sentences"),
    (change_sentence(tokens=["Ann left"]), "white space"),
    (
        change_sentence(frames=[{"verb": 1, "tags": ["O"]}]),
        r"reference 2 of input 'a': sentence 1 \('Ann left \( early \) .'\): frame 0: 1 tag",
    ),
    *(
        (
            change_sentence(frames=[{"verb": 1, "tags": [tag, *"OOOOO"]}]),
            f"tag 1 is '{tag}', nei",
        )
        for tag in ("ARG0", "B-", "X-ARG0", "b-ARG0", "", "B-ARG 0")
    ),
    (change_sentence(frames=[{"verb": 6, "tags": ["O"] * 6}]), "token 6 of 6"),
    *(
        (change_sentence(tree=tree), says)
        for tree, says in (
            ("(S (NNP Ann)", "bracket is missing in"),
            ("(S (NNP Ann)))", "its tree: a closing bracket too many"),
            ("(NNP Ann) (NNP Bob)", "2 trees with words"),
            ("(NP Ann left)", "the word 'left' has no label of its own"),
        )
    ),
    (
        change_sentence(tree="(S (NNP Bob) (VBD left))"),
        "its tree: word 1 is 'Bob', of its tokens",
    ),
    (row(clusters=[[[7, 9]]]), r"the mention \[7, 9\]"),
    (row(clusters=[[]]), "an empty coreference cluster"),
    (
        row(clusters=[[[1, 2, 3]]]),
        r"clusters\[0\]\[0\] is \[1, 2, 3\]. Expected a list of 2",
    ),
    (row(identities=[{"text": "Ann is here", "sentence": 2}]), "names sentence 3"),
]


@pytest.mark.parametrize(("value", "message"), BAD)
def test_what_is_wrong_is_said_with_its_line(tmp_path, value, message):
    path = tmp_path / "parses.jsonl"
    path.write_text("\n" + json.dumps(value) + "\n")
    with refused(message) as caught:
        read_parses(path)
    assert (caught.value.path, caught.value.line) == (str(path), 2)


def test_frames_from_a_file(tmp_path):
    path = tmp_path / "parses.jsonl"
    other = replace(PARSE, reference=0)
    write_parses(path, [PARSE, other])
    batch = open_backend(str(path)).parse([PARSE])
    assert batch.references == (PARSE,)
    assert batch.counts == {"references in the file that are not needed": 1}
    with refused("no parse of reference 1 of input 'z'"):
        FileBackend(path).parse([replace(other, input="z")])
    bare = ParsedReference("a", 0, (ParsedSentence(("It",)),))
    write_parses(path, [bare])
    with refused('without "frames"'):
        FileBackend(path).parse([bare])


@pytest.mark.parametrize(
    "spec", ["nonsense", "sentences:x", "embedded:", "stanza.json"]
)
def test_backends_that_are_not_there(spec):
    with refused("unknown SRL backend"):
        open_backend(spec)
