"""Pairs of systems, by how far apart a metric puts them: the ground of r_SYSΔ (DDR22 §4)."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf, nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from litepyramid.errors import InputError
from litepyramid.tables import record
from litepyramid.text import counted
from litepyramid.types import FloatArray


@dataclass(frozen=True, slots=True)
class PairCounts:
    """What people say of some pairs of systems, and τ-b over them.

    Attributes:
        lower: ℓ, the smallest difference of the metric that was allowed.
        upper: u, the largest.
        pairs: How many pairs differ by that much.
        agreed: P: metric and people put the two systems in the same order.
        disagreed: Q: in opposite orders.
        tied_metric: T: equal for the metric alone.
        tied_human: U: equal for people alone.
        tied_both: Equal for both; they count nowhere.
    """

    lower: float
    upper: float
    pairs: int
    agreed: int
    disagreed: int
    tied_metric: int
    tied_human: int
    tied_both: int

    @property
    def tau(self) -> float:
        """r_SYSΔ(ℓ, u) = (P − Q) / √((P + Q + T)(P + Q + U)) (DDR22 eq. 1); 0/0 is NaN."""
        decided = self.agreed + self.disagreed
        below = (decided + self.tied_metric) * (decided + self.tied_human)
        return (self.agreed - self.disagreed) / sqrt(below) if below else nan

    @property
    def agreement(self) -> float:
        """Share of the pairs that the metric orders in which people see the same order.

        Their ties do not count as agreement. NaN where the metric orders no pair.
        """
        ordered = self.agreed + self.disagreed + self.tied_human
        return self.agreed / ordered if ordered else nan

    def to_json(self) -> dict[str, Any]:
        """The numbers with τ and the share."""
        return {**record(self), "tau": self.tau, "agreement": self.agreement}


@dataclass(frozen=True)
class SystemPairs:
    """All N(N − 1)/2 pairs of systems, the closest for the metric first.

    Attributes:
        gaps: (P,) |Δx|, ascending; exactly 0 where the two are tied.
        signs: (P,) 1 where the metric's order is that of people, −1 where it is the opposite, 0
            where either is tied.
        human_ties: (P,) whether people's averages are tied.
        one: (P,) index of the first system of each pair.
        two: (P,) index of the second.
        slack: Differences that differ by no more are the same number, rounded.
    """

    gaps: FloatArray
    signs: NDArray[np.int8]
    human_ties: NDArray[np.bool_]
    one: NDArray[np.intp]
    two: NDArray[np.intp]
    slack: float

    @classmethod
    def of(
        cls, x: FloatArray, z: FloatArray, *, x_slack: float = 0.0, z_slack: float = 0.0
    ) -> SystemPairs:
        """The pairs of systems with the average scores `x` (metric) and `z` (people), both (N,).

        Example:
            >>> pairs = SystemPairs.of(np.array([1.0, 4.0, 2.0]), np.array([1.0, 2.0, 3.0]))
            >>> pairs.gaps.tolist(), pairs.signs.tolist()
            ([1.0, 2.0, 3.0], [1, -1, 1])
        """
        one, two = np.triu_indices(len(x), 1)
        dx, dz = x[one] - x[two], z[one] - z[two]
        dx[np.abs(dx) <= x_slack] = 0.0
        dz[np.abs(dz) <= z_slack] = 0.0
        order = np.argsort(np.abs(dx), kind="stable")
        signs = (np.sign(dx) * np.sign(dz)).astype(np.int8)
        return cls(
            np.abs(dx)[order], signs[order], (dz == 0)[order], one[order], two[order], x_slack
        )

    def __len__(self) -> int:
        return len(self.gaps)

    def within(self, lower: float = 0.0, upper: float = inf) -> slice:
        """The pairs with ℓ ≤ |Δx| ≤ u, both ends included."""
        if not 0 <= lower <= upper:
            raise InputError(
                f"differences from {lower} to {upper}", expected="0 ≤ lower end ≤ upper end"
            )
        start = np.searchsorted(self.gaps, lower - self.slack, side="left")
        stop = np.searchsorted(self.gaps, upper + self.slack, side="right")
        return slice(int(start), int(stop))

    def count(self, lower: float = 0.0, upper: float = inf) -> PairCounts:
        """What r_SYSΔ(ℓ, u) is made of.

        Example:
            >>> pairs = SystemPairs.of(np.array([1.0, 4.0, 2.0]), np.array([1.0, 2.0, 3.0]))
            >>> pairs.count(0, 2).tau, pairs.count(5, 6).tau
            (0.0, nan)
        """
        inside = self.within(lower, upper)
        gaps, signs, human = self.gaps[inside], self.signs[inside], self.human_ties[inside]
        metric = gaps == 0
        return PairCounts(
            lower=lower,
            upper=upper,
            pairs=len(gaps),
            agreed=int((signs > 0).sum()),
            disagreed=int((signs < 0).sum()),
            tied_metric=int((metric & ~human).sum()),
            tied_human=int((human & ~metric).sum()),
            tied_both=int((metric & human).sum()),
        )

    def ends(self, buckets: int, rule: str = "paper") -> list[int]:
        """How many of the closest pairs each share holds: 1/buckets of them, 2/buckets, … all.

        Args:
            buckets: Number of shares.
            rule: ``"paper"``: the share of all pairs, rounded up. ``"authors"``: every bucket but
                the last holds ⌈pairs / buckets⌉ pairs, as in the authors' code.
        """
        total = len(self)
        if buckets < 1:
            raise InputError(f"{counted(buckets, 'share')} of the pairs", expected="at least 1")
        if rule == "paper":
            return [ceil(total * i / buckets) for i in range(1, buckets + 1)]
        if rule == "authors":
            size = ceil(total / buckets)
            return [min(total, size * i) for i in range(1, buckets + 1)]
        raise InputError(f"unknown rule '{rule}' for shares", expected="paper or authors")
