"""What a user gives, of whatever shape, as tables of rows.

A source is a path, plain Python (lists in the order of the inputs, dicts by id or by
system), or a data frame or rows with named columns (`io.rows.COLUMNS`).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from litepyramid.checked import check_characters, is_missing
from litepyramid.errors import InputError
from litepyramid.files import file_type, files_in, read_text, stem
from litepyramid.io.readers import read_rows, table_rows
from litepyramid.io.rows import ColumnNames, Ids, Row, Rows, identifier
from litepyramid.io.shapes import collected
from litepyramid.tables import plain
from litepyramid.text import cut

_COLUMN_METHODS = ("to_pylist", "to_list", "tolist")
"""How Arrow, polars and numpy give a column as a list."""


class Kind(NamedTuple):
    """What data of a kind are called, as a list and of one input; the columns of their
    rows."""

    many: str
    one: str
    columns: str

    @property
    def expected(self) -> str:
        """What their source may be."""
        python = "lists in the order of the inputs, dicts by system or input"
        return (
            f"a path, {python}, or a data frame or rows with the columns {self.columns}"
        )


KINDS = {
    "unit": Kind("units", "units", "input and unit"),
    "reference": Kind("references", "reference", "input and reference"),
    "document": Kind("documents", "document", "input and document"),
    "summary": Kind("summaries", "summary", "system, input and summary"),
    "label": Kind("labels", "labels", "system, input, unit and label"),
    "presence": Kind("presence", "presence", "system, input, unit and presence"),
}
TEXTS = ("reference", "document")
"""Kinds whose values are texts; where they come again, they count once."""
_OF_INPUTS = ("unit", *TEXTS)


def as_list(value: Any) -> Any:
    """A one-dimensional thing of any library as a list; all else as it is.

    A pandas Series whose index has a name is a dict: the index holds the ids, of lists
    if one comes again. Missing values are None.
    """
    if value is None or isinstance(value, str | bytes | Path | Mapping | list | tuple):
        return value
    value = collected(value)

    # A set has no order, and a frame or a table has columns: neither is one list.
    if is_frame(value) or isinstance(value, set | frozenset):
        return value

    index = getattr(value, "index", None)
    if getattr(index, "name", None) is not None:
        several = defaultdict(list)
        for label, one in zip(plain(value.index), plain(value), strict=True):
            several[label].append(one)
        once = len(several) == len(value)
        return {label: own[0] if once else own for label, own in several.items()}

    for method in _COLUMN_METHODS:
        if hasattr(value, method):
            return plain(getattr(value, method)())

    return list(value) if isinstance(value, Iterable) else value


def is_frame(value: Any) -> bool:
    """Whether it has named columns: a frame, or a table of Arrow."""
    return hasattr(value, "columns") or hasattr(value, "column_names")


def holds_rows(value: Any) -> bool:
    """Whether it is a frame, or a list of rows."""
    if isinstance(value, list):
        return bool(value) and isinstance(value[0], Mapping)
    return is_frame(value)


def with_shared_index(
    values: Iterable[Any], kinds: Iterable[str], ids: Ids, columns: ColumnNames
) -> list[Any]:
    """Sources of some kinds; an index of pandas without a name is named where it holds
    the ids of another source, or of another such index, unless both only count."""
    sources = [_in_rows(*pair) for pair in zip(values, kinds, strict=True)]
    orders = defaultdict(list)
    for source in sources:
        several = source.values() if isinstance(source, Mapping) else [source]
        for one in several:
            labels = _labels(one, columns) if hasattr(one, "notna") else ()
            if labels:
                orders[frozenset(labels)].append(labels)

    if not orders:
        return sources

    shared = {frozenset(ids or ())}
    for number, kind in enumerate(kinds):
        told, sources[number] = _told(_kept(sources[number]), kind, columns)
        shared.add(told)

    # By each id, the ids that stand with it in some source.
    others = {label: some for some in shared for label in some}
    for some, of_some in orders.items():
        # Rows that are only counted go by their order.
        counts = some == {*map(str, range(len(some)))}
        if len({*of_some}) > 1 or (len(of_some) > 1 and not counts):
            shared.add(some)
        if some not in shared and not counts:
            _check_overlap(some, others)

    def named(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: named(one) for key, one in value.items()}

        labels = frozenset(_labels(value, columns))
        if labels and labels in shared:
            return value.rename_axis(index="input")
        return value

    return [named(source) for source in sources]


def _in_rows(value: Any, kind: str) -> Any:
    """A series with levels as its frame; one alone, as a list alone, as that of one
    system."""
    levels = getattr(getattr(value, "index", None), "nlevels", 0)
    if not levels or hasattr(value, "columns"):
        return value

    if levels > 1:
        return value.to_frame(kind)
    return {"system": value} if kind == "summary" else value


def _check_overlap(labels: frozenset[Any], others: dict[Any, frozenset[Any]]) -> None:
    """Raises InputError if an index holds some of equally many ids of another source,
    but not all; else it is among the others from now on."""
    for label in sorted(labels):
        other = others.setdefault(label, labels)
        if other is labels or len(other) != len(labels):
            continue

        missing = min(map(str, other - labels))
        raise InputError(
            f"an index without a name holds '{label}' but not '{missing}', which "
            "other data hold",
            expected="the same ids",
            hint="If they are no ids, leave them out: reset_index(drop=True).",
        )


def _kept(value: Any) -> Any:
    """A source whose iterators, which can be read only once, are lists."""
    if isinstance(value, Mapping):
        return {key: _kept(one) for key, one in value.items()}
    listed = list(value) if isinstance(value, Iterator) else value
    return [*map(_kept, listed)] if type(listed) is list else listed


def _labels(value: Any, columns: ColumnNames) -> tuple[Any, ...]:
    """What an index of pandas without a name holds, if no column holds ids."""
    index = getattr(value, "index", None)
    if getattr(index, "names", None) != [None]:
        return ()

    of_ids = {"input", "id", columns and columns.get("input")}
    if of_ids & {*getattr(value, "columns", ())}:
        return ()

    labels = tuple(map(identifier, value.index.tolist()))
    return () if None in labels else labels


def _told(value: Any, kind: str, columns: ColumnNames) -> tuple[frozenset[Any], Any]:
    """The ids that a source tells, as keys, in cells, or in records; and the source, as
    its rows if it is one table: a pipe cannot be read again."""
    paths = paths_of(value)
    if _labels(value, columns) or (kind == "presence" and paths) or len(paths) > 1:
        return frozenset(), value

    try:
        tables = [*tables_of(as_list(value), kind, columns)]
        ids = frozenset(map(identifier, chain(*[t.cells("input") for t in tables])))
        if len(tables) == 1 and not isinstance(value, Mapping | list):
            value = tables[0]
        return ids, value
    except InputError:
        records = getattr(value, KINDS[kind].many, value)
    records = records if isinstance(records, list | tuple) else ()
    names = [getattr(one, "inputs", [getattr(one, "input", None)]) for one in records]
    return frozenset(chain(*names)), value


def tables_of(value: Any, what: str, columns: ColumnNames) -> Iterable[Rows]:
    """The tables of a source: one for each file, and for each system of a dict."""
    if isinstance(value, Rows):
        return [value]

    many = KINDS[what].many
    if paths := paths_of(value):
        files = [check_path(path) for path in paths]
        if what not in _OF_INPUTS:
            # One after the other: files of many systems are not held all at once.
            blank_ok = what == "summary"
            if blank_ok and (folders := _folders_in(files)):
                return (_texts_in(folder, what) for folder in folders)
            listed = files_in(files, many)
            return (read_rows(path, columns, blank_ok=blank_ok) for path in listed)
        if len(files) > 1:
            raise InputError(f"{many} in {len(files)} files", expected="one file")
        if what in TEXTS and file_type(files[0]) == "folder":
            return [_texts_in(Path(files[0]), what)]
        return [read_rows(files[0], columns)]

    if (table := table_rows(value, what, many, columns)) is not None:
        return [table]

    is_list = isinstance(value, list | tuple)
    if what in _OF_INPUTS:
        # A list of texts may be references, but units are lists of them.
        if what == "unit" and is_list and value and isinstance(value[0], str):
            raise unreadable(value, what)
        return [_plain_rows(value, what)]

    # A list of texts alone: nobody said whose they are.
    if what == "summary" and is_list:
        value = {"system": value}
    if not isinstance(value, Mapping) or not value:
        raise unreadable(value, what)

    tables: list[Rows] = []
    for key, of_system in value.items():
        system = key if isinstance(key, str) and key.strip() else identifier(key)
        if system is None:
            raise InputError(f"a system is called {key!r}", expected="a name")

        of_system = as_list(of_system)
        table = None
        if holds_rows(of_system):
            table = table_rows(of_system, what, many, columns)
        if table or isinstance(of_system, Path):
            named = [table] if table else tables_of(of_system, what, columns)
            tables += [replace(table, system=system) for table in named]
        else:
            # One text alone is the summary of the one input.
            alone = what == "summary" and isinstance(of_system, str)
            texts = [of_system] if alone else of_system
            tables.append(_plain_rows(texts, what, system))

    return tables


def _folders_in(paths: Sequence[str | Path]) -> list[Path]:
    """The folders in the one folder that is given, if all that is in it are such."""
    if [*map(file_type, paths)] != ["folder"]:
        return []
    inside = [path for path in sorted(Path(paths[0]).iterdir()) if path.name[0] != "."]
    return inside if all(path.is_dir() for path in inside) else []


def _texts_in(folder: Path, what: str) -> Rows:
    """A row for each text file of a folder: its name is the input, the folder's the
    system."""
    rows = []
    for file in files_in([folder], KINDS[what].many):
        rows.append(Row(1, {"input": stem(file), what: read_text(file)}, path=file))
    return Rows(folder, "plain", rows, system=folder.resolve().name)


def _plain_rows(values: Any, what: str, system: str = "") -> Rows:
    """A row for each input of a list in their order, or of a dict by their ids."""
    many = KINDS[what].many
    path = f"{many} of '{system}'" if system else many
    if not isinstance(values, Mapping | list | tuple) or not values:
        raise unreadable(values, what, path)

    by_id = isinstance(values, Mapping)
    rows = []
    for n, key in enumerate(values, start=1):
        row = {"input": key} if by_id else {}
        of = f"of input '{key if by_id else n}'"
        cell = values[key] if by_id else key
        if is_missing(cell):
            cell = None

        if what == "summary":
            row[what] = cell
            if not isinstance(cell, str | None):
                problem = f"the summary {of} is {cut(repr(cell))}"
                raise InputError(problem, path=path, expected="a text")
        else:
            is_text = what in _OF_INPUTS and isinstance(cell, str)
            listed = [cell] if is_text else as_list(cell)
            if not isinstance(listed, list | tuple | None):
                raise unreadable(cell, what, path)
            row[many] = list(listed) if listed else None

        if what in _OF_INPUTS and not row[many]:
            raise InputError(
                f"no {many} {of}",
                path=path,
                expected="at least one",
                hint="Leave the input out, here and among the summaries.",
            )
        check_characters((system, row), many, n)
        rows.append(Row(n, row))

    return Rows(path, "plain", rows, system=system)


def paths_of(value: Any) -> Sequence[str | Path]:
    """The files that a path or a list of `Path`s names; none if it is something
    else."""
    if isinstance(value, str | Path):
        return [value]
    listed = isinstance(value, list | tuple) and value
    return value if listed and isinstance(value[0], Path) else ()


def check_path(path: str | Path) -> str | Path:
    """The path, if something is there; else InputError."""
    if file_type(path) is None:
        raise InputError(
            "no such file or folder",
            path=path,
            hint="Check the path; put a single text into a list.",
        )
    return path


def unreadable(value: Any, what: str, path: str | None = None) -> InputError:
    """The error about a value of a type that nothing of this kind is read from."""
    of = ""
    if isinstance(value, list | tuple) and value:
        of = f" of {type(value[0]).__name__}"
    elif isinstance(value, set | frozenset):
        of = ", which has no order"

    return InputError(
        f"{KINDS[what].many} cannot be read from a {type(value).__name__}{of}",
        path=path,
        expected=KINDS[what].expected,
    )
