"""Permutation tests: PERM-SYSTEMS, PERM-INPUTS, PERM-BOTH (DDR21 §4.2), without permuting.

A sample swaps the scores of X and Y where a coin falls on -1: x' = (x + y)/2 + u (x - y)/2. What a
test needs is a polynomial in the coins u: averages and moments are linear; the sign of x'_i - x'_l
is ¼ (A + u_i B + u_l C + u_i u_l E) with matrices of the signs among and between the two metrics.
And y' is x' under -u, so half of the terms cancel in the difference: where no scores tie, that of
Kendall's and of Spearman's coefficients is one scalar product.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from litepyramid.blas import single_threaded
from litepyramid.errors import InputError, choose
from litepyramid.meta.core import draws
from litepyramid.meta.core.bootstrap import check_number
from litepyramid.meta.core.coefficients import (
    PAIRED,
    Coefficient,
    dense_ranks,
    midranks,
)
from litepyramid.meta.core.draws import Swapped, Swaps, coin_blocks, observed_coins
from litepyramid.meta.core.levels import (
    ConstantPolicy,
    Level,
    checked,
    mean_tolerance,
    row_values,
)
from litepyramid.meta.core.pairwise import SpaSwaps, TieAccuracySwaps
from litepyramid.meta.core.permutation_by_input import (
    ColumnRanks,
    ColumnsOneByOne,
    Moments,
    Scores,
)
from litepyramid.stats import system_means
from litepyramid.types import FloatArray


@single_threaded
def permutation_samples(
    X: FloatArray,
    Y: FloatArray,
    Z: FloatArray,
    level: Level = "system",
    coefficient: Coefficient = "pearson",
    swaps: Swaps = "both",
    *,
    samples: int = 1000,
    seed: int = 12345,
    constant: ConstantPolicy = "skip",
) -> tuple[float, FloatArray]:
    """The observed r(X, Z) - r(Y, Z) and its values when X and Y are swapped at random.

    X and Y are standardised over their whole matrix first (DDR21 Algorithm 2, line 1), Z never.

    Args:
        X: (N, M) scores, NaN = not scored; a cell missing in one of the three is left out of all.
        Y: (N, M) scores.
        Z: (N, M) scores.
        level: ``"system"``, ``"summary"`` or ``"global"``.
        coefficient: One of `litepyramid.meta.core.coefficients.COEFFICIENTS`.
        swaps: ``"systems"`` has a coin for each system, ``"inputs"`` for each input, ``"both"``
            for each cell (DDR21); ``"both_xor"`` swaps the cells of which either the system's or
            the input's coin says so, but not both (the nlpstats package).
        samples: Number of samples.
        seed: Seed of the coins.
        constant: Policy for constant vectors, as in `level_correlation`.

    Returns:
        The observed difference, and (samples,) float64; NaN where a sample has none.

    Example:
        >>> X, Z = np.arange(12.0).reshape(4, 3), np.arange(12.0).reshape(4, 3)
        >>> observed, drawn = permutation_samples(X, -X, Z, samples=3)
        >>> round(observed, 6), bool((np.abs(drawn) <= observed + 1e-12).all())
        (2.0, True)
    """
    choose("kind of swap", swaps, draws.SWAPS)
    check_number(samples)
    pair = prepare_pair(*standardised(X, Y, Z), level, coefficient, constant)
    observed = pair([observed_coins(X.shape, pair)])
    drawn = pair(coin_blocks(X.shape, pair, swaps, seed, range(-(-samples // draws.BLOCK))))
    return float(observed[0]), drawn[:samples]


def prepare_pair(
    X: FloatArray,
    Y: FloatArray,
    Z: FloatArray,
    level: Level,
    coefficient: Coefficient,
    constant: ConstantPolicy = "skip",
) -> Swapped:
    """Works out, for a pair of standardised metrics, all that does not depend on the coins."""
    checked(X, Z, level, coefficient, constant)
    if coefficient in PAIRED:
        return TieAccuracySwaps(X, Y, Z) if coefficient == "acc-eq" else SpaSwaps(X, Y, Z)
    scores = X, Y, Z
    if level == "system":
        return SystemSwaps(scores, coefficient, constant)
    if level == "global":
        return GlobalSwaps(scores, coefficient, constant)
    if coefficient == "kendall_c" or constant == "zb21":
        return ColumnsOneByOne(scores, coefficient, constant)
    if coefficient == "pearson":
        return Moments(scores, constant)
    return ColumnRanks(scores, coefficient, constant)


def standardised(
    X: FloatArray, Y: FloatArray, Z: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """X and Y less their mean, over their standard deviation; cells that one lacks NaN in all.

    Scores that become equal but for rounding (Y is X in per cent, say) are made equal.

    Raises:
        InputError: The shapes differ.
    """
    X, Y, Z = (np.asarray(a, dtype=np.float64) for a in (X, Y, Z))
    if not X.shape == Y.shape == Z.shape or X.ndim != 2:
        raise InputError(
            f"score matrices of the shapes {X.shape}, {Y.shape} and {Z.shape}",
            expected="(systems, inputs), the same for all three",
        )
    missing = np.isnan(X) | np.isnan(Y) | np.isnan(Z)
    both = []
    for scores in (X, Y):
        some = scores[~missing]
        centred = scores - (some.mean() if some.size else 0.0)
        spread = some.std() if some.size else 0.0
        # A constant metric has no spread; rounding may leave it a trace of one.
        flat = some.size == 0 or np.ptp(some) == 0 or spread == 0
        both.append(np.where(missing, np.nan, centred * 0.0 if flat else centred / spread))
    pooled = np.stack(both)
    kept = ~np.isnan(pooled)
    if (values := pooled[kept]).size:
        ordered = np.sort(values)
        tolerance = 1e-12 * max(1.0, float(np.abs(ordered[[0, -1]]).max()))
        first = np.concatenate([[True], np.diff(ordered) > tolerance])
        pooled[kept] = ordered[first][dense_ranks(values, tolerance)]
    return pooled[0], pooled[1], np.where(missing, np.nan, Z)


class SystemSwaps(Swapped):
    """System level: averages under swaps are linear in the coins."""

    def __init__(self, scores: Scores, coefficient: Coefficient, policy: ConstantPolicy) -> None:
        X, Y, Z = scores
        scored = ~np.isnan(Z)
        kept = scored.any(axis=1)
        number = np.maximum(scored.sum(axis=1, keepdims=True), 1)
        self._half = np.where(scored, X - Y, 0.0) / (2.0 * number)
        self._middle = np.where(scored, X + Y, 0.0).sum(axis=1, keepdims=True) / (2.0 * number)
        self._z = system_means(Z)[kept]
        self._kept = np.nonzero(kept)[0]
        self._tolerance = max(mean_tolerance(X), mean_tolerance(Y))
        self._z_tolerance = mean_tolerance(Z)
        self._coefficient, self._policy = coefficient, policy

    def __call__(self, blocks: Iterable[FloatArray]) -> FloatArray:
        """r(X', Z) - r(Y', Z) for blocks of coins, (N, M, B) each."""
        return self.moved(self.shifts(blocks))

    def shifts(self, blocks: Iterable[FloatArray]) -> FloatArray:
        """(N, samples): what the averages of X gain and those of Y lose."""
        moved = [np.matmul(self._half[:, None, :], u)[:, 0, :] for u in blocks]
        return np.concatenate(moved, axis=1)

    def moved(self, shift: FloatArray, other: SystemSwaps | None = None) -> FloatArray:
        """r(X', Z) - r(Y', Z) for averages moved by `shift`.

        All is linear in the scores: two metrics that are prepared alone, each against 0, are a pair
        when the one is moved by the difference of their shifts, and told the `other`.
        """
        x, y, tolerance = self._averages(shift, other)
        how = self._coefficient, self._policy, None, tolerance, self._z_tolerance
        rx, ry = (row_values(np.ascontiguousarray(a.T), self._z, *how) for a in (x, y))
        return np.asarray(rx - ry)

    def terms(self, shift: FloatArray, other: SystemSwaps) -> FloatArray:
        """(samples, N): each system's part in the difference of two rank coefficients' numerators.

        Σ a_il sign(x'_i - x'_l) is quadratic in coins that swap whole systems; of the difference
        of that and the same for y' only the linear part 2 L·u is left, ties or not. Turning all
        coins of a system over changes the sign of its L_i, and nothing else.
        """
        x, y, tolerance = self._averages(shift, other)
        ranks = midranks(self._z, None, self._z_tolerance)[0]
        a = ranks[:, None] - ranks
        if self._coefficient != "spearman":
            a = np.sign(a)
        parts = np.empty(x.shape)
        for i in range(len(x)):
            signs = np.zeros(x.shape, dtype=np.int8)
            for row, sign in ((x[i], 1), (y[i], -1)):
                for others in (x, y):
                    signs += sign * (
                        (others < row - tolerance).view(np.int8)
                        - (others > row + tolerance).view(np.int8)
                    )
            parts[i] = a[i] @ signs
        return parts.T

    def _averages(
        self, shift: FloatArray, other: SystemSwaps | None
    ) -> tuple[FloatArray, FloatArray, float]:
        shift, middle, tolerance = shift[self._kept], self._middle[self._kept], self._tolerance
        if other is not None:
            middle = middle + other._middle[self._kept]
            tolerance = max(tolerance, other._tolerance)
        return middle + shift, middle - shift, tolerance


class GlobalSwaps(ColumnsOneByOne):
    """Global level: the swapped scores themselves; all cells are those of one input."""

    by_input = False

    def __init__(self, scores: Scores, coefficient: Coefficient, policy: ConstantPolicy) -> None:
        X, Y, Z = (side.reshape(-1, 1) for side in scores)
        super().__init__((X, Y, Z), coefficient, policy)

    def _sides(self, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        return super()._sides(u.reshape(1, -1, u.shape[2]))
