"""The embedded example: 12 short news references, their SCUs, four systems, correct
labels.

Written for the project. The systems: ``abstractive`` retells the reference, ``lead``
opens like it and goes on with other facts, ``offtopic`` shares the topic and no fact,
``swapped`` negates or swaps the facts. MIT, like the code.
"""

import shutil
from importlib.resources import as_file, files
from pathlib import Path

from litepyramid.data.data import Data, load
from litepyramid.disk import new_folder


def load_example() -> Data:
    """Reads the shipped example: SCUs, summaries, labels and references.

    Example:
        >>> example = load_example()
        >>> len(example.references), example.systems
        (12, ('abstractive', 'lead', 'offtopic', 'swapped'))
    """
    with as_file(files("litepyramid.embedded") / "example") as folder:
        return load(
            folder / "summaries",
            folder / "scus.jsonl",
            labels=folder / "labels",
            references=folder / "references.jsonl",
        )


def save_example(folder: str | Path) -> Path:
    """Copies the example's files into a new folder, to try the commands on.

    Raises:
        InputError: Something is there already, or the folder cannot be written.
    """
    goal = Path(folder)
    with (
        as_file(files("litepyramid.embedded") / "example") as source,
        new_folder(goal) as new,
    ):
        shutil.copytree(source, new, dirs_exist_ok=True)
    return goal
