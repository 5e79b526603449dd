"""Mixing and curves from the files that a user names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.easiness.curve import CurveResult, budget_curve
from litepyramid.easiness.gold import gold_easiness
from litepyramid.easiness.mix import By, Mix, mix, stu_count
from litepyramid.easiness.predict import predict_easiness
from litepyramid.easiness.scores import Easiness, read_easiness
from litepyramid.easiness.sums import FoldJudges, human_scores, judge_sentences
from litepyramid.errors import InputError
from litepyramid.files import check_there
from litepyramid.io.references import read_references
from litepyramid.io.scores import read_scores
from litepyramid.io.units import read_units
from litepyramid.judges.base import Judge
from litepyramid.meta.core.coefficients import Coefficient
from litepyramid.meta.core.levels import ConstantPolicy, Level
from litepyramid.types import FloatArray, InputReferences, InputUnits
from litepyramid.units.align import sentences_of


def sentence_count(
    sentences: int,
    *,
    stu_share: float | None = None,
    stu_sentences: int | None = None,
    scu_sentences: int | None = None,
) -> int:
    """How many sentences carry STUs, said in one of three ways.

    Raises:
        InputError: None or more than one of them is given, or it is out of range.

    Example:
        >>> sentence_count(10, stu_share=0.5), sentence_count(10, scu_sentences=3)
        (5, 7)
    """
    given = [value for value in (stu_share, stu_sentences, scu_sentences) if value is not None]
    if len(given) != 1:
        raise InputError(
            f"{len(given)} sizes of the mix are given",
            expected="one of --stu-share, --stu-sentences and --scu-sentences",
        )
    if stu_share is not None:
        return stu_count(stu_share, sentences)
    count = stu_sentences if stu_sentences is not None else sentences - (scu_sentences or 0)
    if not 0 <= count <= sentences:
        raise InputError(
            f"{given[0]} of {sentences} sentences", expected=f"a number from 0 to {sentences}"
        )
    return count


def find_easiness(
    references: Sequence[InputReferences],
    stus: Sequence[InputUnits],
    *,
    easiness: Path | None = None,
    regressor: Path | None = None,
    parses: Path | None = None,
) -> Easiness:
    """Easiness from a file of values, or predicted.

    Raises:
        InputError: As `read_easiness` and `predict_easiness`.
    """
    if easiness is not None:
        return read_easiness(easiness)
    from litepyramid.units.parses import read_parses

    return predict_easiness(
        references,
        regressor=regressor,
        stus=stus,
        parses=None if parses is None else read_parses(parses),
    )


def mix_files(
    scus: Path,
    references: Path,
    stus: Path | None = None,
    *,
    stu_share: float | None = None,
    stu_sentences: int | None = None,
    scu_sentences: int | None = None,
    by: By = "easiness",
    easiness: Path | None = None,
    regressor: Path | None = None,
    parses: Path | None = None,
    seed: int = 12345,
    **names: Any,
) -> Mix:
    """`mix` from files; arguments as of ``litepyramid units mix``.

    Raises:
        InputError: A file is wrong, or the arguments do not go together.
    """
    size = partial(
        sentence_count,
        stu_share=stu_share,
        stu_sentences=stu_sentences,
        scu_sentences=scu_sentences,
    )
    size(10**9)  # whether it is one, before the references are parsed
    check_there(scus, references, stus, easiness, regressor, parses)
    human, texts, machine = read_sources(scus, references, stus, **names)
    sentences = sentences_of(texts)
    wanted = {entry.input for entry in human}
    total = sum(s.input in wanted for s in sentences)
    count = size(total)
    values = None
    if by in ("easiness", "reversed"):
        values = find_easiness(
            texts, machine, easiness=easiness, regressor=regressor, parses=parses
        )
    return mix(human, machine, sentences, count, by=by, easiness=values, seed=seed)


def read_sources(
    scus: Path, references: Path, stus: Path | None, **names: Any
) -> tuple[list[InputUnits], list[InputReferences], list[InputUnits]]:
    """SCUs, references and STUs; STUs are extracted by the embedded extractor without a file.

    Raises:
        InputError: A file is wrong.
    """
    human = read_units(scus, only=True, **names)
    texts = read_references(references, **names)
    if stus is not None:
        return human, texts, read_units(stus, kind="stu", only=True, **names)
    from litepyramid.units.extract import extract

    return human, texts, list(extract(texts).units)


def curve_files(
    summaries: Sequence[Path],
    scus: Path,
    references: Path,
    judge: Judge | FoldJudges,
    *,
    stus: Path | None = None,
    labels: Path | None = None,
    scores: Path | None = None,
    against: str = "human",
    easiness: Path | None = None,
    regressor: Path | None = None,
    parses: Path | None = None,
    shares: Sequence[float] | None = None,
    seeds: int = 100,
    seed: int = 12345,
    levels: Sequence[Level] = ("system", "summary"),
    coefficients: Sequence[Coefficient] = ("pearson",),
    constant: ConstantPolicy = "skip",
    folds: Mapping[str, int] | None = None,
    samples: int = 1000,
    confidence: float = 0.95,
    **names: Any,
) -> CurveResult:
    """`budget_curve` from files; arguments as of ``litepyramid budget curve``.

    Raises:
        InputError: A file is wrong, or there are no human scores or two sorts of them.
    """
    from litepyramid.easiness.curve import SHARES
    from litepyramid.io.labels import read_labels
    from litepyramid.io.summaries import read_summaries

    if (labels is None) == (scores is None):
        raise InputError(
            "the human scores must come from one place",
            expected="--labels (presence of the SCUs) or --scores (a table of scores)",
        )
    check_there(*summaries, references, stus, labels, scores, easiness, regressor, parses)
    human, texts, machine = read_sources(scus, references, stus, **names)
    sentences = sentences_of(texts)
    systems = read_summaries(summaries, [entry.input for entry in human], **names)
    predicted = find_easiness(texts, machine, easiness=easiness, regressor=regressor, parses=parses)
    gold = gold_easiness(human, machine, sentences)
    sums = judge_sentences(systems, human, machine, sentences, judge)
    if labels is not None:
        target = human_scores(read_labels([labels], human, **names), human, sums.systems)
    else:
        target = _table_scores(scores, against, sums.systems, sums.inputs)
    return budget_curve(
        sums,
        target,
        easiness=predicted,
        gold=gold,
        shares=SHARES if shares is None else shares,
        seeds=seeds,
        seed=seed,
        levels=levels,
        coefficients=coefficients,
        constant=constant,
        folds=folds,
        samples=samples,
        confidence=confidence,
    )


def _table_scores(
    path: Path | None, against: str, systems: Sequence[str], inputs: Sequence[str]
) -> FloatArray:
    """The human score of a score table, for these systems and inputs; NaN where it has none."""
    matrix = read_scores(path or Path()).matrix(against)
    rows = {name: i for i, name in enumerate(matrix.systems)}
    columns = {name: i for i, name in enumerate(matrix.inputs)}
    for name in systems:
        if name not in rows:
            raise InputError(f"system '{name}' has no '{against}' score", path=path)
    if not set(inputs) & set(columns):
        raise InputError(f"no input of the units has a '{against}' score", path=path)
    values = np.full((len(systems), len(inputs)), np.nan)
    for column, name in enumerate(inputs):
        if name in columns:
            values[:, column] = [matrix.values[rows[s], columns[name]] for s in systems]
    return values
