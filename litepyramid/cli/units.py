"""``litepyramid units``: making the units that summaries are scored by."""

from __future__ import annotations

import typer

from litepyramid.cli import pyramid_files

app = typer.Typer(help="Make the units that summaries are scored by.", no_args_is_help=True)
app.command("from-pyr")(pyramid_files.from_pyr)
