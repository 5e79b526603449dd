"""Logs and data sets whose rows are made before a preset reads them: inspect, OpenAI's
evals, PRBench, autorubric, RoSE and QAPyramid."""

import re
from collections import Counter
from collections.abc import Sequence

from litepyramid.checked import number
from litepyramid.data.files import Row
from litepyramid.data.joining import EVERY_INPUT
from litepyramid.errors import InputError
from litepyramid.imports.texts import (
    Cells,
    Made,
    answer_of,
    listed,
    object_in,
    objects_in,
)
from litepyramid.text import cut

_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""What inspect's letters count."""
_TURN = re.compile(r"(prompt|response)_(\d{1,3})")


def inspect_rows(rows: Sequence[Row]) -> Made:
    """inspect, as JSON: every sample with its model and its scores; an answer that
    failed is missing, not empty."""
    made = []
    settings = 0
    for line, log in rows:
        run = object_in(log, "eval")
        # The settings are many and none of them has a place: one count for all.
        settings += len(run)
        for sample in objects_in(log, "samples"):
            output = {**object_in(sample, "output")}
            if output.get("completion") is None:
                output["completion"] = answer_of(listed(output.get("choices"))[:1])
            cells = {**sample, "model": run.get("model"), "epoch": None}
            cells["output"] = None if sample.get("error") else output
            cells["scores"] = _grades(object_in(sample, "scores"))
            made.append(Row(line, cells))
    return Made(made, Counter({"settings of the run": settings}))


def _grades(scores: Cells) -> Cells:
    """The values of scores: letters as inspect counts them, parts by name."""
    values = {}
    for scorer, score in scores.items():
        value = score.get("value") if isinstance(score, dict) else score
        parts = value if isinstance(value, dict) else {"": value}
        for part, one in parts.items():
            values[f"{scorer}_{part}".strip("_")] = _GRADES.get(str(one), one)
    return values


def event_rows(rows: Sequence[Row]) -> Made:
    """OpenAI's evals, a line an event: what the events of a sample say, the first of
    them where several do, for what is sampled later is a grader's."""
    models = listed(object_in(rows[0].cells, "spec").get("completion_fns"))
    samples: dict[str, Row] = {}
    counts: Counter[str] = Counter()
    for line, event in rows:
        if "sample_id" not in event:
            counts[f"lines of {next(iter(event), 'nothing')}"] += 1
            continue
        counts.update(event.keys() - {"sample_id", "type", "data"})
        about: Cells = {"sample_id": event["sample_id"], "model": [*models, None][0]}
        sample = samples.setdefault(str(event["sample_id"]), Row(line, about)).cells
        for key, value in object_in(event, "data").items():
            counts[f"{key} after the first of a sample"] += key in sample
            sample.setdefault(key, value)
    return Made([*samples.values()], counts)


def prbench_rows(rows: Sequence[Row]) -> Made:
    """PRBench: a class of weight with its points, turns in numbered columns."""
    made = []
    for line, cells in rows:
        turns = {}
        for key in filter(_TURN.fullmatch, cells):
            who, place = key.split("_")
            role = {"prompt": "user"}.get(who, "assistant")
            turns[int(place), who] = {"role": role, "content": cells[key]}
        # The last response is the answer that the rubric grades, and no question.
        turns.pop((max(turns)[0], "response"), None)
        asked = [turns[place] for place in sorted(turns)]
        criteria = [_criterion(one) for one in objects_in(cells, "rubric")]
        rest = {key: one for key, one in cells.items() if not _TURN.fullmatch(key)}
        made.append(Row(line, {**rest, "asked": asked, "rubric": criteria}))
    return Made(made, Counter())


def _criterion(one: Cells) -> Cells:
    about = {**object_in(one, "annotations")}
    kind = str(about.pop("weight_class", None))
    points = number(about.get(f"{kind.replace(' ', '_')}_weight"))
    if points is None:
        raise InputError(f"no weight of the class '{cut(kind)}'", expected="a number")
    # Whatever the sign of its points, a detrimental criterion is a penalty.
    weight = -abs(points) if "detrimental" in kind else points
    rest = {key: value for key, value in about.items() if not key.endswith("_weight")}
    return {**rest, "text": one.get("title"), "weight": weight, "tags": kind}


def autorubric_rows(rows: Sequence[Row]) -> Made:
    """autorubric: the requirements of the one rubric, which is that of every input."""
    requirements = [row.cells for row in rows]
    return Made(
        [Row(1, {"every": EVERY_INPUT, "requirements": requirements})], Counter()
    )


def labelled_rows(rows: Sequence[Row]) -> Made:
    """RoSE (Liu et al. 2023) and QAPyramid (Zhang et al. 2025): the summary of each
    system with its labels; documents that lack those of a system are left out."""
    systems: dict[str, None] = {}
    for _, cells in rows:
        systems |= dict.fromkeys(object_in(cells, "system_outputs"))

    made = []
    partial = 0
    for line, cells in rows:
        summaries = object_in(cells, "system_outputs")
        labels = {**object_in(cells, "QA_labels")}
        annotations = object_in(cells, "annotations")
        for system in annotations:
            labels[system] = object_in(annotations, system).get("acu_labels")
        units = cells.get("reference_acus") or cells.get("QAs")
        if not units or not all(summaries.get(s) and labels.get(s) for s in systems):
            partial += 1
            continue

        ids = filter(None, map(cells.get, ("count_id", "example_id", "id")))
        shared = {"input": next(ids, line), "units": units}
        if cells.get("reference"):
            shared["reference"] = cells["reference"]
        for system in systems:
            answer = {"summary": summaries[system], "labels": labels[system]}
            made.append(Row(line, {**shared, **answer, "system": system}))
    return Made(made, Counter({"inputs without units, summaries or labels": partial}))
