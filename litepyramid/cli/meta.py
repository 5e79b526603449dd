"""``litepyramid meta``: how well metrics agree with people, and how sure that is."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer

from litepyramid.cli.options import FormatOption, OutputOption

app = typer.Typer(
    help="Meta-evaluation: how well metrics agree with people, and how sure that is.",
    no_args_is_help=True,
)

ScoresArgument = Annotated[
    list[Path],
    typer.Argument(
        help="Files of scores, put together: long CSV or JSONL (system,input,metric,score), "
        "sacrerouge's JSON lines, or the JSON of 'litepyramid score'.",
        show_default=False,
    ),
]
AgainstOption = Annotated[
    list[str],
    typer.Option(
        "--against", "-a", help="The human score; repeat or use * for the mean of several raters."
    ),
]
MetricOption = Annotated[
    list[str] | None,
    typer.Option("--metric", "-m", help="A metric, or a pattern with *; repeat. [default: all]"),
]


class LevelName(StrEnum):
    """The levels by name."""

    system = "system"
    summary = "summary"
    global_ = "global"


class CoefficientName(StrEnum):
    """The coefficients by name."""

    pearson = "pearson"
    spearman = "spearman"
    kendall = "kendall"
    kendall_c = "kendall_c"
    pairwise = "pairwise"


LevelsOption = Annotated[list[LevelName], typer.Option("--level", "-l", help="Repeat for more.")]
CoefficientsOption = Annotated[
    list[CoefficientName], typer.Option("--coefficient", "-c", help="Repeat for more.")
]
ConstantOption = Annotated[
    Literal["skip", "zero", "zb21"],
    typer.Option("--constant", help="What becomes of a constant vector."),
]


@app.command()
def correlate(
    scores: ScoresArgument,
    against: AgainstOption = ["human"],  # noqa: B006 (typer copies it)
    metric: MetricOption = None,
    level: LevelsOption = [LevelName.system, LevelName.summary],  # noqa: B006
    coefficient: CoefficientsOption = [  # noqa: B006
        CoefficientName.pearson,
        CoefficientName.spearman,
        CoefficientName.kendall,
    ],
    constant: ConstantOption = "skip",
    form: FormatOption = "table",
    output: OutputOption = None,
) -> None:
    """Correlate metrics with a human score, at system, summary or global level."""
    from litepyramid.meta.correlations import correlate as run
    from litepyramid.report.table import emit

    result = run(
        list(scores),
        against,
        metrics=metric,
        levels=[name.value for name in level],
        coefficients=[name.value for name in coefficient],
        constant=constant,
    )
    emit(result, form, output)
