"""System summaries: one file per system, or tables of several systems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import IO, overload

import numpy as np

from litepyramid.io.inputs import read_systems
from litepyramid.types import SystemSummaries


def read_summaries(
    paths: Sequence[str | Path],
    inputs: Sequence[str] | None = None,
    ids: Sequence[str] | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    store: IO[bytes] | None = None,
) -> list[SystemSummaries]:
    """Reads the summaries of every system.

    A JSON line is ``{"input": id, "summary": "text"}``, a row of a table has these columns; both
    may name their ``system``, else it is the file's stem. A line of a line file is one summary. An
    empty summary is legal.

    Args:
        paths: Files, or folders of files.
        inputs: The inputs that each system must have summarised, and their order in the result;
            without them, those of the first system.
        ids: Ids of line files' inputs; without them a line file's lines follow `inputs`.
        columns: Own column names, by known column (``io.rows.COLUMNS``).
        store: A file to keep the texts in, in place of memory (`StoredTexts`).

    Raises:
        InputError: A missing file, another number of lines than inputs, an unknown or a missing
            id, a system twice … with file and line.
    """
    found: list[SystemSummaries] = []
    names = tuple(inputs or ())
    for system, _, entries in read_systems(paths, "summary", inputs, ids, columns):
        names = names or tuple(entry.input for entry in entries)
        texts: Sequence[str] = tuple(entry.values[0].strip() for entry in entries)
        texts = texts if store is None else StoredTexts(store, texts)
        found.append(SystemSummaries(system, names, texts))
    return found


class StoredTexts(Sequence[str]):
    """Texts in a file, read when needed.

    Args:
        file: Open to read and write; the texts are put at its end.
        texts: The texts.

    Example:
        >>> from tempfile import TemporaryFile
        >>> with TemporaryFile() as file:
        ...     StoredTexts(file, ["It rained.", "", "Ça va."])[1:]
        ('', 'Ça va.')
    """

    def __init__(self, file: IO[bytes], texts: Sequence[str]) -> None:
        data = [text.encode("utf-8", "surrogatepass") for text in texts]
        self._file, start = file, file.seek(0, 2)
        file.write(b"".join(data))
        self._ends = np.cumsum([start, *map(len, data)])

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if not isinstance(index, slice):
            at = range(len(self))[index]
            return self[at : at + 1][0]
        first, last, _ = index.indices(len(self))
        ends = (self._ends[first : max(first, last) + 1] - self._ends[first]).tolist()
        self._file.seek(int(self._ends[first]))
        data = self._file.read(ends[-1])
        return tuple(data[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(ends))

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(self[n : n + 1_000] for n in range(0, len(self), 1_000))
