"""What a command writes is checked before its work: in a folder that is there, over no input."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, get_type_hints

import typer

from litepyramid.errors import InputError
from litepyramid.io.files import check_output

WRITTEN = "a file that the command writes"
"""Marks a parameter, inside its ``Annotated``: all other paths are taken to be read."""

FOLDERS = frozenset({"summaries", "labels", "folds"})
"""Parameters that may be folders, of which every file is read."""


class InterruptError(Exception):
    """The user pressed Ctrl-C while a command ran; the message says what was kept."""


def protect(app: typer.Typer) -> None:
    """Lets every command, in groups too, check its outputs first and say what Ctrl-C leaves."""
    for command in app.registered_commands:
        if command.callback is not None:
            command.callback = _checked(command.callback)
    for group in app.registered_groups:
        if group.typer_instance is not None:
            protect(group.typer_instance)


def check_outputs(written: Mapping[str, Path], read: Mapping[str, Any]) -> None:
    """Checks each file that a command writes against all that it reads and the others it writes.

    Args:
        written: The files to write, by parameter.
        read: The values of all other parameters; what is no path and no text is passed over.

    Raises:
        InputError: As `check_output`; or two results would go to one file.
    """
    inputs = [path for name, value in read.items() for path in _paths(name, value)]
    goals: dict[Path, str] = {}
    for name, output in written.items():
        check_output(output, *inputs)
        other = goals.setdefault(output.resolve(), name)
        if other != name and not (output.exists() and not output.is_file()):
            raise InputError(
                f"is named for two results, --{other} and --{name.replace('_', '-')}",
                path=output,
                expected="a file for each",
            )


def _checked(callback: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(callback)
    def checked(**given: Any) -> Any:
        outputs = {
            name
            for name, hint in get_type_hints(callback, include_extras=True).items()
            if WRITTEN in getattr(hint, "__metadata__", ())
        }
        try:
            check_outputs(
                {name: Path(given[name]) for name in given if name in outputs and given[name]},
                {name: value for name, value in given.items() if name not in outputs},
            )
            return callback(**given)
        except KeyboardInterrupt as stop:
            kept = "; ".join(getattr(stop, "__notes__", ()))
            hint = " (--journal FILE keeps finished parts)" if "journal" in given else ""
            raise InterruptError(
                f"{kept}; run again to go on" if kept else f"nothing was kept{hint}"
            ) from stop

    return checked


def _paths(name: str, value: Any) -> Iterator[Path]:
    """The files that a parameter's value may name."""
    for entry in value if isinstance(value, list | tuple) else [value]:
        if not isinstance(entry, str | Path) or not str(entry):
            continue
        path = Path(entry)
        try:
            if name in FOLDERS and path.is_dir():
                yield from (inside for inside in path.iterdir() if inside.is_file())
            elif path.is_file():
                yield path
        except OSError:
            continue  # a text that can name no file, or one that its command will complain about
