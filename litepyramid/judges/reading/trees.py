"""Sentences as flat arrays: who does what to whom, and what is denied or left open."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from litepyramid.judges.lexical.text import Vocabulary
from litepyramid.judges.lexical.words import FUNCTION_WORDS, NEGATIONS, irregular_forms
from litepyramid.judges.reading.lexicon import Lexicon
from litepyramid.progress import track
from litepyramid.types import IntArray
from litepyramid.units.parsers.embedded.backend import EmbeddedBackend
from litepyramid.units.parsers.embedded.frames import word_set

if TYPE_CHECKING:
    from spacy.tokens import Doc

BoolArray = NDArray[np.bool_]
Tokens = tuple[str, ...]

AGENT, PATIENT, IS, CLAUSE, ADVERB, OTHER, ROOT, MODIFIER, NUMBER, OF, TIME = range(11)
PREPOSITION = 16
"""Slots: how a word hangs on its governor; a phrase's is PREPOSITION + the stem of its case."""

_SLOTS = {
    "nsubj": AGENT, "csubj": AGENT, "obl:agent": AGENT, "nsubj:pass": PATIENT, "obj": PATIENT,
    "iobj": PATIENT, "appos": IS, "nmod:poss": OF, "nummod": NUMBER, "advmod": ADVERB,
    "obl:unmarked": TIME, "nmod:unmarked": TIME, "nmod:desc": MODIFIER, "amod": MODIFIER,
    "compound": MODIFIER, "flat": MODIFIER, "ccomp": CLAUSE, "xcomp": CLAUSE, "advcl": CLAUSE,
    "acl": CLAUSE, "acl:relcl": CLAUSE, "advcl:relcl": CLAUSE, "parataxis": CLAUSE,
}  # fmt: skip
_MARKS = ("aux", "aux:pass", "cop", "case", "mark", "det", "cc", "cc:preconj", "punct", "expl")
_OF = ("of", "against", "about", "whether")  # "accused of copying it"
_KINDS = {"NOUN": 1, "PROPN": 1, "VERB": 2, "AUX": 2, "ADJ": 3, "ADV": 3, "NUM": 4}
_NO_NAMES = word_set(
    """I January February March April May June July August September October November December
    Monday Tuesday Wednesday Thursday Friday Saturday Sunday"""
)


def is_name(token: str) -> bool:
    """Whether a token is capitalised, and no function word, month or day."""
    plain = token.lower() in FUNCTION_WORDS or token in _NO_NAMES
    return token[0].isupper() and token.isalpha() and not plain


def name_groups(tokens: Sequence[str]) -> list[int]:
    """Numbers the tokens, those of one name alike: names that stand together.

    Example:
        >>> name_groups(["The", "late", "Ann", "Lee", "left", "Oslo", "on", "Monday"])
        [0, 1, 2, 2, 3, 4, 5, 6]
    """
    names = [False, *map(is_name, tokens)]
    return list(accumulate((not (a and b) for a, b in pairwise(names)), initial=-1))[1:]


@dataclass(frozen=True)
class Trees:
    """Many sentences, token by token; a link is the number of a token, -1 for none.

    Attributes:
        texts: The tokens.
        starts: (sentences + 1,) first token of each sentence.
        stem: Number in the vocabulary, -1 for punctuation.
        head: Head in the tree; a root's own number.
        governor, slot: What a token hangs on, a conjunct on what the first one does; and how.
        kind: 1 noun or name, 2 verb, 3 adjective or adverb, 4 number, 0 other.
        content, name, number, pronoun, verbal: What a token is.
        whole: The last word of the name that a token is part of; else the token.
        rival: Number of its class of rivals, -1 for none.
        calendar: Whether these are months, days or the like.
        amount: What is said of how many, "" for nothing.
        denied: A negation stands with it.
        failed: Its head says that it did not happen ("failed to").
        open: It is hedged, planned or supposed.
        links: (3, links) governor, slot, dependent, by governor. More than the tree has: subjects
            of participles, relative clauses and conjoined verbs, what a noun is said to be.
    """

    texts: list[str]
    starts: IntArray
    stem: IntArray
    head: IntArray
    governor: IntArray
    slot: IntArray
    kind: IntArray
    content: BoolArray
    name: BoolArray
    number: BoolArray
    pronoun: BoolArray
    verbal: BoolArray
    whole: IntArray
    rival: IntArray
    calendar: BoolArray
    amount: NDArray[np.object_]
    denied: BoolArray
    failed: BoolArray
    open: BoolArray
    links: IntArray


def read_trees(
    sentences: Sequence[Tokens], words: Vocabulary, lexicon: Lexicon, backend: EmbeddedBackend
) -> Trees:
    """Parses sentences of at least one token.

    Names are read as *John*, for the parser knows few; and where a sentence seems to have no verb,
    the word most like one is read as *had* ("Arsenal defeated Chelsea").
    """
    groups = [np.array(name_groups(tokens), dtype=np.int64) for tokens in sentences]
    short = [_shortened(t, g, words, lexicon) for t, g in zip(sentences, groups, strict=True)]
    docs = list(track(backend.parsed(short), "parsing", "sentences", len(short)))
    again = {n: found for n, doc in enumerate(docs) if (found := _with_verb(doc, backend.verbs))}
    for n, doc in zip(again, backend.parsed(list(again.values())), strict=True):
        docs[n] = doc
    return _Grammar(sentences, groups, docs, words, lexicon).trees()


def _shortened(tokens: Tokens, groups: IntArray, words: Vocabulary, lexicon: Lexicon) -> list[str]:
    """One token for each name: *John* for one of several words, or that no dictionary knows."""
    short: list[str] = []
    for token, group in zip(tokens, groups.tolist(), strict=True):
        if group < len(short):
            short[group] = "John"
        else:
            beside = short[-1:] and short[-1].lower() in ("the", "a", "an")  # the Orsini family
            known = beside or not is_name(token) or words.stem(token) in lexicon.synonyms
            short.append(token if known else "John")
    return short


def _with_verb(doc: Doc, verbs: frozenset[str]) -> list[str]:
    """The words of a sentence without a verb, *had* or *has* for the likeliest; else none."""
    root = next(token for token in doc if token.head.i == token.i)
    subjects = {"cop", "nsubj", "nsubj:pass"}
    if root.pos_ in ("VERB", "AUX") or any(child.dep_ in subjects for child in root.children):
        return []
    past = _irregular()
    for token in doc[1:]:
        word = token.lower_
        form = not verbs.isdisjoint((word, word[:-1], word[:-2], past.get(word, "")))
        if token.tag_ in ("VBD", "VBN") or (form and not token.is_title):
            other = "has" if word.endswith("s") else "had"
            return [
                other if t.i == token.i else "John" if t.i and is_name(t.text) else t.text
                for t in doc
            ]
    return []


@cache
def _irregular() -> dict[str, str]:
    return irregular_forms()


class _Grammar:
    """From universal dependencies to what `Trees` holds, all sentences at once."""

    def __init__(
        self,
        sentences: Sequence[Tokens],
        groups: Sequence[IntArray],
        docs: Sequence[Doc],
        words: Vocabulary,
        lexicon: Lexicon,
    ) -> None:
        self.lexicon = lexicon
        self.texts = [token for sentence in sentences for token in sentence]
        self.starts = np.cumsum([0, *map(len, sentences)])
        self.here = np.arange(len(self.texts))
        rows = [doc.to_array(["HEAD", "DEP", "POS", "TAG"]) for doc in docs]
        table = np.concatenate([np.empty((0, 4), dtype=np.uint64), *rows])
        firsts = np.cumsum([0, *map(len, docs)])
        parts = [group + first for group, first in zip(groups, firsts, strict=False)]
        group = np.concatenate([np.empty(0, dtype=np.int64), *parts])
        size = np.bincount(group, minlength=len(table))
        last = np.cumsum(size) - 1
        head = last[np.arange(len(table)) + table[:, 0].astype(np.int64)][group]
        self.whole = last[group]
        self.head = np.where(self.whole == self.here, head, self.whole)
        self.dep, self.pos, self.tag = (
            _labels(table[:, column], docs)[group] for column in (1, 2, 3)
        )
        self.dep[self.whole != self.here] = "flat"
        self.dep[self.head == self.here] = "ROOT"
        self.pos[size[group] > 1] = "PROPN"
        self.pos[(self.pos == "AUX") & ~self.has("aux", "aux:pass", "cop")] = "VERB"
        lower = [text.lower() for text in self.texts]
        self.lower = np.array(lower, dtype=object)
        self.stem = np.array([words.number(text) for text in self.texts], dtype=np.int64)
        self.names = np.array([*words.names, ""], dtype=object)[self.stem]
        self.digits = np.array([name[:1].isdigit() for name in self.names], dtype=np.bool_)
        self.links: list[tuple[IntArray, IntArray, IntArray]] = []

        past, subjects = self.tagged("VBN", "VBD"), self.has("nsubj", "nsubj:pass", "csubj")
        bare = past & ~self.under(subjects)
        self.conjunct = self.has("conj")
        self.top = self.here
        for _ in range(5):
            self.top = np.where(self.conjunct[self.top], self.head[self.top], self.top)
        head = self.head[self.top]
        self.governor = np.where(head == self.top, np.where(self.conjunct, self.top, -1), head)
        self.held = self.governor >= 0
        self.copular = self.under(self.has("cop"))
        self.noun = _among(self.pos, ("NOUN", "PROPN"))
        self.passive = self.under(self.has("aux:pass", "nsubj:pass"))
        self.passive |= bare & self.has("acl", "advcl")
        self.passive |= bare & self.conjunct & self.passive[self.top]
        self.verbal = (self.pos == "VERB") | self.copular | self.passive
        self.case = self.child(self.has("case", "mark"))
        self.case = np.where(self.conjunct & (self.case < 0), self.case[self.top], self.case)
        self.slot = self.slots()
        self.subject = self.child(subjects)

    def has(self, *relations: str) -> BoolArray:
        """Which tokens stand in one of these relations to another token."""
        return _among(self.dep, relations)

    def tagged(self, *tags: str) -> BoolArray:
        return _among(self.tag, tags)

    def listed(self, name: str) -> BoolArray:
        """Which tokens are on a list of the lexicon."""
        return _among(self.names, self.lexicon.lists[name])

    def under(self, tokens: BoolArray) -> BoolArray:
        """Which tokens have one of `tokens` right below them."""
        found = np.zeros(len(self.here), dtype=np.bool_)
        found[self.head[tokens & (self.head != self.here)]] = True
        return found

    def child(self, tokens: BoolArray) -> IntArray:
        """The first of `tokens` right below each token, -1 for none."""
        found = np.full(len(self.here), -1)
        at = np.flatnonzero(tokens & (self.head != self.here))[::-1]
        found[self.head[at]] = at
        return found

    def link(self, governor: IntArray, slot: IntArray | int, dependent: IntArray) -> None:
        self.links.append((governor, np.broadcast_to(slot, governor.shape), dependent))

    def slots(self) -> IntArray:
        """The slot of each token; the agent of a passive is an agent."""
        dep = self.dep[self.top]
        slot = np.array([_SLOTS.get(label, OTHER) for label in dep], dtype=np.int64)
        slot[self.head[self.top] == self.top] = ROOT
        of_passive = self.held & self.passive[self.governor]
        slot[of_passive & _among(dep, ("nsubj", "csubj"))] = PATIENT
        counted = self.noun | (self.pos == "NUM")
        phrase = _among(dep, ("obl", "nmod"))
        phrase |= counted & (self.case >= 0) & _among(dep, ("advcl", "acl", "xcomp", "parataxis"))
        word = np.where(self.case >= 0, self.lower[self.case], "")
        slot[phrase] = np.where(self.case >= 0, PREPOSITION + self.stem[self.case], OTHER)[phrase]
        slot[phrase & _among(word, ("of", "'s", "’s"))] = OF
        slot[phrase & (word == "by") & of_passive & ~self.digits] = AGENT
        return slot

    def trees(self) -> Trees:
        self.link(self.governor[self.held], self.slot[self.held], self.here[self.held])
        self.link_subjects()
        self.link_nouns()
        denied, failed = self.denied()
        content = _among(self.pos, tuple(_KINDS)) & ~self.has(*_MARKS) & (self.stem >= 0)
        content &= ~_among(self.lower, FUNCTION_WORDS | NEGATIONS)
        links = np.concatenate([np.array(part) for part in self.links], axis=1)
        predicate = self.copular & _among(self.pos, ("NOUN", "PROPN", "ADJ", "NUM"))
        links[1, (links[1] == AGENT) & predicate[links[0]]] = IS
        links = links[:, (links[1] != OTHER) & (links[1] != ROOT)]
        capital = [t[0].isupper() and not t.isupper() for t in self.texts]  # no abbreviation
        rivals = [self.lexicon.rivals.get(name, -1) for name in self.names]
        return Trees(
            texts=self.texts,
            starts=self.starts,
            stem=self.stem,
            head=self.head,
            governor=self.governor,
            slot=self.slot,
            kind=np.array([_KINDS.get(pos, 0) for pos in self.pos], dtype=np.int64),
            content=content | self.digits,
            name=(self.pos == "PROPN") & np.array(capital, np.bool_),
            number=self.digits,
            pronoun=self.listed("pronouns"),
            verbal=self.verbal,
            whole=self.whole,
            rival=np.array(rivals, dtype=np.int64),
            calendar=np.array([r in self.lexicon.calendar for r in rivals], dtype=np.bool_),
            amount=self.amounts(),
            denied=denied,
            failed=failed,
            open=self.open(denied),
            links=links[:, np.argsort(links[0], kind="stable")],
        )

    def link_subjects(self) -> None:
        """Links predicates to subjects that stand elsewhere: before a relative clause, a "to"."""
        head, subject = self.head, self.subject
        role = np.where(self.passive, PATIENT, AGENT)
        relative = self.has("acl:relcl", "advcl:relcl")
        pronoun = (subject >= 0) & self.listed("relatives")[subject]
        role = np.where(relative & (subject >= 0), PATIENT, role)
        role = np.where(relative & pronoun, self.slot[subject], role)
        at = np.flatnonzero(relative | (self.has("acl") & (self.passive | self.tagged("VBG"))))
        self.link(at, role[at], head[at])
        at = at[(subject[at] < 0) | pronoun[at]]
        subject[at] = head[at]
        found = self.child(self.has("obj"))
        for _ in range(2):
            lacking = (self.has("xcomp", "advcl") | self.conjunct) & self.verbal & (subject < 0)
            controlled = lacking & self.has("xcomp") & (found[head] >= 0)
            giver = np.where(controlled, found[head], subject[head])
            at = np.flatnonzero(lacking & (giver >= 0))
            self.link(at, role[at], giver[at])
            subject[at] = giver[at]

    def link_nouns(self) -> None:
        """Links that nouns have through another: "Ann, a vet, left", "none of them", "is from"."""
        head, governor, slot = self.head, self.governor, self.slot
        at = np.flatnonzero(self.copular & (self.case >= 0) & (self.subject >= 0))
        case = self.case[at]
        of = _among(self.lower[case], ("of",))
        self.link(self.subject[at], np.where(of, OF, PREPOSITION + self.stem[case]), at)
        part = (slot == OF) & self.held & (self.listed("parts") | self.digits)[governor]
        title = self.has("compound", "nmod:desc") & (self.pos == "NOUN")
        beside = self.has("appos") | (title & (self.pos[head] == "PROPN"))
        for tokens, middle in ((part, governor), (beside, head)):
            at = np.flatnonzero(tokens & (governor[middle] >= 0))
            self.link(governor[middle[at]], slot[middle[at]], at)
        same = (slot == IS) | ((slot == AGENT) & (self.copular & self.noun)[governor])
        at = np.flatnonzero(same & self.held)
        self.link(at, IS, governor[at])

    def denied(self) -> tuple[BoolArray, BoolArray]:
        """What a negation stands with; what its head says did not happen."""
        lower, after = self.lower, np.append(self.lower[1:], [""])[: len(self.here)]
        negation = self.listed("denying") & ~((lower == "not") & (after == "only"))
        for first, second in (("instead", "of"), ("rather", "than")):
            negation |= (lower == first) & (after == second)
        denied = self.under(negation)
        argument = _among(self.slot, (AGENT, PATIENT)) & self.held
        counted = self.noun | _among(self.pos, ("NUM", "PRON"))
        denied[self.governor[(negation | (denied & counted)) & argument]] = True
        denied[self.head[denied & _among(lower, ("longer", "yet"))]] = True
        failed = self.has("xcomp") & self.listed("failing")[self.head]
        said = self.has("ccomp", "acl") | (self.has("advcl") & self.tagged("VBG"))
        failed |= said & self.listed("doubting")[self.head]
        denied &= self.verbal | ~_among(self.slot, (AGENT, PATIENT, IS, MODIFIER))
        return denied, failed

    def open(self, denied: BoolArray) -> BoolArray:
        """What is hedged, planned, reported or supposed."""
        mark = np.where(self.case >= 0, self.lower[self.case], "")
        hedge, told = self.listed("hedging") & (self.pos != "PROPN"), self.listed("telling")
        clause = self.has("ccomp", "xcomp", "acl", "csubj")
        clause |= self.has("acl:relcl") & (mark == "that")  # "rumours that he had left"
        clause |= self.has("advcl") & (_among(mark, _OF) | ((mark == "") & self.tagged("VBG")))
        supposed = self.under(self.listed("supposing") & self.has("mark", "advmod"))
        found = self.under((hedge & self.has("aux")) | ((hedge | told) & self.has("advmod")))
        found &= ~(denied & self.under(_among(self.lower, ("could", "can", "would"))))
        found |= supposed | self.under(supposed & self.has("advcl")) | (clause & hedge[self.head])
        passive = self.has("ccomp") & self.passive[self.head]  # "it was reported that"
        found |= (self.has("xcomp") | passive) & told[self.head]
        for _ in range(3):
            found |= clause & found[self.head]
        coming = self.has("advcl") & self.tagged("VBZ", "VBP") & self.under(self.listed("until"))
        found |= coming & found[self.head]
        found |= self.conjunct & found[self.top] & (self.subject == self.subject[self.top])
        return found

    def amounts(self) -> NDArray[np.object_]:
        """What is said of how many of each thing there are: ``all``, ``some`` …"""
        said = np.array([self.lexicon.amounts.get(name, "") for name in self.names], dtype=object)
        found = np.full(len(self.here), "", dtype=object)
        inner = self.has("det", "amod", "advmod", "nummod", "cc:preconj")
        for i in np.flatnonzero(said != "").tolist():
            found[self.head[i] if inner[i] else i] = said[i]
        of = np.flatnonzero((self.slot == OF) & self.held)
        of = of[(said[self.governor[of]] != "") & ~inner[self.governor[of]]]
        found[of] = said[self.governor[of]]
        return found


def _labels(codes: NDArray[np.uint64], docs: Sequence[Doc]) -> NDArray[np.object_]:
    """The strings that spaCy's codes stand for."""
    known, at = np.unique(codes, return_inverse=True)
    names = [docs[0].vocab.strings[int(code)] for code in known]
    return np.array(names, dtype=object)[at]


def _among(values: NDArray[np.generic], wanted: Collection[object]) -> BoolArray:
    """Which values are among those wanted."""
    return np.fromiter((value in wanted for value in values.tolist()), np.bool_, len(values))
