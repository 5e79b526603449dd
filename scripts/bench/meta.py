"""Times resampling against nlpstats (the DDR authors' own package) and scipy, in one
run.

Same matrices, same number of samples, one thread, CPU time. First the samples are
compared: ours, on the draws that nlpstats makes, must equal its own to 1e-10. nlpstats
is timed in five parts of k/5 samples each (its cost is one loop over the samples): the
total is its time for k samples, the spread that of the parts. The spread of ours is
over the repeats.

At summary level the scores are rounded, so that most columns have ties: the slow way of
ours.

    python scripts/bench/meta.py            all of it, some four minutes of CPU
    python scripts/bench/meta.py --quick    nlpstats with a tenth of the samples, its
    time times 10
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from nlpstats.correlations import bootstrap, permutation_test
from scipy import stats

from litepyramid.data.score_tables import read_scores
from litepyramid.meta import compare
from litepyramid.meta.core.bootstrap import Resampled, bootstrap_samples
from litepyramid.meta.core.permutation import prepare
from litepyramid.meta.pair_tests import compare_pairs

COEFFICIENTS = ("pearson", "spearman", "kendall")
THEIR_LEVEL = {"system": "system", "summary": "input"}
PARTS = 5
CHECKED = 20
SAMPLES = 1000
REPEATS = 7  # of ours
ROOT = Path(__file__).resolve().parents[2]


def scores(n: int, m: int, level: str) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(12345)
    Z = rng.normal(size=(n, m)) + rng.normal(size=(n, 1))
    X, Y = Z + rng.normal(size=(2, n, m))
    return (X.round(1), Y.round(1), Z.round()) if level == "summary" else (X, Y, Z)


def cpu(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def check_bootstrap(X: Any, Z: Any, level: Any, coefficient: Any) -> None:
    n, m = X.shape
    np.random.seed(1)
    rival = bootstrap(
        X,
        Z,
        THEIR_LEVEL[level],
        coefficient,
        "both",
        n_resamples=CHECKED,
    ).samples
    np.random.seed(1)
    drawn = [(np.random.choice(n, n), np.random.choice(m, m)) for _ in range(CHECKED)]
    systems, inputs = (
        np.stack([np.bincount(pair[side], minlength=size) for pair in drawn]).astype(
            float
        )
        for side, size in ((0, n), (1, m))
    )

    ours = Resampled(X, Z, level, coefficient)(systems, inputs)
    np.testing.assert_allclose(ours, rival, rtol=0, atol=1e-10)


def check_permutation(X: Any, Y: Any, Z: Any, level: Any, coefficient: Any) -> None:
    n, m = X.shape
    np.random.seed(1)
    rival = permutation_test(
        X,
        Y,
        Z,
        THEIR_LEVEL[level],
        coefficient,
        "both",
        n_resamples=CHECKED,
    )
    np.random.seed(1)
    coins = [
        (np.random.rand(n, 1) > 0.5) ^ (np.random.rand(1, m) > 0.5)
        for _ in range(CHECKED)
    ]
    metrics = prepare(np.stack([X, Y]), Z, level, coefficient)
    metrics.move([np.where(np.stack(coins, axis=2), -1.0, 1.0)])
    ours, _ = metrics.pair(0, 1)
    np.testing.assert_allclose(ours, rival.samples, rtol=0, atol=1e-10)


def race(
    work: str, coefficient: str, theirs: Callable[..., object], ours: Callable[[], object],
    arguments: argparse.Namespace,
) -> None:  # fmt: skip
    """Prints one row."""
    part = max(1, SAMPLES // (PARTS * (10 if arguments.quick else 1)))
    parts = [cpu(partial(theirs, n_resamples=part)) for _ in range(PARTS)]
    total = sum(parts) * SAMPLES / (PARTS * part)
    times = [1000 * cpu(ours) for _ in range(REPEATS)]
    print(
        f"{work:26} {coefficient:9} rival {total:8.2f} s (parts {min(parts):.2f}-{max(parts):.2f})"
        f", ours {median(times):7.1f} ms ({min(times):.1f}-{max(times):.1f}): "
        f"{1000 * total / median(times):,.0f} times",
        flush=True,
    )


def against_nlpstats(arguments: argparse.Namespace) -> None:
    for level, m in (("system", 100), ("summary", 100), ("system", 11_490)):
        X, Y, Z = scores(25, m, level)
        theirs = THEIR_LEVEL[level]
        for c in COEFFICIENTS:
            check_bootstrap(X, Z, level, c)
            race(
                f"25x{m} BOOT-BOTH {level}", c,
                partial(bootstrap, X, Z, theirs, c, "both",),
                partial(bootstrap_samples, X, Z, level, c, samples=SAMPLES,), arguments,
            )  # fmt: skip
            if m > 100:
                continue
            check_permutation(X, Y, Z, level, c)
            race(
                f"25x{m} PERM-BOTH {level}", c,
                partial(permutation_test, X, Y, Z, theirs, c, "both",),
                partial(compare_pairs, np.stack([X, Y]), Z, level, c, samples=SAMPLES,), arguments,
            )  # fmt: skip


def against_scipy(arguments: argparse.Namespace) -> None:
    """One vector of 25 systems, as scipy.stats.bootstrap does it, over axes where it
    can."""

    def pearson(x: Any, z: Any, axis: int) -> Any:
        return stats.pearsonr(x, z, axis=axis).statistic

    def spearman(x: Any, z: Any, axis: int) -> Any:
        return pearson(stats.rankdata(x, axis=axis), stats.rankdata(z, axis=axis), axis)

    def kendall(x: Any, z: Any) -> Any:
        return stats.kendalltau(x, z).statistic

    X, _, Z = scores(25, 1, "system")
    sides = X[:, 0], Z[:, 0]
    for statistic in (pearson, spearman, kendall):
        theirs = partial(
            stats.bootstrap,
            sides,
            statistic,
            paired=True,
            method="percentile",
        )
        ours = partial(
            bootstrap_samples, X, Z, "system", statistic.__name__, "systems",
            samples=SAMPLES,
        )  # fmt: skip
        race(
            "vector of 25, scipy",
            statistic.__name__,
            theirs,
            ours,
            arguments,
        )


def all_pairs(data: Path) -> None:
    path = data / "realsumm" / "metric_scores_ddr21.csv"
    if not path.is_file():
        print(f"all pairs of the REALSumm metrics: skipped, no {path}")
        return
    table = read_scores(path)
    for c in (COEFFICIENTS, ("spa",), ("acc-eq",)):
        seconds = cpu(lambda c=c: compare(table, "litepyramid_recall", coefficient=c))
        number = len(table.metrics) - 1
        print(
            f"All pairs of {number} REALSumm metrics, PERM-BOTH, {c}: {seconds:.1f} s of CPU"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "--quick", action="store_true", help="a tenth of the rival's samples"
    )
    arguments = parser.parse_args()
    against_nlpstats(arguments)
    against_scipy(arguments)
    usual = ROOT.parent / "shared" / "data"
    all_pairs(Path(os.environ.get("LITEPYRAMID_DATA", usual)))


if __name__ == "__main__":
    main()
