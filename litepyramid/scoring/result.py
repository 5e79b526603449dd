"""The result of `score`: scores of systems, down to each unit's presence."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.checked import json_parts
from litepyramid.errors import InputError
from litepyramid.io.columns import write_columns
from litepyramid.io.units import units_to_json
from litepyramid.scoring.compare import too_few_inputs
from litepyramid.scoring.groups import group_letters
from litepyramid.scoring.notes import count_notes
from litepyramid.scoring.nuggets import nugget_measures, nugget_table
from litepyramid.scoring.pyramid import UnitLayout, metric_title
from litepyramid.scoring.seen import Seen
from litepyramid.stats import system_means
from litepyramid.tables import Column, Result, Table, plain
from litepyramid.text import counted
from litepyramid.types import (
    FloatArray,
    InputUnits,
    IntArray,
    ScoreMatrix,
    Signature,
)

_UNITS = ("units", "label_units")


@dataclass(frozen=True)
class ScoreResult(Result):
    """Scores of systems, down to each unit's presence.

    Attributes:
        metric: ``lite2pyramid``, ``lite2.xpyramid``, ``lite3pyramid`` …, by the units' kinds.
        name: Its name next to other metrics; `metric` unless the user chooses another.
        systems: N names, in the order given.
        units: M inputs with their units.
        presence: (N, U) presence of every unit, input after input.
        values: (N, M) summary scores.
        intervals: N (low, high) bootstrap intervals of the system scores over inputs.
        groups: For each system, its rank groups (best is 1); systems that do not differ
            significantly share one.
        labels: (N, L) human labels of the labelled units, NaN rows for systems without labels; None
            if no labels were given.
        label_units: M inputs with the L units that labels refer to; None without labels.
        human: (N, M) human scores, with NaN likewise; None if no labels were given.
        counts: What was counted along the way: pairs, empty summaries, truncated pairs …
        confidence: Confidence level of the intervals.
        signature: Everything needed to reproduce the numbers.
        seen: The texts, and where the judge found each unit; None without evidence.
        spans: For each summary, system after system, the part that contains most of each unit, if
            long summaries were judged in parts (`JudgedBatch.spans`); else None.
    """

    metric: str
    name: str
    systems: tuple[str, ...]
    units: tuple[InputUnits, ...]
    presence: FloatArray = field(repr=False)
    values: FloatArray = field(repr=False)
    intervals: tuple[tuple[float, float], ...]
    groups: tuple[tuple[int, ...], ...]
    labels: FloatArray | None = field(repr=False)
    label_units: tuple[InputUnits, ...] | None
    human: FloatArray | None = field(repr=False)
    counts: Mapping[str, int]
    confidence: float
    signature: Signature
    spans: tuple[IntArray, ...] | None = field(default=None, repr=False)
    seen: Seen | None = field(default=None, repr=False)

    @property
    def inputs(self) -> tuple[str, ...]:
        """M ids."""
        return tuple(entry.input for entry in self.units)

    @property
    def matrix(self) -> ScoreMatrix:
        """The summary scores with names, for meta-evaluation."""
        return ScoreMatrix(self.name, self.systems, self.inputs, self.values)

    @property
    def human_matrix(self) -> ScoreMatrix | None:
        """The human scores with names; None if no labels were given."""
        if self.human is None:
            return None
        return ScoreMatrix("human", self.systems, self.inputs, self.human)

    @property
    def scores(self) -> dict[str, float]:
        """System scores, means over inputs (ZB21 §3.1)."""
        means = system_means(self.values)
        return {name: float(mean) for name, mean in zip(self.systems, means, strict=True)}

    @property
    def human_scores(self) -> dict[str, float]:
        """Human system scores; NaN for a system without labels, empty if none were given."""
        if self.human is None:
            return {}
        means = system_means(self.human)
        return {name: float(mean) for name, mean in zip(self.systems, means, strict=True)}

    @property
    def measures(self) -> dict[str, FloatArray]:
        """`nugget_measures`, (N, M) by name."""
        return nugget_measures(self.presence, self.units, self.labels, self.label_units)

    def to_tables(self) -> Sequence[Table]:
        """One row per system, best first; then the four scores of nuggets, if they are nuggets."""
        percent = f"{100 * self.confidence:g} %"
        columns = [
            Column("group"),
            Column("system"),
            Column("score"),
            Column("low", f"{percent} low"),
            Column("high", "high"),
        ]
        rows = []
        for index, name in ((i, self.systems[i]) for i in self._order()):
            row: list[str | int | float | None] = [
                group_letters(self.groups[index]),
                name,
                self.scores[name],
                *self.intervals[index],
            ]
            if self.human is not None:
                row.append(self.human_scores[name])
            rows.append(tuple(row))
        if self.human is not None:
            columns.append(Column("human"))
        named = "" if self.name == self.metric else f"{self.name}: "
        title = (
            f"{named}{metric_title(self.metric)} of {counted(len(self.systems), 'system')} on "
            f"{counted(len(self.units), 'input')} ({counted(self.presence.shape[1], 'unit')})"
        )
        table = Table(title, tuple(columns), tuple(rows), (*self._notes(), str(self.signature)))
        return [table, *nugget_table(self.measures, self.systems, self.units, self._order())]

    def _order(self) -> list[int]:
        return [int(i) for i in np.argsort(-system_means(self.values), kind="stable")]

    def _notes(self) -> list[str]:
        notes = []
        pairs = len(self.systems) * (len(self.systems) - 1) // 2
        if pairs:
            notes.append(
                "Systems that share a group do not differ significantly (α = .05, sign-flip test, "
                "Holm's correction)."
            )
            notes += too_few_inputs(len(self.units), pairs)
        return notes + count_notes(self.counts)

    def to_json(self) -> dict[str, Any]:
        """Everything, down to each unit's presence in each summary."""
        entries = self.json_entries()
        return {k: list(v) if k in (*_UNITS, "scores") else v for k, v in entries.items()}

    def json_entries(self) -> dict[str, Any]:
        """`to_json` with iterators for ``scores`` and units."""
        systems = []
        for index, name in enumerate(self.systems):
            low, high = self.intervals[index]
            entry = {"system": name, "score": self.scores[name], "low": low, "high": high}
            if self.human is not None:
                entry["human"] = self.human_scores[name]
            systems.append({**entry, "groups": self.groups[index]})
        told = self.seen.references if self.seen is not None else None
        references = [
            {"input": name, "references": own}
            for name, own in zip(self.inputs, told or (), strict=bool(told))
        ]
        return {
            "metric": self.metric,
            "name": self.name,
            "systems": systems,
            "scores": self._rows(),
            **{key: map(units_to_json, units) for key, units in self._units().items()},
            **({"references": references} if references else {}),
            "confidence": self.confidence,
            "counts": dict(self.counts),
            "signature": self.signature.to_json(),
        }

    def _rows(self) -> Iterator[dict[str, Any]]:
        bounds = UnitLayout.of(self.units).bounds
        labelled = UnitLayout.of(self.label_units or self.units).bounds
        measures, inputs = self._measures(), self.inputs
        for n, name in enumerate(self.systems):
            for m, (start, end) in enumerate(bounds):
                row: dict[str, Any] = {
                    "system": name,
                    "input": inputs[m],
                    "score": self.values[n, m],
                    "presence": self.presence[n, start:end],
                    **({"spans": self.spans[n * len(bounds) + m]} if self.spans else {}),
                }
                if self.human is not None and self.labels is not None:
                    row["human"] = self.human[n, m]
                    row["labels"] = self.labels[n, slice(*labelled[m])]
                row |= self.seen.row(n, m, start, end) if self.seen is not None else {}
                row |= {"measures": {k: v[n, m] for k, v in measures.items()}} if measures else {}
                yield row

    def _measures(self) -> dict[str, FloatArray]:
        return {name: v for name, v in self.measures.items() if name != self.name}

    def to_columns(self, path: str | Path, form: str = "folder") -> None:
        """Writes what `to_json` holds with the scores as arrays (`io.columns.write_columns`).

        Args:
            path: The file, or the folder.
            form: ``folder``, ``npz`` or ``parquet``.

        Raises:
            InputError: The result has evidence or spans, which can only be saved in JSON.
            MissingExtraError: pyarrow is not installed, for parquet.
        """
        if self.seen is not None or self.spans is not None:
            raise InputError("evidence as columns", path=path, expected="JSON (--format json)")
        own = {key: v for key, v in self.json_entries().items() if key not in (*_UNITS, "scores")}
        texts: dict[str, Iterable[str]] = {
            key: (json.dumps(units_to_json(entry), ensure_ascii=False) + "\n" for entry in units)
            for key, units in self._units().items()
        }
        texts["result"] = json_parts({**own, "inputs": self.inputs}, plain)
        named = {"score": self.values, "presence": self.presence}
        given = {"human": self.human, "labels": self.labels}
        write_columns(path, form, texts, {**self._measures(), **named, **given})

    def _units(self) -> dict[str, tuple[InputUnits, ...]]:
        own = self.label_units
        return {"units": self.units} | (
            {} if own is None or own == self.units else {"label_units": own}
        )

    def to_html(self, path: str | Path | None = None) -> str:
        """The result as one self-contained page (`report.page.score_page`), written to `path`."""
        # By name: pages stand above what they show.
        page = import_module("litepyramid.report.page")
        return str(page.score_page(self, path))
