"""Judgements on disk: the raw logits of every pair ever judged, in one sqlite file.

A pair is written in the transaction that counts it, batch by batch, so a killed run goes on where
it was. Before judging, a process claims a batch; another process on the same machine that shares
the file leaves claimed pairs alone and reads them when they are there. A claim dies with its
process. A damaged row is judged anew and a damaged file set aside, both with a warning; a file of
another program is never touched.
"""

from __future__ import annotations

import os
import re
import sqlite3
import uuid
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from glob import escape
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

from litepyramid.errors import InputError
from litepyramid.judges.base import Items
from litepyramid.judges.cache_file import TAILS, is_cache, open_cache, seal
from litepyramid.text import counted

T = TypeVar("T")

_BUSY_SECONDS = 60.0
_CHUNK = 500
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_FAILURES = (sqlite3.DatabaseError, UnicodeDecodeError)  # it shows damaged names in its messages


class CacheWarning(UserWarning):
    """The cache was damaged and has been set aside, or some of it left out."""


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


def pair_key(premise: str, hypothesis: str) -> bytes:
    """The key of a pair: 20 bytes of BLAKE2b over both texts, the first with its length.

    Example:
        >>> pair_key("ab", "c") == pair_key("a", "bc")
        False
    """
    first = premise.encode("utf-8", "surrogatepass")
    digest = blake2b(len(first).to_bytes(8, "little"), digest_size=20)
    digest.update(first)
    digest.update(hypothesis.encode("utf-8", "surrogatepass"))
    return digest.digest()


def pairs_of(items: Items) -> dict[bytes, tuple[str, str]]:
    """The distinct (summary, unit) pairs of summaries that are not empty, by their keys.

    Example:
        >>> list(pairs_of([("It rained.", ["A", "A"]), (" ", ["A"])]).values())
        [('It rained.', 'A')]
    """
    return {
        pair_key(text, unit): (text, unit)
        for text, units in items
        if text.strip()
        for unit in units
    }


class LogitCache:
    """The sqlite file, or a store in memory that ends with the process.

    Args:
        path: The file, made with its folder if it is not there; None for memory.

    Raises:
        InputError: The file is no cache, or cannot be opened or written to.

    Example:
        >>> with LogitCache(None) as cache:
        ...     key = pair_key("A summary.", "A unit.")
        ...     cache.put("model", {key: StoredLogits(b"0123", False)})
        ...     cache.get("model", [key])[key].raw
        b'0123'
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
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
            self._retry(self._give_back)
            self._leave()
        self._db.close()

    def get(self, identity: str, pairs: Sequence[bytes]) -> dict[bytes, StoredLogits]:
        """Those of `pairs` that the model has judged."""
        return self._retry(lambda: self._get(identity, pairs))

    def put(self, identity: str, results: Mapping[bytes, StoredLogits]) -> None:
        """Keeps judged pairs and gives up their claims, all in one transaction.

        A pair that is there already keeps its first logits, and its count of judgements grows.
        """
        self._retry(lambda: self._put(identity, results))

    def claim(self, identity: str, pairs: Sequence[bytes]) -> list[bytes]:
        """Takes those of `pairs` for this process that are neither judged nor claimed by another.

        The claims of processes that have ended are void.
        """
        if self.path is None:
            return [pair for pair in pairs if pair not in self.get(identity, pairs)]
        return self._retry(lambda: self._claim(identity, pairs))

    def file_digest(self, path: Path, compute: Callable[[Path], str]) -> str:
        """The digest of a large file, computed once per path, size and time of change."""
        return self._retry(lambda: self._file_digest(path.resolve(), compute))

    def models(self) -> list[CacheModel]:
        """What is kept, per model."""
        rows = self._retry(
            lambda: self._db.execute(
                "SELECT identity, COUNT(pair), CAST(COALESCE(SUM(times), 0) AS INTEGER), "
                "CAST(COALESCE(SUM(truncated), 0) AS INTEGER) "
                "FROM models LEFT JOIN logits ON model = id "
                "GROUP BY id ORDER BY identity"
            ).fetchall()
        )
        return [CacheModel(*row) for row in rows]

    def identities(self) -> list[str]:
        """The models judged with, the newest last."""
        query = "SELECT identity FROM models ORDER BY id"
        return [row[0] for row in self._retry(lambda: self._db.execute(query).fetchall())]

    def clear(self) -> int:
        """Forgets every judgement; returns how many pairs there were."""
        return self._retry(self._clear)

    # One method per statement above; each may run twice if the file turns out to be damaged.

    def _get(self, identity: str, pairs: Sequence[bytes]) -> dict[bytes, StoredLogits]:
        found: dict[bytes, StoredLogits] = {}
        row = self._db.execute("SELECT id FROM models WHERE identity = ?", (identity,)).fetchone()
        if row is None:
            return found
        model = row[0]
        broken: list[tuple[int, bytes]] = []
        for chunk in _chunks(pairs):
            marks = ",".join("?" * len(chunk))
            rows = self._db.execute(
                "SELECT pair, logits, truncated, seal FROM logits "
                f"WHERE model = ? AND pair IN ({marks})",
                (model, *chunk),
            )
            for pair, raw, cut, sealed in rows:
                if sealed == seal(identity, pair, raw, cut):
                    found[pair] = StoredLogits(raw, bool(cut))
                else:
                    broken.append((model, pair))
        if broken:
            self._db.executemany("DELETE FROM logits WHERE model = ? AND pair = ?", broken)
            warnings.warn(
                f"the cache {self.path} is damaged: {counted(len(broken), 'judgement')} left out",
                CacheWarning,
                stacklevel=2,
            )
        return found

    def _put(self, identity: str, results: Mapping[bytes, StoredLogits]) -> None:
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

    def _claim(self, identity: str, pairs: Sequence[bytes]) -> list[bytes]:
        self._announce()
        with self._transaction():
            model = self._model(identity)
            taken = set(self._get(identity, pairs))
            living: dict[str, bool] = {self._owner: False}
            for chunk in _chunks(pairs):
                marks = ",".join("?" * len(chunk))
                rows = self._db.execute(
                    f"SELECT pair, owner FROM claims WHERE model = ? AND pair IN ({marks})",
                    (model, *chunk),
                ).fetchall()
                for pair, owner in rows:
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

    def _file_digest(self, path: Path, compute: Callable[[Path], str]) -> str:
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

    def _give_back(self) -> None:
        with self._transaction():
            self._db.execute("DELETE FROM claims WHERE owner = ?", (self._owner,))

    def _clear(self) -> int:
        with self._transaction():
            count = int(self._db.execute("SELECT COUNT(*) FROM logits").fetchone()[0])
            for table in ("logits", "models", "claims", "files"):
                self._db.execute(f"DELETE FROM {table}")
        self._models.clear()
        self._db.execute("VACUUM")
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return count

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

    def _retry(self, operation: Callable[[], T]) -> T:
        try:
            return operation()
        except _FAILURES as error:
            if not _is_damage(error):
                raise self._error(error) from error
            self._db.close()
            self._set_aside(error)
            self._db = self._guarded_open()
        try:
            return operation()
        except _FAILURES as error:
            raise self._error(error) from error

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
        raise InputError("the cache is damaged and cannot be set aside", path=self.path)

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
            f"the cache {self.path} is damaged ({error}); it was set aside as {aside.name} "
            "and a new one begun",
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


def _chunks(pairs: Sequence[bytes]) -> Iterable[Sequence[bytes]]:
    return (pairs[i : i + _CHUNK] for i in range(0, len(pairs), _CHUNK))
