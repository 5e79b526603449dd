"""Classifiers as ONNX: written, so that they judge without torch, and read again to be
trained."""

import io
import warnings
from pathlib import Path
from typing import Any

from litepyramid.disk import write
from litepyramid.errors import InputError, ModelError, loading, require
from litepyramid.files import file_type
from litepyramid.judges.mini import FOLDER
from litepyramid.training.packed_onnx import export_packed, read_packed

_OPSET = 17


def model_source(base: str) -> str:
    """The folder or hub id of a base; ``mini`` is the folder of the judge that
    ships."""
    return str(FOLDER) if base == "mini" else base


def is_onnx(base: str) -> bool:
    """Whether a base is a folder that holds its weights as ONNX alone."""
    folder = Path(model_source(base)).expanduser()
    weights = any(folder.glob("*.safetensors"))
    return file_type(folder / "model.onnx") == "file" and not weights


def load_onnx_classifier(folder: Path) -> Any:
    """The model of transformers whose weights a packed graph holds, in float32."""
    import torch

    transformers = require("transformers", extra="train", purpose="fine-tuning")
    with loading("the ONNX model cannot be read for fine-tuning", path=folder):
        config = transformers.AutoConfig.from_pretrained(
            str(folder), local_files_only=True, trust_remote_code=False
        )
        model = transformers.AutoModelForSequenceClassification.from_config(config)
        weights = read_packed(folder / "model.onnx", config.hidden_size)
        named = {name: torch.tensor(values) for name, values in weights.items()}
        missing = model.load_state_dict(named, strict=False).missing_keys

    if missing:
        raise ModelError(
            f"the ONNX model has no weights of the name {missing[0]}",
            path=folder,
            expected="mini, or what was trained with packed=true",
        )

    return model


def is_packed(model: Any) -> bool:
    """Whether a model is asked about all units of a summary at once."""
    return getattr(model.config, "reading", None) is not None


def widen_types(model: Any) -> None:
    """Two more token types, of a word piece that stands in both texts, for a model that
    will be asked about all units at once."""
    import torch

    table = getattr(
        getattr(model.base_model, "embeddings", None), "token_type_embeddings", None
    )
    if table is None or len(table.weight) != 2:
        raise InputError(
            "packed is true",
            expected="a base with two token types, as BERT has",
        )

    words = model.base_model.embeddings.word_embeddings.weight.detach()
    # Of about a third of a word's length: seen at once, and no word's meaning is lost.
    mark = torch.randn(words.shape[1], generator=torch.Generator().manual_seed(7))
    mark *= 0.35 * words.norm(dim=1).mean() / mark.norm()
    types = torch.nn.Embedding(4, words.shape[1])
    types.weight.data = torch.cat([table.weight.data, table.weight.data + mark])
    model.base_model.embeddings.token_type_embeddings = types
    model.config.type_vocab_size = 4
    model.config.reading = "once"


def export_onnx(model: Any, tokenizer: Any, path: Path) -> None:
    """Writes ``model.onnx``: token ids and masks in, logits in the model's class order
    out; one that is asked about many units at once as `export_packed` does.
    """
    torch = require("torch", extra="train", purpose="exporting a model")
    require("onnx", extra="train", purpose="exporting a model")
    if is_packed(model):
        export_packed(model, path)
        return

    names = ["input_ids", "attention_mask"]
    if "token_type_ids" in tokenizer.model_input_names:
        names.append("token_type_ids")

    class Logits(torch.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *inputs: Any) -> Any:
            values = dict(zip(names, inputs, strict=True))
            return self.model(**values).logits

    was_training = model.training
    device = next(model.parameters()).device
    attention = getattr(model.config, "_attn_implementation", None)
    model.eval().to("cpu")
    if attention is not None:
        model.set_attn_implementation("eager")
    # Two rows of nine: an axis of one would be taken for a constant.
    ids = torch.arange(2 * 9).reshape(2, 9) % 5 + 1
    inputs = (ids, torch.ones_like(ids), torch.zeros_like(ids))[: len(names)]
    axes = {name: {0: "pairs", 1: "tokens"} for name in names}
    buffer = io.BytesIO()
    with loading("the model cannot be exported to ONNX"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Logits(),
            inputs,
            buffer,
            input_names=names,
            output_names=["logits"],
            dynamic_axes={**axes, "logits": {0: "pairs"}},
            opset_version=_OPSET,
            dynamo=False,
        )

    write(path, [buffer.getvalue()])
    model.to(device).train(was_training)
    if attention is not None:
        model.set_attn_implementation(attention)
