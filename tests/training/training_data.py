"""Small data to learn from: labels follow from the texts."""

import numpy as np
from cases import write_lines

from litepyramid.io.dataset import Dataset
from litepyramid.training.pairs import TrainingPairs
from litepyramid.types import InputUnits, SystemLabels, SystemSummaries, Unit

WORDS = [f"word{i}" for i in range(40)]


def synthetic(inputs=10, systems=6, seed=0, name="synthetic"):
    """A data set in which a unit is present if its word is in the summary."""
    rng = np.random.default_rng(seed)
    scus = []
    texts = [[] for _ in range(systems)]
    labels = [[] for _ in range(systems)]

    for i in range(inputs):
        words = list(rng.choice(WORDS, 5, replace=False))
        scus.append(InputUnits(f"i{i}", tuple(Unit(w) for w in words)))
        for n in range(systems):
            present = [w for w in words if rng.random() < (n + 1) / (systems + 1)]
            texts[n].append(" ".join(present))
            labels[n].append(tuple(int(w in present) for w in words))

    ids = tuple(entry.input for entry in scus)
    return Dataset(
        name,
        tuple(scus),
        summaries=tuple(
            SystemSummaries(f"s{n}", ids, tuple(texts[n])) for n in range(systems)
        ),
        labels=tuple(
            SystemLabels(f"s{n}", ids, tuple(labels[n])) for n in range(systems)
        ),
    )


def synthetic_pairs(number: int, seed: int) -> TrainingPairs:
    """A unit is present exactly when its colour is the summary's.

    Either colour is as often present as absent, so no word alone gives the label away.
    """
    colours = ("red", "blue")
    rng = np.random.default_rng(seed)
    present, asked = rng.integers(2, size=(2, number))
    texts = (
        [f"the {colours[s]} car won" for s in present],
        [f"{colours[a]} won" for a in asked],
    )
    return TrainingPairs(
        tuple(zip(*texts, strict=True)), tuple(int(x) for x in present == asked)
    )


def files_of(path, pairs: TrainingPairs, told):
    """A file of pairs with what `told` says of each label, such as {"present": 1}."""
    rows = []
    for (premise, hypothesis), label in zip(pairs.pairs, pairs.labels, strict=True):
        rows.append({"premise": premise, "hypothesis": hypothesis, **told(label)})
    return write_lines(path, rows)
