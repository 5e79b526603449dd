"""Writes units: JSON Lines, or lines of text."""

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from litepyramid.data.records import InputUnits
from litepyramid.errors import InputError
from litepyramid.files import atomic_write, write_jsonl


def write_units(
    path: str | Path,
    units: Iterable[InputUnits],
    form: Literal["jsonl", "lines"] = "jsonl",
) -> None:
    """Writes units, in either form, all or nothing; a line file keeps the texts
    alone."""
    if form == "jsonl":
        write_jsonl(path, [entry.to_json() for entry in units])
        return

    lines = []
    for entry in units:
        # Tabs stand between the units of a line file, and lines between inputs.
        if not set("\t\n\r").isdisjoint("".join(entry.texts)):
            raise InputError(
                f"a unit of input '{entry.input}' holds a tab or a line break",
                expected="one line of text for a line file",
                hint="Write JSON Lines instead.",
            )
        lines.append("\t".join(entry.texts) + "\n")
    with atomic_write(path) as file:
        file.writelines(lines)
