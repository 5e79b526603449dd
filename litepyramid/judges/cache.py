"""Judgements on disk: the raw logits of every pair ever judged, in one sqlite file.

A pair is written in the transaction that counts it, batch by batch, so a killed run continues where
it was. Before judging, a process claims a batch; another process on the same machine that shares
the file leaves claimed pairs alone and reads them when they are there. A claim dies with its
process. A damaged row is judged again and a damaged file renamed, both with a warning; a file of
another program is never touched.
"""

from __future__ import annotations

import os
import re
import sqlite3
import uuid
import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import wraps
from glob import escape
from pathlib import Path
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar

from litepyramid.errors import InputError
from litepyramid.judges.cache_file import TAILS, default_cache_path, is_cache, open_cache, seal
from litepyramid.text import counted

P = ParamSpec("P")
T = TypeVar("T")

_BUSY_SECONDS = 60.0
_CHUNK = 500
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_FAILURES = (sqlite3.DatabaseError, UnicodeDecodeError)  # it shows damaged names in its messages


class CacheWarning(UserWarning):
    """The cache was damaged and has been renamed, or some of it left out."""


@dataclass(frozen=True, slots=True)
class StoredLogits:
    """One judged pair as it is kept.

    Attributes:
        raw: The model's output, float32 in its own class order, as bytes.
        truncated: Whether the summary was cut to fit the maximum length.
    """

    raw: bytes
    truncated: bool


@dataclass(frozen=True, slots=True)
class CacheModel:
    """What the cache holds of one model.

    Attributes:
        identity: The model, maximum length and precision, as JSON.
        pairs: Distinct pairs kept.
        judged: How many times a pair was judged; equal to `pairs` if none was judged twice.
        truncated: Pairs whose summary was cut.
    """

    identity: str
    pairs: int
    judged: int
    truncated: int


def _mended(
    statement: Callable[Concatenate[LogitCache, P], T],
) -> Callable[Concatenate[LogitCache, P], T]:
    """The statement; if the file turns out to be damaged, once more on a new one."""

    @wraps(statement)
    def mended(cache: LogitCache, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return statement(cache, *args, **kwargs)
        except _FAILURES as error:
            cache._begin_anew(error)
        try:
            return statement(cache, *args, **kwargs)
        except _FAILURES as error:
            raise cache._error(error) from error

    return mended


class LogitCache:
    """The sqlite file, or a store in memory that ends with the process.

    Args:
        path: The file, made with its folder if it is not there; ``"default"`` for the user's own
            (`default_cache_path`), None for memory.

    Raises:
        InputError: The file is not a cache, or cannot be opened or written to.

    Example:
        >>> from litepyramid.judges.base import pair_key
        >>> with LogitCache(None) as cache:
        ...     key = pair_key("A summary.", "A unit.")
        ...     cache.put("model", {key: StoredLogits(b"0123", False)})
        ...     cache.get("model", [key])[key].raw
        b'0123'
    """

    def __init__(self, path: Path | Literal["default"] | None) -> None:
        self.path = default_cache_path() if path == "default" else path
        self._models: dict[str, int] = {}
        self._owner = uuid.uuid4().hex
        self._leave: weakref.finalize[..., LogitCache] | None = None
        self._inode: int | None = None
        self._db = self._guarded_open()

    def __enter__(self) -> LogitCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Gives back the claims and closes the file; a second call does nothing."""
        if self._leave is not None and self._leave.alive:
            self._give_back()
            self._leave()
        self._db.close()

    @_mended
    def get(self, identity: str, pairs: Sequence[bytes]) -> dict[bytes, StoredLogits]:
        """Those of `pairs` that the model has judged."""
        return self._get(identity, pairs)

    @_mended
    def put(self, identity: str, results: Mapping[bytes, StoredLogits]) -> None:
        """Keeps judged pairs and gives up their claims, all in one transaction.

        A pair that is there already keeps its first logits, and its count of judgements grows.
        """
        with self._transaction():
            model = self._model(identity)
            self._db.executemany(
                "INSERT INTO logits (model, pair, logits, truncated, seal) VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT (model, pair) DO UPDATE SET times = times + 1",
                [
                    (model, pair, kept.raw, cut, seal(identity, pair, kept.raw, cut))
                    for pair, kept in results.items()
                    for cut in (int(kept.truncated),)
                ],
            )
            self._db.executemany(
                "DELETE FROM claims WHERE model = ? AND pair = ? AND owner = ?",
                [(model, pair, self._owner) for pair in results],
            )

    @_mended
    def claim(self, identity: str, pairs: Sequence[bytes]) -> list[bytes]:
        """Takes those of `pairs` for this process that are neither judged nor claimed by another.

        The claims of processes that have ended are void.
        """
        self._announce()
        with self._transaction():
            model = self._model(identity)
            taken = set(self._get(identity, pairs))
            living: dict[str, bool] = {self._owner: False}
            claims = "SELECT pair, owner FROM claims WHERE model = ? AND pair IN "
            for pair, owner in self._rows(claims, model, pairs):
                if owner not in living:
                    living[owner] = self._lives(owner)
                if living[owner]:
                    taken.add(pair)
            free = [pair for pair in pairs if pair not in taken]
            self._db.executemany(
                "INSERT OR REPLACE INTO claims (model, pair, owner) VALUES (?, ?, ?)",
                [(model, pair, self._owner) for pair in free],
            )
        return free

    @_mended
    def file_digest(self, path: Path, compute: Callable[[Path], str]) -> str:
        """The digest of a large file, computed once per path, size and time of change."""
        path = path.resolve()
        stat = path.stat()
        state = (str(path), stat.st_size, stat.st_mtime_ns)
        row = self._db.execute(
            "SELECT digest, seal FROM files WHERE path = ? AND size = ? AND mtime_ns = ?", state
        ).fetchone()
        if row is not None and row[1] == seal(*state, row[0]):
            return str(row[0])
        digest = compute(path)
        with self._transaction():
            self._db.execute(
                "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?)",
                (*state, digest, seal(*state, digest)),
            )
        return digest

    @_mended
    def models(self) -> list[CacheModel]:
        """What is kept, per model, the newest last."""
        rows = self._db.execute(
            "SELECT identity, COUNT(pair), CAST(COALESCE(SUM(times), 0) AS INTEGER), "
            "CAST(COALESCE(SUM(truncated), 0) AS INTEGER) "
            "FROM models LEFT JOIN logits ON model = id GROUP BY id ORDER BY id"
        )
        return [CacheModel(*row) for row in rows]

    @_mended
    def identities(self) -> list[str]:
        """The models judged with, the newest last."""
        return [row[0] for row in self._db.execute("SELECT identity FROM models ORDER BY id")]

    @_mended
    def clear(self) -> int:
        """Forgets every judgement; returns how many pairs there were."""
        with self._transaction():
            count = int(self._db.execute("SELECT COUNT(*) FROM logits").fetchone()[0])
            for table in ("logits", "models", "claims", "files"):
                self._db.execute(f"DELETE FROM {table}")
        self._models.clear()
        self._db.execute("VACUUM")
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return count

    def _get(self, identity: str, pairs: Sequence[bytes]) -> dict[bytes, StoredLogits]:
        found: dict[bytes, StoredLogits] = {}
        row = self._db.execute("SELECT id FROM models WHERE identity = ?", (identity,)).fetchone()
        if row is None:
            return found
        broken: list[tuple[int, bytes]] = []
        kept = "SELECT pair, logits, truncated, seal FROM logits WHERE model = ? AND pair IN "
        for pair, raw, cut, sealed in self._rows(kept, row[0], pairs):
            if sealed == seal(identity, pair, raw, cut):
                found[pair] = StoredLogits(raw, bool(cut))
            else:
                broken.append((row[0], pair))
        if broken:
            self._db.executemany("DELETE FROM logits WHERE model = ? AND pair = ?", broken)
            warnings.warn(
                f"the cache {self.path} is damaged: {counted(len(broken), 'judgement')} left out",
                CacheWarning,
                stacklevel=2,
            )
        return found

    def _rows(self, query: str, model: int, pairs: Sequence[bytes]) -> Iterator[tuple[Any, ...]]:
        for start in range(0, len(pairs), _CHUNK):
            chunk = pairs[start : start + _CHUNK]
            marks = ",".join("?" * len(chunk))
            yield from self._db.execute(f"{query} ({marks})", (model, *chunk))

    @_mended
    def _give_back(self) -> None:
        with self._transaction():
            self._db.execute("DELETE FROM claims WHERE owner = ?", (self._owner,))

    def _model(self, identity: str) -> int:
        if identity not in self._models:
            self._db.execute("INSERT OR IGNORE INTO models (identity) VALUES (?)", (identity,))
            row = self._db.execute("SELECT id FROM models WHERE identity = ?", (identity,))
            found = row.fetchone()
            if found is None or not isinstance(found[0], int):
                error = sqlite3.DatabaseError("a model without a number")
                error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
                raise error
            self._models[identity] = found[0]
        return self._models[identity]

    # Opening, damage, and who is alive.

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._models.clear()
            self._db.rollback()
            raise
        self._db.execute("COMMIT")

    def _begin_anew(self, error: Exception) -> None:
        if not _is_damage(error):
            raise self._error(error) from error
        self._db.close()
        self._set_aside(error)
        self._db = self._guarded_open()

    def _guarded_open(self) -> sqlite3.Connection:
        for _ in range(3):
            try:
                return self._open()
            except _FAILURES as error:
                if self.path is None or not _is_damage(error):
                    raise self._error(error) from error
                self._set_aside(error)
            except OSError as error:
                raise InputError(
                    f"the cache cannot be made ({error.strerror})",
                    path=self.path,
                    hint="Name another file with --cache, or use --no-cache.",
                ) from error
        raise InputError("the cache is damaged and cannot be renamed", path=self.path)

    def _open(self) -> sqlite3.Connection:
        self._models.clear()
        self._inode = _inode(self.path)
        db = open_cache(self.path, _BUSY_SECONDS)
        self._inode = _inode(self.path)
        return db

    def _set_aside(self, error: Exception) -> None:
        if self.path is None:
            raise self._error(error) from error
        if _inode(self.path) != self._inode or not is_cache(self.path):
            return  # another process has done it
        number = 1
        while (aside := self.path.with_name(f"{self.path.name}.damaged-{number}")).exists():
            number += 1
        for tail in ("", *TAILS):
            with suppress(FileNotFoundError):
                self.path.with_name(self.path.name + tail).replace(f"{aside}{tail}")
        warnings.warn(
            f"the cache {self.path} is damaged ({error}); it was renamed to {aside.name} "
            "and a new one started",
            CacheWarning,
            stacklevel=2,
        )

    def _error(self, error: Exception) -> InputError:
        return InputError(
            f"the cache cannot be used ({error})",
            path=self.path,
            hint="Name another file with --cache, or use --no-cache.",
        )

    def _owner_file(self, owner: str) -> Path:
        path = self.path or Path()
        return path.with_name(f"{path.name}-run-{owner}")

    def _announce(self) -> None:
        """Holds a lock that the system takes away when this process ends, however it ends.

        The files of processes that were killed are removed.
        """
        if self._leave is None and self.path is not None:
            file = self._owner_file(self._owner)
            alive = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
            alive.execute("BEGIN EXCLUSIVE")
            self._leave = weakref.finalize(self, _end, alive, file, os.getpid())
            for other in self.path.parent.glob(f"{escape(self.path.name)}-run-*"):
                owner = other.name.rpartition("-run-")[2]
                mine = re.fullmatch("[0-9a-f]{32}", owner) and not other.stat().st_size
                if mine and owner != self._owner and not self._lives(owner):
                    other.unlink(missing_ok=True)

    def _lives(self, owner: str) -> bool:
        file = self._owner_file(owner)
        if not file.exists():
            return False
        probe = sqlite3.connect(file, timeout=0, isolation_level=None)
        try:
            probe.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            return True
        finally:
            probe.close()
        return False


def _end(alive: sqlite3.Connection, file: Path, process: int) -> None:
    """Ends a process's claims; a copy of the process that was forked off ends nothing."""
    if os.getpid() == process:
        alive.close()
        file.unlink(missing_ok=True)


def _is_damage(error: Exception) -> bool:
    code = getattr(error, "sqlite_errorcode", None)
    return isinstance(error, UnicodeDecodeError) or (code is not None and code & 0xFF in _DAMAGED)


def _inode(path: Path | None) -> int | None:
    return path.stat().st_ino if path is not None and path.exists() else None
