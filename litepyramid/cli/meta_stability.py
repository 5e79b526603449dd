"""``litepyramid meta stability``: how far a ranking would change with other inputs."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from litepyramid.cli.meta import HumanOption, MetricOption, with_tables
from litepyramid.cli.options import SeedOption, Shown, with_figure


@with_figure
@with_tables
def stability(
    tables: dict[str, Any],
    human: HumanOption = ["human"],  # noqa: B006 (typer copies it)
    no_human: Annotated[
        bool, typer.Option("--no-human", help="Show metrics only; no human score is needed.")
    ] = False,
    metric: MetricOption = None,
    size: Annotated[
        list[int] | None,
        typer.Option("--size", "-M", help="A number of inputs; repeat. [default: ten steps]"),
    ] = None,
    samples: Annotated[
        int, typer.Option("--samples", min=2, help="Pairs of rankings at each size.")
    ] = 1000,
    seed: SeedOption = 12345,
    *,
    shown: Shown,
) -> None:
    """Say how alike two rankings of the systems are that are made from M inputs each."""
    from litepyramid.figures.system_level import stability_figure
    from litepyramid.meta.system_level.ranking_stability import stability as run

    result = run(
        **tables,
        human=None if no_human else human,
        metrics=metric,
        sizes=size or None,
        samples=samples,
        seed=seed,
    )
    shown.emit(result, stability_figure)
