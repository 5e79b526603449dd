"""Rank groups: systems that do not differ significantly share a letter."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from litepyramid.scoring.compare import flip_p_values
from litepyramid.stats import adjust_p_values, system_means
from litepyramid.types import FloatArray


def rank_groups(values: FloatArray, alpha: float = 0.05) -> list[tuple[int, ...]]:
    """Rank groups as a compact letter display (Piepho 2004).

    Two systems share a group exactly when they do not differ significantly: p (`flip_p_values`)
    with Holm's correction over all pairs is at least α. That is not an equivalence, so a system may
    be in several groups. There can be exponentially many largest groups in which no two differ;
    taken are only enough for every pair: from the best system on, the group of it and the worst
    one that it shares none with yet, with all who differ from none of the group, in their order.

    Args:
        values: (N, M) scores, NaN where not scored; system means order the groups, the best is 1.
        alpha: Significance level.

    Returns:
        For each system the groups it is in, ascending; empty for a system with no score.

    Example:
        >>> rank_groups(np.array([[1.0] * 12, [0.0] * 12, [0.0] * 11 + [0.1]]))
        [(1,), (2,), (2,)]
    """
    means = system_means(values)
    order = [int(i) for i in np.argsort(-means, kind="stable") if not np.isnan(means[i])]
    pairs = np.array(list(combinations(range(len(order)), 2)), dtype=np.int64).reshape(-1, 2)
    corrected = adjust_p_values(flip_p_values(values[order], pairs), "holm")
    differs = np.zeros((len(means), len(means)), dtype=bool)
    differs[tuple(np.array(order)[pairs[corrected < alpha]].T)] = True
    return letter_groups(order, differs | differs.T)


def letter_groups(order: Sequence[int], differs: NDArray[np.bool_]) -> list[tuple[int, ...]]:
    """The groups of `rank_groups` from which pairs differ.

    Args:
        order: The systems, best first; those left out are in no group.
        differs: (N, N) symmetric, whether two systems differ significantly.

    Example:
        >>> letter_groups([0, 1], np.array([[False, True], [True, False]]))
        [(1,), (2,)]
    """
    order = [int(i) for i in order]
    # Sets of places in the order, as the bits of a number.
    alike = [sum(1 << int(i) for i in np.nonzero(~row)[0]) for row in differs[np.ix_(order, order)]]
    shared = [0] * len(order)
    found: list[list[int]] = [[] for _ in differs]
    number = 0
    for place in range(len(order)):
        while missing := (alike[place] & ~shared[place]) >> place << place:
            number += 1
            group, allowed = 0, alike[place]
            wanted = 1 << missing.bit_length() - 1
            while allowed:
                new = (wanted & -wanted).bit_length() - 1
                group |= 1 << new
                allowed &= alike[new] & ~group
                wanted = allowed & missing or allowed
            for member in range(len(order)):
                if group >> member & 1:
                    shared[member] |= group
                    found[order[member]].append(number)
    return [tuple(groups) for groups in found]


def group_letters(groups: Sequence[int]) -> str:
    """Groups as letters, the best is a; numbers from the 27th on.

    Example:
        >>> group_letters([1, 2]), group_letters([26, 27])
        ('ab', 'z 27')
    """
    letters = "".join(chr(ord("a") + g - 1) for g in groups if g <= 26)
    return " ".join([letters, *(str(g) for g in groups if g > 26)]).strip()
