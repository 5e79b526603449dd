"""Judges of one's own: any function of a summary and its units, any object with `judge`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.errors import InputError
from litepyramid.judges.base import Items, Judge, JudgedBatch, presence_of
from litepyramid.judges.registry import make_judge
from litepyramid.progress import track


@dataclass(frozen=True, slots=True)
class FunctionJudge:
    """Any function as a judge.

    Attributes:
        function: Takes a summary and its input's units; gives one presence in [0, 1] per unit. It
            is not asked about empty summaries, which carry no unit.
    """

    function: Callable[[str, Sequence[str]], Any]

    @property
    def name(self) -> str:
        """The function's name."""
        return str(getattr(self.function, "__name__", type(self.function).__name__)).strip("<>")

    def judge(self, items: Items) -> JudgedBatch:
        """Asks the function about every summary.

        Raises:
            InputError: It does not give one number from 0 to 1 for each unit.
        """
        presence = tuple(
            presence_of(self.function(summary, units), len(units), self.name)
            if summary.strip()
            else np.zeros(len(units))
            for summary, units in track(items, "judging", "summaries")
        )
        return JudgedBatch(presence, {"judge": f"function {self.name}"})


def as_judge(judge: Any, **options: Any) -> Judge:
    """A judge by its name or folder, a function of (summary, units), or what has `judge` itself.

    Args:
        judge: As above.
        **options: As for `make_judge`, for a name.

    Raises:
        InputError: It is none of these, or options are given to one that is ready.

    Example:
        >>> as_judge(lambda summary, units: [unit in summary for unit in units]).judge(
        ...     [("It rained.", ("It rained.", "We left."))]).presence
        (array([1., 0.]),)
    """
    if isinstance(judge, str | Path):
        return make_judge(str(judge), **options)
    if options:
        raise InputError(f"a judge object takes no {', '.join(sorted(options))}")
    if hasattr(judge, "judge"):
        ready: Judge = judge
        return ready
    if callable(judge):
        return FunctionJudge(judge)
    raise InputError(
        f"a judge cannot be made from a {type(judge).__name__}",
        expected="a name, a folder, a function of (summary, units), or an object with 'judge'",
    )
