"""Times judges over REALSumm's pairs: pairs a second, CPU seconds, peak memory.

Each judge runs with one and with two workers, without a cache, in a process of its own;
its presence must be equal to the last bit.

    python scripts/bench/judges.py [JUDGE …]    default: recall and lexical
"""

from __future__ import annotations

import os
import resource
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path

import litepyramid as lp
from litepyramid.judges.parallel import judge_pairs
from litepyramid.judges.registry import settings_of

REALSUMM = Path(os.environ.get("LITEPYRAMID_DATA", "../shared/data")) / "realsumm"


def measure(name: str, workers: int) -> str:
    """Runs a judge; prints what it took, and gives a hash of the presence."""
    data = lp.load(REALSUMM)
    items = data.summaries.items(data.units)
    settings = {"cache": None} if "cache" in settings_of(name) else {}
    judge = lp.judge(name, workers=workers, **settings)

    start = time.perf_counter()
    cpu = time.process_time()
    batch = judge_pairs(judge, items)
    seconds = time.perf_counter() - start
    cpu = time.process_time() - cpu

    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    peak = sum(resource.getrusage(kind).ru_maxrss for kind in kinds) / 1024
    pairs = sum(map(len, batch.presence))
    row = f"{pairs:7} {pairs / seconds:9.0f} {cpu:8.1f} {peak:8.0f}"
    print(f"{name[-30:]:30} {workers:7} {row}", flush=True)
    return sha256(b"".join(row.tobytes() for row in batch.presence)).hexdigest()


def main() -> None:
    print(f"{'judge':30} workers  pairs   pairs/s    CPU s  peak MB")
    for name in sys.argv[1:] or ["recall", "lexical"]:
        digests = set()
        for workers in (1, 2):
            with ProcessPoolExecutor(1, get_context("spawn")) as pool:
                digests.add(pool.submit(measure, name, workers).result())
        if len(digests) > 1:
            sys.exit(f"{name}: the numbers depend on the number of workers")


if __name__ == "__main__":
    main()
