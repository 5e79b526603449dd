"""Options that the commands of ``litepyramid meta`` share."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from litepyramid.cli.options import STATISTICS, ColumnsOption, option, with_options
from litepyramid.cli.outputs import MADE

Level = StrEnum("Level", ["system", "summary", "global"])
Coefficient = StrEnum(
    "Coefficient",
    ["pearson", "spearman", "kendall", "kendall_c", "pairwise", "spa", "acc-eq"],
)
FIGURES = "litepyramid.figures.correlations:"
LEVELS = [Level.system, Level.summary]
_COEFFICIENT = "pearson, spearman, kendall, kendall_c or pairwise"
_PAIRED = "spa (system level), acc-eq (summary level)"

ScoresArgument = Annotated[
    list[Path],
    typer.Argument(
        help="Score tables: long CSV or JSONL (system,input,metric,score), sacrerouge's JSON "
        "lines, or the JSON of `litepyramid score`."
    ),
]
FullOption = Annotated[
    list[Path] | None, option("Scores of the metrics on the whole test set; repeat.")
]
HumanOption = Annotated[
    list[str],
    option("The human score; repeat or use * to average raters.", "--human", metavar="NAME"),
]
MetricOption = Annotated[
    list[str] | None,
    option("A metric, or pattern with *; repeat. [default: all]", "--metric", "-m", metavar="NAME"),
]
LevelsOption = Annotated[
    list[Level], option("system, summary or global; repeat.", "--level", "-l", metavar="LEVEL")
]
CoefficientsOption = Annotated[
    list[Coefficient],
    option(f"{_COEFFICIENT}; {_PAIRED}; repeat.", "--coefficient", "-c", metavar="NAME"),
]
CoefficientOption = Annotated[
    Coefficient, option(f"{_COEFFICIENT}.", "--coefficient", "-c", metavar="NAME")
]
TrialsOption = Annotated[int, option("Number of trials.", "--trials", "-n", min=1, metavar="N")]
JournalOption = Annotated[
    Path | None,
    option("Keep finished trials here; a stopped run continues.", panel=STATISTICS),
    MADE,
]


def read_table(scores: ScoresArgument, columns: ColumnsOption = None) -> Any:
    """The scores of a command's files as one table."""
    from litepyramid.io.rows import parse_columns
    from litepyramid.io.scores import read_scores

    return read_scores(scores, columns=parse_columns(columns) if columns else None)


def _tables(
    scores: ScoresArgument, full: FullOption = None, columns: ColumnsOption = None
) -> dict[str, Any]:
    return {
        "scores": read_table(scores, columns),
        "full": read_table(full, columns) if full else None,
    }


def with_scores(command: Callable[..., None]) -> Callable[..., None]:
    """Adds the files of scores and --columns to a command that takes a table, `scores`."""
    return with_options("scores", read_table)(command)


def with_tables(command: Callable[..., None]) -> Callable[..., None]:
    """Adds --full too; the command takes `tables`, keyword arguments: `scores` and `full`."""
    return with_options("tables", _tables)(command)
