"""Coreference to units: names in place of mentions, and "name is mention" (ZB21 §3.2,
footnote 3).

Per cluster of a reference, mentions that are pronouns are set apart; the first other
mention is the *name*. Every other mention is replaced by the name, and each later
mention that says something else than the name gives one more unit, "name is mention".
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from litepyramid.text import word_set
from litepyramid.units.parsers.embedded.pronouns import people_nouns
from litepyramid.units.parses import Identity, ParsedReference, ParsedSentence, Span
from litepyramid.units.relations import BE, DAYS, PREPOSITIONS

PRONOUNS = word_set("it he she they this i you her him their them his its my your")


_PLURALS = word_set("they them their its it")
_ENDS = (".", "!", "?", ":", "''", '"')
_BEFORE_PLACES = word_set("in at from to of the into near on against for a an")

_WHOSE = word_set("'s '")
_HE = word_set("he him his")
_SHE = word_set("she her")
_KINDS = {"he": "men", "men": "men", "she": "women", "women": "women"}
"""Kinds of words that tell a sex."""

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


def certain(reference: ParsedReference, resolution: Resolution) -> Resolution:
    """Only names that hardly mean another one: for units that people read.

    A part of a name becomes the name if it is its end and nobody else has it; "he" and
    "she" become a name if it is of their sex, as far as titles and common first names
    tell, and if nobody else whom they could mean, named or not, is in the sentence
    where it stands last or behind; "they" at the start of a
    sentence becomes what the sentence before it opens with. The rest stays as it is,
    and so does all behind the first 3,000 words.
    """
    names = {}
    people = _People(reference.tokens)
    for mention, name in resolution.names.items():
        # All before a mention is read for it: far into a long text that takes too long.
        near = mention[0] < _FARTHEST
        if near and _is_certain(reference, mention, name, people):
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
    reference: ParsedReference,
    mention: Span,
    name: tuple[str, ...],
    people: _People,
) -> bool:
    tokens = reference.tokens
    text = _text(tokens, mention)
    words = [word for word in name if word not in _WHOSE]
    number = bisect_right(reference.offsets, mention[0]) - 1
    start = reference.offsets[number]
    titled = all(word[:1].isupper() for word in words)
    titled = titled and not {word.lower() for word in words} & DAYS

    if text.lower() in _PLURALS:
        if number == 0 or mention[0] != start:
            return False
        previous = reference.offsets[number - 1]
        return tokens[previous : previous + len(words)] == words

    if text.lower() not in PRONOUNS:
        size = mention[1] - mention[0]
        longer = mention[0] > 0 and tokens[mention[0] - 1][:1].isupper()
        ends = text.split() == words[-size:]
        namesake = people.namesake(words, mention[0])
        return titled and ends and len(text) > 1 and not (longer or namesake)

    # "Said he left": with a name there, somebody else would seem to say it.
    if 0 in reference.sentences[number].verbs:
        return False

    # Whoever is quoted speaks of somebody else.
    if not titled or is_quoted(tokens[start : mention[0]]):
        return False

    earlier = tokens[: mention[0]]
    if _is_speaker_or_joint(earlier, words) or words[-1] not in earlier:
        return False

    sex = "women" if text.lower() in _SHE else "men"
    # "The 21-year-old is at Millwall. He is ill": he was spoken of before the name.
    first = earlier.index(words[-1])
    pronouns = _SHE if sex == "women" else _HE
    if {word.lower() for word in earlier[:first]} & pronouns:
        return False

    last = max(i for i, word in enumerate(earlier) if word == words[-1])
    opening = reference.offsets[bisect_right(reference.offsets, last) - 1]
    alone = people.alone(words, range(opening, mention[0]), sex)
    return alone and not people.namesake(words, mention[0], sex)


class _People:
    """Who is named or told of in a text, as far as words tell."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self.tokens = tokens
        self.nouns = people_nouns()
        inside = [word for last, word in pairwise(tokens) if last not in _ENDS]
        self.known = {word for word in inside if word[:1].isupper()}

    def alone(self, name: Sequence[str], span: range, sex: str) -> bool:
        """Whether a name is of this sex, for all that is known, and nobody else in the
        span is."""
        if not self.is_person(name) or self.sex(name) not in ("", sex):
            return False

        for run in self.names(span):
            words = self.tokens[run.start : run.stop]
            theirs = self.sex(words, run.start)
            same = self.is_same(words, name)
            if same and theirs not in ("", sex):
                return False
            if not same and theirs in ("", sex):
                return False

        fitting = self.nouns["people"] | self.nouns[sex]
        return not any(self.is_other(i, fitting) for i in span)

    def namesake(self, name: Sequence[str], end: int, sex: str = "") -> bool:
        """Whether somebody else, of this sex if one is given, has the surname."""
        for run in self.names(range(end)):
            words = self.tokens[run.start : run.stop]
            theirs = self.sex(words, run.start)
            fits = not (sex and theirs) or theirs == sex
            if words[-1] == name[-1] and fits and not self.is_same(words, name):
                return True
        return False

    def names(self, span: range) -> list[range]:
        """Words in capitals that may be people's names.

        After "in" or "the" they are rather of a place or a thing, and one word alone at
        the start of a sentence may be any word, unless it is known as a name or an age
        follows: "Andrea, 72, pays".
        """
        found = []
        start = span.start
        for end in range(span.start, span.stop + 1):
            if end < span.stop and self.tokens[end][:1].isupper():
                continue
            while start < end and self.tokens[start].lower() in self.nouns["openers"]:
                start += 1
            words = self.tokens[start:end]
            if words and self.may_name(words, start, end):
                found.append(range(start, end))
            start = end + 1
        return found

    def may_name(self, words: Sequence[str], start: int, end: int) -> bool:
        """Whether words in capitals may name a person where they stand."""
        before = self.tokens[start - 1].lower() if start else "."
        aged = self.tokens[end : end + 1] == [","]
        aged = aged and "".join(self.tokens[end + 1 : end + 2]).isdigit()
        called = self.is_called(words)
        alone = len(words) == 1
        thing = before in ("the", "-") or before in self.nouns["things"]
        inside = before in ("in", "at", "near", "into")
        if thing or (alone and inside):
            return False
        # "of Leeds, Yorkshire"
        place = before == "," and self.tokens[start - 2][:1].isupper()
        place = alone and (place or before in _BEFORE_PLACES)
        if (place or inside) and not (called or aged):
            return False
        if before in _ENDS and alone and not (called or aged):
            return words[0] in self.known and self.is_person(words)
        return self.is_person(words)

    def is_called(self, words: Sequence[str]) -> bool:
        """Whether they begin with a title or a common first name."""
        kinds = ("he", "she", "either", "titles")
        return any(words[0].lower() in self.nouns[kind] for kind in kinds)

    def is_person(self, words: Sequence[str]) -> bool:
        """Whether a name is none of an organisation, a place or a month."""
        last = words[-1]
        # "BST", "MPs"
        short = last.rstrip("s").isupper()
        thing = short or last.lower() in self.nouns["things"]
        called = len(words) > 1 and self.is_called(words)
        return called or (last.isalpha() and not thing)

    def sex(self, words: Sequence[str], start: int = 0) -> str:
        """That of a title or a first name, or of a noun before: "actress Ann Lee"."""
        for word in (*words, self.tokens[start - 1] if start else ""):
            for kind, sex in _KINDS.items():
                if word.lower() in self.nouns[kind]:
                    return sex
        return ""

    def is_same(self, words: Sequence[str], name: Sequence[str]) -> bool:
        """Whether two names can be of one person: "Mr Lee" and "Ann Lee" so far."""
        sexes = {self.sex(words), self.sex(name)} - {""}
        first, second = (self.untitled(w) for w in (words, name))
        if first[-1] == second[-1]:
            same = first[-2:-1] == second[-2:-1]
            return len(sexes) < 2 and (same or 1 in (len(first), len(second)))
        return set(first) <= set(second) or set(second) <= set(first)

    def untitled(self, words: Sequence[str]) -> Sequence[str]:
        """A name without titles, at least its last word."""
        kinds = ("men", "women", "people", "titles")
        titles = {word for kind in kinds for word in self.nouns[kind]}
        return [word for word in words[:-1] if word.lower() not in titles] + [words[-1]]

    def is_other(self, i: int, nouns: Collection[str]) -> bool:
        """Whether a noun is for a person, and not beside a name: "singer Ann Lee", "Ann
        Lee, a singer"."""
        word = self.tokens[i]
        if word.lower().rpartition("-")[2] not in nouns:
            return False
        if self.tokens[i + 1][:1].isupper():
            return False
        start = i - 1
        while start > 0 and self.tokens[start] != "," and i - start < 7:
            if self.tokens[start].lower() in PREPOSITIONS:
                return True
            if self.tokens[start].lower() in (BE - _WHOSE) | {"as", "became"}:
                return False
            start -= 1
        behind = self.tokens[start] == "," and self.tokens[start - 1]
        return not (behind and (behind[:1].isupper() or behind.isdigit()))


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
        verbs |= {offset + verb for verb in sentence.verbs}

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
