"""From references to units: sentences, frames, triplets, coreference."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import repeat
from math import fsum
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

from litepyramid.errors import InputError, choose
from litepyramid.files import check_output, ending
from litepyramid.io.coerce import as_names, as_references, write_units
from litepyramid.judges.lexical.lexical_judge import RecallJudge
from litepyramid.language import SPACELESS, check_language, language_of, signed
from litepyramid.progress import track
from litepyramid.tables import HIDDEN, Column, Result, Table, row
from litepyramid.text import counted, cut
from litepyramid.types import (
    ColumnsLike,
    InputReferences,
    InputUnits,
    JudgeLike,
    SidePath,
    Signature,
    TextsLike,
    Unit,
)
from litepyramid.units.align import references_sha, sentence_texts
from litepyramid.units.coreference import renderer, replaced, resolve
from litepyramid.units.parsers.allennlp import open_allennlp
from litepyramid.units.parsers.embedded.pipeline import EmbeddedBackend
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
from litepyramid.units.triplets import sentence_stus
from litepyramid.units.written import written_units

Fallback = Literal["none", "sentence"]
_LEAST_COVERED = 2 / 3
_INTERCHANGE = (".jsonl", ".ndjson")


@dataclass(frozen=True)
class UnitsResult(Result):
    """A result that is saved as units, to be read again; a line file has texts
    alone."""

    units: tuple[InputUnits, ...]

    forms: ClassVar = {".jsonl": "write_jsonl", ".txt": "write_lines"}

    def write_jsonl(self, path: str | Path) -> None:
        """Writes the units, one input a line."""
        write_units(path, self.units)

    def write_lines(self, path: str | Path) -> None:
        """Writes the texts of the units, one input a line, with tabs between."""
        write_units(path, self.units, "lines")

    def to_csv_table(self) -> Table:
        """One row per unit; an SCU of several contributors has one for each."""
        columns = ("input", "unit", "kind", "weight", "reference", "sentence")
        entries = (
            (e.input, part) for e in self.units for u in e.units for part in u.entries()
        )
        rows = [row(part, input=name, unit=part.text) for name, part in entries]
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

    references: tuple[InputReferences, ...] = field(metadata=HIDDEN)
    parses: tuple[ParsedReference, ...] = field(metadata=HIDDEN)
    signature: Signature
    counts: dict[str, float]
    notes: tuple[str, ...] = ()

    def to_tables(self) -> list[Table]:
        """One row per count, and units per reference."""
        mean = self.counts["units"] / self.counts["references"]
        rows = tuple({**self.counts, "units per reference": mean}.items())
        columns = (Column("what"), Column("value", "", digits=2))
        notes = (*self.notes, str(self.signature))
        return [Table("Units from references", columns, rows, notes)]


def extract(
    references: TextsLike | None,
    *,
    srl: str | SrlBackend = "embedded",
    coref: str | CorefBackend = "srl",
    footnote: bool = False,
    stu_fallback: Fallback = "none",
    llm: JudgeLike = None,
    parses: SidePath | None = None,
    ids: TextsLike | None = None,
    columns: ColumnsLike | None = None,
    language: str | None = None,
) -> Extraction:
    """Extract semantic triplet units (STUs) from references (ZB21 §3.2, footnotes 2 to
    4).

    Args:
        references: Reference summaries: a file (JSON Lines, a table, a line file), or
            in Python lists, dicts and frames.
        srl: Where semantic roles come from: ``embedded``, ``sentences`` (each sentence
            is its own unit), ``allennlp:ARCHIVE``, ``stanza``, or an interchange file
            with frames.
        coref: Where coreference comes from: ``srl`` (what the parser links; names stand
            for mentions in the frames), ``none``, ``embedded``, ``stanza``, or an
            interchange file with clusters. All but srl and none replace mentions before
            the parser runs.
        footnote: Keep *be* and *being* before the verb, as the paper's footnote 2 says;
            the authors' code does not.
        stu_fallback: Add the sentence itself (sentence) where its STUs leave more than
            a third of its content words out; or add nothing (none).
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
        >>> extract(["The dog chased a cat in the garden."], srl="sentences").units[0].texts
        ('The dog chased a cat in the garden .',)

    Command line:
        $ litepyramid units extract example/references.jsonl -o stus.jsonl
        $ litepyramid units extract example/references.jsonl --srl sentences -o stus.txt
    """
    if parses is not None:
        _check_parses_file(parses, references, srl, coref)

    records = as_references(references, **as_names(ids, columns))
    if not records:
        raise InputError("no references to extract units from")
    language = references_language(records, language)
    choose("fallback", stu_fallback, get_args(Fallback))
    if llm is not None:
        if parses is not None or stu_fallback != "none":
            raise InputError(
                "a language model gives no parses, and no STUs to fall back from"
            )
        units, signature, totals = written_units(records, llm, language)
        return Extraction(units, tuple(records), (), signature, totals)
    batch = _parsed(records, srl, coref, language)
    made, covered, counts = _units(batch, footnote, stu_fallback, language)
    uncovered = 1 - fsum(covered) / len(covered)
    partial = sum(share < _LEAST_COVERED for share in covered)
    totals = {
        "inputs": len(made),
        "references": len(batch.references),
        "references without sentence marks": sum(
            not m for entry in records for m in entry.marked
        ),
        "sentences": len(covered),
        "share of a sentence's content words in no STU": uncovered,
        "sentences with more than a third in no STU": partial,
        "units": sum(map(len, made.values())),
    }
    signature = Signature.of(
        units="stu",
        **signed(language),
        **batch.signature,
        footnote="yes" if footnote else None,
        fallback=None if stu_fallback == "none" else stu_fallback,
        references_sha=references_sha(records),
    )
    note = (
        f"STUs leave out {uncovered:.1%} of a sentence's content words on average, more than a "
        f"third in {partial} of {counted(len(covered), 'sentence')}."
    )
    if parses is not None:
        write_parses(parses, batch.references)
    return Extraction(
        tuple(InputUnits(e.input, tuple(made[e.input]), e.question) for e in records),
        tuple(records),
        batch.references,
        signature,
        totals | counts,
        (note,) if partial else (),
    )


def _check_parses_file(parses: Any, *inputs: Any) -> None:
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

    check_output(parses, inputs)


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
    for name, value, verb in (("srl", backend, "parse"), ("coref", linker, "link")):
        if value is not None and not hasattr(value, verb):
            raise InputError(
                f"{name} is a {type(value).__name__}", expected="a name or a backend"
            )
    if languages := getattr(backend, "languages", None):
        check_language("parser", language, f"the parser '{srl}'", languages)
    english = bool(languages) or language == "en"
    if isinstance(backend, StanzaBackend) and not english:
        backend = backend.in_language(language)
    parses = tokenized(references, None if english else str.split)
    counts: dict[str, int] = {}
    linked = None
    if linker is not None and not isinstance(
        backend, FileBackend
    ):  # before the parser runs
        linked = linker.link(parses)
        counts["mentions replaced"] = sum(
            len(resolve(r).names) for r in linked.references
        )
        parses = tuple(map(replaced, linked.references))
    batch = backend.parse(parses)
    parses = batch.references
    for parse in () if isinstance(srl, str) else parses:
        check_parse(parse)
    if linked is not None:
        parses = tuple(replace(reference, clusters=None) for reference in parses)
    elif linker is not None:
        linked = linker.link(parses)
        parses = linked.references
    else:
        if (
            coref == "none" or not english
        ):  # names in place of mentions need English rules
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


@dataclass(frozen=True, slots=True)
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
    "sentences": Extractor(lambda _: _SentencesBackend()),
    "stanza": Extractor(open_stanza, links=True, takes_argument=True),
}
"""By the name that ``--srl`` and ``--coref`` take."""


def open_backend(spec: str, coref: bool = False) -> Any:
    """The backend that a name, NAME:ARGUMENT or an interchange file names."""
    names = [name for name, entry in EXTRACTORS.items() if entry.links or not coref]
    name, colon, argument = spec.partition(":")
    if name in names and (EXTRACTORS[name].takes_argument or not colon):
        return EXTRACTORS[name].open(argument)
    if ending(spec) in _INTERCHANGE:
        return FileBackend(spec)

    what = f"unknown {'coreference' if coref else 'SRL'} backend '{spec}'"
    raise InputError(what, expected=f"one of {', '.join(names)}, or a .jsonl file")


def references_language(
    references: Sequence[InputReferences], language: str | None
) -> str:
    """The language of references, as told or by themselves."""
    texts = [
        " ".join(sentences) for entry in references for sentences in entry.references
    ]
    return language_of({"references": texts}, language)


@cache
def tokenizer() -> Callable[[str], tuple[str, ...]]:
    """A function from a text to its words, by spaCy's rules for English (Penn style,
    "do n't")."""
    import spacy

    tokenize = spacy.blank("en").tokenizer

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
                    what = f"a sentence of {n} words in a reference of input '{entry.input}'"
                    hint = "Mark its sentences with <t> and </t>."
                    expected = f"at most {LONGEST}"
                    raise InputError(
                        f"{what} ('{cut(text, 40)}')", expected=expected, hint=hint
                    )
            parses.append(ParsedReference(entry.input, index, sentences))
    return tuple(parses)


def _units(
    batch: ParsedBatch, footnote: bool, fallback: Fallback, language: str
) -> tuple[dict[str, list[Unit]], list[float], Counter[str]]:
    """Units by input, the share of each sentence's content words that they hold, and
    counts."""
    recall = RecallJudge(language).judge
    stanza = batch.signature["srl"].startswith("stanza")
    joint = "" if stanza and language in SPACELESS else " "
    units: defaultdict[str, list[Unit]] = defaultdict(list)
    covered: list[float] = []
    counts = Counter(batch.counts)
    for parse in track(batch.references, "making units", "references"):
        resolution = resolve(parse)
        render = renderer(parse, resolution)
        texts: list[tuple[int, str]] = []
        for number, sentence in enumerate(parse.sentences):

            def write(
                these: Iterable[int], k: int = parse.offsets[number], of: Any = render
            ) -> str:
                return joint.join(of([k + i for i in these]))

            whole = write(range(len(sentence.tokens)))
            stus = sentence_stus(sentence, footnote=footnote, render=write)
            counts["sentences that are their own unit"] += stus == [whole]
            share = recall([(" ".join(stus), [whole])]).presence[0][0]
            covered.append(1.0 if whole in stus else float(share))
            if fallback == "sentence":
                stus += [whole] * (covered[-1] < _LEAST_COVERED)
                counts["sentences added as units"] += covered[-1] < _LEAST_COVERED
            texts += [(number, stu) for stu in stus]
        counts["mentions replaced"] += len(resolution.names)
        texts += [
            (i.sentence, i.text) for i in (*parse.identities, *resolution.identities)
        ]
        index = parse.reference
        units[parse.input] += [
            Unit(t, kind="stu", reference=index, sentence=n) for n, t in texts
        ]
    return units, covered, counts
