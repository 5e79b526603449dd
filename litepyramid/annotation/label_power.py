"""How many inputs people must label to detect a difference between two systems."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from litepyramid.errors import InputError
from litepyramid.scoring.estimates import prediction_powered
from litepyramid.scoring.result import scored_and_labelled
from litepyramid.stats import check_samples, check_share
from litepyramid.tables import Column, Result, Table
from litepyramid.text import counted
from litepyramid.types import FloatArray, ScoresLike, Signature, fingerprint

SPREAD = 0.256
"""Standard deviation over inputs of the difference of two systems' human scores, in
REALSumm."""

TOGETHER = 0.469
"""Its correlation with the judge's difference: lexical judge, cross-fitted by
examples."""

_GRID = (
    10,
    15,
    20,
    30,
    50,
    75,
    100,
    150,
    200,
    300,
    500,
    750,
    1000,
    1500,
    2000,
    3000,
    5000,
)


@dataclass(frozen=True, slots=True)
class PowerAt:
    """The share of simulated tests that detect the difference, from labels alone and
    combined."""

    labels: int
    alone: float
    combined: float


@dataclass(frozen=True, slots=True)
class LabelPower(Result):
    """How many labelled inputs it takes to detect a difference of two systems' human
    scores.

    Attributes:
        rows: The simulations, fewest labels first.
        alone: Labelled inputs needed with the labels alone; None if more than were
            tried.
        combined: The same with the judge.
        pilot: Where the spread of differences comes from.
    """

    difference: float
    power: float
    alpha: float
    rows: tuple[PowerAt, ...]
    alone: int | None
    combined: int | None
    pilot: str
    samples: int
    signature: Signature

    def to_tables(self) -> Sequence[Table]:
        """One row per number of labelled inputs."""

        def needed(labels: int | None) -> str:
            return f"{labels}" if labels else f"more than {self.rows[-1].labels}"

        share = f"{100 * self.power:g} %"
        notes = (
            f"To detect it {share} of the time: {needed(self.alone)} labelled inputs with the "
            f"labels alone, {needed(self.combined)} with the judge.",
            f"Spread of differences: {self.pilot}. Two-sided t-test at α = {self.alpha:g}, "
            f"{self.samples} simulated tests per row. Several pairs tested together need more "
            "labels.",
            str(self.signature),
        )
        heads = {"labels": "labelled inputs", "alone": "power, labels alone"}
        columns = [
            Column(*head)
            for head in (heads | {"combined": "power, with judge"}).items()
        ]
        title = f"Power to detect a difference of {self.difference:g}"
        return [Table.of(title, columns, self.rows, notes)]

    def to_figure(self) -> Any:
        """Power by the number of labelled inputs, from the labels alone and with the
        judge."""
        from litepyramid.figures.meta_plots import Line, line_plot

        labels = [row.labels for row in self.rows]
        lines = [
            Line("labels and judge", labels, [row.combined for row in self.rows]),
            Line("labels alone", labels, [row.alone for row in self.rows]),
        ]
        ylabel = f"power to detect {self.difference:g} (α = {self.alpha:g})"
        return line_plot(lines, "labelled inputs", ylabel, level=self.power)


def label_power(
    pilot: ScoresLike = None,
    *,
    difference: float = 0.05,
    metric: str | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
    samples: int = 1000,
    seed: int = 12345,
) -> LabelPower:
    """Simulate how many inputs people must label to detect a difference between two
    systems.

    A simulated test draws a pair of systems of the pilot, and inputs of the pilot with
    replacement; the pair's difference is shifted to the true one. The judge scores all
    inputs, a tenth of them is labelled. Tested is the difference from the labels alone,
    and from labels and judge combined, for the population of inputs (as RoSE's analysis
    of power).

    Args:
        pilot: A result of scoring with labels, or a table with scores of a judge and of
            people (metric "human"); by default differences are as in REALSumm.
        difference: Difference between human scores to detect.
        metric: The judge's metric in a table.
        power: Share of the tests that should detect it.
        alpha: Significance level.
        samples: Simulated tests for each number of labels.
        seed: Seed of the draws.

    Raises:
        InputError: The difference is 0, or the pilot has fewer than two systems with
            ten inputs labelled for both.

    Example:
        >>> result = label_power(difference=0.1, samples=200)
        >>> result.combined < result.alone
        True

    Command line:
        $ litepyramid budget label-power --difference 0.1
    """
    check_share("power", power)
    check_share("alpha", alpha)
    check_share("difference", difference)
    check_samples(samples)
    pool, source = _pool(pilot, metric)
    rows: list[PowerAt] = []
    for n in _GRID:
        total = 10 * n
        rng = np.random.default_rng([seed, n])
        detected = np.zeros(2)
        block = max(1, min(samples, 4_000_000 // total))
        for start in range(0, samples, block):
            h, f = _draws(pool, min(block, samples - start), n, total, rng)
            estimate = prediction_powered(
                h + difference,
                f,
                np.arange(n),
                target="population",
                confidence=1 - alpha,
            )
            detected += (estimate.alone_low > 0).sum(), (estimate.low > 0).sum()
        rows.append(PowerAt(n, *(detected / samples).tolist()))
        if min(rows[-1].alone, rows[-1].combined) >= max(power, 0.99):
            break
    curves = [[row.alone for row in rows], [row.combined for row in rows]]
    labels = [row.labels for row in rows]
    alone, combined = (_needed(labels, curve, power) for curve in curves)
    return LabelPower(
        difference, power, alpha, tuple(rows), alone, combined, source, samples,
        Signature.of(
            power=power, difference=difference, alpha=alpha,
            pilot_sha=None if pilot is None else fingerprint(p.tolist() for p in pool),
            samples=samples, seed=seed,
        ),
    )  # fmt: skip


def _pool(pilot: Any, metric: str | None) -> tuple[list[FloatArray], str]:
    """(2, inputs) human and judge's differences of every pair, centred; and where they
    are from."""
    if pilot is None:
        covariance = np.array([[1.0, TOGETHER], [TOGETHER, 1.0]]) * SPREAD**2
        return [
            covariance
        ], f"as in REALSumm (sd {SPREAD}, correlation with the judge {TOGETHER})"
    judge, human, _ = scored_and_labelled(pilot, metric, "human")
    systems = sorted(range(len(human.systems)), key=human.systems.__getitem__)
    inputs = sorted(range(len(human.inputs)), key=human.inputs.__getitem__)
    pool = []
    for i, j in combinations(systems, 2):
        both = np.stack([(m.values[i] - m.values[j])[inputs] for m in (human, judge)])
        both = both[:, ~np.isnan(both).any(axis=0)]
        if both.shape[1] >= 10 and both[0].std() > 0:
            pool.append(both - both.mean(axis=1, keepdims=True))
    if not pool:
        raise InputError(
            "no two systems of the pilot have human scores of the same ten inputs",
            expected="human scores of two systems or more on ten inputs or more",
        )
    return pool, f"{counted(len(pool), 'pair')} of the pilot's systems"


def _draws(
    pool: list[FloatArray], rows: int, n: int, total: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """(rows, n) human and (rows, total) judge's differences of drawn pairs and
    inputs."""
    if len(pool) == 1 and pool[0].shape == (2, 2):
        both = rng.multivariate_normal(np.zeros(2), pool[0], size=(rows, total))
        return both[:, :n, 0], both[:, :, 1]
    h, f = np.empty((rows, n)), np.empty((rows, total))
    for row, pair in enumerate(rng.integers(len(pool), size=rows)):
        drawn = rng.integers(pool[pair].shape[1], size=total)
        h[row], f[row] = pool[pair][0, drawn[:n]], pool[pair][1, drawn]
        sign = rng.choice((-1.0, 1.0))
        h[row] *= sign
        f[row] *= sign
    return h, f


def _needed(labels: Sequence[int], curve: Sequence[float], power: float) -> int | None:
    """Where the curve, made to rise, first reaches the power; straight lines between
    the rows."""
    rising = np.maximum.accumulate(curve)
    if rising[-1] < power:
        return None
    last = max(
        1, int(np.argmax(rising >= power))
    )  # below the first row it is the first number
    rows = slice(last - 1, last + 1)
    return int(np.ceil(np.interp(power, rising[rows], labels[rows])))
