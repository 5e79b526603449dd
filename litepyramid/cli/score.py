"""``litepyramid score`` and ``litepyramid compare``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from litepyramid.cli.judging import PANEL, with_judge_settings
from litepyramid.cli.options import (
    AlphaOption,
    ConfidenceOption,
    FormatOption,
    JudgeOption,
    KindOption,
    LabelsOption,
    OutputOption,
    SamplesOption,
    SeedOption,
    option,
    with_names,
)
from litepyramid.judges import DEFAULT_JUDGE

_UNITS = "Units and weights"
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
    form: FormatOption = "table",
    output: OutputOption = None,
    label_units: Annotated[
        Path | None,
        option("The units of --labels, if not those scored.", panel=_UNITS),
    ] = None,
    weights: WeightsOption = None,
    presence: Annotated[
        Path | None,
        option(
            "Presence in place of a judge: CSV, JSON Lines, or JSON of `score`.",
            metavar="FILE",
            panel=_UNITS,
        ),
    ] = None,
    importance: ImportanceOption = "all",
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
        option("Run NLI judges in this process or on a Ray cluster.", panel=PANEL),
    ] = "local",
    workers: Annotated[
        int | None,
        option(
            "Judges on the Ray cluster. [default: one per GPU]",
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
    """
    from litepyramid import api
    from litepyramid.errors import InputError
    from litepyramid.files import check_there
    from litepyramid.scoring.pyramid import ScoringRule
    from litepyramid.tables import emit

    if label_units is not None and labels is None:
        raise InputError("--label-units without --labels", expected="both")
    check_there(*summaries or (), labels, label_units, weights, presence)
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
        **names,
        **judge_settings,
    )
    emit(result, form, output)


@with_judge_settings
@with_names
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
        str | None, option("Which metric of a table with several.", metavar="NAME")
    ] = None,
    form: FormatOption = "table",
    output: OutputOption = None,
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
    judge_settings: dict[str, Any],
    names: dict[str, Any],
) -> None:
    """Compare systems on the same inputs: differences, intervals, p-values.

    $ litepyramid compare scores.json
    $ litepyramid compare example/summaries --units example/scus.jsonl --against \\
        lead
    """
    from litepyramid import api
    from litepyramid.files import check_there
    from litepyramid.scoring.pyramid import ScoringRule
    from litepyramid.stats import check_samples
    from litepyramid.tables import emit

    check_samples(samples, confidence=confidence, alpha=alpha)
    check_there(*summaries, weights)
    scores: Any = summaries[0]
    if units or references or len(summaries) > 1 or summaries[0].is_dir():
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
    emit(result, form, output)
