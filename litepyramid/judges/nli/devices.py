"""On which devices a model runs, and in which precision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from litepyramid.errors import InputError, require

Precision = Literal["float32", "bfloat16", "float16", "int8"]
_PURPOSE = "an NLI judge"


def find_devices(device: str = "auto", devices: Sequence[str] | None = None) -> list[str]:
    """The devices to use, checked to be there.

    Args:
        device: ``auto`` (a GPU if there is one), ``cpu``, ``cuda``, ``cuda:1``, ``mps``.
        devices: Several of them, each with a model of its own; ``["all"]`` for every GPU.

    Raises:
        InputError: There is no such device; the message lists those there are.
    """
    torch = require("torch", extra="nli", purpose=_PURPOSE)
    gpus = [f"cuda:{index}" for index in range(torch.cuda.device_count())]
    mps = ["mps"] if torch.backends.mps.is_available() else []
    if devices is None:
        devices = [(gpus + mps + ["cpu"])[0]] if device == "auto" else [device]
    elif list(devices) == ["all"]:
        devices = gpus or mps or ["cpu"]
    there = [*gpus, *mps, "cpu"]
    chosen = ["cuda:0" if name == "cuda" else name for name in devices]
    for name in chosen:
        if name not in there:
            raise InputError(f"no device '{name}'", expected=f"auto or one of {', '.join(there)}")
    return chosen


def automatic_precision(device: str) -> Precision:
    """float32 on CPU; on a GPU bfloat16 where the chip computes in it, else float16."""
    if not device.startswith("cuda"):
        return "float32"
    torch = require("torch", extra="nli", purpose=_PURPOSE)
    return "bfloat16" if torch.cuda.get_device_capability(device)[0] >= 8 else "float16"
