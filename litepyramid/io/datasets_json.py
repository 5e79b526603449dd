"""Data sets that are published as JSON records: RoSE and QAPyramid."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from litepyramid.checked import check_shape
from litepyramid.errors import InputError
from litepyramid.io.dataset import Dataset
from litepyramid.io.labels import presence_label
from litepyramid.io.references import split_marks
from litepyramid.io.rows import read_rows
from litepyramid.text import counted
from litepyramid.types import (
    InputReferences,
    InputUnits,
    SystemLabels,
    SystemSummaries,
    Unit,
    check_unique,
)


def read_rose(path: Path) -> Dataset:
    """Reads one part of RoSE (Liu et al. 2023): JSON or JSON Lines of documents with ACUs.

    A document has ``reference_acus`` (texts), ``system_outputs`` (system to summary) and
    ``annotations`` (system to an object with ``acu_labels``). ACUs serve as SCUs of weight 1.
    Documents without ACUs, or without labels of every system, are left out and counted.
    """
    return _labelled_json(
        path,
        identify=("count_id", "example_id", "id"),
        units="reference_acus",
        labels=lambda row, system: _inner(row, "annotations", system, "acu_labels"),
    )


def read_qapyramid(path: Path) -> Dataset:
    """Reads QAPyramid (Zhang et al. 2025): JSON or JSON Lines of examples with QA pairs.

    An example has ``QAs`` (texts, a question with its answer), ``system_outputs`` and
    ``QA_labels`` (system to labels). A QA pair serves as an SCU of weight 1, as it is written.
    Examples without system outputs (most have only QA pairs) are left out and counted.
    """
    return _labelled_json(
        path,
        identify=("example_id", "id"),
        units="QAs",
        labels=lambda row, system: _inner(row, "QA_labels", system),
    )


def _labelled_json(
    path: Path, *, identify: Sequence[str], units: str, labels: Callable[[dict[str, Any], str], Any]
) -> Dataset:
    rows = [(row.line, row.values) for row in read_rows(path).rows]
    record = {
        "system_outputs?": {str: (str, None)},
        f"{units}?": [str],
        **{f"{key}?": (str, int) for key in identify},
    }
    for line, row in rows:
        check_shape(row, record, what="a broken record", path=path, line=line)
    systems = list(
        dict.fromkeys(
            name
            for _, row in rows
            for name, text in (row.get("system_outputs") or {}).items()
            if isinstance(text, str)
        )
    )
    if not systems:
        raise InputError(
            'no record has "system_outputs"', path=path, expected="summaries of some systems"
        )
    kept: list[tuple[str, dict[str, Any], dict[str, list[int]]]] = []
    skipped = 0
    for line, row in rows:
        own = {name: labels(row, name) for name in systems}
        outputs = row.get("system_outputs") or {}
        texts = row.get(units) or []
        if (
            not texts
            or not all(own.values())
            or any(not isinstance(outputs.get(name), str) for name in systems)
        ):
            skipped += 1
            continue
        key = next((str(row[k]) for k in identify if row.get(k) not in (None, "")), str(line))
        for name, value in own.items():
            own[name] = [presence_label(v, path, line) for v in value]
            if len(value) != len(texts):
                raise InputError(
                    f"{counted(len(value), 'label')} of system '{name}' for "
                    f"{counted(len(texts), 'unit')}",
                    path=path,
                    line=line,
                    expected="one label for each unit",
                )
        kept.append((key, row, own))
    if not kept:
        raise InputError("no record has units, summaries and labels", path=path)
    names = tuple(key for key, _, _ in kept)
    check_unique(names, f"{path}: input")
    scus = tuple(
        InputUnits(key, tuple(Unit(" ".join(text.split())) for text in row[units]))
        for key, row, _ in kept
    )
    with_reference = all(isinstance(row.get("reference"), str) for _, row, _ in kept)
    return Dataset(
        name=path.stem,
        scus=scus,
        summaries=tuple(
            SystemSummaries(
                name,
                names,
                tuple(" ".join(row["system_outputs"][name].split()) for _, row, _ in kept),
            )
            for name in systems
        ),
        labels=tuple(
            SystemLabels(name, names, tuple(tuple(own[name]) for _, _, own in kept))
            for name in systems
        ),
        references=tuple(
            InputReferences(key, (sentences,), (marked,))
            for key, (sentences, marked) in (
                (key, split_marks(row["reference"], path=path)) for key, row, _ in kept
            )
        )
        if with_reference
        else None,
        left_out={"inputs_without_units_summaries_or_labels": skipped} if skipped else {},
    )


def _inner(row: Mapping[str, Any], *keys: str) -> Any:
    """The list under nested keys; None where any of them is missing."""
    value: Any = row
    for key in keys:
        if not isinstance(value, Mapping) or key not in value:
            return None
        value = value[key]
    return value if isinstance(value, list) else None
