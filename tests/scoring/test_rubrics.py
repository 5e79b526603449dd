"""Rubrics through the verb: penalties, time-outs, tags, questions; odd input is
said."""

import re
from itertools import product

import numpy as np
import pytest
from cases import quick_score, refused
from hypothesis import given, settings
from hypothesis import strategies as st

import litepyramid as lp
from litepyramid.data.records import InputUnits, Unit

TAGS = ("axis:accuracy", "axis:tone", "level:example")
CRITERION = st.tuples(
    st.sampled_from([-10, -7, -2.5, 1, 3, 5, 10]),
    st.sets(st.sampled_from(TAGS), max_size=2),
)
RUBRIC = st.lists(CRITERION, min_size=1, max_size=6).filter(lambda own: max(own)[0] > 0)


def rubrics(rows):
    entries = []
    for row in rows:
        units = []
        for j, (weight, tags) in enumerate(row):
            units.append(Unit(f"c{j}", weight, tags=tuple(sorted(tags))))
        entries.append(units)
    return entries


def scored(rows, answers, labels=None, rule="points"):
    """Of a grade for each criterion of each answer; NaN where none came."""
    presence = {f"s{n}": own for n, own in enumerate(answers)}
    units = rubrics(rows)
    return quick_score(units=units, presence=presence, labels=labels, rule=rule)


def points_of(criteria, met, rule="points", tag=None):
    """HealthBench's score of an example, or PRBench's, of its criteria with a tag; None
    without positive points."""
    points = highest = lowest = 0
    for (weight, tags), grade in zip(criteria, met, strict=True):
        if tag is None or tag in tags:
            points += weight * grade
            highest += max(weight, 0)
            lowest += min(weight, 0)

    if not highest:
        return None
    if rule == "points":
        return points / highest
    return (points - lowest) / (highest - lowest)


@st.composite
def judged(draw):
    rows = draw(st.lists(RUBRIC, min_size=1, max_size=4))
    met = st.sampled_from([0, 1, 0, 1, 0, 1, np.nan])
    return rows, [
        [draw(st.lists(met, min_size=len(row), max_size=len(row))) for row in rows]
        for _ in range(draw(st.integers(1, 3)))
    ]


@settings(max_examples=30, deadline=None)
@given(judged(), st.sampled_from(["points", "normalized"]))
def test_scores_by_input_and_by_tag_are_their_definitions(case, rule):
    rows, answers = case
    result = scored(rows, answers, rule=rule)

    def expected(own, tag=None):
        values = []
        for row, met in zip(rows, own, strict=True):
            value = points_of(row, met, rule, tag)
            if value is not None:
                values.append(value)
        return values

    by_input = [expected(own) for own in answers]
    np.testing.assert_allclose(result.values, by_input, atol=1e-12)
    gaps = np.isnan(by_input).sum()
    assert result.counts.get("summaries_not_scored", 0) == gaps
    clipped = np.clip([*result.scores.values()], 0, 1) if rule == "points" else []
    assert [*result.clipped.values()] == pytest.approx([*clipped], nan_ok=True)

    entries = {(row["tag"], row["system"]): row for row in result.tags}
    for tag, (n, own) in product(TAGS, enumerate(answers)):
        values = expected(own, tag)
        entry = entries.pop((tag, f"s{n}"), {"inputs": 0, "score": np.nan})
        assert entry["inputs"] == len(values)
        known = [value for value in values if value == value]
        mean = np.mean(known) if known else np.nan
        assert entry["score"] == pytest.approx(mean, nan_ok=True)

    assert not entries


def test_a_penalty_does_not_vanish_by_a_time_out():
    grades = iter([[1, 1], [1, 0], [1, np.nan], [1, 0]])
    texts = {"a": ["Yes.", "No."], "b": ["Yes!", "No!"]}
    units = rubrics([[(5, ()), (-5, ())]] * 2)
    result = quick_score(texts, units, judge=lambda *_: next(grades), rule="points")
    assert result.values[0].tolist() == [0, 1]
    assert np.isnan(result.values[1, 0])  # not 1, as if the penalty had not been met
    assert "1 pair has no judgement." in result.to_table()
    assert result.to_frame("inputs")["missing"].tolist() == [0, 0, 1, 0]
    assert "missing:1" in str(result.signature)


def test_a_broken_rubric_is_refused_before_anything_is_judged():
    def judge(_text, _units):
        raise AssertionError("judged")

    def score(weights, rule):
        units = rubrics([[(1, ()), (-1, ())], [(weight, ()) for weight in weights]])
        lp.score({"a": ["x", "y"]}, units, judge=judge, rule=rule)

    for weights in ([3, 0], [3, float("nan")], [3, float("inf")], [-3, -1]):
        for rule in ("points", "normalized"):
            with refused("input '2'"):
                score(weights, rule)
    for rule in ("lite", "sample-2", "original", "modified-2"):
        with refused("the rule points"):
            score([1], rule)


def test_human_scores_combining_and_saving_work_as_for_facts(tmp_path):
    rng = np.random.default_rng(5)
    rows = [[(5, TAGS[:1]), (3, TAGS[1:2]), (-4, TAGS[:2])]] * 40
    answers = rng.integers(0, 2, (2, 40, 3)).tolist()
    some = rng.permutation(40)[:20].tolist()
    labels = {}
    for n, own in enumerate(answers):
        labels[f"s{n}"] = [row if i in some else [] for i, row in enumerate(own)]

    result = scored(rows, answers, labels)

    for n, own in enumerate(answers):
        human = np.mean([points_of(rows[0], own[i]) for i in some])
        assert result.human_scores[f"s{n}"] == pytest.approx(human)
    combined = lp.combine(result, assume_random=True)
    for entry in combined.systems:  # both agree
        assert entry.low <= result.scores[entry.system] <= entry.high

    result.save(tmp_path / "r.json")
    assert lp.report(tmp_path / "r.json").tags == result.tags
    assert TAGS[1] in result.to_html()


def test_a_penalty_that_is_met_now_is_a_loss_wherever_facts_are_counted():
    rows = [[(5, ()), (-4, ())]]
    old = scored(rows, [[[1, 0]]])
    new = scored(rows, [[[1, 1]]])
    result = lp.changes(old, new, fail_if_lost=1)
    (lost,) = result.changes[0].lost
    assert (lost.text, lost.old, lost.new) == ("penalty: c1", 0, 1)
    assert result.verdict.startswith("1 fact lost, 0 gained")
    assert result.exit_status == 1

    back = lp.changes(new, old, fail_if_lost=1, fail_under=-0.5)
    assert back.verdict.startswith("0 facts lost, 1 gained")
    assert back.exit_status == 0


def test_a_question_is_part_of_the_input_and_reaches_judges_that_use_it(tmp_path):
    asked = []

    def judge(text, units, question):
        asked.append(question)
        return [float(unit in text) for unit in units]

    def scored(question, judge):
        units = [
            InputUnits("a", (Unit("2029"),), question),
            InputUnits("b", (Unit("Oslo"),)),
        ]
        texts = {"s": {"a": "In 2029.", "b": "In Rome."}}
        return quick_score(texts, units, judge=judge)

    result = scored("When?", judge)
    assert asked == ["When?", None]
    assert not [note for note in result.notes if "question" in note]
    assert "When?" in result.to_html()
    result.save(tmp_path / "r.json")
    assert lp.report(tmp_path / "r.json").units == result.units

    other = scored("When?", "recall")
    assert any("does not use the questions of 1 input" in note for note in other.notes)
    assert scored(None, "recall").signature != other.signature


def test_copied_summaries_are_said():
    texts = {
        "a": ["It rained .", "We left."],
        "b": ["It rained.", "We  left."],
        "c": ["No."] * 2,
    }
    references = ["It rained.", "We left."]
    units = [["It rained."], ["We left."]]

    result = quick_score(texts, units, references=references)

    notes = " ".join(result.notes)
    assert "Systems 'a' and 'b' have the same summaries." in notes
    copied = re.findall(r"summaries of '(\w)' are references on 2 of 2 inputs", notes)
    assert copied == ["a", "b"]
    assert "'c'" not in notes
