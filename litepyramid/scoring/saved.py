"""Results of `score` read back from the JSON, or the columns, that they were saved as."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.checked import check_shape
from litepyramid.errors import InputError
from litepyramid.files import read_json
from litepyramid.io.columns import Columns, read_columns
from litepyramid.io.units import units_from_json
from litepyramid.judges.base import Evidence
from litepyramid.scoring.result import ScoreResult
from litepyramid.scoring.seen import Seen
from litepyramid.types import FloatArray, InputUnits, Signature

_EXPECTED = "the JSON that `litepyramid score --format json` writes"
_SHAPE: dict[str, Any] = {
    "metric": str,
    "name": str,
    "systems": [{"system": str, "low": (None, float), "high": (None, float), "groups": [int]}],
    "scores": [
        {
            **{"system": str, "input": str, "score": (None, float), "human?": (None, float)},
            **{key: [(None, float)] for key in ("presence", "labels?")},
        }
    ],
    "confidence": float,
    "counts": {str: int},
    "signature": {str: str},
}


def read_result(path: str | Path) -> ScoreResult:
    """Reads the JSON, npz, parquet or folder that ``score`` or `ScoreResult.save` wrote.

    Raises:
        InputError: It is something else, or does not hold together.
    """
    path = Path(path)
    broken = "not a saved result of score"
    if held := read_columns(path):
        return _from_columns(held, broken)
    data = read_json(path, _EXPECTED)
    check_shape(data, _SHAPE, what=broken, path=path)
    units = units_from_json(data.get("units"), path)
    labels, label_units = None, None
    systems = tuple(row["system"] for row in data["systems"])
    rows = {name: list(own) for name, own in groupby(data["scores"], lambda row: row["system"])}
    if tuple(rows) != systems or any(
        [row["input"] for row in own] != [entry.input for entry in units] for own in rows.values()
    ):
        raise InputError(broken, path=path, expected="one score per system and input, in order")
    human = None
    if all("labels" in row for row in data["scores"]):
        label_units = tuple(
            units_from_json(data["label_units"], path) if "label_units" in data else units
        )
        labels = _flat(rows, "labels", label_units, path)
        human = _column(rows, "human")
    seen = None
    if all("evidence" in row for row in data["scores"]):
        seen = _seen(rows, units, data.get("references"), path)
    return ScoreResult(
        **_told(data),
        units=tuple(units),
        presence=_flat(rows, "presence", units, path),
        values=_column(rows, "score"),
        labels=labels,
        label_units=label_units,
        human=human,
        seen=seen,
    )


def _told(data: dict[str, Any]) -> dict[str, Any]:
    """What a result says of itself and its systems."""
    fields = tuple((key, value) for key, value in data["signature"].items() if key != "version")
    return {
        "metric": data["metric"],
        "name": data["name"],
        "systems": tuple(row["system"] for row in data["systems"]),
        "intervals": tuple((_number(s["low"]), _number(s["high"])) for s in data["systems"]),
        "groups": tuple(tuple(s["groups"]) for s in data["systems"]),
        "counts": data["counts"],
        "confidence": data["confidence"],
        "signature": Signature(fields),
    }


def _from_columns(held: Columns, broken: str) -> ScoreResult:
    """A result that was saved in columns."""
    data, path = held.document, held.path
    shape = {key: value for key, value in _SHAPE.items() if key != "scores"}
    check_shape(data, shape, what=broken, path=path)
    units, presence = held.presence()
    label_units = held.units("label_units") or units
    labels = held.read("labels", sum(len(entry.units) for entry in label_units))
    if (values := held.read("score")) is None:
        raise InputError(broken, path=path, expected="scores")
    return ScoreResult(
        **_told(data),
        units=units,
        presence=presence,
        values=values,
        labels=labels,
        label_units=None if labels is None else label_units,
        human=held.read("human"),
    )


_EVIDENCE = [
    (None, {"sentence": int, "span": [int], "presence": float, "conflict?": str, "missing?": [str]})
]


def _seen(
    rows: dict[str, list[dict[str, Any]]], units: Sequence[InputUnits], told: Any, path: Path
) -> Seen:
    """The texts and the evidence that a result was saved with."""
    broken = "a saved result with broken evidence"
    sizes = [len(entry.units) for entry in units]
    for own in rows.values():
        for row, size in zip(own, sizes, strict=True):
            check_shape(row, {"summary": str, "evidence": _EVIDENCE}, what=broken, path=path)
            spans = [e["span"] for e in row["evidence"] if e is not None]
            good = all(len(s) == 2 and s[0] <= s[1] <= len(row["summary"]) for s in spans)
            if len(row["evidence"]) != size or not good:
                raise InputError(broken, path=path, expected="one place for each unit")
    if told is not None:
        check_shape(told, [{"input": str, "references": [[str]]}], what=broken, path=path)
        if [row["input"] for row in told] != [entry.input for entry in units]:
            raise InputError(broken, path=path, expected="references of each input, in order")
    return Seen(
        tuple(tuple(row["summary"] for row in own) for own in rows.values()),
        tuple(
            tuple(
                Evidence(0.0)
                if e is None
                else Evidence(
                    e["presence"],
                    e["sentence"],
                    (e["span"][0], e["span"][1]),
                    missing=tuple(e.get("missing") or ()),
                    conflict=e.get("conflict") or "",
                )
                for row in own
                for e in row["evidence"]
            )
            for own in rows.values()
        ),
        None if told is None else tuple(tuple(map(tuple, row["references"])) for row in told),
    )


def _number(value: float | None) -> float:
    return np.nan if value is None else float(value)


def _column(rows: dict[str, list[dict[str, Any]]], key: str) -> FloatArray:
    return np.array([[_number(row.get(key)) for row in own] for own in rows.values()])


def _flat(rows: dict[str, list[dict[str, Any]]], key: str, units: Any, path: Path) -> FloatArray:
    """(N, U) values of all units; refused where an input has another number of them."""
    sizes = [len(entry.units) for entry in units]
    for own in rows.values():
        for row, entry, size in zip(own, units, sizes, strict=True):
            if len(row[key]) != size:
                raise InputError(
                    f"another number of {key} than units for system '{row['system']}' on input "
                    f"'{entry.input}'",
                    path=path,
                    expected=f"{size}",
                )
    return np.array([[_number(x) for row in own for x in row[key]] for own in rows.values()])
