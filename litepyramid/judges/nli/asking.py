"""Runs a classifier that is asked about all units of a summary in one call.

The one ONNX graph (`litepyramid.training.packed_onnx` writes it) takes tokens, and keys
and values of what was read before: reading takes a summary's tokens and gives its keys
and values; asking takes the tokens of all its units, which attend to the summary and
each to itself.

A unit's logits are the same in any company: linear layers are whole numbers, attention
is padded to lengths that give every number its place in a sum, and logits are rounded
to a grid as a last guard.

A graph may also give the states of its lower layers (`NEAR`): how near each word piece
of a unit, read alone, comes to one of the summary (`word_distance`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from litepyramid.errors import ModelError, loading
from litepyramid.judges.nli.backends import onnx_session, what_is_asked
from litepyramid.judges.nli.encode import Tokenizer, no_room
from litepyramid.types import FloatArray

PAST_KEY = "past_key_{}"
PAST_VALUE = "past_value_{}"

BLOCK = 32
"""Attention is padded to a multiple of so many tokens."""

GRID = 1000
"""Logits are rounded to 1 / GRID."""

NEAR = "near"
IDF = "idf"
"""Outputs of a graph: the direction of each token's lower state, in whole numbers of a
length of `LENGTH`; the weight of each word piece."""

LENGTH = 127

UNIT_TOKENS = 96
"""The most tokens that are left for any unit when a summary is cut."""

MATCH_FROM = 104
"""BERT's word pieces below are special or unused; they are never marked as matching."""

PREMISE = 0
UNIT = 1
MATCHED = 2
"""Token types: of a summary, of a unit, and what is added where a word piece of a unit
stands in both. A summary, read once for all units, has no marks of its own."""

# Not −inf: a row of padding alone would be 0 / 0, and NaN spreads.
_SHUT = np.float32(-1e9)


@dataclass(frozen=True)
class WordStates:
    """The word pieces of a text read alone: (tokens, width) directions, as `NEAR` has
    them, and (tokens,) weights."""

    states: NDArray[np.int8]
    weights: FloatArray


@dataclass(frozen=True)
class Question:
    """A summary as tokens, and some of its units; their words if the graph has
    `NEAR`."""

    summary: Sequence[int]
    units: Sequence[Sequence[int]]
    words: Sequence[WordStates] = ()


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


def word_distances(
    units: Sequence[WordStates], summary: NDArray[np.int8]
) -> FloatArray:
    """How far the words of each unit are from those of a summary, (units,).

    distance(u, s) = sqrt(sum_i w_i (1 - max_j cos(u_i, s_j))² / sum_i w_i)

    over the word pieces i of the unit and j of the summary, w_i the weight of a piece:
    0 where all stand in the summary in like company, 1 for an empty summary.
    """
    pieces = np.concatenate([unit.states for unit in units]).astype(np.float32)
    # Whole numbers: the sums are exact, whatever else is asked.
    products = pieces @ summary.T.astype(np.float32)
    nearest = products.max(axis=1, initial=0.0).astype(np.float64) / LENGTH**2
    gaps = np.maximum(0.0, 1.0 - nearest)

    distances = []
    start = 0
    for unit in units:
        end = start + len(unit.weights)
        squares = unit.weights * gaps[start:end] ** 2
        distances.append(np.sqrt(squares.sum() / max(1e-9, unit.weights.sum())))
        start = end
    return np.array(distances)


class AskingBackend:
    """A loaded classifier, on one thread a call; calls may run side by side.

    `near` is whether its graph gives the words of texts (`NEAR`).
    """

    def __init__(self, path: Path, match_from: int) -> None:
        self._path, self._match_from = path, match_from
        self.session = onnx_session(path)
        self._needed = what_is_asked()
        shapes = {entry.name: entry.shape for entry in self.session.get_inputs()}
        outputs = {entry.name for entry in self.session.get_outputs()}
        self.near = NEAR in outputs
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

    def words(self, texts: Sequence[Sequence[int]]) -> list[WordStates]:
        """The word pieces of some texts, each read alone, without [CLS] and [SEP]."""
        types = [[PREMISE] * len(text) for text in texts]
        inputs = graph_inputs(texts, types, 0) | self._nothing
        states, weights = self._run([NEAR, IDF], inputs)

        words = []
        end = 0
        for text in texts:
            start, end = end, end + len(text)
            inside = slice(start + 1, end - 1)
            words.append(
                WordStates(
                    states[inside].astype(np.int8), weights[inside].astype(np.float64)
                )
            )
        return words

    def read(self, summary: Sequence[int]) -> tuple[dict[str, Any], NDArray[np.int8]]:
        """The keys and values of a summary, by the names under which the graph takes
        them; and the directions of its word pieces."""
        inputs = graph_inputs([summary], [[PREMISE] * len(summary)], 0)
        names = [*self._states, NEAR] if self.near else self._states
        results = self._run(names, {**inputs, **self._nothing})
        past = {f"past_{n}": v for n, v in zip(self._states, results, strict=False)}
        near = results[-1][1:-1] if self.near else np.zeros((0, 0))
        return past, near.astype(np.int8)

    def ask(self, question: Question) -> FloatArray:
        """Logits (units, 3) float32; with the words of the units a fourth column, their
        `word_distances`."""
        summary = question.summary
        units = question.units
        types = []
        for unit in units:
            types.append(marked(unit, summary, UNIT, self._match_from))
        past, near = self.read(summary)
        inputs = graph_inputs(units, types, len(summary)) | past
        [logits] = self._run(["logits"], inputs)
        if logits.shape != (len(units), 3) or not np.isfinite(logits).all():
            raise ModelError("the logits are not finite numbers", path=self._path)
        if question.words:
            distances = word_distances(question.words, near)
            logits = np.column_stack([logits, distances])
        # Sums in float32 differ in the last bits from one processor to another.
        return np.asarray(np.rint(logits * GRID) / GRID, dtype=np.float32)

    def _run(self, names: Sequence[str], inputs: dict[str, Any]) -> Any:
        with loading("the model failed", path=self._path):
            return self.session.run([*names], inputs, self._needed)
