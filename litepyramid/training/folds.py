"""Folds: what is held out, and what a judge is trained on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from litepyramid.errors import InputError
from litepyramid.io.dataset import Dataset
from litepyramid.text import counted

By = Literal["examples", "systems"]


@dataclass(frozen=True, slots=True)
class Fold:
    """One held-out part of a data set, by number from 1: what is scored, and what is learned."""

    number: int
    inputs: tuple[str, ...]
    systems: tuple[str, ...]
    train_inputs: tuple[str, ...]
    train_systems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LabelledItems:
    """Training data of a judge: (summary, units) pairs, and a label for each of their units."""

    items: tuple[tuple[str, tuple[str, ...]], ...]
    labels: tuple[tuple[float, ...], ...]

    @property
    def pairs(self) -> int:
        """The number of labelled (summary, unit) pairs."""
        return sum(len(row) for row in self.labels)


def make_folds(dataset: Dataset, by: By, folds: int = 5, seed: int = 12345) -> tuple[Fold, ...]:
    """The folds of a data set: the authors' where it has as many, else a seeded random split.

    By examples, a fold holds all systems' summaries of its inputs; by systems, all summaries of
    its systems (ZB21 §5.1).
    """
    if folds < 2:
        raise InputError(counted(folds, "fold"), expected="at least 2")
    names, published = (
        (dataset.inputs, dataset.example_folds)
        if by == "examples"
        else (dataset.systems, dataset.system_folds)
    )
    if len(names) < folds:
        raise InputError(
            f"{counted(folds, 'fold')} of {counted(len(names), by[:-1])}", expected="fewer folds"
        )
    parts: Sequence[Sequence[str]] = published
    if len(published) != folds:
        order = np.random.default_rng(seed).permutation(len(names))
        by_id = sorted(names)
        parts = [[by_id[i] for i in sorted(part)] for part in np.array_split(order, folds)]
    result = []
    for number, part in enumerate(map(set, parts), start=1):
        test = tuple(name for name in names if name in part)
        train = tuple(name for name in names if name not in part)
        result.append(
            Fold(number, test, dataset.systems, train, dataset.systems)
            if by == "examples"
            else Fold(number, dataset.inputs, test, dataset.inputs, train)
        )
    return tuple(result)


def labelled_items(
    dataset: Dataset, inputs: Sequence[str] | None = None, systems: Sequence[str] | None = None
) -> LabelledItems:
    """The labelled summaries of some inputs and systems (all by default), input by input."""
    chosen_inputs = set(dataset.inputs if inputs is None else inputs)
    chosen_systems = set(dataset.systems if systems is None else systems)
    labels = {e.system: e.labels for e in dataset.labels if e.system in chosen_systems}
    summaries = [s for s in dataset.summaries if s.system in labels]
    if not summaries:
        raise InputError(f"no labelled system of {dataset.name} to learn from")
    indices = [i for i, entry in enumerate(dataset.scus) if entry.input in chosen_inputs]
    rows = [(i, s) for i in indices for s in summaries if labels[s.system][i]]
    return LabelledItems(
        tuple((s.texts[i], dataset.scus[i].texts) for i, s in rows),
        tuple(labels[s.system][i] for i, s in rows),
    )


def join_items(parts: Sequence[LabelledItems]) -> LabelledItems:
    """Several sets of labelled items as one, in that order."""
    return LabelledItems(
        tuple(item for part in parts for item in part.items),
        tuple(row for part in parts for row in part.labels),
    )
