"""How far a judge is: one bar on stderr."""

from __future__ import annotations

import sys
from typing import Any


class Progress:
    """Pairs per second and time left, on stderr, and only while a model is judging."""

    def __init__(self, show: bool | None, total: int) -> None:
        self._show = sys.stderr.isatty() if show is None else show
        self._left = total
        self._bar: Any = None
        self._counted = 0

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def expect(self) -> None:
        """Something must be judged: the bar appears."""
        if self._show and self._bar is None:
            from tqdm import tqdm

            self._bar = tqdm(
                total=self._left, desc="judging", unit=" pairs", file=sys.stderr, smoothing=0.05
            )

    def judged(self, pairs: int) -> None:
        """So many distinct pairs are done."""
        self._counted += pairs
        if self._bar is not None:
            self._bar.update(pairs)

    def settle(self, pairs: int) -> None:
        """A window of `pairs` is finished: those that were known or repeated count as done."""
        self._left -= pairs
        if self._bar is not None:
            self._bar.total -= pairs - self._counted
            self._bar.refresh()
        self._counted = 0
