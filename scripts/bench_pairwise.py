"""Times SPA and acc_eq: all pairs of 26 metrics on 25 x 100, beside the formulas' plain loop.

The plain loop is what mt-metrics-eval does for a sample: all p-values of both swapped metrics anew
in NumPy. It is timed on a few samples, checked equal first, and extrapolated.
"""

from __future__ import annotations

import time
from itertools import combinations

import numpy as np

from litepyramid.blas import single_threaded
from litepyramid.meta.core import draws
from litepyramid.meta.core.pairwise import SpaSwaps, spa
from litepyramid.meta.core.permutation import standardised
from litepyramid.meta.significance import compare_pairs

METRICS, SYSTEMS, INPUTS, SAMPLES = 26, 25, 100, 1000


def plain(X, Z):  # type: ignore[no-untyped-def]
    """One SPA as the reference package computes it: signs, one product, a loop over pairs."""
    signs = np.random.default_rng(4).integers(0, 2, (SAMPLES, X.shape[1])) * 2.0 - 1
    p = []
    for side in (X, Z):
        null, total = signs @ side.T, side.sum(axis=1)
        p.append(
            [
                (null[:, i] - null[:, j] >= total[i] - total[j]).mean()
                for i, j in combinations(range(len(side)), 2)
            ]
        )
    return 1 - np.abs(np.subtract(*p)).mean()


@single_threaded
def main() -> None:
    """Prints seconds of processor time."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(SYSTEMS, INPUTS)) + np.linspace(0, 1, SYSTEMS)[:, None]
    values = (
        Z + rng.normal(size=(METRICS, SYSTEMS, INPUTS)) * np.linspace(1, 3, METRICS)[:, None, None]
    )
    X, Y, H = standardised(values[0], values[1], Z)
    u = draws.coins(0, X.shape, 0, np.float32)
    swaps, some = SpaSwaps(X, Y, H), 8
    start = time.process_time()
    rival = [
        plain(*(np.where(u[..., b] > 0, *pair), H)) - plain(*(np.where(u[..., b] < 0, *pair), H))
        for b in range(some)
        for pair in [(X, Y)]
    ]
    loop = (time.process_time() - start) / some
    assert np.allclose(swaps([u])[:some], rival, atol=2e-4)
    assert abs(spa(X, H) - plain(X, H)) < 1e-3
    tests = METRICS * (METRICS - 1) // 2 * SAMPLES
    print(f"plain loop: {loop * 1e3:.1f} ms a sample, {loop * tests / 3600:.1f} h for {tests:,}")
    for coefficient, level in (("spa", "system"), ("acc-eq", "summary")):
        for method in ("perm-both", "perm-systems", "perm-inputs"):
            start = time.process_time()
            compare_pairs(values, Z, level, coefficient, method, samples=SAMPLES)  # type: ignore[arg-type]
            print(f"{coefficient} {method}: {time.process_time() - start:.1f} s", flush=True)


if __name__ == "__main__":
    main()
