"""A loaded judge model with its tokenizer: plans batches, and runs them on its devices."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from litepyramid.blas import free_cores
from litepyramid.errors import InputError, ModelError, require
from litepyramid.judges.nli.checkpoint import Checkpoint
from litepyramid.judges.nli.encode import (
    EncodedBatch,
    Pair,
    PairEncoder,
    TemplateEncoder,
    plan_batches,
)
from litepyramid.judges.nli.forward import (
    PURPOSE,
    FloatLogits,
    Forward,
    Precision,
    load_tokenizer,
)
from litepyramid.judges.nli.modes import Mode, presence
from litepyramid.judges.remote import Crew, Remote
from litepyramid.text import counted

_CPU_TOKENS = 4_096
_GPU_TOKENS = 32_768
_SAMPLE = 64
_ALLOWED = 0.005


class Engine:
    """The tokenizer and a loaded model on each of its devices.

    One device is served in this process; several by a process each, which ends when this one does.
    On CPU, where no number of threads is given, each takes its share of the cores that are free:
    threads that wait for a core that another program has cost several times what they bring.
    ``OMP_NUM_THREADS`` is kept.

    Args:
        point: The model.
        mode: The mode in which int8 is compared with float32.
        max_length: The most tokens of a pair.
        precision: See `Forward`.
        devices: As `find_devices` gives them.
        batch_tokens: The most tokens of a batch, padding included; None for what suits the device.
        threads: Threads of a model on CPU.
    """

    def __init__(
        self,
        point: Checkpoint,
        mode: Mode,
        max_length: int,
        precision: Precision,
        devices: Sequence[str],
        batch_tokens: int | None = None,
        threads: int | None = None,
    ) -> None:
        self._point, self._max_length = point, max_length
        self._tokenizer = load_tokenizer(point.source, point.revision, offline=point.offline)
        self._budget = batch_tokens or (_CPU_TOKENS if devices[0] == "cpu" else _GPU_TOKENS)
        self._soft: Mode = "p2c" if mode in ("p2c", "l2c") else "p3c"
        self._trusted = precision != "int8"
        on_cpu = sum(device == "cpu" for device in devices)
        if on_cpu and threads is None and "OMP_NUM_THREADS" not in os.environ:
            threads = max(1, free_cores() // on_cpu)
        models: list[Callable[[EncodedBatch], FloatLogits]] = []
        for device in devices:
            if len(devices) == 1:
                models.append(Forward(point, precision, device, threads))
            else:
                what = f"the process that served {device}"
                hint = "What was judged is kept; run the command again."
                given = (point, precision, device, threads)
                models.append(Remote(Forward, *given, what=what, hint=hint))
        self.crew = Crew(models)

    def plan(self, pairs: Sequence[Pair]) -> tuple[PairEncoder, list[list[int]]]:
        """The pairs encoded, and which of them go together."""
        template = self._point.card.template
        if template is None:
            encoder = PairEncoder(self._tokenizer, self._max_length, pairs)
        else:
            encoder = TemplateEncoder(self._tokenizer, self._max_length, pairs, template)
        if not self._trusted:
            self._check_int8(encoder)
            self._trusted = True
        return encoder, plan_batches(encoder.lengths, self._budget)

    def _check_int8(self, encoder: PairEncoder) -> None:
        """Compares a sample of pairs of all lengths with float32, once.

        Raises:
            ModelError: Presence, as a probability, differs by more than .005 on average.
        """
        by_length = np.argsort(encoder.lengths, kind="stable")
        places = np.linspace(0, len(by_length) - 1, min(_SAMPLE, len(by_length)))
        sample = by_length[places.astype(int)].tolist()
        exact = Forward(self._point, "float32", "cpu")
        gaps: list[float] = []
        plan = plan_batches(encoder.lengths[sample], self._budget)
        for indices, logits in self.run(encoder, ([sample[i] for i in batch] for batch in plan)):
            raw = (exact(encoder.batch(indices)), logits)
            soft = [presence(self._point.order.logits(rows), self._soft) for rows in raw]
            gaps.extend(np.abs(soft[0] - soft[1]))
        gap = float(np.mean(gaps))
        if gap > _ALLOWED:
            raise ModelError(
                f"int8 changes presence of {counted(len(gaps), 'pair')} by {gap:.4f} on average",
                expected=f"at most {_ALLOWED}",
                hint="Use --dtype float32, or bfloat16 if the processor supports it.",
            )

    def run(
        self, encoder: PairEncoder, batches: Iterable[list[int]]
    ) -> Iterator[tuple[list[int], FloatLogits]]:
        """Batches of pairs, each with its logits; a few are taken ahead of their logits."""
        return self.crew.map((indices, encoder.batch(indices)) for indices in batches)

    def close(self) -> None:
        """Frees the model: ends the threads and processes."""
        self.crew.close()


def find_devices(device: str = "auto", devices: Sequence[str] | None = None) -> list[str]:
    """The devices to use, checked to be there.

    Args:
        device: ``auto`` (a GPU if there is one), ``cpu``, ``cuda``, ``cuda:1``, ``mps``.
        devices: Several of them, each with a model of its own; ``["all"]`` for every GPU.

    Raises:
        InputError: There is no such device; the message lists the existing ones.
    """
    torch = require("torch", extra="nli", purpose=PURPOSE)
    gpus = [f"cuda:{index}" for index in range(torch.cuda.device_count())]
    mps = ["mps"] if torch.backends.mps.is_available() else []
    there = [*gpus, *mps, "cpu"]
    if devices is None:
        devices = there[:1] if device == "auto" else [device]
    elif list(devices) == ["all"]:
        devices = gpus or mps or ["cpu"]
    chosen = ["cuda:0" if name == "cuda" else name for name in devices]
    for name in chosen:
        if name not in there:
            raise InputError(
                f"unknown device '{name}'", expected=f"auto or one of {', '.join(there)}"
            )
    return chosen


def automatic_precision(device: str) -> Precision:
    """float32 on CPU; on a GPU bfloat16 where the chip computes in it, else float16."""
    if not device.startswith("cuda"):
        return "float32"
    torch = require("torch", extra="nli", purpose=PURPOSE)
    return "bfloat16" if torch.cuda.get_device_capability(device)[0] >= 8 else "float16"
