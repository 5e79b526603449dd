"""The four scores of nuggets of a scored set of systems, by a judge and by people, as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from litepyramid.scoring.pyramid import NUGGET_SCORES, UnitLayout, nugget_scores
from litepyramid.stats import system_means
from litepyramid.tables import Cell, Column, Table
from litepyramid.text import counted
from litepyramid.types import FloatArray, InputUnits

_SIDES = {"judge": "", "people": "human_"}


def nugget_measures(
    presence: FloatArray,
    units: Sequence[InputUnits],
    labels: FloatArray | None = None,
    label_units: Sequence[InputUnits] | None = None,
) -> dict[str, FloatArray]:
    """`nugget_scores` of (N, U) presence, and as ``human_…`` of labels: (N, M) by name.

    Those of units none of which says how important it is are left out.
    """
    found: dict[str, FloatArray] = {}
    for start, values, own in (("", presence, units), ("human_", labels, label_units)):
        if values is not None and own and (layout := UnitLayout.of(own)).vital is not None:
            scores = nugget_scores(values, layout)
            found |= {start + name: score for name, score in scores.items()}
    return found


def nugget_table(
    measures: Mapping[str, FloatArray],
    systems: Sequence[str],
    units: Sequence[InputUnits],
    order: Sequence[int],
) -> list[Table]:
    """One row per system and side, the systems in that order; no table without measures."""
    means = {name: system_means(values) for name, values in measures.items()}
    rows: list[tuple[Cell, ...]] = [
        (systems[i], by, *(float(means[start + name][i]) for name in NUGGET_SCORES))
        for i in order
        for by, start in _SIDES.items()
        if start + NUGGET_SCORES[0] in means
    ]
    names = ("system", "by", *NUGGET_SCORES)
    columns = tuple(Column(name, name.replace("_", " ")) for name in names)
    notes = ["Strict: only labels of 1; for the judge, presence of .75 or more."]
    none = sum(all(unit.importance != "vital" for unit in entry.units) for entry in units)
    if none:
        said = counted(none, "input has", "inputs have")
        notes.append(f"{said} no vital nugget and a vital score of 0.")
    title = "Nugget scores, mean over inputs"
    return [Table(title, columns, tuple(rows), tuple(notes))] if rows else []
