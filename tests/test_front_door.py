"""The front door: every job in one call, on paths, lists, dicts, frames and rows."""

from __future__ import annotations

import csv
import hashlib
import importlib
import json
import pkgutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

import litepyramid as lp
from litepyramid.embedded.example import save_example
from litepyramid.errors import InputError, LitepyramidError
from litepyramid.judges.base import JudgedBatch
from litepyramid.tables import Result

UNITS = {"oslo": ["A storm hit Oslo.", "Two people died."], "rome": ["Rome voted."]}
TEXTS = {"mine": ["A storm hit Oslo on Monday.", "Rome voted."], "theirs": ["", "Rome slept."]}
ROWS = [
    {"system": system, "input": name, "summary": text}
    for system, texts in TEXTS.items()
    for name, text in zip(UNITS, texts, strict=True)
]
UNIT_ROWS = [{"input": name, "unit": unit} for name, units in UNITS.items() for unit in units]


class HubRows:
    """Rows as a data set of Hugging Face gives them: iterated, and with the names of columns."""

    def __init__(self, rows):
        self.rows = rows
        self.column_names = list(rows[0])

    def __len__(self):
        return len(self.rows)

    def __iter__(self):
        return iter(self.rows)


def frame(rows):
    return pytest.importorskip("pandas").DataFrame(rows)


def columns(rows):
    return {key: [row[key] for row in rows] for key in rows[0]}


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    return save_example(tmp_path_factory.mktemp("front") / "example")


@pytest.fixture(scope="module")
def data(example):
    return lp.load(
        example / "scus.jsonl",
        summaries=example / "summaries",
        labels=example / "labels",
        references=example / "references.jsonl",
    )


@pytest.fixture(scope="module")
def expected():
    return lp.score(TEXTS, UNITS, judge="recall")


def test_importing_the_package_loads_nothing_heavy():
    heavy = ["torch", "spacy", "pandas", "xgboost", "transformers", "scipy"]
    code = (
        f"import sys, litepyramid as lp; lp.score; print([m for m in {heavy} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_there():
    assert all(getattr(lp, name) is not None for name in lp.__all__)
    assert set(dir(lp)) >= {"score", "load", "judge", "meta", "Unit"}
    with pytest.raises(AttributeError):
        lp.absent  # noqa: B018


def test_the_lines_of_the_design(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for file in example.iterdir():
        (tmp_path / file.name).symlink_to(file)
    result = lp.score(
        {"mine": ["A storm hit Oslo on Monday."]}, references=["A storm hit Oslo. Two people died."]
    )
    assert list(result.scores) == ["mine"]
    assert result.to_frame()["score"].tolist() == list(result.scores.values())
    assert "units:stu|srl:embedded" in str(result.signature)
    result.to_html("report.html")
    assert "default-src 'none'" in Path("report.html").read_text(encoding="utf-8")

    data = lp.load(
        "scus.jsonl", summaries="summaries/", labels="labels/", references="references.jsonl"
    )
    judge = lp.judge("lexical")
    result = lp.score(data, judge=judge)
    assert "judge:reading" in str(lp.score(data, judge="reading").signature)
    assert len(lp.compare(result).pairs) == 6
    assert lp.evaluate(judge, data).pairs == 344

    tuned = lp.finetune("lexical", data, output="my-judge")
    assert lp.score(data, judge="my-judge").scores != result.scores
    assert lp.crossval("lexical", data, folds=5).scores
    assert repr(tuned).startswith("<FinetuneResult")

    stus = lp.extract_units(data.references)
    easy = lp.EasinessRegressor.embedded().predict(data.references, stus)
    mixed = lp.mix(data.units, stus, easy, stu_share=0.5)
    plan = lp.plan(data.references, human_share=0.5)
    assert mixed.counts()["stu_sentences"] == len(plan.sentences) // 2
    assert lp.mix(data.units, references=data.references).units == mixed.units
    assert lp.score(data, mixed).metric == "lite2.xpyramid"
    tasks = lp.export_tasks(plan, "tasks/", form="page").tasks
    one = {"task": tasks.ids[0], "scus": ["A fact."], "finished": True}
    Path("answers.json").write_text(
        json.dumps({"format": "litepyramid-answers", "worker": "w", "answers": [one]})
    )
    answers = lp.import_answers("tasks/", "answers.json", stus=stus, output="answers.jsonl")
    assert lp.load("answers.jsonl").units == tuple(answers.units)
    assert answers.scus == 1
    assert lp.score(data, answers).metric == "lite2.xpyramid"

    result.save("scores.csv.json")
    table = lp.read_scores("scores.csv.json")
    assert lp.meta.correlate(table, "human").to_json()
    assert (
        lp.meta.correlate(result, "human").to_json() == lp.meta.correlate(table, "human").to_json()
    )
    lp.meta.interval(table, "human", samples=40, seed=12345)
    lp.meta.compare(pair_of_metrics(table), "human", level="system", coefficient="kendall")
    lp.meta.difference(result, 0.05)


def pair_of_metrics(table):
    """The table with a second metric, so that there are two to compare."""
    other = table.values[:1] ** 2
    return lp.ScoreTable(
        (*table.metrics, "square"),
        table.systems,
        table.inputs,
        np.concatenate([table.values, other]),
    )


SOURCES = [TEXTS, ROWS, HubRows(ROWS), columns(ROWS), frame(ROWS), iter(ROWS)]


@pytest.mark.parametrize("summaries", SOURCES, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("of", [dict, HubRows, frame, columns], ids=lambda f: f.__name__)
def test_data_of_any_kind_gives_the_same_scores(summaries, of, expected):
    units = UNITS if of is dict else of(UNIT_ROWS)
    summaries = ROWS if hasattr(summaries, "__next__") else summaries
    found = lp.score(summaries, units, judge="recall")
    assert found.scores == expected.scores
    assert found.signature == expected.signature
    assert found.inputs == ("oslo", "rome")


def test_ids_are_made_where_none_are_given(expected):
    units = list(UNITS.values())
    assert lp.score(TEXTS, units, judge="recall").inputs == ("1", "2")
    without = [{k: v for k, v in row.items() if k != "input"} for row in ROWS]
    assert lp.score(without, units, judge="recall").scores == expected.scores
    assert lp.score(without, UNITS, judge="recall").inputs == ("oslo", "rome")
    assert lp.score(TEXTS["mine"], units, judge="recall").systems == ("system",)
    named = lp.score(TEXTS, units, judge="recall", ids=["a", "b"])
    assert named.inputs == ("a", "b")


def test_one_table_may_hold_everything(expected):
    rows = [{**row, "units": UNITS[row["input"]]} for row in ROWS]
    for table in (rows, frame(rows), HubRows(rows)):
        assert lp.score(table, judge="recall").scores == expected.scores
    rows = [{**row, "reference": "It rained. We left."} for row in ROWS]
    assert lp.score(frame(rows), judge="recall").metric == "lite3pyramid"
    renamed = frame(ROWS).rename(columns={"summary": "output", "input": "doc"})
    found = lp.score(renamed, UNITS, judge="recall", columns="summary=output,input=doc")
    assert found.scores == expected.scores


def test_labels_weights_and_references_of_plain_python(expected):
    labels = {"mine": [[1, 0], [1]], "theirs": {"oslo": [0, 0], "rome": [0]}}
    flat = [
        {"system": system, "input": name, "unit": unit, "label": bool(label)}
        for system, rows in {"mine": [[1, 0], [1]], "theirs": [[0, 0], [0]]}.items()
        for (name, units), row in zip(UNITS.items(), rows, strict=True)
        for unit, label in zip(units, row, strict=True)
    ]
    for given in (labels, flat, frame(flat)):
        found = lp.score(TEXTS, UNITS, judge="recall", labels=given)
        assert found.human_scores == {"mine": 0.75, "theirs": 0.0}
    weighted = lp.score(TEXTS, UNITS, judge="recall", weights=[[3, 1], [1]])
    assert weighted.units[0].units[0].weight == 3
    several = lp.load(references=[["It rained.", "We left."], [["One.", "Two."]]])
    assert [len(entry.references) for entry in several.references] == [2, 1]
    assert several.references[1].marked == (True,)
    assert several.inputs == ("1", "2")


def test_a_judge_of_ones_own(expected):
    def contains(summary, units):
        return [unit.rstrip(".") in summary for unit in units]

    class Own:
        def judge(self, items):
            return [[0.5] * len(units) for _, units in items]

    found = lp.score(TEXTS, UNITS, judge=contains)
    assert found.scores == {"mine": 0.75, "theirs": 0.0}
    assert "judge:function contains" in str(found.signature)
    some = lp.score(TEXTS, UNITS, judge=lambda _, units: [float("nan"), 1][-len(units) :])
    assert some.scores["mine"] == 1
    assert (some.counts["missing"], some.counts["summaries_not_scored"]) == (1, 1)
    half = lp.score(TEXTS, UNITS, judge=Own())
    assert set(half.scores.values()) == {0.5}
    assert "judge:Own" in str(half.signature)
    assert lp.judge(contains).judge([("", ("a",))]).presence[0].tolist() == [0]


@pytest.mark.parametrize(
    ("judge", "message"),
    [
        (lambda s, u: 0.5, "'lambda' returned 0.5 for 2 units. Expected one number"),
        (lambda s, u: [2.0] * len(u), "expected one number|Expected one number from 0 to 1"),
        (lambda s, u: "yes", "returned yes for"),
        (3, "a judge cannot be made from a int"),
        ("lexcial", "Did you mean 'lexical'"),
        (type("Few", (), {"judge": lambda self, items: JudgedBatch(())})(), "'Few' judged 0"),
    ],
)
def test_wrong_judges(judge, message):
    with pytest.raises(InputError, match=message):
        lp.score(TEXTS, UNITS, judge=judge)


PRESENCE = {"mine": [[1, 0.25], [1]], "theirs": {"oslo": [0, 0], "rome": [0.5]}}
PRESENCE_ROWS = [
    {"system": system, "input": name, "unit": unit, "presence": value}
    for system, rows in {"mine": [[1, 0.25], [1]], "theirs": [[0, 0], [0.5]]}.items()
    for (name, units), row in zip(UNITS.items(), rows, strict=True)
    for unit, value in zip(units, row, strict=True)
]


def write_csv(path, rows):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_presence_from_outside(tmp_path, expected):
    path = write_csv(tmp_path / "p.csv", PRESENCE_ROWS[::-1])
    lines = tmp_path / "p.jsonl"
    lines.write_text("\n".join(json.dumps(row) for row in PRESENCE_ROWS))
    for given in (PRESENCE, PRESENCE_ROWS, frame(PRESENCE_ROWS), path, lines):
        found = lp.score(units=UNITS, presence=given)
        assert found.scores == pytest.approx({"mine": 0.8125, "theirs": 0.25})
    saved = tmp_path / "scores.json"
    expected.save(saved)
    for given in (saved, str(saved), expected, json.loads(saved.read_text())):
        again = lp.score(presence=given)
        assert again.scores == expected.scores
        assert again.units == expected.units
    assert lp.score(TEXTS, UNITS, presence=saved).systems == ("mine", "theirs")


def test_presence_on_the_command_line(tmp_path, cli):
    path = write_csv(tmp_path / "p.csv", PRESENCE_ROWS)
    units = write_csv(tmp_path / "units.csv", UNIT_ROWS)
    args = ("score", "--presence", "p.csv", "--units", "units.csv", "--format", "json")
    cli(*args, "-o", "s.json", cwd=tmp_path)
    first = json.loads((tmp_path / "s.json").read_text())
    assert [row["score"] for row in first["systems"]] == pytest.approx([0.8125, 0.25])
    assert units.is_file()
    assert first["signature"]["presence_sha"] == hashlib.sha256(path.read_bytes()).hexdigest()[:8]
    again = json.loads(cli("score", "--presence", "s.json", "-f", "json", cwd=tmp_path).stdout)
    assert again["systems"] == first["systems"]
    said = cli("score", "--presence", "p.csv", cwd=tmp_path, status=2)
    assert "presence without units" in said.stderr


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r.pop(), "no presence of input 'rome' of system 'theirs'"),
        (lambda r: r.pop(0), "p.csv:2: 1 presence for the 2 units of input 'oslo'"),
        (lambda r: r[0].update(presence=1.5), "p.csv:2: presence '1.5'. Expected a number from 0"),
        (lambda r: r[0].update(presence=""), "p.csv:2"),
        (lambda r: r[0].update(unit="Else."), "no presence for the unit 'A storm hit Oslo.'"),
        (lambda r: r[0].update(input="paris"), "input 'paris', which has no units"),
    ],
)
def test_presence_that_is_not_complete(tmp_path, change, message):
    rows = [dict(row) for row in PRESENCE_ROWS]
    change(rows)
    with pytest.raises(InputError, match=message):
        lp.score(units=UNITS, presence=write_csv(tmp_path / "p.csv", rows))


def test_presence_of_other_units_or_systems(expected, tmp_path):
    expected.save(tmp_path / "s.json")
    with pytest.raises(InputError, match="for other units"):
        lp.score(units=[["a", "b"], ["c"]], presence=tmp_path / "s.json")
    with pytest.raises(InputError, match="system 'third' has summaries but no presence"):
        lp.score({**TEXTS, "third": ["", ""]}, UNITS, presence=PRESENCE)
    with pytest.raises(InputError, match="one of the two"):
        lp.score(TEXTS, UNITS, presence=PRESENCE, judge="recall")


@pytest.mark.parametrize(
    ("summaries", "units", "message"),
    [
        (
            TEXTS,
            ["A fact."],
            "units cannot be read from a list of str. Expected a path, a list with",
        ),
        (TEXTS, 3, "units cannot be read from a int"),
        (3, UNITS, "summaries cannot be read from a int"),
        (
            "A storm hit Oslo.",
            UNITS,
            "no such file or folder. Check the path; put a single text into a",
        ),
        ({"a": ["one"]}, UNITS, "no summary of input 'rome' of system 'a'"),
        ({"a": ["1", "2", "3"]}, UNITS, "input '3', which has no units"),
        ({"a": [1, 2]}, UNITS, 'summaries:1: no "summary"'),
        ([{"input": "oslo", "text": "x"}], UNITS, 'summaries:1: no "summary"'),
        ([], UNITS, "no summaries"),
        ({}, UNITS, "no summary: the table has no rows"),
        (TEXTS, {"oslo": [""]}, "units:1: unit 1 is empty"),
        (TEXTS, {}, "no line of units"),
        (None, UNITS, "no summaries"),
        (TEXTS, None, "neither units nor references given"),
        ([{"summary": object()}], UNITS, "summaries:1: cannot be read"),
        (PRESENCE, UNITS, 'summaries:1: no "summary"'),
    ],
)
def test_wrong_data_is_one_clear_error(summaries, units, message):
    with pytest.raises(LitepyramidError, match=message):
        lp.score(summaries, units, judge="recall")


def test_labels_need_units_and_jobs_need_labels(data):
    with pytest.raises(InputError, match="labels without their units"):
        lp.load(references=["a"], labels={"a": [[1]]})
    with pytest.raises(InputError, match="has no labels"):
        lp.evaluate("recall", lp.load(UNITS, summaries=TEXTS))
    with pytest.raises(InputError, match="units and references given"):
        lp.score(TEXTS, UNITS, references=["a", "b"], judge="recall")
    assert data.signature.fields[0] == ("data", "own")
    assert repr(data) == "<Dataset: own: 12 inputs, 4 systems>"


def test_scores_of_any_kind_are_one_table(expected, tmp_path):
    rows = [
        {"system": s, "input": i, "metric": m, "score": len(s) + n}
        for s in ("a", "bb")
        for n, i in enumerate("xyz")
        for m in ("human", "own")
    ]
    path = write_csv(tmp_path / "s.csv", rows)
    tables = [lp.read_scores(given) for given in (rows, frame(rows), HubRows(rows), path, [path])]
    for table in tables:
        assert np.array_equal(table.values, tables[0].values)
        assert lp.compare(table, metric="own").pairs[0].difference == 1
    assert lp.read_scores(expected).metrics == ("lite2pyramid",)
    assert lp.compare(frame(rows), metric="own").metric == "own"
    with pytest.raises(InputError, match="no column 'score'"):
        lp.read_scores(frame(rows).drop(columns="score"))
    assert repr(tables[0]) == "<ScoreTable: human, own; 2 systems, 3 inputs>"
    gaps = lp.read_scores(frame(rows).assign(score=[None, *range(11)]))
    assert np.isnan(gaps.values).sum() == 1
    with pytest.raises(InputError, match="infinite"):
        lp.read_scores([{**rows[0], "score": float("inf")}])


def result_classes():
    for module in pkgutil.walk_packages(lp.__path__, "litepyramid."):
        if "__main__" not in module.name:
            importlib.import_module(module.name)
    found, new = set(), {Result}
    while new:
        new = {kind for one in new for kind in one.__subclasses__()} - found
        found |= new
    ours = {kind for kind in found if kind.__module__.startswith("litepyramid.")}
    return sorted(ours, key=lambda kind: kind.__name__)


NO_NUMBERS = {
    *("CacheInfo", "ConvertResult", "Converted", "DatasetList", "Estimate", "Explanation"),
}


def test_every_result_can_do_what_results_do():
    for kind in result_classes():
        names = {f.name for f in fields(kind)}
        assert kind.to_tables is not Result.to_tables, kind
        assert kind.__repr__ is Result.__repr__, kind
        if kind.__name__ not in NO_NUMBERS:
            assert "signature" in names or hasattr(kind, "signature"), kind
    names = {kind.__name__ for kind in result_classes()}
    assert len(names) == len({f"{kind.__module__}.{kind.__name__}" for kind in result_classes()})


def test_results_show_themselves(data, expected, tmp_path):
    stus = lp.extract_units(data.references)
    easy = lp.EasinessRegressor.embedded().predict(data.references, stus)
    results = [
        data,
        expected,
        stus,
        easy,
        lp.compare(expected),
        lp.evaluate("recall", data),
        lp.crossval("lexical", data, folds=3, stu_share=None),
        lp.mix(data.units, stus, easy),
        lp.plan(data.references, human_share=0.5, easiness=easy),
    ]
    for number, result in enumerate(results):
        assert len(repr(result)) < 120
        assert "\n" not in repr(result)
        assert "<table>" in result._repr_html_()
        assert len(result.to_frame())
        assert str(result.signature) in result.to_table().replace("\n", "")
        for ending in ("json", "csv", "tex", "txt"):
            result.save(tmp_path / f"{number}.{ending}")
        assert json.loads((tmp_path / f"{number}.json").read_text())
    with pytest.raises(InputError, match=r"unknown format '\.doc'"):
        expected.save(tmp_path / "s.doc")
