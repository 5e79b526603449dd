"""The verdict on a judge is earned: by agreement beyond chance, pairs told apart as
people tell them, errors bounded by a margin."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up import of_presence

import litepyramid as lp
from litepyramid.scoring.judge_verdict import agrees, pairs_told, within
from litepyramid.scoring.label_needs import (
    label_variance,
    labels_needed,
    pool_variances,
)

RANK = r"^Good enough[^;]*to rank"
SCORE = r"^Good enough[^;]*to score a system"
ONE = r"^Good enough[^;]*to score one"


def coins(seed, systems=4, inputs=40, facts=8):
    """Presence that has nothing to do with the labels of systems that do not differ."""
    rng = np.random.default_rng(seed)
    labels = (rng.random((systems, inputs, facts)) < 0.5).astype(float)
    return of_presence(rng.random(labels.shape), labels)


def judged(seed, shift=0.0, noise=0.1, rates=(0.1, 0.3, 0.5, 0.7, 0.9), inputs=300):
    """A judge that is right but for noise, and for a shift of each system."""
    rng = np.random.default_rng(seed)
    shape = (len(rates), inputs, 6)
    labels = (rng.random(shape) < np.reshape(rates, (-1, 1, 1))).astype(float)
    errors = np.where(rng.random(shape) < noise / 5, 1 - labels, labels)
    presence = np.clip(
        0.5 + 0.45 * (2 * errors - 1) + np.reshape(shift, (-1, 1, 1)), 0, 1
    )
    return of_presence(presence, labels)


@pytest.mark.parametrize("seed", range(5))
def test_coin_flips_are_good_for_nothing(seed):
    found = lp.audit(coins(seed))
    assert not found.verdict.startswith("Good enough")
    assert re.search("chance", found.verdict)


def test_a_judge_that_contradicts_people_is_not_good_enough():
    labels = judged(0).labels.values.reshape(5, 300, 6)
    found = lp.audit(of_presence(1 - 0.9 * labels, labels))
    assert found.verdict.startswith("Not good enough")


def test_a_good_judge_is_good_for_all():
    verdict = lp.audit(judged(0, noise=0)).verdict
    for use in (RANK, SCORE, ONE):
        assert re.search(use, verdict), verdict


def test_a_judge_that_favours_the_worst_ranks_wrongly():
    """Fact by fact it agrees with people, and its ranking is turned round."""
    rates = (0.4, 0.5, 0.6)
    found = lp.audit(judged(1, shift=(0.3, 0.0, -0.3), rates=rates, noise=0.5))
    assert found.figures[0].low > 0.6
    assert not re.search(RANK, found.verdict)
    assert re.search("not (good enough )?to rank", found.verdict, re.I)
    assert "reverses 3" in " ".join(found.effects)


def test_systems_that_people_do_not_tell_apart_are_no_ranking():
    found = lp.audit(judged(2, rates=(0.5, 0.5, 0.5), noise=0))
    assert "too little to say whether to rank these 3 systems" in found.verdict


@pytest.mark.parametrize("shift", [0.12, -0.12])
def test_a_bias_beyond_the_margin_is_no_way_to_score_a_system(shift):
    found = lp.audit(judged(3, shift=(0, 0, shift, 0, 0)))
    assert not re.search(SCORE, found.verdict)
    assert re.search("to score a system without labels", found.verdict)


def test_few_labels_are_too_little_to_say():
    rng = np.random.default_rng(0)
    labels = (rng.random((1, 6, 3)) < 0.5).astype(float)
    noisy = np.clip(0.6 * labels + 0.4 * rng.random(labels.shape), 0, 1)
    verdict = lp.audit(of_presence(noisy, labels)).verdict
    assert "oo little to say" in verdict
    assert "Good enough" not in verdict


def test_the_error_of_one_summary_holds_the_bias_of_its_system():
    result = judged(4, shift=(0, 0, -0.3, 0, 0), noise=0)
    found = lp.audit(result)
    error = next(one for one in found.figures if "one summary" in one.name)
    human = result.human
    worst = np.sqrt(((result.values - human) ** 2).mean(axis=1)).max()
    assert error.value == pytest.approx(worst)
    assert error.low < worst < error.high
    bias = max(abs(one.bias) for one in found.systems)
    assert error.value >= bias
    assert f"(±{worst:.2f})" in found.verdict
    assert not re.search(ONE, found.verdict)


# The rules, on numbers alone
# ------------------------------------------------------------------------------------

signs = st.lists(
    st.tuples(st.booleans(), st.booleans(), st.floats(-1, 1), st.floats(0, 1)),
    min_size=1,
    max_size=30,
)


@given(signs)
def test_pairs_are_counted_as_one_by_one(rows):
    people, judge = (np.array([row[i] for row in rows]) for i in (0, 1))
    difference, reach = (np.array([row[i] for row in rows]) for i in (2, 3))
    told = pairs_told(people, judge, difference, -reach, reach)
    same = reversed_ = alone = ruled_out = 0
    for of_people, of_judge, value, end in rows:
        same += of_people and of_judge and value >= 0
        reversed_ += of_people and value < 0
        alone += of_judge and not of_people
        ruled_out += of_judge and not of_people and abs(value) > end
    assert told.told == sum(people)
    assert (told.same, told.reversed) == (same, reversed_)
    assert (told.alone, told.ruled_out) == (alone, ruled_out)
    assert told.told + told.alone <= told.pairs == len(rows)
    if told.answer == "good":
        assert told.told
        assert not told.reversed
        assert told.same >= 0.9 * told.told - 0.1 * told.alone


@given(st.floats(0, 1), st.floats(0, 1))
def test_nothing_is_good_whose_interval_holds_chance_or_more_than_the_margin(a, b):
    low, high = min(a, b), max(a, b)
    assert (agrees(low, high) == "good") <= (low > 0.5)
    bounded = within(np.array([low, -0.01]), np.array([high, 0.01]), 0.05)
    assert (bounded == "good") == (high <= 0.05)
    assert (bounded == "bad") == (low > 0.05)


def test_an_interval_that_is_not_known_bounds_nothing():
    assert within(np.array([np.nan]), np.array([np.nan]), 0.05) == "open"


# How many labels
# ------------------------------------------------------------------------------------


def needs(found):
    text = next(effect for effect in found.effects if "±.05" in effect)
    return [int(number) for number in re.findall(r"(?:about|judge,) (\d+)", text)]


@pytest.mark.parametrize(("inputs", "expected"), [(40, [5, 396]), (200, [67, 133])])
def test_a_judge_that_is_always_right_needs_few_labels(inputs, expected):
    """Of 40 labelled inputs, which are all there are, or of 200: by hand 1.96² s² /
    .05², and less where the rest of 200 is not labelled. Then an error may not have
    been seen: of 58 or fewer, more than one in twenty."""
    units = [["A storm hit Oslo."]] * inputs
    presence = {"a": [[float(i % 2)] for i in range(inputs)]}
    labels = {"a": [[i % 2] if i < 40 else [] for i in range(inputs)]}
    result = lp.score(units=units, presence=presence, labels=labels, samples=50)
    found = lp.audit(result)
    assert needs(found) == expected


def test_labels_leave_the_interval_that_was_asked_for():
    rng = np.random.default_rng(0)
    for most in (np.inf, 1000.0):
        for variance in rng.random(20):
            n = labels_needed(variance, reach=0.05, most=most, confidence=0.95)
            width = 0.1
            again = label_variance(round(n), most, width, 0.95)
            assert n == 5 or again == pytest.approx(variance, rel=0.1)


def test_where_all_are_labelled_all_are_needed():
    variance = label_variance(40, 40, 0.1, 0.95)
    assert labels_needed(variance, reach=0.05, most=40, confidence=0.95) == 40


def test_a_pool_leaves_open_what_the_judge_does_not_know():
    rng = np.random.default_rng(1)
    judge = rng.random(5000)
    human = 0.5 * judge + 0.1 * rng.standard_normal(5000)
    with_judge, alone = pool_variances(human, judge)
    assert with_judge == pytest.approx(0.01, rel=0.05)
    assert alone == pytest.approx(human.var(), rel=0.01)
    with_judge, alone = pool_variances(human, rng.random(5000))
    assert with_judge == alone


def test_labels_that_presence_separates_have_no_slope():
    found = lp.audit(judged(5, noise=0))
    assert "calibration slope" not in {figure.name for figure in found.figures}
    assert any("separates the labels" in effect for effect in found.effects)
    found = lp.audit(judged(5, noise=0.5))
    assert "calibration slope" in {figure.name for figure in found.figures}
