"""Trains the embedded regressor of easiness on invented highlights; measures it on
REALSumm.

    python scripts/train/easiness.py -o litepyramid/embedded/easiness.json.gz

The regressor learns from `models/highlights`, invented news highlights with SCUs.
Features and STUs come from the embedded parser and extractor, so train it anew when
these change. REALSumm, whose SCUs people wrote, takes no part in its trees and is what
it is measured on, by the authors' five folds of inputs and by other draws of folds.
What is saved is centred on all of REALSumm: one number, which leaves every ranking as
it is and makes the level people's.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import litepyramid as lp
from litepyramid.disk import write
from litepyramid.easiness.gold import Easiness
from litepyramid.easiness.predict import prepare_gold
from litepyramid.easiness.regressor import (
    PAPER,
    REFINED,
    EasinessRegressor,
    TreeSettings,
    cross_fit,
    fit_trees,
    predict_trees,
)
from litepyramid.easiness.sentence_features import FeatureTable
from litepyramid.tables import Column, Result, Table
from litepyramid.units.extract import extract

HIGHLIGHTS = Path("models/highlights")
REALSUMM = Path(os.environ.get("LITEPYRAMID_DATA", "../shared/data")) / "realsumm"
CENTRED = replace(REFINED, rounds=0)
SHIPPED = replace(
    REFINED,
    max_depth=6,
    rounds=300,
    forest=2,
    min_child_weight=50,
    reg_lambda=10,
    scu_prior=2,
)
"""The embedded regressor's: chosen by cross-validation on the highlights; REALSumm had
no say."""
COLUMNS = (
    Column("regressor"),
    Column("mae", "MAE", 4),
    Column("mean", "of the mean", 4),
    Column("gain", "lower by"),
    Column("pearson", "r"),
    Column("others", "other folds"),
)


@dataclass(frozen=True)
class Report(Result):
    """One table, as `render` wants it."""

    table: Table

    def to_tables(self) -> list[Table]:
        return [self.table]


def learn(
    features: FeatureTable, gold: Easiness, seed: int = 12345
) -> EasinessRegressor:
    """A regressor of the highlights by the shipped settings."""
    about = {"name": "embedded", "data": "litepyramid highlights (MIT)"}
    about |= dict(features.signature.fields)
    settings = replace(SHIPPED, seed=seed)
    return fit_trees(features, gold.values, settings, about, gold.scus)


def drawn_folds(inputs: list[str], seed: int) -> dict[str, int]:
    """Five folds of equal size drawn at random."""
    order = np.random.default_rng(seed).permutation(len(inputs))
    return {inputs[int(i)]: place % 5 for place, i in enumerate(order)}


def measure(
    predicted: np.ndarray, gold: Easiness, folds: dict[str, int]
) -> tuple[float, ...]:
    """Mean absolute error, that of the training folds' mean, by how much lower,
    Pearson."""
    fold = np.array([folds[s.input] for s in gold.sentences])
    scored = ~np.isnan(gold.values)
    mean = np.empty(len(fold))
    for number in set(fold.tolist()):
        mean[fold == number] = gold.values[(fold != number) & scored].mean()
    error, constant = (
        float(np.abs(values - gold.values)[scored].mean())
        for values in (predicted, mean)
    )
    r = float(np.corrcoef(predicted[scored], gold.values[scored])[0, 1])
    return error, constant, 1 - error / constant, r


def prepared(data: lp.Data) -> Any:
    """Features and gold easiness, with the units that the regressor is trained on."""
    stus = extract(data.references).units
    return prepare_gold(data.references, data.units.of_kind("scu"), stus=stus)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=Path("easiness.json.gz"))
    output = parser.parse_args().output
    highlights = lp.load(
        units=HIGHLIGHTS / "scus.jsonl", references=HIGHLIGHTS / "references.jsonl"
    )
    trained = prepared(highlights)
    realsumm = lp.load(REALSUMM)
    features, gold = prepared(realsumm)

    regressor = learn(*trained)
    scored = int((~np.isnan(gold.values)).sum())
    offset = fit_trees(features, gold.values, CENTRED, start=regressor).offset
    centred_on = f"REALSumm (CC BY 4.0), {scored} sentences"
    about = {**regressor.about, "centred_on": centred_on}

    shipped = replace(regressor, offset=offset, about=about)
    write(output, shipped.json_parts(), force=True)
    size = output.stat().st_size
    print(f"{output}: {size} bytes, {len(regressor.names)} features, {offset:+.4f}")

    folds = {}
    for n, names in enumerate(realsumm.example_folds):
        folds |= dict.fromkeys(names, n)
    inputs = list(dict.fromkeys(s.input for s in gold.sentences))
    draws = [drawn_folds(inputs, 1000 + i) for i in range(5)]
    rows = []

    def add(name: str, settings: TreeSettings, start: EasinessRegressor | None) -> None:
        first, *others = (
            measure(cross_fit(features, gold, each, settings, start).values, gold, each)
            for each in (folds, *draws)
        )
        rows.append((name, *first, float(np.mean([other[2] for other in others]))))
        print(".", end="", flush=True)

    add("centred", CENTRED, regressor)
    raw = predict_trees(regressor, features)
    rows.append(("as it is", *measure(raw, gold, folds), float("nan")))
    add("refined", REFINED, regressor)
    add("REALSumm alone, paper's settings", PAPER, None)
    add("REALSumm alone, careful settings", replace(REFINED, eta=0.1, rounds=40), None)
    for seed in (1, 2):
        add(f"seed {seed}", CENTRED, learn(*trained, seed))

    title = "Easiness on REALSumm by the authors' folds"
    table = Table(title, COLUMNS, tuple(rows), gold.notes)
    print("\n" + Report(table).to_table())


if __name__ == "__main__":
    main()
