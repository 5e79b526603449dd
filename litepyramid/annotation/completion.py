"""The fate of people's responses, reported so that nothing is silently lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from litepyramid.annotation.forms.responses import Response, ResponseFile
from litepyramid.annotation.tasks import JudgingTask, TaskSet, WritingTask
from litepyramid.errors import InputError
from litepyramid.text import counted

LISTED = 5


@dataclass(frozen=True)
class Completion:
    """What became of the responses.

    Attributes:
        tasks: Number of tasks that went out.
        done: How many are answered in full.
        started: Names of the tasks that are answered in part, or whose answer is a draft.
        open: Names of the tasks nobody has answered.
        unknown: Responses to tasks that did not go out, as "id (place)"; left out.
        duplicates: Responses set aside because the same worker gave a later one, which counts.
        extra: Answers to units that a task does not have, as "task: index (place)"; left out.
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
    """What there is of a kind, as a sentence; none if there is nothing."""
    return [f"{what} ({len(names)}): {some(names)}."] if names else []


def some(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = len(names) - LISTED
    rest = f"; and {more} more, all of them in --format json" if more > 0 else ""
    return "; ".join(names[:LISTED]) + rest


def sort_responses(
    tasks: TaskSet, answers: ResponseFile
) -> tuple[dict[str, dict[str, Response]], tuple[str, ...], tuple[str, ...]]:
    """Responses by task and worker: the latest of each worker, one that is done before a draft.

    The later of two is the one saved later, where both files say when; else the one read later.

    Returns:
        By task id and worker the response that counts; those to unknown tasks and those set
        aside, named for people.
    """
    known: dict[str, WritingTask | JudgingTask] = {task.id: task for task in tasks.writing}
    known |= {task.id: task for task in tasks.judging}
    rows: dict[str, dict[str, Response]] = {}
    unknown: list[str] = []
    duplicates: list[str] = []
    for response in answers.responses:
        task = known.get(response.task)
        if task is None:
            unknown.append(f"{response.task} ({response.place})")
            continue
        mine = rows.setdefault(task.id, {})
        before = mine.get(response.worker)
        if before is not None:
            if before.saved and response.saved and response.saved < before.saved:
                before, response = response, before
            if response.presence:
                # An earlier answer to a unit that the later one leaves out counts.
                response = replace(response, presence={**before.presence, **response.presence})
            elif before.done and not response.done:
                before, response = response, before
            duplicates.append(f"{task.name} by {before.worker} ({before.place})")
        mine[response.worker] = response
    return rows, tuple(dict.fromkeys(unknown)), tuple(dict.fromkeys(duplicates))


def nothing_belongs(tasks: TaskSet, unknown: Sequence[str]) -> InputError:
    """The error for answers none of which belongs to the tasks."""
    return InputError(
        "no answer belongs to these tasks",
        expected=f"answers to the {counted(len(tasks.ids), f'{tasks.kind} task')} in tasks.json",
        hint=f"Answers to unknown tasks: {some(unknown)}." if unknown else None,
    )
