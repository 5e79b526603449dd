"""Tests of every pair of metrics: does one correlate better with people than the
other?"""

import math
from dataclasses import dataclass, field
from functools import partial
from itertools import permutations
from typing import Literal

import numpy as np

from litepyramid.blas import single_threaded
from litepyramid.meta.alignment import observations
from litepyramid.meta.core.bootstrap import bootstrap_samples
from litepyramid.meta.core.draws import SAMPLINGS, Sampling
from litepyramid.meta.core.levels import Coefficient, Level, level_correlation
from litepyramid.meta.core.permutation import MARGIN, permuted_p_values
from litepyramid.meta.intervals import BOOT
from litepyramid.stats import Correction, PValueRule, adjust_p_values, resampled_p_value
from litepyramid.types import FloatArray, IntArray

ComparisonMethod = Literal[
    "perm-systems",
    "perm-inputs",
    "perm-both",
    "boot-systems",
    "boot-inputs",
    "boot-both",
    "williams",
]
ComparisonTest = Literal[
    ComparisonMethod, "paper-systems", "paper-inputs", "paper-both"
]
PERM: dict[str, Sampling] = {f"perm-{swaps}": swaps for swaps in SAMPLINGS}
Grouping = Literal["metric", "level"]
Corrections = Literal[
    Correction, "bonferroni-level", "holm-level", "benjamini-hochberg-level"
]


@dataclass(frozen=True)
class PairTests:
    """All pairs of K metrics, tested at one level with one coefficient.

    `correlations` are (K,), with `constant` vectors each; the rest (K, K): `p_values`
    of H0: the row metric's correlation is not larger than the column's, NaN on the
    diagonal and where there is no test; `failed` samples, that had no value and were
    left out; `corrected` p-values. A test has at most `samples` (0 for a formula), and
    p `smallest_p`.
    """

    level: Level
    coefficient: Coefficient
    correlations: FloatArray
    constant: tuple[int, ...]
    p_values: FloatArray
    failed: IntArray
    samples: int
    smallest_p: float
    corrected: FloatArray = field(default_factory=lambda: np.empty(0))


@single_threaded
def compare_pairs(
    values: FloatArray,
    Z: FloatArray,
    level: Level,
    coefficient: Coefficient,
    method: ComparisonMethod = "perm-both",
    *,
    p_value: PValueRule = "plus_one",
    samples: int | None = 1000,
    target: float = 0.05,
    seed: int = 12345,
) -> PairTests:
    """Tests every pair of metrics for a difference of their correlations with the human
    score.

    `values` are (K, N, M), Z is (N, M); NaN in one metric must be NaN in all and in Z.
    Under ``perm-…`` X and Y are standardised and swapped at random; all pairs share the
    coins. ``boot-…`` is a paired bootstrap: the differences on samples with
    replacement, less the observed one, stand for the null hypothesis (Efron &
    Tibshirani 1993, section 16.4). With `samples` None there are enough for p to fall
    to a quarter of `target`, the p at which the strictest test passes; permutations are
    then drawn as `permuted_p_values` says.
    """
    points = [level_correlation(X, Z, level, coefficient) for X in values]
    r = np.array([point.value for point in points])
    constant = tuple(point.constant for point in points)
    # p = c/k can be 0, and so small a p needs no margin.
    margin = MARGIN if p_value == "plus_one" else 1
    enough = max(1000, math.ceil(margin / target))

    pairs = list(permutations(range(len(values)), 2))
    p = np.full((len(values), len(values)), np.nan)
    failed = np.zeros(p.shape, dtype=int)
    most = 0
    smallest = 0.0

    if method in PERM:
        # The counts of c/k cannot stop early: the paper's samples are a fixed number.
        if p_value == "paper":
            samples = samples or enough
        p, failed, most, smallest = permuted_p_values(
            values,
            Z,
            level,
            coefficient,
            PERM[method],
            rule=p_value,
            samples=samples,
            target=target,
            seed=seed,
        )
    elif method == "williams":
        for i, j in pairs:
            r_xy = level_correlation(values[i], values[j], level, coefficient).value
            n = observations(values[i], Z, level)
            p[i, j] = williams_p_value(r[i], r[j], r_xy, n)
    else:
        most = samples or enough
        smallest = 1 / (most + 1) if p_value == "plus_one" else 0.0
        sampled = partial(
            bootstrap_samples,
            Z=Z,
            level=level,
            coefficient=coefficient,
            sampling=BOOT[method],
            samples=most,
            seed=seed,
        )
        drawn = [sampled(X) for X in values]
        for i, j in pairs:
            observed = float(r[i] - r[j])
            # Under the null hypothesis the differences would lie about 0, not about the
            # observed one.
            null = drawn[i] - drawn[j] - observed
            failed[i, j] = np.isnan(null).sum()
            p[i, j] = resampled_p_value(observed, null, p_value)

    return PairTests(
        level,
        coefficient,
        r,
        constant,
        p,
        failed,
        most,
        smallest,
    )


def williams_p_value(r_xz: float, r_yz: float, r_xy: float, n: int) -> float:
    """Williams' test of two dependent correlations that share Z (Williams 1959; Steiger
    1980).

    t = (r_xz - r_yz) · √((n - 1)(1 + r_xy) / (2 D (n - 1)/(n - 3) + r̄² (1 - r_xy)³)),
    with D = 1 - r_xz² - r_yz² - r_xy² + 2 r_xz r_yz r_xy, r̄ the mean of r_xz and r_yz,
    and n - 3 degrees of freedom, for H0: ρ(X, Z) ≤ ρ(Y, Z); NaN when n ≤ 3. The signs
    of the correlations are kept: a strongly negative metric is not better (other code
    takes |r|, and there it is).
    """
    from scipy.stats import t as student

    if n <= 3 or math.isnan(r_xz + r_yz + r_xy):
        return math.nan

    difference = r_xz - r_yz
    # Rounding may leave a determinant of 0 just below it, where it has no root.
    determinant = max(0.0, 1 - r_xz**2 - r_yz**2 - r_xy**2 + 2 * r_xz * r_yz * r_xy)
    mean = (r_xz + r_yz) / 2
    below = 2 * (n - 1) / (n - 3) * determinant + mean**2 * (1 - r_xy) ** 3
    above = (n - 1) * (1 + r_xy)

    if abs(difference) < 1e-12:  # rounding, where two metrics agree equally well
        statistic = 0.0
    elif below > 0:
        statistic = difference * math.sqrt(max(0.0, above) / below)
    else:
        statistic = math.copysign(math.inf, difference)

    return float(student.sf(statistic, n - 3))


def family_size(metrics: int, grouping: Grouping, correction: Correction) -> int:
    """How many tests are corrected together; 1 without a correction."""
    if correction == "none":
        return 1
    if grouping == "metric":
        return metrics - 1
    return metrics * (metrics - 1)


def corrected_p_values(
    p: FloatArray, correction: Correction, grouping: Grouping
) -> FloatArray:
    """The (K, K) p-values corrected, within each row or within all."""
    if grouping == "metric":
        return np.stack([adjust_p_values(row, correction) for row in p])
    return adjust_p_values(p.ravel(), correction).reshape(p.shape)
