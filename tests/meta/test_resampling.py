"""Bootstrap and permutation: equal to brute force and to nlpstats on its own draws."""

import itertools
from functools import partial

import numpy as np
import pytest
from by_scipy import tau_of_means
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
        X = np.round(X)
        Y = np.round(Y * 2)
        X[:, 0] = 1
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

    coefficients = list(OF_VECTORS)
    if sampling == "inputs":
        coefficients += [name for name in PAIRED if PAIRED[name] == level]
    for coefficient, discrete in itertools.product(coefficients, (False, True)):
        missing = 0.05 if coefficient == "spa" else 0.15
        X, _, Z = scores(7, 5, 4, discrete, missing)
        how = level, coefficient
        ours = bootstrap_samples(X, Z, *how, sampling, samples=40, seed=5)
        for value, *at in zip(ours, rows, columns, strict=True):
            cells = np.ix_(*at)
            direct = level_correlation(X[cells], Z[cells], *how)
            same(value, direct.value)


def drawn_by_nlpstats(seed, n, m, samples):
    """How often its bootstrap draws each row and each column."""
    np.random.seed(seed)
    rows = np.empty((samples, n))
    columns = np.empty((samples, m))
    for sample in range(samples):
        rows[sample] = np.bincount(np.random.choice(n, n), minlength=n)
        columns[sample] = np.bincount(np.random.choice(m, m), minlength=m)
    return rows, columns


@pytest.mark.parametrize("coefficient", OF_VECTORS)
@pytest.mark.parametrize(("level", "theirs", "k"), OF_NLPSTATS)
def test_bootstrap_equals_nlpstats_on_its_draws(level, theirs, k, coefficient):
    X, _, Z = scores(1, 12, 20, discrete=False)
    resampled = Resampled(X, Z, level, coefficient)
    ours = resampled(*drawn_by_nlpstats(17, 12, 20, k))

    np.random.seed(17)
    rival = rival_bootstrap(
        X,
        Z,
        theirs,
        coefficient,
        "both",
        n_resamples=k,
    )
    same(ours, rival.samples, 1e-10)


def test_averages_that_floats_do_not_tie_are_tied():
    """Ratings of thirds: equal averages differ in their last bit, means of whole
    numbers do not."""
    rng = np.random.default_rng(2)
    thirds = rng.integers(3, 9, (8, 15))
    X = rng.normal(size=(8, 15)) + thirds
    ours = bootstrap_samples(
        X,
        thirds / 3,
        "system",
        "kendall",
        samples=100,
        seed=3,
    )
    rows = drawn(3, draws.SYSTEMS, 8, 100)
    columns = drawn(3, draws.INPUTS, 15, 100)
    for value, *at in zip(ours, rows, columns, strict=True):
        cells = np.ix_(*at)
        same(value, tau_of_means(X[cells], thirds[cells]))


def test_a_whole_test_set_is_drawn_apart_from_the_judged_inputs():
    X, _, Z = scores(4, 6, 30, discrete=False)
    wide = np.concatenate([X, X + 0.01], axis=1)
    options = {"samples": 70, "seed": 9, "paired_inputs": False}
    ours = bootstrap_samples(wide, Z, "system", "kendall", **options)

    taus = []
    for systems, of_metric, of_people in zip(
        drawn(9, draws.SYSTEMS, 6, 70),
        drawn(9, draws.INPUTS, 60, 70),
        drawn(9, draws.OTHER_INPUTS, 30, 70),
        strict=True,
    ):
        x = wide[systems][:, of_metric]
        z = Z[systems][:, of_people]
        taus.append(tau_of_means(x, z))
    same(ours, taus)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("coefficient", OF_VECTORS)
def test_samples_do_not_depend_on_chunks_threads_or_how_many_are_asked_for(
    level, coefficient, monkeypatch
):
    X, _, Z = scores(5, 7, 9, discrete=True)
    sample = partial(bootstrap_samples, X, Z, level, coefficient)
    boot = sample(samples=300, seed=3)
    assert not np.array_equal(sample(samples=300, seed=4), boot, equal_nan=True)

    with threadpool_limits(4):
        same(sample(samples=300, seed=3), boot, 0)
    monkeypatch.setattr(draws, "_CELLS", 1)
    same(sample(samples=300, seed=3), boot, 0)
    same(sample(samples=70, seed=3), boot[:70], 0)


def test_draws_are_uniform_and_fair():
    deviation = 2048**-0.5
    counts = draws.counts(0, draws.INPUTS, 10, 0, 2048)
    assert (counts.sum(axis=1) == 10).all()
    assert abs(counts.mean(axis=0) - 1).max() < 5 * 0.9**0.5 * deviation

    blocks = [draws.coins(0, (35,), block) for block in range(32)]
    coins = np.concatenate(blocks, axis=1)
    assert abs(coins.mean(axis=1)).max() < 5 * deviation
    together = np.corrcoef(coins) - np.eye(35)
    assert abs(together).max() < 5.5 * deviation


# Permutation
# ---------------------------------------------------------------------------------


def swap_one_by_one(X, Y, Z, u, *how):
    """The difference of the correlations of both metrics, swapped by each coin."""
    values = []
    for unswapped in np.moveaxis(u > 0, 2, 0):
        one = np.where(unswapped, X, Y)
        two = np.where(unswapped, Y, X)
        difference = (
            level_correlation(one, Z, *how).value
            - level_correlation(two, Z, *how).value
        )
        values.append(difference)
    return values


def swapped(X, Y, Z, u, *how):
    """Ours, for given coins."""
    metrics = prepare(np.stack([X, Y]), Z, *how)
    metrics.move([u])
    return metrics.pair(0, 1)[0]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("n", "m", "discrete", "missing"),
    [
        (6, 5, True, 0.1),
        (3, 3, True, 0.3),
        (15, 8, False, 0.1),
    ],
)
def test_permutation_equals_swapping_the_scores(level, n, m, discrete, missing):
    X, Y, Z = standardised(*scores(n * m, n, m, discrete, missing))
    for coefficient, swaps in itertools.product(OF_VECTORS, draws.SAMPLINGS):
        still, u = Coins(X.shape, swaps, 3, [0])
        u = np.concatenate([still, u[:, :, :12]], axis=2)
        how = X, Y, Z, u, level, coefficient
        same(swapped(*how), swap_one_by_one(*how))
        assert swaps != "systems" or (u == u[:, :1]).all()
        assert swaps != "inputs" or (u == u[:1]).all()


def test_swapped_spa_is_spa_of_swapped_scores():
    X, Y, Z = standardised(*scores(5, 6, 16, discrete=False))
    u = draws.coins(2, X.shape, 0, np.float32)
    how = X, Y, Z, u, "system", "spa"
    # Ours are rounded to ties.
    same(swapped(*how), swap_one_by_one(*how), 2e-3)


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
    u = np.empty((12, 20, k))
    for sample in range(k):
        systems = np.random.rand(12, 1) > 0.5
        inputs = np.random.rand(1, 20) > 0.5
        u[:, :, sample] = np.where(systems ^ inputs, -1, 1)
    same(swapped(X, Y, Z, u, level, coefficient), rival.samples, 1e-10)
