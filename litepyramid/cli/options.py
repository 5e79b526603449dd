"""Options that several commands share, written once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

FormatOption = Annotated[
    Literal["table", "json", "csv", "latex"],
    typer.Option("--format", "-f", help="How to show the result."),
]
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Write to this file instead of standard output."),
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Seed of everything random.")]
FigureOption = Annotated[
    Path | None,
    typer.Option("--figure", help="Draw the result into this file: .pdf, .png or .svg."),
]
