"""SPA and acc_eq: Google's values, the definitions written out, and their
resampling."""

import json
from itertools import combinations

import numpy as np
import pytest
from cases import refused, same
from hypothesis import given, settings
from hypothesis import strategies as st

from litepyramid.meta import correlate
from litepyramid.meta.core import draws
from litepyramid.meta.core.matrices import acc_eq, spa
from litepyramid.meta.core.permutation import standardised
from litepyramid.meta.core.swaps import TieAccuracySwaps

SIZES = {
    "n": st.integers(2, 5),
    "m": st.integers(1, 5),
    "seed": st.integers(0, 10**6),
}
"""Of systems, of inputs."""


def whole_numbers(*shape, seed, missing=False):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 5, shape).astype(float)
    if missing:
        scores[0, rng.random(shape[1:]) < 0.2] = np.nan
    return scores


@settings(max_examples=8)
@given(**SIZES)
def test_spa_is_its_definition(n, m, seed):
    """Pair by pair, exchange by exchange, of whole numbers, whose sums are exact."""
    X, Z = whole_numbers(2, n, m, seed=seed)
    signs = np.random.default_rng(4).integers(0, 2, (1000, m)) * 2 - 1
    distances = []
    for one, two in combinations(range(n), 2):
        x = X[one] - X[two]
        z = Z[one] - Z[two]
        by_metric = np.mean(signs @ x >= x.sum())
        by_people = np.mean(signs @ z >= z.sum())
        distances.append(abs(by_metric - by_people))

    same(spa(X, Z), 1 - np.mean(distances))
    # Neither huge nor tiny scores leave float32.
    for exponent in (-1000, 900):
        assert spa(np.ldexp(X, exponent), Z) == spa(X, Z)


def right(x, z, ties):
    """Whether people have the metric's order of a pair, or both tie it."""
    return np.where(np.abs(x) <= ties, z == 0, x * z > 0)


@settings(max_examples=30)
@given(**SIZES, missing=st.booleans())
def test_acc_eq_is_its_definition(n, m, seed, missing):
    """Every candidate ε, every input, every pair."""
    X, Z = whole_numbers(2, n, m, seed=seed, missing=missing)
    one, two = np.triu_indices(n, 1)
    x = X[one] - X[two]
    z = Z[one] - Z[two]
    unscored = np.isnan(x)
    if unscored.all():
        assert np.isnan(acc_eq(X, Z)).all()
        return

    candidates = sorted({0.0, *np.abs(x[~unscored])})
    values = []
    for epsilon in candidates:
        pairs = np.ma.array(right(x, z, epsilon), mask=unscored)
        values.append(pairs.mean(axis=0).mean())
    smallest = np.argmax(np.array(values) > max(values) - 1e-12)
    same(acc_eq(X, Z), [values[smallest], candidates[smallest]])


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "table"), [("realsumm", "ddr21"), ("summeval", "summeval")]
)
def test_the_values_are_those_of_mt_metrics_eval(request, data, name, table):
    """On any machine, and whatever the order of rows in the file."""
    expected = json.loads((data / "wmt" / "expected.json").read_text())[name]
    scores = request.getfixturevalue(table)
    result = correlate(
        scores,
        expected["human"],
        metrics=list(expected["metrics"]),
        coefficient=["spa", "acc-eq"],
    )
    assert len(result.correlations) == 2 * len(expected["metrics"])
    assert "acc_eq ties scores that differ" in result.to_table()

    for one in result.correlations:
        values = expected["metrics"][one.metric]
        value = values["spa" if one.coefficient == "spa" else "acc_eq"]
        assert one.value == pytest.approx(value, abs=1e-10)
        if one.coefficient == "acc-eq":
            # Of several best ε ours is the smallest; theirs may be another for
            # rounding.
            assert one.epsilon <= values["epsilon"] + 1e-15

    for coefficient, level in (("spa", "summary"), ("acc-eq", "global")):
        with refused(f"{coefficient} at {level} level"):
            correlate(scores, coefficient=coefficient, level=level)


@settings(max_examples=10)
@given(**SIZES)
def test_swapped_acc_eq_is_counted_pair_by_pair(n, m, seed):
    """A pair of scores of both metrics ties up to the mean of both ε."""
    X, Y, Z = standardised(*whole_numbers(3, n, m, seed=seed))
    of_x, ties_of_x = acc_eq(X, Z)
    of_y, ties_of_y = acc_eq(Y, Z)
    one, two = np.triu_indices(n, 1)

    def accuracy(unswapped):
        scores = np.where(unswapped, X, Y)
        half = np.where(unswapped, ties_of_x, ties_of_y) / 2
        x = scores[one] - scores[two]
        z = Z[one] - Z[two]
        return right(x, z, half[one] + half[two]).mean()

    u = draws.coins(seed, (n, m), 0)[..., :4]
    u[..., 0] = 1
    direct = []
    for unswapped in np.moveaxis(u > 0, 2, 0):
        direct.append(accuracy(unswapped) - accuracy(~unswapped))
    ours, _ = TieAccuracySwaps(X, Y, Z)(u)
    same(ours, direct)
    same(direct[0], of_x - of_y)
