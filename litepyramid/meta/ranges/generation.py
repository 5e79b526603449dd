"""Summaries over the whole scoring range, for any documents and any metric (P19 §3)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.errors import InputError
from litepyramid.files import write_jsonl
from litepyramid.io.scores import write_scores
from litepyramid.meta.core.journal import piece_rng, run_pieces
from litepyramid.meta.ranges.extracts import Extract, SearchSettings, search
from litepyramid.meta.ranges.lexrank import lexrank_extract
from litepyramid.metrics.metric import Metric
from litepyramid.metrics.tokens import line_tokenizer
from litepyramid.tables import HIDDEN, Column, Result, Table, record
from litepyramid.text import counted
from litepyramid.types import (
    FloatArray,
    InputDocuments,
    InputReferences,
    ScoreTable,
    Signature,
    SystemSummaries,
    check_unique,
    fingerprint,
)

BASELINE = "lexrank"


@dataclass(frozen=True)
class Generated(Result):
    """The summaries found by a search, scored with every metric.

    Attributes:
        table: (metrics, summaries, inputs); a column has as many scores as its input has
            summaries; the rest is NaN. Rows: the given systems, ``lexrank``, ``extract-0001`` ….
        texts: Per input, the texts of its rows by name; each sentence ends with a line break.
        found_by: For each input and extract, the metrics whose search found it.
        settings: The search settings.
        signature: Names everything that the numbers depend on.
    """

    table: ScoreTable = field(metadata=HIDDEN)
    texts: dict[str, dict[str, str]] = field(metadata=HIDDEN)
    found_by: dict[str, dict[str, tuple[str, ...]]] = field(metadata=HIDDEN)
    settings: SearchSettings
    signature: Signature

    def to_tables(self) -> list[Table]:
        """How many summaries there are, and the range they span for each metric."""
        columns = ("metric", "lowest", "median", "highest", Column(BASELINE, "LexRank"))
        counts = [len(found) for found in self.found_by.values()]
        notes = (
            f"{counted(len(counts), 'input')}, "
            f"{counted(round(np.mean(counts)), 'different extract')} each "
            f"({min(counts)} to {max(counts)}) of at most {counted(self.settings.words, 'word')}; "
            "averages over inputs.",
            f"Signature: {self.signature}",
        )
        return [Table.of("Generated summaries", columns, self._ranges(), notes)]

    def _ranges(self) -> list[dict[str, Any]]:
        """Per metric, means over the inputs of the extracts' ends and middle, and the baseline."""
        extracts = [i for i, name in enumerate(self.table.systems) if name.startswith("extract-")]
        parts = ("lowest", np.nanmin), ("median", np.nanmedian), ("highest", np.nanmax)
        rows = []
        for metric, values in zip(self.table.metrics, self.table.values, strict=True):
            found: dict[str, Any] = {n: part(values[extracts], axis=0) for n, part in parts}
            found[BASELINE] = values[self.table.systems.index(BASELINE)]
            means = {name: float(np.nanmean(scores)) for name, scores in found.items()}
            rows.append({"metric": metric, **means})
        return rows

    def to_json(self) -> dict[str, Any]:
        """The range of every metric, sizes and settings; the scores are in the table."""
        extracts = {name: len(found) for name, found in self.found_by.items()}
        return {"ranges": self._ranges(), "extracts": extracts, **record(self)}

    def write_scores(self, path: str | Path) -> None:
        """Writes the long table system,input,metric,score that ``meta range`` reads."""
        write_scores(path, self.table)

    def write_texts(self, path: str | Path) -> None:
        """Writes every summary as a JSON line: input, system, summary, found_by."""
        rows = []
        for name, texts in self.texts.items():
            for system, text in texts.items():
                found_by = list(self.found_by[name].get(system, ()))
                row = {"input": name, "system": system, "summary": text, "found_by": found_by}
                rows.append(row)
        write_jsonl(path, rows)


def generate(
    documents: Sequence[InputDocuments],
    references: Sequence[InputReferences],
    metrics: Sequence[Metric],
    settings: SearchSettings | None = None,
    *,
    seed: int,
    systems: Sequence[SystemSummaries] = (),
    journal: str | Path | None = None,
) -> Generated:
    r"""Searches extracts of every input once with each metric as fitness, then scores them all.

    An extract found for several metrics is one summary. The LexRank extract of the same length is
    scored too, as the row ``lexrank``, and so are the summaries of `systems`.

    Args:
        documents: The sentences to draw from.
        references: The references of the same inputs.
        metrics: What to search with and to score with.
        settings: The search settings.
        seed: Every input and metric has its own generator made from this, so that a result does
            not depend on which other inputs and metrics are searched.
        systems: Further summaries to score, for example those that people judged.
        journal: A file that keeps finished searches; a stopped run given it again continues.

    Raises:
        InputError: Documents and references have different inputs; a metric is given twice;
            an input has no sentence that is short enough.

    Example:
        >>> from litepyramid.metrics import metric_named
        >>> result = generate(
        ...     [InputDocuments("1", ("a storm hit", "nobody came", "the coast is wet"))],
        ...     [InputReferences("1", (("a storm hit the coast",),), (False,))],
        ...     [metric_named("rouge-1_recall")], SearchSettings(words=7), seed=1)
        >>> max(result.texts["1"].values(), key=len)
        'a storm hit\nthe coast is wet'
    """
    settings = settings or SearchSettings()
    names = tuple(metric.name for metric in metrics)
    if not names:
        raise InputError("no metric to search with", expected="at least one")
    check_unique(names, "metric")
    targets = {entry.input: [" ".join(r) for r in entry.references] for entry in references}
    absent = [d.input for d in documents if d.input not in targets]
    if absent or not documents:
        raise InputError(
            f"no reference for input '{absent[0]}'" if absent else "no documents",
            expected="a reference for every input",
        )
    bases = {entry.input: _baseline(entry, settings.words) for entry in documents}
    data = [[d.input, d.sentences, targets[d.input]] for d in documents]
    state = {"run": "generate", **asdict(settings), "seed": seed, "data": fingerprint(data)}
    searches = {json.dumps([m.name, d.input]): (m, d) for d in documents for m in metrics}

    def one(key: str) -> list[Extract]:
        metric, entry = searches[key]
        rng = piece_rng(seed, metric.name, entry.input)
        return _search_one(entry, targets[entry.input], metric, settings, rng)

    made = run_pieces(journal, state, list(searches), one, "searching", "searches")
    found: dict[str, dict[Extract, list[str]]] = {d.input: {} for d in documents}
    for (metric, entry), extracts in zip(searches.values(), made, strict=True):
        for extract in extracts:
            found[entry.input].setdefault(tuple(extract), []).append(metric.name)
    texts: dict[str, dict[str, str]] = {}
    found_by: dict[str, dict[str, tuple[str, ...]]] = {}
    for entry in documents:
        rows = texts[entry.input] = {BASELINE: bases[entry.input]}
        origins = found_by[entry.input] = {}
        for number, (extract, by) in enumerate(sorted(found[entry.input].items()), start=1):
            rows[f"extract-{number:04}"] = _text(entry, extract)
            origins[f"extract-{number:04}"] = tuple(by)
        for system in systems:
            if entry.input in system.inputs:
                rows[system.system] = system.texts[system.inputs.index(entry.input)]
    longest = max(found_by.values(), key=len)
    rows_of_all = (*(system.system for system in systems), BASELINE, *longest)
    check_unique(rows_of_all, "system")
    signature = Signature.of(
        metrics=",".join(names),
        population=settings.population,
        generations=settings.generations,
        words=settings.words,
        collect=settings.collect,
        seed=seed,
        data_sha=state["data"],
    )
    table = _scored(metrics, texts, targets, rows_of_all)
    return Generated(table, texts, found_by, settings, signature)


def _search_one(
    entry: InputDocuments,
    references: Sequence[str],
    metric: Metric,
    settings: SearchSettings,
    rng: np.random.Generator,
) -> list[Extract]:
    def fitness(batch: Sequence[Extract]) -> FloatArray:
        return metric.score([_text(entry, extract) for extract in batch], references)

    lengths = [len(sentence.split()) for sentence in entry.sentences]
    try:
        extracts, _ = search(lengths, fitness, settings, rng)
    except InputError as error:
        raise InputError(
            f"input '{entry.input}': {error.what}", expected=error.expected, hint=error.hint
        ) from error
    return list(extracts)


def _text(entry: InputDocuments, extract: Extract) -> str:
    return "\n".join(entry.sentences[i] for i in extract)


def _baseline(entry: InputDocuments, most: int) -> str:
    """The LexRank extract of an input."""
    words = line_tokenizer(stem=True)
    lengths = [len(sentence.split()) for sentence in entry.sentences]
    return _text(entry, lexrank_extract([words(s) for s in entry.sentences], lengths, most))


def _scored(
    metrics: Sequence[Metric],
    texts: dict[str, dict[str, str]],
    targets: dict[str, list[str]],
    systems: tuple[str, ...],
) -> ScoreTable:
    place = {name: i for i, name in enumerate(systems)}
    values = np.full((len(metrics), len(systems), len(texts)), np.nan)
    for column, (name, own) in enumerate(texts.items()):
        where, batch = [place[system] for system in own], list(own.values())
        for row, metric in enumerate(metrics):
            values[row, where, column] = metric.score(batch, targets[name])
    return ScoreTable(tuple(metric.name for metric in metrics), systems, tuple(texts), values)
