"""What would grow faster than the data is bounded, and says so."""

import numpy as np
import pytest
from cases import refused

import litepyramid as lp
from litepyramid import cli
from litepyramid.data.scores import Scores
from litepyramid.scoring import inference
from litepyramid.scoring.inference import flip_p_values
from litepyramid.stats import adjust_p_values, all_pairs


def test_few_pairs_are_tested_and_of_too_many_none_that_is_not_clear(monkeypatch):
    rng = np.random.default_rng(3)
    values = rng.normal(np.arange(40)[:, None] * 0.01, 0.1, (40, 100))
    values[3, :20] = np.nan
    values[4] = np.nan
    values[6] = values[5]
    pairs = all_pairs(40)
    exact = adjust_p_values(flip_p_values(values, pairs), "holm") < 0.05
    tested = []

    def counted(values, pairs):
        tested.append(len(pairs))
        return flip_p_values(values, pairs)

    monkeypatch.setattr(inference, "flip_p_values", counted)
    assert (inference.differing(values, pairs) == exact).all()
    assert 0 < tested.pop() < len(pairs) / 2

    monkeypatch.setattr(inference, "MOST_TESTED", 50)
    bounded = inference.differing(values, pairs)
    assert not tested
    assert bounded.sum()
    assert not (bounded & ~exact).any()
    assert inference.too_many_pairs(len(pairs), 100)


def test_too_little_memory_is_one_line(monkeypatch, capsys):
    def full(**_):
        raise MemoryError

    monkeypatch.setattr(cli, "app", full)
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_more_pairs_than_can_be_tested_are_refused_with_what_to_do(monkeypatch):
    values = np.random.default_rng(3).normal(size=(12, 10))
    systems = [f"s{n}" for n in range(12)]
    table = Scores.of({"x": values}, systems, [*map(str, range(10))])
    monkeypatch.setattr(inference, "MOST_TESTED", 200)
    with refused("66 pairs of systems on 10 inputs.*--against"):
        lp.compare(table, samples=50)
    assert len(lp.compare(table, against="s0", samples=50).pairs) == 11
