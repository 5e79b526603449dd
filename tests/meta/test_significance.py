"""Intervals, tests of differences, corrections, normality: against definitions and publications."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest
from nlpstats.correlations.fisher import fisher as rival_fisher
from nlpstats.correlations.williams import williams_test as rival_williams
from oracles import multipletests
from scipy import stats

from litepyramid.errors import InputError
from litepyramid.io.scores import read_scores
from litepyramid.meta import bootstrap_samples, compare, interval, normality
from litepyramid.meta.comparisons import corrected_p_values
from litepyramid.meta.intervals import fisher_interval
from litepyramid.meta.permutation import permutation_samples
from litepyramid.meta.significance import COMPARISON_METHODS, compare_pairs, williams_p_value
from litepyramid.resampling import resampled_p_value
from litepyramid.types import ScoreTable


@pytest.fixture(scope="session")
def summeval(data):
    return read_scores(data / "summeval" / "metric_scores.csv")


@pytest.fixture(scope="session")
def ddr21(data):
    return read_scores(data / "realsumm" / "metric_scores_ddr21.csv")


def made_up(seed=0, metrics=4, n=9, m=12):
    rng = np.random.default_rng(seed)
    human = np.round(rng.normal(size=(n, m)) + rng.normal(size=(n, 1)), 1)
    noise = rng.normal(size=(metrics, n, m)) * np.arange(1, metrics + 1)[:, None, None]
    names = tuple(f"m{i}" for i in range(metrics))
    return ScoreTable(
        (*names, "human"),
        tuple(f"s{i}" for i in range(n)),
        tuple(f"d{i}" for i in range(m)),
        np.concatenate([human + noise, human[None]]),
    )


# Intervals -----------------------------------------------------------------------------------


@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall"])
@pytest.mark.parametrize(
    ("level", "theirs"), [("system", "system"), ("summary", "input"), ("global", "global")]
)
def test_fisher_equals_nlpstats(level, theirs, coefficient):
    table = made_up()
    result = interval(
        table, metrics="m1", levels=level, coefficients=coefficient, method="fisher", confidence=0.9
    ).intervals[0]
    X, Z = table.matrix("m1").values, table.matrix("human").values
    low, high = rival_fisher(X, Z, theirs, coefficient, confidence_level=0.9)
    assert (result.low, result.high) == (
        pytest.approx(low, abs=1e-12),
        pytest.approx(high, abs=1e-12),
    )
    assert result.samples.size == 0


def test_fisher_has_no_interval_from_too_few_or_from_a_perfect_correlation():
    assert all(math.isnan(end) for end in fisher_interval(0.3, 3))
    assert all(math.isnan(end) for end in fisher_interval(0.3, 4, "kendall"))
    assert not math.isnan(fisher_interval(0.3, 5, "kendall")[0])
    assert fisher_interval(1.0, 30) == (1.0, 1.0)
    with pytest.raises(InputError, match="no Fisher interval for 'pairwise'"):
        fisher_interval(0.3, 30, "pairwise")


@pytest.mark.data
@pytest.mark.parametrize("seed", range(8))
def test_published_interval_of_rouge_2_on_summeval(summeval, seed):
    found = interval(
        summeval, "expert_relevance_*", metrics="rouge-2_f1", levels="system", seed=seed
    ).intervals[0]
    assert -0.16 <= found.low <= -0.03
    assert 0.78 <= found.high <= 0.85
    assert found.failed == 0


def test_interval_holds_the_share_of_samples_and_counts_failed_ones():
    table = made_up(n=3, m=2)
    found = interval(table, metrics="m0", levels="system", k=500, confidence=0.8).intervals[0]
    kept = found.samples[~np.isnan(found.samples)]
    assert found.failed == 500 - kept.size > 0
    assert (found.low, found.high) == tuple(np.percentile(kept, [10, 90]))
    result = interval(table, metrics="m0", levels="system", k=500)
    assert f"{found.failed}" in result.to_tables()[0].rows[0].__repr__()
    for k in (0, 1, 39):
        with pytest.raises(InputError, match=rf"{k} samples?\. Expected at least 40"):
            interval(table, k=k)
    with pytest.raises(InputError, match=r"at least 19 for a test at the level 0\.05"):
        compare(table, k=18)
    with pytest.raises(InputError, match="only 1 input"):
        interval(made_up(n=4, m=1), method="boot-inputs")
    interval(table, k=0, method="fisher", coefficients="pearson")
    compare(table, k=1, method="williams", coefficients="pearson")
    with pytest.raises(InputError, match="confidence is 95"):
        interval(table, confidence=95)


# P-values ------------------------------------------------------------------------------------


def test_rules_for_p_values_and_ties_with_the_observed_value():
    samples = np.array([0.5, 0.5 - 1e-15, 0.2, -0.6, np.nan])
    assert resampled_p_value(0.5, samples) == 3 / 5
    assert resampled_p_value(0.5, samples, rule="paper") == 0.0
    assert resampled_p_value(0.5, samples, "two-sided") == 4 / 5
    assert resampled_p_value(0.5, samples, "less") == 5 / 5
    assert resampled_p_value(0.4, samples, rule="paper") == 2 / 4
    assert math.isnan(resampled_p_value(math.nan, samples))
    assert math.isnan(resampled_p_value(0.1, samples[4:]))


def test_a_metric_is_no_better_than_its_own_copy():
    table = made_up()
    values = np.stack([table.values[0], 7 * table.values[0] - 1])
    for method in COMPARISON_METHODS:
        for level in ("system", "summary", "global"):
            p = compare_pairs(
                values, table.matrix("human").values, level, "pearson", method, k=64
            ).p_values
            assert p[0, 1] == p[1, 0] == (0.5 if method == "williams" else 1.0)


@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall"])
@pytest.mark.parametrize(
    ("level", "theirs"), [("system", "system"), ("summary", "input"), ("global", "global")]
)
def test_williams_equals_nlpstats_where_all_correlations_are_positive(level, theirs, coefficient):
    table = made_up(n=20)
    X, Y, Z = (table.matrix(name).values for name in ("m0", "m1", "human"))
    for alternative in ("greater", "two-sided"):
        ours = compare_pairs(
            np.stack([X, Y]), Z, level, coefficient, "williams", alternative=alternative
        )
        for x, y, i, j in ((X, Y, 0, 1), (Y, X, 1, 0)):
            theirs_p = rival_williams(x, y, Z, theirs, coefficient, alternative).pvalue
            assert ours.p_values[i, j] == pytest.approx(theirs_p, abs=1e-12)


def test_one_sided_williams_is_not_won_by_a_strongly_negative_metric():
    assert williams_p_value(-0.9, 0.4, -0.3, 50) > 0.999
    assert williams_p_value(-0.9, 0.4, -0.3, 50, "less") < 0.001
    assert williams_p_value(0.4, -0.9, -0.3, 50) < 0.001
    assert math.isnan(williams_p_value(0.5, 0.4, 0.3, 3))


def test_bootstrap_test_centres_the_differences():
    table = made_up()
    X, Y, Z = (table.matrix(name).values for name in ("m0", "m2", "human"))
    tests = compare_pairs(np.stack([X, Y]), Z, "system", "kendall", "boot-both", k=300, seed=4)
    x, y = (bootstrap_samples(a, Z, "system", "kendall", k=300, seed=4) for a in (X, Y))
    observed = tests.correlations[0] - tests.correlations[1]
    larger = np.sum((x - y) >= 2 * observed - 1e-11)
    assert tests.p_values[0, 1] == (larger + 1) / 301


def test_all_pairs_share_their_coins_with_the_single_test():
    table = made_up()
    values, Z = table.values[:4], table.matrix("human").values
    for level in ("system", "summary"):
        tests = compare_pairs(values, Z, level, "spearman", k=150, seed=6)
        for i in range(4):
            for j in range(4):
                if i == j:
                    assert math.isnan(tests.p_values[i, j])
                    continue
                observed, samples = permutation_samples(
                    values[i], values[j], Z, level, "spearman", k=150, seed=6
                )
                assert tests.p_values[i, j] == resampled_p_value(observed, samples)


@pytest.mark.parametrize("level", ["system", "summary"])
def test_permutation_test_keeps_its_level_and_finds_a_better_metric(level):
    rng = np.random.default_rng(1)
    rejected = 0
    for trial in range(60):
        Z = rng.normal(size=(10, 15)) + rng.normal(size=(10, 1))
        X, Y = Z + rng.normal(size=(2, 10, 15)) * 3
        p = compare_pairs(np.stack([X, Y]), Z, level, "pearson", k=99, seed=trial).p_values
        rejected += p[0, 1] <= 0.1
    assert rejected <= 13  # 6 expected; more than 13 once in 400 runs
    better = Z + rng.normal(size=Z.shape) * 0.3
    p = compare_pairs(np.stack([better, Y]), Z, level, "pearson", k=199).p_values
    assert p[0, 1] <= 0.02
    assert p[1, 0] >= 0.9


# Many tests ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("correction", "theirs"),
    [("bonferroni", "bonferroni"), ("holm", "holm"), ("benjamini-hochberg", "fdr_bh")],
)
def test_corrections_equal_statsmodels_in_both_groupings(correction, theirs):
    table = made_up()
    tests = compare_pairs(table.values[:4], table.values[4], "system", "pearson", k=99)
    p = tests.p_values
    off = ~np.eye(4, dtype=bool)
    by_metric = corrected_p_values(tests, correction, "metric", "greater")
    for row in range(4):
        expected = multipletests(p[row][off[row]], method=theirs)[1]
        np.testing.assert_allclose(by_metric[row][off[row]], expected, atol=1e-12)
    together = corrected_p_values(tests, correction, "level", "greater")
    np.testing.assert_allclose(together[off], multipletests(p[off], method=theirs)[1], atol=1e-12)
    two = compare_pairs(
        table.values[:4], table.values[4], "system", "pearson", k=99, alternative="two-sided"
    )
    once = np.triu_indices(4, 1)
    expected = multipletests(two.p_values[once], method=theirs)[1]
    corrected = corrected_p_values(two, correction, "level", "two-sided")
    np.testing.assert_allclose(corrected[once], expected, atol=1e-12)
    np.testing.assert_array_equal(corrected, corrected.T)


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
            summeval, "expert_relevance_*", metrics=names, levels="system", k=20_000, p_value=rule
        ).to_csv_table()
        for rule in ("paper", "plus_one")
    ]
    found = [{(row[2], row[3]): (row[7], row[9]) for row in frame.rows} for frame in frames]
    for metric, other, paper, plus_one, slack in PUBLISHED_P:
        assert found[0][metric, other][0] == pytest.approx(paper, abs=slack)
        assert found[1][metric, other][0] == pytest.approx(plus_one, abs=slack)
        assert found[1][metric, other][1] == 1  # also corrected
        assert found[1][other, metric][0] > 0.99


@pytest.mark.data
def test_neither_beats_rouge_on_realsumm(ddr21):
    names = ["qa-eval_f1", "bertscore_recall", "rouge-1_recall", "rouge-2_recall"]
    result = compare(ddr21, "litepyramid_recall", metrics=names, levels="system", k=4000)
    p = result.comparisons[0].p_values
    assert p[:2, 2:].min() >= 0.66


@pytest.mark.data
def test_published_normality(summeval, ddr21):
    """DDR21 Table 2."""
    found = {m.metric: m for m in normality(ddr21).metrics}
    for metric, share, p in [
        ("litepyramid_recall", 75.0, 0.84),
        ("AutoSummENG", 28.0, 0.55),
        ("bertscore_recall", 28.0, 0.18),
        ("METEOR", 30.0, 0.61),
        ("MoverScore", 31.0, 0.50),
        ("qa-eval_f1", 45.0, 0.21),
        ("rouge-1_recall", 30.0, 0.91),
        ("rouge-2_recall", 61.0, 0.62),
        ("rouge-l_recall", 37.0, 0.12),
    ]:
        assert 100 * found[metric].share == pytest.approx(share)
        assert round(found[metric].system_p, 2) == p
    found = {m.metric: m for m in normality(summeval).metrics}
    for metric, share, p in [("qa-eval_f1", 40, 0.01), ("rouge-l_f1", 26, 0.13)]:
        assert (round(100 * found[metric].share), round(found[metric].system_p, 2)) == (share, p)
    # Row 1, the human scores: Relevance is the mean of three experts.
    for table, against, share, p in [
        (summeval, "expert_relevance_*", 32.0, 0.52),
        (ddr21, "litepyramid_recall", 75.0, 0.84),
    ]:
        first = normality(table, against, metrics="rouge-1_*").metrics[0]
        assert (round(100 * first.share, 1), round(first.system_p, 2)) == (share, p)
    every = [m.metric for m in normality(summeval, "expert_relevance_*").metrics]
    assert every[0] == "mean(expert_relevance_*)"
    assert not any(name.startswith("expert_relevance") for name in every[1:])


def test_normality_counts_what_has_no_test():
    values = np.array([[[1, 1, 3, np.nan], [2, 1, np.nan, np.nan], [4, 1, 5, 2], [9, 1, 6, 2]]])
    table = ScoreTable(("m",), tuple("abcd"), tuple("1234"), values)
    found = normality(table).metrics[0]
    assert (found.tested, found.constant, found.too_few) == (2, 1, 1)
    assert found.system_p == pytest.approx(stats.shapiro([5 / 3, 1.5, 3, 4.5]).pvalue)


# What is shown -------------------------------------------------------------------------------


def test_results_as_frames_and_json():
    pytest.importorskip("pandas")
    table = made_up()
    before = table.values.copy()
    frame = interval(table, k=50).to_frame()
    assert list(frame.columns[:7]) == [
        "metric", "against", "level", "coefficient", "value", "low", "high"
    ]  # fmt: skip
    assert len(frame) == 8
    result = compare(table, k=50, coefficients=["pearson", "kendall"])
    assert len(result.to_frame()) == 4 * 4 * 3
    assert len(compare(table, k=50, alternative="two-sided").to_frame()) == 2 * 6
    assert len(normality(table).to_frame()) == 5
    found = result.to_json()
    assert {"test", "k", "seed", "N", "M", "constant", "version"} <= set(found["signature"])
    np.testing.assert_array_equal(table.values, before)


def test_missing_scores_are_left_out_of_all_metrics_alike():
    table = made_up()
    values = table.values.copy()
    values[1, 0, 0] = np.nan
    values[2, :, 3] = np.nan
    holes = ScoreTable(table.metrics, table.systems, table.inputs, values)
    result = compare(holes, k=50)
    assert (result.left_out.inputs, result.left_out.cells) == (("d3",), 1)
    assert (result.systems, result.inputs) == (9, 11)
    values[:, :, 3] = values[:, 0, 0] = np.nan
    again = compare(ScoreTable(table.metrics, table.systems, table.inputs, values), k=50)
    for a, b in zip(result.comparisons, again.comparisons, strict=True):
        np.testing.assert_array_equal(a.p_values, b.p_values)
    assert "Left out, not scored by all: 0 systems, 1 input and 1 single cell." in (
        result.to_tables()[-1].notes
    )


@pytest.fixture
def file(tmp_path):
    table = made_up(metrics=6)
    lines = ["system,input,metric,score"]
    for m, metric in enumerate(table.metrics):
        for s, system in enumerate(table.systems):
            lines += [
                f"{system},{name},{metric},{table.values[m, s, i]!r}".replace(
                    "np.float64(", ""
                ).rstrip(")")
                for i, name in enumerate(table.inputs)
            ]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_command_lines_and_figures(cli, file, tmp_path):
    pytest.importorskip("matplotlib")
    shown = cli("meta", "compare", file, "-k", 50, "--figure", tmp_path / "c.png").stdout
    assert "better than" in shown
    assert re.search(r"1 +m\d +0\.\d{3} +\d +\\[●○·]{5}", shown)
    assert max(map(len, shown.splitlines())) <= 80
    shown = cli("meta", "interval", file, "-k", 50, "--figure", tmp_path / "i.svg", "-f", "json")
    found = json.loads(shown.stdout)
    assert found["k"] == 50
    assert len(found["intervals"]) == 12
    shown = cli("meta", "normality", file, "-a", "human", "-f", "latex").stdout
    assert "human" in shown.splitlines()[7]
    assert "Shapiro-Wilk" in shown
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in (tmp_path / "i.svg").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("compare", "FILE", "-m", "m1"), "only the metric m1 to compare"),
        (("compare", "FILE", "--figure", "x.gif"), "no figure of the kind '.gif'"),
        (("interval", "FILE", "--seed", -3), "--seed"),
        (("interval", "FILE", "--method", "fisher", "-c", "pairwise"), "no Fisher interval"),
        (("interval", "FILE", "--confidence", 95), "confidence is 95.0"),
        (("compare", "FILE", "--alpha", 5), "alpha is 5.0"),
        (("normality", "none.csv"), "none.csv: no such file"),
    ],
)
def test_mistakes_on_the_command_line(cli, file, arguments, message):
    words = [file if word == "FILE" else word for word in arguments]
    assert message in cli("meta", *words, status=2).stderr
