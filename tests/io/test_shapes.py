"""A column of any library is a list, wherever a list may stand."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from cases import refused

import litepyramid as lp

FILES = Path(__file__).resolve().parents[1] / "data" / "formats"
pandas = pytest.importorskip("pandas")
arrow = pytest.importorskip("pyarrow")

TEXTS = ["It rained. We left.", "The sun came."]
UNITS = [["It rained.", "We left."], ["The sun came."]]
LABELS = [[1, 0.5], [1]]
PRESENCE = [[0.5, 0.0], [1.0]]


class Column(Sequence):
    """A column of a Hugging Face data set: a sequence, and no list."""

    def __init__(self, values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def __getitem__(self, index):
        return self.values[index]


def array(values):
    """An array of objects: its rows may be of several lengths."""
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return made


SHAPES = {
    "tuple": tuple,
    "generator": iter,
    "series": pandas.Series,
    "series of a part": lambda values: pandas.Series([None, *values])[1:],
    "array": array,
    "arrow": arrow.array,
    "arrow in chunks": lambda values: arrow.chunked_array([values]),
    "sequence": Column,
    "values of a dict": lambda values: dict(enumerate(values)).values(),
}

CALLS = {
    "references": lambda shape: lp.load(references=shape(TEXTS)).references,
    "lists of references": lambda shape: lp.load(references=shape(UNITS)).references,
    "units": lambda shape: lp.load(shape(UNITS)).units,
    "units of an input": lambda shape: lp.load([shape(own) for own in UNITS]).units,
    "units by input": lambda shape: lp.load({"x": shape(UNITS[0])}).units,
    "one system": lambda shape: lp.load(UNITS, summaries=shape(TEXTS)).summaries,
    "systems": lambda shape: lp.load(UNITS, summaries={"a": shape(TEXTS)}).summaries,
    "labels": lambda shape: lp.load(UNITS, labels={"a": shape(LABELS)}).labels,
    "presence": lambda shape: lp.load(
        UNITS, presence={"a": shape(PRESENCE)}
    ).presence.values.tolist(),
    "ids": lambda shape: lp.load(UNITS, ids=shape(["x", "y"])).inputs,
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("call", CALLS)
def test_a_column_of_any_library_is_a_list(call, shape):
    assert CALLS[call](SHAPES[shape]) == CALLS[call](list)


def test_a_named_index_holds_the_ids():
    index = pandas.Index(["x", "y"], name="doc")
    texts = pandas.Series(TEXTS, index)
    units = pandas.Series(UNITS, index)
    data = lp.load(units, summaries={"a": texts[::-1]}, references=texts)
    assert data.inputs == ("x", "y")
    assert data.summaries[0].texts == tuple(TEXTS)


@pytest.mark.parametrize("missing", [None, np.nan, pandas.NA])
def test_a_missing_text_is_null(missing):
    column = pandas.Series(["It rained. We left.", missing])
    data = lp.load(UNITS, summaries={"a": column}, nulls="missing")
    assert data.summaries[0].missing == ("2",)


HEALTHBENCH = [
    json.loads(line) for line in (FILES / "healthbench.jsonl").read_text().splitlines()
]
RAGAS = {"user_input": ["Wet?", "Sun?"], "response": TEXTS, "reference": TEXTS}
TABLES = {
    "mapped": (
        {"doc": ["1", "2"], "bart": TEXTS, "t5": TEXTS[::-1]},
        lambda table: lp.load(UNITS, summaries=table, columns="input=doc,system=bart+t5"),
    ),
    "scores": (
        {"system": ["a", "b"], "m": [0.1, 0.2], "human": [0.3, 0.4]},
        lambda table: lp.read_scores(table).values.tolist(),
    ),
    "rubric": ({"weight": [5], "requirement": ["It rained"]}, lp.load),
    "HealthBench": (pandas.DataFrame(HEALTHBENCH).to_dict("list"), lp.load),
    "ragas": (RAGAS, lp.load),
    "scores of ragas": (
        {**RAGAS, "faithfulness": [0.1, 0.2]},
        lambda table: lp.read_scores(table).values.tolist(),
    ),
    "documents": (
        {"question": ["Wet?", "Sun?"], "answer": TEXTS, "contexts": UNITS},
        lambda table: lp.precision(
            {"a": TEXTS}, documents=table, judge="recall", samples=50
        ).scores,
    ),
    "references alone": (
        {"reference": TEXTS},
        lambda table: lp.load(references=table),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_a_dict_of_columns_is_the_frame_of_these_columns(name):
    columns, read = TABLES[name]
    assert read(columns) == read(pandas.DataFrame(columns))


def test_a_dict_of_systems_stays_one():
    for names in (("human", "system"), ("reference", "bart"), ("1", "weight")):
        data = lp.load(UNITS, summaries=dict.fromkeys(names, TEXTS))
        assert data.systems == names


@pytest.mark.parametrize(
    ("source", "table", "line"),
    [
        ("units", {"weight": [1, 2], "demand": TEXTS}, "unit=demand"),
        ("references", {"ref1": TEXTS, "ref2": TEXTS}, "reference=ref1"),
        ("documents", {"page": TEXTS}, "document=page"),
    ],
)
def test_a_hint_names_the_column_of_what_was_read(source, table, line):
    sources = {"references": TEXTS, source: pandas.DataFrame(table)}
    if source == "units":
        del sources["references"]
    verb = lp.precision if source == "documents" else lp.score
    with refused(f'Add --columns {line} .in Python columns="{line}"'):
        verb({"a": TEXTS}, judge="recall", **sources)


def test_an_empty_cell_is_to_be_filled():
    table = {"doc": ["x", "y"], "reference": [TEXTS[0], None]}
    with refused("Fill the empty cell"):
        lp.load(references=pandas.DataFrame(table), columns="input=doc")
