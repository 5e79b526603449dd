"""One data set: units, summaries, labels, references, presence, and notes on them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import unescape
from itertools import chain
from typing import Any

from litepyramid.errors import InputError
from litepyramid.language import language_notes, language_of, signed
from litepyramid.tables import Column, Result, Table, hidden
from litepyramid.text import counted, cut
from litepyramid.types import (
    InputReferences,
    InputUnits,
    Signature,
    SystemLabels,
    SystemSummaries,
    data_hashes,
)

_END = re.compile(r"[.!?][\"'”’)\]]*\s+[\"'“‘(]?[A-Z]")
_LONG = 30  # words of a unit that may be a paragraph
# Between the items of a list, be it on one line or on several.
_ITEM = re.compile(r"[^\s;];\s+(?=\S)|\S\s*[\n•]\s*(?=\S)")
_ENTITY = re.compile(r"&#?\w+;")


@dataclass(frozen=True)
class Dataset(Result):
    """One data set, ready for scoring; with labels for fine-tuning and cross-validation
    too.

    Attributes:
        scus: Units of every input, human ones or whatever was loaded as units; perhaps
            empty.
        labels: Presence labels of the systems; ``()`` for an input without labels.
        label_units: The units that the labels are of, where they are not `units`.
        example_folds: Held-out inputs of each fold, if the authors give folds by
            examples.
        system_folds: Held-out systems of each fold, if they give folds by systems.
        left_out: What was left out while reading, with its count.
        remarks: What was read otherwise than a user may expect, as full sentences.
        language: The code of their language, "any" for a user who insists; "" if not
            told yet.
    """

    name: str = "own"
    scus: tuple[InputUnits, ...] = ()
    stus: tuple[InputUnits, ...] | None = None
    summaries: tuple[SystemSummaries, ...] = ()
    labels: tuple[SystemLabels, ...] = ()
    label_units: tuple[InputUnits, ...] | None = None
    references: tuple[InputReferences, ...] | None = None
    presence: Any = hidden(default=None)
    example_folds: tuple[tuple[str, ...], ...] = ()
    system_folds: tuple[tuple[str, ...], ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    language: str = ""

    @property
    def units(self) -> tuple[InputUnits, ...]:
        """The units that were loaded, or else the extracted ones."""
        return self.scus or self.stus or ()

    @property
    def inputs(self) -> tuple[str, ...]:
        """The ids of the inputs."""
        return tuple(entry.input for entry in self.units or self.references or ())

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems."""
        return tuple(entry.system for entry in self.summaries)

    @property
    def texts(self) -> dict[str, list[str]]:
        """All texts of units, references and summaries."""
        units = []
        references: list[str] = []
        summaries: list[str] = []
        for entry in self.units:
            units += [unit.text for unit in entry.units]
        for of_input in self.references or ():
            references += map(" ".join, of_input.references)
        for system in self.summaries:
            summaries += system.texts

        return {"units": units, "references": references, "summaries": summaries}

    def with_language(self) -> Dataset:
        """These data with their language, as given or as their texts tell
        (`language_of`)."""
        return replace(self, language=language_of(self.texts, self.language))

    @property
    def hashes(self) -> dict[str, str]:
        """What names its data in a signature, whatever files or order they came in."""
        return data_hashes(
            units=self.units,
            summaries=self.summaries,
            labels=self.labels,
            label_units=self.label_units or (),
            references=self.references or (),
            presence=self.presence,
        )

    @property
    def signature(self) -> Signature:
        """The data set's hashes."""
        return Signature.of(
            data=self.name,
            **signed(self.language),
            **self.hashes,
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of scores of these data should know."""
        texts = self.texts
        every = [*chain.from_iterable(texts.values())]
        notes: list[str] = []
        if self.language:
            notes += language_notes(every, self.language)
        notes += self.remarks
        units = texts["units"]

        entities = []
        for text in every:
            found = _ENTITY.findall(text)
            entities += [one for one in found if unescape(one) != one][:1]
        if entities:
            hold = counted(len(entities), "text holds", "texts hold")
            notes.append(
                f"{hold} HTML entities ('{entities[0]}'), which hide words such as "
                "n't: clean them first (in Python by html.unescape)."
            )

        # References given as units would be scored as one fact each.
        if long := sum(len(t.split()) > _LONG and bool(_END.search(t)) for t in units):
            are = counted(long, "unit is a paragraph", "units are paragraphs")
            notes.append(
                f"{are} (of {len(units)}): a unit is one short fact. If they are "
                "references, give them as references."
            )

        if lists := [t for t in units if len(_ITEM.findall(t)) > 1]:
            are = counted(len(lists), "unit looks like a list", "units look like lists")
            notes.append(
                f"{are} ('{cut(lists[0], 60)}') and count as one unit each: write a "
                'JSON list, ["…", "…"], or one unit a row.'
            )

        if self.left_out:
            left = [f"{count} × {what}" for what, count in self.left_out.items()]
            notes.append(f"Left out while reading: {', '.join(left)}.")

        return tuple(notes)

    def require(self, *parts: str) -> None:
        """Checks that there is what a verb needs, such as ``labels`` or ``complete
        labels``."""
        for part in parts:
            name = part.removeprefix("complete ")
            if not getattr(self, name):
                raise InputError(f"no {name}", expected=" and ".join(parts))
            if part == "complete labels":
                for own in self.labels:
                    for input_, row in zip(own.inputs, own.labels, strict=True):
                        if not row:
                            raise InputError(
                                f"no labels of '{own.system}' for input '{input_}'"
                            )

    def to_tables(self) -> Sequence[Table]:
        """How much there is of each kind."""
        counts = {
            "inputs": len(self.inputs),
            "SCUs": sum(len(entry.units) for entry in self.scus),
            "STUs": sum(len(entry.units) for entry in self.stus or ()),
            "references": sum(len(entry.references) for entry in self.references or ()),
            "systems": len(self.systems),
            "systems with labels": len(self.labels),
            **{f"left out: {what}": count for what, count in self.left_out.items()},
        }
        inputs = counted(len(self.inputs), "input")
        systems = counted(len(self.systems), "system")
        title = f"{self.name}: {inputs}, {systems}"
        columns = (Column("what"), Column("number"))
        notes = (*self.notes, str(self.signature))
        return [Table(title, columns, tuple(counts.items()), notes)]
