"""Cross-validation and out-of-the-box tests of judges (ZB21 §5.1, §5.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from litepyramid.errors import InputError
from litepyramid.io.dataset import Dataset
from litepyramid.judges.base import Judge, judged
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


@dataclass(frozen=True, slots=True)
class _Held:
    """A held-out part of a data set, ready to be scored."""

    number: int
    inputs: tuple[int, ...]
    systems: tuple[int, ...]


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
        baselines: Untrained judges to show beside it, by name: ``{"zero-shot": judge}``.
        constant: What a constant column counts as, see `meta.levels.level_correlation`.
        seed: Seed of a random split.

    Returns:
        Fold means by judge, units and mode.

    Raises:
        InputError: The data set is too small, or a system has no labels.
    """
    variants = _variants(dataset, units)
    plan = make_folds(dataset, by, folds, seed)
    published = len(dataset.example_folds if by == "examples" else dataset.system_folds) == folds
    scores: list[FoldScores] = []
    quality: list[JudgeQuality] = []
    signatures: dict[str, dict[str, str]] = {}
    for fold in track(plan, "cross-validating", "folds"):
        train = labelled_items(dataset, fold.train_inputs, fold.train_systems)
        judges = {"trained": trainer.train(train, fold.number), **(baselines or {})}
        for name, judge in judges.items():
            own = _score(dataset, _held(dataset, fold), name, judge, variants, constant)
            scores += own.scores
            quality.append(own.quality)
            signatures.setdefault(name, own.signature)
    return ValidationResult(
        dataset=dataset.name,
        scores=tuple(scores),
        quality=tuple(quality),
        judges=signatures,
        signature=Signature.of(
            by=by,
            folds=folds,
            split="published" if published else "random",
            constant=constant,
            seed=None if published else seed,
            **dataset.hashes,
        ),
    )


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
    held = _Held(
        0,
        tuple(i for i, name in enumerate(dataset.inputs) if name in wanted),
        tuple(range(len(dataset.systems))),
    )
    variants = _variants(dataset, units)
    parts = {
        name: _score(dataset, held, name, judge, variants, constant)
        for name, judge in judges.items()
    }
    return ValidationResult(
        dataset=dataset.name,
        scores=tuple(score for part in parts.values() for score in part.scores),
        quality=tuple(part.quality for part in parts.values()),
        judges={name: part.signature for name, part in parts.items()},
        signature=Signature.of(inputs=len(held.inputs), constant=constant, **dataset.hashes),
    )


@dataclass(frozen=True, slots=True)
class _Scored:
    scores: list[FoldScores]
    quality: JudgeQuality
    signature: dict[str, str]


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


def _held(dataset: Dataset, fold: Fold) -> _Held:
    inputs, systems = set(fold.inputs), set(fold.systems)
    return _Held(
        fold.number,
        tuple(i for i, name in enumerate(dataset.inputs) if name in inputs),
        tuple(i for i, name in enumerate(dataset.systems) if name in systems),
    )


def _score(
    dataset: Dataset,
    held: _Held,
    name: str,
    judge: Judge,
    variants: Mapping[str, Sequence[InputUnits]],
    constant: ConstantPolicy,
) -> _Scored:
    """Scores a held-out part with every kind of units and every mode of the judge."""
    labels = {entry.system: entry for entry in dataset.labels}
    scus = [dataset.scus[i] for i in held.inputs]
    layout = UnitLayout.of(scus)
    missing = [dataset.systems[n] for n in held.systems if dataset.systems[n] not in labels]
    if missing:
        raise InputError(f"system '{missing[0]}' of {dataset.name} has no labels")
    truth = np.array(
        [
            [x for i in held.inputs for x in labels[dataset.systems[n]].labels[i]]
            for n in held.systems
        ],
        dtype=np.float64,
    )
    human = lite_pyramid_scores(truth, layout)
    scores: list[FoldScores] = []
    quality: JudgeQuality | None = None
    signature: dict[str, str] = {}
    for variant, entries in variants.items():
        chosen = [entries[i] for i in held.inputs]
        by_mode, signature = _judge(dataset, held, judge, chosen)
        for mode, values in by_mode.items():
            metric = lite_pyramid_scores(values, UnitLayout.of(chosen))
            for level in LEVELS:
                for coefficient in COEFFICIENTS:
                    found = level_correlation(metric, human, level, coefficient, constant)
                    scores.append(
                        FoldScores(
                            name, variant, mode, level, coefficient,
                            held.number, found.value, found.constant,
                        )
                    )  # fmt: skip
        if variant == "lite2":
            best = by_mode.get(signature.get("mode", ""), next(iter(by_mode.values())))
            found_quality = calibrate(best, truth)
            quality = JudgeQuality(
                name,
                held.number,
                found_quality.pairs,
                found_quality.accuracy,
                found_quality.auc,
                found_quality.brier,
            )
    if quality is None:
        raise InputError("no SCUs to judge", expected="units named lite2")
    return _Scored(scores, quality, signature)


def _judge(
    dataset: Dataset, held: _Held, judge: Judge, units: Sequence[InputUnits]
) -> tuple[dict[str, FloatArray], dict[str, str]]:
    """(systems, units) presence by mode; a judge without logits has one mode, its own."""
    items = [
        (dataset.summaries[n].texts[i], entry.texts)
        for n in held.systems
        for i, entry in zip(held.inputs, units, strict=True)
    ]
    found = judged(judge, items)
    if found.logits is None:
        by_mode = {found.signature.get("mode", "own"): np.concatenate(found.presence)}
    else:
        # An empty summary has no logits; it carries no unit in any mode.
        logits = np.concatenate(found.logits)
        empty = np.asarray(np.isnan(logits).all(axis=1), dtype=np.bool_)
        filled = np.where(empty[:, None], 0.0, logits)
        by_mode = {mode: np.where(empty, 0.0, presence(filled, mode)) for mode in MODES}
    return (
        {mode: values.reshape(len(held.systems), -1) for mode, values in by_mode.items()},
        found.signature,
    )
