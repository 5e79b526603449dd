"""``litepyramid pyramid`` and ``litepyramid units from-pyr``: pyramid files of DUC and TAC."""

from __future__ import annotations

from pathlib import Path

from litepyramid.cli.options import Filled, Form, Made, Written


def pyramid(
    files: list[Path],
    /,
    references: int | None = None,
    regex: str | None = None,
    complete: bool = False,
    scores: Written | None = None,
    form: Form = "table",
    output: Written | None = None,
) -> None:
    """Compute original and modified Pyramid scores from DUC and TAC peer annotations.

    $ litepyramid pyramid duc
    $ litepyramid pyramid duc/*.pan duc/*.pyr --complete --scores pyramid.csv

    Options:
        references (N >=1): References of each pyramid, if the files do not say.
        scores: Also write every score as CSV, for litepyramid meta.
    """
    from litepyramid.duc.peers import read_pyramid_files, score_peers
    from litepyramid.io.scores import write_scores
    from litepyramid.tables import emit

    folder = read_pyramid_files(files, names=regex)
    result = score_peers(folder.complete() if complete else folder, references=references)
    if scores is not None:
        write_scores(scores, result.scores)
    emit(result, form, output)


def from_pyr(
    files: list[Path],
    /,
    output: Made,
    labels: Filled | None = None,
    summaries: Filled | None = None,
    references: Made | None = None,
    regex: str | None = None,
    complete: bool = False,
    form: Form = "table",
) -> None:
    """Convert DUC and TAC pyramid files to weighted units and presence labels.

    $ litepyramid units from-pyr duc -o scus.jsonl
    $ litepyramid units from-pyr duc -o scus.jsonl --labels labels --summaries \\
        summaries

    Options:
        output (-o): Write the units here.
        labels: Write presence labels to this folder.
        summaries: Write the summaries to this folder.
        references: Write the references here.
    """
    from litepyramid.duc.convert import convert
    from litepyramid.duc.peers import read_pyramid_files
    from litepyramid.tables import emit

    folder = read_pyramid_files(files, names=regex)
    result = convert(
        folder.complete() if complete else folder,
        output,
        labels=labels,
        summaries=summaries,
        references=references,
    )
    emit(result, form)
