"""Reading lines and JSON lines, with exact places in errors."""

import codecs
import gzip
import io
import stat
import sys
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from litepyramid.checked import parse_json
from litepyramid.errors import InputError, LitepyramidError, located
from litepyramid.types import Fields

_MOST_UNPACKED = 2**29  # bytes of a compressed file


def read_bytes(path: str | Path) -> bytes:
    """The whole file, uncompressed if it is gzipped (seen from its first bytes); ``-``
    is stdin."""
    path = Path(path)
    if str(path) == "-":
        data = sys.stdin.buffer.read(_MOST_UNPACKED + 1)
        return _unpacked(data, path, limited=True)

    try:
        kind = path.stat().st_mode
        if stat.S_ISCHR(kind) or stat.S_ISBLK(kind):
            raise InputError("is a device", path=path, expected="a file or a pipe")
        with path.open("rb") as file:
            data = file.read(_MOST_UNPACKED + 1 if stat.S_ISFIFO(kind) else -1)
    except FileNotFoundError:
        raise InputError("no such file", path=path, hint="Check the path.") from None
    except IsADirectoryError:
        raise InputError("is a folder", path=path, expected="a file") from None
    except (OSError, ValueError) as error:  # of no file that can be: a NUL in its name
        why = getattr(error, "strerror", None) or error
        raise InputError(f"cannot be read ({why})", path=path) from error

    return _unpacked(data, path, limited=stat.S_ISFIFO(kind))


def _unpacked(data: bytes, path: Path, *, limited: bool) -> bytes:
    """The bytes, unpacked if they are gzipped; `limited` ones and unpacked ones to 512
    MB."""
    packed = data[:2] == b"\x1f\x8b"
    if packed:
        # One byte more than allowed shows a bomb without unpacking it.
        try:
            data = gzip.GzipFile(fileobj=io.BytesIO(data)).read(_MOST_UNPACKED + 1)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise InputError(f"cannot be unpacked ({error})", path=path) from None
    if len(data) > _MOST_UNPACKED and (packed or limited):
        hint = "Unpack it yourself (gunzip)." if packed else "Write it to a file."
        raise InputError("more than 512 MB, once unpacked", path=path, hint=hint)
    return data


_NO_TEXT = (
    (
        b"PK\x03\x04",
        "an Excel workbook, or another archive",
        "Save it as CSV UTF-8; a log of inspect: inspect log convert --to json.",
    ),
    (b"PAR1", "a Parquet file", "Read it with pandas, and give the frame."),
)
"""How files begin that people have, but that hold no text."""


def read_text(path: str | Path) -> str:
    """The whole file as UTF-8, or as the UTF-16 that its byte order mark tells."""
    data = read_bytes(path)
    for start, what, hint in _NO_TEXT:
        if data.startswith(start):
            raise InputError(
                what,
                path=path,
                expected="text",
                hint=hint,
            )

    marked = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return data.decode("utf-16" if marked else "utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"byte 0x{data[error.start]:02x}"
        line = data.count(b"\n", 0, error.start) + 1
        hint = "Save the file as UTF-8 (in Excel: CSV UTF-8)."
        raise InputError(
            f"{what} is not UTF-8",
            path=path,
            line=line,
            hint=hint,
        ) from None


def ending(path: str | Path) -> str:
    """The last ending of a file's name, lower-cased; that of compression is passed
    over."""
    path = Path(path)
    return Path(path.stem if path.suffix.lower() == ".gz" else path).suffix.lower()


def whole_ending(path: str | Path) -> str:
    """The last ending, lower-cased, with that of compression: ``.json.gz``."""
    compressed = Path(path).suffix.lower() == ".gz"
    return ending(path) + (".gz" if compressed else "")


def stem(path: str | Path) -> str:
    """A file's name without its last ending, and without that of compression."""
    path = Path(path)
    return Path(path.stem).stem if path.suffix.lower() == ".gz" else path.stem


def split_lines(text: str) -> list[str]:
    r"""The lines of a text, ended by ``\n`` or ``\r\n``, or by ``\r`` where there is
    no ``\n``; a last empty one is left
    out."""
    ends = "\n" if "\n" in text else "\r"
    lines = [line.removesuffix("\r") for line in text.split(ends)]
    return lines if lines[-1] else lines[:-1]


def read_lines(path: str | Path) -> list[str]:
    """The lines of a text file, as `split_lines` gives them."""
    text = read_text(path)
    if not text.strip():
        raise InputError(
            "the file is empty", path=path, expected="one example per line"
        )
    return split_lines(text)


def read_jsonl(path: str | Path) -> list[tuple[int, Fields]]:
    """The objects of a JSON Lines file with their lines (from 1); blank lines are
    skipped."""
    with located(path):
        return jsonl_rows(read_lines(path))


def jsonl_rows(lines: Iterable[str]) -> list[tuple[int, Fields]]:
    """The objects of some lines, as `read_jsonl` gives them."""
    rows = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        row = parse_json(line, line=number, mend=True)
        if not isinstance(row, dict):
            what = f"a JSON {type(row).__name__}"
            raise InputError(what, line=number, expected="an object")
        rows.append((number, row))

    return rows


def read_json(
    path: str | Path,
    expected: str | None = None,
    error: type[LitepyramidError] = InputError,
) -> Any:
    """The value of a JSON file; `expected` says in messages what it should be."""
    try:
        text = read_text(path)
    except InputError as found:
        raise error(
            found.what,
            path=path,
            line=found.line,
            hint=found.hint,
        ) from None

    return parse_json(
        text,
        path=path,
        expected=expected,
        error=error,
    )


def read_document(
    source: Any, form: str, what: str, expected: str, inside: str = ""
) -> tuple[Path, Fields]:
    """A path, and the JSON object of its file, which says of what form it is (its key
    ``format``); a folder stands for the file of a name in it."""
    path = Path(source) if isinstance(source, str | Path) else None
    if path is not None and file_type(path) == "folder":
        path = path / inside if inside else None
    data = None if path is None else read_json(path, expected)
    if path is None or not isinstance(data, dict) or data.get("format") != form:
        raise InputError(f"not {what}", path=path, expected=expected)
    return path, data


def file_type(path: str | Path) -> Literal["file", "folder", "other"] | None:
    """What a path leads to; None if nothing, or if the name is not possible; ``-`` is
    "other"."""
    if str(path) == "-":
        return "other"
    try:
        mode = Path(path).stat().st_mode
    except (OSError, ValueError):
        return None
    return "folder" if stat.S_ISDIR(mode) else "file" if stat.S_ISREG(mode) else "other"


def files_in(paths: Sequence[str | Path], what: str) -> list[Path]:
    """The files named, folders replaced by the files in them (hidden ones left out,
    sorted)."""
    files = []
    for path in map(Path, paths):
        if file_type(path) == "folder":
            inside = []
            for file in sorted(path.iterdir()):
                # Hidden ones are those of editors and of the system.
                if file.is_file() and file.name[0] != ".":
                    inside.append(file)
            if not inside:
                problem = f"no {what} in this folder"
                raise InputError(problem, path=path, expected="one file per system")
            files += inside
        elif file_type(path):
            files.append(path)
        else:
            raise InputError(
                "no such file or folder", path=path, hint="Check the path."
            )

    if not files:
        raise InputError(f"no {what} given", expected="at least one file or folder")
    return files
