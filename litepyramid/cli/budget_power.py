"""``litepyramid budget power``: how many labelled inputs show a difference."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from litepyramid.cli.options import (
    STATISTICS,
    AlphaOption,
    SeedOption,
    Shown,
    option,
    runs,
    with_figure,
)


@with_figure
@runs("litepyramid.api:label_power", "litepyramid.figures.labels:label_power_figure")
def power(
    difference: Annotated[float, option("The difference of human scores to see.", metavar="D")],
    pilot: Annotated[
        Path | None,
        option("JSON of `score` with labels, or a score table. [default: as REALSumm]"),
    ] = None,
    inputs: Annotated[
        int | None,
        option("Inputs the judge scores. [default: ten times those labelled]", metavar="N"),
    ] = None,
    metric: Annotated[
        str | None, option("Which metric of a table is the judge's.", metavar="NAME")
    ] = None,
    human: Annotated[str, option("The human scores of a table.", metavar="NAME")] = "human",
    power: Annotated[float, option("Share of tests that should find it.", metavar="P")] = 0.8,
    alpha: AlphaOption = 0.05,
    samples: Annotated[
        int,
        option("Simulated tests.", min=100, max=100_000, metavar="N", panel=STATISTICS),
    ] = 1000,
    seed: SeedOption = 12345,
    *,
    shown: Shown,
) -> None:
    """Simulate how many inputs people must label to see a difference of two systems.

    $ litepyramid budget power --difference 0.1
    $ litepyramid budget power --difference 0.1 --pilot scores.json --inputs 200
    """
