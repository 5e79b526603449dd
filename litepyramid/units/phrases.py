"""Noun phrases of a dependency tree: what names a thing, and what else is said of it.

A phrase is as short as it can be and still name its thing; what else stands in it gives
facts of its own, as in MinIE (Gashteovski et al. 2017).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from litepyramid.units.parsers.embedded.pronouns import people_nouns
from litepyramid.units.relations import (
    ALL,
    ALWAYS_THERE,
    ANY,
    BESIDE,
    BOUND,
    CLAUSES,
    COMMAS,
    DEATH,
    LONGEST_NAME,
    MARKS,
    ONE,
    SUBJECTS,
    TOGETHER,
)
from litepyramid.units.trees import Tree, Word


class Phrases(Tree):
    """A tree, read as noun phrases."""

    def __init__(self, words: Sequence[Word]) -> None:
        super().__init__(words)
        self._asides: dict[tuple[int, int], bool] = {}

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
        own = self.of(i, *SUBJECTS)
        if base not in CLAUSES or self.is_alternative(i):
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

    def is_alternative(self, i: int) -> bool:
        """Whether it is one of several of which not all are true."""
        return self.relation(i) == "conj" and bool(
            self.words_of(i, "cc") & {"or", "nor"}
        )

    def is_name(self, i: int) -> bool:
        """Whether a word is a name in capitals."""
        return self.words[i].upos == "PROPN" and self.tokens[i][:1].isupper()

    def is_plural(self, i: int) -> bool:
        """Whether a noun is of several."""
        return self.words[i].xpos in ("NNS", "NNPS") or bool(self.of(i, "conj"))

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
        opening = {*self.of(noun, "case", "cc", "mark", "cop", "aux", *SUBJECTS)}
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
        return i in self.title(noun)

    def is_parted(self, i: int) -> bool:
        """Whether a comma or a bracket stands before what is below a word."""
        start = self.trimmed(self.under(i))[:1] or [0]
        return start[0] > 0 and self.tokens[start[0] - 1] in COMMAS

    def is_one(self, noun: int) -> bool:
        """Whether it is just some thing, so that less can be said of it: "a man"."""
        words = self.words_of(noun, "det")
        counted = bool(self.of(noun, "nummod")) and not words
        return bool(words & ONE or counted) and self.lower(noun) not in ANY

    def title(self, name: int) -> list[int]:
        """What stands before a name and says what its bearer is, as tokens."""
        # Asked of every word of every phrase: what is below it, only of names.
        inside = self.relation(name) in ("compound", "flat", "nmod:desc")
        if inside or not self.is_name(name):
            return []
        start = name
        while start > 0 and self.is_name(start - 1):
            start -= 1
        before = start - 1
        # "Dug and singer Ann Lee": what "and" joins is no title.
        tokens = [t for t in self.under(name) if t < start]
        while tokens and self.relation(tokens[0]) in ("cc", "punct"):
            tokens.pop(0)
        if not tokens or tokens[-1] != before:
            return []
        kinds = people_nouns()
        word = self.lower(before) if before == 0 else self.tokens[before]
        # Nobody is a Mr.
        noun = (
            word in kinds["people"] | (kinds["men"] | kinds["women"]) - kinds["titles"]
        )
        whole = tokens == [*range(tokens[0], start)] and self.tokens[before].isalpha()
        others = any(self.relation(t) in ("case", "cc", "conj") for t in tokens)
        return tokens if noun and whole and not others else []

    def identity(self, noun: int, i: int) -> tuple[int, int] | None:
        """Which of a noun and an aside beside it is what the other one is."""
        number = self.words[i].upos == "NUM"
        if not (number or self.base(i) in BESIDE) or self.of(i, "conj"):
            return None
        own = self.trimmed(self.under(i))
        # Marks alone say what nothing is.
        if not own:
            return None
        if not self.is_parted(i) or self.of(i, "case"):
            return None
        if number:
            age = self.tokens[i].isdecimal() and len(self.tokens[i]) < 4
            return (noun, i) if age and self.is_name(noun) else None
        if self.of(noun, "conj") or self.base(noun) == "conj":
            return None
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
                cases = self.of(what, "case")
                told = [t for t in self.phrase(what, [who]) if t not in name + cases]
                verbs = any(self.words[t].upos in ("VERB", "AUX") for t in name)
                if told and 0 < len(name) <= LONGEST_NAME and not verbs:
                    yield self.is_what(name, who, told, what)

    def is_what(
        self, name: list[int], head: int, told: list[int], noun: int
    ) -> list[int | str]:
        """A name, "is", and what it is told to be."""
        plural = self.words[head].xpos == "NNS"
        dead = any(self.lower(i) in DEATH for i in range(len(self.words)))
        tense = ("were" if dead else "are", "was" if dead else "is")
        named = [t for t in told if self.relation(t) in ("det", "nmod:poss", "case")]
        first = self.tokens[told[0]]
        bare = self.words[noun].xpos == "NN" and not named and first[0].isalpha()
        article = ("an" if first[0].lower() in "aeio" else "a",) if bare else ()
        return [*name, tense[not plural], *article, *told]

    def pieces(self, i: int, span: list[int]) -> list[list[int]]:
        """Phrases behind a noun that say more of it, not which one is meant."""
        # "every shop in town" is not every shop.
        if {self.lower(t) for t in span} & ALL:
            return []
        bare = not self.of(i, "det", "nmod:poss", "nummod")
        if not (self.is_one(i) or (bare and self.words[i].xpos in ("NN", "NNP"))):
            return []
        pieces = []
        for child in self.of(i, "nmod"):
            piece = [t for t in self.phrase(child) if t in span]
            words = {self.lower(t) for t in piece}
            bound = self.words_of(child, "case") & BOUND or words & ALWAYS_THERE
            if child > i and piece and not bound:
                pieces.append(piece)
        return pieces

    def parts(self, i: int, span: list[int]) -> list[set[int]]:
        """What to leave out of a phrase to say one of the things that "and" joins in
        it; nothing where they belong together."""
        joined = [c for c in self.of(i, "conj") if not self.is_clause(c)]
        alike = {self.words[c].upos for c in [i, *joined]} <= {"NOUN", "PROPN"}
        words = {self.lower(t) for t in span}
        alike = alike and self.relation(i) != "obl:unmarked"
        if not joined or not alike or words & (TOGETHER | {"but"}):
            return [set()]

        inside = {t for c in joined for t in self.under(c)}
        kept = [{*span} - inside]
        for c in joined:
            opening = {t for t in self.of(c, "cc", "punct") if t < c}
            kept.append({*self.under(c)} - opening)
            if not self.of(c, "case"):
                kept[-1].update(self.of(i, "case"))
        return [{*span} - one for one in kept]
