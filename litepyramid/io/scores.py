"""Score tables in: long CSV and JSONL, frames, sacrerouge's files, the results of `score`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from litepyramid.checked import as_type, number, parse_json
from litepyramid.errors import InputError
from litepyramid.files import read_text
from litepyramid.io.columns import Columns, read_columns
from litepyramid.io.rows import Rows, identifier, parse_columns, read_rows, table_rows
from litepyramid.tables import plain
from litepyramid.text import counted, cut
from litepyramid.types import FloatArray, ScoreMatrix, ScoreTable

# A table is held whole: one of more cells (80 MB) must have a score in one of so many.
_CELLS, _SPARSEST = 10_000_000, 100
_LONG = ("system", "input", "metric", "score")
_NO_NAMES = {"version", "samples", "seed", "confidence", "truncated", "inputs_sha", "labels_sha"}
_MISSING = {"", "nan", "na", "n/a", "null", "none"}


class _Cell(NamedTuple):
    system: str
    input: str
    metric: str
    score: float
    path: str | None
    line: int | None


def read_scores(scores: Any, *, columns: Mapping[str, str] | None = None) -> ScoreTable:
    """Reads scores from one source or several into one table.

    A source is a file, a data frame, a list of dicts or other rows with the columns system, input,
    metric and score, or a result of scoring. A file's kind is recognised by its content, not by its
    name:

    - CSV (or TSV) with the columns system, input, metric, score, in any order, others ignored; a
      column ``human`` is one more metric;
    - JSON Lines, or one JSON array of objects, with the same keys;
    - sacrerouge's JSON lines: ``instance_id``, ``summarizer_id`` and a nested ``metrics`` object,
      whose names are joined with ``_`` (``{"rouge-1": {"f1": …}}`` is ``rouge-1_f1``); a list is
      one metric per rater (``"ground-truth": [2, 1]`` is ``ground-truth_0`` and
      ``ground-truth_1``);
    - the JSON, CSV or npz that ``litepyramid score`` writes.

    If several results of scoring have different scores for the same summaries under the same
    metric name, the names are extended by what differs in their signatures:
    ``lite2pyramid[lexical]``, ``lite2pyramid[recall]``.

    Systems, inputs and metrics are in order of first appearance. An empty cell, ``NaN``,
    ``NA`` or ``null`` is "not scored"; so is every combination that no file mentions.

    Args:
        scores: One source, or a list of several whose rows are put together; a `ScoreTable` is
            given back.
        columns: Own column names, by known column (`io.rows.COLUMNS`).

    Returns:
        The table, (metrics, systems, inputs), NaN = not scored.

    Raises:
        InputError: A source is none of the above, a score is not a finite number, or a cell is
            given twice (both places are named); two files may agree on a score.

    Example:
        >>> rows = [{"system": "a", "input": 1, "metric": "rouge", "score": 0.5}]
        >>> read_scores(rows).values
        array([[[0.5]]])
    """
    if isinstance(scores, ScoreTable):
        return scores
    if isinstance(scores, str | Path) and (saved := read_columns(scores)) is not None:
        matrices = _matrices(saved)
        return ScoreTable(
            tuple(matrices), saved.systems, saved.inputs, np.stack([*matrices.values()])
        )
    columns = parse_columns(columns)
    several = isinstance(scores, list | tuple) and not any(isinstance(s, Mapping) for s in scores)
    return _table(_distinct([_cells(s, columns) for s in (scores if several else [scores])]))


def select_matrix(table: ScoreTable, metric: str | None = None) -> ScoreMatrix:
    """One metric's scores: the one named, or the only one that is not the human score."""
    if metric is None:
        others = [name for name in table.metrics if name != "human"] or list(table.metrics)
        if len(others) > 1:
            raise InputError(
                f"the table holds {len(others)} metrics",
                expected=f"one of {', '.join(others)}",
                hint="Name the metric.",
            )
        metric = others[0]
    return table.matrix(metric)


def score_result(text: str) -> dict[str, Any] | None:
    """The JSON of ``litepyramid score`` that a text is; None if it is anything else."""
    try:
        whole = parse_json(text) if text.lstrip()[:1] == "{" else None
    except InputError:
        return None
    return whole if isinstance(whole, dict) and "scores" in whole else None


def _cells(source: Any, columns: Mapping[str, str] | None) -> tuple[list[_Cell], dict[str, str]]:
    """The cells of a source; and the signature, if it is a result of ``litepyramid score``."""
    path, whole = Path("the result"), None
    if isinstance(source, str | Path):
        path = Path(source)
        if (saved := read_columns(path)) is not None:
            return list(_column_cells(saved)), saved.document["signature"]
        text = read_text(source)
        whole = score_result(text)
        if whole is None:
            return list(_row_cells(read_rows(source, columns, table=True, text=text))), {}
    elif hasattr(source, "units") and hasattr(source, "to_json"):
        whole = plain(source.to_json())
    elif isinstance(source, ScoreTable):
        return list(_table_cells(source)), {}
    elif table := table_rows(source, "scores", columns, holding="score"):
        return list(_row_cells(table)), {}
    else:
        raise InputError(
            f"scores cannot be read from a {type(source).__name__}",
            expected="a path, a result of scoring, or a data frame or rows with the columns "
            f"{', '.join(_LONG)}",
        )
    signature = whole.get("signature", {})
    as_type(dict[str, str], signature, what="a broken signature", path=path)
    return list(_result_cells(whole, path)), signature


def _distinct(files: Sequence[tuple[list[_Cell], dict[str, str]]]) -> Iterator[_Cell]:
    """The files' cells, metrics renamed that several results score otherwise in the same place."""
    scores: dict[str, dict[tuple[str, str], float]] = {}
    clashing: set[str] = set()
    for cells, _ in (file for file in files if file[1]):
        for cell in cells:
            first = scores.setdefault(cell.metric, {}).setdefault(cell[:2], cell.score)
            if not _same(first, cell.score) and cell.metric != "human":
                clashing.add(cell.metric)
    fields = {metric: _telling_fields(metric, files) for metric in clashing}
    for cells, signature in files:
        names = {
            metric: f"{metric}[{', '.join(_field(key, signature) for key in keys)}]"
            for metric, keys in fields.items()
            if keys and signature
        }
        for cell in cells:
            yield cell._replace(metric=names[cell.metric]) if cell.metric in names else cell


def _telling_fields(metric: str, files: Sequence[tuple[list[_Cell], dict[str, str]]]) -> list[str]:
    """The first fields in which the signatures of a metric's results differ, the judge first."""
    own = [signature for cells, signature in files if signature and metric in {c[2] for c in cells}]
    keys = dict.fromkeys(key for signature in own for key in signature if key not in _NO_NAMES)
    chosen: list[str] = []
    for key in sorted(keys, key=lambda key: (key != "judge", key.endswith("_sha"))):
        kinds = [len({tuple(map(s.get, ks)) for s in own}) for ks in (chosen, [*chosen, key])]
        if kinds[1] > kinds[0]:
            chosen.append(key)
    return chosen


def _field(key: str, signature: Mapping[str, str]) -> str:
    if key not in signature:
        return f"no {key}"
    return f"{key.removesuffix('_sha')} {signature[key]}" if key[-4:] == "_sha" else signature[key]


def _same(one: float, other: float) -> bool:
    return one == other or (math.isnan(one) and math.isnan(other))


def _row_cells(table: Rows) -> Iterator[_Cell]:
    python = table.form == "python"
    header = {name for row in table.rows for name in row.values} if python else table.header
    missing = [name for name in _LONG if name not in header]
    if (python or table.form == "csv") and missing:
        raise InputError(
            f"no column '{missing[0]}' (found: {', '.join(sorted(header))})",
            path=table.path,
            line=1,
            expected=f"the columns {', '.join(_LONG)}",
            hint="Write one row for each system, input and metric.",
        )
    for line, row, _ in table.rows:
        if "metrics" in row and "summarizer_id" in row:
            yield from _sacrerouge_cells(row, table.path, line)
            continue
        yield _cell({**dict.fromkeys(_LONG), **row} if python else row, table.path, line)
        if number(row.get("human")) is not None:
            yield _cell({**row, "metric": "human", "score": row["human"]}, table.path, line)


def _sacrerouge_cells(row: Mapping[str, Any], path: str | Path, line: int) -> Iterator[_Cell]:
    if "instance_id" not in row:
        raise InputError(
            "a sacrerouge line without 'instance_id'",
            path=path,
            line=line,
            expected="the file with scores by input",
            hint="Give the summary-level file, not the system-level one.",
        )
    if not isinstance(row["metrics"], dict):
        raise InputError("'metrics' is not an object", path=path, line=line)
    names = {"system": row["summarizer_id"], "input": row["instance_id"]}
    for metric, score in _flatten(row["metrics"], ""):
        if not isinstance(score, str):
            yield _cell({**names, "metric": metric, "score": score}, path, line)


def _flatten(tree: Mapping[str, Any] | Sequence[Any], prefix: str) -> Iterator[tuple[str, Any]]:
    """The leaves of nested objects and lists by their joined names; a list is one per rater."""
    for key, value in tree.items() if isinstance(tree, Mapping) else enumerate(tree):
        name = f"{prefix}_{key}" if prefix else str(key)
        if isinstance(value, dict | list):
            yield from _flatten(value, name)
        else:
            yield name, value


def _result_cells(whole: Mapping[str, Any], path: Path) -> Iterator[_Cell]:
    """Rows of a saved result: ``scores`` is a long list."""
    named = whole.get("name", whole.get("metric", "score"))
    what = "not the JSON that 'litepyramid score' writes"
    for row in as_type(list[dict[str, Any]], whole["scores"], what=what, path=path):
        yield _cell({"metric": named, **row}, path)
        measures = row.get("measures", {})
        as_type(dict[str, Any], measures, what="broken measures", path=path)
        for name, value in measures.items():
            yield _cell({**row, "metric": name, "score": value}, path)
        if "human" in row:
            yield _cell({**row, "metric": "human", "score": row["human"]}, path)


def _column_cells(saved: Columns) -> Iterator[_Cell]:
    for metric, values in _matrices(saved).items():
        for system, row in zip(saved.systems, values, strict=True):
            for of, value in zip(saved.inputs, row.tolist(), strict=True):
                yield _Cell(system, of, metric, value, str(saved.path), None)


def _table_cells(table: ScoreTable) -> Iterator[_Cell]:
    for m, metric in enumerate(table.metrics):
        for s, system in enumerate(table.systems):
            for of, value in zip(table.inputs, table.values[m, s].tolist(), strict=True):
                yield _Cell(system, of, metric, value, None, None)


def _matrices(saved: Columns) -> dict[str, FloatArray]:
    """The (N, M) scores of a result in columns by metric."""
    arrays = {name: saved.read(name) for name in ("score", *saved.measures, "human")}
    named = {saved.document["name"] if n == "score" else n: own for n, own in arrays.items()}
    return {name: own for name, own in named.items() if own is not None}


def _cell(row: Mapping[str, Any], path: str | Path, line: int | None = None) -> _Cell:
    for key in _LONG:
        if key not in row:
            raise InputError(
                f"no '{key}'", path=path, line=line, expected=f"the keys {', '.join(_LONG)}"
            )
    system, input_, metric = (_name(row[key], key, path, line) for key in _LONG[:3])
    return _Cell(system, input_, metric, _number(row["score"], path, line), str(path), line)


def _name(value: Any, key: str, path: str | Path, line: int | None) -> str:
    if (name := identifier(value)) is None:
        raise InputError(
            f"the {key} is {cut(value)}", path=path, line=line, expected="a name, or a whole number"
        )
    return name


def _number(value: Any, path: str | Path, line: int | None) -> float:
    if value is None or (isinstance(value, str) and value.strip().lower() in _MISSING):
        return math.nan
    score = number(value)
    if score is None or math.isinf(score):
        raise InputError(
            "a score is infinite" if score else f"the score '{cut(value)}' is not a number",
            path=path,
            line=line,
            expected="a finite number",
            hint="Leave the cell empty if it was not scored." if score else None,
        )
    return score


def _table(cells: Iterable[_Cell]) -> ScoreTable:
    metrics: dict[str, int] = {}
    systems: dict[str, int] = {}
    inputs: dict[str, int] = {}
    by_place: dict[tuple[int, int, int], _Cell] = {}
    for cell in cells:
        key = (
            metrics.setdefault(cell.metric, len(metrics)),
            systems.setdefault(cell.system, len(systems)),
            inputs.setdefault(cell.input, len(inputs)),
        )
        first = by_place.setdefault(key, cell)
        apart = first.path != cell.path or cell.metric == "human"
        if first is not cell and not (apart and _same(first.score, cell.score)):
            line = f":{first.line}" if first.line else ""
            raise InputError(
                f"metric '{cell.metric}' scores system '{cell.system}' on input '{cell.input}'"
                f" twice (first at {first.path}{line})",
                path=cell.path,
                line=cell.line,
                hint="Keep one of the two, or give them different names.",
            )
    if not by_place:
        raise InputError("no scores at all", expected="at least one row")
    size = len(metrics) * len(systems) * len(inputs)
    if size > max(_CELLS, _SPARSEST * len(by_place)):
        raise InputError(
            f"{len(by_place):,} scores share too little: {counted(len(metrics), 'metric')}, "
            f"{counted(len(systems), 'system')} and {counted(len(inputs), 'input')} make a table "
            f"of {size:,} cells",
            expected=f"one cell in {_SPARSEST} scored, in tables of over {_CELLS:,} cells",
            hint="Give the scores of one data set at a time.",
        )
    values = np.full((len(metrics), len(systems), len(inputs)), np.nan)
    index = np.array(list(by_place), dtype=np.intp)
    values[index[:, 0], index[:, 1], index[:, 2]] = [cell.score for cell in by_place.values()]
    return ScoreTable(tuple(metrics), tuple(systems), tuple(inputs), values)
