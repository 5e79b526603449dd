"""``litepyramid meta``: how well metrics agree with people, and how certain that is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import typer

from litepyramid.cli import meta_range, meta_simulate, meta_systems
from litepyramid.cli.meta_options import (
    FIGURES,
    HUMAN,
    LEVELS,
    Coefficient,
    Level,
    Names,
    ScoresGroup,
    Test,
)
from litepyramid.cli.options import Constant, Form, ShownGroup, Written, runs

app = typer.Typer(
    help="""Meta-evaluation: how well metrics agree with people, and how certain that is.

    $ litepyramid meta correlate scores.json
    $ litepyramid meta compare table.csv --samples 200
    """,
    no_args_is_help=True,
)


@runs("litepyramid.meta:correlate", coefficients="coefficient")
def correlate(
    scores: ScoresGroup,
    human: Names = HUMAN,
    metrics: Names | None = None,
    level: Sequence[Level] = LEVELS,
    coefficients: Sequence[Coefficient] = ("pearson", "spearman", "kendall"),
    form: Form = "table",
    output: Written | None = None,
    constant: Constant = "skip",
) -> None:
    """Correlate metrics with a human score, at system, summary or global level.

    $ litepyramid meta correlate scores.json
    $ litepyramid meta correlate table.csv --level summary --coefficient kendall
    """


@runs("litepyramid.meta:interval", f"{FIGURES}interval_figure", coefficients="coefficient")
def interval(
    scores: ScoresGroup,
    human: Names = HUMAN,
    metrics: Names | None = None,
    level: Sequence[Level] = LEVELS,
    coefficients: Sequence[Coefficient] = ("kendall",),
    method: Literal["boot-both", "boot-systems", "boot-inputs", "fisher"] = "boot-both",
    samples: int = 1000,
    seed: int = 12345,
    confidence: float = 0.95,
    constant: Constant = "skip",
    *,
    shown: ShownGroup,
) -> None:
    """Compute confidence intervals of correlations, by bootstrap or Fisher's transformation.

    $ litepyramid meta interval table.csv --metric rouge --samples 200
    $ litepyramid meta interval table.csv --samples 200 --figure intervals.svg

    Options:
        method (METHOD): boot-both, boot-systems, boot-inputs or fisher.
    """


@runs("litepyramid.meta:compare", f"{FIGURES}significance_figure", coefficients="coefficient")
def compare(
    scores: ScoresGroup,
    human: Names = HUMAN,
    metrics: Names | None = None,
    level: Sequence[Level] = LEVELS,
    coefficients: Sequence[Coefficient] = ("kendall",),
    method: Test = "perm-both",
    alternative: Literal["greater", "two-sided"] = "greater",
    correction: Literal["bonferroni", "holm", "benjamini-hochberg", "none"] = "bonferroni",
    grouping: Literal["metric", "level"] = "metric",
    p_value: Literal["plus_one", "paper"] = "plus_one",
    samples: int | None = None,
    seed: int = 12345,
    alpha: float = 0.05,
    constant: Constant = "skip",
    *,
    shown: ShownGroup,
) -> None:
    """Test every pair of metrics: does one correlate better with the human score?

    $ litepyramid meta compare table.csv --level system --samples 200
    $ litepyramid meta compare table.csv --method williams --figure \\
        significance.svg

    Options:
        method (METHOD): perm- or boot-both, -systems, -inputs; perm-both-xor; williams.
        alternative (WHICH): greater or two-sided.
        correction (METHOD): bonferroni, holm, benjamini-hochberg or none.

    Statistics:
        grouping (--group): Correct over the tests of one metric, or of one level.
        p_value: (c + 1)/(k + 1) of k samples, or c/k of those strictly larger.
        samples (N >=1): Samples. [default: enough for all tests]
    """


@runs("litepyramid.meta:normality")
def normality(
    scores: ScoresGroup,
    human: Names | None = None,
    metrics: Names | None = None,
    form: Form = "table",
    output: Written | None = None,
    alpha: float = 0.05,
) -> None:
    """Run Shapiro-Wilk tests: are scores normal, as Fisher's and Williams' formulas assume?

    $ litepyramid meta normality table.csv
    $ litepyramid meta normality table.csv --human human --metric rouge

    Options:
        human (NAME): The human score, tested first; repeat or use * to average raters.
    """


@runs("litepyramid.meta:rank")
def rank(
    scores: list[str],
    /,
    human: Names = HUMAN,
    metrics: Names | None = None,
    level: Level | None = None,
    coefficient: Coefficient = "kendall",
    form: Form = "table",
    output: Written | None = None,
    samples: int = 1000,
    seed: int = 12345,
    confidence: float = 0.95,
    alpha: float = 0.05,
) -> Any:
    """Rank metrics into clusters that do not differ significantly, over one or several data sets.

    $ litepyramid meta rank table.csv --coefficient spa --samples 200
    $ litepyramid meta rank table.csv --level summary --samples 100

    Options:
        scores: Score tables, combined; NAME=FILE for several data sets.
        level (-l LEVEL): system, summary or global.
    """
    from litepyramid.io.scores import read_scores

    sets: dict[str, list[str]] = {}
    for text in scores:
        name, equals, path = text.partition("=")
        sets.setdefault(name if equals else "scores", []).append(path if equals else text)
    return {"scores": {name: read_scores(paths) for name, paths in sets.items()}}


for command in (correlate, interval, compare, rank, meta_systems.delta):
    app.command(rich_help_panel="Main commands")(command)
for command in (normality, meta_systems.stability):
    app.command(rich_help_panel="More questions")(command)
app.command("testset", rich_help_panel="More questions")(meta_systems.full_set)
app.add_typer(meta_simulate.app, name="simulate", rich_help_panel="More questions")
app.command(rich_help_panel="More questions")(meta_range.generate)
app.command("range", rich_help_panel="More questions")(meta_range.range_)
