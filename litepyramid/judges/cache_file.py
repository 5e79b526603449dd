"""The file of the judgement cache: where it is, what it begins with, and the seal of each row."""

from __future__ import annotations

import os
import sqlite3
import sys
import tempfile
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path

from litepyramid.errors import InputError
from litepyramid.files import TEMPORARY, file_type

VERSION = 2
TAILS = ("-wal", "-shm", "-journal")
"""What sqlite appends to the names of the files that it keeps next to its own."""

_APPLICATION = 0x4C505952  # "LPYR"
_OTHER = "Name another file with --cache or LITEPYRAMID_CACHE, or use --no-cache."

_SCHEMA = f"""
CREATE TABLE models (
    id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE
);
CREATE TABLE logits (
    model INTEGER NOT NULL, pair BLOB NOT NULL, logits BLOB NOT NULL,
    truncated INTEGER NOT NULL, times INTEGER NOT NULL DEFAULT 1, seal BLOB NOT NULL DEFAULT x'',
    PRIMARY KEY (model, pair)
) WITHOUT ROWID;
CREATE TABLE claims (
    model INTEGER NOT NULL, pair BLOB NOT NULL, owner TEXT NOT NULL,
    PRIMARY KEY (model, pair)
) WITHOUT ROWID;
CREATE TABLE files (
    path TEXT PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, digest TEXT NOT NULL,
    seal BLOB NOT NULL DEFAULT x''
);
PRAGMA user_version = {VERSION};
PRAGMA application_id = {_APPLICATION};
"""


def default_cache_path(environment: Mapping[str, str] | None = None) -> Path:
    """The default path of the cache.

    ``LITEPYRAMID_CACHE`` names the file; else it lies in the user's cache folder
    (``XDG_CACHE_HOME`` or ``~/.cache``, ``~/Library/Caches``, ``%LOCALAPPDATA%``).

    Example:
        >>> default_cache_path({"LITEPYRAMID_CACHE": "judged.sqlite"})
        PosixPath('judged.sqlite')
    """
    env = os.environ if environment is None else environment
    if named := env.get("LITEPYRAMID_CACHE"):
        return Path(named).expanduser()
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        base = Path(env.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        base = Path(env.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "litepyramid" / "judgements.sqlite"


def is_cache(path: Path) -> bool:
    """Whether there is a cache at `path`; False if there is nothing, or an empty file.

    It looks at the file's first bytes alone, so that a file of others is never touched.

    Raises:
        InputError: Something else is there, or it cannot be read.
    """
    if file_type(path) in ("folder", "other"):
        raise InputError("is not a file", path=path, expected="a cache, or a new file name")
    try:
        with path.open("rb") as file:
            head = file.read(100)
    except FileNotFoundError:
        head = b""
    except OSError as error:
        raise InputError(
            f"the cache cannot be used ({error.strerror})", path=path, hint=_OTHER
        ) from error
    if not head:
        return False
    if head[:16] != b"SQLite format 3\0" or head[68:72] != _APPLICATION.to_bytes(4, "big"):
        raise InputError(
            "is not a judgement cache, or one that is damaged at its beginning",
            path=path,
            expected="a cache, or a new file name",
            hint=_OTHER,
        )
    return True


def open_cache(path: Path | None, timeout: float) -> sqlite3.Connection:
    """Opens a cache, made with its folder if it is not there, for several threads.

    Raises:
        InputError: As `is_cache`; or it is a cache of another version.
        sqlite3.Error: It is damaged, or cannot be used.
        OSError: It cannot be made.
    """
    if path is None:
        db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        db.executescript(_SCHEMA)
        return db
    if not is_cache(path):
        _make(path)
    db = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw",
        uri=True,
        timeout=timeout,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        db.execute("PRAGMA synchronous = NORMAL")
        if db.execute("PRAGMA user_version").fetchone()[0] != VERSION:
            raise InputError("is a cache of another version", path=path, hint=_OTHER)
    except BaseException:
        db.close()
        raise
    return db


def _make(path: Path) -> None:
    """Makes an empty cache elsewhere and gives it its name, so that half a one is never there."""
    path = path.resolve()  # a link is followed
    for tail in TAILS:  # sqlite would take them for its own
        other = path.with_name(path.name + tail)
        if file_type(other) and not is_cache(path):
            raise InputError(
                "is in the way of a new cache",
                path=other,
                hint="Remove it if you have removed its cache, or name another file with --cache.",
            )
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=TEMPORARY) as folder:
        new = Path(folder) / "cache"
        db = sqlite3.connect(new)
        db.execute("PRAGMA journal_mode = WAL")
        db.executescript(_SCHEMA)
        db.close()
        try:
            os.link(new, path)
        except FileExistsError:
            if not path.stat().st_size:
                new.replace(path)
        except OSError:  # a disk without links
            new.replace(path)


def seal(*fields: object) -> bytes:
    """Eight bytes that reveal a damaged row.

    Example:
        >>> seal("model", b"pair", b"0123", 0) == seal("model", b"pair", b"0123", 1)
        False
    """
    return blake2b(repr(fields).encode(errors="surrogatepass"), digest_size=8).digest()
