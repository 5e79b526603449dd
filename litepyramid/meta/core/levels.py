"""Correlation of two score matrices at one level, with a policy for constants and all counts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from litepyramid.errors import InputError, choose
from litepyramid.meta.core.coefficients import (
    COEFFICIENTS,
    PAIRED,
    TIE_TOLERANCE,
    Coefficient,
    constant_rows,
    correlate_rows,
)
from litepyramid.meta.core.pairwise import acc_eq, spa
from litepyramid.stats import system_means
from litepyramid.text import cut
from litepyramid.types import FloatArray

Level = Literal["system", "summary", "global"]
LEVELS: tuple[Level, ...] = get_args(Level)
ConstantPolicy = Literal["skip", "zero", "zb21"]
CONSTANT_POLICIES: tuple[ConstantPolicy, ...] = get_args(ConstantPolicy)


@dataclass(frozen=True, slots=True)
class LevelValue:
    """One correlation and what went into it.

    `used` coefficients were averaged at summary level (else 1, or 0 for NaN); `constant` vectors
    (inputs, at summary level) were constant on either side; `too_few` inputs have fewer than two
    systems; `acc-eq` ties scores of the metric that differ by at most `epsilon`.
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

    At the last two, a cell missing on either side is left out of both. At system level the two
    sides may have different inputs (DDR22 §3): each is averaged over the inputs that it scored.
    Averages that differ only by rounding are tied. A constant vector's coefficient is left out
    (``"skip"``, DDR21), 0 (``"zero"``), or that of the vector with its first value raised by a tiny
    amount (``"zb21"``: the ZB21 authors' code adds 1e-10; it depends on the order of systems).

    Example:
        >>> X = np.array([[1.0, 2.0], [2.0, 2.0], [3.0, 2.0]])
        >>> level_correlation(X, np.array([[1.0, 1], [3, 2], [4, 3]]), "summary", "kendall")
        LevelValue(value=1.0, used=1, constant=1, too_few=0, epsilon=nan)
    """
    X, Z = checked(X, Z, level, coefficient, constant)
    if coefficient in PAIRED:
        value, epsilon = acc_eq(X, Z) if coefficient == "acc-eq" else (spa(X, Z), math.nan)
        return LevelValue(value, int(not math.isnan(value)), 0, 0, epsilon)
    x, z, weights = X, Z, None
    x_tolerance = z_tolerance = 0.0
    if level == "system":
        x, z = system_means(X), system_means(Z)
        x_tolerance, z_tolerance = mean_tolerance(X), mean_tolerance(Z)
    scored = ~(np.isnan(x) | np.isnan(z))
    rows_x, rows_z = x[scored][None], z[scored][None]
    if level == "summary":
        rows_x, rows_z = np.where(scored, X, 0.0).T, np.where(scored, Z, 0.0).T
        weights = scored.T.astype(np.float64)
    values = row_values(rows_x, rows_z, coefficient, constant, weights, x_tolerance, z_tolerance)
    count = np.full(1, rows_x.shape[1]) if weights is None else weights.sum(axis=1)
    constants = constant_rows(rows_x, weights, x_tolerance)
    constants = (constants | constant_rows(rows_z, weights, z_tolerance)) & (count >= 2)
    used = int((~np.isnan(values)).sum())
    return LevelValue(
        value=float(np.nanmean(values)) if used else float("nan"),
        used=used,
        constant=int(constants.sum()),
        too_few=int((count < 2).sum()) if level == "summary" else 0,
    )


def row_values(
    x: FloatArray,
    z: FloatArray,
    coefficient: Coefficient,
    policy: ConstantPolicy,
    weights: FloatArray | None = None,
    x_tolerance: float = 0.0,
    z_tolerance: float = 0.0,
) -> FloatArray:
    """`correlate_rows`; where a vector is constant, what the policy says."""
    r = correlate_rows(x, z, coefficient, weights, x_tolerance=x_tolerance, z_tolerance=z_tolerance)
    if policy == "skip" or coefficient == "pairwise" or not np.isnan(r).any():
        return r
    none = constant_rows(x, weights, x_tolerance) | constant_rows(z, weights, z_tolerance)
    shape = (len(r), x.shape[-1])
    every = np.broadcast_to(np.ones(1) if weights is None else weights, shape).astype(np.int64)
    none = np.broadcast_to(none, r.shape) & (every.sum(axis=1) >= 2)
    if policy == "zero":
        r[none] = 0.0
        return r
    sides = (np.broadcast_to(x, shape), x_tolerance), (np.broadcast_to(z, shape), z_tolerance)
    for row in np.nonzero(none)[0]:
        drawn = np.repeat(np.arange(shape[1]), every[row])
        (a, a_tolerance), (b, b_tolerance) = (
            _raised(values[row, drawn], tolerance) for values, tolerance in sides
        )
        r[row : row + 1] = correlate_rows(
            a, b, coefficient, x_tolerance=a_tolerance, z_tolerance=b_tolerance
        )
    return r


def _raised(x: FloatArray, tolerance: float) -> tuple[FloatArray, float]:
    """A constant vector with its first value raised, and how far apart its values are tied."""
    return (np.eye(1, len(x))[0], 0.0) if np.ptp(x) <= tolerance else (x, tolerance)


def mean_tolerance(X: FloatArray) -> float:
    """Below which difference two averages of these scores are the same number, rounded."""
    return float(TIE_TOLERANCE * np.nanmax(np.abs(X), initial=0.0))


def checked(
    X: FloatArray,
    Z: FloatArray,
    level: str,
    coefficient: str,
    constant: str = "skip",
    *,
    paired: bool = False,
) -> tuple[FloatArray, FloatArray]:
    """The two matrices as float64, after checks of shapes (alike if `paired`) and names."""
    X, Z = np.asarray(X, dtype=np.float64), np.asarray(Z, dtype=np.float64)
    choose("level", level, LEVELS)
    if PAIRED.get(coefficient) != level:
        choose("coefficient", coefficient, COEFFICIENTS)
    choose("policy for constants", constant, CONSTANT_POLICIES)
    if X.ndim != 2 or Z.ndim != 2 or len(X) != len(Z):
        raise InputError(
            f"score matrices of the shapes {X.shape} and {Z.shape}",
            expected="(systems, inputs) for both, with the same systems",
        )
    if (level != "system" or coefficient in PAIRED or paired) and X.shape != Z.shape:
        where = "with paired inputs" if level == "system" else f"at {level} level"
        raise InputError(
            f"score matrices of the shapes {X.shape} and {Z.shape} {where}",
            expected="the same inputs for both",
            hint="Only the system level can average each side over its own inputs.",
        )
    if np.isinf(X).any() or np.isinf(Z).any():
        raise InputError("a score is infinite", expected="finite numbers, NaN = not scored")
    return X, Z


def several(names: Any, what: str = "a name") -> tuple[Any, ...]:
    """One or several names as a tuple."""
    if isinstance(names, str):
        return (names,)
    if isinstance(names, Iterable):
        listed = tuple(names)
        if all(isinstance(name, str) for name in listed):
            return listed
    raise InputError(f"{what} is {cut(repr(names))}", expected="text, or a list of texts")


def kinds(
    level: Level | Sequence[Level], coefficient: Coefficient | Sequence[Coefficient]
) -> list[tuple[Level, Coefficient]]:
    """Every level with every coefficient that it has: ``spa`` and ``acc-eq`` have one each."""
    levels, coefficients = several(level, "the level"), several(coefficient, "the coefficient")
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
    return [(one, c) for one in levels for c in coefficients if PAIRED.get(c, one) == one]
