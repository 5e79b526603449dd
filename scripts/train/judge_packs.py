"""Packs for training `mini`: premises with eight to ten units, true and altered.

Every premise has its labelled units. From those that are present, and from its own
sentences, more are made by rule: who did it exchanged, denied, another number, name or
word (`judge_pairs`, `judge_words`), parts, passives and synonyms that stay true. Then a
second premise is made in which one sentence is altered, and asked the same things: what
was true is absent there, and the other way round. Some premises are put beside texts
that have nothing to do with them, up to 350 words.
"""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from judge_pairs import (
    WORDS,
    Grammar,
    Sentence,
    Writer,
    drawn_scene,
    is_name,
    joined,
    scenes,
    veiled,
)
from judge_words import WordNet, rewritten

from litepyramid.sentences import split_sentences
from litepyramid.training.packs import Pack
from litepyramid.training.pairs import CONTRADICTION, NEUTRAL
from litepyramid.units.extract import tokenizer
from litepyramid.units.parsers.embedded.pipeline import EmbeddedBackend

Pair = dict[str, Any]
ABSENT = 0.0
PRESENT = 1.0
LABELS = {
    "e": PRESENT,
    "n": NEUTRAL,
    "c": CONTRADICTION,
    "0": ABSENT,
    "1": PRESENT,
}
UNITS = 9
SYMMETRIC = {
    "meet", "marry", "agree", "play", "draw", "face", "fight", "talk", "share", "join",
    "speak", "work", "live", "date", "sign", "combine", "merge", "include", "between",
}  # fmt: skip
"""Verbs, and a word, whose names can change places and say the same."""


class Origin(NamedTuple):
    """Where a unit comes from: its weight in the loss, and how far a teacher is
    believed against its label."""

    weight: float
    trust: float


# With equal weights rules drown people's labels, and every natural set loses; and rules
# err more often than people.
DERIVED = Origin(0.4, 0.85)  # made by rule
ALTERED = Origin(0.5, 0.6)  # a fact and what was made of it, which the premise says
LABELLED = Origin(1.0, 0.3)  # labelled by people
CERTAIN = Origin(1.0, 0.0)  # written for this, or labelled for whole summaries

OWN_SENTENCES = 2
"""Of a written text, asked beside its facts: they are present, so that many shared
words do not come to mean absence."""

DENIES = {"negate", "opposite", "antonym", "affirm"}
EXCHANGES = {"swap", "names", "turned"}
"""Alterations that may say the same: denials of each other, and exchanges of who did
it."""


@dataclass(frozen=True)
class MixedPack(Pack):
    """A pack, and where each of its units comes from."""

    origins: tuple[Origin, ...] = ()


@dataclass(frozen=True)
class Facts:
    """A premise, its labelled units, and the facts to alter.

    `facts` are sentences of the premise (`stated`, they can be altered there) or units
    that it entails.
    """

    premise: str
    labelled: list[tuple[str, float]]
    facts: list[tuple[str, bool]]


def label_of(row: Pair) -> float:
    """A row's label as `TrainingPairs` has it."""
    return LABELS[row["label"][0]] if "label" in row else float(row["present"])


def read_facts(rows: Iterable[Pair], most_sentences: int = 6) -> list[Facts]:
    """The rows by premise, with the facts that can be altered."""
    by_premise: dict[str, dict[str, float]] = defaultdict(dict)
    for row in rows:
        by_premise[row["premise"]].setdefault(row["hypothesis"], label_of(row))

    several = []
    for premise, labelled in by_premise.items():
        sentences = split_sentences(premise)
        stated = [s for s in sentences if 3 < len(s.split()) < 32]
        facts = [(text, True) for text in stated[:most_sentences]]
        entailed = [u for u, label in labelled.items() if label == PRESENT]
        facts += [(u, False) for u in entailed if 2 < len(u.split()) < 28]
        several.append(Facts(premise, [*labelled.items()], facts))

    return several


class Alterer:
    """What rules make of a parsed sentence: (kind, text, label against the original)."""

    def __init__(self, net: WordNet | None, seed: int) -> None:
        self.net, self.random = net, random.Random(seed)
        self.rng = np.random.default_rng(seed)
        self.backend, self.split = EmbeddedBackend(), tokenizer()
        self.grammar = Grammar(self.backend.verbs)
        self.used: Counter[tuple[str, str]] = Counter()
        self.parsed: dict[str, Sentence] = {}

    def parse(self, texts: Iterable[str]) -> None:
        """Parses all of them at once."""
        distinct = [t for t in dict.fromkeys(texts) if t not in self.parsed]
        tokens = [[*self.split(text)] for text in distinct]
        docs = self.backend.docs(tokens)
        for text, words, doc in zip(distinct, tokens, docs, strict=True):
            if words:
                one = Sentence(words, doc, self.grammar, self.rng)
                self.parsed[text] = one

    def altered(self, text: str, names: Sequence[str]) -> list[tuple[str, str, float]]:
        """All that can be made of a text, the last ones with names of its premise."""
        one = self.parsed.get(text)
        if one is None:
            return []

        passive, turned = one.passives()
        made: list[tuple[str, Sequence[str], float]] = [
            ("negate", one.negated(), CONTRADICTION),
            ("affirm", affirmed(one), CONTRADICTION),
            ("hedge", one.hedged(), ABSENT),
            ("swap", one.swapped(), ABSENT),
            ("names", exchanged_names(one), ABSENT),
            ("number", one.number(), ABSENT),
            ("number", one.number(), ABSENT),
            ("rival", one.rival(), ABSENT),
            ("opposite", one.opposite(), CONTRADICTION),
            ("passive", passive, PRESENT),
            ("turned", turned, ABSENT),
            ("name", other_name(one, names, self.random), ABSENT),
        ]
        made += [("part", words, PRESENT) for words in parts(one)]
        texts = [
            (kind, joined([*words]), label) for kind, words, label in made if words
        ]

        if self.net is not None:
            codes = {
                "synonym": PRESENT,
                "wider": PRESENT,
                "spelt": PRESENT,
            }
            codes |= {"antonym": CONTRADICTION}
            for kind, new, false in rewritten(one, self.net, self.random, self.used):
                texts.append((kind, new, codes.get(kind, ABSENT)))
                if kind == "spelt":
                    texts.append(("number", false, ABSENT))
                elif false:
                    texts.append(("denied", false, PRESENT))

        same = " ".join(text.lower().split())
        return [row for row in texts if " ".join(row[1].lower().split()) != same]


def affirmed(one: Sentence) -> list[str]:
    """A denial without its "not" or "never"; [] if it has none beside the verb."""
    for token in one.doc:
        if token.head.i != one.root.i or token.lower_ not in ("not", "n't", "never"):
            continue
        before = one.doc[token.i - 1].lower_ if token.i else ""
        rest = [*one.words[: token.i], *one.words[token.i + 1 :]]
        if token.lower_ == "never" or before not in ("did", "does", "do"):
            return [{"ca": "can", "wo": "will"}.get(word, word) for word in rest]
        base = one.grammar.base(one.root.text)
        if not base or one.root.i <= token.i:
            return []
        tag = {
            "did": "VBD",
            "does": "VBZ",
            "do": "VBP",
        }[before]
        verb = one.grammar.inflected(base, tag)
        words = [*one.words]
        words[one.root.i] = verb

        return [w for k, w in enumerate(words) if k not in (token.i, token.i - 1)]

    return []


def spans_of_names(one: Sentence) -> list[tuple[int, int]]:
    """Runs of capitalised words, single ones too if the parser says that they are."""
    spans = []
    start = None
    for place in range(len(one.words) + 1):
        name = place < len(one.words) and is_name(one.words[place])
        name = name and (place > 0 or one.doc[place].pos_ == "PROPN")
        if name and start is None:
            start = place
        elif not name and start is not None:
            spans.append((start, place))
            start = None
    return spans


def exchanged_names(one: Sentence) -> list[str]:
    """Two names in each other's places, if the order matters."""
    spans = spans_of_names(one)
    lemmas = {one.grammar.base(w) or w.lower() for w in one.words}
    if len(spans) < 2 or SYMMETRIC & lemmas:
        return []

    first, second = one.pick([*pairwise(spans)])
    between = {word.lower() for word in one.words[first[1] : second[0]]}
    if not between or between <= {"and", "or", ",", "&", "-", "/", "with", "of"}:
        return []
    return [
        *one.words[: first[0]], *one.words[second[0] : second[1]],
        *one.words[first[1] : second[0]], *one.words[first[0] : first[1]],
        *one.words[second[1] :],
    ]  # fmt: skip


def other_name(one: Sentence, names: Sequence[str], draw: random.Random) -> list[str]:
    """A name of the sentence exchanged for another one of the premise."""
    spans = spans_of_names(one)
    if not spans:
        return []
    start, end = one.pick(spans)
    own = {word.lower() for word in one.words}
    others = [n for n in names if own.isdisjoint(n.lower().split())]
    if not others:
        return []
    return [*one.words[:start], *draw.choice(others).split(), *one.words[end:]]


def parts(one: Sentence) -> Iterator[list[str]]:
    """What a positive sentence says without an adjunct, or with one of two conjuncts."""
    if one.negative or one.subject is None:
        return
    loose = ("advcl", "obl", "nmod", "acl:relcl", "obl:tmod", "appos", "conj", "advmod")
    scope = {"if", "unless", "may", "might", "could", "would", "should", "only", "or"}
    scope |= {"no", "few", "every", "all", "most", "allegedly", "reportedly", "than"}
    lowered = [word.lower() for word in one.words]
    if scope & set(lowered):
        return

    for token in one.doc:
        near = token.head.i == one.root.i or token.dep_ in ("acl:relcl", "appos")
        if token.dep_ not in loose or not near:
            continue
        places = sorted(part.i for part in token.subtree)
        cut = range(places[0], places[-1] + 1)
        if one.root.i in cut or one.subject.i in cut or len(cut) != len(places):
            continue
        start = places[0]
        before = start - 1 if start and one.words[start - 1] in (",", "and") else start
        rest = [w for k, w in enumerate(one.words) if not before <= k <= places[-1]]
        after = before < len(rest) and rest[before] == ","
        if after:
            rest = rest[:before] + rest[before + 1 :]
        if len(rest) > 3:
            yield rest


def names_in(premise: str) -> list[str]:
    """The names of a premise, as runs of capitalised words."""
    names = set()
    run = []
    for number, word in enumerate([*premise.split(), "."]):
        plain = word.strip(".,;:!?'\"()")
        if plain and number and is_name(plain):
            run.append(plain)
        else:
            names.add(" ".join(run))
            run = []
    return sorted(names - {""})


class PackMaker:
    """Packs of facts; `net` is WordNet, or None."""

    def __init__(self, net: WordNet | None, seed: int = 7) -> None:
        self.alterer = Alterer(net, seed)
        self.draw = random.Random(seed)

    def packs(
        self, several: Sequence[Facts], altered_share: float = 1.0
    ) -> Iterator[Pack]:
        """A pack of every premise, and of a share of them one of an altered premise."""
        self.alterer.parse(text for one in several for text, _ in one.facts)
        alterations = []
        for one in several:
            names = names_in(one.premise)
            made = {text: self.alterer.altered(text, names) for text, _ in one.facts}
            alterations.append((one, names, made, self._choice(one, made)))

        # What is altered is parsed too: other words for it are true beside it.
        self.alterer.parse(choice[2] for *_, choice in alterations if choice)
        for one, names, made, choice in alterations:
            yield self._true(one, made)
            if choice and self.draw.random() < altered_share:
                yield self._altered(one, names, made, choice)

    def _choice(
        self, one: Facts, made: Mapping[str, list[Any]]
    ) -> tuple[str, str, str, float] | None:
        """A stated fact, and one thing that is made of it."""
        stated = [text for text, inside in one.facts if inside and made[text]]
        if not stated:
            return None
        fact = self.draw.choice(stated)
        kind, new, label = self.draw.choice(made[fact])
        if kind in ("part", "wider") or fact not in one.premise:
            return None
        return fact, kind, new, label

    def _true(self, one: Facts, made: Mapping[str, list[Any]]) -> Pack:
        labelled = [*one.labelled]
        self.draw.shuffle(labelled)
        derived = []
        for text, stated in one.facts:
            if stated and self.draw.random() < 0.25:
                derived.append((text, PRESENT))
            derived += derived_from(made[text])
        return self._pack(one.premise, labelled[:UNITS], derived, LABELLED)

    def _altered(
        self,
        one: Facts,
        names: Sequence[str],
        made: Mapping[str, list[Any]],
        choice: tuple[str, str, str, float],
    ) -> Pack:
        """One stated fact exchanged for what was made of it, and asked again."""
        fact, kind, new, label = choice
        premise = one.premise.replace(fact, new, 1)
        true = label == PRESENT
        units = [(new, PRESENT), (fact, PRESENT if true else label)]

        derived = derived_from(self.alterer.altered(new, names))
        for other, text, stands in made[fact]:
            either = {other, kind} <= DENIES or {other, kind} <= EXCHANGES
            if text == new or (not true and (either or kind == "hedge")):
                continue
            if true:
                derived.append((text, stands))
            elif other in ("passive", "synonym", "spelt"):
                derived.append((text, label))
            elif other not in ("part", "wider", "denied"):
                derived.append((text, ABSENT))

        for text, inside in one.facts:
            if inside and text != fact:
                if self.draw.random() < 0.3:
                    derived.append((text, PRESENT))
                derived += derived_from(made[text])

        return self._pack(premise, units, derived, ALTERED)

    def _pack(
        self,
        premise: str,
        known: Sequence[tuple[str, float]],
        derived: Sequence[tuple[str, float]],
        origin: Origin,
    ) -> Pack:
        """The known units and as many derived ones as fit, present and absent alike."""
        units = dict(known)
        derived = [row for row in dict.fromkeys(derived) if row[0] not in units]
        self.draw.shuffle(derived)

        while derived and len(units) < UNITS:
            present = sum(label == PRESENT for label in units.values())
            lacking = 2 * present < len(units)
            fits = [row for row in derived if (row[1] == PRESENT) == lacking]
            row = (fits or derived)[0]
            derived.remove(row)
            units.setdefault(*row)

        several = [*units.items()]
        self.draw.shuffle(several)
        first = {unit for unit, _ in known}

        return MixedPack(
            premise,
            tuple(unit for unit, _ in several),
            tuple(label for _, label in several),
            tuple(origin if unit in first else DERIVED for unit, _ in several),
        )


def derived_from(made: Sequence[tuple[str, str, float]]) -> list[tuple[str, float]]:
    """Units and labels; "it may rain" is left out, since who says that it rains may say
    that too. A hedge in the premise is another thing."""
    return [(text, label) for kind, text, label in made if kind != "hedge"]


def lengthened(
    packs: Sequence[Pack], share: float, most: int = 350, seed: int = 3
) -> Iterator[Pack]:
    """The packs, a share of them with other premises before and behind."""
    draw = random.Random(seed)
    for pack in packs:
        if draw.random() >= share:
            yield pack
            continue

        texts = [pack.premise]
        goal = draw.randint(60, most)
        while sum(len(text.split()) for text in texts) < goal:
            other = draw.choice(packs).premise
            if len(other.split()) > 200 or other in texts:
                goal -= 10
                continue
            texts.insert(draw.randint(0, len(texts)), other)

        premise = " ".join(t if t.rstrip()[-1:] in ".!?'\"" else f"{t}." for t in texts)
        yield replace(pack, premise=premise)


def template_packs(number: int, seed: int = 11) -> Iterator[Pack]:
    """Scenes about invented people with all that is asked of them."""
    writer = Writer(seed)
    kinds = []
    for name in WORDS:
        if name[-1].isdigit():
            size = int(name.split()[1])
            kinds.append((size, [*scenes(name)]))
    kinds.append((5000, [*veiled()]))
    total = sum(size for size, _ in kinds)
    for size, several in kinds:
        for _ in range(round(number * size / total)):
            yield from _scene_pack(writer, writer.pick(several))


def _scene_pack(writer: Writer, scene: Any) -> Iterator[Pack]:
    premise, hypotheses = drawn_scene(writer, scene)
    if not hypotheses:
        return
    several = [*hypotheses.items()]
    writer.rng.shuffle(several)
    units, letters = zip(*several[: UNITS + 1], strict=True)
    labels = tuple(LABELS[letter] for letter in letters)
    yield MixedPack(premise, units, labels, (ALTERED,) * len(units))


def highlight_facts(folder: Path, seed: int = 5) -> list[Facts]:
    """References that were invented for litepyramid, with their SCUs, and each again
    without a sentence, whose SCUs are absent then."""
    draw = random.Random(seed)
    texts = {}
    several = []
    for line in (folder / "references.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        texts[row["input"]] = row["references"][0]

    for line in (folder / "scus.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        sentences = texts[row["input"]]
        units = row["units"]
        whole = [(unit["text"], PRESENT) for unit in units]
        picked = draw.sample(whole, min(5, len(whole)))
        facts = [(text, False) for text, _ in picked]
        stated = [(s, True) for s in sentences if 3 < len(s.split()) < 32]
        several.append(Facts(" ".join(sentences), picked, facts + stated))

        out = draw.randrange(len(sentences))
        rest = " ".join(s for k, s in enumerate(sentences) if k != out)
        mixed = [
            (u["text"], NEUTRAL if u["sentence"] == out else PRESENT) for u in units
        ]
        absent = [row for row in mixed if row[1] == NEUTRAL]
        present = [row for row in mixed if row[1] == PRESENT]
        draw.shuffle(present)
        several.append(Facts(rest, absent[:5] + present[:4], []))

    return several


def written_packs(
    paths: Iterable[Path], sentences: int = OWN_SENTENCES
) -> Iterator[MixedPack]:
    """Texts and facts that were written for litepyramid, a pack each, with so many of
    the text's own sentences.

    A block is a line ``P: text`` and lines of facts: ``+`` present, ``-`` contradicted,
    ``?`` not said.
    """
    labels = {
        "+": PRESENT,
        "-": CONTRADICTION,
        "?": NEUTRAL,
    }
    for path in sorted(paths):
        for block in path.read_text("utf-8").split("\n\n"):
            first, *facts = block.strip().splitlines()
            premise = first.removeprefix("P:").strip()
            known = {fact[1:].strip(): labels[fact[0]] for fact in facts}

            own = [s for s in split_sentences(premise) if 3 < len(s.split()) < 28]
            for sentence in own[:sentences]:
                known.setdefault(sentence, PRESENT)

            origins = (CERTAIN,) * len(known)
            yield MixedPack(premise, tuple(known), tuple(known.values()), origins)


def sampled(several: Sequence[Any], number: int, draw: random.Random) -> list[Any]:
    """So many of them, or all."""
    return draw.sample([*several], min(number, len(several)))
