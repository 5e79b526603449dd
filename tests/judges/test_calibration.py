"""Calibration of judges: equality with scikit-learn, invariants, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss, roc_auc_score

from litepyramid.errors import InputError
from litepyramid.judges.calibration import brier_score, calibrate, roc_auc
from litepyramid.tables import render

pairs = st.lists(
    st.tuples(st.sampled_from([0, 0.1, 0.25, 0.5, 0.9, 1]), st.integers(0, 1)), min_size=2
)


@given(pairs)
def test_auc_and_brier_equal_scikit_learn(rows):
    presence, labels = map(list, zip(*rows, strict=True))
    assert brier_score(presence, labels) == pytest.approx(
        brier_score_loss(labels, presence, pos_label=1, labels=[0, 1]), abs=1e-12
    )
    if len(set(labels)) == 2:
        assert roc_auc(presence, labels) == pytest.approx(roc_auc_score(labels, presence))
    else:
        assert np.isnan(roc_auc(presence, labels))


@given(pairs, st.integers(1, 12))
def test_the_reliability_table_holds_every_pair(rows, bins):
    presence, labels = map(np.array, zip(*rows, strict=True))
    result = calibrate(presence, labels, bins=bins)
    assert sum(b.pairs for b in result.bins) == len(rows)
    filled = [b for b in result.bins if b.pairs]
    assert sum(b.pairs * b.observed for b in filled) == pytest.approx(labels.sum())
    assert sum(b.pairs * b.predicted for b in filled) == pytest.approx(presence.sum())
    assert all(b.low <= b.predicted <= b.high for b in filled)


def test_perfect_calibration_has_no_error():
    result = calibrate([0.25] * 4 + [0.75] * 4, [0, 0, 0, 1, 1, 1, 1, 0], bins=4)
    assert result.calibration_error == pytest.approx(0)
    assert result.accuracy == 0.75
    assert "0.250" in render(result, "table")


def test_pairs_without_a_label_are_left_out():
    assert calibrate([0.9, 0.3], [1, np.nan]).pairs == 1


@pytest.mark.parametrize(
    ("presence", "labels", "message"),
    [
        ([0.5], [1, 0], "shape"),
        ([0.5], [2], "not 0, 0.5 or 1"),
        ([1.5], [1], "outside 0 to 1"),
        ([0.5], [np.nan], "no labelled pair"),
    ],
)
def test_what_is_refused(presence, labels, message):
    with pytest.raises(InputError, match=message):
        calibrate(presence, labels)
