"""``litepyramid score`` and ``litepyramid compare``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from litepyramid.cli.judging import PANEL, with_judge_settings
from litepyramid.cli.options import (
    AlphaOption,
    ConfidenceOption,
    FigureOption,
    JudgeOption,
    KindOption,
    LabelsOption,
    SamplesOption,
    SeedOption,
    Shown,
    option,
    with_figure,
    with_names,
)
from litepyramid.cli.outputs import MADE, WRITTEN
from litepyramid.judges import DEFAULT_JUDGE

_UNITS, _LABELS = "Units and weights", "Few labels"
_COLUMNS = ("npz", "parquet", "folder")
PageFormatOption = Annotated[
    Literal["table", "json", "csv", "latex", "html", "npz", "parquet", "folder"],
    option(
        "table, json, csv, latex, html; for large results folder, npz, parquet.",
        "--format",
        "-f",
        metavar="FORM",
    ),
]
CombineOption = Annotated[
    bool,
    option("Estimate human scores from labels of some inputs and the judge.", panel=_LABELS),
]
PlanOption = Annotated[
    Path | None,
    option("With --combine: the labelling plan, if not at random.", metavar="FILE", panel=_LABELS),
]
AssumeOption = Annotated[
    bool,
    option("With --combine: the labelled inputs are a random sample.", panel=_LABELS),
]
TargetOption = Annotated[
    Literal["inputs", "population"],
    option("With --combine: intervals for these inputs or for new ones.", panel=_LABELS),
]
UnitsOption = Annotated[
    Path | None,
    option("Units of the references: JSON Lines, a table, or a line file.", "--units", "-u"),
]
ReferencesOption = Annotated[
    Path | None,
    option("References to extract STUs from.", "--references", "-r"),
]
SrlOption = Annotated[
    str,
    option(
        "embedded, sentences, allennlp:ARCHIVE, stanza, a file.",
        metavar="BACKEND",
        panel=_UNITS,
    ),
]
CorefOption = Annotated[
    str,
    option(
        "srl, none, embedded, stanza, a file.",
        metavar="SOURCE",
        panel=_UNITS,
    ),
]
WeightsOption = Annotated[
    Path | None, option("A weight for every unit.", "--weights", "-w", panel=_UNITS)
]
ImportanceOption = Annotated[
    Literal["vital", "all"], option("Score all nuggets, or only the vital ones.", panel=_UNITS)
]


@with_judge_settings
@with_names
def score(
    summaries: Annotated[
        list[Path] | None, typer.Argument(help="Summary files, or folders; one file per system.")
    ] = None,
    units: UnitsOption = None,
    references: ReferencesOption = None,
    judge: JudgeOption = DEFAULT_JUDGE,
    labels: LabelsOption = None,
    pyramid: Annotated[
        Literal["lite", "sample", "original", "modified"],
        option(
            "lite: mean over all units; sample: LitePyramid; original, modified: Pyramid.",
            metavar="RULE",
        ),
    ] = "lite",
    name: Annotated[
        str | None, option("Name of the metric. [default: by the units]", metavar="NAME")
    ] = None,
    form: PageFormatOption = "table",
    output: Annotated[
        Path | None,
        option("Write to this file, or folder.", "--output", "-o", metavar="PATH"),
        MADE,
    ] = None,
    figure: FigureOption = None,
    html: Annotated[
        Path | None,
        option("Write the report page: which fact is in which summary.", metavar="FILE"),
        WRITTEN,
    ] = None,
    evidence: Annotated[
        bool, option("Save texts and where each unit was found, in JSON and page.")
    ] = False,
    combine: CombineOption = False,
    plan: PlanOption = None,
    assume_random: AssumeOption = False,
    target: TargetOption = "inputs",
    label_units: Annotated[
        Path | None,
        option("The units of --labels, if not those scored.", panel=_UNITS),
    ] = None,
    weights: WeightsOption = None,
    presence: Annotated[
        Path | None,
        option(
            "Presence instead of a judge: CSV, JSON Lines, or a saved result of `score`.",
            metavar="FILE",
            panel=_UNITS,
        ),
    ] = None,
    importance: ImportanceOption = "all",
    direction: Annotated[
        Literal["recall", "precision", "f1"],
        option(
            "recall: reference facts in summaries; precision: summary facts in references.",
            metavar="WAY",
            panel=_UNITS,
        ),
    ] = "recall",
    premise: Annotated[
        Path | None,
        option(
            "With --direction precision: judge against these documents (faithfulness).",
            metavar="FILE",
            panel=_UNITS,
        ),
    ] = None,
    srl: SrlOption = "embedded",
    coref: CorefOption = "srl",
    sample_size: Annotated[
        int,
        option("With --pyramid sample: K.", min=1, metavar="N", panel=_UNITS),
    ] = 16,
    reference_count: Annotated[
        int,
        option(
            "With --pyramid modified: per input.",
            min=1,
            metavar="N",
            panel=_UNITS,
        ),
    ] = 1,
    samples: SamplesOption = 10_000,
    confidence: ConfidenceOption = 0.95,
    seed: SeedOption = 12345,
    kind: KindOption = None,
    engine: Annotated[
        Literal["local", "ray"],
        option("Judge on this machine or on a Ray cluster.", panel=PANEL),
    ] = "local",
    workers: Annotated[
        int | None,
        option(
            "Processes of an embedded judge [default: all cores], or judges on Ray [one per GPU].",
            min=1,
            metavar="N",
            panel=PANEL,
        ),
    ] = None,
    *,
    judge_settings: dict[str, Any],
    names: dict[str, Any],
) -> None:
    """Score systems by the reference facts that their summaries carry.

    $ litepyramid score example/summaries --units example/scus.jsonl --labels \\
        example/labels -f json -o scores.json
    $ litepyramid score example/summaries --references example/references.jsonl
    $ litepyramid score example/summaries --units example/scus.jsonl \\
        --references example/references.jsonl --html report.html
    """
    from litepyramid import api
    from litepyramid.errors import InputError
    from litepyramid.figures.base import check_figure
    from litepyramid.figures.scores import score_figure
    from litepyramid.files import check_output, check_there
    from litepyramid.scoring.pyramid import ScoringRule

    for what, given in (("--label-units", label_units is not None), ("--combine", combine)):
        if given and labels is None:
            raise InputError(f"{what} without --labels", expected="both")
    if not combine and (plan is not None or assume_random):
        raise InputError("--plan or --assume-random without --combine", expected="both")
    check_there(*summaries or (), labels, label_units, weights, presence, premise)
    check_figure(figure)
    if form in _COLUMNS and (
        output is None or combine or direction != "recall" or evidence or html
    ):
        raise InputError(
            f"--format {form} without --output, or with --combine, --direction or a page",
            expected="--output PATH and none of the others",
            hint="'litepyramid report' writes the page of a saved result.",
        )
    if output is not None and form != "folder":
        check_output(output)
    if premise is not None and direction == "recall":
        raise InputError("--premise without --direction precision or f1", expected="both")
    if direction != "recall":
        if labels or presence or combine or html is not None or engine == "ray" or form == "html":
            raise InputError(
                f"--direction {direction} with labels, presence, a page or Ray",
                expected="summaries with --references or --premise alone",
            )
        shared: dict[str, Any] = {
            "judge": api.judge(judge, **judge_settings), "srl": srl, "coref": coref,
            "samples": samples, "confidence": confidence, "seed": seed, **names,
        }  # fmt: skip
        recall = None
        if direction == "f1":
            extracted = None if units is not None else references
            more: dict[str, Any] = {"weights": weights, "kind": kind}
            recall = api.score(summaries, units, references=extracted, **more, **shared)
        to = None if premise is not None else references
        other = api.precision(summaries, references=to, documents=premise, recall=recall, **shared)
        return Shown(figure, form, output).emit(other, score_figure)
    result = api.score(
        summaries,
        units,
        references=references,
        judge=None if presence is not None and judge == DEFAULT_JUDGE else judge,
        presence=presence,
        labels=labels,
        label_units=label_units,
        weights=weights,
        kind=kind,
        rule=ScoringRule(pyramid, sample_size, reference_count, importance),
        srl=srl,
        coref=coref,
        name=name,
        samples=samples,
        confidence=confidence,
        seed=seed,
        engine=engine,
        workers=workers,
        folder=output if form == "folder" else None,
        evidence=presence is None and (evidence or html is not None or form == "html"),
        partial_labels=combine,
        **names,
        **judge_settings,
    )
    if html is not None:
        result.to_html(html)
    shown: Any = result
    if combine:
        shown = api.combine(
            result, plan=plan, assume_random=assume_random, target=target, confidence=confidence
        )
    if form == "folder":  # written while it was judged
        form, output = "table", None
    Shown(figure, form, output).emit(shown, score_figure)


@with_judge_settings
@with_names
@with_figure
def compare(
    summaries: Annotated[
        list[Path],
        typer.Argument(help="Summary files or folders; or one table of scores."),
    ],
    units: UnitsOption = None,
    references: ReferencesOption = None,
    judge: JudgeOption = DEFAULT_JUDGE,
    against: Annotated[
        str | None, option("Compare this system with all others.", metavar="SYSTEM")
    ] = None,
    top: Annotated[int | None, option("Compare only the N best systems.", metavar="N")] = None,
    metric: Annotated[
        str | None, option("Metric to use, if a table has several.", metavar="NAME")
    ] = None,
    combine: CombineOption = False,
    human: Annotated[
        str, option("With --combine: the human metric of a table.", metavar="NAME", panel=_LABELS)
    ] = "human",
    plan: PlanOption = None,
    assume_random: AssumeOption = False,
    target: TargetOption = "inputs",
    weights: WeightsOption = None,
    importance: ImportanceOption = "all",
    srl: SrlOption = "embedded",
    coref: CorefOption = "srl",
    samples: SamplesOption = 10_000,
    confidence: ConfidenceOption = 0.95,
    alpha: AlphaOption = 0.05,
    seed: SeedOption = 12345,
    kind: KindOption = None,
    *,
    shown: Shown,
    judge_settings: dict[str, Any],
    names: dict[str, Any],
) -> None:
    """Compare systems on the same inputs: differences, intervals, p-values.

    $ litepyramid compare scores.json
    $ litepyramid compare example/summaries --units example/scus.jsonl --against \\
        lead
    """
    from litepyramid import api
    from litepyramid.figures.scores import comparison_figure
    from litepyramid.files import check_there
    from litepyramid.io.columns import read_columns
    from litepyramid.scoring.pyramid import ScoringRule
    from litepyramid.stats import check_samples

    check_samples(samples, confidence=confidence, alpha=alpha)
    check_there(*summaries, weights)
    scores: Any = summaries[0]
    judged = len(summaries) == 1 and read_columns(summaries[0]) is not None
    if units or references or (not judged and (len(summaries) > 1 or summaries[0].is_dir())):
        scores = api.score(
            summaries,
            units,
            references=references,
            srl=srl,
            coref=coref,
            judge=judge,
            weights=weights,
            kind=kind,
            rule=ScoringRule(importance=importance),
            samples=samples,
            seed=seed,
            **names,
            **judge_settings,
        )
    if combine:
        result: Any = api.combine(
            scores,
            metric=metric,
            human=human,
            plan=plan,
            assume_random=assume_random,
            target=target,
            confidence=confidence,
            alpha=alpha,
            columns=names["columns"],
        )
    else:
        result = api.compare(
            scores,
            metric=metric,
            against=against,
            top=top,
            samples=samples,
            confidence=confidence,
            alpha=alpha,
            seed=seed,
            columns=names["columns"],
        )
    shown.emit(result, comparison_figure)


def report(
    result: Annotated[Path, typer.Argument(help="A saved result of `litepyramid score`.")],
    output: Annotated[
        Path, option("The page to write.", "--output", "-o", metavar="FILE"), WRITTEN
    ] = Path("report.html"),
) -> None:
    """Write the report page of a saved result: which fact is in which summary.

    $ litepyramid report scores.json
    $ litepyramid report scores.json -o rain.html
    """
    from litepyramid.scoring.saved import read_result

    read_result(result).to_html(output)
    typer.echo(f"Wrote {output}", err=True)
