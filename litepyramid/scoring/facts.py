"""What the report page draws of a result: each fact in each summary, scores, differences."""

from itertools import combinations
from typing import Any

import numpy as np

from litepyramid.judges.evaluate import CalibrationResult, calibrate
from litepyramid.scoring.inference import flip_p_values
from litepyramid.stats import adjust_p_values, mean_of_scored, system_means
from litepyramid.text import cut
from litepyramid.types import FloatArray, IntArray

BOUNDS = (0.25, 0.75)
"""A fact of at most this presence is missing, of at least that present, without labels to tell."""

_SURE = 0.8  # share of labels that must say so for a verdict


def page_data(result: Any) -> dict[str, Any]:
    """What the page's script draws; presences are in thousandths, labels in halves, -1 is none."""
    notes = result.to_tables()[0].notes
    labels = result.labels if result.label_units in (None, result.units) else None
    calibration = None
    if labels is not None and (both := ~np.isnan(labels) & ~np.isnan(result.presence)).any():
        calibration = calibrate(result.presence[both], labels[both], signature=result.signature)
    rows = {row["system"]: row for row in result.system_rows()}
    references = result.references or [None] * len(result.units)
    return {
        "percent": f"{100 * result.confidence:g} %",
        "signature": result.signature,
        "notes": notes[:-1],
        "groups": next((note for note in notes if "share a group" in note), ""),
        "systems": [
            {**rows[name], "clipped": result.clipped.get(name), "inputs": list(values)}
            for name, values in zip(result.systems, result.values, strict=True)
        ],
        "order": result.order,
        "bounds": BOUNDS if calibration is None else verdict_bounds(calibration),
        "inputs": [
            {**entry.to_json(), "references": own or None}
            for entry, own in zip(result.units, references, strict=True)
        ],
        "presence": _scaled(result.presence, 1000),
        "labels": None if labels is None else _scaled(labels, 2),
        "texts": result.summaries,
        "evidence": _evidence(result),
        "pairs": _pairs(result),
        "tags": result.tags,
        "calibration": calibration and {
            "bins": [[b.predicted, b.observed, b.pairs] for b in calibration.bins if b.pairs],
            "pairs": calibration.pairs, "auc": calibration.auc, "brier": calibration.brier,
            "constant": calibration.brier_constant,
        },
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
    return [
        [
            [*e.span, e.conflict, cut(", ".join(e.missing), 200)] if e.sentence >= 0 else 0
            for e in row
        ]
        for row in result.evidence
    ]


def _scaled(values: FloatArray, by: int) -> IntArray:
    whole = np.where(np.isnan(values), -1.0, np.rint(np.nan_to_num(values) * by))
    return whole.astype(np.int64)


def _pairs(result: Any) -> list[list[Any]] | None:
    """The matrix of differences, best system first: [difference, significant] or None."""
    order = result.order
    if len(order) < 2 or np.isnan(system_means(result.values)).any():
        return None
    values = result.values[order]
    places = np.array(list(combinations(range(len(order)), 2)))
    p = adjust_p_values(flip_p_values(values, places), "holm")
    cells: list[list[Any]] = [[None] * len(order) for _ in order]
    for (i, j), clear in zip(places.tolist(), (p < 1 - result.confidence).tolist(), strict=True):
        difference = mean_of_scored(values[i] - values[j])
        cells[i][j], cells[j][i] = [difference, clear], [-difference, clear]
    return cells
