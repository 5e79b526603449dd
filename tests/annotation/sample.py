"""A small data set written for these tests, and people who answer tasks about it."""

import csv
import json
from collections import defaultdict
from pathlib import Path

from litepyramid.annotation.responses import Response
from litepyramid.annotation.tasks import judging_tasks
from litepyramid.data.records import InputUnits, Summaries, Unit, Units

FOLDER = Path(__file__).parents[1] / "data" / "annotation"
"""references, easiness, scus and stus as JSON Lines, and summaries/."""


def rows(name):
    """The objects of a file of the data set."""
    lines = (FOLDER / name).read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def of_sentences(name):
    """The texts of units by (input, sentence), in the order that all units have."""
    texts = defaultdict(list)
    for row in rows(name):
        for unit in row["units"]:
            texts[row["input"], unit["sentence"]].append(unit["text"])
    return {place: sorted(several) for place, several in texts.items()}


SCUS = of_sentences("scus.jsonl")
STUS = of_sentences("stus.jsonl")


def one_task(summary, units, system="s"):
    """The task of one summary and its facts."""
    entry = InputUnits("a", tuple(map(Unit, units)))
    return judging_tasks(Summaries.of({(system, "a"): summary}), Units.of([entry]))


def sheet_in(folder):
    """The rows of an exported sheet."""
    path = folder / "sheet.csv"
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def truth(summary: str, unit: str) -> bool:
    """What a careful judge says: half of the unit's words are in the summary."""
    words = set(unit.lower().strip(".").split())
    return 2 * len(words & set(summary.lower().split())) >= len(words)


def truths(task) -> list[bool]:
    """The same of all units of a task."""
    return [truth(task.summary, unit) for unit in task.units]


def judged(task, answers, worker="Ann") -> Response:
    return Response(task.id, worker, f"at {worker}", presence=dict(answers))


def full(judging, worker="Ann", flip=False) -> list[Response]:
    """A worker's answers to all tasks, right or all wrong."""
    answers = []
    for task in judging.judging:
        presence = enumerate(answer != flip for answer in truths(task))
        answers.append(judged(task, presence, worker))
    return answers


def page_of(*rows, worker="W", **more) -> str:
    """What the page downloads."""
    about = {"format": "litepyramid-answers", "worker": worker}
    return json.dumps({**about, "answers": rows, **more})


def label_studio(tasks: list[dict], answer, workers=("ann@example.org",)) -> str:
    """A JSON export in Label Studio's shape; `answer(data)` gives the controls'
    values."""
    exported = []
    for task in tasks:
        result = []
        for name, texts in answer(task["data"]).items():
            value = {"text" if name == "scus" else "choices": texts}
            result.append({"value": value, "from_name": name})

        annotations = []
        for worker in workers:
            answered = {"created_at": "2026-03-09T22:16:08.72Z", "result": result}
            annotations.append({**answered, "completed_by": {"email": worker}})
        exported.append({"data": task["data"], "annotations": annotations})

    return json.dumps(exported)
