"""Saved results of `score` as they were: read, checked, shown again by `report`."""

from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.checked import as_type
from litepyramid.errors import InputError, located
from litepyramid.io.saved import BROKEN, EXPECTED, saved_scores
from litepyramid.io.scores import read_scores, select_matrix
from litepyramid.judges.base import Evidence
from litepyramid.scoring.consistency import check_result
from litepyramid.scoring.pyramid import ScoringRule
from litepyramid.scoring.result import ScoreResult
from litepyramid.stats import check_samples
from litepyramid.text import cut
from litepyramid.types import FloatArray, ResultLike, ScoreMatrix, Signature


def read_saved(result: Any) -> ScoreResult | None:
    """A result of `score` as it is, or read from its file; None of anything else."""
    if isinstance(result, ScoreResult):
        return result

    if not isinstance(result, str | Path):
        return None

    path = result
    saved = saved_scores(path)
    if saved is None or not saved.units:
        return None

    units = saved.units
    # They are saved only where they are other units.
    label_units = saved.label_units or units
    if len(saved.references or units) != len(units):
        raise InputError(BROKEN, path=path, expected="references of each input")

    with located(path):
        check_samples(saved.samples, confidence=saved.confidence)
        rule = ScoringRule.of(saved.rule)

    labels = saved.per_unit("labels", label_units, path)
    evidence = saved.per_unit("evidence", units, path)
    opinions = saved.per_unit("opinions", units, path)
    ends = np.array([(entry.low, entry.high) for entry in saved.systems], np.float64)
    # The version is added anew whenever a signature is written.
    fields = [pair for pair in saved.signature.items() if pair[0] != "version"]

    restored = ScoreResult(
        metric=saved.metric,
        name=saved.name,
        systems=saved.names,
        inputs=saved.inputs,
        values=saved.column("score"),
        intervals=tuple([(low, high) for low, high in ends.tolist()]),
        groups=tuple([entry.groups for entry in saved.systems]),
        counts=saved.counts,
        confidence=saved.confidence,
        samples=saved.samples,
        seed=saved.seed,
        signature=Signature(tuple(fields)),
        rule=rule,
        units=units,
        presence=saved.presence(path),
        labels=None if labels is None else np.array(labels, dtype=float),
        label_units=None if labels is None else label_units,
        human=None if labels is None else saved.column("human"),
        summaries=saved.texts("summary"),
        references=saved.references,
        evidence=None if evidence is None else _evidence(evidence, path),
        opinions=None if opinions is None else _opinions(opinions, path),
        ceiling=saved.ceiling,
        notes=saved.notes,
    )

    with located(path):
        check_result(restored, saved.checksum, [e.score for e in saved.systems])

    return restored


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
        raise InputError(f"{cut(result)} is no result of score", expected=EXPECTED)
    return saved
