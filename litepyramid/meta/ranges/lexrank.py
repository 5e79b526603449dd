"""LexRank (Erkan & Radev 2004), the baseline above which P19 looks: sentences that others echo."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from litepyramid.errors import InputError
from litepyramid.meta.core.coefficients import best_first
from litepyramid.types import FloatArray

_MOST_CELLS = 10_000_000
_DAMPING, _TOLERANCE, _REDUNDANT = 0.85, 1e-10, 0.5


def cosine_similarities(sentences: Sequence[Sequence[str]]) -> FloatArray:
    """Cosine of every two sentences' tf·idf vectors, idf = log(n / sentences with the word) + 1.

    Args:
        sentences: n sentences, each a sequence of words.

    Returns:
        (n, n) float64 in [0, 1]; 0 for a sentence without words, its diagonal included.

    Raises:
        InputError: There are more than 10⁷ pairs of sentences, or of sentences and words.
    """
    vocabulary = {w: i for i, w in enumerate(dict.fromkeys(w for s in sentences for w in s))}
    if len(sentences) * max(len(sentences), len(vocabulary)) > _MOST_CELLS:
        raise InputError(
            f"{len(sentences)} sentences with {len(vocabulary)} different words are too many for "
            "LexRank",
            expected=f"at most {_MOST_CELLS} pairs of sentences, and of sentences and words",
        )
    counts = np.zeros((len(sentences), max(1, len(vocabulary))))
    for row, sentence in enumerate(sentences):
        for word, count in Counter(sentence).items():
            counts[row, vocabulary[word]] = count
    inverse = np.log(len(sentences) / np.maximum(1, (counts > 0).sum(axis=0))) + 1
    vectors = counts * inverse
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
    return np.asarray(np.clip(vectors @ vectors.T, 0.0, 1.0))


def lexrank(similarities: FloatArray, *, threshold: float | None = 0.1) -> FloatArray:
    """How central each sentence is: the stationary walk over the graph of similar sentences.

    p = (1 − d)/n + d Σ_j p_j A_ji / Σ_k A_jk (Erkan & Radev 2004), d = .85, by power iteration;
    A_ji is 1 where sentences are more similar than `threshold`, else 0. A sentence that is
    similar to none leads everywhere alike.

    Args:
        similarities: (n, n) cosines.
        threshold: None keeps the cosines themselves as weights ("continuous LexRank").

    Returns:
        (n,) float64 that sums to 1.

    Example:
        >>> similar = cosine_similarities(["a b".split(), "a b c".split(), "d".split()])
        >>> lexrank(similar).round(3).tolist()
        [0.333, 0.333, 0.333]
        >>> similar = cosine_similarities(["a b".split(), "a c".split(), "b d".split()])
        >>> int(lexrank(similar).argmax())
        0
    """
    links = similarities if threshold is None else (similarities > threshold).astype(np.float64)
    n = len(links)
    sums = links.sum(axis=1, keepdims=True)
    steps = np.divide(links, sums, out=np.full_like(links, 1.0 / n), where=sums > 0)
    rank, before = np.full(n, 1.0 / n), np.zeros(n)
    while np.abs(rank - before).sum() > _TOLERANCE:
        rank, before = (1 - _DAMPING) / n + _DAMPING * (rank @ steps), rank
    return rank


def lexrank_extract(
    sentences: Sequence[Sequence[str]], lengths: Sequence[int], words: int
) -> tuple[int, ...]:
    """The extract that LexRank makes: central sentences first, near repeats left out.

    A sentence whose cosine with one already taken is above .5 is a near repeat.

    Args:
        sentences: Every sentence's words, as the similarity sees them.
        lengths: Every sentence's length, as the limit counts it.
        words: The most words that the extract may have; a sentence that does not fit is skipped.

    Returns:
        Indices of the chosen sentences, in the order of the text.
    """
    similar = cosine_similarities(sentences)
    taken: list[int] = []
    for index in best_first(lexrank(similar)).tolist():
        fits = sum(lengths[i] for i in (*taken, index)) <= words
        if fits and (similar[index, taken] <= _REDUNDANT).all():
            taken.append(index)
    return tuple(sorted(taken))
