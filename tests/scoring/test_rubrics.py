"""Rubrics: points and penalties by own computation, time-outs, tags, questions, odd input said."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import litepyramid as lp
from litepyramid.errors import InputError
from litepyramid.io.dataset import Dataset
from litepyramid.judges.base import JudgedBatch
from litepyramid.scoring.pyramid import ScoringRule, UnitLayout
from litepyramid.types import InputUnits, SystemLabels, SystemSummaries, Unit

TAGS = ("axis:accuracy", "axis:tone", "level:example")
CRITERION = st.tuples(
    st.sampled_from([-10, -7, -2.5, 1, 3, 5, 10]), st.sets(st.sampled_from(TAGS), max_size=2)
)
RUBRIC = st.lists(CRITERION, min_size=1, max_size=6).filter(lambda own: any(w > 0 for w, _ in own))


class Answers:
    """Judges what an answer says itself: a grade for each criterion, ``x`` where none came."""

    def judge(self, items):
        grades = [text.split()[: len(units)] for text, units in items]
        presence = [np.array([np.nan if g == "x" else float(g) for g in own]) for own in grades]
        return JudgedBatch(
            tuple(presence),
            {"judge": "answers"},
            {"missing": int(sum(np.isnan(own).sum() for own in presence))},
        )


def rubrics(rows):
    units = [
        tuple(
            Unit(f"c{j}", weight, tags=tuple(sorted(tags))) for j, (weight, tags) in enumerate(row)
        )
        for row in rows
    ]
    return tuple(InputUnits(str(i), own) for i, own in enumerate(units))


def scored(rows, answers, **options):
    units = rubrics(rows)
    names = tuple(entry.input for entry in units)
    systems = [
        SystemSummaries(f"s{n}", names, tuple(" ".join(map(str, own)) for own in texts))
        for n, texts in enumerate(answers)
    ]
    data = Dataset("own", scus=units, summaries=tuple(systems), **options.pop("data", {}))
    return lp.score(data, **{"judge": Answers(), "rule": "points", "samples": 50, **options})


def healthbench(criteria, met):
    """A rubric's score as HealthBench's evaluation defines it; None without positive points."""
    total = sum(points for points, _ in criteria if points > 0)
    if total == 0:
        return None
    if any(m == "x" for m in met):
        return np.nan
    return sum(points for (points, _), m in zip(criteria, met, strict=True) if m == 1) / total


def prbench(criteria, met):
    """(points − lowest) / (highest − lowest)."""
    if any(m == "x" for m in met):
        return np.nan
    highest = sum(points for points, _ in criteria if points > 0)
    lowest = sum(points for points, _ in criteria if points < 0)
    points = sum(w for (w, _), m in zip(criteria, met, strict=True) if m == 1)
    return (points - lowest) / (highest - lowest)


@st.composite
def judged(draw):
    rows = draw(st.lists(RUBRIC, min_size=1, max_size=4))
    met = st.sampled_from([0, 1, 0, 1, 0, 1, "x"])
    systems = draw(st.integers(1, 3))
    answers = [
        [draw(st.lists(met, min_size=len(row), max_size=len(row))) for row in rows]
        for _ in range(systems)
    ]
    return rows, answers


@settings(max_examples=20, deadline=None)
@given(judged())
def test_both_rules_are_their_definitions_penalties_and_time_outs_included(case):
    rows, answers = case
    for rule, definition in (("points", healthbench), ("normalized", prbench)):
        result = scored(rows, answers, rule=rule)
        expected = [[definition(r, a) for r, a in zip(rows, own, strict=True)] for own in answers]
        np.testing.assert_allclose(result.values, np.array(expected, dtype=float), atol=1e-12)
        gaps = sum("x" in own for texts in answers for own in texts)
        assert result.counts.get("summaries_not_scored", 0) == gaps
        assert (gaps > 0) == ("not scored, for lack of judgements" in result.to_table())
        if rule == "normalized":
            assert not result.clipped
            assert not ((result.values < 0) | (result.values > 1)).any()
        else:
            means = [np.nanmean(own) if not all(map(np.isnan, own)) else np.nan for own in expected]
            for got, mean in zip(result.clipped.values(), means, strict=True):
                assert got == pytest.approx(np.clip(mean, 0, 1), nan_ok=True)


@settings(max_examples=20, deadline=None)
@given(judged())
def test_by_tag_each_rubric_is_scored_on_its_criteria_of_the_tag(case):
    rows, answers = case
    result = scored(rows, answers)
    entries = {(row["tag"], row["system"]): row for row in result.tags}
    for tag in TAGS:
        for n, texts in enumerate(answers):
            chosen = [
                [(c, m) for c, m in zip(row, own, strict=True) if tag in c[1]]
                for row, own in zip(rows, texts, strict=True)
            ]
            values = [healthbench(*zip(*own, strict=True)) for own in chosen if own]
            values = [value for value in values if value is not None]
            entry = entries.pop((tag, f"s{n}"), None)
            assert (entry is None) == (not values)
            if entry:
                mean = np.nanmean(values) if not np.isnan(values).all() else np.nan
                assert entry["inputs"] == len(values)
                assert entry["score"] == pytest.approx(mean, nan_ok=True)
                assert entry["clipped"] == pytest.approx(np.clip(mean, 0, 1), nan_ok=True)
    assert not entries


def test_a_penalty_does_not_vanish_by_a_time_out():
    rows = [[(5, ()), (-5, ())]] * 2
    result = scored(rows, [[[1, 1], [1, 0]], [[1, "x"], [1, 0]]])
    assert result.values[0].tolist() == [0, 1]
    assert np.isnan(result.values[1, 0])  # not 1, as if the penalty had not been met
    assert result.counts["missing"] == 1
    assert "1 pair has no judgement." in result.to_table()
    assert result.to_frame("inputs")["missing"].tolist() == [0, 0, 1, 0]
    assert "missing:1" in str(result.signature)


@pytest.mark.parametrize("weight", [0, float("nan"), float("inf")])
@pytest.mark.parametrize("rule", ["points", "normalized"])
def test_a_broken_rubric_is_refused_before_anything_is_judged(rule, weight):
    def judge(_text, _units):
        raise AssertionError("judged")

    for weights in ([3, weight], [-3, -1]):
        units = rubrics([[(1, ())], [(w, ()) for w in weights]])
        data = Dataset("own", scus=units, summaries=(SystemSummaries("a", ("0", "1"), ("x", "y")),))
        with pytest.raises(InputError, match="input '1'"):
            lp.score(data, judge=judge, rule=rule)
    units = rubrics([[(1, ()), (-1, ())]])
    data = Dataset("own", scus=units, summaries=(SystemSummaries("a", ("0",), ("x",)),))
    for other in ("lite", "sample-2", "original", "modified-2"):
        with pytest.raises(InputError, match="the rule points"):
            lp.score(data, judge=judge, rule=other)


def test_people_intervals_comparisons_and_combining_work_as_for_facts(tmp_path):
    rng = np.random.default_rng(5)
    rows = [[(5, TAGS[:1]), (3, TAGS[1:2]), (-4, TAGS[:2])]] * 40
    answers = [rng.integers(0, 2, (40, 3)).tolist() for _ in range(2)]
    answers[1] = [[0, 0, 1] if i % 2 else own for i, own in enumerate(answers[1])]
    names = tuple(map(str, range(40)))
    some = set(rng.permutation(40)[:20].tolist())
    shown = [[tuple(a) if i in some else () for i, a in enumerate(own)] for own in answers]
    labels = tuple(SystemLabels(f"s{n}", names, tuple(own)) for n, own in enumerate(shown))
    result = scored(rows, answers, data={"labels": labels})
    for n, own in enumerate(answers):
        expected = [healthbench(row, met) for row, met in zip(rows, own, strict=True)]
        low, high = result.intervals[n]
        assert low < np.mean(expected) < high
        assert result.human_scores[f"s{n}"] == pytest.approx(np.mean([expected[i] for i in some]))
    pair = lp.compare(result).pairs[0]
    assert pair.difference == pytest.approx(result.scores["s0"] - result.scores["s1"])
    assert pair.p < 0.05
    assert result.groups == ((1,), (2,))
    combined = lp.combine(result, assume_random=True)
    assert combined.scores["s0"] == pytest.approx(result.scores["s0"])  # judge and people agree
    for ending in ("json", "npz"):
        result.save(tmp_path / f"r.{ending}")
        again = lp.report(tmp_path / f"r.{ending}")
        assert (again.tags, again.clipped) == (result.tags, result.clipped)
    changes = lp.compare(result, tmp_path / "r.json", fail_if="worse")
    assert (changes.exit_status, changes.changes[0].p) == (0, 1)
    assert json.loads((tmp_path / "r.json").read_text())["tags"][0]["tag"] == TAGS[0]
    result.save(tmp_path / "r.html")
    assert TAGS[1] in (tmp_path / "r.html").read_text()


def test_a_penalty_that_is_met_now_is_a_loss_for_the_gate():
    rows = [[(5, ()), (-4, ())]]
    old, new = scored(rows, [[[1, 0]]]), scored(rows, [[[1, 1]]])
    result = lp.compare(old, new, fail_if_lost=1)
    assert [fact.text for fact in result.changes[0].gained] == ["penalty: c1"]
    assert result.exit_status == 1
    assert lp.compare(new, old, fail_if_lost=1).exit_status == 0


def test_a_question_is_part_of_the_input_and_reaches_judges_that_use_it(tmp_path):
    asked = []

    def judge(text, units, question):
        asked.append(question)
        return [float(unit in text) for unit in units]

    units = (InputUnits("a", (Unit("2029"),), "When?"), InputUnits("b", (Unit("Oslo"),)))
    answers = (SystemSummaries("s", ("a", "b"), ("In 2029.", "In Rome.")),)
    data = Dataset("own", scus=units, summaries=answers)
    result = lp.score(data, judge=judge, samples=50)
    assert asked == ["When?", None]
    assert not [note for note in result.notes if "question" in note]
    other = lp.score(data, judge="recall", samples=50)
    assert any("does not use the questions of 1 input" in note for note in other.notes)
    without = Dataset("own", scus=(InputUnits("a", units[0].units), units[1]), summaries=answers)
    shas = [dict(lp.score(one, judge="recall", samples=50).signature.fields)["inputs_sha"]
            for one in (data, without)]  # fmt: skip
    assert shas[0] != shas[1]
    result.save(tmp_path / "r.json")
    assert lp.report(tmp_path / "r.json").units == units
    assert "When?" in result.to_html()


def test_a_missing_answer_is_not_scored_and_counted():
    units = (InputUnits("a", (Unit("x"),)), InputUnits("b", (Unit("x"),)))
    systems = (SystemSummaries("s", ("a", "b"), ("", "x"), missing=("a",)),)
    result = lp.score(Dataset("own", scus=units, summaries=systems), judge="recall", samples=50)
    assert np.isnan(result.values[0, 0])
    assert result.scores["s"] == 1
    assert "1 summary is missing" in result.to_table()


def test_copied_summaries_are_said():
    texts = {
        "a": ["It rained .", "We left."],
        "b": ["It rained.", "We  left."],
        "c": ["No.", "No."],
    }
    references = ["It rained.", "We left."]
    units = [["It rained."], ["We left."]]
    notes = " ".join(lp.score(texts, units, references=references, judge="recall").notes)
    assert "Systems 'a' and 'b' have the same summaries." in notes
    assert re.findall(r"The summaries of '(\w)' are references on 2 of 2 inputs", notes) == [
        "a",
        "b",
    ]
    assert "'c'" not in notes


def test_rules_without_penalties_are_the_weighted_mean():
    layout = UnitLayout.of(rubrics([[(2, ()), (1, ())]]))
    presence = np.array([[0.5, 1.0]])
    expected = ScoringRule().apply(presence, layout, 0)[0]
    for rule in ("points", "normalized"):
        np.testing.assert_allclose(ScoringRule(rule).apply(presence, layout, 0)[0], expected)
