"""The door: opens a source of any type. Only here is it asked what a thing is.

A source is a path, a frame or table of any library, rows, a list, a dict, or records of
our own. What it holds comes out in one of three forms (`Opened`); what that means, the
columns say (`litepyramid.data.roles`).
"""

from __future__ import annotations

import operator
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from litepyramid.checked import is_missing, number
from litepyramid.data.facts import Facts
from litepyramid.data.files import LINES, Row, file_rows
from litepyramid.data.records import InputReferences, InputUnits, Summaries, Units
from litepyramid.data.saved import SavedScores, saved_scores
from litepyramid.data.scores import Scores
from litepyramid.errors import InputError
from litepyramid.files import ending, file_type, read_text, stem
from litepyramid.tables import Result
from litepyramid.types import Names

LAYOUT = ("SCUs.txt", "SCUs.txt.gz", "units.jsonl", "units.jsonl.gz")
"""One of these stands in a folder that holds a whole data set."""
_DEEPEST = 50
_PLAIN = {str, int, bool, type(None)}
_HELD = {"stus": "units", "label_units": "units", "easiness": "sentences"}
"""Where a result has what is not under its own name."""


@dataclass(frozen=True)
class Opened:
    """What a source holds, in one of three forms.

    Attributes:
        description: What it was taken for, as the plan says it.
        path: What errors call it.
        rows: Rows with named columns.
        listed: Values in the order of the inputs.
        by_key: Values by the id of their input, or by system.
        by_id: Whether these keys are ids in any case, as in the index of a column.
        in_files: Whether these keys are names of files.
        count: Where a pandas index, or ids of records, only count: what they count, as
            ids may.
        index: The name of a pandas index, which is the column ``input``.
        is_file: Whether it is a file or folder.
        system: The name of a file, which is that of the system if nothing else names
        it.
        saved: The result that it is, of which this is one part.
    """

    description: str
    path: str | Path
    rows: Sequence[Row] | None = None
    listed: Sequence[Any] | None = None
    by_key: Mapping[Any, Any] | None = None
    by_id: bool = False
    in_files: bool = False
    count: Sequence[Any] | None = None
    index: str = ""
    is_file: bool = False
    system: str = ""
    saved: SavedScores | None = None

    @cached_property
    def columns(self) -> Names:
        """The columns of its rows, in the order in which they come."""
        names: dict[str, None] = {}
        for row in self.rows or ():
            names |= dict.fromkeys(row.cells)
        return tuple(names)


def opened(source: Any, name: str) -> Opened:
    """Opens a source of any type; `name` is what errors call one that is no file.

    Raises:
        InputError: It is of no type that is read, or its file cannot be read.

    Example:
        >>> opened({"d1": "It rained."}, "references").by_key
        {'d1': 'It rained.'}
    """
    if isinstance(source, str | Path):
        return _of_path(source, name)
    if isinstance(source, Opened):
        return source

    # A result of score holds a whole data set; one of metrics is a table of scores.
    has_table = isinstance(getattr(source, "scores", None), Scores)
    if isinstance(source, Result | Mapping | SavedScores) and not has_table:
        saved = source if isinstance(source, SavedScores) else saved_scores(source)
        if saved is not None:
            part = saved.score_rows() if name == "scores" else saved.rows(name)
            return replace(_of_ours(part, name, "a saved result"), saved=saved)

    # Another result, or a data set, brings the records of this kind under their name.
    for held in (getattr(source, key, None) for key in (name, _HELD.get(name, name))):
        if isinstance(held, Units | Summaries | Facts | Scores | tuple) and held:
            source = held
            break
    if name == "scores" and isinstance(source, Result):
        source = source.to_json()
    if (rows := _of_records(source, name)) is not None:
        return _of_ours(rows, name, "records")
    if isinstance(source, list | tuple):
        return _of_list([*source], name)

    if isinstance(source, set | frozenset):
        raise InputError(
            f"{name} in a set, which has no order",
            expected="a list, or a dict by id",
        )
    if isinstance(source, Mapping) and hasattr(source, "with_format"):
        raise InputError(
            f"{name} in the splits {', '.join(source)}",
            expected="one of them",
            hint=f"Take data['{next(iter(source))}'].",
        )
    if isinstance(source, Mapping):
        table = source.get(_HELD.get(name, name))
        if "signature" in source and table is not None:
            return _of_ours(table, name, "a saved result")
        return Opened("a dict", name, by_key=source)

    # Frames, tables and columns of any library.
    if hasattr(source, "with_format"):
        whole = source.with_format(None)
        return _of_rows(enumerate(whole, 1), name, "a Hugging Face data set")
    if (frame := _frame(source, name)) is not None:
        return _of_frame(frame, name)
    if (series := _series(source)) is not None:
        return _of_series(series, name)
    for method in ("to_pylist", "tolist"):
        if hasattr(source, method):
            return Opened("a column", name, listed=getattr(source, method)())

    if isinstance(source, Iterable) and not isinstance(source, bytes):
        return _of_list([*source], name)
    raise InputError(
        f"{name} cannot be read from a {type(source).__name__}",
        expected="a path, a list, a dict, or a frame or rows with named columns",
    )


def _of_list(values: list[Any], name: str) -> Opened:
    """A list: of rows, of files, of our records, or of values."""
    if values and all(isinstance(one, Mapping) for one in values):
        return _of_rows(enumerate(values, 1), name, "rows")
    if values and all(isinstance(one, Path) for one in values):
        files = _by_stem(values)
        return Opened("a list of files", name, by_key=files, in_files=True)
    return Opened("a list", name, listed=values)


def _of_rows(
    rows: Iterable[tuple[int, Mapping[Any, Any]]], path: str | Path, description: str
) -> Opened:
    """Rows with named columns, each with its line."""
    result = []
    for line, row in rows:
        cells = {}
        for key, cell in row.items():
            cells[str(key).strip()] = cell if type(cell) in _PLAIN else plain(cell)
        if len(cells) < len(row):
            raise _same_columns([str(key).strip() for key in row], str(path))
        result.append(Row(line, cells))
    return Opened(description, path, rows=result)


def _same_columns(names: Sequence[str], name: str) -> InputError:
    """The error about two columns of one name."""
    twice = next(one for one in names if names.count(one) > 1)
    return InputError(f"two columns of {name} are called '{twice}'", hint="Rename one.")


def _of_records(source: Any, name: str) -> list[dict[str, Any]] | None:
    """Our own records as rows; None of anything else."""
    if isinstance(source, Units):
        return [_unit_row(entry) for entry in source]
    if isinstance(source, Summaries):
        rows = []
        for (system, input_), text in source.cells():
            rows.append({"system": system, "input": input_, "summary": text})
        return rows
    if isinstance(source, Facts):
        many = "labels" if name == "labels" else "presences"
        rows = []
        for system in source.systems:
            by_input = source.units.split(source.of_system(system))
            for entry in source.units:
                values = by_input[entry.input].tolist()
                rows.append({"system": system, **_unit_row(entry), many: values})
        return rows

    if isinstance(source, Scores):
        return [*_score_rows(source)]

    listed = source if isinstance(source, list | tuple) else ()
    if listed and all(isinstance(one, InputUnits) for one in listed):
        return [_unit_row(entry) for entry in listed]
    if listed and all(isinstance(one, InputReferences) for one in listed):
        return [entry.to_json() for entry in listed]
    return None


def _of_ours(rows: Iterable[Mapping[Any, Any]], name: str, description: str) -> Opened:
    """The rows of records. Where these came of lists, their ids count the inputs, and
    are ids only where others have the same; but scores go by ids alone."""
    found = _of_rows(enumerate(rows, 1), name, description)
    listed = found.rows or ()
    keys = [(row.cells.get("system"), row.cells.get("input")) for row in listed]
    names = [*dict.fromkeys([input_ for _, input_ in keys])]
    counts = name != "scores" and names == numbered(len(names))
    if not counts or len({*keys}) < len(keys):
        return found

    without = []
    for line, cells in listed:
        others = {key: cell for key, cell in cells.items() if key != "input"}
        without.append(Row(line, others))
    return replace(found, rows=without, count=names)


def numbered(size: int) -> list[str]:
    """Names by number, with zeros before them: sorted, they stay in their order."""
    width = len(str(size))
    return [str(n + 1).zfill(width) for n in range(size)]


def _unit_row(entry: InputUnits) -> dict[str, Any]:
    question = {"question": entry.question} if entry.question else {}
    return {"input": entry.input, "units": [*entry.units], **question}


def _score_rows(scores: Scores) -> Iterator[dict[str, Any]]:
    """A row for each system and input, with the scores by metric."""
    values = scores.values.transpose(1, 2, 0).tolist()
    for system, of_system in zip(scores.systems, values, strict=True):
        for input_, cells in zip(scores.inputs, of_system, strict=True):
            by_metric = dict(zip(scores.metrics, cells, strict=True))
            yield {"system": system, "input": input_, "scores": by_metric}


def _by_stem(paths: Sequence[Path]) -> dict[str, Path]:
    """Files by their names; InputError where two have one name."""
    named: dict[str, Path] = {}
    for path in paths:
        if (first := named.setdefault(stem(path), path)) is not path:
            raise InputError(
                f"'{stem(path)}' is also the name of {first}",
                path=path,
                hint="A file is named after its system: rename one.",
            )
    return named


# Frames and columns, by narwhals
# ------------------------------------------------------------------------------------


def _frame(source: Any, name: str) -> Any:
    """A frame of any library under one interface; None of anything else."""
    import narwhals as nw

    # What pivot tables give: ("score", "bart") is score_bart.
    if hasattr(source, "set_axis") and getattr(source, "ndim", 1) == 2:
        names = []
        for label in source.columns.to_flat_index():
            parts = label if isinstance(label, tuple) else (label,)
            names.append("_".join(map(str, parts)).strip())
        if len({*names}) < len(names):
            raise _same_columns(names, name)
        source = source.set_axis(names, axis=1)
    frame = nw.from_native(source, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    return frame if isinstance(frame, nw.DataFrame) else None


def _series(source: Any) -> Any:
    """A column of any library under one interface; None of anything else."""
    import narwhals as nw

    series = nw.from_native(source, pass_through=True, allow_series=True)
    return series if isinstance(series, nw.Series) else None


def _of_frame(frame: Any, name: str) -> Opened:
    """A frame: its index is a column of ids, unless it only counts rows."""
    description = f"a {frame.implementation.name.lower()} frame"
    index, columns = _index_of(frame)
    if len(index) == 1 and _counts(*index[0]):
        return _of_columns(columns, name, description, count=range(len(frame)))
    if len(index) == 1:
        [(called, labels)] = index
        here = {str(one).strip().lower() for one in columns}
        # Rows of systems that were sorted or chosen keep numbers that are no inputs.
        counted = called is None and all(hasattr(one, "__index__") for one in labels)
        if name == "scores" and counted and "system" in here:
            return _of_columns(columns, name, description)
        level = called if called in ("system", "id") else "input"
        description = f"{description}, ids from its index"
        # A frame that has a column of ids does not need its index.
        if {"input", "id"} & here:
            return _of_columns(columns, name, description)
        return _of_columns(
            {level: labels, **columns}, name, description, index=called or ""
        )
    if len(index) > 1:
        levels = {called or "input": labels for called, labels in index}
        description = f"{description} with the levels {', '.join(levels)}"
        if len(levels) < len(index):
            raise InputError(
                f"{name} with an index of {len(index)} levels without names",
                expected="levels called system and input",
            )
        columns = {**levels, **columns}
    return _of_columns(columns, name, description)


def _index_of(
    frame: Any,
) -> tuple[list[tuple[str | None, list[Any]]], dict[str, list[Any]]]:
    """The levels of a frame's index with their names, and its other columns; a table of
    Arrow that pandas wrote has its index among them."""
    import narwhals as nw

    columns = frame.to_dict(as_series=False)
    levels: list[tuple[str | None, list[Any]]] = []
    if (index := nw.maybe_get_index(frame)) is not None:
        names = [None if one is None else str(one) for one in index.names]
        values = [[*index]] if index.nlevels == 1 else zip(*index, strict=True)
        for name, labels in zip(names, values, strict=False):
            levels.append((name, [*labels]))
        return levels, columns

    schema = getattr(frame.to_native(), "schema", None)
    metadata = getattr(schema, "pandas_metadata", None) or {}
    for level in metadata.get("index_columns", ()):
        if isinstance(level, dict):
            counted = range(level["start"], level["stop"], level["step"])
            if len(counted) == len(frame):
                levels.append((level["name"], [*counted]))
        elif level in columns:
            name = None if level.startswith("__index_level_") else level
            levels.append((name, columns.pop(level)))
    return levels, columns


def _of_columns(
    columns: Mapping[str, Iterable[Any]], name: str, description: str, **about: Any
) -> Opened:
    """The rows of columns of one length."""
    names = [str(column).strip() for column in columns]
    if len({*names}) < len(names):
        raise _same_columns(names, name)
    cells = [[*map(plain, column)] for column in columns.values()]
    rows = []
    for line, row in enumerate(zip(*cells, strict=True), start=1):
        rows.append(Row(line, dict(zip(names, row, strict=True))))
    return Opened(description, name, rows=rows, **about)


def _of_series(series: Any, name: str) -> Opened:
    """A column: a list, or a dict where the index of pandas holds more than a count."""
    import narwhals as nw

    index = nw.maybe_get_index(series)
    values = series.to_list()
    if index is None:
        return Opened("a column", name, listed=values)
    if index.nlevels > 1:
        frame = series.to_native().to_frame(series.name or name)
        return _of_frame(_frame(frame, name), name)
    if _counts(index.name, [*index]):
        return Opened("a column", name, listed=values, count=range(len(values)))

    description = "a column, ids from its index"
    by_key: dict[Any, list[Any]] = {}
    for label, value in zip(index, values, strict=True):
        by_key.setdefault(label, []).append(value)
    once = {key: own[0] if len(own) == 1 else own for key, own in by_key.items()}
    return Opened(description, name, listed=values, by_key=once, by_id=True)


def _counts(name: str | None, labels: Sequence[Any]) -> bool:
    """Whether an index only counts rows: 0, 1, 2 …, without a name."""
    return name is None and labels == [*range(len(labels))]


# Values
# ------------------------------------------------------------------------------------


def plain(value: Any, depth: int = 0) -> Any:
    """A cell as Python has it: what is missing is None, arrays are lists."""
    if type(value) in _PLAIN:
        return value
    if is_missing(value):
        return None
    if depth > _DEEPEST:
        raise InputError("a value is nested too deeply", expected="a text or a list")
    # Scalars and arrays of numpy, columns inside of cells.
    for method in ("tolist", "to_list", "to_pylist"):
        if hasattr(value, method):
            return plain(getattr(value, method)(), depth + 1)
    if isinstance(value, list | tuple):
        return [plain(one, depth + 1) for one in value]
    if isinstance(value, Mapping):
        return {key: plain(one, depth + 1) for key, one in value.items()}
    return value


def name_of(value: Any) -> str | None:
    """A name as text: a text, or a whole number as it is written (1.0 is 1); None for
    all else.

    Example:
        >>> name_of("01"), name_of(1.0), name_of(True), name_of(" ")
        ('01', '1', None, None)
    """
    if isinstance(value, str):
        # A letter with an accent is one character or two, as the names of files are.
        name = value if value.isascii() else unicodedata.normalize("NFC", value)
        return name if name.strip() else None
    if hasattr(value, "__index__") and not isinstance(value, bool):
        return str(operator.index(value))
    # A frame reads ids as numbers, and as 1.0 where one of them is missing.
    whole = number(value)
    return None if whole is None or whole % 1 else str(int(whole))


def id_of(value: Any) -> str | None:
    """The id of an input as text: a whole number of a table, which is 1.0 in the CSV of
    a frame in which one is missing, is this number."""
    name = name_of(value)
    if name is not None and name.endswith(".0") and name[:-2].isdecimal():
        return name[:-2]
    return name


def is_file(value: Any) -> bool:
    """Whether a text is the path of a file."""
    return isinstance(value, str) and len(value) < 300 and file_type(value) == "file"


def values_in(value: Any) -> list[Any] | None:
    """The values of a list or tuple; None of anything else."""
    return [*value] if isinstance(value, list | tuple) else None


def several(value: Any) -> list[Any]:
    """The sources of a list or tuple, or the one that stands alone."""
    values = values_in(value)
    return [value] if values is None else values


def tables_in(source: Any) -> list[Any]:
    """The sources in a list of them; a list of rows is one source."""
    sources = several(source)
    return [source] if any(fields_in(one) is not None for one in sources) else sources


def are_names(value: Any) -> bool:
    """Whether a value is a name, or a list that holds names."""
    names = several(value)
    return not names or any(isinstance(one, str) for one in names)


def fields_in(value: Any) -> Mapping[Any, Any] | None:
    """The values of a dict by their names; None of anything else."""
    return value if isinstance(value, Mapping) else None


# Paths
# ------------------------------------------------------------------------------------


def _of_path(source: str | Path, name: str) -> Opened:
    """A file by its ending; a folder of a file for each system, or for each input."""
    kind = file_type(source)
    if kind is None:
        raise InputError(
            "no such file or folder",
            path=source,
            hint="Check the path; put a single text into a list.",
        )
    path = Path(source)
    if kind == "folder":
        inside = [one for one in sorted(path.iterdir()) if one.name[0] != "."]
        if not inside:
            raise InputError(f"no {name} in this folder", path=path)
        description = f"the folder {path.name}"
        files = _by_stem(inside)
        return Opened(description, path, by_key=files, in_files=True, is_file=True)

    description = "standard input" if str(path) == "-" else f"the file {path.name}"
    system = stem(path) if kind == "file" else ""
    form, content = file_rows(path)
    if form == "rows":
        found = _of_rows(content, path, description)
    elif form == "list":
        found = Opened(f"{description}, a line an input", path, listed=content)
    elif isinstance(content, str):
        # It would be taken for the path of another file.
        raise InputError("one text", path=path, expected="a list, or a table")
    else:
        found = replace(opened(content, name), description=description, path=path)
    return replace(found, is_file=True, system=system)


def layout_folder(source: Any) -> Path | None:
    """The folder of a whole data set that a source is; None of anything else."""
    if not isinstance(source, str | Path) or file_type(source) != "folder":
        return None
    folder = Path(source)
    return folder if any((folder / name).exists() for name in LAYOUT) else None


def is_text_file(value: Any) -> bool:
    """Whether a value is the path of a file that holds one text, by its ending."""
    return (
        isinstance(value, Path)
        and file_type(value) == "file"
        and ending(value) in LINES
    )


def are_texts(values: Iterable[Any]) -> bool:
    """Whether values are texts, lists of them, or files that hold one each."""
    return all(
        isinstance(one, str | list | tuple | None) or is_text_file(one)
        for one in values
    )


def text_of(value: Any) -> Any:
    """The text of a file; what is no file as it is."""
    return read_text(value).strip() if isinstance(value, Path) else value
