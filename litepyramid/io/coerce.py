"""Units, references, summaries and labels, from files or from Python, as records.

Each `as_…` takes a path, plain Python (lists in the order of the inputs, dicts by id),
a data frame or rows with named columns (`io.rows.COLUMNS`), or the records themselves,
and gives records; units and labels are written here too.
"""

import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

from litepyramid.checked import as_type, number
from litepyramid.errors import InputError, located
from litepyramid.files import atomic_write, file_type, files_in, stem, write_jsonl
from litepyramid.io.inputs import KINDS, Entry, aligned, entries_of, matched, read_ids
from litepyramid.io.readers import read_rows, table_rows
from litepyramid.io.rows import (
    ColumnNames,
    Ids,
    Rows,
    identifier,
    parse_columns,
)
from litepyramid.sentences import split_sentences
from litepyramid.tables import plain
from litepyramid.text import counted, cut, one_line
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
_COLUMN_METHODS = ("to_pylist", "to_list", "tolist")
"""How Arrow, polars and numpy give a column as a list."""
_Record = TypeVar("_Record")


def as_list(value: Any) -> Any:
    """A one-dimensional thing of any library as a list; all else as it is.

    A pandas Series whose index has a name is a dict: the index holds the ids. Missing
    values are None.
    """
    if value is None or isinstance(value, str | bytes | Path | Mapping | list | tuple):
        return value

    # A set has no order, and a frame or a table has columns: neither is one list.
    is_frame = hasattr(value, "columns") or hasattr(value, "column_names")
    if is_frame or isinstance(value, set | frozenset):
        return value

    index = getattr(value, "index", None)
    if getattr(index, "name", None) is not None:
        ids = plain(value.index.tolist())
        if len(set(ids)) == len(ids):
            return dict(zip(ids, plain(value.tolist()), strict=True))

    if hasattr(value, "notna"):
        value = value.astype(object).where(value.notna(), None)

    for method in _COLUMN_METHODS:
        if hasattr(value, method):
            return plain(getattr(value, method)())

    return list(value) if isinstance(value, Iterable) else value


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
        entries = _by_input(units, "unit", ids, columns)
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

    return _texts(references, "reference", ids, columns)


def as_documents(
    documents: Any, ids: Ids = None, *, columns: ColumnNames = None
) -> dict[str, str]:
    """The texts that are summarised, by input: as `as_references`, sentences joined by
    spaces."""
    result = {}
    for entry in _texts(as_list(documents), "document", ids, columns):
        texts = zip(entry.references, entry.marked, strict=True)
        sentences: list[str] = []
        for own, marked in texts:
            sentences += own if marked else split_sentences(own[0])
        result[entry.input] = " ".join(sentences)
    return result


def _texts(
    value: Any, what: str, ids: Ids, columns: ColumnNames
) -> list[InputReferences]:
    result = []
    for entry in _by_input(value, what, ids, columns):
        with located(entry.path, entry.line):
            sentences, marked = zip(*map(_split_marks, entry.values), strict=True)
        result.append(InputReferences(entry.input, sentences, marked, entry.question))
    return result


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
        _check_no_path(entries)
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
        return records
    inputs = tuple(entry.input for entry in units)
    texts = [entry.texts for entry in units]

    result = []
    for system, entries in by_system(labels, "label", inputs, ids, columns, partial):
        rows = tuple(map(labels_of, entries, texts))
        result.append(SystemLabels(system, inputs, rows))
    return result


def labels_of(entry: Entry, texts: Sequence[str]) -> tuple[float, ...]:
    """The labels of an input's units: 0, .5 or 1, as numbers or as text; 0 and 1 are
    integers. A unit that nobody labelled (null) is NaN."""
    labels = []

    for value in aligned(entry, "label", texts) if entry.values else ():
        if value in (None, "") or value != value:
            labels.append(math.nan)
            continue

        label = number(value) if isinstance(value, int | float | str) else None
        if label not in (0, 0.5, 1):
            raise entry.error(
                f"label {value!r}",
                "0 (not present), 1 (present), 0.5 (in part), or null",
            )
        labels.append(label if label == 0.5 else int(label))

    if all(map(math.isnan, labels)):
        return ()
    return tuple(labels)


def as_names(ids: Any, columns: Any) -> dict[str, Any]:
    """Ids (a list, a file) and columns (a dict, ``NAME=COLUMN,…``) as all readers take
    them."""
    ids = read_ids(ids) if isinstance(ids, str | Path) else as_list(ids)
    if ids is not None:
        listed = isinstance(ids, list | tuple)
        ids = [identifier(one) for one in ids] if listed else [None]
        if None in ids:
            raise InputError(
                "ids that are no list of names", expected="one id for each input"
            )
    return {"ids": ids, "columns": parse_columns(columns)}


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


def _by_input(value: Any, what: str, ids: Ids, columns: ColumnNames) -> list[Entry]:
    """What belongs to inputs."""
    if (table := _table(value, what, columns)) is not None:
        entries = entries_of(table, what, ids)
        _check_no_path(entries)
        return entries

    texts = what in ("reference", "document")
    strings = isinstance(value, list | tuple) and value and isinstance(value[0], str)

    if (
        not value
        or not isinstance(value, Mapping | list | tuple)
        or (strings and not texts)
    ):
        raise _unreadable(value, what)

    many = KINDS[what].many
    entries = _plain_entries(value, what, ids, many)
    _check_no_path(entries)

    for entry in entries:
        if not entry.values:
            raise InputError(
                f"no {many} of input '{entry.input}'", expected="at least one"
            )

    return entries


def by_system(
    value: Any,
    what: str,
    inputs: Ids,
    ids: Ids,
    columns: ColumnNames,
    partial: bool = False,
) -> Iterable[tuple[str, list[Entry]]]:
    """Every system of a source: its name (of its rows, else of its file), its entries
    in order."""
    tables: Iterable[Rows]
    if paths := paths_of(value):
        files = files_in(list(map(check_path, paths)), KINDS[what].many)
        # One after the other: files of many systems are not held all at once.
        tables = (
            read_rows(path, columns, blank_ok=what == "summary") for path in files
        )
    elif (table := _table(value, what, columns)) is not None:
        tables = [table]
    else:
        return _plain_systems(value, what, inputs, ids, columns, partial)

    return _systems_of(tables, what, inputs, ids, partial)


def _systems_of(
    tables: Iterable[Rows], what: str, inputs: Ids, ids: Ids, partial: bool
) -> Iterator[tuple[str, list[Entry]]]:
    """The systems of some tables; without `inputs`, those of the first system must be
    there."""
    seen: dict[str, str | Path] = {}
    for table in tables:
        entries = entries_of(table, what, ids, inputs, partial=partial)
        if inputs is None:
            first = entries[0].system
            inputs = [entry.input for entry in entries if entry.system == first]
            entries = matched(entries, inputs, what)

        # A stream and a frame have no name of their own that a system could be called
        # by.
        named = str(table.path) != "-" and table.form != "python"
        unnamed = stem(table.path) if named else "system"
        for start in range(0, len(entries), len(inputs)):
            block = entries[start : start + len(inputs)]
            system = block[0].system or unnamed
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


def _plain_systems(
    value: Any, what: str, inputs: Ids, ids: Ids, columns: ColumnNames, partial: bool
) -> list[tuple[str, list[Entry]]]:
    """The systems of a dict; or a list of texts, those of one."""
    many = KINDS[what].many
    result = []
    # A list of texts alone: nobody said whose they are.
    if what == "summary" and isinstance(value, list | tuple):
        value = {"system": value}
    if not isinstance(value, Mapping) or not value:
        raise _unreadable(value, what)

    for key, own in value.items():
        system = key if isinstance(key, str) and key.strip() else identifier(key)
        if system is None:
            raise InputError(f"a system is called {key!r}", expected="a name")
        path = f"{many} of '{system}'"

        if isinstance(own, Path):
            [(_, entries), *others] = by_system(own, what, inputs, ids, columns)
            if others:
                raise InputError(f"{len(others) + 1} systems", path=own, expected="one")
        else:
            # One text alone is the summary of the one input.
            alone = isinstance(own, str) and what == "summary"
            own = [own] if alone else _plain_list(own, path)
            by_id = isinstance(own, Mapping)
            names = None if by_id else ids or inputs
            entries = _plain_entries(own, what, names, path, system)
            if inputs is None:
                inputs = [entry.input for entry in entries]
            elif by_id or ids:
                entries = matched(entries, inputs, what, partial)

        result.append((system, entries))

    return result


def _plain_list(value: Any, path: str | Path) -> Any:
    """An array, a series or another column as a list; a dict as it is."""
    values = as_list(value)
    if not isinstance(values, Mapping | list | tuple):
        raise _unreadable(value, str(path))
    return values


def _plain_entries(
    value: Any, what: str, names: Ids, path: str | Path, system: str | None = None
) -> list[Entry]:
    """Entries of a list in the order of the inputs, or of a dict by their ids."""
    texts = what in ("unit", "reference", "document")
    if isinstance(value, Mapping):
        names, value = [identifier(key) or "" for key in value], list(value.values())
        if "" in names:
            raise InputError(
                f"an input of {path} has no name", expected="ids of the inputs"
            )
    elif names is None:
        names = [str(n + 1) for n in range(len(value))]
    # Without ids only the order says what belongs together, so numbers must agree.
    elif len(names) != len(value):
        many = counted(len(value), what, "summaries" if what == "summary" else None)
        raise InputError(
            f"{many} for {counted(len(names), 'input')}",
            path=path,
            expected="one entry for each input",
        )

    entries = []
    for n, (name, own) in enumerate(zip(names, value, strict=True), 1):
        # A frame writes NaN where there is no text.
        own = None if isinstance(own, float) and own != own else own
        if texts and own is None:
            raise InputError(
                f"the {what} of input '{name}' is missing",
                path=path,
                expected="a text",
                hint="Leave the input out, here and among the summaries.",
            )

        if what == "summary" and not isinstance(own, str | None):
            raise InputError(
                f"the summary of input '{name}' is {cut(repr(own))}",
                path=path,
                expected="a text",
            )

        if what == "summary" or (texts and isinstance(own, str)):
            values = [own]
        else:
            listed = own if isinstance(own, list) else _plain_list(own, path)
            if isinstance(listed, Mapping):
                raise _unreadable(own, what)
            values = list(listed)

        entries.append(Entry(name, path, n, values, system))

    return entries


def _check_no_path(entries: Sequence[Entry]) -> None:
    """Raises InputError if the first text is the name of a file that is there."""
    # A list of paths is a common slip, and would be scored as texts.
    first = entries[0].values[:1] if entries else []
    if first and isinstance(first[0], str) and os.path.isfile(first[0]):  # noqa: PTH113
        raise entries[0].error(
            f"'{first[0]}' is a file, not a text",
            hint="Give files as pathlib.Path, or their folder.",
        )


def _table(value: Any, what: str, columns: ColumnNames) -> Rows | None:
    """The rows of a file, or of data with named columns; a list of lists has none."""
    if isinstance(value, Rows):
        return value
    if isinstance(value, list | tuple) and value and isinstance(value[0], Path):
        if len(value) > 1:
            raise InputError(
                f"{KINDS[what].many} in {len(value)} files", expected="one file"
            )
        value = value[0]

    if isinstance(value, str | Path):
        return read_rows(check_path(value), columns)
    listed = isinstance(value, list | tuple) and value
    if listed and isinstance(value[0], str | list | tuple):
        return None

    many = KINDS[what].many
    wide = what == "summary"
    # By this column a dict of columns is told from a dict by input.
    holding = what if wide else many
    for name in (many, what):
        if columns and name in columns:
            holding = columns[name]
    return table_rows(
        value,
        many,
        columns,
        holding=holding,
        wide=wide,
    )


def paths_of(value: Any) -> Sequence[str | Path]:
    """The files that a path or a list of `Path`s names; none if it is something
    else."""
    if isinstance(value, str | Path):
        return [value]
    listed = isinstance(value, list | tuple) and value
    return value if listed and isinstance(value[0], Path) else ()


def check_path(path: str | Path) -> str | Path:
    """The path, if something is there; else InputError."""
    if file_type(path) is None:
        raise InputError(
            "no such file or folder",
            path=path,
            hint="Check the path; put a single text into a list.",
        )
    return path


def _unreadable(value: Any, what: str) -> InputError:
    of = ""
    if isinstance(value, list | tuple) and value:
        of = f" of {type(value[0]).__name__}"
    elif isinstance(value, set | frozenset):
        of = ", which has no order"
    name = what
    expected = "a list"
    if what in KINDS:
        name = KINDS[what].many
        expected = KINDS[what].expected

    return InputError(
        f"{name} cannot be read from a {type(value).__name__}{of}", expected=expected
    )


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
