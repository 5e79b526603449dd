"""Summaries that are too many to hold: where each one stands in its file, read when needed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from litepyramid.errors import InputError
from litepyramid.files import file_type
from litepyramid.io.inputs import read_systems
from litepyramid.types import InputUnits, IntArray


@dataclass(frozen=True)
class SystemIndex:
    """Where one system's summaries stand.

    Attributes:
        system: Its name, the file's stem.
        path: The file, absolute.
        starts: (M,) byte offset of each input's line, in the order of the units' inputs.
        key: Where a line's JSON object has the summary; None if the line is the summary.
    """

    system: str
    path: Path
    starts: IntArray
    key: str | None = None

    def read(self, first: int, last: int) -> list[str]:
        """The summaries of inputs `first` to `last`, the latter left out."""
        return read_texts(self.path, self.starts[first:last], self.key)


@dataclass(frozen=True)
class PackedUnits:
    """The units of all inputs in three arrays, which processes of one machine share.

    Attributes:
        text: All units' UTF-8 bytes, one after the other.
        ends: (U,) where each unit ends in `text`.
        offsets: (M + 1,) the first unit of each input, and the number of units.
    """

    text: NDArray[np.uint8]
    ends: IntArray
    offsets: IntArray

    @classmethod
    def of(cls, units: Sequence[InputUnits]) -> PackedUnits:
        """Packs the units of every input, in order."""
        texts = [unit.text.encode() for entry in units for unit in entry.units]
        counts = [0, *(len(entry.units) for entry in units)]
        return cls(
            np.frombuffer(b"".join(texts), dtype=np.uint8),
            np.cumsum([len(text) for text in texts], dtype=np.int64),
            np.cumsum(counts, dtype=np.int64),
        )

    def texts(self, index: int) -> list[str]:
        """The units of the input at `index`.

        Example:
            >>> from litepyramid.types import Unit
            >>> PackedUnits.of([InputUnits("a", (Unit("x"), Unit("é")))]).texts(0)
            ['x', 'é']
        """
        found = []
        for unit in range(int(self.offsets[index]), int(self.offsets[index + 1])):
            start = int(self.ends[unit - 1]) if unit else 0
            found.append(self.text[start : int(self.ends[unit])].tobytes().decode())
        return found


def index_summaries(
    paths: Sequence[str | Path],
    inputs: Sequence[str],
    ids: Sequence[str] | None = None,
    columns: Mapping[str, str] | None = None,
) -> Iterator[SystemIndex]:
    """Checks every system's file as `read_summaries` does and keeps where its lines begin.

    One file's texts are held at a time.

    Raises:
        InputError: As `read_summaries`; or a file is not one of lines that can be read alone.
    """
    for system, path, entries in read_systems(paths, "summary", inputs, ids, columns):
        if file_type(path) != "file":
            raise InputError(
                "is a pipe, and the engine 'ray' reads each summary when it is needed",
                path=path,
                hint="Write it to a file.",
            )
        lines = np.array([entry.line for entry in entries], dtype=np.int64) - 1
        with path.open("rb") as file:
            is_json = file.read(200).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{"
        key = (columns or {}).get("summary", "summary") if is_json else None
        index = SystemIndex(system, path.resolve(), _line_starts(path)[lines], key)
        try:
            alone = index.read(0, len(lines)) == [entry.values[0].strip() for entry in entries]
        except (ValueError, KeyError):
            alone = False
        if not alone:
            raise InputError(
                "a table or a compressed file for the engine 'ray'",
                path=path,
                expected="JSON Lines or a file of lines, of which each can be read alone",
            )
        yield index


def read_texts(path: Path, starts: Sequence[int] | IntArray, key: str | None) -> list[str]:
    """The summaries whose lines begin at these bytes."""
    texts: list[str] = []
    with path.open("rb") as file:
        for start in starts:
            file.seek(int(start))
            line = file.readline().decode("utf-8")
            texts.append((line if key is None else json.loads(line)[key]).strip())
    return texts


def _line_starts(path: Path) -> IntArray:
    """Where every line begins; a byte order mark is no part of the first."""
    with path.open("rb") as file:
        starts = np.cumsum([0, *(len(line) for line in file)], dtype=np.int64)
        file.seek(0)
        if file.read(3) == b"\xef\xbb\xbf":
            starts[0] = 3
    return starts
