"""Summaries that are too many to hold: where each one stands in its file, read when needed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from litepyramid.errors import InputError
from litepyramid.io.inputs import files_in, is_jsonl, read_matched
from litepyramid.types import InputUnits, IntArray


@dataclass(frozen=True)
class SystemIndex:
    """Where one system's summaries stand.

    Attributes:
        system: Its name, the file's stem.
        path: The file, absolute.
        starts: (M,) byte offset of each input's line, in the order of the units' inputs.
        jsonl: Whether a line is a JSON object.
    """

    system: str
    path: Path
    starts: IntArray
    jsonl: bool

    def read(self, first: int, last: int) -> list[str]:
        """The summaries of inputs `first` to `last`, the latter left out."""
        return read_texts(self.path, self.starts[first:last], self.jsonl)


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
    paths: Sequence[str | Path], inputs: Sequence[str], ids: Sequence[str] | None = None
) -> Iterator[SystemIndex]:
    """Checks every system's file as `read_summaries` does and keeps where its lines begin.

    One file's texts are held at a time.

    Raises:
        InputError: As `read_summaries`.
    """
    for path in files_in(paths, "summaries"):
        rows = read_matched(path, inputs, ids, what="summary")
        jsonl = is_jsonl(path)
        lines = np.array([row.line for row in rows], dtype=np.int64) - 1
        for row in rows if jsonl else ():
            _json_summary(row.value, path, row.line)
        yield SystemIndex(path.stem, path.resolve(), _line_starts(path)[lines], jsonl)


def read_texts(path: Path, starts: Sequence[int] | IntArray, jsonl: bool) -> list[str]:
    """The summaries whose lines begin at these bytes."""
    texts = []
    with path.open("rb") as file:
        for start in starts:
            file.seek(int(start))
            line = file.readline().decode("utf-8")
            texts.append(_json_summary(json.loads(line), path, None) if jsonl else line.strip())
    return texts


def _json_summary(value: object, path: Path, line: int | None) -> str:
    text = value.get("summary") if isinstance(value, dict) else None
    if not isinstance(text, str):
        expected = '{"input": id, "summary": "text"}'
        raise InputError('no "summary"', path=path, line=line, expected=expected)
    return text.strip()


def _line_starts(path: Path) -> IntArray:
    """Where every line begins; a byte order mark is no part of the first."""
    with path.open("rb") as file:
        starts = np.cumsum([0, *(len(line) for line in file)], dtype=np.int64)
        file.seek(0)
        if file.read(3) == b"\xef\xbb\xbf":
            starts[0] = 3
    return starts
