"""``litepyramid meta simulate``: are the intervals right, do the tests find what is there?"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from litepyramid.cli.meta import (
    CoefficientName,
    HumanOption,
    LevelName,
    LevelsOption,
    MetricOption,
    SamplesOption,
    ScoresArgument,
    with_scores,
)
from litepyramid.cli.options import SeedOption, Shown, with_figure, with_names
from litepyramid.cli.outputs import MADE

app = typer.Typer(
    help="Simulate: coverage of intervals on held-out halves, power of tests.",
    no_args_is_help=True,
)

TrialsOption = Annotated[int, typer.Option("--trials", "-n", min=1, help="How many trials.")]
CoefficientOption = Annotated[
    CoefficientName, typer.Option("--coefficient", "-c", help="Of the correlations.")
]
JournalOption = Annotated[
    Path | None,
    typer.Option("--journal", help="Keep finished trials here; a stopped run goes on."),
    MADE,
]


class IntervalName(StrEnum):
    """The kinds of interval by name."""

    boot_systems = "boot-systems"
    boot_inputs = "boot-inputs"
    boot_both = "boot-both"
    fisher = "fisher"


class TestName(StrEnum):
    """The tests by name."""

    perm_both = "perm-both"
    perm_systems = "perm-systems"
    perm_inputs = "perm-inputs"
    perm_both_xor = "perm-both-xor"
    boot_both = "boot-both"
    boot_systems = "boot-systems"
    boot_inputs = "boot-inputs"
    williams = "williams"


@app.command()
@with_figure
@with_scores
def coverage(
    scores: Any,
    human: HumanOption = ["human"],  # noqa: B006 (typer copies it)
    metric: MetricOption = None,
    method: Annotated[
        list[IntervalName], typer.Option("--method", help="Kinds of interval; repeat.")
    ] = list(IntervalName),  # noqa: B006
    level: LevelsOption = [LevelName.system, LevelName.summary],  # noqa: B006
    coefficient: CoefficientOption = CoefficientName.pearson,
    confidence: Annotated[float, typer.Option("--confidence", help="Of the intervals.")] = 0.95,
    trials: TrialsOption = 1000,
    samples: SamplesOption = 1000,
    journal: JournalOption = None,
    seed: SeedOption = 12345,
    *,
    shown: Shown,
) -> None:
    """Count how often an interval from half of the data holds the other half's correlation."""
    from litepyramid.figures.correlations import coverage_figure
    from litepyramid.meta.simulate.interval_coverage import coverage as run

    result = run(
        scores,
        human,
        metrics=metric,
        method=[name.value for name in method],
        level=[name.value for name in level],
        coefficient=coefficient.value,
        confidence=confidence,
        trials=trials,
        samples=samples,
        seed=seed,
        journal=journal,
    )
    shown.emit(result, coverage_figure)


@app.command()
@with_figure
@with_names
def power(
    scores: ScoresArgument,
    human: HumanOption = ["human"],  # noqa: B006 (typer copies it)
    metric: Annotated[
        str | None,
        typer.Option("--metric", "-m", help="Make this metric worse by noise."),
    ] = None,
    summaries: Annotated[
        list[Path] | None,
        typer.Option(
            "--summaries",
            help="Make ROUGE-1 worse by random words left out of these summaries: files or "
            "folders, a system a file.",
        ),
    ] = None,
    references: Annotated[
        Path | None, typer.Option("--references", "-r", help="With --summaries: their references.")
    ] = None,
    variant: Annotated[
        Literal["recall", "f1", "precision"],
        typer.Option("--variant", help="With --summaries: of ROUGE-1."),
    ] = "recall",
    amount: Annotated[
        list[float] | None,
        typer.Option(
            "--amount",
            help="Share of the words that are kept (0 to 1), or noise in standard deviations; "
            "repeat. [default: 0.1 to 0.9, or 0.25 to 4]",
        ),
    ] = None,
    method: Annotated[list[TestName], typer.Option("--method", help="Tests; repeat.")] = [  # noqa: B006
        TestName.perm_both,
        TestName.boot_both,
        TestName.williams,
    ],
    level: LevelsOption = [LevelName.system, LevelName.summary],  # noqa: B006
    coefficient: CoefficientOption = CoefficientName.pearson,
    alpha: Annotated[float, typer.Option("--alpha", help="Level of the tests.")] = 0.05,
    trials: TrialsOption = 1000,
    samples: SamplesOption = 1000,
    journal: JournalOption = None,
    seed: SeedOption = 12345,
    *,
    shown: Shown,
    names: dict[str, Any],
) -> None:
    """Count how often tests find a metric better than itself made worse by a known amount."""
    from litepyramid.errors import InputError
    from litepyramid.figures.correlations import power_figure
    from litepyramid.io.references import read_references
    from litepyramid.io.scores import read_scores
    from litepyramid.io.summaries import read_summaries
    from litepyramid.meta.simulate.power_result import PowerSettings
    from litepyramid.meta.simulate.test_power import (
        NOISE_LEVELS,
        WORD_SHARES,
        power_on_noise,
        power_on_words,
    )

    settings = PowerSettings(
        method=tuple(name.value for name in method),
        level=tuple(name.value for name in level),
        coefficient=coefficient.value,
        trials=trials,
        samples=samples,
        alpha=alpha,
        seed=seed,
    )
    if (metric is None) == (not summaries) or bool(summaries) != (references is not None):
        raise InputError(
            "what is to be made worse is not clear",
            expected="either --metric NAME, or --summaries and --references",
        )
    table = read_scores(scores, columns=names["columns"])
    if metric is not None:
        result = power_on_noise(
            table,
            human,
            metric=metric,
            amounts=amount or NOISE_LEVELS,
            settings=settings,
            journal=journal,
        )
    else:
        targets = read_references(references, **names) if references else []
        result = power_on_words(
            table,
            read_summaries(summaries or [], [r.input for r in targets], **names),
            targets,
            human,
            variant=variant,
            shares=amount or WORD_SHARES,
            settings=settings,
            journal=journal,
        )
    shown.emit(result, power_figure)
