"""The other direction: what summaries say, judged against references or sources."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from litepyramid.errors import InputError
from litepyramid.io.coerce import as_names, as_references, as_summaries
from litepyramid.io.documents import read_documents
from litepyramid.judges import DEFAULT_JUDGE
from litepyramid.judges.own import as_judge
from litepyramid.scoring.direction import DirectionResult, score_precision
from litepyramid.scoring.result import ScoreResult
from litepyramid.stats import check_samples


def precision(
    summaries: Any,
    *,
    references: Any = None,
    documents: Any = None,
    recall: ScoreResult | None = None,
    judge: Any = None,
    srl: Any = "embedded",
    coref: Any = "srl",
    samples: int = 10_000,
    confidence: float = 0.95,
    seed: int = 12345,
    ids: Any = None,
    columns: Any = None,
    **settings: Any,
) -> DirectionResult:
    """How much of the summaries' content is in the references or documents; with recall, F1.

    Args:
        summaries: Summaries of every system, as of `score`.
        references: What they are judged against; for each unit the best reference counts.
        documents: Instead of references, the source texts: the score is then faithfulness.
        recall: The result of `score` for the same summaries: the score is then F1.
        judge: As for `score`.
        srl: As for `score`, but for the summaries.
        coref: As for `score`.
        samples: Bootstrap samples of the intervals.
        confidence: Confidence level of the intervals.
        seed: Seed of the bootstrap.
        ids: As for `score`.
        columns: As for `score`.
        **settings: Settings of the judge, if given by name.

    Raises:
        InputError: Both or neither of references and documents are given; or sources do not match.

    Example:
        >>> texts = ["It rained. We left."]
        >>> precision(texts, references=["It rained."], judge="recall", srl="sentences").scores
        {'system': 0.5}
    """
    from litepyramid.units.extract import extract

    check_samples(samples, confidence=confidence)
    if (references is None) == (documents is None):
        raise InputError("what to judge against", expected="references, or documents")
    names = as_names(ids, columns)
    premises: dict[str, list[str]]
    if isinstance(documents, str | Path):
        read = read_documents(documents, **names)
        premises = {entry.input: [" ".join(entry.sentences)] for entry in read}
    else:
        source = as_references(references if documents is None else documents, **names)
        texts = {entry.input: [" ".join(own) for own in entry.references] for entry in source}
        premises = texts if documents is None else {k: [" ".join(v)] for k, v in texts.items()}
    inputs = list(premises) if recall is None else list(recall.inputs)
    if missing := [name for name in inputs if name not in premises]:
        raise InputError(f"no premise for input '{missing[0]}'", expected="one for every input")
    return score_precision(
        as_summaries(summaries, inputs, **names),
        [premises[name] for name in inputs],
        lambda texts: extract(texts, srl=srl, coref=coref).units,
        as_judge(DEFAULT_JUDGE if judge is None else judge, **settings),
        recall=recall,
        source=documents is not None,
        samples=samples,
        confidence=confidence,
        seed=seed,
        about={"srl": str(srl), "coref": str(coref)},
    )
