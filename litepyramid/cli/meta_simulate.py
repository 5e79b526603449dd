"""``litepyramid meta simulate``: are the intervals right, do the tests find what is there?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import typer

from litepyramid.cli.meta_options import (
    FIGURES,
    HUMAN,
    LEVELS,
    Coefficient,
    Level,
    Names,
    ScoresGroup,
    Test,
)
from litepyramid.cli.options import Made, NamesGroup, ShownGroup, runs

app = typer.Typer(
    help="""Simulate the coverage of intervals on held-out halves and the power of tests.

    $ litepyramid meta simulate coverage table.csv --trials 4 --samples 50
    $ litepyramid meta simulate power table.csv --metric rouge --trials 4 \\
        --samples 50
    """,
    no_args_is_help=True,
)
Interval = Literal["boot-systems", "boot-inputs", "boot-both", "fisher"]


@app.command()
@runs("litepyramid.meta:coverage", f"{FIGURES}coverage_figure")
def coverage(
    scores: ScoresGroup,
    human: Names = HUMAN,
    metrics: Names | None = None,
    method: Sequence[Interval] = ("boot-systems", "boot-inputs", "boot-both", "fisher"),
    level: Sequence[Level] = LEVELS,
    coefficient: Coefficient = "pearson",
    trials: int = 1000,
    samples: int = 1000,
    confidence: float = 0.95,
    seed: int = 12345,
    journal: Made | None = None,
    *,
    shown: ShownGroup,
) -> None:
    """Count how often an interval from half of the data contains the other half's correlation.

    $ litepyramid meta simulate coverage table.csv --trials 4 --samples 50
    $ litepyramid meta simulate coverage table.csv -m rouge --method fisher \\
        --trials 4

    Options:
        method (METHOD): boot-systems, boot-inputs, boot-both or fisher; repeat.
    """


@app.command()
def power(
    scores: list[Path],
    /,
    human: Names = HUMAN,
    metric: str | None = None,
    summaries: list[Path] | None = None,
    references: Path | None = None,
    variant: Literal["recall", "f1", "precision"] = "recall",
    amount: list[float] | None = None,
    method: Sequence[Test] = ("perm-both", "boot-both", "williams"),
    level: Sequence[Level] = LEVELS,
    coefficient: Coefficient = "pearson",
    trials: int = 1000,
    samples: int = 1000,
    alpha: float = 0.05,
    seed: int = 12345,
    journal: Made | None = None,
    *,
    shown: ShownGroup,
    names: NamesGroup,
) -> None:
    """Count how often tests find a metric better than a version made worse by a known amount.

    $ litepyramid meta simulate power table.csv --metric rouge --trials 4 \\
        --samples 50
    $ litepyramid meta simulate power scores.json --summaries example/summaries \\
        -r example/references.jsonl --trials 2 --samples 50 --amount 0.5

    Options:
        metric (-m NAME): Make this metric worse by noise.
        summaries: Make ROUGE-1 worse by removing words from these summaries.
        references (-r): With --summaries: their references.
        variant (NAME): With --summaries: recall, f1 or precision of ROUGE-1.
        amount (N): Share of words kept (0 to 1), or noise in standard deviations; repeat. [default:
            0.1 to 0.9, or 0.25 to 4]
        method (METHOD): Tests, as in `litepyramid meta compare`; repeat.
    """
    from litepyramid import meta
    from litepyramid.errors import InputError
    from litepyramid.figures.correlations import power_figure
    from litepyramid.io.references import read_references
    from litepyramid.io.scores import read_scores
    from litepyramid.io.summaries import read_summaries
    from litepyramid.meta.simulate.test_power import PowerSettings

    if (metric is None) == (not summaries) or bool(summaries) != (references is not None):
        raise InputError(
            "no metric to make worse, or two",
            expected="either --metric NAME, or --summaries and --references",
        )
    table = read_scores(scores, columns=names["columns"])
    options: dict[str, Any] = {
        "human": human,
        "journal": journal,
        "settings": PowerSettings(
            method=tuple(method),
            level=tuple(level),
            coefficient=coefficient,
            trials=trials,
            samples=samples,
            alpha=alpha,
            seed=seed,
        ),
    }
    if metric is not None:
        worse = {"amounts": amount} if amount else {}
        result = meta.power_on_noise(table, metric=metric, **worse, **options)
    else:
        worse = {"shares": amount} if amount else {}
        targets = read_references(references, **names) if references else []
        systems = read_summaries(summaries or [], [entry.input for entry in targets], **names)
        result = meta.power_on_words(table, systems, targets, variant=variant, **worse, **options)
    shown.emit(result, power_figure)
