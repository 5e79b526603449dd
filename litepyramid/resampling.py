"""What every interval and test over scores shares: draws, percentiles, p-values, corrections."""

from __future__ import annotations

from math import ceil
from typing import Literal

import numpy as np

from litepyramid.errors import InputError
from litepyramid.text import counted
from litepyramid.types import FloatArray, IntArray

PValueRule = Literal["plus_one", "paper"]
Alternative = Literal["greater", "less", "two-sided"]
Correction = Literal["none", "bonferroni", "holm", "benjamini-hochberg"]

_ROUNDING = 1e-11


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


def check_samples(k: int, *, confidence: float | None = None, alpha: float | None = None) -> None:
    """Sees that k samples are enough for an interval or a test to say anything.

    A percentile interval takes k ≥ 2 / (1 - confidence), 40 at 95 %: one sample in either tail.
    With fewer its ends are little but the extremes; those of one sample are the same number. A test
    takes k ≥ 1 / alpha - 1, 19 at 5 %: else p = (c + 1) / (k + 1) could never be as small as alpha.

    Args:
        k: Number of samples.
        confidence: Of the interval, if there is one.
        alpha: Level of the test, if there is one.

    Raises:
        InputError: k is smaller; `confidence` or `alpha` is not between 0 and 1.

    Example:
        >>> check_samples(40, confidence=0.95, alpha=0.05)
        >>> check_samples(39, confidence=0.95)
        Traceback (most recent call last):
        ...
        litepyramid.errors.InputError: 39 samples. Expected at least 40 for an interval at 95 %.
    """
    if confidence is not None:
        check_share("confidence", confidence)
        needed = ceil(2 / (1 - confidence) * (1 - _ROUNDING))
        if k < needed:
            raise InputError(
                counted(k, "sample"),
                expected=f"at least {needed} for an interval at {100 * confidence:g} %",
            )
    if alpha is not None:
        check_share("alpha", alpha)
        needed = ceil(1 / alpha * (1 - _ROUNDING) - 1)
        if k < needed:
            raise InputError(
                counted(k, "sample"),
                expected=f"at least {needed} for a test at the level {alpha:g}",
            )


def check_share(what: str, value: float) -> None:
    """Raises InputError unless a value such as a level is between 0 and 1, both left out."""
    if not 0 < value < 1:
        raise InputError(f"{what} is {value}", expected="a number between 0 and 1")


def percentile_interval(samples: FloatArray, confidence: float = 0.95) -> tuple[float, float]:
    """The central `confidence` of the samples by linear interpolation, NaN samples left out.

    Returns:
        (low, high); (NaN, NaN) when no sample is a number.
    """
    check_share("confidence", confidence)
    kept = samples[~np.isnan(samples)]
    if kept.size == 0:
        return float("nan"), float("nan")
    tail = (1 - confidence) / 2
    low, high = np.quantile(kept, [tail, 1 - tail])
    return float(low), float(high)


def resampled_p_value(
    observed: float,
    samples: FloatArray,
    alternative: Alternative = "greater",
    rule: PValueRule = "plus_one",
) -> float:
    """How often a statistic under the null hypothesis is as large as the observed one.

    ``plus_one`` is (c + 1) / (k + 1), c the samples at least as large: never 0, and the rule under
    which a Monte-Carlo test keeps its level (Davison & Hinkley 1997, eq. 4.11). ``paper`` is
    DDR21's Algorithm 2, c / k with c the samples strictly larger. Differences below 1e-11 are
    rounding: such samples are equal to the observed one.

    Args:
        observed: The statistic of the data.
        samples: (k,) its values under the null hypothesis; NaN samples are left out of c and k.
        alternative: ``"greater"``, ``"less"``, or ``"two-sided"`` on absolute values.
        rule: Which of the two rules.

    Returns:
        The p-value; NaN when there is no observed value or no sample.

    Example:
        >>> samples = np.array([0.3, 0.1, -0.2, 0.2])
        >>> resampled_p_value(0.2, samples), resampled_p_value(0.2, samples, rule="paper")
        (0.6, 0.25)
    """
    kept = samples[~np.isnan(samples)]
    if np.isnan(observed) or kept.size == 0:
        return float("nan")
    if alternative == "less":
        observed, kept = -observed, -kept
    elif alternative == "two-sided":
        observed, kept = abs(observed), np.abs(kept)
    elif alternative != "greater":
        raise InputError(f"no alternative '{alternative}'", expected="greater, less or two-sided")
    if rule == "plus_one":
        return float((np.sum(kept >= observed - _ROUNDING) + 1) / (kept.size + 1))
    if rule == "paper":
        return float(np.mean(kept > observed + _ROUNDING))
    raise InputError(f"no rule '{rule}' for p-values", expected="plus_one or paper")


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
