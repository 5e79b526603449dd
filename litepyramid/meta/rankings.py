"""How far a ranking of systems would change with other inputs (DDR22 §3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from litepyramid.data.door import opened
from litepyramid.data.score_tables import read_scores
from litepyramid.errors import InputError
from litepyramid.meta.alignment import asked_about, human_score, scores_sha
from litepyramid.meta.core.draws import drawn_counts, piece_generator
from litepyramid.meta.core.levels import correlate_rows, mean_tolerance
from litepyramid.progress import track
from litepyramid.stats import (
    MOST_SAMPLES,
    blocks,
    check_whole,
    described,
    resampled_means,
)
from litepyramid.tables import Column, Result, Table
from litepyramid.text import counted, cut
from litepyramid.types import (
    FloatArray,
    HumanLike,
    Names,
    ScoresLike,
    ScoreSources,
    Signature,
)


@dataclass(frozen=True)
class StabilityPoint:
    """How stable one metric's ranking of systems is, made from M `inputs` of those
    `available`.

    `tau` and `deviation` (with k − 1) are of Kendall's τ-b between two rankings, each
    from M inputs of its own; `error` is the standard deviation of a system's average
    score.
    """

    metric: str
    inputs: int
    tau: float
    deviation: float
    samples: int
    error: float
    systems: int
    available: int


@dataclass(frozen=True)
class StabilityResult(Result):
    """Stability of rankings, metric by metric, a point for each number of inputs."""

    points: tuple[StabilityPoint, ...]
    samples: int
    signature: Signature

    def to_tables(self) -> list[Table]:
        """Every point of every metric."""
        columns = (
            "metric",
            Column("inputs", "M"),
            Column("tau", "τ-b"),
            Column("deviation", "±1 sd"),
            Column("error", "sd of a score", digits=4),
            "samples",
        )
        notes = [
            "τ-b between two rankings of the systems, each from M inputs drawn with "
            "replacement; mean and standard deviation of "
            f"{counted(self.samples, 'time')}."
        ]
        for systems, inputs in sorted({(p.systems, p.available) for p in self.points}):
            there = f"{counted(systems, 'system')}, {counted(inputs, 'input')}"
            notes.append(f"{there} to draw from.")

        notes.append(f"Signature: {self.signature}")
        return [Table.of("Stability of rankings", columns, self.points, notes)]


def stability(
    scores: ScoresLike,
    human: HumanLike | None = None,
    *,
    sizes: Sequence[int] | None = None,
    samples: int = 1000,
    seed: int = 12345,
    **sources: Unpack[ScoreSources],
) -> StabilityResult:
    """Measure how far a ranking of systems would change with other inputs.

    For each number of inputs: draw so many with replacement, average, rank; repeat with
    another draw; compute Kendall's τ-b between the two rankings. Mean and standard
    deviation over `samples` repeats (Deutsch, Dror & Roth 2022, section 3). Every
    metric gets the same draws.

    Args:
        scores: Tables of scores; not changed.
        human: The human score, shown last. Where neither this nor the table says which,
            human scores are treated like other metrics.
        sizes: Numbers of inputs; by default ten steps to the number there are.
        samples: Repeats at each size.
        seed: Seed of the draws.
        **sources: What belongs to the scores, as of `read_scores`: metrics, columns.

    Raises:
        InputError: Unknown names; fewer than two systems; a size below 1.

    Example:
        >>> x = [[1, 2, 3], [5, 6, 7], [9, 9, 9]]
        >>> stability(x, x, sizes=[2], samples=20).points[0].tau
        1.0

    Command line:
        $ litepyramid meta stability table.csv --samples 1000
        $ litepyramid meta stability table.csv --size 5 --size 10 -o stability.csv
    """
    check_whole("samples", samples, 2, MOST_SAMPLES)
    check_whole("seed", seed, 0)
    chosen = None if sizes is None else _checked_sizes(sizes)
    table = read_scores(scores, human, **sources)
    table.need_inputs("samples of inputs")

    # Each metric with all that it has scored; people stand last.
    raters: Names = ()
    of_people = {}
    if table.human:
        name, raters, people = human_score(table)
        of_people[name] = people.values[0]
    metrics = asked_about(table, raters)
    every = {metric: table[metric] for metric in metrics} | of_people

    points = []
    for metric in track([*every], "ranking systems", "metrics"):
        X = every[metric]
        scored = ~np.isnan(X)
        # An input without scores cannot be drawn: it would leave samples empty.
        X = X[scored.any(axis=1)][:, scored.any(axis=0)]
        systems, available = X.shape
        if systems < 2:
            raise InputError(
                f"'{metric}' scores {counted(systems, 'system')}",
                expected="at least two to rank",
            )
        for size in usual_sizes(available) if chosen is None else chosen:
            # More inputs than there are would repeat them, and look more stable than
            # they are.
            if size <= available:
                points.append(_point(metric, X, size, samples, seed))

    if not points:
        raise InputError(f"sizes {chosen}", expected="at most the number of inputs")

    signature = Signature.of(
        coefficient="kendall",
        human="+".join(raters) or None,
        sizes=None if chosen is None else "+".join(map(str, chosen)),
        samples=samples,
        seed=seed,
        scores_sha=scores_sha(table, metrics, raters),
    )
    return StabilityResult(tuple(points), samples, signature)


def _checked_sizes(sizes: Any) -> list[int]:
    """Some numbers of inputs, each once."""
    listed = opened(sizes, "sizes").listed
    if listed is None:
        raise InputError(f"sizes {cut(repr(sizes))}", expected="numbers of inputs")
    for size in listed:
        check_whole("size", size)
    return [*dict.fromkeys(listed)]


def _point(
    metric: str, X: FloatArray, size: int, samples: int, seed: int
) -> StabilityPoint:
    """How stable the ranking by (N, M) scores is from so many inputs."""
    # A generator for each size: what one number of inputs gives does not depend on
    # which others are asked for.
    rng = piece_generator(seed, "stability", str(size))
    one = _drawn_means(X, size, samples, rng)
    two = _drawn_means(X, size, samples, rng)

    # A system without a score on any drawn input has no rank in that sample.
    both = ~(np.isnan(one) | np.isnan(two))
    slack = mean_tolerance(X)
    taus = correlate_rows(
        np.where(both, one, 0.0),
        np.where(both, two, 0.0),
        "kendall",
        None if both.all() else both.astype(float),
        (slack, slack),
    )
    tau, deviation, defined = described(taus)

    # Both draws are of one size, so all averages come from one distribution.
    averages = np.concatenate([one, two])
    variance = np.nanmean(np.nanvar(averages, axis=0, ddof=1))
    return StabilityPoint(
        metric=metric,
        inputs=size,
        tau=tau,
        deviation=deviation,
        samples=defined,
        error=variance**0.5,
        systems=X.shape[0],
        available=X.shape[1],
    )


def usual_sizes(available: int) -> list[int]:
    """Ten even steps, the first of which is at most 10, then doubles of 100 up to all
    inputs."""
    # Small numbers change most, and are what people can afford.
    first = min(100, available)
    sizes = {available}
    for i in range(1, 11):
        sizes.add(max(1, round(first * i / 10)))

    size = first
    while size < available:
        sizes.add(size)
        size *= 2
    return sorted(sizes)


def _drawn_means(
    X: FloatArray, size: int, samples: int, rng: np.random.Generator
) -> FloatArray:
    """(samples, N) averages of the systems, each over `size` inputs drawn anew."""
    available = X.shape[1]
    parts = []
    for part in blocks(samples, max(size, available)):
        counts = drawn_counts(rng, available, size, part.stop - part.start)
        parts.append(resampled_means(X, counts))
    return np.concatenate(parts)
