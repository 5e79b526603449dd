"""Published data sets, read from files of their shapes that the tests write."""

from __future__ import annotations

import gzip
import hashlib
import json
from dataclasses import replace

import pytest

from litepyramid.errors import InputError
from litepyramid.io.dataset import DATASETS, load_dataset
from litepyramid.io.write import write_units


@pytest.fixture
def authors(tmp_path):
    """A tiny data set in the authors' layout."""
    files = {
        "SCUs.txt": "a\tb\nc\n",
        "STUs.txt": "d\ne\tf\n",
        "references.txt": "<t> a b . </t>\n<t> c . </t>\n",
        "ids.txt": "first\nsecond\n",
        "weights.txt": "2\t1\n1\n",
        "summaries/x.summary": "a b\n\n",
        "labels/x.label": "1\t1\n0\n",
        "by_examples/fold1.id": "second\n",
        "by_examples/fold2.id": "first\n",
        "by_systems/fold1.sys": "x\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def test_authors_layout(authors):
    data = load_dataset("pyrxsum", authors)
    assert data.inputs == ("first", "second")
    assert data.systems == ("x",)
    assert [u.weight for u in data.scus[0].units] == [2, 1]
    assert data.stus[1].units[0].kind == "stu"
    assert data.example_folds == (("second",), ("first",))
    assert data.system_folds == (("x",),)
    assert data.labels[0].labels == ((1, 1), (0,))


def test_authors_layout_without_the_optional_files(authors):
    for name in ("ids.txt", "weights.txt", "STUs.txt", "references.txt"):
        (authors / name).unlink()
    (authors / "by_examples" / "fold1.id").write_text("2\n", encoding="utf-8")
    (authors / "by_examples" / "fold2.id").write_text("1\n", encoding="utf-8")
    data = load_dataset("tac2008", authors)
    assert data.inputs == ("1", "2")
    assert data.stus is None
    assert data.example_folds == (("2",), ("1",))


def test_files_with_a_known_hash_must_be_the_published_ones(authors, monkeypatch):
    text = (authors / "SCUs.txt").read_bytes()
    known = {"SCUs.txt": hashlib.sha256(text).hexdigest(), "gone.txt": "0" * 64}
    card = replace(DATASETS["realsumm"], sha256=known)
    monkeypatch.setitem(DATASETS, "realsumm", card)
    whole = load_dataset("realsumm", authors)
    (authors / "SCUs.txt").write_bytes(text.replace(b"\n", b"\r\n"))
    assert load_dataset("realsumm", authors) == whole
    (authors / "SCUs.txt").write_bytes(text.replace(b"a", b"b"))
    with pytest.raises(
        InputError, match=r"SCUs\.txt: is not the file published with realsumm"
    ) as e:
        load_dataset("realsumm", authors)
    assert "folder=PATH" in str(e.value)
    assert load_dataset("folder", authors).inputs == whole.inputs


def test_json_lines_in_place_of_line_files(authors):
    before = load_dataset("folder", authors)
    write_units(authors / "units.jsonl", before.scus)
    write_units(authors / "stus.jsonl", before.stus)
    for name in ("SCUs.txt", "STUs.txt", "weights.txt"):
        (authors / name).unlink()
    after = load_dataset("folder", authors)
    assert (after.scus, after.stus, after.labels) == (before.scus, before.stus, before.labels)


def test_the_files_may_be_compressed(authors):
    before = load_dataset("folder", authors)
    for path in [path for path in authors.rglob("*") if path.is_file()]:
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    assert load_dataset("folder", authors) == before


def test_a_fold_of_unknown_inputs_is_named(authors):
    (authors / "by_examples" / "fold2.id").write_text("third\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"fold2\.id:1: input 'third' is not in the data set"):
        load_dataset("pyrxsum", authors)


def test_an_input_in_two_folds_is_refused(authors):
    (authors / "by_examples" / "fold2.id").write_text("second\n", encoding="utf-8")
    with pytest.raises(InputError, match="'second' occurs twice"):
        load_dataset("pyrxsum", authors)


def test_missing_places_and_names(tmp_path):
    with pytest.raises(InputError, match="unknown data set 'duc'"):
        load_dataset("duc", tmp_path)
    with pytest.raises(InputError, match="no such file or folder"):
        load_dataset("rose", tmp_path / "absent.json")
    with pytest.raises(InputError, match=r"has no SCUs\.txt"):
        load_dataset("realsumm", tmp_path)


def rose_rows():
    return [
        {
            "count_id": 7,
            "reference": "A b . C .",
            "reference_acus": ["A b.", "C."],
            "system_outputs": {"s": "A\nb", "t": ""},
            "annotations": {"s": {"acu_labels": [1, 0]}, "t": {"acu_labels": [0, 0]}},
        },
        {"count_id": 8, "reference_acus": [], "system_outputs": {"s": "x", "t": "y"}},
    ]


@pytest.mark.parametrize("form", ["lines", "list"])
def test_rose(tmp_path, form):
    path = tmp_path / "cnndm_test.jsonl"
    rows = rose_rows()
    text = json.dumps(rows) if form == "list" else "".join(json.dumps(r) + "\n" for r in rows)
    path.write_text(text, encoding="utf-8")
    data = load_dataset("rose", path)
    assert data.inputs == ("7",)
    assert data.scus[0].texts == ("A b.", "C.")
    assert data.summaries[0].texts == ("A b",)
    assert [entry.labels for entry in data.labels] == [((1, 0),), ((0, 0),)]
    assert data.left_out == {"inputs_without_units_summaries_or_labels": 1}
    assert data.references[0].references == (("A b . C .",),)


def test_rose_with_labels_that_do_not_match(tmp_path):
    rows = rose_rows()[:1]
    rows[0]["annotations"]["s"]["acu_labels"] = [1]
    path = tmp_path / "rose.jsonl"
    path.write_text(json.dumps(rows[0]) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"rose\.jsonl:1: 1 label for the 2 units of input '7'"):
        load_dataset("rose", path)


def test_qapyramid(tmp_path):
    rows = [
        {
            "example_id": "e1",
            "reference": "A fell .",
            "QAs": ["who fell? A"],
            "QA_labels": {"s": [1]},
            "system_outputs": {"s": "A fell"},
        },
        {"example_id": "e2", "QAs": ["who?"], "QA_labels": None, "system_outputs": None},
    ]
    path = tmp_path / "qa.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    data = load_dataset("qapyramid", path)
    assert data.inputs == ("e1",)
    assert data.left_out == {"inputs_without_units_summaries_or_labels": 1}
    rows[1] |= {"QA_labels": {"s": []}, "system_outputs": {"s": "Who"}}
    path.write_text(json.dumps(rows), encoding="utf-8")
    assert load_dataset("qapyramid", path) == data
    path.write_text("[{}]", encoding="utf-8")
    with pytest.raises(InputError, match="system_outputs"):
        load_dataset("qapyramid", path)


def test_realsumm_is_the_published_one(realsumm):
    data = load_dataset("realsumm", realsumm)
    assert (len(data.inputs), len(data.systems)) == (100, 25)
    assert sum(map(len, data.example_folds)) == 100
    assert sum(map(len, data.system_folds)) == 25
    for name, digest in DATASETS["realsumm"].sha256.items():
        assert hashlib.sha256((realsumm / name).read_bytes()).hexdigest() == digest
