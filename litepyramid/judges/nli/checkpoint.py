"""What a checkpoint is, read from its small files without torch: classes, mode, longest
text.

For well-known public checkpoints it stands in ``cards.json``. The mode is what the
paper found best for the kind of model (ZB21 §3.1): l3c for a zero-shot NLI model, p2c
for one tuned on presence.
"""

import hashlib
import json
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit
from urllib.request import getproxies

import numpy as np
from numpy.typing import ArrayLike

from litepyramid.checked import as_type
from litepyramid.errors import InputError, ModelError, loading, require
from litepyramid.files import file_type, read_json
from litepyramid.judges.nli.model_folder import CARD_FILE, hash_folder
from litepyramid.judges.nli.modes import Mode, check_mode
from litepyramid.types import FloatArray

Backend = Literal["auto", "torch", "onnx"]
Kind = Literal["zero-shot", "presence"]

DEFAULT_MODE: Mapping[Kind, Mode] = {"zero-shot": "l3c", "presence": "p2c"}
MAX_LENGTH = 400
"""The authors cut pairs at 400 tokens (ZB21, released code)."""
_MOST_LAYERS = 256
_SECONDS = 3.0  # in which a hub answers
_OFFSET = (
    "roberta",
    "xlm-roberta",
    "camembert",
    "xlm-roberta-xl",
    "mpnet",
    "longformer",
)

THREE = ("entailment", "neutral", "contradiction")
TWO = ("present", "absent")
_MEANINGS = {
    "entailment": "entailment entail entails entailed",
    "neutral": "neutral",
    "contradiction": "contradiction contradict contradicts contradicted contradictory",
    "present": "present presence",
    "absent": "absent notpresent notentailment nonentailment notentailed notentail",
}
"""Seen in `config.id2label` of public models, lower-cased, letters only."""


@dataclass(frozen=True)
class JudgeCard:
    """What the judge must know about a checkpoint that its `config.json` does not
    contain.

    Attributes:
        kind: Whether it never saw summaries (zero-shot), or was tuned on presence
            labels.
        order: The classes in the order of the outputs, where the model's own labels are
            ``LABEL_0`` and so on.
        template: The one text that the model reads in place of a pair, with
            ``{premise}``,
            ``{hypothesis}``, and ``{eos}`` for the tokenizer's end-of-sequence token.
        answers: Of a model that writes: the ids of the tokens that begin "no" and
            "yes". Presence is judged by their logits in its first step.
        languages: Codes of the languages that it reads; () for many, None if that is
            not known.
    """

    kind: Kind = "presence"
    order: tuple[str, ...] | None = None
    mode: Mode | None = None
    template: str | None = None
    answers: tuple[int, int] | None = None
    max_length: int | None = None
    languages: tuple[str, ...] | None = None

    @property
    def default_mode(self) -> Mode:
        """The card's mode, else that of its kind."""
        return self.mode or DEFAULT_MODE[self.kind]

    @property
    def template_sha(self) -> str:
        """Eight hexadecimal digits that name the template, with the answers to it."""
        asked = f"{self.template or ''}{self.answers or ''}"
        return hashlib.sha256(asked.encode()).hexdigest()[:8]


@cache
def cards() -> dict[str, JudgeCard]:
    """The cards of well-known public checkpoints (their licences are in
    models/README.md)."""
    text = (files("litepyramid.judges.nli") / "cards.json").read_text("utf-8")
    return as_type(dict[str, JudgeCard], json.loads(text))


def read_card(path: Path) -> JudgeCard:
    """Reads ``{"kind": "presence", "mode": "p2c"}``; other fields are left alone."""
    value = read_json(path, "a judge's card", ModelError)
    card = as_type(
        JudgeCard,
        value,
        what="not a judge's card",
        path=path,
        error=ModelError,
    )
    if card.template and not {"premise", "hypothesis"} <= {
        *re.findall("{(.*?)}", card.template)
    }:
        raise ModelError(
            "a template without placeholders",
            path=path,
            expected="{premise} and {hypothesis}",
        )

    if card.answers is not None and not card.template:
        raise ModelError("answers without a template", path=path, expected="both")
    return card


class UnknownClassesError(ModelError):
    """A model's labels do not say which of its outputs is which class."""


@dataclass(frozen=True)
class ClassOrder:
    """The index among a model's outputs of each of its classes, `THREE` or `TWO`."""

    classes: tuple[str, ...]
    indices: tuple[int, ...]

    def __str__(self) -> str:
        """As a label map: ``present=1,absent=0``."""
        pairs = zip(self.classes, self.indices, strict=True)
        return ",".join(f"{name}={index}" for name, index in pairs)

    @property
    def two(self) -> bool:
        """Whether the model knows present and absent alone."""
        return len(self.classes) == 2

    def logits(self, raw: ArrayLike) -> FloatArray:
        """The model's raw output as logits in the order entailment, neutral,
        contradiction.

        Example:
            >>> ClassOrder(TWO, (1, 0)).logits([[0.3, 0.7]]).tolist()
            [[0.7, 0.3, 0.0]]
        """
        raw = np.asarray(raw, dtype=np.float64)
        if raw.shape[1] <= max(self.indices):
            raise ModelError(
                f"the model has {raw.shape[1]} outputs",
                expected=f"{max(self.indices) + 1} or more",
            )
        chosen = raw[:, list(self.indices)]
        return np.pad(chosen, ((0, 0), (0, 1))) if self.two else chosen


def class_order(
    id2label: Mapping[Any, str],
    label_map: str | None = None,
    *,
    fallback: tuple[str, ...] | None = None,
    model: str = "the model",
) -> ClassOrder:
    """The class order of a model, from its own labels, or from a map of them.

    Example:
        >>> class_order({0: "no", 1: "yes"}, "present=yes,absent=0").indices
        (1, 0)
    """
    labels = {int(i): label for i, label in id2label.items() if str(i).isdecimal()}
    listed = ", ".join(f"{i}={label}" for i, label in sorted(labels.items()))
    shown = f"the labels {listed}"
    names = [_meaning(label) for label in labels.values()]
    # Of a model of two classes "entailment" is what is not "not entailment".
    if len(names) == 2 and "absent" in names:
        names = ["present" if name == "entailment" else name for name in names]
    generic = all(re.fullmatch(r"(?i)label_\d+", label) for label in labels.values())
    if fallback is not None and generic and len(labels) == len(fallback):
        labels = dict(enumerate(fallback))
        names = list(fallback)

    if label_map is not None:
        entries = [entry.partition("=") for entry in label_map.lower().split(",")]
        meant = {value.strip(): name.strip() for name, _, value in entries}
        names = []
        for i, label in labels.items():
            names.append(meant.get(str(i)) or meant.get(label.lower(), ""))

    for classes in (THREE, TWO):
        if sorted(filter(None, names) if label_map else names) == sorted(classes):
            return ClassOrder(
                classes, tuple([*labels][names.index(name)] for name in classes)
            )

    orders = "entailment=0,neutral=1,contradiction=2 or present=1,absent=0"
    if label_map is not None:
        raise InputError(
            f"the label map '{label_map}' does not fit {shown}", expected=orders
        )

    raise UnknownClassesError(
        f"{model} has {shown}",
        expected="entailment, neutral and contradiction, or present and absent",
        hint="If it is an NLI model, give the order with the setting label_map: "
        f"{orders}.",
    )


def _meaning(label: str) -> str:
    """The class that a model's label means; empty if it is none."""
    letters = re.sub("[^a-z]", "", label.lower())
    for meaning, names in _MEANINGS.items():
        if letters in names.split():
            return meaning
    return ""


@dataclass(frozen=True)
class Checkpoint:
    """A sequence classifier that can judge, not loaded.

    Its name is the hub id, or the folder as the user wrote it; the revision the hub's
    commit. The cache knows it by its fingerprint: ``id@commit``, or a hash of the
    folder's files (`hash_folder`). `relabelled` are its classes where its own labels do
    not tell them. `longest` are the most tokens it can read, if that is known; `onnx`
    is ``model.onnx`` if that is to be run. `reading` tells a graph that is asked
    about all units of a summary at once (`litepyramid.judges.nli.asking`);
    `match_from` is the first word piece that it marks where it matches.
    """

    name: str
    source: str
    revision: str | None
    fingerprint: str
    order: ClassOrder
    card: JudgeCard
    longest: int | None
    relabelled: str | None = None
    onnx: Path | None = None
    reading: Literal["once"] | None = None
    match_from: int = 104

    @property
    def label(self) -> str:
        """The hub id, or the folder's own name: where it lies on this machine says
        nothing of the model."""
        return self.name if self.revision else Path(self.source).absolute().name

    def check_unchanged(self) -> None:
        """Sees, once the model is loaded, that its folder is what it was when opened.

        Raises:
            ModelError: Other files are there now: what was loaded has another name.
        """
        if self.revision is None and hash_folder(Path(self.source)) != self.fingerprint:
            raise ModelError(
                "the model's files have changed since the judge was made",
                path=self.source,
                hint="Make the judge anew.",
            )

    def mode(self, name: str | None = None) -> Mode:
        """The mode of that name, else the card's; two classes have only p2c and l2c."""
        mode = self.card.default_mode if name is None else check_mode(name)
        if not self.order.two or mode in ("p2c", "l2c"):
            return mode
        if name is not None:
            raise InputError(
                f"the mode {mode} needs three classes, and {self.name} has two",
                expected="p2c or l2c",
            )
        return "p2c" if mode == "p3c" else "l2c"

    def max_length(self, length: int | None = None) -> int:
        """That length, else the card's or 400, or less if the model reads less."""
        longest = self.longest or 2**31 - 1
        if length is None:
            return min(self.card.max_length or MAX_LENGTH, longest)
        if not 8 <= length <= longest:
            raise InputError(
                f"a maximum length of {length} tokens for {self.name}",
                expected=f"8 to {longest}",
            )
        return length


def open_checkpoint(
    name: str,
    *,
    revision: str | None = None,
    label_map: str | None = None,
    backend: Backend = "auto",
    device: str = "auto",
    dtype: str = "auto",
) -> Checkpoint:
    """Finds a checkpoint on disk or on the hub and reads its configuration; see
    `NLIJudge`."""
    folder = Path(name).expanduser()
    commit = None
    source = str(folder)
    path = folder / "model.onnx"
    auto = backend == "auto" and file_type(path) == "file" and device in ("auto", "cpu")
    # In another precision than its own a model is run from its safetensors.
    if dtype != "auto" and any(folder.glob("*.safetensors*")):
        auto = False
    onnx = path if backend == "onnx" or auto else None

    if file_type(folder) == "folder":
        if revision is not None:
            raise InputError(
                f"a revision for the folder '{name}'", expected="one of a hub model"
            )

        config = _read_config(folder / "config.json")
        _check_weights(folder, onnx)
        fingerprint = hash_folder(folder)
    elif onnx is not None:
        raise ModelError(
            f"no folder '{name}'",
            expected="a folder with model.onnx, tokenizer.json, config.json",
        )
    else:
        path = _hub_config(name, revision)
        folder = path.parent
        commit = path.parent.name
        source = name
        config = _read_config(path)
        fingerprint = f"{name}@{commit}"

    written = folder / CARD_FILE
    card = read_card(written) if file_type(written) == "file" else cards().get(name)
    labels = config.id2label or {"0": "LABEL_0", "1": "LABEL_1"}
    # Of all that it could write, the outputs kept are these two.
    if card and card.answers is not None:
        labels = {"0": "absent", "1": "present"}
    nameless = card.order if card else None
    order = class_order(
        labels, label_map, fallback=nameless, model=f"the model '{name}'"
    )
    card = card or JudgeCard("presence" if order.two else "zero-shot")

    return Checkpoint(
        name,
        source,
        commit,
        fingerprint,
        order,
        card,
        config.longest,
        str(order) if label_map or nameless else None,
        onnx,
        config.reading,
        config.match_from,
    )


def _check_weights(folder: Path, onnx: Path | None) -> None:
    """Sees that a folder holds weights of a form that is loaded."""
    weights = [onnx] if onnx else [*folder.glob("*.safetensors*")]
    if not weights or any(file_type(path) != "file" for path in weights):
        pickled = " but pickled ones (.bin)" if any(folder.glob("*.bin")) else ""
        raise ModelError(
            f"the folder has no weights{pickled}",
            path=folder,
            expected="model.onnx, or safetensors as save_pretrained writes them",
        )


@dataclass(frozen=True)
class _Config:
    """What is read of a model's configuration."""

    id2label: dict[str, str] | None = None
    model_type: str = ""
    max_position_embeddings: int | None = None
    position_biased_input: bool = True
    pad_token_id: int | None = None
    reading: Literal["once"] | None = None
    match_from: int = 104

    @property
    def longest(self) -> int | None:
        """The most tokens that the model's table of positions allows."""
        if self.max_position_embeddings is None or not self.position_biased_input:
            return None
        # RoBERTa and its kin count positions from the padding id + 1.
        longest = self.max_position_embeddings
        if self.model_type in _OFFSET:
            longest -= (self.pad_token_id or 0) + 1
        return max(longest, 8)


def _read_config(path: Path) -> _Config:
    """A model's configuration, refused if it has absurdly many layers."""
    expected = "a folder written by transformers' save_pretrained"
    if file_type(path) is None:
        raise ModelError(
            "the folder has no config.json", path=path.parent, expected=expected
        )

    value = read_json(path, expected, ModelError)
    config = as_type(
        _Config,
        value,
        what="not a configuration",
        path=path,
        error=ModelError,
    )
    # A hostile configuration would fill the memory before any weight is read; nine
    # digits are enough to see that, and int() of many more takes long.
    for name, number in re.findall(r'"(\w*layer\w*)": (\d+)[,}]', json.dumps(value)):
        if int(number[:9]) > _MOST_LAYERS:
            raise ModelError(
                f"{name} is {number:.20}",
                path=path,
                expected=f"at most {_MOST_LAYERS} layers",
            )

    return config


def _hub_config(name: str, revision: str | None) -> Path:
    """The path of config.json in the hub's cache; without a network, what is there."""
    purpose = "a hub model"
    hub = require("huggingface_hub", extra="nli", purpose=purpose)
    known = require("huggingface_hub.constants", extra="nli", purpose=purpose)

    # Told to stay offline, the hub's own package answers at once.
    offline = not known.HF_HUB_OFFLINE and not _answers(known.ENDPOINT)
    at = f" at revision '{revision}'" if revision else ""
    problem = f"there is no folder or hub model '{name}'{at}"
    hint = "Check the name and the connection."

    if offline:
        problem = (
            f"there is no folder '{name}', nothing of a hub model of that name{at} is "
            "cached, and no network answers"
        )

    with loading(problem, hint=hint):
        return Path(
            hub.hf_hub_download(
                name, "config.json", revision=revision, local_files_only=offline
            )
        )


def _answers(address: str) -> bool:
    """Whether a connection to a server can be made: what downloads from it would try
    for half a minute. A proxy is taken to answer."""
    parts = urlsplit(address)

    if parts.scheme in getproxies() or parts.hostname is None:
        return True

    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname, port), _SECONDS).close()
    except OSError:
        return False
    return True
