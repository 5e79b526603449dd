"""The interchange file: read, written, checked."""

import json
from dataclasses import replace

import pytest
from cases import cases, refused, write_lines
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
    tag = st.sampled_from(["O", "B-V", "B-ARG0", "I-ARG1"])
    size = len(tokens)
    tags = data.draw(st.lists(tag, min_size=size, max_size=size))
    sentence = ParsedSentence(tuple(tokens), (Frame(size - 1, tuple(tags)),))
    parse = ParsedReference("x", 0, (sentence,), (((0, size),),))
    assert as_type(ParsedReference, json.loads(json.dumps(record(parse)))) == parse
    check_parse(parse)


BAD = r"""
sentences  | []                        | reference 2 of input 'a': no sentences
tokens     | ["Ann left"]              | white space
frames     | [{"verb": 1, "tags": ["O"]}] | reference 2 of input 'a': sentence 1 \('Ann left \( early \) .'\): frame 0: 1 tag
frames     | [{"verb": 6, "tags": ["O", "O", "O", "O", "O", "O"]}] | token 6 of 6
tags       | ARG0                      | tag 1 is 'ARG0', nei
tags       | B-                        | tag 1 is 'B-', nei
tags       | X-ARG0                    | tag 1 is 'X-ARG0', nei
tags       | b-ARG0                    | tag 1 is 'b-ARG0', nei
tags       | B-ARG 0                   | tag 1 is 'B-ARG 0', nei
tags       |                           | tag 1 is '', nei
tree       | (S (NNP Ann)              | bracket is missing in
tree       | (S (NNP Ann)))            | its tree: a closing bracket too many
tree       | (NNP Ann) (NNP Bob)       | 2 trees with words
tree       | (NP Ann left)             | the word 'left' has no label of its own
tree       | (S (NNP Bob) (VBD left))  | its tree: word 1 is 'Bob', of its tokens
clusters   | [[[7, 9]]]                | the mention \[7, 9\]
clusters   | [[]]                      | an empty coreference cluster
clusters   | [[[1, 2, 3]]]             | clusters\[0\]\[0\] is \[1, 2, 3\]. Expected a list of 2
identities | [{"text": "Ann is here", "sentence": 2}] | names sentence 3
"""
"""A field, what stands there (of a frame's tags, the first), and what is said of it."""


@pytest.mark.parametrize(("field", "value", "message"), cases(BAD))
def test_what_is_wrong_is_said_with_its_line(tmp_path, field, value, message):
    parse = plain(record(PARSE))
    sentence = parse["sentences"][0]
    if field == "tags":
        sentence["frames"][0]["tags"] = [value, "B-V", "O", "O", "O", "O"]
    elif field == "tree":
        sentence["tree"] = value
    else:
        changed = parse if field in parse else sentence
        changed[field] = json.loads(value)

    path = write_lines(tmp_path / "parses.jsonl", [parse])
    path.write_text("\n" + path.read_text())
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


@pytest.mark.parametrize(
    "spec", ["nonsense", "sentences:x", "embedded:", "stanza.json"]
)
def test_backends_that_are_not_there(spec):
    with refused("unknown SRL backend"):
        open_backend(spec)
