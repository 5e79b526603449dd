"""litepyramid: score machine-written summaries by the facts they carry.

Public names are loaded on first use, so that importing the package is quick and loads neither
torch nor spaCy.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from litepyramid._version import __version__

_PUBLIC = {
    "InputReferences": "litepyramid.types",
    "InputUnits": "litepyramid.types",
    "LitepyramidError": "litepyramid.errors",
    "ScoreMatrix": "litepyramid.types",
    "ScoreTable": "litepyramid.types",
    "SystemLabels": "litepyramid.types",
    "SystemSummaries": "litepyramid.types",
    "Unit": "litepyramid.types",
    "compare_systems": "litepyramid.scoring.compare",
    "extract_units": "litepyramid.units.extract",
    "make_judge": "litepyramid.judges.registry",
    "read_labels": "litepyramid.io.labels",
    "read_references": "litepyramid.io.references",
    "read_summaries": "litepyramid.io.summaries",
    "read_units": "litepyramid.io.units",
    "score_systems": "litepyramid.scoring.score",
}

__all__ = ["__version__", *sorted(_PUBLIC)]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'litepyramid' has no attribute '{name}'")
    value = getattr(import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
