"""Cross-validation and out-of-the-box tests of judges (ZB21 §5.1, §5.2)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal, Unpack

import numpy as np

from litepyramid.data.data import Data
from litepyramid.data.door import several
from litepyramid.data.records import Units
from litepyramid.easiness.mix import mix_units, stu_count
from litepyramid.easiness.predict import predict, prepare_gold
from litepyramid.easiness.regressor import REFINED, EasinessRegressor, cross_fit
from litepyramid.errors import InputError, choose, no_effect
from litepyramid.identity import fingerprint
from litepyramid.judges.base import Judge
from litepyramid.judges.labelled import labelled
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
from litepyramid.meta.core.levels import ConstantPolicy
from litepyramid.progress import track
from litepyramid.stats import check_whole
from litepyramid.text import counted
from litepyramid.training.pairs import Pairs, by_summary, labelled_pairs, without
from litepyramid.training.run import train_transformer
from litepyramid.training.settings import (
    FinetuneSettings,
    as_settings,
    base_facts,
    check_used,
    made_from,
)
from litepyramid.training.validation import (
    Fold,
    ValidationResult,
    Variants,
    hashes_of,
    validate,
    validated,
)
from litepyramid.types import (
    DataLike,
    Fields,
    FoldSources,
    OutPath,
    Signature,
    Texts,
)
from litepyramid.types import several as names_of
from litepyramid.units.align import sentences_of
from litepyramid.units.extract import extract

By = Literal["examples", "systems"]
Trainer = Callable[[Pairs, int], Judge]
"""Makes a judge that has seen these labels and no others; folds count from 1, 0 is no
fold."""


def crossval(
    base: str,
    data: DataLike = None,
    *,
    by: By = "examples",
    folds: int = 5,
    train_on: Sequence[object] = (),
    zero_shot: Sequence[str] = ("recall",),
    output: OutPath | None = None,
    settings: Sequence[str] = (),
    **sources: Unpack[FoldSources],
) -> ValidationResult:
    """Cross-validate a judge: train on all folds but one, score the held-out fold.

    Reports the correlations of Lite2, Lite2.x and Lite3 scores with the human score,
    averaged over folds, and the judge's presence against the labels.

    Args:
        base: Judge to train: lexical, mini, or a hub id or folder of an NLI model; with
            {fold} in it, a trained judge for each fold.
        data: Summaries with units and labels; references or STUs for the scores that
            need them.
        by: Hold out examples (inputs) or systems.
        folds: Number of folds; the data set's own are used if there are as many.
        train_on: Whole data sets to train on instead of folds, but for summaries that
            are tested on.
        zero_shot: Untrained judges to compare with.
        output: Folder for the fine-tuned models; finished ones in it are used again.
        settings: Settings as KEY=VALUE of training (epochs, learning_rate, batch_size,
            seed …) and of the judges (mode, max_length, device …).
        **sources: As for `load`.

    Raises:
        InputError: The data set is too small, or has too few labels to learn from.

    Command line:
        $ litepyramid crossval lexical example/summaries -u example/scus.jsonl \\
            -l example/labels -r example/references.jsonl --folds 3
    """
    choose("by", by, By)
    others = several(train_on)
    why = "beside data to train on"
    no_effect(crossval, len(others) > 0, why, by=by, folds=folds)
    check_trainable(base)
    training, options = as_settings(settings)
    # The fold itself is held out, and its model is for this machine alone.
    check_used(training, str(base), "held_out", "early_stop", "onnx")
    trainer, baselines = make_contest(str(base), zero_shot, output, training, options)
    dataset = labelled(data, **sources).with_language()
    for name, one in baselines.items():
        baselines[name] = in_language(one, dataset.language)
    if base in EMBEDDED:
        check_language("judge", dataset.language, f"the judge {base}")
    if output and (base in REFITTED or "{fold}" in str(base)):
        raise InputError(
            f"'{base}' leaves no models",
            path=output,
            hint="The folder is for models; from Python, the result's save(FILE) "
            "writes the numbers.",
        )

    trained_on = [labelled(one) for one in others]
    units = unit_variants(dataset, None if trained_on else folds, training.seed)
    made = Signature.of(
        **base_facts(str(base), folds), training_sha=fingerprint([asdict(training)])
    )

    try:
        if trained_on:
            result = out_of_the_box(trained_on, dataset, trainer, units, baselines)
        else:
            result = cross_validate(
                dataset,
                trainer,
                by=by,
                folds=folds,
                units=units,
                baselines=baselines,
                seed=training.seed,
            )
    except KeyboardInterrupt as stop:
        finished = list(Path(output or "").glob("fold*/config.json"))
        if output and finished:
            kept = counted(len(finished), "trained fold")
            stop.add_note(f"{kept} kept in {output}")
        raise

    return replace(
        result, signature=Signature((*made.fields, *result.signature.fields))
    )


def cross_validate(
    dataset: Data,
    trainer: Trainer,
    *,
    by: By = "examples",
    folds: int = 5,
    units: Variants | None = None,
    baselines: Mapping[str, Judge] | None = None,
    constant: ConstantPolicy = "skip",
    seed: int = 12345,
) -> ValidationResult:
    """Trains on all folds but one, scores the one left out, and averages over folds.

    Each fold gives correlations of the scores with the human score (Lite2 with the
    labels for presence) at system and summary level; the result is their mean over
    folds, with a Student t interval over folds (ZB21 Table 1: by examples, Table 4: by
    systems). `units` are the units to score by name: SCUs as ``lite2`` and the data
    set's STUs as ``lite3`` by default; `constant` is what a constant column counts as,
    see `level_correlation`; for the rest see `crossval`.
    """
    plan = make_folds(dataset, by, folds, seed)
    own = dataset.example_folds if by == "examples" else dataset.system_folds
    split, drawn = ("published", None) if len(own) == folds else ("random", seed)

    def trained() -> Iterator[tuple[Fold, Mapping[str, Judge]]]:
        for fold in track(plan, "cross-validating", "folds"):
            train = labelled_pairs(dataset, fold.train_inputs, fold.train_systems)
            yield fold, {"trained": trainer(train, fold.number), **(baselines or {})}

    signature = Signature.of(
        by=by,
        folds=folds,
        split=split,
        constant=constant,
        seed=drawn,
        **hashes_of(dataset),
    )
    return validated(dataset, trained(), units, constant, signature)


def out_of_the_box(
    train: Sequence[Data],
    test: Data,
    trainer: Trainer,
    units: Variants | None = None,
    baselines: Mapping[str, Judge] | None = None,
) -> ValidationResult:
    """Trains on whole data sets and scores all of another one (ZB21 §5.2, Table 2)."""
    tested = [text for row in test.summaries.texts for text in row if text is not None]
    data = []
    notes: Texts = ()
    for entry in train:
        pairs, shared = without(labelled_pairs(entry), tested)
        if not pairs:
            raise InputError(
                f"{test.name} is trained on and tested on",
                hint="Leave it out of the training sets.",
            )
        data += pairs
        notes += shared

    result = validate(
        test, {"trained": trainer(data, 0), **(baselines or {})}, units=units
    )
    hashes = [[*hashes_of(entry).items()] for entry in train]
    trained_on = Signature.of(
        trained_on="+".join([entry.name for entry in train]),
        trained_on_sha=fingerprint(sorted(hashes)),
    )
    return replace(
        result,
        signature=Signature(trained_on.fields + result.signature.fields),
        notes=(*notes, *result.notes),
    )


def unit_variants(dataset: Data, folds: int | None = 5, seed: int = 12345) -> Variants:
    """Units as ``lite2``, ``lite2.5`` and ``lite3``, as far as there are any.

    STUs are the data set's own, else extracted from its references. The mix gives STUs
    to the easier half of all sentences (ZB21 §3.3). Their easiness is predicted by the
    embedded regressor, refined for each fold's inputs on the other folds', so that no
    sentence is judged easy by its own SCUs; without folds, by that regressor as it is.
    """
    references = dataset.references
    stus = dataset.stus
    language = dataset.language
    if references and not stus:
        stus = Units.of(extract(references, language=language).units)
    if not references:
        return {"lite2": dataset.units, **({"lite3": stus} if stus else {})}
    sentences = sentences_of(references)

    if folds is None:
        easiness = predict(references, stus=stus, language=language)
    else:
        features, gold = prepare_gold(
            references, dataset.units, stus=stus, language=language
        )
        split = make_folds(dataset, "examples", folds, seed)
        fold_of = {name: fold.number for fold in split for name in fold.inputs}
        start = EasinessRegressor.embedded()
        easiness = cross_fit(features, gold, fold_of, REFINED, start)

    half = stu_count(0.5, len(sentences))
    mixed = mix_units(dataset.units, stus, sentences, half, easiness=easiness)
    return {"lite2": dataset.units, "lite2.5": Units.of(mixed.units), "lite3": stus}


def make_folds(
    dataset: Data, by: By, folds: int = 5, seed: int = 12345
) -> tuple[Fold, ...]:
    """The folds of a data set: the authors' where it has as many, else a seeded random
    split.

    By examples, a fold holds all systems' summaries of its inputs; by systems, all
    summaries of its systems (ZB21 §5.1).
    """
    check_whole("folds", folds, 2)
    names, published = dataset.inputs, dataset.example_folds
    if by == "systems":
        names, published = dataset.systems, dataset.system_folds
    if len(names) < folds:
        raise InputError(
            f"{counted(folds, 'fold')} of {counted(len(names), by[:-1])}",
            expected="fewer folds",
        )

    parts: Sequence[Sequence[str]] = published
    if len(published) != folds:
        order = np.random.default_rng(seed).permutation(len(names))
        parts = [[names[i] for i in part] for part in np.array_split(order, folds)]

    result = []
    inputs, systems = dataset.inputs, dataset.systems
    for number, part in enumerate(parts, start=1):
        test = tuple(name for name in names if name in part)
        train = tuple(name for name in names if name not in part)
        if by == "examples":
            result.append(Fold(number, test, systems, train, systems))
        else:
            result.append(Fold(number, inputs, test, inputs, train))

    return tuple(result)


def make_contest(
    base: str,
    zero_shot: Sequence[str],
    output: str | Path | None = None,
    settings: FinetuneSettings | None = None,
    options: Mapping[str, Any] | None = None,
) -> tuple[Trainer, dict[str, Judge]]:
    """A trainer, and the untrained judges to compare with, by name; see `crossval`.

    A transformer is fine-tuned for each fold into ``OUTPUT/fold1`` …, on all of the
    fold's training part; a folder that is there, made from the same data and settings,
    is used again. With ``{fold}`` in the base each fold has a ready judge of its own,
    such as the authors'. `options` are settings of the judges, for all those that take
    them; the folds' keep no judgements unless a cache is named.
    """
    names = names_of(zero_shot, "a judge")
    settings = settings or FinetuneSettings()
    ready = "{fold}" in base
    refitted = base in REFITTED

    judges = names if refitted else (*names, base)
    if foreign := sorted(set(options or ()).difference(*map(settings_of, judges))):
        raise InputError(
            f"no judge of this cross-validation takes {', '.join(foreign)}",
            hint="See the settings of FinetuneSettings, and 'judge settings' for "
            "judges.",
        )

    whole = replace(
        settings,
        held_out=0.0,
        early_stop=0,
        onnx=False,
    )

    def of(name: str, **more: Any) -> Fields:
        shared = {"device": settings.device, **(options or {}), **more}
        values = {}
        texts = []
        for key, value in shared.items():
            # Each judge has the settings that it takes: recall has no device.
            if key in settings_of(name):
                values[key] = value
                if isinstance(value, str):
                    texts.append(f"{key}={value}")
        return values | parse_settings(texts, name)

    def trainer(pairs: Pairs, fold: int) -> Judge:
        if refitted:
            made, fit = REFITTED[base]
            return made(fit(*by_summary(pairs)))

        if ready:
            return make_judge(base.replace("{fold}", str(fold)), **judging)
        goal = Path(output or "") / (f"fold{fold}" if fold else "all")
        if not goal.exists():
            train_transformer(base, pairs, goal, whole)
        elif made_from(goal, base, pairs, whole) is None:
            raise InputError(
                "holds a model of another base, other data or settings",
                path=goal,
                hint="Name a new folder, or delete this one.",
            )

        return make_judge(str(goal.absolute()), **{"cache": None, **judging})

    more: Fields = {"max_length": settings.max_length}
    if ready:
        more = {"revision": settings.revision}
    judging = {} if refitted else of(base, **more)
    if not (ready or refitted or output):
        raise InputError(
            f"no folder for the folds' models of '{base}'", expected="an output"
        )

    return trainer, {name: make_judge(name, **of(name)) for name in names}
