"""From references to units: sentences, frames, triplets, coreference."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar

from litepyramid.errors import InputError
from litepyramid.io.coerce import as_names, as_references
from litepyramid.io.write import write_units
from litepyramid.language import SPACELESS, check_language, language_of, signed
from litepyramid.progress import track
from litepyramid.tables import HIDDEN, Column, Result, Table
from litepyramid.text import cut
from litepyramid.types import InputReferences, InputUnits, JudgeLike, Signature, Unit
from litepyramid.units.align import references_sha, sentence_texts
from litepyramid.units.coreference import renderer, replaced, resolve
from litepyramid.units.parsers.backends import open_backend, open_coref
from litepyramid.units.parsers.stanza import StanzaBackend
from litepyramid.units.parses import (
    LONGEST,
    CorefBackend,
    FileBackend,
    ParsedBatch,
    ParsedReference,
    ParsedSentence,
    SrlBackend,
    write_parses,
)
from litepyramid.units.triplets import sentence_stus
from litepyramid.units.written import written_units


@dataclass(frozen=True)
class UnitsResult(Result):
    """A result that is saved as units: one input a line, as JSON or as texts with tabs between."""

    units: tuple[InputUnits, ...]

    forms: ClassVar = {".jsonl": "write_jsonl", ".txt": "write_lines"}

    def write_jsonl(self, path: str | Path) -> None:
        """Writes the units as JSON Lines."""
        write_units(path, self.units)

    def write_lines(self, path: str | Path) -> None:
        """Writes the texts of the units."""
        write_units(path, self.units, "lines")


@dataclass(frozen=True)
class Extraction(UnitsResult):
    """The units of every input, and the parses they were made from.

    Attributes:
        units: One entry per input, in the order of the references; the STUs of its references
            are combined, with repeats across references. Each unit has its reference
            and sentence. "Name is mention" units come at the end of their reference's.
        references: The references they were made from.
        parses: The parse of every reference; empty if a language model wrote the units.
        signature: Backends, settings and data.
        counts: References, sentences, units …, and what the backends counted.
    """

    references: tuple[InputReferences, ...] = field(metadata=HIDDEN)
    parses: tuple[ParsedReference, ...] = field(metadata=HIDDEN)
    signature: Signature
    counts: dict[str, float]

    def to_tables(self) -> list[Table]:
        """One row per count, and units per reference."""
        rows: list[tuple[str, int | float]] = list(self.counts.items())
        rows.append(("units per reference", self.counts["units"] / self.counts["references"]))
        columns = (Column("what"), Column("value", "", digits=2))
        return [Table("Units from references", columns, tuple(rows), (str(self.signature),))]


def extract(
    references: Any,
    *,
    srl: str | SrlBackend = "embedded",
    coref: str | CorefBackend = "srl",
    footnote: bool = False,
    llm: JudgeLike = None,
    parses: Path | None = None,
    ids: Any = None,
    columns: Any = None,
    language: str | None = None,
) -> Extraction:
    """Extract semantic triplet units (STUs) from references (ZB21 §3.2, footnotes 2 to 4).

    Args:
        references: Reference summaries: a file (JSON Lines, a table, a line file), or in Python
            lists, dicts and frames.
        srl: Where semantic roles come from: ``embedded``, ``sentences`` (each sentence is its own
            unit), ``allennlp:ARCHIVE``, ``stanza``, or an interchange file with frames.
        coref: Where coreference comes from: ``srl`` (what the parser links; names stand for
            mentions in the frames), ``none``, ``embedded``, ``stanza``, or an interchange file
            with clusters. All but srl and none replace mentions before the parser runs.
        footnote: Keep *be* and *being* before the verb, as the paper's footnote 2 says; the
            authors' code does not.
        llm: A language model that writes the units instead: llm:MODEL.
        parses: Also write sentences, frames and clusters to this interchange file.
        ids: Ids of the inputs, where lines or rows do not name them.
        columns: Other names of columns, such as reference=target.
        language: As for `load`.

    Returns:
        The units of every input, each with its reference and sentence, counted from 0.

    Raises:
        InputError: There are no references, no backend of that name; or an interchange file is
            not valid or does not fit the references.
        ModelError: A model cannot be read, or a language model gave no units.
        MissingExtraError: The backend's package is not installed.

    Example:
        >>> extract(["The dog chased a cat in the garden."], srl="sentences").units[0].texts
        ('The dog chased a cat in the garden .',)

    Command line:
        $ litepyramid units extract example/references.jsonl -o stus.jsonl
        $ litepyramid units extract example/references.jsonl --srl sentences -o stus.txt
    """
    records = as_references(references, **as_names(ids, columns))
    if not records:
        raise InputError("no references to extract units from")
    language = references_language(records, language)
    if llm is not None:
        if parses is not None:
            raise InputError("a language model gives no parses to write")
        units, signature, counts = written_units(records, llm, language)
        return Extraction(units, tuple(records), (), signature, counts)
    if parses is not None and not isinstance(parses, str | Path):
        raise InputError(f"parses is a {type(parses).__name__}", expected="a file to write")
    extraction = _extract(records, srl, coref, footnote, language)
    if parses is not None:
        write_parses(parses, extraction.parses)
    return extraction


def _extract(
    references: Sequence[InputReferences],
    srl: str | SrlBackend,
    coref: str | CorefBackend,
    footnote: bool,
    language: str,
) -> Extraction:
    """`extract` of records."""
    backend = open_backend(srl) if isinstance(srl, str) else srl
    if not hasattr(backend, "parse"):
        raise InputError(f"srl is a {type(srl).__name__}", expected="a name or a backend")
    if languages := getattr(backend, "languages", None):
        check_language("parser", language, f"the parser '{srl}'", languages)
    linker = coref if not isinstance(coref, str) else None
    if linker is not None and not hasattr(linker, "link"):
        raise InputError(f"coref is a {type(coref).__name__}", expected="a name or a backend")
    if isinstance(coref, str) and coref not in {"srl", "none"}:
        check_language("coreference", language, "coreference")
        linker = open_coref(coref)
    english = bool(languages) or language == "en"
    if isinstance(backend, StanzaBackend) and not english:
        backend = backend.in_language(language)
    parses = tokenized(references, None if english else str.split)
    counts: Counter[str] = Counter()
    linked = None
    link_first = linker is not None and not isinstance(backend, FileBackend)
    if linker is not None and link_first:
        linked = linker.link(parses)
        counts["mentions replaced"] = sum(len(resolve(r).names) for r in linked.references)
        parses = tuple(map(replaced, linked.references))
    batch = backend.parse(parses)
    parses = batch.references
    if link_first:
        parses = tuple(replace(reference, clusters=None) for reference in parses)
    elif linker is not None:
        linked = linker.link(parses)
        parses = linked.references
    elif coref == "none" or not english:  # names in place of mentions need English rules
        parses = tuple(replace(r, clusters=None, identities=()) for r in parses)
    if linked is None:
        resolved = any(r.clusters is not None or r.identities for r in parses)
        linked = ParsedBatch(parses, {"coref": "srl" if resolved else "none"})
    counts.update(linked.counts)
    counts.update(batch.counts)
    units, whole_sentences = [], 0
    joint = "" if isinstance(backend, StanzaBackend) and language in SPACELESS else " "
    for name, group in groupby(
        track(parses, "making units", "references"), key=lambda reference: reference.input
    ):
        of_input: list[Unit] = []
        for reference in group:
            of_reference, whole, names = _reference_units(reference, footnote, joint)
            of_input += of_reference
            whole_sentences += whole
            counts["mentions replaced"] += names
        units.append(InputUnits(name, tuple(of_input)))
    unmarked = sum(not marked for entry in references for marked in entry.marked)
    signature = Signature.of(
        units="stu",
        **signed(language),
        **batch.signature | linked.signature,
        footnote="yes" if footnote else None,
        references_sha=references_sha(references),
    )
    totals: dict[str, float] = {
        "inputs": len(units),
        "references": len(parses),
        "references without sentence marks": unmarked,
        "sentences": sum(len(r.sentences) for r in parses),
        "sentences that are their own unit": whole_sentences,
        "units": sum(len(entry.units) for entry in units),
    }
    return Extraction(tuple(units), tuple(references), parses, signature, {**totals, **counts})


def references_language(references: Sequence[InputReferences], language: str | None) -> str:
    """The language of references, as told or by themselves."""
    texts = [" ".join(sentences) for entry in references for sentences in entry.references]
    return language_of({"references": texts}, language)


def tokenizer() -> Callable[[str], tuple[str, ...]]:
    """A function from a text to its words, by spaCy's rules for English (Penn style, "do n't")."""
    import spacy

    tokenize = spacy.blank("en").tokenizer

    def tokens(text: str) -> tuple[str, ...]:
        # spaCy takes n² time for n characters without a space.
        spaced = re.sub(r"\S{200}(?=\S)", r"\g<0> ", " ".join(text.split()))
        return tuple(token.text for token in tokenize(spaced))

    return tokens


def tokenized(
    references: Sequence[InputReferences], split: Callable[[str], Sequence[str]] | None = None
) -> tuple[ParsedReference, ...]:
    """Every reference as sentences of tokens, in order; InputError at more than 1,000 words."""
    tokens = split or tokenizer()
    parses = []
    for entry in references:
        for index, texts in enumerate(sentence_texts(entry)):
            sentences = tuple(ParsedSentence(tuple(tokens(text))) for text in texts)
            for text, sentence in zip(texts, sentences, strict=True):
                if len(sentence.tokens) > LONGEST:
                    raise InputError(
                        f"a sentence of {len(sentence.tokens)} words in a reference of input "
                        f"'{entry.input}' ('{cut(text, 40)}')",
                        expected=f"at most {LONGEST}",
                        hint="Mark its sentences with <t> and </t>.",
                    )
            parses.append(ParsedReference(entry.input, index, sentences))
    return tuple(parses)


def _reference_units(
    reference: ParsedReference, footnote: bool, joint: str
) -> tuple[list[Unit], int, int]:
    """Units of one reference; sentences that are their own; mentions replaced in its frames."""
    resolution = resolve(reference)
    render = renderer(reference, resolution)
    units = []
    whole_sentences = 0
    for number, sentence in enumerate(reference.sentences):

        def write(indices: Sequence[int], offset: int = reference.offsets[number]) -> str:
            return joint.join(render([offset + i for i in indices]))

        stus = sentence_stus(sentence, footnote=footnote, render=write)
        whole_sentences += stus == [write(range(len(sentence.tokens)))]
        units += [
            Unit(text, kind="stu", reference=reference.reference, sentence=number) for text in stus
        ]
    units += [
        Unit(i.text, kind="stu", reference=reference.reference, sentence=i.sentence)
        for i in (*reference.identities, *resolution.identities)
    ]
    return units, whole_sentences, len(resolution.names)
