"""A genetic search for extracts that a metric likes (P19 §3; Peyrard & Eckle-Kohler 2016)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from litepyramid.errors import InputError, choose
from litepyramid.text import counted
from litepyramid.types import FloatArray, IntArray

Extract = tuple[int, ...]
Fitness = Callable[[Sequence[Extract]], FloatArray]
Collect = Literal["spread", "last"]

_STEPS = 20


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How the search goes on.

    Attributes:
        population: Different extracts in every generation, and in the result (P19: 400).
        generations: How often the population is renewed; 0 leaves it random.
        words: The most words of an extract (P19's documents ask for 100).
        survivors: Share of the population, the fittest, that lives on and has children.
        mutants: Share that is a survivor with one sentence replaced.
        fresh: Share that is drawn at random in every generation. They keep the search from
            narrowing, and the low end of the scoring range filled. The rest are children of two
            survivors each.
        collect: What is given back. ``"spread"``: of all extracts that the search met,
            `population` spread evenly over the range of their fitness, "ranging from random to
            upper-bound" (P19 §3). ``"last"``: the last population.
    """

    population: int = 400
    generations: int = 20
    words: int = 100
    survivors: float = 0.3
    mutants: float = 0.25
    fresh: float = 0.2
    collect: Collect = "spread"

    def __post_init__(self) -> None:
        choose("way to collect", self.collect, get_args(Collect))
        if self.population < 2:
            raise InputError(f"a population of {self.population}", expected="at least 2")
        if self.generations < 0 or self.words < 1:
            raise InputError(
                f"{counted(self.generations, 'generation')} of {counted(self.words, 'word')}",
                expected="generations from 0 and words from 1",
            )
        shares = (self.survivors, self.mutants, self.fresh)
        if min(shares) < 0 or sum(shares) > 1 or self.survivors == 0:
            raise InputError(
                f"the shares of survivors, mutants and fresh extracts are {shares}",
                expected="some survivors, none below 0, together at most 1",
            )


def search(
    lengths: Sequence[int], fitness: Fitness, settings: SearchSettings, rng: np.random.Generator
) -> tuple[tuple[Extract, ...], FloatArray]:
    """Searches sentence extracts for high fitness, and returns some from its whole range.

    An extract is a set of sentences, shown in the order of the text, of at most `settings.words`
    words, to which no further sentence was added only if none of those tried fitted. One
    generation: the fittest share survives; two survivors' sentences, shuffled and taken until the
    limit, make a child; a survivor that loses a random sentence and is filled up at random makes a
    mutant; the rest is drawn at random.

    Args:
        lengths: Words of every sentence.
        fitness: Scores a batch of extracts; higher is better. Each extract is asked for once.
        settings: Sizes and shares.
        rng: The only source of randomness.

    Returns:
        Up to `settings.population` different extracts, fittest first, and their fitness. There
        are fewer only where the text has not as many.

    Raises:
        InputError: No sentence is short enough.

    Example:
        >>> best, scores = search(
        ...     [1] * 12, lambda batch: np.array([float(sum(e)) for e in batch]),
        ...     SearchSettings(population=20, generations=30, words=3), np.random.default_rng(1))
        >>> best[0], float(scores[0])
        ((9, 10, 11), 30.0)
    """
    sizes = np.asarray(lengths, dtype=np.int64)
    if not (sizes <= settings.words).any():
        raise InputError(
            f"no sentence has at most {counted(settings.words, 'word')}",
            expected=f"the shortest has {sizes.min() if sizes.size else 0}",
            hint="Allow longer extracts.",
        )
    makers = _Makers(sizes, settings.words, rng)
    known: dict[Extract, float] = {}
    living = _distinct(makers.random, settings.population, set())
    for generation in range(settings.generations + 1):
        if generation:
            living = _next_generation(living, makers, settings, rng)
        unknown = [extract for extract in living if extract not in known]
        if unknown:
            known.update(zip(unknown, map(float, fitness(unknown)), strict=True))
        living.sort(key=lambda extract: (-known[extract], extract))
    if settings.collect == "spread":
        living = _spread(known, settings.population, rng)
    return tuple(living), np.array([known[extract] for extract in living])


def _spread(known: dict[Extract, float], wanted: int, rng: np.random.Generator) -> list[Extract]:
    """Extracts from equal steps of the fitness range in turn, at random within a step."""
    extracts = list(known)
    values = np.array(list(known.values()))
    width = np.ptp(values)
    share = (values - values.min()) / width if width else np.zeros(len(values))
    steps = np.minimum((share * _STEPS).astype(np.int64), _STEPS - 1)
    turn = np.empty(len(values), dtype=np.int64)
    for step in range(_STEPS):
        inside = np.flatnonzero(steps == step)
        turn[inside] = rng.permutation(len(inside))
    chosen = [extracts[i] for i in np.lexsort((rng.random(len(values)), turn))[:wanted]]
    best = max(extracts, key=lambda extract: known[extract])
    if best not in chosen:
        chosen[-1] = best
    return sorted(chosen, key=lambda extract: (-known[extract], extract))


def _next_generation(
    living: list[Extract],
    makers: _Makers,
    settings: SearchSettings,
    rng: np.random.Generator,
) -> list[Extract]:
    parents = living[: max(2, round(settings.survivors * settings.population))]
    taken = set(parents)
    fresh = round(settings.fresh * settings.population)
    mutants = round(settings.mutants * settings.population)
    children = max(0, settings.population - len(parents) - fresh - mutants)

    def parent() -> Extract:
        return parents[rng.integers(len(parents))]

    new = list(parents)
    new += _distinct(lambda: makers.child(parent(), parent()), children, taken)
    new += _distinct(lambda: makers.mutant(parent()), mutants, taken)
    # Where survivors are too alike to make new ones, random extracts fill their places.
    new += _distinct(makers.random, settings.population - len(new), taken)
    return new


def _distinct(make: Callable[[], Extract], wanted: int, taken: set[Extract]) -> list[Extract]:
    """Up to `wanted` extracts not yet in `taken`, which grows; gives up after many repeats."""
    made: list[Extract] = []
    for _ in range(20 * wanted):
        if len(made) == wanted:
            break
        extract = make()
        if extract and extract not in taken:
            taken.add(extract)
            made.append(extract)
    return made


@dataclass(frozen=True, slots=True)
class _Makers:
    lengths: IntArray
    words: int
    rng: np.random.Generator

    def random(self) -> Extract:
        """Sentences in random order, each taken if it still fits."""
        return self._filled([], range(len(self.lengths)))

    def child(self, one: Extract, other: Extract) -> Extract:
        """The sentences of both in random order, each taken if it still fits."""
        return self._filled([], sorted({*one, *other}))

    def mutant(self, extract: Extract) -> Extract:
        """One sentence out; filled up at random, the lost one not among them."""
        lost = extract[self.rng.integers(len(extract))]
        return self._filled([i for i in extract if i != lost], range(len(self.lengths)), lost)

    def _filled(self, start: list[int], pool: Sequence[int], lost: int = -1) -> Extract:
        chosen = set(start)
        left = self.words - sum(int(self.lengths[i]) for i in start)
        for i in (pool[place] for place in self.rng.permutation(len(pool)).tolist()):
            if i not in chosen and i != lost and self.lengths[i] <= left:
                chosen.add(i)
                left -= int(self.lengths[i])
        return tuple(sorted(chosen))
