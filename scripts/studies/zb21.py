"""Every published number of ZB21 that the data and models at hand allow, beside ours.

    python scripts/studies/zb21.py [DATA]

DATA holds realsumm, pyrxsum, tac08, tac09 in the authors' layout, those that there are
(default: $LITEPYRAMID_DATA), realsumm/metric_scores.csv for the older metrics.
Checkpoints come from the hub, or its cache. What cannot be run is named with the
reason. Numbers are facts of the paper (Zhang & Bansal 2021: README, Tables 1 to 4).

Correlations follow the authors: a constant column gets 1e-10 added to its first value
(policy ``zb21``), fold results are averaged, Lite2-0 is read by l3c and the rest by
p2c.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from zb21_tables import (
    FOLDERS,
    HALF_MIX,
    METRICS,
    README,
    SETS,
    TABLE_1,
    TABLE_2,
    TABLE_3,
    TABLE_4,
    TRAINED,
    ZERO_SHOT,
)

import litepyramid as lp
from litepyramid.data.data import Data
from litepyramid.data.records import Units
from litepyramid.errors import InputError, LitepyramidError
from litepyramid.judges.base import Judge
from litepyramid.judges.nli.modes import MODES, presence
from litepyramid.meta.core.levels import level_correlation
from litepyramid.scoring.pyramid import lite_pyramid_scores
from litepyramid.tables import Column, Result, Table
from litepyramid.training.crossval import By, cross_validate, make_folds
from litepyramid.training.validation import validate

KINDS = {
    "sys r": ("system", "pearson"),
    "sys ρ": ("system", "spearman"),
    "sum r": ("summary", "pearson"),
    "sum ρ": ("summary", "spearman"),
}
Values = Mapping[str, float]


@dataclass(frozen=True)
class Number:
    """One published number beside ours, which is NaN where `why_not` says why."""

    where: str
    data_set: str
    row: str
    kind: str
    published: float
    ours: float
    why_not: str


@dataclass(frozen=True)
class Reproduction(Result):
    """Published numbers beside ours."""

    numbers: tuple[Number, ...]

    def to_tables(self) -> list[Table]:
        """What was run with the difference; then what was not, by reason."""
        done = []
        reasons: Counter[tuple[str, ...]] = Counter()
        for n in self.numbers:
            if n.why_not:
                reasons[n.where, n.data_set, n.why_not] += 1
            else:
                where = f"{n.where} {n.data_set}"
                both = n.published, n.ours, n.ours - n.published
                done.append((where, n.row, n.kind, *both))

        columns = (
            Column("where"),
            Column("row"),
            Column("kind", "what"),
            Column("published", digits=5),
            Column("ours", digits=5),
            Column("difference", "diff.", digits=5, signed=True),
        )
        largest = max((abs(row[-1]) for row in done), default=float("nan"))
        note = (
            f"Largest difference: {largest:.5f}. The older metrics' scores are those that REALSumm "
            "published, not the runs of ZB21; Lite2.5 takes the authors' own half mix."
        )
        title = f"ZB21: {len(done)} of {len(self.numbers)} numbers could be run"
        tables = [Table(title, columns, tuple(done), (note,))]
        if reasons:
            columns = tuple(map(Column, ("where", "data", "why", "numbers")))
            rows = tuple((*reason, count) for reason, count in reasons.items())
            tables.append(Table("Not run", columns, rows))
        return tables


class Run:
    """What is at hand: the folder of the data, and the judges of hub ids."""

    def __init__(self, root: Path, make: Callable[[str], Judge]) -> None:
        self.root = root
        self.dataset = cache(self._dataset)
        self.judge = cache(make)

    def _dataset(self, name: str) -> Data:
        folder = self.root / FOLDERS[name]
        if not folder.is_dir():
            raise InputError(f"no folder {FOLDERS[name]} in the data")
        return lp.load(folder)

    def units(self, dataset: Data, kind: str) -> dict[str, Units]:
        """The units of Lite2, Lite2.5 (the authors' half mix) or Lite3."""
        if kind == "Lite2":
            return {kind: dataset.units}
        if kind == "Lite3" and dataset.stus:
            return {kind: dataset.stus}
        path = self.root / dataset.name / HALF_MIX
        if kind == "Lite3" or not path.is_file():
            raise InputError(f"no units of {kind} in the data")
        ids = self.root / dataset.name / "ids.txt"
        return {kind: lp.load(units=path, ids=ids).units}


def reproduce_zb21(data: Path, make: Callable[[str], Judge]) -> Reproduction:
    """All numbers of the README and Tables 1 to 4, in that order.

    `make` gives the judge of a hub id; a LitepyramidError says why it cannot be had.
    """
    run = Run(data, make)
    numbers = []
    for where, name, row, published, compute in claims():
        ours: Values = {}
        why = ""
        try:
            ours = compute(run, run.dataset(name))
        except LitepyramidError as error:
            why = str(error)
        for kind, number in published.items():
            value = ours.get(kind, float("nan"))
            numbers.append(Number(where, name, row, kind, number, value, why))

    return Reproduction(tuple(numbers))


def claims() -> Iterator[tuple[str, str, str, Values, Callable[..., Values]]]:
    """Where it stands, data set, row, the published numbers, and what computes ours."""
    for (name, system), rows in README.items():
        for row, published in rows.items():
            compute = partial(readme, system, row)
            yield "README", name, f"{system} {row}", published, compute

    yield from correlations("Table 1", TABLE_1, SETS, "examples")
    yield from correlations("Table 2", TABLE_2, SETS[1:], None)
    for line in TABLE_3.strip().splitlines():
        system, row, cells = line.split("|")
        both = zip(("ROUGE-2", "Pyramid"), map(float, cells.split()), strict=True)
        yield "Table 3", "PyrXSum", row, dict(both), partial(table_3, system)
    yield from correlations("Table 4", TABLE_4, SETS, "systems")


def correlations(where: str, text: str, sets: Any, by: By | None) -> Iterator[Any]:
    for line in text.strip().splitlines():
        row, _, cells = line.partition("|")
        values = np.reshape(cells.split(), (2, len(sets), 2))
        for name, four in zip(sets, values.swapaxes(0, 1), strict=True):
            if four[0, 0] != "-":
                published = dict(zip(KINDS, map(float, four.flat), strict=True))
                way = lite if row.startswith("Lite") else older_metric
                yield where, name, row, published, partial(way, row, by)


def texts_of(dataset: Data, system: str) -> Any:
    if system not in dataset.systems:
        raise InputError(f"no system {system} in the data")
    return dataset.summaries.of_system(system)


def human(dataset: Data, system: str) -> float:
    return lp.score(dataset, judge="recall", samples=40).human_scores[system]


def readme(system: str, row: str, run: Run, dataset: Data) -> Values:
    texts = texts_of(dataset, system)
    if row == "human":
        return {"human": human(dataset, system)}

    kind = {"SCUs": "Lite2", "STUs": "Lite3", "half": "Lite2.5"}[row]
    units = run.units(dataset, kind)[kind]
    items = [(texts[entry.input], entry.texts) for entry in units]
    logits = np.concatenate(run.judge(TRAINED["TAC08"]).judge(items).logits)
    scores = {}
    for mode in MODES:
        values = np.nan_to_num(presence(logits, mode))
        means = lite_pyramid_scores(values, units)
        scores[mode] = float(means.mean())
    return scores


def table_3(system: str, run: Run, dataset: Data) -> Values:
    """ROUGE-2 F1 in points and the gold Pyramid score, over PyrXSum's inputs."""
    texts = {system: texts_of(dataset, system)}
    table = lp.score_metrics(texts, references=dataset.references, metrics=["rouge-2"])
    rouge = table.scores["rouge-2_f1"]
    return {"ROUGE-2": 100 * rouge.mean(), "Pyramid": human(dataset, system)}


@cache
def scores_of(path: Path) -> lp.Scores:
    """The scores of a file, which many rows of the tables are of."""
    return lp.read_scores(path)


def older_metric(row: str, by: By | None, run: Run, dataset: Data) -> Values:
    path = run.root / "realsumm" / "metric_scores.csv"
    if row not in METRICS or dataset.name != "realsumm" or not path.is_file():
        raise InputError("no scores of this metric in the data")
    table = scores_of(path)
    X, Z = (table[name] for name in (METRICS[row], "human"))
    parts = [(table.listed, table.inputs)]
    if by:
        folds = make_folds(dataset, by, 5)
        parts = [(fold.systems, fold.inputs) for fold in folds]

    values: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for systems, inputs in parts:
        rows = [table.systems.index(name) for name in systems]
        at = np.ix_(rows, [table.inputs.index(name) for name in inputs])
        for kind, pair in KINDS.items():
            values[kind].append(level_correlation(X[at], Z[at], *pair, "zb21").value)
    return {kind: float(np.mean(row)) for kind, row in values.items()}


def lite(row: str, by: By | None, run: Run, dataset: Data) -> Values:
    """By folds, or with `by` None out of the box."""
    kind, _, trained_on = row.partition(" ")
    kind, _, zero = kind.partition("-")
    options = {"units": run.units(dataset, kind), "constant": "zb21"}

    if by is None:
        if trained_on not in TRAINED:
            raise InputError(f"the authors released no checkpoint of {trained_on}")
        ready = {"trained": run.judge(TRAINED[trained_on])}
        result = validate(dataset, ready, **options)
    else:
        if not zero and dataset.name != "realsumm":
            raise InputError("the authors released no fold checkpoints of this set")
        name = f"shiyue/roberta-large-realsumm-by-{by}-fold"
        folds = [ZERO_SHOT if zero else f"{name}{n}" for n in range(1, 6)]
        judges = list(map(run.judge, folds))

        def trainer(_: Any, fold: int) -> Judge:
            return judges[fold - 1]

        result = cross_validate(dataset, trainer, by=by, **options)

    mode = "l3c" if zero else "p2c"
    return {
        what: result.mean("trained", kind, *pair, mode).mean
        for what, pair in KINDS.items()
    }


def main() -> None:
    usual = os.environ.get("LITEPYRAMID_DATA", "../shared/data")
    data = [*sys.argv[1:], usual][0]
    print(reproduce_zb21(Path(data), lp.judge).to_table())


if __name__ == "__main__":
    main()
