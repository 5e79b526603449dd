"""AllenNLP archives: checked, and read without AllenNLP.

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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from itertools import product
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Any

from litepyramid.checked import as_type, parse_json
from litepyramid.errors import InputError, ModelError, loading, require
from litepyramid.files import file_type, split_lines

if TYPE_CHECKING:
    import torch

PURPOSE = "reading AllenNLP archives"
_WHAT = "an AllenNLP archive of an SRL-BERT model (config.json, weights.th, vocabulary/labels.txt)"
_WANTED = ("config.json", "weights.th", "labels.txt", "non_padded_namespaces.txt", "vocab.txt")
_MEMBERS = 10_000
_ROOM, _RATIO = 256 << 20, 20


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
class SrlArchive:
    """An SRL-BERT archive; `lowercase` if its BERT's name holds "uncased", AllenNLP's rule.

    `bert_config` is BERT's configuration as far as the archive or the BERT's folder gives it,
    `weights` the state dict in float32 on the CPU, `revision` the start of its SHA-256.
    """

    path: Path
    revision: str
    labels: tuple[str, ...]
    pieces: Mapping[str, int] = field(repr=False)
    lowercase: bool
    bert_name: str
    bert_config: Mapping[str, Any]
    weights: Mapping[str, torch.Tensor] = field(repr=False)


def read_srl_archive(path: str | Path, bert: str | Path | None = None) -> SrlArchive:
    """Reads an archive (tar, gzipped too, or a folder) of AllenNLP's ``srl_bert`` model.

    `bert` is a folder, a ``vocab.txt`` or a name on the hub, if its word pieces lie elsewhere.
    """
    path = Path(path)
    require("torch", extra="nli", purpose=PURPOSE)
    wrong = partial(ModelError, path=path)
    with archive_folder(path) as folder:
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
        bert_config = config.model.bert_model
        if not isinstance(bert_config, dict):
            beside = vocabulary.with_name("config.json")
            allennlps = beside.parent == folder or file_type(beside) != "file"
            read = {} if allennlps else _read_json(beside, beside, path)
            bert_config = as_type(dict[str, Any], read, path=path, error=ModelError)
        labels = read_labels(folder, path)
        weights, revision = _read_weights(folder, path)
        pieces, lowercase = _read_vocabulary(vocabulary, shown), "uncased" in name
        return SrlArchive(path, revision, labels, pieces, lowercase, name, bert_config, weights)


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


def _read_weights(folder: Path, path: Path) -> tuple[dict[str, torch.Tensor], str]:
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
def archive_folder(path: Path) -> Iterator[Path]:
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


def bert_settings(archive: SrlArchive, weights: Mapping[str, torch.Tensor]) -> dict[str, Any]:
    """BERT's configuration: sizes from the weights, the rest as stated, else as BERT's are."""
    stated, wrong = archive.bert_config, partial(ModelError, path=archive.path)
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
    if heads is None and re.match("(span|sci)?bert[-_]", Path(archive.bert_name).name.lower()):
        heads = hidden_size // 64  # of every BERT that was published under such a name
    if heads is None:
        hint = "Name a folder with its config.json beside vocab.txt: allennlp:ARCHIVE,bert=FOLDER."
        what = f"the number of attention heads of '{archive.bert_name}' is not known"
        raise wrong(what, hint=hint)
    if not isinstance(heads, int) or heads < 1 or hidden_size % heads:
        raise wrong(f"{heads} attention heads do not divide {hidden_size}")
    if stated.get("position_embedding_type", "absolute") != "absolute" or stated.get("is_decoder"):
        raise wrong("the BERT is a decoder or has relative positions")
    rest = {key: stated[key] for key in ("hidden_act", "layer_norm_eps") if key in stated}
    return {**sizes, "num_attention_heads": heads, **rest}
