"""Prediction-powered means: what people said of a sample, and a judge of everything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from litepyramid.errors import InputError
from litepyramid.stats import EQUAL_WITHIN, t_reach, undefined, unseen_share
from litepyramid.text import counted
from litepyramid.types import BoolArray, Ends, FloatArray, IntArray

Target = Literal["inputs", "population"]

GAIN = 0.95
"""The judge is used where it leaves at most this part of the variance; else the labels
alone."""

FEWEST = 5
"""With fewer draws of a system no interval holds; with fewer than 15 it may be
short."""


class Estimates(NamedTuple):
    """R means of human scores, from labels and judge together and from labels alone.

    Attributes:
        value: (R,) The means, with the `variance` of their errors.
        alone: (R,) The same from the labels alone, with `alone_variance`.
        weight: (R,) λ, how much the judge counts; 0: the labels alone.
        labels: (R,) How many inputs, or facts, are labelled.
        freedom: (R,) Degrees of freedom of the variances.
        saved: (R,) How many more labels the labels alone would need for as short an
            interval.
        unseen: (R,) The variance of what draws that are all alike leave open; NaN of
            others.
    """

    value: FloatArray
    variance: FloatArray
    alone: FloatArray
    alone_variance: FloatArray
    weight: FloatArray
    labels: FloatArray
    freedom: FloatArray
    saved: FloatArray
    unseen: FloatArray

    def take(self, rows: IntArray) -> Estimates:
        """Some of the means, in this order."""
        return Estimates(*[column[rows] for column in self])

    def where(self, chosen: BoolArray, other: Estimates) -> Estimates:
        """The means that are chosen, (R,), and those of other estimates elsewhere."""
        columns = zip(self, other, strict=True)
        return Estimates(*[np.where(chosen, ours, theirs) for ours, theirs in columns])

    def from_labels_alone(self) -> Estimates:
        """The same means without the judge."""
        none = np.zeros(self.value.size)
        return self._replace(
            value=self.alone,
            variance=self.alone_variance,
            weight=none,
            saved=none,
            # Of labels that are all alike, the judge is no help.
            unseen=np.where(self.weight == 0, self.unseen, np.nan),
        )

    def with_variance(self, more: FloatArray) -> Estimates:
        """With another, independent error, (R,) variances, added to both."""
        return self._replace(
            variance=self.variance + more,
            alone_variance=self.alone_variance + more,
        )

    def interval(self, confidence: float) -> FloatArray:
        """(2, R) the ends of Student's intervals."""
        reach = t_reach(confidence, self.freedom) * np.sqrt(self.variance)
        return np.stack([self.value - reach, self.value + reach])


def joined(parts: Sequence[Estimates]) -> Estimates:
    """Several estimates as one, in their order."""
    if not parts:
        return Estimates(*[np.zeros(0)] * len(Estimates._fields))
    return Estimates(*map(np.concatenate, zip(*parts, strict=True)))


@dataclass(frozen=True)
class Drawn:
    """What is known of R means over M inputs from n draws of known probability.

    A draw is what was chosen at once: a whole input, a summary, or a fact.

    Attributes:
        human: (R, n) what each draw adds to its input's human score; of a whole input
            the score itself.
        judge: (R, n) what it adds to the judge's score.
        share: (n,) its share of the input's weight: 1 of a whole input.
        probability: (n,) probabilities of being drawn, below 1.
        mean: (R,) the judge's mean over all that could be drawn.
        total: The mean share of all that could be drawn: 1 where that is everything.
        inputs: M.
        known: What is known of every mean beyond these draws.
        width: How far apart the ends of the scale are; 0: not known.
        confidence: At which draws that are all alike leave something open.
    """

    human: FloatArray
    judge: FloatArray
    share: FloatArray
    probability: FloatArray
    mean: FloatArray
    total: float
    inputs: int
    known: float = 0.0
    width: float = 0.0
    confidence: float = 0.95

    def unseen(self, count: int) -> float:
        """The variance of a mean that `count` values tell, all alike.

        The error is that of a share of which they show none: at most `unseen_share` of
        all are otherwise, by a whole scale.
        """
        reach = self.width * unseen_share(self.confidence, count)
        freedom = np.array([max(count - 1.0, 1.0)])
        return float((reach / t_reach(self.confidence, freedom))[0] ** 2)


def estimate(drawn: Drawn) -> Estimates:
    r"""Means for the inputs at hand.

    .. math:: \hat\theta = \lambda \bar f + \frac1M \sum_{k}
              \frac{h_k - \lambda f_k - a (s_k - \bar s)}{\pi_k}

    over the draws k with probability π, human h, judge f and share s (Angelopoulos et
    al. 2023, PPI++; Zrnic and Candès 2024; Chaganty et al. 2018, control variates).
    The term with a, the ratio of sums weighted by 1/π, vanishes for whole inputs; for
    others it keeps unequal probabilities from adding noise (Hájek 1971). λ minimises
    the variance, for each draw from the others (cross-fitting), so that few labels do
    not make it look better than it is. Where the judge leaves more than `GAIN` of the
    variance, the labels alone are taken. The variance is Hájek's for draws of unequal
    probability and fixed number, ``n / (n - 1) Σ (1 - π) (c - B)²`` with c the terms of
    the sum and B their mean weighted by 1 - π; with equal ones that of a simple random
    sample of a finite population. Systematic draws spread more evenly than that, which
    makes it cautious. Terms that are all alike, such as errors of a judge that made
    none, have no variance, but the error of what they do not show (`Drawn.unseen`).

    Returns:
        R means; `for_target` makes their errors those of new inputs, if need be.
    """
    means, n = drawn.human.shape
    none = np.zeros(means)
    if not n:
        # Labels leave nothing open: inputs are all that differs.
        known = np.full(means, drawn.known)
        freedom = np.full(means, max(drawn.inputs - 1.0, 1.0))
        alike = np.full(means, np.nan)
        return Estimates(known, none, known, none, none, none, freedom, none, alike)

    # Relative to draws of equal chance, so that those are taken as they are.
    expansion = n / drawn.inputs / drawn.probability
    excess = expansion * drawn.share - drawn.total
    human = _by_ratio(expansion * drawn.human, excess, drawn.total)
    judge = _by_ratio(expansion * drawn.judge, excess, drawn.total)

    # What a draw leaves open, relative to the least certain one.
    # A sample of a finite population: the more of it is labelled, the less is open.
    finite = 1 - drawn.probability.min()
    left_open = (1 - drawn.probability) / finite if finite else np.ones(n)
    slopes = _slopes(human, judge, left_open)
    corrected = human - slopes * (judge - drawn.mean[:, None])

    variances = []
    alike_terms = []
    for terms in (corrected, human):
        spread = _variance(terms, left_open)
        size = np.abs(terms.mean(axis=1)) + drawn.width
        alike = np.sqrt(spread) <= EQUAL_WITHIN * size
        alike_terms.append(alike)
        variances.append(np.where(alike, drawn.unseen(n), spread / n * finite))

    with_judge = Estimates(
        value=corrected.mean(axis=1) + drawn.known,
        variance=variances[0],
        alone=human.mean(axis=1) + drawn.known,
        alone_variance=variances[1],
        weight=slopes.mean(axis=1),
        labels=np.full(means, float(n)),
        freedom=np.full(means, max(n - 1.0, 1.0)),
        saved=none,
        unseen=np.where(alike_terms[0] | alike_terms[1], drawn.unseen(n), np.nan),
    )
    helps = with_judge.variance < GAIN * with_judge.alone_variance
    return with_judge.where(helps, with_judge.from_labels_alone())


def _by_ratio(values: FloatArray, excess: FloatArray, total: float) -> FloatArray:
    """Expanded values whose mean is the ratio estimate, and their residuals its."""
    ratio = values.mean(axis=1) / (excess.mean() + total)
    # In the memory order of the values: sums of the same numbers are the same bits.
    beyond = np.empty_like(values)
    np.multiply(ratio[:, None], excess, out=beyond)
    return values - beyond


def _slopes(human: FloatArray, judge: FloatArray, weights: FloatArray) -> FloatArray:
    """(R, n) slopes of people's values on the judge's, each from the other draws."""
    total = weights.sum()
    x = judge - _weighted_mean(judge, weights)
    y = human - _weighted_mean(human, weights)

    # Without draw j, the sums of squares lose its own and the mean's share of it.
    left = total / (total - weights) * weights
    spread = (weights * (x * x)).sum(axis=1)[:, None] - left * x * x
    shared = (weights * (x * y)).sum(axis=1)[:, None] - left * x * y

    # A judge whose scores do not vary has no slope: then the labels count alone.
    usable = spread > 1e-12 * (judge**2).sum(axis=1)[:, None]
    return np.where(usable, shared / np.where(usable, spread, 1.0), 0.0)


def _weighted_mean(values: FloatArray, weights: FloatArray) -> FloatArray:
    mean = (weights * values).sum(axis=1) / weights.sum()
    return np.asarray(mean[:, None])


def _variance(values: FloatArray, weights: FloatArray) -> FloatArray:
    residuals = values - _weighted_mean(values, weights)
    squares = weights * (residuals * residuals)
    return np.asarray(squares.sum(axis=1) / (values.shape[1] - 1))


def difference(one: Estimates, other: Estimates, inputs: int) -> Estimates:
    """Differences of means that were estimated from draws of their own.

    Variances add up, their degrees of freedom by Satterthwaite's formula; where labels
    leave nothing open, there are as many as of M `inputs`.
    """
    parts = one.variance**2 / one.freedom + other.variance**2 / other.freedom
    variance = one.variance + other.variance
    with undefined():
        satterthwaite = np.maximum(variance**2 / parts, 1.0)
    freedom = np.where(parts > 0, satterthwaite, max(inputs - 1.0, 1.0))
    # What is not seen is no estimate of a variance, which two make more certain.
    seen = np.isnan(one.unseen) & np.isnan(other.unseen)

    return Estimates(
        value=one.value - other.value,
        variance=variance,
        alone=one.alone - other.alone,
        alone_variance=one.alone_variance + other.alone_variance,
        weight=(one.weight + other.weight) / 2,
        labels=one.labels + other.labels,
        freedom=np.where(seen, freedom, np.minimum(one.freedom, other.freedom)),
        saved=np.zeros(one.value.size),
        unseen=np.full(one.value.size, np.nan),
    )


def for_target(
    estimates: Estimates, between: FloatArray, target: Target, unseen: float = 0.0
) -> Estimates:
    """The means with the errors of a target, and the labels saved.

    Args:
        estimates: What `estimate` gave, for the inputs at hand.
        between: (R,) Variance of the mean of M inputs as a sample of a population.
        target: As of `combine`.
        unseen: `Drawn.unseen` of M inputs.
    """
    # Inputs that are all alike tell of new ones as little as such draws do.
    certain = estimates.variance + between == 0
    between = np.where(certain, unseen, between)

    # How many labels alone give as short an interval for the population: 1 / n falls
    # with the variance less that of the inputs, which labels cannot lower.
    population = estimates.with_variance(between)
    helped = estimates.weight != 0
    with undefined():
        gain = population.alone_variance / population.variance
    ratio = np.where(helped, gain, 1.0)
    saved = estimates.labels * ratio - estimates.labels

    # New inputs differ among themselves as well, which no label here can tell.
    chosen = population if target == "population" else estimates
    return chosen._replace(saved=saved)


def outside(estimates: Estimates, limits: Ends) -> BoolArray:
    """(R,) whether an estimate leaves the scale: there the judge's scores contradict
    the labels, and are no help."""
    low, high = limits
    below = estimates.value < low - EQUAL_WITHIN
    return np.asarray(below | (estimates.value > high + EQUAL_WITHIN))


def within_scale(estimates: Estimates, limits: Ends) -> Estimates:
    """The estimates; of those that leave the scale those of the labels alone."""
    inside = ~outside(estimates, limits)
    return estimates.where(inside, estimates.from_labels_alone())


def prediction_powered(
    human: FloatArray,
    judge: FloatArray,
    *,
    target: Target = "inputs",
    width: float = 0.0,
    confidence: float = 0.95,
) -> Estimates:
    """Means of human scores known for some inputs, with a judge's scores known for all.

    Args:
        human: (R, M) human scores, of systems or of differences of two; NaN where
            nobody labelled, but for three inputs of each row.
        judge: (R, M) the judge's scores.
        target: As of `combine`.
        width, confidence: As of `Drawn`.

    Returns:
        R means; see `estimate`.

    Example:
        >>> judge = np.array([[0.1, 0.5, 0.9, 0.3, 0.7, 0.2]])
        >>> human = np.array([[0.2, 0.6, 1.0, 0.4, np.nan, np.nan]])
        >>> means = prediction_powered(human, judge)
        >>> [x.round(3).tolist() for x in (means.value, means.alone, means.weight)]
        [[0.55], [0.55], [1.0]]
    """
    total = judge.shape[1]
    gaps, pattern = np.unique(np.isnan(human), axis=0, return_inverse=True)
    parts = []

    # Rows with the same inputs labelled are estimated at once.
    for number, missing in enumerate(gaps):
        same = pattern == number
        n = int((~missing).sum())
        if n < 3:
            raise InputError(
                f"human scores of {counted(n, 'input')}",
                expected="at least three labelled inputs",
            )

        values = human[same][:, ~missing]
        drawn = Drawn(
            human=values,
            judge=judge[same][:, ~missing],
            share=np.ones(n),
            probability=np.full(n, n / total),
            mean=judge[same].mean(axis=1),
            total=1.0,
            inputs=total,
            width=width,
            confidence=confidence,
        )
        between = values.var(axis=1, ddof=1) / total
        parts.append(for_target(estimate(drawn), between, target))

    # Each back to its row.
    order = np.argsort(pattern, kind="stable")
    return joined(parts).take(np.argsort(order))
