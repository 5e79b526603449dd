"""The commands by name, each made from its function when it is called for."""

from collections.abc import Callable
from pkgutil import resolve_name
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from litepyramid._version import __version__

COMMANDS = {
    "score": "score",
    "compare": "compare",
    "changes": "changes",
    "combine": "combine",
    "precision": "precision",
    "report": "report",
    "pyramid": "pyramid",
    "demo": "demo",
    "units extract": "extract",
    "units mix": "mix",
    "easiness fit": "easiness.fit",
    "easiness predict": "easiness.predict",
    "judge evaluate": "evaluate",
    "judge audit": "audit",
    "judge explain": "explain",
    "judge settings": "judge_settings",
    "finetune": "finetune",
    "crossval": "crossval",
    "budget plan": "plan",
    "budget export": "export",
    "budget import": "import_answers",
    "budget label-power": "label_power",
    "metrics": "score_metrics",
    "meta correlate": "meta.correlate",
    "meta interval": "meta.interval",
    "meta compare": "meta.compare",
    "meta rank": "meta.rank",
    "meta delta": "meta.delta",
    "meta difference": "meta.difference",
    "meta stability": "meta.stability",
    "meta range": "meta.range",
    "convert": "convert",
    "cache": "cache",
}
"""By command the name of its function in `litepyramid`."""

_PANELS = {
    "Score": "score compare changes combine precision report pyramid demo",
    "Units": "units easiness",
    "Judge": "judge finetune crossval",
    "Annotation": "budget",
    "Meta-evaluation": "metrics meta",
    "Files": "convert cache",
}
_GROUPS = {
    "units": "Make the units that summaries are scored by.",
    "easiness": "Predict where STUs can stand in for SCUs.",
    "judge": "Evaluate, explain and compare judges.",
    "budget": "Plan what people annotate, export the tasks, import the answers.",
    "meta": "Meta-evaluate: how well do metrics agree with people?",
}
_HELP = """Score machine-written summaries and answers by the facts they carry.

\b
$ litepyramid demo --save example
$ litepyramid score example/summaries --references example/references.jsonl
"""


class Verbs(TyperGroup):
    """The commands that begin with a prefix, each made when it is asked for."""

    prefix = ""

    def list_commands(self, ctx: Any) -> list[str]:
        """Their next words, in the order of `COMMANDS`."""
        below = [name for name in COMMANDS if name.startswith(self.prefix)]
        return list(
            dict.fromkeys(name.removeprefix(self.prefix).split()[0] for name in below)
        )

    def get_command(self, ctx: Any, name: str) -> Any:
        """The command or group of a name; None if there is none."""
        if name not in self.list_commands(ctx):
            return None
        words = self.prefix + name
        if name not in self.commands and words in COMMANDS:
            from litepyramid.cli.maker import make_command

            self.commands[name] = make_command(name, function_of(words))
        elif name not in self.commands:
            self.commands[name] = _group(
                name, _GROUPS[name], lambda: None, prefix=f"{name} "
            )

        panels = (panel for panel, names in _PANELS.items() if words in names.split())
        made: Any = self.commands[name]
        made.rich_help_panel = next(panels, None)
        return made


def function_of(command: str) -> Callable[..., Any]:
    """The function behind a command."""
    module = "litepyramid.cli.demo" if command == "demo" else "litepyramid"
    function: Callable[..., Any] = resolve_name(f"{module}:{COMMANDS[command]}")
    return function


def _group(
    name: str, help: str, callback: Callable[..., None], *, prefix: str = ""
) -> Verbs:
    """A group of commands; `callback` has its own options."""
    app = typer.Typer(
        cls=Verbs,
        name=name,
        help=help,
        no_args_is_help=True,
        add_completion=not prefix,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(callback)
    made: Any = get_command(app)
    made.prefix = prefix
    return made  # type: ignore[no-any-return]


def _version(value: bool) -> None:
    if value:
        typer.echo(f"litepyramid {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_version,
            is_eager=True,
            help="Show the version.",
        ),
    ] = False,
) -> None:
    pass


app = _group("litepyramid", _HELP, _root)
