"""How labels are best spread: intervals of systems' scores on REALSumm, by simulation.

`python -m scripts.studies.sampling [JUDGE]` prints coverage of systems' scores and of
differences, width and minutes, by way and share of the labels. The judge is `lexical`,
refitted on the other folds; or `mini`, the one that ships, which has seen four of the
five folds; or noise. `make pictures` draws the widths.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import litepyramid as lp
from litepyramid.annotation.sampling import minutes, systematic, unsureness
from litepyramid.judges.lexical.lexical_judge import LexicalJudge, fit_lexical
from litepyramid.scoring.estimates import (
    Drawn,
    Estimates,
    difference,
    estimate,
    joined,
)
from litepyramid.training.pairs import by_summary, labelled_pairs

REALSUMM = Path(os.environ.get("LITEPYRAMID_DATA", "../shared/data")) / "realsumm"
WAYS = ("inputs", "summaries", "facts", "unsure facts")
SHARES = (0.05, 0.1, 0.2, 0.4)
DRAWS = 2000


@dataclass(frozen=True)
class Table:
    """(N, U) labels, presences and words found, and the input of each fact."""

    labels: np.ndarray
    presence: np.ndarray
    words: np.ndarray
    inputs: np.ndarray

    @property
    def count(self) -> int:
        """How many inputs there are."""
        return int(self.inputs.max()) + 1

    @property
    def shares(self) -> np.ndarray:
        """Each fact's share of its input."""
        return 1 / np.bincount(self.inputs)[self.inputs]


def read(folder: Path, name: str = "lexical", step: int = 1) -> Table:
    """REALSumm with the presences of a judge; of every system, or every so many-th."""
    data = lp.load(folder)
    some = data.summaries.take(data.systems[::step], data.inputs)
    data = replace(data, summaries=some)
    sizes = [len(entry.units) for entry in data.units]
    inputs = np.repeat(np.arange(len(sizes)), sizes)

    def score(judge: Any) -> Any:
        return lp.score(data, judge=judge, samples=40)

    recall = score("recall")
    if name == "noise":
        presence = np.random.default_rng(0).random(recall.presence.shape)
    elif name != "lexical":
        presence = score(name).presence
    else:
        presence = np.empty(recall.presence.shape)
        for fold in data.example_folds:
            held = np.isin(data.inputs, fold)
            pairs = labelled_pairs(data, np.array(data.inputs)[~held].tolist())
            fitted = LexicalJudge(fit_lexical(*by_summary(pairs)))
            facts = held[inputs]
            presence[:, facts] = score(fitted).presence[:, facts]

    return Table(recall.labels_here, presence, recall.presence, inputs)


def simulate(
    table: Table, way: str, share: float, draws: int = DRAWS, seed: int = 1
) -> dict[str, float]:
    """Coverage and width of 95 % intervals, labels and minutes a system."""
    rng = np.random.default_rng(seed)
    shares, inputs, count = table.shares, table.inputs, table.count
    truth = table.labels @ shares / count
    unsure = np.ones(table.labels.shape)
    if way == "unsure facts":
        flat = unsureness(table.presence.ravel(), table.words.ravel())
        unsure = flat.reshape(unsure.shape)

    rows = []
    for _ in range(draws):
        drawn = rng.choice(count, round(share * count), replace=False)
        equal = np.where(np.isin(inputs, drawn), len(drawn) / count, np.nan)
        systems = []
        labels = []
        read = []

        for n in range(len(table.labels)):
            probability = equal
            if way != "inputs":
                probability = systematic(
                    shares * unsure[n],
                    inputs,
                    round(share * len(shares)),
                    whole=way == "summaries",
                    rng=rng,
                )
            values = table.labels[[n]], table.presence[[n]]
            systems.append(estimates(table, *values, probability, "facts" in way))
            there = ~np.isnan(probability)
            labels.append(there.sum())
            read.append(len(np.unique(inputs[there])))

        found = joined(systems)
        if way == "inputs":
            turned = -np.diff(table.labels, axis=0), -np.diff(table.presence, axis=0)
            pairs = estimates(table, *turned, equal, False)
        else:
            order = np.arange(len(systems))
            pairs = difference(found.take(order[:-1]), found.take(order[1:]), count)

        # Of differences, each system and the next one.
        rows.append(
            [
                covers(found, truth),
                covers(pairs, truth[:-1] - truth[1:]),
                np.mean(np.ptp(found.interval(0.95), axis=0)),
                np.mean(labels),
                np.mean(read),
            ]
        )

    covered, of_differences, width, facts, texts = np.mean(rows, axis=0).tolist()
    return {
        "coverage": covered,
        "differences": of_differences,
        "width": width,
        "labels": facts,
        "minutes": minutes("20+5", texts, facts),
    }


def covers(found: Estimates, truth: np.ndarray) -> np.floating:
    low, high = found.interval(0.95)
    return np.mean((low <= truth) & (truth <= high))


def estimates(
    table: Table,
    human: np.ndarray,
    judge: np.ndarray,
    probability: np.ndarray,
    single: bool,
) -> Estimates:
    """The estimates of means from the same drawn facts."""
    there = np.flatnonzero(~np.isnan(probability))
    keys = there if single else table.inputs[there]
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    some = table.shares[there]

    def sums(values: np.ndarray) -> np.ndarray:
        return np.array([np.bincount(group, some * row[there]) for row in values])

    drawn = Drawn(
        human=sums(human),
        judge=sums(judge),
        share=np.bincount(group, some),
        probability=probability[there][first],
        mean=judge @ table.shares / table.count,
        total=1.0,
        inputs=table.count,
    )
    return estimate(drawn)


def main() -> None:
    table = read(REALSUMM, *sys.argv[1:])
    for way in WAYS:
        for share in SHARES:
            found = simulate(table, way, share)
            values = [f"{key} {value:8.4f}" for key, value in found.items()]
            print(f"{way:14}", *values, flush=True)


if __name__ == "__main__":
    main()
