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

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from litepyramid.text import word_set
from litepyramid.units.parsers.embedded.pronouns import people_nouns
from litepyramid.units.trees import Tree, Word


class Relation(NamedTuple):
    """What a relation to the head gives, and an example: a sentence and its facts."""

    names: str
    part: str
    example: str
    facts: tuple[str, ...]


RELATIONS = (
    Relation(
        "nsubj nsubj:pass csubj csubj:pass expl",
        "subject",
        "Ann and Bob won the cup.",
        ("Ann won the cup", "Bob won the cup"),
    ),
    Relation(
        "aux aux:pass cop compound:prt goeswith cc:preconj",
        "verb",
        "The shop has not been closed down.",
        ("The shop has not been closed down",),
    ),
    Relation(
        "obj iobj xcomp dep dislocated orphan",
        "core",
        "The mayor bought a house and a boat.",
        ("The mayor bought a house", "The mayor bought a boat"),
    ),
    Relation(
        "obl obl:unmarked obl:tmod obl:npmod obl:agent nmod nmod:unmarked advmod",
        "adjunct",
        "Ann opened a school in Leeds on Monday.",
        (
            "Ann opened a school",
            "Ann opened a school in Leeds",
            "Ann opened a school on Monday",
        ),
    ),
    Relation(
        "advcl advcl:relcl",
        "adjunct",
        "Ann left because Bob was ill.",
        ("Ann left because Bob was ill", "Bob was ill"),
    ),
    Relation(
        "ccomp",
        "complement",
        "Police said the man robbed a bank in May.",
        (
            "Police said the man robbed a bank",
            "the man robbed a bank",
            "the man robbed a bank in May",
        ),
    ),
    Relation(
        "conj parataxis list",
        "clause",
        "The mayor never smoked and gave the money to the poor.",
        (
            "The mayor never smoked",
            "The mayor gave the money",
            "The mayor gave the money to the poor",
        ),
    ),
    Relation(
        "acl acl:relcl",
        "clause",
        "The police found Bob Ray, who was ill.",
        ("The police found Bob Ray", "Bob Ray was ill"),
    ),
    Relation(
        "appos",
        "name",
        "Ann Lee, a singer, won the cup.",
        ("Ann Lee won the cup", "Ann Lee is a singer"),
    ),
    Relation(
        "nmod:desc compound",
        "name",
        "Chelsea captain John Terry has left the club.",
        ("John Terry has left the club", "John Terry is a Chelsea captain"),
    ),
    Relation(
        "det amod nummod nmod:poss flat fixed case",
        "name",
        "His two young sons won.",
        ("His two young sons won",),
    ),
)
"""The table of relations; what is not in it gives nothing of its own."""

PART = {name: row.part for row in RELATIONS for name in row.names.split()}

SAYING = word_set(
    """
    add added adds admit admits admitted announce announced announces argue argued
    argues believe believes claim claimed claims confirm confirmed confirms
    conclude concluded concludes declare declared declares disclose disclosed discover
    discovered discovers emerge emerged emerges estimate estimated estimates explain
    explained explains find finds found insist insisted insists know known knew knows
    learn learned learnt mention mentioned note noted notes predict predicted predicts
    recall recalled recalls report reported reports reveal revealed reveals say saying
    says said show showed shown shows state stated states tell tells telling told think
    thinks tweet tweeted warn warned warns write writes wrote acknowledge
    acknowledged acknowledges heard allege alleged alleges understand understood realise
    realised realize realized indicate indicated indicates
    """
)
DAYS = word_set(
    """
    monday tuesday wednesday thursday friday saturday sunday today yesterday tomorrow
    tonight
    """
)
BE = word_set("am are is was were 's 're 'm ’s ’re ’m be been being")
PREPOSITIONS = word_set(
    "in on at from to for with by of about into over under after before during despite"
)
_FINITE = ("VBD", "VBZ")
_SUBJECTS = ("nsubj", "nsubj:pass", "csubj", "csubj:pass")
_CLAUSES = word_set("root conj parataxis list ccomp advcl acl dep")
_PEOPLE = ("men", "women", "people")
_REFUSING = word_set(
    """
    refuse refused refuses refusing fail failed fails decline declined declines forgot
    avoid avoided avoids stop stopped stops threatened forbid banned barred
    """
)
_BESIDE = word_set("appos nmod list dep")
_NOT_FINITE = word_set("xcomp advcl acl")
_CONDITIONS = word_set("if unless whether lest provided assuming once until except")
_REASONS = word_set("because although though while whereas since")
_TIMES = word_set("when as after while since")
_NEGATIONS = word_set("not n't n’t never no neither nor hardly barely rarely seldom")
_NOT = word_set("not n't n’t")
_NOBODY = _NEGATIONS | word_set("nobody none nothing few little")
_ALWAYS_THERE = _CONDITIONS | word_set(
    "every each only exclusively according without than"
)
_MODALS = word_set("will would can could may might must shall should wo ca 'll ’ll 'd")
_DO = word_set("do does did")
_PAST = word_set("was were had did")
_RELATIVE = word_set("who which that whom")
_BOUND = word_set("of 's ’s than between as per")
_ASKING = word_set("what how why whether who where when which whose")
_ANY = word_set("any every each all no most many anyone everyone those whoever one")
_ONE = word_set("a an another some")
_SPEAKER = word_set("i we my our you your")
_TOGETHER = word_set("each other both between together joint shared or nor")
_SINGULAR = {"were": "was", "are": "is", "have": "has"}
_DEATH = word_set("dead death died killed murder murdered dies")
_LOOSE = word_set("and or but so nor")
_COMMAS = word_set(", ( - – — --")
MARKS = word_set(", . ; : - -- – — ... … ! ? ( ) [ ] / ' \" `` '' “ ” ‘ ’")

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
    reader = _Reader(words)

    for i, status, conditions in reader.statuses():
        if status == "open":
            continue
        written = [*reader.identities(i)]
        if reader.is_clause(i):
            written = [*reader.clause_facts(i, conditions, status), *written]
        for tokens in map(reader.with_marks, written):
            if len(tokens) > 1 or len(words) < 3:
                facts.setdefault(tokens, Fact(tokens, status == "said"))

    return list(facts.values())


class _Reader(Tree):
    """A tree, read as clauses and noun phrases."""

    def __init__(self, words: Sequence[Word]) -> None:
        super().__init__(_mended(words))
        self._asides: dict[tuple[int, int], bool] = {}

    # What the sentence says of its parts

    def statuses(self) -> Iterator[tuple[int, str, list[list[int]]]]:
        """Every word with what the sentence says of it, governors first: ``stated``,
        ``said`` by somebody, or ``open``; and the conditions that hold for it."""
        stack: list[tuple[int, str, list[list[int]]]] = []
        for top in reversed(self.tops):
            stack.append((top, "stated", []))

        while stack:
            i, status, conditions = stack.pop()
            conditions = conditions + self.conditions(i)
            yield i, status, conditions
            # "If it rains, Ann stays and Bob leaves": for both of them.
            before = [c for c in conditions if c[-1] < i]
            for child in reversed(self.children[i]):
                shared = before if self.relation(child) == "conj" else []
                stack.append((child, self.status(child, i, status), shared))

    def conditions(self, i: int) -> list[list[int]]:
        """The conditions of a clause."""
        return [
            self.trimmed(self.under(c))
            for c in self.of(i, "advcl")
            if self.marks(c) & _CONDITIONS
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
        if self.relation(i) == "conj" and self.is_unclear(i, head):
            return "open"
        if base == "advcl":
            return above if self.is_told(i, head) else "open"
        if base == "acl":
            return above if self.is_relative_told(i, head) else "open"
        return above

    def status_of_complement(self, i: int, head: int) -> str:
        """Said, if the head is a verb of saying or knowing that is not denied."""
        asked = self.lower(min(self.under(i))) in _ASKING or self.marks(i) & _ASKING
        saying = self.lower(head) in SAYING and "to" not in self.marks(head)
        speaking = any(self.lower(s) in _SPEAKER for s in self.of(i, "nsubj"))
        denied = self.is_denied(head) or self.words_of(head, "aux") & _MODALS
        return "said" if saying and not (asked or denied or speaking) else "open"

    def is_told(self, i: int, head: int) -> bool:
        """Whether an adverbial clause says what happened, whatever its head says."""
        if not self.of(i, *_SUBJECTS):
            # "Beaten in May, she left": she was beaten.
            return self.words[i].xpos == "VBN" and not self.marks(i)
        marks = self.marks(i)
        past = self.words[i].xpos == "VBD" or self.words_of(i, "aux", "cop") & _PAST
        timed = bool(marks & _TIMES and past) and not self.is_denied(head)
        return bool(marks & _REASONS) or timed

    def is_relative_told(self, i: int, noun: int) -> bool:
        """Whether what modifies a noun is true of it, not what tells which is meant."""
        if self.words[i].xpos in ("VBG", "VB") and not self.of(i, "aux", *_SUBJECTS):
            return False
        opening = {self.lower(t) for t in self.under(i)[:2]}
        if opening & (_ASKING - _RELATIVE) - {"which"} or self.marks(i):
            return False
        if self.is_aside(i, noun):
            return True
        chosen = self.words_of(noun, "amod", "advmod") & word_set("last first only")
        superlative = any(self.words[c].xpos == "JJS" for c in self.of(noun, "amod"))
        definite = self.words_of(noun, "det") & word_set("the this that these")
        relative = self.relation(i) == "acl:relcl"
        return bool(definite and relative) and not (chosen or superlative)

    def is_alternative(self, i: int) -> bool:
        """Whether it is one of several of which not all are true."""
        return self.relation(i) == "conj" and bool(
            self.words_of(i, "cc") & {"or", "nor"}
        )

    def is_beside(self, i: int, head: int) -> bool:
        """Whether a clause is rather a sentence of its own than a complement: "One man
        killed, 22 rescued"."""
        parted = self.is_parted(i) and not self.marks(i) and i > head
        complement = self.relation(i) == "ccomp" and self.lower(head) not in SAYING
        return complement and parted

    def is_unclear(self, i: int, head: int) -> bool:
        """Whether a verb may go with "said" or with what was said: "said that money was
        raised and proposed to spend it"."""
        passive = self.base(head) == "ccomp" and self.of(head, "aux:pass")
        own = self.of(i, *_SUBJECTS, "aux", "aux:pass")
        return bool(passive and self.of(i, "obj", "xcomp", "ccomp")) and not own

    def is_denied(self, i: int) -> bool:
        """Whether a clause says that something is not, or is of nobody."""
        if self.words_of(i, "advmod", "cc:preconj", "det") & _NEGATIONS:
            return True
        for c in self.of(i, *_SUBJECTS, "obj"):
            if self.lower(c) in _NOBODY or self.words_of(c, "det", "advmod") & _NOBODY:
                return True
        return False

    # What words are

    def words_of(self, i: int, *relations: str) -> set[str]:
        """The words in these relations to one."""
        return {self.lower(c) for c in self.of(i, *relations)}

    def marks(self, i: int) -> set[str]:
        """What opens a clause: "that", "when", "to"."""
        opening = self.words_of(i, "mark")
        first = [c for c in self.of(i, "advmod") if self.lower(c) == "when"]
        return opening | {self.lower(c) for c in first}

    def is_clause(self, i: int) -> bool:
        """Whether a word is what a clause says of its subject."""
        base = self.base(i)
        own = self.of(i, *_SUBJECTS)
        if base not in _CLAUSES or self.is_alternative(i):
            return False
        if self.words[i].upos == "VERB":
            infinitive = "to" in self.words_of(i, "mark") and not own
            return base == "root" or not infinitive
        if self.of(i, "cop", "aux"):
            return True
        governor = self.governor(i)
        if base == "conj" and governor is not None and not own:
            # "is rich and famous"; "will cost more and open in May", read as a noun
            alike = bool(self.of(governor, "cop")) and self.words[i].upos != "PUNCT"
            verbal = self.of(governor, "aux") and not self.of(i, "det", "amod", "case")
            return alike or bool(verbal and self.of(i, "obl", "obj"))
        return bool(own)

    def is_name(self, i: int) -> bool:
        """Whether a word is a name in capitals."""
        return self.words[i].upos == "PROPN" and self.tokens[i][:1].isupper()

    # Noun phrases

    def phrase(self, i: int, without: Iterable[int] = ()) -> list[int]:
        """What names a thing: a word and all below it, without asides."""
        barred = {*without}
        stack = [i]
        while stack:
            word = stack.pop()
            barred.update(self.title(word))
            for child in self.children[word]:
                if child not in barred and self.is_aside(child, word):
                    barred.add(child)
                elif child not in barred:
                    stack.append(child)
        return self.trimmed([t for t in self.under(i, barred) if t not in barred])

    def named(self, noun: int, clause: int) -> list[int]:
        """A noun without the clause behind it and the preposition before it."""
        # "Ann and Bob, who is ill": Bob is.
        joined = self.of(noun, "conj")
        singular = self.words[clause].xpos == "VBZ" or bool(
            self.words_of(clause, "aux", "aux:pass", "cop") & {"is", "was", "has"}
        )
        if joined and singular:
            noun = joined[-1]
        opening = {*self.of(noun, "case", "cc", "mark")}
        cases = {t for c in opening for t in self.under(c) if c < noun}
        return [t for t in self.phrase(noun, [clause]) if t not in cases]

    def trimmed(self, tokens: list[int]) -> list[int]:
        """Tokens without marks at their ends."""
        start, end = 0, len(tokens)
        while start < end and self.tokens[tokens[start]] in MARKS:
            start += 1
        while end > start and self.tokens[tokens[end - 1]] in MARKS:
            end -= 1
        return tokens[start:end]

    def is_aside(self, i: int, noun: int) -> bool:
        """Whether a part of a noun phrase gives a fact of its own, and can be left
        out."""
        if (i, noun) not in self._asides:
            self._asides[i, noun] = self._is_aside(i, noun)
        return self._asides[i, noun]

    def _is_aside(self, i: int, noun: int) -> bool:
        base = self.base(i)
        if base == "acl":
            participle = self.words[i].xpos == "VBN" and not self.marks(i)
            whole = self.relation(i) == "acl:relcl" or participle
            parted = self.is_parted(i) and not self.of(noun, "conj")
            return whole and (parted or self.is_name(noun) or self.is_one(noun))
        if self.identity(noun, i) is not None:
            return True
        if base == "parataxis":
            return True
        return i in self.title(noun)

    def is_parted(self, i: int) -> bool:
        """Whether a comma or a bracket stands before what is below a word."""
        start = self.trimmed(self.under(i))[:1] or [0]
        return start[0] > 0 and self.tokens[start[0] - 1] in _COMMAS

    def is_one(self, noun: int) -> bool:
        """Whether it is just some thing, so that less can be said of it: "a man"."""
        words = self.words_of(noun, "det")
        counted = bool(self.of(noun, "nummod")) and not words
        return bool(words & _ONE or counted) and self.lower(noun) not in _ANY

    def title(self, name: int) -> list[int]:
        """What stands before a name and says what its bearer is, as tokens."""
        start = name
        while start > 0 and self.is_name(start - 1):
            start -= 1
        before = start - 1
        cut = self.relation(name) in ("compound", "flat")
        # "Dug and singer Ann Lee": what "and" joins is no title.
        tokens = [t for t in self.under(name) if t < start]
        while tokens and self.relation(tokens[0]) in ("cc", "punct"):
            tokens.pop(0)
        if cut or not (self.is_name(name) and tokens and tokens[-1] == before):
            return []
        kinds = people_nouns()
        noun = any(self.tokens[before] in kinds[kind] for kind in _PEOPLE)
        whole = tokens == [*range(tokens[0], start)] and self.tokens[before].isalpha()
        others = any(self.relation(t) in ("case", "cc", "conj") for t in tokens)
        return tokens if noun and whole and not others else []

    def identity(self, noun: int, i: int) -> tuple[int, int] | None:
        """Which of a noun and an aside beside it is what the other one is."""
        if self.base(i) not in _BESIDE or self.of(i, "conj"):
            return None
        if self.relation(i) == "nmod":
            home = self.words_of(i, "case") == {"from"} and i > noun
            start = self.trimmed(self.under(i))[0]
            near = self.is_name(start - 1) or self.is_parted(i)
            return (noun, i) if home and near and self.is_name(noun) else None
        if not self.is_parted(i) or self.of(i, "case"):
            return None
        if self.of(noun, "conj") or self.base(noun) == "conj":
            return None
        if self.words[i].upos == "NUM":
            age = self.tokens[i].isdecimal() and len(self.tokens[i]) < 4
            return (noun, i) if age and self.is_name(noun) else None
        if self.relation(i) != "appos":
            return None
        if self.is_name(noun) and self.words[i].upos == "NOUN":
            return noun, i
        return (
            (i, noun) if self.words[noun].upos == "NOUN" and self.is_name(i) else None
        )

    def identities(self, noun: int) -> Iterator[list[int | str]]:
        """What a noun phrase says its thing to be: "Ann Lee is a singer"."""
        title = self.title(noun)
        if title:
            yield self.is_what(self.phrase(noun), noun, title, title[-1])

        for i in self.children[noun]:
            pair = self.identity(noun, i)
            if pair is not None:
                who, what = pair
                name = self.phrase(who)
                told = [t for t in self.phrase(what, [who]) if t not in name]
                verbs = any(self.words[t].upos in ("VERB", "AUX") for t in name)
                if told and name and not verbs:
                    yield self.is_what(name, who, told, what)

    def is_what(
        self, name: list[int], head: int, told: list[int], noun: int
    ) -> list[int | str]:
        plural = self.words[head].xpos == "NNS"
        dead = any(self.lower(i) in _DEATH for i in range(len(self.words)))
        tense = ("were" if dead else "are", "was" if dead else "is")
        named = [t for t in told if self.relation(t) in ("det", "nmod:poss", "case")]
        first = self.tokens[told[0]]
        bare = self.words[noun].xpos == "NN" and not named and first[0].isalpha()
        article = ("an" if first[0].lower() in "aeio" else "a",) if bare else ()
        return [*name, tense[not plural], *article, *told]

    # Clauses

    def clause_facts(
        self, i: int, conditions: Sequence[list[int]], status: str
    ) -> Iterator[list[int | str]]:
        """The core alone, and with each adjunct."""
        clause = self.clause(i)
        if clause is None:
            return
        if status == "said" and {self.lower(t) for t in clause.subject[:1]} & _SPEAKER:
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
        whole = set(clause.core) - {*self.verb(i)} or passive
        for dropped in clause.parts if whole or not adjuncts else ():
            yield self.ordered(clause, {*clause.core} | always, dropped)
        for adjunct in adjuncts:
            yield self.ordered(
                clause, {*clause.core, *adjunct} | always, set(), adjunct
            )

    def is_undergone(self, auxiliary: Sequence[int | str]) -> bool:
        """Whether auxiliaries before a verb make it a passive."""
        return any(
            isinstance(t, str) or self.relation(t) == "aux:pass" for t in auxiliary
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
            order = [_SINGULAR.get(self.lower(t), t) if t in rest else t for t in order]
        return order

    def stays(self, i: int, adjunct: list[int]) -> bool:
        """Whether a clause would not be true without an adjunct."""
        words = [self.lower(t) for t in adjunct]
        if _ALWAYS_THERE.intersection(words):
            return True
        reason = words[0] in _REASONS or words[0] in ("due", "after")
        return self.is_denied(i) and adjunct[0] > i and not reason

    def clause(self, i: int, nested: bool = False) -> _Clause | None:
        """A clause with its subject, its own or another's; None if it lacks one."""
        own = self.subjects(i)
        subject = self.phrase(own[0]) if own else []
        if own and any(own[0] > c for c in self.of(i, "aux", "aux:pass")):
            # "Rarely does she smile" cannot be cut.
            return None
        auxiliary: list[int | str] = []
        moved: list[int] = []
        left: set[int] = set()
        governor = self.governor(i)

        if self.base(i) == "acl" and governor is not None:
            noun = self.named(governor, i)
            pronouns = [t for t in self.under(i)[:3] if self.lower(t) in _RELATIVE]
            if not own or own[0] in pronouns:
                left.update(own)
                subject, own = noun, []
            elif self.lower(own[0]) in _SPEAKER:
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
            elif part == "core" or self.is_alternative(child):
                pieces = self.pieces(child, span) or self.inner(child, i, span)
                adjuncts += pieces
                core += [t for t in span if not any(t in piece for piece in pieces)]
                others = self.parts(child, span)
                parts = [one | other for one in parts for other in others]
            elif part == "subject" and child not in own:
                core += span
            elif part != "adjunct" or self.is_connective(child, span):
                continue
            elif span[-1] == min([*subject, i]) - 1:
                # "More than | a dozen people", "Now | Ann is 20"
                core += span
            else:
                pieces = self.pieces(child, span)
                bare = [t for t in span if not any(t in piece for piece in pieces)]
                for gone in self.parts(child, bare):
                    adjuncts.append([t for t in bare if t not in gone])
                adjuncts += [[*bare, *piece] for piece in pieces]

        inside = bool(own) or not subject
        return _Clause(
            subject, sorted({*core}), adjuncts, parts, moved, auxiliary, inside
        )

    def subjects(self, i: int) -> list[int]:
        """The subject of a clause; of a main verb without one, the noun before it that
        the parser understood otherwise."""
        own = self.of(i, *_SUBJECTS)
        if own or self.relation(i) != "root" or self.words[i].xpos not in _FINITE:
            return own
        beside = self.of(i, "dep", "list", "vocative", "nmod", "nmod:desc", "compound")
        nouns = [c for c in beside if self.words[c].upos in ("NOUN", "PROPN") and c < i]
        return nouns[:1]

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

    def is_connective(self, i: int, span: list[int]) -> bool:
        """Whether it joins the sentence to another one, or to its head."""
        if self.relation(i) != "advmod":
            return False
        return len(span) == 1 and (i == 0 or self.lower(i) in _ASKING)

    def verb(self, i: int) -> list[int]:
        """What is said of the subject: the verb with auxiliaries, negation, particles
        and single adverbs beside it, or the noun or adjective with its copula."""
        beside = [i]
        outside = []
        own = self.of(i, *_SUBJECTS)
        for child in self.children[i]:
            relation = self.relation(child)
            part = PART.get(relation)
            single = len(self.trimmed(self.under(child))) == 1
            near = (max(own, default=-1) < child < i) or child == i + 1
            near = near or self.words[child].xpos == "RBR"
            joins = self.lower(child) in _ASKING
            if part == "verb" or (relation == "mark" and self.lower(child) == "to"):
                beside += self.under(child)
            elif relation == "advmod" and single and near and not joins:
                beside.append(child)
            elif part != "name" and not self.is_inside(child, i):
                outside.append(child)
            elif self.lower(child) in _NEGATIONS:
                beside.append(child)

        # "re-homed", "well-known"
        while beside[0] > 1 and self.tokens[beside[0] - 1] == "-":
            beside.insert(0, beside[0] - 2)
        if self.words[i].upos != "VERB" or self.of(i, "cop"):
            beside += self.phrase(i, outside)
        return sorted({*beside})

    def is_inside(self, child: int, noun: int) -> bool:
        """Whether a phrase is needed to know what thing a predicate is."""
        if self.is_alternative(child):
            return True
        if self.base(child) == "acl":
            return not self.is_aside(child, noun)
        of = self.words_of(child, "case") & {"of", "'s", "’s"}
        return self.base(child) == "nmod" and bool(of or not self.is_one(noun))

    def borrowed(self, i: int) -> tuple[list[int], list[int | str]]:
        """The subject of another clause, and the auxiliaries shared with it."""
        auxiliary = self.shared(i)
        if self.relation(i) == "advcl":
            auxiliary = ["was"]
        elif self.relation(i) != "conj":
            return [], []

        head = self.governor(i)
        for _ in self.words:
            if head is None:
                break
            own = self.of(head, *_SUBJECTS)
            if own and self.lower(own[0]) not in _RELATIVE:
                if auxiliary == ["was"] and self.is_plural(own[0]):
                    auxiliary = ["were"]
                return self.phrase(own[0]), auxiliary
            governor = self.governor(head)
            if self.base(head) == "acl" and governor is not None:
                return self.named(governor, head), auxiliary
            if self.relation(head) not in ("conj", "advcl"):
                break
            head = governor
        return [], []

    def shared(self, i: int) -> list[int | str]:
        """The auxiliaries that a conjoined verb shares: "was arrested and charged"."""
        form = self.words[i].xpos
        head = self.governor(i)
        if self.of(i, "aux", "aux:pass", "cop"):
            return []
        for _ in self.words:
            if head is None or self.of(head, "aux", "aux:pass", "cop"):
                break
            head = self.governor(head) if self.relation(head) == "conj" else None
        if head is None:
            return []

        there = self.of(head, "aux", "aux:pass", "cop")
        words = {self.lower(c) for c in there}
        passive = bool(self.of(head, "aux:pass"))
        nominal = self.words[i].upos != "VERB" and bool(self.of(head, "cop"))
        regular = form == "VBD" and self.lower(i).endswith("ed")
        undergone = passive and regular and not self.of(i, "obj")
        same = form in ("VBN", "VBG") and form == self.words[head].xpos
        bare = form in ("VB", "NN", "JJ") and bool(words & (_MODALS | _DO))
        if not (nominal or undergone or same or bare):
            return []
        denied = [c for c in self.of(head, "advmod") if self.lower(c) in _NOT]
        return [*sorted({*there, *denied})]

    def is_plural(self, i: int) -> bool:
        """Whether a noun is of several."""
        return self.words[i].xpos in ("NNS", "NNPS") or bool(self.of(i, "conj"))

    def comes_apart(self, i: int) -> bool:
        """Whether what is said of several subjects is said of each."""
        words = {self.lower(t) for t in self.under(i)}
        present = self.words[i].xpos == "VBP" and not self.of(i, "aux")
        return not (words & _TOGETHER or present or self.words[i].xpos == "NNS")

    def parts(self, i: int, span: list[int]) -> list[set[int]]:
        """What to leave out of a phrase to say one of the things that "and" joins in
        it; nothing where they belong together."""
        joined = [c for c in self.of(i, "conj") if not self.is_clause(c)]
        alike = {self.words[c].upos for c in [i, *joined]} <= {"NOUN", "PROPN"}
        words = {self.lower(t) for t in span}
        if not joined or not alike or words & _TOGETHER:
            return [set()]

        inside = {t for c in joined for t in self.under(c)}
        kept = [{*span} - inside]
        for c in joined:
            opening = {t for t in self.under(c) if self.relation(t) in ("cc", "punct")}
            kept.append({*self.under(c)} - opening)
            if not self.of(c, "case"):
                kept[-1].update(self.of(i, "case"))
        return [{*span} - one for one in kept]

    def pieces(self, i: int, span: list[int]) -> list[list[int]]:
        """Phrases behind a noun that say more of it, not which one is meant."""
        bare = not self.of(i, "det", "nmod:poss", "nummod")
        if not (self.is_one(i) or (bare and self.words[i].xpos in ("NN", "NNP"))):
            return []
        pieces = []
        for child in self.of(i, "nmod"):
            piece = [t for t in self.phrase(child) if t in span]
            words = {self.lower(t) for t in piece}
            bound = self.words_of(child, "case") & _BOUND or words & _ALWAYS_THERE
            if child > i and piece and not bound:
                pieces.append(piece)
        return pieces

    def inner(self, i: int, head: int, span: list[int]) -> list[list[int]]:
        """Adjuncts at the end of what is tried, begun, wanted: "tried to sing | in
        May"."""
        if self.relation(i) != "xcomp" or self.lower(head) in _REFUSING:
            return []
        found = []
        for child in self.of(i, "obl", "obl:unmarked"):
            adjunct = [t for t in self.phrase(child) if t in span]
            bound = {self.lower(t) for t in adjunct} & _ALWAYS_THERE
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

    def is_end(self, token: int | str) -> bool:
        """Whether a fact neither begins nor ends with a word."""
        if isinstance(token, str):
            return False
        return self.tokens[token] in MARKS or self.lower(token) in _LOOSE


def _mended(words: Sequence[Word]) -> list[Word]:
    """A finite verb that was joined to an infinitive or to a verb of another number
    belongs to the clause above: "asked players to rest and praised the fans"."""
    tree = Tree(words)
    mended = [*words]
    for i, word in enumerate(words):
        finite = word.xpos in _FINITE and not tree.of(i, *_SUBJECTS)
        head = tree.governor(i)
        while finite and head is not None and word.deprel == "conj":
            plural = any(words[s].xpos == "NNS" for s in tree.of(head, *_SUBJECTS))
            bare = tree.base(head) in _NOT_FINITE and words[head].xpos in ("VB", "VBG")
            above = tree.governor(head)
            if above is None or not (bare or (plural and word.xpos == "VBZ")):
                break
            head = above
            mended[i] = replace(word, head=head)
    return mended
