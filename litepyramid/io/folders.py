"""Folders of results: all or nothing, leaving other files in them alone."""

from __future__ import annotations

import json
import shutil
import tempfile
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from litepyramid.errors import InputError
from litepyramid.files import TEMPORARY, atomic_write, file_type, locked, read_json, writing

MANIFEST = ".litepyramid.json"
"""Lists in a folder of results which of its files are ours, with their hashes."""

_LONGEST = 200


def check_names(names: Iterable[str], what: str = "system", hint: str | None = None) -> None:
    """Checks that each name can be a separate file, inside its folder, on any disk.

    Raises:
        InputError: A name is empty, begins with a dot (such files are not read), has more than 200
            bytes, or holds a separator, a control character or half a character; or two names
            differ in case or in their Unicode form alone.

    Example:
        >>> check_names(["bart", "../bart"])
        Traceback (most recent call last):
        litepyramid.errors.InputError: system '../bart' cannot name a file. ...
    """
    seen: dict[str, str] = {}
    for name in names:
        plain = unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).casefold())
        twin = seen.setdefault(plain, name)
        bad = any(c in "/\\" or unicodedata.category(c) in ("Cc", "Cs") for c in name)
        if bad or name[:1] in ("", ".") or len(name.encode()) > _LONGEST:
            raise InputError(
                f"{what} {_short(name)} cannot name a file",
                expected=f"at most {_LONGEST} bytes, without / or \\, not beginning with a dot",
                hint=hint or "Rename it.",
            )
        if twin != name:
            raise InputError(
                f"{what} {_short(name)} and {_short(twin)} would be the same file",
                hint=hint or "Rename one.",
            )


def _short(name: str) -> str:
    return ascii(name if len(name) <= 60 else name[:57] + "...")


@contextmanager
def filled_folder(
    goal: str | Path, kind: str, *, keep: bool = False, systems: Sequence[str] = ()
) -> Iterator[Path]:
    """A new folder to fill, whose files go to `goal` when the block ends without an error.

    All or nothing: after an error the goal is as it was. A file of the goal is replaced, or removed
    if it is not written again, only if it was written so before (the goal's `MANIFEST` lists it
    with its hash) and nobody has changed it since.

    Args:
        goal: Where to; made if it is not there, a link followed.
        kind: What its files are; a folder with files of another kind is refused.
        keep: Whether files written before stay if they are not written again.
        systems: Folders in it, or ``"."``, that are read whole, one file per system: another's file
            there is an error too.

    Raises:
        InputError: It is not a folder, or cannot be written; it has something of others in the way.
    """
    goal = Path(goal).resolve()
    with writing(goal):
        old = read_manifest(goal, kind)
        there = goal.exists()
        goal.parent.mkdir(parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(dir=goal if there else goal.parent, prefix=TEMPORARY))
        new, aside = place / "new", place / "old"
        try:
            new.mkdir()
            yield new
            files = {
                path.relative_to(new).as_posix(): [_sha(path)]
                for path in sorted(new.rglob("*"))
                if path.is_file()
            }
            if there:
                with locked(goal):
                    _check(goal, old, files, keep, systems)
                    _put(goal, kind, old, files, keep, new, aside)
            else:
                _note(new, kind, files)
                new.rename(goal)
        finally:
            if not any(path.is_file() for path in aside.rglob("*")):  # else they are all there is
                shutil.rmtree(place, ignore_errors=True)


def read_manifest(goal: Path, kind: str) -> dict[str, list[str]]:
    """The files in a folder that were written by `filled_folder`, with their hashes.

    Raises:
        InputError: It is not a folder, or one with files of another kind.
    """
    if file_type(goal) not in ("folder", None):
        raise InputError("is not a folder", path=goal, expected="a folder")
    path = goal / MANIFEST
    if not path.exists():
        return {}
    try:
        noted = read_json(path)
        files = {str(name): [str(sha) for sha in shas] for name, shas in noted["files"].items()}
        found = str(noted["kind"])
        inside = all((goal / name).parent.resolve().is_relative_to(goal) for name in files)
    except (InputError, ValueError, KeyError, TypeError, AttributeError, OSError):
        found, inside = "", False
    if not inside or found != kind:
        raise InputError(
            f"holds {found} of litepyramid" if inside else f"its {MANIFEST} is damaged",
            path=goal,
            expected=f"a folder that is new, empty, or holds {kind}",
        )
    return files


def _check(
    goal: Path,
    old: Mapping[str, Sequence[str]],
    files: Mapping[str, Sequence[str]],
    keep: bool,
    systems: Sequence[str],
) -> None:
    """Raises InputError if something of others is in the way."""
    for name in sorted(files if keep else {*old, *files}):
        path = goal / name
        if not path.parent.resolve().is_relative_to(goal):
            raise InputError("leads out of its folder", path=path.parent)
        if not path.exists() and not path.is_symlink():
            continue
        known = {*old.get(name, ()), *files.get(name, ())}
        if not path.is_file() or path.is_symlink() or _sha(path) not in known:
            was = "was changed since it was written" if name in old else "already exists"
            raise InputError(
                f"{was}, and would be {'overwritten' if name in files else 'removed'}",
                path=path,
                hint="Move it away, or name another folder.",
            )
    for folder in systems:
        for path in sorted((goal / folder).glob("[!.]*")):
            if path.relative_to(goal).as_posix() not in {*old, *files}:
                raise InputError(
                    f"contains other files ('{path.name}'), which would be read as systems",
                    path=goal / folder,
                    expected="a folder that is new, empty, or holds the same systems",
                    hint="Move them away, or name another folder.",
                )


def _put(
    goal: Path,
    kind: str,
    old: dict[str, list[str]],
    files: dict[str, list[str]],
    keep: bool,
    new: Path,
    aside: Path,
) -> None:
    """Moves what is there aside and the new files in; after an error, all of it back.

    Files go in by name and out the other way, so a folder that was left half done by a kill lacks
    its last files rather than mixing old and new ones.
    """
    stay = old if keep else {}
    out = sorted(
        (n for n in {**({} if keep else old), **files} if (goal / n).exists()), reverse=True
    )
    moves = [(goal / name, aside / name) for name in out]
    moves += [(new / name, goal / name) for name in sorted(files)]
    begun: list[tuple[Path, Path]] = []
    try:
        _note(goal, kind, {n: [*old.get(n, ()), *files.get(n, ())] for n in {**old, **files}})
        for source, target in moves:
            target.parent.mkdir(parents=True, exist_ok=True)
            begun.append((source, target))
            source.rename(target)
        _note(goal, kind, {**stay, **files})
    except BaseException as error:
        for source, target in reversed(begun):
            if not source.exists():
                with suppress(OSError):
                    target.rename(source)
        with suppress(InputError):
            _note(goal, kind, old)
        if not old:
            (goal / MANIFEST).unlink(missing_ok=True)
        if any(path.is_file() for path in aside.rglob("*")):
            raise InputError(
                f"only a part was written, and earlier files cannot be restored ({error})",
                path=goal,
                hint=f"The missing earlier files are in {aside}.",
            ) from error
        raise
    else:
        shutil.rmtree(aside, ignore_errors=True)
    finally:
        for folder in {(goal / name).parent for name in {**old, **files}} - {goal}:
            with suppress(OSError):  # unless it is empty now
                folder.rmdir()


def _note(goal: Path, kind: str, files: Mapping[str, Sequence[str]]) -> None:
    with atomic_write(goal / MANIFEST) as file:
        json.dump({"kind": kind, "files": dict(sorted(files.items()))}, file, indent=1)


def _sha(path: Path) -> str:
    with path.open("rb") as file:
        return sha256(file.read()).hexdigest()
