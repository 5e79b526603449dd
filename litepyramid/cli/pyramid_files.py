"""``litepyramid pyramid`` and ``litepyramid units from-pyr``: pyramid files of DUC and TAC."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from litepyramid.cli.options import FormatOption, OutputOption
from litepyramid.cli.outputs import FILLED, MADE, WRITTEN

Files = Annotated[
    list[Path],
    typer.Argument(
        help=".pyr and .pan files, or folders, which are searched at any depth.",
        show_default=False,
    ),
]
Names = Annotated[
    str | None,
    typer.Option(
        "--names",
        help="Regular expression for files' names without .pan and .pyr, with the groups input and "
        "system, perhaps annotator. [default: as NIST names them, else INPUT.anything.SYSTEM]",
    ),
]
Complete = Annotated[
    bool,
    typer.Option("--complete", help="Leave out systems that are not annotated on every input."),
]


def pyramid(
    files: Files,
    references: Annotated[
        int | None,
        typer.Option(min=1, help="References of each pyramid, where the files do not say."),
    ] = None,
    names: Names = None,
    complete: Complete = False,
    scores: Annotated[
        Path | None,
        typer.Option("--scores", help="Also write every score as CSV, for litepyramid meta."),
        WRITTEN,
    ] = None,
    form: FormatOption = "table",
    output: OutputOption = None,
) -> None:
    """Modified and original Pyramid scores from the peer annotations of DUC and TAC."""
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
    output: Annotated[Path, typer.Option("--output", "-o", help="Write the units here."), MADE],
    labels: Annotated[
        Path | None, typer.Option("--labels", help="Write presence labels to this folder."), FILLED
    ] = None,
    summaries: Annotated[
        Path | None, typer.Option("--summaries", help="Write the summaries to this folder."), FILLED
    ] = None,
    references: Annotated[
        Path | None, typer.Option("--references", help="Write the references here."), MADE
    ] = None,
    names: Names = None,
    complete: Complete = False,
    form: FormatOption = "table",
) -> None:
    """Make units with weights, and labels, of the pyramid files of DUC and TAC."""
    from litepyramid.duc.convert import convert
    from litepyramid.duc.peers import read_pyramid_files
    from litepyramid.tables import emit

    folder = read_pyramid_files(files, names=names)
    if complete:
        folder = folder.complete()
    result = convert(folder, output, labels=labels, summaries=summaries, references=references)
    emit(result, form)
