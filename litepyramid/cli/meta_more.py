"""Adds the commands of DDR22, DDR21 §5 and P19 to ``litepyramid meta``, by name."""

from __future__ import annotations

import typer

from litepyramid.cli import meta_simulate
from litepyramid.cli.meta_delta import delta
from litepyramid.cli.meta_range import generate, range_
from litepyramid.cli.meta_stability import stability
from litepyramid.cli.meta_testset import full_set
from litepyramid.cli.options import WithOldNames


def add_commands(app: typer.Typer) -> None:
    """Registers each command under its name, and lets all take old names of options."""
    app.command("testset")(full_set)
    app.command()(delta)
    app.command()(stability)
    app.add_typer(meta_simulate.app, name="simulate")
    app.command("range")(range_)
    app.command()(generate)
    for command in (*app.registered_commands, *meta_simulate.app.registered_commands):
        command.cls = WithOldNames
