"""``litepyramid crossval``, ``datasets``, ``finetune`` and ``judge evaluate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from litepyramid.cli.judging import with_judge_settings
from litepyramid.cli.options import (
    ConstantOption,
    FormatOption,
    JudgeOption,
    LabelsOption,
    OutputOption,
    SeedOption,
    Shown,
    option,
    with_figure,
    with_names,
)
from litepyramid.cli.outputs import MADE
from litepyramid.judges import DEFAULT_JUDGE
from litepyramid.text import counted

judge_app = typer.Typer(
    help="""Evaluate judges against human labels.

    $ litepyramid judge evaluate example/summaries -u example/scus.jsonl -l \\
        example/labels
    $ litepyramid judge evaluate example/summaries -u example/scus.jsonl -l \\
        example/labels --judge recall
    """,
    no_args_is_help=True,
)

_DATA = "A labelled data set: NAME=PATH (see `litepyramid datasets`)"
_TRAINING, _LITE2X, _HUB = "Training", "Mixing units (Lite2.x)", "Hub models"
EpochsOption = Annotated[float, option("Passes over the labels.", metavar="N", panel=_TRAINING)]
RateOption = Annotated[float, option("Peak learning rate.", metavar="N", panel=_TRAINING)]
BatchOption = Annotated[int, option("Pairs per update.", min=1, metavar="N", panel=_TRAINING)]


@with_judge_settings
def crossval(
    data: Annotated[str | None, typer.Argument(help=f"{_DATA}.")] = None,
    base: Annotated[
        str, option("Judge to train: lexical, a hub id or a folder.", metavar="JUDGE")
    ] = "lexical",
    by: Annotated[Literal["examples", "systems"], option("What to hold out.")] = "examples",
    folds: Annotated[int, option("Number of folds.", min=2, metavar="N")] = 5,
    zero_shot: Annotated[
        list[str] | None,
        option("Untrained judge to compare with; repeat. [default: recall]", metavar="JUDGE"),
    ] = None,
    train_on: Annotated[
        list[str] | None,
        option("Instead of folds, train on this whole data set; repeat.", metavar="NAME=PATH"),
    ] = None,
    test_on: Annotated[
        str | None, option("With --train-on: score this data set.", metavar="NAME=PATH")
    ] = None,
    models: Annotated[Path | None, option("Folder for the fine-tuned models."), MADE] = None,
    form: FormatOption = "table",
    output: OutputOption = None,
    checkpoints: Annotated[
        str | None,
        option("Trained judges to use instead, {fold} for the fold's number.", panel=_TRAINING),
    ] = None,
    epochs: EpochsOption = 2,
    learning_rate: RateOption = 1e-5,
    batch_size: BatchOption = 32,
    stu_share: Annotated[
        float | None, option("Share of sentences that carry STUs.", metavar="P", panel=_LITE2X)
    ] = 0.5,
    easiness: Annotated[
        Path | None, option("Easiness of every sentence, instead of predicting it.", panel=_LITE2X)
    ] = None,
    regressor: Annotated[
        str | None,
        option(
            "Predict by this regressor; 'sources': one trained on the --train-on sets. [default: "
            "the embedded one, refined fold by fold]",
            "--regressor",
            "-g",
            show_default=False,
            panel=_LITE2X,
        ),
    ] = None,
    constant: ConstantOption = "skip",
    seed: SeedOption = 12345,
    *,
    judge_settings: dict[str, Any],
) -> None:
    """Cross-validate a judge: train on all folds but one, score the held-out fold.

    $ litepyramid crossval folder=data --folds 3
    $ litepyramid crossval --train-on folder=other --test-on folder=data
    """
    from litepyramid import api
    from litepyramid.errors import InputError
    from litepyramid.io.datasets import open_dataset
    from litepyramid.tables import emit

    if (data is None) == (not (train_on and test_on)):
        raise InputError(
            "neither a data set nor a training and a test set given"
            if data is None
            else "a data set and --train-on given",
            expected="DATA, or --train-on with --test-on",
        )
    if regressor == "sources" and not train_on:
        raise InputError("--regressor sources without source data", expected="--train-on")
    if easiness is not None and regressor is not None:
        raise InputError("both --easiness and --regressor", expected="one of the two")
    try:
        result = api.crossval(
            base,
            open_dataset(data or test_on or ""),
            by=by,
            folds=folds,
            train_on=[open_dataset(text) for text in train_on or []],
            checkpoints=checkpoints,
            models=models,
            zero_shot=zero_shot or ["recall"],
            stu_share=stu_share,
            easiness=easiness,
            regressor=regressor,
            constant=constant,
            seed=seed,
            epochs=epochs,
            learning_rate=learning_rate,
            batch_size=batch_size,
            **judge_settings,
        )
    except KeyboardInterrupt as stop:
        kept = len(list(models.glob("fold*/config.json"))) if models else 0
        if kept:
            stop.add_note(f"{counted(kept, 'trained fold')} kept in {models}")
        raise
    emit(result, form, output)


@with_names
def finetune(
    base: Annotated[str, typer.Argument(help="lexical, or a hub id or folder of an NLI model.")],
    output: Annotated[Path, option("Folder to create.", "--output", "-o"), MADE],
    data: Annotated[
        list[str] | None, option(f"{_DATA}; repeat.", "--data", "-d", metavar="NAME=PATH")
    ] = None,
    summaries: Annotated[
        list[Path] | None, option("Your own summaries, with --units and --labels.")
    ] = None,
    units: Annotated[Path | None, option("Their units.", "--units", "-u")] = None,
    labels: LabelsOption = None,
    nli: Annotated[
        list[Path] | None, option("NLI pairs to train on as well (JSON Lines); repeat.")
    ] = None,
    held_out: Annotated[float, option("Share of inputs held out of training.", metavar="P")] = 0.1,
    form: FormatOption = "table",
    head: Annotated[
        Literal["presence", "two-class", "three-class"],
        option("presence is the paper's: cross-entropy over (e, n + c).", panel=_TRAINING),
    ] = "presence",
    epochs: EpochsOption = 2,
    learning_rate: RateOption = 1e-5,
    warmup: Annotated[
        float, option("Share of warm-up steps.", metavar="P", panel=_TRAINING)
    ] = 0.06,
    batch_size: BatchOption = 32,
    accumulate: Annotated[
        int, option("Accumulate gradients over N steps.", min=1, metavar="N", panel=_TRAINING)
    ] = 1,
    max_length: Annotated[
        int, option("Maximum tokens of a pair.", metavar="N", panel=_TRAINING)
    ] = 400,
    class_weights: Annotated[
        Literal["none", "balanced"], option("Class weights.", panel=_TRAINING)
    ] = "none",
    early_stop: Annotated[
        int,
        option("Stop after N epochs without improvement.", min=0, metavar="N", panel=_TRAINING),
    ] = 0,
    bf16: Annotated[bool, option("Mixed precision on GPUs.", "--bf16", panel=_TRAINING)] = False,
    device: Annotated[str, option("auto or cpu.", panel=_TRAINING)] = "auto",
    seed: SeedOption = 12345,
    revision: Annotated[str | None, option("Branch, tag or commit.", panel=_HUB)] = None,
    offline: Annotated[
        bool, option("Look only in the local hub cache.", "--offline", panel=_HUB)
    ] = False,
    label_map: Annotated[
        str | None, option("entailment=0,neutral=1,contradiction=2", metavar="MAP", panel=_HUB)
    ] = None,
    *,
    names: dict[str, Any],
) -> None:
    """Fine-tune a judge on human presence labels; run again to continue a stopped run.

    $ litepyramid finetune lexical --data folder=data -o my-judge
    $ litepyramid finetune lexical --summaries example/summaries --units \\
        example/scus.jsonl --labels example/labels -o my-own-judge
    """
    from litepyramid import api
    from litepyramid.errors import InputError
    from litepyramid.io.datasets import open_dataset
    from litepyramid.judges.nli.labels import parse_label_map
    from litepyramid.tables import emit

    sets = [open_dataset(text) for text in data or []]
    if summaries or units or labels:
        if not (summaries and units and labels):
            raise InputError(
                "summaries, units and labels are not all given",
                expected="--summaries, --units and --labels together",
            )
        sets.append(api.load(units, summaries=summaries, labels=labels, **names))
    result = api.finetune(
        base,
        sets,
        output,
        nli=nli or [],
        revision=revision,
        offline=offline,
        label_map=parse_label_map(label_map) if label_map else None,
        device=device,
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
    emit(result, form)


def datasets(form: FormatOption = "table", output: OutputOption = None) -> None:
    """List the published data sets that can be read, with source and licence.

    $ litepyramid datasets
    $ litepyramid datasets -f json -o datasets.json
    """
    from litepyramid.io.datasets import DatasetList
    from litepyramid.tables import emit

    emit(DatasetList(), form, output)


@judge_app.command("evaluate")
@with_judge_settings
@with_names
@with_figure
def evaluate(
    summaries: Annotated[
        list[Path] | None,
        typer.Argument(help="Summary files, or folders of them; one file per system."),
    ] = None,
    units: Annotated[Path | None, option("Units of the references.", "--units", "-u")] = None,
    labels: Annotated[
        Path | None, option("Human presence labels: a file or folder.", "--labels", "-l")
    ] = None,
    contrast: Annotated[
        bool, option("Use the 824 embedded contrast pairs instead.", "--contrast")
    ] = False,
    judge: JudgeOption = DEFAULT_JUDGE,
    bins: Annotated[int, option("Bins of the reliability table.", min=1, metavar="N")] = 10,
    *,
    shown: Shown,
    judge_settings: dict[str, Any],
    names: dict[str, Any],
) -> None:
    """Compare a judge with human labels: accuracy, AUC, Brier score, reliability table.

    With --contrast: what it detects (negation, roles, numbers …), by kind.

    $ litepyramid judge evaluate example/summaries -u example/scus.jsonl -l \\
        example/labels
    $ litepyramid judge evaluate --contrast --judge lexical
    """
    from litepyramid import api
    from litepyramid.errors import InputError
    from litepyramid.figures.scores import calibration_figure
    from litepyramid.training.contrast import evaluate_contrast

    if contrast:
        if summaries or units or labels or shown.figure:
            raise InputError("--contrast, and data or --figure", expected="one of the two")
        result = evaluate_contrast(api.judge(judge, **judge_settings))
        return shown.emit(result, calibration_figure)
    if not (summaries and units and labels):
        raise InputError(
            "summaries, units and labels are not all given",
            expected="SUMMARIES, --units and --labels; or --contrast",
        )
    data = api.load(units, summaries=summaries, labels=labels, **names)
    shown.emit(api.evaluate(judge, data, bins=bins, **judge_settings), calibration_figure)


@judge_app.command("explain")
def explain(
    summary: Annotated[str, typer.Argument(help="A summary, or a file with one.")],
    unit: Annotated[str, typer.Argument(help="A unit, or a file with one per line.")],
    judge: Annotated[
        str,
        option("reading, lexical, recall, or a file of weights.", "--judge", "-j", metavar="JUDGE"),
    ] = DEFAULT_JUDGE,
    form: FormatOption = "table",
    output: OutputOption = None,
) -> None:
    """Show why a judge does or does not find a unit: sentence, words, conflict.

    $ litepyramid judge explain "A storm hit Oslo." "Oslo was hit by a storm."
    $ litepyramid judge explain "Nobody died." "Two people died." --judge lexical
    """
    from litepyramid.judges.evidence import explain as run
    from litepyramid.judges.registry import make_judge
    from litepyramid.tables import emit

    units = [line for line in _text(unit).splitlines() if line.strip()]
    emit(run(make_judge(judge), _text(summary), units), form, output)


def _text(given: str) -> str:
    """What a file holds, or the argument itself."""
    from litepyramid.files import file_type, read_text

    return read_text(Path(given)) if file_type(given) == "file" else given


@judge_app.command("agree")
def agree(
    first: Annotated[Path, typer.Argument(help="JSON of `score` with one judge.")],
    second: Annotated[Path, typer.Argument(help="JSON of `score` with another judge.")],
    show: Annotated[int, option("Differing pairs to show.", min=0, metavar="N")] = 10,
    form: FormatOption = "table",
    output: OutputOption = None,
) -> None:
    """Compare two judges on the same pairs: means, kappa, alpha, the largest differences.

    $ litepyramid score example/summaries -u example/scus.jsonl -j lexical \\
        -f json -o a.json
    $ litepyramid score example/summaries -u example/scus.jsonl -j recall \\
        -f json -o b.json
    $ litepyramid judge agree a.json b.json
    """
    from litepyramid.tables import emit
    from litepyramid.training.agree import judges_agree

    emit(judges_agree(first, second, show=show), form, output)
