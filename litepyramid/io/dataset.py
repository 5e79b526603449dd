"""One labelled data set, as every reader of data sets gives it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from litepyramid.types import (
    InputReferences,
    InputUnits,
    SystemLabels,
    SystemSummaries,
    fingerprint,
    unit_hashes,
)


@dataclass(frozen=True, slots=True)
class Dataset:
    """One labelled data set, ready for scoring, fine-tuning and cross-validation.

    Attributes:
        name: What it is called in results.
        scus: Human units of every input.
        summaries: One entry a system, inputs as in `scus`.
        labels: Human presence labels of the systems.
        references: Reference summaries, if the data set holds them.
        stus: The authors' extracted units, if the data set holds them.
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
    def hashes(self) -> dict[str, str]:
        """What names its units, inputs, summaries and labels in a signature."""
        return unit_hashes(self.scus) | {
            "summaries_sha": fingerprint([s.system, *s.texts] for s in self.summaries),
            "labels_sha": fingerprint([s.system, *s.labels] for s in self.labels),
        }

    @property
    def inputs(self) -> tuple[str, ...]:
        """The ids of the inputs."""
        return tuple(entry.input for entry in self.scus)

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems."""
        return tuple(entry.system for entry in self.summaries)
