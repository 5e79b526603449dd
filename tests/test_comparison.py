"""Comparing systems: oracles, exactness, invariants, rank groups."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import multipletests
from scipy import stats

from litepyramid.comparison import (
    compare_systems,
    rank_groups,
    sign_flip_p_values,
    system_intervals,
)
from litepyramid.errors import InputError
from litepyramid.resampling import adjust_p_values, bootstrap_counts, percentile_interval
from litepyramid.types import ScoreMatrix


def matrix(values, names=None):
    values = np.asarray(values, dtype=float)
    names = names or [f"s{i}" for i in range(len(values))]
    return ScoreMatrix("m", tuple(names), tuple(map(str, range(values.shape[1]))), values)


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=9))
def test_exact_p_equals_scipys_permutation_test(differences):
    rows = np.array([differences], dtype=float)
    p, exact = sign_flip_p_values(rows, 10_000, np.random.default_rng(0))
    assert exact
    if len(differences) > 1:
        oracle = stats.permutation_test(
            (rows[0], np.zeros(len(differences))),
            lambda x, y: np.abs((x - y).sum()),
            permutation_type="samples",
            alternative="greater",
            n_resamples=np.inf,
        )
        assert p[0] == pytest.approx(oracle.pvalue, abs=1e-12)


def test_random_signs_come_close_to_the_exact_p():
    rng = np.random.default_rng(1)
    differences = rng.normal(0.3, 1, size=(3, 12))
    exact, is_exact = sign_flip_p_values(differences, 5000, rng)
    wide = np.concatenate([differences, np.zeros((3, 8))], axis=1)
    drawn, is_drawn_exact = sign_flip_p_values(wide, 20_000, rng)
    assert is_exact
    assert not is_drawn_exact
    np.testing.assert_allclose(drawn, exact, atol=0.02)


def test_level_holds_under_no_difference():
    rng = np.random.default_rng(2)
    p, _ = sign_flip_p_values(rng.normal(size=(400, 30)), 999, rng)
    assert (p <= 0.05).mean() <= 0.08
    assert p.min() >= 1 / 1000


def test_intervals_agree_with_scipys_bootstrap():
    values = np.random.default_rng(3).random((2, 60))
    ours = system_intervals(values, samples=20_000, confidence=0.95, seed=5)
    for row, (low, high) in zip(values, ours, strict=True):
        oracle = stats.bootstrap(
            (row,), np.mean, n_resamples=20_000, method="percentile", rng=6
        ).confidence_interval
        assert low == pytest.approx(oracle.low, abs=0.004)
        assert high == pytest.approx(oracle.high, abs=0.004)


def test_counts_are_samples_with_replacement():
    counts = bootstrap_counts(np.random.default_rng(0), 7, 5000)
    assert (counts.sum(axis=1) == 7).all()
    np.testing.assert_allclose(counts.mean(axis=0), 1, atol=0.06)


def test_failed_samples_are_left_out_of_percentiles():
    assert percentile_interval(np.array([1.0, np.nan, 1.0])) == (1.0, 1.0)
    assert all(np.isnan(percentile_interval(np.array([np.nan]))))
    with pytest.raises(InputError, match="between 0 and 1"):
        percentile_interval(np.array([1.0]), 95)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_corrections_equal_statsmodels(p):
    p = np.array(p)
    for ours, theirs in [
        ("holm", "holm"),
        ("bonferroni", "bonferroni"),
        ("benjamini-hochberg", "fdr_bh"),
    ]:
        np.testing.assert_allclose(
            adjust_p_values(p, ours), multipletests(p, method=theirs)[1], atol=1e-12
        )


def test_tests_that_were_not_made_do_not_count():
    adjusted = adjust_p_values(np.array([0.01, np.nan, 0.04]), "bonferroni")
    np.testing.assert_array_equal(adjusted, [0.02, np.nan, 0.08])
    with pytest.raises(InputError, match="no correction"):
        adjust_p_values(np.array([0.1]), "tukey")


@settings(max_examples=25)
@given(st.integers(0, 1000))
def test_order_of_systems_and_inputs_does_not_change_a_comparison(seed):
    rng = np.random.default_rng(seed)
    values = rng.random((3, 8))
    names = ["a", "b", "c"]
    once = {(p.first, p.second): p for p in compare_systems(matrix(values, names)).pairs}
    order = rng.permutation(3)
    columns = rng.permutation(8)
    again = compare_systems(matrix(values[order][:, columns], [names[i] for i in order]))
    for pair in again.pairs:
        assert pair.p == once[pair.first, pair.second].p
        assert pair.difference == pytest.approx(once[pair.first, pair.second].difference)


def test_missing_cells_are_left_out_and_counted():
    values = np.array([[1.0, 0.5, np.nan, 0.2], [0.5, np.nan, 0.3, 0.1]])
    (pair,) = compare_systems(matrix(values)).pairs
    assert pair.inputs == 2
    assert pair.difference == pytest.approx((0.5 + 0.1) / 2)
    values[1, [0, 3]] = np.nan
    with pytest.raises(InputError, match="share no scored input"):
        compare_systems(matrix(values))
    with pytest.raises(InputError, match="at least two"):
        compare_systems(matrix([[1.0]]))


def test_equal_systems_have_p_one_and_one_group():
    scores = matrix(np.tile(np.random.default_rng(0).random(40), (3, 1)))
    comparison = compare_systems(scores, samples=500)
    assert all(pair.p == 1.0 for pair in comparison.pairs)
    assert rank_groups(scores.values.mean(axis=1), comparison, scores.systems) == [(1,)] * 3


def test_not_told_apart_is_no_equivalence():
    base = np.random.default_rng(0).random(40)
    swing = np.tile([0.1, -0.1], 20)
    middle = base - 0.02 - swing  # close to both, in either direction
    scores = matrix(np.stack([base, middle, base - 0.04, base - 0.5]))
    comparison = compare_systems(scores, samples=2000)
    p = {(pair.first, pair.second): pair.p_holm for pair in comparison.pairs}
    assert p["s0", "s1"] > 0.05
    assert p["s1", "s2"] > 0.05
    assert p["s0", "s2"] < 0.05
    groups = rank_groups(scores.values.mean(axis=1), comparison, scores.systems)
    assert groups == [(1,), (1, 2), (2,), (3,)]


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(2, 7))
def test_systems_share_a_group_exactly_when_not_told_apart(seed, number):
    rng = np.random.default_rng(seed)
    scores = matrix(rng.normal(rng.normal(0, 0.5, (number, 1)), 1, (number, 12)))
    comparison = compare_systems(scores, samples=300, seed=seed)
    groups = rank_groups(scores.values.mean(axis=1), comparison, scores.systems)
    by_name = dict(zip(scores.systems, map(set, groups), strict=True))
    for pair in comparison.pairs:
        share = bool(by_name[pair.first] & by_name[pair.second])
        assert share == (pair.p_holm >= comparison.alpha)
    assert min(groups[int(np.argmax(scores.values.mean(axis=1)))]) == 1


def test_a_seed_gives_the_same_numbers():
    scores = matrix(np.random.default_rng(0).random((3, 30)))
    assert compare_systems(scores, seed=7) == compare_systems(scores, seed=7)
    assert compare_systems(scores, seed=7) != compare_systems(scores, seed=8)
