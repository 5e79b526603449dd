"""``litepyramid demo``."""

from __future__ import annotations

import textwrap
from pathlib import Path
from tempfile import mkdtemp

import typer

from litepyramid.cli.options import Made


def demo(
    save: Made | None = None,
    seed: int = 12345,
) -> None:
    """Show what litepyramid does on an embedded example; write its report page.

    $ litepyramid demo
    $ litepyramid demo --save example

    Options:
        save: Only copy the example's files to this new folder.
    """
    if save is not None:
        from litepyramid.embedded.example import save_example

        typer.echo(f"The example is in {save_example(save)}.")
        return
    from litepyramid.cli.tour import tour
    from litepyramid.scoring.result import ScoreResult
    from litepyramid.tables import render

    for number, step in enumerate(tour(seed), start=1):
        commands = "\n".join(
            textwrap.fill(
                command,
                77,
                initial_indent="   $ ",
                subsequent_indent="       ",
                break_long_words=False,
                break_on_hyphens=False,
            ).replace("\n", " \\\n")
            for command in step.commands
        )
        typer.echo(f"{number}. {step.heading}\n{commands}\n")
        typer.echo(render(step.result, "table"))
        if step.remark:
            typer.echo(f"{step.remark}\n")
        if isinstance(step.result, ScoreResult) and step.result.seen:
            page = Path(mkdtemp(prefix="litepyramid-")) / "litepyramid-demo.html"
            step.result.to_html(page)
            typer.echo(f"Which fact is in which summary? Open this page in a browser:\n{page}\n")
    typer.echo("Try it yourself: write the files with `litepyramid demo --save example`.")
