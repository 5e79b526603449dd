"""The published numbers of ZB21 and its code's README, beside what comes out here.

Numbers are facts of the paper (Zhang & Bansal 2021: README, Tables 1, 2 and 4). What cannot be
computed with the data and models at hand is named, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.errors import LitepyramidError
from litepyramid.io.datasets import Dataset, load_dataset
from litepyramid.io.scores import read_scores
from litepyramid.io.units import read_units
from litepyramid.meta.kernels import Coefficient
from litepyramid.meta.levels import Level, level_correlation
from litepyramid.presence.judge import Judge
from litepyramid.presence.modes import MODES, presence
from litepyramid.pyramid import UnitLayout, lite_pyramid_scores
from litepyramid.report.table import Cell, Column, Table
from litepyramid.types import InputUnits, ScoreTable, Signature
from litepyramid.validation.crossval import cross_validate, validate
from litepyramid.validation.folds import LabelledItems, make_folds

SETS = ("TAC08", "TAC09", "REALSumm", "PyrXSum")
FOLDERS = {"TAC08": "tac08", "TAC09": "tac09", "REALSumm": "realsumm", "PyrXSum": "pyrxsum"}
ZERO_SHOT = "ynie/roberta-large-snli_mnli_fever_anli_R1_R2_R3-nli"
HALF_MIX = "STUs_SCUs_percentage50.txt"

#: Metrics of REALSumm's published score table; ZB21 reports recall where a metric has it.
METRICS = {
    "ROUGE-1": "rouge_1_recall",
    "ROUGE-2": "rouge_2_recall",
    "ROUGE-L": "rouge_l_recall",
    "BertScore": "bert_recall_score",
    "MoverScore": "mover_score",
}

# Columns: system level r, rho for each set in the order of SETS, then summary level likewise.
_TABLE_1 = """
ROUGE-1|.87 .87 .91 .86 .82 .83 .92 .90 .62 .61 .69 .63 .53 .50 .52 .50
ROUGE-2|.90 .90 .92 .90 .84 .82 .93 .91 .63 .62 .71 .64 .46 .43 .53 .51
ROUGE-L|.87 .86 .93 .87 .83 .81 .94 .92 .57 .55 .66 .59 .46 .42 .52 .51
AutoSummENG|.90 .89 .91 .89 .53 .51 .92 .91 .65 .64 .71 .64 .34 .34 .56 .53
METEOR|.90 .89 .93 .88 .84 .84 .94 .89 .65 .64 .73 .68 .54 .49 .58 .56
BEwT-E|.92 .91 .95 .92 .83 .84 .93 .86 .66 .65 .75 .68 .47 .45 .54 .52
S3 pyr|.90 .89 .95 .89 .86 .85 .94 .89 .66 .65 .75 .68 .54 .50 .57 .54
S3 resp|.91 .91 .94 .90 .86 .86 .94 .90 .67 .65 .74 .68 .52 .48 .57 .54
PyrEval qual|.83 .81 .88 .80 - - - - .40 .39 .49 .44 - - - -
PyrEval comp|.83 .80 .90 .79 - - - - .41 .40 .53 .45 - - - -
BertScore|.88 .87 .90 .90 .73 .77 .92 .89 .61 .60 .70 .65 .48 .46 .57 .54
BertScore (idf)|.89 .88 .91 .90 .73 .78 .93 .90 .62 .61 .71 .66 .48 .46 .58 .55
MoverScore|.91 .89 .95 .90 .40 .31 .92 .91 .64 .63 .73 .68 .39 .36 .57 .54
QAEval EM|.83 .81 .85 .83 .61 .51 .86 .85 .48 .48 .64 .55 .28 .27 .29 .27
QAEval F1|.89 .87 .90 .87 .72 .65 .90 .83 .61 .60 .70 .63 .38 .35 .46 .42
Lite3|.93 .91 .97 .93 .89 .87 .89 .86 .71 .69 .78 .73 .57 .53 .51 .48
Lite2.5|.95 .93 .97 .94 .90 .88 .92 .87 .76 .75 .82 .77 .62 .57 .64 .59
Lite2|.95 .93 .97 .94 .89 .86 .95 .92 .77 .76 .83 .78 .64 .60 .74 .66
Lite2-0|.86 .83 .95 .88 .86 .82 .96 .92 .62 .61 .74 .68 .56 .53 .73 .72
"""
_TABLE_4 = """
ROUGE-1|.92 .92 .93 .88 .76 .66 1.0 1.0 .61 .59 .66 .60 .47 .43 .30 .30
ROUGE-2|.96 .96 .97 .93 .82 .82 1.0 1.0 .63 .60 .67 .61 .43 .41 .30 .30
ROUGE-L|.93 .91 .95 .90 .82 .84 1.0 1.0 .56 .53 .62 .57 .40 .36 .29 .29
AutoSummENG|.94 .89 .96 .91 .51 .40 .60 .60 .64 .62 .68 .62 .33 .32 .07 .07
METEOR|.94 .93 .95 .88 .81 .76 .60 .60 .65 .62 .70 .65 .49 .46 .26 .26
BEwT-E|.96 .94 .98 .93 .82 .72 .60 .60 .65 .62 .72 .66 .43 .40 .28 .28
S3 pyr|.95 .93 .95 .89 .81 .78 1.0 1.0 .66 .63 .71 .65 .49 .45 .24 .24
S3 resp|.96 .94 .96 .90 .82 .82 1.0 1.0 .66 .64 .71 .65 .48 .44 .22 .22
PyrEval qual|.91 .88 .91 .84 - - - - .40 .38 .46 .42 - - - -
PyrEval comp|.90 .87 .93 .80 - - - - .41 .39 .49 .44 - - - -
BertScore|.91 .89 .98 .89 .69 .68 .60 .60 .61 .58 .67 .62 .43 .40 .12 .12
BertScore (idf)|.93 .90 .97 .89 .70 .68 .60 .60 .61 .58 .68 .63 .44 .41 .10 .10
MoverScore|.95 .92 .96 .90 .47 .46 .20 .20 .64 .61 .71 .65 .37 .34 .14 .14
QAEval EM|.94 .90 .97 .92 .83 .70 .60 .60 .48 .47 .58 .53 .22 .20 .46 .46
QAEval F1|.97 .93 .98 .95 .86 .78 .20 .20 .61 .58 .66 .60 .31 .29 .42 .42
Lite3|.98 .95 .99 .97 .78 .76 .20 .20 .74 .71 .78 .73 .49 .47 .48 .48
Lite2.5|.99 .96 .99 .97 .71 .70 .60 .60 .84 .81 .86 .82 .53 .51 .53 .53
Lite2|.99 .98 .99 .98 .74 .72 1.0 1.0 .87 .84 .88 .84 .56 .52 .66 .66
Lite2-0|.88 .85 .97 .90 .73 .72 1.0 1.0 .62 .60 .71 .66 .48 .47 .63 .63
"""
# Columns: TAC09, REALSumm, PyrXSum; the name of a Lite row ends with what was trained on.
_TABLE_2 = """
ROUGE-1|.93 .89 .91 .92 .98 .96 .69 .63 .53 .50 .52 .50
ROUGE-2|.94 .95 .96 .95 .99 .95 .71 .64 .46 .43 .53 .51
ROUGE-L|.96 .92 .94 .95 .99 .95 .66 .59 .46 .42 .52 .51
AutoSummENG|.93 .93 .59 .60 .97 .94 .71 .64 .34 .34 .56 .53
METEOR|.95 .91 .94 .92 .99 .98 .73 .68 .54 .49 .58 .56
BEwT-E|.97 .96 .91 .89 .99 .98 .75 .68 .47 .45 .54 .52
S3 pyr|.97 .92 .96 .94 .99 .99 .75 .67 .54 .50 .57 .54
S3 resp|.96 .94 .97 .95 .99 .98 .74 .68 .52 .48 .57 .54
PyrEval qual|.94 .90 - - - - .49 .44 - - - -
PyrEval comp|.95 .86 - - - - .53 .45 - - - -
BertScore|.92 .94 .79 .83 .97 .90 .70 .65 .48 .46 .57 .54
BertScore (idf)|.93 .95 .79 .83 .97 .90 .71 .66 .48 .46 .58 .55
MoverScore|.97 .92 .44 .32 .98 .84 .74 .68 .39 .36 .57 .54
QAEval EM|.88 .94 .88 .86 .95 .95 .64 .55 .28 .27 .29 .27
QAEval F1|.93 .95 .91 .89 .95 .84 .70 .63 .38 .35 .46 .43
Lite3 TAC08|.99 .97 .92 .93 .97 .90 .78 .72 .53 .48 .56 .53
Lite2.5 TAC08|.99 .97 .92 .92 .98 .95 .82 .77 .58 .54 .66 .61
Lite2 TAC08|.99 .98 .94 .95 .99 .99 .83 .78 .61 .57 .71 .66
Lite3 TAC08+TAC09|- - .94 .95 .97 .88 - - .52 .49 .56 .53
Lite2.5 TAC08+TAC09|- - .93 .95 .97 .96 - - .57 .53 .66 .60
Lite2 TAC08+TAC09|- - .94 .95 .99 .98 - - .59 .56 .71 .65
Lite3 TAC08+TAC09+REALSumm|- - - - .97 .88 - - - - .50 .44
Lite2.5 TAC08+TAC09+REALSumm|- - - - .98 .94 - - - - .60 .55
Lite2 TAC08+TAC09+REALSumm|- - - - .99 .94 - - - - .70 .64
"""
_README = {
    ("REALSumm", "abs_bart_out"): {
        "human": {"human": 0.48349483849483854},
        "SCUs": {"p2c": 0.50144, "l2c": 0.51597, "p3c": 0.43105, "l3c": 0.49641},
        "STUs": {"p2c": 0.45353, "l2c": 0.48114, "p3c": 0.38368, "l3c": 0.45765},
        "half": {"p2c": 0.47895, "l2c": 0.49904, "p3c": 0.40795, "l3c": 0.47839},
    },
    ("PyrXSum", "t5-large"): {
        "human": {"human": 0.29117532467532464},
        "SCUs": {"p2c": 0.35420, "l2c": 0.37358, "p3c": 0.27957, "l3c": 0.32770},
    },
}
_TRAINED = {
    "TAC08": "shiyue/roberta-large-tac08",
    "TAC08+TAC09": "shiyue/roberta-large-tac08-tac09",
}
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
        where: README, Table 1, Table 2 or Table 4.
        data_set: REALSumm …
        row: The metric as the paper calls it, or what the README scored.
        kind: ``system_pearson`` …, or the mode of a README score.
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
class Reproduction:
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
            f"ZB21: {len(run)} of {len(self.numbers)} published numbers could be run",
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
            "signature": self.signature.to_dict(),
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
        All numbers of the README and Tables 1, 2 and 4, in that order.
    """
    run = _Run(Path(data), make)
    numbers = [
        *_readme(run),
        *_table(run, "Table 1", _TABLE_1, SETS, "examples"),
        *_table(run, "Table 2", _TABLE_2, SETS[1:], None),
        *_table(run, "Table 4", _TABLE_4, SETS, "systems"),
    ]
    return Reproduction(tuple(numbers), Signature.of(constant="zb21"))


def _readme(run: _Run) -> Iterator[Number]:
    for (name, system), rows in _README.items():
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


def _human(dataset: Dataset, system: str) -> float:
    layout = UnitLayout.of(dataset.scus)
    own = [entry for entry in dataset.labels if entry.system == system]
    return float(lite_pyramid_scores(layout.flatten(own), layout)[0].mean())


def _readme_scores(run: _Run, dataset: Dataset, system: str, row: str) -> Mapping[str, float] | str:
    units = _units(run, dataset, {"SCUs": "Lite2", "STUs": "Lite3", "half": "Lite2.5"}[row])
    judge = run.judge(_TRAINED["TAC08"])
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
    return read_units(path, [entry.input for entry in dataset.scus])


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
            _Ready(ready),
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


@dataclass(frozen=True, slots=True)
class _Ready:
    """Judges that are there, one a fold."""

    judges: Sequence[Judge]

    def train(self, data: LabelledItems, fold: int) -> Judge:
        """The fold's judge."""
        return self.judges[fold - 1]


def _out_of_the_box(run: _Run, row: str, dataset: Dataset) -> Mapping[str, float] | str:
    kind, _, trained_on = row.partition(" ")
    if trained_on not in _TRAINED:
        return f"the authors released no checkpoint of {trained_on}"
    units, judge = _units(run, dataset, kind), run.judge(_TRAINED[trained_on])
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
