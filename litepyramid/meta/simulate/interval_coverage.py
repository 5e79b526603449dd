"""Do intervals hold the correlation of other systems on other inputs? (DDR21 §5.1, Table 1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import isnan, nan, sqrt
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.errors import InputError
from litepyramid.io.scores import read_scores
from litepyramid.meta.alignment import align
from litepyramid.meta.core.coefficients import Coefficient
from litepyramid.meta.core.journal import piece_rng, run_pieces
from litepyramid.meta.core.levels import Level, level_correlation, several
from litepyramid.meta.intervals import (
    INTERVAL_METHODS,
    IntervalMethod,
    interval_ends,
    method_name,
)
from litepyramid.stats import check_samples, mean_of_scored
from litepyramid.tables import Column, Result, Table, row
from litepyramid.text import counted
from litepyramid.types import FloatArray, Signature

BLOCK = 25
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Coverage:
    """How often one kind of interval held the correlation of the other half.

    Attributes:
        metric: The metric.
        level: System or summary.
        method: How the intervals were made.
        coverage: The share of the trials; NaN if none counts.
        error: Its standard error, √(p(1 − p)/trials).
        trials: Trials that count.
        undefined: Trials in which the other half had no correlation, or this one no interval.
        width: Mean width of the intervals.
        best: Whether it is, of the methods below 1, the one nearest to the confidence, and differs
            significantly from every other method (bold in Table 1).
        p_value: For the nearest, the largest one-tailed p-value of the z-tests of two proportions
            against the other methods; NaN for all others, and where there is no other.
    """

    metric: str
    level: Level
    method: IntervalMethod
    coverage: float
    error: float
    trials: int
    undefined: int
    width: float
    best: bool
    p_value: float


@dataclass(frozen=True)
class CoverageResult(Result):
    """Coverage of every metric, level and method.

    Attributes:
        rows: One entry each.
        human: The human score.
        coefficient: The coefficient.
        confidence: Confidence level of the intervals: what coverage should be.
        samples: Bootstrap samples per interval.
        seed: Seed of the splits and draws.
        halves: Per metric, systems and inputs in one half.
        left_out: Per metric, what was left out of the table.
        signature: Names everything that the numbers depend on.
    """

    rows: tuple[Coverage, ...]
    human: str
    coefficient: Coefficient
    confidence: float
    samples: int
    seed: int
    halves: dict[str, tuple[int, int]]
    left_out: dict[str, str]
    signature: Signature

    def to_tables(self) -> list[Table]:
        """One row per method."""
        rows = [row(r, method=method_name(r.method), best="<" if r.best else "") for r in self.rows]
        columns = (
            *("metric", "level", "method", "coverage", Column("error", "± se"), "width", "trials"),
            Column("best", " "),
        )
        notes = [
            f"Share of the {100 * self.confidence:g} % intervals of one half of systems and inputs "
            "that contain the correlation of the other half; < marks the closest to that below 1, "
            f"if it differs from all others (one-tailed z-test of proportions, α = {ALPHA:g})."
        ]
        for metric, (n, m) in self.halves.items():
            left = f"; left out: {self.left_out[metric]}" if self.left_out[metric] else ""
            said = f"{counted(n, 'system')} and {counted(m, 'input')} in a half{left}"
            notes.append(f"{metric}: {said}.")
        undefined = sum(r.undefined for r in self.rows)
        if undefined:
            notes.append(
                f"{counted(undefined, 'interval')} could not be judged: no correlation on one half."
            )
        title = f"Coverage of intervals ({self.coefficient}, against {self.human})"
        notes.append(f"Signature: {self.signature}")
        return [Table.of(title, columns, rows, notes)]


def coverage(
    scores: Any,
    human: str | Sequence[str] = "human",
    *,
    metrics: str | Sequence[str] | None = None,
    method: IntervalMethod | Sequence[IntervalMethod] = INTERVAL_METHODS,
    level: Level | Sequence[Level] = ("system", "summary"),
    coefficient: Coefficient = "pearson",
    confidence: float = 0.95,
    trials: int = 1000,
    samples: int = 1000,
    seed: int = 12345,
    journal: str | Path | None = None,
) -> CoverageResult:
    """How often an interval from half of the data contains the correlation of the other half.

    One trial (DDR21 §5.1): systems and inputs are each split at random into two halves, A and B
    (if the number is odd, one is left out); an interval is computed from X_A and Z_A; does it
    contain r(X_B, Z_B)? An interval that generalises to other systems and inputs contains it in a
    share of trials equal to its confidence. All metrics and methods share the splits.

    Args:
        scores: A table, as `read_scores` takes it.
        human: The human score; several names mean the mean of several raters.
        metrics: Names or patterns; None for all others.
        method: One or several of boot-systems, boot-inputs, boot-both, fisher.
        level: One or several of system, summary, global.
        coefficient: DDR21's Table 1 uses ``"pearson"``.
        confidence: Confidence level of the intervals.
        trials: Number of trials (DDR21: 1,000).
        samples: Bootstrap samples per interval.
        seed: Each trial has its own generator made from this and its number.
        journal: A file that keeps finished trials; a stopped run given it again continues.

    Raises:
        InputError: Unknown names; fewer than four systems or inputs.

    Example:
        >>> from litepyramid.types import ScoreTable
        >>> rng = np.random.default_rng(0)
        >>> people = np.arange(8.0)[:, None] + rng.normal(size=(8, 6))
        >>> names = tuple("abcdefgh"), tuple("123456")
        >>> table = ScoreTable(("m", "human"), *names, np.stack([people + 1, people]))
        >>> result = coverage(table, method="boot-both", level="system", trials=5, samples=40)
        >>> result.rows[0].trials, result.halves["m"]
        (5, (4, 3))
    """
    if trials < 1:
        raise InputError(f"{counted(trials, 'trial')}", expected="at least 1")
    methods, levels = several(method), several(level)
    if set(methods) != {"fisher"}:
        check_samples(samples, confidence=confidence)
    scores = read_scores(scores)
    names = align(scores, metrics, human).metrics
    tables = {name: align(scores, name, human) for name in names}
    for name, table in tables.items():
        if min(len(table.systems), len(table.inputs)) < 4:
            raise InputError(
                f"'{name}' has {counted(len(table.systems), 'system')} and "
                f"{counted(len(table.inputs), 'input')}",
                expected="at least four of each to halve",
            )
    state = {
        "human": tables[names[0]].human,
        "coefficient": coefficient,
        "confidence": f"{confidence:g}",
        "samples": samples,
        "seed": seed,
        "scores_sha": scores.sha,
    }
    work = {"run": "coverage", "metrics": names, "method": methods, "level": levels}

    def trial(number: int) -> Iterator[tuple[float | None, float | None]]:
        """Per metric, level and method: whether the interval held (None: undefined), its width."""
        draw = int(piece_rng(seed, "draws", str(number)).integers(2**31))
        for table in tables.values():
            rng = piece_rng(seed, "split", str(number))
            (a, b), (c, d) = (_halves(len(names), rng) for names in (table.systems, table.inputs))
            one, other = (
                (table.values[0][np.ix_(*half)], table.Z[np.ix_(*half)])
                for half in ((a, c), (b, d))
            )
            for at in levels:
                r = level_correlation(*other, at, coefficient).value
                for kind in methods:
                    low, high, _ = interval_ends(
                        *one, at, coefficient, kind, confidence, samples, draw
                    )
                    known = not isnan(r) and not isnan(low)
                    yield (float(low <= r <= high), high - low) if known else (None, None)

    blocks = run_pieces(
        journal,
        work | state,
        [str(start) for start in range(0, trials, BLOCK)],
        lambda start: [list(trial(t)) for t in range(int(start), int(start) + BLOCK)],
        "simulating",
        f"blocks of {BLOCK} trials",
    )
    found = np.array([row for block in blocks for row in block][:trials], dtype=np.float64)
    return CoverageResult(
        tuple(_rows(found, names, levels, methods, confidence)),
        tables[names[0]].human,
        coefficient,
        confidence,
        samples,
        seed,
        {name: (len(t.systems) // 2, len(t.inputs) // 2) for name, t in tables.items()},
        {name: str(t.left_out) if t.left_out else "" for name, t in tables.items()},
        Signature.of(trials=trials, **state),
    )


def _halves(n: int, rng: np.random.Generator) -> tuple[Any, Any]:
    order = rng.permutation(n)
    return np.sort(order[: n // 2]), np.sort(order[n // 2 : 2 * (n // 2)])


def _rows(
    found: FloatArray,
    metrics: Sequence[str],
    levels: Sequence[Level],
    methods: Sequence[IntervalMethod],
    confidence: float,
) -> Iterator[Coverage]:
    shaped = found.reshape(len(found), len(metrics), len(levels), len(methods), 2)
    for (m, metric), (n, level) in product(enumerate(metrics), enumerate(levels)):
        held, widths = shaped[:, m, n].transpose(2, 1, 0)
        shares = dict(zip(methods, map(mean_of_scored, held), strict=True))
        counts = dict(zip(methods, (~np.isnan(held)).sum(axis=1).tolist(), strict=True))
        nearest, p_value = _nearest(shares, counts, confidence)
        for (method, p), width in zip(shares.items(), widths, strict=True):
            yield Coverage(
                metric=metric,
                level=level,
                method=method,
                coverage=p,
                error=sqrt(p * (1 - p) / max(1, counts[method])),
                trials=counts[method],
                undefined=len(found) - counts[method],
                width=mean_of_scored(width),
                best=method == nearest and p_value <= ALPHA,
                p_value=p_value if method == nearest else nan,
            )


def _nearest(
    shares: dict[IntervalMethod, float], counts: dict[IntervalMethod, int], confidence: float
) -> tuple[str | None, float]:
    """The method nearest to the confidence of those below 1, and how sure that it is another.

    Example:
        >>> nearest, p = _nearest({"fisher": 1.0, "boot-both": 0.93, "boot-inputs": 0.9},
        ...                       dict.fromkeys(["fisher", "boot-both", "boot-inputs"], 100), 0.95)
        >>> nearest, round(p, 3)
        ('boot-both', 0.223)
    """
    from scipy.stats import norm

    below = {k: abs(v - confidence) for k, v in shares.items() if v < 1}
    if not below:
        return None, nan
    nearest = min(below, key=below.__getitem__)
    p_values, n = [], counts[nearest]
    for other, m in counts.items():
        if other != nearest and m:
            pooled = (shares[nearest] * n + shares[other] * m) / (n + m)
            error = sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))
            z = abs(shares[nearest] - shares[other]) / error if error else 0.0
            p_values.append(float(norm.sf(z)))
    return nearest, max(p_values, default=nan)
