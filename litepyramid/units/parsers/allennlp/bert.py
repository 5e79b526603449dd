"""The BERT inside an AllenNLP archive: its word pieces, its configuration, its weights."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from litepyramid.checked import parse_json
from litepyramid.errors import ModelError, loading
from litepyramid.files import file_type, split_lines
from litepyramid.units.parsers.embedded.frames import word_set

if TYPE_CHECKING:
    import torch

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
    name: str, *, folder: Path, beside: Path, given: str | Path | None, owner: Path
) -> Path:
    """Finds the vocabulary of the BERT that an archive names.

    In this order: where the user says; in the archive, under the name, its last part, or at the
    top; next to the archive; at the path that the name is; in the Hugging Face cache; on the
    hub (not with ``HF_HUB_OFFLINE=1``).

    Args:
        name: The archive's ``bert_model_name``, a path or a name on the hub.
        folder: The files of the archive.
        beside: The folder that the archive lies in.
        given: A folder, a ``vocab.txt`` or a name on the hub, to be used and nothing else.
        owner: The archive, for messages.

    Returns:
        A ``vocab.txt`` or ``tokenizer.json``; a ``config.json`` may lie beside it.

    Raises:
        ModelError: It is in none of these places; the message says which they were.
    """
    if given is not None:
        found = _at(Path(given)) or _on_hub(str(given))
        if found is None:
            raise ModelError(
                f"no BERT vocabulary at '{given}'",
                path=owner,
                expected="a folder with vocab.txt, that file, or a name on the Hugging Face hub",
            )
        return found
    last = Path(name).name or "."
    inside = (folder / top for top in (name.lstrip("/"), last, f"fta/{last}", ""))
    places = (*inside, beside / name, beside / last, Path(name))
    found = next(filter(None, map(_at, places)), None) or _on_hub(name)
    if found is None:
        raise ModelError(
            f"the word pieces of '{name}' were not found in the archive, next to it, as a folder, "
            "in the Hugging Face cache or on the hub",
            path=owner,
            expected=f"vocab.txt in a folder '{last}' next to the archive",
            hint="Name the BERT's folder (with vocab.txt and, if it is not published, "
            "config.json) yourself: allennlp:ARCHIVE,bert=FOLDER.",
        )
    return found


def _at(place: Path) -> Path | None:
    """The vocabulary in this folder, or this file."""
    files = (place, *(place / name for name in _VOCABULARIES))
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
        if (found := fetch(candidate, file, local)) is not None:
            fetch(candidate, "config.json", local)
            return found
    return None


def read_vocabulary(file: Path, shown: str | Path) -> dict[str, int]:
    """The word pieces of a ``vocab.txt`` (one per line) or of a ``tokenizer.json``, with indices.

    Args:
        file: The file.
        shown: What messages call it.

    Raises:
        ModelError: It is not a BERT vocabulary: ``[CLS]``, ``[SEP]`` or ``[UNK]`` is missing.
    """
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
    heads = stated.get("num_attention_heads", _known_heads(name))
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


def _known_heads(name: str) -> int | None:
    """Attention heads by name: of a published BERT, or as Google's small ones say (…_A-2)."""
    last = Path(name).name
    if stated := re.search(r"_H-\d+_A-(\d+)", last):
        return int(stated[1])
    large = 16 if "large" in last.lower() else 12
    return large if last.lower() in _PUBLISHED else None
