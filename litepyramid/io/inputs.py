"""What rows hold for each input: its entries, by id or by order."""

import json
import math
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, TypeVar

from litepyramid.checked import is_missing, number
from litepyramid.errors import InputError, located
from litepyramid.files import stem
from litepyramid.io.formats import EVERY_INPUT
from litepyramid.io.readers import read_rows
from litepyramid.io.rows import (
    COLUMNS,
    ColumnNames,
    Ids,
    Row,
    Rows,
    check_filled,
    identifier,
    named,
)
from litepyramid.io.shapes import list_in
from litepyramid.io.sources import KINDS, TEXTS, tables_of
from litepyramid.text import counted, cut, one_line
from litepyramid.types import InputReferences, InputUnits

_CELLS = 1_000_000  # 300 MB
_Entry = TypeVar("_Entry", InputUnits, InputReferences)


class Entry(NamedTuple):
    """What a source contains for one input, or for one system's summary; `listed`: in
    one row."""

    input: str
    path: str | Path
    line: int
    values: list[Any]
    system: str | None = None
    listed: bool = True
    question: str | None = None

    def error(
        self, what: str, expected: str | None = None, hint: str | None = None
    ) -> InputError:
        """An error that names its place."""
        return InputError(
            what, path=self.path, line=self.line, expected=expected, hint=hint
        )


def read_ids(path: str | Path) -> list[str]:
    """The ids of a line file's inputs, one per line; of a table, those in its column of
    ids."""
    table = read_rows(path)
    ids: dict[str, int] = {}
    for row in table.rows:
        with located(path, row.line):
            name = _name(row, table, "input") if row.text is None else row.text.strip()
            if not name:
                raise InputError("empty id", expected="one id per line")
            if name in ids and table.form == "lines":
                first = ids[name]
                raise InputError(f"input '{name}' occurs twice (first on line {first})")
        ids.setdefault(name, row.line)

    return list(ids)


def entries_of(
    table: Rows,
    what: str,
    ids: Ids = None,
    inputs: Ids = None,
    *,
    partial: bool = False,
) -> list[Entry]:
    """What rows say of every input, in their order.

    A row holds a list under the plural of `what`, or one value under `what` itself;
    then the rows of an input (and system) are combined, references and documents that
    come again only once. Rows go by their order, not by ids, in a line file, an array
    of texts, and a table whose columns are all known and neither ids nor systems; rows
    given in Python without ids always.
    """
    ordered = {*table.names} <= {*COLUMNS} - {"input", "system"}
    # Some systems may name their inputs while others go by order.
    with_ids = set()
    for row in table.rows:
        if "input" in row.values:
            with_ids.add(str(row.values.get("system")))
    names = inputs if ids is None else ids
    counts = Counter[str]()

    count = len(table.rows)
    due = len(names) if ordered and names is not None else count

    entries: dict[tuple[str | None, ...], Entry] = {}
    for row in table.rows:
        of = str(row.values.get("system"))
        path = row.path or table.path
        by_order = ordered or (table.form == "python" and of not in with_ids)

        with located(path, row.line):
            values, listed = _values(row, what, table)
            # One value of several by order: nobody said which input it is of.
            if by_order and (listed or what in TEXTS):
                place = counts[of]
                counts[of] += 1
                name = str(place + 1)
                if names and due == count and place < len(names):
                    name = names[place]
            else:
                name = _name(row, table, "input")

            system = _name(row, table, "system") if "system" in row.values else None
            rated = what in ("unit", "label") and "annotator" in row.values
            rater = _name(row, table, "annotator") if rated else None

        asked = row.values.get("question")
        question = asked if isinstance(asked, str) and asked.strip() else None
        new = Entry(name, path, row.line, values, system, listed, question)
        entry = entries.setdefault((system, name, rater), new)
        whole = listed or entry.listed
        if entry is new or (whole and entry.values == values):
            continue

        if whole:
            raise new.error(
                f"input '{name}' occurs twice (first on line {entry.line})",
                hint="Put all that belongs to one input into one row.",
            )

        entry.values.extend(values)

    result = list(entries.values())
    # A table repeats the text of an input in the row of each system.
    for entry in result if what in TEXTS else ():
        if not entry.listed:
            distinct = {json.dumps(value): value for value in entry.values}
            entry.values[:] = distinct.values()

    if what == "label":
        result = _of_annotators(result)
    elif what in ("unit", "reference"):
        result = _same_for_all(result, what)

    # A list of paths is a common slip, and would be scored as texts.
    texts = [value for entry in result for value in entry.values]
    given = table.form in ("python", "plain") and texts
    if given and all(isinstance(v, str) and os.path.isfile(v) for v in texts):  # noqa: PTH113
        raise result[0].error(
            f"'{texts[0]}' is a file, not a text",
            hint="Give files as pathlib.Path, or their folder.",
        )

    if due != count:
        noun = "line" if table.form == "lines" else "row"
        raise InputError(
            f"{counted(count, noun)} for {counted(due, 'input')}",
            path=table.path,
            line=table.rows[min(count - 1, due)].line,
            expected=f"one {noun} of {KINDS[what].one} for each input",
            hint="If they are other inputs, name them (ids).",
        )

    return result if inputs is None else matched(result, inputs, what, partial)


def by_input(value: Any, what: str, ids: Ids, columns: ColumnNames) -> list[Entry]:
    """What a source holds of every input."""
    (table,) = tables_of(value, what, columns)
    return entries_of(table, what, ids)


def by_system(
    value: Any,
    what: str,
    inputs: Ids,
    ids: Ids,
    columns: ColumnNames,
    partial: bool = False,
) -> Iterator[tuple[str, list[Entry]]]:
    """Every system of a source: its name, its entries in order; where no `inputs` are
    named, those of all systems, as they come."""
    seen: dict[str, str | Path] = {}
    tables = tables_of(value, what, columns)
    if inputs in (None, [EVERY_INPUT]):
        tables = [*tables]
        every = chain.from_iterable([entries_of(table, what, ids) for table in tables])
        inputs = [*dict.fromkeys(entry.input for entry in every)]

    for table in tables:
        entries = entries_of(table, what, ids, inputs, partial=partial)
        # A stream and a frame have no name of their own that a system could be called
        # by.
        has_name = str(table.path) != "-" and table.form != "python"
        unnamed = stem(table.path) if has_name else "system"
        for start in range(0, len(entries), len(inputs)):
            block = entries[start : start + len(inputs)]
            system = table.system or block[0].system or unnamed
            # Two logs of one model are two runs: the file tells them apart.
            if system in seen and table.runs:
                system = f"{system} ({stem(table.path)})"
            if system in seen:
                raise block[0].error(
                    f"system '{system}' is also in {seen[system]}",
                    hint="A system is named by its rows, or by its file: rename one.",
                )
            seen[system] = table.path
            yield system, block


def in_order(
    entries: Sequence[_Entry], names: Sequence[str], path: str | Path
) -> tuple[_Entry, ...]:
    """Entries in the order of `names`, exactly one for each; those of every input for
    each."""
    if [entry.input for entry in entries] == [EVERY_INPUT]:
        return tuple(replace(entries[0], input=name) for name in names)
    by_name = {entry.input: entry for entry in entries}
    if by_name.keys() != set(names):
        raise InputError(
            f"{counted(len(by_name), 'input')}, or others than the units' {len(names)}",
            path=path,
            expected="the inputs of the units",
        )
    return tuple(by_name[name] for name in names)


def numbers_of(entry: Entry, what: str, texts: Sequence[str]) -> list[float]:
    """The label or the presence of each unit, as numbers or as text; NaN where null
    says that there is none."""
    allowed = "a number from 0 to 1"
    if what == "label":
        allowed = "0 (not present), 1 (present), 0.5 (in part), or null"

    numbers = []
    for value in map(as_truth, _aligned(entry, what, texts)):
        # An empty cell of a table is no label.
        missing = is_missing(value) or (what == "label" and value == "")
        given = math.nan if missing else number(value)
        fits = given in (0, 0.5, 1) if what == "label" else 0 <= (given or 0) <= 1
        if given is None or not (missing or fits):
            raise entry.error(f"{what} {cut(repr(value))}", allowed)
        numbers.append(given)

    return numbers


def as_truth(value: Any) -> Any:
    """1 for true and 0 for false, as Python, JSON and CSV write them; all else as it
    is."""
    # Nearly all are numbers, of which there may be millions.
    if type(value) in (float, int):
        return value
    return {"true": 1, "false": 0}.get(str(value).strip().lower(), value)


def _aligned(entry: Entry, what: str, texts: Sequence[str]) -> list[Any]:
    """An entry's values, one for each unit: in their order, or by the texts that they
    name."""
    values = entry.values
    if len(values) != len(texts):
        of = f"the {counted(len(texts), 'unit')} of input '{entry.input}'"
        raise entry.error(
            f"{counted(len(values), what)} for {of}", f"one {what} for each unit"
        )

    if not any(isinstance(value, dict) for value in values):
        return values
    # One text may stand twice among the units: its labels are dealt in their order.
    by_text: dict[str, list[Any]] = {}
    for value in values:
        has_unit = isinstance(value, dict) and isinstance(value.get("unit"), str)
        if not has_unit or what not in value:
            shown = cut(json.dumps(value, default=str))
            raise entry.error(
                f"no {what} with its unit: {shown}", f'{{"unit": "…", "{what}": …}}'
            )
        by_text.setdefault(one_line(value["unit"]).strip(), []).append(value[what])

    for text, several in by_text.items():
        if any(value != several[0] for value in several[1:]):
            problem = f"the unit '{cut(text)}' of input '{entry.input}' stands there"
            raise entry.error(
                f"{problem} {len(several)} times, with other {what}s",
                f"one {what} for one text, or lists in the order of the units",
            )

    for text in texts:
        if not by_text.get(text):
            raise entry.error(
                f"no {what} for the unit '{text}' of input '{entry.input}'",
                "the units' own texts in the column 'unit'",
            )

    return [by_text[text].pop(0) for text in texts]


def matched(
    entries: Sequence[Entry], inputs: Sequence[str], what: str, partial: bool = False
) -> list[Entry]:
    """The entries in the order of `inputs`, exactly one for each and for each
    system."""
    one = KINDS[what].one
    known = set(inputs)
    systems: dict[str | None, dict[str, Entry]] = {}

    for entry in entries:
        if entry.input not in known:
            raise entry.error(
                f"{one} of input '{entry.input}', which has no units",
                f"the inputs of the units: '{inputs[0]}' …",
            )
        systems.setdefault(entry.system, {})[entry.input] = entry

    if partial:
        check_filled(
            len(entries),
            KINDS[what].many,
            _CELLS,
            "Does the column of systems hold ids? Name another (columns system=NAME).",
            system=len(systems),
            input=len(inputs),
        )

    for system, by_input in systems.items():
        missing = [name for name in inputs if name not in by_input]
        last = max(by_input.values(), key=lambda entry: entry.line)
        if missing and not partial:
            raise last.error(
                f"no {one} of input '{missing[0]}'"
                + (f" of system '{system}'" if system else ""),
                f"{counted(len(inputs), 'input')}, found {len(by_input)}",
                "Add it; an empty summary is legal." if what == "summary" else None,
            )

        for name in missing:
            by_input[name] = Entry(name, last.path, 0, [], system)

    result = []
    for by_input in systems.values():
        result += [by_input[name] for name in inputs]
    return result


def _name(row: Row, table: Rows, column: str) -> str:
    name = identifier(row.values.get(column))
    if name is not None:
        return name

    # A way out is sought in the whole table: for an error, not for every row.
    other_name = "If the column has another name, give it (columns input=NAME)."
    return named(row.values, column, table.way_out() or other_name)


def _values(row: Row, what: str, table: Rows) -> tuple[list[Any], bool]:
    """The values that a row holds, and whether they are all of its input's."""
    many = KINDS[what].many
    if row.text is not None and (what == "summary" or row.text.strip()):
        return [row.text] if what == "summary" else row.text.split("\t"), True
    plural = many in row.values and many != what
    value = row.values.get(many if plural else what)

    # Nobody labelled the input, or this unit of it.
    if what == "label" and value in (None, ""):
        if plural:
            return [], True
        # An empty cell of a table is no value, but its column is a name.
        if what in row.values or what in table.names:
            return [_with_unit(None, what, row)], False

    if what == "summary":
        null = value is None and (what in row.values or table.form == "python")
        if isinstance(value, str) or null:
            return [value], True

    if table.form in ("csv", "python") and isinstance(value, str):
        value = list_in(value, must=plural or what in TEXTS, line=row.line)

    if isinstance(value, list) and value and what != "summary":
        return _beside(value, row.values.get("units"), what), True
    if what in TEXTS and isinstance(value, str):
        return [value], plural
    if not (
        plural
        or value is None
        or isinstance(value, list)
        or what in ("summary", *TEXTS)
    ):
        return [_with_unit(value, what, row)], False

    if row.text is not None:
        raise InputError(
            "an empty line",
            hint="Remove the line, or write what belongs to this input.",
        )

    way_out: str | None = "Fill the empty cell, or leave the row out."
    if not {what, many} & {*table.names}:
        way_out = table.way_out(what)
    # Summaries have no column of lists: a row is one system's summary.
    usual = table.columns.get(what) or (what if what == "summary" else many)
    missing = f'no "{usual}"'
    # Nobody knows whether a text is one fact or several.
    if isinstance(value, str) and value.strip():
        missing = f'no list in "{usual}": {cut(repr(value))}'
        way_out = 'Write ["…", "…"] there, or one row for each.'
    raise InputError(
        missing,
        expected=f"the column '{what}' with one per row, or '{many}' with a JSON list",
        hint=way_out,
    )


def _beside(values: list[Any], units: Any, what: str) -> list[Any]:
    """Values that stand beside a list of units, each with its unit: systems' orders may
    differ."""
    if what not in ("label", "presence"):
        return values
    # A cell holds its list as text.
    units = list_in(units) if isinstance(units, str) else units
    if not isinstance(units, list):
        return values
    texts = [unit.get("text") if isinstance(unit, dict) else unit for unit in units]
    told = any(isinstance(value, dict) for value in values)
    are_texts = all(isinstance(text, str) for text in texts)
    if told or len(values) != len(units) or not are_texts:
        return values

    result = []
    for text, value in zip(texts, values, strict=True):
        result.append({"unit": text, what: value})
    return result


def _with_unit(value: Any, what: str, row: Row) -> Any:
    """One unit with what its row says of it; one label or weight with the unit that it
    is of."""
    if what != "unit":
        if "unit" in row.values:
            return {"unit": row.values["unit"], what: value}
        return value

    if not isinstance(value, str):
        return value
    unit = {"text": value}
    keys = ("weight", "kind", "reference", "sentence", "importance", "tags", "said")
    for key in keys:
        cell = row.values.get(key, "")
        # Cells of a CSV are texts; nine digits fit any integer, and cost nothing.
        if isinstance(cell, str) and re.fullmatch(r"\s*[0-9]{1,9}\s*", cell):
            cell = int(cell)
        if key == "said" and cell in (0, 1):
            cell = bool(cell)
        # An empty weight is an error of the table, as it is in JSON.
        empty = cell in (None, "") and (key != "weight" or key not in row.values)
        # A text under `reference` is the reference itself, and not its number.
        if not (empty or (key == "reference" and isinstance(cell, str))):
            unit[key] = cell

    return unit


def _of_annotators(entries: Iterable[Entry]) -> list[Entry]:
    """One entry a system and input: the median label of those who labelled a unit."""
    groups = defaultdict(list)
    for entry in entries:
        groups[entry.system, entry.input].append(entry)
    result = []
    for first, *others in groups.values():
        if others:
            first = first._replace(values=_medians([first, *others]))
        result.append(first)
    return result


def _medians(entries: Sequence[Entry]) -> list[Any]:
    """Of each unit 0, 1, or .5 for all between; a label that is none of these as it
    is."""
    labels = defaultdict(list)
    for entry in entries:
        for place, value in enumerate(entry.values):
            of = value if isinstance(value, dict) else {"unit": place, "label": value}
            labels[json.dumps(of.get("unit"))].append(of.get("label"))

    result = []
    for key, every in labels.items():
        own = [as_truth(label) for label in every if label is not None] or [math.nan]
        wrong = [label for label in own if number(label) not in (0, 0.5, 1)]
        # Two of three who say 1 make 1; one of two makes .5.
        middle = wrong[0] if wrong else median(map(float, own))
        label = middle if wrong or middle in (0, 1) else 0.5
        unit = json.loads(key)
        result.append(
            {"unit": unit, "label": label} if isinstance(unit, str) else label
        )

    return result


def _same_for_all(entries: Sequence[Entry], what: str) -> list[Entry]:
    """One entry per input of those that every system has of its own."""
    first: dict[str, Entry] = {}
    for entry in entries:
        known = first.setdefault(entry.input, entry)
        # Tables may list an input's units in another order for each system.
        same = known.values == entry.values or _sorted(known) == _sorted(entry)
        if not same or known.question != entry.question:
            other = f"other {what}s of" if not same else "another question on"
            raise entry.error(
                f"system '{entry.system}' has {other} input '{entry.input}' than "
                f"system '{known.system}' (line {known.line})"
            )
    return list(first.values())


def _sorted(entry: Entry) -> list[str]:
    return sorted(map(json.dumps, entry.values))
