"""Means leave out what is not scored, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from litepyramid.stats import mean_of_scored, system_means

SCORES = st.one_of(st.just(np.nan), st.floats(-1e6, 1e6))


@given(arrays(np.float64, array_shapes(min_dims=2, max_dims=2), elements=SCORES))
def test_every_row_is_averaged_over_what_is_scored(values):
    wanted = [
        np.mean([v for v in row if v == v]) if any(v == v for v in row) else np.nan
        for row in values
    ]
    assert system_means(values) == pytest.approx(wanted, nan_ok=True)
    assert [mean_of_scored(row) for row in values] == pytest.approx(wanted, nan_ok=True)


def test_nothing_scored_is_nan_without_a_warning(recwarn):
    assert np.isnan(mean_of_scored(np.array([np.nan, np.nan])))
    assert np.isnan(system_means(np.full((2, 3), np.nan))).all()
    assert not recwarn
