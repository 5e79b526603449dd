"""Judges on Ray: an actor with a judge for every device of a cluster, fed window by window."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from litepyramid.errors import InputError, LitepyramidError, ModelError, require
from litepyramid.judges.base import Items, JudgedBatch, judged
from litepyramid.judges.cache_file import default_cache_path
from litepyramid.judges.lexical.model import is_model_file
from litepyramid.judges.registry import EMBEDDED, LLM, make_judge
from litepyramid.text import counted

_STORE_BYTES = 128 * 2**20


class RayJudge:
    """A judge on a Ray cluster, embedded or NLI; a `Spreading` one, used as a context manager.

    Inside the block it is on the cluster that is connected or that ``RAY_ADDRESS`` names, else on
    one of this machine.

    Args:
        model: Name, hub id or folder of the judge; a folder must be on every machine.
        workers: Actors, each with a judge of its own; None for one per GPU, or where there is none
            one a machine, of an embedded judge one a core.
        **options: Of `TransformersJudge`. The cache is a file on every actor's machine.

    Attributes:
        workers: How many actors there are, inside the block.

    Raises:
        InputError: An option is wrong.
        ModelError: The model cannot be loaded, or there is no cluster.
        MissingExtraError: Ray is not installed.
    """

    def __init__(self, model: str | Path, workers: int | None = None, **options: Any) -> None:
        self._ray = require("ray", extra="ray", purpose="the engine 'ray'")
        if not isinstance(model, str | Path) or str(model).startswith(LLM):
            raise InputError(
                f"the judge '{model}' on Ray", expected="an embedded judge or an NLI model"
            )
        self._model = model = str(model)
        self._embedded = model in EMBEDDED or bool(is_model_file(model))
        self._options = dict(options) if self._embedded else _settings(options)
        # Checked here, before a cluster is asked for anything.
        self._own = make_judge(model, **self._options)
        self._wanted, self.workers, self._started = workers, 1, False

    def __enter__(self) -> RayJudge:
        self._started = _connect(self._ray)
        there = self._ray.cluster_resources()
        machines = sum(bool(node["Alive"]) for node in self._ray.nodes())
        cores = int(there.get("CPU", 1))
        gpu = not self._embedded and self._options.get("device", "auto") != "cpu"
        gpus = int(there.get("GPU", 0)) if gpu else 0
        self.workers = self._wanted or gpus or (cores if self._embedded else machines)
        if gpus and self.workers > gpus:
            raise InputError(
                f"{counted(self.workers, 'worker')}", expected=f"at most {gpus}, one per GPU"
            )
        if not self._embedded:
            if self._options.get("dtype", "auto") == "auto":
                self._options["dtype"] = "bfloat16" if gpus else "float32"
            if not gpus:
                threads = self._options.get("threads") or max(1, cores // self.workers)
                self._options["threads"] = threads
            self._own.close()  # type: ignore[attr-defined]
            self._own = make_judge(self._model, **self._options)
        self._share = {
            "num_gpus": 1 if gpus else 0,
            "num_cpus": 0 if gpus else min(1.0, cores / self.workers),
        }
        return self

    def __exit__(self, *_: object) -> None:
        if not self._embedded:
            self._own.close()  # type: ignore[attr-defined]
        if self._started:
            self._ray.shutdown()

    def judge(self, items: Items) -> JudgedBatch:
        """Judges in this process, by the actors' settings; see `Judge`."""
        return self._own.judge(items)

    def start(self) -> list[_Asked]:
        """The actors, each twice: it is sent a window while it judges another."""
        actor = self._ray.remote(**self._share, max_restarts=3, max_task_retries=3)(_Actor)
        actors = [actor.remote(self._model, self._options) for _ in range(self.workers)]
        return [_Asked(self._ray, one) for _ in range(2) for one in actors]


class _Asked:
    """An actor, as `spread.Worker`."""

    def __init__(self, ray: Any, actor: Any) -> None:
        self._ray, self._actor = ray, actor

    def ask(self, window: Items) -> JudgedBatch:
        """What the actor's judge says of the items."""
        try:
            found, error, of_input = self._ray.get(self._actor.ask.remote(window))
        except self._ray.exceptions.RayError as failed:
            reason = str(failed).strip().partition("\n")[0]
            raise ModelError(
                f"Ray gave no answer ({reason})",
                hint="What was judged is kept; run the command again.",
            ) from failed
        if error:
            raise (InputError if of_input else ModelError)(error.removesuffix("."))
        return found  # type: ignore[no-any-return]


class _Actor:
    """A judge of its own, on one device."""

    def __init__(self, model: str, options: Mapping[str, Any]) -> None:
        self._judge = make_judge(model, **options)

    def ask(self, window: Items) -> tuple[JudgedBatch | None, str, bool]:
        try:
            found = judged(self._judge, window)
        except LitepyramidError as error:
            return None, str(error), isinstance(error, InputError)
        if hasattr(self._judge, "forget"):
            self._judge.forget()
        return replace(found, logits=None, spans=None), "", False


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
    settings = {"progress": False, **options}
    if settings.pop("devices", None) is not None:
        raise InputError("devices given with the engine ray", hint="Use --workers.")
    if settings.get("cache", "default") == "default":
        settings["cache"] = default_cache_path()
    if settings["cache"] is not None:
        settings["cache"] = Path(settings["cache"]).absolute()
    return settings
