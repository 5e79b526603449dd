"""From summaries and units to scores of systems: judge, weigh, average, compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from litepyramid.errors import InputError
from litepyramid.io.units import units_to_json
from litepyramid.judges.base import Judge, JudgedBatch, judged
from litepyramid.scoring.compare import system_intervals, too_few_inputs
from litepyramid.scoring.groups import group_letters, rank_groups
from litepyramid.scoring.labels import align_labels
from litepyramid.scoring.notes import count_notes
from litepyramid.scoring.nuggets import nugget_measures, nugget_table
from litepyramid.scoring.pyramid import ScoringRule, UnitLayout, metric_title
from litepyramid.stats import system_means
from litepyramid.tables import Column, Result, Table
from litepyramid.text import counted
from litepyramid.types import (
    FloatArray,
    InputUnits,
    IntArray,
    ScoreMatrix,
    Signature,
    SystemLabels,
    SystemSummaries,
    check_unique,
    fingerprint,
    unit_hashes,
    unit_kinds,
)


@dataclass(frozen=True)
class ScoreResult(Result):
    """Scores of systems, down to each unit's presence.

    Attributes:
        metric: ``lite2pyramid``, ``lite2.xpyramid``, ``lite3pyramid`` …, by the units' kinds.
        name: What it is called beside other metrics; `metric` unless the user says otherwise.
        systems: N names, in the order given.
        units: M inputs with their units.
        presence: (N, U) presence of every unit, inputs one after the other.
        values: (N, M) summary scores.
        intervals: N (low, high) bootstrap intervals of the system scores over inputs.
        groups: Per system its rank groups (best is 1); systems that do not differ significantly
            share one.
        labels: (N, L) human labels of the labelled units, NaN rows for systems without; None if
            no labels were given.
        label_units: M inputs with the L units that labels are of; None without labels.
        human: (N, M) human scores, NaN likewise; None if no labels were given.
        counts: What was counted on the way: pairs, empty summaries, truncated pairs …
        confidence: Confidence level of the intervals.
        signature: Everything needed to get the same numbers.
        spans: Per summary, systems one after the other, where each unit was found in most, if long
            summaries were judged in parts (`JudgedBatch.spans`); else None.
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

    @property
    def inputs(self) -> tuple[str, ...]:
        """M ids."""
        return tuple(entry.input for entry in self.units)

    @property
    def matrix(self) -> ScoreMatrix:
        """The summary scores with names, as meta-evaluation takes them."""
        return ScoreMatrix(self.name, self.systems, self.inputs, self.values)

    @property
    def human_matrix(self) -> ScoreMatrix | None:
        """The human scores with names; None if no labels were given."""
        if self.human is None:
            return None
        return ScoreMatrix("human", self.systems, self.inputs, self.human)

    @property
    def scores(self) -> dict[str, float]:
        """System scores: the mean over inputs (ZB21 §3.1)."""
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
        """One row a system, best first; then the four scores of nuggets, if they are nuggets."""
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
        bounds = UnitLayout.of(self.units).bounds
        labelled = UnitLayout.of(self.label_units or self.units).bounds
        measures = {name: v for name, v in self.measures.items() if name != self.name}
        systems = []
        for index, name in enumerate(self.systems):
            low, high = self.intervals[index]
            entry = {"system": name, "score": self.scores[name], "low": low, "high": high}
            if self.human is not None:
                entry["human"] = self.human_scores[name]
            systems.append({**entry, "groups": self.groups[index]})
        rows = []
        for n, name in enumerate(self.systems):
            for m, (start, end) in enumerate(bounds):
                row: dict[str, Any] = {
                    "system": name,
                    "input": self.inputs[m],
                    "score": self.values[n, m],
                    "presence": self.presence[n, start:end],
                    **({"spans": self.spans[n * len(bounds) + m]} if self.spans else {}),
                }
                if self.human is not None and self.labels is not None:
                    row["human"] = self.human[n, m]
                    row["labels"] = self.labels[n, slice(*labelled[m])]
                row |= {"measures": {k: v[n, m] for k, v in measures.items()}} if measures else {}
                rows.append(row)
        others = {} if self.label_units in (None, self.units) else {"label_units": self.label_units}
        return {
            "metric": self.metric,
            "name": self.name,
            "systems": systems,
            "scores": rows,
            **{
                key: [units_to_json(entry) for entry in units]
                for key, units in {"units": self.units, **others}.items()
            },
            "confidence": self.confidence,
            "counts": dict(self.counts),
            "signature": self.signature.to_json(),
        }


def judge_systems(
    summaries: Sequence[SystemSummaries], units: Sequence[InputUnits], judge: Judge
) -> tuple[FloatArray, JudgedBatch]:
    """Judges every unit of every input against every system's summary.

    Returns:
        (N, U) presence, systems in the order given and inputs one after the other; and what the
        judge says of itself.

    Raises:
        InputError: A system's inputs are not those of the units, in the same order.
    """
    names = tuple(entry.input for entry in units)
    items: list[tuple[str, Sequence[str]]] = []
    for system in summaries:
        if system.inputs != names:
            raise InputError(
                f"the inputs of system '{system.system}' are not those of the units",
                expected=f"{counted(len(names), 'input')} in the units' order",
            )
        items += [(text, entry.texts) for text, entry in zip(system.texts, units, strict=True)]
    found = judged(judge, items)
    total = sum(len(entry.units) for entry in units)
    return np.concatenate(found.presence).reshape(len(summaries), total), found


def score_systems(
    summaries: Sequence[SystemSummaries],
    units: Sequence[InputUnits],
    judge: Judge,
    *,
    labels: Sequence[SystemLabels] | None = None,
    label_units: Sequence[InputUnits] | None = None,
    name: str | None = None,
    rule: ScoringRule | None = None,
    samples: int = 10_000,
    confidence: float = 0.95,
    seed: int = 12345,
    about_units: Mapping[str, str] | None = None,
) -> ScoreResult:
    """Scores systems by the units of the references that their summaries carry (ZB21 §3).

    A summary's score is the weighted mean presence of its input's units, a system's score the
    mean over inputs: Lite2Pyramid on SCUs, Lite3Pyramid on STUs, Lite2.x on a mix.

    Args:
        summaries: One entry a system, its inputs those of `units` in the same order.
        units: One entry an input.
        judge: Says how far a unit is present in a summary.
        labels: Human presence labels; systems are matched by name.
        label_units: The units that the labels are of, of the same inputs in the same order, where
            they are not `units`: human labels of SCUs beside scores on STUs.
        name: What the metric is called beside others, in place of the score's name.
        rule: Another way from presence to scores than the weighted mean.
        samples: Bootstrap samples.
        confidence: Confidence level of the intervals.
        seed: Seed of everything random.
        about_units: How the units were made, for the signature.

    Returns:
        Scores of systems, summaries and units, with intervals over inputs and rank groups.

    Raises:
        InputError: No systems, twice the same system, or inputs that do not match.

    Example:
        >>> from litepyramid.types import Unit
        >>> from litepyramid.judges.registry import make_judge
        >>> units = [InputUnits("1", (Unit("A storm hit Oslo."), Unit("Two people died.")))]
        >>> system = SystemSummaries("mine", ("1",), ("A storm hit Oslo on Monday.",))
        >>> score_systems([system], units, make_judge("recall")).scores
        {'mine': 0.5}
    """
    systems = [system.system for system in summaries]
    check_systems(systems)
    presence, found = judge_systems(summaries, units, judge)
    empty = sum(not text for system in summaries for text in system.texts)
    return score_presence(
        systems,
        units,
        presence,
        replace(found, counts={**found.counts, "empty_summaries": empty}),
        labels=labels,
        label_units=label_units,
        name=name,
        rule=rule,
        samples=samples,
        confidence=confidence,
        seed=seed,
        about_units=about_units,
    )


def check_systems(systems: Sequence[str]) -> None:
    """Raises InputError unless there are systems, each with a name of its own."""
    if not systems:
        raise InputError("no systems", expected="the summaries of at least one system")
    check_unique(systems, "system")


def score_presence(
    systems: Sequence[str],
    units: Sequence[InputUnits],
    presence: FloatArray,
    batch: JudgedBatch,
    *,
    labels: Sequence[SystemLabels] | None = None,
    label_units: Sequence[InputUnits] | None = None,
    name: str | None = None,
    rule: ScoringRule | None = None,
    samples: int = 10_000,
    confidence: float = 0.95,
    seed: int = 12345,
    about_units: Mapping[str, str] | None = None,
) -> ScoreResult:
    """Scores systems whose units have been judged, by whatever engine.

    Args:
        systems: N names.
        units: One entry an input.
        presence: (N, U) presence of every unit, inputs one after the other.
        batch: The judge's signature and counts.
        labels: Human presence labels; systems are matched by name.
        label_units: The units that the labels are of, of the same inputs in the same order, where
            they are not `units`: human labels of SCUs beside scores on STUs.
        name: What the metric is called beside others, in place of the score's name.
        rule: Another way from presence to scores than the weighted mean.
        samples: Bootstrap samples.
        confidence: Confidence level of the intervals.
        seed: Seed of everything random.
        about_units: How the units were made, for the signature.

    Raises:
        InputError: Labels that do not match.
    """
    systems = tuple(systems)
    rule = rule or ScoringRule()
    layout = UnitLayout.of(units)
    values, counts = rule.apply(presence, layout, seed)
    counts = {**batch.counts, **counts}
    flat_labels = human = labelled = None
    about = {**(about_units or {}), "units": unit_kinds(units)}
    about |= {**batch.signature, **unit_hashes(units)}
    if labels is not None:
        labelled = tuple(units if label_units is None else label_units)
        label_layout = UnitLayout.of(labelled)
        if label_layout.inputs != layout.inputs:
            raise InputError(
                "the labels' units are of other inputs than the units",
                expected=f"{counted(len(layout.inputs), 'input')} in the units' order",
            )
        flat_labels, label_counts = align_labels(labels, systems, label_layout)
        human = np.full(values.shape, np.nan)
        known = ~np.isnan(flat_labels).all(axis=1)
        human[known] = rule.apply(flat_labels[known], label_layout, seed)[0]
        counts |= label_counts
        counts["inputs_without_labels"] = int(np.isnan(human[known]).any(axis=0).sum())
        known_labels = np.nan_to_num(flat_labels, nan=-1).tolist()
        about["labels_sha"] = fingerprint([unit_hashes(labelled), *known_labels])
    gaps = layout.sums(np.isnan(presence).astype(np.float64)) > 0
    if gaps.any():
        counts["summaries_not_scored"] = int(gaps.sum())
    if unscored := int((np.isnan(values) & ~gaps).all(axis=0).sum()):
        counts["inputs_not_scored"] = unscored
    signature = Signature.of(
        **about,
        rule=rule.signature(),
        truncated=batch.counts.get("truncated"),
        missing=batch.counts.get("missing") or None,
        k=samples,
        seed=seed,
    )
    metric = rule.metric(units)
    if name == "human":
        raise InputError("the name 'human' is that of the human score", expected="another name")
    return ScoreResult(
        metric=metric,
        name=name or metric,
        systems=systems,
        units=tuple(units),
        presence=presence,
        values=values,
        intervals=tuple(
            system_intervals(values, samples=samples, confidence=confidence, seed=seed)
        ),
        groups=tuple(rank_groups(values)),
        labels=flat_labels,
        label_units=labelled,
        human=human,
        counts=counts,
        confidence=confidence,
        signature=signature,
        spans=batch.spans,
    )
