"""Meta-evaluation: how well metrics agree with people, and how certain that is.

The verbs take tables of scores and give results that can be shown; `core` works on
plain arrays. Papers that comments name in short: ZB21 Zhang & Bansal 2021, DDR21 and
DDR22 Deutsch, Dror & Roth 2021 and 2022, P19 Peyrard 2019.
"""

from litepyramid.meta.comparisons import compare
from litepyramid.meta.correlations import correlate
from litepyramid.meta.deltas import delta
from litepyramid.meta.differences import difference
from litepyramid.meta.intervals import interval
from litepyramid.meta.metric_ranks import rank
from litepyramid.meta.ranges import range_ as range
from litepyramid.meta.rankings import stability

__all__ = [
    "compare",
    "correlate",
    "delta",
    "difference",
    "interval",
    "range",
    "rank",
    "stability",
]
