"""Whether a result of `score` holds together: what follows from the rest is computed
again."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from litepyramid.errors import InputError
from litepyramid.scoring.pyramid import UnitLayout
from litepyramid.types import (
    FloatArray,
    InputUnits,
    SystemSummaries,
    array_sha,
    data_hashes,
    fingerprint,
)

ScoreRecord = Any
"""A `ScoreResult`, which is saved with its checksum and cannot be imported here."""

_ROUNDING = 1e-9
_EXPECTED = "a file as `litepyramid score -o` wrote it"


def result_sha(result: ScoreRecord) -> str:
    """Eight hex digits that name what was measured, and how; texts have hashes of their
    own."""
    measured = [
        [result.metric, result.name, result.systems, result.inputs],
        result.signature.fields,
        [str(result.rule), result.samples, result.confidence, result.seed],
        [result.ceiling, sorted(result.counts.items())],
        [result.intervals, result.groups],
    ]

    for values in (result.values, result.presence, result.human, result.labels):
        measured.append(["" if values is None else array_sha(values)])

    return fingerprint(measured)


def check_result(
    result: ScoreRecord, sha: str | None, means: Sequence[float | None]
) -> None:
    """Checks a result that was read: ranges, scores, intervals, hashes.

    Scores are computed again from the presence by the rule that the signature names,
    those of people from their labels; intervals lie within a system's scores; the
    signature's hashes are those of the units and summaries.

    Args:
        result: The result, its arrays of the right shapes.
        sha: The `result_sha` that was saved with it; None is none.
        means: The scores of the systems that were saved with it.

    Raises:
        InputError: The first thing that does not agree, by its name.
    """
    # Each number first, the checksum last: the error should name what does not fit.
    _check_range(result, "presence", result.presence)
    _check_scores(result, "score", result.values, result.presence, result.units)

    if result.labels is not None and result.human is not None:
        _check_range(result, "labels", result.labels)
        units = result.label_units or result.units
        _check_scores(result, "human", result.human, result.labels, units)

    _check_means(result, means)
    _check_intervals(result)
    _check_hashes(result)

    if sha != result_sha(result):
        raise _disagreement(
            f"the checksum is {sha}, and that of the values and of the signature "
            f"{result_sha(result)}"
        )


def _disagreement(what: str) -> InputError:
    return InputError(f"does not hold together: {what}", expected=_EXPECTED)


def _check_range(result: ScoreRecord, name: str, values: FloatArray) -> None:
    wrong = np.argwhere((values < 0) | (values > 1))

    if len(wrong):
        system, unit = wrong[0].tolist()
        raise _disagreement(
            f"{name} of system '{result.systems[system]}' is {values[system, unit]:g}, "
            "not from 0 to 1"
        )


def _check_scores(
    result: ScoreRecord,
    name: str,
    scores: FloatArray,
    presence: FloatArray,
    units: Sequence[InputUnits],
) -> None:
    """Compares (N, M) scores with those of (N, U) presence, or labels, by the rule."""
    expected = np.full(scores.shape, np.nan)
    # Systems without labels have no human scores, and the rule would refuse them.
    scored = ~np.isnan(presence).all(axis=1)
    layout = result.rule.layout(units)
    expected[scored] = result.rule.apply(presence[scored], layout, result.seed)[0]

    wrong = np.argwhere(~_same(scores, expected))

    if len(wrong):
        n, m = wrong[0].tolist()
        raise _disagreement(
            f"the {name} of system '{result.systems[n]}' on input "
            f"'{result.inputs[m]}' is {scores[n, m]:g}, and by its units "
            f"{expected[n, m]:g}"
        )


def _same(saved: FloatArray | float, expected: FloatArray | float) -> Any:
    """Where numbers agree but for the rounding of other machines; NaN agrees with
    NaN."""
    return np.isclose(
        saved,
        expected,
        rtol=0,
        atol=_ROUNDING,
        equal_nan=True,
    )


def _check_means(result: ScoreRecord, means: Sequence[float | None]) -> None:
    """Compares the scores of systems with the means of their scores by input."""
    for (system, expected), mean in zip(result.scores.items(), means, strict=True):
        saved = np.nan if mean is None else mean

        if not _same(saved, expected):
            raise _disagreement(
                f"the score of system '{system}' is {saved:g}, and the mean over "
                f"inputs {expected:g}"
            )


def _check_intervals(result: ScoreRecord) -> None:
    """Means of samples lie between the lowest and the highest score of a system."""
    rows = zip(result.systems, result.values, result.intervals, strict=True)
    for system, row, (low, high) in rows:
        scores = row[~np.isnan(row)]
        if len(scores):
            lowest = scores.min() - _ROUNDING
            highest = scores.max() + _ROUNDING
            fits = lowest <= low <= high <= highest
        else:
            fits = np.isnan(low) and np.isnan(high)

        if not fits:
            raise _disagreement(
                f"the interval of system '{system}' is from {low:g} to {high:g}"
            )


def _check_hashes(result: ScoreRecord) -> None:
    saved = dict(result.signature.fields)
    # A number that was changed by hand is found above; a text only by its hash.
    _compare_hashes(saved, data_hashes(units=result.units))

    if "label_units_sha" in saved:
        _compare_hashes(saved, data_hashes(label_units=result.label_units or ()))

    if "summaries_sha" in saved:
        whole = data_hashes(summaries=_summaries(result, missing=False))

        # Which empty summaries are missing ones is saved by their presence alone.
        if whole.get("summaries_sha") != saved["summaries_sha"]:
            whole = data_hashes(summaries=_summaries(result, missing=True))

        _compare_hashes(saved, whole)


def _compare_hashes(saved: Mapping[str, str], computed: Mapping[str, str]) -> None:
    for name, sha in computed.items():
        if saved.get(name) != sha:
            data = name.removesuffix("_sha").replace("_", " ")
            raise _disagreement(
                f"{name} of the signature is {saved.get(name)}, and that of the {data} "
                f"in the file {sha}"
            )

    if not computed:
        raise _disagreement("the signature names texts that are not in the file")


def _summaries(result: ScoreRecord, *, missing: bool) -> list[SystemSummaries]:
    """The summaries that were judged; those `missing` are empty and have no
    presence."""
    bounds = UnitLayout.of(result.units).bounds
    summaries = []

    for system, texts, presence in zip(
        result.systems, result.summaries or (), result.presence, strict=False
    ):
        absent = []

        for name, text, (start, end) in zip(result.inputs, texts, bounds, strict=True):
            if missing and not text and np.isnan(presence[start:end]).all():
                absent.append(name)

        summaries.append(SystemSummaries(system, result.inputs, texts, tuple(absent)))

    return summaries
