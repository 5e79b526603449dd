"""Curves of agreement between metrics against the average score of summaries (P19)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from litepyramid.stats import described
from litepyramid.types import FloatArray

Rule = Literal["text", "code"]
"""Whether as the paper says, or as its code does."""
_CODE_STEPS = 15


@dataclass(frozen=True)
class RangePoint:
    """One step of a curve, from `low` to `high` of the normalised average score.

    Mean (`value`) and standard `deviation` (with n − 1) of the `number` of values in
    it, or NaN.
    """

    low: float
    high: float
    value: float
    deviation: float
    number: int


def _normalised(matrix: FloatArray) -> FloatArray:
    """Each metric's scores from 0, the topic's lowest, to 1, its highest."""
    low = matrix.min(axis=1, keepdims=True)
    width = np.ptp(matrix, axis=1, keepdims=True)
    normalised = np.zeros_like(matrix)
    np.divide(
        matrix - low,
        width,
        out=normalised,
        where=width > 0,
    )
    return normalised


def opposite_orders(
    matrices: Sequence[FloatArray],
    one: int,
    other: int,
    pairs: int,
    rule: Rule,
    rng: Any,
) -> tuple[RangePoint, ...]:
    """Opposite orders among pairs of a topic's summaries, by the pair's average score
    (Fig. 2)."""
    averages = []
    opposite = []
    for matrix, number in _shared_out(matrices, pairs, rng):
        first, second = rng.integers(matrix.shape[1], size=(2, number))
        sign = np.sign(matrix[one, first] - matrix[one, second])
        other_sign = np.sign(matrix[other, first] - matrix[other, second])

        if rule == "code":
            # The code divides by all pairs, tied ones too.
            counted = np.ones(number, dtype=bool)
            level = matrix[one]
        else:
            counted = (sign != 0) & (other_sign != 0)
            level = _normalised(matrix[[one, other]]).mean(axis=0)

        averages.append(((level[first] + level[second]) / 2)[counted])
        opposite.append((sign * other_sign < 0)[counted])

    x = np.concatenate(averages)
    y = np.concatenate(opposite).astype(float)
    if rule == "code":
        # The code begins at 0; above it there is nothing of a negative score (JS-2).
        low = x.min(initial=np.inf)
        high = float(x.max(initial=-np.inf))
        starts = min(low, 0.0) + np.arange(_CODE_STEPS) * (high - low) / _CODE_STEPS
        points = []
        for start in starts.tolist():
            points.append(RangePoint(start, high, *described(y[x > start])))
        return tuple(points)

    return _steps(x, y)


def better(
    matrices: Sequence[FloatArray], drawn: int, rule: Rule, rng: Any
) -> tuple[tuple[RangePoint, ...], int]:
    """F/N of eq. 1 against the normalised average score (Fig. 3)."""
    averages = []
    shares = []
    unbeaten = 0

    for matrix, number in _shared_out(matrices, drawn, rng):
        # (metrics, summaries, drawn): whether each beats each drawn one.
        chosen = rng.integers(matrix.shape[1], size=number)
        higher = matrix[:, :, None] > matrix[:, None, chosen]
        on_all = higher.all(axis=0).sum(axis=0)

        if rule == "code":
            # The code divides by all summaries of the topic, not by those better on one
            # metric.
            below = np.full(number, matrix.shape[1])
            level = matrix.mean(axis=0)
        else:
            below = higher.any(axis=0).sum(axis=0)
            level = _normalised(matrix).mean(axis=0)

        defined = below > 0
        unbeaten += int((~defined).sum())
        averages.append(level[chosen][defined])
        shares.append((on_all[defined] / below[defined]).astype(float))

    return _steps(np.concatenate(averages), np.concatenate(shares)), unbeaten


def _shared_out(
    matrices: Sequence[FloatArray], total: int, rng: np.random.Generator
) -> Iterator[tuple[FloatArray, int]]:
    """Each topic with how many of `total` draws fall on it; every topic is as
    likely."""
    numbers = rng.multinomial(total, np.full(len(matrices), 1 / len(matrices)))
    yield from zip(matrices, numbers.tolist(), strict=True)


def _steps(x: FloatArray, y: FloatArray) -> tuple[RangePoint, ...]:
    """The mean of y in ten even steps of x: of 0 to 1, where no x is outside."""
    inside = x.min(initial=0.0) >= 0 and x.max(initial=1.0) <= 1
    low, high = (0.0, 1.0) if inside else (float(x.min()), float(x.max()))
    edges = np.linspace(low, high, 11)
    # The last step holds its upper end too.
    step = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, 9)

    points = []
    for i, (start, stop) in enumerate(pairwise(edges.tolist())):
        points.append(RangePoint(start, stop, *described(y[step == i])))
    return tuple(points)
