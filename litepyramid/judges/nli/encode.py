"""Pairs as token ids: each text tokenised once, the summary cut, batches by token
budget."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from litepyramid.errors import InputError, ModelError, loading
from litepyramid.judges.base import Spans
from litepyramid.sentences import sentence_spans
from litepyramid.text import cut, fill
from litepyramid.types import IntArray

Pair = tuple[str, str]
_MOST_GROWTH = 64
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
EncodedBatch = dict[str, IntArray]
"""What one call of the model reads, by name: (pairs, longest pair) arrays, padded on
one side."""


@dataclass(frozen=True)
class Tokenizer:
    """A tokenizer of the library tokenizers, and how its model wants batches.

    `core` neither cuts nor pads; `cut_left` is whether a text that is too long loses
    its beginning, `typed` whether the model reads ``token_type_ids``, `end` the token
    that ends a text.
    """

    core: Any
    pad: int = 0
    pad_left: bool = False
    cut_left: bool = False
    typed: bool = False
    end: str = ""


def check_growth(core: Any) -> None:
    """Raises ModelError if the normalizer of a tokenizer could make a text many times
    as long: a few nested replacements would fill the memory."""
    if core.normalizer is None:
        return
    times = _growth(json.loads(core.normalizer.__getstate__()))
    if times > _MOST_GROWTH:
        raise ModelError(
            f"the model's tokenizer may make a text {times:,} times as long",
            expected=f"at most {_MOST_GROWTH} times",
            hint="Replacements of its normalizer (tokenizer.json) multiply.",
        )


def _growth(normalizer: Mapping[str, Any]) -> int:
    """How many times as long a text can become."""
    if normalizer["type"] == "Sequence":
        return prod(map(_growth, normalizer["normalizers"]))
    if normalizer["type"] != "Replace":
        return 1
    # A regular expression may also match between two characters.
    content = len(normalizer["content"])
    replaced = normalizer["pattern"].get("String")
    if replaced is None:
        return 1 + content
    return max(1, ceil(content / max(1, len(replaced))))


@dataclass(frozen=True)
class EncodedPairs:
    """Pairs as token ids: the `lengths` of all, cut; ids and types of the pair at an
    index."""

    tokenizer: Tokenizer
    lengths: IntArray
    truncated: NDArray[np.bool_]
    pair: Callable[[int], tuple[Sequence[int], Sequence[int]]]

    def batch(self, indices: Sequence[int]) -> EncodedBatch:
        """The pairs at `indices`, padded to the longest of them."""
        with loading("the model's tokenizer failed"):
            rows = [self.pair(index) for index in indices]
        shape = len(rows), max(len(ids) for ids, _ in rows)
        arrays = {name: np.zeros(shape, dtype=np.int64) for name in _INPUTS}
        arrays["input_ids"] += self.tokenizer.pad

        for row, (ids, types) in enumerate(rows):
            start = shape[1] - len(ids) if self.tokenizer.pad_left else 0
            used = slice(start, start + len(ids))
            columns: tuple[Any, ...] = ids, 1, types
            for name, values in zip(_INPUTS, columns, strict=True):
                arrays[name][row, used] = values

        if not self.tokenizer.typed:
            del arrays["token_type_ids"]
        return arrays


def encode(
    tokenizer: Tokenizer,
    max_length: int,
    pairs: Sequence[Pair],
    template: str | None = None,
) -> EncodedPairs:
    """Pairs, or one text a pair as a template has it; only summaries are cut to
    `max_length`.

    Without a template each distinct text is tokenised once, and the tokenizer's
    post-processor joins two of them with the model's special tokens: the same ids as
    tokenising the pair.
    """
    core = tokenizer.core
    with loading("the model's tokenizer failed"):
        if template:
            template = fill(template, eos=tokenizer.end)
            return _encode_texts(tokenizer, max_length, pairs, template)
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        special = int(core.num_special_tokens_to_add(True))
        encodings = core.encode_batch(texts, add_special_tokens=False)

    encoded = dict(zip(texts, encodings, strict=True))
    length = {text: len(encoding.ids) for text, encoding in encoded.items()}
    rooms = [max_length - special - length[unit] for _, unit in pairs]
    for (_, unit), room in zip(pairs, rooms, strict=True):
        if room < 1:
            raise no_room(unit, max_length)

    def joined(index: int) -> tuple[Sequence[int], Sequence[int]]:
        first, second = (encoded[text] for text in pairs[index])
        if len(first.ids) > rooms[index]:
            # It is cut in place, and other pairs need it whole: a copy.
            first = type(first).merge([first], growing_offsets=False)
            side = "left" if tokenizer.cut_left else "right"
            first.truncate(rooms[index], direction=side)
        whole = core.post_process(first, second, add_special_tokens=True)
        return whole.ids, whole.type_ids

    lengths = [length[a] + length[b] + special for a, b in pairs]
    whole = np.array(lengths, dtype=np.int64)
    cut_to = np.minimum(whole, max_length)
    return EncodedPairs(tokenizer, cut_to, whole > max_length, joined)


def _encode_texts(
    tokenizer: Tokenizer, max_length: int, pairs: Sequence[Pair], template: str
) -> EncodedPairs:
    """Each pair as one text; a summary is cut, at the end of one of its tokens, to what
    fits."""

    def tokenised(pairs: Sequence[Pair]) -> list[Sequence[int]]:
        texts = [fill(template, premise=text, hypothesis=unit) for text, unit in pairs]
        return [encoding.ids for encoding in tokenizer.core.encode_batch(texts)]

    def shortened(summary: str, unit: str) -> Sequence[int]:
        whole = tokenizer.core.encode(summary, add_special_tokens=False)
        room = max_length - len(tokenised([("", unit)])[0]) + 2
        # What is cut tokenises otherwise at its end: it is tried until it fits.
        for _, end in reversed(whole.offsets[: max(room, 0)]):
            ids = tokenised([(summary[:end], unit)])[0]
            if len(ids) <= max_length:
                return ids
        raise no_room(unit, max_length)

    ids = tokenised(pairs)
    truncated = np.array([len(row) > max_length for row in ids], dtype=bool)
    for index in np.flatnonzero(truncated).tolist():
        ids[index] = shortened(*pairs[index])
    lengths = np.array([len(row) for row in ids], dtype=np.int64)
    return EncodedPairs(
        tokenizer, lengths, truncated, lambda n: (ids[n], [0] * len(ids[n]))
    )


def no_room(unit: str, max_length: int) -> InputError:
    """The error of a unit that fills the model by itself."""
    return InputError(
        f"the unit '{cut(unit, 60)}' leaves no room for a summary",
        expected=f"less than {max_length} tokens for a unit and what is around it",
        hint="Split the unit, or raise the judge's setting max_length.",
    )


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
