"""Makes pairs of a summary and a unit that contradicts it, or does not, from texts with SCUs.

Each kind changes one thing in a unit: who did it and to whom, whether it happened, whether it is
certain, a number, a unit of measure, a word for its opposite, how many, a name. Then either the
changed unit is held against the text, or the unit against a text made of units, the changed one
among them. *natural* and *passive* are present.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files

import numpy as np
from spacy.tokens import Doc, Token

from litepyramid.judges.lexical.words import FUNCTION_WORDS, NEGATIONS, irregular_forms
from litepyramid.judges.reading.trees import name_groups
from litepyramid.units.parsers.embedded.backend import EmbeddedBackend
from litepyramid.units.sentences import tokenizer

Words = list[str]
_CARDINALS = """two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen twenty"""
_AMOUNTS = """all/some most/few all/none_of_the both/neither_of_the many/few more/fewer
all/half_of_the more_than/less_than at_least/at_most all/most most/some"""
_HEDGES = """may_have_P might_have_P be_expected_to_B plan_to_B refused_to_B failed_to_B hoped_to_B
denied_G could_B tried_to_B threatened_to_B declined_to_B considered_G promised_to_B would_B
want_to_B be_unable_to_B intended_to_B agreed_to_B offered_to_B decided_not_to_B almost_D"""
CARDINALS, AMOUNTS, HEDGES = (text.split() for text in (_CARDINALS, _AMOUNTS, _HEDGES))
_ENDINGS = {"ied": "y", "ies": "y", "ed": "e", "es": "", "s": "", "ing": "e"}
AUXILIARIES = {
    "was": "may_have_been could_be was_expected_to_be was_likely_to_be was_not_yet was_almost",
    "were": "may_have_been could_be were_expected_to_be were_likely_to_be were_not_yet were_almost",
    "is": "may_be could_be hopes_to_be is_expected_to_be is_likely_to_be is_not_yet",
    "are": "may_be could_be hope_to_be are_expected_to_be are_likely_to_be are_not_yet",
    "has": "may_have might_have has_almost",
    "have": "may_have might_have have_almost",
}


@dataclass(frozen=True)
class Pair:
    summary: str
    unit: str
    present: int
    kind: str


class Grammar:
    """Forms of verbs, and the lists of the judge's lexicon, word by word."""

    def __init__(self, verbs: frozenset[str]) -> None:
        self.verbs = verbs
        self.bases = {form: base for form, base in irregular_forms().items() if base in verbs}
        self.pasts: dict[str, Words] = {}
        for form, base in self.bases.items():
            self.pasts.setdefault(base, []).append(form)
        self.rivals: list[Words] = []
        self.opposites: dict[str, set[str]] = {}
        text = files("litepyramid.judges.reading").joinpath("lexicon.txt").read_text("utf-8")
        for line in text.splitlines():
            name, colon, rest = line.partition(":")
            if name in ("rivals", "calendar"):
                self.rivals.append(
                    [w.capitalize() if name == "calendar" else w for w in rest.split()]
                )
            elif not colon and not line.startswith("#"):
                one, other = (side.split() for side in re.split(r"[|~]", line))
                for a in one:
                    for b in other:
                        self.opposites.setdefault(a, set()).add(b)
                        self.opposites.setdefault(b, set()).add(a)

    def base(self, word: str) -> str:
        """The base of a verb's form; "" if none is known."""
        word = word.lower()
        if word in self.bases or word in self.verbs:
            return self.bases.get(word, word)
        for ending, instead in (
            ("ied", "y"),
            ("ies", "y"),
            ("ed", "e"),
            ("es", ""),
            ("s", ""),
            ("ing", "e"),
        ):
            stem = word.removesuffix(ending)
            if stem != word:
                tried = (stem + instead, stem, stem[:-1] if stem[-1:] == stem[-2:-1] else stem)
                return next((t for t in tried if t in self.verbs), "")
        return ""

    def past(self, base: str, *, participle: bool = False) -> str:
        if base in self.pasts:
            return self.pasts[base][-1 if participle else 0]
        return self._joined(base, "ed")

    def ing(self, base: str) -> str:
        return self._joined(base, "ing")

    def third(self, base: str) -> str:
        if re.search(r"(s|x|ch|sh|o)$", base):
            return base + "es"
        return base[:-1] + "ies" if re.search(r"[^aeiou]y$", base) else base + "s"

    def _joined(self, base: str, ending: str) -> str:
        if base.endswith("e") and not base.endswith("ee"):
            return base[:-1] + ending
        if ending == "ed" and re.search(r"[^aeiou]y$", base):
            return base[:-1] + "ied"
        short = len(base) <= 4 and re.search(r"[^aeiou][aeiou][bdgmnprt]$", base)
        return base + (base[-1] if short else "") + ending

    def inflected(self, base: str, tag: str) -> str:
        """`base` in the form that a tag of the Penn Treebank names."""
        forms = {"VBZ": self.third, "VBG": self.ing, "VBD": self.past}
        if tag == "VBN":
            return self.past(base, participle=True)
        return forms.get(tag, str)(base)


@dataclass(frozen=True)
class Sentence:
    """A unit with its parse, and what can be made of it; an empty list where nothing can."""

    words: Words
    doc: Doc
    grammar: Grammar
    rng: np.random.Generator

    @cached_property
    def root(self) -> Token:
        return next(token for token in self.doc if token.head.i == token.i)

    def child(self, *relations: str) -> Token | None:
        return next((t for t in self.root.children if t.dep_ in relations), None)

    @cached_property
    def subject(self) -> Token | None:
        return self.child("nsubj", "nsubj:pass")

    @cached_property
    def auxiliary(self) -> Token | None:
        found = self.child("aux", "aux:pass", "cop")
        return found if found is not None and found.i < self.root.i else None

    @cached_property
    def negative(self) -> bool:
        return any(token.lower_ in NEGATIONS for token in self.doc)

    @cached_property
    def plural(self) -> bool:
        subject = self.subject
        return subject is not None and (
            subject.tag_ in ("NNS", "NNPS")
            or subject.lower_ in ("they", "we", "people", "police")
            or any(token.dep_ == "conj" for token in subject.children)
        )

    @cached_property
    def verb(self) -> str:
        """The base of a plain verb in the past or present without auxiliaries, else ""."""
        subject = self.subject
        plain = subject is not None and subject.i < self.root.i and self.auxiliary is None
        tag = self.root.tag_ in ("VBD", "VBZ", "VBP", "VBN")
        return self.grammar.base(self.root.text) if plain and tag and not self.negative else ""

    def pick(self, among: Sequence[str]) -> str:
        return among[self.rng.integers(len(among))]

    def span(self, token: Token) -> tuple[int, int]:
        places = sorted(part.i for part in token.subtree)
        return places[0], places[-1] + 1

    def lowered(self, start: int, end: int) -> Words:
        first, *rest = self.words[start:end]
        return [first.lower() if first.lower() in FUNCTION_WORDS else first, *rest]

    def with_verb(self, new: Words) -> Words:
        return self.words[: self.root.i] + new + self.words[self.root.i + 1 :]

    def replaced(self, place: int, new: str) -> Words:
        return self.words[:place] + new.split("_") + self.words[place + 1 :]

    def negated(self) -> Words:
        past = self.root.tag_ in ("VBD", "VBN")
        if self.negative:
            return []
        if self.auxiliary is not None:
            return self.replaced(self.auxiliary.i, f"{self.auxiliary.text}_not")
        if not self.verb:
            return []
        if past and self.rng.random() < 0.25:
            return self.with_verb(["never", self.root.text])
        return self.with_verb(
            ["did" if past else "do" if self.plural else "does", "not", self.verb]
        )

    def hedged(self) -> Words:
        if self.verb:
            grammar, verb = self.grammar, self.verb
            forms = {
                "P": grammar.past(verb, participle=True), "B": verb, "G": grammar.ing(verb),
                "D": grammar.past(verb), "be": "were" if self.plural else "was",
                **({} if self.plural else {"plan": "plans", "want": "wants"}),
            }  # fmt: skip
            return self.with_verb([forms.get(w, w) for w in self.pick(HEDGES).split("_")])
        known = self.auxiliary is not None and AUXILIARIES.get(self.auxiliary.lower_)
        if self.auxiliary is None or not known or self.negative:
            return []
        return self.replaced(self.auxiliary.i, self.pick(known.split()))

    def arguments(self) -> tuple[tuple[int, int], tuple[int, int]] | None:
        """The spans of a short subject before the verb and of an object after it."""
        other = self.child("obj") or self.child("obl:agent") or next(
            (t for t in self.root.children if t.dep_ == "obl" and t.pos_ == "PROPN"), None
        )  # fmt: skip
        if self.subject is None or other is None:
            return None
        (first, end), (start, last) = self.span(self.subject), self.span(other)
        case = next((t.i for t in other.children if t.dep_ == "case"), None)
        start = start if case is None else case + 1
        nouns = {self.subject.pos_, other.pos_} <= {"NOUN", "PROPN"}
        short = 0 < last - start <= 5 and end - first <= 6 and end <= self.root.i < start
        return ((first, end), (start, last)) if nouns and short else None

    def swapped(self) -> Words:
        if (found := self.arguments()) is None:
            return []
        (first, end), (start, last) = found
        return [
            *self.words[:first], *self.lowered(start, last), *self.words[end:start],
            *self.lowered(first, end), *self.words[last:],
        ]  # fmt: skip

    def passive(self) -> Words:
        found, target = self.arguments(), self.child("obj")
        if found is None or target is None or not self.verb or self.root.tag_ != "VBD":
            return []
        (first, end), (start, last) = found
        if (end, start) != (self.root.i, self.root.i + 1):
            return []
        be = "were" if target.tag_ in ("NNS", "NNPS") else "was"
        verb = self.grammar.past(self.verb, participle=True)
        agent = ["by", *self.lowered(first, end)]
        return [*self.lowered(start, last), be, verb, *agent, *self.words[last:]]

    def number(self) -> Words:
        places = [
            n for n, word in enumerate(self.words)
            if re.fullmatch(r"\d[\d,]*(\.\d+)?", word) or word.lower() in CARDINALS
        ]  # fmt: skip
        if not places:
            return []
        place = places[self.rng.integers(len(places))]
        word = self.words[place]
        if word.lower() in CARDINALS:
            return self.replaced(place, self.pick([c for c in CARDINALS if c != word.lower()]))
        value, way = float(word.replace(",", "")), self.rng.integers(4)
        year = re.fullmatch(r"(1[6-9]|20)\d\d", word)
        if way == 0 and "," in word:
            return self.replaced(place, f"{word},000")
        if way == 1 and value >= 10 and not year:
            return self.replaced(place, f"{value * 10:.0f}")
        changed = value + self.rng.choice([-9, -3, -2, -1, 1, 2, 3, 5, 12])
        return self.replaced(place, f"{changed if changed > 1 else value + 2:g}")

    def rival(self) -> Words:
        for place, word in enumerate(self.words):
            for group in self.grammar.rivals:
                plural = word.removesuffix("s") if word not in group else word
                if plural in group:
                    other = self.pick([w for w in group if w != plural])
                    return self.replaced(place, other + word.removeprefix(plural))
        return []

    def opposite(self) -> Words:
        for place in self.rng.permutation(len(self.words)).tolist():
            token, word = self.doc[place], self.words[place].lower()
            verb = token.pos_ == "VERB"
            base = self.grammar.base(word) if verb else word
            known = sorted(self.grammar.opposites.get(base, ()))
            if verb:
                known = [w for w in known if w in self.grammar.verbs]
            if known and token.pos_ in ("VERB", "ADJ", "ADV", "NOUN"):
                new = self.pick(known)
                return self.replaced(
                    place, self.grammar.inflected(new, token.tag_) if verb else new
                )
        return []

    def amount(self) -> Words:
        text = " ".join(self.words).lower()
        for change in self.rng.permutation(AMOUNTS).tolist():
            old, new = (side.replace("_", " ") for side in change.split("/"))
            found = re.search(rf"\b{old}\b", text)
            if found:
                before = len(text[: found.start()].split())
                rest = self.words[before + len(old.split()) :]
                return [*self.words[:before], *new.split(), *rest]
        subject = self.subject
        bare = subject is not None and subject.tag_ == "NNS" and subject.i < self.root.i
        marks = ("det", "nummod", "nmod:poss")
        if not bare or self.negative or any(t.dep_ in marks for t in subject.children):
            return []
        return self.words if self.span(subject)[0] == 0 else []

    def phrases(self) -> dict[str, tuple[int, int]]:
        """The spans of short subjects, objects and adjuncts of the verb, by relation."""
        found = {t.dep_: self.span(t) for t in self.root.children if t.pos_ in ("NOUN", "PROPN")}
        wanted = ("nsubj", "nsubj:pass", "obj", "obl")
        return {k: (a, b) for k, (a, b) in found.items() if k in wanted and b - a <= 6}

    def names(self) -> list[tuple[int, int]]:
        groups = name_groups(self.words)
        return [
            (groups.index(g), groups.index(g) + groups.count(g))
            for g in dict.fromkeys(groups)
            if groups.count(g) > 1 and self.words[groups.index(g)][0].isupper()
        ]


KINDS: dict[str, tuple[float, Callable[[Sentence], Words]]] = {
    "negate": (0.06, Sentence.negated),
    "hedge": (0.1, Sentence.hedged),
    "swap": (0.25, Sentence.swapped),
    "number": (0.12, Sentence.number),
    "rival": (0.25, Sentence.rival),
    "opposite": (0.12, Sentence.opposite),
    "amount": (0.7, Sentence.amount),
    "passive": (0.3, Sentence.passive),
}
"""Kind: how often it is tried, and how it is made. Passives alone are still true."""
NATURAL = ENTITY = 0.12
CROSS = 0.15


def contrast_pairs(
    references: Sequence[Sequence[str]],
    units: Sequence[Sequence[tuple[str, int]]],
    backend: EmbeddedBackend,
    rng: np.random.Generator,
) -> Iterator[Pair]:
    """Pairs made from references, by sentence, and their SCUs with the numbers of these."""
    split, grammar = tokenizer(), Grammar(backend.verbs)
    texts = list(dict.fromkeys(text for entry in units for text, _ in entry))
    tokens = [list(split(text)) for text in texts]
    read = {
        text: Sentence(words, doc, grammar, rng)
        for text, words, doc in zip(texts, tokens, backend.docs(tokens), strict=True)
    }
    for sentences, own in zip(references, units, strict=True):
        yield from _of_reference(sentences, own, read, rng)


def _of_reference(
    sentences: Sequence[str],
    units: Sequence[tuple[str, int]],
    read: dict[str, Sentence],
    rng: np.random.Generator,
) -> Iterator[Pair]:
    texts = [text for text, _ in units]
    people = sorted({" ".join(read[t].words[a:b]) for t in texts for a, b in read[t].names()})

    def around(place: int) -> str:
        """All of the text, the unit's sentence, or that with the one before."""
        k = units[place][1]
        return " ".join(
            (sentences, sentences[k : k + 1], sentences[max(0, k - 1) : k + 1])[rng.integers(3)]
        )

    def among(place: int, new: str) -> str:
        """A text of a few units, the changed one for its own."""
        others = [n for n in range(len(texts)) if n != place]
        kept = {place, *rng.permutation(others)[: rng.integers(3)].tolist()}
        return " ".join(new if n == place else texts[n] for n in sorted(kept))

    for place, text in enumerate(texts):
        if rng.random() < NATURAL:
            yield Pair(around(place), text, 1, "natural")
        for kind, (rate, make) in KINDS.items():
            words = make(read[text]) if rng.random() < rate else []
            if not words:
                continue
            if kind == "amount" and words is read[text].words:  # a bare plural
                rest = text[0].lower() + text[1:]
                less = ("Some", "Half of the", "None of the", "Most")[rng.integers(4)]
                yield Pair(among(place, f"{less} {rest}"), f"All {rest}", 0, kind)
                continue
            new, present = joined(words), int(kind == "passive")
            if rng.random() < 0.5:
                yield Pair(around(place), new, present, kind)
            else:
                yield Pair(among(place, new), text, present, kind)
        near = [t for t, n in units if n == units[place][1]]
        other = read[near[rng.integers(len(near))]]
        mine, theirs = read[text].phrases(), other.phrases()
        shared = sorted(mine.keys() & theirs.keys())
        if shared and read[text].root.text != other.root.text and rng.random() < CROSS:
            key = shared[rng.integers(len(shared))]
            (a, b), (c, d) = (each[key] for each in (mine, theirs))
            words = read[text].words
            if not {*words[a:b]} & {*other.words[c:d]} - FUNCTION_WORDS:
                new = joined([*words[:a], *other.lowered(c, d), *words[b:]])
                yield Pair(around(place), new, 0, "cross")
        found = read[text].names()
        if found and rng.random() < ENTITY:
            start, end = found[rng.integers(len(found))]
            old = {*read[text].words[start:end]}
            others = [name for name in people if not old & {*name.split()}]
            if others:
                name = others[rng.integers(len(others))].split()
                new = joined(read[text].words[:start] + name + read[text].words[end:])
                if new not in texts:
                    changed = rng.random() < 0.5
                    pair = (around(place), new) if changed else (among(place, new), text)
                    yield Pair(*pair, 0, "entity")


def joined(words: Words) -> str:
    """Words as a sentence."""
    text = re.sub(r" ([.,;:?!]|'s\b|n't\b|’s\b)", r"\1", " ".join(words))
    text = re.sub(r"([£$€]) (\d)", r"\1\2", text)
    text = re.sub(r"(\w) - (\w)", r"\1-\2", text)
    return text[:1].upper() + text[1:]
