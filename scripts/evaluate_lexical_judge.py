"""Measures the embedded lexical judge against plain recall.

First the authors' five folds of REALSumm: for each fold, weights and document frequencies come from
the other four alone. Then what REALSumm does not show: lower-cased texts, summaries cut to one
sentence, and Wikipedia sentences labelled for entailment, which the judge was never fitted to.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.files import read_jsonl, read_lines
from litepyramid.io.dataset import Dataset
from litepyramid.io.datasets import load_dataset
from litepyramid.judges.base import Judge
from litepyramid.judges.calibration import brier_score, roc_auc
from litepyramid.judges.lexical.judge import LexicalJudge, fit_lexical
from litepyramid.judges.lexical.model import RIDGE, Frequencies
from litepyramid.judges.lexical.recall import RecallJudge
from litepyramid.tables import Column, Table, emit
from litepyramid.training.crossval import cross_validate
from litepyramid.training.folds import LabelledItems, labelled_items, make_folds

ROOT = Path(__file__).resolve().parents[1]
Items = Sequence[tuple[str, Sequence[str]]]
Labels = Sequence[Sequence[int]]


@dataclass(frozen=True)
class FoldTrainer:
    """Fits to a fold's training part, with frequencies of the training documents alone."""

    frequencies: Sequence[Frequencies]
    ridge: float

    def train(self, data: LabelledItems, fold: int) -> Judge:
        return LexicalJudge(
            fit_lexical(
                data.items, data.labels, frequencies=self.frequencies[fold - 1], ridge=self.ridge
            )
        )


@dataclass(frozen=True)
class Report:
    """Tables as a result that can be shown."""

    tables: Sequence[Table]

    def to_tables(self) -> Sequence[Table]:
        return self.tables

    def to_json(self) -> dict[str, Any]:
        return {table.title: [list(row) for row in table.rows] for table in self.tables}


def one_sentence(summary: str, units: Sequence[str], *, best: bool) -> str:
    """The first sentence, or the first of those that hold most of the units' words."""
    sentences = [s for s in re.split(r"(?<=[.!?])\s+", summary) if s.strip()] or [""]
    if not best:
        return sentences[0]
    held = RecallJudge().judge([(s, units) for s in sentences]).presence
    return sentences[int(np.argmax([values.sum() for values in held]))]


def cut(items: Items, labels: Labels, *, best: bool) -> tuple[Items, Labels]:
    """Summaries cut to one sentence.

    A unit that was absent still is. One that was present is kept, as present, only if the sentence
    holds as many of its words as the whole summary did; the others are left out.
    """
    shorter, kept = [], []
    whole = RecallJudge().judge(items).presence
    texts = [one_sentence(summary, units, best=best) for summary, units in items]
    part = RecallJudge().judge([(t, i[1]) for t, i in zip(texts, items, strict=True)]).presence
    for text, (_, units), row, before, after in zip(texts, items, labels, whole, part, strict=True):
        known = [k for k, label in enumerate(row) if not label or after[k] >= before[k] - 1e-9]
        shorter.append((text, [units[k] for k in known]))
        kept.append([row[k] for k in known])
    return shorter, kept


def quality(judge: Judge, items: Items, labels: Labels) -> tuple[float, float, float, int]:
    presence = np.concatenate(judge.judge(items).presence)
    truth = np.concatenate([np.asarray(row) for row in labels])
    return roc_auc(presence, truth), brier_score(presence, truth), truth.mean(), len(truth)


def checks(data: Path, dataset: Dataset, trainer: FoldTrainer) -> Table:
    """AUC and Brier where the texts are not REALSumm's; its own parts are held out by fold."""
    rows = []
    by_view: dict[str, list[tuple[float, ...]]] = {}
    for fold in make_folds(dataset, "examples"):
        judge = trainer.train(labelled_items(dataset, fold.train_inputs), fold.number)
        held = labelled_items(dataset, fold.inputs)
        lowered = [(s.lower(), [u.lower() for u in units]) for s, units in held.items]
        for name, items, labels in (
            ("REALSumm, lower-cased", lowered, held.labels),
            ("REALSumm, best sentence", *cut(held.items, held.labels, best=True)),
            ("REALSumm, first sentence", *cut(held.items, held.labels, best=False)),
        ):
            by_view.setdefault(name, []).append(
                (*quality(judge, items, labels), *quality(RecallJudge(), items, labels))
            )
    for name, values in by_view.items():
        means = np.mean(values, axis=0)
        pairs = sum(int(v[3]) for v in values)
        rows.append((name, pairs, means[2], means[0], means[4], means[1], means[5]))
    everything = labelled_items(dataset)
    judge = LexicalJudge(
        fit_lexical(
            everything.items,
            everything.labels,
            frequencies=trainer.frequencies[-1],
            ridge=trainer.ridge,
        )
    )
    for path in sorted((data / "nli_wiki").glob("*.jsonl")):
        pairs_read = [row for _, row in read_jsonl(path) if row["label"] in ("e", "n", "c")]
        wiki = [(row["premise"], [row["hypothesis"]]) for row in pairs_read]
        entailed = [[int(row["label"] == "e")] for row in pairs_read]
        own = quality(judge, wiki, entailed)
        plain = quality(RecallJudge(), wiki, entailed)
        name = "nli_wiki, " + path.stem.replace("_wiki.", " ")
        rows.append((name, own[3], own[2], own[0], plain[0], own[1], plain[1]))
    return Table(
        "Beyond REALSumm: lexical judge and plain recall",
        (
            Column("texts"),
            Column("pairs"),
            Column("present", digits=2),
            Column("auc", "AUC"),
            Column("auc_recall", "recall"),
            Column("brier", "Brier"),
            Column("brier_recall", "recall"),
        ),
        tuple(rows),
        ("present = share labelled present (entailed)",),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(os.environ.get("LITEPYRAMID_DATA", ROOT.parent / "shared" / "data")),
    )
    parser.add_argument("--ridge", type=float, default=RIDGE)
    options = parser.parse_args()

    dataset = load_dataset("realsumm", options.data / "realsumm")
    documents = dict(
        zip(dataset.inputs, read_lines(options.data / "realsumm" / "documents.txt"), strict=True)
    )
    seen = [fold.train_inputs for fold in make_folds(dataset, "examples")] + [dataset.inputs]
    trainer = FoldTrainer(
        [Frequencies.count(documents[name] for name in names) for names in seen], options.ridge
    )
    result = cross_validate(dataset, trainer, baselines={"recall": RecallJudge()})
    rows = []
    for judge in ("trained", "recall"):
        pearson = result.mean(judge, "lite2", "summary", "pearson")
        found = (result.quality_mean(judge, "auc"), result.quality_mean(judge, "brier"), pearson)
        rows.append((judge, *(value.mean for value in found)))
    columns = (
        Column("judge"),
        Column("auc", "presence AUC", digits=4),
        Column("brier", "Brier", digits=4),
        Column("pearson", "Lite2 summary-level r", digits=4),
    )
    title = "REALSumm by examples, means over the authors' five folds"
    folds = Table(title, columns, tuple(rows), (str(result.signature),))
    emit(Report((folds, checks(options.data, dataset, trainer))))


if __name__ == "__main__":
    main()
