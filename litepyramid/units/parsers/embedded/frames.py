"""Dependency trees, and semantic role frames made of them: for English, and for any
language.

English roles are coarse. The STU rules of ZB21 §3.2 look at what stands before the
verb, at where one argument after it ends and the next begins, and at negation; so that
is what is decided:

- Every verb gets a frame, and so does every copula, whose argument after the verb is
  the predicate without what modifies the whole clause. A verb after "without" has none:
  it did not happen.
- Subjects, objects, complements, obliques, adverbials and adverbial clauses are one
  argument each, with all the words below them; object and clause are one together
  ("wanted them to leave").
- A verb without a subject of its own takes one: of the first verb, with what stands
  before it ("at one point he fell and left"), of the governing verb, its object if
  there is one ("asked him to go"), of the main clause; a participle or relative clause
  the noun it modifies.
- Modal auxiliaries and negations are arguments, for conjoined verbs too. Other
  auxiliaries are none where the STU can do without them ("has joined", "was seen");
  they go with the modal or negation ("could be used") and with a participle that is no
  past form ("has taken").

Frames of any language need no word list or word order. ``V`` is the verb with its
auxiliaries, copula, particles, clitics and negation; ``FREE`` its own subject;
``FREE0`` one borrowed from another clause, which is written first; ``FREE1`` and so on
one argument each.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import dropwhile, pairwise

from litepyramid.language import DENIALS
from litepyramid.text import word_set
from litepyramid.units.parses import Frame


@dataclass(frozen=True, slots=True)
class Word:
    """One token of a dependency tree, with what Universal Dependencies say of it.

    `head` is an index in the sentence, for the root its own or -1; `deprel` has its
    subtype, such as ``nsubj:pass``; `xpos` is a Penn part of speech.
    """

    text: str
    upos: str
    head: int
    deprel: str
    xpos: str = ""
    feats: str = ""


class Tree:
    """A sentence as a dependency parser sees it, with the children of each word at
    hand."""

    def __init__(self, words: Sequence[Word]) -> None:
        self.words = words
        self.children: list[list[int]] = [[] for _ in words]
        self.tops: list[int] = []
        for i in range(len(words)):
            head = self.governor(i)
            (self.tops if head is None else self.children[head]).append(i)
        self.tokens = [word.text for word in words]
        self.tags = [word.upos for word in words]

    @property
    def root(self) -> int:
        """The first word without a head; 0 if there is none."""
        return self.tops[0] if self.tops else 0

    @property
    def depth(self) -> int:
        """Words on the longest way from a word without a head down to a word."""
        depth = 0
        level = self.tops
        while level:
            depth += 1
            level = [child for i in level for child in self.children[i]]
        return depth

    def relation(self, i: int) -> str:
        """The relation of a word to its head."""
        return self.words[i].deprel

    def base(self, i: int) -> str:
        """That relation without its subtype."""
        return self.words[i].deprel.split(":")[0]

    def lower(self, i: int) -> str:
        """The word, lower-cased."""
        return self.words[i].text.lower()

    def governor(self, i: int) -> int | None:
        """The head of a word; None of a root."""
        head = self.words[i].head
        return head if 0 <= head < len(self.words) and head != i else None

    def of(self, i: int, *relations: str) -> list[int]:
        """The children of a word in one of these relations."""
        return [c for c in self.children[i] if self.words[c].deprel in relations]

    def has(self, i: int, relation: str, word: str) -> bool:
        """Whether this word hangs on word `i` in this relation."""
        return word in map(self.lower, self.of(i, relation))

    def under(self, i: int, without: Iterable[int] = ()) -> list[int]:
        """A word and all words below it, in order, not going into `without`."""
        barred = {*without, i}
        below = [i]
        stack = [i]
        while stack:
            for child in self.children[stack.pop()]:
                if child not in barred:
                    barred.add(child)
                    below.append(child)
                    stack.append(child)
        return sorted(below)


_Group = tuple[str, list[int]]


_NEGATION = word_set("not n't n’t never nt")
_MODAL = word_set(
    "can could may might must shall should will would ought ca wo 'll 'd ’ll ’d"
)
_RELATIVE = word_set("who which that whom whose where when why")
_NOT_PREDICATES = word_set(
    """
    amod case mark cc compound fixed flat det advmod discourse punct goeswith aux
    aux:pass reparandum
    """
)
_NOT_ARGUMENTS = word_set(
    """
    aux aux:pass cop mark punct cc conj compound compound:prt fixed flat goeswith
    reparandum orphan list det case parataxis
    """
)
_SUBJECTS = ("nsubj", "nsubj:pass", "csubj", "csubj:pass", "nsubj:outer", "csubj:outer")
_OF_NOMINALS = word_set("det case amod cop nsubj compound nmod")
_OF_NOUN = word_set("det amod nummod compound flat appos acl fixed goeswith case cc")
_ROLES = {
    **dict.fromkeys(("nsubj", "csubj", "obl:agent"), "ARG0"),
    **dict.fromkeys(("obj", "ccomp", "expl"), "ARG1"),
    **dict.fromkeys(("iobj", "xcomp"), "ARG2"),
}
_CLAUSAL = word_set(
    """
    want wants wanted wanting let lets letting see sees saw seen seeing watch watches
    watched watching hear hears heard hearing expect expects expected expecting need
    needs needed make makes made making allow allows allowed allowing force forces
    forced forcing ask asks asked asking order orders ordered tell tells told telling
    urge urges urged help helps helped enable enables enabled
    """
)
_BE = word_set("am are is was were been")
_NOT_HAPPENED = word_set("without instead")
_PARTICIPLES = word_set(
    "become begun come drunk overcome rung run shrunk sprung stunk sung sunk swum"
)
"""Participles that are no past forms and do not end in n or ne."""

_OF_VERBS = word_set(
    "after against amid as before by despite during following since through under "
    "until via"
)
_EDGE = word_set(", . ; : - -- – — ... ! ? ( ) '' ``")


def dependency_frames(words: Sequence[Word]) -> tuple[Frame, ...]:
    """The frames of a sentence, in the order of their verbs."""
    return tuple(_Clauses(words).frames())


class _Clauses(Tree):
    """The predicates of a sentence and their arguments."""

    def frames(self) -> Iterator[Frame]:
        for i, word in enumerate(self.words):
            if word.deprel == "cop" and 0 <= word.head < len(self.words):
                yield self.frame(i, word.head)
            elif self.is_predicate(i):
                yield self.frame(i, i)

    def is_predicate(self, i: int) -> bool:
        word = self.words[i]
        governor = self.governor(i)
        if word.upos == "VERB":
            marks = map(self.lower, self.of(i, "mark", "case"))
            happened = _NOT_HAPPENED.isdisjoint(marks)
            return happened and word.deprel not in _NOT_PREDICATES

        # "will cost money and open in May": what a modal verb is joined to by a
        # conjunction is one
        relations = {self.base(c) for c in self.children[i]}
        verbal = relations & {"obj", "obl", "xcomp"} and not relations & _OF_NOMINALS
        if not verbal or word.upos not in {"ADJ", "NOUN"} or word.deprel != "conj":
            return False
        modal = governor is not None and bool(self.modals(governor))
        return modal and self.words[word.head].upos == "VERB"

    def modals(self, head: int) -> list[int]:
        return [c for c in self.of(head, "aux") if self.lower(c) in _MODAL]

    def auxiliaries(self, head: int, verb: int) -> list[int]:
        """The auxiliaries before a verb that neither rule 3 nor its modals give to the
        STU."""
        before = [c for c in self.children[head] if c < verb]
        chain = [
            c for c in before if self.base(c) == "aux" and self.lower(c) not in _MODAL
        ]
        negated = any(self.lower(c) in _NEGATION for c in before)
        if not chain or (not negated and self.lower(chain[0]) in {"do", "does", "did"}):
            return []
        if negated or len(chain) > 1 or head != verb or self.modals(head):
            return chain
        if self.lower(chain[0]) in _BE:
            return [] if chain[0] == verb - 1 else chain
        text = self.lower(verb)
        changed = text in _PARTICIPLES or text.endswith(("n", "ne"))

        return (
            chain if changed and self.lower(chain[0]) in {"has", "have", "had"} else []
        )

    def particle(self, verb: int) -> list[int]:
        """The particle just after a verb; none after "to", which rule 3 must see before
        it."""
        if verb + 1 < len(self.words) and (
            verb == 0 or self.lower(verb - 1) not in _BE | {"to"}
        ):
            after = verb + 1
            if (
                self.relation(after) == "compound:prt"
                and self.words[after].head == verb
            ):
                return [after]
        return []

    def child(self, i: int, *relations: str) -> int | None:
        """The first child with one of the relations, the relations tried in their
        order."""
        return next((c for relation in relations for c in self.of(i, relation)), None)

    def below(self, i: int, without: Iterable[int] = ()) -> list[int]:
        """All tokens below and including `i`, in order, not going into `without`;
        trimmed."""
        return self.trimmed(self.under(i, without))

    def trimmed(self, tokens: list[int]) -> list[int]:
        """Without punctuation at either end."""
        inside = [n for n, i in enumerate(tokens) if self.words[i].text not in _EDGE]
        return tokens[inside[0] : inside[-1] + 1] if inside else []

    def phrase(self, tokens: list[int]) -> list[int]:
        """Trimmed, and without prepositions and conjunctions before it."""
        outside = {"case", "cc", "mark"}
        return self.trimmed(
            list(dropwhile(lambda i: self.relation(i) in outside, tokens))
        )

    def subject_of(self, head: int, verb: int, steps: int = 0) -> list[int]:
        """Tokens of a predicate's subject, taken from elsewhere where it has none
        itself."""
        nominal = self.child(head, *_SUBJECTS)
        relation = self.relation(head)
        if nominal is not None:
            tokens = self.phrase(self.below(nominal))
            if relation == "acl:relcl" and self.lower(nominal) in _RELATIVE:
                return self.antecedent(head) + tokens
            return tokens

        governor = self.governor(head)
        # A parser of the user's own may give heads in a circle.
        if governor is None or steps > len(self.words):
            return []
        if self.base(head) == "acl":
            return self.antecedent(head)

        if relation == "xcomp" or (
            relation == "advcl" and self.has(head, "mark", "from")
        ):
            objects = self.of(governor, "obj", "iobj")
            if objects and objects[0] < head:
                return self.below(objects[0], [head])

        if relation in {"conj", "xcomp", "advcl", "parataxis"}:
            return [i for i in self.subject_of(governor, verb, steps + 1) if i < verb]
        return []

    def antecedent(self, clause: int) -> list[int]:
        """The noun phrase that a clause modifies, as far as it stands before the
        clause."""
        noun = self.governor(clause)
        if noun is None:
            return []
        start = min(self.below(clause), default=clause)
        return self.phrase([i for i in self.below(noun, [clause]) if i < start])

    def frame(self, verb: int, head: int) -> Frame:
        """The frame of a verb, or of a copula whose predicate is `head`."""
        groups = []
        nominal = self.child(head, *_SUBJECTS)
        subject = self.subject_of(head, verb)
        if subject:
            passive = self.child(head, "aux:pass") is not None
            groups.append(("ARG1" if passive or head != verb else "ARG0", subject))

        if self.relation(head) == "acl:relcl":
            groups.append(("ARG1", self.antecedent(head)))
        if head != verb:
            outside = [
                c for c in self.children[head] if not self.part_of_predicate(c, head)
            ]
            groups.append(("ARG2", self.below(head, outside)))
        else:
            groups += self.object_and_clause(verb)

        if min(subject, default=verb) < verb and (
            auxiliaries := self.auxiliaries(head, verb)
        ):
            groups.append(("ARGM-MOD", auxiliaries))

        for child in self.children[head]:
            if child not in (nominal, verb):
                groups += self.arguments(child, head, verb)

        if nominal is None and subject and self.relation(head) == "conj":
            groups += self.shared(head, verb, subject[0])
            governor = self.governor(head)
            bare = self.words[verb].xpos == "VB" or self.words[verb].upos != "VERB"
            if (
                governor is not None
                and head == verb
                and bare
                and not self.child(head, "aux")
            ):
                groups += [("ARGM-MOD", self.modals(governor))]

        if nominal is not None and self.relation(head) == "parataxis" and head == verb:
            groups += self.quoted(head)
        return self.tagged(verb, groups)

    def part_of_predicate(self, child: int, head: int) -> bool:
        """Whether a child of a copula's predicate is part of it, not of the clause."""
        relation = self.relation(child)
        base = self.base(child)
        if base == "nmod":
            # "in the sea | on the way": a second phrase is the clause's if the first
            # has a case
            own_case = any(c < head for c in self.of(head, "case"))
            return (
                not own_case or relation == "nmod:poss" or self.has(child, "case", "of")
            )

        if base in _OF_NOUN:
            return True
        if relation == "conj":
            clause = self.child(child, "cop", *_SUBJECTS) is not None
            return not clause and self.words[child].upos != "VERB"

        after_copula = not any(self.relation(i) == "cop" for i in range(child, head))
        # "angry at plans", "20 months old"
        if base == "obl":
            return after_copula and self.words[head].upos in {"ADJ", "ADV"}
        if relation == "advmod":
            return child < head and after_copula and self.lower(child) not in _NEGATION
        return relation in {"xcomp", "ccomp"} and child > head

    def object_and_clause(self, verb: int) -> list[_Group]:
        """Object and complement of a verb, "them to leave", as one argument."""
        objects = [c for c in self.of(verb, "obj") if c > verb]
        clauses = self.of(verb, "xcomp")
        if self.lower(verb) in _CLAUSAL:  # finite, or without "to"
            purposes = (c for c in self.of(verb, "advcl") if self.has(c, "mark", "to"))
            clauses = sorted([*clauses, *self.of(verb, "ccomp"), *purposes])
        if not objects or not clauses or clauses[0] < objects[0]:
            return []
        return [("ARG1", sorted({*self.below(objects[0]), *self.below(clauses[0])}))]

    def arguments(self, child: int, head: int, verb: int) -> list[_Group]:
        """The arguments that one dependent of a predicate makes: none, one, or more."""
        relation = self.relation(child)
        word = self.lower(child)
        if relation == "aux" and word in _MODAL:
            return [("ARGM-MOD", [child])]
        if head != verb and self.part_of_predicate(child, head):
            return []
        if relation == "advmod" and word in _NEGATION:
            return [("ARGM-NEG", [child])]
        if relation == "cc" and child == 0:
            return [("ARGM-DIS", [child])]
        if relation in _NOT_ARGUMENTS or (relation == "expl" and word == "there"):
            return []
        raised = self.raised(child) if child > verb else []
        role = _ROLES.get(relation, _ROLES.get(self.base(child), "ARGM-ADV"))

        return [
            (role, self.below(child, raised)),
            *(("ARGM-ADV", self.below(c)) for c in raised),
        ]

    def raised(self, argument: int) -> list[int]:
        """Phrases after an object or oblique that modify the verb, not the noun beside
        them.

        The parser hangs bare times ("launched by forces [a month ago]") and
        prepositions of verbs ("identified the cause [as poisoning]") on that noun.
        """
        if self.base(argument) not in {"obj", "obl"}:
            return []
        phrases = []
        for c in self.children[argument]:
            late = c > argument and self.base(c) in {"nmod", "obl", "advmod"}
            # "in April 2027"
            year = c == argument + 1 and self.words[c].upos == "NUM"
            if late and not year and self.relation(c) != "nmod:poss":
                cases = [d for d in self.of(c, "case") if d < c]
                if not cases or self.lower(cases[0]) in _OF_VERBS:
                    phrases.append(c)
        return phrases

    def shared(self, head: int, verb: int, before: int) -> list[_Group]:
        """What stands before the subject that a conjoined verb takes from the first
        one."""
        first = head
        for _ in self.words:
            governor = self.governor(first)
            if self.relation(first) == "conj" and governor is not None:
                first = governor
        children = (c for c in self.children[first] if c < before and c != verb)
        return [group for c in children for group in self.arguments(c, first, first)]

    def quoted(self, head: int) -> list[_Group]:
        """What is said, before a verb of saying that stands after it."""
        governor = self.governor(head)
        said = [] if governor is None else self.below(governor, [head])
        return [("ARG1", [i for i in said if i < head])]

    def tagged(self, verb: int, groups: Sequence[_Group]) -> Frame:
        """Groups as one BIO row; neighbours after the verb never share a role, or
        they'd merge."""
        owner: dict[int, int] = {}
        for number, (_, tokens) in enumerate(groups):
            for i in tokens:
                if i != verb:
                    owner.setdefault(i, number)

        roles = [role for role, _ in groups]
        for previous, number in pairwise(owner[i] for i in sorted(owner) if i > verb):
            if number != previous and roles[number] == roles[previous]:
                roles[number] += "-3" if roles[previous].endswith("-2") else "-2"

        tags = ["O"] * len(self.words)
        tags[verb] = "B-V"
        for i in self.particle(verb):
            owner.pop(i, None)
            tags[i] = "I-V"

        for i, number in owner.items():
            inside = i > 0 and owner.get(i - 1) == number
            tags[i] = f"{'I' if inside else 'B'}-{roles[number]}"

        return Frame(verb, tuple(tags))


_NO_PREDICATES = _NOT_PREDICATES | {"cop"}
_NO_ARGUMENTS = _NOT_ARGUMENTS | {"discourse", "vocative", "dep"}
_WITH_VERB = word_set("aux cop expl compound:prt compound:svc obl:patient")
_FREE_OF_NOUN = word_set("nmod amod nummod clf acl appos")
_IN_PREDICATE = _FREE_OF_NOUN | word_set("det case compound flat fixed conj cc")
_FREE_SUBJECTS = word_set("nsubj csubj")
_BORROWING = word_set("acl conj advcl parataxis")


def free_frames(words: Sequence[Word]) -> tuple[Frame, ...]:
    """The frames of a sentence in any language, in the order of their heads."""
    return tuple(_FreeClauses(words).frames())


class _FreeClauses(Tree):
    """The predicates of a sentence and what goes with them."""

    def frames(self) -> Iterator[Frame]:
        for i, word in enumerate(self.words):
            copula = next((c for c in self.children[i] if self.base(c) == "cop"), None)
            if self.base(i) in {"xcomp", "csubj"} or (
                copula is None
                and (word.upos != "VERB" or self.base(i) in _NO_PREDICATES)
            ):
                continue
            if "VerbForm=Inf" not in word.feats or self.auxiliaries(i):
                yield self.frame(i, copula)

    def frame(self, head: int, copula: int | None) -> Frame:
        """The frame of a verb, or of a predicate with a copula."""
        subjects = [c for c in self.children[head] if self.base(c) in _FREE_SUBJECTS]
        roles = {"V": [] if copula is not None else [head]}
        if copula is not None:
            inside = [c for c in self.children[head] if self.base(c) in _IN_PREDICATE]
            roles["FREE1"] = self.below(head, set(self.children[head]) - set(inside))

        for child in self.children[head]:
            if child in subjects:
                continue
            if self.goes_with_verb(child, head):
                roles["V"] += self.under(child)
            elif self.base(child) not in _NO_ARGUMENTS and not (
                copula is not None and self.base(child) in _FREE_OF_NOUN
            ):
                roles[f"FREE{len(roles)}"] = self.below(child)

        governor = self.governor(head)
        conjoined = (
            self.base(head) == "conj" and "VerbForm=Part" in self.words[head].feats
        )
        if conjoined and governor is not None and not self.auxiliaries(head):
            roles["V"] += self.auxiliaries(governor)
        roles["FREE"] = [i for subject in subjects for i in self.below(subject)]
        relative = bool(subjects) and "PronType=Rel" in self.words[subjects[0]].feats
        if (not subjects or relative) and self.base(head) in _BORROWING:
            roles["FREE0"] = self.borrowed(head)
        tags = ["O"] * len(self.words)

        # What is borrowed is written once, wherever else it belongs.
        for role in ("FREE0", *roles):
            for i in roles.get(role, ()):
                if tags[i] == "O":
                    tags[i] = f"B-{role}"

        return Frame(head if copula is None else copula, tuple(tags))

    def goes_with_verb(self, child: int, head: int) -> bool:
        word = self.words[child]
        base = self.base(child)
        if base in _WITH_VERB or word.deprel in _WITH_VERB:
            return True
        if base == "advmod" and (
            "Polarity=Neg" in word.feats or word.text.lower() in DENIALS
        ):
            return True
        clitic = base in {"obj", "iobj"} and word.upos == "PRON" and child < head
        return clitic and not self.children[child]

    def auxiliaries(self, i: int) -> list[int]:
        return [c for c in self.children[i] if self.base(c) == "aux"]

    def borrowed(self, head: int, steps: int = 0) -> list[int]:
        """The subject of another clause: what a clause modifies, or its governor's
        subject."""
        governor = self.governor(head)
        if governor is None or steps > len(self.words):
            return []
        if self.base(head) == "acl":
            return self.below(governor, [head])
        subjects = [
            c for c in self.children[governor] if self.base(c) in _FREE_SUBJECTS
        ]
        return (
            self.below(subjects[0]) if subjects else self.borrowed(governor, steps + 1)
        )

    def below(self, i: int, without: Iterable[int] = ()) -> list[int]:
        """A word and all below it, without punctuation at either end."""
        tokens = self.under(i, without)
        inside = [
            n for n, token in enumerate(tokens) if self.words[token].upos != "PUNCT"
        ]
        return tokens[inside[0] : inside[-1] + 1] if inside else []
