"""The recall baseline: its definition, and the published values it must give back."""

from __future__ import annotations

import numpy as np
import pytest

from litepyramid.io.dataset import load
from litepyramid.judges.evaluate import brier_score, roc_auc
from litepyramid.judges.lexical.lexical_judge import RecallJudge
from litepyramid.meta.core.levels import level_correlation


@pytest.mark.parametrize(
    ("summary", "unit", "expected"),
    [
        ("The dogs chased a cat.", "A dog was chasing cats.", 1.0),
        ("The dogs chased a cat.", "A dog ate the cat.", 2 / 3),
        ("The dogs chased a cat.", "dog dog dog bird", 1 / 2),
        ("The dogs chased a cat.", "It is in the.", 1 / 4),
        ("The dogs chased a cat.", "?!", 0.0),
        ("", "A dog.", 0.0),
        ("!", "!", 0.0),
        ("ÇA VA", "ça", 1.0),
    ],
)
def test_share_of_distinct_stemmed_content_words(summary, unit, expected):
    batch = RecallJudge().judge([(summary, [unit])])
    assert batch.presence[0].tolist() == [pytest.approx(expected)]
    assert batch.counts == {"pairs": 1}


def test_values_on_realsumm(realsumm):
    """Fold means by examples, as in the data's description (its word list is not given)."""
    dataset = load(realsumm)
    human = {entry.system: entry.labels for entry in dataset.labels}
    labels = [row for system in dataset.systems for row in human[system]]
    gold = np.array([np.mean(row) for row in labels]).reshape(25, 100)
    texts = [entry.texts for entry in dataset.scus]
    items = [item for s in dataset.summaries for item in zip(s.texts, texts, strict=True)]
    presence = RecallJudge().judge(items).presence
    scores = np.array([row.mean() for row in presence]).reshape(25, 100)
    found = []
    for fold in dataset.example_folds:
        held = np.isin(dataset.inputs, fold)
        mine = np.tile(held, 25)
        flat = np.concatenate([p for p, k in zip(presence, mine, strict=True) if k])
        truth = np.concatenate([row for row, k in zip(labels, mine, strict=True) if k])
        values = [roc_auc(flat, truth), brier_score(flat, truth)]
        for level in ("system", "summary"):
            for coefficient in ("pearson", "spearman"):
                values.append(
                    level_correlation(scores[:, held], gold[:, held], level, coefficient).value
                )
        found.append(values)
    auc, brier, *correlations = np.mean(found, axis=0)
    assert auc == pytest.approx(0.821, abs=0.0006)
    assert brier == pytest.approx(0.191, abs=0.0011)
    assert correlations == pytest.approx([0.840, 0.828, 0.522, 0.502], abs=0.007)
