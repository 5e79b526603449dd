"""From summaries to system scores, with a judge whose answers are known."""

from dataclasses import replace

import numpy as np
import pytest
from cases import cases, quick_score, refused

import litepyramid as lp
from litepyramid.data.records import InputUnits, Unit


def words(text, units):
    """A unit is present if all its words are in the summary."""
    return [float({*unit.split()} <= {*text.split()}) for unit in units]


UNITS = (
    InputUnits("x", (Unit("a b"), Unit("c", 3))),
    InputUnits("y", (Unit("d"), Unit("e"), Unit("f"))),
)
SYSTEMS = {
    "good": {"x": "a b c", "y": "d e f"},
    "half": {"x": "a b", "y": "d e"},
    "mute": {"x": "", "y": ""},
}
HALF = {"half": {"x": [1, 0], "y": [1, 1, 0]}}


def scored(systems=SYSTEMS, units=UNITS, **options):
    return quick_score(systems, units, **{"judge": words} | options)


def test_scores_by_hand():
    result = scored()
    np.testing.assert_allclose(result.values, [[1, 1], [0.25, 2 / 3], [0, 0]])
    assert result.metric == "lite2pyramid"
    assert result.counts["empty_summaries"] == 2
    assert str(result.signature).startswith("units:scu|judge:function words|")
    assert (
        repr(result) == "<ScoreResult: Lite²Pyramid of 3 systems on 2 inputs (5 units)>"
    )


@pytest.mark.parametrize(
    ("kinds", "metric"),
    cases("""
        scu scu | lite2pyramid
        stu stu | lite3pyramid
        scu stu | lite2.xpyramid
    """),
)
def test_the_metric_follows_the_units(kinds, metric):
    units = tuple([Unit("a", kind=kind) for kind in kinds.split()])
    assert quick_score({"s": {"x": "a"}}, [InputUnits("x", units)]).metric == metric


def test_human_scores_are_matched_by_name():
    result = scored(labels=HALF | {"stranger": {"x": [1, 1], "y": [1, 1, 1]}})
    assert result.human_scores["half"] == pytest.approx((0.25 + 2 / 3) / 2)
    assert np.isnan(result.human_scores["good"])
    assert result.counts["systems_without_labels"] == 2
    assert result.counts["labels_not_used"] == 1
    assert "of systems not scored here" in result.to_table()
    partial = {"half": {"x": [1, 0], "y": []}}
    assert scored(labels=partial).counts["inputs_without_labels"] == 1
    with refused("no labels for any scored system"):
        scored({"good": SYSTEMS["good"]}, labels=HALF)


def test_an_input_whose_ideal_summary_is_empty_is_not_scored():
    result = quick_score(["g", "c"], [["g"], ["c", "d"]], rule="modified-3")
    # floor(1/3 + 1/2) = 0 SCUs
    np.testing.assert_array_equal(result.values, [[np.nan, 1]])
    assert result.counts["inputs_not_scored"] == 1


def test_what_does_not_match_is_refused():
    for labels in ({"half": {"x": [1], "y": [1, 1, 0]}}, {"half": {"z": [1]}}):
        with refused():
            scored(labels=labels)

    for rule in ("lite-3", "sample-0", "modified-", ""):
        with refused("unknown scoring rule"):
            scored(rule=rule)
    with refused("the name 'human'"):
        scored(name="human")
    with refused("the name ' '"):
        scored(name=" ")
    with refused("neither units nor references"):
        scored(units=None)


def test_a_judge_that_was_down_leaves_no_score():
    texts = {"a": ["It rained."], "b": ["We left."]}
    result = quick_score(texts, [["It rained."]], judge=lambda *_: [np.nan])
    assert result.groups == ((), ())
    assert all(np.isnan(value) for value in result.scores.values())
    assert "2 summaries are not scored" in result.to_table()
    assert result.to_frame("inputs")["missing"].tolist() == [1, 1]
    assert '"score":null' in result.to_html()


def test_labels_of_scus_beside_scores_on_stus():
    stus = tuple([InputUnits(name, (Unit("a b", kind="stu"),)) for name in "xy"])
    data = lp.load(units=UNITS, stus=stus, data=SYSTEMS, labels=HALF)
    result = scored(data, stus)
    assert result.metric == "lite3pyramid"
    assert result.human_scores["half"] == pytest.approx((0.25 + 2 / 3) / 2)
    assert result.labels.units.entries == UNITS
    assert scored(data, None).metric == "lite2pyramid"
    heavier = (replace(UNITS[0], units=(Unit("a b", 9), Unit("c", 3))), UNITS[1])
    other = lp.load(units=heavier, stus=stus, data=SYSTEMS, labels=HALF)
    other = scored(other, stus)
    assert other.human_scores != result.human_scores
    assert other.signature != result.signature


def test_the_ceiling_is_what_references_score():
    references = [
        "A storm hit Oslo. Two people died.",
        "The bridge is closed until Monday.",
    ]
    texts = {"same": references, "mine": ["A storm hit Oslo.", ""]}
    result = quick_score(texts, references=references)
    assert result.ceiling == pytest.approx(result.scores["same"], abs=1e-12)
    assert f"references themselves score {result.ceiling:.3f}" in result.to_table()
    assert quick_score(texts, [["A storm hit Oslo."], ["x y"]]).ceiling is None


def test_frames_of_systems_inputs_and_units():
    pytest.importorskip("pandas")
    result = quick_score(
        {"a": ["It rained. We left.", "No."]},
        [["We left.", "He slept."], ["No."]],
        labels={"a": [[1, 0], [1]]},
        evidence=True,
    )
    assert result.to_frame()["score"].tolist() == [0.75]
    inputs = result.to_frame("inputs")
    assert inputs["score"].tolist() == inputs["human"].tolist() == [0.5, 1]
    assert inputs["units"].tolist() == [2, 1]

    units = result.to_frame("units")
    assert units["presence"].tolist() == units["label"].tolist() == [0, 1, 1]
    assert units["evidence"][1] == "We left."


@pytest.mark.data
def test_human_score_of_realsumm_to_the_last_digit(realsumm):
    result = quick_score(lp.load(realsumm))
    assert len(result.systems) == 25
    assert result.human_scores["abs_bart_out"] == 0.48349483849483854


def test_a_unit_without_presence_is_told_with_its_place():
    presence = {"a": {"1": [1, None], "2": [1]}, "b": {"1": [1, 0], "2": [0]}}
    units = {"1": ["It rained.", "We left."], "2": ["It snowed."]}
    result = quick_score(units=units, presence=presence)
    assert np.isnan(result.values[0, 0])
    (note,) = [note for note in result.notes if "not scored" in note]
    assert note.startswith("1 summary is not scored")
    assert "'a' on '1'" in note
    assert result.to_table().count("not scored") == 1
