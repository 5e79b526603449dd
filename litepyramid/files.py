"""Reading lines and JSON lines with exact places in errors; writing all or nothing."""

import codecs
import gzip
import io
import json
import os
import shutil
import stat
import sys
import unicodedata
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import fields, is_dataclass
from functools import wraps
from itertools import combinations
from pathlib import Path
from secrets import token_hex
from typing import IO, Any, Literal, ParamSpec, TypeVar

from litepyramid.checked import parse_json
from litepyramid.errors import InputError, LitepyramidError, located
from litepyramid.types import Fields

_MOST_UNPACKED = 2**29  # bytes of a compressed file
_LONGEST_NAME = 200
_LONGEST_PATH = 4096
_TEXT: Any = {"encoding": "utf-8", "errors": "backslashreplace"}
_MOST_SEPARATORS = 8  # of a value that may name a file between them

# What the running command reads: its outputs are opened far below what knows that.
_INPUTS: ContextVar[tuple[Any, ...]] = ContextVar("inputs", default=())

# What a public function has read so far: its result must not replace it.
_READ: ContextVar[set[Path] | None] = ContextVar("read", default=None)

P = ParamSpec("P")
T = TypeVar("T")


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
        note_read(path)
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
        row = parse_json(line, line=number)
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


@contextmanager
def reading(*inputs: Any) -> Iterator[None]:
    """While it lasts, no file that these values name is replaced by another."""
    token = _INPUTS.set((*_INPUTS.get(), *inputs))

    try:
        yield
    finally:
        _INPUTS.reset(token)


def note_read(path: Path) -> None:
    """Remembers, for what a public function gives, that it was made of a file."""
    if (files := _READ.get()) is not None:
        files.add(path.absolute())


def remembering(function: Callable[P, T]) -> Callable[P, T]:
    """A public function whose result knows the files that it was made of.

    Those are what the function read, and what its arguments were made of, be they
    results or lists of them; `Result.save` replaces none of them.
    """

    @wraps(function)
    def remembered(*arguments: P.args, **named: P.kwargs) -> T:
        before = sources_of([*arguments, *named.values()])
        files: set[Path] = set()
        token = _READ.set(files)

        try:
            with reading(*before) if before else nullcontext():
                result = function(*arguments, **named)
        finally:
            _READ.reset(token)

        sources = before | files | sources_of([result])
        if sources:
            _attach(result, sources)
        return result

    return remembered


class _Parts(tuple[Any, ...]):
    """Records of a result, which know the files that they were made of."""

    _sources: frozenset[Path] = frozenset()


def _attach(result: Any, sources: frozenset[Path]) -> None:
    """Lets a result know its sources, and each tuple in it: `data.references` too."""
    parts = fields(result) if is_dataclass(result) else ()

    with suppress(AttributeError, TypeError):  # a plain list, a closed class
        object.__setattr__(result, "_sources", sources)

        for part in parts:
            records = getattr(result, part.name)

            if type(records) in (tuple, _Parts):
                known = _Parts(records)
                known._sources = sources
                object.__setattr__(result, part.name, known)


def sources_of(values: Iterable[Any]) -> frozenset[Path]:
    """The files that results among some values were made of, those in lists too."""
    files: frozenset[Path] = frozenset()

    for value in values:
        inside: Iterable[Any] = value if isinstance(value, list | tuple) else ()
        if isinstance(value, Mapping):
            inside = value.values()

        for one in (value, *inside):
            sources = getattr(one, "_sources", None)
            if isinstance(sources, frozenset):
                files |= sources

    return files


def check_output(output: str | Path, *inputs: Any) -> None:
    """Checks before the work that a result can be written there, and is not one of the
    inputs."""
    output = Path(output)
    # What cannot be written is known before hours of judging, not after them.
    with writing(output):
        kind = _checked_goal(output, *inputs)
        folder = next(p for p in output.absolute().parents if p.exists())
        if file_type(folder) != "folder":
            raise InputError("is not a folder", path=folder)
    if not os.access(output if kind == "other" else folder, os.W_OK):
        raise InputError("cannot be written (no permission)", path=output)


def check_outputs(outputs: Sequence[str | Path]) -> None:
    """Checks that no file is written twice, however its name is spelled."""
    seen: dict[Any, Path] = {}

    for output in map(Path, outputs):
        if file_type(output) == "other":
            continue  # a pipe takes whatever comes

        key = _identity(output) or os.path.normcase(output.resolve())
        first = seen.setdefault(key, output)

        if first is not output:
            raise InputError(
                f"is the same file as '{first}'", path=output, expected="two files"
            )


def _checked_goal(path: Path, *inputs: Any) -> str | None:
    """The `file_type` of a path that can be written: new, or no link and none of the
    inputs."""
    kind = file_type(path)
    if kind == "folder":
        raise InputError("is a folder", path=path, expected="a file to write")
    if kind != "other" and path.is_symlink():
        raise InputError("is a link", path=path, hint="Name the file it leads to.")
    check_not_read(path, *inputs)
    return kind


def check_not_read(path: Path, *inputs: Any) -> None:
    """Raises InputError if a file to write is one that these values, or those of
    `reading`, name."""
    if file_type(path) != "file":
        return

    # By device and inode: names that differ may lead to one file.
    goal = _identity(path)

    for file in _files_of([*_INPUTS.get(), *inputs]):
        if _identity(file) == goal:
            what = "would be overwritten, and is one of the files to read"
            raise InputError(what, path=path, expected="another name for the result")


def _identity(path: Path) -> tuple[int, int] | None:
    """Device and inode: the same for each name of a file; None if there is none."""
    try:
        entry = path.stat()
    except (OSError, ValueError):
        return None

    return entry.st_dev, entry.st_ino


def _files_of(values: Iterable[Any]) -> Iterator[Path]:
    """The files that some values name, and those in the folders that they name."""
    for value in values:
        if isinstance(value, Mapping):
            yield from _files_of([*value.keys(), *value.values()])
        elif isinstance(value, list | tuple):
            yield from _files_of(value)
        elif isinstance(value, str | Path):
            for path in _paths_in(str(value)):
                yield from _files_below(path, set())


def _paths_in(text: str) -> Iterator[Path]:
    """The paths that a value may hold: PATH, NAME=PATH, KIND:PATH, PATH:COLUMN …"""
    separators = [i for i, letter in enumerate(text) if letter in ":="]
    separators = separators[:_MOST_SEPARATORS]

    for start, end in combinations([-1, *separators, len(text)], 2):
        name = text[start + 1 : end]

        if name and len(name) <= _LONGEST_PATH:
            yield Path(name)

            if name.startswith("~"):
                with suppress(RuntimeError):  # there is no such user
                    yield Path(name).expanduser()


def _files_below(path: Path, seen: set[Any]) -> Iterator[Path]:
    """A file itself, or those in a folder, links followed, each folder once."""
    kind = file_type(path)

    if kind == "file":
        yield path
    elif kind == "folder" and (identity := _identity(path)) not in seen:
        seen.add(identity)

        with suppress(OSError):  # what cannot be listed is not read either
            for inner in path.iterdir():
                yield from _files_below(inner, seen)


def check_names(names: Iterable[str]) -> None:
    """Checks that each system's name can be a separate file, inside its folder, on any
    disk."""
    seen: dict[str, str] = {}
    for name in names:
        # Some disks know neither case nor how an accent is composed.
        decomposed = unicodedata.normalize("NFD", name).casefold()
        plain = unicodedata.normalize("NFD", decomposed)
        twin = seen.setdefault(plain, name)
        bad = any(c in "/\\" or unicodedata.category(c) in ("Cc", "Cs") for c in name)

        if bad or name[:1] in ("", ".") or len(name.encode()) > _LONGEST_NAME:
            expected = (
                f"at most {_LONGEST_NAME} bytes, without / or \\, not a dot first"
            )
            problem = f"system {name!a} cannot name a file"
            raise InputError(problem, expected=expected, hint="Rename it.")

        if twin != name:
            problem = f"systems {name!a} and {twin!a} would be the same file"
            raise InputError(problem, hint="Rename one.")


@contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Turns whatever prevents writing (a full disk, no permission …) into one clear
    error."""
    try:
        yield
    except OSError as error:
        hint = "Check the path, your permissions there, and the free space."
        what = f"cannot be written ({error.strerror or error})"
        raise InputError(what, path=path, hint=hint) from error


@contextmanager
def locked(path: str | Path, *, wait: bool = False) -> Iterator[None]:
    """Keeps other processes off a file or folder that is there, however this one
    ends; InputError, or a wait, while one of them keeps this one off."""
    try:
        import fcntl
    except ModuleNotFoundError:  # Windows has no such locks
        yield
        return

    with writing(path):
        handle = os.open(path, os.O_RDONLY)

    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            hint = "Wait until it ends, or name another place."
            raise InputError(
                "is in use by another process", path=path, hint=hint
            ) from None
        except OSError:
            pass  # a disk without locks
        yield
    finally:
        os.close(handle)


@contextmanager
def in_turn(path: str | Path) -> Iterator[None]:
    """Lets one process at a time read and replace a file, which need not be there yet.

    Locked is its folder, as a file that is replaced takes its lock along.
    """
    folder = Path(path).parent

    with writing(path):
        folder.mkdir(parents=True, exist_ok=True)

    with locked(folder, wait=True):
        yield


@contextmanager
def atomic_write(path: str | Path, *, binary: bool = False) -> Iterator[IO[Any]]:
    """A file that appears under `path`, all or nothing; pipes are written through.

    Text is compressed where the name ends in ``.gz``; the same text gives the same
    bytes.
    """
    path = Path(path)
    kind = _checked_goal(path)
    compressed = not binary and kind != "other" and path.suffix.lower() == ".gz"
    form, options = ("b", {}) if binary or compressed else ("", _TEXT)

    with writing(path):
        # A pipe or a terminal cannot be renamed: it is written as it comes.
        if kind == "other":
            with path.open(f"w{form}", **options) as file:
                yield file
            return

        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = _unfinished(path)
        try:
            with temporary.open(f"x{form}", **options) as file:
                if compressed:
                    with _compressed(file) as text:
                        yield text
                else:
                    yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def _compressed(file: IO[bytes]) -> IO[str]:
    """A text file that is compressed into a file, without a date: equal texts, equal
    bytes."""
    packed = gzip.GzipFile(
        "",
        "wb",
        6,
        file,
        mtime=0,
    )
    return io.TextIOWrapper(packed, **_TEXT)


@contextmanager
def new_folder(path: str | Path) -> Iterator[Path]:
    """A folder to fill that appears under `path` only when the block ends without an
    error."""
    goal = Path(path)
    with writing(goal):
        check_new_folder(goal)
        temporary = _unfinished(goal)
        temporary.mkdir(parents=True)
        try:
            yield temporary
            # Somebody may have filled it while this was made.
            check_new_folder(goal)
            temporary.rename(goal)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise


def _unfinished(goal: Path) -> Path:
    return goal.parent / f".litepyramid-{token_hex(8)}"


def check_new_folder(path: str | Path) -> None:
    """Raises InputError unless nothing is there, or a folder that is empty."""
    goal = Path(path)
    empty = (
        file_type(goal) == "folder"
        and not goal.is_symlink()
        and not any(goal.iterdir())
    )
    if not empty and (file_type(goal) is not None or goal.is_symlink()):
        raise InputError("already exists", path=goal, expected="a new or empty folder")


def write_json(path: str | Path, value: Any) -> None:
    """Writes a JSON value, indented, all or nothing."""
    with atomic_write(path) as file:
        json.dump(
            value,
            file,
            ensure_ascii=False,
            indent=1,
        )
        file.write("\n")


def write_jsonl(path: str | Path, rows: Iterable[Fields]) -> None:
    """Writes one JSON object per line, all or nothing."""
    with atomic_write(path) as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
