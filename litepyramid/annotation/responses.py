"""People's responses, in the same shape for every form; what becomes of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from litepyramid.annotation.tasks import JudgingTask, TaskSet, WritingTask
from litepyramid.errors import InputError
from litepyramid.text import counted

LISTED = 5
UNIT = re.compile("presence_([0-9]{1,9})")
"""What a form calls its answer to a unit."""

_YES = frozenset({"yes", "true", "1", "present", "y"})
_NO = frozenset({"no", "false", "0", "absent", "not present", "n"})


@dataclass(frozen=True, slots=True)
class Response:
    """One person's answer to one task, possibly incomplete.

    Attributes:
        task: The task's id.
        worker: Who answered.
        source: File and line or number, for messages.
        scus: The SCUs written, in order; empty for judging tasks.
        presence: Per index of a unit, whether it was marked as present; only those answered.
        finished: Whether the person handed it in.
        saved: When it was saved; None if the file does not say.
        no_fact: Whether the person ticked that the sentence states no fact.
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
    def empty(self) -> bool:
        """Whether nothing was answered."""
        return not self.scus and not self.presence and not self.no_fact

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
    """The responses of one file, and what was left out of it, as sentences for people."""

    responses: tuple[Response, ...]
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, responses: Sequence[Response], path: Path, skipped: int = 0) -> ResponseFile:
        """Those in which something was answered, and a note of those that were skipped."""
        what = counted(skipped, "skipped annotation was", "skipped annotations were")
        notes = (f"{path.name}: {what} left out.",) if skipped else ()
        return cls(tuple(r for r in responses if not r.empty), notes)


@dataclass(frozen=True)
class Completion:
    """What became of the responses.

    Attributes:
        tasks: Number of tasks that went out.
        done: How many are answered in full.
        started: Names of the tasks that are answered in part, or whose answer is a draft.
        open: Names of the tasks nobody has answered.
        unknown: Responses to tasks that did not go out, as "id (source)"; left out.
        duplicates: Responses set aside because the same worker gave a later one, which counts.
        extra: Answers to units that a task does not have, as "task: index (source)"; left out.
        notes: What the readers left out.
    """

    tasks: int
    done: int
    started: tuple[str, ...]
    open: tuple[str, ...]
    unknown: tuple[str, ...]
    duplicates: tuple[str, ...]
    extra: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def sentences(self) -> tuple[str, ...]:
        """The same for people; what did not happen is not mentioned."""
        return (
            f"Done: {self.done} of {counted(self.tasks, 'task')}.",
            *listed("Started but not done", self.started),
            *listed("Not started", self.open),
            *listed("Left out: answers to unknown tasks", self.unknown),
            *listed("Set aside: the same worker answered again", self.duplicates),
            *listed("Left out: answers to units that are not in the task", self.extra),
            *self.notes,
        )


def listed(what: str, names: Sequence[str]) -> list[str]:
    """A sentence with the first names, and how many more there are; none if there is none."""
    more = len(names) - LISTED
    rest = f"; and {more} more, all of them in the .json" if more > 0 else ""
    return [f"{what} ({len(names)}): {'; '.join(names[:LISTED])}{rest}."] if names else []


def sort_responses(
    tasks: TaskSet, answers: ResponseFile
) -> tuple[dict[str, dict[str, Response]], tuple[str, ...], tuple[str, ...]]:
    """Responses by task and worker: the latest of each worker, one that is done before a draft.

    The later of two is the one saved later, where both files say when; else the one read later.

    Returns:
        By task id and worker the response that counts; those to unknown tasks and those set
        aside, named for people.
    """
    by_id: dict[str, WritingTask | JudgingTask] = {task.id: task for task in tasks.writing}
    by_id |= {task.id: task for task in tasks.judging}
    rows: dict[str, dict[str, Response]] = {}
    unknown: list[str] = []
    duplicates: list[str] = []
    for response in answers.responses:
        task = by_id.get(response.task)
        if task is None:
            unknown.append(f"{response.task} ({response.source})")
            continue
        by_worker = rows.setdefault(task.id, {})
        before = by_worker.get(response.worker)
        if before is not None:
            if before.saved and response.saved and response.saved < before.saved:
                before, response = response, before
            if response.presence:
                # An earlier answer to a unit that the later one leaves out counts.
                response = replace(response, presence={**before.presence, **response.presence})
            elif before.done and not response.done:
                before, response = response, before
            duplicates.append(f"{task.name} by {before.worker} ({before.source})")
        by_worker[response.worker] = response
    return rows, tuple(dict.fromkeys(unknown)), tuple(dict.fromkeys(duplicates))


def nothing_belongs(tasks: TaskSet, unknown: Sequence[str]) -> InputError:
    """The error for answers none of which belongs to the tasks."""
    return InputError(
        "no answer belongs to these tasks",
        expected=f"answers to the {counted(len(tasks.ids), f'{tasks.kind} task')} in tasks.json",
        hint=listed("Answers to unknown tasks", unknown)[0] if unknown else None,
    )


def truth(value: Any) -> bool | None:
    """Yes or no as any of the tools writes it; None if it is neither.

    Example:
        >>> truth("Yes"), truth(0), truth("perhaps")
        (True, False, None)
    """
    word = str(value).strip().lower()
    return True if word in _YES else False if word in _NO else None


def moment(value: Any) -> datetime | None:
    """A time in ISO 8601 (without a zone: UTC); None if it is not one.

    Example:
        >>> moment("2026-01-02T03:04:05Z") == moment("2026-01-02T04:04:05+01:00")
        True
    """
    try:
        time = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def scu_lines(values: Any) -> tuple[str, ...]:
    """SCUs from a text box, or from several: one per line, spaces tidied, blank lines left out.

    Example:
        >>> scu_lines(["It rained.\\n\\n The bridge  closed."])
        ('It rained.', 'The bridge closed.')
    """
    boxes = values if isinstance(values, list | tuple) else [values]
    lines = (" ".join(line.split()) for box in boxes for line in str(box).splitlines())
    return tuple(line for line in lines if line)
