"""Label Studio: tasks and labelling configuration out, its JSON export in."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from litepyramid.annotation.forms.guide import GUIDES, NO_FACT
from litepyramid.annotation.forms.responses import Response, ResponseFile, moment, scu_lines, truth
from litepyramid.annotation.tasks import TaskSet
from litepyramid.checked import check_shape
from litepyramid.errors import InputError
from litepyramid.files import atomic_write
from litepyramid.text import counted

_UNIT = re.compile("presence_([0-9]{1,9})")


def export_label_studio(tasks: TaskSet, folder: Path, suffix: str = "") -> list[Path]:
    """Writes the tasks to import into a Label Studio project and the project's configuration.

    Returns:
        The files written.
    """
    rows: list[dict[str, Any]] = []
    for writing in tasks.writing:
        context = " ".join([*writing.before, f"»{writing.text}«", *writing.after])
        rows.append(
            {
                "data": {
                    "task_id": writing.id,
                    "input": writing.input,
                    "sentence": writing.text,
                    "context": context,
                }
            }
        )
    rows += [
        {
            "data": {
                "task_id": judging.id,
                "input": judging.input,
                "summary": judging.summary,
                "units": [{"text": text} for text in judging.units],
            }
        }
        for judging in tasks.judging
    ]
    paths = [folder / f"label_studio_tasks{suffix}.json", folder / "label_studio_config.xml"]
    with atomic_write(paths[0]) as file:
        json.dump(rows, file, ensure_ascii=False, indent=1)
        file.write("\n")
    with atomic_write(paths[1]) as file:
        file.write(labelling_configuration(tasks))
    return paths


def labelling_configuration(tasks: TaskSet) -> str:
    """The project's labelling configuration: paste it under Settings, Labeling Interface, Code."""
    guide = GUIDES[tasks.kind]
    lines = ["<View>", f"  <Header value={quoteattr(tasks.title)}/>"]
    lines.append(f'  <Header size="5" value={quoteattr(guide.what)}/>')
    lines += [f'  <Header size="6" value={quoteattr("• " + rule)}/>' for rule in guide.rules]
    example = f"Example: {guide.given} → " + " | ".join(guide.example)
    lines.append(f'  <Header size="6" value={quoteattr(example)}/>')
    if tasks.kind == "writing":
        lines += [
            '  <View style="padding: 1em; background: rgba(128, 128, 128, 0.1)">',
            '    <Text name="context" value="$context"/>',
            "  </View>",
            '  <Header size="5" value="The sentence"/>',
            '  <Text name="sentence" value="$sentence"/>',
            '  <TextArea name="scus" toName="sentence" rows="1" editable="true"',
            '            placeholder="One fact, then Enter"/>',
            '  <Choices name="no_fact" toName="sentence" choice="multiple">',
            f"    <Choice value={quoteattr(NO_FACT)}/>",
            "  </Choices>",
        ]
    else:
        lines += [
            '  <View style="padding: 1em; background: rgba(128, 128, 128, 0.1)">',
            '    <Text name="summary" value="$summary"/>',
            "  </View>",
            '  <Repeater on="$units" indexFlag="{{idx}}">',
            '    <Text name="unit_{{idx}}" value="$units[{{idx}}].text"/>',
            '    <Choices name="presence_{{idx}}" toName="unit_{{idx}}" choice="single-radio"',
            '             showInline="true" required="true">',
            '      <Choice value="Yes"/>',
            '      <Choice value="No"/>',
            "    </Choices>",
            "  </Repeater>",
        ]
    return "\n".join([*lines, "</View>"]) + "\n"


def parse_answers(data: Any, path: Path) -> ResponseFile:
    """Reads Label Studio's JSON export (tasks with annotations) or its JSON-MIN (flat rows).

    Cancelled annotations are left out and counted; drafts are kept as unfinished.

    Raises:
        InputError: It is not such a list.
    """
    check_shape(data, [_TASK], what="not a Label Studio export", path=path)
    responses: list[Response] = []
    cancelled = 0
    for number, row in enumerate(data, start=1):
        place = f"{path.name}, task {row.get('id', number)}"
        fields = row.get("data")
        if not isinstance(fields, dict):
            responses.append(_flat(row, place))
            continue
        task = str(fields.get("task_id") or f"no task_id ({place})")
        for key, finished in (("annotations", True), ("completions", True), ("drafts", False)):
            for annotation in row.get(key) or []:
                if not isinstance(annotation, dict):
                    continue
                if annotation.get("was_cancelled"):
                    cancelled += 1
                    continue
                responses.append(_response(annotation, task, place, finished, path))
    said = counted(cancelled, "skipped annotation was", "skipped annotations were")
    notes = (f"{path.name}: {said} left out.",) if cancelled else ()
    return ResponseFile(tuple(r for r in responses if not r.empty), notes)


_TEXTS = (str, [str])
_ANNOTATION = {"result?": [{"from_name?": str, "value?": {"choices?": [str], "text?": _TEXTS}}]}
_TASK = {
    "annotations?": [_ANNOTATION],
    "completions?": [_ANNOTATION],
    "drafts?": [(int, _ANNOTATION)],  # some exports list only the ids of drafts
    "scus?": (str, [str], {"text?": _TEXTS}),
}


def _response(
    annotation: dict[str, Any], task: str, place: str, finished: bool, path: Path
) -> Response:
    scus: list[str] = []
    presence: dict[int, bool] = {}
    no_fact = False
    for result in annotation.get("result") or []:
        value = result.get("value") or {}
        name = result.get("from_name") or ""
        if name == "scus":
            text = value.get("text") or []
            scus += scu_lines(text if isinstance(text, list) else [text])
        elif name == "no_fact":
            no_fact = bool(value.get("choices"))
        elif unit := _UNIT.fullmatch(name):
            answer = truth((value.get("choices") or [""])[0])
            if answer is None:
                raise InputError(
                    f"{place}: {name} is {value.get('choices')!r}", path=path, expected="Yes or No"
                )
            presence[int(unit[1])] = answer
    return Response(
        task=task,
        worker=_worker(annotation.get("completed_by", annotation.get("user"))),
        place=place,
        scus=tuple(scus),
        presence=presence,
        finished=finished,
        saved=moment(annotation.get("updated_at") or annotation.get("created_at")),
        no_fact=no_fact,
    )


def _flat(row: dict[str, Any], place: str) -> Response:
    """A row of JSON-MIN: the task's fields and one field for each control."""
    written = row.get("scus") or []
    if isinstance(written, dict):
        written = written.get("text") or []
    presence = {}
    for key, value in row.items():
        unit = _UNIT.fullmatch(key)
        answer = truth(value) if unit else None
        if unit and answer is not None:
            presence[int(unit[1])] = answer
    return Response(
        task=str(row.get("task_id") or f"no task_id ({place})"),
        worker=_worker(row.get("annotator")),
        place=place,
        scus=scu_lines(written if isinstance(written, list) else [written]),
        presence=presence,
        saved=moment(row.get("updated_at") or row.get("created_at")),
        no_fact=bool(row.get("no_fact")),
    )


def _worker(value: Any) -> str:
    if isinstance(value, dict):
        value = value.get("email") or value.get("id")
    return "unnamed" if value is None else str(value)
