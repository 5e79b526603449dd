"""A fine-tuned classifier as ONNX, so that it judges without torch."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

from litepyramid.errors import loading, require
from litepyramid.files import atomic_write

_OPSET = 17


def export_onnx(model: Any, tokenizer: Any, path: Path) -> None:
    """Writes ``model.onnx``: token ids and masks in, logits in the model's class order out.

    Raises:
        ModelError: The model cannot be exported.
        MissingExtraError: onnx is not installed.
    """
    torch = require("torch", extra="train", purpose="exporting a model")
    require("onnx", extra="train", purpose="exporting a model")
    names = ["input_ids", "attention_mask"]
    if "token_type_ids" in tokenizer.model_input_names:
        names.append("token_type_ids")

    class Logits(torch.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *inputs: Any) -> Any:
            return self.model(**dict(zip(names, inputs, strict=True))).logits

    was_training, device = model.training, next(model.parameters()).device
    attention = getattr(model.config, "_attn_implementation", None)
    model.eval()
    model.to("cpu")
    if attention is not None:
        model.set_attn_implementation("eager")
    ids = torch.arange(2 * 9).reshape(2, 9) % 5 + 1
    inputs = (ids, *(torch.ones_like(ids) for _ in names[1:2]), *(ids * 0 for _ in names[2:]))
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
    with atomic_write(path, binary=True) as file:
        file.write(buffer.getvalue())
    model.to(device)
    model.train(was_training)
    if attention is not None:
        model.set_attn_implementation(attention)
