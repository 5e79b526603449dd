"""How many inputs people must label to detect a difference between two systems."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil
from statistics import NormalDist
from typing import Any

import numpy as np

from litepyramid.annotation.sampling import minutes, reading_time, unsureness
from litepyramid.data.scores import Scores
from litepyramid.errors import InputError, no_effect
from litepyramid.identity import fingerprint
from litepyramid.meta.alignment import check_number
from litepyramid.scoring.result import ScoreResult
from litepyramid.scoring.sampled import Spread
from litepyramid.scoring.saved_result import read_saved, with_people
from litepyramid.stats import EQUAL_WITHIN, check_share, mean_of_scored, sums_by
from litepyramid.tables import Column, Result, Table
from litepyramid.text import counted
from litepyramid.types import (
    Ends,
    FloatArray,
    IntArray,
    ScoresLike,
    Signature,
)

SPREAD = 0.256
"""Standard deviation over inputs of the difference of two systems' human scores, in
REALSumm."""

TOGETHER = 0.469
"""Its correlation with the judge's difference: lexical judge, cross-fitted by
examples."""

FACTS = 10.56
"""Facts to judge in a summary, in REALSumm."""

DRAW_ERRORS: dict[Spread, float] = {"summaries": 0.166, "facts": 0.383}
"""Standard deviation of a system's score from one draw, times the root of draws, with
the same judge; facts are drawn where it is unsure. In REALSumm."""

LABELLED = 0.1
"""The part of the inputs that is labelled; the judge scores them all."""

MOST = 100_000
"""More labelled inputs than this are not told."""


@dataclass(frozen=True)
class PowerAt:
    """The share of tests that detect the difference, from labels alone and combined."""

    labels: int
    alone: float
    combined: float


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class LabelPower(Result):
    """How many labelled inputs it takes to detect a difference of two systems' human
    scores.

    Attributes:
        rows: The power by number of labels, fewest first.
        alone: Labelled inputs needed with the labels alone; None if more than `MOST`.
        combined: The same with the judge.
        pilot: Where the spread of differences comes from.
        ways: What each way to spread the labels takes.
    """

    difference: float
    power: float
    alpha: float
    rows: tuple[PowerAt, ...]
    alone: int | None
    combined: int | None
    pilot: str
    ways: tuple[WayToLabel, ...]
    signature: Signature

    def to_tables(self) -> Sequence[Table]:
        """One row per number of labelled inputs; one per way to spread labels."""
        needed = []
        for labels in (self.alone, self.combined):
            needed.append(f"{labels:,}" if labels else f"more than {MOST:,}")

        share = f"{100 * self.power:g} %"
        notes = (
            f"To detect it {share} of the time: {needed[0]} labelled inputs with the "
            f"labels alone, {needed[1]} with the judge.",
            f"Spread of differences: {self.pilot}. Two-sided t-test at α = "
            f"{self.alpha:g}. Several pairs tested together need more labels.",
            str(self.signature),
        )
        columns = (
            Column("labels", "labelled inputs"),
            Column("alone", "power, labels alone"),
            Column("combined", "power, with judge"),
        )
        title = f"Power to detect a difference of {self.difference:g}"

        fewest = min(self.ways, key=lambda way: way.labels).way
        quickest = min(self.ways, key=lambda way: way.minutes).way
        about = (
            f"Fewest facts to judge: {fewest}. Least time: {quickest}.",
            "Of two systems; a tenth of their inputs, or facts, is labelled.",
        )
        names = (
            "way",
            Column("labels", "facts to judge"),
            Column("summaries", "summaries to read"),
            Column("minutes", digits=0),
        )
        what = f"What it takes to detect it {share} of the time"
        return [
            Table.of(title, columns, self.rows, notes),
            Table.of(what, names, self.ways, about),
        ]

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
) -> LabelPower:
    """Tell how many inputs, or facts, people must label to detect a difference between
    two systems.

    The power of the t-test of n inputs' differences, by the noncentral t distribution:
    from the labels alone with their variance s², and from labels and judge combined
    with s² (1 - .9 ρ²), since the judge, whose differences correlate by ρ with
    people's, scores ten times as many inputs as are labelled; for the population of
    inputs. A second table tells what each way to spread the labels takes, in facts to
    judge, summaries to read, and minutes. With summaries and a judge as in REALSumm,
    single facts need the fewest labels, and the most time: nearly each is in another
    summary, which must be read. Whole inputs with the judge take the least time.

    Args:
        pilot: A result of scoring with labels, or a table with scores of a judge and of
            people (metric "human"); by default differences are as in REALSumm.
        difference: Difference between human scores to detect, on their own scale.
        metric: The judge's metric in a table.
        power: Share of the tests that should detect it.
        alpha: Significance level.
        seconds: What people take to read a summary, and to judge a fact.

    Raises:
        InputError: The difference is not on the scale, or the pilot has fewer than two
            systems with ten inputs labelled for both.

    Example:
        >>> result = label_power(difference=0.1)
        >>> result.alone, result.combined
        (54, 44)

    Command line:
        $ litepyramid budget label-power --difference 0.1
    """
    no_effect(label_power, pilot is None, "without a pilot", metric=metric)
    check_share("power", power)
    check_share("alpha", alpha)
    check_number("difference", difference)
    # Without a pilot the scale is that of REALSumm's scores.
    if not 0 < difference < (1 if pilot is None else np.inf):
        raise InputError(
            f"a difference of {difference}",
            expected="a number above 0, and without a pilot below 1",
        )
    reading_time(seconds)
    spreads, source = _spreads(pilot, metric)

    # Two values have no degree of freedom to spare; every number beyond is tried, up to
    # a few times what the normal distribution asks for.
    normal = NormalDist()
    reach = (normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power)) / difference
    most = min(MOST, 100 + ceil(4 * reach**2 * max(spreads)))
    numbers = np.arange(3, most + 1)
    needed = []
    curves = []
    for variance in spreads:
        curve = _power(numbers, difference / np.sqrt(variance), alpha)
        enough = np.flatnonzero(curve >= power)
        needed.append(int(numbers[enough[0]]) if len(enough) else None)
        curves.append(curve)

    # About ten rows, to where nearly all tests detect it.
    last = needed[0] or MOST
    rows = []
    for n in np.unique(np.geomspace(5, 3 * last, 12).astype(int)).tolist():
        if n <= most:
            rows.append(PowerAt(n, *[float(curve[n - 3]) for curve in curves]))

    ways = _ways(pilot, spreads, needed, reach, seconds)
    return LabelPower(
        difference,
        power,
        alpha,
        tuple(rows),
        needed[0],
        needed[1],
        source,
        tuple(ways),
        Signature.of(
            power=power,
            difference=difference,
            alpha=alpha,
            pilot_sha=None if pilot is None else fingerprint(spreads),
        ),
    )


def _power(numbers: IntArray, effect: float, alpha: float) -> FloatArray:
    """Share of t-tests of so many values that find an effect, in standard
    deviations."""
    from scipy.special import nctdtr, stdtrit

    freedom = numbers - 1.0
    reach = stdtrit(freedom, 1 - alpha / 2)
    mean = effect * np.sqrt(numbers)
    # The other tail; where it is too small to be computed, it is none.
    other = np.nan_to_num(1 - nctdtr(freedom, -mean, reach))
    return np.asarray(1 - nctdtr(freedom, mean, reach) + other)


def _spreads(pilot: Any, metric: str | None) -> tuple[list[float], str]:
    """Variance over inputs of two systems' difference, of labels alone and combined,
    mean over pairs; and where it is from."""
    if pilot is None:
        told = f"as in REALSumm (sd {SPREAD}, correlation with the judge {TOGETHER})"
        pairs = [(SPREAD**2, TOGETHER)]
    else:
        judge, people, _ = with_people(pilot, metric, "human")
        pairs = _pairs_of(judge, people)
        told = f"{counted(len(pairs), 'pair')} of the pilot's systems"

    alone = [variance for variance, _ in pairs]
    combined = []
    for variance, together in pairs:
        combined.append(variance * (1 - (1 - LABELLED) * together**2))
    return [float(np.mean(alone)), float(np.mean(combined))], told


def _pairs_of(judge: Scores, human: Scores) -> list[Ends]:
    """Of every two systems the variance of people's differences, and how the judge's
    correlate with them."""
    pairs = []
    enough = False
    for i, j in combinations(range(len(human.systems)), 2):
        both = np.stack([m.values[0, i] - m.values[0, j] for m in (human, judge)])
        both = both[:, ~np.isnan(both).any(axis=0)]
        enough |= both.shape[1] >= 10
        if both.shape[1] >= 10 and np.ptp(both[0]) > EQUAL_WITHIN:
            covariance = np.cov(both)
            norm = np.sqrt(covariance[0, 0] * covariance[1, 1])
            together = covariance[0, 1] / norm if norm > 0 else 0.0
            pairs.append((float(covariance[0, 0]), float(together)))

    if not pairs:
        what = "human scores of the same ten inputs"
        if enough:
            what = "human scores that differ more on one input than on another"
        raise InputError(
            f"no two systems of the pilot have {what}",
            expected="human scores of two systems or more on ten inputs or more",
        )

    return pairs


def _draw_errors(result: ScoreResult | None) -> dict[Spread, float]:
    """`DRAW_ERRORS` of a pilot; none without labels of the units that were scored."""
    if result is None or result.labels_here is None:
        return {}

    units = result.units
    shares = result.rule.shares(units)
    squares: dict[Spread, list[float]] = {"summaries": [], "facts": []}

    for labels, presence in zip(result.labels_here, result.presence, strict=True):
        there = ~np.isnan(labels + presence)
        if there.sum() < 2:
            continue

        share = shares[there]
        human = labels[there]
        judge = presence[there]
        unsure = unsureness(judge, human)
        squares["facts"].append(_draw_variance(share, human, judge, unsure))

        some = units.input_of[there]
        whole = sums_by(some, share)
        filled = whole > 0
        human = sums_by(some, share * human)[filled] / whole[filled]
        judge = sums_by(some, share * judge)[filled] / whole[filled]
        even = np.ones(len(human))
        squares["summaries"].append(_draw_variance(even, human, judge, even))

    errors = {}
    for way, some_squares in squares.items():
        errors[way] = float(np.sqrt(mean_of_scored(np.array(some_squares))))
    return errors


def _draw_variance(
    share: FloatArray, human: FloatArray, judge: FloatArray, unsure: FloatArray
) -> float:
    """Variance of a score from one draw of probability share times unsureness,
    corrected by the judge."""
    total = share.sum()
    y = human - (share @ human) / total
    x = judge - (share @ judge) / total
    weights = share / unsure
    spread = weights @ (x * x)
    slope = weights @ (x * y) / spread if spread > 0 else 0.0
    squares = weights @ (y - slope * x) ** 2
    return float(squares * (share @ unsure) / total**2)


def _ways(
    pilot: Any,
    spreads: Sequence[float],
    needed: Sequence[int | None],
    reach: float,
    seconds: str,
) -> Iterator[WayToLabel]:
    """Each way with the labels it takes; of draws, and of more inputs than `MOST`, by
    the normal distribution.

    `reach`: how many standard errors the difference must be, over the difference.
    """
    result = None if pilot is None else read_saved(pilot)
    errors = DRAW_ERRORS if pilot is None else _draw_errors(result)
    facts = FACTS
    if result is not None:
        facts = result.presence.shape[1] / len(result.units)

    ways: list[tuple[str, float, float]] = []
    names = ("inputs, labels alone", "inputs, with the judge")
    for name, inputs, variance in zip(names, needed, spreads, strict=True):
        number = inputs or ceil(reach**2 * variance)
        ways.append((name, 2 * number, 2 * number * facts))

    # The variance of the difference falls with n, labels being a part of the inputs.
    for spread, error in errors.items():
        draws = 1.0 if spread == "summaries" else facts
        noise = 2 * (1 - LABELLED) * error**2 / draws
        n = reach**2 * (spreads[0] * LABELLED + noise)
        labels = 2 * n * facts
        # Systematic draws come back to a summary only when all had their turn.
        read = min(labels, 2 * n / LABELLED) if spread == "facts" else 2 * n
        ways.append((f"{spread}, with the judge", read, labels))

    for name, read, labels in ways:
        time = minutes(seconds, read, labels)
        yield WayToLabel(name, ceil(labels), ceil(read), time)
