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
from copy import copy
from itertools import chain, combinations
from math import ceil
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from litepyramid.meta.core import draws
from litepyramid.meta.core.draws import Sampling
from litepyramid.meta.core.levels import (
    SPA_PERMUTATIONS,
    Coefficient,
    Level,
    acc_eq,
    constant_rows,
    correlate_rows,
    dense_ranks,
    mean_tolerance,
    midranks,
    spa_p_values,
    spa_signs,
)
from litepyramid.progress import bar
from litepyramid.stats import (
    SMALLEST_TAIL,
    PValueRule,
    as_large,
    flip_tails,
    p_values_of,
    system_means,
)
from litepyramid.types import FloatArray, IntArray

Floats = NDArray[np.floating]

_TIES = 1e4  # null differences of standardised sums are distinguished to this share of a deviation
_FIRST_LOOK = 512  # draws after which tests that are clearly not significant stop
_CLEARLY = 20  # as large samples, after which they do
_CACHED_COINS = 32_000_000
_SHIFTS = 1_000_000  # averages moved at once

MARGIN = 4
"""Samples are enough when p can fall to this part of the level that the strictest test
asks for."""


class Swapped:
    """A prepared pair of metrics: differences of correlations under given coins.

    It wants the coins as numbers of its `dtype`, (N, M, B), or (M, N, B) if `by_input`.
    """

    dtype: type[np.floating] = np.float64
    by_input = False

    def __call__(self, blocks: Iterable[FloatArray]) -> FloatArray:
        """r(X', Z) - r(Y', Z) for blocks of coins."""
        return np.concatenate([self._differences(u) for u in blocks])

    def _differences(self, u: FloatArray) -> FloatArray:
        """Those of one block: (B,)."""
        raise NotImplementedError


class _Linear(Swapped):
    """Averages or sums that are linear in the coins: they move from a `middle` by a
    shift.

    Metrics are prepared one by one, each against 0; two of them `joined` are a pair,
    whose shift is the difference of theirs.
    """

    middle: Any
    tolerance = 0.0

    def _differences(self, u: FloatArray) -> FloatArray:
        return self.moved(self.shifts([u]))

    def joined(self, other: Self) -> Self:
        """The pair with another metric."""
        pair = copy(self)
        pair.middle = self.middle + other.middle
        pair.tolerance = max(self.tolerance, other.tolerance)
        return pair

    def shifts(self, blocks: Iterable[FloatArray]) -> FloatArray:
        """(N, samples, …): what X gains and Y loses."""
        raise NotImplementedError

    def moved(self, shift: FloatArray) -> FloatArray:
        """r(X', Z) - r(Y', Z) for such a shift."""
        raise NotImplementedError


class SystemSwaps(_Linear):
    """System level: the systems' averages."""

    def __init__(
        self, X: FloatArray, Y: FloatArray, Z: FloatArray, coefficient: Coefficient
    ) -> None:
        scored = ~np.isnan(Z)
        self._ranked = np.nonzero(scored.any(axis=1))[0]
        number = np.maximum(scored.sum(axis=1, keepdims=True), 1)
        self._half = np.where(scored, X - Y, 0.0) / (2.0 * number)
        middle = np.where(scored, X + Y, 0.0).sum(axis=1, keepdims=True) / (
            2.0 * number
        )
        self.middle = middle[self._ranked]
        self.tolerance = max(mean_tolerance(X), mean_tolerance(Y))
        self._z, self._z_tolerance = system_means(Z)[self._ranked], mean_tolerance(Z)
        self._coefficient = coefficient

    def shifts(self, blocks: Iterable[FloatArray]) -> FloatArray:
        """(N, samples) of averages."""
        moved = [np.matmul(self._half[:, None, :], u)[:, 0, :] for u in blocks]
        return np.concatenate(moved, axis=1)

    def moved(self, shift: FloatArray) -> FloatArray:
        """Of X and of Y, row by row."""
        rx, ry = (
            correlate_rows(
                np.ascontiguousarray(averages.T), self._z, self._coefficient,
                x_tolerance=self.tolerance, z_tolerance=self._z_tolerance,
            )
            for averages in self._averages(shift)
        )  # fmt: skip
        return np.asarray(rx - ry)

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
        a = ranks[:, None] - ranks
        if self._coefficient != "spearman":
            a = np.sign(a)
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
        self._x, self._y, self._z = (side[self._scored] for side in (X, Y, Z))
        self._coefficient = coefficient

    def _differences(self, u: FloatArray) -> FloatArray:
        unswapped = u[self._scored].T > 0
        sides = (
            np.where(unswapped, self._x, self._y),
            np.where(unswapped, self._y, self._x),
        )
        rx, ry = (correlate_rows(side, self._z, self._coefficient) for side in sides)
        return np.asarray(rx - ry)


class _ByInput(Swapped):
    """Summary level: inputs change independently of each other under the coins."""

    by_input = True

    def terms(self, blocks: Iterable[FloatArray]) -> FloatArray:
        """(samples, inputs): the two coefficients' difference at each input, or NaN."""
        return np.concatenate([self._terms(u).T for u in blocks])

    def _differences(self, u: FloatArray) -> FloatArray:
        """The difference of two means, each over the inputs that have a value on that
        side."""
        terms = self._terms(u)
        if not np.isnan(terms).any():
            return np.asarray(terms.sum(axis=0) / (len(terms) or np.nan))
        sides = []
        for r in self._sides(u):
            valid = ~np.isnan(r)
            with np.errstate(invalid="ignore", divide="ignore"):
                sides.append(np.where(valid, r, 0.0).sum(axis=0) / valid.sum(axis=0))
        return np.asarray(sides[0] - sides[1])

    def _terms(self, u: FloatArray) -> FloatArray:
        """(inputs, B) differences."""
        rx, ry = self._sides(u)
        return rx - ry

    def _sides(self, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The coefficients of X' and of Y' with Z, (inputs, B) each."""
        raise NotImplementedError


class Moments(_ByInput):
    """Pearson: Σ x'z, Σ x' and Σ x'² of a column are linear in its coins."""

    def __init__(self, X: FloatArray, Y: FloatArray, Z: FloatArray) -> None:
        scored = ~np.isnan(Z)
        self._n = np.maximum(scored.sum(axis=0), 1)[:, None].astype(np.float64)
        x, y, z = (np.where(scored, a, 0.0) for a in (X, Y, Z))
        # The same constant off both metrics changes no correlation and keeps the sums
        # small.
        middle = (x + y).sum(axis=0) / (2.0 * self._n[:, 0])
        x, y = (np.where(scored, a - middle, 0.0) for a in (x, y))
        z = np.where(scored, z - z.sum(axis=0) / self._n[:, 0], 0.0)
        self._few = (scored.sum(axis=0) < 2) | constant_rows(
            np.where(scored, Z, 0.0).T, scored.T.astype(np.float64), 0.0
        )
        self._linear = (
            np.stack([(x - y) * z, x - y, x * x - y * y], axis=0).transpose(2, 0, 1) / 2
        )
        self._fixed = (
            np.stack([(x + y) * z, x + y, x * x + y * y], axis=0).sum(axis=1) / 2
        )
        self._zz = (z * z).sum(axis=0)[:, None]
        self._columns = X, Y, Z
        self._scored = scored

    def _sides(self, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        change = np.matmul(self._linear, u)
        sides = []
        for sign in (1.0, -1.0):
            xz, x, xx = (
                self._fixed[i][:, None] + sign * change[:, i] for i in range(3)
            )
            spread = xx - x * x / self._n
            with np.errstate(invalid="ignore", divide="ignore"):
                r = xz / np.sqrt(spread * self._zz)
            doubtful = ~(spread > 1e-4 * xx) & ~self._few[:, None]
            for column, sample in zip(*np.nonzero(doubtful), strict=True):
                r[column, sample] = self._exact(column, sign * u[column, :, sample])
            sides.append(np.clip(r, -1.0, 1.0)[~self._few])

        return sides[0], sides[1]

    def _exact(self, column: int, coins: FloatArray) -> float:
        """In two passes, which sees constants: for columns that a swap leaves all but
        constant."""
        x, y, z = (a[:, column][self._scored[:, column]] for a in self._columns)
        unswapped = coins[self._scored[:, column]] > 0
        return float(correlate_rows(np.where(unswapped, x, y), z, "pearson")[0])


class ColumnRanks(_ByInput):
    """Kendall and Spearman: signs under swaps are quadratic in the coins.

    With s'_il = sign(x'_i - x'_l) and a_il antisymmetric (the signs of Z, or half the
    difference of its midranks), Σ_{i<l} a_il s'_il = c + L·u + uᵀQu. For y' the coins
    are -u. Where nothing in the column ties, the denominator does not depend on u, and
    the difference is 2 L·u over it.
    """

    def __init__(
        self, X: FloatArray, Y: FloatArray, Z: FloatArray, coefficient: Coefficient
    ) -> None:
        # All sums are of small multiples of 1/16: exact in 24 bits for so few systems.
        self.dtype = np.float32 if len(X) <= 128 else np.float64
        scored = ~np.isnan(Z).T
        self._coefficient = coefficient
        n = scored.sum(axis=1).astype(np.float64)
        x, y, z = (np.where(scored, a.T, 0.0) for a in (X, Y, Z))
        both = scored[:, :, None] & scored[:, None, :]
        both &= ~np.eye(len(X), dtype=bool)
        sz = _signs(z, z, both)
        xx = _signs(x, x, both)
        xy = _signs(x, y, both)
        yy = _signs(y, y, both)
        yx = -xy.transpose(0, 2, 1)
        self._A, self._B = xx + xy + yx + yy, xx + xy - yx - yy
        self._C, self._E = xx - xy + yx - yy, xx - xy - yx + yy
        self._untied = [np.abs(s) for s in (xx, xy, yx, yy)]
        tied = (both & (sum(self._untied) < 4)).any(axis=(1, 2))

        if coefficient == "spearman":
            ranks = midranks(z, scored.astype(np.float64))
            centred = np.where(scored, ranks - (n[:, None] + 1) / 2, 0.0)
            a = ((centred[:, :, None] - centred[:, None, :]) * both / 2).astype(
                np.float32
            )
            self._z_ranks = centred.astype(self.dtype)
            self._z_size = np.sqrt((centred**2).sum(axis=1))
            full = self._z_size * np.sqrt((n**3 - n) / 12)
        else:
            a = sz.astype(np.float32)
            self._z_size = np.sqrt((sz != 0).sum(axis=(1, 2)) / 2)
            full = self._z_size * np.sqrt(n * (n - 1) / 2)

        usable = (n >= 2) & sz.any(axis=(1, 2))
        self._a = a
        self._linear = (a * self._B).sum(axis=2, dtype=np.float64) / 4
        with np.errstate(invalid="ignore", divide="ignore"):
            scaled = 2.0 * self._linear / full[:, None]
        self._plain = np.nonzero(usable & ~tied)[0]
        self._tied = np.nonzero(usable & tied)[0]
        self._usable = np.nonzero(usable)[0]
        self._scaled = scaled[self._plain][:, None]
        self._prepared: dict[int, tuple[Floats, ...]] = {}

    def _terms(self, u: FloatArray) -> FloatArray:
        """(inputs, B) differences, the untied inputs first."""
        terms = [np.matmul(self._scaled, u[self._plain])[:, 0]]
        if self._tied.size:
            rx, ry = self._values(self._tied, u)
            terms.append(rx - ry)
        return np.concatenate(terms)

    def _sides(self, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        return self._values(self._usable, u)

    def _values(
        self, columns: NDArray[np.intp], u: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """The coefficients of X' and of Y' with Z for some inputs, (columns, B)
        each."""
        if len(columns) not in self._prepared:
            self._prepared[len(columns)] = self._prepare(columns)
        forms = self._prepared[len(columns)]
        if len(columns) < len(u):
            u = u[columns]
        if self._coefficient == "spearman":
            return self._spearman(forms, self._z_size[columns], u)
        return self._by_pairs(forms, columns, u)

    def _prepare(self, columns: NDArray[np.intp]) -> tuple[Floats, ...]:
        if self._coefficient == "spearman":
            fixed, linear = (
                s[columns].sum(axis=2)[:, :, None] / 8 for s in (self._A, self._B)
            )
            return (
                *(s.astype(self.dtype) for s in (fixed, linear)),
                *((s[columns] / 8).astype(self.dtype) for s in (self._C, self._E)),
                self._z_ranks[columns][:, None, :],
            )

        xx, xy, yx, yy = (s[columns] for s in self._untied)
        a = self._a[columns]
        forms = (
            (a * self._A[columns]).sum(axis=(1, 2))[:, None] / 8,
            self._linear[columns][:, None, :],
            a * self._E[columns] / 8,
            (xx + xy + yx + yy).sum(axis=(1, 2))[:, None] / 8,
            (xx + xy - yx - yy).sum(axis=2)[:, None, :] / 4,
            (xx - xy - yx + yy) / 8,
        )
        return tuple(form.astype(self.dtype) for form in forms)

    def _by_pairs(
        self, forms: tuple[Floats, ...], columns: NDArray[np.intp], u: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        parts: list[FloatArray] = []
        for fixed, linear, square in (forms[:3], forms[3:]):
            # The even and the odd chunk; all are small multiples of ⅛: exact.
            even = fixed + (np.matmul(square, u) * u).sum(axis=1)
            parts += [
                even.astype(np.float64),
                np.matmul(linear, u)[:, 0].astype(np.float64),
            ]

        balance, flip, untied, unflip = parts
        size = self._z_size[columns, None]
        with np.errstate(invalid="ignore", divide="ignore"):
            rx = (balance + flip) / (np.sqrt(untied + unflip) * size)
            return rx, (balance - flip) / (np.sqrt(untied - unflip) * size)

    @staticmethod
    def _spearman(
        forms: tuple[Floats, ...], z_size: FloatArray, u: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        fixed, linear, others, square, z = forms
        even = np.matmul(square, u) * u + fixed
        odd = np.matmul(others, u) + linear * u
        values = []
        for ranks in (even + odd, even - odd):
            size = np.sqrt((ranks * ranks).sum(axis=1), dtype=np.float64)
            with np.errstate(invalid="ignore", divide="ignore"):
                values.append(np.matmul(z, ranks)[:, 0] / (size * z_size[:, None]))
        return values[0], values[1]


def _signs(a: FloatArray, b: FloatArray, both: NDArray[np.bool_]) -> NDArray[np.int8]:
    """(M, N, N): the sign of a_i - b_l where both are scored and i is not l."""
    one = a[:, :, None]
    two = b[:, None, :]
    signs = np.subtract(one > two, one < two, dtype=np.int8)
    signs *= both
    return signs


class SpaSwaps(_Linear):
    """SPA: the sums that permutations of the inputs compare."""

    dtype = np.float32

    def __init__(self, X: FloatArray, Y: FloatArray, Z: FloatArray) -> None:
        self._complete = ~np.isnan(Z).any(axis=0)
        x = X[:, self._complete]
        y = Y[:, self._complete]
        signs = spa_signs(x.shape[1])
        # A null difference less the observed one is a difference of these sums: −2 or 0
        # a score.
        self._less = np.ascontiguousarray((signs - 1).T) * np.float32(_TIES)
        self._half = np.asarray((x - y)[:, None] / 2, dtype=np.float32)
        self.middle = np.rint(np.asarray((x + y) / 2, dtype=np.float32) @ self._less)[
            :, None
        ]
        z = np.ascontiguousarray(Z[:, self._complete], dtype=np.float32)
        self._p_human = spa_p_values(z, signs).astype(np.float32)

    def shifts(self, blocks: Iterable[FloatArray]) -> FloatArray:
        """(N, samples, permutations) of sums."""
        moved = [
            (u[:, self._complete].swapaxes(1, 2) * self._half) @ self._less
            for u in blocks
        ]
        return np.rint(np.concatenate(moved, axis=1))

    def moved(self, shift: FloatArray) -> FloatArray:
        """Of X and of Y."""
        one, two = (self._distance(self.middle + sign * shift) for sign in (-1, 1))
        return one - two

    def _distance(self, sums: Any) -> FloatArray:
        """(B,) mean |p^h − p^m| of (N, B, permutations) sums; p^m is a share of
        comparisons."""
        if len(sums) < 2:
            return np.zeros(sums.shape[1])
        shares = []
        for i in range(len(sums) - 1):
            larger = sums[i] >= sums[i + 1 :]
            # Eight flags at once: 125 words of bytes, each of which can count to 255.
            words = np.add.reduce(larger.view(np.uint64), axis=2)
            shares.append(
                words[..., None].view(np.uint8).sum(axis=2) / SPA_PERMUTATIONS
            )

        distance = np.abs(np.concatenate(shares) - self._p_human[:, None])
        return np.asarray(distance.mean(axis=0))


class TieAccuracySwaps(Swapped):
    """The difference of two metrics' acc_eq when their scores are swapped.

    Each metric's ε goes with its scores: a pair of two metrics' scores ties up to the
    mean of both. Whether a pair is right is then a function of its two coins, u and v,
    and so is the difference of X' and Y': α (u + v) / 2 + β (u − v) / 2, linear in the
    coins.
    """

    def __init__(self, X: FloatArray, Y: FloatArray, Z: FloatArray) -> None:
        one, two = np.triu_indices(len(Z), 1)
        epsilon = [acc_eq(side, Z)[1] for side in (X, Y)]
        order = np.sign(Z[one] - Z[two])

        def right(first: int, second: int) -> FloatArray:
            d = (X, Y)[first][one] - (X, Y)[second][two]
            tied = np.abs(d) <= (epsilon[first] + epsilon[second]) / 2
            return np.where(
                np.isnan(order), 0.0, np.where(tied, 0.0, np.sign(d)) == order
            )

        whole = (~np.isnan(order)).sum(axis=0)
        used = max(int((whole > 0).sum()), 1)
        scale = np.divide(0.5 / used, whole, out=np.zeros(len(whole)), where=whole > 0)
        alpha = (right(0, 0) - right(1, 1)) * scale
        beta = (right(0, 1) - right(1, 0)) * scale
        self._parts = np.zeros(Z.shape)
        np.add.at(self._parts, one, alpha + beta)
        np.add.at(self._parts, two, alpha - beta)

    def terms(self, blocks: Iterable[FloatArray]) -> FloatArray:
        """(samples, M): each input's part of the difference."""
        return np.concatenate([np.einsum("nm,nmb->bm", self._parts, u) for u in blocks])

    def _differences(self, u: FloatArray) -> FloatArray:
        return np.asarray(self.terms([u]).sum(axis=1))


def prepare_pair(
    X: FloatArray, Y: FloatArray, Z: FloatArray, level: Level, coefficient: Coefficient
) -> Swapped:
    """All of a pair of standardised metrics that does not depend on the coins."""
    if coefficient == "spa":
        return SpaSwaps(X, Y, Z)
    if coefficient == "acc-eq":
        return TieAccuracySwaps(X, Y, Z)
    if level == "system":
        return SystemSwaps(X, Y, Z, coefficient)
    if level == "global":
        return GlobalSwaps(X, Y, Z, coefficient)
    if coefficient == "pearson":
        return Moments(X, Y, Z)
    return ColumnRanks(X, Y, Z, coefficient)


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
            seed, shape if swaps == "both" else (n + m,), number, pair.dtype
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

    - T(-u) = -T(u), so each draw u of the coins counts with its opposite, and the observed T with
      its own: p = #{T ≥ T_observed} / (2 (draws + 1)). A test with 20 such
      samples after 512 draws stops there.
    - At summary level turning over all coins of an input changes the sign of its term in T, and at
      system level turning over those of a system that of its term in the difference of
      two rank coefficients' numerators (`terms`). Then p is the mean, over the observed
      assignment and those drawn, of the share of all 2^n signs of the terms whose sum
      reaches the observed one (`flip_tails`): no 1 / (k + 1) bounds it.
    - Where T is no such sum, draws continue, doubling up to `MARGIN` / `target` samples.

    Every such p is the rank of the observed value among those of its own coset and of
    independently drawn ones, exchangeable under the null hypothesis: P(p ≤ u) ≤ u
    (Hemerik & Goeman 2018). Looks keep that, as in Besag & Clifford (1991): a test that
    stops at look i has p_i ≥ 20 / (samples by then), a bound that falls from look to
    look, so that p ≤ u needs p_i ≤ u at one look alone.

    Returns (K, K) p-values, row against column, NaN on the diagonal; (K, K) samples
    without a value; the number of samples, at most; the smallest p that was possible.
    """
    count = len(values)
    turned = len(Z)
    if level == "summary":
        turned = int(((~np.isnan(Z)).sum(axis=0) >= 2).sum())
    refined = samples is None and _has_terms(level, coefficient, swaps)

    if samples is not None:
        most = samples
        smallest = 1 / (samples + 1) if rule == "plus_one" else 0.0
    elif refined:
        most = max(_FIRST_LOOK, ceil(MARGIN / target / 2.0 ** min(turned, 60)))
        smallest = max(2.0**-turned / (most + 1), SMALLEST_TAIL)
    else:
        # Each draw counts with its opposite, so half as many do.
        most = max(_FIRST_LOOK, ceil(MARGIN / target / 2) - 1)
        smallest = 1 / (2 * (most + 1))

    shared = _Shared(
        values,
        Z,
        level,
        coefficient,
        swaps,
        seed,
    )
    running = ~np.eye(count, dtype=bool)
    refined_p = np.full((count, count), np.nan)
    larger, valued, failed = np.zeros((3, count, count), dtype=np.int64)
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
                    large = as_large(turn * observed[0], turn * drawn, "greater", rule)
                    larger[a, b] += large[0]
                    valued[a, b] += large[1]
                    if refined and larger[a, b] < _CLEARLY:
                        rows = turn * terms()[: 1 if swaps != "both" else most + 1]
                        tails = flip_tails(rows, cosets=len(rows) > 1)
                        refined_p[a, b] = min(1.0, tails.mean())
            if samples is None:
                running &= (larger < _CLEARLY) & (valued > 0)

    with np.errstate(invalid="ignore"):
        p = larger / valued if samples is None else p_values_of(larger, valued, rule)
    return np.where(np.isnan(refined_p), p, refined_p), failed, most, smallest


def _has_terms(level: Level, coefficient: Coefficient, swaps: Sampling) -> bool:
    """Whether the difference of two correlations is a sum whose terms can be turned
    over."""
    if level == "summary":
        return swaps != "systems"
    ranks = coefficient in ("kendall", "spearman")
    return level == "system" and swaps != "inputs" and ranks


class _Shared:
    """What all pairs of a level share: the coins and, at system level, the averages
    they move."""

    def __init__(
        self,
        values: FloatArray,
        Z: FloatArray,
        level: Level,
        coefficient: Coefficient,
        swaps: Sampling,
        seed: int,
    ) -> None:
        self.values = values
        self.Z = Z
        self.level = level
        self.coefficient = coefficient
        self.swaps = swaps
        self.seed = seed
        self._numbers = range(0)
        self._coins: dict[tuple[str, bool], list[FloatArray]] = {}
        self._alone = [self._pair(X) for X in values] if level == "system" else []
        self._shifts: list[FloatArray] = []

    def windows(self, most: int, first: int, whole: bool) -> Iterator[tuple[int, int]]:
        """Draws from … to …: `first`, then twice as many; at system level in parts
        unless whole."""
        start = 0
        while start < most:
            stop = min(most, max(first, 2 * start))
            if self._alone and not whole:
                width = SPA_PERMUTATIONS if self.coefficient == "spa" else 1
                part = _SHIFTS // (self.Z.shape[0] * len(self.values) * width)
                stop = min(stop, start + max(1, part // draws.BLOCK) * draws.BLOCK)
            self._numbers = range(start // draws.BLOCK, -(-stop // draws.BLOCK))
            self._coins = {}
            self._shifts = [
                metric.shifts(self._blocks(metric)) for metric in self._alone
            ]
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
        rows = pair.terms(chain(still, self._blocks(pair)))
        # But for inputs without a coefficient, the terms' sum is T times their number.
        whole = not np.isnan(rows).any()
        values = rows.sum(axis=1) if whole else pair(chain(still, self._blocks(pair)))

        return values[:1], values[1:], lambda: rows

    def _pair(self, one: FloatArray, two: FloatArray | None = None) -> Any:
        """Two metrics, or one against 0, prepared for the coins."""
        X, Y, Z = standardised(one, one if two is None else two, self.Z)
        Y = np.zeros_like(X) if two is None else Y
        return prepare_pair(
            X,
            Y,
            Z,
            self.level,
            self.coefficient,
        )

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
