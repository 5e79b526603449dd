"""``litepyramid convert``: TREC's files into ours and back."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from litepyramid.cli.options import Form, Written

What = Literal[
    "units",
    "summaries",
    "labels",
    "scores",
    "nuggets",
    "answers",
    "assignments",
    "leaderboard",
]


def convert(
    files: list[Path],
    /,
    output: Written,
    to: What | None = None,
    form: Form = "table",
) -> None:
    """Convert TREC nuggets, answers, assignments and leaderboards to litepyramid's files, or back.

    $ litepyramid convert example/scus.jsonl -o nuggets.jsonl --to nuggets
    $ litepyramid convert nuggets.jsonl -o units.jsonl

    Options:
        files: TREC nuggets, assignments, answers, claims or leaderboards; or litepyramid's units,
            summaries, labels, scores or results. Several files are joined.
        output (-o): Write to this file.
        to (WHAT): What to write. [default: the counterpart of FILES]
    """
    from litepyramid.scoring.convert import convert as run
    from litepyramid.tables import emit

    emit(run(files, output, to), form)
