"""Each system in two runs: its tested difference, by input and by group of inputs."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from litepyramid.data.door import id_of, opened
from litepyramid.data.headers import meaning
from litepyramid.errors import InputError
from litepyramid.scoring.fact_changes import FactChange, fact_changes
from litepyramid.scoring.inference import TestedDifference, as_differences
from litepyramid.scoring.runs import RunPair, names_of
from litepyramid.stats import EQUAL_WITHIN
from litepyramid.tables import hidden
from litepyramid.text import counted, cut, written
from litepyramid.types import FloatArray, Names

_Group = TypeVar("_Group", str, float)
_FEW_VALUES = 6  # of a column of numbers that are groups as they are


@dataclass(frozen=True)
class InputChange:
    """One input of a system: both scores, and its share of the system's difference."""

    input: str
    old: float
    new: float
    difference: float
    share: float | None


@dataclass(frozen=True, kw_only=True)
class GroupChange(TestedDifference):
    """A system on the inputs of one group; p_holm is over all systems and groups."""

    group: str


@dataclass(frozen=True, kw_only=True)
class SystemChange(TestedDifference):
    """One system in the baseline (`old`) and in a new run, over the inputs scored in
    both.

    Attributes:
        system: The system's name in the new run; in the baseline it is `old_system`.
        score: The new run's own score, over all its inputs.
        vanished: The inputs that only the baseline has a score of.
        better: How many inputs score more than in the baseline; `worse` score less.
        lost: Facts lost, worst input first.
        gained: Facts gained, best input first.
        texts: By input both texts, where facts were lost or gained.
    """

    run: str
    system: str
    old_system: str
    old: float
    new: float
    score: float
    vanished: Names
    better: int
    worse: int
    lost: tuple[FactChange, ...]
    gained: tuple[FactChange, ...]
    by_input: tuple[InputChange, ...]
    by_group: tuple[GroupChange, ...] = ()
    texts: Mapping[str, tuple[str, str]] = hidden(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """The system, and what it was called in the baseline if that is another
        name."""
        if self.system == self.old_system:
            return self.system

        return f"{self.system} (was {self.old_system})"

    @property
    def interval(self) -> str:
        """The difference with its interval, for people."""
        ends = f"[{written(self.low)}, {written(self.high)}]"
        return f"{written(self.difference)} {ends}"

    @property
    def p_value(self) -> str:
        """The corrected p-value, for people."""
        return "p < .001" if self.p_holm < 0.001 else f"p = {written(self.p_holm)}"

    @property
    def measured(self) -> str:
        """The difference with its interval and p, for people."""
        return f"{self.interval}, {self.p_value}"


def system_changes(
    run: str,
    runs: RunPair,
    groups: Mapping[str, str] | None,
    bootstrap: Mapping[str, Any],
) -> list[SystemChange]:
    """The change of each system of one run, p-values not yet corrected."""
    old, new = runs.old, runs.new
    differences = new.scores - old.scores
    if np.isnan(differences).all(axis=1).any():
        raise InputError(
            f"a system of run '{run}' has no score", expected="one shared input"
        )

    # Corrected later, together with those of the other runs.
    tests = as_differences(differences, **bootstrap)
    by_group = {}
    for group, columns in _columns(runs, groups).items():
        by_group[group] = as_differences(differences[:, columns], **bootstrap)

    changes = []
    for n, system in enumerate(new.facts.systems):
        row = differences[n]
        # An input that one run did not score says nothing of the change.
        scored = np.flatnonzero(~np.isnan(row)).tolist()
        lost = fact_changes(runs, system, lost=True)
        gained = fact_changes(runs, system, lost=False)

        own_groups = []
        for group, entries in by_group.items():
            if entries[n]["inputs"]:
                own_groups.append(GroupChange(group=group, **entries[n]))

        changes.append(
            SystemChange(
                run=run,
                system=system,
                old_system=old.names[system],
                old=float(old.scores[n, scored].mean()),
                new=float(new.scores[n, scored].mean()),
                score=new.run.scores[system],
                vanished=_vanished(runs, system),
                better=int((row > EQUAL_WITHIN).sum()),
                worse=int((row < -EQUAL_WITHIN).sum()),
                lost=lost,
                gained=gained,
                by_input=_by_input(runs, n, row, scored),
                by_group=tuple(own_groups),
                texts=_texts(runs, system, {fact.input for fact in (*lost, *gained)}),
                **tests[n],
            )
        )

    return changes


def _vanished(runs: RunPair, system: str) -> Names:
    """The inputs of a system that only the old run has a score of."""
    of_runs = []
    for side in (runs.old, runs.new):
        row = side.run.values[side.run.systems.index(side.names[system])]
        of_runs.append({*compress(side.run.inputs, ~np.isnan(row))})
    return tuple(sorted(of_runs[0] - of_runs[1]))


def _by_input(
    runs: RunPair, row: int, differences: FloatArray, scored: list[int]
) -> tuple[InputChange, ...]:
    """Each scored input's part of the difference; a share only where there is one."""
    total = float(differences[scored].sum())
    changes = []

    for m in scored:
        difference = float(differences[m])
        changes.append(
            InputChange(
                input=runs.units.inputs[m],
                old=float(runs.old.scores[row, m]),
                new=float(runs.new.scores[row, m]),
                difference=difference,
                # A share of nothing would be noise.
                share=difference / total if abs(total) > EQUAL_WITHIN else None,
            )
        )

    return tuple(changes)


def _texts(runs: RunPair, system: str, inputs: set[str]) -> dict[str, tuple[str, str]]:
    """Both texts of some inputs; none where a run was saved without them."""
    texts = {}
    for name in sorted(inputs):
        before = runs.old.text(system, name)
        now = runs.new.text(system, name)
        if before is not None and now is not None:
            texts[name] = before, now
    return texts


def _columns(runs: RunPair, groups: Mapping[str, str] | None) -> dict[str, list[int]]:
    """The places of each group's inputs."""
    if groups is None:
        return {}

    columns: dict[str, list[int]] = {}
    for place, name in enumerate(runs.units.inputs):
        if group := groups.get(name):
            columns.setdefault(group, []).append(place)

    if not columns:
        raise InputError(
            "no input of the runs has a group", expected="groups of their inputs"
        )

    return {name: columns[name] for name in groups.values() if name in columns}


def read_groups(by: Any) -> dict[str, str]:
    """The group of each input: a mapping, or ``FILE:COLUMN`` of a table with a column
    `input`. Groups come by name, those of numbers by size.

    Numbers of more than six values are cut into thirds.
    """
    if isinstance(by, Mapping):
        return _by_group({str(name): str(group) for name, group in by.items()})

    # A path may hold colons too: the last one counts.
    path, _, column = str(by).rpartition(":")
    if not path:
        raise InputError(
            f"'{cut(by)}' names no groups",
            expected="FILE:COLUMN, or a dict from input to group",
        )

    cells = _column(path, column)
    try:
        # Labels stay as they are; only numbers are cut into ranges.
        numbers = {name: float(value) for name, value in cells.items()}
    except ValueError:
        return _by_group(cells)

    numbers = _by_group(numbers)
    # A column of a few numbers, such as years, is a column of names.
    if len(set(numbers.values())) <= _FEW_VALUES:
        return {name: cells[name] for name in numbers}
    return _thirds(numbers, column)


def _by_group(groups: Mapping[str, _Group]) -> dict[str, _Group]:
    return dict(sorted(groups.items(), key=lambda item: item[1]))


def _column(path: str, column: str) -> dict[str, str]:
    """The cells of a table's column by input; empty ones left out."""
    found = opened(Path(path), "groups")
    ids = [name for name in found.columns if meaning(name) == "input"]
    if not ids or column not in found.columns:
        raise InputError(
            f"no column '{column if ids else 'input'}'",
            path=path,
            expected=f"FILE:COLUMN, with input and one of {names_of(found.columns)}",
        )

    groups: dict[str, str] = {}
    for row in found.rows or ():
        cell = row.cells.get(column)
        if cell is None:
            continue
        name = str(id_of(row.cells.get(ids[0])))
        if groups.setdefault(name, str(cell)) != str(cell):
            raise InputError(
                f"'{cut(name)}' is in '{cut(groups[name])}' and in '{cut(cell)}'",
                path=path,
                line=row.line,
                expected=f"one {column} of each input",
            )
    return groups


def _thirds(numbers: Mapping[str, float], column: str) -> dict[str, str]:
    # Thirds of the inputs: as many in each, whatever the numbers are.
    ends = np.quantile([*numbers.values()], [1 / 3, 2 / 3], method="lower")
    low, high = ends.tolist()
    labels = (
        f"{column} up to {low:g}",
        f"{column} above {low:g}, up to {high:g}",
        f"{column} above {high:g}",
    )
    places = np.searchsorted(ends, [*numbers.values()]).tolist()
    return {name: labels[n] for name, n in zip(numbers, places, strict=True)}


def without_group(runs: RunPair, groups: Mapping[str, str] | None) -> list[str]:
    """A note on the inputs that have no group; none without groups."""
    if not groups:
        return []

    number = sum(entry.input not in groups for entry in runs.units)
    if not number:
        return []
    return [f"{counted(number, 'input has', 'inputs have')} no group."]
