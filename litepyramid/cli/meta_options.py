"""Options that the commands of ``litepyramid meta`` share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from litepyramid.cli.options import Group

Level = Literal["system", "summary", "global"]
Coefficient = Literal["pearson", "spearman", "kendall", "kendall_c", "pairwise", "spa", "acc-eq"]
Test = Literal[
    "perm-both",
    "perm-systems",
    "perm-inputs",
    "perm-both-xor",
    "boot-both",
    "boot-systems",
    "boot-inputs",
    "williams",
]
Names = Sequence[str]
FIGURES = "litepyramid.figures.correlations:"
HUMAN = ("human",)
LEVELS: Sequence[Level] = ("system", "summary")


def read_table(scores: list[Path], /, columns: str | None = None) -> Any:
    """The scores of a command's files as one table."""
    from litepyramid.io.coerce import as_names
    from litepyramid.io.scores import read_scores

    return read_scores(scores, columns=as_names(None, columns)["columns"])


def _tables(
    scores: list[Path], /, full: list[Path] | None = None, columns: str | None = None
) -> dict[str, Any]:
    """Both tables of scores, as keyword arguments."""
    return {
        "scores": read_table(scores, columns),
        "full": read_table(full, columns) if full else None,
    }


ScoresGroup = Annotated[Any, Group(read_table)]
"""The table of a command's files of scores, with --columns."""
TablesGroup = Annotated[dict[str, Any], Group(_tables)]
"""With --full too, as keyword arguments: `scores` and `full`."""
