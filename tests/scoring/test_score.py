"""From summaries to system scores, with a judge whose answers are known."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import litepyramid as lp
from litepyramid.errors import InputError, MissingExtraError
from litepyramid.io.labels import read_labels
from litepyramid.io.presence import read_presence
from litepyramid.io.scores import read_scores, select_matrix
from litepyramid.io.summaries import read_summaries
from litepyramid.io.units import read_units, units_to_json
from litepyramid.judges.base import JudgedBatch
from litepyramid.judges.registry import make_judge
from litepyramid.scoring.pyramid import ScoringRule
from litepyramid.scoring.saved import read_result
from litepyramid.scoring.score import score_systems
from litepyramid.tables import emit, plain, render
from litepyramid.types import InputReferences, InputUnits, SystemLabels, SystemSummaries, Unit
from litepyramid.units.extract import extract


class WordJudge:
    """A unit is present if all its words are in the summary."""

    def judge(self, items):
        presence = tuple(
            np.array([float(set(u.split()) <= set(summary.split())) for u in units])
            for summary, units in items
        )
        return JudgedBatch(presence, {"judge": "words"}, {"pairs": sum(map(len, presence))})


UNITS = [
    InputUnits("x", (Unit("a b"), Unit("c", 3))),
    InputUnits("y", (Unit("d"), Unit("e"), Unit("f"))),
]
SYSTEMS = [
    SystemSummaries("good", ("x", "y"), ("a b c", "d e f")),
    SystemSummaries("half", ("x", "y"), ("a b", "d e")),
    SystemSummaries("mute", ("x", "y"), ("", "")),
]


def test_scores_by_hand():
    result = score_systems(SYSTEMS, UNITS, WordJudge())
    np.testing.assert_allclose(result.values, [[1, 1], [0.25, 2 / 3], [0, 0]])
    assert result.metric == "lite2pyramid"
    assert result.counts["empty_summaries"] == 2
    assert result.counts["pairs"] == 15
    assert str(result.signature).startswith("units:scu|judge:words|")
    assert str(result.signature).rsplit("|", 1)[1].startswith("version:")


@pytest.mark.parametrize(
    ("kinds", "metric"),
    [("ss", "lite2pyramid"), ("tt", "lite3pyramid"), ("st", "lite2.xpyramid")],
)
def test_the_metric_follows_the_units(kinds, metric):
    units = [
        InputUnits("x", tuple(Unit("a", kind="scu" if k == "s" else "stu") for k in kinds)),
    ]
    system = SystemSummaries("s", ("x",), ("a",))
    assert score_systems([system], units, WordJudge()).metric == metric


def test_human_scores_are_matched_by_name():
    labels = [
        SystemLabels("half", ("x", "y"), ((1, 0), (1, 1, 0))),
        SystemLabels("stranger", ("x", "y"), ((1, 1), (1, 1, 1))),
    ]
    result = score_systems(SYSTEMS, UNITS, WordJudge(), labels=labels)
    assert result.human_scores["half"] == pytest.approx((0.25 + 2 / 3) / 2)
    assert np.isnan(result.human_scores["good"])
    assert result.counts["systems_without_labels"] == 2
    assert result.counts["labels_not_used"] == 1
    assert "1 label file is of a system not scored here" in render(result, "table")
    assert json.loads(render(result, "json"))["systems"][0]["human"] is None
    with pytest.raises(InputError, match="no labels for any scored system"):
        score_systems(SYSTEMS[:1], UNITS, WordJudge(), labels=labels)


@pytest.mark.parametrize("name", ["sample", "original", "modified"])
def test_other_rules_score_and_say_so(name):
    rule = ScoringRule(name, size=2, references=2)
    result = score_systems(SYSTEMS, UNITS, WordJudge(), rule=rule)
    assert result.scores["mute"] == 0
    assert f"rule:{name}" in str(result.signature)


def test_modified_rule_by_hand():
    rule = ScoringRule("modified", references=2)
    result = score_systems(SYSTEMS, UNITS, WordJudge(), rule=rule)
    # x: 4 contributors over 2 references, 2 SCUs: 3 + 1. y: 3 over 2, floor(2.0) SCUs: 2.
    np.testing.assert_allclose(result.values, [[1, 1.5], [0.25, 1], [0, 0]])


def test_inputs_without_an_ideal_summary_are_left_out_and_counted():
    units = [*UNITS, InputUnits("z", (Unit("g"),))]
    systems = [SystemSummaries(s.system, ("x", "y", "z"), (*s.texts, "g")) for s in SYSTEMS]
    result = score_systems(systems, units, WordJudge(), rule=ScoringRule("modified", references=3))
    # z: one contributor over 3 references, floor(1/3 + 1/2) = 0 SCUs.
    assert np.isnan(result.values[:, 2]).all()
    assert result.scores["mute"] == 0
    assert result.counts["inputs_not_scored"] == 1
    assert "1 input has no score" in render(result, "table")


def test_the_signature_says_how_units_were_made():
    result = score_systems(SYSTEMS, UNITS, WordJudge(), about_units={"srl": "embedded"})
    assert "srl:embedded|units:scu|judge:words" in str(result.signature)


def test_what_does_not_match_is_refused():
    with pytest.raises(InputError, match="no systems"):
        score_systems([], UNITS, WordJudge())
    with pytest.raises(InputError, match="'good' occurs twice"):
        score_systems([SYSTEMS[0], SYSTEMS[0]], UNITS, WordJudge())
    backwards = SystemSummaries("b", ("y", "x"), ("", ""))
    with pytest.raises(InputError, match="are not those of the units"):
        score_systems([backwards], UNITS, WordJudge())


def test_a_saved_result_reads_back(tmp_path):
    result = score_systems(SYSTEMS, UNITS, WordJudge())
    emit(result, "json", tmp_path / "r.json")
    matrix = select_matrix(read_scores(tmp_path / "r.json"))
    np.testing.assert_array_equal(matrix.values, result.values)
    assert (matrix.systems, matrix.inputs) == (result.systems, result.inputs)


def test_a_saved_result_holds_the_human_scores_as_a_second_metric(tmp_path):
    labels = [SystemLabels("half", ("x", "y"), ((1, 0), (1, 1, 0)))]
    emit(score_systems(SYSTEMS, UNITS, WordJudge(), labels=labels), "json", tmp_path / "r.json")
    table = read_scores(tmp_path / "r.json")
    assert table.metrics == ("lite2pyramid", "human")
    np.testing.assert_allclose(table.matrix("human").values[1], [0.25, 2 / 3])
    assert np.isnan(table.matrix("human").values[[0, 2]]).all()
    assert select_matrix(table).metric == "lite2pyramid"


def test_json_goes_down_to_each_units_presence():
    data = json.loads(render(score_systems(SYSTEMS, UNITS, WordJudge()), "json"))
    half = next(r for r in data["scores"] if (r["system"], r["input"]) == ("half", "y"))
    assert half["presence"] == [1.0, 1.0, 0.0]
    assert data["units"][1]["units"][2]["text"] == "f"


@settings(max_examples=20, deadline=None)
@given(st.permutations(range(3)), st.permutations(range(2)))
def test_order_does_not_change_a_score(systems, inputs):
    shuffled = [
        SystemSummaries(
            SYSTEMS[i].system,
            tuple(SYSTEMS[i].inputs[j] for j in inputs),
            tuple(SYSTEMS[i].texts[j] for j in inputs),
        )
        for i in systems
    ]
    judge = make_judge("lexical")
    once = score_systems(SYSTEMS, UNITS, judge, samples=50)
    again = score_systems(shuffled, [UNITS[j] for j in inputs], judge, samples=50)
    for name, score in once.scores.items():
        assert again.scores[name] == pytest.approx(score, abs=1e-12)


def test_human_score_of_realsumm_to_the_last_digit(realsumm):
    units = read_units(realsumm / "SCUs.txt")
    names = [entry.input for entry in units]
    summaries = read_summaries([realsumm / "summaries"], names)
    labels = read_labels([realsumm / "labels"], units)
    result = score_systems(summaries, units, make_judge("recall"), labels=labels, samples=100)
    assert len(result.systems) == 25
    assert result.human_scores["abs_bart_out"] == 0.48349483849483854


def signature(*, units=UNITS, **settings):
    return score_systems(SYSTEMS, units, WordJudge(), **settings).signature.to_json()


def test_the_signature_names_the_data():
    base = signature()
    for text, weight in (("a c", 1), ("a b", 2)):
        changed = [InputUnits("x", (Unit(text, weight), Unit("c", 3))), UNITS[1]]
        other = signature(units=changed)
        assert {key for key in base if base[key] != other[key]} == {"units_sha"}
    placed = [InputUnits(e.input, tuple(replace(u, sentence=0) for u in e.units)) for e in UNITS]
    assert signature(units=placed) == base
    renamed = [replace(entry, input=entry.input.upper()) for entry in UNITS]
    systems = [replace(entry, inputs=("X", "Y")) for entry in SYSTEMS]
    other = score_systems(systems, renamed, WordJudge()).signature.to_json()
    assert {key for key in base if base[key] != other[key]} == {"inputs_sha"}
    labels = [SystemLabels("half", ("x", "y"), ((1, 0), (1, 1, 0)))]
    named = signature(labels=labels)
    assert named.keys() - base.keys() == {"labels_sha"}
    labels[0] = replace(labels[0], labels=((0, 0), (1, 1, 0)))
    assert signature(labels=labels)["labels_sha"] != named["labels_sha"]


def test_stus_name_the_references_they_come_from():
    def extracted(text):
        return dict(extract([InputReferences("a", ((text,),), (False,))]).signature.fields)

    one, two = extracted("The dog ran."), extracted("The dogs ran.")
    assert one.keys() == two.keys()
    assert {key for key in one if one[key] != two[key]} == {"references_sha"}


def test_labels_of_scus_beside_scores_on_stus(tmp_path):
    stus = [InputUnits(e.input, (Unit("a b", kind="stu"),)) for e in UNITS]
    labels = [SystemLabels("half", ("x", "y"), ((1, 0), (1, 1, 0)))]
    result = score_systems(SYSTEMS, stus, WordJudge(), labels=labels, label_units=UNITS)
    assert result.metric == "lite3pyramid"
    assert result.human_scores["half"] == pytest.approx((0.25 + 2 / 3) / 2)
    rows = result.to_json()
    assert rows["label_units"] == [units_to_json(entry) for entry in UNITS]
    half = [row for row in rows["scores"] if row["system"] == "half"]
    assert [row["labels"].tolist() for row in half] == [[1, 0], [1, 1, 0]]
    assert [row["presence"].tolist() for row in half] == [[1], [0]]
    with pytest.raises(InputError, match="labels' units are for other inputs"):
        score_systems(SYSTEMS, stus, WordJudge(), labels=labels, label_units=UNITS[::-1])


def test_a_result_is_one_line():
    units = [InputUnits(str(i), (Unit("word " * 20),) * 30) for i in range(50)]
    system = SystemSummaries("s", tuple(map(str, range(50))), ("word",) * 50)
    result = score_systems([system], units, WordJudge())
    assert repr(result) == "<ScoreResult: Lite²Pyramid of 1 system on 50 inputs (1500 units)>"


def saved(path, judge, *, units=UNITS, **settings):
    emit(score_systems(SYSTEMS[:2], units, judge, **settings), "json", path)
    return path


def test_results_of_one_metric_are_told_apart(tmp_path):
    one = saved(tmp_path / "1.json", WordJudge())
    two = saved(tmp_path / "2.json", make_judge("lexical"))
    assert read_scores([one, two]).metrics == ("lite2pyramid[words]", "lite2pyramid[lexical]")
    again = saved(tmp_path / "again.json", WordJudge())
    assert read_scores([one, again]).metrics == ("lite2pyramid",)
    old = tmp_path / "old.json"
    old.write_text(one.read_text().replace('"samples"', '"k"'))
    assert '"k": ' in old.read_text()
    assert read_scores([one, old]).metrics == ("lite2pyramid",)
    assert str(lp.compare(old).signature) == str(lp.compare(one).signature)
    fewer = [InputUnits("x", (Unit("c"),)), UNITS[1]]
    three = saved(tmp_path / "3.json", WordJudge(), units=fewer)
    names = read_scores([one, two, three]).metrics
    hashes = [json.loads(p.read_text())["signature"]["units_sha"] for p in (one, two, three)]
    assert names == tuple(
        f"lite2pyramid[{judge}, units {sha}]"
        for judge, sha in zip(("words", "lexical", "words"), hashes, strict=True)
    )
    mine = saved(tmp_path / "4.json", make_judge("recall"), name="mine")
    table = read_scores([one, mine])
    assert table.metrics == ("lite2pyramid", "mine")
    with pytest.raises(InputError, match="'human' is reserved for the human score"):
        saved(tmp_path / "5.json", WordJudge(), name="human")


def test_parts_of_one_metric_are_put_together(tmp_path):
    first = score_systems(SYSTEMS[:1], UNITS, WordJudge())
    rest = score_systems(SYSTEMS[1:], UNITS, WordJudge())
    emit(first, "json", tmp_path / "1.json")
    emit(rest, "json", tmp_path / "2.json")
    table = read_scores([tmp_path / "1.json", tmp_path / "2.json"])
    assert (table.metrics, len(table.systems)) == (("lite2pyramid",), 3)


def test_other_scores_under_one_signature_are_an_error_that_names_the_files(tmp_path):
    one = saved(tmp_path / "1.json", WordJudge())
    text = one.read_text().replace('"score": 0.25', '"score": 0.5')
    (tmp_path / "2.json").write_text(text)
    with pytest.raises(
        InputError, match=r"2\.json: metric .* twice \(first at \S*1\.json\)"
    ) as error:
        read_scores([one, tmp_path / "2.json"])
    assert "None" not in str(error.value)


def _labelled_result():
    labels = [SystemLabels("good", ("x", "y"), ((1, 1), (1, 0.5, 1)))]
    return score_systems(SYSTEMS, UNITS, WordJudge(), labels=labels, name="mine")


def test_large_lists_are_written_an_entry_at_a_time_and_as_before(tmp_path):
    result = _labelled_result()
    whole = json.dumps(plain(result.to_json()), ensure_ascii=False, indent=1) + "\n"
    assert render(result, "json") == whole
    result.save(tmp_path / "scores.json")
    assert (tmp_path / "scores.json").read_text() == whole


@pytest.mark.parametrize("name", ["scores", "scores.npz", "scores.parquet"])
def test_columns_give_back_the_same_result(tmp_path, name):
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    result = _labelled_result()
    path = tmp_path / name
    result.save(path)
    again = read_result(path)
    assert json.loads(render(again, "json")) == json.loads(render(result, "json"))
    assert again.presence.dtype == np.float64
    result.save(tmp_path / "scores.json")
    tables = [read_scores(tmp_path / "scores.json"), read_scores(path)]
    assert sorted(tables[0].metrics) == sorted(tables[1].metrics)
    for metric in tables[0].metrics:
        one, other = (table.matrix(metric) for table in tables)
        assert (one.systems, one.inputs) == (other.systems, other.inputs)
        np.testing.assert_array_equal(one.values, other.values)
    presence = read_presence(path)
    assert presence.units == tuple(UNITS)
    np.testing.assert_array_equal(presence.values, result.presence)
    assert lp.score(presence=path).scores == result.scores
    assert lp.compare(path).pairs == lp.compare(result).pairs


def test_parquet_is_a_table_that_others_read(tmp_path):
    pandas = pytest.importorskip("pandas", reason="the extra tables is not installed")
    pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    result = _labelled_result()
    result.save(tmp_path / "scores.parquet")
    frame = pandas.read_parquet(tmp_path / "scores.parquet")
    assert len(frame) == result.values.size
    np.testing.assert_array_equal(frame["score"], result.values.ravel())
    np.testing.assert_array_equal(np.concatenate(frame["presence"]), result.presence.ravel())
    assert frame["system"].tolist() == np.repeat(result.systems, len(UNITS)).tolist()


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"\[parquet\]"):
        _labelled_result().save(tmp_path / "scores.parquet")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_holds_one_result_and_nothing_else(tmp_path):
    result = _labelled_result()
    result.save(tmp_path / "scores")
    (tmp_path / "scores" / "presence.npy").rename(tmp_path / "presence.npy")
    assert lp.compare(tmp_path / "scores").pairs == lp.compare(result).pairs  # reads scores alone
    with pytest.raises(InputError, match="has no presence"):
        read_result(tmp_path / "scores")
    replace(result, labels=None, label_units=None, human=None).save(tmp_path / "scores")
    assert read_result(tmp_path / "scores").human is None
    for name in ("embeddings.npy", "notes.txt"):
        mine = tmp_path / "scores" / name
        mine.write_text("mine")
        with pytest.raises(InputError, match=f"holds '{name}', which is not part of a result"):
            result.save(tmp_path / "scores")
        mine.rename(tmp_path / name)


def test_broken_columns_are_named(tmp_path):
    path = tmp_path / "scores.npz"
    _labelled_result().save(path)
    held = dict(np.load(path))
    with path.open("wb") as file:
        np.savez(file, **{**held, "presence": held["presence"][:, 1:]})
    for read in (read_result, read_presence):
        with pytest.raises(InputError, match=r"'presence' is of the shape \(3, 4\)"):
            read(path)
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    np.savez(tmp_path / "pickled.npz", document=np.array([{}], dtype=object))
    (tmp_path / "cut.npz").write_bytes(path.read_bytes()[:-40])
    for name in ("other", "pickled", "cut"):
        for read in (read_result, read_presence, read_scores):
            with pytest.raises(InputError):
                read(tmp_path / f"{name}.npz")
