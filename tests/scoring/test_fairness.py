"""Fairness of a judge: faults put into a made-up one, and its numbers against others."""

import numpy as np
import pytest
from made_up import judge_of, made_up_data
from scipy.stats import ttest_rel

import litepyramid as lp
from litepyramid.judges.fairness import copied_share, slope, turned


def fairness(seed, fault=""):
    """What `evaluate` says of a made-up judge, and `audit`'s verdict."""
    data = made_up_data(seed, fault)
    (found,) = lp.evaluate(judge_of(data), data).fairness
    return found, lp.audit(lp.score(data, samples=100)).verdict


@pytest.mark.parametrize("seed", range(3))
def test_a_judge_that_over_rates_a_system_is_told_so(seed):
    found, audited = fairness(seed, "system")
    assert "ranks systems wrongly" in found.verdict
    for verdict in (found.verdict, audited):
        assert "over-rates s0 (+" in verdict
    assert found.cells[0].name == "s0"
    bias = {one.system: one for one in found.systems}
    assert bias["s0"].low > 0
    assert bias["s1"].low < 0 < bias["s1"].high


@pytest.mark.parametrize("seed", range(3))
def test_a_judge_that_over_rates_what_is_copied_is_told_so(seed):
    found, audited = fairness(seed, "copied")
    for verdict in (found.verdict, audited):
        assert "over-rates what is copied (+" in verdict
    assert found.cells[0].error == "slope"
    assert "wrongly" not in found.verdict


def test_a_fair_judge_is_told_nothing():
    """At most 5 % false alarms each: of 100 seeds, run by hand, 3 and 1."""
    alarms = 0
    for seed in range(4):
        found, audited = fairness(seed)
        alarms += "It" in found.verdict or "It" in audited
    assert alarms <= 1


def test_without_a_source_nothing_is_said_of_copying():
    data = made_up_data(1, "copied", systems=2)
    sources = {"labels": data.labels, "ids": data.inputs}
    data = lp.load(data.summaries, data.units, **sources)
    judge = judge_of(made_up_data(1, "copied", systems=2))
    (found,) = lp.evaluate(judge, data).fairness
    assert {cell.kind for cell in found.cells} == {"system"}


def test_slopes_are_those_of_least_squares_and_their_intervals_of_a_jackknife():
    rng = np.random.default_rng(1)
    inputs = np.repeat(np.arange(40), 10)
    feature = rng.random(400)
    weights = rng.uniform(0.5, 2, 400)
    own = rng.normal(0, 0.3, 40)[inputs]
    errors = 0.2 * feature + own * feature + rng.normal(0, 0.2, 400)

    value, low, high, _ = slope(errors, feature, weights, inputs, 0.95)
    line = np.polyfit(feature, errors, 1, w=np.sqrt(weights))
    assert value == pytest.approx(line[0])
    without = []
    for one in range(40):
        rest = inputs != one
        line = np.polyfit(feature[rest], errors[rest], 1, w=np.sqrt(weights[rest]))
        without.append(line[0])
    error = np.sqrt(39 * np.var(without))
    assert high - low == pytest.approx(2 * 2.023 * error, rel=0.1)

    inside = feature > 0.7
    means = [np.average(errors[s], weights=weights[s]) for s in (inside, ~inside)]
    assert slope(errors, inside, weights, inputs, 0.95)[0] == pytest.approx(
        means[0] - means[1]
    )


def test_systems_that_people_tell_apart_are_those_of_a_paired_t_test():
    rng = np.random.default_rng(2)
    people = rng.normal(np.array([[0.0], [0.5], [0.6]]), 0.5, (3, 30))
    people[0, 3] = np.nan
    judge = -people
    p = []
    for a, b in ((0, 1), (0, 2), (1, 2)):
        p.append(ttest_rel(people[a], people[b], nan_policy="omit").pvalue)
    apart = sum(np.maximum.accumulate(np.sort(p) * [3, 2, 1]) < 0.05)
    assert 0 < apart < 3
    assert turned(judge, people) == (apart, apart)
    assert turned(people, people) == (apart, 0)


@pytest.mark.parametrize(
    ("text", "share"), [("", 0), ("a b", 0), ("A b, c D.", 0.75), ("X a b C!", 1)]
)
def test_the_share_copied(text, share):
    assert copied_share(text, ["x a B c", "c d a"]) == share
    assert np.isnan(copied_share(text, []))
