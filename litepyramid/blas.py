"""Matrix products on one thread: quicker at this size and the same bits; which cores
there are."""

import os
from collections.abc import Callable
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


@lru_cache(maxsize=1)
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def cores() -> int:
    """The cores that this process may use: fewer than the machine's if its container is
    limited."""
    there = getattr(os, "sched_getaffinity", None)
    number = len(there(0)) if there else os.cpu_count() or 1
    try:
        # A container's share of the machine, which the affinity does not tell.
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return max(1, min(number, round(int(quota) / int(period))))
    except (OSError, ValueError):
        return number


def free_cores() -> int:
    """The cores that were idle in the last minute, at least one."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return max(1, min(cores(), round(cores() - load)))


def single_threaded(function: Callable[P, R]) -> Callable[P, R]:
    """Runs `function` with one BLAS thread: small products are faster, and sums the
    same."""

    @wraps(function)
    def limited(*args: P.args, **kwargs: P.kwargs) -> R:
        # Several threads sum in an order that depends on how many there are.
        with _controller().limit(limits=1, user_api="blas"):
            return function(*args, **kwargs)

    return limited
