"""Cross-validation and out-of-the-box tests of judges (ZB21 §5.1, §5.2)."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any, get_args

import numpy as np

from litepyramid.easiness.mix import mix_units, stu_count
from litepyramid.easiness.predict import predict, prepare_gold
from litepyramid.easiness.regressor import REFINED, EasinessRegressor, cross_fit
from litepyramid.errors import InputError, choose
from litepyramid.io.dataset import Dataset
from litepyramid.judges.base import Judge, JudgedBatch
from litepyramid.judges.evaluate import calibrate, labelled
from litepyramid.judges.nli.modes import MODES, presence
from litepyramid.judges.parallel import judge_pairs
from litepyramid.judges.registry import (
    EMBEDDED,
    REFITTED,
    check_trainable,
    in_language,
    parse_settings,
    settings_of,
)
from litepyramid.judges.registry import judge as make_judge
from litepyramid.language import check_language
from litepyramid.meta.core.levels import Coefficient, ConstantPolicy, Level, level_correlation
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
from litepyramid.training.pairs import presence_pairs
from litepyramid.training.run import made_from, train_transformer
from litepyramid.training.settings import FinetuneSettings, as_settings
from litepyramid.training.validation_result import FoldScores, JudgeQuality, ValidationResult
from litepyramid.types import DataLike, FloatArray, InputUnits, OutPath, Signature, fingerprint
from litepyramid.units.align import sentences_of
from litepyramid.units.extract import extract

_JUDGING = ("mode", "max_length", "device", "dtype", "batch_tokens", "cache")

LEVELS: tuple[Level, ...] = ("system", "summary")
COEFFICIENTS: tuple[Coefficient, ...] = ("pearson", "spearman")


Trainer = Callable[[LabelledItems, int], Judge]
"""Makes a judge that has seen these labels and no others; folds count from 1, 0 is no fold."""
Units = Mapping[str, Sequence[InputUnits]]


def crossval(  # data and those to train on are one, so eight
    base: str,
    data: DataLike = None,
    *,
    by: By = "examples",
    folds: int = 5,
    train_on: Sequence[Any] = (),
    zero_shot: Sequence[str] = ("recall",),
    stu_share: float = 0.5,
    output: OutPath | None = None,
    settings: Sequence[str] = (),
    **sources: Any,
) -> ValidationResult:
    """Cross-validate a judge: train on all folds but one, score the held-out fold.

    Reports the correlations of Lite2, Lite2.x and Lite3 scores with the human score, averaged over
    folds, and the judge's presence against the labels.

    Args:
        base: Judge to train: lexical, mini, or a hub id or folder of an NLI model; with {fold} in
            it, a trained judge for each fold.
        data: Summaries with units and labels; references or STUs for the scores that need them.
        by: Hold out examples (inputs) or systems.
        folds: Number of folds; the data set's own are used if there are as many.
        train_on: Whole data sets to train on instead of folds.
        zero_shot: Untrained judges to compare with.
        stu_share: Share of the sentences that carry STUs in Lite2.x.
        output: Folder for the fine-tuned models; finished ones in it are used again.
        settings: Settings as KEY=VALUE of training (epochs, learning_rate, batch_size, seed …) and
            of the judges (mode, max_length, device …).
        **sources: As for `load`.

    Raises:
        InputError: The data set is too small, or a system has no labels.

    Command line:
        $ litepyramid crossval lexical example/summaries -u example/scus.jsonl -l example/labels \\
            -r example/references.jsonl --folds 3
    """
    choose("by", by, get_args(By))
    if not isinstance(base, str | Path):
        raise InputError(f"the base is a {type(base).__name__}", expected="a name or a folder")
    training, options = as_settings(settings)
    trainer, baselines = make_contest(str(base), zero_shot, output, training, options)
    dataset = labelled(data, **sources).with_language()
    baselines = {name: in_language(one, dataset.language) for name, one in baselines.items()}
    if base in EMBEDDED:
        check_language("judge", dataset.language, f"the judge {base}")
    several = train_on if isinstance(train_on, list | tuple) else [train_on]
    trained_on = [labelled(one) for one in several]
    units = unit_variants(
        dataset, stu_share=stu_share, folds=None if trained_on else folds, seed=training.seed
    )
    made = Signature.of(base=base, training_sha=fingerprint([asdict(training)]))
    try:
        if trained_on:
            result = out_of_the_box(trained_on, dataset, trainer, units=units, baselines=baselines)
        else:
            result = cross_validate(
                dataset, trainer, by=by, folds=folds, units=units, baselines=baselines,
                seed=training.seed,
            )  # fmt: skip
    except KeyboardInterrupt as stop:
        if finished := len(list(Path(output).glob("fold*/config.json"))) if output else 0:
            stop.add_note(f"{counted(finished, 'trained fold')} kept in {output}")
        raise
    return replace(result, signature=Signature((*made.fields, *result.signature.fields)))


def cross_validate(
    dataset: Dataset,
    trainer: Trainer,
    *,
    by: By = "examples",
    folds: int = 5,
    units: Units | None = None,
    baselines: Mapping[str, Judge] | None = None,
    constant: ConstantPolicy = "skip",
    seed: int = 12345,
) -> ValidationResult:
    """Trains on all folds but one, scores the one left out, and averages over folds.

    Each fold gives correlations of the scores with the human score (Lite2 with the labels for
    presence) at system and summary level; the result is their mean over folds, with a Student t
    interval over folds (ZB21 Table 1: by examples, Table 4: by systems). `units` are the units to
    score by name: SCUs as ``lite2`` and the data set's STUs as ``lite3`` by default; `constant` is
    what a constant column counts as, see `level_correlation`; for the rest see `crossval`.
    """
    plan = make_folds(dataset, by, folds, seed)
    published = len(dataset.example_folds if by == "examples" else dataset.system_folds) == folds

    def trained() -> Iterator[tuple[Fold, Mapping[str, Judge]]]:
        for fold in track(plan, "cross-validating", "folds"):
            train = labelled_items(dataset, fold.train_inputs, fold.train_systems)
            yield fold, {"trained": trainer(train, fold.number), **(baselines or {})}

    split = {"split": "published"} if published else {"split": "random"}
    about = {"by": by, "folds": folds, **split, "constant": constant}
    signature = Signature.of(**about, seed=None if published else seed, **dataset.hashes)
    return _validated(dataset, trained(), units, constant, signature)


def out_of_the_box(
    train: Sequence[Dataset],
    test: Dataset,
    trainer: Trainer,
    units: Units | None = None,
    baselines: Mapping[str, Judge] | None = None,
) -> ValidationResult:
    """Trains on whole data sets and scores all of another one (ZB21 §5.2, Table 2)."""
    if any(entry.name == test.name for entry in train):
        hint = "Leave it out of the training sets."
        raise InputError(f"{test.name} is trained on and tested on", hint=hint)
    data = join_items([labelled_items(entry) for entry in train])
    result = validate(test, {"trained": trainer(data, 0), **(baselines or {})}, units=units)
    hashed = fingerprint(sorted([*entry.hashes.items()] for entry in train))
    trained_on = Signature.of(trained_on="+".join(e.name for e in train), trained_on_sha=hashed)
    return replace(result, signature=Signature(trained_on.fields + result.signature.fields))


def validate(
    dataset: Dataset,
    judges: Mapping[str, Judge],
    *,
    inputs: Sequence[str] | None = None,
    units: Units | None = None,
    constant: ConstantPolicy = "skip",
) -> ValidationResult:
    """Scores judges by name on a data set, or on some of its inputs, without any training."""
    scored = tuple(name for name in dataset.inputs if inputs is None or name in inputs)
    fold = Fold(0, scored, dataset.systems, (), ())
    signature = Signature.of(inputs=len(scored), constant=constant, **dataset.hashes)
    return _validated(dataset, [(fold, judges)], units, constant, signature)


def unit_variants(
    dataset: Dataset, *, stu_share: float = 0.5, folds: int | None = 5, seed: int = 12345
) -> Units:
    """Units as ``lite2``, ``lite2.5`` (for a share of .5) and ``lite3``, as far as there are any.

    STUs are the data set's own, else extracted from its references. The mix gives STUs to the
    easiest `stu_share` of all sentences (ZB21 §3.3). Their easiness is predicted by the embedded
    regressor, refined for each fold's inputs on the other folds', so that no sentence is judged
    easy by its own SCUs; without folds, by that regressor as it is.
    """
    references, stus, language = dataset.references, dataset.stus, dataset.language
    if stus is None and references is not None:
        stus = extract(references, language=language).units
    if stus is None or references is None:
        return {"lite2": dataset.scus, **({} if stus is None else {"lite3": stus})}
    sentences = sentences_of(references)
    count = stu_count(stu_share, len(sentences))
    if folds is None:
        easiness = predict(references, stus=stus, language=language)
    else:
        prepared, gold = prepare_gold(references, dataset.scus, stus=stus, language=language)
        split = make_folds(dataset, "examples", folds, seed)
        fold_of = {name: fold.number for fold in split for name in fold.inputs}
        start = EasinessRegressor.embedded()
        easiness = cross_fit(prepared.features, gold, fold_of, REFINED, start)
    mixed = mix_units(dataset.scus, stus, sentences, count, easiness=easiness)
    name = f"lite2.{(Decimal(str(stu_share)) * 10).normalize():f}"
    return {"lite2": dataset.scus, name: mixed.units, "lite3": stus}


def _validated(
    dataset: Dataset,
    folds: Iterable[tuple[Fold, Mapping[str, Judge]]],
    units: Units | None,
    constant: ConstantPolicy,
    signature: Signature,
) -> ValidationResult:
    """Scores the judges of each fold on what it holds out, with every kind of units."""
    if units is None:
        units = {} if dataset.stus is None else {"lite3": dataset.stus}
    variants = {"lite2": dataset.scus, **units}
    for name, entries in variants.items():
        if tuple(entry.input for entry in entries) != dataset.inputs:
            raise InputError(
                f"the inputs of the units '{name}' are not those of {dataset.name}",
                expected=f"{counted(len(dataset.inputs), 'input')} in the data set's order",
            )
    scores: list[FoldScores] = []
    quality: list[JudgeQuality] = []
    signatures: dict[str, dict[str, str]] = {}
    for fold, judges in folds:
        for name, judge in judges.items():
            by_fold, fold_quality, made = _score(dataset, fold, name, judge, variants, constant)
            scores += by_fold
            quality.append(fold_quality)
            signatures.setdefault(name, made)
    return ValidationResult(dataset.name, tuple(scores), tuple(quality), signatures, signature)


def _score(
    dataset: Dataset,
    fold: Fold,
    name: str,
    judge: Judge,
    variants: Units,
    constant: ConstantPolicy,
) -> tuple[list[FoldScores], JudgeQuality, dict[str, str]]:
    """Every correlation in every mode of the judge, how right it is on SCUs, its signature."""
    indices = [i for i, input_ in enumerate(dataset.inputs) if input_ in set(fold.inputs)]
    texts = {entry.system: entry.texts for entry in dataset.summaries}
    labels = {entry.system: entry.labels for entry in dataset.labels}
    if missing := [system for system in fold.systems if system not in labels]:
        raise InputError(f"system '{missing[0]}' of {dataset.name} has no labels")
    rows = [[x for i in indices for x in labels[system][i]] for system in fold.systems]
    truth = np.array(rows, dtype=np.float64)
    human = lite_pyramid_scores(truth, UnitLayout.of([dataset.scus[i] for i in indices]))
    scores: list[FoldScores] = []
    for variant, entries in variants.items():
        pairs = product(fold.systems, indices)
        batch = judge_pairs(judge, [(texts[system][i], entries[i].texts) for system, i in pairs])
        default = batch.signature.get("mode", "own")
        layout = UnitLayout.of([entries[i] for i in indices])
        modes = _modes(batch, default)
        if variant == "lite2":
            own = modes.get(default, next(iter(modes.values())))
            result = calibrate(own.reshape(truth.shape), truth)
        for mode, values in modes.items():
            metric = lite_pyramid_scores(values.reshape(len(fold.systems), -1), layout)
            for level, coefficient in product(LEVELS, COEFFICIENTS):
                r = level_correlation(metric, human, level, coefficient, constant)
                kind = (name, variant, mode, level, coefficient, fold.number)
                scores.append(FoldScores(*kind, r.value, r.constant))
    figures = (result.pairs, result.accuracy, result.auc, result.brier)
    return scores, JudgeQuality(name, fold.number, *figures), batch.signature


def _modes(batch: JudgedBatch, default: str) -> dict[str, FloatArray]:
    """The presence of all pairs by mode; a judge without logits has one mode, its own."""
    if batch.logits is None:
        return {default: np.concatenate(batch.presence)}
    # An empty summary has no logits; it carries no unit in any mode.
    logits = np.concatenate(batch.logits)
    empty = np.asarray(np.isnan(logits).all(axis=1))
    filled = np.where(empty[:, None], 0.0, logits)
    return {mode: np.where(empty, 0.0, presence(filled, mode)) for mode in MODES}


def fine_tuned(
    base: str, folder: Path, settings: FinetuneSettings, options: Mapping[str, Any]
) -> Trainer:
    """Fine-tunes a transformer for each fold into ``FOLDER/fold1``, ``FOLDER/fold2`` …

    A fold whose folder is there, made from the same data and settings, is not trained again; a
    killed fold continues where it was. Nothing more is held out of a fold's training part.
    `options` are settings of the folds' judges, which keep no judgements unless a cache is named.
    """
    chosen = replace(settings, held_out=0.0, early_stop=0, onnx=False)

    def train(data: LabelledItems, fold: int) -> Judge:
        pairs = presence_pairs(data)
        goal = folder / (f"fold{fold}" if fold else "all")
        if not goal.exists():
            train_transformer(base, pairs, goal, chosen)
        elif made_from(goal, base, pairs, chosen) is None:
            raise InputError(
                "holds a model of another base, other data or settings",
                path=goal,
                hint="Name a new folder, or delete this one.",
            )
        return make_judge(str(goal), **{"cache": None, **options})

    return train


def make_contest(
    base: str,
    zero_shot: Sequence[str],
    output: str | Path | None = None,
    settings: FinetuneSettings | None = None,
    options: Mapping[str, Any] | None = None,
) -> tuple[Trainer, dict[str, Judge]]:
    """A trainer, and the untrained judges to compare with, by name; see `crossval`.

    `options` are settings of the judges, for all those that take them. With ``{fold}`` in the base
    each fold has a ready judge of its own, such as the authors'.
    """
    names = [zero_shot] if isinstance(zero_shot, str) else list(zero_shot)
    settings, ready = settings or FinetuneSettings(), "{fold}" in base
    if not ready and base != "mini":
        check_trainable(base)
    taken = [settings_of(name) for name in (*names, *([] if base in REFITTED else [base]))]
    if foreign := sorted(set(options or ()).difference(*taken)):
        raise InputError(
            f"no judge of this cross-validation takes {', '.join(foreign)}",
            hint="See the settings of FinetuneSettings, and 'judge settings' for judges.",
        )
    shared = {"device": settings.device, "offline": settings.offline, **(options or {})}

    def of(name: str, **more: Any) -> dict[str, Any]:
        values = {k: v for k, v in {**shared, **more}.items() if k in settings_of(name)}
        texts = [f"{key}={value}" for key, value in values.items() if isinstance(value, str)]
        return {**values, **parse_settings(texts, name)}

    trainer: Trainer
    if ready:
        judging = of(base, revision=settings.revision)
        trainer = lambda data, fold: make_judge(base.replace("{fold}", str(fold)), **judging)  # noqa: E731
    elif base in REFITTED:
        made, fit = REFITTED[base]
        trainer = lambda data, fold: made(fit(data.items, data.labels))  # noqa: E731
    elif output is None:
        raise InputError(f"no folder for the folds' models of '{base}'", expected="an output")
    else:
        judging = of(base, max_length=settings.max_length)
        judging = {key: value for key, value in judging.items() if key in _JUDGING}
        trainer = fine_tuned(base, Path(output), settings, judging)
    return trainer, {name: make_judge(name, **of(name)) for name in names}
