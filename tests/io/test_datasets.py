"""Published data sets, read from files of their shapes that the tests write."""

import gzip
import json
import shutil

import pytest
from cases import cases, refused
from tool_files import FILES, objects_of

import litepyramid as lp
from litepyramid.io.coerce import write_units


@pytest.fixture
def authors(tmp_path):
    """A tiny data set in the authors' layout."""
    return shutil.copytree(FILES.parent / "tiny", tmp_path / "tiny")


def test_authors_layout(authors):
    data = lp.load(authors)
    assert (data.name, data.systems) == ("tiny", ("x",))
    assert data.inputs == ("first", "second")
    assert data.stus[1].units[0].kind == "stu"
    assert data.example_folds == (("second",), ("first",))
    assert data.system_folds == (("x",),)
    assert data.labels[0].labels == ((1, 1), (0,))

    for name in ("ids.txt", "STUs.txt", "references.txt"):
        (authors / name).unlink()
    (authors / "by_examples" / "fold1.id").write_text("2\n")
    (authors / "by_examples" / "fold2.id").write_text("1\n")
    data = lp.load(authors)
    assert (data.inputs, data.stus) == (("1", "2"), None)
    assert data.example_folds == (("2",), ("1",))


def test_json_lines_or_compressed_files_in_place_of_line_files(authors):
    before = lp.load(authors)
    write_units(authors / "units.jsonl", before.scus)
    write_units(authors / "stus.jsonl", before.stus)
    for name in ("SCUs.txt", "STUs.txt"):
        (authors / name).unlink()
    for path in [path for path in authors.rglob("*") if path.is_file()]:
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    assert lp.load(authors) == before


@pytest.mark.parametrize(
    ("file", "text", "message"),
    cases(
        r"""
by_examples/fold2.id | third⏎  | fold2\.id:1: input 'third' is not in the
by_examples/fold2.id | second⏎ | 'second' occurs twice
summaries/y.summary  | a⏎⏎     | summaries/ and labels/ differ: y
"""
    ),
)
def test_what_is_wrong_in_the_folder_is_named(authors, file, text, message):
    (authors / file).write_text(text)
    with refused(message):
        lp.load(authors)
    (authors / "SCUs.txt").unlink()
    with refused(r"tiny: has no SCUs\.txt"):
        lp.load(authors)


@pytest.mark.parametrize(
    ("name", "units", "labels"),
    [
        ("rose.jsonl", "reference_acus", [((1, 0), (1, 1))] * 2),
        ("qapyramid.json", "QAs", [((0,), (1,)), ((0,), (0,))]),
    ],
)
def test_rose_and_qapyramid(tmp_path, name, units, labels):
    rows = objects_of(name)
    data = lp.load(FILES / name)
    assert (data.inputs, data.systems) == (("e0", "e1"), ("a", "b"))
    assert [entry.labels for entry in data.labels] == labels
    assert data == lp.load(rows)

    path = tmp_path / name
    path.write_text(json.dumps([rows[0], rows[1] | {units: []}]))
    assert lp.load(path).left_out == {"inputs_without_units_summaries_or_labels": 1}
    for change, message in (
        ({units: ["x", "y", "z"]}, r":1: \d labels? for the 3 units of input 'e0'"),
        ({"system_outputs": {}}, "system_outputs"),
    ):
        path.write_text(json.dumps([rows[0] | change]))
        with refused(message):
            lp.load(path)


def test_realsumm(realsumm):
    data = lp.load(realsumm)
    assert (len(data.inputs), len(data.systems)) == (100, 25)
    assert sum(map(len, data.example_folds)) == 100
    assert sum(map(len, data.system_folds)) == 25
