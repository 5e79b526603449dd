"""What files hold as one table: each answer with all that belongs to its input."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from litepyramid.data.data import Data, load
from litepyramid.data.joining import EVERY_INPUT
from litepyramid.errors import InputError
from litepyramid.imports.texts import Cells, Counts
from litepyramid.text import cut

_GOLD = ("references", "reference", "units")
_OF_INPUT = ("question", *_GOLD, "documents")
_ORDER = dict.fromkeys(("system", "repeat", "input", *_OF_INPUT, "labels", "summary"))


class FileRow(NamedTuple):
    """A row under our columns, with its place in a file."""

    path: Path
    line: int
    cells: Mapping[str, Any]

    @property
    def input(self) -> str:
        """The id of its input."""
        return str(self.cells.get("input"))

    @property
    def order(self) -> tuple[str, str, int, str]:
        """Where it stands: by its system, its input, the number of its repeat."""
        repeat = str(self.cells.get("repeat", ""))
        return str(self.cells.get("system")), self.input, len(repeat), repeat

    def only(self, names: Collection[str]) -> "FileRow":
        """The row with some of its columns."""
        chosen = [name for name in _ORDER if name in names and name in self.cells]
        return self._replace(cells={name: self.cells[name] for name in chosen})


def rows_of(data: Data) -> Iterator[Cells]:
    """Our rows of data that were loaded elsewhere; of its labels those of its units."""
    gold: dict[str, Cells] = {}
    for entry in (*data.references, *data.units):
        gold[entry.input] = {**gold.get(entry.input, {}), **entry.to_json()}
    yield from gold.values()

    labels = {}
    if data.labels is not None and data.labels.units.facts == data.units.facts:
        for system in data.labels.systems:
            labels[system] = data.labels.units.split(data.labels.of_system(system))
    for (run, name), text in data.summaries.cells():
        system, *repeat = data.repeats.get(run, (run,))
        row: Cells = {"system": system, "input": name, "summary": text}
        row |= {"repeat": repeat[0]} if repeat else {}
        if run in labels:
            values = labels[run][name].tolist()
            row["labels"] = [None if value != value else value for value in values]
        if text is not None:
            yield row


def table_of(rows: Sequence[FileRow]) -> tuple[list[FileRow], int]:
    """A row for each answer, with what other rows say of its input, and the number of
    inputs that nobody answered; without answers a row for each input."""
    answers = []
    about_inputs: dict[str, FileRow] = {}
    for row in rows:
        if {"summary", "labels"} & row.cells.keys():
            answers.append(row)
            continue
        about = row.only(("input", *_OF_INPUT))
        first = about_inputs.setdefault(row.input, about)
        both = first.cells.keys() & about.cells.keys()
        if other := [name for name in both if first.cells[name] != about.cells[name]]:
            raise InputError(
                f"another {min(other)} of input '{cut(row.input)}'",
                path=row.path,
                line=row.line,
                expected=f"the same as at {first.path}:{first.line}",
            )
        both_cells = {**first.cells, **about.cells}
        about_inputs[row.input] = first._replace(cells=both_cells)

    table = [] if answers else [*about_inputs.values()]
    for row in answers:
        shared: Cells = {}
        for name in (EVERY_INPUT, row.input):
            if name in about_inputs:
                shared |= about_inputs[name].only(_OF_INPUT).cells
        table.append(row._replace(cells={**shared, **row.cells}))
    unanswered = about_inputs.keys() - {EVERY_INPUT, *[row.input for row in table]}
    in_order = sorted([row.only(_ORDER) for row in table], key=lambda row: row.order)
    return in_order, len(unanswered)


def scoreable(table: Sequence[FileRow]) -> tuple[list[FileRow], Counts]:
    """The rows that can be scored together: those with references, or with units,
    whatever more rows have; and what is left out."""
    having = {name: [row for row in table if name in row.cells] for name in _GOLD}
    best = max(_GOLD, key=lambda name: len(having[name]))
    kept = having[best] or [*table]
    counts = Counter({f"rows without {best}": len(table) - len(kept)})

    partial = []
    for name in _GOLD:
        number = sum(name in row.cells for row in kept)
        if number < len(kept):
            partial.append(name)
            counts[f"{name}, which other rows lack"] += number
    return [row.only(_ORDER.keys() - partial) for row in kept], counts


def filled(table: Sequence[FileRow]) -> list[FileRow]:
    """The rows with the columns of all of them, null where a row has none."""
    names = [name for name in _ORDER if any(name in row.cells for row in table)]
    rows = []
    for row in table:
        rows.append(row._replace(cells={name: row.cells.get(name) for name in names}))
    return rows


def checked(table: Sequence[FileRow]) -> Data:
    """The table as the door reads it; InputError with the place of a broken row."""
    names = {name for row in table for name in row.cells}
    role = "units" if "units" in names else "references"
    sources: dict[str, Any] = {
        "data" if "summary" in names else role: [row.cells for row in table]
    }
    try:
        return load(**sources, nulls="missing")
    except InputError as error:
        if error.line and error.line <= len(table):
            place = table[error.line - 1]
            error.path, error.line = str(place.path), place.line
        raise
