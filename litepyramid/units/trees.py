"""Dependency trees of sentences (Universal Dependencies)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


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
