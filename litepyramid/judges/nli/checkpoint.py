"""Properties of a checkpoint, read from its small files; torch is not needed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from litepyramid.errors import InputError, ModelError, reason, require
from litepyramid.files import file_type, read_json
from litepyramid.judges.nli.cards import JudgeCard, find_card
from litepyramid.judges.nli.labels import ClassOrder, class_order
from litepyramid.judges.nli.modes import Mode, check_mode

#: The authors cut pairs at 400 tokens (ZB21, released code).
MAX_LENGTH = 400

_LAYERS = 256

Backend = Literal["auto", "torch", "onnx"]

#: The files that decide what a model computes, besides its weights.
_MODEL_FILES = (
    "config.json",
    "*.safetensors.index.json",
    "tokenizer*.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.*",
    "merges.txt",
    "*.model",
)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A sequence classifier that can judge, not loaded.

    Attributes:
        name: Hub id, or the folder as the user wrote it.
        source: What transformers loads: the hub id or the folder's path.
        revision: The hub's commit hash; None for a folder.
        fingerprint: What the cache knows it by: ``id@commit``, or a hash of the folder's files.
        order: Where entailment, neutral and contradiction stand in its output.
        card: What is known of it beforehand, or what its classes say.
        longest: The most tokens it can read; None if the configuration sets no limit.
        offline: Whether the hub may not be asked.
        onnx: The folder's ``model.onnx``, if that is to be run.
    """

    name: str
    source: str
    revision: str | None
    fingerprint: str
    order: ClassOrder
    card: JudgeCard
    longest: int | None
    offline: bool
    onnx: Path | None = None

    def mode(self, asked: str | None = None) -> Mode:
        """The mode asked for, else the one that fits the model.

        The default is that of the model's card, l3c for a model without one. A model of two
        classes has only the modes of two classes, p2c and l2c.
        """
        if asked is not None:
            mode = check_mode(asked)
            if self.order.two and mode in ("p3c", "l3c"):
                raise InputError(
                    f"the mode {mode} needs three classes, and {self.name} has two",
                    expected="p2c or l2c",
                )
            return mode
        default = self.card.default_mode
        if self.order.two and default in ("p3c", "l3c"):
            return "p2c" if default == "p3c" else "l2c"
        return default

    def max_length(self, asked: int | None = None) -> int:
        """The length asked for, else the card's or 400, or less if the model reads less."""
        if asked is None:
            own = self.card.max_length or MAX_LENGTH
            return own if self.longest is None else min(own, self.longest)
        if asked < 8 or (self.longest is not None and asked > self.longest):
            raise InputError(
                f"a maximum length of {asked} tokens",
                expected="at least 8" + (f" and at most {self.longest}" if self.longest else ""),
                hint=f"{self.name} sets the limit." if self.longest else None,
            )
        return asked


def open_checkpoint(
    name: str,
    *,
    revision: str | None = None,
    offline: bool = False,
    label_map: Mapping[str, str] | None = None,
    backend: Backend = "auto",
    device: str = "auto",
) -> Checkpoint:
    """Finds a checkpoint on disk or on the hub and reads its configuration.

    Args:
        name: A folder, or a hub id such as ``shiyue/roberta-large-tac08``.
        revision: Branch, tag or commit of the hub; the hash of the commit it stands for is kept.
        offline: Look only in the local hub cache.
        label_map: Which label means what, see `labels.class_order`.
        backend: ``torch``, ``onnx``, or ``auto``: onnx where the folder has a ``model.onnx`` and
            no other device than the CPU is asked for.
        device: What it is to run on.

    Raises:
        ModelError: There is no such model, it is not a sequence classifier, or its labels are not
            those of a judge.
        InputError: A revision for a folder.
    """
    folder = Path(name).expanduser()
    onnx = folder / "model.onnx"
    use_onnx = backend == "onnx" or (
        backend == "auto" and file_type(onnx) == "file" and device in ("auto", "cpu")
    )
    if file_type(folder) == "folder":
        if revision is not None:
            raise InputError(
                f"a revision ('{revision}') for the folder '{name}'",
                hint="Revisions are for hub models.",
            )
        config = _read_config(folder / "config.json")
        source, commit = str(folder), None
        fingerprint = _folder_hash(folder, onnx if use_onnx else None)
    else:
        if use_onnx:
            raise ModelError(
                f"no folder '{name}'",
                expected="a folder with model.onnx, tokenizer.json, config.json",
            )
        path = _hub_config(name, revision, offline)
        folder, commit = path.parent, path.parent.name
        config = _read_config(path)
        source, fingerprint = name, f"{name}@{commit}"
    card = find_card(name, folder)
    if card and card.answers is not None:
        config["id2label"] = {0: "absent", 1: "present"}  # the outputs kept are these two
    labels = config.get("id2label") or {0: "LABEL_0", 1: "LABEL_1"}
    if not isinstance(labels, dict) or not all(
        str(index).isdecimal() and isinstance(label, str) for index, label in labels.items()
    ):
        raise ModelError(
            f"{name}: the labels in its configuration are not a table",
            expected='"id2label": {"0": "entailment", …}',
        )
    order = class_order(
        labels, label_map, fallback=card.order if card else None, model=f"the model '{name}'"
    )
    return Checkpoint(
        name=name,
        source=source,
        revision=commit,
        fingerprint=fingerprint,
        order=order,
        card=card or JudgeCard("presence" if order.two else "zero-shot"),
        longest=_longest(config),
        offline=offline,
        onnx=onnx if use_onnx else None,
    )


def _folder_hash(folder: Path, onnx: Path | None) -> str:
    """A hash of the files that decide what the model computes."""
    weights = [onnx] if onnx else sorted(folder.glob("*.safetensors"))
    if not weights or any(file_type(path) != "file" for path in weights):
        pickled = any(folder.glob("*.bin"))
        raise ModelError(
            "the folder has no weights" + (" but pickled ones (.bin)" if pickled else ""),
            path=folder,
            expected="model.onnx" if onnx else "model.safetensors or model.onnx",
            hint="Write them as safetensors: model.save_pretrained(folder)." if pickled else None,
        )
    others = {path for pattern in _MODEL_FILES for path in folder.glob(pattern)}
    files = sorted([*weights, *(path for path in others if file_type(path) == "file")])
    total = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        total.update(f"{path.name}\0{digest}\n".encode())
    return f"sha256:{total.hexdigest()}"


def _read_config(path: Path) -> dict[str, Any]:
    expected = "a folder written by transformers' save_pretrained"
    if file_type(path) is None:
        raise ModelError("the folder has no config.json", path=path.parent, expected=expected)
    config = read_json(path, expected, ModelError)
    if not isinstance(config, dict):
        raise ModelError("is not a configuration", path=path, expected=expected)
    if config.get("auto_map"):
        known = require("transformers", extra="nli", purpose="an NLI judge").CONFIG_MAPPING
        if config.get("model_type") not in known:
            raise ModelError(
                f"the model type '{config.get('model_type')}' is defined by code in the model's "
                "folder",
                path=path,
                expected="a model that transformers knows",
                hint="Such code is never run here. Choose another judge, or serve this one "
                "behind an endpoint (llm:MODEL).",
            )
    for name, value in _numbers(config):
        if "layer" in name and value > _LAYERS:
            raise ModelError(
                f"{name} is {value:.3g}", path=path, expected=f"at most {_LAYERS} layers"
            )
    return config


def _numbers(config: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Every integer of a configuration, in parts of it too, with its name."""
    for name, value in config.items():
        if isinstance(value, dict):
            yield from _numbers(value)
        elif type(value) is int:
            yield name, value


def _longest(config: Mapping[str, Any]) -> int | None:
    """The most tokens that the model's table of positions allows."""
    positions = config.get("max_position_embeddings")
    if type(positions) is not int or config.get("position_biased_input") is False:
        return None
    # RoBERTa and its kin count positions from the padding id + 1.
    offset = ("roberta", "xlm-roberta", "camembert", "xlm-roberta-xl", "mpnet", "longformer")
    padding = config.get("pad_token_id")
    if config.get("model_type") in offset:
        positions -= (padding if type(padding) is int else 0) + 1
    if positions < 8:
        raise ModelError(f"the model reads {positions} tokens", expected="at least 8")
    return positions


def _hub_config(name: str, revision: str | None, offline: bool) -> Path:
    """The path of config.json in the hub's cache, asking the hub unless offline."""
    hub = require("huggingface_hub", extra="nli", purpose="a hub model")
    errors = require("huggingface_hub.errors", extra="nli", purpose="a hub model")
    wanted = f"'{name}'" + (f" at revision '{revision}'" if revision else "")
    hint = "Check the id and the connection; or give a folder that holds the model."
    try:
        found = hub.hf_hub_download(
            name, "config.json", revision=revision, local_files_only=offline
        )
    except errors.HFValidationError:
        raise ModelError(
            f"there is no folder {wanted}", expected="a folder, or a hub id such as owner/name"
        ) from None
    except (errors.RepositoryNotFoundError, errors.RevisionNotFoundError) as error:
        raise ModelError(f"the hub has no model {wanted}", hint=hint) from error
    except errors.LocalEntryNotFoundError as error:
        what = "is not in the local hub cache" if offline else "cannot be fetched from the hub"
        raise ModelError(f"the model {wanted} {what}", hint=hint) from error
    except (errors.EntryNotFoundError, errors.HfHubHTTPError, OSError) as error:
        raise ModelError(
            f"the model {wanted} cannot be read ({reason(error)})", hint=hint
        ) from error
    return Path(found)
