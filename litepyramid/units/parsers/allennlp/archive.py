"""AllenNLP archives: checked, and read without AllenNLP.

An archive is a tar file (usually ``model.tar.gz``) that holds ``config.json``, ``weights.th`` (a
torch state dict) and ``vocabulary/``. Nothing in it is ever run: the files needed are copied from
its stream, and weights are read by ``torch.load(weights_only=True)``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from litepyramid.checked import check_shape, parse_json
from litepyramid.errors import ModelError, loading, require
from litepyramid.files import file_type, split_lines
from litepyramid.io.weights import check_weights
from litepyramid.units.parsers.allennlp.bert import find_bert, read_vocabulary
from litepyramid.units.parsers.allennlp.files import WHAT, archive_folder

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
    with archive_folder(path) as folder:
        config = _read_config(folder, path)
        name = _bert_name(config, path)
        vocabulary = find_bert(
            name, folder=folder, beside=path.absolute().parent, given=bert, owner=path
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
    check_shape(
        config,
        {"model": {"type": str}},
        what="config.json names no model type",
        path=path,
        error=ModelError,
    )
    if config["model"]["type"] != MODEL:
        raise ModelError(
            f"is a model of the kind '{config['model']['type']}'",
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
