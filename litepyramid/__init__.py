"""litepyramid: score machine-written summaries by the facts they carry.

Public names are loaded on first use, so that importing the package is quick and loads
neither torch nor spaCy. Type checkers and editors see the imports; a test holds them
and `_MODULES` to the same names.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from litepyramid._version import __version__ as __version__

if TYPE_CHECKING:
    from litepyramid import easiness as easiness
    from litepyramid import meta as meta
    from litepyramid.annotation.answers import import_answers as import_answers
    from litepyramid.annotation.export import export as export
    from litepyramid.annotation.label_power import label_power as label_power
    from litepyramid.annotation.plan import plan as plan
    from litepyramid.annotation.sampling import Sampling as Sampling
    from litepyramid.data.data import Data as Data
    from litepyramid.data.data import load as load
    from litepyramid.data.facts import Facts as Facts
    from litepyramid.data.facts import aligned as aligned
    from litepyramid.data.records import InputReferences as InputReferences
    from litepyramid.data.records import InputUnits as InputUnits
    from litepyramid.data.records import Summaries as Summaries
    from litepyramid.data.records import Unit as Unit
    from litepyramid.data.records import Units as Units
    from litepyramid.data.score_tables import read_scores as read_scores
    from litepyramid.data.scores import Scores as Scores
    from litepyramid.duc.peers import pyramid as pyramid
    from litepyramid.easiness import EasinessRegressor as EasinessRegressor
    from litepyramid.easiness.mix import mix as mix
    from litepyramid.errors import LitepyramidError as LitepyramidError
    from litepyramid.imports.convert import convert as convert
    from litepyramid.judges.cache import cache as cache
    from litepyramid.judges.evaluate import evaluate as evaluate
    from litepyramid.judges.explain import explain as explain
    from litepyramid.judges.registry import judge as judge
    from litepyramid.judges.registry import judge_settings as judge_settings
    from litepyramid.metrics.score_metrics import score_metrics as score_metrics
    from litepyramid.scoring.audit import audit as audit
    from litepyramid.scoring.changes import changes as changes
    from litepyramid.scoring.combine import combine as combine
    from litepyramid.scoring.compare import compare as compare
    from litepyramid.scoring.precision import precision as precision
    from litepyramid.scoring.pyramid import ScoringRule as ScoringRule
    from litepyramid.scoring.saved_result import report as report
    from litepyramid.scoring.score import score as score
    from litepyramid.training.crossval import crossval as crossval
    from litepyramid.training.finetune import finetune as finetune
    from litepyramid.units.extract import extract as extract
else:
    _MODULES = {
        "data.records": "InputReferences InputUnits Summaries Unit Units",
        "data.facts": "Facts aligned",
        "errors": "LitepyramidError",
        "data.data": "Data load",
        "data.scores": "Scores",
        "data.score_tables": "read_scores",
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
        "scoring.audit": "audit",
        "scoring.changes": "changes",
        "scoring.combine": "combine",
        "scoring.saved_result": "report",
        "imports.convert": "convert",
        "duc.peers": "pyramid",
        "easiness": "EasinessRegressor",
        "easiness.mix": "mix",
        "annotation.plan": "plan",
        "annotation.sampling": "Sampling",
        "annotation.export": "export",
        "annotation.answers": "import_answers",
        "annotation.label_power": "label_power",
        "training.finetune": "finetune",
        "training.crossval": "crossval",
    }
    _ROOMS = ("easiness", "meta")
    _PUBLIC = {
        name: f"litepyramid.{module}"
        for module, names in _MODULES.items()
        for name in names.split()
    }

    __all__ = ["__version__", *_ROOMS, *sorted(_PUBLIC)]

    def __getattr__(name: str):
        if name in _ROOMS:
            return import_module(f"litepyramid.{name}")
        if name not in _PUBLIC:
            raise AttributeError(f"module 'litepyramid' has no attribute '{name}'")
        value = getattr(import_module(_PUBLIC[name]), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return __all__
