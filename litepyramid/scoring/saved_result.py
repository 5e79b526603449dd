"""Saved results of `score` as they were: read, checked, shown again by `report`."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.checked import as_type
from litepyramid.data.facts import Facts
from litepyramid.data.records import InputUnits, Summaries, Unit, Units
from litepyramid.data.saved import (
    BROKEN,
    EXPECTED,
    UNCHANGED,
    SavedScores,
    saved_scores,
)
from litepyramid.data.score_tables import read_scores
from litepyramid.data.scores import HUMAN, Scores
from litepyramid.errors import InputError, located
from litepyramid.judges.base import Evidence
from litepyramid.judges.panel import joined
from litepyramid.scoring.inference import with_repeats
from litepyramid.scoring.pyramid import ScoringRule
from litepyramid.scoring.result import ScoreResult
from litepyramid.stats import (
    EQUAL_WITHIN,
    check_samples,
    system_intervals,
)
from litepyramid.text import cut
from litepyramid.types import (
    BoolArray,
    FloatArray,
    ResultLike,
    Signature,
)

_AS_SAVED = (
    "metric",
    "name",
    "counts",
    "confidence",
    "samples",
    "seed",
    "references",
    "plan",
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

    units = Units(saved.units)
    # They are saved only where they are other units.
    label_units = Units(saved.label_units) if saved.label_units else units
    if not {*units.inputs} >= saved.references.keys():
        raise InputError(BROKEN, path=path, expected="references of its inputs")

    facts = saved.facts("presence", units, path)
    labels = saved.facts("labels", label_units, path)
    evidence = saved.per_unit("evidence", units, path)
    opinions = saved.per_unit("opinions", units, path)
    if facts is None:
        raise InputError("holds no presence", path=path, expected=EXPECTED)
    with located(path):
        restored = replace(
            _scored(saved, facts),
            labels=labels,
            human=None if labels is None else saved.column("human"),
            summaries=_summaries(saved),
            evidence=None if evidence is None else _evidence(evidence, path),
            opinions=None if opinions is None else _opinions(opinions, path),
        )
        _check(restored, saved)

    return _with_intervals(restored)


def read_run(run: ResultLike) -> ScoreResult:
    """A run as `changes` compares it: a result of `score`, or of `precision` its
    scores, which are of no fact that two runs have."""
    if (scored := read_saved(run)) is not None:
        return scored
    if (saved := saved_scores(run)) is None:
        return report(run)

    inputs = sorted({row.input for row in saved.scores})
    cells = [(row.system, row.input) for row in saved.scores]
    if cells != [*product(saved.names, inputs)]:
        raise InputError(BROKEN, expected="one score a system and input, in order")
    whole = (Unit(saved.metric),)
    units = Units.of([InputUnits(name, whole) for name in inputs])
    nothing = np.full((len(saved.names), len(inputs)), np.nan)
    return _scored(saved, Facts(saved.names, units, nothing))


def _scored(saved: SavedScores, facts: Facts) -> ScoreResult:
    """What every result of scores has, with the presence of its facts."""
    if "version" not in saved.signature:
        raise InputError(BROKEN, expected="a version in the signature")
    check_samples(saved.samples, confidence=saved.confidence)
    ends = np.array([(entry.low, entry.high) for entry in saved.systems], np.float64)
    return ScoreResult(
        **{name: getattr(saved, name) for name in _AS_SAVED},
        systems=saved.names,
        inputs=facts.inputs,
        values=saved.column("score"),
        intervals=tuple([(low, high) for low, high in ends.tolist()]),
        groups=tuple([entry.groups for entry in saved.systems]),
        signature=Signature.from_json(saved.signature),
        rule=ScoringRule.of(saved.rule),
        facts=facts,
        labels=None,
        human=None,
    )


def _summaries(saved: SavedScores) -> Summaries | None:
    """The texts that were judged; None where only presence was given."""
    texts = {(row.system, row.input): row.summary for row in saved.scores}
    if all(text is None for text in texts.values()):
        return None
    return Summaries.of(texts)


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
    _same("score", names, result.values, _scores(result, result.facts))
    if result.labels is not None and result.human is not None:
        _same("human", names, result.human, _scores(result, result.labels))

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
    drawn = system_intervals(
        result.values,
        samples=result.samples,
        confidence=result.confidence,
        seed=result.seed,
    )
    ends = tuple(drawn)
    if "repeats" in dict(result.signature.fields) and result.opinions is not None:
        means = result.rule.system_scores(result.opinions, result.units, result.seed)
        limits = result.rule.limits(result.units)
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


def _scores(result: ScoreResult, facts: Facts) -> FloatArray:
    """(N, M) scores of presence, or of labels, by the result's rule."""
    expected = np.full(result.values.shape, np.nan)
    # Systems without labels have no human scores, and the rule would refuse them.
    scored = ~np.isnan(facts.values).all(axis=1)
    result.rule.check(facts.units)
    values = facts.values[scored]
    expected[scored] = result.rule.apply(values, facts.units, result.seed)[0]
    return expected


def _check_hashes(result: ScoreResult) -> None:
    """A number that was changed by hand is found before; a text only by its hash."""
    saved = dict(result.signature.fields)
    units = result.units
    computed: dict[str, str | None]
    computed = {"units_sha": units.sha, "inputs_sha": units.inputs_sha}
    if result.labels is not None and result.labels_here is None:
        computed["label_units_sha"] = result.labels.units.sha
    if result.summaries is not None:
        computed["summaries_sha"] = result.summaries.sha
    # Of several answers to an input, which are averaged, none is saved.
    elif "answers" in saved:
        computed["summaries_sha"] = saved.get("summaries_sha")

    for name in ("units_sha", "inputs_sha", "label_units_sha", "summaries_sha"):
        if saved.get(name) != computed.get(name):
            raise _disagreement(name, saved.get(name), computed.get(name))


def one_metric(scores: Any, metric: str | None) -> tuple[Scores, Signature]:
    """The scores of one metric, and how they were made."""
    table, signature = _table_of(scores)
    one = table.one(metric)
    return one, signature or Signature.of(metric=one.metrics[0])


def with_people(
    scores: Any, metric: str | None, human: str
) -> tuple[Scores, Scores, Signature]:
    """The scores of one metric and those of people, and how they were made."""
    table, signature = _table_of(scores)
    if signature is not None and HUMAN not in table.metrics:
        raise InputError(
            "no human labels", expected="a result that was scored with labels"
        )
    one = table.one(metric, human)
    made = signature or Signature.of(metric=one.metrics[0])
    return one, table.of_metrics([human]), made


def _table_of(scores: Any) -> tuple[Scores, Signature | None]:
    """Scores, and how they were made: None of a table that no result is."""
    result = read_saved(scores)
    if result is None:
        return read_scores(scores), None
    return result.table, result.signature


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
            hint="Summaries are scored first (litepyramid score … -o scores.json); "
            "tables of scores are compared with litepyramid compare.",
        )
    return saved
