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
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import product
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Any

from litepyramid.checked import as_type, parse_json
from litepyramid.errors import InputError, ModelError, loading, require
from litepyramid.files import file_type, split_lines
from litepyramid.units.parsers.embedded.frames import word_set

if TYPE_CHECKING:
    import torch

MODEL = "srl_bert"
PURPOSE = "reading AllenNLP archives"
_PADDING, _UNKNOWN = "@@PADDING@@", "@@UNKNOWN@@"
WHAT = "an AllenNLP archive of an SRL-BERT model (config.json, weights.th, vocabulary/labels.txt)"
_WANTED = frozenset(
    ("config.json", "weights.th", "best.th", "labels.txt", "non_padded_namespaces.txt",
     "vocab.txt", "tokenizer.json")
)  # fmt: skip
_MEMBERS = 10_000
_ROOM, _RATIO = 256 << 20, 20
_AGAIN = "Do not use this file; get the archive again from where it was published."


@dataclass(frozen=True, slots=True)
class _Model:
    type: str


@dataclass(frozen=True, slots=True)
class _Config:
    model: _Model


@dataclass(frozen=True)
class SrlArchive:
    """All that an SRL-BERT archive says.

    Attributes:
        path: The archive.
        revision: The first 12 hexadecimal digits of the SHA-256 of its weights.
        labels: BIO labels by index.
        pieces: Word pieces with their indices.
        lowercase: Whether words are lower-cased: by AllenNLP's rule, if the BERT's name holds
            "uncased".
        bert_name: The BERT's name in the archive.
        bert_config: BERT's configuration as far as the archive or the BERT's folder gives it.
        weights: The state dict, float32, on the CPU.
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
    """Reads an archive of AllenNLP's ``srl_bert`` model.

    Args:
        path: The archive (tar, also compressed), or a folder with the same files in it.
        bert: Where the BERT's ``vocab.txt`` is (a folder, the file itself or a name on the Hugging
            Face hub), if it is neither in the archive nor next to it nor under its own name.

    Raises:
        InputError: There is no such file.
        ModelError: No such archive, a damaged one, one with members or weights that are not safe,
            or a model of another kind; or the word pieces are not found.
        MissingExtraError: torch is not installed.
    """
    path = Path(path)
    require("torch", extra="nli", purpose=PURPOSE)
    with archive_folder(path) as folder:
        config = _read_config(folder, path)
        name = _bert_name(config, path)
        vocabulary = find_bert(
            name, folder=folder, beside=path.absolute().parent, named=bert, owner=path
        )
        inside = vocabulary.is_relative_to(folder)
        shown = f"{path}/{vocabulary.relative_to(folder)}" if inside else vocabulary
        labels = read_labels(folder, path)
        weights, revision = _read_weights(folder, path)
        return SrlArchive(
            path=path,
            revision=revision,
            labels=labels,
            pieces=read_vocabulary(vocabulary, shown),
            lowercase="uncased" in name,
            bert_name=name,
            bert_config=_bert_config(config["model"].get("bert_model"), vocabulary, folder, path),
            weights=weights,
        )


def _file(folder: Path, path: Path, *names: str) -> Path:
    """The first of the files that is there."""
    for name in names:
        if file_type(folder / name) == "file":
            return folder / name
    raise ModelError(f"holds no {names[0]}", path=path, expected=WHAT)


def _read_config(folder: Path, path: Path) -> dict[str, Any]:
    """config.json, if it is one of an ``srl_bert`` model."""
    file = _file(folder, path, "config.json")
    with loading("config.json is not valid JSON", path=path):
        config = parse_json(
            file.read_text("utf-8-sig"), path=f"{path}/config.json", error=ModelError
        )
    what = "config.json names no model type"
    kind = as_type(_Config, config, what=what, path=path, error=ModelError).model.type
    if kind != MODEL:
        raise ModelError(
            f"is a model of the kind '{kind}'",
            path=path,
            expected=f"the kind '{MODEL}'",
            hint="scripts/train/allennlp_parse.py runs other models in AllenNLP's own environment.",
        )
    return dict(config)


def _bert_name(config: Mapping[str, Any], path: Path) -> str:
    """The BERT whose word pieces the data reader uses."""
    reader = config.get("validation_dataset_reader") or config.get("dataset_reader")
    name = reader.get("bert_model_name") if isinstance(reader, dict) else None
    name = name or config["model"].get("bert_model")
    if not isinstance(name, str):
        raise ModelError(
            "config.json does not name the BERT that makes the word pieces",
            path=path,
            expected="dataset_reader.bert_model_name",
        )
    return name


def _bert_config(stated: Any, vocabulary: Path, folder: Path, path: Path) -> dict[str, Any]:
    """BERT's configuration: the archive's own if it is there, else that beside its vocabulary."""
    if isinstance(stated, dict):
        return stated
    file = vocabulary.with_name("config.json")
    if file_type(file) != "file" or file.parent == folder:  # there it is AllenNLP's
        return {}
    with loading("its BERT's config.json is not valid JSON", path=path):
        config = parse_json(file.read_text("utf-8-sig"), path=path, error=ModelError)
    if not isinstance(config, dict):
        raise ModelError("its BERT's config.json holds no configuration", path=path)
    return config


def read_labels(folder: Path, path: Path) -> tuple[str, ...]:
    """The labels by index, as AllenNLP's ``Vocabulary.from_files`` counts them.

    A namespace that is not named in ``non_padded_namespaces.txt`` has a padding label before the
    first line.
    """
    file = _file(folder, path, "vocabulary/labels.txt")
    listed = file.with_name("non_padded_namespaces.txt")
    with loading("its vocabulary cannot be read", path=path):
        labels = split_lines(file.read_text("utf-8-sig"))
        patterns = listed.read_text().split() if listed.exists() else ["*labels"]
    if not any(fnmatchcase("labels", pattern) for pattern in patterns):
        labels.insert(0, _PADDING)
    for number, label in enumerate(labels):
        if label not in ("O", _PADDING, _UNKNOWN) and not re.fullmatch(r"[A-Z]-\S+", label):
            raise ModelError(
                f"label {number} in vocabulary/labels.txt is '{label}'",
                path=path,
                expected="O, B-ROLE or I-ROLE",
            )
    if len(set(labels)) != len(labels) or not labels:
        raise ModelError("vocabulary/labels.txt is empty or has a label twice", path=path)
    return tuple(labels)


def _read_weights(folder: Path, path: Path) -> tuple[dict[str, torch.Tensor], str]:
    """The state dict with the prefixes of training wrappers taken off, and its fingerprint."""
    import torch

    what = "weights.th is damaged or holds more than plain tensors, and was not loaded"
    with (
        _file(folder, path, "weights.th", "best.th").open("rb") as file,
        loading(what, path=path, expected="a torch state dict"),
    ):
        check_weights(file)
        file.seek(0)
        state = torch.load(file, map_location="cpu", weights_only=True)
        size = file.seek(0, 2)
        file.seek(0)
        revision = hashlib.file_digest(file, "sha256").hexdigest()[:12]
    if not isinstance(state, dict) or not all(
        isinstance(k, str) and isinstance(v, torch.Tensor) for k, v in state.items()
    ):
        raise ModelError("weights.th is not a table of tensors", path=path, expected=WHAT)
    if sum(tensor.nbytes for tensor in state.values()) > 4 * size:  # views of a few numbers
        raise ModelError("weights.th holds tensors larger than itself", path=path, expected=WHAT)
    clean = {re.sub(r"^(?:module\.|_orig_mod\.|model\.)+", "", k): v for k, v in state.items()}
    return {k: v.float() if v.is_floating_point() else v for k, v in clean.items()}, revision


@contextmanager
def archive_folder(path: Path) -> Iterator[Path]:
    """A folder with the files of an archive (or of a folder like it) while the block lasts.

    Of a tar file, plain or gzipped, only what a model needs is copied. Refused with a ModelError:
    no tar file or a damaged one; links, devices, names that lead out of it or occur twice, more
    than 10,000 members, more than 256 MiB and twenty times its own size in it.
    """
    kind = file_type(path)
    if kind in (None, "other"):
        raise InputError("no such file", path=path, expected=WHAT, hint="Check the path.")
    with nullcontext(path) if kind == "folder" else TemporaryDirectory() as made:
        folder = Path(made)
        if kind == "file":
            hint = "Get the archive again."
            with loading("is damaged or not a tar file", path=path, expected=WHAT, hint=hint):
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
    return ModelError(f"holds {what}", path=path, expected=WHAT, hint=_AGAIN)


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


_PUBLISHED = word_set(
    """
    bert-base-uncased bert-base-cased bert-base-chinese bert-base-german-cased
    bert-base-multilingual-cased bert-base-multilingual-uncased
    bert-large-uncased bert-large-uncased-whole-word-masking
    bert-large-cased bert-large-cased-whole-word-masking
    spanbert-base-cased spanbert-large-cased scibert_scivocab_uncased scibert_scivocab_cased
    """
)
"""BERTs whose attention heads are known, the one number of theirs that weights do not show."""

_VOCABULARIES = ("vocab.txt", "tokenizer.json")
_PUBLISHER = {"spanbert": "SpanBERT", "scibert": "allenai", "bert": "google-bert"}


def find_bert(
    name: str, *, folder: Path, beside: Path, named: str | Path | None, owner: Path
) -> Path:
    """The ``vocab.txt`` or ``tokenizer.json`` of the BERT that an archive names.

    Where the user says (`named`), and nothing else; or in this order: in the archive, under the
    name, its last part, or at the top; next to the archive; at the path that the name is; in the
    Hugging Face cache; on the hub (not with ``HF_HUB_OFFLINE=1``).

    Raises:
        ModelError: It is in none of these places; the message says which they were.
    """
    if named is not None:
        vocabulary = _at(Path(named)) or _on_hub(str(named))
        if vocabulary is None:
            raise ModelError(
                f"no BERT vocabulary at '{named}'",
                path=owner,
                expected="a folder with vocab.txt, that file, or a name on the Hugging Face hub",
            )
        return vocabulary
    last = Path(name).name or "."
    inside = (folder / top for top in (name.lstrip("/"), last, f"fta/{last}", ""))
    places = (*inside, beside / name, beside / last, Path(name))
    vocabulary = next(filter(None, map(_at, places)), None) or _on_hub(name)
    if vocabulary is None:
        raise ModelError(
            f"the word pieces of '{name}' were not found in the archive, next to it, as a folder, "
            "in the Hugging Face cache or on the hub",
            path=owner,
            expected=f"vocab.txt in a folder '{last}' next to the archive",
            hint="Name the BERT's folder (with vocab.txt and, if it is not published, "
            "config.json) yourself: allennlp:ARCHIVE,bert=FOLDER.",
        )
    return vocabulary


def _at(path: Path) -> Path | None:
    """The vocabulary in this folder, or this file."""
    files = (path, *(path / name for name in _VOCABULARIES))
    return next((file for file in files if file_type(file) == "file"), None)


def _on_hub(name: str) -> Path | None:
    """The vocabulary in the Hugging Face cache or on the hub, its config.json fetched beside it."""
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError

    def fetch(candidate: str, file: str, local: bool) -> Path | None:
        try:
            return Path(hf_hub_download(candidate, file, local_files_only=local))
        except (EntryNotFoundError, OSError, ValueError):
            return None

    publisher = _PUBLISHER.get(re.split(r"[-_]", name)[0])
    names = [name] if "/" in name or publisher is None else [name, f"{publisher}/{name}"]
    for local, file, candidate in product((True, False), _VOCABULARIES, names):
        if (vocabulary := fetch(candidate, file, local)) is not None:
            fetch(candidate, "config.json", local)
            return vocabulary
    return None


def read_vocabulary(file: Path, shown: str | Path) -> dict[str, int]:
    """The word pieces of a ``vocab.txt`` (one per line) or ``tokenizer.json``, with indices."""
    with loading("is not a BERT vocabulary", path=shown):
        text = file.read_text("utf-8-sig")
        if file.suffix == ".json":
            model = parse_json(text, error=ModelError).get("model", {})
            pieces = dict(model["vocab"]) if model.get("type") == "WordPiece" else {}
        else:
            pieces = {piece: i for i, piece in enumerate(split_lines(text))}
    missing = [special for special in ("[CLS]", "[SEP]", "[UNK]") if special not in pieces]
    if missing:
        raise ModelError(f"is not a BERT vocabulary: {', '.join(missing)} missing", path=shown)
    if not all(type(index) is int and index >= 0 for index in pieces.values()):
        raise ModelError("is not a BERT vocabulary: its indices are not numbers", path=shown)
    return pieces


def bert_settings(
    stated: Mapping[str, Any], name: str, weights: Mapping[str, torch.Tensor], owner: Path
) -> dict[str, Any]:
    """BERT's configuration: sizes from the weights, the rest as stated, else as BERT's are.

    Raises:
        ModelError: Sizes stated do not agree with the weights; or the number of attention heads is
            neither stated nor that of a published BERT.
    """
    layers = {int(m[1]) for key in weights if (m := re.match(r"encoder\.layer\.(\d+)\.", key))}
    shapes = {key: tuple(value.shape) for key, value in weights.items()}
    try:
        vocab_size, hidden_size = shapes["embeddings.word_embeddings.weight"]
        seen = {
            "vocab_size": vocab_size,
            "hidden_size": hidden_size,
            "num_hidden_layers": max(layers, default=-1) + 1,
            "intermediate_size": shapes["encoder.layer.0.intermediate.dense.weight"][0],
            "max_position_embeddings": shapes["embeddings.position_embeddings.weight"][0],
            "type_vocab_size": shapes["embeddings.token_type_embeddings.weight"][0],
        }
    except (KeyError, ValueError, IndexError) as error:
        raise ModelError(
            f"weights.th holds no BERT ({error} missing or of another shape)",
            path=owner,
            expected="tensors bert_model.embeddings…, bert_model.encoder.layer.0…",
        ) from None
    if layers != set(range(len(layers))):
        raise ModelError("weights.th lacks some of its BERT's layers", path=owner)
    for key, value in seen.items():
        if key in stated and stated[key] != value:
            raise ModelError(
                f"the BERT's {key} is {stated[key]} in its configuration, {value} in the weights",
                path=owner,
            )
    heads = stated.get("num_attention_heads", _published_heads(name))
    if heads is None:
        raise ModelError(
            f"the number of attention heads of '{name}' is not known",
            path=owner,
            hint="Name a folder that has the BERT's config.json next to its vocab.txt:"
            " allennlp:ARCHIVE,bert=FOLDER.",
        )
    if not isinstance(heads, int) or heads < 1 or hidden_size % heads:
        raise ModelError(f"{heads} attention heads do not divide {hidden_size}", path=owner)
    if stated.get("position_embedding_type", "absolute") != "absolute" or stated.get("is_decoder"):
        raise ModelError(
            "the BERT is a decoder or has relative positions",
            path=owner,
            expected="an encoder with absolute positions",
        )
    return {
        **seen,
        "num_attention_heads": heads,
        "hidden_act": stated.get("hidden_act", "gelu"),
        "layer_norm_eps": stated.get("layer_norm_eps", 1e-12),
    }


def _published_heads(name: str) -> int | None:
    """Attention heads by name: of a published BERT, or as Google's small ones say (…_A-2)."""
    last = Path(name).name
    if stated := re.search(r"_H-\d+_A-(\d+)", last):
        return int(stated[1])
    large = 16 if "large" in last.lower() else 12
    return large if last.lower() in _PUBLISHED else None


def check_weights(file: IO[bytes]) -> None:
    """Refuses a torch file whose parts are compressed or overlap: a small one can fill the memory.

    torch itself stores every part as it is, one after the other.

    Raises:
        ModelError: It is such a file.
    """
    if not zipfile.is_zipfile(file):
        return  # torch's old form has no parts; its loader reads no more than there is
    with zipfile.ZipFile(file) as parts:
        sizes = [(part.file_size, part.compress_size) for part in parts.infolist()]
    if any(whole != kept for whole, kept in sizes) or sum(kept for _, kept in sizes) > file.seek(
        0, 2
    ):
        raise ModelError("holds compressed weights", expected="weights as torch.save writes them")
