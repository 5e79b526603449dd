"""Repeats of a system are averaged an input, before anything is tested."""

import csv

import numpy as np
import pytest
from cases import quick_score, refused, same, write_lines
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import litepyramid as lp
from litepyramid.data.scores import Scores
from litepyramid.stats import average_repeats


def test_the_published_difference_of_two_models(data):
    """198 questions five times: +5.9 points [.4, 11.3], p .0363."""
    cells = {}
    with (data / "repeats" / "gpqa_diamond_scores.csv").open() as file:
        for row in csv.DictReader(file):
            run = row["model_id"], row["epoch"]
            cells[run, row["item_id"]] = float(row["score"])
    runs = sorted({run for run, _ in cells})
    items = sorted({item for _, item in cells})
    values = np.array([[cells[run, item] for item in items] for run in runs])

    averaged = average_repeats(values, [model for model, _ in runs])
    assert averaged.means.shape == (2, 198)
    assert averaged.most.tolist() == [5, 5]
    test = stats.ttest_rel(*averaged.means)
    low, high = test.confidence_interval(0.95)
    difference = np.subtract(*averaged.means).mean()
    assert np.round([difference, low, high], 3).tolist() == [0.059, 0.004, 0.113]
    assert round(test.pvalue, 4) == 0.0363


@given(st.integers(1, 5), st.integers(1, 4), st.integers(0, 99))
def test_the_spread_is_that_of_an_analysis_of_variance(inputs, repeats, seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(repeats, inputs))
    averaged = average_repeats(values, ["a"] * repeats)
    same(averaged.means[0], values.mean(axis=0))
    # The mean square within inputs; NaN where no input was done twice.
    within = values.var(axis=0, ddof=1).mean() if repeats > 1 else np.nan
    same(averaged.spread, [np.sqrt(within)])
    order = rng.permutation(repeats)
    same(average_repeats(values[order], ["a"] * repeats).means, averaged.means)


def test_inputs_may_have_other_numbers_of_repeats():
    values = [[0.0, 1.0, np.nan], [1.0, np.nan, np.nan], [1.0, 0.0, 1.0]]
    averaged = average_repeats(np.array(values), ["b", "b", "a"])
    assert averaged.systems == ("a", "b")
    same(averaged.means, [[1, 0, 1], [0.5, 1, np.nan]])
    same(averaged.spread, [np.nan, np.sqrt(0.5)])
    assert averaged.most.tolist() == [1, 2]


ROWS = [
    {"system": "a", "input": "1", "summary": "It rained.", "repeat": 1},
    {"system": "a", "input": "1", "summary": "It snowed.", "repeat": 2},
    {"system": "a", "input": "2", "summary": "It rained.", "repeat": 1},
    {"system": "b", "input": "1", "summary": "It rained."},
    {"system": "b", "input": "2", "summary": "It snowed."},
]
UNITS = {"1": ["It rained."], "2": ["It rained."]}


@pytest.mark.parametrize("rows", [ROWS, ROWS[::-1]])
def test_systems_that_repeat_are_scored_by_their_means(rows):
    rained = lambda text, units: [float("rained" in text)]  # noqa: E731
    result = lp.score(rows, UNITS, judge=rained, samples=50)
    assert result.systems == ("a", "b")
    assert result.values.tolist() == [[0.5, 1.0], [1.0, 0.0]]
    assert "'a' gave up to 2 answers to an input" in " ".join(result.notes)
    assert "answers:2" in str(result.signature)


def test_labels_of_repeats_are_averaged_too(tmp_path):
    rows = []
    for row in ROWS:
        rained = float("rained" in row["summary"])
        rows.append({**row, "units": ["It rained."], "labels": [rained]})
    judge = lambda text, units: [float("rained" in text)]  # noqa: E731
    result = lp.score(rows, judge=judge, samples=50)
    assert result.human.tolist() == result.values.tolist() == [[0.5, 1.0], [1.0, 0.0]]
    assert result.plan[0].startswith("5 summaries of 2 systems")

    # A system may answer an input less often than others, in any order.
    assert lp.score(rows[::-1], judge=judge, samples=50) == result
    result.save(tmp_path / "scores.json")
    assert lp.report(tmp_path / "scores.json").values.tolist() == result.values.tolist()
    path = write_lines(tmp_path / "rows.jsonl", rows)
    human = [line["human"] for line in lp.convert([path], to="scores").lines]
    assert human == [0.5, 1.0, 1.0, 0.0]


def test_an_answer_that_failed_is_left_out_of_the_mean_or_empty():
    rows = [*ROWS, {"system": "b", "input": "2", "summary": None, "repeat": 2}]
    judge = lambda text, units: [float("snowed" in text)]  # noqa: E731
    both = {}
    for nulls in ("zero", "missing"):
        result = lp.score(rows, UNITS, judge=judge, samples=50, nulls=nulls)
        both[nulls] = result.values.tolist()
    assert both == {
        "zero": [[0.5, 0.0], [0.0, 0.5]],
        "missing": [[0.5, 0.0], [0.0, 1.0]],
    }


@given(st.permutations(range(7)))
def test_the_numbers_of_repeats_change_no_bit(order):
    values = np.array([0.1, 0.2, 0.3, 0.7, 1 / 3, 1e-9, np.nan])[:, None]
    averaged = average_repeats(values[order], ["a"] * 7)
    assert averaged.means == average_repeats(values, ["a"] * 7).means


@pytest.mark.parametrize("rows", [ROWS, ROWS[::-1]])
def test_precision_is_averaged_over_answers_too(rows):
    references = {"1": ["It rained."], "2": ["It rained."]}
    recall = lp.score(rows, UNITS, judge="recall", samples=50)
    options = {"judge": "recall", "samples": 50}
    result = lp.precision(rows, references=references, **options)
    assert result.systems == ("a", "b")
    assert result.values.tolist() == [[0.5, 1.0], [1.0, 0.0]]
    assert "'a' gave up to 2 answers to an input" in result.to_table()
    with refused("recall of several answers"):
        lp.precision(rows, references=references, recall=recall, **options)

    # Contexts of a system, or of each of its answers.
    of_system = [
        {"system": s, "input": i, "document": "It rained."} for s in "ab" for i in "12"
    ]
    told = [{**row, "document": row["summary"]} for row in rows]
    for documents, expected in (
        (of_system, result.values.tolist()),
        (told, [[1, 1], [1, 1]]),
    ):
        found = lp.precision(rows, documents=documents, **options)
        assert found.values.tolist() == expected


def test_what_one_input_has_twice_and_others_once_is_missing_nowhere():
    units = {name: [f"It rained {name}."] for name in "abc"}
    rows = []
    for name, repeat in ("a", 1), ("b", 1), ("c", 1), ("a", 2):
        row = {"system": "s", "input": name, "repeat": repeat}
        rows.append({**row, "summary": f"It rained {name}."})
    result = quick_score(rows, units)
    assert result.counts["missing_summaries"] == 0
    assert result.scores == {"s": 1}


def test_answers_that_people_judge_stay_answers_of_one_system(tmp_path):
    """Their labels come back as those of repeats, of which none is a system."""
    exported = lp.export(ROWS, tmp_path / "tasks", units=UNITS, form="csv")
    assert "systems 2 " in " ".join(exported.to_table().split())
    sheet = tmp_path / "tasks" / "sheet.csv"
    lines = sheet.read_text("utf-8-sig").splitlines()
    header = lines[0].split(",")
    rows = [dict(zip(header, line.split(","), strict=True)) for line in lines[1:]]
    for row in rows:
        row["present"] = "yes" if "rained" in row["summary"] else "no"
    with sheet.open("w", newline="") as file:
        writer = csv.DictWriter(file, header)
        writer.writeheader()
        writer.writerows(rows)

    judged = tmp_path / "judged"
    lp.import_answers(tmp_path / "tasks", [sheet], output=judged)
    options = {"labels": judged / "labels", "judge": "recall", "samples": 50}
    again = lp.score(judged / "summaries", judged / "units.jsonl", **options)
    both = [again, lp.score(ROWS, UNITS, **options)]
    for result in both:
        assert result.human.tolist() == [[0.5, 1.0], [1.0, 0.0]]
    assert both[0].values.tolist() == both[1].values.tolist()
    with refused("a sample of several answers"):
        sample = lp.Sampling(2)
        lp.export(ROWS, tmp_path / "sample", units=UNITS, sample=sample)


def test_answers_of_a_system_are_combined_by_their_means():
    rows = []
    for number in range(12):
        rained = float(number % 3 == 0)
        for system, repeat in ("a", 1), ("a", 2), ("b", 1):
            text = "It rained." if (number + repeat) % 2 else "It snowed."
            row = {"system": system, "input": number, "summary": text}
            label = (rained + repeat) % 2 if number % 4 else None
            rows.append({**row, "repeat": repeat, "unit": "It rained.", "label": label})
    scored = lp.score(rows, judge="recall", samples=50)
    result = lp.combine(scored, assume_random=True)
    assert {*result.scores} == {"a", "b"}
    assert len(result.pairs) == 1
    assert result.labels == 9
    means = {"judge": scored.values, "human": scored.human}
    table = Scores.of(means, scored.systems, scored.inputs)
    assert lp.combine(table, assume_random=True).scores == result.scores


def test_what_is_left_out_is_told_once():
    """Notes counted a missing answer twice, or not at all beside its repeats."""
    missing = [{**row, "summary": None} for row in ROWS[:1]] + ROWS[1:]
    options = {"judge": "recall", "samples": 50, "nulls": "missing"}
    notes = lp.score(missing, UNITS, **options).notes
    assert "1 answer is missing (null): left out of the means over answers." in notes

    texts = {"a": {"1": "It rained.", "2": None, "3": "It rained."}}
    units = {key: ["It rained."] for key in "123"}
    assert "summaries_not_scored" not in lp.score(texts, units, **options).counts

    documents = dict.fromkeys("13", "It rained.")
    found = lp.precision(texts, documents=documents, judge="recall", samples=50)
    assert found.counts["summaries_without_precision"] == 0
    told = found.to_table()
    assert "score 0" not in told
    assert "no premise: left out" in told

    # A row for each unit is no summary of its own.
    rows = [
        {"system": s, "input": i, "summary": "x", "unit": u, "present": 1}
        for s in "ab"
        for i, u in (("1", "x"), ("2", "y"), ("2", "z"))
    ]
    assert lp.load(rows).plan[0].startswith("4 summaries of 2 systems")
