"""Backends by name: semantic roles (``--srl``) and coreference (``--coref``).

To add one: write a class with the method `parse` (or `link`) of `parsers.base`, and
put one line into `BACKENDS` (or `COREF`). Heavy imports belong inside its methods.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from litepyramid.errors import InputError
from litepyramid.files import ending
from litepyramid.units.parsers.allennlp.srl_bert import open_allennlp
from litepyramid.units.parsers.embedded.pipeline import EmbeddedBackend
from litepyramid.units.parsers.interface import CorefBackend, FileBackend, ParsedBatch, SrlBackend
from litepyramid.units.parsers.stanza import open_stanza
from litepyramid.units.parses import ParsedReference

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


BACKENDS: dict[str, Callable[[str], SrlBackend]] = {
    "allennlp": open_allennlp,
    "embedded": lambda argument: EmbeddedBackend(),
    "frames": FileBackend,
    "sentences": lambda argument: SentencesBackend(),
    "stanza": open_stanza,
}
"""Semantic role backends; a factory takes what stands after the colon, "" if nothing does."""

COREF: dict[str, Callable[[str], CorefBackend]] = {
    "clusters": FileBackend,
    "embedded": lambda argument: EmbeddedBackend(),
    "stanza": open_stanza,
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

    That is ``embedded``, ``sentences``, ``NAME:ARGUMENT`` for a backend with an argument, or the
    path of an interchange file (ending in .jsonl), short for ``frames:PATH``.

    Example:
        >>> open_backend("sentences")
        SentencesBackend()
        >>> open_backend("parses.jsonl")
        FileBackend(path='parses.jsonl')
    """
    return _open(spec, BACKENDS, "SRL backend", "frames")


def open_coref(spec: str) -> CorefBackend:
    """The coreference backend that a ``--coref`` value names, in the same way.

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
    raise InputError(f"unknown {what} '{spec}'", expected=f"one of {names}, or a .jsonl file")
