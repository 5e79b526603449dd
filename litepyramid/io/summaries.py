"""System summaries: a file a system, one example a line or JSON Lines by id."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from litepyramid.errors import InputError
from litepyramid.io.inputs import Row, files_in, read_matched, read_rows
from litepyramid.types import SystemSummaries


def read_summaries(
    paths: Sequence[str | Path],
    inputs: Sequence[str] | None = None,
    ids: Sequence[str] | None = None,
) -> list[SystemSummaries]:
    """Reads the summaries of every system.

    A JSON line is ``{"input": id, "summary": "text"}``; a line of a line file is one summary. An
    empty summary is legal. The system is named by the file's stem.

    Args:
        paths: Files, or folders with a file a system.
        inputs: The inputs that each system must have summarised, and their order in the result;
            without them, those of the first file.
        ids: Ids of line files' inputs; without them a line file's lines follow `inputs`.

    Raises:
        InputError: A missing file, another number of lines than inputs, an unknown or a missing
            id … with file and line.
    """
    result: list[SystemSummaries] = []
    for file in files_in(paths, "summaries"):
        if inputs is None:
            inputs = [row.input for row in read_rows(file, ids, blank_ok=True)]
        matched = read_matched(file, inputs, ids, what="summary")
        texts = tuple(_summary(row, file) for row in matched)
        result.append(SystemSummaries(file.stem, tuple(inputs), texts))
    return result


def _summary(row: Row, path: Path) -> str:
    if isinstance(row.value, str):
        return row.value.strip()
    text = row.value.get("summary")
    if not isinstance(text, str):
        raise InputError(
            'no "summary"',
            path=path,
            line=row.line,
            expected='{"input": id, "summary": "text"}',
        )
    return text.strip()
