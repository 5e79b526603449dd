"""Agreement among people: Krippendorff's alpha, noisy workers, majority labels."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from litepyramid.checked import as_type
from litepyramid.errors import InputError
from litepyramid.identity import fingerprint
from litepyramid.tables import Column, Result, Table, row
from litepyramid.types import Ends, FloatArray, Signature

AlphaLevel = Literal["nominal", "ordinal"]


@dataclass(frozen=True)
class WorkerRecord:
    """How often a worker contradicted the majority of the others, where they have one.

    Attributes:
        compared: Items on which they have one.
        share: disagreed / compared; NaN when nothing could be compared.
        undecided: Whether the share is too high, but there is only one other worker to
            compare with: nobody can tell which of the two is noisy, so both stay.
    """

    worker: str
    answers: int
    compared: int
    disagreed: int
    share: float
    dropped: bool
    undecided: bool


@dataclass(frozen=True)
class AgreementResult(Result):
    """Labels that people gave, and how far they can be trusted.

    Attributes:
        labels: (items,) float64: 1 present, .5 in part, 0 not present, NaN without an
            answer.
        level: Ordinal where some answers are .5, else nominal.
        alpha: Krippendorff's alpha of that level, without dropped workers; NaN where it
            is undefined. `alpha_all` is that of all workers.
        kappa: `cohen_kappa` of two workers; NaN of any other number.
        workers: One record per worker, the worst first.
        counts: Items, those without an answer, ties (counted as not present), those
            with two answers or more (which alpha is computed on); all answers, those
            not dropped.
    """

    labels: FloatArray
    level: AlphaLevel
    alpha: float
    alpha_all: float
    kappa: float
    workers: tuple[WorkerRecord, ...]
    counts: Mapping[str, int]
    signature: Signature

    def to_tables(self) -> Sequence[Table]:
        """The workers, and the counts and alpha in notes."""
        share = Column("share", "share disagreed")
        columns = ("worker", "answers", "compared", "disagreed", share, "dropped")
        dropped = {True: "yes", False: "no"}
        rows = [
            row(w, dropped="?" if w.undecided else dropped[w.dropped])
            for w in self.workers
        ]
        alpha, before = map(_told, (self.alpha, self.alpha_all))
        notes = [
            f"Krippendorff's alpha ({self.level}): {alpha}; {before} with all workers.",
            ", ".join(f"{what}: {number}" for what, number in self.counts.items())
            + ".",
            "compared: items on which the other workers have a majority.",
        ]

        if not math.isnan(self.kappa):
            notes.insert(1, f"Cohen's kappa of the two workers: {self.kappa:.3f}.")
        if any(w.undecided for w in self.workers):
            notes.append(
                "?: contradicts one other; a third worker is needed to tell who is "
                "noisy."
            )

        return [
            Table.of("Workers", columns, rows, (*notes, f"Signature: {self.signature}"))
        ]


def _told(alpha: float) -> str:
    return "undefined" if math.isnan(alpha) else f"{alpha:.3f}"


def krippendorff_alpha(answers: ArrayLike, level: AlphaLevel = "nominal") -> float:
    r"""Krippendorff's alpha, missing answers allowed.

    .. math:: \alpha = 1 - (n - 1)
        \frac{\sum_u \frac{1}{m_u - 1} \sum_{c,k} n_{uc} n_{uk} \delta_{ck}}{
        \sum_{c,k} n_c n_k \delta_{ck}}

    with :math:`m_u` the answers to item u (items with fewer than two are left out),
    :math:`n_{uc}` those that chose category c, and n, n_c the same summed over items.
    Nominal: :math:`\delta_{ck}` is 1 for two categories. Ordinal: the square of the
    answers from c to k, those of c and k counted half (Krippendorff 2011, *Computing
    Krippendorff's Alpha-Reliability*).

    Answers are (workers, items) numbers, each distinct value a category, NaN no answer.
    NaN where no item has two answers, or all that can be paired are one category.
    """
    table = np.asarray(answers, dtype=np.float64)
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

    # Disagreement of answers paired at random, and below of those on one item.
    expected = each @ distance @ each
    if expected == 0:
        return math.nan
    observed = ((counts * (distance @ counts)).sum(axis=0) / (sizes - 1)).sum()
    return float(1 - (sizes.sum() - 1) * observed / expected)


def majority_labels(answers: ArrayLike) -> FloatArray:
    """The majority of each item's answers, (items,); a tie is "not present" (ZB21 A.2).

    Where some say .5, the median; of two in the middle the lower. NaN where nobody
    answered.
    """
    table = np.sort(np.asarray(answers, dtype=np.float64), axis=0)  # NaN last
    if not len(table):
        return np.full(table.shape[1], np.nan)
    middle = np.maximum((~np.isnan(table)).sum(axis=0) - 1, 0) // 2
    return np.asarray(np.take_along_axis(table, middle[None], axis=0)[0])


def cohen_kappa(answers: ArrayLike) -> float:
    r"""Cohen's κ (1960) of two workers over the items that both answered.

    .. math:: \kappa = \frac{p_o - p_e}{1 - p_e}

    with the share of items on which they agree, and that expected by chance from how
    often each gives each answer. NaN of more or fewer workers, or where chance alone
    agrees always.
    """
    table = np.asarray(answers, dtype=np.float64)
    table = table[~np.isnan(table).all(axis=1)]
    both = table[:, ~np.isnan(table).any(axis=0)]
    if len(both) != 2 or not both.size:
        return math.nan

    chance = 0.0
    for answer in np.unique(both):
        first, second = (both == answer).mean(axis=1)
        chance += first * second
    agreed = (both[0] == both[1]).mean()
    return float((agreed - chance) / (1 - chance)) if chance < 1 else math.nan


def disagreement(answers: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """How often each worker contradicts the majority of the *other* workers; .5
    contradicts none.

    Gives (workers,) numbers of compared items, and of those the worker disagreed on;
    items on which the others are tied, or on which there are no others, are not
    compared.
    """
    table = np.asarray(answers, dtype=np.float64)
    answered = ~np.isnan(table)
    votes = np.where(answered, 2 * table - 1, 0.0)
    lead = votes.sum(axis=0) - votes

    compared = answered & (lead != 0)
    disagreed = compared & (np.sign(lead) == -np.sign(votes))
    return compared.sum(axis=1), disagreed.sum(axis=1)


def agree(
    answers: ArrayLike,
    workers: Sequence[str],
    *,
    noisy_above: float = 0.5,
    min_compared: int = 10,
) -> AgreementResult:
    """Drops noisy workers, takes the majority of the others, and measures their
    agreement.

    A worker is noisy who contradicts the majority of the others on more than
    `noisy_above` of the items that can be compared (ZB21 A.2 dropped one at 72 %). The
    worst one (of equals the first) is dropped first and the rest are looked at again
    without that worker's answers, until nobody is noisy.

    Answers are (workers, items) of 1 (present), .5, 0 (not present) and NaN (no
    answer). Nobody is dropped on fewer compared items than `min_compared`.
    """
    table = np.asarray(answers, dtype=np.float64)
    if not 0 <= as_type(float, noisy_above, what="noisy_above") <= 1:
        raise InputError(
            f"noisy_above is {noisy_above}", expected="a share from 0 to 1"
        )

    remaining = table.copy()
    dropped: dict[int, Ends] = {}

    while True:
        compared, disagreed = disagreement(remaining)
        answered = (~np.isnan(remaining)).astype(np.float64)
        # Others with a common item; a worker's own items are one of them.
        others = (answered @ answered.T > 0).sum(axis=1) - 1
        enough = compared >= min_compared
        share = np.where(
            enough & (others > 1), disagreed / np.maximum(compared, 1), -1.0
        )
        worst = int(np.argmax(share)) if share.size else 0
        if not share.size or share[worst] <= noisy_above:
            break
        dropped[worst] = compared[worst], disagreed[worst]
        remaining[worst] = np.nan

    undecided = enough & (others == 1) & (disagreed > noisy_above * compared)
    given = (~np.isnan(table)).sum(axis=1).tolist()
    records = []

    for i, name in enumerate(workers):
        items, wrong = map(int, dropped.get(i, (compared[i], disagreed[i])))
        rate = wrong / items if items else math.nan
        out = i in dropped
        records.append(
            WorkerRecord(
                name,
                given[i],
                items,
                wrong,
                rate,
                out,
                bool(undecided[i]),
            )
        )

    records.sort(
        key=lambda w: (not w.dropped, -w.share if w.compared else 2.0, w.worker)
    )
    answers_of = answered.sum(axis=0)
    labels = majority_labels(remaining)
    # Of two answers in the middle the lower is the label; here the other one is higher.
    tied = (labels == 0) & (-majority_labels(-remaining) > 0)
    level: AlphaLevel = "ordinal" if (table == 0.5).any() else "nominal"
    hashed = list(zip(workers, np.nan_to_num(table, nan=-1).tolist(), strict=True))

    return AgreementResult(
        labels=labels,
        level=level,
        alpha=krippendorff_alpha(remaining, level),
        alpha_all=krippendorff_alpha(table, level),
        kappa=cohen_kappa(remaining),
        workers=tuple(records),
        counts={
            "items": table.shape[1],
            "without an answer": int((answers_of == 0).sum()),
            "ties (not present)": int(tied.sum()),
            "with two answers or more": int((answers_of >= 2).sum()),
            "answers": sum(given),
            "answers kept": int(answers_of.sum()),
        },
        signature=Signature.of(
            labels="majority",
            ties="not_present",
            noisy_above=noisy_above,
            min_compared=min_compared,
            answers_sha=fingerprint(hashed),
            alpha=f"krippendorff_{level}",
        ),
    )
