"""Bootstrap of correlations: BOOT-SYSTEMS, BOOT-INPUTS, BOOT-BOTH, all samples at once.

A sample with replacement (Deutsch, Dror & Roth 2021, section 3.2) is a number of draws
for each system and each input. A product of those numbers with the scores gives every
sample's averages; systems drawn more than once keep one row and carry a weight.
"""

from itertools import repeat

import numpy as np

from litepyramid.blas import single_threaded
from litepyramid.meta.core import draws
from litepyramid.meta.core.draws import Sampling
from litepyramid.meta.core.levels import (
    COEFFICIENTS,
    PAIRED,
    Coefficient,
    Level,
    correlate_rows,
    mean_tolerance,
)
from litepyramid.stats import resampled_means, undefined
from litepyramid.types import FloatArray

Draws = FloatArray | None
"""(B, N) or (B, M) how often each system or input is drawn in each sample; None:
once."""


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
    # The largest array that one sample needs on its way.
    width = n * m if level == "global" else max(n * n, m, Z.shape[1])
    parts = []

    for chunk in draws.chunks(samples, width):
        systems = inputs = other = None
        if sampling != "inputs":
            systems = draws.counts(seed, draws.SYSTEMS, n, *chunk)

        if sampling != "systems":
            inputs = draws.counts(seed, draws.INPUTS, m, *chunk)
            if not paired_inputs:
                other = draws.counts(seed, draws.OTHER_INPUTS, Z.shape[1], *chunk)

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
        kind = COEFFICIENTS[coefficient]
        # What does not depend on the draws is done once.
        if kind.rows is None or level == "summary":
            self._columns = kind.columns(X, Z)
        elif level == "system":
            self._slack = mean_tolerance(X), mean_tolerance(Z)
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
        """One sample after the other."""
        drawn_systems = repeat(None) if systems is None else systems
        drawn_inputs = repeat(None) if inputs is None else inputs
        values = []
        for draw in zip(drawn_systems, drawn_inputs, strict=False):
            values.append(self._columns(*draw)[0])
        return np.array(values)

    def _system(self, systems: Draws, inputs: Draws, other_inputs: Draws) -> FloatArray:
        x = resampled_means(self.X, _or_once(inputs, self.X.shape[1]))
        z = resampled_means(self.Z, _or_once(other_inputs, self.Z.shape[1]))
        missing = np.isnan(x) | np.isnan(z)
        if missing.any():
            # A system with no score on the drawn inputs is left out of that sample.
            systems = np.where(missing, 0.0, 1.0 if systems is None else systems)
            x, z = np.nan_to_num(x), np.nan_to_num(z)

        return correlate_rows(x, z, self.coefficient, systems, self._slack)

    def _summary(self, systems: Draws, inputs: Draws) -> FloatArray:
        r = self._columns(_or_once(systems, len(self.X)))
        w = _or_once(inputs, self.X.shape[1])
        with undefined():
            return np.asarray(np.nansum(w * r, axis=1) / (w * ~np.isnan(r)).sum(axis=1))

    def _global(self, systems: Draws, inputs: Draws) -> FloatArray:
        x = self.X[self._scored]
        z = self.Z[self._scored]
        w_systems = _or_once(systems, len(self.X))
        w_inputs = _or_once(inputs, self.X.shape[1])
        # A cell counts as often as its system and its input are drawn together.
        weights = (w_systems[:, :, None] * w_inputs[:, None, :])[:, self._scored]
        return correlate_rows(x[None], z[None], self.coefficient, weights)


def _or_once(drawn: Draws, number: int) -> FloatArray:
    """Numbers of draws; one sample that holds everything once, where none are."""
    return np.ones((1, number)) if drawn is None else drawn
