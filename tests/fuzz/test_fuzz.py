"""Damaged files of every kind are read, or end in a `LitepyramidError`; `make fuzz`
tries more.

A case that fails is run again with its number alone: ``FUZZ_SEED=1 FUZZ_FIRST=number``.
"""

import os
from contextlib import nullcontext

import pytest

pytest.importorskip("torch", reason="the judges and archives need torch")
pytest.importorskip("transformers", reason="the judges need transformers")

from harness import fuzz, limited
from targets import MADE, TARGETS

LONG = "FUZZ_CASES" in os.environ
SEED = int(os.environ.get("FUZZ_SEED", "1"))
FIRST = int(os.environ.get("FUZZ_FIRST", "0"))
CASES = int(os.environ.get("FUZZ_CASES", "1" if FIRST else "40"))


@pytest.mark.parametrize("name", [*TARGETS, *MADE])
def test_damage_is_read_or_refused(name, tmp_path):
    target = TARGETS.get(name) or MADE[name](tmp_path / "made")
    few = target.heavy and not LONG and CASES > 3
    cases = range(FIRST, FIRST + (CASES // 4 if few else CASES))

    with limited() if LONG else nullcontext():
        found = fuzz(name, target, tmp_path / "used", cases, SEED)

    assert not (LONG and found.slow)
    assert not found.bad
    if CASES > 1:
        assert 0 < found.refused < found.cases == len(cases)
