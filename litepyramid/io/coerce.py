"""Conversion of paths, lists, dicts, data frames and rows of data sets to records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, TypeVar

from litepyramid.errors import InputError
from litepyramid.files import file_type
from litepyramid.io.given import Given, given_rows, table_rows
from litepyramid.io.inputs import read_ids
from litepyramid.io.labels import read_labels
from litepyramid.io.presence import GivenPresence, read_presence
from litepyramid.io.references import read_references
from litepyramid.io.rows import parse_columns
from litepyramid.io.summaries import read_summaries
from litepyramid.io.units import kind_by_name, read_units, read_weights
from litepyramid.tables import plain
from litepyramid.types import (
    InputReferences,
    InputUnits,
    SystemLabels,
    SystemSummaries,
    UnitKind,
)

_T = TypeVar("_T")


def as_units(
    units: Any, *, kind: UnitKind | None = None, only: bool = False, **names: Any
) -> list[InputUnits]:
    """Units from a path, a list of lists, a dict by input, rows, or whatever holds units.

    Args:
        units: A unit is its text or a dict with ``text``, ``weight``, ``kind`` …
        kind: What units are that do not say: SCUs, but STUs in a file named so, if not given.
        only: Whether a unit must be of that kind.
        **names: `ids` and `columns`, as of `read_units`.

    Raises:
        InputError: There is nothing of the kind in it, or as `read_units`.

    Example:
        >>> as_units([["It rained.", "We left."]])[0].texts
        ('It rained.', 'We left.')
    """
    found = _records(units, InputUnits, "units")
    if found is None:
        source = _by_input(units, "units", "units")
        kind = kind or ("scu" if isinstance(source, Given) else kind_by_name(source))
        return read_units(source, kind=kind, only=only, **names)
    wrong = [u.kind for entry in found for u in entry.units if only and u.kind != kind]
    if wrong:
        raise InputError(f"units of kind '{wrong[0]}'", expected=f"only units of kind '{kind}'")
    return found


def as_references(references: Any, **names: Any) -> list[InputReferences]:
    """References from a path, a list with one or several an input, a dict by input, or rows.

    A reference is a text or a list of its sentences.

    Raises:
        InputError: As `read_references`.

    Example:
        >>> as_references({"a": "It rained."})[0].references
        (('It rained.',),)
    """
    found = _records(references, InputReferences, "references")
    if found is None:
        return read_references(_by_input(references, "reference", "references"), **names)
    return found


def as_summaries(
    summaries: Any,
    inputs: Sequence[str] | None = None,
    *,
    store: IO[bytes] | None = None,
    **names: Any,
) -> list[SystemSummaries]:
    """Summaries from paths, a dict by system (of lists, or dicts by input), a list of texts, rows.

    Raises:
        InputError: As `read_summaries`.

    Example:
        >>> as_summaries({"mine": ["It rained.", ""]})[0].inputs
        ('1', '2')
    """
    found = _records(summaries, SystemSummaries, "summaries")
    if found is not None:
        return found
    sources = _by_system(summaries, "summary", "summaries")
    return read_summaries(sources, inputs, store=store, **names)


def as_labels(labels: Any, units: Sequence[InputUnits], **names: Any) -> list[SystemLabels]:
    """Presence labels from a path, a dict by system (of lists, or dicts by input), or rows.

    Raises:
        InputError: As `read_labels`.
    """
    found = _records(labels, SystemLabels, "labels")
    if found is not None:
        return found
    return read_labels(_by_system(labels, "labels", "labels"), units, **names)


def as_weights(weights: Any, units: Sequence[InputUnits], **names: Any) -> list[InputUnits]:
    """The units with the weights of a path, a list of lists, a dict by input, or rows.

    Raises:
        InputError: As `read_weights`.
    """
    return read_weights(_by_input(weights, "weights", "weights"), units, **names)


def as_presence(
    presence: Any, units: Sequence[InputUnits] | None = None, **names: Any
) -> GivenPresence:
    """Presence judged elsewhere: a path, a dict by system (of lists, or dicts by input), rows.

    A saved or a fresh result of scoring will do too.

    Raises:
        InputError: As `read_presence`.

    Example:
        >>> as_presence({"mine": [[1, 0.5]]}, as_units([["It rained.", "We left."]])).values
        array([[1. , 0.5]])
    """
    presence = plain(presence.to_json()) if hasattr(presence, "units") else presence
    if isinstance(presence, Mapping) and {"scores", "units"} <= set(presence):  # of a result
        return read_presence(presence, units)
    sources = _by_system(presence, "presence", "presence")
    if len(sources) != 1:
        raise InputError(f"{len(sources)} files of presence", expected="one")
    return read_presence(sources[0], units, **names)


def as_names(ids: Any, columns: Any) -> dict[str, Any]:
    """Ids (a list, or a file) and columns (a dict, or ``NAME=COLUMN,…``) as all readers take them.

    Example:
        >>> as_names(None, "summary=output")
        {'ids': None, 'columns': {'summary': 'output'}}
    """
    return {
        "ids": read_ids(ids) if isinstance(ids, str | Path) else ids,
        "columns": parse_columns(columns) if isinstance(columns, str) else columns,
    }


def _records(value: Any, kind: type[_T], attribute: str) -> list[_T] | None:
    """The records that a list holds, or what has them as an attribute; None if there are none."""
    if isinstance(value, str | Path):
        return None
    if not isinstance(value, list | tuple | Mapping) and not hasattr(value, "columns"):
        value = getattr(value, attribute, value)
    if isinstance(value, list | tuple) and not value:
        raise InputError(f"no {attribute}", expected=_EXPECTED[attribute])
    if isinstance(value, list | tuple) and all(isinstance(one, kind) for one in value):
        return list(value)
    return None


def _by_input(value: Any, name: str, many: str) -> str | Path:
    """What belongs to inputs: a path as it is, all else as rows."""
    if isinstance(value, str | Path):
        return _there(value)
    value = list(value) if isinstance(value, Iterator) else value
    rows = table_rows(value) or _columns(value, many)
    if rows is None and isinstance(value, Mapping):
        rows = [{"input": key, many: _listed(own)} for key, own in value.items()]
    elif rows is None and name == "reference" and isinstance(value, Iterable):
        rows = [{many: _listed(own)} for own in value]
    elif rows is None and isinstance(value, Iterable):
        rows = [{many: own} for own in value if not isinstance(own, str)]
        rows = rows if len(rows) == len(list(value)) else None
    return _given(rows, many, value)


def _by_system(value: Any, name: str, many: str) -> Sequence[str | Path]:
    """What belongs to systems: paths as they are, all else as rows."""
    if isinstance(value, str | Path):
        return [_there(value)]
    if isinstance(value, list | tuple) and value and all(isinstance(v, Path) for v in value):
        return [_there(path) for path in value]
    value = list(value) if isinstance(value, Iterator) else value
    rows = table_rows(value) or _columns(value, name)
    if rows is None and isinstance(value, Mapping):
        rows = []
        for system, own in value.items():
            own = [own] if isinstance(own, str) else own
            pairs = own.items() if isinstance(own, Mapping) else ((None, one) for one in own)
            rows += [{"system": system, "input": key, name: one} for key, one in pairs]
    elif rows is None and name == "summary" and isinstance(value, Iterable):
        rows = [{name: one} for one in value]
    return [_given(rows, many, value)]


def _columns(value: Any, name: str) -> list[dict[str, Any]] | None:
    """The rows of a dict of columns, of which `name` (or its singular) is one beside others."""
    if not isinstance(value, Mapping) or not {name, name.removesuffix("s")} & set(value):
        return None
    columns = {key: plain(column) for key, column in value.items()}
    lengths = {len(c) if isinstance(c, list) else -1 for c in columns.values()}
    if len(columns) < 2 or len(lengths) != 1 or lengths == {-1}:
        return None
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _there(path: str | Path) -> str | Path:
    if file_type(path) is None:
        raise InputError(
            "no such file or folder",
            path=path,
            hint="Check the path; put a single text into a list.",
        )
    return path


def _given(rows: list[dict[str, Any]] | None, name: str, value: Any) -> Given:
    if rows is None:
        raise InputError(
            f"{name} cannot be read from {_said(value)}",
            expected=_EXPECTED[name],
        )
    return given_rows(rows, name)


def _said(value: Any) -> str:
    if isinstance(value, list | tuple) and value:
        return f"a {type(value).__name__} of {type(value[0]).__name__}"
    return f"a {type(value).__name__}"


_ROWS = "a data frame or rows with the columns "
_EXPECTED = {
    "units": "a path, a list with a list of units for each input, a dict of lists by input, or "
    f"{_ROWS}input and unit",
    "references": "a path, a list with one or several texts for each input, a dict by input, or "
    f"{_ROWS}input and reference",
    "weights": "a path, a list with a list of numbers for each input, a dict of lists by input, "
    f"or {_ROWS}input, unit and weight",
    "summaries": "a path, a dict with the texts of each system, a list of texts, or "
    f"{_ROWS}system, input and summary",
    "labels": "a path, a dict with the lists of 0 and 1 of each system, or "
    f"{_ROWS}system, input, unit and label",
    "presence": "a path, a dict with the lists of numbers of each system, or "
    f"{_ROWS}system, input, unit and presence",
}
