"""Writing: all or nothing, through no link, over nothing that litepyramid did not make.

A file that is there is replaced only if it says of itself that litepyramid made it:
JSON, LaTeX, Markdown, pages and pictures do, in their first lines or their metadata;
tables (``.csv``), lines and texts cannot.
"""

import gzip
import json
import os
import re
import shutil
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import IO, Any

from litepyramid.errors import InputError
from litepyramid.files import ending, file_type
from litepyramid.types import Fields

_LONGEST_NAME = 200
_SEEN = 4096  # bytes at either end of a file, in which it says who made it
_MADE = {
    ".json": rb'\A\{\s*"made_by": "litepyramid',
    ".tex": rb"\A% Made by litepyramid",
    ".md": rb"\A<!-- Made by litepyramid",
    ".html": rb'<meta name="generator" content="litepyramid',
    ".svg": rb"<dc:title>litepyramid \d",
    ".png": rb"tEXtSoftware\0litepyramid \d",
    ".pdf": rb"/Creator \(litepyramid \d",
}
"""By ending what stands in a file that litepyramid made."""


def is_ours(path: Path) -> bool:
    """Whether a file says of itself that litepyramid made it."""
    mark = _MADE.get(ending(path))
    if mark is None:
        return False
    opened: Any = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opened(path, "rb") as file:
            start = file.read(_SEEN)
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _SEEN))
            end = file.read()
    except (OSError, EOFError):
        return False
    return bool(re.search(mark, start) or re.search(mark, end))


def check_output(output: str | Path, *, force: bool = False) -> None:
    """Checks before the work that a result can be written there."""
    output = Path(output)
    # What cannot be written is known before hours of judging, not after them.
    with writing(output):
        kind = _checked_goal(output, force)
        folder = next(p for p in output.absolute().parents if p.exists())
        if file_type(folder) != "folder":
            raise InputError("is not a folder", path=folder)
    if not os.access(output if kind == "other" else folder, os.W_OK):
        raise InputError("cannot be written (no permission)", path=output)


def check_outputs(outputs: Sequence[str | Path], inputs: Sequence[str | Path]) -> None:
    """Checks that no file is written twice, and none is read, however its name is
    spelled; nothing is written into a folder that is read."""
    seen: dict[Any, Path] = {}
    for output in map(Path, outputs):
        if file_type(output) == "other":
            continue  # a pipe takes whatever comes

        key = _identity(output) or os.path.normcase(output.resolve())
        first = seen.setdefault(key, output)
        if first is not output:
            raise InputError(
                f"is the same file as '{first}'", path=output, expected="two files"
            )

        above = {_identity(folder) for folder in output.absolute().parents}
        for one in map(Path, inputs):
            identity = _identity(one)
            inside = file_type(one) == "folder" and identity in above
            if identity is not None and (identity == key or inside):
                raise InputError(
                    f"is read by this command ('{one}')",
                    path=output,
                    expected="another name for the result",
                )


def _checked_goal(path: Path, force: bool) -> str | None:
    """The `file_type` of a path that can be written: new, ours or forced, and no
    link."""
    kind = file_type(path)
    if kind == "folder":
        raise InputError("is a folder", path=path, expected="a file to write")
    if kind != "other" and path.is_symlink():
        raise InputError("is a link", path=path, hint="Name the file it leads to.")
    if kind == "file" and path.stat().st_size and not (force or is_ours(path)):
        raise InputError(
            "would be overwritten, and does not say that litepyramid made it",
            path=path,
            expected="a new name",
            hint="To replace it all the same: --force (in Python force=True).",
        )
    return kind


def _identity(path: Path) -> tuple[int, int] | None:
    """Device and inode: the same for each name of a file; None if there is none."""
    try:
        entry = path.stat()
    except (OSError, ValueError):
        return None
    return entry.st_dev, entry.st_ino


def write(
    path: str | Path, pieces: Iterable[str | bytes], *, force: bool = False
) -> None:
    """Writes a file, all or nothing; what is there only if it is ours, or forced.

    It is compressed where the name ends in ``.gz``, the same content to the same bytes.
    Pipes and terminals are written through.
    """
    path = Path(path)
    kind = _checked_goal(path, force)
    with writing(path):
        # A pipe or a terminal cannot be renamed: it is written as it comes.
        if kind == "other":
            with path.open("wb") as file:
                file.writelines(map(_encoded, pieces))
            return

        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = _unfinished(path)
        try:
            with temporary.open("xb") as file:
                _fill(file, pieces, compressed=path.suffix.lower() == ".gz")
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def _fill(file: IO[bytes], pieces: Iterable[str | bytes], *, compressed: bool) -> None:
    """Writes the pieces into an open file."""
    if not compressed:
        file.writelines(map(_encoded, pieces))
        return
    # Without a date: equal contents, equal bytes.
    with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
        for piece in pieces:
            packed.write(_encoded(piece))


def _encoded(piece: str | bytes) -> bytes:
    # A lone surrogate cannot be written otherwise.
    if isinstance(piece, str):
        return piece.encode("utf-8", "backslashreplace")
    return piece


def write_json(path: str | Path, value: Any, *, force: bool = False) -> None:
    """Writes a JSON value, indented."""
    text = json.dumps(value, ensure_ascii=False, indent=1)
    write(path, [text, "\n"], force=force)


def write_jsonl(
    path: str | Path, rows: Iterable[Fields], *, force: bool = False
) -> None:
    """Writes one JSON object per line."""
    write(path, jsonl(rows), force=force)


def jsonl(rows: Iterable[Fields]) -> Iterator[str]:
    """One line of JSON for each row."""
    return (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


@contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Turns whatever prevents writing (a full disk, no permission …) into one clear
    error."""
    try:
        yield
    except OSError as error:
        hint = "Check the path, your permissions there, and the free space."
        what = f"cannot be written ({error.strerror or error})"
        raise InputError(what, path=path, hint=hint) from error


# Folders
# ------------------------------------------------------------------------------------


@contextmanager
def new_folder(path: str | Path) -> Iterator[Path]:
    """A folder to fill that appears under `path` only when the block ends without an
    error."""
    goal = Path(path)
    with writing(goal):
        check_new_folder(goal)
        temporary = _unfinished(goal)
        temporary.mkdir(parents=True)
        try:
            yield temporary
            # Somebody may have filled it while this was made.
            check_new_folder(goal)
            temporary.rename(goal)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise


def _unfinished(goal: Path) -> Path:
    return goal.parent / f".litepyramid-{token_hex(8)}"


def check_new_folder(path: str | Path) -> None:
    """Raises InputError unless nothing is there, or a folder that is empty."""
    goal = Path(path)
    empty = (
        file_type(goal) == "folder"
        and not goal.is_symlink()
        and not any(goal.iterdir())
    )
    if not empty and (file_type(goal) is not None or goal.is_symlink()):
        raise InputError("already exists", path=goal, expected="a new or empty folder")


def check_names(names: Iterable[str]) -> None:
    """Checks that each system's name can be a separate file, inside its folder, on any
    disk."""
    seen: dict[str, str] = {}
    for name in names:
        # Some disks know neither case nor how an accent is composed.
        decomposed = unicodedata.normalize("NFD", name).casefold()
        plain = unicodedata.normalize("NFD", decomposed)
        twin = seen.setdefault(plain, name)
        bad = any(c in "/\\" or unicodedata.category(c) in ("Cc", "Cs") for c in name)

        if bad or name[:1] in ("", ".") or len(name.encode()) > _LONGEST_NAME:
            expected = (
                f"at most {_LONGEST_NAME} bytes, without / or \\, not a dot first"
            )
            problem = f"system {name!a} cannot name a file"
            raise InputError(problem, expected=expected, hint="Rename it.")

        if twin != name:
            problem = f"systems {name!a} and {twin!a} would be the same file"
            raise InputError(problem, hint="Rename one.")


@contextmanager
def locked(path: str | Path) -> Iterator[None]:
    """Keeps other processes off a file or folder that is there, however this one
    ends; InputError while one of them keeps this one off."""
    try:
        import fcntl
    except ModuleNotFoundError:  # Windows has no such locks
        yield
        return

    with writing(path):
        handle = os.open(path, os.O_RDONLY)

    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            hint = "Wait until it ends, or name another place."
            raise InputError(
                "is in use by another process", path=path, hint=hint
            ) from None
        except OSError:
            pass  # a disk without locks
        yield
    finally:
        os.close(handle)
