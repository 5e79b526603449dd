"""Tables, JSON arrays and compressed files are read as what they are, by every
reader."""

import csv
import gzip
import io
import json
import shutil
from pathlib import Path

import pytest
from cases import cases, refused
from hypothesis import example, given, settings
from hypothesis import strategies as st

from litepyramid.data.records import InputUnits, Unit
from litepyramid.io.coerce import (
    as_documents,
    as_labels,
    as_references,
    as_summaries,
    as_units,
)
from litepyramid.io.readers import read_rows
from litepyramid.io.rows import parse_columns
from litepyramid.types import SystemSummaries

FOLDERS = Path(__file__).resolve().parents[1] / "data" / "folders"
UNITS = [
    InputUnits("a", (Unit("It rained."), Unit("It was heavy."))),
    InputUnits("b", (Unit("The sun came."),)),
]


def write(path, rows, delimiter=","):
    """Rows as CSV, TSV, a JSON array or JSON Lines, by the file's name; gzipped if it
    says so."""
    if ".jsonl" in path.name:
        text = "\n".join(map(json.dumps, rows))
    elif ".json" in path.name:
        text = json.dumps(rows, indent=1)
    else:
        out = io.StringIO()
        table = csv.DictWriter(out, list(rows[0]), delimiter=delimiter, restval="")
        table.writeheader()
        table.writerows(rows)
        text = out.getvalue()

    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


OTHER_NAMES = """\
doc,model,output,summary,gold
7,x,One.,not this,Ref.
8,x,Two.,not this,Ref 2.
"""


@pytest.mark.parametrize(
    ("name", "delimiter"),
    [
        ("d.csv", ","),
        ("d.txt", ";"),
        ("d.json", ""),
        ("d.jsonl", ""),
        ("d.tsv.gz", "\t"),
    ],
)
def test_columns_may_have_other_names(tmp_path, name, delimiter):
    rows = [*csv.DictReader(io.StringIO(OTHER_NAMES))]
    path = write(tmp_path / name, rows, delimiter)
    if name != "d.txt":  # where nothing is known of a header it is a line
        with refused(r'no "input"'):
            as_summaries([path])

    names = "input=doc,system=model,summary=output,references=gold"
    columns = parse_columns(names)
    (system,) = as_summaries([path], columns=columns)
    assert system == SystemSummaries("x", ("7", "8"), ("One.", "Two."))
    assert [e.input for e in as_references(path, columns=columns)] == ["7", "8"]
    with refused('no "text"'):
        as_summaries([path], columns=parse_columns(names.replace("output", "text")))


def test_labels_go_by_the_text_of_their_unit(tmp_path):
    path = tmp_path / "x.csv"
    text = "input,unit,label\na,It was heavy.,1\nb,The sun came.,1\na,It rained.,0\n"
    path.write_text(text)
    assert as_labels([path], UNITS)[0].labels == ((0, 1), (1,))
    path.write_text(text.replace("It was heavy.", "Else."))
    with refused(r"x\.csv:2: no label for the unit 'It was heavy\.'"):
        as_labels([path], UNITS)


CELLS = """
['It rained.'            | not valid JSON .* Expected a JSON list
It rained. We left.      | no list in "units": 'It rained.*one per row.*Write
in 2029; at noon         | no list in "units": 'in 2029; at noon'
- It rained.⏎- We left.  | no list in "units": '- It rained
⏎                        | no "units".*Fill the empty cell
"""


def test_lists_in_cells_are_json(tmp_path):
    path = tmp_path / "u.csv"
    row = {"input": "a", "document": "It rained. We left."}
    write(path, [row | {"units": '["It rained.", {"text": "b", "weight": 2}]'}])
    assert as_units(path)[0].units == (Unit("It rained."), Unit("b", 2.0))
    assert as_documents(path) == {("", "a"): "It rained. We left."}
    write(path, [row | {"units": "['It rained.', \"b's\"]"}])
    assert as_units(path)[0].texts == ("It rained.", "b's")  # as pandas writes lists

    for cell, message in cases(CELLS):
        with refused(rf"u\.csv:2: {message}"):
            as_units(write(path, [row | {"units": cell}]))


def test_a_folder_per_system_has_a_text_file_per_input(tmp_path):
    shutil.copytree(FOLDERS, tmp_path, dirs_exist_ok=True)
    runs = tmp_path / "runs"
    for folder in (runs, runs / "bart"):
        (folder / ".git").mkdir()
    (runs / "bart" / "loop").symlink_to(runs)

    references = as_references(tmp_path / "refs")
    assert [entry.input for entry in references] == ["d1", "d2"]
    assert references[0].references == (("It rained.\nWe left.",),)
    assert as_documents(tmp_path / "refs")["", "d2"] == "The sun came."
    bart, t5 = as_summaries(runs, ["d1", "d2"])
    assert (bart.system, t5.system) == ("bart", "t5")
    assert bart.texts == ("It rained.\n[1] We left.", "")
    assert t5.texts == ("We left.", "The sun came, and went.")

    (runs / "t5" / "d2.txt").unlink()
    with refused("d1.txt:1: no summary of input 'd2'"):
        as_summaries(runs, ["d1", "d2"])


def test_rows_without_ids_go_by_their_order(tmp_path):
    path = tmp_path / "lead.csv"
    path.write_text('summary\nOne.\n""\nTwo.\n')
    (system,) = as_summaries([path], ["x", "y", "z"])
    assert system == SystemSummaries("lead", ("x", "y", "z"), ("One.", "", "Two."))
    with refused("3 rows for 2 inputs"):
        as_summaries([path], ["x", "y"])
    path.with_suffix(".json").write_text('["One.",\n "",\n "Two."]')
    assert as_summaries([path.with_suffix(".json")], ["x", "y", "z"])[0] == system
    path.write_text("doc,summary\n1,One.\n")
    with refused('no "input"'):
        as_summaries([path])


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        *cases(
            r"""
d.csv  | It rained.⏎It snowed.⏎           | 1: a table without any known column
d.csv  | input,summary⏎a,b,c⏎             | 2: 3 columns. Expected 2
d.csv  | input,summary⏎a,"b⏎              | 2: not valid CSV
d.csv  | input,summary,summary⏎a,b,c⏎     | 1: column 'summary' occurs twice
d.csv  | input,summary⏎                   | no rows
d.csv  | input,summary⏎,b⏎                | 2: no "input"
d.csv  | input,summary⏎a,"1⏎2"⏎a,b⏎       | 4: input 'a' occurs twice .*line 2
d.json | [{"input": "a"},⏎ 3]             | 2: a JSON list of int
d.json | [{"input": "a"}⏎ {"input": "b"}] | 2: not valid JSON \(Expecting ','
d.json | []                               | the table has no rows
d.json | {⏎"input": "a",⏎"summary": "b"⏎} | one JSON object over several lines
d.txt  | [{"input": "a"}, x]              | 1: not valid JSON
"""
        ),
        (
            "d.csv",
            f"input,summary\na,{'x' * 200_000}\na,b\n",
            r"3: input 'a' occurs twice",
        ),
        ("d.txt", "Input\tSummary\na\n", r"2: 1 column. Expected 2"),
        ("d.json", "[" * 100_000, r"not valid JSON \(nested too deeply"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text)
    with refused(message):
        as_summaries([path])


def test_sentences_with_commas_and_brackets_stay_lines(tmp_path):
    path = tmp_path / "lines.txt"
    for text in (
        "Each row has a system, input, score, and a label.\n[Music] It rained.\n\n",
        "[Music] It rained.\n",
    ):
        path.write_text(text)
        assert [row.text for row in read_rows(path).rows] == text.split("\n")[:-1]


def test_compressed_line_files_and_their_names(tmp_path, monkeypatch):
    (tmp_path / "bart.v2.summary.gz").write_bytes(gzip.compress(b"Erst.\nDann.\n"))
    (system,) = as_summaries([tmp_path])
    assert system == SystemSummaries("bart.v2", ("1", "2"), ("Erst.", "Dann."))
    damaged = tmp_path / "x.gz"

    for data in (b"\x1f\x8bnothing", gzip.compress(b"text " * 99)[:-9]):
        damaged.write_bytes(data)
        with refused("cannot be unpacked"):
            as_units(damaged)

    monkeypatch.setattr("litepyramid.files._MOST_UNPACKED", 2**20)
    damaged.write_bytes(gzip.compress(bytes(2**20 + 1)))
    with refused("more than 512 MB"):
        as_units(damaged)


@settings(max_examples=40)
@given(texts=st.lists(st.text(), min_size=1, max_size=6), mark=st.sampled_from(",\t;"))
@example(texts=['a,"b";\tc\r\nd\r', "\x00", "[1]", "{", "''=x", "\u2028"], mark=",")
def test_every_form_holds_every_text(tmp_path_factory, texts, mark):
    folder = tmp_path_factory.mktemp("forms")
    rows = []
    for n, text in enumerate(texts):
        rows.append({"input": str(n), "system": "s", "summary": text})
    expected = tuple(text.strip() for text in texts)
    for name in ("a.csv", "a.json", "a.jsonl", "a.csv.gz"):
        (system,) = as_summaries([write(folder / name, rows, mark)])
        assert system.texts == expected
