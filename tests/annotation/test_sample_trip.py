"""A drawn sample from the command line to `combine`, through the page; with answers that
are missing and facts that are skipped."""

import json
import random

import numpy as np
import pytest
import sample
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
        sample.jsonl(folder / "texts" / f"{system}.jsonl", rows)
    rows = [{"input": name, "units": texts} for name, texts in UNITS.items()]
    sample.jsonl(folder / "units.jsonl", rows)
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
    imported = lp.import_answers(folder, [answers])
    named = [one.rsplit(" (", 1)[0] for one in imported.named["refused"]]
    assert sorted(named) == sorted(refused) != []

    result = lp.report(scored / "scores.json")
    direct = lp.combine(result, labels=SampledLabels("facts", tuple(facts)))
    cli("combine", scored / "scores.json", "--labels", folder / "judged",
        "-o", folder / "combined.json")  # fmt: skip
    saved = json.loads((folder / "combined.json").read_text(encoding="utf-8"))
    assert {one["system"]: one["score"] for one in saved["systems"]} == direct.scores
    for one in direct.systems:
        assert one.low <= goal()[one.system] <= one.high


def test_through_the_page(cli, scored, browser, tmp_path):
    folder = tmp_path / "tasks"
    cli("budget", "export", scored / "texts", "--units", scored / "units.jsonl",
        "--labels", 60, "--spread", "facts", "--by", scored / "scores.json",
        "-o", folder)  # fmt: skip
    tasks = read_tasks(folder)
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
