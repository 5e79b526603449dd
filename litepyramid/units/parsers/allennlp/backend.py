"""AllenNLP's SRL-BERT archives as a backend: ``--srl allennlp:ARCHIVE``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from litepyramid.errors import InputError
from litepyramid.units.parsers.allennlp.decode import Decoding, check_decoding
from litepyramid.units.parsers.allennlp.model import BATCH_PIECES, load_srl_bert, tag_predicates
from litepyramid.units.parsers.base import ParsedBatch
from litepyramid.units.parsers.file import FileBackend
from litepyramid.units.parses import Frame, ParsedReference

Tagger = Callable[[Sequence[Sequence[str]]], list[list[str]]]
"""From tokens of sentences to their universal parts of speech."""

PREDICATES = frozenset({"VERB", "AUX"})
"""What AllenNLP's predictor takes for a predicate in English."""

_OPTIONS = ("bert", "decoding", "device", "verbs")


@dataclass(frozen=True)
class AllenNlpBackend:
    """Frames by an SRL-BERT archive of AllenNLP.

    Attributes:
        archive: The archive.
        bert: Where its BERT's word pieces are, if they are not found by themselves.
        verbs: An interchange file whose frames say which words are predicates (its tokens stand in
            for the reference's). Without one they are the words that the tagger calls VERB or AUX.
        tagger: Tags words; the embedded parser if None.
        decoding: ``allennlp``, as published, or ``exact``.
        device: A torch device.
        batch_pieces: Word pieces in a batch.
    """

    archive: str | Path
    bert: str | Path | None = None
    verbs: str | Path | None = None
    tagger: Tagger | None = None
    decoding: Decoding = "allennlp"
    device: str = "cpu"
    batch_pieces: int = BATCH_PIECES

    def parse(self, references: Sequence[ParsedReference]) -> ParsedBatch:
        """Labels every predicate of every sentence, all of them in common batches.

        Raises:
            InputError: There is no archive, or `verbs` does not fit the references.
            ModelError: The archive cannot serve; the message says why.
            MissingExtraError: torch or transformers is not installed.
        """
        model = load_srl_bert(
            self.archive, bert=self.bert, device=self.device, decoding=self.decoding
        )
        source = "embedded" if self.tagger is None else "tagger"
        counts: dict[str, int] = {}
        if self.verbs is not None:
            named = FileBackend(self.verbs).parse(references)
            references, counts = named.references, dict(named.counts)
            source = f"file:{Path(self.verbs).name}"
            rows = [[f.verb for f in s.frames or ()] for r in references for s in r.sentences]
        sentences = [s.tokens for r in references for s in r.sentences]
        if self.verbs is None:
            tags = (self.tagger or _embedded_tagger)(sentences)
            rows = [[i for i, tag in enumerate(row) if tag in PREDICATES] for row in tags]
        found = tag_predicates(model, sentences, rows, batch_pieces=self.batch_pieces)
        outside = sum(frame.outside > 0 for frames in found for frame in frames)
        if outside:
            counts["frames of sentences truncated to the model's window"] = outside
        labelled = iter(found)
        result = tuple(
            replace(
                r,
                sentences=tuple(
                    replace(s, frames=tuple(Frame(f.verb, f.tags) for f in next(labelled)))
                    for s in r.sentences
                ),
            )
            for r in references
        )
        name = f"allennlp:{Path(self.archive).name}@{model.archive.revision}"
        signature = {"srl": name, "decoding": self.decoding, "verbs": source}
        return ParsedBatch(result, signature, counts)


def open_allennlp(argument: str) -> AllenNlpBackend:
    """The backend that stands after ``allennlp:``.

    Args:
        argument: The archive, then options after commas: ``bert=FOLDER``, ``verbs=FRAMES.jsonl``,
            ``decoding=exact``, ``device=cuda``.

    Raises:
        InputError: An option that there is not.

    Example:
        >>> open_allennlp("srl-bert.tar.gz,bert=berts/bert-base-uncased").bert
        'berts/bert-base-uncased'
    """
    archive, *options = argument.split(",")
    while options and "=" not in options[0]:  # a comma in the archive's own name
        archive += "," + options.pop(0)
    given: dict[str, Any] = {}
    for option in options:
        name, _, value = option.partition("=")
        if name not in _OPTIONS or not value or name in given:
            raise InputError(
                f"unknown option '{option}' of the SRL backend 'allennlp'",
                expected="allennlp:ARCHIVE[,bert=FOLDER][,verbs=FRAMES.jsonl][,decoding=exact]"
                "[,device=cuda]",
            )
        given[name] = value
    check_decoding(given.get("decoding", "allennlp"))
    return AllenNlpBackend(archive, **given)


def _embedded_tagger(sentences: Sequence[Sequence[str]]) -> list[list[str]]:
    """Universal parts of speech by the embedded parser in the package."""
    from litepyramid.units.parsers.embedded.backend import EmbeddedBackend

    return [[word.upos for word in words] for words in EmbeddedBackend().words(sentences)]
