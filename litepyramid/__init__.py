"""litepyramid: score machine-written summaries by the facts they carry.

Public names are loaded on first use, so that importing the package is quick and loads neither
torch nor spaCy.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from litepyramid._version import __version__

_PUBLIC = {
    **dict.fromkeys(
        (
            *("InputReferences", "InputUnits", "ScoreMatrix", "ScoreTable", "SystemLabels"),
            *("SystemSummaries", "Unit"),
        ),
        "litepyramid.types",
    ),
    "Dataset": "litepyramid.io.dataset",
    "EasinessRegressor": "litepyramid.easiness",
    "LitepyramidError": "litepyramid.errors",
    "ScoringRule": "litepyramid.scoring.pyramid",
    "cache": "litepyramid.judges.cache",
    "combine": "litepyramid.scoring.combine",
    "compare": "litepyramid.scoring.compare",
    "convert": "litepyramid.duc.convert",
    "crossval": "litepyramid.training.crossval",
    "evaluate": "litepyramid.judges.evaluate",
    "explain": "litepyramid.judges.explain",
    "export": "litepyramid.annotation.export",
    "extract": "litepyramid.units.extract",
    "finetune": "litepyramid.training.finetune",
    "import_answers": "litepyramid.annotation.answers",
    "judge": "litepyramid.judges.registry",
    "judge_settings": "litepyramid.judges.registry",
    "label_power": "litepyramid.annotation.label_power",
    "load": "litepyramid.io.dataset",
    "mix": "litepyramid.easiness.mix",
    "plan": "litepyramid.annotation.plan",
    "precision": "litepyramid.scoring.precision",
    "pyramid": "litepyramid.duc.peers",
    "read_scores": "litepyramid.io.scores",
    "report": "litepyramid.scoring.result",
    "score": "litepyramid.scoring.score",
    "score_metrics": "litepyramid.metrics.score_metrics",
}
"""The module that defines each public name."""

_ROOMS = ("easiness", "meta")

__all__ = ["__version__", *_ROOMS, *sorted(_PUBLIC)]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"litepyramid.{name}")
    if name not in _PUBLIC:
        raise AttributeError(f"module 'litepyramid' has no attribute '{name}'")
    value = getattr(import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
