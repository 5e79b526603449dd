"""Judgements on disk: the raw logits of every pair ever judged, in one sqlite file.

A pair is written in the transaction that counts it, batch by batch, so a killed run goes on where
it was. Before judging, a process claims a batch; another process on the same machine that shares
the file leaves claimed pairs alone and reads them when they are there. A claim dies with its
process. A damaged file is set aside with a warning.
"""

from __future__ import annotations

import sqlite3
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

from litepyramid.errors import InputError

T = TypeVar("T")

_VERSION = 1
_APPLICATION = 0x4C505952  # "LPYR"
_BUSY_SECONDS = 60.0
_CHUNK = 500
_SUFFIXES = {".sqlite", ".sqlite3", ".db"}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}

_SCHEMA = """
CREATE TABLE IF NOT EXISTS models (
    id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE
);
CREATE TABLE IF NOT EXISTS logits (
    model INTEGER NOT NULL, pair BLOB NOT NULL, logits BLOB NOT NULL,
    truncated INTEGER NOT NULL, times INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (model, pair)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS claims (
    model INTEGER NOT NULL, pair BLOB NOT NULL, owner TEXT NOT NULL,
    PRIMARY KEY (model, pair)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS files (
    path TEXT PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, digest TEXT NOT NULL
);
"""


class CacheWarning(UserWarning):
    """The cache was damaged and has been set aside."""


def is_sqlite(path: Path) -> bool:
    """Whether a file begins as SQLite's do."""
    with path.open("rb") as file:
        return file.read(16) == b"SQLite format 3\0"


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


class LogitCache:
    """The sqlite file, or a store in memory that ends with the process.

    Args:
        path: The file, made with its folder if it is not there; None for memory.

    Raises:
        InputError: The file cannot be opened or written to.

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
        self._alive: sqlite3.Connection | None = None
        self._inode: int | None = None
        self._db = self._guarded_open()

    def __enter__(self) -> LogitCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Gives back the claims and closes the file; a second call does nothing."""
        if self._alive is not None:
            with self._transaction():
                self._db.execute("DELETE FROM claims WHERE owner = ?", (self._owner,))
            self._alive.close()
            self._alive = None
            self._owner_file(self._owner).unlink(missing_ok=True)
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
                "SELECT identity, COUNT(pair), COALESCE(SUM(times), 0), "
                "COALESCE(SUM(truncated), 0) FROM models LEFT JOIN logits ON model = id "
                "GROUP BY id ORDER BY identity"
            ).fetchall()
        )
        return [CacheModel(*row) for row in rows]

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
        for chunk in _chunks(pairs):
            marks = ",".join("?" * len(chunk))
            rows = self._db.execute(
                f"SELECT pair, logits, truncated FROM logits WHERE model = ? AND pair IN ({marks})",
                (model, *chunk),
            )
            found.update({pair: StoredLogits(raw, bool(cut)) for pair, raw, cut in rows})
        return found

    def _put(self, identity: str, results: Mapping[bytes, StoredLogits]) -> None:
        with self._transaction():
            model = self._model(identity)
            self._db.executemany(
                "INSERT INTO logits (model, pair, logits, truncated) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (model, pair) DO UPDATE SET times = times + 1",
                [(model, pair, kept.raw, kept.truncated) for pair, kept in results.items()],
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
        for owner, alive in living.items():
            if not alive and owner != self._owner:
                self._owner_file(owner).unlink(missing_ok=True)
        return free

    def _file_digest(self, path: Path, compute: Callable[[Path], str]) -> str:
        stat = path.stat()
        state = (stat.st_size, stat.st_mtime_ns)
        row = self._db.execute(
            "SELECT digest FROM files WHERE path = ? AND size = ? AND mtime_ns = ?",
            (str(path), *state),
        ).fetchone()
        if row is not None:
            return str(row[0])
        digest = compute(path)
        with self._transaction():
            self._db.execute(
                "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?)", (str(path), *state, digest)
            )
        return digest

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
            self._models[identity] = int(row.fetchone()[0])
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
        except sqlite3.DatabaseError as error:
            if not _is_damage(error):
                raise self._error(error) from error
            self._db.close()
            self._set_aside(error)
            self._db = self._guarded_open()
        try:
            return operation()
        except sqlite3.DatabaseError as error:
            raise self._error(error) from error

    def _guarded_open(self) -> sqlite3.Connection:
        for _ in range(3):
            try:
                return self._open()
            except sqlite3.DatabaseError as error:
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
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(
            ":memory:" if self.path is None else self.path,
            timeout=_BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute("BEGIN IMMEDIATE")
            version = db.execute("PRAGMA user_version").fetchone()[0]
            application = db.execute("PRAGMA application_id").fetchone()[0]
            empty = not db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
            if not empty and (application, version) != (_APPLICATION, _VERSION):
                db.execute("ROLLBACK")
                raise InputError(
                    "is an sqlite file, but not a cache of this version",
                    path=self.path,
                    hint="Name another file with --cache or LITEPYRAMID_CACHE.",
                )
            if empty:
                for statement in _SCHEMA.split(";"):
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {_VERSION}")
                db.execute(f"PRAGMA application_id = {_APPLICATION}")
            db.execute("COMMIT")
            self._inode = None if self.path is None else self.path.stat().st_ino
        except BaseException:
            self._inode = _inode(self.path)
            db.close()
            raise
        return db

    def _set_aside(self, error: sqlite3.DatabaseError) -> None:
        if self.path is None:
            raise self._error(error) from error
        if _inode(self.path) != self._inode:
            return  # another process has done it
        if self.path.suffix not in _SUFFIXES and not is_sqlite(self.path):
            raise InputError(
                "is no judgement cache",
                path=self.path,
                expected="a cache, or a file of a new name",
            )
        number = 1
        while (aside := self.path.with_name(f"{self.path.name}.damaged-{number}")).exists():
            number += 1
        self.path.replace(aside)
        for tail in ("-wal", "-shm"):
            self.path.with_name(self.path.name + tail).unlink(missing_ok=True)
        warnings.warn(
            f"the cache {self.path} is damaged ({error}); it was set aside as {aside.name} "
            "and a new one begun",
            CacheWarning,
            stacklevel=2,
        )

    def _error(self, error: sqlite3.Error) -> InputError:
        return InputError(
            f"the cache cannot be used ({error})",
            path=self.path,
            hint="Name another file with --cache, or use --no-cache.",
        )

    def _owner_file(self, owner: str) -> Path:
        path = self.path or Path()
        return path.with_name(f"{path.name}-run-{owner}")

    def _announce(self) -> None:
        """Holds a lock that the system takes away when this process ends, however it ends."""
        if self._alive is None:
            self._alive = sqlite3.connect(
                self._owner_file(self._owner), isolation_level=None, check_same_thread=False
            )
            self._alive.execute("BEGIN EXCLUSIVE")

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


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in _DAMAGED


def _inode(path: Path | None) -> int | None:
    return path.stat().st_ino if path is not None and path.exists() else None


def _chunks(pairs: Sequence[bytes]) -> Iterable[Sequence[bytes]]:
    return (pairs[i : i + _CHUNK] for i in range(0, len(pairs), _CHUNK))
