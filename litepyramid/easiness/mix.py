"""Which sentences carry STUs and which keep their SCUs: Lite2.x (ZB21 §3.3)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from litepyramid.easiness.gold import check_same_inputs, gold_easiness, placement_notes
from litepyramid.easiness.scores import Easiness, easiest_first
from litepyramid.errors import InputError
from litepyramid.stats import mean_of_scored
from litepyramid.tables import HIDDEN, Column, Result, Table, record
from litepyramid.types import FloatArray, InputUnits, Signature, Unit
from litepyramid.units.align import Alignment, Sentence, align_both

By = Literal["easiness", "random", "reversed", "gold"]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Mix(Result):
    """The units of every input after some sentences were switched to STUs.

    Attributes:
        units: Units of every input, each with its reference and sentence.
        sentences: n sentences.
        carries_stus: (n,) bool, whether a sentence carries STUs; else it keeps its SCUs.
        easiness: (n,) float64, the values used for the choice; NaN if there are none.
        by: How sentences were chosen.
        notes: What a user must know.
        signature: How to reproduce it.
    """

    units: tuple[InputUnits, ...]
    sentences: tuple[Sentence, ...]
    carries_stus: BoolArray = field(metadata=HIDDEN)
    easiness: FloatArray = field(metadata=HIDDEN)
    by: str
    notes: tuple[str, ...] = ()
    signature: Signature = field(default_factory=lambda: Signature(()))

    def counts(self) -> dict[str, int]:
        """How many sentences and units of each kind there are."""
        kinds = [unit.kind for entry in self.units for unit in entry.units]
        return {
            "sentences": len(self.sentences),
            "stu_sentences": int(self.carries_stus.sum()),
            "scu_sentences": int((~self.carries_stus).sum()),
            "stus": kinds.count("stu"),
            "scus": kinds.count("scu"),
        }

    def to_tables(self) -> Sequence[Table]:
        """Sentences and units of each kind."""
        n = self.counts()
        columns = (
            *("carries", "sentences", "share", "units"),
            Column("easiness", "mean easiness"),
        )
        rows = [
            {
                "carries": f"{kind.upper()}s",
                "sentences": n[f"{kind}_sentences"],
                "share": n[f"{kind}_sentences"] / max(1, n["sentences"]),
                "units": n[f"{kind}s"],
                "easiness": mean_of_scored(self.easiness[mask]),
            }
            for kind, mask in (("stu", self.carries_stus), ("scu", ~self.carries_stus))
        ]
        notes = (*self.notes, f"Signature: {self.signature}")
        return [Table.of("Units after mixing", columns, rows, notes)]

    def to_json(self) -> dict[str, Any]:
        """Counts, sentences and units."""
        marked = zip(self.sentences, self.easiness, self.carries_stus, strict=True)
        sentences = [
            {**record(s), "easiness": float(value), "carries": "stu" if chosen else "scu"}
            for s, value, chosen in marked
        ]
        return {"counts": self.counts(), **record(self), "sentences": sentences}


def stu_count(share: float | Decimal, sentences: int) -> int:
    """``floor(x n)``: how many of n sentences carry STUs at a share of x.

    The share is taken as the decimal number that was written, so that .29 of 100 is 29 and not
    28, which is what binary floats make of it.

    Raises:
        InputError: The share is not between 0 and 1.

    Example:
        >>> stu_count(0.29, 100), stu_count(0.5, 7), stu_count(1, 7)
        (29, 3, 7)
    """
    if not 0 <= share <= 1:
        raise InputError(f"the share is {share}", expected="a number from 0 to 1")
    return math.floor(Decimal(str(share)) * sentences)


def human_count(share: float, sentences: int) -> int:
    """How many of n sentences keep SCUs at people's share: all but those that carry STUs.

    Example:
        >>> human_count(0.5, 7), stu_count(0.5, 7)
        (4, 3)
    """
    stu_count(share, 0)  # is it a share?
    return sentences - stu_count(1 - Decimal(str(share)), sentences)


def ranking(
    by: By, easiness: FloatArray | None, n: int, rng: np.random.Generator | None = None
) -> NDArray[np.int64]:
    """The sentences in the order in which they are switched to STUs.

    ``easiness`` and ``gold``: the easiest first. ``reversed``: the hardest first. ``random``: any
    order. Of equally easy sentences the first goes first (the last, if reversed: the exact
    reverse); one without a value counts as harder than all others.

    Args:
        by: How to choose.
        easiness: (n,) predicted or gold easiness; unused at random.
        n: Number of sentences.
        rng: Draws the random order.

    Raises:
        InputError: `by` is none of these, or what it needs is missing.

    Example:
        >>> ranking("easiness", np.array([0.2, 0.9, 0.9, np.nan]), 4).tolist()
        [1, 2, 0, 3]
    """
    if by == "random":
        if rng is None:
            raise InputError("random mixing has no generator", hint="Give a seeded one.")
        return rng.permutation(n)
    if by not in get_args(By):
        raise InputError(f"unknown way of mixing '{by}'", expected=", ".join(get_args(By)))
    if easiness is None or easiness.shape != (n,):
        raise InputError(
            f"mixing by {by} needs the easiness of all sentences", expected=f"{n} values"
        )
    order = easiest_first(easiness)
    return order[::-1] if by == "reversed" else order


def carriers(order: NDArray[np.int64], count: int) -> BoolArray:
    """Whether each sentence carries STUs when the first `count` of the order do.

    Raises:
        InputError: `count` is negative or more than all.
    """
    if not 0 <= count <= order.size:
        raise InputError(
            f"{count} sentences are to carry STUs", expected=f"a number from 0 to {order.size}"
        )
    chosen = np.zeros(order.size, dtype=np.bool_)
    chosen[order[:count]] = True
    return chosen


def mix(
    scus: Sequence[InputUnits],
    stus: Sequence[InputUnits],
    sentences: Sequence[Sentence],
    count: int,
    *,
    by: By = "easiness",
    easiness: Easiness | None = None,
    seed: int | None = None,
) -> Mix:
    """Gives `count` sentences of the whole data set their STUs; the others keep their SCUs.

    All sentences of all inputs are ranked together (ZB21 §3.3), and the budget is exact: with 0
    the units are the SCUs, with all sentences they are the STUs, and a sentence is never lost for
    having no SCU. Within an input come the SCUs that are left, then the STUs, each in the order
    of their file.

    Args:
        scus: The SCUs of every input.
        stus: The STUs of the same inputs.
        sentences: The sentences of the references of these inputs.
        count: How many sentences carry STUs; `stu_count` gives it for a share.
        by: ``easiness`` and ``reversed`` go by `easiness`, ``gold`` by gold easiness, ``random``
            by `seed`.
        easiness: Predicted easiness, or gold (computed from the units if it is not given).
        seed: Seed of the random choice.

    Raises:
        InputError: The inputs differ, something needed is missing, the budget is impossible, or
            an input would be left without any unit.

    Example:
        >>> s = [Sentence("a", 0, 0, "A cat sat ."), Sentence("a", 0, 1, "It purred .")]
        >>> human = [InputUnits("a", (Unit("A cat sat."), Unit("It purred.")))]
        >>> machine = [InputUnits("a", (Unit("A cat sat", kind="stu"),
        ...                             Unit("It purred", kind="stu")))]
        >>> mix(human, machine, s, 1, by="gold").units[0].texts
        ('It purred.', 'A cat sat')
    """
    check_same_inputs(scus, stus)
    wanted = {entry.input for entry in scus}
    kept = tuple(s for s in sentences if s.input in wanted)
    if by == "gold" and easiness is None:
        easiness = gold_easiness(scus, stus, kept)
    values = easiness.of(kept) if easiness is not None and by != "random" else None
    if by == "random" and seed is None:
        raise InputError(
            "random mixing needs a seed", hint="Give one, so that the result can be reproduced."
        )
    rng = np.random.default_rng(seed) if by == "random" else None
    chosen = carriers(ranking(by, values, len(kept), rng), count)
    of_scu, of_stu = align_both(scus, stus, kept)
    units = combine(of_scu, of_stu, kept, chosen)
    for entry in units:
        if not entry.units:
            raise InputError(
                f"input '{entry.input}' is left without a unit: the sentences that carry STUs "
                "have none and the others have no SCU",
                hint="Use units that name their sentences, or another number of sentences.",
            )
    return Mix(
        units,
        kept,
        chosen,
        np.full(len(kept), np.nan) if values is None else values,
        by,
        (*placement_notes(of_scu, of_stu), *_choice_notes(kept, chosen, values, of_scu)),
        Signature.of(
            mix=by,
            stu_sentences=f"{count}/{len(kept)}",
            easiness=None if easiness is None else dict(easiness.signature.fields).get("easiness"),
            seed=seed if by == "random" else None,
        ),
    )


def combine(
    scus: Sequence[Alignment],
    stus: Sequence[Alignment],
    sentences: Sequence[Sentence],
    carries_stus: BoolArray,
) -> tuple[InputUnits, ...]:
    """SCUs of the sentences that keep them, then STUs of those that carry them, input by input.

    What is left of an SCU with several contributors weighs as much as it has contributors in
    sentences that keep their SCUs.
    """
    changed = {s.key for s, flag in zip(sentences, carries_stus, strict=True) if flag}

    def taken(alignment: Alignment, wanted: bool) -> tuple[Unit, ...]:
        name = alignment.units.input
        left: dict[int, list[Unit]] = {}
        for i, unit in zip(alignment.of, alignment.units.units, strict=True):
            if ((name, unit.reference, unit.sentence) in changed) is wanted:
                left.setdefault(i, []).append(unit)
        return tuple(map(_joined, left.values()))

    machine = {alignment.units.input: alignment for alignment in stus}
    return tuple(
        InputUnits(a.units.input, taken(a, False) + taken(machine[a.units.input], True))
        for a in scus
    )


def _joined(entries: Sequence[Unit]) -> Unit:
    """Entries of one unit as one unit again."""
    if len(entries) == 1:
        return entries[0]
    places = tuple((entry.reference, entry.sentence) for entry in entries)
    weight = sum(entry.weight for entry in entries)
    return replace(entries[0], weight=weight, reference=None, sentence=None, places=places)


def _choice_notes(
    sentences: Sequence[Sentence],
    chosen: BoolArray,
    values: FloatArray | None,
    of_scu: Sequence[Any],
) -> list[str]:
    notes = []
    with_scu = {
        (a.units.input, unit.reference, unit.sentence) for a in of_scu for unit in a.units.units
    }
    without = sum(s.key not in with_scu for s in sentences)
    if without:
        notes.append(f"{without} of {len(sentences)} sentences have no SCU.")
    if values is not None and 0 < chosen.sum() < chosen.size:
        edge = set(values[chosen][~np.isnan(values[chosen])]) & set(values[~chosen])
        tied = int(np.isin(values, list(edge)).sum()) if edge else 0
        if tied:
            notes.append(
                f"{tied} equally easy sentences are at the cut-off; earlier ones were chosen first."
            )
    return notes
