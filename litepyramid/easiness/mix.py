"""Which sentences carry STUs and which keep their SCUs: Lite2.x (ZB21 §3.3)."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import compress
from typing import Literal

import numpy as np

from litepyramid.checked import number
from litepyramid.data.data import load_rated
from litepyramid.data.records import InputUnits, Unit, Units
from litepyramid.easiness.gold import (
    Easiness,
    by_sentence,
    check_same_inputs,
    easiest_first,
    gold_easiness,
    placement_notes,
    read_easiness,
)
from litepyramid.easiness.predict import EasinessLike, sentence_easiness
from litepyramid.errors import InputError, choose, no_effect
from litepyramid.identity import fingerprint
from litepyramid.stats import mean_of_scored
from litepyramid.tables import HIDDEN, Column, Table, record
from litepyramid.text import counted, cut
from litepyramid.types import (
    BoolArray,
    ColumnsLike,
    Fields,
    FloatArray,
    IntArray,
    Signature,
    Texts,
    TextsLike,
    UnitsLike,
)
from litepyramid.units.align import Alignment, Place, Sentence, align_both, sentences_of
from litepyramid.units.extract import UnitsResult, extract

By = Literal["easiness", "random", "reversed", "gold"]


@dataclass(frozen=True)
class Mix(UnitsResult):
    """The units of every input after some sentences were switched to STUs.

    Attributes:
        units: Units of every input, each with its reference and sentence.
        carries_stus: (sentences,) bool, whether a sentence carries STUs; else it keeps
            its SCUs.
        easiness: (sentences,) float64, the values used for the choice; NaN if there are
            none.
        notes: How units were placed, sentences without an SCU, ties at the cut-off.
    """

    sentences: tuple[Sentence, ...]
    carries_stus: BoolArray = field(metadata=HIDDEN)
    easiness: FloatArray = field(metadata=HIDDEN)
    by: str
    notes: Texts = ()
    signature: Signature = field(default_factory=lambda: Signature(()))

    def counts(self) -> dict[str, int]:
        """How many sentences and units of each kind there are."""
        kinds = [unit.kind for entry in self.units for unit in entry.units]
        total = len(self.sentences)
        changed = int(self.carries_stus.sum())
        return {
            "sentences": total,
            "stu_sentences": changed,
            "scu_sentences": total - changed,
            "stus": kinds.count("stu"),
            "scus": kinds.count("scu"),
        }

    def to_tables(self) -> Sequence[Table]:
        """Sentences and units of each kind."""
        n = self.counts()
        names = "carries", "sentences", "share", "units"
        columns = (*map(Column, names), Column("easiness", "mean easiness"))
        rows = []

        for kind, mask in (("stu", self.carries_stus), ("scu", ~self.carries_stus)):
            share = n[f"{kind}_sentences"] / max(1, n["sentences"])
            counts = (n[f"{kind}_sentences"], share, n[f"{kind}s"])
            rows.append(
                (f"{kind.upper()}s", *counts, mean_of_scored(self.easiness[mask]))
            )

        notes = (*self.notes, f"Signature: {self.signature}")
        return [Table("Units after mixing", columns, tuple(rows), notes)]

    def json_entries(self) -> Fields:
        """Counts, sentences and units."""
        marked = zip(self.sentences, self.easiness, self.carries_stus, strict=True)
        sentences = []
        for sentence, value, chosen in marked:
            sentences.append(
                {
                    **record(sentence),
                    "easiness": float(value),
                    "carries": "stu" if chosen else "scu",
                }
            )
        return {
            "counts": self.counts(),
            **record(self),
            "sentences": sentences,
        }


def stu_count(share: float | Decimal, sentences: int) -> int:
    """``floor(x n)`` of n sentences, x as written: .29 of 100 is 29, not 28 as in
    binary floats, and 1/3 of 6 is 2."""
    if number(share) is None or isinstance(share, str) or not 0 <= share <= 1:
        raise InputError(
            f"the share is {cut(repr(share))}", expected="a number from 0 to 1"
        )
    # A third is written with some digits only.
    return math.floor(round(Decimal(str(share)) * sentences, 9))


def as_share(value: float | str) -> float:
    """A share of the sentences: .3, or 30%."""
    text = str(value).strip()
    share = number(text.removesuffix("%"))
    if share is None:
        raise InputError(
            f"the share is {cut(repr(value))}", expected="a number from 0 to 1, or 30%"
        )
    if text.endswith("%"):
        share /= 100
    stu_count(share, 0)  # is it a share?
    return share


def human_count(share: float, sentences: int) -> int:
    """How many of n sentences keep SCUs at people's share: all but those that carry
    STUs."""
    stu_count(share, 0)  # is it a share?
    return sentences - stu_count(1 - Decimal(str(share)), sentences)


def ranking(by: By, easiness: FloatArray, seed: int = 12345) -> IntArray:
    """The sentences in the order in which they are switched to STUs.

    ``easiness`` and ``gold``: the easiest first; ``reversed`` is their exact reverse.
    Of equally easy sentences the first goes first; one without a value counts as harder
    than all others.
    """
    choose("way of mixing", by, By)
    if by == "random":
        return np.random.default_rng(seed).permutation(easiness.size)
    order = easiest_first(easiness)
    return order[::-1] if by == "reversed" else order


def carriers(order: IntArray, count: int) -> BoolArray:
    """Whether each sentence carries STUs when the first `count` of the order do."""
    return np.isin(np.arange(order.size), order[:count])


def mix(
    units: UnitsLike,
    stus: UnitsLike | None = None,
    *,
    references: TextsLike | None = None,
    easiness: EasinessLike | None = None,
    stu_share: float | str = 0.5,
    by: By = "easiness",
    seed: int = 12345,
    ids: TextsLike | None = None,
    columns: ColumnsLike | None = None,
    language: str | None = None,
) -> Mix:
    """Mix SCUs and STUs (Lite2.x): the easiest sentences carry STUs, the others keep
    their SCUs.

    All sentences of all inputs are ranked together (ZB21 §3.3): the first floor(share ·
    n) carry STUs. With share 0 the units are the SCUs, with 1 the STUs.

    Args:
        units: The SCUs: a file, or in Python lists, dicts and frames; inputs without
            any are left out.
        stus: The STUs of the same inputs; extracted from the references by default.
        references: The references of the same inputs; not needed with easiness, or with
            STUs just extracted from them.
        easiness: Easiness of every sentence: a file, or what easiness.predict returns;
            predicted by default.
        stu_share: Share of the sentences that carry STUs, as .3 or 30%.
        by: How sentences are ranked: by predicted easiness, reversed, by gold easiness
            (from the units), or at random.
        seed: Seed of the random order.
        ids: Ids of the inputs, where lines or rows do not name them.
        columns: Other names of columns, such as unit=fact.
        language: Code such as de; told by the texts if not given.

    Returns:
        The units of every input: the SCUs that are left, then the STUs.

    Raises:
        InputError: The inputs differ, something needed is missing, the share is out of
            range, or an input is left without a unit.

    Example:
        >>> scus = [["A cat sat on the mat.", "It rained."]]
        >>> mixed = mix(scus, references=["A cat sat on the mat. It rained."])
        >>> mixed.counts()["stu_sentences"]
        1

    Command line:
        $ litepyramid units mix example/scus.jsonl --stu-share 0.5 \\
            --references example/references.jsonl -o mixed.jsonl
    """
    share = as_share(stu_share)
    no_effect(mix, by != "random", f"by {by}", seed=seed)
    references = getattr(stus, "references", None) if references is None else references
    # Without references the sentences are those of the file.
    ranked = by in ("easiness", "reversed") or references is None
    no_effect(mix, not ranked, f"by {by}", easiness=easiness)
    if references is None and (stus is None or easiness is None):
        raise InputError(
            f"mixing by {by} needs the references of the units",
            hint="Without them, mixing by easiness needs both STUs and a file of "
            "easiness.",
        )

    data = load_rated(references, units, stus, ids=ids, columns=columns)
    human = data.units.of_kind("scu")
    machine = data.stus
    if not machine:
        machine = Units.of(extract(data.references, language=language).units)
    inputs = {*human.inputs}
    every = {*machine.inputs, *[entry.input for entry in data.references]}
    machine = machine.of_inputs(inputs)
    values = None

    if references is None:
        values = read_easiness(easiness)
        sentences = values.sentences
    else:
        texts = [entry for entry in data.references if entry.input in inputs]
        sentences = sentences_of(texts)
        if by in ("easiness", "reversed"):
            values = sentence_easiness(
                texts,
                easiness=easiness,
                stus=machine,
                language=language,
            )

    count = stu_count(share, sum(s.input in inputs for s in sentences))

    mixed = mix_units(
        human, machine, sentences, count, by=by, easiness=values, seed=seed
    )
    if without := len(every - inputs):
        have = counted(without, "input has", "inputs have")
        note = f"{have} no SCUs, and no units here."
        mixed = replace(mixed, notes=(*mixed.notes, note))
    return mixed


def mix_units(
    scus: Iterable[InputUnits],
    stus: Iterable[InputUnits],
    sentences: Sequence[Sentence],
    count: int,
    *,
    by: By = "easiness",
    easiness: Easiness | None = None,
    seed: int = 12345,
) -> Mix:
    """Gives `count` sentences of the whole data set their STUs; the others keep their
    SCUs.

    ``easiness`` and ``reversed`` go by `easiness`, ``gold`` by gold easiness,
    ``random`` by `seed`. Sentences are put in the order of their ids first. None is
    lost for having no SCU.
    """
    check_same_inputs(scus, stus)
    inputs = {entry.input for entry in scus}
    sentences = tuple(
        sorted((s for s in sentences if s.input in inputs), key=lambda s: s.key)
    )
    if by == "gold":
        easiness = gold_easiness(scus, stus, sentences)
    values = np.full(len(sentences), np.nan)
    if easiness is not None and by != "random":
        values = easiness.of(sentences)
    chosen = carriers(ranking(by, values, seed), count)
    of_scu, of_stu = align_both(scus, stus, sentences)
    units = _combined(of_scu, of_stu, {s.key for s in compress(sentences, chosen)})
    for entry in units:
        if not entry.units:
            raise InputError(f"input '{entry.input}' is left without a unit")

    signature = Signature.of(
        mix=by,
        stu_sentences=f"{count}/{len(sentences)}",
        easiness_sha=None if by == "random" else Easiness(sentences, values).sha,
        scus_sha=_placed_sha(of_scu),
        stus_sha=_placed_sha(of_stu),
        seed=seed if by == "random" else None,
    )
    notes = list(placement_notes(of_scu, of_stu))
    if without := len({s.key for s in sentences} - by_sentence(of_scu).keys()):
        notes.append(f"{without} of {len(sentences)} sentences have no SCU.")
    # What is as easy on both sides of the cut: only the order of ids decided.
    edge = np.intersect1d(values[chosen], values[~chosen])

    if tied := int(np.isin(values, edge).sum()):
        notes.append(
            f"{tied} equally easy sentences are at the cut-off; earlier ones were "
            "chosen first."
        )

    return Mix(units, sentences, chosen, values, by, tuple(notes), signature)


def _placed_sha(alignments: Sequence[Alignment]) -> str:
    """A hash of units with their sentences, in the order of ids."""
    placed = []
    for alignment in alignments:
        rows = []
        for unit in alignment.units.units:
            rows.append([unit.reference, unit.sentence, unit.text, unit.weight])
        placed.append([alignment.units.input, sorted(rows)])
    return fingerprint(sorted(placed))


def _combined(
    scus: Sequence[Alignment], stus: Sequence[Alignment], changed: set[Place]
) -> tuple[InputUnits, ...]:
    """SCUs of the sentences that keep them, then STUs of the changed ones, input by
    input."""

    def chosen(alignment: Alignment, from_changed: bool) -> tuple[Unit, ...]:
        # By the unit that an entry is of: an SCU may keep some of its sentences only.
        left: dict[int, list[Unit]] = {}
        for i, unit in zip(alignment.of, alignment.units.units, strict=True):
            key = (alignment.units.input, unit.reference, unit.sentence)
            if (key in changed) is from_changed:
                left.setdefault(i, []).append(unit)
        return tuple(map(_joined, left.values()))

    machine = {alignment.units.input: alignment for alignment in stus}
    return tuple(
        replace(a.units, units=chosen(a, False) + chosen(machine[a.units.input], True))
        for a in scus
    )


def _joined(entries: Sequence[Unit]) -> Unit:
    """Entries of one unit as one unit again."""
    if len(entries) == 1:
        return entries[0]
    places = tuple((entry.reference, entry.sentence) for entry in entries)
    weight = sum(entry.weight for entry in entries)
    return replace(
        entries[0],
        weight=weight,
        reference=None,
        sentence=None,
        places=places,
    )
