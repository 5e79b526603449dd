"""Presence added up sentence by sentence, so that every mix of units is scored at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from litepyramid.easiness.gold import check_same_inputs
from litepyramid.easiness.mix import BoolArray
from litepyramid.errors import InputError
from litepyramid.judges.base import Judge, JudgedBatch
from litepyramid.scoring.pyramid import UnitLayout, lite_pyramid_scores
from litepyramid.types import FloatArray, InputUnits, IntArray, SystemLabels, SystemSummaries
from litepyramid.units.align import Sentence, align_both


@dataclass(frozen=True, slots=True)
class FoldJudges:
    """Judges that were each trained without one fold of the inputs, to judge that fold by.

    Attributes:
        make: The judge of a fold, numbered from 1; one at a time is kept.
        folds: The fold of each input, from 0.
    """

    make: Callable[[int], Judge]
    folds: Mapping[str, int]

    def judge(
        self, items: Sequence[tuple[str, Sequence[str]]], inputs: Sequence[str]
    ) -> JudgedBatch:
        """Judges each item by the judge of its input's fold.

        Raises:
            InputError: An input is in no fold.
        """
        presence: list[FloatArray] = [np.zeros(0)] * len(items)
        said: dict[str, dict[str, None]] = {}
        places = np.array([fold_of(self.folds, name) for name in inputs])
        for fold in sorted(set(places.tolist())):
            mine = np.flatnonzero(places == fold).tolist()
            judged = self.make(fold + 1).judge([items[i] for i in mine])
            for i, found in zip(mine, judged.presence, strict=True):
                presence[i] = found
            for key, value in judged.signature.items():
                said.setdefault(key, {})[value] = None
        return JudgedBatch(tuple(presence), {key: ",".join(v) for key, v in said.items()})


def fold_of(folds: Mapping[str, int], name: str) -> int:
    """The fold of an input.

    Raises:
        InputError: It has none.
    """
    if name not in folds:
        raise InputError(f"input '{name}' is in no fold")
    return folds[name]


@dataclass(frozen=True)
class SentenceSums:
    """Presence of all SCUs and all STUs, added up sentence by sentence.

    With these every mix of SCUs and STUs is scored without judging anything again.

    Attributes:
        systems: N names.
        inputs: M names.
        sentences: n sentences.
        of_input: (n,) index of each sentence's input.
        scu_sum: (N, n) sum of weight times presence over a sentence's SCUs, for each system.
        scu_weight: (n,) sum of their weights.
        stu_sum: (N, n) sum of presence over a sentence's STUs.
        stu_weight: (n,) their number.
        signature: The judge's part of the signature.
    """

    systems: tuple[str, ...]
    inputs: tuple[str, ...]
    sentences: tuple[Sentence, ...]
    of_input: IntArray
    scu_sum: FloatArray
    scu_weight: FloatArray
    stu_sum: FloatArray
    stu_weight: FloatArray
    signature: dict[str, str]

    def scores(self, carries_stus: BoolArray) -> FloatArray:
        """Lite2.x of every summary, if these sentences carry STUs and the others SCUs.

        Args:
            carries_stus: (n,) bool.

        Returns:
            (N, M); NaN for an input that is left without a unit.
        """
        counts = np.eye(len(self.inputs))[self.of_input]
        total = np.where(carries_stus, self.stu_sum, self.scu_sum) @ counts
        weight = np.where(carries_stus, self.stu_weight, self.scu_weight) @ counts
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(weight > 0, total / weight, np.nan)


def judge_sentences(
    summaries: Sequence[SystemSummaries],
    scus: Sequence[InputUnits],
    stus: Sequence[InputUnits],
    sentences: Sequence[Sentence],
    judge: Judge | FoldJudges,
) -> SentenceSums:
    """Judges every SCU and every STU in every summary, once.

    Raises:
        InputError: Inputs of units and summaries differ, or a unit finds no sentence.
    """
    check_same_inputs(scus, stus)
    names = tuple(entry.input for entry in scus)
    for system in summaries:
        if system.inputs != names:
            raise InputError(
                f"system '{system.system}' has other inputs than the units, or in another order"
            )
    kept = tuple(s for s in sentences if s.input in set(names))
    place = {s.key: i for i, s in enumerate(kept)}
    of_scu, of_stu = align_both(scus, stus, kept)
    aligned = {alignment.units.input: alignment for alignment in of_stu}
    machine = {entry.input: entry for entry in stus}
    items = [
        (text, entry.texts + machine[entry.input].texts)
        for system in summaries
        for text, entry in zip(system.texts, scus, strict=True)
    ]
    if isinstance(judge, FoldJudges):
        judged = judge.judge(items, names * len(summaries))
    else:
        judged = judge.judge(items)
    sums = [np.zeros((len(summaries), len(kept))) for _ in range(2)]
    weights = [np.zeros(len(kept)) for _ in range(2)]
    for column, name in enumerate(names):
        for kind, alignment in enumerate((of_scu[column], aligned[name])):
            units = alignment.units.units
            judged_at = len(scus[column].units) * kind + np.array(alignment.of, dtype=np.int64)
            index = [place[name, u.reference or 0, u.sentence or 0] for u in units]
            weight = np.array([u.weight for u in units])
            np.add.at(weights[kind], index, weight)
            for row in range(len(summaries)):
                found = judged.presence[row * len(names) + column][judged_at]
                np.add.at(sums[kind][row], index, weight * found)
    column_of = {name: i for i, name in enumerate(names)}
    return SentenceSums(
        tuple(system.system for system in summaries),
        names,
        kept,
        np.array([column_of[s.input] for s in kept], dtype=np.int64),
        sums[0],
        weights[0],
        sums[1],
        weights[1],
        dict(judged.signature),
    )


def human_scores(
    labels: Sequence[SystemLabels], scus: Sequence[InputUnits], systems: Sequence[str]
) -> FloatArray:
    """Human scores from presence labels of the SCUs: their weighted mean, (systems, inputs).

    Raises:
        InputError: A system has no labels.
    """
    found = {entry.system: entry for entry in labels}
    for system in systems:
        if system not in found:
            raise InputError(f"system '{system}' has no labels")
    layout = UnitLayout.of(scus)
    return lite_pyramid_scores(layout.flatten([found[system] for system in systems]), layout)
