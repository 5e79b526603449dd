"""Rows with their places: of CSV, TSV, JSON, JSON Lines, lines of text, frames and
other rows."""

import csv
import io
import json
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple

from litepyramid.checked import number, parse_json, unguarded
from litepyramid.errors import InputError, located
from litepyramid.files import ending, jsonl_rows, read_text, split_lines, stem
from litepyramid.io.exports import event_rows, export_of, read_export, wrapped_rows
from litepyramid.io.formats import FORMATS, format_of, translate
from litepyramid.io.shapes import (
    frame_rows,
    is_text_column,
    mapping_line,
    usual_meaning,
)
from litepyramid.tables import plain
from litepyramid.text import counted

Form = Literal["csv", "json", "jsonl", "lines", "python"]
Holding = Literal["summary", "score"]
"""What a cell holds in a table with a column for each system."""
_LISTS = ("reference", "document", "unit", "label")
COLUMNS = (
    *(
        "system",
        "input",
        "summary",
        "metric",
        "score",
        "kind",
        "sentence",
        "importance",
    ),
    *("presence", "question", "human", "annotator", "weight"),
    *(name + plural for name in _LISTS for plural in ("", "s")),
)
"""Columns that have a meaning."""
_OTHER_NAMES = {
    "id": "input",
    "query": "question",
    "prompt": "question",
}
_KNOWN = frozenset((*COLUMNS, *_OTHER_NAMES))
_UNNAMED = re.compile(r"column \d+|Unnamed: \d+")
_INDEX = "column without a name that numbers the rows"
_BETWEEN = re.compile(r"[ \t\n\r,]*")
_NAMES = frozenset(("system", "input", "metric"))

EVERY_COLUMN = "*"
"""In place of a system's column: every column of texts that has no other meaning."""

Ids = Sequence[str] | None
"""Ids of inputs whose rows go by their order."""


SCORE_COLUMNS = (
    "the columns system, input and one a metric, or system, input, metric, score"
)


class ColumnMap(dict[str, str]):
    """Own column names by known column; `seen` are the columns of the tables that were
    read."""

    def __init__(self, names: Mapping[str, str]) -> None:
        super().__init__(names)
        self.seen: set[str] = set()

    @property
    def headers(self) -> set[str]:
        """The names that stand in the head of a table: of ``a+b`` each."""
        names = {*self.values()}
        for column in self.values():
            names |= {part.strip() for part in column.split("+")}
        return names - {EVERY_COLUMN}

    def check(self) -> None:
        """Raises InputError if a column is named that no table had."""
        for name, column in self.items():
            if column not in self.seen:
                there = ", ".join(sorted(self.seen)) or "a table with named columns"
                raise InputError(
                    f"no column '{column}' (columns {name}={column})", expected=there
                )


ColumnNames = ColumnMap | None


class Row(NamedTuple):
    """One row: its line, from 1; its values by column, or its text; its file if not the
    table's."""

    line: int
    values: dict[str, Any]
    text: str | None = None
    path: str | Path | None = None


@dataclass(frozen=True)
class Rows:
    """The rows of one source; `made` by another tool, of whose file some things are
    `left_out`; `remarks` are for whoever reads the scores."""

    path: str | Path
    form: Form
    rows: list[Row]
    columns: Mapping[str, str] = field(default_factory=dict)
    made: str = ""
    left_out: Mapping[str, int] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.rows:
            raise InputError("the table has no rows", path=self.path)

    @property
    def runs(self) -> bool:
        """Whether the file is a log of runs, whose systems may have the same name in
        another."""
        if self.made in FORMATS:
            return FORMATS[self.made].runs
        return bool(self.made)  # an export of a tool

    def holds(self, what: str) -> bool:
        """Whether some row has the column `what`, or its plural."""
        return any(what in row.values or f"{what}s" in row.values for row in self.rows)

    @property
    def names(self) -> list[str]:
        """The columns, in the order in which they come."""
        return list(dict.fromkeys(chain.from_iterable([r.values for r in self.rows])))

    def cells(self, name: str) -> list[Any]:
        """The cells of one column."""
        return [row.values.get(name) for row in self.rows]

    def way_out(self, *, of_scores: bool = False) -> str | None:
        """How to name the columns of a table in which something was not found."""
        if self.form == "lines":
            return None
        if of_scores:
            line = mapping_line(self.names, None, _KNOWN)
            if "system" in self.names or "system=" in (line or ""):
                return line
            needed = "Add a column 'system': who wrote what was scored."
            return f"{needed} {line}" if line else needed
        # A column of single words, such as a split, is no system where others tell more.
        texts: list[str] = []
        for least in (2, 1):
            texts = texts or [
                name
                for name in self.names
                if is_text_column(self.cells(name), least=least)
            ]
        return mapping_line(self.names, texts, _KNOWN)


def read_rows(
    path: str | Path,
    columns: ColumnNames = None,
    *,
    table: bool = False,
    blank_ok: bool = False,
    text: str | None = None,
    holding: Holding = "summary",
) -> Rows:
    """The rows of a file in any of the forms, each with its line.

    A file is CSV or TSV (comma, tab or semicolon) if it is named so or if its first
    line holds two known columns; a JSON array if it is one, of objects or of texts;
    JSON Lines if it is named so or begins with a brace; else lines of text.
    """
    path, text = Path(path), read_text(path) if text is None else text
    if not (text if blank_ok else text.strip()):
        raise InputError(
            "the file is empty", path=path, expected="one example per line, or a table"
        )

    known = {*_KNOWN, *(columns.headers if columns else ())}
    form, rows = _form(path, text, known, table)
    if form == "lines":
        rows = [Row(n, {}, line) for n, line in enumerate(split_lines(text), 1)]
    elif form == "csv":
        rows = _known_rows(path, text, known)
        if index := _index_column(rows, known):
            for row in rows:
                del row.values[index]
            return _as_ours(Rows(path, form, rows, left_out={_INDEX: 1}), columns)
    elif form == "jsonl":
        rows = _jsonl_rows(path, text)

    raw = Rows(path, form, rows)
    if form == "csv":
        _check_known(raw, columns, known, holding)
    return _as_ours(raw, columns, holding)


def _index_column(rows: Sequence[Row], known: Collection[str]) -> str:
    """The column without a name that holds 0, 1, 2 … and nothing more: a data frame's
    index."""
    for name in rows[0].values if rows else ():
        # to_csv writes a frame's index without a name, unless it is told not to.
        if name in known or not _UNNAMED.fullmatch(name):
            continue
        if all(row.values.get(name) == str(n) for n, row in enumerate(rows)):
            return str(name)
    return ""


def table_rows(
    value: Any,
    name: str,
    columns: ColumnNames = None,
    *,
    holding: str = "",
    wide: bool = False,
) -> Rows | None:
    """The rows of a frame, a list of dicts or a dict of columns; None if it is none of
    them.

    With `wide`, a table with nothing but texts and ids holds a system in each column.
    """
    records = _records(value, holding, columns)
    if records is None:
        return None
    rows = []

    for line, record in enumerate(records, start=1):
        try:
            values = {}
            for key, cell in record.items():
                # A missing weight is an error, where any other cell may be empty.
                if (value := _cell(cell)) is not None or str(key) == "weight":
                    values[_column(str(key).strip(), {"system", "input"})] = value
            # What JSON cannot hold would be an error much later, when it is saved.
            json.dumps(values, ensure_ascii=False).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(
                f"cannot be read ({error})", path=name, line=line
            ) from None

        rows.append(Row(line, values))

    table = Rows(name, "python", rows)
    if wide and columns is None and _is_wide(table):
        columns = ColumnMap({"system": EVERY_COLUMN})
    return _as_ours(table, columns, "score" if holding == "score" else "summary")


def _is_wide(table: Rows) -> bool:
    """Whether all columns but the ids are texts of which we do not know what they
    are."""
    names = [name for name in table.names if _OTHER_NAMES.get(name, name) != "input"]
    if not names or {*names} & _KNOWN or format_of(table.rows[0].values):
        return False
    if any(usual_meaning(name) for name in names):  # "gold" is no system
        return False
    return all(is_text_column(table.cells(name), least=2) for name in names)


def _melted(table: Rows, chosen: list[str], holding: Holding) -> Rows:
    """A row for each system of a table that has a column for each of them."""
    present = table.names
    for name in chosen:
        if name not in present:
            raise InputError(
                f"no column '{name}' (columns system={'+'.join(chosen)})",
                path=table.path,
                expected=f"some of {', '.join(present)}",
            )

    remarks = []
    if others := [name for name in present if name not in {*_KNOWN, *chosen}]:
        remarks.append(f"Columns that are not read: {', '.join(others)}.")

    listed = ", ".join(chosen)
    remarks.append(f"A system is a column: {listed}.")
    if "input" not in present:
        remarks.append("The rows have no ids: they go by their order.")

    rows = []
    for row in table.rows:
        shared = {k: cell for k, cell in row.values.items() if k not in chosen}
        for system in chosen:
            values = {
                **shared,
                "system": system,
                holding: row.values.get(system),
            }
            rows.append(row._replace(values=values))

    # Rows in Python go by their order where they have no ids.
    form: Form = table.form if "input" in present else "python"
    return replace(
        table,
        rows=rows,
        form=form,
        remarks=(*table.remarks, *remarks),
    )


def _system_columns(table: Rows, systems: str, holding: Holding) -> list[str]:
    """The columns that a mapping of systems names; none, if it is to one or none is
    here."""
    if systems in table.names:
        return []

    if systems != EVERY_COLUMN:
        parts = [part.strip() for part in systems.split("+")]
        several = len(parts) > 1 and not {*parts}.isdisjoint(table.names)
        return parts if several else []

    left = [name for name in table.names if name not in _KNOWN]
    if holding == "score":
        return left
    return [name for name in left if is_text_column(table.cells(name))]


def _as_ours(table: Rows, columns: ColumnNames, holding: Holding = "summary") -> Rows:
    """The rows under the known names of their columns; those of another tool's file as
    ours."""
    form = None if table.form == "csv" else format_of(table.rows[0].values)
    if form is not None:
        lines = ((row.line, row.values) for row in table.rows)
        ours, counts = translate(form, lines, table.path)
        table = replace(
            table,
            rows=[Row(*row) for row in ours],
            made=form,
            left_out=counts,
        )
    elif not _holds_ours(table, columns):
        table = _of_export(table)

    present = {*table.names}
    aliases = {alias: name for alias, name in _OTHER_NAMES.items() if alias in present}
    if columns is not None:
        columns.seen |= present
    elif not aliases:
        return table

    # A column that is mapped away must not be read under its old meaning too.
    renamed: Mapping[str, str] = columns or {}
    hidden = ({*renamed.values()} - _KNOWN) | (renamed.keys() - {"input", "system"})

    def known(own: dict[str, Any]) -> dict[str, Any]:
        values = {name: value for name, value in own.items() if name not in hidden}
        for name, column in renamed.items():
            if column in own:
                values[name] = own[column]
        for alias, name in aliases.items():
            if alias in values and name not in values:
                values[name] = values[alias] if alias == "id" else values.pop(alias)
        return values

    rows = [row._replace(values=known(row.values)) for row in table.rows]
    table = replace(table, rows=rows, columns=renamed)

    systems = renamed.get("system", "")
    if columns is not None and (chosen := _system_columns(table, systems, holding)):
        columns.seen.add(systems)
        table = _melted(table, chosen, holding)

    return table


def joined(tables: Sequence[Rows]) -> Rows:
    """The rows of several whole tables as one; a system is named by its rows, or by its
    file."""
    rows: list[Row] = []
    seen: set[str] = set()
    left_out: Counter[str] = Counter()

    for table in tables:
        file = stem(table.path)
        named = [{"system": file, **row.values} for row in table.rows]
        systems = {str(values["system"]) for values in named}
        if table.runs and seen & systems:
            for values in named:
                values["system"] = f"{values['system']} ({file})"
        seen |= systems
        left_out.update(table.left_out)
        pairs = zip(table.rows, named, strict=True)
        rows += [row._replace(values=values, path=table.path) for row, values in pairs]

    return replace(
        tables[0],
        form="python",
        rows=rows,
        left_out=left_out,
    )


def _holds_ours(table: Rows, columns: ColumnNames) -> bool:
    """Whether a table's columns are ours, or the user says what they are."""
    named = {*table.names}
    if columns is not None and columns.headers & named:
        return True
    return bool(named & {"summary", "unit", "units", "label", "labels", "presence"})


def _of_export(table: Rows) -> Rows:
    """The rows of a tool's export as ours; all else as it is."""
    lines = [(row.line, row.values) for row in table.rows]
    counts: Counter[str] = Counter()

    if len(lines) == 1 and (wrapped := wrapped_rows(lines[0][1])) is not None:
        name, listed = wrapped
        lines = list(enumerate(listed, 1))
        for key, value in table.rows[0].values.items():
            if key != name and value not in (None, "", [], {}):
                counts[f"values of {key} of the file"] += 1
    elif "spec" in lines[0][1]:
        lines = event_rows(lines, counts)

    names = frozenset(chain.from_iterable([row for _, row in lines]))
    if (export := export_of(names)) is None:
        return table

    with located(table.path, table.rows[0].line):
        ours = list(read_export(export, lines, counts))
    # What is read from a pipe or from memory has no name of its own.
    named = table.form != "python" and str(table.path) != "-"
    system = stem(table.path) if named else "system"
    rows = [Row(line, {"system": system, **values}) for line, values in ours]
    return replace(
        table,
        rows=rows,
        form="jsonl",
        made=export.name,
        left_out=+counts,
    )


def _records(
    value: Any, holding: str, columns: ColumnNames
) -> Sequence[Mapping[Any, Any]] | None:
    for method in ("to_pylist", "to_dicts"):
        if hasattr(value, method):
            return list(getattr(value, method)())

    if hasattr(value, "notna") and hasattr(value, "columns"):
        return frame_rows(value, {*_KNOWN, *(columns.headers if columns else ())})
    if isinstance(value, Mapping):
        if all(isinstance(key, str) for key in value) and (
            format_of(value) or wrapped_rows(value)
        ):
            return [value]

        telling = {holding, holding.removesuffix("s"), "id", "input"}
        if not telling & set(value):
            return None
        cells = {key: plain(column) for key, column in value.items()}
        lengths = {len(c) if isinstance(c, list) else -1 for c in cells.values()}
        if len(cells) < 2 or len(lengths) != 1 or lengths == {-1}:
            return None

        rows = zip(*cells.values(), strict=True)
        return [dict(zip(cells, row, strict=True)) for row in rows]

    if isinstance(value, str | bytes | Path) or not isinstance(value, Iterable):
        return None
    listed = list(value)
    return (
        listed if listed and all(isinstance(row, Mapping) for row in listed) else None
    )


def _cell(value: Any) -> Any:
    if isinstance(value, float) and math.isinf(value):
        return value  # the readers say what they think of it
    value = plain(value)
    if isinstance(value, list):
        return [_cell(one) for one in value]
    return int(value) if isinstance(value, bool) else value


def csv_rows(
    path: Path, text: str, delimiter: str = ","
) -> tuple[list[str], list[Row]]:
    """The names in a CSV's header, and the rows below it; rows of empty cells alone are
    none."""
    names: list[str] = []
    rows: list[Row] = []
    line = 1
    limit = csv.field_size_limit(max(len(text), 1))
    # A cell may be as long as the file: the limit of the module is only a default.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)

    try:
        for cells in reader:
            if not names and any(cells):
                for n, cell in enumerate(cells, start=1):
                    names.append(cell.strip() or f"column {n}")
                name, count = Counter(names).most_common(1)[0]
                if count > 1:
                    raise InputError(
                        f"column '{name}' occurs twice", path=path, line=line
                    )
            elif any(cells) and len(cells) != len(names):
                what = counted(len(cells), "column")
                raise InputError(
                    what,
                    path=path,
                    line=line,
                    expected=f"{len(names)}, as in the header",
                )
            # In a table of one column an empty line is an empty cell.
            elif any(cells) or len(cells) == len(names) == 1:
                rows.append(Row(line, dict(zip(names, cells, strict=True))))
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"not valid CSV ({error})", path=path, line=line) from None
    finally:
        csv.field_size_limit(limit)

    return names, rows


def identifier(value: Any) -> str | None:
    """A name as text: a text, or a whole number as it is written; None for all else."""
    if not isinstance(value, str):
        whole = number(value)
        # A frame reads ids as numbers, and as 1.0 where one of them is missing.
        value = None if whole is None or whole % 1 else str(int(whole))
    return value if value and value.strip() else None


def parse_columns(text: Any) -> ColumnNames:
    """``input=doc_id,summary=output``, or a dict, from known columns to a table's
    own."""
    if text is None:
        return None
    if isinstance(text, Mapping):
        names = {}
        for name, column in text.items():
            names[name] = (
                "+".join(column) if isinstance(column, list | tuple) else column
            )
        if all(isinstance(column, str) for column in names.values()):
            return ColumnMap(names)

    if not isinstance(text, str):
        raise InputError(
            f"columns cannot be read from a {type(text).__name__}",
            expected='NAME=COLUMN,… or a dict such as {"summary": "output"}',
        )

    columns: dict[str, str] = {}
    for part in text.split(","):
        name, _, column = (piece.strip() for piece in part.partition("="))
        if not column or name in columns or name not in COLUMNS:
            raise InputError(
                f"the columns '{text}' cannot be read at '{part.strip()}'",
                expected=f"NAME=COLUMN,… with a NAME each of {', '.join(COLUMNS)}",
            )
        columns[name] = column

    return ColumnMap(columns)


def _form(
    path: Path, text: str, known: set[str], table: bool
) -> tuple[Form, list[Row]]:
    """What a file is; with the rows of a JSON array, which had to be read to see
    that."""
    kind = ending(path)
    start = text.lstrip()[:1]
    if start == "[":
        try:
            return "json", _array_rows(path, text)
        except InputError:
            if table or kind in (".json", ".jsonl") or re.match(r"\s*\[\s*\{", text):
                raise

    if start == "{" or kind in (".json", ".jsonl", ".ndjson"):
        return "jsonl", []
    names = _header(text, known)[1]
    # A line of text with commas may hold two known words: a header has short names.
    is_sentence = any(len(name.split()) > 2 for name in names - known)

    if (
        table
        or kind in (".csv", ".tsv")
        or (len(names & known) > 1 and not is_sentence)
    ):
        return "csv", []

    return "lines", []


def _jsonl_rows(path: Path, text: str) -> list[Row]:
    try:
        return [Row(*row) for row in jsonl_rows(path, split_lines(text))]
    except InputError as error:
        try:
            whole = parse_json(text)
        except InputError:
            whole = None
        if not isinstance(whole, dict):
            raise error from None
        if format_of(whole) or wrapped_rows(whole):
            return [Row(1, whole)]
        # A result that was saved is one object over many lines.
        saved = (
            whole.get("units", whole.get("sentences")) if "signature" in whole else None
        )
        if isinstance(saved, list) and all(isinstance(row, dict) for row in saved):
            return [Row(1, row) for row in saved]  # a result of ours
        raise InputError(
            "one JSON object over several lines",
            path=path,
            expected="an array of objects, or one object per line",
        ) from None


def _array_rows(path: Path, text: str) -> list[Row]:
    """The elements of the array that the text is, each with its line."""
    rows: list[Row] = []
    decoder = json.JSONDecoder()
    line = 1
    seen = 0
    end = text.index("[") + 1

    for value in parse_json(text, path=path):
        at = _BETWEEN.match(text, end).end()  # type: ignore[union-attr]
        line, seen = line + text.count("\n", seen, at), at
        _, end = decoder.raw_decode(text, at)

        if not isinstance(value, dict | str):
            raise InputError(
                f"a JSON list of {type(value).__name__}",
                path=path,
                line=line,
                expected="objects or texts",
            )

        rows.append(
            Row(line, {}, value) if isinstance(value, str) else Row(line, value)
        )

    return rows


def _header(text: str, known: set[str]) -> tuple[str, set[str]]:
    """The delimiter under which the first line holds most known columns, and its
    names."""
    first = text.lstrip().split("\n", 1)[0]
    names: dict[str, set[str]] = {}
    for mark in ",\t;":
        names[mark] = {_column(cell.strip(' "\r'), known) for cell in first.split(mark)}
    # A semicolon or a tab wins where it gives more columns that are known.
    mark = max(names, key=lambda mark: (len(names[mark] & known), len(names[mark])))
    return mark, names[mark]


def _column(cell: str, known: set[str]) -> str:
    return cell if cell in known or cell.lower() not in known else cell.lower()


def _known_rows(path: Path, text: str, known: set[str]) -> list[Row]:
    """`csv_rows` under the known names of their columns, written in any case."""
    names, rows = csv_rows(path, text, _header(text, known)[0])
    columns = {name: _column(name, known) for name in names}
    result = []
    for row in rows:
        named = {columns[name]: cell for name, cell in row.values.items()}
        # Our own CSV puts a quote before names that a spreadsheet would compute.
        named |= {name: unguarded(named[name]) for name in _NAMES & named.keys()}
        result.append(row._replace(values=named))
    return result


def _check_known(
    table: Rows, columns: ColumnNames, known: set[str], holding: Holding
) -> None:
    """Raises InputError, with a way out, if nothing is known of a table's columns."""
    if columns is not None and columns.get("system") == EVERY_COLUMN:
        return
    if known & {*table.names} or export_of(frozenset(table.names)):
        return

    what = "a table"
    expected = f"a header with some of {', '.join(COLUMNS)}"
    hint = table.way_out(of_scores=holding == "score")

    if holding == "score":
        what = "a table of scores"
        expected = SCORE_COLUMNS
    elif hint:
        expected = "a header that says what a column holds"

    hint = hint or "Name the columns (columns input=NAME,…)."
    if holding == "summary":
        hint += " The name of a line file ends in .txt."
    seen = ", ".join(table.names)
    raise InputError(
        f"{what} without any known column ({seen})",
        path=table.path,
        line=1,
        expected=expected,
        hint=hint,
    )
