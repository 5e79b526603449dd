"""Times resampling against nlpstats (the DDR authors' own package), in one run.

Same matrices, same number of samples, one thread, CPU time; that both give the same
numbers is a test (tests/meta/test_resampling.py). nlpstats is timed in five parts of
k/5 samples each (its cost is one loop over the samples): the total is its time for k
samples, the spread that of the parts. The spread of ours is over the repeats.

At summary level the scores are rounded, so that most columns have ties: the slow way of
ours.

    python scripts/bench/meta.py    some five minutes of CPU
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from statistics import median

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from nlpstats.correlations import bootstrap, permutation_test

from litepyramid.meta.core.bootstrap import bootstrap_samples
from litepyramid.meta.pair_tests import compare_pairs

COEFFICIENTS = ("pearson", "spearman", "kendall")
LEVELS = {"system": "system", "summary": "input"}
"""Levels, and what nlpstats calls them."""
PARTS = 5
SAMPLES = 1000
REPEATS = 7  # of ours


def cpu(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def race(work: str, theirs: Callable[..., object], ours: Callable[..., object]) -> None:
    """Prints one row."""
    part = partial(theirs, n_resamples=SAMPLES // PARTS)
    parts = [cpu(part) for _ in range(PARTS)]
    times = [1000 * cpu(partial(ours, samples=SAMPLES)) for _ in range(REPEATS)]
    print(
        f"{work:26} nlpstats {sum(parts):8.2f} s (parts {min(parts):.2f}-{max(parts):.2f})"
        f", ours {median(times):7.1f} ms ({min(times):.1f}-{max(times):.1f}): "
        f"{1000 * sum(parts) / median(times):,.0f} times",
        flush=True,
    )


def main() -> None:
    for level, theirs in LEVELS.items():
        rng = np.random.default_rng(12345)
        Z = rng.normal(size=(25, 100)) + rng.normal(size=(25, 1))
        X, Y = Z + rng.normal(size=(2, 25, 100))
        if level == "summary":
            X, Y, Z = X.round(1), Y.round(1), Z.round()

        for c in COEFFICIENTS:
            race(
                f"boot-both {level} {c}",
                partial(bootstrap, X, Z, theirs, c, "both"),
                partial(bootstrap_samples, X, Z, level, c),
            )
            race(
                f"perm-both {level} {c}",
                partial(permutation_test, X, Y, Z, theirs, c, "both"),
                partial(compare_pairs, np.stack([X, Y]), Z, level, c),
            )


if __name__ == "__main__":
    main()
