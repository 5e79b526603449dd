"""Evidence for a judge's verdicts: how it is gathered and shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from litepyramid.errors import InputError
from litepyramid.io.documents import cut_sentences
from litepyramid.judges.base import Evidence, Explainer, Items, Judge, JudgedBatch
from litepyramid.tables import Column, Result, Table
from litepyramid.types import IntArray

Spans = list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Explanation(Result):
    """A summary, units, and what in the one speaks for or against the others."""

    summary: str
    units: tuple[str, ...]
    evidence: tuple[Evidence, ...]

    def to_tables(self) -> list[Table]:
        """One table per unit: its words and their partners; the rest as notes."""
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
        """One row per unit."""
        names = ("unit", "presence", "sentence", "start", "end", "words", "missing", "conflict")
        rows = []
        for unit, e in zip(self.units, self.evidence, strict=True):
            words = "; ".join(f"{a} = {b}" for a, b in e.words)
            missing = "; ".join(e.missing)
            rows.append((unit, e.presence, e.sentence, *e.span, words, missing, e.conflict))
        return Table("Evidence", tuple(map(Column, names)), tuple(rows))


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
    """Where a judge finds every unit: as it reports, or the sentence with the highest presence.

    A judge that gives no reasons (an NLI model, an LLM) judges each sentence of a summary alone,
    through its cache; the first sentence with the highest presence is the evidence if that is at
    least .5, else none is shown. `Evidence.presence` is then that of the sentence.
    """
    if isinstance(judge, Explainer):
        return judge.explain(items)
    spans = [sentence_spans(summary) or [(0, 0)] for summary, _ in items]
    said, best = best_parts(judge.judge, items, spans)
    return tuple(
        tuple(
            Evidence(value, n, own[n]) if value >= 0.5 else Evidence(0.0)
            for value, n in zip(presence.tolist(), numbers.tolist(), strict=True)
        )
        for presence, numbers, own in zip(said.presence, best, spans, strict=True)
    )


def best_parts(
    judge: Callable[[Items], JudgedBatch], items: Items, spans: Sequence[Spans]
) -> tuple[JudgedBatch, list[IntArray]]:
    """What is said of parts of summaries, as said of the whole: each unit's highest presence.

    Counts: ``pairs`` are those of the whole, ``split`` those of them with a summary in parts.

    Args:
        judge: Judges the parts.
        items: (summary, units).
        spans: Per item its parts, at least one: first character and the one after the last.

    Returns:
        The judgement, `JudgedBatch.spans` in it; per item (units,) the number of the part that
        each unit was found in most, the first of equals; parts without a judgement come last.
    """
    said = judge(
        [
            (text[start:end], units)
            for (text, units), own in zip(items, spans, strict=True)
            for start, end in own
        ]
    )
    presence, logits, where, best, at = [], [], [], [], 0
    for (_, units), own in zip(items, spans, strict=True):
        part, at = slice(at, at + len(own)), at + len(own)
        stack = np.stack(said.presence[part])
        best.append(np.nan_to_num(stack, nan=-1.0).argmax(axis=0))
        chosen = best[-1], np.arange(len(units))
        presence.append(stack[chosen])
        where.append(np.array(own, dtype=np.int64)[best[-1]])
        if said.logits is not None:
            logits.append(np.stack(said.logits[part])[chosen])
    pairs = sum(len(units) for _, units in items)
    split = sum(len(units) for (_, units), own in zip(items, spans, strict=True) if len(own) > 1)
    whole = replace(
        said,
        presence=tuple(presence),
        logits=tuple(logits) if said.logits is not None else None,
        spans=tuple(where),
        counts={**said.counts, "pairs": pairs, "split": split},
    )
    return whole, best


def sentence_spans(summary: str) -> Spans:
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
