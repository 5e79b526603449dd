"""What is not meant is refused with one error, whatever Python holds; and no input costs
more than its size."""

import sys
from functools import reduce
from pathlib import Path

import pandas
import pytest
from cases import cases, quick_score, refused, write_lines
from hypothesis import example, given, settings
from hypothesis import strategies as st

import litepyramid as lp
from litepyramid.errors import LitepyramidError

NAN = float("nan")
INFINITY = float("inf")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    cases(
        r"""
data       | 3                                          | int
data       | {"m": 1}                                   | int
data       | {"m": [1]}                                 | input '1' is 1
data       | {"m": ["x", "y"]}                          | 2, as many
data       | {"m\ud83d": ["x"]}                         | half
data       | {"m": {"x", "y"}}                          | order
data       | {None: ["x"]}                              | None
data       | {1: ["x"], "1": ["x"]}                     | system '1'
data       | {"m": Path("none.txt")}                    | none.txt: no such file
data       | [{1: "x", "1": "y"}]                       | '1'
data       | {"input": "1", "summary": "x"}             | one row
data       | {"input": ["1", "2"], "summary": ["x"]}    | 1, 2 cells
units      | [[]]                                       | unit
units      | [[{"text": "\ud83d"}]]                     | half
units      | [[{"text": "a", "tags": ["\ud83d"]}]]      | half
units      | [[b"a"]]                                   | unit 1
units      | [[["a"]]]                                  | unit 1
units      | {frozenset("a")}                           | order
units      | {"1": "a"}                                 | text
data       | [{"input": "\ud83d", "summary": "a"}]      | half
units      | [[{"text": "a", "weight": NAN}]]           | weight
units      | [{"input": 1, "unit": "a", "weight": None}] | weight
units      | [{"input": 1, "unit": "a", "units": ["a"]}] | unit and units
units      | [{"input": 1, "ID": 2, "Id": 3, "unit": "a"}, {"Id": 1}] | unit
reference  | ["r"]                                      | Did you mean references\?
refs       | ["r"]                                      | Did you mean references\?
references | [None]                                     | references:1
references | [[["deep"]] * 2, []]                       | references
references | [["r \ud83d"]]                             | half
references | [[[["r"]]]]                                | references:1
references | "references"                               | no such file
documents  | {"a": {"z": 3}}                            | document
ids        | ["\ud83d"]                                 | half
ids        | ["1", 1]                                   | ids
ids        | []                                         | ids
presence   | {"m": [[1e308]]}                           | 0 to 1
presence   | {"m": [[INFINITY]]}                        | 0 to 1
presence   | {"n": [[1]]}                               | 'm'|'n'
labels     | {"m": [["0.5\u001c"]]}                     | 0.5
labels     | {"m": [[1, 0]]}                            | 2 labels
labels     | {"m": [[{"unit": "b", "label": 1}]]}       | 'b'
label_units | [["b"]]                                   | without labels
columns    | 3                                          | columns
columns    | "summary"                                  | 'summary'
columns    | {"wieght": "w"}                            | wieght
columns    | "system=a+b"                               | '?a
columns    | "labels.label=gold"                        | labels
nulls      | "none"                                     | nulls
"""
    ),
)
def test_what_is_not_meant_is_refused(name, value, message):
    sources = {"data": {"m": ["x"]}, "units": [["a"]], name: eval(value)}
    if '"input"' in value and name == "units":
        sources["data"] = {"m": {"1": "x"}}
    if name == "columns":
        sources["data"] = [{"input": "1", "summary": "x"}]
    if '"input"' in value and name == "data":
        del sources["units"]
    with refused(message):
        quick_score(**sources)


def test_a_nest_without_end_and_a_source_without_its_others():
    deep = reduce(lambda inner, _: [inner], range(9**5), "r")
    for name in ("references", "units", "labels"):
        with refused("too deeply"):
            lp.load({"m": ["x"]}, **{"units": [["a"]], name: [deep]})
    for source in ("labels", "presence"):
        with refused("without"):
            lp.load({"m": ["x"]}, **{source: {"m": [[1]]}})
    with refused("no references"):
        lp.load({"m": ["x"]}).require("summaries", "references")
    assert lp.load({"m": ["\U0001f600 \\ud83d"]}, [["a"]]).summaries.texts == (
        ("\U0001f600 \\ud83d",),
    )


def test_names_of_files_are_no_texts(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("It rained.\n")
    one, name = ["It rained."], str(path)
    for sources in (
        {"data": [name]}, {"data": {"m": [name]}}, {"data": {"m": name}},
        {"references": [name]}, {"units": [[name]]},
    ):  # fmt: skip
        with refused("is a file, not a text"):
            lp.load(**{"data": {"m": ["x"]}, "units": [one], **sources})
    assert lp.load([path], [one]).systems == ("a",)
    # An answer may be called as a file is, where not all of them are.
    assert lp.load({"m": [name, "Yes."]}, [["a"], ["b"]]).summaries.texts[0][0] == name


SCALARS = st.from_type(bool | float | int | str | bytes | None)
NAMES = st.from_type(str | int | None) | st.sampled_from(
    ["summary", "input", "units", "*"]
)
STRANGE = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(NAMES, inner, max_size=3)
        | st.lists(st.dictionaries(NAMES, inner, max_size=3), min_size=1, max_size=3)
        | st.sets(st.text(max_size=3), max_size=2)
        | st.tuples(inner)
    ),
    max_leaves=6,
)


@settings(max_examples=150)
@given(STRANGE, STRANGE, STRANGE)
@example([{}, None], None, None)
@example({"a": {"summary": {}, "input": []}}, [{"*": 1}], {"": {"": None}})
def test_every_shape_is_read_or_refused(data, units, other):
    for sources in ({}, {"references": other}, {"labels": other}, {"documents": other}):
        try:
            loaded = lp.load(data, units, **sources)
        except LitepyramidError:
            continue
        assert loaded.plan or not loaded.inputs


@pytest.mark.parametrize(("role", "value"), [("data", "Yes."), ("labels", 1)])
def test_an_id_as_the_system_is_refused_before_it_takes_all_memory(role, value):
    column = {"data": "summary", "labels": "label"}[role]
    rows = [{"system": f"s{n}", "input": n, column: value} for n in range(2000)]

    def of(size):
        units = {n: ["It rained."] for n in range(size)}
        return lp.load(**{"units": units, role: rows[:size]}, nulls="missing")

    assert len(of(50).inputs) == 50
    with refused("2,000 systems"):
        of(2000)


SYSTEMS = "abcd"


def whole_table(inputs):
    """All that belongs to a data set, in a frame."""
    rows = []
    for number in range(inputs):
        text = f"It was {number}."
        for system in SYSTEMS:
            about = {
                "system": system, "input": f"i{number}", "summary": f"{text} Two died.",
                "question": "Why?", "reference": f"{text} Two people died.",
                "annotator": "Ann",
            }  # fmt: skip
            # Every third input has a gap.
            label = None if number % 3 else 1
            rows.append({**about, "unit": text, "weight": 1, "label": label})
            rows.append({**about, "unit": "Two died.", "weight": 2, "label": 0})
    return pandas.DataFrame(rows)


def load_a_table(folder, inputs):
    path = folder / "all.csv"
    whole_table(inputs).to_csv(path, index=False)
    return lambda: lp.load(path)


def load_lists_in_python(folder, inputs):
    units = {f"i{n}": [f"It was {n}.", "Two people died."] for n in range(inputs)}
    texts = {f"i{n}": f"It was {n}." for n in range(inputs)}
    return lambda: lp.load(dict.fromkeys(SYSTEMS, texts), units)


def load_lines_of_json(folder, inputs):
    rows = []
    for number in range(inputs):
        row = {"input": f"i{number}", "units": ["It rained.", "Two people died."]}
        rows += [{**row, "system": s, "summary": "It rained."} for s in SYSTEMS]
    path = write_lines(folder / "all.jsonl", rows)
    return lambda: lp.load(path)


def load_columns_in_python(folder, inputs):
    columns = whole_table(inputs).rename(columns={"summary": "output"}).to_dict("list")
    return lambda: lp.load(columns, columns="summary=output")


def load_a_wide_frame(folder, inputs):
    frame = pandas.DataFrame(
        {s: [f"It was {n}." for n in range(inputs)] for s in SYSTEMS}
    )
    return lambda: lp.load(frame, [["It rained."]] * inputs)


def score_all(folder, inputs):
    data = lp.load(whole_table(inputs))
    return lambda: lp.score(data, judge="recall", samples=100)


DOORS = (
    load_a_table,
    load_lists_in_python,
    load_lines_of_json,
    load_columns_in_python,
    load_a_wide_frame,
    score_all,
)


def calls_of(work):
    """How many functions are called, those of C among them."""
    count = 0

    def profile(frame, event, argument):
        nonlocal count
        del frame, argument
        count += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("door", DOORS)
def test_twice_the_input_is_twice_the_work(door, tmp_path):
    calls_of(door(tmp_path, 30))  # imports and caches first
    once, twice, whole = (calls_of(door(tmp_path, n)) for n in (60, 120, 240))
    # What comes once for all inputs falls out of the differences.
    assert whole - twice <= 2.2 * (twice - once), (once, twice, whole)
    assert Path  # of the table of cases
