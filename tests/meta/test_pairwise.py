"""SPA and acc_eq: Google's values, the definitions written out, and their resampling."""

import json
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litepyramid.errors import InputError
from litepyramid.meta import compare, correlate, interval
from litepyramid.meta.core import draws
from litepyramid.meta.core.bootstrap import bootstrap_samples
from litepyramid.meta.core.levels import acc_eq, spa
from litepyramid.meta.core.permutation import SpaSwaps, TieAccuracySwaps, standardised
from litepyramid.types import FloatArray, ScoreTable


def spa_written_out(X: FloatArray, Z: FloatArray) -> float:
    """The definition, pair by pair, exchange by exchange, in exact integers."""
    signs = np.random.default_rng(4).integers(0, 2, (1000, X.shape[1])) * 2 - 1
    distances = []
    for i, j in combinations(range(len(X)), 2):
        p = [
            sum(int(s @ (side[i] - side[j])) >= int((side[i] - side[j]).sum()) for s in signs)
            for side in (X, Z)
        ]
        distances.append(abs(p[0] - p[1]) / 1000)
    return 1 - sum(distances) / len(distances)


def acc_eq_written_out(X: FloatArray, Z: FloatArray) -> tuple[float, float]:
    """The definition: every candidate ε, every input, every pair."""
    pairs = list(combinations(range(len(X)), 2))
    candidates = {0.0} | {
        abs(X[i, m] - X[j, m])
        for i, j in pairs
        for m in range(X.shape[1])
        if not np.isnan(X[i, m] - X[j, m] + Z[i, m] - Z[j, m])
    }
    found = []
    for epsilon in sorted(candidates):
        means = []
        for m in range(X.shape[1]):
            counts = dict.fromkeys(("C", "D", "h", "m", "hm"), 0)
            for i, j in pairs:
                x, z = X[i, m] - X[j, m], Z[i, m] - Z[j, m]
                if np.isnan(x + z):
                    continue
                tied = abs(x) <= epsilon
                kind = ("hm" if tied else "h") if z == 0 else "m" if tied else "CD"[int(x * z < 0)]
                counts[kind] += 1
            if sum(counts.values()):
                means.append((counts["C"] + counts["hm"]) / sum(counts.values()))
        found.append((np.mean(means), -epsilon))
    best = max(value for value, _ in found)
    return best, min(-e for value, e in found if value > best - 1e-12)


MATRICES = st.tuples(st.integers(2, 5), st.integers(1, 5), st.integers(0, 10**6))


def matrices(shape: tuple[int, int, int], missing: bool = False) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(shape[2])
    X, Z = rng.integers(0, 5, (2, *shape[:2])).astype(float)
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    return X, Z


@settings(max_examples=8, deadline=None)
@given(MATRICES)
def test_spa_is_its_definition(shape: tuple[int, int, int]) -> None:
    X, Z = matrices(shape)
    assert spa(X, Z) == pytest.approx(spa_written_out(X, Z), abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(MATRICES, st.booleans())
def test_acc_eq_is_its_definition(shape: tuple[int, int, int], missing: bool) -> None:
    X, Z = matrices(shape, missing)
    pairs = combinations(range(len(X)), 2)
    if not any((~np.isnan(X[i] - X[j])).any() for i, j in pairs):
        assert np.isnan(acc_eq(X, Z)).all()
        return
    assert acc_eq(X, Z) == pytest.approx(acc_eq_written_out(X, Z), abs=1e-12)


@pytest.mark.data
@pytest.mark.parametrize(("name", "table"), [("realsumm", "ddr21"), ("summeval", "summeval")])
def test_the_values_are_those_of_mt_metrics_eval(request, data, name, table) -> None:
    """On any machine, and whatever the order of rows in the file."""
    expected = json.loads((data / "wmt" / "expected.json").read_text())[name]
    metrics = list(expected["metrics"])
    scores = request.getfixturevalue(table)
    result = correlate(scores, expected["human"], metrics=metrics, coefficient=["spa", "acc-eq"])
    for one in result.correlations:
        values = expected["metrics"][one.metric]
        assert one.value == pytest.approx(values[one.coefficient.replace("-", "_")], abs=1e-10)
        if one.coefficient == "acc-eq":
            # Of several best ε ours is the smallest; theirs may be another for rounding.
            assert one.epsilon <= values["epsilon"] + 1e-15
    assert len(result.correlations) == 2 * len(metrics)


def test_repeated_systems_and_inputs_are_as_many_rows() -> None:
    X, Z = matrices((5, 6, 3))
    for coefficient, level in (("spa", "system"), ("acc-eq", "summary")):
        found = bootstrap_samples(X, Z, level, coefficient, "inputs", samples=5, seed=1)
        drawn = draws.counts(1, draws.INPUTS, 6, 0, 5).astype(int)
        for value, number in zip(found, drawn, strict=True):
            columns = np.repeat(np.arange(6), number)
            x, z = X[:, columns], Z[:, columns]
            again = spa(x, z) if coefficient == "spa" else acc_eq(x, z)[0]
            assert value == pytest.approx(again, abs=1e-12)
    both = bootstrap_samples(X, Z, "summary", "acc-eq", "both", samples=20, seed=1)
    assert ((both >= 0) & (both <= 1)).all()


def test_swapped_spa_is_spa_of_swapped_scores() -> None:
    rng = np.random.default_rng(5)
    X, Y, Z = standardised(*rng.normal(size=(3, 6, 16)))
    u = draws.coins(2, X.shape, 0, np.float32)
    u[..., 0] = 1
    direct = [
        spa(np.where(u[..., b] > 0, X, Y), Z) - spa(np.where(u[..., b] > 0, Y, X), Z)
        for b in range(u.shape[-1])
    ]
    assert SpaSwaps(X, Y, Z)([u]) == pytest.approx(np.array(direct), abs=2e-3)  # rounded to ties


@settings(max_examples=10, deadline=None)
@given(MATRICES)
def test_swapped_acc_eq_is_counted_pair_by_pair(shape: tuple[int, int, int]) -> None:
    rng = np.random.default_rng(shape[2])
    X, Y, Z = rng.integers(0, 4, (3, *shape[:2])).astype(float)
    X, Y, Z = standardised(X, Y, Z)
    half = [np.full(X.shape, acc_eq(side, Z)[1] / 2) for side in (X, Y)]
    u = draws.coins(shape[2], X.shape, 0)[..., :4]

    def accuracy(scores: FloatArray, ties: FloatArray) -> float:
        right = [
            np.where(
                np.abs(scores[i] - scores[j]) <= ties[i] + ties[j],
                Z[i] == Z[j],
                np.sign(scores[i] - scores[j]) == np.sign(Z[i] - Z[j]),
            )
            for i, j in combinations(range(len(Z)), 2)
        ]
        return float(np.mean(right))

    found = TieAccuracySwaps(X, Y, Z)([u])
    for b in range(4):
        kept = u[..., b] > 0
        one = accuracy(np.where(kept, X, Y), np.where(kept, half[0], half[1]))
        two = accuracy(np.where(kept, Y, X), np.where(kept, half[1], half[0]))
        assert found[b] == pytest.approx(one - two, abs=1e-12)
    still = TieAccuracySwaps(X, Y, Z)([np.ones((*X.shape, 1))])
    assert still[0] == pytest.approx(acc_eq(X, Z)[0] - acc_eq(Y, Z)[0], abs=1e-12)


def a_table() -> ScoreTable:
    rng = np.random.default_rng(8)
    human = rng.integers(0, 5, (8, 30)).astype(float) + np.arange(8)[:, None]
    values = np.stack([human + rng.normal(size=human.shape), rng.normal(size=human.shape), human])
    systems, inputs = tuple(f"s{n}" for n in range(8)), tuple(map(str, range(30)))
    return ScoreTable(("good", "bad", "human"), systems, inputs, values)


def test_meta_takes_them_at_their_level() -> None:
    table = a_table()
    found = correlate(table, coefficient=["spa", "acc-eq", "kendall"]).correlations
    assert {(c.level, c.coefficient) for c in found} == {
        ("system", "spa"), ("system", "kendall"), ("summary", "acc-eq"), ("summary", "kendall"),
    }  # fmt: skip
    assert all(np.isnan(c.epsilon) == (c.coefficient != "acc-eq") for c in found)
    assert "acc_eq ties scores that differ" in correlate(table, coefficient="acc-eq").to_table()
    for one in interval(table, coefficient=["spa", "acc-eq"], samples=50).intervals:
        assert one.low < one.value < one.high or one.metric == "bad"
    # Metrics are in the order of their names: bad, good.
    tests = compare(table, coefficient=["spa", "acc-eq"], samples=100).comparisons
    assert all(t.p_values[1, 0] < 0.05 < t.p_values[0, 1] for t in tests)
    adaptive = compare(table, coefficient=["spa", "acc-eq"]).comparisons
    assert all(t.p_values[1, 0] < 0.05 for t in adaptive)
    for coefficient, level in (("spa", "summary"), ("acc-eq", "global")):
        with pytest.raises(InputError, match=f"{coefficient} at {level} level"):
            correlate(table, coefficient=coefficient, level=level)  # type: ignore[arg-type]
