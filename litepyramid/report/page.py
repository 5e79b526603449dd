"""One self-contained HTML page of a result of `score`: which fact is in which summary, and why."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.errors import InputError
from litepyramid.files import atomic_write
from litepyramid.judges.calibration import calibrate
from litepyramid.pages import fill_page
from litepyramid.scoring.compare import compare_systems
from litepyramid.scoring.groups import group_letters
from litepyramid.scoring.result import ScoreResult
from litepyramid.scoring.seen import Seen
from litepyramid.stats import system_means
from litepyramid.tables import Table
from litepyramid.text import cut, legible
from litepyramid.types import FloatArray

LARGEST = 40_000_000
"""Characters of a page that browsers still open in a few seconds."""


def score_page(result: ScoreResult, path: str | Path | None = None) -> str:
    """The page of a result: systems, differences, facts by summary, calibration.

    Nothing is loaded from anywhere: styles, script and data are inside, and a content security
    policy allows its own script and styles by their hash and nothing else. The script makes no
    HTML of any text, so a hostile summary cannot do anything.

    Args:
        result: A result of `score`; with ``evidence=True`` the page shows the texts and where
            the judge found each unit.
        path: Write the page here, all or nothing.

    Raises:
        InputError: The page would be larger than `LARGEST`.
    """
    table = result.to_tables()[0]
    title = {"TITLE": escape(legible(table.title))}
    text = fill_page("litepyramid.report", "report", _data(result, table), title)
    # A lone surrogate cannot be written to a file.
    text = text.encode("utf-8", "replace").decode()
    if len(text) > LARGEST:
        raise InputError(
            f"a page of {len(text) / 1e6:.0f} MB",
            path=path,
            expected=f"at most {LARGEST / 1e6:.0f} MB, for a browser to open it",
            hint="Score only some inputs or systems for the page, or omit --evidence.",
        )
    if path is not None:
        with atomic_write(path) as file:
            file.write(text)
    return text


def _number(value: float | None, digits: int = 5) -> float | None:
    return None if value is None or np.isnan(value) else round(float(value), digits)


def _data(result: ScoreResult, table: Table) -> dict[str, Any]:
    """What the page's script draws; presences are in thousandths, labels in halves, -1 is none."""
    means = system_means(result.values)
    order = [int(i) for i in np.argsort(-means, kind="stable")]
    human = result.human_scores
    seen = result.seen
    inputs = []
    for m, entry in enumerate(result.units):
        units = [
            {
                "text": u.text, "weight": round(u.weight, 4), "kind": u.kind,
                "reference": u.reference, "sentence": u.sentence,
            }
            for u in entry.units
        ]  # fmt: skip
        references = seen.references[m] if seen is not None and seen.references else None
        inputs.append({"id": entry.input, "units": units, "references": references})
    labels = result.labels if result.label_units in (None, result.units) else None
    return {
        "percent": f"{100 * result.confidence:g} %",
        "signature": str(result.signature),
        "notes": [legible(note) for note in table.notes[:-1]],
        "groups": next((note for note in table.notes if "share a group" in note), ""),
        "systems": [
            {
                "name": name,
                "score": _number(means[i]),
                "low": _number(result.intervals[i][0]),
                "high": _number(result.intervals[i][1]),
                "letters": group_letters(result.groups[i]),
                "human": _number(human.get(name)),
            }
            for i, name in enumerate(result.systems)
        ],
        "order": order,
        "inputs": inputs,
        "presence": _scaled(result.presence, 1000),
        "labels": None if labels is None else _scaled(labels, 2),
        "texts": None if seen is None else seen.summaries,
        "evidence": None if seen is None else _evidence(result, seen),
        "pairs": _pairs(result, order),
        "calibration": None if labels is None else _calibration(result, labels),
    }


def _evidence(result: ScoreResult, seen: Seen) -> list[list[Any]]:
    """Per system and unit [start, end, conflict, words missing], or 0 where nothing was found."""
    place = [m for m, entry in enumerate(result.units) for _ in entry.units]
    return [
        [
            [*(_utf16(texts[m], end) for end in e.span), e.conflict, _words(e.missing)]
            if e.sentence >= 0
            else 0
            for m, e in zip(place, own, strict=True)
        ]
        for texts, own in zip(seen.summaries, seen.evidence, strict=True)
    ]


def _utf16(text: str, place: int) -> int:
    """A place in a text as a browser counts: a character beyond U+FFFF is two.

    Example:
        >>> _utf16("a\U0001f600b", 2)
        3
    """
    return len(text[:place].encode("utf-16-le", "surrogatepass")) // 2


def _scaled(values: Any, by: int) -> list[list[int]]:
    found = np.where(np.isnan(values), -1.0, np.rint(np.nan_to_num(values) * by))
    return [[int(x) for x in row] for row in found]


def _words(missing: tuple[str, ...]) -> str:
    return f"Not in that sentence: {cut(', '.join(missing), 200)}" if missing else ""


def _pairs(result: ScoreResult, order: list[int]) -> dict[str, Any] | None:
    """The matrix of differences, best system first: [difference, significant] or None."""
    if len(order) < 2 or np.isnan(system_means(result.values)).any():
        return None
    found = compare_systems(result.matrix, samples=40)  # the fewest: no interval is shown
    places = {result.systems[i]: n for n, i in enumerate(order)}
    cells: list[list[Any]] = [[None] * len(order) for _ in order]
    for pair in found.pairs:
        first, second = places[pair.first], places[pair.second]
        clear = bool(pair.p_holm < found.alpha)
        cells[first][second] = [round(pair.difference, 4), clear]
        cells[second][first] = [round(-pair.difference, 4), clear]
    note = next(note for note in found.to_tables()[0].notes if "significantly" in note)
    return {"cells": cells, "note": f"* differs significantly. {note}"}


def _calibration(result: ScoreResult, labels: FloatArray) -> dict[str, Any] | None:
    """The reliability table of the judge against the labels, each unit's weight ignored."""
    known = ~np.isnan(labels) & ~np.isnan(result.presence)
    if not known.any():
        return None
    found = calibrate(result.presence[known], labels[known], signature=result.signature)
    return {
        "bins": [
            [_number(b.predicted), _number(b.observed), b.pairs] for b in found.bins if b.pairs
        ],
        "said": (
            f"{found.pairs:,} labelled pairs. Area under the ROC curve {found.auc:.3f}, Brier "
            f"score {found.brier:.3f} (a constant mean: {found.brier_constant:.3f}). Dots "
            "on the dashed line mean calibrated presence; larger dots stand for more pairs."
        ),
    }
