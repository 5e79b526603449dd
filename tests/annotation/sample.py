"""A small data set written for these tests, and people who answer tasks about it."""

from __future__ import annotations

import json
from pathlib import Path

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
EASINESS = {
    ("bridge", 0): 0.31,
    ("bridge", 1): 0.62,
    ("bridge", 2): 0.97,
    ("ferry", 0): 0.42,
    ("ferry", 1): 0.9,
    ("räd", 0): 0.55,
}
SCUS = {
    ("bridge", 0): [
        "The bridge at Lune is old.",
        "The bridge at Lune carries 9,000 cars a day.",
        "The bridge at Lune was closed on Monday.",
    ],
    ("bridge", 1): [
        'The mayor <said> the bridge "may" open.',
        "The bridge costs $2 or ${task_id}.",
    ],
    ("bridge", 2): ["It rained."],
    ("ferry", 0): [
        "Ana Sousa is 41.",
        "Ana Sousa steered the ferry.",
        "The ferry was damaged & slow.",
    ],
    ("ferry", 1): ["Nobody was hurt 😀."],
    ("räd", 0): ["A café by the Räd opened twice.", "Its owner says </script> so."],
}
STUS = {
    ("bridge", 0): [
        "The old bridge at Lune carries 9,000 cars",
        "The old bridge was closed on Monday",
    ],
    ("bridge", 1): ["The mayor said it may open"],
    ("bridge", 2): ["It rained"],
    ("ferry", 0): ["Ana Sousa steered the damaged ferry"],
    ("ferry", 1): ["Nobody was hurt"],
    ("räd", 0): ["A café opened twice"],
}
SUMMARIES = {
    "alpha": {
        "bridge": "The bridge at Lune was closed on Monday. It carries 9,000 cars a day </script>.",
        "ferry": "Ana Sousa, 41, steered a ferry & nobody was hurt.",
        "räd": "The café opened twice, said its owner.",
    },
    "beta": {
        "bridge": "It rained on the mayor; the old bridge costs $2.",
        "ferry": "",
        "räd": "A river café opened.",
    },
    "gamma": {
        "bridge": "A bridge was shut.",
        "ferry": "The damaged ferry came to Lisbon 😀.",
        "räd": "Somebody says something.",
    },
}


def units(of: dict[tuple[str, int], list[str]], kind: str) -> list[dict]:
    rows = []
    for name in REFERENCES:
        texts = [
            {"text": text, "weight": 1.0, "kind": kind, "reference": 0, "sentence": place}
            for (owner, place), texts in of.items()
            if owner == name
            for text in texts
        ]
        rows.append({"input": name, "units": texts})
    return rows


def jsonl(path: Path, rows: list[dict]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write(folder: Path) -> Path:
    """references, easiness, scus, stus as JSON Lines and summaries/ in `folder`."""
    references = [{"input": name, "references": [lines]} for name, lines in REFERENCES.items()]
    jsonl(folder / "references.jsonl", references)
    easiness = [
        {"input": name, "reference": 0, "sentence": place, "easiness": value}
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


def label_studio(tasks: list[dict], answer, workers=("ann@example.org",)) -> list[dict]:
    """A JSON export in Label Studio's shape; `answer(data, worker)` gives the controls' values."""
    rows = []
    for number, task in enumerate(tasks, start=101):
        annotations = []
        for who, worker in enumerate(workers, start=1):
            result = [
                {
                    "value": {"text" if control == "scus" else "choices": value},
                    "id": f"r{number}{who}{control}",
                    "from_name": control,
                    "type": "textarea" if control == "scus" else "choices",
                    "origin": "manual",
                }
                for control, value in answer(task["data"], worker).items()
            ]
            about = {"id": number * 10 + who, "completed_by": {"id": who, "email": worker}}
            about |= {"was_cancelled": False, "created_at": "2026-03-09T22:16:08.728353Z"}
            annotations.append({**about, "result": result, "lead_time": 4.288, "task": number})
        about = {"id": number, "drafts": [], "predictions": [], "data": task["data"], "meta": {}}
        rows.append({**about, "annotations": annotations, "total_annotations": len(annotations)})
    return rows
