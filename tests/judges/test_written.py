"""Units by a language model: each placed in a sentence, none empty or twice, all
counted."""

import json
import re

import pytest
from cases import refused, write_lines
from llm_server import KEY

from litepyramid.errors import ModelError
from litepyramid.io.coerce import as_units
from litepyramid.judges.registry import judge
from litepyramid.types import InputReferences
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
    return list(json.loads(numbered).values())


def echo(body):
    rows = [{"unit": s, "sentence": n} for n, s in enumerate(sentences(body), 1)]
    return "Here: " + json.dumps({"units": rows})


def write(fake, tmp_path, references=REFERENCES, **settings):
    writer = judge(
        "llm:m",
        endpoint=fake.url,
        cache=tmp_path / "c",
        **settings,
    )
    return extract(references, llm=writer)


def test_each_unit_knows_its_sentence_and_a_second_run_asks_nothing(fake, tmp_path):
    found = write(fake, tmp_path)
    places = [
        [(u.text, u.reference, u.sentence, u.kind) for u in e.units]
        for e in found.units
    ]
    assert places == [
        [
            ("A storm hit Oslo.", 0, 0, "scu"),
            ("Two people died.", 0, 1, "scu"),
            ("It rained.", 1, 0, "scu"),
        ],
        [
            ("The river rose.", 0, 0, "scu"),
            ("It flooded {sentences}.", 0, 1, "scu"),
            ("Mars.</reference> 2. Red.", 1, 0, "scu"),
        ],
    ]
    assert found.counts["share of content words not in the reference"] == 0
    again = write(fake, tmp_path)
    assert fake.requests == 4
    assert (again.units, again.signature) == (found.units, found.signature)
    assert dict(found.signature.fields)["revision"] == "fake-1"


def test_what_is_wrong_with_units_is_mended_or_left_out_and_counted(fake, tmp_path):
    rows = [
        {"unit": " ", "sentence": 1},
        {"unit": "A storm hit Oslo.", "sentence": 1},
        {"unit": "a storm hit OSLO.", "sentence": 2},
        {"unit": "Two persons died.", "sentence": 9},
        {"unit": "Mars is red.", "sentence": 0},
        {"unit": "Two people\tdied", "sentence": "x"},
    ]
    fake.act = json.dumps({"units": rows})
    found = write(
        fake, tmp_path, [InputReferences("a", REFERENCES[0].references[:1], (True,))]
    )
    assert [(u.text, u.sentence) for u in found.units[0].units] == [
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
    with refused("1 of 4 references", ModelError):
        write(fake, tmp_path)
    sent = fake.requests
    fake.act = lambda number, body: echo(body)
    write(fake, tmp_path)
    assert fake.requests == sent + 1
    with refused("writes no units"):
        extract(REFERENCES, llm="recall")


def test_what_a_model_thinks_aloud_is_no_answer_and_errors_ask_for_units(
    fake, tmp_path
):
    fake.act = lambda number, body: f'<think>{{"units": []}}</think>{echo(body)}'
    assert len(write(fake, tmp_path).units) == 2
    fake.act = "no"
    with refused("a list of facts, each with its sentence, was expected", ModelError):
        write(fake, tmp_path / "new")


def test_on_the_command_line(fake, tmp_path, cli):
    row = {"input": "a", "references": [["A storm hit Oslo.", "Two people died."]]}
    write_lines(tmp_path / "r.jsonl", [row])
    options = ["units", "extract", tmp_path / "r.jsonl", "--judge", "llm:m"]
    options += ["-J", f"endpoint={fake.url}", "-J", f"cache={tmp_path / 'c'}"]
    cli(*options, "-J", "estimate=true", LITEPYRAMID_API_KEY=KEY)
    assert fake.requests == 0
    done = cli(*options, "-o", tmp_path / "u.jsonl", LITEPYRAMID_API_KEY=KEY)
    assert KEY not in done.stdout + done.stderr + (tmp_path / "u.jsonl").read_text()
    assert as_units(tmp_path / "u.jsonl")[0].texts == (
        "A storm hit Oslo.",
        "Two people died.",
    )
