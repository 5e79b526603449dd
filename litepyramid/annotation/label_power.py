"""How many inputs people must label to detect a difference between two systems."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil
from statistics import NormalDist
from typing import Any

import numpy as np

from litepyramid.annotation.sampling import minutes, mixed_unsureness, reading_time
from litepyramid.errors import InputError
from litepyramid.scoring.estimates import prediction_powered
from litepyramid.scoring.sampled import Spread
from litepyramid.scoring.saved_result import read_saved, scored_and_labelled
from litepyramid.stats import check_samples, check_share, sums_by
from litepyramid.tables import Column, Result, Table
from litepyramid.text import counted
from litepyramid.types import FloatArray, ScoresLike, Signature, fingerprint

SPREAD = 0.256
"""Standard deviation over inputs of the difference of two systems' human scores, in
REALSumm."""

TOGETHER = 0.469
"""Its correlation with the judge's difference: lexical judge, cross-fitted by
examples."""

FACTS = 10.56
"""Facts to judge in a summary, in REALSumm."""

DRAW_ERRORS: dict[Spread, float] = {"summaries": 0.166, "facts": 0.385}
"""Standard deviation of a system's score from one draw, times the root of draws, with
the same judge; facts are drawn where it is unsure. In REALSumm."""

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
class WayToLabel:
    """What it takes to detect the difference if labels are spread in a way.

    Attributes:
        way: What is drawn, and whether the judge helps.
        labels: Facts that people judge, of both systems.
        summaries: Summaries that they read for it.
        minutes: What both take.
    """

    way: str
    labels: int
    summaries: int
    minutes: float


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
    ways: tuple[WayToLabel, ...] = ()

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

        return [Table.of(title, columns, self.rows, notes), *self._ways_table()]

    def _ways_table(self) -> list[Table]:
        """How the labels can be spread, and which way is cheapest."""
        if not self.ways:
            return []
        labels = min(self.ways, key=lambda way: way.labels)
        time = min(self.ways, key=lambda way: way.minutes)
        cheapest = f"Fewest labels: {labels.way}. Least time: {time.way}."
        note = "Labels are facts judged, of two systems; a tenth of all are labelled."
        columns = ("way", "labels", "summaries", Column("minutes", digits=0))
        title = f"What it takes to detect it {100 * self.power:g} % of the time"
        return [Table.of(title, columns, self.ways, (cheapest, note))]

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
    seconds: str = "20+5",
    samples: int = 1000,
    seed: int = 12345,
) -> LabelPower:
    """Simulate how many inputs people must label to detect a difference between two
    systems.

    A simulated test draws a pair of systems of the pilot, and inputs of the pilot with
    replacement; the pair's difference is shifted to the true one. The judge scores all
    inputs, a tenth of them is labelled. Tested is the difference from the labels alone,
    and from labels and judge combined, for the population of inputs (as RoSE's analysis
    of power). Then it is told what each way to spread the labels takes, in labels and
    in time: single facts need fewest labels, but every summary must be read for few of
    them.

    Args:
        pilot: A result of scoring with labels, or a table with scores of a judge and of
            people (metric "human"); by default differences are as in REALSumm.
        difference: Difference between human scores to detect.
        metric: The judge's metric in a table.
        power: Share of the tests that should detect it.
        alpha: Significance level.
        seconds: What people take to read a summary, and to judge a fact.
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
    reading_time(seconds)
    pool, source = _pool(pilot, metric)
    rows: list[PowerAt] = []

    for n in _GRID:
        total = 10 * n
        rng = np.random.default_rng([seed, n])
        detected = np.zeros(2)
        block = max(1, min(samples, 4_000_000 // total))

        for start in range(0, samples, block):
            h, f = _draws(
                pool,
                min(block, samples - start),
                n,
                total,
                rng,
            )
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
        tuple(_ways(_Costs.of(pilot, pool, seconds), alone, combined, difference, alpha, power,)),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Costs:
    """What a pilot tells of single draws: spread of differences, facts, errors."""

    spread: float
    facts: float
    errors: dict[Spread, float]
    seconds: str

    @classmethod
    def of(cls, pilot: Any, pool: list[FloatArray], seconds: str) -> "_Costs":
        """Those of a result with labels of its units; else REALSumm's."""
        if pilot is None:
            return cls(SPREAD, FACTS, DRAW_ERRORS, seconds)
        spread = float(np.sqrt(np.mean([pair[0].var(ddof=1) for pair in pool])))
        result = read_saved(pilot)
        known = result is not None and result.label_units in (None, result.units)
        if result is None or result.labels is None or not known:
            return cls(spread, FACTS, {}, seconds)

        shares = result.rule.shares(result.rule.layout(result.units))
        facts = len(shares) / len(result.units)
        inputs = np.repeat(
            np.arange(len(result.units)), [len(e.units) for e in result.units]
        )
        errors: dict[Spread, list[float]] = {"summaries": [], "facts": []}

        for labels, presence in zip(result.labels, result.presence, strict=True):
            there = ~(np.isnan(labels) | np.isnan(presence))
            if there.sum() < 2:
                continue
            human = labels[there]
            judge = presence[there]
            share = shares[there]
            unsure = mixed_unsureness(judge)
            some = inputs[there]
            errors["facts"].append(_draw_error(share, human, judge, unsure))
            of = sums_by(some, share)
            human_scores = sums_by(some, share * human)[of > 0] / of[of > 0]
            judge_scores = sums_by(some, share * judge)[of > 0] / of[of > 0]
            even = np.ones(len(human_scores))
            errors["summaries"].append(
                _draw_error(even, human_scores, judge_scores, even)
            )

        means: dict[Spread, float] = {}
        for way, values in errors.items():
            means[way] = float(np.sqrt(np.mean(np.square(values))))
        return cls(spread, facts, means, seconds)


def _draw_error(
    share: FloatArray, human: FloatArray, judge: FloatArray, unsure: FloatArray
) -> float:
    """Standard deviation of a score from one draw of probability share times unsureness,
    corrected by the judge."""
    total = share.sum()
    y = human - (share @ human) / total
    x = judge - (share @ judge) / total
    weights = share / unsure
    spread = weights @ (x * x)
    slope = weights @ (x * y) / spread if spread > 0 else 0.0
    squares = weights @ (y - slope * x) ** 2
    return float(np.sqrt(squares * (share @ unsure)) / total)


def _ways(
    costs: _Costs,
    alone: int | None,
    combined: int | None,
    difference: float,
    alpha: float,
    power: float,
) -> Iterator[WayToLabel]:
    """Each way with the labels it takes; of draws by the normal distribution."""
    for name, inputs in (("inputs, labels alone", alone), ("inputs", combined)):
        if inputs is not None:
            yield _way(name, 2 * inputs * costs.facts, 2 * inputs, costs.seconds)

    # Labels of a tenth of 10 n inputs: the variance of the difference falls with n.
    normal = NormalDist()
    reach = (normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power)) / difference
    between = costs.spread**2 / 10

    for spread, error in costs.errors.items():
        draws = 1.0 if spread == "summaries" else costs.facts
        n = reach**2 * (between + 2 * 0.9 * error**2 / draws)
        labels = 2 * n * costs.facts
        # Systematic draws come back to a summary only when all had their turn.
        summaries = min(labels, 20 * n) if spread == "facts" else 2 * n
        yield _way(spread, labels, summaries, costs.seconds)


def _way(name: str, labels: float, summaries: float, seconds: str) -> WayToLabel:
    judge = "" if "alone" in name else ", with the judge"
    time = minutes(seconds, summaries, labels)
    return WayToLabel(name + judge, ceil(labels), ceil(summaries), time)


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

    h = np.empty((rows, n))
    f = np.empty((rows, total))
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
