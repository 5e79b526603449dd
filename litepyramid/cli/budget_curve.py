"""``litepyramid budget curve``: what metric quality costs what annotation."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from litepyramid.cli.options import (
    RegressorOption,
    ScusOption,
    SeedOption,
    Shown,
    StusOption,
    TheirReferencesOption,
    TreesOption,
    old_share,
    with_figure,
    with_names,
)
from litepyramid.judges import DEFAULT_JUDGE

if TYPE_CHECKING:
    from litepyramid.judges.base import Judge


class CurveCoefficient(StrEnum):
    """The coefficients by name."""

    pearson = "pearson"
    spearman = "spearman"
    kendall = "kendall"


@with_figure
@with_names
def curve(
    summaries: Annotated[
        list[Path],
        typer.Argument(
            help="Summary files, or folders of them; a system is a file.", show_default=False
        ),
    ],
    scus: ScusOption,
    references: TheirReferencesOption,
    stus: StusOption = None,
    labels: Annotated[
        Path | None,
        typer.Option("--labels", "-l", help="Human presence labels of the SCUs: file or folder."),
    ] = None,
    scores: Annotated[
        Path | None, typer.Option("--scores", help="Or a table of scores with the human one.")
    ] = None,
    against: Annotated[
        str, typer.Option("--against", "-a", help="With --scores: the human score's name.")
    ] = "human",
    easiness: Annotated[
        Path | None,
        typer.Option(
            help="Easiness of every sentence; of 'easiness evaluate --predictions', if the "
            "regressor was trained on these references (default: predict it)."
        ),
    ] = None,
    regressor: RegressorOption = None,
    parses: TreesOption = None,
    judge: Annotated[
        str,
        typer.Option(
            "--judge",
            "-j",
            help="reading, lexical, recall, a hub id, a folder; with {fold}, one for each of "
            "--folds.",
        ),
    ] = DEFAULT_JUDGE,
    folds: Annotated[
        Path | None,
        typer.Option(help="Folder with a file of ids for each fold: mean of their correlations."),
    ] = None,
    stu_share: Annotated[
        list[float] | None,
        typer.Option("--stu-share", help="A share of STUs; repeat (default: 0, .1 … 1)."),
    ] = None,
    share: Annotated[list[float] | None, old_share("--stu-share")] = None,
    coefficient: Annotated[
        list[CurveCoefficient] | None,
        typer.Option("--coefficient", "-c", help="Repeat for more (default: pearson)."),
    ] = None,
    constant: Annotated[
        Literal["skip", "zero", "zb21"],
        typer.Option(help="What becomes of a constant vector."),
    ] = "skip",
    seeds: Annotated[int, typer.Option("--seeds", min=0, help="Random rankings to average.")] = 100,
    samples: Annotated[
        int, typer.Option("--samples", "-k", min=1, help="Of the sampling intervals.")
    ] = 1000,
    confidence: Annotated[
        float, typer.Option("--confidence", help="Of the sampling intervals.")
    ] = 0.95,
    seed: SeedOption = 12345,
    *,
    shown: Shown,
    names: dict[str, Any],
) -> None:
    """Correlation with human scores by the share of sentences that carry STUs (ZB21 Fig. 2, 4).

    One line each for predicted easiness, random choice (mean and deviation over many), the
    reversed ranking, and gold easiness.
    """
    from litepyramid.easiness.evaluate import read_folds
    from litepyramid.easiness.files import curve_files
    from litepyramid.easiness.sums import FoldJudges
    from litepyramid.errors import InputError
    from litepyramid.figures.correlations import curve_figure
    from litepyramid.judges.registry import make_judge

    def of_fold(fold: int) -> Judge:
        return make_judge(judge.replace("{fold}", str(fold)))

    if "{fold}" in judge and folds is None:
        raise InputError(f"a judge for each fold ('{judge}') and no folds", expected="--folds")
    parts = None if folds is None else read_folds(folds)
    result = curve_files(
        summaries,
        scus,
        references,
        FoldJudges(of_fold, parts) if parts and "{fold}" in judge else make_judge(judge),
        stus=stus,
        labels=labels,
        scores=scores,
        against=against,
        easiness=easiness,
        regressor=regressor,
        parses=parses,
        shares=stu_share or share,
        seeds=seeds,
        seed=seed,
        coefficients=[c.value for c in coefficient or [CurveCoefficient.pearson]],
        constant=constant,
        folds=parts,
        samples=samples,
        confidence=confidence,
        **names,
    )
    shown.emit(result, curve_figure)
