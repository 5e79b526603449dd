"""The encoder that ships: its size, its numbers, what it can explain."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from running import ROOT

from litepyramid.judges.evaluate import brier_score, load_contrast, roc_auc
from litepyramid.judges.mini import FOLDER
from litepyramid.judges.registry import judge

SUMMARY = "The ferry sank on Tuesday. Nobody died in the accident, the mayor said."
UNITS = ["The ferry sank.", "Two people died.", "The ferry sank on Monday.", "A bank was robbed."]


@pytest.fixture(scope="module")
def mini():
    return judge("mini", cache=None)


def test_it_is_small_enough_to_ship_and_beats_words_on_contrasts(mini):
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 47_000_000
    pairs = load_contrast()
    items, labels = pairs.items[::12], pairs.labels[::12]
    ours, words = (np.concatenate(one.judge(items).presence) for one in (mini, judge("lexical")))
    assert roc_auc(ours, labels) > 0.6
    assert brier_score(ours, labels) < brier_score(words, labels)


LIGHT = """
import sys; sys.modules.update(dict.fromkeys(("torch", "transformers")))
from litepyramid.judges.registry import judge
mini = judge("mini", cache=None, threads=2)
assert not {"onnxruntime", "tokenizers", "scipy"} & {*sys.modules}
print(repr(float(mini.judge([(sys.argv[1], [sys.argv[2]])]).presence[0][0])))
"""


def test_a_pair_has_the_same_presence_in_any_company_without_torch(mini):
    whole = mini.judge([(SUMMARY, UNITS), ("", UNITS[:1]), (UNITS[0], UNITS)])
    assert whole.presence[1].tolist() == [0.0]
    run = [sys.executable, "-c", LIGHT, SUMMARY, UNITS[1]]
    done = subprocess.run(run, capture_output=True, text=True, check=True, cwd=ROOT)
    assert float(done.stdout) == whole.presence[0][1]
    assert whole.signature["judge"] == "mini"
    assert set(whole.signature) >= {"revision", "lexical", "mode"}


def test_it_shows_the_sentence_that_decides(mini):
    [evidence] = mini.explain([(SUMMARY, UNITS)])
    present, *_, absent = evidence
    assert (present.sentence, present.missing, present.conflict) == (0, (), "")
    assert absent.presence < 0.5
    assert (absent.sentence, absent.conflict) == (-1, "")
    assert all(not one.conflict or one.presence < 0.5 for one in evidence)
