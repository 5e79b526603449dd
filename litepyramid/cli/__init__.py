"""The command line: one module per command group, no logic, nothing heavy imported here."""

from __future__ import annotations

import io
import sys
import warnings
from typing import NoReturn, TextIO

import typer

from litepyramid.cli.app import app
from litepyramid.cli.outputs import InterruptError
from litepyramid.cli.usage import USAGE_ERROR, is_help, usage_error
from litepyramid.errors import LitepyramidError
from litepyramid.text import legible


def main() -> None:
    """Runs the command line; a user's mistake is one message on stderr and exit status 2."""
    warnings.showwarning = _show_warning
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        status = app(prog_name="litepyramid", standalone_mode=False)
        if status == 130:  # stopped before a command began
            sys.stderr.write("litepyramid: interrupted\n")
    except LitepyramidError as error:
        _stop(error)
    except USAGE_ERROR as error:
        if not is_help(error):
            _stop(usage_error(error, app, sys.argv[1:]))
        status = 2
    except typer.Abort:
        sys.stderr.write("litepyramid: stopped\n")
        status = 1
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
    except InterruptError as stop:
        sys.stderr.write(f"litepyramid: interrupted; {stop}\n")
        status = 130
    sys.exit(status)


def _stop(error: LitepyramidError) -> NoReturn:
    sys.stderr.write(f"litepyramid: {error}\n")
    sys.exit(2)


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """A warning as one line for people, without the place in the code that gave it."""
    (file or sys.stderr).write(f"litepyramid: warning: {legible(str(message))}\n")
