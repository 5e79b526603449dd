"""ROUGE-1, -2 and -L (Lin 2004) with rouge-score's words and numbers, fast enough for a search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from litepyramid.errors import InputError
from litepyramid.metrics.tokens import Tokens, line_tokenizer
from litepyramid.types import FloatArray

RougeKind = Literal["1", "2", "l"]
RougeVariant = Literal["f1", "recall", "precision"]
Ngram = tuple[str, ...]


@dataclass(frozen=True)
class Rouge:
    r"""ROUGE of one kind and variant.

    With h = matched n-grams, each counted at most as often as in the other text (kind 1, 2), or
    the length of the longest common subsequence of words (kind l); r and c the n-grams or words
    of reference and candidate: recall h/r, precision h/c, F1 2h/(r+c). The numbers are those of
    ``rouge_score.RougeScorer.score_multi``: with several references, the one with the highest F1
    counts. Pooled (Lin 2004; P19), h, r and c are sums over the references. rouge-score compares
    two texts at a time and cuts both again; this class cuts every line once and finds common
    subsequences with one machine word operation for many words (Hyyrö 2004), which is why it is
    here.

    Attributes:
        kind: ``"1"``, ``"2"`` or ``"l"``.
        variant: ``"f1"``, ``"recall"`` or ``"precision"``.
        stem: Whether words are stemmed (Porter).
        pooled: Whether the references are taken together, not the best of them.

    Example:
        >>> Rouge("l", "f1").score(["the cat sat", ""], ["the dog sat"]).round(3).tolist()
        [0.667, 0.0]
        >>> two = ["the cat sat", "a dog ran off"]
        >>> Rouge("1", "recall", pooled=True).score(["the cat"], two).round(3).tolist()
        [0.286]
    """

    kind: RougeKind = "1"
    variant: RougeVariant = "f1"
    stem: bool = True
    pooled: bool = False
    _words: Callable[[str], Tokens] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.kind not in ("1", "2", "l"):
            raise InputError(f"no ROUGE-{self.kind}", expected="kind 1, 2 or l")
        if self.variant not in ("f1", "recall", "precision"):
            raise InputError(
                f"unknown ROUGE variant '{self.variant}'", expected="f1, recall or precision"
            )
        object.__setattr__(self, "_words", line_tokenizer(self.stem))

    @classmethod
    def named(cls, name: str) -> Rouge:
        """The ROUGE of a column's name: ``rouge-l_recall``, ``rouge-2-pooled_recall``."""
        kind, _, variant = name.removeprefix("rouge-").partition("_")
        single = kind.removesuffix("-pooled")
        return cls(single, variant, pooled=single != kind)  # type: ignore[arg-type]  # checked

    @property
    def name(self) -> str:
        """``rouge-KIND_VARIANT``, or ``rouge-KIND-pooled_VARIANT``."""
        return f"rouge-{self.kind}{'-pooled' if self.pooled else ''}_{self.variant}"

    def score(self, summaries: Sequence[str], references: Sequence[str]) -> FloatArray:
        """Scores a batch of summaries of one input; see `Metric.score`."""
        return self.variants(summaries, references)[self.variant]

    def variants(
        self, summaries: Sequence[str], references: Sequence[str]
    ) -> dict[RougeVariant, FloatArray]:
        """F1, recall and precision of each summary of one input."""
        if not references:
            raise InputError("ROUGE needs a reference", expected="at least one")
        matchers = [self._matcher(self._words(reference)) for reference in references]
        found = np.array([self._best(self._words(text), matchers) for text in summaries])
        f1, recall, precision = found.reshape(-1, 3).T
        return {"f1": f1, "recall": recall, "precision": precision}

    def _best(
        self, words: Tokens, matchers: Sequence[Callable[[Tokens], tuple[int, int, int]]]
    ) -> tuple[float, float, float]:
        best = (-1.0, 0.0, 0.0)
        found = [match(words) for match in matchers]
        if self.pooled:
            all_hits, all_theirs, all_ours = map(sum, zip(*found, strict=True))
            found = [(all_hits, all_theirs, all_ours)]
        for hits, theirs, ours in found:
            recall = hits / theirs if theirs else 0.0
            precision = hits / ours if ours else 0.0
            f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
            if f1 > best[0]:
                best = f1, recall, precision
        return best

    def _matcher(self, reference: Tokens) -> Callable[[Tokens], tuple[int, int, int]]:
        """A function from a candidate's words to (matched, size of reference, of candidate)."""
        if self.kind == "l":
            return _subsequence_matcher(reference)
        return _ngram_matcher(reference, int(self.kind))


def ngrams(words: Tokens, n: int) -> Counter[Ngram]:
    """How often each run of `n` words occurs.

    Example:
        >>> ngrams(("a", "b", "a", "b"), 2)[("a", "b")]
        2
    """
    return Counter(zip(*(words[i:] for i in range(n)), strict=False))


def _ngram_matcher(reference: Tokens, n: int) -> Callable[[Tokens], tuple[int, int, int]]:
    wanted = ngrams(reference, n)
    total = wanted.total()

    def match(words: Tokens) -> tuple[int, int, int]:
        found = ngrams(words, n)
        hits = sum(min(found[gram], wanted[gram]) for gram in found.keys() & wanted.keys())
        return hits, total, max(0, len(words) - n + 1)

    return match


def _subsequence_matcher(reference: Tokens) -> Callable[[Tokens], tuple[int, int, int]]:
    """Bit-parallel length of the longest common subsequence (Hyyrö 2004).

    Bit i of `row` is 0 where the table of lengths rises at reference word i.
    """
    places: dict[str, int] = {}
    for i, word in enumerate(reference):
        places[word] = places.get(word, 0) | 1 << i
    full = (1 << len(reference)) - 1

    def match(words: Tokens) -> tuple[int, int, int]:
        row = full
        for word in words:
            here = places.get(word)
            if here is not None:
                met = row & here
                row = ((row + met) | (row - met)) & full
        return len(reference) - row.bit_count(), len(reference), len(words)

    return match
