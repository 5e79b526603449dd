"""Damaged files of every kind are read, or end in a `LitepyramidError`; `make fuzz` tries more.

A case that fails is run again with its number alone: ``FUZZ_SEED=1 FUZZ_FIRST=number``.
"""

from __future__ import annotations

import os

import pytest

pytest.importorskip("torch", reason="the judges and archives need torch")
pytest.importorskip("transformers", reason="the judges need transformers")

from harness import fuzz, limited, prepare
from targets import targets

LONG = "FUZZ_CASES" in os.environ
SEED = int(os.environ.get("FUZZ_SEED", "1"))
FIRST = int(os.environ.get("FUZZ_FIRST", "0"))
CASES = int(os.environ.get("FUZZ_CASES", "1" if FIRST else "60"))
NAMES = """
units in lines; units, labels, ids; units in json; table of everything;
references in lines; references in json; documents; easiness; nli pairs; parses;
scores in csv; scores in json lines; scores of score; presence;
folder of the authors; rose; qapyramid; pyramid files; assignments of nuggets; plan;
label studio's export of writing; label studio's short export of writing;
the page's answers of writing; label studio's export of judging;
label studio's short export of judging; the page's answers of judging;
lexical judge; regressor; nli checkpoint; nli judge; allennlp archive;
result in json; result in npz;
healthbench; researchrubrics; prbench; autorubric; inspect; promptfoo; wide scores
"""
NAMES = [" ".join(name.split()) for name in NAMES.split(";")]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return targets(tmp_path_factory.mktemp("made"))


def test_every_target_is_named(made):
    assert sorted(made) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_damage_is_read_or_refused(name, made, tmp_path):
    target = made[name]
    prepare(target, tmp_path)
    cases = range(FIRST, FIRST + (CASES // 4 if target.heavy and not LONG and CASES > 3 else CASES))
    if not LONG:
        found = fuzz(name, target, tmp_path, cases, SEED)
    else:
        with limited():
            found = fuzz(name, target, tmp_path, cases, SEED)
        assert not found.slow
    assert not found.bad
    if CASES > 1:
        assert 0 < found.refused < found.cases == len(cases)
