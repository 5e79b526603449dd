"""Every shape of a score table, by every door, gives the same numbers; what is no score
is told, and mistakes are named with their place."""

import csv
import io
import json
import re
from functools import partial
from itertools import product

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest
from cases import cases, quick_score, refused, same
from hypothesis import given, settings
from hypothesis import strategies as st

import litepyramid as lp
from litepyramid.data.score_tables import read_scores
from litepyramid.data.scores import Scores, score_lines
from litepyramid.meta import correlate
from litepyramid.meta.alignment import align

WIDE = [
    {"system": "b", "input": "1", "rouge-1_f1": 0.125, "human": None},
    {"system": "a", "input": "2", "rouge-1_f1": 0.5, "human": 4.0},
    {"system": "a", "input": "1", "rouge-1_f1": 0.25, "human": 3.0},
]
EXPECTED = {
    "human": [[3, 4], [np.nan, np.nan]],
    "rouge-1_f1": [[0.25, 0.5], [0.125, np.nan]],
}


def long(metrics):
    """A row for each score of some metrics; the others are columns of all rows."""
    rows = []
    for row, metric in product(WIDE, metrics):
        about = {key: row[key] for key in row if key not in metrics}
        rows.append({**about, "metric": metric, "score": row[metric], "note": "x y"})
    return rows


def nested(row):
    scores = {metric: row[metric] for metric in EXPECTED}
    return {"system": row["system"], "input": row["input"], "scores": scores}


SHAPES = {
    "wide": [{**row, "summary": "It rained.", "topic": ""} for row in WIDE],
    "long": long(["rouge-1_f1", "human"]),
    "long beside human": long(["rouge-1_f1"]),
    "nested": [nested(row) for row in WIDE],
}


def as_csv(rows, delimiter):
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, [*rows[0]], delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return "\ufeff" + buffer.getvalue()


def as_parquet(rows):
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), buffer)
    return buffer.getvalue()


PYTHON = {
    "rows": list,
    "an iterator": iter,
    "columns": lambda rows: pandas.DataFrame(rows).to_dict("list"),
    "pandas": pandas.DataFrame,
    "ids in the index": lambda rows: pandas.DataFrame(rows).set_index(
        ["system", "input"]
    ),
    "polars": polars.DataFrame,
    "arrow": pyarrow.Table.from_pylist,
    "shuffled columns": lambda rows: pandas.DataFrame(rows).sample(frac=1, axis=1),
}
FILES = {
    "s.csv": lambda rows: as_csv(rows, ","),
    "semicolons.csv": lambda rows: as_csv(rows, ";"),
    "s.tsv": lambda rows: as_csv(rows, "\t"),
    "s.json": json.dumps,
    "s.jsonl": lambda rows: "\n".join(map(json.dumps, rows)),
    "s.parquet": as_parquet,
}
OF_OBJECTS = {"rows", "an iterator", "pandas", "arrow", "polars", "s.json", "s.jsonl"}
"""Doors whose cells may hold objects."""


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("door", [*PYTHON, *FILES])
def test_every_shape_by_every_door(tmp_path, shape, door):
    if shape == "nested" and door not in OF_OBJECTS:
        pytest.skip("a table of cells")
    source = PYTHON.get(door, FILES.get(door))(SHAPES[shape])
    if door in FILES:
        path = tmp_path / door
        path.write_bytes(source.encode() if isinstance(source, str) else source)
        source = path

    table = read_scores(source)
    assert (table.metrics, table.keys) == (tuple(EXPECTED), (("a", "b"), ("1", "2")))
    for metric, values in EXPECTED.items():
        same(table[metric], values)
    texts = {"wide": ("summary", "topic"), "nested": ()}
    assert table.left_out == texts.get(shape, ("note",))


ANY_NAME = """
label labels weight reference references unit units kind sentence question query prompt
summary summaries document id presence facts importance tags said scores signature
metric score values systems metrics x
"""


@pytest.mark.parametrize("name", ANY_NAME.split())
def test_a_metric_may_have_any_name(tmp_path, name):
    rows = [{**row, name: number / 2} for number, row in enumerate(WIDE)]
    frame = pandas.DataFrame(rows)
    frame.to_csv(tmp_path / "s.csv", index=False)
    for source in (rows, frame, tmp_path / "s.csv"):
        table = read_scores(source)
        assert table.metrics == tuple(sorted([*EXPECTED, name]))
        same(table[name], [[1, 0.5], [0, np.nan]])


def test_what_is_not_read_is_told(tmp_path):
    rows = [{"system": s, "input": i, "m": i, "human": s, "note": "x"} for s in range(3)
            for i in range(4)]  # fmt: skip
    frame = pandas.DataFrame(rows)
    frame.to_csv(tmp_path / "s.csv")
    for source in (frame, tmp_path / "s.csv", frame.reset_index(names="Unnamed: 0")):
        text = correlate(source).to_table()
        assert "not read: " in text
        assert "note" in text
        assert " 0.0" not in text.split("note")[0]

    # A column of numbers that are no row numbers is a metric, named or not.
    frame.index = [*frame.index[:-1], 99]
    frame.to_csv(tmp_path / "s.csv")
    assert len(read_scores(tmp_path / "s.csv").metrics) == 3


def test_averages_of_systems_are_a_table():
    means = pandas.DataFrame(WIDE).groupby("system")[[*EXPECTED]].mean()
    melted = means.reset_index().melt("system", var_name="metric", value_name="score")
    for source in (means, means.reset_index(), melted, means.to_dict("list")):
        if source is not None and isinstance(source, dict):
            source = {"system": [*means.index], **source}
        table = read_scores(source)
        assert (table.systems, table.inputs) == (("a", "b"), ("all",))
        same(table["rouge-1_f1"].ravel(), [0.375, 0.125])
    with refused("no column 'input'"):
        read_scores(means.reset_index().drop(columns="system").assign(system="a"))


# Several sources, several raters
# ------------------------------------------------------------------------------------


def test_two_files_may_agree_on_a_score_but_not_differ(tmp_path):
    names = ["system", "input", "metric", "score"]
    files = []
    for score in (3, 3.0, 4):
        row = ["a", "1", "human", score]
        files.append(tmp_path / f"{score}.csv")
        pandas.DataFrame([row], columns=names).to_csv(files[-1], index=False)
    assert read_scores(files[:2])["human"] == 3
    with refused(r"4.csv:2: metric 'human' scores .* twice \(first at .*3.csv:2"):
        read_scores(files)


WITH_RATERS = """\
system,input,rouge,h1,h2
a,1,0.25,2,3
a,2,0.5,4,
b,1,,1,1
"""


def test_columns_of_raters_are_their_mean_and_each(tmp_path):
    path = tmp_path / "w.csv"
    path.write_text(WITH_RATERS)
    for source in (path, pandas.read_csv(path), [pandas.read_csv(path)]):
        table = read_scores(source, columns="human=h1+h2")
        assert table.metrics == ("h1", "h2", "human", "rouge")
        same(table["human"], [[2.5, 4], [1, np.nan]])
        assert read_scores(source).metrics == ("h1", "h2", "rouge")
        assert read_scores(source, columns="human=h2").metrics == (
            "h1",
            "human",
            "rouge",
        )
    with refused("no metric 'h3'"):
        read_scores(path, columns={"human": "h1+h3"})
    with refused(r"no column 'model' \(columns system=model\)"):
        read_scores(path, columns="system=model")


ANNOTATED = """\
system,input,annotator,human,rouge
a,1,ann,2,0.5
a,1,bob,3,0.5
a,2,ann,5,0.5
b,1,bob,1,0.5
"""


def test_rows_of_annotators_are_their_mean_and_each():
    ids = ["system", "input", "annotator"]
    wide = pandas.read_csv(io.StringIO(ANNOTATED))
    for source in (wide, wide.melt(ids, var_name="metric", value_name="score")):
        table = read_scores(source)
        assert table.metrics == ("human", "human_ann", "human_bob", "rouge")
        same(table["human"], [[2.5, 5], [1, np.nan]])
        same(table["human_bob"], [[3, np.nan], [1, np.nan]])
        same(table["rouge"], [[0.5, 0.5], [0.5, np.nan]])
        raters = align(read_scores(table, "human_*")).raters
        assert raters == ("human_ann", "human_bob")


RATINGS = """\
system,input,h1,h2,h3
0,1,0.1,0.2,0.3
1,1,0.3,0.2,0.1
2,1,0.1,0.5,
3,1,0.2,,0.4
4,1,,0.3333333,
5,1,,,
"""


def test_rows_of_systems_that_were_sorted_or_chosen_have_no_inputs():
    whole = pandas.DataFrame({"system": ["c", "a", "b"], "rouge": [0.3, 0.1, 0.2]})
    for frame in (whole, whole.sort_values("rouge"), whole.sample(3, random_state=1)):
        assert read_scores(frame).inputs == ("all",)
        assert read_scores(frame)["rouge"].ravel().tolist() == [0.1, 0.2, 0.3]
    assert read_scores(whole[whole.system != "a"]).systems == ("b", "c")


def test_the_mean_of_two_columns_that_annotators_filled():
    rows = []
    for who, more in (("ann", 0.0), ("bo", 0.2)):
        row = {"system": "a", "input": "1", "annotator": who}
        rows.append({**row, "h1": 0.1 + more, "h2": 0.3 + more})
        rows.append({**row, "system": "b", "h1": 0.5 + more, "h2": 0.3 + more})
    table = read_scores(rows, columns="human=h1+h2")
    assert table["human"].tolist() == [[0.3], [0.5]]


def test_the_mean_of_raters_is_over_those_who_rated_and_ties(tmp_path):
    people = pandas.read_csv(io.StringIO(RATINGS))
    people.to_json(tmp_path / "people.json", orient="records")
    autos = people[["system", "input"]].assign(metric="rouge", score=range(6))
    autos.to_csv(tmp_path / "autos.csv", index=False)

    files = [tmp_path / "autos.csv", tmp_path / "people.json"]
    for source in (people.assign(rouge=range(6)), files, files[::-1]):
        table = read_scores(source, columns="human=h1+h2+h3")
        means = align(read_scores(table, "human"), ["rouge"]).Z.ravel()
        assert means.tolist() == pytest.approx([0.2, 0.2, 0.3, 0.3, 0.3333333])
        assert means[0] == means[1]

        # Of raters named in meta: where all of them rated.
        named = align(read_scores(table, ["h1", "h2", "h3"]), ["rouge"]).Z.ravel()
        assert named.tolist() == pytest.approx([0.2, 0.2])
        assert named[0] == named[1]


def test_results_of_score_are_tables_and_are_told_apart(tmp_path):
    texts = {"a": ["It rained.", "We left."], "b": ["It rained.", "We slept."]}
    units = [["It rained."], ["We left."]]
    labels = {"a": [[1], [1]], "b": [[1], [0]]}
    result = quick_score(texts, units, labels=labels)
    other = quick_score(texts, [["It rained."], ["We slept."]])
    result.save(tmp_path / "r.json.gz")
    for source in (result, tmp_path / "r.json.gz", result.to_json()):
        table = read_scores(source)
        assert table.metrics == ("human", "lite2pyramid")
        same(table["human"], [[1, 1], [1, 0]])
    assert read_scores([result, tmp_path / "r.json.gz"]).metrics == table.metrics

    metrics = read_scores([other, result]).metrics
    assert metrics[0] == "human"
    assert all(re.fullmatch(r"lite2pyramid\[\w+ \w{8}\]", m) for m in metrics[1:])


def test_a_column_for_each_system(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text(",doc,bart,t5\n0,x,0.1,0.3\n1,y,0.2,0.4\n")
    for columns in ("input=doc,system=bart+t5", "input=doc,system=*"):
        for source in (path, pandas.read_csv(path, index_col=0)):
            table = read_scores(source, columns=columns)
            assert (table.systems, table.inputs) == (("bart", "t5"), ("x", "y"))
            assert table["score"].tolist() == [[0.1, 0.2], [0.3, 0.4]]


# Arrays
# ------------------------------------------------------------------------------------

X = np.arange(6.0).reshape(3, 2)


def test_arrays_go_by_their_labels_or_by_their_order():
    frame = pandas.DataFrame(X, index=["c", "a", "b"], columns=["q", "p"])
    by_name = frame.sort_index().sort_index(axis=1)
    table = read_scores(frame, by_name)
    assert table.keys == (("a", "b", "c"), ("p", "q"))
    same(table["x"], table["human"])
    same(read_scores(frame["q"], by_name["q"])["x"].ravel(), [2, 4, 0])
    same(read_scores({"b": 1, "a": 2}, {"a": 3, "b": 4})["human"].ravel(), [3, 4])

    for plain in (X, X.tolist(), pandas.DataFrame(X)):
        same(read_scores(plain, -X).values, [-X, X])
    same(read_scores([0.5, pandas.NA], [1, 2]).one("x").values, [[[0.5], [np.nan]]])


@pytest.mark.parametrize(
    "human",
    [
        X[:2],
        X,
        pandas.DataFrame(X, index=["a", "b", "z"], columns=["q", "p"]),
        [["a"]],
        np.full((3, 2), np.inf),
        X + 1j,
        np.arange(6).astype("M8[D]").reshape(3, 2),
        3,
        ["h", 1],
    ],
    ids=repr,
)
def test_arrays_that_do_not_belong_together_are_refused(human):
    with refused():
        read_scores(pandas.DataFrame(X, index=[*"abc"], columns=["q", "p"]), human)


# Mistakes
# ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        *cases(
            r"""
s.csv | system,rouge⏎a,1⏎                            | 1: no column 'input' .*Expected the columns
s.csv | system,input,note⏎a,b,text⏎                  | 1: no column of scores .*litepyramid convert
s.csv | system,input,rouge⏎a,1,.5⏎a,2,O.5⏎b,1,.5⏎    | 3: the score 'O.5' is no number
s.csv | system,input,metric,score⏎                   | no rows
s.csv | system,input,metric,score⏎a,1,m,high⏎        | 2: the score 'high' is no number
s.csv | system,input,metric,score⏎a,1,m,inf⏎         | 2: a score is infinite
s.csv | system,input,metric,score⏎a,1,m⏎             | 2: 3 columns. Expected 4
s.csv | system,input,metric,score⏎a,1,m,1⏎b,1,m,1⏎a,1,m,1⏎ | 4: metric 'm' scores .* twice .*s.csv:2
s.csv | model,doc,f1⏎a,1,2⏎                          | columns system=model,input=doc
s.csv | who,what,f1⏎a,b,2⏎                           | columns system=who
j.jsonl | {"system": "a"}⏎                           | 1: no column of scores
j.jsonl | {"system": "a", "metric": "m", "score": 1}⏎  | 1: no column 'input'
j.jsonl | {"system": null, "input": 1, "metric": "m", "score": 1}⏎ | 1: the column 'system' is empty
j.jsonl | {"system": "a", "input": 1, "metric": true, "score": 1}⏎ | 1: the column 'metric' is True
j.jsonl | {"system": "a", "input": 1, "metric": "m", "score": true}⏎ | True is no number
j.jsonl | {"system": "a", "input": 1, "metric": "m", "score": "1_0"}⏎ | '1_0' is no number
j.jsonl | {"system": "a", "input": 1, "scores": {"m": "x"}}⏎ | 1: the score 'x'
j.json | [1]⏎                                         | no table of scores.*litepyramid convert
j.json | {"eval": {"task": "t"}, "samples": []}        | no table of scores.*litepyramid convert
j.json | {"scores": 3, "signature": {}}               | not a saved result of score
t.txt | 0.5⏎0.4⏎                                      | no table of scores
"""
        ),
        ("s.csv", "", "the file is empty"),
    ],
)
def test_mistakes_are_named(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text)
    with refused(message):
        read_scores(path)


def test_a_table_whose_rows_share_nothing_is_refused_before_it_is_made():
    rows = [{"system": i, "input": i, "metric": i, "score": 0.5} for i in range(1000)]
    with refused(r"1,000 scores share too little.*1,000,000,000 cells"):
        read_scores(rows)
    assert np.isfinite(read_scores(rows[:100]).values).sum() == 100


def test_written_scores_come_back_and_no_name_is_a_formula(tmp_path):
    names = ("-0.5", "-x", "'@a", "=1+1", 'a "b", c', "plain")
    scores = np.arange(36.0).reshape(6, 6) / 7
    scores[0, 3] = np.nan
    table = Scores.of({"+m": scores}, names, names[::-1])
    (tmp_path / "s.csv").write_text(score_lines(table))
    again = read_scores(tmp_path / "s.csv")
    assert (again.sha, again.systems) == (table.sha, tuple(sorted(names)))
    text = (tmp_path / "s.csv").read_text()
    assert not re.search(r"(^|,)[=+@]|(^|,)-x", text, re.MULTILINE)


# Any order
# ------------------------------------------------------------------------------------


def rated():
    """Scores whose sums over inputs and over raters depend on their order."""
    rng = np.random.default_rng(2)
    for system, input_, rater in product("abcde", "123456", ("ann", "bob", "cat")):
        about = {"system": system, "input": input_, "annotator": rater}
        yield about | {
            "human": round(rng.random(), 2),
            "rouge": len(about),
            "mini": 0.1,
        }


RATED = [*rated()]
for _row in RATED:
    _row["mini"] += ord(_row["system"]) / 7 + int(_row["input"]) / 3
    _row["rouge"] = round(_row["mini"] % 0.7, 3)


@settings(max_examples=20)
@given(
    rows=st.permutations(RATED),
    columns=st.permutations([*RATED[0]]),
    one=st.sampled_from(["human", "rouge", "mini"]),
    turned=st.booleans(),
)
def test_no_order_of_rows_columns_and_sources_changes_a_bit(rows, columns, one, turned):
    alone = []
    rest = []
    for row in rows:
        alone.append(
            {c: row[c] for c in columns if c not in {"human", "rouge", "mini"} - {one}}
        )
        rest.append({c: row[c] for c in columns if c != one})
    sources = [pandas.DataFrame(rest), alone]
    table = read_scores(sources[::-1] if turned else sources)
    usual = read_scores(RATED)
    assert table.sha == usual.sha
    options = {"level": ["system", "summary", "global"]}
    assert correlate(table, **options) == correlate(usual, **options)


@pytest.mark.parametrize("name", ["id", "question_id", "doc_id"])
def test_ids_beside_those_that_are_named_are_no_metric(name):
    rows = [{**row, name: 100 + number} for number, row in enumerate(WIDE)]
    table = read_scores(rows)
    assert table.metrics == ("human", "rouge-1_f1")
    assert table.left_out == (name,)


@pytest.mark.parametrize("metric", ["human", "rater"])
def test_the_human_score_may_be_a_table(metric):
    """It was taken for an array, of which rows are none."""
    scores = pandas.DataFrame(WIDE).drop(columns="human")
    people = [
        {"system": row["system"], "input": row["input"], metric: row["human"]}
        for row in WIDE
    ]
    rows = pandas.DataFrame(people).melt(
        id_vars=["system", "input"], var_name="metric", value_name="score"
    )
    for human in (people, pandas.DataFrame(people), rows):
        table = read_scores(scores, human)
        assert table.human == (metric,)
        same(table[metric], EXPECTED["human"])
        same(table["rouge-1_f1"], EXPECTED["rouge-1_f1"])


def test_arrays_have_no_columns():
    with refused("columns has no effect on two arrays"):
        read_scores([1, 2], [1, 2], columns="system=model")


def test_scores_of_systems_alone_have_no_inputs(tmp_path):
    """Beside cells they would count as one more input; alone, as the only one."""
    rows = [{"system": s, "x": n, "human": n * n} for n, s in enumerate("abcd")]
    cells = [{**row, "input": i} for row in rows for i in "12"]
    with refused("each input"):
        read_scores([rows, cells])
    for table in (rows, [1, 2, 4, 3]):
        human = [0, 1, 4, 9] if table is not rows else None
        result = lp.meta.correlate(table, human)
        assert {one.level for one in result.correlations} == {"system"}
        with refused("none for inputs"):
            lp.meta.correlate(table, human, level="summary")
    with refused("none for inputs"):
        lp.meta.correlate(rows, level="system", coefficient="spa")
    for verb in (lp.meta.stability, partial(lp.compare, metric="x")):
        with refused("none for inputs"):
            verb(rows)
