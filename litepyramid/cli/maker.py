"""Makes a command of a function: its signature and its docstring are the options and
their help.

A parameter of type `DataLike` becomes the options of `litepyramid.load`, one of type
`JudgeLike` the name and settings of a judge: told once, the same in every command. What
a function returns is shown as tables, or saved in the files that ``-o`` names.
"""

import inspect
import os
import re
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    Union,
    Unpack,
    get_args,
    get_origin,
    get_type_hints,
)

import typer
from typer.core import TyperCommand
from typer.main import get_command

import litepyramid
from litepyramid.disk import check_output, check_outputs
from litepyramid.errors import InputError
from litepyramid.files import whole_ending
from litepyramid.judges import DEFAULT_JUDGE
from litepyramid.judges.base import EstimateOnly
from litepyramid.judges.registry import parse_settings
from litepyramid.tables import Result
from litepyramid.text import legible

_SECTION = re.compile(r"^([A-Z][a-z]+(?: [a-z]+)?):\n(?=    )", re.MULTILINE)
_SHORT = {
    "units": "-u",
    "references": "-r",
    "labels": "-l",
    "judge": "-j",
    "metrics": "-m",
    "level": "-l",
    "coefficient": "-c",
    "coefficients": "-c",
    "scus": "-s",
    "stus": "-t",
    "samples": "-n",
}
# Papers are told in Python and on the site.
_SOURCE = re.compile(r" \((?:ZB21|DDR21|DDR22|P19)[^)]*\)")
_OUTPUT = (
    "Save the result in this file, its form by the ending: {}; repeat. '-' prints JSON."
)
_FORCE = "Replace a file that does not say that litepyramid made it."
_SETTINGS = (
    "A setting of the judge, as KEY=VALUE; repeat. 'judge settings NAME' lists them."
)


class Documentation(NamedTuple):
    """What a docstring tells: the text before its sections, ``Args:`` and ``Command
    line:``."""

    help: str
    arguments: Mapping[str, str]
    examples: str


class Command(NamedTuple):
    """A function, its parameters as typer is told them, and what fills those that are
    marked."""

    function: Callable[..., Any]
    parameters: list[inspect.Parameter]
    filled: Mapping[str, str]


def documentation(function: Callable[..., Any]) -> Documentation:
    """The parts of a Google docstring that a command shows.

    Example:
        >>> told = documentation(documentation)
        >>> told.help, told.arguments
        ('The parts of a Google docstring that a command shows.', {})
    """
    help, *sections = _SECTION.split(inspect.getdoc(function) or "")
    by_name = dict(zip(sections[::2], sections[1::2], strict=True))
    entries = re.split(r"\n    (?=\*{0,2}\w+: )", "\n" + by_name.get("Args", ""))[1:]
    arguments = {}
    for entry in entries:
        name, _, text = entry.partition(": ")
        plain = " ".join(text.replace("``", "").split())
        arguments[name] = _SOURCE.sub("", plain)
    paragraphs = _SOURCE.sub("", help).strip().replace("``", "").split("\n\n")
    told = inspect.cleandoc(by_name.get("Command line", ""))
    lines = told.replace("\\\n", " ").splitlines()

    return Documentation(
        "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs),
        arguments,
        "\n".join(_wrapped(" ".join(line.split())) for line in lines),
    )


def _wrapped(line: str) -> str:
    """A command in lines of at most 76 characters, as a shell takes them."""
    whole = re.sub(r'"[^"]*"', lambda quoted: quoted[0].replace(" ", "\0"), line)
    parts = textwrap.wrap(
        whole,
        74,
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return " \\\n".join(parts).replace("\0", " ")


def make_command(name: str, function: Callable[..., Any]) -> TyperCommand:
    """The command that calls a function with what the user types and shows what it
    returns.

    Args:
        name: Its name.
        function: Parameters without a default are arguments, keyword-only ones options.
    """
    described = documentation(function)
    command = _command(function, described.arguments)

    def callback(**values: Any) -> None:
        _run(command, values)

    callback.__name__ = name
    # typer reads the options from the signature, which no function here spells out.
    signature = inspect.Signature(command.parameters)
    callback.__signature__ = signature  # type: ignore[attr-defined]
    callback.__annotations__ = {p.name: p.annotation for p in command.parameters}
    examples = f"\b\n{described.examples}" if described.examples else ""
    callback.__doc__ = "\n\n".join(filter(None, [described.help, examples])).replace(
        "[", r"\["
    )
    app = typer.Typer(
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    app.command(name, cls=StrictCommand)(callback)
    made: Any = get_command(app)
    return made  # type: ignore[no-any-return]


class StrictCommand(TyperCommand):
    """A command that refuses an option given twice, where it would take the last
    alone."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """What is left of the words of the command line."""
        single: dict[str, str] = {}
        for entry in self.params:
            option: Any = entry
            is_option = option.param_type_name == "option"
            if is_option and not option.multiple and not option.is_flag:
                single |= dict.fromkeys(option.opts, option.opts[0])

        # What stands behind -- are arguments, whatever they look like.
        words = args[: args.index("--")] if "--" in args else args
        seen = set()
        for word in words:
            name = single.get(word.partition("=")[0])
            if name in seen:
                raise InputError(
                    f"{name} is given twice", expected="one file, folder or value"
                )
            if name is not None:
                seen.add(name)

        return super().parse_args(ctx, args)


def _command(function: Callable[..., Any], texts: Mapping[str, str]) -> Command:
    """Reads a signature: which parameters are arguments, options, data, a judge."""
    hints = get_type_hints(function, include_extras=True)
    filled = {name: filler for name, hint in hints.items() if (filler := _mark(hint))}
    entries = inspect.signature(function).parameters

    reader: Callable[..., Any] = litepyramid.load
    if "scores" in filled.values():
        reader = litepyramid.read_scores
    told = documentation(reader).arguments
    sources = _sources(reader, entries, hints)
    arguments = []
    options = []
    for name, (kind, default) in sources.items():
        options.append(_option(name, kind, default, told[name], panel="Data"))

    for name, entry in entries.items():
        text = texts.get(name, "")
        hint = hints.get(name)
        default = entry.default
        positional = entry.kind is entry.POSITIONAL_OR_KEYWORD
        mark = filled.get(name)
        if entry.kind is entry.VAR_KEYWORD or name in sources:
            continue

        if entry.kind is entry.VAR_POSITIONAL:
            text = texts.get(f"*{name}", "")
            arguments.append(_argument(name, list[str], entry.empty, text))
        elif mark == "data":
            arguments.append(_argument("summaries", list[str], None, told["data"]))
        elif mark == "judge":
            default = default if isinstance(default, str | None) else DEFAULT_JUDGE
            text = text or documentation(litepyramid.judge).arguments["name"]
            options.append(_option("judge", str, default, text))
            options.append(_option("judge_settings", list[str], None, _SETTINGS, "-J"))
        elif mark == "sample":
            options += _sample_options()
        elif mark == "out":
            options.append(_option(name, Path, default, text, "--output", "-o"))
        elif mark == "scores":
            arguments.append(_argument(name, list[str], default, text))
        elif positional and not (
            "scores" in filled.values() and default is not entry.empty
        ):
            arguments.append(_argument(name, _kind(hint), default, text))
        else:
            options.append(_option(name, hint, default, text))

    if "out" not in filled.values() and (endings := _endings(function)):
        text = _OUTPUT.format(" ".join(endings))
        options.append(_option("output", list[str], None, text, "--output", "-o"))
        options.append(_option("force", bool, False, _FORCE))

    return Command(function, [*arguments, *options], filled)


def _sources(
    reader: Callable[..., Any],
    entries: Mapping[str, inspect.Parameter],
    hints: Mapping[str, Any],
) -> dict[str, tuple[Any, Any]]:
    """The type and default of what belongs to the data, as their reader takes it.

    These are the names of the `TypedDict` of ``**sources``, and what may come second:
    the units, the human score.
    """
    names = set()
    for name, entry in entries.items():
        if entry.kind is entry.VAR_KEYWORD and get_origin(hints[name]) is Unpack:
            names |= {*get_type_hints(get_args(hints[name])[0])}
        elif entry.kind is entry.POSITIONAL_OR_KEYWORD and entry.default is None:
            # What is marked, such as the summaries, has an option of its own.
            names |= set() if _mark(hints[name]) else {name}

    if not any(entry.kind is entry.VAR_KEYWORD for entry in entries.values()):
        return {}

    kinds = get_type_hints(reader, include_extras=True)
    sources = {}
    # In the order in which the reader takes them.
    for name, entry in inspect.signature(reader).parameters.items():
        if name in names:
            sources[name] = (kinds[name], entry.default)
    return sources


def _mark(hint: Any) -> str:
    """What fills a parameter on the command line (`types.DataLike` …); empty for
    most."""
    marks = getattr(hint, "__metadata__", ())
    inner = get_args(hint) if get_origin(hint) in (Union, UnionType) else ()
    return str(marks[0]) if marks else next(filter(None, map(_mark, inner)), "")


def _argument(name: str, kind: Any, default: Any, text: str) -> inspect.Parameter:
    # A bracket begins a style in rich's texts.
    shown = typer.Argument(
        help=text.replace("[", r"\["), show_default=False, metavar=name.upper()
    )
    return _parameter(name, Annotated[kind, shown], default)


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(
        name,
        kind,
        default=default,
        annotation=annotation,
    )


def _option(
    name: str, hint: Any, default: Any, text: str, *flags: str, panel: str | None = None
) -> inspect.Parameter:
    kind = _kind(hint)
    choices = get_args(kind) if get_origin(kind) is Literal else ()
    # A docstring that explains each choice need not list them again.
    if any(str(choice) not in text for choice in choices):
        text = f"{text} One of {', '.join(map(str, choices))}."
    several = isinstance(default, tuple | list)
    values = [*default] if several else [default]
    untold = {None, False, True, inspect.Parameter.empty, ""}
    if values and untold.isdisjoint(values) and "default" not in text:
        text = f"{text} [default: {', '.join(map(str, values))}]"

    option = typer.Option(
        *(flags or _flags(name, kind, default)),
        help=text.replace("[", r"\["),
        metavar="",
        rich_help_panel=panel,
        show_default=False,
    )
    # What typer cannot hold as a default is told in the help alone: left out, the
    # function's own counts.
    many = several or get_origin(kind) is list
    if many or not isinstance(
        default, str | int | float | Path | type(inspect.Parameter.empty)
    ):
        default = None

    return _parameter(name, Annotated[kind, option], default)


def _flags(name: str, kind: Any, default: Any) -> list[str]:
    """The names of an option; of several values each is named in the singular."""
    long = name.replace("_", "-")
    if kind is bool:
        return [f"--{long}/--no-{long}" if default is True else f"--{long}"]
    if get_origin(kind) is list and not long.endswith("ss"):
        long = long.removesuffix("s")
    return [f"--{long}", *([_SHORT[name]] if name in _SHORT else [])]


def _kind(hint: Any) -> Any:
    """The type that typer is told for a type hint; what it cannot hold is read as text.

    Example:
        >>> _kind(int | None), _kind(Sequence[str]), _kind(Any), _kind(str | Path)
        (<class 'int'>, list[str], <class 'str'>, <class 'str'>)
    """
    origin = get_origin(hint)
    inner = get_args(hint)
    if origin is Annotated:
        return _kind(inner[0])

    if origin in (Union, UnionType):
        kinds = [_kind(one) for one in inner if one is not NoneType]
        several = next((kind for kind in kinds if get_origin(kind) is list), None)
        numbers = float if {*kinds} == {int, float} else str
        # A union of other types is read as text: the function tells them apart.
        return several or (kinds[0] if len(set(map(str, kinds))) == 1 else numbers)

    if origin is Literal:
        return hint
    if origin in (Sequence, list, tuple):
        one: Any = _kind(inner[0]) if inner[0] in (int, float, Path) else str
        return list[one]
    return hint if hint in (int, float, bool, Path) else str


def _endings(function: Callable[..., Any]) -> list[str]:
    """The endings of files that a command's result can be saved in."""
    result = get_type_hints(function).get("return")
    classes = [one for one in get_args(result) or (result,) if isinstance(one, type)]
    endings: dict[str, None] = {}
    for one in classes:
        if issubclass(one, Result):
            endings |= dict.fromkeys(one.endings())
    return [*endings]


def _run(command: Command, values: Mapping[str, Any]) -> None:
    """Checks what will be written, calls the function, shows or saves the result."""
    outputs = []
    force = values.get("force", False)
    if "out" not in command.filled.values():
        outputs = list(values.get("output") or ())
        written_by_us = ("output", "force")
        values = {key: one for key, one in values.items() if key not in written_by_us}
    files = [Path(one) for one in outputs if one != "-"]
    written = [name for name, mark in command.filled.items() if mark in ("out", "side")]
    sides = [Path(values[name]) for name in written if values[name] is not None]

    # Before the work: a wrong ending would be noticed after hours of judging.
    endings = _endings(command.function)
    for path in files:
        if endings and (ending := whole_ending(path)) not in endings:
            expected = "one that ends in " + ", ".join(endings)
            raise InputError(f"unknown ending '{ending}'", path=path, expected=expected)
        check_output(path, force=force)
    check_outputs([*files, *sides], _paths_among(values, written))

    try:
        result = _called(command, values)
    except EstimateOnly as estimate:
        result = estimate.result
        outputs = []
        files = []

    if not isinstance(result, Result):
        return
    for path in files:
        result.save(path, force=force)
        sys.stderr.write(f"Wrote {path}\n")

    try:
        if "-" in outputs:
            sys.stdout.writelines(result.json_parts())
        elif not files:
            sys.stdout.write(result.to_table(colour=_coloured()))
        elif result.brief is not None:
            # Whoever saves scores, or units, wants to see some too.
            sys.stdout.write(result.to_table(colour=_coloured(), brief=True))
    except BrokenPipeError:
        # The status that a shell gives a program whose reader has gone (128 + SIGPIPE).
        raise typer.Exit(141) from None

    for line in getattr(result, "plan", ()):
        sys.stderr.write(f"{legible(line)}\n")
    # A table that was not printed has shown none of these.
    told = (getattr(result, "headline", ""), *getattr(result, "notes", ()))
    for line in filter(None, told if files else ()):
        sys.stderr.write(f"{legible(line)}\n")

    if status := getattr(result, "exit_status", 0):
        raise typer.Exit(status)


def _paths_among(values: Mapping[str, Any], written: Sequence[str]) -> list[str]:
    """What the user typed that may be a file to read."""
    typed = []
    for name, value in values.items():
        if name not in written:
            several = value if isinstance(value, list | tuple) else [value]
            typed += [str(one) for one in several if isinstance(one, str | Path)]
    return typed


def _coloured() -> bool:
    """Whether tables are shown in colour: on a terminal, unless NO_COLOR is set."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return sys.stdout.isatty() and not plain


def _called(command: Command, values: Mapping[str, Any]) -> Any:
    """What the function returns; what the user left out keeps the function's default,
    and as many files as are named go to its ``*files``."""
    defaults = {parameter.name: parameter.default for parameter in command.parameters}
    arguments = {}
    for name, value in values.items():
        # An option that may be repeated and was not given is an empty list.
        if value != defaults[name] and value not in ([], ()):
            arguments[name] = value

    summaries = arguments.pop("summaries", None)
    settings = arguments.pop("judge_settings", [])

    for name, mark in command.filled.items():
        if mark == "data" and summaries:
            several = len(summaries) > 1
            arguments[name] = [*map(Path, summaries)] if several else summaries[0]
        elif mark == "scores" and len(arguments.get(name, ())) == 1:
            arguments[name] = arguments[name][0]
        elif mark == "judge":
            judge = arguments.pop("judge", None)
            if settings:
                judge = judge or defaults["judge"] or DEFAULT_JUDGE
                judge = litepyramid.judge(judge, **parse_settings(settings, name=judge))
            arguments |= {name: judge} if judge is not None else {}
        elif mark == "sample":
            entries = [option.name for option in _sample_options()]
            chosen = {key: arguments.pop(key) for key in entries if key in arguments}
            arguments |= {name: litepyramid.Sampling(**chosen)} if chosen else {}

    files: Sequence[str] = ()
    for name, entry in inspect.signature(command.function).parameters.items():
        if entry.kind is entry.VAR_POSITIONAL:
            files = arguments.pop(name)
    return command.function(*files, **arguments)


def _sample_options() -> list[inspect.Parameter]:
    """The options that say how facts are drawn (`litepyramid.Sampling`)."""
    told = documentation(litepyramid.Sampling).arguments
    hints = get_type_hints(litepyramid.Sampling)
    options = []

    for name, entry in inspect.signature(litepyramid.Sampling).parameters.items():
        default = None if entry.default is entry.empty else entry.default
        kind = hints[name]
        options.append(_option(name, kind, default, told[name], panel="Sample"))

    return options
