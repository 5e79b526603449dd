"""The model itself: the only module here that needs torch."""

from __future__ import annotations

import gc
import pickle
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from litepyramid.errors import InputError, ModelError, loading, require
from litepyramid.files import file_type
from litepyramid.io.weights import check_weights
from litepyramid.judges.nli.checkpoint import Checkpoint
from litepyramid.judges.nli.encode import EncodedBatch
from litepyramid.text import counted

FloatLogits = NDArray[np.float32]
Precision = Literal["float32", "bfloat16", "float16", "int8"]
PURPOSE = "an NLI judge"
_VOCABULARIES = ("tokenizer.json", "vocab*", "*.vocab", "*.model")


class Forward:
    """A loaded model: encoded pairs in, raw logits out.

    A batch that does not fit into memory is halved until it does, and later ones are cut to what
    fitted.

    Args:
        point: Which model.
        precision: ``float32``, ``bfloat16``, ``float16``, or ``int8`` (weights of linear layers,
            on CPU).
        device: ``cpu``, ``cuda:0``, ``mps`` …
        threads: Threads of the model on CPU; None for torch's own number.

    Raises:
        ModelError: The model cannot be loaded.
        MissingExtraError: torch or transformers is not installed.
    """

    def __init__(
        self, point: Checkpoint, precision: Precision, device: str, threads: int | None = None
    ) -> None:
        self._torch = require("torch", extra="nli", purpose=PURPOSE)
        if threads is not None:
            self._torch.set_num_threads(threads)
        self._device = device
        self._fits: int | None = None
        self._answers = point.card.answers
        self._model = self._load(point, precision)

    def __call__(self, batch: EncodedBatch) -> FloatLogits:
        """Logits (pairs, classes) float32 in the model's own class order."""
        size, width = batch["input_ids"].shape
        if size > 1 and self._fits is not None and size * width > self._fits:
            return self._halves(batch)
        try:
            with loading(f"the model failed on {self._device}"):
                return self._run(batch)
        except ModelError as error:
            if not _out_of_memory(error.__cause__, self._torch):
                raise
            if size == 1:
                raise ModelError(
                    f"one pair of {width} tokens does not fit into the memory of {self._device}",
                    hint="Use a smaller model, a shorter --max-length, or another --device.",
                ) from error
            self._fits = size * width // 2
        gc.collect()
        if self._device.startswith("cuda"):
            self._torch.cuda.empty_cache()
        return self._halves(batch)

    def _halves(self, batch: EncodedBatch) -> FloatLogits:
        middle = (len(batch["input_ids"]) + 1) // 2
        parts = (slice(0, middle), slice(middle, None))
        return np.concatenate([self(_part(batch, part)) for part in parts])

    def _run(self, batch: EncodedBatch) -> FloatLogits:
        torch = self._torch
        with torch.inference_mode():
            inputs = {name: torch.from_numpy(a).to(self._device) for name, a in batch.items()}
            if self._answers is not None:  # one step, from the token that answers begin with
                start = self._model.config.decoder_start_token_id
                inputs["decoder_input_ids"] = torch.full_like(inputs["input_ids"][:, :1], start)
            logits = self._model(**inputs).logits
            if self._answers is not None:
                logits = logits[:, 0, list(self._answers)]
            return np.asarray(logits.float().cpu().numpy(), dtype=np.float32)

    def _load(self, point: Checkpoint, precision: Precision) -> Any:
        torch, quantized = self._torch, precision == "int8"
        if quantized and self._device != "cpu":
            raise InputError("int8 works only on the CPU", expected="--device cpu")
        model, report = load_classifier(
            point.source,
            revision=point.revision,
            offline=point.offline,
            dtype=torch.float32 if quantized else getattr(torch, precision),
            head="SequenceClassification" if self._answers is None else "Seq2SeqLM",
        )
        if missing := sorted(report["missing_keys"]):
            raise ModelError(
                f"the model '{point.source}' lacks {counted(len(missing), 'weight')} "
                f"({missing[0]} …)",
                expected="a trained sequence classifier",
                hint="A pretrained model must be fine-tuned before it can judge.",
            )
        model = model.to(self._device).eval()
        if not quantized:
            return model
        quantization = require("torch.ao.quantization", extra="nli", purpose="int8")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return quantization.quantize_dynamic(model, {torch.nn.Linear}, dtype=torch.qint8)


def load_tokenizer(source: str, revision: str | None, *, offline: bool) -> Any:
    """The model's own tokenizer.

    Raises:
        ModelError: It cannot be read.
    """
    transformers = require("transformers", extra="nli", purpose=PURPOSE)
    folder = Path(source).expanduser()
    files = (path for pattern in _VOCABULARIES for path in folder.glob(pattern))
    if folder.is_dir() and not any(file_type(path) == "file" for path in files):
        raise ModelError(  # transformers would make an empty one
            "the folder has no tokenizer", path=folder, expected="tokenizer.json or similar"
        )
    with loading(f"the tokenizer of '{source}' cannot be read"), _quiet(transformers):
        return transformers.AutoTokenizer.from_pretrained(
            source, revision=revision, local_files_only=offline, trust_remote_code=False
        )


def load_classifier(
    source: str,
    *,
    revision: str | None,
    offline: bool,
    dtype: Any,
    head: Literal["SequenceClassification", "Seq2SeqLM"] = "SequenceClassification",
    **config: Any,
) -> tuple[Any, dict[str, Any]]:
    """A sequence classifier of transformers, with what its loader reports of its weights.

    Args:
        source: Hub id or folder.
        revision: Branch, tag or commit of a hub model.
        offline: Whether the hub may not be asked.
        dtype: Type of the weights in memory.
        head: What it computes from the last layer.
        **config: What is to be other than in its configuration.

    Raises:
        ModelError: It cannot be loaded, whatever is wrong with it; weights are not plain tensors;
            or the folder's configuration is of a far larger model than its weights.
    """
    torch = require("torch", extra="nli", purpose=PURPOSE)
    transformers = require("transformers", extra="nli", purpose=PURPOSE)
    where = {"revision": revision, "local_files_only": offline, "trust_remote_code": False}
    auto = getattr(transformers, f"AutoModelFor{head}")
    with loading(f"the model '{source}' cannot be loaded"), _quiet(transformers):
        if (folder := Path(source).expanduser()).is_dir():
            known = transformers.AutoConfig.from_pretrained(source, **where, **config)
            _check_size(torch, auto, folder, known)
        try:
            model, report = auto.from_pretrained(
                source, dtype=dtype, weights_only=True, output_loading_info=True, **where, **config
            )
        except pickle.UnpicklingError as error:
            raise ModelError(
                f"the weights of '{source}' are a pickle that holds more than tensors",
                expected="safetensors, or a file with tensors only",
                hint="It was not run, and cannot be used here.",
            ) from error
        return model, report


def _check_size(torch: Any, auto: Any, folder: Path, config: Any) -> None:
    """Refuses weights that unfold, and a configuration that would fill the memory without them."""
    files = [path for path in folder.iterdir() if path.suffix in (".safetensors", ".bin")]
    for path in files:
        if path.suffix == ".bin":
            with path.open("rb") as file:
                check_weights(file)
    with torch.device("meta"):
        model = auto.from_config(config)
    claimed = sum(weight.numel() for weight in model.parameters())
    held = sum(path.stat().st_size for path in files)
    if claimed > 4 * held:
        raise ModelError(
            f"the model '{folder}' cannot be loaded: its configuration is of {claimed} weights, "
            f"its files have {counted(held, 'byte')}",
            expected="at most four weights per byte",
        )


@contextmanager
def _quiet(transformers: Any) -> Iterator[None]:
    """No bars or reports of the loader's own meanwhile; what matters of them is an error here."""
    logging = transformers.utils.logging
    verbosity, bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bar:
            logging.enable_progress_bar()


def _out_of_memory(error: BaseException | None, torch: Any) -> bool:
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    text = str(error).lower()
    return any(sign in text for sign in ("out of memory", "can't allocate memory", "alloc_failed"))


def _part(batch: EncodedBatch, part: slice) -> EncodedBatch:
    """Some rows, with the columns that are padding in all of them taken off."""
    used = batch["attention_mask"][part].any(axis=0)
    return {name: np.ascontiguousarray(rows[part][:, used]) for name, rows in batch.items()}
