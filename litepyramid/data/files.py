"""Files of data by their endings: tables, JSON, lines of text; each row with its
line."""

import csv
import io
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any, Literal, NamedTuple

from litepyramid.checked import parse_json, unguarded
from litepyramid.errors import InputError, located, require
from litepyramid.files import ending, jsonl_rows, read_bytes, read_text, split_lines
from litepyramid.text import counted, cut

TABLES = (".csv", ".tsv")
JSON = (".json", ".jsonl", ".ndjson")
LINES = (
    *(".txt", ".summary", ".label", ".id", ".sys", ".hyp", ".ref", ".pred", ".target"),
    *(".source", ".out", ""),
)
_BETWEEN = re.compile(r"[ \t\n\r,]*")
_INDEX = re.compile(r"column \d+|Unnamed: \d+")
_NAMES = ("system", "input", "metric")
_HEADER = {"system", "input", "id", "summary", "reference", "unit", "label", "score"}


class Row(NamedTuple):
    """A row with named columns: its line, from 1, and its cells."""

    line: int
    cells: dict[str, Any]


Form = Literal["rows", "list", "value"]


def file_rows(path: Path) -> tuple[Form, Any]:
    """What a file holds: rows with named columns, a list of lines, or another JSON
    value.

    The ending says the form: ``.csv`` (commas, or semicolons), ``.tsv``, ``.jsonl``,
    ``.json``, ``.parquet``, or lines of text (``.txt``, ``.summary`` …), each also
    compressed (``.gz``). Standard input is JSON by its first character, a table by a
    first line with tabs, commas or semicolons, else lines of text.
    """
    kind = ending(path)
    if kind == ".parquet":
        return "value", _parquet_table(path)

    text = read_text(path)
    if str(path) == "-":
        kind = _kind_of_stream(text)
    if kind not in (*TABLES, *JSON, *LINES):
        raise InputError(
            f"the ending '{kind}'",
            path=path,
            expected=f"{', '.join((*TABLES, *JSON))}, .parquet, or .txt for lines",
            hint="The ending says what a file holds: rename it.",
        )
    # A summary may be empty, and so may a file of one.
    if not text.strip() and kind not in LINES:
        raise InputError("the file is empty", path=path)

    with located(path):
        if kind in TABLES:
            return "rows", table_rows(text, "\t" if kind == ".tsv" else None)
        if kind == ".json" or text.lstrip()[:1] == "[":
            return _json_rows(text, kind)
        if kind in JSON:
            return "rows", [Row(*row) for row in jsonl_rows(split_lines(text))]
        return "list", _text_lines(text)


def _kind_of_stream(text: str) -> str:
    start = text.lstrip()
    if start[:1] in ("{", "["):
        return ".jsonl" if start[0] == "{" else ".json"

    names = _names_in(start)
    if len(names) > 1 and not _HEADER.intersection(names) and " " in "".join(names):
        raise InputError(
            f"standard input of lines, or a table? It begins '{cut(names[0], 60)}'",
            path="-",
            expected="JSON, a header with a name such as input, or lines of text",
            hint="Write it to a file: its ending says what it holds.",
        )
    return ".csv" if len(names) > 1 or _HEADER.intersection(names) else ".txt"


def _names_in(text: str) -> list[str]:
    """What the first line would name if it were a header."""
    first = text.split("\n", 1)[0].strip().lower()
    return [name.strip() for name in re.split("[,;\t]", first)]


def _text_lines(text: str) -> list[str]:
    """The lines of a text file; InputError where it is a table or JSON under another
    name."""
    start = text.lstrip()
    if re.match(r'\{\s*"|\[\s*[\{"]', start):
        raise InputError(
            "JSON in a file of lines",
            line=1,
            hint="Rename it: .json, or .jsonl for an object a line.",
        )
    header = _names_in(start)
    if len(_HEADER.intersection(header)) > 1 and " " not in "".join(header):
        raise InputError("a table in a file of lines", line=1, hint="Rename it: .csv")
    return split_lines(text)


def _parquet_table(path: Path) -> Any:
    """What a Parquet file holds, as a table of Arrow."""
    require("pyarrow", extra="tables", purpose="a Parquet file")
    from pyarrow import ArrowException
    from pyarrow.parquet import read_table

    data = io.BytesIO(read_bytes(path))
    try:
        return read_table(data)
    except (ArrowException, OSError) as error:
        raise InputError(f"not a valid Parquet file ({error})", path=path) from None


def _json_rows(text: str, kind: str) -> tuple[Form, Any]:
    """A JSON file: rows of objects, a list, or whatever else it holds."""
    try:
        value = parse_json(text, mend=True)
    except InputError:
        lines = split_lines(text)
        # An object a line is the usual slip of a name.
        if kind == ".json" and len(lines) > 1 and lines[0].strip()[-1:] == "}":
            return "rows", [Row(*row) for row in jsonl_rows(lines)]
        raise

    if isinstance(value, list) and value and all(isinstance(v, dict) for v in value):
        return "rows", _array_rows(text, value)
    return ("list" if isinstance(value, list) else "value"), value


def _array_rows(text: str, values: list[dict[str, Any]]) -> list[Row]:
    """The objects of a JSON array, each with the line on which it begins."""
    decoder = json.JSONDecoder()
    rows = []
    line = 1
    seen = 0
    end = text.index("[") + 1

    for value in values:
        between = _BETWEEN.match(text, end)
        at = between.end() if between else end
        line, seen = line + text.count("\n", seen, at), at
        _, end = decoder.raw_decode(text, at)
        rows.append(Row(line, value))
    return rows


def table_rows(text: str, delimiter: str | None = None) -> list[Row]:
    """The rows of a CSV; an empty cell is None, and no index of a frame is a column."""
    # Excel may write a line before the header, for itself.
    text = re.sub(r"\A\s*sep=.(?=\r?\n)", "", text)
    names, rows = csv_rows(text, delimiter or _delimiter(text))
    if not names:
        raise InputError("no columns", expected="a first line that names them")
    index = _index_column(names, rows)
    # A frame's index that is more than a count holds the ids.
    ids = {"input", "id"} & {name.lower() for name in names}
    if index != names[0] and _INDEX.fullmatch(names[0]) and not ids:
        names[0] = "input"

    result = []
    for line, cells in rows:
        values = {}
        for name, cell in zip(names, cells, strict=True):
            if name != index:
                # Our own CSV puts a quote before names that a spreadsheet would
                # compute.
                text = unguarded(cell) if name in _NAMES else cell
                values[name] = text if text != "" else None
        result.append(Row(line, values))
    return result


def _delimiter(text: str) -> str:
    """What stands between the names of the first line: a comma, a semicolon or a
    tab."""
    first = text.lstrip().split("\n", 1)[0]
    return max(",;\t", key=first.count)


def csv_rows(
    text: str, delimiter: str
) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The names in a CSV's header, and the rows below it with their lines; rows of
    empty cells alone are none."""
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
                rows.append((line, cells))
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"not valid CSV ({error})", line=line) from None
    finally:
        csv.field_size_limit(limit)

    return names, rows


def _index_column(names: list[str], rows: list[tuple[int, list[str]]]) -> str | None:
    """The column without a name that numbers the rows, in any order: a frame's index,
    as `to_csv` writes it."""
    for place, name in enumerate(names):
        if _INDEX.fullmatch(name):
            cells = {row[place] for _, row in rows}
            if cells == {str(n) for n in range(len(rows))}:
                return name
    return None
