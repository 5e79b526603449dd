"""Units, references, summaries, labels and weights, from files or from Python, as records.

Each `as_…` takes a path, plain Python (lists in the order of the inputs, dicts by id), a data frame
or rows with named columns (`io.rows.COLUMNS`), or the records themselves, and gives records.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, cast

from litepyramid.checked import as_type, number
from litepyramid.errors import InputError
from litepyramid.files import file_type
from litepyramid.io.inputs import Entry, aligned, entries_by_system, entries_of, matched, read_ids
from litepyramid.io.rows import (
    ColumnNames,
    Ids,
    Row,
    Rows,
    identifier,
    located,
    parse_columns,
    read_rows,
    table_rows,
)
from litepyramid.sentences import split_sentences
from litepyramid.tables import plain
from litepyramid.text import counted, cut, one_line
from litepyramid.types import (
    InputDocuments,
    InputReferences,
    InputUnits,
    SystemLabels,
    SystemSummaries,
    Unit,
    UnitKind,
)

IMPORTANCE = ("vital", "okay", "failed")
_HEAVIEST = 1e12
_BAD = ("", "<t>")  # how no unit begins
_MARK = re.compile(r"<t>(.*?)</t>", re.DOTALL)
_Record = TypeVar("_Record")
_System = tuple[str, str | Path, list[Entry]]


def as_units(
    units: Any,
    ids: Ids = None,
    *,
    kind: UnitKind | None = None,
    only: bool = False,
    columns: ColumnNames = None,
) -> list[InputUnits]:
    """Units from a path, a list of lists, a dict by input, rows, or whatever holds units.

    A unit is its text, or a dict with ``text`` and, if wanted, ``weight`` (below zero for a
    penalty), ``kind`` (scu or stu), ``reference`` and ``sentence`` (indices from 0), or ``places``
    (these two for each contributor of an SCU), ``importance`` (vital or okay), ``tags``. A line of
    a line file holds one input's units with tabs between them. Tabs and line breaks in a text are
    read as a space.

    Args:
        units: The units of every input.
        kind: What units are that do not say: SCUs, but STUs in a file named so, if not given.
        only: Whether a unit must be of that kind.
        ids: Ids of the inputs, where they go by order; without them "1", "2", ….
        columns: Own column names, by known column (`io.rows.COLUMNS`).

    Example:
        >>> as_units([["It rained.", "We left."]])[0].texts
        ('It rained.', 'We left.')
    """
    records = _records(units, InputUnits, "units")
    if records is not None:
        wrong = [u.kind for entry in records for u in entry.units if only and u.kind != kind]
        if wrong:
            raise InputError(f"units of kind '{wrong[0]}'", expected=f"only units of kind '{kind}'")
        return records
    if kind is None:
        path = units.path if isinstance(units, Rows) else units
        kind = kind_by_name(path) if isinstance(path, str | Path) else "scu"
    path, entries = _by_input(units, "unit", ids, columns)
    return [_input_units(entry, path, kind, only) for entry in entries]


def as_weights(
    weights: Any, units: Sequence[InputUnits], ids: Ids = None, *, columns: ColumnNames = None
) -> list[InputUnits]:
    """The units with the weights of a path, a list of lists, a dict by input, or rows."""
    path, entries = _by_input(weights, "weight", ids, columns, [entry.input for entry in units])
    result = []
    for entry, own in zip(units, entries, strict=True):
        values = aligned(own, "weight", entry.texts, path)
        with located(path, own.line):
            weighted = tuple(
                replace(unit, weight=_weight(value))
                for unit, value in zip(entry.units, values, strict=True)
            )
            _check_weights(weighted, entry.input)
        result.append(replace(entry, units=weighted))
    return result


def as_references(
    references: Any, ids: Ids = None, *, columns: ColumnNames = None
) -> list[InputReferences]:
    """References from a path, a list with one or several an input, a dict by input, or rows.

    A reference is a text or a list of its sentences; a text may mark them with ``<t> … </t>``. A
    line of a line file is one reference, or several with tabs between them.

    Example:
        >>> as_references({"a": "It rained."})[0].references
        (('It rained.',),)
    """
    records = _records(references, InputReferences, "references")
    if records is not None:
        return records
    result = []
    path, entries = _by_input(references, "reference", ids, columns)
    for entry in entries:
        with located(path, entry.line):
            sentences, marked = zip(*map(split_marks, entry.values), strict=True)
        result.append(InputReferences(entry.input, sentences, marked, entry.question))
    return result


def as_documents(
    documents: Any, ids: Ids = None, *, columns: ColumnNames = None
) -> list[InputDocuments]:
    """The texts that are summarised, as sentences: as `as_references`, unmarked ones split."""
    records = _records(documents, InputDocuments, "documents")
    if records is not None:
        return records
    result = []
    path, entries = _by_input(documents, "document", ids, columns)
    for entry in entries:
        with located(path, entry.line):
            texts = [split_marks(value) for value in entry.values]
        split = [own if marked else split_sentences(own[0]) for own, marked in texts]
        result.append(InputDocuments(entry.input, tuple(s for own in split for s in own)))
    return result


def as_summaries(
    summaries: Any,
    inputs: Ids = None,
    ids: Ids = None,
    *,
    columns: ColumnNames = None,
    partial: bool = False,
) -> list[SystemSummaries]:
    """Summaries from paths, a dict by system (of lists, or dicts by input), a list of texts, rows.

    A line of a line file is one summary; a file is named after its system, unless its rows say
    ``system``. An empty summary is legal; null is one that is missing, and so is one that is not
    there if `partial`.

    Example:
        >>> as_summaries({"mine": ["It rained.", ""]})[0].inputs
        ('1', '2')
    """
    return with_questions(summaries, inputs, ids, columns, partial)[0]


def with_questions(
    summaries: Any, inputs: Ids, ids: Ids, columns: ColumnNames, partial: bool
) -> tuple[list[SystemSummaries], dict[str, str]]:
    """`as_summaries`, and what was asked by input, if the rows of the answers say it."""
    records = _records(summaries, SystemSummaries, "summaries")
    if records is not None:
        return records, {}
    result: list[SystemSummaries] = []
    questions: dict[str, str] = {}
    names = tuple(inputs or ())
    for system, path, entries in systems_of(summaries, "summary", inputs, ids, columns, partial):
        names = names or tuple([entry.input for entry in entries])
        answers = [entry.values[0] if entry.values else None for entry in entries]
        _check_no_paths(answers[:1], path)
        for entry in entries:
            if (
                entry.question
                and questions.setdefault(entry.input, entry.question) != entry.question
            ):
                what = f"system '{system}' answers another question on input '{entry.input}'"
                raise InputError(what, path=path, line=entry.line)
        missing = [name for name, answer in zip(names, answers, strict=True) if answer is None]
        texts = tuple([(answer or "").strip() for answer in answers])
        result.append(SystemSummaries(system, names, texts, tuple(missing)))
    return result, questions


def as_labels(
    labels: Any,
    units: Sequence[InputUnits],
    ids: Ids = None,
    *,
    partial: bool = False,
    columns: ColumnNames = None,
) -> list[SystemLabels]:
    """Presence labels from a path, a dict by system (of lists, or dicts by input), or rows.

    For each unit 0, 1, or .5 if it is there in part. A line of a line file holds labels with tabs
    between them; a row may hold one ``label`` with the ``unit`` that it is of.
    """
    records = _records(labels, SystemLabels, "labels")
    if records is not None:
        return records
    inputs = tuple(entry.input for entry in units)
    result = []
    for system, path, entries in systems_of(labels, "label", inputs, ids, columns, partial):
        rows = []
        for of, entry in zip(units, entries, strict=True):
            values = aligned(entry, "label", of.texts, path) if entry.values else []
            with located(path, entry.line):
                rows.append(tuple([presence_label(value) for value in values]))
        result.append(SystemLabels(system, inputs, tuple(rows)))
    return result


def as_names(ids: Any, columns: Any) -> dict[str, Any]:
    """Ids (a list, a file) and columns (a dict, ``NAME=COLUMN,…``) as all readers take them."""
    ids = read_ids(ids) if isinstance(ids, str | Path) else ids
    if ids is not None:
        listed = isinstance(ids, Iterable) and not isinstance(ids, bytes | Mapping)
        ids = [identifier(one) for one in ids] if listed else [None]
        if None in ids:
            raise InputError("ids that are no list of names", expected="one id for each input")
    return {"ids": ids, "columns": parse_columns(columns)}


def kind_by_name(path: str | Path) -> UnitKind:
    """Kind of units in a file that does not specify it: STUs if it is named so, else SCUs."""
    name = Path(path).name.lower()
    return "stu" if "stu" in name and "scu" not in name else "scu"


def split_marks(reference: str | list[Any]) -> tuple[tuple[str, ...], bool]:
    """The sentences of a reference as its own marks give them, and whether it had any."""
    if isinstance(reference, list | tuple):
        if not reference or not all(isinstance(s, str) and s.strip() for s in reference):
            what = "a reference without sentences, or with an empty one"
            raise InputError(what, expected="a list of sentences")
        return tuple(sentence.strip() for sentence in reference), True
    if not isinstance(reference, str) or not reference.strip():
        raise InputError("empty reference", expected="some text")
    if "<t>" not in reference and "</t>" not in reference:
        return (reference.strip(),), False
    # Up to the last mark that closes: what comes after it is outside, and costs no search.
    marked, mark, after = reference.rpartition("</t>")
    marked += mark
    sentences = tuple(s.strip() for s in _MARK.findall(marked) if s.strip())
    outside = (_MARK.sub("", marked) + after).strip()
    if outside or not sentences:
        problem = f"text outside the sentence marks ({outside[:40]!r})"
        raise InputError(problem, expected="every sentence between <t> and </t>")
    return sentences, True


def presence_label(value: Any) -> float:
    """A label that is 0, .5 or 1, as a number or as text; 0 and 1 are integers."""
    label = number(value) if isinstance(value, int | float | str) else None
    if label in (0, 1):
        return int(label)
    if label == 0.5:
        return label
    expected = "0 (not present), 1 (present), or 0.5 (in part)"
    raise InputError(f"label {value!r}", expected=expected)


def units_from_json(data: Any, path: str | Path) -> list[InputUnits]:
    """Units as `InputUnits.to_json` gives them, with their kinds, checked as `as_units` does."""
    rows = [Row(n, row) for n, row in enumerate(as_type(_ROWS, data, path=path), 1)]
    entries = entries_of(Rows(path, "jsonl", rows), "unit")
    return [_input_units(entry, path, None, False) for entry in entries]


_ROWS: Any = list[dict[str, Any]]


def _records(value: Any, kind: type[_Record], attribute: str) -> list[_Record] | None:
    """The records that a list holds, or what has them as an attribute; None if there are none."""
    if isinstance(value, str | Path):
        return None
    if not isinstance(value, list | tuple | Mapping | Rows) and not hasattr(value, "columns"):
        value = getattr(value, attribute, value)
    if not isinstance(value, list | tuple) or isinstance(value, Rows):
        return None
    if not value:
        raise InputError(f"no {attribute}", expected=_EXPECTED.get(attribute))
    return list(value) if set(map(type, value)) == {kind} else None


def _by_input(
    value: Any, what: str, ids: Ids, columns: ColumnNames, inputs: Ids = None
) -> tuple[str | Path, list[Entry]]:
    """What belongs to inputs, and the source to name in messages."""
    many = f"{what}s"
    value = list(value) if isinstance(value, Iterator) else value
    table = read_rows(check_path(value), columns) if isinstance(value, str | Path) else None
    if table := table or _table(value, many, columns):
        entries = entries_of(table, what, ids, inputs)
        if what != "weight":
            _check_no_paths([v for entry in entries[:1] for v in entry.values[:1]], table.path)
        return table.path, entries
    text_ok = what in ("reference", "document")
    if not isinstance(value, Mapping | list | tuple) or (
        not text_ok and isinstance(value, list | tuple) and isinstance(value[0], str)
    ):
        raise _unreadable(value, many)
    entries = _plain_entries(value, what, ids or inputs, many)
    for entry in entries:
        if not entry.values:
            raise InputError(f"no {many} of input '{entry.input}'", expected="at least one")
    return many, entries if inputs is None else matched(entries, inputs, what, many)


def systems_of(
    value: Any, what: str, inputs: Ids, ids: Ids, columns: ColumnNames, partial: bool = False
) -> Iterable[_System]:
    """What belongs to systems: name, source and entries of each."""
    many = {"summary": "summaries", "presence": "presence"}.get(what, f"{what}s")
    value = list(value) if isinstance(value, Iterator) else value
    if isinstance(value, str | Path):
        value = [check_path(value)]
    elif isinstance(value, list | tuple) and value and isinstance(value[0], Path):
        value = [check_path(path) for path in value]
    else:
        table = _table(value, many, columns)
        if table is None:
            return _plain_systems(value, what, many, inputs, ids, columns, partial)
        value = table
    return entries_by_system(value, what, inputs, ids, columns, partial=partial)


def _plain_systems(
    value: Any, what: str, many: str, inputs: Ids, ids: Ids, columns: ColumnNames, partial: bool
) -> list[_System]:
    """A dict by system; or a list of texts, those of one system."""
    if not isinstance(value, Mapping):
        if what != "summary" or not isinstance(value, list | tuple):
            raise _unreadable(value, many)
        value = {"system": value}
    result: list[_System] = []
    for key, own in value.items():
        system = key if isinstance(key, str) and key.strip() else identifier(key)
        if system is None:
            raise InputError(f"a system is called {key!r}", expected="a name")
        place: str | Path = f"{many} of '{system}'"
        if isinstance(own, Path):
            ((_, place, entries),) = entries_by_system(
                [check_path(own)], what, inputs, ids, columns
            )
        else:
            own = [own] if isinstance(own, str) and what == "summary" else plain_list(own, place)
            by_id = isinstance(own, Mapping)
            entries = _plain_entries(own, what, None if by_id else ids or inputs, place, system)
            if inputs is None:
                inputs = [entry.input for entry in entries]
            elif by_id or ids:
                entries = matched(entries, inputs, what, place, partial)
        result.append((system, place, entries))
    if not result:
        raise InputError(f"no {many}", expected=_EXPECTED.get(many))
    return result


def plain_list(value: Any, place: str | Path) -> Any:
    """An array, a series or another column as a list; a dict as it is."""
    if isinstance(value, Mapping | list | tuple):
        return value
    if hasattr(value, "tolist"):
        return plain(value)
    if isinstance(value, set | frozenset):
        raise InputError(f"{place} is a set, which has no order", expected="a list")
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise InputError(f"{place} cannot be read from a {type(value).__name__}", expected="a list")
    return list(value)


def _plain_entries(
    value: Any, what: str, names: Ids, place: str | Path, system: str | None = None
) -> list[Entry]:
    """Entries of a list in the order of the inputs, or of a dict by their ids."""
    if isinstance(value, Mapping):
        names, value = [identifier(key) or "" for key in value], list(value.values())
        if "" in names:
            raise InputError(f"an input of {place} has no name", expected="ids of the inputs")
    elif names is None:
        names = [str(n + 1) for n in range(len(value))]
    elif len(names) != len(value):
        many = counted(len(value), what, "summaries" if what == "summary" else None)
        problem = f"{many} for {counted(len(names), 'input')}"
        raise InputError(problem, path=place, expected="one entry for each input")
    entries = []
    for n, (name, own) in enumerate(zip(names, value, strict=True), 1):
        if what == "summary":
            own = None if isinstance(own, float) and own != own else own
            if not isinstance(own, str | None):
                of = f"the summary of input '{name}' is {cut(repr(own))}"
                raise InputError(of, path=place, expected="a text")
            values = [own]
        elif isinstance(own, str) and what in ("unit", "reference", "document"):
            values = [own]
        else:
            listed = own if isinstance(own, list) else plain_list(own, place)
            if isinstance(listed, Mapping):
                raise _unreadable(own, str(place))
            values = list(listed)
        if what in ("unit", "reference", "document"):
            _check_no_paths(values[:1], place)
        entries.append(Entry(name, n, values, system, True))
    return entries


def _check_no_paths(values: Sequence[Any], place: str | Path) -> None:
    """Raises InputError if the texts are the names of files that are there."""
    if values and isinstance(values[0], str) and os.path.isfile(values[0]):  # noqa: PTH113
        what = f"'{values[0]}' is a file, not a text"
        raise InputError(what, path=place, hint="Give files as pathlib.Path, or their folder.")


def _table(value: Any, many: str, columns: ColumnNames) -> Rows | None:
    """Rows of data with named columns; a list of lists or a dict by id has none."""
    if isinstance(value, Rows):
        return value
    if isinstance(value, list | tuple) and value and isinstance(value[0], str | list | tuple):
        return None
    one, named = "summary" if many == "summaries" else many.removesuffix("s"), columns or {}
    holding = named.get(one) or named.get(many) or (one if one == "summary" else many)
    return table_rows(value, many, columns, holding=holding)


def check_path(path: str | Path) -> str | Path:
    """The path, if something is there; else InputError."""
    if file_type(path) is None:
        hint = "Check the path; put a single text into a list."
        raise InputError("no such file or folder", path=path, hint=hint)
    return path


def _unreadable(value: Any, name: str) -> InputError:
    kind = f"a {type(value).__name__}"
    if isinstance(value, list | tuple) and value:
        kind += f" of {type(value[0]).__name__}"
    if isinstance(value, set | frozenset):
        kind += ", which has no order"
    return InputError(f"{name} cannot be read from {kind}", expected=_EXPECTED.get(name))


def _input_units(entry: Entry, path: str | Path, kind: UnitKind | None, only: bool) -> InputUnits:
    units, others = [], False
    for nth, row in enumerate(entry.values, start=1):
        if kind and isinstance(row, str) and row.isprintable() and row.strip()[:3] not in _BAD:
            units.append(Unit(row.strip(), 1.0, kind))
            continue
        others = True
        with located(path, entry.line):
            units.append(row if isinstance(row, Unit) else _unit(row, nth, kind, only))
    if others:
        with located(path, entry.line):
            _check_weights(units, entry.input)
    return InputUnits(entry.input, tuple(units), entry.question)


def _unit(row: Any, nth: int, kind: UnitKind | None, only: bool) -> Unit:
    """One unit as JSON gives it; see `as_units`."""
    row = {"text": row} if isinstance(row, str) else row
    if not isinstance(row, Mapping) or not isinstance(row.get("text"), str):
        expected = 'a string or {"text": "…", "weight": 1, "kind": "scu"}'
        raise InputError(f"unit {nth} has no text", expected=expected)
    own_kind = row.get("kind", kind)
    if own_kind not in ("scu", "stu"):
        none = "has no kind" if own_kind is None else f"is of kind {own_kind!r}"
        raise InputError(f"unit {nth} {none}", expected="scu or stu")
    if only and kind is not None and own_kind != kind:
        what = f"unit {nth} is of kind {own_kind!r}"
        hint = 'If this is the right file, correct or remove its "kind".'
        raise InputError(what, expected=f"only units of kind {kind!r}", hint=hint)
    importance = row.get("importance") or None
    if importance not in (None, *IMPORTANCE):
        raise InputError(f'"importance" is {cut(importance)}', expected=" or ".join(IMPORTANCE))
    tags = row.get("tags") or ()
    tags = [tags] if isinstance(tags, str) else tags
    if not isinstance(tags, list | tuple) or not all(isinstance(tag, str) for tag in tags):
        raise InputError(f'"tags" is {cut(repr(tags))}', expected="a list of texts, or one text")
    return Unit(
        _checked_text(one_line(row["text"]).strip(), nth),
        _weight(row.get("weight", 1.0)),
        cast(UnitKind, own_kind),
        _index(row.get("reference"), "reference"),
        _index(row.get("sentence"), "sentence"),
        _places(row.get("places") or ()),
        importance,
        tuple(tags),
    )


def _checked_text(text: str, nth: int) -> str:
    if not text:
        what = f"unit {nth} is empty"
        expected = "units with one tab between them"
        raise InputError(what, expected=expected, hint="Remove the empty unit or the extra tab.")
    if text.startswith("<t>") and text.endswith("</t>"):
        what = f"unit {nth} has the sentence marks of a reference"
        hint = "Were the files of references and units swapped?"
        raise InputError(what, expected="units with tabs between them", hint=hint)
    return text


def _weight(value: Any) -> float:
    weight = number(value)
    if weight is None or not abs(weight) <= _HEAVIEST:
        expected = f"a number up to {_HEAVIEST:g}, below 0 for a penalty"
        raise InputError(f"weight {cut(repr(value))}", expected=expected)
    return weight


def _check_weights(units: Sequence[Unit], name: str) -> None:
    if not any(unit.weight > 0 for unit in units):
        expected = "at least one unit with a weight above zero"
        raise InputError(f"no unit of input '{name}' has a weight above zero", expected=expected)


def _index(value: Any, key: str) -> int | None:
    if value is None or (type(value) is int and 0 <= value < 2**31):
        return value
    raise InputError(f'"{key}" is {value!r}', expected="0, 1, 2 …")


def _places(value: Any) -> tuple[tuple[int | None, int | None], ...]:
    pairs = isinstance(value, list | tuple) and all(
        isinstance(place, list | tuple) and len(place) == 2 for place in value
    )
    if not pairs:
        raise InputError(f'"places" is {value!r}', expected="[[reference, sentence], …]")
    return tuple((_index(one, "places"), _index(two, "places")) for one, two in value)


_TABLE = "a data frame or rows with the columns "
_EXPECTED = {
    "units": "a path, a list with a list of units for each input, a dict of lists by input, or "
    f"{_TABLE}input and unit",
    "references": "a path, a list with one or several texts for each input, a dict by input, or "
    f"{_TABLE}input and reference",
    "weights": "a path, a list with a list of numbers for each input, a dict of lists by input, "
    f"or {_TABLE}input, unit and weight",
    "summaries": "a path, a dict with the texts of each system, a list of texts, or "
    f"{_TABLE}system, input and summary",
    "labels": "a path, a dict with the lists of 0 and 1 of each system, or "
    f"{_TABLE}system, input, unit and label",
    "presence": "a path, a dict with the lists of numbers of each system, or "
    f"{_TABLE}system, input, unit and presence",
}
