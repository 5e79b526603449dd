"""How agreement between metrics falls as summaries get better: P19's Fig. 2 and eq. 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from litepyramid.stats import described
from litepyramid.types import FloatArray

Rule = Literal["text", "code"]
_STEPS = 15


@dataclass(frozen=True, slots=True)
class RangePoint:
    """One step of a curve against the normalised average score.

    Attributes:
        low: Where the step begins.
        high: Where it ends.
        value: The mean over what falls in it; NaN where nothing does.
        deviation: The standard deviation (with n − 1).
        number: How much falls in it.
    """

    low: float
    high: float
    value: float
    deviation: float
    number: int


@dataclass(frozen=True)
class DisagreementCurve:
    """Share of pairs of summaries that two metrics put in opposite orders (P19 Fig. 2)."""

    one: str
    other: str
    points: tuple[RangePoint, ...]


def _normalised(part: FloatArray) -> FloatArray:
    """Each metric's scores from 0, the topic's lowest, to 1, its highest."""
    low = part.min(axis=1, keepdims=True)
    width = np.ptp(part, axis=1, keepdims=True)
    return np.asarray(np.divide(part - low, width, out=np.zeros_like(part), where=width > 0))


def opposite_orders(
    parts: Sequence[FloatArray],
    one: int,
    other: int,
    pairs: int,
    rule: Rule,
    rng: np.random.Generator,
) -> tuple[RangePoint, ...]:
    """Opposite orders among pairs of a topic's summaries, by the pair's average score (Fig. 2)."""
    averages, opposite = [], []
    for part, number in _shared_out(parts, pairs, rng):
        first, second = rng.integers(part.shape[1], size=(2, number))
        signs = [np.sign(part[m, first] - part[m, second]) for m in (one, other)]
        # The code divides by all pairs, tied ones too.
        counted = (signs[0] != 0) & (signs[1] != 0) | (rule == "code")
        level = part[one] if rule == "code" else _normalised(part[[one, other]]).mean(axis=0)
        averages.append(((level[first] + level[second]) / 2)[counted])
        opposite.append((signs[0] * signs[1] < 0)[counted])
    x, y = np.concatenate(averages), np.concatenate(opposite).astype(np.float64)
    if rule == "code":
        # The code begins at 0; above it there is nothing of a negative score (JS-2).
        low, high = float(x.min(initial=np.inf)), float(x.max(initial=-np.inf))
        starts = min(low, 0.0) + np.arange(_STEPS) * (high - low) / _STEPS
        return tuple(RangePoint(start, high, *described(y[x > start])) for start in starts.tolist())
    return _steps(x, y)


def better(
    parts: Sequence[FloatArray], drawn: int, rule: Rule, rng: np.random.Generator
) -> tuple[tuple[RangePoint, ...], int]:
    """F/N of eq. 1 against the normalised average score (Fig. 3)."""
    averages, shares, unbeaten = [], [], 0
    for part, number in _shared_out(parts, drawn, rng):
        chosen = rng.integers(part.shape[1], size=number)
        higher = part[:, :, None] > part[:, None, chosen]
        on_all, on_one = higher.all(axis=0).sum(axis=0), higher.any(axis=0).sum(axis=0)
        below = np.full(number, part.shape[1]) if rule == "code" else on_one
        unbeaten += int((below == 0).sum())
        kept = below > 0
        level = part.mean(axis=0) if rule == "code" else _normalised(part).mean(axis=0)
        averages.append(level[chosen][kept])
        shares.append((on_all[kept] / below[kept]).astype(np.float64))
    return _steps(np.concatenate(averages), np.concatenate(shares)), unbeaten


def _shared_out(
    parts: Sequence[FloatArray], total: int, rng: np.random.Generator
) -> Iterator[tuple[FloatArray, int]]:
    """Each topic with how many of `total` draws fall on it; every topic is as likely."""
    numbers = rng.multinomial(total, np.full(len(parts), 1 / len(parts)))
    yield from zip(parts, numbers.tolist(), strict=True)


def _steps(x: FloatArray, y: FloatArray) -> tuple[RangePoint, ...]:
    inside = x.min(initial=0.0) >= 0 and x.max(initial=1.0) <= 1
    low, high = (0.0, 1.0) if inside else (float(x.min()), float(x.max()))
    edges = np.linspace(low, high, 11)
    where = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, 9)
    ends = enumerate(pairwise(edges.tolist()))
    return tuple(RangePoint(a, b, *described(y[where == i])) for i, (a, b) in ends)
