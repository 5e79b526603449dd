"""Bootstrap of correlations: BOOT-SYSTEMS, BOOT-INPUTS, BOOT-BOTH (DDR21 §3.2), all at once.

A sample with replacement is a number of draws for each system and each input. A product of those
numbers with the scores gives every sample's averages; systems drawn more than once keep one row and
carry a weight.
"""

from __future__ import annotations

import numpy as np

from litepyramid.blas import single_threaded
from litepyramid.errors import InputError, choose
from litepyramid.meta.core import draws
from litepyramid.meta.core.by_input import ColumnCorrelations
from litepyramid.meta.core.coefficients import PAIRED, Coefficient
from litepyramid.meta.core.draws import Sampling
from litepyramid.meta.core.levels import (
    ConstantPolicy,
    Level,
    checked,
    mean_tolerance,
    row_values,
)
from litepyramid.meta.core.pairwise import Resample, resampled
from litepyramid.stats import resampled_means
from litepyramid.text import counted
from litepyramid.types import FloatArray


@single_threaded
def bootstrap_samples(
    X: FloatArray,
    Z: FloatArray,
    level: Level = "system",
    coefficient: Coefficient = "pearson",
    sampling: Sampling = "both",
    *,
    samples: int = 1000,
    seed: int = 12345,
    constant: ConstantPolicy = "skip",
    paired_inputs: bool = True,
) -> FloatArray:
    """The correlation of X with Z on resamples (DDR21 Algorithm 1).

    Args:
        X: (N, M) scores, NaN = not scored.
        Z: (N, M) scores; at system level (N, any number) if the inputs are not paired.
        level: ``"system"``, ``"summary"`` or ``"global"``.
        coefficient: One of `litepyramid.meta.core.coefficients.COEFFICIENTS`.
        sampling: What is resampled with replacement: ``"systems"``, ``"inputs"`` or ``"both"``.
        samples: Number of samples.
        seed: Seed of the draws; equal seeds give all metrics the same samples.
        constant: Policy for constant vectors, as in `level_correlation`.
        paired_inputs: Whether X and Z share the draw of inputs. False, at system level only, draws
            each side over inputs of its own (DDR22 §3.2).

    Returns:
        (samples,) float64; NaN if a sample has no correlation (for example, all its systems tie).

    Example:
        >>> X = np.arange(12.0).reshape(4, 3)
        >>> bootstrap_samples(X, 2 * X, samples=2, seed=1).round(6).tolist()
        [1.0, 1.0]
    """
    X, Z = checked(X, Z, level, coefficient, constant, paired=paired_inputs)
    choose("sampling", sampling, draws.SAMPLINGS)
    check_number(samples)
    if not paired_inputs and level != "system":
        raise InputError(
            f"unpaired inputs at {level} level",
            expected="the system level",
            hint="Only averages over inputs can be taken over different inputs.",
        )
    n, m = X.shape
    paired = coefficient in PAIRED
    evaluate: Resample = (
        resampled(X, Z, coefficient) if paired else Resampled(X, Z, level, coefficient, constant)
    )
    width = n * m if level == "global" else max(n * n, m, Z.shape[1])
    parts = []
    for start, stop in draws.chunks(samples, width):
        systems = inputs = other = None
        if sampling != "inputs":
            systems = draws.counts(seed, draws.SYSTEMS, n, start, stop)
        if sampling != "systems":
            inputs = draws.counts(seed, draws.INPUTS, m, start, stop)
            if not paired_inputs:
                other = draws.counts(seed, draws.OTHER_INPUTS, Z.shape[1], start, stop)
        parts.append(evaluate(systems, inputs, other))
    return np.concatenate(parts)


def check_number(samples: int) -> None:
    """Raises InputError unless it is a positive number of samples."""
    if samples < 1:
        raise InputError(counted(samples, "sample"), expected="1 or more")


class Resampled:
    """The correlation of two matrices under given numbers of draws of their rows and columns.

    Args:
        X: (N, M) scores, NaN = not scored.
        Z: (N, M) scores; at system level (N, any number).
        level: ``"system"``, ``"summary"`` or ``"global"``.
        coefficient: The coefficient.
        constant: The policy for constant vectors.
    """

    def __init__(
        self,
        X: FloatArray,
        Z: FloatArray,
        level: Level,
        coefficient: Coefficient,
        constant: ConstantPolicy = "skip",
    ) -> None:
        self.level = level
        self.coefficient = coefficient
        self.constant: ConstantPolicy = "skip" if coefficient == "pairwise" else constant
        # Columns that lie together make the products with the draws quicker.
        self.X, self.Z = np.asfortranarray(X), np.asfortranarray(Z)
        if level == "system":
            self._slack = mean_tolerance(X), mean_tolerance(Z)
        else:
            self.scored = ~(np.isnan(X) | np.isnan(Z))
            self._columns = ColumnCorrelations(X, Z, coefficient) if level == "summary" else None

    def __call__(
        self,
        systems: FloatArray | None,
        inputs: FloatArray | None,
        other_inputs: FloatArray | None = None,
    ) -> FloatArray:
        """The correlation on each sample.

        Args:
            systems: (B, N) number of draws of each system; None: each once.
            inputs: (B, M) number of draws of each input; None: each once.
            other_inputs: The same for Z's inputs, where they are drawn apart; None: as `inputs`.
        """
        if self.level == "system":
            return self._system(systems, inputs, inputs if other_inputs is None else other_inputs)
        if self._columns is not None:
            return self._summary(self._columns, systems, inputs)
        return self._global(systems, inputs)

    def _system(
        self,
        systems: FloatArray | None,
        inputs: FloatArray | None,
        other_inputs: FloatArray | None,
    ) -> FloatArray:
        x, z = (
            resampled_means(side, np.ones((1, side.shape[1])) if drawn is None else drawn)
            for side, drawn in ((self.X, inputs), (self.Z, other_inputs))
        )
        missing = np.isnan(x) | np.isnan(z)
        if missing.any():
            systems = np.where(missing, 0.0, 1.0 if systems is None else systems)
            x, z = np.nan_to_num(x), np.nan_to_num(z)
        return row_values(x, z, self.coefficient, self.constant, systems, *self._slack)

    def _summary(
        self,
        columns: ColumnCorrelations,
        systems: FloatArray | None,
        inputs: FloatArray | None,
    ) -> FloatArray:
        weights = np.ones((1, len(self.X))) if systems is None else systems
        r = columns(weights)
        if self.constant != "skip" and np.isnan(r).any():
            sample, column = np.nonzero(np.isnan(r))
            x, z = columns.X[:, column].T, columns.Z[:, column].T
            drawn = weights[sample] * self.scored[:, column].T
            r[sample, column] = row_values(x, z, self.coefficient, self.constant, drawn)
        valid = ~np.isnan(r)
        r = np.where(valid, r, 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            if inputs is None:
                return np.asarray(r.sum(axis=1) / valid.sum(axis=1))
            return np.asarray((inputs * r).sum(axis=1) / (inputs * valid).sum(axis=1))

    def _global(self, systems: FloatArray | None, inputs: FloatArray | None) -> FloatArray:
        x, z = self.X[self.scored], self.Z[self.scored]
        n, m = self.X.shape
        w_systems = np.ones((1, n)) if systems is None else systems
        w_inputs = np.ones((1, m)) if inputs is None else inputs
        weights = (w_systems[:, :, None] * w_inputs[:, None, :])[:, self.scored]
        return row_values(x[None], z[None], self.coefficient, self.constant, weights)
