"""Packs: a premise and its units as one sequence, so that it is read once for all.

The premise's tokens attend to the premise alone. Each unit has its own [CLS], positions
that go on after the premise, attends to the premise and to itself, and is classified
from its [CLS]: its logits are the same whatever other units are in the pack.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from litepyramid.judges.nli.asking import (
    MATCH_FROM,
    PREMISE,
    UNIT,
    frame,
    marked,
    summary_room,
)
from litepyramid.judges.nli.encode import Tokenizer
from litepyramid.text import one_line
from litepyramid.training.pairs import Head, Pairs, label_shares
from litepyramid.types import Fields, Names

MOST_UNITS = 10
"""Units of a pack; more of one premise make several packs."""

PADDING = -1
"""The block of a token that is none."""

NO_LABEL = -100.0
"""The label of a unit that is none: it is in no loss."""


@dataclass(frozen=True, slots=True)
class Pack:
    """A premise, some units, and their labels as in `LabelledPair`."""

    premise: str
    units: Names
    labels: tuple[float, ...]


def as_packs(data: Pairs, most: int = MOST_UNITS) -> list[Pack]:
    """The pairs by premise, at most so many units together, in order of first sight.

    Example:
        >>> pairs = [("a", "x", 1), ("b", "y", 0), ("a", "z", 0.5)]
        >>> [pack.units for pack in as_packs(pairs)]
        [('x', 'z'), ('y',)]
    """
    by_premise: dict[str, list[tuple[str, float]]] = {}
    for premise, unit, label in data:
        by_premise.setdefault(premise, []).append((unit, label))

    packs = []
    for premise, asked in by_premise.items():
        # Dealt out in turn: units that stand side by side are often alike.
        number = -(-len(asked) // most)
        for first in range(number):
            units, labels = zip(*asked[first::number], strict=True)
            packs.append(Pack(premise, units, labels))

    return packs


def encode_packs(
    tokenizer: Tokenizer,
    packs: Sequence[Pack],
    max_length: int,
    head: Head,
    match_from: int = MATCH_FROM,
) -> Iterator[Fields]:
    """Every pack as a row of tokens, the premise cut as the judge cuts summaries.

    Yields:
        ``input_ids``; ``positions``, below `max_length`; ``types``; ``blocks``, 0 for
        the premise, k for the k-th unit; ``asked``, where each unit's [CLS] is;
        ``labels`` (units, classes), see `label_shares`.
    """
    distinct: dict[str, None] = {}
    for pack in packs:
        distinct[pack.premise] = None
        distinct |= dict.fromkeys(pack.units)

    lines = [one_line(text) for text in distinct]
    encodings = tokenizer.core.encode_batch(lines, add_special_tokens=False)
    tokens = {text: e.ids for text, e in zip(distinct, encodings, strict=True)}

    begin, end = frame(tokenizer)
    for pack in packs:
        rooms = []
        for unit in pack.units:
            rooms.append(summary_room(unit, len(tokens[unit]), max_length))
        # Cut as for its longest unit, for it is read once for all.
        premise = [begin, *tokens[pack.premise][: min(rooms)], end]

        ids = [*premise]
        positions = [*range(len(premise))]
        types = [PREMISE] * len(premise)
        blocks = [0] * len(premise)
        asked = []

        for number, text in enumerate(pack.units, start=1):
            question = [begin, *tokens[text], end]
            asked.append(len(ids))
            ids += question
            positions += range(len(premise), len(premise) + len(question))
            types += marked(question, premise, UNIT, match_from)
            blocks += [number] * len(question)

        yield {
            "input_ids": ids,
            "positions": positions,
            "types": types,
            "blocks": blocks,
            "asked": asked,
            "labels": label_shares(pack.labels, head).tolist(),
        }


def padded(rows: Sequence[Fields]) -> Fields:
    """Rows as tensors of one length; units that a row lacks have `NO_LABEL`."""
    import torch

    longest = max(len(row["input_ids"]) for row in rows)
    most = max(len(row["asked"]) for row in rows)
    classes = len(rows[0]["labels"][0])

    arrays = {
        name: np.zeros((len(rows), longest), dtype=int)
        for name in ("input_ids", "positions", "types", "blocks")
    }
    arrays["blocks"] += PADDING
    asked = np.zeros((len(rows), most), dtype=int)
    labels = np.full((len(rows), most, classes), NO_LABEL, dtype=np.float32)

    for number, row in enumerate(rows):
        for name, array in arrays.items():
            array[number, : len(row[name])] = row[name]
        asked[number, : len(row["asked"])] = row["asked"]
        labels[number, : len(row["labels"])] = row["labels"]

    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    tensors["asked"] = torch.from_numpy(asked)
    tensors["labels"] = torch.from_numpy(labels)
    return tensors


def packed_classifier(model: Any) -> Any:
    """A BERT classifier of transformers as one that reads packs: the same weights.

    Its forward pass takes what `padded` gives and returns ``{"logits"}`` of the shape
    (packs, units, classes). The top layer computes the asked [CLS] alone.
    """
    import torch

    class Packed(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(
            self,
            input_ids: Any,
            positions: Any,
            types: Any,
            blocks: Any,
            asked: Any,
            labels: Any = None,
        ) -> Fields:
            # The trainer of transformers looks here whether a batch has labels.
            bert = self.model.bert
            states = _embedded(bert.embeddings, input_ids, positions, types)

            # Who may be attended to: the premise by all, a unit by itself.
            same = blocks[:, :, None] == blocks[:, None, :]
            seen = (same | (blocks == 0)[:, None, :])[:, None]
            shut = torch.zeros(seen.shape, dtype=states.dtype)
            shut = shut.to(states.device).masked_fill_(~seen, -1e9)

            *layers, top = bert.encoder.layer
            for layer in layers:
                states = self._layer(layer, states, states, shut)

            place = asked[:, :, None].expand(-1, -1, states.shape[2])
            begins = states.gather(1, place)
            columns = asked[:, None, :, None].expand(-1, 1, -1, shut.shape[3])
            begins = self._layer(top, begins, states, shut.gather(2, columns))

            pooled = torch.tanh(bert.pooler.dense(begins))
            return {"logits": self.model.classifier(self.model.dropout(pooled))}

        def _layer(self, layer: Any, asking: Any, states: Any, shut: Any) -> Any:
            own = layer.attention.self
            heads = self.model.config.num_attention_heads

            def split(values: Any) -> Any:
                return values.unflatten(-1, (heads, -1)).transpose(1, 2)

            mixed = _attended(
                split(own.query(asking)),
                split(own.key(states)),
                split(own.value(states)),
                shut,
                own.dropout.p if self.training else 0.0,
            )
            mixed = mixed.transpose(1, 2).flatten(2)
            attended = layer.attention.output(mixed, asking)
            return layer.output(layer.intermediate(attended), attended)

    return Packed()


def _attended(query: Any, key: Any, value: Any, shut: Any, dropout: float) -> Any:
    """Attention; `shut` is added to the scores."""
    import torch

    functional = torch.nn.functional
    shut = shut.to(query.dtype)

    if query.dtype != torch.bfloat16 or query.is_cuda:
        return functional.scaled_dot_product_attention(
            query, key, value, attn_mask=shut, dropout_p=dropout
        )

    # The gradient of torch's fused attention takes half of all time in bfloat16 on a
    # CPU; plain products are twice as fast in all.
    scores = query @ key.transpose(2, 3) * query.shape[3] ** -0.5 + shut
    shares = functional.dropout(torch.softmax(scores, dim=-1), dropout)
    return shares @ value


def _embedded(embeddings: Any, ids: Any, positions: Any, types: Any) -> Any:
    """The sum of word piece, position and type."""
    words = embeddings.word_embeddings(ids)
    kinds = embeddings.token_type_embeddings(types)
    places = embeddings.position_embeddings(positions)
    return embeddings.dropout(embeddings.LayerNorm(words + kinds + places))
