"""Presence judged elsewhere: by another tool, your own model, an earlier run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from litepyramid.checked import as_type, number
from litepyramid.errors import InputError
from litepyramid.files import read_text
from litepyramid.io.coerce import check_path, systems_of, units_from_json
from litepyramid.io.columns import read_columns
from litepyramid.io.inputs import aligned
from litepyramid.io.rows import ColumnNames, Ids, Row, Rows, read_rows
from litepyramid.io.scores import score_result
from litepyramid.tables import Result, plain
from litepyramid.text import cut
from litepyramid.types import FloatArray, InputUnits, data_hashes


class Presence(NamedTuple):
    """Presence of every unit in every system's summary, judged elsewhere.

    Attributes:
        systems: N names.
        units: The units, one entry per input.
        values: (N, U) presence in [0, 1], the units of the inputs one after the other; NaN: no
            judgement.
    """

    systems: tuple[str, ...]
    units: tuple[InputUnits, ...]
    values: FloatArray

    @property
    def sha(self) -> str:
        """Names the values in a signature, whatever file or order they came in."""
        return data_hashes(presence=self)["presence_sha"]


def as_presence(
    presence: Any,
    units: Sequence[InputUnits] | None = None,
    *,
    ids: Ids = None,
    columns: ColumnNames = None,
) -> Presence:
    """Presence judged elsewhere: a path, a dict by system (of lists, or dicts by input), rows.

    A row holds ``system``, ``input`` and the list ``presence`` with a number from 0 to 1 for each
    unit (null: no judgement), in the units' order; or one ``presence`` with the ``unit`` that it
    is of. A saved or a fresh result of scoring will do too, and brings its units.

    Example:
        >>> from litepyramid.types import Unit
        >>> units = [InputUnits("1", (Unit("It rained."), Unit("We left.")))]
        >>> as_presence({"mine": [[1, 0.5]]}, units).values
        array([[1. , 0.5]])
    """
    if isinstance(presence, Presence):
        return presence
    presence = plain(presence.to_json()) if isinstance(presence, Result) else presence
    path: str | Path = "presence"
    result: Any = presence
    if isinstance(presence, str | Path):
        path = presence
        if saved := read_columns(path):
            judged, values = saved.presence()
            if not ((values >= 0) & (values <= 1) | np.isnan(values)).all():
                raise InputError("no presence", path=path, expected="numbers from 0 to 1")
            return Presence(saved.systems, _judged_units(units, judged, path), values)
        text = read_text(check_path(path))
        result = score_result(text)
        presence = read_rows(path, columns, text=text) if result is None else None
    if isinstance(result, Mapping) and {"scores", "units"} <= result.keys():
        what, listed = "not a result of 'litepyramid score'", list[dict[str, Any]]
        rows = as_type(listed, result["scores"], what=what, path=path)
        numbered = [Row(n, row) for n, row in enumerate(rows, 1)]
        presence = Rows(f"{path}, scores", "jsonl", numbered)
        units = _judged_units(units, units_from_json(result["units"], path), path)
    elif units is None:
        expected = "the units that were judged, or the JSON that 'litepyramid score' writes"
        raise InputError("presence without units", path=path, expected=expected)
    inputs = [entry.input for entry in units]
    systems, rows_of_values = [], []
    for system, source, entries in systems_of(presence, "presence", inputs, ids, columns):
        systems.append(system)
        row: list[float] = []
        for of, entry in zip(units, entries, strict=True):
            aligned_values = aligned(entry, "presence", of.texts, source)
            row += [_presence_value(value, source, entry.line) for value in aligned_values]
        rows_of_values.append(row)
    return Presence(tuple(systems), tuple(units), np.array(rows_of_values, dtype=np.float64))


def _judged_units(
    units: Sequence[InputUnits] | None, judged: Sequence[InputUnits], source: str | Path
) -> tuple[InputUnits, ...]:
    """The units of a result; those given must be the same."""
    if units is not None and [entry.texts for entry in units] != [e.texts for e in judged]:
        what = "the presence is for other units"
        hint = "Omit the units to use those of the file."
        raise InputError(what, path=source, expected="the units that were judged", hint=hint)
    return tuple(units or judged)


def _presence_value(value: Any, path: str | Path, line: int) -> float:
    if value is None or value != value:
        return math.nan  # no judgement
    presence = number(value)
    if presence is None or not 0 <= presence <= 1:
        what = f"presence {cut(repr(value))}"
        raise InputError(what, path=path, line=line, expected="a number from 0 to 1")
    return presence
