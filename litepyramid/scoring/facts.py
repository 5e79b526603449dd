"""What the report page draws of a result: each fact in each summary, scores, differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from litepyramid.judges.evaluate import CalibrationResult, calibrate
from litepyramid.scoring.compare import compare_matrix
from litepyramid.scoring.inference import group_letters
from litepyramid.stats import system_means
from litepyramid.text import cut, legible
from litepyramid.types import FloatArray

if TYPE_CHECKING:
    from litepyramid.scoring.changes import ChangeResult
    from litepyramid.scoring.result import ScoreResult

BOUNDS = (0.25, 0.75)
"""A fact of at most this presence is missing, of at least that present, without labels to tell."""

_SURE = 0.8  # share of labels that must say so for a verdict


def page_data(result: ScoreResult) -> dict[str, Any]:
    """What the page's script draws; presences are in thousandths, labels in halves, -1 is none."""
    table, human, means = result.to_tables()[0], result.human_scores, result.scores
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
                "score": _number(means[name]),
                "low": _number(result.intervals[i][0]),
                "high": _number(result.intervals[i][1]),
                "letters": group_letters(result.groups[i]),
                "human": _number(human.get(name)),
                "inputs": [_number(value, 3) for value in result.values[i]],
            }
            for i, name in enumerate(result.systems)
        ],
        "order": result.order,
        "bounds": BOUNDS if calibration is None else verdict_bounds(calibration),
        "inputs": [
            {
                "id": entry.input,
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
        "calibration": None if calibration is None else _calibration_data(calibration),
    }  # fmt: skip


def change_data(result: ChangeResult) -> dict[str, Any]:
    """What the page of changes draws; a text that both runs share is there once."""
    several = len(result.runs) > 1
    facts = []
    for n, change in enumerate(result.changes):
        for kind in (change.lost, change.gained):
            for fact in kind:
                texts = change.texts.get(fact.input, ("", ""))
                spans = [
                    [_utf16(text, end) for end in span]
                    for text, span in zip(texts, fact.spans, strict=True)
                ]
                numbers = (round(fact.old, 3), round(fact.new, 3))
                facts.append([n, fact.input, fact.unit, fact.text, *numbers, *spans])
    return {
        "title": result.headline,
        "failures": list(result.failures),
        "signature": str(result.signature),
        "notes": [legible(note) for note in result.notes],
        "runs": [result.baseline, *result.runs],
        "systems": [
            {
                "name": f"{c.run}: {c.name}" if several else c.name,
                "old": _number(c.old), "new": _number(c.new), "difference": _number(c.difference),
                "low": _number(c.low), "high": _number(c.high), "p": _number(c.p_holm),
                "clear": c.p_holm < result.alpha, "better": c.better, "worse": c.worse,
                "count": c.inputs, "lost": len(c.lost), "gained": len(c.gained),
                "inputs": {
                    e.input: [_number(e.difference, 4), _number(e.share, 4)] for e in c.by_input
                },
                "groups": [
                    [g.group, g.inputs, *map(_number, (g.difference, g.low, g.high, g.p_holm))]
                    for g in c.by_group
                ],
                "texts": {i: [a, None if a == b else b] for i, (a, b) in c.texts.items()},
            }
            for c in result.changes
        ],
        "facts": facts,
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


def _number(value: float | None, digits: int = 5) -> float | None:
    return None if value is None or np.isnan(value) else round(float(value), digits)


def _evidence(result: ScoreResult) -> list[list[Any]] | None:
    """Per system and unit [start, end, conflict, words missing], or 0 where nothing was found."""
    if result.evidence is None or result.summaries is None:
        return None
    inputs = [m for m, entry in enumerate(result.units) for _ in entry.units]
    return [
        [
            [*(_utf16(texts[m], end) for end in e.span), e.conflict, _words(e.missing)]
            if e.sentence >= 0
            else 0
            for m, e in zip(inputs, row, strict=True)
        ]
        for texts, row in zip(result.summaries, result.evidence, strict=True)
    ]


def _utf16(text: str, index: int) -> int:
    """A place in a text as a browser counts: a character beyond U+FFFF is two.

    Example:
        >>> _utf16("a\U0001f600b", 2)
        3
    """
    return len(text[:index].encode("utf-16-le", "surrogatepass")) // 2


def _scaled(values: FloatArray, by: int) -> list[list[int]]:
    whole = np.where(np.isnan(values), -1.0, np.rint(np.nan_to_num(values) * by))
    return [[int(x) for x in row] for row in whole]


def _words(missing: Sequence[str]) -> str:
    return f"Not in that sentence: {cut(', '.join(missing), 200)}" if missing else ""


def _pairs(result: ScoreResult) -> dict[str, Any] | None:
    """The matrix of differences, best system first: [difference, significant] or None."""
    order = result.order
    if len(order) < 2 or np.isnan(system_means(result.values)).any():
        return None
    comparison = compare_matrix(result.matrix, samples=40)  # the fewest: no interval is shown
    ranks = {result.systems[i]: n for n, i in enumerate(order)}
    cells: list[list[Any]] = [[None] * len(order) for _ in order]
    for pair in comparison.pairs:
        first, second = ranks[pair.first], ranks[pair.second]
        clear = bool(pair.p_holm < comparison.alpha)
        cells[first][second] = [round(pair.difference, 4), clear]
        cells[second][first] = [round(-pair.difference, 4), clear]
    note = next(note for note in comparison.to_tables()[0].notes if "significantly" in note)
    return {"cells": cells, "note": f"* differs significantly. {note}"}


def _calibration(result: ScoreResult, labels: FloatArray) -> CalibrationResult | None:
    """The judge against the labels, each unit's weight ignored."""
    both = ~np.isnan(labels) & ~np.isnan(result.presence)
    if not both.any():
        return None
    return calibrate(result.presence[both], labels[both], signature=result.signature)


def _calibration_data(calibration: CalibrationResult) -> dict[str, Any]:
    return {
        "bins": [
            [_number(b.predicted), _number(b.observed), b.pairs]
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
