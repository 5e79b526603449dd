"""Coefficients equal scipy's, levels and policies do what they say, published values
come out."""

import math
from contextlib import nullcontext
from itertools import product

import numpy as np
import pandas as pd
import pytest
from by_scipy import tau_of_means
from cases import cases, refused, same
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from litepyramid.data.score_tables import read_scores
from litepyramid.meta import compare, correlate, interval
from litepyramid.meta.alignment import LeftOut, align
from litepyramid.meta.core.levels import OF_VECTORS, correlate_rows, level_correlation

ORACLES = {
    "pearson": stats.pearsonr,
    "spearman": stats.spearmanr,
    "kendall": stats.kendalltau,
}


def oracle(coefficient, x, z):
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(z) == 0:
        return math.nan
    return ORACLES[coefficient](x, z).statistic


tied = st.integers(-3, 3).map(float)
loose = st.integers(-(10**9), 10**9).map(lambda value: value / 1e6)


@st.composite
def matrices(draw, values):
    """Two (systems, inputs) matrices, of which some cells are missing."""
    shape = 2, draw(st.integers(1, 7)), draw(st.integers(1, 4))
    cells = values | st.just(math.nan)
    return draw(arrays(float, shape, elements=cells))


@settings(max_examples=60)
@given(matrices(tied) | matrices(loose), st.sampled_from(OF_VECTORS))
def test_summary_and_global_level_equal_scipy_with_ties_and_missing_cells(
    xz, coefficient
):
    X, Z = xz
    both = ~np.isnan(X) & ~np.isnan(Z)
    values = []
    for x, z, scored in zip(X.T, Z.T, both.T, strict=True):
        values.append(oracle(coefficient, x[scored], z[scored]))
    by_input = pd.Series(values)

    result = level_correlation(X, Z, "summary", coefficient)
    same(result.value, by_input.mean())
    assert result.used == by_input.count()
    assert result.too_few == np.sum(both.sum(axis=0) < 2)
    of_cells = level_correlation(X, Z, "global", coefficient)
    same(of_cells.value, oracle(coefficient, X[both], Z[both]))


@settings(max_examples=60)
@given(matrices(tied), st.sampled_from(OF_VECTORS))
def test_system_level_equals_scipy_on_exact_averages(xz, coefficient):
    X, Z = 12 * xz  # Averages of one to four of these are whole numbers.
    x = pd.DataFrame(X).mean(axis=1)
    z = pd.DataFrame(Z).mean(axis=1)
    scored = x.notna() & z.notna()
    ours = level_correlation(X, Z, "system", coefficient)
    same(ours.value, oracle(coefficient, x[scored], z[scored]))


def test_long_vectors_take_another_way_to_the_same_number():
    rng = np.random.default_rng(4)
    x, z, drawn = rng.integers(0, 9, (3, 700))
    weights = drawn[None].astype(float)
    (ours,) = correlate_rows(x, z, "kendall", weights)
    same(ours, oracle("kendall", np.repeat(x, drawn), np.repeat(z, drawn)))


def test_policies_for_constant_columns():
    X = np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]])
    Z = np.array([[1.0, 3.0], [2.0, 2.0], [3.0, 1.0]])
    skip = level_correlation(X, Z, "summary", "pearson")
    assert skip.value == pytest.approx(1.0)
    assert skip.used == skip.constant == 1
    constant = level_correlation(X[:, 1:], Z[:, 1:], "system", "kendall")
    assert math.isnan(constant.value)

    # The authors' code raises the first of equal scores.
    zb21 = level_correlation(X, Z, "summary", "pearson", "zb21")
    raised = oracle("pearson", [1, 0, 0], Z[:, 1])
    assert zb21.value == pytest.approx((1 + raised) / 2)


def test_one_score_that_explodes_ties_no_others():
    human = np.arange(50.0).reshape(10, 5)
    metric = human.copy()
    metric[0, 0] = -1e14
    for coefficient in ("spearman", "kendall"):
        found = level_correlation(metric, human, "system", coefficient)
        assert found.value == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("offset", "step"),
    [(0, 1), (1e9, 1), (-1e6, 1e-6)],
)
def test_where_scores_begin_decides_no_ties(offset, step):
    rng = np.random.default_rng(4)
    metric, human = rng.integers(0, 4, (2, 9, 6)).astype(float)
    x = metric.sum(axis=1)
    z = human.sum(axis=1)
    for coefficient in OF_VECTORS:
        moved = offset + step * metric
        found = level_correlation(moved, human, "system", coefficient)
        assert found.value == pytest.approx(oracle(coefficient, x, z), abs=1e-3)


def test_averages_of_float32_scores_tie_as_those_of_float64():
    # Sums of whole numbers tie exactly; their means over raters, as float32, do not.
    rng = np.random.default_rng(7)
    ratings = rng.integers(2, 5, (7, 8, 12))
    metric = rng.normal(size=(8, 12))
    expected = tau_of_means(metric, ratings.sum(axis=0))

    human = ratings.mean(axis=0).astype(np.float32)
    system, name = np.indices(human.shape)
    frame = pd.DataFrame({"x": metric.ravel(), "human": human.ravel()})
    frame["system"] = system.ravel().astype(str)
    frame["input"] = name.ravel().astype(str)
    rows = frame.to_dict("records")
    for scores, people in ((metric, human), (frame, "human"), (rows, "human")):
        result = correlate(scores, people, level="system", coefficient="kendall")
        same(result.correlations[0].value, expected)


PUBLISHED = """
summeval | rouge-1_f1       | expert_relevance_* | .610 .624 .500 .279 .256 .197
summeval | rouge-2_f1       | expert_relevance_* | .639 .603 .433 .227 .188 .140
summeval | bertscore_recall | expert_relevance_* | .840 .909 .750 .374 .350 .270
summeval | qa-eval_f1       | expert_relevance_* | .820 .912 .767 .301 .288 .225
ddr21    | rouge-1_recall   | litepyramid_recall | .909 .911 .754 .523 .497 .406
ddr21    | rouge-2_recall   | litepyramid_recall | .962 .952 .848 .449 .421 .350
zb21     | rouge_1_recall   | human              | .909 .915 .760 .524 .499 .407
zb21     | rouge_2_recall   | human              | .961 .942 .827 .454 .425 .353
"""


@pytest.mark.data
@pytest.mark.parametrize(("name", "metric", "human", "values"), cases(PUBLISHED))
def test_published_correlations(request, name, metric, human, values):
    result = correlate(request.getfixturevalue(name), human, metrics=metric)
    found = [round(one.value, 3) for one in result.correlations]
    assert found == [float(value) for value in values.split()]


def test_eighths_and_masked_scores_are_what_they_are():
    eighths = [[0.333251953125, 0.0], [0.3330078125, 0.000244140625], [0.5, 0.25]]
    human = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    result = correlate(eighths, human, level="system", coefficient="kendall")
    same(result.correlations[0].value, tau_of_means(np.array(eighths), human))

    masked = np.ma.masked_array([1.0, 2, 4, 99], mask=[0, 0, 0, 1])
    result = correlate(masked, [1.0, 2, 4, 0], coefficient="pearson")
    assert result.correlations[0].value == pytest.approx(1.0)
    for wrong in (np.ones(4) + 1j, np.arange(4).astype("M8[D]")):
        with refused("cannot be read"):
            correlate(wrong, np.ones(4))


def test_what_one_side_lacks_is_left_out_and_named():
    rows = []
    for system, name in product("abcd", "1234"):
        row = {"system": system, "input": name, "m": len(rows) % 7}
        if system != "d" and name != "4":
            row["human"] = len(rows) % 5
        rows.append(row)
    del rows[0]["human"]

    aligned = align(read_scores(rows, "human", metrics="m"))
    assert aligned.left_out == LeftOut(("d",), ("4",), 1)
    assert np.isnan(aligned.values[0, 0, aligned.inputs.index("1")])
    with refused(r"no metric 'rouge' in the scores. Expected one of human, m"):
        align(read_scores(rows, "human", metrics="rouge"))


@pytest.mark.parametrize(
    ("cells", "levels", "scores"),
    cases("""
        a1 a2 a3    | system summary | too few
        a1 a2 b3 b4 | summary        | too few
        a1 a2 a3    | system global  | enough
        a1 a2 b3 b4 | system summary | enough
    """),
)
@pytest.mark.parametrize("verb", [correlate, interval, compare])
def test_scores_without_any_correlation_are_refused(verb, cells, levels, scores):
    rows = []
    for number, (system, name) in enumerate(cells.split()):
        row = {"system": system, "input": name, "m": number + 1}
        rows.append({**row, "n": number, "human": number})
    with refused("too few scores") if scores == "too few" else nullcontext():
        verb(rows, level=levels.split())
