"""From references to units in one go: sentences, frames, triplets, coreference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from litepyramid.errors import InputError
from litepyramid.progress import track
from litepyramid.tables import HIDDEN, Column, Result, Table
from litepyramid.types import InputReferences, InputUnits, Signature, Unit, fingerprint
from litepyramid.units.coreference import renderer, replaced, resolve
from litepyramid.units.parsers.base import CorefBackend, ParsedBatch, SrlBackend
from litepyramid.units.parsers.file import FileBackend
from litepyramid.units.parsers.registry import open_backend, open_coref
from litepyramid.units.parses import ParsedReference
from litepyramid.units.sentences import make_splitter, tokenized
from litepyramid.units.triplets import sentence_stus


@dataclass(frozen=True)
class Extraction(Result):
    """The units of every input, and the parses they were made from.

    Attributes:
        units: One entry per input, in the order of the references; the STUs of its references
            are combined, with repeats across references. Each unit has its reference
            and sentence. "Name is mention" units come at the end of their reference's.
        parses: The parse of every reference, for `write_parses`.
        signature: Backends and settings.
        counts: References, sentences, units …, and what the backends counted.
    """

    units: tuple[InputUnits, ...]
    parses: tuple[ParsedReference, ...] = field(metadata=HIDDEN)
    signature: Signature
    counts: dict[str, float]

    def to_tables(self) -> list[Table]:
        """One row per count, and units per reference."""
        rows: list[tuple[str, int | float]] = list(self.counts.items())
        rows.append(("units per reference", self.counts["units"] / self.counts["references"]))
        return [
            Table(
                "Units from references",
                (Column("what"), Column("value", "", digits=2)),
                tuple(rows),
                (str(self.signature),),
            )
        ]


def extract(
    references: Sequence[InputReferences],
    *,
    srl: str | SrlBackend = "embedded",
    coref: str | CorefBackend = "srl",
    splitter: str = "rules",
    footnote: bool = False,
) -> Extraction:
    """Extracts STUs and says how (ZB21 §3.2, footnotes 2 to 4).

    Args:
        references: As `read_references` gives them.
        srl: A backend, or its name: ``"embedded"``, ``"sentences"`` (no frames: every sentence
            is its own unit), ``"allennlp:ARCHIVE"``, ``"stanza"``, or an interchange file.
        coref: Where coreference comes from. ``"srl"``: what the SRL backend itself links, if it
            does; names are then written in place of mentions in the frames. ``"none"``: leave
            mentions as they are. A coreference backend, its name (``"embedded"``) or a file with
            clusters: mentions are replaced in the text before SRL, as the paper does it.
        splitter: Splits references that have no sentence marks: ``"rules"`` or ``"punkt"``.
        footnote: Follow the paper's footnote 2 rather than the authors' code (`frame_triplets`).

    Raises:
        InputError: No references, no backend or splitter of that name, an interchange file that
            is not valid or does not fit the references.
        ModelError: A model cannot be read.
        MissingExtraError: The backend's package is not installed.

    Example:
        >>> text = "The dog chased a cat in the garden."
        >>> found = extract([InputReferences("a", ((text,),), (False,))], srl="sentences")
        >>> found.units[0].texts
        ('The dog chased a cat in the garden .',)
    """
    if not references:
        raise InputError("no references to extract units from")
    backend = open_backend(srl) if isinstance(srl, str) else srl
    linker = coref if not isinstance(coref, str) else None
    if isinstance(coref, str) and coref not in {"srl", "none"}:
        linker = open_coref(coref)
    parses = tokenized(references, make_splitter(splitter))
    counts: Counter[str] = Counter()
    linked = None
    before = linker is not None and not isinstance(backend, FileBackend)
    if linker is not None and before:
        linked = linker.link(parses)
        counts["mentions replaced"] = sum(len(resolve(r).names) for r in linked.references)
        parses = tuple(map(replaced, linked.references))
    batch = backend.parse(parses)
    parses = batch.references
    if before:
        parses = tuple(replace(reference, clusters=None) for reference in parses)
    elif linker is not None:
        linked = linker.link(parses)
        parses = linked.references
    elif coref == "none":
        parses = tuple(replace(r, clusters=None, identities=()) for r in parses)
    if linked is None:
        found = any(r.clusters is not None or r.identities for r in parses)
        linked = ParsedBatch(parses, {"coref": "srl" if found else "none"})
    counts.update(linked.counts)
    counts.update(batch.counts)
    units, own = [], 0
    for name, group in groupby(
        track(parses, "making units", "references"), key=lambda reference: reference.input
    ):
        texts: list[Unit] = []
        for reference in group:
            found_units, alone, names = _reference_units(reference, footnote)
            texts += found_units
            own += alone
            counts["mentions replaced"] += names
        units.append(InputUnits(name, tuple(texts)))
    unmarked = sum(not marked for entry in references for marked in entry.marked)
    return Extraction(
        tuple(units),
        parses,
        Signature.of(
            units="stu",
            **batch.signature | linked.signature,
            splitter=splitter if unmarked else None,
            footnote="yes" if footnote else None,
            references_sha=fingerprint(entry.references for entry in references),
        ),
        {
            "inputs": len(units),
            "references": len(parses),
            "references without sentence marks": unmarked,
            "sentences": sum(len(r.sentences) for r in parses),
            "sentences that are their own unit": own,
            "units": sum(len(entry.units) for entry in units),
            **counts,
        },
    )


def _reference_units(reference: ParsedReference, footnote: bool) -> tuple[list[Unit], int, int]:
    """Units of one reference; sentences that are their own; mentions replaced in its frames."""
    resolution = resolve(reference)
    render = renderer(reference, resolution)
    units = []
    alone = 0
    offsets = reference.offsets
    for number, sentence in enumerate(reference.sentences):

        def write(indices: Sequence[int], offset: int = offsets[number]) -> str:
            return " ".join(render([offset + i for i in indices]))

        stus = sentence_stus(sentence, footnote=footnote, render=write)
        alone += stus == [write(range(len(sentence.tokens)))]
        units += [
            Unit(text, kind="stu", reference=reference.reference, sentence=number) for text in stus
        ]
    units += [
        Unit(i.text, kind="stu", reference=reference.reference, sentence=i.sentence)
        for i in (*reference.identities, *resolution.identities)
    ]
    return units, alone, len(resolution.names)
