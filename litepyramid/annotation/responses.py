"""What people answered, read from the page's JSON, Label Studio's exports or sheets."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

from litepyramid.annotation.forms import SHEETS
from litepyramid.checked import as_type, parse_json
from litepyramid.data.files import table_rows
from litepyramid.errors import InputError, located
from litepyramid.files import read_text, stem
from litepyramid.sentences import without_marks
from litepyramid.types import Fields, Texts

PAGE_FORMAT = "litepyramid-answers"
_UNIT = re.compile("presence_([0-9]{1,9})")
_ANSWERS: dict[str, bool | None] = dict.fromkeys(
    ("yes", "true", "1", "present", "y", "x"), True
)
_ANSWERS |= dict.fromkeys(("no", "false", "0", "absent", "not present", "n"), False)
_ANSWERS |= dict.fromkeys(("skip", "skipped", "s", "?"), None)


@dataclass(frozen=True)
class Response:
    """One person's answer to one task, possibly incomplete: SCUs, or presence by unit's
    index, None if the person skipped it.

    `source` is file and line, for messages; `finished` says that it was handed in,
    `no_fact` that the sentence states none, `skipped` that the person did not want to
    answer, `unnamed` that the worker's name is the file's; `opposite` are places of
    facts that a sheet answers with both yes and no.
    """

    task: str
    worker: str
    source: str
    scus: Texts = ()
    presence: Mapping[int, bool | None] = field(default_factory=dict)
    finished: bool = True
    saved: datetime | None = None
    no_fact: bool = False
    skipped: bool = False
    unnamed: bool = False
    opposite: Texts = ()

    @property
    def contradictory(self) -> bool:
        """Whether it gives facts of a sentence and says that there are none."""
        return self.no_fact and bool(self.scus)

    @property
    def done(self) -> bool:
        """Whether it was submitted and can be used as it is."""
        return self.finished and not self.contradictory


def read_responses(paths: Sequence[str | Path]) -> list[Response]:
    """Reads files of answers in any form, recognised by their content; a worker without
    a name has the file's."""
    files = [Path(path) for path in as_type(list[str | Path], paths, what="answers")]
    if not files:
        raise InputError("no answers given", expected="at least one file")
    ends = Counter(chain.from_iterable(map(_ends, set(files))))
    responses = []
    for path in files:
        text = read_text(path)
        with located(path):
            if text.lstrip()[:1] not in ("[", "{"):
                read = _read_sheet(text, path)
            elif isinstance(data := parse_json(text, path=path), dict):
                read = _read_page(data, path)
            else:
                read = _read_label_studio(data, path)

        # The shortest end of the path that no other file has.
        name = next((end for end in _ends(path) if ends[end] == 1), str(path))
        for r in read:
            if r.scus or r.presence or r.no_fact or r.skipped:
                own = replace(r, worker=r.worker or name, unnamed=not r.worker)
                responses.append(own)
    return responses


def _ends(path: Path) -> list[str]:
    """The ends of a path, the shortest first, without the file's ending."""
    parts = (*path.parent.parts, stem(path))
    return ["/".join(parts[-size:]) for size in range(1, len(parts) + 1)]


@dataclass(frozen=True)
class _PageAnswer:
    task: str
    presence: dict[str, bool | None] = field(default_factory=dict)
    scus: list[str] = field(default_factory=list)
    finished: bool = False
    no_fact: bool = False


@dataclass(frozen=True)
class _PageAnswers:
    answers: list[_PageAnswer]
    worker: str = ""
    saved: str | None = None


def _read_page(data: Fields, path: Path) -> list[Response]:
    """The JSON that the page downloads."""
    if data.get("format") != PAGE_FORMAT:
        expected = (
            "the offline page's JSON, a Label Studio export, or a filled-in sheet"
        )
        raise InputError("no answers that can be read", expected=expected)

    file = as_type(_PageAnswers, data, what="broken answers")
    return [
        Response(
            task=answer.task,
            worker=" ".join(file.worker.split()),
            source=f"{path.name}, answer {number}",
            scus=_lines(answer.scus),
            presence={_index(key): value for key, value in answer.presence.items()},
            finished=answer.finished,
            saved=_moment(file.saved),
            no_fact=answer.no_fact,
        )
        for number, answer in enumerate(file.answers, start=1)
    ]


@dataclass(frozen=True)
class _Annotation:
    result: list[Fields] | None = None
    was_cancelled: bool | None = None
    completed_by: Any = None
    user: Any = None
    annotator: Any = None
    created_at: Any = None
    updated_at: Any = None


@dataclass(frozen=True)
class _Task(_Annotation):
    annotations: list[_Annotation] | None = None
    drafts: list[int | _Annotation] | None = None


def _read_label_studio(data: Any, path: Path) -> list[Response]:
    """Label Studio's JSON export (tasks with annotations) or its JSON-MIN (flat
    rows)."""
    tasks = as_type(list[_Task], data, what="not a Label Studio export")
    responses = []
    for number, (row, entry) in enumerate(zip(data, tasks, strict=True), start=1):
        source = f"{path.name}, task {row.get('id', number)}"
        fields = row.get("data")
        if isinstance(fields, dict):
            answers = []
            for one in entry.annotations or ():
                answers.append((one, _controls(one), True))
            for draft in entry.drafts or ():
                # Some exports list only the ids of drafts.
                if isinstance(draft, _Annotation):
                    answers.append((draft, _controls(draft), False))
        else:  # JSON-MIN: the task's fields and the answers side by side
            fields = row
            answers = [(entry, row, True)]

        task = str(fields.get("task_id") or f"no task_id ({source})")
        for answer in answers:
            responses.append(_response(*answer, task, source))

    return responses


def _controls(annotation: _Annotation) -> dict[str, list[str]]:
    """What was entered, by the control's name."""
    controls: defaultdict[str, list[str]] = defaultdict(list)
    for control in annotation.result or ():
        controls[str(control.get("from_name"))] += _texts(control.get("value"))
    return controls


def _response(
    about: _Annotation,
    controls: Mapping[str, Any],
    finished: bool,
    task: str,
    source: str,
) -> Response:
    # Each version and kind of export names the person in another place.
    worker = about.annotator or about.completed_by or about.user
    if isinstance(worker, dict):
        worker = worker.get("email") or worker.get("id")
    presence = {}
    for name, value in controls.items():
        unit = _UNIT.fullmatch(name)
        texts = _texts(value)
        if unit and texts:
            presence[int(unit[1])] = _yes(texts[0])

    return Response(
        task,
        "" if worker is None else str(worker),
        source,
        _lines(_texts(controls.get("scus"))),
        presence,
        finished,
        _moment(about.updated_at or about.created_at),
        bool(controls.get("no_fact")),
        bool(about.was_cancelled),
    )


def _texts(value: Any) -> list[str]:
    """What a control holds: a text or several, or an object with them."""
    if isinstance(value, dict):
        value = value.get("text") or value.get("choices")
    if isinstance(value, list):
        return list(map(str, value))
    return [] if value in (None, "") else [str(value)]


def _read_sheet(text: str, path: Path) -> list[Response]:
    """A sheet that somebody filled in; a worker's name is that of the rows below
    too."""
    rows = []
    for row in table_rows(text):
        cells = {name.lower(): cell or "" for name, cell in row.cells.items()}
        rows.append((row.line, {name: cells[name].strip() for name in cells}))
    columns = {*rows[0][1]} if rows else set()
    judging = {"task_id", "number", "present"} <= columns
    if not judging and not {"task_id", "facts"} <= columns:
        raise InputError(
            "is not a filled-in sheet",
            expected="a CSV with the columns "
            + "; or ".join(", ".join(names) for names in SHEETS.values()),
            hint="Answers of Label Studio and of the offline page are JSON.",
        )

    responses: dict[tuple[str, str], Response] = {}
    worker = ""
    for line, cells in rows:
        worker = " ".join(cells.get("worker", "").split()) or worker
        task = cells["task_id"] or f"no task_id ({path.name}:{line})"
        response = responses.get(
            (task, worker), Response(task, worker, f"{path.name}:{line}")
        )

        with located(path, line):
            if not judging:
                tick = cells.get("no_fact", "")
                no_fact = response.no_fact or bool(tick and _yes(tick))
                scus = response.scus + _lines([cells["facts"]])
                response = replace(response, scus=scus, no_fact=no_fact)
            elif (number := _index(cells["number"], 1)) >= 0 and cells["present"]:
                answer = _yes(cells["present"])
                opposite = response.opposite
                if {response.presence.get(number), answer} == {True, False}:
                    opposite += (f"fact {number + 1} ({path.name}:{line})",)
                presence = {**response.presence, number: answer}
                response = replace(response, presence=presence, opposite=opposite)

        responses[task, worker] = response

    return list(responses.values())


def _index(number: str, first: int = 0) -> int:
    """The index of a unit from its number, counted from `first`."""
    number = number.removesuffix(".0")
    if not re.fullmatch("[0-9]{1,9}", number) or int(number) < first:
        raise InputError(f"the number {number!r}", expected=f"{first}, {first + 1} …")
    return int(number) - first


def _yes(answer: str) -> bool | None:
    """Yes or no as any of the tools writes it; None for a fact that was skipped."""
    written = answer.strip().lower().removesuffix(".0")
    if written not in _ANSWERS:
        raise InputError(f"the answer {answer!r}", expected="yes, no or skip")
    return _ANSWERS[written]


def _moment(value: Any) -> datetime | None:
    """A time in ISO 8601 (without a zone: UTC); None if it is not one."""
    try:
        time = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _lines(boxes: Sequence[str]) -> Texts:
    """SCUs from text boxes: one per line, without bullets and the numbers of a list,
    spaces tidied, blank lines left out."""
    lines = without_marks("\n".join(boxes)).splitlines()
    return tuple(filter(None, [" ".join(line.split()) for line in lines]))
