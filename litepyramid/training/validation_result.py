"""What a validation gives: every fold's numbers, and their means with intervals over folds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from litepyramid.tables import HIDDEN, Cell, Column, Result, Table, record
from litepyramid.text import counted
from litepyramid.types import Signature


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


@dataclass(frozen=True, slots=True)
class JudgeQuality:
    """Quality of a judge's presence on the SCUs of one fold."""

    judge: str
    fold: int
    pairs: int
    accuracy: float
    auc: float
    brier: float


@dataclass(frozen=True, slots=True)
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
    """mean ± t · s / √F over the F folds that have a value, within [−1, 1] as all values are.

    Example:
        >>> result = fold_mean([0.5, 0.7, float("nan")])
        >>> round(result.mean, 3), round(result.low, 3), result.undefined
        (0.6, -0.671, 1)
    """
    from scipy.stats import t

    defined = np.array([v for v in values if not np.isnan(v)])
    folds, half = defined.size, float("nan")
    if folds > 1:
        half = t.ppf((1 + confidence) / 2, folds - 1) * defined.std(ddof=1) / folds**0.5
    mean = float(defined.mean()) if folds else float("nan")
    low, high = np.clip([mean - half, mean + half], -1.0, 1.0).tolist()
    return FoldMean(mean, low, high, folds, len(values) - folds)


_SHORT = {
    ("system", "pearson"): "sys r",
    ("system", "spearman"): "sys ρ",
    ("summary", "pearson"): "sum r",
    ("summary", "spearman"): "sum ρ",
}


@dataclass(frozen=True, slots=True)
class ValidationResult(Result):
    """Fold means of correlations and of presence quality; `judges` are their signatures."""

    dataset: str
    scores: tuple[FoldScores, ...] = field(metadata=HIDDEN)
    quality: tuple[JudgeQuality, ...]
    judges: Mapping[str, Mapping[str, str]]
    signature: Signature

    def mean(
        self, judge: str, units: str, level: str, coefficient: str, mode: str | None = None
    ) -> FoldMean:
        """The mean over folds of one correlation, by default in the judge's own mode."""
        mode = mode or self.default_mode(judge)
        names = (judge, units, mode, level, coefficient)
        kinds = ((s.judge, s.units, s.mode, s.level, s.coefficient) for s in self.scores)
        return fold_mean([s.value for s, k in zip(self.scores, kinds, strict=True) if k == names])

    def quality_mean(self, judge: str, name: str) -> FoldMean:
        """The mean over folds of ``accuracy``, ``auc`` or ``brier``."""
        return fold_mean([getattr(q, name) for q in self.quality if q.judge == judge])

    def default_mode(self, judge: str) -> str:
        """The mode that a judge scores with by default."""
        return self.judges[judge].get("mode") or "own"

    def to_tables(self) -> Sequence[Table]:
        """Fold means; then the same with intervals over folds; then presence quality."""
        keys = list(dict.fromkeys((s.judge, s.units, s.mode) for s in self.scores))
        columns_shown = (0, 1, 2) if len({key[2] for key in keys}) > 1 else (0, 1)
        head = [Column(("judge", "units", "mode")[i]) for i in columns_shown]
        columns = [Column(f"{level}_{c}", short) for (level, c), short in _SHORT.items()]
        means: list[tuple[Cell, ...]] = []
        intervals: list[tuple[Cell, ...]] = []
        for judge, units, mode in keys:
            names = [(judge, units, mode)[i] for i in columns_shown]
            row = [self.mean(judge, units, *kind, mode=mode) for kind in _SHORT]
            spans = (f"{f.low:.2f} – {f.high:.2f}" if f.folds > 1 else None for f in row)
            means.append((*names, *(f.mean for f in row)))
            intervals.append((*names, *spans))
        folds = max(s.fold for s in self.scores)
        title = f"{self.dataset}: correlation with the human score"
        over = f", mean of {counted(folds, 'fold')}" if folds else ""
        tables = [Table(title + over, (*head, *columns), tuple(means), self._notes())]
        if folds:
            title = "95 % interval over folds (Student t)"
            tables.append(Table(title, (*head, *columns), tuple(intervals)))
        return [*tables, self._quality_table()]

    def _notes(self) -> tuple[str, ...]:
        columns: Counter[tuple[str, ...]] = Counter()
        for s in self.scores:
            if s.level == "summary":  # every score of an input meets the column again
                columns[s.judge, s.units, s.mode, s.coefficient] += s.constant
        constant = max(columns.values(), default=0)
        undefined = sum(np.isnan(s.value) for s in self.scores)
        many = counted(constant, "constant column")
        what = counted(undefined, "correlation is", "correlations are")
        notes = {
            f"At most {many} in one row (policy: see signature).": constant,
            f"{what} not defined and left out of the means.": undefined,
        }
        return tuple(note for note, number in notes.items() if number)

    def _quality_table(self) -> Table:
        names = ("accuracy", "auc", "brier")
        rows = (
            {"judge": judge, **{name: self.quality_mean(judge, name).mean for name in names}}
            for judge in dict.fromkeys(q.judge for q in self.quality)
        )
        judges = (
            f"{name} = " + "|".join(f"{k}:{v}" for k, v in fields.items())
            for name, fields in self.judges.items()
        )
        return Table.of(
            "Presence of SCUs against human labels, mean over folds",
            ("judge", "accuracy", Column("auc", "AUC"), Column("brier", "Brier")),
            rows,
            (*judges, str(self.signature)),
        )

    def to_json(self) -> dict[str, Any]:
        """Every fold's numbers and their means."""
        keys = dict.fromkeys(
            (s.judge, s.units, s.level, s.coefficient, s.mode) for s in self.scores
        )
        names = ("judge", "units", "level", "coefficient", "mode")
        means = [{**dict(zip(names, k, strict=True)), **record(self.mean(*k))} for k in keys]
        return {**record(self), "means": means, "folds": [record(s) for s in self.scores]}
