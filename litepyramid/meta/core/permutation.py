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

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, combinations
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
from litepyramid.meta.core.swaps import LinearSwaps, Swapped
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
    """System level: the systems' averages."""

    def __init__(
        self, X: FloatArray, Y: FloatArray, Z: FloatArray, coefficient: Coefficient
    ) -> None:
        scored = ~np.isnan(Z)
        self._ranked = np.nonzero(scored.any(axis=1))[0]
        number = np.maximum(scored.sum(axis=1, keepdims=True), 1)
        # An average is the middle of the two metrics' and half their difference, whose
        # sign is the coin.
        self._half = np.where(scored, X - Y, 0.0) / (2.0 * number)
        middle = np.where(scored, X + Y, 0.0).sum(axis=1, keepdims=True) / (
            2.0 * number
        )
        self.middle = middle[self._ranked]
        self.tolerance = max(mean_tolerance(X), mean_tolerance(Y))
        self._z = system_means(Z)[self._ranked]
        self._z_tolerance = mean_tolerance(Z)
        self._coefficient = coefficient

    def shifts(self, blocks: Iterable[FloatArray]) -> FloatArray:
        """(N, samples) of averages."""
        moved = [np.matmul(self._half[:, None, :], u)[:, 0, :] for u in blocks]
        return np.concatenate(moved, axis=1)

    def moved(self, shift: FloatArray) -> FloatArray:
        """Of X and of Y, row by row."""
        x, y = self._averages(shift)
        return self._correlation(x) - self._correlation(y)

    def _correlation(self, averages: FloatArray) -> FloatArray:
        return correlate_rows(
            np.ascontiguousarray(averages.T),
            self._z,
            self._coefficient,
            slack=(self.tolerance, self._z_tolerance),
        )

    def terms(self, shift: FloatArray) -> FloatArray:
        """(samples, N): each system's part in the difference of two rank coefficients'
        numerators.

        Σ a_il sign(x'_i - x'_l) is quadratic in coins that swap whole systems; of the
        difference of that and the same for y' only the linear part 2 L·u is left, ties
        or not. Turning all coins of a system over changes the sign of its L_i, and
        nothing else.
        """
        x, y = self._averages(shift)
        ranks = midranks(self._z, None, self._z_tolerance)[0]
        a = COEFFICIENTS[self._coefficient].of_ranks(ranks[:, None] - ranks)
        parts = np.empty(x.shape)

        for i in range(len(x)):
            signs = np.zeros(x.shape, dtype=np.int8)
            for row, sign in ((x[i], 1), (y[i], -1)):
                for others in (x, y):
                    below = others < row - self.tolerance
                    above = others > row + self.tolerance
                    signs += sign * (below.view(np.int8) - above.view(np.int8))
            parts[i] = a[i] @ signs

        return parts.T

    def _averages(self, shift: FloatArray) -> tuple[FloatArray, FloatArray]:
        return self.middle + shift[self._ranked], self.middle - shift[self._ranked]


class GlobalSwaps(Swapped):
    """Global level: the swapped scores themselves."""

    def __init__(
        self, X: FloatArray, Y: FloatArray, Z: FloatArray, coefficient: Coefficient
    ) -> None:
        self._scored = ~np.isnan(Z)
        self._x = X[self._scored]
        self._y = Y[self._scored]
        self._z = Z[self._scored]
        self._coefficient = coefficient

    def _differences(self, u: FloatArray) -> FloatArray:
        unswapped = u[self._scored].T > 0
        x = np.where(unswapped, self._x, self._y)
        y = np.where(unswapped, self._y, self._x)
        rx = correlate_rows(x, self._z, self._coefficient)
        ry = correlate_rows(y, self._z, self._coefficient)
        return rx - ry


def prepare_pair(
    X: FloatArray, Y: FloatArray, Z: FloatArray, level: Level, coefficient: Coefficient
) -> Swapped:
    """All of a pair of standardised metrics that does not depend on the coins."""
    kind = COEFFICIENTS[coefficient]
    if kind.rows is None or level == "summary":
        return kind.swaps(X, Y, Z)
    if level == "system":
        return SystemSwaps(X, Y, Z, coefficient)
    return GlobalSwaps(X, Y, Z, coefficient)


def observed_coins(shape: tuple[int, int], pair: Swapped) -> FloatArray:
    """One sample in which nothing is swapped."""
    return np.ones((*(shape[::-1] if pair.by_input else shape), 1), dtype=pair.dtype)


def coin_blocks(
    shape: tuple[int, int],
    pair: Swapped,
    swaps: Sampling,
    seed: int,
    numbers: Iterable[int],
) -> Iterator[FloatArray]:
    """The coins of the numbered blocks, laid out for `pair`; the same in any layout."""
    n, m = shape
    for number in numbers:
        u = draws.coins(
            # Coins for systems and for inputs are drawn together, so that neither
            # depends on which are used.
            seed,
            shape if swaps == "both" else (n + m,),
            number,
            pair.dtype,
        )
        if swaps != "both":
            lines = u[:n, None] if swaps == "systems" else u[None, n:]
            u = np.array(np.broadcast_to(lines, (n, m, draws.BLOCK)))
        yield np.ascontiguousarray(u.swapaxes(0, 1)) if pair.by_input else u


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
    - Where T is no such sum, draws continue, doubling up to `MARGIN` / `target`
      samples.

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
    if level == "summary":
        has_terms = swaps != "systems"
        turned = int(((~np.isnan(Z)).sum(axis=0) >= 2).sum())
    else:
        ranks = COEFFICIENTS[coefficient].of_ranks is not None
        has_terms = level == "system" and swaps != "inputs" and ranks
        turned = len(Z)
    refined = samples is None and has_terms

    if samples is not None:
        most = samples
        smallest = 1 / (samples + 1) if rule == "plus_one" else 0.0
    elif refined:
        # Each draw stands for all 2^n signs of its terms: with many terms few draws are
        # enough.
        most = max(_FIRST_LOOK, ceil(MARGIN / target / 2.0 ** min(turned, 60)))
        smallest = max(2.0**-turned / (most + 1), SMALLEST_TAIL)
    else:
        # Each draw counts with its opposite, so half as many do.
        most = max(_FIRST_LOOK, ceil(MARGIN / target / 2) - 1)
        smallest = 1 / (2 * (most + 1))

    shared = _Shared(values, Z, level, coefficient, swaps, seed)
    running = ~np.eye(count, dtype=bool)
    refined_p = np.full((count, count), np.nan)
    larger, valued, failed = np.zeros((3, count, count), dtype=int)
    pairs = list(combinations(range(count), 2))
    first = most if refined or samples else _FIRST_LOOK

    with bar(most * len(pairs), "testing", "samples") as shown:
        for start, stop in shared.windows(most, first, refined):
            for i, j in pairs:
                shown.update(stop - start)
                if not running[i, j] and not running[j, i]:
                    continue
                observed, drawn, terms = shared.differences(i, j, refined)
                drawn = drawn[: stop - start]
                failed[[i, j], [j, i]] += np.isnan(drawn).sum()
                # A pair without a correlation has nothing to compare the samples with.
                if np.isnan(observed[0]):
                    continue
                if samples is None:
                    # The observed value is the first draw's.
                    drawn = np.concatenate([observed[start:], drawn])
                    drawn = np.concatenate([drawn, -drawn])

                # The test of the other direction turns every difference over.
                for a, b, turn in ((i, j, 1.0), (j, i, -1.0)):
                    if not running[a, b]:
                        continue
                    large = as_large(turn * observed[0], turn * drawn, rule)
                    larger[a, b] += large[0]
                    valued[a, b] += large[1]
                    if refined and larger[a, b] < _CLEARLY:
                        rows = turn * terms()[: 1 if swaps != "both" else most + 1]
                        tails = flip_tails(rows, cosets=len(rows) > 1)
                        refined_p[a, b] = min(1.0, tails.mean())
            if samples is None:
                running &= (larger < _CLEARLY) & (valued > 0)

    with undefined():
        p = larger / valued if samples is None else p_values_of(larger, valued, rule)
    return np.where(np.isnan(refined_p), p, refined_p), failed, most, smallest


@dataclass
class _Shared:
    """What all pairs of a level share: the coins and, at system level, the averages
    they move."""

    values: FloatArray
    Z: FloatArray
    level: Level
    coefficient: Coefficient
    swaps: Sampling
    seed: int

    def __post_init__(self) -> None:
        self._numbers = range(0)
        self._coins: dict[tuple[str, bool], list[FloatArray]] = {}
        apart = self.level == "system"
        self._alone = [self._pair(X) for X in self.values] if apart else []
        self._shifts: list[FloatArray] = []

    def windows(self, most: int, first: int, whole: bool) -> Iterator[tuple[int, int]]:
        """Draws from … to …: `first`, then twice as many; at system level in parts
        unless whole."""
        start = 0
        while start < most:
            stop = min(most, max(first, 2 * start))
            if self._alone and not whole:
                sums = self.Z.shape[0] * len(self.values) * self._alone[0].width
                part = _SHIFTS // sums
                stop = min(stop, start + max(1, part // draws.BLOCK) * draws.BLOCK)
            self._numbers = range(start // draws.BLOCK, -(-stop // draws.BLOCK))
            self._coins = {}
            self._shifts = []
            for metric in self._alone:
                self._shifts.append(metric.shifts(self._blocks(metric)))
            yield start, stop
            start = stop

    def differences(
        self, i: int, j: int, refined: bool
    ) -> tuple[FloatArray, FloatArray, Callable[[], FloatArray]]:
        """Differences of two correlations, observed and drawn; and what gives their
        terms."""
        if self._alone:
            one = self._alone[i]
            two = self._alone[j]
            still = [observed_coins(self.Z.shape, one)]
            start = one.shifts(still) - two.shifts(still)
            shifts = self._shifts[i] - self._shifts[j]
            every = np.concatenate([start, shifts], axis=1)

            pair = one.joined(two)
            return pair.moved(start), pair.moved(shifts), lambda: pair.terms(every)

        pair = self._pair(self.values[i], self.values[j])
        still = [observed_coins(self.Z.shape, pair)]
        if not refined:
            return pair(still), pair(self._blocks(pair)), lambda: np.empty(0)
        # The observed coins stand first: a test's own value is one of the draws.
        rows = pair.terms(chain(still, self._blocks(pair)))
        # But for inputs without a coefficient, the terms' sum is T times their number.
        whole = not np.isnan(rows).any()
        values = rows.sum(axis=1) if whole else pair(chain(still, self._blocks(pair)))

        return values[:1], values[1:], lambda: rows

    def _pair(self, one: FloatArray, two: FloatArray | None = None) -> Any:
        """Two metrics, or one against 0, prepared for the coins."""
        # Alone, each metric is standardised once, not again in every pair.
        X, Y, Z = standardised(one, one if two is None else two, self.Z)
        Y = np.zeros_like(X) if two is None else Y
        return prepare_pair(X, Y, Z, self.level, self.coefficient)

    def _blocks(self, pair: Swapped) -> Iterable[FloatArray]:
        """The window's coins as the pair wants them; cached where they are few
        enough."""
        made = coin_blocks(
            self.Z.shape,
            pair,
            self.swaps,
            self.seed,
            self._numbers,
        )
        if len(self._numbers) * draws.BLOCK * self.Z.size > _CACHED_COINS:
            return made
        key = np.dtype(pair.dtype).str, pair.by_input
        if key not in self._coins:
            self._coins[key] = list(made)
        return self._coins[key]
