"""Frames and clusters that another program wrote into a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from litepyramid.errors import InputError
from litepyramid.text import place
from litepyramid.units.parsers.base import ParsedBatch
from litepyramid.units.parses import ParsedReference, read_parses


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
        counts = {"references in the file that are not needed": len(found)} if found else {}
        return ParsedBatch(tuple(result), signature, counts)
