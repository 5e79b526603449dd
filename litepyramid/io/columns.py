"""Results of ``litepyramid score`` in columns: a folder of arrays, an npz or a parquet file."""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np

from litepyramid.checked import check_shape, parse_json
from litepyramid.errors import InputError, require
from litepyramid.files import (
    TEMPORARY,
    atomic_write,
    file_type,
    jsonl_rows,
    read_text,
    split_lines,
    writing,
)
from litepyramid.io.units import units_from_json
from litepyramid.types import FloatArray, InputUnits

JOURNAL = "judged.jsonl"
_TEXTS = {"units": "units.jsonl", "label_units": "label_units.jsonl", "result": "result.json"}
_ARRAY = re.compile(r"(human|presence|labels|\w*score)\.npy")
_EXPECTED = "what `litepyramid score --format folder, npz or parquet` writes"
BROKEN = (
    *(OSError, EOFError, KeyError, ValueError, NotImplementedError),
    *(MemoryError, TokenError, zipfile.BadZipFile, zlib.error),
)
_DOCUMENT = {"name": str, "systems": [{"system": str}], "inputs": [str], "signature": {str: str}}


@dataclass(frozen=True)
class Columns:
    """A result in columns, read a column at a time.

    Attributes:
        path: The file or folder.
        document: What the JSON of the same result holds besides ``scores`` and units.
        names: Its arrays.
    """

    path: Path
    document: dict[str, Any]
    names: frozenset[str]
    _text: Callable[[str], str]
    _array: Callable[[str], Any]

    @property
    def systems(self) -> tuple[str, ...]:
        """N names."""
        return tuple(row["system"] for row in self.document["systems"])

    @property
    def inputs(self) -> tuple[str, ...]:
        """M ids."""
        return tuple(self.document["inputs"])

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the (N, M) arrays besides ``score`` and ``human``."""
        return tuple(sorted(self.names - {"score", "human", "presence", "labels"}))

    def presence(self) -> tuple[tuple[InputUnits, ...], FloatArray]:
        """The units that were scored, and the (N, U) presence of each.

        Raises:
            InputError: One of the two is missing or broken.
        """
        units = self.units("units")
        values = self.read("presence", sum(len(entry.units) for entry in units))
        if values is None or tuple(entry.input for entry in units) != self.inputs:
            raise InputError(
                "has no presence of the units of each input", path=self.path, expected=_EXPECTED
            )
        return units, values

    def units(self, name: str) -> tuple[InputUnits, ...]:
        """The ``units`` that were scored, or the ``label_units``; none if they are the same.

        Raises:
            InputError: They are broken.
        """
        with _broken(self.path):
            text = self._text(name)
        rows = [row for _, row in jsonl_rows(self.path, split_lines(text))]
        return tuple(units_from_json(rows, self.path))

    def read(self, name: str, width: int | None = None) -> FloatArray | None:
        """One array: (N, M) ``score``, ``human`` or a measure; (N, U) ``presence``, ``labels``.

        That of a folder is mapped into memory, and read where it is used.

        Args:
            name: Its name.
            width: U; None for M.

        Returns:
            None if there is no such array.

        Raises:
            InputError: It is broken, or of another shape.
        """
        if name not in self.names:
            return None
        with _broken(self.path):
            values = np.asanyarray(self._array(name), dtype=np.float64)
        shape = (len(self.systems), len(self.inputs) if width is None else width)
        if values.size == shape[0] * shape[1] and values.ndim == 1:
            values = values.reshape(shape)
        if values.shape != shape:
            raise InputError(
                f"'{name}' is of the shape {values.shape}", path=self.path, expected=f"{shape}"
            )
        return values


def write_columns(
    path: str | Path,
    form: str,
    texts: Mapping[str, Iterable[str]],
    arrays: Mapping[str, FloatArray | None],
) -> None:
    """Writes a result in columns, all or nothing; `read_columns` reads it.

    Args:
        path: The file; or the folder, new, empty, or of another result.
        form: ``folder``, ``npz`` or ``parquet``.
        texts: ``result``, a JSON object with ``systems`` and ``inputs``, and ``units``, perhaps
            ``label_units``, as lines of a unit file; each in pieces.
        arrays: (N, M) or (N, U) by name; None leaves one out.

    Raises:
        InputError: It cannot be written, or the folder holds something else.
        MissingExtraError: pyarrow is not installed, for parquet.
    """
    path, held = Path(path), {name: own for name, own in arrays.items() if own is not None}
    if form == "folder":
        return _write_folder(path, texts, held)
    whole = {
        name: "".join(parts).encode("utf-8", "backslashreplace") for name, parts in texts.items()
    }
    if form == "npz":
        packed = {name: np.frombuffer(text, dtype=np.uint8) for name, text in whole.items()}
        with atomic_write(path, binary=True) as file:
            np.savez(file, **packed, **held)  # type: ignore[arg-type]
        return None
    table = _parquet_table(whole, held)
    with atomic_write(path, binary=True) as file:
        require("pyarrow.parquet", extra="parquet", purpose="parquet").write_table(table, file)


def open_folder(path: str | Path) -> Path:
    """The folder, made if there is none, for a result to go into; what a killed run left is gone.

    Raises:
        InputError: It holds something that is not part of a result, or cannot be made.
    """
    path = Path(path)
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)
        for file in sorted(path.iterdir()):
            if file.name.startswith(TEMPORARY):
                file.unlink()
            elif not (_ARRAY.fullmatch(file.name) or file.name in {*_TEXTS.values(), JOURNAL}):
                raise InputError(
                    f"holds '{file.name}', which is not part of a result",
                    path=path,
                    expected="a new folder, or that of an earlier run",
                )
    return path


def _write_folder(
    path: Path, texts: Mapping[str, Iterable[str]], held: Mapping[str, FloatArray]
) -> None:
    """The result's JSON goes first and comes last: without it, a folder is unfinished."""
    open_folder(path)
    (path / _TEXTS["result"]).unlink(missing_ok=True)
    kept = {_TEXTS[name] for name in texts} | {f"{name}.npy" for name in held}
    if getattr(held["presence"], "filename", None) == (path / "presence.npy").resolve():
        kept.add(JOURNAL)  # judged here, and there as it should be
    for name, values in held.items():
        if name != "presence" or JOURNAL not in kept:
            with atomic_write(path / f"{name}.npy", binary=True) as file:
                np.save(file, values)
    for old in {file.name for file in path.iterdir()} - kept:
        (path / old).unlink()
    for name, own in sorted(texts.items(), key=lambda entry: entry[0] == "result"):
        with atomic_write(path / _TEXTS[name]) as file:
            file.writelines(own)


def _parquet_table(texts: Mapping[str, bytes], held: Mapping[str, FloatArray]) -> Any:
    """One row per system and input, in order; the texts are metadata."""
    arrow = require("pyarrow", extra="parquet", purpose="parquet")
    document = json.loads(texts["result"])
    inputs, systems = document["inputs"], [row["system"] for row in document["systems"]]
    number = np.arange(len(systems) * len(inputs), dtype=np.int32)
    columns = {
        "system": arrow.DictionaryArray.from_arrays(number // len(inputs), systems),
        "input": arrow.DictionaryArray.from_arrays(number % len(inputs), inputs),
    }
    for name, values in held.items():
        flat = arrow.array(np.ascontiguousarray(values).ravel(), from_pandas=True)
        if name in ("presence", "labels"):
            lines = texts.get({"labels": "label_units"}.get(name, name)) or texts["units"]
            sizes = [len(json.loads(line)["units"]) for line in lines.splitlines()]
            ends = np.cumsum([0, *sizes * len(systems)], dtype=np.int32)
            flat = arrow.ListArray.from_arrays(ends, flat)
        columns[name] = flat
    return arrow.table(columns).replace_schema_metadata(dict(texts))


def read_columns(path: str | Path) -> Columns | None:
    """A result that `write_columns` wrote, its arrays still unread; None if it is something else.

    Raises:
        InputError: It is a folder or file of such a form, but broken, or unfinished.
        MissingExtraError: pyarrow is not installed, for parquet.
    """
    path = Path(path)
    kind = file_type(path)
    if kind == "folder":
        if not (path / _TEXTS["result"]).exists():
            if (path / JOURNAL).exists():
                raise InputError(
                    "is an unfinished result", path=path, hint="Run the command again to go on."
                )
            return None
        parts = _folder_parts
    elif kind == "file" and zipfile.is_zipfile(path):
        parts = _npz_parts
    elif kind == "file" and _starts_with(path, b"PAR1"):
        parts = _parquet_parts
    else:
        return None
    with _broken(path):
        names, text, array = parts(path)
        document = parse_json(text("result"), path=path, expected=_EXPECTED)
    check_shape(document, _DOCUMENT, what="not a saved result", path=path)
    return Columns(path, document, frozenset(names) - {*_TEXTS}, text, array)


_Parts = tuple[Iterable[str], Callable[[str], str], Callable[[str], Any]]


def _folder_parts(path: Path) -> _Parts:
    def text(name: str) -> str:
        file = path / _TEXTS[name]
        return read_text(file) if file.exists() else ""

    def array(name: str) -> Any:
        return np.load(path / f"{name}.npy", mmap_mode="r", allow_pickle=False)

    return [file.stem for file in path.glob("*.npy")], text, array


def _npz_parts(path: Path) -> _Parts:
    def array(name: str) -> Any:
        with np.load(path, allow_pickle=False) as arrays:
            return arrays[name]

    with np.load(path, allow_pickle=False) as arrays:
        names = list(arrays.files)
    return names, lambda name: array(name).tobytes().decode() if name in names else "", array


def _parquet_parts(path: Path) -> _Parts:
    parquet = require("pyarrow.parquet", extra="parquet", purpose="parquet")
    schema = parquet.read_schema(path)
    texts = schema.metadata or {}

    def array(name: str) -> Any:
        column = parquet.read_table(path, columns=[name]).column(name).combine_chunks()
        flat = column.flatten() if name in ("presence", "labels") else column
        return flat.to_numpy(zero_copy_only=False)

    names = set(schema.names) - {"system", "input"}
    return names, lambda name: texts.get(name.encode(), b"").decode(), array


def _starts_with(path: Path, mark: bytes) -> bool:
    with writing(path), path.open("rb") as file:
        return file.read(len(mark)) == mark


@contextmanager
def _broken(path: Path) -> Iterator[None]:
    """Makes one clear error of whatever is wrong with a file of columns."""
    try:
        yield
    except BROKEN as error:
        what = str(error).partition("\n")[0]
        raise InputError(f"is broken ({what})", path=path, expected=_EXPECTED) from None
