"""Means of human scores from labels of some inputs and a judge's scores of all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from litepyramid.errors import InputError
from litepyramid.stats import t_reach
from litepyramid.text import counted
from litepyramid.types import FloatArray, IntArray

Target = Literal["inputs", "population"]
Method = Literal["cross-fit", "ppi++", "glide"]

GAIN = 0.95
"""The judge is used where it leaves at most this part of the variance; else the labels alone."""


@dataclass(frozen=True, slots=True)
class Design:
    """How the labelled inputs were chosen, if not simply at random.

    Attributes:
        inputs: M ids.
        inclusion: (M,) probability with which an input was to be labelled, above 0.
        strata: (M,) the stratum of each input, within which the choice was random; None if every
            input was drawn on its own.
    """

    inputs: tuple[str, ...]
    inclusion: FloatArray
    strata: IntArray | None = None


@dataclass(frozen=True, slots=True)
class Powered:
    """Estimates of R means, one per row.

    Attributes:
        value: (R,) the combined estimate.
        low: (R,) lower end of its interval.
        high: (R,) upper end.
        error: (R,) its standard error.
        alone: (R,) the estimate from the labels alone.
        alone_low: (R,) lower end of its interval.
        alone_high: (R,) upper end.
        weight: (R,) λ, how much the judge counts; 0 where it does not help.
        freedom: Degrees of freedom of the t intervals; infinite for normal ones.
        saved: (R,) how many more labelled inputs the labels alone would need for as short an
            interval.
    """

    value: FloatArray
    low: FloatArray
    high: FloatArray
    error: FloatArray
    alone: FloatArray
    alone_low: FloatArray
    alone_high: FloatArray
    weight: FloatArray
    freedom: float
    saved: FloatArray


def prediction_powered(
    human: FloatArray,
    judge: FloatArray,
    labelled: IntArray,
    *,
    confidence: float = 0.95,
    target: Target = "inputs",
    method: Method = "cross-fit",
    design: Design | None = None,
) -> Powered:
    r"""Means of human scores known for some inputs, with a judge's scores known for all.

    .. math:: \hat\theta = \frac1W \sum_{j \in L} w_j
              \bigl(h_j - \lambda_{-j} (f_j - \bar f)\bigr), \quad W = \sum_{j \in L} w_j

    over the labelled inputs L, with weights w = 1 / inclusion probability and the judge's mean f̄
    over all M inputs: unbiased for any λ (Angelopoulos et al. 2023, PPI++; Chaganty et al. 2018,
    control variates), in the form for a finite population. λ is the regression coefficient of h on
    f that minimises the variance, within strata, for each input from the other labelled ones
    (cross-fitting by leaving one out), so that few labels do not make it look better than it is.
    Where the judge leaves more than `GAIN` of the variance, the labels alone are taken. Intervals
    are Student's t.

    Args:
        human: (R, n) human scores of the labelled inputs: of systems, or differences of two.
        judge: (R, M) the judge's scores of all inputs.
        labelled: (n,) which inputs are labelled, ascending.
        confidence: Confidence level of the intervals.
        target: ``inputs``: the mean that labels of all M inputs would give. ``population``: of all
            inputs that these M are a sample of.
        method: Others than ``cross-fit`` are for comparison: PPI++ as published, one λ from all
            labelled inputs, normal intervals, for the population, no strata; as the package
            ppi-python has it (``ppi++``: λ in [0, 1], variances over n) or glide-py (``glide``:
            any λ, variances over n − 1).
        design: How the labelled inputs were chosen; None: at random, all alike.

    Raises:
        InputError: Fewer than three inputs are labelled, a stratum has one labelled input of
            several, or an input was labelled whose probability is 0.

    Example:
        >>> judge = np.array([[0.1, 0.5, 0.9, 0.3, 0.7, 0.2]])
        >>> found = prediction_powered(judge[:, :4] + 0.1, judge, np.arange(4))
        >>> [x.round(3).tolist() for x in (found.value, found.alone, found.weight)]
        [[0.55], [0.55], [1.0]]
    """
    n, total = len(labelled), judge.shape[1]
    if n < 3:
        raise InputError(
            f"human scores of {counted(n, 'input')}", expected="at least three labelled inputs"
        )
    known = judge[:, labelled]
    if method != "cross-fit":
        rest = np.delete(judge, labelled, axis=1)
        return _as_published(human, known, rest, confidence, int(method == "glide"))
    part, share = _strata(labelled, total, design)
    weights = 1 / share
    whole = weights.sum()
    mean = np.average(judge, axis=1)[:, None]
    sizes = np.bincount(part, weights)[part].astype(np.float64)
    x, y = _centred(known, part, weights), _centred(human, part, weights)
    left = np.where(sizes > weights * (1 + 1e-12), sizes / np.maximum(sizes - weights, 1e-300), 0)
    xx, xy = (weights * x * x).sum(axis=1)[:, None], (weights * x * y).sum(axis=1)[:, None]
    spread = xx - left * weights * x * x
    usable = spread > 1e-12 * np.maximum(1.0, (weights * known**2).sum(axis=1)[:, None])
    slopes = np.where(usable, (xy - left * weights * x * y) / np.where(usable, spread, 1.0), 0.0)
    corrected = human - slopes * (known - mean)
    freedom = n - len(set(part.tolist()))
    error, error_alone = (
        _variance(values, part, weights, share) / whole**2 for values in (corrected, human)
    )
    helps = error < GAIN * error_alone
    value, alone = (np.average(values, axis=1, weights=weights) for values in (corrected, human))
    value, error = np.where(helps, value, alone), np.where(helps, error, error_alone)
    more = _unit_variance(human, part, weights) / total  # of a sample of M over the mean of M
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = n * np.where(helps, (error_alone + more) / (error + more), 1.0)
    if target == "population":
        error, error_alone = error + more, error_alone + more
    reach = t_reach(confidence, freedom) if freedom else np.nan
    half, half_alone = reach * np.sqrt(error), reach * np.sqrt(error_alone)
    return Powered(
        value=value,
        low=value - half,
        high=value + half,
        error=np.sqrt(error),
        alone=alone,
        alone_low=alone - half_alone,
        alone_high=alone + half_alone,
        weight=np.where(helps, np.average(slopes, axis=1, weights=weights), 0.0),
        freedom=freedom,
        saved=needed - n,
    )


def _centred(values: FloatArray, part: IntArray, weights: FloatArray) -> FloatArray:
    """Values less the weighted mean of their stratum."""
    sums = np.stack([np.bincount(part, row * weights) for row in values])
    return np.asarray(values - (sums / np.bincount(part, weights))[:, part])


def _variance(
    values: FloatArray, part: IntArray, weights: FloatArray, share: FloatArray
) -> FloatArray:
    """The variance of the weighted sum, strata drawn on their own, without replacement."""
    counts = np.bincount(part)[part]
    own = _centred(values, part, np.ones(len(part)))
    factor = np.where(counts > 1, counts / np.maximum(counts - 1, 1), 0.0) * (1 - share)
    return np.asarray((factor * (weights * own) ** 2).sum(axis=1))


def _unit_variance(human: FloatArray, part: IntArray, weights: FloatArray) -> FloatArray:
    """The variance of one input's score that labels alone are up against, within strata."""
    counts = np.bincount(part)[part]
    factor = np.where(counts > 1, counts / np.maximum(counts - 1, 1), 0.0) * weights
    return np.asarray((factor * _centred(human, part, weights) ** 2).sum(axis=1) / weights.sum())


def _strata(labelled: IntArray, total: int, design: Design | None) -> tuple[IntArray, FloatArray]:
    """The stratum of each labelled input, and the share of its stratum that is labelled."""
    n = len(labelled)
    if design is None:
        return np.zeros(n, dtype=np.int64), np.full(n, n / total)
    if design.strata is None:
        share = design.inclusion[labelled]
        if not (share > 0).all():
            name = design.inputs[int(labelled[np.argmin(share)])]
            raise InputError(
                f"input '{name}' is labelled, but its inclusion probability is 0",
                expected="labels of inputs that could have been drawn",
            )
        return np.zeros(n, dtype=np.int64), share
    have = np.bincount(design.strata)
    got = np.bincount(design.strata[labelled], minlength=len(have))
    for stratum in np.flatnonzero((got < np.minimum(2, have)) & (have > 0)):
        raise InputError(
            f"{counted(int(got[stratum]), 'labelled input')} of the {have[stratum]} in stratum "
            f"{stratum + 1}",
            expected="at least two in each",
            hint="Label those that the plan names, or plan with fewer strata.",
        )
    return design.strata[labelled], (got / np.maximum(have, 1))[design.strata[labelled]]


def _as_published(
    human: FloatArray, known: FloatArray, rest: FloatArray, confidence: float, ddof: int
) -> Powered:
    """PPI++ for a mean (Angelopoulos et al. 2023, §3 and §6): normal intervals."""
    n, others = human.shape[1], rest.shape[1]
    if not others:
        raise InputError("labels on every input", expected="some without, for the judge to score")
    x, y = known - known.mean(axis=1)[:, None], human - human.mean(axis=1)[:, None]
    spread = np.concatenate([known, rest], axis=1).var(axis=1, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = (x * y).sum(axis=1) / (n - ddof) / ((1 + n / others) * spread)
    weight = np.nan_to_num(weight) if ddof else np.clip(np.nan_to_num(weight), 0, 1)
    value = weight * rest.mean(axis=1) + (human - weight[:, None] * known).mean(axis=1)
    variance = weight**2 * rest.var(axis=1, ddof=ddof) / others
    variance += (human - weight[:, None] * known).var(axis=1, ddof=ddof) / n
    error, error_alone = np.sqrt(variance), np.sqrt(human.var(axis=1, ddof=ddof) / n)
    reach, alone = t_reach(confidence, np.inf), human.mean(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        saved = np.where(error < error_alone, n * (error_alone / error) ** 2 - n, 0.0)
    return Powered(
        value, value - reach * error, value + reach * error, error,
        alone, alone - reach * error_alone, alone + reach * error_alone,
        weight, np.inf, saved,
    )  # fmt: skip
