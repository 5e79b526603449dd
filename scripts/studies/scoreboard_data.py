"""The data sets of the scoreboard: summaries that people scored, and pairs that they labelled."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import litepyramid as lp
from litepyramid.judges.labelled import labelled_summaries, load_contrast

PAIRS = {
    "FEVER": "presence/fever_nli.dev.jsonl.gz",
    "ConjNLI": "presence/conjnli.dev.jsonl.gz",
    "FactCC": "presence/factcc_manual.dev.jsonl.gz",
    "MED": "presence/med.dev.jsonl.gz",
    "Q2": "presence/q2_wow.dev.jsonl.gz",
}


@dataclass(frozen=True)
class SummarySet:
    """Summaries of N systems on M inputs with people's scores.

    Attributes:
        summaries: N rows of M texts.
        references: The references of each input: texts, or lists of sentences where
            these are marked.
        units: People's units of each input.
        human: (N, M) people's scores.
        labels: N rows of M arrays, people's label of each unit; None where only their
            scores are published.
    """

    name: str
    systems: tuple[str, ...]
    inputs: tuple[str, ...]
    summaries: Sequence[Sequence[str]]
    references: Sequence[Sequence[str | list[str]]]
    units: Sequence[Sequence[str]]
    human: np.ndarray
    labels: Sequence[Sequence[np.ndarray]] | None = None

    def of(self, name: str, inputs: Sequence[str]) -> SummarySet:
        """The same of some inputs."""
        chosen = [self.inputs.index(one) for one in inputs]

        def taken(row: Sequence[Any]) -> list[Any]:
            return [row[m] for m in chosen]

        return replace(
            self,
            name=name,
            inputs=tuple(inputs),
            summaries=[taken(row) for row in self.summaries],
            references=taken(self.references),
            units=taken(self.units),
            human=self.human[:, chosen],
            labels=None if self.labels is None else [taken(row) for row in self.labels],
        )

    @cached_property
    def copied(self) -> np.ndarray:
        """(N, M) share of a summary's words that stand in runs of three that the references have."""
        values = np.zeros(self.human.shape)
        for m, references in enumerate(self.references):
            runs = set()
            for one in references:
                runs |= set(triples(one if isinstance(one, str) else " ".join(one)))
            for n, row in enumerate(self.summaries):
                values[n, m] = share_in(runs, row[m])
        return values

    @cached_property
    def lengths(self) -> np.ndarray:
        """(N, M) hundreds of words of each summary."""
        rows = [[len(text.split()) for text in row] for row in self.summaries]
        return np.array(rows) / 100


@dataclass(frozen=True)
class PairSet:
    """Labelled pairs: (premise, hypotheses) items, and a label of each hypothesis."""

    name: str
    items: list[tuple[str, list[str]]]
    labels: np.ndarray


def words(text: str) -> list[str]:
    return [word.strip(".,;:!?\"'()`").lower() for word in text.split()]


def triples(text: str) -> Iterator[tuple[str, ...]]:
    listed = [word for word in words(text) if word]
    return zip(listed, listed[1:], listed[2:], strict=False)


def share_in(runs: set[tuple[str, ...]], text: str) -> float:
    """The share of a text's words that stand in one of the runs."""
    listed = [*triples(text)]
    inside = np.zeros(len(listed) + 2, dtype=bool)
    for place, run in enumerate(listed):
        if run in runs:
            inside[place : place + 3] = True
    return float(inside.mean())


def realsumm(root: Path) -> SummarySet:
    """REALSumm in the authors' layout: 25 systems, 100 inputs, people's SCUs and labels."""
    return in_layout(root / "realsumm", "REALSumm")


def fold_5(whole: SummarySet, root: Path) -> SummarySet:
    """The part of REALSumm that the embedded encoder has not been trained on."""
    listed = (root / "realsumm/by_examples/fold5.id").read_text("utf-8").split()
    return whole.of("REALSumm, fold 5", [one for one in whole.inputs if one in listed])


def rose(root: Path) -> SummarySet:
    """RoSE's part: 12 systems, 52 inputs, people's units and the share that they found."""
    with gzip.open(root / "rose_systems/rose.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]

    by_key = {(row["system"], row["input"]): row for row in rows}
    systems = sorted({system for system, _ in by_key})
    inputs = sorted({name for _, name in by_key})
    first = [by_key[systems[0], name] for name in inputs]
    return SummarySet(
        "RoSE",
        tuple(systems),
        tuple(inputs),
        [[by_key[s, name]["summary"] for name in inputs] for s in systems],
        [[row["reference"]] for row in first],
        [row["units"] for row in first],
        np.array([[by_key[s, name]["human"] for name in inputs] for s in systems]),
    )


def in_layout(folder: Path, name: str = "") -> SummarySet:
    """A data set of one's own: a folder that `litepyramid.load` reads, or one with the
    files or folders summaries, references, units, and labels or human (system, input,
    human)."""
    parts = {path.name.split(".")[0]: path for path in sorted(folder.iterdir())}
    if "units" in parts:
        sources = {
            key: parts[key]
            for key in ("summaries", "references", "labels")
            if key in parts
        }
        data = lp.load(sources.pop("summaries", None), parts["units"], **sources)
    else:
        data = lp.load(folder)

    human = labels = None
    if data.labels is not None:
        whole = data.labels.of_systems(data.systems)
        labels = []
        for row in whole.values:
            labels.append([*whole.units.split(row).values()])
        human = np.array([[row.mean() for row in of_system] for of_system in labels])
    else:
        table = lp.read_scores(parts["human"])
        human = table.take(data.systems, data.inputs)["human"]

    references = []
    for entry in data.references or ():
        ways = zip(entry.references, entry.marked, strict=True)
        references.append(
            [list(one) if marked else " ".join(one) for one, marked in ways]
        )
    return SummarySet(
        name or folder.name,
        data.systems,
        data.inputs,
        data.summaries.texts,
        references,
        [entry.texts for entry in data.units],
        human,
        labels,
    )


def contrast() -> PairSet:
    """The contrast set that ships."""
    pairs = [*labelled_summaries(load_contrast("en"))]
    items = [(pair.text, list(pair.units.texts)) for pair in pairs]
    return PairSet("contrast", items, np.concatenate([pair.labels for pair in pairs]))


def pairs_of(path: Path, name: str = "") -> PairSet:
    """A file of premise, hypothesis and present, or a label that begins with e for entailment."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]

    items = [(row["premise"], [row["hypothesis"]]) for row in rows]
    labels = []
    for row in rows:
        label = row["present"] if "present" in row else row["label"].startswith("e")
        labels.append(float(label))
    return PairSet(name or path.name.split(".")[0], items, np.array(labels))


def nli_wiki(root: Path) -> PairSet:
    """The test parts of nli_wiki."""
    several = [
        pairs_of(path) for path in sorted((root / "nli_wiki").glob("*.test.jsonl"))
    ]
    items = [item for one in several for item in one.items]
    return PairSet("nli_wiki", items, np.concatenate([one.labels for one in several]))
