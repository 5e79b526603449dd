"""One data set in every shape is the same data, and every value of it counts."""

import io
from decimal import Decimal

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from cases import cases, quick_score, refused, same, write_lines
from door.holding import (
    held,
    references_of,
    same_data,
    texts_of,
    units_of,
    values_of,
)
from hypothesis import given, settings
from hypothesis import strategies as st

import litepyramid as lp

UNITS = {"1": ["It rained.", {"text": "It was cold.", "weight": 2}], "2": ["We left."]}
SUMMARIES = {"a": ["It rained.", "We left."], "b": ["", "It rained."]}
LABELS = {"a": [[1, 0], [1]], "b": [[0, 0], [0]]}
REFERENCES = {"1": ["It rained. It was cold."], "2": ["We left. We slept."]}
# The same in one table.
TABLE = """\
system,input,summary,reference,unit,weight,label
a,1,It rained.,It rained. It was cold.,It rained.,1,1
a,1,It rained.,It rained. It was cold.,It was cold.,2,0
a,2,We left.,We left. We slept.,We left.,1,1
b,1,,It rained. It was cold.,It rained.,1,0
b,1,,It rained. It was cold.,It was cold.,2,0
b,2,It rained.,We left. We slept.,We left.,1,0
"""
FRAME = pandas.read_csv(io.StringIO(TABLE), keep_default_na=False)
ROWS = FRAME.to_dict("records")
IDS = ["1", "2"]


@pytest.fixture(scope="module")
def whole():
    by_id = {s: dict(zip(IDS, texts, strict=True)) for s, texts in SUMMARIES.items()}
    return lp.load(by_id, UNITS, labels=LABELS, references=REFERENCES, ids=IDS)


def test_one_set_of_data_in_every_shape(tmp_path, whole):
    assert (whole.systems, whole.inputs) == (("a", "b"), ("1", "2"))
    (tmp_path / "all.csv").write_text(TABLE)
    path = tmp_path / "all.csv"
    lines = write_lines(tmp_path / "all.jsonl", ROWS)
    table = pyarrow.Table.from_pylist(ROWS)
    many = lp.load(path, path, references=path, labels=path)
    one = (ROWS, FRAME, FRAME.to_dict("list"), polars.from_arrow(table), table, lines)
    for again in (many, *map(lp.load, (*one, path, str(path), [path]))):
        # An empty cell of a table is a missing answer, which is read as an empty one.
        assert same_data(again, whole)

    names = {"unit": "fact", "label": "gold", "input": "doc"}
    mapped = FRAME.rename(columns=names)
    for columns in (names, "unit=fact, label=gold, input=doc"):
        assert same_data(lp.load(mapped, columns=columns), whole)
    relabelled = lp.load(FRAME, labels={"a": {"1": [0, 0], "2": [0]}})
    assert relabelled.labels.values.tolist() == [[0, 0, 0]]


def test_tables_one_after_the_other_are_read_together(tmp_path, whole):
    """The rows of a file name their systems; if they do not, the file does."""
    files = [tmp_path / "x.jsonl", tmp_path / "y.jsonl"]
    write_lines(files[0], ROWS[:3])
    write_lines(files[1], ROWS[3:])
    assert same_data(lp.load(files), whole)
    assert same_data(lp.load(tmp_path), whole)
    write_lines(files[1], [ROWS[-1] | {"unit": "It snowed."}])
    with refused(r"y.jsonl:1|units of input '2'"):
        lp.load(files)

    for path, rows in zip(files, (ROWS[:3], ROWS[3:]), strict=True):
        unnamed = [{k: v for k, v in row.items() if k != "system"} for row in rows]
        write_lines(path, unnamed)
    assert lp.load(tmp_path).systems == ("x", "y")
    tables = {"a": pandas.DataFrame(ROWS[:3]), "b": ROWS[3:]}
    assert same_data(lp.load(tables), whole)


@settings(max_examples=20)
@given(st.permutations(ROWS), st.permutations([*FRAME]))
def test_no_order_of_rows_or_columns_changes_anything(rows, columns):
    again = lp.load(pandas.DataFrame(rows)[columns])
    assert again.units.sha == lp.load(ROWS).units.sha
    assert same_data(again, lp.load(ROWS))


@pytest.mark.parametrize(
    ("column", "value", "part", "shared_by"),
    cases(
        """
unit      | It snowed. | units      | input unit
weight    | 7          | units      | input unit
reference | It snowed. | references | input
summary   | It snowed. | summaries  | system input
label     | 0.5        | labels     | system input unit
presence  | 0.99       | presence   | system input unit
"""
    ),
)
def test_every_value_counts(column, value, part, shared_by):
    """`shared_by`: which columns tell the rows that must have the same value."""
    frame = FRAME.assign(presence=FRAME.label).astype({column: object})
    before = held(lp.load(frame))[part]
    for _, rows in frame.groupby(shared_by.split()):
        changed = frame.copy()
        changed.loc[rows.index, column] = value
        assert held(lp.load(changed))[part] != before
        # In one of the rows alone it contradicts the others.
        if len(rows) > 1:
            changed = frame.copy()
            changed.loc[rows.index[0], column] = value
            with refused():
                lp.load(changed)


@pytest.mark.parametrize("name", ["question", "query", "prompt"])
def test_a_question_comes_with_units_references_or_answers(name):
    question = {name: "When?"}
    answer = {"input": "a", "summary": "x."}
    for part in ("units", "references"):
        row = {"input": "a", part: ["x."]}
        for source, text in ((row | question, answer), (row, answer | question)):
            data = lp.load([text], **{part: [source]})
            assert [one.question for one in getattr(data, part)] == ["When?"]

    rows = [answer | question | {"system": system} for system in "st"]
    data = lp.load(rows, {"a": ["x."]})
    assert data.units.inputs_sha != lp.load(units={"a": ["x."]}).units.inputs_sha
    with refused("another question"):
        lp.load([rows[0], rows[1] | {name: "Why?"}], {"a": ["x."]})


def array(values):
    """An array of objects, which may be lists of several lengths."""
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return made


@pytest.mark.parametrize(
    "missing",
    [None, np.nan, np.float32("nan"), Decimal("nan"), pandas.NA, pandas.NaT],
    ids=repr,
)
def test_what_is_missing_is_null_by_every_door(missing):
    texts = ["It rained.", missing]
    units = [["It rained."], ["We left."]]
    frame = pandas.DataFrame({"system": "a", "id": ["1", "2"], "summary": texts})
    wide = frame.rename(columns={"summary": "a"})[["a"]]
    columns = [pandas.Series(texts), texts, {"1": texts[0], "2": missing}, array(texts)]
    tables = [frame, frame.to_dict("records"), frame.to_dict("list"), wide]
    for data in tables + [{"a": column} for column in columns]:
        zero = lp.load(data, units, ids=IDS)
        assert texts_of(zero) == {("a", "1"): "It rained.", ("a", "2"): ""}
        assert "1 answer is missing" in zero.notes[0]
        loaded = lp.load(data, units, ids=IDS, nulls="missing")
        assert texts_of(loaded)["a", "2"] is None
        assert loaded.summaries.sha != zero.summaries.sha

    for values in ([[1, missing]], array([[1, missing]])):
        for role in ("labels", "presence"):
            same(values_of({"a": values}, [["x", "y"]], role), [1, np.nan])


def test_absent_answers_are_missing_if_told_so():
    rows = [{"system": "s", "input": 1, "summary": "It rained."}]
    units = {"1": ["It rained."], "2": ["We left."]}
    missing = lp.load(rows, units, nulls="missing")
    null = lp.load(
        [*rows, {"system": "s", "input": 2, "summary": None}], units, nulls="missing"
    )
    assert same_data(missing, null)
    with refused("no summary of input '2'"):
        lp.load(rows, units)
    with refused():
        lp.load([*rows, {"system": "s", "input": 2}], units)


RATED = """\
system,input,summary,annotator,unit,label
s,1,x,ann,a,1
s,1,x,ann,b,0
s,1,x,bob,a,0
s,1,x,bob,b,0
s,1,x,cy,b,0
s,1,x,cy,a,1
"""
IN_LISTS = """\
system,input,summary,annotator,units,labels
s,1,x,ann,"['a', 'b']","[1, 0]"
s,1,x,bob,"['a', 'b']","[False, False]"
s,1,x,cy,"['b', 'a']","[0, 1]"
"""


@pytest.mark.parametrize(("table", "of_two"), [(RATED, 4), (IN_LISTS, 2)])
def test_labels_of_annotators_are_their_median_by_unit(table, of_two, tmp_path):
    frame = pandas.read_csv(io.StringIO(table))
    path = tmp_path / "rated.csv"
    path.write_text(table)
    for source in (frame, frame.to_dict("records"), path):
        data = lp.load(source)
        assert units_of(data) == {"1": ["a", "b"]}
        assert data.labels.values.tolist() == [[1, 0]]
    assert lp.load(frame[:of_two]).labels.values.tolist() == [[0.5, 0]]
    path.write_text(table.replace("1\n", "7\n").replace("0, 1", "0, 7"))
    with refused(r"rated\.csv:\d: label '?7"):
        lp.load(path)


def test_some_labels_may_be_missing():
    units = {"a": ["A storm.", "Two died."], "b": ["We left."]}
    row = {"system": "x", "input": "a", "unit": "Two died.", "label": 1}
    null = row | {"unit": "A storm.", "label": None}
    for labels in ([row], [row, null], [null, row], {"x": {"a": [None, 1]}}):
        found = lp.load({"x": {"a": "", "b": ""}}, units, labels=labels).labels
        same(found.values, [[np.nan, 1, np.nan]])
    assert lp.load(units=units, labels={"x": {"a": [1, 0], "b": []}}).labels.inputs


TRUE_FALSE = {"list": [True, False], "numpy": np.array([True, False]),
              "text": ["TRUE", "false"], "decimals": [Decimal(1), Decimal("0.0")],
              "Arrow": pyarrow.array([1, 0])}  # fmt: skip


@pytest.mark.parametrize("role", ["labels", "presence"])
def test_true_is_one_and_false_zero_by_every_door(role, tmp_path):
    one = role.removesuffix("s")
    about = {"system": "a", "input": "1"}
    facts = ["It rained.", "We left."]
    for values in TRUE_FALSE.values():
        frame = pandas.DataFrame({**about, "unit": facts, one: [*values]})
        lines = write_lines(tmp_path / "a.jsonl", [about | {f"{one}s": [True, False]}])
        frame.to_csv(tmp_path / "a.csv", index=False)
        (tmp_path / "a.txt").write_text("True\tFalse\n")
        for source in ({"a": [values]}, {"a": tmp_path / "a.txt"}):
            assert values_of(source, [facts], role) == [1, 0]
        for source in ({"a": {"1": values}}, frame[::-1], tmp_path / "a.csv", lines):
            assert values_of(source, {"1": facts}, role) == [1, 0]


def test_units_of_every_input():
    """As a rubric has them: for each input that is answered, or else for none."""
    texts = {"a": {"x": "It rained.", "y": "We left."}}
    expected = lp.load(texts, {"x": ["u", "v"], "y": ["u", "v"]})
    for units in ({"*": ["v", "u"]}, [{"input": "*", "unit": one} for one in "uv"]):
        assert same_data(lp.load(texts, units), expected)
        labelled = lp.load(texts, units, labels={"a": {"x": [1, 0], "y": [0, 0]}})
        first = 0 if isinstance(units, list) is False else 1
        assert labelled.labels.values.tolist() == [[first, 1 - first, 0, 0]]
    with refused():
        lp.load(texts, {"*": ["u"], "x": ["v"]})


def test_presence_and_records_come_in_again(tmp_path):
    result = quick_score(SUMMARIES, [UNITS["1"], UNITS["2"]], labels=LABELS)
    result.save(tmp_path / "scores.json.gz")
    (tmp_path / "scores.json.gz").rename(tmp_path / "anything.json")
    for source in (result, result.facts, result.to_json(), tmp_path / "anything.json"):
        units = result.units if source is result.facts else None
        again = lp.load(units=units, presence=source)
        assert again.presence.values.tolist() == result.facts.values.tolist()
        assert again.units.sha == result.units.sha
    for name in ("units", "labels", "summaries"):
        sources = {"units": result, name: result}
        sources["data"] = sources.pop("summaries", None)
        loaded = lp.load(**sources)
        assert (
            held(loaded)[name]
            == held(
                lp.load(
                    units=result.units,
                    **(
                        {"data": result.summaries}
                        if name == "summaries"
                        else {}
                        if name == "units"
                        else {"labels": result.labels}
                    ),
                )
            )[name]
        )


NOTES = """
It rained; we left; Ana slept | looks like a list
The bridge was closed on Monday after heavy rain. The bridge was closed on Monday after heavy rain. The bridge was closed on Monday after heavy rain. The bridge was closed. | paragraph
R&amp;D                       | HTML entities
"""


@pytest.mark.parametrize(("unit", "note"), cases(NOTES))
def test_what_looks_like_a_slip_is_read_and_noted(unit, note):
    data = lp.load(units=[[unit, "It rained."]])
    assert unit in units_of(data)["1"]
    assert note in " ".join(data.notes)
    assert not lp.load(units=[["It rained; we left", "Dr. Smith left.", "R&D;"]]).notes


def test_references_of_every_form(tmp_path):
    """A list of sentences, or marks, say what the sentences are."""
    rows = [
        {"input": "a", "references": ["It rained . We left .", ["One .", "Two ."]]},
        {"input": "b", "reference": "<t> One . </t> <t> Two . </t>"},
    ]
    first, second = (
        lp.load(references=rows[:1]).references
        + lp.load(references=rows[1:]).references
    )
    assert first.references == (("It rained . We left .",), ("One .", "Two ."))
    assert first.marked == (False, True)
    assert second.references == (("One .", "Two ."),)
    lines = tmp_path / "refs.txt"
    lines.write_text("<t> One . </t>\tTwo .\nThree .\n")
    assert references_of(lp.load(references=lines)) == {
        "1": ["One .", "Two ."],
        "2": ["Three ."],
    }


def test_presence_by_several_is_their_median_and_labels_between_levels_are_half():
    units = {"a": ["It rained."]}

    def median(column, *values):
        rows = []
        for who, value in zip("xyz", values, strict=False):
            row = {"system": "s", "input": "a", "unit": "It rained.", "annotator": who}
            rows.append({**row, column: value})
        sources = {"presence": rows} if column == "presence" else {"labels": rows}
        data = lp.load(units=units, **sources)
        return (data.presence or data.labels).values.item()

    assert median("presence", 0.9, 0.6) == 0.75
    assert median("label", 0, 0.5) == 0.5
    assert median("label", 1, 1, 0) == 1
