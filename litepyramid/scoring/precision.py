"""Precision and F1: whether a summary's content is in the reference or the source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from litepyramid.errors import InputError
from litepyramid.io.coerce import as_documents, as_names, as_references, as_summaries
from litepyramid.io.dataset import Dataset
from litepyramid.judges import DEFAULT_JUDGE
from litepyramid.judges.parallel import judge_pairs
from litepyramid.judges.registry import in_language
from litepyramid.judges.registry import judge as as_judge
from litepyramid.language import language_of, signed
from litepyramid.scoring.inference import group_letters, intervals_and_groups
from litepyramid.scoring.result import count_notes, report
from litepyramid.stats import by_id, check_samples, check_seed, system_means
from litepyramid.tables import Result, Table
from litepyramid.text import counted
from litepyramid.types import (
    FloatArray,
    InputReferences,
    JudgeLike,
    ResultLike,
    ScoreMatrix,
    Signature,
    data_hashes,
    fingerprint,
)


@dataclass(frozen=True, slots=True)
class PrecisionResult(Result):
    """Precision or F1 of systems.

    Attributes:
        metric: ``precision`` or ``f1``; ``faithfulness`` if the premise is the source.
        values: (N systems, M inputs) scores; NaN = not scored.
        precision: (N, M) mean presence of each summary's units in its premise; NaN where the
            summary has no unit, or a judgement is missing.
        recall: (N, M), for F1; else None.
        units: For each system and input, the summary's units.
        intervals: N (low, high) bootstrap intervals over inputs.
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
        """The summary scores with names, as `compare` and meta-evaluation take them."""
        return ScoreMatrix(self.metric, self.systems, self.inputs, self.values)

    @property
    def scores(self) -> dict[str, float]:
        """System scores, means over the scored inputs."""
        return dict(zip(self.systems, system_means(self.values).tolist(), strict=True))

    def to_tables(self) -> Sequence[Table]:
        """One row per system, best first."""
        measures = {self.metric: self.values}
        if self.recall is not None:
            measures |= {"precision": self.precision, "recall": self.recall}
        means = {name: system_means(values).tolist() for name, values in measures.items()}
        names = ("group", "system", self.metric, "low", "high", *list(means)[1:])
        rows = [
            {"group": group_letters(self.groups[n]), "system": self.systems[n],
             "low": self.intervals[n][0], "high": self.intervals[n][1],
             **{name: own[n] for name, own in means.items()}}
            for n in np.argsort(-np.array(means[self.metric]), kind="stable").tolist()
        ]  # fmt: skip
        title = f"{self.metric} of {counted(len(self.systems), 'system')} on "
        title += counted(len(self.inputs), "input")
        return [Table.of(title, names, rows, (*count_notes(self.counts), str(self.signature)))]

    def to_figure(self) -> Any:
        """One line per system, best first: score and interval; for F1, precision and recall."""
        from litepyramid.figures.score_plots import score_figure

        order = np.argsort(-system_means(self.values), kind="stable").tolist()
        more = {} if self.recall is None else {"precision": self.precision, "recall": self.recall}
        return score_figure(
            [self.systems[n] for n in order],
            [(self.scores[self.systems[n]], *self.intervals[n]) for n in order],
            [self.groups[n] for n in order],
            label=self.metric,
            points={name: system_means(values)[order].tolist() for name, values in more.items()},
            confidence=self.confidence,
        )

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


def precision(
    data: Any,
    *,
    references: Any = None,
    documents: Any = None,
    recall: ResultLike = None,
    judge: JudgeLike = DEFAULT_JUDGE,
    samples: int = 10_000,
    confidence: float = 0.95,
    seed: int = 12345,
    language: str | None = None,
    **names: Any,
) -> PrecisionResult:
    """Score how much of the summaries' content is in the references or documents; F1 with recall.

    The mirror of Lite³Pyramid (ZB21 §3.2): units are extracted from the summary as they are from
    references, and judged against each premise of its input; a unit's presence is that in the
    premise it is in most, precision the mean over units. F1 = 2 P R / (P + R), 0 where both are 0.
    A summary that is empty, or has no unit, has no precision; the F1 of an empty one is 0.

    Args:
        data: Summaries of every system, as for `score`.
        references: What they are judged against; for each unit the best reference counts.
        documents: Instead of references, the source texts: the score is then faithfulness.
        recall: The result of `score` for the same summaries, or its file: the score is then F1.
        judge: Rates how far a unit is present in a reference or document.
        samples: Bootstrap samples of the intervals.
        confidence: Confidence level of the intervals.
        seed: Seed of the bootstrap.
        language: As for `load`.
        **names: Ids and columns, as of `load`.

    Raises:
        InputError: Both or neither of references and documents are given; or sources do not match.

    Example:
        >>> texts = ["It rained. We left."]
        >>> precision(texts, references=["It rained."], judge="recall").scores
        {'system': 0.5}

    Command line:
        $ litepyramid precision example/summaries --references example/references.jsonl
    """
    from litepyramid.units.extract import extract

    check_samples(samples, confidence=confidence)
    check_seed(seed)
    if references is None and documents is None and isinstance(data, Dataset):
        references = data.references or None
    if (references is None) == (documents is None):
        raise InputError("what to judge against", expected="references, or documents")
    keys = as_names(names.pop("ids", None), names.pop("columns", None))
    if names:
        raise InputError(f"unknown option '{next(iter(names))}'", expected="ids or columns")
    if documents is not None:
        sources = as_documents(documents, **keys)
        premises = {entry.input: [" ".join(entry.sentences)] for entry in sources}
    else:
        texts = as_references(references, **keys)
        premises = {entry.input: [" ".join(one) for one in entry.references] for entry in texts}
    other = None if recall is None else report(recall)
    inputs = tuple(premises) if other is None else other.inputs
    if missing := [name for name in inputs if name not in premises]:
        raise InputError(f"no premise for input '{missing[0]}'", expected="one for every input")
    summaries = as_summaries(data, inputs, **keys)
    systems = tuple(system.system for system in summaries)
    if other is not None and (other.systems, other.inputs) != (systems, inputs):
        raise InputError("recall for other systems or inputs", expected="the same summaries")
    flat = [text for system in summaries for text in system.texts]
    told = {"summaries": flat, "premises": [text for own in premises.values() for text in own]}
    language = language_of(told, language)
    full = [n for n, text in enumerate(flat) if text.strip()]
    extraction = extract(
        [InputReferences(str(n), ((flat[n],),), (False,)) for n in full], language=language
    )
    units = {int(entry.input): entry.texts for entry in extraction.units}
    width = len(inputs)
    pairs = [(n, text) for n in full for text in premises[inputs[n % width]] if units.get(n)]
    rater = in_language(as_judge(judge), language)
    batch = judge_pairs(rater, [(premise, units[n]) for n, premise in pairs])
    best: dict[int, FloatArray] = {}
    for (n, _), presence in zip(pairs, batch.presence, strict=True):
        best[n] = np.maximum(best[n], presence) if n in best else presence
    means = np.array([best[n].mean() if n in best else np.nan for n in range(len(flat))])
    values = means.reshape(len(systems), width)
    measures = {"precision": values}
    if other is not None:
        measures["recall"] = other.values
        with np.errstate(invalid="ignore", divide="ignore"):
            values = 2 * values * other.values / (values + other.values)
        values[(measures["precision"] == 0) & (other.values == 0)] = 0.0
        values.flat[np.setdiff1d(np.arange(len(flat)), full)] = 0.0
    metric = "f1" if other is not None else "precision" if documents is None else "faithfulness"
    intervals, groups = intervals_and_groups(
        systems, inputs, values, samples=samples, confidence=confidence, seed=seed
    )
    rows, columns = by_id(systems), by_id(inputs)
    return PrecisionResult(
        metric=metric,
        systems=systems,
        inputs=inputs,
        values=values,
        precision=measures["precision"],
        recall=measures.get("recall"),
        units=tuple(
            tuple(tuple(units.get(n * width + m, ())) for m in range(width))
            for n in range(len(systems))
        ),
        intervals=intervals,
        groups=groups,
        counts={**batch.counts, "summaries_without_precision": int(np.isnan(values).sum())},
        confidence=confidence,
        signature=Signature.of(
            direction=metric,
            premise="references" if documents is None else "documents",
            **{**batch.signature, **signed(language)},
            **data_hashes(summaries=summaries),
            units_sha=fingerprint(units.get(n * width + m, ()) for n in rows for m in columns),
            premises_sha=fingerprint([inputs[m], *premises[inputs[m]]] for m in columns),
            recall=None if other is None else fingerprint([str(other.signature)]),
            truncated=batch.counts.get("truncated"),
            missing=batch.counts.get("missing") or None,
            samples=samples,
            confidence=confidence,
            seed=seed,
        ),
    )
