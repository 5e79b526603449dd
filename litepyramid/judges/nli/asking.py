"""Runs a classifier that is asked about all units of a summary in one call.

The one ONNX graph (`litepyramid.training.packed_onnx` writes it) takes tokens, and keys
and values of what was read before, and serves two ways of reading:

- *once*: reading takes a summary's tokens and gives its keys and values; asking takes
  the tokens of all its units, which attend to the summary and each to itself;
- *pairs*: nothing is read before; the summary's tokens stand before each unit's.

Either way a unit's logits are the same in any company: linear layers are whole numbers,
attention is padded to lengths that give every number its place in a sum, and logits are
rounded to a grid as a last guard.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from litepyramid.errors import ModelError, loading
from litepyramid.judges.nli.backends import onnx_session
from litepyramid.judges.nli.encode import Tokenizer, no_room
from litepyramid.types import FloatArray

PAST_KEY = "past_key_{}"
PAST_VALUE = "past_value_{}"

BLOCK = 32
"""Attention is padded to a multiple of so many tokens."""

GRID = 1000
"""Logits are rounded to 1 / GRID."""

UNIT_TOKENS = 96
"""The most tokens that are left for any unit when a summary is cut."""

MATCH_FROM = 104
"""BERT's word pieces below are special or unused; they are never marked as matching."""

Reading = Literal["once", "pairs"]

PREMISE = 0
UNIT = 1
MATCHED = 2
"""Token types: of a summary, of a unit, and what is added where a word piece stands in
both. A summary that is read once for all units has no marks of its own."""

# Not −inf: a row of padding alone would be 0 / 0, and NaN spreads.
_SHUT = np.float32(-1e9)


@dataclass(frozen=True)
class Question:
    """A summary as tokens, and some of its units."""

    summary: Sequence[int]
    units: Sequence[Sequence[int]]


def frame(tokenizer: Tokenizer) -> tuple[int, int]:
    """The tokens before and behind each text: [CLS] and [SEP]."""
    core = tokenizer.core
    begin, end = core.post_process(core.encode("", add_special_tokens=False)).ids
    return begin, end


def unit_room(max_length: int) -> int:
    """Tokens that are left for a unit in any case, [CLS] and [SEP] included."""
    return min(UNIT_TOKENS, max_length // 4)


def summary_room(unit: str, tokens: int, max_length: int) -> int:
    """How many tokens of a summary are read for a unit of so many tokens.

    The same for all but very long units, so that one reading does for all.
    """
    room = max_length - max(unit_room(max_length), tokens + 2) - 2
    if room < 1:
        raise no_room(unit, max_length)
    return room


def marked(
    ids: Sequence[int], others: Sequence[int], kind: int, start: int = MATCH_FROM
) -> list[int]:
    """Token types of a text: `kind`, 2 more where a word piece is in the other text.

    Only word pieces from `start` on are marked.

    Example:
        >>> marked([101, 2054, 3000, 102], [101, 2054, 102], UNIT)
        [1, 3, 1, 1]
    """
    shared = {token for token in others if token >= start}
    return [kind + MATCHED * (token in shared) for token in ids]


def graph_inputs(
    rows: Sequence[Sequence[int]], types: Sequence[Sequence[int]], past: int
) -> dict[str, Any]:
    """What the graph takes for some texts side by side, behind `past` tokens.

    Returns:
        ``input_ids``, ``types`` and ``positions`` of all tokens, one after another;
        ``asked``, where each text begins; ``place`` (texts, places), the token of each
        place of attention, and ``back``, the place of each token; ``mask`` and
        ``past_mask``, 0 where a place holds a token.
    """
    lengths = np.array([len(row) for row in rows])
    starts = lengths.cumsum() - lengths

    columns = np.arange(_padded(int(lengths.max())))
    inside = columns < lengths[:, None]
    back = np.flatnonzero(inside)

    past_mask = np.where(np.arange(_padded(past)) < past, np.float32(0), _SHUT)
    mask = np.where(inside, np.float32(0), _SHUT)
    return {
        "input_ids": np.concatenate(rows).astype(np.int64),
        "types": np.concatenate(types).astype(np.int64),
        "positions": past + back % len(columns),
        "asked": starts,
        "place": np.where(inside, starts[:, None] + columns, 0),
        "back": back,
        "mask": mask[:, None, None, :],
        "past_mask": np.tile(past_mask, (len(rows), 1, 1, 1)),
    }


def _padded(length: int) -> int:
    return max(1, -(-length // BLOCK)) * BLOCK


class AskingBackend:
    """A loaded classifier, on one thread a call; calls may run side by side."""

    def __init__(self, path: Path, reading: Reading, match_from: int) -> None:
        self._path, self._reading, self._match_from = path, reading, match_from
        self.session = onnx_session(path)
        shapes = {entry.name: entry.shape for entry in self.session.get_inputs()}
        with loading("the model cannot be loaded", path=path):
            layers = [name for name in shapes if name.startswith("past_key")]
            heads, width = shapes[PAST_KEY.format(0)][1:3]

        # The graph always takes keys of something: a block that nobody attends to.
        key = np.zeros((1, heads, width, BLOCK), dtype=np.float32)
        self._nothing, self._states = {}, []
        for number in range(len(layers)):
            self._nothing[PAST_KEY.format(number)] = key
            self._nothing[PAST_VALUE.format(number)] = key.transpose(0, 1, 3, 2)
            self._states += [f"key_{number}", f"value_{number}"]

    def read(self, summary: Sequence[int]) -> dict[str, Any]:
        """The keys and values of a summary, by the names under which the graph takes
        them."""
        inputs = graph_inputs([summary], [[PREMISE] * len(summary)], 0)
        states = self._run(self._states, {**inputs, **self._nothing})
        return {f"past_{n}": v for n, v in zip(self._states, states, strict=True)}

    def ask(self, question: Question) -> FloatArray:
        """Logits (units, 3) float32."""
        summary = question.summary
        units = question.units
        types = []
        for unit in units:
            types.append(marked(unit, summary, UNIT, self._match_from))

        if self._reading == "once":
            inputs = graph_inputs(units, types, len(summary)) | self.read(summary)
        else:
            rows = []
            for number, unit in enumerate(units):
                # The summary ends with [SEP]; the unit goes on without its [CLS].
                rows.append([*summary, *unit[1:]])
                before = marked(summary, unit, PREMISE, self._match_from)
                types[number] = [*before, *types[number][1:]]
            inputs = graph_inputs(rows, types, 0) | self._nothing

        [logits] = self._run(["logits"], inputs)
        if logits.shape != (len(units), 3) or not np.isfinite(logits).all():
            raise ModelError("the logits are not finite numbers", path=self._path)
        # Sums in float32 differ in the last bits from one processor to another.
        return np.asarray(np.rint(logits * GRID) / GRID, dtype=np.float32)

    def _run(self, names: Sequence[str], inputs: dict[str, Any]) -> Any:
        with loading("the model failed", path=self._path):
            return self.session.run([*names], inputs)
