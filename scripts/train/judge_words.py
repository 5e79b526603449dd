"""Sentences with one word for another, by WordNet, or a number spelt anew.

A word is changed for one of the same sense or a wider one (present; the wider one does
not entail the narrower), for the opposite or a sister of it (absent); a number for
another spelling of it (present), or of another number (absent). Only words whose first
sense is by far the most frequent are changed. WordNet 3.0 (its own licence, free for
any use) is Debian's package wordnet-base.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from judge_pairs import (
    Grammar,
    Sentence,
    joined,
    phrases,
)

POS = {
    "NOUN": "noun",
    "VERB": "verb",
    "ADJ": "adj",
    "ADV": "adv",
}
LETTERS = {
    "n": "noun",
    "v": "verb",
    "a": "adj",
    "s": "adj",
    "r": "adv",
}
RATES = {
    "synonym": 0.9,
    "antonym": 0.7,
    "sister": 0.15,
    "wider": 0.35,
}
OFTEN = 40  # times that one word is changed in one way
SCOPED = re.compile(
    r"\b(no|none|few|without|if|unless|only|more|most|least|less|every|all|each|never)\b",
    re.I,
)
"""Words under which a wider word need not follow from a narrower one."""
PARTICLES = {*phrases("particles")}
Sense = tuple[str, str]
"""A part of speech, and a place in its file of data."""


class WordNet:
    """The files of a folder: senses of words, words and pointers of senses, counts of
    use."""

    def __init__(self, folder: Path) -> None:
        self.senses: dict[Sense, list[str]] = {}
        self.synsets: dict[
            Sense, tuple[list[str], list[tuple[str, Sense, int, int]]]
        ] = {}
        for pos in POS.values():
            for kind in ("index", "data"):
                for line in (
                    (folder / f"{kind}.{pos}").read_text(encoding="utf-8").splitlines()
                ):
                    if line.startswith(" "):
                        continue
                    cells = line.split("|")[0].split()
                    if kind == "index":
                        self.senses[pos, cells[0]] = cells[-int(cells[2]) :]
                        continue
                    end = 4 + 2 * int(cells[3], 16)
                    words = [
                        re.sub(r"\(.*\)", "", word).lower() for word in cells[4:end:2]
                    ]
                    rows = (
                        cells[k : k + 4]
                        for k in range(end + 1, end + 4 * int(cells[end]), 4)
                    )
                    links = [
                        (
                            symbol,
                            (LETTERS[p], place),
                            int(ends[:2], 16),
                            int(ends[2:], 16),
                        )
                        for symbol, place, p, ends in rows
                    ]
                    self.synsets[pos, cells[0]] = words, links

        self.counts: Counter[tuple[str, str, int]] = Counter()
        kinds = dict(zip("12345", ("noun", "verb", "adj", "adv", "adj"), strict=True))
        for line in (folder / "cntlist.rev").read_text(encoding="utf-8").splitlines():
            name, number, count = line.split()
            lemma, rest = name.split("%")
            self.counts[kinds[rest[0]], lemma, int(number)] += int(count)

    def first(self, pos: str, word: str) -> Sense | None:
        """The first sense of a word, if it is by far the most frequent."""
        senses = self.senses.get((pos, word), ())
        counts = (self.counts[pos, word, 1], self.counts[pos, word, 2])
        clear = len(senses) == 1 or (len(senses) > 1 and counts[0] > 3 * counts[1])
        return (pos, senses[0]) if clear else None

    def usual(self, pos: str, word: str) -> bool:
        """Whether a word of letters alone occurs in the texts that WordNet counted."""
        counted = any(self.counts[pos, word, n] for n in range(1, 12))
        return counted and re.fullmatch(r"[a-z]{3,}", word) is not None

    @cache  # noqa: B019 (one object a run)
    def related(self, pos: str, word: str) -> dict[str, list[str]]:
        """Words by what they are to this one."""
        sense = self.first(pos, word)
        if sense is None:
            return {}
        related: dict[str, list[str]] = defaultdict(list)
        words, links = self.synsets[sense]
        related["synonym"] = [
            w for w in words if w != word and self.first(pos, w) == sense
        ]
        place = words.index(word) + 1

        for symbol, target, start, end in links:
            others, more = self.synsets[target]
            if symbol == "!" and start == place:
                related["antonym"].append(others[end - 1])
            elif symbol == "&":  # an adjective like this one, which has opposites
                for name, there, _, number in more:
                    if name == "!":
                        related["antonym"].append(
                            self.synsets[there][0][max(number - 1, 0)]
                        )
            elif symbol == "@" and pos == "noun":
                if len(more) < 60:  # one of more kinds says next to nothing
                    related["wider"].append(others[0])
                for name, there, *_ in more:
                    if name == "~" and there != sense:
                        related["sister"] += [
                            w
                            for w in self.synsets[there][0]
                            if self.first(pos, w) == there
                        ]

        return {
            kind: list(dict.fromkeys(w for w in several if self.usual(pos, w)))
            for kind, several in related.items()
        }


def _lemma(net: WordNet, grammar: Grammar, pos: str, word: str) -> str:
    if pos == "verb":
        return grammar.base(word)
    if pos == "noun" and (pos, word) not in net.senses:
        for ending, instead in (("ies", "y"), ("es", ""), ("s", "")):
            if (
                word.endswith(ending)
                and (pos, word.removesuffix(ending) + instead) in net.senses
            ):
                return word.removesuffix(ending) + instead
    return word


def changed_words(one: Sentence, net: WordNet) -> Iterator[tuple[str, int, str, str]]:
    """(kind, place, part of speech, other word in the same form) of every possible
    change."""
    for i, token in enumerate(one.doc):
        pos = POS.get(token.pos_)
        word = one.words[i]
        particle = not PARTICLES.isdisjoint(one.words[i + 1 : i + 2])

        if (
            pos is None
            or not re.fullmatch(r"[a-z]{3,}", word)
            or (pos == "verb" and particle)
        ):
            continue

        for kind, others in net.related(
            pos, _lemma(net, one.grammar, pos, word)
        ).items():
            for other in others:
                tag = "VBZ" if token.tag_ == "NNS" else token.tag_
                form = (
                    one.grammar.inflected(other, tag)
                    if pos in ("noun", "verb")
                    else other
                )
                if form != word and token.tag_ not in ("JJR", "JJS"):
                    yield kind, i, pos, form


def exchanged(words: Sequence[str], place: int, new: str) -> list[str]:
    """The words with another one, and the article that goes with it."""
    changed = [*words[:place], new, *words[place + 1 :]]
    if place and words[place - 1].lower() in ("a", "an"):
        article = "an" if new[0] in "aeiou" else "a"
        changed[place - 1] = (
            article.capitalize() if words[place - 1][0] == "A" else article
        )
    return changed


ONES, TENS, MONTHS = map(phrases, ("ones", "tens", "months"))


def in_words(n: int) -> str:
    """A number below 100, whole hundreds and thousands in words; digits for the
    others."""
    if n < 20:
        return ONES[n]
    if n < 100:
        return TENS[n // 10 - 2] + (f"-{ONES[n % 10]}" if n % 10 else "")
    for size, name in ((1000, "thousand"), (100, "hundred")):
        if n % size == 0 and n < 100 * size:
            return f"{in_words(n // size)} {name}"
    return str(n)


SMALL = {in_words(n): n for n in range(2, 100)}
CURRENCY = {
    "$": "dollars",
    "£": "pounds",
    "€": "euros",
}
SCALES = {"m": "million", "bn": "billion"}
NAMES = "|".join(MONTHS)


def spellings(text: str, rng: random.Random) -> Iterator[tuple[str, str]]:
    """A text with a number spelt another way, and with another number so spelt."""

    def both(found: re.Match[str], true: str, false: str) -> tuple[str, str]:
        start, end = found.span()
        return text[:start] + true + text[end:], text[:start] + false + text[end:]

    for m in re.finditer(r"[A-Za-z]+(-[a-z]+)?", text):
        if (n := SMALL.get(m[0].lower(), 0)) > 1:
            yield both(m, str(n), str(n + rng.choice([1, 2, 3, 5, 10])))

    for m in re.finditer(
        r"(?<![\w$£€.,-])\d{1,3}(?:,\d{3})+(?![\w.,-]*\w)|(?<![\w$£€.,-])\d+(?![\w.,%-]*\w| ?%)",
        text,
    ):
        n = int(m[0].replace(",", ""))
        near = text[max(0, m.start() - 10) : m.end() + 10]
        if (1500 <= n <= 2100 and "," not in m[0]) or n < 2 or re.search(NAMES, near):
            continue
        other = n + rng.choice([1, 2, 3, 10]) * 10 ** max(0, len(str(n)) - 3)
        if in_words(n) != str(n):
            yield both(m, in_words(n), in_words(other))
        if n >= 1000:
            comma = "" if "," in m[0] else ","
            yield both(m, f"{n:{comma}}", f"{other:{comma}}")

    for m in re.finditer(r"(\d+(?:\.\d+)?) ?(%|per ?cent\b)", text):
        unit = rng.choice([" percent", " per cent"]) if m[2] == "%" else "%"
        yield both(m, m[1] + unit, f"{float(m[1]) + rng.choice([1, 2, 5, 10]):g}{unit}")

    for m in re.finditer(rf"\b(\d{{1,2}}) ({NAMES})\b|\b({NAMES}) (\d{{1,2}})\b", text):
        day = m[1] or m[4]
        month = m[2] or m[3]
        wrong = rng.choice([name for name in MONTHS if name != month])
        form = "{1} {0}" if m[1] else "{0} {1}"
        yield both(m, form.format(day, month), form.format(day, wrong))

    for m in re.finditer(r"([$£€]) ?(\d+(?:[.,]\d+)*)(?: ?([mb]illion|m|bn)\b)?", text):
        unit = (
            f" {SCALES.get(m[3], m[3])} {CURRENCY[m[1]]}"
            if m[3]
            else f" {CURRENCY[m[1]]}"
        )
        amount = float(m[2].replace(",", "")) + rng.choice([1, 3, 10])
        yield both(m, m[2] + unit, f"{amount:g}{unit}")


def rewritten(
    one: Sentence, net: WordNet, rng: random.Random, used: Counter[tuple[str, str]]
) -> Iterator[tuple[str, str, str]]:
    """(kind, the sentence rewritten, and for opposites and numbers a third one or
    "")."""
    scoped = one.negative or SCOPED.search(" ".join(one.words)) is not None
    options = [*changed_words(one, net)]
    rng.shuffle(options)
    done: set[str] = set()

    for kind, place, pos, form in options:
        mark = (kind, one.words[place])
        full = len(done) == 3 or kind in done or used[mark] > OFTEN
        if full or rng.random() > RATES[kind] or (kind == "wider" and scoped):
            continue
        done.add(kind)
        used[mark] += 1
        words = exchanged(one.words, place, form)
        copula = next((t.i for t in one.doc[place].children if t.dep_ == "cop"), None)
        denied = ""

        if kind == "antonym" and pos == "adj" and copula is not None and not scoped:
            denied = joined(
                [*words[:copula], f"{words[copula]} not", *words[copula + 1 :]]
            )

        yield kind, joined(words), denied

    several = [*spellings(joined(one.words), rng)]
    for true, false in rng.sample(several, min(1, len(several))):
        yield "spelt", true, false
