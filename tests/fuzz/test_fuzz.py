"""Damaged files of every kind are read, or end in a `LitepyramidError`; `make fuzz`
tries more.

A case that fails is run again with its number alone: ``FUZZ_SEED=1 FUZZ_FIRST=number``.
"""

import os

import pytest

pytest.importorskip("torch", reason="the judges and archives need torch")
pytest.importorskip("transformers", reason="the judges need transformers")

from harness import fuzz, limited, prepare
from targets import TARGETS

LONG = "FUZZ_CASES" in os.environ
SEED = int(os.environ.get("FUZZ_SEED", "1"))
FIRST = int(os.environ.get("FUZZ_FIRST", "0"))
CASES = int(os.environ.get("FUZZ_CASES", "1" if FIRST else "60"))


@pytest.mark.parametrize("name", TARGETS)
def test_damage_is_read_or_refused(name, tmp_path):
    target = TARGETS[name](tmp_path / "made")
    folder = prepare(target, tmp_path / "used")
    cases = range(
        FIRST,
        FIRST + (CASES // 4 if target.heavy and not LONG and CASES > 3 else CASES),
    )

    if not LONG:
        found = fuzz(
            name,
            target,
            folder,
            cases,
            SEED,
        )
    else:
        with limited():
            found = fuzz(
                name,
                target,
                folder,
                cases,
                SEED,
            )

        assert not found.slow

    assert not found.bad
    if CASES > 1:
        assert 0 < found.refused < found.cases == len(cases)
