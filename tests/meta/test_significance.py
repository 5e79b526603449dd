"""Intervals, tests of differences, corrections: against definitions and publications."""

import itertools
import math
from functools import partial
from typing import get_args

import numpy as np
import pytest
from cases import cases, refused, same
from nlpstats.correlations.fisher import fisher as rival_fisher
from nlpstats.correlations.williams import williams_test as rival_williams
from oracles import multipletests

from litepyramid.meta import compare, interval, rank
from litepyramid.meta.alignment import LeftOut
from litepyramid.meta.core.bootstrap import bootstrap_samples
from litepyramid.meta.core.levels import LEVELS, OF_VECTORS
from litepyramid.meta.core.permutation import prepare
from litepyramid.meta.intervals import fisher_interval
from litepyramid.meta.metric_ranks import clusters
from litepyramid.meta.pair_tests import (
    ComparisonMethod,
    compare_pairs,
    corrected_p_values,
    williams_p_value,
)

METHODS = get_args(ComparisonMethod)


def made_up(table_of, seed=0, metrics=4, n=9, m=12):
    rng = np.random.default_rng(seed)
    human = np.round(rng.normal(size=(n, m)) + rng.normal(size=(n, 1)), 1)
    noise = rng.normal(size=(metrics, n, m)) * np.arange(1, metrics + 1)[:, None, None]
    return table_of(**{f"m{i}": human + noise[i] for i in range(metrics)}, human=human)


def matrices(table, *names):
    """(metrics, systems, inputs) scores of some metrics."""
    return np.stack([table[name] for name in names])


# Intervals
# -----------------------------------------------------------------------------------


@pytest.mark.parametrize("coefficient", OF_VECTORS)
@pytest.mark.parametrize("level", LEVELS)
def test_fisher_and_williams_equal_nlpstats(table_of, level, coefficient):
    """Williams, where all correlations are positive."""
    table = made_up(table_of, n=20)
    X, Y, Z = matrices(table, "m0", "m1", "human")
    theirs = "input" if level == "summary" else level, coefficient
    options = {"level": level, "coefficient": coefficient}

    p = compare_pairs(np.stack([X, Y]), Z, method="williams", **options).p_values
    same(p[0, 1], rival_williams(X, Y, Z, *theirs, "greater").pvalue)
    same(p[1, 0], rival_williams(Y, X, Z, *theirs, "greater").pvalue)

    (ends,) = interval(
        table,
        metrics="m1",
        method="fisher",
        confidence=0.9,
        **options,
    ).intervals
    same([ends.low, ends.high], rival_fisher(Y, Z, *theirs, confidence_level=0.9))


def test_fisher_has_no_interval_from_too_few_or_from_a_perfect_correlation(table_of):
    assert all(math.isnan(end) for end in fisher_interval(0.3, 3))
    assert all(math.isnan(end) for end in fisher_interval(0.3, 4, "kendall"))
    assert not math.isnan(fisher_interval(0.3, 5, "kendall")[0])
    assert fisher_interval(1.0, 30) == (1.0, 1.0)
    with refused("no Fisher interval for 'spa'"):
        interval(made_up(table_of), method="fisher", coefficient="spa")


@pytest.mark.data
def test_published_interval_of_rouge_2_on_summeval(summeval):
    found = interval(
        summeval, "expert_relevance_*", metrics="rouge-2_f1", level="system"
    )
    assert -0.16 <= found.intervals[0].low <= -0.03
    assert 0.78 <= found.intervals[0].high <= 0.85


def test_interval_holds_the_share_of_samples_and_counts_failed_ones(table_of):
    table = made_up(table_of, n=3, m=2)
    result = interval(
        table,
        metrics="m0",
        level="system",
        samples=500,
        confidence=0.8,
    )
    (found,) = result.intervals
    drawn = found.drawn[~np.isnan(found.drawn)]
    assert found.failed == 500 - drawn.size > 0
    assert (found.low, found.high) == tuple(np.percentile(drawn, [10, 90]))
    assert str(found.failed) in str(result.to_tables()[0].rows[0])

    with refused("only 1 input"):
        interval(made_up(table_of, n=4, m=1), method="boot-inputs")
    # A formula needs no samples.
    with refused("samples has no effect"):
        interval(table, samples=1, method="fisher", coefficient="pearson")


# P-values
# ------------------------------------------------------------------------------------


def test_a_metric_is_no_better_than_its_own_copy(table_of):
    """By the paper's rule it is: equal metrics get p = 0."""
    table = made_up(table_of)
    metric = np.round(table["m0"]) / 7
    values = np.stack([metric, 100 * metric + 3])
    human = table["human"]
    for how in itertools.product(LEVELS, OF_VECTORS, METHODS):
        p = compare_pairs(values, human, *how, samples=64).p_values
        assert p[0, 1] == p[1, 0] == (0.5 if how[-1] == "williams" else 1.0), how

    equal = table_of(m0=metric, copy=metric, human=human)
    paper = compare(equal, level="system", method="paper-both")
    assert {row[7] for row in paper.to_csv_table().rows} == {0.0}
    assert "two equal metrics get p = 0" in " ".join(paper.remarks())


def test_one_sided_williams_is_not_won_by_a_strongly_negative_metric():
    assert williams_p_value(-0.9, 0.4, -0.3, 50) > 0.999
    assert williams_p_value(0.4, -0.9, -0.3, 50) < 0.001
    assert math.isnan(williams_p_value(0.5, 0.4, 0.3, 3))


def test_bootstrap_test_centres_the_differences(table_of):
    X, Y, Z = matrices(made_up(table_of), "m0", "m2", "human")
    options = {
        "level": "system",
        "coefficient": "kendall",
        "samples": 300,
        "seed": 4,
    }
    tests = compare_pairs(np.stack([X, Y]), Z, method="boot-both", **options)
    observed = tests.correlations[0] - tests.correlations[1]
    drawn = bootstrap_samples(X, Z, **options) - bootstrap_samples(Y, Z, **options)
    larger = np.sum(drawn >= 2 * observed - 1e-11)
    assert tests.p_values[0, 1] == (larger + 1) / 301


@pytest.mark.parametrize("level", ["system", "summary"])
def test_all_pairs_share_their_coins_with_the_single_test(table_of, level):
    table = made_up(table_of)
    values = matrices(table, "m0", "m1", "m2", "m3")
    tested = partial(
        compare_pairs,
        Z=table["human"],
        level=level,
        coefficient="spearman",
        samples=150,
    )
    every = tested(values).p_values
    for pair in itertools.combinations(range(4), 2):
        same(every[np.ix_(pair, pair)], tested(values[[*pair]]).p_values, 0)


# Enough samples for many tests
# ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("level", "swaps", "n", "m", "coefficient", "constant"),
    cases("""
        summary | inputs  | 6  | 9  | kendall  | 0
        summary | inputs  | 6  | 14 | pearson  | 0
        system  | systems | 10 | 4  | spearman | 0
        summary | inputs  | 6  | 12 | kendall  | 6
    """),
)
def test_where_one_coset_is_all_there_is_p_is_exact(
    level, swaps, n, m, coefficient, constant
):
    """The share of all assignments of the coins that reach the observed difference, of
    which a metric that is constant on some inputs leaves draws alone."""
    n, m, constant = map(int, (n, m, constant))
    rng = np.random.default_rng(n)
    Z = rng.normal(size=(n, 1)) + rng.normal(size=(n, m))
    values = Z + rng.normal(size=(2, n, m)) * [[[0.2]], [[3]]]
    values[0, :, :constant] = 1.0
    metrics = prepare(values, Z, level, coefficient)
    shape = (n, 1) if swaps == "systems" else (1, m)
    ways = np.array(list(itertools.product([1.0, -1.0], repeat=max(shape))))
    metrics.move([np.broadcast_to(ways.T.reshape(*shape, -1), (n, m, len(ways)))])
    differences, _ = metrics.pair(0, 1)
    exact = np.mean(differences >= differences[0] - 1e-11)

    found = compare_pairs(
        values,
        Z,
        level,
        coefficient,
        f"perm-{swaps}",
        samples=None,
        target=1e-4,
    )
    assert exact < 0.02
    assert found.p_values[0, 1] == pytest.approx(exact, rel=0.5 if constant else 1e-9)


@pytest.mark.parametrize(
    ("level", "coefficient", "method", "noise"),
    cases("""
        system  | spearman | perm-both    | 3
        system  | kendall  | perm-inputs  | 4
        summary | kendall  | perm-both    | 1.3
        summary | spearman | perm-systems | 2
        global  | pearson  | perm-both    | 1.3
    """),
)
@pytest.mark.filterwarnings("error")
def test_chosen_samples_give_the_p_values_of_many_given_ones(
    level, coefficient, method, noise
):
    """With ties and holes."""
    rng = np.random.default_rng(4)
    Z = np.round(rng.normal(size=(12, 15)) + rng.normal(size=(12, 1)))
    Z[rng.random(Z.shape) < 0.05] = np.nan
    values = np.round(Z + rng.normal(size=(2, *Z.shape)) * [[[1]], [[float(noise)]]])
    tested = partial(compare_pairs, values, Z, level, coefficient, method)

    many = tested(samples=40_000, seed=1).p_values[0, 1]
    found = []
    for seed in range(4):
        tests = tested(samples=None, target=1e-4, seed=seed)
        found.append(tests.p_values[0, 1])
    assert many < 0.04
    assert np.mean(found) == pytest.approx(many, rel=0.3)
    assert max(found) < 2 * many


def test_draws_go_on_where_nothing_is_exact_and_stop_where_all_is_clear(table_of):
    table = made_up(table_of, metrics=3, n=12, m=30)
    tested = partial(
        compare_pairs,
        matrices(table, "m0", "m1", "m2"),
        table["human"],
        "system",
        "pearson",
    )
    found = tested(samples=None, target=1e-4)
    few = tested(samples=None, target=0.05)
    assert (found.samples, found.smallest_p, few.samples) == (19_999, 1 / 40_000, 512)

    clear = found.p_values > 0.05
    np.testing.assert_array_equal(found.p_values[clear], few.p_values[clear])
    small = found.p_values < 0.005
    assert small.any()
    plain = tested(samples=19_999).p_values
    same(found.p_values[small], plain[small], 6e-4)


@pytest.mark.parametrize(
    ("level", "coefficient"), [("system", "pearson"), ("summary", "kendall")]
)
def test_families_of_equal_metrics_hold_their_level(level, coefficient):
    """Five metrics alike: a false discovery among all 20 tests in at most 5 % of the
    runs."""
    rng = np.random.default_rng(5)
    false = 0
    for run in range(60):
        Z = rng.normal(size=(8, 10)) + rng.normal(size=(8, 1))
        values = Z + rng.normal(size=(5, 8, 10)) * 3
        tests = compare_pairs(
            values,
            Z,
            level,
            coefficient,
            samples=None,
            target=0.05 / 20,
            seed=run,
        )
        corrected = corrected_p_values(tests.p_values, "bonferroni", "level")
        false += (corrected <= 0.05).any()

    assert false <= 9  # 3 expected at most; more than 9 once in 300 times


def test_a_number_of_samples_with_which_no_test_could_pass_is_refused(table_of):
    table = made_up(table_of, metrics=6)
    with refused("598 samples: no test could pass"):
        compare(table, samples=598, correction="bonferroni-level")
    for passes in (
        {"samples": 599, "correction": "bonferroni-level"},
        {"samples": 50, "correction": "none"},
        {"samples": 50, "correction": "benjamini-hochberg-level"},
        {"samples": 50, "correction": "bonferroni-level", "method": "paper-both"},
    ):
        compare(table, level="system", **passes)


# Many tests
# ----------------------------------------------------------------------------------


def test_corrections_equal_statsmodels_in_both_groupings():
    p = np.random.default_rng(0).random((4, 4)) ** 3
    np.fill_diagonal(p, np.nan)
    tests = ~np.isnan(p)
    by_metric = corrected_p_values(p, "holm", "metric")
    for row in range(4):
        expected = multipletests(p[row, tests[row]], method="holm")[1]
        same(by_metric[row, tests[row]], expected)

    expected = multipletests(p[tests], method="holm")[1]
    same(corrected_p_values(p, "holm", "level")[tests], expected)


PUBLISHED_P = """
qa-eval_f1       | rouge-1_f1 | 0.005  | 0.008  | 0.001
qa-eval_f1       | rouge-2_f1 | 0.0005 | 0.001  | 0.0005
bertscore_recall | rouge-1_f1 | 0.003  | 0.005  | 0.001
bertscore_recall | rouge-2_f1 | 0.001  | 0.0025 | 0.0008
"""
"""Of one metric over another by the paper's rule and by ours, and how exactly."""


@pytest.mark.data
def test_qaeval_and_bertscore_beat_rouge_on_summeval(summeval):
    """DDR21 Fig. 5, and the p-values of both rules at k = 20,000."""
    names = ["qa-eval_f1", "bertscore_recall", "rouge-1_f1", "rouge-2_f1"]
    tested = partial(
        compare,
        summeval,
        "expert_relevance_*",
        metrics=names,
        level="system",
        samples=20_000,
        seed=0,
    )
    (paper,) = tested(method="paper-both").comparisons
    (ours,) = tested(method="perm-both").comparisons

    for metric, other, *numbers in cases(PUBLISHED_P):
        i = names.index(metric)
        j = names.index(other)
        by_paper, plus_one, slack = map(float, numbers)
        assert paper.p_values[i, j] == pytest.approx(by_paper, abs=slack)
        assert ours.p_values[i, j] == pytest.approx(plus_one, abs=slack)
        assert ours.p_values[j, i] > 0.99
        assert ours.corrected[i, j] <= 0.05


@pytest.mark.data
def test_neither_beats_rouge_on_realsumm(ddr21):
    names = ["qa-eval_f1", "bertscore_recall", "rouge-1_recall", "rouge-2_recall"]
    result = compare(
        ddr21,
        "litepyramid_recall",
        metrics=names,
        level="system",
        samples=4000,
    )
    assert result.comparisons[0].p_values[:2, 2:].min() >= 0.66


# Ranks
# ---------------------------------------------------------------------------------------


def test_clusters_open_at_significant_differences():
    p = np.ones((4, 4))
    p[0, 2] = p[2, 3] = 0.01  # 2 is worse than 0, 3 than 2; 1 than none
    assert clusters(p, [0.9, 0.8, 0.7, 0.6], 0.05) == [1, 1, 2, 3]
    assert clusters(p, [0.9, 0.8, 0.7, 0.6], 0.005) == [1, 1, 1, 1]
    assert clusters(np.full((2, 2), np.nan), [np.nan, 0.5], 0.05) == [None, 1]


@pytest.mark.parametrize("coefficient", ["kendall", "spa", "acc-eq"])
def test_ranks_are_clusters_of_the_tests(table_of, coefficient):
    rng = np.random.default_rng(1)
    human = rng.normal(size=(10, 40)) + np.linspace(0, 2, 10)[:, None]
    noise = rng.normal(size=(3, 10, 40))
    table = table_of(
        good=human + 0.3 * noise[0],
        twin=human + 0.3 * noise[1],
        poor=human + 30 * noise[2],
        human=human,
    )
    ranks = rank(table, coefficient=coefficient, samples=100).ranks
    found = {one.metric: one.rank for one in ranks}
    assert found == {"good": 1, "twin": 1, "poor": 2}


@pytest.mark.parametrize("level", LEVELS)
def test_ranks_show_one_correlation_with_its_own_interval(table_of, level):
    # What another metric has not scored plays no part in either.
    table = made_up(table_of, metrics=3)
    scores = {name: table[name].copy() for name in table.metrics}
    scores["m1"][:, 4:] = np.nan
    scores["m2"][:] = 1.0
    gaps = table_of(**scores)
    ranked = rank(gaps, level=level, samples=100).ranks
    assert (ranked[2].metric, ranked[2].rank) == ("m2", None)

    shared = gaps.take(gaps.systems, gaps.inputs[:4])
    ends = {}
    for one in interval(shared, level=level, samples=100).intervals:
        ends[one.metric] = one.value, one.low, one.high
    for one in ranked[:2]:
        assert (one.value, one.low, one.high) == ends[one.metric]

    with refused("several levels"):
        rank(table, level=["system", "summary"])


# What is shown
# -------------------------------------------------------------------------------


def test_missing_scores_are_left_out_of_all_metrics_alike(table_of):
    table = made_up(table_of)
    scores = {name: table[name].copy() for name in table.metrics}
    scores["m1"][0, 0] = np.nan
    scores["m2"][:, 3] = np.nan
    result = compare(table_of(**scores), level="system", samples=80)
    assert result.left_out == LeftOut((), ("0003",), 1)

    for values in scores.values():
        values[0, 0] = np.nan
        values[:, 3] = np.nan
    again = compare(table_of(**scores), level="system", samples=80)
    same(result.comparisons[0].p_values, again.comparisons[0].p_values, 0)
