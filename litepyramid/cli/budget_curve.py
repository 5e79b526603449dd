"""``litepyramid budget curve``: what metric quality costs what annotation."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from litepyramid.cli.options import (
    FILES,
    STATISTICS,
    ConfidenceOption,
    ConstantOption,
    EasinessOption,
    LabelsOption,
    RegressorOption,
    SamplesOption,
    ScusOption,
    SeedOption,
    Shown,
    StusOption,
    SummariesArgument,
    TheirReferencesOption,
    TreesOption,
    option,
    said,
    with_figure,
    with_names,
)
from litepyramid.judges import DEFAULT_JUDGE

if TYPE_CHECKING:
    from litepyramid.judges.base import Judge


Coefficient = StrEnum("Coefficient", ["pearson", "spearman", "kendall"])


@with_figure
@with_names
def curve(
    summaries: SummariesArgument,
    scus: ScusOption,
    references: TheirReferencesOption,
    stus: StusOption = None,
    labels: LabelsOption = None,
    scores: Annotated[
        Path | None, option("Score table with human scores, instead of --labels.")
    ] = None,
    human: Annotated[
        str, option("With --scores: name of the human score.", metavar="NAME")
    ] = "human",
    judge: Annotated[
        str,
        option(
            "reading, lexical, recall, a hub id, a folder; with {fold}: one for each of --folds.",
            "--judge",
            "-j",
            metavar="JUDGE",
        ),
    ] = DEFAULT_JUDGE,
    stu_share: Annotated[
        list[float] | None, option("Share of STUs; repeat. [default: 0, .1 … 1]", metavar="P")
    ] = None,
    coefficient: Annotated[
        list[Coefficient] | None,
        option(
            "pearson, spearman or kendall; repeat. [default: pearson]",
            "--coefficient",
            "-c",
            metavar="NAME",
        ),
    ] = None,
    easiness: EasinessOption = None,
    regressor: RegressorOption = None,
    parses: TreesOption = None,
    folds: Annotated[
        Path | None,
        option("Folder with a file of input ids for each fold: average over folds.", panel=FILES),
    ] = None,
    constant: ConstantOption = "skip",
    seeds: Annotated[
        int, option("Random rankings to average.", min=0, metavar="N", panel=STATISTICS)
    ] = 100,
    samples: SamplesOption = 1000,
    confidence: ConfidenceOption = 0.95,
    seed: SeedOption = 12345,
    *,
    shown: Shown,
    names: dict[str, Any],
) -> None:
    """Correlate scores with human scores at each share of STUs (ZB21 Fig. 2, 4).

    $ litepyramid budget curve example/summaries -s example/scus.jsonl -r \\
        example/references.jsonl -l example/labels --figure curve.svg
    $ litepyramid budget curve example/summaries -s example/scus.jsonl -r \\
        example/references.jsonl -l example/labels -c kendall --stu-share 0.5
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
        raise InputError(f"a judge for each fold ('{judge}') but no folds", expected="--folds")
    parts = None if folds is None else read_folds(folds)
    result = curve_files(
        summaries,
        scus,
        references,
        FoldJudges(of_fold, parts) if parts and "{fold}" in judge else make_judge(judge),
        stus=stus,
        labels=labels,
        scores=scores,
        against=human,
        easiness=easiness,
        regressor=regressor,
        parses=parses,
        shares=stu_share,
        seeds=seeds,
        seed=seed,
        coefficients=said(coefficient) or ["pearson"],
        constant=constant,
        folds=parts,
        samples=samples,
        confidence=confidence,
        **names,
    )
    shown.emit(result, curve_figure)
