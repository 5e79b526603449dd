"""From a table of scores to matrices over the same systems and inputs, with what is left out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from litepyramid.errors import InputError
from litepyramid.io.scores import read_scores
from litepyramid.meta.core.levels import LEVELS, Level, choose, several
from litepyramid.text import counted
from litepyramid.types import FloatArray, ScoreTable


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What one side has and another lacks.

    Attributes:
        systems: Systems with no score at all on some side.
        inputs: Inputs with no score at all on some side.
        cells: Cells among the systems and inputs kept that some side has not scored.
    """

    systems: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    cells: int = 0

    def __str__(self) -> str:
        return (
            f"{counted(len(self.systems), 'system')}, {counted(len(self.inputs), 'input')} and "
            f"{counted(self.cells, 'single cell')}"
        )

    def __bool__(self) -> bool:
        return bool(self.systems or self.inputs or self.cells)

    def counts(self) -> dict[str, int]:
        """The three numbers, for one row of a table."""
        return {
            "left_out_systems": len(self.systems),
            "left_out_inputs": len(self.inputs),
            "left_out_cells": self.cells,
        }


@dataclass(frozen=True, slots=True)
class Aligned:
    """K metrics and the human score, over the same N systems and M inputs.

    Attributes:
        metrics: K names.
        human: Name of the human score, for example ``"human"`` or ``"mean(a, b, c)"``.
        raters: The metrics that it is the mean of, or itself if it is one metric.
        systems: N names.
        inputs: M names.
        values: (K, N, M) float64. A cell missing in any metric or the human score is NaN in all.
        Z: (N, M) float64, the human score, with the same cells NaN.
        left_out: What was removed to get there.
    """

    metrics: tuple[str, ...]
    human: str
    raters: tuple[str, ...]
    systems: tuple[str, ...]
    inputs: tuple[str, ...]
    values: FloatArray = field(repr=False)
    Z: FloatArray = field(repr=False)
    left_out: LeftOut


def align(scores: Any, metrics: str | Sequence[str] | None, human: str | Sequence[str]) -> Aligned:
    """Chooses metrics, and keeps the systems and inputs scored by all of them and `human`.

    Args:
        scores: A `ScoreTable`, or what `litepyramid.io.scores.read_scores` takes.
        metrics: Names; ``*`` and ``?`` stand for any letters. None: all but `human`.
        human: The human score; of several names the mean cell by cell, "not scored" if any of them
            is.

    Raises:
        InputError: A name matches no metric of the table, or nothing is left.

    Example:
        >>> table = ScoreTable(("m", "human"), ("a", "b"), ("1", "2"),
        ...     np.array([[[1, 2], [np.nan, 3]], [[2, 1], [1, np.nan]]]))
        >>> align(table, None, "human").left_out
        LeftOut(systems=(), inputs=(), cells=2)
    """
    table = read_scores(scores)
    named, raters, Z = human_score(table, human)
    names = metric_names(table, metrics, human)
    values = np.stack([table.values[table.metrics.index(name)] for name in names])
    stack = np.concatenate([values, Z[None]])
    scored = ~np.isnan(stack)
    # Taking out a system may leave an input without scores, so: until nothing changes.
    rows, columns = np.ones(len(table.systems), bool), np.ones(len(table.inputs), bool)
    while True:
        part = scored[:, rows][:, :, columns]
        keep_rows, keep_columns = part.any(axis=2).all(axis=0), part.any(axis=1).all(axis=0)
        if keep_rows.all() and keep_columns.all():
            break
        rows[np.nonzero(rows)[0][~keep_rows]] = False
        columns[np.nonzero(columns)[0][~keep_columns]] = False
    if not rows.any() or not columns.any():
        raise InputError(
            f"no system and input that {', '.join(names)} and {', '.join(raters)} all score",
            hint="Check that the files use the same names for systems and inputs.",
        )
    part = scored[:, rows][:, :, columns].all(axis=0)
    kept = np.where(part, stack[:, rows][:, :, columns], np.nan)
    return Aligned(
        metrics=names,
        human=named,
        raters=raters,
        systems=tuple(s for s, keep in zip(table.systems, rows, strict=True) if keep),
        inputs=tuple(i for i, keep in zip(table.inputs, columns, strict=True) if keep),
        values=kept[:-1],
        Z=kept[-1],
        left_out=LeftOut(
            tuple(s for s, keep in zip(table.systems, rows, strict=True) if not keep),
            tuple(i for i, keep in zip(table.inputs, columns, strict=True) if not keep),
            int((~part).sum()),
        ),
    )


def check_correlatable(aligned: Sequence[Aligned], levels: Sequence[Level]) -> None:
    """Sees that there is a level at which some metric can have a correlation.

    System level takes two systems, summary level an input with two systems, global level two
    scores. Whether the scores are constant is another matter: that is seen and shown later.

    Raises:
        InputError: No level has what it takes, for none of the metrics; or an unknown level.

    Example:
        >>> one = ScoreTable(("m", "human"), ("a",), ("1", "2"), np.ones((2, 1, 2)))
        >>> check_correlatable([align(one, "m", "human")], ["global"])
        >>> check_correlatable([align(one, "m", "human")], ["system"])
        Traceback (most recent call last):
        ...
        litepyramid.errors.InputError: only 1 system has scores of 'm' and 'human'. Expected at...
    """
    for level in levels:
        choose("level", level, LEVELS)
    scores = 0
    for one in aligned:
        scored = ~np.isnan(one.Z)
        scores = max(scores, int(scored.sum()))
        if (
            ("system" in levels and len(one.systems) > 1)
            or ("summary" in levels and (scored.sum(axis=0) > 1).any())
            or ("global" in levels and scored.sum() > 1)
        ):
            return
    what = f"scores of {' or '.join(repr(n) for one in aligned for n in one.metrics)}"
    what += f" and '{aligned[0].human}'"
    if max(len(one.systems) for one in aligned) > 1:
        raise InputError(
            f"no input has two systems with {what}", expected="at least one, for the summary level"
        )
    raise InputError(
        f"only 1 system has {what}",
        expected="at least two to correlate",
        hint="Only the global level works with one system." if scores > 1 else None,
    )


def select_metrics(table: ScoreTable, names: str | Sequence[str]) -> tuple[str, ...]:
    """The metrics of the table that the names, or the patterns among them, mean; each once.

    The name of a list of ratings means all its raters: ``gold`` is ``gold_0``, ``gold_1`` ….
    """
    chosen: dict[str, None] = {}
    for name in several(names):
        if name in table.metrics:
            chosen[name] = None
            continue
        raters = re.compile(re.escape(name) + r"_\d+")
        found = [m for m in table.metrics if fnmatchcase(m, name) or raters.fullmatch(m)]
        if not found:
            raise InputError(
                f"no metric '{name}' in the scores",
                expected=f"one of {', '.join(table.metrics)}",
            )
        chosen.update(dict.fromkeys(found))
    if not chosen:
        raise InputError("no metric is named", expected=f"one of {', '.join(table.metrics)}")
    return tuple(chosen)


def metric_names(
    table: ScoreTable, metrics: str | Sequence[str] | None, human: str | Sequence[str]
) -> tuple[str, ...]:
    """The metrics that are asked for; None means all but those of `human`.

    Raises:
        InputError: A name fits no metric, or none is left.
    """
    raters = select_metrics(table, human)
    if metrics is not None:
        return select_metrics(table, metrics)
    names = tuple(name for name in table.metrics if name not in raters)
    if not names:
        raise InputError(
            "no metric is left to compare with " + ", ".join(raters),
            expected="at least one more metric in the scores",
        )
    return names


def human_score(
    table: ScoreTable, human: str | Sequence[str]
) -> tuple[str, tuple[str, ...], FloatArray]:
    """The human score: its name, the raters that it is the mean of, (N, M) scores.

    Example:
        >>> table = ScoreTable(("ann", "ben"), ("s",), ("1",), np.array([[[1.0]], [[2.0]]]))
        >>> human_score(table, "*")
        ('mean(*)', ('ann', 'ben'), array([[1.5]]))
    """
    raters = select_metrics(table, human)
    asked = ", ".join(several(human))
    values = average([table.values[table.metrics.index(name)] for name in raters])
    return raters[0] if len(raters) == 1 else f"mean({asked})", raters, values


def average(matrices: Sequence[FloatArray]) -> FloatArray:
    """The mean of several raters' scores, cell by cell; NaN where one of them is NaN.

    The sum of the same ratings in another order can differ in its last bit, and would break a tie.
    So means are rounded to 42 binary places below the largest: ties of decimal or whole ratings
    stay ties.

    Example:
        >>> a, b, c = np.array([[0.1, 0.3]]), np.array([[0.2, 0.2]]), np.array([[0.3, 0.1]])
        >>> sums = a + b + c
        >>> bool(sums[0, 0] == sums[0, 1]), bool(np.ptp(average([a, b, c])) == 0)
        (False, True)
    """
    if len(matrices) == 1:
        return matrices[0]
    mean = np.mean(np.stack(matrices), axis=0)
    largest = np.nanmax(np.abs(mean), initial=0.0)
    if largest == 0 or np.isnan(largest):
        return np.asarray(mean)
    unit = 2.0 ** (np.floor(np.log2(largest)) - 42)
    return np.asarray(np.round(mean / unit) * unit)
