"""Coefficients equal scipy's, levels and policies do what they say, published values
come out."""

import math
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from cases import refused, same
from hypothesis import given, settings
from hypothesis import strategies as st
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
def matrices(draw, lowest=1):
    n = draw(st.integers(lowest, 7))
    m = draw(st.integers(1, 4))
    cell = st.one_of(draw(st.sampled_from([tied, loose])), st.just(math.nan))
    values = draw(st.lists(cell, min_size=2 * n * m, max_size=2 * n * m))
    return np.array(values).reshape(2, n, m)


@settings(max_examples=60)
@given(matrices(), st.sampled_from(OF_VECTORS))
def test_summary_and_global_level_equal_scipy_with_ties_and_missing_cells(
    xz, coefficient
):
    X, Z = xz
    both = ~np.isnan(X) & ~np.isnan(Z)
    columns = [oracle(coefficient, X[b, j], Z[b, j]) for j, b in enumerate(both.T)]
    expected = np.nanmean(columns) if not np.all(np.isnan(columns)) else math.nan
    result = level_correlation(X, Z, "summary", coefficient)
    same(result.value, expected)
    assert result.used == np.sum(~np.isnan(columns))
    assert result.too_few == np.sum(both.sum(axis=0) < 2)
    same(
        level_correlation(X, Z, "global", coefficient).value,
        oracle(coefficient, X[both], Z[both]),
    )


@settings(max_examples=60)
@given(matrices(), st.sampled_from(OF_VECTORS))
def test_system_level_equals_scipy_on_exact_averages(xz, coefficient):
    X, Z = (
        np.round(a * 64) / 64 for a in xz
    )  # sums of these are exact, divisions by 4 too
    X, Z = (np.concatenate([a] * 4, axis=1)[:, :4] for a in (X, Z))
    kept = ~np.isnan(X).all(axis=1) & ~np.isnan(Z).all(axis=1)
    x = np.nanmean(X[kept], axis=1)
    z = np.nanmean(Z[kept], axis=1)
    exact = not np.isnan([X, Z]).any()  # sums and quarters are, thirds are not

    if coefficient == "pearson":
        x, z = (np.zeros(len(a)) if len(a) and np.ptp(a) < 1e-9 else a for a in (x, z))
    elif not exact:
        x, z = (
            np.round(x, 9),
            np.round(z, 9),
        )  # thirds of the same sum differ in the last bit

    ours = level_correlation(X, Z, "system", coefficient).value
    same(
        ours,
        oracle(coefficient, x, z),
        1e-12 if exact or coefficient != "pearson" else 1e-9,
    )


def test_long_vectors_take_another_way_to_the_same_number():
    x, z = np.random.default_rng(4).integers(0, 9, (2, 700)).astype(float)
    w = np.random.default_rng(5).integers(0, 3, 700).astype(float)
    item = np.repeat(np.arange(700), w.astype(int))
    same(
        correlate_rows(x, z, "kendall", w[None])[0], oracle("kendall", x[item], z[item])
    )


def test_policies_for_constant_columns():
    X = np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]])
    Z = np.array([[1.0, 3.0], [2.0, 2.0], [3.0, 1.0]])
    skip, zb21 = (
        level_correlation(
            X,
            Z,
            "summary",
            "pearson",
            policy,
        )
        for policy in ("skip", "zb21")
    )
    assert (skip.value, skip.used, skip.constant) == (pytest.approx(1.0), 1, 1)
    bumped = X[:, 1].copy()
    bumped[0] += 1e-10
    assert zb21.value == pytest.approx(
        (1 + stats.pearsonr(bumped, Z[:, 1])[0]) / 2, abs=1e-5
    )
    assert math.isnan(level_correlation(X[:, 1:], Z[:, 1:], "system", "kendall").value)


PUBLISHED = [
    ("summeval", "rouge-1_f1", "expert_relevance_*", ".610 .624 .500 .279 .256 .197"),
    ("summeval", "rouge-2_f1", "expert_relevance_*", ".639 .603 .433 .227 .188 .140"),
    (
        "summeval",
        "bertscore_recall",
        "expert_relevance_*",
        ".840 .909 .750 .374 .350 .270",
    ),
    ("summeval", "qa-eval_f1", "expert_relevance_*", ".820 .912 .767 .301 .288 .225"),
    ("ddr21", "rouge-1_recall", "litepyramid_recall", ".909 .911 .754 .523 .497 .406"),
    ("ddr21", "rouge-2_recall", "litepyramid_recall", ".962 .952 .848 .449 .421 .350"),
    ("zb21", "rouge_1_recall", "human", ".909 .915 .760 .524 .499 .407"),
    ("zb21", "rouge_2_recall", "human", ".961 .942 .827 .454 .425 .353"),
]


@pytest.mark.data
@pytest.mark.parametrize("coefficient", ["spearman", "kendall"])
def test_one_score_that_explodes_ties_no_others(coefficient):
    human = np.arange(10.0)[:, None] + np.linspace(0, 0.5, 5)
    metric = human.copy()
    metric[0, 0] = -1e14
    value = level_correlation(metric, human, "system", coefficient).value
    assert value == pytest.approx(1.0)


@pytest.mark.parametrize(("offset", "step"), [(0, 1), (1e9, 1), (-1e6, 1e-6)])
def test_where_scores_begin_decides_no_ties(offset, step):
    rng = np.random.default_rng(4)
    metric = rng.integers(0, 4, (9, 6)).astype(float)
    human = rng.integers(0, 4, (9, 6)).astype(float)
    moved = offset + step * metric
    for coefficient in OF_VECTORS:
        expected = oracle(coefficient, metric.sum(axis=1), human.sum(axis=1))
        found = level_correlation(moved, human, "system", coefficient).value
        assert found == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("raters", [2, 3, 7, 10])
@pytest.mark.parametrize("door", ["array", "frame", "rows"])
def test_averages_of_float32_scores_tie_as_those_of_float64(raters, door):
    # Sums of whole numbers tie exactly; their means over raters, as float32, do not.
    rng = np.random.default_rng(raters)
    ratings = rng.integers(2, 5, (raters, 8, 12))
    metric = rng.normal(size=(8, 12))
    expected = oracle("kendall", metric.mean(axis=1), ratings.sum(axis=(0, 2)))

    scores, human = metric, ratings.mean(axis=0).astype(np.float32)
    if door != "array":
        cells = [*np.ndindex(human.shape)]
        scores = {
            "system": [f"s{system}" for system, _ in cells],
            "input": [f"i{name}" for _, name in cells],
            "x": metric.ravel(),
            "human": human.ravel(),
        }
        scores = pd.DataFrame(scores)
        human = "human"
        if door == "rows":
            scores = scores.to_dict("records")

    (found,) = correlate(
        scores, human, level="system", coefficient="kendall"
    ).correlations
    assert found.value == pytest.approx(expected, abs=1e-12)


def test_eighths_and_masked_scores_are_what_they_are():
    eighths = [[0.333251953125, 0.0], [0.3330078125, 0.000244140625], [0.5, 0.25]]
    human = [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]
    (found,) = correlate(
        eighths, human, level="system", coefficient="kendall"
    ).correlations
    means = np.mean(eighths, axis=1), np.mean(human, axis=1)
    assert found.value == pytest.approx(oracle("kendall", *means))

    masked = np.ma.masked_array([1.0, 2, 4, 99], mask=[0, 0, 0, 1])
    found, *_ = correlate(masked, [1.0, 2, 4, 0], coefficient="pearson").correlations
    assert found.value == pytest.approx(1.0)
    for wrong in (np.ones(4) + 1j, np.arange(4).astype("M8[D]")):
        with refused("cannot be read"):
            correlate(wrong, np.ones(4))


@pytest.mark.parametrize(("name", "metric", "human", "values"), PUBLISHED)
def test_published_correlations(request, name, metric, human, values):
    result = correlate(request.getfixturevalue(name), human, metrics=metric)
    assert [round(c.value, 3) for c in result.correlations] == [
        float(v) for v in values.split()
    ]


def test_what_one_side_lacks_is_left_out_and_named():
    rows = [
        {
            "system": s,
            "input": i,
            "metric": m,
            "score": hash((s, i, m)) % 7,
        }
        for m, systems, inputs in [("human", "abc", "123"), ("m", "abcd", "1234")]
        for s in systems
        for i in inputs
    ]
    aligned = align(read_scores(rows[1:], "human", metrics="m"))
    assert aligned.left_out == LeftOut(("d",), ("4",), 1)
    assert np.isnan(aligned.values[0, 0, aligned.inputs.index("1")])

    with refused(r"no metric 'rouge' in the scores. Expected one of human"):
        align(read_scores(rows, "human", metrics="rouge"))


def test_scores_without_any_correlation_are_refused():
    for cells, levels, too_few in (
        ("a1 a2 a3", ["system", "summary"], True),
        ("a1 a2 b3 b4", ["summary"], True),
        ("a1 a2 a3", ["system", "global"], False),
        ("a1 a2 b3 b4", ["system", "summary"], False),
    ):
        rows = [
            {
                "system": system,
                "input": item,
                "metric": metric,
                "score": k + (metric == "m"),
            }
            for k, (system, item) in enumerate(cells.split())
            for metric in ("m", "n", "human")
        ]
        for run in (correlate, interval, compare):
            with refused("too few scores") if too_few else nullcontext():
                run(rows, level=levels)
