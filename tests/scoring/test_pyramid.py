"""The scores' formulas: against plain loops and definitions, as laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litepyramid.errors import InputError
from litepyramid.scoring.pyramid import (
    ScoringRule,
    UnitLayout,
    lite_pyramid_scores,
    litepyramid_sample_scores,
    modified_pyramid_scores,
    nugget_scores,
    pyramid_scores,
)
from litepyramid.types import InputUnits, Unit


def layout_of(*weights):
    units = [tuple(Unit(f"u{j}", w) for j, w in enumerate(row)) for row in weights]
    return UnitLayout.of([InputUnits(str(i), own) for i, own in enumerate(units)])


WEIGHTS = st.lists(
    st.lists(st.integers(1, 4), min_size=1, max_size=6), min_size=1, max_size=5
)


@st.composite
def judged(draw):
    """A layout, its weights, and presence of two systems."""
    rows = draw(WEIGHTS)
    layout = layout_of(*rows)
    size = layout.weights.size
    presence = st.lists(st.floats(0, 1), min_size=size, max_size=size)
    return layout, rows, np.array([draw(presence), draw(presence)])


@settings(max_examples=40)
@given(judged(), st.randoms(use_true_random=False))
def test_scores_are_the_weighted_means_of_a_plain_loop_in_any_order(case, random):
    layout, rows, presence = case
    scores = lite_pyramid_scores(presence, layout)
    for n, system in enumerate(presence):
        parts = np.split(system, layout.offsets[1:-1])
        expected = [np.average(p, weights=w) for p, w in zip(parts, rows, strict=True)]
        assert scores[n] == pytest.approx(expected, abs=1e-12)

    for rule in ("points", "normalized"):  # without penalties they are the same
        np.testing.assert_allclose(
            ScoringRule(rule).apply(presence, layout, 0)[0], scores
        )

    inputs = random.sample(range(len(rows)), len(rows))
    units = [random.sample(range(len(row)), len(row)) for row in rows]
    shuffled = layout_of(*[[rows[i][j] for j in units[i]] for i in inputs])
    columns = [int(layout.offsets[i]) + j for i in inputs for j in units[i]]
    again = lite_pyramid_scores(presence[::-1][:, columns], shuffled)
    np.testing.assert_allclose(again, scores[::-1][:, inputs], atol=1e-12)


@settings(max_examples=40)
@given(judged(), st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_sample_is_shared_seeded_and_within_the_pool(case, size, seed):
    layout, rows, presence = case
    both = np.concatenate([presence, presence])
    scores, small = litepyramid_sample_scores(
        both, layout, size, np.random.default_rng(seed)
    )
    again, _ = litepyramid_sample_scores(
        both, layout, size, np.random.default_rng(seed)
    )
    np.testing.assert_array_equal(scores, again)
    np.testing.assert_array_equal(scores[:2], scores[2:])
    assert small == sum(sum(row) < size for row in rows)
    whole, _ = litepyramid_sample_scores(
        presence, layout, 24, np.random.default_rng(seed)
    )
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
    # Input 0: 10 contributors over 4 references, an ideal summary holds 3 SCUs: 4 + 3 +
    # 2 = 9. Input 1: 2 contributors over 4 references, floor(1) = 1 SCU: 1.
    modified = modified_pyramid_scores(labels, layout, 4)
    np.testing.assert_allclose(modified, [[4 / 9, 1.0], [10 / 9, 0.0]])
    np.testing.assert_allclose(
        pyramid_scores(labels, layout), [[4 / 7, 1.0], [1.0, 0.0]]
    )
    assert np.isnan(
        modified_pyramid_scores([1.0], layout_of([1]), 4)[0]
    )  # ideal: no SCU
    scores = lite_pyramid_scores([[np.nan, 1.0, 1.0]], layout_of([1, 1], [1]))
    np.testing.assert_array_equal(scores, [[np.nan, 1.0]])


@pytest.mark.parametrize(
    ("score", "message"),
    [
        (lambda: pyramid_scores([0.5, 1], layout_of([1, 1])), "not 0 or 1"),
        (
            lambda: lite_pyramid_scores([[1.0]], layout_of([1, 1])),
            "2 units on the last axis",
        ),
        (
            lambda: modified_pyramid_scores([1, 1], layout_of([1, 1]), 0),
            "no references",
        ),
        (
            lambda: ScoringRule("sample").apply(
                np.ones((1, 2)), layout_of([1.5, 1]), 0
            ),
            "whole",
        ),
        (
            lambda: ScoringRule("vital").apply(np.ones((1, 1)), layout_of([1]), 0),
            "vital",
        ),
        (lambda: UnitLayout.of([]), "no inputs"),
        (lambda: UnitLayout.of([InputUnits("x", ())]), "weights of input 'x'"),
    ],
)
def test_what_is_refused(score, message):
    with pytest.raises(InputError, match=message):
        score()


NUGGETS = st.lists(
    st.tuples(st.sampled_from(["vital", "okay"]), st.sampled_from([1, 0.5, 0])),
    min_size=1, max_size=6,
)  # fmt: skip


def nuggetizer(nuggets, name):
    """Written out from the definition: support 1, partial .5, strict 0; no vital nugget
    is 0."""
    own = [
        grade for importance, grade in nuggets if importance == "vital" or "all" in name
    ]
    worth = [grade if "strict" not in name else float(grade == 1) for grade in own]
    return sum(worth) / len(worth) if worth else 0.0


@settings(max_examples=40)
@given(st.lists(NUGGETS, min_size=1, max_size=4))
def test_the_four_scores_are_nuggetizers(queries):
    units = [InputUnits(str(q), tuple(Unit("x", importance=i) for i, _ in own))
             for q, own in enumerate(queries)]  # fmt: skip
    labels = np.array([grade for own in queries for _, grade in own], dtype=float)
    layout = UnitLayout.of(units)
    scores = nugget_scores(labels, layout)

    for name, values in scores.items():
        assert values == pytest.approx(
            [nuggetizer(own, name) for own in queries], abs=1e-12
        )

    vital, _ = ScoringRule("vital").apply(labels[None], layout, 0)
    assert np.array_equal(vital[0], scores["vital_score"])
    every, _ = ScoringRule().apply(labels[None], layout, 0)
    assert every[0] == pytest.approx(scores["all_score"], abs=1e-12)
