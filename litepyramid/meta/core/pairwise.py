"""Soft pairwise accuracy, and accuracy with calibrated ties (WMT's metrics tasks, 2023 to 2025)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from litepyramid.meta.core.draws import Swapped
from litepyramid.types import FloatArray

SPA_PERMUTATIONS, SPA_SEED = 1000, 4
"""Of the p-values within SPA; those of Google's mt-metrics-eval."""

Resample = Callable[[FloatArray | None, FloatArray | None, FloatArray | None], FloatArray]
_NEAR = 8
_TIES = 1e4  # null differences of standardised sums are told apart to this part of a deviation


def spa(X: FloatArray, Z: FloatArray, weights: FloatArray | None = None) -> float:
    """Soft pairwise accuracy (Thompson et al. 2024): 1 − mean over pairs of systems of |p^h − p^m|.

    p is one-sided, of a paired permutation test over inputs: the share of 1,000 exchanges of the
    two systems' scores, input by input, that make their difference at least as large. One draw of
    exchanges (seed 4) serves all pairs, people and metric. In float32, as in mt-metrics-eval, whose
    values these are to the last bit; its draw goes by the order of the inputs.

    Args:
        X: (N, M) scores; an input that some system has no score of, on either side, is left out.
        Z: (N, M) scores.
        weights: (N,) how often each system was drawn; two draws of one are not a pair.

    Returns:
        Between 0 and 1; NaN without a pair or an input.

    Example:
        >>> X = np.array([[1.0, 2, 3, 4], [2, 1, 2, 1], [0, 0, 1, 0]])
        >>> spa(X, X), round(spa(-X, X), 3) < 0.5
        (1.0, True)
    """
    kept = ~(np.isnan(X) | np.isnan(Z)).any(axis=0)
    signs = _signs(int(kept.sum()))
    w = np.ones(len(X)) if weights is None else weights
    one, two = np.triu_indices(len(X), 1)
    pairs = w[one] * w[two]
    if not kept.any() or not pairs.any():
        return float("nan")
    metric, people = (
        _p_values(np.ascontiguousarray(side[:, kept], dtype=np.float32), signs) for side in (X, Z)
    )
    return float(1 - np.average(np.abs(metric - people), weights=pairs))


def _signs(inputs: int) -> Any:
    rng = np.random.default_rng(SPA_SEED)
    return rng.integers(0, 2, (SPA_PERMUTATIONS, inputs)).astype(np.float32) * 2 - 1


def _p_values(x: Any, signs: Any) -> FloatArray:
    """(pairs,) of float32 scores, first system over second."""
    null, observed = np.ascontiguousarray((signs @ x.T).T), x.sum(axis=1)
    parts = [np.empty(0)]
    for i in range(len(x) - 1):
        larger = null[i] - null[i + 1 :] >= (observed[i] - observed[i + 1 :])[:, None]
        parts.append(larger.mean(axis=1))
    return np.concatenate(parts)


def resampled(X: FloatArray, Z: FloatArray, coefficient: str) -> Resample:
    """`spa` or `acc_eq` of samples, by (B, N) and (B, M) numbers of draws; ε is fitted to each."""
    pairs = TieAccuracy.of(X, Z)

    def evaluate(
        systems: FloatArray | None, inputs: FloatArray | None, other: FloatArray | None = None
    ) -> FloatArray:
        found = []
        for b in range(len(systems if inputs is None else inputs)):  # type: ignore[arg-type]
            w = None if systems is None else systems[b]
            v = None if inputs is None else inputs[b]
            if coefficient == "acc-eq":
                found.append(pairs.best(w, v)[0])
            else:
                drawn = slice(None) if v is None else np.repeat(np.arange(len(v)), v.astype(int))
                found.append(spa(X[:, drawn], Z[:, drawn], w))
        return np.array(found)

    return evaluate


class SpaSwaps(Swapped):
    """The difference of two metrics' SPA when their scores are swapped; see `Swapped`."""

    dtype = np.float32

    def __init__(self, X: FloatArray, Y: FloatArray, Z: FloatArray) -> None:
        self._kept = ~np.isnan(Z).any(axis=0)
        x, y = X[:, self._kept], Y[:, self._kept]
        signs = _signs(x.shape[1])
        # A null difference less the observed one is a difference of these sums: −2 or 0 a score.
        self._less = np.ascontiguousarray((signs - 1).T) * np.float32(_TIES)
        self._half = np.asarray((x - y)[:, None] / 2, dtype=np.float32)
        self._middle = np.rint(np.asarray((x + y) / 2, dtype=np.float32) @ self._less)[:, None]
        z = np.ascontiguousarray(Z[:, self._kept], dtype=np.float32)
        self._p_human = _p_values(z, signs).astype(np.float32)

    def __call__(self, blocks: Iterable[FloatArray]) -> FloatArray:
        """SPA(X', Z) − SPA(Y', Z) for blocks of coins, (N, M, B) each."""
        return self.moved(self.shifts(blocks))

    def shifts(self, blocks: Iterable[FloatArray]) -> FloatArray:
        """(N, samples, permutations): what the sums of X gain and those of Y lose."""
        moved = [(u[:, self._kept].swapaxes(1, 2) * self._half) @ self._less for u in blocks]
        return np.rint(np.concatenate(moved, axis=1))

    def moved(self, shift: FloatArray, other: SpaSwaps | None = None) -> FloatArray:
        """The difference for sums moved by so much; of two metrics alone as `SystemSwaps.moved`."""
        middle = self._middle if other is None else self._middle + other._middle
        found = []
        for start in range(0, shift.shape[1], _NEAR):  # parts that stay in the processor's cache
            part = shift[:, start : start + _NEAR]
            found.append(self._distance(middle - part) - self._distance(middle + part))
        return np.concatenate(found)

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


@dataclass(frozen=True, slots=True)
class TieAccuracy:
    """The pairs of all inputs in the order of the metric's differences, ready to be calibrated.

    Attributes:
        distance: (P,) |difference| of each pair by the metric, ascending.
        gain: (P,) what calling it a tie adds to the correct pairs: 1 if people tie, −1 if the
            metric has their order, else 0.
        right: (P,) 1 if it is right when it is not a tie.
        systems: (2, P) the pair.
        inputs: (P,) its input.
    """

    distance: FloatArray
    gain: FloatArray
    right: FloatArray
    systems: Any
    inputs: Any

    @classmethod
    def of(cls, X: FloatArray, Z: FloatArray) -> TieAccuracy:
        """The pairs of systems of each input that both sides scored."""
        one, two = np.triu_indices(len(X), 1)
        dx, dz = X[one] - X[two], Z[one] - Z[two]
        pair, inputs = np.nonzero(~(np.isnan(dx) | np.isnan(dz)))
        x, z = dx[pair, inputs], dz[pair, inputs]
        order = np.argsort(np.abs(x), kind="stable")
        x, z, pair, inputs = x[order], z[order], pair[order], inputs[order]
        right = ((np.sign(x) == np.sign(z)) & (z != 0)).astype(np.float64)
        return cls(np.abs(x), (z == 0) - right, right, np.stack([one[pair], two[pair]]), inputs)

    def best(
        self, systems: FloatArray | None = None, inputs: FloatArray | None = None
    ) -> tuple[float, float]:
        """The mean over inputs of the accuracy at the ε that makes it largest, and that ε.

        Args:
            systems: (N,) how often each system was drawn.
            inputs: (M,) how often each input was drawn.
        """
        if not self.distance.size:
            return float("nan"), float("nan")
        w = np.ones(self.distance.size)
        if systems is not None:
            w = systems[self.systems[0]] * systems[self.systems[1]]
        drawn = np.ones(self.inputs.max() + 1) if inputs is None else inputs
        whole = np.bincount(self.inputs, w, minlength=drawn.size)
        share = np.divide(drawn, whole, out=np.zeros(drawn.size), where=whole > 0)
        if not (total := float(drawn[whole > 0].sum())):
            return float("nan"), float("nan")
        w = w * share[self.inputs]
        last = np.append(np.diff(self.distance) > 0, True)
        values = np.cumsum(w * self.gain)[last]
        edges = self.distance[last]
        if edges[0] > 0:
            edges, values = np.append(0.0, edges), np.append(0.0, values)
        best = int(np.argmax(values > values.max() - 1e-9 * total))
        return float((w @ self.right + values[best]) / total), float(edges[best])


def acc_eq(X: FloatArray, Z: FloatArray) -> tuple[float, float]:
    """Accuracy of pairs with calibrated ties, and its ε (Deutsch, Foster & Freitag 2023).

    Over the pairs of systems of one input, acc = (C + T_hm) / (C + D + T_h + T_m + T_hm): C in
    people's order, D in the other, T tied by people, by the metric, by both. The metric ties a pair
    whose scores differ by at most ε; ε, one for the data set, is the observed difference (or 0)
    that makes the mean of acc over inputs largest, of several the smallest. Scores are compared as
    they are, unrounded. ε is fitted to the data that it is used on, which flatters a little.

    Args:
        X: (N, M) scores, NaN = not scored.
        Z: (N, M) scores.

    Returns:
        The accuracy, between 0 and 1, and ε; NaN without a pair.

    Example:
        >>> X, Z = np.array([[0.1], [0.12], [0.5]]), np.array([[1.0], [1.0], [2.0]])
        >>> accuracy, epsilon = acc_eq(X, Z)
        >>> accuracy, round(epsilon, 6)
        (1.0, 0.02)
    """
    return TieAccuracy.of(X, Z).best()


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
        """(samples, M): each input's part of the difference."""
        return np.concatenate([np.einsum("nm,nmb->bm", self._parts, u) for u in blocks])

    def __call__(self, blocks: Iterable[FloatArray]) -> FloatArray:
        """acc_eq(X', Z) − acc_eq(Y', Z) for blocks of coins, (N, M, B) each."""
        return np.asarray(self.terms(blocks).sum(axis=1))
