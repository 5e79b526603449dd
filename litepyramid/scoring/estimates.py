"""Prediction-powered means: what people said of a sample, and a judge of everything."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from litepyramid.errors import InputError
from litepyramid.stats import t_reach, undefined
from litepyramid.text import counted
from litepyramid.types import FloatArray

Target = Literal["inputs", "population"]

GAIN = 0.95
"""The judge is used where it leaves at most this part of the variance; else the labels
alone."""

FEWEST = 5
"""With fewer draws of a system no interval holds; with fewer than 15 it may be
short."""

ROW = np.dtype(
    [
        ("value", float),
        ("error", float),
        ("low", float),
        ("high", float),
        ("alone", float),
        ("alone_error", float),
        ("alone_low", float),
        ("alone_high", float),
        ("weight", float),
        ("saved", float),
        ("labels", np.int64),
        ("freedom", float),
    ]
)
"""What is estimated of a mean: `value` with its standard error and interval, the same
of the labels alone, and the last three fields of a `Combined`."""


Rows = np.recarray[Any, Any]


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
    """

    human: FloatArray
    judge: FloatArray
    share: FloatArray
    probability: FloatArray
    mean: FloatArray
    total: float
    inputs: int
    known: float = 0.0


def estimate(drawn: Drawn) -> Rows:
    r"""Means for the inputs at hand, without their intervals (see `with_intervals`).

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
    makes it cautious.

    Returns:
        R rows of `ROW`.
    """
    n = drawn.human.shape[1]
    if not n:
        rows = np.recarray(len(drawn.human), dtype=ROW)
        rows[:] = np.zeros(1, dtype=ROW)
        rows.value = rows.alone = drawn.known
        return rows

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

    error = _variance(corrected, left_open) / n * finite
    alone_error = _variance(human, left_open) / n * finite
    helps = error < GAIN * alone_error

    rows = np.recarray(len(human), dtype=ROW)
    rows.alone = human.mean(axis=1) + drawn.known
    rows.alone_error = alone_error
    rows.value = np.where(helps, corrected.mean(axis=1) + drawn.known, rows.alone)
    rows.error = np.where(helps, error, alone_error)
    rows.weight = np.where(helps, slopes.mean(axis=1), 0.0)
    rows.labels = n

    return rows


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


def with_intervals(
    rows: Rows,
    *,
    between: FloatArray,
    freedom: FloatArray | int,
    confidence: float,
    target: Target,
) -> Rows:
    """The rows with standard errors, Student's intervals, and the labels saved.

    Args:
        rows: What `estimate` gave: errors are variances.
        between: (R,) variance of the mean of M inputs as a sample of a population.
        freedom: Degrees of freedom, of all rows or each.
        confidence: As in `combine`, as is `target`.
    """
    error = rows.error
    alone_error = rows.alone_error

    # How many labels alone give as short an interval for the population: 1 / n falls
    # with the variance less that of the inputs, which labels cannot lower.
    helped = rows.weight != 0
    with undefined():
        ratio = np.where(helped, (alone_error + between) / (error + between), 1.0)
    rows.saved = rows.labels * ratio - rows.labels

    if target == "population":
        # New inputs differ among themselves as well, which no label here can tell.
        error, alone_error = error + between, alone_error + between
    rows.error, rows.alone_error = np.sqrt(error), np.sqrt(alone_error)

    rows.freedom = freedom
    set_ends(rows, confidence)
    return rows


def set_ends(rows: Rows, confidence: float) -> None:
    """Gives rows the intervals of their values, standard errors and freedom."""
    reach = t_reach(confidence, rows.freedom)
    rows.low = rows.value - reach * rows.error
    rows.high = rows.value + reach * rows.error
    rows.alone_low = rows.alone - reach * rows.alone_error
    rows.alone_high = rows.alone + reach * rows.alone_error


def prediction_powered(
    human: FloatArray,
    judge: FloatArray,
    *,
    confidence: float = 0.95,
    target: Target = "inputs",
) -> Rows:
    """Means of human scores known for some inputs, with a judge's scores known for all.

    Args:
        human: (R, M) human scores, of systems or of differences of two; NaN where
            nobody labelled, but for three inputs of each row.
        judge: (R, M) the judge's scores.
        confidence: As in `combine`, as is `target`.

    Returns:
        R records: the mean, `value`, its standard error, and the fields of a
        `Combined`; see `estimate`.

    Example:
        >>> judge = np.array([[0.1, 0.5, 0.9, 0.3, 0.7, 0.2]])
        >>> human = np.array([[0.2, 0.6, 1.0, 0.4, np.nan, np.nan]])
        >>> means = prediction_powered(human, judge)
        >>> [x.round(3).tolist() for x in (means.value, means.alone, means.weight)]
        [[0.55], [0.55], [1.0]]
    """
    total = judge.shape[1]
    rows = np.recarray(len(human), dtype=ROW)
    gaps, pattern = np.unique(np.isnan(human), axis=0, return_inverse=True)

    # Rows with the same inputs labelled are estimated at once.
    for number, missing in enumerate(gaps):
        same = np.flatnonzero(pattern == number)
        labelled = np.flatnonzero(~missing)
        n = len(labelled)
        if n < 3:
            raise InputError(
                f"human scores of {counted(n, 'input')}",
                expected="at least three labelled inputs",
            )

        values = human[same][:, labelled]
        drawn = Drawn(
            human=values,
            judge=judge[same][:, labelled],
            share=np.ones(n),
            probability=np.full(n, n / total),
            mean=judge[same].mean(axis=1),
            total=1.0,
            inputs=total,
        )
        rows[same] = with_intervals(
            estimate(drawn),
            between=values.var(axis=1, ddof=1) / total,
            freedom=n - 1,
            confidence=confidence,
            target=target,
        )

    return rows
