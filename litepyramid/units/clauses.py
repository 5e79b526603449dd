"""Frames of semantic roles as clauses: a predicate with the arguments that are its own.

An argument of a frame is a run of tagged tokens. A clause puts auxiliaries, negation
and particles to the verb, a noun in the place of its relative pronoun, and mends what a
labeller cuts wrongly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from litepyramid.text import word_set
from litepyramid.units.parses import QUOTES

FINITE = word_set(
    """
    am are is was were 's 're 'm ’s ’re ’m has have had 've ’ve does do did can could
    may might must shall should will would ca wo 'll 'd ’ll ’d ai cannot
    """
)
AUXILIARIES = FINITE | word_set("be been being having get got getting gets ought")
NEGATIONS = word_set("not n't n’t never no neither nor")
BE = word_set("am are is was were 's 're 'm ’s ’re ’m be been being")
PARTICIPLES = word_set(
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
RELATIVE = word_set("who which that whom whose where when why")
WHATEVER = word_set("what whatever whoever which whichever whom")
_ONE_OF_MANY = word_set("last first only thing things most best worst")
"""In a noun whose relative clause says which one is meant."""
_PLACES = word_set("where when why")
"""Relative words that stand for "in the house", not for "the house"."""
POSSIBLE = word_set("would could might may should will")
_SINGULAR = word_set("is was has does")
JOINING = word_set("and but that or")
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
_WITH_VERB = ("ARGM-NEG", "ARGM-MOD", "ARGM-PRT")
PREPOSITIONS = word_set(
    "in on at from to for with by of about into over under after before during despite"
)
_UNENDED = PREPOSITIONS | word_set("a an the last next my our your their its")
"""Words at which a phrase rarely ends."""
_PRONOUNS = word_set("i you he she it we they")
_DETERMINERS = word_set("a an the his her its their our my your this these")
DAYS = word_set(
    """
    monday tuesday wednesday thursday friday saturday sunday today yesterday tomorrow
    tonight
    """
)
OUTSIDE = word_set(", . ; : - -- – — ... …")
MARKS = OUTSIDE | QUOTES | word_set("! ? ( ) [ ] /")


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
        alone = len(run) == 1 and lower[run[0]] not in DAYS | RELATIVE
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
    """No argument ends with an auxiliary: "on 31 October may | have been"."""
    ended = [*tags]
    for i, (tag, following) in enumerate(pairwise(tags)):
        last = tag.startswith("I-") and not following.startswith("I-")
        if last and lower[i] in FINITE and lower[i + 1] == "have":
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
    return tags[i] == "O" and lower[i] in AUXILIARIES | NEGATIONS


def _in_a_name(tokens: Sequence[str], verb: int) -> bool:
    """Whether a verb inside a sentence is capitalised, and most words are not: it is
    part of a title ("Have Your Say")."""
    words = [token for token in tokens if token.isalpha()]
    capitals = [word for word in words if word[0].isupper()]
    inside = verb > 0 and tokens[verb - 1] not in MARKS
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
            if unended and lower[i] not in RELATIVE | JOINING | AUXILIARIES:
                runs[-1][1].append(i)
        if tag == "O" or tag[2:] == "V":
            continue
        role = tag[2:].removeprefix("R-").removeprefix("C-")
        role = role.removesuffix("-2").removesuffix("-3")
        continues = tag.startswith("I-") and bool(runs) and runs[-1][0] == role
        # "Except | as provided in section 4"
        excepted = bool(runs) and role.startswith("ARGM") and lower[i - 1] == "except"
        if (continues or excepted) and runs[-1][1][-1] == i - 1:
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
    if not core or tokens[clause.verb].lower() in SAYING:
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
    return not is_pronoun(tokens, start)


def is_pronoun(tokens: Sequence[str], i: int) -> bool:
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
        partial = tokens[run[-1] - 1].lower() == "of" and words[-1] in RELATIVE
        if partial or "whose" in words:
            return None

        # "that" alone is also a subject of its own ("that was wrong").
        relative = words[-1] in RELATIVE
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
        unended = [n for n in nouns if tokens[n.tokens[-1]].lower() in PREPOSITIONS]
        nouns = [noun for noun in nouns if noun not in unended]

    # "who Suarez will face" does not say whom.
    core = [noun for noun in nouns if noun.core]
    unled = start is not None and tokens[start - 1].lower() not in PREPOSITIONS
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
    unclear = not pronoun and named & PREPOSITIONS
    if unclear or named & (WHATEVER | _ONE_OF_MANY):
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


def with_shared_auxiliary(
    tokens: Sequence[str], clause: Clause, clauses: Sequence[Clause]
) -> Clause:
    """Gives a participle the auxiliary that it shares: "was picked up and | taken
    home", "may have gone in and | got lost".

    A regular participle looks like a past form. It is one of a passive if its subject
    is no agent, neither there nor here, and the verb does not tell what just happens.
    """
    if has_tense(tokens, clause):
        return clause

    word = tokens[clause.verb].lower()
    participle = word in PARTICIPLES or word.endswith("ed")
    auxiliary = {tokens[i].lower() for i in clause.predicate} & AUXILIARIES
    own = auxiliary or word in _OF_THEMSELVES
    passive = participle and not own and undergone(clause)

    for other in clauses:
        words = {tokens[i].lower() for i in other.predicate}
        shared = other.subject == clause.subject and other.verb < clause.verb
        possible = "have" in words and bool(words & POSSIBLE)
        fits = possible or (passive and words & BE)
        if shared and fits and not words & NEGATIONS:
            borrowed = [i for i in other.predicate if tokens[i].lower() in AUXILIARIES]
            return replace(clause, predicate=(*borrowed, *clause.predicate))

    return clause


def has_tense(tokens: Sequence[str], clause: Clause) -> bool:
    """Whether an auxiliary gives the predicate a tense."""
    return any(tokens[i].lower() in FINITE for i in clause.predicate)


def undergone(clause: Clause) -> bool:
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
    # "the sign | Ann | held", but not "designer | Ann Lee | left".
    singled = tokens[core[0].tokens[0]].lower() in _DETERMINERS
    named = first[:1].isupper() and first != "I" and singled
    nominal = named or first.lower() in _DETERMINERS or is_pronoun(tokens, start)
    active = not {tokens[i].lower() for i in clause.predicate} & BE
    return adjacent and nominal and active
