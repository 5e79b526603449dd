"""``litepyramid crossval``, ``datasets``, ``finetune`` and ``judge evaluate``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from litepyramid.cli.judging import with_judge_settings
from litepyramid.cli.options import (
    FormatOption,
    OldStuShareOption,
    OutputOption,
    SeedOption,
    StuShareOption,
    with_names,
)
from litepyramid.cli.outputs import MADE
from litepyramid.judges import DEFAULT_JUDGE
from litepyramid.text import counted

if TYPE_CHECKING:
    from litepyramid.io.dataset import Dataset

judge_app = typer.Typer(help="How right a judge is.", no_args_is_help=True)

EpochsOption = Annotated[float, typer.Option("--epochs", help="Passes over the labels.")]
RateOption = Annotated[float, typer.Option("--learning-rate", help="Peak of the schedule.")]
BatchOption = Annotated[int, typer.Option("--batch-size", min=1, help="Pairs in one update.")]
DeviceOption = Annotated[str, typer.Option("--device", help="auto or cpu.")]
ConstantOption = Annotated[
    Literal["skip", "zero", "zb21"],
    typer.Option("--constant", help="What a constant column's correlation counts as."),
]


@with_judge_settings
def crossval(
    data: Annotated[
        str | None,
        typer.Argument(help="NAME=PATH of a data set, see `litepyramid datasets`."),
    ] = None,
    by: Annotated[
        Literal["examples", "systems"], typer.Option("--by", help="What is held out.")
    ] = "examples",
    folds: Annotated[int, typer.Option("--folds", min=2, help="How many.")] = 5,
    train_on: Annotated[
        list[str] | None,
        typer.Option("--train-on", help="NAME=PATH to train on, whole (repeatable)."),
    ] = None,
    test_on: Annotated[
        str | None, typer.Option("--test-on", help="NAME=PATH to score, with --train-on.")
    ] = None,
    base: Annotated[
        str, typer.Option("--base", help="What is trained: lexical, a hub id or a folder.")
    ] = "lexical",
    checkpoints: Annotated[
        str | None,
        typer.Option(
            "--checkpoints",
            help="Ready judges instead of training, {fold} for the fold's number.",
        ),
    ] = None,
    models: Annotated[
        Path | None, typer.Option("--models", help="Folder for the fine-tuned models."), MADE
    ] = None,
    zero_shot: Annotated[
        list[str] | None,
        typer.Option("--zero-shot", help="An untrained judge to show beside it (repeatable)."),
    ] = None,
    stu_share: StuShareOption = 0.5,
    share: OldStuShareOption = None,
    easiness: Annotated[
        Path | None,
        typer.Option(help="Lite2.x by this file's easiness of every sentence, none predicted."),
    ] = None,
    regressor: Annotated[
        str | None,
        typer.Option(
            "--regressor",
            "-g",
            help="Lite2.x by this regressor as it is; 'sources': one trained on the --train-on "
            "sets. [default: the embedded one, refined fold by fold]",
            show_default=False,
        ),
    ] = None,
    epochs: EpochsOption = 2,
    learning_rate: RateOption = 1e-5,
    batch_size: BatchOption = 32,
    constant: ConstantOption = "skip",
    seed: SeedOption = 12345,
    form: FormatOption = "table",
    output: OutputOption = None,
    *,
    judge_settings: dict[str, Any],
) -> None:
    """Train on all folds but one, score the one left out, average the correlations.

    With --train-on and --test-on instead of DATA: train on whole data sets, score another.
    """
    from litepyramid.easiness.scores import read_easiness
    from litepyramid.errors import InputError
    from litepyramid.tables import emit
    from litepyramid.training.crossval import cross_validate, out_of_the_box
    from litepyramid.training.settings import FinetuneSettings
    from litepyramid.training.trainers import make_contest
    from litepyramid.training.variants import source_regressor, unit_variants
    from litepyramid.types import Signature

    if (data is None) == (not (train_on and test_on)):
        raise InputError(
            "neither a data set nor a training and a test set given"
            if data is None
            else "a data set and --train-on given",
            expected="DATA, or --train-on with --test-on",
        )
    if regressor == "sources" and not train_on:
        raise InputError("a regressor trained on sources, and none", expected="--train-on")
    if easiness is not None and regressor is not None:
        raise InputError("--easiness and --regressor", expected="one of the two")
    stu_share = stu_share if share is None else share
    given = None if easiness is None else read_easiness(easiness)
    trainer, baselines = make_contest(
        base,
        checkpoints,
        zero_shot or ["recall"],
        folder=models,
        settings=FinetuneSettings(
            epochs=epochs, learning_rate=learning_rate, batch_size=batch_size, seed=seed
        ),
        **judge_settings,
    )
    try:
        if data is not None:
            dataset = _dataset(data)
            result = cross_validate(
                dataset,
                trainer,
                by=by,
                folds=folds,
                units=unit_variants(
                    dataset,
                    stu_share=stu_share,
                    folds=folds,
                    seed=seed,
                    easiness=given,
                    regressor=None if regressor is None else Path(regressor),
                ),
                baselines=baselines,
                constant=constant,
                seed=seed,
            )
        else:
            test, sources = _dataset(test_on or ""), [_dataset(text) for text in train_on or []]
            result = out_of_the_box(
                sources,
                test,
                trainer,
                units=unit_variants(
                    test,
                    stu_share=stu_share,
                    folds=None,
                    easiness=given,
                    regressor=source_regressor(sources)
                    if regressor == "sources"
                    else Path(regressor)
                    if regressor
                    else None,
                ),
                baselines=baselines,
                constant=constant,
            )
    except KeyboardInterrupt as stop:
        kept = len(list(models.glob("fold*/config.json"))) if models else 0
        if kept:
            stop.add_note(f"{counted(kept, 'trained fold')} kept in {models}")
        raise
    source = easiness.name if easiness is not None else regressor
    if source is not None:
        said = Signature((*result.signature.fields, ("easiness", source)))
        result = replace(result, signature=said)
    emit(result, form, output)


@with_names
def finetune(
    base: Annotated[str, typer.Argument(help="lexical, or a hub id or folder of an NLI model.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to make."), MADE],
    data: Annotated[
        list[str] | None,
        typer.Option("--data", "-d", help="NAME=PATH of a labelled data set (repeatable)."),
    ] = None,
    summaries: Annotated[
        list[Path] | None,
        typer.Option("--summaries", help="Summaries of your own data, with --units, --labels."),
    ] = None,
    units: Annotated[Path | None, typer.Option("--units", "-u", help="Its units.")] = None,
    labels: Annotated[Path | None, typer.Option("--labels", "-l", help="Its labels.")] = None,
    nli: Annotated[
        list[Path] | None,
        typer.Option("--nli", help="NLI pairs as JSON Lines to learn from too (repeatable)."),
    ] = None,
    head: Annotated[
        Literal["presence", "two-class", "three-class"],
        typer.Option("--head", help="presence is the paper's: cross-entropy over (e, n + c)."),
    ] = "presence",
    epochs: EpochsOption = 2,
    learning_rate: RateOption = 1e-5,
    warmup: Annotated[
        float, typer.Option("--warmup", help="Share of the steps with a rising rate.")
    ] = 0.06,
    batch_size: BatchOption = 32,
    accumulate: Annotated[
        int, typer.Option("--accumulate", min=1, help="Steps that make up one update.")
    ] = 1,
    max_length: Annotated[
        int, typer.Option("--max-length", help="The most tokens of a pair.")
    ] = 400,
    class_weights: Annotated[
        Literal["none", "balanced"], typer.Option("--class-weights", help="Weights of classes.")
    ] = "none",
    early_stop: Annotated[
        int, typer.Option("--early-stop", min=0, help="Stop after so many worse epochs.")
    ] = 0,
    held_out: Annotated[
        float, typer.Option("--held-out", help="Share of the inputs kept away from training.")
    ] = 0.1,
    bf16: Annotated[bool, typer.Option("--bf16", help="Mixed precision on GPUs.")] = False,
    revision: Annotated[
        str | None, typer.Option("--revision", help="Of a hub model: branch, tag or commit.")
    ] = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Look only in the local hub cache.")
    ] = False,
    label_map: Annotated[
        str | None, typer.Option("--label-map", help="entailment=0,neutral=1,contradiction=2")
    ] = None,
    device: DeviceOption = "auto",
    seed: SeedOption = 12345,
    form: FormatOption = "table",
    *,
    names: dict[str, Any],
) -> None:
    """Fine-tune a judge on human presence labels; a killed run goes on when called again."""
    from litepyramid.errors import InputError
    from litepyramid.io.datasets import read_own
    from litepyramid.judges.nli.labels import parse_label_map
    from litepyramid.tables import emit
    from litepyramid.training.finetune import finetune as run
    from litepyramid.training.settings import FinetuneSettings

    sets = [_dataset(text) for text in data or []]
    if summaries or units or labels:
        if not (summaries and units and labels):
            raise InputError(
                "summaries, units and labels are not all given",
                expected="--summaries, --units and --labels together",
            )
        sets.append(read_own(summaries, units, labels, **names))
    settings = FinetuneSettings(
        head=head,
        epochs=epochs,
        learning_rate=learning_rate,
        warmup=warmup,
        batch_size=batch_size,
        accumulate=accumulate,
        max_length=max_length,
        class_weights=class_weights,
        early_stop=early_stop,
        held_out=held_out,
        bf16=bf16,
        seed=seed,
    )
    result = run(
        base,
        sets,
        output,
        settings,
        nli=nli or [],
        revision=revision,
        offline=offline,
        label_map=parse_label_map(label_map) if label_map else None,
        device=device,
    )
    emit(result, form)


def datasets(form: FormatOption = "table", output: OutputOption = None) -> None:
    """List the data sets that can be read, where to get them, and their licences."""
    from litepyramid.io.datasets import DatasetList
    from litepyramid.tables import emit

    emit(DatasetList(), form, output)


@judge_app.command("evaluate")
@with_judge_settings
@with_names
def evaluate(
    summaries: Annotated[
        list[Path], typer.Argument(help="Summary files, or folders.", show_default=False)
    ],
    units: Annotated[Path, typer.Option("--units", "-u", help="Units of the references.")],
    labels: Annotated[Path, typer.Option("--labels", "-l", help="Human presence labels.")],
    judge: Annotated[str, typer.Option("--judge", "-j", help="The judge.")] = DEFAULT_JUDGE,
    bins: Annotated[int, typer.Option("--bins", min=1, help="Rows of the table.")] = 10,
    form: FormatOption = "table",
    output: OutputOption = None,
    *,
    judge_settings: dict[str, Any],
    names: dict[str, Any],
) -> None:
    """Compare a judge with human labels: accuracy, AUC, Brier, reliability table."""
    from litepyramid.io.labels import read_labels
    from litepyramid.io.summaries import read_summaries
    from litepyramid.io.units import read_units
    from litepyramid.judges.registry import make_judge
    from litepyramid.tables import emit
    from litepyramid.training.evaluate import evaluate_judge

    loaded = read_units(units, **names)
    systems = read_summaries(summaries, [entry.input for entry in loaded], **names)
    human = read_labels([labels], loaded, **names)
    emit(
        evaluate_judge(systems, loaded, human, make_judge(judge, **judge_settings), bins=bins),
        form,
        output,
    )


@judge_app.command("explain")
def explain(
    summary: Annotated[str, typer.Argument(help="A summary, or a file that holds one.")],
    unit: Annotated[str, typer.Argument(help="A unit, or a file with one a line.")],
    judge: Annotated[
        str, typer.Option("--judge", "-j", help="reading, lexical, recall, or a file of weights.")
    ] = DEFAULT_JUDGE,
    form: FormatOption = "table",
    output: OutputOption = None,
) -> None:
    """Show why a judge finds a unit in a summary or not: sentence, words, conflict."""
    from litepyramid.judges.evidence import explain as run
    from litepyramid.judges.registry import make_judge
    from litepyramid.tables import emit

    units = [line for line in _text(unit).splitlines() if line.strip()]
    emit(run(make_judge(judge), _text(summary), units), form, output)


def _text(given: str) -> str:
    """What a file holds, or the argument itself."""
    from litepyramid.files import file_type, read_text

    return read_text(Path(given)) if file_type(given) == "file" else given


def _dataset(text: str) -> Dataset:
    from litepyramid.errors import InputError
    from litepyramid.io.datasets import load_dataset

    name, equals, path = text.partition("=")
    if not equals:
        raise InputError(f"data set '{text}'", expected="NAME=PATH, such as realsumm=FOLDER")
    return load_dataset(name, path)
