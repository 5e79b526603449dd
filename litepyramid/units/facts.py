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
from dataclasses import dataclass, field, replace
from itertools import pairwise

from litepyramid.judges.lexical.features import english
from litepyramid.units.parsers.embedded.frames import word_set
from litepyramid.units.parses import QUOTES, ParsedSentence, sentence_parts

_FINITE = word_set(
    """
    am are is was were 's 're 'm ’s ’re ’m has have had 've ’ve does do did can could
    may might must shall should will would ca wo 'll 'd ’ll ’d ai cannot
    """
)
_AUXILIARIES = _FINITE | word_set("be been being having get got getting gets ought")
_NEGATIONS = word_set("not n't n’t never no neither nor")
_BE = word_set("am are is was were 's 're 'm ’s ’re ’m be been being")

_PARTICIPLES = word_set(
    """
    beaten been bitten born broken chosen done drawn driven eaten fallen flown forbidden
    forgotten frozen given gone grown hidden known ridden risen seen shaken shown spoken
    stolen sworn taken thrown torn withdrawn woken worn written
    """
)
"""Participles that are no past forms."""
_OF_THEMSELVES = word_set(
    """
    appeared arrived began burst collapsed crashed died disappeared dropped emerged
    ended erupted escaped exploded fell fled happened landed lived moved occurred
    returned rose sank started stayed survived turned went
    """
)
"""Past forms of verbs that tell what happened to their subject by nobody's doing."""

_RELATIVE = word_set("who which that whom whose where when why")
_WHATEVER = word_set("what whatever whoever which whichever whom")
_ONE_OF_MANY = word_set("last first only thing things most best worst")
"""In a noun whose relative clause says which one is meant."""
_PLACES = word_set("where when why")
"""Relative words that stand for "in the house", not for "the house"."""

_SUBORDINATE = word_set(
    """
    that after although as because before but since so than though until when whenever
    where whereas while and , : ' " “ ‘ `` -
    """
)
"""Words that may stand before the subject of a clause."""

_TOLD = ("stated", "said")
_POSSIBLE = word_set("would could might may should will")
_SINGULAR = word_set("is was has does")
_ANY = word_set("every any each no all whatever most many some few one people those")
_JOINING = word_set("and but that or")
_LIKE = word_set("than like")
_NAMED = word_set("called named dubbed titled entitled aged")
_THINGS = word_set("it its they them their")
_PAST = word_set("was were had did 'd hit put cut set shut let cost")
_CONDITIONS = word_set("if unless whether lest provided assuming should once until")

_DOUBT = word_set(
    """
    unsure unlikely uncertain unclear doubtful impossible possible likely hopeful afraid
    hope hopes fear fears chance doubt doubts possibility guarantee claim claims
    allegation allegations accusation accusations rumour rumours rumor rumors suggestion
    suggestions concern concerns speculation idea
    """
)
"""What may stand before a clause that need not be true: "claims that he left"."""
_SAYING = word_set(
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
    acknowledged acknowledges allege alleged alleges understand understood realise
    realised realize realized indicate indicated indicates
    """
)
_WITH_VERB = ("ARGM-NEG", "ARGM-MOD", "ARGM-PRT")
_PREPOSITIONS = word_set(
    "in on at from to for with by of about into over under after before during despite"
)
_UNENDED = _PREPOSITIONS | word_set("a an the last next my our your their its")
"""Words at which a phrase rarely ends."""
_PRONOUNS = word_set("i you he she it we they")
_SPEAKER = word_set("me my mine myself")
_DETERMINERS = word_set("a an the his her its their our my your this these")
_NO_SUBJECTS = _RELATIVE | word_set(
    """
    what whatever whoever her his its my our their your the a an this those these anyone
    everyone someone each
    """
)
DAYS = word_set(
    """
    monday tuesday wednesday thursday friday saturday sunday today yesterday tomorrow
    tonight
    """
)
_OUTSIDE = word_set(", . ; : - -- – — ... …")
_UNFINISHED = _OUTSIDE | word_set("and or but including")
"""Words that do not end a fact."""
_MARKS = _OUTSIDE | QUOTES | word_set("! ? ( ) [ ] /")
_BETWEEN = _MARKS | {"to", "be", "been", "being", "have"}
"""Tokens that stay where they stand between two tokens of a fact."""
_BARE = 5
"""Tokens of a fact about "it" that hardly says anything."""


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a predicate, its role without prefixes and numbers of
    neighbours."""

    role: str
    tokens: tuple[int, ...]

    @property
    def core(self) -> bool:
        """Whether the predicate is not whole without it."""
        return not self.role.startswith("ARGM")


@dataclass(frozen=True, slots=True)
class Clause:
    """A predicate with its arguments, as far as they become facts.

    Attributes:
        verb: The token that the frame is of.
        predicate: The verb with its auxiliaries, modals, negation and particles.
        before: Arguments written before the predicate.
        after: Arguments written after it.
        infinitive: Whether "to" stands before its verb, and nothing that has a tense.
        relative: Whether it is a relative clause with a pronoun or a noun before it.
        moved: Whether its noun was moved behind the verb ("the gun he used").
        start: Where the relative clause begins, if a pronoun says so.
    """

    verb: int
    predicate: tuple[int, ...]
    before: tuple[Argument, ...]
    after: tuple[Argument, ...]
    infinitive: bool = False
    relative: bool = False
    moved: bool = False
    start: int | None = None

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """All of them, as they are written."""
        return self.before + self.after

    @property
    def subject(self) -> tuple[int, ...]:
        """Tokens before the predicate that are no adjuncts."""
        core = [argument.tokens for argument in self.before if argument.core]
        return tuple(i for tokens in core for i in tokens)


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

    clauses = [_with_shared_auxiliary(tokens, c, clauses) for c in clauses]
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
    if tokens[fact.verb].lower() in _SAYING:
        speakers = fact.tokens[:1]

    said = any(_is_pronoun(tokens, i) for i in speakers if tokens[i] == "I")
    return not said and not {tokens[i] for i in speakers} & _SPEAKER


def read_clause(tokens: Sequence[str], tags: Sequence[str]) -> Clause | None:
    """A frame as a clause; None if nothing stands before its verb, or it has none."""
    lower = [token.lower() for token in tokens]
    tags = _without_auxiliary_ends(lower, tags)
    verb = [i for i, tag in enumerate(tags) if tag[2:] == "V"]
    if not verb:
        return None

    if _in_a_name(tokens, verb[0]):
        return None

    predicate = set(verb)
    arguments = []
    for role, run in _runs(lower, tags):
        alone = len(run) == 1 and lower[run[0]] not in DAYS | _RELATIVE
        if role in _WITH_VERB or (
            role.startswith("ARGM") and alone and run[0] > 0 and lower[run[0]].isalpha()
        ):
            predicate.update(run)
        elif role != "ARGM-DIS":
            arguments.append(Argument(role, run))

    # Auxiliaries between the subject and the verb have no role of their own; a few
    # words may stand behind one: "were | almost certainly | linked".
    first = verb[0] - 1
    while first >= 0:
        run = _adjunct_ending(arguments, first)
        if first in predicate or _goes_with_verb(lower, tags, first):
            predicate.add(first)
            first -= 1
        elif 0 < len(run) < 4 and _goes_with_verb(lower, tags, run[0] - 1):
            predicate.update(run)
            first = run[0] - 1
        else:
            break
    arguments = [a for a in arguments if a.tokens[0] not in predicate]

    # "are yet to become" has a tense; "to become" alone has none.
    infinitive = first >= 0 and lower[first] == "to"
    if infinitive and any(i < first for i in predicate):
        infinitive = False
        predicate.add(first)

    # "There were fires": the word is no argument, but nothing can be said without it.
    if first >= 0 and tags[first] == "O" and lower[first] in ("there", "it"):
        arguments.insert(0, Argument("ARG0", (first,)))

    start = min(predicate)
    before = tuple(a for a in arguments if a.tokens[0] < start)
    after = tuple(a for a in arguments if a.tokens[0] >= start)
    place = tuple(sorted(predicate))
    clause = Clause(verb[0], place, before, after, infinitive)
    nominal = _without_relative(tokens, clause)

    return None if nominal is None else _with_one_subject(tokens, nominal)


def _without_auxiliary_ends(lower: Sequence[str], tags: Sequence[str]) -> list[str]:
    """No argument ends with the auxiliary behind it: "on 31 October may | have been"."""
    ended = [*tags]
    for i, (tag, following) in enumerate(pairwise(tags)):
        last = tag.startswith("I-") and not following.startswith("I-")
        if last and lower[i] in _FINITE and lower[i + 1] == "have":
            ended[i] = "O"
    return ended


def _adjunct_ending(arguments: Sequence[Argument], i: int) -> tuple[int, ...]:
    """The adjunct whose last word is `i`, if there is one."""
    for argument in arguments:
        if argument.tokens[-1] == i and not argument.core:
            return argument.tokens
    return ()


def _goes_with_verb(lower: Sequence[str], tags: Sequence[str], i: int) -> bool:
    """Whether a word before a verb is an auxiliary or a negation without a role."""
    return tags[i] == "O" and lower[i] in _AUXILIARIES | _NEGATIONS


def _in_a_name(tokens: Sequence[str], verb: int) -> bool:
    """Whether a verb inside a sentence is capitalised, and most words are not: it is
    part of a title ("Have Your Say")."""
    words = [token for token in tokens if token.isalpha()]
    capitals = [word for word in words if word[0].isupper()]
    inside = verb > 0 and tokens[verb - 1] not in _MARKS
    return inside and tokens[verb][:1].isupper() and 2 * len(capitals) < len(words)


def _runs(
    lower: Sequence[str], tags: Sequence[str]
) -> list[tuple[str, tuple[int, ...]]]:
    """The arguments of a BIO row: roles without "R-", "C-" and "-2", and tokens.

    One that ends at "last" goes on, if the word behind has no role: "last | night".
    """
    runs: list[tuple[str, list[int]]] = []
    for i, tag in enumerate(tags):
        if tag == "O" and runs and runs[-1][1][-1] == i - 1:
            unended = lower[i - 1] in _UNENDED and lower[i].isalnum()
            if unended and lower[i] not in _RELATIVE | _JOINING | _AUXILIARIES:
                runs[-1][1].append(i)
        if tag == "O" or tag[2:] == "V":
            continue
        role = tag[2:].removeprefix("R-").removeprefix("C-")
        role = role.removesuffix("-2").removesuffix("-3")
        continues = tag.startswith("I-") and bool(runs) and runs[-1][0] == role
        if continues and runs[-1][1][-1] == i - 1:
            runs[-1][1].append(i)
        else:
            runs.append((role, [*range(_number_before(lower, tags, i), i + 1)]))

    return [(role, tuple(run)) for role, run in runs]


def _number_before(lower: Sequence[str], tags: Sequence[str], i: int) -> int:
    """Where "35 - metre - | long" begins, if words with hyphens have lost a number."""
    start = i
    while start > 1 and lower[start - 1] == "-" and tags[start - 2] == "O":
        start -= 2
    return start if lower[start][0].isdigit() else i


def _with_one_subject(tokens: Sequence[str], clause: Clause) -> Clause:
    """Of several arguments before the verb, the one next to it is the subject.

    Others are phrases of place and time, what is quoted before a verb of saying, or
    what the parser did not understand.
    """
    core = [argument for argument in clause.before if argument.core]
    if not core or tokens[clause.verb].lower() in _SAYING:
        return clause

    subject = core.pop()
    while core and _one_phrase(tokens, core[-1], subject):
        first = core.pop()
        joined = range(first.tokens[0], subject.tokens[-1] + 1)
        subject = replace(subject, tokens=tuple(joined))

    adjuncts = [argument for argument in clause.before if not argument.core]
    return replace(clause, before=(*adjuncts, subject))


def _one_phrase(tokens: Sequence[str], first: Argument, second: Argument) -> bool:
    """Whether the parser cut a phrase in two: "the clip | of Baron", "Prince | Bin",
    "doors | of | cars"."""
    end = first.tokens[-1]
    start = second.tokens[0]
    if tokens[start - 1] == "of":
        return True
    if end + 1 != start:
        return False
    return not _is_pronoun(tokens, start)


def _is_pronoun(tokens: Sequence[str], i: int) -> bool:
    """Whether a word is a pronoun; the "I" of "World War I" is none."""
    numbered = i > 0 and tokens[i] == "I" and tokens[i - 1][:1].isupper()
    return tokens[i].lower() in _PRONOUNS and not numbered


def _without_relative(tokens: Sequence[str], clause: Clause) -> Clause | None:
    """Puts nouns in the place of relative pronouns; None where that cannot be done.

    "the man | who | left" is "the man left"; "a video | in which | she | dances" is
    "she dances in a video", the noun moved behind the verb."""
    pronoun = ""
    start: int | None = None
    preposition: tuple[int, ...] = ()
    nouns: list[Argument] = []

    for argument in clause.before:
        run = argument.tokens
        words = [tokens[i].lower() for i in run]
        # "most of whom" are not all of them.
        partial = tokens[run[-1] - 1].lower() == "of" and words[-1] in _RELATIVE
        if partial or "whose" in words:
            return None

        # "that" alone is also a subject of its own ("that was wrong").
        relative = words[-1] in _RELATIVE
        follows = bool(nouns) or (argument.core and len(run) > 1)
        relative = relative and (words[-1] != "that" or follows)
        if relative:
            pronoun = words[-1]
            start = start or run[-1]
            run = run[:-1]
            if nouns and 0 < len(run) < 3:
                preposition = run
                start = run[0]
                run = ()

        if run:
            nouns.append(replace(argument, tokens=run))

    if pronoun in _PLACES:
        # "the town where she lives" does not say alone that she lives.
        if not clause.after:
            return None
        return replace(
            clause,
            before=tuple(nouns[-1:]),
            relative=True,
            start=start,
        )

    # "parts of | Gaza, which is small": what is small is Gaza.
    if pronoun:
        unended = [n for n in nouns if tokens[n.tokens[-1]].lower() in _PREPOSITIONS]
        nouns = [noun for noun in nouns if noun not in unended]

    # "who Suarez will face" does not say whom.
    core = [noun for noun in nouns if noun.core]
    unled = start is not None and tokens[start - 1].lower() not in _PREPOSITIONS
    if unled and core and core[0].tokens[0] > (start or 0):
        return None

    if len(core) < 2 or not (pronoun or _follows_noun(tokens, core, clause)):
        if pronoun:
            nouns = [_last_joined(tokens, noun, clause) for noun in nouns]
        return replace(
            clause,
            before=tuple(nouns),
            relative=bool(pronoun),
            start=start,
        )

    # "what they need" names nothing; "rooms in flats he let" does not say which of them
    # he let, and "the last room he let" is no last room elsewhere.
    named = {tokens[i].lower() for i in core[0].tokens}
    unclear = not pronoun and named & _PREPOSITIONS
    if unclear or named & (_WHATEVER | _ONE_OF_MANY):
        return None

    noun = replace(core[0], tokens=(*preposition, *core[0].tokens))
    nouns.remove(core[0])
    after = (*clause.after, noun) if preposition else (noun, *clause.after)
    return replace(
        clause,
        before=tuple(nouns),
        after=after,
        relative=True,
        moved=True,
        start=start,
    )


def _last_joined(tokens: Sequence[str], noun: Argument, clause: Clause) -> Argument:
    """Of "Ann and Bob, who is ill" only Bob, for the verb is of one person."""
    first = tokens[clause.predicate[0]].lower()
    for place, i in enumerate(noun.tokens[:-1]):
        named = tokens[noun.tokens[place + 1]][:1].isupper()
        if tokens[i] == "and" and named and first in _SINGULAR:
            return replace(noun, tokens=noun.tokens[place + 1 :])
    return noun


def _with_shared_auxiliary(
    tokens: Sequence[str], clause: Clause, clauses: Sequence[Clause]
) -> Clause:
    """Gives a participle the auxiliary that it shares: "was picked up and | taken
    home", "may have gone in and | got lost".

    A regular participle looks like a past form. It is one of a passive if its subject
    is no agent, neither there nor here, and the verb does not tell what just happens.
    """
    if _has_tense(tokens, clause):
        return clause

    word = tokens[clause.verb].lower()
    participle = word in _PARTICIPLES or word.endswith("ed")
    auxiliary = {tokens[i].lower() for i in clause.predicate} & _AUXILIARIES
    own = auxiliary or word in _OF_THEMSELVES
    passive = participle and not own and _undergone(clause)

    for other in clauses:
        words = {tokens[i].lower() for i in other.predicate}
        shared = other.subject == clause.subject and other.verb < clause.verb
        possible = "have" in words and bool(words & _POSSIBLE)
        fits = possible or (passive and words & _BE)
        if shared and fits and not words & _NEGATIONS:
            borrowed = [i for i in other.predicate if tokens[i].lower() in _AUXILIARIES]
            return replace(clause, predicate=(*borrowed, *clause.predicate))

    return clause


def _has_tense(tokens: Sequence[str], clause: Clause) -> bool:
    return any(tokens[i].lower() in _FINITE for i in clause.predicate)


def _undergone(clause: Clause) -> bool:
    """Whether the subject is what something is done to, as PropBank says."""
    roles = [argument.role for argument in clause.before if argument.core]
    return roles == ["ARG1"]


def _follows_noun(
    tokens: Sequence[str], core: Sequence[Argument], clause: Clause
) -> bool:
    """Whether the subject begins a relative clause without a pronoun: "the gun | he |
    used"."""
    if any(argument.core for argument in clause.after):
        return False
    start = core[1].tokens[0]
    adjacent = core[0].tokens[-1] + 1 == start
    first = tokens[start]
    named = first[:1].isupper() and first != "I"
    nominal = named or first.lower() in _DETERMINERS or _is_pronoun(tokens, start)
    active = not {tokens[i].lower() for i in clause.predicate} & _BE
    return adjacent and nominal and active


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
    words = reading.words(clause.predicate)
    subject = clause.subject
    if not subject or reading.words(subject) <= _NO_SUBJECTS or clause.infinitive:
        return "held"

    # "whatever he can do" is nothing that he does.
    if reading.lower(subject[0]) in _WHATEVER and subject[1:]:
        return "held"

    # "a fine for every flight that is late": not every flight is.
    bare = words <= _AUXILIARIES and not clause.after
    general = clause.relative and reading.lower(clause.arguments[0].tokens[0]) in _ANY
    if general or bare or reading.tokens[-1] == "?":
        return "held"

    # A condition that the parser did not join to its clause; "more than like it".
    before = {reading.lower(i - 1) for i in (min(subject), clause.predicate[0]) if i}
    if before & _LIKE:
        return "held"
    if min(subject) > 0 and reading.lower(min(subject) - 1) in _CONDITIONS:
        return "open"

    # "Police said" is no fact without what they said.
    core = [argument for argument in clause.arguments if argument.core]
    if reading.lower(clause.verb) in _SAYING and len(core) < 2:
        return "held"

    finite = bool(words & _FINITE)
    named = reading.lower(clause.verb) in _NAMED and _undergone(clause)
    if not finite and (named or _inside(reading, clause)):
        return "held"

    # "a sentence, suspended for two years": which sentence, and no fact of its own.
    behind_comma = reading.tokens[clause.predicate[0] - 1] == ","
    if behind_comma and not finite and _undergone(clause):
        return "held"

    being = reading.lower(clause.verb).endswith("ing") or "being" in words
    participle = being and not finite
    parent = reading.parents.get(clause.verb)
    if parent is None or steps > len(reading.clauses):
        return "held" if participle else "stated"

    # "it was Ann that left", "nothing that helped"; "he will not rest before he wins".
    other, argument = parent
    around = reading.words(other.predicate)
    cleft = reading.words(other.subject) == {"it"} and reading.lower(other.verb) in _BE
    if clause.relative and (cleft or around & _NEGATIONS):
        return "held"
    # "Before it starts" is to come; "when he was ten" is true of then alone.
    timed = argument.role == "ARGM-TMP"
    if timed and (around & _POSSIBLE or not _is_past(reading, clause)):
        return "open"
    if timed and reading.lower(clause.verb) in _BE:
        return "held"

    above = _status(reading, other, steps + 1)
    if above == "open" or participle:
        return above if above == "open" else "held"

    span = argument.tokens
    own = [i for i in subject if i in span]
    if not own or (reading.lower(clause.verb) in _PARTICIPLES and not finite):
        return "held"

    # "A video | uploaded by Bob | shows": which video, and no fact of its own.
    attached = span[-1] + 1 == other.predicate[0] and min(own) == span[0]
    if attached and _undergone(clause) and not (finite or clause.relative):
        return "held"

    start = span.index(min(own))
    opening = [reading.lower(i) for i in span[:start]]
    known = [i for a in clause.arguments for i in a.tokens]
    leading = [i for i in span[:start] if i not in known]
    if _CONDITIONS & set(opening):
        return "open"

    # "I am not sure he left", "it is unlikely that he left".
    introducing = [word for word in opening if word != "that"][-1:]
    doubted = _denied(reading, other) or bool(_DOUBT & set(introducing))
    if argument.core and doubted and not clause.relative:
        return "open"

    whole = reading.words(leading) <= _SUBORDINATE
    joined = bool(opening) and opening[-1] in _JOINING and finite
    said = "said" if above == "said" else "stated"
    if clause.relative or not (whole or joined):
        return said if clause.relative or finite else "held"

    if not argument.core:
        opens = bool(leading) and leading[-1] == min(own) - 1
        return said if opens or finite else "held"

    claimed = reading.lower(other.verb) in _SAYING and not other.infinitive
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
        if same and between and not reading.words(between) & _JOINING:
            return _has_tense(reading.tokens, other)
    return False


def _denied(reading: _Reading, clause: Clause) -> bool:
    """Whether what the clause says is denied, or only possible."""
    words = reading.words(clause.predicate)
    return bool(words & (_NEGATIONS | _POSSIBLE))


def _clause_facts(reading: _Reading, clause: Clause, said: bool) -> list[Fact]:
    """The core with each adjunct, or the core alone."""
    needed = []
    adjuncts = []
    alone = not any(argument.core for argument in clause.after)

    for argument in clause.arguments:
        opening = reading.lower(argument.tokens[0])
        # "ended in tragedy": what follows a verb without an object completes it.
        completes = alone and argument in clause.after[:1]
        if argument.core or completes or opening in _CONDITIONS:
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
    if clause.before[1:] and not clause.moved and reading.lower(clause.verb) in _SAYING:
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
        if reading.lower(start - 1) in _PREPOSITIONS:
            start -= 1
        aside = opening in ("a", "an") or reading.tokens[start - 1] == ","
        if not aside or _status(reading, clause) not in _TOLD:
            continue

        # What was not understood to its end is left as it is.
        behind = [i for a in clause.after for i in a.tokens]
        end = max([*clause.predicate, *behind])
        whole = end + 1 not in tokens or reading.tokens[end + 1] in _MARKS
        if whole:
            # Commas around it go with it.
            if reading.tokens[start - 1] == ",":
                start -= 1
                end += end + 1 in tokens and reading.tokens[end + 1] == ","
            tokens = [i for i in tokens if not start <= i <= end]

    while len(tokens) > 1 and reading.tokens[tokens[-1]] == ",":
        tokens.pop()
    return tokens


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

    while len(marked) > 1 and tokens[marked[0]] in _OUTSIDE:
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
