"""Permutation tests: PERM-SYSTEMS, PERM-INPUTS, PERM-BOTH (DDR21 §4.2), all pairs at once.

All pairs share the coins, and a test draws only as many as it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, combinations
from math import ceil, prod
from typing import Any

import numpy as np

from litepyramid.blas import single_threaded
from litepyramid.errors import InputError, choose
from litepyramid.meta.core import draws
from litepyramid.meta.core.coefficients import Coefficient, dense_ranks
from litepyramid.meta.core.draws import Sampling
from litepyramid.meta.core.levels import Level
from litepyramid.meta.core.pairwise import SPA_PERMUTATIONS
from litepyramid.meta.core.swaps import Swapped, prepare_pair
from litepyramid.progress import bar
from litepyramid.stats import (
    SMALLEST_TAIL,
    Alternative,
    PValueRule,
    as_large,
    flip_tails,
    p_values_of,
)
from litepyramid.types import FloatArray, IntArray

MARGIN = 4
"""Samples are enough when p can fall to this part of the level that the strictest test asks for."""

_FIRST_LOOK = 512  # draws after which tests that are clearly not significant stop
_CLEARLY = 20  # as large samples, after which they do
_CACHED_COINS = 32_000_000
_SHIFTS = 1_000_000  # averages moved at once


@single_threaded
def permutation_samples(
    X: FloatArray,
    Y: FloatArray,
    Z: FloatArray,
    level: Level = "system",
    coefficient: Coefficient = "pearson",
    swaps: Sampling = "both",
    *,
    samples: int = 1000,
    seed: int = 12345,
) -> tuple[float, FloatArray]:
    """The observed r(X, Z) - r(Y, Z) and its values (samples,) when X and Y are swapped at random.

    ``"systems"`` has a coin for each system, ``"inputs"`` for each input, ``"both"`` for each cell.
    X and Y are standardised over their whole matrix first (DDR21 Algorithm 2, line 1), Z never; a
    cell missing in one of the three (N, M) matrices is left out of all. NaN where undefined.

    Example:
        >>> X, Z = np.arange(12.0).reshape(4, 3), np.arange(12.0).reshape(4, 3)
        >>> observed, drawn = permutation_samples(X, -X, Z, samples=3)
        >>> round(observed, 6), bool((np.abs(drawn) <= observed + 1e-12).all())
        (2.0, True)
    """
    choose("kind of swap", swaps, draws.SAMPLINGS)
    pair = prepare_pair(*standardised(X, Y, Z), level, coefficient)
    observed = pair([observed_coins(X.shape, pair)])
    drawn = pair(coin_blocks(X.shape, pair, swaps, seed, range(-(-samples // draws.BLOCK))))
    return float(observed[0]), drawn[:samples]


def observed_coins(shape: tuple[int, int], pair: Swapped) -> FloatArray:
    """One sample in which nothing is swapped."""
    return np.ones((*(shape[::-1] if pair.by_input else shape), 1), dtype=pair.dtype)


def coin_blocks(
    shape: tuple[int, int], pair: Swapped, swaps: Sampling, seed: int, numbers: Iterable[int]
) -> Iterator[FloatArray]:
    """The coins of the numbered blocks, laid out for `pair`; the same in any layout."""
    n, m = shape
    for number in numbers:
        u = draws.coins(seed, shape if swaps == "both" else (n + m,), number, pair.dtype)
        if swaps != "both":
            lines = u[:n, None] if swaps == "systems" else u[None, n:]
            u = np.array(np.broadcast_to(lines, (n, m, draws.BLOCK)))
        yield np.ascontiguousarray(u.swapaxes(0, 1)) if pair.by_input else u


def standardised(
    X: FloatArray, Y: FloatArray, Z: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """X and Y less their mean, over their standard deviation; cells that one lacks NaN in all.

    Scores that become equal but for rounding (Y is X in per cent, say) are made equal.
    """
    X, Y, Z = (np.asarray(a, dtype=np.float64) for a in (X, Y, Z))
    if not X.shape == Y.shape == Z.shape or X.ndim != 2:
        raise InputError(
            f"score matrices of the shapes {X.shape}, {Y.shape} and {Z.shape}",
            expected="(systems, inputs), the same for all three",
        )
    missing = np.isnan(X) | np.isnan(Y) | np.isnan(Z)
    both = []
    for scores in (X, Y):
        some = scores[~missing]
        centred = scores - (some.mean() if some.size else 0.0)
        # A constant metric has no spread; rounding may leave it a trace of one.
        flat = some.size == 0 or np.ptp(some) == 0 or some.std() == 0
        both.append(np.where(missing, np.nan, centred * 0.0 if flat else centred / some.std()))
    pooled = np.stack(both)
    scored = ~np.isnan(pooled)
    if (values := pooled[scored]).size:
        ordered = np.sort(values)
        tolerance = 1e-12 * max(1.0, float(np.abs(ordered[[0, -1]]).max()))
        first = np.concatenate([[True], np.diff(ordered) > tolerance])
        pooled[scored] = ordered[first][dense_ranks(values, tolerance)]
    return pooled[0], pooled[1], np.where(missing, np.nan, Z)


def permuted_p_values(
    values: FloatArray,
    Z: FloatArray,
    level: Level,
    coefficient: Coefficient,
    swaps: Sampling,
    *,
    alternative: Alternative,
    rule: PValueRule,
    samples: int | None,
    target: float,
    seed: int,
) -> tuple[FloatArray, IntArray, int, float]:
    """The p-values of all ordered pairs of K metrics under swaps (`permutation_samples`).

    With `samples` given, p is that of `resampled_p_value` over that many. Without, tests stop as
    soon as they clearly do not pass, and the others get a p that can be as small as `target` asks:

    - T(-u) = -T(u), so each draw u of the coins counts with its opposite, and the observed T with
      its own: p = #{T ≥ T_observed} / (2 (draws + 1)), one-sided. A test with 20 such samples
      after 512 draws stops there.
    - At summary level turning over all coins of an input changes the sign of its term in T, and at
      system level turning over those of a system that of its term in the difference of two rank
      coefficients' numerators, which without ties is T (`terms`). Then p is the mean, over the
      observed assignment and those drawn, of the probability that the sum of the terms reaches the
      observed one when their signs are set in all 2^n ways (`flip_tails`): no 1 / (k + 1) bounds
      it. An input at which one side has no coefficient counts as no difference.
    - Where T is no such sum (Pearson's r at system level, the global level, coins that no input or
      system has to itself), draws continue, doubling up to `MARGIN` / `target` samples.

    Every such p is the rank of the observed value among that of its own coset and of independently
    drawn ones, cosets of one subgroup of the swaps, exchangeable under the null hypothesis: so
    P(p ≤ u) ≤ u (Hemerik & Goeman 2018). Looks keep that, a group-sequential form of Besag &
    Clifford (1991): a test that stops at look i has p_i ≥ 20 / (samples by then), a bound that
    falls from look to look. For u between the bounds of look i and of the one before it, no earlier
    stop gives p ≤ u; and whatever the later looks' results, p ≤ u needs p_i ≤ u.

    Returns:
        (K, K) p-values, row against column, NaN on the diagonal; (K, K) samples without a value;
        the number of samples, at most; the smallest p that was possible.
    """
    count, one_sided = len(values), alternative == "greater"
    sides = 2 if one_sided else 1
    ranks = coefficient in ("kendall", "spearman")
    refined = samples is None and (
        (level == "summary" and swaps != "systems")
        or (level == "system" and swaps != "inputs" and ranks)
    )
    turned = int(((~np.isnan(Z)).sum(axis=0) >= 2).sum()) if level == "summary" else len(Z)
    if samples is not None:
        most, smallest = samples, 1 / (samples + 1) if rule == "plus_one" else 0.0
    elif refined:
        most = max(_FIRST_LOOK, ceil(MARGIN / target / 2.0 ** min(turned, 60)))
        smallest = 2 / sides * max(2.0**-turned / (most + 1), SMALLEST_TAIL)
    else:
        most = max(_FIRST_LOOK, ceil(MARGIN / target / sides) - 1)
        smallest = 1 / (sides * (most + 1))
    shared = _Shared(values, Z, level, coefficient, swaps, seed)
    running = ~np.eye(count, dtype=bool) if one_sided else ~np.tri(count, dtype=bool)
    refined_p = np.full((count, count), np.nan)
    larger, valued, failed = np.zeros((3, count, count), dtype=np.int64)
    pairs = list(combinations(range(count), 2))
    first = most if refined or samples else _FIRST_LOOK
    with bar(most * len(pairs), "testing", "samples") as shown:
        for start, stop in shared.windows(most, first, refined):
            for i, j in pairs:
                shown.update(stop - start)
                tests = [(a, b) for a, b in ((i, j), (j, i)) if running[a, b]]
                if not tests:
                    continue
                observed, drawn, terms = shared.differences(i, j, refined)
                drawn = drawn[: stop - start]
                failed[[i, j], [j, i]] += np.isnan(drawn).sum()
                if samples is None:
                    drawn = np.concatenate([observed[start:], drawn])
                    drawn = np.concatenate([drawn, -drawn])
                for a, b in tests if not np.isnan(observed[0]) else []:
                    turn = 1.0 if (a < b if one_sided else observed[0] >= 0) else -1.0
                    large = as_large(turn * observed[0], turn * drawn, alternative, rule)
                    larger[a, b] += large[0]
                    valued[a, b] += large[1]
                    if refined and larger[a, b] < _CLEARLY:
                        rows = turn * terms()[: 1 if swaps in ("systems", "inputs") else most + 1]
                        tails = flip_tails(rows, cosets=len(rows) > 1)
                        refined_p[a, b] = min(1.0, 2 / sides * tails.mean())
            if samples is None:
                running &= (larger < _CLEARLY) & (valued > 0)
    with np.errstate(invalid="ignore"):
        p = larger / valued if samples is None else p_values_of(larger, valued, rule)
    p = np.where(np.isnan(refined_p), p, refined_p)
    return p if one_sided else np.where(np.isnan(p), p.T, p), failed, most, smallest


class _Shared:
    """What all pairs of a level share: the coins and, at system level, the averages they move."""

    def __init__(
        self, values: FloatArray, Z: FloatArray, level: Level, coefficient: Coefficient,
        swaps: Sampling, seed: int,
    ) -> None:  # fmt: skip
        self.values, self.Z, self.level, self.coefficient = values, Z, level, coefficient
        self.swaps, self.seed = swaps, seed
        self._numbers = range(0)
        self._coins: dict[tuple[str, bool], list[FloatArray]] = {}
        self._alone = [self._pair(X) for X in values] if level == "system" else []
        self._shifts: list[FloatArray] = []

    def windows(self, most: int, first: int, whole: bool) -> Iterator[tuple[int, int]]:
        """Draws from … to …: `first`, then twice as many; at system level in parts unless whole."""
        start = 0
        while start < most:
            stop = min(most, max(first, 2 * start))
            if self._alone and not whole:
                width = SPA_PERMUTATIONS if self.coefficient == "spa" else 1
                part = _SHIFTS // (self.Z.shape[0] * len(self.values) * width)
                stop = min(stop, start + max(1, part // draws.BLOCK) * draws.BLOCK)
            self._numbers = range(start // draws.BLOCK, -(-stop // draws.BLOCK))
            self._coins = {}
            self._shifts = [metric.shifts(self._blocks(metric)) for metric in self._alone]
            yield start, stop
            start = stop

    def differences(
        self, i: int, j: int, refined: bool
    ) -> tuple[FloatArray, FloatArray, Callable[[], FloatArray]]:
        """Differences of two correlations: observed; drawn; and what gives the (1 + draws, parts)
        terms whose signs `flip_tails` may turn, as observed first."""
        shape = self.Z.shape
        if self._alone:
            one, two = self._alone[i], self._alone[j]
            still = [observed_coins(shape, one)]
            start = one.shifts(still) - two.shifts(still)
            shifts = self._shifts[i] - self._shifts[j]

            def terms() -> FloatArray:
                return np.asarray(one.terms(np.concatenate([start, shifts], axis=1), two))

            return one.moved(start, two), one.moved(shifts, two), terms
        pair = self._pair(self.values[i], self.values[j])
        still = [observed_coins(shape, pair)]
        if not refined:
            return pair(still), pair(self._blocks(pair)), lambda: np.empty(0)
        rows = pair.terms(chain(still, self._blocks(pair)))
        # But for inputs without a coefficient, the terms' sum is T times their number.
        whole = not np.isnan(rows).any()
        values = rows.sum(axis=1) if whole else pair(chain(still, self._blocks(pair)))
        return values[:1], values[1:], lambda: rows

    def _pair(self, one: FloatArray, two: FloatArray | None = None) -> Any:
        """Two metrics, or one against 0, prepared for the coins."""
        X, Y, Z = standardised(one, one if two is None else two, self.Z)
        Y = np.zeros_like(X) if two is None else Y
        return prepare_pair(X, Y, Z, self.level, self.coefficient)

    def _blocks(self, pair: Swapped) -> Iterable[FloatArray]:
        """The window's coins as the pair wants them; cached where they are few enough."""
        shape = self.Z.shape
        made = coin_blocks(shape, pair, self.swaps, self.seed, self._numbers)
        if len(self._numbers) * draws.BLOCK * prod(shape) > _CACHED_COINS:
            return made
        key = np.dtype(pair.dtype).str, pair.by_input
        if key not in self._coins:
            self._coins[key] = list(made)
        return self._coins[key]
