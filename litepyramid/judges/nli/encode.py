"""Pairs as token ids: each text tokenised once, the summary cut, batches by token budget."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from litepyramid.errors import InputError, loading
from litepyramid.judges.base import Spans
from litepyramid.sentences import sentence_spans
from litepyramid.text import cut, fill
from litepyramid.types import IntArray

Pair = tuple[str, str]
EncodedBatch = dict[str, IntArray]
"""What one call of the model reads, by name: (pairs, longest pair) arrays, padded on one side."""


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """A tokenizer of the library tokenizers, and how its model wants batches.

    `core` neither cuts nor pads; `cut_left` is whether a text that is too long loses its beginning,
    `typed` whether the model reads ``token_type_ids``, `end` the token that ends a text.
    """

    core: Any
    pad: int = 0
    pad_left: bool = False
    cut_left: bool = False
    typed: bool = False
    end: str = ""


class Encoder:
    """Turns pairs into token ids: `lengths` of each pair, cut, and which are `truncated`."""

    lengths: IntArray
    truncated: NDArray[np.bool_]

    def __init__(self, tokenizer: Tokenizer, max_length: int, pairs: Sequence[Pair]) -> None:
        self._tokenizer, self._max_length, self._pairs = tokenizer, max_length, pairs

    def pair(self, index: int) -> tuple[Sequence[int], Sequence[int]]:
        """Token ids and token types of the pair at `index`, with special tokens."""
        raise NotImplementedError

    def batch(self, indices: Sequence[int]) -> EncodedBatch:
        """The pairs at `indices`, padded to the longest of them."""
        with loading("the model's tokenizer failed"):
            rows = [self.pair(index) for index in indices]
        shape = len(rows), max(len(ids) for ids, _ in rows)
        arrays = {
            "input_ids": np.full(shape, self._tokenizer.pad, dtype=np.int64),
            "attention_mask": np.zeros(shape, dtype=np.int64),
            "token_type_ids": np.zeros(shape, dtype=np.int64),
        }
        for row, (ids, types) in enumerate(rows):
            start = shape[1] - len(ids) if self._tokenizer.pad_left else 0
            used = slice(start, start + len(ids))
            arrays["input_ids"][row, used] = ids
            arrays["attention_mask"][row, used] = 1
            arrays["token_type_ids"][row, used] = types
        if not self._tokenizer.typed:
            del arrays["token_type_ids"]
        return arrays

    def _no_room(self, unit: str) -> InputError:
        return InputError(
            f"the unit '{cut(unit, 60)}' leaves no room for a summary",
            expected=f"less than {self._max_length} tokens for a unit and what is around it",
            hint="Split the unit, or raise the judge's setting max_length.",
        )


class PairEncoder(Encoder):
    """Only the summary is cut to `max_length`; each distinct text is tokenised once.

    The tokenizer's post-processor joins two of them with the model's special tokens, which gives
    the same ids as tokenising the pair.
    """

    def __init__(self, tokenizer: Tokenizer, max_length: int, pairs: Sequence[Pair]) -> None:
        super().__init__(tokenizer, max_length, pairs)
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        with loading("the model's tokenizer failed"):
            special = int(tokenizer.core.num_special_tokens_to_add(True))
            encodings = tokenizer.core.encode_batch(texts, add_special_tokens=False)
        self._encoded = dict(zip(texts, encodings, strict=True))
        length = {text: len(encoding.ids) for text, encoding in self._encoded.items()}
        self._rooms = [max_length - special - length[unit] for _, unit in pairs]
        for (_, unit), room in zip(pairs, self._rooms, strict=True):
            if room < 1:
                raise self._no_room(unit)
        whole = np.array([length[a] + length[b] + special for a, b in pairs], dtype=np.int64)
        self.truncated = whole > max_length
        self.lengths = np.minimum(whole, max_length)

    def pair(self, index: int) -> tuple[Sequence[int], Sequence[int]]:
        """See `Encoder.pair`."""
        summary, unit = self._pairs[index]
        first = self._encoded[summary]
        if self.truncated[index]:
            first = type(first).merge([first], growing_offsets=False)  # a copy: cut in place
            side = "left" if self._tokenizer.cut_left else "right"
            first.truncate(self._rooms[index], direction=side)
        core = self._tokenizer.core
        joined = core.post_process(first, self._encoded[unit], add_special_tokens=True)
        return joined.ids, joined.type_ids


class TemplateEncoder(Encoder):
    """Each pair is one text, as a template has it.

    In a text that is too long the summary is cut, at the end of one of its tokens, to what fits.
    """

    def __init__(
        self, tokenizer: Tokenizer, max_length: int, pairs: Sequence[Pair], template: str
    ) -> None:
        super().__init__(tokenizer, max_length, pairs)
        self._template = fill(template, eos=tokenizer.end)
        with loading("the model's tokenizer failed"):
            self._ids = self._tokenised(pairs)
            self.truncated = np.array([len(ids) > max_length for ids in self._ids], dtype=bool)
            for index in np.flatnonzero(self.truncated).tolist():
                self._ids[index] = self._cut(*pairs[index])
        self.lengths = np.array([len(ids) for ids in self._ids], dtype=np.int64)

    def _tokenised(self, pairs: Sequence[Pair]) -> list[Sequence[int]]:
        texts = [fill(self._template, premise=text, hypothesis=unit) for text, unit in pairs]
        return [encoding.ids for encoding in self._tokenizer.core.encode_batch(texts)]

    def _cut(self, summary: str, unit: str) -> Sequence[int]:
        whole = self._tokenizer.core.encode(summary, add_special_tokens=False)
        room = self._max_length - len(self._tokenised([("", unit)])[0]) + 2
        for _, end in reversed(whole.offsets[: max(room, 0)]):
            ids = self._tokenised([(summary[:end], unit)])[0]
            if len(ids) <= self._max_length:
                return ids
        raise self._no_room(unit)

    def pair(self, index: int) -> tuple[Sequence[int], Sequence[int]]:
        """See `Encoder.pair`; the types are all 0."""
        return self._ids[index], [0] * len(self._ids[index])


def plan_batches(lengths: Sequence[int] | IntArray, budget: int) -> list[list[int]]:
    """Indices in batches of like length, each at most `budget` tokens with its padding.

    The longest come first, so that memory runs out at once or not at all.

    Example:
        >>> plan_batches([3, 9, 4, 4], 10)
        [[1], [2, 3], [0]]
    """
    order = np.argsort(-np.asarray(lengths, dtype=np.int64), kind="stable")
    batches: list[list[int]] = []
    size = 0
    for index in order.tolist():
        if not batches or (len(batches[-1]) + 1) * size > budget:
            batches.append([])
            size = int(lengths[index])
        batches[-1].append(index)
    return batches


def split_summary(summary: str, most: int, length: Callable[[str], int]) -> Spans:
    """Runs of whole sentences of at most that length; a longer sentence stands alone.

    Example:
        >>> words = lambda text: len(text.split())
        >>> split_summary("It rained. Two died. He left early.", 4, words)
        [(0, 20), (21, 35)]
    """
    if length(summary) <= most:
        return [(0, len(summary))]
    parts: Spans = []
    for start, end in sentence_spans(summary):
        if parts and length(summary[parts[-1][0] : end]) <= most:
            parts[-1] = (parts[-1][0], end)
        else:
            parts.append((start, end))
    return parts or [(0, len(summary))]
