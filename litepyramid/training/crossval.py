"""Cross-validation and out-of-the-box tests of judges (ZB21 §5.1, §5.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Protocol

import numpy as np

from litepyramid.errors import InputError
from litepyramid.io.dataset import Dataset
from litepyramid.judges.base import Judge, JudgedBatch, judged
from litepyramid.judges.calibration import calibrate
from litepyramid.judges.nli.modes import MODES, presence
from litepyramid.meta.core.coefficients import Coefficient
from litepyramid.meta.core.levels import ConstantPolicy, Level, level_correlation
from litepyramid.progress import track
from litepyramid.scoring.pyramid import UnitLayout, lite_pyramid_scores
from litepyramid.text import counted
from litepyramid.training.folds import (
    By,
    Fold,
    LabelledItems,
    join_items,
    labelled_items,
    make_folds,
)
from litepyramid.training.validation_result import FoldScores, JudgeQuality, ValidationResult
from litepyramid.types import FloatArray, InputUnits, Signature

LEVELS: tuple[Level, ...] = ("system", "summary")
COEFFICIENTS: tuple[Coefficient, ...] = ("pearson", "spearman")


class Trainer(Protocol):
    """Makes a judge from labelled items; fold numbers count from 1, 0 means no fold."""

    def train(self, data: LabelledItems, fold: int) -> Judge:
        """A judge that has seen these labels and no others."""
        ...


def cross_validate(
    dataset: Dataset,
    trainer: Trainer,
    *,
    by: By = "examples",
    folds: int = 5,
    units: Mapping[str, Sequence[InputUnits]] | None = None,
    baselines: Mapping[str, Judge] | None = None,
    constant: ConstantPolicy = "skip",
    seed: int = 12345,
) -> ValidationResult:
    """Trains on all folds but one, scores the one left out, and averages over folds.

    Each fold gives correlations of the scores with the human score (Lite2 with the labels for
    presence) at system and summary level; the result is their mean over folds, with a Student t
    interval over folds (ZB21 Table 1: by examples, Table 4: by systems).

    Args:
        dataset: Units, summaries and labels.
        trainer: Makes a judge of each fold's training part.
        by: Hold out inputs or systems.
        folds: How many; the data set's own folds are used if it has as many.
        units: The units to score, by name: SCUs as ``lite2`` and the data set's STUs as
            ``lite3`` by default.
        baselines: Untrained judges to compare with, by name: ``{"zero-shot": judge}``.
        constant: What a constant column counts as, see `meta.levels.level_correlation`.
        seed: Seed of a random split.

    Returns:
        Fold means by judge, units and mode.

    Raises:
        InputError: The data set is too small, or a system has no labels.
    """
    plan = make_folds(dataset, by, folds, seed)
    published = len(dataset.example_folds if by == "examples" else dataset.system_folds) == folds

    def trained() -> Iterator[tuple[Fold, Mapping[str, Judge]]]:
        for fold in track(plan, "cross-validating", "folds"):
            train = labelled_items(dataset, fold.train_inputs, fold.train_systems)
            yield fold, {"trained": trainer.train(train, fold.number), **(baselines or {})}

    signature = Signature.of(
        by=by,
        folds=folds,
        split="published" if published else "random",
        constant=constant,
        seed=None if published else seed,
        **dataset.hashes,
    )
    return _validated(dataset, trained(), units, constant, signature)


def out_of_the_box(
    train: Sequence[Dataset],
    test: Dataset,
    trainer: Trainer,
    *,
    units: Mapping[str, Sequence[InputUnits]] | None = None,
    baselines: Mapping[str, Judge] | None = None,
    constant: ConstantPolicy = "skip",
) -> ValidationResult:
    """Trains on whole data sets and scores all of another one (ZB21 §5.2, Table 2).

    Raises:
        InputError: The test set is among the training sets.
    """
    if any(entry.name == test.name for entry in train):
        raise InputError(
            f"{test.name} is trained on and tested on", hint="Leave it out of the training sets."
        )
    data = join_items([labelled_items(entry) for entry in train])
    judges = {"trained": trainer.train(data, 0), **(baselines or {})}
    found = validate(test, judges, units=units, constant=constant)
    trained_on = Signature.of(trained_on="+".join(entry.name for entry in train))
    return replace(found, signature=Signature(trained_on.fields + found.signature.fields))


def validate(
    dataset: Dataset,
    judges: Mapping[str, Judge],
    *,
    inputs: Sequence[str] | None = None,
    units: Mapping[str, Sequence[InputUnits]] | None = None,
    constant: ConstantPolicy = "skip",
) -> ValidationResult:
    """Scores judges on a data set, or on some of its inputs, without any training.

    Args:
        dataset: Units, summaries and labels.
        judges: By the name to show.
        inputs: The inputs to score; all by default.
        units: As in `cross_validate`.
        constant: What a constant column counts as.
    """
    wanted = set(dataset.inputs if inputs is None else inputs)
    scored = tuple(name for name in dataset.inputs if name in wanted)
    fold = Fold(0, scored, dataset.systems, (), ())
    signature = Signature.of(inputs=len(scored), constant=constant, **dataset.hashes)
    return _validated(dataset, [(fold, judges)], units, constant, signature)


def _validated(
    dataset: Dataset,
    folds: Iterable[tuple[Fold, Mapping[str, Judge]]],
    units: Mapping[str, Sequence[InputUnits]] | None,
    constant: ConstantPolicy,
    signature: Signature,
) -> ValidationResult:
    """Scores the judges of each fold on what it holds out, with every kind of units."""
    variants = _variants(dataset, units)
    scores: list[FoldScores] = []
    quality: list[JudgeQuality] = []
    signatures: dict[str, dict[str, str]] = {}
    for fold, judges in folds:
        for name, judge in judges.items():
            found, right, own = _score(dataset, fold, name, judge, variants, constant)
            scores += found
            quality.append(right)
            signatures.setdefault(name, own)
    return ValidationResult(dataset.name, tuple(scores), tuple(quality), signatures, signature)


def _variants(
    dataset: Dataset, units: Mapping[str, Sequence[InputUnits]] | None
) -> dict[str, Sequence[InputUnits]]:
    variants: dict[str, Sequence[InputUnits]] = {"lite2": dataset.scus}
    if units is not None:
        variants.update(units)
    elif dataset.stus is not None:
        variants["lite3"] = dataset.stus
    for name, entries in variants.items():
        if tuple(entry.input for entry in entries) != dataset.inputs:
            raise InputError(
                f"the inputs of the units '{name}' are not those of {dataset.name}",
                expected=f"{counted(len(dataset.inputs), 'input')} in the data set's order",
            )
    return variants


def _score(
    dataset: Dataset,
    fold: Fold,
    name: str,
    judge: Judge,
    variants: Mapping[str, Sequence[InputUnits]],
    constant: ConstantPolicy,
) -> tuple[list[FoldScores], JudgeQuality, dict[str, str]]:
    """Every correlation in every mode of the judge, how right it is on SCUs, its signature."""
    held = set(fold.inputs)
    inputs = [i for i, input_ in enumerate(dataset.inputs) if input_ in held]
    texts = {entry.system: entry.texts for entry in dataset.summaries}
    labels = {entry.system: entry.labels for entry in dataset.labels}
    if missing := [system for system in fold.systems if system not in labels]:
        raise InputError(f"system '{missing[0]}' of {dataset.name} has no labels")
    truth = np.array(
        [[x for i in inputs for x in labels[system][i]] for system in fold.systems],
        dtype=np.float64,
    )
    human = lite_pyramid_scores(truth, UnitLayout.of([dataset.scus[i] for i in inputs]))
    scores: list[FoldScores] = []
    by_variant: dict[str, FloatArray] = {}
    signature: dict[str, str] = {}
    for variant, entries in variants.items():
        chosen = [entries[i] for i in inputs]
        items = [
            (texts[system][i], entry.texts)
            for system in fold.systems
            for i, entry in zip(inputs, chosen, strict=True)
        ]
        found = judged(judge, items)
        signature = found.signature
        own = signature.get("mode", "own")
        by_mode = {
            mode: values.reshape(len(fold.systems), -1)
            for mode, values in _modes(found, own).items()
        }
        by_variant[variant] = by_mode.get(own, next(iter(by_mode.values())))
        for mode, values in by_mode.items():
            metric = lite_pyramid_scores(values, UnitLayout.of(chosen))
            for level, coefficient in product(LEVELS, COEFFICIENTS):
                r = level_correlation(metric, human, level, coefficient, constant)
                kind = (name, variant, mode, level, coefficient, fold.number)
                scores.append(FoldScores(*kind, r.value, r.constant))
    right = calibrate(by_variant["lite2"], truth)
    quality = JudgeQuality(name, fold.number, right.pairs, right.accuracy, right.auc, right.brier)
    return scores, quality, signature


def _modes(found: JudgedBatch, own: str) -> dict[str, FloatArray]:
    """The presence of all pairs by mode; a judge without logits has one mode, its own."""
    if found.logits is None:
        return {own: np.concatenate(found.presence)}
    # An empty summary has no logits; it carries no unit in any mode.
    logits = np.concatenate(found.logits)
    empty = np.asarray(np.isnan(logits).all(axis=1), dtype=np.bool_)
    filled = np.where(empty[:, None], 0.0, logits)
    return {mode: np.where(empty, 0.0, presence(filled, mode)) for mode in MODES}
