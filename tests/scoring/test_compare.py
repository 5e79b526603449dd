"""Comparing systems: oracles, exactness, level, invariants, rank groups."""

from itertools import combinations

import numpy as np
import pytest
from cases import cases, quick_score, refused
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import multipletests
from scipy import stats

from litepyramid.data.scores import Scores
from litepyramid.scoring.compare import compare
from litepyramid.scoring.inference import flip_p_of, flip_p_values, rank_groups
from litepyramid.stats import adjust_p_values, flip_tails, system_intervals


def table(values):
    values = np.asarray(values, dtype=float)
    systems, inputs = values.shape
    names = [f"s{i}" for i in range(systems)], [str(i) for i in range(inputs)]
    return Scores.of({"m": values}, *names)


def every_sum(values):
    """All 2^M sums of the values' sizes, with either sign."""
    sums = np.zeros(1)
    for value in np.abs(values):
        sums = np.concatenate([sums - value, sums + value])
    return sums


def graded(number, inputs, step, noise=0.1, seed=0):
    """Systems whose true scores differ by a step, on inputs that are hard or easy for
    all."""
    rng = np.random.default_rng(seed)
    true = np.arange(number, 0, -1)[:, None] * step
    return (
        true + rng.normal(0, 0.3, (1, inputs)) + rng.normal(0, noise, (number, inputs))
    )


@settings(max_examples=40)
@given(st.lists(st.integers(-5, 5), min_size=2, max_size=9))
def test_exact_p_equals_scipys_permutation_test(differences):
    values = np.array(differences, dtype=float)
    oracle = stats.permutation_test(
        (values, np.zeros(len(values))),
        lambda x, y: np.abs((x - y).sum()),
        permutation_type="samples",
        alternative="greater",
        n_resamples=np.inf,
    )
    assert flip_p_of(values[None])[0] == pytest.approx(oracle.pvalue, abs=1e-12)


def reaching(row):
    """The share of all ways to set signs that reach a row's sum, each a sum of two
    halves."""
    half = len(row) // 2
    right = np.sort(every_sum(row[half:]))
    needed = row.sum() - 1e-9 - every_sum(row[:half])
    return (right.size - np.searchsorted(right, needed)).mean() / right.size


def near_yes_or_no(rng, columns):
    """A presence near 0 or 1 of one fact an input."""
    first = rng.random(columns) < 0.6
    second = np.where(rng.random(columns) < 0.4, rng.random(columns) < 0.5, first)
    noise = 0.002 * rng.random((2, columns))
    return np.abs(first - noise[0]) - np.abs(second - noise[1])


@pytest.mark.parametrize("columns", [14, 17, 25, 30])
@pytest.mark.parametrize(
    ("made", "slack"),
    [
        (lambda rng, size: rng.integers(-1, 2, size), 1e-8),  # of yes and no
        (lambda rng, size: rng.integers(-3, 6, size) / 3, 1e-8),  # of three raters
        (lambda rng, size: rng.normal(0.4, 1, size), 0.03),  # rounded
        # One is much larger than all others.
        (
            lambda rng, size: rng.normal(
                [rng.choice([-1, 1])] + [0.006] * (size - 1), 0.015
            ),
            0.05,
        ),
        # Of several sizes, most of them equal or nearly so.
        (near_yes_or_no, 0.06),
        (
            lambda rng, size: (
                rng.choice([-1, 1, 1], size) / 10.0 ** rng.integers(0, 5, size)
            ),
            0.06,
        ),
        (
            lambda rng, size: (
                rng.integers(-1, 3, size) + 0.001 * rng.integers(-1, 2, size)
            ),
            0.06,
        ),
    ],
)
def test_p_is_that_of_all_assignments(made, slack, columns):
    rng = np.random.default_rng(columns)
    rows = np.array([made(rng, columns) for _ in range(20)], dtype=float)
    exact = [reaching(row) for row in rows]
    tails = flip_tails(rows)
    np.testing.assert_allclose(tails, exact, rtol=slack, atol=2e-12)
    np.testing.assert_array_equal(flip_tails(rows[:, ::-1]), tails)
    padded = np.concatenate([rows, np.full((20, 3), np.nan)], axis=1)
    np.testing.assert_allclose(flip_tails(padded), tails, rtol=1e-9)


@pytest.mark.parametrize("columns", [14, 24, 25, 30])
def test_a_large_difference_hides_no_small_ones(columns):
    """All inputs are worse, one by much: only the observed signs reach the sum."""
    values = np.full(columns, 0.002)
    values[3] = 1.0
    assert flip_tails(values[None])[0] == pytest.approx(2.0**-columns, abs=2e-12)


@pytest.mark.parametrize("scale", [0.1, 0.7, 1 / 3])
def test_the_last_bit_decides_nothing(scale):
    """Halves of a step, which is 1 here: but for the four largest, whose signs are
    counted, their root mean square is 64."""
    twice = [1, 1, 7, 15, 25, 53, 97, 99, 111, 125, 155, 157, 195, 197, 201, 213]
    values = np.array([*twice, 400, 410, 420, 430, *[0] * 6]) / 2
    values[::3] *= -1
    rows = np.array([values, values[::-1]])
    np.testing.assert_allclose(flip_tails(rows * scale), flip_tails(rows), rtol=1e-12)


def test_rounding_decides_nothing_with_hundreds_of_inputs():
    rows = np.random.default_rng(1).normal(0.05, 1, (60, 400))
    normal = stats.norm.sf(rows.sum(axis=1) / np.sqrt((rows**2).sum(axis=1)))
    near = normal > 1e-3
    np.testing.assert_allclose(flip_tails(rows)[near], normal[near], rtol=0.15)
    assert flip_tails(np.ones((1, 400)))[0] <= 2e-12


def test_a_mean_over_cosets_is_the_share_of_all_signs_of_all_rows():
    rng = np.random.default_rng(2)
    for columns, slack in ((8, 1e-12), (16, 0.05)):
        rows = rng.normal(0.3, 1, (30, columns))
        reached = [(every_sum(row) >= rows[0].sum() - 1e-9).mean() for row in rows]
        assert flip_tails(rows, cosets=True).mean() == pytest.approx(
            np.mean(reached), rel=slack
        )


def test_level_of_families_holds_under_no_difference():
    """Of 200 families of pairs, with Holm's correction."""
    rng = np.random.default_rng(2)
    pairs = np.array(list(combinations(range(8), 2)))
    false = 0

    for run in range(200):
        values = rng.normal(size=(8, 16)) + rng.normal(size=(1, 16))
        if run % 2:
            values = np.round(values)  # ties and a lattice
        false += (adjust_p_values(flip_p_values(values, pairs), "holm") < 0.05).any()

    assert false <= 20  # 10 expected at most; more than 20 once in 500 times


def test_what_no_number_of_inputs_can_show_is_said():
    few = compare(table(graded(33, 12, 0.1)), samples=40)
    assert all(pair.p_holm >= 0.05 for pair in few.pairs)
    notes = " ".join(few.to_tables()[0].notes)
    assert "0 of 528 pairs differ significantly" in notes
    assert "p is at least 0.00049, and 528 pairs at 0.05 need 15 inputs" in notes

    enough = compare(table(graded(33, 15, 0.1)), samples=40)
    assert "No difference could" not in " ".join(enough.to_tables()[0].notes)
    assert any(pair.p_holm < 0.05 for pair in enough.pairs)


@pytest.mark.parametrize("inputs", [1, 14, 15])
def test_intervals_over_few_inputs_are_said_to_be_too_short(inputs):
    texts = {"a": ["It rained."] * inputs, "b": ["We left."] * inputs}
    scored = quick_score(texts, [["It rained."]] * inputs)
    for result in (scored, compare(scored, samples=40)):
        assert ("too short" in result.to_table()) == (inputs < 15)


def test_intervals_agree_with_scipys_bootstrap():
    values = np.random.default_rng(3).random((2, 60))
    ours = system_intervals(values, samples=20_000, confidence=0.95, seed=5)
    options = {"n_resamples": 20_000, "method": "percentile", "rng": 6}
    for row, ends in zip(values, ours, strict=True):
        oracle = stats.bootstrap((row,), np.mean, **options)
        assert ends == pytest.approx(oracle.confidence_interval, abs=0.004)


@settings(max_examples=40)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_corrections_equal_statsmodels(p):
    names = """
        holm               | holm
        bonferroni         | bonferroni
        benjamini-hochberg | fdr_bh
    """
    for ours, theirs in cases(names):
        adjusted = adjust_p_values(np.array(p), ours)
        expected = multipletests(p, method=theirs)[1]
        np.testing.assert_allclose(adjusted, expected, atol=1e-12)


def test_missing_cells_are_left_out_and_counted():
    values = np.array([[1.0, 0.5, np.nan, 0.2], [0.5, np.nan, 0.3, 0.1]])
    (pair,) = compare(table(values)).pairs
    assert pair.inputs == 2
    assert pair.difference == pytest.approx((0.5 + 0.1) / 2)
    values[1, [0, 3]] = np.nan
    with refused("share no scored input"):
        compare(table(values))
    with refused("at least two"):
        compare(table([[1.0]]))

    unscored = np.vstack([np.full(4, np.nan), [0.1, 0.2, 0.3, 0.4], [0.2, 0.5, 0, 0]])
    result = compare(table(unscored))
    (name,) = result.unscored
    assert name not in result.systems
    assert (len(result.pairs), "Left out" in result.to_table()) == (1, True)


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.integers(2, 7))
def test_systems_share_a_group_exactly_when_they_do_not_differ(seed, number):
    rng = np.random.default_rng(seed)
    values = rng.normal(rng.normal(0, 0.5, (number, 1)), 1, (number, 12))
    values[-1] = values[0]  # equal systems differ in nothing

    comparison = compare(table(values), samples=40)
    groups = rank_groups(values)

    for pair in comparison.pairs:
        first, second = (set(groups[int(n[1:])]) for n in (pair.first, pair.second))
        assert bool(first & second) == (pair.p_holm >= comparison.alpha)
    assert min(groups[int(np.argmax(values.mean(axis=1)))]) == 1


def test_groups_stay_few_where_the_largest_ones_are_beyond_counting():
    """Of 120 systems in fuzzy order, over 200,000 largest groups differ in no pair."""
    values = graded(120, 22, 0.005, seed=4)
    groups = rank_groups(values)
    assert max(max(each) for each in groups) < 240


def test_a_system_without_a_score_is_in_no_group():
    values = graded(3, 20, 0.0)
    values[1] = np.nan
    assert rank_groups(values) == [(1,), (), (1,)]
    assert rank_groups(values[:1]) == [(1,)]
    assert rank_groups(np.full((2, 3), np.nan)) == [(), ()]


def test_against_one_system_only_its_pairs_are_tested_and_corrected():
    scores = table(graded(9, 30, 0.05))
    every = {}
    for pair in compare(scores, samples=40).pairs:
        every[frozenset((pair.first, pair.second))] = pair

    comparison = compare(scores, against="s4", samples=40)

    for pair in comparison.pairs:
        same = every[frozenset((pair.first, "s4"))]
        assert pair.p == pytest.approx(same.p, rel=1e-6)
        assert abs(pair.difference) == pytest.approx(same.difference, rel=1e-6)
    p = multipletests([pair.p for pair in comparison.pairs], method="holm")[1]
    assert [pair.p_holm for pair in comparison.pairs] == pytest.approx(p)
    rows = comparison.to_tables()[0].rows
    assert sum(row[2] is not None for row in rows) == 8
    with refused("no system 'x'"):
        compare(scores, against="x")


@pytest.mark.parametrize("width", [60, 200])
def test_many_systems_are_a_matrix_as_wide_as_the_terminal(width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    comparison = compare(table(graded(20, 60, 0.025)), samples=40)
    pairs = comparison.pairs

    text = comparison.to_table()

    lines = text.splitlines()
    assert max(map(len, lines)) <= width
    assert len(lines) < (150 if width == 60 else 60)
    assert text.count("*") == 1 + sum(p.p_holm < 0.05 for p in pairs)
    shown = [float(word.rstrip("*")) for word in text.split() if word[0] == "."]
    expected = sorted(p.difference for p in pairs)
    assert sorted(shown) == pytest.approx(expected, abs=0.00051)
    assert len(comparison.to_csv_table().rows) == len(pairs) == 190
