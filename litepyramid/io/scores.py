"""Score tables from CSV, JSON, frames, logs, results of `score`; and as CSV."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from litepyramid.checked import guarded, is_missing, number
from litepyramid.data.saved import SavedScores, saved_scores
from litepyramid.errors import InputError, located
from litepyramid.files import read_text
from litepyramid.io.readers import read_rows, table_rows
from litepyramid.io.rows import (
    COLUMNS,
    SCORE_COLUMNS,
    ColumnNames,
    Rows,
    check_filled,
    identifier,
    named,
    parse_columns,
)
from litepyramid.text import cut
from litepyramid.types import (
    ColumnsLike,
    FloatArray,
    HumanLike,
    ScoreMatrix,
    ScoresLike,
    ScoreTable,
    several,
)

_CELLS = 10_000_000  # 80 MB
_NO_NAMES = {
    "version",
    "samples",
    "seed",
    "confidence",
    "truncated",
    "inputs_sha",
    "labels_sha",
}
_ALL_INPUTS = "all"  # the input of a table with a row for each system
_MISSING = {"", "nan", "na", "n/a", "null", "none"}
_NO_METRICS = frozenset((*COLUMNS, "id")) - {"human", "score", "presence"}


class _Cell(NamedTuple):
    system: str
    input: str
    metric: str
    score: float
    path: str
    line: int | None
    rater: str = ""


class _Source(NamedTuple):
    """What one source holds; `means` are the raters' metrics by the metric that is
    their mean."""

    cells: list[_Cell]
    signature: Mapping[str, str] = {}
    means: Mapping[str, list[str]] = {}
    left_out: tuple[str, ...] = ()


def read_scores(
    scores: ScoresLike,
    human: HumanLike | None = None,
    *,
    metrics: str | Sequence[str] | None = None,
    columns: ColumnsLike | None = None,
    full: ScoresLike = None,
) -> ScoreTable:
    """Reads scores from one source or several into one table.

    A source is a file, a data frame, a list of dicts or other rows, a result of
    scoring, or a
    `ScoreTable`. A file's kind is recognised by its content:

    - CSV, TSV, JSON Lines or one JSON array, wide: system, input, and a column a metric
      (``rouge``, ``human`` …), columns of texts ignored; or long: system, input,
      metric, score, a column ``human`` is one more metric;
    - logs of inspect and results of promptfoo (JSON), with the scores that they hold;
    - the JSON or CSV that ``litepyramid score`` writes.

    A metric that several results score otherwise is extended by what differs in their
    signatures:
    ``lite2pyramid[lexical]``. Rows may name their ``annotator``: where several differ,
    each one's scores are a metric (``human_ann``), and their mean is ``human``;
    ``columns={"human": "h1+h2"}`` makes the mean of two columns. A mean is over those
    who rated.

    Args:
        scores: One source, or a list of several whose rows are put together; or an
            array (systems,) or (systems, inputs), with an array of the human score.
        human: The human score, "human" where a verb needs one; several names, or a
            pattern, mean the mean of several raters.
        metrics: Names or patterns; all others if none is named.
        columns: The table's own column names, as in system=model,human=rater1+rater2.
        full: Scores of the metrics on the whole test set; its systems are matched by
            name, its inputs may have other names.

    Returns:
        The table, in order of first appearance. NaN is "not scored": an empty cell,
        ``NaN``,
        ``NA``, ``null``, or what no source mentions.

    Raises:
        InputError: A source is none of the above, a score is not a finite number, or a
            cell is given twice (both places are named); two files may agree on a score.

    Example:
        >>> rows = [{"system": "a", "input": 1, "metric": "rouge", "score": 0.5}]
        >>> read_scores(rows).values
        array([[[0.5]]])
    """
    if human is not None and not _names_raters(human):
        table = arrays_table(scores, human)
        human = "human"
    elif isinstance(scores, ScoreTable):
        table = scores
    else:
        table = _joined(scores, parse_columns(columns))

    chosen = table.chosen
    whole = table.full
    raters = table.human if human is None else several(human, "the human score")
    if raters:
        table.select(raters)
    if metrics is not None:
        chosen = table.select(several(metrics, "the metric"))
    if full is not None:
        whole = read_scores(full, columns=columns)

    return replace(
        table,
        human=raters,
        chosen=chosen,
        full=whole,
    )


def _names_raters(human: Any) -> bool:
    """Whether raters are named, rather than their scores given."""
    if hasattr(human, "__array__"):
        return False
    listed = isinstance(human, list | tuple) and len(human) > 0
    return not listed or any(isinstance(name, str) for name in human)


def _joined(scores: Any, columns: ColumnNames) -> ScoreTable:
    """One table of all sources, with the means over raters."""
    several_sources = isinstance(scores, list | tuple) and not any(
        isinstance(source, Mapping) for source in scores
    )
    listed = scores if several_sources else [scores]
    sources = [_read(source, columns) for source in listed]
    table = _table(_distinct(sources))

    means: dict[str, list[str]] = {}
    left_out = {}
    for source in sources:
        means.update(source.means)
        left_out.update(dict.fromkeys(source.left_out))

    for name, column in (columns or {}).items():
        parts = [part.strip() for part in column.split("+")]
        # A plus may also stand in the name of a single column.
        if len(parts) > 1 and {*parts} & {*table.metrics}:
            means[name] = parts

    for name, parts in means.items():
        others = [metric for metric in table.metrics if metric != name]
        scored = np.stack([table.matrix(metric).values for metric in others])
        mean = mean_of_raters([table.matrix(part).values for part in parts])
        values = np.concatenate([scored, mean[None]])
        table = ScoreTable((*others, name), table.systems, table.inputs, values)

    return replace(table, left_out=tuple(left_out))


def mean_of_raters(matrices: Sequence[FloatArray]) -> FloatArray:
    """The mean of several raters' scores, cell by cell, over those who rated; NaN where
    none did.

    To 12 digits: means of the same ratings in any order tie. What one rated keeps every
    digit.
    """
    # Twelve digits: sums in another order differ in the last, and ties would break.
    stack = np.stack(matrices)
    rated = (~np.isnan(stack)).sum(axis=0)
    mean = np.where(rated, np.nansum(stack, axis=0) / np.maximum(rated, 1), np.nan)
    several = rated > 1
    mean[several] = [float(f"{value:.12g}") for value in mean[several].tolist()]
    return mean


def arrays_table(x: Any, y: Any) -> ScoreTable:
    """The table of two arrays, (systems, inputs) or (systems,): a metric ``x``, and
    ``human``."""
    arrays = []
    for name, value in (("x", x), ("the human scores", _in_order_of(x, y))):
        try:
            array = np.asarray(value)
            if isinstance(value, np.ma.MaskedArray):
                array = np.ma.filled(value.astype(np.float64), np.nan)
            # What pandas writes for a missing value is no number to numpy.
            if array.dtype == object:
                array = np.where(np.vectorize(is_missing)(array), np.nan, array)
            # Times and complex numbers are no scores, though numpy would cast them.
            real = array.dtype.kind not in "cmM"
            array = array.astype(np.float64) if real else np.empty(0)
        except (TypeError, ValueError):
            array = np.empty(0)
        if array.ndim not in (1, 2) or not array.size or np.isinf(array).any():
            raise InputError(
                f"{name} cannot be read from a {type(value).__name__}",
                expected="finite numbers, (systems,) or (systems, inputs)",
            )
        array = _unrounded(array)
        arrays.append(array[:, None] if array.ndim == 1 else array)

    if arrays[0].shape != arrays[1].shape:
        shapes = " and ".join(str(np.shape(value)) for value in (x, y))
        raise InputError(f"scores of the shapes {shapes}", expected="one shape")

    systems, inputs = map(_numbered, arrays[0].shape)
    return ScoreTable(("x", "human"), systems, inputs, np.stack(arrays))


def _in_order_of(x: Any, y: Any) -> Any:
    """y in the order of x's labels, where both are pandas' and have labels."""
    if not (hasattr(x, "reindex") and hasattr(y, "reindex")):
        return y

    for axis, (one, other) in enumerate(zip(x.axes, y.axes, strict=False)):
        labels = {*one}
        # Rows that are only counted go by their order; names must agree.
        counted_alone = "RangeIndex" in (type(one).__name__, type(other).__name__)
        if len(one) != len(other):
            continue
        if labels == {*other} and len(labels) == len(one):
            y = y.reindex(one, axis=axis)
        elif labels != {*other} and not counted_alone:
            raise InputError(
                "scores of other systems or inputs than the human scores",
                expected="the same labels of rows and columns",
            )
    return y


def _numbered(size: int) -> tuple[str, ...]:
    """Names by number, with zeros before it: sorted they stay in their order."""
    width = len(str(size))
    return tuple(str(n + 1).zfill(width) for n in range(size))


def select_matrix(table: ScoreTable, metric: str | None = None) -> ScoreMatrix:
    """One metric's scores: the one named, or the only one that is not the human
    score."""
    if metric is None:
        others = [name for name in table.metrics if name != "human"]
        others = others or list(table.metrics)
        if len(others) > 1:
            raise InputError(
                f"the table holds {len(others)} metrics",
                expected=f"one of {', '.join(others)}",
                hint="Name the metric.",
            )
        metric = others[0]
    return table.matrix(metric)


def _read(source: Any, columns: ColumnNames) -> _Source:
    """The cells of a source, with the signature of a saved result."""
    path = Path("the result")
    text = None
    if isinstance(source, str | Path):
        path = Path(source)
        text = read_text(path)
    elif isinstance(held := getattr(source, "scores", source), ScoreTable):
        return _Source(list(_table_cells(held, path)))

    if (saved := saved_scores(source, text)) is not None:
        return _Source(list(_saved_cells(saved, path)), saved.signature)

    if text is None:
        table = table_rows(source, "score", "scores", columns)
    else:
        # A file of scores is a table, whatever its first line holds.
        table = read_rows(path, columns, table=True, text=text, holding="score")
    if table is not None:
        return _rated(table)

    raise InputError(
        f"scores cannot be read from a {type(source).__name__}",
        expected="a path, a result of scoring, or a data frame or rows with "
        f"{SCORE_COLUMNS}",
    )


def _distinct(sources: Sequence[_Source]) -> Iterator[_Cell]:
    """The cells, metrics renamed that several results score otherwise in the same
    place."""
    scores: dict[tuple[str, ...], float] = {}
    clashing = set()
    results = [source for source in sources if source.signature]
    for cell in chain(*[source.cells for source in results]):
        if not _same(scores.setdefault(cell[:3], cell.score), cell.score):
            clashing.add(cell.metric)

    # Of the human score there is one: results that differ in it contradict each other.
    clashing.discard("human")
    telling = {metric: _telling_fields(metric, results) for metric in clashing}
    for source in sources:
        names = {}
        for metric, keys in telling.items() if source.signature else ():
            fields = []
            for key in keys:
                value = source.signature.get(key, "none")
                what = key.removesuffix("_sha")
                fields.append(value if key == "judge" else f"{what} {value}")
            if fields:
                names[metric] = f"{metric}[{', '.join(fields)}]"
        for cell in source.cells:
            yield cell._replace(metric=names.get(cell.metric, cell.metric))


def _telling_fields(metric: str, results: Sequence[_Source]) -> list[str]:
    """The first fields in which the signatures of a metric's results differ, the judge
    first."""
    own = []
    for result in results:
        if any(cell.metric == metric for cell in result.cells):
            own.append(result.signature)

    keys = [key for key in dict.fromkeys(chain(*own)) if key not in _NO_NAMES]
    chosen: list[str] = []
    told_apart = 1

    for key in sorted(keys, key=lambda key: (key != "judge", key.endswith("_sha"))):
        # A field that tells no more of them apart only makes names longer.
        kinds = {tuple(map(s.get, (*chosen, key))) for s in own}
        if len(kinds) > told_apart:
            chosen.append(key)
            told_apart = len(kinds)

    return chosen


def _same(one: float, other: float) -> bool:
    return one == other or (one != one and other != other)


def _row_cells(table: Rows) -> Iterator[_Cell]:
    columns = dict.fromkeys(table.names)
    nested = "scores" in columns
    metrics = [] if nested or "metric" in columns else _wide_metrics(table, columns)
    needed = ("system", "input") if metrics else ("system", "input", "score")

    if metrics and "input" not in columns and _one_row_a_system(table):
        # A table of systems' averages: all of them are over the same inputs.
        columns["input"] = None
        for system in table.rows:
            system.values["input"] = _ALL_INPUTS

    for name in needed if not nested else ():
        if name not in columns:
            raise InputError(
                f"no column '{name}' in this table of scores ({', '.join(columns)})",
                path=table.path,
                line=1,
                expected=SCORE_COLUMNS,
                hint=table.way_out("score"),
            )

    for line, row, *_ in table.rows:
        scores = row.get("scores")
        if not isinstance(scores, dict):
            scores = {metric: row.get(metric) for metric in metrics}
        if not scores and not nested:
            with located(table.path, line):
                if "score" not in row and table.form.startswith("json"):
                    raise InputError("no score", expected=SCORE_COLUMNS)
                metric = named(row, "metric")
            scores = {metric: row.get("score")}
            if number(row.get("human")) is not None:
                scores["human"] = row["human"]

        yield from _cells(row, scores, table.path, line)


def _one_row_a_system(table: Rows) -> bool:
    """Whether each system stands in one row alone: its scores are over all inputs."""
    systems = [identifier(cell) for cell in table.cells("system")]
    return None not in systems and len(set(systems)) == len(systems) > 1


def _wide_metrics(table: Rows, columns: Iterable[str]) -> list[str]:
    """The columns of numbers in a wide table."""
    metrics = []
    for name in columns:
        written = [cell for cell in table.cells(name) if not _missing(cell)]
        numbers = sum(number(cell) is not None for cell in written)
        # A column of texts may hold a number here and there.
        if name not in _NO_METRICS and numbers and 2 * numbers >= len(written):
            metrics.append(name)

    if not metrics:
        raise InputError(
            "no column of scores",
            path=table.path,
            line=1,
            expected=SCORE_COLUMNS,
        )

    return metrics


def _rated(table: Rows) -> _Source:
    """The cells of a table, and what of it was left out; where raters differ, each of
    them as a metric, whose mean is to be taken."""
    cells = list(_row_cells(table))
    left_out = tuple(table.left_out)
    if not any(cell.rater for cell in cells):
        return _Source(cells, left_out=left_out)
    first: dict[tuple[str, ...], _Cell] = {}
    for cell in cells:
        first.setdefault(cell[:3], cell)
    differ = {c.metric for c in cells if not _same(first[c[:3]].score, c.score)}
    means: dict[str, list[str]] = {}
    result = []

    for cell in cells:
        if cell.metric not in differ:
            result += [cell] if first[cell[:3]] is cell else []
            continue
        name = f"{cell.metric}_{cell.rater}"
        result.append(cell._replace(metric=name))
        if name not in means.setdefault(cell.metric, []):
            means[cell.metric].append(name)

    return _Source(result, {}, means, left_out)


def _saved_cells(saved: SavedScores, path: Path) -> Iterator[_Cell]:
    """The scores, other measures, and where people labelled any, human scores."""
    labelled = any(row.human is not None for row in saved.scores)
    for row in saved.scores:
        scores = {saved.name: row.score, **row.measures}
        if labelled:
            scores["human"] = row.human
        yield from _cells({"system": row.system, "input": row.input}, scores, path)


def _table_cells(table: ScoreTable, path: Path) -> Iterator[_Cell]:
    for metric, matrix in zip(table.metrics, table.values, strict=True):
        for system, row in zip(table.systems, matrix.tolist(), strict=True):
            for of, value in zip(table.inputs, row, strict=True):
                yield _Cell(system, of, metric, value, str(path), None)


def _cells(
    row: Mapping[str, Any],
    scores: Mapping[Any, Any],
    path: str | Path,
    line: int | None = None,
) -> Iterator[_Cell]:
    """The cells of one row: its scores by metric."""
    with located(path, line):
        system = named(row, "system")
        input_ = named(row, "input")
        rater = identifier(row.get("annotator")) or ""
        for key, value in scores.items():
            metric = named({"metric": key}, "metric")
            yield _Cell(system, input_, metric, _number(value), str(path), line, rater)


def _missing(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and cell.strip().lower() in _MISSING)


def _number(value: Any) -> float:
    score = np.nan if _missing(value) else number(value)
    if score is None or abs(score) == np.inf:
        what = f"the score '{cut(value)}' is not a number"
        hint = None
        if score:
            what = "a score is infinite"
            hint = "Leave the cell empty if it was not scored."
        raise InputError(what, expected="a finite number", hint=hint)

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
        # Each result repeats the human score; within one file a cell that comes twice
        # is a slip.
        apart = first.path != cell.path or cell.metric == "human"

        if first is not cell and not (apart and _same(first.score, cell.score)):
            line = f":{first.line}" if first.line else ""
            raise InputError(
                f"metric '{cell.metric}' scores system '{cell.system}' on input "
                f"'{cell.input}' twice (first at {first.path}{line})",
                path=cell.path,
                line=cell.line,
                hint="Keep one of the two, or give them different names.",
            )

    if not by_place:
        raise InputError("no scores at all", expected="at least one row")
    # A cell each could fill the memory where tables share no system or input.
    check_filled(
        len(by_place),
        "scores",
        _CELLS,
        "Give the scores of one data set at a time.",
        metric=len(metrics),
        system=len(systems),
        input=len(inputs),
    )

    values = np.full((len(metrics), len(systems), len(inputs)), np.nan)
    index = np.array(list(by_place), dtype=np.intp)
    scores = [cell.score for cell in by_place.values()]
    values[index[:, 0], index[:, 1], index[:, 2]] = scores
    values = np.stack([_unrounded(of_metric) for of_metric in values])
    return ScoreTable(tuple(metrics), tuple(systems), tuple(inputs), values)


def _unrounded(values: FloatArray) -> FloatArray:
    """What one metric's scores stand for, where all are float32: a fraction with a
    small denominator, as means are, or else the shortest decimal."""
    with np.errstate(over="ignore"):
        short = values.astype(np.float32)
        shorter = values.astype(np.float16)
    if not np.array_equal(short, values, equal_nan=True):
        return values
    # Quarters, eighths … and half precision are what they are.
    if np.array_equal(shorter, values, equal_nan=True):
        return values

    # As they are, averages that tie would differ in the eighth digit.
    meant = short.astype(str).astype(np.float64)
    for parts in range(100, 0, -1):
        fraction = np.rint(values * parts) / parts
        meant = np.where(fraction.astype(np.float32) == short, fraction, meant)
    return meant


def score_lines(table: ScoreTable) -> list[str]:
    """A table as CSV, one row per score; what is not scored is left out."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(("system", "input", "metric", "score"))
    # System by system and input by input: the metrics of one text together.
    for s, i, m in np.argwhere(~np.isnan(table.values.transpose(1, 2, 0))):
        names = table.systems[s], table.inputs[i], table.metrics[m]
        writer.writerow([*map(guarded, names), repr(float(table.values[m, s, i]))])
    return [file.getvalue()]
