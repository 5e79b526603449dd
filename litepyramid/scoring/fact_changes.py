"""The facts that a system lost and gained between two runs, with the sentences that
tell them."""

import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from litepyramid.data.records import Fact
from litepyramid.scoring.runs import RunPair, Side
from litepyramid.sentences import sentence_spans
from litepyramid.stats import EQUAL_WITHIN
from litepyramid.tables import hidden

PRESENT = 0.5
"""From this presence on a fact counts as present."""

LOST_BY = 0.2
"""The presence of a fact that is lost or gained changes by at least this."""

_SPEAKS = 0.5  # share of a fact's words in a sentence that speaks of it

Span = tuple[int, int]


@dataclass(frozen=True)
class FactChange:
    """A fact that a system lost or gained, with its presence in both runs.

    A penalty of a rubric is lost where it is met now, and gained where it no longer is.

    Attributes:
        text: The fact; of a penalty (weight below zero) behind "penalty: ".
        old_sentence: The sentence that speaks of it; empty if none does, or without
            texts.
        spans: Where both sentences stand in their summaries.
    """

    input: str
    text: str
    old: float
    new: float
    old_sentence: str = ""
    new_sentence: str = ""
    weight: float = 1.0
    spans: tuple[Span, Span] = hidden(default=((0, 0), (0, 0)))


def fact_changes(runs: RunPair, system: str, *, lost: bool) -> tuple[FactChange, ...]:
    """The facts that a system lost, those of the worst input first; or gained, those of
    the best."""
    old, new = runs.old, runs.new
    better, worse = (old, new) if lost else (new, old)
    n = old.facts.systems.index(system)
    before, now = better.facts.of_system(system), worse.facts.of_system(system)
    # A penalty is there in the worse run.
    penalty = runs.units.weights < 0
    high = np.where(penalty, now, before)
    low = np.where(penalty, before, now)
    # A fact that moves a little across the boundary is as present as before.
    fallen = (
        (high >= PRESENT) & (low < PRESENT) & (high - low >= LOST_BY - EQUAL_WITHIN)
    )

    # Inputs that changed most come first, their facts in the order of the units.
    differences = np.nan_to_num(worse.scores[n] - better.scores[n])
    places = np.flatnonzero(fallen)
    order = np.argsort(differences[runs.units.input_of[places]], kind="stable")
    changes = []
    for place in places[order].tolist():
        fact = runs.units.facts[place]
        unit = runs.units.every[place]
        holds, lacks = (worse, better) if unit.weight < 0 else (better, worse)
        is_held = holds.facts.values[n, place] >= PRESENT
        there = _sentence(holds, system, fact, goal=fact.text, present=is_held)
        # What took the place of a sentence is often near to it rather than to the
        # fact.
        goal = f"{fact.text} {there[1]}"
        is_held = lacks.facts.values[n, place] >= PRESENT
        gone = _sentence(lacks, system, fact, goal=goal, present=is_held)
        first, second = (there, gone) if holds is old else (gone, there)

        changes.append(
            FactChange(
                input=fact.input,
                text=f"penalty: {fact.text}" if unit.weight < 0 else fact.text,
                old=float(old.facts.values[n, place]),
                new=float(new.facts.values[n, place]),
                old_sentence=first[1],
                new_sentence=second[1],
                weight=unit.weight,
                spans=(first[0], second[0]),
            )
        )

    return tuple(changes)


def _sentence(
    side: Side, system: str, fact: Fact, *, goal: str, present: bool
) -> tuple[Span, str]:
    """The sentence of a summary that speaks of a fact, and where it stands.

    It is the judge's evidence where that is saved, else the one with most words of the
    goal. Of a fact that is not present it must hold half of the words; else no sentence
    speaks of it.
    """
    text = side.text(system, fact.input) or ""
    evidence = side.evidence(system, fact)
    if evidence is not None and evidence.sentence >= 0:
        span = evidence.span
    else:
        span = nearest_sentence(text, goal)

    sentence = text[slice(*span)]
    words = _words(fact.text)
    shared = len(words & _words(sentence))
    # A sentence near to the goal may speak of something else altogether.
    if not present and shared < _SPEAKS * len(words):
        return (0, 0), ""
    return span, sentence


@lru_cache(20_000)
def _sentence_words(text: str) -> list[tuple[Span, frozenset[str]]]:
    return [((a, b), _words(text[a:b])) for a, b in sentence_spans(text)]


@lru_cache(20_000)
def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.lower()))


def nearest_sentence(text: str, goal: str) -> Span:
    """The sentence that shares most words with another text (cosine); (0, 0) if none
    shares any.

    Example:
        >>> nearest_sentence("It rained. Two men died.", "Two people died.")
        (11, 24)
    """
    goal_words = _words(goal)
    best = 0.0
    nearest = (0, 0)
    for span, words in _sentence_words(text):
        # The goal's own length is the same for all sentences, and so left out.
        score = len(words & goal_words) / max(1, len(words)) ** 0.5
        if score > best:
            best = score
            nearest = span
    return nearest
