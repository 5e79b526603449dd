"""``litepyramid meta delta``, ``stability`` and ``testset``: what systems' scores are worth."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

from litepyramid.cli.meta_options import (
    Coefficient,
    CoefficientOption,
    HumanOption,
    MetricOption,
    ScoresArgument,
    read_table,
    with_tables,
)
from litepyramid.cli.options import (
    STATISTICS,
    ColumnsOption,
    ConfidenceOption,
    SamplesOption,
    SeedOption,
    Shown,
    option,
    said,
    with_figure,
    with_options,
)

_BUCKETS, _WORTH = "Buckets", "With --difference"
Sampling = StrEnum("Sampling", ["systems", "inputs", "both"])


@with_figure
@with_tables
def delta(
    tables: dict[str, Any],
    human: HumanOption = ["human"],  # noqa: B006 (typer copies it)
    metric: MetricOption = None,
    difference: Annotated[
        float | None,
        option("Only show what this difference means.", "--difference", "-d", metavar="D"),
    ] = None,
    lower: Annotated[
        float, option("Smallest difference of the pairs, with --to.", "--from", metavar="D")
    ] = 0.0,
    upper: Annotated[
        float | None, option("Largest difference of the pairs.", "--to", metavar="D")
    ] = None,
    scale: Annotated[
        float, option("Multiply the metrics: 100 turns 0-1 into points.", metavar="N")
    ] = 1.0,
    heat: Annotated[bool, option("Also show all ranges of differences.", "--heat")] = False,
    plot: Annotated[
        Literal["pairs", "scores"],
        option("What --figure shows: pairs, or system scores (DDR22 Fig. 5)."),
    ] = "pairs",
    buckets: Annotated[
        int, option("Number of buckets of pairs.", "--shares", min=1, metavar="N", panel=_BUCKETS)
    ] = 10,
    rule: Annotated[
        Literal["paper", "authors"],
        option("Buckets as in the paper, or in its code.", panel=_BUCKETS),
    ] = "paper",
    min_pairs: Annotated[
        int, option("Leave cells with fewer pairs empty.", min=1, metavar="N", panel=_BUCKETS)
    ] = 5,
    target: Annotated[float, option("Agreement to reach.", metavar="P", panel=_WORTH)] = 0.95,
    window: Annotated[
        float, option("Share of pairs near the difference.", metavar="P", panel=_WORTH)
    ] = 0.2,
    interval: Annotated[
        Literal["wider", "bootstrap", "wilson"],
        option("Interval of the share that agree.", panel=_WORTH),
    ] = "wider",
    confidence: ConfidenceOption = 0.95,
    samples: SamplesOption = 1000,
    seed: SeedOption = 12345,
    *,
    shown: Shown,
) -> None:
    """Show what a difference between two systems' scores means (r_SYSΔ, DDR22).

    $ litepyramid meta delta table.csv --metric rouge --to 1
    $ litepyramid meta delta table.csv --difference 0.5 --samples 200
    """
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


@with_figure
@with_tables
def stability(
    tables: dict[str, Any],
    human: HumanOption = ["human"],  # noqa: B006
    no_human: Annotated[
        bool, option("Show metrics only; no human score is needed.", "--no-human")
    ] = False,
    metric: MetricOption = None,
    size: Annotated[
        list[int] | None,
        option("A number of inputs; repeat. [default: ten steps]", "--size", "-M", metavar="N"),
    ] = None,
    samples: Annotated[
        int, option("Pairs of rankings at each size.", min=2, metavar="N", panel=STATISTICS)
    ] = 1000,
    seed: SeedOption = 12345,
    *,
    shown: Shown,
) -> None:
    """Show how similar two rankings of the systems are, each from M inputs.

    $ litepyramid meta stability table.csv --samples 100
    $ litepyramid meta stability table.csv --no-human --size 5 --samples 100
    """
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


def _both(
    scores: ScoresArgument,
    full: Annotated[list[Path], option("Scores of the metrics on the whole test set; repeat.")],
    columns: ColumnsOption = None,
) -> dict[str, Any]:
    return {"scores": read_table(scores, columns), "full": read_table(full, columns)}


@with_figure
@with_options("tables", _both)
def full_set(
    tables: dict[str, Any],
    human: HumanOption = ["human"],  # noqa: B006
    metric: MetricOption = None,
    sampling: Annotated[
        list[Sampling], option("systems, inputs or both; repeat.", metavar="WHAT")
    ] = list(Sampling),  # noqa: B006
    coefficient: CoefficientOption = Coefficient.kendall,
    plot: Annotated[
        Literal["correlations", "scores"],
        option("What --figure shows: r_SYS (DDR22 Fig. 4) or system scores (Fig. 2)."),
    ] = "correlations",
    confidence: ConfidenceOption = 0.95,
    samples: SamplesOption = 1000,
    seed: SeedOption = 12345,
    *,
    shown: Shown,
) -> None:
    """Correlate metrics on the whole test set with human scores on the judged inputs.

    $ litepyramid meta testset table.csv --full table.csv --samples 200
    $ litepyramid meta testset table.csv --full table.csv --samples 200 \\
        --sampling inputs --figure testset.svg
    """
    from litepyramid.figures.system_level import full_set_figure, score_intervals_figure
    from litepyramid.meta.system_level.test_set import full_test_set

    result = full_test_set(
        **tables,
        human=human,
        metrics=metric,
        coefficient=said(coefficient),
        sampling=said(sampling),
        confidence=confidence,
        samples=samples,
        seed=seed,
    )
    shown.emit(result, full_set_figure if plot == "correlations" else score_intervals_figure)
