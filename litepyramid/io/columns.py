"""Results of scoring as arrays in one npz file, read within bounds."""

import io
import math
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.checked import as_type, parse_json
from litepyramid.errors import InputError, reason
from litepyramid.files import atomic_write, file_type, jsonl_rows, split_lines
from litepyramid.io.coerce import units_from_json
from litepyramid.types import FloatArray, InputUnits

_TEXTS = ("result", "units", "label_units")
_MOST = 2**30  # bytes of all arrays, and of one that is read
_EXPECTED = "an npz file that 'litepyramid score' writes"


@dataclass(frozen=True, slots=True)
class _System:
    system: str


@dataclass(frozen=True, slots=True)
class _Document:
    name: str
    systems: tuple[_System, ...]
    inputs: tuple[str, ...]
    signature: dict[str, str]


@dataclass(frozen=True)
class Columns:
    """A result in columns: its JSON besides ``scores`` and units, its names, its arrays
    by name."""

    path: Path
    document: dict[str, Any]
    systems: tuple[str, ...]
    inputs: tuple[str, ...]
    arrays: Mapping[str, Any]

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the (N, M) arrays besides ``score`` and ``human``."""
        return tuple(
            sorted(
                self.arrays.keys() - {"score", "human", "presence", "labels", *_TEXTS}
            )
        )

    def presence(self) -> tuple[tuple[InputUnits, ...], FloatArray]:
        """The units that were scored, and the (N, U) presence of each."""
        units = self.units("units")
        values = self.read("presence", sum(len(entry.units) for entry in units))
        if values is None or tuple(entry.input for entry in units) != self.inputs:
            what = "has no presence of the units of each input"
            raise InputError(what, path=self.path, expected=_EXPECTED)
        return units, values

    def units(self, name: str) -> tuple[InputUnits, ...]:
        """The ``units`` that were scored, or the ``label_units``; none if they are the
        same."""
        lines = split_lines(_text(self.path, self.arrays.get(name)))
        rows = [row for _, row in jsonl_rows(self.path, lines)]
        return tuple(units_from_json(rows, self.path)) if rows else ()

    def read(self, name: str, width: int | None = None) -> FloatArray | None:
        """One array: (N, M) ``score``, ``human`` or a measure; (N, U) ``presence``,
        ``labels``."""
        if name not in self.arrays:
            return None
        values = self.arrays[name]
        shape = (len(self.systems), len(self.inputs) if width is None else width)
        if values.shape != shape or values.dtype != np.float64:
            what = f"'{name}' is of the shape {values.shape} and of {values.dtype}"
            raise InputError(what, path=self.path, expected=f"{shape} of float64")
        return values  # type: ignore[no-any-return]


def write_columns(
    path: str | Path,
    texts: Mapping[str, Iterable[str]],
    arrays: Mapping[str, FloatArray | None],
) -> None:
    """Writes a result in columns, all or nothing; `read_columns` reads it."""
    packed = {
        name: np.frombuffer(
            "".join(parts).encode("utf-8", "backslashreplace"), dtype=np.uint8
        )
        for name, parts in texts.items()
    }
    values = {name: array for name, array in arrays.items() if array is not None}
    with atomic_write(path, binary=True) as file:
        np.savez(file, **packed, **values)  # type: ignore[arg-type]


def read_columns(path: str | Path) -> Columns | None:
    """A result that `write_columns` wrote; None if the file is something else."""
    path = Path(path)
    if file_type(path) != "file" or not zipfile.is_zipfile(path):
        return None
    arrays = _arrays(path)
    document = parse_json(
        _text(path, arrays.get("result")), path=path, expected=_EXPECTED
    )
    about = as_type(_Document, document, what="not a saved result", path=path)
    return Columns(
        path, document, tuple(s.system for s in about.systems), about.inputs, arrays
    )


def _arrays(path: Path) -> dict[str, Any]:
    """The arrays of an npz file; how large they are is seen before they are read."""
    arrays = {}
    try:
        with zipfile.ZipFile(path) as file:
            members = file.infolist()
            if sum(member.file_size for member in members) > _MOST:
                raise ValueError("it announces more than 1 GB")
            for member in members:
                if member.compress_type not in (
                    zipfile.ZIP_STORED,
                    zipfile.ZIP_DEFLATED,
                ):
                    raise ValueError(f"'{member.filename}' is packed in an unknown way")
                with file.open(member) as part:
                    data = io.BytesIO(part.read(member.file_size + 1))
                arrays[member.filename.removesuffix(".npy")] = _array(data, member)
    except (
        OSError,
        EOFError,
        ValueError,
        zipfile.BadZipFile,
        zlib.error,
        RuntimeError,
    ) as error:
        what = f"is broken ({reason(error)})"
        raise InputError(what, path=path, expected=_EXPECTED) from None
    return arrays


def _array(data: io.BytesIO, member: zipfile.ZipInfo) -> Any:
    if np.lib.format.read_magic(data) != (1, 0):
        raise ValueError(f"'{member.filename}' is of an unknown version")
    shape, _, dtype = np.lib.format.read_array_header_1_0(data)
    size = dtype.itemsize * math.prod(shape)
    if dtype not in (np.float64, np.uint8) or size != member.file_size - data.tell():
        raise ValueError(f"'{member.filename}' announces {dtype} of the shape {shape}")
    data.seek(0)
    return np.lib.format.read_array(data, allow_pickle=False)


def _text(path: Path, array: Any) -> str:
    if array is None:
        return ""
    try:
        return str(array.tobytes().decode())
    except UnicodeDecodeError:
        raise InputError("a text is not UTF-8", path=path, expected=_EXPECTED) from None
