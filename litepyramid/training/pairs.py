"""Labelled pairs: from data sets of units, or from files of premises and hypotheses."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.checked import check_shape
from litepyramid.errors import InputError
from litepyramid.io.dataset import Dataset
from litepyramid.io.rows import read_rows
from litepyramid.judges.nli.encode import Pair, PairEncoder
from litepyramid.text import one_line
from litepyramid.training.folds import LabelledItems, labelled_items
from litepyramid.training.loss import class_shares
from litepyramid.training.settings import Head

NLI_CLASSES = {"e": 0, "entailment": 0, "n": 1, "neutral": 1, "c": 2, "contradiction": 2}


@dataclass(frozen=True, slots=True)
class TrainingPairs:
    """The training pairs of a run.

    Attributes:
        pairs: (premise, hypothesis): summary and unit.
        labels: Presence and two-class heads: 0 absent, 1 present; three-class head
            0 entailment, 1 neutral, 2 contradiction.
    """

    pairs: tuple[Pair, ...]
    labels: tuple[float, ...]

    def digest(self) -> str:
        """SHA-256 of all pairs and labels in their order: which data this was."""
        total = hashlib.sha256()
        for pair, label in zip(self.pairs, self.labels, strict=True):
            total.update(json.dumps([*pair, label], ensure_ascii=False).encode() + b"\n")
        return total.hexdigest()


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


def read_nli(paths: Sequence[str | Path], head: Head = "three-class") -> TrainingPairs:
    """Reads NLI data: JSON Lines or a table with ``premise``, ``hypothesis`` and ``label``.

    A label is e, n, c or the full word. For the heads of two classes entailment is present and
    the rest absent.

    Raises:
        InputError: A line lacks a text or has another label, with file and line.
    """
    pairs: list[Pair] = []
    labels: list[float] = []
    for path in paths:
        for line, row, _ in read_rows(path).rows:
            shape = {"premise": str, "hypothesis": str, "label": str}
            check_shape(row, shape, what="no NLI pair", path=path, line=line)
            label = NLI_CLASSES.get(row["label"].lower())
            if label is None:
                raise InputError(
                    f"label '{row['label']}'",
                    path=path,
                    line=line,
                    expected="e, n or c, or the full word",
                )
            texts = [one_line(row[name]).strip() for name in ("premise", "hypothesis")]
            pairs.append((texts[0], texts[1]))
            labels.append(label if head == "three-class" else int(label == 0))
    return TrainingPairs(tuple(pairs), tuple(labels))


@dataclass(frozen=True, slots=True)
class HeldOut:
    """The held-out inputs of one data set."""

    dataset: Dataset
    inputs: tuple[str, ...]


def split_datasets(
    datasets: Sequence[Dataset], share: float, seed: int
) -> tuple[list[LabelledItems], list[HeldOut]]:
    """Keeps a seeded random share of each data set's inputs away from training.

    At least two inputs are kept if the share is above 0 and the data set has four or more, so
    that there is something to correlate; a smaller data set is trained on whole.

    Example:
        >>> from litepyramid.training.folds import labelled_items
        >>> split_datasets([], 0.1, 0)
        ([], [])
    """
    rng = np.random.default_rng(seed)
    train: list[LabelledItems] = []
    held: list[HeldOut] = []
    for dataset in datasets:
        number = 0
        if share > 0 and len(dataset.inputs) >= 4:
            number = min(max(2, round(share * len(dataset.inputs))), len(dataset.inputs) - 2)
        kept = set(rng.permutation(len(dataset.inputs))[:number].tolist())
        train.append(
            labelled_items(dataset, [x for i, x in enumerate(dataset.inputs) if i not in kept])
        )
        if kept:
            inputs = tuple(x for i, x in enumerate(dataset.inputs) if i in kept)
            held.append(HeldOut(dataset, inputs))
    return train, held


def encode_pairs(
    tokenizer: Any, data: TrainingPairs, max_length: int, classes: int = 2
) -> list[dict[str, Any]]:
    """Token ids of every pair, the summary cut where a pair is too long, with its label.

    Where some label is .5, labels are shares of the classes (soft targets).

    Raises:
        InputError: A unit alone is longer than the maximum.
    """
    encoder = PairEncoder(tokenizer, max_length, data.pairs)
    soft = any(label % 1 for label in data.labels)
    rows: list[dict[str, Any]] = []
    for index, label in enumerate(data.labels):
        ids, types = encoder.pair(index)
        row = {"input_ids": ids, "labels": class_shares(label, classes) if soft else label}
        typed = "token_type_ids" in tokenizer.model_input_names
        rows.append({**row, "token_type_ids": types} if typed else row)
    return rows
