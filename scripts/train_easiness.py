"""Trains the embedded regressor of easiness on invented highlights; measures it on REALSumm.

    python scripts/train_easiness.py -o litepyramid/embedded/easiness.ubj

The regressor learns from `models/highlights`, invented news highlights with SCUs. Features and STUs
come from the embedded parser and extractor, so train it anew when these change. REALSumm, whose
SCUs people wrote, takes no part in its trees and is what it is measured on, by the authors' five
folds of inputs: the regressor as it is, centred on the training folds, refined on them, and
regressors trained on them alone, beside the training folds' mean and median. Other draws of folds,
smaller parts of the highlights and fewer features are measured, too (finer parts of the features by
--ablation). What is saved is centred on
all of REALSumm: one number, which leaves every ranking as it is and makes the level people's.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from litepyramid.easiness.evaluate import EasinessEvaluation, cross_fit, read_folds, seeded_folds
from litepyramid.easiness.features import FeatureTable
from litepyramid.easiness.prepare import Prepared, prepare_gold
from litepyramid.easiness.regressor import (
    PAPER,
    REFINED,
    SHIPPED,
    Regressor,
    Settings,
    fit,
    predict,
    save_regressor,
)
from litepyramid.easiness.scores import Easiness, write_easiness
from litepyramid.io.inputs import read_ids
from litepyramid.io.references import read_references
from litepyramid.io.units import read_units
from litepyramid.tables import Column, Table, render

CENTRED = replace(REFINED, rounds=0)
PARTS = {
    "parse alone": ("context:", "stu:", "subject:", "gap:"),
    "without subjects": ("subject:",),
    "without gaps": ("gap:",),
    "without STUs": ("stu:",),
}
"""Parts of the features: what the names of those left out begin with."""

KINDS = ("full_name", "name", "person", "pronoun", "thing", "none")
FINER = {
    **PARTS,
    "without context": ("context:",),
    "without parts of speech": ("tag:",),
    "without relations": ("relation:",),
    "without length and depth": ("length", "characters", "tree_depth"),
    "without unsaid words by kind": ("gap:tag:", "gap:relation:"),
    "without the other gaps": (*("gap:first", "gap:share", "gap:subject", "gap:root"),),
    "without the kind of subject": tuple(f"subject:root_{kind}" for kind in KINDS),
    "without the STUs' subjects": ("subject:stu_",),
    "without openings": ("subject:opens_",),
    "without the other subject features": (
        *("subject:root_length", "subject:root_place", "subject:root_is_verb"),
        *("subject:titled_names", "subject:person_nouns", "subject:upper_case"),
    ),
    "without windows": ("stu:window",),
    "without expected F1": ("stu:expected",),
    "without F1 of the sentence": ("stu:sentence_f1",),
    "without shares of the length": (
        *("stu:mean_share", "stu:longest_share", "stu:shortest_share"),
    ),
    "without bands of lengths": (
        "stu:distinct",
        "stu:to_6",
        "stu:from_12",
        "stu:4_to",
        "stu:count_4",
    ),
    "without words said": (
        *("stu:coverage", "stu:content", "stu:repetition", "stu:new_words", "stu:pronouns"),
    ),
}
FINER["without six parts that highlights do not miss"] = (
    *FINER["without unsaid words by kind"],
    *FINER["without the kind of subject"],
    *FINER["without expected F1"],
    *FINER["without F1 of the sentence"],
    *FINER["without shares of the length"],
    *FINER["without bands of lengths"],
)

Data = tuple[Prepared, Easiness]


@dataclass(frozen=True)
class Lines:
    """Tables to show."""

    tables: list[Table]

    def to_tables(self) -> list[Table]:
        return self.tables

    def to_json(self) -> dict[str, object]:
        return {table.title: table.rows for table in self.tables}


def part(features: FeatureTable, left_out: tuple[str, ...]) -> FeatureTable:
    """The columns whose names do not begin with any of these."""
    keep = [i for i, name in enumerate(features.names) if not name.startswith(left_out)]
    names = tuple(features.names[i] for i in keep)
    return FeatureTable(features.feature_set, names, features.values[:, keep])


def learn(data: Data, settings: Settings, keep: np.ndarray | None = None) -> Regressor:
    """A regressor of all sentences, or of those kept."""
    prepared, gold = data
    rows = np.arange(len(gold.values)) if keep is None else keep
    about = {
        "name": "embedded",
        "data": "litepyramid highlights (MIT)",
        **dict(prepared.signature.fields),
    }
    scus = None if gold.scus is None else gold.scus[rows]
    return fit(prepared.features.rows(rows), gold.values[rows], settings, about, scus)


def centre(regressor: Regressor, data: Data) -> Regressor:
    """The regressor with its mean error on these sentences taken off; its trees as they are."""
    prepared, gold = data
    offset = fit(prepared.features, gold.values, CENTRED, start=regressor).offset
    count = int((~np.isnan(gold.values)).sum())
    about = {**regressor.about, "centred_on": f"REALSumm (CC BY 4.0), {count} sentences"}
    return replace(regressor, offset=offset, about=about)


def row(name: str, done: EasinessEvaluation, others: list[float]) -> tuple[str | float, ...]:
    mae, mean, median = (done.mae(v) for v in (done.predicted.values, done.mean, done.median))
    mean_gain = float(np.mean(others)) if others else float("nan")
    return (name, mae, mean, median, 1 - mae / mean, done.correlations[0], mean_gain)


def measure(trained: Data, tested: Data, regressor: Regressor, data: Path, repeats: int) -> Table:
    """Error on REALSumm, the regressor centred, refined, cut down, and what to compare it with."""
    prepared, gold = tested
    folds = read_folds(data / "by_examples")
    ids = list(dict.fromkeys(s.input for s in gold.sentences))
    draws = [seeded_folds(ids, 5, 1000 + i) for i in range(repeats)]
    rows = []

    def add(
        name: str, settings: Settings, start: Regressor | None, left_out: tuple[str, ...] = ()
    ) -> EasinessEvaluation:
        table = part(prepared.features, left_out) if left_out else prepared.features
        done = cross_fit(table, gold, folds, settings, start)
        others = [cross_fit(table, gold, draw, settings, start).gain for draw in draws]
        rows.append(row(name, done, others))
        return done

    whole = add("centred", CENTRED, regressor)
    raw = predict(regressor, prepared.features)
    rows.append(row("as it is", replace(whole, predicted=replace(whole.predicted, values=raw)), []))
    add("refined", REFINED, regressor)
    add("REALSumm alone, paper's settings", PAPER, None)
    add("REALSumm alone, careful settings", replace(REFINED, eta=0.1, rounds=40), None)
    for name, left_out in PARTS.items():
        cut = replace(trained[0], features=part(trained[0].features, left_out))
        add(name, CENTRED, learn((cut, trained[1]), SHIPPED), left_out)
    inputs = np.array([s.input for s in trained[1].sentences])
    order = np.random.default_rng(0).permutation(np.unique(inputs))
    for share in (0.1, 0.25, 0.5):
        keep = np.flatnonzero(np.isin(inputs, order[: int(share * len(order))]))
        add(f"{len(keep)} sentences", CENTRED, learn(trained, SHIPPED, keep))
    columns = (
        Column("regressor"),
        Column("mae", "MAE", 4),
        Column("mean", "of mean", 4),
        Column("median", "of median", 4),
        Column("gain", "lower by"),
        Column("pearson", "r"),
        Column("others", "other folds"),
    )
    notes = (
        "MAE on REALSumm by the authors' folds, of the regressor and of the training folds' mean "
        "and median; by how much it is below the mean's; Pearson; the same gain over "
        f"{repeats} other draws of folds.",
        *gold.notes,
        f"Signature: {prepared.signature}",
    )
    return Table("Easiness on REALSumm", columns, tuple(rows), notes)


def quick(features: np.ndarray, target: np.ndarray, weights: np.ndarray, seed: int) -> object:
    """As `fit` with the shipped settings, but for histograms in place of all splits."""
    import xgboost

    settings = {
        "max_depth": SHIPPED.max_depth,
        "eta": SHIPPED.eta,
        "min_child_weight": SHIPPED.min_child_weight,
        "num_parallel_tree": SHIPPED.forest,
        "subsample": SHIPPED.subsample,
        "colsample_bytree": SHIPPED.colsample,
        "lambda": SHIPPED.reg_lambda,
        "tree_method": "hist",
        "nthread": 1,
        "seed": seed,
        "base_score": float(np.average(target, weights=weights)),
    }
    data = xgboost.DMatrix(features, label=target, weight=weights)
    booster = xgboost.train(settings, data, SHIPPED.rounds)
    return lambda values: booster.predict(xgboost.DMatrix(values)).astype(np.float64)


def ablate(trained: Data, tested: Data, data: Path, seeds: int = 4) -> Table:
    """What each part of the features is worth, on highlights and on REALSumm.

    Highlights: five folds of inputs, the mean of two seeds; the loss with its standard error over
    inputs. REALSumm: trained on all highlights, centred by the authors' folds; mean and standard
    deviation of the gain over seeds.
    """
    gold, people = trained[1], tested[1]
    weights = gold.scus / (gold.scus + SHIPPED.scu_prior)
    weights /= weights.mean()
    inputs = np.array([s.input for s in gold.sentences])
    place = seeded_folds(inputs.tolist(), 5, 12345)
    folds = np.array([place[name] for name in inputs])
    means = np.empty(len(folds))
    for fold in range(5):
        means[folds == fold] = gold.values[folds != fold].mean()
    constant = np.abs(means - gold.values).mean()
    known = read_folds(data / "by_examples")
    theirs = np.array([known[s.input] for s in people.sentences])
    scored = ~np.isnan(people.values)
    names = trained[0].features.names
    numbers = [12345, *range(1, seeds)]
    whole: np.ndarray | None = None
    rows = []
    for name, left_out in {"all features": (), **FINER}.items():
        keep = [i for i, own in enumerate(names) if not own.startswith(left_out or "-")]
        x, z = trained[0].features.values[:, keep], tested[0].features.values[:, keep]
        gains = []
        for seed in numbers:
            raw = quick(x, gold.values, weights, seed)(z)
            errors = np.zeros((2, len(raw)))
            for fold in range(5):
                others, here = (theirs != fold) & scored, theirs == fold
                missed = people.values[others] - raw[others]
                errors[0, here] = raw[here] + missed.mean() - people.values[here]
                errors[1, here] = people.values[others].mean() - people.values[here]
            mae, mean = np.abs(errors[:, scored]).mean(axis=1)
            gains.append(1 - mae / mean)
        predicted = np.zeros(len(folds))
        for seed in numbers[:2]:
            for fold in range(5):
                rest, here = folds != fold, folds == fold
                own = weights[rest] / weights[rest].mean()
                predicted[here] += quick(x[rest], gold.values[rest], own, seed)(x[here]) / 2
        error = np.abs(predicted - gold.values) / constant
        whole = error if whole is None else whole
        of_input = np.bincount(np.unique(inputs, return_inverse=True)[1], error - whole)
        spread = np.sqrt(((of_input - of_input.mean()) ** 2).sum()) / len(error)
        loss = float((error - whole).mean())
        rows.append((name, len(keep), 100 * loss, 100 * float(spread), *stats(gains)))
    columns = (
        Column("features"),
        Column("number"),
        Column("loss", "loss, highlights", 2),
        Column("error", "±", 2),
        Column("gain", "below the mean, REALSumm", 1),
        Column("sd", "sd over seeds", 1),
    )
    return Table("Features left out", columns, tuple(rows))


def stats(gains: list[float]) -> tuple[float, float]:
    """Mean and standard deviation, in percent."""
    return 100 * float(np.mean(gains)), 100 * float(np.std(gains, ddof=1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--highlights", type=Path, default=Path("models/highlights"))
    parser.add_argument("--data", type=Path, default=Path("../shared/data/realsumm"))
    parser.add_argument("-o", "--output", type=Path, default=Path("easiness.ubj"))
    parser.add_argument("--repeats", type=int, default=5, help="other draws of folds")
    parser.add_argument("--seed", type=int, default=12345)
    parser.add_argument(
        "--ablation", action="store_true", help="measure parts of the features alone"
    )
    parser.add_argument("--predictions", type=Path, help="write REALSumm's easiness here")
    arguments = parser.parse_args()
    trained = prepare_gold(
        read_references(arguments.highlights / "references.jsonl"),
        read_units(arguments.highlights / "scus.jsonl"),
    )
    if arguments.ablation:
        ids = read_ids(arguments.data / "ids.txt")
        tested = prepare_gold(
            read_references(arguments.data / "references.txt", ids),
            read_units(arguments.data / "SCUs.txt", ids),
        )
        print(render(Lines([ablate(trained, tested, arguments.data)]), "table"))
        return
    settings = replace(SHIPPED, seed=arguments.seed)
    regressor = learn(trained, settings)
    own = seeded_folds([s.input for s in trained[1].sentences], 5, arguments.seed)
    print(render(cross_fit(trained[0].features, trained[1], own, settings), "table"))
    if not arguments.data.is_dir():
        save_regressor(regressor, arguments.output)
        print(f"{arguments.data}: no REALSumm there: nothing more is measured, nothing centred")
        return
    ids = read_ids(arguments.data / "ids.txt")
    tested = prepare_gold(
        read_references(arguments.data / "references.txt", ids),
        read_units(arguments.data / "SCUs.txt", ids),
    )
    centred = centre(regressor, tested)
    save_regressor(centred, arguments.output)
    print(f"{arguments.output}: {arguments.output.stat().st_size} bytes, {centred.offset:+.4f}")
    table = measure(trained, tested, regressor, arguments.data, arguments.repeats)
    print(render(Lines([table]), "table"))
    if arguments.predictions is not None:
        values = predict(regressor, tested[0].features)
        write_easiness(arguments.predictions, replace(tested[1], values=values))


if __name__ == "__main__":
    main()
