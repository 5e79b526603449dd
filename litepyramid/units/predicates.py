"""Predicates of a dependency tree: a verb with its auxiliaries and its subject, its own
or another clause's."""

from __future__ import annotations

from collections.abc import Sequence

from litepyramid.units.phrases import Phrases
from litepyramid.units.relations import (
    ASKING,
    DO,
    FINITE,
    MODALS,
    NEGATIONS,
    NOBODY,
    NOT,
    PART,
    PAST_FORMS,
    RELATIVE,
    SUBJECTS,
    TOGETHER,
)


class Predicates(Phrases):
    """A tree, read as predicates and noun phrases."""

    def is_denied(self, i: int) -> bool:
        """Whether a clause says that something is not, or is of nobody."""
        if self.words_of(i, "advmod", "cc:preconj", "det") & NEGATIONS:
            return True
        for c in self.of(i, *SUBJECTS, "obj"):
            if self.lower(c) in NOBODY or self.words_of(c, "det", "advmod") & NOBODY:
                return True
        return False

    def verb(self, i: int) -> list[int]:
        """What is said of the subject: the verb with auxiliaries, negation, particles
        and single adverbs beside it, or the noun or adjective with its copula."""
        beside = [i]
        outside = []
        own = self.of(i, *SUBJECTS)
        for child in self.children[i]:
            relation = self.relation(child)
            part = PART.get(relation)
            single = len(self.trimmed(self.under(child))) == 1
            near = (max(own, default=-1) < child < i) or child == i + 1
            near = near or self.words[child].xpos == "RBR"
            joins = self.lower(child) in ASKING
            if relation == "cc:preconj" and self.lower(child) == "both":
                # "is both rich and famous": is rich.
                outside.append(child)
            elif part == "verb" or (relation == "mark" and self.lower(child) == "to"):
                beside += self.under(child)
            elif relation == "advmod" and single and near and not joins:
                beside.append(child)
            elif part != "name" and not self.is_inside(child, i):
                outside.append(child)
            elif self.lower(child) in NEGATIONS:
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

    def subjects(self, i: int) -> list[int]:
        """The subject of a clause; of a main verb without one, the noun before it that
        the parser understood otherwise."""
        own = self.of(i, *SUBJECTS)
        if own or self.relation(i) != "root" or self.words[i].xpos not in FINITE:
            return own
        beside = self.of(i, "dep", "list", "vocative", "nmod", "nmod:desc", "compound")
        nouns = [c for c in beside if self.words[c].upos in ("NOUN", "PROPN") and c < i]
        return nouns[:1]

    def is_subject_lost(self, i: int) -> bool:
        """Whether a noun before a main verb is likely to be its subject, though the
        parser did not see it."""
        before = [self.words[c].upos for c in self.children[i] if c < i]
        noun = {"NOUN", "PROPN", "ADJ", "NUM"}.intersection(before)
        main = self.relation(i) == "root" and self.words[i].xpos in PAST_FORMS
        return main and bool(noun)

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
            own = self.of(head, *SUBJECTS)
            if own and self.lower(own[0]) not in RELATIVE:
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
        bare = form in ("VB", "NN", "JJ") and bool(words & (MODALS | DO))
        if not (nominal or undergone or same or bare):
            return []
        denied = [c for c in self.of(head, "advmod") if self.lower(c) in NOT]
        return [*sorted({*there, *denied})]

    def comes_apart(self, i: int) -> bool:
        """Whether what is said of several subjects is said of each."""
        words = {self.lower(t) for t in self.under(i)}
        present = self.words[i].xpos == "VBP" and not self.of(i, "aux")
        return not (words & TOGETHER or present or self.words[i].xpos == "NNS")

    def is_undergone(self, auxiliary: Sequence[int | str]) -> bool:
        """Whether auxiliaries before a verb make it a passive."""
        return any(
            isinstance(t, str) or self.relation(t) == "aux:pass" for t in auxiliary
        )

    def is_connective(self, i: int, span: list[int]) -> bool:
        """Whether it joins the sentence to another one, or to its head."""
        if self.relation(i) != "advmod":
            return False
        return len(span) == 1 and (i == 0 or self.lower(i) in ASKING)
