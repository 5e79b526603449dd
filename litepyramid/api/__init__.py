"""The front door: every job of litepyramid in one call, on paths, lists, dicts or data frames.

Whatever takes data takes a path, plain Python, or a pandas frame, rows of Hugging Face or a list of
dicts with named columns (``system``, ``input``, ``summary``, ``unit``, ``label`` …; other names by
`columns`). Ids are made where none are given. `litepyramid` itself has all of these names:

    >>> import litepyramid as lp
    >>> result = lp.score(
    ...     {"mine": ["A storm hit Oslo on Monday."]},
    ...     references=["A storm hit Oslo. Two people died."],
    ... )
    >>> list(result.scores)
    ['mine']
"""

from __future__ import annotations

from litepyramid.api.budget import export_tasks, import_answers, plan
from litepyramid.api.direction import precision
from litepyramid.api.judges import crossval, evaluate, finetune
from litepyramid.api.labels import combine, label_power, plan_labels
from litepyramid.api.score import compare, judge, load, score
from litepyramid.api.units import EasinessRegressor, extract_units, mix
from litepyramid.io.dataset import Dataset
from litepyramid.io.scores import read_scores

__all__ = [
    "Dataset", "EasinessRegressor", "combine", "compare", "crossval", "evaluate", "export_tasks",
    "extract_units", "finetune", "import_answers", "judge", "label_power", "load", "mix", "plan",
    "plan_labels", "precision", "read_scores",
    "score",
]  # fmt: skip
