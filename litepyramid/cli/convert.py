"""``litepyramid convert``: TREC's files into ours and back."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from litepyramid.cli.options import Form, Written, runs

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


@runs("litepyramid.scoring.convert:convert", files="paths", goal="output", to="target")
def convert(
    files: list[Path],
    /,
    goal: Written,
    to: What | None = None,
    form: Form = "table",
) -> None:
    """Convert TREC nuggets, answers, assignments and leaderboards to litepyramid's files, or back.

    $ litepyramid convert example/scus.jsonl -o nuggets.jsonl --to nuggets
    $ litepyramid convert nuggets.jsonl -o units.jsonl

    Options:
        files: TREC nuggets, assignments, answers, claims or leaderboards; or litepyramid's units,
            summaries, labels, scores or results. Several files are joined.
        goal (--output -o): Write to this file.
        to (WHAT): What to write. [default: the counterpart of FILES]
    """
