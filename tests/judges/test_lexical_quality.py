"""What the embedded lexical judge is worth, on data it was not fitted to."""

from __future__ import annotations

import numpy as np
import pytest

from litepyramid.files import read_jsonl, read_lines
from litepyramid.io.dataset import Dataset, load_dataset
from litepyramid.judges.evaluate import brier_score, roc_auc
from litepyramid.judges.lexical.lexical_judge import (
    Frequencies,
    LexicalJudge,
    fit_lexical,
    load_lexical,
)
from litepyramid.judges.lexical.recall import RecallJudge
from litepyramid.meta.core.levels import level_correlation
from litepyramid.training.folds import labelled_items, make_folds


@pytest.fixture(scope="module")
def dataset(realsumm) -> Dataset:
    return load_dataset("realsumm", realsumm)


def test_five_folds_of_realsumm(dataset):
    """Fold means: presence AUC .84, Brier .158, Lite2 summary-level Pearson .54 (recall .522)."""
    found = []
    for fold in make_folds(dataset, "examples"):
        known = labelled_items(dataset, fold.train_inputs)
        held = labelled_items(dataset, fold.inputs)
        judge = LexicalJudge(fit_lexical(known.items, known.labels))
        presence = judge.judge(held.items).presence
        flat, truth = np.concatenate(presence), np.concatenate(held.labels)
        shape = (len(fold.inputs), len(dataset.systems))
        scores = np.array([row.mean() for row in presence]).reshape(shape).T
        gold = np.array([np.mean(row) for row in held.labels]).reshape(shape).T
        pearson = level_correlation(scores, gold, "summary", "pearson").value
        found.append((roc_auc(flat, truth), brier_score(flat, truth), pearson))
    auc, brier, pearson = np.mean(found, axis=0)
    assert auc >= 0.84
    assert brier <= 0.158
    assert pearson >= 0.54


def test_the_shipped_model_is_what_the_training_gives(dataset, realsumm):
    everything = labelled_items(dataset)
    shipped = load_lexical()
    counted = Frequencies.count(read_lines(realsumm / "documents.txt"))
    assert counted == shipped.frequencies
    model = fit_lexical(everything.items, everything.labels, frequencies=counted)
    assert model.weights == pytest.approx(shipped.weights, abs=2e-3)
    assert model.bias == pytest.approx(shipped.bias, abs=2e-3)


@pytest.mark.parametrize("name", ["base", "sim"])
def test_beats_recall_on_other_texts(data, name):
    """Wikipedia sentences labelled for entailment: nothing of them was seen in training."""
    rows = [row for _, row in read_jsonl(data / "nli_wiki" / f"{name}_wiki.train.jsonl")]
    rows = [row for row in rows if row["label"] in ("e", "n", "c")]
    items = [(row["premise"], [row["hypothesis"]]) for row in rows]
    truth = [row["label"] == "e" for row in rows]
    lexical = np.concatenate(LexicalJudge(load_lexical()).judge(items).presence)
    recall = np.concatenate(RecallJudge().judge(items).presence)
    assert roc_auc(lexical, truth) > roc_auc(recall, truth) + 0.01
    assert brier_score(lexical, truth) < brier_score(recall, truth) - 0.03
