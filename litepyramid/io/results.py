"""Reading back what ``litepyramid score --format json`` wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.errors import InputError
from litepyramid.io.files import read_text
from litepyramid.types import ScoreMatrix, Signature


def read_score_result(path: str | Path) -> tuple[ScoreMatrix, Signature]:
    """The score matrix and the signature of a saved result.

    Raises:
        InputError: The file is no such result.
    """
    try:
        data: Any = json.loads(read_text(path))
    except (json.JSONDecodeError, RecursionError):
        raise _not_a_result(path) from None
    if not isinstance(data, dict) or not isinstance(data.get("scores"), list):
        raise _not_a_result(path)
    try:
        cells = {(str(r["system"]), str(r["input"])): r["score"] for r in data["scores"]}
        metric = str(data["metric"])
        fields = tuple((k, str(v)) for k, v in data["signature"].items() if k != "version")
    except (KeyError, TypeError, AttributeError):
        raise _not_a_result(path) from None
    systems = tuple(dict.fromkeys(system for system, _ in cells))
    inputs = tuple(dict.fromkeys(name for _, name in cells))
    values = np.full((len(systems), len(inputs)), np.nan)
    for (system, name), score in cells.items():
        if score is not None:
            if isinstance(score, bool) or not isinstance(score, int | float):
                raise _not_a_result(path)
            values[systems.index(system), inputs.index(name)] = score
    return ScoreMatrix(metric, systems, inputs, values), Signature(fields)


def _not_a_result(path: str | Path) -> InputError:
    return InputError(
        "not a saved result",
        path=path,
        expected="what `litepyramid score --format json -o FILE` writes",
        hint="To score summaries, give --units or --references too.",
    )
