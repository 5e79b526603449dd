"""What a judge is good enough for, by people's labels: a rule for each use.

Each rule answers ``good``, ``bad``, or ``open`` where the labels are too few to tell.
None is ``good`` for want of evidence: an interval must lie where the judge would do.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from litepyramid.types import BoolArray, FloatArray

Answer = Literal["good", "bad", "open"]

MARGIN = 0.05
"""A system's score that is off by less is as good as right."""

CLOSE = 0.1
"""A summary's score that is off by more says little of this summary."""

_NO_BETTER = 0.55  # an AUC below is no better than chance, whatever its interval holds
_WRONG_OF = 10  # of so many pairs one may be told apart otherwise than by people


def agrees(low: float, high: float) -> Answer:
    """Whether a judge agrees with people more than chance, by the interval of its AUC.

    ``good`` from above .5 on, ``bad`` if it lies below .55.

    Example:
        >>> agrees(0.62, 0.70), agrees(0.47, 0.53), agrees(0.44, 0.71)
        ('good', 'bad', 'open')
    """
    if high < _NO_BETTER:
        return "bad"
    return "good" if low > 0.5 else "open"


@dataclass(frozen=True)
class PairsTold:
    """How a judge tells pairs of systems apart, and how people do.

    Attributes:
        pairs: How many there are.
        told: Pairs that people tell apart: of these the judge tells `same` apart
            likewise, and puts `reversed` in the other order.
        alone: Pairs that the judge alone tells apart: by a difference that people's
            interval rules out in `ruled_out`.
    """

    pairs: int
    told: int
    same: int
    reversed: int
    alone: int
    ruled_out: int

    @property
    def answer(self) -> Answer:
        """Whether the judge ranks as people do.

        ``bad`` if it reverses a pair that people tell apart, or if of the pairs that
        either tells apart more than a tenth are wrong: missed, or ruled out. ``open``
        if people tell no pair apart: there is no ranking to hold it against.
        """
        wrong = self.told - self.same + self.ruled_out
        if self.reversed or _WRONG_OF * wrong > self.told + self.alone:
            return "bad"
        return "good" if self.told else "open"

    def __str__(self) -> str:
        """A sentence on all of it."""
        of_people = (
            f"Of {self.pairs} pairs of systems people tell {self.told} apart: the "
            f"judge tells {self.same} of them apart likewise, and reverses "
            f"{self.reversed}."
        )
        if not self.alone:
            return of_people
        return (
            f"{of_people} It alone tells {self.alone} apart; people's intervals rule "
            f"its difference out in {self.ruled_out}."
        )


def pairs_told(
    people: BoolArray,
    judge: BoolArray,
    difference: FloatArray,
    low: FloatArray,
    high: FloatArray,
) -> PairsTold:
    """Compares how people and a judge tell P pairs apart, the better one by people
    first.

    Args:
        people: (P,) whether people's difference is significant; `judge` likewise.
        difference: (P,) the judge's difference.
        low: (P,) where people's interval of the difference begins; `high`, where it
            ends.

    Example:
        >>> import numpy as np
        >>> people = np.array([True, True, False])
        >>> judge = np.array([True, False, False])
        >>> ends = np.array([0.1, 0.1, -0.1]), np.array([0.5, 0.5, 0.2])
        >>> pairs_told(people, judge, np.array([0.3, -0.1, 0.1]), *ends)
        PairsTold(pairs=3, told=2, same=1, reversed=1, alone=0, ruled_out=0)
    """
    falls = difference < 0
    alone = judge & ~people
    outside = (difference < low) | (difference > high)
    return PairsTold(
        pairs=len(people),
        told=int(people.sum()),
        same=int((people & judge & ~falls).sum()),
        reversed=int((people & falls).sum()),
        alone=int(alone.sum()),
        ruled_out=int((alone & outside).sum()),
    )


def within(low: FloatArray, high: FloatArray, margin: float) -> Answer:
    """Whether all errors are bounded by a margin, by their intervals (equivalence
    tests).

    ``good`` if every interval lies within ± margin, ``bad`` if one lies outside; an
    interval that only holds 0 says nothing. NaN is an interval that is not known.

    Example:
        >>> import numpy as np
        >>> within(np.array([-0.02]), np.array([0.03]), 0.05)
        'good'
        >>> within(np.array([-0.2]), np.array([0.3]), 0.05)
        'open'
    """
    if ((low > margin) | (high < -margin)).any():
        return "bad"
    return "good" if ((low >= -margin) & (high <= margin)).all() else "open"


def verdict(agreement: Answer, uses: Mapping[str, Answer]) -> str:
    """The answers in a sentence; none of the uses counts without agreement.

    Example:
        >>> verdict("good", {"to rank": "good", "to score": "open"})
        'Good enough to rank; too little to say whether to score.'
    """
    if agreement == "bad":
        return "Not good enough: it agrees with people no more than chance does."
    if agreement == "open":
        return (
            "Too little to say: its agreement with people may be chance, by these "
            "labels."
        )

    by_answer: dict[Answer, list[str]] = {"good": [], "bad": [], "open": []}
    for use, answer in uses.items():
        by_answer[answer].append(use)

    parts = []
    if good := by_answer["good"]:
        parts.append(f"good enough {' and '.join(good)}")
    if bad := by_answer["bad"]:
        parts.append(f"not {'' if good else 'good enough '}{' nor '.join(bad)}")
    if unknown := by_answer["open"]:
        more = "" if parts else "it is good enough "
        parts.append(f"too little to say whether {more}{' or '.join(unknown)}")

    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."
