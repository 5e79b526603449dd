"""Human labels laid out as presence is, systems in their order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from litepyramid.errors import InputError
from litepyramid.scoring.pyramid import UnitLayout
from litepyramid.types import FloatArray, SystemLabels


def align_labels(
    labels: Sequence[SystemLabels], systems: Sequence[str], layout: UnitLayout
) -> tuple[FloatArray, dict[str, int]]:
    """(N, U) labels in the systems' order, NaN rows where there are none, and their counts."""
    by_name = {entry.system: entry for entry in labels}
    flat = np.full((len(systems), layout.weights.size), np.nan)
    for index, name in enumerate(systems):
        if name in by_name:
            flat[index] = layout.flatten([by_name[name]])[0]
    unlabelled = sum(name not in by_name for name in systems)
    if unlabelled == len(systems):
        raise InputError(
            "no labels for any scored system",
            expected=f"label files named after the systems: '{systems[0]}' …",
        )
    return flat, {
        "systems_without_labels": unlabelled,
        "labels_not_used": sum(name not in systems for name in by_name),
    }
