"""The layout of ZB21's repository: a folder that holds a whole data set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from litepyramid.errors import InputError
from litepyramid.files import read_lines, stem
from litepyramid.types import Names

_FILES = {
    "units": ("units.jsonl", "SCUs.txt"),
    "references": ("references.jsonl", "references.txt"),
    "stus": ("stus.jsonl", "STUs.txt"),
    "ids": ("ids.txt",),
}
_FOLDS = {
    "example_folds": ("by_examples", "*.id"),
    "system_folds": ("by_systems", "*.sys"),
}


class Layout(NamedTuple):
    """The sources of a folder, the ids of its inputs, and its fold files by their
    kind."""

    sources: dict[str, Any]
    ids: Path | None
    folds: dict[str, list[Path]]


def layout_of(folder: Path) -> Layout:
    """What a folder in this layout holds.

    ``SCUs.txt``, ``summaries/`` and ``labels/`` must be there; ``STUs.txt``,
    ``references.txt``, ``ids.txt``, ``by_examples/fold*.id`` and
    ``by_systems/fold*.sys`` may. In place of a line file there may be JSON Lines:
    ``units.jsonl``, ``stus.jsonl``, ``references.jsonl``; any of them may be compressed
    (``.gz``).
    """
    sources: dict[str, Any] = {}
    for part in ("summaries", "labels"):
        if not (folder / part).is_dir():
            raise InputError(f"has no folder {part}", path=folder)
        sources[part] = folder / part
    for role, names in _FILES.items():
        for name in names:
            for file in (folder / name, folder / f"{name}.gz"):
                if role not in sources and file.is_file():
                    sources[role] = file

    folds = {}
    for kind, (inside, pattern) in _FOLDS.items():
        files = [*(folder / inside).glob(pattern)]
        files += (folder / inside).glob(f"{pattern}.gz")
        # fold2 comes before fold10.
        folds[kind] = sorted(files, key=lambda file: (len(stem(file)), stem(file)))
    return Layout(sources, sources.pop("ids", None), folds)


def read_folds(files: Sequence[Path], names: Names) -> tuple[Names, ...]:
    """The held-out names of each fold; inputs without ids go by their number.

    Raises:
        InputError: A name is none of those there are, or is held out twice.
    """
    folds = []
    seen: set[str] = set()
    width = len(names[0]) if names else 0
    for file in files:
        fold = []
        for line, text in enumerate(read_lines(file), start=1):
            name = text.strip()
            if name not in names:
                name = name.zfill(width)
            if name not in names or name in seen:
                raise InputError(
                    f"'{name}' is in two folds, or in no other part of the data",
                    path=file,
                    line=line,
                )
            seen.add(name)
            fold.append(name)
        folds.append(tuple(fold))
    return tuple(folds)
