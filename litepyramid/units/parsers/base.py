"""What a backend for semantic roles or for coreference is: one method each, handed in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from litepyramid.units.parses import ParsedReference


@dataclass(frozen=True, slots=True)
class ParsedBatch:
    """What a backend says of a list of references.

    Attributes:
        references: In the order they were given, each with `frames` set on every sentence. The
            tokens are those given, unless the backend reads them from a file.
        signature: The backend's part of the signature: ``srl`` and whatever decides its output
            (model, revision, maximum length …).
        counts: What a user must know: sentences cut, verbs left out …
    """

    references: tuple[ParsedReference, ...]
    signature: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)


class SrlBackend(Protocol):
    """Finds the semantic role frames of reference sentences."""

    def parse(self, references: Sequence[ParsedReference]) -> ParsedBatch:
        """Labels every sentence of every reference.

        Args:
            references: Tokens only; all references at once, so that a backend can batch
                sentences as it likes.
        """
        ...


class CorefBackend(Protocol):
    """Finds which mentions in a reference refer to the same thing."""

    def link(self, references: Sequence[ParsedReference]) -> ParsedBatch:
        """Gives every reference its clusters.

        Args:
            references: Tokens; frames, if any, are returned unchanged.
        """
        ...
