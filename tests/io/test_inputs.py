"""Units, summaries, labels, weights, references from files: what is right and every
misfit."""

import pytest
from cases import cases, refused, write_lines

from litepyramid.data.records import InputUnits, Unit
from litepyramid.io.coerce import (
    as_labels,
    as_references,
    as_summaries,
    as_units,
    write_labels,
    write_units,
)
from litepyramid.io.inputs import read_ids
from litepyramid.types import SystemLabels

UNITS = as_units([["A fell.", "B rose."], ["C stayed."]])


def test_units_survive_a_round_trip_in_either_form(tmp_path):
    places = ((0, 1), (None, None), (2, 0))
    whole = [
        InputUnits("x", (Unit("Ünïts  fell.", 2.5, "stu", 1, 3), Unit("b"))),
        InputUnits("y", (Unit("c", 3.0, places=places),)),
    ]
    write_units(tmp_path / "u.jsonl", whole)
    assert as_units(tmp_path / "u.jsonl") == whole
    lines = tmp_path / "u.txt"
    write_units(lines, UNITS, "lines")
    assert lines.read_text() == "A fell.\tB rose.\nC stayed.\n"
    assert as_units(lines) == UNITS
    lines.unlink()
    with refused("tab"):
        write_units(lines, [InputUnits("x", (Unit("a\tb"),))], "lines")
    assert not lines.exists()
    unit = "It\trained\r\n all  day.\n"
    tidied = as_units({"a": [unit, {"text": unit}]})[0]
    assert tidied.texts == ("It rained all  day.",) * 2
    lines.write_bytes("a\u2028b\x0c c\tsecond\r\nthird\n".encode())
    assert [len(entry.units) for entry in as_units(lines)] == [2, 1]


def test_units_of_the_other_kind_are_refused_where_one_kind_is_asked(tmp_path):
    path = tmp_path / "units.jsonl"
    path.write_text(
        '{"input": "a", "units": ["An STU", {"text": "b", "kind": "scu"}]}\n'
    )
    assert [unit.kind for unit in as_units(path, kind="stu")[0].units] == ["stu", "scu"]
    for source in (path, as_units(path)):
        with refused(r"input 'a' .* only units of kind 'stu'"):
            as_units(source, kind="stu", only=True)

    named = tmp_path / "STUs.txt"
    named.write_text("It rained.\n")
    assert as_units(named)[0].units[0].kind == "stu"
    assert as_units(named, kind="scu", only=True)[0].units[0].kind == "scu"


@pytest.mark.parametrize(
    ("line", "message"),
    cases(
        r"""
{                                                            | not valid JSON
[1]                                                          | a JSON list
{"units": ["a"]}                                             | no "input"
{"input": true, "units": ["a"]}                              | "input" is true
{"input": 1.5, "units": ["a"]}                               | "input" is 1.5
{"input": "b", "units": []}                                  | no "units"
{"input": "b", "units": [""]}                                | unit 1 is empty
{"input": "b", "units": ["<t> a </t>"]}                      | unit 1 has the sentence marks
{"input": "b", "units": [{"weight": 1}]}                     | unit 1 has no text
{"input": "b", "units": [{"text": "t", "weight": -1e13}]}    | weight -1
{"input": "b", "units": [{"text": "t", "weight": -1}]}       | no unit of input 'b'
{"input": "b", "units": [{"text": "t", "tags": [3]}]}        | unit 1 \(tags\[0\] is 3
{"input": "b", "units": [{"text": "t", "weight": true}]}     | weight True
{"input": "b", "units": [{"text": "t", "weight": 1e999}]}    | weight inf
{"input": "b", "units": [{"text": "t", "kind": "acu"}]}      | kind is "acu"
{"input": "b", "units": [{"text": "t", "sentence": -1}]}     | sentence is -1
{"input": "b", "units": [{"text": "t", "importance": "x"}]}  | importance is "x"
{"input": "b", "units": [{"text": "t", "places": [[0, -1]]}]} | places\[0\]\[1\] is
{"input": "a", "units": ["again"]}                           | occurs twice
"""
    ),
)
def test_bad_unit_json(tmp_path, line, message):
    path = tmp_path / "u.jsonl"
    path.write_text('{"input": "a", "units": ["fine"]}\n' + line + "\n")
    with refused(rf"u\.jsonl:2: .*{message}"):
        as_units(path)


def test_ids_name_the_lines_of_a_line_file(tmp_path):
    ids = tmp_path / "ids.txt"
    lines = tmp_path / "units.txt"
    ids.write_text("first\nsecond\n")
    write_units(lines, UNITS, "lines")
    assert [e.input for e in as_units(lines, read_ids(ids))] == ["first", "second"]
    with refused(r"units\.txt:2: 2 lines"):
        as_units(lines, ["one"])
    ids.write_text("same\nsame\n")
    with refused(r"ids\.txt:2: input 'same' occurs twice"):
        read_ids(ids)


READERS = {
    "units": as_units,
    "labels": lambda path: as_labels(path, UNITS),
    "summaries": lambda path: as_summaries([path], ["1", "2"]),
    "references": as_references,
}
FIRST = {
    "labels": '{"input": "1", "labels": [0, 1]}\n',
    "summaries": '{"input": "1", "summary": "x"}\n',
}


@pytest.mark.parametrize(
    ("kind", "content", "message"),
    [
        *cases(
            r"""
units      | a⏎⏎b⏎                            | x\.txt:2: an empty line
units      | ⏎⏎                               | x\.txt: the file is empty
labels     | {"input": "2", "labels": [2]}    | :2: label 2
labels     | {"input": "2", "labels": ["no"]} | :2: label 'no'
labels     | {"input": "3", "labels": [0]}    | :2: labels of input '3', which has no units
labels     | {"input": "2"}                   | :2: no "labels"
summaries  | one⏎                             | :1: 1 line for 2 inputs
summaries  | one⏎two⏎three⏎                   | :3: 3 lines for 2 inputs
summaries  | {}                               | no summary of input '2'
summaries  | {"input": "9", "summary": "x"}   | :2: summary of input '9'
summaries  | {"input": "2"}                   | :2: no "summary"
references | <t> a </t> stray⏎                | :1: text outside the sentence marks \('stray'\)
"""
        ),
        ("units", "a\t\tb\n", r"x\.txt:1: unit 2 is empty"),
        ("units", "fine\nbad \udcff byte\n", r"x\.txt:2: byte 0xff is not UTF-8"),
        ("labels", '{"input": "2", "labels": [0, 1]}', ":2: 2 labels for the 1 unit "),
        ("labels", "", "no labels of input '2'"),
        ("references", "<t>" * 30_000, ":1: text outside the sentence marks"),
        (
            "references",
            "<t> a </t>" + "<t>" * 30_000,
            ":1: text outside the sentence marks",
        ),
        ("references", "a\t\n", ":1: empty reference"),
    ],
)
def test_what_does_not_match_is_named_with_its_line(tmp_path, kind, content, message):
    path = tmp_path / ("x.jsonl" if content[:1] in ("{", "") else "x.txt")
    text = FIRST.get(kind, "") * (path.suffix == ".jsonl") + content.removeprefix("{}")
    path.write_text(text, "utf-8", "surrogateescape")
    with refused(message):
        READERS[kind](path)
    path.unlink()
    with refused(rf"{path.name}: no such file"):
        READERS[kind](path)


def test_labels_and_summaries_are_read_by_system_in_any_form_and_order(tmp_path):
    folder = tmp_path / "labels"
    folder.mkdir()
    (folder / "sys.v1.label").write_text("0\t1\n1\n")
    expected = ("1", "2"), ((0, 1), (1,))
    write_labels(folder / "other.jsonl", SystemLabels("o", *expected))
    assert as_labels(folder, UNITS) == [
        SystemLabels("other", *expected),
        SystemLabels("sys.v1", *expected),
    ]

    folder = tmp_path / "summaries"
    folder.mkdir()
    with refused("no summaries in this folder"):
        as_summaries([folder])
    (folder / "a.summary").write_text("one\n\n")
    rows = [{"input": "2", "summary": ""}, {"input": "1", "summary": "one"}]
    write_lines(folder / "b.jsonl", rows)
    (folder / ".hidden").write_text("not a system\n")
    first, second = as_summaries([folder], ["1", "2"])
    assert (first.system, second.system) == ("a", "b")
    assert first.texts == second.texts == ("one", "")
    (folder / "a.txt").write_text("x\n\n")
    with refused("system 'a' is also in"):
        as_summaries([folder])


def test_references_of_every_form(tmp_path):
    path = tmp_path / "refs.jsonl"
    rows = [
        {"input": "a", "references": ["It rained . We left .", ["One .", "Two ."]]},
        {"input": "b", "reference": "<t> One . </t> <t> Two . </t>"},
    ]
    write_lines(path, rows)
    first, second = as_references(path)
    assert first.references == (("It rained . We left .",), ("One .", "Two ."))
    assert first.marked == (False, True)
    assert second.references == (("One .", "Two ."),)
    lines = tmp_path / "refs.txt"
    lines.write_text("<t> One . </t>\tTwo .\n")
    (only,) = as_references(lines)
    assert only.references == (("One .",), ("Two .",))
