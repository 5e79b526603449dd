"""Several judges as one: the mean or median of their presences, and how they differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from litepyramid.judges.base import EstimateOnly, Items, Judge, JudgedBatch, Questions
from litepyramid.judges.parallel import judge_pairs, single
from litepyramid.types import FloatArray, Names

Join = Literal["mean", "median"]


@dataclass(frozen=True)
class PanelJudge:
    """Judges that are all asked; each fact's presence is the mean of theirs, or median.

    Attributes:
        names: What each is called.
        judges: The judges.
        join: How their presences become one.
        repeats: Whether they are one language model, asked several times.
    """

    names: Names
    judges: Sequence[Judge]
    join: Join = "mean"
    repeats: bool = False

    @property
    def uses_questions(self) -> bool:
        """Whether any of them does."""
        return any(getattr(single(j), "uses_questions", False) for j in self.judges)

    def judge(self, items: Items, questions: Questions = None) -> JudgedBatch:
        """Asks every judge about every item; a fact that one did not judge has no
        presence."""
        batches = []
        estimates = []
        for judge in self.judges:
            try:
                batches.append(judge_pairs(judge, items, questions))
            except EstimateOnly as unsent:
                estimates.append(unsent.result)

        if estimates:
            raise EstimateOnly(sum(estimates[1:], estimates[0]))

        presence = []
        opinions = []
        for rows in zip(*(batch.presence for batch in batches), strict=True):
            stacked = np.stack(rows)
            opinions.append(stacked)
            presence.append(joined(stacked, self.join))

        signature: dict[str, str] = {}
        counts: dict[str, int] = {}
        for number, batch in enumerate(batches, start=1):
            mark = "" if number == 1 else f"_{number}"
            signature |= {key + mark: text for key, text in batch.signature.items()}
            # All were asked about the same pairs: they are not counted twice.
            for key, count in batch.counts.items():
                counts[key] = max(count, counts.get(key, 0))

        signature["join"] = self.join
        if self.repeats:
            signature["repeats"] = str(len(batches))
        return JudgedBatch(tuple(presence), signature, counts, opinions=tuple(opinions))


def joined(opinions: FloatArray, join: str) -> FloatArray:
    """The presence by several judges, of (J, …) presences by each.

    The mean of NaN and a number is NaN: one judge less would be another panel.
    """
    middle = np.mean if join == "mean" else np.median
    return np.asarray(middle(opinions, axis=0))


def independent_judges(values: Any) -> float:
    r"""How many independent judges J are worth, from what they say or how they err.

    .. math:: J_\text{eff} = \frac{J}{1 + (J - 1) \bar\rho}

    with the mean correlation ρ̄ of every two (Kish's design effect). Of (J, K) values
    of K pairs; NaN where a judge always says the same.

    Example:
        >>> independent_judges([[0.1, 0.9, 0.4], [0.1, 0.9, 0.4]])
        1.0
    """
    rows = np.asarray(values, dtype=np.float64)
    rows = rows[:, ~np.isnan(rows).any(axis=0)]
    count = len(rows)
    if rows.shape[1] < 2 or (np.ptp(rows, axis=1) == 0).any():
        return float("nan")
    correlations = np.corrcoef(rows)
    mean = (correlations.sum() - count) / (count * (count - 1))
    # Twelve digits: judges that agree in all are worth 1, not 0.9999999999999998.
    return round(float(count / (1 + (count - 1) * mean)), 12)


def panel_notes(
    panel: PanelJudge, opinions: FloatArray, scores: FloatArray
) -> Sequence[str]:
    """What (J, N, U) presences and (J, N) scores of systems say of the panel."""
    flat = opinions.reshape(len(opinions), -1)
    known = flat[:, ~np.isnan(flat).any(axis=0)]
    if not known.size:
        return []

    apart = float(np.ptp(known, axis=0).mean())
    present = known >= 0.5
    flip = 100 * float((present.any(axis=0) & ~present.all(axis=0)).mean())
    if panel.repeats:
        spread = float(scores.std(axis=0, ddof=1).mean())
        return [
            f"The judge was asked {len(flat)} times: its presences are {apart:.3f} "
            "apart on "
            f"average, {flip:.1f} % of facts flip between present and not, and a "
            "system's "
            f"score varies by {spread:.3f} (standard deviation). Intervals include it."
        ]

    worth = independent_judges(known)
    return [
        f"{len(flat)} judges, by the {panel.join}: {apart:.3f} apart on average; on "
        f"{flip:.1f} % of facts they say otherwise whether it is present. By the "
        f"correlation of their presences they are worth {worth:.1f} independent ones; "
        "with "
        "labels, 'judge audit' tells it by their errors."
    ]
