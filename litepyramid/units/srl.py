"""What a semantic role backend is, and which there are by name.

A backend takes references that hold tokens alone and gives them back with frames (and a tree or
clusters, if it makes them). To add one: write a class with the method `parse`, and put one line
into `BACKENDS`. Heavy imports belong inside its factory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from litepyramid.errors import InputError
from litepyramid.units.parses import ParsedReference, read_parses


@dataclass(frozen=True, slots=True)
class ParsedBatch:
    """What a backend says of a list of references.

    Attributes:
        references: In the order they were given, each with `frames` set on every sentence. The
            tokens are those given, unless the backend reads them from a file.
        signature: The backend's part of the signature: ``srl`` and whatever decides its output
            (model, revision, maximum length …).
        counts: What a user must be told: sentences cut, verbs left out …
    """

    references: tuple[ParsedReference, ...]
    signature: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)


class SrlBackend(Protocol):
    """Finds the semantic role frames of reference sentences."""

    def parse(self, references: Sequence[ParsedReference]) -> ParsedBatch:
        """Labels every sentence of every reference.

        Args:
            references: Tokens only; all references at once, so that a backend may batch over
                sentences as it likes.
        """
        ...


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
    """Frames that another program wrote into an interchange file.

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
        found = {(parse.input, parse.reference): parse for parse in read_parses(self.path)}
        result = []
        for reference in references:
            parse = found.pop((reference.input, reference.reference), None)
            if parse is None:
                raise InputError(
                    f"no parse of reference {reference.reference} of input '{reference.input}'",
                    path=self.path,
                    hint="Parse the references again, or leave this input out of them.",
                )
            if any(sentence.frames is None for sentence in parse.sentences):
                raise InputError(
                    f"reference {parse.reference} of input '{parse.input}' has a sentence "
                    'without "frames"',
                    path=self.path,
                    expected="the frames of every sentence, an empty list where it has no verb",
                )
            result.append(parse)
        counts = {"references in the file not asked for": len(found)} if found else {}
        return ParsedBatch(tuple(result), {"srl": f"file:{Path(self.path).name}"}, counts)


def _sentences(argument: str) -> SrlBackend:
    return SentencesBackend()


BACKENDS: dict[str, Callable[[str], SrlBackend]] = {
    "frames": FileBackend,
    "sentences": _sentences,
}
"""Name to factory; a factory takes what stands after the colon, "" if nothing does."""

_NEEDS_ARGUMENT = {"allennlp": "allennlp:ARCHIVE", "frames": "frames:FILE.jsonl"}


def open_backend(spec: str) -> SrlBackend:
    """The backend that a ``--srl`` value names.

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
    name, _, argument = spec.partition(":")
    if name in BACKENDS:
        if name in _NEEDS_ARGUMENT and not argument:
            raise InputError(
                f"the SRL backend '{name}' needs a path", expected=_NEEDS_ARGUMENT[name]
            )
        if argument and name in {"embedded", "sentences"}:
            raise InputError(f"the SRL backend '{name}' takes no argument", expected=name)
        return BACKENDS[name](argument)
    if spec.endswith((".jsonl", ".ndjson")):
        return FileBackend(spec)
    names = ", ".join(_NEEDS_ARGUMENT.get(n, n) for n in sorted(BACKENDS))
    raise InputError(f"no SRL backend '{spec}'", expected=f"one of {names}, or a .jsonl file")
