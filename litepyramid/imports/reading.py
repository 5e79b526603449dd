"""Which tool wrote a file, and its rows under our columns."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from litepyramid.data.data import load
from litepyramid.data.door import opened
from litepyramid.data.files import Row
from litepyramid.errors import located
from litepyramid.files import stem
from litepyramid.imports.logs import (
    autorubric_rows,
    event_rows,
    inspect_rows,
    labelled_rows,
    prbench_rows,
)
from litepyramid.imports.one_table import rows_of
from litepyramid.imports.presets import preset_of, read_export
from litepyramid.imports.promptfoo import COLUMN, results_of
from litepyramid.imports.texts import KEYS, Counts, Made

_MAKERS: dict[tuple[str, ...], Callable[[Sequence[Row]], Made]] = {
    ("results", "config"): results_of,
    ("promptIdx", "testIdx", "vars"): results_of,
    ("eval", "samples"): inspect_rows,
    ("spec",): event_rows,
    ("task", "rubric", "prompt_0"): prbench_rows,
    ("requirement",): autorubric_rows,
    ("reference_acus", "system_outputs"): labelled_rows,
    ("QAs", "system_outputs"): labelled_rows,
}
"""By what its first row has, what makes rows of a file that a preset reads, or ours."""
_LISTS = (
    *("testCases", "conversationalTestCases", "test_results", "goldens"),
    *("data", "results", "rows", "examples"),
)
"""Names of the list of rows in a file that is one object."""
_OURS = {"summary", "unit", "units", "label", "labels", "presence"}


class Imported(NamedTuple):
    """The rows of a file under our columns; what it was read as; what was left out,
    counted."""

    rows: Sequence[Row]
    told: str
    left_out: Counts


def imported(path: Path, own: Mapping[str, str], ids: Any = None) -> Imported:
    """Reads a file of a tool, or one of ours; `own` are columns that a user names."""
    found = opened(path, "units")
    rows = found.rows or ()
    if found.by_key is not None:
        rows = [Row(1, {str(key): one for key, one in found.by_key.items()})]
    if found.saved is not None:
        data = load(path)
        whole = [Row(1, cells) for cells in rows_of(data)]
        counts: Counts = Counter()
        if data.labels is not None and data.labels.units.facts != data.units.facts:
            counts["labels of other units"] = int((~np.isnan(data.labels.values)).sum())
        return Imported(whole, "a result of score", counts)
    with located(path, rows[0].line if rows else None):
        made, counts = _unfolded(rows)

    preset = preset_of(made)
    names = {name for row in made for name in row.cells}
    if made and (own or (preset and not _OURS & names)):
        preset = preset or {"tool": "columns of your own"}
        columns, exported, unread = read_export(preset, made, own, path)
        named = []
        for ours, name in columns.items():
            named += [f"{ours}={name}"] if ours in (*KEYS, "input", "system") else []
        told = f"{preset['tool']}, columns={','.join(named)}"
        return Imported(exported, told, counts + unread)
    if [*made[:1]] != [*rows[:1]]:
        return Imported(made, "RoSE or QAPyramid", counts)

    # One of ours: a table, or lines of units.
    has = {"summary": "data", "unit": "units", "units": "units"}
    has |= dict.fromkeys(("reference", "references"), "references")
    # Rows in which nothing is known are answers sooner than units.
    unknown = "data" if found.rows else "units"
    role = next((has[name] for name in has if name in names), unknown)
    sources: dict[str, Any] = {role: path}
    cells = rows_of(load(**sources, ids=ids, nulls="missing"))
    system = {} if "system" in names else {"system": stem(path)}
    made = [Row(1, {**one, **system}) for one in cells]
    return Imported(made, "a table of ours", counts)


def _unfolded(rows: Sequence[Row]) -> Made:
    """The rows that a file of a tool holds, in lists or otherwise; else its own."""
    first = rows[0].cells if rows else {}
    for names, maker in _MAKERS.items():
        if first.keys() >= {*names}:
            return maker(rows)
    if any(map(COLUMN.match, first)):
        return results_of(rows)

    # DeepEval's own copy of its latest run has one object more around it.
    whole = first.get("testRunData", first) if len(rows) == 1 else {}
    inner = []
    for name in _LISTS:
        several = whole.get(name) if isinstance(whole, dict) else None
        if isinstance(several, list) and all(isinstance(one, dict) for one in several):
            inner += [Row(line, cells) for line, cells in enumerate(several, 1)]
    if preset_of(inner) is None:
        return Made(rows, Counter())
    counts: Counts = Counter()
    for name in whole.keys() - {*_LISTS}:
        counts[f"{name} of the file"] += whole[name] not in (None, "", [], {})
    return Made(inner, counts)
