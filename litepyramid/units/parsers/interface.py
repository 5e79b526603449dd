"""What a backend for semantic roles or coreference is, and the one that reads a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from litepyramid.errors import InputError
from litepyramid.tables import record
from litepyramid.text import place
from litepyramid.types import fingerprint
from litepyramid.units.parses import ParsedReference, read_parses


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
        """Labels every sentence of every reference, all at once, so that it can batch them."""
        ...


class CorefBackend(Protocol):
    """Finds which mentions in a reference refer to the same thing."""

    def link(self, references: Sequence[ParsedReference]) -> ParsedBatch:
        """Gives every reference its clusters; frames, if any, are returned unchanged."""
        ...


@dataclass(frozen=True, slots=True)
class FileBackend:
    """Frames or clusters that another program wrote into an interchange file.

    The file's own sentences and tokens stand in for the reference's.

    Attributes:
        path: The interchange file (docs/units.md).
    """

    path: str | Path

    def parse(self, references: Sequence[ParsedReference]) -> ParsedBatch:
        """Looks every reference up by its input and index; each sentence must have frames."""
        batch = self._find(references, "srl")
        for parse in batch.references:
            if any(sentence.frames is None for sentence in parse.sentences):
                raise InputError(
                    f'{place(parse.input, parse.reference)} has a sentence without "frames"',
                    path=self.path,
                    expected="the frames of every sentence, an empty list where it has no verb",
                )
        return batch

    def link(self, references: Sequence[ParsedReference]) -> ParsedBatch:
        """Looks every reference's clusters up; frames over the same tokens are kept."""
        batch = self._find(references, "coref")
        result = []
        for reference, parse in zip(references, batch.references, strict=True):
            where = place(parse.input, parse.reference)
            if parse.clusters is None:
                raise InputError(
                    f'{where} has no "clusters"',
                    path=self.path,
                    expected="a list of clusters, an empty one where nothing is linked",
                )
            if all(sentence.frames is None for sentence in reference.sentences):
                result.append(parse)
                continue
            if [s.tokens for s in reference.sentences] != [s.tokens for s in parse.sentences]:
                raise InputError(
                    f"the clusters of {where} are over other tokens than its frames",
                    path=self.path,
                    hint="Make both from the same sentences.",
                )
            result.append(
                replace(reference, clusters=parse.clusters, possessives=parse.possessives)
            )
        return replace(batch, references=tuple(result))

    def _find(self, references: Sequence[ParsedReference], field: str) -> ParsedBatch:
        parses = {(parse.input, parse.reference): parse for parse in read_parses(self.path)}
        result = []
        for reference in references:
            parse = parses.pop((reference.input, reference.reference), None)
            if parse is None:
                raise InputError(
                    f"no parse of {place(reference.input, reference.reference)}",
                    path=self.path,
                    hint="Parse the references again, or leave this input out of them.",
                )
            result.append(parse)
        counts = {"references in the file that are not needed": len(parses)} if parses else {}
        return ParsedBatch(
            tuple(result), {field: f"file:{fingerprint(map(record, result))}"}, counts
        )
