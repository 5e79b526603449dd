"""Results of ``litepyramid score`` as columns: numpy's npz, read an array at a time."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.checked import check_shape, parse_json
from litepyramid.errors import InputError
from litepyramid.files import atomic_write, file_type
from litepyramid.types import FloatArray

_EXPECTED = "what `litepyramid score --format npz` writes"
_BROKEN = (OSError, EOFError, ValueError, NotImplementedError, zipfile.BadZipFile, zlib.error)
_DOCUMENT = {
    "name": str,
    "systems": [{"system": str}],
    "units": [{"input": str, "units": [object]}],
    "signature": {str: str},
}


@dataclass(frozen=True)
class Columns:
    """A result in columns.

    Attributes:
        path: The file.
        document: All but the scores: what the JSON of the same result holds besides ``scores``.
        measures: Names of the (N, M) arrays beside ``score`` and ``human``.
    """

    path: Path
    document: dict[str, Any]
    measures: tuple[str, ...]

    @property
    def systems(self) -> tuple[str, ...]:
        """N names."""
        return tuple(row["system"] for row in self.document["systems"])

    @property
    def inputs(self) -> tuple[str, ...]:
        """M ids."""
        return tuple(entry["input"] for entry in self.document["units"])

    def read(self, name: str) -> FloatArray | None:
        """One array: (N, M) ``score``, ``human`` or a measure; (N, U) ``presence``, ``labels``.

        Returns:
            None if the file has no such array.

        Raises:
            InputError: It is broken, or of another shape.
        """
        units = {"presence": "units", "labels": "label_units"}.get(name)
        width = len(self.inputs)
        if units is not None:
            own = self.document.get(units, self.document["units"])
            width = sum(len(entry["units"]) for entry in own)
        try:
            with np.load(self.path, allow_pickle=False) as arrays:
                if name not in arrays:
                    return None
                values = np.asarray(arrays[name], dtype=np.float64)
        except _BROKEN as error:
            raise InputError(f"is broken ({error})", path=self.path, expected=_EXPECTED) from None
        if values.shape != (len(self.systems), width):
            raise InputError(
                f"'{name}' is of the shape {values.shape}",
                path=self.path,
                expected=f"{(len(self.systems), width)}",
            )
        return values


def write_columns(
    path: str | Path, document: Mapping[str, Any], arrays: Mapping[str, FloatArray | None]
) -> None:
    """Writes a result in columns, all or nothing; `read_columns` reads it.

    Args:
        path: The file.
        document: What is no array, as JSON holds it.
        arrays: float64 arrays by name; None leaves one out.
    """
    held = {name: values for name, values in arrays.items() if values is not None}
    text = json.dumps(document, ensure_ascii=False).encode()
    with atomic_write(path, binary=True) as file:
        np.savez(file, document=np.frombuffer(text, dtype=np.uint8), **held)  # type: ignore[arg-type]


def read_columns(path: str | Path) -> Columns | None:
    """A result that `write_columns` wrote, its arrays still unread; None if it is no npz file.

    Raises:
        InputError: It is an npz file of something else.
    """
    path = Path(path)
    if file_type(path) != "file" or not zipfile.is_zipfile(path):
        return None
    try:
        with np.load(path, allow_pickle=False) as arrays:
            text = np.asarray(arrays["document"], dtype=np.uint8).tobytes().decode()
            others = {*arrays.files} - {"document", "score", "human", "presence", "labels"}
    except (KeyError, *_BROKEN):
        raise InputError("is no saved result", path=path, expected=_EXPECTED) from None
    document = parse_json(text, path=path, expected=_EXPECTED)
    check_shape(document, _DOCUMENT, what="no saved result", path=path)
    return Columns(path, document, tuple(sorted(others)))
