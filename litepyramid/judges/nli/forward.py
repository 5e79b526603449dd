"""The model itself: the only module here that needs torch."""

from __future__ import annotations

import gc
import os
import pickle
import queue
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from litepyramid.blas import free_cores
from litepyramid.errors import InputError, LitepyramidError, ModelError, loading, require
from litepyramid.files import file_type
from litepyramid.io.weights import check_weights
from litepyramid.judges.nli.devices import Precision
from litepyramid.judges.nli.encode import EncodedBatch
from litepyramid.text import counted

FloatLogits = NDArray[np.float32]
PRECISIONS: tuple[Precision, ...] = get_args(Precision)
_PURPOSE = "an NLI judge"
_VOCABULARIES = ("tokenizer.json", "vocab*", "*.vocab", "*.model")


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """Which model to load, and how: plain values, so that another process can load it too.

    Attributes:
        source: Hub id or folder.
        revision: The hub's commit; None for a folder.
        offline: Whether the hub may not be asked.
        precision: ``float32``, ``bfloat16``, ``float16``, or ``int8`` (weights of linear layers,
            on CPU).
        device: ``cpu``, ``cuda:0``, ``mps`` …
        threads: Threads of one model on CPU; None to choose (`Pool`).
        answers: Of a model that writes, the token ids of no and yes; its outputs are their logits.
    """

    source: str
    revision: str | None
    offline: bool
    precision: Precision
    device: str
    threads: int | None = None
    answers: tuple[int, int] | None = None


class Forward:
    """A loaded model: encoded pairs in, raw logits out.

    A batch that does not fit into memory is halved until it does, and later ones are cut to what
    fitted.

    Raises:
        ModelError: The model cannot be loaded.
        MissingExtraError: torch or transformers is not installed.
    """

    def __init__(self, spec: ModelSpec) -> None:
        self._torch = require("torch", extra="nli", purpose=_PURPOSE)
        if spec.threads is not None:
            self._torch.set_num_threads(spec.threads)
        self._device = spec.device
        self._fits: int | None = None
        self._model = _load(spec)
        self._answers = spec.answers
        self.halved = 0

    def __call__(self, batch: EncodedBatch) -> FloatLogits:
        """Logits (pairs, classes) float32 in the model's own class order."""
        size, width = batch.input_ids.shape
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
            self.halved += 1
        gc.collect()
        if self._device.startswith("cuda"):
            self._torch.cuda.empty_cache()
        return self._halves(batch)

    def _halves(self, batch: EncodedBatch) -> FloatLogits:
        middle = (len(batch.input_ids) + 1) // 2
        parts = (slice(0, middle), slice(middle, None))
        return np.concatenate([self(_part(batch, part)) for part in parts])

    def _run(self, batch: EncodedBatch) -> FloatLogits:
        torch = self._torch
        with torch.inference_mode():
            inputs = {
                "input_ids": torch.from_numpy(batch.input_ids).to(self._device),
                "attention_mask": torch.from_numpy(batch.attention_mask).to(self._device),
            }
            if batch.token_type_ids is not None:
                inputs["token_type_ids"] = torch.from_numpy(batch.token_type_ids).to(self._device)
            if self._answers is not None:  # one step, from the token that answers begin with
                start = self._model.config.decoder_start_token_id
                inputs["decoder_input_ids"] = torch.full_like(inputs["input_ids"][:, :1], start)
            logits = self._model(**inputs).logits
            if self._answers is not None:
                logits = logits[:, 0, list(self._answers)]
            return np.asarray(logits.float().cpu().numpy(), dtype=np.float32)


class Pool:
    """One model on each of several devices; one device is served in this process.

    Several are served by a process each, which ends when this one does. On CPU, where no number of
    threads is given, each takes its share of the cores that are free: threads that wait for a core
    that another program has cost several times what they bring. ``OMP_NUM_THREADS`` is kept.
    """

    def __init__(self, spec: ModelSpec, devices: Sequence[str]) -> None:
        self._threads = ThreadPoolExecutor(len(devices), thread_name_prefix="judge")
        self._workers: list[Forward | _Remote] = []
        self._idle: queue.SimpleQueue[Forward | _Remote] = queue.SimpleQueue()
        try:
            on_cpu = sum(device == "cpu" for device in devices)
            if on_cpu and spec.threads is None and "OMP_NUM_THREADS" not in os.environ:
                spec = replace(spec, threads=max(1, free_cores() // on_cpu))
            if len(devices) == 1:
                self._workers.append(Forward(replace(spec, device=devices[0])))
            else:
                self._workers += [_Remote(replace(spec, device=device)) for device in devices]
                for worker in self._workers:
                    worker.wait()  # type: ignore[union-attr]
        except BaseException:
            self.close()
            raise
        for worker in self._workers:
            self._idle.put(worker)

    @property
    def width(self) -> int:
        """How many batches run at once."""
        return len(self._workers)

    def submit(self, batch: EncodedBatch) -> Future[FloatLogits]:
        """Queues a batch for the next free device."""
        return self._threads.submit(self._serve, batch)

    def close(self) -> None:
        """Ends the threads and processes."""
        self._threads.shutdown(wait=True, cancel_futures=True)
        for worker in self._workers:
            if isinstance(worker, _Remote):
                worker.close()
        self._workers.clear()

    def _serve(self, batch: EncodedBatch) -> FloatLogits:
        worker = self._idle.get()
        try:
            return worker(batch)
        finally:
            self._idle.put(worker)


class _Remote:
    """A model in a process of its own, spoken to through a pipe."""

    def __init__(self, spec: ModelSpec) -> None:
        import multiprocessing

        context = multiprocessing.get_context("spawn")
        self._device = spec.device
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve_pipe, args=(spec, theirs), daemon=True)
        self._process.start()
        theirs.close()

    def wait(self) -> None:
        self._answer()

    def __call__(self, batch: EncodedBatch) -> FloatLogits:
        self._pipe.send(batch)
        return np.asarray(self._answer(), dtype=np.float32)

    def close(self) -> None:
        self._pipe.close()
        self._process.join(timeout=10)
        if self._process.is_alive():
            self._process.kill()

    def _answer(self) -> Any:
        try:
            answer = self._pipe.recv()
        except (EOFError, OSError) as error:
            raise ModelError(
                f"the process that served {self._device} ended",
                hint="What was judged is kept; run the command again.",
            ) from error
        if isinstance(answer, str):
            raise ModelError(answer.removesuffix("."))
        return answer


def _serve_pipe(spec: ModelSpec, pipe: Any) -> None:
    """The other end: loads the model, says so, and answers batches until the pipe closes."""
    try:
        forward = Forward(spec)
    except LitepyramidError as error:
        pipe.send(str(error))
        return
    pipe.send(None)
    while True:
        try:
            batch = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send(forward(batch))
        except LitepyramidError as error:
            pipe.send(str(error))


def load_tokenizer(source: str, revision: str | None, *, offline: bool) -> Any:
    """The model's own tokenizer.

    Raises:
        ModelError: It cannot be read.
    """
    transformers = require("transformers", extra="nli", purpose=_PURPOSE)
    folder = Path(source).expanduser()
    files = (path for pattern in _VOCABULARIES for path in folder.glob(pattern))
    if folder.is_dir() and not any(file_type(path) == "file" for path in files):
        raise ModelError(  # transformers would make an empty one
            "the folder has no tokenizer", path=folder, expected="tokenizer.json or its like"
        )
    with loading(f"the tokenizer of '{source}' cannot be read"), _quiet(transformers):
        return transformers.AutoTokenizer.from_pretrained(
            source, revision=revision, local_files_only=offline, trust_remote_code=False
        )


def _load(spec: ModelSpec) -> Any:
    torch = require("torch", extra="nli", purpose=_PURPOSE)
    if spec.precision == "int8" and spec.device != "cpu":
        raise InputError("the precision int8 is for the CPU", expected="--device cpu with it")
    model, report = load_classifier(
        spec.source,
        revision=spec.revision,
        offline=spec.offline,
        dtype=torch.float32 if spec.precision == "int8" else getattr(torch, spec.precision),
        head="SequenceClassification" if spec.answers is None else "Seq2SeqLM",
    )
    missing = sorted(report["missing_keys"])
    if missing:
        raise ModelError(
            f"the model '{spec.source}' lacks {counted(len(missing), 'weight')} ({missing[0]} …)",
            expected="a trained sequence classifier",
            hint="A pretrained model must be fine-tuned before it can judge.",
        )
    model = model.to(spec.device).eval()
    if spec.precision == "int8":
        model = _quantized(model)
    return model


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
        ModelError: It cannot be loaded, whatever is wrong with it; weights are no plain tensors; or
            the folder's configuration is of a far larger model than its weights.
    """
    torch = require("torch", extra="nli", purpose=_PURPOSE)
    transformers = require("transformers", extra="nli", purpose=_PURPOSE)
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
                expected="safetensors, or a file of tensors alone",
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
            expected="at most four weights a byte",
        )


def _quantized(model: Any) -> Any:
    """Linear layers in int8 with scales per call: dynamic quantisation, CPU alone."""
    import warnings

    torch = require("torch", extra="nli", purpose=_PURPOSE)
    quantization = require("torch.ao.quantization", extra="nli", purpose="int8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return quantization.quantize_dynamic(model, {torch.nn.Linear}, dtype=torch.qint8)


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
    mask = batch.attention_mask[part]
    used = mask.any(axis=0)
    types = batch.token_type_ids
    return EncodedBatch(
        np.ascontiguousarray(batch.input_ids[part][:, used]),
        np.ascontiguousarray(mask[:, used]),
        None if types is None else np.ascontiguousarray(types[part][:, used]),
    )
