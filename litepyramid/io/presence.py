"""Presence that was judged elsewhere: tables of numbers, or saved results."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from litepyramid.data.saved import saved_scores
from litepyramid.errors import InputError
from litepyramid.files import read_text
from litepyramid.io.inputs import by_system, in_order, numbers_of
from litepyramid.io.readers import read_rows
from litepyramid.io.rows import ColumnNames, Ids
from litepyramid.io.sources import as_list, check_path
from litepyramid.types import FloatArray, InputUnits


class Presence(NamedTuple):
    """(N, U) presence from 0 to 1 of every unit in every system's summary; NaN: no
    judgement."""

    systems: tuple[str, ...]
    units: tuple[InputUnits, ...]
    values: FloatArray


def as_presence(
    presence: Any,
    units: Sequence[InputUnits] | None = None,
    *,
    ids: Ids = None,
    columns: ColumnNames = None,
) -> Presence:
    """Presence judged elsewhere, of some units; a saved or fresh result brings its
    units."""
    if isinstance(presence, Presence):
        return presence

    path: str | Path = "presence"
    text = None
    if isinstance(presence, str | Path):
        path = presence
        text = read_text(check_path(path))

    if (saved := saved_scores(presence, text)) is not None:
        judged = [entry.texts for entry in saved.units]
        if units is not None and [entry.texts for entry in units] != judged:
            raise InputError(
                "the presence is for other units",
                path=path,
                expected="the units that were judged",
                hint="Omit the units to use those of the file.",
            )
        return Presence(saved.names, tuple(units or saved.units), saved.presence(path))

    if units is None:
        raise InputError(
            "presence without units",
            path=path,
            expected="the units that were judged, or the JSON that 'litepyramid "
            "score' writes",
        )

    if text is not None:
        presence = read_rows(path, columns, text=text)
    inputs = [entry.input for entry in units]
    listed = as_list(presence)
    systems: dict[str, list[float]] = {}
    for system, entries in by_system(listed, "presence", inputs, ids, columns):
        # Units of every input: which inputs there are, the presence tells.
        units = in_order(units, [entry.input for entry in entries], "units")
        # One row of all its units, input after input.
        row = systems[system] = []
        for entry, of in zip(entries, units, strict=True):
            row += numbers_of(entry, "presence", of.texts)

    values = np.array([*systems.values()], np.float64)
    return Presence(tuple(systems), tuple(units), values)
