"""``litepyramid meta range`` and ``generate``: do metrics agree where summaries are good?"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from litepyramid.cli.meta_options import Names, ScoresGroup
from litepyramid.cli.options import Form, Made, NamesGroup, ShownGroup, Written, runs


@runs("litepyramid.meta:scoring_range", "litepyramid.figures.system_level:range_figure")
def range_(
    scores: ScoresGroup,
    metrics: Names | None = None,
    human: str | None = None,
    judged: Names | None = None,
    top: Literal["baseline", "best", "human"] = "baseline",
    baseline: str = "lexrank",
    best: int = 45,
    share: float = 0.25,
    rule: Literal["text", "code"] = "text",
    pairs: int = 100_000,
    drawn: int = 5000,
    better_metrics: Names | None = None,
    seed: int = 12345,
    *,
    shown: ShownGroup,
) -> None:
    """Compare metrics with each other on average, all and top-scoring summaries (P19).

    $ litepyramid meta range made.csv --top best --best 5
    $ litepyramid meta range made.csv --top best --best 5 --figure range.svg

    Options:
        human (NAME): The human score.
        judged (NAME): Rows that people judged, by name or pattern; repeat.
        top (RANGE): Top range: above the baseline on one metric; among the best of one metric; or
            the best by human score.
        baseline (NAME): The baseline row.

    Ranges and samples:
        best (N >=2): With --top best: how many of each metric.
        share (P): With --top human: share of the judged rows.
        rule: Follow the paper's text or its code, where they differ.
        pairs (N >=1): Pairs of summaries drawn for disagreement.
        drawn (N >=1): Summaries drawn for F/N (eq. 1).
        better_metrics (--fn-metric NAME): Metrics of F/N, by name or pattern; repeat. [default:
            all; with --rule code not js-*]
    """


def generate(
    documents: Path,
    /,
    references: Path,
    scores: Written,
    texts: Written | None = None,
    metric: Names = ("rouge-2_recall", "rouge-l_recall", "js-2"),
    summaries: list[Path] | None = None,
    words: int = 100,
    form: Form = "table",
    output: Written | None = None,
    inputs: int | None = None,
    population: int = 400,
    generations: int = 20,
    collect: Literal["spread", "last"] = "spread",
    journal: Made | None = None,
    seed: int = 12345,
    *,
    names: NamesGroup,
) -> None:
    """Generate extracts of documents over a metric's whole scoring range, by genetic search.

    $ litepyramid meta generate documents.txt -r documents.txt --scores made.csv \\
        --words 24 --population 30 --generations 4
    $ litepyramid meta generate documents.txt -r documents.txt --scores few.csv \\
        --words 24 --population 9 --generations 1 --metric js-2 --texts \\
        few.jsonl

    Options:
        documents: Documents: one input per line (tabs between documents), or JSON Lines with
            "input" and "documents".
        scores: Write the scores here (long CSV).
        texts: Write the summaries here (JSON Lines).
        metric (-m NAME): Metric to search with and score by; repeat.
        summaries: Also score these systems' summaries.
        words (N >=1): Maximum words of a summary.

    Search:
        inputs (N >=1): Only the first N inputs.
        population (N >=2): Summaries per input and metric.
        generations (N >=0): Rounds of the search.
        collect: Keep summaries spread over the scores, or the last population.
        journal: Keep finished searches here; a stopped run continues.
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
