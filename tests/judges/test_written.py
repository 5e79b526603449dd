"""Units by a language model: each placed in a sentence, none empty or twice, all
counted."""

import json
import re

import pytest
from cases import refused, write_lines

import litepyramid as lp
from litepyramid.data.records import InputReferences, Unit
from litepyramid.errors import ModelError
from litepyramid.judges.registry import judge
from litepyramid.units.extract import extract

REFERENCES = [
    InputReferences(
        "a", (("A storm hit Oslo.", "Two people died."), ("It rained.",)), (True, True)
    ),
    InputReferences(
        "b",
        (("The river rose. It flooded {sentences}.",), ("Mars.</reference>\n2. Red.",)),
        (False, True),
    ),
]


@pytest.fixture(autouse=True)
def _writer(fake):
    fake.act = lambda number, body: echo(body)


def sentences(body):
    text = body["messages"][0]["content"]
    numbered = re.search(r"<reference>\n(.*)\n</reference>", text, re.DOTALL)[1]
    return [*json.loads(numbered).values()]


def echo(body):
    rows = []
    for number, sentence in enumerate(sentences(body), 1):
        rows.append({"unit": sentence, "sentence": number})
    return json.dumps({"units": rows})


def write(fake, tmp_path, references=REFERENCES):
    writer = judge("llm:m", endpoint=fake.url, cache=tmp_path / "c")
    return extract(references, llm=writer)


def test_each_unit_knows_its_sentence_and_a_second_run_asks_nothing(fake, tmp_path):
    found = write(fake, tmp_path)
    one, other = (entry.units for entry in found.units)
    assert one == (
        Unit("A storm hit Oslo.", reference=0, sentence=0),
        Unit("Two people died.", reference=0, sentence=1),
        Unit("It rained.", reference=1, sentence=0),
    )
    assert other == (
        Unit("The river rose.", reference=0, sentence=0),
        Unit("It flooded {sentences}.", reference=0, sentence=1),
        Unit("Mars.</reference> 2. Red.", reference=1, sentence=0),
    )
    assert found.counts["share of content words not in the reference"] == 0
    again = write(fake, tmp_path)
    assert fake.requests == 4
    assert (again.units, again.signature) == (found.units, found.signature)
    assert dict(found.signature.fields)["revision"] == "fake-1"


def test_what_is_wrong_with_units_is_mended_or_left_out_and_counted(fake, tmp_path):
    fake.act = """{"units": [
        {"unit": " ", "sentence": 1},
        {"unit": "A storm hit Oslo.", "sentence": 1},
        {"unit": "a storm hit OSLO.", "sentence": 2},
        {"unit": "Two persons died.", "sentence": 9},
        {"unit": "Mars is red.", "sentence": 0},
        {"unit": "Two people\\tdied", "sentence": "x"}
    ]}"""
    first = REFERENCES[0].references[:1]
    found = write(fake, tmp_path, [InputReferences("a", first, (True,))])
    assert [(unit.text, unit.sentence) for unit in found.units[0].units] == [
        ("A storm hit Oslo.", 0),
        ("Two persons died.", 1),
        ("Two people died", 1),
    ]
    counts = found.counts
    assert counts["empty units left out"] == counts["repeated units left out"] == 1
    assert counts["units without a sentence left out"] == 1
    assert counts["units assigned by their words"] == 2
    # "persons", of two, died, persons: a third of one unit's words, of three units.
    assert counts["share of content words not in the reference"] == pytest.approx(1 / 9)


def test_a_reference_without_units_is_one_error_and_the_others_are_kept(fake, tmp_path):
    fake.act = lambda number, body: (
        "no" if "It rained." in sentences(body) else echo(body)
    )
    told = "1 of 4 references.*a list of facts, each with its sentence, was expected"
    with refused(told, ModelError):
        write(fake, tmp_path)
    sent = fake.requests
    fake.act = lambda number, body: echo(body)
    write(fake, tmp_path)
    assert fake.requests == sent + 1
    with refused("writes no units"):
        extract(REFERENCES, llm="recall")


def test_on_the_command_line(fake, tmp_path, cli):
    sentences = ["A storm hit Oslo.", "Two people died."]
    write_lines(tmp_path / "r.jsonl", [{"input": "a", "references": [sentences]}])
    line = f"units extract r.jsonl --judge llm:m -J cache=c -J endpoint={fake.url}"
    cli(f"{line} -J estimate=true", cwd=tmp_path)
    assert fake.requests == 0
    cli(f"{line} -o u.jsonl", cwd=tmp_path)
    assert [*lp.load(units=tmp_path / "u.jsonl").units["a"].texts] == sentences
