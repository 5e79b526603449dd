"""Scores of metrics to compare with, for all summaries of some systems, as one long table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from litepyramid.errors import InputError
from litepyramid.judges.base import pair_key
from litepyramid.judges.cache import LogitCache, StoredLogits
from litepyramid.judges.cache_file import default_cache_path
from litepyramid.metrics.packages import Family, families
from litepyramid.progress import track
from litepyramid.stats import system_means
from litepyramid.tables import Cell, Column, Result, Table
from litepyramid.text import counted
from litepyramid.types import (
    FloatArray,
    InputReferences,
    ScoreTable,
    Signature,
    SystemSummaries,
    fingerprint,
)

_KEPT = frozenset({"bertscore"})
"""What is dear enough to keep in the cache of judgements."""


@dataclass(frozen=True, slots=True)
class MetricScores(Result):
    """Scores of some metrics; `save` as CSV gives the table that meta-evaluation takes.

    Attributes:
        scores: (metrics, systems, inputs).
        signature: What was scored.
    """

    scores: ScoreTable
    signature: Signature

    def to_tables(self) -> Sequence[Table]:
        """One row per system: its mean over inputs by each metric."""
        means = np.stack([system_means(values) for values in self.scores.values])
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (system, *means[:, s].tolist()) for s, system in enumerate(self.scores.systems)
        )
        columns = (Column("system"), *map(Column, self.scores.metrics))
        title = f"Means over {counted(len(self.scores.inputs), 'input')}"
        return [Table(title, columns, rows, (str(self.signature),))]

    def to_csv_table(self) -> Table:
        """One row per score: system, input, metric, score."""
        table = self.scores
        rows = tuple(
            (system, name, metric, float(table.values[m, s, i]))
            for s, system in enumerate(table.systems)
            for i, name in enumerate(table.inputs)
            for m, metric in enumerate(table.metrics)
        )
        return Table("", tuple(map(Column, ("system", "input", "metric", "score"))), rows)


def metric_scores(
    summaries: Sequence[SystemSummaries],
    references: Sequence[InputReferences],
    metrics: Sequence[str] = ("rouge-1", "rouge-2", "rouge-l"),
    *,
    cache: str | Path | None = None,
) -> MetricScores:
    """Scores every summary against its input's references by metrics of other packages.

    Args:
        summaries: One entry per system, its inputs those of `references` in the same order.
        references: One entry per input.
        metrics: Names of families, ``rouge-2``, or of one variant, ``rouge-2_recall``; see
            `metrics.packages.FAMILIES`.
        cache: Where scores of neural metrics are kept, by text; None for the user's own cache.

    Raises:
        InputError: An unknown metric, or inputs that do not match.
        MissingExtraError: A metric's package is not installed.

    Example:
        >>> system = SystemSummaries("mine", ("1",), ("A storm hit Oslo.",))
        >>> references = [InputReferences("1", (("A storm hit Oslo on Monday.",),), (False,))]
        >>> metric_scores([system], references, ["rouge-1_recall"]).scores.values.round(3)
        array([[[0.667]]])
    """
    inputs = tuple(entry.input for entry in references)
    for system in summaries:
        if system.inputs != inputs:
            raise InputError(f"the inputs of system '{system.system}' are not the references'")
    scorers = families(metrics)
    found: dict[str, FloatArray] = {}
    shape = (len(summaries), len(inputs))
    for i, entry in enumerate(track(references, "scoring", "inputs")):
        wanted = [" ".join(sentences) for sentences in entry.references]
        texts = [system.texts[i] for system in summaries]
        for family, scorer in scorers.items():
            distinct = list(dict.fromkeys(texts))
            place = np.array([distinct.index(text) for text in texts])
            if family in _KEPT:
                values = _cached(family, scorer, distinct, wanted, cache)
            else:
                values = scorer(distinct, wanted)
            for name, scores in values.items():
                if family in metrics or name in metrics:
                    found.setdefault(name, np.empty(shape))[:, i] = scores[place]
    for name in metrics:
        if name not in scorers and name not in found:
            raise InputError(f"unknown metric '{name}'", expected=f"one of {', '.join(found)} …")
    systems = tuple(system.system for system in summaries)
    table = ScoreTable(tuple(found), systems, inputs, np.stack(list(found.values())))
    said = fingerprint([entry.input, *entry.references] for entry in references)
    shas = fingerprint([system.system, *system.texts] for system in summaries)
    signature = Signature.of(metrics="+".join(found), references_sha=said, summaries_sha=shas)
    return MetricScores(table, signature)


def _cached(
    family: str,
    scorer: Family,
    texts: Sequence[str],
    references: Sequence[str],
    cache: str | Path | None,
) -> dict[str, FloatArray]:
    """The scores of texts, those that are kept from the cache, the others computed and kept."""
    keys = [pair_key(text, json.dumps(references)) for text in texts]
    with LogitCache(Path(cache or default_cache_path())) as store:
        known = store.get(f"metric {family}", keys)
        new = [i for i, key in enumerate(keys) if key not in known]
        values = scorer([texts[i] for i in new], references) if new else {}
        rows = [json.dumps({n: v[k] for n, v in values.items()}).encode() for k in range(len(new))]
        fresh = {keys[i]: StoredLogits(row, False) for i, row in zip(new, rows, strict=True)}
        store.put(f"metric {family}", fresh)
    every = [json.loads((known | fresh)[key].raw) for key in keys]
    return {name: np.array([row[name] for row in every]) for name in every[0]}
