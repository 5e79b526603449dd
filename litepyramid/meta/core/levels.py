"""The coefficients in one table, and the correlation of two matrices at one level."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from litepyramid.errors import InputError, choose
from litepyramid.meta.core.columns import (
    KendallColumns,
    PearsonColumns,
    SpearmanColumns,
)
from litepyramid.meta.core.matrices import TieAccuracy, spa
from litepyramid.meta.core.swaps import (
    KendallSwaps,
    PearsonSwaps,
    SpaSwaps,
    SpearmanSwaps,
    TieAccuracySwaps,
)
from litepyramid.meta.core.vectors import (
    constant_rows,
    kendall_rows,
    of_rows,
    pearson_rows,
    spearman_rows,
)
from litepyramid.stats import mean_of_scored, system_means
from litepyramid.types import Ends, FloatArray, IntArray, several

Level = Literal["system", "summary", "global"]
LEVELS: tuple[Level, ...] = get_args(Level)
ConstantPolicy = Literal["skip", "zb21"]
Coefficient = Literal["pearson", "spearman", "kendall", "spa", "acc-eq"]

TIE_TOLERANCE = 1e-11
"""Averages whose difference is below this share of the spread of scores are tied."""


@dataclass(frozen=True)
class CoefficientKind:
    """One coefficient: all that depends on which one it is.

    Attributes:
        symbol: What tables call it.
        rows: Its value for rows of two matrices (`core.vectors.of_rows`); None where it
            is one of whole matrices.
        columns: Prepares two matrices for draws: of systems, its value by column
            (`core.columns`); of whole matrices, of systems and inputs, its value and ε.
        swaps: Prepares two metrics and people for swaps of scores, input by input
            (`core.swaps`); for whole matrices at system level, all metrics.
        level: The only level that it has; None for every one.
        of_ranks: Its weight of a pair of systems by the difference of their ranks;
            None where it is not one of ranks.
    """

    symbol: str
    rows: Callable[..., FloatArray] | None
    columns: Callable[[FloatArray, FloatArray], Any]
    swaps: Callable[..., Any]
    level: Level | None = None
    of_ranks: Any = None


COEFFICIENTS: dict[Coefficient, CoefficientKind] = {
    "pearson": CoefficientKind("r", pearson_rows, PearsonColumns, PearsonSwaps),
    "spearman": CoefficientKind(
        "ρ",
        spearman_rows,
        SpearmanColumns,
        SpearmanSwaps,
        of_ranks=np.positive,
    ),
    "kendall": CoefficientKind(
        "τ",
        kendall_rows,
        KendallColumns,
        KendallSwaps,
        of_ranks=np.sign,
    ),
    "spa": CoefficientKind(
        "SPA",
        None,
        lambda X, Z: lambda *drawn: (spa(X, Z, *drawn), math.nan),
        SpaSwaps,
        level="system",
    ),
    "acc-eq": CoefficientKind(
        "acc_eq",
        None,
        lambda X, Z: TieAccuracy.of(X, Z).best,
        TieAccuracySwaps,
        level="summary",
    ),
}
"""Every coefficient, by its name."""
SYMBOLS = {str(name): kind.symbol for name, kind in COEFFICIENTS.items()}
"""What tables call them."""

OF_VECTORS = tuple([name for name, kind in COEFFICIENTS.items() if kind.rows])
"""Those of two vectors."""
PAIRED = {name: kind.level for name, kind in COEFFICIENTS.items() if kind.level}
"""Those of two whole matrices, each with its level."""


def correlate_rows(
    x: FloatArray,
    z: FloatArray,
    coefficient: Coefficient,
    weights: FloatArray | None = None,
    slack: Ends = (0.0, 0.0),
) -> FloatArray:
    """The coefficient of each row of `x` with the same row of `z` (`core.vectors`):
    (B,).

    Values that differ by no more than the `slack` of their side are tied. NaN where x
    or z is constant, or fewer than two items were drawn.
    """
    rows = COEFFICIENTS[coefficient].rows
    if rows is None:
        raise InputError(
            f"{coefficient} of vectors", expected=f"one of {', '.join(OF_VECTORS)}"
        )
    return of_rows(rows, x, z, weights, slack)


def best_first(values: ArrayLike) -> IntArray:
    """The indices of values, the largest first, ties in their order, NaN last."""
    return np.argsort(-np.nan_to_num(np.asarray(values), nan=-np.inf), kind="stable")


@dataclass(frozen=True)
class LevelValue:
    """One correlation and what went into it.

    `used` coefficients were averaged at summary level (else 1, or 0 for NaN);
    `constant` vectors (inputs, at summary level) were constant on either side;
    `too_few` inputs have fewer than two systems; `acc-eq` ties scores of the metric
    that differ by at most `epsilon`.
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
    choose("policy for constants", constant, ConstantPolicy)
    kind = COEFFICIENTS[coefficient]
    if kind.rows is None:
        value, epsilon = kind.columns(X, Z)()
        return LevelValue(value, int(not math.isnan(value)), 0, epsilon=epsilon)

    x = X
    z = Z
    slack = (0.0, 0.0)

    if level == "system":
        x = system_means(X)
        z = system_means(Z)
        slack = mean_tolerance(X), mean_tolerance(Z)

    scored = ~(np.isnan(x) | np.isnan(z))
    weights = None
    if level == "summary":
        # Systems that an input lacks get the weight 0, so that all inputs are rows of
        # one length.
        scored, weights = scored.T, scored.T.astype(float)
        x = np.where(scored, X.T, 0.0)
        z = np.where(scored, Z.T, 0.0)
    else:
        x, z, scored = (
            x[scored][None],
            z[scored][None],
            np.ones((1, scored.sum()), dtype=bool),
        )

    values = correlate_rows(x, z, coefficient, weights, slack)
    # An input of one system is not constant: it has nothing to vary.
    enough = scored.sum(axis=1) >= 2
    constants = constant_rows(x, weights, slack[0])
    constants |= constant_rows(z, weights, slack[1])

    if constant == "zb21":
        # Two systems and no coefficient: one of the two vectors is constant.
        for row in np.flatnonzero(np.isnan(values) & enough):
            a, s = _raised(x[row, scored[row]], slack[0])
            b, t = _raised(z[row, scored[row]], slack[1])
            values[row] = correlate_rows(a, b, coefficient, slack=(s, t))[0]

    used = int((~np.isnan(values)).sum())
    value = mean_of_scored(values)
    too_few = int((~enough).sum()) if level == "summary" else 0
    return LevelValue(value, used, int((constants & enough).sum()), too_few)


def _raised(x: FloatArray, slack: float) -> tuple[FloatArray, float]:
    """A constant vector with its first value raised, and how far apart its values are
    tied."""
    # By how much makes no difference to any coefficient, so it is 1, which rounding
    # cannot hide.
    return (np.eye(1, len(x))[0], 0.0) if np.ptp(x) <= slack else (x, slack)


def mean_tolerance(X: FloatArray) -> float:
    """Below which difference two averages of these scores are the same number, rounded:
    a share of how far scores of the median system are from the middle, for one that
    explodes ties no others, or of their size where that has no more digits."""
    middle = np.median(X[~np.isnan(X)]) if not np.isnan(X).all() else 0.0
    tolerance = 0.0
    for values, share in ((X - middle, TIE_TOLERANCE), (X, 1e-14)):
        largest = np.nan_to_num(np.abs(values)).max(axis=1, initial=0.0)
        scored = largest[largest > 0]
        if len(scored):
            tolerance = max(tolerance, float(share * np.median(scored)))
    return tolerance


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
        choose("coefficient", name, [*COEFFICIENTS])
        if PAIRED.get(name, levels[0]) not in levels:
            raise InputError(
                f"{name} at {' and '.join(levels)} level",
                expected=f"the {PAIRED[name]} level",
            )

    chosen = []
    for one in levels:
        chosen += [(one, c) for c in coefficients if PAIRED.get(c, one) == one]
    return chosen
