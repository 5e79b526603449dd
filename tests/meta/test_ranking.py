"""Ranks of metrics: clusters opened by significant differences, averages over data sets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from litepyramid.errors import InputError
from litepyramid.io.scores import write_scores
from litepyramid.meta import compare, rank
from litepyramid.meta.comparisons import clusters
from litepyramid.types import ScoreTable


def a_table(seed: int, human: str = "human", extra: bool = True) -> ScoreTable:
    rng = np.random.default_rng(seed)
    people = rng.normal(size=(10, 40)) + np.linspace(0, 2, 10)[:, None]
    noises = {"good": 0.3, "twin": 0.3, **({"poor": 30.0} if extra else {})}
    values = [people + scale * rng.normal(size=people.shape) for scale in noises.values()]
    systems = tuple(f"s{n}" for n in range(10))
    inputs = tuple(map(str, range(40)))
    return ScoreTable((*noises, human), systems, inputs, np.stack([*values, people]))


def test_clusters_open_at_significant_differences() -> None:
    p = np.ones((4, 4))
    p[0, 2] = p[2, 3] = 0.01  # 2 is worse than 0, 3 than 2; 1 than none
    assert clusters(p, [0.9, 0.8, 0.7, 0.6], 0.05) == [1, 1, 2, 3]
    assert clusters(p, [0.9, 0.8, 0.7, 0.6], 0.005) == [1, 1, 1, 1]
    assert clusters(np.full((2, 2), np.nan), [np.nan, 0.5], 0.05) == [1, 1]


@pytest.mark.parametrize("coefficient", ["kendall", "spa", "acc-eq"])
def test_one_data_set(coefficient: str) -> None:
    result = rank(a_table(1), coefficient=coefficient, samples=100)  # type: ignore[arg-type]
    places = {one.metric: one.rank for one in result.ranks}
    assert places == {"good": 1, "twin": 1, "poor": 2}
    tests = compare(a_table(1), level=result.level, coefficient=coefficient)  # type: ignore[arg-type]
    for one in result.ranks:
        index = tests.metrics.index(one.metric)
        assert one.value == tests.comparisons[0].correlations[index]
        assert one.low <= one.value <= one.high or one.metric == "poor"
    assert "starts a new rank" in result.to_table()


def test_several_data_sets() -> None:
    sets = {"a": a_table(1), "b": a_table(2, human="rater_1", extra=False)}
    result = rank(sets, ["human", "rater_*"], samples=100)
    overall = {one.metric: one for one in result.overall}
    assert (overall["good"].datasets, overall["poor"].datasets) == (2, 1)
    values = [one.value for one in result.ranks if one.metric == "good"]
    assert overall["good"].macro_average == pytest.approx(np.mean(values))
    assert overall["good"].average_rank == 1.0
    assert overall["poor"].average_rank == 2.0
    assert [one.metric for one in result.overall][-1] == "poor"
    with pytest.raises(InputError, match="no human score in b"):
        rank(sets, "human", samples=100)


def test_data_sets_as_files_by_name(tmp_path: Path) -> None:
    for seed in (1, 2):
        write_scores(tmp_path / f"{seed}.csv", a_table(seed))
    files = [f"{name}={tmp_path / f'{seed}.csv'}" for seed, name in enumerate("ab", start=1)]
    result = rank(files, samples=100)
    assert {one.dataset for one in result.ranks} == {"a", "b"}
    assert result.overall[-1].metric == "poor"
    assert result.ranks == rank({"b": a_table(2), "a": a_table(1)}, samples=100).ranks
