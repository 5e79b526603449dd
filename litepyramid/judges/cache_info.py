"""What the judgement cache holds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litepyramid.judges.cache import LogitCache
from litepyramid.judges.cache_file import default_cache_path, is_cache
from litepyramid.tables import Column, Result, Table


@dataclass(frozen=True, slots=True)
class CacheInfo(Result):
    """A cache's file and what it holds of each model.

    Attributes:
        path: The file.
        size: Its bytes; 0 if it is not there.
        models: One entry per model, maximum length and precision: these, and the counts of
            `CacheModel`.
    """

    path: Path
    size: int
    models: tuple[Mapping[str, Any], ...]

    def to_tables(self) -> Sequence[Table]:
        """One row per model."""
        columns = (
            "model",
            Column("max_length", "max length"),
            "dtype",
            "pairs",
            "judged",
            Column("truncated", "cut"),
        )
        where = f"{self.path} ({self.size / 1e6:.1f} MB)" if self.size else f"{self.path} (none)"
        rows = ({**entry, "model": _short(str(entry["model"]))} for entry in self.models)
        return [Table.of("Cached judgements", columns, rows, [where])]

    def to_json(self) -> dict[str, Any]:
        """The whole of it; models with their full names."""
        return {"path": str(self.path), "bytes": self.size, "models": list(self.models)}


def cache_info(path: Path | None = None) -> CacheInfo:
    """What the cache at `path`, or the user's own, holds; a missing file is an empty cache."""
    path = path or default_cache_path()
    if not is_cache(path):
        return CacheInfo(path, 0, ())
    with LogitCache(path) as cache:
        models = sorted(cache.models(), key=lambda model: str(model.identity))
    counts = ("pairs", "judged", "truncated")
    entries = ({**_known(m.identity), **{n: getattr(m, n) for n in counts}} for m in models)
    return CacheInfo(path, path.stat().st_size, tuple(entries))


def _known(identity: str) -> dict[str, Any]:
    """What a model's identity says of it; a damaged one says nothing."""
    try:
        known = json.loads(identity)
        return {name: known[name] for name in ("model", "max_length", "dtype")}
    except (ValueError, KeyError, TypeError, RecursionError):
        return {"model": "unknown", "max_length": None, "dtype": None}


def _short(model: str) -> str:
    """Hashes at twelve digits, enough to tell them apart.

    Example:
        >>> _short("sha256:0123456789abcdef"), _short("owner/name@0123456789abcdef")
        ('sha256:0123456789ab', 'owner/name@0123456789ab')
    """
    for mark in ("sha256:", "@"):
        head, found, tail = model.rpartition(mark)
        if found:
            return f"{head}{found}{tail[:12]}"
    return model
