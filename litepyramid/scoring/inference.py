"""What inputs tell about systems: intervals of their scores, tests of differences, rank
groups."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, log2
from typing import Any

import numpy as np

from litepyramid.stats import (
    SMALLEST_TAIL,
    adjust_p_values,
    all_pairs,
    blocks,
    flip_tails,
    mean_of_scored,
    system_intervals,
    system_means,
    t_reach,
    undefined,
)
from litepyramid.tables import Column
from litepyramid.text import counted
from litepyramid.types import (
    BoolArray,
    Ends,
    Fields,
    FloatArray,
    IntArray,
    Names,
)

FEW = 15
"""With fewer inputs intervals are too short: of 95 %, .92 hold the score with 12, .89
with 8; those of `combine` .93 with 8 labelled, .89 with 5."""

MOST_TESTED = 20_000_000
"""Pairs of systems × inputs up to which each pair is tested exactly."""

MEASURES = (
    Column("difference", "diff.", signed=True),
    Column("low", signed=True),
    Column("high", signed=True),
    Column("p", digits=4, above_zero=True),
    Column(
        "p_holm",
        "p Holm",
        digits=4,
        above_zero=True,
    ),
)
"""The columns of a tested difference."""


@dataclass(frozen=True, kw_only=True)
class TestedDifference:
    """A mean difference over the inputs that both sides are scored on, with its test.

    Attributes:
        difference: In points of the score, with its paired bootstrap interval (low,
            high).
        p: Two-sided p-value of "no difference" (`flip_p_values`).
        p_holm: The same after Holm's correction over all that is tested together.
    """

    difference: float
    low: float
    high: float
    p: float
    p_holm: float = np.nan
    inputs: int


_ALPHA = 0.05


def as_differences(
    differences: FloatArray, p: FloatArray | None = None, **bootstrap: Any
) -> list[Fields]:
    """The fields of a `TestedDifference` for each row of differences over inputs."""
    ends = system_intervals(differences, **bootstrap)
    p = flip_p_of(differences) if p is None else p
    entries = []
    for row, (low, high), chance in zip(differences, ends, p.tolist(), strict=True):
        entries.append(
            {
                "difference": mean_of_scored(row),
                "low": low,
                "high": high,
                "p": chance,
                "inputs": int((~np.isnan(row)).sum()),
            }
        )
    return entries


def with_holm(entries: Sequence[Any]) -> list[Any]:
    """What was tested together, its `p_holm` by Holm's correction of its `p`."""
    p = adjust_p_values(np.array([entry.p for entry in entries]), "holm").tolist()
    return [replace(entry, p_holm=own) for entry, own in zip(entries, p, strict=True)]


def with_intervals(
    systems: Names, inputs: Names, values: FloatArray, **bootstrap: Any
) -> Fields:
    """The fields of `SystemScores` that (N, M) scores give: `system_intervals` and
    `rank_groups`."""
    return {
        "systems": systems,
        "inputs": inputs,
        "values": values,
        "intervals": tuple(system_intervals(values, **bootstrap)),
        "groups": tuple(rank_groups(values)),
        **bootstrap,
    }


def with_repeats(
    intervals: Sequence[Ends], scores: FloatArray, confidence: float, limits: Ends
) -> tuple[Ends, ...]:
    """Intervals that also hold how (K, N) scores vary from one time to another, within
    the limits of the scale."""
    repeats = len(scores)
    means = scores.mean(axis=0).tolist()
    error = scores.std(axis=0, ddof=1) / repeats**0.5
    # Two sources of error that do not depend on each other: their reaches add as
    # squares.
    reach = t_reach(confidence, repeats - 1) * error
    wider = []
    for (low, high), mean, more in zip(intervals, means, reach, strict=True):
        below, above = np.hypot((mean - low, high - mean), more).tolist()
        # Drawn inputs may have a lower mean than the limit, that of all inputs.
        lowest = min(low, limits[0])
        wider.append((max(mean - below, lowest), min(mean + above, limits[1])))
    return tuple(wider)


def flip_p_values(values: FloatArray, pairs: IntArray) -> FloatArray:
    """Two-sided p-values of "the mean difference is zero", of (P, 2) pairs of
    systems.

    p = min(1, 2 P(Σ ±|d| ≥ |Σ d|)) over all 2^M ways in which two systems could have
    changed places on their M shared inputs (`flip_tails`); NaN where the two share
    none.

    Example:
        >>> values = np.array([[1.0, 1, 1], [0, 0, 0]])
        >>> flip_p_values(values, np.array([[0, 1]])).tolist()
        [0.25]
    """
    p = [np.empty(0)]
    for block in blocks(len(pairs), 8 * values.shape[1]):
        p.append(flip_p_of(values[pairs[block, 0]] - values[pairs[block, 1]]))
    return np.concatenate(p)


def differing(values: FloatArray, pairs: IntArray, alpha: float = _ALPHA) -> BoolArray:
    """(P,) whether two systems differ significantly: p (`flip_p_values`) with Holm's
    correction is below `alpha`.

    With z = |Σ d| / √Σ d², p is at most 2 exp(−z²/2) (Hoeffding 1963) and at least
    2 (1 − Φ(z) − .56 Σ |d|³ / (Σ d²)^1.5) (Berry 1941, Esseen 1942; the constant is
    Shevtsova's 2010). Most pairs are settled by one of these bounds, and only the
    others are tested. Of pairs × inputs beyond `MOST_TESTED` the upper bound is taken
    as p, which is never too small.

    Example:
        >>> values = np.array([[1.0] * 12, [0.0] * 12, [0.0] * 11 + [0.1]])
        >>> differing(values, np.array([[0, 1], [0, 2], [1, 2]])).tolist()
        [True, True, False]
    """
    least, most = np.empty((2, len(pairs)))
    for block in blocks(len(pairs), 8 * values.shape[1]):
        differences = values[pairs[block, 0]] - values[pairs[block, 1]]
        least[block], most[block] = _flip_p_bounds(differences)

    tests = (~np.isnan(most)).sum()
    clear = most * tests < alpha
    p = np.where(clear, most, least)
    unsettled = ~clear & (least < alpha)

    if too_many_pairs(len(pairs), values.shape[1]):
        p[unsettled] = most[unsettled]
    else:
        p[unsettled] = flip_p_values(values, pairs[unsettled])
    return np.asarray(adjust_p_values(p, "holm") < alpha)


def _flip_p_bounds(differences: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The bounds of `differing` of rows of differences."""
    from scipy.special import ndtr

    size = np.nan_to_num(np.abs(differences))
    squares = (size**2).sum(axis=1)
    total = np.abs(np.nansum(differences, axis=1))
    with undefined():
        z = np.where(squares > 0, total / np.sqrt(squares), 0.0)
        skew = np.where(squares > 0, (size**3).sum(axis=1) / squares**1.5, 0.0)

    z[np.isnan(differences).all(axis=1)] = np.nan
    return 2 * (ndtr(-z) - 0.56 * skew), 2 * np.exp(-(z**2) / 2)


def too_many_pairs(pairs: int, inputs: int) -> list[str]:
    """A sentence if so many pairs are not tested exactly (`differing`)."""
    if pairs * inputs <= MOST_TESTED:
        return []
    return [
        f"{counted(pairs, 'pair')} on {counted(inputs, 'input')} are too many for "
        "exact tests: p is Hoeffding's bound, and systems share a group more easily."
    ]


def flip_p_of(differences: FloatArray) -> FloatArray:
    """`flip_p_values` of rows of differences."""
    # Two-sided: each row is turned so that its sum is not below zero.
    signs = np.where(np.nansum(differences, axis=1, keepdims=True) < 0, -1.0, 1.0)
    p = np.minimum(1.0, 2.0 * flip_tails(signs * differences))
    p[np.isnan(differences).all(axis=1)] = np.nan
    return p


def smallest_flip_p(inputs: int) -> float:
    """The smallest two-sided p of a sign-flip test, 2^(1 - M), as far as numbers can
    tell."""
    return max(2.0 ** (1 - inputs), 2 * SMALLEST_TAIL)


def too_few_inputs(inputs: int, pairs: int, alpha: float = _ALPHA) -> list[str]:
    """A sentence if none of this many pairs could differ significantly, however
    different."""
    if smallest_flip_p(inputs) * pairs < alpha:
        return []
    return [
        f"No difference could be significant: with {counted(inputs, 'input')} p is "
        f"at least {smallest_flip_p(inputs):.2g}, and {counted(pairs, 'pair')} at "
        f"{alpha:g} need {ceil(1 + log2(pairs / alpha) + 1e-9)} inputs or more."
    ]


def short_intervals(inputs: int) -> list[str]:
    """A sentence if bootstrap intervals over so few inputs are too short."""
    if inputs >= FEW:
        return []
    few = counted(inputs, "input")
    return [f"Intervals over {few} are too short; they need {FEW} or more."]


def rank_groups(values: FloatArray) -> list[tuple[int, ...]]:
    """Rank groups as a compact letter display (Piepho 2004).

    Two systems share a group exactly when they do not differ significantly: p
    (`flip_p_values`) with Holm's correction over all pairs is at least .05. That is not
    an equivalence, so a system may be in several groups. There can be exponentially
    many largest groups in which no two differ; taken are only enough for every pair:
    from the best system on, the group of it and the worst one that it shares none with
    yet, with all who differ from none of the group, in their order. Groups go by the
    means of (N, M) values, the best is 1; a system with no score is in none.

    Example:
        >>> rank_groups(np.array([[1.0] * 12, [0.0] * 12, [0.0] * 11 + [0.1]]))
        [(1,), (2,), (2,)]
    """
    means = system_means(values)
    if len(means) == 1:
        return [() if np.isnan(means[0]) else (1,)]
    # NaN, the mean of a system without scores, is sorted to the end.
    scored = int((~np.isnan(means)).sum())
    order = np.argsort(-means, kind="stable")[:scored].tolist()
    pairs = all_pairs(len(order))
    differs = np.zeros((len(means), len(means)), dtype=bool)
    places = np.array(order, dtype=int)[pairs]
    first, second = places[differing(values[order], pairs)].T
    differs[first, second] = True
    return letter_groups(order, differs | differs.T)


def letter_groups(order: Sequence[int], differs: BoolArray) -> list[tuple[int, ...]]:
    """The groups of `rank_groups` from which pairs differ.

    `order` are the systems, best first, those left out in no group; `differs` is (N,
    N), symmetric.
    """
    # Sets of ranks, as the bits of a number.
    alike = []
    for row in differs[np.ix_(order, order)]:
        alike.append(sum([1 << i for i in np.flatnonzero(~row).tolist()]))
    shared = [0] * len(order)
    groups: list[list[int]] = [[] for _ in differs]
    number = 0

    for rank in range(len(order)):
        # Only later systems are looked for: earlier ones have their groups with this
        # one.
        while missing := (alike[rank] & ~shared[rank]) >> rank << rank:
            # A largest set of systems that do not differ, with as many as can be of
            # those that this one shares no group with yet.
            number += 1
            group = 0
            allowed = alike[rank]
            candidates = 1 << missing.bit_length() - 1
            while allowed:
                new = (candidates & -candidates).bit_length() - 1  # the best one left
                group |= 1 << new
                allowed &= alike[new] & ~group
                candidates = allowed & missing or allowed
            for member in range(len(order)):
                if group >> member & 1:
                    shared[member] |= group
                    groups[order[member]].append(number)

    return [tuple(numbers) for numbers in groups]


def group_letters(groups: Sequence[int]) -> str:
    """Groups as letters, the best is a; numbers from the 27th on: "ab", "z 27"."""
    letters = "".join(chr(ord("a") + g - 1) for g in groups if g <= 26)
    return " ".join([letters, *(str(g) for g in groups if g > 26)]).strip()
