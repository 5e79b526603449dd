"""``litepyramid convert``: TREC's files into ours and back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from litepyramid.cli.options import FormatOption
from litepyramid.cli.outputs import WRITTEN


def convert(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Nuggets, assignments, answers, claims or leaderboards of TREC's; units, "
            "summaries, labels, scores or results of ours. Several are put together.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Write it here.", show_default=False), WRITTEN
    ],
    to: Annotated[
        Literal[
            "units",
            "summaries",
            "labels",
            "scores",
            "nuggets",
            "answers",
            "assignments",
            "leaderboard",
        ]
        | None,
        typer.Option(
            "--to", help="What to write. [default: the counterpart of FILES]", show_default=False
        ),
    ] = None,
    form: FormatOption = "table",
) -> None:
    """Convert TREC's nuggets, answers, assignments and leaderboards to our files, or back."""
    from litepyramid.scoring.convert import convert as run
    from litepyramid.tables import emit

    emit(run(files, output, to), form)
