"""``litepyramid convert``: TREC's files into ours and back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from litepyramid.cli.options import FormatOption, option
from litepyramid.cli.outputs import WRITTEN


def convert(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="TREC nuggets, assignments, answers, claims or leaderboards; or litepyramid's "
            "units, summaries, labels, scores or results. Several files are joined."
        ),
    ],
    output: Annotated[Path, option("Write to this file.", "--output", "-o"), WRITTEN],
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
        option("What to write. [default: the counterpart of FILES]", metavar="WHAT"),
    ] = None,
    form: FormatOption = "table",
) -> None:
    """Convert TREC nuggets, answers, assignments and leaderboards to litepyramid's files, or back.

    $ litepyramid convert example/scus.jsonl -o nuggets.jsonl --to nuggets
    $ litepyramid convert nuggets.jsonl -o units.jsonl
    """
    from litepyramid.scoring.convert import convert as run
    from litepyramid.tables import emit

    emit(run(files, output, to), form)
