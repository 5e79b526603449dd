"""SPA and acc_eq: Google's values, the definitions written out, and their
resampling."""

import json
from itertools import combinations

import numpy as np
import pytest
from cases import refused
from hypothesis import given, settings
from hypothesis import strategies as st

from litepyramid.meta import correlate
from litepyramid.meta.core import draws
from litepyramid.meta.core.matrices import acc_eq, spa
from litepyramid.meta.core.permutation import standardised
from litepyramid.meta.core.swaps import SpaSwaps, TieAccuracySwaps

MATRICES = st.tuples(st.integers(2, 5), st.integers(1, 5), st.integers(0, 10**6))


def matrices(shape, missing=False):
    rng = np.random.default_rng(shape[2])
    X, Z = rng.integers(0, 5, (2, *shape[:2])).astype(float)
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    return X, Z


@settings(max_examples=8)
@given(MATRICES)
def test_spa_is_its_definition(shape):
    """Pair by pair, exchange by exchange, in exact integers."""
    X, Z = matrices(shape)
    signs = np.random.default_rng(4).integers(0, 2, (1000, X.shape[1])) * 2 - 1
    distances = []

    for i, j in combinations(range(len(X)), 2):
        one, two = (
            sum(
                int(s @ (side[i] - side[j])) >= int((side[i] - side[j]).sum())
                for s in signs
            )
            for side in (X, Z)
        )
        distances.append(abs(one - two) / 1000)

    assert spa(X, Z) == pytest.approx(1 - np.mean(distances), abs=1e-12)
    # Neither huge nor tiny scores leave float32.
    for exponent in (-1000, 900):
        assert spa(np.ldexp(X, exponent), Z) == spa(X, Z)


def right(x, z, ties):
    """Whether people have the metric's order of a pair, or both tie it."""
    return np.where(np.abs(x) <= ties, z == 0, x * z > 0)


@settings(max_examples=30)
@given(MATRICES, st.booleans())
def test_acc_eq_is_its_definition(shape, missing):
    """Every candidate ε, every input, every pair."""
    X, Z = matrices(shape, missing)
    one, two = np.triu_indices(len(X), 1)
    x = X[one] - X[two]
    z = Z[one] - Z[two]
    both = ~np.isnan(x + z)

    def accuracy(epsilon):
        scored = [b for b in zip(x.T, z.T, both.T, strict=True) if b[2].any()]
        return np.mean([right(a[b], c[b], epsilon).mean() for a, c, b in scored])

    if not both.any():
        assert np.isnan(acc_eq(X, Z)).all()
        return

    by_epsilon = {epsilon: accuracy(epsilon) for epsilon in {0.0, *np.abs(x[both])}}
    best = max(by_epsilon.values())
    smallest = min(
        epsilon for epsilon, value in by_epsilon.items() if value > best - 1e-12
    )
    assert acc_eq(X, Z) == pytest.approx((best, smallest), abs=1e-12)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "table"), [("realsumm", "ddr21"), ("summeval", "summeval")]
)
def test_the_values_are_those_of_mt_metrics_eval(request, data, name, table):
    """On any machine, and whatever the order of rows in the file."""
    expected = json.loads((data / "wmt" / "expected.json").read_text())[name]
    metrics = list(expected["metrics"])
    scores = request.getfixturevalue(table)
    result = correlate(
        scores, expected["human"], metrics=metrics, coefficient=["spa", "acc-eq"]
    )

    for one in result.correlations:
        values = expected["metrics"][one.metric]
        assert one.value == pytest.approx(
            values[one.coefficient.replace("-", "_")], abs=1e-10
        )
        if one.coefficient == "acc-eq":
            # Of several best ε ours is the smallest; theirs may be another for
            # rounding.
            assert one.epsilon <= values["epsilon"] + 1e-15

    assert len(result.correlations) == 2 * len(metrics)
    assert "acc_eq ties scores that differ" in result.to_table()
    for coefficient, level in (("spa", "summary"), ("acc-eq", "global")):
        with refused(f"{coefficient} at {level} level"):
            correlate(scores, coefficient=coefficient, level=level)


def test_swapped_spa_is_spa_of_swapped_scores():
    X, Y, Z = standardised(*np.random.default_rng(5).normal(size=(3, 6, 16)))
    u = draws.coins(2, X.shape, 0, np.float32)
    u[..., 0] = 1
    direct = [
        spa(np.where(kept, X, Y), Z) - spa(np.where(kept, Y, X), Z)
        for kept in np.moveaxis(u > 0, 2, 0)
    ]
    metrics = SpaSwaps(np.stack([X, Y]), Z)
    metrics.move([u])
    ours, _ = metrics.pair(0, 1)
    assert ours == pytest.approx(np.array(direct), abs=2e-3)  # rounded to ties


@settings(max_examples=10)
@given(MATRICES)
def test_swapped_acc_eq_is_counted_pair_by_pair(shape):
    """A pair of scores of both metrics ties up to the mean of both ε."""
    X, Y, Z = (
        np.random.default_rng(shape[2]).integers(0, 4, (3, *shape[:2])).astype(float)
    )
    X, Y, Z = standardised(X, Y, Z)
    half = [np.full(X.shape, acc_eq(side, Z)[1] / 2) for side in (X, Y)]
    u = draws.coins(shape[2], X.shape, 0)[..., :4]
    u[..., 0] = 1
    one, two = np.triu_indices(len(Z), 1)

    def accuracy(kept):
        scores = np.where(kept, X, Y)
        ties = np.where(kept, *half)
        return right(
            scores[one] - scores[two], Z[one] - Z[two], ties[one] + ties[two]
        ).mean()

    direct = [accuracy(kept) - accuracy(~kept) for kept in np.moveaxis(u > 0, 2, 0)]
    ours, _ = TieAccuracySwaps(X, Y, Z)(u)
    assert ours == pytest.approx(np.array(direct), abs=1e-12)
    assert direct[0] == pytest.approx(acc_eq(X, Z)[0] - acc_eq(Y, Z)[0], abs=1e-12)
