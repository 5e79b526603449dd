"""Times resampling against nlpstats (the DDR authors' own package) and scipy, in one run.

Same matrices, same number of samples, one thread, CPU time. First the samples are compared: ours,
on the draws that nlpstats makes, must equal its own to 1e-10. nlpstats is timed in five parts of
k/5 samples each (its cost is one loop over the samples): the total is its time for k samples, the
spread that of the parts. The spread of ours is over the repeats.

At summary level the scores are rounded, so that most columns have ties: the slow way of ours.

    python scripts/bench/meta.py            all of it, some four minutes of CPU
    python scripts/bench/meta.py --quick    nlpstats with a tenth of the samples, its time times 10
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from nlpstats.correlations import bootstrap, permutation_test
from scipy import stats

from litepyramid.io.scores import read_scores
from litepyramid.meta import compare
from litepyramid.meta.core.bootstrap import Resampled, bootstrap_samples
from litepyramid.meta.core.permutation import permutation_samples, prepare_pair, standardised
from litepyramid.tables import Column, Result, Table

COEFFICIENTS = ("pearson", "spearman", "kendall")
THEIR_LEVEL = {"system": "system", "summary": "input"}
PARTS = 5


@dataclass(frozen=True)
class Bench(Result):
    """The rows of the table."""

    rows: tuple[tuple[str | int | float | None, ...], ...]
    k: int
    checked: int

    def to_tables(self) -> Sequence[Table]:
        columns = (
            Column("work"),
            Column("coefficient", "coef"),
            Column("rival_s", "rival s", digits=2),
            Column("rival_spread", "spread"),
            Column("ours_ms", "ours ms", digits=1),
            Column("ours_spread", "spread"),
            Column("ratio", "times", digits=0),
            Column("goal"),
        )
        notes = (
            f"k = {self.k}, one thread, seconds of CPU; {self.checked} samples of ours were first "
            "found equal to nlpstats' to 1e-10. Rival: nlpstats, for 'vector' scipy.",
        )
        return [Table("Resampling correlations", columns, self.rows, notes)]


def scores(n: int, m: int, level: str) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(12345)
    Z = rng.normal(size=(n, m)) + rng.normal(size=(n, 1))
    X, Y = Z + rng.normal(size=(2, n, m))
    return (X.round(1), Y.round(1), Z.round()) if level == "summary" else (X, Y, Z)


def cpu(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def check_bootstrap(X: Any, Z: Any, level: Any, coefficient: Any, k: int) -> int:
    n, m = X.shape
    np.random.seed(1)
    rival = bootstrap(X, Z, THEIR_LEVEL[level], coefficient, "both", n_resamples=k).samples
    np.random.seed(1)
    drawn = [(np.random.choice(n, n), np.random.choice(m, m)) for _ in range(k)]
    systems, inputs = (
        np.stack([np.bincount(pair[side], minlength=size) for pair in drawn]).astype(float)
        for side, size in ((0, n), (1, m))
    )
    ours = Resampled(X, Z, level, coefficient)(systems, inputs)
    np.testing.assert_allclose(ours, rival, rtol=0, atol=1e-10)
    return k


def check_permutation(X: Any, Y: Any, Z: Any, level: Any, coefficient: Any, k: int) -> int:
    n, m = X.shape
    np.random.seed(1)
    rival = permutation_test(X, Y, Z, THEIR_LEVEL[level], coefficient, "both", n_resamples=k)
    np.random.seed(1)
    swapped = [(np.random.rand(n, 1) > 0.5) ^ (np.random.rand(1, m) > 0.5) for _ in range(k)]
    pair = prepare_pair(*standardised(X, Y, Z), level, coefficient)
    u = np.where(np.stack(swapped, axis=2), -1.0, 1.0).astype(pair.dtype)
    ours = pair([np.ascontiguousarray(u.swapaxes(0, 1)) if pair.by_input else u])
    np.testing.assert_allclose(ours, rival.samples, rtol=0, atol=1e-10)
    return k


def row(
    work: str,
    coefficient: str,
    rival: Callable[[int], object],
    ours: Callable[[], object],
    arguments: argparse.Namespace,
    goal: str,
) -> tuple[str | int | float | None, ...]:
    part = arguments.samples // PARTS // (10 if arguments.quick else 1)
    factor = arguments.samples / (PARTS * part)
    theirs = [cpu(lambda: rival(part)) * factor * PARTS for _ in range(PARTS)]
    ours()
    times = [1000 * cpu(ours) for _ in range(arguments.repeats)]
    total = sum(theirs) / PARTS
    print(f"{work} {coefficient}: {1000 * total / median(times):.0f} times", flush=True)
    return (
        work,
        coefficient,
        total,
        f"{min(theirs):.2f}-{max(theirs):.2f}",
        median(times),
        f"{min(times):.1f}-{max(times):.1f}",
        1000 * total / median(times),
        goal,
    )


def resamplings(level: Any, goal: str, arguments: argparse.Namespace) -> tuple[list[Any], int]:
    k, theirs, rows, checked = arguments.samples, THEIR_LEVEL[level], [], 0
    X, Y, Z = scores(25, 100, level)
    for c in COEFFICIENTS:
        checked += check_bootstrap(X, Z, level, c, 20) + check_permutation(X, Y, Z, level, c, 20)
        rows.append(
            row(
                f"25x100 BOOT-BOTH {level}",
                c,
                lambda part, c=c: bootstrap(X, Z, theirs, c, "both", n_resamples=part),
                lambda c=c: bootstrap_samples(X, Z, level, c, "both", samples=k),
                arguments,
                goal,
            )
        )
        rows.append(
            row(
                f"25x100 PERM-BOTH {level}",
                c,
                lambda part, c=c: permutation_test(X, Y, Z, theirs, c, "both", n_resamples=part),
                lambda c=c: permutation_samples(X, Y, Z, level, c, "both", samples=k),
                arguments,
                goal,
            )
        )
    return sorted(rows, key=lambda found: str(found[0])), checked


def against_nlpstats(arguments: argparse.Namespace) -> tuple[list[Any], int]:
    k, rows, checked = arguments.samples, [], 0
    for level, goal in (("system", "50"), ("summary", "1000")):
        found, equal = resamplings(level, goal, arguments)
        rows += found
        checked += equal
    X, _, Z = scores(25, 11_490, "system")
    for c in COEFFICIENTS:
        checked += check_bootstrap(X, Z, "system", c, 20)
        rows.append(
            row(
                "25x11490 BOOT-BOTH system",
                c,
                lambda part, c=c: bootstrap(X, Z, "system", c, "both", n_resamples=part),
                lambda c=c: bootstrap_samples(X, Z, "system", c, "both", samples=k),
                arguments,
                "40",
            )
        )
    return rows, checked


def against_scipy(arguments: argparse.Namespace) -> list[Any]:
    """One vector of 25 systems, as scipy.stats.bootstrap does it, over axes where it can."""

    def pearson(x: Any, z: Any, axis: int) -> Any:
        return stats.pearsonr(x, z, axis=axis).statistic

    def spearman(x: Any, z: Any, axis: int) -> Any:
        return pearson(stats.rankdata(x, axis=axis), stats.rankdata(z, axis=axis), axis)

    def kendall(x: Any, z: Any) -> Any:
        return stats.kendalltau(x, z).statistic

    X, _, Z = scores(25, 1, "system")
    x, z = X[:, 0], Z[:, 0]
    rows = []
    for name, statistic in (("pearson", pearson), ("spearman", spearman), ("kendall", kendall)):
        rows.append(
            row(
                "vector of 25",
                name,
                lambda part, f=statistic: stats.bootstrap(
                    (x, z), f, n_resamples=part, paired=True, method="percentile"
                ),
                lambda name=name: bootstrap_samples(
                    X, Z, "system", name, "systems", samples=arguments.samples
                ),
                arguments,
                "-",
            )
        )
    return rows


def all_pairs(data: Path) -> None:
    path = data / "realsumm" / "metric_scores_ddr21.csv"
    if not path.is_file():
        print(f"all pairs of the REALSumm metrics: skipped, no {path}")
        return
    table = read_scores(path)
    for coefficients in (COEFFICIENTS, ("spa",), ("acc-eq",)):
        times = [
            cpu(lambda c=coefficients: compare(table, "litepyramid_recall", coefficient=c))
            for _ in range(3 if len(coefficients) > 1 else 1)
        ]
        print(
            f"All pairs of {len(table.metrics) - 1} REALSumm metrics, PERM-BOTH, "
            f"{', '.join(coefficients)}: {median(times):.1f} s of CPU"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--samples", type=int, default=1000, help="k")
    parser.add_argument("--repeats", type=int, default=7, help="of ours")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rival's samples")
    arguments = parser.parse_args()
    rows, checked = against_nlpstats(arguments)
    rows += against_scipy(arguments)
    print(Bench(tuple(rows), arguments.samples, checked).to_table())
    named = os.environ.get("LITEPYRAMID_DATA")
    all_pairs(Path(named) if named else Path(__file__).resolve().parents[3] / "shared" / "data")


if __name__ == "__main__":
    main()
