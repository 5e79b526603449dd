"""What judges are worth on a data set: correlations of the scores, and presence against
labels, fold by fold."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from litepyramid.data.data import Data
from litepyramid.data.records import Summaries, Units
from litepyramid.errors import InputError
from litepyramid.judges.base import Judge, JudgedBatch
from litepyramid.judges.evaluate import QUALITY, calibrate
from litepyramid.judges.labelled import label_notes, labels_of
from litepyramid.judges.nli.modes import MODES, presence
from litepyramid.judges.parallel import judge_pairs
from litepyramid.meta.core.levels import (
    Coefficient,
    ConstantPolicy,
    Level,
    level_correlation,
)
from litepyramid.scoring.pyramid import lite_pyramid_scores
from litepyramid.stats import described, t_reach
from litepyramid.tables import HIDDEN, Cell, Column, Result, Table, record
from litepyramid.text import counted
from litepyramid.types import Fields, FloatArray, Names, Signature
from litepyramid.units.align import references_sha

Variants = Mapping[str, Units]
"""The units to score by name: ``lite2`` …"""

_CORRELATIONS: dict[tuple[Level, Coefficient], str] = {
    ("system", "pearson"): "sys r",
    ("system", "spearman"): "sys ρ",
    ("summary", "pearson"): "sum r",
    ("summary", "spearman"): "sum ρ",
}
"""What is computed, and how a narrow table calls it."""


@dataclass(frozen=True)
class Fold:
    """One held-out part of a data set, by number from 1: what is scored, and what is
    learned."""

    number: int
    inputs: Names
    systems: Names
    train_inputs: Names
    train_systems: Names


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
    """Quality of a judge's presence on one fold's labelled units; NaN without
    labels."""

    judge: str
    fold: int
    pairs: int = 0
    accuracy: float = np.nan
    auc: float = np.nan
    brier: float = np.nan


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


def fold_mean(values: Sequence[float]) -> FoldMean:
    """mean ± t · s / √F over the F folds that have a value, within [−1, 1] as all
    values are; 95 % of such intervals hold the mean."""
    mean, deviation, folds = described(np.array(values))
    half = np.nan
    # Folds are few: Student's t is twice as wide as the normal law at three of them.
    if folds > 1:
        half = t_reach(0.95, folds - 1) * deviation / folds**0.5
    low, high = np.clip([mean - half, mean + half], -1.0, 1.0).tolist()
    return FoldMean(mean, low, high, folds, len(values) - folds)


@dataclass(frozen=True)
class ValidationResult(Result):
    """Fold means of correlations and of presence quality; `judges` are their
    signatures."""

    dataset: str
    scores: tuple[FoldScores, ...] = field(metadata=HIDDEN)
    quality: tuple[JudgeQuality, ...]
    judges: Mapping[str, Mapping[str, str]]
    signature: Signature
    notes: Names = ()

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
        values = []
        for s in self.scores:
            if (s.judge, s.units, s.mode, s.level, s.coefficient) == names:
                values.append(s.value)
        return fold_mean(values)

    def quality_mean(self, judge: str, name: str) -> FoldMean:
        """The mean over folds of ``accuracy``, ``auc`` or ``brier``."""
        return fold_mean([getattr(q, name) for q in self.quality if q.judge == judge])

    def quality_means(self, judge: str) -> dict[str, float]:
        """Accuracy, AUC and Brier score, each the mean over folds."""
        names = ("accuracy", "auc", "brier")
        return {name: self.quality_mean(judge, name).mean for name in names}

    def default_mode(self, judge: str) -> str:
        """The mode that a judge scores with by default."""
        return self.judges[judge].get("mode") or "own"

    def to_tables(self) -> Sequence[Table]:
        """Fold means; then the same with intervals over folds; then presence
        quality."""
        means = []
        intervals = []
        for judge, units, mode in dict.fromkeys(
            (s.judge, s.units, s.mode) for s in self.scores
        ):
            row: dict[str, Cell] = {"judge": judge, "units": units, "mode": mode}
            spans = dict(row)
            for level, coefficient in _CORRELATIONS:
                key = f"{level}_{coefficient}"
                over = self.mean(judge, units, level, coefficient, mode)
                row[key] = over.mean
                spans[key] = None
                if over.folds > 1:
                    spans[key] = f"{over.low:.2f} – {over.high:.2f}"
            means.append(row)
            intervals.append(spans)

        columns: list[Column | str] = ["judge", "units"]
        if len({row["mode"] for row in means}) > 1:
            columns.append("mode")
        for (level, coefficient), short in _CORRELATIONS.items():
            columns.append(Column(f"{level}_{coefficient}", short))

        notes = []
        if undefined := sum(np.isnan(s.value) for s in self.scores):
            what = counted(undefined, "correlation is", "correlations are")
            notes.append(f"{what} not defined and left out of the means.")

        # At system level a constant column is a correlation that is not defined.
        if constant := max(s.constant for s in self.scores if s.level == "summary"):
            notes.append(f"At most {counted(constant, 'constant column')} in a fold.")

        folds = max(s.fold for s in self.scores)
        over_folds = f", mean of {counted(folds, 'fold')}" if folds else ""
        title = f"{self.dataset}: correlation with the human score{over_folds}"
        tables = [Table.of(title, columns, means, notes)]

        if folds:
            tables.append(
                Table.of("95 % interval over folds (Student t)", columns, intervals)
            )

        rows = []
        judges = []
        for judge, fields in self.judges.items():
            rows.append({"judge": judge, **self.quality_means(judge)})
            judges.append(
                f"{judge} = " + "|".join(f"{k}:{v}" for k, v in fields.items())
            )
        title = f"{self.dataset}: presence of SCUs against human labels{over_folds}"
        below = (*self.notes, *judges, str(self.signature))
        return [*tables, Table.of(title, ("judge", *QUALITY), rows, below)]

    def json_entries(self) -> Fields:
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


def hashes_of(data: Data) -> dict[str, str]:
    """What names a labelled data set in a signature, for each kind that is there."""
    hashes = {
        "units_sha": data.units.sha,
        "inputs_sha": data.units.inputs_sha,
        "summaries_sha": data.summaries.sha,
        "labels_sha": labels_of(data).sha,
    }
    if data.stus:
        hashes["stus_sha"] = data.stus.sha
    if data.references:
        hashes["references_sha"] = references_sha(data.references)
    return hashes


def validate(
    dataset: Data,
    judges: Mapping[str, Judge],
    *,
    inputs: Sequence[str] | None = None,
    units: Variants | None = None,
    constant: ConstantPolicy = "skip",
) -> ValidationResult:
    """Scores judges by name on a data set, or on some of its inputs, without any
    training."""
    scored = tuple([i for i in dataset.inputs if inputs is None or i in inputs])
    fold = Fold(0, scored, dataset.systems, (), ())
    signature = Signature.of(
        inputs=len(scored),
        constant=constant,
        **hashes_of(dataset),
    )
    return validated(dataset, [(fold, judges)], units, constant, signature)


def validated(
    dataset: Data,
    folds: Iterable[tuple[Fold, Mapping[str, Judge]]],
    units: Variants | None,
    constant: ConstantPolicy,
    signature: Signature,
) -> ValidationResult:
    """Scores the judges of each fold on what it holds out, with every kind of units."""
    if units is None:
        units = {"lite3": dataset.stus} if dataset.stus else {}
    variants = {"lite2": dataset.units, **units}
    for name, entries in variants.items():
        if entries.inputs != dataset.inputs:
            raise InputError(
                f"the inputs of the units '{name}' are not those of {dataset.name}",
                expected=f"the same {counted(len(dataset.inputs), 'input')}",
            )

    scores = []
    quality = []
    signatures: dict[str, dict[str, str]] = {}

    for fold, judges in folds:
        for name, judge in judges.items():
            by_fold, fold_quality, made = _score(
                dataset, fold, name, judge, variants, constant
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
    dataset: Data,
    fold: Fold,
    name: str,
    judge: Judge,
    variants: Variants,
    constant: ConstantPolicy,
) -> tuple[list[FoldScores], JudgeQuality, dict[str, str]]:
    """Every correlation in every mode of the judge, how right it is on labelled units,
    its signature."""
    labels = labels_of(dataset).of_inputs(fold.inputs).of_systems(fold.systems)
    rated = labels.units
    human = lite_pyramid_scores(labels.values, rated)
    summaries = dataset.summaries.take(fold.systems, fold.inputs)

    of_labels = judge_pairs(judge, summaries.items(rated))
    default = of_labels.signature.get("mode", "own")
    modes = _modes(of_labels, default, summaries, rated)
    own = modes.get(default, next(iter(modes.values())))
    quality = JudgeQuality(name, fold.number)
    # A fold may be without labels.
    if not np.isnan(labels.values + own).all():
        right = calibrate(own, labels.values)
        figures = right.pairs, right.accuracy, right.auc, right.brier
        quality = JudgeQuality(name, fold.number, *figures)

    scores = []
    for variant, entries in variants.items():
        units = entries.of_inputs(fold.inputs)
        batch = of_labels
        if units != rated:
            batch = judge_pairs(judge, summaries.items(units))

        for mode, values in _modes(batch, default, summaries, units).items():
            metric = lite_pyramid_scores(values, units)
            # Both sides are averaged over the inputs that people labelled.
            metric = np.where(np.isnan(human), np.nan, metric)
            for level, coefficient in _CORRELATIONS:
                r = level_correlation(metric, human, level, coefficient, constant)
                kind = (name, variant, mode, level, coefficient, fold.number)
                scores.append(FoldScores(*kind, r.value, r.constant))

    return scores, quality, of_labels.signature


def _modes(
    batch: JudgedBatch, default: str, summaries: Summaries, units: Units
) -> dict[str, FloatArray]:
    """The (N, U) presence of all units in all summaries by mode, NaN where a summary is
    missing; a judge without logits has one mode, its own."""
    modes = {default: np.concatenate(batch.presence)}
    if batch.logits is not None:
        # An empty summary has no logits; it carries no unit in any mode.
        logits = np.concatenate(batch.logits)
        empty = np.asarray(np.isnan(logits).all(axis=1))
        filled = np.where(empty[:, None], 0.0, logits)
        modes = {mode: np.where(empty, 0.0, presence(filled, mode)) for mode in MODES}

    missing = summaries.missing[:, units.input_of]
    result = {}
    for mode, values in modes.items():
        result[mode] = np.where(missing, np.nan, values.reshape(missing.shape))
    return result
