"""Progress bars on stderr."""

import sys
from collections.abc import Iterable, Iterator, Sized
from typing import Any, TypeVar

T = TypeVar("T")


def bar(total: int | None, what: str, units: str, *, shown: bool | None = None) -> Any:
    """A tqdm bar on stderr, after a second and only on a terminal, cleared at the
    end."""
    from tqdm import tqdm

    return tqdm(
        total=total,
        desc=what,
        unit=f" {units}",
        disable=None if shown is None else not shown,
        delay=1,
        leave=False,
        smoothing=0.05,
        file=sys.stderr,
    )


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
