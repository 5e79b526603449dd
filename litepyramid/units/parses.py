"""What a parser finds in a reference, and the one file in which it is handed on.

A line of the file is one reference as JSON; docs/units.md describes each field.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, zip_longest
from pathlib import Path
from typing import Any, Protocol

from litepyramid.checked import as_type
from litepyramid.disk import write_jsonl
from litepyramid.errors import InputError
from litepyramid.files import read_jsonl
from litepyramid.identity import fingerprint
from litepyramid.tables import record
from litepyramid.text import counted, cut, place
from litepyramid.units.trees import Word

Span = tuple[int, int]
"""Half-open ``[start, end)`` range of tokens, counted through the whole reference."""

LONGEST = 1000
"""The most tokens that a sentence or a mention may have; frames take the square of
it."""
_ESCAPED = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
}
QUOTES = frozenset({"'", '"', "''", "``", "“", "”", "‘", "’"})
_OPTIONAL = ("identities", "possessives")
# Of the letters, by threes. Names in place of mentions leave .79 and more of them;
# texts that have nothing to do with each other share .13, and sentences .04.
_LEAST_SHARED = 0.5
_LEAST_SHARED_OF_SENTENCES = 0.2
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
    """A sentence with frames, in the order of their verbs, and trees, as far as
    parsers have run.

    Frames are None if no labeller has run, empty if one ran and found no verb. `tree`
    is one of constituents, `words` one of dependencies.
    """

    tokens: tuple[str, ...]
    frames: tuple[Frame, ...] | None = None
    tree: str | None = None
    words: tuple[Word, ...] | None = None

    @property
    def text(self) -> str:
        """The tokens with single spaces between them."""
        return " ".join(self.tokens)

    @property
    def verbs(self) -> list[int]:
        """Where its verbs stand, as far as a parser told."""
        if self.words is not None:
            return [i for i, word in enumerate(self.words) if word.upos == "VERB"]
        return [frame.verb for frame in self.frames or ()]


@dataclass(frozen=True)
class ParsedReference:
    """One reference summary on its way from text to units.

    Attributes:
        clusters: Coreference clusters of mentions; None if no resolver has run.
        identities: "name is mention" sentences of a resolution that replaced mentions
            already.
        possessives: Mentions that are possessive pronouns: a name in their place gets
            "'s".
    """

    input: str
    reference: int = 0
    sentences: tuple[ParsedSentence, ...] = ()
    clusters: tuple[tuple[Span, ...], ...] | None = None
    identities: tuple[Identity, ...] = ()
    possessives: tuple[Span, ...] = ()

    @cached_property
    def tokens(self) -> list[str]:
        """The tokens of all sentences."""
        return [token for sentence in self.sentences for token in sentence.tokens]

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """Index of each sentence's first token in the reference, and last the token
        count."""
        return tuple(accumulate((len(s.tokens) for s in self.sentences), initial=0))


@dataclass(frozen=True)
class ParsedBatch:
    """References as a backend gives them, with its part of the signature and what it
    counted."""

    references: tuple[ParsedReference, ...]
    signature: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)


class SrlBackend(Protocol):
    """Finds the semantic role frames of reference sentences."""

    def parse(self, references: Sequence[ParsedReference]) -> ParsedBatch:
        """Labels every sentence of every reference, all at once, so that it can batch
        them."""
        ...


class CorefBackend(Protocol):
    """Finds which mentions in a reference refer to the same thing."""

    def link(self, references: Sequence[ParsedReference]) -> ParsedBatch:
        """Gives every reference its clusters; frames, if any, are returned
        unchanged."""
        ...


def with_frames(
    reference: ParsedReference, frames: Iterator[tuple[Frame, ...]]
) -> ParsedReference:
    """The reference with the next frames for each of its sentences."""
    sentences = tuple(
        replace(sentence, frames=next(frames)) for sentence in reference.sentences
    )
    return replace(reference, sentences=sentences)


def check_parse(
    parse: ParsedReference, *, path: str | Path | None = None, line: int | None = None
) -> None:
    """Checks that frames, trees and clusters of a reference fit its tokens."""
    for problem in _problems(parse):
        raise InputError(
            f"{place(parse.input, parse.reference)}: {problem}", path=path, line=line
        )


def _problems(parse: ParsedReference) -> Iterator[str]:
    if not parse.sentences:
        yield "no sentences"
    for number, sentence in enumerate(parse.sentences, start=1):
        text = cut(" ".join(map(str, sentence.tokens)), 50)
        for problem in _problems_of_sentence(sentence):
            yield f"sentence {number} ('{text}'): {problem}"

    total = parse.offsets[-1]
    for cluster in parse.clusters or ():
        if not cluster:
            yield "an empty coreference cluster"
        for start, end in cluster:
            if not 0 <= start < end <= min(total, start + LONGEST):
                where = f"its {total} tokens, or too long"
                yield f"the mention [{start}, {end}] is not in {where}"

    for identity in parse.identities:
        if not identity.text.strip() or not 0 <= identity.sentence < len(
            parse.sentences
        ):
            yield f"an identity is empty or names sentence {identity.sentence + 1}"


def _problems_of_sentence(sentence: ParsedSentence) -> Iterator[str]:
    tokens = sentence.tokens
    if not 0 < len(tokens) <= LONGEST:
        yield f"{counted(len(tokens), 'token')}, not 1 to {LONGEST}"
    for number, token in enumerate(tokens, start=1):
        if not token or any(map(str.isspace, token)):
            yield f"token {number} is {token!r}, empty or with white space"

    for number, frame in enumerate(sentence.frames or ()):
        if len(frame.tags) != len(tokens):
            tags = counted(len(frame.tags), "tag")
            yield f"frame {number}: {tags} for {len(tokens)} tokens"
        for n, tag in enumerate(frame.tags, start=1):
            # A backend of the user's own may give what is no text.
            if tag != "O" and not (isinstance(tag, str) and _BIO.fullmatch(tag)):
                what = f"tag {n} is {tag!r}"
                yield f"frame {number}: {what}, neither O nor B-ROLE or I-ROLE"
        if not 0 <= frame.verb < len(tokens):
            yield f"frame {number}: its verb is token {frame.verb} of {len(tokens)}"

    words = sentence.words
    if words is not None and tuple(word.text for word in words) != tokens:
        yield "the texts of its words are not its tokens"

    if sentence.tree is not None:
        try:
            pieces = tree_pieces(sentence.tree)
        except InputError as error:
            yield f"its tree: {error.what}"
            return
        leaves = []
        for piece in pieces:
            if piece != ")" and not piece.startswith(" ("):
                leaves.append(piece[1:])
        for number, (word, token) in enumerate(zip_longest(leaves, tokens), start=1):
            if _ESCAPED.get(word, word) != token != word:
                yield f"its tree: word {number} is {word!r}, of its tokens {token!r}"


def tree_pieces(tree: str) -> list[str]:
    """The pieces " (LABEL", " word" and ")" of a bracketed tree, without what few
    parsers write.

    That is a node above the sentence with no label or the label ROOT or TOP, function
    tags and indices (``NP-SBJ`` is NP, ``NP=2`` is NP), and empty elements (``-NONE-``)
    with what is then empty above them. ``-LRB-`` and ``-RRB-`` stay.
    """

    def need(right: bool, problem: str) -> None:
        if not right:
            raise InputError(
                f"{problem} in '{cut(' '.join(tree.split()), 60)}'",
                expected="one tree, (LABEL word) around each word",
            )

    pieces: list[str] = []
    starts: list[int] = []  # of the nodes that are open
    children = [0]  # of the top and of those nodes; -1 where there is a word

    for piece in re.findall(r"\(\s*[^\s()]*|\)|[^\s()]+", tree):
        if piece.startswith("("):
            need(children[-1] >= 0, "a word beside a node")
            starts.append(len(pieces))
            children.append(0)
            pieces.append(f" ({piece[1:].strip()}")
        elif piece != ")":
            need(
                bool(starts) and not children[-1],
                f"the word '{piece}' has no label of its own",
            )
            children[-1] = -1
            pieces.append(f" {piece}")
        else:
            need(bool(starts), "a closing bracket too many")
            start = starts.pop()
            inner = children.pop()
            label = pieces[start][2:]
            # Empty elements ("-NONE-") are no words, and may leave a phrase empty.
            if inner == 0 or label == "-NONE-":
                del pieces[start:]
                continue
            children[-1] += 1
            if label in ("", "ROOT", "TOP") and inner == 1:
                pieces[start] = ""
                continue
            if not label.startswith("-"):
                pieces[start] = f" ({re.split(r'[-=|]', label)[0] or label or 'X'}"
            pieces.append(")")

    need(not starts, "a closing bracket is missing")
    need(children == [1], f"{children[0]} trees with words")
    return [piece for piece in pieces if piece]


def read_parses(path: str | Path) -> list[ParsedReference]:
    """Reads an interchange file; InputError names the first line that is not as it
    should be."""
    parses = {}
    for line, row in read_jsonl(path):
        parse = as_type(
            ParsedReference,
            row,
            path=path,
            line=line,
        )
        check_parse(parse, path=path, line=line)
        key = (parse.input, parse.reference)
        if key in parses:
            raise InputError(f"{place(*key)} occurs twice", path=path, line=line)
        parses[key] = parse
    return list(parses.values())


def write_parses(path: str | Path, parses: Sequence[ParsedReference]) -> None:
    """Checks and writes an interchange file, all or nothing; what is None is left
    out."""
    rows = []
    for parse in parses:
        check_parse(parse)
        row = {k: v for k, v in record(parse).items() if v or k not in _OPTIONAL}
        # An empty list of frames says that a parser ran; None, that none did.
        row["sentences"] = [*map(_told, row["sentences"])]
        rows.append(_told(row))
    write_jsonl(path, rows)


def _told(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if value is not None}


def _changed(
    reference: ParsedReference, parse: ParsedReference, path: str | Path | None
) -> int:
    """How many texts of a parse are not word for word the reference's; InputError at
    another text altogether."""
    ours = [sentence.text for sentence in reference.sentences]
    theirs = [sentence.text for sentence in parse.sentences]
    least = _LEAST_SHARED_OF_SENTENCES
    # Another program may have split the text otherwise.
    same = len(ours) == len(theirs)
    if not same:
        least = _LEAST_SHARED
        ours, theirs = [" ".join(ours)], [" ".join(theirs)]

    changed = 0
    for number, (text, here) in enumerate(zip(ours, theirs, strict=True)):
        where = place(parse.input, parse.reference, number if same else None)
        check_alike(where, here, text, least, path)
        changed += _letters(here) != _letters(text)
    return changed


def check_alike(
    where: str,
    here: str,
    text: str,
    least: float = _LEAST_SHARED_OF_SENTENCES,
    path: str | Path | None = None,
) -> None:
    """Raises InputError if what is `here` has too little of a reference's text."""
    counts = []
    for letters in (_letters(here), _letters(text)):
        threes = [letters[i : i + 3] for i in range(len(letters) - 2)]
        counts.append(Counter(threes))

    read, own = counts
    if (own & read).total() < least * min(own.total(), read.total()):
        raise InputError(
            f"{where} is '{cut(here, 50)}' here, '{cut(text, 50)}' in the references",
            path=path,
            hint="Was this made from these references?",
        )


def _letters(text: str) -> str:
    """What is left without spaces and marks, which are the tokenizer's own."""
    return re.sub(r"[\W_]", "", text).casefold()


def parses_of(
    references: Sequence[ParsedReference],
    parses: Iterable[ParsedReference],
    path: str | Path | None = None,
) -> ParsedBatch:
    """The parses of these references, each there and of its text, and counts of the
    rest."""
    left = {(parse.input, parse.reference): parse for parse in parses}
    matched = []
    changed = 0
    for reference in references:
        key = reference.input, reference.reference
        if key not in left:
            raise InputError(f"no parse of {place(*key)}", path=path)
        parse = left.pop(key)
        matched.append(parse)
        changed += _changed(reference, parse, path)

    counts = {}
    if changed:
        counts["texts in other words than the file's"] = changed
    if left:
        counts["references in the file that are not needed"] = len(left)
    return ParsedBatch(tuple(matched), counts=counts)


@dataclass(frozen=True)
class FileBackend:
    """Frames or clusters that another program wrote into an interchange file, with its
    tokens."""

    path: str | Path

    def parse(self, references: Sequence[ParsedReference]) -> ParsedBatch:
        """Looks every reference up by its input and index."""
        return self._find(references, "srl")

    def link(self, references: Sequence[ParsedReference]) -> ParsedBatch:
        """Looks every reference's clusters up; frames over the same tokens are kept."""
        batch = self._find(references, "coref")
        linked = []
        for reference, parse in zip(references, batch.references, strict=True):
            where = place(parse.input, parse.reference)
            if parse.clusters is None:
                raise InputError(
                    f'{where} has no "clusters"',
                    path=self.path,
                    expected="a list of clusters, an empty one where nothing is linked",
                )

            if any(sentence.frames is not None for sentence in reference.sentences):
                if [s.tokens for s in reference.sentences] != [
                    s.tokens for s in parse.sentences
                ]:
                    raise InputError(
                        f"the clusters of {where} are over other tokens than its "
                        "frames",
                        path=self.path,
                    )
                parse = replace(
                    reference, clusters=parse.clusters, possessives=parse.possessives
                )

            linked.append(parse)

        return replace(batch, references=tuple(linked))

    def _find(self, references: Sequence[ParsedReference], part: str) -> ParsedBatch:
        """The file's parses of these references; `part` is what the signature calls
        them."""
        batch = parses_of(references, read_parses(self.path), self.path)
        # What was read names the units, whatever else the file holds.
        sha = fingerprint(map(record, batch.references))
        return replace(batch, signature={part: f"file:{sha}"})
