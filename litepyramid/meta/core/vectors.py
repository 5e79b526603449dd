"""Coefficients of many pairs of vectors at once.

Functions of rows take B pairs of vectors as (B, N) arrays, or one (N,) vector that all
pairs share, and weights: how often each of the N items was drawn. A weight of 0 takes
an item out ("not scored" too is a weight of 0), and integer weights give the value that
repeated items would give. Two values nearer than a tolerance are tied: averages of tied
scores differ in the last bit only, and would break the tie. A vector that is constant
among the items drawn has no coefficient: NaN.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from litepyramid.stats import undefined
from litepyramid.types import BoolArray, Ends, FloatArray, IntArray

_PAIR_CELLS = 20_000
_MOST_PAIRED = 600


def of_rows(
    value: Callable[..., FloatArray],
    x: FloatArray,
    z: FloatArray,
    weights: FloatArray | None = None,
    slack: Ends = (0.0, 0.0),
) -> FloatArray:
    """The value of each row, such as that of `pearson_rows`: (B,).

    `slack` are the tolerances of x and of z.
    """
    # A single vector belongs to every row.
    rows = max(1 if a is None or a.ndim == 1 else len(a) for a in (x, z, weights))
    if x.shape[-1] < 2:
        return np.full(rows, np.nan)

    return value(np.atleast_2d(x), np.atleast_2d(z), weights, slack, rows)


def spearman_rows(
    x: FloatArray, z: FloatArray, weights: FloatArray | None, slack: Ends, rows: int
) -> FloatArray:
    """Pearson's of the midranks."""
    x, z = midranks(x, weights, slack[0]), midranks(z, weights, slack[1])
    return pearson_rows(x, z, weights, (0.0, 0.0), rows)


def kendall_rows(x: FloatArray, *others: Any) -> FloatArray:
    """τ-b = (C - D) / √((n₀ - t_x)(n₀ - t_z)), n₀ pairs, t tied ones (Kendall 1945)."""
    way = _long_kendall if x.shape[-1] > _MOST_PAIRED else _kendall
    return way(x, *others)


def constant_rows(
    x: FloatArray, weights: FloatArray | None, tolerance: float
) -> BoolArray:
    """Whether each row's drawn items all have one value (rows with no item are
    constant)."""
    if x.shape[-1] == 0:
        return np.ones(1 if x.ndim == 1 else len(x), dtype=bool)
    if weights is None:
        return np.asarray(np.ptp(np.atleast_2d(x), axis=1) <= tolerance)
    drawn = np.atleast_2d(weights > 0)
    high = np.where(drawn, x, -np.inf).max(axis=1)
    low = np.where(drawn, x, np.inf).min(axis=1)
    return np.asarray(high - low <= tolerance)


def dense_ranks(x: FloatArray, tolerance: float = 0.0) -> IntArray:
    """Ranks from 0, none left out; values within `tolerance` of the next in order share
    one."""
    order = np.argsort(x, axis=-1)
    ordered = np.take_along_axis(x, order, axis=-1)
    steps = np.zeros(x.shape, dtype=int)
    np.cumsum(np.diff(ordered, axis=-1) > tolerance, axis=-1, out=steps[..., 1:])
    ranks = np.empty_like(steps)
    np.put_along_axis(ranks, order, steps, axis=-1)
    return ranks


def midranks(
    x: FloatArray, weights: FloatArray | None, tolerance: float = 0.0
) -> FloatArray:
    """Ranks from 1, tied ones share their mean; as if each item stood there `weights`
    times."""
    dense = np.atleast_2d(dense_ranks(x, tolerance))
    n = dense.shape[1]
    weights = np.ones((1, n)) if weights is None else np.atleast_2d(weights)
    rows = max(len(dense), len(weights))
    # One count for all rows: the ranks of each are moved to places of their own.
    keys = np.broadcast_to(dense, (rows, n)) + np.arange(0, rows * n, n)[:, None]
    drawn = np.broadcast_to(weights, (rows, n))
    in_group = np.bincount(keys.ravel(), drawn.ravel(), rows * n).reshape(rows, n)
    middle = np.cumsum(in_group, axis=1) - 0.5 * (in_group - 1.0)
    return np.asarray(middle.ravel()[keys])


def pearson_rows(
    x: FloatArray, z: FloatArray, weights: FloatArray | None, slack: Ends, rows: int
) -> FloatArray:
    """Σ w (x - x̄)(z - z̄) / √(Σ w (x - x̄)² · Σ w (z - z̄)²)."""
    none = constant_rows(x, weights, slack[0]) | constant_rows(z, weights, slack[1])
    dx = _deviations(x, weights)
    dz = _deviations(z, weights)
    wx, wz = (dx, dz) if weights is None else (dx * weights, dz * weights)
    with undefined():
        norms = np.sqrt((wx * dx).sum(axis=1)) * np.sqrt((wz * dz).sum(axis=1))
        r = np.clip((wx * dz).sum(axis=1) / norms, -1.0, 1.0)
    r[np.broadcast_to(none, r.shape)] = np.nan
    return np.array(np.broadcast_to(r, (rows,)))


def _deviations(x: FloatArray, weights: FloatArray | None) -> FloatArray:
    """x less its weighted mean, scaled so that no square under- or overflows."""
    if weights is None:
        drawn = x - x.mean(axis=1, keepdims=True)
    else:
        weights = np.atleast_2d(weights)
        total = weights.sum(axis=1, keepdims=True)
        with undefined():
            means = (weights * x).sum(axis=1, keepdims=True) / total
        drawn = np.where(weights > 0, x - means, 0.0)
    # A coefficient does not depend on the scale, but squares of 1e-200 would be 0.
    scale = np.abs(drawn).max(axis=1, keepdims=True)
    return np.asarray(drawn / np.where(scale > 0, scale, 1.0))


def _kendall(
    x: FloatArray, z: FloatArray, weights: FloatArray | None, slack: Ends, rows: int
) -> FloatArray:
    """By the signs of all pairs' differences, some rows at once."""
    x_slack, z_slack = slack
    one, two = np.triu_indices(x.shape[1], 1)
    weights = None if weights is None else np.atleast_2d(weights)
    result = np.empty(rows)
    # N items have N (N - 1) / 2 pairs: few rows at once stay in the processor's cache.
    at_once = max(1, _PAIR_CELLS // one.size)

    for start in range(0, rows, at_once):
        chunk = slice(start, start + at_once)
        # One row that all pairs share stays whole.
        x_part = x if len(x) == 1 else x[chunk]
        z_part = z if len(z) == 1 else z[chunk]
        w = weights if weights is None or len(weights) == 1 else weights[chunk]
        dx = x_part[:, one] - x_part[:, two]
        dz = z_part[:, one] - z_part[:, two]
        sx = np.subtract(dx > x_slack, dx < -x_slack, dtype=np.int8)
        sz = np.subtract(dz > z_slack, dz < -z_slack, dtype=np.int8)
        # Two draws of one item are tied on both sides, and are not among these pairs.
        pairs = 1 if w is None else w[:, one] * w[:, two]
        balance = (pairs * (sx * sz)).sum(axis=1, dtype=float)
        untied_x = (pairs * (sx != 0)).sum(axis=1, dtype=float)
        untied_z = (pairs * (sz != 0)).sum(axis=1, dtype=float)
        with undefined():
            result[chunk] = balance / np.sqrt(untied_x * untied_z)

    return result


def _long_kendall(
    x: FloatArray, z: FloatArray, weights: FloatArray | None, slack: Ends, rows: int
) -> FloatArray:
    """For long vectors, one at a time in O(n log n) by scipy, repeated items
    repeated."""
    from scipy.stats import kendalltau

    shape = rows, x.shape[1]
    x_ranks = np.broadcast_to(dense_ranks(x, slack[0]), shape)
    z_ranks = np.broadcast_to(dense_ranks(z, slack[1]), shape)
    drawn = np.broadcast_to(1 if weights is None else weights, shape).astype(int)
    taus = []
    for a, b, w in zip(x_ranks, z_ranks, drawn, strict=True):
        taus.append(kendalltau(np.repeat(a, w), np.repeat(b, w))[0])
    return np.array(taus)
