"""Summary level under swaps: each input's coefficient as a polynomial in the coins."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from litepyramid.meta.core.coefficients import Coefficient, constant_rows, correlate_rows, midranks
from litepyramid.meta.core.draws import Swapped
from litepyramid.meta.core.levels import ConstantPolicy, row_values
from litepyramid.types import FloatArray

Scores = tuple[FloatArray, FloatArray, FloatArray]
"""(N, M) of two metrics and of people, X, Y and Z; a cell that one lacks is NaN in Z."""

Floats = NDArray[np.floating]

_NEAR = 32_768


def mean_difference(rx: FloatArray, ry: FloatArray, number: int | None = None) -> FloatArray:
    """mean(rx) - mean(ry) over the inputs, (M, B) each.

    Each mean is over the inputs that have a value on its own side; given a `number` of inputs, the
    others count as 0.
    """
    sides = []
    for r in (rx, ry):
        valid = ~np.isnan(r)
        total = np.where(valid, r, 0.0).sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            sides.append(total / (valid.sum(axis=0) if number is None else number))
    return np.asarray(sides[0] - sides[1])


class _ByInput(Swapped):
    """What the classes below share: inputs change independently of each other under the coins."""

    by_input = True
    _number: int | None = None  # of all inputs, where one without a value counts as 0

    def __call__(self, blocks: Iterable[FloatArray]) -> FloatArray:
        """r(X', Z) - r(Y', Z) for blocks of coins, (M, N, B) each."""
        return np.concatenate([self._mean(u) for u in blocks])

    def terms(self, blocks: Iterable[FloatArray]) -> FloatArray:
        """(samples, inputs): the two coefficients' difference at each input; NaN if one has none.

        Turning all coins of an input over changes the sign of its difference, and nothing else.
        """
        return np.concatenate([self._terms(u).T for u in blocks])

    def _mean(self, u: FloatArray) -> FloatArray:
        """(B,) the difference of the two coefficients' means over the inputs."""
        return mean_difference(*self._sides(u), self._number)

    def _terms(self, u: FloatArray) -> FloatArray:
        """(inputs, B) differences."""
        rx, ry = self._sides(u)
        if self._number is not None:
            rx, ry = np.nan_to_num(rx), np.nan_to_num(ry)
        return rx - ry

    def _sides(self, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The coefficients of X' and of Y' with Z, (inputs, B) each."""
        raise NotImplementedError


class ColumnsOneByOne(_ByInput):
    """Any coefficient and policy: the swapped scores themselves, input by input. Slow."""

    def __init__(self, scores: Scores, coefficient: Coefficient, policy: ConstantPolicy) -> None:
        X, Y, Z = scores
        scored = ~np.isnan(Z)
        self._columns = [
            (s, X[s, j], Y[s, j], Z[s, j]) for j, s in enumerate(scored.T) if s.sum() >= 2
        ]
        self._places = np.nonzero(scored.sum(axis=0) >= 2)[0]
        self._coefficient, self._policy = coefficient, policy

    def _sides(self, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        values = np.full((2, len(self._places), u.shape[2]), np.nan)
        for place, (j, column) in enumerate(zip(self._places, self._columns, strict=True)):
            scored, x, y, z = column
            kept = u[j, scored].T > 0
            for side, swapped in enumerate((np.where(kept, x, y), np.where(kept, y, x))):
                values[side, place] = row_values(swapped, z, self._coefficient, self._policy)
        return values[0], values[1]


class Moments(_ByInput):
    """Pearson: Σ x'z, Σ x' and Σ x'² of a column are linear in its coins."""

    def __init__(self, scores: Scores, policy: ConstantPolicy) -> None:
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
        self._number = int((scored.sum(axis=0) >= 2).sum()) if policy == "zero" else None

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
    the column ties, the denominator does not depend on u, and the difference of the two
    coefficients is 2 L·u over it.
    """

    def __init__(self, scores: Scores, coefficient: Coefficient, policy: ConstantPolicy) -> None:
        X, Y, Z = scores
        # All sums are of small multiples of 1/16: exact in 24 bits for so few systems.
        self.dtype = np.float32 if len(X) <= 128 else np.float64
        scored = ~np.isnan(Z).T
        self._coefficient, self._policy = coefficient, policy
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
        self._count = int((n >= 2).sum()) if policy == "zero" else len(self._usable)
        self._scaled = scaled[self._plain].reshape(-1)
        self._prepared: dict[str, tuple[Floats, ...]] = {}

    def _mean(self, u: FloatArray) -> FloatArray:
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
        found = [np.matmul(plain, u[self._plain])[:, 0]]
        if self._tied.size:
            rx, ry = self._values("tied", self._tied, u)
            found.append(rx - ry)
        return np.concatenate(found)

    def _values(
        self, name: str, columns: NDArray[np.intp], u: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """The coefficients of X' and of Y' with Z for some inputs, (columns, B) each."""
        if name not in self._prepared:
            self._prepared[name] = self._prepare(columns)
        if len(columns) < len(u):
            u = u[columns]
        if self._coefficient == "spearman":
            rx, ry = self._spearman(self._prepared[name], self._z_size[columns], u)
        else:
            rx, ry = self._by_pairs(self._prepared[name], columns, u)
        return (np.nan_to_num(rx), np.nan_to_num(ry)) if self._policy == "zero" else (rx, ry)

    def _prepare(self, columns: NDArray[np.intp]) -> tuple[Floats, ...]:
        if self._coefficient == "spearman":
            fixed, own = (s[columns].sum(axis=2)[:, :, None] / 8 for s in (self._A, self._B))
            return (
                *(s.astype(self.dtype) for s in (fixed, own)),
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
            # The even and the odd part; all are small multiples of ⅛: exact.
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
        fixed, own, others, square, z = forms
        values = np.empty((2, len(u), u.shape[2]))
        at_once = max(1, _NEAR // u[0].size)
        for start in range(0, len(u), at_once):
            part = slice(start, start + at_once)
            some = u[part]
            even = np.matmul(square[part], some)
            even *= some
            even += fixed[part]
            odd = np.matmul(others[part], some)
            odd += own[part] * some
            for value, ranks in zip(values, (even + odd, even - odd), strict=True):
                value[part] = np.matmul(z[part], ranks)[:, 0]
                ranks *= ranks
                size = np.sqrt(ranks.sum(axis=1), dtype=np.float64)
                with np.errstate(invalid="ignore", divide="ignore"):
                    value[part] /= size * z_size[part, None]
        return values[0], values[1]


def _signs(a: FloatArray, b: FloatArray, both: NDArray[np.bool_]) -> NDArray[np.int8]:
    """(M, N, N): the sign of a_i - b_l where both are scored and i is not l."""
    one, two = a[:, :, None], b[:, None, :]
    signs = np.subtract(one > two, one < two, dtype=np.int8)
    signs *= both
    return signs
