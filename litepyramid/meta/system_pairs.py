"""All pairs of systems, the closest for the metric first: in what order people put them
(DDR22 §4)."""

from dataclasses import dataclass
from math import ceil, floor, inf, log10, nan, sqrt
from typing import Literal, Self

import numpy as np

from litepyramid.errors import InputError, choose
from litepyramid.meta.core.levels import mean_tolerance
from litepyramid.stats import system_means
from litepyramid.types import BoolArray, FloatArray, IntArray

ShareRule = Literal["paper", "authors"]
SHARES = 10  # of the pairs, in the curve of `delta`


@dataclass(frozen=True)
class PairCounts:
    """What people say of the pairs of systems that differ by `lower` to `upper` in the
    metric.

    `agreed` is P, pairs that metric and people put in the same order, `disagreed` Q;
    `tied_metric` T, tied by the metric alone, `tied_human` U, by people alone;
    `tied_both` count nowhere.
    `tau` is r_SYSΔ(ℓ, u) = (P − Q) / √((P + Q + T)(P + Q + U)) (DDR22 eq. 1),
    `agreement` P / (P + Q + U), of the pairs that the metric orders; 0/0 is NaN.
    """

    lower: float
    upper: float
    pairs: int
    agreed: int
    disagreed: int
    tied_metric: int
    tied_human: int
    tied_both: int
    tau: float
    agreement: float


@dataclass(frozen=True)
class SystemPairs:
    """All P = N(N − 1)/2 pairs of systems, the closest for the metric first, (P,) each.

    `gaps` are |Δx|, exactly 0 for a tie; `signs` 1 where people have the metric's
    order, −1 the opposite one, 0 where either ties; `one` and `two` the systems.
    Differences that differ by no more than `slack` are the same number, rounded.
    """

    gaps: FloatArray
    signs: FloatArray
    human_ties: BoolArray
    one: IntArray
    two: IntArray
    slack: float

    @classmethod
    def of(cls, X: FloatArray, Z: FloatArray) -> Self:
        """The pairs by the averages of (N, any number) scores of the metric and of
        people."""
        one, two = np.triu_indices(len(X), 1)
        # X may be over other inputs than Z: averages are all that the two share.
        dx = _differences(X, one, two)
        dz = _differences(Z, one, two)

        # Stable, so that pairs with equal gaps keep the order of the systems' names.
        order = np.argsort(np.abs(dx), kind="stable")
        dx = dx[order]
        dz = dz[order]
        return cls(
            gaps=np.abs(dx),
            signs=np.sign(dx) * np.sign(dz),
            human_ties=dz == 0,
            one=one[order],
            two=two[order],
            slack=mean_tolerance(X),
        )

    def __len__(self) -> int:
        return len(self.gaps)

    def within(self, lower: float, upper: float) -> slice:
        """The pairs with ℓ ≤ |Δx| ≤ u, both ends included."""
        if not 0 <= lower <= upper:
            raise InputError(
                f"differences from {lower} to {upper}",
                expected="0 ≤ lower end ≤ upper end",
            )
        # A bound that a difference reaches but for rounding is reached: the interval is
        # closed.
        start = np.searchsorted(self.gaps, lower - self.slack, side="left")
        stop = np.searchsorted(self.gaps, upper + self.slack, side="right")
        return slice(int(start), int(stop))

    def count(self, lower: float = 0.0, upper: float = inf) -> PairCounts:
        """What r_SYSΔ(ℓ, u) is made of."""
        inside = self.within(lower, upper)
        signs = self.signs[inside]
        human_ties = self.human_ties[inside]
        metric_ties = self.gaps[inside] == 0

        p = int((signs > 0).sum())
        q = int((signs < 0).sum())
        t = int((metric_ties & ~human_ties).sum())
        u = int((human_ties & ~metric_ties).sum())

        # Pairs that both sides tie say nothing of agreement, and count nowhere (eq. 1).
        ordered = p + q + u
        below = (p + q + t) * ordered
        return PairCounts(
            lower=lower,
            upper=upper,
            pairs=len(signs),
            agreed=p,
            disagreed=q,
            tied_metric=t,
            tied_human=u,
            tied_both=int((metric_ties & human_ties).sum()),
            tau=(p - q) / sqrt(below) if below else nan,
            agreement=p / ordered if ordered else nan,
        )

    def ends(self, rule: ShareRule = "paper") -> list[int]:
        """How many of the closest pairs each tenth holds: ⌈pairs · i / 10⌉, or i ⌈pairs
        / 10⌉."""
        choose("rule for shares", rule, ShareRule)
        total = len(self)
        tenth = ceil(total / SHARES)

        ends = []
        for i in range(1, SHARES + 1):
            end = tenth * i if rule == "authors" else ceil(total * i / SHARES)
            # The authors round the size of a tenth up, so their last ones may go beyond
            # all pairs.
            ends.append(min(total, end))
        return ends


def _differences(scores: FloatArray, one: IntArray, two: IntArray) -> FloatArray:
    """The differences of systems' averages; exactly 0 where they are only rounding."""
    means = system_means(scores)
    differences = means[one] - means[two]
    differences[np.abs(differences) <= mean_tolerance(scores)] = 0.0
    return differences


def decimals(largest: float) -> int:
    """Decimals that show a difference as fine as a thousandth of the largest, at most
    4."""
    if largest <= 0:
        return 3
    return min(4, max(0, 3 - floor(log10(largest))))
