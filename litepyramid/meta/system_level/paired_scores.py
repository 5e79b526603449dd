"""A metric and people over the same systems, each averaged over its own inputs (DDR22 §3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import floor, log10
from typing import Any

import numpy as np

from litepyramid.errors import InputError
from litepyramid.meta.alignment import LeftOut, align, select_metrics
from litepyramid.meta.core.levels import mean_tolerance
from litepyramid.meta.system_level.pairs import SystemPairs
from litepyramid.stats import system_means
from litepyramid.tables import record
from litepyramid.text import counted
from litepyramid.types import FloatArray, ScoreTable


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
    table: ScoreTable,
    human: str | Sequence[str],
    *,
    metrics: str | Sequence[str] | None = None,
    full: ScoreTable | None = None,
    scale: float = 1.0,
) -> list[Sides]:
    """One `Sides` a metric; each metric is taken over what it and people both scored.

    Args:
        table: The judged table.
        human: The human score; several names mean the mean of several raters.
        metrics: Names or patterns; None: all that both tables have, but `human`.
        full: A table of the metric on the whole test set. Its inputs need not line up with the
            judged ones; its systems are matched by name.
        scale: The metric's scores are multiplied by this.

    Raises:
        InputError: An unknown name, or the tables share no system.
    """
    names = (
        align(table, None, human).metrics
        if metrics is None
        else select_metrics(table, metrics)
    )  # fmt: skip
    if full is not None and metrics is None:
        names = tuple(name for name in names if name in full.metrics)
        if not names:
            raise InputError("the two tables share no metric", hint="Check their names.")
    result = []
    for name in names:
        aligned = align(table, name, human)
        sides = Sides(
            metric=name,
            human=aligned.human,
            systems=aligned.systems,
            judged=aligned.inputs,
            X=aligned.values[0] * scale,
            Z=aligned.Z,
            left_out=aligned.left_out,
        )
        if full is not None:
            sides = _with_test_set(sides, full.matrix(name).values * scale, full.systems,
                                   full.inputs)  # fmt: skip
        result.append(sides)
    return result


def _with_test_set(
    sides: Sides, values: FloatArray, systems: tuple[str, ...], inputs: tuple[str, ...]
) -> Sides:
    scored = ~np.isnan(values)
    rows = {name: i for i, name in enumerate(systems) if scored[i].any()}
    common = [i for i, name in enumerate(sides.systems) if name in rows]
    if not common:
        raise InputError(
            f"no system has scores of '{sides.metric}' in both tables",
            hint="Check that the files use the same names for systems.",
        )
    kept = tuple(sides.systems[i] for i in common)
    columns = np.flatnonzero(scored.any(axis=0))
    return Sides(
        metric=sides.metric,
        human=sides.human,
        systems=kept,
        judged=sides.judged,
        X=sides.X[common],
        Z=sides.Z[common],
        left_out=sides.left_out,
        X_test=values[[rows[name] for name in kept]][:, columns],
        test=tuple(inputs[i] for i in columns),
        left_out_test=tuple(sorted(set(sides.systems) ^ set(rows))),
    )


def decimals(largest: float) -> int:
    """Decimals that show a difference as fine as a thousandth of the largest.

    Example:
        >>> decimals(22.1), decimals(0.034)
        (2, 5)
    """
    return max(0, 3 - floor(log10(largest))) if largest > 0 else 3
