"""The scores in one source: a wide, long or nested table, or a saved result.

A column is what its name says, or what a user says: ids, annotators, in a long table
metric and score. Every other column of numbers is a metric, whatever it is called.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isinf, isnan, nan
from pathlib import Path
from typing import Any, NamedTuple

from litepyramid.checked import number
from litepyramid.data.door import Opened, fields_in, name_of, opened
from litepyramid.data.files import Row
from litepyramid.data.headers import (
    EVERY,
    line_of,
    meaning,
    named_columns,
    usual_meaning,
)
from litepyramid.data.notes import LIKE_NOTHING
from litepyramid.data.roles import cell_of, named, rows_of_columns
from litepyramid.data.scores import ALL_INPUTS
from litepyramid.errors import InputError, located
from litepyramid.text import cut
from litepyramid.types import Names

EXPECTED = "the columns system, input and one a metric, or system, input, metric, score"
IDS = ("system", "input", "annotator")
NAMES = (*IDS, "metric", "score", "human")
"""Columns that have a meaning."""
_MISSING = {"", *LIKE_NOTHING}
_INDEX = re.compile(r"column \d+|Unnamed: \d+")


class Cell(NamedTuple):
    """One score, with its place."""

    system: str
    input: str
    metric: str
    score: float
    path: str
    line: int
    rater: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """What it is a score of."""
        return self.metric, self.system, self.input


class Source(NamedTuple):
    """What one source holds.

    Attributes:
        columns, left_out: Its columns, and those of them that are not read.
        signature: How a result was made; empty of a table.
        raters: By metric those of its raters, of which it is the mean.
        of_systems: Whether it has a score for each system, and none for inputs.
    """

    cells: list[Cell]
    columns: Names
    left_out: Names
    signature: Mapping[str, str]
    raters: Mapping[str, Names]
    of_systems: bool


class _Form(NamedTuple):
    """What the columns of a table hold.

    Attributes:
        ours: The columns of our names that are there.
        metrics: The columns that hold one metric each, by its name.
        is_long: Whether every row names its metric.
        nested: The column of objects with scores by metric.
    """

    ours: Mapping[str, str]
    metrics: Mapping[str, str]
    is_long: bool
    nested: str | None


def score_source(source: Any, own_columns: Mapping[str, str]) -> Source:
    """The scores of a source; `own_columns` are its columns by our names, as far as it
    has them."""
    found = _table(opened(source, "scores"))
    columns = found.columns
    here = {name: one for name, one in own_columns.items() if holds(columns, one)}
    # A mean of several columns is taken later: each of them is a metric.
    if "+" in here.get("human", "") and here["human"] not in columns:
        del here["human"]
    found, ours = _one_system_a_row(found, here)

    form, left_out = _form(found, ours)
    cells = [*_cells(found, form)]
    of_systems = "input" not in form.ours
    if of_systems:
        _check_averages(cells, found, form)
    cells, raters = _by_rater(cells)
    signature = found.saved.signature if found.saved else {}
    return Source(cells, columns, left_out, signature, raters, of_systems)


def is_table(source: Any) -> bool:
    """Whether a source is a table whose rows name their system and input, rather than
    an array of scores."""
    found = opened(source, "scores")
    names = {meaning(column) for column in found.columns}
    return found.rows is not None and {"system", "input"} <= names


def holds(columns: Sequence[str], column: str) -> bool:
    """Whether a table has a column, one of ``a+b``, or objects with a value ``a.b``."""
    outer = column.split(".")[0]
    parts = {part.strip() for part in column.split("+")}
    return column == EVERY or outer in columns or not parts.isdisjoint(columns)


def _table(found: Opened) -> Opened:
    """A source as rows; InputError where it is no table."""
    keys = [str(key).strip().lower() for key in found.by_key or ()]
    if "system" in keys:
        return replace(found, rows=rows_of_columns(found.by_key or {}))
    if found.rows:
        return found
    raise InputError(
        f"{found.description} is no table of scores, or has no rows",
        path=found.path,
        expected=EXPECTED,
        hint=_convert_line(found),
    )


def _convert_line(found: Opened) -> str | None:
    """How a file of another tool becomes a table; None of what is no file."""
    if not isinstance(found.path, Path):
        return None
    line = f"litepyramid convert {found.path} --to scores -o scores.csv"
    return f"If another tool wrote it, make a table of it: {line}"


def _one_system_a_row(
    found: Opened, own_columns: Mapping[str, str]
) -> tuple[Opened, dict[str, str]]:
    """A table with a row for each system, and the column of each of our names."""
    ours, systems = named_columns(found, own_columns, NAMES)
    if not systems:
        return found, ours

    shared = [column for column in found.columns if column not in systems]
    rows = []
    for line, cells in found.rows or ():
        for system in systems:
            row = {name: cells.get(name) for name in shared}
            rows.append(Row(line, {**row, "system": system, "score": cells[system]}))
    found = replace(found, rows=rows)
    rest = {name: column for name, column in own_columns.items() if name != "system"}
    return found, named_columns(found, rest, NAMES)[0]


# Columns
# ------------------------------------------------------------------------------------


def _form(found: Opened, ours: Mapping[str, str]) -> tuple[_Form, Names]:
    """What the columns of a table hold, and those that are not read."""
    present = [*dict.fromkeys([*found.columns, *ours.values()])]
    if "system" not in ours:
        raise _no_column("system", found, ours)

    is_long = {"metric", "score"} <= ours.keys()
    objects = [row.cells.get("scores") for row in found.rows or ()]
    nested = "scores" if any(fields_in(one) is not None for one in objects) else None
    used = {ours.get(name) for name in (NAMES[:-1] if is_long else IDS)} | {nested}

    metrics = {}
    left_out = []
    our_names = {column: name for name, column in ours.items()}
    for column in present:
        if column in used:
            continue
        name = our_names.get(column, column)
        # A name that a user gave to another column is not read as itself.
        given_away = ours.get(column, column) != column
        may_hold_one = name == "human" or not (is_long or nested)
        if may_hold_one and not given_away and _holds_numbers(found, column):
            metrics[name] = column
        else:
            left_out.append(column)

    if not (metrics or is_long or nested):
        raise InputError(
            f"no column of scores among {', '.join(present)}",
            path=found.path,
            line=1,
            expected=EXPECTED,
            hint=_convert_line(found),
        )
    return _Form(ours, metrics, is_long, nested), tuple(left_out)


def _holds_numbers(found: Opened, column: str) -> bool:
    """Whether at least half of the cells that are filled are numbers, and not those of
    the rows, which a frame's index counts."""
    cells = [cell_of(row.cells, column) for row in found.rows or ()]
    filled = [cell for cell in cells if not _is_missing(cell)]
    numbers = [one for one in map(number, filled) if one is not None]
    if _INDEX.fullmatch(column) and sorted(numbers) == [*range(len(cells))]:
        return False
    # Ids beside those that are named are ids too, not scores.
    is_id = column.strip().lower() == "id" or usual_meaning(column) in IDS
    if is_id and all(one.is_integer() for one in numbers):
        return False
    # A column of texts may hold a number here and there.
    return bool(numbers) and 2 * len(numbers) >= len(filled)


def _no_column(name: str, found: Opened, ours: Mapping[str, str]) -> InputError:
    """The error about ids that are not there, with the line that would name them."""
    free = [column for column in found.columns if column not in ours.values()]
    names: dict[str, str] = {}
    for column in free:
        usual = usual_meaning(column)
        if usual in IDS and usual not in ours:
            names.setdefault(usual, column)
    if name == "system" and "system" not in names:
        texts = [column for column in free if not _holds_numbers(found, column)]
        # What a frame is indexed by may be its systems.
        indexes = [ours["input"]] if "input" in ours else []
        for column in (*texts, *indexes):
            names.setdefault("system", column)

    hint = _convert_line(found)
    if names:
        hint = f"{line_of(names)} A command without this option takes renamed columns."
    return InputError(
        f"no column '{name}' in this table of scores ({', '.join(found.columns)})",
        path=found.path,
        line=1,
        expected=EXPECTED,
        hint=hint,
    )


# Rows
# ------------------------------------------------------------------------------------


def _cells(found: Opened, form: _Form) -> Iterator[Cell]:
    """The scores of all rows."""
    path = str(found.path)
    for line, cells in found.rows or ():
        with located(found.path, line):
            system = str(named(cells, form.ours, "system"))
            input_ = named(cells, form.ours, "input") or ALL_INPUTS
            rater = name_of(cells.get(form.ours.get("annotator", ""))) or ""
            for metric, value in _scores_of(cells, form):
                yield Cell(system, input_, metric, _score(value), path, line, rater)


def _scores_of(cells: Mapping[str, Any], form: _Form) -> Iterator[tuple[str, Any]]:
    """The scores of one row by metric."""
    for metric, column in form.metrics.items():
        yield metric, cell_of(cells, column)
    if form.is_long:
        metric = str(named(cells, form.ours, "metric"))
        yield metric, cell_of(cells, form.ours["score"])
    if form.nested and cells.get(form.nested) is not None:
        inside = cells[form.nested]
        if (by_metric := fields_in(inside)) is None:
            raise InputError(
                f"scores are {cut(repr(inside))}", expected='{"metric": 0.5, …}'
            )
        for key, value in by_metric.items():
            yield str(key), value


def _is_missing(cell: Any) -> bool:
    return cell is None or str(cell).strip().lower() in _MISSING


def _score(value: Any) -> float:
    """A score as a number; NaN where there is none."""
    score = nan if _is_missing(value) else number(value)
    if score is None:
        raise InputError(
            f"the score {cut(repr(value))} is no number", expected="a finite number"
        )
    if isinf(score):
        raise InputError(
            "a score is infinite",
            expected="a finite number",
            hint="Leave the cell empty if it was not scored.",
        )
    return score


def _check_averages(cells: Sequence[Cell], found: Opened, form: _Form) -> None:
    """Raises InputError where a table without inputs holds more than one score of each
    system, or one system alone."""
    keys = {(cell.key, cell.rater) for cell in cells}
    if len(keys) < len(cells) or len({cell.system for cell in cells}) < 2:
        raise _no_column("input", found, form.ours)


def _by_rater(cells: Sequence[Cell]) -> tuple[list[Cell], dict[str, Names]]:
    """The cells with a metric for each rater where raters differ, and these by the
    metric that is their mean; what all raters' rows repeat counts once."""
    first: dict[tuple[str, ...], Cell] = {}
    raters: dict[str, set[str]] = {}
    for cell in cells:
        known = first.setdefault(cell.key, cell)
        if cell.rater and not is_same(known.score, cell.score):
            raters[cell.metric] = set()

    result = []
    for cell in cells:
        if cell.metric in raters:
            name = f"{cell.metric}_{cell.rater}"
            raters[cell.metric].add(name)
            result.append(cell._replace(metric=name))
        elif not cell.rater or first[cell.key] is cell:
            result.append(cell)
    return result, {metric: tuple(sorted(own)) for metric, own in raters.items()}


def is_same(one: float, other: float) -> bool:
    """Whether two scores are equal; NaN is equal to NaN."""
    return one == other or (isnan(one) and isnan(other))
