"""How many labels reveal a difference: the simulation against the power of a t-test."""

import numpy as np
import pytest
from scipy import stats

import litepyramid as lp
from litepyramid.annotation.label_power import SPREAD
from litepyramid.types import ScoreTable


def test_power_of_the_labels_alone_is_that_of_a_t_test():
    result = lp.label_power(difference=0.1, samples=500)
    for row in result.rows:
        shift = 0.1 / SPREAD * np.sqrt(row.labels)
        reach = stats.t.ppf(0.975, row.labels - 1)
        power = stats.nct.sf(reach, row.labels - 1, shift)
        assert row.alone == pytest.approx(power, abs=0.08)
    assert result.combined < result.alone


def test_a_pilot_in_another_order_is_the_same_pilot(tmp_path):
    rng = np.random.default_rng(0)
    human = rng.random((3, 20))
    values = np.stack([human + 0.1 * rng.random((3, 20)), human])
    names = ("a", "b", "c"), tuple(f"i{i:02}" for i in range(20))
    table = ScoreTable(("judge", "human"), *names, values)
    order = rng.permutation(20)
    moved = ScoreTable(
        ("judge", "human"), names[0], tuple(names[1][i] for i in order), values[:, :, order]
    )
    one, two = (lp.label_power(t, metric="judge", samples=30) for t in (table, moved))
    assert one.rows == two.rows
    assert one.signature == two.signature
    values[0, 0, 0] += 0.5
    other = lp.label_power(
        ScoreTable(("judge", "human"), *names, values), metric="judge", samples=30
    )
    assert other.signature != one.signature
    one.save(tmp_path / "power.svg")
    assert (tmp_path / "power.svg").stat().st_size > 2000
