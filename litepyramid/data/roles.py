"""What a source holds of one role: its entries, each with the names that it is known
by."""

from __future__ import annotations

import re
from ast import literal_eval
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from litepyramid.checked import as_truth, number, parse_json
from litepyramid.data.door import (
    Opened,
    are_texts,
    fields_in,
    id_of,
    is_file,
    is_text_file,
    name_of,
    opened,
    plain,
    text_of,
    values_in,
)
from litepyramid.data.files import Row
from litepyramid.data.headers import (
    NAMES,
    OF_TOOLS,
    ROLES,
    Columns,
    Role,
    form_of,
    line_of,
    meaning,
    no_column,
)
from litepyramid.data.records import Unit
from litepyramid.errors import InputError, located
from litepyramid.text import cut
from litepyramid.types import Names

_NO_TEXT = ("reference", "document")
SYSTEM = "system"
"""The name of a system that nothing names."""


class Entry(NamedTuple):
    """One value with what it is known by.

    Attributes:
        system: None where nothing names one.
        input: The id of its input; in a source without ids, its number, from 0.
        path, line: Where it stands.
        listed: Whether it stood in a list of all that its input has.
        more: What stands beside it.
        repeat: Of one of several answers of a system to an input: the system, and
            which.
    """

    system: str | None
    input: Any
    value: Any
    path: str | Path
    line: int
    listed: bool = False
    more: Mapping[str, Any] = {}
    repeat: tuple[str, str] | None = None

    def error(
        self, what: str, expected: str | None = None, hint: str | None = None
    ) -> InputError:
        """An error that names its place."""
        return InputError(
            what, path=self.path, line=self.line, expected=expected, hint=hint
        )


@dataclass(frozen=True)
class Table:
    """The entries of one source of a role.

    Attributes:
        description: What it was taken for, as the plan says it.
        size: How many inputs it has by order; 0 where it has ids.
        count: What a plain index of pandas, or ids of records, count; may be ids.
        columns, used: Its columns, and those that were read.
        shared: Whether a row also holds something else, so that its text may come
        again.
    """

    role: str
    entries: Sequence[Entry]
    description: str
    path: str | Path
    size: int = 0
    count: Sequence[Any] | None = None
    columns: Names = ()
    used: Names = ()
    shared: bool = False


class Leaf(NamedTuple):
    """A source without others inside: what it holds, and of which system, if a key of a
    dict or the name of its file tells."""

    found: Opened
    system: str | None = None
    by_file: bool = False


def leaves(
    found: Opened, role: str, columns: Columns, outer: Leaf | None = None
) -> list[Leaf]:
    """The sources inside of one: a dict or a folder may have one for each system;
    `outer` is what it stands in."""
    about = ROLES[role]
    leaf = outer or Leaf(found, None, by_file=True)
    if outer is None and role in ("summaries", "labels", "presence") and found.system:
        leaf = leaf._replace(system=found.system)
    leaf = leaf._replace(found=found)
    if found.by_key is None or found.by_id:
        return [leaf]
    by_key = found.by_key
    if not found.in_files and _may_be_columns(by_key, about, columns):
        with located(found.path):
            by_key = {key: _column(one, str(key)) for key, one in by_key.items()}
            if _are_columns(by_key, about, columns):
                rows = rows_of_columns(by_key)
                return [leaf._replace(found=replace(found, rows=rows, by_key=None))]

    by_system = about.by_system and outer is None
    if about.one == "document":
        by_system = by_system and not are_texts(found.by_key.values())
    texts = {}
    parts = []
    for key, value in by_key.items():
        if not by_system and (is_text_file(value) or not found.in_files):
            texts[key] = text_of(value)
            continue
        name = name_of(key)
        if name is None:
            raise InputError(f"a system is called {key!r}", expected="a name")
        # One text alone is that of the one input.
        alone = value is None or isinstance(value, str)
        inner = opened([value] if alone else value, f"{role} of '{name}'")
        if about.one == "document" and found.in_files and not inner.in_files:
            # A file of documents is of all systems, a folder of one.
            name = None
        inside = outer or Leaf(inner, name, found.in_files)
        parts += leaves(inner, role, columns, inside)
    if texts or not parts:
        parts.append(leaf._replace(found=replace(found, by_key=texts)))
    return parts


def read(leaf: Leaf, role: str, columns: Columns, source: str = "") -> Table:
    """The entries of a role that a source holds; `source` stands before the names of
    its columns if it is not the first.

    Raises:
        InputError: It has no column of the role, or a value does not fit.
    """
    if leaf.found.rows is not None:
        return _of_rows(leaf, role, columns, source)
    if columns:
        raise InputError(
            f"columns of {role}, which have none ({leaf.found.description})",
            path=leaf.found.path,
            expected="columns of a table; of another source as references.input=COLUMN",
        )
    return _of_values(leaf, role)


def _may_be_columns(by_key: Mapping[Any, Any], about: Role, columns: Columns) -> bool:
    """Whether a key of a dict is called as a column of a role, or as one that is
    told."""
    names = {meaning(str(key)) for key in by_key}
    columns_told = {
        part.strip() for column in columns.values() for part in column.split("+")
    }
    return not (names | {*map(str, by_key)}).isdisjoint(
        {about.one, about.many, *columns_told}
    )


def _column(value: Any, name: str) -> Opened:
    """A value of a dict that may be a column."""
    if isinstance(value, str):
        raise InputError(
            f"the text '{cut(value)}' under '{name}': one row?",
            expected="a list of rows, or lists for columns",
        )
    return opened(value, name)


def _are_columns(by_key: Mapping[Any, Opened], about: Role, columns: Columns) -> bool:
    """Whether the values of a dict, one of whose keys is called as a column, are
    columns; InputError where they could be systems as well."""
    names = {meaning(str(key)) for key in by_key} & NAMES
    is_keyed = any(one.listed is None or one.by_id for one in by_key.values())
    has_names = not names.isdisjoint(("input", "system"))
    if columns or (not is_keyed and (has_names or not about.by_system)):
        return True
    # Values by id are no columns, and systems if no other key is called as one.
    if is_keyed and names <= {about.one, about.many}:
        return False
    raise InputError(
        f"a dict with the keys {', '.join(map(str, by_key))}: systems, or columns?",
        expected="rows with named columns, or systems of other names",
        hint=f"Of columns: {line_of({about.one: about.one})}",
    )


def rows_of_columns(by_key: Mapping[Any, Any]) -> list[Row]:
    """The rows of a dict of columns; InputError where these are no lists of one length,
    or have other indexes."""
    columns = {str(key).strip(): opened(one, str(key)) for key, one in by_key.items()}
    lists = []
    for found in columns.values():
        # A frame as JSON holds its columns by its index.
        lists.append(found.listed or [*(found.by_key or {}).values()])
    lengths = {len(values) for values in lists}
    indexes = {
        tuple(found.by_key) if found.by_key else found.count
        for found in columns.values()
    }
    if 0 in lengths or len(lengths) > 1 or len(indexes - {None}) > 1:
        raise InputError(
            f"columns of {', '.join(map(str, sorted(lengths)))} cells, or with other "
            "indexes",
            expected="lists of one length",
        )
    rows = []
    for line, cells in enumerate(zip(*map(plain, lists), strict=True), start=1):
        rows.append(Row(line, dict(zip(columns, cells, strict=True))))
    return rows


# Rows with named columns
# ------------------------------------------------------------------------------------


def _of_rows(leaf: Leaf, role: str, columns: Columns, source: str) -> Table:
    """The entries of the rows of a table."""
    found = leaf.found
    if not found.rows:
        raise InputError(f"{role} without a row", path=found.path)
    about = ROLES[role]
    form = form_of(found, columns)
    # A key of a dict names the system in any case, a file if its rows do not.
    system = leaf.system
    if leaf.by_file and ("system" in form.ours or form.systems):
        system = None

    description = found.description
    systems = form.systems if about.one == "summary" and system is None else ()
    if systems:
        # Told, they may be anything; else they are texts, which no numbers are.
        if "system" not in columns and any(_is_number(found, one) for one in systems):
            raise no_column(found, form, role, columns, source)
        description += f", a column for each system: {', '.join(systems)}"
        used = {*form.ours.values(), *systems}
        entries = [*_system_entries(found, form.ours, systems)]
    else:
        others = [one for one in found.columns if one not in form.ours.values()]
        ours = {**form.ours}
        if not form.holds(role, found) and leaf.system is not None and len(others) == 1:
            # Of one system, the one other column holds its texts.
            ours[about.one] = others[0]
        elif not form.holds(role, found):
            raise no_column(found, form, role, columns, source)
        used = {*ours.values()}
        entries = [*_row_entries(found, _one_form(ours, about, columns), about, system)]

    has_ids = "input" in form.ours
    return Table(
        role,
        entries,
        description,
        found.path,
        size=0 if has_ids else 1 + max([entry.input for entry in entries]),
        count=None if has_ids else found.count,
        columns=found.columns,
        used=tuple(used),
        shared=not {"unit", "label", "annotator", "reference"}.isdisjoint(form.ours),
    )


def _is_number(found: Opened, column: str) -> bool:
    """Whether all that a column holds are numbers, or truths."""
    cells = [row.cells.get(column) for row in found.rows or ()]
    filled = [cell for cell in cells if cell not in (None, "")]
    return bool(filled) and all(number(as_truth(cell)) is not None for cell in filled)


def _one_form(
    ours: Mapping[str, str], about: Role, columns: Columns
) -> Mapping[str, str]:
    """Our names with the values of a role in one column: one a row, or in lists."""
    if about.many not in ours or about.one not in ours:
        return ours
    named_in = [name for name in (about.one, about.many) if name in columns]
    if len(named_in) != 1:
        raise InputError(
            f"columns {ours[about.one]} and {ours[about.many]}",
            expected="one of the two",
            hint=line_of({about.one: ours[about.one]}),
        )
    other = about.many if named_in == [about.one] else about.one
    return {name: own for name, own in ours.items() if name != other}


def _system_entries(
    found: Opened, ours: Mapping[str, str], systems: Names
) -> Iterator[Entry]:
    """The summaries of a table with a column for each system."""
    question = ours.get("question", "")
    path = found.path
    for place, (line, cells) in enumerate(found.rows or ()):
        with located(path, line):
            id_ = named(cells, ours, "input")
        more = {"question": cells[question]} if question in cells else {}
        for system in systems:
            name = place if id_ is None else id_
            yield Entry(system, name, cells.get(system), path, line, more=more)


def _row_entries(
    found: Opened, ours: Mapping[str, str], about: Role, system: str | None
) -> Iterator[Entry]:
    """The entries of rows under our names."""
    path = found.path
    places: Counter[str | None] = Counter()
    unnamed = SYSTEM if about.by_system and about.one != "document" else None
    in_lists = about.many in ours and about.one not in ours
    column = ours[about.many if in_lists else about.one]
    beside = {}
    # Whole units may stand beside what is said of each: labels, presence.
    units_beside = ("units",) if "unit" in about.beside else ()
    for name in (*about.beside, "annotator", "question", *units_beside):
        if ours.get(name, column) != column:
            beside[name] = ours[name]

    for line, cells in found.rows or ():
        place: Any
        with located(path, line):
            if column not in cells and "." not in column:
                raise InputError(f"no '{column}'", expected="one in every row, or null")
            whose = system or named(cells, ours, "system") or unnamed
            place = named(cells, ours, "input")
            more = {key: cell_of(cells, own) for key, own in beside.items()}
            value = cell_of(cells, column)
            repeat = None
            if cell_of(cells, ours.get("repeat", "")) is not None:
                repeat = str(whose), str(named(cells, ours, "repeat"))
                whose = f"{repeat[0]} (repeat {repeat[1]})"
            values = None
            if about.one != "summary":
                values = _list_in(value, line, must=in_lists)
            # Nobody said which input a unit or label is of.
            if values is None and place is None and about.beside:
                raise InputError(
                    f"a row for each {about.one}, and no ids",
                    expected="a column 'input'",
                )
            units = _list_in(more.pop("units", None), line) or ()
            if units and values is not None and len(units) != len(values):
                raise InputError(
                    f"{len(units)} units and {len(values)} {about.many} in one row",
                    expected=f"one {about.one} for each unit",
                )

        # An empty cell is no text; an input that has none is told of later.
        if value is None and place is not None and about.one in _NO_TEXT:
            continue

        if place is None:
            place = places[whose]
            places[whose] += 1
        if values is None:
            yield Entry(whose, place, value, path, line, more=more, repeat=repeat)
        for n, one in enumerate(values or ()):
            beside_unit = {**more, "unit": _text_of(units[n])} if units else more
            yield Entry(whose, place, one, path, line, True, beside_unit, repeat)
        if values == []:
            yield Entry(whose, place, None, path, line, True, more, repeat)


def cell_of(cells: Mapping[str, Any], column: str) -> Any:
    """A cell; a dotted name also leads into the objects and lists that cells hold.

    Example:
        >>> cell_of({"response": {"outputs": ["It rained."]}}, "response.outputs.0")
        'It rained.'
    """
    if column in cells or "." not in column:
        return cells.get(column)
    value: Any = cells
    for part in column.split("."):
        fields = fields_in(value)
        values = values_in(value)
        if fields is not None:
            value = fields.get(part)
        elif values and re.fullmatch(r"[0-9]{1,9}", part) and int(part) < len(values):
            value = values[int(part)]
        else:
            return None
    return value


def named(cells: Mapping[str, Any], ours: Mapping[str, str], name: str) -> str | None:
    """The name that a row has in a column; None where the table has no such column."""
    if name not in ours:
        return None
    value = cell_of(cells, ours[name])
    result = id_of(value) if name == "input" else name_of(value)
    if result is None:
        shown = "empty" if value is None else cut(repr(value))
        raise InputError(
            f"the column '{ours[name]}' is {shown}",
            expected=f"the name of the {name} in every row: a text or a whole number",
        )
    return result


# A list of texts and truths as Python shows it; possessive, so that no cell takes long.
_PYTHON = (
    r"""(?:'(?:[^'\\\n]|\\.)*+'|"(?:[^"\\\n]|\\.)*+"|True|False|None|nan|[-+.\de]++)"""
)
_PYTHON_LIST = re.compile(rf"\s*\[\s*{_PYTHON}(?:\s*,\s*{_PYTHON})*+\s*\]\s*")


def _list_in(value: Any, line: int, *, must: bool = False) -> list[Any] | None:
    """The list that a cell holds, also as JSON or Python show it in a text; None of
    another value, which a column of lists must not hold."""
    if isinstance(value, str) and (must or re.match(r"\[\s*[\]\[{\"']", value)):
        try:
            value = parse_json(
                value, line=line, expected='a list, ["…", "…"], or one row for each'
            )
        except InputError:
            if _PYTHON_LIST.fullmatch(value):
                with suppress(ValueError, SyntaxError):
                    return [*literal_eval(value.replace("nan", "None"))]
            if must:
                raise
            return None
    values = values_in(value)
    if must and values is None:
        return [] if value is None else [value]
    return values


def _text_of(unit: Any) -> Any:
    """The text of a unit, which may be an object or a record."""
    if (fields := fields_in(unit)) is not None:
        return fields.get("text")
    return unit.text if isinstance(unit, Unit) else unit


# Lists and dicts by id
# ------------------------------------------------------------------------------------


def _of_values(leaf: Leaf, role: str) -> Table:
    """The entries of a list in the order of the inputs, or of a dict by their ids."""
    found = leaf.found
    about = ROLES[role]
    by_id = found.by_key is not None
    pairs: Iterable[tuple[Any, Any]] = enumerate(found.listed or ())
    if found.by_key is not None:
        pairs = found.by_key.items()
    system = leaf.system
    if about.by_system and about.one != "document":
        system = system or SYSTEM

    entries = []
    names = set()
    for line, (key, value) in enumerate(pairs, start=1):
        name = id_of(key) if by_id else key
        with located(found.path, line):
            if name is None or name in names:
                raise InputError(
                    f"an input is called {key!r}" + " twice" * (name in names),
                    expected="a text or a whole number, each once",
                )
            names.add(name)
            values = _values_of(plain(value), about, found)
        for one in values or [None]:
            entries.append(Entry(system, name, one, found.path, line, listed=True))

    if not entries:
        raise InputError(
            f"no {role}",
            path=found.path,
            expected="at least one",
            hint=OF_TOOLS,
        )
    # A list of paths is a common slip, and would be scored as texts.
    if not found.is_file and all(is_file(entry.value) for entry in entries):
        raise InputError(
            f"'{entries[0].value}' is a file, not a text",
            path=found.path,
            hint="Give files as pathlib.Path, or their folder.",
        )
    size, count = (0, None) if by_id else (len(names), found.count)
    return Table(role, entries, found.description, found.path, size, count)


def _values_of(value: Any, about: Role, found: Opened) -> list[Any]:
    """The values of one input."""
    if about.one == "summary":
        return [value]
    if isinstance(value, str) and found.is_file and found.listed is not None:
        # A line of a file has tabs between them.
        return [value] if about.one == "document" else value.split("\t")
    if isinstance(value, str) and about.one == "unit" and not found.by_id:
        raise InputError(
            f"the units of an input are a text, {cut(repr(value), 60)}",
            expected="a list of units for each input: [[unit, unit], [unit]]",
        )
    values = values_in(value)
    return [value] if values is None else values
