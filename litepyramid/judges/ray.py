"""Corpora on Ray: an actor with a judge for every device, fed chunk by chunk.

The driver keeps where each summary stands, not what it says; an actor reads its chunk from the
file (so every machine must see the files under the same path), judges it and sends the presence
back. What is held grows by eight bytes a judgement: the result.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.errors import InputError, ModelError, require
from litepyramid.judges.base import JudgedBatch, note_kept
from litepyramid.judges.cache_info import default_cache_path
from litepyramid.judges.corpus import PackedUnits, SystemIndex, index_summaries, read_texts
from litepyramid.judges.lexical.model import is_model_file
from litepyramid.judges.nli.judge import TransformersJudge
from litepyramid.judges.registry import EMBEDDED, check_judge_name
from litepyramid.progress import bar
from litepyramid.text import counted
from litepyramid.types import FloatArray, InputUnits, check_unique

_PURPOSE = "the engine 'ray'"
_CHUNK_PAIRS = 2_048
_STORE_BYTES = 128 * 2**20


@dataclass(frozen=True)
class JudgedCorpus:
    """What the judges said of every system.

    Attributes:
        systems: N names, in the files' order.
        presence: (N, U) presence of every unit, inputs one after the other.
        batch: The judge's signature and counts, as the local engine gives them.
    """

    systems: tuple[str, ...]
    presence: FloatArray
    batch: JudgedBatch


def judge_corpus(
    summaries: Sequence[str | Path],
    units: Sequence[InputUnits],
    model: str,
    *,
    ids: Sequence[str] | None = None,
    columns: Mapping[str, str] | None = None,
    workers: int | None = None,
    chunk_pairs: int = _CHUNK_PAIRS,
    progress: bool | None = None,
    **options: Any,
) -> JudgedCorpus:
    """Judges every unit against every system's summary on a Ray cluster.

    Uses the cluster that is connected or that ``RAY_ADDRESS`` names, else one of this machine.

    Args:
        summaries: Files or folders, as `io.summaries.read_summaries` takes them; every machine of
            the cluster must see them.
        units: One entry an input.
        model: Hub id or folder of the judge.
        ids: Ids of line files' inputs.
        columns: As for `read_summaries`.
        workers: Actors, each with a model of its own; None for one a GPU, or one a machine where
            there is no GPU.
        chunk_pairs: Pairs that an actor gets at a time, at least one input.
        progress: As for `TransformersJudge`.
        **options: Options of `TransformersJudge`. The cache is a file on every actor's machine.

    Raises:
        InputError: A file or option is wrong.
        ModelError: The model cannot be loaded, or fails.
        MissingExtraError: Ray is not installed.
    """
    ray = require("ray", extra="ray", purpose=_PURPOSE)
    names = [entry.input for entry in units]
    if model in EMBEDDED or is_model_file(model):
        raise InputError(
            f"the judge '{model}' on Ray",
            expected="an NLI model",
            hint="The embedded judges need no cluster: leave --engine out.",
        )
    check_judge_name(model)
    indices = list(index_summaries(summaries, names, ids, columns))
    check_unique([index.system for index in indices], "system")
    settings = _settings(options)
    # Checked here, before a cluster is asked for anything.
    TransformersJudge(model, **settings, progress=False).close()
    counts: dict[str, int] = {"empty_summaries": 0}
    started = _connect(ray)
    try:
        plan = _Plan(ray, workers, str(settings.get("device", "auto")))
        if settings.get("dtype", "auto") == "auto":
            settings["dtype"] = "bfloat16" if plan.gpus else "float32"
        with TransformersJudge(model, **settings, progress=False) as judge:
            signature = judge.signature()
        packed = PackedUnits.of(units)
        presence = np.full((len(indices), len(packed.ends)), np.nan)
        with bar(presence.size, "judging", "pairs", shown=progress) as shown:
            rows = _stream(ray, indices, packed, model, settings, plan, chunk_pairs)
            for row in rows:
                if row["error"]:
                    raise (InputError if row["input_error"] else ModelError)(row["error"][:-1])
                values = np.frombuffer(row["presence"], dtype=np.float64)
                start = int(packed.offsets[row["first"]])
                presence[row["system"], start : start + len(values)] = values
                for key, value in _counts(row["counts"]).items():
                    counts[key] = counts.get(key, 0) + value
                shown.update(len(values))
    except KeyboardInterrupt as stop:
        note_kept(stop, counts.get("judged", 0), settings["cache"])
        raise
    finally:
        if started:
            ray.shutdown()
    if np.isnan(presence).any():
        raise ModelError(
            f"Ray gave no answer for {counted(int(np.isnan(presence).sum()), 'pair')}",
            hint="What was judged is kept; run the command again.",
        )
    batch = JudgedBatch(presence=(), signature=signature, counts=counts)
    return JudgedCorpus(tuple(index.system for index in indices), presence, batch)


def _stream(
    ray: Any,
    indices: Sequence[SystemIndex],
    packed: PackedUnits,
    model: str,
    settings: Mapping[str, Any],
    plan: _Plan,
    chunk_pairs: int,
) -> Any:
    """The answers, chunk by chunk, in the order in which they come."""
    data = require("ray.data", extra="ray", purpose=_PURPOSE)
    context = data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    for name in ("ray.data", "ray"):
        logging.getLogger(name).setLevel(logging.ERROR)
    inputs = max(1, chunk_pairs * (len(packed.offsets) - 1) // max(1, len(packed.ends)))
    chunks = [
        {
            "system": number,
            "path": str(index.path),
            "key": index.key or "",
            "first": first,
            "starts": index.starts[first : first + inputs].tobytes(),
        }
        for number, index in enumerate(indices)
        for first in range(0, len(packed.offsets) - 1, inputs)
    ]
    blocks = max(1, min(len(chunks), 1_000))
    answers = data.from_items(chunks, override_num_blocks=blocks).map_batches(
        _Actor,
        fn_constructor_args=(model, dict(settings), [ray.put(packed)], plan.threads),
        batch_size=1,
        compute=data.ActorPoolStrategy(size=plan.workers),
        num_cpus=0 if plan.gpus else plan.cpus,
        num_gpus=1 if plan.gpus else 0,
    )
    return answers.iter_rows()


class _Actor:
    """A judge of its own, on one device."""

    def __init__(
        self, model: str, settings: dict[str, Any], units: list[Any], threads: int
    ) -> None:
        ray = require("ray", extra="ray", purpose=_PURPOSE)
        own = {"threads": threads or None, **settings}
        self._judge = TransformersJudge(model, **own, progress=False)
        self._units: PackedUnits = ray.get(units[0])

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        first = int(batch["first"][0])
        starts = np.frombuffer(batch["starts"][0], dtype=np.int64)
        answer: dict[str, Any] = {"presence": b"", "counts": "", "error": "", "input_error": False}
        try:
            texts = read_texts(Path(batch["path"][0]), starts, str(batch["key"][0]) or None)
            said = self._judge.judge(
                [(text, self._units.texts(first + i)) for i, text in enumerate(texts)]
            )
        except (InputError, ModelError) as error:
            answer |= {"error": str(error), "input_error": isinstance(error, InputError)}
        else:
            empty = sum(not text for text in texts)
            answer["presence"] = np.concatenate(said.presence).tobytes()
            answer["counts"] = json.dumps({**said.counts, "empty_summaries": empty})
            self._judge.forget()
        answer |= {"system": int(batch["system"][0]), "first": first}
        return {key: [value] for key, value in answer.items()}


class _Plan:
    """How many actors, and what each of them holds."""

    def __init__(self, ray: Any, workers: int | None, device: str) -> None:
        there = ray.cluster_resources()
        machines = [node for node in ray.nodes() if node["Alive"]]
        self.gpus = 0 if device == "cpu" else int(there.get("GPU", 0))
        self.workers = workers or self.gpus or len(machines)
        if self.gpus and self.workers > self.gpus:
            raise InputError(
                f"{counted(self.workers, 'worker')}", expected=f"at most {self.gpus}, one a GPU"
            )
        cores = int(there.get("CPU", 1))
        # A quarter of a core stays free on each machine for Ray's own reading tasks.
        self.cpus = max(0.25, (cores - 0.25 * len(machines)) / self.workers)
        self.cpus = min(self.cpus, 1.0)
        self.threads = 0 if self.gpus else max(1, cores // self.workers)


def _connect(ray: Any) -> bool:
    """Joins a cluster, or starts one of this machine; returns whether it did either."""
    if ray.is_initialized():
        return False
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    settings: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if not os.environ.get("RAY_ADDRESS"):
        settings |= {"include_dashboard": False, "object_store_memory": _STORE_BYTES}
    try:
        ray.init(**settings)
    except Exception as error:  # Ray raises it bare when a node is slow to start
        reason = str(error).partition("\n")[0]
        raise ModelError(
            f"no Ray cluster ({reason})",
            hint="Check RAY_ADDRESS, or unset it to start a cluster on this machine.",
        ) from error
    return True


def _settings(options: Mapping[str, Any]) -> dict[str, Any]:
    settings = dict(options)
    if settings.pop("devices", None) is not None:
        raise InputError("devices are named, and the engine is ray", hint="Use --workers.")
    if settings.get("cache", "default") == "default":
        settings["cache"] = default_cache_path()
    if settings["cache"] is not None:
        settings["cache"] = Path(settings["cache"]).absolute()
    return settings


def _counts(text: str) -> dict[str, int]:
    return {key: int(value) for key, value in json.loads(text).items()}
