"""``litepyramid meta``: how well metrics agree with people, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from litepyramid.cli.options import (
    ColumnsOption,
    FormatOption,
    OutputOption,
    SeedOption,
    Shown,
    with_figure,
    with_options,
)

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
FullOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--full",
        help="Scores of the metrics on the whole test set: their averages are taken from there. "
        "Repeat for more files.",
    ),
]
HumanOption = Annotated[
    list[str],
    typer.Option(
        "--human", help="The human score; repeat or use * for the mean of several raters."
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
SamplesOption = Annotated[int, typer.Option("--samples", min=1, help="Number of samples.")]


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


@app.command()
@with_scores
def correlate(
    scores: Any,
    human: HumanOption = ["human"],  # noqa: B006 (typer copies it)
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
    from litepyramid.tables import emit

    result = run(
        scores,
        human,
        metrics=metric,
        level=[name.value for name in level],
        coefficient=[name.value for name in coefficient],
        constant=constant,
    )
    emit(result, form, output)


@app.command()
@with_figure
@with_scores
def interval(
    scores: Any,
    human: HumanOption = ["human"],  # noqa: B006
    metric: MetricOption = None,
    level: LevelsOption = [LevelName.system, LevelName.summary],  # noqa: B006
    coefficient: CoefficientsOption = [CoefficientName.kendall],  # noqa: B006
    method: Annotated[
        Literal["boot-both", "boot-systems", "boot-inputs", "fisher"],
        typer.Option("--method", help="What is drawn with replacement, or Fisher's formula."),
    ] = "boot-both",
    samples: SamplesOption = 1000,
    seed: SeedOption = 12345,
    confidence: Annotated[
        float, typer.Option("--confidence", help="Share inside the ends.")
    ] = 0.95,
    constant: ConstantOption = "skip",
    *,
    shown: Shown,
) -> None:
    """Confidence intervals of correlations, by bootstrap or Fisher's transformation."""
    from litepyramid.figures.correlations import interval_figure
    from litepyramid.meta.intervals import interval as run

    result = run(
        scores,
        human,
        metrics=metric,
        level=[name.value for name in level],
        coefficient=[name.value for name in coefficient],
        method=method,
        samples=samples,
        seed=seed,
        confidence=confidence,
        constant=constant,
    )
    shown.emit(result, interval_figure)


@app.command()
@with_figure
@with_scores
def compare(
    scores: Any,
    human: HumanOption = ["human"],  # noqa: B006
    metric: MetricOption = None,
    level: LevelsOption = [LevelName.system, LevelName.summary],  # noqa: B006
    coefficient: CoefficientsOption = [CoefficientName.kendall],  # noqa: B006
    method: Annotated[
        Literal[
            "perm-both",
            "perm-systems",
            "perm-inputs",
            "perm-both-xor",
            "boot-both",
            "boot-systems",
            "boot-inputs",
            "williams",
        ],
        typer.Option("--method", help="Permutation, paired bootstrap, or Williams' formula."),
    ] = "perm-both",
    alternative: Annotated[
        Literal["greater", "two-sided"],
        typer.Option("--alternative", help="Is a better than b, or do they differ?"),
    ] = "greater",
    p_value: Annotated[
        Literal["plus_one", "paper"],
        typer.Option(
            "--p-value", help="(c + 1)/(k + 1) of k samples, or c/k of those strictly larger."
        ),
    ] = "plus_one",
    samples: Annotated[
        int | None,
        typer.Option(
            "--samples", min=1, help="Of a test. [default: enough for the number of tests]"
        ),
    ] = None,
    seed: SeedOption = 12345,
    alpha: Annotated[float, typer.Option("--alpha", help="Level of significance.")] = 0.05,
    correction: Annotated[
        Literal["bonferroni", "holm", "benjamini-hochberg", "none"],
        typer.Option("--correction", help="Correction for many tests."),
    ] = "bonferroni",
    group: Annotated[
        Literal["metric", "level"],
        typer.Option("--group", help="Corrected together: a metric's tests, or a level's."),
    ] = "metric",
    constant: ConstantOption = "skip",
    *,
    shown: Shown,
) -> None:
    """Test every pair of metrics: does one correlate better with the human score?"""
    from litepyramid.figures.correlations import significance_figure
    from litepyramid.meta.comparisons import compare as run

    result = run(
        scores,
        human,
        metrics=metric,
        level=[name.value for name in level],
        coefficient=[name.value for name in coefficient],
        method=method,
        alternative=alternative,
        p_value=p_value,
        samples=samples,
        seed=seed,
        alpha=alpha,
        correction=correction,
        grouping=group,
        constant=constant,
    )
    shown.emit(result, significance_figure)


@app.command()
@with_scores
def normality(
    scores: Any,
    human: Annotated[
        list[str] | None,
        typer.Option(
            "--human",
            help="The human score, tested first; repeat or use * for the mean of several raters.",
        ),
    ] = None,
    metric: MetricOption = None,
    alpha: Annotated[float, typer.Option("--alpha", help="Level of significance.")] = 0.05,
    form: FormatOption = "table",
    output: OutputOption = None,
) -> None:
    """Shapiro-Wilk tests: are scores normal, as Fisher's and Williams' formulas assume?"""
    from litepyramid.meta.normality_tests import normality as run
    from litepyramid.tables import emit

    emit(run(scores, human, metrics=metric, alpha=alpha), form, output)
