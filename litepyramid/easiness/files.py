"""Easiness, mixes and curves from what a user has: files, or records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.easiness.curve import CurveResult, budget_curve
from litepyramid.easiness.evaluate import read_folds
from litepyramid.easiness.gold import gold_easiness
from litepyramid.easiness.mix import By, stu_count
from litepyramid.easiness.predict import predict_easiness
from litepyramid.easiness.prepare import loaded_stus
from litepyramid.easiness.scores import Easiness, read_easiness
from litepyramid.easiness.sums import FoldJudges, human_scores, judge_sentences
from litepyramid.errors import InputError
from litepyramid.files import check_there
from litepyramid.io.coerce import as_labels, as_references, as_summaries, as_units
from litepyramid.io.scores import read_scores
from litepyramid.judges.base import Judge
from litepyramid.judges.registry import make_judge
from litepyramid.types import FloatArray, InputReferences, InputUnits
from litepyramid.units.align import sentences_of
from litepyramid.units.extract import extract
from litepyramid.units.sentences import make_splitter


def sentence_count(
    sentences: int,
    *,
    stu_share: float | None = None,
    stu_sentences: int | None = None,
    scu_sentences: int | None = None,
) -> int:
    """How many sentences carry STUs, given in one of three ways.

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


def sentence_easiness(
    references: Any,
    *,
    by: By = "easiness",
    easiness: Any = None,
    scus: Any = None,
    stus: Any = None,
    regressor: Any = None,
    parses: Any = None,
    splitter: str = "rules",
    **names: Any,
) -> Easiness:
    """The easiness of every sentence of the references, to choose by and to say what to expect.

    Args:
        references: The references (`io.coerce.as_references`).
        by: ``gold`` computes the values from `scus` and `stus`; else they come from the file
            `easiness`, or are predicted.
        easiness: Values, or a file of them (`easiness.scores.read_easiness`).
        scus: SCUs of the references, for gold.
        stus: STUs of the references: for gold; and for predicting how well these stand in, those
            of the embedded extractor if not given.
        regressor: The regressor to predict with, the embedded one if not given.
        parses: Constituency trees, for a regressor on the paper's features.
        splitter: What splits references whose sentences are not marked (`units.sentences`).
        **names: `ids` and `columns` of all files (`read_references`).

    Raises:
        InputError: Something needed is missing, or a sentence has no value in the file.
    """
    loaded = _marked(as_references(references, **names), splitter)
    sentences = sentences_of(loaded)
    if by == "gold" and easiness is None:
        if scus is None or stus is None:
            raise InputError("gold easiness needs both", expected="--scus and --stus")
        return gold_easiness(
            as_units(scus, kind="scu", only=True, **names),
            as_units(stus, kind="stu", only=True, **names),
            sentences,
        )
    if easiness is not None:
        given = read_easiness(easiness)
        return Easiness(sentences, given.of(sentences), given.signature, given.notes)
    return predict_easiness(loaded, regressor=regressor, stus=stus, parses=parses, **names)


def _marked(references: Sequence[InputReferences], splitter: str) -> list[InputReferences]:
    """The references with all sentences marked: those that were not are split."""
    if all(all(entry.marked) for entry in references):
        return list(references)
    split = make_splitter(splitter)
    return [
        InputReferences(
            entry.input,
            tuple(
                texts if marked else tuple(part for text in texts for part in split(text))
                for texts, marked in zip(entry.references, entry.marked, strict=True)
            ),
            (True,) * len(entry.references),
        )
        for entry in references
    ]


def read_sources(
    scus: Any, references: Any, stus: Any, **names: Any
) -> tuple[list[InputUnits], list[InputReferences], list[InputUnits]]:
    """SCUs, references and STUs; STUs are extracted by the embedded extractor if not given.

    Raises:
        InputError: A file is wrong.
    """
    human = as_units(scus, kind="scu", only=True, **names)
    texts = as_references(references, **names)
    machine = loaded_stus(stus, **names)
    return human, texts, list(extract(texts).units if machine is None else machine)


def curve_files(
    summaries: Any,
    scus: Any,
    references: Any,
    judge: str,
    *,
    stus: Any = None,
    labels: Any = None,
    scores: Path | None = None,
    human: str = "human",
    easiness: Any = None,
    regressor: Any = None,
    parses: Any = None,
    folds: Path | None = None,
    ids: Any = None,
    columns: Any = None,
    **settings: Any,
) -> CurveResult:
    """`budget_curve` from files; arguments as of ``litepyramid budget curve``.

    Args:
        summaries: The systems' summaries.
        scus: SCUs of the references.
        references: The references.
        judge: Name of the judge; with ``{fold}`` one for each of `folds`.
        stus: STUs of the references; extracted if not given.
        labels: Human presence labels of the SCUs; or
        scores: a table of scores that holds
        human: the human score.
        easiness: Easiness of every sentence; predicted if not given.
        regressor: What predicts it.
        parses: Constituency trees, for a regressor on the paper's features.
        folds: Folder with a file of input ids for each fold, to average over.
        ids: Ids of the inputs, where rows are matched by order.
        columns: Own column names, by known column.
        **settings: As for `budget_curve`.

    Raises:
        InputError: A file is wrong, or there are no human scores or two sorts of them.
    """

    def of_fold(fold: int) -> Judge:
        return make_judge(judge.replace("{fold}", str(fold)))

    if "{fold}" in judge and folds is None:
        raise InputError(f"a judge for each fold ('{judge}') but no folds", expected="--folds")
    parts = None if folds is None else read_folds(folds)
    judging = FoldJudges(of_fold, parts) if parts and "{fold}" in judge else make_judge(judge)
    if (labels is None) == (scores is None):
        raise InputError(
            "the human scores must come from one place",
            expected="--labels (presence of the SCUs) or --scores (a table of scores)",
        )
    check_there(*summaries, references, stus, labels, scores, easiness, regressor, parses)
    names = {"ids": ids, "columns": columns}
    units, texts, machine = read_sources(scus, references, stus, **names)
    wanted = {entry.input: None for entry in units}
    sentences = sentences_of(texts)
    systems = as_summaries(summaries, list(wanted), **names)
    predicted = sentence_easiness(
        [entry for entry in texts if entry.input in wanted],
        easiness=easiness,
        stus=machine,
        regressor=regressor,
        parses=parses,
    )
    gold = gold_easiness(units, machine, sentences)
    sums = judge_sentences(systems, units, machine, sentences, judging)
    if labels is not None:
        target = human_scores(as_labels(labels, units, **names), units, sums.systems)
    else:
        target = _table_scores(scores or Path(), human, sums.systems, sums.inputs)
    return budget_curve(sums, target, easiness=predicted, gold=gold, folds=parts, **settings)


def _table_scores(
    path: Path, against: str, systems: Sequence[str], inputs: Sequence[str]
) -> FloatArray:
    """The human score of a score table, for these systems and inputs; NaN where it has none."""
    matrix = read_scores(path).matrix(against)
    for name in systems:
        if name not in matrix.systems:
            raise InputError(f"system '{name}' has no '{against}' score", path=path)
    if not set(inputs) & set(matrix.inputs):
        raise InputError(f"no input of the units has a '{against}' score", path=path)
    own = matrix.values[[matrix.systems.index(name) for name in systems]]
    known = dict(zip(matrix.inputs, own.T, strict=True))
    return np.stack([known.get(name, np.full(len(own), np.nan)) for name in inputs], axis=1)
