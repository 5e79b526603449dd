"""Backends by name: semantic roles (``--srl``) and coreference (``--coref``).

To add one: write a class with the method `parse` (or `link`) of litepyramid/units/backend.py, and
put one line into `BACKENDS` (or `COREF`). Heavy imports belong inside its factory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from litepyramid.errors import InputError
from litepyramid.io.files import ending
from litepyramid.text import place
from litepyramid.units.backend import CorefBackend, ParsedBatch, SrlBackend
from litepyramid.units.parses import ParsedReference, read_parses

_Backend = TypeVar("_Backend")


@dataclass(frozen=True, slots=True)
class SentencesBackend:
    """No frames at all: every sentence is its own unit, the baseline for every extractor."""

    def parse(self, references: Sequence[ParsedReference]) -> ParsedBatch:
        """Gives every sentence an empty list of frames."""
        return ParsedBatch(
            tuple(
                replace(r, sentences=tuple(replace(s, frames=()) for s in r.sentences))
                for r in references
            ),
            {"srl": "sentences"},
        )


@dataclass(frozen=True, slots=True)
class FileBackend:
    """Frames or clusters that another program wrote into an interchange file.

    The file's own sentences and tokens stand in for the reference's.

    Attributes:
        path: The interchange file (docs/units.md).
    """

    path: str | Path

    def parse(self, references: Sequence[ParsedReference]) -> ParsedBatch:
        """Looks every reference up by its input and index.

        Raises:
            InputError: The file is not valid, lacks a reference, or has a sentence that no
                labeller has seen.
        """
        batch = self._find(references, {"srl": f"file:{Path(self.path).name}"})
        for parse in batch.references:
            if any(sentence.frames is None for sentence in parse.sentences):
                raise InputError(
                    f'{place(parse.input, parse.reference)} has a sentence without "frames"',
                    path=self.path,
                    expected="the frames of every sentence, an empty list where it has no verb",
                )
        return batch

    def link(self, references: Sequence[ParsedReference]) -> ParsedBatch:
        """Looks every reference's clusters up; frames given with the same tokens are kept.

        Raises:
            InputError: The file is not valid, lacks a reference or its clusters, or speaks of
                other tokens than the frames do.
        """
        batch = self._find(references, {"coref": f"file:{Path(self.path).name}"})
        result = []
        for given, found in zip(references, batch.references, strict=True):
            where = place(found.input, found.reference)
            if found.clusters is None:
                raise InputError(
                    f'{where} has no "clusters"',
                    path=self.path,
                    expected="a list of clusters, an empty one where nothing is linked",
                )
            if all(sentence.frames is None for sentence in given.sentences):
                result.append(found)
                continue
            if [s.tokens for s in given.sentences] != [s.tokens for s in found.sentences]:
                raise InputError(
                    f"the clusters of {where} are over other tokens than its frames",
                    path=self.path,
                    hint="Make both from the same sentences.",
                )
            result.append(replace(given, clusters=found.clusters))
        return replace(batch, references=tuple(result))

    def _find(
        self, references: Sequence[ParsedReference], signature: dict[str, str]
    ) -> ParsedBatch:
        found = {(parse.input, parse.reference): parse for parse in read_parses(self.path)}
        result = []
        for reference in references:
            parse = found.pop((reference.input, reference.reference), None)
            if parse is None:
                raise InputError(
                    f"no parse of {place(reference.input, reference.reference)}",
                    path=self.path,
                    hint="Parse the references again, or leave this input out of them.",
                )
            result.append(parse)
        counts = {"references in the file not asked for": len(found)} if found else {}
        return ParsedBatch(tuple(result), signature, counts)


def _allennlp(argument: str) -> SrlBackend:
    from litepyramid.units.allennlp_backend import open_allennlp

    return open_allennlp(argument)


def _embedded(argument: str) -> SrlBackend:
    from litepyramid.units.embedded import EmbeddedBackend

    return EmbeddedBackend()


def _embedded_coref(argument: str) -> CorefBackend:
    from litepyramid.units.embedded import EmbeddedBackend

    return EmbeddedBackend()


def _sentences(argument: str) -> SrlBackend:
    return SentencesBackend()


def _stanza(argument: str) -> SrlBackend:
    from litepyramid.units.stanza import open_stanza

    return open_stanza(argument)


def _stanza_coref(argument: str) -> CorefBackend:
    from litepyramid.units.stanza import open_stanza

    return open_stanza(argument)


BACKENDS: dict[str, Callable[[str], SrlBackend]] = {
    "allennlp": _allennlp,
    "embedded": _embedded,
    "frames": FileBackend,
    "sentences": _sentences,
    "stanza": _stanza,
}
"""Semantic role backends; a factory takes what stands after the colon, "" if nothing does."""

COREF: dict[str, Callable[[str], CorefBackend]] = {
    "clusters": FileBackend,
    "embedded": _embedded_coref,
    "stanza": _stanza_coref,
}
"""Coreference backends, in the same way."""

_NEEDS_ARGUMENT = {
    "allennlp": "allennlp:ARCHIVE",
    "clusters": "clusters:FILE.jsonl",
    "frames": "frames:FILE.jsonl",
}
_NO_ARGUMENT = frozenset({"embedded", "sentences"})


def open_backend(spec: str) -> SrlBackend:
    """The semantic role backend that a ``--srl`` value names.

    Args:
        spec: ``embedded``, ``sentences``, ``NAME:ARGUMENT`` for a backend with an argument, or
            the path of an interchange file (ending in .jsonl), short for ``frames:PATH``.

    Raises:
        InputError: There is no such backend; the message lists those there are.

    Example:
        >>> open_backend("sentences")
        SentencesBackend()
        >>> open_backend("parses.jsonl")
        FileBackend(path='parses.jsonl')
    """
    return _open(spec, BACKENDS, "SRL backend", "frames")


def open_coref(spec: str) -> CorefBackend:
    """The coreference backend that a ``--coref`` value names, in the same way.

    Raises:
        InputError: There is no such backend; the message lists those there are.

    Example:
        >>> open_coref("clusters.jsonl")
        FileBackend(path='clusters.jsonl')
    """
    return _open(spec, COREF, "coreference backend", "clusters")


def _open(
    spec: str, backends: Mapping[str, Callable[[str], _Backend]], what: str, file: str
) -> _Backend:
    name, _, argument = spec.partition(":")
    if name in backends:
        if name in _NEEDS_ARGUMENT and not argument:
            raise InputError(f"the {what} '{name}' needs a path", expected=_NEEDS_ARGUMENT[name])
        if argument and name in _NO_ARGUMENT:
            raise InputError(f"the {what} '{name}' takes no argument", expected=name)
        return backends[name](argument)
    if ending(spec) in (".jsonl", ".ndjson"):
        return backends[file](spec)
    names = ", ".join(_NEEDS_ARGUMENT.get(n, n) for n in sorted(backends))
    raise InputError(f"no {what} '{spec}'", expected=f"one of {names}, or a .jsonl file")
