"""How few samples are too few for an interval and a test; means leave out what is not
scored."""

import warnings

import numpy as np
import pytest
from cases import refused
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from litepyramid.data.scores import Scores
from litepyramid.errors import InputError
from litepyramid.scoring.compare import compare
from litepyramid.stats import (
    check_samples,
    mean_of_scored,
    resampled_p_value,
    system_intervals,
    system_means,
)

LEVELS = st.floats(0.001, 0.49)


@given(LEVELS, st.integers(1, 3000))
def test_as_many_as_are_asked_for_put_one_into_either_tail(tail, k):
    try:
        check_samples(k, confidence=1 - 2 * tail)
    except InputError:
        assert k * tail < 1 + 1e-6
    else:
        assert k * tail > 1 - 1e-6


@given(LEVELS, st.integers(1, 3000), st.integers(1, 40))
def test_a_test_is_refused_if_and_only_if_it_can_find_nothing(alpha, k, tests):
    best = tests * resampled_p_value(1.0, np.zeros(k))
    try:
        check_samples(k, alpha=alpha, tests=tests)
    except InputError:
        assert best > alpha
    else:
        assert best <= alpha * (1 + 1e-9)


def test_scores_and_their_comparison_refuse_too_few():
    values = np.random.default_rng(0).random((2, 20))
    scores = Scores.of({"m": values}, "ab", [str(n) for n in range(20)])
    for k in (1, 39):
        with refused(rf"{k} samples?\. Expected at least 40"):
            compare(scores, samples=k)

    options = {"samples": 40, "confidence": 0.95, "seed": 0}
    low, high = system_intervals(values, **options)[0]
    assert low < high
    with refused(r"at least 2000 for an interval at 99\.9 %"):
        compare(scores, samples=1999, confidence=0.999)


SCORES = st.one_of(st.just(np.nan), st.floats(-1e6, 1e6))


@given(arrays(np.float64, array_shapes(min_dims=2, max_dims=2), elements=SCORES))
def test_every_row_is_averaged_over_what_is_scored(values):
    means = []
    for row in values:
        scored = row[~np.isnan(row)]
        means.append(scored.mean() if scored.size else np.nan)

    expected = pytest.approx(means, nan_ok=True)
    with warnings.catch_warnings(action="error"):
        assert system_means(values) == expected
        assert [*map(mean_of_scored, values)] == expected
