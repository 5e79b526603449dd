"""Judgements on disk: every pair ever judged, with the model's raw output, in one
sqlite file.

Pairs are written batch by batch, so a run that was killed continues where it was. Of
processes that share the file the first judgement of a pair stays. Each row has a
checksum: a damaged one is judged again, with a warning. A file of another program is
never touched.
"""

import json
import os
import sqlite3
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from errno import ENOSPC
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

from litepyramid.errors import InputError, choose
from litepyramid.files import file_type
from litepyramid.judges.base import Closing
from litepyramid.tables import Column, Result, Table
from litepyramid.text import counted, cut

_NAME = "judgements.sqlite"
_VERSION = 4
# "LPYR", in the head of the file: by this mark alone a file is known as ours.
_APPLICATION = 0x4C505952
_CHUNK = 500  # older sqlite takes at most 999 values in one request
_HINT = "Name another file with the setting cache, or with LITEPYRAMID_CACHE."
# The log of a full disk cannot be made longer, nor the file beside it.
_FULL = (
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR_WRITE,
    sqlite3.SQLITE_IOERR_SHMSIZE,
)
_SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS models (identity TEXT PRIMARY KEY, model INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS judgements (
    model INTEGER NOT NULL, pair BLOB NOT NULL, value BLOB NOT NULL,
    truncated INTEGER NOT NULL, checksum BLOB NOT NULL, PRIMARY KEY (model, pair)
) WITHOUT ROWID;
PRAGMA user_version = {_VERSION};
PRAGMA application_id = {_APPLICATION};
COMMIT;
"""


class CacheWarning(UserWarning):
    """Some of the cache was damaged and has been left out."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A judged pair: the model's raw output, or an answer's grade; whether the summary
    was cut."""

    value: bytes
    truncated: bool = False


class JudgementCache(Closing):
    """The sqlite file (``"default"`` is the user's own), or a store in memory if that
    is None, or ``"none"``."""

    def __init__(self, path: str | Path | None) -> None:
        self.path = _file_of(path)
        with _errors(self.path):
            self._db = _open(self.path)

    def close(self) -> None:
        """Closes the file; a second call does nothing."""
        self._db.close()

    def get(self, identity: str, pairs: Sequence[bytes]) -> dict[bytes, Stored]:
        """Those of `pairs` that the model of this identity has judged."""
        stored = {}
        damaged = []
        model = _number(identity)

        with _errors(self.path):
            for start in range(0, len(pairs), _CHUNK):
                chunk = pairs[start : start + _CHUNK]
                rows = self._db.execute(
                    "SELECT pair, value, truncated, checksum FROM judgements "
                    f"WHERE model = ? AND pair IN ({','.join('?' * len(chunk))})",
                    (model, *chunk),
                )
                for pair, value, truncated, checksum in rows:
                    if checksum == _checksum(identity, pair, value, truncated):
                        stored[pair] = Stored(value, bool(truncated))
                    else:
                        damaged.append((model, pair))

        # Removed, so that the new judgement can take its place (INSERT OR IGNORE).
        if damaged:
            with self._transaction():
                self._db.executemany(
                    "DELETE FROM judgements WHERE model = ? AND pair = ?", damaged
                )
            warnings.warn(
                f"the cache {self.path} is damaged: "
                f"{counted(len(damaged), 'judgement')} left out",
                CacheWarning,
                stacklevel=2,
            )

        return stored

    def put(self, identity: str, rows: Mapping[bytes, Stored]) -> None:
        """Writes judged pairs in one transaction; a pair that is there already stays as
        it is."""
        model = _number(identity)
        values = []
        for pair, row in rows.items():
            fields = pair, row.value, int(row.truncated)
            values.append((model, *fields, _checksum(identity, *fields)))

        with self._transaction():
            self._db.execute(
                "INSERT OR IGNORE INTO models VALUES (?, ?)", (identity, model)
            )
            self._db.executemany(
                "INSERT OR IGNORE INTO judgements VALUES (?, ?, ?, ?, ?)", values
            )

    def identities(self) -> list[str]:
        """The models judged with, the newest last."""
        with _errors(self.path):
            rows = self._db.execute("SELECT identity FROM models ORDER BY rowid")
            return [identity for (identity,) in rows]

    def counts(self) -> list[tuple[str, int, int]]:
        """Per model its identity, its pairs, and those of them whose summary was
        cut."""
        with _errors(self.path):
            rows = self._db.execute(
                "SELECT identity, COUNT(pair), COALESCE(SUM(truncated), 0) "
                "FROM models LEFT JOIN judgements USING (model) GROUP BY identity "
                "ORDER BY identity"
            )
            return list(rows)

    def clear(self) -> int:
        """Removes every judgement; returns how many pairs there were."""
        with self._transaction():
            count = self._db.execute("DELETE FROM judgements").rowcount
            self._db.execute("DELETE FROM models")
        # Rows that are deleted leave the file as large as it was.
        with _errors(self.path):
            self._db.execute("VACUUM")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return count

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with _errors(self.path), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            yield


@contextmanager
def _errors(path: Path | None) -> Iterator[None]:
    """Turns what sqlite and the system raise into one error."""
    try:
        yield
    # Damaged names do not decode.
    except (sqlite3.Error, UnicodeDecodeError, OSError) as error:
        code = getattr(error, "sqlite_errorcode", None)
        full = code in _FULL or getattr(error, "errno", None) == ENOSPC
        advice = "Make room on its disk." if full else "If it is damaged, delete it."
        raise InputError(
            f"the cache cannot be used ({getattr(error, 'strerror', None) or error})",
            path=path,
            hint=f"{advice} {_HINT}",
        ) from error


def _file_of(path: str | Path | None) -> Path | None:
    if path in (None, "none"):
        return None
    if path != "default":
        return Path(path)

    file = user_cache()
    there = next(one for one in (file, *file.absolute().parents) if file_type(one))
    # A home that is a file holds no folder.
    can_hold = there == file or file_type(there) == "folder"
    if "LITEPYRAMID_CACHE" in os.environ or (can_hold and os.access(there, os.W_OK)):
        return file
    # Nobody asked for it: where it cannot be kept, what was judged is forgotten.
    warnings.warn(f"no judgement is kept: {there} cannot be written", CacheWarning, 2)
    return None


def check_cache(path: str | Path | None) -> None:
    """Raises InputError if what a judge is told to keep its judgements in is no
    cache."""
    if (file := _file_of(path)) is not None:
        _is_cache(file)


def user_cache() -> Path:
    """``LITEPYRAMID_CACHE``, or a file in it if it is a folder; else one in the user's
    cache folder, as the system has it."""
    if path := os.environ.get("LITEPYRAMID_CACHE"):
        chosen = Path(path).expanduser()
        return chosen / _NAME if file_type(chosen) == "folder" else chosen
    system = os.environ.get(
        "LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME"
    )
    return Path(system or Path.home() / ".cache") / "litepyramid" / _NAME


def _is_cache(path: Path) -> bool:
    """Whether there is a cache at `path`, by its mark; False if there is no file or an
    empty one.

    sqlite reads the mark: a process that opens and closes the file in another way drops
    the locks that sqlite holds on it (POSIX), and another process may then remove the
    log in use.
    """
    problem = "is not a file"
    mark = None
    if file_type(path) not in ("folder", "other"):
        with _errors(path):
            if not path.exists() or not path.stat().st_size:
                return False
            db = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True
            )
            try:
                mark = db.execute("PRAGMA application_id").fetchone()[0]
            # Operational: it cannot be read now. Else it is no database at all.
            except sqlite3.OperationalError:
                raise
            except sqlite3.DatabaseError:
                pass
            finally:
                db.close()

        problem = "is not a judgement cache, or one that is damaged at its beginning"

    if mark == _APPLICATION:
        return True
    raise InputError(
        problem,
        path=path,
        expected="a cache, or a new file name",
        hint=_HINT,
    )


def _open(path: Path | None) -> sqlite3.Connection:
    exists = path is not None and _is_cache(path)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
    db = sqlite3.connect(
        path or ":memory:",
        timeout=60.0,
        isolation_level=None,
        check_same_thread=False,
    )

    try:
        if not exists:
            db.executescript(_SCHEMA)
            # Another process may do it at this moment.
            with suppress(sqlite3.OperationalError):
                db.execute("PRAGMA journal_mode = WAL")
        # With a log that is enough: a crash of the machine may lose the last batch,
        # which is judged again, and damages nothing.
        db.execute("PRAGMA synchronous = NORMAL")
        if db.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
            raise InputError("is a cache of another version", path=path, hint=_HINT)
    except BaseException:
        db.close()
        raise

    return db


def _checksum(*fields: object) -> bytes:
    """Eight bytes that reveal a damaged row, or number a model."""
    return blake2b(repr(fields).encode(errors="surrogatepass"), digest_size=8).digest()


def _number(identity: str) -> int:
    return int.from_bytes(_checksum(identity), "big", signed=True)


@dataclass(frozen=True)
class CacheResult(Result):
    """A cache's file, its size, and the pairs of each model in it, and those `removed`,
    if any."""

    path: Path
    bytes: int
    models: tuple[Mapping[str, Any], ...] = ()
    removed: int | None = None

    def to_tables(self) -> Sequence[Table]:
        """One row per model."""
        columns = (
            "model",
            Column("max_length", "max length"),
            "dtype",
            "pairs",
            Column("truncated", "cut"),
        )
        size = f"{self.bytes / 1e6:.1f} MB" if self.bytes else "none"
        notes = [f"{self.path} ({size})"]
        if self.removed is not None:
            notes.append(f"{counted(self.removed, 'judgement')} removed")
        empty = {**_described(""), "model": "none", "pairs": 0, "truncated": 0}
        models = self.models or (empty,)
        return [Table.of("Cached judgements", columns, models, notes)]


def cache(
    action: Literal["info", "clear"] = "info", *, file: str | Path | None = None
) -> CacheResult:
    """Shows or empties the cache of judgements, which lets no pair be judged twice.

    Args:
        action: info shows its file and what it holds by model, clear removes all.
        file: Another cache than the user's own.

    Raises:
        InputError: The file is not a cache, or is damaged.

    Example:
        >>> cache(file="judged.sqlite").bytes
        0

    Command line:
        $ litepyramid cache
        $ litepyramid cache clear
    """
    choose("action", action, ("info", "clear"))
    path = user_cache() if file is None else Path(file)
    removed = 0 if action == "clear" else None
    models = []
    exists = _is_cache(path)

    if exists:
        with JudgementCache(path) as store:
            removed = store.clear() if action == "clear" else None
            counts = store.counts()
        for identity, pairs, shorter in counts:
            numbers = {"pairs": pairs, "truncated": shorter}
            models.append(_described(identity) | numbers)

    size = path.stat().st_size if exists else 0
    return CacheResult(path, size, tuple(models), removed)


def _described(identity: str) -> dict[str, Any]:
    """Model, maximum length and precision of an identity; a damaged one is unknown."""
    described = {"model": "unknown", "max_length": None, "dtype": None}
    with suppress(ValueError, KeyError, TypeError, RecursionError):
        fields = json.loads(identity)
        described = {name: fields[name] for name in described}
        described["model"] = cut(fields["model"], 60)
    return described
