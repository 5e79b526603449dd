"""From a dependency tree to facts: small sentences that stand alone, none lost, none
false.

A clause gives its core (subject, verb, objects) and one fact for each adjunct with the
core, as clause-based open information extraction does (ClausIE: Del Corro & Gemulla
2013). A noun phrase is as short as it can be and still name its thing; what else stands
in it gives a fact of its own (MinIE: Gashteovski et al. 2017). `RELATIONS` says what
each relation of Universal Dependencies gives, with an example.

What is denied, wanted, asked, feared, to come or under a condition gives no fact of its
own: it stays in the fact of the clause that says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from litepyramid.units.parsers.embedded.pronouns import people_nouns
from litepyramid.units.predicates import Predicates
from litepyramid.units.relations import (
    ALL,
    ALWAYS_THERE,
    ASKING,
    CONDITIONS,
    DEFINITE,
    FINITE,
    LOOSE,
    MARKS,
    MODALS,
    ONE_OF_MANY,
    PART,
    PAST,
    PEOPLE,
    REASONS,
    REFUSING,
    RELATIVE,
    SAYING,
    SINGULAR,
    SPEAKER,
    SUBJECTS,
    TIMES,
)
from litepyramid.units.repairs import mended
from litepyramid.units.trees import Word

Written = tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """Tokens of a sentence that together say a fact, with words such as "is" between
    them, in the order in which they are written."""

    tokens: Written
    said: bool = False


class _Clause(NamedTuple):
    """A clause: who, what of them, and what can be left out.

    `parts` are the sets of tokens without which the core says one of several things
    joined by "and"; `moved` is a noun that is written behind the verb ("the gun Bob
    used"); `auxiliary` are words to write before the verb where the subject is another
    clause's.
    """

    subject: list[int]
    core: list[int]
    adjuncts: list[list[int]]
    parts: list[set[int]]
    moved: list[int]
    auxiliary: list[int | str]
    inside: bool


def tree_facts(words: Sequence[Word]) -> list[Fact]:
    """The facts of one sentence; none where the tree has no clause.

    Example:
        >>> words = [Word("Ann", "PROPN", 1, "nsubj", "NNP"),
        ...     Word("won", "VERB", 1, "root", "VBD"), Word(".", "PUNCT", 1, "punct")]
        >>> tree_facts(words)
        [Fact(tokens=(0, 1), said=False)]
    """
    facts: dict[Written, Fact] = {}
    reader = _Reader(mended(words))

    for i, status, conditions in reader.statuses():
        if status == "open":
            continue
        written = [*reader.identities(i)]
        if reader.is_clause(i):
            written = [*reader.clause_facts(i, conditions, status), *written]
        for tokens in map(reader.with_marks, written):
            whole = len(tokens) > 1 or len(words) < 3
            if whole and not reader.is_garbled(i, tokens):
                facts.setdefault(tokens, Fact(tokens, status == "said"))

    return list(facts.values())


class _Reader(Predicates):
    """A tree, read as clauses."""

    # What the sentence says of its parts

    def __init__(self, words: Sequence[Word]) -> None:
        super().__init__(words)
        self._unsaid: set[int] = set()

    def statuses(self) -> list[tuple[int, str, list[list[int]]]]:
        """Every word with what the sentence says of it, governors first: ``stated``,
        ``said`` by somebody, or ``open``; and the conditions that hold for it."""
        stack: list[tuple[int, str, list[list[int]]]] = []
        for top in reversed(self.tops):
            stack.append((top, "stated", []))

        found = []
        while stack:
            i, status, conditions = stack.pop()
            conditions = conditions + self.conditions(i)
            found.append((i, status, conditions))
            if status == "open":
                self._unsaid.add(i)
            # "If it rains, Ann stays and Bob leaves": for both of them.
            before = [c for c in conditions if c[-1] < i]
            for child in reversed(self.children[i]):
                shared = before if self.relation(child) == "conj" else []
                stack.append((child, self.status(child, i, status), shared))
        return found

    def is_aside(self, i: int, noun: int) -> bool:
        """Not what would give no fact of its own: "told to pay | a man who helped"."""
        clause = self.base(i) == "acl" and i in self._unsaid
        return not clause and super().is_aside(i, noun)

    def conditions(self, i: int) -> list[list[int]]:
        """The conditions of a clause."""
        return [
            self.trimmed(self.under(c))
            for c in self.of(i, "advcl")
            if self.marks(c) & CONDITIONS
        ]

    def status(self, i: int, head: int, above: str) -> str:
        """What the sentence says of a part, by what it says of its head."""
        if above == "open" or self.is_alternative(i):
            return "open"
        base = self.base(i)
        if base in ("xcomp", "csubj"):
            return "open"
        if self.is_beside(i, head):
            return above
        if base == "ccomp":
            return self.status_of_complement(i, head)
        if self.is_asked(i):
            return "open"
        if self.relation(i) == "conj" and self.is_unclear(i, head):
            return "open"
        if base == "advcl":
            return above if self.is_told(i, head) else "open"
        if base == "acl":
            return above if self.is_relative_told(i, head) else "open"
        return above

    def status_of_complement(self, i: int, head: int) -> str:
        """Said, if the head is a verb of saying or knowing that is not denied."""
        asked = self.lower(min(self.under(i))) in ASKING or self.marks(i) & ASKING
        saying = self.lower(head) in SAYING and "to" not in self.marks(head)
        speaking = any(self.lower(s) in SPEAKER for s in self.of(i, "nsubj"))
        denied = self.is_denied(head) or self.words_of(head, "aux") & MODALS
        return "said" if saying and not (asked or denied or speaking) else "open"

    def is_told(self, i: int, head: int) -> bool:
        """Whether an adverbial clause says what happened, whatever its head says."""
        if not self.of(i, *SUBJECTS):
            # "Beaten in May, she left": she was beaten.
            return self.words[i].xpos == "VBN" and not self.marks(i)
        marks = self.marks(i)
        past = self.words[i].xpos == "VBD" or self.words_of(i, "aux", "cop") & PAST
        timed = bool(marks & TIMES and past) and not self.is_denied(head)
        return bool(marks & REASONS) or timed

    def is_relative_told(self, i: int, noun: int) -> bool:
        """Whether what modifies a noun is true of it, not what tells which is meant."""
        if self.words[i].xpos in ("VBG", "VB") and not self.of(i, "aux", *SUBJECTS):
            return False
        opening = {self.lower(t) for t in self.under(i)[:2]}
        if opening & (ASKING - RELATIVE) - {"which"} or self.marks(i):
            return False
        if self.is_aside(i, noun):
            return True
        chosen = self.words_of(noun, "amod", "advmod") & ONE_OF_MANY
        superlative = any(self.words[c].xpos == "JJS" for c in self.of(noun, "amod"))
        definite = self.words_of(noun, "det") & DEFINITE
        relative = self.relation(i) == "acl:relcl"
        return bool(definite and relative) and not (chosen or superlative)

    def is_beside(self, i: int, head: int) -> bool:
        """Whether a clause is rather a sentence of its own than a complement: "One man
        killed, 22 rescued"."""
        parted = self.is_parted(i) and not self.marks(i) and i > head
        complement = self.relation(i) == "ccomp" and self.lower(head) not in SAYING
        return complement and parted

    def is_joined(self, i: int) -> bool:
        """Whether what "and" or "or" joins to a clause cannot stand without it."""
        alternative = self.is_alternative(i) and not self.marks(i)
        return alternative or self.is_asked(i)

    def is_role(self, i: int) -> bool:
        """Whether it says as what something is done: "treat it as suspicious"."""
        return self.base(i) == "obl" and self.words_of(i, "case") == {"as"}

    def is_rate(self, i: int) -> bool:
        """Whether it says for what time a number is: "once | a month"."""
        one = self.words_of(i, "det") & {"a", "an"}
        return self.relation(i) == "obl:unmarked" and bool(one)

    def is_needed(self, i: int, head: int) -> bool:
        """Whether it belongs to what stands before it in the core: "once | a month",
        "urged Ann | to stay", but not "used a knife | to stay"."""
        infinitive = self.base(i) == "advcl" and "to" in self.marks(i)
        asked = any(self.is_somebody(c) for c in self.of(head, "obj", "iobj"))
        return self.is_rate(i) or (infinitive and asked)

    def is_somebody(self, i: int) -> bool:
        """Whether a noun is a name, a pronoun, or for a person."""
        nouns = people_nouns()
        person = any(self.lower(i) in nouns[kind] for kind in (*PEOPLE, "groups"))
        return person or self.is_name(i) or self.words[i].upos == "PRON"

    def is_bound(self, i: int) -> bool:
        """Whether an adjunct says something only with the one before it: "went to the
        bank | to ask for money", "bake for an hour | or until it is brown"."""
        purpose = self.base(i) == "advcl" and "to" in self.marks(i)
        either = self.is_alternative(i) and self.marks(i)
        return bool(purpose or either) or self.is_rate(i)

    def is_asked(self, i: int) -> bool:
        """Whether it is a question joined to a noun: "the price and how it rose"."""
        first = self.under(i)[1:2] if self.of(i, "cc") else []
        asking = any(self.lower(word) in ASKING for word in first)
        return self.relation(i) == "conj" and asking

    def is_unclear(self, i: int, head: int) -> bool:
        """Whether a verb may go with "said" or with what was said: "said that money was
        raised and proposed to spend it"."""
        passive = self.base(head) == "ccomp" and self.of(head, "aux:pass")
        own = self.of(i, *SUBJECTS, "aux", "aux:pass")
        return bool(passive and self.of(i, "obj", "xcomp", "ccomp")) and not own

    # Clauses

    def clause_facts(
        self, i: int, conditions: Sequence[list[int]], status: str
    ) -> Iterator[list[int | str]]:
        """The core alone, and with each adjunct."""
        clause = self.clause(i)
        if clause is None:
            return
        if status == "said" and {self.lower(t) for t in clause.subject[:1]} & SPEAKER:
            return

        always = {t for condition in conditions for t in condition}
        adjuncts = []
        for adjunct in clause.adjuncts:
            if self.stays(i, adjunct):
                always.update(adjunct)
            elif not set(adjunct) <= always:
                adjuncts.append(adjunct)

        # "He lives in Leeds": without an object a verb needs what follows it.
        passive = self.of(i, "aux:pass") or self.is_undergone(clause.auxiliary)
        advcl = {*self.of(i, "advcl", "advcl:relcl")}
        clauses = all(
            self.lower(adjunct[0]) in REASONS | TIMES and advcl & {*adjunct}
            for adjunct in adjuncts
        )
        behind = {t for t in clause.core if t > i} - {*self.verb(i)}
        whole = behind or passive or clauses
        for dropped in clause.parts if whole or not adjuncts else ():
            yield self.ordered(clause, {*clause.core} | always, dropped)
        for adjunct in adjuncts:
            yield self.ordered(
                clause, {*clause.core, *adjunct} | always, set(), adjunct
            )

    def ordered(
        self,
        clause: _Clause,
        chosen: set[int],
        dropped: set[int],
        adjunct: Sequence[int] = (),
    ) -> list[int | str]:
        """The tokens of a fact as they are to be written."""
        subject = [t for t in clause.subject if t not in dropped]
        rest = sorted(chosen - dropped)
        if clause.moved:
            before = [t for t in rest if t not in adjunct]
            return [*sorted({*subject, *before}), *clause.moved, *adjunct]
        if not clause.inside:
            return [*subject, *clause.auxiliary, *[t for t in rest if t not in subject]]
        order: list[int | str] = [*sorted({*subject, *rest})]
        plural = any(self.words[t].xpos == "NNS" for t in subject)
        if set(subject) != set(clause.subject) and not plural:
            # "Ann and Bob were": Ann was.
            order = [SINGULAR.get(self.lower(t), t) if t in rest else t for t in order]
        return order

    def stays(self, i: int, adjunct: list[int]) -> bool:
        """Whether a clause would not be true without an adjunct."""
        words = [self.lower(t) for t in adjunct]
        # "as likely to fall | as others"
        compared = words[0] == "as" and self.has(i, "advmod", "as")
        if compared or ALWAYS_THERE.intersection(words):
            return True
        reason = words[0] in REASONS or words[0] in ("due", "after")
        return self.is_denied(i) and adjunct[0] > i and not reason

    def clause(self, i: int, nested: bool = False) -> _Clause | None:
        """A clause with its subject, its own or another's; None if it lacks one."""
        own = self.subjects(i)
        subject = self.phrase(own[0]) if own else []
        if self.of(i, "nsubj:outer") or (not own and self.is_subject_lost(i)):
            # "The news is that it rains", "A 24-year-old jailed" cannot be cut.
            apart = [c for c in self.of(i, "conj", "parataxis") if self.subjects(c)]
            whole = self.trimmed(self.under(i, apart))
            return _Clause([], whole, [], [set()], [], [], True)
        if own and any(own[0] > c for c in self.of(i, "aux", "aux:pass")):
            # "Rarely does she smile" cannot be cut.
            return None
        auxiliary: list[int | str] = []
        moved: list[int] = []
        left: set[int] = set()
        governor = self.governor(i)

        if self.base(i) == "acl" and governor is not None:
            noun = self.named(governor, i)
            pronouns = [t for t in self.under(i)[:3] if self.lower(t) in RELATIVE]
            if not own or own[0] in pronouns:
                left.update(own)
                subject, own = noun, []
            elif self.lower(own[0]) in SPEAKER:
                return None
            elif {*self.of(i, "obj")} <= {*pronouns}:
                # "the gun that Bob used", "a video in which she sings"
                cases = [c for p in pronouns for c in self.of(p, "case")]
                moved = [*cases, *noun]
                left.update(pronouns, cases)
            else:
                return None
            if self.relation(i) == "acl":
                auxiliary = ["were" if self.is_plural(governor) else "was"]
        elif not own:
            subject, auxiliary = self.borrowed(i)
            if not subject and self.relation(i) in ("conj", "advcl", "ccomp"):
                return None

        core = [t for t in self.verb(i) if t not in left]
        adjuncts: list[list[int]] = []
        parts = self.parts(own[0], subject) if own and self.comes_apart(i) else [set()]
        for child in self.children[i]:
            part = PART.get(self.relation(child), "")
            span = [t for t in self.phrase(child) if t not in left]
            if child in core or not span:
                continue
            if part == "complement" and self.is_beside(child, i):
                continue
            if part == "complement":
                core += span if nested else self.complement(child, i, span)
            elif part == "core" or self.is_joined(child) or self.is_role(child):
                pieces = self.pieces(child, span) or self.inner(child, i, span)
                adjuncts += pieces
                core += [t for t in span if not any(t in piece for piece in pieces)]
                others = self.parts(child, span)
                parts = [one | other for one in parts for other in others]
            elif part == "subject" and child not in own:
                core += span
            elif part != "adjunct" or self.is_connective(child, span):
                continue
            elif self.is_needed(child, i) and span[0] - 1 in core:
                core += span
            elif self.is_bound(child) and adjuncts and adjuncts[-1][0] > i:
                before = adjuncts[-1] if self.base(child) == "advcl" else adjuncts.pop()
                adjuncts.append([*before, *span])
            elif span[-1] == min([*subject, i]) - 1:
                # "More than | a dozen people", "Now | Ann is 20"
                core += span
            else:
                pieces = self.pieces(child, span)
                bare = [t for t in span if not any(t in piece for piece in pieces)]
                kept = self.stays(i, bare)
                for gone in [set()] if kept else self.parts(child, bare):
                    adjuncts.append([t for t in bare if t not in gone])
                adjuncts += [[*bare, *piece] for piece in pieces]

        inside = bool(own) or not subject
        return _Clause(
            subject, sorted({*core}), adjuncts, parts, moved, auxiliary, inside
        )

    def complement(self, i: int, head: int, span: list[int]) -> list[int]:
        """What is said, without what gives facts of its own; all of what is wanted."""
        clause = self.clause(i, nested=True)
        if self.status_of_complement(i, head) == "open" or clause is None:
            return span
        if not clause.inside or clause.moved:
            return span
        tokens = [*self.of(i, "mark"), *clause.subject, *clause.core]
        for n, adjunct in enumerate(clause.adjuncts):
            alone = n == 0 and clause.core == self.verb(i)
            if alone or self.stays(i, adjunct):
                tokens += adjunct
        return [t for t in span if t in tokens]

    def inner(self, i: int, head: int, span: list[int]) -> list[list[int]]:
        """Adjuncts at the end of what is tried, begun, wanted: "tried to sing | in
        May"."""
        if self.relation(i) != "xcomp" or self.lower(head) in REFUSING:
            return []
        if {self.lower(t) for t in span} & ALL:
            return []
        found = []
        for child in self.of(i, "obl", "obl:unmarked"):
            adjunct = [t for t in self.phrase(child) if t in span]
            bound = {self.lower(t) for t in adjunct} & ALWAYS_THERE
            if child > i and adjunct and not bound:
                found.append(adjunct)
        whole = self.of(i, "obj") or found[1:]
        return found if whole else []

    def with_marks(self, order: Sequence[int | str]) -> Written:
        """With marks that stand between two neighbours, none at the ends."""
        marked: list[int | str] = []
        for token in order:
            last = marked[-1] if marked else None
            if isinstance(token, int) and isinstance(last, int):
                between = range(last + 1, token)
                if all(self.tokens[t] in MARKS for t in between):
                    marked += between
            marked.append(token)

        while len(marked) > 1 and self.is_end(marked[0]):
            marked.pop(0)
        while len(marked) > 1 and self.is_end(marked[-1]):
            marked.pop()
        return tuple(marked)

    def is_garbled(self, i: int, fact: Written) -> bool:
        """Whether a verb that is not the one of the fact lacks its subject there."""
        for t in fact:
            if isinstance(t, str) or self.words[t].xpos not in (*FINITE, "MD"):
                continue
            auxiliary = self.base(t) in ("aux", "cop")
            governor = self.governor(t)
            verb = governor if auxiliary and governor is not None else t
            own = self.of(verb, *SUBJECTS)
            lone = i < verb and not own and self.base(verb) in ("xcomp", "ccomp")
            if verb != i and (lone or (own and not {*own} & {*fact})):
                return True
        return False

    def is_end(self, token: int | str) -> bool:
        """Whether a fact neither begins nor ends with a word."""
        if isinstance(token, str):
            return False
        return self.tokens[token] in MARKS or self.lower(token) in LOOSE
