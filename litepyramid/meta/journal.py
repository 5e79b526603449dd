"""A long run's finished pieces on disk, so that a stopped run goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np

from litepyramid.errors import InputError
from litepyramid.io.files import read_jsonl
from litepyramid.text import counted


def piece_rng(seed: int, *names: str) -> np.random.Generator:
    """The generator of one piece of a run: it depends on the seed and the piece's names alone.

    Raises:
        InputError: The seed is negative.

    Example:
        >>> piece_rng(1, "input 7").random() == piece_rng(1, "input 7").random()
        True
    """
    if seed < 0:
        raise InputError(f"seed {seed}", expected="0 or more")
    words = [len(names)]
    for name in names:
        data = name.encode()
        words += [len(data), *data]
    return np.random.default_rng([seed, *words])


class Journal:
    r"""An append-only JSON Lines file: the settings on its first line, then one piece a line.

    Each piece must depend only on the settings and on its own key, not on those before it (give
    each its own generator, see `piece_rng`): then a run stopped and resumed any number of times
    ends with the same numbers. A last line cut short by a kill is dropped.

    Args:
        path: The file; None keeps everything in memory alone.
        settings: What the pieces depend on, as plain JSON values.

    Attributes:
        done: Key to value of every finished piece.

    Raises:
        InputError: The file was begun with other settings, or is something else.

    Example:
        >>> with Journal(None, {"seed": 1}) as journal:
        ...     journal.add("trial 1", [0.5])
        >>> journal.done
        {'trial 1': [0.5]}
    """

    def __init__(self, path: str | Path | None, settings: Mapping[str, Any]) -> None:
        self.done: dict[str, Any] = {}
        self._file: IO[str] | None = None
        if path is None:
            return
        path = Path(path)
        wanted = json.loads(json.dumps(dict(settings)))
        if path.exists() and path.stat().st_size:
            self._read(path, wanted)
            self._file = path.open("a", encoding="utf-8")
            return
        try:
            self._file = path.open("w", encoding="utf-8")
        except OSError as error:
            raise InputError(f"cannot be written ({error.strerror})", path=path) from error
        self._write({"settings": wanted})

    def _read(self, path: Path, wanted: dict[str, Any]) -> None:
        data = path.read_bytes()
        if not data.endswith(b"\n"):
            with path.open("rb+") as file:
                file.truncate(data.rfind(b"\n") + 1)
            if b"\n" not in data:
                raise InputError("is not the journal of a run", path=path, hint=_OTHER)
        rows = read_jsonl(path)
        found = rows[0][1].get("settings")
        if not isinstance(found, dict):
            raise InputError("is not the journal of a run", path=path, line=1, hint=_OTHER)
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
        for line, row in rows[1:]:
            if "key" not in row or "value" not in row:
                raise InputError("is not a piece of a run", path=path, line=line, hint=_OTHER)
            self.done[row["key"]] = row["value"]

    def add(self, key: str, value: Any) -> None:
        """Keeps a finished piece; `value` must be plain JSON."""
        self.done[key] = value
        self._write({"key": key, "value": value})

    def _write(self, row: dict[str, Any]) -> None:
        if self._file is not None:
            self._file.write(json.dumps(row, ensure_ascii=False) + "\n")
            self._file.flush()

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self._file.close()
            if isinstance(error, KeyboardInterrupt):
                kept = counted(len(self.done), "finished part")
                error.add_note(f"{kept} kept in {self._file.name}")


_OTHER = "Give another file, or remove this one to begin anew."
