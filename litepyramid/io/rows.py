"""Rows of named values, with their places: CSV, TSV, a JSON array, JSON Lines, lines of text."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from litepyramid.checked import number, parse_json, unguarded
from litepyramid.errors import InputError
from litepyramid.files import ending, jsonl_rows, read_text, split_lines
from litepyramid.io.given import Given, Row
from litepyramid.io.nuggets import form_of, to_ours
from litepyramid.text import counted

Form = Literal["csv", "json", "jsonl", "lines"]
_LISTS = ("reference", "document", "unit", "weight", "label")
COLUMNS = (
    *("system", "input", "summary", "metric", "score", "kind", "sentence", "importance"),
    "presence",
    *(name + plural for name in _LISTS for plural in ("", "s")),
)
"""Columns that have a meaning; ``id`` is another name of ``input``."""
_KNOWN = frozenset((*COLUMNS, "id"))
_BETWEEN = re.compile(r"[ \t\n\r,]*")
_NAMES = frozenset(("system", "input", "metric"))


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one file.

    Attributes:
        path: The file.
        form: What it is.
        rows: In the file's order; all values of ``csv`` are texts.
        header: The columns of ``csv``, by their known names.
        columns: By known column, what the user says that the file calls it.
        theirs: Which file of TREC's it was (`nuggets.form_of`), if it was one.
    """

    path: Path
    form: Form
    rows: list[Row]
    header: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    theirs: str | None = None

    def holds(self, what: str) -> bool:
        """Whether some row has the column `what`, or its plural."""
        return any(what in row.values or f"{what}s" in row.values for row in self.rows)


def read_rows(
    path: str | Path,
    columns: Mapping[str, str] | None = None,
    *,
    table: bool = False,
    blank_ok: bool = False,
    text: str | None = None,
    left_out: Counter[str] | None = None,
) -> Rows:
    """The rows of a file in any of the forms, each with its line.

    A file is CSV or TSV (comma, tab or semicolon) if it is named so or if its first line holds two
    known columns; a JSON array if it is one, of objects or of texts; JSON Lines if it is named so
    or begins with a brace; else lines of text.

    Args:
        path: The file, perhaps compressed (.gz); or rows given in Python.
        columns: Own column names, by known column; ``id`` stands in for a missing ``input``.
        table: Whether a file that is no JSON must be CSV.
        blank_ok: Whether a file of blank lines alone is more than an empty file.
        text: What the file holds, if it has been read already: a pipe can be only once.
        left_out: As for `nuggets.to_ours`, which every row of JSON goes through.

    Raises:
        InputError: The file cannot be read, is empty, is not valid in its form, or is a table
            (by its name) without any known column; with file and line.
    """
    given = dict(columns or {})
    form: Form = "jsonl"
    header: list[str] = []
    if isinstance(path, Given):
        rows, path = path.rows, Path(path)
    else:
        path, text = Path(path), read_text(path) if text is None else text
        if not (text if blank_ok else text.strip()):
            expected = "one example per line, or a table"
            raise InputError("the file is empty", path=path, expected=expected)
        known = {*_KNOWN, *given.values()}
        form, rows = _form(path, text, known, table)
        if form == "jsonl":
            rows = _jsonl_rows(path, text)
        elif form == "csv":
            header, rows = _known_rows(path, text, known)
        elif form == "lines":
            lines = enumerate(split_lines(text), 1)
            return Rows(path, form, [Row(n, {}, line) for n, line in lines])
    theirs = None
    if form != "csv":
        theirs = next((found for row in rows if (found := form_of(row.values))), None)
        rows = [row._replace(values=to_ours(row.values, path, row.line, left_out)) for row in rows]
    if given or any("id" in row.values for row in rows):
        rows = [row._replace(values=_named(row.values, given)) for row in rows]
    return Rows(path, form, rows, tuple(_named(dict.fromkeys(header), given)), given, theirs)


def csv_rows(path: Path, text: str, delimiter: str = ",") -> tuple[list[str], list[Row]]:
    """The names in a CSV's header, and the rows below it; rows of empty cells alone are none.

    Raises:
        InputError: A column has no name of its own, or a row has other columns than the header.
    """
    names: list[str] = []
    rows: list[Row] = []
    line, limit = 1, csv.field_size_limit(max(len(text), 1))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for cells in reader:
            if not names and any(cells):
                names = [cell.strip() or f"column {n}" for n, cell in enumerate(cells, 1)]
                twice = [name for name, count in Counter(names).items() if count > 1]
                if twice:
                    raise InputError(f"column '{twice[0]}' occurs twice", path=path, line=line)
            elif any(cells) and len(cells) != len(names):
                raise InputError(
                    counted(len(cells), "column"),
                    path=path,
                    line=line,
                    expected=f"{len(names)}, as in the header",
                )
            elif any(cells) or len(cells) == len(names) == 1:
                rows.append(Row(line, dict(zip(names, cells, strict=True))))
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"not valid CSV ({error})", path=path, line=line) from None
    finally:
        csv.field_size_limit(limit)
    return names, rows


def identifier(value: Any) -> str | None:
    """A name as text: a text, or a whole number as it is written; None for all else.

    Example:
        >>> identifier("a"), identifier(3), identifier(3.0), identifier(None), identifier(True)
        ('a', '3', '3', None, None)
    """
    if not isinstance(value, str):
        found = number(value)
        value = None if found is None or found % 1 else str(int(value))
    return value if value and value.strip() else None


def parse_columns(text: str) -> dict[str, str]:
    """``input=doc_id,summary=output`` as a mapping from known columns to a file's own.

    Raises:
        InputError: The text does not read so, or a column is not one of `COLUMNS`.

    Example:
        >>> parse_columns("input=doc_id, summary=output")
        {'input': 'doc_id', 'summary': 'output'}
    """
    found: dict[str, str] = {}
    for part in text.split(","):
        name, _, own = (piece.strip() for piece in part.partition("="))
        if not own or name in found or name not in COLUMNS:
            raise InputError(
                f"the columns '{text}' cannot be read at '{part.strip()}'",
                expected=f"NAME=COLUMN,… with a NAME each of {', '.join(COLUMNS)}",
            )
        found[name] = own
    return found


def _form(path: Path, text: str, known: set[str], table: bool) -> tuple[Form, list[Row]]:
    """What a file is; with the rows of a JSON array, which had to be read to see that."""
    kind, start = ending(path), text.lstrip()[:1]
    if start == "[":
        try:
            return "json", _array_rows(path, text)
        except InputError:
            if table or kind in (".json", ".jsonl") or re.match(r"\s*\[\s*\{", text):
                raise
    if start == "{" or kind in (".json", ".jsonl", ".ndjson"):
        return "jsonl", []
    names = _header(text, known)[1]
    spoken = any(len(name.split()) > 2 for name in names - known)  # a sentence, not a header
    if table or kind in (".csv", ".tsv") or (len(names & known) > 1 and not spoken):
        return "csv", []
    return "lines", []


def _jsonl_rows(path: Path, text: str) -> list[Row]:
    try:
        return [Row(*found) for found in jsonl_rows(path, split_lines(text))]
    except InputError as error:
        try:
            whole = parse_json(text)
        except InputError:
            whole = None
        if not isinstance(whole, dict):
            raise error from None
        if form_of(whole):
            return [Row(1, whole)]
        raise InputError(
            "one JSON object over several lines",
            path=path,
            expected="an array of objects, or one object per line",
        ) from None


def _array_rows(path: Path, text: str) -> list[Row]:
    """The elements of the array that the text is, each with its line."""
    rows: list[Row] = []
    decoder, line, seen = json.JSONDecoder(), 1, 0
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
        rows.append(Row(line, {}, value) if isinstance(value, str) else Row(line, value))
    return rows


def _header(text: str, known: set[str]) -> tuple[str, set[str]]:
    """The delimiter under which the first line holds most known columns, and its names."""
    first = text.lstrip().split("\n", 1)[0]
    found = {
        mark: {_column(cell.strip(' "\r'), known) for cell in first.split(mark)} for mark in ",\t;"
    }
    mark = max(found, key=lambda mark: (len(found[mark] & known), len(found[mark])))
    return mark, found[mark]


def _column(cell: str, known: set[str]) -> str:
    return cell if cell in known or cell.lower() not in known else cell.lower()


def _known_rows(path: Path, text: str, known: set[str]) -> tuple[list[str], list[Row]]:
    """`csv_rows` under the known names of their columns, written in any case."""
    names, rows = csv_rows(path, text, _header(text, known)[0])
    own = {name: _column(name, known) for name in names}
    if not known & set(own.values()):
        raise InputError(
            "a table without any known column",
            path=path,
            line=1,
            expected=f"a header with some of {', '.join(COLUMNS)}",
            hint="Name the columns (--columns summary=NAME,…); or, if it is a line file, rename "
            "it to end in .txt.",
        )
    return list(own.values()), [
        Row(
            line,
            {own[k]: unguarded(cell) if own[k] in _NAMES else cell for k, cell in values.items()},
        )
        for line, values, _ in rows
    ]


def _named(values: dict[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    """The values under the known names of their columns."""
    if columns:
        own = {name: values[column] for name, column in columns.items() if column in values}
        hidden = ({*columns.values()} - _KNOWN) | (columns.keys() - {"input", "system"})
        values = {name: value for name, value in values.items() if name not in hidden} | own
    if "input" not in values and "id" in values:
        values = {**values, "input": values["id"]}
    return values
