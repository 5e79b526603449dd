"""Results of a made-up judge, with or without a fault, for tests of the audit."""

import numpy as np

import litepyramid as lp
from litepyramid.scoring.result import ScoreResult
from litepyramid.types import InputUnits, SystemLabels, SystemSummaries, Unit

WORDS = [
    "river",
    "bridge",
    "mayor",
    "storm",
    "ferry",
    "council",
    "museum",
    "strike",
    "harbour",
    "bank",
]


def made_up(
    seed: int, fault: str = "", systems: int = 4, inputs: int = 60
) -> ScoreResult:
    """A judge whose presence is the probability of a label, and labels drawn so.

    Inputs differ in what no judge can know. Faults: ``length`` (long summaries get
    more), ``lenient`` (everything gets more), ``negation`` (a negated fact is judged by
    its opposite).
    """
    rng = np.random.default_rng(seed)
    units = []
    summaries = []
    labels = []
    presence = {}
    names = tuple(f"i{i:02}" for i in range(inputs))

    for i in range(inputs):
        texts = []
        for u in range(8):
            chosen = " ".join(rng.choice(WORDS, rng.integers(3, 9)))
            negated = "not " if rng.random() < 0.3 else ""
            texts.append(f"Fact {u} is {negated}{chosen}")
        units.append(InputUnits(names[i], tuple(Unit(text) for text in texts)))

    for s in range(systems):
        name = f"s{s}"
        texts = []
        rows = []
        values = []

        for i in range(inputs):
            size = int(rng.integers(10, 80))
            texts.append(" ".join(rng.choice(WORDS, size)))
            logit = rng.normal(0.3 * s - 0.5, 1.5, 8)
            label = rng.random(8) < 1 / (
                1 + np.exp(-logit - 0.5 * rng.standard_normal())
            )
            if fault == "length":
                logit = logit + (size - 45) / 30
            elif fault == "lenient":
                logit = logit + 1.0
            elif fault == "negation":
                negated = np.array([" not " in text for text in units[i].texts])
                logit = np.where(negated, -logit, logit)
            rows.append(tuple(label.astype(int).tolist()))
            values.append(1 / (1 + np.exp(-logit)))

        summaries.append(SystemSummaries(name, names, tuple(texts)))
        labels.append(SystemLabels(name, names, tuple(rows)))
        presence[name] = values

    calls = iter([value for row in presence.values() for value in row])
    data = lp.load(units, summaries=summaries, labels=labels)
    return lp.score(data, judge=lambda summary, facts: next(calls), samples=100)
