"""Units, references, summaries and labels, from files or from Python, as records.

Each `as_…` takes a path, plain Python (lists in the order of the inputs, dicts by id),
a data frame or rows with named columns (`io.rows.COLUMNS`), or the records themselves,
and gives records; units and labels are written here too.
"""

import math
import re
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Literal, TypeVar

from litepyramid.checked import as_type, check_characters, is_missing, number
from litepyramid.errors import InputError, located
from litepyramid.files import atomic_write, write_jsonl
from litepyramid.io.inputs import Entry, by_input, by_system, numbers_of, read_ids
from litepyramid.io.rows import ColumnNames, Ids, Rows, identifier, parse_columns
from litepyramid.io.sources import KINDS, as_list
from litepyramid.sentences import split_sentences
from litepyramid.tables import plain
from litepyramid.text import cut, one_line
from litepyramid.types import (
    InputReferences,
    InputUnits,
    SystemLabels,
    SystemSummaries,
    Unit,
    UnitKind,
)

_HEAVIEST = 1e12
_BAD = ("", "<t>")  # how no unit begins
_MARK = re.compile(r"<t>(.*?)</t>", re.DOTALL)
_Record = TypeVar("_Record")


def as_units(
    units: Any,
    ids: Ids = None,
    *,
    kind: UnitKind | None = None,
    only: bool = False,
    columns: ColumnNames = None,
) -> list[InputUnits]:
    """Units; one is a text, or a dict of `Unit`'s fields. `kind` is theirs if they do
    not say."""
    units = as_list(units)
    if kind is None:
        path = units.path if isinstance(units, Rows) else units
        name = Path(path).name.lower() if isinstance(path, str | Path) else ""
        kind = "stu" if "stu" in name and "scu" not in name else "scu"

    result = _records(units, InputUnits, "unit")
    if result is None:
        entries = by_input(units, "unit", ids, columns)
        result = [_input_units(entry, kind) for entry in entries]

    for own in result if only else ():
        if any(unit.kind != kind for unit in own.units):
            raise InputError(
                f"units of input '{own.input}' that are not of kind '{kind}'",
                expected=f"only units of kind '{kind}'",
                hint='If they are the right ones, correct or remove their "kind".',
            )

    return result


def as_references(
    references: Any, ids: Ids = None, *, columns: ColumnNames = None
) -> list[InputReferences]:
    """References, each a text or a list of its sentences; ``<t> … </t>`` marks
    sentences."""
    references = as_list(references)
    records = _records(references, InputReferences, "reference")
    if records is not None:
        return records

    entries = by_input(references, "reference", ids, columns)
    return [*map(_reference, entries)]


def as_documents(
    documents: Any, ids: Ids = None, *, columns: ColumnNames = None
) -> dict[tuple[str, str], str]:
    """The texts that are summarised, by system ("" for all) and input: as
    `as_references`, sentences joined by spaces."""
    result = {}
    for entry in by_input(as_list(documents), "document", ids, columns):
        read = _reference(entry)
        sentences: list[str] = []
        for own, marked in zip(read.references, read.marked, strict=True):
            sentences += own if marked else split_sentences(own[0])
        result[entry.system or "", entry.input] = " ".join(sentences)
    return result


def _reference(entry: Entry) -> InputReferences:
    with located(entry.path, entry.line):
        sentences, marked = zip(*map(_split_marks, entry.values), strict=True)
    return InputReferences(entry.input, sentences, marked, entry.question)


def as_summaries(
    summaries: Any,
    inputs: Ids = None,
    ids: Ids = None,
    *,
    columns: ColumnNames = None,
    partial: bool = False,
) -> list[SystemSummaries]:
    """Summaries; null is a missing one, and so is one that is not there if
    `partial`."""
    summaries = as_list(summaries)
    records = _records(summaries, SystemSummaries, "summary")
    if records is not None:
        return records
    result = []
    names = tuple(inputs or ())

    systems = by_system(summaries, "summary", inputs, ids, columns, partial)
    for system, entries in systems:
        names = names or tuple(entry.input for entry in entries)
        texts = []
        missing = []
        questions = {}
        for name, entry in zip(names, entries, strict=True):
            answer = entry.values[0] if entry.values else None
            texts.append((answer or "").strip())
            if answer is None:
                missing.append(name)
            if entry.question:
                questions[entry.input] = entry.question

        result.append(
            SystemSummaries(system, names, tuple(texts), tuple(missing), questions)
        )

    return result


def as_labels(
    labels: Any,
    units: Sequence[InputUnits],
    ids: Ids = None,
    *,
    partial: bool = False,
    columns: ColumnNames = None,
) -> list[SystemLabels]:
    """Presence labels: for each unit 0, 1, or .5 if it is there in part."""
    labels = as_list(labels)
    records = _records(labels, SystemLabels, "label")
    if records is not None:
        for own in records:
            for label in chain.from_iterable(own.labels):
                if label not in (0, 0.5, 1) and not is_missing(label):
                    raise InputError(
                        f"label {cut(repr(label))} of system '{own.system}'",
                        expected="0, 0.5 or 1, or NaN",
                    )
        return records
    inputs = tuple(entry.input for entry in units)
    texts = [entry.texts for entry in units]

    result = []
    for system, entries in by_system(labels, "label", inputs, ids, columns, partial):
        rows = tuple(map(labels_of, entries, texts))
        result.append(SystemLabels(system, inputs, rows))
    return result


def labels_of(entry: Entry, texts: Sequence[str]) -> tuple[float, ...]:
    """The labels of an input's units, or none if nobody labelled any; 0 and 1 are
    integers."""
    labels = []
    for label in numbers_of(entry, "label", texts) if entry.values else ():
        labels.append(int(label) if label in (0, 1) else label)
    return () if all(map(math.isnan, labels)) else tuple(labels)


def as_names(ids: Any, columns: Any) -> dict[str, Any]:
    """Ids (a list, a file) and columns (a dict, ``NAME=COLUMN,…``) as all readers take
    them."""
    if ids is not None:
        ids = read_ids(ids) if isinstance(ids, str | Path) else as_list(ids)
        check_characters(ids, "ids", 1)
        listed = isinstance(ids, list | tuple)
        ids = [identifier(one) for one in ids] if listed else [None]
        if None in ids:
            raise InputError(
                "ids that are no list of names", expected="one id for each input"
            )
    return {"ids": ids, "columns": parse_columns(columns)}


def _records(value: Any, kind: type[_Record], what: str) -> list[_Record] | None:
    """The records that a list holds, or what has them as an attribute; None if there
    are none."""
    if isinstance(value, str | Path):
        return None
    many = KINDS[what].many
    if not isinstance(value, list | tuple | Mapping | Rows) and not hasattr(
        value, "columns"
    ):
        # A data set or a result brings the records of this kind under their name.
        value = getattr(value, many, value)

    if not isinstance(value, list | tuple):
        return None
    if not value:
        raise InputError(f"no {many}", expected=KINDS[what].expected)
    return list(value) if set(map(type, value)) == {kind} else None


def _split_marks(reference: Any) -> tuple[tuple[str, ...], bool]:
    """The sentences of a reference as its own marks give them, and whether it had
    any."""
    if isinstance(reference, list | tuple):
        if not reference or not all(
            isinstance(s, str) and s.strip() for s in reference
        ):
            raise InputError(
                "a reference without sentences, or with an empty one",
                expected="a list of sentences",
            )
        return tuple(sentence.strip() for sentence in reference), True

    if not isinstance(reference, str) or not reference.strip():
        raise InputError("empty reference", expected="some text")
    # Most references have no marks: their sentences are split later, all together.
    if "<t>" not in reference and "</t>" not in reference:
        return (reference.strip(),), False
    # Up to the last mark that closes: what comes after it is outside, and costs no
    # search.
    marked, mark, after = reference.rpartition("</t>")
    marked += mark
    sentences = tuple(s.strip() for s in _MARK.findall(marked) if s.strip())
    outside = (_MARK.sub("", marked) + after).strip()
    if outside or not sentences:
        raise InputError(
            f"text outside the sentence marks ({outside[:40]!r})",
            expected="every sentence between <t> and </t>",
        )

    return sentences, True


def _input_units(entry: Entry, kind: UnitKind) -> InputUnits:
    rows = entry.values
    # Nearly all units are plain texts, and there may be millions of them.
    if all(
        isinstance(row, str) and row.isprintable() and row.strip()[:3] not in _BAD
        for row in rows
    ):
        units = [Unit(text.strip(), 1.0, kind) for text in rows]
        return InputUnits(entry.input, tuple(units), entry.question)

    units = []
    with located(entry.path, entry.line):
        for n, row in enumerate(rows, start=1):
            units.append(row if isinstance(row, Unit) else _unit(row, n, kind))

    if not any(unit.weight > 0 for unit in units):
        raise entry.error(
            f"no unit of input '{entry.input}' has a weight above zero",
            "at least one unit with a weight above zero",
        )

    return InputUnits(entry.input, tuple(units), entry.question)


def _unit(row: Any, nth: int, kind: UnitKind) -> Unit:
    """One unit as JSON gives it; see `as_units`."""
    row = {"text": row} if isinstance(row, str) else row
    if not isinstance(row, Mapping) or not isinstance(row.get("text"), str):
        raise InputError(
            f"unit {nth} has no text",
            expected='a string or {"text": "…", "weight": 1, "kind": "scu"}',
        )

    text = one_line(row["text"]).strip()
    tags = row.get("tags")
    weight = number(row.get("weight", 1.0))
    if not text:
        raise InputError(
            f"unit {nth} is empty",
            expected="one tab between units",
            hint="Remove the empty unit or the extra tab.",
        )

    if text.startswith("<t>") and text.endswith("</t>"):
        raise InputError(
            f"unit {nth} has the sentence marks of a reference",
            hint="Were the files of references and units swapped?",
        )

    if weight is None or not abs(weight) <= _HEAVIEST:
        raise InputError(
            f"weight {cut(repr(row['weight']))}",
            expected=f"a number up to {_HEAVIEST:g}, below 0 for a penalty",
        )

    # An empty cell of a table says nothing, where JSON would leave the key out.
    values = {key: value for key, value in row.items() if value != ""}
    values |= {
        "text": text,
        "weight": weight,
        "kind": row.get("kind") or kind,
        "tags": [tags] if isinstance(tags, str) else tags,
    }
    return as_type(Unit, values, what=f"unit {nth}")


def write_units(
    path: str | Path,
    units: Sequence[InputUnits],
    form: Literal["jsonl", "lines"] = "jsonl",
) -> None:
    """Writes units, in either form, all or nothing; a line file keeps the texts
    alone."""
    if form == "jsonl":
        write_jsonl(path, [entry.to_json() for entry in units])
        return

    for entry in units:
        # Tabs stand between the units of a line file, and lines between inputs.
        if not set("\t\n\r").isdisjoint("".join(entry.texts)):
            raise InputError(
                f"a unit of input '{entry.input}' holds a tab or a line break",
                expected="one line of text for a line file",
                hint="Write JSON Lines instead.",
            )
    with atomic_write(path) as file:
        file.writelines("\t".join(entry.texts) + "\n" for entry in units)


def write_labels(path: str | Path, labels: SystemLabels) -> None:
    """Writes one system's labels, all or nothing; name the file after the system."""
    rows = zip(labels.inputs, labels.labels, strict=True)
    lines = [{"input": name, "labels": row} for name, row in rows]

    write_jsonl(path, plain(lines))
