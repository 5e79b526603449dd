"""``litepyramid meta``: how well metrics agree with people, and how certain that is."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from litepyramid.cli import meta_range, meta_simulate, meta_systems
from litepyramid.cli.meta_options import (
    FIGURES,
    LEVELS,
    Coefficient,
    CoefficientOption,
    CoefficientsOption,
    HumanOption,
    Level,
    LevelsOption,
    MetricOption,
    with_scores,
)
from litepyramid.cli.options import (
    STATISTICS,
    AlphaOption,
    ConfidenceOption,
    ConstantOption,
    FormatOption,
    OutputOption,
    SamplesOption,
    SeedOption,
    Shown,
    option,
    runs,
    with_figure,
)

app = typer.Typer(
    help="""Meta-evaluation: how well metrics agree with people, and how certain that is.

    $ litepyramid meta correlate scores.json
    $ litepyramid meta compare table.csv --samples 200
    """,
    no_args_is_help=True,
)


@with_scores
@runs("litepyramid.meta:correlate", metric="metrics")
def correlate(
    scores: Any,
    human: HumanOption = ["human"],  # noqa: B006 (typer copies it)
    metric: MetricOption = None,
    level: LevelsOption = LEVELS,
    coefficient: CoefficientsOption = list(Coefficient)[:3],
    form: FormatOption = "table",
    output: OutputOption = None,
    constant: ConstantOption = "skip",
) -> None:
    """Correlate metrics with a human score, at system, summary or global level.

    $ litepyramid meta correlate scores.json
    $ litepyramid meta correlate table.csv --level summary --coefficient kendall
    """


@with_figure
@with_scores
@runs("litepyramid.meta:interval", FIGURES + "interval_figure", metric="metrics")
def interval(
    scores: Any,
    human: HumanOption = ["human"],  # noqa: B006
    metric: MetricOption = None,
    level: LevelsOption = LEVELS,
    coefficient: CoefficientsOption = [Coefficient.kendall],  # noqa: B006
    method: Annotated[
        Literal["boot-both", "boot-systems", "boot-inputs", "fisher"],
        option("boot-both, boot-systems, boot-inputs or fisher.", metavar="METHOD"),
    ] = "boot-both",
    samples: SamplesOption = 1000,
    seed: SeedOption = 12345,
    confidence: ConfidenceOption = 0.95,
    constant: ConstantOption = "skip",
    *,
    shown: Shown,
) -> None:
    """Compute confidence intervals of correlations, by bootstrap or Fisher's transformation.

    $ litepyramid meta interval table.csv --metric rouge --samples 200
    $ litepyramid meta interval table.csv --samples 200 --figure intervals.svg
    """


@with_figure
@with_scores
@runs(
    "litepyramid.meta:compare",
    FIGURES + "significance_figure",
    metric="metrics",
    group="grouping",
)
def compare(
    scores: Any,
    human: HumanOption = ["human"],  # noqa: B006
    metric: MetricOption = None,
    level: LevelsOption = LEVELS,
    coefficient: CoefficientsOption = [Coefficient.kendall],  # noqa: B006
    method: Annotated[
        Literal[
            "perm-both",
            "perm-systems",
            "perm-inputs",
            "perm-both-xor",
            "boot-both",
            "boot-systems",
            "boot-inputs",
            "williams",
        ],
        option("perm- or boot-both, -systems, -inputs; perm-both-xor; williams.", metavar="METHOD"),
    ] = "perm-both",
    alternative: Annotated[
        Literal["greater", "two-sided"],
        option("greater or two-sided.", metavar="WHICH"),
    ] = "greater",
    correction: Annotated[
        Literal["bonferroni", "holm", "benjamini-hochberg", "none"],
        option("bonferroni, holm, benjamini-hochberg or none.", metavar="METHOD"),
    ] = "bonferroni",
    group: Annotated[
        Literal["metric", "level"],
        option("Correct over the tests of one metric, or of one level.", panel=STATISTICS),
    ] = "metric",
    p_value: Annotated[
        Literal["plus_one", "paper"],
        option("(c + 1)/(k + 1) of k samples, or c/k of those strictly larger.", panel=STATISTICS),
    ] = "plus_one",
    samples: Annotated[
        int | None,
        option("Samples. [default: enough for all tests]", min=1, metavar="N", panel=STATISTICS),
    ] = None,
    seed: SeedOption = 12345,
    alpha: AlphaOption = 0.05,
    constant: ConstantOption = "skip",
    *,
    shown: Shown,
) -> None:
    """Test every pair of metrics: does one correlate better with the human score?

    $ litepyramid meta compare table.csv --level system --samples 200
    $ litepyramid meta compare table.csv --method williams --figure \\
        significance.svg
    """


@with_scores
@runs("litepyramid.meta:normality", metric="metrics")
def normality(
    scores: Any,
    human: Annotated[
        list[str] | None,
        option(
            "The human score, tested first; repeat or use * to average raters.",
            "--human",
            metavar="NAME",
        ),
    ] = None,
    metric: MetricOption = None,
    form: FormatOption = "table",
    output: OutputOption = None,
    alpha: AlphaOption = 0.05,
) -> None:
    """Run Shapiro-Wilk tests: are scores normal, as Fisher's and Williams' formulas assume?

    $ litepyramid meta normality table.csv
    $ litepyramid meta normality table.csv --human human --metric rouge
    """


def rank(
    scores: Annotated[
        list[str],
        typer.Argument(help="Score tables, combined; NAME=FILE for several data sets."),
    ],
    human: HumanOption = ["human"],  # noqa: B006
    metric: MetricOption = None,
    level: Annotated[
        Level | None, option("system, summary or global.", "--level", "-l", metavar="LEVEL")
    ] = None,
    coefficient: CoefficientOption = Coefficient.kendall,
    form: FormatOption = "table",
    output: OutputOption = None,
    samples: SamplesOption = 1000,
    seed: SeedOption = 12345,
    confidence: ConfidenceOption = 0.95,
    alpha: AlphaOption = 0.05,
) -> None:
    """Rank metrics into clusters that do not differ significantly, over one or several data sets.

    $ litepyramid meta rank table.csv --coefficient spa --samples 200
    $ litepyramid meta rank table.csv --level summary --samples 100
    """
    from litepyramid.io.scores import read_scores
    from litepyramid.meta import rank as run
    from litepyramid.tables import emit

    sets: dict[str, list[str]] = {}
    for text in scores:
        name, equals, path = text.partition("=")
        sets.setdefault(name if equals else "scores", []).append(path if equals else text)
    result = run(
        {name: read_scores(paths) for name, paths in sets.items()},
        human,
        metrics=metric,
        level=level.value if level else None,
        coefficient=coefficient.value,
        samples=samples,
        seed=seed,
        confidence=confidence,
        alpha=alpha,
    )
    emit(result, form, output)


for command in (correlate, interval, compare, rank, meta_systems.delta):
    app.command(rich_help_panel="Main commands")(command)
for command in (normality, meta_systems.stability):
    app.command(rich_help_panel="More questions")(command)
app.command("testset", rich_help_panel="More questions")(meta_systems.full_set)
app.add_typer(meta_simulate.app, name="simulate", rich_help_panel="More questions")
app.command(rich_help_panel="More questions")(meta_range.generate)
app.command("range", rich_help_panel="More questions")(meta_range.range_)
