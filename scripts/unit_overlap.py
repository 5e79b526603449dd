"""How far two sets of units of the same inputs say the same: best ROUGE-1 F1, both ways."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from litepyramid.easiness.gold import rouge1, simulation_accuracy
from litepyramid.errors import InputError
from litepyramid.types import InputUnits


@dataclass(frozen=True, slots=True)
class UnitOverlap:
    """Two sets of units held against each other.

    Attributes:
        forward: ``mean_i mean_j max_m F(a_ij, b_im)``: over inputs i and units j of the first
            set, how well its best match in the second set covers it, in [0, 1].
        backward: The same with the two sets exchanged.
        counts: Mean number of units an input, first and second set.
    """

    forward: float
    backward: float
    counts: tuple[float, float]


def unit_overlap(first: Sequence[InputUnits], second: Sequence[InputUnits]) -> UnitOverlap:
    """Mean best ROUGE-1 F1 between two sets of units, in both directions.

    Raises:
        InputError: The two are not of the same inputs in the same order.

    Example:
        >>> from litepyramid.types import Unit
        >>> a = [InputUnits("1", (Unit("Ann left home"), Unit("it rained")))]
        >>> b = [InputUnits("1", (Unit("Ann left"),))]
        >>> unit_overlap(a, b)
        UnitOverlap(forward=0.4, backward=0.8, counts=(2.0, 1.0))
    """
    if not first or [entry.input for entry in first] != [entry.input for entry in second]:
        raise InputError("two sets of units that are not of the same inputs in the same order")
    similarity = rouge1()

    def one_way(these: Sequence[InputUnits], those: Sequence[InputUnits]) -> float:
        means = [
            np.mean([simulation_accuracy(text, there.texts, similarity) for text in here.texts])
            for here, there in zip(these, those, strict=True)
        ]
        return float(np.mean(means))

    sizes = [float(np.mean([len(entry.units) for entry in side])) for side in (first, second)]
    return UnitOverlap(one_way(first, second), one_way(second, first), (sizes[0], sizes[1]))
