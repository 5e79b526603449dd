"""Models of transformers as judges: the only module here that needs torch."""

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np

from litepyramid.blas import free_cores
from litepyramid.errors import InputError, ModelError, loading, require
from litepyramid.files import file_type
from litepyramid.judges.nli.checkpoint import Checkpoint
from litepyramid.judges.nli.encode import EncodedBatch, Tokenizer
from litepyramid.text import counted

_FULL = ("out of memory", "can't allocate memory", "alloc_failed")  # how backends say it


def _torch() -> Any:
    return require("torch", extra="nli", purpose="an NLI judge")


def _transformers() -> Any:
    return require("transformers", extra="nli", purpose="an NLI judge")


class TorchBackend:
    """A loaded model of transformers; a `Backend`.

    A batch that does not fit into memory is halved until it does, later ones to what fitted. On CPU
    it takes the free cores by default: threads that wait for a core cost more than they bring.
    """

    def __init__(
        self, point: Checkpoint, precision: str, device: str, threads: int | None = None
    ) -> None:
        self._torch = torch = _torch()
        if device == "cpu" and threads is None and "OMP_NUM_THREADS" not in os.environ:
            threads = free_cores()
        if threads is not None:
            torch.set_num_threads(threads)
        self._device, self._answers = device, point.card.answers
        self._fits: int | None = None
        model, report = load_classifier(
            point.source,
            revision=point.revision,
            offline=point.offline,
            dtype=getattr(torch, precision),
            head="SequenceClassification" if self._answers is None else "Seq2SeqLM",
        )
        if missing := sorted(report["missing_keys"]):
            lacks = f"the model '{point.source}' lacks {counted(len(missing), 'weight')}"
            hint = "A pretrained model must be fine-tuned before it can judge."
            raise ModelError(f"{lacks} ({missing[0]} …)", hint=hint)
        self._model = model.to(device).eval()

    def logits(self, batch: EncodedBatch) -> Any:
        """Logits (pairs, classes) float32 in the model's own class order."""
        size, width = batch["input_ids"].shape
        if size == 1 or self._fits is None or size * width <= self._fits:
            try:
                with loading(f"the model failed on {self._device}"):
                    return self._run(batch)
            except ModelError as error:
                cause, text = error.__cause__, str(error.__cause__).lower()
                out = isinstance(cause, self._torch.OutOfMemoryError | MemoryError)
                if not out and not any(sign in text for sign in _FULL):
                    raise
                if size == 1:
                    problem = f"one pair of {width} tokens does not fit into the memory of"
                    hint = "Use a smaller model, max_length or another device."
                    raise ModelError(f"{problem} {self._device}", hint=hint) from error
            self._fits = size * width // 2
            gc.collect()
            if self._device.startswith("cuda"):
                self._torch.cuda.empty_cache()
        middle = (size + 1) // 2
        halves = (slice(0, middle), slice(middle, None))
        parts = ({name: array[half] for name, array in batch.items()} for half in halves)
        return np.concatenate([self.logits(part) for part in parts])

    def _run(self, batch: EncodedBatch) -> Any:
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


def as_tokenizer(tokenizer: Any) -> Tokenizer:
    """A tokenizer of transformers, as encoders take it."""
    core = getattr(tokenizer, "backend_tokenizer", None)
    if core is None:
        problem = f"the tokenizer {type(tokenizer).__name__} is not one of the library tokenizers"
        raise ModelError(problem, expected="a model with a tokenizer.json")
    core.no_truncation()
    core.no_padding()
    return Tokenizer(
        core,
        pad=tokenizer.pad_token_id or 0,
        pad_left=tokenizer.padding_side == "left",
        cut_left=tokenizer.truncation_side == "left",
        typed="token_type_ids" in tokenizer.model_input_names,
        end=tokenizer.eos_token or tokenizer.sep_token or "",
    )


def load_tokenizer(source: str, revision: str | None, *, offline: bool) -> Any:
    """The model's own tokenizer of transformers."""
    transformers = _transformers()
    folder = Path(source).expanduser()
    patterns = ("tokenizer.json", "vocab*", "*.vocab", "*.model")
    files = (path for pattern in patterns for path in folder.glob(pattern))
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

    A folder is read from safetensors alone; a hub model as transformers loads it, tensors only.
    """
    _torch()
    transformers = _transformers()
    auto = getattr(transformers, f"AutoModelFor{head}")
    if Path(source).expanduser().is_dir():
        config["use_safetensors"] = True
    with loading(f"the model '{source}' cannot be loaded"), _quiet(transformers):
        loaded: tuple[Any, dict[str, Any]] = auto.from_pretrained(
            source,
            revision=revision,
            local_files_only=offline,
            trust_remote_code=False,
            dtype=dtype,
            weights_only=True,
            output_loading_info=True,
            **config,
        )
        return loaded


def find_device(device: str = "auto") -> str:
    """The device to use, checked to be there."""
    torch = _torch()
    gpus = [f"cuda:{index}" for index in range(torch.cuda.device_count())]
    devices = [*gpus, *(["mps"] if torch.backends.mps.is_available() else []), "cpu"]
    chosen = {"auto": devices[0], "cuda": "cuda:0"}.get(device, device)
    if chosen not in devices:
        expected = f"auto or one of {', '.join(devices)}"
        raise InputError(f"unknown device '{device}'", expected=expected)
    return chosen


def automatic_precision(device: str) -> str:
    """float32 on CPU; on a GPU bfloat16 where the chip computes in it, else float16."""
    device = find_device(device)
    if not device.startswith("cuda"):
        return "float32"
    return "bfloat16" if _torch().cuda.get_device_capability(device)[0] >= 8 else "float16"


@contextmanager
def _quiet(transformers: Any) -> Iterator[None]:
    """No bars or reports of the loader's own meanwhile; what matters of them is an error here."""
    logging = transformers.utils.logging
    verbosity, shows = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if shows:
            logging.enable_progress_bar()
