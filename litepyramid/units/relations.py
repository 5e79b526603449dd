"""What each relation of Universal Dependencies gives, and the closed classes of English
words that decide what a sentence says of a clause."""

from typing import NamedTuple

from litepyramid.text import word_set


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
        ("Ann left", "Ann left because Bob was ill", "Bob was ill"),
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
    realised realize realized indicate indicated indicates ruled rules
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
FINITE = ("VBD", "VBZ")
PAST_FORMS = ("VBD", "VBN", "VBZ")
SUBJECTS = ("nsubj", "nsubj:pass", "csubj", "csubj:pass")
CLAUSES = word_set("root conj parataxis list ccomp advcl acl dep")
PEOPLE = ("men", "women", "people")
REFUSING = word_set(
    """
    refuse refused refuses refusing fail failed fails decline declined declines forgot
    avoid avoided avoids stop stopped stops threatened forbid banned barred
    """
)
BESIDE = word_set("appos nmod list dep")
NOT_FINITE = word_set("xcomp advcl acl")
CONDITIONS = word_set("if unless whether lest provided assuming once until except")
REASONS = word_set("because although though while whereas since")
TIMES = word_set("when as after while since")
NEGATIONS = word_set("not n't n’t never no neither nor hardly barely rarely seldom")
NOT = word_set("not n't n’t")
NOBODY = NEGATIONS | word_set("nobody none nothing few little")
ALWAYS_THERE = CONDITIONS | word_set(
    "every each only exclusively according without than"
)
MODALS = word_set("will would can could may might must shall should wo ca 'll ’ll 'd")
DO = word_set("do does did")
PAST = word_set("was were had did")
RELATIVE = word_set("who which that whom")
BOUND = word_set("of 's ’s than between as per")
ASKING = word_set("what how why whether who where when which whose")
ONE_OF_MANY = word_set("last first only")
DEFINITE = word_set("the this that these")
LONGEST_NAME = 6
ALL = word_set("every each all any only no")
ANY = word_set("any every each all no most many anyone everyone those whoever one")
ONE = word_set("a an another some")
SPEAKER = word_set("i we my our you your")
TOGETHER = word_set("each other both between together joint shared or nor")
SINGULAR = {"were": "was", "are": "is", "have": "has"}
DEATH = word_set("dead death died killed murder murdered dies")
LOOSE = word_set("and or but so nor")
COMMAS = word_set(", ( - – — --")
MARKS = word_set(", . ; : - -- – — ... … ! ? ( ) [ ] / ' \" `` '' “ ” ‘ ’")
