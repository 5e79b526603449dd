"""Coreference to units: names in place of mentions, and "name is mention" (ZB21 §3.2,
footnote 3).

Per cluster of a reference, mentions that are pronouns are set apart; the first other
mention is the *name*. Every other mention is replaced by the name, and each later
mention that says something else than the name gives one more unit, "name is mention".
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from litepyramid.units.parsers.embedded.frames import word_set
from litepyramid.units.parses import Identity, ParsedReference, ParsedSentence, Span

PRONOUNS = word_set("it he she they this i you her him their them his its my your")


@dataclass(frozen=True, slots=True)
class Resolution:
    """What the clusters of one reference say."""

    names: dict[Span, tuple[str, ...]]
    identities: tuple[Identity, ...]


def resolve(reference: ParsedReference) -> Resolution:
    """Reads the clusters of a reference: of overlapping mentions it replaces the
    leftmost longest.

    A mention that is itself the name of its cluster stays as it is; others inside it
    are replaced.
    """
    tokens = reference.tokens
    replacements: list[tuple[Span, tuple[str, ...]]] = []
    identities: list[tuple[int, Identity]] = []
    for cluster in reference.clusters or ():
        mentions = sorted(set(cluster))
        named = [m for m in mentions if _text(tokens, m).lower() not in PRONOUNS]
        if not named:
            continue
        first = named[0]
        name = tuple(tokens[first[0] : first[1]])
        for mention in mentions:
            if mention != first:
                plural = (
                    name[-1].endswith("s") and _text(tokens, mention).lower() == "their"
                )
                whose = (("'" if plural else "'s"),) * (
                    mention in reference.possessives
                )
                replacements.append((mention, (*name, *whose)))
        others: dict[str, Span] = {}
        for mention in named[1:]:
            others.setdefault(_text(tokens, mention).lower(), mention)
        for lower, mention in others.items():
            if _says_more(lower, " ".join(name).lower()):
                sentence = bisect_right(reference.offsets, mention[0]) - 1
                text = f"{' '.join(name)} is {_text(tokens, mention)}"
                identities.append((mention[0], Identity(text, sentence)))
    names: dict[Span, tuple[str, ...]] = {}
    end = -1
    for mention, name in sorted(
        replacements, key=lambda item: (item[0][0], -item[0][1])
    ):
        if mention[0] >= end:
            names[mention] = name
            end = mention[1]
    identities.sort(key=lambda item: item[0])
    return Resolution(names, tuple(identity for _, identity in identities))


def replaced(reference: ParsedReference) -> ParsedReference:
    """The reference with names in place of mentions, ready to be parsed again."""
    resolution = resolve(reference)
    render = renderer(reference, resolution)
    sentences = []
    for number, sentence in enumerate(reference.sentences):
        tokens = render(range(*reference.offsets[number : number + 2]))
        sentences.append(ParsedSentence(tuple(tokens) or sentence.tokens))
    identities = reference.identities + resolution.identities
    return ParsedReference(
        reference.input, reference.reference, tuple(sentences), identities=identities
    )


def renderer(
    reference: ParsedReference, resolution: Resolution
) -> Callable[[Sequence[int]], list[str]]:
    """A function that writes tokens of a reference, names in place of mentions."""
    tokens = reference.tokens
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
                runs = (
                    tuple(written[k : k + len(name) - 1]) for k in range(len(written))
                )
                if mention in reference.possessives and name[:-1] in runs:
                    name = (
                        tokens[i],
                    )  # "Ann sold her house": the unit itself says whose
                written += name
            last = mention
        return written

    return render


def _text(tokens: Sequence[str], mention: Span) -> str:
    return " ".join(tokens[mention[0] : mention[1]])


def _says_more(mention: str, name: str) -> bool:
    """Whether a mention does not hold the name and shares less than half its word types
    with it."""
    words = set(mention.split(" "))
    return name not in mention and len(words & set(name.split(" "))) < len(words) / 2
