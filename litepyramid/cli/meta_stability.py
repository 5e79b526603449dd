"""``litepyramid meta stability``: how far a ranking would change with other inputs."""

from __future__ import annotations

from typing import Annotated

import typer

from litepyramid.cli.meta import AgainstOption, MetricOption, ScoresArgument
from litepyramid.cli.meta_delta import FullOption
from litepyramid.cli.options import FigureOption, FormatOption, OutputOption, SeedOption


def stability(
    scores: ScoresArgument,
    against: AgainstOption = ["human"],  # noqa: B006 (typer copies it)
    no_human: Annotated[
        bool, typer.Option("--no-human", help="Show metrics only; no human score is needed.")
    ] = False,
    metric: MetricOption = None,
    full: FullOption = None,
    size: Annotated[
        list[int] | None,
        typer.Option("--size", "-M", help="A number of inputs; repeat. [default: ten steps]"),
    ] = None,
    samples: Annotated[
        int, typer.Option("--samples", "-k", min=2, help="Pairs of rankings at each size.")
    ] = 1000,
    seed: SeedOption = 12345,
    figure: FigureOption = None,
    form: FormatOption = "table",
    output: OutputOption = None,
) -> None:
    """Say how alike two rankings of the systems are that are made from M inputs each."""
    from litepyramid.meta.rankings import stability as run
    from litepyramid.report.figure import check_figure, save_figure
    from litepyramid.report.reexamined_figures import stability_figure
    from litepyramid.report.table import emit

    check_figure(figure)
    result = run(
        list(scores),
        None if no_human else against,
        metrics=metric,
        full=full or None,
        sizes=size or None,
        samples=samples,
        seed=seed,
    )
    emit(result, form, output)
    if figure is not None:
        save_figure(stability_figure(result), figure)
