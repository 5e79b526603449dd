"""Every published number of ZB21 that the data and models at hand allow, beside ours.

    python scripts/studies/zb21.py [DATA] [--checkpoints FOLDER] [--offline] [-o FILE]

DATA holds realsumm, pyrxsum, tac08, tac09 in the authors' layout, those that there are (default:
$LITEPYRAMID_DATA). Checkpoints are taken from FOLDER/NAME (the part of the hub id after the slash)
if that is there, else from the hub. What cannot be run is named with the reason. Numbers are facts
of the paper (Zhang & Bansal 2021: README, Tables 1 to 4).
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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

from litepyramid.errors import LitepyramidError
from litepyramid.io.coerce import as_units
from litepyramid.io.dataset import Dataset, load_dataset
from litepyramid.io.scores import read_scores
from litepyramid.judges.base import Judge
from litepyramid.judges.nli.modes import MODES, presence
from litepyramid.judges.registry import judge
from litepyramid.meta.core.levels import Coefficient, Level, level_correlation
from litepyramid.metrics.score_metrics import rouge_scorer
from litepyramid.scoring.pyramid import UnitLayout, lite_pyramid_scores
from litepyramid.tables import Cell, Column, Result, Table
from litepyramid.text import counted
from litepyramid.training.crossval import cross_validate, validate
from litepyramid.training.folds import make_folds
from litepyramid.types import InputUnits, ScoreTable, Signature

_KINDS: tuple[tuple[Level, Coefficient], ...] = (
    ("system", "pearson"),
    ("system", "spearman"),
    ("summary", "pearson"),
    ("summary", "spearman"),
)

_SHOWN = dict(
    zip((f"{level}_{c}" for level, c in _KINDS), ("sys r", "sys ρ", "sum r", "sum ρ"), strict=True)
)


@dataclass(frozen=True, slots=True)
class Number:
    """One published number beside ours.

    Attributes:
        where: README, or Table 1 to Table 4.
        data_set: REALSumm …
        row: The metric as the paper calls it, or what the README scored.
        kind: ``system_pearson`` …, the mode of a README score, or ``ROUGE-2`` and ``Pyramid``.
        published: The paper's number.
        ours: What comes out here; NaN if it was not run.
        why_not: Why it was not run; empty if it was.
    """

    where: str
    data_set: str
    row: str
    kind: str
    published: float
    ours: float = float("nan")
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class Reproduction(Result):
    """Published numbers beside ours."""

    numbers: tuple[Number, ...]
    signature: Signature

    def to_tables(self) -> Sequence[Table]:
        """What was run with the difference; then what was not, by reason."""
        run = [n for n in self.numbers if not n.why_not]
        rows: list[tuple[Cell, ...]] = [
            (
                f"{n.where} {n.data_set}",
                n.row,
                _SHOWN.get(n.kind, n.kind),
                n.published,
                n.ours,
                n.ours - n.published,
            )
            for n in run
        ]
        largest = max((abs(n.ours - n.published) for n in run), default=float("nan"))
        done = Table(
            f"ZB21: {len(run)} of {counted(len(self.numbers), 'published number')} could be run",
            (
                Column("where"),
                Column("row"),
                Column("kind", "what"),
                Column("published", digits=5),
                Column("ours", digits=5),
                Column("difference", "diff.", digits=5, signed=True),
            ),
            tuple(rows),
            (
                f"Largest difference: {largest:.5f}. The older metrics' scores are those that "
                "REALSumm published, not the runs of ZB21; Lite2.5 takes the authors' own half "
                "mix.",
                str(self.signature),
            ),
        )
        reasons: dict[tuple[str, str, str], int] = {}
        for n in self.numbers:
            if n.why_not:
                key = (n.where, n.data_set, n.why_not)
                reasons[key] = reasons.get(key, 0) + 1
        missing = Table(
            "Not run",
            (Column("where"), Column("data_set", "data"), Column("numbers"), Column("why")),
            tuple((where, data, count, why) for (where, data, why), count in reasons.items()),
        )
        return [done, missing] if reasons else [done]

    def to_json(self) -> dict[str, Any]:
        """Every number with its reason."""
        names = Number.__slots__
        return {
            "numbers": [{name: getattr(n, name) for name in names} for n in self.numbers],
            "signature": self.signature.to_json(),
        }


@dataclass(frozen=True)
class _Run:
    """What is at hand, and judges that were made or could not be."""

    root: Path
    make: Callable[[str], Judge]
    sets: dict[str, Dataset | str] = field(default_factory=dict)
    judges: dict[str, Judge | str] = field(default_factory=dict)

    def dataset(self, name: str) -> Dataset | str:
        """The data set, or why there is none."""
        if name not in self.sets:
            folder = self.root / FOLDERS[name]
            try:
                self.sets[name] = (
                    load_dataset("folder", folder)
                    if folder.is_dir()
                    else f"no folder {FOLDERS[name]} in the data"
                )
            except LitepyramidError as error:
                self.sets[name] = str(error)
        return self.sets[name]

    def judge(self, name: str) -> Judge | str:
        """The judge, or why there is none."""
        if name not in self.judges:
            try:
                self.judges[name] = self.make(name)
            except LitepyramidError as error:
                self.judges[name] = str(error)
        return self.judges[name]


def reproduce_zb21(data: str | Path, make: Callable[[str], Judge]) -> Reproduction:
    """Computes every published number of ZB21 that the data and models at hand allow.

    Correlations follow the authors: a constant column gets 1e-10 added to its first value
    (policy ``zb21``), fold results are averaged, Lite2-0 is read by l3c and the rest by p2c.

    Args:
        data: A folder with ``realsumm``, ``pyrxsum``, ``tac08``, ``tac09`` in the authors'
            layout, those that there are; ``realsumm/metric_scores.csv`` for the older metrics.
        make: Gives the judge of a hub id; a LitepyramidError says why it cannot be had.

    Returns:
        All numbers of the README and Tables 1 to 4, in that order.
    """
    run = _Run(Path(data), make)
    numbers = [
        *_readme(run),
        *_table(run, "Table 1", TABLE_1, SETS, "examples"),
        *_table(run, "Table 2", TABLE_2, SETS[1:], None),
        *_table_3(run),
        *_table(run, "Table 4", TABLE_4, SETS, "systems"),
    ]
    return Reproduction(tuple(numbers), Signature.of(constant="zb21"))


def _readme(run: _Run) -> Iterator[Number]:
    for (name, system), rows in README.items():
        dataset = run.dataset(name)
        for row, values in rows.items():
            found: Mapping[str, float] | str
            if isinstance(dataset, str):
                found = dataset
            elif system not in dataset.systems:
                found = f"no system {system} in the data"
            elif row == "human":
                found = {"human": _human(dataset, system)}
            else:
                found = _readme_scores(run, dataset, system, row)
            for kind, published in values.items():
                yield _number("README", name, f"{system} {row}", kind, published, found)


def _table_3(run: _Run) -> Iterator[Number]:
    """ROUGE-2 F1 in points and the gold Pyramid score of each system, over PyrXSum's inputs."""
    dataset, rouge = run.dataset("PyrXSum"), rouge_scorer("2")
    for line in TABLE_3.strip().splitlines():
        system, row, cells = line.split("|")
        found: Mapping[str, float] | str
        if isinstance(dataset, str) or system not in dataset.systems:
            found = dataset if isinstance(dataset, str) else f"no system {system} in the data"
        elif dataset.references is None:
            found = "no references in the data"
        else:
            texts = dataset.summaries[dataset.systems.index(system)].texts
            targets = ([" ".join(r) for r in e.references] for e in dataset.references)
            scores = [
                rouge.score(r[0], t)["rouge2"].fmeasure for t, r in zip(texts, targets, strict=True)
            ]
            found = {"ROUGE-2": 100 * float(np.mean(scores)), "Pyramid": _human(dataset, system)}
        for kind, cell in zip(("ROUGE-2", "Pyramid"), cells.split(), strict=True):
            yield _number("Table 3", "PyrXSum", row, kind, float(cell), found)


def _human(dataset: Dataset, system: str) -> float:
    layout = UnitLayout.of(dataset.scus)
    presence_by_people, _ = layout.align(dataset.labels, [system])
    return float(lite_pyramid_scores(presence_by_people, layout)[0].mean())


def _readme_scores(run: _Run, dataset: Dataset, system: str, row: str) -> Mapping[str, float] | str:
    units = _units(run, dataset, {"SCUs": "Lite2", "STUs": "Lite3", "half": "Lite2.5"}[row])
    judge = run.judge(TRAINED["TAC08"])
    if isinstance(units, str):
        return units
    if isinstance(judge, str):
        return judge
    texts = dataset.summaries[dataset.systems.index(system)].texts
    try:
        judged = judge.judge([(t, e.texts) for t, e in zip(texts, units, strict=True)])
    except LitepyramidError as error:
        return str(error)
    if judged.logits is None:
        return "the judge has no logits"
    logits, layout = np.concatenate(judged.logits), UnitLayout.of(units)
    return {
        mode: float(lite_pyramid_scores(np.nan_to_num(presence(logits, mode)), layout).mean())
        for mode in MODES
    }


def _table(
    run: _Run, where: str, text: str, sets: Sequence[str], by: str | None
) -> Iterator[Number]:
    cache: dict[tuple[str, str], Mapping[str, float] | str] = {}
    for line in text.strip().splitlines():
        row, _, cells = line.partition("|")
        values = cells.split()
        half = len(values) // 2
        for index, name in enumerate(sets):
            four = [*values[2 * index : 2 * index + 2], *values[half + 2 * index :][:2]]
            if four[0] == "-":
                continue
            key = (row, name)
            if key not in cache:
                cache[key] = _correlations(run, row, name, by)
            for (level, coefficient), cell in zip(_KINDS, four, strict=True):
                kind = f"{level}_{coefficient}"
                yield _number(where, name, row, kind, float(cell), cache[key])


def _correlations(run: _Run, row: str, name: str, by: str | None) -> Mapping[str, float] | str:
    dataset = run.dataset(name)
    if isinstance(dataset, str):
        return dataset
    if not row.startswith("Lite"):
        return _older_metric(run, row, dataset, by)
    if by is None:
        return _out_of_the_box(run, row, dataset)
    return _folds(run, row, dataset, by)


def _older_metric(
    run: _Run, row: str, dataset: Dataset, by: str | None
) -> Mapping[str, float] | str:
    path = run.root / "realsumm" / "metric_scores.csv"
    if row not in METRICS or dataset.name != "realsumm" or not path.is_file():
        return "no scores of this metric in the data"
    table: ScoreTable = read_scores(path)
    X, Z = table.matrix(METRICS[row]).values, table.matrix("human").values
    if by is None:
        parts = [(X, Z)]
    else:
        parts = []
        for fold in make_folds(dataset, "examples" if by == "examples" else "systems", 5):
            rows = [table.systems.index(s) for s in fold.systems]
            columns = [table.inputs.index(i) for i in fold.inputs]
            parts.append((X[np.ix_(rows, columns)], Z[np.ix_(rows, columns)]))
    return {
        f"{level}_{c}": float(
            np.mean([level_correlation(x, z, level, c, "zb21").value for x, z in parts])
        )
        for level, c in _KINDS
    }


def _units(run: _Run, dataset: Dataset, name: str) -> Sequence[InputUnits] | str:
    """The units of Lite2, Lite2.5 (the authors' half mix) or Lite3, or why there are none."""
    if name == "Lite2":
        return dataset.scus
    if name == "Lite3":
        return dataset.stus or "no STUs in the data"
    path = run.root / dataset.name / HALF_MIX
    if not path.is_file():
        return f"no {HALF_MIX} in the data"
    return as_units(path, [entry.input for entry in dataset.scus])


def _folds(run: _Run, row: str, dataset: Dataset, by: str) -> Mapping[str, float] | str:
    kind, _, zero = row.partition("-")
    units = _units(run, dataset, kind)
    if isinstance(units, str):
        return units
    if zero:
        template = ZERO_SHOT
    elif dataset.name == "realsumm":
        template = f"shiyue/roberta-large-realsumm-by-{by}-fold{{fold}}"
    else:
        return "the authors released no fold checkpoints of this data set"
    judges = [run.judge(template.replace("{fold}", str(k))) for k in range(1, 6)]
    missing = next((judge for judge in judges if isinstance(judge, str)), None)
    if missing is not None:
        return missing
    ready = [judge for judge in judges if not isinstance(judge, str)]
    try:
        result = cross_validate(
            dataset,
            lambda data, fold: ready[fold - 1],
            by="examples" if by == "examples" else "systems",
            units={kind: units},
            constant="zb21",
        )
    except LitepyramidError as error:
        return str(error)
    mode = "l3c" if zero else "p2c"
    return {
        f"{level}_{c}": result.mean("trained", kind, level, c, mode=mode).mean
        for level, c in _KINDS
    }


def _out_of_the_box(run: _Run, row: str, dataset: Dataset) -> Mapping[str, float] | str:
    kind, _, trained_on = row.partition(" ")
    if trained_on not in TRAINED:
        return f"the authors released no checkpoint of {trained_on}"
    units, judge = _units(run, dataset, kind), run.judge(TRAINED[trained_on])
    if isinstance(units, str):
        return units
    if isinstance(judge, str):
        return judge
    try:
        result = validate(dataset, {"ready": judge}, units={kind: units}, constant="zb21")
    except LitepyramidError as error:
        return str(error)
    return {
        f"{level}_{c}": result.mean("ready", kind, level, c, mode="p2c").mean for level, c in _KINDS
    }


def _number(
    where: str,
    data_set: str,
    row: str,
    kind: str,
    published: float,
    found: Mapping[str, float] | str,
) -> Number:
    if isinstance(found, str):
        return Number(where, data_set, row, kind, published, why_not=found)
    return Number(where, data_set, row, kind, published, ours=found[kind])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "data", nargs="?", type=Path, default=os.environ.get("LITEPYRAMID_DATA", "../shared/data")
    )
    parser.add_argument("--checkpoints", type=Path)
    parser.add_argument("--offline", action="store_true", help="fetch nothing from the hub")
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    if arguments.offline:
        os.environ["HF_HUB_OFFLINE"] = "1"

    def make(name: str) -> Judge:
        local = arguments.checkpoints / name.rsplit("/", 1)[1] if arguments.checkpoints else None
        return judge(str(local) if local is not None and local.is_dir() else name)

    result = reproduce_zb21(arguments.data, make)
    print(result.to_table())
    if arguments.output:
        result.save(arguments.output)


if __name__ == "__main__":
    main()
