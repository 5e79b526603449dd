"""Readers of rows: CSV, TSV, JSON, JSON Lines, lines of text, frames and other rows."""

import csv
import io
import json
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from litepyramid.checked import check_characters, parse_json, unguarded
from litepyramid.errors import InputError, located
from litepyramid.files import ending, jsonl_rows, read_text, split_lines
from litepyramid.io.exports import export_of, wrapped_rows
from litepyramid.io.formats import format_of
from litepyramid.io.rows import (
    COLUMNS,
    EVERY_COLUMN,
    KNOWN,
    SCORE_COLUMNS,
    ColumnMap,
    ColumnNames,
    Form,
    Holding,
    Row,
    Rows,
    as_ours,
    is_wide,
)
from litepyramid.io.shapes import collected, column_rows, frame_rows
from litepyramid.tables import plain
from litepyramid.text import counted

_UNNAMED = re.compile(r"column \d+|Unnamed: \d+")
_INDEX = "column without a name that numbers the rows"
_BETWEEN = re.compile(r"[ \t\n\r,]*")
_NAMES = frozenset(("system", "input", "metric"))


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
    path = Path(path)
    text = read_text(path) if text is None else text
    if not (text if blank_ok else text.strip()):
        raise InputError(
            "the file is empty", path=path, expected="one example per line, or a table"
        )

    known = {*KNOWN, *_headers(columns)}
    with located(path):
        form, rows = _form(path, text, known, table)
        if form == "lines":
            rows = [Row(n, {}, line) for n, line in enumerate(split_lines(text), 1)]
        elif form == "csv":
            rows = known_rows(text, known)
        elif form == "jsonl":
            rows = _jsonl_rows(text)

    left_out = {}
    if form == "csv" and (index := _index_column(rows, known)):
        left_out = {_INDEX: 1}
        for row in rows:
            del row.values[index]

    raw = Rows(path, form, rows, left_out=left_out)
    if form == "csv":
        _check_known(raw, columns, known, holding)
    return as_ours(raw, columns, holding)


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
    value: Any, what: str, name: str, columns: ColumnNames = None
) -> Rows | None:
    """The rows of a frame, a list of dicts or a dict of columns, which hold `what`;
    None if it is none of them.

    Summaries with nothing but texts and ids have a column for each system.
    """
    records = _records(value, what, columns)
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
            text = json.dumps(values)
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(
                f"cannot be read ({error})", path=name, line=line
            ) from None

        # Few rows hold a character that is written in two halves.
        if "\\ud" in text:
            check_characters(values, name, line)
        rows.append(Row(line, values))

    table = Rows(name, "python", rows)
    if name == "summaries" and columns is None and is_wide(table):
        columns = ColumnMap({"system": EVERY_COLUMN})
    return as_ours(table, columns, "score" if what == "score" else "summary")


def _records(
    value: Any, what: str, columns: ColumnNames
) -> Sequence[Mapping[Any, Any]] | None:
    value = value if isinstance(value, list) else collected(value)
    # Tables of Arrow, and frames of polars.
    for method in ("to_pylist", "to_dicts"):
        if hasattr(value, method):
            return list(getattr(value, method)())

    if hasattr(value, "notna") and hasattr(value, "columns"):
        known = {*KNOWN, *_headers(columns)}
        # A tool's frame may have the ids of its spans or examples as its index.
        names = frozenset(map(str, [*value.columns, *value.index.names]))
        return frame_rows(value, known | names if export_of(names) else known)
    if isinstance(value, Mapping):
        # The object that a tool writes as its whole file, read by the user already.
        if wrapped_rows(value):
            return [value]

        # A dict of columns: some of them say so, and all are of one length. Scores are
        # in no other dict.
        keys = frozenset(map(str, value))
        telling = {what, f"{what}s", "id", "input", *_headers(columns)} & keys
        of_tool = export_of(keys) or format_of({key: [] for key in keys})
        is_table = what == "score" or telling or of_tool
        if is_table and (rows := column_rows(value)) is not None:
            return rows
        return [value] if format_of(value) else None

    if isinstance(value, str | bytes | Path) or not isinstance(value, Iterable):
        return None
    listed = list(value)
    are_rows = listed and all(isinstance(row, Mapping) for row in listed)
    return listed if are_rows else None


def _headers(columns: ColumnNames) -> set[str]:
    return columns.headers if columns else set()


def _cell(value: Any) -> Any:
    # `plain` has no infinity; each reader says what it thinks of one.
    if isinstance(value, float) and math.isinf(value):
        return value
    value = plain(value)
    return int(value) if isinstance(value, bool) else value


def csv_rows(text: str, delimiter: str) -> tuple[list[str], list[Row]]:
    """The names in a CSV's header, and the rows below it; rows of empty cells alone are
    none."""
    names: list[str] = []
    rows = []
    line = 1
    limit = csv.field_size_limit(max(len(text), 1))
    # A cell may be as long as the file: the limit of the module is only a default.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)

    try:
        for cells in reader:
            # Blank lines before the header are none.
            if not names and any(cells):
                for n, cell in enumerate(cells, start=1):
                    names.append(cell.strip() or f"column {n}")
                name, count = Counter(names).most_common(1)[0]
                if count > 1:
                    raise InputError(f"column '{name}' occurs twice", line=line)
            elif any(cells) and len(cells) != len(names):
                raise InputError(
                    counted(len(cells), "column"),
                    line=line,
                    expected=f"{len(names)}, as in the header",
                )
            # In a table of one column an empty line is an empty cell.
            elif any(cells) or len(cells) == len(names) == 1:
                rows.append(Row(line, dict(zip(names, cells, strict=True))))
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"not valid CSV ({error})", line=line) from None
    finally:
        csv.field_size_limit(limit)

    return names, rows


def _form(
    path: Path, text: str, known: set[str], table: bool
) -> tuple[Form, list[Row]]:
    """What a file is; with the rows of a JSON array, which had to be read to see
    that."""
    kind = ending(path)
    start = text.lstrip()[:1]
    if start == "[":
        try:
            return "json", _array_rows(text)
        except InputError:
            # A line of text may begin with a bracket; broken JSON is no such line.
            if table or kind in (".json", ".jsonl") or re.match(r"\s*\[\s*\{", text):
                raise

    if start == "{" or kind in (".json", ".jsonl", ".ndjson"):
        return "jsonl", []
    names = _header(text, known)[1]
    # A line of text with commas may hold two known words: a header has short names.
    is_sentence = any(len(name.split()) > 2 for name in names - known)
    is_header = len(names & known) > 1 and not is_sentence
    is_table = table or kind in (".csv", ".tsv") or is_header
    return ("csv" if is_table else "lines"), []


def _jsonl_rows(text: str) -> list[Row]:
    try:
        return [Row(*row) for row in jsonl_rows(split_lines(text))]
    except InputError as error:
        try:
            whole = parse_json(text)
        except InputError:
            whole = None
        # Whatever else it is, the first bad line says what is wrong with it.
        if not isinstance(whole, dict):
            raise error from None
        if format_of(whole) or wrapped_rows(whole):
            return [Row(1, whole)]
        # A result of ours that was saved is one object over many lines.
        saved = whole.get("units", whole.get("sentences"))
        if (
            "signature" in whole
            and isinstance(saved, list)
            and all(isinstance(row, dict) for row in saved)
        ):
            return [Row(1, row) for row in saved]
        raise InputError(
            "one JSON object over several lines",
            expected="an array of objects, or one object per line",
        ) from None


def _array_rows(text: str) -> list[Row]:
    """The elements of the array that the text is, each with its line."""
    rows = []
    decoder = json.JSONDecoder()
    line = 1
    seen = 0
    end = text.index("[") + 1

    # Parsed twice: once for all the checks, once for where each element begins.
    for value in parse_json(text):
        at = _BETWEEN.match(text, end).end()  # type: ignore[union-attr]
        line, seen = line + text.count("\n", seen, at), at
        _, end = decoder.raw_decode(text, at)

        if isinstance(value, dict):
            rows.append(Row(line, value))
        elif isinstance(value, str):
            rows.append(Row(line, {}, value))
        else:
            raise InputError(
                f"a JSON list of {type(value).__name__}",
                line=line,
                expected="objects or texts",
            )

    return rows


def _header(text: str, known: set[str]) -> tuple[str, set[str]]:
    """The delimiter under which the first line holds most known columns, and its
    names."""
    first = text.lstrip().split("\n", 1)[0]
    names = {}
    for mark in ",\t;":
        names[mark] = {_column(cell.strip(' "\r'), known) for cell in first.split(mark)}
    # A semicolon or a tab wins where it gives more columns that are known.
    mark = max(names, key=lambda mark: (len(names[mark] & known), len(names[mark])))
    return mark, names[mark]


def _column(cell: str, known: set[str]) -> str:
    return cell if cell in known or cell.lower() not in known else cell.lower()


def known_rows(text: str, known: set[str]) -> list[Row]:
    """`csv_rows` under the known names of their columns, written in any case."""
    # Excel may write a line before the header, for itself.
    text = re.sub(r"\A\s*sep=.(?=\r?\n)", "", text)
    names, rows = csv_rows(text, _header(text, known)[0])
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
    hint = table.way_out(holding)

    if holding == "score":
        what = "a table of scores"
        expected = SCORE_COLUMNS
    elif hint:
        expected = "a header that says what a column holds"

    hint = hint or "Name the columns (columns input=NAME,…)."
    if holding == "summary":
        hint += " The name of a line file ends in .txt."
    raise InputError(
        f"{what} without any known column ({', '.join(table.names)})",
        path=table.path,
        line=1,
        expected=expected,
        hint=hint,
    )
