"""Makes small SRL-BERT archives, right ones and wrong ones."""

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra nli is not installed")
from transformers import BertConfig, BertModel  # noqa: E402

LABELS = ("O", "B-V", "I-V", "B-ARG0", "I-ARG0", "B-ARG1", "I-ARG1", "B-ARGM-TMP", "I-ARGM-TMP")
PIECES = (
    "[PAD] [UNK] [CLS] [SEP] [MASK] the dog bark ##ed ##s Dog at cat . who was quick ##ly a b c"
)
SIZES = {
    "hidden_size": 16,
    "num_attention_heads": 2,
    "num_hidden_layers": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 24,
    "vocab_size": len(PIECES.split()),
}


def random_weights(labels: int = len(LABELS)) -> dict[str, torch.Tensor]:
    """A state dict as AllenNLP saves it."""
    torch.manual_seed(0)
    state = {
        f"bert_model.{k}": v.clone() for k, v in BertModel(BertConfig(**SIZES)).state_dict().items()
    }
    state["bert_model.embeddings.position_ids"] = torch.arange(24).unsqueeze(0)
    state["tag_projection_layer.weight"] = torch.zeros(labels, SIZES["hidden_size"])
    state["tag_projection_layer.bias"] = torch.zeros(labels)
    for value in state.values():
        if value.is_floating_point() and value.ndim > 1:
            value.normal_(0, 0.3)
    return state


def saved(value: Any) -> bytes:
    """What torch.save writes."""
    stream = io.BytesIO()
    torch.save(value, stream)
    return stream.getvalue()


def members(name: str = "tiny-bert-uncased", bert_model: Any = SIZES) -> dict[str, bytes]:
    """The files of a good archive."""
    config = {
        "dataset_reader": {"type": "srl", "bert_model_name": name},
        "model": {"type": "srl_bert", "bert_model": bert_model, "embedding_dropout": 0.1},
    }
    return {
        "config.json": json.dumps(config).encode(),
        "weights.th": saved(random_weights()),
        "vocabulary/labels.txt": "\n".join(LABELS).encode(),
        "vocabulary/non_padded_namespaces.txt": b"*tags\n*labels\n",
    }


def write_archive(path: Path, files: dict[str, bytes], *more: tarfile.TarInfo) -> Path:
    """Packs files into a tar.gz, the BERTs of the tests beside it."""
    with tarfile.open(path, "w:gz") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for info in more:
            archive.addfile(info, io.BytesIO(bytes(info.size)))
    for name in ("tiny-bert-uncased", "tiny-bert-cased"):
        write_bert(path.parent / name)
    return path


def write_bert(folder: Path) -> None:
    """The vocabulary and the configuration of a BERT."""
    folder.mkdir(exist_ok=True)
    (folder / "vocab.txt").write_text(PIECES.replace(" ", "\n"))
    (folder / "config.json").write_text(json.dumps(SIZES))
