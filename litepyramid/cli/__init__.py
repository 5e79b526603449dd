"""The command line: commands made from the functions that `litepyramid` exports."""

import io
import os
import re
import shlex
import sys
import warnings
from contextlib import suppress
from difflib import get_close_matches
from itertools import pairwise
from typing import Any, TextIO

import typer

from litepyramid.cli.app import COMMANDS, app
from litepyramid.errors import InputError, LitepyramidError
from litepyramid.text import legible

# What typer raises for mistakes on the command line; its package depends on typer's
# version.
_USAGE_ERROR: type[Exception] = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)
_JUDGE_SETTINGS = (
    "endpoint",
    "mode",
    "device",
    "dtype",
    "cache",
    "workers",
    "prompt",
    "revision",
)


def main() -> None:
    """Runs the command line; a user's mistake is one message on stderr and exit status
    2."""
    _open_streams()
    warnings.showwarning = _show_warning
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal in another encoding shows escapes, where it would end the program.
        sys.stdout.reconfigure(errors="backslashreplace")
    message: object = ""

    try:
        status = app(prog_name="litepyramid", standalone_mode=False) or 0
        sys.stdout.flush()
    except LitepyramidError as error:
        status = 2
        message = error
    except _USAGE_ERROR as error:  # a group without a command shows its help
        is_help = type(error).__name__ == "NoArgsIsHelpError"
        status = 2
        message = "" if is_help else _usage_error(error)
    except (KeyboardInterrupt, typer.Abort) as stop:
        notes = "; ".join(getattr(stop.__context__ or stop, "__notes__", ()))
        status = 130  # 128 + SIGINT, as shells have it
        message = f"interrupted{'; ' if notes else ''}{notes}"
    # Whoever read our output has gone, as `head` does: 128 + SIGPIPE.
    except BrokenPipeError:
        status = 141
    except MemoryError:
        status = 2
        message = InputError("not enough memory", hint="Give fewer texts at once.")
    # A full disk, say, which no reader or writer of ours has named.
    except OSError as error:
        where = error.filename or "standard output"
        status = 2
        message = InputError(f"cannot be used ({error.strerror or error})", path=where)

    if message:
        _print_error(f"litepyramid: {message}\n")
    _flush(sys.stdout)
    sys.exit(status)


def _open_streams() -> None:
    """Opens what the caller has closed, lest a file of ours take its place: stdout to
    fail."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            empty = os.open(os.devnull, os.O_WRONLY if number == 2 else os.O_RDONLY)
            os.dup2(empty, number)
            setattr(sys, name, os.fdopen(number, "w" if number else "r", closefd=False))


def _usage_error(error: Any) -> InputError:
    """What typer says of the command line, with a hint: what was meant, or how it is
    written."""
    text = " ".join(error.format_message().replace("Value error, ", "").split())
    what, _, hint = text.partition(". ")
    # The word that was wrong: quoted, or an option.
    named = re.search(r"'([^']*)'|(--?[\w-]+)", what)
    wrong = (named[1] or named[2]).strip("-") if named else ""
    command = "litepyramid"

    # A command has two words at most.
    for word in sys.argv[1:3]:
        longer = f"{command} {word}"
        heads = [f"litepyramid {name} " for name in COMMANDS]
        if any(head.startswith(f"{longer} ") for head in heads):
            command = longer

    if what.startswith("No such option") and command.endswith("budget export"):
        hint = _units_first() if wrong in ("references", "r") else hint
    elif what.startswith("No such option") and wrong in _JUDGE_SETTINGS:
        judge = " with --judge llm:MODEL" if wrong == "endpoint" else ""
        hint = f"A setting of the judge is written -J {wrong}=VALUE{judge}."
    elif what.startswith("Missing argument"):
        arguments = error.ctx.command.collect_usage_pieces(error.ctx)[1:]
        hint = re.sub("[{}]", "", f"Write {' '.join([command, *arguments])}.")
    elif what.startswith("No such command"):
        near = [name for name in COMMANDS if name.endswith(f" {wrong}")]
        near = near or get_close_matches(
            wrong, error.ctx.command.list_commands(error.ctx), 1
        )
        hint = f"Did you mean '{near[0]}'?" if near else ""

    hint = f"{hint} See '{command} --help'.".strip()
    return InputError(what[:1].lower() + what[1:].rstrip("."), hint=hint)


def _units_first() -> str:
    """What to do with references where units are needed: with those just typed."""
    words = sys.argv[1:]
    typed = [after for word, after in pairwise(words) if word in ("--references", "-r")]
    references = shlex.quote(typed[0]) if typed else "REFERENCES"
    return (
        "Units come first. People write them: "
        f"`litepyramid budget plan {references} --human-share 1 -o plan.json`, then "
        "`litepyramid budget export plan.json -o tasks`. Or they are extracted, by "
        f"'litepyramid units extract {references} -o units.jsonl', and given as "
        "--units."
    )


def _print_error(text: str) -> None:
    with suppress(OSError):
        sys.stderr.write(text)
    _flush(sys.stderr)


def _flush(stream: TextIO) -> None:
    """Writes what is left; what cannot be written is not tried again when the process
    ends."""
    try:
        stream.flush()
    except OSError:
        # Python flushes once more at its end, and would print a traceback there.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """A warning as one line for people, without the place in the code that gave it."""
    _print_error(f"litepyramid: warning: {legible(str(message))}\n")
