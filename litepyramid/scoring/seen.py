"""What was judged, and where the judge found each unit: for pages and for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from litepyramid.judges.base import Evidence, Judge
from litepyramid.judges.evidence import gather
from litepyramid.types import InputReferences, InputUnits, SystemSummaries


@dataclass(frozen=True, slots=True)
class Seen:
    """The texts that were judged, and where the judge found each unit.

    Attributes:
        summaries: (N, M) the summaries.
        evidence: (N, U) where a unit was found; a sentence of -1 is nowhere.
        references: M inputs with their references, each a tuple of sentences; None if not given.
    """

    summaries: tuple[tuple[str, ...], ...]
    evidence: tuple[tuple[Evidence, ...], ...]
    references: tuple[tuple[tuple[str, ...], ...], ...] | None = None

    def row(self, n: int, m: int, start: int, end: int) -> dict[str, Any]:
        """System n's summary of input m, and the evidence of its units, as JSON."""
        found = [
            {"sentence": e.sentence, "span": list(e.span), "presence": e.presence}
            | ({"conflict": e.conflict} if e.conflict else {})
            | ({"missing": list(e.missing)} if e.missing else {})
            if e.sentence >= 0
            else None
            for e in self.evidence[n][start:end]
        ]
        return {"summary": self.summaries[n][m], "evidence": found}


def look(
    judge: Judge,
    summaries: Sequence[SystemSummaries],
    units: Sequence[InputUnits],
    references: Sequence[InputReferences] | None = None,
) -> Seen:
    """Asks a judge where it finds every unit in every summary (`judges.evidence.gather`)."""
    items = [
        (text, entry.texts)
        for system in summaries
        for text, entry in zip(system.texts, units, strict=True)
    ]
    found, size = gather(judge, items), len(units)
    by_input = {entry.input: entry.references for entry in references or ()}
    return Seen(
        tuple(tuple(system.texts) for system in summaries),
        tuple(
            tuple(e for own in found[n * size : (n + 1) * size] for e in own)
            for n in range(len(summaries))
        ),
        tuple(by_input.get(entry.input, ()) for entry in units) if references else None,
    )
