"""Rows with their places, under our columns, whatever a table or a tool calls them."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from math import prod
from pathlib import Path
from typing import Any, Literal, NamedTuple

from litepyramid.checked import number
from litepyramid.errors import InputError, located
from litepyramid.files import stem
from litepyramid.io.exports import (
    event_rows,
    export_of,
    flat_row,
    read_export,
    wrapped_rows,
)
from litepyramid.io.formats import FORMATS, format_of, translate
from litepyramid.io.shapes import is_text_column, mapping_line, usual_meaning
from litepyramid.text import counted, cut

Form = Literal["csv", "json", "jsonl", "lines", "python", "plain"]
"""Of a source's rows: "python" tables have named columns, "plain" data have none."""
Holding = Literal["summary", "score"]
"""What a cell holds in a table with a column for each system."""
_LISTS = ("reference", "document", "unit", "label")
COLUMNS = (
    "system",
    "input",
    "summary",
    "metric",
    "score",
    "kind",
    "sentence",
    "importance",
    "presence",
    "question",
    "human",
    "annotator",
    "weight",
    *(name + plural for name in _LISTS for plural in ("", "s")),
)
"""Columns that have a meaning."""
_SPARSEST = 100  # cells of a large table, of which one is filled
_OTHER_NAMES = {"id": "input", "query": "question", "prompt": "question"}
KNOWN = frozenset((*COLUMNS, *_OTHER_NAMES))
"""Names under which a column is read without being told of it."""

EVERY_COLUMN = "*"
"""In place of a system's column: every column of texts that has no other meaning."""

Ids = Sequence[str] | None
"""Ids of inputs whose rows go by their order."""


SCORE_COLUMNS = (
    "the columns system, input and one a metric, or system, input, metric, score"
)


class ColumnMap(dict[str, str]):
    """Own column names by known column; `seen` are the columns of the tables that were
    read."""

    def __init__(self, names: Mapping[str, str]) -> None:
        super().__init__(names)
        self.seen: set[str] = set()

    @property
    def headers(self) -> set[str]:
        """The names that stand in the head of a table: of ``a+b`` each."""
        names = {*self.values()}
        for column in self.values():
            # A plus may also stand in the name of one column: both readings count.
            names |= set(map(str.strip, column.split("+")))
        return names - {EVERY_COLUMN}

    def check(self) -> None:
        """Raises InputError if a column is named that no table had."""
        for name, column in self.items():
            if column not in self.seen:
                there = ", ".join(sorted(self.seen)) or "a table with named columns"
                raise InputError(
                    f"no column '{column}' (columns {name}={column})", expected=there
                )


ColumnNames = ColumnMap | None


class Row(NamedTuple):
    """One row: its line, from 1; its values by column, or its text; its file if not the
    table's."""

    line: int
    values: dict[str, Any]
    text: str | None = None
    path: str | Path | None = None


@dataclass(frozen=True)
class Rows:
    """The rows of one source; `made` by another tool, of whose file some things are
    `left_out`; `remarks` are for whoever reads the scores; `system` is the user's name
    of all that has none."""

    path: str | Path
    form: Form
    rows: list[Row]
    columns: Mapping[str, str] = field(default_factory=dict)
    made: str = ""
    left_out: Mapping[str, int] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    system: str = ""

    def __post_init__(self) -> None:
        if not self.rows:
            raise InputError("the table has no rows", path=self.path)

    @property
    def runs(self) -> bool:
        """Whether the file is a log of runs, whose systems may have the same name in
        another."""
        if self.made in FORMATS:
            return FORMATS[self.made].runs
        return bool(self.made)  # an export of a tool

    def holds(self, what: str) -> bool:
        """Whether some row has the column `what`, or its plural."""
        return any(what in row.values or f"{what}s" in row.values for row in self.rows)

    @cached_property
    def names(self) -> list[str]:
        """The columns, in the order in which they come."""
        return list(dict.fromkeys(chain.from_iterable([r.values for r in self.rows])))

    def cells(self, name: str) -> list[Any]:
        """The cells of one column."""
        return [row.values.get(name) for row in self.rows]

    def way_out(self, what: str = "summary") -> str | None:
        """How to name the columns of a table in which `what` was not found."""
        if self.form == "lines":
            return None
        if what == "score":
            line = mapping_line(self.names, None, KNOWN)
            if "system" in self.names or "system=" in (line or ""):
                return line
            needed = "Add a column 'system': who wrote what was scored."
            return f"{needed} {line}" if line else needed
        # A column of single words, such as a split, is no system where others tell
        # more.
        texts = self.text_columns(2) or self.text_columns(1)
        return mapping_line(self.names, texts, KNOWN, what)

    def text_columns(self, least: int) -> list[str]:
        """The columns of texts that mostly have at least so many words."""
        return [n for n in self.names if is_text_column(self.cells(n), least=least)]


def is_wide(table: Rows) -> bool:
    """Whether all columns but the ids are texts of which we do not know what they
    are."""
    names = [name for name in table.names if _OTHER_NAMES.get(name, name) != "input"]
    if not names or {*names} & KNOWN or format_of(table.rows[0].values):
        return False
    # "gold" is a reference, and no system.
    if any(map(usual_meaning, names)):
        return False
    return {*names} <= {*table.text_columns(2)}


def _melted(table: Rows, chosen: list[str], holding: Holding) -> Rows:
    """A row for each system of a table that has a column for each of them."""
    present = table.names
    for name in chosen:
        if name not in present:
            raise InputError(
                f"no column '{name}' (columns system={'+'.join(chosen)})",
                path=table.path,
                expected=f"some of {', '.join(present)}",
            )

    remarks = []
    if others := [name for name in present if name not in {*KNOWN, *chosen}]:
        remarks.append(f"Columns that are not read: {', '.join(others)}.")

    listed = ", ".join(chosen)
    remarks.append(f"A system is a column: {listed}.")
    if "input" not in present:
        remarks.append("The rows have no ids: they go by their order.")

    rows = []
    for row in table.rows:
        shared = {k: cell for k, cell in row.values.items() if k not in chosen}
        for system in chosen:
            values = {**shared, "system": system, holding: row.values.get(system)}
            rows.append(row._replace(values=values))

    # Rows in Python go by their order where they have no ids.
    form = table.form if "input" in present else "python"
    return replace(
        table,
        rows=rows,
        form=form,
        remarks=(*table.remarks, *remarks),
    )


def _system_columns(table: Rows, systems: str, holding: Holding) -> list[str]:
    """The columns that a mapping of systems names; none, if it is to one or none is
    here."""
    if systems in table.names:
        return []

    if systems != EVERY_COLUMN:
        parts = [part.strip() for part in systems.split("+")]
        several = len(parts) > 1 and not {*parts}.isdisjoint(table.names)
        return parts if several else []

    # Of scores any column may be a system, of summaries one of texts.
    names = table.names if holding == "score" else table.text_columns(1)
    return [name for name in names if name not in KNOWN]


def as_ours(table: Rows, columns: ColumnNames, holding: Holding = "summary") -> Rows:
    """The rows under the known names of their columns; those of another tool's file as
    ours."""
    # Other tools write their formats as JSON; their names may head any CSV.
    form = None if table.form == "csv" else format_of(table.rows[0].values)
    if form is not None:
        lines = ((row.line, row.values) for row in table.rows)
        ours, counts = translate(form, lines, table.path)
        rows = [Row(*row) for row in ours]
        table = replace(
            table,
            rows=rows,
            made=form,
            left_out=counts,
        )
    elif not _holds_ours(table, columns) and (export := _of_export(table, columns)):
        return export

    present = {*table.names}
    aliases = {alias: name for alias, name in _OTHER_NAMES.items() if alias in present}
    if columns is not None:
        columns.seen |= present
    elif not aliases:
        return table

    # A column that is mapped away must not be read under its old meaning too.
    renamed: Mapping[str, str] = columns or {}
    hidden = ({*renamed.values()} - KNOWN) | (renamed.keys() - {"input", "system"})

    def known(own: dict[str, Any]) -> dict[str, Any]:
        values = {name: value for name, value in own.items() if name not in hidden}
        for name, column in renamed.items():
            if column in own:
                values[name] = own[column]
        for alias, name in aliases.items():
            if alias in values and name not in values:
                # An id stays beside: messages list columns as the table calls them.
                values[name] = values[alias] if alias == "id" else values.pop(alias)
        return values

    rows = [row._replace(values=known(row.values)) for row in table.rows]
    table = replace(table, rows=rows, columns=renamed)

    systems = renamed.get("system", "")
    if columns is not None and (chosen := _system_columns(table, systems, holding)):
        columns.seen.add(systems)
        table = _melted(table, chosen, holding)

    return table


def joined(tables: Sequence[Rows]) -> Rows:
    """The rows of several whole tables as one; a system is named by its rows, or by its
    file."""
    rows = []
    seen: set[str] = set()
    left_out: Counter[str] = Counter()

    for table in tables:
        file = stem(table.path)
        told = {"system": table.system} if table.system else {}
        named = [{"system": file, **row.values, **told} for row in table.rows]
        systems = {str(values["system"]) for values in named}
        # Two logs of one model are two runs: the file tells them apart.
        if table.runs and seen & systems:
            for values in named:
                values["system"] = f"{values['system']} ({file})"
        seen |= systems
        left_out.update(table.left_out)
        pairs = zip(table.rows, named, strict=True)
        rows += [row._replace(values=values, path=table.path) for row, values in pairs]

    return replace(
        tables[0],
        form="python",
        rows=rows,
        left_out=left_out,
        system="",
    )


def _holds_ours(table: Rows, columns: ColumnNames) -> bool:
    """Whether a table's columns are ours, or the user says what they are."""
    named = {*table.names}
    if columns is not None and columns.headers & named:
        return True
    return bool(named & {"summary", "unit", "units", "label", "labels", "presence"})


def _of_export(table: Rows, columns: ColumnNames) -> Rows | None:
    """The rows of a tool's export as ours; None of anything else."""
    lines = [(row.line, row.values) for row in table.rows]
    counts: Counter[str] = Counter()

    if len(lines) == 1 and (wrapped := wrapped_rows(lines[0][1])) is not None:
        listed, rest = wrapped
        lines = list(enumerate(listed, 1))
        for key, value in rest.items():
            if value not in (None, "", [], {}):
                counts[f"values of {key} of the file"] += 1
    elif "spec" in lines[0][1]:
        lines = event_rows(lines, counts)

    names = frozenset(chain.from_iterable([row for _, row in lines]))
    if (export := export_of(names)) is None:
        return None

    flat_lines = []
    for line, row in lines:
        flat = flat_row(row, export.texts)
        # An empty cell of a CSV holds nothing, where JSON has null for that.
        for key in [*flat] if table.form == "csv" else ():
            if flat[key] == "":
                del flat[key]
        if columns is not None:
            columns.seen |= flat.keys()
        for name, column in (columns or {}).items():
            if column in flat:
                flat[f"={name.removesuffix('s')}"] = flat.pop(column)
        flat_lines.append((line, flat))

    # What is read from a pipe or from memory has no name of its own.
    named = table.form != "python" and str(table.path) != "-"
    system = stem(table.path) if named else "system"
    with located(table.path, table.rows[0].line):
        ours, have_ids = read_export(export, flat_lines, counts, system)
    return replace(
        table,
        rows=[Row(*row) for row in ours],
        # Lists beside answers without ids go by their order, as beside a frame.
        form="jsonl" if have_ids else "python",
        made=export.name,
        left_out=+counts,
    )


def identifier(value: Any) -> str | None:
    """A name as text: a text, or a whole number as it is written; None for all else."""
    if not isinstance(value, str):
        whole = number(value)
        # A frame reads ids as numbers, and as 1.0 where one of them is missing.
        value = None if whole is None or whole % 1 else str(int(whole))
    return value if value and value.strip() else None


def named(values: Mapping[str, Any], column: str, hint: str | None = None) -> str:
    """The name that a row has in a column."""
    value = values.get(column)
    if (name := identifier(value)) is not None:
        return name

    shown = cut(json.dumps(value, default=str))
    raise InputError(
        f'no "{column}"' if value in (None, "") else f'"{column}" is {shown}',
        expected=f'{{"{column}": "a name", …}}, or a column with a name in every row',
        hint=hint,
    )


def check_filled(filled: int, what: str, most: int, hint: str, **sizes: int) -> None:
    """Raises InputError if a table held whole has over `most` cells, few of them
    filled."""
    cells = prod(sizes.values())
    if cells > max(most, _SPARSEST * filled):
        sides = ", ".join(counted(size, one) for one, size in sizes.items())
        raise InputError(
            f"{filled:,} {what} share too little: {sides} make {cells:,} cells",
            expected=f"one cell in {_SPARSEST} filled, if there are over {most:,}",
            hint=hint,
        )


def parse_columns(columns: Any) -> ColumnNames:
    """``input=doc_id,summary=output``, or a dict, from known columns to a table's
    own."""
    if columns is None or isinstance(columns, ColumnMap):
        return columns

    pairs: list[tuple[Any, Any]] = []
    if isinstance(columns, str):
        for part in columns.split(","):
            name, _, column = part.partition("=")
            pairs.append((name.strip(), column.strip()))
    elif isinstance(columns, Mapping):
        for name, column in columns.items():
            listed = isinstance(column, list | tuple)
            pairs.append((name, "+".join(map(str, column)) if listed else column))
    else:
        raise InputError(
            f"columns cannot be read from a {type(columns).__name__}",
            expected='NAME=COLUMN,… or a dict such as {"summary": "output"}',
        )

    names: dict[str, str] = {}
    for given, column in pairs:
        name = _OTHER_NAMES.get(given, given)
        if (
            name not in COLUMNS
            or name in names
            or not (isinstance(column, str) and column)
        ):
            raise InputError(
                f"the columns '{cut(columns)}' cannot be read at '{given}'",
                expected=f"NAME=COLUMN,… with a NAME each of {', '.join(COLUMNS)}",
            )
        names[name] = column

    return ColumnMap(names)
