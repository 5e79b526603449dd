"""How labels are best spread: intervals of systems' scores on REALSumm, by simulation.

`python -m scripts.studies.sampling --data ../shared/data/realsumm` prints coverage of
systems' scores and of differences, width and minutes, by way and share of the labels.
The judge is `lexical`, refitted on the other folds; or, with `--judge mini`, the one
that ships, which has seen four of the five folds; or noise. `make pictures` draws the
widths.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import litepyramid as lp
from litepyramid.annotation.sampling import minutes, systematic, unsureness
from litepyramid.judges.lexical.lexical_judge import LexicalJudge, fit_lexical
from litepyramid.scoring.estimates import Drawn, estimate, with_intervals

WAYS = ("inputs", "summaries", "facts", "unsure facts")
SHARES = (0.05, 0.1, 0.2, 0.4)


@dataclass(frozen=True)
class Table:
    """(N, U) labels, presences and words found, and the input of each fact."""

    labels: np.ndarray
    presence: np.ndarray
    words: np.ndarray
    inputs: np.ndarray

    @property
    def shares(self) -> np.ndarray:
        """Each fact's share of its input."""
        return 1 / np.bincount(self.inputs)[self.inputs]


def judged(data: Any, judge: Any, summaries: Any) -> np.ndarray:
    """(N, U) presences by one judge."""
    rows = []
    texts = [entry.texts for entry in data.units]
    for one in summaries:
        batch = judge.judge(list(zip(one.texts, texts, strict=True)))
        rows.append(np.concatenate(batch.presence))
    return np.array(rows)


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

    words = judged(data, lp.judge("recall"), summaries)
    return Table(labels, presence, words, np.repeat(np.arange(len(ids)), sizes))


def with_judge(table: Table, folder: Path, name: str) -> Table:
    """The table with another judge's presences: one that ships, or noise."""
    if name == "lexical":
        return table
    if name == "noise":
        rng = np.random.default_rng(0)
        return replace(table, presence=rng.random(table.labels.shape))

    data = lp.load(folder)
    return replace(table, presence=judged(data, lp.judge(name), data.summaries))


def simulate(
    table: Table, way: str, share: float, draws: int, seed: int = 1
) -> dict[str, float]:
    """Coverage and width of 95 % intervals, labels and minutes a system."""
    rng = np.random.default_rng(seed)
    shares = table.shares
    inputs = table.inputs
    count = int(inputs.max()) + 1
    truth = table.labels @ shares / count
    unsure = np.ones(table.labels.shape)
    if way == "unsure facts":
        flat = unsureness(table.presence.ravel(), table.words.ravel())
        unsure = flat.reshape(unsure.shape)

    covered = []
    of_differences = []
    widths = []
    labels = []
    read = []

    for _ in range(draws):
        drawn_inputs = rng.choice(count, round(share * count), replace=False)
        whole = np.isin(inputs, drawn_inputs)
        rows = []
        for n in range(len(table.labels)):
            if way == "inputs":
                probability = np.where(whole, len(drawn_inputs) / count, np.nan)
            else:
                probability = systematic(
                    shares * unsure[n],
                    inputs,
                    round(share * len(shares)),
                    whole=way == "summaries",
                    rng=rng,
                )
            values = table.labels[[n]], table.presence[[n]]
            rows.append(interval(table, *values, probability, "facts" in way)[0])
            there = ~np.isnan(probability)
            labels.append(there.sum())
            read.append(len(np.unique(inputs[there])))

        found = np.array(rows).view(np.recarray)
        covered.append((found.low <= truth) & (truth <= found.high))
        widths.append(found.high - found.low)

        # Each system and the next one.
        true = truth[:-1] - truth[1:]
        if way == "inputs":
            differences = (
                -np.diff(table.labels, axis=0),
                -np.diff(table.presence, axis=0),
            )
            pairs = interval(table, *differences, probability, False)
            of_differences.append((pairs.low <= true) & (true <= pairs.high))
        else:
            reach = apart(found)
            of_differences.append(np.abs(-np.diff(found.value) - true) <= reach)

    facts = float(np.mean(labels))
    return {
        "coverage": float(np.mean(covered)),
        "differences": float(np.mean(of_differences)),
        "width": float(np.mean(widths)),
        "labels": facts,
        "minutes": minutes("20+5", float(np.mean(read)), facts),
    }


def apart(found: Any) -> np.ndarray:
    """How far intervals of differences reach where systems are drawn by themselves."""
    from litepyramid.stats import t_reach

    first = found[:-1]
    second = found[1:]
    error = np.hypot(first.error, second.error)
    parts = first.error**4 / first.freedom + second.error**4 / second.freedom
    return t_reach(0.95, error**4 / parts) * error


def interval(
    table: Table,
    human: np.ndarray,
    judge: np.ndarray,
    probability: np.ndarray,
    single: bool,
) -> Any:
    """The estimates of means from the same drawn facts."""
    shares = table.shares
    inputs = table.inputs
    count = int(inputs.max()) + 1
    there = np.flatnonzero(~np.isnan(probability))
    keys = there if single else inputs[there]
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    some = shares[there]

    def sums(values: np.ndarray) -> np.ndarray:
        return np.array([np.bincount(group, some * row[there]) for row in values])

    drawn = Drawn(
        human=sums(human),
        judge=sums(judge),
        share=np.bincount(group, some),
        probability=probability[there][first],
        mean=judge @ shares / count,
        total=1.0,
        inputs=count,
    )
    return with_intervals(
        estimate(drawn),
        between=np.zeros(len(human)),
        freedom=len(first) - 1,
        confidence=0.95,
        target="inputs",
    )


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--judge", default="lexical", help="lexical, mini, noise …")
    parser.add_argument("--draws", type=int, default=2000)
    given = parser.parse_args()
    table = with_judge(crossfitted(given.data), given.data, given.judge)

    for way in WAYS:
        for share in SHARES:
            found = simulate(table, way, share, given.draws)
            values = [f"{key} {value:8.4f}" for key, value in found.items()]
            print(f"{way:14}", *values, flush=True)


if __name__ == "__main__":
    main()
