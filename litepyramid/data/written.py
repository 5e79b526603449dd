"""Units as lines of files: JSON Lines, or lines of text."""

from collections.abc import Iterable
from pathlib import Path

from litepyramid.data.records import InputUnits
from litepyramid.disk import write_jsonl
from litepyramid.errors import InputError


def write_units(path: str | Path, units: Iterable[InputUnits]) -> None:
    """Writes units as JSON Lines, one input a line."""
    write_jsonl(path, [entry.to_json() for entry in units])


def unit_lines(units: Iterable[InputUnits]) -> list[str]:
    """A line of text for each input, tabs between its units; only their texts."""
    lines = []
    for entry in units:
        if not set("\t\n\r").isdisjoint("".join(entry.texts)):
            raise InputError(
                f"a unit of input '{entry.input}' holds a tab or a line break",
                expected="one line of text for a line file",
                hint="Write JSON Lines instead.",
            )
        lines.append("\t".join(entry.texts) + "\n")
    return lines
