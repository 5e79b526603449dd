"""Small data to learn from: labels follow from the texts."""

from itertools import compress

import numpy as np
from cases import write_lines

from litepyramid.data.data import load
from litepyramid.judges.labelled import LabelledPair

WORDS = [f"word{i}" for i in range(40)]


def synthetic(inputs=10, systems=6, seed=0, name="synthetic"):
    """A data set in which a unit is present if its word is in the summary."""
    rng = np.random.default_rng(seed)
    units = {}
    for i in range(inputs):
        units[f"i{i}"] = rng.choice(WORDS, 5, replace=False).tolist()

    texts = {}
    labels = {}
    for n in range(systems):
        system = f"s{n}"
        texts[system] = {}
        labels[system] = {}
        for entry, words in units.items():
            present = rng.random(5) < (n + 1) / (systems + 1)
            texts[system][entry] = " ".join(compress(words, present))
            labels[system][entry] = present.tolist()

    return load(texts, units, labels=labels, name=name)


def synthetic_pairs(number: int, seed: int) -> list[LabelledPair]:
    """A unit is present exactly when its colour is the summary's.

    Either colour is as often present as absent, so no word alone gives the label away.
    """
    rng = np.random.default_rng(seed)
    pairs = []
    for summary, unit in rng.choice(["red", "blue"], size=(number, 2)).tolist():
        texts = f"the {summary} car won", f"{unit} won"
        pairs.append(LabelledPair(*texts, int(summary == unit)))
    return pairs


def files_of(path, pairs: list[LabelledPair], told):
    """A file of pairs with what `told` says of each label, such as {"present": 1}."""
    rows = []
    for premise, unit, label in pairs:
        rows.append({"premise": premise, "hypothesis": unit, **told(label)})
    return write_lines(path, rows)
