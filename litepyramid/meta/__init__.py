"""Meta-evaluation: how well metrics agree with people, and how certain that is.

`correlate`, `interval`, `compare` and `normality` work on tables of scores and give results that
can be shown; so do `full_test_set`, `delta`, `difference` and `stability` (DDR22), `coverage`,
`power_on_words` and `power_on_noise` (DDR21 §5), `scoring_range` and `generate` (P19).
`litepyramid.meta.core.levels` and `litepyramid.meta.core.coefficients` work on plain arrays.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_MODULES = {
    "alignment": "Aligned align",
    "comparisons": "ComparisonResult compare",
    "core.bootstrap": "bootstrap_samples",
    "core.levels": "level_correlation",
    "core.permutation": "permutation_samples",
    "correlations": "CorrelationResult correlate",
    "intervals": "IntervalResult fisher_interval interval",
    "normality_tests": "NormalityResult normality",
    "ranges.generation": "generate",
    "ranges.scoring_ranges": "scoring_range",
    "ranking": "rank",
    "simulate.interval_coverage": "coverage",
    "simulate.test_power": "power_on_noise power_on_words",
    "system_level.deltas": "delta",
    "system_level.differences": "difference",
    "system_level.ranking_stability": "stability",
    "system_level.test_set": "full_test_set",
}
_PUBLIC = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'litepyramid.meta' has no attribute '{name}'")
    return getattr(import_module(f"litepyramid.meta.{_PUBLIC[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
