"""Stanza as a parser: dependencies, also read as frames, constituency trees,
coreference clusters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from litepyramid.errors import InputError, ModelError, loading, require
from litepyramid.language import name_of
from litepyramid.progress import track
from litepyramid.text import place, word_set
from litepyramid.units.parsers.free_frames import free_frames
from litepyramid.units.parses import ParsedBatch, ParsedReference, ParsedSentence, Span
from litepyramid.units.trees import Word

Pipeline = Callable[[Any], Any]
"""From the tokens of each sentence of one text, or a text, to a ``stanza.Document``."""

_MULTIWORD = word_set("de es fr it pt pl cs tr fi uk ar fa he el")
"""Languages some of whose tokens are several words to Stanza: "zum" is zu dem."""
_CODES = {"zh": "zh-hans"}
_EXTRAS = ("constituency", "coref")
_ESCAPES = str.maketrans({"(": "-LRB-", ")": "-RRB-"})


@dataclass(frozen=True)
class StanzaBackend:
    """Frames (by the dependency mapping), trees and clusters from Stanza's models.

    Of other languages than English it makes frames alone, of Stanza's own words.

    Attributes:
        also: What to make besides frames: ``constituency`` and ``coref``, in any
            number.
        models: Folder of Stanza's models; None is its own, where Stanza downloads what
            is missing.
        pipeline: A pipeline that stands in for Stanza's own, which takes tokens as they
            are; of other languages, texts with an empty line between sentences.
    """

    also: tuple[str, ...] = _EXTRAS
    models: str | Path | None = None
    pipeline: Pipeline | None = None
    language: str = "en"

    def in_language(self, language: str) -> StanzaBackend:
        """The backend of a language."""
        return replace(self, also=(), language=language)

    def parse(self, references: Sequence[ParsedReference]) -> ParsedBatch:
        """Parses every reference, a reference at a time."""
        run = self._pipeline("depparse", *self.also)
        parsed = tuple(
            self._read(run, r) for r in track(references, "parsing", "references")
        )
        name = f"stanza-{version('stanza')}"
        return ParsedBatch(
            parsed, {"srl": name} | ({"coref": name} if "coref" in self.also else {})
        )

    def link(self, references: Sequence[ParsedReference]) -> ParsedBatch:
        """Gives every reference Stanza's clusters, and leaves its frames as they
        are."""
        run = self._pipeline("coref")
        linked = tuple(
            replace(
                r, clusters=clusters_of(run([list(s.tokens) for s in r.sentences]), r)
            )
            for r in track(references, "linking", "references")
        )
        return ParsedBatch(linked, {"coref": f"stanza-{version('stanza')}"})

    def _pipeline(self, *processors: str) -> Pipeline:
        """Stanza's pipeline: of English over tokens as they are, of others over
        sentences."""
        if self.pipeline is not None:
            return self.pipeline
        stanza = require("stanza", extra="stanza", purpose="the Stanza backend")
        language = self.language
        english = self.language == "en"
        needed = ["tokenize", "mwt"] if language in _MULTIWORD else ["tokenize"]
        if "depparse" in processors:
            needed += ["pos", "lemma"]
        for package in ("transformers", "peft") if "coref" in processors else ():
            require(package, extra="stanza", purpose="Stanza's coreference")
        what = f"Stanza's {name_of(language)} models cannot be loaded"
        hint = (
            f"Run python -c \"import stanza; stanza.download('{language}')\" where "
            "there is a"
            " network, and name the folder: stanza:models=FOLDER."
        )

        with loading(what, path=self.models, hint=hint):
            pipeline: Pipeline = stanza.Pipeline(
                _CODES.get(language, language),
                processors=",".join([*needed, *processors]),
                tokenize_pretokenized=english,
                tokenize_no_ssplit=not english,
                download_method=stanza.DownloadMethod.REUSE_RESOURCES,
                verbose=False,
                **({} if self.models is None else {"model_dir": str(self.models)}),
            )

        return pipeline

    def _read(self, run: Pipeline, reference: ParsedReference) -> ParsedReference:
        """A reference with what Stanza makes of it; ModelError if that is of other
        tokens."""
        asked = [sentence.tokens for sentence in reference.sentences]
        if self.language != "en":
            document = run("\n\n".join(map(" ".join, asked)))
        else:
            document = run([list(tokens) for tokens in asked])

        trees = [words_of(sentence) for sentence in document.sentences]
        tokens = [tuple(word.text for word in words) for words in trees]
        if self.language != "en" and len(tokens) == len(asked):
            sentences = tuple(map(ParsedSentence, tokens, map(free_frames, trees)))
            return replace(reference, sentences=sentences)

        if tokens != asked:
            where = place(reference.input, reference.reference)
            raise ModelError(f"Stanza gives other tokens for {where}")

        brackets = [
            _bracketed(getattr(s, "constituency", None)) for s in document.sentences
        ]
        if "constituency" not in self.also:
            brackets = [None] * len(tokens)
        frames = map(free_frames, trees)
        words = map(tuple, trees)
        sentences = tuple(map(ParsedSentence, tokens, frames, brackets, words))
        clusters = (
            clusters_of(document, reference)
            if "coref" in self.also
            else reference.clusters
        )
        return replace(reference, sentences=sentences, clusters=clusters)


def open_stanza(argument: str) -> StanzaBackend:
    """The backend of ``stanza:coref,models=FOLDER`` and the like."""
    named = []
    models = None
    for option in filter(None, argument.split(",")):
        if option.startswith("models=") and option != "models=":
            models = option.removeprefix("models=")
        elif option in (*_EXTRAS, "none"):
            named.append(option)
        else:
            raise InputError(
                f"unknown option '{option}' of the backend 'stanza'",
                expected="stanza[:constituency][,coref][,none][,models=FOLDER]",
            )

    return StanzaBackend(
        tuple(option for option in named or _EXTRAS if option != "none"), models
    )


def words_of(sentence: Any) -> list[Word]:
    """A ``stanza`` sentence's words; Stanza counts heads from 1, with 0 for the
    root."""
    return [
        Word(
            w.text,
            w.upos or "X",
            (w.head or i) - 1,
            w.deprel,
            w.xpos or "",
            w.feats or "",
        )
        for i, w in enumerate(sentence.words, start=1)
    ]


def clusters_of(
    document: Any, reference: ParsedReference
) -> tuple[tuple[Span, ...], ...]:
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


def _bracketed(tree: Any) -> str | None:
    """A ``stanza`` tree on one line, brackets among the words escaped."""
    if tree is None:
        return None
    if tree.label == "ROOT" and len(tree.children) == 1:
        return _bracketed(tree.children[0])
    if not tree.children:
        return str(tree.label).translate(_ESCAPES)
    return f"({tree.label} {' '.join(filter(None, map(_bracketed, tree.children)))})"
