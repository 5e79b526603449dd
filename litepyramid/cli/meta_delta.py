"""``litepyramid meta delta``: what differences between systems' scores are worth."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from litepyramid.cli.meta import HumanOption, MetricOption, SamplesOption, with_tables
from litepyramid.cli.options import SeedOption, Shown, with_figure

ScaleOption = Annotated[
    float,
    typer.Option("--scale", help="Multiply the metrics by this: 100 turns 0-1 into points."),
]


@with_figure
@with_tables
def delta(
    tables: dict[str, Any],
    human: HumanOption = ["human"],  # noqa: B006 (typer copies it)
    metric: MetricOption = None,
    difference: Annotated[
        float | None,
        typer.Option(
            "--difference", "-d", help="Say what a difference of this size is worth, and no more."
        ),
    ] = None,
    lower: Annotated[
        float, typer.Option("--from", help="Smallest difference of the pairs, with --to.")
    ] = 0.0,
    upper: Annotated[
        float | None, typer.Option("--to", help="Largest difference of the pairs.")
    ] = None,
    scale: ScaleOption = 1.0,
    heat: Annotated[
        bool, typer.Option("--heat", help="Show the tables over all ranges of differences too.")
    ] = False,
    buckets: Annotated[
        int, typer.Option("--shares", min=1, help="How many shares the pairs are put into.")
    ] = 10,
    rule: Annotated[
        Literal["paper", "authors"],
        typer.Option("--rule", help="How pairs are shared out: as in the paper, or its code."),
    ] = "paper",
    min_pairs: Annotated[
        int, typer.Option("--min-pairs", min=1, help="Cells with fewer pairs are left empty.")
    ] = 5,
    target: Annotated[
        float, typer.Option("--target", help="With --difference: the agreement to reach.")
    ] = 0.95,
    window: Annotated[
        float, typer.Option("--window", help="With --difference: share of pairs near it.")
    ] = 0.2,
    interval: Annotated[
        Literal["wider", "bootstrap", "wilson"],
        typer.Option("--interval", help="With --difference: of the share that agree."),
    ] = "wider",
    confidence: Annotated[
        float, typer.Option("--confidence", help="With --difference: of the intervals.")
    ] = 0.95,
    samples: SamplesOption = 1000,
    seed: SeedOption = 12345,
    plot: Annotated[
        Literal["pairs", "scores"],
        typer.Option(
            "--plot",
            help="What --figure shows: these pairs, or the systems' scores (DDR22 Fig. 5).",
        ),
    ] = "pairs",
    *,
    shown: Shown,
) -> None:
    """Correlate over system pairs that a metric puts close together (r_SYSΔ)."""
    from litepyramid.figures.system_level import (
        delta_figure,
        difference_figure,
        system_scores_figure,
    )

    if difference is not None:
        from litepyramid.meta.system_level.differences import difference as worth

        said = worth(
            **tables,
            d=difference,
            human=human,
            metrics=metric,
            target=target,
            window=window,
            interval=interval,
            confidence=confidence,
            samples=samples,
            seed=seed,
            scale=scale,
        )
        shown.emit(said, difference_figure if plot == "pairs" else system_scores_figure)
        return
    from litepyramid.meta import delta as run

    result = run(
        **tables,
        human=human,
        metrics=metric,
        bounds=None if upper is None else (lower, upper),
        buckets=buckets,
        rule=rule,
        min_pairs=min_pairs,
        scale=scale,
        heat_tables=heat,
    )
    shown.emit(result, delta_figure if plot == "pairs" else system_scores_figure)
