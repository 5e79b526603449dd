"""Pairs of metrics whose scores are swapped, prepared for any coins (`permutation`):
one class for what each coefficient needs.

What a test needs is a polynomial in the coins u: averages and moments are linear; the
sign of x'_i - x'_l is ¼ (A + u_i B + u_l C + u_i u_l E) with matrices of the signs
among and between the two metrics.
"""

from collections.abc import Iterable
from copy import copy
from typing import Any, Self

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
from litepyramid.types import BoolArray, FloatArray, IntArray

Floats = NDArray[np.floating]

# Sums are rounded to this part of a deviation: those that are equal but for rounding
# must tie, whichever scores were swapped.
_TIES = 1e4


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


class LinearSwaps(Swapped):
    """Averages or sums that are linear in the coins: they move from a `middle` by a
    shift.

    Metrics are prepared one by one, each against 0; two of them `joined` are a pair,
    whose shift is the difference of theirs.
    """

    middle: Any
    tolerance = 0.0
    width = 1  # sums that a sample moves at once

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
            with undefined():
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
        self._n = np.maximum(scored.sum(axis=0), 1)[:, None].astype(float)
        x, y, z = (np.where(scored, a, 0.0) for a in (X, Y, Z))
        # The same constant off both metrics changes no correlation and keeps the sums
        # small.
        middle = (x + y).sum(axis=0) / (2.0 * self._n[:, 0])
        x = np.where(scored, x - middle, 0.0)
        y = np.where(scored, y - middle, 0.0)
        z = np.where(scored, z - z.sum(axis=0) / self._n[:, 0], 0.0)
        # Of these inputs no swap has a coefficient: the human scores are all the same.
        self._few = (scored.sum(axis=0) < 2) | constant_rows(
            np.where(scored, Z, 0.0).T, scored.T.astype(float), 0.0
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
            xz = self._fixed[0][:, None] + sign * change[:, 0]
            x = self._fixed[1][:, None] + sign * change[:, 1]
            xx = self._fixed[2][:, None] + sign * change[:, 2]
            # n times the variance; z is centred, so no mean of x is needed for xz.
            spread = xx - x * x / self._n
            with undefined():
                r = xz / np.sqrt(spread * self._zz)
            # Where a swap leaves nearly one value, the spread is what rounding left of
            # it.
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
        return float(of_rows(pearson_rows, np.where(unswapped, x, y), z)[0])


class ColumnRanks(_ByInput):
    """Kendall and Spearman: signs under swaps are quadratic in the coins.

    With s'_il = sign(x'_i - x'_l) and a_il antisymmetric (the signs of Z, or half the
    difference of its midranks), Σ_{i<l} a_il s'_il = c + L·u + uᵀQu. For y' the coins
    are -u. Where nothing in the column ties, the denominator does not depend on u, and
    the difference is 2 L·u over it.
    """

    by_midranks = False

    def __init__(self, X: FloatArray, Y: FloatArray, Z: FloatArray) -> None:
        # All sums are of small multiples of 1/16: exact in 24 bits for so few systems.
        self.dtype = np.float32 if len(X) <= 128 else np.float64
        scored = ~np.isnan(Z).T
        n = scored.sum(axis=1).astype(float)
        x, y, z = np.where(scored, (X.T, Y.T, Z.T), 0.0)
        both = scored[:, :, None] & scored[:, None, :]
        both &= ~np.eye(len(X), dtype=bool)
        sz = _signs(z, z, both)
        xx = _signs(x, x, both)
        xy = _signs(x, y, both)
        yy = _signs(y, y, both)
        yx = -xy.transpose(0, 2, 1)
        # The parts of the polynomial in the coins (the module's docstring).
        self._A, self._B = xx + xy + yx + yy, xx + xy - yx - yy
        self._C, self._E = xx - xy + yx - yy, xx - xy - yx + yy
        self._untied = [np.abs(s) for s in (xx, xy, yx, yy)]
        # Where any of a pair's four comparisons ties, the denominator moves too.
        tied = (both & (sum(self._untied) < 4)).any(axis=(1, 2))

        if self.by_midranks:
            ranks = midranks(z, scored.astype(float))
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

        # Human scores that all tie have no coefficient under any swap.
        usable = (n >= 2) & sz.any(axis=(1, 2))
        self._a = a
        self._linear = (a * self._B).sum(axis=2, dtype=float) / 4
        with undefined():
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
        self, columns: IntArray, u: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """The coefficients of X' and of Y' with Z for some inputs, (columns, B)
        each."""
        # Two sets of inputs ask, all usable and all tied ones: their sizes tell which.
        if len(columns) not in self._prepared:
            self._prepared[len(columns)] = self._prepare(columns)
        forms = self._prepared[len(columns)]
        if len(columns) < len(u):
            u = u[columns]
        if self.by_midranks:
            return self._spearman(forms, self._z_size[columns], u)
        return self._by_pairs(forms, columns, u)

    def _prepare(self, columns: IntArray) -> tuple[Floats, ...]:
        if self.by_midranks:
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
        self, forms: tuple[Floats, ...], columns: IntArray, u: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        parts = []
        for fixed, linear, square in (forms[:3], forms[3:]):
            # The even and the odd chunk; all are small multiples of ⅛: exact.
            even = fixed + (np.matmul(square, u) * u).sum(axis=1)
            parts += [
                even.astype(float),
                np.matmul(linear, u)[:, 0].astype(float),
            ]

        balance, flip, untied, unflip = parts
        size = self._z_size[columns, None]
        with undefined():
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
            size = np.sqrt((ranks * ranks).sum(axis=1), dtype=float)
            with undefined():
                values.append(np.matmul(z, ranks)[:, 0] / (size * z_size[:, None]))
        return values[0], values[1]


class SpearmanRanks(ColumnRanks):
    """Those of the midranks of Z."""

    by_midranks = True


def _signs(a: FloatArray, b: FloatArray, both: BoolArray) -> NDArray[np.int8]:
    """(M, N, N): the sign of a_i - b_l where both are scored and i is not l."""
    one = a[:, :, None]
    two = b[:, None, :]
    signs = np.subtract(one > two, one < two, dtype=np.int8)
    signs *= both
    return signs


class SpaSwaps(LinearSwaps):
    """SPA: the sums that permutations of the inputs compare."""

    dtype = np.float32
    width = SPA_PERMUTATIONS

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
        moved = []
        for u in blocks:
            swapped = u[:, self._complete].swapaxes(1, 2) * self._half
            moved.append(swapped @ self._less)
        return np.rint(np.concatenate(moved, axis=1))

    def moved(self, shift: FloatArray) -> FloatArray:
        """Of X and of Y."""
        # The distances of X' and Y' from people; the nearer one is the better one.
        return self._distance(self.middle - shift) - self._distance(self.middle + shift)

    def _distance(self, sums: Any) -> FloatArray:
        """(B,) mean |p^h − p^m| of (N, B, permutations) sums; p^m is a share of
        comparisons."""
        # One system has no pair.
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
        scale = np.divide(
            0.5 / used,
            whole,
            out=np.zeros(len(whole)),
            where=whole > 0,
        )
        alpha = (right(0, 0) - right(1, 1)) * scale
        beta = (right(0, 1) - right(1, 0)) * scale
        # α (u + v) / 2 + β (u - v) / 2 = u (α + β) / 2 + v (α - β) / 2: what each coin
        # is worth.
        self._parts = np.zeros(Z.shape)
        np.add.at(self._parts, one, alpha + beta)
        np.add.at(self._parts, two, alpha - beta)

    def terms(self, blocks: Iterable[FloatArray]) -> FloatArray:
        """(samples, M): each input's part of the difference."""
        return np.concatenate([np.einsum("nm,nmb->bm", self._parts, u) for u in blocks])

    def _differences(self, u: FloatArray) -> FloatArray:
        return np.asarray(self.terms([u]).sum(axis=1))
