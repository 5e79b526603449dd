"""A small resolver of pronouns and short names over universal dependencies, no model of
its own.

It links a later part of an earlier name ("Rose" after "Justin Rose"); he and she to a
person named before, a subject rather than an object, one already spoken of rather than
a new one, the nearest first, or else to a noun for a person; they and "its" to a
plural, or to a subject that is a thing. "It" is left alone: it may point to a clause or
to nothing.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from litepyramid.files import read_lines
from litepyramid.text import word_set
from litepyramid.units.parses import Span
from litepyramid.units.trees import Tree, Word

_HE = word_set("he him his")
_SHE = word_set("she her")
_THEY = word_set("they them their")
_PRONOUNS = _HE | _SHE | _THEY | {"its"}

_REACH = 1000
"""How many of the latest names and phrases a mention may point to."""
_SUBJECT = word_set("nsubj nsubj:pass")
_CASES_OF_PEOPLE = word_set("'s ’s ' by with")
_OF_NAME = word_set("amod compound flat nmod:desc")


@cache
def people_nouns() -> dict[str, frozenset[str]]:
    """Nouns for men, women, people and groups, first names by sex, titles, last words
    of things' names (``people.txt``, a kind per line)."""
    path = Path(__file__).resolve().parents[3] / "embedded" / "people.txt"
    return {kind: frozenset(words) for kind, *words in map(str.split, read_lines(path))}


@dataclass(slots=True)
class _Entity:
    """What a noun phrase names.

    `sentence`, `head` (counted through the reference, -1 at a root) and `subject` are
    of the latest mention that is not a pronoun; `person` is None if it may be one.
    """

    words: tuple[str, ...]
    sentence: int
    head: int
    subject: bool
    name: bool
    plural: bool
    person: bool | None
    gender: str
    mentions: list[Span] = field(default_factory=list)

    def mention(self, span: Span, sentence: int, head: int, subject: bool) -> None:
        self.mentions.append(span)
        self.sentence, self.head, self.subject = sentence, head, subject


def pronoun_clusters(
    sentences: Sequence[Sequence[Word]],
) -> tuple[tuple[Span, ...], ...]:
    """Coreference clusters of one reference."""
    named = []
    entities: deque[_Entity] = deque(maxlen=_REACH)
    offset = 0

    for number, words in enumerate(sentences):
        phrases = _Phrases(words, number, offset)
        for i, word in enumerate(words):
            head = phrases.head(i)
            span = (offset + i, offset + i + 1)
            if word.upos == "PRON" and word.text.lower() in _PRONOUNS:
                if entity := _antecedent(
                    entities,
                    word,
                    span,
                    number,
                    head,
                ):
                    entity.mentions.append(span)
            elif (
                entity := None
                if phrases.beside_a_name(i)
                else _by_surname(entities, word.text)
            ):
                entity.mention(span, number, head, word.deprel in _SUBJECT)
            else:
                for phrase in phrases.at(i):
                    if entity := _by_name(entities, phrase):
                        entity.mention(phrase.mentions[0], number, head, phrase.subject)
                    else:
                        entities.append(phrase)
                        named.append(phrase)

        offset += len(words)

    return tuple(tuple(e.mentions) for e in named if len(e.mentions) > 1)


class _Phrases(Tree):
    """The noun phrases of one sentence."""

    def __init__(self, words: Sequence[Word], number: int, offset: int) -> None:
        super().__init__(words)
        self.number, self.offset = number, offset

    def beside_a_name(self, i: int) -> bool:
        around = [j for j in (i - 1, i + 1) if 0 <= j < len(self.words)]
        return any(self.words[j].upos == "PROPN" for j in around)

    def at(self, i: int) -> list[_Entity]:
        """The phrase whose head is token `i`: with what is joined to it, and then alone
        as well."""
        words = self.words
        word = self.words[i]
        if word.upos not in {"NOUN", "PROPN"} or word.deprel in {
            "compound",
            "flat",
            "fixed",
        }:
            return []

        name = word.upos == "PROPN" or (word.text[:1].isupper() and i > 0)
        start = end = i
        while start > 0 and self.opens(start - 1, i, name):
            start -= 1
        while name and end + 1 < len(words) and words[end + 1].deprel == "flat":
            end += 1
        conjuncts = self.of(i, "conj")
        others = [] if name else self.of(i, "nmod")
        of_phrases = [c for c in others if "of" in map(self.lower, self.children[c])]
        last = max([end, *(self.under(part)[-1] for part in (*conjuncts, *of_phrases))])
        text = self.lower(i)
        nouns = people_nouns()
        gender = "m" if text in nouns["men"] else "f" if text in nouns["women"] else ""
        person = bool(gender) or text in nouns["people"]
        alone = _Entity(
            words=tuple(self.tokens[start : end + 1]),
            sentence=self.number,
            head=self.head(i),
            subject=word.deprel in _SUBJECT and not name,
            name=name,
            plural=word.xpos in {"NNS", "NNPS"} or text in nouns["groups"],
            person=None if not person and name and self.may_be_person(i) else person,
            gender=gender,
            mentions=[(self.offset + start, self.offset + end + 1)],
        )

        whole = replace(
            alone,
            subject=word.deprel in _SUBJECT,
            name=name and not conjuncts,
            plural=alone.plural or bool(conjuncts),
            mentions=[(self.offset + start, self.offset + last + 1)],
        )
        return [whole, alone] if conjuncts else [whole]

    def head(self, i: int) -> int:
        """The head of a token, counted through the reference; -1 at a root."""
        return self.offset + self.words[i].head if self.words[i].head != i else -1

    def opens(self, i: int, head: int, name: bool) -> bool:
        """Whether token `i` stands in the phrase before its head."""
        word = self.words[i]
        if name:
            return word.upos == "PROPN" and word.deprel in _OF_NAME
        return (
            word.deprel in {"det", "amod", "compound", "nummod"}
            and i < word.head <= head
        )

    def may_be_person(self, i: int) -> bool:
        """A name may be a person's unless it has "the", or a preposition other than by
        or with."""
        case = set(map(self.lower, self.of(i, "case"))) - _CASES_OF_PEOPLE
        elsewhere = bool(case) and self.base(i) in {"obl", "nmod"}
        return not elsewhere and "the" not in map(self.lower, self.children[i])


def _by_surname(entities: Sequence[_Entity], text: str) -> _Entity | None:
    """The latest longer name that ends in this word, whatever the tagger calls it
    here."""
    longer = (
        e
        for e in reversed(entities)
        if e.name and len(e.words) > 1 and e.words[-1] == text
    )
    return next(longer, None) if text[:1].isupper() else None


def _by_name(entities: Sequence[_Entity], phrase: _Entity) -> _Entity | None:
    """The latest name that begins or ends in this one."""
    n = len(phrase.words)
    words = phrase.words
    named = (
        e for e in reversed(entities) if e.name and words in (e.words[:n], e.words[-n:])
    )
    return next(named, None) if phrase.name else None


def _antecedent(
    entities: Sequence[_Entity], word: Word, span: Span, sentence: int, head: int
) -> _Entity | None:
    """What a pronoun points to; no argument of a verb points to another one of the same
    verb."""
    pronoun = word.text.lower()
    possessive = word.deprel == "nmod:poss"
    personal = pronoun in _HE | _SHE

    def preference(e: _Entity) -> tuple[int, ...]:
        spoken_of = len(e.mentions) > 1
        first = -e.mentions[0][0]
        if personal:
            return e.name, e.subject, spoken_of, e.sentence, first
        return (
            e.sentence == sentence and e.subject,
            spoken_of,
            e.sentence,
            e.subject,
            first,
        )

    fitting = (
        e
        for e in entities
        if _agrees(e, pronoun)
        and e.mentions[-1][1] <= span[0]
        and (possessive or e.head != head)
    )
    best = max(fitting, key=preference, default=None)
    if best is not None and personal:
        best.gender, best.person = "m" if pronoun in _HE else "f", True
    return best


def _agrees(entity: _Entity, pronoun: str) -> bool:
    if pronoun in _THEY or entity.plural:
        return pronoun in _THEY and entity.plural
    if pronoun == "its":
        return entity.subject and entity.person is not True
    return entity.person is not False and entity.gender in (
        "",
        "m" if pronoun in _HE else "f",
    )
