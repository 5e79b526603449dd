"""A judge against human labels, from the records that scoring takes."""

from __future__ import annotations

from collections.abc import Sequence

from litepyramid.errors import InputError
from litepyramid.judges.base import Judge
from litepyramid.judges.calibration import CalibrationResult, calibrate
from litepyramid.scoring.pyramid import UnitLayout
from litepyramid.scoring.score import judge_systems
from litepyramid.types import (
    InputUnits,
    Signature,
    SystemLabels,
    SystemSummaries,
    fingerprint,
    unit_hashes,
    unit_kinds,
)


def evaluate_judge(
    summaries: Sequence[SystemSummaries],
    units: Sequence[InputUnits],
    labels: Sequence[SystemLabels],
    judge: Judge,
    *,
    bins: int = 10,
) -> CalibrationResult:
    """Judges all labelled systems and compares with the labels; see `calibrate`.

    Systems without labels, and labels of other systems, are left out.

    Raises:
        InputError: No system has both summaries and labels.

    Example:
        >>> from litepyramid.embedded.example import load_example
        >>> from litepyramid.judges.registry import make_judge
        >>> example = load_example()
        >>> result = evaluate_judge(
        ...     example.summaries, example.scus, example.labels, make_judge("recall"))
        >>> result.pairs
        344
    """
    by_name = {entry.system: entry for entry in labels}
    chosen = [entry for entry in summaries if entry.system in by_name]
    if not chosen:
        raise InputError("no system has both summaries and labels", expected="the same names")
    presence, judged = judge_systems(chosen, units, judge)
    truth = UnitLayout.of(units).flatten([by_name[entry.system] for entry in chosen])
    signature = Signature.of(
        units=unit_kinds(units),
        **judged.signature,
        **unit_hashes(units),
        labels_sha=fingerprint(truth.tolist()),
        systems=len(chosen),
    )
    return calibrate(presence, truth, bins=bins, signature=signature)
