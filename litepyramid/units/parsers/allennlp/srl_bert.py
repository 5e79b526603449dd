"""SRL-BERT archives of AllenNLP, run with today's torch and transformers, its decoding and all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate, chain
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from litepyramid.errors import InputError, ModelError, loading, require
from litepyramid.progress import bar
from litepyramid.text import counted
from litepyramid.units.parsers.allennlp.archive import (
    PURPOSE,
    SrlArchive,
    bert_settings,
    read_srl_archive,
)
from litepyramid.units.parsers.embedded.pipeline import EmbeddedBackend
from litepyramid.units.parses import (
    FileBackend,
    Frame,
    ParsedBatch,
    ParsedReference,
    with_frames,
)

if TYPE_CHECKING:
    import torch

BATCH_PIECES = 512
_PREDICATES = frozenset({"VERB", "AUX"})
"""What AllenNLP's predictor takes for a predicate in English."""
_OPTIONS = ("bert", "device", "verbs")
_START_SCORE = 100000.0
"""The score that AllenNLP's ``viterbi_decode`` gives an observed tag, the start tag among them."""
_BERT = "bert_model."
_POSITIONS = f"{_BERT}embeddings.position_embeddings.weight"
_HEAD = ("tag_projection_layer.weight", "tag_projection_layer.bias")
_UNUSED = ("embeddings.position_ids", "embeddings.token_type_ids", "pooler.", "cls.")
"""Parts of a BERT state dict that SRL does not use; other unknown keys are refused."""


@dataclass(frozen=True)
class AllenNlpBackend:
    """Frames by an SRL-BERT archive of AllenNLP.

    Attributes:
        archive: The archive.
        bert: Where its BERT's word pieces are, if they are not found by themselves.
        verbs: An interchange file whose frames name the predicates, and whose tokens are used;
            without one they are the words that the embedded parser calls VERB or AUX.
    """

    archive: str | Path
    bert: str | Path | None = None
    verbs: str | Path | None = None
    device: str = "cpu"

    languages: ClassVar[tuple[str, ...]] = ("en",)

    def parse(self, references: Sequence[ParsedReference]) -> ParsedBatch:
        """Labels every predicate of every sentence, all of them in common batches."""
        model = load_srl_bert(self.archive, bert=self.bert, device=self.device)
        batch = ParsedBatch(tuple(references), {"srl": "embedded"})
        if self.verbs is not None:
            batch = FileBackend(self.verbs).parse(references)
        parsed = [s for r in batch.references for s in r.sentences]
        sentences = [sentence.tokens for sentence in parsed]
        if self.verbs is None:
            trees = EmbeddedBackend().words(sentences)
            rows = [[i for i, word in enumerate(t) if word.upos in _PREDICATES] for t in trees]
        else:
            rows = [[frame.verb for frame in sentence.frames or ()] for sentence in parsed]
        tagged = tag_predicates(model, sentences, rows)
        counts = dict(batch.counts)
        if outside := sum(frame.outside > 0 for frames in tagged for frame in frames):
            counts["frames of sentences truncated to the model's window"] = outside
        frames = (tuple(Frame(f.verb, f.tags) for f in row) for row in tagged)
        result = tuple(with_frames(reference, frames) for reference in batch.references)
        name = f"allennlp:{Path(self.archive).name}@{model.archive.revision}"
        signature = {"srl": name, "decoding": "allennlp", "verbs": batch.signature["srl"]}
        return ParsedBatch(result, signature, counts)


def open_allennlp(argument: str) -> AllenNlpBackend:
    """The backend of ``ARCHIVE,bert=FOLDER,verbs=FRAMES.jsonl,device=cuda``."""
    archive, *options = argument.split(",")
    if not archive:
        raise InputError("the SRL backend 'allennlp' needs a path", expected="allennlp:ARCHIVE")
    while options and "=" not in options[0]:  # a comma in the archive's own name
        archive += "," + options.pop(0)
    settings: dict[str, str] = {}
    for option in options:
        name, _, value = option.partition("=")
        if name not in _OPTIONS or not value or name in settings:
            what = f"unknown option '{option}' of the SRL backend 'allennlp'"
            expected = "allennlp:ARCHIVE[,bert=FOLDER][,verbs=FRAMES.jsonl][,device=cuda]"
            raise InputError(what, expected=expected)
        settings[name] = value
    return AllenNlpBackend(archive, **settings)


@dataclass(frozen=True)
class PredicateTags:
    """The tags of one predicate's sentence, with logits (pieces, L) if asked for.

    `outside` words at the ends did not fit in the model's window and are tagged O.
    """

    verb: int
    tags: tuple[str, ...]
    logits: NDArray[np.float32] | None = field(default=None, repr=False, compare=False)
    outside: int = 0


@dataclass(frozen=True)
class SrlBert:
    """An SRL-BERT model ready to tag; `projection` goes from word pieces to labels."""

    archive: SrlArchive
    encoder: torch.nn.Module = field(repr=False)
    projection: tuple[torch.Tensor, torch.Tensor] = field(repr=False)
    device: str


def load_srl_bert(
    path: str | Path, *, bert: str | Path | None = None, device: str = "cpu"
) -> SrlBert:
    """Loads an archive of AllenNLP's ``srl_bert`` model (Shi & Lin 2019)."""
    require("torch", extra="nli", purpose=PURPOSE)
    require("transformers", extra="nli", purpose=PURPOSE)
    archive = read_srl_archive(path, bert)
    labels, hidden = len(archive.labels), archive.weights.get(_HEAD[0])
    if hidden is None or _HEAD[1] not in archive.weights or hidden.ndim != 2:
        raise ModelError("weights.th holds no tag_projection_layer", path=path)
    if hidden.shape[0] != labels or tuple(archive.weights[_HEAD[1]].shape) != (labels,):
        what = f"vocabulary/labels.txt has {labels} labels, the weights have {hidden.shape[0]}"
        raise ModelError(what, path=path)
    encoder = _build_bert(archive)
    with loading(f"cannot be put on the device '{device}'", path=path):
        encoder = encoder.to(device)
        projection = (hidden.to(device), archive.weights[_HEAD[1]].to(device))
    return SrlBert(archive, encoder, projection, device)


def _build_bert(archive: SrlArchive) -> torch.nn.Module:
    """The BERT with the archive's weights; every weight checked by name and shape."""
    import torch
    from transformers import BertConfig, BertModel

    weights = {}
    for key, value in archive.weights.items():
        name = key.removeprefix(_BERT)
        if key in _HEAD or (key != name and name.startswith(_UNUSED)):
            continue
        name = name.replace("LayerNorm.gamma", "LayerNorm.weight")
        weights[name.replace("LayerNorm.beta", "LayerNorm.bias")] = value
    settings = bert_settings(archive, weights)
    pieces, rows = max(archive.pieces.values()) + 1, settings["vocab_size"]
    if pieces > rows:
        what = f"the vocabulary of '{archive.bert_name}' has {pieces} word pieces, the weights"
        hint = "It is another BERT's vocabulary: name the right folder with bert=FOLDER."
        raise ModelError(f"{what} have {rows}", path=archive.path, hint=hint)
    with loading("its BERT configuration is not valid", path=archive.path):
        with torch.device("meta"):
            encoder: torch.nn.Module = BertModel(BertConfig(**settings), add_pooling_layer=False)
        encoder.to_empty(device="cpu")
    try:
        encoder.load_state_dict(weights, strict=True)
    except RuntimeError as error:
        why = " ".join(str(error).split())[:400]
        raise ModelError(f"its weights do not fit a BERT ({why})", path=archive.path) from None
    encoder.train(False)
    return encoder


def tag_predicates(
    model: SrlBert,
    sentences: Sequence[Sequence[str]],
    verbs: Sequence[Sequence[int]],
    *,
    batch_pieces: int = BATCH_PIECES,
    keep_logits: bool = False,
) -> list[list[PredicateTags]]:
    """Tags the arguments of every predicate of every sentence, in the order asked for.

    All predicates are sorted by length and run in batches of about `batch_pieces` word pieces. A
    sentence longer than the BERT's positions (512) is cut, predicate by predicate, to a window of
    whole words with the predicate in its middle (AllenNLP fails on such a sentence).
    """
    import torch

    if len(sentences) != len(verbs):
        what = f"{counted(len(verbs), 'list')} of predicates for "
        what += counted(len(sentences), "sentence")
        raise InputError(what, expected="one list for each sentence")
    jobs = list(_jobs(model, sentences, verbs))
    order = sorted(range(len(jobs)), key=lambda number: len(jobs[number].pieces))
    matrix = transitions(model.archive.labels)
    tagged: dict[int, PredicateTags] = {}
    with torch.inference_mode(), bar(len(jobs), "labelling", "predicates") as shown:
        while batch := order[len(tagged) : len(tagged) + batch_pieces]:
            while len(batch) > 1 and len(batch) * len(jobs[batch[-1]].pieces) > batch_pieces:
                batch.pop()
            with loading("the model failed", path=model.archive.path):
                logits = _forward(model, [jobs[number] for number in batch])
            lengths = [len(jobs[number].pieces) for number in batch]
            paths = decode(logits, lengths, matrix)
            for number, row, length, path in zip(batch, logits, lengths, paths, strict=True):
                job = jobs[number]
                # A word has its first piece's tag; AllenNLP's padding labels are no roles.
                tags = [model.archive.labels[path[offset]] for offset in job.offsets]
                inside = ["O" if tag.startswith("@@") else tag for tag in tags]
                full = (*["O"] * job.before, *inside, *["O"] * job.after)
                kept = row[:length].numpy().copy() if keep_logits else None
                tagged[number] = PredicateTags(job.verb, full, kept, job.before + job.after)
            shown.update(len(batch))
    results = iter([tagged[number] for number in range(len(jobs))])
    return [[next(results) for _ in row] for row in verbs]


@dataclass(frozen=True, slots=True)
class _Job:
    """One pass: word-piece ids, which of them are the predicate's, and each word's first piece.

    `before` and `after` are the numbers of words outside the window.
    """

    verb: int
    pieces: list[int]
    start: int
    end: int
    before: int
    after: int
    offsets: list[int]


def _jobs(
    model: SrlBert, sentences: Sequence[Sequence[str]], verbs: Sequence[Sequence[int]]
) -> Iterator[_Job]:
    """One job a predicate; words are cut into pieces once."""
    from tokenizers.models import WordPiece

    archive = model.archive
    cutter = WordPiece(dict(archive.pieces), unk_token="[UNK]", max_input_chars_per_word=100)
    window = int(archive.weights[_POSITIONS].shape[0])
    cls, sep = archive.pieces["[CLS]"], archive.pieces["[SEP]"]

    @cache
    def cut(word: str) -> list[int]:
        text = word.lower() if archive.lowercase else word
        return [token.id for part in text.split() for token in cutter.tokenize(part)]

    for s, (words, indices) in enumerate(zip(sentences, verbs, strict=True), start=1):
        pieces = [cut(word) for word in words] if indices else []
        sizes = list(map(len, pieces))
        for verb in indices:
            if not 0 <= verb < len(words):
                expected = f"an index from 0 to {len(words) - 1}"
                raise InputError(f"sentence {s} has a predicate at word {verb}", expected=expected)
            low, high = _window(sizes, verb, window - 2)
            if low == high:
                what = f"word {verb} of sentence {s} is longer than the model's"
                raise InputError(f"{what} {window} word pieces")
            *offsets, _ = accumulate(sizes[low:high], initial=1)
            start = offsets[verb - low]
            ids = [cls, *chain.from_iterable(pieces[low:high]), sep]
            yield _Job(verb, ids, start, start + sizes[verb], low, len(words) - high, offsets)


def _window(sizes: Sequence[int], verb: int, room: int) -> tuple[int, int]:
    """The words [low, high) around the verb that fit in `room` pieces, as even as can be."""
    if sum(sizes) <= room:
        return 0, len(sizes)
    low = high = verb
    used, grown = 0, True
    while grown:
        grown = False
        if high < len(sizes) and used + sizes[high] <= room:
            used, high, grown = used + sizes[high], high + 1, True
        if high > verb and low > 0 and used + sizes[low - 1] <= room:
            used, low, grown = used + sizes[low - 1], low - 1, True
    return low, high


def _forward(model: SrlBert, batch: Sequence[_Job]) -> torch.Tensor:
    """Logits (rows, pieces, L) of a batch, on the CPU."""
    import torch

    pieces = [torch.tensor(job.pieces) for job in batch]
    ids = torch.nn.utils.rnn.pad_sequence(pieces, batch_first=True)
    places = torch.arange(ids.shape[1]).unsqueeze(0)
    start, end, size = torch.tensor([(j.start, j.end, len(j.pieces)) for j in batch]).T.unsqueeze(2)
    verb, mask = ((start <= places) & (places < end)).long(), (places < size).long()
    states = model.encoder(
        input_ids=ids.to(model.device),
        token_type_ids=verb.to(model.device),
        attention_mask=mask.to(model.device),
        position_ids=places.to(model.device),
    ).last_hidden_state
    return torch.nn.functional.linear(states, *model.projection).cpu()


def transitions(labels: Sequence[str]) -> torch.Tensor:
    """0 where a label may follow another, else -inf; a start and an end state are the last two."""
    import torch

    size = len(labels)
    matrix = torch.zeros(size + 2, size + 2)
    for column, label in enumerate(labels):
        if label.startswith("I"):
            allowed = (label, f"B{label[1:]}")
            forbidden = [row for row, previous in enumerate(labels) if previous not in allowed]
            matrix[[*forbidden, size], column] = -torch.inf
    matrix[size + 1] = -torch.inf  # nothing follows the end
    matrix[size:, size:] = -torch.inf
    matrix[:, size] = -torch.inf  # nothing comes before the start
    return matrix


def decode(logits: torch.Tensor, lengths: Sequence[int], matrix: torch.Tensor) -> list[list[int]]:
    """The best label sequence of every row of word pieces, all rows at once.

    As AllenNLP 2.10.1 (``SrlBert``) does it, from which the published models' numbers come: the
    score of a path is the *sum of its probabilities*, in float32, after a start of 100000; scores
    are therefore rounded to 1/128, paths tie, and a tie falls as ``torch.topk(k=1)`` lets it fall.

    Of each row of `logits` (rows, pieces, L) the first `lengths` pieces count; `matrix` comes from
    `transitions`.
    """
    import torch

    rows, width, size = logits.shape
    ends = torch.full((rows, width, 2), -torch.inf)
    emissions = torch.cat([torch.softmax(logits.float(), -1).cpu(), ends], -1)
    # All labels that are no I- may follow the same labels: equal columns are worked out once.
    columns, of_column = torch.unique(matrix, dim=1, return_inverse=True)
    scores = torch.zeros(rows, size + 2)
    scores[:, size] = _START_SCORE
    back = torch.empty(width + 1, rows, size + 2, dtype=torch.long)
    for step in range(width + 1):
        best, previous = torch.topk(scores.unsqueeze(2) + columns, k=1, dim=1)
        back[step] = previous.squeeze(1)[:, of_column]
        if step < width:
            scores = emissions[:, step] + best.squeeze(1)[:, of_column]
    pointers = back.numpy()
    paths = []
    for row, length in enumerate(lengths):
        path = [size + 1]
        for step in range(length, 0, -1):
            path.append(int(pointers[step, row, path[-1]]))
        paths.append(path[:0:-1])
    return paths
