"""A long run's finished pieces on disk, so that a stopped run can continue."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

from litepyramid.errors import InputError
from litepyramid.files import file_type, locked, writing
from litepyramid.text import counted


class Journal:
    r"""An append-only JSON Lines file: the settings on its first line, then one piece a line.

    Each piece must depend only on the settings and on its own key, not on those before it: then a
    run stopped and resumed any number of times ends with the same numbers. A last line cut short by
    a kill is dropped; a file that is not the journal of this very run is left as it is.

    Args:
        path: The file; None keeps everything in memory alone.
        settings: What the pieces depend on, as plain JSON values.

    Attributes:
        done: Key to value of every finished piece.

    Raises:
        InputError: The file was begun with other settings, is something else or damaged, is in use
            by another process, or cannot be written.

    Example:
        >>> with Journal(None, {"seed": 1}) as journal:
        ...     journal.add("trial 1", [0.5])
        >>> journal.done
        {'trial 1': [0.5]}
    """

    def __init__(self, path: str | Path | None, settings: Mapping[str, Any]) -> None:
        self.done: dict[str, Any] = {}
        self._path = None if path is None else Path(path)
        self._held = ExitStack()
        if self._path is None:
            return
        if file_type(self._path) not in ("file", None):
            raise InputError("is not a file", path=self._path, expected="a journal, or a new file")
        with self._held as held:
            with writing(self._path):
                self._file = held.enter_context(self._path.open("a+b"))
            held.enter_context(locked(self._path))
            self._read(self._path, _line({"settings": dict(settings)}))
            self._held = held.pop_all()

    def _read(self, path: Path, head: bytes) -> None:
        """Reads what is kept; only what is a journal of this run is changed, by cutting its end."""
        self._file.seek(0)
        first = self._file.readline(_LONGEST)
        if first != head and head.startswith(first) and not self._file.read(1):
            self._file.truncate(0)  # new, or stopped while it was begun
            self._write(head)
            return
        found = _parsed(first).get("settings")
        if not isinstance(found, dict):
            raise InputError("is not the journal of a run", path=path, line=1, hint=_OTHER)
        wanted = json.loads(head)["settings"]
        differing = [
            f"{key} {found.get(key)!r} there, {wanted.get(key)!r} here"
            for key in sorted(found.keys() | wanted.keys())
            if found.get(key) != wanted.get(key)
        ]
        if differing:
            raise InputError(
                f"is the journal of a run with other settings ({'; '.join(differing)})",
                path=path,
                line=1,
                hint=_OTHER,
            )
        whole = len(first)
        for number, line in enumerate(self._file, start=2):
            if not line.endswith(b"\n"):
                break
            row = _parsed(line)
            key, value = row.get("key"), row.get("value")
            if not isinstance(key, str) or row.get("check") != _check(key, value):
                raise InputError("is not a piece of a run", path=path, line=number, hint=_OTHER)
            self.done[key] = value
            whole += len(line)
        self._file.truncate(whole)

    def add(self, key: str, value: Any) -> None:
        """Keeps a finished piece; `value` must be plain JSON."""
        self.done[key] = value
        self._write(_line({"key": key, "value": value, "check": _check(key, value)}))

    def _write(self, line: bytes) -> None:
        if self._path is not None:
            with writing(self._path):
                self._file.write(line)
                self._file.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        with writing(self._path or ""):
            self._held.close()
        if self._path is not None and isinstance(error, KeyboardInterrupt):
            error.add_note(f"{counted(len(self.done), 'finished part')} kept in {self._path}")


def _line(row: Mapping[str, Any]) -> bytes:
    return json.dumps(row).encode() + b"\n"


def _parsed(line: bytes) -> dict[str, Any]:
    """The object of a whole line; empty if it is none."""
    try:
        row = json.loads(line) if line.endswith(b"\n") else None
    except (ValueError, RecursionError):
        row = None
    return row if isinstance(row, dict) else {}


def _check(key: str, value: Any) -> str:
    return sha256(_line({key: value})).hexdigest()[:12]


_LONGEST = 1 << 20
_OTHER = "Name another place, or remove this file to start over."
