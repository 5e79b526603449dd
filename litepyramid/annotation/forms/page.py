"""The offline page: one HTML file out, the JSON it downloads in."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from litepyramid.annotation.forms.guide import NO_FACT, PACKAGE, guide_pieces
from litepyramid.annotation.responses import Response, ResponseFile, moment, scu_lines
from litepyramid.annotation.tasks import TaskSet
from litepyramid.checked import as_type
from litepyramid.errors import InputError
from litepyramid.files import atomic_write
from litepyramid.pages import fill_page

FORMAT = "litepyramid-answers"


def export_page(tasks: TaskSet, folder: Path, suffix: str = "") -> list[Path]:
    """Writes the tasks as one HTML file that works offline and keeps its state in the browser."""
    path = folder / f"page{suffix}.html"
    with atomic_write(path) as file:
        file.write(render_page(tasks))
    return [path]


def render_page(tasks: TaskSet) -> str:
    """The page, with styles, script and tasks inside; it loads nothing.

    A content security policy allows its own script and styles by their hash and nothing else, and
    the script never makes HTML of a text, so a hostile summary cannot do anything.
    """
    rows: list[dict[str, Any]] = [
        {"id": t.id, "text": t.text, "before": " ".join(t.before), "after": " ".join(t.after)}
        for t in tasks.writing
    ]
    rows += [{"id": t.id, "summary": t.summary, "units": list(t.units)} for t in tasks.judging]
    data = {"kind": tasks.kind, "digest": tasks.digest, "title": tasks.title, "tasks": rows}
    data["no_fact"] = NO_FACT
    return fill_page(PACKAGE, "page", data, guide_pieces(tasks.kind, tasks.title, escape))


@dataclass(frozen=True, slots=True)
class _Answer:
    task: str
    presence: dict[str, bool] = field(default_factory=dict)
    scus: list[str] = field(default_factory=list)
    finished: bool = False
    no_fact: bool = False


@dataclass(frozen=True, slots=True)
class _Answers:
    answers: list[_Answer]
    worker: str = ""
    saved: str | None = None


def parse_answers(data: Any, path: Path) -> ResponseFile:
    """Reads the JSON that the page downloads."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InputError(
            "no answers that can be read",
            path=path,
            expected="the offline page's JSON, a Label Studio export, or a filled-in sheet",
        )
    file = as_type(_Answers, data, what="broken answers", path=path)
    responses = []
    for number, answer in enumerate(file.answers, start=1):
        if not all(re.fullmatch("[0-9]{1,9}", index) for index in answer.presence):
            raise InputError(f"broken answers (presence is {answer.presence})", path=path)
        responses.append(
            Response(
                task=answer.task,
                worker=" ".join(file.worker.split()) or "unnamed",
                source=f"{path.name}, answer {number}",
                scus=scu_lines(answer.scus),
                presence={int(index): value for index, value in answer.presence.items()},
                finished=answer.finished,
                saved=moment(file.saved),
                no_fact=answer.no_fact,
            )
        )
    return ResponseFile.of(responses, path)
