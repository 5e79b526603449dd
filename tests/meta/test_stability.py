"""Stability of rankings: against a loop, in the paper's region, with a whole test set."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau

from litepyramid.errors import InputError
from litepyramid.io.scores import read_scores
from litepyramid.meta.system_level.ranking_stability import stability, usual_sizes


def rows_of(name: str, values: np.ndarray):
    return [
        {"system": f"s{i}", "input": j, "metric": name, "score": values[i, j]}
        for i in range(values.shape[0])
        for j in range(values.shape[1])
    ]


def noisy(systems: int = 8, inputs: int = 40, noise: float = 2.0) -> np.ndarray:
    rng = np.random.default_rng(3)
    return np.arange(systems)[:, None] * 0.5 + noise * rng.normal(size=(systems, inputs))


def test_it_is_what_a_loop_gives() -> None:
    X = noisy()
    point = stability(read_scores(rows_of("m", X)), None, sizes=[15], samples=4000).curves[0]
    rng = np.random.default_rng(9)
    taus, scores = [], []
    for _ in range(4000):
        one, two = (X[:, rng.integers(40, size=15)].mean(axis=1) for _ in range(2))
        taus.append(kendalltau(one, two).statistic)
        scores.append(one)
    found = point.points[0]
    assert found.mean == pytest.approx(np.mean(taus), abs=4 * np.std(taus) / 4000**0.5 * 1.5)
    assert found.deviation == pytest.approx(np.std(taus), rel=0.06)
    assert found.variance == pytest.approx(np.var(scores, axis=0).mean(), rel=0.06)


def test_more_inputs_are_more_stable_and_a_whole_test_set_more_so() -> None:
    judged = rows_of("m", noisy()) + rows_of("human", noisy(noise=1.0))
    full = rows_of("m", noisy(inputs=4000))
    result = stability(
        read_scores(judged), full=read_scores(full), sizes=[10, 40, 4000], samples=200
    )
    metric, human = result.curves
    assert (metric.available, human.available) == (4000, 40)
    assert [p.inputs for p in metric.points] == [10, 40, 4000]
    assert [p.inputs for p in human.points] == [10, 40]
    assert metric.points[0].mean < metric.points[1].mean < metric.points[2].mean
    assert metric.points[2].mean > 0.95
    assert metric.points[2].variance < 0.02 * metric.points[1].variance
    assert (metric.human, human.human) == (False, True)


def test_published_region(data) -> None:
    """DDR22 Fig. 3: judged-only curves are at .6 to .85 or so when M = 100."""
    table = data / "realsumm" / "metric_scores_ddr21.csv"
    metrics = ["rouge-1_recall", "bertscore_recall", "qa-eval_f1"]
    result = stability(table, "litepyramid_recall", metrics=metrics, sizes=[100], samples=300)
    for curve in result.curves:
        assert 0.6 < curve.points[0].mean < 0.88


def test_missing_cells_are_left_out_of_averages() -> None:
    X = noisy()
    X[2, 5] = np.nan
    X[:, 7] = np.nan
    curve = stability(read_scores(rows_of("m", X)), None, sizes=[39, 40]).curves[0]
    assert (curve.systems, curve.available) == (8, 39)
    assert [p.inputs for p in curve.points] == [39]


def test_seeds_and_sizes() -> None:
    table = read_scores(rows_of("m", noisy()))
    runs = [stability(table, None, sizes=[5, 9], samples=50, seed=s) for s in (1, 1, 2)]
    assert runs[0].curves == runs[1].curves != runs[2].curves
    alone = stability(table, None, sizes=[9], samples=50, seed=1)
    assert alone.curves[0].points[0] == runs[0].curves[0].points[1]
    assert usual_sizes(3) == [1, 2, 3]
    for wrong in ({"sizes": [0]}, {"sizes": []}, {"samples": 1}):
        with pytest.raises(InputError):
            stability(table, None, **wrong)
    with pytest.raises(InputError, match="at least two"):
        stability(read_scores(rows_of("m", noisy(systems=1))), None)
