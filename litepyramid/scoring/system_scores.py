"""Scores of systems on inputs, whatever they are scores of: means, intervals,
groups."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from litepyramid.data.scores import Scores
from litepyramid.errors import choose
from litepyramid.scoring.inference import group_letters, short_intervals
from litepyramid.scoring.pyramid import metric_title
from litepyramid.stats import Repeats, system_means
from litepyramid.tables import Column, Result, Table
from litepyramid.text import counted, cut
from litepyramid.types import (
    Ends,
    Fields,
    FloatArray,
    Names,
    Signature,
    Texts,
)

# What was counted: one of it, several, and what that means.
_WORDING = {
    "empty_summaries": "empty summary: it holds|empty summaries: they hold|no unit",
    "missing_summaries": "summary is|summaries are|missing; they are not scored",
    "truncated": "pair was|pairs were|truncated to the judge's maximum length",
    "split": "pair was|pairs were|judged in parts of the summary; the best counts",
    "missing": "pair has|pairs have|no judgement",
    "summaries_without_precision": "summary has|summaries have|no unit, and no "
    "precision",
    "systems_without_labels": "system has|systems have|no human labels",
    "labels_not_used": "set of labels is|sets of labels are|of systems not scored here",
    "inputs_with_fewer_units_than_sample": "input has|inputs have|fewer units than "
    "the sample",
    "inputs_without_labels": (
        "input lacks|inputs lack|human labels: the human score is over the others"
    ),
    "units_without_labels": "unit of a labelled summary has|units of labelled "
    "summaries have|no label",
    "inputs_not_scored": "input has|inputs have|no score: the ideal summary holds no "
    "SCU",
}


def repeat_notes(repeats: Repeats) -> list[str]:
    """A note on each system whose answers to an input were averaged: how far they are
    apart."""
    notes = []
    for n, system in enumerate(repeats.systems):
        if repeats.most[n] > 1:
            notes.append(
                f"'{cut(system)}' gave up to {repeats.most[n]} answers to an input, "
                "which are averaged; the score of a single one varies around the mean "
                f"of its input with a standard deviation of {repeats.spread[n]:.3f}."
            )
    return notes


@dataclass(frozen=True, kw_only=True)
class SystemScores(Result):
    """Scores of N systems on M inputs, as `score` and `precision` give them.

    Attributes:
        metric: ``lite2pyramid``, ``lite2.xpyramid``, ``lite3pyramid`` …, by the units'
            kinds; or
            ``precision``, ``f1``, ``faithfulness``.
        name: Its name next to other metrics; `metric` unless the user chooses another.
        values: (N, M) scores of summaries; NaN = not scored.
        intervals: N (low, high) bootstrap intervals of the system scores over inputs.
        groups: For each system, its rank groups (best is 1); systems that do not differ
            significantly share one.
        counts: What was counted along the way: pairs, empty summaries, truncated pairs
            …
        samples: Bootstrap samples of the intervals, drawn with `seed`.
        signature: Everything needed to reproduce the numbers.
        notes: What was noticed in the data.
    """

    brief: ClassVar = 0

    metric: str
    name: str
    systems: Names
    inputs: Names
    values: FloatArray
    intervals: tuple[Ends, ...]
    groups: tuple[tuple[int, ...], ...]
    counts: Mapping[str, int]
    confidence: float
    samples: int
    seed: int
    signature: Signature
    notes: Texts = ()

    def __getitem__(self, system: str) -> float:
        """The score of one system."""
        if system not in self.systems:
            choose("system", system, self.systems)
        return self.scores[system]

    @property
    def table(self) -> Scores:
        """The summary scores with names, as `compare` and meta-evaluation take them."""
        return Scores.of({self.name: self.values}, self.systems, self.inputs)

    @property
    def scores(self) -> dict[str, float]:
        """System scores, means over the scored inputs (ZB21 §3.1)."""
        return self._means(self.values)

    @property
    def order(self) -> list[int]:
        """Places of the systems, best first; those without a score last."""
        return [int(i) for i in np.argsort(-system_means(self.values), kind="stable")]

    @property
    def beside(self) -> dict[str, dict[str, float]]:
        """What is shown beside each system's score, by name."""
        return {}

    def _means(self, values: FloatArray) -> dict[str, float]:
        return dict(zip(self.systems, system_means(values).tolist(), strict=True))

    def system_rows(self) -> list[Fields]:
        """Each system's score, what is beside it, its interval and groups."""
        columns = {"score": self.scores, **self.beside}
        rows = []
        for n, name in enumerate(self.systems):
            row: Fields = {"system": name}
            for key, column in columns.items():
                row[key] = column[name]
            row["low"], row["high"] = self.intervals[n]
            row["groups"] = self.groups[n]
            rows.append(row)

        return rows

    def _ranked(self) -> list[Fields]:
        """The same, best first, groups as letters."""
        rows = self.system_rows()
        ranked = []
        for n in self.order:
            ranked.append({**rows[n], "group": group_letters(self.groups[n])})
        return ranked

    def to_tables(self) -> Sequence[Table]:
        """One row per system, best first."""
        named = "" if self.name == self.metric else f"{self.name}: "
        systems = counted(len(self.systems), "system")
        inputs = counted(len(self.inputs), "input")
        title = f"{named}{metric_title(self.metric)} of {systems} on {inputs}"

        names: Any = (
            "group",
            "system",
            "score",
            Column("low", f"{100 * self.confidence:g} % low"),
            "high",
            *self.beside,
        )
        notes = (*self._notes(), str(self.signature))
        return [Table.of(title, names, self._ranked(), notes)]

    def _notes(self) -> list[str]:
        """A sentence on short intervals, and for each thing that was counted."""
        notes = short_intervals(len(self.inputs))
        for key, text in _WORDING.items():
            one, many, rest = text.split("|")
            if number := self.counts.get(key):
                notes.append(f"{counted(number, one, many)} {rest}.")
        return [*notes, *self.notes]

    def to_figure(self) -> Any:
        """One line per system, best first: score, interval, rank groups, what is beside
        it."""
        from litepyramid.figures.score_plots import score_figure

        rows = self._ranked()
        # Beside the judge's score stands that of people.
        points = {}
        for name in self.beside:
            if name != "clipped":  # which is the score but for what is outside 0 and 1
                points[name] = [row[name] for row in rows]

        return score_figure(
            [row["system"] for row in rows],
            [(row["score"], row["low"], row["high"]) for row in rows],
            [row["groups"] for row in rows],
            label=metric_title(self.metric),
            points=points,
            confidence=self.confidence,
        )

    def _document(self) -> Fields:
        """What is saved but for the scores by input; systems in their order."""
        return {
            "metric": self.metric,
            "name": self.name,
            "systems": self.system_rows(),
            "confidence": self.confidence,
            "samples": self.samples,
            "seed": self.seed,
            "counts": dict(self.counts),
            "signature": self.signature.to_json(),
            **({"notes": self.notes} if self.notes else {}),
        }
