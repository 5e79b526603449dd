"""Cross-validation and out-of-the-box tests of judges, and what they give (ZB21 §5.1,
§5.2)."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any, Literal, Unpack, get_args

import numpy as np

from litepyramid.easiness.mix import mix_units, stu_count
from litepyramid.easiness.predict import predict, prepare_gold
from litepyramid.easiness.regressor import REFINED, EasinessRegressor, cross_fit
from litepyramid.errors import InputError, choose
from litepyramid.io.dataset import Dataset
from litepyramid.judges.base import Judge, JudgedBatch
from litepyramid.judges.evaluate import calibrate, label_notes, labelled
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
from litepyramid.meta.core.levels import (
    Coefficient,
    ConstantPolicy,
    Level,
    level_correlation,
)
from litepyramid.progress import track
from litepyramid.scoring.pyramid import UnitLayout, lite_pyramid_scores
from litepyramid.stats import described, t_reach
from litepyramid.tables import HIDDEN, Cell, Column, Result, Table, record
from litepyramid.text import counted
from litepyramid.training.pairs import TrainingPairs, labelled_pairs
from litepyramid.training.run import (
    FinetuneSettings,
    as_settings,
    made_from,
    train_transformer,
)
from litepyramid.types import (
    DataLike,
    FloatArray,
    FoldSources,
    InputUnits,
    OutPath,
    Signature,
    fingerprint,
)
from litepyramid.units.align import sentences_of
from litepyramid.units.extract import extract

LEVELS: tuple[Level, ...] = ("system", "summary")
COEFFICIENTS: tuple[Coefficient, ...] = ("pearson", "spearman")
By = Literal["examples", "systems"]
Trainer = Callable[[TrainingPairs, int], Judge]
"""Makes a judge that has seen these labels and no others; folds count from 1, 0 is no
fold."""
Units = Mapping[str, Sequence[InputUnits]]


@dataclass(frozen=True)
class Fold:
    """One held-out part of a data set, by number from 1: what is scored, and what is
    learned."""

    number: int
    inputs: tuple[str, ...]
    systems: tuple[str, ...]
    train_inputs: tuple[str, ...]
    train_systems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FoldScores:
    """One correlation on one fold; NaN where it is not defined."""

    judge: str
    units: str
    mode: str
    level: str
    coefficient: str
    fold: int
    value: float
    constant: int


@dataclass(frozen=True)
class JudgeQuality:
    """Quality of a judge's presence on the SCUs of one fold."""

    judge: str
    fold: int
    pairs: int
    accuracy: float
    auc: float
    brier: float


@dataclass(frozen=True)
class FoldMean:
    """A mean over folds with its Student t interval; `undefined` folds are left out.

    With a single fold (out of the box) the interval is NaN.
    """

    mean: float
    low: float
    high: float
    folds: int
    undefined: int


def fold_mean(values: Sequence[float], confidence: float = 0.95) -> FoldMean:
    """mean ± t · s / √F over the F folds that have a value, within [−1, 1] as all
    values are."""
    mean, deviation, folds = described(np.array(values))
    half = (
        t_reach(confidence, folds - 1) * deviation / folds**0.5 if folds > 1 else np.nan
    )
    low, high = np.clip([mean - half, mean + half], -1.0, 1.0).tolist()
    return FoldMean(
        mean,
        low,
        high,
        folds,
        len(values) - folds,
    )


_QUALITY = ("accuracy", "auc", "brier")
_SHORT = {
    ("system", "pearson"): "sys r",
    ("system", "spearman"): "sys ρ",
    ("summary", "pearson"): "sum r",
    ("summary", "spearman"): "sum ρ",
}


@dataclass(frozen=True)
class ValidationResult(Result):
    """Fold means of correlations and of presence quality; `judges` are their
    signatures."""

    dataset: str
    scores: tuple[FoldScores, ...] = field(metadata=HIDDEN)
    quality: tuple[JudgeQuality, ...]
    judges: Mapping[str, Mapping[str, str]]
    signature: Signature
    notes: tuple[str, ...] = ()

    def mean(
        self,
        judge: str,
        units: str,
        level: str,
        coefficient: str,
        mode: str | None = None,
    ) -> FoldMean:
        """The mean over folds of one correlation, by default in the judge's own
        mode."""
        mode = mode or self.default_mode(judge)
        names = (judge, units, mode, level, coefficient)
        kinds = (
            (s.judge, s.units, s.mode, s.level, s.coefficient) for s in self.scores
        )
        return fold_mean(
            [s.value for s, k in zip(self.scores, kinds, strict=True) if k == names]
        )

    def quality_mean(self, judge: str, name: str) -> FoldMean:
        """The mean over folds of ``accuracy``, ``auc`` or ``brier``."""
        return fold_mean([getattr(q, name) for q in self.quality if q.judge == judge])

    def default_mode(self, judge: str) -> str:
        """The mode that a judge scores with by default."""
        return self.judges[judge].get("mode") or "own"

    def to_tables(self) -> Sequence[Table]:
        """Fold means; then the same with intervals over folds; then presence
        quality."""
        means: list[dict[str, Cell]] = []
        intervals: list[dict[str, Cell]] = []
        for judge, units, mode in dict.fromkeys(
            (s.judge, s.units, s.mode) for s in self.scores
        ):
            names: dict[str, Cell] = {
                "judge": judge,
                "units": units,
                "mode": mode,
            }
            over = {
                f"{kind[0]}_{kind[1]}": self.mean(judge, units, *kind, mode)
                for kind in _SHORT
            }
            spans = {
                k: f"{f.low:.2f} – {f.high:.2f}" for k, f in over.items() if f.folds > 1
            }
            means.append({**names, **{key: f.mean for key, f in over.items()}})
            intervals.append(
                {
                    **names,
                    **dict.fromkeys(over),
                    **spans,
                }
            )

        columns: list[Column | str] = ["judge", "units"]
        columns += ["mode"] if len({row["mode"] for row in means}) > 1 else []
        columns += [
            Column(f"{level}_{c}", short) for (level, c), short in _SHORT.items()
        ]
        undefined = sum(np.isnan(s.value) for s in self.scores)
        what = counted(undefined, "correlation is", "correlations are")
        notes = [f"{what} not defined and left out of the means."] * bool(undefined)

        if constant := max(
            (s.constant for s in self.scores if s.level == "summary"), default=0
        ):
            notes.append(f"At most {counted(constant, 'constant column')} in a fold.")

        title = f"{self.dataset}: correlation with the human score"
        if folds := max(s.fold for s in self.scores):
            title += f", mean of {counted(folds, 'fold')}"
        tables = [Table.of(title, columns, means, notes)]

        if folds:
            tables.append(
                Table.of("95 % interval over folds (Student t)", columns, intervals)
            )

        rows = (
            {"judge": judge, **{n: self.quality_mean(judge, n).mean for n in _QUALITY}}
            for judge in self.judges
        )
        judges = (
            f"{name} = " + "|".join(f"{k}:{v}" for k, v in fields.items())
            for name, fields in self.judges.items()
        )
        title = f"{self.dataset}: presence of SCUs against human labels"
        title += f", mean of {counted(folds, 'fold')}" if folds else ""
        heads = ("judge", "accuracy", Column("auc", "AUC"), Column("brier", "Brier"))
        below = (*self.notes, *judges, str(self.signature))

        return [*tables, Table.of(title, heads, rows, below)]

    def to_json(self) -> dict[str, Any]:
        """Every fold's numbers and their means."""
        names = ("judge", "units", "level", "coefficient", "mode")
        keys = dict.fromkeys(
            tuple(getattr(s, name) for name in names) for s in self.scores
        )
        means = [
            {**dict(zip(names, k, strict=True)), **record(self.mean(*k))} for k in keys
        ]
        return {
            **record(self),
            "means": means,
            "folds": [record(s) for s in self.scores],
        }


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
        train_on: Whole data sets to train on instead of folds.
        zero_shot: Untrained judges to compare with.
        output: Folder for the fine-tuned models; finished ones in it are used again.
        settings: Settings as KEY=VALUE of training (epochs, learning_rate, batch_size,
            seed …) and of the judges (mode, max_length, device …).
        **sources: As for `load`.

    Raises:
        InputError: The data set is too small, or has too few labels to learn from.

    Command line:
        $ litepyramid crossval lexical example/summaries -u example/scus.jsonl -l example/labels \\
            -r example/references.jsonl --folds 3
    """
    choose("by", by, get_args(By))
    if not isinstance(base, str | Path):
        raise InputError(
            f"the base is a {type(base).__name__}", expected="a name or a folder"
        )

    training, options = as_settings(settings)
    trainer, baselines = make_contest(
        str(base),
        zero_shot,
        output,
        training,
        options,
    )
    dataset = labelled(data, **sources).with_language()
    baselines = {
        name: in_language(one, dataset.language) for name, one in baselines.items()
    }
    if base in EMBEDDED:
        check_language("judge", dataset.language, f"the judge {base}")
    if output and (base in REFITTED or "{fold}" in str(base)):
        raise InputError(
            f"'{base}' leaves no models",
            path=output,
            hint="The folder is for models; from Python, the result's save(FILE) "
            "writes the numbers.",
        )

    several = train_on if isinstance(train_on, list | tuple) else [train_on]
    trained_on = [labelled(one) for one in several]
    units = unit_variants(
        dataset,
        folds=None if trained_on else folds,
        seed=training.seed,
    )
    made = Signature.of(base=base, training_sha=fingerprint([asdict(training)]))

    try:
        if trained_on:
            result = out_of_the_box(
                trained_on,
                dataset,
                trainer,
                units=units,
                baselines=baselines,
            )
        else:
            result = cross_validate(
                dataset, trainer, by=by, folds=folds, units=units, baselines=baselines,
                seed=training.seed,
            )  # fmt: skip
    except KeyboardInterrupt as stop:
        if (
            finished := len(list(Path(output).glob("fold*/config.json")))
            if output
            else 0
        ):
            stop.add_note(f"{counted(finished, 'trained fold')} kept in {output}")
        raise

    return replace(
        result, signature=Signature((*made.fields, *result.signature.fields))
    )


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

    Each fold gives correlations of the scores with the human score (Lite2 with the
    labels for presence) at system and summary level; the result is their mean over
    folds, with a Student t interval over folds (ZB21 Table 1: by examples, Table 4: by
    systems). `units` are the units to score by name: SCUs as ``lite2`` and the data
    set's STUs as ``lite3`` by default; `constant` is what a constant column counts as,
    see `level_correlation`; for the rest see `crossval`.
    """
    plan = make_folds(dataset, by, folds, seed)
    published = (
        len(dataset.example_folds if by == "examples" else dataset.system_folds)
        == folds
    )

    def trained() -> Iterator[tuple[Fold, Mapping[str, Judge]]]:
        for fold in track(plan, "cross-validating", "folds"):
            train = labelled_pairs(dataset, fold.train_inputs, fold.train_systems)
            yield fold, {"trained": trainer(train, fold.number), **(baselines or {})}

    split, drawn = ("published", None) if published else ("random", seed)
    about = {
        "by": by,
        "folds": folds,
        "split": split,
        "constant": constant,
        "seed": drawn,
    }
    signature = Signature.of(**about, **dataset.hashes)
    return _validated(
        dataset,
        trained(),
        units,
        constant,
        signature,
    )


def out_of_the_box(
    train: Sequence[Dataset],
    test: Dataset,
    trainer: Trainer,
    units: Units | None = None,
    baselines: Mapping[str, Judge] | None = None,
) -> ValidationResult:
    """Trains on whole data sets and scores all of another one (ZB21 §5.2, Table 2)."""
    if any(
        entry.hashes["summaries_sha"] == test.hashes["summaries_sha"] for entry in train
    ):
        raise InputError(
            f"{test.name} is trained on and tested on",
            hint="Leave it out of the training sets.",
        )

    data = TrainingPairs.joined(map(labelled_pairs, train))
    result = validate(
        test, {"trained": trainer(data, 0), **(baselines or {})}, units=units
    )
    hashed = fingerprint(sorted([*entry.hashes.items()] for entry in train))
    trained_on = Signature.of(
        trained_on="+".join(e.name for e in train), trained_on_sha=hashed
    )
    return replace(
        result, signature=Signature(trained_on.fields + result.signature.fields)
    )


def validate(
    dataset: Dataset,
    judges: Mapping[str, Judge],
    *,
    inputs: Sequence[str] | None = None,
    units: Units | None = None,
    constant: ConstantPolicy = "skip",
) -> ValidationResult:
    """Scores judges by name on a data set, or on some of its inputs, without any
    training."""
    scored = tuple(name for name in dataset.inputs if inputs is None or name in inputs)
    fold = Fold(
        0,
        scored,
        dataset.systems,
        (),
        (),
    )
    signature = Signature.of(
        inputs=len(scored),
        constant=constant,
        **dataset.hashes,
    )
    return _validated(
        dataset,
        [(fold, judges)],
        units,
        constant,
        signature,
    )


def unit_variants(
    dataset: Dataset,
    *,
    stu_share: float = 0.5,
    folds: int | None = 5,
    seed: int = 12345,
) -> Units:
    """Units as ``lite2``, ``lite2.5`` (for a share of .5) and ``lite3``, as far as
    there are any.

    STUs are the data set's own, else extracted from its references. The mix gives STUs
    to the easiest `stu_share` of all sentences (ZB21 §3.3). Their easiness is predicted
    by the embedded regressor, refined for each fold's inputs on the other folds', so
    that no sentence is judged easy by its own SCUs; without folds, by that regressor as
    it is.
    """
    references = dataset.references
    stus = dataset.stus
    language = dataset.language
    if stus is None and references is not None:
        stus = extract(references, language=language).units
    if stus is None or references is None:
        return {"lite2": dataset.scus, **({} if stus is None else {"lite3": stus})}
    sentences = sentences_of(references)
    count = stu_count(stu_share, len(sentences))

    if folds is None:
        easiness = predict(references, stus=stus, language=language)
    else:
        features, gold = prepare_gold(
            references, dataset.scus, stus=stus, language=language
        )
        split = make_folds(dataset, "examples", folds, seed)
        fold_of = {name: fold.number for fold in split for name in fold.inputs}
        start = EasinessRegressor.embedded()
        easiness = cross_fit(
            features,
            gold,
            fold_of,
            REFINED,
            start,
        )

    mixed = mix_units(
        dataset.scus,
        stus,
        sentences,
        count,
        easiness=easiness,
    )
    name = f"lite2.{(Decimal(str(stu_share)) * 10).normalize():f}"
    return {
        "lite2": dataset.scus,
        name: mixed.units,
        "lite3": stus,
    }


def make_folds(
    dataset: Dataset, by: By, folds: int = 5, seed: int = 12345
) -> tuple[Fold, ...]:
    """The folds of a data set: the authors' where it has as many, else a seeded random
    split.

    By examples, a fold holds all systems' summaries of its inputs; by systems, all
    summaries of its systems (ZB21 §5.1).
    """
    if folds < 2:
        raise InputError(counted(folds, "fold"), expected="at least 2")
    names, published = (
        (dataset.inputs, dataset.example_folds)
        if by == "examples"
        else (dataset.systems, dataset.system_folds)
    )
    if len(names) < folds:
        raise InputError(
            f"{counted(folds, 'fold')} of {counted(len(names), by[:-1])}",
            expected="fewer folds",
        )

    parts: Sequence[Sequence[str]] = published
    if len(published) != folds:
        order = np.random.default_rng(seed).permutation(len(names))
        by_id = sorted(names)
        parts = [
            [by_id[i] for i in sorted(part)] for part in np.array_split(order, folds)
        ]

    result = []
    for number, part in enumerate(map(set, parts), start=1):
        test = tuple(name for name in names if name in part)
        train = tuple(name for name in names if name not in part)
        result.append(
            Fold(
                number,
                test,
                dataset.systems,
                train,
                dataset.systems,
            )
            if by == "examples"
            else Fold(
                number,
                dataset.inputs,
                test,
                dataset.inputs,
                train,
            )
        )

    return tuple(result)


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
                expected=f"{counted(len(dataset.inputs), 'input')} in the data set's "
                "order",
            )

    scores: list[FoldScores] = []
    quality: list[JudgeQuality] = []
    signatures: dict[str, dict[str, str]] = {}

    for fold, judges in folds:
        for name, judge in judges.items():
            by_fold, fold_quality, made = _score(
                dataset,
                fold,
                name,
                judge,
                variants,
                constant,
            )
            scores += by_fold
            quality.append(fold_quality)
            signatures.setdefault(name, made)

    return ValidationResult(
        dataset.name,
        tuple(scores),
        tuple(quality),
        signatures,
        signature,
        label_notes(dataset),
    )


def _score(
    dataset: Dataset,
    fold: Fold,
    name: str,
    judge: Judge,
    variants: Units,
    constant: ConstantPolicy,
) -> tuple[list[FoldScores], JudgeQuality, dict[str, str]]:
    """Every correlation in every mode of the judge, how right it is on SCUs, its
    signature."""
    systems: Sequence[str] = fold.systems
    if constant == "skip":
        systems = sorted(systems)  # the other policy goes by the order of the file
    places = {name: place for place, name in enumerate(dataset.inputs)}
    indices = [places[name] for name in sorted(fold.inputs)]
    texts = {entry.system: entry.texts for entry in dataset.summaries}
    rated = [dataset.scus[i] for i in indices]
    truth = _labels_of(dataset, systems, indices)
    human = lite_pyramid_scores(truth, UnitLayout.of(rated))
    scores: list[FoldScores] = []

    for variant, entries in variants.items():
        pairs = product(systems, indices)
        batch = judge_pairs(
            judge, [(texts[system][i], entries[i].texts) for system, i in pairs]
        )
        default = batch.signature.get("mode", "own")
        layout = UnitLayout.of([entries[i] for i in indices])
        modes = _modes(batch, default)
        if variant == "lite2":
            own = modes.get(default, next(iter(modes.values())))
            quality = _quality(name, fold.number, own.reshape(truth.shape), truth)

        for mode, values in modes.items():
            metric = lite_pyramid_scores(values.reshape(len(systems), -1), layout)
            # Both sides are averaged over the inputs that people labelled.
            metric = np.where(np.isnan(human), np.nan, metric)
            for level, coefficient in product(LEVELS, COEFFICIENTS):
                r = level_correlation(
                    metric,
                    human,
                    level,
                    coefficient,
                    constant,
                )
                kind = (name, variant, mode, level, coefficient, fold.number)
                scores.append(FoldScores(*kind, r.value, r.constant))

    return scores, quality, batch.signature


def _labels_of(
    dataset: Dataset, systems: Sequence[str], indices: Sequence[int]
) -> FloatArray:
    """(N, U) labels of some inputs' units; NaN where nobody labelled them."""
    labels = {entry.system: entry.labels for entry in dataset.labels}
    rows: list[list[float]] = []

    for system in systems:
        row: list[float] = []
        for index in indices:
            units = len(dataset.scus[index].units)
            of_input = labels[system][index] if system in labels else ()
            row += of_input or [np.nan] * units
        rows.append(row)
    return np.array(rows, dtype=np.float64)


def _quality(
    judge: str, fold: int, values: FloatArray, truth: FloatArray
) -> JudgeQuality:
    """How right presence is where there are labels; NaN in a fold without any."""
    if not (~np.isnan(truth) & ~np.isnan(values)).any():
        return JudgeQuality(
            judge,
            fold,
            0,
            np.nan,
            np.nan,
            np.nan,
        )

    result = calibrate(values, truth)
    return JudgeQuality(
        judge,
        fold,
        result.pairs,
        result.accuracy,
        result.auc,
        result.brier,
    )


def _modes(batch: JudgedBatch, default: str) -> dict[str, FloatArray]:
    """The presence of all pairs by mode; a judge without logits has one mode, its
    own."""
    if batch.logits is None:
        return {default: np.concatenate(batch.presence)}
    # An empty summary has no logits; it carries no unit in any mode.
    logits = np.concatenate(batch.logits)
    empty = np.asarray(np.isnan(logits).all(axis=1))
    filled = np.where(empty[:, None], 0.0, logits)
    return {mode: np.where(empty, 0.0, presence(filled, mode)) for mode in MODES}


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
    names = [zero_shot] if isinstance(zero_shot, str) else list(zero_shot)
    settings, ready = settings or FinetuneSettings(), "{fold}" in base
    if not ready and base != "mini":
        check_trainable(base)
    taken = [
        settings_of(name) for name in (*names, *([] if base in REFITTED else [base]))
    ]

    if foreign := sorted(set(options or ()).difference(*taken)):
        raise InputError(
            f"no judge of this cross-validation takes {', '.join(foreign)}",
            hint="See the settings of FinetuneSettings, and 'judge settings' for "
            "judges.",
        )

    shared = {"device": settings.device, **(options or {})}
    whole = replace(
        settings,
        held_out=0.0,
        early_stop=0,
        onnx=False,
    )

    def of(name: str, **more: Any) -> dict[str, Any]:
        values = {k: v for k, v in {**shared, **more}.items() if k in settings_of(name)}
        texts = [
            f"{key}={value}" for key, value in values.items() if isinstance(value, str)
        ]
        return {**values, **parse_settings(texts, name)}

    def trainer(pairs: TrainingPairs, fold: int) -> Judge:
        if base in REFITTED:
            made, fit = REFITTED[base]
            return made(fit(*pairs.by_summary()))

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

        return make_judge(str(goal), **{"cache": None, **judging})

    more = (
        {"revision": settings.revision}
        if ready
        else {"max_length": settings.max_length}
    )
    judging = {} if base in REFITTED else of(base, **more)
    if not (ready or base in REFITTED or output):
        raise InputError(
            f"no folder for the folds' models of '{base}'", expected="an output"
        )

    return trainer, {name: make_judge(name, **of(name)) for name in names}
