"""Backends by name: semantic roles (``--srl``) and coreference (``--coref``)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import Any

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


class _SentencesBackend:
    """No frames at all: every sentence is its own unit, the baseline for every extractor."""

    def parse(self, references: Sequence[ParsedReference]) -> ParsedBatch:
        parses = tuple(with_frames(reference, repeat(())) for reference in references)
        return ParsedBatch(parses, {"srl": "sentences"})


_PLAIN = {"embedded": EmbeddedBackend, "sentences": _SentencesBackend}
_OPENED = {"allennlp": open_allennlp, "stanza": open_stanza}
"""Backends that take what stands after a colon, "" if nothing does."""


def open_backend(spec: str) -> SrlBackend:
    """The semantic role backend of ``--srl``: its name, NAME:ARGUMENT, or an interchange file."""
    backend: SrlBackend = _open(spec, "SRL backend", "allennlp", "embedded", "sentences", "stanza")
    return backend


def open_coref(spec: str) -> CorefBackend:
    """The coreference backend that a ``--coref`` value names, in the same way."""
    backend: CorefBackend = _open(spec, "coreference backend", "embedded", "stanza")
    return backend


def _open(spec: str, what: str, *names: str) -> Any:
    name, _, argument = spec.partition(":")
    if spec in names and spec in _PLAIN:
        return _PLAIN[spec]()
    if name in names and name in _OPENED:
        return _OPENED[name](argument)
    if ending(spec) in (".jsonl", ".ndjson"):
        return FileBackend(spec)
    expected = f"one of {', '.join(names)}, or a .jsonl file"
    raise InputError(f"unknown {what} '{spec}'", expected=expected)
