"""The door: opens a source of any type. Only here is it asked what a thing is.

A source is a path, a frame or table of any library, rows, a list, a dict, or records of
our own. What it holds comes out in one of three forms (`Opened`); what that means, the
columns say (`litepyramid.data.roles`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from litepyramid.checked import check_characters, is_missing, number
from litepyramid.data.facts import Facts
from litepyramid.data.files import Row, file_rows
from litepyramid.data.records import InputReferences, InputUnits, Summaries, Units
from litepyramid.data.saved import saved_scores
from litepyramid.data.scores import Scores
from litepyramid.errors import InputError
from litepyramid.files import file_type, stem
from litepyramid.tables import Result
from litepyramid.types import Names

LAYOUT = ("SCUs.txt", "SCUs.txt.gz", "units.jsonl", "units.jsonl.gz")
"""One of these stands in a folder that holds a whole data set."""


@dataclass(frozen=True)
class Opened:
    """What a source holds, in one of three forms.

    Attributes:
        told: What it was taken for, as the plan says it.
        path: What errors call it.
        rows: Rows with named columns.
        listed: Values in the order of the inputs.
        by_key: Values by the id of their input, or by system.
        by_id: Whether these keys are ids in any case, as in the index of a column.
        count: Where a pandas index only counts rows: what it counts, as ids may.
        signature: How a saved result was made.
    """

    told: str
    path: str | Path
    rows: Sequence[Row] | None = None
    listed: Sequence[Any] | None = None
    by_key: Mapping[Any, Any] | None = None
    by_id: bool = False
    count: Names | None = None
    signature: Mapping[str, str] | None = None


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
    # A result, or a data set, brings the records of this kind under their name; a frame
    # has its columns there, which are not all that it holds.
    held = getattr(source, name, None)
    if isinstance(held, Units | Summaries | Facts | Scores | tuple):
        source = held
    elif name in ("presence", "scores") and isinstance(source, Result):
        source = source.to_json()
    if (rows := _of_records(source, name)) is not None:
        return _of_rows(rows, name, "records")
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
        if (saved := saved_scores(source)) is not None:
            rows = saved.score_rows() if name == "scores" else saved.rows()
            result = _of_rows(rows, name, "a saved result")
            return replace(result, signature=saved.signature)
        return Opened("a dict", name, by_key=source)

    # Frames, tables and columns of any library.
    if hasattr(source, "with_format"):
        rows = source.with_format(None)
        return _of_rows(rows, name, "a Hugging Face data set")
    if (frame := _frame(source)) is not None:
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


def several_sources(source: Any) -> list[Any]:
    """The sources in a list of them; one source, such as a list of rows, alone."""
    listed = isinstance(source, list | tuple)
    if listed and not any(isinstance(one, Mapping) for one in source):
        return [*source]
    return [source]


def are_names(value: Any) -> bool:
    """Whether a value is a name, or a list that holds names."""
    if isinstance(value, list | tuple):
        return not value or any(isinstance(one, str) for one in value)
    return isinstance(value, str)


def _of_list(values: list[Any], name: str) -> Opened:
    """A list: of rows, of files, of our records, or of values."""
    if values and all(isinstance(one, Mapping) for one in values):
        return _of_rows(values, name, "rows")
    if values and all(isinstance(one, Path) for one in values):
        return Opened("a list of files", name, by_key=_by_stem(values))
    return Opened("a list", name, listed=values)


def _of_rows(rows: Iterable[Mapping[Any, Any]], name: str, told: str) -> Opened:
    """Rows with named columns, each with its number for errors."""
    result = []
    for line, row in enumerate(rows, start=1):
        cells = {str(key): plain(cell) for key, cell in row.items()}
        check_characters(cells, name, line)
        result.append(Row(line, cells))
    return Opened(told, name, rows=result)


def _of_records(source: Any, name: str) -> list[dict[str, Any]] | None:
    """Our own records as rows; None of anything else."""
    if isinstance(source, Units):
        return [_unit_row(entry) for entry in source]
    if isinstance(source, Summaries):
        rows = []
        for system in source.systems:
            for input_, text in source.of_system(system).items():
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
        return [*map(_reference_row, listed)]
    return None


def _unit_row(entry: InputUnits) -> dict[str, Any]:
    question = {"question": entry.question} if entry.question else {}
    return {"input": entry.input, "units": [*entry.units], **question}


def _reference_row(entry: InputReferences) -> dict[str, Any]:
    references = []
    for texts, marked in zip(entry.references, entry.marked, strict=True):
        references.append([*texts] if marked else texts[0])
    question = {"question": entry.question} if entry.question else {}
    return {"input": entry.input, "references": references, **question}


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


def _frame(source: Any) -> Any:
    """A frame of any library under one interface; None of anything else."""
    import narwhals as nw

    # What pivot tables give: ("score", "bart") is score_bart.
    if hasattr(source, "set_axis") and getattr(source, "ndim", 1) == 2:
        names = source.columns.to_flat_index()
        names = ["_".join(map(str, n)) if type(n) is tuple else str(n) for n in names]
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
    """A frame: the index of pandas is a column of ids, unless it only counts rows."""
    import narwhals as nw

    library = frame.implementation.name.lower()
    rows = [{**row} for row in frame.iter_rows(named=True)]
    index = nw.maybe_get_index(frame)
    named = (
        [] if index is None else [level for level in index.names if level is not None]
    )

    if index is None or (not named and _counts(index)):
        result = _of_rows(rows, name, f"a {library} frame")
        return replace(result, count=_count(index))
    if index.nlevels > 1:
        levels = [str(level or "input") for level in index.names]
        labels = [dict(zip(levels, label, strict=True)) for label in index]
        told = f"a {library} frame with the levels {', '.join(levels)}"
    else:
        # One that is called as a column of ours is this column.
        column = (
            str(named[0]) if named and str(named[0]) in ("system", "id") else "input"
        )
        labels = [{column: label} for label in index]
        told = f"a {library} frame, ids from its index"

    whole = []
    for label, row in zip(labels, rows, strict=True):
        whole.append(row | label if not label.keys() & row.keys() else row)
    return _of_rows(whole, name, told)


def _of_series(series: Any, name: str) -> Opened:
    """A column: a list, or a dict where the index of pandas holds more than a count."""
    import narwhals as nw

    values = [plain(value) for value in series.to_list()]
    index = nw.maybe_get_index(series)
    if index is not None and index.nlevels > 1:
        column = series.name or name
        return _of_frame(_frame(series.to_native().to_frame(column)), name)
    if index is None or (index.name is None and _counts(index)):
        return Opened("a column", name, listed=values, count=_count(index))

    by_key: dict[Any, list[Any]] = {}
    for label, value in zip(index, values, strict=True):
        by_key.setdefault(label, []).append(value)
    once = {key: own[0] if len(own) == 1 else own for key, own in by_key.items()}
    return Opened("a column, ids from its index", name, by_key=once, by_id=True)


def _counts(index: Any) -> bool:
    """Whether an index of pandas only counts rows: 0, 1, 2 …"""
    return type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)


def _count(index: Any) -> Names | None:
    return None if index is None else tuple(map(str, index))


def plain(value: Any) -> Any:
    """A cell as Python has it: what is missing is None, arrays are lists."""
    if isinstance(value, str | int | None):
        return value
    if is_missing(value):
        return None
    # Scalars and arrays of numpy, columns inside of cells.
    for method in ("tolist", "to_list", "to_pylist"):
        if hasattr(value, method):
            return plain(getattr(value, method)())
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    return value


def name_of(value: Any) -> str | None:
    """A name as text: a text, or a whole number as it is written (1.0 is 1); None for all
    else.

    Example:
        >>> name_of("01"), name_of(1.0), name_of(True), name_of(" ")
        ('01', '1', None, None)
    """
    if isinstance(value, str):
        return value if value.strip() else None
    # A frame reads ids as numbers, and as 1.0 where one of them is missing.
    whole = number(value)
    return None if whole is None or whole % 1 else str(int(whole))


def is_file(value: Any) -> bool:
    """Whether a text is the path of a file."""
    return isinstance(value, str) and len(value) < 300 and file_type(value) == "file"


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
        return Opened(f"the folder {path.name}", path, by_key=_by_stem(inside))

    told = "standard input" if str(path) == "-" else f"the file {path.name}"
    form, content = file_rows(path)
    if form == "rows":
        return Opened(told, path, rows=content)
    if form == "list":
        return Opened(f"{told}, a line an input", path, listed=content)
    inner = opened(content, name)
    return replace(inner, told=told, path=path)
