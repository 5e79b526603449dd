"""The command line: one module per command group, no logic, nothing heavy imported here."""

from __future__ import annotations

import io
import os
import sys
import warnings
from contextlib import suppress
from typing import TextIO

import typer

from litepyramid.cli.app import app
from litepyramid.cli.outputs import InterruptError
from litepyramid.cli.usage import USAGE_ERROR, is_help, usage_error
from litepyramid.errors import InputError, LitepyramidError
from litepyramid.text import legible


def main() -> None:
    """Runs the command line; a user's mistake is one message on stderr and exit status 2."""
    _open_streams()
    warnings.showwarning = _show_warning
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    said: object = ""
    try:
        status = app(prog_name="litepyramid", standalone_mode=False) or 0
        said = "interrupted" if status == 130 else ""  # stopped before a command began
        sys.stdout.flush()
    except LitepyramidError as error:
        status, said = 2, error
    except USAGE_ERROR as error:
        status, said = 2, "" if is_help(error) else usage_error(error, app, sys.argv[1:])
    except typer.Abort:
        status, said = 1, "stopped"
    except BrokenPipeError:
        status = 141
    except InterruptError as stop:
        status, said = 130, f"interrupted; {stop}"
    except OSError as error:
        where = error.filename or "standard output"
        status, said = 2, InputError(f"cannot be used ({error.strerror or error})", path=where)
    if said:
        _say(f"litepyramid: {said}\n")
    _flush(sys.stdout)
    sys.exit(status)


def _open_streams() -> None:
    """Opens what the caller has closed, lest a file of ours take its place: stdout to fail."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            empty = os.open(os.devnull, os.O_WRONLY if number == 2 else os.O_RDONLY)
            os.dup2(empty, number)
            setattr(sys, name, os.fdopen(number, "w" if number else "r", closefd=False))


def _say(text: str, stream: TextIO | None = None) -> None:
    stream = stream or sys.stderr
    with suppress(OSError):
        stream.write(text)
    _flush(stream)


def _flush(stream: TextIO) -> None:
    """Writes what is left; what cannot be written is not tried again when the process ends."""
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """A warning as one line for people, without the place in the code that gave it."""
    _say(f"litepyramid: warning: {legible(str(message))}\n", file)
