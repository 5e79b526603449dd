"""From references to units: sentences, frames, triplets, coreference."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import repeat
from math import fsum
from pathlib import Path
from typing import Any, ClassVar

from litepyramid.data.data import read_references
from litepyramid.data.notes import text_notes
from litepyramid.data.records import InputReferences, InputUnits, Unit
from litepyramid.data.written import write_units
from litepyramid.errors import InputError, choose
from litepyramid.files import check_output, ending, file_type
from litepyramid.judges.lexical.lexical_judge import RecallJudge
from litepyramid.language import SPACELESS, check_language, language_of, signed
from litepyramid.progress import track
from litepyramid.tables import HIDDEN, Column, Result, Table, row
from litepyramid.text import counted, cut
from litepyramid.types import (
    ColumnsLike,
    JudgeLike,
    Rules,
    SidePath,
    Signature,
    TextsLike,
)
from litepyramid.units.align import references_sha, sentence_texts
from litepyramid.units.clauses import DAYS, SAYING
from litepyramid.units.coreference import (
    Render,
    ages,
    certain,
    is_quoted,
    renderer,
    replaced,
    resolve,
)
from litepyramid.units.facts import sentence_facts
from litepyramid.units.parsers.allennlp import open_allennlp
from litepyramid.units.parsers.embedded.pipeline import EmbeddedBackend
from litepyramid.units.parsers.roles import RolesBackend
from litepyramid.units.parsers.stanza import StanzaBackend, open_stanza
from litepyramid.units.parses import (
    LONGEST,
    QUOTES,
    CorefBackend,
    FileBackend,
    ParsedBatch,
    ParsedReference,
    ParsedSentence,
    SrlBackend,
    check_parse,
    read_parses,
    with_frames,
    write_parses,
)
from litepyramid.units.spelling import spaces_before, spelled
from litepyramid.units.triplets import sentence_stus
from litepyramid.units.written import written_units

_LEAST_COVERED = 2 / 3
_INTERCHANGE = (".jsonl", ".ndjson")
_LEAST_WORDS = 4  # of a sentence without a verb
_DEATH = frozenset(["dead", "death", "died", "killed", "murder", "murdered"])
_LINKS = ("click here", "scroll down", "read :", "watch :")


@dataclass(frozen=True)
class UnitsResult(Result):
    """A result that is saved as units, to be read again; a line file has texts
    alone."""

    units: tuple[InputUnits, ...]

    forms: ClassVar = {".jsonl": "_write_jsonl", ".txt": "_write_lines"}

    def _write_jsonl(self, path: str | Path) -> None:
        """Writes the units, one input a line."""
        write_units(path, self.units)

    def _write_lines(self, path: str | Path) -> None:
        """Writes the texts of the units, one input a line, with tabs between."""
        write_units(path, self.units, "lines")

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
    srl: str | SrlBackend = "roles",
    coref: str | CorefBackend = "srl",
    rules: Rules = "facts",
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
        srl: Where semantic roles come from: ``roles`` (a small labeller), ``embedded``
            (dependencies), ``sentences`` (each sentence is its own unit),
            ``allennlp:ARCHIVE``, ``stanza``, or an interchange file with frames.
        coref: Where coreference comes from: ``srl`` (what the parser links; names stand
            for mentions in the frames), ``none``, ``embedded``, ``stanza``, or an
            interchange file with clusters. All but srl and none replace mentions before
            the parser runs.
        rules: What units are: a verb with all of its core arguments and one adjunct
            (facts); or the paper's triplets of one argument each, by its authors' code
            (zb21) or with *be* and *being* before the verb as well (zb21-footnote).
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
    if parses is not None:
        _check_parses_file(parses, references, srl, coref)

    records = read_references(references, ids, columns)
    language = references_language(records, language)
    choose("rules", rules, Rules)

    if llm is not None:
        if parses is not None:
            raise InputError("a language model gives no parses")
        units, signature, totals = written_units(records, llm, language)
        return Extraction(units, tuple(records), (), signature, totals)

    batch = _parsed(records, srl, coref, language)
    made, covered, counts = _units(batch, records, rules, language)
    # fsum: the mean is the same in whatever order the sentences come.
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
        rules=rules,
        references_sha=references_sha(records),
    )

    note = (
        f"STUs leave out {uncovered:.1%} of a sentence's content words on average, "
        f"more than a third in {partial} of {counted(len(covered), 'sentence')}."
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

    if file_type(parses) == "file" and Path(parses).stat().st_size:
        try:
            read_parses(parses)
        except InputError as error:
            raise InputError(
                "would be overwritten, and holds no parses",
                path=parses,
                expected="a new name, or an earlier file of parses",
            ) from error


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


def _units(
    batch: ParsedBatch,
    references: Sequence[InputReferences],
    rules: Rules,
    language: str,
) -> tuple[dict[str, list[Unit]], list[float], Counter[str]]:
    """Units by input, the share of each sentence's content words that they hold, and
    counts."""
    recall = RecallJudge(language).judge
    stanza = batch.signature["srl"].startswith("stanza")
    joint = "" if stanza and language in SPACELESS else " "
    texts = {entry.input: sentence_texts(entry) for entry in references}
    # The rules of facts are of English; other languages have frames of their own.
    facts = rules == "facts" and language == "en"

    units: defaultdict[str, list[Unit]] = defaultdict(list)
    covered = []
    counts = Counter(batch.counts)

    for parse in track(batch.references, "making units", "references"):
        resolution = resolve(parse)
        if facts:
            resolution = certain(parse, resolution)
        render = renderer(parse, resolution, once=facts)
        spaces = _spaces(parse, texts[parse.input][parse.reference])
        made = []
        quotation: list[str] = []
        # What states nothing is left out only beside what does.
        stated = any(s.frames and not _states_nothing(s) for s in parse.sentences)

        for number, sentence in enumerate(parse.sentences):
            offset = parse.offsets[number]
            whole = range(offset, offset + len(sentence.tokens))
            if facts and stated and _states_nothing(sentence):
                covered.append(1.0)
                continue
            if facts:
                write = partial(_spelled, render, spaces)
                reported = _is_reported(sentence, bool(quotation))
                quotation = _open_quotation([*quotation, *sentence.tokens])
                stus = _facts(sentence, offset, write, reported)
            else:
                write = partial(_joined, render, joint)
                footnote = rules == "zb21-footnote"
                stus = _triplets(sentence, offset, write, footnote)

            text = write(whole)
            share = recall([(" ".join(stus), [text])]).presence[0][0]
            counts["sentences that are their own unit"] += list(stus) == [text]
            # What the rules leave out of a sentence would be scored nowhere.
            if facts and stus and share < _LEAST_COVERED:
                stus.setdefault(text, False)
                counts["sentences added as units"] += 1
            covered.append(1.0 if text in stus else float(share))

            verb = "was" if _DEATH & set(sentence.tokens) else "is"
            for name, age in ages(sentence.tokens) if facts else ():
                who = write(offset + i for i in name)
                stus.setdefault(f"{who} {verb} {sentence.tokens[age]}", False)

            for text, said in stus.items():
                made.append(
                    Unit(
                        text,
                        kind="stu",
                        reference=parse.reference,
                        sentence=number,
                        said=said,
                    )
                )

        counts["mentions replaced"] += len(resolution.names)
        for identity in (*parse.identities, *resolution.identities):
            made.append(
                Unit(
                    identity.text,
                    kind="stu",
                    reference=parse.reference,
                    sentence=identity.sentence,
                )
            )

        units[parse.input] += made

    return units, covered, counts


def _states_nothing(sentence: ParsedSentence) -> bool:
    """Whether a sentence is too short to say anything, a date ("Friday, May 8, 2009"),
    a question or a link ("CLICK HERE for more")."""
    words = [token.lower() for token in sentence.tokens if token.isalnum()]
    dated = len(words) == _LEAST_WORDS and words[0] in DAYS and words[-1].isdigit()
    # "Population: 450,000" says something, short as it is.
    titled = ":" in sentence.tokens[1:-1]
    short = (len(words) < _LEAST_WORDS or dated) and not (sentence.frames or titled)
    link = " ".join(sentence.tokens[:2]).lower() in _LINKS
    return short or link or sentence.tokens[-1] == "?"


Written = Callable[[Iterable[int]], str]


def _open_quotation(tokens: Sequence[str]) -> list[str]:
    """The mark of a quotation that is not closed at the end, if there is one."""
    # A lone ' may be an apostrophe.
    marks = [token for token in tokens if token in QUOTES - {"'", "’"}]
    return marks[-1:] if is_quoted(marks) else []


def _is_reported(sentence: ParsedSentence, quoted: bool) -> bool:
    """Whether a sentence is what somebody says: in quotes, or "Police: he fled"."""
    tokens = sentence.tokens
    verbs = {tokens[frame.verb].lower() for frame in sentence.frames or ()}
    if verbs & SAYING:
        return False
    return quoted or tokens[0] in QUOTES or ":" in tokens[1:4]


def _facts(
    sentence: ParsedSentence, offset: int, write: Written, reported: bool
) -> dict[str, bool]:
    """The facts of a sentence, and whether the sentence says that somebody said
    them."""
    texts: dict[str, bool] = {}
    for fact in sentence_facts(sentence):
        text = write(offset + i for i in fact.tokens)
        # "the gun Bob used": an article that opened the sentence may not open the fact.
        opening = sentence.tokens[0]
        if fact.tokens[0] > 0 and opening in ("The", "A", "An"):
            text = text.replace(f" {opening} ", f" {opening.lower()} ", 1)
        # A lone mark that was split off as a sentence says nothing.
        if any(map(str.isalnum, text)):
            texts.setdefault(text, fact.said or reported)
    return texts


def _triplets(
    sentence: ParsedSentence, offset: int, write: Written, footnote: bool
) -> dict[str, bool]:
    """The triplets of a sentence."""

    def render(tokens: Iterable[int]) -> str:
        return write(offset + i for i in tokens)

    return dict.fromkeys(
        sentence_stus(sentence, footnote=footnote, render=render), False
    )


def _spaces(parse: ParsedReference, texts: Sequence[str]) -> list[bool]:
    """Whether each token of a reference has a space before it there."""
    spaces = []
    # A parser, or a file of parses, may have split the text otherwise.
    same = len(texts) == len(parse.sentences)
    for number, sentence in enumerate(parse.sentences):
        text = texts[number] if same else sentence.text
        spaces += spaces_before(text, sentence.tokens)
    return spaces


def _spelled(render: Render, spaces: Sequence[bool], tokens: Iterable[int]) -> str:
    """Tokens as the reference writes them, a space where some were left out."""
    words = []
    last = -2
    for word, token in render([*tokens]):
        follows = token == last + 1
        words.append((word, spaces[token] or not follows))
        last = token
    text = spelled(words)
    # The end of a sentence is no part of a fact; a lone mark stays what it is.
    return text.rstrip(" .,;:") or text


def _joined(render: Render, joint: str, tokens: Iterable[int]) -> str:
    """Tokens with the same between all of them."""
    return joint.join(word for word, _ in render([*tokens]))
