"""Tables of something else than a data set, such as labelled pairs: rows as records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

from litepyramid.checked import as_type, number
from litepyramid.data.door import Opened
from litepyramid.errors import InputError
from litepyramid.types import Names


class TableRow(Protocol):
    """A dataclass whose fields are the columns of a table."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


Row = TypeVar("Row", bound=TableRow)


class Placed(NamedTuple):
    """Where a row stands, as `errors.located` takes it: its table, and its line."""

    path: str | Path
    line: int


def column_names(table: Opened) -> set[str]:
    """The names of a table's columns, as they are compared; none of another source."""
    return {_name(column) for row in table.rows or () for column in row.cells}


def typed_rows(
    table: Opened, kind: type[Row], numbers: Names = ()
) -> Iterator[tuple[Placed, Row]]:
    """The rows of a table (a file, a frame, rows of Python) as records of one kind.

    Columns are found by their names, in any case; others are left out. The cells of
    `numbers` may be texts, as in a CSV.

    Raises:
        InputError: It is no table, or a cell does not fit.
    """
    columns = [field.name for field in fields(kind)]
    if not table.rows:
        raise InputError(
            "no rows with named columns",
            path=table.path,
            expected=f"a table with the columns {', '.join(columns)}",
        )

    for line, cells in table.rows:
        values = {}
        for column, cell in cells.items():
            name = _name(column)
            values[name] = _number(cell) if name in numbers else cell
        at = Placed(table.path, line)
        yield at, as_type(kind, values, what="a broken row", path=at.path, line=line)


def _name(column: str) -> str:
    return column.strip().lower()


def _number(cell: Any) -> Any:
    """A number as JSON has it; what is none stays as it is."""
    value = number(cell)
    if value is None:
        return cell
    return value if value % 1 else int(value)
