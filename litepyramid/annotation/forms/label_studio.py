"""Label Studio: tasks and labelling configuration out, its JSON export in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from litepyramid.annotation.forms.guide import GUIDES, NO_FACT, PACKAGE
from litepyramid.annotation.responses import (
    UNIT,
    Response,
    ResponseFile,
    moment,
    scu_lines,
    truth,
)
from litepyramid.annotation.tasks import TaskSet
from litepyramid.checked import as_type
from litepyramid.errors import InputError
from litepyramid.files import atomic_write, write_json
from litepyramid.pages import fill_template


@dataclass(frozen=True, slots=True)
class _Value:
    choices: list[str] | None = None
    text: str | list[str] | None = None


@dataclass(frozen=True, slots=True)
class _Control:
    from_name: str | None = None
    value: _Value | None = None


@dataclass(frozen=True, slots=True)
class _Annotation:
    result: list[_Control] | None = None


@dataclass(frozen=True, slots=True)
class _Task:
    annotations: list[_Annotation] | None = None
    completions: list[_Annotation] | None = None
    drafts: list[int | _Annotation] | None = None  # some exports list only the ids of drafts
    scus: str | list[str] | _Value | None = None


def export_label_studio(tasks: TaskSet, folder: Path, suffix: str = "") -> list[Path]:
    """Writes the tasks to import into a Label Studio project and the project's configuration."""
    data: list[dict[str, Any]] = [
        {
            "task_id": t.id,
            "input": t.input,
            "sentence": t.text,
            "context": " ".join([*t.before, f"»{t.text}«", *t.after]),
        }
        for t in tasks.writing
    ]
    data += [
        {
            "task_id": t.id,
            "input": t.input,
            "summary": t.summary,
            "units": [{"text": text} for text in t.units],
        }
        for t in tasks.judging
    ]
    paths = [folder / f"label_studio_tasks{suffix}.json", folder / "label_studio_config.xml"]
    write_json(paths[0], [{"data": fields} for fields in data])
    with atomic_write(paths[1]) as file:
        file.write(labelling_configuration(tasks))
    return paths


def labelling_configuration(tasks: TaskSet) -> str:
    """The project's labelling configuration: paste it under Settings, Labeling Interface, Code."""
    guide = GUIDES[tasks.kind]
    values = {
        "TITLE": quoteattr(tasks.title),
        "WHAT": quoteattr(guide.what),
        "RULES": "\n".join(
            f'  <Header size="6" value={quoteattr("• " + r)}/>' for r in guide.rules
        ),
        "EXAMPLE": quoteattr(f"Example: {guide.given} → " + " | ".join(guide.example)),
        "NO_FACT": quoteattr(NO_FACT),
    }
    return fill_template(PACKAGE, f"label_studio_{tasks.kind}.xml", values)


def parse_answers(data: Any, path: Path) -> ResponseFile:
    """Reads Label Studio's JSON export (tasks with annotations) or its JSON-MIN (flat rows).

    Cancelled annotations are left out and counted; drafts are kept as unfinished.
    """
    as_type(list[_Task], data, what="not a Label Studio export", path=path)
    responses: list[Response] = []
    cancelled = 0
    for number, row in enumerate(data, start=1):
        source = f"{path.name}, task {row.get('id', number)}"
        fields = row.get("data")
        if not isinstance(fields, dict):
            responses.append(_flat(row, source))
            continue
        task = str(fields.get("task_id") or f"no task_id ({source})")
        for key, finished in (("annotations", True), ("completions", True), ("drafts", False)):
            for annotation in row.get(key) or []:
                if not isinstance(annotation, dict):
                    continue
                if annotation.get("was_cancelled"):
                    cancelled += 1
                    continue
                responses.append(_response(annotation, task, source, finished, path))
    return ResponseFile.of(responses, path, cancelled)


def _response(
    annotation: dict[str, Any], task: str, source: str, finished: bool, path: Path
) -> Response:
    scus: list[str] = []
    presence: dict[int, bool] = {}
    no_fact = False
    for result in annotation.get("result") or []:
        value = result.get("value") or {}
        name = result.get("from_name") or ""
        if name == "scus":
            scus += scu_lines(value.get("text") or [])
        elif name == "no_fact":
            no_fact = bool(value.get("choices"))
        elif unit := UNIT.fullmatch(name):
            answer = truth((value.get("choices") or [""])[0])
            if answer is None:
                raise InputError(
                    f"{source}: {name} is {value.get('choices')!r}", path=path, expected="Yes or No"
                )
            presence[int(unit[1])] = answer
    return Response(
        task=task,
        worker=_worker(annotation.get("completed_by", annotation.get("user"))),
        source=source,
        scus=tuple(scus),
        presence=presence,
        finished=finished,
        saved=moment(annotation.get("updated_at") or annotation.get("created_at")),
        no_fact=no_fact,
    )


def _flat(row: dict[str, Any], source: str) -> Response:
    """A row of JSON-MIN: the task's fields and one field for each control."""
    written = row.get("scus") or []
    if isinstance(written, dict):
        written = written.get("text") or []
    answers = ((UNIT.fullmatch(key), truth(value)) for key, value in row.items())
    return Response(
        task=str(row.get("task_id") or f"no task_id ({source})"),
        worker=_worker(row.get("annotator")),
        source=source,
        scus=scu_lines(written),
        presence={int(unit[1]): answer for unit, answer in answers if unit and answer is not None},
        saved=moment(row.get("updated_at") or row.get("created_at")),
        no_fact=bool(row.get("no_fact")),
    )


def _worker(value: Any) -> str:
    if isinstance(value, dict):
        value = value.get("email") or value.get("id")
    return "unnamed" if value is None else str(value)
