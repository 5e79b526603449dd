"""Times the tests of all pairs of systems, and of metrics against nlpstats.

nlpstats tests one pair at a time, with as many samples as any test of the family needs
to pass at all (number of tests / 0.05 - 1): it is timed on one pair, at summary level
with fewer samples, and its time multiplied. CPU time, one thread. Then false
discoveries in 1,000 simulations of systems that do not differ.

    python scripts/bench/compare.py    some ten minutes of CPU
"""

from __future__ import annotations

import os
from functools import partial
from itertools import combinations
from pathlib import Path

from meta import LEVELS, cpu  # isort: skip (first: it sets the number of threads)

import numpy as np
from nlpstats.correlations import permutation_test

import litepyramid as lp
from litepyramid.meta.alignment import align
from litepyramid.scoring.inference import flip_p_values
from litepyramid.stats import adjust_p_values

DATA = Path(os.environ.get("LITEPYRAMID_DATA", "../shared/data"))
ALPHA = 0.05
FEWER = 300
RUNS = 1000


def systems() -> None:
    scores = lp.read_scores(DATA / "tac2008" / "metric_scores.csv").matrix("s3_pyr")
    pairs = np.array(list(combinations(range(len(scores.values)), 2)))
    p = flip_p_values(scores.values, pairs)
    differ = (adjust_p_values(p, "holm") < ALPHA).sum()
    alone = cpu(lambda: flip_p_values(scores.values, pairs))
    whole = cpu(lambda: lp.compare(scores))
    print(f"TAC 2008: {differ} of {len(pairs)} pairs differ, smallest p {p.min():.1g}")
    print(f"TAC 2008: {alone:.2f} s, with intervals {whole:.2f} s", flush=True)


def metrics() -> None:
    path = DATA / "realsumm" / "metric_scores_ddr21.csv"
    table = lp.read_scores(path, "litepyramid_recall")
    aligned = align(table)
    tests = len(aligned.metrics) * (len(aligned.metrics) - 1)
    k = round(tests / ALPHA) - 1
    places = [aligned.metrics.index(name) for name in ("js-2", "rouge-1_f1")]
    both = aligned.values[places]

    for level, their_level in LEVELS.items():
        samples = k if level == "system" else FEWER
        rival = partial(
            permutation_test, *both, aligned.Z, their_level, "kendall", "systems",
            alternative="greater", n_resamples=samples,
        )  # fmt: skip
        theirs = cpu(rival) * k / samples * tests / 2
        ours = cpu(
            partial(lp.meta.compare, table, level=level, correction="bonferroni-level")
        )
        print(
            f"{tests} tests of metrics at {level} level, tau: {ours:.2f} s; nlpstats "
            f"with {k:,} samples {theirs:,.0f} s, {theirs / ours:,.0f} times",
            flush=True,
        )


def null() -> None:
    rng = np.random.default_rng(0)
    pairs = np.array(list(combinations(range(60), 2)))
    false = 0
    for _ in range(RUNS):
        easy = rng.gamma(2.0, size=40)
        values = rng.normal(size=(60, 40)) * easy + rng.normal(size=40)
        p = adjust_p_values(flip_p_values(values, pairs), "holm")
        false += (p < ALPHA).any()
    print(f"60 equal systems, Holm: false discoveries in {false} of {RUNS} runs")


def main() -> None:
    systems()
    metrics()
    null()


if __name__ == "__main__":
    main()
