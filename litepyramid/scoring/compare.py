"""Which systems differ significantly: differences, intervals and tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil, log2

import numpy as np

from litepyramid.errors import InputError
from litepyramid.progress import track
from litepyramid.scoring.pyramid import metric_title
from litepyramid.stats import (
    SMALLEST_TAIL,
    adjust_p_values,
    blocks,
    bootstrap_counts,
    check_samples,
    check_share,
    flip_tails,
    mean_of_scored,
    percentile_intervals,
    resampled_means,
    system_means,
)
from litepyramid.tables import Cell, Column, Result, Table
from litepyramid.text import counted
from litepyramid.types import FloatArray, IntArray, ScoreMatrix, Signature

_LISTED = 10  # pairs; more are shown as a matrix
_MEASURES = (
    Column("difference", "diff.", signed=True),
    Column("low", signed=True),
    Column("high", signed=True),
    Column("p", digits=4, above_zero=True),
    Column("p_holm", "p Holm", digits=4, above_zero=True),
)


@dataclass(frozen=True, slots=True)
class PairComparison:
    """One pair of systems.

    Attributes:
        first: The system with the higher score (the earlier one if they are equal).
        second: The other one; with `against` always that system, whichever is better.
        difference: Mean over the shared inputs of first − second, in points of the score.
        low: Lower end of the paired bootstrap interval of the difference.
        high: Upper end.
        p: Two-sided p-value of "no difference" (`flip_p_values`).
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
class SystemComparison(Result):
    """Pairs of systems, the largest difference first.

    Attributes:
        metric: The metric.
        systems: The systems compared, best first.
        scores: (N,) their mean scores.
        pairs: One entry per pair.
        family: How many pairs Holm's correction covers.
        against: The system that all others are compared with; None for all pairs.
        left_out: How many systems are not among the `top` ones.
        alpha: Significance level.
        smallest_p: The smallest p that a pair with the most inputs can have (`smallest_flip_p`).
        signature: Everything needed to reproduce the numbers.
    """

    metric: str
    systems: tuple[str, ...]
    scores: tuple[float, ...]
    pairs: tuple[PairComparison, ...]
    family: int
    against: str | None
    left_out: int
    alpha: float
    smallest_p: float
    signature: Signature

    def to_tables(self) -> Sequence[Table]:
        """One row per pair; more than ten pairs as a matrix of differences, best system first."""
        pairs = self.pairs
        if self.against is not None:
            columns, rows = self._against_rows(self.against)
            title = f"differences from {self.against}"
        elif len(pairs) > _LISTED:
            columns, rows = self._matrix()
            title = f"differences between {len(self.systems)} systems"
        else:
            listed = self.to_csv_table()
            columns, rows, title = listed.columns, listed.rows, "differences between systems"
        found = sum(pair.p_holm < self.alpha for pair in pairs)
        fewest, most = min(p.inputs for p in pairs), max(p.inputs for p in pairs)
        over = f" over {counted(self.family, 'pair')}" if self.family > len(pairs) else ""
        differ = "differs" if 1 in (found, len(pairs)) else "differ"
        notes = [
            f"{found} of {counted(len(pairs), 'pair')} {differ} significantly "
            f"(α = {self.alpha:g}, Holm's correction{over}). Two-sided sign-flip "
            f"test over inputs, exact; with {counted(most, 'input')} p can be as small as "
            f"{self.smallest_p:.2g}.",
            *too_few_inputs(most, self.family, self.alpha),
        ]
        if len(pairs) > _LISTED and self.against is None:
            notes.insert(
                0,
                "Each cell: score of the row's system minus score of the column's; * significant. "
                "Intervals and p-values are in the JSON and CSV, and shown with --against SYSTEM "
                "or --top 5.",
            )
        if self.left_out:
            many = counted(self.left_out, "system is", "systems are")
            notes.append(f"{many} not shown: not among the best.")
        if fewest < most:
            notes.append(f"Some pairs share fewer inputs than others (fewest: {fewest}).")
        return [
            Table(
                f"{metric_title(self.metric)}: {title} on {counted(most, 'input')}",
                columns,
                rows,
                (*notes, str(self.signature)),
                repeated=3 if columns[0].name == "rank" else 2,
            )
        ]

    def to_csv_table(self) -> Table:
        """One row per pair."""
        differ = len({p.inputs for p in self.pairs}) > 1
        return Table.of("", ["first", "second", *_MEASURES, *["inputs"] * differ], self.pairs)

    def _against_rows(
        self, against: str
    ) -> tuple[tuple[Column, ...], tuple[tuple[Cell, ...], ...]]:
        """One row per system, with its difference from `against`."""
        found = {pair.first: pair for pair in self.pairs}
        rows: list[tuple[Cell, ...]] = []
        for system, score in zip(self.systems, self.scores, strict=True):
            p = found.get(system)
            measures = (p.difference, p.low, p.high, p.p, p.p_holm) if p else (None,) * 5
            rows.append((system, score, *measures))
        return (Column("system"), Column("score"), *_MEASURES), tuple(rows)

    def _matrix(self) -> tuple[tuple[Column, ...], tuple[tuple[Cell, ...], ...]]:
        """Systems by systems, above the diagonal: differences, a star where significant."""
        places = {system: place for place, system in enumerate(self.systems)}
        cells = [[""] * len(places) for _ in places]
        for p in self.pairs:
            star = "*" if p.p_holm < self.alpha else ""
            row, column = places[p.first], places[p.second]
            sign = 1 if row < column else -1  # missing inputs may turn a pair round
            said = f"{sign * p.difference:z.3f}".replace("0.", ".", 1) + star
            cells[min(row, column)][max(row, column)] = said
        columns = [Column("rank", "#"), Column("system"), Column("score")]
        columns += [Column(str(place + 1)) for place in range(1, len(places))]
        rows: list[tuple[Cell, ...]] = [
            (place + 1, system, score, *cells[place][1:])
            for place, (system, score) in enumerate(zip(self.systems, self.scores, strict=True))
        ]
        return tuple(columns), tuple(rows)


def smallest_flip_p(inputs: int) -> float:
    """The smallest two-sided p of a sign-flip test, 2^(1 - M), as far as numbers can tell.

    Example:
        >>> smallest_flip_p(5), smallest_flip_p(100)
        (0.0625, 2e-12)
    """
    return max(2.0 ** (1 - inputs), 2 * SMALLEST_TAIL)


def too_few_inputs(inputs: int, pairs: int, alpha: float = 0.05) -> list[str]:
    """A sentence if none of this many pairs could differ significantly, however different."""
    if smallest_flip_p(inputs) * pairs < alpha:
        return []
    return [
        f"No difference could be significant: with {counted(inputs, 'input')} p is at least "
        f"{smallest_flip_p(inputs):.2g}, and {counted(pairs, 'pair')} at {alpha:g} need "
        f"{ceil(1 + log2(pairs / alpha) + 1e-9)} inputs or more."
    ]


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
    inputs = values.shape[1]
    intervals = []
    for rows in blocks(len(values), samples):
        rng = np.random.default_rng(seed)
        means = [
            resampled_means(values[rows], bootstrap_counts(rng, inputs, part.stop - part.start))
            for part in blocks(samples, inputs)
        ]
        intervals += percentile_intervals(np.concatenate(means), confidence)
    return intervals


def compare_systems(
    scores: ScoreMatrix,
    *,
    against: str | None = None,
    top: int | None = None,
    samples: int = 10_000,
    confidence: float = 0.95,
    alpha: float = 0.05,
    seed: int = 12345,
    signature: Signature | None = None,
) -> SystemComparison:
    """Compares pairs of systems on the same inputs.

    The test flips the sign of each input's difference: under "no difference" the two systems
    could change places on any input. Its p is exact (`flip_p_values`), so that it can pass
    however many pairs there are. Holm's step-down corrects over all pairs that are tested.

    Args:
        scores: (N, M) scores. An input counts for a pair if both systems have a score for it.
        against: Test only the pairs of this system with each of the others.
        top: Compare only the systems with the `top` highest scores. With `against` all others are
            still tested and corrected for, since picking the best of many favours them.
        samples: Bootstrap samples of the intervals (`check_samples`).
        confidence: Confidence level of the intervals.
        alpha: Significance level.
        seed: Seed of the bootstrap.
        signature: What is known of how the scores were made.

    Raises:
        InputError: Fewer than two systems, no system `against`, `top` too small, a pair with no
            input in common, or too few samples.

    Example:
        >>> scores = ScoreMatrix("s", ("a", "b"), tuple("1234"), np.array([[1, 1, 1, 1], [0] * 4]))
        >>> pair = compare_systems(scores).pairs[0]
        >>> pair.first, pair.difference, pair.p
        ('a', 1.0, 0.125)
    """
    check_samples(samples, confidence=confidence)
    check_share("alpha", alpha)
    values = scores.values
    if len(values) < 2:
        raise InputError(f"{counted(len(values), 'system')}", expected="at least two to compare")
    if against is not None and against not in scores.systems:
        raise InputError(f"no system '{against}'", expected=f"one of {', '.join(scores.systems)}")
    if top is not None and top < (2 if against is None else 1):
        raise InputError(f"the {top} best systems", expected="at least two to compare")
    means = system_means(values)
    order = [int(i) for i in np.argsort(-means, kind="stable")]
    kept = order[:top]
    if against is None:
        pairs = np.array(list(combinations(sorted(kept), 2)))
        worse = means[pairs[:, 1]] > means[pairs[:, 0]]
        pairs[worse] = pairs[worse][:, ::-1]
    else:
        base = scores.systems.index(against)
        pairs = np.array([(i, base) for i in order if i != base])
        kept = [i for i in order if i in {base, *kept}]
    p = flip_p_values(values, pairs)
    if np.isnan(p).any():
        i, j = pairs[int(np.argmax(np.isnan(p)))]
        raise InputError(
            f"systems '{scores.systems[i]}' and '{scores.systems[j]}' share no scored input",
            expected="scores of the same inputs",
        )
    corrected = adjust_p_values(p, "holm")
    family, shown = len(pairs), np.isin(pairs[:, 0], kept)
    pairs, p, corrected = pairs[shown], p[shown], corrected[shown]
    results = []
    for block in track(list(blocks(len(pairs), samples)), "resampling", "blocks of pairs"):
        first, second = pairs[block].T
        differences = values[first] - values[second]
        intervals = system_intervals(differences, samples=samples, confidence=confidence, seed=seed)
        results += [
            PairComparison(
                scores.systems[pairs[n, 0]],
                scores.systems[pairs[n, 1]],
                mean_of_scored(row),
                *interval,
                float(p[n]),
                float(corrected[n]),
                int((~np.isnan(row)).sum()),
            )
            for n, (row, interval) in enumerate(
                zip(differences, intervals, strict=True), block.start
            )
        ]
    results.sort(key=lambda pair: (-pair.difference, pair.first, pair.second))
    fields = dict(signature.fields if signature else (("metric", scores.metric),))
    fields.pop("k", None)  # what older results called the samples
    own = Signature.of(test="sign-flip", samples=samples, confidence=confidence, seed=seed).fields
    own += Signature.of(against=against, top=top).fields
    merged = Signature(tuple({**fields, **dict(own)}.items()))
    smallest = smallest_flip_p(max(pair.inputs for pair in results))
    return SystemComparison(
        scores.metric,
        tuple(scores.systems[i] for i in kept),
        tuple(float(means[i]) for i in kept),
        tuple(results),
        family,
        against,
        len(order) - len(kept),
        alpha,
        smallest,
        merged,
    )


def flip_p_values(values: FloatArray, pairs: IntArray) -> FloatArray:
    """Two-sided exact p-values of "the mean difference is zero", inputs flipping their signs.

    p = min(1, 2 P(Σ ±|d| ≥ |Σ d|)) over all 2^M ways in which two systems could have changed
    places on their M shared inputs (`flip_tails`).

    Args:
        values: (N, M) scores, NaN where not scored.
        pairs: (P, 2) indices of systems.

    Returns:
        (P,) p-values; NaN where the two share no input.

    Example:
        >>> flip_p_values(np.array([[1.0, 1, 1], [0, 0, 0]]), np.array([[0, 1]])).tolist()
        [0.25]
    """
    p = np.empty(len(pairs))
    for block in blocks(len(pairs), 8 * values.shape[1]):
        first, second = pairs[block].T
        differences = values[first] - values[second]
        signs = np.where(np.nansum(differences, axis=1, keepdims=True) < 0, -1.0, 1.0)
        p[block] = np.minimum(1.0, 2.0 * flip_tails(signs * differences))
        p[block][np.isnan(differences).all(axis=1)] = np.nan
    return p
