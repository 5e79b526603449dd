"""SRL-BERT archives of AllenNLP, run with today's torch and transformers, its decoding and all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate, chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from litepyramid.errors import InputError, ModelError, choose, loading, require
from litepyramid.progress import bar
from litepyramid.text import counted
from litepyramid.units.parsers.allennlp.archive import (
    PURPOSE,
    SrlArchive,
    bert_settings,
    read_srl_archive,
)
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
Decoding = Literal["allennlp", "exact"]
Tagger = Callable[[Sequence[Sequence[str]]], list[list[str]]]
"""From tokens of sentences to their universal parts of speech."""

_PREDICATES = frozenset({"VERB", "AUX"})
"""What AllenNLP's predictor takes for a predicate in English."""

_OPTIONS = ("bert", "decoding", "device", "verbs")
_START_SCORE = 100000.0
"""The score that AllenNLP's ``viterbi_decode`` gives an observed tag, the start tag among them."""


@dataclass(frozen=True)
class AllenNlpBackend:
    """Frames by an SRL-BERT archive of AllenNLP.

    Attributes:
        archive: The archive.
        bert: Where its BERT's word pieces are, if they are not found by themselves.
        verbs: An interchange file whose frames name the predicates, and whose tokens are used;
            without one they are the words that `tagger` (the embedded parser) calls VERB or AUX.
        decoding: ``allennlp``, as published, or ``exact``.
    """

    archive: str | Path
    bert: str | Path | None = None
    verbs: str | Path | None = None
    tagger: Tagger | None = None
    decoding: Decoding = "allennlp"
    device: str = "cpu"

    languages: ClassVar[tuple[str, ...]] = ("en",)

    def parse(self, references: Sequence[ParsedReference]) -> ParsedBatch:
        """Labels every predicate of every sentence, all of them in common batches."""
        model = load_srl_bert(
            self.archive, bert=self.bert, device=self.device, decoding=self.decoding
        )
        batch = ParsedBatch(tuple(references))
        if self.verbs is not None:
            batch = FileBackend(self.verbs).parse(references)
        counts, source = dict(batch.counts), batch.signature.get("srl")
        parsed = [s for r in batch.references for s in r.sentences]
        sentences = [sentence.tokens for sentence in parsed]
        if source is not None:
            rows = [[frame.verb for frame in sentence.frames or ()] for sentence in parsed]
        else:
            tags = self.tagger(sentences) if self.tagger else _embedded_tags(sentences)
            rows = [[i for i, tag in enumerate(row) if tag in _PREDICATES] for row in tags]
            source = "tagger" if self.tagger else "embedded"
        tagged = tag_predicates(model, sentences, rows)
        outside = sum(frame.outside > 0 for frames in tagged for frame in frames)
        if outside:
            counts["frames of sentences truncated to the model's window"] = outside
        frames = (tuple(Frame(f.verb, f.tags) for f in row) for row in tagged)
        result = tuple(with_frames(reference, frames) for reference in batch.references)
        name = f"allennlp:{Path(self.archive).name}@{model.archive.revision}"
        signature = {"srl": name, "decoding": self.decoding, "verbs": source}
        return ParsedBatch(result, signature, counts)


def open_allennlp(argument: str) -> AllenNlpBackend:
    """The backend of ``ARCHIVE,bert=FOLDER,verbs=FRAMES.jsonl,decoding=exact,device=cuda``."""
    archive, *options = argument.split(",")
    while options and "=" not in options[0]:  # a comma in the archive's own name
        archive += "," + options.pop(0)
    settings: dict[str, Any] = {}
    for option in options:
        name, _, value = option.partition("=")
        if name not in _OPTIONS or not value or name in settings:
            raise InputError(
                f"unknown option '{option}' of the SRL backend 'allennlp'",
                expected="allennlp:ARCHIVE[,bert=FOLDER][,verbs=FRAMES.jsonl][,decoding=exact]"
                "[,device=cuda]",
            )
        settings[name] = value
    choose("decoding", settings.get("decoding", "allennlp"), get_args(Decoding))
    return AllenNlpBackend(archive, **settings)


def _embedded_tags(sentences: Sequence[Sequence[str]]) -> list[list[str]]:
    """Universal parts of speech by the embedded parser in the package."""
    from litepyramid.units.parsers.embedded.pipeline import EmbeddedBackend

    return [[word.upos for word in words] for words in EmbeddedBackend().words(sentences)]


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
    decoding: Decoding = "allennlp"


_BERT = "bert_model."
_POSITIONS = f"{_BERT}embeddings.position_embeddings.weight"
_HEAD = ("tag_projection_layer.weight", "tag_projection_layer.bias")
_UNUSED = ("embeddings.position_ids", "embeddings.token_type_ids", "pooler.", "cls.")
"""Parts of a BERT state dict that SRL does not use; other unknown keys are refused."""


def load_srl_bert(
    path: str | Path,
    *,
    bert: str | Path | None = None,
    device: str = "cpu",
    decoding: Decoding = "allennlp",
) -> SrlBert:
    """Loads an archive of AllenNLP's ``srl_bert`` model (Shi & Lin 2019)."""
    choose("decoding", decoding, get_args(Decoding))
    require("torch", extra="nli", purpose=PURPOSE)
    require("transformers", extra="nli", purpose=PURPOSE)
    archive = read_srl_archive(path, bert)
    labels, hidden = len(archive.labels), archive.weights.get(_HEAD[0])
    if hidden is None or _HEAD[1] not in archive.weights or hidden.ndim != 2:
        raise ModelError("weights.th holds no tag_projection_layer", path=path)
    if hidden.shape[0] != labels or tuple(archive.weights[_HEAD[1]].shape) != (labels,):
        raise ModelError(
            f"vocabulary/labels.txt has {labels} labels, the weights have {hidden.shape[0]}",
            path=path,
        )
    encoder = _build_bert(archive)
    with loading(f"cannot be put on the device '{device}'", path=path):
        encoder = encoder.to(device)
        projection = (hidden.to(device), archive.weights[_HEAD[1]].to(device))
    return SrlBert(archive, encoder, projection, device, decoding)


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
    highest = max(archive.pieces.values())
    if highest >= settings["vocab_size"]:
        raise ModelError(
            f"the vocabulary of '{archive.bert_name}' has {highest + 1} word pieces, the weights"
            f" have {settings['vocab_size']}",
            path=archive.path,
            hint="It is another BERT's vocabulary: name the right folder with bert=FOLDER.",
        )
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
        raise InputError(
            f"{counted(len(verbs), 'list')} of predicates for "
            f"{counted(len(sentences), 'sentence')}",
            expected="one list for each sentence",
        )
    jobs = sorted(_jobs(model, sentences, verbs), key=lambda job: len(job.pieces))
    matrix = transitions(model.archive.labels, model.decoding)
    results: dict[tuple[int, int], PredicateTags] = {}
    with torch.inference_mode(), bar(len(jobs), "labelling", "predicates") as shown:
        for batch in _batches(jobs, batch_pieces):
            with loading("the model failed", path=model.archive.path):
                logits = _forward(model, batch)
            lengths = [len(job.pieces) for job in batch]
            for row, path in enumerate(decode(logits, lengths, matrix)):
                job = batch[row]
                kept = logits[row, : lengths[row]].numpy().copy() if keep_logits else None
                words = len(sentences[job.sentence])
                results[job.sentence, job.number] = _result(model, job, path, words, kept)
            shown.update(len(batch))
    return [[results[s, p] for p in range(len(row))] for s, row in enumerate(verbs)]


@dataclass(frozen=True, slots=True)
class _Job:
    """One pass: word-piece ids, which of them are the predicate's, and each word's first piece."""

    sentence: int
    number: int
    verb: int
    pieces: list[int]
    start: int
    end: int
    first_word: int
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

    for s, (words, indices) in enumerate(zip(sentences, verbs, strict=True)):
        pieces = [cut(word) for word in words] if indices else []
        sizes = list(map(len, pieces))
        for number, verb in enumerate(indices):
            if not 0 <= verb < len(words):
                raise InputError(
                    f"sentence {s + 1} has a predicate at word {verb}",
                    expected=f"an index from 0 to {len(words) - 1}",
                )
            low, high = _window(sizes, verb, window - 2)
            if low == high:
                raise InputError(
                    f"word {verb} of sentence {s + 1} is longer than the model's"
                    f" {window} word pieces"
                )
            *offsets, _ = accumulate(sizes[low:high], initial=1)
            start = offsets[verb - low]
            ids = [cls, *chain.from_iterable(pieces[low:high]), sep]
            yield _Job(s, number, verb, ids, start, start + sizes[verb], low, offsets)


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


def _batches(jobs: Sequence[_Job], batch_pieces: int) -> Iterator[list[_Job]]:
    """Runs of jobs, sorted by length, whose padded size stays within `batch_pieces`."""
    batch: list[_Job] = []
    for job in jobs:
        if batch and (len(batch) + 1) * len(job.pieces) > batch_pieces:
            yield batch
            batch = []
        batch.append(job)
    if batch:
        yield batch


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


def _result(
    model: SrlBert, job: _Job, path: Sequence[int], words: int, logits: NDArray[np.float32] | None
) -> PredicateTags:
    """A word has its first piece's tag; AllenNLP's padding labels, if any, are not roles."""
    tags = [model.archive.labels[path[offset]] for offset in job.offsets]
    tags = ["O" if tag.startswith("@@") else tag for tag in tags]
    after = words - job.first_word - len(tags)
    full = (*["O"] * job.first_word, *tags, *["O"] * after)
    return PredicateTags(job.verb, full, logits, job.first_word + after)


def transitions(labels: Sequence[str], decoding: Decoding = "allennlp") -> torch.Tensor:
    """Which label may follow which, with a start and an end state as the last two."""
    import torch

    size = len(labels)
    dtype = torch.float32 if decoding == "allennlp" else torch.float64
    matrix = torch.zeros(size + 2, size + 2, dtype=dtype)
    for column, label in enumerate(labels):
        if label.startswith("I"):
            for row, previous in enumerate(labels):
                if row != column and previous != "B" + label[1:]:
                    matrix[row, column] = -torch.inf
            matrix[size, column] = -torch.inf
    matrix[size + 1] = -torch.inf  # nothing follows the end
    matrix[size:, size:] = -torch.inf
    matrix[:, size] = -torch.inf  # nothing comes before the start
    return matrix


def decode(logits: torch.Tensor, lengths: Sequence[int], matrix: torch.Tensor) -> list[list[int]]:
    r"""The best label sequence of every row of word pieces, all rows at once.

    ``allennlp`` is what the published models' numbers come from (AllenNLP 2.10.1, ``SrlBert``): the
    score of a path is the *sum of its probabilities*, in float32, after a start of 100000; scores
    are therefore rounded to 1/128, paths tie, and a tie falls as ``torch.topk(k=1)`` lets it fall.
    ``exact`` is the textbook's: the sum of log-probabilities in float64, no such start; the first
    label wins a tie.

    Of each row of `logits` (rows, pieces, L) the first `lengths` pieces count; `matrix` comes from
    `transitions`, float64 for ``exact``.
    """
    import torch

    rows, width, size = logits.shape
    exact = matrix.dtype == torch.float64
    emissions = (
        torch.log_softmax(logits.double(), -1) if exact else torch.softmax(logits.float(), -1)
    )
    ends = torch.full((rows, width, 2), -torch.inf, dtype=matrix.dtype)
    emissions = torch.cat([emissions.cpu(), ends], -1)
    # All labels that are no I- may follow the same labels: equal columns are worked out once.
    columns, of_column = torch.unique(matrix, dim=1, return_inverse=True)
    scores = torch.full((rows, size + 2), -torch.inf if exact else 0.0, dtype=matrix.dtype)
    scores[:, size] = 0.0 if exact else _START_SCORE
    back = torch.empty(width + 1, rows, size + 2, dtype=torch.long)
    for step in range(width + 1):
        candidates = scores.unsqueeze(2) + columns
        if exact:
            best, previous = candidates.max(dim=1)
        else:  # ties fall as topk lets them
            best, previous = (top.squeeze(1) for top in torch.topk(candidates, k=1, dim=1))
        back[step] = previous[:, of_column]
        if step < width:
            scores = emissions[:, step] + best[:, of_column]
    pointers = back.numpy()
    paths = []
    for row, length in enumerate(lengths):
        path = [size + 1]
        for step in range(length, 0, -1):
            path.append(int(pointers[step, row, path[-1]]))
        paths.append(path[:0:-1])
    return paths
