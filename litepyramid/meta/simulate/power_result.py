"""What a simulation of power is set to, and what it gives (DDR21 §5.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from litepyramid.errors import InputError
from litepyramid.meta.core.coefficients import Coefficient
from litepyramid.meta.core.levels import Level, several
from litepyramid.meta.intervals import method_name
from litepyramid.meta.significance import ComparisonMethod
from litepyramid.stats import check_samples
from litepyramid.tables import Column, Result, Table, row
from litepyramid.text import counted
from litepyramid.types import Signature

Kind = Literal["words", "noise"]
METHODS: tuple[ComparisonMethod, ...] = ("perm-both", "boot-both", "williams")


@dataclass(frozen=True, slots=True)
class PowerSettings:
    """How trials are made and tested.

    Attributes:
        method: One or several of the comparison methods of `litepyramid.meta.significance`.
        level: One or several of system, summary, global.
        coefficient: DDR21's Fig. 3 uses ``"pearson"``.
        trials: Worse metrics drawn for each amount (DDR21: 1,000).
        samples: Permutations or bootstrap samples a test.
        alpha: The level of the tests.
        seed: Each trial has its own generator made from this, the amount and its number.
    """

    method: ComparisonMethod | tuple[ComparisonMethod, ...] = METHODS
    level: Level | tuple[Level, ...] = ("system", "summary")
    coefficient: Coefficient = "pearson"
    trials: int = 1000
    samples: int = 1000
    alpha: float = 0.05
    seed: int = 12345

    def __post_init__(self) -> None:
        if self.trials < 1 or not 0 < self.alpha < 1:
            raise InputError(
                f"{counted(self.trials, 'trial')} at {self.alpha:g}",
                expected="at least one trial, and a level between 0 and 1",
            )
        if set(several(self.method)) != {"williams"}:
            check_samples(self.samples, alpha=self.alpha)


@dataclass(frozen=True, slots=True)
class Power:
    """How often one test rejected H0 against a metric worse by a known amount.

    Attributes:
        amount: Share of the words that the worse metric saw, or its noise.
        level: System or summary.
        method: The test.
        power: Share of the trials with p ≤ α.
        error: Its standard error.
        trials: Trials with a p-value.
        gap: Mean of r(X, Z) − r(Y, Z).
    """

    amount: float
    level: Level
    method: ComparisonMethod
    power: float
    error: float
    trials: int
    gap: float


@dataclass(frozen=True)
class PowerResult(Result):
    """Power of every test, level and amount.

    Attributes:
        rows: One entry each.
        metric: The metric that is made worse.
        human: The human score.
        kind: ``"words"`` or ``"noise"``.
        settings: How trials were generated and tested.
        systems: N, the number of systems.
        inputs: M, the number of inputs.
        left_out: What was left out.
        signature: Names everything that the numbers depend on.
    """

    rows: tuple[Power, ...]
    metric: str
    human: str
    kind: Kind
    settings: PowerSettings
    systems: int
    inputs: int
    left_out: str
    signature: Signature

    def to_tables(self) -> list[Table]:
        """A row an amount, level and test."""
        words = self.kind == "words"
        rows = [
            row(r, amount=100 * r.amount if words else r.amount, method=method_name(r.method))
            for r in self.rows
        ]
        columns = (
            Column("amount", "% of words", digits=0) if words else Column("amount", "noise", 2),
            *("level", Column("method", "test"), "power", Column("error", "± se")),
            *(Column("gap", "r less r", signed=True), "trials"),
        )
        what = (
            "the same metric on a random share of each summary's words"
            if words
            else "the same metric plus noise, in standard deviations of its scores"
        )
        left = f"; left out: {self.left_out}" if self.left_out else ""
        notes = (
            f"Share of trials in which {self.metric} is found better than {what}, "
            f"p ≤ {self.settings.alpha:g}, one-tailed.",
            f"{counted(self.systems, 'system')}, {counted(self.inputs, 'input')}{left}.",
            f"Signature: {self.signature}",
        )
        title = f"Power of tests ({self.settings.coefficient}, against {self.human})"
        return [Table.of(title, columns, rows, notes)]
