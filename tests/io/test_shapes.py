"""A column of any library is a list, wherever a list may stand."""

from collections.abc import Sequence

import numpy as np
import pytest

import litepyramid as lp

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
