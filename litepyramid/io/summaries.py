"""System summaries: one file per system, or tables of several systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from litepyramid.io.inputs import read_systems
from litepyramid.types import SystemSummaries


def read_summaries(
    paths: Sequence[str | Path],
    inputs: Sequence[str] | None = None,
    ids: Sequence[str] | None = None,
    *,
    columns: Mapping[str, str] | None = None,
) -> list[SystemSummaries]:
    """Reads the summaries of every system.

    A JSON line is ``{"input": id, "summary": "text"}``, a row of a table has these columns; both
    may name their ``system``, else it is the file's stem. A line of a line file is one summary. An
    empty summary is legal.

    Args:
        paths: Files, or folders of files.
        inputs: The inputs that each system must have summarised, and their order in the result;
            without them, those of the first system.
        ids: Ids of line files' inputs; without them a line file's lines follow `inputs`.
        columns: By known column (``io.rows.COLUMNS``), what the files call it.

    Raises:
        InputError: A missing file, another number of lines than inputs, an unknown or a missing
            id, a system twice … with file and line.
    """
    return [
        SystemSummaries(
            system, tuple(e.input for e in entries), tuple(e.values[0].strip() for e in entries)
        )
        for system, _, entries in read_systems(paths, "summary", inputs, ids, columns)
    ]
