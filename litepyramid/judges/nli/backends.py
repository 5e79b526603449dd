"""What runs a model: onnxruntime without torch, or transformers; and what reads
tokenizers.

An ONNX model's logits of a pair do not depend on what else is judged: each pair is
computed alone, without padding, on one thread, which is as fast on a CPU as batches
are. Pairs run side by side.
"""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np

from litepyramid.blas import cores, free_cores
from litepyramid.errors import InputError, ModelError, loading, require
from litepyramid.files import file_type, read_json
from litepyramid.judges.nli.checkpoint import Checkpoint
from litepyramid.judges.nli.encode import EncodedBatch, Tokenizer, check_growth
from litepyramid.judges.nli.onnx_file import check_one_file
from litepyramid.text import counted

ONNX_TOKENS = 8_192
"""The most tokens of a batch: how often judgements are saved."""
_MOST_TOKENIZER = 64 * 2**20


class OnnxBackend:
    """A loaded ONNX classifier; a `Backend`.

    Operators of others are refused by onnxruntime: no library with any is ever
    registered.
    """

    def __init__(self, path: Path, threads: int | None = None) -> None:
        self._session = onnx_session(path)
        self._inputs = [entry.name for entry in self._session.get_inputs()]
        outputs = [entry.name for entry in self._session.get_outputs()]
        self._output = "logits" if "logits" in outputs else outputs[0]
        self._path = path
        self._threads = threads or onnx_threads()

    def logits(self, batch: EncodedBatch) -> Any:
        """Logits (pairs, classes) float32 in the model's own class order."""
        batch = {"token_type_ids": np.zeros_like(batch["input_ids"]), **batch}
        with loading("the model failed", path=self._path):
            pairs = []
            for row, used in enumerate(batch["attention_mask"].astype(bool)):
                # Without its padding a pair gives the same bits in any batch.
                pair = {n: batch[n][row : row + 1, used] for n in self._inputs}
                pairs.append(pair)
            with ThreadPoolExecutor(self._threads) as pool:
                logits = np.concatenate(list(pool.map(self._run, pairs)))
            if (
                logits.ndim != 2
                or len(logits) != len(pairs)
                or logits.dtype.kind != "f"
            ):
                raise ModelError(
                    f"the output has the shape {logits.shape}",
                    path=self._path,
                    expected="(pairs, classes)",
                )

        return logits.astype(np.float32)

    def _run(self, pair: EncodedBatch) -> Any:
        return self._session.run([self._output], pair)[0]


def onnx_session(path: Path) -> Any:
    """A session of onnxruntime on one thread, of a model in one file."""
    runtime = _library("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    options.use_deterministic_compute = True
    # Every length of summary would get a plan of its memory: 35 MB for nothing.
    options.enable_mem_pattern = False

    check_one_file(path)
    expected = "an ONNX classifier"
    with loading("the model cannot be loaded", path=path, expected=expected):
        return runtime.InferenceSession(
            path, options, providers=["CPUExecutionProvider"]
        )


def what_is_asked() -> Any:
    """Options of a call that computes what leads to its outputs, and no more."""
    options = _library("onnxruntime").RunOptions()
    options.only_execute_path_to_fetches = True
    return options


def onnx_threads() -> int:
    """How many calls run side by side: OMP_NUM_THREADS, else as many as cores."""
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return int(limit) if limit.isdecimal() and int(limit) else cores()


def read_onnx_tokenizer(folder: Path) -> Tokenizer:
    """The ``tokenizer.json`` next to a model, with what its settings say of cutting and
    ends."""
    path = folder / "tokenizer.json"
    more = folder / "tokenizer_config.json"
    library = _library("tokenizers")
    if file_type(path) != "file" or path.stat().st_size > _MOST_TOKENIZER:
        raise ModelError("no tokenizer.json of at most 64 MB", path=path)

    with loading("the tokenizer cannot be read", path=path):
        settings = {}
        if file_type(more) == "file":
            settings = read_json(more, error=ModelError)
        core = library.Tokenizer.from_file(str(path))
        check_growth(core)
        side = settings.get("truncation_side") or (core.truncation or {}).get(
            "direction"
        )
        core.no_truncation()
        core.no_padding()
        end = settings.get("eos_token") or settings.get("sep_token") or ""
        end = end if isinstance(end, str) else end["content"]
        return Tokenizer(
            core,
            cut_left=side == "left",
            typed=True,
            end=end,
        )


def _library(name: str) -> Any:
    return require(name, extra="nli", purpose="an NLI judge")


class TorchBackend:
    """A loaded model of transformers; a `Backend`.

    On CPU it takes the free cores by default: threads that wait cost more than they
    bring.
    """

    def __init__(
        self, point: Checkpoint, precision: str, device: str, threads: int | None = None
    ) -> None:
        self._torch = torch = _library("torch")
        if device == "cpu" and threads is None and "OMP_NUM_THREADS" not in os.environ:
            threads = free_cores()
        if threads is not None:
            torch.set_num_threads(threads)
        self._device, self._answers = device, point.card.answers
        model, report = load_classifier(
            point.source,
            point.revision,
            dtype=getattr(torch, precision),
            head="SequenceClassification" if self._answers is None else "Seq2SeqLM",
        )

        if missing := sorted(report["missing_keys"]):
            lacks = (
                f"the model '{point.source}' lacks {counted(len(missing), 'weight')}"
            )
            raise ModelError(
                f"{lacks} ({missing[0]} …)",
                hint="A pretrained model must be fine-tuned before it can judge.",
            )

        self._model = model.to(device).eval()

    def logits(self, batch: EncodedBatch) -> Any:
        """Logits (pairs, classes) float32 in the model's own class order."""
        torch = self._torch
        hint = "If its memory is full, use a smaller batch_tokens, max_length or model."
        with (
            loading(f"the model failed on {self._device}", hint=hint),
            torch.inference_mode(),
        ):
            inputs = {
                name: torch.from_numpy(a).to(self._device) for name, a in batch.items()
            }
            # One step, from the token that answers begin with.
            if self._answers is not None:
                start = self._model.config.decoder_start_token_id
                inputs["decoder_input_ids"] = torch.full_like(
                    inputs["input_ids"][:, :1], start
                )

            logits = self._model(**inputs).logits
            if self._answers is not None:
                logits = logits[:, 0, list(self._answers)]
            return np.asarray(logits.float().cpu().numpy(), dtype=np.float32)


def as_tokenizer(tokenizer: Any) -> Tokenizer:
    """A tokenizer of transformers, as encoders take it."""
    core = getattr(tokenizer, "backend_tokenizer", None)
    if core is None:
        raise ModelError(
            f"the tokenizer {type(tokenizer).__name__} is not one of the library "
            "tokenizers",
            expected="a model with a tokenizer.json",
        )

    check_growth(core)
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


def load_tokenizer(source: str, revision: str | None) -> Any:
    """The model's own tokenizer of transformers."""
    transformers = _library("transformers")
    folder = Path(source).expanduser()
    patterns = ("tokenizer.json", "vocab*", "*.vocab", "*.model")
    files = (path for pattern in patterns for path in folder.glob(pattern))

    if folder.is_dir() and not any(file_type(path) == "file" for path in files):
        # transformers would make an empty one.
        raise ModelError(
            "the folder has no tokenizer",
            path=folder,
            expected="tokenizer.json or similar",
        )

    with loading(f"the tokenizer of '{source}' cannot be read"), _quiet(transformers):
        return transformers.AutoTokenizer.from_pretrained(
            source, revision=revision, trust_remote_code=False
        )


def load_classifier(
    source: str,
    revision: str | None,
    *,
    dtype: Any,
    head: Literal["SequenceClassification", "Seq2SeqLM"] = "SequenceClassification",
    **config: Any,
) -> tuple[Any, dict[str, Any]]:
    """A sequence classifier of transformers, with what its loader reports of its
    weights.

    A folder is read from safetensors alone; a hub model as transformers loads it,
    tensors only.
    """
    _library("torch")
    transformers = _library("transformers")
    auto = getattr(transformers, f"AutoModelFor{head}")
    if Path(source).expanduser().is_dir():
        config["use_safetensors"] = True

    with loading(f"the model '{source}' cannot be loaded"), _quiet(transformers):
        loaded: tuple[Any, dict[str, Any]] = auto.from_pretrained(
            source,
            revision=revision,
            trust_remote_code=False,
            dtype=dtype,
            weights_only=True,
            output_loading_info=True,
            **config,
        )

    # It would count only where peft is installed.
    if getattr(loaded[0], "_hf_peft_config_loaded", False):
        raise ModelError(
            f"the model '{source}' holds an adapter",
            expected="a whole model",
            hint="Merge it: model.merge_and_unload().save_pretrained(FOLDER).",
        )
    return loaded


def find_device(device: str) -> str:
    """The device to use, checked to be there."""
    torch = _library("torch")
    devices = [f"cuda:{index}" for index in range(torch.cuda.device_count())]
    if torch.backends.mps.is_available():
        devices.append("mps")
    devices.append("cpu")
    chosen = {"auto": devices[0], "cuda": "cuda:0"}.get(device, device)
    if chosen not in devices:
        what = "no GPU is found" if chosen.startswith("cuda") else "unknown device"
        raise InputError(
            f"{what} ('{device}')",
            expected=f"auto or one of {', '.join(devices)}",
        )
    return chosen


def automatic_precision(device: str) -> str:
    """float32 on CPU; on a GPU bfloat16 where the chip computes in it, else float16."""
    device = find_device(device)
    if not device.startswith("cuda"):
        return "float32"
    # bfloat16 has float32's range: logits do not overflow.
    major, _ = _library("torch").cuda.get_device_capability(device)
    return "bfloat16" if major >= 8 else "float16"


@contextmanager
def _quiet(transformers: Any) -> Iterator[None]:
    """No bars or reports of the loader's own meanwhile; what matters of them is an
    error here."""
    logging = transformers.utils.logging
    verbosity = logging.get_verbosity()
    shows = logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if shows:
            logging.enable_progress_bar()
