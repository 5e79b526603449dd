"""litepyramid: score machine-written summaries by the facts they carry.

Public names are loaded on first use, so that importing the package is quick and loads
neither torch nor spaCy.
"""

from importlib import import_module
from typing import Any

from litepyramid._version import __version__

_MODULES = {
    "types": "InputReferences InputUnits ScoreMatrix ScoreTable SystemLabels SystemSummaries Unit",
    "errors": "LitepyramidError",
    "io.dataset": "Dataset load",
    "io.scores": "read_scores",
    "metrics.score_metrics": "score_metrics",
    "judges.cache": "cache",
    "judges.registry": "judge judge_settings",
    "judges.evaluate": "evaluate",
    "judges.explain": "explain",
    "units.extract": "extract",
    "scoring.pyramid": "ScoringRule",
    "scoring.score": "score",
    "scoring.precision": "precision",
    "scoring.compare": "compare",
    "scoring.combine": "combine",
    "scoring.result": "report",
    "duc.convert": "convert",
    "duc.peers": "pyramid",
    "easiness": "EasinessRegressor",
    "easiness.mix": "mix",
    "annotation.plan": "plan",
    "annotation.export": "export",
    "annotation.answers": "import_answers",
    "annotation.label_power": "label_power",
    "training.finetune": "finetune",
    "training.crossval": "crossval",
}
_PUBLIC = {
    name: f"litepyramid.{m}" for m, names in _MODULES.items() for name in names.split()
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
