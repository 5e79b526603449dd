"""Labelled pairs: from data sets of units, or from files of premises and hypotheses."""

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

import numpy as np

from litepyramid.checked import number
from litepyramid.data.data import Data
from litepyramid.data.door import Opened, opened, values_in
from litepyramid.data.typed_rows import column_names
from litepyramid.errors import InputError
from litepyramid.files import file_type
from litepyramid.judges.labelled import (
    CONTRADICTION,
    NEUTRAL,
    LabelledPair,
    labelled,
    labelled_summaries,
    pairs_in,
)
from litepyramid.judges.nli.backends import as_tokenizer
from litepyramid.judges.nli.checkpoint import ClassOrder
from litepyramid.judges.nli.encode import encode
from litepyramid.text import counted, one_line
from litepyramid.types import Fields, FloatArray, Names, Texts

Head = Literal["auto", "presence", "two-class", "three-class"]
_MOST_WEIGHT = 1000
Pairs = Sequence[LabelledPair]
"""What a judge learns from; no premise is empty."""


def labelled_pairs(
    data: Data,
    inputs: Sequence[str] | None = None,
    systems: Sequence[str] | None = None,
) -> list[LabelledPair]:
    """The labelled units of some inputs and systems (all by default), by their texts.

    Raises:
        InputError: None of their units has a label.
    """
    of_inputs = {*(data.inputs if inputs is None else inputs)}
    of_systems = {*(data.systems if systems is None else systems)}
    pairs = []
    for entry in labelled_summaries(data):
        chosen = entry.input in of_inputs and entry.system in of_systems
        if not (chosen and entry.text.strip()):
            continue
        labels = entry.labels.tolist()
        for unit, label in zip(entry.units.texts, labels, strict=True):
            if not math.isnan(label):
                pairs.append(LabelledPair(entry.text, unit, label))

    if not pairs:
        raise InputError(f"no labelled unit of {data.name} to learn from")
    return sorted(pairs)


def read_pairs(table: Opened) -> list[LabelledPair]:
    """The pairs of a table by their texts, which are learnt as judges read them, on one
    line."""
    pairs = []
    for _, (premise, unit, label) in pairs_in(table):
        texts = one_line(premise).strip(), one_line(unit).strip()
        pairs.append(LabelledPair(*texts, label))
    return sorted(pairs)


def without(pairs: Pairs, summaries: Iterable[str]) -> tuple[list[LabelledPair], Texts]:
    """The pairs of no summary that is tested on, and a note on the others."""
    tested = {one_line(text).strip() for text in summaries}
    left = []
    for pair in pairs:
        if one_line(pair.premise).strip() not in tested:
            left.append(pair)

    if not (shared := len(pairs) - len(left)):
        return left, ()
    are = counted(shared, "training pair is", "training pairs are")
    return left, (f"{are} of summaries tested on, so left out.",)


def weighted_pairs(
    pairs: Pairs, weight: float, rng: np.random.Generator
) -> list[LabelledPair]:
    """As many passes over the pairs as the weight says; of the last one a random
    part."""
    whole, part = divmod(weight * len(pairs), max(1, len(pairs)))
    drawn = sorted(rng.permutation(len(pairs))[: round(part)].tolist())
    return [*pairs] * int(whole) + [pairs[i] for i in drawn]


def by_summary(pairs: Pairs) -> tuple[list[tuple[str, Names]], list[list[float]]]:
    """(summary, units) items, and how present each of their units is, from 0 to 1."""
    items = []
    labels = []
    for text, group in groupby(pairs, key=lambda pair: pair.premise):
        of_text = [*group]
        items.append((text, tuple([pair.unit for pair in of_text])))
        # Neutral and contradiction are both absent.
        labels.append([0 if pair.label > 1 else pair.label for pair in of_text])
    return items, labels


def digest(pairs: Pairs) -> str:
    """SHA-256 of all pairs and labels in their order: which data this was."""
    total = hashlib.sha256()
    for premise, unit, label in pairs:
        row = [one_line(premise), one_line(unit), float(label)]
        total.update(json.dumps(row, ensure_ascii=False).encode() + b"\n")
    return total.hexdigest()


@dataclass(frozen=True)
class Source:
    """Labelled pairs, the data set that they are of (None for a table of pairs), and
    how often they go into one pass of the mixture.

    Attributes:
        name: What they are called in the card and in tables.
    """

    name: str
    pairs: Pairs
    data: Data | None = None
    weight: float = 1.0


def as_sources(value: Any) -> list[Source]:
    """One source or several: data sets, tables of pairs, ``PATH=WEIGHT``, or these with
    their weights."""
    listed = values_in(value)
    if listed is None or _is_weighted(listed):
        return [_source(value)]
    return [source for one in listed for source in as_sources(one)]


def _is_weighted(listed: Sequence[Any]) -> bool:
    """Whether a list is a source with its weight, and not one of sources."""
    return len(listed) == 2 and isinstance(listed[1], int | float)


def _source(value: Any) -> Source:
    """A table with a column of premises is one of pairs; all else is a data set."""
    weight = 1.0
    if isinstance(value, str) and file_type(value) is None:
        # A path may hold equals signs too.
        path, _, told = value.rpartition("=")
        if path and number(told) is not None:
            value = path
            weight = float(told)
    elif (listed := values_in(value)) is not None:
        value, weight = listed

    if not 0 < weight <= _MOST_WEIGHT:
        raise InputError(
            f"the weight {weight!r}", expected="a number above 0, such as 0.5"
        )
    if not isinstance(value, Data):
        found = opened(value, "pairs")
        if "premise" in column_names(found):
            return Source(Path(found.path).name, read_pairs(found), None, weight)

    data = labelled(value)
    return Source(data.name, labelled_pairs(data), data, weight)


def split_data(
    data: Data, share: float, rng: np.random.Generator
) -> tuple[list[LabelledPair], Names]:
    """Pairs to train on, and a random share of the inputs, kept away.

    At least two inputs are kept if the share is above 0 and the data set has four or
    more, so that there is something to correlate; a smaller data set is trained on
    whole.
    """
    # Of inputs that nobody labelled there is nothing to measure on.
    names = sorted({entry.input for entry in labelled_summaries(data)})
    number = 0
    # Two to correlate over, and at least two to learn from.
    if share > 0 and len(names) >= 4:
        number = min(max(2, round(share * len(names))), len(names) - 2)
    away = {names[i] for i in rng.permutation(len(names))[:number].tolist()}
    kept = [name for name in data.inputs if name not in away]
    return labelled_pairs(data, kept), tuple(sorted(away))


def encode_pairs(
    tokenizer: Any, data: Pairs, max_length: int, head: Head
) -> list[Fields]:
    """Token ids of every pair, the summary cut where a pair is too long, with its
    label's shares."""
    ours = as_tokenizer(tokenizer)
    texts = [(one_line(pair.premise), one_line(pair.unit)) for pair in data]
    encoded = encode(ours, max_length, texts)
    shares = label_shares([pair.label for pair in data], head)
    rows = []

    for index, labels in enumerate(shares.tolist()):
        ids, types = encoded.pair(index)
        row = {"input_ids": ids, "labels": labels}
        if ours.typed:
            row["token_type_ids"] = types
        rows.append(row)

    return rows


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
