"""What every interval and test over scores shares: draws, percentiles, p-values, corrections."""

from __future__ import annotations

from typing import Literal

import numpy as np

from litepyramid.errors import InputError
from litepyramid.types import FloatArray, IntArray

PValueRule = Literal["plus_one", "paper"]
Correction = Literal["none", "bonferroni", "holm", "benjamini-hochberg"]


def bootstrap_counts(rng: np.random.Generator, n: int, k: int) -> IntArray:
    """How often each of `n` items is drawn in each of `k` samples of size `n` with replacement.

    A product of these counts with a score matrix gives every sample's sums at once.

    Returns:
        (k, n) int64; every row sums to n.

    Example:
        >>> bootstrap_counts(np.random.default_rng(0), 4, 2).sum(axis=1).tolist()
        [4, 4]
    """
    return rng.multinomial(n, np.full(n, 1.0 / n), size=k).astype(np.int64)


def percentile_interval(samples: FloatArray, confidence: float = 0.95) -> tuple[float, float]:
    """The central `confidence` of the samples by linear interpolation, NaN samples left out.

    Returns:
        (low, high); (NaN, NaN) when no sample is a number.
    """
    if not 0 < confidence < 1:
        raise InputError(f"confidence is {confidence}", expected="a number between 0 and 1")
    kept = samples[~np.isnan(samples)]
    if kept.size == 0:
        return float("nan"), float("nan")
    tail = (1 - confidence) / 2
    low, high = np.quantile(kept, [tail, 1 - tail])
    return float(low), float(high)


def adjust_p_values(p: FloatArray, method: Correction) -> FloatArray:
    """P-values corrected for having made all these tests together; NaN entries are no tests.

    Bonferroni min(1, m p); Holm's step-down (Holm 1979); Benjamini-Hochberg's false discovery
    rate (scipy).

    Example:
        >>> adjust_p_values(np.array([0.01, 0.04, 0.03]), "holm").tolist()
        [0.03, 0.06, 0.06]
    """
    p = np.asarray(p, dtype=np.float64)
    adjusted = p.copy()
    tests = ~np.isnan(p)
    kept = p[tests]
    m = kept.size
    if m == 0 or method == "none":
        return adjusted
    if method == "bonferroni":
        adjusted[tests] = np.minimum(1.0, m * kept)
    elif method == "holm":
        order = np.argsort(kept, kind="stable")
        steps = np.maximum.accumulate((m - np.arange(m)) * kept[order])
        result = np.empty(m)
        result[order] = np.minimum(1.0, steps)
        adjusted[tests] = result
    elif method == "benjamini-hochberg":
        from scipy.stats import false_discovery_control

        adjusted[tests] = false_discovery_control(kept, method="bh")
    else:
        raise InputError(
            f"no correction '{method}'",
            expected="none, bonferroni, holm or benjamini-hochberg",
        )
    return adjusted
