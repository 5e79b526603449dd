"""Scenes from templates, and sentences with one thing changed, for training `mini`.

- *templates*: scenes about invented people: who did what to whom, whether it happened,
in which
  order, how many. Words and patterns are in ``judge_pairs.txt``; no text comes from
  elsewhere.
- `Sentence`: a parsed sentence, and what can be made of it: a denial, a hedge, subject
and object
  exchanged, another number, a word for its opposite, a passive. `judge_packs` asks for
  it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from spacy.tokens import Doc, Token

from litepyramid.judges.lexical.features import english

Words = list[str]


def _sections(path: Path) -> dict[str, str]:
    lines = [
        line
        for line in path.read_text("utf-8").splitlines()
        if not line.startswith("#")
    ]
    parts = re.split(r"(?m)^\[(.+)\]\n", "\n".join(lines))
    return dict(zip(parts[1::2], (part.strip() for part in parts[2::2]), strict=True))


WORDS = _sections(Path(__file__).with_suffix(".txt"))


def phrases(name: str) -> list[str]:
    """The phrases of a section; a section of single words has no semicolon."""
    text = " ".join(WORDS[name].split())
    return text.split("; ") if ";" in text else text.split()


def _rows(name: str) -> list[list[str]]:
    return [[cell.strip() for cell in phrase.split("/")] for phrase in phrases(name)]


Scene = tuple[Sequence[str], Sequence[Sequence[Sequence[str]]]]
"""Premises of which one is drawn, and lines of (label, pattern) of hypotheses."""


class Writer:
    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.lists = {
            name: phrases(name) for name in WORDS if name.islower() and name != "veils"
        }
        self.rows = {n: _rows(n) for n in ("acts", "gifts", "ties", "events")}

    def pick(self, among: Sequence[Any]) -> Any:
        return among[int(self.rng.integers(len(among)))]

    def word(self, name: str) -> str:
        return str(self.pick(self.lists[name]))

    def distinct(self, count: int) -> list[int]:
        return self.rng.choice(count, 2, replace=False).tolist()

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def names(self, count: int) -> list[str]:
        """People or groups of which no two share a word; the first is singular."""
        chosen: list[str] = []
        kinds = (
            ["first last"] * 3
            + ["title last"] * 2
            + ["first", "groups", "plural groups"]
        )
        while len(chosen) < count:
            kind = self.pick(kinds if chosen else kinds[:-1])
            name = " ".join(
                map(self.word, [kind] if "groups" in kind else kind.split())
            )
            if not set(name.split()) & set(" ".join(chosen).split()) - {"the"}:
                chosen.append(name)

        return chosen

    def when(self) -> str:
        """Nothing, a place, a day, a month, or another adjunct."""
        kind = self.pick([""] * 4 + ["in places", "on days", "in months", "adjuncts"])
        *word, section = kind.split() or [""]
        return " ".join(["", *word, self.word(section)]) if section else ""

    def slots(self) -> dict[str, str]:
        """What every pattern can be filled with; those of no value are missing."""
        s, other, b, c = self.names(4)
        a = s if self.chance(0.5) else other
        acted, act, same, turned = self.pick(self.rows["acts"])
        gave, got, source, things = self.pick(self.rows["gifts"])
        one, other = self.pick(self.rows["ties"])[:: self.pick((1, -1))]
        first, second = (
            self.rows["events"][n] for n in self.distinct(len(self.rows["events"]))
        )
        section, word = self.pick((("places", "in"), ("days", "on"), ("months", "in")))
        where, elsewhere = (
            self.lists[section][n] for n in self.distinct(len(self.lists[section]))
        )
        n = int(self.rng.integers(2, 90))
        when = self.when()
        events = [
            [w.replace("PLACE", self.word("places")) for w in e]
            for e in (first, second)
        ]

        (do, did, done, it), (do2, did2, _, it2) = events
        plural = set(self.lists["plural groups"])
        values = {
            "s": s, "a": a, "b": b, "c": c, "act": act, "acted": acted, "gave": gave, "got": got,
            "same": self.pick(same.split(", ")), "turned": self.pick(turned.split(", ")),
            "was_a": "were" if a in plural else "was", "was_b": "were" if b in plural else "was",
            "thing": self.pick(things.split(", ")), "from": source,
            "gave_b": "" if gave == "leased" else gave,
            "one": one, "other": other, "place": self.word("places"), "day": self.word("days"),
            "symmetric": self.word("meetings"), "things": self.word("things"),
            "state": self.word("states"), "n": str(n), "half": str(max(1, n // 2)),
            "twice": str(2 * n + 3), "next": str(n + 1), "do": do, "did": did, "done": done,
            "do2": do2, "did2": did2, "x": f"{a} {did} {it}", "y": f"{b} {did2} {it2}",
            "say": self.word("say"),
        }  # fmt: skip
        empty = {
            "it": it,
            "it2": it2,
            "when": when,
        }
        empty["tail"] = (
            when if when[:4] in (" in ", " on ") and self.chance(0.4) else ""
        )
        if not re.search(r"\b(in|to|on|PLACE)\b", f"{first[3]} {second[3]}"):
            values |= {"where": f"{word} {where}", "elsewhere": f"{word} {elsewhere}"}

        return {name: value for name, value in values.items() if value} | empty


def sentence(text: str) -> str:
    """With a capital letter and a stop, and within after every stop."""
    text = " ".join(text.split())
    return re.sub(r"(^|\. )(\w)", lambda m: m[1] + m[2].upper(), text) + "."


def scenes(name: str) -> Iterator[Scene]:
    for text in WORDS[name].split("\n\n"):
        rows = text.splitlines()
        lines = [[p.split(" ", 1) for p in r.split(" | ")] for r in rows if r[0] != "<"]
        yield [row[2:] for row in rows if row[0] == "<"], lines


def veiled() -> Iterator[Scene]:
    """Scenes of what somebody did, meant to do, or is said to have done, from the list
    of veils."""
    flat = "{s} {did} {it}"
    denial = "{s} did not {do} {it}"
    for row in WORDS["veils"].splitlines():
        mark, veil = row.split(" ", 1)
        end = "" if veil.endswith(("year", "left", "once", "money")) else "{when}"
        fact = "e" if mark in "1+" else "0"
        lines = [[(fact, flat), ("e", veil)], [(fact, "{s} has {done} {it}")]]
        lines.append([({"-": "e", "0": "0"}.get(mark, "c"), denial)])
        yield from [([veil + end], lines)] * (1 if fact == "e" else 2)
        backward = [
            ("e", flat),
            *([("e" if mark == "+" else "0", veil)] if mark != "1" else []),
        ]
        yield [flat + "{when}"], [backward]


def drawn_scene(writer: Writer, scene: Scene) -> tuple[str, dict[str, str]]:
    """One premise of a scene, and the label of each hypothesis: e, n, c, 0 (absent) or
    1 (present). Patterns without a value are passed over: there may be none."""
    patterns, several = scene
    slots = writer.slots()

    def filled(some: Sequence[str]) -> list[str]:
        return [
            p.format(**slots)
            for p in some
            if set(re.findall(r"{(\w+)}", p)) <= set(slots)
        ]

    premises = filled(patterns)
    if not premises:
        return "", {}
    premise = sentence(writer.pick(premises))
    slots["tail"] = slots["tail"] if slots["tail"] in premise else ""

    if writer.chance(0.3):
        (acted, *_), (one, other) = writer.pick(writer.rows["acts"]), writer.names(2)
        texts = [premise, sentence(f"{one} {acted} {other}{writer.when()}")]
        premise = " ".join(texts[:: writer.pick((1, -1))])

    lines = [
        [(label, text) for label, p in line for text in filled([p])] for line in several
    ]
    lines = [line for line in lines if line]
    labels = {}
    for n in writer.rng.permutation(len(lines)).tolist():
        for label, text in lines[n]:
            labels[sentence(text)] = label
    return premise, labels


class Grammar:
    """Forms of verbs, words that rule each other out, and opposites."""

    def __init__(self, verbs: frozenset[str]) -> None:
        self.verbs = verbs
        self.bases = {
            form: base for form, base in english().irregular.items() if base in verbs
        }
        self.pasts: dict[str, Words] = {}
        for form, base in self.bases.items():
            self.pasts.setdefault(base, []).append(form)
        self.rivals = [group.split() for group in phrases("rivals")]
        self.opposites: dict[str, set[str]] = defaultdict(set)

        for phrase in phrases("opposites"):
            one, other = (side.split() for side in phrase.split(" | "))
            for a in one:
                for b in other:
                    self.opposites[a].add(b)
                    self.opposites[b].add(a)

    def base(self, word: str) -> str:
        """The base of a verb's form; "" if none is known."""
        word = word.lower()
        if word in self.bases or word in self.verbs:
            return self.bases.get(word, word)
        endings = {
            "ied": "y",
            "ies": "y",
            "ed": "e",
            "es": "",
            "s": "",
            "ing": "e",
        }

        for ending, instead in endings.items():
            stem = word.removesuffix(ending)
            if stem != word:
                tried = (
                    stem + instead,
                    stem,
                    stem[:-1] if stem[-1:] == stem[-2:-1] else stem,
                )
                return next((t for t in tried if t in self.verbs), "")

        return ""

    def inflected(self, base: str, tag: str) -> str:
        """`base` in the form that a tag of the Penn Treebank names."""
        if tag in ("VBD", "VBN") and base in self.pasts:
            return self.pasts[base][-1 if tag == "VBN" else 0]
        ending = {
            "VBZ": "s",
            "VBD": "ed",
            "VBN": "ed",
            "VBG": "ing",
        }.get(tag, "")
        if ending in ("s", "ed") and re.search(r"[^aeiou]y$", base):
            return f"{base[:-1]}ie{ending[-1]}"
        if ending == "s" and re.search(r"(s|x|ch|sh|o)$", base):
            return base + "es"
        if ending in ("ed", "ing") and re.search(r"[^e]e$", base):
            return base[:-1] + ending
        short = len(base) <= 4 and re.search(r"[^aeiou][aeiou][bdgmnprt]$", base)
        return base + (base[-1] if short and ending in ("ed", "ing") else "") + ending


HEDGES = [phrase.split() for phrase in phrases("hedges")]
AUXILIARIES = {word: forms.split(", ") for word, forms in _rows("hedged auxiliaries")}
CARDINALS = phrases("cardinals")
NO_NAMES = {*phrases("days"), *phrases("months")}


def is_name(word: str) -> bool:
    """Whether a word is capitalised, and no function word, month or day."""
    plain = word.lower() in english().function or word in NO_NAMES
    return word[0].isupper() and word.isalpha() and not plain


@dataclass(frozen=True)
class Sentence:
    """A unit with its parse, and what can be made of it; an empty list where nothing
    can."""

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
        """An auxiliary or copula before the root."""
        token = self.child("aux", "aux:pass", "cop")
        return token if token is not None and token.i < self.root.i else None

    @cached_property
    def negative(self) -> bool:
        return any(token.lower_ in english().negation for token in self.doc)

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
        """The base of a plain verb in the past or present without auxiliaries, else
        ""."""
        plain = self.subject and self.subject.i < self.root.i and self.auxiliary is None
        tag = self.root.tag_ in ("VBD", "VBZ", "VBP", "VBN")
        return (
            self.grammar.base(self.root.text)
            if plain and tag and not self.negative
            else ""
        )

    def pick(self, among: Sequence[Any]) -> Any:
        return among[int(self.rng.integers(len(among)))]

    def lowered(self, start: int, end: int) -> Words:
        """Words of a span, a function word at its beginning in small letters."""
        first, *rest = self.words[start:end]
        return [first.lower() if first.lower() in english().function else first, *rest]

    def replaced(self, place: int, *new: str) -> Words:
        return [*self.words[:place], *new, *self.words[place + 1 :]]

    def negated(self) -> Words:
        past = self.root.tag_ in ("VBD", "VBN")
        if self.negative:
            return []
        if self.auxiliary is not None:
            return self.replaced(self.auxiliary.i, self.auxiliary.text, "not")
        if not self.verb:
            return []
        if past and self.rng.random() < 0.25:
            return self.replaced(self.root.i, "never", self.root.text)
        do = "did" if past else "do" if self.plural else "does"
        return self.replaced(self.root.i, do, "not", self.verb)

    def hedged(self) -> Words:
        if self.verb:
            tags = {
                "P": "VBN",
                "G": "VBG",
                "D": "VBD",
                "B": "VB",
            }
            forms = {
                k: self.grammar.inflected(self.verb, tag) for k, tag in tags.items()
            }
            forms["be"] = "were" if self.plural else "was"
            return self.replaced(
                self.root.i, *(forms.get(w, w) for w in self.pick(HEDGES))
            )

        forms_of = self.auxiliary is not None and AUXILIARIES.get(self.auxiliary.lower_)
        if self.auxiliary is None or not forms_of or self.negative:
            return []
        return self.replaced(self.auxiliary.i, *self.pick(forms_of).split())

    def arguments(self) -> tuple[tuple[int, int], tuple[int, int]] | None:
        """The spans of a short subject before the verb and of an object after it."""
        subject = self.subject
        other = self.child("obj") or self.child("obl:agent") or next(
            (t for t in self.root.children if t.dep_ == "obl" and t.pos_ == "PROPN"), None
        )  # fmt: skip
        if subject is None or other is None:
            return None
        spans = [sorted(part.i for part in token.subtree) for token in (subject, other)]
        (first, end), (start, last) = ((span[0], span[-1] + 1) for span in spans)
        start = next((t.i + 1 for t in other.children if t.dep_ == "case"), start)
        nouns = {subject.pos_, other.pos_} <= {"NOUN", "PROPN"}
        short = (
            0 < last - start <= 5 and end - first <= 6 and end <= self.root.i < start
        )

        return ((first, end), (start, last)) if nouns and short else None

    def swapped(self) -> Words:
        if (spans := self.arguments()) is None:
            return []
        (first, end), (start, last) = spans
        return [
            *self.words[:first], *self.lowered(start, last), *self.words[end:start],
            *self.lowered(first, end), *self.words[last:],
        ]  # fmt: skip

    def passives(self) -> tuple[Words, Words]:
        """The passive that says the same, and the one that says that the other one did
        it."""
        spans = self.arguments()
        target = self.child("obj")
        if spans is None or target is None or not self.verb or self.root.tag_ != "VBD":
            return [], []
        (first, end), (start, last) = spans
        if (end, start) != (self.root.i, self.root.i + 1):
            return [], []

        def passive(token: Any, patient: Words, agent: Words) -> Words:
            be = "were" if token.tag_ in ("NNS", "NNPS") else "was"
            verb = self.grammar.inflected(self.verb, "VBN")
            return [*patient, be, verb, "by", *agent, *self.words[last:]]

        other = self.lowered(start, last)
        return (
            passive(target, other, self.lowered(first, end)),
            passive(self.subject, self.words[first:end], other),
        )

    def number(self) -> Words:
        numeral = re.compile(r"\d[\d,]*(\.\d+)?|" + "|".join(CARDINALS), re.IGNORECASE)
        numbers = [n for n, word in enumerate(self.words) if numeral.fullmatch(word)]
        if not numbers:
            return []
        place = self.pick(numbers)
        word = self.words[place]

        if word.lower() in CARDINALS:
            return self.replaced(
                place, self.pick([c for c in CARDINALS if c != word.lower()])
            )

        value = float(word.replace(",", ""))
        way = self.rng.integers(4)
        if way == 0 and "," in word:
            return self.replaced(place, f"{word},000")
        if way == 1 and value >= 10 and not re.fullmatch(r"(1[6-9]|20)\d\d", word):
            return self.replaced(place, f"{value * 10:.0f}")
        changed = value + self.pick([-9, -3, -2, -1, 1, 2, 3, 5, 12])

        return self.replaced(place, f"{changed if changed > 1 else value + 2:g}")

    def rival(self) -> Words:
        for place, word in enumerate(self.words):
            for group in self.grammar.rivals:
                single = word if word in group else word.removesuffix("s")
                if single in group:
                    other = self.pick([w for w in group if w != single])
                    return self.replaced(place, other + word.removeprefix(single))
        return []

    def opposite(self) -> Words:
        for place in self.rng.permutation(len(self.words)).tolist():
            token = self.doc[place]
            word = self.words[place].lower()
            verb = token.pos_ == "VERB"
            base = self.grammar.base(word) if verb else word
            others = sorted(self.grammar.opposites.get(base, ()))
            others = [w for w in others if not verb or w in self.grammar.verbs]
            if others and token.pos_ in ("VERB", "ADJ", "ADV", "NOUN"):
                new = self.pick(others)
                new = self.grammar.inflected(new, token.tag_) if verb else new
                return self.replaced(place, new)

        return []


def joined(words: Words) -> str:
    text = re.sub(r" ([.,;:?!]|'s\b|n't\b|’s\b)", r"\1", " ".join(words))
    text = re.sub(r"([£$€]) (\d)", r"\1\2", text)
    text = re.sub(r"(\w) - (\w)", r"\1-\2", text)
    return text[:1].upper() + text[1:]
