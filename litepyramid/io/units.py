"""Unit files: JSON Lines and tables by id, or the authors' line files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, cast

from litepyramid.checked import check_shape, number
from litepyramid.errors import InputError
from litepyramid.files import atomic_write, write_jsonl
from litepyramid.io.inputs import aligned, read_entries
from litepyramid.io.nuggets import IMPORTANCE
from litepyramid.text import cut, one_line
from litepyramid.types import InputUnits, Unit, UnitKind

_HEAVIEST = 1e12
_KINDS = {"scu": "SCUs, written by people", "stu": "STUs, extracted by machine"}
_OTHER_KIND = {
    "scu": 'If this is the right file, correct or remove its "kind".',
    "stu": "If this is the right file and has both kinds, as from an earlier import, use "
    "'litepyramid budget import --onto'.",
}
Form = Literal["jsonl", "lines"]


def read_units(
    path: str | Path,
    ids: Sequence[str] | None = None,
    *,
    kind: UnitKind | None = "scu",
    only: bool = False,
    columns: Mapping[str, str] | None = None,
    left_out: Counter[str] | None = None,
) -> list[InputUnits]:
    """Reads the units of every input.

    A JSON line is ``{"input": id, "units": [unit, …]}``; a unit is its text, or an object with
    ``text`` and, if wanted, ``weight``, ``kind`` (scu or stu), ``reference`` and ``sentence``
    (indices from 0), or ``places`` (these two for each contributor of an SCU), ``importance``
    (vital or okay). TREC's nuggets and NuggetBank's claims are units too (`io.nuggets`). A row
    of a table has an ``input``, a ``unit``, and columns of these names. A line of a line file holds
    one input's units with tabs between them. Tabs and line breaks in a unit's text are read as a
    space: a unit is one line of text.

    Args:
        path: The file.
        ids: Ids of a line file's inputs, in order; without them the inputs are "1", "2", ….
        kind: Kind of units whose file does not specify it; None if it must.
        only: Whether a unit must be of that kind, where its file says of which it is.
        columns: Own column names, by known column (``io.rows.COLUMNS``).
        left_out: As for `nuggets.to_ours`.

    Raises:
        InputError: A unit of the other kind, if `only`; one of no kind, if `kind` is None; an
            empty unit, a bad weight, an input without units … with file and line.
    """
    result = []
    for entry in read_entries(path, "unit", ids, columns, left_out=left_out):
        units = parse_units(entry.values, path, entry.line, kind, only)
        _check_weights(units, entry.input, path, entry.line)
        result.append(InputUnits(entry.input, units))
    return result


def kind_by_name(path: str | Path) -> UnitKind:
    """Kind of units in a file that does not specify it: STUs if it is named so, else SCUs.

    Example:
        >>> kind_by_name("data/STUs.txt"), kind_by_name("SCUs.txt"), kind_by_name("STUs_SCUs.txt")
        ('stu', 'scu', 'scu')
    """
    name = Path(path).name.lower()
    return "stu" if "stu" in name and "scu" not in name else "scu"


def read_weights(
    path: str | Path,
    units: Sequence[InputUnits],
    ids: Sequence[str] | None = None,
    *,
    columns: Mapping[str, str] | None = None,
) -> list[InputUnits]:
    """The same units with the weights that a file gives, one for each unit.

    A JSON line is ``{"input": id, "weights": [1, 2, …]}``; a row of a table has these columns, or
    one ``weight`` with the ``unit`` that it is of; a line of a line file holds numbers with tabs
    between them.

    Raises:
        InputError: Another number of weights than units, a negative or infinite weight, or all
            weights of an input zero.
    """
    names = [entry.input for entry in units]
    result = []
    found = read_entries(path, "weight", ids, columns, inputs=names)
    for entry, own in zip(units, found, strict=True):
        values = aligned(own, "weight", entry.texts, path)
        weighted = tuple(
            replace(unit, weight=_weight(value, path, own.line))
            for unit, value in zip(entry.units, values, strict=True)
        )
        _check_weights(weighted, entry.input, path, own.line)
        result.append(InputUnits(entry.input, weighted))
    return result


def write_units(path: str | Path, units: Sequence[InputUnits], form: Form = "jsonl") -> None:
    """Writes units all or nothing, in either form; a line file keeps the texts alone.

    Raises:
        InputError: A unit's text holds a tab or a line break and the form is "lines".
    """
    if form == "jsonl":
        write_jsonl(path, [entry.to_json() for entry in units])
        return
    for entry in units:
        for unit in entry.units:
            if any(char in unit.text for char in "\t\n\r"):
                raise InputError(
                    f"a unit of input '{entry.input}' holds a tab or a line break",
                    expected="one line of text for a line file",
                    hint="Write JSON Lines instead.",
                )
    with atomic_write(path) as file:
        for entry in units:
            file.write("\t".join(entry.texts) + "\n")


units_to_json = InputUnits.to_json
"""One line of a unit file."""


def units_from_json(data: Any, path: str | Path) -> list[InputUnits]:
    """What a list of `units_to_json` holds, checked as `read_units` does.

    Raises:
        InputError: It is not such a list, or a unit in it is none.
    """
    check_shape(data, [{"input": str, "units": [object]}], what="broken units", path=path)
    return [
        InputUnits(row["input"], parse_units(row["units"], path, 1, None, False)) for row in data
    ]


def _text(text: str, path: str | Path, line: int, number: int) -> str:
    text = one_line(text).strip()
    if not text:
        raise InputError(
            f"unit {number} is empty",
            path=path,
            line=line,
            expected="units with one tab between them",
            hint="Remove the empty unit or the extra tab.",
        )
    if text.startswith("<t>") and text.endswith("</t>"):
        raise InputError(
            f"unit {number} has the sentence marks of a reference",
            path=path,
            line=line,
            expected="units with tabs between them",
            hint="Were the files of references and units swapped?",
        )
    return text


def _weight(value: Any, path: str | Path, line: int) -> float:
    weight = number(value)
    if weight is None or not 0 <= weight <= _HEAVIEST:
        raise InputError(
            f"weight {value!r}", path=path, line=line, expected=f"a number from 0 to {_HEAVIEST:g}"
        )
    return weight


def _check_weights(units: Sequence[Unit], name: str, path: str | Path, line: int) -> None:
    if not sum(unit.weight for unit in units) > 0:
        raise InputError(
            f"the weights of input '{name}' add up to zero",
            path=path,
            line=line,
            expected="at least one unit with a weight above zero",
        )


def _index(value: Any, key: str, path: str | Path, line: int) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        raise InputError(f'"{key}" is {value!r}', path=path, line=line, expected="0, 1, 2 …")
    return value


def _importance(value: Any, path: str | Path, line: int) -> str | None:
    if value in (None, ""):
        return None
    if value not in IMPORTANCE:
        raise InputError(
            f'"importance" is {cut(value)}', path=path, line=line, expected=" or ".join(IMPORTANCE)
        )
    return str(value)


def _places(value: Any, path: str | Path, line: int) -> tuple[tuple[int | None, int | None], ...]:
    if not isinstance(value, list | None) or not all(
        isinstance(place, list) and len(place) == 2 for place in value or ()
    ):
        raise InputError(
            f'"places" is {value!r}', path=path, line=line, expected="[[reference, sentence], …]"
        )
    return tuple(
        (_index(place[0], "places", path, line), _index(place[1], "places", path, line))
        for place in value or ()
    )


def parse_units(
    rows: Sequence[Any],
    path: str | Path,
    line: int,
    kind: UnitKind | None = "scu",
    only: bool = False,
) -> tuple[Unit, ...]:
    """The units of one input as JSON gives them; see `read_units`."""
    units = []
    for nth, row in enumerate(rows, start=1):
        if isinstance(row, str):
            row = {"text": row}
        if not isinstance(row, dict) or not isinstance(row.get("text"), str):
            raise InputError(
                f"unit {nth} has no text",
                path=path,
                line=line,
                expected='a string or {"text": "…", "weight": 1, "kind": "scu"}',
            )
        found = row.get("kind", kind)
        if found is None and kind is None:
            raise InputError(
                f"unit {nth} has no kind",
                path=path,
                line=line,
                expected='JSON Lines whose units have a "kind", scu or stu',
                hint="'litepyramid budget import' and 'units mix' write such a file.",
            )
        if found not in ("scu", "stu"):
            raise InputError(
                f"unit {nth} is of kind {found!r}", path=path, line=line, expected="scu or stu"
            )
        if only and kind is not None and found != kind:
            raise InputError(
                f"unit {nth} is of kind {found!r}",
                path=path,
                line=line,
                expected=f"only units of kind {kind!r}: {_KINDS[kind]}",
                hint=_OTHER_KIND[kind],
            )
        units.append(
            Unit(
                _text(row["text"], path, line, nth),
                _weight(row.get("weight", 1.0), path, line),
                cast(UnitKind, found),
                _index(row.get("reference"), "reference", path, line),
                _index(row.get("sentence"), "sentence", path, line),
                _places(row.get("places"), path, line),
                _importance(row.get("importance"), path, line),
            )
        )
    return tuple(units)
