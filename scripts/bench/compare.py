"""Times the tests of all pairs of systems and of metrics against scipy and nlpstats;
checks both.

First the p-values are compared: ours must be within five standard errors of the rival's
share of samples. A rival tests one pair at a time, with as many samples as any test of
the family needs to pass at all (number of tests / 0.05 - 1). It is timed on a few
pairs, the summary level of nlpstats on fewer samples too, and its time multiplied. CPU
time, one thread.

    python scripts/bench/compare.py                some three minutes of CPU
    python scripts/bench/compare.py --null 1000    false discoveries under the null
    hypothesis too
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from functools import partial
from itertools import combinations
from pathlib import Path

from meta import ROOT, cpu  # isort: skip (first: it sets the number of threads)

import numpy as np
from nlpstats.correlations import permutation_test
from scipy import stats

import litepyramid as lp
from litepyramid.data.score_tables import read_scores
from litepyramid.data.scores import Scores
from litepyramid.meta import compare
from litepyramid.meta.alignment import align
from litepyramid.meta.pair_tests import compare_pairs
from litepyramid.scoring.inference import flip_p_values, rank_groups
from litepyramid.stats import adjust_p_values
from litepyramid.types import FloatArray

ALPHA = 0.05


def check(ours: float, theirs: float, samples: int) -> None:
    error = 5 * (max(ours, theirs, 1 / samples) / samples) ** 0.5
    assert abs(ours - theirs) <= error, f"p = {ours} and {theirs} on {samples} samples"


def report(work: str, ours: float, rival: str, theirs: float) -> None:
    print(
        f"{work}: {ours:.2f} s; {rival} {theirs:,.0f} s, {theirs / ours:,.0f} times",
        flush=True,
    )


def systems(values: FloatArray, name: str) -> None:
    pairs = np.array(list(combinations(range(len(values)), 2)))
    k = round(len(pairs) / ALPHA) - 1
    p = flip_p_values(values, pairs)
    some = np.linspace(0, len(pairs) - 1, 12).astype(int)

    def rival(n: int) -> float:
        one, two = values[pairs[n]]
        found = stats.permutation_test(
            (one, two), lambda x, y, axis: np.mean(x - y, axis=axis), permutation_type="samples",
            vectorized=True, n_resamples=k, batch=10_000, rng=np.random.default_rng(n),
        )  # fmt: skip
        return float(found.pvalue)

    theirs = (
        cpu(lambda: [check(p[n], rival(n), k) for n in some]) / len(some) * len(pairs)
    )
    ours = min(cpu(lambda: flip_p_values(values, pairs)) for _ in range(3))
    found = (adjust_p_values(p, "holm") < ALPHA).sum()
    print(f"{name}: {found} of {len(pairs)} pairs differ, smallest p {p.min():.1g}")
    report(
        f"{name}, exact p of all pairs", ours, f"scipy, {k:,} samples a pair", theirs
    )


def metrics(table: Scores, human: str) -> None:
    aligned = align(lp.read_scores(table, human))
    number = len(aligned.metrics)
    tests = number * (number - 1)
    k = round(tests / ALPHA) - 1
    one = aligned.metrics.index("js-2")
    two = aligned.metrics.index("rouge-1_f1")
    both = aligned.values[[one, two]]

    for level, their_level, samples in (
        ("system", "system", k),
        ("summary", "input", 300),
    ):
        start = time.process_time()
        rival = permutation_test(
            *both, aligned.Z, their_level, "kendall", "systems", alternative="greater",
            n_resamples=samples,
        )  # fmt: skip
        theirs = (time.process_time() - start) * k / samples * tests / 2
        p = compare_pairs(
            both,
            aligned.Z,
            level,
            "kendall",
            "perm-systems",
            samples=None,
            target=ALPHA / tests,
        ).p_values[0, 1]
        check(p, rival.pvalue, samples)
        ours = min(
            cpu(
                partial(
                    compare,
                    table,
                    human,
                    level=level,
                    correction="bonferroni-level",
                )
            )
            for _ in range(3)
        )

        work = f"{number} metrics at {level} level, tau"
        report(work, ours, f"nlpstats with {k:,} samples", theirs)


def null(runs: int) -> None:
    rng = np.random.default_rng(0)
    pairs = np.array(list(combinations(range(60), 2)))
    names = tuple("abcdefg")
    false = np.zeros(3, dtype=int)

    for run in range(runs):
        values = rng.normal(size=(60, 40)) * rng.gamma(2.0, size=40) + rng.normal(
            size=40
        )
        false[0] += (
            adjust_p_values(flip_p_values(values, pairs), "holm") < ALPHA
        ).any()
        people = rng.normal(size=(12, 20)) + rng.normal(size=(12, 1))
        alike = people + 3 * rng.normal(size=(6, 12, 20))
        scores = dict(zip(names, [*alike, people], strict=True))
        table = Scores.of(scores, [*map(str, range(12))], [*map(str, range(20))])
        found = compare(table, "g", correction="bonferroni-level", seed=run).comparisons
        false[1:] += [bool((c.corrected <= ALPHA).any()) for c in found]

    limit = ALPHA + 2 * (ALPHA * (1 - ALPHA) / runs) ** 0.5
    what = (
        "60 equal systems, Holm",
        *(f"6 equal metrics, {c.level} level" for c in found),
    )
    for name, number in zip(what, false, strict=True):
        print(
            f"{name}: false discoveries in {number} of {runs} runs ({number / runs:.3f})"
        )
        assert number / runs <= limit


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    named = os.environ.get("LITEPYRAMID_DATA")
    parser.add_argument(
        "--data", type=Path, default=named or ROOT.parent / "shared" / "data"
    )
    parser.add_argument(
        "--null",
        type=int,
        default=0,
        help="runs of the simulation",
    )
    arguments = parser.parse_args()
    if arguments.null:
        null(arguments.null)
    many = np.random.default_rng(1).normal(
        np.linspace(0, 1, 400)[:, None], 0.3, (400, 10)
    )
    print(
        f"400 systems x 10 inputs, rank groups: {cpu(lambda: rank_groups(many)):.2f} s"
    )

    if not (arguments.data / "realsumm").is_dir():
        sys.exit(
            "published data absent: set LITEPYRAMID_DATA or put it at ../shared/data"
        )

    scores = read_scores(arguments.data / "tac2008" / "metric_scores.csv").one("s3_pyr")
    systems(scores["s3_pyr"], "TAC 2008")
    print(f"TAC 2008, with intervals: {cpu(lambda: lp.compare(scores)):.2f} s")
    metrics(
        read_scores(arguments.data / "realsumm" / "metric_scores_ddr21.csv"),
        "litepyramid_recall",
    )


if __name__ == "__main__":
    main()
