"""The scores' formulas: against plain loops and definitions, as laws."""

import numpy as np
import pytest
from cases import refused
from hypothesis import given, settings
from hypothesis import strategies as st

from litepyramid.data.records import InputUnits, Unit, Units
from litepyramid.scoring.pyramid import (
    ScoringRule,
    lite_pyramid_scores,
    litepyramid_sample_scores,
    modified_pyramid_scores,
    nugget_scores,
    pyramid_scores,
)


def units_of(*weights):
    units = [tuple(Unit(f"u{j}", w) for j, w in enumerate(row)) for row in weights]
    return Units.of([InputUnits(str(i), own) for i, own in enumerate(units)])


WEIGHTS = st.lists(
    st.lists(st.integers(1, 4), min_size=1, max_size=6), min_size=1, max_size=5
)


@st.composite
def judged(draw):
    """A units, its weights, and presence of two systems."""
    rows = draw(WEIGHTS)
    units = units_of(*rows)
    size = units.weights.size
    presence = st.lists(st.floats(0, 1), min_size=size, max_size=size)
    return units, rows, np.array([draw(presence), draw(presence)])


@settings(max_examples=40)
@given(judged())
def test_scores_are_the_weighted_means_of_a_plain_loop(case):
    units, rows, presence = case
    scores = lite_pyramid_scores(presence, units)
    for n, system in enumerate(presence):
        parts = np.split(system, units.offsets[1:-1])
        expected = [np.average(p, weights=w) for p, w in zip(parts, rows, strict=True)]
        assert scores[n] == pytest.approx(expected, abs=1e-12)

    for rule in ("points", "normalized"):  # without penalties they are the same
        same, _ = ScoringRule(rule).apply(presence, units, 0)
        np.testing.assert_allclose(same, scores)


@settings(max_examples=40)
@given(judged(), st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_sample_is_shared_seeded_and_within_the_pool(case, size, seed):
    units, rows, presence = case
    both = np.concatenate([presence, presence])

    def sample(presence, size):
        rng = np.random.default_rng(seed)
        return litepyramid_sample_scores(presence, units, size, rng)

    scores, small = sample(both, size)
    np.testing.assert_array_equal(sample(both, size)[0], scores)
    np.testing.assert_array_equal(scores[:2], scores[2:])
    assert small == sum(sum(row) < size for row in rows)
    whole, _ = sample(presence, 24)
    np.testing.assert_allclose(whole, lite_pyramid_scores(presence, units), atol=1e-12)


def test_sample_is_unbiased():
    units = units_of([3, 1])
    rng = np.random.default_rng(0)
    draws = []
    for _ in range(2000):
        draws.append(litepyramid_sample_scores([1.0, 0.0], units, 1, rng)[0])
    assert np.mean(draws) == pytest.approx(0.75, abs=0.03)


def test_modified_and_original_score_by_hand():
    units = units_of([4, 3, 2, 1], [1, 1])
    labels = np.array([[0, 1, 0, 1, 1, 0], [1, 1, 1, 1, 0, 0]])
    # Input 0: 10 contributors over 4 references, an ideal summary holds 3 SCUs: 4 + 3 +
    # 2 = 9. Input 1: 2 contributors over 4 references, floor(1) = 1 SCU: 1.
    modified = modified_pyramid_scores(labels, units, 4)
    np.testing.assert_allclose(modified, [[4 / 9, 1.0], [10 / 9, 0.0]])
    original = pyramid_scores(labels, units)
    np.testing.assert_allclose(original, [[4 / 7, 1.0], [1.0, 0.0]])
    (no_ideal,) = modified_pyramid_scores([1.0], units_of([1]), 4)
    assert np.isnan(no_ideal)  # it holds no SCU
    scores = lite_pyramid_scores([[np.nan, 1.0, 1.0]], units_of([1, 1], [1]))
    np.testing.assert_array_equal(scores, [[np.nan, 1.0]])


ONE = np.ones((1, 1))


@pytest.mark.parametrize(
    ("score", "message"),
    [
        (lambda: pyramid_scores([0.5], units_of([1])), "not 0 or 1"),
        (lambda: lite_pyramid_scores(ONE, units_of([1, 1])), "2 units"),
        (lambda: modified_pyramid_scores([1], units_of([1]), 0), "no references"),
        (lambda: ScoringRule("sample").apply(ONE, units_of([1.5]), 0), "whole"),
        (lambda: ScoringRule("vital").apply(ONE, units_of([1]), 0), "vital"),
        (lambda: ScoringRule().check(units_of()), "no inputs"),
        (lambda: ScoringRule().check(units_of([])), "input '0' has no units"),
    ],
)
def test_what_is_refused(score, message):
    with refused(message):
        score()


NUGGET = st.tuples(st.sampled_from(["vital", "okay"]), st.sampled_from([1, 0.5, 0]))
NUGGETS = st.lists(NUGGET, min_size=1, max_size=6)


def nuggetizer(nuggets, name):
    """Written out from the definition: support 1, partial .5, strict 0; no vital nugget
    is 0."""
    worth = []
    for importance, grade in nuggets:
        if importance == "vital" or "all" in name:
            worth.append(float(grade == 1) if "strict" in name else grade)
    return sum(worth) / len(worth) if worth else 0.0


@settings(max_examples=40)
@given(st.lists(NUGGETS, min_size=1, max_size=4))
def test_the_four_scores_are_nuggetizers(queries):
    units = []
    labels = []
    for q, nuggets in enumerate(queries):
        entries = []
        for n, (importance, _) in enumerate(nuggets):
            entries.append(Unit(f"x{n}", importance=importance))
        units.append(InputUnits(str(q), tuple(entries)))
        labels += [float(grade) for _, grade in nuggets]
    units = Units.of(units)

    scores = nugget_scores(np.array(labels), units)

    for name, values in scores.items():
        expected = [nuggetizer(nuggets, name) for nuggets in queries]
        assert values == pytest.approx(expected, abs=1e-12)
    for rule, name in (("vital", "vital_score"), ("lite", "all_score")):
        (values,), _ = ScoringRule(rule).apply(np.array([labels]), units, 0)
        assert values == pytest.approx(scores[name], abs=1e-12)
