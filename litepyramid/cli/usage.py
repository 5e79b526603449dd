"""Mistakes on the command line itself, told in one line like every other error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import typer
from typer.main import get_command

from litepyramid.errors import InputError

# What typer raises for them; which package defines it depends on typer's version.
USAGE_ERROR: type[Exception] = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)


def is_help(error: Exception) -> bool:
    """Whether it is not a mistake but a command group called alone, which shows its help."""
    return type(error).__name__ == "NoArgsIsHelpError"


def usage_error(error: Any, app: typer.Typer, args: Sequence[str]) -> InputError:
    """What typer says about the command line, suggestions included, as one of our errors.

    Args:
        error: What typer raised: an instance of `USAGE_ERROR`.
        app: The whole command line.
        args: The words the user gave, without the program's name.

    Returns:
        The error; its hint names the help, and a command of that name in another group.
    """
    paths = [("litepyramid",), *_paths(get_command(app), ("litepyramid",))]
    here = max((path for path in paths if ("litepyramid", *args)[: len(path)] == path), key=len)
    said = " ".join(error.format_message().replace("Value error, ", "").split())
    what, _, hint = said.partition(". ")
    if what.startswith("No such command") and not hint:
        wrong = what.partition("'")[2].rstrip("'.")
        hint = next((f"Did you mean '{' '.join(p[1:])}'?" for p in paths if p[-1] == wrong), "")
    hint = f"{hint} See '{' '.join(here)} --help'.".strip()
    return InputError(what[:1].lower() + what[1:].rstrip("."), hint=hint)


def _paths(command: Any, before: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The commands below a group, each with the groups' names before its own."""
    for name, below in getattr(command, "commands", {}).items():
        yield (*before, name)
        yield from _paths(below, (*before, name))
