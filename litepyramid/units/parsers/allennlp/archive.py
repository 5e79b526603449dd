"""AllenNLP archives: checked, and read without AllenNLP.

An archive is a tar file (usually ``model.tar.gz``) that holds ``config.json``, ``weights.th`` (a
torch state dict) and ``vocabulary/``. Nothing in it is ever unpacked or run: its files are read
from its stream, weights by ``torch.load(weights_only=True)``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from litepyramid.checked import parse_json
from litepyramid.errors import ModelError, loading, require
from litepyramid.io.weights import check_weights
from litepyramid.units.parsers.allennlp.bert import BertFiles, find_bert, read_vocabulary
from litepyramid.units.parsers.allennlp.files import WHAT, Files, archive_files

if TYPE_CHECKING:
    import torch

MODEL = "srl_bert"
PURPOSE = "reading AllenNLP archives"
_PADDING, _UNKNOWN = "@@PADDING@@", "@@UNKNOWN@@"


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
    with archive_files(path) as files:
        config = _read_config(files, path)
        name = _bert_name(config, path)
        found = find_bert(name, inside=files, beside=path.absolute().parent, given=bert, owner=path)
        labels = read_labels(files, path)
        weights, revision = _read_weights(files, path)
        return SrlArchive(
            path=path,
            revision=revision,
            labels=labels,
            pieces=read_vocabulary(found),
            lowercase="uncased" in name,
            bert_name=name,
            bert_config=_bert_config(config["model"].get("bert_model"), found, path),
            weights=weights,
        )


def _read_config(files: Files, path: Path) -> dict[str, Any]:
    """config.json, if it is one of an ``srl_bert`` model."""
    file = files("config.json")
    if file is None:
        raise ModelError("holds no config.json", path=path, expected=WHAT)
    with loading("config.json is not valid JSON", path=path):
        config = parse_json(
            file.read().decode("utf-8-sig"), path=f"{path}/config.json", error=ModelError
        )
    model = config.get("model") if isinstance(config, dict) else None
    if not isinstance(model, dict) or not isinstance(model.get("type"), str):
        raise ModelError("config.json names no model type", path=path, expected=WHAT)
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
    with loading("its BERT's config.json is not valid JSON", path=path):
        config = parse_json(files.config.decode("utf-8-sig"), path=path, error=ModelError)
    if not isinstance(config, dict):
        raise ModelError("its BERT's config.json holds no configuration", path=path)
    return config


def read_labels(files: Files, path: Path) -> tuple[str, ...]:
    """The labels by index, as AllenNLP's ``Vocabulary.from_files`` counts them.

    A namespace that is not named in ``non_padded_namespaces.txt`` has a padding label before the
    first line.
    """
    file, listed = files("vocabulary/labels.txt"), files("vocabulary/non_padded_namespaces.txt")
    if file is None:
        raise ModelError("holds no vocabulary/labels.txt", path=path, expected=WHAT)
    with loading("its vocabulary cannot be read", path=path):
        lines = re.split(r"\r?\n", file.read().decode("utf-8-sig"))
        patterns = ["*labels"] if listed is None else listed.read().decode().split()
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


def _read_weights(files: Files, path: Path) -> tuple[dict[str, torch.Tensor], str]:
    """The state dict with the prefixes of training wrappers taken off, and its fingerprint."""
    import torch

    file = files("weights.th") or files("best.th")
    if file is None:
        raise ModelError("holds no weights.th", path=path, expected=WHAT)
    what = "weights.th is damaged or holds more than plain tensors, and was not loaded"
    with loading(what, path=path, expected="a torch state dict"):
        check_weights(file)
        file.seek(0)
        state = torch.load(file, map_location="cpu", weights_only=True)
        size = file.seek(0, 2)
    if not isinstance(state, dict) or not all(
        isinstance(k, str) and isinstance(v, torch.Tensor) for k, v in state.items()
    ):
        raise ModelError("weights.th is not a table of tensors", path=path, expected=WHAT)
    if sum(tensor.nbytes for tensor in state.values()) > 4 * size:  # views of a few numbers
        raise ModelError("weights.th holds tensors larger than itself", path=path, expected=WHAT)
    clean = {re.sub(r"^(?:module\.|_orig_mod\.|model\.)+", "", k): v for k, v in state.items()}
    file.seek(0)
    revision = hashlib.file_digest(file, "sha256").hexdigest()[:12]  # type: ignore[arg-type]
    return {k: v.float() if v.is_floating_point() else v for k, v in clean.items()}, revision
