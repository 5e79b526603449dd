"""Bootstrap of correlations: BOOT-SYSTEMS, BOOT-INPUTS, BOOT-BOTH, all samples at once.

A sample with replacement (Deutsch, Dror & Roth 2021, section 3.2) is a number of draws
for each system and each input. A product of those numbers with the scores gives every
sample's averages; systems drawn more than once keep one row and carry a weight. At
summary level, what does not depend on the draws is prepared once: moments for Pearson,
"how many drawn systems stand below this one" for Spearman, signs of all pairs for
Kendall. All counts in them are small integers and halves: exact in any order of
summation.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from litepyramid.blas import single_threaded
from litepyramid.meta.core import draws
from litepyramid.meta.core.draws import Sampling
from litepyramid.meta.core.levels import (
    PAIRED,
    Coefficient,
    Level,
    TieAccuracy,
    correlate_rows,
    mean_tolerance,
    spa,
)
from litepyramid.stats import resampled_means
from litepyramid.types import FloatArray

Draws = FloatArray | None
"""(B, N) or (B, M) how often each system or input is drawn in each sample; None:
once."""

_PAIR_CELLS = 2_000_000
_EXACT32 = 1 << 23


@single_threaded
def bootstrap_samples(
    X: FloatArray,
    Z: FloatArray,
    level: Level,
    coefficient: Coefficient,
    sampling: Sampling = "both",
    *,
    samples: int = 1000,
    seed: int = 12345,
    paired_inputs: bool = True,
) -> FloatArray:
    """(samples,) the correlation of (N, M) X and Z on samples with replacement, NaN if
    undefined.

    Equal seeds give all metrics the same samples. Without `paired_inputs`, at system
    level only, Z is (N, any number), and each side is drawn over inputs of its own
    (DDR22 §3.2).
    """
    n, m = X.shape
    evaluate = Resampled(X, Z, level, coefficient)
    width = n * m if level == "global" else max(n * n, m, Z.shape[1])
    parts = []

    for start, stop in draws.chunks(samples, width):
        systems = inputs = other = None
        if sampling != "inputs":
            systems = draws.counts(
                seed,
                draws.SYSTEMS,
                n,
                start,
                stop,
            )
        if sampling != "systems":
            inputs = draws.counts(
                seed,
                draws.INPUTS,
                m,
                start,
                stop,
            )
            if not paired_inputs:
                other = draws.counts(
                    seed,
                    draws.OTHER_INPUTS,
                    Z.shape[1],
                    start,
                    stop,
                )
        parts.append(evaluate(systems, inputs, other))

    return np.concatenate(parts)


class Resampled:
    """The correlation of two matrices under given numbers of draws of their rows and
    columns."""

    def __init__(
        self, X: FloatArray, Z: FloatArray, level: Level, coefficient: Coefficient
    ) -> None:
        self.level, self.coefficient = level, coefficient
        # Columns that lie together make the products with the draws quicker.
        self.X, self.Z = np.asfortranarray(X), np.asfortranarray(Z)
        if coefficient in PAIRED:
            self._pairs = TieAccuracy.of(X, Z)
        elif level == "system":
            self._slack = mean_tolerance(X), mean_tolerance(Z)
        elif level == "summary":
            self._columns = ColumnCorrelations(X, Z, coefficient)
        else:
            self._scored = ~(np.isnan(X) | np.isnan(Z))

    def __call__(
        self, systems: Draws, inputs: Draws, other_inputs: Draws = None
    ) -> FloatArray:
        """The correlation on each sample; `other_inputs` are Z's, where they are drawn
        apart."""
        if self.coefficient in PAIRED:
            return self._paired(systems, inputs)
        if self.level == "system":
            return self._system(
                systems, inputs, inputs if other_inputs is None else other_inputs
            )
        if self.level == "summary":
            return self._summary(systems, inputs)
        return self._global(systems, inputs)

    def _paired(self, systems: Draws, inputs: Draws) -> FloatArray:
        """One sample after the other; ε is fitted to each."""
        values = []
        for b in range(
            max(len(side) for side in (systems, inputs) if side is not None)
        ):
            w, v = (None if side is None else side[b] for side in (systems, inputs))
            if self.coefficient == "acc-eq":
                values.append(self._pairs.best(w, v)[0])
            else:
                drawn = (
                    slice(None)
                    if v is None
                    else np.repeat(np.arange(len(v)), v.astype(int))
                )
                values.append(spa(self.X[:, drawn], self.Z[:, drawn], w))

        return np.array(values)

    def _system(self, systems: Draws, inputs: Draws, other_inputs: Draws) -> FloatArray:
        x, z = (
            resampled_means(
                side, np.ones((1, side.shape[1])) if drawn is None else drawn
            )
            for side, drawn in ((self.X, inputs), (self.Z, other_inputs))
        )
        missing = np.isnan(x) | np.isnan(z)
        if missing.any():
            systems = np.where(missing, 0.0, 1.0 if systems is None else systems)
            x, z = np.nan_to_num(x), np.nan_to_num(z)

        slacks = {"x_tolerance": self._slack[0], "z_tolerance": self._slack[1]}
        return correlate_rows(
            x,
            z,
            self.coefficient,
            systems,
            **slacks,
        )

    def _summary(self, systems: Draws, inputs: Draws) -> FloatArray:
        r = self._columns(np.ones((1, len(self.X))) if systems is None else systems)
        valid = ~np.isnan(r)
        r = np.where(valid, r, 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            if inputs is None:
                return np.asarray(r.sum(axis=1) / valid.sum(axis=1))
            return np.asarray((inputs * r).sum(axis=1) / (inputs * valid).sum(axis=1))

    def _global(self, systems: Draws, inputs: Draws) -> FloatArray:
        x = self.X[self._scored]
        z = self.Z[self._scored]
        w_systems = np.ones((1, len(self.X))) if systems is None else systems
        w_inputs = np.ones((1, self.X.shape[1])) if inputs is None else inputs
        weights = (w_systems[:, :, None] * w_inputs[:, None, :])[:, self._scored]
        return correlate_rows(x[None], z[None], self.coefficient, weights)


class ColumnCorrelations:
    """The coefficients of the columns of X with those of Z, for any draws of the
    systems."""

    def __init__(self, X: FloatArray, Z: FloatArray, coefficient: Coefficient) -> None:
        self.scored = ~(np.isnan(X) | np.isnan(Z))
        self.coefficient = coefficient
        self.X = np.where(self.scored, X, 0.0)
        self.Z = np.where(self.scored, Z, 0.0)
        if coefficient == "pearson":
            self._centred = [_centred(side, self.scored) for side in (self.X, self.Z)]
        elif coefficient == "spearman":
            self._below = [_below(side, self.scored) for side in (self.X, self.Z)]

    def __call__(self, weights: FloatArray) -> FloatArray:
        """The coefficients under (B, N) numbers of draws: (B, M), NaN where one is
        constant."""
        ways = {"pearson": self._pearson, "spearman": self._spearman}
        return ways.get(self.coefficient, self._kendall)(weights)

    def _pearson(self, weights: FloatArray) -> FloatArray:
        dx, dz = self._centred
        n = weights @ self.scored
        with np.errstate(invalid="ignore", divide="ignore"):
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
            r[row, column] = correlate_rows(x, z, "pearson", w)

        return np.asarray(np.clip(r, -1.0, 1.0))

    def _spearman(self, weights: FloatArray) -> FloatArray:
        kind: Any = (
            np.float32 if weights.sum(axis=1).max(initial=0) <= 128 else np.float64
        )
        drawn = np.ascontiguousarray(weights.T, dtype=kind)
        result = np.empty((self.X.shape[1], len(weights)))

        for column, (below_x, below_z) in enumerate(zip(*self._below, strict=True)):
            # The midrank of a system, less the mean of all: (drawn below it - above it)
            # / 2.
            x = below_x.astype(kind) @ drawn
            z = below_z.astype(kind) @ drawn
            sizes = (
                (side * side * drawn).sum(axis=0, dtype=np.float64) for side in (x, z)
            )
            with np.errstate(invalid="ignore", divide="ignore"):
                result[column] = (x * z * drawn).sum(axis=0) / np.sqrt(
                    np.prod([*sizes], axis=0)
                )

        return np.clip(result, -1.0, 1.0, out=result).T

    def _kendall(self, weights: FloatArray) -> FloatArray:
        one, two = np.triu_indices(len(self.X), 1)
        rows = len(weights)
        m = self.X.shape[1]
        balance, untied_x, untied_z = (np.zeros((rows, m)) for _ in range(3))
        kind: Any = (
            np.float32
            if weights.sum(axis=1).max(initial=0) ** 2 < _EXACT32
            else np.float64
        )
        pairs_at_once = max(1, _PAIR_CELLS // max(m, rows))

        for start in range(0, one.size, pairs_at_once):
            i = one[start : start + pairs_at_once]
            j = two[start : start + pairs_at_once]
            pairs = weights[:, i].astype(kind) * weights[:, j].astype(kind)
            both = self.scored[i] & self.scored[j]
            sx, sz = (
                np.subtract(side[i] > side[j], side[i] < side[j], dtype=np.int8) * both
                for side in (self.X, self.Z)
            )
            balance += pairs @ (sx * sz).astype(kind)
            untied_x += _untied(pairs, sx)
            untied_z += _untied(pairs, sz)

        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(balance / np.sqrt(untied_x * untied_z))


def _untied(
    pairs: NDArray[np.floating], signs: NDArray[np.int8]
) -> NDArray[np.floating]:
    """Untied pairs under each draw; where no pair is tied this is one sum for all
    columns."""
    if signs.all():
        return np.asarray(pairs.sum(axis=1, keepdims=True))
    return np.asarray(pairs @ (signs != 0).astype(pairs.dtype))


def _centred(x: FloatArray, scored: NDArray[np.bool_]) -> FloatArray:
    """Columns less their mean, over their largest deviation: well-conditioned
    moments."""
    count = np.maximum(scored.sum(axis=0), 1)
    dx = np.where(scored, x - x.sum(axis=0) / count, 0.0)
    scale = np.abs(dx).max(axis=0, initial=0.0)
    return np.asarray(dx / np.where(scale > 0, scale, 1.0))


def _below(x: FloatArray, scored: NDArray[np.bool_]) -> NDArray[np.float32]:
    """(M, N, N): ½ where the last system stands below the middle one, -½ above, else
    0."""
    one = x.T[:, :, None]
    two = x.T[:, None, :]
    half = np.subtract(one > two, one < two, dtype=np.float32) * np.float32(0.5)
    return np.asarray(half * (scored.T[:, :, None] & scored.T[:, None, :]))
