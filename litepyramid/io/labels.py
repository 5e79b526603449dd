"""Human presence labels: a file a system, a 0 or 1 for every unit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from litepyramid.errors import InputError
from litepyramid.io.files import atomic_write, write_jsonl
from litepyramid.io.inputs import files_in, read_matched, row_values
from litepyramid.io.units import Form
from litepyramid.text import counted
from litepyramid.types import InputUnits, SystemLabels


def read_labels(
    paths: Sequence[str | Path], units: Sequence[InputUnits], ids: Sequence[str] | None = None
) -> list[SystemLabels]:
    """Reads the labels of every system, checked against the units one to one.

    A JSON line is ``{"input": id, "labels": [0, 1, …]}``; a line of a line file holds 0s and 1s
    with tabs between them, the lines in the order of the units' inputs unless `ids` says else.
    The system is named by the file's stem.

    Raises:
        InputError: Another number of labels than units, a label that is neither 0 nor 1, an
            unknown or a missing input … with file and line.
    """
    names = [entry.input for entry in units]
    result = []
    for file in files_in(paths, "labels"):
        rows = read_matched(file, names, ids, what="line of labels")
        labels = []
        for entry, row in zip(units, rows, strict=True):
            values = row_values(row, "labels", file)
            if len(values) != len(entry.units):
                raise InputError(
                    f"{counted(len(values), 'label')} for the "
                    f"{counted(len(entry.units), 'unit')} of input '{entry.input}'",
                    path=file,
                    line=row.line,
                    expected="one label for each unit",
                )
            labels.append(tuple(presence_label(value, file, row.line) for value in values))
        result.append(SystemLabels(file.stem, tuple(names), tuple(labels)))
    return result


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


def presence_label(value: Any, path: Path, line: int) -> int:
    """A label that is 0 or 1, as a number or as text.

    Raises:
        InputError: It is anything else, true and false among it.
    """
    if not isinstance(value, bool) and value in (0, 1, "0", "1"):
        return int(value)
    raise InputError(
        f"label {value!r}", path=path, line=line, expected="0 (not present) or 1 (present)"
    )
