"""What the report page draws of a result: each fact in each summary, scores, differences."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from litepyramid.judges.evaluate import CalibrationResult, calibrate
from litepyramid.reports.score_page import rounded, utf16
from litepyramid.scoring.inference import flip_p_values, group_letters
from litepyramid.stats import adjust_p_values, mean_of_scored, system_means
from litepyramid.text import cut, legible
from litepyramid.types import FloatArray

BOUNDS = (0.25, 0.75)
"""A fact of at most this presence is missing, of at least that present, without labels to tell."""

_SURE = 0.8  # share of labels that must say so for a verdict


def page_data(result: Any) -> dict[str, Any]:
    """What the page's script draws; presences are in thousandths, labels in halves, -1 is none."""
    table, human, means = result.to_tables()[0], result.human_scores, result.scores
    clipped = result.clipped
    references = result.references or [()] * len(result.units)
    labels = result.labels if result.label_units in (None, result.units) else None
    calibration = None if labels is None else _calibration(result, labels)
    return {
        "percent": f"{100 * result.confidence:g} %",
        "signature": str(result.signature),
        "notes": [legible(note) for note in table.notes[:-1]],
        "groups": next((note for note in table.notes if "share a group" in note), ""),
        "systems": [
            {
                "name": name,
                "score": rounded(means[name]),
                "low": rounded(result.intervals[i][0]),
                "high": rounded(result.intervals[i][1]),
                "letters": group_letters(result.groups[i]),
                "human": rounded(human.get(name)),
                "clipped": rounded(clipped.get(name)),
                "inputs": [rounded(value, 3) for value in result.values[i]],
            }
            for i, name in enumerate(result.systems)
        ],
        "order": result.order,
        "bounds": BOUNDS if calibration is None else verdict_bounds(calibration),
        "inputs": [
            {
                "id": entry.input,
                "question": entry.question,
                "units": [
                    {
                        "text": u.text, "weight": round(u.weight, 4), "kind": u.kind,
                        "reference": u.reference, "sentence": u.sentence,
                    }
                    for u in entry.units
                ],
                "references": own or None,
            }
            for entry, own in zip(result.units, references, strict=True)
        ],
        "presence": _scaled(result.presence, 1000),
        "labels": None if labels is None else _scaled(labels, 2),
        "texts": result.summaries,
        "evidence": _evidence(result),
        "pairs": _pairs(result),
        "tags": [
            [t["tag"], t["system"], t["inputs"], *(rounded(t[k]) for k in ("score", "low", "high"))]
            for t in result.tags
        ],
        "calibration": None if calibration is None else _calibration_data(calibration),
    }  # fmt: skip


def verdict_bounds(calibration: CalibrationResult) -> tuple[float, float]:
    """Presence up to which facts are missing, and from which they are present, by the labels.

    The widest ranges from 0 and from 1 in whose bins four of five labels say so; `BOUNDS` where
    there is no such bin.
    """
    bins = [(b.low, b.high, b.observed) for b in calibration.bins if b.pairs]
    low, high = 0.0, 1.0
    for _, end, share in bins:
        if share > 1 - _SURE:
            break
        low = end
    for start, _, share in reversed(bins):
        if share < _SURE:
            break
        high = start
    return (low or BOUNDS[0], high if high < 1 else BOUNDS[1])


def _evidence(result: Any) -> list[list[Any]] | None:
    """Per system and unit [start, end, conflict, words missing], or 0 where nothing was found."""
    if result.evidence is None or result.summaries is None:
        return None
    inputs = [m for m, entry in enumerate(result.units) for _ in entry.units]
    return [
        [
            [*(utf16(texts[m], end) for end in e.span), e.conflict, _words(e.missing)]
            if e.sentence >= 0
            else 0
            for m, e in zip(inputs, row, strict=True)
        ]
        for texts, row in zip(result.summaries, result.evidence, strict=True)
    ]


def _scaled(values: FloatArray, by: int) -> list[list[int]]:
    whole = np.where(np.isnan(values), -1.0, np.rint(np.nan_to_num(values) * by))
    return [[int(x) for x in row] for row in whole]


def _words(missing: Sequence[str]) -> str:
    return f"Not in that sentence: {cut(', '.join(missing), 200)}" if missing else ""


def _pairs(result: Any) -> dict[str, Any] | None:
    """The matrix of differences, best system first: [difference, significant] or None."""
    order = result.order
    if len(order) < 2 or np.isnan(system_means(result.values)).any():
        return None
    values = result.values[order]
    places = np.array(list(combinations(range(len(order)), 2)))
    p = adjust_p_values(flip_p_values(values, places), "holm")
    cells: list[list[Any]] = [[None] * len(order) for _ in order]
    for (i, j), chance in zip(places.tolist(), p.tolist(), strict=True):
        difference = mean_of_scored(values[i] - values[j])
        clear = chance < 1 - result.confidence
        cells[i][j] = [round(difference, 4), clear]
        cells[j][i] = [round(-difference, 4), clear]
    note = (
        "* differs significantly (two-sided sign-flip test over inputs, exact; Holm's correction)."
    )
    return {"cells": cells, "note": note}


def _calibration(result: Any, labels: FloatArray) -> CalibrationResult | None:
    """The judge against the labels, each unit's weight ignored."""
    both = ~np.isnan(labels) & ~np.isnan(result.presence)
    if not both.any():
        return None
    return calibrate(result.presence[both], labels[both], signature=result.signature)


def _calibration_data(calibration: CalibrationResult) -> dict[str, Any]:
    return {
        "bins": [
            [rounded(b.predicted), rounded(b.observed), b.pairs]
            for b in calibration.bins
            if b.pairs
        ],
        "summary": (
            f"{calibration.pairs:,} labelled pairs. Area under the ROC curve "
            f"{calibration.auc:.3f}, Brier score {calibration.brier:.3f} (a constant mean: "
            f"{calibration.brier_constant:.3f}). Dots on the dashed line mean calibrated presence; "
            "larger dots stand for more pairs."
        ),
    }
