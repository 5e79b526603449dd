"""Which units and which judge agree best with people: the rule for what ships by default.

    python scripts/studies/scoreboard.py [--judge NAME …] [--units NAME …] [--data FOLDER] [--check]

Judges are named as for `litepyramid score`; units are `people`, `facts`, `zb21`,
`sentences`, or a file of units. FOLDER holds more data sets (`in_layout`) and files of
pairs (.jsonl, .jsonl.gz). Scores of systems and summaries are compared with people's by
Pearson's r and Kendall's τ-b; *within* is the mean r over the systems of one input.

With --check the exit status is 1 if the default judge or the default units lose to a
simple rival on any set, or in the mean of the sets: the 90 % interval of the difference,
from 2,000 draws of inputs (of premises, for pairs), is below 0 as a whole. So one of
twenty comparisons of equals would fail: better look once too often.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import signature
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import kendalltau
from scoreboard_data import (
    PAIRS,
    PairSet,
    SummarySet,
    contrast,
    fold_5,
    in_layout,
    nli_wiki,
    pairs_of,
    realsumm,
    rose,
)

import litepyramid as lp
from litepyramid.judges import DEFAULT_JUDGE
from litepyramid.judges.evaluate import brier_score, calibration_slope, roc_auc
from litepyramid.judges.lexical.lexical_judge import LexicalJudge, fit_lexical
from litepyramid.judges.parallel import judge_pairs

ROOT = Path(os.environ.get("LITEPYRAMID_DATA", "../shared/data"))
SIMPLE_JUDGES = ("recall", "lexical")
SIMPLE_UNITS = ("sentences", "zb21")
DRAWS = 2000
MARGIN = 1e-9


@dataclass(frozen=True)
class Units:
    """The units of a set's inputs with their weights."""

    texts: Sequence[Sequence[str]]
    weights: Sequence[np.ndarray]


@dataclass(frozen=True)
class Difference:
    """By how much a default is above a simple rival, with the 90 % interval."""

    where: str
    default: str
    rival: str
    figure: str
    value: float
    low: float
    high: float

    @property
    def loses(self) -> bool:
        return self.high < -MARGIN


# Units and judges


def default_units() -> str:
    """What Lite³Pyramid extracts where nothing is said."""
    return str(signature(lp.extract).parameters["rules"].default)


def units_of(data: SummarySet, design: str) -> Units:
    """The units of a design: people's, extracted ones, or those of a file."""
    if design == "people":
        texts = data.units
        return Units(texts, [np.ones(len(row)) for row in texts])

    if Path(design).is_file():
        entries = {entry.input: entry for entry in lp.load(units=design).units}
        listed = [entries[name] for name in data.inputs]
    else:
        references = dict(zip(data.inputs, map(list, data.references), strict=True))
        ways: dict[str, Any] = (
            {"srl": "sentences"} if design == "sentences" else {"rules": design}
        )
        by_input = {
            entry.input: entry for entry in lp.extract(references, **ways).units
        }
        listed = [by_input[name] for name in data.inputs]

    texts = [entry.texts for entry in listed]
    weights = [np.array([unit.weight for unit in entry.units]) for entry in listed]
    return Units(texts, weights)


@cache
def judge_of(name: str) -> Any:
    return lp.judge(name)


def presences(data: SummarySet, units: Units, judge: Any) -> list[list[np.ndarray]]:
    """N rows of M arrays: the presence of each input's units in each summary."""
    items = [
        *zip(
            chain_rows(data.summaries), [*units.texts] * len(data.systems), strict=True
        )
    ]
    answers = iter(judge_pairs(judge, items).presence)
    return [[next(answers) for _ in data.inputs] for _ in data.systems]


def chain_rows(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for row in rows:
        yield from row


def scores(presence: Sequence[Sequence[np.ndarray]], units: Units) -> np.ndarray:
    """(N, M) weighted mean presence."""
    rows = []
    for of_system in presence:
        pairs = zip(of_system, units.weights, strict=True)
        rows.append([np.average(values, weights=weights) for values, weights in pairs])
    return np.array(rows)


def refitted(data: SummarySet, rest: SummarySet) -> LexicalJudge:
    """`lexical` fitted to the labels of other inputs."""
    items = [
        *zip(chain_rows(rest.summaries), [*rest.units] * len(rest.systems), strict=True)
    ]
    labels = [row.tolist() for of_system in rest.labels or () for row in of_system]
    return LexicalJudge(fit_lexical(items, labels))


# Figures


def pearson(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """r along the last axis; NaN where a row is constant."""
    x = x - x.mean(axis=-1, keepdims=True)
    y = y - y.mean(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return (x * y).sum(axis=-1) / np.sqrt((x**2).sum(axis=-1) * (y**2).sum(axis=-1))


def draws_of(count: int) -> np.ndarray:
    """(DRAWS, count) how often each input is drawn."""
    return np.random.default_rng(1).multinomial(count, np.full(count, 1 / count), DRAWS)


def system_r(
    values: np.ndarray, human: np.ndarray, draws: np.ndarray | None = None
) -> np.ndarray:
    """r of systems' means; with draws of inputs, of each draw."""
    counts = np.ones((1, values.shape[1])) if draws is None else draws
    return pearson(counts @ values.T, counts @ human.T)


def within_r(
    values: np.ndarray, human: np.ndarray, draws: np.ndarray | None = None
) -> np.ndarray:
    """Mean over inputs of r over systems."""
    each = pearson(values.T, human.T)
    there = ~np.isnan(each)
    counts = np.ones((1, len(each))) if draws is None else draws
    return (counts[:, there] @ each[there]) / counts[:, there].sum(axis=1)


FIGURES: dict[str, Callable[..., np.ndarray]] = {
    "system r": system_r,
    "within r": within_r,
}


def slope(x: np.ndarray, y: np.ndarray, draws: np.ndarray | None = None) -> np.ndarray:
    """Least-squares slope of (N, M) y on x over all summaries; with draws, of each."""
    counts = np.ones((1, x.shape[1])) if draws is None else draws
    total = counts.sum(axis=1) * len(x)
    sums = [counts @ values.sum(axis=0) for values in (x, y, x * y, x * x)]
    mean_x, mean_y, mean_xy, mean_xx = (one / total for one in sums)
    return (mean_xy - mean_x * mean_y) / (mean_xx - mean_x**2)


def interval(values: np.ndarray) -> tuple[float, float]:
    low, high = np.nanquantile(values, [0.05, 0.95]).tolist()
    return low, high


# The tables


class Board:
    """All that is judged, each thing once."""

    def __init__(self, sets: Sequence[SummarySet], pairs: Sequence[PairSet]) -> None:
        self.sets = sets
        self.pairs = pairs
        self.draws = {one.name: draws_of(len(one.inputs)) for one in sets}
        self._refitted: dict[str, Any] = {}
        self._units: dict[tuple[str, str], Units] = {}
        self._scores: dict[tuple[str, str, str], np.ndarray] = {}
        self._presence: dict[tuple[str, str, str], Any] = {}
        self._pairs: dict[tuple[str, str], np.ndarray] = {}

    def refit(self, name: str, judge: Any) -> None:
        """Takes a judge in place of `lexical` on the set that this was fitted to."""
        self._refitted[name] = judge

    def units(self, data: SummarySet, design: str) -> Units:
        key = data.name, design
        if key not in self._units:
            self._units[key] = units_of(data, design)
        return self._units[key]

    def scores(self, data: SummarySet, design: str, judge: str) -> np.ndarray:
        key = data.name, design, judge
        if key not in self._scores:
            units = self.units(data, design)
            ready = self._refitted.get(data.name) if judge == "lexical" else None
            presence = presences(data, units, ready or judge_of(judge))
            self._presence[key] = presence
            self._scores[key] = scores(presence, units)
        return self._scores[key]

    def flat(self, data: SummarySet, judge: str) -> np.ndarray:
        """The presence of people's units, one after another."""
        self.scores(data, "people", judge)
        rows = self._presence[data.name, "people", judge]
        return np.concatenate([values for row in rows for values in row])

    def on_pairs(self, data: PairSet, judge: str) -> np.ndarray:
        key = data.name, judge
        if key not in self._pairs:
            batch = judge_pairs(judge_of(judge), data.items)
            self._pairs[key] = np.concatenate(batch.presence)
        return self._pairs[key]

    def summary_rows(
        self, designs: Sequence[str], judges: Sequence[str]
    ) -> Iterator[list[str]]:
        for data, design, judge in product(self.sets, designs, judges):
            values = self.scores(data, design, judge)
            units = self.units(data, design)
            tau = kendalltau(values.mean(axis=1), data.human.mean(axis=1)).statistic
            agreement = [
                system_r(values, data.human)[0],
                tau,
                within_r(values, data.human)[0],
            ]
            sizes = np.mean([len(row) for row in units.texts])
            yield [data.name, f"{design} ({sizes:.1f})", judge, *map(shown, agreement)]

    def label_rows(self, judges: Sequence[str]) -> Iterator[list[str]]:
        for data, judge in product(self.sets, judges):
            if data.labels is not None:
                labels = np.concatenate(
                    [row for of_system in data.labels for row in of_system]
                )
                known = ~np.isnan(labels)
                yield [
                    data.name,
                    judge,
                    *quality(self.flat(data, judge)[known], labels[known]),
                ]

        for pairs, judge in product(self.pairs, judges):
            yield [
                pairs.name,
                judge,
                *quality(self.on_pairs(pairs, judge), pairs.labels),
            ]

    def fairness_rows(self, design: str, judges: Sequence[str]) -> Iterator[list[str]]:
        """Judge less people: by the share copied, by length, and of the systems that
        are over- and under-rated most, beside the mean of all."""
        for data, judge in product(self.sets, judges):
            error = self.scores(data, design, judge) - data.human
            draws = self.draws[data.name]
            cells = []
            for feature in (data.copied, data.lengths):
                value = slope(feature, error)[0]
                cells.append(ranged(value, interval(slope(feature, error, draws))))

            means = error.mean(axis=1)
            by_system = (
                draws @ (error - error.mean(axis=0)).T / draws.sum(axis=1)[:, None]
            )
            for n in (int(means.argmax()), int(means.argmin())):
                apart = ranged(means[n] - means.mean(), interval(by_system[:, n]))
                cells.append(f"{data.systems[n]} {apart}")
            yield [data.name, judge, *cells]

    def differences(self, units: str, judge: str) -> Iterator[Difference]:
        """What the rule compares, by set and in the mean of all sets: the default judge
        with simple ones on the same units, the default units with simple ones by the
        same judge, and both with the best simple pair."""
        for figure, function in FIGURES.items():
            by_kind = defaultdict(list)
            for data in self.sets:
                for kind, ours, theirs in self._compared(data, units, judge, function):
                    draws = self.draws[data.name]
                    value = function(ours, data.human) - function(theirs, data.human)
                    drawn = function(ours, data.human, draws) - function(
                        theirs, data.human, draws
                    )
                    by_kind[kind].append((data.name, value, drawn))

            for kind, rows in by_kind.items():
                for name, value, drawn in rows:
                    yield Difference(name, *kind, figure, value[0], *interval(drawn))
                value = np.mean([value for _, value, _ in rows])
                drawn = np.mean([drawn for *_, drawn in rows], axis=0)
                yield Difference(
                    "mean of the sets", *kind, figure, value, *interval(drawn)
                )

        for pairs in self.pairs:
            ours = self.on_pairs(pairs, judge)
            for rival in SIMPLE_JUDGES:
                if rival != judge:
                    theirs = self.on_pairs(pairs, rival)
                    value, low, high = auc_difference(pairs, ours, theirs)
                    yield Difference(pairs.name, judge, rival, "AUC", value, low, high)

    def _compared(
        self,
        data: SummarySet,
        units: str,
        judge: str,
        figure: Callable[..., np.ndarray],
    ) -> Iterator[tuple[tuple[str, str], np.ndarray, np.ndarray]]:
        """The name of a default and of its rival, and the scores of both."""
        ours = self.scores(data, units, judge)
        for design, rival in product(dict.fromkeys(("people", units)), SIMPLE_JUDGES):
            if rival != judge:
                names = f"{judge} ({design})", rival
                yield (
                    names,
                    self.scores(data, design, judge),
                    self.scores(data, design, rival),
                )
        for rival in SIMPLE_UNITS:
            if rival != units:
                yield (
                    (f"{units} ({judge})", rival),
                    ours,
                    self.scores(data, rival, judge),
                )

        simple = [
            self.scores(data, *pair) for pair in product(SIMPLE_UNITS, SIMPLE_JUDGES)
        ]
        best = max(simple, key=lambda values: figure(values, data.human)[0])
        yield (f"{units}, {judge}", "best simple pair"), ours, best


def auc_difference(
    pairs: PairSet, ours: np.ndarray, theirs: np.ndarray
) -> tuple[float, float, float]:
    """The difference of two AUCs with its interval over premises."""
    groups = np.unique([text for text, _ in pairs.items], return_inverse=True)[1]
    members = [np.flatnonzero(groups == group) for group in range(groups.max() + 1)]
    rng = np.random.default_rng(1)
    drawn = []
    for _ in range(DRAWS // 10):
        chosen = np.concatenate(
            [members[g] for g in rng.integers(0, len(members), len(members))]
        )
        labels = pairs.labels[chosen]
        drawn.append(roc_auc(ours[chosen], labels) - roc_auc(theirs[chosen], labels))
    value = roc_auc(ours, pairs.labels) - roc_auc(theirs, pairs.labels)
    return (value, *interval(np.array(drawn)))


def quality(presence: np.ndarray, labels: np.ndarray) -> list[str]:
    figures = roc_auc(presence, labels), brier_score(presence, labels)
    return [*map(shown, figures), f"{calibration_slope(presence, labels):.2f}"]


def shown(value: float) -> str:
    return f"{value:.3f}".replace("0.", ".", 1)


def ranged(value: float, ends: tuple[float, float]) -> str:
    return f"{value:+.3f} [{ends[0]:+.3f}, {ends[1]:+.3f}]".replace("0.", ".")


def print_table(
    title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]
) -> None:
    print(f"\n{title}\n\n| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")


def read_sets(folder: Path | None) -> tuple[Board, list[str]]:
    """The board of the data that are there, and what is not."""
    sets = []
    pairs = [contrast()]
    missing = []
    fit = None
    if (ROOT / "realsumm").is_dir():
        whole = realsumm(ROOT)
        unseen = fold_5(whole, ROOT)
        rest = whole.of(
            "rest", [one for one in whole.inputs if one not in unseen.inputs]
        )
        fit = unseen.name, refitted(unseen, rest)
        sets.append(unseen)
    else:
        missing.append("realsumm")
    if (ROOT / "rose_systems").is_dir():
        sets.append(rose(ROOT))
    else:
        missing.append("rose_systems")

    if (ROOT / "nli_wiki").is_dir():
        pairs.append(nli_wiki(ROOT))
    for name, relative in PAIRS.items():
        if (ROOT / relative).is_file():
            pairs.append(pairs_of(ROOT / relative, name))
        else:
            missing.append(relative)

    for path in sorted(folder.iterdir()) if folder else ():
        if path.is_dir():
            sets.append(in_layout(path))
        elif ".jsonl" in path.suffixes:
            pairs.append(pairs_of(path))

    board = Board(sets, pairs)
    if fit:
        board.refit(*fit)
    return board, missing


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--judge", action="append", metavar="NAME")
    parser.add_argument("--units", action="append", metavar="NAME")
    parser.add_argument("--data", type=Path, metavar="FOLDER")
    parser.add_argument("--check", action="store_true")
    told = parser.parse_args(arguments)
    judges = told.judge or [*dict.fromkeys((*SIMPLE_JUDGES, DEFAULT_JUDGE))]
    designs = told.units or [*dict.fromkeys(("people", "sentences", "zb21", "facts"))]
    judge, units = DEFAULT_JUDGE, default_units()

    board, missing = read_sets(told.data)
    for name in missing:
        print(f"Left out: {name} is not in {ROOT}.", file=sys.stderr)

    if not told.check:
        heads = [
            "set",
            "units (a reference)",
            "judge",
            "system r",
            "system τ",
            "within r",
        ]
        print_table(
            "Agreement with people", heads, [*board.summary_rows(designs, judges)]
        )
        heads = ["pairs", "judge", "AUC", "Brier", "slope"]
        print_table("Agreement with labels", heads, [*board.label_rows(judges)])
        heads = [
            "set",
            "judge",
            "copied",
            "100 words",
            "over-rated most",
            "under-rated most",
        ]
        title = "Judge less people (people's units; 90 % intervals over inputs)"
        print_table(title, heads, [*board.fairness_rows("people", judges)])

    rows = []
    losses = 0
    for one in board.differences(units, judge):
        losses += one.loses
        verdict = "loses" if one.loses else ""
        difference = ranged(one.value, (one.low, one.high))
        rows.append(
            [one.where, one.default, one.rival, one.figure, difference, verdict]
        )
    title = f"The defaults ({units}, {judge}) beside simple rivals"
    print_table(title, ["set", "default", "rival", "figure", "difference", ""], rows)
    print(
        f"\nThe defaults lose {losses} of {len(rows)} comparisons by more than noise."
    )
    return int(bool(told.check and losses))


if __name__ == "__main__":
    sys.exit(main())
