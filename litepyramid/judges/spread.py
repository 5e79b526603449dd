"""Judges on several cores or machines: workers fed window by window, answers in order."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import Protocol, runtime_checkable

from litepyramid.blas import cores
from litepyramid.errors import InputError
from litepyramid.judges.base import Items, Judge, JudgedBatch, judged
from litepyramid.judges.lexical.judge import LexicalJudge
from litepyramid.judges.lexical.recall import RecallJudge
from litepyramid.judges.reading.judge import ReadingJudge
from litepyramid.judges.remote import Crew, Remote

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
        ModelError: A process ended early.

    Example:
        >>> windows = [[("It rained.", ["It rained."])], [("We left.", ["It rained."])]]
        >>> [batch.presence[0].tolist() for batch in judge_windows(RecallJudge(), windows)]
        [[1.0], [0.0]]
    """
    if workers == 1 and not isinstance(judge, Spreading):
        yield from (judged(judge, window) for window in windows)
        return
    said: list[Callable[[Items], JudgedBatch]]
    if isinstance(judge, Spreading):
        said = [worker.ask for worker in judge.start()]
    else:
        hint = "If memory ran out, use fewer --workers; one needs no extra process."
        own = {"OMP_NUM_THREADS": "1", "TQDM_DISABLE": "1"}
        what = "a judge process"
        said = [Remote(_made, judge, what=what, hint=hint, environment=own) for _ in range(workers)]
    with closing(Crew(said)) as crew:
        for _, found in crew.map((None, window) for window in windows):
            yield found


def _made(judge: Judge) -> Callable[[Items], JudgedBatch]:
    # spaCy's library would load these, where they are installed: a second and 180 MB for nothing.
    sys.modules.update(dict.fromkeys(("torch", "tensorflow", "mxnet", "cupy")))  # type: ignore[arg-type]
    return partial(judged, judge)
