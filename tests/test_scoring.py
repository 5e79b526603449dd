"""From summaries to system scores, with a judge whose answers are known."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litepyramid.errors import InputError
from litepyramid.io.labels import read_labels
from litepyramid.io.scores import read_scores, select_matrix
from litepyramid.io.summaries import read_summaries
from litepyramid.io.units import read_units
from litepyramid.presence.judge import JudgedBatch
from litepyramid.presence.judges import make_judge
from litepyramid.pyramid import ScoringRule
from litepyramid.report.table import emit, render
from litepyramid.scoring import score_systems
from litepyramid.types import InputUnits, SystemLabels, SystemSummaries, Unit


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
    with pytest.raises(InputError, match="no labels of any system"):
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
