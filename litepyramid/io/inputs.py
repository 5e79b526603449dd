"""What rows hold for each input: its entries, by id or by order."""

from __future__ import annotations

import dataclasses
import json
import re
from ast import literal_eval
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, TypeVar

from litepyramid.checked import as_type, number, parse_json
from litepyramid.errors import InputError
from litepyramid.files import files_in, stem
from litepyramid.io.rows import COLUMNS, ColumnNames, Ids, Row, Rows, identifier, read_rows
from litepyramid.text import counted, cut, one_line
from litepyramid.types import InputReferences, InputUnits

_TEXTS = ("reference", "document")
_SINGULAR = ("summary", "presence")
_EXPECTED = {
    "summary": '{"input": id, "summary": "text"}',
    "presence": '{"input": id, "presence": [0.9, …]}',
    "unit": '{"input": id, "units": ["text", …]}',
} | {text: f'{{"input": id, "{text}s": ["text" or ["sentence", …], …]}}' for text in _TEXTS}

# A list of texts as Python shows it; possessive, so that no cell takes long.
_PYTHON_TEXT = r"""(?:'(?:[^'\\\n]|\\.)*+'|"(?:[^"\\\n]|\\.)*+")"""
_PYTHON_LIST = re.compile(rf"\s*\[\s*{_PYTHON_TEXT}(?:\s*,\s*{_PYTHON_TEXT})*+\s*\]\s*")
_Entry = TypeVar("_Entry", InputUnits, InputReferences)


class Entry(NamedTuple):
    """What a source contains for one input, or for one system's summary of it.

    Attributes:
        input: The input's id.
        line: The line it stands on (the first of several), from 1.
        values: Its texts, units, weights or labels, as the source has them.
        system: The system that the row names, if it does.
        listed: Whether `values` stood in one row, as a list.
        question: What was asked, if the row says it.
    """

    input: str
    line: int
    values: list[Any]
    system: str | None = None
    listed: bool = False
    question: str | None = None


def read_ids(path: str | Path) -> list[str]:
    """The ids of a line file's inputs, one per line; of a table, those in its column of ids."""
    table = read_rows(path)
    ids: dict[str, int] = {}
    for row in table.rows:
        name = _name(row, table, "input") if row.text is None else row.text.strip()
        if not name:
            raise InputError("empty id", path=path, line=row.line, expected="one id per line")
        if name in ids and table.form == "lines":
            raise _twice(f"input '{name}'", path, row.line, ids[name])
        ids.setdefault(name, row.line)
    return list(ids)


def entries_of(
    table: Rows, what: str, ids: Ids = None, inputs: Ids = None, *, partial: bool = False
) -> list[Entry]:
    """What rows say of every input, in their order.

    A row holds a list under the plural of `what`, or one value under `what` itself; then the rows
    of an input (and system) are combined, references and documents that come again only once.
    Rows go by their order, not by ids, in a line file, an array of texts, and a table whose
    columns are all known and neither ids nor systems; rows given in Python without ids always.
    """
    if not table.rows:
        raise InputError(f"no {_line_of(what)}: the table has no rows", path=table.path)
    columns = {name for row in table.rows for name in row.values}
    if columns <= {*COLUMNS} - {"input", "system"}:
        entries = _by_order(table, what, ids, inputs)
    else:
        if table.form == "python":
            table = _numbered(table, what, inputs if ids is None else ids)
        entries = _by_id(table, what)
    if what not in ("summary", "label", "presence"):
        entries = _same_for_all(entries, what, table.path)
    return entries if inputs is None else matched(entries, inputs, what, table.path, partial)


def entries_by_system(
    paths: Sequence[str | Path] | Rows,
    what: str,
    inputs: Ids = None,
    ids: Ids = None,
    columns: ColumnNames = None,
    *,
    partial: bool = False,
) -> Iterator[tuple[str, str | Path, list[Entry]]]:
    """Every system in some files or rows: its name, its source, its entries in `inputs`' order.

    A system is named by its rows, else by its file's stem, or "system" if there is no file.
    Without `inputs`, those of the first system must be there.
    """
    seen: dict[str, str | Path] = {}
    many = {"summary": "summaries", "presence": "presence"}.get(what, f"{what}s")
    if isinstance(paths, Rows):
        tables = iter([paths])
    else:
        blank_ok = what == "summary"
        tables = (read_rows(path, columns, blank_ok=blank_ok) for path in files_in(paths, many))
    for table in tables:
        entries = entries_of(table, what, ids, inputs, partial=partial)
        if inputs is None:
            inputs = [entry.input for entry in entries if entry.system == entries[0].system]
            entries = matched(entries, inputs, what, table.path)
        unnamed = "system" if str(table.path) == "-" or table.form == "python" else stem(table.path)
        for start in range(0, len(entries), len(inputs)):
            block = entries[start : start + len(inputs)]
            system = block[0].system or unnamed
            if system in seen and table.runs:
                system = f"{system} ({stem(table.path)})"
            if system in seen:
                problem = f"system '{system}' is also in {seen[system]}"
                hint = "A system is named by its rows, or by its file: rename one."
                raise InputError(problem, path=table.path, hint=hint)
            seen[system] = table.path
            yield system, table.path, block


def in_order(
    entries: Sequence[_Entry], names: Sequence[str], path: str | Path
) -> tuple[_Entry, ...]:
    """Entries in the order of `names`, exactly one for each."""
    by_name = {entry.input: entry for entry in entries}
    if by_name.keys() != set(names):
        what = f"{counted(len(by_name), 'input')}, or others than the units' {len(names)}"
        raise InputError(what, path=path, expected="the inputs of the units")
    return tuple(by_name[name] for name in names)


def aligned(entry: Entry, what: str, texts: Sequence[str], path: str | Path) -> list[Any]:
    """An entry's values, one for each unit: in their order, or by the texts that they name."""
    values, named = entry.values, any(isinstance(value, dict) for value in entry.values)
    if len(values) != len(texts):
        problem = (
            f"{counted(len(values), what)} for the {counted(len(texts), 'unit')} of input "
            f"'{entry.input}'"
        )
        raise InputError(problem, path=path, line=entry.line, expected=f"one {what} for each unit")
    if not named:
        return values
    by_text: dict[str, list[Any]] = {}
    for value in as_type(list[dict[str, Any]], values, path=path, line=entry.line):
        if not isinstance(value.get("unit"), str) or what not in value:
            problem = f"no {what} with its unit: {cut(json.dumps(value))}"
            expected = f'{{"unit": "text", "{what}": …}}'
            raise InputError(problem, path=path, line=entry.line, expected=expected)
        by_text.setdefault(one_line(value["unit"]).strip(), []).append(value[what])
    for text in texts:
        if not by_text.get(text):
            problem = f"no {what} for the unit '{text}' of input '{entry.input}'"
            expected = "the units' own texts in the column 'unit'"
            raise InputError(problem, path=path, line=entry.line, expected=expected)
    return [by_text[text].pop(0) for text in texts]


def matched(
    entries: Sequence[Entry],
    inputs: Sequence[str],
    what: str,
    path: str | Path,
    partial: bool = False,
) -> list[Entry]:
    """The entries in the order of `inputs`, exactly one for each and for each system."""
    systems: dict[str | None, dict[str, Entry]] = {}
    known = set(inputs)
    for entry in entries:
        if entry.input not in known:
            problem = f"a {_line_of(what)} of input '{entry.input}', which has no units"
            expected = f"the inputs of the units: '{inputs[0]}' …"
            raise InputError(problem, path=path, line=entry.line, expected=expected)
        systems.setdefault(entry.system, {})[entry.input] = entry
    for system, by_input in systems.items():
        missing = [name for name in inputs if name not in by_input]
        if missing and not partial:
            of = "" if system is None else f" of system '{system}'"
            raise InputError(
                f"no {_line_of(what)} of input '{missing[0]}'{of}",
                path=path,
                line=max(entry.line for entry in by_input.values()),
                expected=f"{counted(len(inputs), 'input')}, found {len(by_input)}",
                hint="Add it; an empty summary is legal." if what == "summary" else None,
            )
        by_input |= {name: Entry(name, 0, [], system) for name in missing}
    return [by_input[name] for by_input in systems.values() for name in inputs]


def _name(row: Row, table: Rows, column: str) -> str:
    value = row.values.get(column)
    name = identifier(value)
    if name is None:
        raise InputError(
            f'no "{column}"' if value in (None, "") else f'"{column}" is {cut(json.dumps(value))}',
            path=table.path,
            line=row.line,
            expected=f'{{"{column}": "a name", …}}, or a column with a name in every row',
            hint="If the column has another name, give it (columns input=NAME).",
        )
    return name


def _twice(
    what: str, path: str | Path, line: int, first: int, hint: str | None = None
) -> InputError:
    return InputError(
        f"{what} occurs twice (first on line {first})", path=path, line=line, hint=hint
    )


def _values(row: Row, what: str, table: Rows) -> tuple[list[Any], bool]:
    """The values that a row holds, and whether they are all of its input's."""
    many = f"{what}s"
    plural = many in row.values
    value = row.values.get(many if plural else what)
    cells = table.form in ("csv", "python") and what != "summary"
    if cells and isinstance(value, str) and value.lstrip()[:1] == "[":
        value = _list_in_cell(value, table, row, must=plural or what in _TEXTS)
    if what == "summary" or (what in _TEXTS and not isinstance(value, list)):
        null = what == "summary" and value is None
        if isinstance(value, str) or (null and (what in row.values or table.form == "python")):
            return [value], plural
    elif isinstance(value, list):
        units = row.values.get("units")
        if value and what in ("label", "presence", "weight") and isinstance(units, list):
            return _named(value, units, what), True
        if value:
            return value, True
    elif not plural and value is not None:
        return [_with_unit(value, what, row)], False
    raise InputError(
        f'no "{table.columns.get(what) or (what if what in _SINGULAR else many)}"',
        path=table.path,
        line=row.line,
        expected=f"the column '{what}' with one per row, or '{many}' with a JSON list"
        if table.form == "csv" and what not in _SINGULAR
        else _EXPECTED.get(what, f'{{"input": id, "{many}": [ … ]}}'),
    )


def _named(values: list[Any], units: list[Any], what: str) -> list[Any]:
    """Values that stand beside a list of units, each with its unit: systems' orders may differ."""
    texts = [unit.get("text") if isinstance(unit, dict) else unit for unit in units]
    if len(values) != len(units) or not all(isinstance(text, str) for text in texts):
        return values
    if any(isinstance(value, dict) for value in values):
        return values
    return [{"unit": text, what: value} for text, value in zip(texts, values, strict=True)]


def _list_in_cell(cell: str, table: Rows, row: Row, *, must: bool) -> Any:
    """The list that a cell holds, as JSON or as Python writes it; else its text, if it may be."""
    try:
        return parse_json(
            cell, path=table.path, line=row.line, expected='a JSON list: ["text", "text", …]'
        )
    except InputError:
        if _PYTHON_LIST.fullmatch(cell):
            with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
                return literal_eval(cell)
        if must:
            raise
        return cell


def _with_unit(value: Any, what: str, row: Row) -> Any:
    """One unit with what its row says of it; one label or weight with the unit that it is of."""
    if what != "unit":
        return {"unit": row.values["unit"], what: value} if "unit" in row.values else value
    if not isinstance(value, str):
        return value
    unit = {"text": value}
    for key in ("weight", "kind", "reference", "sentence", "importance", "tags"):
        cell = row.values.get(key, "")
        if isinstance(cell, str) and re.fullmatch(r"\s*[0-9]{1,9}\s*", cell):
            cell = int(cell)
        empty = cell in (None, "") and (key != "weight" or key not in row.values)
        if not (empty or (key == "reference" and isinstance(cell, str))):
            unit[key] = cell
    return unit


def _by_order(table: Rows, what: str, ids: Ids, inputs: Ids) -> list[Entry]:
    names, count = ids if ids is not None else inputs, len(table.rows)
    if names is not None and count != len(names):
        short, noun = count < len(names), "line" if table.form == "lines" else "row"
        raise InputError(
            f"{counted(count, noun)} for {counted(len(names), 'input' if ids is None else 'id')}",
            path=table.path,
            line=table.rows[-1 if short else len(names)].line,
            expected=f"one {_line_of(what)} per {noun}, one {noun} for each input",
            hint=None if short or ids else "If they are other inputs, name them (ids).",
        )
    entries = []
    for place, row in enumerate(table.rows):
        if row.text is None:
            values, listed = _values(row, what, table)
            if not listed and what not in ("summary", *_TEXTS):
                _name(row, table, "input")
        elif what != "summary" and not row.text.strip():
            problem = "an empty line"
            expected = f"a {_line_of(what)}"
            hint = "Remove the line, or write what belongs to this input there."
            raise InputError(problem, path=table.path, line=row.line, expected=expected, hint=hint)
        else:
            values = [row.text] if what == "summary" else row.text.split("\t")
        name = names[place] if names else str(place + 1)
        entries.append(Entry(name, row.line, values, question=_question(row)))
    return entries


def _numbered(table: Rows, what: str, inputs: Ids) -> Rows:
    """The rows, those of systems without ids with the ids of the inputs in their order."""
    named = {str(row.values.get("system")) for row in table.rows if "input" in row.values}
    counts: Counter[str] = Counter()
    rows = []
    for row in table.rows:
        system = str(row.values.get("system"))
        value = row.values.get(f"{what}s", row.values.get(what))
        if system in named or (what not in ("summary", *_TEXTS) and not isinstance(value, list)):
            rows.append(row)  # one unit per row: which input it is of, nobody said
            continue
        number = counts[system]
        counts[system] += 1
        name = inputs[number] if inputs and number < len(inputs) else str(number + 1)
        rows.append(row._replace(values={**row.values, "input": name}))
    return dataclasses.replace(table, rows=rows)


def _by_id(table: Rows, what: str) -> list[Entry]:
    entries: dict[tuple[str | None, ...], Entry] = {}
    for row in table.rows:
        name = _name(row, table, "input")
        system = _name(row, table, "system") if "system" in row.values else None
        rated = what in ("unit", "label") and "annotator" in row.values
        rater = _name(row, table, "annotator") if rated else None
        values, listed = _values(row, what, table)
        new = Entry(name, row.line, values, system, listed, _question(row))
        entry = entries.setdefault((system, name, rater), new)
        whole = listed or entry.listed or what == "summary"
        if entry.values is values or (whole and entry.values == values):
            continue
        if whole:
            hint = "Put all that belongs to one input into one row."
            raise _twice(f"input '{name}'", table.path, row.line, entry.line, hint)
        entry.values.extend(values)
    for entry in entries.values():
        if what in _TEXTS and not entry.listed:
            entry.values[:] = {json.dumps(value): value for value in entry.values}.values()
    return _of_annotators(entries.values()) if what == "label" else list(entries.values())


def _of_annotators(entries: Iterable[Entry]) -> list[Entry]:
    """One entry a system and input: the median label of those who labelled a unit."""
    groups: dict[tuple[str | None, str], list[Entry]] = {}
    for entry in entries:
        groups.setdefault((entry.system, entry.input), []).append(entry)
    result = []
    for first, *others in groups.values():
        labels: dict[str, list[Any]] = {}
        for entry in (first, *others) if others else ():
            for place, value in enumerate(entry.values):
                unit = value.get("unit") if isinstance(value, dict) else place
                label = value.get("label") if isinstance(value, dict) else value
                labels.setdefault(json.dumps(unit), []).append(label)
        medians = [(json.loads(unit), _median(of_unit)) for unit, of_unit in labels.items()]
        values = [{"unit": u, "label": m} if isinstance(u, str) else m for u, m in medians]
        result.append(first._replace(values=values) if others else first)
    return result


def _median(labels: list[Any]) -> Any:
    """0, 1, or .5 for all between; a label that is none of these as it is."""
    numbers = [number(label) for label in labels]
    wrong = [label for label, of in zip(labels, numbers, strict=True) if of not in (0, 0.5, 1)]
    middle = 0.0 if wrong else median([of for of in numbers if of is not None])
    return wrong[0] if wrong else middle if middle in (0, 1) else 0.5


def _same_for_all(entries: Sequence[Entry], what: str, path: str | Path) -> list[Entry]:
    """One entry per input of those that every system has of its own."""
    first: dict[str, Entry] = {}
    for entry in entries:
        known = first.setdefault(entry.input, entry)
        same = known.values == entry.values or _sorted(known) == _sorted(entry)
        if not same or known.question != entry.question:
            other = f"other {what}s" if not same else "another question"
            problem = (
                f"system '{entry.system}' has {other} of input '{entry.input}' than system "
                f"'{known.system}' (line {known.line})"
            )
            raise InputError(problem, path=path, line=entry.line)
    return list(first.values())


def _sorted(entry: Entry) -> list[str]:
    return sorted(map(json.dumps, entry.values))


def _question(row: Row) -> str | None:
    question = row.values.get("question")
    return question if isinstance(question, str) and question.strip() else None


def _line_of(what: str) -> str:
    return what if what in (*_SINGULAR, *_TEXTS) else f"line of {what}s"
