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
from litepyramid.io.rows import (
    COLUMNS,
    ColumnNames,
    Rows,
    identifier,
    parse_columns,
    read_rows,
    table_rows,
)
from litepyramid.tables import Result, plain
from litepyramid.text import counted, cut
from litepyramid.types import FloatArray, ScoreMatrix, ScoreTable

# A table is held whole: one of more cells (80 MB) must have a score in one of so many.
_CELLS, _SPARSEST = 10_000_000, 100
LONG = ("system", "input", "metric", "score")
_NAMES = "the columns system, input and one a metric, or system, input, metric, score"
_NO_NAMES = {"version", "samples", "seed", "confidence", "truncated", "inputs_sha", "labels_sha"}
_MISSING = {"", "nan", "na", "n/a", "null", "none"}


_TEXTS = frozenset((*COLUMNS, *LONG)) - {"human", "score", "presence"}
"""Columns that are no metric, whatever they hold."""


class _Cell(NamedTuple):
    system: str
    input: str
    metric: str
    score: float
    path: str | None
    line: int | None
    rater: str = ""


def read_scores(scores: Any, *, columns: ColumnNames = None) -> ScoreTable:
    """Reads scores from one source or several into one table.

    A source is a file, a data frame, a list of dicts or other rows with the columns system, input,
    metric and score, or a result of scoring. A file's kind is recognised by its content, not by its
    name:

    - CSV (or TSV), wide: system, input, and a column a metric (``rouge``, ``human`` …), columns of
      texts ignored; or long: system, input, metric, score, a column ``human`` is one more metric;
    - JSON Lines, or one JSON array of objects, with the same keys;
    - logs of inspect and results of promptfoo (JSON), with the scores that they hold;
    - sacrerouge's JSON lines: ``instance_id``, ``summarizer_id`` and a nested ``metrics`` object,
      whose names are joined with ``_`` (``{"rouge-1": {"f1": …}}`` is ``rouge-1_f1``); a list is
      one metric per rater (``"ground-truth": [2, 1]`` is ``ground-truth_0`` and
      ``ground-truth_1``);
    - the JSON, CSV or npz that ``litepyramid score`` writes.

    If several results of scoring have different scores for the same summaries under the same
    metric name, the names are extended by what differs in their signatures:
    ``lite2pyramid[lexical]``, ``lite2pyramid[recall]``.

    Rows may name their ``annotator``: where several of them differ on a summary, each one's scores
    are a metric (``human_ann``), and their mean is ``human``. ``columns={"human": "h1+h2"}`` makes
    the mean of two columns ``human``; they stay metrics too.

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
    table = _table(_distinct([_cells(s, columns) for s in (scores if several else [scores])]))
    return _with_means(table, columns or {})


def _with_means(table: ScoreTable, columns: Mapping[str, str]) -> ScoreTable:
    """The table with each column that is named as a sum, ``h1+h2``: the mean of these metrics."""
    for name, column in columns.items():
        parts = [part.strip() for part in column.split("+")]
        missing = [part for part in parts if part not in table.metrics]
        if len(parts) < 2 or len(missing) == len(parts):
            continue
        if missing:
            expected = f"some of {', '.join(table.metrics)}"
            raise InputError(f"no column of scores '{missing[0]}'", expected=expected)
        rated = np.stack([table.values[table.metrics.index(part)] for part in parts])
        mean = np.apply_along_axis(lambda own: _mean(own.tolist()), 0, rated)[None]
        others = [metric for metric in table.metrics if metric != name]
        kept = table.values[[table.metrics.index(metric) for metric in others]]
        values = np.concatenate([kept, mean])
        table = ScoreTable((*others, name), table.systems, table.inputs, values)
    return table


def arrays_table(x: Any, y: Any) -> ScoreTable:
    """The table of two arrays of one shape: the scores of a metric ``x``, and ``human`` ones.

    Args:
        x: (N, M) scores of N systems on M inputs, or (N,) of systems; NaN = not scored.
        y: The human scores, likewise.
    """
    arrays = []
    for name, value in (("x", x), ("the human scores", y)):
        try:
            array = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            array = np.empty(0)
        if array.ndim not in (1, 2) or not array.size or np.isinf(array).any():
            expected = "finite numbers, (systems,) or (systems, inputs)"
            what = f"{name} cannot be read from a {type(value).__name__}"
            raise InputError(what, expected=expected)
        arrays.append(array[:, None] if array.ndim == 1 else array)
    if arrays[0].shape != arrays[1].shape:
        shapes = " and ".join(str(np.shape(value)) for value in (x, y))
        raise InputError(f"scores of the shapes {shapes}", expected="one shape")
    systems, inputs = (
        tuple(str(n + 1).zfill(len(str(size))) for n in range(size)) for size in arrays[0].shape
    )
    return ScoreTable(("x", "human"), systems, inputs, np.stack(arrays))


def select_matrix(table: ScoreTable, metric: str | None = None) -> ScoreMatrix:
    """One metric's scores: the one named, or the only one that is not the human score."""
    if metric is None:
        others = [name for name in table.metrics if name != "human"] or list(table.metrics)
        if len(others) > 1:
            what = f"the table holds {len(others)} metrics"
            raise InputError(what, expected=f"one of {', '.join(others)}", hint="Name the metric.")
        metric = others[0]
    return table.matrix(metric)


def score_result(text: str) -> dict[str, Any] | None:
    """The JSON of ``litepyramid score`` that a text is; None if it is anything else."""
    try:
        whole = parse_json(text) if text.lstrip()[:1] == "{" else None
    except InputError:
        return None
    return whole if isinstance(whole, dict) and "scores" in whole else None


def _cells(source: Any, columns: ColumnNames) -> tuple[list[_Cell], dict[str, str]]:
    """The cells of a source; and the signature, if it is a result of ``litepyramid score``."""
    path, whole = Path("the result"), None
    if isinstance(source, str | Path):
        path = Path(source)
        if (saved := read_columns(path)) is not None:
            return list(_column_cells(saved)), saved.document["signature"]
        text = read_text(source)
        whole = score_result(text)
        if whole is None:
            return _rated(_row_cells(read_rows(source, columns, table=True, text=text))), {}
    elif isinstance(source, Result) and hasattr(source, "units"):
        whole = plain(source.to_json())
    elif isinstance(source, ScoreTable):
        return list(_table_cells(source)), {}
    elif table := table_rows(source, "scores", columns, holding="score"):
        return _rated(_row_cells(table)), {}
    else:
        raise InputError(
            f"scores cannot be read from a {type(source).__name__}",
            expected="a path, a result of scoring, or a data frame or rows with the columns "
            f"{', '.join(LONG)}, or a column a metric",
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
    header = dict.fromkeys(name for row in table.rows for name in row.values)
    header |= dict.fromkeys(table.header)
    tabular = table.form in ("csv", "python")
    logged = any("summarizer_id" in row.values or "scores" in row.values for row in table.rows)
    long = "metric" in header or logged
    if tabular and not logged:
        for name in LONG if long else LONG[:2]:
            if name not in header:
                what = f"no column '{name}' (found: {', '.join(sorted(header))})"
                raise InputError(what, path=table.path, line=1, expected=_NAMES)
    metrics = [] if long else _wide_metrics(table, header)
    for line, row, _ in table.rows:
        if "metrics" in row and "summarizer_id" in row:
            yield from _sacrerouge_cells(row, table.path, line)
        elif isinstance(row.get("scores"), dict):
            for metric, score in row["scores"].items():
                yield _cell({**row, "metric": metric, "score": score}, table.path, line)
        elif long or not metrics:
            row = {**dict.fromkeys(LONG), **row} if tabular else row
            yield _cell(row, table.path, line)
            if number(row.get("human")) is not None:
                yield _cell({**row, "metric": "human", "score": row["human"]}, table.path, line)
        else:
            for metric in metrics:
                yield _cell({**row, "metric": metric, "score": row.get(metric)}, table.path, line)


def _wide_metrics(table: Rows, header: Iterable[str]) -> list[str]:
    """The columns of numbers in a wide table."""
    metrics: list[str] = []
    for name in header:
        cells = [row.values.get(name) for row in table.rows]
        written = [cell for cell in cells if not _missing(cell)]
        numbers = sum(number(cell) is not None for cell in written)
        if name not in _TEXTS and numbers and 2 * numbers >= len(written):
            metrics.append(name)
    if not metrics and table.form != "jsonl" and table.form != "json":
        raise InputError("no column of scores", path=table.path, line=1, expected=_NAMES)
    return metrics


def _rated(cells: Iterable[_Cell]) -> list[_Cell]:
    """The cells; where raters differ, the mean of them and each of them as a metric."""
    cells = list(cells)
    if not any(cell.rater for cell in cells):
        return cells
    groups: dict[tuple[str, ...], list[_Cell]] = {}
    for cell in cells:
        groups.setdefault(cell[:3], []).append(cell)
    rated = {g[0].metric for g in groups.values() if any(not _same(g[0].score, c.score) for c in g)}
    result = []
    for group in groups.values():
        first = group[0]
        if first.metric not in rated:
            result.append(first)
            continue
        for cell in group:
            result.append(cell._replace(metric=f"{cell.metric}_{cell.rater}"))
        result.append(first._replace(score=_mean([cell.score for cell in group])))
    return result


def _mean(scores: Sequence[float]) -> float:
    """The mean of those who scored, to 12 digits: means of the same ratings in any order tie."""
    scored = [score for score in scores if not math.isnan(score)]
    if len(scored) < 2:
        return scored[0] if scored else math.nan
    return float(f"{math.fsum(scored) / len(scored):.12g}")


def _sacrerouge_cells(row: Mapping[str, Any], path: str | Path, line: int) -> Iterator[_Cell]:
    if "instance_id" not in row:
        what = "a sacrerouge line without 'instance_id'"
        expected = "the file with scores by input"
        hint = "Give the summary-level file, not the system-level one."
        raise InputError(what, path=path, line=line, expected=expected, hint=hint)
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
    for key in LONG:
        if key not in row:
            what = f"no '{key}'"
            raise InputError(what, path=path, line=line, expected=f"the keys {', '.join(LONG)}")
    system, input_, metric = (_name(row[key], key, path, line) for key in LONG[:3])
    rater = identifier(row.get("annotator")) or ""
    score = _number(row["score"], path, line)
    return _Cell(system, input_, metric, score, str(path), line, rater)


def _name(value: Any, key: str, path: str | Path, line: int | None) -> str:
    if (name := identifier(value)) is None:
        what = f"the {key} is {cut(value)}"
        raise InputError(what, path=path, line=line, expected="a name, or a whole number")
    return name


def _missing(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and cell.strip().lower() in _MISSING)


def _number(value: Any, path: str | Path, line: int | None) -> float:
    if _missing(value):
        return math.nan
    score = number(value)
    if score is None or math.isinf(score):
        what = "a score is infinite" if score else f"the score '{cut(value)}' is not a number"
        hint = "Leave the cell empty if it was not scored." if score else None
        raise InputError(what, path=path, line=line, expected="a finite number", hint=hint)
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
            what = (
                f"metric '{cell.metric}' scores system '{cell.system}' on input '{cell.input}'"
                f" twice (first at {first.path}{line})"
            )
            hint = "Keep one of the two, or give them different names."
            raise InputError(what, path=cell.path, line=cell.line, hint=hint)
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
