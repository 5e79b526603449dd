"""How many labels a system's score needs, with a judge and without."""

import numpy as np

from litepyramid.scoring.estimates import FEWEST, Drawn, estimate
from litepyramid.stats import EQUAL_WITHIN, t_reach
from litepyramid.types import FloatArray

_ROUNDS = 50  # until the number of labels and Student's t agree
_POOL = 10**6  # times as many inputs as are labelled: their mean is known


def labels_needed(
    variance: float, *, reach: float, most: float, confidence: float
) -> float:
    """How many labels give an interval of ± `reach`: at least `estimates.FEWEST`.

    .. math:: t_{n - 1} \\sqrt{v (1 / n - 1 / M)} = r

    Args:
        variance: v, what one label leaves open.
        reach: r, half of the interval.
        most: M, how many there are to be labelled; infinite for a population.
        confidence: Of Student's t.

    Example:
        >>> round(labels_needed(0.25, reach=0.05, most=np.inf, confidence=0.95))
        387
    """
    if variance < EQUAL_WITHIN:
        return float(FEWEST)

    labels = np.inf
    for _ in range(_ROUNDS):
        freedom = max(min(labels, 1e9) - 1, FEWEST - 1)
        open_share = (reach / t_reach(confidence, freedom)) ** 2 / variance
        labels = 1 / (open_share + 1 / most)
    return max(labels, float(FEWEST))


def label_variance(labels: int, most: float, width: float, confidence: float) -> float:
    """What one label leaves open, if so many leave an interval of this width; infinite
    where none is left to be labelled."""
    share = 1 / labels - 1 / most
    if share <= 0:
        return np.inf
    reach = t_reach(confidence, max(labels - 1, 1))
    return float((width / 2 / reach) ** 2 / share)


def pool_variances(human: FloatArray, judge: FloatArray) -> tuple[float, float]:
    """What one label leaves open of the mean of a large pool of inputs, all of which
    the judge scores: with the judge, and without.

    Of (n,) human scores and the judge's of the same inputs: the variance of h − λ f
    and of h, λ as in `estimates.estimate`.

    Example:
        >>> human = np.array([0, 1, 0, 1, 0, 1.0])
        >>> [round(value, 3) for value in pool_variances(human, human)]
        [0.0, 0.3]
    """
    count = len(human)
    drawn = Drawn(
        human=human[None],
        judge=judge[None],
        share=np.ones(count),
        probability=np.full(count, 1 / _POOL),
        mean=judge.mean(keepdims=True),
        total=1.0,
        inputs=count * _POOL,
    )
    found = estimate(drawn)
    return float(found.variance[0] * count), float(found.alone_variance[0] * count)
