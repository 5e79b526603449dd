"""Two metrics prepared for swaps of their scores: differences of correlations as polynomials.

A sample swaps the scores of X and Y where a coin falls on -1: x' = (x + y)/2 + u (x - y)/2. What a
test needs is a polynomial in the coins u: averages and moments are linear; the sign of x'_i - x'_l
is ¼ (A + u_i B + u_l C + u_i u_l E) with matrices of the signs among and between the two metrics.
And y' is x' under -u, so half of the terms cancel in the difference: where no scores tie, that of
Kendall's and of Spearman's coefficients is one scalar product.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from litepyramid.meta.core.coefficients import Coefficient, constant_rows, correlate_rows, midranks
from litepyramid.meta.core.levels import Level, checked, mean_tolerance
from litepyramid.meta.core.pairwise import SPA_PERMUTATIONS, acc_eq, spa_p_values, spa_signs
from litepyramid.stats import system_means
from litepyramid.types import FloatArray

Scores = tuple[FloatArray, FloatArray, FloatArray]
"""(N, M) of two metrics and of people, X, Y and Z; a cell that one lacks is NaN in Z."""

Floats = NDArray[np.floating]

_NEAR, _NEAR_SPA = 32_768, 8
_TIES = 1e4  # null differences of standardised sums are distinguished to this share of a deviation


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


class SystemSwaps(Swapped):
    """System level: averages under swaps are linear in the coins."""

    def __init__(self, scores: Scores, coefficient: Coefficient) -> None:
        X, Y, Z = scores
        scored = ~np.isnan(Z)
        ranked = scored.any(axis=1)
        number = np.maximum(scored.sum(axis=1, keepdims=True), 1)
        self._half = np.where(scored, X - Y, 0.0) / (2.0 * number)
        self._middle = np.where(scored, X + Y, 0.0).sum(axis=1, keepdims=True) / (2.0 * number)
        self._z = system_means(Z)[ranked]
        self._ranked = np.nonzero(ranked)[0]
        self._tolerance = max(mean_tolerance(X), mean_tolerance(Y))
        self._z_tolerance = mean_tolerance(Z)
        self._coefficient = coefficient

    def _differences(self, u: FloatArray) -> FloatArray:
        return self.moved(self.shifts([u]))

    def shifts(self, blocks: Iterable[FloatArray]) -> FloatArray:
        """(N, samples): what the averages of X gain and those of Y lose."""
        moved = [np.matmul(self._half[:, None, :], u)[:, 0, :] for u in blocks]
        return np.concatenate(moved, axis=1)

    def moved(self, shift: FloatArray, other: SystemSwaps | None = None) -> FloatArray:
        """r(X', Z) - r(Y', Z) for averages moved by `shift`.

        All is linear in the scores: two metrics that are prepared alone, each against 0, are a pair
        when the one is moved by the difference of their shifts, and told the `other`.
        """
        x, y, tolerance = self._averages(shift, other)
        rx, ry = (
            correlate_rows(
                np.ascontiguousarray(averages.T), self._z, self._coefficient,
                x_tolerance=tolerance, z_tolerance=self._z_tolerance,
            )
            for averages in (x, y)
        )  # fmt: skip
        return np.asarray(rx - ry)

    def terms(self, shift: FloatArray, other: SystemSwaps) -> FloatArray:
        """(samples, N): each system's part in the difference of two rank coefficients' numerators.

        Σ a_il sign(x'_i - x'_l) is quadratic in coins that swap whole systems; of the difference
        of that and the same for y' only the linear part 2 L·u is left, ties or not. Turning all
        coins of a system over changes the sign of its L_i, and nothing else.
        """
        x, y, tolerance = self._averages(shift, other)
        ranks = midranks(self._z, None, self._z_tolerance)[0]
        a = ranks[:, None] - ranks
        if self._coefficient != "spearman":
            a = np.sign(a)
        parts = np.empty(x.shape)
        for i in range(len(x)):
            signs = np.zeros(x.shape, dtype=np.int8)
            for row, sign in ((x[i], 1), (y[i], -1)):
                for others in (x, y):
                    signs += sign * (
                        (others < row - tolerance).view(np.int8)
                        - (others > row + tolerance).view(np.int8)
                    )
            parts[i] = a[i] @ signs
        return parts.T

    def _averages(
        self, shift: FloatArray, other: SystemSwaps | None
    ) -> tuple[FloatArray, FloatArray, float]:
        shift, middle, tolerance = shift[self._ranked], self._middle[self._ranked], self._tolerance
        if other is not None:
            middle = middle + other._middle[self._ranked]
            tolerance = max(tolerance, other._tolerance)
        return middle + shift, middle - shift, tolerance


class GlobalSwaps(Swapped):
    """Global level: the swapped scores themselves."""

    def __init__(self, scores: Scores, coefficient: Coefficient) -> None:
        self._scored = ~np.isnan(scores[2])
        self._x, self._y, self._z = (side[self._scored] for side in scores)
        self._coefficient = coefficient

    def _differences(self, u: FloatArray) -> FloatArray:
        unswapped = u[self._scored].T > 0
        sides = np.where(unswapped, self._x, self._y), np.where(unswapped, self._y, self._x)
        rx, ry = (correlate_rows(side, self._z, self._coefficient) for side in sides)
        return np.asarray(rx - ry)


class _ByInput(Swapped):
    """Summary level: inputs change independently of each other under the coins."""

    by_input = True

    def terms(self, blocks: Iterable[FloatArray]) -> FloatArray:
        """(samples, inputs): the two coefficients' difference at each input; NaN if one has none.

        Turning all coins of an input over changes the sign of its difference, and nothing else.
        """
        return np.concatenate([self._terms(u).T for u in blocks])

    def _differences(self, u: FloatArray) -> FloatArray:
        return mean_difference(*self._sides(u))

    def _terms(self, u: FloatArray) -> FloatArray:
        """(inputs, B) differences."""
        rx, ry = self._sides(u)
        return rx - ry

    def _sides(self, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The coefficients of X' and of Y' with Z, (inputs, B) each."""
        raise NotImplementedError


def mean_difference(rx: FloatArray, ry: FloatArray) -> FloatArray:
    """mean(rx) - mean(ry) over the inputs that have a value on that side, (M, B) each."""
    sides = []
    for r in (rx, ry):
        valid = ~np.isnan(r)
        with np.errstate(invalid="ignore", divide="ignore"):
            sides.append(np.where(valid, r, 0.0).sum(axis=0) / valid.sum(axis=0))
    return np.asarray(sides[0] - sides[1])


class Moments(_ByInput):
    """Pearson: Σ x'z, Σ x' and Σ x'² of a column are linear in its coins."""

    def __init__(self, scores: Scores) -> None:
        X, Y, Z = scores
        scored = ~np.isnan(Z)
        self._n = np.maximum(scored.sum(axis=0), 1)[:, None].astype(np.float64)
        x, y, z = (np.where(scored, a, 0.0) for a in (X, Y, Z))
        # The same constant off both metrics changes no correlation and keeps the sums small.
        middle = (x + y).sum(axis=0) / (2.0 * self._n[:, 0])
        x, y = (np.where(scored, a - middle, 0.0) for a in (x, y))
        z = np.where(scored, z - z.sum(axis=0) / self._n[:, 0], 0.0)
        self._few = (scored.sum(axis=0) < 2) | constant_rows(
            np.where(scored, Z, 0.0).T, scored.T.astype(np.float64), 0.0
        )
        self._linear = np.stack([(x - y) * z, x - y, x * x - y * y], axis=0).transpose(2, 0, 1) / 2
        self._fixed = np.stack([(x + y) * z, x + y, x * x + y * y], axis=0).sum(axis=1) / 2
        self._zz = (z * z).sum(axis=0)[:, None]
        self._columns = X, Y, Z
        self._scored = scored

    def _sides(self, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        change = np.matmul(self._linear, u)
        sides = []
        for sign in (1.0, -1.0):
            xz, x, xx = (self._fixed[i][:, None] + sign * change[:, i] for i in range(3))
            spread = xx - x * x / self._n
            with np.errstate(invalid="ignore", divide="ignore"):
                r = xz / np.sqrt(spread * self._zz)
            r[self._few] = np.nan
            doubtful = ~(spread > 1e-4 * xx) & ~self._few[:, None]
            for column, sample in zip(*np.nonzero(doubtful), strict=True):
                r[column, sample] = self._exact(column, sign * u[column, :, sample])
            sides.append(np.clip(r, -1.0, 1.0))
        return sides[0], sides[1]

    def _exact(self, column: int, coins: FloatArray) -> float:
        """In two passes, which sees constants: for columns that a swap leaves all but constant."""
        scored = self._scored[:, column]
        x, y, z = (a[scored, column] for a in self._columns)
        return float(correlate_rows(np.where(coins[scored] > 0, x, y), z, "pearson")[0])


class ColumnRanks(_ByInput):
    """Kendall, Spearman and pairwise accuracy: signs under swaps are quadratic in the coins.

    With s'_il = sign(x'_i - x'_l) and a_il antisymmetric (the signs of Z, or half the difference of
    its midranks), Σ_{i<l} a_il s'_il = c + L·u + uᵀQu. For y' the coins are -u. Where nothing in
    the column ties, the denominator does not depend on u, and the difference is 2 L·u over it.
    """

    def __init__(self, scores: Scores, coefficient: Coefficient) -> None:
        X, Y, Z = scores
        # All sums are of small multiples of 1/16: exact in 24 bits for so few systems.
        self.dtype = np.float32 if len(X) <= 128 else np.float64
        scored = ~np.isnan(Z).T
        self._coefficient = coefficient
        n = scored.sum(axis=1).astype(np.float64)
        x, y, z = (np.where(scored, a.T, 0.0) for a in (X, Y, Z))
        both = scored[:, :, None] & scored[:, None, :]
        both &= ~np.eye(len(X), dtype=bool)
        sz = _signs(z, z, both)
        xx, xy, yy = _signs(x, x, both), _signs(x, y, both), _signs(y, y, both)
        yx = -xy.transpose(0, 2, 1)
        self._A, self._B = xx + xy + yx + yy, xx + xy - yx - yy
        self._C, self._E = xx - xy + yx - yy, xx - xy - yx + yy
        untied = [np.abs(s) for s in (xx, xy, yx, yy)]
        tied = (both & ((untied[0] + untied[1] + untied[2] + untied[3]) < 4)).any(axis=(1, 2))
        constant_z = ~sz.any(axis=(1, 2))
        if coefficient == "spearman":
            ranks = midranks(z, scored.astype(np.float64))
            centred = np.where(scored, ranks - (n[:, None] + 1) / 2, 0.0)
            a = ((centred[:, :, None] - centred[:, None, :]) * both / 2).astype(np.float32)
            self._z_ranks = centred.astype(self.dtype)
            self._z_size = np.sqrt((centred**2).sum(axis=1))
            full = self._z_size * np.sqrt((n**3 - n) / 12)
        else:
            a = sz.astype(np.float32)
            self._z_size = np.sqrt((sz != 0).sum(axis=(1, 2)) / 2)
            full = self._z_size * np.sqrt(n * (n - 1) / 2)
        if coefficient == "pairwise":
            full = n * (n - 1)
            self._agree = (1.5 * np.abs(sz) - 1.0) * both
            self._both_tied = ((sz == 0) & both).sum(axis=(1, 2))[:, None] / 2
            usable = n >= 2
        else:
            usable = (n >= 2) & ~constant_z
        self._a = a
        self._untied = untied
        self._pairs = n * (n - 1)
        self._linear = (a * self._B).sum(axis=2, dtype=np.float64) / 4
        with np.errstate(invalid="ignore", divide="ignore"):
            scaled = 2.0 * self._linear / full[:, None]
        self._plain = np.nonzero(usable & ~tied)[0]
        self._tied = np.nonzero(usable & tied)[0]
        self._usable = np.nonzero(usable)[0]
        self._count = len(self._usable)
        self._scaled = scaled[self._plain].reshape(-1)
        self._prepared: dict[str, tuple[Floats, ...]] = {}

    def _differences(self, u: FloatArray) -> FloatArray:
        samples = u.shape[2]
        if not self._count:
            return np.full(samples, np.nan)
        total = np.zeros(samples)
        if self._tied.size:
            rx, ry = self._values("tied", self._tied, u)
            if np.isnan(rx).any() or np.isnan(ry).any():
                # The two means are over different inputs: nothing cancels any more.
                return mean_difference(*self._values("all", self._usable, u))
            total += (rx - ry).sum(axis=0)
        if self._plain.size:
            flat = u[self._plain] if self._plain.size < len(u) else u
            total += self._scaled @ flat.reshape(-1, samples)
        return total / self._count

    def _terms(self, u: FloatArray) -> FloatArray:
        """(inputs, B) differences, the untied inputs first."""
        plain = self._scaled.reshape(len(self._plain), 1, self._a.shape[2])
        terms = [np.matmul(plain, u[self._plain])[:, 0]]
        if self._tied.size:
            rx, ry = self._values("tied", self._tied, u)
            terms.append(rx - ry)
        return np.concatenate(terms)

    def _values(
        self, name: str, columns: NDArray[np.intp], u: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """The coefficients of X' and of Y' with Z for some inputs, (columns, B) each."""
        if name not in self._prepared:
            self._prepared[name] = self._prepare(columns)
        if len(columns) < len(u):
            u = u[columns]
        if self._coefficient == "spearman":
            return self._spearman(self._prepared[name], self._z_size[columns], u)
        return self._by_pairs(self._prepared[name], columns, u)

    def _prepare(self, columns: NDArray[np.intp]) -> tuple[Floats, ...]:
        if self._coefficient == "spearman":
            fixed, linear = (s[columns].sum(axis=2)[:, :, None] / 8 for s in (self._A, self._B))
            return (
                *(s.astype(self.dtype) for s in (fixed, linear)),
                *((s[columns] / 8).astype(self.dtype) for s in (self._C, self._E)),
                self._z_ranks[columns][:, None, :],
            )
        xx, xy, yx, yy = (s[columns] for s in self._untied)
        a = self._a[columns]
        g = self._agree[columns] if self._coefficient == "pairwise" else np.ones(1)
        forms = (
            (a * self._A[columns]).sum(axis=(1, 2))[:, None] / 8,
            self._linear[columns][:, None, :],
            a * self._E[columns] / 8,
            (g * (xx + xy + yx + yy)).sum(axis=(1, 2))[:, None] / 8,
            (g * (xx + xy - yx - yy)).sum(axis=2)[:, None, :] / 4,
            g * (xx - xy - yx + yy) / 8,
        )
        return tuple(form.astype(self.dtype) for form in forms)

    def _by_pairs(
        self, forms: tuple[Floats, ...], columns: NDArray[np.intp], u: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        parts: list[FloatArray] = []
        for fixed, linear, square in (forms[:3], forms[3:]):
            # The even and the odd chunk; all are small multiples of ⅛: exact.
            even = fixed + (np.matmul(square, u) * u).sum(axis=1)
            parts += [even.astype(np.float64), np.matmul(linear, u)[:, 0].astype(np.float64)]
        balance, flip, untied, unflip = parts
        if self._coefficient == "pairwise":
            pairs = self._pairs[columns, None] / 2
            even, odd = balance / 2 + untied + self._both_tied[columns], flip / 2 + unflip
            return (even + odd) / pairs, (even - odd) / pairs
        size = self._z_size[columns, None]
        with np.errstate(invalid="ignore", divide="ignore"):
            rx = (balance + flip) / (np.sqrt(untied + unflip) * size)
            return rx, (balance - flip) / (np.sqrt(untied - unflip) * size)

    @staticmethod
    def _spearman(
        forms: tuple[Floats, ...], z_size: FloatArray, u: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        fixed, linear, others, square, z = forms
        values = np.empty((2, len(u), u.shape[2]))
        at_once = max(1, _NEAR // u[0].size)
        for start in range(0, len(u), at_once):
            chunk = slice(start, start + at_once)
            some = u[chunk]
            even = np.matmul(square[chunk], some)
            even *= some
            even += fixed[chunk]
            odd = np.matmul(others[chunk], some)
            odd += linear[chunk] * some
            for value, ranks in zip(values, (even + odd, even - odd), strict=True):
                value[chunk] = np.matmul(z[chunk], ranks)[:, 0]
                ranks *= ranks
                size = np.sqrt(ranks.sum(axis=1), dtype=np.float64)
                with np.errstate(invalid="ignore", divide="ignore"):
                    value[chunk] /= size * z_size[chunk, None]
        return values[0], values[1]


def _signs(a: FloatArray, b: FloatArray, both: NDArray[np.bool_]) -> NDArray[np.int8]:
    """(M, N, N): the sign of a_i - b_l where both are scored and i is not l."""
    one, two = a[:, :, None], b[:, None, :]
    signs = np.subtract(one > two, one < two, dtype=np.int8)
    signs *= both
    return signs


class SpaSwaps(Swapped):
    """The difference of two metrics' SPA when their scores are swapped; see `Swapped`."""

    dtype = np.float32

    def __init__(self, X: FloatArray, Y: FloatArray, Z: FloatArray) -> None:
        self._complete = ~np.isnan(Z).any(axis=0)
        x, y = X[:, self._complete], Y[:, self._complete]
        signs = spa_signs(x.shape[1])
        # A null difference less the observed one is a difference of these sums: −2 or 0 a score.
        self._less = np.ascontiguousarray((signs - 1).T) * np.float32(_TIES)
        self._half = np.asarray((x - y)[:, None] / 2, dtype=np.float32)
        self._middle = np.rint(np.asarray((x + y) / 2, dtype=np.float32) @ self._less)[:, None]
        z = np.ascontiguousarray(Z[:, self._complete], dtype=np.float32)
        self._p_human = spa_p_values(z, signs).astype(np.float32)

    def _differences(self, u: FloatArray) -> FloatArray:
        return self.moved(self.shifts([u]))

    def shifts(self, blocks: Iterable[FloatArray]) -> FloatArray:
        """(N, samples, permutations): what the sums of X gain and those of Y lose."""
        moved = [(u[:, self._complete].swapaxes(1, 2) * self._half) @ self._less for u in blocks]
        return np.rint(np.concatenate(moved, axis=1))

    def moved(self, shift: FloatArray, other: SpaSwaps | None = None) -> FloatArray:
        """The difference for sums moved by so much; of two metrics alone as `SystemSwaps.moved`."""
        middle = self._middle if other is None else self._middle + other._middle
        differences = []
        for start in range(
            0, shift.shape[1], _NEAR_SPA
        ):  # parts that stay in the processor's cache
            chunk = shift[:, start : start + _NEAR_SPA]
            differences.append(self._distance(middle - chunk) - self._distance(middle + chunk))
        return np.concatenate(differences)

    def _distance(self, sums: Any) -> FloatArray:
        """(B,) mean |p^h − p^m| of (N, B, permutations) sums; p^m is a share of comparisons."""
        n, width, at = len(sums), sums.shape[1], 0
        flags = np.empty((n, *sums.shape[1:]), dtype=bool)
        # Eight flags at once: 125 words of bytes, each of which can count to 255.
        words = np.empty((n * (n - 1) // 2, width), dtype=np.uint64)
        for i in range(n - 1):
            larger = np.greater_equal(sums[i], sums[i + 1 :], out=flags[: n - 1 - i])
            np.add.reduce(larger.view(np.uint64), axis=2, out=words[at : at + n - 1 - i])
            at += n - 1 - i
        counts = words[..., None].view(np.uint8).sum(axis=2)
        distance = np.abs(counts / SPA_PERMUTATIONS - self._p_human[:, None])
        return np.asarray(distance.mean(axis=0)) if at else np.zeros(width)


class TieAccuracySwaps(Swapped):
    """The difference of two metrics' acc_eq when their scores are swapped; see `Swapped`.

    Each metric's ε, of all its data, goes with its scores: a pair of two metrics' scores ties up to
    the mean of both. Whether a pair is right is then a function of its two coins, u and v, and so
    is the difference of X' and Y': α (u + v) / 2 + β (u − v) / 2, linear in the coins.
    """

    def __init__(self, X: FloatArray, Y: FloatArray, Z: FloatArray) -> None:
        one, two = np.triu_indices(len(Z), 1)
        epsilon = [acc_eq(side, Z)[1] for side in (X, Y)]
        order = np.sign(Z[one] - Z[two])

        def right(first: int, second: int) -> FloatArray:
            d = (X, Y)[first][one] - (X, Y)[second][two]
            tied = np.abs(d) <= (epsilon[first] + epsilon[second]) / 2
            return np.where(np.isnan(order), 0.0, np.where(tied, 0.0, np.sign(d)) == order)

        whole = (~np.isnan(order)).sum(axis=0)
        used = max(int((whole > 0).sum()), 1)
        scale = np.divide(0.5 / used, whole, out=np.zeros(len(whole)), where=whole > 0)
        alpha, beta = (right(0, 0) - right(1, 1)) * scale, (right(0, 1) - right(1, 0)) * scale
        self._parts = np.zeros(Z.shape)
        np.add.at(self._parts, one, alpha + beta)
        np.add.at(self._parts, two, alpha - beta)

    def terms(self, blocks: Iterable[FloatArray]) -> FloatArray:
        """(samples, M): each input's chunk of the difference."""
        return np.concatenate([np.einsum("nm,nmb->bm", self._parts, u) for u in blocks])

    def _differences(self, u: FloatArray) -> FloatArray:
        return np.asarray(self.terms([u]).sum(axis=1))


def prepare_pair(
    X: FloatArray, Y: FloatArray, Z: FloatArray, level: Level, coefficient: Coefficient
) -> Swapped:
    """All of a pair of standardised metrics that does not depend on the coins."""
    checked(X, Z, level, coefficient)
    if coefficient == "spa":
        return SpaSwaps(X, Y, Z)
    if coefficient == "acc-eq":
        return TieAccuracySwaps(X, Y, Z)
    if level == "system":
        return SystemSwaps((X, Y, Z), coefficient)
    if level == "global":
        return GlobalSwaps((X, Y, Z), coefficient)
    if coefficient == "pearson":
        return Moments((X, Y, Z))
    return ColumnRanks((X, Y, Z), coefficient)
