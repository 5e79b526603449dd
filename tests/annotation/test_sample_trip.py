"""A drawn sample from the command line to `combine`: through the page, its JSON form,
and Label Studio; with answers that are missing and facts that are skipped."""

import json
import random

import numpy as np
import pytest
import sample
from cases import write_lines
from test_page import at, begin, downloaded, silent, type_keys

import litepyramid as lp
from litepyramid.annotation.export import read_tasks
from litepyramid.scoring.sampled import SampledFact, SampledLabels

SYSTEMS = ("a", "b")
INPUTS = [f"i{m:02}" for m in range(12)]
UNITS = {name: [f"Fact {name} number {u}." for u in range(5)] for name in INPUTS}


def truth(system, unit):
    """Whether a fact is there: of b more often; whatever the number of the fact."""
    return random.Random(f"{system} {unit}").random() < (0.4 if system == "a" else 0.7)


def skips(system, unit):
    """A person skips a tenth, whatever the truth."""
    return random.Random(f"skip {system} {unit}").random() < 0.1


def summary(system, name):
    """Most of what is there in its own words, and some of what is not."""
    said = []
    for unit in UNITS[name]:
        told = random.Random(f"told {system} {unit}").random()
        if told < (0.8 if truth(system, unit) else 0.2):
            said.append(unit)
    return " ".join(["A summary.", *said])


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    """A folder with summaries, units, and scores.json of a judge by words."""
    folder = tmp_path_factory.mktemp("scored")
    (folder / "texts").mkdir()
    for system in SYSTEMS:
        rows = [{"input": name, "summary": summary(system, name)} for name in INPUTS]
        write_lines(folder / "texts" / f"{system}.jsonl", rows)
    rows = [{"input": name, "units": texts} for name, texts in UNITS.items()]
    write_lines(folder / "units.jsonl", rows)
    result = lp.score(
        folder / "texts", folder / "units.jsonl", judge="recall", samples=50
    )
    result.save(folder / "scores.json")
    return folder


def goal():
    """Each system's score by the truth."""
    scores = {}
    for system in SYSTEMS:
        labels = [truth(system, unit) for name in INPUTS for unit in UNITS[name]]
        scores[system] = float(np.mean(labels))
    return scores


def export(cli, scored, folder, *options):
    cli(
        "budget",
        "export",
        scored / "texts",
        "--units",
        scored / "units.jsonl",
        "--labels",
        60,
        "--spread",
        "facts",
        "--by",
        scored / "scores.json",
        "-o",
        folder,
        *options,
    )
    return read_tasks(folder)


def check(cli, scored, folder, tasks, answers, last):
    """Imported and combined, it is what the task file and the truth give directly; all
    tasks but the `last` one were answered."""
    cli("budget", "import", folder, answers, "-o", folder / "judged")
    facts = []
    refused = []
    for task in tasks.judging:
        for unit, chance in zip(task.units, task.probabilities, strict=True):
            label = float(truth(task.system, unit))
            if task.id != last and skips(task.system, unit):
                refused.append(f"{task.name}: {unit}")
            if task.id == last or skips(task.system, unit):
                label = None
            facts.append(SampledFact(task.system, task.input, unit, chance, label))

    assert len(facts) == 60
    assert refused
    imported = lp.import_answers(folder, [answers])
    named = [one.rsplit(" (", 1)[0] for one in imported.named["refused"]]
    assert sorted(named) == sorted(refused)
    assert f"Skipped by the worker ({len(refused)})" in " ".join(imported.progress())

    result = lp.report(scored / "scores.json")
    direct = lp.combine(result, labels=SampledLabels("facts", tuple(facts)))
    cli(
        "combine",
        scored / "scores.json",
        "--labels",
        folder / "judged",
        "-o",
        folder / "combined.json",
    )
    saved = json.loads((folder / "combined.json").read_text(encoding="utf-8"))
    assert {one["system"]: one["score"] for one in saved["systems"]} == direct.scores
    unlabelled = sum(fact.label is None for fact in facts)
    assert any(f"{unlabelled} drawn facts have no label" in n for n in saved["notes"])
    for one in direct.systems:
        assert one.low <= goal()[one.system] <= one.high


def test_through_the_page(cli, scored, browser, tmp_path):
    folder = tmp_path / "tasks"
    tasks = export(cli, scored, folder)
    begin(browser, folder)
    *several, last = tasks.judging
    for task in several:
        assert at(browser, "#summary").text == task.summary
        legends = browser.find_elements("css selector", "#task legend")
        assert tuple(legend.text for legend in legends) == task.units
        keys = []
        for unit in task.units:
            said = "y" if truth(task.system, unit) else "n"
            keys.append("s" if skips(task.system, unit) else said)
        at(browser, "#task").click()
        type_keys(browser, "".join(keys), "\n")

    assert at(browser, "#summary").text == last.summary
    path = downloaded(browser)
    silent(browser)
    check(cli, scored, folder, tasks, path, last.id)


def test_through_label_studio(cli, scored, tmp_path):
    folder = tmp_path / "tasks"
    tasks = export(cli, scored, folder, "--form", "label-studio")
    by_id = {task.id: task for task in tasks.judging}
    rows = json.loads((folder / "label_studio_tasks.json").read_text(encoding="utf-8"))
    last = rows[-1]["data"]["task_id"]

    def answer(data):
        task = by_id[data["task_id"]]
        assert [unit["text"] for unit in data["units"]] == [*task.units]
        answers = {}
        for n, unit in enumerate(task.units):
            said = "Yes" if truth(task.system, unit) else "No"
            said = "Skip" if skips(task.system, unit) else said
            answers[f"presence_{n}"] = [said]
        return answers if task.id != last else {}

    path = tmp_path / "export.json"
    path.write_text(sample.label_studio(rows, answer), encoding="utf-8")
    check(cli, scored, folder, tasks, path, last)


def test_partial_answers_and_skips_leave_it_unbiased(scored, tmp_path):
    """Thirty drawn samples as the page saves them, of which people did three quarters
    of the tasks and skipped some facts: the mean estimate is the truth's."""
    units = lp.load(scored / "units.jsonl", summaries=scored / "texts")
    result = lp.report(scored / "scores.json")
    errors = []
    covered = []

    for seed in range(30):
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
        combined = lp.combine(result, labels=judged)
        for one in combined.systems:
            errors.append(one.score - goal()[one.system])
            covered.append(one.low <= goal()[one.system] <= one.high)

    mean = np.mean(errors)
    assert abs(mean) < 3 * np.std(errors) / np.sqrt(len(errors))
    assert np.std(errors) < 0.12
    assert np.mean(covered) > 0.85
