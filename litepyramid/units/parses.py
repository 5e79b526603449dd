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
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, zip_longest
from pathlib import Path
from typing import Any

from litepyramid.checked import as_type
from litepyramid.errors import InputError
from litepyramid.files import read_jsonl, write_jsonl
from litepyramid.tables import record
from litepyramid.text import counted, cut, place

Span = tuple[int, int]
"""Half-open ``[start, end)`` range of tokens, counted through the whole reference."""

_TREE_PIECE = re.compile(r"[()]|[^\s()]+")
LONGEST = 1000
"""The most tokens that a sentence or a mention may have; frames take the square of it."""
_ESCAPED = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
_BIO = re.compile(r"[BI]-\S+")


@dataclass(frozen=True, slots=True)
class Frame:
    """One predicate and its arguments (PropBank style semantic role labelling).

    Attributes:
        verb: Index of the predicate's token in the sentence.
        tags: One BIO tag a token: ``O``, ``B-ROLE`` or ``I-ROLE``; the predicate's role is ``V``.
    """

    verb: int
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Identity:
    """A sentence "name is mention" that coreference gave (ZB21 §3.2, footnote 3).

    Attributes:
        text: The sentence.
        sentence: Index of the sentence that holds the mention.
    """

    text: str
    sentence: int = 0


@dataclass(frozen=True, slots=True)
class ParsedSentence:
    """A sentence, and what parsers have said of it so far.

    Attributes:
        tokens: Its words, Penn style ("do n't"), none empty or with white space inside.
        frames: Its frames in the order of their verbs; None if no labeller has run,
            empty if one ran and found no verb.
        tree: Penn-style bracketed constituency tree over the same tokens, brackets among the
            words written as -LRB- and -RRB-; None if there is none.
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
        clusters: Coreference clusters, each a tuple of mentions; a mention is a half-open range
            of tokens counted through the whole reference. None if no resolver has run.
        identities: "name is mention" sentences of a resolution that has been carried out
            already, in a text whose mentions have been replaced.
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


def tree_leaves(tree: str) -> list[str]:
    """The words of a bracketed tree, escaped brackets put back; ValueError if it is none.

    Example:
        >>> tree_leaves("(S (NP (PRP It)) (VP (VBD rained)))")
        ['It', 'rained']
    """
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


def check_tags(tags: Sequence[str]) -> None:
    """Raises ValueError naming the first tag that is neither ``O`` nor ``B-ROLE`` or ``I-ROLE``."""
    for number, tag in enumerate(tags, start=1):
        if tag != "O" and not (isinstance(tag, str) and _BIO.fullmatch(tag)):
            raise ValueError(f"tag {number} is {tag!r}, neither O nor B-ROLE or I-ROLE")


def check_parse(
    parse: ParsedReference, *, path: str | Path | None = None, line: int | None = None
) -> None:
    """Checks that frames, trees and clusters of a reference fit its tokens.

    Raises:
        InputError: They do not; the message names the sentence, mention or identity.
    """
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
        if not cluster:
            raise at(f"an empty coreference cluster in {where}")
        for start, end in cluster:
            if not 0 <= start < end <= min(total, start + LONGEST):
                raise at(
                    f"the mention [{start}, {end}] in {where} is not inside the text, or too long",
                    expected=f"0 <= start < end <= {total} (tokens; end is exclusive)",
                )
    for identity in parse.identities:
        if not identity.text.strip() or not 0 <= identity.sentence < len(parse.sentences):
            raise at(
                f"an identity of {where} is empty or names sentence {identity.sentence + 1}",
                expected=f"some text, and a sentence from 1 to {len(parse.sentences)}",
            )


def _check_sentence(sentence: ParsedSentence) -> None:
    tokens = sentence.tokens
    if not 0 < len(tokens) <= LONGEST:
        raise ValueError(f"{counted(len(tokens), 'token')}, not 1 to {LONGEST}")
    for number, token in enumerate(tokens, start=1):
        if not token or any(char.isspace() for char in token):
            raise ValueError(f"token {number} is {token!r}, empty or with white space")
    for number, frame in enumerate(sentence.frames or ()):
        if len(frame.tags) != len(tokens):
            raise ValueError(
                f"frame {number} has {counted(len(frame.tags), 'tag')} for "
                f"{counted(len(tokens), 'token')}"
            )
        try:
            check_tags(frame.tags)
        except ValueError as error:
            raise ValueError(f"frame {number}: {error}") from None
        if not 0 <= frame.verb < len(tokens):
            raise ValueError(f"frame {number}: its verb is token {frame.verb} of {len(tokens)}")
    if sentence.tree is not None:
        try:
            leaves = tree_leaves(sentence.tree)
        except ValueError as error:
            raise ValueError(f"its tree: {error}") from None
        plain = [_ESCAPED.get(token, token) for token in tokens]
        if leaves != plain:
            pairs = enumerate(zip_longest(leaves, plain), start=1)
            number, leaf, token = next((n, a, b) for n, (a, b) in pairs if a != b)
            raise ValueError(f"word {number} of its tree is {leaf!r}, of its tokens {token!r}")


def read_parses(path: str | Path) -> list[ParsedReference]:
    """Reads and checks an interchange file.

    Raises:
        InputError: A line is not as docs/units.md says, with the line; what `check_parse`
            finds; a reference that occurs twice.
    """
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
    """Checks and writes an interchange file, all or nothing; what is None is left out.

    Raises:
        InputError: As `check_parse`.
    """
    rows: list[dict[str, Any]] = []
    for parse in parses:
        check_parse(parse)
        row = record(parse)
        row["sentences"] = [_stated(sentence) for sentence in row["sentences"]]
        rows.append(_stated({**row, **{k: row[k] or None for k in ("identities", "possessives")}}))
    write_jsonl(path, rows)


def _stated(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if value is not None}
