"""``litepyramid metrics``: scores of other metrics, as the table that ``meta`` takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from litepyramid.cli.options import OutputOption, SummariesArgument, option, with_names


@with_names
def metrics(
    summaries: SummariesArgument,
    references: Annotated[Path, option("References of the inputs.", "--references", "-r")],
    metric: Annotated[
        list[str],
        option(
            "rouge-1, rouge-2, rouge-l, js-2, bleu, chrf, meteor, bertscore, or one of their "
            "variants (rouge-2_recall); commas or repeat.",
            "--metric",
            "-m",
            metavar="NAMES",
        ),
    ] = ["rouge-1,rouge-2,rouge-l"],  # noqa: B006
    form: Annotated[
        Literal["table", "json", "csv", "latex"],
        option("csv: one row per score; others: means.", "--format", "-f", metavar="FORM"),
    ] = "csv",
    output: OutputOption = None,
    *,
    names: dict[str, Any],
) -> None:
    """Score summaries with ROUGE, BLEU, chrF, METEOR, BERTScore or JS-2, for litepyramid meta.

    $ litepyramid metrics example/summaries -r example/references.jsonl \\
        -o rouge.csv
    $ litepyramid metrics example/summaries -r example/references.jsonl \\
        -m rouge-1,js-2 -f table
    """
    from litepyramid.io.references import read_references
    from litepyramid.io.summaries import read_summaries
    from litepyramid.scoring.metric_scores import metric_scores
    from litepyramid.tables import emit

    wanted = read_references(references, **names)
    systems = read_summaries(summaries, [entry.input for entry in wanted], **names)
    chosen = [name.strip() for part in metric for name in part.split(",")]
    emit(metric_scores(systems, wanted, chosen), form, output)
