"""Every form of a score table reads to the same numbers; mistakes are named with their
place."""

import json
import re

import numpy as np
import pytest
from cases import cases, refused, write_lines

from litepyramid.io.scores import read_scores, write_scores
from litepyramid.meta.alignment import align

HEADER = "system,input,metric,score\n"
ROWS = [
    ("sysA", "d1", "rouge-1_f1", 0.25),
    ("sysA", "d2", "rouge-1_f1", 0.5),
    ("sysB", "d1", "rouge-1_f1", 0.125),
    ("sysA", "d1", "human", 3.0),
]
EXPECTED = [[[0.25, 0.5], [0.125, np.nan]], [[3.0, np.nan], [np.nan, np.nan]]]


def check(table):
    assert table.metrics == ("rouge-1_f1", "human")
    assert table.systems == ("sysA", "sysB")
    assert table.inputs == ("d1", "d2")
    np.testing.assert_array_equal(table.values, EXPECTED)


def write(path, text):
    path.write_text(text)
    return path


KEYS = ("system", "input", "metric", "score")
OBJECTS = [dict(zip(KEYS, row, strict=True)) for row in ROWS]


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_long_tables_in_any_column_order_with_extra_columns(tmp_path, delimiter):
    lines = [["score", "metric", "note", "input", "system"]]
    lines += [[str(v), m, "x", i, s] for s, i, m, v in ROWS]
    lines += [["", "human", "not scored", "d2", "sysB"]]
    text = "\r\n".join(delimiter.join(line) for line in lines) + "\r\n"
    check(read_scores(write(tmp_path / "scores.csv", "\ufeff" + text)))
    check(read_scores(write_lines(tmp_path / "scores.jsonl", OBJECTS)))

    one = write(tmp_path / "a.csv", f"{HEADER}sysA,d1,rouge-1_f1,.25\n")
    rest = write(tmp_path / "b.json", json.dumps(OBJECTS[1:]))
    check(read_scores([one, rest]))


def test_two_files_may_agree_on_a_score_but_not_differ(tmp_path):
    one = write(tmp_path / "a.csv", f"{HEADER}a,1,human,3\na,1,m,1\n")
    two = write(tmp_path / "b.csv", f"{HEADER}a,1,human,3.0\na,1,n,2\n")
    assert read_scores([one, two]).values.ravel().tolist() == [3, 1, 2]
    three = write(tmp_path / "c.csv", f"{HEADER}a,1,human,4\n")
    with refused(r"c.csv:2: metric 'human' scores .* twice"):
        read_scores([one, three])


WIDE = [
    {
        "system": s,
        "input": i,
        "summary": "text",
        "rouge": r,
        "coherence": c,
        "h1": h,
        "h2": g,
    }
    for s, i, r, c, h, g in [
        ("a", 1, 0.25, 3, 2, 3),
        ("a", 2, 0.5, 4, 4, None),
        ("b", 1, None, 5, 1, 1),
    ]
]


def test_a_wide_table_has_a_column_a_metric(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(WIDE)
    frame.to_csv(tmp_path / "w.csv", index=False)
    write_lines(tmp_path / "w.jsonl", WIDE)

    for source in (WIDE, frame, tmp_path / "w.csv", tmp_path / "w.jsonl"):
        table = read_scores(source, columns="human=h1+h2")
        assert table.metrics == ("rouge", "coherence", "h1", "h2", "human")
        nan = np.nan
        for metric, values in (
            ("rouge", [[0.25, 0.5], [nan, nan]]),
            ("h2", [[3, nan], [1, nan]]),
            ("human", [[2.5, 4], [1, nan]]),
        ):
            np.testing.assert_array_equal(table.matrix(metric).values, values)
        assert read_scores(source).metrics == ("rouge", "coherence", "h1", "h2")

    with refused("no metric 'h3'"):
        read_scores(WIDE, columns={"human": "h1+h3"})


@pytest.mark.parametrize("long", [True, False])
def test_rows_of_annotators_are_their_mean_and_each(long):
    rows = []
    for system, input_, annotator, human in [
        ("a", 1, "ann", 2),
        ("a", 1, "bob", 3),
        ("a", 2, "ann", 5),
        ("b", 1, "bob", 1),
    ]:
        row = {
            "system": system,
            "input": input_,
            "annotator": annotator,
        }
        scores = {"human": human, "rouge": 0.5}
        rows += (
            [row | {"metric": m, "score": v} for m, v in scores.items()] if long else []
        )
        rows += [] if long else [row | scores]

    table = read_scores(rows)
    assert set(table.metrics) == {"human", "human_ann", "human_bob", "rouge"}
    np.testing.assert_array_equal(table.matrix("human").values, [[2.5, 5], [1, np.nan]])
    np.testing.assert_array_equal(
        table.matrix("human_bob").values, [[3, np.nan], [1, np.nan]]
    )
    np.testing.assert_array_equal(
        table.matrix("rouge").values, [[0.5, 0.5], [0.5, np.nan]]
    )
    assert align(read_scores(table, "human_*")).raters == ("human_ann", "human_bob")


@pytest.mark.parametrize("columns", ["human=h1+h2+h3", None])
def test_the_mean_of_raters_is_over_those_who_rated_and_ties(tmp_path, columns):
    ratings = [(0.1, 0.2, 0.3), (0.3, 0.2, 0.1), (0.1, 0.5, None), (0.2, None, 0.4)]
    ratings += [(None, 1 / 3, None), (None, None, None)]
    rows = [
        {
            "system": s,
            "input": 1,
            "rouge": s,
            **dict(zip(("h1", "h2", "h3"), own, strict=True)),
        }
        for s, own in enumerate(ratings)
    ]
    write(tmp_path / "people.json", json.dumps([row | {"rouge": None} for row in rows]))
    lines = [f"{s},1,rouge,{s}\n" for s in range(6)]
    write(tmp_path / "autos.csv", HEADER + "".join(lines))

    for source in (rows, [tmp_path / "people.json", tmp_path / "autos.csv"]):
        table = read_scores(source, columns=columns)
        side = align(
            read_scores(table, "human" if columns else ["h1", "h2", "h3"]), ["rouge"]
        )
        means = (
            side.Z.ravel().tolist()
        )  # of raters named in meta: where all of them rated
        assert means == pytest.approx(
            [0.2, 0.2, 0.3, 0.3, 1 / 3] if columns else [0.2, 0.2]
        )
        assert means[0] == means[1]


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
    rows = [
        {
            "system": s,
            "input": i,
            "metric": "+m",
            "score": len(s) / (n + 3),
        }
        for s in names
        for n, i in enumerate(names)
        if (s, i) != ("-x", "plain")
    ]
    table = read_scores(rows)
    write_scores(tmp_path / "s.csv", table)
    again = read_scores(tmp_path / "s.csv")
    assert (again.metrics, again.systems, again.inputs) == (("+m",), names, names)
    assert np.array_equal(again.values, table.values, equal_nan=True)
    text = (tmp_path / "s.csv").read_text()
    assert not re.search(r"(^|,)[=+@]|(^|,)-x", text, re.MULTILINE)
