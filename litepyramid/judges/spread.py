"""Judges on several cores or machines: workers fed window by window, answers in order.

Of an embedded judge a worker is a process: a Python of its own that reads windows as JSON lines
from its input and answers with the presence as bytes. It starts the same way under a script, a
notebook and Windows, and needs no ``if __name__ == "__main__"`` of its caller.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from typing import IO, Any, Protocol, runtime_checkable

import numpy as np

from litepyramid.blas import cores
from litepyramid.errors import InputError, LitepyramidError, ModelError
from litepyramid.judges.base import Items, Judge, JudgedBatch, judged
from litepyramid.judges.lexical.judge import LexicalJudge
from litepyramid.judges.lexical.model import save_model
from litepyramid.judges.lexical.recall import RecallJudge
from litepyramid.judges.reading.judge import ReadingJudge
from litepyramid.judges.registry import make_judge

_WORTH: dict[type, int] = {ReadingJudge: 8_000, LexicalJudge: 80_000, RecallJudge: 400_000}
"""Pairs that take a judge about as long as one more process takes to start."""


class Worker(Protocol):
    """A judge elsewhere."""

    def ask(self, window: Items) -> JudgedBatch:
        """What the judge there says of the items."""
        ...


@runtime_checkable
class Spreading(Judge, Protocol):
    """A judge with workers of its own kind, who say what it says itself."""

    workers: int

    def start(self) -> Sequence[Worker]:
        """The workers; one that stands there twice gets its next window before it needs it."""
        ...


def spreads(judge: Judge) -> bool:
    """Whether a judge can be asked window by window, elsewhere too: an embedded one, or Ray's."""
    return type(judge) in _WORTH or isinstance(judge, Spreading)


def workers_for(judge: Judge, pairs: int, workers: int | None = None) -> int:
    """How many processes judge: as many as asked for, else all cores, if there is work for them.

    Args:
        judge: The judge.
        pairs: How many pairs it has to judge.
        workers: As many as the caller wants; None to choose.

    Raises:
        InputError: Several are wanted of a judge that is not embedded.

    Example:
        >>> workers_for(RecallJudge(), 100), workers_for(RecallJudge(), 100, 3)
        (1, 3)
    """
    if not spreads(judge):
        if workers not in (None, 1):
            raise InputError(
                f"{workers} workers for a judge that takes none",
                expected="one of the embedded judges, or --engine ray",
                hint="NLI judges take --devices, judges behind an endpoint --concurrency.",
            )
        return 1
    if isinstance(judge, Spreading):
        return judge.workers
    if workers is not None:
        return max(1, workers)
    return max(1, min(cores(), pairs // _WORTH[type(judge)])) if sys.executable else 1


def judge_windows(
    judge: Judge, windows: Iterable[Items], workers: int = 1
) -> Iterator[JudgedBatch]:
    """What a judge says of each window of items, in their order, whatever the number of workers.

    Args:
        judge: The judge; an embedded one if there are several workers.
        windows: (summary, units) items; a few windows more than workers are held at once.
        workers: Processes. One is this process.

    Raises:
        InputError: As the judge.
        ModelError: A process ended before its work.

    Example:
        >>> windows = [[("It rained.", ["It rained."])], [("We left.", ["It rained."])]]
        >>> [batch.presence[0].tolist() for batch in judge_windows(RecallJudge(), windows)]
        [[1.0], [0.0]]
    """
    if workers == 1 and not isinstance(judge, Spreading):
        yield from (judged(judge, window) for window in windows)
        return
    with ExitStack() as stack:
        found: Sequence[Worker]
        if isinstance(judge, Spreading):
            found = judge.start()
        else:
            folder = Path(stack.enter_context(TemporaryDirectory()))
            name = "recall"
            if isinstance(judge, ReadingJudge | LexicalJudge):
                save_model(judge.model, folder / f"{judge.model.kind}.json")
                name = str(folder)
            found = [stack.enter_context(closing(_Process(name))) for _ in range(workers)]
        pool = stack.enter_context(ThreadPoolExecutor(len(found)))
        idle: SimpleQueue[Worker] = SimpleQueue()
        for worker in found:
            idle.put(worker)

        def ask(window: Items) -> JudgedBatch:
            worker = idle.get()
            try:
                return worker.ask(window)
            finally:
                idle.put(worker)

        waiting: deque[Future[JudgedBatch]] = deque()
        for window in windows:
            waiting.append(pool.submit(ask, window))
            if len(waiting) > len(found) + 1:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


class _Process:
    """One process with a judge."""

    def __init__(self, judge: str) -> None:
        path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)  # noqa: PTH109
        code = f"from {__name__} import serve; serve()"
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", code, judge],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "TQDM_DISABLE": "1"},
        )

    def ask(self, window: Items) -> JudgedBatch:
        """What the process's judge says of the items."""
        places: dict[tuple[str, ...], int] = {}
        rows = [(text, places.setdefault(tuple(units), len(places))) for text, units in window]
        to, back = self._process.stdin, self._process.stdout
        assert to is not None
        assert back is not None
        try:
            to.write(json.dumps([list(places), rows]).encode() + b"\n")
            to.flush()
            answer = json.loads(back.readline() or "null")
        except (OSError, ValueError):
            answer = None
        if answer is None:
            raise ModelError(
                "a judge process ended early",
                hint="If memory ran out, use fewer --workers; one needs no extra process.",
            )
        if "error" in answer:
            raise (InputError if answer["input"] else ModelError)(answer["error"])
        flat = np.frombuffer(back.read(answer["bytes"]), dtype=np.float64)
        ends = np.cumsum([len(units) for _, units in window])[:-1]
        return JudgedBatch(tuple(np.split(flat, ends)), answer["signature"], answer["counts"])

    def close(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.communicate()


def serve() -> None:
    """What a process of `judge_windows` does: reads windows, answers, until its input ends."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it
    # spaCy's library would load these, where they are installed: a second and 180 MB for nothing.
    sys.modules.update(dict.fromkeys(("torch", "tensorflow", "mxnet", "cupy")))  # type: ignore[arg-type]
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is not an answer
    judge = make_judge(sys.argv[1])
    for line in sys.stdin.buffer:
        units, rows = json.loads(line)
        try:
            _answer(answers, judge, [(text, units[place]) for text, place in rows])
        except BrokenPipeError:  # the parent was killed
            os._exit(1)


def _answer(answers: IO[bytes], judge: Judge, window: Items) -> None:
    data = b""
    head: dict[str, Any]
    try:
        found = judged(judge, window)
    except LitepyramidError as error:
        head = {"error": str(error).removesuffix("."), "input": isinstance(error, InputError)}
    else:
        data = np.concatenate([np.empty(0), *found.presence]).tobytes()
        head = {"signature": found.signature, "counts": found.counts, "bytes": len(data)}
    answers.write(json.dumps(head).encode() + b"\n" + data)
    answers.flush()
