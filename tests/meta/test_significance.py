"""Intervals, tests of differences, corrections, normality: against definitions and
publications."""

import itertools
import math
from dataclasses import replace
from functools import partial
from typing import get_args

import numpy as np
import pytest
from cases import refused, same
from nlpstats.correlations.fisher import fisher as rival_fisher
from nlpstats.correlations.williams import williams_test as rival_williams
from oracles import multipletests
from scipy import stats

from litepyramid.meta import compare, interval, normality, rank
from litepyramid.meta.alignment import LeftOut
from litepyramid.meta.core.bootstrap import bootstrap_samples
from litepyramid.meta.core.levels import LEVELS, OF_VECTORS
from litepyramid.meta.core.permutation import prepare
from litepyramid.meta.correlations import fisher_interval
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


# Intervals
# -----------------------------------------------------------------------------------


@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall"])
@pytest.mark.parametrize(
    ("level", "theirs"),
    [("system", "system"), ("summary", "input"), ("global", "global")],
)
def test_fisher_and_williams_equal_nlpstats(table_of, level, theirs, coefficient):
    """Williams, where all correlations are positive."""
    table = made_up(table_of, n=20)
    X, Y, Z = (table.matrix(name).values for name in ("m0", "m1", "human"))
    ours = compare_pairs(
        np.stack([X, Y]),
        Z,
        level,
        coefficient,
        "williams",
    )

    for x, y, i, j in ((X, Y, 0, 1), (Y, X, 1, 0)):
        theirs_p = rival_williams(
            x,
            y,
            Z,
            theirs,
            coefficient,
            "greater",
        ).pvalue
        assert ours.p_values[i, j] == pytest.approx(theirs_p, abs=1e-12)

    options = {"level": level, "coefficient": coefficient, "confidence": 0.9}
    found = interval(table, metrics="m1", method="fisher", **options)
    result = found.intervals[0]
    ends = rival_fisher(
        Y,
        Z,
        theirs,
        coefficient,
        confidence_level=0.9,
    )
    assert (result.low, result.high) == pytest.approx(tuple(ends), abs=1e-12)


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
    found = result.intervals[0]
    kept = found.drawn[~np.isnan(found.drawn)]
    assert found.failed == 500 - kept.size > 0
    assert (found.low, found.high) == tuple(np.percentile(kept, [10, 90]))
    assert str(found.failed) in str(result.to_tables()[0].rows[0])
    with refused("only 1 input"):
        interval(made_up(table_of, n=4, m=1), method="boot-inputs")
    interval(
        table,
        samples=1,
        method="fisher",
        coefficient="pearson",
    )  # a formula needs none


# P-values
# ------------------------------------------------------------------------------------


def test_a_metric_is_no_better_than_its_own_copy(table_of):
    table = made_up(table_of)
    metric = np.round(table.values[0]) / 7
    values = np.stack([metric, 100 * metric + 3])
    human = table.matrix("human").values
    for how in itertools.product(LEVELS, OF_VECTORS, METHODS):
        p = compare_pairs(values, human, *how, samples=64).p_values
        assert p[0, 1] == p[1, 0] == (0.5 if how[-1] == "williams" else 1.0), how


def test_one_sided_williams_is_not_won_by_a_strongly_negative_metric():
    assert williams_p_value(-0.9, 0.4, -0.3, 50) > 0.999
    assert williams_p_value(0.4, -0.9, -0.3, 50) < 0.001
    assert math.isnan(williams_p_value(0.5, 0.4, 0.3, 3))


def test_bootstrap_test_centres_the_differences(table_of):
    table = made_up(table_of)
    X, Y, Z = (table.matrix(name).values for name in ("m0", "m2", "human"))
    tests = compare_pairs(
        np.stack([X, Y]),
        Z,
        "system",
        "kendall",
        "boot-both",
        samples=300,
        seed=4,
    )
    x, y = (
        bootstrap_samples(
            a,
            Z,
            "system",
            "kendall",
            samples=300,
            seed=4,
        )
        for a in (X, Y)
    )
    observed = tests.correlations[0] - tests.correlations[1]
    larger = np.sum((x - y) >= 2 * observed - 1e-11)
    assert tests.p_values[0, 1] == (larger + 1) / 301


def test_all_pairs_share_their_coins_with_the_single_test(table_of):
    table = made_up(table_of)
    values = table.values[:4]
    for level in ("system", "summary"):
        tested = partial(
            compare_pairs,
            Z=table.matrix("human").values,
            level=level,
            coefficient="spearman",
            samples=150,
            seed=6,
        )
        every = tested(values).p_values
        for pair in itertools.combinations(range(4), 2):
            same(every[np.ix_(pair, pair)], tested(values[[*pair]]).p_values, 0)


# Enough samples for many tests
# ---------------------------------------------------------------


def exact_p_values(X, Y, Z, level, coefficient, swaps):
    """#{T >= T_observed} over every assignment of the coins, for X over Y."""
    n, m = X.shape
    shape = (n, 1) if swaps == "systems" else (1, m)
    ways = np.array(list(itertools.product([1.0, -1.0], repeat=math.prod(shape))))
    metrics = prepare(np.stack([X, Y]), Z, level, coefficient)
    metrics.move([np.broadcast_to(ways.T.reshape(*shape, -1), (n, m, len(ways)))])
    samples, _ = metrics.pair(0, 1)

    return np.mean(samples >= samples[0] - 1e-11)


@pytest.mark.parametrize(
    ("level", "swaps", "n", "m", "coefficient"),
    [
        ("summary", "inputs", 6, 9, "kendall"),
        ("summary", "inputs", 6, 14, "kendall"),
        ("system", "systems", 10, 4, "spearman"),
        ("system", "systems", 14, 4, "spearman"),
        ("summary", "inputs", 6, 9, "pearson"),
    ],
)
def test_where_one_coset_is_all_there_is_p_is_exact(level, swaps, n, m, coefficient):
    rng = np.random.default_rng(n)
    Z = rng.normal(size=(n, 1)) + rng.normal(size=(n, m))
    X = Z + rng.normal(size=(n, m)) * 0.2
    Y = Z + rng.normal(size=(n, m)) * 3
    found = compare_pairs(
        np.stack([X, Y]),
        Z,
        level,
        coefficient,
        f"perm-{swaps}",
        samples=None,
        target=1e-4,
    )
    exact = exact_p_values(X, Y, Z, level, coefficient, swaps)

    assert exact < 0.02
    assert found.p_values[0, 1] == pytest.approx(
        exact, rel=1e-9 if 14 not in (n, m) else 0.1
    )


@pytest.mark.parametrize(
    ("level", "coefficient"), [("system", "spearman"), ("summary", "kendall")]
)
def test_small_p_values_are_those_of_many_more_draws(level, coefficient):
    rng = np.random.default_rng(4)
    Z = rng.normal(size=(12, 15)) + rng.normal(size=(12, 1))
    noise = np.array([1, 1.7 if level == "summary" else 5])[:, None, None]
    values = Z + rng.normal(size=(2, *Z.shape)) * noise
    if level == "summary":
        values, Z = np.round(values), np.round(Z)  # most inputs have ties
    many = compare_pairs(
        values,
        Z,
        level,
        coefficient,
        samples=40_000,
        seed=1,
    ).p_values[0, 1]

    assert 1e-4 < many < 1e-2
    more = {"samples": None, "target": 1e-5}
    found = [
        compare_pairs(
            values,
            Z,
            level,
            coefficient,
            **more,
            seed=seed,
        ).p_values[0, 1]
        for seed in range(4)
    ]

    assert np.mean(found) == pytest.approx(many, rel=0.3)
    assert max(found) < 3 * many


@pytest.mark.parametrize("level", ["system", "summary", "global"])
@pytest.mark.filterwarnings("error")
def test_chosen_samples_give_the_p_values_of_given_ones(level):
    """With ties, holes, constant inputs, every kind of coin."""
    rng = np.random.default_rng(7)
    Z = np.round(rng.normal(size=(9, 7)) * 2)
    X, Y = np.round(rng.normal(size=(2, 9, 7)) + Z * np.array([1, 0.2])[:, None, None])
    Z[rng.random(Z.shape) < 0.1] = np.nan
    X[:, 3] = 1.0
    values = np.where(np.isnan(Z), np.nan, np.stack([X, Y]))

    for method, coefficient in (
        ("perm-both", "kendall"),
        ("perm-systems", "spearman"),
        ("perm-inputs", "pearson"),
    ):
        chosen, given = (
            compare_pairs(
                values,
                Z,
                level,
                coefficient,
                method,
                samples=k,
                target=0.01,
            ).p_values
            for k in (None, 800)
        )
        same(chosen, given, 0.09)


def test_draws_go_on_where_nothing_is_exact_and_stop_where_all_is_clear(table_of):
    table = made_up(
        table_of,
        metrics=3,
        n=12,
        m=30,
    )
    values = table.values[:3]
    Z = table.values[3]
    found, few = (
        compare_pairs(
            values,
            Z,
            "system",
            "pearson",
            samples=None,
            target=target,
        )
        for target in (1e-4, 0.05)
    )
    assert (found.samples, found.smallest_p, few.samples) == (19_999, 1 / 40_000, 512)
    clear = found.p_values > 0.05
    small = found.p_values < 0.005
    np.testing.assert_array_equal(found.p_values[clear], few.p_values[clear])
    assert small.any()
    plain = compare_pairs(
        values,
        Z,
        "system",
        "pearson",
        samples=19_999,
    ).p_values

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
        more = {
            "samples": None,
            "target": 0.05 / 20,
            "seed": run,
        }
        tests = compare_pairs(
            values,
            Z,
            level,
            coefficient,
            **more,
        )
        false += (
            corrected_p_values(tests.p_values, "bonferroni", "level") <= 0.05
        ).any()

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


def test_by_the_papers_rule_equals_win(table_of):
    table = made_up(table_of)
    copied = table_of(
        m0=table.values[0],
        copy=table.values[0],
        human=table.values[-1],
    )
    paper = compare(copied, level="system", method="paper-both")
    assert "two equal metrics get p = 0" in " ".join(paper.remarks())
    assert {test["p_value"] for test in paper.to_json()["tests"]} == {0.0}


# Many tests
# ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("correction", "theirs"),
    [("bonferroni", "bonferroni"), ("holm", "holm"), ("benjamini-hochberg", "fdr_bh")],
)
def test_corrections_equal_statsmodels_in_both_groupings(table_of, correction, theirs):
    table = made_up(table_of)
    metrics = table.values[:4]
    people = table.values[4]
    p = compare_pairs(
        metrics,
        people,
        "system",
        "pearson",
        samples=99,
    ).p_values
    off = ~np.eye(4, dtype=bool)
    families = [("metric", (row, off[row])) for row in range(4)] + [("level", off)]

    for grouping, cells in families:
        expected = multipletests(p[cells], method=theirs)[1]
        corrected = corrected_p_values(p, correction, grouping)
        same(corrected[cells], expected, 1e-12)


PUBLISHED_P = [
    ("qa-eval_f1", "rouge-1_f1", 0.005, 0.008, 0.001),
    ("qa-eval_f1", "rouge-2_f1", 0.0005, 0.001, 0.0005),
    ("bertscore_recall", "rouge-1_f1", 0.003, 0.005, 0.001),
    ("bertscore_recall", "rouge-2_f1", 0.001, 0.0025, 0.0008),
]


@pytest.mark.data
def test_qaeval_and_bertscore_beat_rouge_on_summeval(summeval):
    """DDR21 Fig. 5, and the p-values of both rules at k = 20,000."""
    names = ["qa-eval_f1", "bertscore_recall", "rouge-1_f1", "rouge-2_f1"]
    frames = [
        compare(
            summeval,
            "expert_relevance_*",
            metrics=names,
            level="system",
            samples=20_000,
            seed=0,
            method=method,
        ).to_csv_table()
        for method in ("paper-both", "perm-both")
    ]
    found = [
        {(row[2], row[3]): (row[7], row[9]) for row in frame.rows} for frame in frames
    ]

    for metric, other, paper, plus_one, slack in PUBLISHED_P:
        assert found[0][metric, other][0] == pytest.approx(paper, abs=slack)
        assert found[1][metric, other][0] == pytest.approx(plus_one, abs=slack)
        assert found[1][metric, other][1] == 1  # also corrected
        assert found[1][other, metric][0] > 0.99


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


@pytest.mark.data
def test_published_normality(summeval, ddr21):
    """DDR21 Table 2."""
    of_realsumm = """litepyramid_recall 75 .84, AutoSummENG 28 .55, bertscore_recall 28 .18,
        METEOR 30 .61, MoverScore 31 .50, qa-eval_f1 45 .21, rouge-1_recall 30 .91,
        rouge-2_recall 61 .62, rouge-l_recall 37 .12"""
    # Row 1, the human scores: Relevance is the mean of three experts.
    of_summeval = (
        "mean(expert_relevance_*) 32 .52, qa-eval_f1 40 .01, rouge-l_f1 26 .13"
    )
    for table, human, text in (
        (ddr21, "litepyramid_recall", of_realsumm),
        (summeval, "expert_relevance_*", of_summeval),
    ):
        rows = [row.split() for row in text.split(",")]
        found = {m.metric: m for m in normality(table, human, metrics="*").metrics}
        for metric, share, p in rows:
            shown = round(100 * found[metric].share), round(found[metric].system_p, 2)
            assert shown == (int(share), float(p)), metric


def test_normality_counts_what_has_no_test(table_of):
    values = np.array(
        [[1, 1, 3, np.nan], [2, 1, np.nan, np.nan], [4, 1, 5, 2], [9, 1, 6, 2]]
    )
    found = normality(table_of(m=values)).metrics[0]
    assert (found.tested, found.constant, found.too_few) == (2, 1, 1)
    assert found.system_p == pytest.approx(stats.shapiro([5 / 3, 1.5, 3, 4.5]).pvalue)


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
    noises = {"good": 0.3, "twin": 0.3, "poor": 30.0}
    scores = {
        name: human + n * rng.normal(size=human.shape) for name, n in noises.items()
    }
    table = table_of(**scores, human=human)
    result = rank(table, coefficient=coefficient, samples=100)
    assert {one.metric: one.rank for one in result.ranks} == {
        "good": 1,
        "twin": 1,
        "poor": 2,
    }

    tests = compare(table, level=result.level, coefficient=coefficient)
    for one in result.ranks:
        value = tests.comparisons[0].correlations[tests.metrics.index(one.metric)]
        assert one.value == value
        assert one.low <= value <= one.high or one.metric == "poor"

    with refused("several levels"):
        rank(table, level=["system", "summary"])


@pytest.mark.parametrize("level", LEVELS)
def test_ranks_show_one_correlation_with_its_own_interval(table_of, level):
    # What another metric has not scored plays no part in either.
    table = made_up(table_of, metrics=3)
    values = table.values.copy()
    values[1, :, 4:] = np.nan
    values[2] = 1.0
    first, second, none = rank(
        replace(table, values=values), level=level, samples=100
    ).ranks
    assert (none.metric, none.rank) == ("m2", None)

    shared = replace(table, inputs=table.inputs[:4], values=values[:, :, :4])
    intervals = {
        one.metric: one for one in interval(shared, level=level, samples=100).intervals
    }
    for one in (first, second):
        ends = intervals[one.metric]
        assert (one.value, one.low, one.high) == (ends.value, ends.low, ends.high)


# What is shown
# -------------------------------------------------------------------------------


def test_missing_scores_are_left_out_of_all_metrics_alike(table_of):
    table = made_up(table_of)
    values = table.values.copy()
    values[1, 0, 0] = np.nan
    values[2, :, 3] = np.nan
    result = compare(replace(table, values=values), samples=80)
    assert result.left_out == LeftOut((), ("0003",), 1)
    values[:, :, 3] = values[:, 0, 0] = np.nan
    again = compare(replace(table, values=values), samples=80)
    for a, b in zip(result.comparisons, again.comparisons, strict=True):
        np.testing.assert_array_equal(a.p_values, b.p_values)
