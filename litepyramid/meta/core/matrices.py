"""Coefficients of two whole matrices (WMT's metrics tasks, 2023 to 2025): soft pairwise
accuracy, and accuracy with calibrated ties."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from litepyramid.types import Ends, FloatArray

SPA_PERMUTATIONS = 1000
SPA_SEED = 4
"""Of the p-values within SPA; those of Google's mt-metrics-eval."""


def spa(
    X: FloatArray,
    Z: FloatArray,
    systems: FloatArray | None = None,
    inputs: FloatArray | None = None,
) -> float:
    """Soft pairwise accuracy (Thompson et al. 2024): 1 − mean over pairs of systems of
    |p^h − p^m|.

    p is one-sided, of a paired permutation test over inputs: the share of 1,000
    exchanges of the two systems' scores, input by input, that make their difference at
    least as large. One draw of exchanges (seed 4) serves all pairs, people and metric.
    In float32, as in mt-metrics-eval, whose values these are to the last bit; its draw
    goes by the order of the inputs. An input that some system has no score of is left
    out; two draws of one system are not a pair; NaN without a pair or an input.
    `systems` (N,) and `inputs` (M,) are numbers of draws.
    """
    if inputs is not None:
        drawn = np.repeat(np.arange(len(inputs)), inputs.astype(int))
        X, Z = X[:, drawn], Z[:, drawn]
    # The same exchanges for every pair, so an input must be scored by all systems.
    complete = ~(np.isnan(X) | np.isnan(Z)).any(axis=0)
    signs = spa_signs(int(complete.sum()))
    w = np.ones(len(X)) if systems is None else systems
    one, two = np.triu_indices(len(X), 1)
    pairs = w[one] * w[two]
    if not complete.any() or not pairs.any():
        return float("nan")
    metric = spa_p_values(X[:, complete], signs)
    people = spa_p_values(Z[:, complete], signs)
    return float(1 - np.average(np.abs(metric - people), weights=pairs))


def spa_signs(inputs: int) -> Any:
    """(permutations, inputs) float32 of ±1: which inputs a permutation exchanges."""
    rng = np.random.default_rng(SPA_SEED)
    return rng.integers(0, 2, (SPA_PERMUTATIONS, inputs)).astype(np.float32) * 2 - 1


def spa_p_values(scores: FloatArray, signs: Any) -> FloatArray:
    """(pairs,) of scores in float32, first system over second.

    Sums go input by input, so that their last bits are the same on every machine: a
    library's matrix product sums in an order that depends on the processor, and ties
    hang on these bits.
    """
    # A power of two changes no bit, and keeps huge and tiny scores within float32.
    _, exponent = np.frexp(np.abs(scores).max(initial=0.0))
    x = np.ldexp(scores, -exponent).astype(np.float32, order="C")
    null = np.zeros((len(x), len(signs)), dtype=np.float32)
    for of_input, exchanged in zip(x.T, signs.T, strict=True):
        null += of_input[:, None] * exchanged
    observed = x.sum(axis=1)
    parts = [np.empty(0)]
    for i in range(len(x) - 1):
        larger = null[i] - null[i + 1 :] >= (observed[i] - observed[i + 1 :])[:, None]
        parts.append(larger.mean(axis=1))
    return np.concatenate(parts)


@dataclass(frozen=True)
class TieAccuracy:
    """The P pairs of all inputs, (P,) each, ready to be calibrated.

    `distance` is |difference| by the metric, ascending; `gain` what calling the pair a
    tie adds to the correct ones: 1 if people tie, −1 if the metric has their order,
    else 0; `right` is 1 if it is right when it is no tie; `systems`, (2, P), are the
    pair, of one of the `inputs`.
    """

    distance: FloatArray
    gain: FloatArray
    right: FloatArray
    systems: Any
    inputs: Any

    @classmethod
    def of(cls, X: FloatArray, Z: FloatArray) -> Self:
        """The pairs of systems of each input that both sides scored."""
        one, two = np.triu_indices(len(X), 1)
        dx = X[one] - X[two]
        dz = Z[one] - Z[two]
        pair, inputs = np.nonzero(~(np.isnan(dx) | np.isnan(dz)))
        x = dx[pair, inputs]
        z = dz[pair, inputs]
        # In the order of |difference|: an ε ties the first pairs, and cumulative sums
        # try every ε at once.
        order = np.argsort(np.abs(x), kind="stable")
        x, z, pair, inputs = x[order], z[order], pair[order], inputs[order]
        right = ((np.sign(x) == np.sign(z)) & (z != 0)).astype(float)

        return cls(
            np.abs(x),
            (z == 0) - right,
            right,
            np.stack([one[pair], two[pair]]),
            inputs,
        )

    def best(
        self, systems: FloatArray | None = None, inputs: FloatArray | None = None
    ) -> Ends:
        """The mean over inputs of the accuracy at the ε that makes it largest, and that
        ε.

        `systems` (N,) and `inputs` (M,) are numbers of draws.
        """
        if not self.distance.size:
            return float("nan"), float("nan")
        w = np.ones(self.distance.size)
        if systems is not None:
            w = systems[self.systems[0]] * systems[self.systems[1]]
        drawn = np.ones(self.inputs.max() + 1) if inputs is None else inputs
        # An input counts as often as it is drawn, however many pairs it has.
        whole = np.bincount(self.inputs, w, minlength=drawn.size)
        share = np.divide(
            drawn,
            whole,
            out=np.zeros(drawn.size),
            where=whole > 0,
        )
        if not (total := float(drawn[whole > 0].sum())):
            return float("nan"), float("nan")
        w = w * share[self.inputs]
        # An ε lies between different distances only: pairs of one distance tie
        # together.
        last = np.append(np.diff(self.distance) > 0, True)
        values = np.cumsum(w * self.gain)[last]
        edges = self.distance[last]
        # With ε = 0 only equal scores tie; where there are none it makes no tie at all.
        if edges[0] > 0:
            edges, values = np.append(0.0, edges), np.append(0.0, values)
        # Of several ε that are as good but for rounding, the smallest.
        best = int(np.argmax(values > values.max() - 1e-9 * total))

        return float((w @ self.right + values[best]) / total), float(edges[best])


def acc_eq(X: FloatArray, Z: FloatArray) -> Ends:
    """Accuracy of pairs with calibrated ties, and its ε (Deutsch, Foster & Freitag
    2023).

    Over the pairs of systems of one input, acc = (C + T_hm) / (C + D + T_h + T_m +
    T_hm): C in people's order, D in the other, T tied by people, by the metric, by
    both. The metric ties a pair whose scores differ by at most ε; ε, one for the data
    set, is the observed difference (or 0) that makes the mean of acc over inputs
    largest, of several the smallest. Scores are compared as they are, unrounded. ε is
    fitted to the data that it is used on, which flatters a little.
    """
    return TieAccuracy.of(X, Z).best()
