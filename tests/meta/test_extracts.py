"""The search finds what brute force finds, keeps its limits, and spans the range."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

from litepyramid.errors import InputError
from litepyramid.meta.ranges.extracts import SearchSettings, search


def problem(seed: int, n: int = 14):
    """Sentences with lengths and gains; two neighbours together lose what one of them brings."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(3, 12, n)
    gains = rng.random(n)

    def one(extract):
        neighbours = sum(b == a + 1 for a, b in pairwise(extract))
        return sum(gains[i] for i in extract) - 0.5 * neighbours

    def fitness(batch):
        return np.array([one(extract) for extract in batch])

    return lengths, fitness


@pytest.mark.parametrize("seed", range(3))
def test_the_best_is_found(seed: int) -> None:
    lengths, fitness = problem(seed)
    every = [e for size in range(1, 9) for e in combinations(range(14), size)]
    every = [e for e in every if lengths[list(e)].sum() <= 30]
    settings = SearchSettings(population=60, generations=40, words=30)
    extracts, scores = search(lengths, fitness, settings, np.random.default_rng(seed))
    assert scores[0] == pytest.approx(fitness(every).max())
    assert scores[0] == pytest.approx(fitness(extracts[:1])[0])


@pytest.mark.parametrize("collect", ["spread", "last"])
def test_extracts_keep_the_limit_and_differ(collect) -> None:
    lengths, fitness = problem(7, 25)
    asked: list[tuple[int, ...]] = []

    def counted(batch):
        asked.extend(batch)
        return fitness(batch)

    settings = SearchSettings(population=50, generations=5, words=25, collect=collect)
    extracts, scores = search(lengths, counted, settings, np.random.default_rng(1))
    assert len(set(extracts)) == len(extracts) == 50
    assert all(lengths[list(e)].sum() <= 25 and list(e) == sorted(set(e)) for e in extracts)
    assert len(set(asked)) == len(asked)
    assert list(scores) == sorted(scores, reverse=True)
    np.testing.assert_allclose(scores, fitness(extracts))


def test_spread_spans_the_range_more_evenly_than_the_last_population() -> None:
    lengths, fitness = problem(7, 40)
    spans = {}
    for collect in ("spread", "last"):
        settings = SearchSettings(population=100, generations=30, words=30, collect=collect)
        _, scores = search(lengths, fitness, settings, np.random.default_rng(1))
        share = (scores - scores.min()) / np.ptp(scores)
        spans[collect] = np.histogram(share, 5, (0, 1))[0].min()
        assert scores.max() == pytest.approx(spans.setdefault("best", scores.max()))
    assert spans["spread"] >= 8 > spans["last"]


def test_a_seed_fixes_the_result() -> None:
    lengths, fitness = problem(2)
    settings = SearchSettings(population=30, generations=5, words=30)
    runs = [search(lengths, fitness, settings, np.random.default_rng(s)) for s in (1, 1, 2)]
    assert runs[0][0] == runs[1][0] != runs[2][0]


def test_short_texts_give_fewer_extracts() -> None:
    settings = SearchSettings(population=30, generations=3, words=10)
    extracts, _ = search([5, 20, 4], lambda b: np.ones(len(b)), settings, np.random.default_rng(0))
    assert set(extracts) == {(0,), (2,), (0, 2)}
    extracts, _ = search([9], lambda b: np.ones(len(b)), settings, np.random.default_rng(0))
    assert extracts == ((0,),)
    with pytest.raises(InputError, match="the shortest has 20"):
        search([20, 30], lambda b: np.ones(len(b)), settings, np.random.default_rng(0))


@pytest.mark.parametrize(
    "wrong",
    [
        {"population": 1},
        {"generations": -1},
        {"words": 0},
        {"survivors": 0.0},
        {"survivors": 0.9},
        {"fresh": -0.1},
        {"collect": "all"},
    ],
)
def test_settings_are_checked(wrong) -> None:
    with pytest.raises(InputError):
        SearchSettings(**wrong)
