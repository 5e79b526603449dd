"""A value for each unit in each system's summary, and the one place where two tables
meet.

The presence that a judge gives, the labels of people, probabilities of being drawn: all
are `Facts`. Systems and units are known by their names and stand in the order of these
from the door on. What belongs together in two tables is found in `aligned`, and nowhere
else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np

from litepyramid.data.records import Fact, Units
from litepyramid.errors import InputError
from litepyramid.identity import array_sha, fingerprint
from litepyramid.text import cut
from litepyramid.types import FloatArray, Names


@dataclass(frozen=True, eq=False)
class Facts:
    """Values of U units in the summaries of N systems.

    Attributes:
        systems: N names, in order.
        units: The units of M inputs, U in all.
        values: (N, U); NaN where there is none.
    """

    systems: Names
    units: Units
    values: FloatArray

    @classmethod
    def of(cls, cells: Mapping[tuple[str, Fact], float], units: Units) -> Self:
        """The table of the values that are there, by system and fact."""
        systems = tuple(sorted({system for system, _ in cells}))
        rows = {system: n for n, system in enumerate(systems)}
        columns = {fact: u for u, fact in enumerate(units.facts)}
        values = np.full((len(systems), len(columns)), np.nan)
        for (system, fact), value in cells.items():
            values[rows[system], columns[fact]] = value
        return cls(systems, units, values)

    @property
    def inputs(self) -> Names:
        """The M inputs, in order."""
        return self.units.inputs

    @property
    def keys(self) -> tuple[Names, tuple[Fact, ...]]:
        """What rows and columns are known by."""
        return self.systems, self.units.facts

    def of_system(self, system: str) -> FloatArray:
        """(U,) the values of one system."""
        values: FloatArray = self.values[self.systems.index(system)]
        return values

    def of_systems(self, systems: Names) -> Facts:
        """The rows of some systems, in order; NaN for one that is not here."""
        rows = np.full((len(systems), len(self.units.facts)), np.nan)
        for n, system in enumerate(systems):
            if system in self.systems:
                rows[n] = self.of_system(system)
        return replace(self, systems=systems, values=rows)

    def over(self, systems: Names, units: Units) -> Facts:
        """The values of these systems and units; NaN for one that is not here."""
        rows = {system: n for n, system in enumerate(self.systems)}
        columns = {fact: u for u, fact in enumerate(self.units.facts)}
        # The last row and column stand for what is missing.
        padded = np.pad(self.values, ((0, 1), (0, 1)), constant_values=np.nan)
        chosen = (
            [rows.get(system, -1) for system in systems],
            [columns.get(fact, -1) for fact in units.facts],
        )
        return Facts(systems, units, padded[np.ix_(*chosen)])

    def take(self, systems: Sequence[str], facts: Iterable[Fact]) -> Facts:
        """Some systems and units, each of which must be here."""
        units = self.units.take(facts)
        columns = {fact: u for u, fact in enumerate(self.units.facts)}
        rows = [self.systems.index(system) for system in systems]
        chosen = [columns[fact] for fact in units.facts]
        return Facts(tuple(systems), units, self.values[np.ix_(rows, chosen)])

    def of_inputs(self, inputs: Iterable[str]) -> Facts:
        """The units of some inputs alone."""
        return self.take(self.systems, self.units.of_inputs(inputs).facts)

    def renamed(self, names: Mapping[str, str]) -> Facts:
        """The same of systems with other names."""
        systems = [names.get(system, system) for system in self.systems]
        order = sorted(range(len(systems)), key=systems.__getitem__)
        return replace(self, systems=tuple(sorted(systems)), values=self.values[order])

    @property
    def sha(self) -> str:
        """What names the values in a signature, with the units that they are of."""
        return fingerprint([self.systems, self.units.sha, array_sha(self.values)])


class Keyed(Protocol):
    """A table whose systems and columns are known by keys."""

    @property
    def keys(self) -> tuple[Sequence[str], Sequence[Any]]:
        """The systems, and the keys of the columns, each in order."""
        ...

    def take(self, systems: Sequence[str], columns: Sequence[Any]) -> Self:
        """Some systems and columns, each of which must be here."""
        ...


Table = TypeVar("Table", bound=Keyed)


@dataclass(frozen=True, eq=False)
class Aligned(Generic[Table]):
    """Two tables over the same systems and columns, and what only one of them has.

    Attributes:
        one, other: What both have, in the same order.
        only_one, only_other: Systems, and keys of columns, that the other lacks.
    """

    one: Table
    other: Table
    only_one: tuple[Names, tuple[Any, ...]]
    only_other: tuple[Names, tuple[Any, ...]]


def aligned(one: Table, other: Table) -> Aligned[Table]:
    """What two tables have in common: the one place where two sources of values meet.

    Raises:
        InputError: No system, or no column, is in both.

    Example:
        >>> from litepyramid.data.records import InputUnits, Unit
        >>> units = Units.of([InputUnits("a", (Unit("It rained."), Unit("We left.")))])
        >>> one = Facts(("x", "y"), units, np.eye(2))
        >>> both = aligned(one, one.take(["y"], units.facts[1:]))
        >>> both.one.systems, both.one.values.tolist(), both.only_one[0]
        (('y',), [[1.0]], ('x',))
    """
    shared = []
    only_one = []
    only_other = []
    for ours, theirs in zip(one.keys, other.keys, strict=True):
        in_ours = set(ours)
        in_theirs = set(theirs)
        shared.append([key for key in ours if key in in_theirs])
        only_one.append(tuple([key for key in ours if key not in in_theirs]))
        only_other.append(tuple([key for key in theirs if key not in in_ours]))

    for what, keys, ours, theirs in zip(
        ("system", "input or unit"), shared, one.keys, other.keys, strict=True
    ):
        if not keys:
            names = [cut(str(next(iter(side), "none")), 60) for side in (ours, theirs)]
            raise InputError(
                f"no {what} is in both ({names[0]} …; {names[1]} …)",
                expected="the same names",
            )

    systems, columns = shared
    return Aligned(
        one.take(systems, columns),
        other.take(systems, columns),
        (only_one[0], only_one[1]),
        (only_other[0], only_other[1]),
    )
