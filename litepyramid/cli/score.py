"""``litepyramid score`` and ``litepyramid compare``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

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
    SummariesArgument,
    option,
    with_names,
)
from litepyramid.judges import DEFAULT_JUDGE

if TYPE_CHECKING:
    from litepyramid.types import InputReferences, InputUnits, SystemSummaries

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
    summaries: SummariesArgument,
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
    from litepyramid.errors import InputError
    from litepyramid.files import check_there
    from litepyramid.io.inputs import in_order
    from litepyramid.io.labels import read_labels
    from litepyramid.io.units import read_units
    from litepyramid.judges.registry import make_judge
    from litepyramid.scoring.pyramid import ScoringRule
    from litepyramid.scoring.score import score_presence, score_systems
    from litepyramid.stats import check_samples
    from litepyramid.tables import emit

    if label_units is not None and labels is None:
        raise InputError("--label-units without --labels", expected="both")
    check_samples(samples, confidence=confidence)
    check_there(*summaries, labels, label_units, weights)
    judging = None if engine == "ray" else make_judge(judge, **judge_settings)
    held = [] if judging is None else summaries
    systems, loaded, about = _load(held, units, references, srl, coref, weights, names, kind)
    labelled: Sequence[InputUnits] = loaded
    if label_units is not None:
        inputs = [entry.input for entry in loaded]
        labelled = in_order(read_units(label_units, **names), inputs, label_units)
    settings: dict[str, Any] = {
        "labels": read_labels([labels], labelled, **names) if labels else None,
        "label_units": labelled,
        "name": name,
        "rule": ScoringRule(pyramid, sample_size, reference_count, importance),
        "samples": samples,
        "confidence": confidence,
        "seed": seed,
        "about_units": about,
    }
    if judging is not None:
        result = score_systems(systems, loaded, judging, **settings)
    else:
        from litepyramid.judges.ray import judge_corpus

        judged = judge_corpus(summaries, loaded, judge, workers=workers, **names, **judge_settings)
        result = score_presence(judged.systems, loaded, judged.presence, judged.batch, **settings)
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
    from litepyramid.files import check_there
    from litepyramid.io.scores import read_scores, select_matrix
    from litepyramid.judges.registry import make_judge
    from litepyramid.scoring.compare import compare_systems
    from litepyramid.scoring.pyramid import ScoringRule
    from litepyramid.scoring.score import score_systems
    from litepyramid.stats import check_samples
    from litepyramid.tables import emit
    from litepyramid.types import Signature, fingerprint

    check_samples(samples, confidence=confidence, alpha=alpha)
    check_there(*summaries, weights)
    if units is None and references is None and len(summaries) == 1 and not summaries[0].is_dir():
        matrix = select_matrix(read_scores(summaries[0], columns=names["columns"]), metric)
        signature = Signature.of(metric=matrix.metric, inputs_sha=fingerprint(matrix.inputs))
    else:
        judging = make_judge(judge, **judge_settings)
        systems, loaded, about = _load(
            summaries, units, references, srl, coref, weights, names, kind
        )
        rule = ScoringRule(importance=importance)
        result = score_systems(
            systems, loaded, judging, rule=rule, samples=samples, seed=seed, about_units=about
        )
        matrix, signature = result.matrix, result.signature
    comparison = compare_systems(
        matrix,
        against=against,
        top=top,
        samples=samples,
        confidence=confidence,
        alpha=alpha,
        seed=seed,
        signature=signature,
    )
    emit(comparison, form, output)


def _load(
    summaries: Sequence[Path],
    units: Path | None,
    references: Path | None,
    srl: str,
    coref: str,
    weights: Path | None,
    names: Mapping[str, Any],
    kind: Literal["scu", "stu"] | None,
) -> tuple[list[SystemSummaries], list[InputUnits], dict[str, str]]:
    """Summaries; units of a file, or extracted when all else is read; how they were extracted."""
    from litepyramid.errors import InputError
    from litepyramid.io.references import read_references
    from litepyramid.io.summaries import read_summaries
    from litepyramid.io.units import kind_by_name, read_units, read_weights

    loaded: list[InputUnits] = []
    about: dict[str, str] = {}
    read: Sequence[InputUnits | InputReferences]
    if units is not None and references is None:
        read = loaded = read_units(units, kind=kind or kind_by_name(units), **names)
    elif references is not None and units is None:
        read = given = read_references(references, **names)
    else:
        raise InputError(
            "neither units nor references given" if units is None else "units and references given",
            expected="--units FILE (human SCUs or ready STUs), or --references FILE (STUs are "
            "extracted)",
        )
    inputs = [entry.input for entry in read]
    systems = read_summaries(summaries, inputs, **names) if summaries else []
    if not loaded:
        from litepyramid.units.extract import extract

        extraction = extract(given, srl=srl, coref=coref)
        loaded, about = list(extraction.units), dict(extraction.signature.fields)
    return systems, (read_weights(weights, loaded, **names) if weights else loaded), about
