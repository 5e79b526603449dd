"""The typer application: every command group is registered here, by name."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from litepyramid._version import __version__
from litepyramid.cli import budget, cache, easiness, meta, units
from litepyramid.cli.convert import convert
from litepyramid.cli.demo import demo
from litepyramid.cli.metrics import metrics
from litepyramid.cli.options import declared, option
from litepyramid.cli.outputs import checked
from litepyramid.cli.pyramid_files import pyramid
from litepyramid.cli.score import compare, report, score
from litepyramid.cli.validation import crossval, datasets, finetune, judge_app

JOBS: dict[str, dict[str, Any]] = {
    "Score": {
        "score": score,
        "compare": compare,
        "report": report,
        "pyramid": pyramid,
        "demo": demo,
    },
    "Units": {"units": units.app, "easiness": easiness.app},
    "Judge": {"judge": judge_app, "finetune": finetune, "crossval": crossval},
    "Budget": {"budget": budget.app},
    "Meta-evaluation": {"metrics": metrics, "meta": meta.app},
    "Files and cache": {"convert": convert, "datasets": datasets, "cache": cache.app},
}
"""The commands and groups by panel of the help, in its order."""


OLD_NAMES = {
    "human": ["--against", "-a"],
    "samples": ["-k"],
    "stu_share": ["--share"],
    "human_share": ["--share"],
}
"""By parameter, names that its option once had: `WithOldNames` takes them, no help shows them."""


class WithOldNames(TyperCommand):
    """A command whose options can be called by their old names too."""

    def make_parser(self, ctx: Any) -> Any:
        """The parser, told the old names."""
        parser = super().make_parser(ctx)
        taken = {name for param in self.params for name in param.opts}
        for param in self.params:
            if param.name in OLD_NAMES and not taken & {*OLD_NAMES[param.name]}:
                twin = copy(param)
                twin.opts = OLD_NAMES[param.name]
                twin.add_to_parser(parser, ctx)
        return parser


class ByJob(TyperGroup):
    """The root: its help lists commands and groups in the order of `JOBS`."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names."""
        return [name for entries in JOBS.values() for name in entries]


app = typer.Typer(
    cls=ByJob,
    name="litepyramid",
    help="""Score machine-written summaries by the facts they carry.

    $ litepyramid demo --save example
    $ litepyramid score example/summaries --references example/references.jsonl
    """,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"litepyramid {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, option("Show the version.", "--version", callback=_version, is_eager=True)
    ] = False,
) -> None:
    pass


def _commands(group: typer.Typer) -> Iterator[Any]:
    """All commands, in groups too."""
    yield from group.registered_commands
    for below in group.registered_groups:
        if below.typer_instance is not None:
            yield from _commands(below.typer_instance)


for panel, entries in JOBS.items():
    for name, entry in entries.items():
        if isinstance(entry, typer.Typer):
            app.add_typer(entry, name=name, rich_help_panel=panel)
        else:
            app.command(name, rich_help_panel=panel)(entry)
for command in _commands(app):
    command.cls = WithOldNames
    if command.callback is not None:
        command.callback = checked(declared(command.callback))
