"""LexRank against networkx's PageRank and scikit-learn's cosines."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from litepyramid.meta.ranges.lexrank import cosine_similarities, lexrank, lexrank_extract


def some_sentences(seed: int, n: int = 20) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    return [[f"w{i}" for i in rng.zipf(1.5, rng.integers(1, 15)) if i < 60] for _ in range(n)]


@pytest.mark.parametrize("seed", range(5))
def test_cosines_are_scikit_learns(seed: int) -> None:
    sentences = some_sentences(seed)
    vectors = TfidfVectorizer(analyzer=lambda s: s, smooth_idf=False).fit_transform(sentences)
    np.testing.assert_allclose(
        cosine_similarities(sentences), (vectors @ vectors.T).toarray(), atol=1e-12
    )


@pytest.mark.parametrize("threshold", [0.1, 0.3, None])
@pytest.mark.parametrize("seed", range(4))
def test_ranks_are_networkx_pageranks(seed: int, threshold: float | None) -> None:
    similar = cosine_similarities(some_sentences(seed))
    links = similar if threshold is None else (similar > threshold).astype(float)
    expected = nx.pagerank(nx.from_numpy_array(links), alpha=0.85, tol=1e-12, max_iter=1000)
    ranks = lexrank(similar, threshold=threshold)
    np.testing.assert_allclose(ranks, [expected[i] for i in range(len(ranks))], atol=1e-8)
    assert ranks.sum() == pytest.approx(1)


def test_an_extract_keeps_the_limit_and_repeats_nothing() -> None:
    sentences = [s.split() for s in ("a b c", "a b c", "a b d", "e f", "a g h i j k")]
    lengths = [len(s) for s in sentences]
    for words in (2, 3, 5, 8, 30):
        extract = lexrank_extract(sentences, lengths, words)
        assert sum(lengths[i] for i in extract) <= words
        assert list(extract) == sorted(set(extract))
        assert not {0, 1} <= set(extract)
    assert lexrank_extract(sentences, lengths, 1) == ()
