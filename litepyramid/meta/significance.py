"""Does one metric correlate better than another: the tests of DDR21 §4, all pairs at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import permutations
from typing import Literal, get_args

import numpy as np

from litepyramid.blas import single_threaded
from litepyramid.errors import choose
from litepyramid.meta.core.bootstrap import bootstrap_samples, check_number
from litepyramid.meta.core.coefficients import Coefficient
from litepyramid.meta.core.draws import SWAPS, Swaps
from litepyramid.meta.core.levels import ConstantPolicy, Level, level_correlation
from litepyramid.meta.core.permuted_pairs import MARGIN, permuted_p_values
from litepyramid.meta.intervals import BOOT, observations
from litepyramid.stats import Alternative, PValueRule, check_share, resampled_p_value
from litepyramid.types import FloatArray, IntArray

ComparisonMethod = Literal[
    "perm-systems",
    "perm-inputs",
    "perm-both",
    "perm-both-xor",
    "boot-systems",
    "boot-inputs",
    "boot-both",
    "williams",
]
COMPARISON_METHODS: tuple[ComparisonMethod, ...] = get_args(ComparisonMethod)
TwoSided = Literal["greater", "two-sided"]
ALTERNATIVES: tuple[TwoSided, ...] = get_args(TwoSided)
PERM: dict[str, Swaps] = {f"perm-{swaps.replace('_', '-')}": swaps for swaps in SWAPS}


@dataclass(frozen=True, slots=True)
class PairTests:
    """All pairs of K metrics, tested at one level with one coefficient.

    Attributes:
        correlations: (K,) each metric's correlation with the human score.
        p_values: (K, K): of H0: the row metric's correlation is not larger than the column's (or
            not different, two-sided). NaN on the diagonal and where there is no test.
        counting_ties: (K, K) the same by the rule ``"plus_one"``.
        failed: (K, K) samples that had no value and were left out.
        constant: (K,) vectors constant on one side.
        samples: Samples of a test, at most; 0 for a formula.
        smallest_p: The smallest p that was possible.
    """

    correlations: FloatArray
    p_values: FloatArray
    counting_ties: FloatArray
    failed: IntArray
    constant: tuple[int, ...]
    samples: int
    smallest_p: float


@single_threaded
def compare_pairs(
    values: FloatArray,
    Z: FloatArray,
    level: Level = "system",
    coefficient: Coefficient = "pearson",
    method: ComparisonMethod = "perm-both",
    *,
    alternative: TwoSided = "greater",
    p_value: PValueRule = "plus_one",
    samples: int | None = 1000,
    target: float = 0.05,
    seed: int = 12345,
    constant: ConstantPolicy = "skip",
) -> PairTests:
    """Tests every pair of metrics for a difference of their correlations with the human score.

    - ``perm-…``: X and Y are standardised and swapped at random (DDR21 §4.2); all pairs share the
      coins;
    - ``boot-…``: paired bootstrap. The differences on samples with replacement, less the observed
      one, stand for the null hypothesis (Efron & Tibshirani 1993, §16.4): a sample counts when its
      difference is at least twice the observed one;
    - ``williams``: `williams_p_value`, no samples.

    Args:
        values: (K, N, M) scores; NaN in one metric must be NaN in all and in Z.
        Z: (N, M) scores.
        level: ``"system"``, ``"summary"`` or ``"global"``.
        coefficient: The coefficient.
        method: One of `COMPARISON_METHODS`.
        alternative: ``"greater"`` (the paper's one-tailed test) or ``"two-sided"``.
        p_value: ``"plus_one"`` or ``"paper"``, see `resampled_p_value`.
        samples: Number of samples. None: enough for p to fall to a quarter of `target`;
            permutations are then drawn as `permuted_p_values` says.
        target: The p at which the strictest of the tests passes: α over the number of tests.
        seed: Seed of the draws.
        constant: Policy for constant vectors.

    Raises:
        InputError: An unknown name or less than one sample.
    """
    choose("method", method, COMPARISON_METHODS)
    choose("alternative", alternative, ALTERNATIVES)
    check_share("target", target)
    adaptive = samples is None and method in PERM and p_value == "plus_one"
    if samples is None:
        samples = max(1000, math.ceil((MARGIN if p_value == "plus_one" else 1) / target))
    check_number(samples)
    points = [level_correlation(X, Z, level, coefficient, constant) for X in values]
    r = np.array([point.value for point in points])
    constants = tuple(point.constant for point in points)
    if method in PERM:
        p, valid, failed, most, smallest = permuted_p_values(
            values, Z, level, coefficient, PERM[method], alternative=alternative,
            rule=p_value, samples=None if adaptive else samples, target=target,
            seed=seed, constant=constant,
        )  # fmt: skip
        return PairTests(r, p, valid, failed, constants, most, smallest)
    count = len(values)
    p, valid = np.full((2, count, count), np.nan)
    failed = np.zeros((count, count), dtype=np.int64)
    if method == "williams":
        for i, j in permutations(range(count), 2):
            r_xy = level_correlation(values[i], values[j], level, coefficient, constant).value
            n = observations(values[i], Z, level)
            p[i, j] = williams_p_value(r[i], r[j], r_xy, n, alternative)
        return PairTests(r, p, p, failed, constants, 0, 0.0)
    drawn = [
        bootstrap_samples(
            X, Z, level, coefficient, BOOT[method], samples=samples, seed=seed, constant=constant
        )
        for X in values
    ]
    for i, j in permutations(range(count), 2):
        observed = float(r[i] - r[j])
        null = drawn[i] - drawn[j] - observed
        failed[i, j] = np.isnan(null).sum()
        p[i, j] = resampled_p_value(observed, null, alternative, p_value)
        valid[i, j] = resampled_p_value(observed, null, alternative)
    smallest = 1 / (samples + 1) if p_value == "plus_one" else 0.0
    return PairTests(r, p, valid, failed, constants, samples, smallest)


def williams_p_value(
    r_xz: float, r_yz: float, r_xy: float, n: int, alternative: Alternative = "greater"
) -> float:
    """Williams' test of two dependent correlations that share Z (Williams 1959; Steiger 1980).

    t = (r_xz - r_yz) · √((n - 1)(1 + r_xy) / (2 D (n - 1)/(n - 3) + r̄² (1 - r_xy)³)), with
    D = 1 - r_xz² - r_yz² - r_xy² + 2 r_xz r_yz r_xy, r̄ the mean of r_xz and r_yz, and n - 3
    degrees of freedom. The signs of the correlations are kept: a strongly negative metric is not
    better (other code takes |r| of all three, and there it is).

    Args:
        r_xz: Correlation of X with Z.
        r_yz: Correlation of Y with Z.
        r_xy: Correlation of X with Y.
        n: Number of observations.
        alternative: ``"greater"``, ``"less"`` or ``"two-sided"``.

    Returns:
        The p-value of H0: ρ(X, Z) ≤ ρ(Y, Z); NaN when n ≤ 3 or a correlation is NaN.

    Example:
        >>> round(williams_p_value(0.6, 0.4, 0.5, 50), 4)
        0.0474
        >>> williams_p_value(-0.9, 0.4, -0.3, 50) > 0.999
        True
    """
    from scipy.stats import t as student

    choose("alternative", alternative, get_args(Alternative))
    if n <= 3 or math.isnan(r_xz + r_yz + r_xy):
        return math.nan
    difference = r_xz - r_yz
    determinant = max(0.0, 1 - r_xz**2 - r_yz**2 - r_xy**2 + 2 * r_xz * r_yz * r_xy)
    mean = (r_xz + r_yz) / 2
    below = 2 * (n - 1) / (n - 3) * determinant + mean**2 * (1 - r_xy) ** 3
    above = (n - 1) * (1 + r_xy)
    if abs(difference) < 1e-12:
        statistic = 0.0
    elif below > 0:
        statistic = difference * math.sqrt(max(0.0, above) / below)
    else:
        statistic = math.copysign(math.inf, difference)
    if alternative == "two-sided":
        return float(2 * student.sf(abs(statistic), n - 3))
    return float(student.sf(-statistic if alternative == "less" else statistic, n - 3))
