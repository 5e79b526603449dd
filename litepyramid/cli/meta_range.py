"""``litepyramid meta range`` and ``generate``: do metrics agree where summaries are good?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from litepyramid.cli.meta import MetricOption, with_scores
from litepyramid.cli.options import (
    FormatOption,
    OutputOption,
    SeedOption,
    Shown,
    with_figure,
    with_names,
)
from litepyramid.cli.outputs import MADE, WRITTEN


@with_figure
@with_scores
def range_(
    scores: Any,
    metric: MetricOption = None,
    human: Annotated[
        str | None, typer.Option("--human", help="The metric that holds human scores.")
    ] = None,
    judged: Annotated[
        list[str] | None,
        typer.Option("--judged", help="Rows that people judged, by name or pattern; repeat."),
    ] = None,
    top: Annotated[
        Literal["baseline", "best", "human"],
        typer.Option(
            "--top",
            help="The top range: above the baseline on one metric; among the best of one metric; "
            "or the best by human score.",
        ),
    ] = "baseline",
    baseline: Annotated[
        str, typer.Option("--baseline", help="The row that is the baseline.")
    ] = "lexrank",
    best: Annotated[
        int, typer.Option("--best", min=2, help="With --top best: how many of each metric.")
    ] = 45,
    share: Annotated[
        float, typer.Option("--share", help="With --top human: the share of the judged rows.")
    ] = 0.25,
    rule: Annotated[
        Literal["text", "code"],
        typer.Option("--rule", help="Where the paper and its code differ, which to follow."),
    ] = "text",
    pairs: Annotated[
        int, typer.Option("--pairs", min=1, help="Pairs of summaries drawn for disagreement.")
    ] = 100_000,
    drawn: Annotated[
        int, typer.Option("--drawn", min=1, help="Summaries drawn for F/N (eq. 1).")
    ] = 5000,
    better: Annotated[
        list[str] | None,
        typer.Option(
            "--fn-metric",
            help="Metrics of F/N, by name or pattern; repeat. [default: all; js-* not, by --rule "
            "code]",
        ),
    ] = None,
    seed: SeedOption = 12345,
    *,
    shown: Shown,
) -> None:
    """Compare metrics with each other on average, all and top-scoring summaries."""
    from litepyramid.figures.system_level import range_figure
    from litepyramid.meta.ranges.agreement import scoring_range

    result = scoring_range(
        scores,
        metric,
        human=human,
        judged=judged or (),
        baseline=baseline,
        top=top,
        best=best,
        share=share,
        rule=rule,
        pairs=pairs,
        drawn=drawn,
        seed=seed,
        better_metrics=better,
    )
    shown.emit(result, range_figure)


@with_names
def generate(
    documents: Annotated[
        Path,
        typer.Argument(
            help="The documents: one input a line (tabs between documents), or JSON Lines "
            'with "input" and "documents".',
            show_default=False,
        ),
    ],
    references: Annotated[
        Path, typer.Option("--references", "-r", help="References of the same inputs.")
    ],
    scores: Annotated[
        Path, typer.Option("--scores", help="Write the table of scores here (long CSV)."), WRITTEN
    ],
    texts: Annotated[
        Path | None, typer.Option("--texts", help="Write the summaries here (JSON Lines)."), WRITTEN
    ] = None,
    metric: Annotated[
        list[str],
        typer.Option("--metric", "-m", help="A metric to search with and to score by; repeat."),
    ] = ["rouge-2_recall", "rouge-l_recall", "js-2"],  # noqa: B006
    summaries: Annotated[
        list[Path] | None,
        typer.Option("--summaries", help="Systems' summaries to score too: files or folders."),
    ] = None,
    inputs: Annotated[
        int | None, typer.Option("--inputs", min=1, help="Only the first so many inputs.")
    ] = None,
    population: Annotated[
        int, typer.Option("--population", min=2, help="Summaries per input and metric.")
    ] = 400,
    generations: Annotated[
        int, typer.Option("--generations", min=0, help="Rounds of the search.")
    ] = 20,
    words: Annotated[int, typer.Option("--words", min=1, help="Most words of a summary.")] = 100,
    collect: Annotated[
        Literal["spread", "last"],
        typer.Option(
            "--collect",
            help="Keep summaries spread over the range of scores, or the last population.",
        ),
    ] = "spread",
    journal: Annotated[
        Path | None,
        typer.Option("--journal", help="Keep finished searches here; a stopped run goes on."),
        MADE,
    ] = None,
    seed: SeedOption = 12345,
    form: FormatOption = "table",
    output: OutputOption = None,
    *,
    names: dict[str, Any],
) -> None:
    """Make extracts of documents over a metric's whole scoring range, by genetic search."""
    from litepyramid.io.documents import read_documents
    from litepyramid.io.references import read_references
    from litepyramid.io.summaries import read_summaries
    from litepyramid.meta.ranges.extracts import SearchSettings
    from litepyramid.meta.ranges.generation import generate as run
    from litepyramid.metrics import metric_named
    from litepyramid.tables import emit

    read = read_documents(documents, **names)
    systems = read_summaries(summaries, [d.input for d in read], **names) if summaries else []
    result = run(
        read[:inputs],
        read_references(references, **names),
        [metric_named(name) for name in metric],
        SearchSettings(population, generations, words, collect=collect),
        seed=seed,
        systems=systems,
        journal=journal,
    )
    result.write_scores(scores)
    if texts is not None:
        result.write_texts(texts)
    emit(result, form, output)
