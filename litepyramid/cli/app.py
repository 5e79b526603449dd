"""The typer application: every command group is registered here, by name."""

from __future__ import annotations

from typing import Annotated

import typer

from litepyramid._version import __version__
from litepyramid.cli import budget, cache, easiness, meta, units
from litepyramid.cli.convert import convert
from litepyramid.cli.demo import demo
from litepyramid.cli.meta_more import add_commands
from litepyramid.cli.outputs import protect
from litepyramid.cli.pyramid_files import pyramid
from litepyramid.cli.score import compare, score
from litepyramid.cli.validation import crossval, datasets, finetune, judge_app

app = typer.Typer(
    name="litepyramid",
    help="Score machine-written summaries by the facts they carry.",
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
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Score machine-written summaries by the facts they carry."""


app.add_typer(budget.app, name="budget")
app.add_typer(cache.app, name="cache")
app.add_typer(easiness.app, name="easiness")
app.add_typer(meta.app, name="meta")
add_commands(meta.app)
app.add_typer(units.app, name="units")
app.command()(score)
app.command()(compare)
app.command()(convert)
app.command()(crossval)
app.command()(datasets)
app.command()(demo)
app.command()(finetune)
app.add_typer(judge_app, name="judge")
app.command()(pyramid)
protect(app)
