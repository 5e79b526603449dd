"""SRL-BERT archives of AllenNLP, run with today's torch and transformers, its decoding and all.

An archive is a tar file (usually ``model.tar.gz``) that holds ``config.json``, ``weights.th`` (a
torch state dict) and ``vocabulary/``. Nothing in it is ever run: the files needed are copied from
its stream, and weights are read by ``torch.load(weights_only=True)``.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import shutil
import tarfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache, partial
from itertools import accumulate, chain, product
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from litepyramid.checked import as_type, parse_json
from litepyramid.errors import InputError, ModelError, loading, require
from litepyramid.files import file_type, split_lines
from litepyramid.progress import bar
from litepyramid.text import counted
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

_Weights = Mapping[str, "torch.Tensor"]

_WHAT = "an AllenNLP archive of an SRL-BERT model (config.json, weights.th, vocabulary/labels.txt)"
_WANTED = ("config.json", "weights.th", "labels.txt", "non_padded_namespaces.txt", "vocab.txt")
_MEMBERS = 10_000
_ROOM, _RATIO = 256 << 20, 20
BATCH_PIECES = 512
_PREDICATES = frozenset({"VERB", "AUX"})
"""What AllenNLP's predictor takes for a predicate in English."""
_OPTIONS = ("bert", "device", "verbs")
_START_SCORE = 100000.0
"""The score that AllenNLP's ``viterbi_decode`` gives an observed tag, the start tag among them."""
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
        name = f"allennlp:{Path(self.archive).name}@{model.revision}"
        signature = {"srl": name, "decoding": "allennlp", "verbs": batch.signature["srl"]}
        return ParsedBatch(result, signature, counts)


def open_allennlp(argument: str) -> AllenNlpBackend:
    """The backend of ``ARCHIVE,bert=FOLDER,verbs=FRAMES.jsonl,device=cuda``."""
    archive, *options = argument.split(",")
    if not archive:
        raise InputError("the SRL backend 'allennlp' needs a path", expected="allennlp:ARCHIVE")
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


@dataclass(frozen=True, slots=True)
class _Model:
    type: str
    bert_model: str | dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class _Config:
    """What is needed of an archive's config.json."""

    model: _Model
    dataset_reader: dict[str, Any] | None = None
    validation_dataset_reader: dict[str, Any] | None = None


@dataclass(frozen=True)
class SrlBert:
    """An SRL-BERT model ready to tag.

    `revision` is the start of the weights' SHA-256; `lowercase`, whether its BERT's name holds
    "uncased", AllenNLP's rule; `window`, its positions; `projection` goes from pieces to labels.
    """

    path: Path
    revision: str
    labels: tuple[str, ...]
    pieces: Mapping[str, int] = field(repr=False)
    lowercase: bool
    window: int
    encoder: torch.nn.Module = field(repr=False)
    projection: tuple[torch.Tensor, torch.Tensor] = field(repr=False)
    device: str


def load_srl_bert(
    path: str | Path, *, bert: str | Path | None = None, device: str = "cpu"
) -> SrlBert:
    """Loads an archive (tar, gzipped too, or a folder) of a ``srl_bert`` model (Shi & Lin 2019).

    `bert` is a folder, a ``vocab.txt`` or a name on the hub, if its word pieces lie elsewhere.
    """
    path = Path(path)
    for package in ("torch", "transformers"):
        require(package, extra="nli", purpose="reading AllenNLP archives")
    wrong = partial(ModelError, path=path)
    with _archive_folder(path) as folder:
        values = _read_json(_file(folder, path, "config.json"), f"{path}/config.json", path)
        what = "config.json names no model type"
        config = as_type(_Config, values, what=what, path=path, error=ModelError)
        if config.model.type != "srl_bert":
            hint = "scripts/train/allennlp_parse.py runs other models in AllenNLP's environment."
            what = f"is a model of the kind '{config.model.type}'"
            raise wrong(what, expected="the kind 'srl_bert'", hint=hint)
        reader = config.validation_dataset_reader or config.dataset_reader or {}
        name = reader.get("bert_model_name") or config.model.bert_model
        if not isinstance(name, str):
            what = "config.json does not name the BERT that makes the word pieces"
            raise wrong(what, expected="dataset_reader.bert_model_name")
        vocabulary = _find_bert(name, folder, bert, path)
        inside = vocabulary.is_relative_to(folder)
        shown = f"{path}/{vocabulary.relative_to(folder)}" if inside else vocabulary
        stated = config.model.bert_model
        if not isinstance(stated, dict):
            beside = vocabulary.with_name("config.json")
            allennlps = beside.parent == folder or file_type(beside) != "file"
            read = {} if allennlps else _read_json(beside, beside, path)
            stated = as_type(dict[str, Any], read, path=path, error=ModelError)
        labels = read_labels(folder, path)
        weights, revision = _read_weights(folder, path)
        pieces = _read_vocabulary(vocabulary, shown)
    hidden, bias = (weights.get(f"tag_projection_layer.{part}") for part in ("weight", "bias"))
    if hidden is None or bias is None or hidden.ndim != 2:
        raise wrong("weights.th holds no tag_projection_layer")
    if hidden.shape[0] != len(labels) or tuple(bias.shape) != (len(labels),):
        what = f"vocabulary/labels.txt has {len(labels)} labels, the weights have {hidden.shape[0]}"
        raise wrong(what)
    encoder, settings = _build_bert(path, name, stated, weights)
    if (size := max(pieces.values()) + 1) > settings["vocab_size"]:
        what = f"the vocabulary of '{name}' has {size} word pieces, the weights have"
        hint = "It is another BERT's vocabulary: name the right folder with bert=FOLDER."
        raise wrong(f"{what} {settings['vocab_size']}", hint=hint)
    with loading(f"cannot be put on the device '{device}'", path=path):
        encoder, projection = encoder.to(device), (hidden.to(device), bias.to(device))
    window = settings["max_position_embeddings"]
    lowercase = "uncased" in name
    return SrlBert(path, revision, labels, pieces, lowercase, window, encoder, projection, device)


def _file(folder: Path, path: Path, name: str) -> Path:
    if file_type(folder / name) != "file":
        raise ModelError(f"holds no {name}", path=path, expected=_WHAT)
    return folder / name


def _read_json(file: Path, shown: str | Path, path: Path) -> Any:
    with loading("config.json is not valid JSON", path=path):
        return parse_json(file.read_text("utf-8-sig"), path=shown, error=ModelError)


def read_labels(folder: Path, path: Path) -> tuple[str, ...]:
    """The labels by index; AllenNLP puts padding first in namespaces that it does not name."""
    file = _file(folder, path, "vocabulary/labels.txt")
    listed = file.with_name("non_padded_namespaces.txt")
    with loading("its vocabulary cannot be read", path=path):
        labels = split_lines(file.read_text("utf-8-sig"))
        patterns = listed.read_text().split() if listed.exists() else ["*labels"]
    if not any(fnmatchcase("labels", pattern) for pattern in patterns):
        labels.insert(0, "@@PADDING@@")
    for number, label in enumerate(labels):
        if not re.fullmatch(r"O|@@(PADDING|UNKNOWN)@@|[A-Z]-\S+", label):
            what = f"label {number} in vocabulary/labels.txt is '{label}'"
            raise ModelError(what, path=path, expected="O, B-ROLE or I-ROLE")
    if len(set(labels)) != len(labels) or not labels:
        raise ModelError("vocabulary/labels.txt is empty or has a label twice", path=path)
    return tuple(labels)


def _read_weights(folder: Path, path: Path) -> tuple[_Weights, str]:
    """The state dict with the prefixes of training wrappers taken off, and its fingerprint."""
    import torch

    what = "weights.th is damaged or holds more than plain tensors, and was not loaded"
    with (
        _file(folder, path, "weights.th").open("rb") as file,
        loading(what, path=path, expected="a torch state dict"),
    ):
        _check_parts(file)
        file.seek(0)
        state = torch.load(file, map_location="cpu", weights_only=True)
        size = file.seek(0, 2)
        file.seek(0)
        revision = hashlib.file_digest(file, "sha256").hexdigest()[:12]
    if not isinstance(state, dict) or not all(
        isinstance(k, str) and isinstance(v, torch.Tensor) for k, v in state.items()
    ):
        raise ModelError("weights.th is not a table of tensors", path=path, expected=_WHAT)
    if sum(tensor.nbytes for tensor in state.values()) > 4 * size:  # views of a few numbers
        raise ModelError("weights.th holds tensors larger than itself", path=path, expected=_WHAT)
    clean = {re.sub(r"^(?:module\.|_orig_mod\.|model\.)+", "", k): v for k, v in state.items()}
    return {k: v.float() if v.is_floating_point() else v for k, v in clean.items()}, revision


def _check_parts(file: IO[bytes]) -> None:
    """Refuses a torch file with compressed or overlapping parts, which can fill the memory."""
    if not zipfile.is_zipfile(file):
        return  # torch's old form has no parts; its loader reads no more than there is
    with zipfile.ZipFile(file) as parts:
        sizes = [(part.file_size, part.compress_size) for part in parts.infolist()]
    stored = sum(size for _, size in sizes)
    if any(whole != packed for whole, packed in sizes) or stored > file.seek(0, 2):
        raise ModelError("holds compressed weights", expected="weights as torch.save writes them")


@contextmanager
def _archive_folder(path: Path) -> Iterator[Path]:
    """A folder with the files of an archive, of which no more than is needed is ever copied."""
    kind = file_type(path)
    if kind in (None, "other"):
        raise InputError("no such file", path=path, expected=_WHAT, hint="Check the path.")
    with nullcontext(path) if kind == "folder" else TemporaryDirectory() as made:
        folder = Path(made)
        if kind == "file":
            hint = "Get the archive again."
            with loading("is damaged or not a tar file", path=path, expected=_WHAT, hint=hint):
                _unpack(path, folder)
        inner = [item for item in folder.iterdir() if file_type(item / "config.json") == "file"]
        yield folder if (folder / "config.json").exists() or len(inner) != 1 else inner[0]


def _unpack(path: Path, folder: Path) -> None:
    """Copies the members wanted into the folder."""
    with path.open("rb") as raw:
        zipped = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        limit = _ROOM + _RATIO * path.stat().st_size
        stream = _Counted(gzip.GzipFile(fileobj=raw) if zipped else raw, limit, path)
        seen: set[PurePosixPath] = set()
        with tarfile.open(fileobj=stream, mode="r|") as archive:  # type: ignore[call-overload]
            for member in archive:
                name = PurePosixPath("/", member.name).relative_to("/")
                regular = member.isreg() and not member.issparse()
                if ".." in name.parts or not (regular or member.isdir()):
                    raise _unsafe(path, f"{ascii(member.name)[:80]}, which is not safe to unpack")
                if len(seen) >= _MEMBERS:
                    raise _unsafe(path, f"more than {_MEMBERS} members")
                if regular and name in seen:
                    raise _unsafe(path, "a file twice")
                seen.add(name)
                source = archive.extractfile(member) if name.name in _WANTED else None
                if source is not None:
                    (folder / name).parent.mkdir(parents=True, exist_ok=True)
                    with (folder / name).open("xb") as file:
                        shutil.copyfileobj(source, file, 1 << 20)
        while stream.read(1 << 20):
            pass  # only at its very end is the stream's checksum looked at


def _unsafe(path: Path, what: str) -> ModelError:
    hint = "Do not use this file; get the archive again from where it was published."
    return ModelError(f"holds {what}", path=path, expected=_WHAT, hint=hint)


class _Counted:
    """A stream that ends with an error when it gives more than it may."""

    def __init__(self, stream: IO[bytes] | gzip.GzipFile, limit: int, path: Path) -> None:
        self._stream, self._left, self._limit, self._path = stream, limit, limit, path

    def read(self, size: int) -> bytes:
        data = self._stream.read(min(size, self._left + 1))
        self._left -= len(data)
        if self._left < 0:
            raise _unsafe(self._path, f"more than {self._limit >> 20} MiB, too much for its size")
        return data


def _find_bert(name: str, folder: Path, named: str | Path | None, archive: Path) -> Path:
    """The vocabulary of a BERT, as named by the user or in or next to the archive or on the hub."""
    if named is not None:
        vocabulary = _at(Path(named)) or _on_hub(str(named))
        what = f"no BERT vocabulary at '{named}'"
    else:
        last, beside = Path(name).name or ".", archive.absolute().parent
        inside = (folder / top for top in (name.lstrip("/"), last, f"fta/{last}", ""))
        places = map(_at, (*inside, beside / name, beside / last, Path(name)))
        vocabulary = next(filter(None, places), None) or _on_hub(name)
        what = (
            f"the word pieces of '{name}' were not found in the archive, next to it, as a folder, "
            "in the Hugging Face cache or on the hub"
        )
    if vocabulary is None:
        expected = "a folder with vocab.txt, that file, or a name on the Hugging Face hub"
        hint = "Name the BERT's folder (with config.json too): allennlp:ARCHIVE,bert=FOLDER."
        raise ModelError(what, path=archive, expected=expected, hint=hint)
    return vocabulary


def _at(path: Path) -> Path | None:
    """The vocabulary in this folder, or this file."""
    return next((file for file in (path, path / "vocab.txt") if file_type(file) == "file"), None)


def _on_hub(name: str) -> Path | None:
    """The vocabulary in the Hugging Face cache or on the hub, its config.json fetched beside it."""
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError

    names = [name] if "/" in name else [name, f"google-bert/{name}"]
    for local, candidate in product((True, False), names):
        absent = suppress(EntryNotFoundError, OSError, ValueError)
        with absent:
            vocabulary = hf_hub_download(candidate, "vocab.txt", local_files_only=local)
            with absent:
                hf_hub_download(candidate, "config.json", local_files_only=local)
            return Path(vocabulary)
    return None


def _read_vocabulary(file: Path, shown: str | Path) -> dict[str, int]:
    """The word pieces of a ``vocab.txt`` with their indices."""
    with loading("is not a BERT vocabulary", path=shown):
        pieces = {piece: i for i, piece in enumerate(split_lines(file.read_text("utf-8-sig")))}
    if missing := [special for special in ("[CLS]", "[SEP]", "[UNK]") if special not in pieces]:
        raise ModelError(f"is not a BERT vocabulary: {', '.join(missing)} missing", path=shown)
    return pieces


def _build_bert(
    path: Path, name: str, stated: Mapping[str, Any], weights: _Weights
) -> tuple[torch.nn.Module, dict[str, Any]]:
    """The BERT with the archive's weights, checked by name and shape, and its configuration."""
    import torch
    from transformers import BertConfig, BertModel

    state = {}
    for key, value in weights.items():
        part = key.removeprefix("bert_model.")
        if key.startswith("tag_projection_layer.") or (key != part and part.startswith(_UNUSED)):
            continue
        part = part.replace("LayerNorm.gamma", "LayerNorm.weight")
        state[part.replace("LayerNorm.beta", "LayerNorm.bias")] = value
    settings = _bert_settings(path, name, stated, state)
    with loading("its BERT configuration is not valid", path=path):
        with torch.device("meta"):
            encoder: torch.nn.Module = BertModel(BertConfig(**settings), add_pooling_layer=False)
        encoder.to_empty(device="cpu")
    try:
        encoder.load_state_dict(state, strict=True)
    except RuntimeError as error:
        why = " ".join(str(error).split())[:400]
        raise ModelError(f"its weights do not fit a BERT ({why})", path=path) from None
    encoder.train(False)
    return encoder, settings


def _bert_settings(
    path: Path, name: str, stated: Mapping[str, Any], weights: _Weights
) -> dict[str, Any]:
    """BERT's configuration: sizes from the weights, the rest as stated, else as BERT's are."""
    wrong = partial(ModelError, path=path)
    shapes = {key: tuple(value.shape) for key, value in weights.items()}
    layers = {m[1] for key in weights if (m := re.match(r"encoder\.layer\.(\d+)\.", key))}
    try:
        vocab_size, hidden_size = shapes["embeddings.word_embeddings.weight"]
        sizes = {
            "vocab_size": vocab_size,
            "hidden_size": hidden_size,
            "num_hidden_layers": len(layers),
            "intermediate_size": shapes["encoder.layer.0.intermediate.dense.weight"][0],
            "max_position_embeddings": shapes["embeddings.position_embeddings.weight"][0],
            "type_vocab_size": shapes["embeddings.token_type_embeddings.weight"][0],
        }
    except (KeyError, ValueError, IndexError) as error:
        expected = "tensors bert_model.embeddings…, bert_model.encoder.layer.0…"
        what = f"weights.th holds no BERT ({error} missing or of another shape)"
        raise wrong(what, expected=expected) from None
    for key, value in sizes.items():
        if stated.get(key, value) != value:
            where = f"{stated[key]} in its configuration, {value} in the weights"
            raise wrong(f"the BERT's {key} is {where}")
    heads = stated.get("num_attention_heads")
    if heads is None and re.match("(span|sci)?bert[-_]", Path(name).name.lower()):
        heads = hidden_size // 64  # of every BERT that was published under such a name
    if heads is None:
        hint = "Name a folder with its config.json beside vocab.txt: allennlp:ARCHIVE,bert=FOLDER."
        what = f"the number of attention heads of '{name}' is not known"
        raise wrong(what, hint=hint)
    if not isinstance(heads, int) or heads < 1 or hidden_size % heads:
        raise wrong(f"{heads} attention heads do not divide {hidden_size}")
    if stated.get("position_embedding_type", "absolute") != "absolute" or stated.get("is_decoder"):
        raise wrong("the BERT is a decoder or has relative positions")
    rest = {key: stated[key] for key in ("hidden_act", "layer_norm_eps") if key in stated}
    return {**sizes, "num_attention_heads": heads, **rest}


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
    matrix = transitions(model.labels)
    tagged: dict[int, PredicateTags] = {}
    with torch.inference_mode(), bar(len(jobs), "labelling", "predicates") as shown:
        while batch := order[len(tagged) : len(tagged) + batch_pieces]:
            while len(batch) > 1 and len(batch) * len(jobs[batch[-1]].pieces) > batch_pieces:
                batch.pop()
            with loading("the model failed", path=model.path):
                logits = _forward(model, [jobs[number] for number in batch])
            lengths = [len(jobs[number].pieces) for number in batch]
            paths = decode(logits, lengths, matrix)
            for number, row, length, path in zip(batch, logits, lengths, paths, strict=True):
                job = jobs[number]
                # A word has its first piece's tag; AllenNLP's padding labels are no roles.
                tags = [model.labels[path[offset]] for offset in job.offsets]
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

    cutter = WordPiece(dict(model.pieces), unk_token="[UNK]", max_input_chars_per_word=100)
    cls, sep = model.pieces["[CLS]"], model.pieces["[SEP]"]

    @cache
    def cut(word: str) -> list[int]:
        text = word.lower() if model.lowercase else word
        return [token.id for part in text.split() for token in cutter.tokenize(part)]

    for s, (words, indices) in enumerate(zip(sentences, verbs, strict=True), start=1):
        pieces = [cut(word) for word in words] if indices else []
        sizes = list(map(len, pieces))
        for verb in indices:
            if not 0 <= verb < len(words):
                expected = f"an index from 0 to {len(words) - 1}"
                raise InputError(f"sentence {s} has a predicate at word {verb}", expected=expected)
            low, high = _window(sizes, verb, model.window - 2)
            if low == high:
                what = f"word {verb} of sentence {s} is longer than the model's"
                raise InputError(f"{what} {model.window} word pieces")
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
