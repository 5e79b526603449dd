"""From references to units: sentences, frames, triplets, coreference."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import repeat
from math import fsum
from pathlib import Path
from typing import Any, ClassVar

from litepyramid.data.data import read_references
from litepyramid.data.notes import text_notes
from litepyramid.data.records import InputReferences, InputUnits
from litepyramid.data.written import unit_lines
from litepyramid.disk import check_output, jsonl
from litepyramid.errors import InputError, choose, no_effect
from litepyramid.files import ending
from litepyramid.language import check_language, language_of, name_of, signed
from litepyramid.tables import HIDDEN, Column, Result, Table, row
from litepyramid.text import counted, cut
from litepyramid.types import (
    ColumnsLike,
    JudgeLike,
    Rules,
    SidePath,
    Signature,
    TextsLike,
    Weights,
)
from litepyramid.units.align import references_sha, sentence_texts
from litepyramid.units.coreference import replaced, resolve
from litepyramid.units.making import LEAST_COVERED, Made, make_units
from litepyramid.units.parsers.allennlp import open_allennlp
from litepyramid.units.parsers.embedded.pipeline import EmbeddedBackend
from litepyramid.units.parsers.roles import RolesBackend
from litepyramid.units.parsers.stanza import StanzaBackend, open_stanza
from litepyramid.units.parses import (
    LONGEST,
    CorefBackend,
    FileBackend,
    ParsedBatch,
    ParsedReference,
    ParsedSentence,
    SrlBackend,
    check_parse,
    with_frames,
    write_parses,
)
from litepyramid.units.written import written_units

_INTERCHANGE = (".jsonl", ".ndjson")


@dataclass(frozen=True)
class UnitsResult(Result):
    """A result that is saved as units, to be read again; a line file has texts
    alone."""

    units: tuple[InputUnits, ...]

    forms: ClassVar = {".jsonl": "_json_lines", ".txt": "_lines"}

    def _json_lines(self) -> Iterator[str]:
        """The units, one input a line."""
        return jsonl(entry.to_json() for entry in self.units)

    def _lines(self) -> list[str]:
        """The texts of the units, one input a line, with tabs between."""
        return unit_lines(self.units)

    def to_csv_table(self) -> Table:
        """One row per unit; an SCU of several contributors has one for each."""
        columns = ("input", "unit", "kind", "weight", "reference", "sentence", "said")
        rows = []
        for entry in self.units:
            for unit in entry.units:
                for part in unit.entries():
                    said = 1 if part.said else ""
                    rows.append(row(part, input=entry.input, unit=part.text, said=said))
        return Table.of("Units", columns, rows)


@dataclass(frozen=True)
class Extraction(UnitsResult):
    """The units of every input, and the parses they were made from.

    Attributes:
        units: One entry per input with the STUs of all its references, repeats across
            references too; "name is mention" units come at the end of their
            reference's.
        parses: The parse of every reference; empty if a language model wrote the units.
        counts: References, sentences, units …, and what the backends counted.
        notes: How much of the sentences no STU covers.
    """

    brief: ClassVar = 1

    references: tuple[InputReferences, ...] = field(metadata=HIDDEN)
    parses: tuple[ParsedReference, ...] = field(metadata=HIDDEN)
    signature: Signature
    counts: dict[str, float]
    notes: tuple[str, ...] = ()

    def to_tables(self) -> list[Table]:
        """One row per count, and units per reference; three units to look at."""
        mean = self.counts["units"] / self.counts["references"]
        rows = tuple({**self.counts, "units per reference": mean}.items())
        columns = (Column("what"), Column("value", "", digits=2))
        texts = [" ".join(one) for entry in self.references for one in entry.references]
        on_texts = text_notes({"units": (), "references": texts})
        notes = (*self.notes, *on_texts, str(self.signature))
        counts = Table("Units from references", columns, rows, notes)
        heads = (Column("sentence"), Column("unit"))
        return [counts, Table("Three of the units", heads, self._examples())]

    def _examples(self) -> tuple[tuple[str, str], ...]:
        """A unit of the first, the middle and the last input, with its sentence."""
        last = len(self.units) - 1
        rows = []
        for number in sorted({0, last // 2, last}):
            texts = sentence_texts(self.references[number])
            units = self.units[number].units
            for unit in units[len(units) // 2 :][:1]:
                # A parser may have split the text into more.
                sentence = texts[unit.reference or 0][unit.sentence or 0 :][:1]
                rows.append(("".join(sentence), unit.text))
        return tuple(rows)


def extract(
    references: TextsLike | None,
    *,
    srl: str | SrlBackend | None = None,
    coref: str | CorefBackend = "srl",
    rules: Rules = "facts",
    weights: Weights | None = None,
    llm: JudgeLike = None,
    parses: SidePath | None = None,
    ids: TextsLike | None = None,
    columns: ColumnsLike | None = None,
    language: str | None = None,
) -> Extraction:
    """Extract facts from references, or semantic triplet units (STUs; ZB21 §3.2,
    footnotes 2 to 4).

    Args:
        references: Reference summaries: a file (JSON Lines, a table, a line file), or
            in Python lists, dicts and frames.
        srl: Where the trees of facts come from: ``embedded`` (the default), ``stanza``
            or an interchange file; or the semantic roles of triplets: ``roles`` (the
            default, a small labeller), ``allennlp:ARCHIVE``, ``stanza`` or a file.
            With ``sentences``, the default of other languages than English, each
            sentence is its own unit.
        coref: Where coreference comes from: ``srl`` (what the parser links; names stand
            for mentions in the frames), ``none``, ``embedded``, ``stanza``, or an
            interchange file with clusters. All but srl and none replace mentions before
            the parser runs.
        rules: What units are: small facts (facts), or the paper's triplets of one
            argument each, by its authors' code (zb21) or with *be* and *being* before
            the verb as well (zb21-footnote).
        weights: What weighs the same: each unit (equal, as triplets in the paper), each
            sentence, shared among its units (sentences), or each content word of a
            sentence, shared among the units that hold it (words, the default of facts).
        llm: A language model that writes the units instead: llm:MODEL.
        parses: Also write sentences, frames and clusters to this interchange file
            (.jsonl), as -o writes.
        ids: Ids of the inputs, where lines or rows do not name them.
        columns: Other names of columns, such as reference=target.
        language: Code such as de; told by the texts if not given.

    Returns:
        The units of every input, each with its reference and sentence, counted from 0.

    Raises:
        InputError: There are no references, no backend of that name; or an interchange
            file is not valid or does not fit the references.
        ModelError: A model cannot be read, or a language model gave no units.
        MissingExtraError: The backend's package is not installed.

    Example:
        >>> result = extract(["The dog chased a cat."], srl="sentences")
        >>> result.units[0].texts
        ('The dog chased a cat',)

    Command line:
        $ litepyramid units extract example/references.jsonl -o stus.jsonl
        $ litepyramid units extract example/references.jsonl --rules zb21 -o zb21.jsonl
        $ litepyramid units extract example/references.jsonl --srl sentences -o stus.txt
    """
    options = {"srl": srl, "coref": coref, "rules": rules, "weights": weights}
    why = "on units that a language model writes"
    no_effect(extract, llm is not None, why, **options)
    if parses is not None:
        _check_parses_file(parses)

    records = read_references(references, ids, columns)
    language = references_language(records, language)
    choose("rules", rules, Rules)
    facts = rules == "facts" and language == "en"
    # No parser that is installed reads the language.
    whole = srl is None and rules == "facts" and language not in ("en", "any")
    srl = srl or ("embedded" if facts else "sentences" if whole else "roles")
    small = rules == "facts" and srl != "sentences"
    weights = weights or ("words" if small else "equal")
    choose("weights", weights, Weights)

    if llm is not None:
        if parses is not None:
            raise InputError("a language model gives no parses")
        units, signature, totals = written_units(records, llm, language)
        return Extraction(units, tuple(records), (), signature, totals)

    batch = _parsed(records, srl, coref, language)
    _check_parsed(batch, facts)
    made = make_units(batch, records, rules, weights, language)
    signature = Signature.of(
        units="stu",
        **signed(language),
        **batch.signature,
        rules=rules,
        **({} if weights == "equal" else {"weights": weights}),
        references_sha=references_sha(records),
    )

    if parses is not None:
        write_parses(parses, batch.references)
    return Extraction(
        tuple(
            InputUnits(e.input, tuple(made.units[e.input]), e.question) for e in records
        ),
        tuple(records),
        batch.references,
        signature,
        _totals(made, records) | made.counts,
        (*_notes(made), *([_whole_note(language)] if whole else [])),
    )


def _whole_note(language: str) -> str:
    return (
        f"Each sentence is a unit: the embedded parser does not read "
        f"{name_of(language)}. Smaller ones come of stanza, or of llm:MODEL."
    )


def _check_parsed(batch: ParsedBatch, facts: bool) -> None:
    """Facts need trees, triplets frames."""
    for parse in batch.references:
        for sentence in parse.sentences:
            alone = sentence.frames == ()
            if facts and sentence.words is None and not alone:
                raise InputError(
                    "this parser gives no dependency trees",
                    expected="embedded, stanza, or a file with words, for facts",
                    hint="Its frames give triplets: --rules zb21.",
                )
            if not facts and sentence.frames is None:
                raise InputError(
                    "this parser gives no frames",
                    expected="roles, stanza, allennlp:ARCHIVE, or a file with frames, "
                    "for triplets",
                    hint="Its trees give facts: --rules facts.",
                )


def _totals(made: Made, references: Sequence[InputReferences]) -> dict[str, float]:
    """What is counted of an extraction."""
    # fsum: the mean is the same in whatever order the sentences come.
    uncovered = 1 - fsum(made.covered) / max(1, len(made.covered))
    marked = [mark for entry in references for mark in entry.marked]
    return {
        "inputs": len(made.units),
        "references": len(marked),
        "references without sentence marks": marked.count(False),
        "sentences": len(made.covered) + len(made.without),
        "headings, links and dates without a unit": len(made.without),
        "share of a sentence's content words in no STU": uncovered,
        "sentences with more than a third in no STU": _partial(made),
        "units": sum(map(len, made.units.values())),
    }


def _partial(made: Made) -> int:
    """Sentences more than a third of which is in no unit."""
    return sum(share < LEAST_COVERED for share in made.covered)


def _notes(made: Made) -> Iterator[str]:
    """What no unit covers."""
    partial = _partial(made)
    if partial:
        uncovered = 1 - fsum(made.covered) / len(made.covered)
        yield (
            f"STUs leave out {uncovered:.1%} of a sentence's content words on average, "
            f"more than a third in {partial} of "
            f"{counted(len(made.covered), 'sentence')}."
        )
    if made.without:
        shown = ", ".join(f"'{cut(text, 40)}'" for text in made.without[:3])
        more = ", …" if len(made.without) > 3 else ""
        number = counted(len(made.without), "heading, link or date")
        yield f"{number} gave no unit: {shown}{more}."


def _check_parses_file(parses: Any) -> None:
    """Sees before the work that parses can be written there."""
    if not isinstance(parses, str | Path):
        raise InputError(
            f"parses is a {type(parses).__name__}", expected="a file to write"
        )

    if ending(parses) not in _INTERCHANGE:
        raise InputError(
            f"unknown ending '{ending(parses)}' of parses",
            path=parses,
            expected=f"one that ends in {_INTERCHANGE[0]}",
        )

    check_output(parses)


def _parsed(
    references: Sequence[InputReferences],
    srl: str | SrlBackend,
    coref: str | CorefBackend,
    language: str,
) -> ParsedBatch:
    """The references with frames and clusters, by both backends."""
    backend = open_backend(srl) if isinstance(srl, str) else srl
    linker = None if coref in ("srl", "none") else coref
    if isinstance(linker, str):
        check_language("coreference", language, "coreference")
        linker = open_backend(linker, coref=True)

    backends: list[tuple[str, object, str]] = [("srl", backend, "parse")]
    if linker is not None:
        backends.append(("coref", linker, "link"))
    for name, value, verb in backends:
        if not hasattr(value, verb):
            raise InputError(
                f"{name} is a {type(value).__name__}", expected="a name or a backend"
            )

    if languages := getattr(backend, "languages", None):
        check_language("parser", language, f"the parser '{srl}'", languages)
    english = bool(languages) or language == "en"
    if isinstance(backend, StanzaBackend) and not english:
        backend = backend.in_language(language)
    parses = tokenized(references, None if english else str.split)
    counts = {}
    linked = None

    # Names take the place of mentions before the parser runs; frames of a file are of
    # the tokens that are there.
    if linker is not None and not isinstance(backend, FileBackend):
        linked = linker.link(parses)
        names = [len(resolve(reference).names) for reference in linked.references]
        counts["mentions replaced"] = sum(names)
        parses = tuple(map(replaced, linked.references))

    batch = backend.parse(parses)
    parses = batch.references
    # A backend of the user's own may give anything.
    for parse in () if isinstance(srl, str) else parses:
        check_parse(parse)

    if linked is not None:
        parses = tuple(replace(reference, clusters=None) for reference in parses)
    elif linker is not None:
        linked = linker.link(parses)
        parses = linked.references
    else:
        # Names in place of mentions need English rules.
        if coref == "none" or not english:
            parses = tuple(replace(r, clusters=None, identities=()) for r in parses)
        resolved = any(r.clusters is not None or r.identities for r in parses)
        linked = ParsedBatch(parses, {"coref": "srl" if resolved else "none"})

    counts |= Counter(linked.counts) + Counter(batch.counts)
    return ParsedBatch(parses, batch.signature | linked.signature, counts)


class _SentencesBackend:
    """No frames at all: every sentence is its own unit, the baseline for every
    extractor."""

    def parse(self, references: Sequence[ParsedReference]) -> ParsedBatch:
        parses = tuple(with_frames(reference, repeat(())) for reference in references)
        return ParsedBatch(parses, {"srl": "sentences"})


@dataclass(frozen=True)
class Extractor:
    """What finds semantic roles.

    Attributes:
        open: Makes the backend, from what stands after the colon of its name.
        links: Whether it also finds coreference.
        takes_argument: Whether something may stand after a colon.
    """

    open: Callable[[str], Any]
    links: bool = False
    takes_argument: bool = False


EXTRACTORS = {
    "allennlp": Extractor(open_allennlp, takes_argument=True),
    "embedded": Extractor(lambda _: EmbeddedBackend(), links=True),
    "roles": Extractor(lambda _: RolesBackend(), links=True),
    "sentences": Extractor(lambda _: _SentencesBackend()),
    "stanza": Extractor(open_stanza, links=True, takes_argument=True),
}
"""By the name that ``--srl`` and ``--coref`` take."""


def open_backend(spec: str, coref: bool = False) -> Any:
    """The backend that a name, NAME:ARGUMENT or an interchange file names."""
    names = [name for name, entry in EXTRACTORS.items() if entry.links or not coref]
    others = ["srl", "none"] if coref else []
    name, colon, argument = spec.partition(":")
    if name in names and (EXTRACTORS[name].takes_argument or not colon):
        return EXTRACTORS[name].open(argument)
    if ending(spec) in _INTERCHANGE:
        return FileBackend(spec)

    raise InputError(
        f"unknown {'coreference' if coref else 'SRL'} backend '{spec}'",
        expected=f"one of {', '.join([*others, *names])}, or a .jsonl file",
    )


def references_language(
    references: Sequence[InputReferences], language: str | None
) -> str:
    """The language of references, as told or by themselves."""
    texts: list[str] = []
    for entry in references:
        texts += map(" ".join, entry.references)
    return language_of({"references": texts}, language)


@cache
def tokenizer() -> Callable[[str], tuple[str, ...]]:
    """A function from a text to its words, by spaCy's rules for English (Penn style,
    "do n't")."""
    import spacy

    tokenize: Any = spacy.blank("en").tokenizer
    # Texts of tokens, such as CNN/DM's, hold them alone.
    for word in ("'m", "’m", "'ve", "’ve"):
        tokenize.add_special_case(word, [{"ORTH": word}])

    def tokens(text: str) -> tuple[str, ...]:
        # spaCy takes n² time for n characters without a space.
        spaced = re.sub(r"\S{200}(?=\S)", r"\g<0> ", " ".join(text.split()))
        return tuple(token.text for token in tokenize(spaced))

    return tokens


def tokenized(
    references: Sequence[InputReferences],
    split: Callable[[str], Sequence[str]] | None = None,
) -> tuple[ParsedReference, ...]:
    """Every reference as sentences of tokens, in order; InputError at more than 1,000
    words."""
    tokens = split or tokenizer()
    parses = []
    for entry in references:
        for index, texts in enumerate(sentence_texts(entry)):
            sentences = tuple(ParsedSentence(tuple(tokens(text))) for text in texts)
            for text, sentence in zip(texts, sentences, strict=True):
                if (n := len(sentence.tokens)) > LONGEST:
                    raise InputError(
                        f"a sentence of {n} words in a reference of input "
                        f"'{entry.input}' ('{cut(text, 40)}')",
                        expected=f"at most {LONGEST}",
                        hint="Mark its sentences with <t> and </t>.",
                    )
            parses.append(ParsedReference(entry.input, index, sentences))

    return tuple(parses)
