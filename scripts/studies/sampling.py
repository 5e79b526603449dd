"""How labels are best spread: intervals of systems' scores on REALSumm, by simulation.

`python -m scripts.studies.sampling --data ../shared/data/realsumm` prints coverage,
width and minutes by way and share of the labels; the judge is `lexical`, refitted on
the other folds. `make pictures` draws the widths.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import litepyramid as lp
from litepyramid.annotation.sampling import minutes, mixed_unsureness, systematic
from litepyramid.judges.lexical.lexical_judge import LexicalJudge, fit_lexical
from litepyramid.scoring.estimates import Drawn, estimate, with_intervals

WAYS = ("inputs", "summaries", "facts", "unsure facts")
SHARES = (0.05, 0.1, 0.2, 0.4)


@dataclass(frozen=True)
class Table:
    """(N, U) labels and presences, and the input of each fact."""

    labels: np.ndarray
    presence: np.ndarray
    inputs: np.ndarray

    @property
    def shares(self) -> np.ndarray:
        """Each fact's share of its input."""
        return 1 / np.bincount(self.inputs)[self.inputs]


def crossfitted(folder: Path, step: int = 1) -> Table:
    """REALSumm with the presence of a judge that was fitted on the other folds; of
    every system, or every so many-th."""
    data = lp.load(folder)
    summaries = data.summaries[::step]
    by_system = {entry.system: entry for entry in data.labels}
    ids = [entry.input for entry in data.units]
    sizes = [len(entry.units) for entry in data.units]
    starts = np.cumsum([0, *sizes])
    labels = np.empty((len(summaries), starts[-1]))
    presence = np.empty(labels.shape)
    folds = sorted((folder / "by_examples").glob("fold*.id"))

    for fold in folds:
        held = set(fold.read_text().split())
        train = [
            (row, place)
            for row in summaries
            for place, name in enumerate(ids)
            if name not in held
        ]
        items = [(row.texts[place], data.units[place].texts) for row, place in train]
        known = [by_system[row.system].labels[place] for row, place in train]
        judge = LexicalJudge(fit_lexical(items, known))

        for n, row in enumerate(summaries):
            places = [place for place, name in enumerate(ids) if name in held]
            batch = judge.judge([(row.texts[p], data.units[p].texts) for p in places])
            for place, values in zip(places, batch.presence, strict=True):
                there = slice(starts[place], starts[place + 1])
                presence[n, there] = values
                labels[n, there] = by_system[row.system].labels[place]

    return Table(labels, presence, np.repeat(np.arange(len(ids)), sizes))


def simulate(
    table: Table, way: str, share: float, draws: int, seed: int = 1
) -> dict[str, float]:
    """Coverage and width of 95 % intervals, labels and minutes a system."""
    rng = np.random.default_rng(seed)
    shares = table.shares
    inputs = table.inputs
    count = int(inputs.max()) + 1
    covered = []
    widths = []
    labels = []
    read = []

    for _ in range(draws):
        drawn_inputs = rng.choice(count, round(share * count), replace=False)
        for human, judge in zip(table.labels, table.presence, strict=True):
            truth = (shares * human).sum() / count
            if way == "inputs":
                there = np.isin(inputs, drawn_inputs)
                probability = np.where(there, len(drawn_inputs) / count, np.nan)
            else:
                unsure = np.ones(len(shares))
                if way == "unsure facts":
                    unsure = mixed_unsureness(judge)
                probability = systematic(
                    shares * unsure,
                    inputs,
                    round(share * len(shares)),
                    whole=way == "summaries",
                    rng=rng,
                )
            row = interval(
                table,
                human,
                judge,
                probability,
                single="facts" in way,
            )
            covered.append(row.low <= truth <= row.high)
            widths.append(row.high - row.low)
            there = ~np.isnan(probability)
            labels.append(there.sum())
            read.append(len(np.unique(inputs[there])))

    facts = float(np.mean(labels))
    return {
        "coverage": float(np.mean(covered)),
        "width": float(np.mean(widths)),
        "labels": facts,
        "minutes": minutes("20+5", float(np.mean(read)), facts),
    }


def interval(
    table: Table,
    human: np.ndarray,
    judge: np.ndarray,
    probability: np.ndarray,
    *,
    single: bool,
) -> np.record:
    """The estimate of one system's score from its drawn facts."""
    shares = table.shares
    inputs = table.inputs
    count = int(inputs.max()) + 1
    there = np.flatnonzero(~np.isnan(probability))
    keys = there if single else inputs[there]
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    some = shares[there]
    drawn = Drawn(
        human=np.bincount(group, some * human[there])[None],
        judge=np.bincount(group, some * judge[there])[None],
        share=np.bincount(group, some),
        probability=probability[there][first],
        mean=np.array([(shares * judge).sum() / count]),
        total=1.0,
        inputs=count,
    )

    rows = with_intervals(
        estimate(drawn),
        between=None,
        freedom=len(first) - 1,
        confidence=0.95,
        target="inputs",
    )
    return rows[0]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--draws", type=int, default=2000)
    given = parser.parse_args()
    table = crossfitted(given.data)
    for way in WAYS:
        for share in SHARES:
            found = simulate(table, way, share, given.draws)
            print(f"{way:14}", *(f"{key} {value:8.3f}" for key, value in found.items()))


if __name__ == "__main__":
    main()
