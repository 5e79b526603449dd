"""Options that several commands share, written once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import typer
from typer.core import TyperCommand

from litepyramid.cli.outputs import WRITTEN

FormatOption = Annotated[
    Literal["table", "json", "csv", "latex"],
    typer.Option("--format", "-f", help="How to show the result."),
]
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Write to this file instead of standard output."),
    WRITTEN,
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Seed of everything random.")]
FigureOption = Annotated[
    Path | None,
    typer.Option("--figure", help="Draw the result into this file: .pdf, .png or .svg."),
    WRITTEN,
]
JudgeOption = Annotated[
    str,
    typer.Option(
        "--judge", "-j", help="reading, lexical, recall, llm:MODEL, a hub id, or a folder."
    ),
]
KindOption = Annotated[
    Literal["scu", "stu"] | None,
    typer.Option(
        "--kind",
        help="What the units of a file are that does not say. [default: scu, or stu if the file "
        "is named after STUs]",
        show_default=False,
    ),
]
ScusOption = Annotated[Path, typer.Option("--scus", "-s", help="SCUs.", show_default=False)]
StusOption = Annotated[
    Path | None, typer.Option("--stus", "-t", help="STUs (default: extract them).")
]
TheirReferencesOption = Annotated[
    Path,
    typer.Option("--references", "-r", help="References they come from.", show_default=False),
]
StuShareOption = Annotated[
    float | None,
    typer.Option("--stu-share", help="Share of the sentences that carry STUs, 0 to 1."),
]
RegressorOption = Annotated[
    Path | None,
    typer.Option("--regressor", "-g", help="Predict by this file, not the embedded one."),
]
ColumnsOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME=COLUMN,…",
        help="What tables call the columns input, system, summary, reference, unit, label, score.",
    ),
]
TreesOption = Annotated[
    Path | None,
    typer.Option("--parses", help="Constituency trees, for a regressor on the paper's features."),
]


OLD_NAMES = {"human": ["--against", "-a"], "samples": ["-k"]}
"""By parameter, names that its option once had: `WithOldNames` takes them, no help shows them."""


class WithOldNames(TyperCommand):
    """A command whose options can be called by their old names too."""

    def make_parser(self, ctx: Any) -> Any:
        """The parser, told the old names."""
        parser = super().make_parser(ctx)
        for param in self.params:
            if param.name in OLD_NAMES:
                twin = copy(param)
                twin.opts = OLD_NAMES[param.name]
                twin.add_to_parser(parser, ctx)
        return parser


def old_share(name: str) -> Any:
    """The hidden option --share, as all shares were once called, with a hint at its new name."""

    def hint(value: Any) -> Any:
        if value:
            typer.echo(f"--share is now {name}: whose share it is.", err=True)
        return value

    return typer.Option("--share", hidden=True, callback=hint)


OldStuShareOption = Annotated[float | None, old_share("--stu-share")]


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
        Path | None, typer.Option("--ids", help="Ids of line files' inputs, one a line.")
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
    form: Literal["table", "json", "csv", "latex"]
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


def with_figure(command: Callable[..., None]) -> Callable[..., None]:
    """Adds --figure, --format and --output to a command that takes `shown`.

    Whether the figure can be drawn is seen before the command's work.
    """
    return with_options("shown", _shown)(command)
