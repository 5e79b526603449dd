"""A long run's pieces, each with random numbers of its own, so that a stopped run goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.errors import InputError
from litepyramid.io.journal import Journal
from litepyramid.progress import bar


def piece_rng(seed: int, *names: str) -> np.random.Generator:
    """The generator of one piece of a run: it depends on the seed and the piece's names alone.

    Raises:
        InputError: The seed is negative.

    Example:
        >>> piece_rng(1, "input 7").random() == piece_rng(1, "input 7").random()
        True
    """
    if seed < 0:
        raise InputError(f"seed {seed}", expected="0 or more")
    words = [len(names)]
    for name in names:
        data = name.encode()
        words += [len(data), *data]
    return np.random.default_rng([seed, *words])


def run_pieces(
    path: str | Path | None,
    settings: Mapping[str, Any],
    keys: Sequence[str],
    make: Callable[[str], Any],
    *labels: str,
) -> list[Any]:
    """The value of every piece, in the keys' order; those that the journal holds are not made.

    Args:
        path: The journal's file, if one is kept.
        settings: See `Journal`.
        keys: The pieces' names.
        make: What computes a piece.
        labels: What the progress bar says: what is done, and what the pieces are.
    """
    with Journal(path, settings) as journal, bar(len(keys), *labels) as shown:
        for key in keys:
            if key not in journal.done:
                journal.add(key, make(key))
            shown.update()
        return [journal.done[key] for key in keys]
