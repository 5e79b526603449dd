"""A column of any library is a list, wherever a list may stand."""

import json
import os
from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import pytest
from cases import refused, same

import litepyramid as lp
from litepyramid.types import SystemLabels

pandas = pytest.importorskip("pandas")
arrow = pytest.importorskip("pyarrow")

TEXTS = ["It rained. We left.", "The sun came."]
ID_ROWS = [
    {"id": "x", "summary": TEXTS[0]},
    {"id": "y", "summary": TEXTS[1]},
]
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


class DataSet(Column):
    """A Hugging Face data set, which may give its rows as frames."""

    column_names = ("id", "summary")

    def with_format(self, name):
        return DataSet([pandas.DataFrame([row]) for row in self] if name else ID_ROWS)


class Splits(dict):
    with_format = None


class Planned:
    """A frame that polars has only planned: to ask for its columns costs."""

    def collect_schema(self):
        raise AssertionError

    def lazy(self):
        return self

    def collect(self):
        return arrow.Table.from_pylist(ID_ROWS)


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
    "index": lambda values: pandas.Index(array(values)),
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
    "one system": lambda shape: lp.load(units=UNITS, data=shape(TEXTS)).summaries,
    "systems": lambda shape: lp.load(units=UNITS, data={"a": shape(TEXTS)}).summaries,
    "labels": lambda shape: lp.load(UNITS, labels={"a": shape(LABELS)}).labels,
    "presence": lambda shape: lp.load(
        UNITS, presence={"a": shape(PRESENCE)}
    ).presence.values.tolist(),
    "ids": lambda shape: lp.load(UNITS, ids=shape(["x", "y"])).inputs,
}


@pytest.mark.parametrize("call", CALLS)
def test_a_column_of_any_library_is_a_list(call):
    read = CALLS[call]
    expected = read(list)
    for name, shape in SHAPES.items():
        assert read(shape) == expected, name


NAMES = ["x", "y", "z"]
FRAME = pandas.DataFrame(
    {
        "a": ["It rained.", "We left.", "He slept."],
        "b": ["She came.", "We left.", "Snow fell."],
    },
    NAMES,
)
REFERENCES = pandas.Series(["It rained.", "We left.", "Snow fell."], NAMES)
OWN = FRAME.to_dict()
LONG = FRAME.stack().rename_axis(["input", "system"]).reset_index(name="summary")
REVERSED = dict(REFERENCES[::-1])


@pytest.mark.parametrize("name", [None, "doc"])
def test_ids_that_come_again_have_several_references(name):
    again = REFERENCES.str.replace("It", "Rain")
    both = pandas.concat([REFERENCES, again[::-1]]).rename_axis(name)
    data = lp.load(data=OWN, references=both)
    expected = lp.load(references={n: [REFERENCES[n], again[n]] for n in NAMES})
    assert data.references == expected.references


def test_what_can_be_read_once_is_read_once_beside_an_index():
    rows = [{"input": name, "units": [text]} for name, text in REVERSED.items()]
    reads, writes = os.pipe()
    os.write(writes, "\n".join(map(json.dumps, rows)).encode())
    os.close(writes)
    iterators = {name: iter([text]) for name, text in REVERSED.items()}

    for units in (f"/dev/fd/{reads}", iterators):
        data = lp.load(units=units, data=FRAME)
        assert [entry.texts for entry in data.units] == [
            (t,) for t in REVERSED.values()
        ]
        assert data.summaries[0].texts == tuple(FRAME["a"][::-1])

    data = lp.load(data={"a": iter(FRAME["a"])}, references=REFERENCES)
    assert data.summaries[0].texts == tuple(FRAME["a"])


def test_rows_that_are_counted_go_by_their_order():
    counted = FRAME.reset_index(drop=True)
    data = lp.load(data=counted, references=REVERSED)
    assert data.summaries[0].texts == tuple(FRAME["a"])

    # Parts of one frame, one a system: they share no row.
    parts = {
        "a": FRAME["a"].set_axis([0, 2, 4]),
        "b": FRAME["b"].set_axis([1, 3, 5]),
    }
    data = lp.load(data=parts, references=[*REFERENCES])
    assert data.inputs == ("1", "2", "3")

    by_number = {2: "Snow fell.", 0: "It rained.", 1: "We left."}
    data = lp.load(data=counted, references=by_number)
    assert data.inputs[0] == "2"
    assert data.summaries[1].texts[0] == "Snow fell."


@pytest.mark.parametrize("references", [REFERENCES, REVERSED, dict(REFERENCES)])
def test_other_ids_are_refused(references):
    other = FRAME.rename(index={"x": "w"})
    with refused("holds 'y' but not '[wx]'"):
        lp.load(data=other, references=references)


def test_a_list_beside_ids_is_noted():
    column = pandas.DataFrame({"reference": [*REFERENCES]})
    for references in (list(REFERENCES), REFERENCES.to_numpy(), column):
        data = lp.load(data=LONG, references=references)
        assert any("has no ids" in note for note in data.notes)
    data = lp.load(data=LONG, references=REVERSED)
    assert not any("has no ids" in note for note in data.notes)


def test_documents_go_by_the_index_too():
    def faithful(data, documents):
        options = {"judge": "recall", "samples": 40}
        return lp.precision(data, documents=documents, **options).scores

    expected = faithful(OWN, REVERSED)
    for data in (FRAME, LONG):
        for documents in (REFERENCES, REFERENCES[::-1], REVERSED):
            assert faithful(data, documents) == expected


def test_scores_in_frames_go_by_their_labels():
    values = np.random.default_rng(0).random((4, 3))
    metric = pandas.DataFrame(values, list("abcd"), NAMES)
    human = metric + np.linspace(0, 0.4, 12).reshape(4, 3)

    def found(x, y):
        return lp.meta.correlate(x, y).to_frame()["value"].tolist()

    expected = found(metric, human.to_numpy())
    assert found(metric, human) == expected
    assert found(metric, human.iloc[::-1, ::-1]) == expected
    counted = metric.set_axis(pandas.RangeIndex(3), axis=1)
    assert found(counted, human.iloc[::-1]) == expected
    assert found(metric["x"], human["x"][::-1]) == found(metric["x"], human["x"])
    with refused("other systems or inputs"):
        found(metric, human.rename(index={"a": "e"}))


@pytest.mark.parametrize("columns", [{"unit": "fact", "wieght": "w"}, "systems=m"])
def test_columns_of_no_meaning_are_refused_in_a_dict_too(columns):
    rows = [{"doc": "7", "fact": "It rained.", "w": 9}]
    with refused("cannot be read at"):
        lp.load(rows, columns=columns)
    assert lp.load(rows, columns={"id": "doc", "unit": "fact"}).inputs == ("7",)


MISSING = [
    None,
    np.nan,
    np.float32("nan"),
    Decimal("nan"),
    pandas.NA,
    pandas.NaT,
]


@pytest.mark.parametrize("missing", MISSING)
def test_what_is_missing_is_null_by_every_door(missing):
    texts = ["It rained. We left.", missing]
    frame = pandas.DataFrame({"system": "a", "id": ["1", "2"], "summary": texts})
    tables = [frame, frame.to_dict("records"), frame.to_dict("list")]
    columns = [
        pandas.Series(texts),
        texts,
        {"1": texts[0], "2": missing},
        array(texts),
    ]
    for summaries in tables + [{"a": column} for column in columns]:
        data = lp.load(units=UNITS, data=summaries, nulls="missing")
        assert data.summaries[0].missing == ("2",)

    for rows in ([[1, missing]], array([[1, missing]])):
        for many in ("labels", "presence"):
            same(judged(many, {"a": rows}), [1, np.nan])

    frame = pandas.DataFrame({"system": "a", "input": ["1", "2"], "m": [0.5, missing]})
    for scores in (frame, frame.to_dict("records")):
        same(lp.read_scores(scores).values, [[[0.5, np.nan]]])
    metric, _ = lp.read_scores([0.5, missing], [1, 2]).values
    same(metric.ravel(), [0.5, np.nan])


def test_a_decimal_is_a_number():
    half = Decimal("0.5")
    halves = [half, half]
    rows = arrow.table({"system": ["a"], "input": ["1"], "m": [half]})
    assert lp.read_scores(rows).values == 0.5
    table = [{"system": "a", "input": "1", "presence": halves}]
    for value in (table, {"a": [halves]}, {"a": arrow.array([halves])}):
        assert judged("presence", value) == [0.5, 0.5]


FACTS = UNITS[0]
TRUE_FALSE = [True, False]


def judged(many, value):
    """The labels, or the presence, of the two units of one system."""
    source = {many: value}
    data = lp.load([FACTS], **source)
    of_labels = data.labels[0].labels[0] if data.labels else ()
    return [*of_labels] if many == "labels" else data.presence.values[0].tolist()


@pytest.mark.parametrize(("one", "many"), [("label", "labels"), ("presence",) * 2])
def test_true_is_one_and_false_zero_by_every_door(one, many, tmp_path):
    """`one` and `many` are the names of a column of values, and of lists of them."""
    about = {"system": "a", "input": "1"}
    frame = pandas.DataFrame({**about, "unit": FACTS, one: TRUE_FALSE})
    doors = {
        "list": {"a": [TRUE_FALSE]},
        "dict": {"a": {"1": TRUE_FALSE}},
        "numpy": {"a": np.array([TRUE_FALSE])},
        "scalars": {"a": [[np.True_, np.False_]]},
        "rows": [{**about, many: TRUE_FALSE}],
        "frame": frame,
    }
    written = {
        "cells.csv": frame.to_csv(index=False),
        "lists.csv": f'system,input,{many}\na,1,"{TRUE_FALSE}"\n',
        "lines.txt": "True\tFalse\n",
        "a.jsonl": f'{{"input": "1", "{many}": [true, false]}}\n',
    }
    for name, text in written.items():
        doors[name] = tmp_path / name
        doors[name].write_text(text)

    for door, value in doors.items():
        assert judged(many, value) == [1, 0], door


def test_the_median_of_true_and_false_is_a_part(tmp_path):
    path = tmp_path / "raters.csv"
    path.write_text(
        "system,input,unit,annotator,label\n"
        "a,1,It rained.,x,True\na,1,It rained.,y,False\n"
        "a,1,We left.,x,TRUE\na,1,We left.,y,TRUE\n"
    )
    assert judged("labels", path) == [0.5, 1]


RAGAS = {"user_input": ["Wet?", "Sun?"], "response": TEXTS, "reference": TEXTS}
TABLES = {
    "mapped": (
        {"doc": ["1", "2"], "bart": TEXTS, "t5": TEXTS[::-1]},
        lambda table: lp.load(
            units=UNITS, data=table, columns="input=doc,system=bart+t5"
        ),
    ),
    "rubric": ({"weight": [5], "requirement": ["It rained"]}, lp.load),
    "scores of ragas": (
        {**RAGAS, "faithfulness": [0.1, 0.2]},
        lambda table: lp.read_scores(table).values.tolist(),
    ),
    "documents": (
        {"question": ["Wet?", "Sun?"], "answer": TEXTS, "contexts": UNITS},
        lambda table: (
            lp.precision(
                {"a": TEXTS}, documents=table, judge="recall", samples=50
            ).scores
        ),
    ),
    "references alone": (
        {"reference": TEXTS},
        lambda table: lp.load(references=table),
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_dict_of_columns_is_the_frame_of_these_columns(name):
    columns, read = TABLES[name]
    assert read(columns) == read(pandas.DataFrame(columns))


def test_a_dict_of_systems_stays_one():
    for names in (("human", "system"), ("reference", "bart"), ("1", "weight")):
        data = lp.load(units=UNITS, data=dict.fromkeys(names, TEXTS))
        assert data.systems == names


@pytest.mark.parametrize(
    ("source", "table", "line"),
    [
        ("units", {"weight": [1, 2], "demand": TEXTS}, "unit=demand"),
        ("documents", {"page": TEXTS}, "document=page"),
    ],
)
def test_a_hint_names_the_column_of_what_was_read(source, table, line):
    verb = lp.precision if source == "documents" else lp.score
    with refused(f'Add --columns {line} .in Python columns="{line}"'):
        verb({"a": TEXTS}, judge="recall", **{source: pandas.DataFrame(table)})


def test_the_table_of_a_system_is_read_under_its_name():
    units = {"x": UNITS[0], "y": UNITS[1]}
    expected = lp.load(units=units, data={"a": {"x": TEXTS[0], "y": TEXTS[1]}})
    for table in (
        ID_ROWS,
        iter(ID_ROWS),
        pandas.DataFrame(ID_ROWS),
        arrow.Table.from_pylist(ID_ROWS),
        Planned(),
        DataSet(ID_ROWS),
        DataSet(ID_ROWS).with_format("pandas"),
    ):
        found = lp.load(units=units, data={"a": table})
        assert found.summaries == expected.summaries

    labels = pandas.DataFrame({"input": "x", "unit": UNITS[0], "label": 1})
    found = lp.load({"x": UNITS[0]}, labels={"a": labels})
    assert found.labels == (SystemLabels("a", ("x",), ((1, 1),)),)


def test_which_split_is_to_be_taken():
    splits = Splits(test=DataSet(ID_ROWS), train=DataSet(ID_ROWS))
    for key in ("references", "summaries", "units"):
        with refused(r"of the splits test, train.*data\['test'\]"):
            lp.load(**{key: splits})
