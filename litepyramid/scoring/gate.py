"""The gate for CI: what makes a run fail, and which flag would have."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor
from statistics import NormalDist

import numpy as np

from litepyramid.errors import InputError
from litepyramid.scoring.runs import names_of
from litepyramid.scoring.system_changes import SystemChange
from litepyramid.stats import EQUAL_WITHIN, check_whole
from litepyramid.text import counted, cut, written


@dataclass(frozen=True)
class Gate:
    """The conditions under which a run fails, and the significance level of the tests.

    Attributes:
        fail_if: ``worse``: a system is significantly so.
        fail_under: A system scores less.
        fail_if_lost: A system lost so many facts or more.
        margin: Being worse by more than this cannot be excluded.
    """

    fail_if: str | None
    fail_under: float | None
    fail_if_lost: int | None
    margin: float | None
    alpha: float

    def __post_init__(self) -> None:
        # Penalties take scores below zero, as far as a rubric has them.
        for name, least in (("fail_under", -np.inf), ("margin", 0)):
            value = getattr(self, name)
            # A share in per cent is the likeliest mistake: 40 for .40.
            is_number = isinstance(value, float | int) and least <= value <= 1
            if value is not None and not is_number:
                expected = "a number from 0 to 1" if least == 0 else "a number up to 1"
                raise InputError(f"{name} is {cut(value)}", expected=expected)
        if self.fail_if not in (None, "worse"):
            raise InputError(f"fail_if is '{cut(self.fail_if)}'", expected="worse")
        if self.fail_if_lost is not None:
            check_whole("fail_if_lost", self.fail_if_lost)

    @property
    def conditions(self) -> str:
        """The conditions as a signature says them; empty for none."""
        texts = ["worse"] if self.fail_if else []
        limits = {
            "under": self.fail_under,
            "lost": self.fail_if_lost,
            "margin": self.margin,
        }
        for name, limit in limits.items():
            if limit is not None:
                texts.append(f"{name} {limit:g}")
        return ", ".join(texts)

    def is_worse(self, change: SystemChange) -> bool:
        """Whether a system is significantly worse."""
        return change.p_holm < self.alpha and change.difference < 0

    def failures(self, change: SystemChange) -> list[str]:
        """A clause for each condition that a system fails."""
        failed = []
        if self.fail_if and self.is_worse(change):
            failed.append(
                f"is significantly worse: {change.measured} (--fail-if worse)"
            )

        # Not "below": a score of NaN fails too. Means are equal but for rounding.
        limit = self.fail_under
        if limit is not None and not change.score >= limit - EQUAL_WITHIN:
            told = f"(--fail-under {written(limit)})"
            failed.append(f"scores {written(change.score)} over all its inputs {told}")

        # What is not answered any more would make every other condition easier.
        if self.conditions and change.vanished:
            inputs = counted(len(change.vanished), "input")
            names = names_of(change.vanished)
            failed.append(f"has no score of {inputs} that the baseline scored: {names}")

        if self.fail_if_lost is not None and len(change.lost) >= self.fail_if_lost:
            lost = counted(len(change.lost), "fact")
            failed.append(
                f"lost {lost} (--fail-if-lost {self.fail_if_lost}): it fails for "
                "facts, whatever the test says"
            )

        # No worse by the margin is shown by the interval, not by a test without result.
        within = change.low > EQUAL_WITHIN - (self.margin or 0.0)
        if self.margin is not None and not within:
            failed.append(
                f"may be worse by more than {written(self.margin)}: {change.measured} "
                f"(--margin {written(self.margin)}); a run that is no worse passes "
                f"with probability {written(self._power(change), 2)}"
            )

        return failed

    def _power(self, change: SystemChange) -> float:
        """How likely a run of the same spread that is no worse passes the margin."""
        differences = np.array([entry.difference for entry in change.by_input])
        # Differences that are all the same leave no doubt, and nothing to divide by.
        error = float(differences.std()) / len(differences) ** 0.5 or 1e-12
        normal = NormalDist()
        # The interval's lower end lies so many standard errors below the difference.
        reach = normal.inv_cdf(1 - self.alpha / 2)
        return normal.cdf((self.margin or 0.0) / error - reach)

    def would_fail(self, changes: Sequence[SystemChange]) -> list[str]:
        """The flags that were not given, and would have failed these changes."""
        flags = []
        if self.fail_if is None and any(map(self.is_worse, changes)):
            flags.append("--fail-if worse")

        lost = max(len(change.lost) for change in changes)
        if lost:
            flags.append(f"--fail-if-lost {lost}")

        # Rounded down: the interval of the worst system reaches at least so far.
        possible = floor(-100 * min(change.low for change in changes)) / 100
        if possible > 0:
            flags.append(f"--margin {written(possible, 2)}")
        return flags
