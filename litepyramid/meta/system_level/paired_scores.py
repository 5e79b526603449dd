"""A metric and people over the same systems, and all pairs of these (DDR22 §3, §4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import ceil, floor, inf, log10, nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from litepyramid.errors import InputError, choose
from litepyramid.io.scores import read_scores
from litepyramid.meta.alignment import LeftOut, align, metric_names
from litepyramid.meta.core.levels import mean_tolerance
from litepyramid.stats import system_means
from litepyramid.tables import record
from litepyramid.text import counted
from litepyramid.types import FloatArray, ScoreMatrix


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
        choose("rule for shares", rule, ("paper", "authors"))
        if buckets < 1:
            raise InputError(f"{counted(buckets, 'share')} of the pairs", expected="at least 1")
        total, size = len(self), ceil(len(self) / buckets)
        if rule == "authors":
            return [min(total, size * i) for i in range(1, buckets + 1)]
        return [ceil(total * i / buckets) for i in range(1, buckets + 1)]


@dataclass(frozen=True)
class Sides:
    """One metric and the human score, with the same systems in the same order.

    Attributes:
        metric: Name of the metric.
        human: Name of the human score.
        systems: N names.
        judged: M_jud names of the inputs that people judged.
        X: (N, M_jud) the metric on those; None where it did not score them.
        Z: (N, M_jud) people's scores.
        X_test: (N, M_test) the metric on the whole test set; None where there is no such table.
        test: M_test names.
        left_out: What was taken out of the judged table to get there.
        left_out_test: Systems that only one of the two tables has.
    """

    metric: str
    human: str
    systems: tuple[str, ...]
    judged: tuple[str, ...]
    X: FloatArray = field(repr=False)
    Z: FloatArray = field(repr=False)
    left_out: LeftOut
    X_test: FloatArray | None = field(default=None, repr=False)
    test: tuple[str, ...] = ()
    left_out_test: tuple[str, ...] = ()

    @property
    def scores_used(self) -> FloatArray:
        """The metric's scores on the whole test set where there are any, else on the judged."""
        return self.X if self.X_test is None else self.X_test

    def pairs(self) -> SystemPairs:
        """All pairs of systems by the metric's averages and people's."""
        return SystemPairs.of(
            system_means(self.scores_used),
            system_means(self.Z),
            x_slack=mean_tolerance(self.scores_used),
            z_slack=mean_tolerance(self.Z),
        )

    def describe(self) -> str:
        """Which systems and inputs were used, for people."""
        text = (
            f"{counted(len(self.systems), 'system')}, {counted(len(self.judged), 'judged input')}"
        )
        if self.X_test is not None:
            text += f", {counted(len(self.test), 'test input')}"
        if self.left_out:
            text += f"; left out: {self.left_out}"
        if self.left_out_test:
            text += f"; only in one of the tables: {', '.join(self.left_out_test)}"
        return text + "."

    def to_json(self) -> dict[str, Any]:
        """The names that were used, and what was left out."""
        return {
            "metric": self.metric,
            "systems": list(self.systems),
            "judged_inputs": len(self.judged),
            "test_inputs": len(self.test) if self.X_test is not None else None,
            "left_out": record(self.left_out),
            "left_out_test": list(self.left_out_test),
        }


def sides_of(
    scores: Any,
    human: str | Sequence[str],
    *,
    metrics: str | Sequence[str] | None = None,
    full: Any = None,
    scale: float = 1.0,
) -> tuple[list[Sides], dict[str, str]]:
    """One `Sides` a metric; each metric is taken over what it and people both scored.

    Args:
        scores: The judged table.
        human: The human score; several names mean the mean of several raters.
        metrics: Names or patterns; None: all that both tables have, but `human`.
        full: A table of the metric on the whole test set. Its inputs need not line up with the
            judged ones; its systems are matched by name.
        scale: The metric's scores are multiplied by this.

    Returns:
        The sides, and the tables' hashes as a signature names them.

    Raises:
        InputError: An unknown name, a scale that is not above 0, or fewer than two systems that
            have all the scores.
    """
    if not scale > 0:
        raise InputError(f"a scale of {scale}", expected="a number above 0")
    table, whole = read_scores(scores), None if full is None else read_scores(full)
    names = metric_names(table, metrics, human)
    if whole is not None and metrics is None:
        names = tuple(name for name in names if name in whole.metrics)
        if not names:
            raise InputError("the two tables share no metric", hint="Check their names.")
    found, where = [], "and of people" if whole is None else "in both tables"
    for name in names:
        one = align(table, name, human)
        X, kept = one.values[0] * scale, (one.systems, one.inputs)
        sides = Sides(name, one.human, *kept, X, one.Z, one.left_out)
        if whole is not None:
            sides = _with_test_set(sides, whole.matrix(name), scale)
        if len(sides.systems) < 2:
            raise InputError(
                f"{'only 1' if sides.systems else 'no'} system has scores of '{name}' {where}",
                expected="at least two",
                hint="Check that the files use the same names for systems." if whole else None,
            )
        found.append(sides)
    hashes = {"scores_sha": table.sha} | ({"full_sha": whole.sha} if whole else {})
    return found, hashes


def _with_test_set(sides: Sides, test: ScoreMatrix, scale: float) -> Sides:
    scored = ~np.isnan(test.values)
    rows = {name: i for i, name in enumerate(test.systems) if scored[i].any()}
    common = [i for i, name in enumerate(sides.systems) if name in rows]
    kept = tuple(sides.systems[i] for i in common)
    columns = np.flatnonzero(scored.any(axis=0))
    return replace(
        sides,
        systems=kept,
        X=sides.X[common],
        Z=sides.Z[common],
        X_test=test.values[[rows[name] for name in kept]][:, columns] * scale,
        test=tuple(test.inputs[i] for i in columns),
        left_out_test=tuple(sorted(set(sides.systems) ^ set(rows))),
    )


def decimals(largest: float) -> int:
    """Decimals that show a difference as fine as a thousandth of the largest.

    Example:
        >>> decimals(22.1), decimals(0.034)
        (2, 5)
    """
    return max(0, 3 - floor(log10(largest))) if largest > 0 else 3
