"""Files of units, labels and scores, written all or nothing."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from litepyramid.checked import guarded
from litepyramid.errors import InputError
from litepyramid.files import atomic_write, write_jsonl
from litepyramid.types import InputUnits, ScoreTable, SystemLabels

Form = Literal["jsonl", "lines"]


def write_units(path: str | Path, units: Sequence[InputUnits], form: Form = "jsonl") -> None:
    """Writes units, in either form; a line file keeps the texts alone."""
    if form == "jsonl":
        return write_jsonl(path, [entry.to_json() for entry in units])
    for entry in units:
        if any(char in unit.text for unit in entry.units for char in "\t\n\r"):
            what = f"a unit of input '{entry.input}' holds a tab or a line break"
            expected = "one line of text for a line file"
            raise InputError(what, expected=expected, hint="Write JSON Lines instead.")
    with atomic_write(path) as file:
        file.writelines("\t".join(entry.texts) + "\n" for entry in units)
    return None


def write_labels(path: str | Path, labels: SystemLabels) -> None:
    """Writes one system's labels; name the file after the system."""
    rows = zip(labels.inputs, labels.labels, strict=True)
    write_jsonl(path, [{"input": name, "labels": list(row)} for name, row in rows])


def write_scores(path: str | Path, table: ScoreTable) -> None:
    """Writes a table as CSV, one row per score; what is not scored is left out."""
    with atomic_write(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("system", "input", "metric", "score"))
        for s, i, m in np.argwhere(~np.isnan(table.values.transpose(1, 2, 0))):
            names = table.systems[s], table.inputs[i], table.metrics[m]
            writer.writerow([*map(guarded, names), repr(float(table.values[m, s, i]))])
