"""What a validation gives: every fold's numbers, and their means with intervals over folds."""

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
    """mean ± t · s / √F over the F folds that have a value, within [−1, 1] as all values are."""
    from scipy.stats import t

    defined = np.array([v for v in values if not np.isnan(v)])
    folds, half = defined.size, float("nan")
    if folds > 1:
        half = t.ppf((1 + confidence) / 2, folds - 1) * defined.std(ddof=1) / folds**0.5
    mean = float(defined.mean()) if folds else float("nan")
    low, high = np.clip([mean - half, mean + half], -1.0, 1.0).tolist()
    return FoldMean(mean, low, high, folds, len(values) - folds)


_QUALITY = ("accuracy", "auc", "brier")
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
        means: list[dict[str, Cell]] = []
        intervals: list[dict[str, Cell]] = []
        for judge, units, mode in dict.fromkeys((s.judge, s.units, s.mode) for s in self.scores):
            names: dict[str, Cell] = {"judge": judge, "units": units, "mode": mode}
            over = {f"{kind[0]}_{kind[1]}": self.mean(judge, units, *kind, mode) for kind in _SHORT}
            spans = {k: f"{f.low:.2f} – {f.high:.2f}" for k, f in over.items() if f.folds > 1}
            means.append({**names, **{key: f.mean for key, f in over.items()}})
            intervals.append({**names, **dict.fromkeys(over), **spans})
        columns: list[Column | str] = ["judge", "units"]
        columns += ["mode"] if len({row["mode"] for row in means}) > 1 else []
        columns += [Column(f"{level}_{c}", short) for (level, c), short in _SHORT.items()]
        undefined = sum(np.isnan(s.value) for s in self.scores)
        what = counted(undefined, "correlation is", "correlations are")
        notes = [f"{what} not defined and left out of the means."] * bool(undefined)
        if constant := max((s.constant for s in self.scores if s.level == "summary"), default=0):
            notes.append(f"At most {counted(constant, 'constant column')} in a fold.")
        title = f"{self.dataset}: correlation with the human score"
        if folds := max(s.fold for s in self.scores):
            head = f"{title}, mean of {counted(folds, 'fold')}"
            spread = "95 % interval over folds (Student t)"
            tables = [Table.of(head, columns, means, notes)]
            tables.append(Table.of(spread, columns, intervals))
        else:
            tables = [Table.of(title, columns, means, notes)]
        rows = (
            {"judge": judge, **{n: self.quality_mean(judge, n).mean for n in _QUALITY}}
            for judge in self.judges
        )
        judges = (
            f"{name} = " + "|".join(f"{k}:{v}" for k, v in fields.items())
            for name, fields in self.judges.items()
        )
        title = "Presence of SCUs against human labels, mean over folds"
        heads = ("judge", "accuracy", Column("auc", "AUC"), Column("brier", "Brier"))
        return [*tables, Table.of(title, heads, rows, (*judges, str(self.signature)))]

    def to_json(self) -> dict[str, Any]:
        """Every fold's numbers and their means."""
        names = ("judge", "units", "level", "coefficient", "mode")
        keys = dict.fromkeys(tuple(getattr(s, name) for name in names) for s in self.scores)
        means = [{**dict(zip(names, k, strict=True)), **record(self.mean(*k))} for k in keys]
        return {**record(self), "means": means, "folds": [record(s) for s in self.scores]}
