"""Reading lines and JSON lines with exact places in errors; writing all or nothing."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from litepyramid.errors import InputError
from litepyramid.io.checked import parse_json


def read_text(path: str | Path) -> str:
    """The whole file as UTF-8, a byte order mark taken off.

    Raises:
        InputError: The file is missing, is a folder, cannot be read, or is not UTF-8
            (with the line of the first bad byte).
    """
    path = Path(path)
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError("no such file", path=path, hint="Check the path.") from None
    except IsADirectoryError:
        raise InputError("is a folder", path=path, expected="a file") from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", path=path) from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"byte 0x{data[error.start]:02x} is not UTF-8",
            path=path,
            line=data.count(b"\n", 0, error.start) + 1,
            hint="Save the file as UTF-8.",
        ) from None


def read_lines(path: str | Path, *, blank_ok: bool = False) -> list[str]:
    r"""The lines of a text file, ended by ``\n`` or ``\r\n`` alone; a last empty one is left out.

    Other Unicode line separators stay inside their line, so that line numbers agree with editors
    and with the authors' files.

    Args:
        path: The file.
        blank_ok: Whether a file of blank lines alone is more than an empty file.

    Raises:
        InputError: As `read_text`; and if the file is empty.
    """
    text = read_text(path)
    if not (text if blank_ok else text.strip()):
        raise InputError("the file is empty", path=path, expected="one example a line")
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if not lines[-1]:
        lines.pop()
    return lines


def read_jsonl(path: str | Path) -> list[tuple[int, dict[str, Any]]]:
    """The objects of a JSON Lines file with their line numbers (from 1); blank lines are skipped.

    Raises:
        InputError: As `read_lines`; and if a line is not a JSON object.
    """
    rows = []
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            continue
        row = parse_json(line, path=path, line=number)
        if not isinstance(row, dict):
            raise InputError(
                f"a JSON {type(row).__name__}", path=path, line=number, expected="an object"
            )
        rows.append((number, row))
    return rows


def read_json(path: str | Path, expected: str | None = None) -> Any:
    """The value of a JSON file; `expected` says in messages what it should be.

    Raises:
        InputError: As `read_text` and `parse_json`.
    """
    return parse_json(read_text(path), path=path, expected=expected)


def check_output(output: str | Path, *inputs: str | Path | None) -> None:
    """Says before the work whether a result can go there, and is none of the files to read.

    Args:
        output: The file to write.
        inputs: Files that are read; None stands for one that was not given.

    Raises:
        InputError: It is a folder or in none, or it is one of `inputs`, perhaps by another name:
            a mistake that loses somebody's work.
    """
    output = Path(output)
    if output.is_dir():
        raise InputError("is a folder", path=output, expected="a file to write")
    if not output.parent.is_dir():
        raise InputError("the folder does not exist", path=output, hint="Check the path.")
    read = [Path(path) for path in inputs if path is not None]
    if output.is_file() and any(path.exists() and output.samefile(path) for path in read):
        raise InputError(
            "would be written over, and is one of the files to read",
            path=output,
            expected="another name for the result",
        )


@contextmanager
def atomic_write(path: str | Path, *, binary: bool = False) -> Iterator[IO[Any]]:
    r"""A file that appears under `path` only when the block ends without an error.

    It is written beside its goal under a temporary name, synced, and renamed: a killed run leaves
    either the old file or the new one, never a part. Half a character, as the name of a file may
    hold, is written as ``\udc80``. A link is followed. What is no regular file
    (a pipe, /dev/stdout) is written through, since it cannot be renamed over.

    Raises:
        InputError: The folder does not exist or cannot be written to.
    """
    path = Path(path)
    encoded: dict[str, Any] = {} if binary else {"encoding": "utf-8", "errors": "backslashreplace"}
    if path.is_dir():
        raise InputError("is a folder", path=path, expected="a file to write")
    if path.exists() and not path.is_file():
        with _write_through(path, "wb" if binary else "w", encoded) as file:
            yield file
        return
    path = path.resolve() if path.is_symlink() else path
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise InputError(
            f"cannot be written ({error.strerror})", path=path, hint="Check the folder."
        ) from error
    temporary = Path(name)
    try:
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        with os.fdopen(handle, "wb" if binary else "w", **encoded) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def atomic_folder(path: str | Path) -> Iterator[Path]:
    """A folder to fill that appears under `path` only when the block ends without an error.

    It is made beside its goal under a temporary name and renamed; missing parents are made.
    """
    goal = Path(path)
    goal.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=goal.parent, prefix=f".{goal.name}."))
    try:
        yield temporary
        temporary.chmod(0o755)
        temporary.rename(goal)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


@contextmanager
def _write_through(path: Path, mode: str, encoded: dict[str, Any]) -> Iterator[IO[Any]]:
    try:
        with path.open(mode, **encoded) as file:
            yield file
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror})", path=path) from error


def write_jsonl(path: str | Path, rows: Iterator[dict[str, Any]] | list[dict[str, Any]]) -> None:
    """Writes one JSON object a line, all or nothing."""
    with atomic_write(path) as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
