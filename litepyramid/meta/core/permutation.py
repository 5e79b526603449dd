"""Permutation tests: PERM-SYSTEMS, PERM-INPUTS, PERM-BOTH (Deutsch, Dror & Roth 2021,
section 4.2).

A sample swaps the scores of X and Y where a coin falls on -1: x' = (x + y)/2 + u (x -
y)/2. What a test needs is a polynomial in the coins u: averages and moments are linear;
the sign of x'_i - x'_l is ¼ (A + u_i B + u_l C + u_i u_l E) with matrices of the signs
among and between the two metrics. And y' is x' under -u, so half of the terms cancel in
the difference: where no scores tie, that of Kendall's and of Spearman's coefficients is
one scalar product. All pairs share the coins, and a test draws only as many as it
needs.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import ceil
from typing import Any

import numpy as np

from litepyramid.meta.core import draws
from litepyramid.meta.core.draws import Sampling
from litepyramid.meta.core.levels import (
    COEFFICIENTS,
    Coefficient,
    Level,
    correlate_rows,
    mean_tolerance,
)
from litepyramid.meta.core.swaps import LinearSwaps
from litepyramid.meta.core.vectors import dense_ranks, midranks
from litepyramid.progress import bar
from litepyramid.stats import (
    SMALLEST_TAIL,
    PValueRule,
    as_large,
    flip_tails,
    p_values_of,
    system_means,
    undefined,
)
from litepyramid.types import FloatArray, IntArray

_FIRST_LOOK = 512  # draws after which tests that are clearly not significant stop
_CLEARLY = 20  # as large samples, after which they do
_CACHED_COINS = 32_000_000
_SHIFTS = 1_000_000  # averages moved at once

MARGIN = 4
"""Samples are enough when p can fall to this part of the level that the strictest test
asks for."""


class SystemSwaps(LinearSwaps):
    """The systems' averages."""

    def __init__(
        self, values: FloatArray, Z: FloatArray, coefficient: Coefficient
    ) -> None:
        scored = ~np.isnan(Z)
        ranked = scored.any(axis=1)
        number = scored.sum(axis=1, keepdims=True)[ranked]
        # An average is its half, the middle, and another half, whose sign is the coin.
        self._half = np.where(scored, values, 0.0)[:, ranked] / (2.0 * number)
        self.middles = self._half.sum(axis=2, keepdims=True)
        self._ranked = ranked
        self._z = system_means(Z)[ranked]
        self._slack = max(map(mean_tolerance, values)), mean_tolerance(Z)
        self._coefficient = coefficient

    def shifts(self, u: FloatArray) -> FloatArray:
        """Of averages."""
        moved = np.matmul(self._half.swapaxes(0, 1), u[self._ranked])
        return np.asarray(moved.swapaxes(0, 1))

    def value(self, x: FloatArray) -> FloatArray:
        """Row by row."""
        rows = np.ascontiguousarray(x.T)
        return correlate_rows(rows, self._z, self._coefficient, slack=self._slack)

    def terms(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Each system's part in the difference of two rank coefficients' numerators.

        Σ a_il sign(x'_i - x'_l) is quadratic in coins that swap whole systems; of the
        difference of that and the same for y' only the linear part 2 L·u is left, ties
        or not. Turning all coins of a system over changes the sign of its L_i, and
        nothing else.
        """
        slack, z_slack = self._slack
        ranks = midranks(self._z, None, z_slack)[0]
        a = COEFFICIENTS[self._coefficient].of_ranks(ranks[:, None] - ranks)
        parts = np.empty(x.shape)

        for i in range(len(x)):
            signs = np.zeros(x.shape, dtype=np.int8)
            for row, sign in ((x[i], 1), (y[i], -1)):
                for others in (x, y):
                    below = others < row - slack
                    above = others > row + slack
                    signs += sign * (below.view(np.int8) - above.view(np.int8))
            parts[i] = a[i] @ signs

        return parts.T


class GlobalSwaps:
    """Global level: the swapped scores themselves."""

    def __init__(
        self, X: FloatArray, Y: FloatArray, Z: FloatArray, coefficient: Coefficient
    ) -> None:
        self._scored = ~np.isnan(Z)
        self._sides = X[self._scored], Y[self._scored]
        self._correlated = partial(
            correlate_rows, z=Z[self._scored], coefficient=coefficient
        )

    def __call__(self, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        """r(X', Z) - r(Y', Z), which is no sum of terms."""
        x, y = self._sides
        unswapped = u[self._scored].T > 0
        rx = self._correlated(np.where(unswapped, x, y))
        ry = self._correlated(np.where(unswapped, y, x))
        return rx - ry, np.empty(0)


class PairSwaps:
    """All metrics of a level at which the scores of each pair are swapped anew."""

    width = 0  # nothing is moved for all of them

    def __init__(
        self, prepared: Any, values: FloatArray, Z: FloatArray, refined: bool
    ) -> None:
        self._prepared, self._values, self._Z = prepared, values, Z
        self._refined = refined

    def move(self, coins: Iterable[FloatArray]) -> None:
        """Sets the coins."""
        self._coins = coins

    def pair(self, i: int, j: int) -> tuple[FloatArray, Any]:
        """r(X', Z) - r(Y', Z) of two metrics; and what gives its terms."""
        sides = standardised(self._values[i], self._values[j], self._Z)
        swapped = self._prepared(*sides)
        values = []
        terms = []
        for u in self._coins:
            value, term = swapped(u)
            values.append(value)
            # Of many samples and inputs they would not fit in memory.
            if self._refined:
                terms.append(term)
        return np.concatenate(values), lambda: np.concatenate(terms)


def prepare(
    values: FloatArray,
    Z: FloatArray,
    level: Level,
    coefficient: Coefficient,
    *,
    refined: bool = False,
) -> Any:
    """All of some metrics that does not depend on the coins."""
    kind = COEFFICIENTS[coefficient]
    if level == "summary":
        return PairSwaps(kind.swaps, values, Z, refined)
    if level == "global":
        of_cells = partial(GlobalSwaps, coefficient=coefficient)
        return PairSwaps(of_cells, values, Z, refined)
    # Alone, each metric is standardised once, not again in every pair.
    alone = np.stack([standardised(X, X, Z)[0] for X in values])
    if kind.rows is None:
        return kind.swaps(alone, Z)
    return SystemSwaps(alone, Z, coefficient)


@dataclass(frozen=True)
class Coins:
    """The coins of numbered blocks of draws, (N, M, B) each, ±1; nothing is swapped in
    the first sample."""

    shape: tuple[int, int]
    swaps: Sampling
    seed: int
    numbers: Iterable[int]

    def __iter__(self) -> Iterator[FloatArray]:
        n, m = self.shape
        yield np.ones((n, m, 1), dtype=np.float32)
        both = self.swaps == "both"
        for number in self.numbers:
            # Coins for systems and for inputs are drawn together, so that neither
            # depends on which are used.
            drawn = self.shape if both else (n + m,)
            u = draws.coins(self.seed, drawn, number, np.float32)
            if not both:
                lines = u[:n, None] if self.swaps == "systems" else u[None, n:]
                u = np.array(np.broadcast_to(lines, (n, m, draws.BLOCK)))
            yield u


def standardised(
    X: FloatArray, Y: FloatArray, Z: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """X and Y standardised over the whole matrix; cells that one lacks NaN in all.

    Scores that become equal but for rounding (Y is X in per cent, say) are made equal.
    """
    missing = np.isnan(X) | np.isnan(Y) | np.isnan(Z)
    both = []
    for scores in (X, Y):
        some = scores[~missing]
        centred = scores - (some.mean() if some.size else 0.0)
        # A constant metric has no spread; rounding may leave it a trace of one.
        flat = some.size == 0 or np.ptp(some) == 0 or some.std() == 0
        both.append(
            np.where(missing, np.nan, centred * 0.0 if flat else centred / some.std())
        )

    pooled = np.stack(both)
    scored = ~np.isnan(pooled)
    if (values := pooled[scored]).size:
        ordered = np.sort(values)
        tolerance = 1e-12 * max(1.0, float(np.abs(ordered[[0, -1]]).max()))
        first = np.concatenate([[True], np.diff(ordered) > tolerance])
        # Of values that are equal but for rounding all become the smallest, so that
        # swapping them changes nothing.
        pooled[scored] = ordered[first][dense_ranks(values, tolerance)]

    return pooled[0], pooled[1], np.where(missing, np.nan, Z)


def permuted_p_values(
    values: FloatArray,
    Z: FloatArray,
    level: Level,
    coefficient: Coefficient,
    swaps: Sampling,
    *,
    rule: PValueRule,
    samples: int | None,
    target: float,
    seed: int,
) -> tuple[FloatArray, IntArray, int, float]:
    """The p-values of all ordered pairs of K metrics under swaps of systems, inputs or
    cells.

    With `samples` given, p is that of `resampled_p_value` over that many. Without,
    tests stop as soon as they clearly do not pass, and the others get a p that can be
    as small as `target` asks:

    - T(-u) = -T(u), so each draw u of the coins counts with its opposite, and the
      observed T with its own: p = #{T ≥ T_observed} / (2 (draws + 1)). A test with 20
      such samples after 512 draws stops there.
    - At summary level turning over all coins of an input changes the sign of its term
      in T, and at system level turning over those of a system that of its term in the
      difference of two rank coefficients' numerators (`terms`). Then p is the mean,
      over the observed assignment and those drawn, of the share of all 2^n signs of the
      terms whose sum reaches the observed one (`flip_tails`): no 1 / (k + 1) bounds it.
    - Where T is no such sum, as of two means over different inputs, because one metric
      is constant on some, draws continue, doubling up to `MARGIN` / `target` samples.

    Every such p is the rank of the observed value among those of its own coset and of
    independently drawn ones, exchangeable under the null hypothesis: P(p ≤ u) ≤ u
    (Hemerik & Goeman 2018). Looks keep that, as in Besag & Clifford (1991): a test that
    stops at look i has p_i ≥ 20 / (samples by then), a bound that falls from look to
    look, so that p ≤ u needs p_i ≤ u at one look alone.

    Returns (K, K) p-values, row against column, NaN on the diagonal; (K, K) samples
    without a value; the number of samples, at most; the smallest p that was possible.
    """
    count = len(values)
    # Whether the difference of two correlations is a sum whose terms can be turned
    # over, and how many there are.
    summed = np.ones((count, count), dtype=bool)
    if level == "summary":
        has_terms = swaps != "systems"
        scored = ~np.isnan(values)
        high = np.max(values, axis=1, where=scored, initial=-np.inf)
        low = np.min(values, axis=1, where=scored, initial=np.inf)
        flat = high - low <= 1e-12 * np.max(np.abs(values), where=scored, initial=0.0)
        summed = (flat[:, None] == flat).all(axis=2)
        turned = int(((~np.isnan(Z)).sum(axis=0) >= 2).sum())
    else:
        ranks = COEFFICIENTS[coefficient].of_ranks is not None
        has_terms = level == "system" and swaps != "inputs" and ranks
        turned = len(Z)
    refined = samples is None and has_terms

    # Each draw counts with its opposite, so half as many do.
    first = _FIRST_LOOK
    most = max(first, ceil(MARGIN / target / 2) - 1)
    smallest = 1 / (2 * (most + 1))
    if samples is not None:
        first = most = samples
        smallest = 1 / (samples + 1) if rule == "plus_one" else 0.0
    elif refined:
        # Each draw stands for all 2^n signs of its terms: with many terms few draws are
        # enough.
        first = max(first, ceil(MARGIN / target / 2.0 ** min(turned, 60)))
        if summed.all():
            most = first
            smallest = max(2.0**-turned / (most + 1), SMALLEST_TAIL)

    metrics = prepare(values, Z, level, coefficient, refined=refined)
    at_once = most
    if metrics.width and not refined:
        # What is moved for all pairs at once must fit in memory.
        part = _SHIFTS // (len(Z) * count * metrics.width)
        at_once = max(1, part // draws.BLOCK) * draws.BLOCK

    running = ~np.eye(count, dtype=bool)
    refined_p = np.full((count, count), np.nan)
    larger, valued, failed = np.zeros((3, count, count), dtype=int)
    pairs = list(combinations(range(count), 2))
    start = 0

    with bar(most * len(pairs), "testing", "samples") as shown:
        while start < most:
            if start and refined:
                # The terms of later draws are asked for no more.
                metrics = prepare(values, Z, level, coefficient)
            stop = min(most, max(first, 2 * start), start + at_once)
            numbers = range(start // draws.BLOCK, -(-stop // draws.BLOCK))
            coins = Coins(Z.shape, swaps, seed, numbers)
            few = len(numbers) * draws.BLOCK * Z.size <= _CACHED_COINS
            metrics.move(list(coins) if few and not metrics.width else coins)

            for i, j in pairs:
                shown.update(stop - start)
                if not running[i, j] and not running[j, i]:
                    continue
                drawn, terms = metrics.pair(i, j)
                observed = drawn[0]
                drawn = drawn[1 : stop - start + 1]
                failed[[i, j], [j, i]] += np.isnan(drawn).sum()
                # A pair without a correlation has nothing to compare the samples with.
                if np.isnan(observed):
                    continue
                if samples is None:
                    # The observed value is the first draw's.
                    drawn = np.append(drawn, [observed] * (start == 0))
                    drawn = np.concatenate([drawn, -drawn])

                # The test of the other direction turns every difference over.
                for a, b, turn in ((i, j, 1.0), (j, i, -1.0)):
                    if not running[a, b]:
                        continue
                    large = as_large(turn * observed, turn * drawn, rule)
                    larger[a, b] += large[0]
                    valued[a, b] += large[1]
                    if refined and summed[a, b] and larger[a, b] < _CLEARLY:
                        rows = turn * terms()[: 1 if swaps != "both" else stop + 1]
                        tails = flip_tails(rows, cosets=len(rows) > 1)
                        refined_p[a, b] = min(1.0, tails.mean())
            if samples is None:
                running &= (larger < _CLEARLY) & (valued > 0) & np.isnan(refined_p)
            start = stop

    with undefined():
        p = larger / valued if samples is None else p_values_of(larger, valued, rule)
    return np.where(np.isnan(refined_p), p, refined_p), failed, most, smallest
