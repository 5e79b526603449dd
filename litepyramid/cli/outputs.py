"""What a command writes is checked before its work: over no input, and in no other result's way."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from glob import escape, glob
from itertools import permutations
from pathlib import Path
from typing import Any, get_type_hints

from litepyramid.errors import InputError
from litepyramid.files import check_output, file_type

WRITTEN = "a file that the command writes"
"""Marks a parameter, inside its ``Annotated``; those without a mark are taken to be read."""

MADE = "a file or folder that the command makes, or goes on with"
"""Marks a parameter: its folder need not be there, and its command says if it cannot be made."""

FILLED = "a folder that the command fills, one file per system"
"""Marks a parameter, as `MADE`; no other result may go into the folder."""

_TOP = {"tasks": "tasks.json"} | dict.fromkeys(("summaries", "labels", "folds", "sources"), "*")
_DATA = r".*\.(jsonl|gz)|(SCUs|STUs|references|weights|ids)\.\w+|.+/.*"
_BELOW = {"files": r".*\.(pyr|pan)(\.gz)?"} | dict.fromkeys(("data", "train_on", "test_on"), _DATA)
"""What is read at the top of a folder, or anywhere in it, by parameter; of others all."""


class InterruptError(Exception):
    """The user pressed Ctrl-C while a command ran; the message says what was kept."""


def check_outputs(
    written: Mapping[str, Path], read: Mapping[str, Any], marks: Mapping[str, str] | None = None
) -> None:
    """Checks each file that a command writes against all that it reads and the others it writes.

    Args:
        written: The files to write, by parameter.
        read: The values of all other parameters; what names no file is passed over.
        marks: The marks of those parameters of `written` that are not `WRITTEN`.

    Raises:
        InputError: As `check_output`; or two results would go to one file, or one into the other.
    """
    marks = marks or {}
    goals = {name: _plain(path) for name, path in written.items() if file_type(path) != "other"}
    for one, two in permutations(goals, 2):
        if goals[one] == goals[two]:
            raise InputError(
                f"is the file of two results, {_option(one)} and {_option(two)}",
                path=written[two],
                expected="a different file for each",
            )
        if marks.get(one) == FILLED and goals[one] in goals[two].parents:
            raise InputError(
                f"given as {_option(two)}, is inside the folder of {_option(one)}",
                path=written[two],
                expected="a separate place for each result",
            )
    there = any(file_type(path) == "file" for path in written.values())
    inputs = [p for name, value in read.items() for p in _files(name, value)] if there else []
    for name, output in written.items():
        if name not in marks or file_type(output) == "file":
            check_output(output, *inputs)


def checked(callback: Callable[..., Any]) -> Callable[..., Any]:
    """A command that checks its outputs before its work, and says what Ctrl-C leaves.

    Where an estimate alone was asked of a judge, that is the result.
    """

    @wraps(callback)
    def careful(**given: Any) -> Any:
        marks = {
            name: mark
            for name, hint in get_type_hints(callback, include_extras=True).items()
            for mark in getattr(hint, "__metadata__", ())
            if mark in (WRITTEN, MADE, FILLED)
        }
        try:
            check_outputs(
                {name: Path(given[name]) for name in given if name in marks and given[name]},
                {name: value for name, value in given.items() if name not in marks},
                {name: mark for name, mark in marks.items() if mark != WRITTEN},
            )
            return callback(**given)
        except Exception as error:
            from litepyramid.judges.base import UnsentError
            from litepyramid.tables import emit

            if not isinstance(error, UnsentError):
                raise
            to = given.get("output") if "form" in given else None
            emit(error.result, given.get("form", "table"), to)
        except KeyboardInterrupt as stop:
            kept = "; ".join(getattr(stop, "__notes__", ()))
            hint = " (--journal FILE saves finished parts)" if "journal" in given else ""
            raise InterruptError(
                f"{kept}; run again to continue" if kept else f"nothing was kept{hint}"
            ) from stop

    return careful


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _plain(path: Path) -> Path:
    """The path by which twins that differ in case or Unicode form are known, links followed."""
    return Path(unicodedata.normalize("NFC", str(path.resolve())).casefold())


def _files(name: str, value: Any) -> Iterator[Path]:
    """The files that a parameter's value may name, and what is read in its folders."""
    for entry in value if isinstance(value, list | tuple) else [value]:
        if isinstance(entry, str | Path):
            for path in map(Path, _named(str(entry))):
                if file_type(path) == "file":
                    yield path
                elif file_type(path) == "folder" and name in _TOP:
                    yield from path.glob(_TOP[name])
                elif file_type(path) == "folder":
                    read = re.compile(_BELOW.get(name, ".*"), re.IGNORECASE)
                    for file in _below(path):
                        if read.fullmatch(file.relative_to(path).as_posix()):
                            yield file


def _named(text: str) -> Iterator[str]:
    """A text and the paths in it: NAME=PATH, KIND:PATH, PATH,option=PATH, PATH-of-{fold}."""
    for part in {text, *re.split(r",(?=\w+=)", text)}:
        for path in {part, part.partition("=")[2], part.partition(":")[2]} - {""}:
            yield path
            before, fold, after = path.partition("{fold}")
            if fold:
                yield from glob(f"{escape(before)}*{escape(after)}")  # noqa: PTH207


def _below(folder: Path) -> Iterator[Path]:
    """Every file below a folder; links are followed, once."""
    seen = set()
    for top, inner, names in os.walk(folder, followlinks=True):
        place = Path(top).stat()
        if (place.st_dev, place.st_ino) in seen:
            inner.clear()
            continue
        seen.add((place.st_dev, place.st_ino))
        yield from (Path(top, name) for name in names)
