"""Judges and models in Python processes of their own, and sharing work out among them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from multiprocessing import connection
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from litepyramid.errors import LitepyramidError, ModelError

Given = TypeVar("Given")
Answer = TypeVar("Answer")
Name = TypeVar("Name")


class Remote:
    """A function that lives in a Python process of its own, which ends when this one does.

    The process starts the same way under a script, a notebook and Windows, and needs no
    ``if __name__ == "__main__"`` of its caller. What it prints goes to stderr.

    Args:
        make: Makes the function there, before its first call.
        *given: What `make` takes; like all that goes to and fro, values that can be pickled.
        what: What lives there, for messages: ``"the process that served cuda:0"``.
        hint: What to do if it ends.
        environment: Variables that it does not share with this process.
    """

    def __init__(
        self,
        make: Callable[..., Callable[[Any], Any]],
        *given: Any,
        what: str,
        hint: str,
        environment: dict[str, str] | None = None,
    ) -> None:
        self._what, self._hint = what, hint
        path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)  # noqa: PTH109
        self._pipe, theirs = connection.Pipe()
        handle = theirs.fileno()
        if sys.platform == "win32":
            os.set_handle_inheritable(handle, True)
        else:
            os.set_inheritable(handle, True)
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", f"from {__name__} import serve; serve({handle})"],
            stdin=subprocess.DEVNULL,
            close_fds=False,
            env={**os.environ, **(environment or {}), "PYTHONPATH": path},
        )
        theirs.close()
        self._pipe.send((make, given))

    def __call__(self, given: Any) -> Any:
        """What the function says.

        Raises:
            ModelError: The process has ended.
            LitepyramidError: As the function, or what made it.
        """
        try:
            self._pipe.send(given)
            answer = self._pipe.recv()
        except (EOFError, OSError) as error:
            raise ModelError(f"{self._what} ended early", hint=self._hint) from error
        if isinstance(answer, LitepyramidError):
            raise answer
        return answer

    def close(self) -> None:
        """Ends the process."""
        self.process.kill()
        self.process.wait()
        self._pipe.close()


def serve(handle: int) -> None:
    """The other end of a `Remote`: answers until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends this one
    os.dup2(2, 1)
    if sys.platform == "win32":
        pipe = connection.PipeConnection(handle)
    else:
        pipe = connection.Connection(handle)
    with suppress(EOFError, OSError):
        make, given = pipe.recv()
        function: Callable[[Any], Any] | None = None
        while True:
            asked = pipe.recv()
            try:
                function = function or make(*given)
                answer = function(asked)
            except LitepyramidError as error:
                answer = error
            pipe.send(answer)


class Crew(Generic[Given, Answer]):
    """Workers of which each does one thing at a time; what is handed in goes to the next free one.

    Args:
        workers: Functions, or processes that hold one.

    Example:
        >>> crew = Crew([str.upper, str.upper])
        >>> list(crew.map([(1, "a"), (2, "b")]))
        [(1, 'A'), (2, 'B')]
        >>> crew.close()
    """

    def __init__(self, workers: Sequence[Callable[[Given], Answer]]) -> None:
        self.workers = workers
        self._threads = ThreadPoolExecutor(len(workers), thread_name_prefix="judge")
        self._idle: SimpleQueue[Callable[[Given], Answer]] = SimpleQueue()
        for worker in workers:
            self._idle.put(worker)

    def map(self, work: Iterable[tuple[Name, Given]]) -> Iterator[tuple[Name, Answer]]:
        """The answers in the order of the work, each with its name.

        One thing more than there are workers is taken ahead of the answers.
        """
        under_way: deque[tuple[Name, Future[Answer]]] = deque()
        for name, given in work:
            under_way.append((name, self._threads.submit(self._serve, given)))
            if len(under_way) > len(self.workers):
                first, answer = under_way.popleft()
                yield first, answer.result()
        for first, answer in under_way:
            yield first, answer.result()

    def _serve(self, given: Given) -> Answer:
        worker = self._idle.get()
        try:
            return worker(given)
        finally:
            self._idle.put(worker)

    def close(self) -> None:
        """Ends the processes, and the threads that wait for them."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for worker in self.workers:
            if isinstance(worker, Remote):
                worker.close()
        self._threads.shutdown()
