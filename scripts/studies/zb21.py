"""Every published number of ZB21 that the data and models at hand allow, beside ours.

    python scripts/studies/zb21.py [DATA] [--checkpoints FOLDER] [-o FILE]

DATA holds realsumm, pyrxsum, tac08, tac09 in the authors' layout, those that there are
(default:
$LITEPYRAMID_DATA). Checkpoints are taken from FOLDER/NAME (the part of the hub id after the slash)
if that is there, else from the hub. What cannot be run is named with the reason.
Numbers are facts of the paper (Zhang & Bansal 2021: README, Tables 1 to 4).
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
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
from litepyramid.io.dataset import Dataset
from litepyramid.io.loading import load
from litepyramid.io.scores import read_scores
from litepyramid.judges.base import Judge
from litepyramid.judges.nli.modes import MODES, presence
from litepyramid.judges.registry import judge
from litepyramid.meta.core.levels import Coefficient, Level, level_correlation
from litepyramid.metrics.score_metrics import rouge_scorer
from litepyramid.scoring.pyramid import UnitLayout, lite_pyramid_scores
from litepyramid.tables import Column, Result, Table
from litepyramid.text import counted
from litepyramid.training.crossval import cross_validate, make_folds
from litepyramid.training.validation import validate
from litepyramid.types import InputUnits, Signature

_KINDS: tuple[tuple[Level, Coefficient], ...] = (
    ("system", "pearson"),
    ("system", "spearman"),
    ("summary", "pearson"),
    ("summary", "spearman"),
)
_SHOWN = dict(
    zip(
        (f"{level}_{c}" for level, c in _KINDS),
        ("sys r", "sys ρ", "sum r", "sum ρ"),
        strict=True,
    )
)
Values = Mapping[str, float]


class MissingError(Exception):
    """Why a number cannot be run."""


@dataclass(frozen=True, slots=True)
class Number:
    """One published number beside ours.

    `kind` is ``system_pearson`` …, the mode of a README score, or ``ROUGE-2`` and
    ``Pyramid``; `ours` is NaN, and `why_not` says why, if it was not run."""

    where: str
    data_set: str
    row: str
    kind: str
    published: float
    ours: float
    why_not: str


@dataclass(frozen=True, slots=True)
class Reproduction(Result):
    """Published numbers beside ours."""

    numbers: tuple[Number, ...]
    signature: Signature

    def to_tables(self) -> Sequence[Table]:
        """What was run with the difference; then what was not, by reason."""
        done = [n for n in self.numbers if not n.why_not]
        largest = max((abs(n.ours - n.published) for n in done), default=float("nan"))
        rows = [
            {
                "where": f"{n.where} {n.data_set}",
                "row": n.row,
                "kind": _SHOWN.get(n.kind, n.kind),
                "published": n.published,
                "ours": n.ours,
                "difference": n.ours - n.published,
            }
            for n in done
        ]
        columns = (
            "where",
            "row",
            Column("kind", "what"),
            Column("published", digits=5),
            Column("ours", digits=5),
            Column("difference", "diff.", digits=5, signed=True),
        )
        notes = (
            f"Largest difference: {largest:.5f}. The older metrics' scores are those that REALSumm "
            "published, not the runs of ZB21; Lite2.5 takes the authors' own half mix.",
            str(self.signature),
        )
        many = counted(len(self.numbers), "published number")
        title = f"ZB21: {len(done)} of {many} could be run"
        reasons = Counter(
            (n.where, n.data_set, n.why_not) for n in self.numbers if n.why_not
        )
        missing = Table(
            "Not run",
            (
                Column("where"),
                Column("data_set", "data"),
                Column("numbers"),
                Column("why"),
            ),
            tuple(
                (where, data, count, why)
                for (where, data, why), count in reasons.items()
            ),
        )

        return [Table.of(title, columns, rows, notes), *([missing] if reasons else [])]


@dataclass(frozen=True)
class _Run:
    """What is at hand: data sets and judges, made once, or why there is none."""

    root: Path
    make: Callable[[str], Judge]
    made: dict[str, Any] = field(default_factory=dict)

    def dataset(self, name: str) -> Dataset:
        folder = self.root / FOLDERS[name]
        if not folder.is_dir():
            raise MissingError(f"no folder {FOLDERS[name]} in the data")
        return self._once(name, lambda: load(folder))

    def judge(self, name: str) -> Judge:
        return self._once(name, lambda: self.make(name))

    def _once(self, name: str, make: Callable[[], Any]) -> Any:
        if name not in self.made:
            try:
                self.made[name] = make()
            except LitepyramidError as error:
                self.made[name] = MissingError(str(error))
        if isinstance(self.made[name], MissingError):
            raise self.made[name]
        return self.made[name]


def reproduce_zb21(data: str | Path, make: Callable[[str], Judge]) -> Reproduction:
    """Computes every published number of ZB21 that the data and models at hand allow.

    Correlations follow the authors: a constant column gets 1e-10 added to its first
    value (policy ``zb21``), fold results are averaged, Lite2-0 is read by l3c and the
    rest by p2c.

    Args:
        data: A folder with ``realsumm``, ``pyrxsum``, ``tac08``, ``tac09`` in the
            authors' layout, those that there are; ``realsumm/metric_scores.csv`` for
            the older metrics.
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


def _numbers(
    where: str,
    data_set: str,
    row: str,
    published: Values,
    compute: Callable[[], Values],
) -> Iterator[Number]:
    """Published numbers of one row, beside what can be computed."""
    found = {}
    why = ""
    try:
        found = dict(compute())
    except (MissingError, LitepyramidError) as error:
        why = str(error)
    for kind, number in published.items():
        ours = found.get(kind, float("nan"))
        yield Number(where, data_set, row, kind, number, ours, why)


def _readme(run: _Run) -> Iterator[Number]:
    for (name, system), rows in README.items():
        for row, published in rows.items():

            def compute(
                name: str = name, system: str = system, row: str = row
            ) -> Values:
                dataset = run.dataset(name)
                texts = _texts(dataset, system)
                if row == "human":
                    return {"human": _human(dataset, system)}
                units = _units(
                    run, dataset, {"SCUs": "Lite2", "STUs": "Lite3"}.get(row, "Lite2.5")
                )
                items = [(t, e.texts) for t, e in zip(texts, units, strict=True)]
                judged = run.judge(TRAINED["TAC08"]).judge(items)
                if judged.logits is None:
                    raise MissingError("the judge has no logits")
                logits = np.concatenate(judged.logits)
                layout = UnitLayout.of(units)
                by_mode = {
                    mode: np.nan_to_num(presence(logits, mode)) for mode in MODES
                }

                return {
                    m: float(lite_pyramid_scores(p, layout).mean())
                    for m, p in by_mode.items()
                }

            yield from _numbers(
                "README",
                name,
                f"{system} {row}",
                published,
                compute,
            )


def _table_3(run: _Run) -> Iterator[Number]:
    """ROUGE-2 F1 in points and the gold Pyramid score of each system, over PyrXSum's
    inputs."""
    rouge = rouge_scorer("2")
    for line in TABLE_3.strip().splitlines():
        system, row, cells = line.split("|")

        def compute(system: str = system) -> Values:
            dataset = run.dataset("PyrXSum")
            texts = _texts(dataset, system)
            if dataset.references is None:
                raise MissingError("no references in the data")
            targets = [" ".join(entry.references[0]) for entry in dataset.references]
            scores = [
                rouge.score(target, text)["rouge2"].fmeasure
                for text, target in zip(texts, targets, strict=True)
            ]

            return {
                "ROUGE-2": 100 * float(np.mean(scores)),
                "Pyramid": _human(dataset, system),
            }

        published = dict(
            zip(("ROUGE-2", "Pyramid"), map(float, cells.split()), strict=True)
        )
        yield from _numbers(
            "Table 3",
            "PyrXSum",
            row,
            published,
            compute,
        )


def _texts(dataset: Dataset, system: str) -> Sequence[str]:
    if system not in dataset.systems:
        raise MissingError(f"no system {system} in the data")
    return dataset.summaries[dataset.systems.index(system)].texts


def _human(dataset: Dataset, system: str) -> float:
    labels = next(entry.labels for entry in dataset.labels if entry.system == system)
    presence_by_people = np.concatenate(labels)[np.newaxis]
    return float(
        lite_pyramid_scores(presence_by_people, UnitLayout.of(dataset.scus)).mean()
    )


def _table(
    run: _Run, where: str, text: str, sets: Sequence[str], by: str | None
) -> Iterator[Number]:
    for line in text.strip().splitlines():
        row, _, cells = line.partition("|")
        values = cells.split()
        half = len(values) // 2

        for index, name in enumerate(sets):
            four = [*values[2 * index : 2 * index + 2], *values[half + 2 * index :][:2]]
            if four[0] == "-":
                continue

            def compute(row: str = row, name: str = name) -> Values:
                dataset = run.dataset(name)
                way = _lite if row.startswith("Lite") else _older_metric
                return way(run, row, dataset, by)

            published = dict(zip(_SHOWN, map(float, four), strict=True))
            yield from _numbers(
                where,
                name,
                row,
                published,
                compute,
            )


def _older_metric(run: _Run, row: str, dataset: Dataset, by: str | None) -> Values:
    path = run.root / "realsumm" / "metric_scores.csv"
    if row not in METRICS or dataset.name != "realsumm" or not path.is_file():
        raise MissingError("no scores of this metric in the data")
    table = run._once("scores", lambda: read_scores(path))
    X = table.matrix(METRICS[row]).values
    Z = table.matrix("human").values
    parts = [(X, Z)]

    if by is not None:
        parts = []
        for fold in make_folds(
            dataset, "examples" if by == "examples" else "systems", 5
        ):
            rows = [table.systems.index(s) for s in fold.systems]
            at = np.ix_(rows, [table.inputs.index(i) for i in fold.inputs])
            parts.append((X[at], Z[at]))

    return {
        f"{level}_{c}": float(
            np.mean(
                [
                    level_correlation(
                        x,
                        z,
                        level,
                        c,
                        "zb21",
                    ).value
                    for x, z in parts
                ]
            )
        )
        for level, c in _KINDS
    }


def _units(run: _Run, dataset: Dataset, name: str) -> Sequence[InputUnits]:
    """The units of Lite2, Lite2.5 (the authors' half mix) or Lite3."""
    if name == "Lite2":
        return dataset.scus
    if name == "Lite3":
        if not dataset.stus:
            raise MissingError("no STUs in the data")
        return dataset.stus
    path = run.root / dataset.name / HALF_MIX
    if not path.is_file():
        raise MissingError(f"no {HALF_MIX} in the data")
    return as_units(path, [entry.input for entry in dataset.scus])


def _lite(run: _Run, row: str, dataset: Dataset, by: str | None) -> Values:
    """By folds, or with `by` None out of the box."""
    if by is None:
        kind, _, trained_on = row.partition(" ")
        if trained_on not in TRAINED:
            raise MissingError(f"the authors released no checkpoint of {trained_on}")
        units = {kind: _units(run, dataset, kind)}
        ready = run.judge(TRAINED[trained_on])
        result = validate(dataset, {"ready": ready}, units=units, constant="zb21")
        return {
            f"{level}_{c}": result.mean(
                "ready",
                kind,
                level,
                c,
                mode="p2c",
            ).mean
            for level, c in _KINDS
        }

    kind, _, zero = row.partition("-")
    units = {kind: _units(run, dataset, kind)}
    if not zero and dataset.name != "realsumm":
        raise MissingError("the authors released no fold checkpoints of this data set")
    template = (
        ZERO_SHOT if zero else f"shiyue/roberta-large-realsumm-by-{by}-fold{{fold}}"
    )
    judges = [run.judge(template.replace("{fold}", str(k))) for k in range(1, 6)]
    result = cross_validate(
        dataset, lambda data, fold: judges[fold - 1],
        by="examples" if by == "examples" else "systems", units=units, constant="zb21",
    )  # fmt: skip

    mode = "l3c" if zero else "p2c"
    return {
        f"{level}_{c}": result.mean(
            "trained",
            kind,
            level,
            c,
            mode=mode,
        ).mean
        for level, c in _KINDS
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "data",
        nargs="?",
        type=Path,
        default=os.environ.get("LITEPYRAMID_DATA", "../shared/data"),
    )
    parser.add_argument("--checkpoints", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()

    def make(name: str) -> Judge:
        local = (
            arguments.checkpoints / name.rsplit("/", 1)[1]
            if arguments.checkpoints
            else None
        )
        return judge(str(local) if local is not None and local.is_dir() else name)

    result = reproduce_zb21(arguments.data, make)
    print(result.to_table())
    if arguments.output:
        result.save(arguments.output)


if __name__ == "__main__":
    main()
