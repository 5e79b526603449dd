"""Results of a made-up judge, with or without a fault; and people who answer tasks."""

import json

import numpy as np
from scipy.special import expit

import litepyramid as lp
from litepyramid.annotation.responses import PAGE_FORMAT
from litepyramid.data.data import Data
from litepyramid.data.records import InputUnits, Unit
from litepyramid.scoring.result import ScoreResult

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


def made_up_data(seed, fault="", systems=4, inputs=60, uneven=False) -> Data:
    """A judge whose presence is the probability of a label, and labels drawn so.

    Inputs differ in what no judge can know. Faults: ``length`` (long summaries get
    more), ``lenient`` (everything gets more), ``negation`` (a negated fact is judged by
    its opposite), ``system`` (the worst system gets more), ``copied`` (the more of a
    summary stands in the reference). Inputs have 8 facts of weight 1, or 4 to 8 of
    weights that are `uneven`; summaries copy between nothing and all.
    """
    rng = np.random.default_rng(seed)

    def some_words(size):
        return " ".join(rng.choice(WORDS, size))

    counts = rng.integers(4, 9, inputs) if uneven else [8] * inputs
    negated = rng.random((inputs, 8)) < 0.3
    units = []
    for i, count in enumerate(counts):
        facts = []
        for u in range(count):
            words = some_words(rng.integers(3, 9))
            weight = float(rng.integers(1, 4)) if uneven else 1.0
            no = "not " if negated[i, u] else ""
            facts.append(Unit(f"Fact {u} is {no}{words}", weight))
        units.append(InputUnits(f"i{i:02}", tuple(facts)))

    def rows(values):
        return [row[:count] for row, count in zip(values.tolist(), counts, strict=True)]

    copying = np.random.default_rng(seed)
    references = [" ".join(copying.choice(WORDS, 80)) for _ in range(inputs)]
    summaries = {}
    labels = {}
    presence = {}
    for s in range(systems):
        sizes = rng.integers(10, 80, inputs)
        logit = rng.normal(0.3 * s - 0.5, 1.5, (inputs, 8))
        unknown = 0.5 * rng.standard_normal((inputs, 1))
        label = rng.random(logit.shape) < expit(logit + unknown)
        if fault == "length":
            logit += (sizes[:, None] - 45) / 30
        elif fault == "lenient":
            logit += 1.0
        elif fault == "negation":
            logit[negated] *= -1
        elif fault == "system" and s == 0:
            logit += 1.5

        texts = list(map(some_words, sizes))
        for i, share in enumerate(copying.random(inputs)):
            words = texts[i].split()
            count = round(share * len(words))
            copied = references[i].split()[:count]
            texts[i] = " ".join(copied + [f"{word}s" for word in words[count:]])
            if fault == "copied":
                logit[i] += 2 * share - 1

        summaries[f"s{s}"] = texts
        labels[f"s{s}"] = rows(label.astype(int))
        presence[f"s{s}"] = rows(expit(logit))

    names = [entry.input for entry in units]
    given = {"references": references, "labels": labels, "presence": presence}
    return lp.load(summaries, units, ids=names, **given)


def judge_of(data):
    """A judge that gives the presence of a data set, by the texts."""
    known = {}
    for n, row in enumerate(data.summaries.texts):
        presence = data.presence.units.split(data.presence.values[n])
        for name, text in zip(data.inputs, row, strict=True):
            known[text] = dict(zip(data.units[name].texts, presence[name], strict=True))

    def judge(summary, units):
        return [known[summary][unit] for unit in units]

    return judge


def made_up(seed, fault="", **sizes) -> ScoreResult:
    return lp.score(made_up_data(seed, fault, **sizes), samples=100)


def of_presence(presence, labels=None, names="abcdefgh", samples=40) -> ScoreResult:
    """A result of (N, M, U) presence and no texts; NaN is no judgement, or no label."""
    sources = {"presence": presence, "labels": labels}
    by_system = {}
    for source, values in sources.items():
        if values is not None:
            rows = zip(names, values.tolist(), strict=False)
            by_system[source] = dict(rows)

    units = []
    for i in range(presence.shape[1]):
        units.append([f"Fact {i} {j}." for j in range(presence.shape[2])])
    return lp.score(units=units, samples=samples, **by_system)


def by_fact(
    result: ScoreResult, values: np.ndarray
) -> dict[tuple[str, str, str], float]:
    """(N, U) values of a result's units by system, input and text."""
    entries = {}
    for system, row in zip(result.systems, values.tolist(), strict=True):
        for fact, value in zip(result.units.facts, row, strict=True):
            entries[system, fact.input, fact.text] = value
    return entries


def answer_tasks(folder, result, people, **sampling):
    """What is imported of people who judge all facts, or a sample of them, on the page.

    `people` have by name the labels that somebody gives, as of `by_fact`; None is a
    fact that is skipped. It is imported to `judged` in the folder.
    """
    sample = lp.Sampling(**sampling) if sampling else None
    shown = {"units": result.units, "sample": sample}
    made = lp.export(result.summaries, folder / "tasks", **shown)
    paths = []

    for worker, labels in people.items():
        rows = []
        for task in made.tasks.judging:
            presence = {}
            for n, unit in enumerate(task.units):
                label = labels[task.system, task.input, unit]
                presence[str(n)] = None if label is None else bool(label)
            rows.append({"task": task.id, "finished": True, "presence": presence})
        content = {"format": PAGE_FORMAT, "worker": worker, "answers": rows}
        paths.append(folder / f"{worker}.json")
        paths[-1].write_text(json.dumps(content))

    return lp.import_answers(folder / "tasks", paths, output=folder / "judged")
