"""The strict tables of a data set: known by their names, and in the order of these
names.

Whatever a user gives becomes these records at the door (`litepyramid.data.door`). A
unit is known by its input, its text, and which of that text it is; a summary by its
system and input. No verb sorts them again, and no order of a file can change a number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Literal, NamedTuple, Self

import numpy as np

from litepyramid.errors import InputError
from litepyramid.identity import fingerprint
from litepyramid.text import cut
from litepyramid.types import (
    BoolArray,
    Fields,
    FloatArray,
    IntArray,
    Names,
    Texts,
    UnitKind,
)


class Fact(NamedTuple):
    """What a unit is known by: its input, its text, and which of that text it is, from
    0."""

    input: str
    text: str
    nth: int


@dataclass(frozen=True, slots=True)
class Unit:
    """One short factual sentence (ZB21 §3).

    Attributes:
        text: The sentence.
        weight: Number of references it was found in; 1 with one reference and for every
            STU. Points of a rubric's criterion, below zero for a penalty.
        kind: ``"scu"`` if a person wrote it, ``"stu"`` if it was extracted by machine.
        reference: Index of the reference it comes from, counted from 0; None if
            unknown.
        sentence: Index of the sentence within that reference, from 0; None if unknown.
        places: Reference and sentence of each contributor, for an SCU with several.
        importance: ``"vital"``, ``"okay"`` or ``"failed"`` of a nugget (TREC RAG); else
            None.
        tags: What a rubric files it under: its tags, axis, class of weight.
        said: Whether its sentence only says that somebody said it, or knew it.
    """

    text: str
    weight: float = 1.0
    kind: UnitKind = "scu"
    reference: int | None = None
    sentence: int | None = None
    places: tuple[tuple[int | None, int | None], ...] = ()
    importance: Literal["vital", "okay", "failed"] | None = None
    tags: Texts = ()
    said: bool = False

    def entries(self) -> tuple[Unit, ...]:
        """One entry per contributor, each with its place and an equal part of the
        weight."""
        # The contributors share the weight, so that a plan counts an SCU once.
        part = self.weight / max(1, len(self.places))
        entries = []
        for reference, sentence in self.places:
            entry = replace(
                self,
                weight=part,
                reference=reference,
                sentence=sentence,
                places=(),
            )
            entries.append(entry)
        return tuple(entries) or (self,)

    @property
    def key(self) -> tuple[str, float, str, str, Texts]:
        """What a unit of an input says: units are in this order, and named by it."""
        return (
            self.text,
            float(self.weight),
            self.kind,
            self.importance or "",
            self.tags,
        )

    def to_json(self) -> Fields:
        """The unit as plain JSON values, without unknown fields."""
        row = {}
        for name in Unit.__slots__:
            value = getattr(self, name)
            # The number 0 is no False here: it is a place.
            if value not in (None, ()) and value is not False:
                row[name] = value
        return row


@dataclass(frozen=True, slots=True)
class InputUnits:
    """The units of one input, and what was asked (or said so far) if the texts are
    answers."""

    input: str
    units: tuple[Unit, ...]
    question: str | None = None

    @property
    def texts(self) -> Texts:
        """The units' sentences."""
        return tuple([unit.text for unit in self.units])

    def to_json(self) -> Fields:
        """One line of a unit file as plain JSON values."""
        question = {} if self.question is None else {"question": self.question}
        return {
            "input": self.input,
            **question,
            "units": [unit.to_json() for unit in self.units],
        }


@dataclass(frozen=True)
class Units:
    """The units of M inputs, U in all: inputs in the order of their ids, the units of
    an input in that of their texts.

    Every row of values over units, (…, U), has this order.
    """

    entries: tuple[InputUnits, ...] = ()

    @classmethod
    def of(cls, entries: Iterable[InputUnits]) -> Self:
        """The table of some inputs' units, in any order; InputError where an input
        comes twice."""
        in_order = []
        seen: set[str] = set()
        for entry in sorted(entries, key=lambda entry: entry.input):
            if entry.input in seen:
                raise InputError(
                    f"input '{entry.input}' occurs twice among the units",
                    hint="Put all units of one input together.",
                )
            seen.add(entry.input)
            units = tuple(sorted(entry.units, key=lambda unit: unit.key))
            in_order.append(replace(entry, units=units))
        return cls(tuple(in_order))

    def __iter__(self) -> Iterator[InputUnits]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, input_: str | int) -> InputUnits:
        """The units of one input: by its id, or its number in the order of ids."""
        if isinstance(input_, int):
            return self.entries[input_]
        if input_ not in self._places:
            raise InputError(
                f"no units of an input '{cut(str(input_))}'",
                expected=f"one of {cut(', '.join(self.inputs))}",
            )
        return self.entries[self._places[input_]]

    def __contains__(self, input_: object) -> bool:
        return input_ in self._places

    @cached_property
    def _places(self) -> dict[str, int]:
        return {entry.input: place for place, entry in enumerate(self.entries)}

    @cached_property
    def inputs(self) -> Names:
        """The M inputs."""
        return tuple([entry.input for entry in self.entries])

    @cached_property
    def every(self) -> tuple[Unit, ...]:
        """All U units."""
        units: list[Unit] = []
        for entry in self.entries:
            units += entry.units
        return tuple(units)

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        """What each unit is known by, (U,)."""
        facts = []
        for entry in self.entries:
            seen: Counter[str] = Counter()
            for unit in entry.units:
                facts.append(Fact(entry.input, unit.text, seen[unit.text]))
                seen[unit.text] += 1
        return tuple(facts)

    @cached_property
    def offsets(self) -> IntArray:
        """(M + 1,) where each input's units begin, and U."""
        sizes = [len(entry.units) for entry in self.entries]
        return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])

    @cached_property
    def input_of(self) -> IntArray:
        """(U,) the number of each unit's input."""
        return np.repeat(np.arange(len(self.entries)), np.diff(self.offsets))

    @cached_property
    def weights(self) -> FloatArray:
        """(U,) how much each unit counts; below zero for a penalty of a rubric."""
        return np.array([unit.weight for unit in self.every], dtype=np.float64)

    @cached_property
    def vital(self) -> BoolArray | None:
        """(U,) whether a unit is a vital nugget; None if none says how important it
        is."""
        importance = [unit.importance for unit in self.every]
        return np.array(importance) == "vital" if any(importance) else None

    def sums(self, values: FloatArray) -> FloatArray:
        """Sums over each input's units: (…, U) to (…, M)."""
        return np.add.reduceat(values, self.offsets[:-1], axis=-1)

    def split(self, values: FloatArray) -> dict[str, FloatArray]:
        """(…, U) values by input."""
        ends = pairwise(self.offsets)
        parts = [values[..., start:end] for start, end in ends]
        return dict(zip(self.inputs, parts, strict=True))

    def take(self, facts: Iterable[Fact]) -> Units:
        """Some of the units; inputs that are left without any are left out."""
        chosen = set(facts)
        by_fact = dict(zip(self.facts, self.every, strict=True))
        kept: dict[str, list[Unit]] = {}
        for fact, unit in by_fact.items():
            if fact in chosen:
                kept.setdefault(fact.input, []).append(unit)

        entries = []
        for entry in self.entries:
            if entry.input in kept:
                entries.append(replace(entry, units=tuple(kept[entry.input])))
        return Units(tuple(entries))

    def of_kind(self, kind: UnitKind) -> Units:
        """The same; InputError if some are of another kind."""
        for fact, unit in zip(self.facts, self.every, strict=True):
            if unit.kind != kind:
                raise InputError(
                    f"'{unit.text}' of input '{fact.input}' is of the kind "
                    f"'{unit.kind}'",
                    expected=f"only units of kind '{kind}'",
                    hint='If they are the right ones, correct or remove their "kind".',
                )
        return self

    def of_inputs(self, inputs: Iterable[str]) -> Units:
        """The units of some inputs."""
        chosen = set(inputs)
        return Units(tuple([entry for entry in self.entries if entry.input in chosen]))

    @property
    def sha(self) -> str:
        """What names them in a signature, whatever file they came in."""
        rows = []
        for entry in self.entries:
            units = []
            for unit in entry.units:
                values = [
                    unit.text,
                    float(unit.weight),
                    unit.kind,
                    unit.importance or "",
                ]
                # Only where there are any: units without tags keep their hash.
                values += [list(unit.tags)] * bool(unit.tags)
                units.append(values)
            rows.append([entry.input, units])
        return fingerprint(rows)

    @property
    def inputs_sha(self) -> str:
        """What names the inputs; an answer to another question is another input."""
        rows = []
        for entry in self.entries:
            rows.append(
                [entry.input, entry.question] if entry.question else entry.input
            )
        return fingerprint(rows)


def facts_by_number(
    listed: Mapping[str, Sequence[Unit]], units: Units
) -> dict[tuple[str, int], Fact]:
    """The fact of each unit by its input and its number in a list, for what comes in
    the order of that list."""
    left: dict[tuple[str, Unit], list[Fact]] = {}
    for fact, unit in zip(units.facts, units.every, strict=True):
        left.setdefault((fact.input, unit), []).append(fact)

    facts = {}
    for name, own in listed.items():
        for number, unit in enumerate(own):
            facts[name, number] = left[name, unit].pop(0)
    return facts


@dataclass(frozen=True, slots=True)
class InputReferences:
    """The references of one input: the sentences of each where it marks them, else its
    text."""

    input: str
    references: tuple[Texts, ...]
    marked: tuple[bool, ...]
    question: str | None = None

    def to_json(self) -> Fields:
        """One line of a file of references as plain JSON values."""
        references: list[str | list[str]] = []
        for texts, marked in zip(self.references, self.marked, strict=True):
            references.append([*texts] if marked else texts[0])
        question = {"question": self.question} if self.question else {}
        return {"input": self.input, **question, "references": references}


@dataclass(frozen=True)
class Summaries:
    """The texts of N systems on M inputs, both in the order of their names; None is a
    missing one, which is not scored, and no empty one."""

    systems: Names = ()
    inputs: Names = ()
    texts: tuple[tuple[str | None, ...], ...] = ()

    @classmethod
    def of(
        cls, texts: Mapping[tuple[str, str], str | None], inputs: Iterable[str] = ()
    ) -> Self:
        """The table of texts by (system, input); what is not there is missing."""
        systems = tuple(sorted({system for system, _ in texts}))
        inputs = tuple(sorted({*inputs, *[name for _, name in texts]}))
        rows = []
        for system in systems:
            rows.append(tuple([texts.get((system, name)) for name in inputs]))
        return cls(systems, inputs, tuple(rows))

    def __bool__(self) -> bool:
        return bool(self.systems)

    def of_system(self, system: str) -> dict[str, str | None]:
        """One system's texts by input."""
        row = self.texts[self.systems.index(system)]
        return dict(zip(self.inputs, row, strict=True))

    @cached_property
    def missing(self) -> BoolArray:
        """(N, M) whether a summary is missing."""
        rows = [[text is None for text in row] for row in self.texts]
        return np.array(rows, dtype=np.bool_).reshape(
            len(self.systems), len(self.inputs)
        )

    @cached_property
    def empty(self) -> BoolArray:
        """(N, M) whether a summary is there, and holds no text."""
        rows = [
            [text is not None and not text.strip() for text in row]
            for row in self.texts
        ]
        return np.array(rows, dtype=np.bool_).reshape(
            len(self.systems), len(self.inputs)
        )

    def cells(self) -> Iterator[tuple[tuple[str, str], str | None]]:
        """Every text by system and input, system after system."""
        for system, row in zip(self.systems, self.texts, strict=True):
            for input_, text in zip(self.inputs, row, strict=True):
                yield (system, input_), text

    def items(self, units: Units) -> list[tuple[str, Texts]]:
        """What a judge is asked, system after system: each text (a missing one as
        empty) with the units of its input."""
        if units.inputs != self.inputs:
            raise InputError(
                "the summaries are of other inputs than the units",
                expected="summaries of the same inputs",
            )
        texts = [entry.texts for entry in units]
        items = []
        for row in self.texts:
            for text, asked in zip(row, texts, strict=True):
                items.append((text or "", asked))
        return items

    def take(self, systems: Sequence[str], inputs: Sequence[str]) -> Summaries:
        """Some systems and inputs, each of which must be here."""
        columns = [self.inputs.index(name) for name in inputs]
        rows = []
        for system in systems:
            row = self.texts[self.systems.index(system)]
            rows.append(tuple([row[column] for column in columns]))
        return Summaries(tuple(systems), tuple(inputs), tuple(rows))

    @property
    def sha(self) -> str:
        """What names them in a signature; a missing summary is not an empty one."""
        rows = []
        for system, row in zip(self.systems, self.texts, strict=True):
            rows.append([system, *zip(self.inputs, row, strict=True)])
        return fingerprint(rows)
