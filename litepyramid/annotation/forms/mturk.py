"""Mechanical Turk: a CSV of tasks and an HTML template out, the results CSV in."""

from __future__ import annotations

import csv
import re
from html import escape
from pathlib import Path
from typing import Any

from litepyramid.annotation.forms.guide import PACKAGE, guide_pieces
from litepyramid.annotation.forms.responses import UNIT, Response, ResponseFile, scu_lines, truth
from litepyramid.annotation.tasks import JudgingTask, TaskSet
from litepyramid.checked import parse_json
from litepyramid.errors import InputError
from litepyramid.files import atomic_write
from litepyramid.io.rows import csv_rows
from litepyramid.pages import fill_template


def export_mturk(tasks: TaskSet, folder: Path, suffix: str = "") -> list[Path]:
    """Writes the CSV to upload as a batch and the HTML to paste as the project's design layout.

    The cells hold escaped HTML in plain ASCII, because Mechanical Turk puts them into the
    template as they are and refuses characters outside Unicode's first plane.

    Returns:
        The files written.
    """
    rows = [
        {
            "task_id": t.id,
            "before": _html(" ".join(t.before)),
            "sentence": _html(t.text),
            "after": _html(" ".join(t.after)),
        }
        for t in tasks.writing
    ]
    rows += [
        {"task_id": t.id, "summary": _html(t.summary), "questions": _questions(t)}
        for t in tasks.judging
    ]
    paths = [folder / f"mturk_tasks{suffix}.csv", folder / "mturk_template.html"]
    with atomic_write(paths[0]) as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\r\n")
        writer.writeheader()
        writer.writerows(rows)
    with atomic_write(paths[1]) as file:
        file.write(template(tasks))
    return paths


def _questions(task: JudgingTask) -> str:
    """The questions of one summary as HTML, so that the template needs no script."""
    return "".join(
        f"<fieldset><legend>{_html(text)}</legend>"
        f'<label><input type="radio" name="presence_{i}" value="yes" required> Yes</label> '
        f'<label><input type="radio" name="presence_{i}" value="no" required> No</label>'
        "</fieldset>"
        for i, text in enumerate(task.units)
    )


def template(tasks: TaskSet) -> str:
    """The layout, with ``${column}`` where Mechanical Turk puts a task's cells."""
    values = guide_pieces(tasks.kind, tasks.title, _html, "      <li>{}</li>", "\n")
    values["BODY"] = fill_template(PACKAGE, f"mturk_{tasks.kind}.html", values).rstrip("\n")
    return fill_template(PACKAGE, "mturk.html", values)


def parse_answers(text: str, path: Path) -> ResponseFile:
    """Reads the results CSV of a batch.

    Answers may stand in columns ``Answer.NAME``, in ``Answer.NAME.CHOICE`` with true or false, or
    as JSON in ``Answer.taskAnswers``. Rejected assignments are left out and counted.

    Raises:
        InputError: It has no such columns, or an answer is neither yes nor no.
    """
    columns, rows = csv_rows(path, text)
    if not any(name.startswith("Answer.") for name in columns) or "WorkerId" not in columns:
        raise InputError(
            "not a results file of Mechanical Turk",
            path=path,
            expected="a CSV with the columns WorkerId, Input.task_id and Answer.…",
            hint="Answers of Label Studio and of the offline page are JSON.",
        )
    responses: list[Response] = []
    rejected = 0
    for line, row, _ in rows:
        # A submitted row can be rejected by an x in the column that is uploaded again.
        if row.get("AssignmentStatus") == "Rejected" or row.get("Reject", "").strip():
            rejected += 1
            continue
        responses.append(_response(row, path, line))
    return ResponseFile.of(responses, path, rejected, "rejected assignment", "rejected assignments")


def _response(row: dict[str, Any], path: Path, line: int) -> Response:
    place = f"{path.name}:{line}"
    answers = {
        key.removeprefix("Answer."): value
        for key, value in row.items()
        if key.startswith("Answer.") and value
    }
    if "taskAnswers" in answers:
        answers |= _task_answers(answers.pop("taskAnswers"), path, line)
    presence: dict[int, bool] = {}
    for key, value in answers.items():
        name, _, choice = key.partition(".")
        unit = UNIT.fullmatch(name)
        if not unit:
            continue
        if choice and truth(value) is not True:
            continue  # Answer.presence_0.no = false says nothing that .yes = true does not
        answer = truth(choice or value)
        if answer is None:
            raise InputError(f"{key} is {value!r}", path=path, line=line, expected="yes or no")
        presence[int(unit[1])] = answer
    ticked = [(k, truth(v)) for k, v in answers.items() if k.partition(".")[0] == "no_fact"]
    for key, tick in ticked:
        if tick is None:
            raise InputError(
                f"{key} is {answers[key]!r}", path=path, line=line, expected="yes or no"
            )
    task = row.get("Input.task_id") or answers.get("task_id")
    return Response(
        task=str(task or f"no task_id ({place})"),
        worker=str(row.get("WorkerId") or "unnamed"),
        place=place,
        scus=scu_lines(answers.get("scus", "")),
        presence=presence,
        no_fact=any(tick for _, tick in ticked),
    )


def _task_answers(value: str, path: Path, line: int) -> dict[str, Any]:
    """``[{"presence_0": {"no": false, "yes": true}, "scus": "…"}]`` as flat answers."""
    parsed = parse_json(value, path=path, line=line, expected="Answer.taskAnswers as JSON")
    if isinstance(parsed, list) and parsed:
        parsed = parsed[0]
    if not isinstance(parsed, dict):
        raise InputError("Answer.taskAnswers is not a JSON object", path=path, line=line)
    flat: dict[str, Any] = {}
    for key, answer in parsed.items():
        if isinstance(answer, dict):
            flat |= {f"{key}.{choice}": chosen for choice, chosen in answer.items()}
        else:
            flat[key] = answer
    return flat


def _html(text: str) -> str:
    """Escaped, in ASCII, on one line; ``$`` too, so that no text looks like ``${column}``.

    What a spreadsheet would take for the beginning of a formula is escaped as well.
    """
    escaped = escape(" ".join(text.split())).replace("$", "&#36;")
    escaped = re.sub("^[=+@-]", lambda sign: f"&#{ord(sign[0])};", escaped)
    return escaped.encode("ascii", "xmlcharrefreplace").decode()
