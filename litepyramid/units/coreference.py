"""Coreference to units: names in place of mentions, and "name is mention" (ZB21 §3.2,
footnote 3).

Per cluster of a reference, mentions that are pronouns are set apart; the first other
mention is the *name*. Every other mention is replaced by the name, and each later
mention that says something else than the name gives one more unit, "name is mention".
"""

from bisect import bisect_right
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from litepyramid.units.clauses import DAYS
from litepyramid.units.parsers.embedded.frames import word_set
from litepyramid.units.parsers.embedded.pronouns import people_nouns
from litepyramid.units.parses import Identity, ParsedReference, ParsedSentence, Span

PRONOUNS = word_set("it he she they this i you her him their them his its my your")


_PLURALS = word_set("they them their its it")
_WHOSE = ("'s", "'")
_ENDS = (".", "!", "?", ":", "''", '"')
_BEFORE_PLACES = word_set("in at from to of the into near on against for a an")

_FARTHEST = 3000
"""Words of a reference in which names take the place of mentions."""

Render = Callable[[Sequence[int]], list[tuple[str, int]]]
"""Token indices to words, each with the token that it stands for."""


@dataclass(frozen=True)
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
    replacements = []
    identities = []

    for cluster in reference.clusters or ():
        mentions = sorted(set(cluster))
        named = [m for m in mentions if _text(tokens, m).lower() not in PRONOUNS]
        if not named:
            continue
        first = named[0]
        name = tuple(tokens[first[0] : first[1]])

        for mention in mentions:
            if mention == first:
                continue
            text = _text(tokens, mention).lower()
            whose: tuple[str, ...] = ()
            if mention in reference.possessives:
                # "The Browns sold their house": the Browns' house.
                plural = name[-1].endswith("s") and text == "their"
                whose = ("'",) if plural else ("'s",)
            replacements.append((mention, (*name, *whose)))

        others: dict[str, Span] = {}
        for mention in named[1:]:
            others.setdefault(_text(tokens, mention).lower(), mention)
        for lower, mention in others.items():
            if _says_more(lower, " ".join(name).lower()):
                sentence = bisect_right(reference.offsets, mention[0]) - 1
                text = f"{' '.join(name)} is {_text(tokens, mention)}"
                identities.append((mention[0], Identity(text, sentence)))

    names = {}
    end = -1
    for mention, name in sorted(
        replacements, key=lambda item: (item[0][0], -item[0][1])
    ):
        if mention[0] >= end:
            names[mention] = name
            end = mention[1]

    identities.sort(key=lambda item: item[0])
    return Resolution(names, tuple(identity for _, identity in identities))


def ages(tokens: Sequence[str]) -> list[tuple[range, int]]:
    """Names with the age that stands behind them ("Ann Lee, 33"), as token places."""
    found = []
    for i in range(2, len(tokens)):
        alone = tokens[i - 1] == "," and set(tokens[i + 1 : i + 2]) <= {",", "."}
        years = tokens[i].isdecimal() and 0 < int(tokens[i][:3]) < 120
        if not (years and alone):
            continue

        start = i - 1
        while start > 0 and tokens[start - 1].istitle():
            start -= 1
        place = start > 0 and tokens[start - 1].lower() in _BEFORE_PLACES
        if start < i - 1 and not place:
            found.append((range(start, i - 1), i))

    return found


def certain(reference: ParsedReference, resolution: Resolution) -> Resolution:
    """Only names that hardly mean another one: for units that people read.

    A part of a name becomes the name if it is its end; "he" and "she" become a name in
    capitals if no other person seems to be named before, or if the name opens the
    reference; "they" at the start of a sentence becomes what the sentence before it
    opens with. The rest stays as it is, and so does all behind the first 3,000 words.
    """
    names = {}
    for mention, name in resolution.names.items():
        # All before a mention is read for it: far into a long text that takes too long.
        near = mention[0] < _FARTHEST
        if near and _is_certain(reference, mention, name):
            names[mention] = _whole_name(reference.tokens, name)
    return Resolution(names, resolution.identities)


def _whole_name(tokens: Sequence[str], name: tuple[str, ...]) -> tuple[str, ...]:
    """A first name with the surname that a parser did not join to it."""
    first, *rest = name
    if set(rest) <= set(_WHOSE):
        behind = tokens[tokens.index(first) + 1 :][:1]
        surname = [word for word in behind if word.istitle() and word.isalpha()]
        surname = [word for word in surname if word.lower() not in DAYS]
        return (first, *surname, *rest)
    return name


def _is_certain(
    reference: ParsedReference, mention: Span, name: tuple[str, ...]
) -> bool:
    tokens = reference.tokens
    text = _text(tokens, mention)
    words = [word for word in name if word not in _WHOSE]
    number = bisect_right(reference.offsets, mention[0]) - 1
    start = reference.offsets[number]
    titled = all(word[:1].isupper() for word in words)
    titled = titled and not {word.lower() for word in words} & DAYS

    if text.lower() not in PRONOUNS:
        size = mention[1] - mention[0]
        longer = mention[0] > 0 and tokens[mention[0] - 1][:1].isupper()
        ends = text.split() == words[-size:]
        return titled and ends and len(text) > 1 and not longer

    if text.lower() in _PLURALS:
        if number == 0 or mention[0] != start:
            return False
        previous = reference.offsets[number - 1]
        return tokens[previous : previous + len(words)] == words

    # "Said he left": with a name there, somebody else would seem to say it.
    if any(frame.verb == 0 for frame in reference.sentences[number].frames or ()):
        return False

    # "Roy Keane won. Keane spoke. He left": Keane, whoever else was named.
    opening = reference.offsets[max(number - 1, 0)]
    surnames = {word for last, word in pairwise(tokens[:opening]) if last.istitle()}
    if tokens[opening] in surnames - set(words):
        return False

    # Whoever is quoted speaks of somebody else.
    if is_quoted(tokens[start : mention[0]]):
        return False

    people = people_nouns()
    nouns = people["people"] | people["men"] | people["women"]

    # "an officer said he": the officer, rather than who was named before.
    beside = tokens[start : mention[0]]
    first, second = (*beside, "", "")[:2]
    capital = first.lower() in nouns and second.islower() and first not in words
    earlier = tokens[: mention[0]]
    if _is_speaker_or_joint(earlier, words) or not all(map(str.isalpha, words)):
        return False

    # "a woman ... her": the woman, not who is named elsewhere.
    same = people["women" if text.lower() in ("she", "her") else "men"]
    for noun, behind in pairwise(earlier):
        if noun.lower() in same and not behind[:1].isupper():
            return False

    before = pairwise(tokens[:start])
    known = {word for last, word in before if word[:1].isupper() and last not in _ENDS}
    others = _person_names(beside, known)
    nearer = capital or any(word in nouns for word in beside)
    if nearer or not set(others) <= set(words):
        return False

    others = _person_names(tokens[: mention[0]])
    opens = tokens[: len(words)] == words or others[:1] == words[-1:]
    return titled and (opens or set(others) <= set(words))


def is_quoted(before: Sequence[str]) -> bool:
    """Whether a quotation was opened before and not closed."""
    alike = any(before.count(mark) % 2 for mark in ("'", '"'))
    pairs = (("“", "”"), ("``", "''"))
    return alike or any(
        before.count(first) > before.count(last) for first, last in pairs
    )


def _is_speaker_or_joint(tokens: Sequence[str], name: Sequence[str]) -> bool:
    """Whether a name stands as in "Ann Lee: the bridge is closed", or as in "Ann and
    Bob"."""
    size = len(name)
    for start in range(len(tokens) - size):
        if list(tokens[start : start + size]) == list(name):
            behind = tokens[start + size : start + size + 2]
            joint = behind[0] == "and" and behind[-1][:1].isupper()
            if behind[0] == ":" or joint:
                return True
    return False


def _person_names(tokens: Sequence[str], known: Collection[str] = ()) -> list[str]:
    """The last words of what may be people's names, in their order.

    A name is words in capitals; after "in" or "the" it is rather of a place or a thing,
    and one word alone at the start of a sentence may be any word, unless it is `known`
    as a name or an age follows: "Andrea, 72, pays".
    """
    names = []
    start = 0
    for end in range(len(tokens) + 1):
        if end < len(tokens) and tokens[end][:1].isupper():
            continue
        before = tokens[start - 1].lower() if start else "."
        alone = end - start == 1 and before in _ENDS and tokens[start] not in known
        aged = "".join(tokens[end + 1 : end + 2]).isdigit()
        if tokens[end : end + 1] == [","] and aged:
            alone = False
        if end > start and before not in _BEFORE_PLACES and not alone:
            names.append(tokens[end - 1])
        start = end + 1
    return names


def replaced(reference: ParsedReference) -> ParsedReference:
    """The reference with names in place of mentions, ready to be parsed again."""
    resolution = resolve(reference)
    render = renderer(reference, resolution)
    sentences = []
    for number, sentence in enumerate(reference.sentences):
        written = render(range(*reference.offsets[number : number + 2]))
        tokens = tuple(word for word, _ in written)
        sentences.append(ParsedSentence(tokens or sentence.tokens))
    identities = reference.identities + resolution.identities
    return ParsedReference(
        reference.input, reference.reference, tuple(sentences), identities=identities
    )


def renderer(
    reference: ParsedReference, resolution: Resolution, once: bool = False
) -> Render:
    """A function that writes tokens of a reference, names in place of mentions.

    Each word comes with the token that it stands for. With `once` a name that has been
    written takes the place of no other mention, and none that of a possessive behind a
    verb.
    """
    tokens = reference.tokens
    covering = {i: mention for mention in resolution.names for i in range(*mention)}
    verbs = set()
    for offset, sentence in zip(reference.offsets, reference.sentences, strict=False):
        verbs |= {offset + frame.verb for frame in sentence.frames or ()}

    def render(indices: Sequence[int]) -> list[tuple[str, int]]:
        written = []
        last: Span | None = None

        for i in indices:
            mention = covering.get(i)
            if mention is None:
                written.append((tokens[i], i))
            elif mention != last:
                name = resolution.names[mention]
                # "Ann sold her house": the unit itself says whose.
                words = [word for word, _ in written]
                if mention in reference.possessives:
                    # "The climber ran for her life" is of one person, "the climber ran
                    # for Ann's life" of two.
                    behind = once and any(place in verbs for _, place in written)
                    if behind or _holds(words, name[:-1]):
                        name = (tokens[i],)
                # "Mr Lee left with Ann Lee" would make two of one.
                surname = [word for word in name if word not in _WHOSE][-1]
                if once and surname in words:
                    start, end = mention
                    written += [(tokens[k], k) for k in range(start, end)]
                else:
                    written += [(word, i) for word in name]

            last = mention

        return written

    return render


def _holds(words: Sequence[str], run: Sequence[str]) -> bool:
    """Whether the run stands somewhere in the words."""
    starts = range(len(words))
    return any(tuple(words[k : k + len(run)]) == tuple(run) for k in starts)


def _text(tokens: Sequence[str], mention: Span) -> str:
    return " ".join(tokens[mention[0] : mention[1]])


def _says_more(mention: str, name: str) -> bool:
    """Whether a mention does not hold the name and shares less than half its word types
    with it."""
    words = set(mention.split(" "))
    return name not in mention and len(words & set(name.split(" "))) < len(words) / 2
