"""Saved results of `score` and `precision`: the one place that reads them.

A result is saved as JSON, plain or compressed (``.json.gz``). What a file is shows from
its content: its ending, and the case of it, do not matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.checked import as_type, parse_json
from litepyramid.errors import InputError
from litepyramid.files import file_type, read_text
from litepyramid.io.sources import check_path
from litepyramid.tables import Result, plain
from litepyramid.types import FloatArray, InputUnits, check_unique

EXPECTED = "a JSON file that `litepyramid score -o` wrote, perhaps compressed (.gz)"
BROKEN = "not a saved result of score"
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
        checksum: Of the numbers, the references and the signature
            (`ScoreResult.checksum`).
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
    references: tuple[tuple[tuple[str, ...], ...], ...] | None = None
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

    def column(self, name: str) -> FloatArray:
        """The (N, M) values of one key of the rows; NaN for null."""
        values = [getattr(row, name) for row in self.scores]
        array = np.array(values, dtype=np.float64)
        return array.reshape(len(self.systems), -1)

    def texts(self, name: str) -> tuple[tuple[Any, ...], ...] | None:
        """N rows of M values of one key, as they are; None where a row lacks it."""
        values = [getattr(row, name) for row in self.scores]
        if any(value is None for value in values):
            return None

        # Rows of the file are system after system, each with all inputs.
        width = len(self.units)
        starts = range(0, len(values), width)
        return tuple(tuple(values[at : at + width]) for at in starts)

    def per_unit(
        self, name: str, units: Sequence[InputUnits], path: str | Path
    ) -> list[list[Any]] | None:
        """N rows of a value for each unit, input after input; None where a row lacks
        them."""
        cells = self.texts(name)
        if cells is None:
            return None

        result = []
        for by_input in cells:
            row = []
            for entry, values in zip(units, by_input, strict=True):
                if len(values) != len(entry.units):
                    raise InputError(BROKEN, path=path, expected=f"{name} of each unit")
                row += values
            result.append(row)

        return result

    def presence(self, path: str | Path) -> FloatArray:
        """The (N, U) presence of each unit; NaN where there is no judgement."""
        values = self.per_unit("presence", self.units, path)
        if not self.units or values is None:
            raise InputError("holds no presence", path=path, expected=EXPECTED)

        presence = np.array(values, dtype=np.float64)
        known = presence[~np.isnan(presence)]
        if (known < 0).any() or (known > 1).any():
            raise InputError(
                "a presence outside 0 to 1", path=path, expected="numbers from 0 to 1"
            )
        return presence


def saved_scores(source: Any, text: str | None = None) -> SavedScores | None:
    """What a file holds, a fresh result, or its JSON value; None if it is no result.

    Args:
        source: A path, a `Result` or a mapping.
        text: The text of the file, where it was read before.

    Raises:
        InputError: It is a broken result, or broken JSON.
    """
    path: str | Path = "the result"
    document: Any = None
    if isinstance(source, Result):
        document = source.to_json()
    elif isinstance(source, Mapping):
        document = source
    elif isinstance(source, str | Path):
        path = source
        if text is None and file_type(check_path(path)) == "file":
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

    check_unique(saved.names, f"{path}: system")
    check_unique(saved.inputs, f"{path}: input")
    # All arrays are read from the rows by their place.
    cells = [(row.system, row.input) for row in saved.scores]
    expected = [*product(saved.names, saved.inputs)]
    if cells != expected or not cells:
        raise InputError(BROKEN, path=path, expected="one score a system and input")
