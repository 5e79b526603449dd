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
import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np

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
from litepyramid.files import atomic_write
from litepyramid.io.coerce import as_names, as_references, as_units
from litepyramid.tables import Column, Result, Table
from litepyramid.units.extract import extract

HIGHLIGHTS = Path("models/highlights")
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
PARTS = {
    "parse alone": ("context:", "stu:", "subject:"),
    "without subjects": ("subject:",),
    "without STUs": ("stu:",),
}
"""Parts of the features: what the names of those left out begin with."""


class Report(Result):
    """One table, as `render` wants it."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def to_tables(self) -> list[Table]:
        return [self.table]


def cut(features: FeatureTable, left_out: tuple[str, ...]) -> FeatureTable:
    """The columns whose names do not begin with any of these."""
    keep = [
        i
        for i, name in enumerate(features.names)
        if not name.startswith(left_out or "-")
    ]
    names = tuple(features.names[i] for i in keep)
    return replace(features, names=names, values=features.values[:, keep])


def learn(
    features: FeatureTable,
    gold: Easiness,
    seed: int = 12345,
    left_out: tuple[str, ...] = (),
) -> EasinessRegressor:
    """A regressor of the highlights by the shipped settings."""
    about = {"name": "embedded", "data": "litepyramid highlights (MIT)"}
    about |= dict(features.signature.fields)
    settings = replace(SHIPPED, seed=seed)
    table = cut(features, left_out)
    return fit_trees(table, gold.values, settings, about, gold.scus)


def folds_of(folder: Path) -> dict[str, int]:
    """The fold of each input, by a folder with a file of ids for each fold."""
    files = sorted(folder.iterdir(), key=lambda path: (len(path.stem), path.stem))
    return {
        name: n for n, file in enumerate(files) for name in file.read_text().split()
    }


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


def triplets(references):
    """The units that the regressor is trained on."""
    return extract(references, srl="embedded", rules="zb21").units


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data/realsumm"))
    parser.add_argument("-o", "--output", type=Path, default=Path("easiness.json.gz"))
    parser.add_argument(
        "--ablate", action="store_true", help="also without parts of the features"
    )
    arguments = parser.parse_args()
    highlights = as_references(HIGHLIGHTS / "references.jsonl")
    trained = prepare_gold(
        highlights,
        as_units(HIGHLIGHTS / "scus.jsonl", kind="scu"),
        stus=triplets(highlights),
    )

    names = as_names(arguments.data / "ids.txt", None)
    references = as_references(arguments.data / "references.txt", **names)
    table, gold = prepare_gold(
        references,
        as_units(arguments.data / "SCUs.txt", kind="scu", **names),
        stus=triplets(references),
    )
    regressor = learn(*trained)
    scored = int((~np.isnan(gold.values)).sum())
    offset = fit_trees(table, gold.values, CENTRED, start=regressor).offset
    about = {
        **regressor.about,
        "centred_on": f"REALSumm (CC BY 4.0), {scored} sentences",
    }

    shipped = replace(regressor, offset=offset, about=about)
    data = gzip.compress("".join(shipped.json_parts()).encode(), mtime=0)
    with atomic_write(arguments.output, binary=True) as file:
        file.write(data)
    print(
        f"{arguments.output}: {len(data)} bytes, {len(regressor.names)} features, {offset:+.4f}"
    )

    folds = folds_of(arguments.data / "by_examples")
    inputs = list(dict.fromkeys(s.input for s in gold.sentences))
    draws = [drawn_folds(inputs, 1000 + i) for i in range(5)]
    rows = []

    def add(
        name: str,
        settings: TreeSettings,
        start: EasinessRegressor | None,
        left_out: tuple[str, ...] = (),
    ) -> None:
        features = cut(table, left_out)
        first, *others = (
            measure(cross_fit(features, gold, each, settings, start).values, gold, each)
            for each in (folds, *draws)
        )
        rows.append((name, *first, float(np.mean([other[2] for other in others]))))
        print(".", end="", flush=True)

    add("centred", CENTRED, regressor)
    raw = predict_trees(regressor, table)
    rows.append(("as it is", *measure(raw, gold, folds), float("nan")))
    add("refined", REFINED, regressor)
    add("REALSumm alone, paper's settings", PAPER, None)
    add("REALSumm alone, careful settings", replace(REFINED, eta=0.1, rounds=40), None)
    for seed in (1, 2):
        add(f"seed {seed}", CENTRED, learn(*trained, seed))
    for name, left_out in PARTS.items() if arguments.ablate else ():
        add(name, CENTRED, learn(*trained, left_out=left_out), left_out)
    columns = (
        Column("regressor"),
        Column("mae", "MAE", 4),
        Column("mean", "of the mean", 4),
        Column("gain", "lower by"),
        Column("pearson", "r"),
        Column("others", "other folds"),
    )

    table = Table(
        "Easiness on REALSumm by the authors' folds", columns, tuple(rows), gold.notes
    )
    print("\n" + Report(table).to_table())


if __name__ == "__main__":
    main()
