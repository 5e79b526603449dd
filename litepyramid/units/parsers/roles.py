"""The role labeller that ships inside the package: PropBank's roles by a small encoder.

The lower layers of the encoder read a sentence once; one score a word says whether it
is a predicate. The upper layers read it once a predicate, every word piece with its
distance from the predicate, and give BIO tags; Viterbi finds the best row of them that
is well formed. Vectors of word pieces are those of the embedded judge, so that they
stand in the package once.

A sentence's tags are the same in any company: linear layers are whole numbers, and
attention is padded to lengths that a sentence's own length gives.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.errors import ModelError, loading
from litepyramid.files import read_json
from litepyramid.judges.nli.backends import onnx_session, read_onnx_tokenizer
from litepyramid.judges.nli.onnx_file import fields
from litepyramid.progress import track
from litepyramid.types import FloatArray
from litepyramid.units.parsers.embedded.pipeline import EmbeddedBackend
from litepyramid.units.parses import Frame, ParsedBatch, ParsedReference, with_frames

_EMBEDDED = Path(__file__).resolve().parents[2] / "embedded"
_TABLE = "bert.embeddings.word_embeddings.weight"
_FARTHEST = 40  # word pieces from the predicate; farther ones count as this far
_BLOCK = 32  # attention is padded to a multiple of so many word pieces
_LONGEST = 500  # word pieces that are read at once
_BATCH = 2048  # word pieces of a batch, padding included
_SHUT = np.float32(-1e9)


@dataclass(frozen=True, slots=True)
class _Text:
    """Words of a sentence as word pieces.

    Attributes:
        sentence: The sentence's number.
        start: The number of its first word: a very long sentence is read in parts.
        pieces: Word pieces, [CLS] and [SEP] included.
        firsts: Where each word's first piece is; 0 where a word has none.
    """

    sentence: int
    start: int
    pieces: list[int]
    firsts: list[int]

    @property
    def room(self) -> int:
        """Places that its attention takes."""
        return -(-len(self.pieces) // _BLOCK) * _BLOCK


class RoleLabeller:
    """Finds the verbs of sentences, and their arguments."""

    def __init__(
        self, folder: Path = _EMBEDDED / "roles", judge: Path = _EMBEDDED / "mini"
    ) -> None:
        self._folder = folder
        self._judge = judge
        settings = read_json(folder / "roles.json", error=ModelError)
        self.revision = str(settings["revision"])
        self.labels = [str(label) for label in settings["labels"]]
        self._threshold = float(settings["threshold"])

    @cached_property
    def _sessions(self) -> tuple[Any, Any]:
        names = ("sentence.onnx", "predicate.onnx")
        first, second = (onnx_session(self._folder / name) for name in names)
        return first, second

    @cached_property
    def _tokenizer(self) -> Any:
        return read_onnx_tokenizer(self._judge).core

    @cached_property
    def _table(self) -> tuple[Any, Any]:
        """The vectors of all word pieces as int8, and the scale of each."""
        return word_vectors(self._judge / "model.onnx")

    def frames(
        self,
        sentences: Sequence[Sequence[str]],
        verbs: Sequence[Sequence[int]] | None = None,
    ) -> list[tuple[Frame, ...]]:
        """The frames of sentences of given tokens, in the order of their verbs.

        `verbs` says which words of each sentence have one; they are found if it is
        None.
        """
        found: list[list[Frame]] = [[] for _ in sentences]
        texts = [
            text for n, words in enumerate(sentences) for text in self._cut(n, words)
        ]
        texts.sort(key=lambda text: (text.room, text.sentence, text.start))

        with loading("the role labeller failed", path=self._folder):
            for batch in track(_batches(texts), "labelling roles", "batches"):
                for text, verb, tags in self._labelled(batch, verbs):
                    length = len(sentences[text.sentence])
                    behind = length - text.start - len(tags)
                    row = ("O",) * text.start + tags + ("O",) * behind
                    found[text.sentence].append(Frame(text.start + verb, row))

        return [tuple(sorted(frames, key=lambda f: f.verb)) for frames in found]

    def _cut(self, number: int, words: Sequence[str]) -> Iterator[_Text]:
        """The word pieces of a sentence, in parts if there are very many."""
        pieces = [
            encoding.ids[: _LONGEST - 2]
            for encoding in self._tokenizer.encode_batch(
                list(words), add_special_tokens=False
            )
        ]
        begin, end = self._tokenizer.encode("").ids
        text = _Text(number, 0, [begin], [])

        for word, ids in enumerate(pieces):
            if len(text.pieces) + len(ids) >= _LONGEST:
                yield _ended(text, end)
                text = _Text(number, word, [begin], [])
            # A word of signs that the tokenizer takes away has no piece: it reads
            # [CLS].
            text.firsts.append(len(text.pieces) if ids else 0)
            text.pieces.extend(ids)

        yield _ended(text, end)

    def _labelled(
        self, batch: Sequence[_Text], verbs: Sequence[Sequence[int]] | None
    ) -> Iterator[tuple[_Text, int, tuple[str, ...]]]:
        """The tags of every predicate in texts of one room."""
        table, scale = self._table
        lengths = np.array([len(text.pieces) for text in batch])
        starts = lengths.cumsum() - lengths
        ids = np.concatenate([text.pieces for text in batch])

        inputs = _places(lengths, batch[0].room)
        inputs["words"] = table[ids] * scale[ids][:, None]
        inputs["positions"] = np.concatenate([np.arange(n) for n in lengths])
        states, scores = self._sessions[0].run(["states", "scores"], inputs)

        asked = []
        for number, text in enumerate(batch):
            firsts = starts[number] + np.array(text.firsts, dtype=np.int64)
            likely = np.flatnonzero(scores[firsts, 0] > self._threshold)
            # A verb of a long sentence may stand in another part of it.
            if verbs is not None:
                likely = np.array(verbs[text.sentence], dtype=np.int64) - text.start
                likely = likely[(likely >= 0) & (likely < len(firsts))]
            asked += [(number, int(verb)) for verb in likely]

        most = max(1, _BATCH // batch[0].room)
        for first in range(0, len(asked), most):
            some = asked[first : first + most]
            rows = [states[starts[n] : starts[n] + lengths[n]] for n, _ in some]
            scored = self._scored([batch[n] for n, _ in some], rows, some)
            for (number, verb), path in zip(some, scored, strict=True):
                yield batch[number], verb, tuple(self.labels[label] for label in path)

    def _scored(
        self,
        texts: Sequence[_Text],
        rows: Sequence[Any],
        asked: Sequence[tuple[int, int]],
    ) -> list[list[int]]:
        """The best labels of the words of each text, for one of its verbs."""
        lengths = np.array([len(text.pieces) for text in texts])
        starts = lengths.cumsum() - lengths
        inputs = _places(lengths, texts[0].room)
        inputs["states"] = np.concatenate(rows)

        apart = []
        for text, (_, verb) in zip(texts, asked, strict=True):
            far = np.arange(len(text.pieces)) - text.firsts[verb]
            apart.append(np.clip(far, -_FARTHEST, _FARTHEST) + _FARTHEST)
        inputs["apart"] = np.concatenate(apart)

        firsts = [s + np.array(t.firsts) for s, t in zip(starts, texts, strict=True)]
        inputs["firsts"] = np.concatenate(firsts)
        (scores,) = self._sessions[1].run(["scores"], inputs)

        ends = np.cumsum([len(text.firsts) for text in texts])
        return best_paths(np.split(scores, ends[:-1]), self.labels)


def _ended(text: _Text, end: int) -> _Text:
    text.pieces.append(end)
    return text


def _batches(texts: Sequence[_Text]) -> list[list[_Text]]:
    """Texts of one room together, as many as a batch holds."""
    made: list[list[_Text]] = []
    for text in texts:
        room = made[-1][0].room if made else 0
        if room != text.room or (len(made[-1]) + 1) * room > _BATCH:
            made.append([])
        made[-1].append(text)
    return made


def _places(lengths: Any, room: int) -> dict[str, Any]:
    """Where attention finds the word pieces of texts that stand one after another."""
    columns = np.arange(room)
    starts = lengths.cumsum() - lengths
    inside = columns < lengths[:, None]
    mask = np.where(inside, np.float32(0), _SHUT)
    return {
        "place": np.where(inside, starts[:, None] + columns, 0),
        "back": np.flatnonzero(inside),
        "mask": mask[:, None, None, :],
    }


def best_paths(scores: Sequence[FloatArray], labels: Sequence[str]) -> list[list[int]]:
    """The best well-formed row of labels for each text (Viterbi).

    Args:
        scores: Log-probabilities (words, labels) of each text.
        labels: O, and pairs B-ROLE, I-ROLE. An I- follows only its own B- or I-.

    Returns:
        The number of a label for each word of each text.

    Example:
        >>> best_paths([np.log([[.2, .5, .3], [.1, .3, .6]])], ["O", "B-V", "I-V"])
        [[1, 2]]
    """
    inside = np.array([n for n, label in enumerate(labels) if label.startswith("I-")])
    opening = np.array([labels.index(f"B-{labels[n][2:]}") for n in inside])

    # Where every label scores 0, the best label before goes on: padding changes
    # nothing.
    longest = max(map(len, scores))
    padded = np.zeros((len(scores), longest, len(labels)), dtype=np.float32)
    for row, values in zip(padded, scores, strict=True):
        row[: len(values)] = values

    # No sentence begins inside an argument.
    total = padded[:, 0].copy()
    total[:, inside] = _SHUT
    steps = []

    for word in range(1, longest):
        best = total.argmax(axis=1)
        before = np.repeat(best[:, None], len(labels), axis=1)
        opens = total[:, opening] > total[:, inside]
        before[:, inside] = np.where(opens, opening, inside)
        steps.append(before)
        total = np.take_along_axis(total, before, axis=1) + padded[:, word]

    rows = np.arange(len(scores))
    path = [total.argmax(axis=1)]
    for before in reversed(steps):
        path.append(before[rows, path[-1]])

    paths = np.stack(path[::-1], axis=1)
    return [
        row[: len(values)].tolist() for row, values in zip(paths, scores, strict=True)
    ]


def word_vectors(path: Path) -> tuple[Any, Any]:
    """The table of word pieces in an ONNX file of the judge, and the scale of each row.

    Only these two constants are read, and the table stays in the file: the operating
    system shares it among processes.
    """
    data = np.memmap(path, dtype=np.uint8, mode="r")
    content = data.data
    found = {}

    for part, start, end in fields(content, 0, len(data), path):
        for number, begin, stop in (
            fields(content, start, end, path) if part == 7 else ()
        ):
            # A constant has its name in field 8 and its values in 9.
            if number == 5:
                inner = fields(content, begin, stop, path)
                values = {n: data[first:last] for n, first, last in inner}
                found[bytes(values[8]).decode()] = values[9]

    scale = found[f"{_TABLE}.scale"].view(np.float32)
    return found[f"{_TABLE}.int8"].view(np.int8).reshape(len(scale), -1), scale


class RolesBackend(EmbeddedBackend):
    """Frames by the role labeller; dependencies and clusters by the parser."""

    def parse(self, references: Sequence[ParsedReference]) -> ParsedBatch:
        """Gives every sentence frames and dependencies, every reference clusters."""
        labeller = RoleLabeller()
        trees = super().parse(references).references
        sentences = [s.tokens for reference in trees for s in reference.sentences]
        frames = iter(labeller.frames(sentences))
        parsed = tuple(with_frames(reference, frames) for reference in trees)
        return ParsedBatch(parsed, {"srl": f"roles-{labeller.revision}+{self.name}"})
