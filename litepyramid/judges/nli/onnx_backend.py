"""ONNX models as judges: onnxruntime and tokenizers alone, no torch.

A pair's logits do not depend on what else is judged: each pair is computed alone, without padding,
on one thread, which is as fast on a CPU as batches are. Pairs run side by side.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.blas import cores
from litepyramid.errors import ModelError, loading, require
from litepyramid.files import file_type, read_json
from litepyramid.judges.nli.encode import EncodedBatch, Tokenizer

ONNX_TOKENS = 8_192
"""The most tokens of a batch: how often judgements are saved."""
MOST_BYTES = 2**31
_MOST_TOKENIZER = 64 * 2**20
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_ELSEWHERE = b"\n\x08location"  # how protobuf writes the key of a tensor that is in another file


class OnnxBackend:
    """A loaded ONNX classifier; a `Backend`."""

    def __init__(self, path: Path, threads: int | None = None) -> None:
        runtime = require("onnxruntime", extra="nli", purpose="an ONNX judge")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        options.use_deterministic_compute = True
        data = _read_model(path)
        with loading("the model cannot be loaded", path=path, expected="an ONNX classifier"):
            self._session = runtime.InferenceSession(
                data, options, providers=["CPUExecutionProvider"]
            )
            inputs = {entry.name: entry.type for entry in self._session.get_inputs()}
            outputs = [entry.name for entry in self._session.get_outputs()]
        if "input_ids" not in inputs or set(inputs) - set(_INPUTS):
            raise ModelError(
                f"the model reads {', '.join(sorted(inputs)) or 'nothing'}",
                path=path,
                expected="input_ids, attention_mask and token_type_ids at most",
            )
        self._types = {
            name: np.int32 if kind == "tensor(int32)" else np.int64 for name, kind in inputs.items()
        }
        self._output = "logits" if "logits" in outputs else outputs[0]
        self._path = path
        limit = os.environ.get("OMP_NUM_THREADS", "")
        self._threads = threads or (int(limit) if limit.isdecimal() and int(limit) else cores())

    def logits(self, batch: EncodedBatch) -> Any:
        """Logits (pairs, classes) float32 in the model's own class order."""
        batch = {"token_type_ids": np.zeros_like(batch["input_ids"]), **batch}
        pairs = [
            {
                name: batch[name][row : row + 1, used].astype(kind)
                for name, kind in self._types.items()
            }
            for row, used in enumerate(batch["attention_mask"].astype(bool))
        ]
        with loading("the model failed", path=self._path):
            with ThreadPoolExecutor(self._threads) as pool:
                logits = list(pool.map(self._run, pairs))
            return np.concatenate(logits)

    def _run(self, pair: EncodedBatch) -> Any:
        logits = np.asarray(self._session.run([self._output], pair)[0])
        if logits.ndim != 2 or len(logits) != 1 or logits.dtype.kind != "f":
            raise ModelError(
                f"the output {self._output} has the shape {logits.shape}",
                path=self._path,
                expected="(pairs, classes)",
            )
        return logits.astype(np.float32)


def _read_model(path: Path) -> bytes:
    """The file, if it is of a bearable size and whole in itself.

    Operators of others are refused by onnxruntime: no library with any is ever registered.
    """
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise ModelError(
            f"the model has {size / 1e9:.1f} GB", path=path, expected="at most 2 GB in one file"
        )
    data = path.read_bytes()
    if _ELSEWHERE in data:
        raise ModelError(
            "the model keeps weights in other files",
            path=path,
            expected="all weights in model.onnx itself",
        )
    return data


def read_onnx_tokenizer(folder: Path) -> Tokenizer:
    """The ``tokenizer.json`` next to a model, with what its settings say of cutting and ends."""
    path = folder / "tokenizer.json"
    library = require("tokenizers", extra="nli", purpose="an ONNX judge")
    if file_type(path) != "file" or path.stat().st_size > _MOST_TOKENIZER:
        raise ModelError(
            "no tokenizer of at most 64 MB", path=path, expected="the model's tokenizer.json"
        )
    more = folder / "tokenizer_config.json"
    settings = read_json(more, error=ModelError) if file_type(more) == "file" else {}
    settings = settings if isinstance(settings, dict) else {}
    with loading("the tokenizer cannot be read", path=path):
        core = library.Tokenizer.from_file(str(path))
        side = settings.get("truncation_side") or (core.truncation or {}).get("direction")
        core.no_truncation()
        core.no_padding()
        end = settings.get("eos_token") or settings.get("sep_token")
        end = end.get("content") if isinstance(end, dict) else end
        return Tokenizer(
            core, cut_left=side == "left", typed=True, end=end if isinstance(end, str) else ""
        )
