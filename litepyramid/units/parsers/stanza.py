"""Stanza as a parser: dependencies read as frames, constituency trees, coreference clusters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from litepyramid.errors import InputError, ModelError, loading, require
from litepyramid.language import name_of
from litepyramid.progress import track
from litepyramid.text import place
from litepyramid.units.parsers.embedded.frames import dependency_frames, word_set
from litepyramid.units.parsers.embedded.tree import Word
from litepyramid.units.parsers.free_frames import free_frames
from litepyramid.units.parses import ParsedBatch, ParsedReference, ParsedSentence, Span

Pipeline = Callable[[Any], Any]
"""From the tokens of each sentence of one text, or a text, to a ``stanza.Document``."""

_MULTIWORD = word_set("de es fr it pt pl cs tr fi uk ar fa he el")
"""Languages some of whose tokens are several words to Stanza: "zum" is zu dem."""
_CODES = {"zh": "zh-hans"}

EXTRAS = ("constituency", "coref")
"""What may be asked for besides dependencies."""

_ESCAPES = str.maketrans({"(": "-LRB-", ")": "-RRB-"})


@dataclass(frozen=True)
class StanzaBackend:
    """Frames (by the dependency mapping), trees and clusters from Stanza's models.

    Of other languages than English it makes frames alone, of Stanza's own words.

    Attributes:
        also: What to make besides frames: ``constituency`` and ``coref``, in any number.
        models: Folder of Stanza's models; its own default (``~/stanza_resources``) if None. A model
            that is not there is downloaded by Stanza on first use.
        pipeline: A pipeline that stands in for Stanza's own, which takes tokens as they are; of
            other languages, texts with an empty line between sentences.
        language: Code of the language.
    """

    also: tuple[str, ...] = EXTRAS
    models: str | Path | None = None
    pipeline: Pipeline | None = None
    language: str = "en"

    def in_language(self, language: str) -> StanzaBackend:
        """The backend of a language."""
        return replace(self, also=(), language=language)

    def parse(self, references: Sequence[ParsedReference]) -> ParsedBatch:
        """Parses every reference, a reference at a time."""
        processors = ("depparse", *self.also)
        run = self.pipeline or load_pipeline(processors, self.models, self.language)
        parsed = []
        for reference in track(references, "parsing", "references"):
            tokens = [list(sentence.tokens) for sentence in reference.sentences]
            text = "\n\n".join(map(" ".join, tokens))
            document = run(tokens if self.language == "en" else text)
            parsed.append(read_document(document, reference, self.also, self.language))
        part = {"srl": f"stanza-{version('stanza')}"}
        both = part | {"coref": part["srl"]}
        return ParsedBatch(tuple(parsed), both if "coref" in self.also else part)

    def link(self, references: Sequence[ParsedReference]) -> ParsedBatch:
        """Gives every reference Stanza's clusters, and leaves its frames as they are."""
        run = self.pipeline or load_pipeline(("coref",), self.models)
        linked = tuple(
            replace(r, clusters=clusters_of(run([list(s.tokens) for s in r.sentences]), r))
            for r in track(references, "linking", "references")
        )
        return ParsedBatch(linked, {"coref": f"stanza-{version('stanza')}"})


def open_stanza(argument: str) -> StanzaBackend:
    """The backend that ``stanza`` or ``stanza:…`` names.

    The argument is empty (dependencies, trees and clusters), or says what to make besides frames
    and where models lie, with commas between.

    Example:
        >>> open_stanza("none,models=models/stanza")
        StanzaBackend(also=(), models='models/stanza', pipeline=None, language='en')
    """
    named: list[str] = []
    models = None
    for option in filter(None, argument.split(",")):
        if option.startswith("models=") and option != "models=":
            models = option.removeprefix("models=")
        elif option in (*EXTRAS, "none"):
            named.append(option)
        else:
            raise InputError(
                f"unknown option '{option}' of the backend 'stanza'",
                expected="stanza[:constituency][,coref][,none][,models=FOLDER]",
            )
    also = tuple(option for option in named or EXTRAS if option != "none")
    return StanzaBackend(also, models)


def load_pipeline(
    processors: Sequence[str], models: str | Path | None = None, language: str = "en"
) -> Pipeline:
    """Stanza's pipeline: of English over tokens as they are, of others over sentences."""
    stanza = require("stanza", extra="stanza", purpose="the Stanza backend")
    needed = ["tokenize", "mwt"] if language in _MULTIWORD else ["tokenize"]
    if "depparse" in processors:
        needed += ["pos", "lemma"]
    for package in ("transformers", "peft") if "coref" in processors else ():
        require(package, extra="stanza", purpose="Stanza's coreference")
    options = {} if models is None else {"model_dir": str(models)}
    hint = (
        f"Run python -c \"import stanza; stanza.download('{language}')\" where there is a network,"
        " and name the folder: stanza:models=FOLDER."
    )
    with loading(f"Stanza's {name_of(language)} models cannot be loaded", path=models, hint=hint):
        pipeline: Pipeline = stanza.Pipeline(
            _CODES.get(language, language),
            processors=",".join([*needed, *processors]),
            tokenize_pretokenized=language == "en",
            tokenize_no_ssplit=language != "en",
            download_method=stanza.DownloadMethod.REUSE_RESOURCES,
            verbose=False,
            **options,
        )
    return pipeline


def read_document(
    document: Any,
    reference: ParsedReference,
    also: Sequence[str] = EXTRAS,
    language: str = "en",
) -> ParsedReference:
    """A reference with what a ``stanza.Document`` of its tokens holds; ModelError if it is not."""
    tokens = [tuple(word.text for word in parsed.words) for parsed in document.sentences]
    if language != "en" and len(tokens) == len(reference.sentences):
        frames = [free_frames(words_of(parsed)) for parsed in document.sentences]
        return replace(reference, sentences=tuple(map(ParsedSentence, tokens, frames)))
    if tokens != [sentence.tokens for sentence in reference.sentences]:
        raise ModelError(
            f"Stanza gives other tokens for {place(reference.input, reference.reference)}",
            hint="Build the pipeline with tokenize_pretokenized=True and without mwt.",
        )
    sentences = []
    for words, parsed in zip(tokens, document.sentences, strict=True):
        tree = getattr(parsed, "constituency", None) if "constituency" in also else None
        bracketed = None if tree is None else _bracketed(tree)
        sentences.append(ParsedSentence(words, dependency_frames(words_of(parsed)), bracketed))
    clusters = clusters_of(document, reference) if "coref" in also else reference.clusters
    return replace(reference, sentences=tuple(sentences), clusters=clusters)


def words_of(sentence: Any) -> list[Word]:
    """A ``stanza`` sentence's words; Stanza counts heads from 1, with 0 for the root."""
    return [
        Word(
            word.text,
            word.upos or "X",
            index if word.head == 0 else word.head - 1,
            word.deprel,
            word.xpos or "",
            getattr(word, "feats", None) or "",
        )
        for index, word in enumerate(sentence.words)
    ]


def clusters_of(document: Any, reference: ParsedReference) -> tuple[tuple[Span, ...], ...]:
    """Coreference chains as clusters of spans counted through the reference."""
    offsets = reference.offsets
    chains = [
        [
            (offsets[m.sentence] + m.start_word, offsets[m.sentence] + m.end_word)
            for m in chain.mentions
            if isinstance(m.start_word, int)
        ]
        for chain in document.coref
    ]
    return tuple(tuple(sorted(set(spans))) for spans in chains if len(spans) > 1)


def _bracketed(tree: Any) -> str:
    """A ``stanza`` tree on one line, brackets among the words escaped."""
    if tree.label == "ROOT" and len(tree.children) == 1:
        return _bracketed(tree.children[0])
    if not tree.children:
        return str(tree.label).translate(_ESCAPES)
    return f"({tree.label} {' '.join(map(_bracketed, tree.children))})"
