"""Metrics and the human score over the same systems and inputs; what is left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from litepyramid.data.facts import Aligned, aligned
from litepyramid.data.scores import HUMAN, Scores
from litepyramid.errors import InputError
from litepyramid.identity import fingerprint
from litepyramid.meta.core.levels import Coefficient, Level
from litepyramid.tables import hidden
from litepyramid.text import counted
from litepyramid.types import Fields, FloatArray, Names, Signature

PEOPLE = (HUMAN,)
"""The raters of a table that does not say which they are."""


def check_number(what: str, value: Any) -> None:
    """Raises InputError unless the value is a number."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise InputError(f"{what} is {value!r}", expected="a number")


@dataclass(frozen=True)
class LeftOut:
    """What one side has not scored: systems, inputs, single cells; and columns of the
    sources that are no scores."""

    systems: Names = ()
    inputs: Names = ()
    cells: int = 0
    columns: Names = ()

    def __str__(self) -> str:
        systems = counted(len(self.systems), "system")
        inputs = counted(len(self.inputs), "input")
        return f"{systems}, {inputs} and {counted(self.cells, 'single cell')}"

    def __bool__(self) -> bool:
        return bool(self.systems or self.inputs or self.cells)

    @property
    def notes(self) -> list[str]:
        """One sentence on columns that were not read, if there are any."""
        if not self.columns:
            return []
        return [f"Columns that are not read: {', '.join(self.columns)}."]


@dataclass(frozen=True)
class Judged:
    """K metrics and the human score, the mean of `raters`, over the same N systems and
    M inputs.

    A cell that is missing in one of them is NaN in all. `test` has the first metric's
    scores on the whole test set, where there is one: of the same systems, on inputs of
    its own; `left_out_test` are the systems that only one of the two tables has.
    """

    metrics: Names
    human: str
    raters: Names
    systems: Names
    inputs: Names
    left_out: LeftOut
    values: FloatArray = hidden(repr=False)
    Z: FloatArray = hidden(repr=False)
    test: FloatArray | None = hidden(default=None, repr=False)
    left_out_test: Names = ()

    @property
    def scores(self) -> FloatArray:
        """The first metric's, on the whole test set where there is one."""
        return self.values[0] if self.test is None else self.test

    def entry(self) -> Fields:
        """What a result says of the first metric."""
        return {
            "metric": self.metrics[0],
            "human": self.human,
            "left_out": self.left_out,
            "systems": len(self.systems),
            "inputs": len(self.inputs),
        }

    def __str__(self) -> str:
        used = [
            counted(len(self.systems), "system"),
            counted(len(self.inputs), "judged input"),
        ]
        if self.test is not None:
            used.append(counted(self.test.shape[1], "test input"))
        text = ", ".join(used)
        if self.left_out:
            text += f"; left out: {self.left_out}"
        if self.left_out_test:
            text += f"; only in one of the tables: {', '.join(self.left_out_test)}"
        return text + "."


@dataclass(frozen=True)
class _OfSystems:
    """A table known by its systems alone: its inputs are its own."""

    scores: Scores

    @property
    def keys(self) -> tuple[Names, Names]:
        return self.scores.systems, ("every input",)

    def take(self, systems: Sequence[str], columns: Sequence[str]) -> _OfSystems:
        return _OfSystems(self.scores.take(systems, self.scores.inputs))


def align(
    scores: Scores, names: Sequence[str] | None = None, *, full: Scores | None = None
) -> Judged:
    """The systems and inputs scored by people and by all of some metrics; the metrics
    are those that the table is asked about, if none are named.

    With scores on the `full` test set, these count for the metrics: which inputs people
    judged plays no part there.
    """
    human, raters, people = human_score(scores)
    names = metric_names(scores) if names is None else tuple(names)
    both = _both_scored(scores.of_metrics(names), people)
    systems, inputs = aligned(people, both.other).only_one

    # All metrics are compared on the same cells: one that is missing once is missing
    # for all.
    missing = np.isnan(both.one.values).any(axis=0) | np.isnan(both.other.values[0])
    of_metrics, judged = [
        replace(side, values=np.where(missing, np.nan, side.values))
        for side in (both.one, both.other)
    ]

    test = None
    only: Names = ()
    if full is not None:
        on_test = full.of_metrics(names).scored()
        common = aligned(_OfSystems(judged), _OfSystems(on_test))
        # With its systems an input may lose all its scores.
        judged = common.one.scores.scored()
        of_metrics = of_metrics.take(*judged.keys)
        test = common.other.scores.values[0]
        only = tuple(sorted(common.only_one[0] + common.only_other[0]))

    return Judged(
        metrics=names,
        human=human,
        raters=raters,
        systems=judged.systems,
        inputs=judged.inputs,
        left_out=LeftOut(systems, inputs, int(missing.sum()), scores.left_out),
        values=of_metrics.values,
        Z=judged.values[0],
        test=test,
        left_out_test=only,
    )


def _both_scored(metrics: Scores, people: Scores) -> Aligned[Scores]:
    """Metrics and people over the systems and inputs that each of them scores."""
    try:
        while True:
            both = aligned(metrics.scored(), people.scored())
            if both.one.keys == metrics.keys:
                return both
            # Taking out a system may leave an input without scores.
            metrics = both.one
            people = both.other
    except InputError:
        raise InputError(
            f"no system and input that {', '.join(metrics.metrics)} and "
            f"{people.metrics[0]} all score",
            hint="Check that the files use the same names for systems and inputs.",
        ) from None


def align_each(scores: Scores, levels: Sequence[Level] = ()) -> list[Judged]:
    """Each metric aligned with the human score, with its scores on the whole test set.

    Some metric must have a correlation at one of the levels; without any, each at
    system level.
    """
    names = metric_names(scores)
    full = scores.full
    if full is not None and not scores.chosen:
        # The test set need not have every metric; those asked for by name it must have.
        names = tuple([name for name in names if name in full.metrics])
        if not names:
            raise InputError(
                "the two tables share no metric", hint="Check their names."
            )

    sides = [align(scores, [name], full=full) for name in names]
    if levels:
        check_correlatable(sides, levels)
    for side in () if levels else sides:
        # Verbs without levels are about systems' averages, and show every metric.
        check_correlatable([side], ["system"])
    return sides


def observations(X: FloatArray, Z: FloatArray, level: Level) -> int:
    """How many observations a level has: systems, the most of an input, or cells."""
    scored = ~(np.isnan(X) | np.isnan(Z))
    if level == "system":
        return int(scored.any(axis=1).sum())
    if level == "summary":
        return int(scored.sum(axis=0).max(initial=0))
    return int(scored.sum())


def pairs_of(
    scores: Scores, pairs: Sequence[tuple[Level, Coefficient]]
) -> list[tuple[Level, Coefficient]]:
    """The levels and coefficients that scores can have: those of systems alone have no
    other level than theirs, and no test over inputs, which ``spa`` is."""
    if not scores.of_systems:
        return [*pairs]
    chosen = [pair for pair in pairs if pair[0] == "system" and pair[1] != "spa"]
    if not chosen:
        scores.need_inputs(" and ".join([f"{by} at {at} level" for at, by in pairs]))
    return chosen


def check_correlatable(sides: Sequence[Judged], levels: Sequence[Level]) -> None:
    """Checks that some metric can have a correlation at one of the levels."""
    for side in sides:
        for level in levels:
            if observations(side.values[0], side.Z, level) >= 2:
                return

    names: list[str] = []
    for side in sides:
        names += map(repr, side.metrics)
    raise InputError(
        f"too few scores of {' or '.join(names)} and '{sides[0].human}' "
        f"at {' or '.join(levels)} level",
        expected="at least two systems, at summary level on one input",
        hint="Check that the files use the same names for systems.",
    )


def metric_names(scores: Scores) -> Names:
    """The metrics that the table is asked about; all but the raters if none are."""
    raters = scores.select(scores.human or PEOPLE)
    names = asked_about(scores, raters)
    if not names:
        raise InputError(
            "no metric is left to compare with " + ", ".join(raters),
            expected="at least one more metric in the scores",
        )
    return names


def asked_about(scores: Scores, raters: Names) -> Names:
    """The chosen metrics, or all but the raters."""
    return scores.chosen or tuple([n for n in scores.metrics if n not in raters])


def human_score(scores: Scores) -> tuple[str, Names, Scores]:
    """The human score: its name, the raters that it is the mean of, and its scores."""
    asked = scores.human or PEOPLE
    raters = tuple(sorted(scores.select(asked)))
    name = raters[0] if len(raters) == 1 else f"mean({', '.join(asked)})"
    values = average([scores[rater] for rater in raters])
    return name, raters, replace(scores, metrics=(name,), values=values[None])


def average(scores: Sequence[FloatArray]) -> FloatArray:
    """The mean of several raters' scores, cell by cell; NaN where one of them is NaN.

    Where `read_scores` names a mean, it is over those who rated; here it is over all of
    them. The sum of the same ratings in another order can differ in its last bit, and
    would break a tie: so means are rounded to 42 binary places below the largest.
    """
    mean: FloatArray = np.mean(scores, axis=0)
    largest = np.nanmax(np.abs(mean), initial=0.0)
    # A single rater's scores stay as they are, to the bit.
    if len(scores) == 1 or largest == 0:
        return mean
    # A power of two, so that only the last places of a number are rounded.
    unit = 2.0 ** (np.floor(np.log2(largest)) - 42)
    return np.asarray(np.round(mean / unit) * unit)


# What results say of their scores
# ------------------------------------------------------------------------------------


def scores_sha(
    scores: Scores, metrics: Sequence[str], raters: Sequence[str] = ()
) -> str:
    """A hash of the scores of some metrics and of people."""
    names = sorted({*metrics, *raters})
    sha = scores.of_metrics(names).sha
    return fingerprint([sorted(metrics), sorted(raters), sha])


def signature_of(
    scores: Scores,
    sides: Sequence[Judged],
    kinds: Sequence[tuple[Level, Coefficient]],
    **fields: object,
) -> Signature:
    """The signature of what is computed from aligned metrics of a table."""
    raters = sides[0].raters
    metrics: list[str] = []
    for side in sides:
        metrics += side.metrics
    on_test = None
    if scores.full is not None and sides[0].test is not None:
        on_test = scores_sha(scores.full, metrics)
    return Signature.of(
        human="+".join(raters),
        level="+".join(dict.fromkeys(level for level, _ in kinds)) or None,
        coefficient="+".join(dict.fromkeys(coefficient for _, coefficient in kinds))
        or None,
        **fields,
        scores_sha=scores_sha(scores, metrics, raters),
        full_sha=on_test,
        N=span([len(side.systems) for side in sides]),
        M=span([len(side.inputs) for side in sides]),
    )


def aligned_notes(
    sides: Sequence[Judged], signature: Signature, *more: str
) -> list[str]:
    """What each metric was computed from (once, where alike), more notes, and the
    signature."""
    alike = len({*map(str, sides)}) == 1
    used = []
    for side in sides:
        used.append(str(side) if alike else f"{side.metrics[0]}: {side}")
    columns = sides[0].left_out.notes
    return [*dict.fromkeys(used), *columns, *more, f"Signature: {signature}"]


def span(numbers: Sequence[int]) -> str:
    """``"16"``, or ``"14-16"`` where the numbers differ."""
    low = min(numbers)
    high = max(numbers)
    return str(low) if low == high else f"{low}-{high}"
