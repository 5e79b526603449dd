"""From a table of scores to matrices over the same systems and inputs, with what is
left out.

`score_table` puts systems, inputs and metrics in the order of their names before
anything random or tied is computed: the order of rows in a file changes no number and
no signature.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, Unpack

import numpy as np

from litepyramid.errors import InputError
from litepyramid.identity import array_sha, fingerprint
from litepyramid.io.scores import read_scores
from litepyramid.meta.core.levels import Coefficient, Level
from litepyramid.stats import by_id
from litepyramid.tables import hidden
from litepyramid.text import counted
from litepyramid.types import (
    Fields,
    FloatArray,
    FullSources,
    HumanLike,
    Names,
    ScoresLike,
    ScoreTable,
    Signature,
)

PEOPLE = ("human",)
"""The human score of a table that does not say which it is."""


def score_table(
    scores: ScoresLike,
    human: HumanLike | None = None,
    *,
    as_listed: bool = False,
    **sources: Unpack[FullSources],
) -> ScoreTable:
    """The table that is read, its metrics, systems and inputs sorted by name; systems
    stay in the order of the file where they are taken `as_listed`."""
    table = read_scores(scores, human, **sources)
    if np.isinf(table.values).any():
        raise InputError(
            "a score is infinite", expected="finite numbers, NaN = not scored"
        )
    metrics = by_id(table.metrics)
    inputs = by_id(table.inputs)
    systems = range(len(table.systems)) if as_listed else by_id(table.systems)
    return replace(
        table,
        metrics=tuple(table.metrics[i] for i in metrics),
        systems=tuple(table.systems[i] for i in systems),
        inputs=tuple(table.inputs[i] for i in inputs),
        values=table.values[np.ix_(metrics, systems, inputs)],
        full=None if table.full is None else score_table(table.full),
    )


def scores_sha(
    table: ScoreTable, metrics: Sequence[str], raters: Sequence[str] = ()
) -> str:
    """A hash of the scores of some metrics and of people, of a table in the order of
    its names."""
    names = sorted({*metrics, *raters})
    values = table.values[[table.metrics.index(name) for name in names]]
    # By the rule zb21 systems stay as listed; the hash does not depend on that.
    values = values[:, by_id(table.systems)]
    sha = array_sha(values)
    scores = fingerprint([names, sorted(table.systems), table.inputs, sha])
    return fingerprint([sorted(metrics), sorted(raters), scores])


def check_number(what: str, value: Any) -> None:
    """Raises InputError unless the value is a number."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise InputError(f"{what} is {value!r}", expected="a number")


@dataclass(frozen=True)
class LeftOut:
    """What one side has not scored: systems, inputs, single cells; and what of the
    file is no score."""

    systems: Names = ()
    inputs: Names = ()
    cells: int = 0
    columns: Names = ()

    def __str__(self) -> str:
        systems = counted(len(self.systems), "system")
        inputs = counted(len(self.inputs), "input")
        columns = "".join(f", a {column}" for column in self.columns)
        return f"{systems}, {inputs} and {counted(self.cells, 'single cell')}{columns}"

    def __bool__(self) -> bool:
        return self != LeftOut()


@dataclass(frozen=True)
class Aligned:
    """K metrics and the human score, the mean of `raters`, over the same N systems and
    M inputs.

    A cell of `values`, (K, N, M), or `Z`, (N, M), that is missing in one of them is NaN
    in all.
    `test` is the first metric, (N, M_test), in a `full` table, where there is one;
    `left_out_test` are the systems that only one of the two tables has.
    """

    metrics: Names
    human: str
    raters: Names
    systems: Names
    inputs: Names
    left_out: LeftOut
    table: ScoreTable = hidden(repr=False)
    values: FloatArray = hidden(repr=False)
    Z: FloatArray = hidden(repr=False)
    full: ScoreTable | None = hidden(default=None, repr=False)
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


def signature_of(
    sides: Sequence[Aligned],
    kinds: Sequence[tuple[Level, Coefficient]],
    **fields: object,
) -> Signature:
    """The signature of what is computed from aligned metrics."""
    first = sides[0]
    metrics: list[str] = []
    for side in sides:
        metrics += side.metrics
    return Signature.of(
        human="+".join(first.raters),
        level="+".join(dict.fromkeys(level for level, _ in kinds)) or None,
        coefficient="+".join(dict.fromkeys(coefficient for _, coefficient in kinds))
        or None,
        **fields,
        scores_sha=scores_sha(first.table, metrics, first.raters),
        full_sha=first.full and scores_sha(first.full, metrics),
        N=span([len(side.systems) for side in sides]),
        M=span([len(side.inputs) for side in sides]),
    )


def aligned_notes(
    sides: Sequence[Aligned], signature: Signature, *more: str
) -> list[str]:
    """What each metric was computed from (once, where alike), more notes, and the
    signature."""
    alike = len({*map(str, sides)}) == 1
    used = []
    for side in sides:
        used.append(str(side) if alike else f"{side.metrics[0]}: {side}")
    return [*dict.fromkeys(used), *more, f"Signature: {signature}"]


def span(numbers: Sequence[int]) -> str:
    """``"16"``, or ``"14-16"`` where the numbers differ."""
    low = min(numbers)
    high = max(numbers)
    return str(low) if low == high else f"{low}-{high}"


def align(table: ScoreTable, names: Sequence[str] | None = None) -> Aligned:
    """Keeps the systems and inputs scored by people and by all of some metrics.

    The metrics are those that the table is asked about, if none are named.
    """
    human, raters, Z = human_score(table)
    names = metric_names(table) if names is None else tuple(names)
    stack = np.stack([*(table.matrix(name).values for name in names), Z])
    scored = ~np.isnan(stack)

    # Taking out a system may leave an input without scores, so: until nothing changes.
    rows = np.ones(len(table.systems), bool)
    columns = np.ones(len(table.inputs), bool)
    before = 0

    while before != (before := rows.sum() + columns.sum()):
        among = scored & rows[:, None] & columns
        rows[:] = among.any(axis=2).all(axis=0)
        columns[:] = among.any(axis=1).all(axis=0)

    if not rows.any() or not columns.any():
        raise InputError(
            f"no system and input that {', '.join(names)} and {', '.join(raters)} "
            "all score",
            hint="Check that the files use the same names for systems and inputs.",
        )

    stack = stack[:, rows][:, :, columns]
    # All metrics are compared on the same cells: one that is missing once is missing
    # for all.
    missing = np.isnan(stack).any(axis=0)
    *values, Z = np.where(missing, np.nan, stack)
    left_out = LeftOut(
        tuple(compress(table.systems, ~rows)),
        tuple(compress(table.inputs, ~columns)),
        int(missing.sum()),
        table.left_out,
    )
    return Aligned(
        metrics=names,
        human=human,
        raters=raters,
        systems=tuple(compress(table.systems, rows)),
        inputs=tuple(compress(table.inputs, columns)),
        left_out=left_out,
        table=table,
        values=np.stack(values),
        Z=Z,
    )


def align_each(table: ScoreTable, levels: Sequence[Level] = ()) -> list[Aligned]:
    """Each metric aligned with the human score, with its scores on the whole test set.

    Some metric must have a correlation at one of the levels; without any, each at
    system level.
    """
    names = metric_names(table)
    if table.full is not None and not table.chosen:
        # The test set need not have every metric; those asked for by name it must have.
        names = tuple(name for name in names if name in table.full.metrics)
        if not names:
            raise InputError(
                "the two tables share no metric", hint="Check their names."
            )

    sides = [align(table, [name]) for name in names]
    if table.full is not None:
        sides = [_with_test_set(side, table.full) for side in sides]

    if levels:
        check_correlatable(sides, levels)
    else:
        for side in sides:
            # Verbs without levels are about systems' averages, and show every metric.
            check_correlatable([side], ["system"])

    return sides


def _with_test_set(side: Aligned, full: ScoreTable) -> Aligned:
    # Which systems and inputs people judged plays no part here: all scores count.
    test = full.matrix(side.metrics[0])
    scored = ~np.isnan(test.values)
    rows = {name: i for i, name in enumerate(test.systems) if scored[i].any()}
    # A system without a score on the test set has no average there.
    common = [i for i, name in enumerate(side.systems) if name in rows]
    systems = tuple(side.systems[i] for i in common)
    places = [rows[name] for name in systems]
    # With its systems an input may lose all its scores.
    judged = np.flatnonzero(~np.isnan(side.Z[common]).all(axis=0))
    return replace(
        side,
        systems=systems,
        inputs=tuple(side.inputs[i] for i in judged),
        values=side.values[:, common][:, :, judged],
        Z=side.Z[common][:, judged],
        full=full,
        test=test.values[places][:, scored.any(axis=0)],
        left_out_test=tuple(sorted(set(side.systems) ^ set(rows))),
    )


def observations(X: FloatArray, Z: FloatArray, level: Level) -> int:
    """How many observations a level has: systems, the most of an input, or cells."""
    scored = ~(np.isnan(X) | np.isnan(Z))
    if level == "system":
        return int(scored.any(axis=1).sum())
    if level == "summary":
        return int(scored.sum(axis=0).max(initial=0))
    return int(scored.sum())


def check_correlatable(sides: Sequence[Aligned], levels: Sequence[Level]) -> None:
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


def metric_names(table: ScoreTable) -> Names:
    """The metrics that the table is asked about; all but the raters if none are."""
    raters = table.select(table.human or PEOPLE)
    names = _asked_about(table, raters)
    if not names:
        raise InputError(
            "no metric is left to compare with " + ", ".join(raters),
            expected="at least one more metric in the scores",
        )
    return names


def _asked_about(table: ScoreTable, raters: Names) -> Names:
    return table.chosen or tuple(n for n in table.metrics if n not in raters)


def human_score(table: ScoreTable) -> tuple[str, Names, FloatArray]:
    """The human score: its name, the raters that it is the mean of, (N, M) scores."""
    asked = table.human or PEOPLE
    raters = tuple(sorted(table.select(asked)))
    values = average([table.matrix(name).values for name in raters])
    name = raters[0] if len(raters) == 1 else f"mean({', '.join(asked)})"
    return name, raters, values


def unaligned(
    table: ScoreTable,
) -> tuple[dict[str, FloatArray], dict[str, FloatArray], Names]:
    """The human score and the metrics by name, each with all that it has scored; and
    the raters.

    There are neither people nor raters where the table does not say who they are.
    """
    people = {}
    raters: Names = ()
    if table.human:
        human, raters, Z = human_score(table)
        people = {human: Z}

    names = _asked_about(table, raters)
    return people, {name: table.matrix(name).values for name in names}, raters


def average(matrices: Sequence[FloatArray]) -> FloatArray:
    """The mean of several raters' scores, cell by cell; NaN where one of them is NaN.

    Where `read_scores` names a mean, it is over those who rated; here it is over all of
    them. The sum of the same ratings in another order can differ in its last bit, and
    would break a tie: so means are rounded to 42 binary places below the largest.
    """
    mean: FloatArray = np.mean(matrices, axis=0)
    largest = np.nanmax(np.abs(mean), initial=0.0)
    # A single rater's scores stay as they are, to the bit.
    if len(matrices) == 1 or largest == 0:
        return mean
    # A power of two, so that only the last places of a number are rounded.
    unit = 2.0 ** (np.floor(np.log2(largest)) - 42)
    return np.asarray(np.round(mean / unit) * unit)
