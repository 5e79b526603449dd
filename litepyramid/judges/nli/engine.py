"""A loaded judge model with its tokenizer: plans batches, and runs them on its devices."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import numpy as np

from litepyramid.errors import ModelError
from litepyramid.judges.nli import forward
from litepyramid.judges.nli.checkpoint import Checkpoint
from litepyramid.judges.nli.devices import find_devices
from litepyramid.judges.nli.encode import Pair, PairEncoder, TemplateEncoder, plan_batches
from litepyramid.judges.nli.modes import Mode, presence
from litepyramid.text import counted

_CPU_TOKENS = 4_096
_GPU_TOKENS = 32_768
_SAMPLE = 64
_ALLOWED = 0.005


class Engine:
    """The loaded model with its tokenizer, on its devices."""

    def __init__(
        self,
        point: Checkpoint,
        max_length: int,
        precision: str,
        device: str,
        devices: Sequence[str] | None,
        batch_tokens: int | None,
        mode: Mode,
        threads: int | None = None,
    ) -> None:
        chosen = find_devices(device, devices)
        self._tokenizer = forward.load_tokenizer(
            point.source, point.revision, offline=point.offline
        )
        self._max_length = max_length
        self._budget = batch_tokens or (_CPU_TOKENS if chosen[0] == "cpu" else _GPU_TOKENS)
        self._spec = forward.ModelSpec(
            source=point.source,
            revision=point.revision,
            offline=point.offline,
            precision=next(p for p in forward.PRECISIONS if p == precision),
            device=chosen[0],
            threads=threads,
            answers=point.card.answers if point.card else None,
        )
        self._template = point.card.template if point.card else None
        self._order = point.order
        self._soft: Mode = "p2c" if mode in ("p2c", "l2c") else "p3c"
        self._pool = forward.Pool(self._spec, chosen)
        self._trusted = precision != "int8"

    def plan(self, pairs: Sequence[Pair]) -> tuple[PairEncoder, list[list[int]]]:
        """The pairs encoded, and which of them go together."""
        if self._template is None:
            encoder = PairEncoder(self._tokenizer, self._max_length, pairs)
        else:
            encoder = TemplateEncoder(self._tokenizer, self._max_length, pairs, self._template)
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
        exact = forward.Forward(replace(self._spec, precision="float32"))
        gaps: list[float] = []
        for batch in plan_batches(encoder.lengths[sample], self._budget):
            encoded = encoder.batch([sample[i] for i in batch])
            raw = (exact(encoded), self._pool.submit(encoded).result())
            soft = [presence(self._order.logits(logits), self._soft) for logits in raw]
            gaps.extend(np.abs(soft[0] - soft[1]))
        gap = float(np.mean(gaps))
        if gap > _ALLOWED:
            raise ModelError(
                f"int8 moves the presence of {counted(len(gaps), 'pair')} by {gap:.4f} on average",
                expected=f"at most {_ALLOWED}",
                hint="Use --dtype float32, or bfloat16 where the processor computes in it.",
            )

    def submit(self, encoder: PairEncoder, indices: Sequence[int]) -> Future[Any]:
        """Queues the pairs at `indices` for the next free device."""
        return self._pool.submit(encoder.batch(indices))

    @property
    def ahead(self) -> int:
        """How many batches to have under way: one more than run at once."""
        return self._pool.width + 1

    def close(self) -> None:
        """Frees the model."""
        self._pool.close()
