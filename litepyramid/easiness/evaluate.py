"""How well easiness is predicted: error compared with a constant's, on sentences not trained on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.easiness.features import FeatureTable
from litepyramid.easiness.regressor import PAPER, Regressor, Settings, fit, predict
from litepyramid.easiness.scores import Easiness
from litepyramid.easiness.sums import fold_of
from litepyramid.errors import InputError
from litepyramid.io.inputs import read_ids
from litepyramid.progress import track
from litepyramid.tables import Column, Result, Table
from litepyramid.text import counted
from litepyramid.types import FloatArray, IntArray, Signature


@dataclass(frozen=True)
class EasinessEvaluation(Result):
    """Predicted against gold easiness.

    Attributes:
        predicted: One prediction per sentence, by a regressor that was not trained on its fold.
        gold: (n,) gold easiness; NaN = no SCU, and no part of any error.
        folds: (n,) the fold of each sentence, from 0.
        mean: (n,) the mean gold easiness of the other folds: what the first constant predicts.
        median: (n,) the median of the other folds: the constant with the least absolute error.
        notes: What a user must know.
    """

    predicted: Easiness
    gold: FloatArray
    folds: IntArray
    mean: FloatArray
    median: FloatArray
    notes: tuple[str, ...] = ()

    @property
    def signature(self) -> Signature:
        """How the predictions were made."""
        return self.predicted.signature

    def mae(self, values: FloatArray, fold: int | None = None) -> float:
        """Mean absolute error over the sentences with gold easiness, of one fold or of all."""
        keep = ~np.isnan(self.gold)
        if fold is not None:
            keep &= self.folds == fold
        return float(np.mean(np.abs(values[keep] - self.gold[keep]))) if keep.any() else math.nan

    @property
    def gain(self) -> float:
        """By how much the error is lower than the mean's: ``1 - MAE / MAE(mean)``."""
        return 1 - self.mae(self.predicted.values) / self.mae(self.mean)

    @property
    def correlations(self) -> tuple[float, float]:
        """Pearson and Spearman of predicted and gold over all sentences; NaN if one is constant."""
        from scipy.stats import pearsonr, spearmanr

        keep = ~np.isnan(self.gold)
        x, y = self.predicted.values[keep], self.gold[keep]
        if x.size < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
            return math.nan, math.nan
        return float(pearsonr(x, y).statistic), float(spearmanr(x, y).statistic)

    def to_tables(self) -> Sequence[Table]:
        """Errors by fold and over all sentences."""
        columns = (
            "fold",
            "sentences",
            Column("mae", "MAE", 4),
            Column("mae_mean", "of the mean", 4),
            Column("mae_median", "of the median", 4),
            Column("gain", "lower by"),
        )
        r, rho = self.correlations
        notes = (
            f"Predicted against gold easiness: Pearson {r:.3f}, Spearman {rho:.3f}.",
            "Each fold is predicted by a regressor trained on the others; the constants are the "
            "mean and the median of the others.",
            *self.notes,
            f"Signature: {self.predicted.signature}",
        )
        return [Table.of("Error of predicted easiness", columns, self._errors(), notes)]

    def _errors(self) -> list[dict[str, str | int | float]]:
        """Errors of each fold and of all sentences."""
        rows: list[dict[str, str | int | float]] = []
        for fold in (*sorted(set(self.folds.tolist())), None):
            keep = ~np.isnan(self.gold) & (True if fold is None else self.folds == fold)
            predicted, mean, median = (
                self.mae(values, fold) for values in (self.predicted.values, self.mean, self.median)
            )
            rows.append(
                {
                    "fold": "all" if fold is None else str(fold + 1),
                    "sentences": int(np.sum(keep)),
                    "mae": predicted,
                    "mae_mean": mean,
                    "mae_median": median,
                    "gain": 1 - predicted / mean if mean else math.nan,
                }
            )
        return rows

    def to_json(self) -> dict[str, Any]:
        """Errors, correlations, and gold and predicted easiness of every sentence."""
        r, rho = self.correlations
        rows = zip(self.predicted.to_json()["sentences"], self.gold, self.folds, strict=True)
        return {
            "errors": self._errors(),
            "pearson": r,
            "spearman": rho,
            "sentences": [
                {**row, "predicted": row["easiness"], "gold": float(gold), "fold": int(fold) + 1}
                for row, gold, fold in rows
            ],
            "notes": list(self.notes),
            "signature": self.signature.to_json(),
        }


def seeded_folds(inputs: Sequence[str], k: int, seed: int) -> dict[str, int]:
    """Each distinct input's fold, from 0: k parts of equal size (within one), drawn at random.

    Raises:
        InputError: There are fewer inputs than folds, or fewer than two folds.

    Example:
        >>> sorted(seeded_folds(["a", "b", "b", "c", "d"], 2, seed=1).values())
        [0, 0, 1, 1]
    """
    distinct = list(dict.fromkeys(inputs))
    if not 2 <= k <= len(distinct):
        raise InputError(f"{k} folds of {len(distinct)} inputs", expected="from 2 to as many")
    order = np.random.default_rng(seed).permutation(len(distinct))
    return {distinct[int(i)]: place % k for place, i in enumerate(order)}


def read_folds(folder: str | Path) -> dict[str, int]:
    """Each input's fold, from 0, by a folder with a file of ids (one per line) for each fold.

    Raises:
        InputError: It is not a folder, holds fewer than two files, or an id is in two of them.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(
            "is not a folder", path=folder, expected="a folder with a file for each fold"
        )
    files = [path for path in folder.iterdir() if path.is_file()]
    files.sort(key=lambda path: (len(path.stem), path.stem))
    if len(files) < 2:
        raise InputError(
            f"holds {counted(len(files), 'file')}", path=folder, expected="one for each fold"
        )
    folds: dict[str, int] = {}
    for number, path in enumerate(files):
        for name in read_ids(path):
            if name in folds:
                raise InputError(f"input '{name}' is in two folds", path=path)
            folds[name] = number
    return folds


def cross_fit(
    features: FeatureTable,
    gold: Easiness,
    folds: Mapping[str, int],
    settings: Settings = PAPER,
    start: Regressor | None = None,
) -> EasinessEvaluation:
    """Predicts each sentence by a regressor trained on the sentences of the other folds' inputs.

    Args:
        features: One row for each of `gold`'s sentences.
        gold: Gold easiness; sentences without a value are predicted but teach nothing.
        folds: The fold of each input.
        settings: How trees are grown, fixed before any fold is looked at.
        start: A regressor that each fold's continues from (see `fit`); it must not know any of
            these sentences.

    Raises:
        InputError: An input has no fold, there is one fold only, or a fold leaves too little to
            train on.

    Example:
        >>> from litepyramid.units.align import Sentence
        >>> table = FeatureTable("mine", ("length",), np.tile([3.0, 9.0], 20)[:, None])
        >>> s = tuple(Sentence(str(i // 4), 0, i % 4, "…") for i in range(40))
        >>> done = cross_fit(table, Easiness(s, np.tile([0.9, 0.1], 20)),
        ...                  {str(i): i % 2 for i in range(10)})
        >>> done.gain > 0.9
        True
    """
    place = np.array([fold_of(folds, s.input) for s in gold.sentences], dtype=np.int64)
    if len(set(place.tolist())) < 2:
        raise InputError("all inputs are in one fold", expected="at least two folds")
    predicted, mean, median = (np.full(place.size, np.nan) for _ in range(3))
    known = ~np.isnan(gold.values)
    for fold in track(sorted(set(place.tolist())), "cross-fitting", "folds"):
        here, others = place == fold, (place != fold) & known
        counts = None if gold.scus is None else gold.scus[others]
        regressor = fit(
            features.rows(others), gold.values[others], settings, scus=counts, start=start
        )
        predicted[here] = predict(regressor, features.rows(here))
        mean[here] = gold.values[others].mean()
        median[here] = np.median(gold.values[others])
    left_out = int(np.sum(~known))
    said = counted(left_out, "sentence without an SCU has", "sentences without an SCU have")
    notes = (f"{said} no gold easiness.",) if left_out else ()
    signature = Signature.of(
        easiness="cross-fitted",
        features=features.feature_set,
        folds=len(set(place.tolist())),
        start=None if start is None else start.about.get("name", "given"),
        settings=_short(settings),
    )
    return EasinessEvaluation(
        Easiness(gold.sentences, predicted, signature, gold.notes),
        gold.values,
        place,
        mean,
        median,
        (*notes, *gold.notes),
    )


def _short(settings: Settings) -> str:
    """Depth, eta, rounds and seed, and what else is not the paper's."""
    always = {"max_depth", "eta", "rounds", "seed"}
    return ",".join(
        f"{item.name.replace('_', '-')}={getattr(settings, item.name)}"
        for item in fields(settings)
        if item.name in always or getattr(settings, item.name) != item.default
    )
