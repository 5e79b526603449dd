"""Metrics averaged over the judged inputs, and over the whole test set (DDR22 §3).

    python scripts/studies/whole_test_sets.py JUDGED FULL [HUMAN]

People judge few inputs, but a metric can score the whole test set. Systems are
correlated by the metric's averages over either set with people's averages. On the
judged inputs both sides share the draws of the bootstrap; the whole test set is drawn
over its own inputs, and systems for both sides together.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import litepyramid as lp
from litepyramid.meta.alignment import align_each
from litepyramid.meta.core.bootstrap import bootstrap_samples
from litepyramid.meta.core.draws import SAMPLINGS, Sampling
from litepyramid.meta.core.levels import Coefficient, level_correlation
from litepyramid.stats import percentile_interval
from litepyramid.types import Ends


@dataclass(frozen=True)
class TwoSets:
    """r_SYS of a metric, and its interval by one way of sampling, on both sets."""

    metric: str
    sampling: Sampling
    judged: float
    judged_interval: Ends
    full: float
    full_interval: Ends

    @property
    def narrower(self) -> float:
        """By which share the interval is narrower; NaN where it cannot be."""
        width = self.judged_interval[1] - self.judged_interval[0]
        reach = self.full_interval[1] - self.full_interval[0]
        return 1 - reach / width if width else float("nan")


def two_sets(
    scores: lp.Scores,
    samplings: Sequence[Sampling] = SAMPLINGS,
    coefficient: Coefficient = "kendall",
    *,
    samples: int = 1000,
    seed: int = 12345,
) -> list[TwoSets]:
    """Each metric of a table with its scores on the whole test set (`full`)."""
    results = []
    for side in align_each(scores):
        for sampling in samplings:
            values = []
            for of_metric, paired in ((side.values[0], True), (side.scores, False)):
                drawn = bootstrap_samples(
                    of_metric,
                    side.Z,
                    "system",
                    coefficient,
                    sampling,
                    paired_inputs=paired,
                    samples=samples,
                    seed=seed,
                )
                point = level_correlation(of_metric, side.Z, "system", coefficient)
                values += [point.value, percentile_interval(drawn, 0.95)]
            results.append(TwoSets(side.metrics[0], sampling, *values))
    return results


def shown(results: Sequence[TwoSets]) -> str:
    """A line for each metric and way of sampling."""
    lines = [
        "metric               sampling   judged inputs       all inputs       less"
    ]
    for one in results:
        cells = [f"{one.metric:20} {one.sampling:9}"]
        for value, (low, high) in (
            (one.judged, one.judged_interval),
            (one.full, one.full_interval),
        ):
            cells.append(f"{value:.2f} ({low:.2f} to {high:.2f})")
        less = "–" if np.isnan(one.narrower) else f"{100 * one.narrower:.0f} %"
        lines.append("  ".join([*cells, less]))
    return "\n".join(lines)


def main() -> None:
    judged, full, *human = sys.argv[1:]
    print(shown(two_sets(lp.read_scores(judged, human or None, full=full))))


if __name__ == "__main__":
    main()
