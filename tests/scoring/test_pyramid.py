"""Scores from presence and weights: formulas by hand, invariants by hypothesis."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from litepyramid.errors import InputError
from litepyramid.scoring.pyramid import (
    UnitLayout,
    lite_pyramid_scores,
    litepyramid_sample_scores,
    modified_pyramid_scores,
    pyramid_scores,
)
from litepyramid.types import InputUnits, Unit


def layout_of(*weights):
    return UnitLayout.of(
        [
            InputUnits(str(i), tuple(Unit(f"u{j}", w) for j, w in enumerate(row)))
            for i, row in enumerate(weights)
        ]
    )


weight_rows = st.lists(st.lists(st.integers(1, 4), min_size=1, max_size=6), min_size=1, max_size=5)


@st.composite
def judged(draw):
    rows = draw(weight_rows)
    layout = layout_of(*rows)
    size = layout.weights.size
    presence = draw(
        st.lists(st.lists(st.floats(0, 1), min_size=size, max_size=size), min_size=1, max_size=4)
    )
    return layout, rows, np.array(presence)


@given(judged())
def test_scores_are_the_weighted_means_of_a_plain_loop(case):
    layout, rows, presence = case
    scores = lite_pyramid_scores(presence, layout)
    for n, system in enumerate(presence):
        start = 0
        for m, weights in enumerate(rows):
            own = system[start : start + len(weights)]
            assert scores[n, m] == pytest.approx(np.average(own, weights=weights), abs=1e-12)
            start += len(weights)
    assert ((scores >= 0) & (scores <= 1 + 1e-12)).all()


@given(judged())
def test_duplicating_all_units_changes_nothing(case):
    layout, rows, presence = case
    twice = layout_of(*[row * 2 for row in rows])
    parts = np.split(presence, layout.offsets[1:-1], axis=1)
    doubled = np.concatenate([np.tile(part, 2) for part in parts], axis=1)
    np.testing.assert_allclose(
        lite_pyramid_scores(doubled, twice), lite_pyramid_scores(presence, layout), atol=1e-12
    )


@given(judged(), st.integers(1, 4))
def test_adding_a_present_unit_never_lowers_a_score(case, weight):
    layout, rows, presence = case
    more = layout_of([*rows[0], weight], *rows[1:])
    at = len(rows[0])
    added = np.insert(presence, at, 1.0, axis=1)
    assert (lite_pyramid_scores(added, more) >= lite_pyramid_scores(presence, layout) - 1e-12).all()


@given(judged(), st.randoms(use_true_random=False))
def test_order_of_systems_inputs_and_units_does_not_matter(case, random):
    layout, rows, presence = case
    scores = lite_pyramid_scores(presence, layout)
    systems = random.sample(range(len(presence)), len(presence))
    inputs = random.sample(range(len(rows)), len(rows))
    units = [random.sample(range(len(row)), len(row)) for row in rows]
    shuffled = layout_of(*[[rows[i][j] for j in units[i]] for i in inputs])
    columns = [int(layout.offsets[i]) + j for i in inputs for j in units[i]]
    again = lite_pyramid_scores(presence[systems][:, columns], shuffled)
    np.testing.assert_allclose(again, scores[systems][:, inputs], atol=1e-12)


@given(judged(), st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_sample_is_shared_seeded_and_within_the_pool(case, size, seed):
    layout, rows, presence = case
    both = np.concatenate([presence, presence])
    scores, small = litepyramid_sample_scores(both, layout, size, np.random.default_rng(seed))
    again, _ = litepyramid_sample_scores(both, layout, size, np.random.default_rng(seed))
    np.testing.assert_array_equal(scores, again)
    np.testing.assert_array_equal(scores[: len(presence)], scores[len(presence) :])
    assert small == sum(sum(row) < size for row in rows)
    whole, _ = litepyramid_sample_scores(presence, layout, 24, np.random.default_rng(seed))
    np.testing.assert_allclose(whole, lite_pyramid_scores(presence, layout), atol=1e-12)


def test_sample_is_unbiased():
    layout = layout_of([3, 1])
    draws = [
        litepyramid_sample_scores([1.0, 0.0], layout, 1, np.random.default_rng(s))[0][0]
        for s in range(2000)
    ]
    assert np.mean(draws) == pytest.approx(0.75, abs=0.03)


def test_modified_and_original_score_by_hand():
    layout = layout_of([4, 3, 2, 1], [1, 1])
    labels = np.array([[0, 1, 0, 1, 1, 0], [1, 1, 1, 1, 0, 0]])
    # Input 0: 10 contributors over 4 references, an ideal summary holds 3 SCUs: 4 + 3 + 2 = 9.
    # Input 1: 2 contributors over 4 references, floor(1) = 1 SCU: 1.
    np.testing.assert_allclose(
        modified_pyramid_scores(labels, layout, 4), [[4 / 9, 1.0], [10 / 9, 0.0]]
    )
    np.testing.assert_allclose(pyramid_scores(labels, layout), [[4 / 7, 1.0], [1.0, 0.0]])


@given(judged())
def test_original_score_never_passes_one(case):
    layout, _, presence = case
    labels = (presence > 0.5).astype(float)
    scores = pyramid_scores(labels, layout)
    assert ((scores >= 0) & (scores <= 1)).all()


def test_what_is_refused():
    layout = layout_of([1, 1])
    with pytest.raises(InputError, match="not 0 or 1"):
        pyramid_scores([0.5, 1], layout)
    with pytest.raises(InputError, match="2 units on the last axis"):
        lite_pyramid_scores([[1.0]], layout)
    with pytest.raises(InputError, match="not a whole number"):
        litepyramid_sample_scores([1, 1], layout_of([1.5, 1]), 1, np.random.default_rng(0))
    with pytest.raises(InputError, match="no references"):
        modified_pyramid_scores([1, 1], layout, 0)
    with pytest.raises(InputError, match="no inputs"):
        UnitLayout.of([])
    with pytest.raises(InputError, match="weights of input 'x'"):
        UnitLayout.of([InputUnits("x", ())])


def test_not_judged_stays_not_scored():
    scores = lite_pyramid_scores([[np.nan, 1.0, 1.0]], layout_of([1, 1], [1]))
    assert np.isnan(scores[0, 0])
    assert scores[0, 1] == 1.0


def test_modified_score_is_nan_where_the_ideal_summary_is_empty():
    assert np.isnan(modified_pyramid_scores([1.0], layout_of([1]), 4)[0])
