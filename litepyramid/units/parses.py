"""What a parser finds in a reference, and the one file in which it is handed on.

A line of the file is one reference:

    {"input": "1", "reference": 0,
     "sentences": [{"tokens": ["It", "rained", "."],
                    "frames": [{"verb": 1, "tags": ["B-ARG0", "B-V", "O"]}],
                    "tree": "(S (NP (PRP It)) (VP (VBD rained)) (. .))"}],
     "clusters": [[[0, 2], [7, 8]]],
     "identities": [{"text": "Ann is the mayor", "sentence": 0}]}

Everything but ``input`` and ``tokens`` may be left out. docs/units.md describes each field.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate, zip_longest
from pathlib import Path
from typing import Any, Protocol

from litepyramid.checked import as_type
from litepyramid.errors import InputError
from litepyramid.files import read_jsonl, write_jsonl
from litepyramid.tables import record
from litepyramid.text import counted, cut, place
from litepyramid.types import fingerprint

Span = tuple[int, int]
"""Half-open ``[start, end)`` range of tokens, counted through the whole reference."""

_TREE_PIECE = re.compile(r"[()]|[^\s()]+")
LONGEST = 1000
"""The most tokens that a sentence or a mention may have; frames take the square of it."""
_ESCAPED = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
_BIO = re.compile(r"[BI]-\S+")


@dataclass(frozen=True, slots=True)
class Frame:
    """One predicate and its arguments (PropBank style semantic role labelling)."""

    verb: int
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Identity:
    """A sentence "name is mention" that coreference gave (ZB21 §3.2, footnote 3)."""

    text: str
    sentence: int = 0


@dataclass(frozen=True, slots=True)
class ParsedSentence:
    """A sentence with frames, in the order of their verbs, and a tree, as far as parsers have run.

    Attributes:
        tokens: Its words, Penn style ("do n't"), none empty or with white space inside.
        frames: None if no labeller has run, empty if one ran and found no verb.
        tree: Bracketed constituency tree of the same tokens, brackets among them as -LRB-, -RRB-.
    """

    tokens: tuple[str, ...]
    frames: tuple[Frame, ...] | None = None
    tree: str | None = None

    @property
    def text(self) -> str:
        """The tokens with single spaces between them."""
        return " ".join(self.tokens)


@dataclass(frozen=True, slots=True)
class ParsedReference:
    """One reference summary on its way from text to units.

    Attributes:
        input: Id of the input that it belongs to.
        reference: Its index among that input's references, from 0.
        sentences: Its sentences in order.
        clusters: Coreference clusters of mentions; None if no resolver has run.
        identities: "name is mention" sentences of a resolution that replaced mentions already.
        possessives: Mentions that are possessive pronouns: a name in their place gets "'s".
    """

    input: str
    reference: int = 0
    sentences: tuple[ParsedSentence, ...] = ()
    clusters: tuple[tuple[Span, ...], ...] | None = None
    identities: tuple[Identity, ...] = ()
    possessives: tuple[Span, ...] = ()

    @property
    def offsets(self) -> tuple[int, ...]:
        """Index of each sentence's first token in the reference, and last the token count."""
        return tuple(accumulate((len(s.tokens) for s in self.sentences), initial=0))


@dataclass(frozen=True, slots=True)
class ParsedBatch:
    """References as a backend gives them, with its part of the signature and what it counted."""

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


def with_frames(reference: ParsedReference, frames: Iterator[tuple[Frame, ...]]) -> ParsedReference:
    """The reference with the next frames for each of its sentences."""
    sentences = tuple(replace(sentence, frames=next(frames)) for sentence in reference.sentences)
    return replace(reference, sentences=sentences)


def tree_leaves(tree: str) -> list[str]:
    """The words of a bracketed tree, escaped brackets put back; ValueError if it is none."""
    depth, leaves, previous = 0, [], ""
    for piece in _TREE_PIECE.findall(tree):
        if piece == "(":
            if depth == 0 and previous:
                raise ValueError("more than one tree")
            depth += 1
        elif piece == ")":
            depth -= 1
            if depth < 0:
                raise ValueError("a bracket closes that was never opened")
        elif depth == 0:
            raise ValueError(f"'{piece}' outside the brackets")
        elif previous != "(":
            leaves.append(_ESCAPED.get(piece, piece))
        previous = piece
    if depth:
        raise ValueError(f"{counted(depth, 'bracket never closes', 'brackets never close')}")
    return leaves


def check_tags(tags: Sequence[str], tokens: int) -> None:
    """Raises ValueError unless there is a tag a token, each ``O``, ``B-ROLE`` or ``I-ROLE``."""
    if len(tags) != tokens:
        raise ValueError(f"{counted(len(tags), 'tag')} for {counted(tokens, 'token')}")
    for number, tag in enumerate(tags, start=1):
        if tag != "O" and not (isinstance(tag, str) and _BIO.fullmatch(tag)):
            raise ValueError(f"tag {number} is {tag!r}, neither O nor B-ROLE or I-ROLE")


def check_parse(
    parse: ParsedReference, *, path: str | Path | None = None, line: int | None = None
) -> None:
    """Checks that frames, trees and clusters of a reference fit its tokens."""
    where = place(parse.input, parse.reference)
    at = partial(InputError, path=path, line=line)
    if not parse.sentences:
        raise at(f"{where} has no sentences")
    for number, sentence in enumerate(parse.sentences, start=1):
        try:
            _check_sentence(sentence)
        except ValueError as error:
            text = cut(" ".join(map(str, sentence.tokens)), 50)
            raise at(f"sentence {number} of {where} ('{text}'): {error}") from None
    total = parse.offsets[-1]
    for cluster in parse.clusters or ():
        for start, end in cluster or [(0, 0)]:
            if not 0 <= start < end <= min(total, start + LONGEST):
                mention = (
                    f"the mention [{start}, {end}]" if cluster else "an empty coreference cluster"
                )
                raise at(
                    f"{mention} in {where} is not inside the text, or too long",
                    expected=f"0 <= start < end <= {total} (tokens; end is exclusive)",
                )
    for identity in parse.identities:
        if not identity.text.strip() or not 0 <= identity.sentence < len(parse.sentences):
            raise at(
                f"an identity of {where} is empty or names sentence {identity.sentence + 1}",
                expected=f"some text, and a sentence from 1 to {len(parse.sentences)}",
            )


def _check_sentence(sentence: ParsedSentence) -> None:
    tokens, doing = sentence.tokens, ""
    try:
        _need(0 < len(tokens) <= LONGEST, f"{counted(len(tokens), 'token')}, not 1 to {LONGEST}")
        for number, token in enumerate(tokens, start=1):
            whole = bool(token) and not any(map(str.isspace, token))
            _need(whole, f"token {number} is {token!r}, empty or with white space")
        for number, frame in enumerate(sentence.frames or ()):
            doing = f"frame {number}: "
            check_tags(frame.tags, len(tokens))
            inside = 0 <= frame.verb < len(tokens)
            _need(inside, f"its verb is token {frame.verb} of {len(tokens)}")
        if sentence.tree is not None:
            doing = "its tree: "
            words = zip_longest(tree_leaves(sentence.tree), tokens)
            for number, (leaf, token) in enumerate(words, start=1):
                same = leaf == _ESCAPED.get(token, token)
                _need(same, f"word {number} is {leaf!r}, of its tokens {token!r}")
    except ValueError as error:
        raise ValueError(f"{doing}{error}") from None


def _need(right: bool, problem: str) -> None:
    if not right:
        raise ValueError(problem)


def read_parses(path: str | Path) -> list[ParsedReference]:
    """Reads an interchange file; InputError names the first line that is not as it should be."""
    lines: dict[tuple[str, int], int] = {}
    parses: list[ParsedReference] = []
    for line, row in read_jsonl(path):
        parse = as_type(ParsedReference, row, path=path, line=line)
        check_parse(parse, path=path, line=line)
        key = (parse.input, parse.reference)
        if key in lines:
            raise InputError(
                f"reference {key[1]} of input '{key[0]}' occurs twice (first on line {lines[key]})",
                path=path,
                line=line,
                hint='Number the references of one input: "reference": 0, 1, …',
            )
        lines[key] = line
        parses.append(parse)
    return parses


def write_parses(path: str | Path, parses: Sequence[ParsedReference]) -> None:
    """Checks and writes an interchange file, all or nothing; what is None is left out."""
    rows = []
    for parse in parses:
        check_parse(parse)
        row = record(parse)
        row["sentences"] = [_stated(sentence) for sentence in row["sentences"]]
        rows.append(_stated(row, "identities", "possessives"))
    write_jsonl(path, rows)


def _stated(row: dict[str, Any], *lists: str) -> dict[str, Any]:
    return {k: v for k, v in row.items() if v is not None and (v or k not in lists)}


@dataclass(frozen=True, slots=True)
class FileBackend:
    """Frames or clusters that another program wrote into an interchange file, with its tokens."""

    path: str | Path

    def parse(self, references: Sequence[ParsedReference]) -> ParsedBatch:
        """Looks every reference up by its input and index; each sentence must have frames."""
        batch = self._find(references, "srl")
        for parse in batch.references:
            if any(sentence.frames is None for sentence in parse.sentences):
                where = place(parse.input, parse.reference)
                expected = "the frames of every sentence, an empty list where it has no verb"
                what = f'{where} has a sentence without "frames"'
                raise InputError(what, path=self.path, expected=expected)
        return batch

    def link(self, references: Sequence[ParsedReference]) -> ParsedBatch:
        """Looks every reference's clusters up; frames over the same tokens are kept."""
        batch = self._find(references, "coref")
        linked = []
        for reference, parse in zip(references, batch.references, strict=True):
            where = place(parse.input, parse.reference)
            if parse.clusters is None:
                expected = "a list of clusters, an empty one where nothing is linked"
                raise InputError(f'{where} has no "clusters"', path=self.path, expected=expected)
            if any(sentence.frames is not None for sentence in reference.sentences):
                if [s.tokens for s in reference.sentences] != [s.tokens for s in parse.sentences]:
                    what = f"the clusters of {where} are over other tokens than its frames"
                    hint = "Make both from the same sentences."
                    raise InputError(what, path=self.path, hint=hint)
                parse = replace(reference, clusters=parse.clusters, possessives=parse.possessives)
            linked.append(parse)
        return replace(batch, references=tuple(linked))

    def _find(self, references: Sequence[ParsedReference], part: str) -> ParsedBatch:
        """The file's parses of these references; `part` is what the signature calls them."""
        parses = {(parse.input, parse.reference): parse for parse in read_parses(self.path)}
        matched = []
        for reference in references:
            key = (reference.input, reference.reference)
            if key not in parses:
                hint = "Parse the references again, or leave this input out of them."
                raise InputError(f"no parse of {place(*key)}", path=self.path, hint=hint)
            matched.append(parses.pop(key))
        counts = {"references in the file that are not needed": len(parses)} if parses else {}
        sha = fingerprint(map(record, matched))
        return ParsedBatch(tuple(matched), {part: f"file:{sha}"}, counts)
