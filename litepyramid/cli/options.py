"""Options that several commands share, written once."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer

from litepyramid.cli.outputs import FILLED, MADE, WRITTEN

FILES, STATISTICS = "Files and tables", "Statistics"
"""Panels of the help, after the options that matter most, which are in none."""


def option(help: str, *names: str, panel: str | None = None, **more: Any) -> Any:
    r"""`typer.Option` with what the help says first; a bracket in it is not markup.

    Example:
        >>> option("How many. [default: all]", metavar="N").help
        'How many. \\[default: all]'
    """
    return typer.Option(*names, help=help.replace("[", r"\["), rich_help_panel=panel, **more)


Written = Annotated[Path, WRITTEN]
Made = Annotated[Path, MADE]
Filled = Annotated[Path, FILLED]
By = Literal["easiness", "random", "reversed", "gold"]
Form = Literal["table", "json", "csv", "latex"]
Constant = Literal["skip", "zero", "zb21"]
Kind = Literal["scu", "stu"]
Splitter = Literal["rules", "punkt"]

_SHARED = """The options of several commands.

Options:
    form (--format -f FORM): table, json, csv or latex.
    output (-o): Write to this file, not to standard output.
    figure: Draw the result: .pdf, .png or .svg.
    judge (-j JUDGE): reading, lexical, recall, llm:MODEL, a hub id or a folder.
    references (-r): References that the units come from.
    scus (-s): SCUs of the references.
    stus (-t): STUs of the references. [default: extracted]
    labels (-l): Human presence labels: a file or folder.
    stu_share (P): Share of sentences that carry STUs, 0 to 1.
    easiness: Easiness of every sentence (JSON Lines). [default: predicted]
    regressor (-g): Easiness regressor. [default: embedded]

    human (NAME): The human score; repeat or use * to average raters.
    metrics (--metric -m NAME): A metric, or pattern with *; repeat. [default: all]
    level (-l LEVEL): system, summary or global; repeat.
    coefficient (-c NAME): pearson, spearman, kendall, kendall_c or pairwise.
    coefficients (--coefficient -c NAME): pearson, spearman, kendall, kendall_c or pairwise; spa
        (system level), acc-eq (summary level); repeat.
    trials (-n N >=1): Number of trials.
    scores: Score tables: long CSV or JSONL (system,input,metric,score), sacrerouge's JSON lines, or
        the JSON of `litepyramid score`.
    full: Scores of the metrics on the whole test set; repeat.
    summaries: Summary files, or folders of them; one file per system.
    files: .pyr and .pan files, or folders, searched at any depth.
    regex (--names REGEX): Regular expression for file names without .pan and .pyr, with groups
        input and system, optionally annotator. [default: NIST's names, else INPUT.anything.SYSTEM]
    complete: Leave out systems that are not annotated on every input.
    cache: Cache file. [default: see `litepyramid cache path`]

Statistics:
    seed (N >=0): Seed of everything random.
    samples (N 1..10000000): Bootstrap samples.
    confidence (P): Confidence level of intervals.
    alpha (P): Significance level.
    constant: Correlation with a constant vector: left out, 0, or as in ZB21.
    journal: Keep finished trials here; a stopped run continues.

Few labels:
    combine (--combine/--no-combine): Estimate human scores from labels of some inputs and the
        judge.
    plan (FILE): With --combine: the labelling plan, if not at random.
    assume_random (--assume-random/--no-assume-random): With --combine: the labelled inputs are a
        random sample.
    target: With --combine: intervals for these inputs or for new ones.

Units and weights:
    weights (-w): A weight for every unit.
    importance: Score all nuggets, or only the vital ones.
    srl (BACKEND): embedded, sentences, allennlp:ARCHIVE, stanza, a file.
    coref (SOURCE): srl, none, embedded, stanza, a file.

Training:
    epochs (N): Passes over the labels.
    learning_rate (N): Peak learning rate.
    batch_size (N >=1): Pairs per update.

Judges behind an endpoint (llm:MODEL):
    endpoint: URL of an OpenAI-compatible endpoint, up to /v1; key in OPENAI_API_KEY.
    parameters (JSON): Extra request fields, as JSON.
    concurrency (N >=1): Concurrent requests. [default: 16]
    timeout (N): Seconds per request. [default: 120]
    estimate: Only show requests, tokens and price.
    prices: {"MODEL": {"in": PRICE, "out": PRICE}} per million tokens.
    max_cost: Stop before spending more (by --prices); judgements are kept.

Files and tables:
    kind: Kind of the units, if the file does not specify it. [default: stu if the file is named
        after STUs, else scu]
    ids: Input ids of line files, one per line.
    columns (NAME=COLUMN,…): Your tables' columns for input, system, summary, reference, unit,
        label, score.
    parses: Constituency trees, for a regressor on the paper's features.
    splitter: Splitter for references without sentence marks.
"""


def described(text: str) -> tuple[str, dict[str, Any]]:
    """A command's docstring as its help and the options that it declares, by parameter.

    Below the help is a section for each panel of the options, ``Options:`` for the main one. An
    entry is ``name (--option -o METAVAR >=1): help``; what is in brackets may be missing.

    Example:
        >>> help, options = described("Score.\\n\\nOptions:\\n    top (-n N >=1): How many.")
        >>> help, options["top"].default, options["top"].metavar, options["top"].min
        ('Score.', '--top', 'N', 1)
    """
    help, *sections = re.split(r"^(\S.*):\n(?=    \w+(?: \(.*?\))?: )", text, flags=re.MULTILINE)
    options = {}
    for panel, entries in zip(sections[::2], sections[1::2], strict=True):
        for entry in re.split(r"\n    (?=\w)", entries.strip()):
            name, said, meaning = re.fullmatch(_ENTRY, entry).groups()  # type: ignore[union-attr]
            words = (said or "").split()
            names = [word for word in words if word[0] == "-"]
            if not any(word.startswith("--") for word in names):
                names.insert(0, f"--{name.replace('_', '-')}")
            least, _, most = next((w for w in words if _RANGE.match(w)), "").partition("..")
            options[name] = option(
                " ".join(meaning.split()),
                *names,
                panel=None if panel == "Options" else panel,
                metavar=next((w for w in words if w[0] != "-" and not _RANGE.match(w)), None),
                min=int(least.lstrip(">=")) if least else None,
                max=int(most) if most else None,
            )
    return help.strip(), options


_ENTRY = re.compile(r"\s*(\w+)(?: \((.*?)\))?: (.*)", re.DOTALL)
_RANGE = re.compile(r">=\d|\d+\.\.\d")
SHARED = described(_SHARED)[1]
"""The options that several commands have, by parameter."""


@dataclass(frozen=True, slots=True)
class Group:
    """Marks a parameter of a command, inside its ``Annotated``, that stands for several options.

    Attributes:
        collect: Its parameters are the options; what it makes of them is the command's argument.
    """

    collect: Callable[..., Any]


def declared(function: Callable[..., Any]) -> Callable[..., Any]:
    """A command as typer takes it: with the options that its docstring or `SHARED` declares.

    Parameters before a ``/`` are arguments. Several choices are a ``Sequence`` of a ``Literal``. In
    place of a `Group` stand its options.

    Example:
        >>> def show(size: int, /, name: str = "x") -> None:
        ...     '''Show it.
        ...
        ...     Options:
        ...         size: How many.
        ...         name (-n): What.
        ...     '''
        >>> command = declared(show)
        >>> command.__doc__, command.__annotations__["name"].__metadata__[0].param_decls
        ('Show it.', ('-n',))
    """

    parameters: dict[str, inspect.Parameter] = {}
    groups: dict[str, Callable[..., Any]] = {}
    for name, entry in _parameters(function).items():
        marks = getattr(entry.annotation, "__metadata__", ())
        if group := next((mark for mark in marks if isinstance(mark, Group)), None):
            groups[name] = declared(group.collect)
            parameters |= inspect.signature(groups[name]).parameters
        else:
            parameters[name] = entry

    def command(**given: Any) -> Any:
        given = {name: _said(value) for name, value in given.items()}
        for name, collect in groups.items():
            own = inspect.signature(collect).parameters
            given[name] = collect(**{option: given.pop(option) for option in own})
        return _call(function, given)

    _signed(command, function, parameters)
    command.__doc__ = described(inspect.getdoc(function) or "")[0]
    return command


def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """A function's parameters by name, keyword-only, with types as typer takes them."""
    hints = get_type_hints(function, include_extras=True)
    own = described(inspect.getdoc(function) or "")[1]
    entries = inspect.signature(function).parameters
    if unknown := own.keys() - entries.keys():
        raise TypeError(f"{function.__name__} takes no {unknown.pop()}")
    found = {}
    for name, entry in entries.items():
        hint, info = hints[name], own.get(name, SHARED.get(name))
        if info is not None and not _is_declared(hint):
            if entry.kind is entry.POSITIONAL_ONLY:
                info = typer.Argument(help=info.help)
            hint, marks = _plain(hint)
            hint = Annotated[hint, info, *marks]
        found[name] = entry.replace(annotation=hint, kind=entry.KEYWORD_ONLY)
    return found


def _names(ids: Path | None = None, columns: str | None = None) -> dict[str, Any]:
    """How line files and tables are to be read: keyword arguments of all readers."""
    from litepyramid.io.coerce import as_names

    return as_names(ids, columns)


NamesGroup = Annotated[dict[str, Any], Group(_names)]
"""--ids and --columns, as keyword arguments of all readers."""


def _is_declared(hint: Any) -> bool:
    marks = getattr(hint, "__metadata__", ())
    return any(isinstance(mark, typer.models.ParameterInfo) for mark in marks)


def _plain(hint: Any) -> tuple[Any, tuple[str, ...]]:
    """A type without marks, its choices as an enumeration where there are several; its marks."""
    marks = getattr(hint, "__metadata__", ())
    parts = get_args(hint)
    if marks:
        return hint.__origin__, marks
    if get_origin(hint) is Sequence:
        choices = get_origin(parts[0]) is Literal
        inner: Any = StrEnum("Choice", get_args(parts[0])) if choices else parts[0]
        return list[inner], ()
    if type(None) in parts:
        inner, marks = _plain(parts[0])
        return inner | None, marks
    return hint, ()


def _call(function: Callable[..., Any], given: dict[str, Any]) -> Any:
    entries = inspect.signature(function).parameters.values()
    first = [given.pop(entry.name) for entry in entries if entry.kind is entry.POSITIONAL_ONLY]
    return function(*first, **given)


def _signed(
    wrapper: Callable[..., Any],
    command: Callable[..., Any],
    parameters: Mapping[str, inspect.Parameter],
) -> Callable[..., Any]:
    """The wrapper with the name and text of a command, and the parameters given."""
    wrapper.__name__, wrapper.__doc__ = command.__name__, command.__doc__
    wrapper.__signature__ = inspect.Signature([*parameters.values()])  # type: ignore[attr-defined]
    wrapper.__annotations__ = {name: entry.annotation for name, entry in parameters.items()}
    return wrapper


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
    figure: Written | None = None, form: Form = "table", output: Written | None = None
) -> Shown:
    from litepyramid.figures.base import check_figure

    check_figure(figure)
    return Shown(figure, form, output)


ShownGroup = Annotated[Shown, Group(_shown)]
"""--figure, --format and --output; whether the figure can be drawn is seen before all else."""


def runs(
    target: str, figure: str = "", *, write: str = "", without: Sequence[str] = (), **names: str
) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """A decorator that makes of a command a call of a function, whose result is shown.

    The command's parameters are the function's keyword arguments; groups that are a dict are taken
    apart, and what is None is left to the function's default. The dict that the command itself
    returns, if any, holds arguments that replace these.

    Args:
        target: ``module:function``, imported when the command runs.
        figure: ``module:function`` that draws the result, for `ShownGroup`.
        write: ``module:function`` that writes the result to --output; the result is shown on
            standard output then.
        without: Parameters that only the command itself looks at.
        names: By parameter, what the function calls it.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., None]:
        def body(**given: Any) -> None:
            replaced = _call(command, dict(given)) or {}
            shown = given.pop("shown", None)
            output = given.pop("output", None)
            if shown is None:
                shown = Shown(None, given.pop("form"), None if write else output)
            arguments: dict[str, Any] = {}
            for name, value in given.items():
                if isinstance(value, dict) and name not in without:
                    arguments |= value
                elif value is not None and name not in without:
                    arguments[names.get(name, name)] = value
            result = _load(target)(**arguments | replaced)
            if write and output is not None:
                _load(write)(output, result)
            shown.emit(result, lambda drawn: _load(figure)(drawn))

        return _signed(body, command, _parameters(command))

    return decorate


def _load(target: str) -> Any:
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)


def _said(value: Any) -> Any:
    """A choice as the word that it is, or each of a list of them."""
    if isinstance(value, list):
        return [_said(entry) for entry in value]
    return value.value if isinstance(value, StrEnum) else value
