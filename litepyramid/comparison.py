"""Are two systems told apart? Differences, intervals and tests over the same inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from litepyramid.errors import InputError
from litepyramid.means import system_means
from litepyramid.pyramid import metric_title
from litepyramid.report.table import Cell, Column, Result, Table
from litepyramid.resampling import (
    adjust_p_values,
    bootstrap_counts,
    check_samples,
    percentile_interval,
)
from litepyramid.text import counted
from litepyramid.types import FloatArray, ScoreMatrix, Signature

_CHUNK = 4_000_000  # cells of sign or count matrices held at once


@dataclass(frozen=True, slots=True)
class PairComparison:
    """One pair of systems.

    Attributes:
        first: The system with the higher score (the earlier one if they are equal).
        second: The other one.
        difference: Mean over the shared inputs of first − second, in points of the score.
        low: Lower end of the paired bootstrap interval of the difference.
        high: Upper end.
        p: Two-sided paired permutation p-value of "no difference".
        p_holm: The same after Holm's correction over all pairs.
        inputs: Inputs that both systems have a score for.
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    p: float
    p_holm: float
    inputs: int


@dataclass(frozen=True, slots=True)
class ComparisonResult(Result):
    """All pairs of systems, the largest difference first."""

    metric: str
    pairs: tuple[PairComparison, ...]
    alpha: float
    exact: bool
    signature: Signature

    def to_tables(self) -> Sequence[Table]:
        """One row a pair."""
        told = sum(pair.p_holm < self.alpha for pair in self.pairs)
        test = (
            "every assignment of signs was counted"
            if self.exact
            else "signs drawn at random, (c+1)/(k+1)"
        )
        notes = [
            f"{told} of {counted(len(self.pairs), 'pair')} {'is' if told == 1 else 'are'} told "
            f"apart at {self.alpha:g} after Holm's correction. Paired permutation test over "
            f"inputs, two-sided; {test}."
        ]
        fewest = min(p.inputs for p in self.pairs)
        most = max(p.inputs for p in self.pairs)
        columns = [
            Column("first"),
            Column("second"),
            Column("difference", "diff.", signed=True),
            Column("low", signed=True),
            Column("high", signed=True),
            Column("p", digits=4),
            Column("p_holm", "p Holm", digits=4),
        ]
        rows: list[tuple[Cell, ...]] = [
            (p.first, p.second, p.difference, p.low, p.high, p.p, p.p_holm) for p in self.pairs
        ]
        if fewest < most:
            notes.append(f"Some pairs share fewer inputs than others (fewest: {fewest}).")
            columns.append(Column("inputs"))
            rows = [(*row, p.inputs) for row, p in zip(rows, self.pairs, strict=True)]
        return [
            Table(
                f"{metric_title(self.metric)}: differences between systems on "
                f"{counted(most, 'input')}",
                tuple(columns),
                tuple(rows),
                (*notes, str(self.signature)),
            )
        ]

    def to_json(self) -> dict[str, Any]:
        """Every field of every pair."""
        return {
            "metric": self.metric,
            "alpha": self.alpha,
            "exact": self.exact,
            "pairs": [
                {name: getattr(pair, name) for name in PairComparison.__slots__}
                for pair in self.pairs
            ],
            "signature": self.signature.to_dict(),
        }


def system_intervals(
    values: FloatArray, *, samples: int, confidence: float, seed: int
) -> list[tuple[float, float]]:
    """The percentile bootstrap interval over inputs of each system's mean score.

    All systems share the drawn inputs. Missing cells are left out of their sample's mean.

    Args:
        values: (N, M) scores, NaN where not scored.
        samples: How many samples of M inputs; at least 2 / (1 - confidence).
        confidence: For example 0.95.
        seed: Seed of the draws.

    Returns:
        N pairs (low, high); NaN where a system has no score.

    Example:
        >>> system_intervals(np.array([[0.5, 0.5]]), samples=40, confidence=0.95, seed=1)
        [(0.5, 0.5)]
    """
    check_samples(samples, confidence=confidence)
    means = _bootstrap_means(values, samples, np.random.default_rng(seed))
    return [percentile_interval(row, confidence) for row in means.T]


def _bootstrap_means(values: FloatArray, samples: int, rng: np.random.Generator) -> FloatArray:
    """(samples, rows) means of the rows over resampled columns, NaN cells left out."""
    scored = ~np.isnan(values)
    filled = np.where(scored, values, 0.0)
    whole = bool(scored.all())
    columns = values.shape[1]
    means = []
    step = max(1, _CHUNK // max(1, columns))
    for start in range(0, samples, step):
        counts = bootstrap_counts(rng, columns, min(step, samples - start)).astype(np.float64)
        sums = counts @ filled.T
        held = np.full_like(sums, columns) if whole else counts @ scored.T.astype(np.float64)
        means.append(np.divide(sums, held, out=np.full_like(sums, np.nan), where=held > 0))
    return np.concatenate(means)


def compare_systems(
    scores: ScoreMatrix,
    *,
    samples: int = 10_000,
    confidence: float = 0.95,
    alpha: float = 0.05,
    seed: int = 12345,
    signature: Signature | None = None,
) -> ComparisonResult:
    """Compares all pairs of systems on the same inputs.

    The test flips the sign of each input's difference: under "no difference" the two systems
    could change places on any input. With at most log2(`samples`) inputs all 2^M assignments are
    counted and p is exact; else p = (c + 1) / (k + 1), which keeps the level (Phipson & Smyth
    2010). Holm's step-down corrects over all pairs.

    Args:
        scores: (N, M) scores. An input counts for a pair if both systems have a score for it.
        samples: k, drawn sign assignments and bootstrap samples (`check_samples`).
        confidence: Of the intervals.
        alpha: Level at which the report says "told apart".
        seed: Seed of all draws.
        signature: What is known of how the scores were made.

    Raises:
        InputError: Fewer than two systems, a pair with no input in common, or too few samples.

    Example:
        >>> scores = ScoreMatrix("s", ("a", "b"), tuple("1234"), np.array([[1, 1, 1, 1], [0] * 4]))
        >>> pair = compare_systems(scores).pairs[0]
        >>> pair.first, pair.difference, pair.p
        ('a', 1.0, 0.125)
    """
    check_samples(samples, confidence=confidence, alpha=alpha)
    if len(scores.systems) < 2:
        raise InputError(f"{len(scores.systems)} system", expected="at least two to compare")
    means = system_means(scores.values)
    pairs = [
        (i, j) if not means[j] > means[i] else (j, i)
        for i, j in combinations(range(len(scores.systems)), 2)
    ]
    first, second = (list(side) for side in zip(*pairs, strict=True))
    differences = scores.values[first] - scores.values[second]
    shared = (~np.isnan(differences)).sum(axis=1)
    if (shared == 0).any():
        i, j = pairs[int(np.argmin(shared))]
        raise InputError(
            f"systems '{scores.systems[i]}' and '{scores.systems[j]}' share no scored input",
            expected="scores of the same inputs",
        )
    rng = np.random.default_rng(seed)
    intervals = [
        percentile_interval(row, confidence)
        for row in _bootstrap_means(differences, samples, rng).T
    ]
    p, exact = sign_flip_p_values(differences, samples, rng)
    corrected = adjust_p_values(p, "holm")
    results = [
        PairComparison(
            scores.systems[i],
            scores.systems[j],
            float(np.nanmean(differences[n])),
            *intervals[n],
            float(p[n]),
            float(corrected[n]),
            int(shared[n]),
        )
        for n, (i, j) in enumerate(pairs)
    ]
    results.sort(key=lambda pair: (-pair.difference, pair.first, pair.second))
    fields = signature.fields if signature else (("metric", scores.metric),)
    own = Signature.of(test="permutation", k=samples, confidence=confidence, seed=seed).fields
    merged = Signature(tuple({**dict(fields), **dict(own)}.items()))
    return ComparisonResult(scores.metric, tuple(results), alpha, exact, merged)


def sign_flip_p_values(
    differences: FloatArray, samples: int, rng: np.random.Generator
) -> tuple[FloatArray, bool]:
    """Two-sided p-values of "the mean difference is zero" by flipping signs of inputs.

    Args:
        differences: (pairs, M) differences, NaN where an input does not count.
        samples: k, how many sign assignments to draw.
        rng: Source of the signs; all pairs share them.

    Returns:
        (pairs,) p-values; and whether all 2^M assignments were counted (M ≤ log2 k).

    Example:
        >>> p, exact = sign_flip_p_values(np.ones((1, 3)), 100, np.random.default_rng(0))
        >>> p.tolist(), exact
        ([0.25], True)
    """
    filled = np.where(np.isnan(differences), 0.0, differences)
    columns = filled.shape[1]
    observed = np.abs(filled.sum(axis=1))
    # Sums that are equal on paper may differ by float noise: a tie counts as "as large".
    bound = observed - 1e-12 * np.abs(filled).sum(axis=1)
    exact = 2**columns <= samples
    total = 2**columns if exact else samples
    larger = np.zeros(filled.shape[0], dtype=np.int64)
    step = max(1, _CHUNK // max(1, columns))
    for start in range(0, total, step):
        rows = np.arange(start, min(total, start + step))
        if exact:
            bits = (rows[:, None] >> np.arange(columns)) & 1
        else:
            bits = rng.integers(0, 2, size=(rows.size, columns), dtype=np.int8)
        sums = np.abs((1.0 - 2.0 * bits) @ filled.T)
        larger += (sums >= bound).sum(axis=0)
    return (larger / total if exact else (larger + 1) / (total + 1)), exact


def rank_groups(
    means: FloatArray, comparison: ComparisonResult, systems: Sequence[str]
) -> list[tuple[int, ...]]:
    """Rank groups as a compact letter display (Piepho 2004): who is not told apart shares one.

    Two systems share a group exactly when they are not told apart (Holm-corrected p >= alpha).
    "Not told apart" is no equivalence, so a system may be in several groups. The insert-and-absorb
    algorithm: begin with all systems in one group; for every pair told apart, split each group
    that holds both into one without the first and one without the second, and drop groups that
    another contains.

    Args:
        means: (N,) system scores, which order the groups; the best group is 1.
        comparison: All pairs of the systems.
        systems: N names.

    Returns:
        For each system the groups it is in, ascending; empty for a system with no score.

    Example:
        >>> values = np.array([[1.0] * 12, [0.0] * 12, [0.0] * 11 + [0.1]])
        >>> scores = ScoreMatrix("s", ("a", "b", "c"), tuple("abcdefghijkl"), values)
        >>> rank_groups(values.mean(axis=1), compare_systems(scores), scores.systems)
        [(1,), (2,), (2,)]
    """
    index = {name: i for i, name in enumerate(systems)}
    groups = [frozenset(i for i in range(len(systems)) if not np.isnan(means[i]))]
    for pair in comparison.pairs:
        if not pair.p_holm < comparison.alpha:
            continue
        one, two = index[pair.first], index[pair.second]
        split = [g - {out} for g in groups if {one, two} <= g for out in (one, two)]
        groups = [g for g in groups if not {one, two} <= g]
        for new in split:
            if not any(new <= g for g in groups):
                groups = [g for g in groups if not g <= new] + [new]
    place = {int(i): n for n, i in enumerate(np.argsort(-means, kind="stable"))}
    groups.sort(key=lambda group: sorted(place[i] for i in group))
    return [
        tuple(n for n, group in enumerate(groups, start=1) if i in group)
        for i in range(len(systems))
    ]


def group_letters(groups: Sequence[int]) -> str:
    """Groups as letters, the best is a; numbers from the 27th on.

    Example:
        >>> group_letters([1, 2]), group_letters([26, 27])
        ('ab', 'z 27')
    """
    letters = "".join(chr(ord("a") + g - 1) for g in groups if g <= 26)
    return " ".join([letters, *(str(g) for g in groups if g > 26)]).strip()
