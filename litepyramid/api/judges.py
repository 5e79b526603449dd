"""Judges and labels: evaluation, fine-tuning, cross-validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from litepyramid.api.score import load
from litepyramid.api.units import regressor_of
from litepyramid.errors import InputError
from litepyramid.io.dataset import Dataset
from litepyramid.judges.own import as_judge
from litepyramid.text import counted
from litepyramid.types import Signature

if TYPE_CHECKING:
    from litepyramid.judges.calibration import CalibrationResult
    from litepyramid.meta.core.levels import ConstantPolicy
    from litepyramid.training.finetune import FinetuneResult
    from litepyramid.training.folds import By
    from litepyramid.training.validation_result import ValidationResult


def evaluate(judge: Any, data: Any, *, bins: int = 10, **settings: Any) -> CalibrationResult:
    """A judge against human labels: accuracy, AUC, Brier, reliability table.

    Args:
        judge: As for `litepyramid.judge`.
        data: A `Dataset` with labels, or what `load` takes.
        bins: Rows of the reliability table.
        **settings: Settings of the judge, if given by name.

    Raises:
        InputError: The data has no labels, or the judge is invalid.
    """
    from litepyramid.training.evaluate import evaluate_judge

    own = labelled(data)
    judging = as_judge(judge, **settings)
    return evaluate_judge(own.summaries, own.scus, own.labels, judging, bins=bins)


def finetune(
    base: str,
    data: Any,
    output: str | Path,
    *,
    nli: Sequence[str | Path] = (),
    revision: str | None = None,
    offline: bool = False,
    label_map: Mapping[str, str] | None = None,
    device: str = "auto",
    **settings: Any,
) -> FinetuneResult:
    """Fine-tunes a judge on presence labels and measures it on held-out inputs.

    Args:
        base: ``lexical`` or ``reading`` to refit its weights; otherwise a hub id or a folder.
        data: A `Dataset` with labels, what `load` takes, or a list of these.
        output: The folder to create; pass it to `judge`.
        nli: Files of NLI pairs to train on as well (`training.pairs.read_nli`).
        revision: Revision of a hub model.
        offline: Look only in the local hub cache.
        label_map: The meaning of the base's labels.
        device: ``auto`` or ``cpu``.
        **settings: Fields of `FinetuneSettings`: ``epochs``, ``learning_rate``, ``seed`` …

    Raises:
        InputError: Nothing to train on, or `output` already exists.
        ModelError: The base cannot be fine-tuned.
        MissingExtraError: The extra ``train`` is not installed.
    """
    from litepyramid.training.finetune import finetune as run
    from litepyramid.training.settings import FinetuneSettings

    several = data if isinstance(data, list | tuple) else [] if data is None else [data]
    return run(
        base,
        [labelled(one) for one in several],
        output,
        FinetuneSettings(**settings),
        nli=nli,
        revision=revision,
        offline=offline,
        label_map=label_map,
        device=device,
    )


def crossval(
    base: str,
    data: Any,
    *,
    by: By = "examples",
    folds: int = 5,
    train_on: Sequence[Any] = (),
    checkpoints: str | None = None,
    models: str | Path | None = None,
    zero_shot: Sequence[str] = ("recall",),
    stu_share: float | None = 0.5,
    easiness: Any = None,
    regressor: Any = None,
    constant: ConstantPolicy = "skip",
    seed: int = 12345,
    epochs: float = 2,
    learning_rate: float = 1e-5,
    batch_size: int = 32,
    **settings: Any,
) -> ValidationResult:
    """Trains on all folds but one, scores the held-out fold, and averages the correlations.

    Args:
        base: Judge to train: ``lexical``, ``reading``, a hub id or a folder.
        data: A `Dataset` with labels, or what `load` takes.
        by: Hold out ``examples`` (inputs) or ``systems``.
        folds: Number of folds; the data set's own are used if there are as many.
        train_on: Whole data sets to train on instead, to score `data` (ZB21 §5.2).
        checkpoints: Trained judges to use instead, with ``{fold}`` for the fold's number.
        models: Folder for the fine-tuned models.
        zero_shot: Untrained judges to compare with, by name.
        stu_share: Share of the sentences that carry STUs in Lite2.x; None for no mix.
        easiness: Easiness of every sentence for Lite2.x, or its file; predicted if not given.
        regressor: Regressor to use unchanged: an `EasinessRegressor`, its file, or ``"sources"``
            for one that is trained on `train_on`. If not given, the embedded one, refined fold by
            fold.
        constant: What a constant column's correlation counts as.
        seed: Seed of a random split, and of training.
        epochs: Passes over the labels.
        learning_rate: Peak of the schedule.
        batch_size: Pairs in one update.
        **settings: Settings of the NLI judges, as for `judge`.

    Raises:
        InputError: The data set is too small, or a system has no labels.
    """
    from litepyramid.easiness.scores import read_easiness
    from litepyramid.training.crossval import cross_validate, out_of_the_box
    from litepyramid.training.settings import FinetuneSettings
    from litepyramid.training.trainers import make_contest
    from litepyramid.training.variants import source_regressor, unit_variants

    if regressor == "sources" and not train_on:
        raise InputError("regressor='sources' without source data", expected="train_on")
    if easiness is not None and regressor is not None:
        raise InputError("both an easiness and a regressor", expected="one of the two")
    values = None if easiness is None else read_easiness(easiness)
    trainer, baselines = make_contest(
        base,
        checkpoints,
        zero_shot,
        folder=None if models is None else Path(models),
        settings=FinetuneSettings(
            epochs=epochs, learning_rate=learning_rate, batch_size=batch_size, seed=seed
        ),
        **settings,
    )
    own, sources = labelled(data), [labelled(one) for one in train_on]
    named = regressor if isinstance(regressor, str | Path) else None
    predictor = source_regressor(sources) if regressor == "sources" else regressor_of(regressor)
    units = unit_variants(
        own,
        stu_share=stu_share,
        folds=None if sources else folds,
        seed=seed,
        easiness=values,
        regressor=predictor,
    )
    shared: Any = {"units": units, "baselines": baselines, "constant": constant}
    try:
        if sources:
            result = out_of_the_box(sources, own, trainer, **shared)
        else:
            result = cross_validate(own, trainer, by=by, folds=folds, seed=seed, **shared)
    except KeyboardInterrupt as stop:
        if kept := len(list(Path(models).glob("fold*/config.json"))) if models else 0:
            stop.add_note(f"{counted(kept, 'trained fold')} kept in {models}")
        raise
    source = Path(easiness).name if isinstance(easiness, str | Path) else named
    if source is None and (values is not None or regressor is not None):
        source = "given"
    if source is None:
        return result
    said = Signature((*result.signature.fields, ("easiness", str(source))))
    return replace(result, signature=said)


def labelled(data: Any) -> Dataset:
    """A data set with human units, summaries and labels."""
    found = data if isinstance(data, Dataset) else load(data)
    for what, said in (("scus", "human units"), ("summaries", "summaries"), ("labels", "labels")):
        if not getattr(found, what):
            raise InputError(
                f"the data set '{found.name}' has no {said}",
                expected="human units, summaries, and labels of them (litepyramid.load)",
            )
    return found
