"""From semantic role frames to facts: units that a reader would call facts of their
sentence.

The paper's triplets (`litepyramid.units.triplets`) have one argument each, so that
"made a pledge on Wednesday" also gives "made on Wednesday". A fact has its predicate
with all of its core arguments, in the order of the sentence:

1. Negation, modals, auxiliaries, particles and single adverbs stay with the verb.
2. Each adjunct gives one fact, with the core; without adjuncts the core is one. A
   condition stays in every fact of its clause, and so does the first adjunct after a
   verb that has nothing else behind it ("ended in tragedy").
3. "The gun he used" says that he used the gun: a relative pronoun becomes its noun.
4. A verb without a tense of its own ("to win", "by winning") gives no fact: it did not
   happen, or the fact of another verb holds it.
5. A clause that is said, known or shown gives its facts, marked as said. What is
   wanted, feared, denied, to come or under a condition gives none of its own.
6. A fact is dropped if another one with the same verb holds all its words, and so is
   what only "I" says and a bare "it was there".
7. A sentence without facts is its own one fact.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from litepyramid.judges.lexical.features import english
from litepyramid.text import word_set
from litepyramid.units.clauses import (
    AUXILIARIES,
    BE,
    FINITE,
    JOINING,
    MARKS,
    NEGATIONS,
    OUTSIDE,
    PARTICIPLES,
    POSSIBLE,
    PREPOSITIONS,
    RELATIVE,
    SAYING,
    WHATEVER,
    Argument,
    Clause,
    has_tense,
    is_pronoun,
    read_clause,
    undergone,
    with_shared_auxiliary,
)
from litepyramid.units.parses import ParsedSentence, sentence_parts

_SUBORDINATE = word_set(
    """
    that after although as because before but since so than though until when whenever
    where whereas while and , : ' " “ ‘ `` -
    """
)
"""Words that may stand before the subject of a clause."""
_NOBODY = NEGATIONS | word_set("nobody none nothing few hardly barely rarely seldom")
_NOT_ALONE = word_set("not n't n’t")
"""Negations that need an auxiliary."""
_NO = word_set("without instead refrained avoided")
"""What may stand just before what is not done."""
_DO = word_set("do does did")
_TOLD = ("stated", "said")
_ANY = word_set("every any each no all whatever most many some few one people those")
_EACH = word_set("every each only exclusively according")
_LIKE = word_set("than like")
_NAMED = word_set("called named dubbed titled entitled aged")
_THINGS = word_set("it its they them their")
_PAST = word_set("was were had did 'd hit put cut set shut let cost")
_CONDITIONS = word_set(
    "if unless whether lest provided assuming should once until except"
)
_DOUBT = word_set(
    """
    unsure unlikely uncertain unclear doubtful impossible possible likely hopeful afraid
    hope hopes fear fears chance doubt doubts possibility guarantee claim claims
    allegation allegations accusation accusations rumour rumours rumor rumors suggestion
    suggestions concern concerns speculation idea
    """
)
"""What may stand before a clause that need not be true: "claims that he left"."""
_SPEAKER = word_set("me my mine myself")
_NO_SUBJECTS = RELATIVE | word_set(
    """
    what whatever whoever her his its my our their your the a an this those these anyone
    everyone someone each both
    """
)
_UNFINISHED = OUTSIDE | word_set("and or but including")
"""Words that do not end a fact."""
_BETWEEN = MARKS | {"to", "be", "been", "being", "have"}
"""Tokens that stay where they stand between two tokens of a fact."""
_BARE = 5
"""Tokens of a fact about "it" that hardly says anything."""


@dataclass(frozen=True, slots=True)
class Fact:
    """Tokens of a sentence that together say a fact, in the order they are written."""

    verb: int
    tokens: tuple[int, ...]
    said: bool = False


@dataclass(slots=True)
class _Reading:
    """The clauses of a sentence, each with the argument of another that holds it."""

    tokens: Sequence[str]
    clauses: list[Clause]
    parents: dict[int, tuple[Clause, Argument]] = field(default_factory=dict)

    def lower(self, i: int) -> str:
        return self.tokens[i].lower()

    def words(self, tokens: Iterable[int]) -> set[str]:
        return {self.lower(i) for i in tokens}


def sentence_facts(sentence: ParsedSentence) -> list[Fact]:
    """The facts of one sentence; if it has none, one of all its tokens (verb -1)."""
    tokens = sentence.tokens
    parts = sentence_parts(sentence)
    clauses = []

    for frame in sentence.frames or ():
        part = next(part for part in parts if frame.verb in part)
        tags = [tag if i in part else "O" for i, tag in enumerate(frame.tags)]
        clause = read_clause(tokens, tags)
        if clause is not None:
            clauses.append(clause)

    clauses = [with_shared_auxiliary(tokens, c, clauses) for c in clauses]
    reading = _Reading(tokens, clauses)
    for clause in clauses:
        parent = _parent(clause, clauses)
        if parent is not None:
            reading.parents[clause.verb] = parent

    facts = []
    for clause in clauses:
        status = _status(reading, clause)
        if status in _TOLD:
            facts += _clause_facts(reading, clause, status == "said")

    facts = [fact for fact in facts if _says_something(tokens, fact)]
    # "It was ranked 16th" does not say what was.
    bare = {c.verb for c in clauses if reading.words(c.subject) == {"it"}}
    facts = [f for f in facts if f.verb not in bare or len(f.tokens) > _BARE]
    return _distinct(facts) or [Fact(-1, tuple(range(len(tokens))))]


def _says_something(tokens: Sequence[str], fact: Fact) -> bool:
    """Whether a fact can be understood alone: it holds its verb and more, and not "I"
    without who says so."""
    if fact.verb not in fact.tokens or len(fact.tokens) < 2:
        return False
    speakers = fact.tokens
    if tokens[fact.verb].lower() in SAYING:
        speakers = fact.tokens[:1]

    said = any(is_pronoun(tokens, i) for i in speakers if tokens[i] == "I")
    return not said and not {tokens[i] for i in speakers} & _SPEAKER


def _parent(
    clause: Clause, clauses: Sequence[Clause]
) -> tuple[Clause, Argument] | None:
    """The shortest argument of another clause that holds this one's verb."""
    best: tuple[Clause, Argument] | None = None
    for other in clauses:
        for argument in other.arguments:
            if other.verb == clause.verb or clause.verb not in argument.tokens:
                continue
            if best is None or len(argument.tokens) < len(best[1].tokens):
                best = (other, argument)
    return best


def _status(reading: _Reading, clause: Clause, steps: int = 0) -> str:
    """What the sentence says of a clause.

    One of ``stated``, ``said`` (by somebody), ``held`` (by the fact of another verb, or
    no fact at all), ``open`` (wanted, feared, under a condition).
    """
    if _is_torn(reading, clause) or _is_general(reading, clause):
        return "held"

    # A condition that the parser did not join to its clause; "more than like it".
    subject = clause.subject
    before = {reading.lower(i - 1) for i in (min(subject), clause.predicate[0]) if i}
    if before & _LIKE:
        return "held"
    if min(subject) > 0 and reading.lower(min(subject) - 1) in _CONDITIONS:
        return "open"

    if _says_nothing_yet(reading, clause) or _describes(reading, clause):
        return "held"

    words = reading.words(clause.predicate)
    finite = bool(words & FINITE)
    being = reading.lower(clause.verb).endswith("ing") or "being" in words
    participle = being and not finite
    parent = reading.parents.get(clause.verb)
    if parent is None or steps > len(reading.clauses):
        return "held" if participle else "stated"

    # "it was Ann that left", "nothing that helped"; "he will not rest before he wins".
    other, argument = parent
    around = reading.words(other.predicate)
    cleft = reading.words(other.subject) == {"it"} and reading.lower(other.verb) in BE
    if clause.relative and (cleft or around & NEGATIONS):
        return "held"
    # "Before it starts" is to come; "when he was ten" is true of then alone.
    timed = argument.role == "ARGM-TMP"
    if timed and (around & POSSIBLE or not _is_past(reading, clause)):
        return "open"
    if timed and reading.lower(clause.verb) in BE:
        return "held"

    above = _status(reading, other, steps + 1)
    if above == "open" or participle:
        return above if above == "open" else "held"
    return _status_below(reading, clause, other, argument, above)


def _is_torn(reading: _Reading, clause: Clause) -> bool:
    """Whether a part of what a clause says stands elsewhere in the sentence."""
    words = reading.words(clause.predicate)
    subject = clause.subject
    if not subject or reading.words(subject) <= _NO_SUBJECTS or clause.infinitive:
        return True

    # "Rarely does she smile" would lose its "does"; "nor did Bob leave" its "nor".
    if _inverted(reading, clause):
        return True

    # "neither helps nor harms" is one; "did not eat | , drink" shares its "did".
    unhelped = words & _NOT_ALONE and not words & AUXILIARIES
    if unhelped or words & {"neither", "nor"}:
        return True

    # "Reports | that Ann resigned | were false": the parser lost what it is about.
    cut = reading.lower(subject[0]) == "that"
    first = subject[0] + cut
    after_noun = first > 1 and reading.lower(first - 1) == "that"
    if after_noun and reading.tokens[first - 2].isalpha():
        for other in reading.clauses:
            inside = other.subject[:1] == (first,) and other.verb in subject
            held = other.relative or other.infinitive or undergone(other)
            if inside and (cut or not held):
                return True

    return False


def _is_general(reading: _Reading, clause: Clause) -> bool:
    """Whether a clause is of whatever there may be, or asks."""
    # "whatever he can do" is nothing that he does.
    if reading.lower(clause.subject[0]) in WHATEVER and clause.subject[1:]:
        return True

    # "a fine for every flight that is late": not every flight is.
    bare = reading.words(clause.predicate) <= AUXILIARIES and not clause.after
    general = clause.relative and reading.lower(clause.arguments[0].tokens[0]) in _ANY
    return general or bare or reading.tokens[-1] == "?"


def _says_nothing_yet(reading: _Reading, clause: Clause) -> bool:
    """Whether what is said, or the other of two things, is missing."""
    # "Police said", "police told her" are no facts without what they said.
    core = {argument.role for argument in clause.arguments if argument.core}
    saying = reading.lower(clause.verb) in SAYING and not undergone(clause)
    if saying and (len(core) < 2 or "ARG1" not in core):
        return True

    # "it is disguised or left out" does not say which.
    start = clause.verb
    while start - 1 in clause.predicate:
        start -= 1
    return reading.lower(start - 1) == "or"


def _describes(reading: _Reading, clause: Clause) -> bool:
    """Whether a verb without a tense only says which thing is meant."""
    if reading.words(clause.predicate) & FINITE:
        return False
    named = reading.lower(clause.verb) in _NAMED and undergone(clause)
    if named or _inside(reading, clause):
        return True

    # "a sentence, suspended for two years": which sentence, and no fact of its own.
    behind_comma = reading.tokens[clause.predicate[0] - 1] == ","
    return behind_comma and undergone(clause)


def _status_below(
    reading: _Reading, clause: Clause, other: Clause, argument: Argument, above: str
) -> str:
    """What the sentence says of a clause in an argument of another, by what it says of
    that."""
    subject = clause.subject
    span = argument.tokens
    finite = bool(reading.words(clause.predicate) & FINITE)
    own = [i for i in subject if i in span]
    if not own or (reading.lower(clause.verb) in PARTICIPLES and not finite):
        return "held"

    # "A video | uploaded by Bob | shows": which video, and no fact of its own.
    attached = span[-1] + 1 == other.predicate[0] and min(own) == span[0]
    if attached and undergone(clause) and not (finite or clause.relative):
        return "held"

    start = span.index(min(own))
    opening = [reading.lower(i) for i in span[:start]]
    known = [i for a in clause.arguments for i in a.tokens]
    leading = [i for i in span[:start] if i not in known]
    if _CONDITIONS & set(opening):
        return "open"

    # "I am not sure he left", "it is unlikely that he left".
    introducing = [word for word in opening if word != "that"][-1:]
    denied = argument.core and _denied(reading, other)
    if (denied or _DOUBT & set(introducing)) and not clause.relative:
        return "open"

    whole = reading.words(leading) <= _SUBORDINATE
    joined = bool(opening) and opening[-1] in JOINING and finite
    said = "said" if above == "said" else "stated"
    if clause.relative or not (whole or joined):
        return said if clause.relative or finite else "held"

    if not argument.core:
        opens = bool(leading) and leading[-1] == min(own) - 1
        return said if opens or finite else "held"

    claimed = reading.lower(other.verb) in SAYING and not other.infinitive
    return "said" if claimed and not _denied(reading, other) else "open"


def _is_past(reading: _Reading, clause: Clause) -> bool:
    """Whether a clause is told as something past, as far as the forms tell."""
    verb = reading.lower(clause.verb)
    formed = verb.endswith("ed") or verb in english().irregular
    return formed or bool(reading.words(clause.predicate) & _PAST)


def _inside(reading: _Reading, clause: Clause) -> bool:
    """Whether a verb without a tense stands between a subject and its verb: "the man |
    shot in May | was buried"."""
    for other in reading.clauses:
        between = range(clause.verb, other.predicate[0])
        same = other.subject == clause.subject and not clause.relative
        if same and between and not reading.words(between) & JOINING:
            return has_tense(reading.tokens, other)
    return False


def _inverted(reading: _Reading, clause: Clause) -> bool:
    """Whether an auxiliary stands before the subject: "not once did Bob complain"."""
    start = clause.subject[0] if clause.subject else 0
    before = [reading.lower(i) for i in range(max(start - 2, 0), start)]
    denied = {*before} & {"nor", "neither"}
    return bool({*before[-1:]} & (FINITE if denied else _DO))


def _denied(reading: _Reading, clause: Clause) -> bool:
    """Whether what the clause says is denied, said by nobody, or only possible."""
    words = reading.words(clause.predicate)
    some = reading.words(clause.subject[:2])
    nobody = some & _NOBODY and not some & {"a", "the"}
    # "stopped short of saying", "without saying"
    near = reading.words(range(max(clause.verb - 2, 0), clause.verb))
    avoided = near & _NO or near == {"short", "of"}
    denied = words & (_NOBODY | POSSIBLE) or nobody or avoided
    return bool(denied) or _inverted(reading, clause)


def _clause_facts(reading: _Reading, clause: Clause, said: bool) -> list[Fact]:
    """The core with each adjunct, or the core alone."""
    needed = []
    adjuncts = []
    alone = not any(argument.core for argument in clause.after)

    for argument in clause.arguments:
        opening = reading.lower(argument.tokens[0])
        # "ended in tragedy": what follows a verb without an object completes it.
        completes = alone and argument in clause.after[:1]
        # "a fine of $38 for every flight"
        limits = bool(reading.words(argument.tokens) & _EACH)
        if argument.core or completes or limits or opening in _CONDITIONS:
            needed.append(argument)
        else:
            adjuncts.append(argument)

    chosen = [] if adjuncts else [needed]
    for number, adjunct in enumerate(adjuncts):
        # "He cut grass with a mower when it fell": what "it" is stands before.
        first = 0 if reading.words(adjunct.tokens) & _THINGS else number
        chosen.append([*needed, *adjuncts[first : number + 1]])

    return [Fact(clause.verb, _written(reading, clause, c), said) for c in chosen]


def _written(
    reading: _Reading, clause: Clause, chosen: Sequence[Argument]
) -> tuple[int, ...]:
    """The predicate and these of its arguments as they are written."""
    order: list[int] = []
    for argument in clause.before:
        if argument in chosen:
            order += _without_asides(reading, argument)

    # "I met her ', Ann said" is written without gaps.
    if clause.before[1:] and not clause.moved and reading.lower(clause.verb) in SAYING:
        order = [*range(min(order), clause.predicate[0])]

    order += clause.predicate
    for argument in clause.after:
        if argument in chosen:
            order += _without_asides(reading, argument)

    if not clause.moved:
        order.sort()
    return _with_marks(reading.tokens, order)


def _without_asides(reading: _Reading, argument: Argument) -> list[int]:
    """An argument without relative clauses that give facts of their own.

    They are left out after a comma and after "a": what they say is not needed to know
    what is meant.
    """
    tokens = [*argument.tokens]
    opening = reading.lower(tokens[0])

    for clause in reading.clauses:
        start = clause.start
        if start is None or start not in tokens[1:] or clause.verb not in tokens:
            continue
        if reading.lower(start - 1) in PREPOSITIONS:
            start -= 1
        aside = opening in ("a", "an") or reading.tokens[start - 1] == ","
        if not aside or _status(reading, clause) not in _TOLD:
            continue

        # What was not understood to its end is left as it is.
        behind = [i for a in clause.after for i in a.tokens]
        end = max([*clause.predicate, *behind])
        whole = end + 1 not in tokens or reading.tokens[end + 1] in MARKS
        if whole:
            # Commas around it go with it.
            if reading.tokens[start - 1] == ",":
                start -= 1
                end += end + 1 in tokens and reading.tokens[end + 1] == ","
            tokens = [i for i in tokens if not start <= i <= end]

    ended = _without_commas(reading, tokens)
    # An age gives a unit of its own: "Ann Lee, 33".
    if argument.core and len(ended) > 2:
        before, last = (reading.tokens[i] for i in ended[-2:])
        if before == "," and last.isdecimal():
            ended = _without_commas(reading, ended[:-2])
    return ended


def _without_commas(reading: _Reading, tokens: list[int]) -> list[int]:
    """Tokens up to the last that is no comma."""
    end = len(tokens)
    while end > 1 and reading.tokens[tokens[end - 1]] == ",":
        end -= 1
    return tokens[:end]


def _with_marks(tokens: Sequence[str], order: Sequence[int]) -> tuple[int, ...]:
    """Adds marks and "to be" that stand between two neighbours; no marks at the
    ends."""
    marked: list[int] = []
    for i in order:
        between = range(marked[-1] + 1, i) if marked else range(0)
        if all(tokens[j] in _BETWEEN for j in between):
            marked += between
        if i not in marked:
            marked.append(i)

    while len(marked) > 1 and tokens[marked[0]] in OUTSIDE:
        marked.pop(0)
    while len(marked) > 1 and tokens[marked[-1]] in _UNFINISHED:
        marked.pop()
    return tuple(marked)


def _distinct(facts: Sequence[Fact]) -> list[Fact]:
    """The facts without those that another one of the same verb holds, and repeats."""
    distinct: dict[tuple[int, ...], Fact] = {}
    for fact in facts:
        words = set(fact.tokens)
        longer = (o for o in facts if o.verb == fact.verb and words < set(o.tokens))
        if next(longer, None) is None:
            distinct.setdefault(fact.tokens, fact)
    return list(distinct.values())
