"""Judging on several cores or machines: windows of pairs, answers in order, the same
numbers."""

import os
import pickle
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import Any, Literal

import numpy as np

from litepyramid.blas import cores
from litepyramid.errors import (
    InputError,
    LitepyramidError,
    ModelError,
    choose,
    loading,
    require,
)
from litepyramid.judges.base import (
    Items,
    Judge,
    JudgedBatch,
    Questions,
    windows,
)
from litepyramid.progress import bar
from litepyramid.stats import check_whole
from litepyramid.text import counted, cut
from litepyramid.types import FloatArray

Engine = Literal["local", "ray"]
_STORE_BYTES = 128 * 2**20
_PARTS_A_WORKER = 4  # windows of each worker, so that none waits long for the slowest


@dataclass(frozen=True)
class OnWorkers:
    """A judge with the way in which it is run: by how many `workers`; None for as many
    as help.

    The engine ``ray`` is the cluster that is connected or that ``RAY_ADDRESS`` names,
    else one of this machine.
    """

    one: Judge
    workers: int | None = None
    engine: Engine = "local"

    def judge(self, items: Items, questions: Questions = None) -> JudgedBatch:
        """As `judge_pairs`."""
        return judge_pairs(self, items, questions)


def on_workers(judge: Judge, workers: Any = None, engine: Any = "local") -> Judge:
    """The judge, to be run by so many workers; itself if nothing is said of that."""
    if workers is None and engine == "local":
        return judge
    choose("engine", engine, Engine)
    if workers is not None:
        check_whole("workers", workers)

    if engine == "ray":
        require("ray", extra="ray", purpose="the engine 'ray'")
        if not getattr(judge, "portable", getattr(judge, "start_cost", 0)):
            raise InputError(
                f"a {type(judge).__name__} on Ray",
                expected="an embedded judge or an NLI model",
            )
    elif workers not in (None, 1) and not getattr(judge, "start_cost", 0):
        raise InputError(
            f"{workers} workers for a judge that takes none",
            hint="Judges behind an endpoint take the setting concurrency, others the "
            "engine ray.",
        )

    return OnWorkers(judge, workers, engine)


def single(judge: Judge) -> Judge:
    """The judge itself, without the way in which it is run."""
    return judge.one if isinstance(judge, OnWorkers) else judge


def judge_pairs(judge: Judge, items: Items, questions: Questions = None) -> JudgedBatch:
    """What a judge says of every unit of every item, checked, in the order of the
    items.

    An embedded judge and an ONNX model use all cores where there is enough work for
    them; the numbers are the same for any number of workers. Questions are for judges
    that use them.

    Example:
        >>> from litepyramid.judges.lexical.lexical_judge import RecallJudge
        >>> items = [("It rained.", ["It rained."]), ("We left.", ["It rained."])]
        >>> [values.tolist() for values in judge_pairs(RecallJudge(), items).presence]
        [[1.0], [0.0]]
    """
    way = judge if isinstance(judge, OnWorkers) else OnWorkers(judge)
    one = way.one
    pairs = sum(len(units) for _, units in items)
    if way.engine == "ray":
        return _joined(_on_ray(one, items, pairs, way.workers))
    # Pairs that take it about as long as one more process to start; 0: it takes none.
    cost = getattr(one, "start_cost", 0)
    workers = way.workers or (
        min(cores(), pairs // cost) if cost and pairs > cost else 1
    )
    if workers == 1 or not pairs:
        return _judged(one, items, questions)
    parts = list(windows(items, -(-pairs // (workers * _PARTS_A_WORKER))))

    return _joined(_on_processes(one, parts, pairs, workers))


def _on_processes(
    judge: Judge, parts: Sequence[Items], pairs: int, workers: int
) -> Iterator[JudgedBatch]:
    import joblib
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    # Packed once: each window would pack the judge's weights again.
    packed = pickle.dumps(judge)
    with (
        bar(pairs, "judging", "pairs", judging=True) as shown,
        joblib.parallel_config("loky", n_jobs=workers, inner_max_num_threads=1),
    ):
        jobs = (joblib.delayed(_judge_window)(packed, part) for part in parts)
        try:
            for answer in joblib.Parallel(return_as="generator")(jobs):
                shown.update(sum(map(len, answer.presence)))
                yield answer
        except TerminatedWorkerError as error:
            raise ModelError(
                "a process that judged ended early",
                hint="If memory ran out, use fewer workers; one needs no extra "
                "process.",
            ) from error


@lru_cache(maxsize=1)
def _unpacked(packed: bytes) -> Judge:
    """The judge of a worker, made once."""
    # The parent shows one bar for all of its workers.
    os.environ.setdefault("TQDM_DISABLE", "1")
    # Our own judge, sent by the parent process.
    judge: Judge = pickle.loads(packed)  # noqa: S301
    return judge


def _judged(judge: Any, items: Items, questions: Questions = None) -> JudgedBatch:
    asked = questions and any(questions) and getattr(judge, "uses_questions", False)
    answer = judge.judge(items, questions) if asked else judge.judge(items)
    return checked_batch(answer, items, type(judge).__name__)


def checked_batch(answer: Any, items: Items, name: str) -> JudgedBatch:
    """What a judge returned (a batch, or presences alone), checked: in [0, 1], or NaN,
    counted."""
    batch = answer if isinstance(answer, JudgedBatch) else JudgedBatch(tuple(answer))
    if len(batch.presence) != len(items):
        judged = counted(len(batch.presence), "summary", "summaries")
        raise InputError(
            f"the judge '{name}' judged {judged}", expected=f"{len(items)}"
        )

    presence = tuple(
        as_presence_row(values, len(units), name)
        for values, (_, units) in zip(batch.presence, items, strict=True)
    )
    missing = sum(int(np.isnan(values).sum()) for values in presence)
    return replace(
        batch,
        presence=presence,
        signature=batch.signature or {"judge": name},
        counts={**({"missing": missing} if missing else {}), **batch.counts},
    )


def as_presence_row(values: Any, units: int, name: str) -> FloatArray:
    """A judge's presence of one summary's units, as an array."""
    try:
        row = np.atleast_1d(np.asarray(values, dtype=np.float64))
    # What is no row of numbers has no right shape either.
    except (TypeError, ValueError):
        row = np.empty(0)
    if row.shape != (units,) or ((row < 0) | (row > 1)).any():
        raise InputError(
            f"the judge '{name}' returned {cut(values)} for {counted(units, 'unit')}",
            expected="one number from 0 to 1 for each unit",
        )
    return row


def _judge_window(packed: bytes, items: Items) -> JudgedBatch:
    # Logits are of no use behind this, and cost as much to send as all else.
    return replace(_judged(_unpacked(packed), items), logits=None)


def _on_ray(
    judge: Judge, items: Items, pairs: int, workers: int | None
) -> Iterator[JudgedBatch]:
    """Windows of the items, mapped by actors that hold the judge, one on each GPU or
    core."""
    ray = require("ray", extra="ray", purpose="the engine 'ray'")
    data = require("ray.data", extra="ray", purpose="the engine 'ray'")
    started = _connect(ray)
    again = "What was judged is in the cache of each machine; run the command again."

    try:
        resources = ray.cluster_resources()
        gpus = 0
        if getattr(judge, "device", "cpu") != "cpu":
            gpus = int(resources.get("GPU", 0))
        cpus = int(resources.get("CPU", 1))
        # A model of torch uses more than one core by itself.
        each = 1 if getattr(judge, "start_cost", 0) else 2
        count = workers or gpus or max(1, cpus // each)

        if gpus and count > gpus:
            raise InputError(
                counted(count, "worker"), expected=f"at most {gpus}, one per GPU"
            )

        parts = windows(items, max(1, -(-pairs // (count * _PARTS_A_WORKER))))
        rows = []
        for number, part in enumerate(parts):
            rows.append({"window": number, "items": pickle.dumps(part)})
        data.DataContext.get_current().enable_progress_bars = False
        answers = data.from_items(
            rows, override_num_blocks=max(1, len(rows))
        ).map_batches(
            _Actor,
            fn_constructor_args=(pickle.dumps(judge),),
            batch_size=1,
            compute=data.ActorPoolStrategy(size=count),
            num_gpus=1 if gpus else None,
            # Not all of a core: reading the rows is a task of the cluster too.
            num_cpus=None if gpus else min(1.0, 0.9 * cpus / count),
        )
        batches = {}

        with (
            bar(pairs, "judging", "pairs") as shown,
            loading("Ray gave no answer", hint=again),
        ):
            for row in answers.iter_rows():
                answer = pickle.loads(row["answer"])  # noqa: S301 - from our own actor
                if isinstance(answer, LitepyramidError):
                    raise answer
                batches[int(row["window"])] = answer
                shown.update(sum(map(len, answer.presence)))

        yield from (batches[number] for number in sorted(batches))
    finally:
        if started:
            ray.shutdown()


class _Actor:
    """A judge of its own on one device of the cluster; it judges one window a call."""

    def __init__(self, packed: bytes) -> None:
        self._packed = packed

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        items = pickle.loads(batch["items"][0])  # noqa: S301 - by who asks
        try:
            answer: Any = _judge_window(self._packed, items)
        except LitepyramidError as error:
            answer = error
        return {"window": batch["window"], "answer": [pickle.dumps(answer)]}


def _connect(ray: Any) -> bool:
    """Joins a cluster, or starts one of this machine; returns whether it did either."""
    if ray.is_initialized():
        return False
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    settings = {"log_to_driver": False, "logging_level": "ERROR"}
    # Ray refuses these of a cluster that runs already.
    if not os.environ.get("RAY_ADDRESS"):
        settings |= {"include_dashboard": False, "object_store_memory": _STORE_BYTES}
    hint = "Check RAY_ADDRESS, or unset it to start a cluster on this machine."
    with loading("no Ray cluster", hint=hint):
        ray.init(**settings)
    return True


def _joined(batches: Iterable[JudgedBatch]) -> JudgedBatch:
    """The batches of all windows as one."""
    joined = list(batches)
    counts: Counter[str] = Counter()
    for batch in joined:
        counts.update(batch.counts)
    presence = tuple(chain.from_iterable(batch.presence for batch in joined))
    return JudgedBatch(presence, joined[0].signature if joined else {}, dict(counts))
