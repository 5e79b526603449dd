"""Coefficients equal scipy's, levels and policies do what they say, published values
come out."""

import math
from contextlib import nullcontext
from itertools import product

import numpy as np
import pandas as pd
import pytest
from cases import cases, refused, same
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from litepyramid.io.scores import read_scores
from litepyramid.meta import compare, correlate, interval
from litepyramid.meta.alignment import LeftOut, align
from litepyramid.meta.core.levels import OF_VECTORS, correlate_rows, level_correlation

ORACLES = {
    "pearson": lambda x, z: stats.pearsonr(x, z)[0],
    "spearman": lambda x, z: stats.spearmanr(x, z)[0],
    "kendall": lambda x, z: stats.kendalltau(x, z)[0],
}


def oracle(coefficient, x, z):
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(z) == 0:
        return math.nan
    return ORACLES[coefficient](x, z)


tied = st.integers(-3, 3).map(float)
loose = st.floats(-1e3, 1e3, allow_nan=False).map(lambda v: round(v, 6))


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
    columns = [oracle(coefficient, X[b, j], Z[b, j]) for j, b in enumerate(both.T)]
    columns = pd.Series(columns)
    result = level_correlation(X, Z, "summary", coefficient)
    same(result.value, columns.mean())
    assert result.used == columns.count()
    assert result.too_few == np.sum(both.sum(axis=0) < 2)

    of_cells = level_correlation(X, Z, "global", coefficient)
    same(of_cells.value, oracle(coefficient, X[both], Z[both]))


@settings(max_examples=60)
@given(matrices(tied), st.sampled_from(OF_VECTORS))
def test_system_level_equals_scipy_on_exact_averages(xz, coefficient):
    X, Z = 12 * xz  # Averages of one to four of these are whole numbers.
    scored = ~np.isnan(X).all(axis=1) & ~np.isnan(Z).all(axis=1)
    x, z = (np.nanmean(side[scored], axis=1) for side in (X, Z))
    ours = level_correlation(X, Z, "system", coefficient)
    same(ours.value, oracle(coefficient, x, z))


def test_long_vectors_take_another_way_to_the_same_number():
    x, z, w = np.random.default_rng(4).integers(0, 9, (3, 700))
    (ours,) = correlate_rows(x, z, "kendall", w[None].astype(float))
    same(ours, oracle("kendall", np.repeat(x, w), np.repeat(z, w)))


def test_policies_for_constant_columns():
    X = np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]])
    Z = np.array([[1.0, 3.0], [2.0, 2.0], [3.0, 1.0]])
    skip = level_correlation(X, Z, "summary", "pearson")
    assert (skip.value, skip.used, skip.constant) == (pytest.approx(1.0), 1, 1)
    assert math.isnan(level_correlation(X[:, 1:], Z[:, 1:], "system", "kendall").value)

    # The authors' code raises the first of equal scores.
    zb21 = level_correlation(X, Z, "summary", "pearson", "zb21")
    raised = oracle("pearson", [1, 0, 0], Z[:, 1])
    assert zb21.value == pytest.approx((1 + raised) / 2)


def test_one_score_that_explodes_ties_no_others():
    human = np.arange(10.0)[:, None] + np.linspace(0, 0.5, 5)
    metric = human.copy()
    metric[0, 0] = -1e14
    for coefficient in ("spearman", "kendall"):
        found = level_correlation(metric, human, "system", coefficient)
        assert found.value == pytest.approx(1.0)


@pytest.mark.parametrize(("offset", "step"), [(0, 1), (1e9, 1), (-1e6, 1e-6)])
def test_where_scores_begin_decides_no_ties(offset, step):
    metric, human = np.random.default_rng(4).integers(0, 4, (2, 9, 6)).astype(float)
    for coefficient in OF_VECTORS:
        moved = level_correlation(offset + step * metric, human, "system", coefficient)
        expected = oracle(coefficient, metric.sum(axis=1), human.sum(axis=1))
        assert moved.value == pytest.approx(expected, abs=1e-3)


def test_averages_of_float32_scores_tie_as_those_of_float64():
    # Sums of whole numbers tie exactly; their means over raters, as float32, do not.
    rng = np.random.default_rng(7)
    ratings = rng.integers(2, 5, (7, 8, 12))
    metric = rng.normal(size=(8, 12))
    expected = oracle("kendall", metric.mean(axis=1), ratings.sum(axis=(0, 2)))

    human = ratings.mean(axis=0).astype(np.float32)
    system, name = np.indices(human.shape).astype(str)
    columns = {"system": system, "input": name, "x": metric, "human": human}
    frame = pd.DataFrame({key: values.ravel() for key, values in columns.items()})
    rows = frame.to_dict("records")
    for scores, people in ((metric, human), (frame, "human"), (rows, "human")):
        result = correlate(scores, people, level="system", coefficient="kendall")
        assert result.correlations[0].value == pytest.approx(expected, abs=1e-12)


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


def test_what_one_side_lacks_is_left_out_and_named():
    rows = []
    for metric, systems, inputs in (("human", "abc", "123"), ("m", "abcd", "1234")):
        for system, name in product(systems, inputs):
            row = {"system": system, "input": name, "metric": metric}
            rows.append(row | {"score": len(rows) % 7})

    aligned = align(read_scores(rows[1:], "human", metrics="m"))
    assert aligned.left_out == LeftOut(("d",), ("4",), 1)
    assert np.isnan(aligned.values[0, 0, aligned.inputs.index("1")])
    with refused(r"no metric 'rouge' in the scores. Expected one of human"):
        align(read_scores(rows, "human", metrics="rouge"))


def test_scores_without_any_correlation_are_refused():
    for cells, levels, few in (
        ("a1 a2 a3", ["system", "summary"], True),
        ("a1 a2 b3 b4", ["summary"], True),
        ("a1 a2 a3", ["system", "global"], False),
        ("a1 a2 b3 b4", ["system", "summary"], False),
    ):
        rows = [
            {"system": system, "input": name, "m": k + 1, "n": k, "human": k}
            for k, (system, name) in enumerate(cells.split())
        ]
        for verb in (correlate, interval, compare):
            with refused("too few scores") if few else nullcontext():
                verb(rows, level=levels)
