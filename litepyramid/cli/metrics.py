"""``litepyramid metrics``: scores of other metrics, as the table that ``meta`` takes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from litepyramid.cli.options import Form, NamesGroup, Written, runs


@runs("litepyramid.scoring.metric_scores:metric_scores", without=["metric", "names"])
def metrics(
    summaries: list[Path],
    /,
    references: Path,
    metric: Sequence[str] = ("rouge-1,rouge-2,rouge-l",),
    form: Form = "csv",
    output: Written | None = None,
    *,
    names: NamesGroup,
) -> Any:
    """Score summaries with ROUGE, BLEU, chrF, METEOR, BERTScore or JS-2, for litepyramid meta.

    $ litepyramid metrics example/summaries -r example/references.jsonl \\
        -o rouge.csv
    $ litepyramid metrics example/summaries -r example/references.jsonl \\
        -m rouge-1,js-2 -f table

    Options:
        references (-r): References of the inputs.
        metric (-m NAMES): rouge-1, rouge-2, rouge-l, js-2, bleu, chrf, meteor, bertscore, or one of
            their variants (rouge-2_recall); commas or repeat.
        form (--format -f FORM): csv: one row per score; others: means.
    """
    from litepyramid.io.references import read_references
    from litepyramid.io.summaries import read_summaries

    wanted = read_references(references, **names)
    return {
        "references": wanted,
        "summaries": read_summaries(summaries, [entry.input for entry in wanted], **names),
        "metrics": [name.strip() for part in metric for name in part.split(",")],
    }
