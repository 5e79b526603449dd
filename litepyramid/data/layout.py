"""The layout of ZB21's repository: a folder that holds a whole data set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from litepyramid.errors import InputError
from litepyramid.files import read_text, split_lines, stem
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


def layout_of(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The sources and the ids and folds of a folder in this layout.

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

    rest = {"ids": sources.pop("ids", None)}
    folds = {}
    for name, (inside, pattern) in _FOLDS.items():
        folds[name] = _folds(folder / inside, pattern)
    return sources, rest | folds


def _folds(folder: Path, pattern: str) -> tuple[Names, ...]:
    """The held-out names of each fold file."""
    folds = []
    files = [*folder.glob(pattern), *folder.glob(f"{pattern}.gz")]
    # fold2 comes before fold10.
    for file in sorted(files, key=lambda file: (len(stem(file)), stem(file))):
        lines = split_lines(read_text(file))
        folds.append(tuple([line.strip() for line in lines if line.strip()]))
    return tuple(folds)
