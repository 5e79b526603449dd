"""What a judge is: the one interface between units and models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from litepyramid.types import FloatArray

Items = Sequence[tuple[str, Sequence[str]]]
"""(summary, units) pairs."""

_WINDOW = 65_536


class UnsentError(Exception):
    """A judge that was asked for an estimate alone has one, as `result`, and judged nothing."""

    def __init__(self, result: Any) -> None:
        self.result = result
        super().__init__(repr(result))


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

    def judge(self, items: Items) -> JudgedBatch:
        """Judges every unit of every item against the item's summary.

        Args:
            items: (summary, units) pairs; one summary usually has many units, and the same
                summary or unit may come again.

        Returns:
            Presence in the order of `items`. An empty summary carries no unit: all zeros.
        """
        ...


def windows(items: Items) -> Iterator[Items]:
    """The items in runs of about as many pairs as are held in memory at once."""
    start = pairs = 0
    for index, (_, units) in enumerate(items):
        pairs += len(units)
        if pairs >= _WINDOW:
            yield items[start : index + 1]
            start, pairs = index + 1, 0
    if start < len(items):
        yield items[start:]


def note_kept(stop: KeyboardInterrupt, judged: int, cache: Path | None) -> None:
    """Adds to what Ctrl-C raises how many judgements the cache has kept."""
    if judged and cache is not None:
        many = "judgement" if judged == 1 else "judgements"
        stop.add_note(f"{judged:,} {many} kept in {cache}")
