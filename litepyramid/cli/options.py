"""Options that several commands share, written once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import typer

from litepyramid.cli.outputs import WRITTEN

FILES, STATISTICS = "Files and tables", "Statistics"
"""Panels of the help, after the options that matter most, which are in none."""


def option(help: str, *names: str, panel: str | None = None, **more: Any) -> Any:
    r"""`typer.Option` with what the help says first; a bracket in it is not markup.

    Example:
        >>> option("How many. [default: all]", metavar="N").help
        'How many. \\[default: all]'
    """
    return typer.Option(*names, help=help.replace("[", r"\["), rich_help_panel=panel, **more)


FormatOption = Annotated[
    Literal["table", "json", "csv", "latex"],
    option("table, json, csv or latex.", "--format", "-f", metavar="FORM"),
]
OutputOption = Annotated[
    Path | None,
    option("Write to this file, not to standard output.", "--output", "-o"),
    WRITTEN,
]
FigureOption = Annotated[
    Path | None, option("Draw the result: .pdf, .png or .svg.", "--figure"), WRITTEN
]
SeedOption = Annotated[
    int, option("Seed of everything random.", min=0, metavar="N", panel=STATISTICS)
]
SamplesOption = Annotated[
    int,
    option("Bootstrap samples.", min=1, max=10_000_000, metavar="N", panel=STATISTICS),
]
ConfidenceOption = Annotated[
    float, option("Confidence level of intervals.", metavar="P", panel=STATISTICS)
]
AlphaOption = Annotated[float, option("Significance level.", metavar="P", panel=STATISTICS)]
ConstantOption = Annotated[
    Literal["skip", "zero", "zb21"],
    option("Correlation with a constant vector: left out, 0, or as in ZB21.", panel=STATISTICS),
]
JudgeOption = Annotated[
    str,
    option(
        "reading, lexical, recall, llm:MODEL, a hub id or a folder.",
        "--judge",
        "-j",
        metavar="JUDGE",
    ),
]
KindOption = Annotated[
    Literal["scu", "stu"] | None,
    option(
        "Kind of the units, if the file does not specify it. [default: stu if the file is named "
        "after STUs, else scu]",
        show_default=False,
        panel=FILES,
    ),
]
ReferencesArgument = Annotated[
    Path, typer.Argument(help="References: JSON Lines, a table, or a line file.")
]
SummariesArgument = Annotated[
    list[Path], typer.Argument(help="Summary files, or folders of them; one file per system.")
]
ScusOption = Annotated[Path, option("SCUs of the references.", "--scus", "-s")]
StusOption = Annotated[
    Path | None, option("STUs of the references. [default: extracted]", "--stus", "-t")
]
TheirReferencesOption = Annotated[
    Path, option("References that the units come from.", "--references", "-r")
]
LabelsOption = Annotated[
    Path | None, option("Human presence labels: a file or folder.", "--labels", "-l")
]
StuShareOption = Annotated[
    float | None, option("Share of sentences that carry STUs, 0 to 1.", metavar="P")
]
ByOption = Annotated[
    Literal["easiness", "random", "reversed", "gold"],
    option("How sentences are ranked: easiness, random, reversed or gold.", metavar="BY"),
]
EasinessOption = Annotated[
    Path | None, option("Easiness of every sentence (JSON Lines). [default: predicted]")
]
RegressorOption = Annotated[
    Path | None, option("Easiness regressor. [default: embedded]", "--regressor", "-g")
]
ColumnsOption = Annotated[
    str | None,
    option(
        "Your tables' columns for input, system, summary, reference, unit, label, score.",
        metavar="NAME=COLUMN,…",
        panel=FILES,
    ),
]
TreesOption = Annotated[
    Path | None,
    option("Constituency trees, for a regressor on the paper's features.", panel=FILES),
]
SplitterOption = Annotated[
    Literal["rules", "punkt"],
    option("Splitter for references without sentence marks.", panel=FILES),
]


def with_options(
    name: str, collect: Callable[..., Any]
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that puts a group of options, declared once, in place of one parameter.

    Args:
        name: The parameter of the command that the options stand for.
        collect: Its parameters are the options; what it makes of them is the command's argument.
            It is called before the command.

    Raises:
        TypeError: The decorated command has no such parameter.

    Example:
        >>> def both(left: int = 1, right: int = 2) -> int:
        ...     return left + right
        >>> def show(total: int, last: str = "!") -> None:
        ...     print(f"{total}{last}")
        >>> command = with_options("total", both)(show)
        >>> list(inspect.signature(command).parameters)
        ['left', 'right', 'last']
        >>> command(left=5, right=6, last=".")
        11.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        own, added = _parameters(command), _parameters(collect)
        if name not in own:
            raise TypeError(f"{command.__name__} takes no {name}")

        @wraps(command)
        def wrapped(**given: Any) -> Any:
            collected = collect(**{option: given.pop(option) for option in added})
            return command(**given, **{name: collected})

        parameters = [
            entry
            for parameter in own.values()
            for entry in (added.values() if parameter.name == name else (parameter,))
        ]
        wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        wrapped.__annotations__ = {entry.name: entry.annotation for entry in parameters}
        return wrapped

    return decorate


def _names(
    ids: Annotated[
        Path | None, option("Input ids of line files, one per line.", panel=FILES)
    ] = None,
    columns: ColumnsOption = None,
) -> dict[str, Any]:
    """How line files and tables are to be read: keyword arguments of all readers."""
    from litepyramid.io.inputs import read_ids
    from litepyramid.io.rows import parse_columns

    return {
        "ids": read_ids(ids) if ids else None,
        "columns": parse_columns(columns) if columns else None,
    }


def with_names(command: Callable[..., None]) -> Callable[..., None]:
    """Adds --ids and --columns to a command that takes `names`."""
    return with_options("names", _names)(command)


def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """A function's parameters by name, keyword-only, with their annotations resolved."""
    hints = get_type_hints(function, include_extras=True)
    return {
        name: entry.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
        for name, entry in inspect.signature(function).parameters.items()
    }


@dataclass(frozen=True, slots=True)
class Shown:
    """How a command shows its result.

    Attributes:
        figure: The file it is drawn into, if any.
        form: The form it is written in.
        output: Where to; standard output if None.
    """

    figure: Path | None
    form: Literal["table", "json", "csv", "latex", "html", "npz", "parquet", "folder"]
    output: Path | None

    def emit(self, result: Any, draw: Callable[[Any], Any]) -> None:
        """Writes the result, and if a figure is wanted what `draw` makes of it."""
        from litepyramid.figures.base import save_figure
        from litepyramid.tables import emit

        emit(result, self.form, self.output)
        if self.figure is not None:
            save_figure(draw(result), self.figure, result.signature)


def _shown(
    figure: FigureOption = None, form: FormatOption = "table", output: OutputOption = None
) -> Shown:
    from litepyramid.figures.base import check_figure

    check_figure(figure)
    return Shown(figure, form, output)


def runs(
    target: str, figure: str | None = None, **names: str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A decorator that gives a command its body: a call of a function, whose result is shown.

    The command's parameters are the function's keyword arguments; groups that are a dict are taken
    apart, and what is None is left to the function's default.

    Args:
        target: ``module:function``, imported when the command runs.
        figure: ``module:function`` that draws the result, for `with_figure`.
        names: By parameter, what the function calls it.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def body(
            form: Any = "table", output: Path | None = None, shown: Any = None, **given: Any
        ) -> None:
            arguments: dict[str, Any] = {}
            for name, value in given.items():
                arguments |= value if isinstance(value, dict) else {names.get(name, name): value}
            shown = shown or Shown(None, form, output)
            result = _load(target)(**{k: said(v) for k, v in arguments.items() if v is not None})
            shown.emit(result, lambda drawn: _load(figure or "")(drawn))

        return body

    return decorate


def _load(target: str) -> Any:
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)


def said(value: Any) -> Any:
    """A choice as the word that it is, or each of a list of them."""
    if isinstance(value, list):
        return [said(entry) for entry in value]
    return value.value if isinstance(value, StrEnum) else value


def with_figure(command: Callable[..., None]) -> Callable[..., None]:
    """Adds --figure, --format and --output to a command that takes `shown`.

    Whether the figure can be drawn is seen before the command's work.
    """
    return with_options("shown", _shown)(command)
