"""Coefficients of the columns of two matrices, for any draws of their systems.

What does not depend on the draws is prepared once: moments for Pearson, "how many drawn
systems stand below this one" for Spearman, signs of all pairs for Kendall. All counts
in them are small integers and halves: exact in any order of summation.
"""

import numpy as np
from numpy.typing import NDArray

from litepyramid.meta.core.vectors import of_rows, pearson_rows
from litepyramid.stats import undefined
from litepyramid.types import BoolArray, FloatArray, IntArray

_PAIR_CELLS = 2_000_000
_EXACT32 = 1 << 23


class Columns:
    """The coefficients of the columns of X with those of Z under (B, N) numbers of
    draws: (B, M), NaN where one is constant."""

    def __init__(self, X: FloatArray, Z: FloatArray) -> None:
        self.scored = ~(np.isnan(X) | np.isnan(Z))
        self.X = np.where(self.scored, X, 0.0)
        self.Z = np.where(self.scored, Z, 0.0)


class PearsonColumns(Columns):
    """By moments of centred columns."""

    def __init__(self, X: FloatArray, Z: FloatArray) -> None:
        super().__init__(X, Z)
        self._centred = [_centred(side, self.scored) for side in (self.X, self.Z)]

    def __call__(self, weights: FloatArray) -> FloatArray:
        """Those of the moments, but where they are noise."""
        dx, dz = self._centred
        n = weights @ self.scored
        with undefined():
            mx = weights @ dx / n
            mz = weights @ dz / n
            xx = weights @ (dx * dx) / n
            zz = weights @ (dz * dz) / n
            vx = xx - mx * mx
            vz = zz - mz * mz
            r = (weights @ (dx * dz) / n - mx * mz) / np.sqrt(vx * vz)

        # Where the draws hold nearly one value only, the differences above are noise:
        # there, do it again in two passes, which sees constants exactly.
        doubtful = ~((vx > 1e-4 * xx) & (vz > 1e-4 * zz) & (xx > 1e-6) & (zz > 1e-6))
        row, column = np.nonzero(doubtful)
        if row.size:
            w = weights[row] * self.scored[:, column].T
            x = self.X[:, column].T
            z = self.Z[:, column].T
            r[row, column] = of_rows(pearson_rows, x, z, w)

        return np.clip(r, -1.0, 1.0)


class SpearmanColumns(Columns):
    """By the midranks of the systems drawn."""

    def __init__(self, X: FloatArray, Z: FloatArray) -> None:
        super().__init__(X, Z)
        self._below = [_below(side, self.scored) for side in (self.X, self.Z)]

    def __call__(self, weights: FloatArray) -> FloatArray:
        """Those of how many drawn systems stand below each one."""
        kind = (
            # Sums of so few halves are exact in 24 bits, and float32 takes half the
            # time.
            np.float32 if weights.sum(axis=1).max(initial=0) <= 128 else np.float64
        )
        drawn = np.ascontiguousarray(weights.T, dtype=kind)
        result = np.empty((self.X.shape[1], len(weights)))

        for column, (below_x, below_z) in enumerate(zip(*self._below, strict=True)):
            # The midrank of a system, less the mean of all: (drawn below it - above it)
            # / 2.
            x = below_x.astype(kind) @ drawn
            z = below_z.astype(kind) @ drawn
            size_x = (x * x * drawn).sum(axis=0, dtype=float)
            size_z = (z * z * drawn).sum(axis=0, dtype=float)
            shared = (x * z * drawn).sum(axis=0)
            with undefined():
                result[column] = shared / np.sqrt(size_x * size_z)

        return np.clip(result, -1.0, 1.0, out=result).T


class KendallColumns(Columns):
    """By the signs of all pairs of systems."""

    def __call__(self, weights: FloatArray) -> FloatArray:
        """Those of the signs of all pairs."""
        # A pair counts as often as both its systems are drawn together.
        one, two = np.triu_indices(len(self.X), 1)
        rows = len(weights)
        m = self.X.shape[1]
        balance, untied_x, untied_z = np.zeros((3, rows, m))
        kind = (
            np.float32
            if weights.sum(axis=1).max(initial=0) ** 2 < _EXACT32
            else np.float64
        )
        # Kendall's pairs of many systems, inputs and draws would not fit in memory.
        pairs_at_once = max(1, _PAIR_CELLS // max(m, rows))

        for start in range(0, one.size, pairs_at_once):
            i = one[start : start + pairs_at_once]
            j = two[start : start + pairs_at_once]
            pairs = weights[:, i].astype(kind) * weights[:, j].astype(kind)
            both = self.scored[i] & self.scored[j]
            sx = _signs(self.X, i, j) * both
            sz = _signs(self.Z, i, j) * both
            balance += pairs @ (sx * sz).astype(kind)
            untied_x += _untied(pairs, sx)
            untied_z += _untied(pairs, sz)

        with undefined():
            return balance / np.sqrt(untied_x * untied_z)


def _signs(x: FloatArray, i: IntArray, j: IntArray) -> NDArray[np.int8]:
    """(pairs, M): 1 where the first of a pair is larger, -1 where the second is."""
    return np.subtract(x[i] > x[j], x[i] < x[j], dtype=np.int8)


def _untied(
    pairs: NDArray[np.floating], signs: NDArray[np.int8]
) -> NDArray[np.floating]:
    """Untied pairs under each draw; where no pair is tied this is one sum for all
    columns."""
    if signs.all():
        return np.asarray(pairs.sum(axis=1, keepdims=True))
    return np.asarray(pairs @ (signs != 0).astype(pairs.dtype))


def _centred(x: FloatArray, scored: BoolArray) -> FloatArray:
    """Columns less their mean, over their largest deviation: well-conditioned
    moments."""
    count = np.maximum(scored.sum(axis=0), 1)
    dx = np.where(scored, x - x.sum(axis=0) / count, 0.0)
    scale = np.abs(dx).max(axis=0, initial=0.0)
    return dx / np.where(scale > 0, scale, 1.0)


def _below(x: FloatArray, scored: BoolArray) -> NDArray[np.float32]:
    """(M, N, N): ½ where the last system stands below the middle one, -½ above, else
    0."""
    one = x.T[:, :, None]
    two = x.T[:, None, :]
    half = np.subtract(one > two, one < two, dtype=np.float32) * np.float32(0.5)
    return half * (scored.T[:, :, None] & scored.T[:, None, :])
