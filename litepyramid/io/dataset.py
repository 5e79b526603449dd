"""One labelled data set, as every reader of data sets gives it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from litepyramid.tables import Column, Result, Table
from litepyramid.text import counted
from litepyramid.types import (
    InputReferences,
    InputUnits,
    Signature,
    SystemLabels,
    SystemSummaries,
    fingerprint,
    unit_hashes,
)


@dataclass(frozen=True, slots=True)
class Dataset(Result):
    """One data set, ready for scoring; with labels for fine-tuning and cross-validation too.

    Attributes:
        name: Its name in results.
        scus: Human units of every input; empty if there are none.
        summaries: One entry per system, inputs as in `scus`.
        labels: Human presence labels of the systems; empty if there are none.
        references: Reference summaries, if the data set has them.
        stus: The authors' extracted units, if the data set has them.
        example_folds: Held-out inputs of each fold, if the authors give folds by examples.
        system_folds: Held-out systems of each fold, if they give folds by systems.
        left_out: What was left out while reading, with its count.
    """

    name: str
    scus: tuple[InputUnits, ...]
    summaries: tuple[SystemSummaries, ...]
    labels: tuple[SystemLabels, ...]
    references: tuple[InputReferences, ...] | None = None
    stus: tuple[InputUnits, ...] | None = None
    example_folds: tuple[tuple[str, ...], ...] = ()
    system_folds: tuple[tuple[str, ...], ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def units(self) -> tuple[InputUnits, ...]:
        """The human units, or else the extracted ones."""
        return self.scus or self.stus or ()

    @property
    def signature(self) -> Signature:
        """The data set's hashes."""
        return Signature.of(data=self.name, **self.hashes)

    @property
    def hashes(self) -> dict[str, str]:
        """What names its units, inputs, summaries and labels in a signature."""
        return unit_hashes(self.scus) | {
            "summaries_sha": fingerprint([s.system, *s.texts] for s in self.summaries),
            "labels_sha": fingerprint([s.system, *s.labels] for s in self.labels),
        }

    @property
    def inputs(self) -> tuple[str, ...]:
        """The ids of the inputs."""
        return tuple(entry.input for entry in self.units or self.references or ())

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems."""
        return tuple(entry.system for entry in self.summaries)

    def to_tables(self) -> Sequence[Table]:
        """How much there is of each kind."""
        units = {"SCUs": self.scus, "STUs": self.stus or ()}
        rows = [
            ("inputs", len(self.inputs)),
            *((kind, sum(len(entry.units) for entry in own)) for kind, own in units.items()),
            ("references", sum(len(entry.references) for entry in self.references or ())),
            ("systems", len(self.systems)),
            ("systems with labels", len(self.labels)),
            *((f"left out: {what}", count) for what, count in self.left_out.items()),
        ]
        title = (
            f"{self.name}: {counted(len(self.inputs), 'input')}, "
            f"{counted(len(self.systems), 'system')}"
        )
        columns = (Column("what"), Column("number"))
        return [Table(title, columns, tuple(rows), (str(self.signature),))]
