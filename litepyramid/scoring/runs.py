"""Two runs side by side: what they share, system by system, input by input, unit by
unit."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from litepyramid.errors import InputError
from litepyramid.judges.base import Evidence
from litepyramid.scoring.comparable import differences
from litepyramid.scoring.pyramid import UnitLayout
from litepyramid.scoring.result import ScoreResult
from litepyramid.text import counted, cut
from litepyramid.types import FloatArray, InputUnits, Names, unit_order

_NAMED = 5  # names in a message

Pairs = list[tuple[int, int]]
"""Places in the old run and in the new one."""


@dataclass(frozen=True)
class Side:
    """One run, cut to what is shared: C systems, M inputs in the order of their ids, U
    units."""

    systems: Names
    presence: FloatArray
    scores: FloatArray
    texts: Sequence[Sequence[str]] | None
    evidence: Sequence[Sequence[Evidence]] | None


@dataclass(frozen=True)
class AlignedRuns:
    """Two runs side by side.

    Attributes:
        units: The M shared inputs with their shared units.
        numbers: U pairs: the place of each unit's input, and its number in the old run,
            from 1.
        sides: The old run and the new one.
        judges: How the two were made, where that differs.
        notes: What is not shared.
    """

    units: tuple[InputUnits, ...]
    numbers: Pairs
    sides: tuple[Side, Side]
    judges: list[str]
    notes: list[str]

    @property
    def values(self) -> list[Any]:
        """What names both runs in a hash, in whatever order systems and units come."""
        places = []
        start = 0
        for entry in self.units:
            places += [start + place for place in unit_order(entry)]
            start += len(entry.units)

        values = []
        for side in self.sides:
            presence = side.presence[:, places].tolist()
            rows = zip(side.systems, presence, side.scores.tolist(), strict=True)
            values.append(sorted(rows))

        return values


@dataclass(frozen=True)
class _SharedUnits:
    """The inputs and units of both runs; `differing` inputs have others too."""

    units: list[InputUnits]
    numbers: Pairs
    inputs: Pairs
    cells: Pairs
    differing: list[str]
    only_old: int
    only_new: int


def align_runs(
    old: ScoreResult,
    new: ScoreResult,
    pairs: Sequence[str] = (),
    *,
    other_units: bool,
    other_judges: bool,
) -> AlignedRuns:
    """Puts two runs side by side.

    Units are the same if text, weight and importance are. Where some are not shared,
    scores are computed anew from those that are.

    Args:
        old: The baseline.
        new: The run to compare with it.
        pairs: Systems as OLD=NEW; else one against one, or those of one name.
        other_units: Whether some units may differ.
        other_judges: Whether the judge or its settings may differ.

    Raises:
        InputError: What may not differ does, or nothing is shared.
    """
    # The likeliest mistake first: two judges make every fact a change.
    judges = _differences(old, new, allowed=other_judges)
    systems = _pairs(old.systems, new.systems, pairs)
    shared = _shared_units(old, new)

    if shared.differing and not other_units:
        raise InputError(
            "the runs' units or questions differ on "
            f"{counted(len(shared.differing), 'input')}: {names_of(shared.differing)}",
            expected="runs over the same units",
            hint="To compare the units that both have, insist: --across-judges.",
        )

    if not shared.units:
        what = "unit" if shared.differing else "input"
        raise InputError(
            f"the two runs share no {what}", expected=f"runs over the same {what}s"
        )

    sides = _side(old, 0, systems, shared), _side(new, 1, systems, shared)
    inputs = counted(len(shared.units), "input")
    units = counted(len(shared.cells), "unit")
    notes = [
        f"{inputs} and {units} are in both runs.",
        *_left_out("system", "old", old.systems, sides[0].systems),
        *_left_out("system", "new", new.systems, sides[1].systems),
        *_left_out("input", "old", sorted(old.inputs), new.inputs),
        *_left_out("input", "new", sorted(new.inputs), old.inputs),
    ]

    if shared.differing:
        notes.append(
            f"{shared.only_old} units only in the old run and {shared.only_new} only "
            f"in the new one, left out: {names_of(shared.differing)}."
        )

    return AlignedRuns(
        tuple(shared.units),
        shared.numbers,
        sides,
        judges,
        notes,
    )


def _shared_units(old: ScoreResult, new: ScoreResult) -> _SharedUnits:
    """What both runs have, inputs in the order of their ids."""
    old_starts = old.layout.offsets.tolist()
    new_starts = new.layout.offsets.tolist()
    new_places = {entry.input: m for m, entry in enumerate(new.units)}
    old_places = {entry.input: m for m, entry in enumerate(old.units)}

    units: list[InputUnits] = []
    numbers = Pairs()
    inputs = Pairs()
    cells = Pairs()
    differing = []
    only_old = only_new = 0

    # By id, so that the order of neither file changes a number.
    for name in sorted(old_places.keys() & new_places.keys()):
        m = old_places[name]
        n = new_places[name]
        old_units = _places(old.units[m])
        new_units = _places(new.units[n])
        keys = [key for key in old_units if key in new_units]

        only_old += len(old_units) - len(keys)
        only_new += len(new_units) - len(keys)
        # The same unit, asked after another question, is another judgement.
        asked_otherwise = old.units[m].question != new.units[n].question
        if max(len(old_units), len(new_units)) > len(keys) or asked_otherwise:
            differing.append(name)

        chosen = tuple([old.units[m].units[old_units[key]] for key in keys])
        if not any(unit.weight > 0 for unit in chosen):
            continue  # nothing that could be scored

        for key in keys:
            numbers.append((len(units), old_units[key] + 1))
            old_cell = old_starts[m] + old_units[key]
            cells.append((old_cell, new_starts[n] + new_units[key]))

        inputs.append((m, n))
        units.append(replace(old.units[m], units=chosen))

    return _SharedUnits(
        units,
        numbers,
        inputs,
        cells,
        differing,
        only_old,
        only_new,
    )


def _places(entry: InputUnits) -> dict[tuple[Any, ...], int]:
    """The place of each unit by what makes it one; the second of the same text is
    another one."""
    times_seen = Counter[Any]()
    places = {}
    for place, unit in enumerate(entry.units):
        key = (unit.text, unit.weight, unit.importance)
        places[*key, times_seen[key]] = place
        times_seen[key] += 1
    return places


def _side(run: ScoreResult, which: int, systems: Pairs, shared: _SharedUnits) -> Side:
    """One of the runs (0 is the old one), cut to what is shared."""
    rows = [pair[which] for pair in systems]
    columns = [pair[which] for pair in shared.inputs]
    cells = [pair[which] for pair in shared.cells]

    presence = run.presence[np.ix_(rows, cells)]
    scores = run.values[np.ix_(rows, columns)]
    # A score over fewer units is another score.
    if shared.differing:
        layout = UnitLayout.of(shared.units)
        scores = run.rule.apply(presence, layout, run.seed)[0]

    names = tuple([run.systems[n] for n in rows])
    return Side(
        names,
        presence,
        scores,
        _chosen(run.summaries, rows, columns),
        _chosen(run.evidence, rows, cells),
    )


def _chosen(
    table: Sequence[Sequence[Any]] | None, rows: Sequence[int], columns: Sequence[int]
) -> list[list[Any]] | None:
    """Some rows and columns of a table, if there is one."""
    if table is None:
        return None
    chosen = []
    for n in rows:
        chosen.append([table[n][m] for m in columns])
    return chosen


def _left_out(
    what: str, which: str, names: Sequence[str], used: Collection[str]
) -> list[str]:
    """A note on the names that only one run has; none if there are none."""
    only = [name for name in names if name not in used]
    if not only:
        return []

    many = counted(len(only), what)
    return [f"{many} only in the {which} run, left out: {names_of(only)}."]


def names_of(names: Sequence[str]) -> str:
    """Names for a message: the first ones, and how many more there are."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(cut(name, 60) for name in names[:_NAMED]) + more


def _differences(old: ScoreResult, new: ScoreResult, *, allowed: bool) -> list[str]:
    """What differs in how two runs were made, as a note; refused unless `allowed`."""
    changed = differences(old.signature, new.signature)
    versions = []
    if old.signature.version != new.signature.version:
        both = f"{old.signature.version} and {new.signature.version}"
        versions.append(f"The runs were made by versions {both} of litepyramid.")
    if not changed:
        return versions

    told = "; ".join(changed.values())
    # Two rules are two scales: nothing that insisting could compare.
    if "rule" in changed:
        raise InputError(
            f"the runs are scored by different rules ({told})", expected="one rule"
        )

    if not allowed:
        hint = "To compare them all the same, insist: --across-judges."
        if {"judge", "revision"} & {*changed}:
            hint += " To compare the judges: litepyramid judge drift OLD NEW."
        raise InputError(
            f"the runs were not made in the same way ({told})",
            expected="the same judge and settings",
            hint=hint,
        )

    return [*versions, f"The judge may be the difference: {told}."]


def _pairs(old: Sequence[str], new: Sequence[str], pairs: Sequence[str]) -> Pairs:
    """Places of the systems to compare."""
    if pairs:
        return [_pair(old, new, str(text)) for text in pairs]

    if len(old) == len(new) == 1:
        return [(0, 0)]

    same = [(i, new.index(name)) for i, name in enumerate(old) if name in new]
    if not same:
        raise InputError(
            f"no system is in both runs ({names_of(old)}; {names_of(new)})",
            expected="systems of the same names",
            hint="Name what belongs together: --pair OLD=NEW.",
        )

    return same


def _pair(old: Sequence[str], new: Sequence[str], text: str) -> tuple[int, int]:
    """The places of OLD=NEW; names may hold equals signs too."""
    # Every sign is tried, since a name may hold one.
    for sign in re.finditer("=", text):
        before = text[: sign.start()]
        now = text[sign.end() :]
        if before in old and now in new:
            return old.index(before), new.index(now)

    raise InputError(
        f"the pair '{cut(text)}'",
        expected=f"OLD=NEW, of {names_of(old)} and of {names_of(new)}",
    )
