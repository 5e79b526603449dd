"""The embedded example: 12 short news references, their SCUs, four systems, correct labels.

Written for the project. The systems: ``abstractive`` retells the reference, ``lead`` opens like it
and goes on with other facts, ``offtopic`` shares the topic and no fact, ``swapped`` negates or
swaps the facts. MIT, like the code.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

from litepyramid.files import new_folder
from litepyramid.io.coerce import as_labels, as_references, as_summaries, as_units
from litepyramid.types import InputReferences, InputUnits, SystemLabels, SystemSummaries


@dataclass(frozen=True, slots=True)
class Example:
    """The shipped example, as the readers give it."""

    references: tuple[InputReferences, ...]
    scus: tuple[InputUnits, ...]
    summaries: tuple[SystemSummaries, ...]
    labels: tuple[SystemLabels, ...]


def load_example() -> Example:
    """Reads the shipped example.

    Example:
        >>> example = load_example()
        >>> len(example.references), [system.system for system in example.summaries]
        (12, ['abstractive', 'lead', 'offtopic', 'swapped'])
    """
    with as_file(files("litepyramid.embedded") / "example") as folder:
        scus = as_units(folder / "scus.jsonl")
        names = [entry.input for entry in scus]
        return Example(
            tuple(as_references(folder / "references.jsonl")),
            tuple(scus),
            tuple(as_summaries([folder / "summaries"], names)),
            tuple(as_labels([folder / "labels"], scus)),
        )


def save_example(folder: str | Path) -> Path:
    """Copies the example's files into a new folder, to try the commands on.

    Raises:
        InputError: Something is there already, or the folder cannot be written.
    """
    goal = Path(folder)
    with as_file(files("litepyramid.embedded") / "example") as source, new_folder(goal) as new:
        shutil.copytree(source, new, dirs_exist_ok=True)
    return goal
