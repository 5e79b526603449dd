"""Backends by name: semantic roles (``--srl``) and coreference (``--coref``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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

_ARGUMENTS = {"allennlp": ":ARCHIVE", "clusters": ":FILE.jsonl", "frames": ":FILE.jsonl"}


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
        needs = _ARGUMENTS.get(name, "")
        if (needs and not argument) or (argument and not needs and name != "stanza"):
            problem = "needs a path" if needs else "takes no argument"
            raise InputError(f"the {what} '{name}' {problem}", expected=f"{name}{needs}")
        return backends[name](argument)
    if ending(spec) in (".jsonl", ".ndjson"):
        return backends[file](spec)
    names = ", ".join(n + _ARGUMENTS.get(n, "") for n in sorted(backends))
    raise InputError(f"unknown {what} '{spec}'", expected=f"one of {names}, or a .jsonl file")
