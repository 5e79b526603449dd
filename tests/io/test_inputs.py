"""Reading units, summaries, labels, weights, references: what is right and every misfit."""

from __future__ import annotations

import json

import pytest

from litepyramid.errors import InputError
from litepyramid.files import atomic_write
from litepyramid.io.coerce import as_labels, as_references, as_summaries, as_units, as_weights
from litepyramid.io.inputs import read_ids
from litepyramid.io.write import write_labels, write_units
from litepyramid.types import InputUnits, SystemLabels, Unit


@pytest.fixture
def units_file(tmp_path):
    path = tmp_path / "units.txt"
    path.write_text("A fell.\tB rose.\nC stayed.\n", encoding="utf-8")
    return path


def test_line_file_and_jsonl_give_the_same_units(tmp_path, units_file):
    from_lines = as_units(units_file)
    json_file = tmp_path / "units.jsonl"
    write_units(json_file, from_lines)
    assert as_units(json_file) == from_lines
    assert [entry.input for entry in from_lines] == ["1", "2"]
    back = tmp_path / "back.txt"
    write_units(back, from_lines, "lines")
    assert back.read_text(encoding="utf-8") == units_file.read_text(encoding="utf-8")


def test_all_fields_of_a_unit_survive_a_round_trip(tmp_path):
    units = [
        InputUnits("x", (Unit("Ünïts  fell.", 2.5, "stu", 1, 3), Unit("b"))),
        InputUnits("y", (Unit("c", 3.0, places=((0, 1), (None, None), (2, 0))),)),
    ]
    write_units(tmp_path / "u.jsonl", units)
    assert as_units(tmp_path / "u.jsonl") == units


def test_a_tab_in_a_unit_is_refused_by_the_line_form(tmp_path):
    with pytest.raises(InputError, match="tab"):
        write_units(tmp_path / "u.txt", [InputUnits("x", (Unit("a\tb"),))], "lines")
    assert list(tmp_path.iterdir()) == []


def test_tabs_and_line_breaks_in_a_unit_are_a_space(tmp_path):
    path = tmp_path / "units.jsonl"
    unit = "It\trained\r\n all  day.\n"
    path.write_text(json.dumps({"input": "a", "units": [unit, {"text": unit}]}) + "\n")
    units = as_units(path)
    assert units[0].texts == ("It rained all  day.",) * 2
    write_units(tmp_path / "units.txt", units, "lines")
    assert as_units(tmp_path / "units.txt", ["a"]) == units


def test_units_of_the_other_kind_are_refused_where_one_kind_is_asked(tmp_path):
    path = tmp_path / "units.jsonl"
    path.write_text('{"input": "a", "units": ["An STU", {"text": "b", "kind": "scu"}]}\n')
    assert [unit.kind for unit in as_units(path, kind="stu")[0].units] == ["stu", "scu"]
    with pytest.raises(
        InputError, match=r"units\.jsonl:1: unit 2 is of kind 'scu'.*only units of kind 'stu'"
    ):
        as_units(path, kind="stu", only=True)
    path.write_text('{"input": "a", "units": [{"text": "b", "kind": "stu"}]}\n')
    assert as_units(path, kind="stu", only=True)[0].units[0].kind == "stu"
    with pytest.raises(InputError, match=r"unit 1 is of kind 'stu'.*only units of kind 'scu'"):
        as_units(path, kind="scu", only=True)
    lines = tmp_path / "units.txt"
    lines.write_text("It rained.\n")
    assert as_units(lines, kind="stu", only=True)[0].units[0].kind == "stu"
    assert as_units(lines, kind="scu", only=True)[0].units[0].kind == "scu"


def test_other_line_separators_do_not_end_a_line(tmp_path):
    path = tmp_path / "u.txt"
    path.write_bytes("a\u2028b\x0c c\tsecond\r\nthird\n".encode())
    assert [len(entry.units) for entry in as_units(path)] == [2, 1]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"units\.txt: the file is empty"),
        (b"\n\n", r"units\.txt: the file is empty"),
        (b"a\n\nb\n", r"units\.txt:2: an empty line"),
        (b"a\t\tb\n", r"units\.txt:1: unit 2 is empty"),
        (b"a\tb\t\n", r"units\.txt:1: unit 3 is empty"),
        (b"fine\nbad \xff byte\n", r"units\.txt:2: byte 0xff is not UTF-8"),
    ],
)
def test_bad_unit_lines(tmp_path, content, message):
    path = tmp_path / "units.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        as_units(path)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not valid JSON"),
        ("[1]", "a JSON list"),
        ('{"units": ["a"]}', 'no "input"'),
        ('{"input": true, "units": ["a"]}', '"input" is true'),
        ('{"input": 1.5, "units": ["a"]}', '"input" is 1.5'),
        ('{"input": "b"}', 'no "units"'),
        ('{"input": "b", "units": []}', 'no "units"'),
        ('{"input": "b", "units": [""]}', "unit 1 is empty"),
        ('{"input": "b", "units": [{"weight": 1}]}', "unit 1 has no text"),
        ('{"input": "b", "units": [{"text": "t", "weight": -1e13}]}', "weight -1"),
        ('{"input": "b", "units": [{"text": "t", "weight": -1}]}', "no unit of input 'b'"),
        ('{"input": "b", "units": [{"text": "t", "tags": [3]}]}', '"tags" is'),
        ('{"input": "b", "units": [{"text": "t", "weight": true}]}', "weight True"),
        ('{"input": "b", "units": [{"text": "t", "weight": 1e999}]}', "weight inf"),
        ('{"input": "b", "units": [{"text": "t", "weight": 0}]}', "no unit of input 'b'"),
        ('{"input": "b", "units": [{"text": "t", "kind": "acu"}]}', "of kind 'acu'"),
        ('{"input": "b", "units": [{"text": "t", "sentence": -1}]}', '"sentence" is -1'),
        ('{"input": "b", "units": [{"text": "t", "places": [[0]]}]}', '"places" is'),
        ('{"input": "b", "units": [{"text": "t", "places": [[0, -1]]}]}', '"places" is -1'),
        ('{"input": "a", "units": ["again"]}', "occurs twice"),
    ],
)
def test_bad_unit_json(tmp_path, line, message):
    path = tmp_path / "u.jsonl"
    path.write_text('{"input": "a", "units": ["fine"]}\n' + line + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=rf"u\.jsonl:2: .*{message}"):
        as_units(path)


def test_missing_file_and_folder_are_named(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        as_units(tmp_path / "absent.txt")
    with pytest.raises(InputError, match="is a folder"):
        as_units(tmp_path)


def test_ids_name_the_lines_of_a_line_file(tmp_path, units_file):
    ids = tmp_path / "ids.txt"
    ids.write_text("first\nsecond\n", encoding="utf-8")
    assert [e.input for e in as_units(units_file, read_ids(ids))] == ["first", "second"]
    with pytest.raises(InputError, match=r"units\.txt:2: 2 lines"):
        as_units(units_file, ["only", "three", "ids"][:1])
    ids.write_text("same\nsame\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"ids\.txt:2: input 'same' occurs twice"):
        read_ids(ids)


def test_weights_match_units_one_to_one(tmp_path, units_file):
    units = as_units(units_file)
    path = tmp_path / "w.txt"
    path.write_text("1\t2\n3\n", encoding="utf-8")
    weighted = as_weights(path, units)
    assert [[u.weight for u in e.units] for e in weighted] == [[1, 2], [3]]
    for content, message in [
        ("1\n3\n", r"w\.txt:1: 1 weight for the 2 units of input '1'"),
        ("1\t2\n", r"w\.txt:1: 1 line for 2 inputs"),
        ("1\t2\n3\n4\n", r"w\.txt:3: 3 lines for 2 inputs"),
        ("0\t0\n1\n", r"w\.txt:1: no unit of input '1' has a weight above zero"),
        ("1\ttwo\n1\n", r"w\.txt:1: weight 'two'"),
        ("1\tnan\n1\n", r"w\.txt:1: weight 'nan'"),
    ]:
        path.write_text(content, encoding="utf-8")
        with pytest.raises(InputError, match=message):
            as_weights(path, units)


def test_labels_match_units_one_to_one(tmp_path, units_file):
    units = as_units(units_file)
    folder = tmp_path / "labels"
    folder.mkdir()
    labels = SystemLabels("sys.v1", ("1", "2"), ((0, 1), (1,)))
    write_labels(folder / "sys.v1.label", labels, "lines")
    write_labels(folder / "other.jsonl", SystemLabels("other", labels.inputs, labels.labels))
    read = as_labels([folder], units)
    assert [entry.system for entry in read] == ["other", "sys.v1"]
    assert read[0].labels == read[1].labels == labels.labels
    bad = folder / "other.jsonl"
    for row, message in [
        ({"input": "2", "labels": [2]}, r"other\.jsonl:2: label 2"),
        ({"input": "2", "labels": [True]}, r"other\.jsonl:2: label True"),
        ({"input": "2", "labels": [0, 1]}, r"other\.jsonl:2: 2 labels for the 1 unit "),
        ({"input": "3", "labels": [0]}, r"other\.jsonl:2: a line of labels of input '3'"),
        ({"input": "2"}, r'other\.jsonl:2: no "labels"'),
    ]:
        bad.write_text(
            '{"input": "1", "labels": [0, 1]}\n' + json.dumps(row) + "\n", encoding="utf-8"
        )
        with pytest.raises(InputError, match=message):
            as_labels([folder], units)
    bad.write_text('{"input": "1", "labels": [0, 1]}\n', encoding="utf-8")
    with pytest.raises(InputError, match="no line of labels of input '2'"):
        as_labels([folder], units)


def test_summaries_in_both_forms_and_in_any_order(tmp_path):
    (tmp_path / "a.summary").write_text("one\n\n", encoding="utf-8")
    (tmp_path / "b.jsonl").write_text(
        '{"input": "2", "summary": ""}\n{"input": "1", "summary": "one"}\n', encoding="utf-8"
    )
    (tmp_path / ".hidden").write_text("not a system\n", encoding="utf-8")
    first, second = as_summaries([tmp_path], ["1", "2"])
    assert (first.system, second.system) == ("a", "b")
    assert first.texts == second.texts == ("one", "")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", "one\n", r"a\.txt:1: 1 line for 2 inputs"),
        ("a.txt", "one\ntwo\nthree\n", r"a\.txt:3: 3 lines for 2 inputs"),
        ("a.txt", "", "the file is empty"),
        ("a.jsonl", '{"input": "1", "summary": "x"}\n', "no summary of input '2'"),
        ("a.jsonl", '{"input": "9", "summary": "x"}\n', r"a\.jsonl:1: a summary of input '9'"),
        ("a.jsonl", '{"input": "1"}\n{"input": "2", "summary": ""}\n', 'no "summary"'),
    ],
)
def test_bad_summaries(tmp_path, name, content, message):
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        as_summaries([tmp_path], ["1", "2"])


def test_two_files_of_one_system_and_an_empty_folder(tmp_path):
    with pytest.raises(InputError, match="no summaries in this folder"):
        as_summaries([tmp_path])
    for name in ("a.txt", "a.summary"):
        (tmp_path / name).write_text("x\n", encoding="utf-8")
    with pytest.raises(InputError, match="system 'a' is also in"):
        as_summaries([tmp_path])
    with pytest.raises(InputError, match="no such file or folder"):
        as_summaries([tmp_path / "absent"])


def test_references_of_every_form(tmp_path):
    path = tmp_path / "refs.jsonl"
    rows = [
        {"input": "a", "references": ["It rained . We left .", ["One .", "Two ."]]},
        {"input": "b", "reference": "<t> One . </t> <t> Two . </t>"},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    first, second = as_references(path)
    assert first.references == (("It rained . We left .",), ("One .", "Two ."))
    assert first.marked == (False, True)
    assert second.references == (("One .", "Two ."),)
    lines = tmp_path / "refs.txt"
    lines.write_text("<t> One . </t>\tTwo .\n", encoding="utf-8")
    (only,) = as_references(lines)
    assert only.references == (("One .",), ("Two .",))
    for content, message in [
        ("<t>" * 30_000 + "\n", r"refs\.txt:1: text outside the sentence marks"),
        ("<t> a </t>" + "<t>" * 30_000 + "\n", r"refs\.txt:1: text outside the sentence marks"),
        ("<t> open\n", r"refs\.txt:1: text outside the sentence marks"),
        ("<t> a </t> stray\n", r"refs\.txt:1: text outside the sentence marks \('stray'\)"),
        ("a\t\n", r"refs\.txt:1: empty reference"),
    ]:
        lines.write_text(content, encoding="utf-8")
        with pytest.raises(InputError, match=message):
            as_references(lines)


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("old", encoding="utf-8")

    def broken():
        with atomic_write(path) as file:
            file.write("new")
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError, match="killed"):
        broken()
    assert path.read_text(encoding="utf-8") == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["out.txt"]
