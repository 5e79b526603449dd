"""Why a judge judged so: how its evidence is asked for and shown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from litepyramid.errors import InputError
from litepyramid.io.documents import cut_sentences
from litepyramid.judges.base import Evidence, Explainer, Items, Judge
from litepyramid.tables import Column, Result, Table


@dataclass(frozen=True, slots=True)
class Explanation(Result):
    """A summary, units, and what in the one speaks for or against the others."""

    summary: str
    units: tuple[str, ...]
    evidence: tuple[Evidence, ...]

    def to_tables(self) -> list[Table]:
        """One table a unit: its words and their partners; the rest as notes."""
        tables = []
        for unit, found in zip(self.units, self.evidence, strict=True):
            start, end = found.span
            notes = [f"presence {found.presence:.3f}"]
            if found.sentence >= 0:
                said = " ".join(self.summary[start:end].split())
                notes.append(f"sentence {found.sentence + 1}, characters {start}-{end}: {said}")
            notes += [f"conflict: {found.conflict}"] if found.conflict else []
            rows = (*found.words, *((word, "–") for word in found.missing))
            tables.append(Table(unit, (Column("unit"), Column("summary")), rows, tuple(notes)))
        return tables

    def to_csv_table(self) -> Table:
        """One row a unit."""
        names = ("unit", "presence", "sentence", "start", "end", "words", "missing", "conflict")
        rows = tuple(
            (
                unit,
                e.presence,
                e.sentence,
                *e.span,
                "; ".join(f"{a} = {b}" for a, b in e.words),
                "; ".join(e.missing),
                e.conflict,
            )
            for unit, e in zip(self.units, self.evidence, strict=True)
        )
        return Table("Evidence", tuple(map(Column, names)), rows)


def explain(judge: Judge, summary: str, units: Sequence[str]) -> Explanation:
    """Why `judge` judges the units of a summary as it does.

    Raises:
        InputError: The judge gives no evidence, as NLI and LLM judges do not.

    Example:
        >>> from litepyramid.judges.registry import make_judge
        >>> found = explain(make_judge("recall"), "It rained. Two died.", ["Two people died."])
        >>> found.evidence[0].sentence, found.evidence[0].words, found.evidence[0].missing
        (1, (('Two', 'Two'), ('died', 'died')), ('people',))
    """
    if not isinstance(judge, Explainer):
        raise InputError(
            f"a {type(judge).__name__} cannot explain its judgements",
            expected="reading, lexical or recall",
        )
    return Explanation(summary, tuple(units), judge.explain([(summary, units)])[0])


def gather(judge: Judge, items: Items) -> tuple[tuple[Evidence, ...], ...]:
    """Where a judge finds every unit: its own word, or the sentence that it finds it in best.

    A judge that gives no reasons (an NLI model, an LLM) judges each sentence of a summary alone,
    through its cache; the first sentence with the highest presence is the evidence if that is at
    least .5, else none is shown. `Evidence.presence` is then that of the sentence.
    """
    if isinstance(judge, Explainer):
        return judge.explain(items)
    spans = [sentence_spans(summary) for summary, _ in items]
    alone = [
        (summary[start:end], units)
        for (summary, units), own in zip(items, spans, strict=True)
        for start, end in own
    ]
    judged = iter(judge.judge(alone).presence)
    found = []
    for (_, units), own in zip(items, spans, strict=True):
        rows = np.array([next(judged) for _ in own]).reshape(len(own), len(units))
        rows = np.nan_to_num(rows, nan=-1.0)
        best = rows.argmax(axis=0) if len(own) else np.zeros(len(units), dtype=np.int64)
        found.append(
            tuple(
                Evidence(float(rows[n, u]), int(n), own[n])
                if len(own) and rows[n, u] >= 0.5
                else Evidence(0.0)
                for u, n in enumerate(best)
            )
        )
    return tuple(found)


def sentence_spans(summary: str) -> list[tuple[int, int]]:
    """Where the sentences of `cut_sentences` stand: first character, and the one after the last.

    Example:
        >>> sentence_spans("Two  died. It was dark.")
        [(0, 10), (11, 23)]
    """
    spans, end = [], 0
    for sentence in cut_sentences(summary):
        pattern = r"\s*".join(map(re.escape, sentence.split()))
        found = re.compile(pattern).search(summary, end)
        spans.append(found.span() if found else (end, end))
        end = spans[-1][1]
    return spans
