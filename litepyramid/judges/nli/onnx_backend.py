"""ONNX models as judges: onnxruntime and tokenizers alone, no torch.

A pair's logits do not depend on what else is judged: each pair is padded to a multiple of `STEP`
tokens and computed among `ROWS` rows of that length (alone, if the model scales its numbers by
what is largest in a batch, as dynamic quantisation does), on one thread. Batches run side by side.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.blas import cores
from litepyramid.errors import ModelError, loading, require
from litepyramid.files import file_type, read_json
from litepyramid.judges.nli.encode import EncodedBatch, Tokenizer
from litepyramid.types import IntArray

PURPOSE = "an ONNX judge"
ONNX_TOKENS = 32_768
"""The most tokens of a batch; it is computed in smaller ones."""
STEP, ROWS = 16, 4
MOST_BYTES = 2**31
_MOST_TOKENIZER = 64 * 2**20
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_ELSEWHERE = b"\n\x08location"  # how protobuf writes the key of a tensor that is in another file
_DYNAMIC = (b"DynamicQuantizeLinear", b"DynamicQuantizeMatMul", b"DynamicQuantizeLSTM")


class OnnxBackend:
    """A loaded ONNX classifier; a `Backend`."""

    def __init__(self, path: Path, tokenizer: Tokenizer, threads: int | None = None) -> None:
        runtime = require("onnxruntime", extra="nli", purpose=PURPOSE)
        data = _read_model(path)
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        options.use_deterministic_compute = True
        with loading("the model cannot be loaded", path=path, expected="an ONNX classifier"):
            self._session = runtime.InferenceSession(
                data, options, providers=["CPUExecutionProvider"]
            )
            inputs = {entry.name: entry for entry in self._session.get_inputs()}
            outputs = [entry.name for entry in self._session.get_outputs()]
        if "input_ids" not in inputs or set(inputs) - set(_INPUTS):
            raise ModelError(
                f"the model reads {', '.join(sorted(inputs)) or 'nothing'}",
                path=path,
                expected="input_ids, attention_mask and token_type_ids at most",
            )
        self._types = {
            name: np.int32 if entry.type == "tensor(int32)" else np.int64
            for name, entry in inputs.items()
        }
        self._output = "logits" if "logits" in outputs else outputs[0]
        self._path, self._tokenizer = path, tokenizer
        self._rows = 1 if any(mark in data for mark in _DYNAMIC) else ROWS
        limit = os.environ.get("OMP_NUM_THREADS", "")
        self._threads = threads or (int(limit) if limit.isdecimal() and int(limit) else cores())

    def logits(self, batch: EncodedBatch) -> Any:
        """Logits (pairs, classes) float32 in the model's own class order."""
        jobs = list(self._shaped(batch))
        with loading("the model failed", path=self._path):
            if self._threads == 1 or len(jobs) == 1:
                answers = [self._run(inputs) for _, inputs in jobs]
            else:
                with ThreadPoolExecutor(self._threads) as pool:
                    answers = list(pool.map(self._run, [inputs for _, inputs in jobs]))
        classes = answers[0].shape[1]
        logits = np.empty((len(batch["input_ids"]), classes), dtype=np.float32)
        for (indices, _), rows in zip(jobs, answers, strict=True):
            logits[indices] = rows[: len(indices)]
        return logits

    def _run(self, inputs: EncodedBatch) -> Any:
        logits = np.asarray(self._session.run([self._output], inputs)[0])
        rows = len(inputs["input_ids"])
        if logits.ndim != 2 or len(logits) != rows or logits.dtype.kind != "f":
            raise ModelError(
                f"the output {self._output} has the shape {logits.shape}",
                path=self._path,
                expected="(pairs, classes)",
            )
        return logits

    def _shaped(self, batch: EncodedBatch) -> Iterator[tuple[IntArray, EncodedBatch]]:
        """The rows of a batch in batches of one shape a length: their indices, and arrays."""
        lengths = batch["attention_mask"].sum(axis=1)
        widths = -(-lengths // STEP) * STEP
        for width in np.unique(widths).tolist():
            same = np.flatnonzero(widths == width)
            for start in range(0, len(same), self._rows):
                indices = same[start : start + self._rows]
                filled = np.resize(indices, self._rows)  # the last batch repeats its rows
                arrays = {name: self._padded(batch, name, filled, width) for name in self._types}
                yield indices, arrays

    def _padded(self, batch: EncodedBatch, name: str, indices: IntArray, width: int) -> IntArray:
        left = self._tokenizer.pad_left
        source = batch.get(name)
        source = np.zeros_like(batch["input_ids"]) if source is None else source
        rows = source[indices][:, -width:] if left else source[indices][:, :width]
        missing = width - rows.shape[1]
        fill = self._tokenizer.pad if name == "input_ids" else 0
        sides = ((0, 0), (missing, 0) if left else (0, missing))
        return np.ascontiguousarray(
            np.pad(rows, sides, constant_values=fill).astype(self._types[name])
        )


def read_onnx_tokenizer(folder: Path) -> Tokenizer:
    """The ``tokenizer.json`` next to a model, with the padding that its configuration names."""
    path = folder / "tokenizer.json"
    library = require("tokenizers", extra="nli", purpose=PURPOSE)
    if file_type(path) != "file" or path.stat().st_size > _MOST_TOKENIZER:
        raise ModelError(
            "no tokenizer of at most 64 MB", path=path, expected="the model's tokenizer.json"
        )
    config = read_json(folder / "config.json", error=ModelError)
    more = folder / "tokenizer_config.json"
    settings = read_json(more, error=ModelError) if file_type(more) == "file" else {}
    settings = settings if isinstance(settings, dict) else {}
    with loading("the tokenizer cannot be read", path=path):
        core = library.Tokenizer.from_file(str(path))
        padding, truncation = core.padding or {}, core.truncation or {}
        core.no_truncation()
        core.no_padding()
        named = (core.token_to_id(token) for token in ("[PAD]", "<pad>"))
        ids = (config.get("pad_token_id"), padding.get("pad_id"), *named, 0)
        end = (core.id_to_token(i) for i in (config.get("eos_token_id"),) if type(i) is int)
        return Tokenizer(
            core,
            pad=next(number for number in ids if type(number) is int),
            pad_left=(settings.get("padding_side") or padding.get("direction")) == "left",
            cut_left=(settings.get("truncation_side") or truncation.get("direction")) == "left",
            typed=True,
            end=next(end, None) or _token(settings.get("eos_token") or settings.get("sep_token")),
        )


def _token(value: Any) -> str:
    """A special token as configurations write it: a text, or an object with its content."""
    value = value.get("content") if isinstance(value, dict) else value
    return value if isinstance(value, str) else ""


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
