"""Correlation coefficients of many pairs of vectors at once, and of two matrices at one
level.

Functions of rows take B pairs of vectors as (B, N) arrays, or one (N,) vector that all
pairs share, and weights: how often each of the N items was drawn. A weight of 0 takes
an item out ("not scored" too is a weight of 0), and integer weights give the value that
repeated items would give. Two values nearer than a tolerance are tied: averages of tied
scores differ in the last bit only, and would break the tie. A vector that is constant
among the items drawn has no coefficient: NaN.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from litepyramid.errors import InputError, choose
from litepyramid.stats import system_means
from litepyramid.types import FloatArray, IntArray, several

Level = Literal["system", "summary", "global"]
LEVELS: tuple[Level, ...] = get_args(Level)
ConstantPolicy = Literal["skip", "zb21"]
CONSTANT_POLICIES: tuple[ConstantPolicy, ...] = get_args(ConstantPolicy)
Coefficient = Literal["pearson", "spearman", "kendall", "spa", "acc-eq"]
COEFFICIENTS: tuple[Coefficient, ...] = get_args(Coefficient)[:3]
"""Those of two vectors."""
PAIRED = {"spa": "system", "acc-eq": "summary"}
"""Those of two whole matrices (WMT's metrics tasks, 2023 to 2025), each with its
level."""

SPA_PERMUTATIONS = 1000
SPA_SEED = 4
"""Of the p-values within SPA; those of Google's mt-metrics-eval."""

TIE_TOLERANCE = 1e-11
"""Averages whose difference is below this share of the largest score in the matrix are
tied."""

_PAIR_CELLS = 20_000
_MOST_PAIRED = 600


def correlate_rows(
    x: FloatArray,
    z: FloatArray,
    coefficient: Coefficient,
    weights: FloatArray | None = None,
    *,
    x_tolerance: float = 0.0,
    z_tolerance: float = 0.0,
) -> FloatArray:
    """The coefficient of each row of `x` with the same row of `z`: (B,) float64.

    - ``pearson``: Σ w (x - x̄)(z - z̄) / √(Σ w (x - x̄)² · Σ w (z - z̄)²);
    - ``spearman``: Pearson's of the midranks;
    - ``kendall``: τ-b = (C - D) / √((n₀ - t_x)(n₀ - t_z)), n₀ pairs, t tied ones (Kendall 1945).

    Values that differ by no more than a tolerance are tied. NaN where x or z is
    constant, or fewer than two items were drawn.
    """
    rows = max(1 if a is None or a.ndim == 1 else len(a) for a in (x, z, weights))
    if x.shape[-1] < 2:
        return np.full(rows, np.nan)
    if coefficient == "kendall":
        way = _long_kendall if x.shape[-1] > _MOST_PAIRED else _kendall
        return way(
            np.atleast_2d(x),
            np.atleast_2d(z),
            weights,
            x_tolerance,
            z_tolerance,
            rows,
        )

    if coefficient == "spearman":
        x, z = midranks(x, weights, x_tolerance), midranks(z, weights, z_tolerance)
        x_tolerance = z_tolerance = 0.0

    return _pearson(
        np.atleast_2d(x),
        np.atleast_2d(z),
        weights,
        x_tolerance,
        z_tolerance,
        rows,
    )


def constant_rows(
    x: FloatArray, weights: FloatArray | None, tolerance: float
) -> NDArray[np.bool_]:
    """Whether each row's drawn items all have one value (rows with no item are
    constant)."""
    if x.shape[-1] == 0:
        return np.ones(1 if x.ndim == 1 else len(x), dtype=bool)
    if weights is None:
        return np.asarray(np.ptp(np.atleast_2d(x), axis=1) <= tolerance)
    drawn = np.atleast_2d(weights > 0)
    high = np.where(drawn, x, -np.inf).max(axis=1)
    low = np.where(drawn, x, np.inf).min(axis=1)
    return np.asarray(high - low <= tolerance)


def dense_ranks(x: FloatArray, tolerance: float = 0.0) -> IntArray:
    """Ranks from 0, none left out; values within `tolerance` of the next in order share
    one."""
    order = np.argsort(x, axis=-1)
    ordered = np.take_along_axis(x, order, axis=-1)
    steps = np.zeros(x.shape, dtype=np.int64)
    np.cumsum(np.diff(ordered, axis=-1) > tolerance, axis=-1, out=steps[..., 1:])
    ranks = np.empty_like(steps)
    np.put_along_axis(ranks, order, steps, axis=-1)
    return ranks


def best_first(values: ArrayLike) -> IntArray:
    """The indices of values, the largest first, ties in their order, NaN last."""
    return np.argsort(-np.nan_to_num(np.asarray(values), nan=-np.inf), kind="stable")


def midranks(
    x: FloatArray, weights: FloatArray | None, tolerance: float = 0.0
) -> FloatArray:
    """Ranks from 1, tied ones share their mean; as if each item stood there `weights`
    times."""
    dense = np.atleast_2d(dense_ranks(x, tolerance))
    n = dense.shape[1]
    weights = np.ones((1, n)) if weights is None else np.atleast_2d(weights)
    rows = max(len(dense), len(weights))
    keys = np.broadcast_to(dense, (rows, n)) + np.arange(0, rows * n, n)[:, None]
    drawn = np.broadcast_to(weights, (rows, n))
    in_group = np.bincount(keys.ravel(), drawn.ravel(), rows * n).reshape(rows, n)
    middle = np.cumsum(in_group, axis=1) - 0.5 * (in_group - 1.0)
    return np.asarray(middle.ravel()[keys])


def _pearson(
    x: FloatArray, z: FloatArray, weights: FloatArray | None, x_tolerance: float,
    z_tolerance: float, rows: int,
) -> FloatArray:  # fmt: skip
    none = constant_rows(x, weights, x_tolerance) | constant_rows(
        z, weights, z_tolerance
    )
    dx = _deviations(x, weights)
    dz = _deviations(z, weights)
    wx, wz = (dx, dz) if weights is None else (dx * weights, dz * weights)
    with np.errstate(invalid="ignore", divide="ignore"):
        norms = np.sqrt((wx * dx).sum(axis=1)) * np.sqrt((wz * dz).sum(axis=1))
        r = np.clip((wx * dz).sum(axis=1) / norms, -1.0, 1.0)
    r[np.broadcast_to(none, r.shape)] = np.nan
    return np.array(np.broadcast_to(r, (rows,)))


def _deviations(x: FloatArray, weights: FloatArray | None) -> FloatArray:
    """x less its weighted mean, scaled so that no square under- or overflows."""
    if weights is None:
        drawn = x - x.mean(axis=1, keepdims=True)
    else:
        weights = np.atleast_2d(weights)
        total = weights.sum(axis=1, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = (weights * x).sum(axis=1, keepdims=True) / total
        drawn = np.where(weights > 0, x - means, 0.0)
    scale = np.abs(drawn).max(axis=1, keepdims=True)
    return np.asarray(drawn / np.where(scale > 0, scale, 1.0))


def _kendall(
    x: FloatArray, z: FloatArray, weights: FloatArray | None, x_tolerance: float,
    z_tolerance: float, rows: int,
) -> FloatArray:  # fmt: skip
    """By the signs of all pairs' differences, some rows at once."""
    one, two = np.triu_indices(x.shape[1], 1)
    weights = None if weights is None else np.atleast_2d(weights)
    result = np.empty(rows)
    at_once = max(1, _PAIR_CELLS // one.size)

    for start in range(0, rows, at_once):
        chunk = slice(start, start + at_once)
        x_part, z_part = (a if len(a) == 1 else a[chunk] for a in (x, z))
        w = weights if weights is None or len(weights) == 1 else weights[chunk]
        dx = x_part[:, one] - x_part[:, two]
        dz = z_part[:, one] - z_part[:, two]
        sx = np.subtract(dx > x_tolerance, dx < -x_tolerance, dtype=np.int8)
        sz = np.subtract(dz > z_tolerance, dz < -z_tolerance, dtype=np.int8)
        pairs = 1 if w is None else w[:, one] * w[:, two]
        balance, untied_x, untied_z = (
            (pairs * flags).sum(axis=1, dtype=np.float64)
            for flags in (sx * sz, sx != 0, sz != 0)
        )

        with np.errstate(invalid="ignore", divide="ignore"):
            result[chunk] = balance / np.sqrt(untied_x * untied_z)

    return result


def _long_kendall(
    x: FloatArray, z: FloatArray, weights: FloatArray | None, x_tolerance: float,
    z_tolerance: float, rows: int,
) -> FloatArray:  # fmt: skip
    """For long vectors, one at a time in O(n log n) by scipy, repeated items
    repeated."""
    from scipy.stats import kendalltau

    shape = rows, x.shape[1]
    x_ranks = np.broadcast_to(dense_ranks(x, x_tolerance), shape)
    z_ranks = np.broadcast_to(dense_ranks(z, z_tolerance), shape)
    drawn = np.broadcast_to(np.ones(1) if weights is None else weights, shape).astype(
        np.int64
    )
    each = zip(x_ranks, z_ranks, drawn, strict=True)

    return np.array(
        [kendalltau(np.repeat(a, w), np.repeat(b, w))[0] for a, b, w in each]
    )


# Soft pairwise accuracy, and accuracy with calibrated ties
# ---------------------------------------


def spa(X: FloatArray, Z: FloatArray, weights: FloatArray | None = None) -> float:
    """Soft pairwise accuracy (Thompson et al. 2024): 1 − mean over pairs of systems of
    |p^h − p^m|.

    p is one-sided, of a paired permutation test over inputs: the share of 1,000
    exchanges of the two systems' scores, input by input, that make their difference at
    least as large. One draw of exchanges (seed 4) serves all pairs, people and metric.
    In float32, as in mt-metrics-eval, whose values these are to the last bit; its draw
    goes by the order of the inputs. An input that some system has no score of is left
    out; two draws of one system (`weights`) are not a pair; NaN without a pair or an
    input.
    """
    complete = ~(np.isnan(X) | np.isnan(Z)).any(axis=0)
    signs = spa_signs(int(complete.sum()))
    w = np.ones(len(X)) if weights is None else weights
    one, two = np.triu_indices(len(X), 1)
    pairs = w[one] * w[two]
    if not complete.any() or not pairs.any():
        return float("nan")
    metric, people = (
        spa_p_values(np.ascontiguousarray(side[:, complete], dtype=np.float32), signs)
        for side in (X, Z)
    )

    return float(1 - np.average(np.abs(metric - people), weights=pairs))


def spa_signs(inputs: int) -> Any:
    """(permutations, inputs) float32 of ±1: which inputs a permutation exchanges."""
    rng = np.random.default_rng(SPA_SEED)
    return rng.integers(0, 2, (SPA_PERMUTATIONS, inputs)).astype(np.float32) * 2 - 1


def spa_p_values(x: Any, signs: Any) -> FloatArray:
    """(pairs,) of float32 scores, first system over second.

    Sums go input by input, so that their last bits are the same on every machine: a
    library's matrix product sums in an order that depends on the processor, and ties
    hang on these bits.
    """
    null = np.zeros((len(x), len(signs)), dtype=np.float32)
    for scores, exchanged in zip(x.T, signs.T, strict=True):
        null += scores[:, None] * exchanged
    observed = x.sum(axis=1)
    parts = [np.empty(0)]
    for i in range(len(x) - 1):
        larger = null[i] - null[i + 1 :] >= (observed[i] - observed[i + 1 :])[:, None]
        parts.append(larger.mean(axis=1))
    return np.concatenate(parts)


@dataclass(frozen=True, slots=True)
class TieAccuracy:
    """The P pairs of all inputs, (P,) each, ready to be calibrated.

    `distance` is |difference| by the metric, ascending; `gain` what calling the pair a tie adds to
    the correct ones: 1 if people tie, −1 if the metric has their order, else 0; `right`
    is 1 if it is right when it is no tie; `systems`, (2, P), are the pair, of one of
    the `inputs`.
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
        order = np.argsort(np.abs(x), kind="stable")
        x, z, pair, inputs = x[order], z[order], pair[order], inputs[order]
        right = ((np.sign(x) == np.sign(z)) & (z != 0)).astype(np.float64)

        return cls(
            np.abs(x),
            (z == 0) - right,
            right,
            np.stack([one[pair], two[pair]]),
            inputs,
        )

    def best(
        self, systems: FloatArray | None = None, inputs: FloatArray | None = None
    ) -> tuple[float, float]:
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


# Levels
# ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LevelValue:
    """One correlation and what went into it.

    `used` coefficients were averaged at summary level (else 1, or 0 for NaN); `constant` vectors
    (inputs, at summary level) were constant on either side; `too_few` inputs have fewer
    than two systems; `acc-eq` ties scores of the metric that differ by at most
    `epsilon`.
    """

    value: float
    used: int
    constant: int
    too_few: int = 0
    epsilon: float = math.nan


def level_correlation(
    X: FloatArray,
    Z: FloatArray,
    level: Level = "system",
    coefficient: Coefficient = "pearson",
    constant: ConstantPolicy = "skip",
) -> LevelValue:
    """The correlation of (N, M) scores X with scores Z, NaN = not scored (DDR21 §2).

    - ``system``: K over systems of (mean over inputs of X, mean over inputs of Z);
    - ``summary``: mean over inputs of K over systems;
    - ``global``: K over all cells.

    At the last two, a cell missing on either side is left out of both. At system level
    the two sides may have different inputs (DDR22 §3): each is averaged over the inputs
    that it scored. Averages that differ only by rounding are tied. A constant vector's
    coefficient is left out (``"skip"``, DDR21), or that of the vector with its first
    value raised by a tiny amount (``"zb21"``: the ZB21 authors' code adds 1e-10; the
    first is that of the first row, so the order of systems is part of the definition).
    """
    choose("policy for constants", constant, CONSTANT_POLICIES)
    if coefficient in PAIRED:
        value, epsilon = (
            acc_eq(X, Z) if coefficient == "acc-eq" else (spa(X, Z), math.nan)
        )
        return LevelValue(
            value,
            int(not math.isnan(value)),
            0,
            0,
            epsilon,
        )

    x = X
    z = Z
    slacks = (0.0, 0.0)

    if level == "system":
        x = system_means(X)
        z = system_means(Z)
        slacks = mean_tolerance(X), mean_tolerance(Z)

    scored = ~(np.isnan(x) | np.isnan(z))
    weights = None
    if level == "summary":
        scored, weights = scored.T, scored.T.astype(np.float64)
        x = np.where(scored, X.T, 0.0)
        z = np.where(scored, Z.T, 0.0)
    else:
        x, z, scored = (
            x[scored][None],
            z[scored][None],
            np.ones((1, scored.sum()), dtype=bool),
        )

    values = correlate_rows(
        x,
        z,
        coefficient,
        weights,
        x_tolerance=slacks[0],
        z_tolerance=slacks[1],
    )
    enough = scored.sum(axis=1) >= 2
    constants = constant_rows(x, weights, slacks[0]) | constant_rows(
        z, weights, slacks[1]
    )

    if constant == "zb21":
        for row in np.flatnonzero(np.isnan(values) & enough):
            (a, s), (b, t) = (
                _raised(side[row, scored[row]], slack)
                for side, slack in zip((x, z), slacks, strict=True)
            )
            values[row] = correlate_rows(
                a,
                b,
                coefficient,
                x_tolerance=s,
                z_tolerance=t,
            )[0]

    used = int((~np.isnan(values)).sum())
    value = float(np.nanmean(values)) if used else math.nan
    too_few = int((~enough).sum()) if level == "summary" else 0
    return LevelValue(value, used, int((constants & enough).sum()), too_few)


def _raised(x: FloatArray, slack: float) -> tuple[FloatArray, float]:
    """A constant vector with its first value raised, and how far apart its values are
    tied."""
    return (np.eye(1, len(x))[0], 0.0) if np.ptp(x) <= slack else (x, slack)


def mean_tolerance(X: FloatArray) -> float:
    """Below which difference two averages of these scores are the same number,
    rounded."""
    return float(TIE_TOLERANCE * np.nanmax(np.abs(X), initial=0.0))


def kinds(
    level: Level | Sequence[Level], coefficient: Coefficient | Sequence[Coefficient]
) -> list[tuple[Level, Coefficient]]:
    """Every level with every coefficient that it has: ``spa`` and ``acc-eq`` have one
    each."""
    levels = several(level, "the level")
    coefficients = several(coefficient, "the coefficient")
    if not levels or not coefficients:
        raise InputError("no level or no coefficient", expected="at least one of each")
    for one in levels:
        choose("level", one, LEVELS)

    for name in coefficients:
        choose("coefficient", name, (*COEFFICIENTS, *PAIRED))
        if PAIRED.get(name, levels[0]) not in levels:
            raise InputError(
                f"{name} at {' and '.join(levels)} level",
                expected=f"the {PAIRED[name]} level",
            )

    return [
        (one, c) for one in levels for c in coefficients if PAIRED.get(c, one) == one
    ]
