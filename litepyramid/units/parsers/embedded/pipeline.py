"""The parser that ships inside the package: a small spaCy pipeline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from litepyramid.errors import ModelError
from litepyramid.files import read_lines
from litepyramid.progress import track
from litepyramid.text import word_set
from litepyramid.units.parsers.embedded.pronouns import pronoun_clusters
from litepyramid.units.parses import ParsedBatch, ParsedReference
from litepyramid.units.trees import Word

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Token

_NOUN = "leader"
_NAME = "John"
_BEFORE_BARE_VERBS = word_set(
    """
    to not n't n’t never do does did can could may might must shall should will would
    ca wo let please and or
    """
)

PARSER = Path(__file__).resolve().parents[3] / "embedded" / "parser"


@cache
def _pipeline(path: Path) -> Language:
    import spacy

    hint = "Install litepyramid again, or train one with scripts/train/parser.py."
    try:
        nlp = spacy.load(path)
    except (OSError, ValueError) as error:
        raise ModelError(
            f"no spaCy pipeline can be read ({error})", path=path, hint=hint
        ) from error
    if "parser" not in nlp.pipe_names:
        raise ModelError("the spaCy pipeline has no parser", path=path, hint=hint)
    return nlp


class EmbeddedBackend:
    """Universal dependencies by a spaCy pipeline, read as coreference clusters too."""

    languages = ("en",)

    def __init__(self, path: str | Path = PARSER) -> None:
        self.path = Path(path)

    @property
    def pipeline(self) -> Language:
        """The spaCy pipeline, loaded once a process; ModelError if there is none with a
        parser."""
        return _pipeline(self.path)

    @cached_property
    def verbs(self) -> frozenset[str]:
        """Bare verb forms of the pipeline's treebank (``bare_verbs.txt`` next to
        it)."""
        path = self.path / "bare_verbs.txt"
        return frozenset(read_lines(path) if path.exists() else ())

    @property
    def name(self) -> str:
        """The pipeline's name and version, for signatures."""
        name = "embedded" if self.path == PARSER else self.path.name
        return f"{name}-{self.pipeline.meta['version']}"

    def parse(self, references: Sequence[ParsedReference]) -> ParsedBatch:
        """Gives every sentence its dependencies, and every reference clusters of names
        and pronouns."""
        parsed = []
        for reference, trees in self._trees(references):
            pairs = zip(reference.sentences, trees, strict=True)
            sentences = tuple(replace(s, words=tuple(tree)) for s, tree in pairs)
            parsed.append(_linked(replace(reference, sentences=sentences), trees))
        return ParsedBatch(tuple(parsed), {"srl": self.name})

    def link(self, references: Sequence[ParsedReference]) -> ParsedBatch:
        """Gives every reference clusters of names and pronouns; frames stay as they
        are."""
        linked = tuple(_linked(*pair) for pair in self._trees(references))
        return ParsedBatch(linked, {"coref": self.name})

    def _trees(
        self, references: Sequence[ParsedReference]
    ) -> Iterator[tuple[ParsedReference, list[list[Word]]]]:
        """Each reference with the trees of its sentences, all parsed in common
        batches."""
        trees = iter(self.words([s.tokens for r in references for s in r.sentences]))
        return ((r, [next(trees) for _ in r.sentences]) for r in references)

    def words(self, sentences: Sequence[Sequence[str]]) -> list[list[Word]]:
        """The dependency trees of sentences of given tokens.

        A word that is read as a bare verb ("Danilo this week agreed"), that no sentence
        of the treebank has as one, and that has no "to" or auxiliary before it, is more
        likely a noun or a name that the parser does not know: the sentence is parsed
        once more with a common one in its place.
        """
        parsed = self._parsed(sentences)
        trees = [*track(parsed, "parsing", "sentences", len(sentences))]
        again = {n: self._with_nouns(tree) for n, tree in enumerate(trees)}
        again = {n: words for n, words in again.items() if words}
        for n, tree in zip(again, self._parsed(again.values()), strict=True):
            pairs = zip(tree, sentences[n], strict=True)
            trees[n] = [replace(word, text=text) for word, text in pairs]
        return trees

    def _parsed(self, sentences: Iterable[Sequence[str]]) -> Iterator[list[Word]]:
        from spacy.tokens import Doc

        vocab = self.pipeline.vocab
        raw = []
        for tokens in sentences:
            starts: list[bool | int | None] = [i == 0 for i in range(len(tokens))]
            raw.append(Doc(vocab, words=list(tokens), sent_starts=starts))
        for doc in self.pipeline.pipe(raw, batch_size=64):
            yield [*map(_word, doc)]

    def _with_nouns(self, tree: Sequence[Word]) -> list[str]:
        """The words with a common noun or name for each doubtful verb; empty if there
        is none."""
        doubtful = {}
        for i, word in enumerate(tree):
            bare = word.upos == "VERB" and word.xpos in ("VB", "VBP")
            unknown = word.text.isalpha() and word.text.lower() not in self.verbs
            before = tree[i - 1].text.lower() if i else ""
            if self.verbs and bare and unknown and before not in _BEFORE_BARE_VERBS:
                doubtful[i] = _NAME if word.text[0].isupper() else _NOUN
        texts = [doubtful.get(i, word.text) for i, word in enumerate(tree)]
        return texts if doubtful else []


def _word(token: Token) -> Word:
    relation = "root" if token.head.i == token.i else token.dep_
    return Word(token.text, token.pos_, token.head.i, relation, token.tag_)


def _linked(
    reference: ParsedReference, trees: Sequence[Sequence[Word]]
) -> ParsedReference:
    """The reference with its clusters and possessive pronouns."""
    possessives = tuple(
        (offset + i, offset + i + 1)
        for offset, words in zip(reference.offsets, trees, strict=False)
        for i, word in enumerate(words)
        if word.upos == "PRON" and word.deprel == "nmod:poss"
    )
    return replace(reference, clusters=pronoun_clusters(trees), possessives=possessives)
