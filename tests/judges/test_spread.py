"""Embedded judges window by window and in several processes: the same numbers, and clear errors."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from litepyramid.embedded.example import load_example
from litepyramid.errors import InputError, ModelError
from litepyramid.judges import spread
from litepyramid.judges.base import judged
from litepyramid.judges.own import FunctionJudge
from litepyramid.judges.registry import make_judge
from litepyramid.judges.spread import judge_windows, workers_for
from litepyramid.scoring import score as scoring


@pytest.mark.parametrize("name", ["recall", "lexical", "reading"])
def test_windows_and_processes_change_no_bit(name, monkeypatch):
    data, judge = load_example(), make_judge(name)
    items = [
        (text, entry.texts)
        for system in data.summaries
        for text, entry in zip(system.texts, data.scus, strict=True)
    ]
    whole = judged(judge, items)
    monkeypatch.setattr(scoring, "_WINDOW", 40)
    for workers in (1, 2):
        presence, batch = scoring.judge_systems(data.summaries, data.scus, judge, workers)
        np.testing.assert_array_equal(presence.ravel(), np.concatenate(whole.presence))
        assert (batch.signature, batch.counts) == (whole.signature, whole.counts)


@given(
    st.integers(1, 6),
    st.lists(st.integers(1, 9), min_size=1, max_size=12),
    st.integers(1, 60),
)
def test_windows_hold_every_pair_once_and_no_more_than_asked(systems, sizes, window):
    ends = np.cumsum([0, *sizes]).tolist()
    seen = np.zeros((systems, ends[-1]), dtype=int)
    before, scoring._WINDOW = scoring._WINDOW, window
    try:
        for rows, inputs in scoring._parts(systems, ends):
            block = seen[rows, ends[inputs.start] : ends[inputs.stop]]
            block += 1
            assert block.size <= window or len(block) == 1 == inputs.stop - inputs.start
    finally:
        scoring._WINDOW = before
    assert (seen == 1).all()


def test_processes_start_where_they_pay(monkeypatch):
    monkeypatch.setattr(spread, "cores", lambda: 4)
    reading = make_judge("reading")
    assert [workers_for(reading, n) for n in (344, 20_000, 10**6)] == [1, 2, 4]
    assert workers_for(reading, 344, 3) == 3
    function = FunctionJudge(lambda summary, units: [0.0] * len(units))
    assert workers_for(function, 10**6) == 1
    with pytest.raises(InputError, match="2 workers for a judge that takes none"):
        workers_for(function, 10, 2)


def test_errors_of_a_process_are_those_of_the_judge():
    window = [("word " * 60_000, ["other " * 60_000])]
    with pytest.raises(InputError) as here:
        list(judge_windows(make_judge("lexical"), [window]))
    with pytest.raises(InputError) as there:
        list(judge_windows(make_judge("lexical"), [window], 2))
    assert str(there.value) == str(here.value)


def test_a_process_that_ends_early_is_said(monkeypatch):
    killed = []

    class Short(spread.Remote):
        def __call__(self, window):
            if not killed:
                killed.append(os.kill(self.process.pid, signal.SIGKILL))
            return super().__call__(window)

    monkeypatch.setattr(spread, "Remote", Short)
    with pytest.raises(ModelError, match="a judge process ended early"):
        list(judge_windows(make_judge("recall"), [[("a", ["a"])]] * 9, 2))
