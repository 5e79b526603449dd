"""Repeats of a system are averaged an input, before anything is tested."""

import csv

import numpy as np
import pytest
from cases import same
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import litepyramid as lp
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
    assert "repeats:2" in str(result.signature)
