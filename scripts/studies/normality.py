"""Whether scores are normal, as Fisher's interval and Williams' test assume (DDR21 app. A).

    python scripts/studies/normality.py TABLE [HUMAN]

Shapiro and Wilk's test of each metric's scores: at system level one over the systems'
means, at summary level one for each input, over the systems' scores on it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import shapiro

import litepyramid as lp
from litepyramid.meta.alignment import human_score
from litepyramid.meta.core.levels import mean_tolerance
from litepyramid.stats import system_means
from litepyramid.types import FloatArray


@dataclass(frozen=True)
class Normality:
    """Tests of one metric's scores.

    Of the inputs, `rejected` of those `tested` have p ≤ α; the others have `constant`
    scores, or `too_few` (fewer than three). `system_p` is of the systems' means.
    """

    metric: str
    rejected: int
    tested: int
    constant: int
    too_few: int
    system_p: float

    @property
    def share(self) -> float:
        """The share of inputs whose scores are not normal."""
        return self.rejected / self.tested if self.tested else math.nan


def normality(scores: lp.Scores, alpha: float = 0.05) -> list[Normality]:
    """The tests of the human score, and of all other metrics."""
    human, raters, people = human_score(scores)
    of_metrics = {human: people[human]}
    for metric in scores.chosen or scores.metrics:
        if metric not in raters or metric != human:
            of_metrics[metric] = scores[metric]
    return [_tested(name, values, alpha) for name, values in of_metrics.items()]


def _tested(metric: str, X: FloatArray, alpha: float) -> Normality:
    """The tests of (N, M) scores."""
    tested = rejected = constant = too_few = 0
    # Three values are the fewest that the test takes; equal ones have no shape.
    for column in X.T:
        scored = column[~np.isnan(column)]
        if len(scored) >= 3 and np.ptp(scored) > 0:
            tested += 1
            rejected += bool(shapiro(scored).pvalue <= alpha)
        elif len(scored) >= 3:
            constant += 1
        elif len(scored):
            too_few += 1

    # Averages of equal scores differ by rounding alone, which would look like a sample.
    means = system_means(X)
    means = means[~np.isnan(means)]
    flat = len(means) < 3 or np.ptp(means) <= mean_tolerance(X)
    system_p = math.nan if flat else float(shapiro(means).pvalue)
    return Normality(metric, rejected, tested, constant, too_few, system_p)


def shown(tests: Sequence[Normality]) -> str:
    """A line for each metric."""
    lines = ["metric                    inputs not normal   p of systems"]
    for one in tests:
        share = f"{100 * one.share:.1f} % of {one.tested}"
        lines.append(f"{one.metric:25} {share:>17}   {one.system_p:12.3f}")
    return "\n".join(lines)


def main() -> None:
    path, *human = sys.argv[1:]
    print(shown(normality(lp.read_scores(path, human or None))))


if __name__ == "__main__":
    main()
