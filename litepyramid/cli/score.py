"""``litepyramid score`` and ``litepyramid compare``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from litepyramid.cli.judging import with_judge_settings
from litepyramid.cli.options import (
    FormatOption,
    JudgeOption,
    KindOption,
    OutputOption,
    SeedOption,
    with_names,
)
from litepyramid.judges import DEFAULT_JUDGE

if TYPE_CHECKING:
    from litepyramid.types import InputReferences, InputUnits, SystemSummaries

Summaries = Annotated[
    list[Path],
    typer.Argument(
        help="Summary files, or folders of them. A system is a file, named by its stem.",
        show_default=False,
    ),
]
UnitsOption = Annotated[
    Path | None,
    typer.Option("--units", "-u", help="Units of the references: JSON Lines or a line file."),
]
ReferencesOption = Annotated[
    Path | None,
    typer.Option("--references", "-r", help="References to extract STUs from, instead of units."),
]
SrlOption = Annotated[
    str,
    typer.Option(
        "--srl",
        help="With --references: embedded, sentences, allennlp:ARCHIVE, stanza, or a parse file.",
    ),
]
CorefOption = Annotated[
    str,
    typer.Option(
        "--coref", help="With --references: srl (what the SRL backend links), none, or a file."
    ),
]
WeightsOption = Annotated[
    Path | None, typer.Option("--weights", "-w", help="A weight for every unit.")
]
SamplesOption = Annotated[
    int,
    typer.Option("--samples", min=1, max=10_000_000, help="Bootstrap samples of intervals."),
]
ConfidenceOption = Annotated[
    float, typer.Option("--confidence", help="Of the intervals, between 0 and 1.")
]
RuleOption = Annotated[
    Literal["lite", "sample", "original", "modified"],
    typer.Option(
        "--pyramid",
        help="lite: mean over all units. sample: LitePyramid. original, modified: Pyramid.",
    ),
]
ImportanceOption = Annotated[
    Literal["vital", "all"],
    typer.Option("--importance", help="Of nuggets: score the vital ones alone, or all."),
]


@with_judge_settings
@with_names
def score(
    summaries: Summaries,
    units: UnitsOption = None,
    references: ReferencesOption = None,
    srl: SrlOption = "embedded",
    coref: CorefOption = "srl",
    judge: JudgeOption = DEFAULT_JUDGE,
    labels: Annotated[
        Path | None,
        typer.Option("--labels", "-l", help="Human presence labels: a file, or a folder."),
    ] = None,
    label_units: Annotated[
        Path | None,
        typer.Option(help="The units that the labels are of, where they are not those scored."),
    ] = None,
    weights: WeightsOption = None,
    kind: KindOption = None,
    importance: ImportanceOption = "all",
    pyramid: RuleOption = "lite",
    sample_size: Annotated[
        int, typer.Option("--sample-size", min=1, help="K of --pyramid sample.")
    ] = 16,
    reference_count: Annotated[
        int,
        typer.Option("--reference-count", min=1, help="References an input, --pyramid modified."),
    ] = 1,
    samples: SamplesOption = 10_000,
    confidence: ConfidenceOption = 0.95,
    seed: SeedOption = 12345,
    engine: Annotated[
        Literal["local", "ray"],
        typer.Option("--engine", help="Where NLI judges run: this process, or a Ray cluster."),
    ] = "local",
    workers: Annotated[
        int | None,
        typer.Option("--workers", min=1, help="With --engine ray: judges at work. [one a GPU]"),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(help="What the metric is called beside others. [default: by the units]"),
    ] = None,
    form: FormatOption = "table",
    output: OutputOption = None,
    *,
    judge_settings: dict[str, Any],
    names: dict[str, Any],
) -> None:
    """Score systems by the reference facts that their summaries carry."""
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
        typer.Argument(
            help="Summary files or folders; or one table of scores: JSON of `score`, CSV, JSONL.",
            show_default=False,
        ),
    ],
    units: UnitsOption = None,
    references: ReferencesOption = None,
    srl: SrlOption = "embedded",
    coref: CorefOption = "srl",
    judge: JudgeOption = DEFAULT_JUDGE,
    weights: WeightsOption = None,
    kind: KindOption = None,
    importance: ImportanceOption = "all",
    metric: Annotated[
        str | None, typer.Option("--metric", help="Which metric of a table with several.")
    ] = None,
    against: Annotated[
        str | None,
        typer.Option("--against", metavar="SYSTEM", help="Compare this system with all others."),
    ] = None,
    top: Annotated[
        int | None, typer.Option("--top", metavar="N", help="Compare the N best systems only.")
    ] = None,
    samples: SamplesOption = 10_000,
    confidence: ConfidenceOption = 0.95,
    alpha: Annotated[float, typer.Option("--alpha", help="Level of significance.")] = 0.05,
    seed: SeedOption = 12345,
    form: FormatOption = "table",
    output: OutputOption = None,
    *,
    judge_settings: dict[str, Any],
    names: dict[str, Any],
) -> None:
    """Compare systems on the same inputs: differences, intervals, p-values."""
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
