"""Saved results of `score` and `precision`: the one place that reads them.

A result is saved as JSON, plain or compressed (``.json.gz``). What a file is shows from
its content: its ending, and the case of it, do not matter.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.checked import as_type, parse_json
from litepyramid.data.facts import Facts
from litepyramid.data.records import InputUnits, Units
from litepyramid.errors import InputError
from litepyramid.files import file_type, read_text
from litepyramid.tables import Result, plain
from litepyramid.types import FloatArray

EXPECTED = "a JSON file that `litepyramid score -o` wrote, perhaps compressed (.gz)"
UNCHANGED = "a file as `litepyramid score -o` wrote it"
BROKEN = "not a saved result of score"
_OF_ROWS = {
    "summaries": ("summary", "summary"),
    "presence": ("presence", "presences"),
    "labels": ("labels", "labels"),
}
"""By role the key of `SavedRow` that holds it, and the column that it is."""
_KEYS = {"scores", "signature"}  # of every result, and of no file of another tool


@dataclass(frozen=True)
class SavedSystem:
    """One system, with its rank groups, its score and the ends of the interval."""

    system: str
    groups: tuple[int, ...]
    score: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class SavedRow:
    """One system's summary of one input; null is "not scored", or "no judgement"."""

    system: str
    input: str
    score: float | None = None
    human: float | None = None
    measures: dict[str, float | None] = field(default_factory=dict)
    presence: list[float | None] | None = None
    labels: list[float | None] | None = None
    summary: str | None = None
    evidence: list[Any] | None = None
    opinions: list[list[float | None]] | None = None


@dataclass(frozen=True)
class SavedScores:
    """A saved result, its shapes checked; `units` are empty in one of `precision`.

    Attributes:
        rule: How presence became scores (`ScoringRule`).
        samples: Bootstrap samples of the intervals, drawn with `seed`.
        checksum: Of all of it (`checksum_of`).
    """

    metric: str
    name: str
    systems: tuple[SavedSystem, ...]
    confidence: float
    samples: int
    seed: int
    counts: dict[str, int]
    signature: dict[str, str]
    scores: list[SavedRow]
    rule: str = "lite"
    units: tuple[InputUnits, ...] = ()
    label_units: tuple[InputUnits, ...] = ()
    references: dict[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    plan: tuple[str, ...] = ()
    ceiling: float | None = None
    notes: tuple[str, ...] = ()
    checksum: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The N systems."""
        return tuple(entry.system for entry in self.systems)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The M inputs."""
        return tuple(entry.input for entry in self.units)

    @property
    def parts(self) -> list[str]:
        """The roles of a data set that it holds: summaries, units, presence …"""
        held = []
        for role, (key, _) in _OF_ROWS.items():
            if any(getattr(row, key) is not None for row in self.scores):
                held.append(role)
        for role in ("units", "label_units", "references"):
            if getattr(self, role):
                held.append(role)
        return held

    def column(self, name: str) -> FloatArray:
        """The (N, M) values of one key of the rows; NaN for null."""
        values = [getattr(row, name) for row in self.scores]
        array = np.array(values, dtype=np.float64)
        return array.reshape(len(self.systems), -1)

    def per_unit(
        self, name: str, units: Units, path: str | Path
    ) -> list[list[Any]] | None:
        """N rows of a value for each unit; None where a row lacks them."""
        result: dict[str, list[Any]] = {system: [] for system in self.names}
        for row in self.scores:
            values = getattr(row, name)
            if values is None:
                return None
            if len(values) != len(units[row.input].units):
                raise InputError(BROKEN, path=path, expected=f"{name} of each unit")
            result[row.system] += values
        return [*result.values()]

    def facts(self, name: str, units: Units, path: str | Path) -> Facts | None:
        """Presence or labels; NaN where there is none."""
        rows = self.per_unit(name, units, path)
        if rows is None:
            return None
        values = np.array(rows, dtype=np.float64)
        known = values[~np.isnan(values)]
        if (known < 0).any() or (known > 1).any():
            raise InputError(
                f"{name} outside 0 to 1", path=path, expected="numbers from 0 to 1"
            )
        return Facts(self.names, units, values)

    def rows(self, role: str) -> list[dict[str, Any]]:
        """What it holds of a role of a data set, as rows of a table; none of what it
        lacks. Presence and labels stand beside their units."""
        if role == "references":
            several = self.references.items()
            return [{"input": one, "references": texts} for one, texts in several]
        units = self.units
        if role in ("labels", "label_units"):
            units = self.label_units or units
        if role not in _OF_ROWS:
            return [entry.to_json() for entry in units]

        key, column = _OF_ROWS[role]
        values = [getattr(row, key) for row in self.scores]
        if all(value is None for value in values):
            return []
        texts = {entry.input: {"units": [*entry.texts]} for entry in units}
        rows = []
        for row, value in zip(self.scores, values, strict=True):
            beside = {} if role == "summaries" else texts[row.input]
            place = {"system": row.system, "input": row.input}
            rows.append({**place, **beside, column: value})
        return rows

    def score_rows(self) -> list[dict[str, Any]]:
        """The same with the scores by metric; human ones where people labelled any."""
        labelled = any(row.human is not None for row in self.scores)
        rows = []
        for row in self.scores:
            scores = {self.name: row.score, **row.measures}
            if labelled:
                scores["human"] = row.human
            rows.append({"system": row.system, "input": row.input, "scores": scores})
        return rows


def checksum_of(document: Mapping[str, Any]) -> str:
    """Eight hex digits that name all that a saved result says, but for themselves.

    Keys in any order and numbers in any form (1, 1.0) give the same, and so do further
    keys, of users.

    Example:
        >>> one = checksum_of({"scores": [1, 2.5], "seed": 0})
        >>> one == checksum_of({"seed": 0.0, "scores": [1.0, 2.5], "checksum": "0"})
        True
    """
    total = hashlib.sha256()
    known = {f.name for f in fields(SavedScores)} | {"tags"}
    for key in sorted(known & document.keys() - {"checksum"}):
        value = document[key]
        # A large list may come entry by entry.
        several = isinstance(value, list | tuple | Iterator)
        for entry in value if several else [value]:
            text = json.dumps(_same_numbers(plain(entry)), sort_keys=True)
            total.update(f"{key}\0{several}\0{text}\n".encode())
    return total.hexdigest()[:8]


def _same_numbers(value: Any) -> Any:
    """A JSON value with each number as a float, and zero without a sign."""
    if isinstance(value, dict):
        return {key: _same_numbers(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_same_numbers(inner) for inner in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) + 0.0
    return value


def saved_scores(source: Any, text: str | None = None) -> SavedScores | None:
    """What a file holds, a fresh result, or its JSON value; None if it is no result.

    Args:
        source: A path, a `Result` or a mapping.
        text: The text of the file, where it was read before.

    Raises:
        InputError: It is a broken result, one that was changed after it was written,
            or broken JSON.
    """
    path: str | Path = "the result"
    document: Any = None
    if isinstance(source, Result):
        document = source.to_json()
    elif isinstance(source, Mapping):
        document = source
    elif isinstance(source, str | Path):
        path = source
        if text is None and file_type(path) != "folder":
            text = read_text(path)
        document = _json_object(text or "", path)

    if not isinstance(document, Mapping) or not document.keys() >= _KEYS:
        return None

    # A value of Python may hold arrays and records, a file only JSON's values.
    saved = as_type(
        SavedScores,
        plain(document) if document is source else document,
        what=BROKEN,
        path=path,
    )
    _check_rows(saved, path)
    if (computed := checksum_of(document)) != saved.checksum:
        raise InputError(
            f"was changed: its checksum is {saved.checksum}, that of its content "
            f"{computed}",
            path=path,
            expected=UNCHANGED,
        )
    return saved


def _json_object(text: str, path: str | Path) -> Any:
    """The JSON value of a text that is one object; None of lines, tables and texts."""
    if text.lstrip()[:1] != "{":
        return None

    try:
        return parse_json(text, path=path)
    except InputError as broken:
        # JSON Lines are no JSON: a first line that is whole shows that it is meant so.
        first_line = text.lstrip().split("\n", 1)[0]
        try:
            parse_json(first_line)
        except InputError:
            raise broken from None
        return None


def _check_rows(saved: SavedScores, path: str | Path) -> None:
    """Sees that a result with units has a row for each system and input, in order."""
    if not saved.units:
        return

    units = Units.of(saved.units)
    in_order = units.entries == saved.units and [*saved.names] == sorted(saved.names)
    cells = [(row.system, row.input) for row in saved.scores]
    if not in_order or cells != [*product(saved.names, saved.inputs)] or not cells:
        raise InputError(
            BROKEN, path=path, expected="one score a system and input, in their order"
        )
