"""Frames, columns and arrays of any library as plain Python, before anything is read.

Nothing is imported for that: a library is known by the methods that its objects have.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from litepyramid.tables import plain

_COLUMN_METHODS = ("to_pylist", "to_list", "tolist")
"""How Arrow, polars and numpy give a column as a list."""


def is_frame(value: Any) -> bool:
    """Whether a value has named columns, as a frame or a table of any library has."""
    return hasattr(value, "columns") or hasattr(value, "column_names")


def as_list(value: Any) -> Any:
    """A one-dimensional thing of any library as a list; all else as it is.

    A pandas Series whose index has a name is a dict: the index holds the ids. Missing
    values are None.
    """
    if value is None or isinstance(value, str | bytes | Path | Mapping | list | tuple):
        return value

    if is_frame(value) or isinstance(value, set | frozenset):
        return value

    if _has_named_index(value):
        ids = plain(value.index.tolist())
        if len(set(ids)) == len(ids):
            return dict(zip(ids, plain(value.tolist()), strict=True))

    if hasattr(value, "notna"):
        value = value.astype(object).where(value.notna(), None)

    for method in _COLUMN_METHODS:
        if hasattr(value, method):
            return plain(getattr(value, method)())

    return list(value) if isinstance(value, Iterable) else value


def _has_named_index(value: Any) -> bool:
    """Whether a pandas Series or frame has an index with one name."""
    return getattr(getattr(value, "index", None), "name", None) is not None
