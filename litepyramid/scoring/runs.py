"""What two runs share, put side by side: systems, inputs, units; what they do not is named."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from litepyramid.errors import InputError
from litepyramid.judges.base import Evidence
from litepyramid.scoring.pyramid import UnitLayout
from litepyramid.scoring.result import ScoreResult
from litepyramid.text import counted, cut
from litepyramid.types import FloatArray, InputUnits, Unit

# Fields of signatures in which runs may differ: units and inputs are compared themselves.
_FREE = {
    "units", "units_sha", "inputs_sha", "summaries_sha", "labels_sha", "label_units_sha",
    "references_sha", "presence_sha", "truncated", "missing", "samples", "confidence", "seed",
}  # fmt: skip
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Side:
    """One run, cut to what is shared: C systems, M inputs in the order of their ids, U units."""

    systems: tuple[str, ...]
    presence: FloatArray
    scores: FloatArray
    texts: list[list[str]] | None
    evidence: list[list[Evidence]] | None


@dataclass(frozen=True, slots=True)
class Aligned:
    """Two runs side by side.

    Attributes:
        units: The M shared inputs with their shared units.
        numbers: U pairs: the place of each unit's input, and its number in the old run, from 1.
        sides: The old run and the new one.
        judges: How the two were made, where that differs.
        notes: What is not shared.
    """

    units: tuple[InputUnits, ...]
    numbers: list[tuple[int, int]]
    sides: tuple[Side, Side]
    judges: list[str]
    notes: list[str]


def align_runs(
    old: ScoreResult, new: ScoreResult, pairs: Sequence[str], *, units_too: bool, judges_too: bool
) -> Aligned:
    """Puts two runs side by side; InputError if what may not differ does, or nothing is shared.

    Units are the same if text, weight and importance are. Where some are not shared, and
    `units_too`, scores are computed anew from those that are. `pairs` are systems as OLD=NEW; else
    one against one, or those of one name.
    """
    judges = _differences(old, new, insist=judges_too)
    rows, notes = _pairs(old.systems, new.systems, pairs)
    entries = [{entry.input: entry for entry in run.units} for run in (old, new)]
    units: list[InputUnits] = []
    numbers: list[tuple[int, int]] = []
    cells: tuple[list[int], list[int]] = ([], [])
    differing = []
    starts = [dict(zip(r.inputs, UnitLayout.of(r.units).offsets, strict=False)) for r in (old, new)]
    lacking = [0, 0]
    for name in sorted(entries[0].keys() & entries[1].keys()):
        places = [_places(own[name].units) for own in entries]
        shared = [key for key in places[0] if key in places[1]]
        lacking = [n + len(own) - len(shared) for n, own in zip(lacking, places, strict=True)]
        asked = {own[name].question for own in entries}
        if max(map(len, places)) > len(shared) or len(asked) > 1:
            differing.append(name)
        chosen = tuple(entries[0][name].units[places[0][key]] for key in shared)
        if any(unit.weight > 0 for unit in chosen):
            numbers += [(len(units), places[0][key] + 1) for key in shared]
            units.append(replace(entries[0][name], units=chosen))
            for side in (0, 1):
                cells[side].extend(starts[side][name] + places[side][key] for key in shared)
    if differing and not units_too:
        raise InputError(
            f"the runs' units or questions differ on {counted(len(differing), 'input')}: "
            f"{names_of(differing)}",
            expected="runs over the same units",
            hint="To compare the units that both have, insist: --across-judges.",
        )
    if not units:
        raise InputError("the two runs share no input", expected="runs over the same inputs")
    shared_units = counted(len(numbers), "unit")
    notes.insert(0, f"{counted(len(units), 'input')} and {shared_units} are in both runs.")
    for side, which in enumerate(("old", "new")):
        if only := sorted(entries[side].keys() - entries[1 - side].keys()):
            inputs = counted(len(only), "input")
            notes.append(f"{inputs} only in the {which} run, left out: {names_of(only)}.")
    if differing:
        notes.append(
            f"{lacking[0]} units only in the old run and {lacking[1]} only in the new one, left "
            f"out: {names_of(differing)}."
        )
    one, two = (
        _side(run, own, units, columns, anew=bool(differing))
        for run, own, columns in zip((old, new), zip(*rows, strict=True), cells, strict=True)
    )
    return Aligned(tuple(units), numbers, (one, two), judges, notes)


def _side(
    run: ScoreResult,
    rows: Sequence[int],
    units: Sequence[InputUnits],
    cells: list[int],
    *,
    anew: bool,
) -> Side:
    """The rows of a run, on the shared inputs and units."""
    places = {name: n for n, name in enumerate(run.inputs)}
    columns = [places[entry.input] for entry in units]
    presence = run.presence[np.ix_(rows, cells)]
    scores = run.values[np.ix_(rows, columns)]
    if anew:
        seed = int(dict(run.signature.fields).get("seed", 0))
        scores = run.rule.apply(presence, UnitLayout.of(units), seed)[0]
    texts, evidence = run.summaries, run.evidence
    return Side(
        tuple(run.systems[i] for i in rows), presence, scores,
        None if texts is None else [[texts[i][m] for m in columns] for i in rows],
        None if evidence is None else [[evidence[i][u] for u in cells] for i in rows],
    )  # fmt: skip


def _places(units: Sequence[Unit]) -> dict[tuple[Any, ...], int]:
    """The place of each unit by what makes it one; the second of the same text is another one."""
    places: dict[tuple[Any, ...], int] = {}
    for place, unit in enumerate(units):
        number = 0
        while (key := (unit.text, unit.weight, unit.importance, number)) in places:
            number += 1
        places[key] = place
    return places


def names_of(names: Sequence[str]) -> str:
    """Names for a message: the first ones, and how many more there are."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(cut(name, 60) for name in names[:_NAMED]) + more


def _differences(old: ScoreResult, new: ScoreResult, *, insist: bool) -> list[str]:
    """What differs in how two runs were made, as a note; refused unless `insist`."""
    one, two = dict(old.signature.fields), dict(new.signature.fields)
    fields = [k for k in {**one, **two} if k not in _FREE and one.get(k) != two.get(k)]
    told = "; ".join(f"{k}: {one.get(k, 'none')} → {two.get(k, 'none')}" for k in fields)
    if "rule" in fields:
        raise InputError(f"the runs are scored by different rules ({told})", expected="one rule")
    if fields and not insist:
        raise InputError(
            f"the runs were not made in the same way ({told})",
            expected="the same judge and settings",
            hint="To compare them all the same, insist: --across-judges. To compare the judges: "
            "--judge-drift.",
        )
    return [f"The judge may be the difference: {told}."] if fields else []


def _pairs(
    old: Sequence[str], new: Sequence[str], pairs: Sequence[str]
) -> tuple[list[tuple[int, int]], list[str]]:
    """Places of the systems to compare, and notes on those left out."""
    chosen = []
    for text in [pairs] if isinstance(pairs, str) else pairs:
        if not isinstance(text, str):
            raise InputError(f"the pair {text!r}", expected="texts such as OLD=NEW")
        splits = ((text[: m.start()], text[m.end() :]) for m in re.finditer("=", text))
        fits = [(old.index(a), new.index(b)) for a, b in splits if a in old and b in new]
        if not fits:
            expected = f"OLD=NEW, of {names_of(old)} and of {names_of(new)}"
            raise InputError(f"the pair '{text}'", expected=expected)
        chosen.append(fits[0])
    if not chosen and len(old) == len(new) == 1:
        chosen = [(0, 0)]
    chosen = chosen or [(i, new.index(name)) for i, name in enumerate(old) if name in new]
    if not chosen:
        raise InputError(
            f"no system is in both runs ({names_of(old)}; {names_of(new)})",
            expected="systems of the same names",
            hint="Name what belongs together: --pair OLD=NEW.",
        )
    notes = []
    for side, (which, names) in enumerate((("old", old), ("new", new))):
        used = {pair[side] for pair in chosen}
        if only := [name for n, name in enumerate(names) if n not in used]:
            systems = counted(len(only), "system")
            notes.append(f"{systems} only in the {which} run, left out: {names_of(only)}.")
    return chosen, notes
