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
    difference: Annotated[float, option("Difference between human scores to detect.", metavar="D")],
    pilot: Annotated[
        Path | None,
        option("JSON of `score` with labels, or a score table. [default: REALSumm]"),
    ] = None,
    inputs: Annotated[
        int | None,
        option("Inputs scored by the judge. [default: ten times those labelled]", metavar="N"),
    ] = None,
    metric: Annotated[str | None, option("The judge's metric in a table.", metavar="NAME")] = None,
    human: Annotated[str, option("The human metric in a table.", metavar="NAME")] = "human",
    power: Annotated[float, option("Share of tests that should detect it.", metavar="P")] = 0.8,
    alpha: AlphaOption = 0.05,
    samples: Annotated[
        int,
        option("Simulated tests.", min=100, max=100_000, metavar="N", panel=STATISTICS),
    ] = 1000,
    seed: SeedOption = 12345,
    *,
    shown: Shown,
) -> None:
    """Simulate how many inputs people must label to detect a difference between two systems.

    $ litepyramid budget power --difference 0.1
    $ litepyramid budget power --difference 0.1 --pilot scores.json --inputs 200
    """
