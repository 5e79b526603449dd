"""Rows of tables, lists, JSON, CSV and enumerations: texts that are no prose.

A judge that reads "Pro 29 Team 49" as one text finds *Team costs 29* in it. Read row by
row, each cell with its head, it does not.
"""

import csv
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple


class Cell(NamedTuple):
    """What a row says under a head; the head is "" where there is none."""

    head: str
    value: str


@dataclass(frozen=True)
class Row:
    """A row, item or record: a text of its own, and the cells that it was made of."""

    text: str
    cells: tuple[Cell, ...]


MOST_ROWS = 300
"""Of a text of more rows no row is read by itself."""

_FENCE = re.compile(r"^[ \t]*(?:```|~~~).*$", re.MULTILINE)


def rows_of(text: str) -> list[Row]:
    r"""The rows of a text, in its order; none of a text that is prose.

    Example:
        >>> [row.text for row in rows_of("plan,price\nPro,$29\nTeam,$49")]
        ['plan: Pro; price: $29', 'plan: Team; price: $49']
    """
    plain = _FENCE.sub("", text)
    rows = (
        [*_json_rows(plain)]
        or [*_line_rows(plain.splitlines())]
        or [*_enumerated_rows(plain)]
    )
    return rows if 2 <= len(rows) <= MOST_ROWS else []


def row_of(cells: Sequence[Cell], above: Sequence[str] = ()) -> Row:
    """Cells as a row, behind what stands above it.

    Example:
        >>> row_of([Cell("", "Pro"), Cell("", "$29")], ["Prices"]).text
        'Prices: Pro: $29'
        >>> row_of([Cell("plan", "Pro"), Cell("price", "$29")]).text
        'plan: Pro; price: $29'
    """
    told = [f"{head}: {value}" if head else value for head, value in cells]
    # Of cells without heads the first is a name, and the others are said of it.
    if len(cells) > 1 and not cells[0].head and not cells[1].head:
        told[:2] = [": ".join(told[:2])]
    text = ": ".join([*above, "; ".join(told)])
    return Row(text, (*(Cell("", name) for name in above), *cells))


# JSON


def _json_rows(text: str) -> Iterator[Row]:
    """The records of a JSON value, or of lines of JSON."""
    starts = [at for at in map(text.find, "{[") if at >= 0]
    end = max(map(text.rfind, "}]")) + 1
    if not starts or end <= min(starts):
        return

    inside = text[min(starts) : end]
    for read in (json.loads, _json_lines):
        try:
            value = read(inside)
        except (ValueError, RecursionError):
            continue
        yield from _records(value, ())
        return


def _json_lines(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def _records(value: Any, path: tuple[str, ...]) -> Iterator[Row]:
    """Each object of several alike as a row; of an object alone each entry."""
    if isinstance(value, list):
        for one in value:
            if isinstance(one, dict):
                yield from _record(one, path, _cells(one))
            else:
                yield from _records(one, path)
    elif isinstance(value, dict):
        inner = [one for one in value.values() if isinstance(one, dict)]
        alike = len(inner) > 1 and bool(set.intersection(*map(set, inner)))
        for key, one in value.items():
            if alike and isinstance(one, dict):
                yield from _record(one, path, [Cell("", str(key)), *_cells(one)])
            elif isinstance(one, dict) or _nested(one):
                yield from _records(one, (*path, str(key)))
            else:
                yield row_of([Cell("", str(key)), Cell("", _plain(one))], path)
    else:
        yield row_of([Cell("", _plain(value))], path)


def _record(
    record: dict[str, Any], path: tuple[str, ...], cells: Sequence[Cell]
) -> Iterator[Row]:
    """A record, and those inside it behind its name."""
    if cells:
        yield row_of(cells, path)
    name = [cell.value for cell in cells[:1]]
    for key, one in record.items():
        if _nested(one):
            yield from _records(one, (*path, *name, str(key)))


def _cells(record: dict[str, Any]) -> list[Cell]:
    return [Cell(str(k), _plain(v)) for k, v in record.items() if not _nested(v)]


def _nested(value: Any) -> bool:
    if isinstance(value, list):
        return any(isinstance(one, dict | list) for one in value)
    return isinstance(value, dict)


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_plain, value))
    if value is None or isinstance(value, bool):
        return {True: "yes", False: "no", None: "none"}[value]
    return str(value)


# Tables and lists

_RULE = re.compile(r"[\s|:+=-]*-[\s|:+=-]*")
_BULLET = re.compile(r"\s*(?:[-–*+•‣▪●◦·]|\(?\d{1,3}[.)]|\(?[a-z]\))[ \t]+(?=\S)")
_PAIR = re.compile(
    r"(?P<head>[^:=→|\t.!?]{1,60}?)"
    r"(?:\s*(?::\s|=>?|→|->)\s*|\s+[–—-]\s+)(?P<value>\S.*)"
)
_MARKS = (("|", 2), ("\t", 2), (";", 3), (",", 3), ("  ", 3))
"""What parts the cells of a line, and how many lines make a table."""


def _line_rows(lines: Sequence[str]) -> Iterator[Row]:
    """The rows of tables and lists, each behind the line above if that ends in a colon
    or is a heading."""
    above: list[str] = []
    at = 0
    while at < len(lines):
        end, rows = _list(lines, at)
        if not rows:
            end, table = table_at(lines, at)
            rows = [*table.values()]
        for cells in rows:
            yield row_of(cells, above)

        line = lines[at].strip()
        if rows:
            above, at = [], end
            continue
        if line:
            heading = line.startswith("#") or line.endswith(":")
            above = [line.strip("#: \t*")] if heading else []
        at += 1


def table_at(
    lines: Sequence[str], start: int, longest: int = 12
) -> tuple[int, dict[int, list[Cell]]]:
    """The table that begins at a line: the line behind it, and its rows by their line,
    neither the one of the heads nor a line of dashes.

    Only between ``|`` a cell may have more than `longest` words or be a sentence.

    Example:
        >>> table_at(["plan,price", "Pro,$29", "Team,$49"], 0)[1][2]
        [Cell(head='plan', value='Team'), Cell(head='price', value='$49')]
    """
    for mark, least in _MARKS:
        table: dict[int, list[str]] = {}
        ruled = False
        end = start
        while end < len(lines) and lines[end].strip():
            if _RULE.fullmatch(lines[end]):
                ruled = ruled or len(table) == 1
            else:
                cells = _split(lines[end], mark)
                if len(cells) < 2 or (table and len(cells) != len(table[start])):
                    break
                # Lines with as many commas or semicolons may be sentences.
                if mark != "|" and _is_prose(cells, longest):
                    break
                table[end] = cells
            end += 1

        if len(table) < least:
            continue
        texts = [*table.values()]
        heads = [""] * len(texts[0])
        if ruled or _has_heads(texts):
            heads = table.pop(start)
        rows = {}
        for at, values in table.items():
            pairs = zip(heads, values, strict=True)
            rows[at] = [Cell(head, value) for head, value in pairs if value]
        return end, rows

    return start, {}


def _split(line: str, mark: str) -> list[str]:
    """The cells of a line."""
    line = line.strip()
    if mark == "|":
        parts = line.strip("|").split("|")
    elif mark == "," and '"' in line and len(line) <= _LONGEST:
        parts = next(csv.reader([line], skipinitialspace=True))
    elif mark == "  ":
        parts = re.split(r"\s{2,}", line)
    else:
        parts = line.split(mark)
    return [part.strip() for part in parts]


def _is_prose(cells: Sequence[str], longest: int) -> bool:
    """Whether cells are rather parts of a sentence."""
    words = max(len(cell.split()) for cell in cells)
    return words > longest or cells[-1].endswith((".", "!", "?"))


def _has_heads(table: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns: it has no digit, and others have some,
    or it is not one of two alone."""
    first, *rest = table
    if any(map(_has_digit, first)):
        return False
    return len(rest) > 1 or any(_has_digit(cell) for row in rest for cell in row)


def _has_digit(text: str) -> bool:
    return any(char.isdigit() for char in text)


def _list(lines: Sequence[str], start: int) -> tuple[int, list[list[Cell]]]:
    """The items of a list that begins at a line, and the line behind it; a list of
    items without names is prose."""
    items: list[list[Cell]] = []
    outer = 0
    end = start
    while end < len(lines) and lines[end].strip():
        line = re.sub(r"\*\*|__", "", lines[end])
        mark = _BULLET.match(line)
        told = line[mark.end() if mark else 0 :].strip()
        pair = _PAIR.fullmatch(told)
        if not mark and not pair:
            break

        indent = len(line) - len(line.lstrip())
        if items and indent > outer:
            # What stands below an item is said of it.
            items[-1].append(Cell(*pair.groups()) if pair else Cell("", told))
        elif pair:
            items.append([Cell("", pair["head"]), Cell("", pair["value"])])
            outer = indent
        else:
            items.append([Cell("", told.rstrip(":"))])
            outer = indent
        end += 1

    named = sum(len(item) > 1 for item in items)
    if len(items) < 2 or 2 * named < len(items):
        return start, []
    return end, items


# Enumerations

_AMOUNT = (
    r"[$€£¥]?\d(?:[\d.,:]*\d)?"
    r"(?:\s?%|[kmb]n?\b|\s(?:percent|per cent|million|billion|thousand)\b)?"
)
_NAME = r"(?:[Tt]he\s)?[A-Z][\w.'’&-]*(?:\s(?:of\s)?[A-Z0-9][\w.'’&-]*){0,3}"
_BRACKETED = rf"(?P<name>{_NAME})\s\((?P<value>[^()]*\d[^()]*)\)"
_LABELLED = rf"(?P<name>{_NAME})(?::\s|\s?=\s?|\s[–—-]\s)(?P<value>[^:;=]+)"
_NAMED_AMOUNT = (
    rf"(?P<name>{_NAME})(?:\s(?:at|by|for|in|on|to|with))?\s(?P<value>{_AMOUNT})"
)
_AMOUNT_OF = (
    rf"(?P<value>{_AMOUNT})(?:\s\w+)?\s(?:in|for|from|at|to|by|on)\s(?P<name>{_NAME})"
)
_SPOKEN = (
    (rf"(?P<name>{_NAME})\s(?:.*?\s)?[a-z]\S*\s(?P<value>{_AMOUNT})", _NAMED_AMOUNT),
    (rf".*?{_AMOUNT_OF}$", _AMOUNT_OF),
)
"""How the first member begins, which has the verb, and what the others are."""
_BREAK = re.compile(r";\s*(?:and\s+|while\s+)?|,\s+(?:and\s+|while\s+)?|\s+and\s+")
_STOP = re.compile(r"(?<=[.!?])\s+(?=[A-Z])|\n")
_LONGEST = 1_000


def _enumerated_rows(text: str) -> Iterator[Row]:
    """The members of enumerations such as "Pro costs $29, Team $49 and Solo $9"."""
    for sentence in _STOP.split(text):
        if _has_digit(sentence) and len(sentence) <= _LONGEST:
            yield from _enumerated(_BREAK.split(sentence.strip().rstrip(".")))


def _enumerated(pieces: Sequence[str]) -> Iterator[Row]:
    """The members of one enumeration; none of a sentence that is none."""
    first, *others = pieces
    if not others:
        return

    for form in (_BRACKETED, _LABELLED):
        head = re.search(f"{form}$", first)
        members = [head, *(re.fullmatch(form, piece) for piece in others)]
        if head and all(members):
            above = [name for name in [first[: head.start()].strip(" :")] if name]
            for one in filter(None, members):
                yield row_of([Cell("", one["name"]), Cell("", one["value"])], above)
            return

    for begins, form in _SPOKEN:
        head = re.match(begins, first.rpartition(": ")[2])
        members = [re.fullmatch(form, piece) for piece in others]
        if head and all(members):
            names = [one["name"] for one in members if one]
            values = [one["value"] for one in members if one]
            yield from _like_the_first(head, names, values)
            return


def _like_the_first(
    head: re.Match[str], names: Sequence[str], values: Sequence[str]
) -> Iterator[Row]:
    """Members with the words of the first, of which they have another name and
    amount."""
    sentence = head.string
    start, end = head.span("name")
    # "Shares of Ford rose 3%, Fiat 8%": the name is Ford.
    whose = sentence.rfind(" of ", start, end)
    if whose >= 0 and not any(" of " in name for name in names):
        start = whose + len(" of ")

    names = [sentence[start:end], *names]
    values = [head["value"], *values]
    for name, value in zip(names, values, strict=True):
        told = ""
        done = 0
        for (begin, stop), words in sorted(
            [((start, end), name), (head.span("value"), value)]
        ):
            told += sentence[done:begin] + words
            done = stop
        yield Row(told + sentence[done:], (Cell("", name), Cell("", value)))
