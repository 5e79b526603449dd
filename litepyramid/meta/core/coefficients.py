"""Correlation coefficients of many pairs of vectors at once.

Every function takes B pairs of vectors as (B, N) arrays, or one (N,) vector that all pairs share,
and optional weights: how often each of the N items was drawn. A weight of 0 takes an item out
("not scored" too is a weight of 0), and integer weights give the value that repeated items would
give. Two values nearer than a tolerance are tied: averages of tied scores differ in the last bit
only, and would break the tie. A vector that is constant among the items drawn has no coefficient:
NaN.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from litepyramid.errors import InputError
from litepyramid.types import FloatArray, IntArray

Coefficient = Literal["pearson", "spearman", "kendall", "kendall_c", "pairwise", "spa", "acc-eq"]
COEFFICIENTS: tuple[Coefficient, ...] = get_args(Coefficient)[:5]
"""Those of two vectors."""
PAIRED = {"spa": "system", "acc-eq": "summary"}
"""Those of two whole matrices (`core.pairwise`), each with its level."""

TIE_TOLERANCE = 1e-11
"""Averages whose difference is below this share of the largest score in the matrix are tied."""

_PAIR_CELLS = 20_000
_MOST_PAIRED = 600


def correlate_rows(
    x: FloatArray,
    z: FloatArray,
    coefficient: Coefficient,
    weights: FloatArray | None = None,
    *,
    x_tolerance: float = 0.0,
    z_tolerance: float = 0.0,
) -> FloatArray:
    """The coefficient of each row of `x` with the same row of `z`.

    - ``pearson``: Σ w (x - x̄)(z - z̄) / √(Σ w (x - x̄)² · Σ w (z - z̄)²);
    - ``spearman``: Pearson's of the midranks;
    - ``kendall``: τ-b = (C - D) / √((n₀ - t_x)(n₀ - t_z)), n₀ pairs, t tied ones (Kendall 1945);
    - ``kendall_c``: τ-c = 2 (C - D) / (n² (m - 1) / m), m the smaller number of distinct values;
    - ``pairwise``: the share of pairs that both put in the same order or both tie
      (Kocmi et al. 2021); pairs of two draws of one item are not pairs.

    Args:
        x: (B, N) or (N,) finite values.
        z: (B, N) or (N,) finite values.
        coefficient: One of the five names.
        weights: (B, N) or (N,) numbers of draws, 0 or more; None is 1 for all.
        x_tolerance: Values of `x` that differ by no more are tied.
        z_tolerance: The same for `z`.

    Returns:
        (B,) float64; NaN where x or z is constant, or fewer than two items were drawn.

    Example:
        >>> x, z = np.array([[1.0, 2, 3, 4], [2, 2, 2, 2]]), np.array([1.0, 3, 2, 4])
        >>> correlate_rows(x, z, "kendall").round(3).tolist()
        [0.667, nan]
    """
    rows = max(1 if a is None or a.ndim == 1 else len(a) for a in (x, z, weights))
    n = x.shape[-1]
    if n < 2:
        return np.full(rows, np.nan)
    if coefficient == "pearson":
        return _pearson(x, z, weights, x_tolerance, z_tolerance, rows)
    if coefficient == "spearman":
        x_ranks = midranks(x, weights, x_tolerance)
        z_ranks = midranks(z, weights, z_tolerance)
        return _pearson(x_ranks, z_ranks, weights, 0.0, 0.0, rows)
    if coefficient not in COEFFICIENTS:
        raise InputError(f"unknown coefficient '{coefficient}'", expected=", ".join(COEFFICIENTS))
    if n > _MOST_PAIRED:
        return _long_rows(x, z, weights, coefficient, (x_tolerance, z_tolerance), rows)
    return _paired(x, z, weights, coefficient, (x_tolerance, z_tolerance), rows)


def constant_rows(x: FloatArray, weights: FloatArray | None, tolerance: float) -> NDArray[np.bool_]:
    """Whether each row's drawn items all have one value (rows with no item are constant)."""
    if x.shape[-1] == 0:
        return np.ones(1 if x.ndim == 1 else len(x), dtype=bool)
    if weights is None:
        return np.asarray(np.ptp(np.atleast_2d(x), axis=1) <= tolerance)
    drawn = np.atleast_2d(weights > 0)
    high = np.where(drawn, x, -np.inf).max(axis=1)
    low = np.where(drawn, x, np.inf).min(axis=1)
    return np.asarray(high - low <= tolerance)


def dense_ranks(x: FloatArray, tolerance: float = 0.0) -> IntArray:
    """Ranks from 0 in which tied values share one and no number is left out.

    Values are tied when each is within `tolerance` of the next one in order.

    Example:
        >>> dense_ranks(np.array([[0.3, 0.1, 0.1 + 1e-17, 0.2]]), 1e-12).tolist()
        [[2, 0, 0, 1]]
    """
    order = np.argsort(x, axis=-1)
    ordered = np.take_along_axis(x, order, axis=-1)
    steps = np.zeros(x.shape, dtype=np.int64)
    np.cumsum(np.diff(ordered, axis=-1) > tolerance, axis=-1, out=steps[..., 1:])
    ranks = np.empty_like(steps)
    np.put_along_axis(ranks, order, steps, axis=-1)
    return ranks


def midranks(x: FloatArray, weights: FloatArray | None, tolerance: float = 0.0) -> FloatArray:
    """Ranks from 1, tied ones share their mean; as if each item stood there `weights` times.

    Items with weight 0 have a number too, which means nothing.

    Example:
        >>> midranks(np.array([5.0, 7.0, 7.0]), np.array([[2.0, 1.0, 1.0]])).tolist()
        [[1.5, 3.5, 3.5]]
    """
    dense = np.atleast_2d(dense_ranks(x, tolerance))
    n = dense.shape[1]
    if weights is None:
        weights = np.ones((1, n))
    weights = np.atleast_2d(weights)
    rows = max(len(dense), len(weights))
    keys = np.broadcast_to(dense, (rows, n)) + np.arange(0, rows * n, n)[:, None]
    drawn = np.broadcast_to(weights, (rows, n))
    in_group = np.bincount(keys.ravel(), drawn.ravel(), rows * n).reshape(rows, n)
    middle = np.cumsum(in_group, axis=1) - 0.5 * (in_group - 1.0)
    return np.asarray(middle.ravel()[keys])


def _pearson(
    x: FloatArray,
    z: FloatArray,
    weights: FloatArray | None,
    x_tolerance: float,
    z_tolerance: float,
    rows: int,
) -> FloatArray:
    x, z = np.atleast_2d(x), np.atleast_2d(z)
    none = constant_rows(x, weights, x_tolerance) | constant_rows(z, weights, z_tolerance)
    dx, dz = _deviations(x, weights), _deviations(z, weights)
    wx = dx if weights is None else dx * weights
    wz = dz if weights is None else dz * weights
    with np.errstate(invalid="ignore", divide="ignore"):
        norms = np.sqrt((wx * dx).sum(axis=1)) * np.sqrt((wz * dz).sum(axis=1))
        r = np.clip((wx * dz).sum(axis=1) / norms, -1.0, 1.0)
    r[np.broadcast_to(none, r.shape)] = np.nan
    return np.array(np.broadcast_to(r, (rows,)))


def _deviations(x: FloatArray, weights: FloatArray | None) -> FloatArray:
    """x less its weighted mean, scaled so that no square under- or overflows."""
    if weights is None:
        means = x.mean(axis=1, keepdims=True)
        drawn = x - means
    else:
        weights = np.atleast_2d(weights)
        total = weights.sum(axis=1, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = (weights * x).sum(axis=1, keepdims=True) / total
        drawn = x - means
        drawn = np.where(weights > 0, drawn, 0.0)
    scale = np.abs(drawn).max(axis=1, keepdims=True)
    return np.asarray(drawn / np.where(scale > 0, scale, 1.0))


def _paired(
    x: FloatArray,
    z: FloatArray,
    weights: FloatArray | None,
    coefficient: Coefficient,
    tolerances: tuple[float, float],
    rows: int,
) -> FloatArray:
    """The three coefficients over pairs of items, by the signs of all pairs' differences."""
    x, z = np.atleast_2d(x), np.atleast_2d(z)
    n = x.shape[1]
    one, two = np.triu_indices(n, 1)
    block = max(1, _PAIR_CELLS // one.size)
    result = np.empty(rows)
    fixed = {name: _signs(a, one, two, t) for name, a, t in (("x", x, tolerances[0]),
             ("z", z, tolerances[1])) if len(a) == 1}  # fmt: skip
    for start in range(0, rows, block):
        part = slice(start, start + block)
        sx = fixed["x"] if "x" in fixed else _signs(x[part], one, two, tolerances[0])
        sz = fixed["z"] if "z" in fixed else _signs(z[part], one, two, tolerances[1])
        w = None
        if weights is not None:
            w = weights if weights.ndim == 1 or len(weights) == 1 else weights[part]
            w = np.atleast_2d(w)
        pairs = None if w is None else w[:, one] * w[:, two]
        result[part] = _pair_value(sx, sz, pairs, coefficient)
        if coefficient == "kendall_c":
            total = np.full(1, float(n)) if w is None else w.sum(axis=1)
            distinct = np.minimum(
                _distinct(x if len(x) == 1 else x[part], w, tolerances[0]),
                _distinct(z if len(z) == 1 else z[part], w, tolerances[1]),
            )
            with np.errstate(invalid="ignore", divide="ignore"):
                result[part] *= 2.0 / (total**2 * (distinct - 1) / distinct)
    return result


def _signs(x: FloatArray, one: IntArray, two: IntArray, tolerance: float) -> NDArray[np.int8]:
    difference = x[:, one] - x[:, two]
    return np.subtract(difference > tolerance, difference < -tolerance, dtype=np.int8)


def _pair_value(
    sx: NDArray[np.int8],
    sz: NDArray[np.int8],
    pairs: FloatArray | None,
    coefficient: Coefficient,
) -> FloatArray:
    def total(flags: NDArray[np.int8] | NDArray[np.bool_]) -> FloatArray:
        if pairs is None:
            return np.asarray(flags.sum(axis=1, dtype=np.int64).astype(np.float64))
        return np.asarray((pairs * flags).sum(axis=1))

    if coefficient == "pairwise":
        agree = total(sx == sz)
        all_pairs = np.full(1, float(sx.shape[1])) if pairs is None else pairs.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(agree / all_pairs)
    balance = total(sx * sz)
    untied_x, untied_z = total(sx != 0), total(sz != 0)
    if coefficient == "kendall_c":
        return np.where((untied_x == 0) | (untied_z == 0), np.nan, balance)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(balance / (np.sqrt(untied_x * untied_z)))


def _distinct(x: FloatArray, weights: FloatArray | None, tolerance: float) -> FloatArray:
    dense = dense_ranks(x, tolerance)
    if weights is None:
        return np.asarray(dense.max(axis=1) + 1.0)
    rows, n = max(len(dense), len(weights)), dense.shape[1]
    keys = np.broadcast_to(dense, (rows, n)) + np.arange(0, rows * n, n)[:, None]
    drawn = np.broadcast_to(weights, (rows, n))
    in_group = np.bincount(keys.ravel(), drawn.ravel(), rows * n).reshape(rows, n)
    return np.asarray((in_group > 0).sum(axis=1), dtype=np.float64)


def _long_rows(
    x: FloatArray,
    z: FloatArray,
    weights: FloatArray | None,
    coefficient: Coefficient,
    tolerances: tuple[float, float],
    rows: int,
) -> FloatArray:
    """The same for long vectors, one at a time in O(n log n) by scipy, repeated items repeated."""
    n = x.shape[-1]
    dense = [
        np.broadcast_to(dense_ranks(a, t), (rows, n))
        for a, t in zip((np.atleast_2d(x), np.atleast_2d(z)), tolerances, strict=True)
    ]
    if weights is None:
        weights = np.ones(n)
    drawn = np.broadcast_to(weights, (rows, n)).astype(np.int64)
    return np.array(
        [_long_row(a, b, w, coefficient) for a, b, w in zip(*dense, drawn, strict=True)]
    )


def _long_row(x: IntArray, z: IntArray, weights: IntArray, coefficient: Coefficient) -> float:
    from scipy.stats import kendalltau

    a, b = np.repeat(x, weights), np.repeat(z, weights)
    if coefficient != "pairwise":
        if a.size < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
            return float("nan")
        return float(kendalltau(a, b, variant="c" if coefficient == "kendall_c" else "b")[0])

    def tied(keys: IntArray) -> float:
        """Pairs with equal keys, the pairs of two draws of one item left out."""
        w = np.bincount(np.unique(keys, return_inverse=True)[1], weights)
        return float((w * w).sum() - (weights * weights).sum()) / 2.0

    pairs = (float(weights.sum()) ** 2 - float((weights * weights).sum())) / 2.0
    tx, tz, txz = tied(x), tied(z), tied(x * (z.max() + 1) + z)
    if pairs == 0:
        return float("nan")
    decided = pairs - tx - tz + txz
    balance = 0.0
    if decided:
        tau = float(kendalltau(a, b)[0])
        balance = tau * ((pairs - tx) * (pairs - tz)) ** 0.5
    return ((decided + balance) / 2.0 + txz) / pairs
