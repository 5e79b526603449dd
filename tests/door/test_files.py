"""Files and folders: what is right in every form, and the file and line of what is not."""

import csv
import gzip
import io
import json
import os
import shutil
import threading
from pathlib import Path

import pytest
from cases import cases, quick_score, refused
from door.holding import held, references_of, same_data, texts_of, units_of
from hypothesis import example, given, settings
from hypothesis import strategies as st

import litepyramid as lp
from litepyramid.data.records import InputUnits, Unit, Units
from litepyramid.data.written import unit_lines, write_units

DATA = Path(__file__).resolve().parents[1] / "data"
UNITS = {"1": ["A fell.", "B rose."], "2": ["C stayed."]}
IDS = ["1", "2"]


def write(path, rows, delimiter=","):
    """Rows as CSV, a JSON array or JSON Lines, by the file's name; packed if it says so."""
    if ".jsonl" in path.name:
        text = "\n".join(map(json.dumps, rows))
    elif ".json" in path.name:
        text = json.dumps(rows, indent=1)
    else:
        out = io.StringIO()
        table = csv.DictWriter(out, [*rows[0]], delimiter=delimiter)
        table.writeheader()
        table.writerows(rows)
        text = out.getvalue()
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@settings(max_examples=40)
@given(texts=st.lists(st.text(), min_size=1, max_size=6), mark=st.sampled_from(",\t;"))
@example(texts=['a,"b";\tc\r\nd\r', "\x00", "[1]", "{", "''=x", "\u2028"], mark=",")
def test_every_form_holds_every_text(tmp_path_factory, texts, mark):
    folder = tmp_path_factory.mktemp("forms")
    rows = [{"input": str(n), "summary": text} for n, text in enumerate(texts)]
    for name in ("a.csv", "a.json", "a.jsonl", "a.csv.gz"):
        data = lp.load(write(folder / name, rows, mark))
        # An empty cell of a CSV is a missing answer, which is read as an empty one.
        expected = {("a", str(n)): text.strip() for n, text in enumerate(texts)}
        assert texts_of(data) == expected, name


def test_units_survive_a_round_trip_in_either_form(tmp_path):
    places = ((0, 1), (None, None), (2, 0))
    whole = Units.of(
        [
            InputUnits("x", (Unit("Ünïts  fell.", 2.5, "stu", 1, 3), Unit("b"))),
            InputUnits("y", (Unit("c", 3.0, places=places, tags=("t",), said=True),)),
        ]
    )
    write_units(tmp_path / "u.jsonl", whole)
    assert lp.load(units=tmp_path / "u.jsonl").units == whole

    lines = tmp_path / "u.txt"
    lines.write_text("".join(unit_lines(lp.load(units=UNITS).units)))
    assert lines.read_text() == "A fell.\tB rose.\nC stayed.\n"
    assert units_of(lp.load(units=lines)) == UNITS
    assert units_of(lp.load(units=lines, ids=["b", "a"])) == {
        "b": UNITS["1"],
        "a": UNITS["2"],
    }
    lines.write_bytes("a\u2028b\x0c c\tsecond\r\nthird\n".encode())
    assert [len(one.texts) for one in lp.load(units=lines).units] == [2, 1]
    unit = "It\trained\r\n all  day.\n"
    tidied = lp.load(units={"a": [unit, {"text": unit}]}).units
    assert {*tidied["a"].texts} == {"It rained all  day."}
    with refused("tab"):
        unit_lines([InputUnits("x", (Unit("a\tb"),))])
    assert not (tmp_path / "v.txt").exists()


def test_the_name_of_a_file_tells_the_kind_and_the_system(tmp_path):
    for name, kind in (("STUs.txt", "stu"), ("units.txt", "scu")):
        (tmp_path / name).write_text("It rained.\n")
        units = lp.load(units=tmp_path / name).units
        assert units.every[0].kind == kind
        other = lp.load(units=tmp_path / name, kind="stu").units
        assert other.of_kind("stu") == other
    with refused("input '1'"):
        units.of_kind("stu")

    (tmp_path / "bart.v2.summary.gz").write_bytes(gzip.compress(b"Erst.\nDann.\n"))
    for source in (tmp_path / "bart.v2.summary.gz", [tmp_path / "bart.v2.summary.gz"]):
        assert lp.load(source).systems == ("bart.v2",)
    (tmp_path / "runs" / "one").mkdir(parents=True)
    with refused("runs|one"):
        lp.load(tmp_path / "runs")
    (tmp_path / "runs" / "one" / "d1.txt").write_text("x")
    (tmp_path / "runs" / ".git").mkdir()
    assert texts_of(lp.load(tmp_path / "runs")) == {("one", "d1"): "x"}
    (tmp_path / "runs" / "one.txt").write_text("x")
    with refused("'one' is also the name of"):
        lp.load(tmp_path / "runs")


def test_a_folder_for_each_system_has_a_text_file_for_each_input():
    folders = DATA / "folders"
    data = lp.load(folders / "runs", references=folders / "refs")
    assert texts_of(data) == {
        ("bart", "d1"): "It rained.\n[1] We left.",
        ("bart", "d2"): "",
        ("t5", "d1"): "We left.",
        ("t5", "d2"): "The sun came, and went.",
    }
    truth = {"d1": ["It rained.\nWe left."], "d2": ["The sun came."]}
    assert references_of(data) == truth
    documents = lp.load(folders / "runs", documents=folders / "refs").documents
    assert documents == {("", name): text for name, [text] in truth.items()}


SUMMARIES = [{"input": "2", "summary": ""}, {"input": "1", "summary": "one"}]


@pytest.mark.parametrize(
    ("name", "text"),
    cases(
        r"""
a.csv   | ,input,summary⏎0,2,⏎1,1,one⏎
a.csv   | Unnamed: 0;Input;SUMMARY ⏎1;2;⏎0;1;one⏎
a.csv   | sep=;⏎⏎id;summary⏎2;⏎;⏎1;one⏎
a.csv   | input,summary⏎2.0,⏎1.0,one⏎
a.tsv   | input	summary⏎2	⏎1	one⏎
a.jsonl | {"input": 2, "summary": ""}⏎⏎{"input": 1.0, "summary": "one"}⏎
a.json  | {"input": 2, "summary": ""}⏎{"input": 1, "summary": "one"}⏎
a.json  | {"1": "one", "2": ""}
a.txt   | one⏎⏎
"""
    ),
)
def test_tables_of_other_programs(tmp_path, name, text):
    """With an index, blank lines, marks of Excel, ids as numbers, one JSON object."""
    references = ["x", "y"] if name == "a.txt" else {1: "x", 2: "y"}
    for encoding in ("utf-8-sig", "utf-16"):
        (tmp_path / name).write_text(text, encoding)
        data = lp.load({"a": tmp_path / name}, references=references)
        assert texts_of(data) == {("a", "1"): "one", ("a", "2"): ""}


LISTS = """
["It rained.", {"text": "b's", "weight": 2}] | It rained.  b's
['It rained.', "b's"]                        | It rained.  b's
[]                                           | -
['It rained.'                                | -
It rained. We left.                          | -
- It rained.⏎- We left.                      | -
"""


@pytest.mark.parametrize(("cell", "units"), cases(LISTS))
def test_lists_in_cells_are_json_or_pythons(tmp_path, cell, units):
    path = write(tmp_path / "u.csv", [{"input": "a", "units": cell}])
    if units != "-":
        assert units_of(lp.load(units=path)) == {"a": units.split("  ")}
    else:
        with refused(r"u\.csv:2: "):
            lp.load(units=path)


@pytest.mark.parametrize(
    ("role", "name", "text", "place"),
    cases(
        r"""
data       | a.csv   | input,summary⏎1,b,c⏎                    | :2:
data       | a.csv   | input,summary⏎1,"b⏎                     | :2:
data       | a.csv   | input,summary,summary⏎1,b,c⏎            | :1:
data       | a.csv   | input,summary⏎                          | :
data       | a.csv   | input,summary⏎,b⏎                       | :2:
data       | a.csv   | input,summary⏎1,"x⏎y"⏎2,b⏎1,b⏎          | :5: .*:2
data       | a.json  | [{"input": "a"},⏎ 3]                    | :
data       | a.json  | [{"input": "a"}⏎ {"input": "b"}]        | :
data       | a.json  | []                                      | :
data       | a.json  | {⏎"input": "1",⏎"summary": "b"⏎}        | :
data       | a.txt   | [{"input": "a"}, x]                     | :1:
data       | a.txt   | one⏎                                    | :
data       | a.txt   | one⏎two⏎three⏎                          | :
data       | a.jsonl | {"input": "1", "summary": "x"}          | :1: .*input '2'
data       | a.jsonl | {"input": "1", "summary": 3}            | :1:
data       | a.jsonl | {"input": "9", "summary": "x"}          | :1: .*input '9'
data       | a.jsonl | {"input": "1", "summary": "x"}⏎{"input": "2"} | :2:
data       | a.xlsx  | PK                                      | :
units      | a.txt   | a⏎⏎b⏎                                   | :2:
units      | a.txt   | a		b⏎c                                  | :1:
units      | a.txt   | ⏎⏎                                      | :
units      | a.jsonl | {                                       | :1:
units      | a.jsonl | [1]                                     | :
units      | a.jsonl | {"units": ["a"]}⏎{"units": ["a"], "input": 1} | :1:
units      | a.jsonl | {"input": true, "units": ["a"]}         | :1:
units      | a.jsonl | {"input": 1.5, "units": ["a"]}          | :1:
units      | a.jsonl | {"input": "1", "units": []}             | :1:
units      | a.jsonl | {"input": "1", "units": [""]}           | :1:
units      | a.jsonl | {"input": "1", "units": ["<t> a </t>"]} | :1:
units      | a.jsonl | {"input": "1", "units": [{"weight": 1}]} | :1:
units      | a.jsonl | {"input": "1", "units": [{"text": "t", "weight": -1e13}]} | :1:
units      | a.jsonl | {"input": "1", "units": [{"text": "t", "weight": -1}]} | :1:
units      | a.jsonl | {"input": "1", "units": [{"text": "t", "weight": true}]} | :1:
units      | a.jsonl | {"input": "1", "units": [{"text": "t", "weight": 1e999}]} | :1:
units      | a.jsonl | {"input": "1", "units": [{"text": "t", "tags": [3]}]} | :1:
units      | a.jsonl | {"input": "1", "units": [{"text": "t", "kind": "acu"}]} | :1:
units      | a.jsonl | {"input": "1", "units": [{"text": "t", "sentence": -1}]} | :1:
units      | a.jsonl | {"input": "1", "units": [{"text": "t", "importance": "x"}]} | :1:
units      | a.jsonl | {"input": "1", "units": [{"text": "t", "places": [[0, -1]]}]} | :1:
units      | a.csv   | input,unit,weight⏎1,a,1⏎1,b,x⏎          | :3:
labels     | a.jsonl | {"input": "1", "labels": [0, 2]}        | :1:
labels     | a.jsonl | {"input": "1", "labels": ["no", 1]}     | :1:
labels     | a.jsonl | {"input": "1", "labels": [0]}           | :1:
labels     | a.jsonl | {"input": "3", "labels": [0]}           | :1: .*input '3'
labels     | a.jsonl | {"input": "2"}                          | :
labels     | a.csv   | input,unit,label⏎1,A fell.,1⏎1,Else.,0⏎ | :3:
labels     | a.csv   | input,unit,label⏎1,A fell.,1⏎1,A fell.,0⏎ | :3:
references | a.jsonl | {"input": "1", "reference": "<t> a </t> stray"} | :1:
references | a.jsonl | {"input": "1", "references": ["x", ""]} | :1:
references | a.jsonl | {"input": "1", "references": []}        | :1:
"""
    ),
)
def test_what_does_not_fit_is_named_with_its_file_and_line(
    tmp_path, role, name, text, place
):
    path = tmp_path / name
    path.write_text(text)
    sources = {"units": UNITS, role: path}
    if path.suffix == ".txt" and role == "data":
        sources["ids"] = IDS
    with refused(rf"{name}{place}"):
        lp.load(**sources)
    path.unlink()
    with refused(rf"{name}: no such file"):
        lp.load(**sources)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (b"fine\nbad \xff byte\n", ":2:"),
        (b"\x1f\x8bnothing", ": cannot be unpacked"),
        (gzip.compress(b"text " * 99, mtime=0)[:-9], ": cannot be unpacked"),
        (gzip.compress(bytes(2**20 + 1), mtime=0), ": more than"),
        (b"<t>" * 30_000, ":1:"),
        (b"<t> a </t>" + b"<t>" * 30_000, ":1:"),
        (b"a\t\n", ":1:"),
    ],
)
def test_what_holds_no_text_is_refused(tmp_path, monkeypatch, text, place):
    monkeypatch.setattr("litepyramid.files._MOST_UNPACKED", 2**20)
    (tmp_path / "r.txt").write_bytes(text)
    with refused(rf"r\.txt{place}"):
        lp.load(references=tmp_path / "r.txt")


def test_a_dash_is_standard_input_and_a_pipe_is_read_once(tmp_path, monkeypatch):
    def typed(data):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        return "-"

    table = b"system,input,summary\na,1,It rained.\n"
    lines = b'{"system": "a", "input": 1, "summary": "It rained."}\n'
    array = gzip.compress(b"[" + lines.strip() + b"]")
    expected = {("a", "1"): "It rained."}
    for data in (table, lines, array):
        assert texts_of(lp.load(typed(data))) == expected
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    threading.Thread(target=pipe.write_bytes, args=(table,), daemon=True).start()
    assert texts_of(lp.load(pipe, references={"1": "x"})) == expected
    for device in ("/dev/zero", "/dev/null"):
        with refused("is a device"):
            lp.load(units=device)


@pytest.fixture
def authors(tmp_path):
    """A tiny data set in the authors' layout."""
    return shutil.copytree(DATA / "tiny", tmp_path / "tiny")


def test_the_authors_layout(authors):
    data = lp.load(authors)
    assert (data.name, data.systems, data.inputs) == (
        "tiny",
        ("x",),
        ("first", "second"),
    )
    assert data.stus.every[0].kind == "stu"
    assert (data.example_folds, data.system_folds) == (
        (("second",), ("first",)),
        (("x",),),
    )
    assert data.labels.values.tolist() == [[1, 1, 0]]

    # JSON Lines, or compressed files, in place of line files.
    write_units(authors / "units.jsonl", data.units)
    write_units(authors / "stus.jsonl", data.stus)
    (authors / "STUs.txt").unlink()
    (authors / "SCUs.txt").unlink()
    for path in [path for path in authors.rglob("*") if path.is_file()]:
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    assert same_data(lp.load(authors), data)


def test_a_layout_without_ids_is_numbered(authors):
    for name in ("ids.txt", "STUs.txt", "references.txt"):
        (authors / name).unlink()
    for number in "12":
        (authors / "by_examples" / f"fold{number}.id").write_text(f"{number}\n")
    data = lp.load(authors)
    assert (data.inputs, held(data)["stus"]) == (("1", "2"), Units())
    assert data.example_folds == (("1",), ("2",))


@pytest.mark.parametrize(
    ("file", "text", "message"),
    cases(
        r"""
by_examples/fold2.id | third⏎  | third
by_examples/fold2.id | second⏎ | second
"""
    ),
)
def test_what_is_wrong_in_the_folder_is_named(authors, file, text, message):
    (authors / file).write_text(text)
    with refused(message):
        lp.load(authors)


def test_realsumm(realsumm):
    data = lp.load(realsumm)
    assert (len(data.inputs), len(data.systems)) == (100, 25)
    assert sum(map(len, data.example_folds)) == 100
    assert sum(map(len, data.system_folds)) == 25


@pytest.mark.parametrize(
    ("text", "system"),
    [
        ("It rained all day.\nWe left.\n", "system"),
        ("bart,t5\nIt rained.,No.\nWe left.,No.\n", "bart"),
        ('["It rained.", "We left."]', "system"),
    ],
)
def test_standard_input_is_lines_a_table_or_json(monkeypatch, text, system):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    result = quick_score("-", [["It rained."], ["We left."]])
    assert result.scores[system] == 1


def test_lines_that_may_be_a_table_are_refused(monkeypatch):
    text = b"It rained, all day.\nWe left.\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    with refused("lines, or a table"):
        quick_score("-", [["It rained."], ["We left."]])


def test_ids_beside_ids_are_refused_and_none_is_noted():
    texts = {"a": {"x": "None", "y": "We left."}}
    units = {"x": ["It rained."], "y": ["We left."]}
    with refused("all have their own"):
        quick_score(texts, units, ids=["p", "q"])
    [note] = [one for one in quick_score(texts, units).notes if "'None'" in one]
    assert note.startswith("1 answer")
