"""``litepyramid meta range`` and ``generate``: do metrics agree where summaries are good?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from litepyramid.cli.meta_options import MetricOption, with_scores
from litepyramid.cli.options import (
    FormatOption,
    OutputOption,
    SeedOption,
    Shown,
    TheirReferencesOption,
    option,
    runs,
    with_figure,
    with_names,
)
from litepyramid.cli.outputs import MADE, WRITTEN

_RULES, _SEARCH = "Ranges and samples", "Search"


@with_figure
@with_scores
@runs(
    "litepyramid.meta:scoring_range",
    "litepyramid.figures.system_level:range_figure",
    metric="metrics",
    fn_metric="better_metrics",
)
def range_(
    scores: Any,
    metric: MetricOption = None,
    human: Annotated[str | None, option("The human score.", "--human", metavar="NAME")] = None,
    judged: Annotated[
        list[str] | None,
        option("Rows that people judged, by name or pattern; repeat.", metavar="NAME"),
    ] = None,
    top: Annotated[
        Literal["baseline", "best", "human"],
        option(
            "Top range: above the baseline on one metric; among the best of one metric; or the "
            "best by human score.",
            metavar="RANGE",
        ),
    ] = "baseline",
    baseline: Annotated[str, option("The baseline row.", metavar="NAME")] = "lexrank",
    best: Annotated[
        int, option("With --top best: how many of each metric.", min=2, metavar="N", panel=_RULES)
    ] = 45,
    share: Annotated[
        float, option("With --top human: share of the judged rows.", metavar="P", panel=_RULES)
    ] = 0.25,
    rule: Annotated[
        Literal["text", "code"],
        option("Follow the paper's text or its code, where they differ.", panel=_RULES),
    ] = "text",
    pairs: Annotated[
        int, option("Pairs of summaries drawn for disagreement.", min=1, metavar="N", panel=_RULES)
    ] = 100_000,
    drawn: Annotated[
        int, option("Summaries drawn for F/N (eq. 1).", min=1, metavar="N", panel=_RULES)
    ] = 5000,
    fn_metric: Annotated[
        list[str] | None,
        option(
            "Metrics of F/N, by name or pattern; repeat. [default: all; with --rule code not js-*]",
            metavar="NAME",
            panel=_RULES,
        ),
    ] = None,
    seed: SeedOption = 12345,
    *,
    shown: Shown,
) -> None:
    """Compare metrics with each other on average, all and top-scoring summaries (P19).

    $ litepyramid meta range made.csv --top best --best 5
    $ litepyramid meta range made.csv --top best --best 5 --figure range.svg
    """


@with_names
def generate(
    documents: Annotated[
        Path,
        typer.Argument(
            help="Documents: one input per line (tabs between documents), or JSON Lines with "
            '"input" and "documents".'
        ),
    ],
    references: TheirReferencesOption,
    scores: Annotated[Path, option("Write the scores here (long CSV)."), WRITTEN],
    texts: Annotated[Path | None, option("Write the summaries here (JSON Lines)."), WRITTEN] = None,
    metric: Annotated[
        list[str],
        option("Metric to search with and score by; repeat.", "--metric", "-m", metavar="NAME"),
    ] = ["rouge-2_recall", "rouge-l_recall", "js-2"],  # noqa: B006
    summaries: Annotated[list[Path] | None, option("Also score these systems' summaries.")] = None,
    words: Annotated[int, option("Maximum words of a summary.", min=1, metavar="N")] = 100,
    form: FormatOption = "table",
    output: OutputOption = None,
    inputs: Annotated[
        int | None, option("Only the first N inputs.", min=1, metavar="N", panel=_SEARCH)
    ] = None,
    population: Annotated[
        int, option("Summaries per input and metric.", min=2, metavar="N", panel=_SEARCH)
    ] = 400,
    generations: Annotated[
        int, option("Rounds of the search.", min=0, metavar="N", panel=_SEARCH)
    ] = 20,
    collect: Annotated[
        Literal["spread", "last"],
        option("Keep summaries spread over the scores, or the last population.", panel=_SEARCH),
    ] = "spread",
    journal: Annotated[
        Path | None,
        option("Keep finished searches here; a stopped run continues.", panel=_SEARCH),
        MADE,
    ] = None,
    seed: SeedOption = 12345,
    *,
    names: dict[str, Any],
) -> None:
    """Generate extracts of documents over a metric's whole scoring range, by genetic search.

    $ litepyramid meta generate documents.txt -r documents.txt --scores made.csv \\
        --words 24 --population 30 --generations 4
    $ litepyramid meta generate documents.txt -r documents.txt --scores few.csv \\
        --words 24 --population 9 --generations 1 --metric js-2 --texts \\
        few.jsonl
    """
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
