"""Rows given in Python instead of a file: data frames, data sets, lists of dicts."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from litepyramid.errors import InputError
from litepyramid.tables import plain


class Row(NamedTuple):
    """One row: the line it begins on, from 1; its values by column, or its text alone."""

    line: int
    values: dict[str, Any]
    text: str | None = None


class Given(str):
    """Rows given in Python in place of a file: the name that messages call them by.

    Attributes:
        rows: The rows, their values as JSON holds them.
    """

    rows: list[Row]

    def __new__(cls, name: str, rows: list[Row]) -> Given:
        """The rows under a name; readers take it where they take a path."""
        self = super().__new__(cls, name)
        self.rows = rows
        return self


def table_rows(value: Any) -> list[dict[str, Any]] | None:
    """The rows of a value that has named columns; None if it has none.

    That is a pandas or polars frame, a table of pyarrow, a data set of Hugging Face, a list of
    dicts, or a dict of columns of one length.
    """
    if hasattr(value, "to_pylist"):
        return list(value.to_pylist())
    if hasattr(value, "to_dicts"):
        return list(value.to_dicts())
    if hasattr(value, "notna") and hasattr(value, "columns"):
        rows = value.astype(object).where(value.notna(), None).to_dict("records")
        return list(rows)
    if isinstance(value, Mapping | str | bytes | Path):
        return None
    if isinstance(value, Iterable):
        listed = list(value)
        if listed and all(isinstance(row, Mapping) for row in listed):
            return [dict(row) for row in listed]
    return None


def given_rows(rows: Iterable[Mapping[str, Any]], name: str) -> Given:
    """Rows as JSON would hold them, under a name; what is missing in a cell is left out.

    Raises:
        InputError: A cell holds what JSON cannot.

    Example:
        >>> given_rows([{"input": "a", "label": True, "unit": None}], "labels").rows[0].values
        {'input': 'a', 'label': 1}
    """
    found = []
    for line, row in enumerate(rows, start=1):
        try:
            cells = {str(key): _cell(value) for key, value in row.items()}
            values = {key: value for key, value in cells.items() if value is not None}
            json.dumps(values, ensure_ascii=False).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(f"cannot be read ({error})", path=name, line=line) from None
        found.append(Row(line, values))
    return Given(name, found)


def _cell(value: Any) -> Any:
    if isinstance(value, float) and math.isinf(value):
        return value  # the readers say what they think of it
    value = plain(value)
    if isinstance(value, list):
        return [_cell(one) for one in value]
    return int(value) if isinstance(value, bool) else value
