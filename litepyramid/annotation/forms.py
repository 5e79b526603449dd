"""Forms of tasks and answers: the offline page, Label Studio, a sheet; each out and in again."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from litepyramid.annotation.tasks import Kind, TaskSet
from litepyramid.checked import as_type, guarded, parse_json
from litepyramid.errors import InputError
from litepyramid.files import atomic_write, read_text, stem, write_json
from litepyramid.io.rows import csv_rows
from litepyramid.pages import fill_page, fill_template
from litepyramid.text import counted

PACKAGE = "litepyramid.annotation"
PAGE_FORMAT = "litepyramid-answers"
Form = Literal["page", "label-studio", "csv"]

NO_FACT = "No fact in this sentence"
"""What people tick where there is nothing to write."""

_UNIT = re.compile("presence_([0-9]{1,9})")
_YES = frozenset({"yes", "true", "1", "present", "y", "x"})
_NO = frozenset({"no", "false", "0", "absent", "not present", "n"})
_SHEETS: dict[Kind, tuple[str, ...]] = {
    "writing": ("task_id", "before", "sentence", "after", "facts", "no_fact", "worker"),
    "judging": ("task_id", "summary", "number", "fact", "present", "worker"),
}


@dataclass(frozen=True, slots=True)
class Guide:
    """Instructions of one kind of task: what to do, what to mind, and an example with answers."""

    what: str
    rules: tuple[str, ...]
    given: str
    example: tuple[str, ...]


GUIDES: dict[Kind, Guide] = {
    "writing": Guide(
        what="Write down every fact that the highlighted sentence states, each as one short "
        "sentence.",
        rules=(
            "One fact per line. If a line could be half true, split it.",
            "Each line must make sense on its own: write names, not “he” or “it”. The surrounding "
            "sentences tell you who is meant.",
            "Use the sentence's own words where you can. Add nothing that it does not say.",
            "Together, your lines should say everything that the sentence says.",
            "If the sentence states no fact, like many questions, write nothing and tick "
            f"“{NO_FACT}”.",
        ),
        given="Harbour pilot Ana Sousa, 41, steered the damaged ferry back to Lisbon.",
        example=(
            "Ana Sousa is a harbour pilot.",
            "Ana Sousa is 41.",
            "Ana Sousa steered the ferry to Lisbon.",
            "The ferry was damaged.",
        ),
    ),
    "judging": Guide(
        what="Read the summary, then decide for each fact whether the summary contains it.",
        rules=(
            "Yes: the summary states the fact, or it clearly follows. Different wording is fine.",
            "No: the summary does not state it, states only part of it, or says something "
            "different.",
            "Judge by the summary alone, not by what you know. Spelling and capitals do not "
            "matter.",
        ),
        given="A damaged ferry was brought back to Lisbon by its pilot on Monday.",
        example=(
            "The ferry was damaged. – Yes",
            "The ferry returned on a Monday. – Yes",
            "Ana Sousa is a harbour pilot. – No, the pilot is not named",
        ),
    ),
}


def render_page(tasks: TaskSet) -> str:
    """The page, with styles, script and tasks inside; it works offline and loads nothing."""
    rows: list[dict[str, Any]] = [
        {"text": t.text, "before": " ".join(t.before), "after": " ".join(t.after)}
        for t in tasks.writing
    ]
    rows += [{"summary": t.summary, "units": list(t.units)} for t in tasks.judging]
    for task, row in zip(tasks.tasks, rows, strict=True):
        row |= {"id": task.id, "question": task.question or ""}
    data = {"kind": tasks.kind, "digest": tasks.digest, "title": tasks.title, "tasks": rows}
    data["no_fact"] = NO_FACT
    return fill_page(PACKAGE, "page", data, title=tasks.title, guide=GUIDES[tasks.kind])


def labelling_configuration(tasks: TaskSet) -> str:
    """Label Studio's configuration: paste it under Settings, Labeling Interface, Code."""
    values = {"title": tasks.title, "guide": GUIDES[tasks.kind], "no_fact": NO_FACT}
    values["asked"] = tasks.asked
    return fill_template(PACKAGE, f"label_studio_{tasks.kind}.xml", **values)


def _write_page(tasks: TaskSet, folder: Path, suffix: str) -> list[str]:
    _write(folder / f"page{suffix}.html", render_page(tasks))
    return [f"page{suffix}.html"]


def _write_label_studio(tasks: TaskSet, folder: Path, suffix: str) -> list[str]:
    """The tasks to import into a Label Studio project, and the project's configuration."""
    rows: list[dict[str, Any]] = [
        {"sentence": t.text, "context": " ".join([*t.before, f"»{t.text}«", *t.after])}
        for t in tasks.writing
    ]
    rows += [
        {"summary": t.summary, "units": [{"text": text} for text in t.units]} for t in tasks.judging
    ]
    if tasks.asked:
        rows = [{"question": t.question or "", **r} for t, r in zip(tasks.tasks, rows, strict=True)]
    data = [
        {"data": {"task_id": task.id, "input": task.input, **fields}}
        for task, fields in zip(tasks.tasks, rows, strict=True)
    ]
    names = [f"label_studio_tasks{suffix}.json", "label_studio_config.xml"]
    write_json(folder / names[0], data)
    _write(folder / names[1], labelling_configuration(tasks))
    return names


def _write_sheet(tasks: TaskSet, folder: Path, suffix: str) -> list[str]:
    """A row for each sentence (facts go into one cell), or for each fact to judge."""
    first, *names = _SHEETS[tasks.kind]
    rows: list[tuple[Any, ...]] = [(first, *(["question"] if tasks.asked else []), *names)]
    heads = {t.id: (t.id, t.question or "") if tasks.asked else (t.id,) for t in tasks.tasks}
    for t in tasks.writing:
        rows.append((*heads[t.id], " ".join(t.before), t.text, " ".join(t.after), "", "", ""))
    for j in tasks.judging:
        head = (*heads[j.id], j.summary)
        rows += [(*head, n, text, "", "") for n, text in enumerate(j.units, start=1)]
    with atomic_write(folder / f"sheet{suffix}.csv") as file:
        file.write("\ufeff")  # so that spreadsheets read it as UTF-8
        cells = ([guarded(x) if isinstance(x, str) else x for x in row] for row in rows)
        csv.writer(file, lineterminator="\r\n").writerows(cells)
    return [f"sheet{suffix}.csv"]


WRITERS = {"page": _write_page, "label-studio": _write_label_studio, "csv": _write_sheet}
"""Functions of (tasks, folder, suffix) that write the tasks and return the files' names."""


def _write(path: Path, text: str) -> None:
    with atomic_write(path) as file:
        file.write(text)


@dataclass(frozen=True, slots=True)
class Response:
    """One person's answer to one task, possibly incomplete: SCUs, or presence by unit's index.

    `source` is file and line, for messages; `finished` says that it was handed in, `no_fact` that
    the sentence states none.
    """

    task: str
    worker: str
    source: str
    scus: tuple[str, ...] = ()
    presence: Mapping[int, bool] = field(default_factory=dict)
    finished: bool = True
    saved: datetime | None = None
    no_fact: bool = False

    @property
    def contradictory(self) -> bool:
        """Whether it gives facts of a sentence and says that there are none."""
        return self.no_fact and bool(self.scus)

    @property
    def done(self) -> bool:
        """Whether it was submitted and can be used as it is."""
        return self.finished and not self.contradictory


@dataclass(frozen=True, slots=True)
class ResponseFile:
    """The responses of some files, and what was left out, as sentences for people."""

    responses: tuple[Response, ...]
    notes: tuple[str, ...] = ()


def read_responses(paths: Any) -> ResponseFile:
    """Reads files of answers in any form, recognised by their content."""
    several = [paths] if isinstance(paths, str | Path) else paths
    if not isinstance(several, Sequence) or not all(isinstance(p, str | Path) for p in several):
        raise InputError(f"answers are {type(paths).__name__}", expected="files of answers")
    if not several:
        raise InputError("no answers given", expected="at least one file")
    responses: list[Response] = []
    notes = []
    for path in map(Path, several):
        text = read_text(path)
        skipped = 0
        if text.lstrip()[:1] not in ("[", "{"):
            responses += _read_sheet(text, path)
        elif isinstance(data := parse_json(text, path=path), dict):
            responses += _read_page(data, path)
        else:
            read, skipped = _read_label_studio(data, path)
            responses += read
        if skipped:
            what = counted(skipped, "skipped annotation was", "skipped annotations were")
            notes.append(f"{path.name}: {what} left out.")
    answered = (r for r in responses if r.scus or r.presence or r.no_fact)
    return ResponseFile(tuple(answered), tuple(notes))


@dataclass(frozen=True, slots=True)
class _PageAnswer:
    task: str
    presence: dict[str, bool] = field(default_factory=dict)
    scus: list[str] = field(default_factory=list)
    finished: bool = False
    no_fact: bool = False


@dataclass(frozen=True, slots=True)
class _PageAnswers:
    answers: list[_PageAnswer]
    worker: str = ""
    saved: str | None = None


def _read_page(data: dict[str, Any], path: Path) -> list[Response]:
    """The JSON that the page downloads."""
    if data.get("format") != PAGE_FORMAT:
        raise InputError(
            "no answers that can be read",
            path=path,
            expected="the offline page's JSON, a Label Studio export, or a filled-in sheet",
        )
    file = as_type(_PageAnswers, data, what="broken answers", path=path)
    responses = []
    for number, answer in enumerate(file.answers, start=1):
        if not all(re.fullmatch("[0-9]{1,9}", index) for index in answer.presence):
            raise InputError(f"broken answers (presence is {answer.presence})", path=path)
        responses.append(
            Response(
                task=answer.task,
                worker=" ".join(file.worker.split()) or "unnamed",
                source=f"{path.name}, answer {number}",
                scus=_lines(answer.scus),
                presence={int(index): value for index, value in answer.presence.items()},
                finished=answer.finished,
                saved=_moment(file.saved),
                no_fact=answer.no_fact,
            )
        )
    return responses


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
    was_cancelled: bool | None = None
    completed_by: Any = None
    user: Any = None
    created_at: Any = None
    updated_at: Any = None


@dataclass(frozen=True, slots=True)
class _Task:
    annotations: list[_Annotation] | None = None
    completions: list[_Annotation] | None = None
    drafts: list[int | _Annotation] | None = None  # some exports list only the ids of drafts
    scus: str | list[str] | _Value | None = None


def _read_label_studio(data: Any, path: Path) -> tuple[list[Response], int]:
    """Label Studio's JSON export (tasks with annotations) or its JSON-MIN (flat rows).

    Cancelled annotations are left out and counted; drafts are kept as unfinished.
    """
    tasks: list[_Task] = as_type(list[_Task], data, what="not a Label Studio export", path=path)
    responses: list[Response] = []
    skipped = 0
    for number, (row, entry) in enumerate(zip(data, tasks, strict=True), start=1):
        source = f"{path.name}, task {row.get('id', number)}"
        fields = row.get("data")
        if not isinstance(fields, dict):
            responses.append(_flat(row, entry, source))
            continue
        task = str(fields.get("task_id") or f"no task_id ({source})")
        finished = [*(entry.annotations or ()), *(entry.completions or ())]
        drafts = [one for one in entry.drafts or () if isinstance(one, _Annotation)]
        for several, handed_in in ((finished, True), (drafts, False)):
            for one in several:
                if one.was_cancelled:
                    skipped += 1
                else:
                    responses.append(_response(one, task, source, handed_in, path))
    return responses, skipped


def _response(
    annotation: _Annotation, task: str, source: str, finished: bool, path: Path
) -> Response:
    scus: list[str] = []
    presence: dict[int, bool] = {}
    no_fact = False
    for control in annotation.result or ():
        value, name = control.value or _Value(), control.from_name or ""
        if name == "scus":
            scus += _lines(value.text or [])
        elif name == "no_fact":
            no_fact = bool(value.choices)
        elif unit := _UNIT.fullmatch(name):
            answer = _truth((value.choices or [""])[0])
            if answer is None:
                what = f"{source}: {name} is {value.choices!r}"
                raise InputError(what, path=path, expected="Yes or No")
            presence[int(unit[1])] = answer
    worker = annotation.user if annotation.completed_by is None else annotation.completed_by
    saved = _moment(annotation.updated_at or annotation.created_at)
    return Response(task, _worker(worker), source, tuple(scus), presence, finished, saved, no_fact)


def _flat(row: dict[str, Any], entry: _Task, source: str) -> Response:
    """A row of JSON-MIN: the task's fields and one field for each control."""
    written = entry.scus.text if isinstance(entry.scus, _Value) else entry.scus
    answers = ((_UNIT.fullmatch(key), _truth(value)) for key, value in row.items())
    return Response(
        task=str(row.get("task_id") or f"no task_id ({source})"),
        worker=_worker(row.get("annotator")),
        source=source,
        scus=_lines(written or []),
        presence={int(unit[1]): answer for unit, answer in answers if unit and answer is not None},
        saved=_moment(row.get("updated_at") or row.get("created_at")),
        no_fact=bool(row.get("no_fact")),
    )


def _read_sheet(text: str, path: Path) -> list[Response]:
    """A sheet that somebody filled in; without a worker's name, the file's name is it."""
    columns, rows = csv_rows(path, text)
    judging = {"task_id", "number", "present"} <= set(columns)
    if not judging and not {"task_id", "facts"} <= set(columns):
        either = "; or ".join(", ".join(names) for names in _SHEETS.values())
        raise InputError(
            "is not a filled-in sheet",
            path=path,
            expected=f"a CSV with the columns {either}",
            hint="Answers of Label Studio and of the offline page are JSON.",
        )
    responses: dict[tuple[str, str], Response] = {}
    for line, row, _ in rows:
        worker = " ".join(row.get("worker", "").split()) or stem(path)
        task = row["task_id"].strip() or f"no task_id ({path.name}:{line})"
        earlier = responses.get((task, worker), Response(task, worker, f"{path.name}:{line}"))
        scus, presence, no_fact = earlier.scus, dict(earlier.presence), earlier.no_fact
        if judging:
            number, cell = row["number"].strip(), row["present"].strip()
            if not (number.isascii() and number.isdigit() and 0 < int(number[:10]) < 10**9):
                raise InputError(f"the number {number!r}", path=path, line=line, expected="1, 2 …")
            if cell:
                presence[int(number) - 1] = _yes(cell, path, line)
        else:
            tick = row.get("no_fact", "").strip()
            scus += _lines(row["facts"])
            no_fact = no_fact or (bool(tick) and _yes(tick, path, line))
        responses[task, worker] = Response(
            task, worker, earlier.source, scus, presence, no_fact=no_fact
        )
    return list(responses.values())


def _yes(cell: str, path: Path, line: int) -> bool:
    answer = _truth(cell)
    if answer is None:
        raise InputError(f"the answer {cell!r}", path=path, line=line, expected="yes or no")
    return answer


def _truth(value: Any) -> bool | None:
    """Yes or no as any of the tools writes it; None if it is neither."""
    word = str(value).strip().lower()
    return True if word in _YES else False if word in _NO else None


def _moment(value: Any) -> datetime | None:
    """A time in ISO 8601 (without a zone: UTC); None if it is not one."""
    try:
        time = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _lines(boxes: Any) -> tuple[str, ...]:
    """SCUs from a text box, or several: one per line, spaces tidied, blank lines left out."""
    several = boxes if isinstance(boxes, list) else [boxes]
    lines = (" ".join(line.split()) for box in several for line in str(box).splitlines())
    return tuple(line for line in lines if line)


def _worker(value: Any) -> str:
    if isinstance(value, dict):
        value = value.get("email") or value.get("id")
    return "unnamed" if value is None else str(value)
