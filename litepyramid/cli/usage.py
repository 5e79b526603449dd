"""Mistakes on the command line itself, told in one line like every other error."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Any

import typer
from typer.main import get_command

from litepyramid.errors import InputError

# What typer raises for them; which package defines it depends on typer's version.
USAGE_ERROR: type[Exception] = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)


def is_help(error: Exception) -> bool:
    """Whether it is no mistake but a command group called alone, which shows its help."""
    return type(error).__name__ == "NoArgsIsHelpError"


def usage_error(error: Any, app: typer.Typer, args: Iterable[str]) -> InputError:
    """What typer says about the command line, as one of our errors.

    Args:
        error: What typer raised: an instance of `USAGE_ERROR`.
        app: The whole command line.
        args: The words the user gave, without the program's name.

    Returns:
        The error, with the nearest command or option and the place of the help as its hint.
    """
    root = get_command(app)
    context = getattr(error, "ctx", None)
    if context is None:
        command, path = _walk(root, args)
        path = " ".join(("litepyramid", path)).strip()
    else:
        command, path = context.command, context.command_path
    said = " ".join(error.format_message().replace("Value error, ", "").split())
    what = said.partition(" Did you mean")[0].partition(" (Possible options")[0]
    hint = f"See '{path} --help'."
    nearest = _nearest(error, what, command, root)
    if nearest is not None:
        hint = f"Did you mean '{nearest}'? {hint}"
    return InputError(what[:1].lower() + what[1:].rstrip("."), hint=hint)


def _nearest(error: Any, what: str, command: Any, root: Any) -> str | None:
    """The option or command that was meant, if one is near."""
    if what.startswith("No such command"):
        wrong = what.partition("'")[2].rpartition("'")[0]
        own = get_close_matches(wrong, getattr(command, "commands", {}), 1)
        if own:
            return str(own[0])
        elsewhere = [path for path in _paths(root) if path.split()[-1] == wrong]
        return elsewhere[0] if elsewhere else None
    if not what.startswith("No such option"):
        return None
    known = [str(option) for entry in command.params for option in entry.opts]
    near = get_close_matches(error.option_name, ["--help", *known], 1)
    return near[0] if near else None


def _paths(command: Any, before: str = "") -> Iterator[str]:
    """The commands below a group, each with the groups' names before its own."""
    for name, below in getattr(command, "commands", {}).items():
        yield f"{before}{name}"
        yield from _paths(below, f"{before}{name} ")


def _walk(command: Any, args: Iterable[str]) -> tuple[Any, str]:
    """The command that the words lead to, with its path."""
    names = []
    for name in args:
        below = getattr(command, "commands", {}).get(name)
        if below is None:
            break
        command = below
        names.append(name)
    return command, " ".join(names)
