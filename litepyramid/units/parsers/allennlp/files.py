"""The files in an AllenNLP archive, read straight from it: nothing is ever unpacked by name."""

from __future__ import annotations

import gzip
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from litepyramid.errors import InputError, ModelError, loading
from litepyramid.files import file_type

Files = Callable[[str], IO[bytes] | None]
"""Opens a file of the archive by its name there; None if there is none."""

WHAT = "an AllenNLP archive of an SRL-BERT model (config.json, weights.th, vocabulary/labels.txt)"
_WANTED = frozenset(
    ("config.json", "weights.th", "best.th", "labels.txt", "non_padded_namespaces.txt",
     "vocab.txt", "tokenizer.json")
)  # fmt: skip
_MEMBERS = 10_000
_ROOM, _RATIO = 256 << 20, 20
_AGAIN = "Do not use this file; get the archive again from where it was published."


@contextmanager
def archive_files(path: Path) -> Iterator[Files]:
    """The files of an archive, for as long as the block lasts.

    Of a tar file, plain or gzipped, the few that a model needs are copied to files without a name.

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
    if kind == "folder":
        with ExitStack() as opened:
            folder = path if (path / "config.json").exists() else _only(path)

            def find(name: str) -> IO[bytes] | None:
                file = folder / name
                return opened.enter_context(file.open("rb")) if file_type(file) == "file" else None

            yield find
        return
    with ExitStack() as opened:
        hint = "Get the archive again."
        with loading("is damaged or not a tar file", path=path, expected=WHAT, hint=hint):
            files = _read(path, opened)
        tops = {name.parent for name in files if name.name == "config.json"}
        inner = [top for top in tops if len(top.parts) == 1]
        top = inner[0] if PurePosixPath() not in tops and len(inner) == 1 else PurePosixPath()

        def look(name: str) -> IO[bytes] | None:
            file = files.get(top / name)
            if file is not None:
                file.seek(0)
            return file

        yield look


def _only(folder: Path) -> Path:
    """The only folder in this one that has a config.json, else this one."""
    inner = [item for item in folder.iterdir() if file_type(item / "config.json") == "file"]
    return inner[0] if len(inner) == 1 else folder


def _read(path: Path, opened: ExitStack) -> dict[PurePosixPath, IO[bytes]]:
    """Copies of the members wanted, by their names."""
    files: dict[PurePosixPath, IO[bytes]] = {}
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
                    raise ModelError(
                        f"holds {ascii(member.name)[:80]}, which is not safe to unpack",
                        path=path,
                        expected=WHAT,
                        hint=_AGAIN,
                    )
                if (regular and name in seen) or len(seen) >= _MEMBERS:
                    what = (
                        f"more than {_MEMBERS} members" if len(seen) >= _MEMBERS else "a file twice"
                    )
                    raise ModelError(f"holds {what}", path=path, expected=WHAT, hint=_AGAIN)
                seen.add(name)
                source = archive.extractfile(member) if name.name in _WANTED else None
                if source is not None:
                    files[name] = opened.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
                    shutil.copyfileobj(source, files[name], 1 << 20)
        while stream.read(1 << 20):
            pass  # only at its very end is the stream's checksum looked at
    return files


class _Counted:
    """A stream that ends with an error when it gives more than it may."""

    def __init__(self, stream: IO[bytes] | gzip.GzipFile, limit: int, path: Path) -> None:
        self._stream, self._left, self._path = stream, limit, path
        self._limit = limit

    def read(self, size: int) -> bytes:
        data = self._stream.read(min(size, self._left + 1))
        self._left -= len(data)
        if self._left < 0:
            raise ModelError(
                f"holds more than {self._limit >> 20} MiB, too much for its size",
                path=self._path,
                expected=WHAT,
                hint=_AGAIN,
            )
        return data
