"""Adds the commands of DDR22, DDR21 §5 and P19 to ``litepyramid meta``, by name."""

from __future__ import annotations

import typer

from litepyramid.cli.meta_delta import delta
from litepyramid.cli.meta_range import generate, range_
from litepyramid.cli.meta_stability import stability


def add_commands(app: typer.Typer) -> None:
    """Registers each command under its name."""
    app.command()(delta)
    app.command()(stability)
    app.command("range")(range_)
    app.command()(generate)
