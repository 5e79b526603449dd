"""What all files that speak of inputs share: which form a file has, and whose line is whose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litepyramid.errors import InputError
from litepyramid.io.files import read_jsonl, read_lines, read_text
from litepyramid.text import counted


@dataclass(frozen=True, slots=True)
class Row:
    """One input's entry in a file: its id, where it stands, and what it holds.

    Attributes:
        input: The input's id.
        line: The line it stands on, from 1.
        value: The line's text (line files), or the whole JSON object (JSON Lines).
    """

    input: str
    line: int
    value: str | dict[str, Any]


def is_jsonl(path: str | Path) -> bool:
    """Whether a file is JSON Lines: it is named so, or its first character is a brace."""
    path = Path(path)
    if path.suffix in {".jsonl", ".ndjson"}:
        return True
    return read_text(path).lstrip()[:1] == "{"


def read_ids(path: str | Path) -> list[str]:
    """The ids of a line file's inputs, one a line, in the order of its lines.

    Raises:
        InputError: An id is empty or occurs twice.
    """
    if is_jsonl(path):
        raise InputError("JSON Lines", path=path, expected="ids alone, one a line")
    ids: dict[str, int] = {}
    for number, line in enumerate(read_lines(path), start=1):
        name = line.strip()
        if not name:
            raise InputError("empty id", path=path, line=number, expected="one id a line")
        if name in ids:
            raise InputError(
                f"input '{name}' occurs twice (first on line {ids[name]})", path=path, line=number
            )
        ids[name] = number
    return list(ids)


def read_rows(
    path: str | Path, ids: Sequence[str] | None = None, *, blank_ok: bool = False
) -> list[Row]:
    """The entries of a file of either form, in the file's order.

    Args:
        path: A line file (one example a line) or JSON Lines with an ``"input"`` in every object.
        ids: Ids of a line file's inputs; without them its inputs are "1", "2", ….
        blank_ok: Whether a blank line of a line file is a legal (empty) example.

    Raises:
        InputError: An id is missing, no string, or occurs twice; a blank line; the number of
            lines is not the number of ids.
    """
    if is_jsonl(path):
        return _json_rows(path)
    lines = read_lines(path, blank_ok=blank_ok)
    if ids is not None and len(lines) != len(ids):
        raise InputError(
            counted(len(lines), "line"),
            path=path,
            line=min(len(lines), len(ids)) + (len(lines) > len(ids)),
            expected=f"{len(ids)}, one for each id",
        )
    names = ids if ids is not None else [str(n) for n in range(1, len(lines) + 1)]
    rows = []
    for number, (name, line) in enumerate(zip(names, lines, strict=True), start=1):
        if not blank_ok and not line.strip():
            raise InputError("blank line", path=path, line=number, expected="one example a line")
        rows.append(Row(name, number, line))
    return rows


def _json_rows(path: str | Path) -> list[Row]:
    seen: dict[str, int] = {}
    rows = []
    for number, entry in read_jsonl(path):
        name = entry.get("input")
        if not isinstance(name, str) or not name:
            raise InputError('no "input"', path=path, line=number, expected='{"input": "an id", …}')
        if name in seen:
            raise InputError(
                f"input '{name}' occurs twice (first on line {seen[name]})",
                path=path,
                line=number,
                hint="Put all that belongs to one input on one line.",
            )
        seen[name] = number
        rows.append(Row(name, number, entry))
    return rows


def read_matched(
    path: str | Path, inputs: Sequence[str], ids: Sequence[str] | None, *, what: str
) -> list[Row]:
    """The entries of a file in the order of `inputs`, exactly one for each.

    A line file without `ids` has its lines in the order of `inputs`.

    Args:
        path: A line file or JSON Lines.
        inputs: The inputs that must be there, no others.
        ids: Ids of a line file's lines, where they are not those of `inputs` in their order.
        what: What an entry is, for messages: ``"summary"``. Summaries may be blank.

    Raises:
        InputError: As `read_rows`; and if the file has another number of lines, speaks of an
            unknown input (with its line), or lacks one.
    """
    blank_ok = what == "summary"
    if ids is None and not is_jsonl(path):
        lines = read_lines(path, blank_ok=blank_ok)
        if len(lines) != len(inputs):
            raise InputError(
                f"{counted(len(lines), 'line')} for {counted(len(inputs), 'input')}",
                path=path,
                line=min(len(lines), len(inputs) + 1),
                expected=f"one {what} a line, one line for each input",
                hint="If its lines are other inputs, name them with an ids file (--ids)."
                if len(lines) > len(inputs)
                else None,
            )
        ids = inputs
    rows = read_rows(path, ids, blank_ok=blank_ok)
    known = set(inputs)
    for row in rows:
        if row.input not in known:
            raise InputError(
                f"a {what} of input '{row.input}', which has no units",
                path=path,
                line=row.line,
                expected=f"the inputs of the units: '{inputs[0]}' …",
            )
    by_name = {row.input: row for row in rows}
    for name in inputs:
        if name not in by_name:
            raise InputError(
                f"no {what} of input '{name}'",
                path=path,
                line=rows[-1].line,
                expected=f"{counted(len(inputs), 'input')}, found {len(rows)}",
                hint="Add it; an empty summary is legal." if blank_ok else None,
            )
    return [by_name[name] for name in inputs]


def row_values(row: Row, key: str, path: str | Path) -> list[Any]:
    """The list that a row holds: tab-separated cells, or the JSON list under `key`."""
    if isinstance(row.value, str):
        return [cell.strip() for cell in row.value.split("\t")]
    values = row.value.get(key)
    if not isinstance(values, list):
        raise InputError(
            f'no "{key}"', path=path, line=row.line, expected=f'{{"input": id, "{key}": [ … ]}}'
        )
    return values


def files_in(paths: Sequence[str | Path], what: str) -> list[Path]:
    """The files named, folders replaced by the files in them (hidden ones left out, sorted).

    Raises:
        InputError: A path is missing or a folder is empty; two files give the same system.
    """
    files: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            inside = sorted(p for p in path.iterdir() if p.is_file() and p.name[0] != ".")
            if not inside:
                raise InputError(
                    f"no {what} in this folder", path=path, expected="one file a system"
                )
            files += inside
        elif path.exists():
            files.append(path)
        else:
            raise InputError("no such file or folder", path=path, hint="Check the path.")
    if not files:
        raise InputError(f"no {what} given", expected="at least one file or folder")
    stems: dict[str, Path] = {}
    for file in files:
        if file.stem in stems:
            raise InputError(
                f"system '{file.stem}' is also in {stems[file.stem]}",
                path=file,
                hint="A system is named by its file: rename one.",
            )
        stems[file.stem] = file
    return files
