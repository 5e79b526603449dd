"""Bootstrap and permutation: equal to brute force and to nlpstats on its own draws."""

import itertools
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from cases import same
from nlpstats.correlations import bootstrap as rival_bootstrap
from nlpstats.correlations import permutation_test as rival_permutation
from threadpoolctl import threadpool_limits

from litepyramid.meta.core import draws
from litepyramid.meta.core.bootstrap import Resampled, bootstrap_samples
from litepyramid.meta.core.levels import LEVELS, OF_VECTORS, PAIRED, level_correlation
from litepyramid.meta.core.permutation import Coins, prepare, standardised

OF_NLPSTATS = [("system", "system", 60), ("summary", "input", 8)]


def scores(seed, n, m, discrete, missing=0.0):
    rng = np.random.default_rng(seed)
    Z = np.round(rng.normal(size=(n, m)) * 2)
    X, Y = rng.normal(size=(2, n, m)) + Z / 2
    if discrete:
        X, Y = np.round(X), np.round(Y * 2)
    Z[rng.random(Z.shape) < missing] = np.nan
    return X, Y, Z


# Bootstrap
# -----------------------------------------------------------------------------------


def drawn(seed, stream, n, samples):
    """The items of each sample."""
    counts = draws.counts(seed, stream, n, 0, samples).astype(int)
    return [np.repeat(np.arange(n), row) for row in counts]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("sampling", draws.SAMPLINGS)
def test_bootstrap_equals_drawing_rows_and_columns(level, sampling):
    """Two draws of one system are no pair for `spa` and `acc-eq`: these by inputs
    alone."""
    rows = [range(5)] * 40
    columns = [range(4)] * 40
    if sampling != "inputs":
        rows = drawn(5, draws.SYSTEMS, 5, 40)
    if sampling != "systems":
        columns = drawn(5, draws.INPUTS, 4, 40)

    more = [c for c in PAIRED if PAIRED[c] == level and sampling == "inputs"]
    for coefficient, discrete in itertools.product([*OF_VECTORS, *more], (False, True)):
        missing = 0.05 if coefficient == "spa" else 0.15
        X, _, Z = scores(7, 5, 4, discrete, missing)
        ours = bootstrap_samples(X, Z, level, coefficient, sampling, samples=40, seed=5)
        for value, *at in zip(ours, rows, columns, strict=True):
            sides = X[np.ix_(*at)], Z[np.ix_(*at)]
            same(value, level_correlation(*sides, level, coefficient).value, 1e-12)


def chosen_by_nlpstats(seed, n, m, k):
    """What its bootstrap draws: indices, and how often each row and column is drawn."""
    np.random.seed(seed)
    chosen = [(np.random.choice(n, n), np.random.choice(m, m)) for _ in range(k)]
    counts = (
        np.stack([np.bincount(c[side], minlength=size) for c in chosen]).astype(float)
        for side, size in ((0, n), (1, m))
    )
    return chosen, counts


@pytest.mark.parametrize("coefficient", OF_VECTORS)
@pytest.mark.parametrize(("level", "theirs", "k"), OF_NLPSTATS)
def test_bootstrap_equals_nlpstats_on_its_draws(level, theirs, k, coefficient):
    X, _, Z = scores(1, 12, 20, discrete=False)
    _, counts = chosen_by_nlpstats(17, 12, 20, k)
    np.random.seed(17)
    rival = rival_bootstrap(
        X,
        Z,
        theirs,
        coefficient,
        "both",
        n_resamples=k,
    )
    same(Resampled(X, Z, level, coefficient)(*counts), rival.samples, 1e-10)


def exact_tau(x, z):
    """Kendall's τ-b in rational arithmetic up to the last root."""
    balance = tx = tz = 0
    for i, j in itertools.combinations(range(len(x)), 2):
        a = np.sign(float(x[i] - x[j]))
        b = np.sign(float(z[i] - z[j]))
        balance += a * b
        tx += a != 0
        tz += b != 0
    return balance / (tx * tz) ** 0.5


def test_where_floats_break_ties_of_averages_ours_are_the_exact_ones():
    """Ratings of thirds: equal averages differ in their last bit, and nlpstats sees an
    order."""
    rng = np.random.default_rng(2)
    thirds = rng.integers(3, 9, (8, 15))
    Z = thirds / 3
    X = rng.normal(size=(8, 15)) + thirds
    chosen, counts = chosen_by_nlpstats(3, 8, 15, 100)
    np.random.seed(3)
    rival = rival_bootstrap(
        X,
        Z,
        "system",
        "kendall",
        "both",
        n_resamples=100,
    )

    exact = []

    for rows, columns in chosen:
        z = [sum(Fraction(int(thirds[i, j]), 3) for j in columns) for i in rows]
        x = [sum(Fraction(X[i, j]) for j in columns) for i in rows]
        exact.append(exact_tau(x, z))

    same(Resampled(X, Z, "system", "kendall")(*counts), exact, 1e-12)
    assert np.abs(np.array(rival.samples) - exact).max() > 1e-3


def test_unpaired_inputs_are_drawn_apart():
    X, _, Z = scores(4, 6, 30, discrete=False)
    wide = np.concatenate([X, X + 0.01], axis=1)
    ours = bootstrap_samples(
        wide,
        Z,
        "system",
        "kendall",
        "both",
        samples=70,
        seed=9,
        paired_inputs=False,
    )
    systems = drawn(9, draws.SYSTEMS, 6, 70)
    of_x = drawn(9, draws.INPUTS, 60, 70)
    of_z = drawn(9, draws.OTHER_INPUTS, 30, 70)
    for value, rows, x, z in zip(ours, systems, of_x, of_z, strict=True):
        sides = wide[np.ix_(rows, x)], Z[np.ix_(rows, z)]
        same(value, level_correlation(*sides, "system", "kendall").value, 1e-12)


@pytest.mark.parametrize("level", LEVELS)
def test_samples_do_not_depend_on_chunks_threads_or_how_many_are_asked_for(
    level, monkeypatch
):
    X, _, Z = scores(5, 7, 9, discrete=True)
    for coefficient in OF_VECTORS:
        sample = partial(bootstrap_samples, X, Z, level, coefficient, seed=3)
        boot = sample(samples=300)
        with monkeypatch.context() as patch:
            patch.setattr(draws, "_CELLS", 1)
            same(sample(samples=300), boot, 0)
            same(sample(samples=70), boot[:70], 0)

        with threadpool_limits(4):
            same(sample(samples=300), boot, 0)
        other = sample(samples=300, seed=4)
        assert not np.array_equal(other, boot, equal_nan=True)


def test_draws_are_uniform_and_fair():
    w = draws.counts(0, draws.INPUTS, 10, 0, 2048)
    assert (w.sum(axis=1) == 10).all()
    assert abs(w.mean(axis=0) - 1).max() < 5 * (0.9 / 2048) ** 0.5
    u = np.concatenate([draws.coins(0, (5, 7), block) for block in range(32)], axis=2)
    assert abs(u.mean(axis=2)).max() < 5 / 2048**0.5
    assert abs(np.corrcoef(u.reshape(35, -1)) - np.eye(35)).max() < 5.5 / 2048**0.5


# Permutation
# ---------------------------------------------------------------------------------


def swap_one_by_one(X, Y, Z, u, level, coefficient):
    values = []
    for b in range(u.shape[2]):
        sides = np.where(u[:, :, b] > 0, X, Y), np.where(u[:, :, b] > 0, Y, X)
        one, two = (
            level_correlation(side, Z, level, coefficient).value for side in sides
        )
        values.append(one - two)
    return values


def swapped(values, Z, level, coefficient, u):
    """Ours, for given coins."""
    metrics = prepare(np.stack(values), Z, level, coefficient)
    metrics.move([u])
    return metrics.pair(0, 1)[0]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("n", "m", "discrete", "missing"),
    [(6, 5, True, 0.1), (3, 3, True, 0.3), (15, 8, False, 0.1)],
)
def test_permutation_equals_swapping_the_scores(level, n, m, discrete, missing):
    X, Y, Z = standardised(*scores(n * m, n, m, discrete, missing))
    for coefficient, swaps in itertools.product(OF_VECTORS, draws.SAMPLINGS):
        still, u = Coins(X.shape, swaps, 3, [0])
        u = np.concatenate([still, u[:, :, :12]], axis=2)
        direct = swap_one_by_one(X, Y, Z, u, level, coefficient)
        same(swapped([X, Y], Z, level, coefficient, u), direct, 1e-12)
        assert swaps != "systems" or (u == u[:, :1]).all()
        assert swaps != "inputs" or (u == u[:1]).all()


@pytest.mark.parametrize("coefficient", OF_VECTORS)
@pytest.mark.parametrize(("level", "theirs", "k"), OF_NLPSTATS)
def test_permutation_equals_nlpstats_on_its_draws(level, theirs, k, coefficient):
    X, Y, Z = scores(6, 12, 20, discrete=False)
    Z += np.random.default_rng(0).normal(size=Z.shape) * 1e-3
    np.random.seed(23)
    rival = rival_permutation(
        X,
        Y,
        Z,
        theirs,
        coefficient,
        "both",
        alternative="greater",
        n_resamples=k,
    )
    np.random.seed(23)
    coins = [
        (np.random.rand(12, 1) > 0.5) ^ (np.random.rand(1, 20) > 0.5) for _ in range(k)
    ]
    u = np.where(np.stack(coins, axis=2), -1.0, 1.0)
    same(swapped([X, Y], Z, level, coefficient, u), rival.samples, 1e-10)
