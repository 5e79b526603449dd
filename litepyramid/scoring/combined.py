"""Human scores of systems, from people's labels and a judge: what `combine` gives."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from litepyramid.scoring.estimates import Target
from litepyramid.scoring.inference import MEASURES, group_letters
from litepyramid.scoring.pyramid import metric_title
from litepyramid.scoring.sampled import Spread
from litepyramid.tables import Column, Result, Table, row
from litepyramid.text import counted
from litepyramid.types import Signature, Texts


@dataclass(frozen=True, kw_only=True)
class Combined:
    """What labels and judge combined say of a mean, with its interval (low, high).

    Attributes:
        alone: The same from the labels alone, with that interval.
        weight: λ, how much the judge counts; 0: the labels alone.
        labels: How many inputs are labelled, of a pair for both.
        saved: How many more labelled inputs the labels alone would need for as short an
            interval.
    """

    low: float
    high: float
    alone: float
    alone_low: float
    alone_high: float
    weight: float
    labels: int
    saved: float


@dataclass(frozen=True, kw_only=True)
class CombinedScore(Combined):
    """The human score of a system; the judge's own, over all inputs; its rank groups,
    from 1."""

    system: str
    score: float
    judge: float
    groups: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class CombinedPair(Combined):
    """The difference of two systems, the first one better, estimated with a λ of its
    own.

    Attributes:
        p: Two-sided p of no difference (t-test).
        p_holm: The same after Holm's correction over all pairs.
    """

    first: str
    second: str
    difference: float
    p: float
    p_holm: float


@dataclass(frozen=True)
class CombinedScores(Result):
    """Human scores of systems, best first, and their differences, the largest first.

    Of `inputs`, `labels` have labels for some system; where single facts or summaries
    were drawn (`spread`), `labels` are facts. Intervals are for the `target`.
    """

    metric: str
    systems: tuple[CombinedScore, ...]
    pairs: tuple[CombinedPair, ...]
    inputs: int
    labels: int
    target: Target
    confidence: float
    alpha: float
    signature: Signature
    spread: Spread = "inputs"
    notes: Texts = ()

    @property
    def scores(self) -> dict[str, float]:
        """The estimated human score of each system, best first."""
        return {entry.system: entry.score for entry in self.systems}

    def to_tables(self) -> Sequence[Table]:
        """One row per system; then the differences."""
        percent = f"{100 * self.confidence:g} %"
        weights = [entry.weight for entry in self.systems]
        saved = np.median([entry.saved for entry in self.systems])
        of = "new inputs have"
        if self.target == "inputs":
            of = "labels on all inputs would give"
        labelled = "inputs" if self.spread == "inputs" else "facts"
        notes = [
            *self.notes,
            f"score: labels and judge combined; alone: labels only. {percent} "
            f"intervals for the scores that {of}. What is labelled is assumed to be "
            "a random sample.",
            f"The judge is worth {saved:.0f} more labelled {labelled} (median).",
        ]

        if unused := weights.count(0):
            told = f"For {counted(unused, 'system')} the judge does not help"
            notes.append(f"{told}: only the labels are taken.")

        if min(weights) < 0:
            notes.append("λ < 0: the judge disagrees with the labels; check it.")
        if self.pairs:
            notes.append(
                "Systems that share a group do not differ significantly (α = "
                f"{self.alpha:g}, t-test of the combined differences, Holm's "
                "correction)."
            )

        columns = (
            "group",
            "system",
            "score",
            "low",
            "high",
            "alone",
            Column("alone_low", "low"),
            Column("alone_high", "high"),
            "judge",
            Column("weight", "λ", digits=2),
            Column("saved", digits=0),
        )
        rows = [row(entry, group=group_letters(entry.groups)) for entry in self.systems]
        systems = counted(len(self.systems), "system")
        inputs = counted(self.inputs, "input")
        of_facts = "" if self.spread == "inputs" else " facts"
        title = (
            f"Human scores of {systems} on {inputs}, from labels on "
            f"{self.labels}{of_facts} and {metric_title(self.metric)}"
        )

        notes.append(str(self.signature))
        return [Table.of(title, columns, rows, notes, 2), *self._differences()]

    def _differences(self, limit: int = 10) -> list[Table]:
        if not self.pairs:
            return []
        columns = (
            "first",
            "second",
            *MEASURES[:3],
            Column("alone_low", "alone low", signed=True),
            Column("alone_high", "high", signed=True),
            MEASURES[-1],
        )
        significant = sum(pair.p_holm < self.alpha for pair in self.pairs)
        note = (
            f"{significant} of {counted(len(self.pairs), 'pair')} differ significantly."
        )
        title = "Differences"
        if len(self.pairs) > limit:
            title = f"The {limit} largest differences"
        return [Table.of(title, columns, self.pairs[:limit], (note,))]

    def to_figure(self) -> Any:
        """One line per system: labels and judge combined, below it the labels alone."""
        from litepyramid.figures.score_plots import score_figure

        return score_figure(
            [entry.system for entry in self.systems],
            [(entry.score, entry.low, entry.high) for entry in self.systems],
            [entry.groups for entry in self.systems],
            label="labels and judge",
            below=[(e.alone, e.alone_low, e.alone_high) for e in self.systems],
            below_label="labels alone",
            confidence=self.confidence,
            what="human score",
        )
