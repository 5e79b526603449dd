"""From universal dependencies of any language to frames, without a word list or word order.

Roles: ``V`` is the verb with its auxiliaries, copula, particles, clitics and negation; ``FREE`` its
own subject; ``FREE0`` one borrowed from another clause, which is written first; ``FREE1`` and so on
one argument each. `triplets.frame_triplets` makes one unit an argument, in the order of the text.
"""

from collections.abc import Iterable, Iterator, Sequence

from litepyramid.language import DENIALS
from litepyramid.units.parsers.embedded.frames import NOT_ARGUMENTS, NOT_PREDICATES, word_set
from litepyramid.units.parsers.embedded.tree import Tree, Word
from litepyramid.units.parses import Frame

_NO_PREDICATES = NOT_PREDICATES | {"cop"}
_NO_ARGUMENTS = NOT_ARGUMENTS | {"discourse", "vocative", "dep"}
_WITH_VERB = word_set("aux cop expl compound:prt compound:svc obl:patient")
_OF_NOUN = word_set("nmod amod nummod clf acl appos")
_IN_PREDICATE = _OF_NOUN | word_set("det case compound flat fixed conj cc")
_SUBJECTS = word_set("nsubj csubj")
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
                copula is None and (word.upos != "VERB" or self.base(i) in _NO_PREDICATES)
            ):
                continue
            if "VerbForm=Inf" not in word.feats or self.auxiliaries(i):
                yield self.frame(i, copula)

    def frame(self, head: int, copula: int | None) -> Frame:
        """The frame of a verb, or of a predicate with a copula."""
        subjects = [c for c in self.children[head] if self.base(c) in _SUBJECTS]
        roles: dict[str, list[int]] = {"V": [] if copula is not None else [head]}
        if copula is not None:
            inside = [c for c in self.children[head] if self.base(c) in _IN_PREDICATE]
            roles["FREE1"] = self.below(head, set(self.children[head]) - set(inside))
        for child in self.children[head]:
            if child in subjects:
                continue
            if self.goes_with_verb(child, head):
                roles["V"] += self.under(child)
            elif self.base(child) not in _NO_ARGUMENTS and not (
                copula is not None and self.base(child) in _OF_NOUN
            ):
                roles[f"FREE{len(roles)}"] = self.below(child)
        governor = self.governor(head)
        conjoined = self.base(head) == "conj" and "VerbForm=Part" in self.words[head].feats
        if conjoined and governor is not None and not self.auxiliaries(head):
            roles["V"] += self.auxiliaries(governor)
        roles["FREE"] = [i for subject in subjects for i in self.below(subject)]
        relative = bool(subjects) and "PronType=Rel" in self.words[subjects[0]].feats
        if (not subjects or relative) and self.base(head) in _BORROWING:
            roles["FREE0"] = self.borrowed(head)
        tags = ["O"] * len(self.words)
        for role in ("FREE0", *roles):  # what is borrowed is written once
            for i in roles.get(role, ()):
                if tags[i] == "O":
                    tags[i] = f"B-{role}"
        return Frame(head if copula is None else copula, tuple(tags))

    def goes_with_verb(self, child: int, head: int) -> bool:
        word, base = self.words[child], self.base(child)
        if base in _WITH_VERB or word.deprel in _WITH_VERB:
            return True
        if base == "advmod" and ("Polarity=Neg" in word.feats or word.text.lower() in DENIALS):
            return True
        clitic = base in {"obj", "iobj"} and word.upos == "PRON" and child < head
        return clitic and not self.children[child]

    def auxiliaries(self, i: int) -> list[int]:
        return [c for c in self.children[i] if self.base(c) == "aux"]

    def borrowed(self, head: int, steps: int = 0) -> list[int]:
        """The subject of another clause: what a clause modifies, or its governor's subject."""
        governor = self.governor(head)
        if governor is None or steps > len(self.words):
            return []
        if self.base(head) == "acl":
            return self.below(governor, [head])
        subjects = [c for c in self.children[governor] if self.base(c) in _SUBJECTS]
        return self.below(subjects[0]) if subjects else self.borrowed(governor, steps + 1)

    def below(self, i: int, without: Iterable[int] = ()) -> list[int]:
        """A word and all below it, without punctuation at either end."""
        tokens = self.under(i, without)
        inside = [n for n, token in enumerate(tokens) if self.words[token].upos != "PUNCT"]
        return tokens[inside[0] : inside[-1] + 1] if inside else []
