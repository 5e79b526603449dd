"""JS-2: how far a summary's bigrams are from the references' (Lin et al. 2006)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import log2

import numpy as np

from litepyramid.errors import InputError
from litepyramid.metrics.rouge import ngrams
from litepyramid.metrics.tokens import Tokens, line_tokenizer
from litepyramid.text import counted
from litepyramid.types import FloatArray


@dataclass(frozen=True)
class JensenShannon:
    r"""The negated Jensen-Shannon divergence between n-gram distributions, in bits.

    −JS(P, Q) = −½ Σ_g [ p log₂(2p/(p+q)) + q log₂(2q/(p+q)) ]

    P: the n-grams of all references together (a bigram never spans two references); Q: those of
    the summary; relative frequencies, no smoothing. Higher is better: 0 for equal distributions,
    −1 for texts that share no n-gram, and for a summary too short to have one.

    Attributes:
        n: Length of the n-grams; 2 is the JS-2 of P19.
        stem: Whether words are stemmed (Porter), as in `Rouge`.

    Example:
        >>> JensenShannon().score(["the cat sat", "no match", ""], ["the cat sat"]).tolist()
        [0.0, -1.0, -1.0]
    """

    n: int = 2
    stem: bool = True
    _words: Callable[[str], Tokens] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.n < 1:
            raise InputError(f"n-grams of length {self.n}", expected="at least 1")
        object.__setattr__(self, "_words", line_tokenizer(self.stem))

    @property
    def name(self) -> str:
        """``js-N``."""
        return f"js-{self.n}"

    def score(self, summaries: Sequence[str], references: Sequence[str]) -> FloatArray:
        """Scores a batch of summaries of one input; see `Metric.score`."""
        pool = ngrams((), self.n)
        for reference in references:
            pool.update(ngrams(self._words(reference), self.n))
        total = pool.total()
        if total == 0:
            raise InputError(
                f"the references have no {self.n}-gram",
                expected=f"a reference of at least {counted(self.n, 'word')}",
            )
        wanted = {gram: count / total for gram, count in pool.items()}
        return 0.0 - np.array([self._divergence(self._words(t), wanted) for t in summaries])

    def _divergence(self, words: Tokens, wanted: dict[tuple[str, ...], float]) -> float:
        found = ngrams(words, self.n)
        size = len(words) - self.n + 1
        if size < 1:
            return 1.0
        # An n-gram in one text alone adds its own frequency: p log2(2p/p) = p.
        shared, alone_p, alone_q = 0.0, 1.0, 1.0
        for gram, count in found.items():  # in the summary's order: a set's differs by process
            if gram not in wanted:
                continue
            p, q = wanted[gram], count / size
            both = p + q
            shared += p * log2(2 * p / both) + q * log2(2 * q / both)
            alone_p -= p
            alone_q -= q
        return min(1.0, max(0.0, 0.5 * (shared + alone_p + alone_q)))
