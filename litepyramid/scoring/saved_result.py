"""Saved results of `score` as they were: read, checked, shown again by `report`."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.checked import as_type
from litepyramid.errors import InputError, located
from litepyramid.io.saved import (
    BROKEN,
    EXPECTED,
    UNCHANGED,
    SavedScores,
    saved_scores,
)
from litepyramid.io.scores import read_scores, select_matrix
from litepyramid.judges.base import Evidence
from litepyramid.judges.panel import joined
from litepyramid.scoring.inference import with_repeats
from litepyramid.scoring.pyramid import ScoringRule
from litepyramid.scoring.result import ScoreResult
from litepyramid.stats import (
    EQUAL_WITHIN,
    by_id,
    check_samples,
    system_intervals,
    system_means,
)
from litepyramid.text import cut
from litepyramid.types import (
    BoolArray,
    FloatArray,
    InputUnits,
    ResultLike,
    ScoreMatrix,
    Signature,
    SystemSummaries,
    data_hashes,
)

_AS_SAVED = (
    "metric",
    "name",
    "inputs",
    "units",
    "counts",
    "confidence",
    "samples",
    "seed",
    "references",
    "ceiling",
    "notes",
)
"""What a file says as the result does."""


def read_saved(result: Any) -> ScoreResult | None:
    """A result of `score` as it is, or read from its file; None of anything else."""
    if isinstance(result, ScoreResult):
        return result

    path = result
    saved = saved_scores(path) if isinstance(path, str | Path) else None
    if saved is None or not saved.units:
        return None

    units = saved.units
    # They are saved only where they are other units.
    label_units = saved.label_units or units
    if len(saved.references or units) != len(units):
        raise InputError(BROKEN, path=path, expected="references of each input")

    labels = saved.per_unit("labels", label_units, path)
    evidence = saved.per_unit("evidence", units, path)
    opinions = saved.per_unit("opinions", units, path)
    ends = np.array([(entry.low, entry.high) for entry in saved.systems], np.float64)
    if "version" not in saved.signature:
        raise InputError(BROKEN, path=path, expected="a version in the signature")

    with located(path):
        check_samples(saved.samples, confidence=saved.confidence)
        restored = ScoreResult(
            **{name: getattr(saved, name) for name in _AS_SAVED},
            systems=saved.names,
            values=saved.column("score"),
            intervals=tuple([(low, high) for low, high in ends.tolist()]),
            groups=tuple([entry.groups for entry in saved.systems]),
            signature=Signature.from_json(saved.signature),
            rule=ScoringRule.of(saved.rule),
            presence=saved.presence(path),
            labels=None if labels is None else np.array(labels, dtype=float),
            label_units=None if labels is None else label_units,
            human=None if labels is None else saved.column("human"),
            summaries=saved.texts("summary"),
            evidence=None if evidence is None else _evidence(evidence, path),
            opinions=None if opinions is None else _opinions(opinions, path),
        )
        _check(restored, saved)

    return _with_intervals(restored)


def _opinions(rows: list[list[Any]], path: str | Path) -> FloatArray:
    """The (J, N, U) presences by several judges."""
    judges = {len(values) for values in chain.from_iterable(rows)}
    if len(judges) > 1:
        raise InputError(BROKEN, path=path, expected="a presence by each judge")

    return np.array(rows, dtype=float).transpose(2, 0, 1)


def _evidence(
    rows: list[list[Any]], path: str | Path
) -> tuple[tuple[Evidence, ...], ...]:
    """The evidence of each unit; null is a unit of which the judge found nothing."""
    nothing = Evidence(0.0)
    checked = as_type(
        list[list[Evidence | None]],
        rows,
        what=BROKEN,
        path=path,
    )
    evidence = []
    for row in checked:
        evidence.append(tuple([cell or nothing for cell in row]))
    return tuple(evidence)


# Whether it holds together: what follows from the rest is computed again
# ------------------------------------------------------------------------------------


def _check(result: ScoreResult, saved: SavedScores) -> None:
    """Raises InputError with the first thing that does not agree with the rest.

    Scores are computed again from the presence by the rule, those of people from their
    labels; no interval ends before it begins; the signature's hashes are those of the
    units and summaries.
    """
    # Each number first, the checksum last: the error should name what does not fit.
    names = result.systems, result.inputs
    _same("score", names, result.values, _scores(result, result.presence, result.units))
    if result.labels is not None and result.human is not None:
        human = _scores(result, result.labels, result.label_units or ())
        _same("human", names, result.human, human)

    means = [entry.score for entry in saved.systems]
    _same("score", names[:1], means, [*result.scores.values()])
    ordered = np.sort(result.intervals, axis=1)
    _same("interval", (result.systems, ("low", "high")), result.intervals, ordered)
    if result.opinions is not None:
        join = dict(result.signature.fields).get("join", "mean")
        units = [f"unit {number}" for number in range(1, result.presence.shape[1] + 1)]
        presence = joined(result.opinions, join)
        _same("presence", (result.systems, units), result.presence, presence)
    _check_hashes(result)


def _with_intervals(result: ScoreResult) -> ScoreResult:
    """The result with the intervals that its scores and seed give.

    They are those of the file, unless another version of numpy drew them, or somebody
    else did.
    """
    # As they were drawn: in the order of the ids.
    rows = by_id(result.systems)
    ordered = result.values[np.ix_(rows, by_id(result.inputs))]
    drawn = system_intervals(
        ordered,
        samples=result.samples,
        confidence=result.confidence,
        seed=result.seed,
    )
    ends = tuple([drawn[i] for i in np.argsort(rows).tolist()])
    if "repeats" in dict(result.signature.fields) and result.opinions is not None:
        layout, seed = result.layout, result.seed
        each = [result.rule.apply(one, layout, seed)[0] for one in result.opinions]
        means = np.array([*map(system_means, each)])
        limits = result.rule.limits(layout)
        ends = with_repeats(ends, means, result.confidence, limits)

    if _close(result.intervals, ends).all():
        return result
    note = "The intervals of the file were others: these are computed again."
    return replace(result, intervals=ends, notes=(*result.notes, note))


def _disagreement(what: str, saved: Any, expected: Any) -> InputError:
    return InputError(
        f"does not hold together: the {what} is {saved}, and by the rest {expected}",
        expected=UNCHANGED,
    )


def _same(what: str, names: Sequence[Sequence[str]], saved: Any, expected: Any) -> None:
    """Compares numbers, but for the rounding of other machines; NaN agrees with NaN."""
    saved = np.array(saved, dtype=float)
    expected = np.array(expected, dtype=float)
    for place in np.argwhere(~_close(saved, expected)).tolist():
        where = [each[i] for each, i in zip(names, place, strict=True)]
        raise _disagreement(
            f"{what} of {', '.join(where)}", saved[*place], expected[*place]
        )


def _close(saved: Any, expected: Any) -> BoolArray:
    close = np.isclose(saved, expected, rtol=0, atol=EQUAL_WITHIN, equal_nan=True)
    return np.asarray(close)


def _scores(
    result: ScoreResult, presence: FloatArray, units: Sequence[InputUnits]
) -> FloatArray:
    """(N, M) scores of (N, U) presence, or labels, by the result's rule."""
    expected = np.full(result.values.shape, np.nan)
    # Systems without labels have no human scores, and the rule would refuse them.
    scored = ~np.isnan(presence).all(axis=1)
    layout = result.rule.layout(units)
    expected[scored] = result.rule.apply(presence[scored], layout, result.seed)[0]
    return expected


def _check_hashes(result: ScoreResult) -> None:
    saved = dict(result.signature.fields)
    others = result.label_units or () if "label_units_sha" in saved else ()
    # A number that was changed by hand is found before; a text only by its hash.
    computed = data_hashes(units=result.units, label_units=others)
    summaries = saved.get("summaries_sha")

    # Which empty summaries are missing ones is saved by their presence alone.
    for missing in (False, True):
        if summaries != computed.get("summaries_sha"):
            computed |= data_hashes(summaries=_summaries(result, missing))

    for name in ("units_sha", "inputs_sha", "label_units_sha", "summaries_sha"):
        if saved.get(name) != computed.get(name):
            raise _disagreement(name, saved.get(name), computed.get(name))


def _summaries(result: ScoreResult, missing: bool) -> list[SystemSummaries]:
    """The summaries that were judged; those `missing` are empty and have no
    presence."""
    nothing = result.layout.sums(~np.isnan(result.presence)) == 0
    summaries = []
    for n, texts in enumerate(result.summaries or ()):
        absent = []
        for name, text, judged_none in zip(
            result.inputs, texts, nothing[n], strict=True
        ):
            if missing and judged_none and not text:
                absent.append(name)
        summaries.append(
            SystemSummaries(result.systems[n], result.inputs, texts, tuple(absent))
        )
    return summaries


def scored_and_labelled(
    scores: Any, metric: str | None = None, human: str | None = None
) -> tuple[ScoreMatrix, Any, Signature]:
    """The scores of one metric, those of people if `human` names them, and how they
    were made."""
    if isinstance(scores, ScoreMatrix):
        scores = scores, None
    if isinstance(scores, tuple) and isinstance(scores[0], ScoreMatrix):
        return *scores, Signature.of(metric=scores[0].metric)
    result = read_saved(scores) or scores
    matrix = getattr(result, "matrix", None)

    if isinstance(matrix, ScoreMatrix) and metric in (None, matrix.metric):
        people = getattr(result, "human_matrix", None)
        if human is not None and people is None:
            raise InputError(
                "no human labels", expected="a result that was scored with labels"
            )
        return matrix, people, result.signature

    table = read_scores(scores)
    matrix = select_matrix(table, metric)
    people = None if human is None else table.matrix(human)
    return matrix, people, Signature.of(metric=matrix.metric)


def report(result: ResultLike) -> ScoreResult:
    """Show a saved result of ``score`` again: its table, page, figure, or another form.

    Nothing is judged: a page shows the evidence that the result was saved with.

    Args:
        result: The JSON in which a result of ``score`` was saved.

    Returns:
        The result as `score` gave it; `save` writes it in any form.

    Raises:
        InputError: It is something else, or does not hold together.

    Example:
        >>> import litepyramid as lp
        >>> units = [["It rained.", "We left."]]
        >>> result = lp.score(["It rained all day."], units, judge="recall")
        >>> report(result).scores
        {'system': 0.5}

    Command line:
        $ litepyramid report scores.json -o report.html
        $ litepyramid report scores.json -o figure.pdf
    """
    if (saved := read_saved(result)) is None:
        raise InputError(
            f"{cut(result)} is no result of score",
            expected=EXPECTED,
            hint="Tables of scores are compared with: litepyramid compare.",
        )
    return saved
