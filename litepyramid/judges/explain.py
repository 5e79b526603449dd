"""Why a judge judges the units of a summary as it does."""

from collections.abc import Sequence
from dataclasses import dataclass

from litepyramid.errors import InputError, no_effect
from litepyramid.judges import DEFAULT_JUDGE
from litepyramid.judges.base import (
    Evidence,
    Explainer,
    Items,
    Judge,
    Questions,
    best_parts,
)
from litepyramid.judges.parallel import judge_pairs, single
from litepyramid.judges.registry import in_language
from litepyramid.judges.registry import judge as make_judge
from litepyramid.language import language_of
from litepyramid.sentences import sentence_spans
from litepyramid.tables import Column, Result, Table
from litepyramid.types import JudgeLike

_COLUMNS = "unit presence sentence start end words missing conflict"


@dataclass(frozen=True)
class Explanation(Result):
    """A summary, units, and the evidence in the one for or against each of the
    others."""

    summary: str
    units: tuple[str, ...]
    evidence: tuple[Evidence, ...]

    def to_tables(self) -> list[Table]:
        """One table per unit: its words and their partners; the rest as notes."""
        tables = []
        for unit, evidence in zip(self.units, self.evidence, strict=True):
            start, end = evidence.span
            sentence = " ".join(self.summary[start:end].split()) or "–"
            where = "no sentence of the summary holds it"
            if evidence.sentence >= 0:
                at = f"sentence {evidence.sentence + 1}, characters {start}-{end}"
                where = f"{at}: {sentence}"
            notes = [f"presence {evidence.presence:.3f}", where]
            if evidence.conflict:
                notes.append(f"conflict: {evidence.conflict}")

            rows = [*evidence.words]
            rows += [(word, "–") for word in evidence.missing]
            # A judge may say which sentence, and not which words.
            rows = rows or [(unit, sentence)]
            columns = (Column("unit"), Column("summary"))
            tables.append(Table(unit, columns, tuple(rows), tuple(notes)))

        return tables

    def to_csv_table(self) -> Table:
        """One row per unit."""
        names = _COLUMNS.split()
        rows = []
        for unit, e in zip(self.units, self.evidence, strict=True):
            words = "; ".join(f"{a} = {b}" for a, b in e.words)
            missing = "; ".join(e.missing)
            cells = (unit, e.presence, e.sentence, *e.span, words, missing, e.conflict)
            rows.append(dict(zip(names, cells, strict=True)))

        return Table.of("Evidence", names, rows)


def explain(
    summary: str,
    unit: str | Sequence[str],
    *,
    judge: JudgeLike = DEFAULT_JUDGE,
    question: str | None = None,
    language: str | None = None,
) -> Explanation:
    """Shows the sentence of a summary that speaks for a unit, and the words that answer
    it.

    A judge that gives no reasons of its own, such as an NLI model, is asked about each
    sentence alone: the one with the highest presence is shown if that is at least .5.

    Args:
        summary: A summary.
        unit: A fact to look for in it; from Python also a list of facts.
        judge: The judge.
        question: What the summary answers; read by language models only.
        language: Code such as de; told by the texts if not given.

    Raises:
        InputError: The summary or the unit is empty, or in a language that the judge
            does not read.

    Example:
        >>> result = explain("It rained. Two died.", "Two people died.", judge="recall")
        >>> [evidence] = result.evidence
        >>> evidence.sentence, evidence.words, evidence.missing
        (1, (('Two', 'Two'), ('died', 'died')), ('people',))

    Command line:
        $ litepyramid judge explain "A storm hit Oslo. Two died." \\
            "Two people died in Oslo."
    """
    units = tuple(unit) if isinstance(unit, list | tuple) else (unit,)
    if not units or not all(
        isinstance(text, str) and text.strip() for text in (summary, *units)
    ):
        raise InputError(
            "an empty text, or none", expected="the text of a summary, and of a unit"
        )
    language = language_of({"summary": [summary], "units": units}, language)
    ready = in_language(make_judge(judge), language)
    asks = getattr(ready, "uses_questions", False)
    no_effect(explain, not asks, "on a judge that reads none", question=question)
    return Explanation(summary, units, gather(ready, [(summary, units)], [question])[0])


def gather(
    judge: Judge, items: Items, questions: Questions = None
) -> tuple[tuple[Evidence, ...], ...]:
    """Where a judge finds every unit: as it reports, or the sentence with the highest
    presence.

    A judge that gives no reasons (an NLI model, an LLM) judges each sentence of a
    summary alone, through its cache; the first sentence with the highest presence is
    the evidence if that is at least .5, else none is shown. `Evidence.presence` is then
    that of the sentence.
    """
    explainer = single(judge)
    if isinstance(explainer, Explainer):
        return explainer.explain(items)
    spans = [sentence_spans(summary) or [(0, 0)] for summary, _ in items]
    # Each sentence answers the question that its summary answers.
    asked = []
    for question, ends in zip(questions or (), spans, strict=False):
        asked += [question] * len(ends)
    batch, best = best_parts(
        lambda parts: judge_pairs(judge, parts, asked), items, spans
    )

    evidence = []
    for presence, numbers, parts in zip(batch.presence, best, spans, strict=True):
        row = []
        for value, n in zip(presence.tolist(), numbers.tolist(), strict=True):
            shown = Evidence(value, n, parts[n]) if value >= 0.5 else Evidence(0.0)
            row.append(shown)
        evidence.append(tuple(row))
    return tuple(evidence)
