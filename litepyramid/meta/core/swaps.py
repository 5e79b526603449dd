"""Pairs of metrics whose scores are swapped, prepared for any coins (`permutation`):
one class for what each coefficient needs.

What a test needs is a polynomial in the coins u: averages and moments are linear; the
sign of x'_i - x'_l is ¼ (A + u_i B + u_l C + u_i u_l E) with matrices of the signs
among and between the two metrics.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from litepyramid.meta.core.matrices import (
    SPA_PERMUTATIONS,
    acc_eq,
    spa_p_values,
    spa_signs,
)
from litepyramid.meta.core.vectors import constant_rows, midranks, of_rows, pearson_rows
from litepyramid.stats import undefined
from litepyramid.types import BoolArray, FloatArray

Floats = NDArray[np.floating]
Sides = tuple[FloatArray, FloatArray]

# Sums are rounded to this part of a deviation: those that are equal but for rounding
# must tie, whichever scores were swapped.
_TIES = 1e4


class Swapped:
    """Summary level: inputs change independently of each other under the coins.

    Called with a block of (N, M, B) coins: (B,) r(X', Z) - r(Y', Z), each the mean over
    the inputs that have a value on that side; and (B, inputs) the differences at each.
    """

    sides: Any
    """The coefficients of X' and of Y' with Z, (inputs, B) each, under (inputs, N, B)
    coins."""

    def __init__(self, X: FloatArray, Y: FloatArray, Z: FloatArray) -> None:
        scored = ~np.isnan(Z).T
        z = np.where(scored, Z.T, 0.0)
        # Human scores that all tie have no coefficient under any swap.
        self.used = ~constant_rows(z, scored.astype(float), 0.0)
        self.scored = scored[self.used]
        self.z = z[self.used]
        self.x = np.where(scored, X.T, 0.0)[self.used]
        self.y = np.where(scored, Y.T, 0.0)[self.used]
        # Of some inputs the difference is linear in the coins, each worth so much.
        self.plain = np.zeros(len(self.z), dtype=bool)
        self.linear = np.empty((0, len(X)))

    def __call__(self, u: FloatArray) -> Sides:
        """The differences of one block, and their terms."""
        u = u.swapaxes(0, 1)
        if not self.used.all():
            u = u[self.used]
        worth = np.matmul(self.linear[:, None], u[self.plain])[:, 0]
        if self.plain.all():
            return _mean(worth), worth.T
        rx, ry = self.sides(u)
        terms = np.concatenate([worth, (rx - ry)[~self.plain]])
        return _mean(rx) - _mean(ry), terms.T


def _mean(r: FloatArray) -> FloatArray:
    """The mean over inputs of those that are not NaN."""
    with undefined():
        return np.asarray(np.nansum(r, axis=0) / (~np.isnan(r)).sum(axis=0))


class PearsonSwaps(Swapped):
    """Σ x'z, Σ x' and Σ x'² of a column are linear in its coins."""

    def __init__(self, X: FloatArray, Y: FloatArray, Z: FloatArray) -> None:
        super().__init__(X, Y, Z)
        self._n = self.scored.sum(axis=1, keepdims=True)
        # The same constant off both metrics changes no correlation and keeps the sums
        # small.
        middle = (self.x + self.y).sum(axis=1, keepdims=True) / (2 * self._n)
        x = np.where(self.scored, self.x - middle, 0.0)
        y = np.where(self.scored, self.y - middle, 0.0)
        mean = self.z.sum(axis=1, keepdims=True) / self._n
        z = np.where(self.scored, self.z - mean, 0.0)

        of_x = np.stack([x * z, x, x * x], axis=1)
        of_y = np.stack([y * z, y, y * y], axis=1)
        self._change = (of_x - of_y) / 2
        self._fixed = (of_x + of_y).sum(axis=2, keepdims=True) / 2
        self._zz = (z * z).sum(axis=1, keepdims=True)

    def sides(self, u: FloatArray) -> Sides:
        """By moments."""
        change = np.matmul(self._change, u)
        return self._side(self._fixed + change, u > 0), self._side(
            self._fixed - change, u < 0
        )

    def _side(self, moments: FloatArray, unswapped: BoolArray) -> FloatArray:
        xz, x, xx = moments.swapaxes(0, 1)
        # n times the variance; z is centred, so no mean of x is needed for xz.
        spread = xx - x * x / self._n
        with undefined():
            r = xz / np.sqrt(spread * self._zz)

        # Where a swap leaves nearly one value, the spread is what rounding left of it:
        # there, do it again in two passes, which sees constants.
        row, sample = np.nonzero(~(spread > 1e-4 * xx))
        if row.size:
            mixed = np.where(unswapped[row, :, sample], self.x[row], self.y[row])
            weights = self.scored[row].astype(float)
            r[row, sample] = of_rows(pearson_rows, mixed, self.z[row], weights)
        return np.asarray(np.clip(r, -1.0, 1.0))


class KendallSwaps(Swapped):
    """Kendall and Spearman: signs under swaps are quadratic in the coins.

    With s'_il = sign(x'_i - x'_l) and a_il antisymmetric (the signs of Z, or half the
    difference of its midranks), Σ_{i<l} a_il s'_il = c + L·u + uᵀQu. For y' the coins
    are -u. Where nothing ties, the denominator does not depend on u, and the difference
    is 2 L·u over it.
    """

    def __init__(self, X: FloatArray, Y: FloatArray, Z: FloatArray) -> None:
        super().__init__(X, Y, Z)
        # All sums are of small multiples of 1/16: exact in 24 bits for so few systems.
        self._type = np.float32 if len(X) <= 128 else np.float64
        both = self.scored[:, :, None] & self.scored[:, None, :]
        both &= ~np.eye(len(X), dtype=bool)
        xy = _signs(self.x, self.y, both)
        signs = (
            _signs(self.x, self.x, both),
            xy,
            -xy.transpose(0, 2, 1),
            _signs(self.y, self.y, both),
        )
        untied = [np.abs(s) for s in signs]
        n = self.scored.sum(axis=1).astype(float)
        a, size, untied_size = self._people(both, n)
        self._size = size[:, None]

        # Where any of a pair's four comparisons ties, the denominator moves too.
        self.plain = (np.sum(untied, axis=0) == 4 * both).all(axis=(1, 2))
        linear = _quadratic(a, signs)[1][:, 0].astype(float)
        worth = 2.0 * linear / (size * untied_size)[:, None]
        self.linear = worth[self.plain]
        if not self.plain.all():
            self._prepare(a, signs, untied)

    def _people(self, both: BoolArray, n: FloatArray) -> tuple[Any, Any, Any]:
        """a, the size of Z, and that of a metric without ties."""
        a = _signs(self.z, self.z, both).astype(self._type)
        return a, np.sqrt((a != 0).sum(axis=(1, 2)) / 2), np.sqrt(n * (n - 1) / 2)

    def _prepare(self, a: Floats, signs: Any, untied: Any) -> None:
        self._balance = _quadratic(a, signs)
        self._untied = _quadratic(np.ones(1, self._type), untied)

    def sides(self, u: FloatArray) -> Sides:
        """By the balance of pairs, and the number that are not tied."""
        balance, other_balance = _values(self._balance, u)
        untied, other_untied = _values(self._untied, u)
        with undefined():
            rx = balance / (np.sqrt(untied) * self._size)
            return rx, other_balance / (np.sqrt(other_untied) * self._size)


class SpearmanSwaps(KendallSwaps):
    """Spearman: by the midranks that the signs add up to."""

    def _people(self, both: BoolArray, n: FloatArray) -> tuple[Any, Any, Any]:
        ranks = midranks(self.z, self.scored.astype(float))
        centred = np.where(self.scored, ranks - (n[:, None] + 1) / 2, 0.0)
        self._z_ranks = centred[:, None].astype(self._type)
        a = (centred[:, :, None] - centred[:, None, :]) * both / 2
        size = np.sqrt((centred**2).sum(axis=1))
        return a.astype(self._type), size, np.sqrt((n**3 - n) / 12)

    def _prepare(self, a: Floats, signs: Any, untied: Any) -> None:
        eighths = [(part / 8).astype(self._type) for part in _polynomial(*signs)]
        self._fixed, self._linear = (
            part.sum(axis=2, keepdims=True) for part in eighths[:2]
        )
        self._others, self._square = eighths[2:]

    def sides(self, u: FloatArray) -> Sides:
        """By the midranks of both sides."""
        even = np.matmul(self._square, u) * u + self._fixed
        odd = np.matmul(self._others, u) + self._linear * u
        return self._side(even + odd), self._side(even - odd)

    def _side(self, ranks: Floats) -> FloatArray:
        size = np.sqrt((ranks * ranks).sum(axis=1), dtype=float)
        with undefined():
            r = np.matmul(self._z_ranks, ranks)[:, 0] / (size * self._size)
        return np.asarray(r)


def _signs(a: FloatArray, b: FloatArray, both: BoolArray) -> NDArray[np.int8]:
    """(M, N, N): the sign of a_i - b_l where both are scored and i is not l."""
    one = a[:, :, None]
    two = b[:, None, :]
    signs = np.subtract(one > two, one < two, dtype=np.int8)
    signs *= both
    return signs


def _polynomial(xx: Any, xy: Any, yx: Any, yy: Any) -> tuple[Any, ...]:
    """A, B, C and E (the module's docstring) of what is one of four, as the coins of i
    and l fall."""
    return (
        xx + xy + yx + yy,
        xx + xy - yx - yy,
        xx - xy + yx - yy,
        xx - xy - yx + yy,
    )


def _quadratic(a: Floats, four: Any) -> tuple[Floats, Floats, Floats]:
    """c, L and Q of Σ_{i<l} a_il s'_il."""
    even, linear, _, square = _polynomial(*four)
    fixed = (a * even).sum(axis=(1, 2))[:, None] / 8
    return fixed, (a * linear).sum(axis=2)[:, None] / 4, a * square / 8


def _values(quadratic: tuple[Floats, Floats, Floats], u: FloatArray) -> Sides:
    """Its values, (M, B), under the coins and under their opposites."""
    fixed, linear, square = quadratic
    # All are small multiples of ⅛: exact.
    even = fixed + (np.matmul(square, u) * u).sum(axis=1)
    odd = np.matmul(linear, u)[:, 0]
    return (even + odd).astype(float), (even - odd).astype(float)


class TieAccuracySwaps:
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
        whole = (~np.isnan(order)).sum(axis=0)
        used = max(int((whole > 0).sum()), 1)
        scale = 0.5 / used / np.maximum(whole, 1)

        def right(first: int, second: int) -> FloatArray:
            d = (X, Y)[first][one] - (X, Y)[second][two]
            tied = np.abs(d) <= (epsilon[first] + epsilon[second]) / 2
            # A pair that is not scored has no order, which nothing equals.
            correct = np.where(tied, 0.0, np.sign(d)) == order
            return np.asarray(correct, dtype=float)

        alpha = (right(0, 0) - right(1, 1)) * scale
        beta = (right(0, 1) - right(1, 0)) * scale
        # α (u + v) / 2 + β (u - v) / 2 = u (α + β) / 2 + v (α - β) / 2: what each coin
        # is worth.
        self._worth = np.zeros(Z.shape)
        np.add.at(self._worth, one, alpha + beta)
        np.add.at(self._worth, two, alpha - beta)

    def __call__(self, u: FloatArray) -> Sides:
        """The differences of one block, and their terms, which they are the sums of."""
        terms = np.einsum("nm,nmb->bm", self._worth, u)
        return terms.sum(axis=1), terms


class LinearSwaps:
    """System level: averages or sums that are linear in the coins.

    A coin moves a metric's score from its `middle`, half of it, up to itself or down to
    0. Of two metrics X' gets the middles of both, and the shift of X less that of Y; Y'
    the opposite one. So the metrics are moved once for all pairs.
    """

    middles: Any
    """(K, N, …)"""
    shifts: Any
    """(K, N, B, …): how far one block of coins moves each metric."""
    value: Any
    """(samples,) coefficients of (N, samples, …) averages or sums."""
    terms: Any
    """(samples, N): each system's part in the difference of two, or in what has its
    sign."""
    width = 1  # sums that a sample moves at once

    def move(self, coins: Any) -> None:
        """Moves all metrics by the blocks of coins."""
        moved = [self.shifts(u) for u in coins]
        self._shifts = np.concatenate(moved, axis=2)

    def pair(self, i: int, j: int) -> tuple[FloatArray, Any]:
        """r(X', Z) - r(Y', Z) of two metrics; and what gives its terms."""
        middle = self.middles[i] + self.middles[j]
        shift = self._shifts[i] - self._shifts[j]
        x = middle + shift
        y = middle - shift
        return self.value(x) - self.value(y), lambda: self.terms(x, y)


class SpaSwaps(LinearSwaps):
    """SPA: the sums that permutations of the inputs compare."""

    width = SPA_PERMUTATIONS

    def __init__(self, values: FloatArray, Z: FloatArray) -> None:
        self._complete = ~np.isnan(Z).any(axis=0)
        signs = spa_signs(int(self._complete.sum()))
        # A null difference less the observed one is a difference of these sums: −2 or 0
        # a score.
        self._less = np.ascontiguousarray((signs - 1).T) * np.float32(_TIES)
        self._half = np.asarray(values[:, :, self._complete] / 2, dtype=np.float32)
        self.middles = np.rint(self._half @ self._less)[:, :, None]
        p_human = spa_p_values(Z[:, self._complete], signs)
        self._p_human = p_human.astype(np.float32)

    def shifts(self, u: FloatArray) -> FloatArray:
        """Rounded, so that sums that are equal but for rounding tie."""
        u = u[:, self._complete].swapaxes(1, 2)
        moved = [(u * half[:, None]) @ self._less for half in self._half]
        return np.asarray(np.rint(moved))

    def value(self, x: FloatArray) -> FloatArray:
        """1 − mean |p^h − p^m|, less 1; p^m is a share of comparisons."""
        # One system has no pair.
        if len(x) < 2:
            return np.zeros(x.shape[1])
        shares = []
        for i in range(len(x) - 1):
            larger = x[i] >= x[i + 1 :]
            # Eight flags at once: 125 words of bytes, each of which can count to 255.
            words = np.add.reduce(larger.view(np.uint64), axis=2)
            shares.append(
                words[..., None].view(np.uint8).sum(axis=2) / SPA_PERMUTATIONS
            )

        distance = np.abs(np.concatenate(shares) - self._p_human[:, None])
        return np.asarray(-distance.mean(axis=0))
