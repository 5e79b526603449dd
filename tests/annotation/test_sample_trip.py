"""A drawn sample from the command line to `combine`, through Label Studio and as the page
saves it, with answers that are missing and facts that are skipped."""

import json
import random

import numpy as np
import pytest
import sample
from cases import write_lines

import litepyramid as lp
from litepyramid.annotation.export import read_tasks
from litepyramid.scoring.sampled import SampledFact, SampledLabels

INPUTS = [f"i{number:02}" for number in range(12)]
UNITS = {name: [f"Fact {name} number {n}." for n in range(5)] for name in INPUTS}
# Of b more facts are there.
SHARES = {"a": 0.4, "b": 0.7}


def chance(*what):
    """A number from 0 to 1 that depends on these words alone."""
    return random.Random(" ".join(what)).random()


def truth(system, unit):
    return chance(system, unit) < SHARES[system]


def answer(system, unit):
    """Yes or no, but of a tenth, whatever the truth, a person skips it."""
    if chance("skip", system, unit) < 0.1:
        return "Skip"
    return "Yes" if truth(system, unit) else "No"


def summary(system, name):
    """Most of what is there in its own words, and some of what is not."""
    texts = ["A summary."]
    for unit in UNITS[name]:
        if chance("told", system, unit) < (0.8 if truth(system, unit) else 0.2):
            texts.append(unit)
    return " ".join(texts)


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    """A folder with summaries, units, and scores.json of a judge by words."""
    folder = tmp_path_factory.mktemp("scored")
    (folder / "texts").mkdir()
    for system in SHARES:
        rows = [{"input": name, "summary": summary(system, name)} for name in INPUTS]
        write_lines(folder / "texts" / f"{system}.jsonl", rows)
    rows = [{"input": name, "units": texts} for name, texts in UNITS.items()]
    units = write_lines(folder / "units.jsonl", rows)
    result = lp.score(folder / "texts", units, judge="recall", samples=50)
    result.save(folder / "scores.json")
    return folder


@pytest.fixture(scope="module")
def goal():
    """Each system's score by the truth."""
    scores = {}
    for system in SHARES:
        labels = [truth(system, unit) for name in INPUTS for unit in UNITS[name]]
        scores[system] = float(np.mean(labels))
    return scores


def test_through_label_studio(cli, scored, goal, tmp_path):
    """Imported and combined, it is what the task file and the truth give directly; all
    tasks but the last one are answered."""
    line = "budget export texts --units units.jsonl --labels 60 --spread facts"
    line = f"{line} --by scores.json --form label-studio -o"
    cli(line, tmp_path / "tasks", cwd=scored)
    tasks = read_tasks(tmp_path / "tasks").judging
    last = tasks[-1]
    by_id = {task.id: task for task in tasks}

    facts = []
    skipped = []
    for task in tasks:
        for unit, drawn in zip(task.units, task.probabilities, strict=True):
            said = "" if task is last else answer(task.system, unit)
            label = {"Yes": 1.0, "No": 0.0}.get(said)
            facts.append(SampledFact(task.system, task.input, unit, drawn, label))
            if said == "Skip":
                skipped.append(f"{task.name}: {unit}")

    def answers(data):
        task = by_id[data["task_id"]]
        assert [unit["text"] for unit in data["units"]] == [*task.units]
        controls = {}
        for number, unit in enumerate(task.units):
            if task is not last:
                controls[f"presence_{number}"] = [answer(task.system, unit)]
        return controls

    sent = tmp_path / "tasks" / "label_studio_tasks.json"
    path = tmp_path / "export.json"
    path.write_text(sample.label_studio(json.loads(sent.read_text()), answers))
    cli("budget import tasks export.json -o judged", cwd=tmp_path)
    imported = lp.import_answers(tmp_path / "tasks", [path])
    named = [one.rsplit(" (", 1)[0] for one in imported.named["refused"]]
    assert sorted(named) == sorted(skipped) != []
    assert f"Skipped by the worker ({len(skipped)})" in " ".join(imported.progress())

    assert len(facts) == 60
    scores = scored / "scores.json"
    labels = SampledLabels("facts", tuple(facts))
    direct = lp.combine(lp.report(scores), labels=labels)
    cli(f"combine {scores} --labels judged -o combined.json", cwd=tmp_path)
    saved = json.loads((tmp_path / "combined.json").read_text())
    assert {one["system"]: one["score"] for one in saved["systems"]} == direct.scores
    unlabelled = sum(fact.label is None for fact in facts)
    assert f"{unlabelled} drawn facts have no label" in " ".join(saved["notes"])
    for one in direct.systems:
        assert one.low <= goal[one.system] <= one.high


def test_partial_answers_and_skips_leave_it_unbiased(scored, goal, tmp_path):
    """Twenty drawn samples as the page saves them, of which people did three quarters
    of the tasks and skipped some facts: the mean estimate is the truth's."""
    units = lp.load(scored / "units.jsonl", summaries=scored / "texts")
    result = lp.report(scored / "scores.json")
    errors = []
    covered = []

    for seed in range(20):
        drawing = lp.Sampling(60, by=result, seed=seed)
        folder = tmp_path / f"{seed}"
        lp.export(units.summaries, folder, units=units.units, sample=drawing)
        rng = random.Random(seed)
        rows = []
        for task in read_tasks(folder).judging[:45]:
            presence = {}
            for n, unit in enumerate(task.units):
                skipped = rng.random() < 0.15
                presence[str(n)] = None if skipped else truth(task.system, unit)
            rows.append({"task": task.id, "finished": True, "presence": presence})

        path = tmp_path / f"{seed}.json"
        path.write_text(sample.page_of(*rows), encoding="utf-8")
        judged = lp.import_answers(folder, [path])
        for one in lp.combine(result, labels=judged).systems:
            errors.append(one.score - goal[one.system])
            covered.append(one.low <= goal[one.system] <= one.high)

    mean = np.mean(errors)
    assert abs(mean) < 3 * np.std(errors) / np.sqrt(len(errors))
    assert np.std(errors) < 0.12
    assert np.mean(covered) > 0.85
