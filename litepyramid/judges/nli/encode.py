"""Pairs as token ids: each text tokenised once, the summary cut, batches by token budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from litepyramid.errors import InputError, loading
from litepyramid.text import counted, cut, fill
from litepyramid.types import IntArray

Pair = tuple[str, str]
_FAILS = "the model's tokenizer failed"


EncodedBatch = dict[str, IntArray]
"""What one call of the model reads, by name: (pairs, longest pair) arrays, padded on one side."""


class PairEncoder:
    """Turns (summary, unit) pairs into token ids with a model's own tokenizer.

    Only the summary is cut to `max_length`, never the unit. Each distinct text is tokenised once;
    the tokenizer's post-processor then joins two of them with the model's special tokens, which
    gives the same ids as tokenising the pair.

    Args:
        tokenizer: A tokenizer of transformers.
        max_length: The most tokens of a pair, special tokens included.
        pairs: The pairs, that the following methods refer to.

    Attributes:
        lengths: Tokens of each pair, cut and with special tokens.
        truncated: Whether each pair's summary was cut.

    Raises:
        InputError: A unit leaves no room for a single token of a summary.
    """

    lengths: IntArray
    truncated: np.ndarray[Any, np.dtype[np.bool_]]

    def __init__(self, tokenizer: Any, max_length: int, pairs: Sequence[Pair]) -> None:
        self._tokenizer = tokenizer
        self._max_length = max_length
        self._pairs = pairs
        self._backend = getattr(tokenizer, "backend_tokenizer", None)
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        with loading(_FAILS):
            self._special = int(tokenizer.num_special_tokens_to_add(pair=True))
            if self._backend is not None:
                self._backend.no_truncation()
                self._backend.no_padding()
                encodings = self._backend.encode_batch(texts, add_special_tokens=False)
                counts = [len(encoding.ids) for encoding in encodings]
            else:
                encodings = [tokenizer(t, add_special_tokens=False)["input_ids"] for t in texts]
                counts = [len(ids) for ids in encodings]
        self._encoded = dict(zip(texts, encodings, strict=True))
        length = dict(zip(texts, counts, strict=True))
        self._rooms = [max_length - self._special - length[unit] for _, unit in pairs]
        for (_, unit), room in zip(pairs, self._rooms, strict=True):
            if room < 1:
                raise InputError(
                    f"the unit '{cut(unit, 60)}' has {counted(length[unit], 'token')}",
                    expected=f"at most {max_length - self._special - 1}, to leave room for a "
                    f"summary within {max_length} tokens",
                    hint="Split the unit, or allow longer pairs with --max-length.",
                )
        firsts = np.array([length[text] for text, _ in pairs], dtype=np.int64)
        seconds = np.array([length[text] for _, text in pairs], dtype=np.int64)
        whole = firsts + seconds + self._special
        self.truncated = whole > max_length
        self.lengths = np.minimum(whole, max_length)

    def batch(self, indices: Sequence[int]) -> EncodedBatch:
        """The pairs at `indices`, padded to the longest of them."""
        tokenizer = self._tokenizer
        with loading(_FAILS):
            ids, types = zip(*map(self.pair, indices), strict=True)
            rows = {"input_ids": list(ids)}
            if "token_type_ids" in tokenizer.model_input_names:
                rows["token_type_ids"] = list(types)
            uneven = len(set(map(len, ids))) > 1
            padded = tokenizer.pad(
                rows, padding=uneven, return_attention_mask=True, return_tensors="np"
            )
        return {name: np.asarray(values, dtype=np.int64) for name, values in padded.items()}

    def pair(self, index: int) -> tuple[Sequence[int], Sequence[int]]:
        """Token ids and token types of the pair at `index`, with special tokens."""
        summary, unit = self._pairs[index]
        room = self._rooms[index]
        if self._backend is None:
            whole = self._tokenizer(
                summary,
                unit,
                truncation="only_first",
                max_length=self._max_length,
                return_token_type_ids=True,
            )
            return whole["input_ids"], whole["token_type_ids"]
        first = self._encoded[summary]
        if self.truncated[index]:
            first = type(first).merge([first], growing_offsets=False)  # a copy: cut in place
            first.truncate(room, direction=self._tokenizer.truncation_side)
        joined = self._backend.post_process(first, self._encoded[unit], add_special_tokens=True)
        return joined.ids, joined.type_ids


class TemplateEncoder(PairEncoder):
    """Turns (summary, unit) pairs into the ids of one text each, as a template has it.

    The whole text is tokenised, as the model's authors do it. In a text that is too long the
    summary is cut, at the end of a token of its own, to the longest part that fits.

    Args:
        tokenizer: A tokenizer of transformers, one of its fast ones.
        max_length: The most tokens of a text, special tokens included.
        pairs: The pairs.
        template: The text, with ``{premise}``, ``{hypothesis}`` and ``{eos}``.

    Raises:
        InputError: A unit leaves no room for a single token of a summary.
    """

    def __init__(
        self, tokenizer: Any, max_length: int, pairs: Sequence[Pair], template: str
    ) -> None:
        self._tokenizer = tokenizer
        self._max_length = max_length
        self._template = fill(template, eos=tokenizer.eos_token or tokenizer.sep_token)
        with loading(_FAILS):
            self._ids = self._tokenised([self._text(*pair) for pair in pairs])
            self.truncated = np.array([len(ids) > max_length for ids in self._ids], dtype=bool)
            for index in np.nonzero(self.truncated)[0].tolist():
                self._ids[index] = self._cut(*pairs[index])
        self.lengths = np.array([len(ids) for ids in self._ids], dtype=np.int64)

    def _text(self, summary: str, unit: str) -> str:
        return fill(self._template, premise=summary, hypothesis=unit)

    def _tokenised(self, texts: list[str]) -> list[IntArray]:
        return [np.array(ids, np.int64) for ids in self._tokenizer(texts)["input_ids"]]

    def _cut(self, summary: str, unit: str) -> IntArray:
        whole = self._tokenizer(summary, add_special_tokens=False, return_offsets_mapping=True)
        ends = [end for _, end in whole["offset_mapping"]]
        keep = self._max_length - len(self._tokenised([self._text("", unit)])[0]) + 2
        for count in range(min(keep, len(ends)), 0, -1):
            ids = self._tokenised([self._text(summary[: ends[count - 1]], unit)])[0]
            if len(ids) <= self._max_length:
                return ids
        raise InputError(
            f"the unit '{cut(unit, 60)}' leaves no room for a summary",
            expected=f"less than {self._max_length} tokens for a unit and the template",
            hint="Split the unit, or allow longer pairs with --max-length.",
        )

    def pair(self, index: int) -> tuple[Sequence[int], Sequence[int]]:
        """Token ids of the text at `index`; their types are all 0."""
        ids = self._ids[index].tolist()
        return ids, [0] * len(ids)


def plan_batches(lengths: Sequence[int] | IntArray, budget: int) -> list[list[int]]:
    """Indices in batches of like length, each at most `budget` tokens with its padding.

    The longest come first, so that memory runs out at once or not at all and the time left is
    never promised too short. Equal lengths keep their order, so equal inputs give equal batches.

    Args:
        lengths: Tokens of each pair.
        budget: The most tokens (pairs times longest) of a batch; a longer pair goes alone.

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
