"""``litepyramid meta testset``: metrics on the whole test set against metrics on judged inputs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from litepyramid.cli.meta import (
    CoefficientName,
    HumanOption,
    MetricOption,
    SamplesOption,
    ScoresArgument,
    read_table,
)
from litepyramid.cli.options import ColumnsOption, SeedOption, Shown, with_figure, with_options


class SamplingName(StrEnum):
    """What a bootstrap draws."""

    systems = "systems"
    inputs = "inputs"
    both = "both"


def _both(
    scores: ScoresArgument,
    full: Annotated[
        list[Path],
        typer.Option(
            "--full", help="Scores of the metrics on the whole test set; repeat for more files."
        ),
    ],
    columns: ColumnsOption = None,
) -> dict[str, Any]:
    return {"scores": read_table(scores, columns), "full": read_table(full, columns)}


@with_figure
@with_options("tables", _both)
def full_set(
    tables: dict[str, Any],
    human: HumanOption = ["human"],  # noqa: B006 (typer copies it)
    metric: MetricOption = None,
    sampling: Annotated[
        list[SamplingName], typer.Option("--sampling", help="What is drawn; repeat.")
    ] = list(SamplingName),  # noqa: B006
    coefficient: Annotated[
        CoefficientName, typer.Option("--coefficient", "-c", help="Of the correlations.")
    ] = CoefficientName.kendall,
    confidence: Annotated[float, typer.Option("--confidence", help="Of the intervals.")] = 0.95,
    samples: SamplesOption = 1000,
    seed: SeedOption = 12345,
    plot: Annotated[
        Literal["correlations", "scores"],
        typer.Option(
            "--plot",
            help="What --figure shows: intervals of r_SYS (DDR22 Fig. 4), or of the systems' "
            "scores (Fig. 2).",
        ),
    ] = "correlations",
    *,
    shown: Shown,
) -> None:
    """Correlate metrics over the whole test set with people over what they judged."""
    from litepyramid.figures.system_level import full_set_figure, score_intervals_figure
    from litepyramid.meta.system_level.test_set import full_test_set

    result = full_test_set(
        **tables,
        human=human,
        metrics=metric,
        coefficient=coefficient.value,
        sampling=[name.value for name in sampling],
        confidence=confidence,
        samples=samples,
        seed=seed,
    )
    shown.emit(result, full_set_figure if plot == "correlations" else score_intervals_figure)
