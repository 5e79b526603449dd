"""Every form of a score table reads to the same numbers; mistakes are named with their
place."""

import csv
import io
import json
import re
from itertools import product

import numpy as np
import pandas
import pytest
from cases import cases, refused, same, write_lines

from litepyramid.io.scores import read_scores, write_scores
from litepyramid.meta.alignment import align

HEADER = "system,input,metric,score\n"
LONG = """\
score,metric,note,input,system
0.25,rouge-1_f1,x,d1,sysA
0.5,rouge-1_f1,x,d2,sysA
0.125,rouge-1_f1,x,d1,sysB
3.0,human,x,d1,sysA
,human,not scored,d2,sysB
"""
OBJECTS = [row for row in csv.DictReader(io.StringIO(LONG)) if row["score"]]
EXPECTED = [[[0.25, 0.5], [0.125, np.nan]], [[3.0, np.nan], [np.nan, np.nan]]]


def check(table):
    assert table.metrics == ("rouge-1_f1", "human")
    assert table.systems == ("sysA", "sysB")
    assert table.inputs == ("d1", "d2")
    np.testing.assert_array_equal(table.values, EXPECTED)


def write(path, text):
    path.write_text(text)
    return path


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_long_tables_in_any_column_order_with_extra_columns(tmp_path, delimiter):
    text = LONG.replace(",", delimiter).replace("\n", "\r\n")
    check(read_scores(write(tmp_path / "scores.csv", "\ufeff" + text)))
    rows = [{**row, "score": float(row["score"])} for row in OBJECTS]
    check(read_scores(write_lines(tmp_path / "scores.jsonl", rows)))

    one = write(tmp_path / "a.csv", f"{HEADER}sysA,d1,rouge-1_f1,.25\n")
    rest = write(tmp_path / "b.json", json.dumps(rows[1:]))
    check(read_scores([one, rest]))


def test_two_files_may_agree_on_a_score_but_not_differ(tmp_path):
    one = write(tmp_path / "a.csv", f"{HEADER}a,1,human,3\na,1,m,1\n")
    two = write(tmp_path / "b.csv", f"{HEADER}a,1,human,3.0\na,1,n,2\n")
    assert read_scores([one, two]).values.ravel().tolist() == [3, 1, 2]
    three = write(tmp_path / "c.csv", f"{HEADER}a,1,human,4\n")
    with refused(r"c.csv:2: metric 'human' scores .* twice"):
        read_scores([one, three])


WIDE = """\
system,input,summary,rouge,coherence,h1,h2
a,1,text,0.25,3,2,3
a,2,text,0.5,4,4,
b,1,text,,5,1,1
"""


def test_a_wide_table_has_a_column_a_metric(tmp_path):
    path = write(tmp_path / "w.csv", WIDE)
    frame = pandas.read_csv(path)
    rows = frame.to_dict("records")
    frame.to_json(tmp_path / "w.jsonl", orient="records", lines=True)

    for source in (rows, frame, path, tmp_path / "w.jsonl"):
        table = read_scores(source, columns="human=h1+h2")
        assert table.metrics == ("rouge", "coherence", "h1", "h2", "human")
        same(table.matrix("rouge").values, [[0.25, 0.5], [np.nan, np.nan]])
        same(table.matrix("h2").values, [[3, np.nan], [1, np.nan]])
        same(table.matrix("human").values, [[2.5, 4], [1, np.nan]])
        assert read_scores(source).metrics == ("rouge", "coherence", "h1", "h2")

    with refused("no metric 'h3'"):
        read_scores(rows, columns={"human": "h1+h3"})


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
        assert set(table.metrics) == {"human", "human_ann", "human_bob", "rouge"}
        same(table.matrix("human").values, [[2.5, 5], [1, np.nan]])
        same(table.matrix("human_bob").values, [[3, np.nan], [1, np.nan]])
        same(table.matrix("rouge").values, [[0.5, 0.5], [0.5, np.nan]])
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


def test_the_mean_of_raters_is_over_those_who_rated_and_ties(tmp_path):
    people = pandas.read_csv(io.StringIO(RATINGS))
    people.to_json(tmp_path / "people.json", orient="records")
    autos = people[["system", "input"]].assign(metric="rouge", score=range(6))
    autos.to_csv(tmp_path / "autos.csv", index=False)

    files = [tmp_path / "people.json", tmp_path / "autos.csv"]
    for source in (people.assign(rouge=range(6)), files):
        table = read_scores(source, columns="human=h1+h2+h3")
        means = align(read_scores(table, "human"), ["rouge"]).Z.ravel()
        assert means.tolist() == pytest.approx([0.2, 0.2, 0.3, 0.3, 0.3333333])
        assert means[0] == means[1]

        # Of raters named in meta: where all of them rated.
        named = align(read_scores(table, ["h1", "h2", "h3"]), ["rouge"]).Z.ravel()
        assert named.tolist() == pytest.approx([0.2, 0.2])
        assert named[0] == named[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *cases(
            r"""
system,rouge⏎a,1⏎                            | 1: no column 'input' .*Expected the columns
system,input,note⏎a,b,text⏎                  | 1: no column of scores
system,input,rouge⏎a,1,.5⏎a,2,O.5⏎b,1,.5⏎    | 3: the score 'O.5' is not a number
system,input,metric,score⏎                   | no rows
system,input,metric,score⏎a,1,m,high⏎        | 2: the score 'high' is not a number
system,input,metric,score⏎a,1,m,inf⏎         | 2: a score is infinite
system,input,metric,score⏎a,1,m⏎             | 2: 3 columns. Expected 4
system,input,metric,score⏎a,1,m,1⏎b,1,m,1⏎a,1,m,1⏎ | 4: metric 'm' scores .* twice .*f.csv:2
{"system": "a"}⏎                             | 1: no column of scores
{"system": "a", "metric": "m", "score": 1}⏎  | 1: no column 'input'
{"system": null, "input": 1, "metric": "m", "score": 1}⏎ | 1: no "system"
{"system": "a", "input": 1, "metric": true, "score": 1}⏎ | 1: "metric" is true
{"system": "a", "input": 1, "metric": "m", "score": true}⏎ | 'True' is not a number
{"system": "a", "input": 1, "metric": "m", "score": "1_0"}⏎ | '1_0' is not a number
{"system": "a", "input": 1, "metric": "m"}⏎  | 1: no column 'score'
[1]⏎                                         | 1: a JSON list
{"scores": 3, "signature": {}}               | not a saved result of score
"""
        ),
        ("", "the file is empty"),
    ],
)
def test_mistakes_are_named(tmp_path, text, message):
    with refused(message):
        read_scores(write(tmp_path / "f.csv", text))


def test_a_table_whose_rows_share_nothing_is_refused_before_it_is_made():
    rows = [{"system": i, "input": i, "metric": i, "score": 0.5} for i in range(1000)]
    with refused(r"1,000 scores share too little.*1,000,000,000 cells"):
        read_scores(rows)

    assert np.isfinite(read_scores(rows[:100]).values).sum() == 100


def test_written_scores_come_back_and_no_name_is_a_formula(tmp_path):
    names = ("=1+1", "-x", "'@a", "plain", "-0.5", 'a "b", c')
    rows = []
    for system, input_ in product(names, names):
        if (system, input_) != ("-x", "plain"):
            score = len(rows) / 7
            row = {"system": system, "input": input_, "metric": "+m", "score": score}
            rows.append(row)

    table = read_scores(rows)
    write_scores(tmp_path / "s.csv", table)
    again = read_scores(tmp_path / "s.csv")
    assert (again.metrics, again.systems, again.inputs) == (("+m",), names, names)
    assert np.array_equal(again.values, table.values, equal_nan=True)
    text = (tmp_path / "s.csv").read_text()
    assert not re.search(r"(^|,)[=+@]|(^|,)-x", text, re.MULTILINE)
