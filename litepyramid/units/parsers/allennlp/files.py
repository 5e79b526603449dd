"""The files of an AllenNLP archive, in a folder; of a tar file no more than those needed."""

from __future__ import annotations

import gzip
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import IO

from litepyramid.errors import InputError, ModelError, loading
from litepyramid.files import file_type

WHAT = "an AllenNLP archive of an SRL-BERT model (config.json, weights.th, vocabulary/labels.txt)"
_WANTED = frozenset(
    ("config.json", "weights.th", "best.th", "labels.txt", "non_padded_namespaces.txt",
     "vocab.txt", "tokenizer.json")
)  # fmt: skip
_MEMBERS = 10_000
_ROOM, _RATIO = 256 << 20, 20
_AGAIN = "Do not use this file; get the archive again from where it was published."


@contextmanager
def archive_folder(path: Path) -> Iterator[Path]:
    """A folder with the files of an archive, for as long as the block lasts.

    Of a tar file, plain or gzipped, the few that a model needs are copied to a temporary folder.

    Args:
        path: The archive, or a folder with the same files in it.

    Raises:
        InputError: There is no such file.
        ModelError: No tar file, a damaged one, or one that no archive of a model is like: with
            links, devices, names that lead out of it, names twice, more than 10,000 members, or
            more than 256 MiB and twenty times its own size in it.
    """
    kind = file_type(path)
    if kind in (None, "other"):
        raise InputError("no such file", path=path, expected=WHAT, hint="Check the path.")
    with nullcontext(path) if kind == "folder" else TemporaryDirectory() as made:
        folder = Path(made)
        if kind == "file":
            hint = "Get the archive again."
            with loading("is damaged or not a tar file", path=path, expected=WHAT, hint=hint):
                _unpack(path, folder)
        inner = [item for item in folder.iterdir() if file_type(item / "config.json") == "file"]
        yield folder if (folder / "config.json").exists() or len(inner) != 1 else inner[0]


def _unpack(path: Path, folder: Path) -> None:
    """Copies the members wanted into the folder."""
    with path.open("rb") as raw:
        zipped = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        limit = _ROOM + _RATIO * path.stat().st_size
        stream = _Counted(gzip.GzipFile(fileobj=raw) if zipped else raw, limit, path)
        seen: set[PurePosixPath] = set()
        with tarfile.open(fileobj=stream, mode="r|") as archive:  # type: ignore[call-overload]
            for member in archive:
                name = PurePosixPath("/", member.name).relative_to("/")
                regular = member.isreg() and not member.issparse()
                if ".." in name.parts or not (regular or member.isdir()):
                    raise _unsafe(path, f"{ascii(member.name)[:80]}, which is not safe to unpack")
                if len(seen) >= _MEMBERS:
                    raise _unsafe(path, f"more than {_MEMBERS} members")
                if regular and name in seen:
                    raise _unsafe(path, "a file twice")
                seen.add(name)
                source = archive.extractfile(member) if name.name in _WANTED else None
                if source is not None:
                    (folder / name).parent.mkdir(parents=True, exist_ok=True)
                    with (folder / name).open("xb") as file:
                        shutil.copyfileobj(source, file, 1 << 20)
        while stream.read(1 << 20):
            pass  # only at its very end is the stream's checksum looked at


def _unsafe(path: Path, what: str) -> ModelError:
    return ModelError(f"holds {what}", path=path, expected=WHAT, hint=_AGAIN)


class _Counted:
    """A stream that ends with an error when it gives more than it may."""

    def __init__(self, stream: IO[bytes] | gzip.GzipFile, limit: int, path: Path) -> None:
        self._stream, self._left, self._limit, self._path = stream, limit, limit, path

    def read(self, size: int) -> bytes:
        data = self._stream.read(min(size, self._left + 1))
        self._left -= len(data)
        if self._left < 0:
            raise _unsafe(self._path, f"more than {self._limit >> 20} MiB, too much for its size")
        return data
