"""``litepyramid meta delta``, ``stability`` and ``testset``: what systems' scores are worth."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from litepyramid.cli.meta_options import HUMAN, Coefficient, Names, TablesGroup, read_table
from litepyramid.cli.options import Group, ShownGroup


def delta(
    tables: TablesGroup,
    human: Names = HUMAN,
    metrics: Names | None = None,
    difference: float | None = None,
    lower: float = 0.0,
    upper: float | None = None,
    scale: float = 1.0,
    heat: bool = False,
    plot: Literal["pairs", "scores"] = "pairs",
    buckets: int = 10,
    rule: Literal["paper", "authors"] = "paper",
    min_pairs: int = 5,
    target: float = 0.95,
    window: float = 0.2,
    interval: Literal["wider", "bootstrap", "wilson"] = "wider",
    confidence: float = 0.95,
    samples: int = 1000,
    seed: int = 12345,
    *,
    shown: ShownGroup,
) -> None:
    """Show what a difference between two systems' scores means (r_SYSΔ, DDR22).

    $ litepyramid meta delta table.csv --metric rouge --to 1
    $ litepyramid meta delta table.csv --difference 0.5 --samples 200

    Options:
        difference (-d D): Only show what this difference means.
        lower (--from D): Smallest difference of the pairs, with --to.
        upper (--to D): Largest difference of the pairs.
        scale (N): Multiply the metrics: 100 turns 0-1 into points.
        heat: Also show all ranges of differences.
        plot: What --figure shows: pairs, or system scores (DDR22 Fig. 5).

    Buckets:
        buckets (--shares N >=1): Number of buckets of pairs.
        rule: Buckets as in the paper, or in its code.
        min_pairs (N >=1): Leave cells with fewer pairs empty.

    With --difference:
        target (P): Agreement to reach.
        window (P): Share of pairs near the difference.
        interval: Interval of the share that agree.
    """
    from litepyramid import meta
    from litepyramid.figures import system_level as figures

    shared = {**tables, "human": human, "metrics": metrics, "scale": scale}
    draw: Any = figures.delta_figure
    if difference is not None:
        draw = figures.difference_figure
        result = meta.difference(
            **shared,
            d=difference,
            target=target,
            window=window,
            interval=interval,
            confidence=confidence,
            samples=samples,
            seed=seed,
        )
    else:
        bounds = None if upper is None else (lower, upper)
        result = meta.delta(
            **shared,
            bounds=bounds,
            buckets=buckets,
            rule=rule,
            min_pairs=min_pairs,
            heat_tables=heat,
        )
    shown.emit(result, draw if plot == "pairs" else figures.system_scores_figure)


def stability(
    tables: TablesGroup,
    human: Names = HUMAN,
    no_human: bool = False,
    metrics: Names | None = None,
    size: list[int] | None = None,
    samples: int = 1000,
    seed: int = 12345,
    *,
    shown: ShownGroup,
) -> None:
    """Show how similar two rankings of the systems are, each from M inputs.

    $ litepyramid meta stability table.csv --samples 100
    $ litepyramid meta stability table.csv --no-human --size 5 --samples 100

    Options:
        no_human: Show metrics only; no human score is needed.
        size (-M N): A number of inputs; repeat. [default: ten steps]

    Statistics:
        samples (N >=2): Pairs of rankings at each size.
    """
    from litepyramid import meta
    from litepyramid.figures.system_level import stability_figure

    people = None if no_human else human
    result = meta.stability(
        **tables, human=people, metrics=metrics, sizes=size, samples=samples, seed=seed
    )
    shown.emit(result, stability_figure)


def _both(scores: list[Path], /, full: list[Path], columns: str | None = None) -> dict[str, Any]:
    return {"scores": read_table(scores, columns), "full": read_table(full, columns)}


BothGroup = Annotated[dict[str, Any], Group(_both)]


def full_set(
    tables: BothGroup,
    human: Names = HUMAN,
    metrics: Names | None = None,
    sampling: Sequence[Literal["systems", "inputs", "both"]] = ("systems", "inputs", "both"),
    coefficient: Coefficient = "kendall",
    plot: Literal["correlations", "scores"] = "correlations",
    confidence: float = 0.95,
    samples: int = 1000,
    seed: int = 12345,
    *,
    shown: ShownGroup,
) -> None:
    """Correlate metrics on the whole test set with human scores on the judged inputs.

    $ litepyramid meta testset table.csv --full table.csv --samples 200
    $ litepyramid meta testset table.csv --full table.csv --samples 200 \\
        --sampling inputs --figure testset.svg

    Options:
        sampling (WHAT): systems, inputs or both; repeat.
        plot: What --figure shows: r_SYS (DDR22 Fig. 4) or system scores (Fig. 2).
    """
    from litepyramid.figures.system_level import full_set_figure, score_intervals_figure
    from litepyramid.meta import full_test_set

    result = full_test_set(
        **tables,
        human=human,
        metrics=metrics,
        coefficient=coefficient,
        sampling=sampling,
        confidence=confidence,
        samples=samples,
        seed=seed,
    )
    shown.emit(result, full_set_figure if plot == "correlations" else score_intervals_figure)
