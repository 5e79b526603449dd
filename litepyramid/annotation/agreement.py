"""Agreement among people: Krippendorff's alpha, noisy workers, majority labels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from litepyramid.checked import as_type
from litepyramid.errors import InputError
from litepyramid.tables import Column, Result, Table, record, row
from litepyramid.text import counted
from litepyramid.types import FloatArray, Signature, fingerprint


@dataclass(frozen=True, slots=True)
class WorkerRecord:
    """How often a worker contradicted the majority of the others, where they have one."""

    worker: str
    answers: int
    compared: int
    disagreed: int
    dropped: bool

    @property
    def share(self) -> float:
        """disagreed / compared; NaN when nothing could be compared."""
        return self.disagreed / self.compared if self.compared else math.nan


@dataclass(frozen=True)
class AgreementResult(Result):
    """Labels that people gave, and how far they can be trusted.

    Attributes:
        labels: (items,) float64: 1 present, .5 in part, 0 not present, NaN without an answer.
        alpha: Krippendorff's alpha without dropped workers; NaN where it is undefined. Ordinal
            where some answers are .5, else nominal. `alpha_all` is that of all workers.
        workers: One record per worker, the worst first.
        items: Number of items; `answers` of all workers, `kept_answers` without dropped ones.
        unanswered: Items without an answer.
        ties: Items with as many yes as no, counted as not present.
        pairable: Items with two answers or more: those that alpha is computed on.
        undecided: Workers who contradict the one other worker that they can be compared with on
            more than the threshold: nobody can tell which of the two is noisy, so both stay.
    """

    labels: FloatArray
    alpha: float
    alpha_all: float
    workers: tuple[WorkerRecord, ...]
    items: int
    answers: int
    kept_answers: int
    unanswered: int
    ties: int
    pairable: int
    signature: Signature
    undecided: tuple[str, ...] = ()

    def to_tables(self) -> Sequence[Table]:
        """The workers, and the counts and alpha in notes."""
        share = Column("share", "share disagreed")
        columns = ("worker", "answers", "compared", "disagreed", share, "dropped")
        rows = (row(w, share=w.share, dropped="yes" if w.dropped else "no") for w in self.workers)
        dropped = sum(w.dropped for w in self.workers)
        level = dict(self.signature.fields)["alpha"].removeprefix("krippendorff_")
        alpha, before = (
            "undefined" if math.isnan(a) else f"{a:.3f}" for a in (self.alpha, self.alpha_all)
        )
        notes = [
            f"Krippendorff's alpha ({level}): {alpha} on {counted(self.pairable, 'item')} with two "
            f"answers or more{f'; {before} before workers were dropped' if dropped else ''}.",
            f"{counted(self.items, 'item')}, {self.kept_answers} of "
            f"{counted(self.answers, 'answer')} kept, "
            f"{dropped} of {counted(len(self.workers), 'worker')} dropped.",
            f"Ties, counted as not present: {self.ties}. Items without an answer: "
            f"{self.unanswered}.",
            "compared: items on which the other workers have a majority, or with a gold label.",
        ]
        if self.undecided:
            notes.append(
                "These contradict one another; a third worker is needed to tell who is noisy: "
                f"{', '.join(self.undecided)}."
            )
        return [Table.of("Workers", columns, rows, (*notes, f"Signature: {self.signature}"))]

    def to_json(self) -> dict[str, Any]:
        """Everything as plain values, the workers with their shares."""
        workers = [{**record(worker), "share": worker.share} for worker in self.workers]
        return {**record(self), "workers": workers}


def krippendorff_alpha(
    answers: ArrayLike, level: Literal["nominal", "ordinal"] = "nominal"
) -> float:
    r"""Krippendorff's alpha, missing answers allowed.

    .. math:: \alpha = 1 - (n - 1)
        \frac{\sum_u \frac{1}{m_u - 1} \sum_{c,k} n_{uc} n_{uk} \delta_{ck}}{
        \sum_{c,k} n_c n_k \delta_{ck}}

    with :math:`m_u` the answers to item u (items with fewer than two are left out),
    :math:`n_{uc}` those that chose category c, and n, n_c the same summed over items.
    Nominal: :math:`\delta_{ck}` is 1 for two categories. Ordinal: the square of the answers from c
    to k, those of c and k counted half (Krippendorff 2011, *Computing Krippendorff's
    Alpha-Reliability*).

    Answers are (workers, items) numbers, each distinct value a category, NaN no answer. Alpha is at
    most 1; 0 is chance; NaN where no item has two answers, or all that can be paired are one
    category (no disagreement could have been seen).

    Example:
        >>> nan = float("nan")
        >>> round(krippendorff_alpha([[1, 0, 1, 1], [1, 0, 0, nan], [nan, 0, 0, 1]]), 4)
        0.64
    """
    table = _table(answers)
    categories = np.unique(table[~np.isnan(table)])
    if categories.size < 2:
        return math.nan
    counts = np.stack([(table == category).sum(axis=0) for category in categories])
    counts = counts[:, counts.sum(axis=0) >= 2].astype(np.float64)
    sizes = counts.sum(axis=0)
    each = counts.sum(axis=1)
    distance = 1 - np.eye(each.size)
    if level == "ordinal":
        middle = np.cumsum(each) - each / 2
        distance = (middle[:, None] - middle) ** 2
    expected = each @ distance @ each
    if expected == 0:
        return math.nan
    observed = ((counts * (distance @ counts)).sum(axis=0) / (sizes - 1)).sum()
    return float(1 - (sizes.sum() - 1) * observed / expected)


def majority_labels(answers: ArrayLike) -> FloatArray:
    """The majority of each item's answers, (items,); a tie is "not present" (ZB21 A.2).

    Where some say .5, the median; of two in the middle the lower. NaN where nobody answered.

    Example:
        >>> nan = float("nan")
        >>> majority_labels([[1, 1, nan], [1, 0, nan], [0, nan, nan]]).tolist()
        [1.0, 0.0, nan]
    """
    table = np.sort(_graded(answers), axis=0)  # NaN last
    if not len(table):
        return np.full(table.shape[1], np.nan)
    middle = np.maximum((~np.isnan(table)).sum(axis=0) - 1, 0) // 2
    return np.asarray(np.take_along_axis(table, middle[None], axis=0)[0])


def disagreement(
    answers: ArrayLike, gold: ArrayLike | None = None
) -> tuple[FloatArray, FloatArray]:
    """How often each worker contradicts the majority of the *other* workers; .5 contradicts none.

    Gives (workers,) numbers of compared items, and of those the worker disagreed on; items on which
    the others are tied, or on which there are no others, are not compared. Where `gold` (items,) is
    not NaN, it stands in the others' place.

    Example:
        >>> compared, disagreed = disagreement([[1, 1, 0], [1, 1, 0], [0, 1, 1]])
        >>> compared.tolist(), disagreed.tolist()
        ([1.0, 1.0, 3.0], [0.0, 0.0, 2.0])
    """
    table = _graded(answers)
    answered = ~np.isnan(table)
    votes = np.where(answered, 2 * table - 1, 0.0)
    lead = votes.sum(axis=0) - votes
    if gold is not None:
        truth = np.asarray(gold, dtype=np.float64)
        lead = np.where(np.isnan(truth), lead, 2 * truth - 1)
    compared = answered & (lead != 0)
    disagreed = compared & (np.sign(lead) == -np.sign(votes))
    return compared.sum(axis=1).astype(np.float64), disagreed.sum(axis=1).astype(np.float64)


def agree(
    answers: ArrayLike,
    workers: Sequence[str],
    *,
    noisy_above: float | None = 0.5,
    min_compared: int = 10,
    gold: ArrayLike | None = None,
) -> AgreementResult:
    """Drops noisy workers, takes the majority of the others, and measures their agreement.

    A worker is noisy who contradicts the majority of the others on more than `noisy_above` of the
    items that can be compared (ZB21 A.2 dropped one at 72 %). The worst one is dropped first and
    the rest are looked at again without that worker's answers, until nobody is noisy. Where a
    worker can be compared with one other alone, neither is dropped; they are `undecided`.

    Answers are (workers, items) of 1 (present), .5, 0 (not present) and NaN (no answer). Nobody is
    dropped on fewer compared items than `min_compared`. Where there is a `gold` label, (items,), a
    worker who contradicts it can be dropped even if nobody else answered.

    Example:
        >>> import numpy as np
        >>> truth = np.array([1, 0] * 10)
        >>> result = agree([truth, truth, truth, 1 - truth], ["a", "b", "c", "d"])
        >>> [(w.worker, w.share) for w in result.workers if w.dropped]
        [('d', 1.0)]
        >>> result.alpha
        1.0
    """
    table = _graded(answers)
    if table.shape[0] != len(workers):
        raise InputError(
            f"{counted(table.shape[0], 'row')} of answers for {counted(len(workers), 'worker')}",
            expected="one row for each worker",
        )
    if noisy_above is not None:
        as_type(float, noisy_above, what="noisy_above")
        if not 0 <= noisy_above <= 1:
            raise InputError(f"noisy_above is {noisy_above}", expected="a share from 0 to 1")
    truth = np.full(table.shape[1], np.nan) if gold is None else np.asarray(gold, np.float64)
    has_gold = np.isfinite(truth)
    remaining = table.copy()
    dropped: dict[int, tuple[float, float]] = {}
    while True:
        compared, disagreed = disagreement(remaining, truth)
        answered = (~np.isnan(remaining)).astype(np.float64)
        # Others with a common item (a worker's own items are one of them); gold counts as two.
        others = (answered @ answered.T > 0).sum(axis=1) - 1 + 2 * (answered @ has_gold > 0)
        enough = compared >= min_compared
        share = np.full_like(compared, -1.0)
        np.divide(disagreed, compared, out=share, where=enough & (others > 1))
        worst = int(np.argmax(share)) if share.size else 0
        if noisy_above is None or not share.size or share[worst] <= noisy_above:
            break
        dropped[worst] = compared[worst], disagreed[worst]
        remaining[worst] = np.nan
    by_worker = (~np.isnan(table)).sum(axis=1)
    records = []
    for i, name in enumerate(workers):
        items, wrong = map(int, dropped.get(i, (compared[i], disagreed[i])))
        records.append(WorkerRecord(name, int(by_worker[i]), items, wrong, i in dropped))
    records.sort(key=lambda w: (not w.dropped, -w.share if w.compared else 2.0, w.worker))
    undecided = np.zeros(len(workers), dtype=np.bool_)
    if noisy_above is not None:
        undecided = enough & (others == 1) & (disagreed > noisy_above * compared)
    answers_of = answered.sum(axis=0)
    level: Literal["nominal", "ordinal"] = "ordinal" if (table == 0.5).any() else "nominal"
    hashed = sorted(zip(workers, np.nan_to_num(table, nan=-1).tolist(), strict=True))
    return AgreementResult(
        labels=majority_labels(remaining),
        alpha=krippendorff_alpha(remaining, level),
        alpha_all=krippendorff_alpha(table, level),
        workers=tuple(records),
        items=int(table.shape[1]),
        answers=int(by_worker.sum()),
        kept_answers=int(answers_of.sum()),
        unanswered=int((answers_of == 0).sum()),
        ties=int(((answers_of > 0) & (2 * np.nansum(remaining, axis=0) == answers_of)).sum()),
        pairable=int((answers_of >= 2).sum()),
        undecided=tuple(w for w, flag in zip(workers, undecided, strict=True) if flag),
        signature=Signature.of(
            labels="majority",
            ties="not_present",
            noisy_above="never" if noisy_above is None else noisy_above,
            min_compared=min_compared,
            gold=None if gold is None else int(has_gold.sum()),
            answers_sha=fingerprint([hashed, np.nan_to_num(truth, nan=-1).tolist()]),
            alpha=f"krippendorff_{level}",
        ),
    )


def _table(answers: ArrayLike) -> FloatArray:
    table = np.asarray(answers, dtype=np.float64)
    if table.ndim != 2:
        raise InputError(f"answers of the shape {table.shape}", expected="a (workers, items) table")
    return table


def _graded(answers: ArrayLike) -> FloatArray:
    table = _table(answers)
    if not (np.isnan(table) | np.isin(table, (0, 0.5, 1))).all():
        raise InputError("an answer is not 0, 0.5 or 1", expected="0, 0.5, 1, or NaN for none")
    return table
