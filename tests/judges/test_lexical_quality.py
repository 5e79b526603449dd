"""What the embedded lexical judge is worth, on data it was not fitted to."""

from __future__ import annotations

import numpy as np
import pytest

from litepyramid.files import read_jsonl, read_lines
from litepyramid.io.dataset import load
from litepyramid.judges.evaluate import brier_score, roc_auc
from litepyramid.judges.lexical.lexical_judge import (
    Frequencies,
    LexicalJudge,
    RecallJudge,
    fit_lexical,
    load_lexical,
)
from litepyramid.training.pairs import labelled_pairs


def test_the_shipped_model_is_what_the_training_gives(realsumm):
    items, labels = labelled_pairs(load(realsumm)).by_summary()
    shipped = load_lexical()
    counted = Frequencies.count(read_lines(realsumm / "documents.txt"))
    assert counted == shipped.frequencies
    model = fit_lexical(items, labels, frequencies=counted)
    assert model.weights == pytest.approx(shipped.weights, abs=2e-3)
    assert model.bias == pytest.approx(shipped.bias, abs=2e-3)


def test_beats_recall_on_other_texts(data):
    """Wikipedia sentences labelled for entailment: nothing of them was seen in training."""
    rows = [row for _, row in read_jsonl(data / "nli_wiki" / "base_wiki.train.jsonl")]
    rows = [row for row in rows if row["label"] in ("e", "n", "c")][::4]
    items = [(row["premise"], [row["hypothesis"]]) for row in rows]
    truth = [row["label"] == "e" for row in rows]
    lexical = np.concatenate(LexicalJudge(load_lexical()).judge(items).presence)
    recall = np.concatenate(RecallJudge().judge(items).presence)
    assert roc_auc(lexical, truth) > roc_auc(recall, truth) + 0.01
    assert brier_score(lexical, truth) < brier_score(recall, truth) - 0.03
