"""Labelled pairs: from data sets of units, or from files of premises and hypotheses."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.checked import as_type
from litepyramid.errors import InputError
from litepyramid.files import file_type
from litepyramid.io.dataset import Dataset
from litepyramid.io.rows import read_rows
from litepyramid.judges.evaluate import labelled
from litepyramid.judges.nli.encode import Pair, PairEncoder
from litepyramid.judges.nli.torch_backend import as_tokenizer
from litepyramid.text import one_line
from litepyramid.training.folds import LabelledItems, labelled_items
from litepyramid.training.settings import Head

NLI_CLASSES = {"e": 0, "entailment": 0, "n": 1, "neutral": 1, "c": 2, "contradiction": 2}


@dataclass(frozen=True, slots=True)
class TrainingPairs:
    """The training pairs of a run.

    Attributes:
        pairs: (premise, hypothesis): summary and unit.
        labels: Presence and two-class heads: 0 absent, 1 present; three-class head
            0 entailment, 1 neutral, 2 contradiction. A number between two stands for shares of
            both (a soft label).
    """

    pairs: tuple[Pair, ...]
    labels: tuple[float, ...]

    def digest(self) -> str:
        """SHA-256 of all pairs and labels in their order: which data this was."""
        total = hashlib.sha256()
        for pair, label in zip(self.pairs, self.labels, strict=True):
            total.update(json.dumps([*pair, label], ensure_ascii=False).encode() + b"\n")
        return total.hexdigest()

    def weighted(self, weight: float, rng: np.random.Generator) -> TrainingPairs:
        """As many passes over the pairs as the weight says; of the last one a random part."""
        whole, part = divmod(weight * len(self.pairs), max(1, len(self.pairs)))
        chosen = [*range(len(self.pairs))] * int(whole)
        chosen += sorted(rng.permutation(len(self.pairs))[: round(part)].tolist())
        if weight == 1:
            return self
        return TrainingPairs(
            tuple(self.pairs[i] for i in chosen), tuple(self.labels[i] for i in chosen)
        )


def join_pairs(several: Iterable[TrainingPairs]) -> TrainingPairs:
    """Several sets of pairs as one, in that order."""
    sets = list(several)
    return TrainingPairs(
        tuple(pair for one in sets for pair in one.pairs),
        tuple(label for one in sets for label in one.labels),
    )


@dataclass(frozen=True, slots=True)
class Source:
    """A data set, or a file of pairs, and how often it goes into one pass of the mixture."""

    data: Dataset | Path
    weight: float = 1.0

    @property
    def name(self) -> str:
        """What it is called in the card and in tables."""
        return self.data.name

    def pairs(self, head: Head) -> TrainingPairs:
        """All of its pairs."""
        if isinstance(self.data, Path):
            return read_pairs(self.data, head)
        return presence_pairs(labelled_items(self.data), head)


def as_source(value: Any) -> Source:
    """A source from a data set, a path, ``PATH=WEIGHT``, or either with its weight.

    Example:
        >>> as_source(("pairs.jsonl", 0.5)).weight, as_source("pairs.jsonl=2").data.name
        (0.5, 'pairs.jsonl')
    """
    weight = 1.0
    if isinstance(value, tuple | list) and len(value) == 2:
        value, weight = value
    elif isinstance(value, str) and file_type(value) is None:
        path, equals, number = value.rpartition("=")
        if equals and number.replace(".", "", 1).isdigit():
            value, weight = path, float(number)
    if not isinstance(weight, int | float) or not 0 < weight <= 1000:
        raise InputError(f"the weight {weight!r}", expected="a number above 0, such as 0.5")
    if isinstance(value, str | Path) and file_type(value) != "folder":
        path, _, inside = str(value).partition("=")
        return Source(labelled(value) if inside and path.isalnum() else Path(value), weight)
    return Source(labelled(value), weight)


def presence_pairs(data: LabelledItems, head: Head = "presence") -> TrainingPairs:
    """Labelled items as pairs; for the three-class head "absent" counts as neutral.

    Empty summaries carry no unit, whatever the model; they are left out. Tabs and line breaks are
    read as a space, as the NLI judge does.

    Example:
        >>> data = LabelledItems((("A dog.", ("Dog.", "Cat.")),), ((1, 0),))
        >>> presence_pairs(data).labels, presence_pairs(data, "three-class").labels
        ((1, 0), (0, 1))
    """
    pairs: list[Pair] = []
    labels: list[float] = []
    for (summary, units), row in zip(data.items, data.labels, strict=True):
        if summary.strip():
            pairs += [(one_line(summary), one_line(unit)) for unit in units]
            labels += [1 - label if head == "three-class" else label for label in row]
    return TrainingPairs(tuple(pairs), tuple(labels))


@dataclass(frozen=True, slots=True)
class _PairRow:
    premise: str
    hypothesis: str
    label: str | None = None
    present: float | bool | str | None = None


def read_pairs(path: str | Path, head: Head = "presence") -> TrainingPairs:
    """Reads JSON Lines or a table with ``premise``, ``hypothesis``, and ``present`` or ``label``.

    `present` is a number from 0 to 1 (soft labels) or true or false; `label` e, n, c or the full
    word. For the heads of two classes entailment is present and the rest absent; for that of
    three, what is absent is neutral.

    Raises:
        InputError: A line lacks a text or has another label, with file and line.
    """
    pairs: list[Pair] = []
    labels: list[float] = []
    for line, values, _ in read_rows(path).rows:
        row = as_type(_PairRow, values, what="no labelled pair", path=path, line=line)
        pairs.append((one_line(row.premise).strip(), one_line(row.hypothesis).strip()))
        if row.label is not None:
            code = NLI_CLASSES.get(row.label.lower())
            if code is None:
                raise InputError(
                    f"label '{row.label}'",
                    path=path,
                    line=line,
                    expected="e, n or c, or the full word",
                )
            labels.append(code if head == "three-class" else int(code == 0))
            continue
        try:
            present = float(-1 if row.present is None else row.present)
        except ValueError:
            present = -1
        if not 0 <= present <= 1:
            raise InputError(
                f"present is {row.present!r}", path=path, line=line, expected="a number, 0 to 1"
            )
        present = int(present) if present in (0, 1) else present
        labels.append(1 - present if head == "three-class" else present)
    if not pairs:
        raise InputError("no pairs", path=path)
    return TrainingPairs(tuple(pairs), tuple(labels))


@dataclass(frozen=True, slots=True)
class HeldOut:
    """The held-out inputs of one data set."""

    dataset: Dataset
    inputs: tuple[str, ...]


def split_dataset(
    dataset: Dataset, share: float, rng: np.random.Generator
) -> tuple[LabelledItems, HeldOut | None]:
    """Keeps a random share of a data set's inputs away from training.

    At least two inputs are kept if the share is above 0 and the data set has four or more, so
    that there is something to correlate; a smaller data set is trained on whole. The order of the
    inputs does not change which.
    """
    names = sorted(dataset.inputs)
    number = 0
    if share > 0 and len(names) >= 4:
        number = min(max(2, round(share * len(names))), len(names) - 2)
    away = {names[i] for i in rng.permutation(len(names))[:number].tolist()}
    train = labelled_items(dataset, [name for name in dataset.inputs if name not in away])
    held = tuple(name for name in dataset.inputs if name in away)
    return train, HeldOut(dataset, held) if held else None


def encode_pairs(
    tokenizer: Any, data: TrainingPairs, max_length: int, classes: int = 2
) -> list[dict[str, Any]]:
    """Token ids of every pair, the summary cut where a pair is too long, with its label.

    Where some label is soft, labels are shares of the classes.

    Raises:
        InputError: A unit alone is longer than the maximum.
    """
    ours = as_tokenizer(tokenizer)
    encoder = PairEncoder(ours, max_length, data.pairs)
    soft = any(label % 1 for label in data.labels)
    rows: list[dict[str, Any]] = []
    for index, label in enumerate(data.labels):
        ids, types = encoder.pair(index)
        row = {"input_ids": ids, "labels": class_shares(label, classes) if soft else int(label)}
        rows.append({**row, "token_type_ids": types} if ours.typed else row)
    return rows


def class_shares(label: float, classes: int) -> list[float]:
    """How much of each class a label is: .5 lies halfway between the classes 0 and 1.

    Example:
        >>> class_shares(0.5, 3), class_shares(1, 2)
        ([0.5, 0.5, 0.0], [0.0, 1.0])
    """
    return [max(0.0, 1.0 - abs(label - c)) for c in range(classes)]


def balanced_weights(labels: Sequence[float], classes: int) -> list[float]:
    """n / (classes · n_class) for each class that occurs, 0 for one that does not.

    Example:
        >>> balanced_weights([0, 0, 0, 1], 2)
        [0.6666666666666666, 2.0]
    """
    shares = [class_shares(label, classes) for label in labels]
    counts = [sum(row[c] for row in shares) for c in range(classes)]
    return [len(labels) / (classes * n) if n else 0.0 for n in counts]
