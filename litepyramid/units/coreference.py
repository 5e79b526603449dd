"""Coreference to units: names in place of mentions, and "name is mention" (ZB21 §3.2, footnote 3).

Per cluster of a reference, mentions that are pronouns are set apart; the first other mention is
the *name*. Every other mention is replaced by the name, and each later mention that says something
else than the name gives one more unit, "name is mention".
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from litepyramid.units.parsers.embedded.frames import word_set
from litepyramid.units.parses import Identity, ParsedReference, ParsedSentence, Span

PRONOUNS = word_set("it he she they this i you her him their them his its my your")


@dataclass(frozen=True, slots=True)
class Resolution:
    """What the clusters of one reference say.

    Attributes:
        names: For each mention to be replaced, what is written there. No two overlap.
        identities: The "name is mention" sentences, in the order of the mentions.
    """

    names: dict[Span, tuple[str, ...]]
    identities: tuple[Identity, ...]


def resolve(reference: ParsedReference) -> Resolution:
    """Reads the clusters of a reference.

    Of overlapping mentions the leftmost one is replaced, of those the longest. A mention that is
    itself the name of its cluster stays as it is; other mentions inside it are replaced.

    Example:
        >>> sentences = tuple(ParsedSentence(tuple(text.split()))
        ...                   for text in ("Ann left .", "The mayor likes her job ."))
        >>> found = resolve(ParsedReference("a", 0, sentences, (((0, 1), (3, 5), (6, 7)),)))
        >>> found.names
        {(3, 5): ('Ann',), (6, 7): ('Ann',)}
        >>> found.identities[0].text
        'Ann is The mayor'
    """
    tokens = [token for sentence in reference.sentences for token in sentence.tokens]
    replacements: list[tuple[Span, tuple[str, ...]]] = []
    identities: list[tuple[int, Identity]] = []
    for cluster in reference.clusters or ():
        mentions = sorted(set(cluster))
        named = [m for m in mentions if _text(tokens, m).lower() not in PRONOUNS]
        if not named:
            continue
        first = named[0]
        name = tuple(tokens[first[0] : first[1]])
        replacements += [
            (mention, _possessive(name, _text(tokens, mention)))
            if mention in reference.possessives
            else (mention, name)
            for mention in mentions
            if mention != first
        ]
        identified: set[str] = set()
        for mention in named[1:]:
            text = _text(tokens, mention)
            if text.lower() not in identified and _says_more(text.lower(), " ".join(name).lower()):
                identified.add(text.lower())
                identity = Identity(f"{' '.join(name)} is {text}", _sentence(reference, mention))
                identities.append((mention[0], identity))
    names: dict[Span, tuple[str, ...]] = {}
    end = -1
    for mention, name in sorted(replacements, key=lambda item: (item[0][0], -item[0][1])):
        if mention[0] >= end:
            names[mention] = name
            end = mention[1]
    identities.sort(key=lambda item: item[0])
    return Resolution(names, tuple(identity for _, identity in identities))


def replaced(reference: ParsedReference) -> ParsedReference:
    """The reference with names in place of mentions, ready to be parsed again.

    Frames, trees and clusters are gone, since the tokens are others; the identities are kept.
    A mention that extends over the end of a sentence is replaced in the sentence it begins in.

    Example:
        >>> sentences = (ParsedSentence(("Ann", "left", ".")), ParsedSentence(("She", "ran")))
        >>> replaced(ParsedReference("a", 0, sentences, (((0, 1), (3, 4)),))).sentences[1].text
        'Ann ran'
    """
    resolution = resolve(reference)
    render = renderer(reference, resolution)
    sentences = []
    for number, sentence in enumerate(reference.sentences):
        start = reference.offsets[number]
        everything = range(start, start + len(sentence.tokens))
        tokens = render(everything)
        sentences.append(ParsedSentence(tuple(tokens) or sentence.tokens))
    identities = reference.identities + resolution.identities
    return replace(
        reference, sentences=tuple(sentences), clusters=None, identities=identities, possessives=()
    )


def renderer(
    reference: ParsedReference, resolution: Resolution
) -> Callable[[Sequence[int]], list[str]]:
    """A function that writes tokens of a reference, names in place of mentions.

    It takes token indices counted through the whole reference, in the order to be written. A
    mention of which only a part is among them is replaced as well, once.
    """
    tokens = [token for sentence in reference.sentences for token in sentence.tokens]
    covering = {i: mention for mention in resolution.names for i in range(*mention)}

    def render(indices: Sequence[int]) -> list[str]:
        written: list[str] = []
        last: Span | None = None
        for i in indices:
            mention = covering.get(i)
            if mention is None:
                written.append(tokens[i])
            elif mention != last:
                name = resolution.names[mention]
                if mention in reference.possessives and _holds(written, name[:-1]):
                    name = (tokens[i],)  # "Ann sold her house": the unit itself says whose
                written += name
            last = mention
        return written

    return render


def _possessive(name: tuple[str, ...], pronoun: str) -> tuple[str, ...]:
    """The name with "'s", or "'" after a plural."""
    plural = name[-1].endswith("s") and pronoun.lower() == "their"
    return (*name, "'" if plural else "'s")


def _holds(words: Sequence[str], part: Sequence[str]) -> bool:
    """Whether a part stands in the words, in one piece."""
    starts = range(len(words) - len(part) + 1)
    return any(list(words[i : i + len(part)]) == list(part) for i in starts)


def _text(tokens: Sequence[str], mention: Span) -> str:
    return " ".join(tokens[mention[0] : mention[1]])


def _sentence(reference: ParsedReference, mention: Span) -> int:
    return bisect_right(reference.offsets, mention[0]) - 1


def _says_more(mention: str, name: str) -> bool:
    """Whether a mention does not hold the name and shares less than half its word types with it.

    It holds the name letter by letter, as in the authors' code: "Hannah" holds "Ann".
    """
    words = set(mention.split(" "))
    return name not in mention and len(words & set(name.split(" "))) < len(words) / 2
