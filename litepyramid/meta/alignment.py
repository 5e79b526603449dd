"""From a table of scores to matrices over the same systems and inputs, with what is
left out.

`score_table` puts systems, inputs and metrics in the order of their names before anything random or
tied is computed: the order of rows in a file changes no number and no signature.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from hashlib import sha256
from itertools import compress
from typing import Any

import numpy as np

from litepyramid.errors import InputError
from litepyramid.io.scores import arrays_table, read_scores
from litepyramid.meta.core.levels import Coefficient, Level, several
from litepyramid.tables import hidden
from litepyramid.text import counted
from litepyramid.types import FloatArray, ScoreTable, Signature, fingerprint

Numbers = Sequence[float] | Sequence[Sequence[float]] | FloatArray
HumanLike = str | Sequence[str] | Numbers
"""Names or patterns of raters; or their scores, beside an array of a metric's."""
Columns = Mapping[str, str] | str | None
"""Own column names, as `read_scores` takes them."""


def score_table(scores: Any, human: Any, columns: Any = None) -> tuple[ScoreTable, Any]:
    """The table that is read, its metrics, systems and inputs sorted by name; and whose
    is human.

    Two arrays of numbers, a metric's and people's, are such a table too.
    """
    listed = isinstance(human, list | tuple) and not any(
        isinstance(name, str) for name in human
    )
    if hasattr(human, "__array__") or (listed and human):
        table, human = arrays_table(scores, human), "human"
    else:
        table = read_scores(scores, columns=columns)
    if np.isinf(table.values).any():
        raise InputError(
            "a score is infinite", expected="finite numbers, NaN = not scored"
        )
    axes = table.metrics, table.systems, table.inputs
    orders = [sorted(range(len(names)), key=names.__getitem__) for names in axes]
    metrics, systems, inputs = (tuple(sorted(names)) for names in axes)
    return ScoreTable(metrics, systems, inputs, table.values[np.ix_(*orders)]), human


def scores_sha(
    table: ScoreTable, metrics: Sequence[str], raters: Sequence[str] = ()
) -> str:
    """A hash of the scores of some metrics and of people, of a table in the order of
    its names."""
    names = sorted({*metrics, *raters})
    values = table.values[[table.metrics.index(name) for name in names]]
    same = np.where(np.isnan(values), np.nan, values + 0.0)  # one NaN, one zero
    sha = sha256(np.ascontiguousarray(same, dtype="<f8").tobytes()).hexdigest()
    scores = fingerprint([names, table.systems, table.inputs, sha])
    return fingerprint([sorted(metrics), sorted(raters), scores])


def check_number(what: str, value: Any) -> None:
    """Raises InputError unless the value is a number."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise InputError(f"{what} is {value!r}", expected="a number")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What one side has not scored: systems, inputs, single cells."""

    systems: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    cells: int = 0

    def __str__(self) -> str:
        systems, inputs = (
            counted(len(self.systems), "system"),
            counted(len(self.inputs), "input"),
        )
        return f"{systems}, {inputs} and {counted(self.cells, 'single cell')}"

    def __bool__(self) -> bool:
        return bool(self.systems or self.inputs or self.cells)


@dataclass(frozen=True)
class Aligned:
    """K metrics and the human score, the mean of `raters`, over the same N systems and
    M inputs.

    A cell of `values`, (K, N, M), or `Z`, (N, M), that is missing in one of them is NaN
    in all.
    `test` is the first metric, (N, M_test), in a `full` table, where there is one; `left_out_test`
    are the systems that only one of the two tables has.
    """

    metrics: tuple[str, ...]
    human: str
    raters: tuple[str, ...]
    systems: tuple[str, ...]
    inputs: tuple[str, ...]
    left_out: LeftOut
    table: ScoreTable = hidden(repr=False)
    values: FloatArray = hidden(repr=False)
    Z: FloatArray = hidden(repr=False)
    full: ScoreTable | None = hidden(default=None, repr=False)
    test: FloatArray | None = hidden(default=None, repr=False)
    left_out_test: tuple[str, ...] = ()

    @property
    def scores(self) -> FloatArray:
        """The first metric's, on the whole test set where there is one."""
        return self.values[0] if self.test is None else self.test

    def entry(self) -> dict[str, Any]:
        """What a result says of the first metric."""
        names = {
            "metric": self.metrics[0],
            "human": self.human,
            "left_out": self.left_out,
        }
        return {**names, "systems": len(self.systems), "inputs": len(self.inputs)}

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
    first, metrics = sides[0], [name for side in sides for name in side.metrics]
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


def span(numbers: Sequence[int]) -> str:
    """``"16"``, or ``"14-16"`` where the numbers differ."""
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low}-{high}"


def align(
    table: ScoreTable, metrics: str | Sequence[str] | None, human: Any
) -> Aligned:
    """Chooses metrics, and keeps the systems and inputs scored by all of them and
    `human`."""
    named, raters, Z = human_score(table, human)
    names = metric_names(table, metrics, human)
    stack = np.stack([*(table.matrix(name).values for name in names), Z])
    scored = ~np.isnan(stack)
    # Taking out a system may leave an input without scores, so: until nothing changes.
    rows, columns = np.ones(len(table.systems), bool), np.ones(len(table.inputs), bool)
    left = 0
    while left != (left := rows.sum() + columns.sum()):
        among = scored & rows[:, None] & columns
        rows[:], columns[:] = (
            among.any(axis=2).all(axis=0),
            among.any(axis=1).all(axis=0),
        )
    if not rows.any() or not columns.any():
        raise InputError(
            f"no system and input that {', '.join(names)} and {', '.join(raters)} all score",
            hint="Check that the files use the same names for systems and inputs.",
        )
    stack = stack[:, rows][:, :, columns]
    missing = np.isnan(stack).any(axis=0)
    *values, Z = np.where(missing, np.nan, stack)
    (systems, no_systems), (inputs, no_inputs) = (
        [tuple(compress(every, flags)) for flags in (used, ~used)]
        for every, used in ((table.systems, rows), (table.inputs, columns))
    )
    left_out = LeftOut(no_systems, no_inputs, int(missing.sum()))
    return Aligned(
        names, named, raters, systems, inputs, left_out, table, np.stack(values), Z
    )


def align_each(
    scores: Any,
    human: Any,
    metrics: str | Sequence[str] | None,
    columns: Columns,
    levels: Sequence[Level] = (),
    full: Any = None,
) -> list[Aligned]:
    """Each metric aligned with the human score, with its scores in a `full` table if
    there is one.

    Some metric must have a correlation at one of the levels; without any, each at
    system level.
    """
    table, human = score_table(scores, human, columns)
    names = metric_names(table, metrics, human)
    whole = None if full is None else score_table(full, None, columns)[0]
    if whole is not None and metrics is None:
        names = tuple(name for name in names if name in whole.metrics)
        if not names:
            raise InputError(
                "the two tables share no metric", hint="Check their names."
            )
    sides = [align(table, name, human) for name in names]
    if whole is not None:
        sides = [_with_test_set(side, whole) for side in sides]
    for some in [sides] if levels else [[side] for side in sides]:
        check_correlatable(some, levels or ["system"])
    return sides


def _with_test_set(side: Aligned, full: ScoreTable) -> Aligned:
    test = full.matrix(side.metrics[0])
    scored = ~np.isnan(test.values)
    rows = {name: i for i, name in enumerate(test.systems) if scored[i].any()}
    common = [i for i, name in enumerate(side.systems) if name in rows]
    systems = tuple(side.systems[i] for i in common)
    return replace(
        side, systems=systems, values=side.values[:, common], Z=side.Z[common], full=full,
        test=test.values[[rows[name] for name in systems]][:, scored.any(axis=0)],
        left_out_test=tuple(sorted(set(side.systems) ^ set(rows))),
    )  # fmt: skip


def observations(X: FloatArray, Z: FloatArray, level: Level) -> int:
    """How many observations a level has: systems, the most of an input, or cells."""
    scored = ~(np.isnan(X) | np.isnan(Z))
    by_level = {
        "system": scored.any(axis=1).sum(),
        "summary": scored.sum(axis=0).max(initial=0),
    }
    return int(by_level.get(level, scored.sum()))


def check_correlatable(sides: Sequence[Aligned], levels: Sequence[Level]) -> None:
    """Checks that some metric can have a correlation at one of the levels."""
    if all(
        observations(side.values[0], side.Z, level) < 2
        for side in sides
        for level in levels
    ):
        names = " or ".join(repr(name) for side in sides for name in side.metrics)
        raise InputError(
            f"too few scores of {names} and '{sides[0].human}' at {' or '.join(levels)} level",
            expected="at least two systems, at summary level on one input",
            hint="Check that the files use the same names for systems.",
        )


def select_metrics(table: ScoreTable, names: str | Sequence[str]) -> tuple[str, ...]:
    """The metrics of the table that the names, or the patterns among them, mean; each
    once."""
    chosen: list[str] = []
    expected = f"one of {', '.join(table.metrics)}"
    for name in several(names, "the metric"):
        alike = [m for m in table.metrics if fnmatchcase(m, name)]
        matched = [name] if name in table.metrics else alike
        if not matched:
            raise InputError(f"no metric '{name}' in the scores", expected=expected)
        chosen += matched
    if not chosen:
        raise InputError("no metric is named", expected=expected)
    return tuple(dict.fromkeys(chosen))


def metric_names(
    table: ScoreTable, metrics: str | Sequence[str] | None, human: Any
) -> tuple[str, ...]:
    """The metrics that are asked for; None means all but those of `human`."""
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
    table: ScoreTable, human: Any
) -> tuple[str, tuple[str, ...], FloatArray]:
    """The human score: its name, the raters that it is the mean of, (N, M) scores."""
    raters = tuple(sorted(select_metrics(table, human)))
    asked = ", ".join(several(human))
    values = average([table.matrix(name).values for name in raters])
    return raters[0] if len(raters) == 1 else f"mean({asked})", raters, values


def unaligned(
    table: ScoreTable, metrics: str | Sequence[str] | None, human: Any
) -> tuple[dict[str, FloatArray], dict[str, FloatArray], tuple[str, ...]]:
    """The human score and the metrics by name, each with all that it has scored; and
    the raters.

    There are neither people nor raters if `human` is None.
    """
    named, raters, Z = ("", (), None) if human is None else human_score(table, human)
    chosen = table.metrics if metrics is None else select_metrics(table, metrics)
    names = [name for name in chosen if metrics is not None or name not in raters]
    people = {} if Z is None else {named: Z}
    return people, {name: table.matrix(name).values for name in names}, raters


def average(matrices: Sequence[FloatArray]) -> FloatArray:
    """The mean of several raters' scores, cell by cell; NaN where one of them is NaN.

    Where `read_scores` names a mean, it is over those who rated; here it is over all of
    them. The sum of the same ratings in another order can differ in its last bit, and
    would break a tie: so means are rounded to 42 binary places below the largest.
    """
    if len(matrices) == 1:
        return matrices[0]
    mean = np.mean(np.stack(matrices), axis=0)
    largest = np.nanmax(np.abs(mean), initial=0.0)
    if largest == 0 or np.isnan(largest):
        return np.asarray(mean)
    unit = 2.0 ** (np.floor(np.log2(largest)) - 42)
    return np.asarray(np.round(mean / unit) * unit)
