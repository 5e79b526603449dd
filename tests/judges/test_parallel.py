"""Judges on several processes and on Ray: the same numbers, and clear errors."""

import os
import pickle
import signal

import numpy as np
import pytest
from tiny_models import TEXT

from litepyramid.errors import InputError, ModelError
from litepyramid.judges.parallel import judge_pairs
from litepyramid.judges.registry import judge

UNITS = ("The village was cut off.", "No bridge is closed.", "", *TEXT[:2])
ITEMS = [("" if n == 3 else " ".join(TEXT[n % 5 :]) + f" No. {n}", UNITS) for n in range(40)]


def same(one, other):
    for a, b in zip(one.presence, other.presence, strict=True):
        np.testing.assert_array_equal(a, b)
    assert one.signature == other.signature


@pytest.mark.parametrize(("name", "workers"), [("recall", 2), ("lexical", 1), ("lexical", 2)])
def test_processes_change_no_bit(name, workers):
    whole = judge(name).judge(ITEMS)
    spread = judge_pairs(judge(name, workers=workers), ITEMS)
    same(whole, spread)
    assert spread.counts == whole.counts


def function(summary, units):
    return [0.0] * len(units)


class Killed:
    """A judge whose process ends."""

    start_cost = 1

    def judge(self, items):
        os.kill(os.getpid(), signal.SIGKILL)


LONG = [("word " * 9_000, ["other " * 9_000])] * 2


@pytest.mark.parametrize(
    ("name", "settings", "items", "error", "says"),
    [
        (function, {"workers": 2}, (), InputError, "2 workers for a judge that takes none"),
        (function, {"engine": "ray"}, (), InputError, "on Ray"),
        ("lexical", {"engine": "spark"}, (), InputError, "unknown engine 'spark'"),
        ("lexical", {"workers": 0}, (), InputError, "workers is 0"),
        ("lexical", {"workers": "2"}, (), InputError, "workers is '2'"),
        ("lexical", {"workers": 2}, LONG, InputError, "too long for the lexical judge"),
        (Killed(), {"workers": 2}, ITEMS, ModelError, "ended early"),
    ],
)
def test_what_cannot_be_run_so_is_one_error(name, settings, items, error, says):
    with pytest.raises(error, match=says):
        judge_pairs(judge(name, **settings), items)


@pytest.mark.parametrize("answer", [[[0.5]], [["x"] * 5] * 40, [[2.0] * 5] * 40])
def test_what_a_judge_returns_is_checked(answer):
    class Odd:
        def judge(self, items):
            return answer

    with pytest.raises(InputError, match="the judge 'Odd'"):
        judge_pairs(Odd(), ITEMS)


def test_another_process_makes_its_own_nli_judge(tiny, tmp_path):
    for one in (judge(str(tiny), device="cpu", cache=tmp_path / "c", mode="p2c"), judge("mini")):
        other, items = pickle.loads(pickle.dumps(one)), [(TEXT[1], UNITS[:1])]
        same(one.judge(items), other.judge(items))
        assert type(other) is type(one)


@pytest.mark.slow
def test_ray_says_what_one_process_says():
    pytest.importorskip("ray", reason="the extra ray is not installed")
    cluster = judge("lexical", engine="ray", workers=2)
    same(judge_pairs(judge("lexical"), ITEMS), cluster.judge(ITEMS))
