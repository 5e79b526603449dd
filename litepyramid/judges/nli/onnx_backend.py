"""ONNX models as judges: onnxruntime and tokenizers alone, no torch.

A pair's logits do not depend on what else is judged: each pair is computed alone, without padding,
on one thread, which is as fast on a CPU as batches are. Pairs run side by side.
"""

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
_MOST_BYTES, _MOST_TOKENIZER = 2**31, 64 * 2**20
_ELSEWHERE = b"\n\x08location"  # how protobuf writes the key of a tensor that is in another file


class OnnxBackend:
    """A loaded ONNX classifier; a `Backend`.

    Operators of others are refused by onnxruntime: no library with any is ever registered.
    """

    def __init__(self, path: Path, threads: int | None = None) -> None:
        runtime = require("onnxruntime", extra="nli", purpose="an ONNX judge")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        options.use_deterministic_compute = True
        data = path.read_bytes() if path.stat().st_size <= _MOST_BYTES else _ELSEWHERE
        if _ELSEWHERE in data:
            raise ModelError("the model is not in one file of at most 2 GB", path=path)
        with loading("the model cannot be loaded", path=path, expected="an ONNX classifier"):
            self._session = runtime.InferenceSession(
                data, options, providers=["CPUExecutionProvider"]
            )
            self._inputs = [entry.name for entry in self._session.get_inputs()]
            outputs = [entry.name for entry in self._session.get_outputs()]
            self._output = "logits" if "logits" in outputs else outputs[0]
        self._path = path
        limit = os.environ.get("OMP_NUM_THREADS", "")
        self._threads = threads or (int(limit) if limit.isdecimal() and int(limit) else cores())

    def logits(self, batch: EncodedBatch) -> Any:
        """Logits (pairs, classes) float32 in the model's own class order."""
        batch = {"token_type_ids": np.zeros_like(batch["input_ids"]), **batch}
        with loading("the model failed", path=self._path):
            pairs = [
                {name: batch[name][row : row + 1, used] for name in self._inputs}
                for row, used in enumerate(batch["attention_mask"].astype(bool))
            ]
            with ThreadPoolExecutor(self._threads) as pool:
                logits = np.concatenate(list(pool.map(self._run, pairs)))
            if logits.ndim != 2 or len(logits) != len(pairs) or logits.dtype.kind != "f":
                shape, expected = f"the output has the shape {logits.shape}", "(pairs, classes)"
                raise ModelError(shape, path=self._path, expected=expected)
        return logits.astype(np.float32)

    def _run(self, pair: EncodedBatch) -> Any:
        return self._session.run([self._output], pair)[0]


def read_onnx_tokenizer(folder: Path) -> Tokenizer:
    """The ``tokenizer.json`` next to a model, with what its settings say of cutting and ends."""
    path, more = folder / "tokenizer.json", folder / "tokenizer_config.json"
    library = require("tokenizers", extra="nli", purpose="an ONNX judge")
    if file_type(path) != "file" or path.stat().st_size > _MOST_TOKENIZER:
        raise ModelError("no tokenizer.json of at most 64 MB", path=path)
    with loading("the tokenizer cannot be read", path=path):
        settings = read_json(more, error=ModelError) if file_type(more) == "file" else {}
        core = library.Tokenizer.from_file(str(path))
        side = settings.get("truncation_side") or (core.truncation or {}).get("direction")
        core.no_truncation()
        core.no_padding()
        end = settings.get("eos_token") or settings.get("sep_token") or ""
        end = end if isinstance(end, str) else end["content"]
        return Tokenizer(core, cut_left=side == "left", typed=True, end=end)
