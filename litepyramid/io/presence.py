"""Presence judged elsewhere: by another tool, your own model, an earlier run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from litepyramid.checked import check_shape, number
from litepyramid.errors import InputError
from litepyramid.files import read_text
from litepyramid.io.columns import read_columns
from litepyramid.io.given import Given, Row
from litepyramid.io.inputs import aligned, read_systems
from litepyramid.io.rows import read_rows
from litepyramid.io.scores import score_result
from litepyramid.io.units import read_units
from litepyramid.types import FloatArray, InputUnits, fingerprint


class GivenPresence(NamedTuple):
    """Presence of every unit in every system's summary.

    Attributes:
        systems: N names.
        units: The units, one entry per input.
        values: (N, U) presence in [0, 1], the units of the inputs one after the other.
        sha: Names the data in a signature: the start of the file's SHA-256.
    """

    systems: tuple[str, ...]
    units: tuple[InputUnits, ...]
    values: FloatArray
    sha: str


def read_presence(
    source: str | Path | Mapping[str, Any],
    units: Sequence[InputUnits] | None = None,
    ids: Sequence[str] | None = None,
    *,
    columns: Mapping[str, str] | None = None,
) -> GivenPresence:
    """Reads presence that was judged elsewhere; every unit of every input must be there.

    A row holds ``system``, ``input`` and the list ``presence`` with a number from 0 to 1 for each
    unit (null: no judgement), in the units' order; or one ``presence`` with the ``unit`` that it
    is of, as text. A saved result of ``litepyramid score`` is read too, and brings its units.

    Args:
        source: A file (CSV, TSV, JSON, JSON Lines), rows given in Python, or what such JSON holds.
        units: The units that were judged; None to take those of the result.
        ids: Ids of the inputs of rows that go by their order.
        columns: Own column names, by known column (``io.rows.COLUMNS``).

    Raises:
        InputError: A system, input or unit is missing or unknown, a value is not a number from 0 to
            1, or there are no units; with file and line.
    """
    whole: Mapping[str, Any] | None = None
    if isinstance(source, Mapping):
        whole, source = source, "presence"
        sha = fingerprint(whole.get("scores", ()))
    elif isinstance(source, Given):
        rows, sha = source, fingerprint(row.values for row in source.rows)
    elif held := read_columns(source):
        judged, presence = held.presence()
        _check_units(units, judged, source)
        if not ((presence >= 0) & (presence <= 1) | np.isnan(presence)).all():
            raise InputError("no presence", path=source, expected="numbers from 0 to 1")
        sha = sha256(presence.tobytes()).hexdigest()[:8]
        return GivenPresence(held.systems, tuple(units or judged), presence, sha)
    else:
        text = read_text(source)
        sha, whole = sha256(text.encode()).hexdigest()[:8], score_result(text)
        found = [] if whole else read_rows(source, columns, text=text).rows
        rows, columns = Given(str(source), found), None
    if whole is not None:
        check_shape(whole, _RESULT, what="not a result of 'litepyramid score'", path=source)
        rows = Given(f"{source}, scores", _rows(whole["scores"]))
        own = read_units(Given(f"{source}, units", _rows(whole["units"])), kind=None)
        _check_units(units, own, source)
        units = units or own
    if units is None:
        raise InputError(
            "presence without units",
            path=source,
            expected="the units that were judged, or the JSON that 'litepyramid score' writes",
        )
    names = [entry.input for entry in units]
    systems, values = [], []
    for system, path, entries in read_systems([rows], "presence", names, ids, columns):
        systems.append(system)
        values.append(
            [
                _value(value, path, entry.line)
                for of, entry in zip(units, entries, strict=True)
                for value in aligned(entry, "presence", of.texts, path)
            ]
        )
    return GivenPresence(tuple(systems), tuple(units), np.array(values, dtype=np.float64), sha)


def _check_units(
    units: Sequence[InputUnits] | None, own: Sequence[InputUnits], source: str | Path
) -> None:
    """Raises InputError unless the units given, if any, are those that a result brings."""
    if units is not None and [entry.texts for entry in units] != [e.texts for e in own]:
        raise InputError(
            "the presence is for other units",
            path=source,
            expected="the units that were judged",
            hint="Omit the units to use those of the file.",
        )


_RESULT = {
    "scores": [{"system": str, "input": str, "presence": [(None, float)]}],
    "units": [{"input": str, "units": [object]}],
}


def _rows(values: Sequence[dict[str, Any]]) -> list[Row]:
    return [Row(line, value) for line, value in enumerate(values, start=1)]


def _value(value: Any, path: Path, line: int) -> float:
    if value is None:
        return math.nan  # no judgement
    found = number(value)
    if found is None or not 0 <= found <= 1:
        raise InputError(
            f"presence {value!r}", path=path, line=line, expected="a number from 0 to 1"
        )
    return found
