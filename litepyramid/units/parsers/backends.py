"""Backends by name: semantic roles (``--srl``) and coreference (``--coref``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import TypeVar

from litepyramid.errors import InputError
from litepyramid.files import ending
from litepyramid.units.parsers.allennlp.srl_bert import open_allennlp
from litepyramid.units.parsers.embedded.pipeline import EmbeddedBackend
from litepyramid.units.parsers.stanza import open_stanza
from litepyramid.units.parses import (
    CorefBackend,
    FileBackend,
    ParsedBatch,
    ParsedReference,
    SrlBackend,
    with_frames,
)

_Backend = TypeVar("_Backend")


@dataclass(frozen=True, slots=True)
class SentencesBackend:
    """No frames at all: every sentence is its own unit, the baseline for every extractor."""

    def parse(self, references: Sequence[ParsedReference]) -> ParsedBatch:
        """Gives every sentence an empty list of frames."""
        parses = tuple(with_frames(reference, repeat(())) for reference in references)
        return ParsedBatch(parses, {"srl": "sentences"})


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
    """The semantic role backend of ``--srl``: its name, NAME:ARGUMENT, or an interchange file."""
    return _open(spec, BACKENDS, "SRL backend", "frames")


def open_coref(spec: str) -> CorefBackend:
    """The coreference backend that a ``--coref`` value names, in the same way."""
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
