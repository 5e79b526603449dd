"""A small data set written for these tests, and people who answer tasks about it."""

import json
from pathlib import Path

from litepyramid.annotation.responses import Response

REFERENCES = {
    "bridge": [
        "The old bridge at Lune, which carries 9,000 cars a day, was closed on Monday.",
        'The mayor <said> it & "may" open in May, at a cost of $2 or ${task_id}.',
        "It rained.",
    ],
    "ferry": [
        "Harbour pilot Ana Sousa, 41, steered the damaged ferry to Lisbon.",
        "Nobody was hurt 😀.",
    ],
    "räd": ["A café by the Räd opened </script><b>twice</b>, its owner says."],
}
KEYS = [
    (name, i) for name, sentences in REFERENCES.items() for i in range(len(sentences))
]
"""(input, sentence), in this order: what follows has one row of each."""

EASINESS = dict(zip(KEYS, (0.31, 0.62, 0.97, 0.42, 0.9, 0.55), strict=True))
_SCUS = [
    [
        "The bridge at Lune is old.",
        "It carries 9,000 cars.",
        "The bridge was closed on Monday.",
    ],
    ['The mayor <said> the bridge "may" open.', "The bridge costs $2 or ${task_id}."],
    ["It rained."],
    [
        "Ana Sousa is 41.",
        "Ana Sousa steered the ferry.",
        "The ferry was damaged & slow.",
    ],
    ["Nobody was hurt 😀."],
    ["A café by the Räd opened twice.", "Its owner says </script> so."],
]
_STUS = [
    [
        "The old bridge at Lune carries 9,000 cars",
        "The old bridge was closed on Monday",
    ],
    ["The mayor said it may open"],
    ["It rained"],
    ["Ana Sousa steered the damaged ferry"],
    ["Nobody was hurt"],
    ["A café opened twice"],
]
SCUS, STUS = (dict(zip(KEYS, texts, strict=True)) for texts in (_SCUS, _STUS))
_SUMMARIES = {
    "alpha": [
        "The bridge at Lune was closed on Monday. It carries 9,000 cars a day </script>.",
        "Ana Sousa, 41, steered a ferry & nobody was hurt.",
        "The café opened twice, said its owner.",
    ],
    "beta": [
        "It rained on the mayor; the old bridge costs $2.",
        "",
        "A river café opened.",
    ],
    "gamma": [
        "A bridge was shut.",
        "The damaged ferry came to Lisbon 😀.",
        "Somebody says so.",
    ],
}
SUMMARIES = {
    s: dict(zip(REFERENCES, texts, strict=True)) for s, texts in _SUMMARIES.items()
}


def units(of: dict[tuple[str, int], list[str]], kind: str) -> list[dict]:
    rows: dict[str, list[dict]] = {name: [] for name in REFERENCES}
    for (name, place), texts in of.items():
        about = {
            "weight": 1.0,
            "kind": kind,
            "reference": 0,
            "sentence": place,
        }
        rows[name] += [{"text": text, **about} for text in texts]
    return [{"input": name, "units": texts} for name, texts in rows.items()]


def jsonl(path: Path, rows: list[dict]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write(folder: Path) -> Path:
    """references, easiness, scus, stus as JSON Lines and summaries/ in `folder`."""
    references = [
        {"input": name, "references": [lines]} for name, lines in REFERENCES.items()
    ]
    jsonl(folder / "references.jsonl", references)
    easiness = [
        {
            "input": name,
            "reference": 0,
            "sentence": place,
            "easiness": value,
        }
        for (name, place), value in EASINESS.items()
    ]
    jsonl(folder / "easiness.jsonl", easiness)
    jsonl(folder / "scus.jsonl", units(SCUS, "scu"))
    jsonl(folder / "stus.jsonl", units(STUS, "stu"))
    (folder / "summaries").mkdir()
    for system, texts in SUMMARIES.items():
        rows = [{"input": name, "summary": text} for name, text in texts.items()]
        jsonl(folder / "summaries" / f"{system}.jsonl", rows)

    return folder


def truth(system: str, name: str, unit: str) -> bool:
    """What a careful judge says: half of the unit's words are in the summary."""
    words = set(unit.lower().strip(".").split())
    return 2 * len(words & set(SUMMARIES[system][name].lower().split())) >= len(words)


def truths(task) -> list[bool]:
    """The same of all units of a task."""
    return [truth(task.system, task.input, unit) for unit in task.units]


def judged(task, answers, worker="Ann") -> Response:
    return Response(task.id, worker, f"at {worker}", presence=dict(answers))


def full(judging, worker="Ann", flip=False) -> list[Response]:
    """A worker's answers to all tasks, right or all wrong."""
    return [
        judged(task, enumerate(x != flip for x in truths(task)), worker)
        for task in judging.judging
    ]


def page_of(*rows, worker="W", **more) -> str:
    """What the page downloads."""
    return json.dumps(
        {
            "format": "litepyramid-answers",
            "worker": worker,
            "answers": rows,
            **more,
        }
    )


def label_studio(tasks: list[dict], answer, workers=("ann@example.org",)) -> str:
    """A JSON export in Label Studio's shape; `answer(data)` gives the controls'
    values."""
    rows = []
    for number, task in enumerate(tasks, start=101):
        result = [
            {
                "value": {"text" if name == "scus" else "choices": value},
                "from_name": name,
            }
            for name, value in answer(task["data"]).items()
        ]
        about = {
            "result": result,
            "was_cancelled": False,
            "created_at": "2026-03-09T22:16:08.72Z",
        }
        annotations = [
            {**about, "completed_by": {"id": 1, "email": worker}} for worker in workers
        ]
        about = {
            "id": number,
            "drafts": [],
            "predictions": [],
            "data": task["data"],
        }
        rows.append({**about, "annotations": annotations})

    return json.dumps(rows)
