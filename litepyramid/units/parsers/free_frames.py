"""Dependency trees of any language, read as semantic role frames.

Frames need no word list or word order. ``V`` is the verb with its auxiliaries, copula,
particles, clitics and negation; ``FREE`` its own subject; ``FREE0`` one borrowed from
another clause, which is written first; ``FREE1`` and so on one argument each.
"""

from collections.abc import Iterable, Iterator, Sequence

from litepyramid.language import DENIALS
from litepyramid.text import word_set
from litepyramid.units.parses import Frame
from litepyramid.units.trees import Tree, Word

_NO_PREDICATES = word_set(
    """
    amod case mark cc compound fixed flat det advmod discourse punct goeswith aux
    aux:pass reparandum cop
    """
)
_NO_ARGUMENTS = word_set(
    """
    aux aux:pass cop mark punct cc conj compound compound:prt fixed flat goeswith
    reparandum orphan list det case parataxis discourse vocative dep
    """
)
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
