"""``litepyramid meta simulate``: are the intervals right, do the tests find what is there?"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from litepyramid.cli.meta_options import (
    FIGURES,
    LEVELS,
    Coefficient,
    CoefficientOption,
    HumanOption,
    JournalOption,
    LevelsOption,
    MetricOption,
    ScoresArgument,
    TrialsOption,
    with_scores,
)
from litepyramid.cli.options import (
    AlphaOption,
    ConfidenceOption,
    SamplesOption,
    SeedOption,
    Shown,
    option,
    runs,
    said,
    with_figure,
    with_names,
)

app = typer.Typer(
    help="""Simulate the coverage of intervals on held-out halves and the power of tests.

    $ litepyramid meta simulate coverage table.csv --trials 4 --samples 50
    $ litepyramid meta simulate power table.csv --metric rouge --trials 4 \\
        --samples 50
    """,
    no_args_is_help=True,
)
Interval = StrEnum("Interval", ["boot-systems", "boot-inputs", "boot-both", "fisher"])
Test = StrEnum(
    "Test",
    [
        "perm-both", "perm-systems", "perm-inputs", "perm-both-xor",
        "boot-both", "boot-systems", "boot-inputs", "williams",
    ],
)  # fmt: skip
_TESTS = [Test("perm-both"), Test("boot-both"), Test("williams")]


@app.command()
@with_figure
@with_scores
@runs(
    "litepyramid.meta:coverage",
    f"{FIGURES}coverage_figure",
    metric="metrics",
)
def coverage(
    scores: Any,
    human: HumanOption = ["human"],  # noqa: B006 (typer copies it)
    metric: MetricOption = None,
    method: Annotated[
        list[Interval],
        option("boot-systems, boot-inputs, boot-both or fisher; repeat.", metavar="METHOD"),
    ] = list(Interval),  # noqa: B006
    level: LevelsOption = LEVELS,
    coefficient: CoefficientOption = Coefficient.pearson,
    trials: TrialsOption = 1000,
    samples: SamplesOption = 1000,
    confidence: ConfidenceOption = 0.95,
    seed: SeedOption = 12345,
    journal: JournalOption = None,
    *,
    shown: Shown,
) -> None:
    """Count how often an interval from half of the data contains the other half's correlation.

    $ litepyramid meta simulate coverage table.csv --trials 4 --samples 50
    $ litepyramid meta simulate coverage table.csv -m rouge --method fisher \\
        --trials 4
    """


@app.command()
@with_figure
@with_names
def power(
    scores: ScoresArgument,
    human: HumanOption = ["human"],  # noqa: B006 (typer copies it)
    metric: Annotated[
        str | None, option("Make this metric worse by noise.", "--metric", "-m", metavar="NAME")
    ] = None,
    summaries: Annotated[
        list[Path] | None, option("Make ROUGE-1 worse by removing words from these summaries.")
    ] = None,
    references: Annotated[
        Path | None, option("With --summaries: their references.", "--references", "-r")
    ] = None,
    variant: Annotated[
        Literal["recall", "f1", "precision"],
        option("With --summaries: recall, f1 or precision of ROUGE-1.", metavar="NAME"),
    ] = "recall",
    amount: Annotated[
        list[float] | None,
        option(
            "Share of words kept (0 to 1), or noise in standard deviations; repeat. [default: 0.1 "
            "to 0.9, or 0.25 to 4]",
            metavar="N",
        ),
    ] = None,
    method: Annotated[
        list[Test],
        option("Tests, as in `litepyramid meta compare`; repeat.", metavar="METHOD"),
    ] = _TESTS,
    level: LevelsOption = LEVELS,
    coefficient: CoefficientOption = Coefficient.pearson,
    trials: TrialsOption = 1000,
    samples: SamplesOption = 1000,
    alpha: AlphaOption = 0.05,
    seed: SeedOption = 12345,
    journal: JournalOption = None,
    *,
    shown: Shown,
    names: dict[str, Any],
) -> None:
    """Count how often tests find a metric better than a version made worse by a known amount.

    $ litepyramid meta simulate power table.csv --metric rouge --trials 4 \\
        --samples 50
    $ litepyramid meta simulate power scores.json --summaries example/summaries \\
        -r example/references.jsonl --trials 2 --samples 50 --amount 0.5
    """
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
        method=tuple(said(method)),
        level=tuple(said(level)),
        coefficient=said(coefficient),
        trials=trials,
        samples=samples,
        alpha=alpha,
        seed=seed,
    )
    if (metric is None) == (not summaries) or bool(summaries) != (references is not None):
        raise InputError(
            "no metric to make worse, or two",
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
