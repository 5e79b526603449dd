"""Agreement among people: Krippendorff's alpha, noisy workers, majority labels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from litepyramid.errors import InputError
from litepyramid.tables import Column, Result, Table, record, row
from litepyramid.text import counted
from litepyramid.types import FloatArray, Signature


@dataclass(frozen=True, slots=True)
class WorkerRecord:
    """How often one worker contradicted the others.

    Attributes:
        worker: The worker's name.
        answers: How many items the worker answered.
        compared: On how many of them the other workers had a majority.
        disagreed: On how many of those the worker said the opposite.
        dropped: Whether the worker's answers were left out.
    """

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
        labels: (items,) float64: 1 present, .5 in part, 0 not present, NaN no answer left.
        alpha: Krippendorff's alpha of the answers that were kept; NaN where it is undefined.
            Ordinal where some are .5, else nominal.
        alpha_all: The same before noisy workers were dropped.
        workers: One record per worker, the worst first.
        items: Number of items.
        answers: Number of answers before workers were dropped.
        kept_answers: Number of answers after.
        unanswered: Items with no answer left.
        ties: Items with as many yes as no, counted as not present.
        pairable: Items with at least two kept answers: those that alpha is computed on.
        signature: The settings.
        undecided: Workers who contradict the one other worker there is to compare with on more
            than the threshold: one of the two is noisy, nobody can tell which, so both stay.
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
        columns = (
            *("worker", "answers", "compared", "disagreed"),
            Column("share", "share disagreed"),
            "dropped",
        )
        rows = (row(w, share=w.share, dropped="yes" if w.dropped else "no") for w in self.workers)
        dropped = sum(w.dropped for w in self.workers)
        level = dict(self.signature.fields)["alpha"].removeprefix("krippendorff_")
        notes = [
            f"Krippendorff's alpha ({level}): {_number(self.alpha)} on "
            f"{counted(self.pairable, 'item')} with two answers or more"
            + (f"; {_number(self.alpha_all)} before workers were dropped." if dropped else "."),
            f"{counted(self.items, 'item')}, {self.kept_answers} of "
            f"{counted(self.answers, 'answer')} kept, "
            f"{dropped} of {counted(len(self.workers), 'worker')} dropped.",
            f"Ties, counted as not present: {self.ties}. Items without an answer: "
            f"{self.unanswered}.",
            "compared: items on which the other workers have a majority, or with a gold label.",
        ]
        if self.undecided:
            notes.append(
                f"These contradict one another; a third worker is needed to tell who is noisy: "
                f"{', '.join(self.undecided)}."
            )
        notes.append(f"Signature: {self.signature}")
        return [Table.of("Workers", columns, rows, notes)]

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
    :math:`n_{uc}` those that chose category c, and n, n_c the same summed over the items kept.
    Nominal: :math:`\delta_{ck}` is 1 for two categories. Ordinal: the square of the answers from c
    to k, those of c and k counted half (Krippendorff 2011, *Computing Krippendorff's
    Alpha-Reliability*).

    Args:
        answers: (workers, items) numbers, each distinct value a category; NaN is "no answer".
        level: Whether categories differ, or stand in an order, as 0, .5 and 1 do.

    Returns:
        At most 1; 0 is chance. NaN where it is undefined: no item has two answers, or all the
        answers that can be paired are one category (no disagreement could have been seen).

    Raises:
        InputError: `answers` is not a table.

    Example:
        >>> nan = float("nan")
        >>> round(krippendorff_alpha([[1, 0, 1, 1], [1, 0, 0, nan], [nan, 0, 0, 1]]), 4)
        0.64
    """
    table = np.asarray(answers, dtype=np.float64)
    if table.ndim != 2:
        raise InputError(f"answers of the shape {table.shape}", expected="a (workers, items) table")
    categories = np.unique(table[~np.isnan(table)])
    if categories.size < 2:
        return math.nan
    counts = np.stack([(table == category).sum(axis=0) for category in categories])
    counts = counts[:, counts.sum(axis=0) >= 2].astype(np.float64)
    sizes = counts.sum(axis=0)
    total = sizes.sum()
    each = counts.sum(axis=1)
    distance = 1 - np.eye(each.size)
    if level == "ordinal":
        middle = np.cumsum(each) - each / 2
        distance = (middle[:, None] - middle) ** 2
    expected = each @ distance @ each
    if expected == 0:
        return math.nan
    observed = ((counts * (distance @ counts)).sum(axis=0) / (sizes - 1)).sum()
    return float(1 - (total - 1) * observed / expected)


def majority_labels(answers: ArrayLike) -> FloatArray:
    """What most workers said of each item; a tie is "not present" (ZB21 A.2).

    Where some say .5, the median; of two in the middle the lower.

    Args:
        answers: (workers, items) of 1 (present), .5, 0 (not present) and NaN (no answer).

    Returns:
        (items,) of 1, .5 and 0; NaN where nobody answered.

    Example:
        >>> nan = float("nan")
        >>> majority_labels([[1, 1, nan], [1, 0, nan], [0, nan, nan]]).tolist()
        [1.0, 0.0, nan]
    """
    table = np.sort(_graded(answers), axis=0)  # NaN last
    given = (~np.isnan(table)).sum(axis=0)
    middle = np.maximum(given - 1, 0) // 2
    if not len(table):
        return np.full(given.shape, np.nan)
    return np.asarray(np.take_along_axis(table, middle[None], axis=0)[0])


def random_labels(answers: ArrayLike, rounds: int, rng: np.random.Generator) -> FloatArray:
    """One answer to each item, drawn from those given, again in each round (ZB21 A.2).

    How far results hang on the annotators: ZB21 drew one of four instead of the majority, three
    times, and found the same correlations.

    Args:
        answers: (workers, items) of 1, 0 and NaN (no answer).
        rounds: How often to draw.
        rng: Draws them.

    Returns:
        (rounds, items) of 1 and 0; NaN where nobody answered.

    Raises:
        InputError: A wrong shape, an answer that is not 1, .5, 0 or NaN, or fewer than no
            rounds.

    Example:
        >>> nan = float("nan")
        >>> random_labels([[1, 1, nan], [1, nan, nan]], 2, np.random.default_rng(0)).tolist()
        [[1.0, 1.0, nan], [1.0, 1.0, nan]]
    """
    if rounds < 0:
        raise InputError(f"{rounds} rounds", expected="0 or more")
    table = _graded(answers)
    order = np.where(np.isnan(table), -1.0, rng.random((rounds, *table.shape)))
    return np.take_along_axis(table, order.argmax(axis=1), axis=0)


def disagreement(
    answers: ArrayLike, gold: ArrayLike | None = None
) -> tuple[FloatArray, FloatArray]:
    """How often each worker contradicts the majority of the *other* workers; .5 contradicts none.

    Leaving the worker's own answer out means that nobody agrees with a majority that they made;
    items on which the others are tied, or on which there are no others, are not compared.

    Args:
        answers: (workers, items) of 1, 0 and NaN.
        gold: (items,) known labels, NaN where not known: compared with in the others' place.

    Returns:
        (workers,) numbers of compared items, and of those the worker disagreed on.

    Example:
        >>> compared, disagreed = disagreement([[1, 1, 0], [1, 1, 0], [0, 1, 1]])
        >>> compared.tolist(), disagreed.tolist()
        ([1.0, 1.0, 3.0], [0.0, 0.0, 2.0])
    """
    table = _graded(answers)
    given = ~np.isnan(table)
    own = np.where(given, table, 0.0)
    others_given = given.sum(axis=0) - given
    others_yes = own.sum(axis=0) - own
    lead = 2 * others_yes - others_given
    known = np.nan if gold is None else np.asarray(gold, dtype=np.float64)
    lead = np.where(np.isnan(known), lead, 2 * known - 1)
    compared = given & (lead != 0)
    disagreed = compared & (np.sign(lead) == -np.sign(2 * own - 1))
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
    the rest are looked at again without that worker's answers, until nobody is noisy: one bad
    worker cannot make good ones look bad. Where a worker can be compared with one other alone, one
    word stands against another, so neither is dropped; they are named as `undecided`.

    Args:
        answers: (workers, items) of 1 (present), .5, 0 (not present) and NaN (no answer).
        workers: Their names, in the order of the rows.
        noisy_above: The share of disagreement above which a worker is dropped; None drops nobody.
        min_compared: Nobody is dropped on fewer compared items than this.
        gold: (items,) known labels, NaN where not known. Answers to those items are compared with
            them, and a worker who contradicts them can be dropped even if nobody else answered.

    Raises:
        InputError: A wrong shape, an answer that is not 1, .5, 0 or NaN, a bad threshold.

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
    if noisy_above is not None and not 0 <= noisy_above <= 1:
        raise InputError(f"noisy_above is {noisy_above}", expected="a share between 0 and 1")
    known = np.isfinite(
        np.full(table.shape[1], np.nan) if gold is None else np.asarray(gold, float)
    )
    kept = table.copy()
    gone: dict[int, tuple[float, float]] = {}
    given = (~np.isnan(table)).sum(axis=1)
    while True:
        compared, disagreed = disagreement(kept, gold)
        answered = (~np.isnan(kept)).astype(np.float64)
        # Others with a common item; a worker's own items are one of them.
        others = (answered @ answered.T > 0).sum(axis=1) - 1 + 2 * (answered @ known > 0)
        enough = compared >= min_compared
        share = np.full_like(compared, -1.0)
        np.divide(disagreed, compared, out=share, where=enough & (others > 1))
        worst = int(np.argmax(share)) if share.size else 0
        if noisy_above is None or not share.size or share[worst] <= noisy_above:
            break
        gone[worst] = compared[worst], disagreed[worst]
        kept[worst] = np.nan
    seen = [gone.get(i, pair) for i, pair in enumerate(zip(compared, disagreed, strict=True))]
    records = [
        WorkerRecord(name, int(given[i]), int(seen[i][0]), int(seen[i][1]), i in gone)
        for i, name in enumerate(workers)
    ]
    records.sort(key=lambda w: (not w.dropped, -w.share if w.compared else 2.0, w.worker))
    undecided = np.zeros(len(workers), dtype=np.bool_)
    if noisy_above is not None:
        undecided = enough & (others == 1) & (disagreed > noisy_above * compared)
    labels = majority_labels(kept)
    yes = np.nansum(kept, axis=0)
    counts = answered.sum(axis=0)
    level: Literal["nominal", "ordinal"] = "ordinal" if (table == 0.5).any() else "nominal"
    return AgreementResult(
        labels=labels,
        alpha=krippendorff_alpha(kept, level),
        alpha_all=krippendorff_alpha(table, level),
        workers=tuple(records),
        items=int(table.shape[1]),
        answers=int(given.sum()),
        kept_answers=int(counts.sum()),
        unanswered=int((counts == 0).sum()),
        ties=int(((counts > 0) & (2 * yes == counts)).sum()),
        pairable=int((counts >= 2).sum()),
        undecided=tuple(w for w, flag in zip(workers, undecided, strict=True) if flag),
        signature=Signature.of(
            labels="majority",
            ties="not_present",
            noisy_above="never" if noisy_above is None else noisy_above,
            min_compared=min_compared,
            gold=None if gold is None else int(known.sum()),
            alpha=f"krippendorff_{level}",
        ),
    )


def _graded(answers: ArrayLike) -> FloatArray:
    table = np.asarray(answers, dtype=np.float64)
    if table.ndim != 2:
        raise InputError(f"answers of the shape {table.shape}", expected="a (workers, items) table")
    if not (np.isnan(table) | np.isin(table, (0, 0.5, 1))).all():
        raise InputError(
            "an answer is not 0, 0.5 or 1",
            expected="1 present, 0.5 in part, 0 not present, NaN no answer",
        )
    return table


def _number(value: float) -> str:
    return "undefined" if math.isnan(value) else f"{value:.3f}"
