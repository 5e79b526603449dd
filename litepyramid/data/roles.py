"""What a source holds of one role, by its columns: its entries, each with its names.

A column is what its name says, or what `columns` says; nothing is guessed from what its
cells look like. Where a name is missing, the error prints the columns to give.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from litepyramid.checked import parse_json
from litepyramid.data.door import Opened, is_file, name_of, opened, plain
from litepyramid.data.files import Row
from litepyramid.data.records import Unit
from litepyramid.errors import InputError, located
from litepyramid.files import read_text
from litepyramid.text import cut
from litepyramid.types import Names


class Role(NamedTuple):
    """What a source is asked for.

    Attributes:
        one: The column that holds one value a row.
        many: The column that holds a list of them.
        by_system: Whether every system has its own.
        beside: Further columns that belong to a value.
    """

    one: str
    many: str
    by_system: bool = False
    beside: Names = ()


_UNIT = Role(
    "unit",
    "units",
    beside=("weight", "kind", "reference", "sentence", "importance", "tags", "said"),
)
ROLES: dict[str, Role] = {
    "summaries": Role("summary", "summaries", True),
    "units": _UNIT,
    "label_units": _UNIT,
    "stus": _UNIT,
    "references": Role("reference", "references"),
    "documents": Role("document", "documents", True),
    "labels": Role("label", "labels", True, ("unit", "annotator")),
    "presence": Role("presence", "presences", True, ("unit",)),
}
ALIASES = {"id": "input", "query": "question", "prompt": "question"}
"""Other names under which a column is read."""
_IDS = ("input", "system")
NAMES = {*_IDS, "question", "human", "score", "metric"}
for _role in ROLES.values():
    NAMES |= {_role.one, _role.many, *_role.beside}
KNOWN = NAMES | ALIASES.keys()
"""Columns that have a meaning."""
EVERY = "*"
"""In place of columns: all that have no other meaning."""

Columns = Mapping[str, str]


class Entry(NamedTuple):
    """One value with what it is known by.

    Attributes:
        input: The id of its input; None where the source has none.
        place: The number of the input in the source, from 0, where that has no ids.
        nth: The number of the value among those of its input, from 0.
        more: What stands beside it.
        listed: Whether it stood in a list of all that its input has.
    """

    system: str | None
    input: str | None
    place: int
    nth: int
    value: Any
    more: Mapping[str, Any]
    line: int
    listed: bool


@dataclass(frozen=True)
class Table:
    """The entries of one source of a role.

    Attributes:
        told: What it was taken for, as the plan says it.
        size: How many inputs it has by order; 0 where it has ids.
        count: What a plain index of pandas counts, which may be ids.
        ignored, used: Columns that were not read, and those that were.
        shared: Whether a row also holds something else, so that its text may come again.
    """

    role: str
    entries: Sequence[Entry]
    told: str
    path: str | Path
    size: int = 0
    count: Names | None = None
    ignored: Names = ()
    used: Names = ()
    shared: bool = False

    def error(
        self, entry: Entry, what: str, expected: str | None = None, hint: str = ""
    ) -> InputError:
        """An error that names the place of an entry."""
        return InputError(
            what, path=self.path, line=entry.line, expected=expected, hint=hint or None
        )


class Leaf(NamedTuple):
    """A source without others inside: what it holds, and of which system, if its name
    tells."""

    found: Opened
    system: str | None = None


def leaves(found: Opened, role: str, columns: Columns) -> list[Leaf]:
    """The sources inside of one: a dict or a folder may have one for each system."""
    about = ROLES[role]
    if found.by_key is None or found.by_id:
        return [Leaf(found)]
    if rows := _as_rows(found.by_key, about, columns):
        return [Leaf(replace(found, rows=rows, by_key=None, told="a dict of columns"))]
    # Documents are by input, unless each system has files or dicts of its own.
    plain = all(isinstance(v, str | list | tuple) for v in found.by_key.values())
    if not about.by_system or (about.one == "document" and plain):
        return [Leaf(_with_texts(found))]
    return [*_by_system(found, role, columns)]


def _by_system(found: Opened, role: str, columns: Columns) -> Iterator[Leaf]:
    """What each system of a dict or a folder has; one text alone is that of the one
    input."""
    for key, value in (found.by_key or {}).items():
        system = name_of(key)
        if system is None:
            raise InputError(f"a system is called {key!r}", expected="a name")
        alone = value is None or isinstance(value, str)
        inner = opened([value] if alone else value, f"{role} of '{system}'")
        if inner.by_key is not None and not inner.by_id:
            rows = _as_rows(inner.by_key, ROLES[role], columns)
            if rows:
                inner = replace(inner, rows=rows, by_key=None)
        yield Leaf(_with_texts(inner), system)


def _with_texts(found: Opened) -> Opened:
    """A dict or a folder by input, its files read."""
    texts = {}
    for key, value in (found.by_key or {}).items():
        texts[key] = read_text(value).strip() if isinstance(value, Path) else value
    return found if found.by_key is None else replace(found, by_key=texts)


def told_columns(
    columns: Any, given: Sequence[str], names: Collection[str]
) -> dict[str, dict[str, str]]:
    """The columns that a user names, of each source: those without a source's name are of
    the first. `names` are those of ours that there are."""
    pairs: Iterable[Any]
    if columns is None:
        pairs = ()
    elif isinstance(columns, str):
        parts = [part.partition("=") for part in columns.split(",")]
        pairs = [(name.strip(), own.strip()) for name, _, own in parts]
    elif isinstance(columns, Mapping):
        pairs = columns.items()
    else:
        raise InputError(
            f"columns in a {type(columns).__name__}",
            expected='NAME=COLUMN,… or a dict such as {"summary": "output"}',
        )

    result: dict[str, dict[str, str]] = {role: {} for role in given}
    for key, own in pairs:
        source, _, name = str(key).rpartition(".")
        of = result.get(source or next(iter(given), ""))
        if isinstance(own, list | tuple):
            own = "+".join(map(str, own))
        name = {"id": "input"}.get(name, name)
        if of is None or name not in names or name in of or not own:
            raise InputError(
                f"the columns '{cut(str(columns))}' cannot be read at '{key}'",
                expected=f"NAME=COLUMN,… with a NAME each of {', '.join(sorted(names))}",
            )
        of[name] = str(own)
    return result


def has_role(leaf: Leaf, role: str, columns: Columns) -> bool:
    """Whether a table has a column of a role."""
    about = ROLES[role]
    present = columns_of(leaf.found)
    if present and _system_columns(present, about, columns, leaf.found.path):
        return True
    told = {own for name, own in columns.items() if name in (about.one, about.many)}
    if told:
        return bool(told & {*present}) or any("." in own for own in told)
    meanings = {_meaning(column, columns) for column in present}
    return bool(meanings & {about.one, about.many})


def columns_of(found: Opened) -> list[str]:
    """The columns of a table, in the order in which they come."""
    return [*dict.fromkeys([key for row in found.rows or () for key in row.cells])]


def read(leaf: Leaf, role: str, columns: Columns) -> Table:
    """The entries of a role that a source holds."""
    if leaf.found.rows is not None:
        return _of_rows(leaf.found, role, columns, leaf.system)
    return _of_values(leaf.found, role, leaf.system)


def _as_rows(
    by_key: Mapping[Any, Any], about: Role, columns: Columns
) -> list[Row] | None:
    """The rows of a dict of columns: it has the column of the role, or one that `columns`
    names, and one more that we know; None of another dict."""
    names = {_meaning(str(key), columns) for key in by_key}
    if not names & {about.one, about.many}:
        return None
    if len(by_key) == 1:
        raise InputError(
            f"a dict whose one key is '{next(iter(by_key))}': a system, or a column?",
            expected=f"a list for a column; rows with the columns system and {about.one} "
            "for a system of that name",
        )

    return rows_of_columns(by_key)


def rows_of_columns(by_key: Mapping[Any, Any]) -> list[Row]:
    """The rows of a dict of columns; InputError where these are no lists of one length."""
    cells = [opened(column, str(key)).listed for key, column in by_key.items()]
    lengths = {-1 if column is None else len(column) for column in cells}
    if len(lengths) > 1 or -1 in lengths:
        raise InputError(
            f"columns of {', '.join(map(str, sorted(lengths)))} cells",
            expected="lists of one length",
        )
    keys = [str(key) for key in by_key]
    rows = zip(*[plain(column or ()) for column in cells], strict=True)
    return [
        Row(line, dict(zip(keys, row, strict=True))) for line, row in enumerate(rows, 1)
    ]


def _meaning(column: str, columns: Columns) -> str:
    """Our name of a column."""
    for name, own in columns.items():
        if own == column:
            return name
    # A name that `columns` gives to another column is not read under its own.
    name = column if column in KNOWN else column.strip().lower()
    name = ALIASES.get(name, name)
    return "" if name in columns else name


# Rows with named columns
# ------------------------------------------------------------------------------------


def _of_rows(found: Opened, role: str, columns: Columns, system: str | None) -> Table:
    about = ROLES[role]
    rows = found.rows or ()
    if not rows:
        raise InputError(f"{role} without a row", path=found.path)
    present = columns_of(found)
    told = found.told

    chosen = _system_columns(present, about, columns, path=found.path)
    if chosen and system is None:
        kept = [name for name in present if name not in chosen]
        rows = [*melted(rows, kept, chosen, about.one)]
        present = [*kept, "system", about.one]
        told += f", a column for each system: {', '.join(chosen)}"
        columns = {key: own for key, own in columns.items() if key != "system"}

    ours = _our_names(present, columns, found.path)
    if not {about.one, about.many} & ours.keys():
        others = [name for name in present if name not in ours.values()]
        # Of one system, the one other column holds its texts.
        if system is not None and len(others) == 1:
            ours[about.one] = others[0]
        else:
            raise _no_column(role, present, others, columns, found.path)

    ignored = tuple([name for name in present if name not in ours.values()])
    entries = [*_row_entries(rows, ours, about, system, found.path)]
    has_ids = "input" in ours
    size = 0 if has_ids else 1 + max(entry.place for entry in entries)
    shared = bool({"unit", "label", "annotator", "reference"} & ours.keys())
    return Table(
        role,
        entries,
        told,
        found.path,
        size,
        None if has_ids else found.count,
        ignored,
        tuple(ours.values()),
        shared,
    )


def _our_names(
    present: Sequence[str], columns: Columns, path: str | Path
) -> dict[str, str]:
    """The column of each of our names that is there."""
    ours = {}
    for name, own in columns.items():
        if own in present or "." in own:
            ours[name] = own
        # Of a column for each system there is none that names them.
        elif name != "system" or not (own == EVERY or "+" in own):
            raise InputError(
                f"no column '{own}' (columns {name}={own})",
                path=path,
                expected=f"one of {', '.join(present)}",
            )

    for column in present:
        name = _meaning(column, {})
        taken = name in ours or column in columns.values()
        if name in NAMES and not taken:
            ours[name] = column
    return ours


def _system_columns(
    present: Sequence[str], about: Role, columns: Columns, path: str | Path
) -> list[str]:
    """The columns that hold a system each: those that `columns` names, or all but the
    ids where none has one of our names."""
    if about.one != "summary":
        return []

    told = columns.get("system")
    used = {own for name, own in columns.items() if name != "system"}
    others = [c for c in present if c not in used and _meaning(c, {}) not in NAMES]
    if told == EVERY:
        return others
    if told is not None:
        names = (
            [told] if told in present else [part.strip() for part in told.split("+")]
        )
        missing = [name for name in names if name not in present]
        if missing and len(names) > 1:
            raise InputError(
                f"no column '{missing[0]}' (columns system={told})",
                path=path,
                expected=f"some of {', '.join(present)}",
            )
        return names if len(names) > 1 else []

    meanings = {_meaning(column, columns) for column in present} & NAMES
    return [] if columns or meanings - {"input"} else others


def melted(
    rows: Sequence[Row], kept: Sequence[str], chosen: Sequence[str], value: str
) -> Iterator[Row]:
    """A row for each system of a table with a column for each of them."""
    for line, cells in rows:
        shared = {name: cells.get(name) for name in kept}
        for system in chosen:
            yield Row(line, {**shared, "system": system, value: cells.get(system)})


def _no_column(
    role: str,
    present: Sequence[str],
    others: Sequence[str],
    columns: Columns,
    path: str | Path,
) -> InputError:
    """The error about a table in which a role has no column, with the line to give."""
    about = ROLES[role]
    several = about.by_system and "system" not in {
        _meaning(c, columns) for c in present
    }
    mapping = dict(columns)
    if others and several and len(others) > 1:
        mapping["system"] = "+".join(others)
    elif others:
        mapping[about.one] = others[-1]
    line = ",".join(f"{name}={own}" for name, own in mapping.items())
    quoted = f"'{line}'" if re.search(r"[^\w.,=+-]", line) else line
    return InputError(
        f"no column '{about.one}' among {', '.join(present) or 'none'}",
        path=path,
        expected=f"one that is called so, or told by columns: {role} have "
        f"{about.one}" + (", system and input" if about.by_system else " and input"),
        hint=f'Add --columns {quoted} (in Python columns="{line}").' if line else None,
    )


def _row_entries(
    rows: Sequence[Row],
    ours: Mapping[str, str],
    about: Role,
    system: str | None,
    path: str | Path,
) -> Iterator[Entry]:
    """The entries of rows under our names."""
    places: dict[str | None, int] = {}
    counts: dict[tuple[Any, ...], int] = {}
    many = about.many in ours
    column = ours[about.many if many else about.one]
    beside = [name for name in (*about.beside, "question", "units") if name in ours]

    for line, cells in rows:
        with located(path, line):
            own = system or named(cells, ours, "system")
            name = named(cells, ours, "input")
            place = places.get(own, 0)
            places[own] = place + 1
            value = cell_of(cells, column)
            more = {key: cell_of(cells, ours[key]) for key in beside}

        values = (
            _in_list(value, line, path, must=many) if about.one != "summary" else None
        )
        if values is None and (many or name is None) and about.beside:
            # One unit or label a row by order: nobody said which input it is of.
            if name is None and not many:
                raise InputError(
                    f"a row for each {about.one}, and no ids",
                    path=path,
                    line=line,
                    expected="a column 'input'",
                )
            values = [] if value is None else [value]

        listed = values is not None
        with_units = _in_list(more.pop("units", None), line, path) or ()
        for n, one in enumerate(values if values is not None else [value]):
            key = own, name if name is not None else place, more.get("annotator")
            nth = counts.get(key, 0)
            counts[key] = nth + 1
            told = more
            if listed and len(with_units) == len(values or ()):
                told = more | {"unit": _text_of(with_units[n])}
            yield Entry(own, name, place, nth, one, told, line, listed)


def cell_of(cells: Mapping[str, Any], column: str) -> Any:
    """A cell; a dotted name also leads into the objects that cells hold."""
    if column in cells or "." not in column:
        return cells.get(column)
    value: Any = cells
    for part in column.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def named(cells: Mapping[str, Any], ours: Mapping[str, str], name: str) -> str | None:
    """The name that a row has in a column; None where the table has no such column."""
    if name not in ours:
        return None
    value = cell_of(cells, ours[name])
    if (told := name_of(value)) is None:
        shown = "empty" if value is None else cut(repr(value))
        raise InputError(
            f"the column '{ours[name]}' is {shown}",
            expected=f"the name of the {name} in every row",
        )
    return told


def _in_list(
    value: Any, line: int, path: str | Path, *, must: bool = False
) -> list[Any] | None:
    """The list that a cell holds, also as JSON text; None of another value."""
    if isinstance(value, str) and (must or value[:2] in ("[]", '["', "[{", "[[")):
        if value.lstrip()[:1] != "[":
            raise InputError(
                f"{cut(repr(value), 60)} is no list",
                path=path,
                line=line,
                expected='["…", "…"], or one row for each',
            )
        value = parse_json(value, path=path, line=line, expected='a list: ["…", "…"]')
    return [*value] if isinstance(value, list | tuple) else None


def _text_of(unit: Any) -> Any:
    """The text of a unit, which may be an object or a record."""
    if isinstance(unit, Mapping):
        return unit.get("text")
    return unit.text if isinstance(unit, Unit) else unit


# Lists and dicts by id
# ------------------------------------------------------------------------------------


def _of_values(found: Opened, role: str, system: str | None) -> Table:
    """The entries of a list in the order of the inputs, or of a dict by their ids."""
    about = ROLES[role]
    by_id = found.by_key is not None
    pairs = (
        found.by_key.items()
        if found.by_key is not None
        else enumerate(found.listed or ())
    )
    entries = []
    size = 0
    if about.by_system and about.one != "document":
        system = system or "system"

    for place, (key, value) in enumerate(pairs):
        size = place + 1
        name = name_of(key) if by_id else None
        if by_id and name is None:
            raise InputError(f"an input is called {key!r}", expected="a name")
        line = place + 1
        values = _values_of(value, about, found, line)
        for nth, one in enumerate(values):
            entry = Entry(system, name, place, nth, one, {}, line, True)
            entries.append(entry)

    if not entries:
        raise InputError(f"no {role}", path=found.path, expected="at least one")
    # A list of paths is a common slip, and would be scored as texts.
    if not isinstance(found.path, Path) and all(is_file(e.value) for e in entries):
        raise InputError(
            f"'{entries[0].value}' is a file, not a text",
            path=found.path,
            hint="Give files as pathlib.Path, or their folder.",
        )
    counted_by = None if by_id else found.count
    return Table(
        role, entries, found.told, found.path, 0 if by_id else size, counted_by
    )


def _values_of(value: Any, about: Role, found: Opened, line: int) -> list[Any]:
    """The values of one input."""
    if about.one == "summary":
        return [value]
    if isinstance(value, str) and about.one in ("unit", "label", "presence"):
        # A line of a file has tabs between them.
        if isinstance(found.path, Path) and found.listed is not None:
            return value.split("\t")
        if about.one == "unit":
            raise InputError(
                f"the units of an input are a text, {cut(repr(value), 60)}",
                path=found.path,
                line=line,
                expected="a list of units for each input: [[unit, unit], [unit]]",
            )
    if isinstance(value, list | tuple):
        return [*value]
    listed = getattr(value, "tolist", None)
    return [*listed()] if listed else [value]
