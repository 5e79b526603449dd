"""Uncertainty of the share of agreeing pairs, and the difference at which it is high enough."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import NDArray

from litepyramid.meta.core import draws
from litepyramid.meta.core.levels import mean_tolerance
from litepyramid.meta.system_level.paired_scores import Sides, SystemPairs
from litepyramid.stats import resampled_means, system_means
from litepyramid.types import FloatArray


def wilson_interval(agreed: int, total: int, confidence: float) -> tuple[float, float]:
    """Wilson's interval of a share of `total` independent trials; (NaN, NaN) for none.

    Example:
        >>> tuple(round(end, 3) for end in wilson_interval(10, 10, 0.95))
        (0.722, 1.0)
    """
    from scipy.stats import binomtest

    if total == 0:
        return nan, nan
    ends = binomtest(agreed, total).proportion_ci(confidence, method="wilson")
    return float(ends.low), float(ends.high)


def reaching(
    pairs: SystemPairs,
    target: float,
    agreed: NDArray[np.bool_] | None = None,
    weights: FloatArray | None = None,
) -> float:
    """The smallest difference at which the isotonic fit of agreement is at least `target`.

    Args:
        pairs: The pairs.
        target: The agreement aimed at.
        agreed: (P,) whether people agree; None: by the pairs' own averages.
        weights: (P,) how often each pair is drawn; None: once.

    Returns:
        NaN where it is never reached.

    Example:
        >>> x, z = np.array([0.0, 1.0, 3.0, 7.0]), np.array([1.0, 0.0, 2.0, 3.0])
        >>> reaching(SystemPairs.of(x, z), 0.95)
        2.0
    """
    gaps, fit, _ = fitted(pairs, agreed, weights)
    good = np.flatnonzero(fit >= target - 1e-12)
    return float(gaps[good[0]]) if good.size else nan


def fitted(
    pairs: SystemPairs,
    agreed: NDArray[np.bool_] | None = None,
    weights: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """The pairs with a sign and a weight, by their difference, with the fit at each."""
    from scipy.optimize import isotonic_regression

    agreed = pairs.signs > 0 if agreed is None else agreed
    weights = np.ones(len(pairs)) if weights is None else weights
    kept = (pairs.gaps > 0) & (weights > 0)
    gaps, agreed = pairs.gaps[kept], agreed[kept]
    if not gaps.size:
        return gaps, gaps, agreed
    fit = isotonic_regression(agreed.astype(np.float64), weights=weights[kept]).x
    return gaps, np.asarray(fit), agreed


@dataclass(frozen=True)
class ResampledPairs:
    """All pairs of systems, the closest first, under k draws of systems and of judged inputs.

    Attributes:
        pairs: The pairs by the metric's own averages.
        agreed: (k, P) whether people's averages of the inputs drawn have the metric's order.
        weights: (k, P) how often the two systems are drawn together.
    """

    pairs: SystemPairs
    agreed: NDArray[np.bool_]
    weights: FloatArray

    @classmethod
    def of(cls, sides: Sides, pairs: SystemPairs, samples: int, seed: int) -> ResampledPairs:
        """Draws systems and judged inputs at once; the metric's differences stay as they are."""
        drawn = draws.counts(seed, draws.SYSTEMS, len(sides.systems), 0, samples)
        counts = draws.counts(seed, draws.INPUTS, len(sides.judged), 0, samples)
        x, z = system_means(sides.scores_used), resampled_means(sides.Z, counts)
        one, two = pairs.one, pairs.two
        dz = z[:, one] - z[:, two]
        dz[np.abs(dz) <= mean_tolerance(sides.Z)] = 0.0
        weights = drawn[:, one] * drawn[:, two]
        weights[np.isnan(dz)] = 0.0
        return cls(pairs, (x[one] - x[two]) * dz > 0, weights)

    def agreement(self, lower: float, upper: float) -> FloatArray:
        """(k,) share agreed among the drawn pairs from ℓ to u; NaN where none was drawn."""
        inside = self.pairs.within(lower, upper)
        signed = self.pairs.gaps[inside] > 0
        weights = self.weights[:, inside] * signed
        with np.errstate(invalid="ignore", divide="ignore"):
            agreed = (weights * self.agreed[:, inside]).sum(axis=1)
            return np.asarray(agreed / weights.sum(axis=1))

    def reaching(self, target: float) -> list[float]:
        """(k,) the difference at which agreement reaches the target; NaN where it does not."""
        drawn = zip(self.agreed, self.weights, strict=True)
        return [reaching(self.pairs, target, *one) for one in drawn]
