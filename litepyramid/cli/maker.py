"""Makes a command of a function: its signature and its docstring are the options and their help.

A parameter of type `DataLike` becomes the options of `litepyramid.load`, one of type `JudgeLike`
the name and settings of a judge: told once, the same in every command. What a function returns is
shown as tables, or saved in the files that ``-o`` names.
"""

import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand
from typer.main import get_command

import litepyramid
from litepyramid.errors import InputError
from litepyramid.files import check_output
from litepyramid.judges import DEFAULT_JUDGE
from litepyramid.judges.base import EstimateOnly
from litepyramid.judges.registry import parse_settings
from litepyramid.tables import Result
from litepyramid.text import legible

_SECTION = re.compile(r"^([A-Z][a-z]+(?: [a-z]+)?):\n(?=    )", re.MULTILINE)
_SHORT = {
    "units": "-u", "references": "-r", "labels": "-l", "judge": "-j", "metrics": "-m",
    "level": "-l", "coefficient": "-c", "coefficients": "-c", "scus": "-s", "stus": "-t",
    "samples": "-n",
}  # fmt: skip
_DATA = "Data"
_SOURCE = re.compile(r" \((?:ZB21|DDR21|DDR22|P19)[^)]*\)")  # told in Python and on the site
_OUTPUT = "Save the result in this file, its form by the ending: {}; repeat. '-' prints JSON."
_SETTINGS = "A setting of the judge, as KEY=VALUE; repeat. 'judge settings NAME' lists them."


@dataclass(frozen=True, slots=True)
class Documentation:
    """What a docstring tells the users of a command.

    Attributes:
        help: The text before the first section.
        arguments: The text on each parameter, from ``Args:``.
        examples: The lines of ``Command line:``.
    """

    help: str
    arguments: Mapping[str, str]
    examples: str = ""


@dataclass(slots=True)
class Command:
    """The parameters of a command, and how their values become arguments of the function.

    Attributes:
        function: The function behind it.
        parameters: What typer is told.
        data: The function's parameter that is filled with data.
        judge: The function's parameter that is filled with a judge.
        written: The function's parameter that names what it writes; empty if ``-o`` saves.
    """

    function: Callable[..., Any]
    parameters: list[inspect.Parameter] = field(default_factory=list)
    data: str = ""
    judge: str = ""
    written: str = ""


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
    named = (entry.partition(": ") for entry in entries)
    arguments = {name: " ".join(text.replace("``", "").split()) for name, _, text in named}
    paragraphs = _SOURCE.sub("", help).strip().replace("``", "").split("\n\n")
    lines = inspect.cleandoc(by_name.get("Command line", "")).replace("\\\n", " ").splitlines()
    return Documentation(
        "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs),
        {name: _SOURCE.sub("", text) for name, text in arguments.items()},
        "\n".join(_wrapped(" ".join(line.split())) for line in lines),
    )


def _wrapped(line: str) -> str:
    """A command in lines of at most 76 characters, as a shell takes them."""
    whole = re.sub(r'"[^"]*"', lambda quoted: quoted[0].replace(" ", "\0"), line)
    parts = textwrap.wrap(
        whole, 74, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
    return " \\\n".join(parts).replace("\0", " ")


def make_command(name: str, function: Callable[..., Any]) -> TyperCommand:
    """The command that calls a function with what the user types and shows what it returns.

    Args:
        name: Its name.
        function: Parameters without a default are arguments, keyword-only ones options.
    """
    described = documentation(function)
    command = _command(function, described)

    def callback(**values: Any) -> None:
        _run(command, values)

    callback.__name__ = name
    callback.__signature__ = inspect.Signature(command.parameters)  # type: ignore[attr-defined]
    callback.__annotations__ = {p.name: p.annotation for p in command.parameters}
    examples = f"\b\n{described.examples}" if described.examples else ""
    callback.__doc__ = "\n\n".join(filter(None, [described.help, examples])).replace("[", r"\[")
    app = typer.Typer(
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.command(name, cls=StrictCommand)(callback)
    made: Any = get_command(app)
    return made  # type: ignore[no-any-return]


class StrictCommand(TyperCommand):
    """A command that refuses an option given twice, where it would take the last alone."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """What is left of the words of the command line."""
        single = {
            flag: option.opts[0]
            for option in self.params
            if not getattr(option, "multiple", False) and not getattr(option, "is_flag", False)
            for flag in option.opts
            if flag.startswith("-")
        }
        words = args[: args.index("--")] if "--" in args else args
        names = [single[flag] for word in words if (flag := word.partition("=")[0]) in single]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise InputError(f"{twice} is given twice", expected="one file, folder or value")
        return super().parse_args(ctx, args)


def _command(function: Callable[..., Any], described: Documentation) -> Command:
    """Reads a signature: which parameters are arguments, options, data, a judge."""
    command = Command(function)
    hints = get_type_hints(function, include_extras=True)
    marks = {name: _mark(hint) for name, hint in hints.items()}
    entries = inspect.signature(function).parameters
    loading = inspect.signature(litepyramid.load).parameters if "data" in marks.values() else {}
    only = getattr(function, "sources", loading)  # where a verb takes some of them
    loading = {name: entry for name, entry in loading.items() if name in only}
    arguments, options, data = [], [], []
    short: set[str] = {"-o", "-J", "-h"}
    for name, entry in entries.items():
        mark, text = marks.get(name, ""), described.arguments.get(name, "")
        if entry.kind is entry.VAR_POSITIONAL:
            continue
        if mark == "data":
            command.data = name
            arguments.append(
                _argument("summaries", list[str], None, documentation(litepyramid.load))
            )
            data += _data_options(loading, entries, short)
        elif entry.kind is entry.VAR_KEYWORD or (
            name in loading and entry.kind is entry.POSITIONAL_OR_KEYWORD
        ):
            continue
        elif mark == "judge":
            command.judge = name
            options += _judge_options(text, entry, short)
        elif mark == "out":
            command.written = name
            options.append(_option(name, Path, entry.default, text, "--output", "-o"))
        elif mark == "scores":
            arguments.append(_argument(name, list[str], entry.default, described))
        elif entry.kind is entry.POSITIONAL_OR_KEYWORD and not (
            "scores" in marks.values() and entry.default is not entry.empty
        ):
            arguments.append(_argument(name, _kind(hints[name]), entry.default, described))
        else:
            flags = _flags(name, hints[name], entry.default, short)
            default = entry.default
            options.append(_option(name, _kind(hints[name]), default, text, *flags))
    if not command.written and (endings := _endings(function)):
        text = _OUTPUT.format(" ".join(endings))
        options.append(_option("output", list[str], None, text, "--output", "-o"))
    command.parameters = [*arguments, *data, *options]
    return command


def _mark(hint: Any) -> str:
    """What fills a parameter on the command line (`types.DataLike` …); empty for most."""
    marks = getattr(hint, "__metadata__", ())
    inner = get_args(hint) if get_origin(hint) in (Union, UnionType) else ()
    return str(marks[0]) if marks else next(filter(None, map(_mark, inner)), "")


def _data_options(
    loading: Mapping[str, inspect.Parameter], entries: Mapping[str, Any], short: set[str]
) -> list[Any]:
    """The options of `load`, as every command that takes data has them."""
    described = documentation(litepyramid.load).arguments
    hints = get_type_hints(litepyramid.load, include_extras=True)
    return [
        _option(
            name,
            _kind(hints[name]),
            None if entry.default is entry.empty else entry.default,
            described.get(name, ""),
            *_flags(name, hints[name], entry.default, short),
            panel=_DATA,
        )
        for name, entry in loading.items()
        if name != "summaries"
        and not (name in entries and entries[name].kind is inspect.Parameter.KEYWORD_ONLY)
    ]


def _judge_options(text: str, entry: inspect.Parameter, short: set[str]) -> list[Any]:
    default = entry.default if isinstance(entry.default, str | None) else DEFAULT_JUDGE
    text = text or documentation(litepyramid.judge).arguments["name"]
    short.add("-j")
    return [
        _option("judge", str, default, text, "--judge", "-j"),
        _option("judge_settings", list[str], None, _SETTINGS, "-J"),
    ]


def _argument(name: str, kind: Any, default: Any, described: Documentation) -> inspect.Parameter:
    text = described.arguments.get(name, "").replace("[", r"\[")
    annotation = Annotated[
        kind, typer.Argument(help=text, show_default=False, metavar=name.upper())
    ]
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


def _option(
    name: str,
    kind: Any,
    default: Any,
    text: str,
    *flags: str,
    panel: str | None = None,
) -> inspect.Parameter:
    choices = get_args(kind) if get_origin(kind) is Literal else ()
    if any(str(choice) not in text for choice in choices):
        text = f"{text} One of {', '.join(map(str, choices))}."
    several = isinstance(default, tuple | list)
    values = [*default] if several else [default]
    if not {None, False, True, inspect.Parameter.empty, ""} & {*values} and "default" not in text:
        text = f"{text} [default: {', '.join(map(str, values))}]" if values else text
    option = typer.Option(
        *flags,
        help=text.replace("[", r"\["),
        metavar="",
        rich_help_panel=panel,
        show_default=False,
    )
    many = several or get_origin(kind) is list
    if many or not isinstance(default, str | int | float | Path | type(inspect.Parameter.empty)):
        default = None
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option]
    )


def _flags(name: str, hint: Any, default: Any, short: set[str]) -> list[str]:
    """The names of an option; of several values each is named in the singular."""
    kind = _kind(hint)
    long = name.replace("_", "-")
    if get_origin(kind) is list and long.endswith("s") and not long.endswith("ss"):
        long = long.removesuffix("s")
    if kind is bool:
        return [f"--{long}/--no-{long}" if default is True else f"--{long}"]
    letter = _SHORT.get(name)
    if letter is None or letter in short:
        return [f"--{long}"]
    short.add(letter)
    return [f"--{long}", letter]


def _kind(hint: Any) -> Any:
    """The type that typer is told for a type hint; what it cannot hold is read as text.

    Example:
        >>> _kind(int | None), _kind(Sequence[str]), _kind(Any), _kind(str | Path)
        (<class 'int'>, list[str], <class 'str'>, <class 'str'>)
    """
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _kind(inner[0])
    if origin in (Union, UnionType):
        kinds = [_kind(one) for one in inner if one is not NoneType]
        several = next((kind for kind in kinds if get_origin(kind) is list), None)
        return several or (kinds[0] if len(set(map(str, kinds))) == 1 else _widest(kinds))
    if origin is Literal:
        return hint
    if origin in (Sequence, list, tuple):
        return list[_kind(inner[0]) if inner[0] in (int, float, Path) else str]  # type: ignore[misc]
    return hint if hint in (int, float, bool, Path) else str


def _widest(kinds: Sequence[Any]) -> Any:
    return float if set(kinds) == {int, float} else str


def _endings(function: Callable[..., Any]) -> list[str]:
    """The endings of files that a command's result can be saved in."""
    result = get_type_hints(function).get("return")
    classes = [one for one in get_args(result) or (result,) if isinstance(one, type)]
    return list(
        dict.fromkeys(
            ending for one in classes if issubclass(one, Result) for ending in one.endings()
        )
    )


def _run(command: Command, values: dict[str, Any]) -> None:
    """Checks what will be written, calls the function, shows or saves the result."""
    outputs = [] if command.written else list(values.pop("output", None) or ())
    files = [Path(one) for one in outputs if one != "-"]
    kind = getattr(command.function, "kind", None)  # of the result, for these arguments
    endings = kind(**_call(command, values)).endings() if kind else _endings(command.function)
    for path in files:
        if endings and path.suffix not in endings:
            expected = "one that ends in " + ", ".join(endings)
            raise InputError(f"unknown ending '{path.suffix}'", path=path, expected=expected)
        check_output(path, values)
    try:
        result = command.function(**_call(command, values))
    except EstimateOnly as estimate:
        result, outputs, files = estimate.result, [], []
    if not isinstance(result, Result):
        return
    for path in files:
        result.save(path)
        sys.stderr.write(f"Wrote {path}\n")
    try:
        if "-" in outputs:
            sys.stdout.writelines(result.json_parts())
        elif not files:
            sys.stdout.write(result.to_table())
    except BrokenPipeError:
        raise typer.Exit(141) from None
    for line in (getattr(result, "headline", ""), *getattr(result, "notes", ())) if files else ():
        sys.stderr.write(f"{legible(line)}\n" if line else "")
    if status := getattr(result, "exit_status", 0):
        raise typer.Exit(status)


def _call(command: Command, values: dict[str, Any]) -> dict[str, Any]:
    """The arguments of the function: what the user left out keeps the function's default."""
    defaults = {parameter.name: parameter.default for parameter in command.parameters}
    arguments = {
        name: value
        for name, value in values.items()
        if value != defaults[name] and not (isinstance(value, list | tuple) and not value)
    }
    if command.data and (summaries := arguments.pop("summaries", None)):
        arguments[command.data] = summaries[0] if len(summaries) == 1 else [*map(Path, summaries)]
    settings = arguments.pop("judge_settings", [])
    if command.judge:
        name = arguments.pop("judge", None)
        if settings:
            name = name or defaults["judge"] or DEFAULT_JUDGE
            name = litepyramid.judge(name, **parse_settings(settings, name=name))
        if name is not None:
            arguments[command.judge] = name
    hints = get_type_hints(command.function, include_extras=True)
    for name, value in arguments.items():
        if _mark(hints.get(name)) == "scores" and len(value) == 1:
            arguments[name] = value[0]
    return arguments
