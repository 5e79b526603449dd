"""The facts that a system lost and gained between two runs, with the sentences that
tell them."""

import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from litepyramid.scoring.runs import AlignedRuns, Side
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
        unit: Number of the unit in the baseline's input, from 1.
        text: The fact; of a penalty (weight below zero) behind "penalty: ".
        old_sentence: The sentence that speaks of it; empty if none does, or without
            texts.
        spans: Where both sentences stand in their summaries.
    """

    input: str
    unit: int
    text: str
    old: float
    new: float
    old_sentence: str = ""
    new_sentence: str = ""
    weight: float = 1.0
    spans: tuple[Span, Span] = hidden(default=((0, 0), (0, 0)))


def fact_changes(
    runs: AlignedRuns, system: int, *, lost: bool
) -> tuple[FactChange, ...]:
    """The facts that a system lost, those of the worst input first; or gained, those of
    the best."""
    old, new = runs.sides
    better, worse = (old, new) if lost else (new, old)
    units = every_unit(runs.units)
    # A penalty is there in the worse run.
    penalty = np.array([unit.weight < 0 for unit in units])
    high = np.where(penalty, worse.presence[system], better.presence[system])
    low = np.where(penalty, better.presence[system], worse.presence[system])
    # A fact that moves a little across the boundary is as present as before.
    fallen = (
        (high >= PRESENT) & (low < PRESENT) & (high - low >= LOST_BY - EQUAL_WITHIN)
    )

    differences = np.nan_to_num(worse.scores[system] - better.scores[system]).tolist()
    changed = []
    for place in np.flatnonzero(fallen).tolist():
        changed.append((differences[runs.numbers[place][0]], place))

    # Inputs that changed most come first, their facts in the order of the units.
    changes = []
    for _, place in sorted(changed):
        unit = units[place]
        column, number = runs.numbers[place]
        where = system, column, place, unit.text
        holds, lacks = (worse, better) if unit.weight < 0 else (better, worse)
        there = _sentence(holds, *where, goal=unit.text)
        # What took the place of a sentence is often near to it rather than to the
        # fact.
        gone = _sentence(lacks, *where, goal=f"{unit.text} {there[1]}")
        before, now = (there, gone) if holds is old else (gone, there)

        changes.append(
            FactChange(
                input=runs.units[column].input,
                unit=number,
                text=f"penalty: {unit.text}" if unit.weight < 0 else unit.text,
                old=float(old.presence[system, place]),
                new=float(new.presence[system, place]),
                old_sentence=before[1],
                new_sentence=now[1],
                weight=unit.weight,
                spans=(before[0], now[0]),
            )
        )

    return tuple(changes)


def _sentence(
    side: Side, system: int, column: int, place: int, fact: str, goal: str
) -> tuple[Span, str]:
    """The sentence of a summary that speaks of a fact, and where it stands.

    It is the judge's evidence where that is saved, else the one with most words of the
    goal. Of a fact that is not present it must hold half of the words; else no sentence
    speaks of it.
    """
    text = side.texts[system][column] if side.texts else ""
    evidence = side.evidence[system][place] if side.evidence else None

    if evidence is not None and evidence.sentence >= 0:
        span = evidence.span
    else:
        span = nearest_sentence(text, goal)

    sentence = text[slice(*span)]
    words = _words(fact)
    shared = len(words & _words(sentence))
    # A sentence near to the goal may speak of something else altogether.
    if side.presence[system, place] < PRESENT and shared < _SPEAKS * len(words):
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
