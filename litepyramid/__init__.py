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
    "ScoringRule": "litepyramid.scoring.pyramid",
    **dict.fromkeys(
        (
            *("Dataset", "EasinessRegressor", "combine", "compare", "crossval", "evaluate"),
            *("export_tasks", "label_power", "plan_labels"),
            *("extract_units", "finetune", "import_answers", "judge", "load", "mix", "plan"),
            *("precision", "read_scores", "score"),
        ),
        "litepyramid.api",
    ),
}

__all__ = ["__version__", "meta", *sorted(_PUBLIC)]


def __getattr__(name: str) -> Any:
    if name == "meta":
        return import_module("litepyramid.meta")
    if name not in _PUBLIC:
        raise AttributeError(f"module 'litepyramid' has no attribute '{name}'")
    value = getattr(import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
