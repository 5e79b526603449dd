"""Runs that are killed go on in their folder, and end with the bytes of one that was not."""

from __future__ import annotations

import signal
import subprocess
import sys

import numpy as np
import pytest

import litepyramid as lp
from litepyramid.embedded.example import load_example
from litepyramid.errors import InputError
from litepyramid.judges.own import FunctionJudge
from litepyramid.scoring import score as scoring
from litepyramid.scoring.kept import KeptPresence
from litepyramid.tables import render

EXAMPLE = load_example()
DATA = (EXAMPLE.summaries, EXAMPLE.scus)
RUN = """
import os, signal, sys
import litepyramid as lp
from litepyramid.embedded.example import load_example
from litepyramid.scoring import kept, score

score._WINDOW, left, torn = 40, int(sys.argv[2]), sys.argv[3] == "torn"
keep = kept.KeptPresence.keep

def killed(self, window, where, block, counts):
    global left
    if not left and not torn:
        self.values("r+")[where] = block / 2
    if not left:
        with open(os.path.join(sys.argv[1], "judged.jsonl"), "a") as file:
            file.write('{"key": "9' if torn else "")
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1
    keep(self, window, where, block, counts)

kept.KeptPresence.keep = killed
data = load_example()
lp.score(data.summaries, data.scus, judge="lexical", folder=sys.argv[1], samples=100)
"""


def _files(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_a_run_killed_again_and_again_ends_as_one_that_was_not(tmp_path, monkeypatch):
    whole, folder, counted = tmp_path / "whole", tmp_path / "killed", []
    monkeypatch.setattr(scoring, "_WINDOW", 40)
    result = lp.score(*DATA, judge="lexical", folder=whole, samples=100)
    for left, torn in ((0, ""), (2, "torn"), (1, ""), (3, "")):
        done = subprocess.run([sys.executable, "-c", RUN, folder, str(left), torn], check=False)
        assert done.returncode == -signal.SIGKILL
        with pytest.raises(InputError, match="is an unfinished result"):
            lp.compare(folder)
    keep = KeptPresence.keep
    monkeypatch.setattr(KeptPresence, "keep", lambda *a: (counted.append(a[1]), keep(*a)))
    again = lp.score(*DATA, judge="lexical", folder=folder, samples=100)
    assert counted == list(range(6, 12))  # the others were kept
    assert _files(folder) == _files(whole)
    assert render(again, "json") == render(result, "json")
    assert render(lp.score(*DATA, judge="lexical", samples=100), "json") == render(result, "json")


def test_a_folder_goes_on_with_the_same_alone(tmp_path):
    folder = tmp_path / "r"
    lp.score(*DATA, judge="recall", folder=folder, samples=100)
    before = _files(folder)
    with pytest.raises(InputError, match="judge 'recall' there, 'lexical' here"):
        lp.score(*DATA, judge="lexical", folder=folder, samples=100)
    other = [replace_text(system) for system in DATA[0]]
    with pytest.raises(InputError, match="summaries_sha"):
        lp.score(other, DATA[1], judge="recall", folder=folder, samples=100)
    assert _files(folder) == before
    with pytest.raises(InputError, match="in use"), KeptHeld(folder):
        lp.score(*DATA, judge="recall", folder=folder, samples=100)
    (folder / "presence.npy").write_bytes(b"")
    with pytest.raises(InputError, match="is damaged"):
        lp.score(*DATA, judge="recall", folder=folder, samples=100)


def replace_text(system):
    texts = (system.texts[0] + " More.", *system.texts[1:])
    return type(system)(system.system, system.inputs, texts)


class KeptHeld:
    """Another process at work in the folder."""

    def __init__(self, folder):
        code = "import sys, time; from litepyramid.files import locked\n"
        code += "with locked(sys.argv[1]): print(1, flush=True); time.sleep(60)"
        path = str(folder / "judged.jsonl")
        self.other = subprocess.Popen([sys.executable, "-c", code, path], stdout=subprocess.PIPE)
        self.other.stdout.readline()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.other.kill()
        self.other.communicate()


def test_other_judges_keep_their_result_too(tmp_path):
    judge = FunctionJudge(lambda summary, units: [float(len(unit) % 2) for unit in units])
    result = lp.score(*DATA, judge=judge, folder=tmp_path / "r", samples=100)
    np.testing.assert_array_equal(np.load(tmp_path / "r" / "presence.npy"), result.presence)
    again = lp.score(*DATA, judge=judge, folder=tmp_path / "r", samples=100)
    assert again.scores == result.scores
    with pytest.raises(InputError, match="judge 'function lambda' there, 'recall' here"):
        lp.score(*DATA, judge="recall", folder=tmp_path / "r", samples=100)
