"""Evaluation of a judge on labelled pairs: accuracy, AUC, Brier, and a reliability table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from litepyramid.errors import InputError
from litepyramid.tables import Column, Result, Table, hidden
from litepyramid.text import counted
from litepyramid.types import FloatArray, Signature


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Pairs whose presence falls in one range.

    Attributes:
        low: Lower end of the range.
        high: Upper end; inside the range only in the last bin.
        pairs: How many pairs.
        predicted: Their mean presence; NaN if there are none.
        observed: The share that people labelled present; NaN if there are none.
    """

    low: float
    high: float
    pairs: int
    predicted: float
    observed: float


@dataclass(frozen=True, slots=True)
class CalibrationResult(Result):
    """A judge against human labels.

    Attributes:
        pairs: Labelled (summary, unit) pairs.
        missing: Further labelled pairs for which the judge has no judgement.
        base_rate: The share labelled present; with labels of .5, the mean label.
        accuracy: Share of pairs on the right side of .5 (a presence of .5 means "present");
            with labels of .5, of pairs whose presence is nearest to their label.
        majority: Accuracy of always giving the more frequent answer.
        auc: Area under the ROC curve, ties counted half; NaN if all labels are equal. With .5
            among the labels: over all pairs of pairs whose labels differ.
        brier: Mean of (presence − label)².
        brier_constant: Brier score of always giving the base rate.
        calibration_error: Mean over pairs of ``|predicted − observed|`` of their bin.
        bins: The reliability table.
        signature: The judge's signature.
        roc: Points (share of absent, share of present units with at least some presence) of the
            ROC curve, from (0, 0) to (1, 1); empty without labels of both 0 and 1.
    """

    pairs: int
    missing: int
    base_rate: float
    accuracy: float
    majority: float
    auc: float
    brier: float
    brier_constant: float
    calibration_error: float
    bins: tuple[ReliabilityBin, ...]
    signature: Signature
    roc: tuple[tuple[float, float], ...] = hidden(default=(), repr=False)

    def to_tables(self) -> Sequence[Table]:
        """The reliability table, with the other numbers below it."""
        return [
            Table.of(
                f"Presence against {counted(self.pairs, 'human label')}",
                (
                    Column("low", "from", digits=2),
                    Column("high", "to", digits=2),
                    "pairs",
                    Column("predicted", "judge says"),
                    Column("observed", "people say"),
                ),
                self.bins,
                (
                    *([f"{self.missing} more have no judgement."] if self.missing else []),
                    f"Accuracy {self.accuracy:.3f} (always the more frequent answer: "
                    f"{self.majority:.3f}), AUC {self.auc:.3f}.",
                    f"Brier {self.brier:.3f} (always the base rate {self.base_rate:.3f}: "
                    f"{self.brier_constant:.3f}), calibration error {self.calibration_error:.3f}.",
                    str(self.signature),
                ),
            )
        ]


def roc_auc(presence: ArrayLike, labels: ArrayLike) -> float:
    """The probability that a present unit gets more presence than an absent one; ties count half.

    With labels of .5 too: that of two units with different labels the higher gets more.

    Returns:
        Between 0 and 1; NaN if all labels are equal.

    Example:
        >>> roc_auc([0.9, 0.5, 0.5, 0.1], [1, 1, 0, 0])
        0.875
    """
    from scipy.stats import rankdata

    scores, truth = _pairs(presence, labels)
    won = pairs = 0.0
    grades = np.unique(truth)
    for low, high in combinations(grades, 2):
        ranks = rankdata(scores[(both := (truth == low) | (truth == high))])
        upper = truth[both] == high
        positive = int(upper.sum())
        won += float(ranks[upper].sum()) - positive * (positive + 1) / 2
        pairs += positive * (upper.size - positive)
    return won / pairs if pairs else float("nan")


def brier_score(presence: ArrayLike, labels: ArrayLike) -> float:
    """Mean squared distance of presence from the label (Brier 1950); 0 is perfect.

    Example:
        >>> brier_score([1.0, 0.5], [1, 0])
        0.125
    """
    scores, truth = _pairs(presence, labels)
    return float(np.mean((scores - truth) ** 2))


def calibrate(
    presence: ArrayLike,
    labels: ArrayLike,
    *,
    bins: int = 10,
    signature: Signature | None = None,
) -> CalibrationResult:
    """Compares a judge's presence with human labels.

    Args:
        presence: Values in [0, 1] of any shape; NaN where there is no judgement, which is left
            out and counted.
        labels: 0, .5 and 1, of the same shape; NaN where nobody labelled, which is left out.
        bins: Ranges of equal width in the reliability table.
        signature: What is known of the judge.

    Raises:
        InputError: The shapes differ, a presence is outside [0, 1], a label is not 0, .5
            and 1, or no pair is labelled.

    Example:
        >>> result = calibrate([0.9, 0.8, 0.2, 0.4], [1, 1, 0, 1], bins=2)
        >>> result.accuracy, result.auc, [b.pairs for b in result.bins]
        (0.75, 1.0, [2, 2])
    """
    if bins < 1:
        raise InputError(counted(bins, "bin"), expected="at least one")
    scores, truth = _pairs(presence, labels)
    base, steps = float(truth.mean()), 2 if (truth == 0.5).any() else 1
    which = np.minimum((scores * bins).astype(np.int64), bins - 1)
    table = []
    for index in range(bins):
        inside = which == index
        pairs = int(inside.sum())
        means = [float(x[inside].mean()) if pairs else float("nan") for x in (scores, truth)]
        table.append(ReliabilityBin(index / bins, (index + 1) / bins, pairs, *means))
    error = sum(b.pairs * abs(b.predicted - b.observed) for b in table if b.pairs) / truth.size
    return CalibrationResult(
        pairs=int(truth.size),
        missing=int((~np.isnan(np.asarray(labels, dtype=np.float64))).sum()) - truth.size,
        base_rate=base,
        accuracy=float((np.floor(scores * steps + 0.5) == truth * steps).mean()),
        majority=float(np.bincount((2 * truth).astype(np.int64)).max() / truth.size),
        auc=roc_auc(scores, truth),
        brier=brier_score(scores, truth),
        brier_constant=float(truth.var()) if steps == 2 else base * (1 - base),
        calibration_error=float(error),
        bins=tuple(table),
        signature=signature or Signature(()),
        roc=_roc(scores, truth),
    )


def _roc(scores: FloatArray, truth: FloatArray) -> tuple[tuple[float, float], ...]:
    """The corners of the ROC curve; one point where presences are equal."""
    known = truth != 0.5
    scores, truth = scores[known], truth[known]
    if not 0 < truth.sum() < truth.size:
        return ()
    order = np.argsort(-scores, kind="stable")
    last = np.append(np.flatnonzero(np.diff(scores[order])), truth.size - 1)
    found = np.cumsum(truth[order])[last]
    passed = np.stack([last + 1 - found, found])
    shares = np.insert(passed / passed[:, -1:], 0, 0.0, axis=1).T
    return tuple(map(tuple, shares.tolist()))


def _pairs(presence: ArrayLike, labels: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Both as flat arrays, pairs without a label or a judgement left out."""
    scores = np.asarray(presence, dtype=np.float64)
    truth = np.asarray(labels, dtype=np.float64)
    if scores.shape != truth.shape:
        raise InputError(
            f"presence of the shape {scores.shape} for labels of the shape {truth.shape}",
            expected="one label for each judged pair",
        )
    known = ~(np.isnan(truth) | np.isnan(scores))
    scores, truth = scores[known], truth[known]
    if truth.size == 0:
        raise InputError("no labelled pair", expected="at least one label")
    if not np.isin(truth, (0.0, 0.5, 1.0)).all():
        raise InputError("a label is not 0, 0.5 or 1", expected="presence labels")
    if not ((scores >= 0) & (scores <= 1)).all():
        raise InputError("a presence is outside 0 to 1", expected="what a judge gives")
    return scores, truth
