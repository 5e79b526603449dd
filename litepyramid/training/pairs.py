"""Labelled pairs: from data sets of units, or from files of premises and hypotheses."""

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np

from litepyramid.errors import InputError
from litepyramid.files import file_type
from litepyramid.io.dataset import Dataset
from litepyramid.judges.evaluate import (
    CONTRADICTION,
    NEUTRAL,
    cells_of,
    labelled,
    labelled_rows,
)
from litepyramid.judges.nli.asking import marked
from litepyramid.judges.nli.backends import as_tokenizer
from litepyramid.judges.nli.checkpoint import ClassOrder
from litepyramid.judges.nli.encode import Pair, encode
from litepyramid.text import counted, one_line
from litepyramid.types import Fields, FloatArray, Names

Head = Literal["auto", "presence", "two-class", "three-class"]


@dataclass(frozen=True)
class TrainingPairs:
    """What a judge learns from.

    Attributes:
        pairs: (premise, hypothesis): a summary, which is not empty, and a unit.
        labels: How present each unit is, from 0 to 1; where the NLI class of an absent
            one is known, `NEUTRAL` or `CONTRADICTION`.
    """

    pairs: tuple[Pair, ...]
    labels: tuple[float, ...]

    @classmethod
    def joined(cls, several: Iterable[Self]) -> Self:
        """Several sets of pairs as one, in that order."""
        sets = list(several)
        pairs = chain.from_iterable(one.pairs for one in sets)
        labels = chain.from_iterable(one.labels for one in sets)
        return cls(tuple(pairs), tuple(labels))

    def in_order(self) -> Self:
        """The same pairs by their texts: the order of data changes nothing that is
        learnt."""
        rows = [*zip(self.pairs, self.labels, strict=True)]
        return self.at(sorted(range(len(rows)), key=rows.__getitem__))

    def at(self, places: Iterable[int]) -> Self:
        """The pairs at some places, in that order."""
        chosen = list(places)
        return type(self)(
            tuple(self.pairs[i] for i in chosen), tuple(self.labels[i] for i in chosen)
        )

    def without(self, summaries: Iterable[str]) -> tuple[Self, Names]:
        """The pairs of no summary that is tested on, and a note on the others."""
        tested = {one_line(text).strip() for text in summaries}
        places = []
        for place, (premise, _) in enumerate(self.pairs):
            if one_line(premise).strip() not in tested:
                places.append(place)

        if not (shared := len(self.pairs) - len(places)):
            return self, ()
        are = counted(shared, "training pair is", "training pairs are")
        return self.at(places), (f"{are} of summaries tested on, so left out.",)

    def by_summary(self) -> tuple[list[tuple[str, Names]], list[list[float]]]:
        """(summary, units) items, and how present each of their units is, from 0 to
        1."""
        rows = zip(self.pairs, self.labels, strict=True)
        items = []
        labels = []
        for text, group in groupby(rows, key=lambda row: row[0][0]):
            pairs, of_units = zip(*group, strict=True)
            items.append((text, tuple(unit for _, unit in pairs)))
            # Neutral and contradiction are both absent.
            labels.append([0 if label > 1 else label for label in of_units])
        return items, labels

    def digest(self) -> str:
        """SHA-256 of all pairs and labels in their order: which data this was."""
        total = hashlib.sha256()
        for pair, label in zip(self.pairs, self.labels, strict=True):
            row = [*map(one_line, pair), label]
            total.update(json.dumps(row, ensure_ascii=False).encode() + b"\n")
        return total.hexdigest()

    def weighted(self, weight: float, rng: np.random.Generator) -> Self:
        """As many passes over the pairs as the weight says; of the last one a random
        part."""
        whole, part = divmod(weight * len(self.pairs), max(1, len(self.pairs)))
        chosen = [*range(len(self.pairs))] * int(whole)
        chosen += sorted(rng.permutation(len(self.pairs))[: round(part)].tolist())
        return self.at(chosen)


def labelled_pairs(
    dataset: Dataset,
    inputs: Sequence[str] | None = None,
    systems: Sequence[str] | None = None,
) -> TrainingPairs:
    """The labelled units of some inputs and systems (all by default), by their texts.

    Raises:
        InputError: None of their units has a label.
    """
    texts = cells_of(dataset.summaries, "texts")
    labels = cells_of(dataset.labels, "labels")
    pairs = []
    values = []

    for entry in dataset.label_units or dataset.scus:
        if inputs is not None and entry.input not in inputs:
            continue

        for system in dataset.systems if systems is None else systems:
            premise = texts[system, entry.input]
            row = labels.get((system, entry.input))
            if not (row and premise.strip()):
                continue

            for unit, label in zip(entry.texts, row, strict=True):
                if not math.isnan(label):
                    pairs.append((premise, unit))
                    values.append(label)

    if not pairs:
        raise InputError(f"no labelled unit of {dataset.name} to learn from")
    return TrainingPairs(tuple(pairs), tuple(values)).in_order()


@dataclass(frozen=True)
class Source:
    """A data set, or a file of pairs, and how often it goes into one pass of the
    mixture."""

    data: Dataset | Path
    weight: float = 1.0

    @property
    def name(self) -> str:
        """What it is called in the card and in tables."""
        return self.data.name

    def pairs(self) -> TrainingPairs:
        """All of its pairs."""
        if isinstance(self.data, Path):
            return read_pairs(self.data).in_order()
        return labelled_pairs(self.data)


def as_sources(value: Any) -> list[Source]:
    """One source or several: data sets, paths, ``PATH=WEIGHT``, or these with their
    weights."""
    listed = isinstance(value, list | tuple)
    weighted = listed and len(value) == 2 and isinstance(value[1], int | float)
    if isinstance(value, str | Path | Dataset) or weighted:
        return [as_source(value)]
    if not listed:
        raise InputError(
            f"{type(value).__name__} as data", expected="files, perhaps with weights"
        )
    return [as_source(one) for one in value]


def as_source(value: Any) -> Source:
    """A source from a data set, a path, ``PATH=WEIGHT``, or either with its weight."""
    weight = 1.0
    if isinstance(value, list | tuple) and len(value) == 2:
        value, weight = value
    elif isinstance(value, str) and file_type(value) is None:
        path, equals, number = value.rpartition("=")
        if equals and number.replace(".", "", 1).isdigit():
            value = path
            weight = float(number)

    if not isinstance(weight, int | float) or not 0 < weight <= 1000:
        raise InputError(
            f"the weight {weight!r}", expected="a number above 0, such as 0.5"
        )

    if isinstance(value, str | Path) and file_type(value) != "folder":
        return Source(Path(value), weight)
    return Source(labelled(value), weight)


def read_pairs(path: str | Path) -> TrainingPairs:
    """Reads a file of labelled pairs; its texts are learnt as judges read them, on one
    line."""
    pairs = []
    labels = []
    for _, premise, unit, label in labelled_rows(path):
        pairs.append((one_line(premise).strip(), one_line(unit).strip()))
        labels.append(label)
    return TrainingPairs(tuple(pairs), tuple(labels))


def split_dataset(
    dataset: Dataset, share: float, rng: np.random.Generator
) -> tuple[TrainingPairs, Names]:
    """Pairs to train on, and a random share of the inputs, kept away; the order changes
    nothing.

    At least two inputs are kept if the share is above 0 and the data set has four or
    more, so that there is something to correlate; a smaller data set is trained on
    whole.
    """
    # Of inputs that nobody labelled there is nothing to measure on.
    with_labels: set[str] = set()
    for own in dataset.labels:
        rows = zip(own.inputs, own.labels, strict=True)
        with_labels.update(name for name, row in rows if row)

    names = sorted(with_labels.intersection(dataset.inputs))
    number = 0
    # Two to correlate over, and at least two to learn from.
    if share > 0 and len(names) >= 4:
        number = min(max(2, round(share * len(names))), len(names) - 2)
    away = {names[i] for i in rng.permutation(len(names))[:number].tolist()}
    kept = [name for name in dataset.inputs if name not in away]
    held_out = tuple(name for name in dataset.inputs if name in away)
    return labelled_pairs(dataset, kept), held_out


def encode_pairs(
    tokenizer: Any,
    data: TrainingPairs,
    max_length: int,
    head: Head,
    match_from: int | None = None,
) -> list[Fields]:
    """Token ids of every pair, the summary cut where a pair is too long, with its
    label's shares.

    With `match_from`, token types mark the tokens that stand in both texts (`marked`).
    """
    ours = as_tokenizer(tokenizer)
    pairs = [
        (one_line(premise), one_line(hypothesis)) for premise, hypothesis in data.pairs
    ]
    encoded = encode(ours, max_length, pairs)
    rows = []

    for index, labels in enumerate(label_shares(data.labels, head).tolist()):
        ids, types = encoded.pair(index)
        row = {"input_ids": ids, "labels": labels}
        if match_from is not None:
            types = _marked_pair(ids, types, match_from)
        if ours.typed or match_from is not None:
            row["token_type_ids"] = types
        rows.append(row)

    return rows


def _marked_pair(ids: Sequence[int], types: Sequence[int], start: int) -> list[int]:
    """The token types of a pair, with marks in both texts."""
    premise = [token for token, kind in zip(ids, types, strict=True) if kind == 0]
    unit = ids[len(premise) :]
    return [*marked(premise, unit, 0, start), *marked(unit, premise, 1, start)]


def label_shares(labels: Sequence[float], head: Head) -> FloatArray:
    """How much of each class every label is; .5 is half present.

    The classes are present and absent, of the three-class head entailment, neutral,
    contradiction, and absent for some reason or other.

    Example:
        >>> label_shares([0.5, CONTRADICTION], "three-class").tolist()
        [[0.5, 0.0, 0.0, 0.5], [0.0, 0.0, 1.0, 0.0]]
    """
    values = np.asarray(labels, dtype=float)
    present = np.where(values <= 1, values, 0.0)
    if head != "three-class":
        return np.stack([present, 1 - present], axis=1)
    classes = [(values == code).astype(float) for code in (NEUTRAL, CONTRADICTION)]
    return np.stack([present, *classes, np.where(values <= 1, 1 - values, 0.0)], axis=1)


def make_loss(head: Head, order: ClassOrder) -> Any:
    r"""The loss of a head, as transformers' Trainer calls it.

    ``presence`` and ``two-class``: cross-entropy of the label y against p2c,

    .. math:: -\,y \log p - (1 - y) \log (1 - p), \quad p = e^{e} / (e^{e} + e^{n + c})

    (ZB21 §3.1), or against the softmax of a two-class head. ``three-class``:
    cross-entropy of the class against the softmax of the three logits; where only
    absence is known, :math:`-\log (p_n + p_c)`.

    Labels are `label_shares`; ``num_items_in_batch`` counts all their numbers, on all
    devices.
    """
    import torch

    def loss(outputs: Any, labels: Any, num_items_in_batch: Any = None) -> Any:
        logits = outputs["logits"] if isinstance(outputs, dict) else outputs.logits
        logits = logits.float()[..., list(order.indices)]
        if head != "three-class":
            logits = torch.stack([logits[..., 0], logits[..., 1:].sum(dim=-1)], dim=-1)

        logs = torch.log_softmax(logits, dim=-1)
        if head == "three-class":
            absent = torch.logsumexp(logs[..., 1:], dim=-1, keepdim=True)
            logs = torch.cat([logs, absent], dim=-1)

        # Packs are padded with labels below 0, of units that are none.
        total = -(labels.clamp(min=0) * logs).sum()
        classes = labels.shape[-1]
        if num_items_in_batch is None:
            num_items_in_batch = (labels >= 0).sum()
        return total / (num_items_in_batch / classes)

    return loss
