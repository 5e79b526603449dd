"""``litepyramid pyramid`` and ``litepyramid units from-pyr``: pyramid files of DUC and TAC."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from litepyramid.cli.options import FormatOption, OutputOption, option
from litepyramid.cli.outputs import FILLED, MADE, WRITTEN

Files = Annotated[
    list[Path], typer.Argument(help=".pyr and .pan files, or folders, searched at any depth.")
]
Names = Annotated[
    str | None,
    option(
        "Regular expression for file names without .pan and .pyr, with groups input and system, "
        "optionally annotator. [default: NIST's names, else INPUT.anything.SYSTEM]",
        metavar="REGEX",
    ),
]
Complete = Annotated[
    bool, option("Leave out systems that are not annotated on every input.", "--complete")
]


def pyramid(
    files: Files,
    references: Annotated[
        int | None,
        option("References of each pyramid, if the files do not say.", min=1, metavar="N"),
    ] = None,
    names: Names = None,
    complete: Complete = False,
    scores: Annotated[
        Path | None, option("Also write every score as CSV, for litepyramid meta."), WRITTEN
    ] = None,
    form: FormatOption = "table",
    output: OutputOption = None,
) -> None:
    """Compute original and modified Pyramid scores from DUC and TAC peer annotations.

    $ litepyramid pyramid duc
    $ litepyramid pyramid duc/*.pan duc/*.pyr --complete --scores pyramid.csv
    """
    from litepyramid.duc.peers import read_pyramid_files, score_peers
    from litepyramid.io.scores import write_scores
    from litepyramid.tables import emit

    folder = read_pyramid_files(files, names=names)
    result = score_peers(folder.complete() if complete else folder, references=references)
    if scores is not None:
        write_scores(scores, result.scores)
    emit(result, form, output)


def from_pyr(
    files: Files,
    output: Annotated[Path, option("Write the units here.", "--output", "-o"), MADE],
    labels: Annotated[Path | None, option("Write presence labels to this folder."), FILLED] = None,
    summaries: Annotated[Path | None, option("Write the summaries to this folder."), FILLED] = None,
    references: Annotated[Path | None, option("Write the references here."), MADE] = None,
    names: Names = None,
    complete: Complete = False,
    form: FormatOption = "table",
) -> None:
    """Convert DUC and TAC pyramid files to weighted units and presence labels.

    $ litepyramid units from-pyr duc -o scus.jsonl
    $ litepyramid units from-pyr duc -o scus.jsonl --labels labels --summaries \\
        summaries
    """
    from litepyramid.duc.convert import convert
    from litepyramid.duc.peers import read_pyramid_files
    from litepyramid.tables import emit

    folder = read_pyramid_files(files, names=names)
    if complete:
        folder = folder.complete()
    result = convert(folder, output, labels=labels, summaries=summaries, references=references)
    emit(result, form)
