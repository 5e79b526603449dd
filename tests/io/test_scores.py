"""Every form of a score table reads to the same numbers; mistakes are named with their place."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from litepyramid.errors import InputError
from litepyramid.io.scores import read_scores
from litepyramid.io.write import write_scores
from litepyramid.meta.alignment import align, select_metrics

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
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_csv_in_any_column_order_with_extra_columns(tmp_path, delimiter):
    lines = [["score", "metric", "note", "input", "system"]]
    lines += [[str(v), m, "x", i, s] for s, i, m, v in ROWS]
    lines += [["", "human", "not scored", "d2", "sysB"]]
    text = "\r\n".join(delimiter.join(line) for line in lines) + "\r\n"
    check(read_scores(write(tmp_path / "scores.csv", "\ufeff" + text)))


def test_jsonl(tmp_path):
    keys = ("system", "input", "metric", "score")
    text = "".join(json.dumps(dict(zip(keys, row, strict=True))) + "\n" for row in ROWS)
    check(read_scores(write(tmp_path / "scores.jsonl", text)))


def test_sacrerouge_lines_are_flattened(tmp_path):
    rows = [
        {
            "instance_id": "d1",
            "summarizer_id": "sysA",
            "summarizer_type": "peer",
            "metrics": {"rouge-1": {"f1": 0.25}, "human": 3, "note": "text"},
        },
        {"instance_id": "d2", "summarizer_id": "sysA", "metrics": {"rouge-1": {"f1": 0.5}}},
        {"instance_id": "d1", "summarizer_id": "sysB", "metrics": {"rouge-1": {"f1": 0.125}}},
    ]
    text = "\n".join(map(json.dumps, rows))
    check(read_scores(write(tmp_path / "metrics.jsonl", text)))


def test_a_list_in_sacrerouge_lines_is_one_metric_a_rater(tmp_path):
    rows = [
        {
            "instance_id": i,
            "summarizer_id": system,
            "metrics": {"ground-truth": [score, 1, None], "by": {"x": [{"y": score}]}},
        }
        for system, i, score in [("a", 1, 2), ("a", 2, 3), ("b", 1, 4), ("b", 2, 6)]
    ]
    table = read_scores(write(tmp_path / "m.jsonl", "\n".join(map(json.dumps, rows))))
    assert table.metrics == ("ground-truth_0", "ground-truth_1", "ground-truth_2", "by_x_0_y")
    assert table.matrix("ground-truth_0").values.tolist() == [[2, 3], [4, 6]]
    assert np.isnan(table.matrix("ground-truth_2").values).all()
    assert select_metrics(table, "ground-truth") == table.metrics[:3]
    for row in rows:
        row["metrics"]["ground-truth"].pop()
    table = read_scores(write(tmp_path / "m.jsonl", "\n".join(map(json.dumps, rows))))
    against = align(table, "by_x_0_y", "ground-truth")
    assert against.human == "mean(ground-truth)"
    assert against.Z.tolist() == [[1.5, 2.0], [2.5, 3.5]]


def test_files_are_put_together(tmp_path):
    one = write(tmp_path / "a.csv", "system,input,metric,score\nsysA,d1,rouge-1_f1,.25\n")
    keys = ("system", "input", "metric", "score")
    rest = "".join(json.dumps(dict(zip(keys, row, strict=True))) + "\n" for row in ROWS[1:])
    check(read_scores([one, write(tmp_path / "b.jsonl", rest)]))


def test_two_files_may_agree_on_a_score_but_not_differ(tmp_path):
    one = write(tmp_path / "a.csv", "system,input,metric,score\na,1,human,3\na,1,m,1\n")
    two = write(tmp_path / "b.csv", "system,input,metric,score\na,1,human,3.0\na,1,n,2\n")
    assert read_scores([one, two]).values.ravel().tolist() == [3, 1, 2]
    three = write(tmp_path / "c.csv", "system,input,metric,score\na,1,human,4\n")
    with pytest.raises(InputError, match=r"c.csv:2: metric 'human' scores .* twice"):
        read_scores([one, three])


def test_frame_is_read_and_left_as_it_was():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS, columns=["system", "input", "metric", "score"])
    before = frame.copy(deep=True)
    check(read_scores(frame))
    check(read_scores(frame))
    pandas.testing.assert_frame_equal(frame, before)
    with pytest.raises(InputError, match="no column 'score'"):
        read_scores(frame.drop(columns="score"))


HEADER = "system,input,metric,score\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("system,input,score\na,b,1\n", "1: no column 'metric' .*Expected the columns"),
        (HEADER, "no scores at all"),
        (HEADER + "a,1,m,high\n", "2: the score 'high' is not a number"),
        (HEADER + "a,1,m,inf\n", "2: a score is infinite"),
        (HEADER + "a,1,m\n", "2: 3 columns. Expected 4"),
        (HEADER + "a,1,m,1\nb,1,m,1\na,1,m,1\n", "4: metric 'm' scores .* twice .*f.csv:2"),
        ('{"system": "a"}\n', "1: no 'input'"),
        ('{"summarizer_id": "a", "metrics": {}}\n', "1: a sacrerouge line without"),
        ("[1]\n", "1: a JSON list"),
        ('{"scores": 3}', "not the JSON that 'litepyramid score' writes"),
    ],
)
def test_mistakes_are_named(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_scores(write(tmp_path / "f.csv", text))


def test_what_is_no_table_is_refused():
    with pytest.raises(InputError, match="cannot be read from a int"):
        read_scores(3)


def test_a_table_whose_rows_share_nothing_is_refused_before_it_is_made():
    rows = [{"system": i, "input": i, "metric": i, "score": 0.5} for i in range(1000)]
    with pytest.raises(InputError, match=r"1,000 scores share too little.*1,000,000,000 cells"):
        read_scores(rows)
    small = read_scores(rows[:100])
    assert small.values.shape == (100, 100, 100)
    assert np.isfinite(small.values).sum() == 100


def test_written_scores_come_back_and_no_name_is_a_formula(tmp_path):
    names = ("=1+1", "-x", "'@a", "plain", "-0.5", 'a "b", c')
    rows = [
        {"system": s, "input": i, "metric": "+m", "score": len(s) / (n + 3)}
        for s in names
        for n, i in enumerate(names)
        if (s, i) != ("-x", "plain")
    ]
    table = read_scores(rows)
    write_scores(tmp_path / "s.csv", table)
    again = read_scores(tmp_path / "s.csv")
    assert (again.metrics, again.systems, again.inputs) == (("+m",), names, names)
    assert np.array_equal(again.values, table.values, equal_nan=True)
    text = (tmp_path / "s.csv").read_text(encoding="utf-8")
    assert not re.search(r"(^|,)[=+@]|(^|,)-x", text, re.MULTILINE)
