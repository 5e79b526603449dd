"""``litepyramid crossval``, ``datasets``, ``finetune`` and ``judge evaluate``."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import typer

from litepyramid.cli.judging import JudgeGroup
from litepyramid.cli.options import (
    Constant,
    Form,
    Made,
    NamesGroup,
    ShownGroup,
    Written,
    runs,
)
from litepyramid.judges import DEFAULT_JUDGE

judge_app = typer.Typer(
    help="""Evaluate judges against human labels.

    $ litepyramid judge evaluate example/summaries -u example/scus.jsonl -l \\
        example/labels
    $ litepyramid judge evaluate example/summaries -u example/scus.jsonl -l \\
        example/labels --judge recall
    """,
    no_args_is_help=True,
)


@runs("litepyramid.api:crossval", without=["test_on"])
def crossval(
    data: str | None = None,
    /,
    base: str = "lexical",
    by: Literal["examples", "systems"] = "examples",
    folds: int = 5,
    zero_shot: list[str] | None = None,
    train_on: list[str] | None = None,
    test_on: str | None = None,
    models: Made | None = None,
    form: Form = "table",
    output: Written | None = None,
    checkpoints: str | None = None,
    epochs: float = 2,
    learning_rate: float = 1e-5,
    batch_size: int = 32,
    stu_share: float | None = 0.5,
    easiness: Path | None = None,
    regressor: str | None = None,
    constant: Constant = "skip",
    seed: int = 12345,
    *,
    judge_settings: JudgeGroup,
) -> Any:
    """Cross-validate a judge: train on all folds but one, score the held-out fold.

    $ litepyramid crossval folder=data --folds 3
    $ litepyramid crossval --train-on folder=other --test-on folder=data

    Options:
        data: A labelled data set: NAME=PATH (see `litepyramid datasets`).
        base (JUDGE): Judge to train: lexical, reading, a hub id or a folder.
        by: What to hold out.
        folds (N >=2): Number of folds.
        zero_shot (JUDGE): Untrained judge to compare with; repeat. [default: recall]
        train_on (NAME=PATH): Instead of folds, train on this whole data set; repeat.
        test_on (NAME=PATH): With --train-on: score this data set.
        models: Folder for the fine-tuned models.

    Training:
        checkpoints: Trained judges to use instead, {fold} for the fold's number.

    Mixing units (Lite2.x):
        stu_share (P): Share of sentences that carry STUs.
        easiness: Easiness of every sentence, instead of predicting it.
        regressor (-g): Predict by this regressor; 'sources': one trained on the --train-on sets.
            [default: the embedded one, refined fold by fold]
    """
    from litepyramid.errors import InputError
    from litepyramid.io.datasets import open_dataset

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
    return {
        "data": open_dataset(data or test_on or ""),
        "train_on": [open_dataset(text) for text in train_on or []],
    }


@runs(
    "litepyramid.api:finetune",
    without=["summaries", "units", "labels", "names"],
    folder="output",
)
def finetune(
    base: str,
    /,
    folder: Made,
    data: list[str] | None = None,
    summaries: list[Path] | None = None,
    units: Path | None = None,
    labels: Path | None = None,
    nli: list[Path] | None = None,
    held_out: float = 0.1,
    form: Form = "table",
    head: Literal["presence", "two-class", "three-class"] = "presence",
    epochs: float = 2,
    learning_rate: float = 1e-5,
    warmup: float = 0.06,
    batch_size: int = 32,
    accumulate: int = 1,
    max_length: int = 400,
    class_weights: Literal["none", "balanced"] = "none",
    early_stop: int = 0,
    bf16: bool = False,
    device: str = "auto",
    seed: int = 12345,
    revision: str | None = None,
    offline: bool = False,
    label_map: str | None = None,
    *,
    names: NamesGroup,
) -> Any:
    """Fine-tune a judge on human presence labels; run again to continue a stopped run.

    $ litepyramid finetune lexical --data folder=data -o my-judge
    $ litepyramid finetune lexical --summaries example/summaries --units \\
        example/scus.jsonl --labels example/labels -o my-own-judge

    Options:
        base: lexical, reading, or a hub id or folder of an NLI model.
        folder (--output -o): Folder to create.
        data (-d NAME=PATH): A labelled data set: NAME=PATH (see `litepyramid datasets`); repeat.
        summaries: Your own summaries, with --units and --labels.
        units (-u): Their units.
        nli: NLI pairs to train on as well (JSON Lines); repeat.
        held_out (P): Share of inputs held out of training.

    Training:
        head: presence is the paper's: cross-entropy over (e, n + c).
        warmup (P): Share of warm-up steps.
        accumulate (N >=1): Accumulate gradients over N steps.
        max_length (N): Maximum tokens of a pair.
        class_weights: Class weights.
        early_stop (N >=0): Stop after N epochs without improvement.
        bf16: Mixed precision on GPUs.
        device: auto or cpu.

    Hub models:
        revision: Branch, tag or commit.
        offline: Look only in the local hub cache.
        label_map (MAP): entailment=0,neutral=1,contradiction=2
    """
    from litepyramid import api
    from litepyramid.errors import InputError
    from litepyramid.io.datasets import open_dataset
    from litepyramid.judges.nli.labels import parse_label_map

    sets = [open_dataset(text) for text in data or []]
    if summaries or units or labels:
        if not (summaries and units and labels):
            raise InputError(
                "summaries, units and labels are not all given",
                expected="--summaries, --units and --labels together",
            )
        sets.append(api.load(units, summaries=summaries, labels=labels, **names))
    return {"data": sets, "label_map": parse_label_map(label_map) if label_map else None}


@runs("litepyramid.io.datasets:DatasetList")
def datasets(
    form: Form = "table",
    output: Written | None = None,
) -> None:
    """List the published data sets that can be read, with source and licence.

    $ litepyramid datasets
    $ litepyramid datasets -f json -o datasets.json
    """


@judge_app.command("evaluate")
def evaluate(
    summaries: list[Path] | None = None,
    /,
    units: Path | None = None,
    labels: Path | None = None,
    contrast: bool = False,
    judge: str = DEFAULT_JUDGE,
    bins: int = 10,
    *,
    shown: ShownGroup,
    judge_settings: JudgeGroup,
    names: NamesGroup,
) -> None:
    """Compare a judge with human labels: accuracy, AUC, Brier score, reliability table.

    With --contrast: what it detects (negation, roles, numbers …), by kind.

    $ litepyramid judge evaluate example/summaries -u example/scus.jsonl -l \\
        example/labels
    $ litepyramid judge evaluate --contrast --judge lexical

    Options:
        summaries: Summary files, or folders of them; one file per system.
        units (-u): Units of the references.
        contrast: Use the 824 embedded contrast pairs instead.
        bins (N >=1): Bins of the reliability table.
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
@runs("litepyramid.judges.evidence:explain", without=["unit"])
def explain(
    summary: str,
    unit: str,
    /,
    judge: str = DEFAULT_JUDGE,
    form: Form = "table",
    output: Written | None = None,
) -> Any:
    """Show why a judge does or does not find a unit: sentence, words, conflict.

    $ litepyramid judge explain "A storm hit Oslo." "Oslo was hit by a storm."
    $ litepyramid judge explain "Nobody died." "Two people died." --judge lexical

    Options:
        summary: A summary, or a file with one.
        unit: A unit, or a file with one per line.
        judge (-j JUDGE): reading, lexical, recall, or a file of weights.
    """
    from litepyramid.judges.registry import make_judge

    units = [line for line in _text(unit).splitlines() if line.strip()]
    return {"judge": make_judge(judge), "summary": _text(summary), "units": units}


def _text(given: str) -> str:
    """What a file holds, or the argument itself."""
    from litepyramid.files import file_type, read_text

    return read_text(Path(given)) if file_type(given) == "file" else given


@judge_app.command("agree")
@runs("litepyramid.training.agree:judges_agree")
def agree(
    first: Path,
    second: Path,
    /,
    show: int = 10,
    form: Form = "table",
    output: Written | None = None,
) -> None:
    """Compare two judges on the same pairs: means, kappa, alpha, the largest differences.

    $ litepyramid score example/summaries -u example/scus.jsonl -j lexical \\
        -f json -o a.json
    $ litepyramid score example/summaries -u example/scus.jsonl -j recall \\
        -f json -o b.json
    $ litepyramid judge agree a.json b.json

    Options:
        first: JSON of `score` with one judge.
        second: JSON of `score` with another judge.
        show (N >=0): Differing pairs to show.
    """
