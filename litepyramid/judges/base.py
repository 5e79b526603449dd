"""What a judge is: the one interface between units and models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from litepyramid.types import FloatArray


@dataclass(frozen=True, slots=True)
class JudgedBatch:
    """What a judge says of a list of (summary, units) items.

    Attributes:
        presence: One float64 array an item, one value in [0, 1] per unit, in the units' order.
        signature: The judge's part of the signature: name, revision, mode, maximum length …
        counts: What a user must be told: ``pairs``, ``truncated``, ``from_cache`` …
        logits: Per item the raw (units, 3) float64 logits in the order entailment, neutral,
            contradiction, if the judge is an NLI model; else None.
    """

    presence: tuple[FloatArray, ...]
    signature: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    logits: tuple[FloatArray, ...] | None = None


class Judge(Protocol):
    """Says how far each unit is present in a summary (premise = summary, hypothesis = unit)."""

    def judge(self, items: Sequence[tuple[str, Sequence[str]]]) -> JudgedBatch:
        """Judges every unit of every item against the item's summary.

        Args:
            items: (summary, units) pairs; one summary usually has many units, and the same
                summary or unit may come again.

        Returns:
            Presence in the order of `items`. An empty summary carries no unit: all zeros.
        """
        ...
