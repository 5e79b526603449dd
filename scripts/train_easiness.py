"""Trains the embedded easiness regressor on REALSumm, and measures it first.

    python scripts/train_easiness.py -o litepyramid/embedded/easiness.ubj

Features and STUs come from the embedded parser and extractor, so train it anew when these change.
Measured by the authors' five folds of inputs: the shipped settings; the paper's settings and each
part of the features beside them; and, so that choosing is paid for, a nested run that chooses
features and settings inside the training folds alone. The file is trained on all sentences.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from litepyramid.easiness.evaluate import EasinessEvaluation, cross_fit, read_folds, seeded_folds
from litepyramid.easiness.features import FeatureTable
from litepyramid.easiness.prepare import WITH_STUS, prepare_gold
from litepyramid.easiness.regressor import PAPER, Settings, fit, predict, save_regressor
from litepyramid.easiness.scores import Easiness
from litepyramid.io.inputs import read_ids
from litepyramid.io.references import read_references
from litepyramid.io.units import read_units
from litepyramid.report.table import Column, Table, render
from litepyramid.types import FloatArray

SHIPPED = Settings(forest=8, subsample=0.6, colsample=0.4, min_child_weight=5)
WEIGHTED = replace(SHIPPED, scu_prior=2)
PARTS = {
    "parse": ("context:", "stu:"),
    "parse + context": ("stu:",),
    "context + STUs": ("length", "characters", "tree_depth", "relation:", "tag:"),
    "all": (),
}
"""Parts of the features: what the names of those left out begin with."""


@dataclass(frozen=True)
class Lines:
    """A table to show."""

    table: Table

    def to_tables(self) -> list[Table]:
        return [self.table]

    def to_json(self) -> dict[str, object]:
        return {"rows": self.table.rows}


def part(features: FeatureTable, left_out: tuple[str, ...]) -> FeatureTable:
    """The columns whose names do not begin with any of these."""
    keep = [i for i, name in enumerate(features.names) if not name.startswith(left_out or "\0")]
    names = tuple(features.names[i] for i in keep)
    return FeatureTable(features.feature_set, names, features.values[:, keep])


def nested(
    features: FeatureTable, gold: Easiness, folds: dict[str, int], seed: int
) -> tuple[FloatArray, list[str]]:
    """Predictions with features and settings chosen by five folds within the training folds."""
    place = np.array([folds[s.input] for s in gold.sentences])
    predicted = np.full(len(place), np.nan)
    chosen = []
    candidates = [
        (name, s) for name in ("context + STUs", "all") for s in (PAPER, SHIPPED, WEIGHTED)
    ]
    for fold in sorted(set(place.tolist())):
        train = np.flatnonzero(place != fold)
        inner_gold = replace(
            gold,
            sentences=tuple(gold.sentences[i] for i in train),
            values=gold.values[train],
            scus=None if gold.scus is None else gold.scus[train],
        )
        inner_folds = seeded_folds([s.input for s in inner_gold.sentences], 5, seed)
        errors = []
        for name, settings in candidates:
            table = part(features, PARTS[name])
            inner = cross_fit(table.rows(train), inner_gold, inner_folds, settings)
            errors.append(inner.mae(inner.predicted.values))
        name, settings = candidates[int(np.argmin(errors))]
        label = {PAPER: "paper", SHIPPED: "shipped", WEIGHTED: "SCU prior"}[settings]
        chosen.append(f"{name}, {label}")
        table = part(features, PARTS[name])
        regressor = fit(table.rows(train), gold.values[train], settings, scus=inner_gold.scus)
        here = np.flatnonzero(place == fold)
        predicted[here] = predict(regressor, table.rows(here))
    return predicted, chosen


def row(name: str, done: EasinessEvaluation, more: list[float]) -> tuple[str | float, ...]:
    mae, mean, median = (done.mae(v) for v in (done.predicted.values, done.mean, done.median))
    return (name, mae, mean, median, 1 - mae / mean, done.correlations[0], float(np.mean(more)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data/realsumm"))
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--repeats", type=int, default=5, help="other draws of folds")
    parser.add_argument("--seed", type=int, default=12345)
    parser.add_argument("--predictions", type=Path, help="write cross-fitted easiness here")
    arguments = parser.parse_args()
    ids = read_ids(arguments.data / "ids.txt")
    references = read_references(arguments.data / "references.txt", ids)
    scus = read_units(arguments.data / "SCUs.txt", ids)
    prepared, gold = prepare_gold(references, scus, WITH_STUS)
    folds = read_folds(arguments.data / "by_examples")
    draws = [seeded_folds(ids, 5, arguments.seed + i) for i in range(arguments.repeats)]
    settings = replace(SHIPPED, seed=arguments.seed)
    rows = []
    for name, left_out in PARTS.items():
        table = part(prepared.features, left_out)
        weighted = replace(settings, scu_prior=2)
        for label, tried in (("SCU prior", weighted), ("paper", PAPER), ("shipped", settings)):
            done = cross_fit(table, gold, folds, tried)
            others = [cross_fit(table, gold, draw, tried).gain for draw in draws]
            rows.append(row(f"{name}, {label}", done, others))
            if name == "all" and label == "shipped" and arguments.predictions is not None:
                from litepyramid.easiness.scores import write_easiness

                write_easiness(arguments.predictions, done.predicted)
    values, chosen = nested(prepared.features, gold, folds, arguments.seed)
    honest = replace(done, predicted=Easiness(gold.sentences, values))
    rows.append(row("nested choice", honest, [float("nan")]))
    columns = (
        Column("features"),
        Column("mae", "MAE", 4),
        Column("mean", "of mean", 4),
        Column("median", "of median", 4),
        Column("gain", "lower by"),
        Column("pearson", "r"),
        Column("others", "other folds"),
    )
    notes = (
        "MAE by the authors' folds, of the regressor and of the training folds' mean and median; "
        f"by how much it is below the mean's; the same over {len(draws)} other draws of folds.",
        f"Chosen inside the training folds: {'; '.join(chosen)}.",
        *gold.notes,
        f"Signature: {prepared.signature}",
    )
    print(render(Lines(Table("Easiness on REALSumm", columns, tuple(rows), notes)), "table"))
    about = {
        "name": "embedded",
        "data": "REALSumm (CC BY 4.0)",
        **dict(prepared.signature.fields),
    }
    save_regressor(
        fit(prepared.features, gold.values, settings, about, gold.scus), arguments.output
    )
    print(f"{arguments.output}: {arguments.output.stat().st_size} bytes")


if __name__ == "__main__":
    main()
