"""Meta-evaluation: how well metrics agree with people, and how certain that is.

`correlate`, `interval`, `compare` and `normality` work on tables of scores and give results that
can be shown; so do `full_test_set`, `delta`, `difference` and `stability` (DDR22), `coverage`,
`power_on_words` and `power_on_noise` (DDR21 §5), `scoring_range` and `generate` (P19).
`litepyramid.meta.core.levels` and `litepyramid.meta.core.coefficients` work on plain arrays.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_PUBLIC = {
    "Aligned": "litepyramid.meta.alignment",
    "ComparisonResult": "litepyramid.meta.comparisons",
    "CorrelationResult": "litepyramid.meta.correlations",
    "IntervalResult": "litepyramid.meta.intervals",
    "NormalityResult": "litepyramid.meta.normality_tests",
    "align": "litepyramid.meta.alignment",
    "bootstrap_samples": "litepyramid.meta.core.bootstrap",
    "compare": "litepyramid.meta.comparisons",
    "correlate": "litepyramid.meta.correlations",
    "coverage": "litepyramid.meta.simulate.interval_coverage",
    "delta": "litepyramid.meta.system_level.deltas",
    "difference": "litepyramid.meta.system_level.differences",
    "fisher_interval": "litepyramid.meta.intervals",
    "full_test_set": "litepyramid.meta.system_level.test_set",
    "generate": "litepyramid.meta.ranges.generation",
    "interval": "litepyramid.meta.intervals",
    "level_correlation": "litepyramid.meta.core.levels",
    "normality": "litepyramid.meta.normality_tests",
    "permutation_samples": "litepyramid.meta.core.permutation",
    "power_on_noise": "litepyramid.meta.simulate.test_power",
    "power_on_words": "litepyramid.meta.simulate.test_power",
    "rank": "litepyramid.meta.ranking",
    "scoring_range": "litepyramid.meta.ranges.scoring_ranges",
    "stability": "litepyramid.meta.system_level.ranking_stability",
}

__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'litepyramid.meta' has no attribute '{name}'")
    return getattr(import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return list(__all__)
