"""How far rankings of systems would change with other inputs (DDR22 §3.1, Fig. 2 and 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from litepyramid.errors import InputError
from litepyramid.io.scores import read_scores
from litepyramid.meta.alignment import unaligned
from litepyramid.meta.core.coefficients import correlate_rows
from litepyramid.meta.core.draws import drawn_counts
from litepyramid.meta.core.journal import piece_rng
from litepyramid.meta.core.levels import mean_tolerance
from litepyramid.progress import track
from litepyramid.stats import blocks, described, resampled_means
from litepyramid.tables import Column, Result, Table, row
from litepyramid.text import counted
from litepyramid.types import FloatArray, Signature


@dataclass(frozen=True, slots=True)
class StabilityPoint:
    """Rankings from M inputs.

    Attributes:
        inputs: M, the number of inputs drawn.
        mean: Mean of Kendall's τ-b between two rankings, each from M inputs of its own.
        deviation: Their standard deviation (with k − 1).
        samples: Pairs of rankings that have a τ.
        variance: Mean over systems of the variance of their average score.
    """

    inputs: int
    mean: float
    deviation: float
    samples: int
    variance: float


@dataclass(frozen=True, slots=True)
class StabilityCurve:
    """One metric's, or people's, stability against M.

    Attributes:
        metric: Its name.
        systems: How many systems were ranked.
        available: How many inputs there are to draw from.
        points: One a value of M.
        human: Whether these are people's scores.
    """

    metric: str
    systems: int
    available: int
    points: tuple[StabilityPoint, ...]
    human: bool = False


@dataclass(frozen=True)
class StabilityResult(Result):
    """Stability of the rankings of several metrics.

    Attributes:
        curves: One per metric.
        samples: Pairs of rankings at each point.
        seed: Seed of the draws.
        signature: Names everything that the numbers depend on.
    """

    curves: tuple[StabilityCurve, ...]
    samples: int
    seed: int
    signature: Signature

    def to_tables(self) -> list[Table]:
        """Every point of every curve."""
        columns = (
            *("metric", Column("inputs", "M"), Column("tau", "τ-b"), Column("deviation", "±1 sd")),
            *(Column("error", "sd of a score", digits=4), "samples"),
        )
        rows = [
            row(p, metric=curve.metric, tau=p.mean, error=p.variance**0.5)
            for curve in self.curves
            for p in curve.points
        ]
        notes = [
            "τ-b between two rankings of the systems, each from M inputs drawn with "
            f"replacement; mean and standard deviation of {counted(self.samples, 'time')}."
        ]
        for n, m in sorted({(c.systems, c.available) for c in self.curves}):
            notes.append(f"{counted(n, 'system')}, {counted(m, 'input')} to draw from.")
        notes.append(f"Signature: {self.signature}")
        return [Table.of("Stability of rankings", columns, rows, notes)]


def stability(
    scores: Any,
    human: str | Sequence[str] | None = "human",
    *,
    metrics: str | Sequence[str] | None = None,
    full: Any = None,
    sizes: Sequence[int] | None = None,
    samples: int = 1000,
    seed: int = 12345,
) -> StabilityResult:
    """Kendall's τ-b between two rankings of the systems, each from M random inputs (DDR22 Fig. 3).

    For each M: draw M inputs with replacement, average, rank; repeat with another draw; compute
    τ-b between the two. Mean and standard deviation over `samples` repeats. This shows how much
    the ranking would change if the evaluation were repeated. Every metric gets the same draws.

    Args:
        scores: The judged table; see `litepyramid.meta.system_level.deltas.delta`.
        human: The human score, shown too; several names mean the mean of several raters. None
            leaves people out.
        metrics: Names or patterns; None for all others.
        full: A table with the metrics' scores on the whole test set: metrics are resampled from
            it, human scores from `scores`.
        sizes: Values of M; None: 10 steps to the number of inputs there are (for a whole test
            set, also 100, 200, 400 …). Sizes above the number of inputs are left out for the
            smaller table.
        samples: Repeats at each M.
        seed: Seed of the draws.

    Raises:
        InputError: Unknown names; fewer than two systems; a size below 1.

    Example:
        >>> from litepyramid.io.scores import read_scores
        >>> rows = [{"system": s, "input": i, "metric": "m", "score": v + i}
        ...         for s, v in [("a", 1), ("b", 2), ("c", 3)] for i in range(4)]
        >>> result = stability(read_scores(rows), None, sizes=[2], samples=20)
        >>> result.curves[0].points[0].mean
        1.0
    """
    if samples < 2:
        raise InputError(f"{counted(samples, 'repeat')}", expected="at least 2")
    if sizes is not None and (not sizes or min(sizes) < 1):
        raise InputError(f"sizes {list(sizes)}", expected="numbers of inputs, 1 or more")
    table, whole = read_scores(scores), None if full is None else read_scores(full)
    people, machines = unaligned(table, metrics, human, whole)
    curves = tuple(
        _curve(name, X, number >= len(machines), sizes, samples, seed)
        for number, (name, X) in enumerate(
            track([*machines, *people], "ranking systems", "metrics")
        )
    )
    signature = Signature.of(
        coefficient="kendall",
        samples=samples,
        seed=seed,
        scores_sha=table.sha,
        full_sha=whole and whole.sha,
    )
    return StabilityResult(curves, samples, seed, signature)


def usual_sizes(available: int) -> list[int]:
    """Ten even steps, the first of which is at most 10, then doubles of 100 up to all inputs.

    Example:
        >>> usual_sizes(100), usual_sizes(450)
        ([10, 20, 30, 40, 50, 60, 70, 80, 90, 100],
         [10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 200, 400, 450])
    """
    first = min(100, available)
    steps = {max(1, round(first * i / 10)) for i in range(1, 11)}
    doubles = (first << n for n in range(available.bit_length()))
    return sorted({*steps, *(size for size in doubles if size < available), available})


def _curve(
    name: str, X: FloatArray, human: bool, sizes: Sequence[int] | None, samples: int, seed: int
) -> StabilityCurve:
    scored = ~np.isnan(X)
    X = X[scored.any(axis=1)][:, scored.any(axis=0)]
    if len(X) < 2:
        raise InputError(
            f"'{name}' scores {counted(len(X), 'system')}", expected="at least two to rank"
        )
    available = X.shape[1]
    wanted = usual_sizes(available) if sizes is None else [m for m in sizes if m <= available]
    points = tuple(_point(X, m, samples, seed) for m in track(wanted, name, "sizes"))
    return StabilityCurve(name, len(X), available, points, human)


def _point(X: FloatArray, size: int, samples: int, seed: int) -> StabilityPoint:
    rng = piece_rng(seed, "stability", str(size))
    one, two = (
        np.concatenate(
            [
                resampled_means(X, drawn_counts(rng, X.shape[1], size, part.stop - part.start))
                for part in blocks(samples, max(size, X.shape[1]))
            ]
        )
        for _ in range(2)
    )
    slack = mean_tolerance(X)
    both = ~(np.isnan(one) | np.isnan(two))
    taus = correlate_rows(
        np.where(both, one, 0.0),
        np.where(both, two, 0.0),
        "kendall",
        None if both.all() else both.astype(np.float64),
        x_tolerance=slack,
        z_tolerance=slack,
    )
    variance = np.nanvar(np.concatenate([one, two]), axis=0, ddof=1)
    return StabilityPoint(size, *described(taus), float(np.nanmean(variance)))
