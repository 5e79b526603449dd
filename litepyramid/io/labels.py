"""Human presence labels: one file per system or tables of several, a 0, .5 or 1 for every unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from litepyramid.checked import number
from litepyramid.errors import InputError
from litepyramid.files import atomic_write, write_jsonl
from litepyramid.io.inputs import aligned, read_systems
from litepyramid.io.units import Form
from litepyramid.types import InputUnits, SystemLabels


def read_labels(
    paths: Sequence[str | Path],
    units: Sequence[InputUnits],
    ids: Sequence[str] | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    partial: bool = False,
) -> list[SystemLabels]:
    """Reads the labels of every system, checked against the units one to one.

    A JSON line is ``{"input": id, "labels": [0, 0.5, 1, …]}``, .5 for a unit that is there in
    part; a row of a table has these columns, or one ``label`` with the ``unit`` that it is of; both
    may name their ``system``, else it is the file's stem. A line of a line file holds labels with
    tabs between them, the lines in the order of the units' inputs unless `ids` says else.

    With `partial`, an input that a system's rows do not mention has no labels: ``()``.

    Raises:
        InputError: Another number of labels than units, a label that is not 0, .5 or 1, an
            unknown or a missing input … with file and line.
    """
    names = tuple(entry.input for entry in units)
    return [
        SystemLabels(
            system,
            names,
            tuple(
                tuple(
                    presence_label(value, file, entry.line)
                    for value in (aligned(entry, "label", of.texts, file) if entry.values else ())
                )
                for of, entry in zip(units, entries, strict=True)
            ),
        )
        for system, file, entries in read_systems(
            paths, "label", names, ids, columns, partial=partial
        )
    ]


def write_labels(path: str | Path, labels: SystemLabels, form: Form = "jsonl") -> None:
    """Writes one system's labels, all or nothing; name the file after the system."""
    if form == "jsonl":
        rows = [
            {"input": name, "labels": list(row)}
            for name, row in zip(labels.inputs, labels.labels, strict=True)
        ]
        write_jsonl(path, rows)
        return
    with atomic_write(path) as file:
        for row in labels.labels:
            file.write("\t".join(map(str, row)) + "\n")


def presence_label(value: Any, path: Path, line: int) -> float:
    """A label that is 0, .5 or 1, as a number or as text; 0 and 1 are integers.

    Raises:
        InputError: It is anything else, true and false among it.
    """
    found = number(value) if isinstance(value, int | float | str) else None
    if found in (0, 1):
        return int(found)
    if found == 0.5:
        return found
    raise InputError(
        f"label {value!r}",
        path=path,
        line=line,
        expected="0 (not present), 1 (present), or 0.5 (in part)",
    )
