"""Reads tables of scores: one source or several, or two arrays, into one record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from litepyramid.data.door import (
    are_names,
    name_of,
    numbered,
    opened,
    plain,
    tables_in,
)
from litepyramid.data.facts import aligned
from litepyramid.data.headers import columns_by_source
from litepyramid.data.score_rows import (
    NAMES,
    Cell,
    Source,
    holds,
    is_same,
    is_table,
    score_source,
)
from litepyramid.data.scores import ALL_INPUTS, HUMAN, Scores
from litepyramid.errors import InputError, no_effect
from litepyramid.types import (
    ColumnsLike,
    FloatArray,
    HumanLike,
    Names,
    ScoresLike,
    several,
)

_MOST_CELLS = 10_000_000  # 80 MB
_SPARSEST = 100  # cells of a large table, of which one is filled
_NOT_TELLING = {
    "version",
    "samples",
    "seed",
    "confidence",
    "truncated",
    "inputs_sha",
    "labels_sha",
}
"""Fields of a signature that do not say how a metric scores."""


def read_scores(
    scores: ScoresLike,
    human: HumanLike | None = None,
    *,
    metrics: str | Sequence[str] | None = None,
    columns: ColumnsLike | None = None,
    full: ScoresLike = None,
) -> Scores:
    """Reads scores from one source or several into one table.

    A source is a file, a frame, rows with named columns, a result of scoring, or
    `Scores`. A table is

    - wide: system, input, and a column a metric (``rouge``, ``human`` …), of any name;
    - long: system, input, metric, score; a column ``human`` is one more metric;
    - of systems alone: wide or long without inputs, each system once;
    - nested: system, input, and an object ``scores`` of numbers by metric.

    A metric that several results score otherwise is extended by what differs in their
    signatures: ``lite2pyramid[lexical]``. Rows may name their ``annotator``: where
    several differ, each one's scores are a metric (``human_ann``), and their mean is
    ``human``; ``columns={"human": "h1+h2"}`` makes the mean of two columns. A mean is
    over those who rated.

    Args:
        scores: One source, or a list of several whose rows are put together; or an
            array (systems,) or (systems, inputs), with an array of the human score.
        human: The human score, "human" where a verb needs one; several names, or a
            pattern, mean the mean of several raters; or a table of it.
        metrics: Names or patterns; all others if none is named.
        columns: The table's own column names, as in system=model,human=rater1+rater2;
            system=bart+t5 where each system has a column.
        full: Scores of the metrics on the whole test set; its systems are matched by
            name, its inputs may have other names.

    Returns:
        The table, in the order of its names. NaN is "not scored": an empty cell,
        ``NaN``, ``NA``, ``null``, or what no source mentions. `left_out` are the
        columns that were not read, such as those of texts.

    Raises:
        InputError: A source is none of the above, a score is not a finite number, or a
            cell is given twice (both places are named); two files may agree on a score.

    Example:
        >>> rows = [{"system": "a", "input": 1, "metric": "rouge", "score": 0.5}]
        >>> read_scores(rows)["rouge"]
        array([[0.5]])
    """
    own_columns = columns_by_source(columns, ["scores"], NAMES)["scores"]
    whole = _sources(full, own_columns)
    if human is not None and not are_names(human) and is_table(human):
        # A table of people's scores is one more source.
        rated = read_scores(human, columns=columns).metrics
        scores = [*tables_in(scores), human]
        human = [HUMAN] if HUMAN in rated else rated

    if human is not None and not are_names(human):
        no_effect(read_scores, True, "on two arrays", columns=columns)
        table = _of_arrays(scores, human)
        human = HUMAN
    elif isinstance(scores, Scores) and not own_columns:
        table = scores
    else:
        sources = _sources(scores, own_columns)
        _check_columns(own_columns, [*sources, *whole])
        table = _joined(sources, own_columns)

    raters = table.human if human is None else several(human, "the human score")
    if raters:
        table.select(raters)
    chosen = table.chosen
    if metrics is not None:
        chosen = table.select(several(metrics, "the metric"))
    if whole:
        table = replace(table, full=_joined(whole, own_columns))
    return replace(table, human=raters, chosen=chosen)


def _sources(scores: Any, own_columns: Mapping[str, str]) -> list[Source]:
    """What each source holds; nothing of None."""
    listed = [] if scores is None else tables_in(scores)
    return [score_source(source, own_columns) for source in listed]


def _check_columns(own_columns: Mapping[str, str], sources: Sequence[Source]) -> None:
    """Raises InputError if a column is named that no source has."""
    present = [column for source in sources for column in source.columns]
    for name, column in own_columns.items():
        if not holds(present, column):
            raise InputError(
                f"no column '{column}' (columns {name}={column})",
                expected=f"one of {', '.join(dict.fromkeys(present))}",
            )


def _joined(sources: Sequence[Source], own_columns: Mapping[str, str]) -> Scores:
    """One table of all sources, with the means over raters."""
    if len({source.of_systems for source in sources}) > 1:
        raise InputError(
            "tables with a score for each system, and others with one for each input",
            expected="one of the two kinds",
            hint="The averages of systems are computed from the scores of inputs.",
        )
    table = _table(_renamed(sources))
    raters: dict[str, Names] = {}
    left_out: set[str] = set()
    for source in sources:
        raters |= source.raters
        left_out |= {*source.left_out}
    parts = tuple([part.strip() for part in own_columns.get("human", "").split("+")])
    # A plus may also stand in the name of a single column.
    if len(parts) > 1 and not {*parts}.isdisjoint({*table.metrics, *raters}):
        raters[HUMAN] = parts

    scores = {metric: table[metric] for metric in table.metrics}
    for metric, several_raters in raters.items():
        # A rater's own score may be the mean of several who rated under one name.
        names = sorted(several_raters)
        rated = [scores[one] if one in scores else table[one] for one in names]
        scores[metric] = mean_of_raters(rated)
    whole = Scores.of(scores, table.systems, table.inputs)
    return replace(whole, listed=table.listed, left_out=tuple(sorted(left_out)))


def mean_of_raters(scores: Sequence[FloatArray]) -> FloatArray:
    """The mean of several raters' scores, cell by cell, over those who rated; NaN where
    none did.

    To 12 digits: means of the same ratings in any order tie. What one rated keeps every
    digit.
    """
    stack = np.stack(scores)
    rated = (~np.isnan(stack)).sum(axis=0)
    mean = np.where(rated, np.nansum(stack, axis=0) / np.maximum(rated, 1), np.nan)
    # Sums in another order differ in the last of 16 digits, and ties would break.
    rounded = [float(f"{value:.12g}") for value in mean[rated > 1].tolist()]
    mean[rated > 1] = rounded
    return mean


# Several sources
# ------------------------------------------------------------------------------------


def _renamed(sources: Sequence[Source]) -> Iterator[Cell]:
    """All cells; metrics that several results score otherwise in the same place have
    names that tell them apart."""
    results = [source for source in sources if source.signature]
    first: dict[tuple[str, ...], float] = {}
    clashing = set()
    for result in results:
        for cell in result.cells:
            if not is_same(first.setdefault(cell.key, cell.score), cell.score):
                clashing.add(cell.metric)

    # Of the human score there is one: results that differ in it contradict each other.
    clashing.discard(HUMAN)
    fields = {metric: _telling_fields(metric, results) for metric in clashing}
    for source in sources:
        names = {}
        for metric, keys in fields.items() if source.signature else ():
            values = []
            for key in keys:
                value = source.signature.get(key, "none")
                what = key.removesuffix("_sha")
                values.append(value if key == "judge" else f"{what} {value}")
            if values:
                names[metric] = f"{metric}[{', '.join(values)}]"
        for cell in source.cells:
            yield cell._replace(metric=names.get(cell.metric, cell.metric))


def _telling_fields(metric: str, results: Sequence[Source]) -> list[str]:
    """The fields in which the signatures of a metric's results differ: as few as tell
    them apart, the judge first."""
    signatures = []
    for result in results:
        if any(cell.metric == metric for cell in result.cells):
            signatures.append(result.signature)
    fields = {key for one in signatures for key in one} - _NOT_TELLING

    chosen: list[str] = []
    told_apart = 1
    for key in sorted(fields, key=lambda k: (k != "judge", k.endswith("_sha"), k)):
        kinds = {tuple([one.get(k) for k in (*chosen, key)]) for one in signatures}
        # A field that tells no more of them apart only makes names longer.
        if len(kinds) > told_apart:
            chosen.append(key)
            told_apart = len(kinds)
    return chosen


def _table(cells: Iterable[Cell]) -> Scores:
    """The table of all cells, each given once: another source may repeat one, and
    results may repeat the human score."""
    first: dict[tuple[str, str, str], Cell] = {}
    for cell in cells:
        known = first.setdefault(cell.key, cell)
        may_repeat = known.path != cell.path or cell.metric == HUMAN
        if known is cell or (may_repeat and is_same(known.score, cell.score)):
            continue
        raise InputError(
            f"metric '{cell.metric}' scores system '{cell.system}' on input "
            f"'{cell.input}' twice (first at {known.path}:{known.line})",
            path=cell.path,
            line=cell.line,
            hint="Keep one of the two, or give them different names.",
        )
    if not first:
        raise InputError("no scores at all", expected="at least one row")

    metrics, systems, inputs = [
        {name: n for n, name in enumerate(dict.fromkeys(side))}
        for side in zip(*first, strict=True)
    ]
    shape = len(metrics), len(systems), len(inputs)
    # Tables that share no system or input could fill the memory.
    if prod(shape) > max(_MOST_CELLS, _SPARSEST * len(first)):
        raise InputError(
            f"{len(first):,} scores share too little: {shape[0]:,} metrics, "
            f"{shape[1]:,} systems and {shape[2]:,} inputs make {prod(shape):,} cells",
            expected=f"one cell in {_SPARSEST} filled",
            hint="Give the scores of one data set at a time.",
        )

    values = np.full(shape, np.nan)
    for (metric, system, input_), cell in first.items():
        values[metrics[metric], systems[system], inputs[input_]] = cell.score
    unrounded = map(_unrounded, values)
    scores = dict(zip(metrics, unrounded, strict=True))
    return Scores.of(scores, [*systems], [*inputs])


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


# Two arrays
# ------------------------------------------------------------------------------------


def _of_arrays(scores: Any, human: Any) -> Scores:
    """The table of two arrays, (systems,) or (systems, inputs): a metric ``x``, and
    ``human``; by their labels where they have any."""
    x = _array(scores, "x")
    people = _array(human, HUMAN)
    if x.values.shape != people.values.shape:
        shapes = " and ".join(str(one.values.shape[1:]) for one in (x, people))
        raise InputError(f"scores of the shapes {shapes}", expected="one shape")
    both = aligned(x, people)
    for name in (*both.only_one[0], *both.only_one[1]):
        raise InputError(
            f"'{name}' is a label of x, and none of the human scores",
            expected="the same labels of systems and inputs",
        )
    return Scores.of(
        {"x": both.one["x"], HUMAN: both.other[HUMAN]},
        both.one.systems,
        both.one.inputs,
    )


def _array(source: Any, name: str) -> Scores:
    """The scores of an array, column or frame; what has no labels is numbered."""
    found = opened(source, name)
    values: Any = found.listed
    systems = inputs = None
    if found.by_key is not None:
        systems = [str(name_of(key)) for key in found.by_key]
        values = [*found.by_key.values()]
    elif found.rows is not None:
        columns = [*found.columns]
        # What a frame is indexed by are its systems.
        index = "system" if "system" in columns else "input"
        if index in columns and found.count is None:
            systems = [str(name_of(row.cells[index])) for row in found.rows]
            columns.remove(index)
        is_counted = columns == [str(n) for n in range(len(columns))]
        inputs = None if is_counted else columns
        values = [[row.cells.get(one) for one in columns] for row in found.rows]

    try:
        array = np.array(plain(values), dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.ndim not in (1, 2) or not array.size or np.isinf(array).any():
        raise InputError(
            f"{name} cannot be read from a {type(source).__name__}",
            expected="finite numbers, (systems,) or (systems, inputs)",
        )
    if array.ndim == 1:
        inputs = [ALL_INPUTS]
    array = _unrounded(array.reshape(len(array), -1))
    rows, width = array.shape
    return Scores.of(
        {name: array},
        systems or [f"system {number}" for number in numbered(rows)],
        inputs or [f"input {number}" for number in numbered(width)],
    )
