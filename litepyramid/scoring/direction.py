"""Precision and F1: whether a summary's content is in the reference or the source."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from litepyramid.errors import InputError
from litepyramid.judges.base import Judge, judged
from litepyramid.scoring.compare import system_intervals
from litepyramid.scoring.groups import group_letters, rank_groups
from litepyramid.scoring.notes import count_notes
from litepyramid.scoring.result import ScoreResult
from litepyramid.scoring.score import check_systems
from litepyramid.stats import system_means
from litepyramid.tables import Column, Result, Table
from litepyramid.text import counted
from litepyramid.types import (
    FloatArray,
    InputReferences,
    InputUnits,
    ScoreMatrix,
    Signature,
    SystemSummaries,
    fingerprint,
)

Direction = Literal["precision", "f1"]
Extractor = Callable[[Sequence[InputReferences]], Sequence[InputUnits]]


@dataclass(frozen=True, slots=True)
class DirectionResult(Result):
    """Precision or F1 of systems.

    Attributes:
        metric: ``precision`` or ``f1``; ``faithfulness`` if the premise is the source.
        systems: N names.
        inputs: M ids.
        values: (N, M) scores; NaN = not scored.
        precision: (N, M) mean presence of each summary's units in its premise; NaN where the
            summary has no unit, or a judgement is missing.
        recall: (N, M), for F1; else None.
        units: For each system and input, the summary's units.
        intervals: N (low, high) bootstrap intervals over inputs.
        groups: For each system, its rank groups.
        counts: What was counted along the way.
        confidence: Confidence level of the intervals.
        signature: Everything needed to reproduce the numbers.
    """

    metric: str
    systems: tuple[str, ...]
    inputs: tuple[str, ...]
    values: FloatArray
    precision: FloatArray
    recall: FloatArray | None
    units: tuple[tuple[tuple[str, ...], ...], ...] = field(repr=False)
    intervals: tuple[tuple[float, float], ...]
    groups: tuple[tuple[int, ...], ...]
    counts: Mapping[str, int]
    confidence: float
    signature: Signature

    @property
    def matrix(self) -> ScoreMatrix:
        """The summary scores with names, as `compare_systems` and meta-evaluation take them."""
        return ScoreMatrix(self.metric, self.systems, self.inputs, self.values)

    @property
    def scores(self) -> dict[str, float]:
        """System scores, means over the scored inputs."""
        return dict(zip(self.systems, system_means(self.values).tolist(), strict=True))

    def to_tables(self) -> Sequence[Table]:
        """One row per system, best first."""
        names = ("group", "system", self.metric, "low", "high")
        extra = () if self.recall is None else ("precision", "recall")
        more = [] if self.recall is None else [self.precision, self.recall]
        means = [system_means(values) for values in (self.values, *more)]
        rows = [
            (
                group_letters(self.groups[n]),
                self.systems[n],
                float(means[0][n]),
                *self.intervals[n],
                *(float(other[n]) for other in means[1:]),
            )
            for n in np.argsort(-means[0], kind="stable").tolist()
        ]
        title = f"{self.metric} of {counted(len(self.systems), 'system')} on "
        title += counted(len(self.inputs), "input")
        notes = (*count_notes(self.counts), str(self.signature))
        return [Table(title, tuple(map(Column, (*names, *extra))), tuple(rows), notes)]

    def to_json(self) -> dict[str, Any]:
        """Scores by summary, in the rows that `compare` and `meta` read."""
        rows = [
            {"system": system, "input": name, "score": self.values[n, m], "units": self.units[n][m]}
            for n, system in enumerate(self.systems)
            for m, name in enumerate(self.inputs)
        ]
        systems = [
            {"system": name, "score": self.scores[name], "low": low, "high": high}
            for name, (low, high) in zip(self.systems, self.intervals, strict=True)
        ]
        return {
            "metric": self.metric,
            "name": self.metric,
            "systems": systems,
            "scores": rows,
            "confidence": self.confidence,
            "counts": dict(self.counts),
            "signature": self.signature.to_json(),
        }


def score_precision(
    summaries: Sequence[SystemSummaries],
    premises: Sequence[Sequence[str]],
    extract: Extractor,
    judge: Judge,
    *,
    recall: ScoreResult | None = None,
    source: bool = False,
    samples: int = 10_000,
    confidence: float = 0.95,
    seed: int = 12345,
    about: Mapping[str, str] | None = None,
) -> DirectionResult:
    """Precision: the mean presence of a summary's units in its premise; F1 with recall.

    The mirror of Lite3Pyramid (ZB21 §3.2): units are extracted from the summary as they are from
    references, and judged against each premise of its input; a unit's presence is that in the
    premise it is in most. F1 = 2 P R / (P + R), 0 where both are 0. A summary that is empty, or
    has no unit, has no precision; the F1 of an empty one is 0.

    Args:
        summaries: N systems on the same M inputs.
        premises: Per input its references, or its documents.
        extract: Units of texts.
        judge: Says how far a unit is in a premise.
        recall: What `score_systems` says of the same summaries; then the score is F1.
        source: Whether the premises are what was summarised: the score is faithfulness then.
        samples: Bootstrap samples.
        confidence: Confidence level of the intervals.
        seed: Seed of the bootstrap.
        about: How the units were made, for the signature.

    Raises:
        InputError: No systems, or other systems or inputs than those of `recall`.
    """
    systems = tuple(system.system for system in summaries)
    check_systems(systems)
    inputs = summaries[0].inputs
    if any(system.inputs != inputs for system in summaries) or len(premises) != len(inputs):
        raise InputError("the systems' inputs differ", expected="the inputs of the premises")
    if recall is not None and (recall.systems, recall.inputs) != (systems, inputs):
        raise InputError("recall for other systems or inputs", expected="the same summaries")
    texts = [text for system in summaries for text in system.texts]
    full = [n for n, text in enumerate(texts) if text.strip()]
    made = (
        extract([InputReferences(str(n), ((texts[n],),), (False,)) for n in full]) if full else ()
    )
    own = {int(entry.input): entry.texts for entry in made}
    items = [(premise, own[n]) for n in full for premise in premises[n % len(inputs)] if own.get(n)]
    said = judged(judge, items)
    best: dict[int, FloatArray] = {}
    places = [n for n in full for _ in premises[n % len(inputs)] if own.get(n)]
    for n, presence in zip(places, said.presence, strict=True):
        best[n] = np.maximum(best[n], presence) if n in best else presence
    flat = np.array([best[n].mean() if n in best else np.nan for n in range(len(texts))])
    shape = (len(systems), len(inputs))
    precision = values = flat.reshape(shape)
    if recall is not None:
        with np.errstate(invalid="ignore", divide="ignore"):
            values = 2 * precision * recall.values / (precision + recall.values)
        values = np.where((precision == 0) & (recall.values == 0), 0.0, values)
        values[np.isin(np.arange(len(texts)), full, invert=True).reshape(shape)] = 0.0
    metric = "f1" if recall is not None else "faithfulness" if source else "precision"
    unscored = int(np.isnan(values).sum())
    return DirectionResult(
        metric=metric,
        systems=systems,
        inputs=tuple(inputs),
        values=values,
        precision=precision,
        recall=None if recall is None else recall.values,
        units=tuple(
            tuple(tuple(own.get(n * len(inputs) + m, ())) for m in range(len(inputs)))
            for n in range(len(systems))
        ),
        intervals=tuple(
            system_intervals(values, samples=samples, confidence=confidence, seed=seed)
        ),
        groups=tuple(rank_groups(values)),
        counts={**said.counts, "summaries_without_precision": unscored},
        confidence=confidence,
        signature=Signature.of(
            direction=metric,
            premise="documents" if source else "references",
            **(about or {}),
            **said.signature,
            units_sha=fingerprint(own.values()),
            premises_sha=fingerprint(premises),
            recall=None if recall is None else fingerprint([str(recall.signature)]),
            truncated=said.counts.get("truncated"),
            missing=said.counts.get("missing") or None,
            samples=samples,
            seed=seed,
        ),
    )
