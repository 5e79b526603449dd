"""Progress on stderr: a bar on a terminal, elsewhere a line every ten seconds."""

import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sized
from types import TracebackType
from typing import Any, Self, TypeVar

T = TypeVar("T")

EVERY = 10.0
"""Seconds between two lines where there is no terminal."""
MEASURED = 3.0
"""Seconds after which a rate is one."""
LONG = 120.0
"""Seconds to go from which on a faster way is worth a line."""

LEXICAL_RATE = 20_000
GPU_RATE = 300
"""Pairs a second: of `lexical` on one core (measured), of an NLI model on a GPU
(roughly)."""


class Progress:
    """How much of a job is done, at what rate, and how long the rest takes.

    `total` may change on the way. One thing that the user counts is `each` steps of the
    job; only what the user counts is shown.
    """

    def __init__(
        self,
        total: int | None,
        what: str,
        units: str,
        *,
        shown: bool | None = None,
        each: float = 1.0,
        judging: bool = False,
    ) -> None:
        from tqdm import tqdm

        self.done = 0
        self._what, self._units, self._each = what, units, each
        self._judging = judging and shown is not False
        self._lines = shown is None and not _terminal() and not _silenced()
        self._bar: Any = tqdm(
            total=total,
            desc=what,
            unit=f" {units}",
            unit_scale=False if each == 1.0 else 1.0 / each,
            disable=None if shown is None else not shown,
            # A job of less than a second needs no bar.
            delay=1,
            leave=False,
            smoothing=0.05,
            file=sys.stderr,
        )
        self._start = self._last = time.monotonic()
        self.total = total

    @property
    def total(self) -> int | None:
        """The steps of the whole job; None if nobody knows."""
        return self._total

    @total.setter
    def total(self, total: int | None) -> None:
        self._total = self._bar.total = total

    def update(self, steps: int = 1) -> None:
        """Counts steps that are done."""
        self.done += steps
        self._bar.update(steps)

        now = time.monotonic()
        elapsed = now - self._start
        # The first steps load models: a rate of them would say hours.
        if elapsed < MEASURED or not self.done:
            return

        if self._judging and not _silenced():
            self._judging = False
            self._tell_faster_ways(elapsed)

        # A log is read later: a line now and then, where a bar would fill it.
        if self._lines and now - self._last >= EVERY:
            self._last = now
            self.write(self._line(elapsed))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Takes the bar away."""
        self._bar.close()

    def _left(self, elapsed: float) -> float:
        """Seconds to go at the rate so far."""
        rest = max(0, (self.total or 0) - self.done)
        return rest * elapsed / self.done

    def _line(self, elapsed: float) -> str:
        """Done, of how many, rate and time left."""
        done = self.done / self._each
        rate = self.done / self._each / elapsed
        per = f"{rate:,.0f} a second" if rate >= 1 else f"{1 / rate:,.0f} s each"
        if self.total is None:
            return f"{self._what}: {done:,.0f} {self._units}, {per}"

        total = self.total / self._each
        left = duration(self._left(elapsed))
        return (
            f"{self._what}: {done:,.0f} of {total:,.0f} {self._units}, {per}, {left} "
            "left"
        )

    def _tell_faster_ways(self, elapsed: float) -> None:
        """One line where judging takes long."""
        left = self._left(elapsed)
        if left < LONG:
            return

        pairs = ((self.total or 0) - self.done) / self._each
        self.write(
            f"{pairs:,.0f} pairs to judge, about {duration(left)} (what is judged is "
            f"kept). --judge lexical takes about {duration(pairs / LEXICAL_RATE)}; "
            "an NLI model on a GPU (-J device=cuda) about "
            f"{duration(pairs / GPU_RATE)}."
        )

    def write(self, line: str) -> None:
        """A line of its own, above a bar."""
        self._bar.write(line, file=sys.stderr)

    def set_postfix(self, values: Mapping[str, object]) -> None:
        """Figures beside a bar."""
        self._bar.set_postfix(values)


def _terminal() -> bool:
    return bool(sys.stderr is not None and sys.stderr.isatty())


def _silenced() -> bool:
    """Whether tqdm's own switch is set, as in processes that judge a part."""
    return os.environ.get("TQDM_DISABLE", "").lower() in ("1", "true", "yes")


def duration(seconds: float) -> str:
    """A time as people say it.

    Example:
        >>> [duration(seconds) for seconds in (0.2, 75, 660, 9000)]
        ['1 s', '75 s', '11 min', '2 h 30 min']
    """
    if seconds < 100:
        return f"{max(1, round(seconds))} s"

    minutes = round(seconds / 60)
    if minutes < 100:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


bar = Progress
"""Progress on stderr: on a terminal a bar after a second, cleared at the end; elsewhere
a line every ten seconds."""


def track(
    items: Iterable[T], what: str, units: str, total: int | None = None
) -> Iterator[T]:
    """The items one by one, with a `bar` that counts those that are done."""
    if total is None and isinstance(items, Sized):
        total = len(items)
    with bar(total, what, units) as shown:
        for item in items:
            yield item
            shown.update()
