"""M_jud against M_test: independent draws, narrower intervals, smaller variance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau

from litepyramid.errors import InputError
from litepyramid.io.scores import read_scores
from litepyramid.meta.system_level.test_set import full_test_set
from litepyramid.types import ScoreTable

SYSTEMS = tuple(f"s{i}" for i in range(12))


def simulated(inputs: int = 2000, judged: int = 40, noise: float = 4.0, seed: int = 1):
    """A noisy metric scored on all inputs, sure people on the first few."""
    rng = np.random.default_rng(seed)
    quality = np.arange(12.0)[:, None]
    metric = quality + noise * rng.normal(size=(12, inputs))
    human = quality + 0.5 * rng.normal(size=(12, judged))
    names = tuple(f"i{j}" for j in range(inputs))
    both = np.stack([metric[:, :judged], human])
    return (
        ScoreTable(("m", "human"), SYSTEMS, names[:judged], both),
        ScoreTable(("m",), SYSTEMS, names, metric[None]),
    )


def test_values_are_correlations_of_both_averages() -> None:
    judged, full = simulated()
    result = full_test_set(judged, full, samples=50)
    human = judged.matrix("human").values.mean(axis=1)
    for interval in result.intervals:
        for side, table in ((interval.judged, judged), (interval.full, full)):
            expected = kendalltau(table.matrix("m").values.mean(axis=1), human).statistic
            assert side.value == pytest.approx(expected)
            assert side.low <= side.high
    assert [i.sampling for i in result.intervals] == ["systems", "inputs", "both"]


def test_the_whole_test_set_is_surer() -> None:
    result = full_test_set(*simulated(), samples=400)
    by_sampling = {i.sampling: i.narrower for i in result.intervals}
    assert by_sampling["inputs"] > 0.3
    variance = result.variances[0]
    assert variance.reduced == pytest.approx(1 - 40 / 2000, abs=0.01)
    assert len(variance.intervals) == 12
    for _, low, high, full_low, full_high in variance.intervals:
        assert high - low > full_high - full_low


def test_the_same_inputs_on_both_sides_are_still_drawn_apart() -> None:
    """On one table the judged side shares the draw and is exact; the other is not."""
    rng = np.random.default_rng(0)
    values = np.arange(12.0)[:, None] + 3 * rng.normal(size=(12, 30))
    inputs = tuple(map(str, range(30)))
    judged = ScoreTable(("m", "human"), SYSTEMS, inputs, np.stack([values, values]))
    full = ScoreTable(("m",), SYSTEMS, inputs, values[None])
    found = full_test_set(judged, full, sampling=["inputs"], samples=200).intervals[0]
    assert (found.judged.low, found.judged.high) == (1.0, 1.0)
    assert found.full.low < 0.95


def test_tables_that_do_not_fit() -> None:
    judged, full = simulated()
    renamed = ScoreTable(("m",), tuple(f"x{i}" for i in range(12)), full.inputs, full.values)
    with pytest.raises(InputError, match="no system has scores"):
        full_test_set(judged, renamed)
    one = ScoreTable(("m",), SYSTEMS[:1], full.inputs, full.values[:, :1])
    with pytest.raises(InputError, match="at least two"):
        full_test_set(judged, one)
    other = read_scores([{"system": "s0", "input": 1, "metric": "k", "score": 1}])
    with pytest.raises(InputError, match="share no metric"):
        full_test_set(judged, other)


def test_seeds_and_left_out_systems() -> None:
    judged, full = simulated(inputs=200)
    fewer = ScoreTable(("m",), SYSTEMS[2:], full.inputs, full.values[:, 2:])
    runs = [full_test_set(judged, fewer, samples=60, seed=s) for s in (1, 1, 2)]
    assert runs[0].intervals == runs[1].intervals != runs[2].intervals
    assert runs[0].sides[0].left_out_test == ("s0", "s1")
    assert "only in one of the tables: s0, s1" in runs[0].to_tables()[0].notes[-1]
