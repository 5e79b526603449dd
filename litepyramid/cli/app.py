"""The commands by name, each made from its function when it is called for."""

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

import litepyramid
from litepyramid._version import __version__

COMMANDS: dict[str, tuple[str, str | dict[str, str]]] = {
    "score": ("Score", "score"),
    "compare": ("Score", "compare"),
    "combine": ("Score", "combine"),
    "precision": ("Score", "precision"),
    "report": ("Score", "report"),
    "pyramid": ("Score", "pyramid"),
    "demo": ("Score", "demo"),
    "units": ("Units", {"extract": "extract", "mix": "mix"}),
    "easiness": ("Units", {"fit": "easiness.fit", "predict": "easiness.predict"}),
    "judge": (
        "Judge",
        {"evaluate": "evaluate", "explain": "explain", "settings": "judge_settings"},
    ),
    "finetune": ("Judge", "finetune"),
    "crossval": ("Judge", "crossval"),
    "budget": (
        "Annotation",
        {
            "plan": "plan",
            "export": "export",
            "import": "import_answers",
            "label-power": "label_power",
        },
    ),
    "metrics": ("Meta-evaluation", "score_metrics"),
    "meta": (
        "Meta-evaluation",
        {
            name: f"meta.{name}"
            for name in (
                *("correlate", "interval", "compare", "rank", "delta"),
                *("normality", "difference", "stability", "testset", "range"),
            )
        },
    ),
    "convert": ("Files", "convert"),
    "cache": ("Files", "cache"),
}
"""Panel of the help, and name in `litepyramid` or the commands of a group, by command."""

GROUPS = {
    "units": "Make the units that summaries are scored by.",
    "easiness": "Predict where STUs can stand in for SCUs.",
    "judge": "Evaluate and explain judges.",
    "budget": "Plan what people annotate, export the tasks, import the answers.",
    "meta": "Meta-evaluate: how well do metrics agree with people?",
}
_HELP = """Score machine-written summaries and answers by the facts they carry.

\b
$ litepyramid demo --save example
$ litepyramid score example/summaries --references example/references.jsonl
"""


class Verbs(TyperGroup):
    """A group whose commands are made when they are asked for."""

    verbs: Mapping[str, str | dict[str, str]]
    panels: Mapping[str, str]

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names, in the order of `COMMANDS`."""
        return list(self.verbs)

    def get_command(self, ctx: Any, name: str) -> Any:
        """The command or group of a name; None if there is none."""
        if name not in self.verbs:
            return None
        if name not in self.commands:
            self.commands[name] = self._made(name)
        return self.commands[name]

    def _made(self, name: str) -> Any:
        verb = self.verbs[name]
        made: Any
        if isinstance(verb, dict):
            made = group(name, GROUPS[name], verb, {})
        else:
            from litepyramid.cli.maker import make_command

            made = make_command(name, function_of(verb))
        made.rich_help_panel = self.panels.get(name)
        return made


def function_of(name: str) -> Callable[..., Any]:
    """The function behind a name of `COMMANDS`."""
    if name == "demo":
        from litepyramid.cli.demo import demo

        return demo
    function: Callable[..., Any] = attrgetter(name)(litepyramid)
    return function


def group(
    name: str,
    text: str,
    verbs: Mapping[str, str | dict[str, str]],
    panels: Mapping[str, str],
    callback: Callable[..., None] | None = None,
) -> Verbs:
    """A group of commands.

    Args:
        name: Its name.
        text: Its help.
        verbs: By command, the function's name in `litepyramid`; or of a group its commands.
        panels: The panel of the help for each command.
        callback: What its own options do.
    """
    app = typer.Typer(
        cls=Verbs,
        name=name,
        help=text,
        no_args_is_help=True,
        add_completion=callback is not None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(callback or (lambda: None))
    made: Any = get_command(app)
    made.verbs, made.panels = verbs, panels
    return made  # type: ignore[no-any-return]


def _version(value: bool) -> None:
    if value:
        typer.echo(f"litepyramid {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


app = group(
    "litepyramid",
    _HELP,
    {name: verb for name, (_, verb) in COMMANDS.items()},
    {name: panel for name, (panel, _) in COMMANDS.items()},
    _root,
)
