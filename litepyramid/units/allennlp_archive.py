"""AllenNLP archives: unpacked safely, checked, and read without AllenNLP.

An archive is a tar file (usually ``model.tar.gz``) that holds ``config.json``, ``weights.th`` (a
torch state dict) and ``vocabulary/``. Nothing in it is ever run: members go through tarfile's
``data`` filter, weights through ``torch.load(weights_only=True)``.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import re
import tarfile
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from litepyramid.errors import InputError, ModelError
from litepyramid.extras import require
from litepyramid.io.files import read_text
from litepyramid.units.allennlp_bert import BertFiles, find_bert, read_vocabulary

if TYPE_CHECKING:
    import torch

MODEL = "srl_bert"
PURPOSE = "reading AllenNLP archives"
_PADDING, _UNKNOWN = "@@PADDING@@", "@@UNKNOWN@@"
_WHAT = "an AllenNLP archive of an SRL-BERT model (config.json, weights.th, vocabulary/labels.txt)"


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
            Face hub), if it is neither in the archive nor beside it nor under its own name.

    Raises:
        InputError: There is no such file.
        ModelError: No such archive, a damaged one, one with members or weights that are not safe,
            or a model of another kind; or the word pieces are not found.
        MissingExtraError: torch is not installed.
    """
    path = Path(path)
    require("torch", extra="nli", purpose=PURPOSE)
    with unpacked(path) as folder:
        config = _read_config(folder, path)
        name = _bert_name(config, path)
        files = find_bert(
            name, inside=folder, beside=path.absolute().parent, given=bert, owner=path
        )
        labels = read_labels(folder / "vocabulary", path)
        weights, revision = _read_weights(folder, path)
        return SrlArchive(
            path=path,
            revision=revision,
            labels=labels,
            pieces=read_vocabulary(files.vocabulary),
            lowercase="uncased" in name,
            bert_name=name,
            bert_config=_bert_config(config["model"].get("bert_model"), files, path),
            weights=weights,
        )


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """The folder with the archive's files, for as long as the block lasts.

    Raises:
        InputError: There is no such file.
        ModelError: No tar file, a damaged one, or one with a member that would leave the folder.
    """
    if path.is_dir():
        yield _root(path)
        return
    if not path.exists():
        raise InputError("no such file", path=path, expected=_WHAT, hint="Check the path.")
    with tempfile.TemporaryDirectory(prefix="litepyramid-") as folder:
        try:
            with tarfile.open(path, "r:*") as archive:
                for member in archive:
                    archive.extract(member, folder, filter="data")
                while archive.fileobj and archive.fileobj.read(1 << 20):
                    pass  # only at its very end is the stream's checksum looked at
        except tarfile.FilterError as error:
            raise ModelError(
                f"holds a member that is not safe to unpack ({error})",
                path=path,
                expected=_WHAT,
                hint="Do not use this file; get the archive again from where it was published.",
            ) from None
        except (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, OSError) as error:
            raise ModelError(
                f"is damaged or no tar file ({error})",
                path=path,
                expected=_WHAT,
                hint="Get the archive again.",
            ) from None
        yield _root(Path(folder))


def _root(folder: Path) -> Path:
    """The folder with config.json: this one, or the only one in it."""
    if not (folder / "config.json").exists():
        inner = [item for item in folder.iterdir() if (item / "config.json").is_file()]
        if len(inner) == 1:
            return inner[0]
    return folder


def _read_config(folder: Path, path: Path) -> dict[str, Any]:
    """config.json, if it is one of an ``srl_bert`` model."""
    file = folder / "config.json"
    if not file.is_file():
        raise ModelError("holds no config.json", path=path, expected=_WHAT)
    try:
        config = json.loads(read_text(file))
    except (json.JSONDecodeError, RecursionError, InputError) as error:
        reason = error.what if isinstance(error, InputError) else str(error)
        raise ModelError(f"config.json is not valid JSON ({reason})", path=path) from None
    model = config.get("model") if isinstance(config, dict) else None
    if not isinstance(model, dict) or not isinstance(model.get("type"), str):
        raise ModelError("config.json names no model type", path=path, expected=_WHAT)
    if model["type"] != MODEL:
        raise ModelError(
            f"is a model of the kind '{model['type']}'",
            path=path,
            expected=f"the kind '{MODEL}'",
            hint="scripts/allennlp_parse.py runs other models in AllenNLP's own environment.",
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


def _bert_config(stated: Any, files: BertFiles, path: Path) -> dict[str, Any]:
    """BERT's configuration: the archive's own if it is there, else that of the BERT's folder."""
    if isinstance(stated, dict):
        return stated
    if files.config is None:
        return {}
    try:
        config = json.loads(read_text(files.config))
    except json.JSONDecodeError as error:
        raise ModelError(f"is not valid JSON ({error})", path=files.config) from None
    if not isinstance(config, dict):
        raise ModelError(f"holds no BERT configuration for {path}", path=files.config)
    return config


def read_labels(folder: Path, path: Path) -> tuple[str, ...]:
    """The labels by index, as AllenNLP's ``Vocabulary.from_files`` counts them.

    A namespace that is not named in ``non_padded_namespaces.txt`` has a padding label before the
    first line.
    """
    file = folder / "labels.txt"
    if not file.is_file():
        raise ModelError("holds no vocabulary/labels.txt", path=path, expected=_WHAT)
    try:
        lines = re.split(r"\r?\n", read_text(file))
        listed = folder / "non_padded_namespaces.txt"
        patterns = read_text(listed).split() if listed.is_file() else ["*labels"]
    except InputError as error:
        raise ModelError(f"its vocabulary cannot be read ({error.what})", path=path) from None
    if not lines[-1]:
        lines.pop()
    unpadded = any(
        pattern == "labels" or (pattern.startswith("*") and "labels".endswith(pattern[1:]))
        for pattern in patterns
    )
    labels = lines if unpadded else [_PADDING, *lines]
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
    import pickle

    import torch

    file = next((f for n in ("weights.th", "best.th") if (f := folder / n).is_file()), None)
    if file is None:
        raise ModelError("holds no weights.th", path=path, expected=_WHAT)
    try:
        state = torch.load(file, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError, ValueError, KeyError, OSError) as error:
        reason = str(error).strip().split("\n")[0] or type(error).__name__
        raise ModelError(
            "weights.th is damaged or holds more than plain tensors, and was not loaded",
            path=path,
            expected="a torch state dict",
            hint=f"(torch: {reason[:200]})",
        ) from None
    if not isinstance(state, dict) or not all(
        isinstance(k, str) and isinstance(v, torch.Tensor) for k, v in state.items()
    ):
        raise ModelError("weights.th is no table of tensors", path=path, expected=_WHAT)
    clean = {re.sub(r"^(?:module\.|_orig_mod\.|model\.)+", "", k): v for k, v in state.items()}
    with file.open("rb") as stream:
        revision = hashlib.file_digest(stream, "sha256").hexdigest()[:12]
    return {k: v.float() if v.is_floating_point() else v for k, v in clean.items()}, revision
