"""Shapes of data as people have them: joined by id, by order, or refused."""

import gzip
import json
import random
from collections.abc import Sequence

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from cases import refused, write_lines
from door.holding import references_of, texts_of, units_of
from door.test_every_door import texts_folder

import litepyramid as lp

IDS = ["d3", "d1", "d2"]
TEXTS = {system: {name: f"{system} on {name}" for name in IDS} for system in "ab"}
TRUTH = {name: f"truth on {name}" for name in IDS}
UNITS = {name: [text] for name, text in TRUTH.items()}
LISTS = {system: [*texts.values()] for system, texts in TEXTS.items()}
TRUTHS = [*TRUTH.values()]
IN_ROWS = [{"input": name, "reference": text} for name, text in TRUTH.items()]
ROWS = []
for _system, _texts in TEXTS.items():
    for _name, _text in _texts.items():
        ROWS.append({"system": _system, "input": _name, "summary": _text})


def mixed(values):
    return random.Random(1).sample([*values], len(values))


LONG = pandas.DataFrame(mixed(ROWS))
WIDE = pandas.DataFrame(TEXTS)
LEVELS = LONG.set_index(["system", "input"])
SERIES = {s: pandas.Series(texts).loc[mixed(IDS)] for s, texts in TEXTS.items()}
COUNTED = WIDE.reset_index(drop=True)
PART = pandas.concat([WIDE.assign(model="other"), WIDE.assign(model="x")])
PART = PART.reset_index(names="doc")[lambda frame: frame["model"] == "x"]


class Column(Sequence):
    """A column of a Hugging Face data set: a sequence, and no list."""

    def __init__(self, values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def __getitem__(self, index):
        return self.values[index]


class DataSet(Column):
    """A Hugging Face data set, which may give its rows as frames."""

    column_names = ("system", "input", "summary")

    def with_format(self, name):
        return DataSet([pandas.DataFrame([row]) for row in self] if name else ROWS)


class Splits(dict):
    """All splits of a Hugging Face data set."""

    with_format = None


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Paths of the same data."""
    folder = tmp_path_factory.mktemp("shapes")
    lines = "".join(f"{json.dumps(row)}\n" for row in mixed(ROWS))
    (folder / "long.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    (folder / "long.ndjson").write_text(lines)
    (folder / "array.json").write_text(json.dumps(mixed(ROWS), indent=1))
    (folder / "truths.txt").write_text("".join(f"{text}\n" for text in TRUTHS))
    write_lines(folder / "truths.jsonl", IN_ROWS)
    LONG.to_csv(folder / "long.csv", sep=";", encoding="utf-16", index=False)
    LONG.to_csv(folder / "long.tsv", sep="\t", encoding="utf-8-sig")
    LONG.to_parquet(folder / "long.parquet")
    WIDE.rename_axis("doc").to_csv(folder / "wide.csv")

    (folder / "lines").mkdir()
    (folder / "lines" / ".DS_Store").write_bytes(b"\0\xff")
    (folder / "tables").mkdir()
    for system, texts in TEXTS.items():
        text = "".join(f"{one}\n" for one in texts.values())
        (folder / "lines" / f"{system}.txt").write_text(text)
        rows = [{"input": name, "summary": one} for name, one in texts.items()]
        write_lines(folder / "tables" / f"{system}.v1.jsonl", mixed(rows))
        texts_folder(folder / "texts" / system, texts)
    return folder


def sources(data, references=TRUTH, **more):
    return {"data": data, "references": references, **more}


WIDE_COLUMNS = {"columns": {"input": "doc", "system": ["a", "b"]}}
BY_ID = {
    "dicts": sources({s: dict(mixed(t.items())) for s, t in TEXTS.items()}),
    "rows": sources(mixed(ROWS), mixed(IN_ROWS)),
    "long frame": sources(LONG),
    "long frame, id": sources(LONG.rename(columns={"input": "ID"})),
    "long frame, columns": sources(
        LONG.rename(columns={"input": "doc", "summary": "out"}),
        columns={"input": "doc", "summary": "out"},
    ),
    "long frame, other order": sources(LONG[["summary", "input", "system"]]),
    "frame with a column that is called as the source": sources(
        LONG, pandas.DataFrame({"input": IDS, "references": [[t] for t in TRUTHS]})
    ),
    "levels": sources(LEVELS),
    "series with levels": sources(LEVELS["summary"]),
    "pivoted": sources(LEVELS["summary"].unstack("system")),
    "pivoted, two levels of columns": sources(
        LONG.pivot(index="input", columns="system"),
        renamed={"summary_a": "a", "summary_b": "b"},
    ),
    "grouped": sources(LONG.groupby(["system", "input"])["summary"].first()),
    "wide, ids from the index": sources(WIDE.loc[mixed(IDS)]),
    "wide, named index": sources(
        WIDE.rename_axis("doc"), pandas.Series(TRUTH).rename_axis("other")
    ),
    "wide beside a part of itself": sources(
        PART[["a", "b"]], PART["doc"].map(TRUTH)[::-1]
    ),
    "wide, columns": sources(WIDE.rename_axis("doc").reset_index(), **WIDE_COLUMNS),
    "wide, systems called as columns": sources(
        WIDE.rename(columns={"a": "input", "b": "label"}).reset_index(names="doc"),
        columns={"input": "doc", "system": ["input", "label"]},
        renamed={"input": "a", "label": "b"},
    ),
    "systems called as columns": sources(
        {"input": TEXTS["a"], "human": TEXTS["b"]},
        renamed={"input": "a", "human": "b"},
    ),
    "series": sources(SERIES, pandas.Series(TRUTH)),
    "frames by system": sources({s: v.to_frame("summary") for s, v in SERIES.items()}),
    "polars": sources(polars.DataFrame(mixed(ROWS)), polars.DataFrame(IN_ROWS)),
    "polars, planned": sources(polars.LazyFrame(mixed(ROWS))),
    "Arrow": sources(pyarrow.Table.from_pylist(mixed(ROWS))),
    "data set": sources(DataSet(ROWS)),
    "data set of frames": sources(DataSet(ROWS).with_format("pandas")),
    "columns": sources(LONG.to_dict("list")),
    "columns of arrays": sources({key: np.array(LONG[key]) for key in LONG}),
    "columns of series": sources({key: LONG[key] for key in LONG}),
    "records": sources(lp.load(TEXTS).summaries, lp.load(references=TRUTH).references),
    "data": sources(lp.load(TEXTS), lp.load(references=TRUTH)),
    "CSV, semicolons, UTF-16": sources("long.csv"),
    "TSV, an index": sources("long.tsv"),
    "CSV wide, columns": sources("wide.csv", **WIDE_COLUMNS),
    "Parquet": sources("long.parquet"),
    "JSON Lines, compressed": sources("long.jsonl.gz"),
    "JSON Lines": sources("long.ndjson", "truths.jsonl"),
    "JSON array": sources("array.json"),
    "folder of tables": sources("tables", renamed={"a.v1": "a", "b.v1": "b"}),
    "folder of folders of texts": sources("texts"),
    "ids beside lists": sources(LISTS, ids=IDS),
    "ids beside lists, in a column": sources(LISTS, ids=pandas.Series(IDS)),
    "units": {"data": TEXTS, "units": dict(mixed(UNITS.items()))},
    "units of a column": {"data": LONG, "units": pandas.Series(UNITS)},
    "units one a row": {
        "data": LONG,
        "units": pandas.DataFrame(IN_ROWS).rename(columns={"reference": "unit"}),
    },
    "columns of another source": {
        "data": LONG,
        "references": pandas.DataFrame(IN_ROWS).set_axis(["doc", "gold"], axis=1),
        "columns": "references.input=doc, references.reference=gold",
    },
    "all in one": {
        "data": LONG.assign(reference=LONG["input"].map(TRUTH), length=3.5)
    },
    "all in one, of no system": {
        "data": [{"id": name, "summary": TEXTS["a"][name], "reference": text}
                 for name, text in TRUTH.items()],
        "renamed": {"system": "a"},
    },
}  # fmt: skip
BY_ORDER = {
    "lists": sources(LISTS, TRUTHS),
    "tuples and generators": sources(
        {s: iter(texts) for s, texts in LISTS.items()}, (text for text in TRUTHS)
    ),
    "arrays": sources(
        {s: np.array(texts, dtype=object) for s, texts in LISTS.items()},
        np.array(TRUTHS),
    ),
    "columns of libraries": sources(
        {"a": pyarrow.array(LISTS["a"]), "b": polars.Series(LISTS["b"])},
        pyarrow.chunked_array([TRUTHS[:1], TRUTHS[1:]]),
    ),
    "columns of a data set": sources(
        {s: Column(texts) for s, texts in LISTS.items()}, Column(TRUTHS)
    ),
    "values of a dict": sources(
        {s: TEXTS[s].values() for s in TEXTS}, TRUTH.values()
    ),
    "counted series": sources(
        {s: COUNTED[s] for s in "ab"}, pandas.Series(TRUTHS)
    ),
    "counted frame": sources(COUNTED, TRUTHS),
    "counted frame, filtered": sources(
        COUNTED[COUNTED["a"] != ""], pandas.Series(TRUTHS)
    ),
    "frame of references": sources(LISTS, pandas.DataFrame({"reference": TRUTHS})),
    "wide with references": {
        "data": COUNTED.assign(gold=TRUTHS),
        "columns": "system=a+b,reference=gold",
    },
    "lines": sources("lines", "truths.txt"),
    "units": {"data": LISTS, "units": [[text] for text in TRUTHS]},
    "one list": {"data": LISTS["a"], "references": TRUTHS, "renamed": {"system": "a"}},
}  # fmt: skip
REFUSED = {
    "lists beside ids": sources(LISTS),
    "a frame with ids beside a list": sources(LONG, TRUTHS),
    "ids beside a list": sources([{"system": "a", "input": "d", "summary": "x"}], ["x"]),
    "a sorted column beside a list": sources(
        {"a": COUNTED["a"].sort_values()}, TRUTHS
    ),
    "a sorted frame beside a list": sources(
        COUNTED.sort_values("a", ignore_index=False)[["a"]], TRUTHS
    ),
    "other ids": sources(TEXTS, {"d1": "x", "d2": "y", "d9": "z"}),
    "fewer references": sources(TEXTS, {"d1": "x", "d2": "y"}),
    "more references": sources(TEXTS, TRUTH | {"d9": "z"}),
    "a summary twice": sources([*ROWS, ROWS[0]]),
    "no known column": sources(LONG.rename(columns={"summary": "out"})),
    "no summary": sources(LONG.drop(columns="summary")),
    "labels for summaries": sources([{"input": i, "label": 1} for i in IDS]),
    "units for summaries": sources([{"input": i, "unit": "x"} for i in IDS]),
    "scores for summaries": sources([{"input": i, "human": 0.5} for i in IDS]),
    "wide with labels": sources(WIDE.assign(label=1)),
    "dicts by id under names of columns": sources(LONG.to_dict(), {0: "x", 1: "y"}),
    "a set": sources({"a": {*TRUTHS}}, TRUTHS),
    "splits": sources(Splits(test=DataSet(ROWS), train=DataSet(ROWS))),
    "a text for a path": sources("It rained.", ["x"]),
    "lists of other lengths": sources({"a": ["x", "y"], "b": ["x"]}, ["x", "y"]),
    "units in one list": {"data": {"a": ["x", "y"]}, "units": ["It rained.", "No."]},
    "one key called summary": sources({"summary": TRUTHS}, TRUTHS),
    "paths as texts": sources(["long.ndjson"], ["x"]),
    "an input of none": sources([*ROWS, {"system": "a", "summary": "x"}]),
    "a file with no ending of ours": sources("long.xlsx"),
}  # fmt: skip


def load(told, files, monkeypatch):
    """Loads sources, and gives the texts of systems under their true names."""
    monkeypatch.chdir(files)
    names = told.get("renamed", {})
    data = lp.load(**{key: one for key, one in told.items() if key != "renamed"})
    texts = {(names.get(s, s), i): text for (s, i), text in texts_of(data).items()}
    return texts, units_of(data) | references_of(data), data


@pytest.mark.parametrize("name", BY_ID)
def test_what_has_ids_is_joined_by_them(name, files, monkeypatch):
    texts, truth, data = load(BY_ID[name], files, monkeypatch)
    ids = {*truth}
    systems = {system for system, _ in texts}
    # The index of a part of a frame is ids too.
    named = {key: text.split()[-1] for key, text in texts.items()}
    assert {name: [own.split()[-1] for own in one] for name, one in truth.items()} == {
        name: [named["a", name]] for name in ids
    }
    assert texts == {(s, i): f"{s} on {named['a', i]}" for s in systems for i in ids}
    assert (len(ids), "by" in data.plan[-1]) == (3, True)


@pytest.mark.parametrize("name", BY_ORDER)
def test_what_has_no_ids_goes_by_its_order(name, files, monkeypatch):
    texts, truth, data = load(BY_ORDER[name], files, monkeypatch)
    assert truth == {str(n): [text] for n, text in enumerate(TRUTHS, start=1)}
    for (system, number), text in texts.items():
        assert text == LISTS[system][int(number) - 1]
    assert "by order" in data.plan[-1]


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_understood_is_refused(name, files, monkeypatch):
    with refused():
        load(REFUSED[name], files, monkeypatch)


@pytest.mark.parametrize("again", ["d1", "d1 "])
def test_several_references_of_an_input(again):
    """A list, rows, or an index that comes again."""
    texts = {"a": {"d1": "x"}}
    rows = [("d1", "truth"), ("d1", "again")]
    columns = pandas.DataFrame(rows, columns=["input", "reference"])
    for references in (
        {"d1": ["truth", "again"]},
        columns,
        columns.set_index("input"),
        pandas.Series(["truth", "again"], ["d1", "d1"]),
        [{"input": "d1", "references": ["truth", "again"]}],
    ):
        assert references_of(lp.load(texts, references=references)) == {
            "d1": ["truth", "again"]
        }
    for data in (
        LONG.assign(input="d1"),
        {"a": pandas.Series(["x", "y"], ["d1", "d1"])},
    ):
        with refused():
            lp.load(data, references={"d1": "truth"})
